"""Pictures of linear models: influence, penalty paths, fits over data, powers, robust losses.

Every function gives a Plotly figure, made from the public attributes of results of
`gnomon.linear`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import scipy
from plotly.subplots import make_subplots

from gnomon.show.theme import color, dress, faded, legend_below, look


def influence_plot(influence, *, most: int = 5, theme: str = "light") -> go.Figure:
    """Standardised residual against leverage, with contours of Cook's distance.

    Rows to the right can pull the fit, rows far up or down disagree with it; those that do both lie
    beyond the contours. Texts: 000 10.3, figure 10.9.

    Parameters
    ----------
    influence : gnomon.linear.diagnostics.Influence
    most : int, default=5
        Rows of greatest Cook's distance that are numbered, where it is above 4 / n.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.linear import influence
    >>> rng = np.random.default_rng(0)
    >>> x = np.append(rng.normal(size=30), 6.0)
    >>> y = np.append(3 * x[:30] + rng.normal(size=30), -5.0)
    >>> figure = influence_plot(influence(x[:, None], y))
    """
    colors = look(theme)
    leverage, residual = influence.leverage, influence.standardized
    worst = influence.suspects(most)
    worst = worst[influence.cooks[worst] > 4 / len(leverage)]
    others = np.setdiff1d(np.arange(len(leverage)), worst)
    d = float(leverage.sum())
    figure = go.Figure()
    for places, name, size, shade in (
        (others, "rows", 7, color(0)),
        (worst, "greatest Cook's distance", 10, colors.strong),
    ):
        figure.add_scatter(
            x=leverage[places],
            y=residual[places],
            mode="markers+text" if name != "rows" else "markers",
            text=[str(place) for place in places],
            textposition="middle right",
            marker={"size": size, "color": shade, "opacity": 0.8},
            customdata=np.column_stack([places, influence.cooks[places]]),
            hovertemplate="row %{customdata[0]:.0f}: leverage %{x:.3f}, residual %{y:.2f}, "
            "Cook's distance %{customdata[1]:.3f}<extra></extra>",
            name=name,
        )
    right = min(1.15 * float(leverage.max()), 0.999)
    top = 1.25 * max(float(np.abs(residual).max()), 2.0)
    grid = np.linspace(max(1e-3, 0.02 * right), right, 200)
    for level, dash in ((0.5, "dot"), (1.0, "dash")):
        height = np.sqrt(level * d * (1 - grid) / grid)
        height[height > top] = np.nan
        for side in (1, -1):
            figure.add_scatter(
                x=grid,
                y=side * height,
                mode="lines",
                line={"dash": dash, "color": colors.faint, "width": 1.5},
                name=f"Cook's distance {level:g}",
                legendgroup=str(level),
                showlegend=side == 1,
                hoverinfo="skip",
            )
    figure.update_xaxes(title="leverage", range=[0, right])
    figure.update_yaxes(title="standardised residual", range=[-top, top])
    return dress(
        figure,
        "What each row does to the fit",
        theme,
        note=f"{len(leverage)} rows; mean leverage {leverage.mean():.3g}; points are exact",
        **legend_below(),
    )


def coefficient_path(path, *, most: int = 8, theme: str = "light") -> go.Figure:
    """Coefficients against the logarithm of the penalty, chosen penalties marked.

    Texts: 000 11.4.1, figures 11.5-11.6 · 002 "Lasso".

    Parameters
    ----------
    path : gnomon.linear.PenaltyPath
    most : int, default=8
        Columns drawn in colour and named: those of greatest coefficients at the end.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.linear import Lasso
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = X[:, 0] - X[:, 1] + rng.normal(size=60)
    >>> figure = coefficient_path(Lasso().path(X, y, n_alphas=20), most=3)
    """
    colors = look(theme)
    used = np.flatnonzero(path.coefficients.any(axis=0))
    order = used[np.argsort(-np.abs(path.coefficients[-1, used]), kind="stable")]
    figure = go.Figure()
    for rank, column in enumerate(reversed(order)):
        place = len(order) - 1 - rank
        named = place < most
        figure.add_scatter(
            x=path.alphas,
            y=path.coefficients[:, column],
            mode="lines",
            line={"color": color(place) if named else colors.grid, "width": 2 if named else 1},
            name=path.names[column],
            showlegend=named,
            legendrank=place,
            hovertemplate=f"{path.names[column]}: %{{y:.4g}} at alpha %{{x:.3g}}<extra></extra>",
        )
    _mark_choices(figure, path, theme)
    figure.update_xaxes(title="penalty alpha (smaller to the right)", type="log")
    figure.update_xaxes(autorange="reversed", exponentformat="power")
    figure.update_yaxes(title="coefficient")
    left = len(order) - min(most, len(order))
    note = f"{len(order)} of {len(path.names)} columns enter"
    if left:
        note += f"; {left} lesser ones in grey"
    return dress(figure, "Coefficients along the penalty", theme, note=note)


def _mark_choices(figure: go.Figure, path, theme: str) -> None:
    if path.errors is None:
        return
    for alpha, name, anchor in (
        (path.alpha_1se, "1 s.e. ", "right"),
        (path.alpha_min, " least error", "left"),
    ):
        figure.add_vline(x=alpha, line={"dash": "dash", "color": look(theme).ink, "width": 1.5})
        figure.add_annotation(
            x=np.log10(alpha),
            y=0.98,
            yref="paper",
            xanchor=anchor,
            text=name,
            showarrow=False,
        )


def validation_curve(path, *, theme: str = "light") -> go.Figure:
    """Cross-validated error along the penalty with bars of one standard error.

    Lines mark the penalty of least error and the greatest within one standard error of it; numbers
    on top count the columns in use. Texts: 000 10.4.2, 11.4.1.

    Parameters
    ----------
    path : gnomon.linear.PenaltyPath
        Cross-validated.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.linear import Lasso
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = X[:, 0] - X[:, 1] + rng.normal(size=60)
    >>> figure = validation_curve(Lasso(random_state=0).path(X, y, n_alphas=20, cv=5))
    """
    if path.errors is None:
        raise ValueError("the path was not cross-validated; make it with cv=10")
    figure = go.Figure()
    figure.add_scatter(
        x=path.alphas,
        y=path.errors,
        mode="markers+lines",
        error_y={"array": path.standard_errors, "color": look(theme).faint, "thickness": 1.2},
        marker={"color": color(0), "size": 5},
        line={"color": color(0)},
        showlegend=False,
        hovertemplate="alpha %{x:.3g}: %{y:.4g}<extra></extra>",
    )
    _mark_choices(figure, path, theme)
    step = max(len(path.alphas) // 12, 1)
    for place in range(0, len(path.alphas), step):
        figure.add_annotation(
            x=np.log10(path.alphas[place]),
            y=1.0,
            yref="paper",
            yanchor="bottom",
            text=str(path.n_nonzero[place]),
            showarrow=False,
            font={"size": 12, "color": look(theme).faint},
        )
    figure.update_xaxes(title="penalty alpha (smaller to the right)", type="log")
    figure.update_xaxes(autorange="reversed", exponentformat="power")
    figure.update_yaxes(title=f"{path.measure}, cross-validated")
    return dress(
        figure,
        "Which penalty predicts best",
        theme,
        note="bars: one standard error over the folds; numbers on top: columns in use",
        margin={"l": 70, "r": 30, "t": 110, "b": 60},
    )


def fit_over_scatter(
    x,
    y,
    estimators: Mapping[str, Any],
    *,
    x_title: str = "x",
    y_title: str = "y",
    theme: str = "light",
) -> go.Figure:
    """Fitted lines or curves of one or several models over the points that they were fitted to.

    Texts: 000 10.1, 11.2 · 001 3.4 · 002 "Linear regression" · 003 4.2 · 004 4.1.

    Parameters
    ----------
    x, y : array-like of shape (n,)
    estimators : mapping of str to fitted regressor
        Of one column.
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
    >>> from gnomon.linear import LinearRegression
    >>> from gnomon.trees import RandomForestRegressor
    >>> line = LinearRegression().fit(x[:, None], y)
    >>> forest = RandomForestRegressor(30, random_state=0).fit(x[:, None], y)
    >>> figure = fit_over_scatter(x, y, {"line": line, "forest": forest})
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    grid = np.linspace(x.min(), x.max(), 200)
    figure = go.Figure()
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers",
        marker={"color": look(theme).faint, "size": 7, "opacity": 0.8},
        name="rows",
        hovertemplate="%{x:.4g}, %{y:.4g}<extra></extra>",
    )
    shares = []
    for place, (name, model) in enumerate(estimators.items()):
        share = model.score(x[:, None], y)
        shares.append(f"{name} {share:.3f}")
        figure.add_scatter(
            x=grid,
            y=model.predict(grid[:, None]),
            mode="lines",
            line={"color": color(place), "width": 3},
            name=name,
        )
    figure.update_xaxes(title=x_title)
    figure.update_yaxes(title=y_title)
    note = f"R2 on the {len(x)} rows of the fit: {', '.join(shares)}"
    return dress(figure, "Fit over the data", theme, note=note)


