"""Pictures of resampling: splits, scores by fold, curves with error bars, stability, complexity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.evaluate import CrossValidation, Curve, Estimate, Leaderboard, Splits
from gnomon.evaluate.empirical_risk import StructuralChoice
from gnomon.evaluate.growth import Dichotomies, all_labelings
from gnomon.evaluate.intake import label_column, number_block
from gnomon.show.edges import at_edge, axis_range, edges, note_in_lines
from gnomon.show.theme import color, dress, error_bars, faded, look

MOST_LINES = 40  # judgement: a line of a split is 10 pixels high or so
MOST_PANELS = 32  # all labelings of five points
SYMBOLS = ("circle", "diamond", "square", "cross", "x", "pentagon")
ARROWS = {np.inf: "triangle-up", -np.inf: "triangle-down"}


def fold_scores(
    results: CrossValidation | Leaderboard | Sequence[CrossValidation],
    *,
    measure: str | None = None,
    theme: str = "light",
) -> go.Figure:
    """Scores fold by fold: each learner a line over the same folds, its interval at the right.

    Lines that run in parallel say that folds differ in difficulty, which a paired comparison takes
    out; lines that cross say that learners cannot be told apart. Arrows are infinite scores.

    Parameters
    ----------
    results : CrossValidation, Leaderboard, or sequence of CrossValidation
    measure : str, default=None
        The first one by default.
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
    >>> figure = fold_scores(results)
    """
    if isinstance(results, CrossValidation):
        shown = [results]
    else:
        shown = list(results.results if isinstance(results, Leaderboard) else results)
    if not shown:
        raise DataError("there are no results to show")
    name = measure or shown[0].measures[0].name
    figure = make_subplots(
        1, 2, shared_yaxes=True, column_widths=[0.76, 0.24], horizontal_spacing=0.03
    )
    wholes = [each.figure(name) for each in shown]
    scores = np.concatenate([each.scores[name] for each in shown])
    errors = np.nan_to_num(np.concatenate([each.fold_errors[name] for each in shown]))
    ends = edges(wholes, [*(scores - errors), *(scores + errors)])
    for k, (each, whole) in enumerate(zip(shown, wholes)):
        _add_fold_line(figure, each, name, k)
        _add_infinite_folds(figure, each, name, k, ends)
        _add_all_folds(figure, each.name, whole, k, ends, theme)
    figure.update_xaxes(title="fold", dtick=max(1, len(shown[0].folds) // 20), row=1, col=1)
    figure.update_xaxes(
        title="all folds, 95%", showticklabels=False, range=[-0.7, len(shown) - 0.3], row=1, col=2
    )
    figure.update_yaxes(title=name, row=1, col=1)
    note = f"{shown[0].splits.how}; bars within folds: one standard error"
    if np.isinf(scores).any():
        note += "; arrows: infinite"
        figure.update_yaxes(range=axis_range(ends))
    if np.isnan(scores).any():
        note += f"; {int(np.isnan(scores).sum())} folds failed and have no mark"
    lines, top = note_in_lines(note, 900)
    return dress(
        figure,
        f"{name} fold by fold",
        theme,
        note=lines,
        width=900,
        height=390 + top,
        margin={"l": 70, "r": 30, "t": top, "b": 60},
    )


def _add_fold_line(figure, result: CrossValidation, measure: str, k: int) -> None:
    scores, errors = result.scores[measure], result.fold_errors[measure]
    figure.add_scatter(
        x=_fold_places(len(scores), k),
        y=np.where(np.isinf(scores), np.nan, scores),
        error_y={"array": np.nan_to_num(errors), "color": faded(color(k), 0.5), "width": 0},
        mode="lines+markers",
        line={"color": faded(color(k), 0.6), "width": 1.2},
        marker={"color": color(k), "size": 8, "symbol": SYMBOLS[k % len(SYMBOLS)]},
        name=result.name,
        legendgroup=result.name,
        hovertemplate="fold %{x:.0f}: %{y:.4g}",
        row=1,
        col=1,
    )


def _fold_places(n_folds: int, k: int) -> np.ndarray:
    """Places of the folds, a little apart for the k-th learner."""
    return np.arange(n_folds) + (k % 5 - 2) * 0.04


def _add_infinite_folds(figure, result: CrossValidation, measure: str, k: int, ends) -> None:
    scores = result.scores[measure]
    infinite = np.isinf(scores)
    if not infinite.any():
        return
    figure.add_scatter(
        x=_fold_places(len(scores), k)[infinite],
        y=np.clip(scores[infinite], *ends),
        mode="markers",
        marker={
            "color": color(k),
            "size": 11,
            "symbol": [ARROWS[score] for score in scores[infinite]],
        },
        name=result.name,
        legendgroup=result.name,
        showlegend=False,
        hovertemplate="fold %{x:.0f}: infinite",
        row=1,
        col=1,
    )


def _add_all_folds(figure, name: str, found: Estimate, k: int, ends, theme: str) -> None:
    drawn = at_edge(found, ends)
    symbol = ARROWS.get(found.value, SYMBOLS[k % len(SYMBOLS)])
    figure.add_scatter(
        x=[k],
        y=[drawn.value],
        error_y=error_bars([drawn], theme) | {"color": color(k), "thickness": 2.5, "width": 6},
        mode="markers",
        marker={"color": color(k), "size": 11, "symbol": symbol},
        name=name,
        legendgroup=name,
        showlegend=False,
        hovertemplate=f"{found} ({found.how})",
        row=1,
        col=2,
    )


def learning_curve(curve: Curve, *, log_x: bool | None = None, theme: str = "light") -> go.Figure:
    """A curve with its bands: scores of training and unseen rows against rows, rounds or anything.

    Curves that have met at a bad score ask for a richer model; a gap that is still closing asks for
    more rows. Texts: 001 2.3 (learning curves) · 004 5.3.

    Parameters
    ----------
    curve : Curve
        Of `learning_curve`, `training_curve`, `validation_curve` or `complexity_curve`.
    log_x : bool, default=None
        Logarithmic axis; by default where the places span two powers of ten.
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
    >>> from gnomon.evaluate import learning_curve_estimates
    >>> from gnomon.linear import LogisticRegression
    >>> figure = learning_curve(learning_curve_estimates(LogisticRegression(), X, y))
    """
    figure = go.Figure()
    for k, name in enumerate(curve.lines):
        _add_line(figure, curve, name, color(k), theme, name)
    # lines lie on all bands
    figure.data = sorted(figure.data, key=lambda trace: trace.fill is None)
    for name, value in curve.baselines.items():
        figure.add_hline(
            y=value,
            line={"color": look(theme).faint, "width": 1.5, "dash": "dash"},
            annotation={"text": f"baseline {name}", "font": {"color": look(theme).faint}},
        )
    _set_x(figure, curve, log_x)
    figure.update_yaxes(title="score" if curve.greater_is_better else "error")
    return dress(figure, curve.title, theme, note=_curve_note(curve), width=820, height=500)


def _add_line(figure, curve: Curve, line: str, code: str, theme: str, name: str) -> None:
    figures = curve.lines[line]
    ends = np.array([(f.value, f.low, f.high) for f in figures], dtype=float)
    places = _places(curve.x)
    known = np.isfinite(ends).all(axis=1)
    x = np.asarray(places)[known]
    if known.sum() > 1 and not isinstance(places[0], str):
        figure.add_scatter(
            x=np.concatenate([x, x[::-1]]),
            y=np.concatenate([ends[known, 2], ends[known, 1][::-1]]),
            mode="lines",
            line={"width": 0},
            fill="toself",
            fillcolor=faded(code),
            hoverinfo="skip",
            showlegend=False,
            legendgroup=name,
        )
    figure.add_scatter(
        x=places,
        y=ends[:, 0],
        error_y=error_bars(figures, theme) | {"color": code},
        mode="lines+markers",
        line={"color": code, "width": 2},
        marker={"size": 7, "color": code},
        text=[str(each) for each in figures],
        hovertemplate="%{x}: %{text}",
        name=name,
        legendgroup=name,
    )


def _places(x: list[Any]) -> list[Any]:
    """Places on the axis: numbers as they are, else their names."""
    if all(isinstance(each, (int, float, np.number)) for each in x):
        return [float(each) for each in x]
    return [str(each) for each in x]


def _set_x(figure, curve: Curve, log_x: bool | None) -> None:
    places = _places(curve.x)
    numbers = not isinstance(places[0], str)
    if log_x is None:
        log_x = numbers and min(places) > 0 and max(places) / min(places) >= 100
    kind = "log" if log_x else ("linear" if numbers else "category")
    figure.update_xaxes(title=curve.x_name, type=kind)


def _curve_note(curve: Curve) -> str:
    first = next(iter(curve.lines.values()))[0]
    note = f"bars and bands: {first.confidence_level:.0%} intervals"
    return note + (f"; {len(curve.failures)} fits failed" if curve.failures else "")


def cv_curve(
    curve: Curve | Mapping[str, Curve],
    *,
    line: str | None = None,
    counts: Sequence[int] | None = None,
    log_x: bool | None = None,
    theme: str = "light",
) -> go.Figure:
    """Score against a parameter, with the best place and the simplest one as good marked.

    Bars are one standard error; the second line is the first place (they go from simple to
    complex) within one standard error of the best. Text: 000b 11.4 (glmnet's picture).

    Parameters
    ----------
    curve : Curve, or mapping of names to Curve
        Several are laid over each other, without marks.
    line : str, default=None
        By default the first that is not of training rows.
    counts : sequence of int, default=None
        Such as the coefficients that are not zero at each place, written on top.
    log_x : bool, default=None
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = np.sort(rng.uniform(0, 3, size=60))
    >>> y = np.sin(2 * x) + 0.2 * rng.normal(size=60)
    >>> from gnomon.evaluate import validation_curve_estimates
    >>> from gnomon.trees import DecisionTreeRegressor
    >>> curve = validation_curve_estimates(
    ...     DecisionTreeRegressor(), x[:, None], y, "max_depth", [1, 2, 4, 8])
    >>> figure = cv_curve(curve)
    """
    curves = {"": curve} if isinstance(curve, Curve) else dict(curve)
    figure = go.Figure()
    for k, (name, each) in enumerate(curves.items()):
        _add_standard_errors(figure, each, line, color(k), name)
    one = next(iter(curves.values()))
    note = "bars: ± one standard error"
    if len(curves) == 1:
        best, simple = one.best(line), one.within_one_error(line)
        for place, text, dash in ((best, "best", "solid"), (simple, "one error", "dash")):
            _add_mark(figure, one, place, text, dash, theme)
        note += f"; best at {best}, simplest within one error at {simple}"
    _set_x(figure, one, log_x)
    if counts is not None:
        _add_counts(figure, one, counts, theme)
    figure.update_yaxes(title="score" if one.greater_is_better else "error")
    return dress(
        figure,
        one.title,
        theme,
        note=note,
        width=820,
        height=520,
        showlegend=len(curves) > 1,
        margin={"l": 70, "r": 30, "t": 125, "b": 60},
    )


def _add_standard_errors(figure, curve: Curve, line, code: str, name: str) -> None:
    unseen = [each for each in curve.lines if not each.startswith("training")]
    chosen = line or (unseen or list(curve.lines))[0]
    figures = curve.lines[chosen]
    figure.add_scatter(
        x=_places(curve.x),
        y=[each.value for each in figures],
        error_y={"array": [each.error for each in figures], "color": faded(code, 0.7), "width": 4},
        mode="lines+markers",
        line={"color": code, "width": 1.5},
        marker={"color": code, "size": 7},
        name=name or chosen,
        hovertemplate="%{x}: %{y:.4g}",
    )


def _add_mark(figure, curve: Curve, place, text: str, dash: str, theme: str) -> None:
    x = _places(curve.x)[curve.x.index(place)]
    line = {"color": look(theme).strong, "width": 1.5, "dash": dash}
    figure.add_shape(type="line", x0=x, x1=x, y0=0, y1=1, yref="paper", line=line, layer="below")
    figure.add_scatter(x=[x], y=[None], name=text, showlegend=False)


def _add_counts(figure, curve: Curve, counts: Sequence[int], theme: str) -> None:
    if len(counts) != len(curve.x):
        raise DataError(f"{len(counts)} counts for {len(curve.x)} places of the curve")
    for x, count in zip(_places(curve.x), counts):
        at = np.log10(x) if figure.layout.xaxis.type == "log" else x
        figure.add_annotation(
            x=at, y=1.0, yref="paper", yanchor="bottom", text=str(count), showarrow=False,
            font={"color": look(theme).faint, "size": 12},
        )  # fmt: skip


def splits(plan: Splits, *, strata: Any = None, theme: str = "light") -> go.Figure:
    """Which rows train and which test, split by split, as bars along the rows.

    With strata a strip of the classes lies below, in the order of the rows. Texts: 001 4.3 ·
    002 "Cross validation" · 004 3.2.

    Parameters
    ----------
    plan : Splits
        Or any list of (train, test) positions.
    strata : array-like of shape (n,), default=None
        Classes of the rows.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.evaluate import k_fold
    >>> figure = splits(k_fold(60, 5, random_state=0))
    """
    pairs = list(plan)
    n = max(int(max(train.max(), test.max())) for train, test in pairs) + 1
    shown = pairs[:MOST_LINES]
    # 0 neither, 1 train, 2 test, then the classes
    table = np.zeros((len(shown), n))
    for row, (train, test) in zip(table, shown):
        row[train], row[test] = 1, 2
    names = [f"split {number}" for number in range(len(shown))]
    kinds: Any = []
    if strata is not None:
        kinds, codes = np.unique(label_column(strata, "strata"), return_inverse=True)
        if len(codes) != n:
            raise DataError(f"{len(codes)} classes for {n} rows")
        table, names = np.vstack([table, codes + 3]), [*names, "class"]
    colors = [look(theme).grid, faded(color(0), 0.45), color(1)]
    colors += [color(k + 2) for k in range(len(kinds))]
    figure = go.Figure(
        go.Heatmap(
            z=table, y=names, colorscale=_steps_of(colors), zmin=-0.5, zmax=len(colors) - 0.5,
            showscale=False, ygap=3, hovertemplate="%{y}, row %{x}<extra></extra>",
        )
    )  # fmt: skip
    labels = ["not used", "train", "test", *(f"class {each}" for each in kinds)]
    used = set(np.unique(table).astype(int))
    for k, (label, code) in enumerate(zip(labels, colors)):
        if k in used:
            marker = {"color": code, "symbol": "square", "size": 12}
            figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name=label)
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    figure.update_xaxes(title="row", showgrid=False)
    left = f"; {len(pairs) - MOST_LINES} more splits not shown" if len(pairs) > MOST_LINES else ""
    how = plan.how if isinstance(plan, Splits) else f"{len(pairs)} splits"
    sizes = [(len(train), len(test)) for train, test in pairs]
    note = (
        f"{how}; {n:,} rows; trained on {sizes[0][0]:,}, tested on {sizes[0][1]:,} at first{left}"
    )
    return dress(
        figure, "Training and test rows", theme, note=note, width=880, height=210 + 24 * len(names)
    )


def _steps_of(colors: list[str]) -> list[list]:
    """A colour scale of equal steps without blending."""
    n = len(colors)
    return [[(k + end) / n, code] for k, code in enumerate(colors) for end in (0, 1)]


def sorted_scores(
    scores: Mapping[str, Any], *, name: str = "score", theme: str = "light"
) -> go.Figure:
    """Scores of single items, sorted, one curve per setting (training and test, say).

    A curve that lies above another one everywhere is better for every share of items, whatever
    their mean. Text: 000a 7.2.

    Parameters
    ----------
    scores : mapping of names to array-like of shape (n,)
    name : str, default="score"
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> figure = sorted_scores({"members": rng.normal(2, 1, 80), "others": rng.normal(0, 1, 80)})
    """
    figure = go.Figure()
    for k, (label, given) in enumerate(scores.items()):
        values = np.sort(number_block(given, label).ravel())[::-1]
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        figure.add_scatter(
            x=(np.arange(len(values)) + 0.5) / len(values),
            y=values,
            mode="lines",
            line={"color": color(k), "width": 2.2},
            name=f"{label}: mean {values.mean():.3f} ± {error:.2g} ({len(values):,})",
            hovertemplate="%{x:.1%} of the items score %{y:.4g} or more",
        )
    figure.update_xaxes(title="share of items, the best first", tickformat=".0%")
    figure.update_yaxes(title=name)
    return dress(
        figure,
        f"Sorted {name}",
        theme,
        note="means ± one standard error; items in brackets",
        width=820,
        height=500,
        legend={"orientation": "h", "y": -0.2},
        margin={"l": 70, "r": 30, "t": 90, "b": 110},
    )


def fold_stability(
    estimators: Sequence[Any] | CrossValidation,
    X: Any,
    y: Any = None,
    *,
    n_points: int = 80,
    theme: str = "light",
) -> go.Figure:
    """Boundaries or curves of the models of different folds or halves, laid over the rows.

    Lines that lie together: the fit is stable; a sheaf of lines: it hangs on the rows that it
    happened to get. X has one column (regression curves) or two (boundaries of two classes).
    Texts: 002 "Cross validation" · 004 12.

    Parameters
    ----------
    estimators : sequence of fitted estimators, or CrossValidation with ``keep_models=True``
    X : array-like of shape (n, 1) or (n, 2)
    y : array-like of shape (n,), default=None
    n_points : int, default=80
        Places along each axis.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = np.sort(rng.uniform(0, 3, size=60))
    >>> y = np.sin(2 * x) + 0.2 * rng.normal(size=60)
    >>> from gnomon.trees import DecisionTreeRegressor
    >>> fitted = [DecisionTreeRegressor(max_depth=3).fit(x[k::5, None], y[k::5]) for k in range(5)]
    >>> figure = fold_stability(fitted, x[:, None], y)
    """
    fitted = [each for each in _models_of(estimators) if each is not None]
    if not fitted:
        raise DataError("no fitted models were kept: cross_validate(keep_models=True)")
    rows = number_block(X, "X")
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.shape[1] not in (1, 2):
        raise DataError(f"the picture is of one or two columns, and X has {rows.shape[1]}")
    figure = go.Figure()
    if rows.shape[1] == 2:
        _add_boundaries(figure, fitted, rows, n_points, theme)
        _add_rows_of_classes(figure, rows, y, theme)
        figure.update_xaxes(title="x0")
        figure.update_yaxes(title="x1")
    else:
        _add_curves(figure, fitted, rows[:, 0], y, n_points, theme)
        figure.update_xaxes(title="x0")
        figure.update_yaxes(title="prediction")
    what = "boundary" if rows.shape[1] == 2 else "curve"
    note = f"one {what} for each of {len(fitted)} models, fitted on different rows"
    return dress(figure, "Stability of the fit", theme, note=note, width=720, height=560)


def _models_of(models) -> list[Any]:
    return models.models if isinstance(models, CrossValidation) else list(models)


def _add_boundaries(figure, models, rows: np.ndarray, n_points: int, theme: str) -> None:
    classes = models[0].classes_
    if len(classes) != 2:
        raise DataError(f"boundaries are drawn of two classes, and there are {len(classes)}")
    low, high = rows.min(axis=0), rows.max(axis=0)
    slack = 0.05 * (high - low)
    axes = [np.linspace(a - s, b + s, n_points) for a, b, s in zip(low, high, slack)]
    grid = np.column_stack([each.ravel() for each in np.meshgrid(*axes)])
    for k, model in enumerate(models):
        figure.add_contour(
            x=axes[0],
            y=axes[1],
            z=_lean(model, grid).reshape(n_points, n_points),
            contours={"start": 0, "end": 0, "size": 1, "coloring": "none"},
            line={"color": color(k), "width": 2},
            showscale=False,
            name=f"model {k}",
            showlegend=len(models) <= 10,
            hoverinfo="skip",
        )


def _lean(model, rows: np.ndarray) -> np.ndarray:
    """Above zero where the second class is predicted."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(rows), float)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(rows)[:, 1] - 0.5
    return (model.predict(rows) == model.classes_[1]) - 0.5


def _add_rows_of_classes(figure, rows: np.ndarray, y, theme: str) -> None:
    if y is None:
        return
    names, codes = np.unique(label_column(y, "y"), return_inverse=True)
    for k, name in enumerate(names):
        own = codes == k
        marker = {
            "color": look(theme).faint,
            "symbol": ("circle-open", "x-thin-open")[k % 2],
            "size": 6,
            "opacity": 0.7,
        }
        figure.add_scatter(
            x=rows[own, 0], y=rows[own, 1], mode="markers", marker=marker, name=str(name)
        )


def _add_curves(figure, models, x: np.ndarray, y, n_points: int, theme: str) -> None:
    if y is not None:
        marker = {"color": look(theme).faint, "size": 5, "opacity": 0.7}
        figure.add_scatter(x=x, y=number_block(y, "y"), mode="markers", marker=marker, name="row")
    line = np.linspace(x.min(), x.max(), n_points)
    for k, model in enumerate(models):
        figure.add_scatter(
            x=line,
            y=np.asarray(model.predict(line[:, None]), float),
            mode="lines",
            line={"color": color(k), "width": 1.8},
            name=f"model {k}",
            showlegend=len(models) <= 10,
        )


def small_multiples(
    fits: Mapping[str, Callable[[np.ndarray], Any]],
    x: Any,
    y: Any,
    *,
    name: str = "",
    n_points: int = 200,
    theme: str = "light",
) -> go.Figure:
    """The same fit for several values of one parameter, on common axes.

    Parameters
    ----------
    fits : mapping of labels to fitted estimators of one column, or to functions of x
    x, y : array-like of shape (n,)
        The rows, drawn in every panel.
    name : str, default=""
        Name of the parameter.
    n_points : int, default=200
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = np.sort(rng.uniform(0, 3, size=60))
    >>> y = np.sin(2 * x) + 0.2 * rng.normal(size=60)
    >>> fits = {f"degree {k}": np.poly1d(np.polyfit(x, y, k)) for k in (1, 3, 9)}
    >>> figure = small_multiples(fits, x, y)
    """
    x, y = number_block(x, "x").ravel(), number_block(y, "y").ravel()
    columns = min(len(fits), 4 if len(fits) != 3 else 3)
    lines = -(-len(fits) // columns)
    titles = [f"{name} = {each}" if name else str(each) for each in fits]
    figure = make_subplots(
        lines, columns, subplot_titles=titles, shared_xaxes="all", shared_yaxes="all",
        horizontal_spacing=0.03, vertical_spacing=0.12 if lines > 1 else 0.1,
    )  # fmt: skip
    line = np.linspace(x.min(), x.max(), n_points)
    for k, fit in enumerate(fits.values()):
        place = {"row": k // columns + 1, "col": k % columns + 1}
        marker = {"color": look(theme).faint, "size": 4, "opacity": 0.7}
        figure.add_scatter(x=x, y=y, mode="markers", marker=marker, **place)
        values = fit.predict(line[:, None]) if hasattr(fit, "predict") else fit(line)
        curve = {"color": look(theme).strong, "width": 2.5}
        figure.add_scatter(x=line, y=np.asarray(values, float), mode="lines", line=curve, **place)
    slack = 0.15 * ((y.max() - y.min()) or 1.0)
    figure.update_yaxes(range=[y.min() - slack, y.max() + slack])
    return dress(
        figure,
        f"The fit for several values{' of ' + name if name else ''}",
        theme,
        note=f"{len(x):,} rows in every panel; curves of single fits, so no error bars",
        width=240 * columns + 120,
        height=210 * lines + 170,
        showlegend=False,
        margin={"l": 60, "r": 20, "t": 110, "b": 50},
    )


def complexity(choice: StructuralChoice, *, theme: str = "light") -> go.Figure:
    """Training error, penalty and their sum against complexity, with the minimum marked.

    Texts: 000b 11.1 · 001 2.2 (E_in + Omega).

    Parameters
    ----------
    choice : StructuralChoice
        Of `gnomon.evaluate.structural_risk_minimization`.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.evaluate import structural_risk_minimization
    >>> figure = complexity(structural_risk_minimization([0.3, 0.12, 0.1], [1, 3, 50], n=500))
    """
    figure = go.Figure()
    lines = {
        "training error": (choice.errors, 0, "solid"),
        "penalty": (choice.penalties, 2, "dot"),
        "bound: their sum": (choice.bounds, 1, "solid"),
    }
    for name, (values, k, dash) in lines.items():
        figure.add_scatter(
            x=choice.dimensions,
            y=values,
            mode="lines+markers",
            line={"color": color(k), "width": 2.5, "dash": dash},
            name=name,
            text=choice.names,
            hovertemplate="%{text}: %{y:.4g}",
        )
    least = int(np.argmin(choice.bounds))
    figure.add_vline(
        x=choice.dimensions[least],
        line={"color": look(theme).strong, "width": 1.5, "dash": "dash"},
        annotation={"text": f"least: {choice.names[least]}"},
    )
    figure.update_xaxes(title="VC dimension")
    figure.update_yaxes(title="error", rangemode="tozero")
    note = f"penalty: {choice.form} form; a bound, not an estimate, so no error bars"
    return dress(figure, "Fit, penalty and complexity", theme, note=note, width=780, height=480)


def shattering(found: Dichotomies, *, theme: str = "light") -> go.Figure:
    """Points in the plane under every labelling, those that the family realises framed.

    Text: 000a 3.1.

    Parameters
    ----------
    found : Dichotomies
        Of `gnomon.evaluate.dichotomies`, of points with one or two columns; five at most.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.evaluate import dichotomies
    >>> figure = shattering(dichotomies([[0, 0], [1, 0], [0, 1], [1, 1.0]]))
    """
    points = np.asarray(found.points, dtype=float)
    points = np.column_stack([points, np.zeros(len(points))]) if points.shape[1] == 1 else points
    every = all_labelings(len(points))
    if points.shape[1] != 2 or len(every) > MOST_PANELS:
        raise DataError(
            f"the picture is of at most five points in the plane, not {len(points)} points of "
            f"{points.shape[1]} columns"
        )
    realized = {tuple(row) for row in found.labelings.tolist()}
    columns = min(len(every), 8)
    lines = -(-len(every) // columns)
    figure = make_subplots(lines, columns, horizontal_spacing=0.015, vertical_spacing=0.03)
    for k, labels in enumerate(every.tolist()):
        place = {"row": k // columns + 1, "col": k % columns + 1}
        _add_labeling(figure, points, np.array(labels), tuple(labels) in realized, theme, place)
    low, high = points.min(axis=0), points.max(axis=0)
    half = 0.7 * max(float((high - low).max()), 1e-9)
    for axis, middle in ((figure.update_xaxes, 0), (figure.update_yaxes, 1)):
        center = float((low + high)[middle] / 2)
        axis(showticklabels=False, ticks="", showgrid=False, range=[center - half, center + half])
    shattered = "; the points are shattered" if found.shattered else ""
    note = f"{len(found)} of {len(every)} labellings can be had{shattered}; crossed out: never"
    figure = dress(
        figure,
        f"What {found.family} can say of {len(points)} points",
        theme,
        note=note,
        width=110 * columns + 60,
        height=110 * lines + 120,
        showlegend=False,
        margin={"l": 20, "r": 20, "t": 90, "b": 20},
    )
    figure.update_xaxes(ticks="")
    return figure.update_yaxes(ticks="")


def _add_labeling(figure, points, labels, there: bool, theme: str, place) -> None:
    figure.add_scatter(
        x=points[:, 0],
        y=points[:, 1],
        mode="markers",
        marker={
            "size": 13,
            "color": np.where(labels, color(0), look(theme).paper),
            "line": {"color": color(0), "width": 2},
        },
        opacity=1.0 if there else 0.45,
        hoverinfo="skip",
        **place,
    )
    line = {"color": look(theme).faint if there else look(theme).strong, "width": 1}
    corner = {"xref": "x domain", "yref": "y domain", "x0": 0, "x1": 1}
    figure.add_shape(type="rect", y0=0, y1=1, line=line, **corner, **place)
    if not there:
        figure.add_shape(type="line", y0=0, y1=1, line=line, **corner, **place)
        figure.add_shape(type="line", y0=1, y1=0, line=line, **corner, **place)
