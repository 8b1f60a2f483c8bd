"""Pictures of bent linear models: local fits, degrees, hinges, transforms and tangents.

Every function gives a Plotly figure, made from the public attributes of models and results of
`gnomon.linear`.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.show.theme import color, dress, faded, legend_below, look

POINTS = 300  # judgement: bends look smooth
FAINTEST = 0.12  # judgement: rows of no weight are still seen


def local_fit(
    estimator,
    query: float,
    *,
    confidence_level: float = 0.95,
    x_title: str = "x",
    y_title: str = "y",
    theme: str = "light",
) -> go.Figure:
    """Local regression at a query: points by significance, springs, the local line, the curve.

    A spring joins each row that counts to the local line, the thicker the more it counts. A
    Bayesian model shows its interval instead of the line. Texts: 004 8.2, figure 8.3.

    Parameters
    ----------
    estimator : fitted local regression of one column
    query : float
    confidence_level : float, default=0.95
        Level of the interval of a Bayesian model.
    x_title, y_title : str
        What the axes are, with units.
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
    >>> from gnomon.linear import LocallyWeightedRegression
    >>> figure = local_fit(LocallyWeightedRegression().fit(x[:, None], y), 1.0)
    """
    if estimator.rows_.shape[1] != 1:
        raise DataError(
            f"the picture is of one column, and the model has {estimator.rows_.shape[1]}; fit one"
        )
    colors = look(theme)
    x = estimator.rows_[:, 0] * estimator.scale_[0] + estimator.center_[0]
    y = estimator.targets_ * getattr(estimator, "target_scale_", 1.0)
    y = y + getattr(estimator, "target_center_", 0.0)
    counts = estimator.significances([query])
    grid = np.linspace(min(x.min(), query), max(x.max(), query), POINTS)
    figure = go.Figure()
    if hasattr(estimator, "predict_interval"):
        _band(
            figure,
            grid,
            estimator.predict_interval(grid[:, None], confidence_level),
            confidence_level,
        )
    else:
        _springs(figure, estimator, query, x, y, counts, colors)
    figure.add_scatter(
        x=grid,
        y=estimator.predict(grid[:, None]),
        mode="lines",
        line={"color": color(0), "width": 3},
        name="answers for all queries",
    )
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers",
        marker={
            "size": 8,
            "color": colors.ink,
            "opacity": FAINTEST + (1 - FAINTEST) * counts / max(counts.max(), 1e-300),
        },
        customdata=counts,
        hovertemplate="%{x:.4g}, %{y:.4g}: significance %{customdata:.3f}<extra></extra>",
        name="rows, stronger where they count",
    )
    figure.add_scatter(
        x=[query],
        y=estimator.predict([[query]]),
        mode="markers",
        marker={"size": 14, "symbol": "diamond", "color": colors.strong},
        name=f"answer at {query:.4g}",
    )
    figure.update_xaxes(title=x_title)
    figure.update_yaxes(title=y_title)
    wide = estimator.bandwidth_ * estimator.scale_[0]
    note = f"{len(x)} rows; they count as {counts.sum():.3g} at the query"
    if np.isfinite(wide):
        note += f"; bandwidth {wide:.3g}"
    return dress(figure, "A line fitted for one query", theme, note=note, **legend_below())


def _band(figure: go.Figure, grid: np.ndarray, ends: np.ndarray, confidence_level: float) -> None:
    figure.add_scatter(
        x=np.r_[grid, grid[::-1]],
        y=np.r_[ends[:, 0], ends[::-1, 1]],
        fill="toself",
        fillcolor=faded(color(0), 0.3),
        line={"width": 0},
        hoverinfo="skip",
        name=f"{100 * confidence_level:g}% interval of the answer",
    )


def _springs(figure: go.Figure, model, query: float, x, y, counts, colors) -> None:
    height, slopes = model.local_line([query])
    line = height + slopes[0] * (x - query)
    for place in np.flatnonzero(counts > 0.05):
        figure.add_shape(
            type="line",
            x0=x[place],
            x1=x[place],
            y0=y[place],
            y1=line[place],
            line={"color": faded(colors.strong, 0.55), "width": 4 * counts[place]},
            layer="below",
        )
    near = x[counts > 0.02] if (counts > 0.02).any() else x
    ends = np.array([min(near.min(), query), max(near.max(), query)])
    figure.add_scatter(
        x=ends,
        y=height + slopes[0] * (ends - query),
        mode="lines",
        line={"color": colors.strong, "width": 3, "dash": "dash"},
        name="local line",
    )


def degree_curve(path, *, theme: str = "light") -> go.Figure:
    """Error of polynomials by degree: on the rows of the fit, and validated with error bars.

    Texts: 000 10.4.1, 11.1 · 003 4.2.

    Parameters
    ----------
    path : gnomon.linear.DegreePath
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.linear import PolynomialRegression
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-2, 2, 80)
    >>> model = PolynomialRegression().fit(x[:, None], np.sin(2 * x) + 0.2 * rng.normal(size=80))
    >>> figure = degree_curve(model.validation_)
    """
    colors = look(theme)
    figure = go.Figure()
    figure.add_scatter(
        x=path.degrees,
        y=path.training_errors,
        mode="lines+markers",
        line={"color": color(0), "width": 2, "dash": "dot"},
        name="rows of the fit",
    )
    figure.add_scatter(
        x=path.degrees,
        y=path.errors,
        error_y={"array": path.standard_errors, "color": colors.faint, "width": 4},
        mode="lines+markers",
        line={"color": color(1), "width": 3},
        name="rows left out, ± one standard error",
        customdata=path.counts,
        hovertemplate="degree %{x}: %{y:.4g}, %{customdata} coefficients<extra></extra>",
    )
    figure.add_vline(x=path.degree_min, line={"dash": "dash", "color": colors.ink, "width": 1.5})
    ticks = [f"{k}<br>({count:,})" for k, count in zip(path.degrees, path.counts)]
    figure.update_xaxes(
        title="degree (coefficients)", tickmode="array", tickvals=path.degrees, ticktext=ticks
    )
    spread = float(path.errors.max() / max(path.errors.min(), 1e-300))
    figure.update_yaxes(title="mean squared error", type="log" if spread > 20 else "linear")
    note = f"{path.n_rows:g} rows; least at degree {path.degree_min} (dashed line); within one "
    note += f"standard error from degree {path.degree_1se} on"
    return dress(figure, "Error by degree", theme, note=note, **legend_below(bottom=120))


def hinge_parts(estimator, X, *, most: int = 6, theme: str = "light") -> go.Figure:
    """The parts of a MARS model that are of one column, each over its column, knots marked.

    Each part is drawn less its mean over the rows, so that heights can be compared. Text: 001
    13.10 (the expansion into parts).

    Parameters
    ----------
    estimator : fitted MARS
    X : array-like of shape (n_samples, n_features)
        Rows of numbers, such as those of the fit.
    most : int, default=6
        Parts drawn: those that move predictions most.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.linear import MARS
    >>> rows = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> model = MARS().fit(rows, np.abs(rows[:, 0]) + np.maximum(rows[:, 1], 0.3))
    >>> figure = hinge_parts(model, rows)
    """
    rows = np.asarray(X, dtype=float)
    single = (estimator.columns_ >= 0).sum(axis=1) == 1
    columns = np.unique(estimator.columns_[single].max(axis=1))
    if not len(columns):
        raise DataError("the model has no part of a single column; see its anova_ for the others")
    names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(rows.shape[1])])
    drawn = sorted((_part(estimator, rows[:, j], j, single) for j in columns), key=lambda p: -p[0])
    shown = drawn[:most]
    width = min(len(shown), 3)
    figure = make_subplots(
        rows=-(-len(shown) // width),
        cols=width,
        shared_yaxes="all",
        subplot_titles=[str(names[part[1]]) for part in shown],
        vertical_spacing=0.16,
    )
    for place, (_, j, grid, heights, knots, at_knots) in enumerate(shown):
        where = {"row": place // width + 1, "col": place % width + 1}
        figure.add_scatter(
            x=grid, y=heights, mode="lines", line={"color": color(0), "width": 3},
            name=str(names[j]), showlegend=False, **where,
        )  # fmt: skip
        figure.add_scatter(
            x=knots, y=at_knots, mode="markers", marker={"color": color(1), "size": 8},
            name="knots", showlegend=place == 0, **where,
        )  # fmt: skip
    figure.update_yaxes(title="change of the prediction", col=1)
    together = int(len(estimator.coef_) - 1 - single.sum())
    note = f"{int(single.sum())} terms of one column (standard deviation falls from left to right)"
    if len(drawn) > most:
        note += f"; {len(drawn) - most} lesser parts not drawn"
    if together:
        note += f"; {together} terms of several columns are not here"
    layout = legend_below()
    layout["margin"]["t"] = 110
    return dress(figure, "Parts of the model", theme, note=note, **layout)


def _part(model, x: np.ndarray, column: int, single: np.ndarray):
    """Deviation, column, grid, heights, knots and heights there, of one column's part."""
    terms = np.flatnonzero(single & (model.columns_ == column).any(axis=1))
    place = [int(np.argmax(model.columns_[m] == column)) for m in terms]
    knots = model.knots_[terms, place]
    sides = model.sides_[terms, place]

    def height(at: np.ndarray) -> np.ndarray:
        gaps = at[:, None] - knots
        hinges = np.where(sides == 0, gaps, np.maximum(sides * gaps, 0.0))
        return hinges @ model.coef_[terms]

    over_rows = height(x)
    grid = np.union1d(np.linspace(x.min(), x.max(), POINTS), knots[sides != 0])
    marks = np.unique(knots[sides != 0])
    middle = over_rows.mean()
    return over_rows.std(), column, grid, height(grid) - middle, marks, height(marks) - middle


