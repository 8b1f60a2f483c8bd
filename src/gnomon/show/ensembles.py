"""Pictures of forests, boosting and any model: importance, dependence, stages, members.

Every function gives a Plotly figure, made from the public attributes and predictions of fitted
objects, gnomon's or scikit-learn's.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.contract.columns import Rows, grid_of
from gnomon.show.theme import DIVERGING, SEQUENTIAL, color, dress, faded, look
from gnomon.trees.naming import names_of_columns


def importances(
    model,
    *,
    names: Sequence[str] | None = None,
    most: int = 25,
    squared: bool = True,
    theme: str = "light",
) -> go.Figure:
    """Importance of the columns as bars, the greatest set to 100, with intervals where known.

    Of a forest the interval is plus and minus two standard errors over its trees; of a permutation
    result, over its trees, blocks of rows or repeats; of a single tree there is none, and the note
    says so. Texts: 001 13.11 (relative importance; its square root is the unit of the columns) ·
    002 (forests) · 004 6.2 (by permutation).

    Parameters
    ----------
    model : fitted tree, forest or boosted trees, or a result with ``importances`` of shape
            (n_columns, n_repeats), such as a forest's ``oob_importances_``
    names : sequence of str, default=None
        Names of the columns; by default the model's.
    most : int, default=25
        Columns shown: the most important ones.
    squared : bool, default=True
        Show savings as they are; else their square roots.
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
    >>> from gnomon.trees import RandomForestClassifier
    >>> figure = importances(RandomForestClassifier(20, random_state=0).fit(X, y), names=["a", "b"])
    """
    center, error, how = _importance_values(model)
    fitted = hasattr(model, "n_features_in_")
    if not squared:
        error = None if error is None else error / (2 * np.sqrt(np.maximum(center, 1e-300)))
        center = np.sqrt(np.maximum(center, 0.0))
    if names is None:
        names = names_of_columns(model) if fitted else getattr(model, "names", None)
    names = list(names) if names is not None else [f"x{j}" for j in range(len(center))]
    unit = 100 / max(float(center.max()), 1e-300)
    order = np.argsort(-center, kind="stable")[:most]
    figure = go.Figure()
    figure.add_bar(
        y=[names[j] for j in order],
        x=unit * center[order],
        orientation="h",
        marker={"color": color(0)},
        error_x=None
        if error is None
        else {
            "array": unit * 2 * error[order],
            "color": look(theme).ink,
            "thickness": 1.5,
            "width": 4,
        },
        hovertemplate="%{y}: %{x:.1f}<extra></extra>",
    )
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    figure.update_xaxes(title="relative importance (greatest = 100)", rangemode="tozero")
    title = "Importance of columns" + (f": {type(model).__name__}" if fitted else "")
    left = f"; {len(center) - len(order)} lesser columns not shown" if len(center) > most else ""
    return dress(
        figure,
        title,
        theme,
        note=f"{how}{left}",
        width=820,
        height=170 + 26 * len(order),
        margin={"l": 30 + 8 * max(len(names[j]) for j in order), "r": 30, "t": 90, "b": 60},
    )


def _importance_values(model) -> tuple[np.ndarray, np.ndarray | None, str]:
    """Importances, their standard error, and what both are."""
    repeats = getattr(model, "importances", None)
    if repeats is not None:
        repeats = np.asarray(repeats)
        how = "loss of score when a column is shuffled; ± 2 standard errors"
        if hasattr(model, "rises"):
            return model.mean, model.standard_error, f"{how} over {len(model.rises)} trees"
        if hasattr(model, "n_blocks"):  # its errors are of rows, which those of repeats are not
            return model.means, model.errors, f"{how} over {model.n_blocks} blocks of rows"
        if repeats.shape[1] < 2:
            return repeats.mean(axis=1), None, f"{how.split(';')[0]}, once; no interval"
        error = repeats.std(axis=1, ddof=1) / np.sqrt(repeats.shape[1])
        return repeats.mean(axis=1), error, f"{how} of {repeats.shape[1]} repeats"
    if not hasattr(model, "feature_importances_"):
        raise TypeError(f"{type(model).__name__} has no feature_importances_ to show")
    center = np.asarray(model.feature_importances_)
    by_tree = _by_tree(model, len(center))
    bias = "favours columns of many values"
    if by_tree is None:
        return center, None, f"impurity saved; one model, so no interval; {bias}"
    error = by_tree.std(axis=0, ddof=1) / np.sqrt(len(by_tree))
    return center, error, f"impurity saved; ± 2 standard errors over {len(by_tree)} trees; {bias}"


def _by_tree(model, n_columns: int) -> np.ndarray | None:
    """Importances of the single trees of a forest, each adding up to one."""
    if hasattr(model, "bootstrap") and hasattr(model, "trees_"):
        each = np.array([tree.importances(n_columns) for tree in model.trees_])
    elif hasattr(model, "bootstrap") and hasattr(model, "estimators_"):
        each = np.array([tree.feature_importances_ for tree in model.estimators_])
    else:
        return None
    totals = each.sum(axis=1, keepdims=True)
    return each / np.where(totals > 0, totals, 1.0) if len(each) > 1 else None


def variance_shares(expansion, *, most: int = 25, theme: str = "light") -> go.Figure:
    """Which columns act alone and which together: shares of a model's variance, with intervals.

    Text: 001 13.10 (ANOVA expansion).

    Parameters
    ----------
    expansion : AnovaExpansion
        From `gnomon.trees.anova_expansion`.
    most : int, default=25
        Effects shown: the greatest ones.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.trees import HistGradientBoostingRegressor, anova_expansion
    >>> X = np.random.default_rng(0).normal(size=(150, 3))
    >>> model = HistGradientBoostingRegressor(max_iter=30).fit(X, X[:, 0] + X[:, 1] * X[:, 2])
    >>> figure = variance_shares(anova_expansion(model, X, max_rows=40))
    """
    order = sorted(expansion.shares, key=lambda key: -expansion.shares[key].value)[:most]
    labels = {key: key if isinstance(key, str) else " × ".join(key) for key in order}
    figure = go.Figure()
    kinds = (("one column", True, 0), ("two columns together", False, 1))
    for kind, alone, place in kinds:
        keys = [key for key in order if isinstance(key, str) == alone]
        shares = [expansion.shares[key] for key in keys]
        figure.add_bar(
            y=[labels[key] for key in keys],
            x=[100 * share.value for share in shares],
            name=kind,
            orientation="h",
            marker={"color": color(place)},
            error_x={
                "symmetric": False,
                "array": [100 * (share.high - share.value) for share in shares],
                "arrayminus": [100 * (share.value - share.low) for share in shares],
                "color": look(theme).ink,
                "thickness": 1.5,
                "width": 4,
            },
            hovertemplate="%{y}: %{x:.1f} %<extra></extra>",
        )
    names = [labels[key] for key in order]
    level = 100 * expansion.shares[order[0]].confidence_level
    figure.update_yaxes(
        categoryorder="array", categoryarray=names[::-1], showgrid=False, type="category"
    )
    figure.update_xaxes(title="share of the variance of the predictions (%)", rangemode="tozero")
    left = len(expansion.shares) - len(order)
    more = f"; {left} lesser effects not shown" if left else ""
    return dress(
        figure,
        "Effects of columns, alone and together",
        theme,
        note=f"rest {100 * expansion.rest:.1f} %; {level:.0f} % intervals by the bootstrap over "
        f"{len(expansion.places)} rows{more}",
        width=820,
        height=200 + 26 * len(order),
        margin={"l": 30 + 8 * max(map(len, names)), "r": 30, "t": 90, "b": 60},
    )


def partial_dependence(
    estimator,
    X,
    columns: int | str | Sequence[int | str],
    *,
    class_: Any = None,
    individual: bool = False,
    n_points: int = 40,
    theme: str = "light",
) -> go.Figure:
    """How a model's mean prediction changes with one column, or with two.

    Every row keeps its other cells: f_S(x_S) = 1/N sum_i f(x_S, x_iC). The band holds the middle 80
    percent of the rows' own curves. Where columns go together, rows are asked about that cannot be.
    Text: 001 13.12.

    Parameters
    ----------
    estimator : fitted classifier or regressor
    X : array-like, data frame or Table
        Rows to average over.
    columns : column, or two of them
        Positions, or names in a table.
    class_ : object, default=None
        Class whose probability is shown; by default the last.
    individual : bool, default=False
        Draw the curves of up to 60 rows as well (one column only).
    n_points : int, default=40
        Places along each column.
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
    >>> from gnomon.trees import RandomForestClassifier
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> figure = partial_dependence(model, X, 0, individual=True)
    """
    rows = Rows(X)
    pair = [columns] if isinstance(columns, (int, str, np.integer)) else list(columns)
    said, label = _answer(estimator, class_)
    if len(pair) == 2:
        return _dependence_on_two(rows, pair, said, label, min(n_points, 25), theme)
    curves, grid, is_number = individual_curves(rows, pair[0], said, n_points)
    figure = go.Figure()
    _add_dependence(figure, curves, grid, is_number, theme, individual=individual)
    name = rows.name(pair[0])
    figure.update_xaxes(title=name)
    figure.update_yaxes(title=label)
    if is_number:
        _add_rug(figure, rows.values(pair[0]), theme)
    note = f"mean over {len(rows):,} rows; band: middle 80 % of rows"
    return dress(
        figure,
        f"Partial dependence on {name}",
        theme,
        note=note,
        width=780,
        height=500,
        showlegend=False,
    )


def _answer(model, class_) -> tuple[Any, str]:
    """A function from rows to numbers, and what they are."""
    if not hasattr(model, "classes_"):
        return lambda X: np.asarray(model.predict(X), float), "prediction"
    names = list(model.classes_)
    k = len(names) - 1 if class_ is None else names.index(class_)
    return lambda X: model.predict_proba(X)[:, k], f"probability of {names[k]}"


def individual_curves(
    rows: Rows, column, said, n_points: int
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Each row's prediction along a column: (n_rows, n_points), and the places."""
    grid, is_number = grid_of(rows.values(column), n_points)
    curves = [said(rows.with_values(column, value)) for value in grid.tolist()]
    return np.column_stack(curves), grid, is_number