def box_cox_profile(profile, *, theme: str = "light") -> go.Figure:
    """Likelihood of Box and Cox's power of the target, with its interval shaded.

    Texts: 000 10.2.5, figure 10.6.

    Parameters
    ----------
    profile : gnomon.linear.diagnostics.BoxCox
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.linear import box_cox
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(1, 3, size=(50, 1))
    >>> figure = box_cox_profile(box_cox(x, np.exp(x[:, 0] + 0.2 * rng.normal(size=50))))
    """
    colors = look(theme)
    height = profile.log_likelihood - profile.log_likelihood.max()
    line = -scipy.stats.chi2.ppf(profile.confidence_level, 1) / 2
    figure = go.Figure()
    figure.add_scatter(
        x=profile.powers,
        y=height,
        mode="lines",
        line={"color": color(0), "width": 3},
        showlegend=False,
        hovertemplate="power %{x:.2f}: %{y:.2f}<extra></extra>",
    )
    figure.add_vrect(x0=profile.low, x1=profile.high, fillcolor=faded(color(0)), line_width=0)
    figure.add_hline(y=line, line={"dash": "dot", "color": colors.faint})
    figure.add_vline(
        x=profile.power,
        line={"dash": "dash", "color": colors.strong},
        annotation_text=f"best {profile.power:.2f}",
        annotation_position="bottom right",
    )
    figure.update_xaxes(title="power of the target (0: logarithm)")
    figure.update_yaxes(title="log-likelihood below its maximum", range=[12 * line, 1])
    return dress(
        figure,
        "Which power of the target is linear",
        theme,
        note=f"shaded: {profile.confidence_level:.0%} interval {profile.low:.2f} to "
        f"{profile.high:.2f}; simplest power inside: {profile.simple:.3g}",
    )