def both_coordinates(both, *, unit: str = "", theme: str = "light") -> go.Figure:
    """Residuals against fitted values, in the target's own units and in those of the fit.

    Texts: 000 10.2.5, figures 10.4-10.5.

    Parameters
    ----------
    both : gnomon.linear.BothResiduals
    unit : str
        The target's unit.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.linear import TransformedRegression
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(1, 5, (50, 1))
    >>> y = x[:, 0] ** 3 * np.exp(0.2 * rng.normal(size=50))
    >>> model = TransformedRegression(inputs="log", target="log").fit(x, y)
    >>> figure = both_coordinates(model.residuals(x, y), unit="g")
    """
    colors = look(theme)
    systems = {
        "original": (both.fitted, both.residuals),
        "transformed": (both.transformed_fitted, both.transformed_residuals),
    }
    titles = [
        f"{name}: R2 {both.r2[name]:.3f}, size against fitted {both.unevenness[name]:+.2f}"
        for name in systems
    ]
    figure = make_subplots(cols=2, rows=1, subplot_titles=titles, horizontal_spacing=0.12)
    for place, (name, (fitted, residuals)) in enumerate(systems.items()):
        figure.add_scatter(
            x=fitted,
            y=residuals,
            mode="markers",
            marker={"color": color(place), "size": 7, "opacity": 0.8},
            name=name,
            showlegend=False,
            row=1,
            col=place + 1,
        )
        figure.add_hline(y=0, line={"color": colors.faint, "width": 1.5}, row=1, col=place + 1)
    shown = f" ({unit})" if unit else ""
    figure.update_xaxes(title=f"fitted{shown}", col=1)
    figure.update_xaxes(title="fitted, transformed", col=2)
    figure.update_yaxes(title=f"residual{shown}", col=1)
    figure.update_yaxes(title="residual, transformed", col=2)
    note = "the fit takes errors to be of one size in the transformed coordinates"
    return dress(figure, "Residuals in two coordinate systems", theme, note=note, margin={"t": 120})