def _add_dependence(
    figure, curves, grid, is_number, theme, *, individual=False, k: int = 0, **place
) -> None:
    mean, (low, high) = curves.mean(axis=0), np.quantile(curves, [0.1, 0.9], axis=0)
    x = grid if is_number else [str(each) for each in grid]
    if not is_number:
        bars = {"symmetric": False, "array": high - mean, "arrayminus": mean - low}
        figure.add_scatter(
            x=x,
            y=mean,
            mode="markers",
            marker={"size": 11, "color": color(k)},
            error_y={"type": "data", "color": look(theme).faint, **bars},
            **place,
        )
        return
    figure.add_scatter(
        x=np.concatenate([x, x[::-1]]),
        y=np.concatenate([high, low[::-1]]),
        fill="toself",
        mode="lines",
        line={"width": 0},
        fillcolor=f"rgba(0,114,178,{0.12 if individual else 0.2})",
        hoverinfo="skip",
        **place,
    )
    if individual:
        step = max(len(curves) // 60, 1)
        for curve in curves[::step][:60]:
            line = {"width": 0.8, "color": look(theme).faint}
            figure.add_scatter(
                x=x, y=curve, mode="lines", line=line, opacity=0.5, hoverinfo="skip", **place
            )
    figure.add_scatter(x=x, y=mean, mode="lines", line={"width": 4, "color": color(k)}, **place)


def _add_rug(figure, values: np.ndarray, theme: str) -> None:
    """Where the rows lie: ticks at the deciles."""
    known = values[~np.isnan(values)]
    deciles = np.quantile(known, np.linspace(0.1, 0.9, 9))
    for at in deciles:
        figure.add_shape(
            type="line",
            x0=at,
            x1=at,
            y0=0,
            y1=0.03,
            yref="paper",
            line={"color": look(theme).ink, "width": 1.5},
        )


def _dependence_on_two(rows, pair, said, label, n_points, theme) -> go.Figure:
    grids = [grid_of(rows.values(column), n_points) for column in pair]
    surface = np.empty((len(grids[1][0]), len(grids[0][0])))
    for i, first in enumerate(grids[0][0].tolist()):
        fixed = Rows(rows.with_values(pair[0], first))
        for j, second in enumerate(grids[1][0].tolist()):
            surface[j, i] = said(fixed.with_values(pair[1], second)).mean()
    axes = [grid if number else [str(each) for each in grid] for grid, number in grids]
    bar = {"title": label, "thickness": 14, "outlinewidth": 0}
    if all(number for _, number in grids):
        trace = go.Contour(
            x=axes[0],
            y=axes[1],
            z=surface,
            colorscale=SEQUENTIAL,
            colorbar=bar,
            line={"width": 0.6, "color": "rgba(255,255,255,0.5)"},
        )
    else:
        trace = go.Heatmap(x=axes[0], y=axes[1], z=surface, colorscale=SEQUENTIAL, colorbar=bar)
    names = [rows.name(column) for column in pair]
    figure = go.Figure(trace)
    figure.update_xaxes(title=names[0], showgrid=False)
    figure.update_yaxes(title=names[1], showgrid=False)
    note = f"mean over {len(rows):,} rows"
    title = f"Partial dependence on {names[0]} and {names[1]}"
    return dress(figure, title, theme, note=note, width=780, height=600)


def trellis(
    estimator,
    X,
    column: int | str,
    by: int | str,
    *,
    slices: int = 4,
    class_: Any = None,
    n_points: int = 30,
    theme: str = "light",
) -> go.Figure:
    """The dependence on one column in slices of another: a panel per slice, on common axes.

    Panels that differ in shape show that the two columns act together. Text: 001 13.12 (trellis of
    conditional plots).

    Parameters
    ----------
    estimator : fitted classifier or regressor
    X : array-like, data frame or Table
    column, by : columns
        Positions, or names in a table.
    slices : int, default=4
        Slices of `by` with equally many rows; a category has one per level.
    class_ : object, default=None
        Class whose probability is shown; by default the last.
    n_points : int, default=30
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
    >>> from gnomon.trees import RandomForestClassifier
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> figure = trellis(model, X, 0, 1, slices=3)
    """
    rows = Rows(X)
    said, label = _answer(estimator, class_)
    panels = _slices(rows.values(by), rows.name(by), slices)
    grid, is_number = grid_of(rows.values(column), n_points)
    figure = make_subplots(
        1,
        len(panels),
        shared_yaxes=True,
        horizontal_spacing=0.02,
        subplot_titles=[f"{name}<br>({mine.sum():,} rows)" for name, mine in panels],
    )
    for place, (_, mine) in enumerate(panels, 1):
        part = rows.taken(np.flatnonzero(mine))
        curves = np.column_stack([said(part.with_values(column, v)) for v in grid.tolist()])
        at = {"row": 1, "col": place, "showlegend": False}
        _add_dependence(figure, curves, grid, is_number, theme, **at)
    figure.update_xaxes(title=rows.name(column))
    figure.update_yaxes(title=label, row=1, col=1)
    title = f"Dependence on {rows.name(column)}, by {rows.name(by)}"
    dress(
        figure,
        title,
        theme,
        note="line: mean of the slice's rows; band: middle 80 % of them",
        width=max(300 * len(panels), 700),
        height=470,
        margin={"l": 70, "r": 30, "t": 140, "b": 60},
    )
    figure.update_annotations(font_size=13)
    return figure


def _slices(values: np.ndarray, name: str, n: int) -> list[tuple[str, np.ndarray]]:
    """Parts of the rows by a column: quantiles of numbers, levels of categories."""
    if values.dtype.kind != "f":
        levels = sorted({v for v in values.tolist() if v is not None}, key=str)
        return [(f"{name} = {v}", values == v) for v in levels]
    known = values[~np.isnan(values)]
    edges = np.unique(np.quantile(known, np.linspace(0, 1, n + 1)))
    if len(edges) < 2:
        return [(f"{name} = {edges[0]:.3g}", values == edges[0])]
    found = []
    for low, high in itertools.pairwise(edges):
        last = high == edges[-1]
        mine = (values >= low) & ((values <= high) if last else (values < high))
        found.append((f"{low:.3g} ≤ {name} {'≤' if last else '<'} {high:.3g}", mine))
    return found


def members(
    estimator,
    X,
    column: int | str,
    *,
    y=None,
    class_: Any = None,
    most: int = 40,
    n_points: int = 200,
    theme: str = "light",
) -> go.Figure:
    """The members of an ensemble as thin curves along one column, their combination as a thick one.

    Other columns are held at their medians. Texts: 002 · 003 2.5 (bagged members and their mean).

    Parameters
    ----------
    estimator : fitted forest or bagged ensemble
        With ``trees_``, ``members_`` or ``estimators_``.
    X : array-like of shape (n_samples, n_features)
        Training rows: their range and medians are used.
    column : int
    y : array-like, default=None
        Targets of the rows, drawn as points (numbers only).
    class_ : object, default=None
        Class whose probability is shown; by default the last.
    most : int, default=40
        Members drawn: the first ones.
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
    >>> from gnomon.trees import RandomForestRegressor
    >>> model = RandomForestRegressor(20, random_state=0).fit(x[:, None], y)
    >>> figure = members(model, x[:, None], 0, y=y)
    """
    rows = np.asarray(X, float)
    j = Rows(rows)._position(column)
    grid = np.linspace(rows[:, j].min(), rows[:, j].max(), n_points)
    line = np.tile(np.median(rows, axis=0), (n_points, 1))
    line[:, j] = grid
    said, label = _answer(estimator, class_)
    curves = list(_member_curves(estimator, line, class_, most))
    figure = go.Figure()
    if y is not None:
        figure.add_scatter(
            x=rows[:, j],
            y=np.asarray(y, float),
            mode="markers",
            name="training rows",
            marker={"size": 5, "color": look(theme).faint, "opacity": 0.6},
        )
    for k, curve in enumerate(curves):
        figure.add_scatter(
            x=grid,
            y=curve,
            mode="lines",
            line={"width": 1, "color": look(theme).faint},
            opacity=0.45,
            name="members",
            legendgroup="members",
            showlegend=k == 0,
            hoverinfo="skip",
        )
    figure.add_scatter(
        x=grid,
        y=said(line),
        mode="lines",
        name="ensemble",
        line={"width": 4, "color": look(theme).strong},
    )
    figure.update_xaxes(title=f"x{j}")
    figure.update_yaxes(title=label)
    fixed = "; other columns at their medians" if rows.shape[1] > 1 else ""
    note = (
        f"{len(curves)} members shown{fixed}; their spread is the variance that averaging removes"
    )
    title = f"Members and their combination: {type(estimator).__name__}"
    return dress(figure, title, theme, note=note, width=860, height=520)


def _member_curves(model, rows: np.ndarray, class_, most: int) -> Iterable[np.ndarray]:
    """What each member says of rows: a number, or the probability of a class."""
    classes = list(getattr(model, "classes_", []))
    k = 0 if not classes else len(classes) - 1 if class_ is None else classes.index(class_)
    if hasattr(model, "trees_"):
        for tree in model.trees_[:most]:
            yield tree.predict(rows)[:, k]
        return
    inside = getattr(model, "members_", None) or getattr(model, "estimators_", None)
    if inside is None:
        raise TypeError(f"{type(model).__name__} has no trees_, members_ or estimators_ to show")
    for member in inside[:most]:
        member = getattr(member, "estimator", member)
        if classes:
            yield np.asarray(member.predict_proba(rows))[:, k]
        else:
            yield np.asarray(member.predict(rows), float)


def stage_residuals(
    estimator,
    X,
    y,
    columns: int | Sequence[int] = 0,
    *,
    stages: Sequence[int] = (0, 1, 5, 50),
    theme: str = "light",
) -> go.Figure:
    """What boosted regression has left to explain, stage by stage, on one symmetric scale.

    Against one column as points, over two columns as colours. Texts: 000b 12.1 (stages as images on
    one scale) · 004 11 (residual cancelled stage by stage).

    Parameters
    ----------
    estimator : fitted boosted regressor with ``staged_predict``
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    columns : int or two ints, default=0
    stages : sequence of int, default=(0, 1, 5, 50)
        Numbers of stages after which to look; 0 is the mean alone.
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
    >>> from gnomon.trees import HistGradientBoostingRegressor
    >>> model = HistGradientBoostingRegressor(max_iter=50, random_state=0).fit(x[:, None], y)
    >>> figure = stage_residuals(model, x[:, None], y)
    """
    rows, y = np.asarray(X, float), np.asarray(y, float)
    pair = [int(each) for each in np.atleast_1d(columns)]
    left = _residuals_at(estimator, rows, y, stages)
    most = float(np.quantile(np.abs(left[min(left)]), 0.995))
    figure = make_subplots(
        1,
        len(left),
        shared_yaxes=True,
        horizontal_spacing=0.02,
        subplot_titles=[
            f"{stage} stage{'' if stage == 1 else 's'}<br>RMSE {np.sqrt(np.mean(rest**2)):.3g}"
            for stage, rest in left.items()
        ],
    )
    for place, rest in enumerate(left.values(), 1):
        marker = {
            "size": 6,
            "color": rest,
            "cmin": -most,
            "cmax": most,
            "colorscale": DIVERGING,
            "showscale": place == len(left),
            "colorbar": {"title": "residual", "thickness": 12, "outlinewidth": 0},
            "line": {"width": 0.4, "color": look(theme).faint},
        }
        ordinate = rest if len(pair) == 1 else rows[:, pair[1]]
        figure.add_scatter(
            x=rows[:, pair[0]],
            y=ordinate,
            mode="markers",
            marker=marker,
            showlegend=False,
            row=1,
            col=place,
        )
        figure.update_xaxes(title=f"x{pair[0]}", row=1, col=place)
    figure.update_yaxes(title="residual" if len(pair) == 1 else f"x{pair[1]}", row=1, col=1)
    if len(pair) == 1:
        figure.update_yaxes(range=[-1.1 * most, 1.1 * most])
    dress(
        figure,
        "What is left to explain, stage by stage",
        theme,
        note="residual = target - prediction; one colour scale for all stages",
        width=max(270 * len(left) + 120, 700),
        height=440,
        margin={"l": 70, "r": 30, "t": 140, "b": 60},
    )
    return figure


def _residuals_at(model, rows, y, stages: Sequence[int]) -> dict[int, np.ndarray]:
    left = {0: y - y.mean()} if 0 in stages else {}
    wanted = {stage for stage in stages if stage > 0}
    for stage, said in enumerate(model.staged_predict(rows), 1):
        if stage in wanted:
            left[stage] = y - np.asarray(said)
    missing = sorted(wanted - set(left))
    if missing:
        raise ValueError(f"the model has no stage {missing[0]}; it has {stage} stages")
    return dict(sorted(left.items()))


def staged_errors(
    estimator,
    sets: Mapping[str, tuple[Any, Any]],
    *,
    theme: str = "light",
) -> go.Figure:
    """Error against the number of rounds, for several sets of rows; the best round is marked.

    Errors are shares of wrong classes with a band of two standard errors, or root mean squared
    errors. A set that the model was stopped on is no test set. Text: 000b 12.2 (train, validation
    and test curves).

    Parameters
    ----------
    estimator : fitted boosted model with ``staged_predict``
    sets : dict of str to (X, y)
        For instance ``{"train": (X, y), "validation": (X2, y2)}``.
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
    >>> from gnomon.trees import HistGradientBoostingRegressor
    >>> model = HistGradientBoostingRegressor(max_iter=50, random_state=0).fit(x[:, None], y)
    >>> new = np.sin(2 * x) + 0.2 * rng.normal(size=60)
    >>> figure = staged_errors(model, {"train": (x[:, None], y), "validation": (x[:, None], new)})
    """
    is_classes = hasattr(estimator, "classes_")
    figure = go.Figure()
    notes = []
    dashes = ("solid", "dash", "dot", "dashdot")
    for k, (name, (X, y)) in enumerate(sets.items()):
        y = np.asarray(y)
        losses = np.array(
            [(said != y) if is_classes else (said - y) ** 2 for said in estimator.staged_predict(X)]
        ).astype(float)
        mean, error = losses.mean(axis=1), losses.std(axis=1) / np.sqrt(len(y))
        curves = [mean - 2 * error, mean, mean + 2 * error]
        if not is_classes:
            curves = [np.sqrt(np.maximum(each, 0.0)) for each in curves]
        low, center, high = curves
        rounds = np.arange(1, len(center) + 1)
        figure.add_scatter(
            x=np.concatenate([rounds, rounds[::-1]]),
            y=np.concatenate([high, np.maximum(low, 0)[::-1]]),
            fill="toself",
            mode="lines",
            line={"width": 0},
            fillcolor=faded(color(k)),
            hoverinfo="skip",
            showlegend=False,
        )
        line = {"width": 3, "color": color(k), "dash": dashes[k % 4]}
        figure.add_scatter(x=rounds, y=center, mode="lines", name=name, line=line)
        best = int(center.argmin())
        figure.add_scatter(
            x=[rounds[best]],
            y=[center[best]],
            mode="markers",
            marker={"size": 12, "symbol": "star", "color": color(k)},
            showlegend=False,
            hovertemplate=f"{name}: least at round %{{x}}, %{{y:.4g}}<extra></extra>",
        )
        notes.append(f"{name} {center[best]:.3g} at {rounds[best]}")
    figure.update_xaxes(title="rounds")
    figure.update_yaxes(
        title="share of errors" if is_classes else "root mean squared error", rangemode="tozero"
    )
    note = f"★ least: {'; '.join(notes)}; bands: ± 2 standard errors"
    title = f"Error by round: {type(estimator).__name__}"
    return dress(figure, title, theme, note=note, width=860, height=520)


def boosting_rounds(
    estimator, X, y, *, rounds: Sequence[int] = (1, 2, 3, 10), theme: str = "light"
) -> go.Figure:
    """AdaBoost on two columns: weights as circle sizes, the new member's border, the vote so far.

    A panel per round: rows as large as the weight they had in that round, the border of the
    member learnt in it (dashed), and the vote of all members so far as shading. Texts: 002 · 004
    11.4 (boosting rounds).

    Parameters
    ----------
    estimator : fitted AdaBoost of two classes
        Gnomon's (``staged_margins``) or scikit-learn's (``estimators_``).
    X : array-like of shape (n_samples, 2)
    y : array-like of shape (n_samples,)
    rounds : sequence of int, default=(1, 2, 3, 10)
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
    >>> from gnomon.ensemble import AdaBoostClassifier
    >>> model = AdaBoostClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> figure = boosting_rounds(model, X, y)
    """
    rows, y = np.asarray(X, float), np.asarray(y)
    if rows.shape[1] != 2 or len(estimator.classes_) != 2:
        raise ValueError("the picture is of two columns and two classes")
    codes = np.where(y == estimator.classes_[1], 1.0, -1.0)
    says = np.asarray(estimator.estimator_weights_, float)
    scores = round_scores(estimator, rows)
    absent = [m for m in rounds if not 1 <= m <= len(scores)]
    if absent:
        raise ValueError(f"there is no round {absent[0]}; the model has {len(scores)}")
    low, high = rows.min(axis=0), rows.max(axis=0)
    margin = 0.08 * (high - low)
    axes = [np.linspace(low[j] - margin[j], high[j] + margin[j], 120) for j in (0, 1)]
    mesh = np.column_stack([each.ravel() for each in np.meshgrid(*axes)])
    surface = round_scores(estimator, mesh)
    figure = make_subplots(
        1,
        len(rounds),
        shared_yaxes=True,
        horizontal_spacing=0.02,
        subplot_titles=[_round_title(estimator, m, says, surface) for m in rounds],
    )
    for place, m in enumerate(rounds, 1):
        before = scores[m - 2] if m > 1 else np.zeros(len(rows))
        weights = np.exp(-0.5 * codes * before)
        own = _of_round(surface, m)
        _add_round(figure, axes, surface[m - 1], own, theme, place)
        _add_weighted_rows(figure, estimator, rows, codes, weights / weights.mean(), theme, place)
        figure.update_xaxes(title="x0", row=1, col=place)
    figure.update_yaxes(title="x1", row=1, col=1)
    return dress(
        figure,
        f"Boosting by rounds: {type(estimator).__name__}",
        theme,
        note="circle: weight of the row in that round; dashed: its member; shading: vote so far",
        width=max(330 * len(rounds), 720),
        height=470,
        margin={"l": 70, "r": 30, "t": 140, "b": 60},
    )


def boosting_say(*, theme: str = "light") -> go.Figure:
    """How much say AdaBoost gives a member, and how much it enlarges wrong rows, by its error.

    The say is log((1 - e) / e), the factor of the weight of a wrongly named row (1 - e) / e. Texts:
    001 13.3 · 002 · 004 11.4.

    Parameters
    ----------
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = boosting_say()
    """
    error = np.linspace(0.02, 0.98, 193)
    factor = (1 - error) / error
    figure = make_subplots(1, 2, horizontal_spacing=0.12)
    for place, (values, name) in enumerate(
        ((np.log(factor), "say of the member"), (factor, "factor of a wrong row's weight")), 1
    ):
        figure.add_scatter(
            x=error,
            y=values,
            mode="lines",
            line={"width": 3, "color": color(place - 1)},
            showlegend=False,
            row=1,
            col=place,
        )
        figure.update_xaxes(title="weighted error of the member", range=[0, 1], row=1, col=place)
        figure.update_yaxes(title=name, row=1, col=place)
    figure.update_yaxes(type="log", dtick=1, row=1, col=2)
    for place in (1, 2):
        line = {"color": look(theme).faint, "dash": "dot", "width": 1.5}
        figure.add_vline(x=0.5, line=line, row=1, col=place)
    note = "at one half a member says nothing; beyond it, it is believed the other way round"
    return dress(figure, "AdaBoost: say and weights", theme, note=note, width=900, height=440)


def _of_round(scores: np.ndarray, m: int) -> np.ndarray:
    """The vote of the member of a round alone."""
    return scores[m - 1] - (scores[m - 2] if m > 1 else 0.0)


def _round_title(model, m: int, says: np.ndarray, surface: np.ndarray) -> str:
    """The round and its member's say; and which class it names, if it names one only."""
    own = np.sign(_of_round(surface, m))
    only = ""
    if (own == own[0]).all():
        only = f", always {model.classes_[int(own[0] > 0)]}"
    return f"round {m}<br>say {says[m - 1]:.2f}{only}"


def round_scores(model, rows: np.ndarray) -> np.ndarray:
    """Weighted votes for the second class after each round: (n_rounds, n_rows)."""
    says = np.asarray(model.estimator_weights_, float)
    if hasattr(model, "staged_margins"):
        second = np.full(len(rows), model.classes_[1])
        margins = np.asarray(model.staged_margins(rows, second))
        return margins * np.cumsum(np.abs(says))[: len(margins), None]
    votes = [np.where(m.predict(rows) == model.classes_[1], 1.0, -1.0) for m in model.estimators_]
    return np.cumsum(says[: len(votes), None] * np.array(votes), axis=0)


def _add_round(figure, axes, score, own, theme, place: int) -> None:
    shape = len(axes[1]), len(axes[0])
    at = {"row": 1, "col": place}
    figure.add_heatmap(
        x=axes[0],
        y=axes[1],
        z=np.sign(score).reshape(shape),
        zmin=-1,
        zmax=1,
        colorscale=[[0, color(0)], [0.5, look(theme).paper], [1, color(1)]],
        opacity=0.18,
        showscale=False,
        hoverinfo="skip",
        **at,
    )
    figure.add_contour(
        x=axes[0],
        y=axes[1],
        z=np.sign(own).reshape(shape),
        contours={"start": 0, "end": 0, "size": 1, "coloring": "none"},
        line={"color": look(theme).ink, "width": 2, "dash": "dash"},
        name="member of the round",
        showlegend=place == 1,
        legendgroup="member",
        showscale=False,
        hoverinfo="skip",
        **at,
    )


def _add_weighted_rows(figure, model, rows, codes, weights, theme, place: int) -> None:
    for k, sign in enumerate((-1.0, 1.0)):
        mine = codes == sign
        figure.add_scatter(
            x=rows[mine, 0],
            y=rows[mine, 1],
            mode="markers",
            name=str(model.classes_[k]),
            legendgroup=str(k),
            showlegend=place == 1,
            marker={
                "size": 9 * np.sqrt(weights[mine]).clip(0.25, 4),
                "color": color(k),
                "symbol": ("circle", "diamond")[k],
                "line": {"width": 0.8, "color": look(theme).paper},
            },
            row=1,
            col=place,
        )