def penalty_pressure(
    powers: Sequence[float] = (1.0, 1.5, 2.0), *, mixed: bool = True, theme: str = "light"
) -> go.Figure:
    """Penalties and their pressure towards zero, against the size of a coefficient.

    L1 presses as hard at zero as anywhere, so that coefficients end there; L2's pressure vanishes.
    Texts: 003 4.4.2 · 002 "Lasso".

    Parameters
    ----------
    powers : sequence of float, default=(1.0, 1.5, 2.0)
        Powers p of the penalties |w|^p / p, each at least one.
    mixed : bool, default=True
        Also half of L1 and half of L2, the elastic net.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = penalty_pressure()
    """
    if min(powers) < 1:
        raise ValueError("powers below one press without bound at zero; give one or more")
    w = np.linspace(-2, 2, 401)
    curves = {f"L{p:g}": (np.abs(w) ** p / p, np.sign(w) * np.abs(w) ** (p - 1)) for p in powers}
    if mixed:
        curves["L1 + L2"] = (np.abs(w) / 2 + w**2 / 4, np.sign(w) / 2 + w / 2)
    titles = ("penalty", "pressure (its slope)")
    figure = make_subplots(1, 2, subplot_titles=titles, horizontal_spacing=0.1)
    for place, (name, values) in enumerate(curves.items()):
        for column, curve in enumerate(values, start=1):
            shown = np.where(w == 0, np.nan, curve) if column == 2 else curve
            figure.add_scatter(
                x=w,
                y=shown,
                mode="lines",
                line={"color": color(place), "width": 2.5},
                name=name,
                legendgroup=name,
                showlegend=column == 1,
                row=1,
                col=column,
            )
    figure.update_xaxes(title="coefficient")
    return dress(
        figure,
        "How penalties press on a coefficient",
        theme,
        note="curves of definitions; nothing is estimated",
        margin={"l": 60, "r": 30, "t": 120, "b": 60},
    )


def robust_losses(
    names: Sequence[str] = ("huber", "tukey", "cauchy", "welsch"), *, theme: str = "light"
) -> go.Figure:
    """Robust losses, their influence functions and the weights of rows, beside least squares.

    Texts: 000 11.2.1, figure 11.2.

    Parameters
    ----------
    names : sequence of str, default=("huber", "tukey", "cauchy", "welsch")
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = robust_losses()
    """
    from gnomon.linear.robust import ROBUST_LOSSES

    u = np.linspace(-8, 8, 401)
    squares = (u**2 / 2, u, np.ones_like(u))
    curves = {"least squares": squares}
    for name in names:
        loss = ROBUST_LOSSES[name]
        c = loss.threshold
        curves[name] = (loss.rho(u, c), loss.influence(u), loss.weight(u, c))
    titles = ("loss", "influence", "weight")
    figure = make_subplots(1, 3, subplot_titles=titles, horizontal_spacing=0.07)
    for place, (name, values) in enumerate(curves.items()):
        shade = look(theme).faint if place == 0 else color(place - 1)
        for column, curve in enumerate(values, start=1):
            figure.add_scatter(
                x=u,
                y=curve,
                mode="lines",
                line={"color": shade, "width": 2.5},
                name=name,
                legendgroup=name,
                showlegend=column == 1,
                row=1,
                col=column,
            )
    figure.update_xaxes(title="residual / scale")
    figure.update_yaxes(range=[0, 14], row=1, col=1)
    figure.update_yaxes(range=[-4, 4], row=1, col=2)
    return dress(
        figure,
        "How hard a residual pulls",
        theme,
        note="thresholds of 95 % efficiency on normal errors; curves of definitions",
        **legend_below(top=120),
    )