def tangent(
    line, column: int = 0, *, reach: float = 1.0, x_title: str = "", theme: str = "light"
) -> go.Figure:
    """A model along one column through a point, its tangent there, and the gap between them.

    Texts: 004 4.5, figure 4.5.

    Parameters
    ----------
    line : gnomon.linear.LocalLinearisation
    column : int, default=0
        The column that varies; the others stay at the point.
    reach : float, default=1.0
        How far to go from the point, in units of ``line.scale``.
    x_title : str
        What the column is, with its unit.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.linear import LocalLinearization
    >>> figure = tangent(LocalLinearization(lambda X: X[:, 0] ** 2 + X[:, 1], [2.0, 1.0]))
    """
    at = line.point[column]
    grid = np.linspace(at - reach * line.scale[column], at + reach * line.scale[column], POINTS)
    rows = np.tile(line.point, (len(grid), 1))
    rows[:, column] = grid
    predict = getattr(line.model, "predict", line.model)
    said, plane = np.asarray(predict(rows), dtype=float).reshape(-1), line.predict(rows)
    figure = go.Figure()
    figure.add_scatter(
        x=np.r_[grid, grid[::-1]],
        y=np.r_[said, plane[::-1]],
        fill="toself",
        fillcolor=faded(color(1)),
        line={"width": 0},
        hoverinfo="skip",
        name="error of the tangent",
    )
    for values, name, shade, dash in (
        (said, "model", color(0), "solid"),
        (plane, "tangent", color(1), "dash"),
    ):
        figure.add_scatter(
            x=grid, y=values, mode="lines", line={"color": shade, "width": 3, "dash": dash},
            name=name,
        )  # fmt: skip
    figure.add_scatter(
        x=[at],
        y=[line.value],
        mode="markers",
        marker={"size": 12, "color": look(theme).strong, "symbol": "diamond"},
        name="point",
    )
    figure.update_xaxes(title=x_title or f"column {column}")
    figure.update_yaxes(title="prediction")
    note = f"slope {line.coef[column]:.4g}; greatest error here {np.abs(said - plane).max():.3g}"
    return dress(figure, "A model and its tangent", theme, note=note, **legend_below())
