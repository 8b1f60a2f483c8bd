"""Pictures of the selection of features: scores along a search, rankings, stability."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.show.theme import color, dress, error_bars, faded, legend_below, look

MOST_BARS = 40  # judgement: names that a page holds; `most` sets it


def selection_trace(selector: Any, *, theme: str = "light") -> Any:
    """Score after each step of a search, with error bars: how many features are needed.

    For `Backward` the features stand in the order of removal, the most worthless first; one reads
    off where the score begins to fall. The step that was kept is marked. 003 2.7.1.

    Parameters
    ----------
    selector : WrapperSelector or SelectionTrace
        A fitted selector, or its ``trace_``.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> from gnomon.select import Backward, WrapperSelector
    >>> chosen = WrapperSelector(search=Backward(), random_state=0).fit(X, X[:, 2])
    >>> len(selection_trace(chosen).data)
    1
    """
    import plotly.graph_objects as go

    trace = getattr(selector, "trace_", selector)
    colors = look(theme)
    labels = [f"{k}. {label}" for k, label in enumerate(trace.labels)]
    fills = [colors.strong if k == trace.chosen else color(0) for k in range(len(labels))]
    figure = go.Figure(
        go.Scatter(
            x=labels,
            y=trace.scores,
            mode="lines+markers",
            line={"color": faded(color(0), 0.5), "width": 2},
            marker={"size": 11, "color": fills},
            error_y={
                "array": np.nan_to_num(trace.errors),
                "color": colors.faint,
                "thickness": 1.5,
                "width": 4,
            },
            customdata=trace.sizes,
            hovertemplate="%{x}<br>%{customdata} features<br>%{y:.4g}<extra></extra>",
        )
    )
    barless = " No error bars: the criterion has no folds." if np.isnan(trace.errors).all() else ""
    kept = len(trace.subsets[trace.chosen])
    note = f"{kept} feature{'s' * (kept != 1)} kept (marked); bars: standard error over folds."
    figure.update_yaxes(title=trace.measure)
    figure.update_xaxes(title="step of the search", tickangle=-35, automargin=True)
    return dress(
        figure,
        "Score along the search for features",
        theme,
        note=barless.strip() or note,
        showlegend=False,
    )


def feature_ranking(ranking: Any, *, most: int = 25, theme: str = "light") -> Any:
    """Scores of features as bars, the best on top.

    Parameters
    ----------
    ranking : FeatureRanking
        Of `rank_features`.
    most : int, default=25
        Bars at most; the title says how many are left out.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.select import rank_features
    >>> found = rank_features([[1.0, 5.0], [2.0, 1.0], [8.0, 2.0], [9.0, 4.0]], [0, 0, 1, 1])
    >>> len(feature_ranking(found).data[0].y)
    2
    """
    import plotly.graph_objects as go

    shown = min(most, len(ranking.names))
    known = np.isfinite(ranking.p_values[:shown])
    texts = [f"p = {p:.2g}" if ok else "" for p, ok in zip(ranking.p_values[:shown], known)]
    figure = go.Figure(
        go.Bar(
            x=ranking.scores[:shown],
            y=ranking.names[:shown],
            orientation="h",
            marker={"color": color(0)},
            text=texts,
            textposition="outside",
            cliponaxis=False,
        )
    )
    figure.update_yaxes(autorange="reversed", automargin=True, showgrid=False, type="category")
    figure.update_xaxes(title=ranking.score.replace("_", " "), rangemode="tozero")
    more = len(ranking.names) - shown
    note = "Each column judged alone; no error bars, p of no relation beside the bar."
    if more:
        note += f" {more} more columns are not shown."
    return dress(
        figure,
        "How much each column tells of the target",
        theme,
        note=note,
        height=max(320, 150 + 26 * shown),
        margin={"l": 70, "r": 90, "t": 90, "b": 60},
    )


def selection_stability(stability: Any, *, most: int = MOST_BARS, theme: str = "light") -> Any:
    """How often each feature was chosen on resamples, with intervals.

    Parameters
    ----------
    stability : SelectionStability
        Of `gnomon.select.selection_stability`.
    most : int, default=40
        Features at most.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon import select, show
    >>> X = np.random.default_rng(0).normal(size=(80, 5))
    >>> found = select.selection_stability(
    ...     select.FilterSelector(2), X, X[:, 0], n_resamples=10
    ... )
    >>> show.selection_stability(found).layout.yaxis.title.text
    'share of resamples'
    """
    import plotly.graph_objects as go

    order = np.argsort(-stability.chosen.sum(axis=0), kind="stable")[:most]
    figures = [stability.frequencies[j] for j in order]
    figure = go.Figure(
        go.Bar(
            x=[stability.names[j] for j in order],
            y=[each.value for each in figures],
            error_y=error_bars(figures, theme),
            marker={"color": color(0)},
        )
    )
    figure.update_yaxes(title="share of resamples", range=[0, 1.05], tickformat=".0%")
    figure.update_xaxes(type="category", tickangle=-35, automargin=True)
    note = (
        f"{len(stability.chosen)} halves of the rows; stability {stability.score} "
        "(1: always the same, 0: chance)."
    )
    return dress(figure, "How often each feature is chosen", theme, note=note)


def elimination_curve(selector: Any, *, theme: str = "light") -> Any:
    """Held-out score against the number of features left by recursive elimination.

    Parameters
    ----------
    selector : RecursiveElimination
        Fitted, the number of features chosen by cross-validation.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.select import RecursiveElimination
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> chosen = RecursiveElimination(random_state=0).fit(X, X[:, 2])
    >>> len(elimination_curve(chosen).data)
    2
    """
    import plotly.graph_objects as go

    colors = look(theme)
    kept = int(selector.support_.sum())
    place = int(np.argmin(np.abs(selector.sizes_ - kept)))
    measure = "accuracy" if selector.target_kind_ == "classes" else "variance explained"
    figure = go.Figure(
        [
            go.Scatter(
                x=selector.sizes_,
                y=selector.scores_,
                mode="lines+markers",
                name="mean over folds",
                line={"color": color(0)},
                error_y={"array": selector.errors_, "color": colors.faint, "thickness": 1.5},
            ),
            go.Scatter(
                x=[kept],
                y=[selector.scores_[place]],
                mode="markers",
                name=f"kept: {kept}",
                marker={"size": 14, "color": colors.strong, "symbol": "diamond"},
            ),
        ]
    )
    scale = "log" if selector.sizes_.max() > 50 else "linear"
    figure.update_xaxes(title="features left", type=scale, tickvals=selector.sizes_)
    figure.update_yaxes(title=f"{measure} on held-out rows")
    return dress(
        figure,
        "Recursive elimination",
        theme,
        note="Each fold eliminates on its own training rows; bars: standard error over folds.",
        **legend_below(),
    )
