"""A picture of each method at work on a small problem, drawn with `gnomon.show`."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from typing import Any

import numpy as np
import plotly.graph_objects as go
from example_pictures import picture_of_example
from sklearn.base import OutlierMixin

from gnomon import show
from gnomon.engine.registry import Method

ROWS = 160


def picture(method: Method) -> go.Figure:
    """The picture of a method: of two columns where it takes them, else of its example."""
    draw = DRAWN.get(method.task)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if draw is not None and method.takes == "table":
            with contextlib.suppress(ValueError, TypeError):  # it needs counts, or several targets
                return draw(method)
        return picture_of_example(method)


def made(method: Method) -> Any:
    """An object with default settings, and simple members where the class asks for estimators."""
    from gnomon.linear import LinearRegression, LogisticRegression
    from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor

    classify = method.task == "classify"
    members = [
        ("linear", LogisticRegression() if classify else LinearRegression()),
        ("tree", DecisionTreeClassifier() if classify else DecisionTreeRegressor()),
    ]
    parameters = inspect.signature(method.cls).parameters
    depths = {"max_depth": [1, 2, 4]}
    usual = {
        "estimator": members[1][1],
        "estimators": members,
        "param_grid": depths,
        "param_distributions": depths,
    }
    required = [name for name, each in parameters.items() if each.default is each.empty]
    given: dict[str, Any] = {name: usual[name] for name in required}
    if method.task == "reduce" and "n_components" in parameters:
        given["n_components"] = 2
    if method.task == "group" and "n_clusters" in parameters:
        given["n_clusters"] = 3  # groups of `blobs`
    if "random_state" in parameters:
        given["random_state"] = 0
    if method.name == "KernelRidge":
        given["kernel"] = "rbf"  # the default is a line through the origin
    if method.name.startswith("RadiusNeighbors"):
        given["radius"] = 3.0
    return method.cls(**given)


def two_moons() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    turn = np.pi * rng.random(ROWS)
    second = np.arange(ROWS) % 2
    x = np.where(second, 1 - np.cos(turn), np.cos(turn))
    y = np.where(second, 0.5 - np.sin(turn), np.sin(turn))
    return np.column_stack([x, y]) + 0.18 * rng.normal(size=(ROWS, 2)), second


def blobs(columns: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    group = np.arange(ROWS) % 3
    return 4 * rng.normal(size=(3, columns))[group] + rng.normal(size=(ROWS, columns)), group


def _regions(method: Method) -> go.Figure:
    X, y = two_moons()
    return show.decision_regions({method.name: made(method).fit(X, y)}, X, y)


def _curve(method: Method) -> go.Figure:
    rng = np.random.default_rng(2)
    x = np.sort(rng.uniform(0.1, 3, size=ROWS))
    y = 3 + x + np.sin(3 * x) + 0.3 * rng.normal(size=ROWS)
    return show.fit_over_scatter(x, y, {method.name: made(method).fit(x[:, None], y)})


def _groups(method: Method) -> go.Figure:
    X, _ = blobs()
    model = made(method).fit(X)
    labels = np.asarray(model.labels_ if hasattr(model, "labels_") else model.predict(X))
    names = [f"group {label}" if label >= 0 else "noise" for label in labels]
    return show.map_points(X, names, axes=("x0", "x1"))


def _map(method: Method) -> go.Figure | None:
    X, group = blobs(5)
    model = made(method)
    try:
        model.fit(X, group)
    except ValueError:  # it relates two sets of columns
        model.fit(X, np.column_stack([group == 0, group == 1]).astype(float))
    places = np.asarray(model.transform(X))
    names = [f"group {each}" for each in group]
    return show.map_points(places[:, :2], names, axes=("first coordinate", "second coordinate"))


def _density(method: Method) -> go.Figure:
    X, _ = blobs()
    model = made(method)
    if isinstance(model, OutlierMixin):
        X = np.vstack([X, np.random.default_rng(3).uniform(X.min(0) - 3, X.max(0) + 3, (25, 2))])
        names = ["usual" if each > 0 else "outlier" for each in model.fit_predict(X)]
        return show.map_points(X, names, axes=("x0", "x1"))
    model.fit(X)
    if not hasattr(model, "score_samples"):  # it draws rows and has no density
        rows = np.vstack([X, np.asarray(model.sample(ROWS))[:, :2]])
        names = ["given"] * len(X) + ["drawn"] * ROWS
        return show.map_points(rows, names, axes=("x0", "x1"))
    (low_x, low_y), (high_x, high_y) = X.min(axis=0) - 1, X.max(axis=0) + 1
    xs, ys = np.linspace(low_x, high_x, 60), np.linspace(low_y, high_y, 60)
    grid = np.column_stack([each.ravel() for each in np.meshgrid(xs, ys)])
    heights = np.exp(model.score_samples(grid)).reshape(len(ys), len(xs))
    figure = go.Figure(go.Contour(x=xs, y=ys, z=heights, colorscale="Blues", showscale=False))
    figure.add_scatter(x=X[:, 0], y=X[:, 1], mode="markers", marker={"size": 4, "color": "#333"})
    return figure.update_layout(showlegend=False, margin={"l": 40, "r": 20, "t": 20, "b": 40})


DRAWN = {
    "classify": _regions,
    "regress": _curve,
    "group": _groups,
    "reduce": _map,
    "density": _density,
}
