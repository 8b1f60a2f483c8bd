"""Pictures of methods that take no table of two columns: each draws the example of its docstring.

What is drawn depends on what the method takes: a filter's cells before and after it, a model of
sequences beside a sequence, a detector's boxes on an image.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import scipy.sparse as sp
from docstring_examples import used_in_example
from plotly.subplots import make_subplots

from gnomon import show
from gnomon.engine.registry import Method
from gnomon.show.theme import COLORS, THEMES, dress
from gnomon.table import Table, example

MOST_ROWS, MOST_COLUMNS = 6, 8
AHEAD = 12  # steps of a drawn forecast
LIGHT = THEMES["light"]


def picture_of_example(method: Method) -> go.Figure:
    """The picture of a method, by what it takes."""
    return (
        _cells if method.task == "filter" and method.takes == "table" else BY_KIND[method.takes]
    )(method)


def _rows_of(X: Any) -> tuple[list[str], list[list[Any]]]:
    """Names of columns, and rows of cells."""
    if isinstance(X, Table):
        return list(X.columns), [list(X.row(k).values()) for k in range(min(len(X), MOST_ROWS))]
    rows = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=object)
    rows = rows.reshape(len(rows), -1)[:MOST_ROWS]
    return [f"x{j}" for j in range(rows.shape[1])], rows.tolist()


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def cells(parts: list[tuple[str, list[str], list[list[Any]]]], title: str) -> go.Figure:
    """Tables of cells side by side, each under its heading."""
    widths = [1 + min(len(names), MOST_COLUMNS) for _, names, _ in parts]
    figure = make_subplots(
        1,
        len(parts),
        specs=[[{"type": "domain"}] * len(parts)],
        column_widths=widths,
        subplot_titles=[heading for heading, _, _ in parts],
        horizontal_spacing=0.04,
    )
    for place, (_, names, rows) in enumerate(parts, 1):
        kept = slice(0, MOST_COLUMNS)
        left = len(names) - MOST_COLUMNS
        header = [*names[kept], f"and {left} more"] if left > 0 else names
        columns = [[_shown(row[j]) for row in rows] for j in range(len(names))][kept]
        columns += [["..."] * len(rows)] if left > 0 else []
        look = {"line_color": LIGHT.grid, "font": {"color": LIGHT.ink, "size": 12}, "height": 26}
        figure.add_trace(
            go.Table(
                header={"values": header, "fill_color": LIGHT.grid, **look},
                cells={"values": columns, "fill_color": LIGHT.paper, **look},
            ),
            row=1,
            col=place,
        )
    most = max(len(rows) for _, _, rows in parts)
    dress(figure, title, "light", height=150 + 28 * (most + 1))
    return figure.update_annotations(font={"size": 13})


def _cells(method: Method) -> go.Figure:
    """Rows before and after a filter; of a model, rows with what it predicts."""
    model, given = used_in_example(method)
    names, before = _rows_of(given[0])
    if hasattr(model, "feature_names_in_"):
        names = list(model.feature_names_in_)
    if not hasattr(model, "transform"):
        rows = [
            *zip(*before, strict=True),
            given[1][:MOST_ROWS],
            model.predict(given[0])[:MOST_ROWS],
        ]
        heading = [*names, "target", "predicted"]
        return cells(
            [("rows", heading, [list(row) for row in zip(*rows, strict=True)])], method.name
        )
    _, after = _rows_of(model.transform(given[0]))
    new = [str(each) for each in model.get_feature_names_out()]
    return cells([("rows", names, before), (f"after {method.name}", new, after)], method.name)


def _signals(X: Any) -> list[np.ndarray]:
    """Sequences of numbers, or of the numbers of their symbols."""
    levels = sorted({str(s) for each in X for s in each}) if isinstance(X[0][0], str) else []
    if levels:
        return [np.array([levels.index(s) for s in each], dtype=float) for each in X]
    return [np.asarray(each, dtype=float) for each in X]


def _lines(traces: list[tuple[str, Any, Any]], title: str, **layout: Any) -> go.Figure:
    figure = go.Figure()
    for k, (name, x, y) in enumerate(traces):
        look = {"color": COLORS[k % len(COLORS)]}
        figure.add_scatter(x=list(x), y=list(y), name=name, mode="lines+markers", marker=look)
    return dress(figure, title, "light", **layout)


def _matrix(values: Any, x: Any, y: Any, title: str, **axes: str) -> go.Figure:
    """A matrix as colored cells with their values."""
    values = np.asarray(values, dtype=float)
    shown = [["" if np.isnan(v) else f"{round(v, 2):g}" for v in row] for row in values]
    figure = go.Figure(
        go.Heatmap(
            z=[[None if np.isnan(v) else float(v) for v in row] for row in values],
            x=[str(each) for each in x],
            y=[str(each) for each in y],
            text=shown,
            texttemplate="%{text}",
            colorscale="Blues",
            showscale=False,
        )
    )
    figure.update_xaxes(type="category", title=axes.get("xtitle"))
    figure.update_yaxes(type="category", autorange="reversed", title=axes.get("ytitle"))
    return dress(figure, title, "light", height=420)


def _sequences(method: Method) -> go.Figure:
    """A forecast, probabilities of states or transitions, or classes of signals."""
    model, given = used_in_example(method)
    if method.name == "NGramModel":
        symbols = model.alphabet_
        rows = [model.probabilities([symbol]) for symbol in symbols]
        return _matrix(
            rows, symbols, symbols, "Probability of the next symbol", xtitle="next", ytitle="after"
        )
    if hasattr(model, "forecast_rows") and hasattr(given[0][0], "__len__"):
        series = np.asarray(given[0][0], dtype=float).ravel()
        ahead = np.asarray(model.forecast_rows(series, AHEAD)).ravel()
        known = series[-60:]
        steps = np.arange(len(series) - len(known), len(series) + AHEAD)
        traces = [
            ("series", steps[: len(known)], known),
            ("forecast", steps[len(known) - 1 :], [known[-1], *ahead]),
        ]
        return _lines(traces, f"{method.name}: {AHEAD} steps ahead", xaxis_title="step")
    if method.task == "label":
        tokens = given[0][0]
        names = [
            str(next(iter(each.values() if isinstance(each, dict) else each))) for each in tokens
        ]
        predicted = model.predict(given[0])[0]
        rows = [[word, tag, str(true)] for word, tag, true in zip(names, predicted, given[1][0])]
        return cells([("a sequence", ["token", "predicted", "true"], rows)], method.name)
    if method.task == "classify":
        signals = _signals(given[0])
        predicted = [str(each) for each in model.predict(given[0])]
        figure = show.signal_traces([each.reshape(len(each), -1) for each in signals], predicted)
        return dress(figure, f"Sequences by the class that {method.name} predicts", "light")
    if method.task == "reduce":
        codes = np.asarray(model.transform(given[0]))
        names = [f"sequence {k + 1}" for k in range(len(codes))]
        return _matrix(
            codes, [f"entry {j + 1}" for j in range(codes.shape[1])], names,
            "Share of each entry of the dictionary",
        )  # fmt: skip
    transitions = getattr(model, "transmat_", None)
    if transitions is None:
        transitions = getattr(model, "transition_", None)
    if transitions is None:
        transitions = model.transitions([[0.0]])[0]
    transitions = np.asarray(transitions)
    states = getattr(model, "symbols_", None)
    names = [f"state {k + 1}" for k in range(len(transitions))] if states is None else states
    return _matrix(
        transitions, names, names, "Probability of the next state", xtitle="next", ytitle="now"
    )


def _graph(method: Method) -> go.Figure:
    return show.belief_network(used_in_example(method)[0], title=method.name)


def _texts(method: Method) -> go.Figure:
    """Topics, a map of words, counts of words, or documents found."""
    model, given = used_in_example(method)
    if hasattr(model, "top_words") and hasattr(model, "vocabulary_"):
        return show.topic_words(model, n_words=4)
    texts = list(given[0])
    if method.task == "search":
        documents, scores = model.search(["red fish"], len(texts))
        figure = go.Figure(go.Bar(x=scores[0], y=[texts[k] for k in documents[0]], orientation="h"))
        figure.update_traces(marker_color=COLORS[0])
        figure.update_yaxes(autorange="reversed", automargin=True)
        return dress(figure, 'Documents for "red fish"', "light", xaxis_title="score", height=300)
    if hasattr(model, "vectors_"):
        centered = model.vectors_ - model.vectors_.mean(axis=0)
        places = np.linalg.svd(centered, full_matrices=False)
        return show.map_points(
            (places[0] * places[1])[:, :2], names=[str(each) for each in model.terms_],
            axes=("first component", "second component"), title="Words by their vectors",
        )  # fmt: skip
    if method.task == "reduce":
        places = np.asarray(model.transform(given[0]))[:, :2]
        return show.map_points(places, names=[str(t) for t in texts], axes=("1", "2"))
    if method.task == "density":
        shares = np.asarray(model.transform(given[0]))
        return _matrix(
            shares, [f"topic {j + 1}" for j in range(shares.shape[1])],
            [f"document {k + 1}" for k in range(len(shares))], "Shares of topics in documents",
        )  # fmt: skip
    counts = model.transform(texts)
    counts = counts.toarray() if sp.issparse(counts) else np.asarray(counts)
    try:
        words = [str(each) for each in model.get_feature_names_out()]
    except AttributeError:
        words = [str(j) for j in range(counts.shape[1])]
    return _matrix(counts, words, texts, f"{method.name}: a column for each word")


def _index(method: Method) -> go.Figure:
    """A query and its nearest rows."""
    rng = np.random.default_rng(0)
    rows, query = rng.normal(size=(150, 2)), np.array([[0.4, 0.2]])
    if method.name == "NeighborLabels":
        groups = np.where(rows[:, 0] > rows[:, 1], "right", "left").tolist()
        model = method.cls(5).fit(rows, Table.from_dict({"side": groups}))
        predicted = model.predict(rows).arrow.column("side").to_pylist()
        return show.map_points(
            rows, predicted, axes=("x0", "x1"), title="Labels of the nearest rows"
        )
    model = method.cls(n_neighbors=8).fit(rows)
    near = set(np.asarray(model.kneighbors(query).indices)[0].tolist())
    classes = ["neighbor" if k in near else "row" for k in range(len(rows))]
    return show.map_points(
        np.vstack([rows, query]), [*classes, "query"], axes=("x0", "x1"), title="Eight neighbors"
    )


def _ratings(method: Method) -> go.Figure:
    """Given ratings and predicted ones."""
    model, (rows,) = used_in_example(method)
    rows = np.asarray(rows, dtype=float)
    users, items = np.nonzero(np.isnan(rows))
    filled = rows.copy()
    filled[users, items] = [float(model.predict([u], [i]).ratings[0]) for u, i in zip(users, items)]
    names = [f"item {j + 1}" for j in range(rows.shape[1])]

    def table(values: np.ndarray) -> list[list[Any]]:
        return [[f"user {k + 1}", *row] for k, row in enumerate(values.tolist())]

    header = ["", *names]
    return cells(
        [("ratings", header, table(rows)), ("predicted", header, table(filled))], method.name
    )


def _images(method: Method) -> go.Figure:
    """Digits before and after, or what is measured of them."""
    table = example("digits")
    pixels = np.column_stack([table.column(name).to_numpy() for name in table.columns[:-1]])
    images = pixels.reshape(-1, 8, 8).astype(float)
    if method.task == "classify":
        y = [str(each) for each in table.column(table.columns[-1]).to_pylist()]
        model = method.cls(20).fit(images[:600], y[:600])
        new = images[600:630]
        return show.contact_sheet(
            new, [str(each) for each in model.predict(new)], title="New images by predicted class"
        )
    model, _ = used_in_example(method)
    large = np.kron(images[:200], np.ones((2, 2)))
    after = np.asarray(model.__class__(**model.get_params()).fit_transform(large), dtype=float)
    if after.ndim == 3:
        return show.image_batches({"before": large[:6], "after": after[:6]}, n_images=6)
    flat = after.reshape(len(after), -1)[:10, :60]
    return _matrix(
        flat.round(2), range(flat.shape[1]), [f"image {k + 1}" for k in range(len(flat))],
        f"{method.name}: measured of ten images",
    ).update_traces(texttemplate="")  # fmt: skip


def _scenes(method: Method) -> go.Figure:
    """Boxes that are found in an image, beside the true ones."""
    model, (scenes, *_) = used_in_example(method)
    found = model.predict(scenes[:1])[0]
    return show.detector_boxes(scenes[0], found)


BY_KIND = {
    "table": _cells,
    "sequences": _sequences,
    "graph": _graph,
    "texts": _texts,
    "index": _index,
    "ratings": _ratings,
    "images": _images,
    "scenes": _scenes,
}
