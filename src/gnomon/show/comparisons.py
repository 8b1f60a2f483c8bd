"""Pictures of comparisons: leaderboards, critical differences, null laws, draws, votes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import scipy
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.ensemble.condorcet import jury_table
from gnomon.evaluate import (
    ConfidenceRegion,
    CrossValidation,
    Estimate,
    Leaderboard,
    Significance,
    ranked,
)
from gnomon.evaluate.bootstrap import Bootstrap
from gnomon.evaluate.leaderboard import BASELINE
from gnomon.evaluate.several import RankTest
from gnomon.show.edges import at_edge, axis_range, edges, note_in_lines
from gnomon.show.theme import color, dress, error_bars, faded, look

MOST_FOLD_DOTS = 40  # judgement: more dots hide each other
ARROWS = {np.inf: "triangle-right", -np.inf: "triangle-left"}


def leaderboard(
    results: Leaderboard | Sequence[CrossValidation] | Mapping[str, Estimate],
    *,
    measure: str | None = None,
    most: int = 30,
    as_good: Collection[str] | None = None,
    theme: str = "light",
) -> go.Figure:
    """Learners by score, best on top, with intervals; the baseline as a line to be beaten.

    Filled marks are learners whose difference from the best the corrected resampled t test does
    not show, all pairs counted (Holm). Small dots are the scores of single folds, arrows at the
    edge infinite scores.

    Parameters
    ----------
    results : Leaderboard, sequence of CrossValidation, or mapping of names to Estimate
    measure : str, default=None
        What to rank and to compare by; the board's own, or the first one, by default.
    most : int, default=30
        Learners shown; the note says how many are left.
    as_good : collection of str, default=None
        Names with filled marks, where another test has told which differ from the best.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=80) > 0, "yes", "no")
    >>> from gnomon.evaluate import cross_validation_estimates
    >>> from gnomon.linear import LogisticRegression
    >>> from gnomon.neighbors import KNeighborsClassifier
    >>> results = [cross_validation_estimates(each, X, y)
    ...            for each in (LogisticRegression(), KNeighborsClassifier())]
    >>> figure = leaderboard(results)
    """
    if isinstance(results, Mapping):
        return _plain_board(results, measure or "score", most, theme)
    board = results if isinstance(results, Leaderboard) else ranked(list(results))
    if measure not in (None, board.measure):
        board = ranked([_led_by(measure, each) for each in board.results])
    name = board.measure
    shown, figure = board.results[:most], go.Figure()
    figures = {each.name: each.figure(name) for each in shown}
    dots = _fold_dots(shown, name)
    _add_fold_dots(figure, dots, theme)
    filled = _as_good(board) if as_good is None else set(as_good)
    _add_board(figure, figures, filled, theme, [score for _, score in dots])
    base = next((e for e in board.results if e.name.lower().startswith(BASELINE)), None)
    if base is not None:
        _add_baseline(figure, base.figure(name).value, theme)
    how = sorted({each.how for each in figures.values() if np.isfinite(each.value)})
    note = f"{board.results[0].splits.how}; bars: 95% intervals"
    note += f" ({', '.join(how)})" if how else ""
    note += "; filled: difference from the best not shown; small dots: folds"
    note += _arrow_note(figures)
    if len(board.results) > most:
        note += f"; {len(board.results) - most} worse learners not shown"
    failed = [each.name for each in shown if each.failures]
    if failed:
        note += f"; folds failed of {', '.join(failed)}"
    return _dress_board(figure, f"Leaderboard by {name}", list(figures), name, note, theme)


def _plain_board(results: Mapping[str, Estimate], measure: str, most: int, theme: str) -> go.Figure:
    figure, shown = go.Figure(), dict(list(results.items())[:most])
    _add_board(figure, shown, set(shown), theme)
    level = next(iter(shown.values())).confidence_level
    left = f"; {len(results) - most} not shown" if len(results) > most else ""
    note = f"in the order given; bars: {level:.0%} intervals{_arrow_note(shown)}{left}"
    return _dress_board(figure, f"Leaderboard by {measure}", list(shown), measure, note, theme)


def _led_by(measure: str, result: CrossValidation) -> CrossValidation:
    """The same result with one of its measures as the one that counts."""
    first = [each for each in result.measures if each.name == measure]
    if not first:
        known = ", ".join(each.name for each in result.measures)
        raise DataError(f"{measure!r} was not measured of {result.name}; there are {known}")
    rest = [each for each in result.measures if each.name != measure]
    return replace(result, measures=first + rest)


def _as_good(board: Leaderboard) -> set[str]:
    """Learners not shown to differ from the best, of those with finite scores in all folds."""
    whole = [each for each in board.results if np.isfinite(each.scores[board.measure]).all()]
    if len(whole) < 2 or len(whole[0].folds) < 2:
        return {each.name for each in whole}
    return set(board.differences().as_good_as_best())


def _arrow_note(figures: Mapping[str, Estimate]) -> str:
    return "; arrows: infinite" if any(np.isinf(each.value) for each in figures.values()) else ""


def _add_board(
    figure,
    figures: Mapping[str, Estimate],
    as_good: set[str],
    theme: str,
    dots: Sequence[float] = (),
) -> None:
    ends = edges(figures.values(), dots)
    for filled in (True, False):
        names = [name for name in figures if (name in as_good) is filled]
        chosen = [figures[name] for name in names]
        if not names:
            continue
        drawn = [at_edge(each, ends) for each in chosen]
        figure.add_scatter(
            x=[each.value for each in drawn],
            y=names,
            error_x=error_bars(drawn, theme) | {"color": color(0), "thickness": 2},
            mode="markers",
            marker={
                "color": color(0) if filled else look(theme).paper,
                "size": 12,
                "symbol": [ARROWS.get(each.value, "circle") for each in chosen],
                "line": {"color": color(0), "width": 2},
            },
            text=[str(each) for each in chosen],
            hovertemplate="%{y}: %{text}<extra></extra>",
        )
    if _arrow_note(figures):
        figure.update_xaxes(range=axis_range(ends))


def _fold_dots(results: Sequence[CrossValidation], measure: str) -> list[tuple[str, float]]:
    """Learners and scores of folds, where these are few; arrows stand for infinite ones."""
    if max(len(each.folds) for each in results) > MOST_FOLD_DOTS:
        return []
    return [(each.name, s) for each in results for s in each.scores[measure] if np.isfinite(s)]


def _add_fold_dots(figure, dots: list[tuple[str, float]], theme: str) -> None:
    if not dots:
        return
    figure.add_scatter(
        x=[score for _, score in dots],
        y=[name for name, _ in dots],
        mode="markers",
        marker={"color": look(theme).faint, "size": 4, "opacity": 0.7},
        hovertemplate="a fold of %{y}: %{x:.4g}<extra></extra>",
    )


def _add_baseline(figure, value: float, theme: str) -> None:
    if np.isfinite(value):
        line = {"color": look(theme).strong, "width": 1.5, "dash": "dash"}
        figure.add_vline(x=value, line=line)


def _dress_board(figure, title, names, axis: str, note: str, theme: str) -> go.Figure:
    figure.update_yaxes(
        type="category", autorange="reversed", categoryorder="array", categoryarray=names
    )
    figure.update_xaxes(title=axis)
    lines, top = note_in_lines(note, 860)
    return dress(
        figure,
        title,
        theme,
        note=lines,
        width=860,
        height=100 + top + 32 * len(names),
        showlegend=False,
        margin={"l": 40 + 8 * max(map(len, names)), "r": 30, "t": top, "b": 60},
    )


def critical_difference(test: RankTest, *, theme: str = "light") -> go.Figure:
    """Mean ranks of learners over tables, with bars joining those that do not differ (Nemenyi).

    Parameters
    ----------
    test : RankTest
        Of `gnomon.evaluate.friedman_test`.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluate import friedman_test
    >>> scores = np.random.default_rng(0).normal([0.7, 0.72, 0.8], 0.05, size=(12, 3))
    >>> figure = critical_difference(friedman_test(scores, ["tree", "line", "forest"]))
    """
    order = np.argsort(test.ranks, kind="stable")
    names, ranks = [test.names[i] for i in order], test.ranks[order]
    k, ink = len(names), look(theme).ink
    half = (k + 1) // 2
    figure = go.Figure()
    for place, (name, rank) in enumerate(zip(names, ranks)):
        left = place < half
        depth = -(place if left else k - 1 - place) - 1.6 - 0.35 * len(_joined(test))
        end = 0.6 if left else k + 0.4
        figure.add_scatter(
            x=[rank, rank, end],
            y=[0, depth, depth],
            mode="lines",
            line={"color": look(theme).faint, "width": 1.2},
            hoverinfo="skip",
        )
        figure.add_annotation(
            x=end,
            y=depth,
            text=f"{name}  <b>{rank:.2f}</b>" if left else f"<b>{rank:.2f}</b>  {name}",
            xanchor="right" if left else "left",
            showarrow=False,
        )
    for place, group in enumerate(_joined(test)):
        ends = [test.ranks[test.names.index(group[i])] for i in (0, -1)]
        height = -0.5 - 0.35 * place
        figure.add_scatter(
            x=[ends[0] - 0.04, ends[1] + 0.04],
            y=[height, height],
            mode="lines",
            line={"color": look(theme).strong, "width": 5},
            hovertext=", ".join(group),
            hoverinfo="text",
        )
    bar = [1, 1 + min(test.critical_difference, k - 1)]
    figure.add_scatter(x=bar, y=[1.3, 1.3], mode="lines+markers", line={"color": ink, "width": 2},
                       marker={"symbol": "line-ns-open", "size": 10}, hoverinfo="skip")  # fmt: skip
    figure.add_annotation(
        x=bar[0],
        y=1.4,
        text=f"critical difference {test.critical_difference:.2f}",
        showarrow=False,
        yanchor="bottom",
        xanchor="left",
    )
    figure.add_shape(type="line", x0=1, x1=k, y0=0, y1=0, line={"color": ink, "width": 2})
    for rank in range(1, k + 1):
        tick = {"x0": rank, "x1": rank, "y0": 0, "y1": 0.15, "type": "line"}
        figure.add_shape(**tick, line={"color": ink, "width": 2})
        figure.add_annotation(x=rank, y=0.2, text=str(rank), showarrow=False, yanchor="bottom")
    longest = 0.12 * max(map(len, names)) * k / 6
    figure.update_xaxes(visible=False, range=[0.2 - longest, k + 0.8 + longest])
    figure.update_yaxes(visible=False)
    level = f"{test.confidence_level:.0%}"
    note = f"{test.n_tables} tables; best at the left; joined: no significant difference at {level}"
    return dress(
        figure,
        "Mean ranks and the critical difference",
        theme,
        note=f"{note}; Friedman p = {test.p:.2g}",
        width=860,
        height=300 + 34 * half,
        showlegend=False,
        margin={"l": 20, "r": 20, "t": 90, "b": 20},
    )


def _joined(test: RankTest) -> list[list[str]]:
    return [group for group in test.groups() if len(group) > 1]


def null_histogram(
    test: Significance | float,
    null: Any = None,
    *,
    name: str = "statistic",
    theme: str = "light",
) -> go.Figure:
    """A statistic's values under the null hypothesis, with the observed value as a line.

    Parameters
    ----------
    test : Significance with simulated values, or the observed statistic
    null : array-like, default=None
        Values under the null hypothesis, where the statistic alone is given.
    name : str, default="statistic"
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> figure = null_histogram(2.4, np.random.default_rng(0).normal(size=500))
    """
    title, tail = name, ""
    if isinstance(test, Significance):
        observed, null, tail = test.statistic, test.null, f"; p = {test.p:.3g}"
        title = test.symbol if name == "statistic" else name
    else:
        observed = float(test)
    if null is None:
        raise DataError("this test has a formula and no simulated values; there is none to draw")
    values = np.asarray(null, dtype=float)
    infinite = np.isinf(values)
    ends = edges((), [*values, observed])
    figure = go.Figure()
    _add_histogram(figure, values, color(0))
    _add_infinite(figure, values, ends, color(0))
    line = {"color": look(theme).strong, "width": 3}
    figure.add_vline(
        x=float(np.clip(observed, *ends)),
        line=line,
        annotation={"text": f"observed {observed:.4g}", "font": {"color": look(theme).strong}},
    )
    figure.update_xaxes(title=title)
    figure.update_yaxes(title="share of the shuffles")
    named = test.test if isinstance(test, Significance) else "Null law"
    note = f"{len(values):,} values under the null hypothesis{tail}"
    if infinite.any() or np.isinf(observed):
        note += f"; {int(infinite.sum()):,} of them infinite, at the edge"
    return dress(
        figure, named, theme, note=note, width=760, height=460, showlegend=False, bargap=0.02
    )


def _add_infinite(figure, values: np.ndarray, ends: tuple[float, float], code: str) -> None:
    """Bars at the edges for the infinite among the values."""
    for end, infinity, text in zip(ends, (-np.inf, np.inf), ("-∞", "∞")):
        share = float((values == infinity).mean())
        if share:
            figure.add_bar(
                x=[end],
                y=[share],
                width=0.03 * (ends[1] - ends[0]),
                marker={"color": code},
                hovertemplate=f"{text}: %{{y:.2%}}<extra></extra>",
            )
            figure.add_annotation(x=end, y=share, text=text, showarrow=False, yanchor="bottom")


def _add_histogram(figure, values: np.ndarray, code: str, **place) -> None:
    """Bars of the shares of finite values among all."""
    total, values = len(values), values[np.isfinite(values)]
    if len(values) == 0:
        return
    distinct = np.unique(values)
    if len(distinct) <= 40:
        shares = np.array([(values == each).sum() for each in distinct]) / total
        middles, width = distinct, 0.8 * (np.diff(distinct).min() if len(distinct) > 1 else 1.0)
    else:
        counts, edges = np.histogram(values, bins=min(60, max(10, int(np.sqrt(len(values))))))
        middles, width, shares = (edges[1:] + edges[:-1]) / 2, np.diff(edges), counts / total
    figure.add_bar(
        x=middles,
        y=shares,
        width=width,
        marker={"color": faded(code, 0.6), "line": {"color": code, "width": 0.5}},
        hovertemplate="%{x:.4g}: %{y:.2%}<extra></extra>",
        **place,
    )


def bootstrap_draws(
    result: Bootstrap,
    *,
    entry: int = 0,
    confidence_level: float | None = None,
    theme: str = "light",
) -> go.Figure:
    """Histogram of the bootstrap's estimates, with the interval shaded. Text: 004 5.3.

    Parameters
    ----------
    result : Bootstrap
    entry : int, default=0
        Which entry, where the statistic has several.
    confidence_level : float, default=None
        The one of the result by default.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluate import bootstrap
    >>> values = np.random.default_rng(0).exponential(size=50)
    >>> figure = bootstrap_draws(bootstrap(np.mean, values))
    """
    found = result.interval(confidence_level)
    chosen = found[entry] if isinstance(found, list) else found
    draws = result.replicates.reshape(len(result.replicates), -1)[:, entry]
    figure = go.Figure()
    _add_histogram(figure, draws, color(0))
    shade = {"fillcolor": color(4), "opacity": 0.25, "line_width": 0, "layer": "below"}
    figure.add_vrect(chosen.low, chosen.high, **shade)
    figure.add_vline(x=chosen.value, line={"color": look(theme).strong, "width": 3})
    middle = float(np.median(draws))
    figure.add_vline(x=middle, line={"color": look(theme).ink, "width": 1.5, "dash": "dot"})
    figure.update_xaxes(title=result.names[entry] if result.names else "statistic")
    figure.update_yaxes(title="share of the draws")
    note = (
        f"{len(draws):,} draws; shaded: {chosen.confidence_level:.0%} interval ({chosen.how}); "
        f"line: estimate {chosen}; dotted: median {middle:.4g}"
    )
    return dress(
        figure,
        "Bootstrap estimates",
        theme,
        note=note,
        width=800,
        height=460,
        showlegend=False,
        bargap=0.02,
    )


def confidence_region(
    region: ConfidenceRegion,
    estimates: Any = None,
    *,
    columns: tuple[int, int] = (0, 1),
    theme: str = "light",
) -> go.Figure:
    """Two parameters together: the ellipse and the box that hold them jointly. Text: 004 5.3.

    Of more than two parameters the shadow of the ellipsoid on two of them is drawn; a point within
    the shadow may still be outside of the whole.

    Parameters
    ----------
    region : ConfidenceRegion
        Of `confidence_region`, `mean_region` or `Bootstrap.region`.
    estimates : array-like of shape (n, k), default=None
        The estimates behind it, drawn as dots.
    columns : tuple of two int, default=(0, 1)
        Which parameters.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.evaluate import mean_region
    >>> rows = np.random.default_rng(0).normal(size=(40, 2)) @ [[1.0, 0.6], [0.0, 0.8]]
    >>> figure = confidence_region(mean_region(rows))
    """
    i, j = columns
    if len(region.center) < 2 or max(columns) >= len(region.center):
        raise DataError(f"the region has {len(region.center)} parameters; {columns} are not there")
    pair = np.ix_(columns, columns)
    turn = np.linspace(0, 2 * np.pi, 200)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    outline = circle @ np.linalg.cholesky(region.covariance[pair]).T * region.radius
    outline += region.center[[i, j]]
    figure = go.Figure()
    if estimates is not None:
        dots = np.asarray(estimates, dtype=float)
        marker = {"color": look(theme).faint, "size": 4, "opacity": 0.5}
        figure.add_scatter(x=dots[:, i], y=dots[:, j], mode="markers", marker=marker, name="draws")
    figure.add_scatter(
        x=outline[:, 0],
        y=outline[:, 1],
        mode="lines",
        line={"color": color(0), "width": 2.5},
        fill="toself",
        fillcolor=faded(color(0), 0.12),
        name="ellipse",
    )
    sides = [(region.low[k], region.high[k]) for k in columns]
    figure.add_scatter(
        x=[sides[0][k] for k in (0, 1, 1, 0, 0)],
        y=[sides[1][k] for k in (0, 0, 1, 1, 0)],
        mode="lines",
        line={"color": color(1), "width": 2, "dash": "dash"},
        name="box",
    )
    marker = {"color": look(theme).ink, "size": 10, "symbol": "cross"}
    center = {"x": [region.center[i]], "y": [region.center[j]]}
    figure.add_scatter(**center, mode="markers", marker=marker, name="estimate")
    figure.update_xaxes(title=region.names[i])
    figure.update_yaxes(title=region.names[j])
    note = f"each holds the truth jointly at {region.confidence_level:.0%} ({region.how})"
    return dress(figure, "Joint confidence region", theme, note=note, width=720, height=560)


def majority_vote(
    probabilities: Sequence[float] = (0.45, 0.5, 0.55, 0.6, 0.7),
    n_voters: int = 51,
    *,
    correlation: float = 0.0,
    theme: str = "light",
) -> go.Figure:
    """Probability that the majority is right against the number of voters (Condorcet).

    Text: 002 "Ensemble methods".

    Parameters
    ----------
    probabilities : sequence of float
        How often a single voter is right; one curve each.
    n_voters : int, default=51
    correlation : float, default=0.0
        Between the voters.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = majority_vote()
    """
    sizes = list(range(1, n_voters + 1, 2))
    table = jury_table(probabilities, sizes, correlation)
    figure = go.Figure()
    for k, (p, row) in enumerate(zip(probabilities, table)):
        line = {"color": color(k), "width": 2.5}
        figure.add_scatter(x=sizes, y=row, mode="lines", name=f"p = {p:g}", line=line)
    figure.update_xaxes(title="voters")
    figure.update_yaxes(title="probability that the majority is right", range=[0, 1.02])
    between = f"voters correlated by {correlation:g}" if correlation else "independent voters"
    return dress(
        figure,
        "How often the majority is right",
        theme,
        note=f"{between}; exact, so no error bars",
        width=760,
        height=480,
    )


def information(table: Any, *, names: tuple[str, str] = ("X", "Y"), theme: str = "light"):
    """Entropies of two variables as overlapping bars, and the surprise -log2 P of an event.

    H(X) and H(Y) overlap in the mutual information; what is left of each is its conditional
    entropy; all together are H(X, Y). Text: 002 "Entropy".

    Parameters
    ----------
    table : array-like of shape (n_x, n_y)
        Counts or probabilities of the pairs.
    names : tuple of two str, default=("X", "Y")
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = information([[10, 2, 1], [3, 8, 4]], names=("plan", "answer"))
    """
    joint = np.asarray(table, dtype=float)
    if joint.ndim != 2 or (joint < 0).any() or not joint.sum() > 0:
        raise DataError(f"give a table of counts or probabilities, not of shape {joint.shape}")
    joint = joint / joint.sum()
    one, two = names
    of_x, of_y = (float(scipy.stats.entropy(joint.sum(axis=k), base=2)) for k in (1, 0))
    both = float(scipy.stats.entropy(joint.ravel(), base=2))
    shared = max(of_x + of_y - both, 0.0)
    figure = make_subplots(1, 2, column_widths=[0.66, 0.34], horizontal_spacing=0.1)
    bars = {
        f"H({one}, {two})": (0.0, both, 6),
        f"H({one})": (0.0, of_x, 0),
        f"H({two})": (both - of_y, of_y, 1),
        f"H({one} | {two})": (0.0, of_x - shared, 5),
        f"I({one}; {two})": (of_x - shared, shared, 2),
        f"H({two} | {one})": (of_x, of_y - shared, 4),
    }
    for name, (start, length, k) in bars.items():
        figure.add_bar(
            y=[name], x=[length], base=[start], orientation="h", marker={"color": color(k)},
            text=f"{length:.3g}", textposition="auto", row=1, col=1,
        )  # fmt: skip
    p = np.linspace(0.005, 1, 300)
    figure.add_scatter(x=p, y=-np.log2(p), mode="lines", line={"color": color(0)}, row=1, col=2)
    figure.update_yaxes(autorange="reversed", row=1, col=1)
    figure.update_xaxes(title="bits", row=1, col=1)
    figure.update_xaxes(title="probability of an event", row=1, col=2)
    figure.update_yaxes(title="surprise −log₂ P (bits)", row=1, col=2)
    return dress(
        figure,
        f"Information of {one} and {two}",
        theme,
        note="of the table given; an estimate from few counts makes the mutual information too big",
        width=940,
        height=430,
        showlegend=False,
        margin={"l": 110, "r": 30, "t": 90, "b": 60},
    )
