"""Pictures of measures: confusion, ROC, precision and recall, calibration, residuals, rejection.

Every function takes plain columns (truth and what was said) or the result of `gnomon.evaluate`
that stands behind the picture; of a cross-validation the predictions out of fold are drawn. Where
rows are tested several times, all tests are drawn, and count together as often as there are rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import scipy
from plotly.subplots import make_subplots

from gnomon.contract.estimate import Frequencies
from gnomon.engine.errors import DataError
from gnomon.evaluate import (
    MARGIN_LOSSES,
    ConfusionTable,
    CrossValidation,
    Estimate,
    absolute_loss,
    confusion_table,
    huber_loss,
    precision_recall_curve,
    rejection_curve,
    roc_curve,
    share_interval,
    squared_loss,
    two_class_rates,
)
from gnomon.evaluate.confusion import Rates
from gnomon.evaluate.intake import (
    column_names,
    in_order_of_classes,
    label_column,
    number_block,
)
from gnomon.evaluate.measures import Said
from gnomon.evaluate.number_measures import residuals as residuals_of
from gnomon.evaluate.probability_measures import Calibration
from gnomon.evaluate.probability_measures import calibration as calibrate
from gnomon.evaluate.ranking import PrecisionRecallCurve, RejectionCurve, RocCurve
from gnomon.show.edges import note_in_lines
from gnomon.show.theme import SEQUENTIAL, color, dress, error_bars, faded, look

MOST_LABELED = 20  # judgement: more names on an axis cover each other
MOST_MARKERS = 5_000  # judgement: more points hide each other
MOST_STEPS = 1_000  # more steps than a line has pixels
RECALL_LEVELS = np.arange(11) / 10  # the eleven points of TREC's average precision
SHARES = {
    "true": "share of the true class",
    "predicted": "share of the predicted class",
    "all": "share of all rows",
}


def confusion(
    y_true: Any,
    y_pred: Any = None,
    *,
    classes: Any = None,
    shares: str = "true",
    theme: str = "light",
) -> go.Figure:
    """A confusion table as a heat table: rows the truth, columns the prediction, both named.

    Cells hold counts and shares; the error of each class stands at the right with its interval.
    Text: 004 3.3.

    Parameters
    ----------
    y_true : array-like of labels, ConfusionTable or CrossValidation
    y_pred : array-like of labels, default=None
    classes : array-like, default=None
        Order of the classes.
    shares : {"true", "predicted", "all"}, default="true"
        What the colours and percentages are shares of.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> confusion(["a", "b", "b"], ["a", "b", "a"]).layout.yaxis.title.text
    'true class'
    """
    if shares not in SHARES:
        raise DataError(f"shares={shares!r} is none of {', '.join(SHARES)}")
    table = _confusion_of(y_true, y_pred, classes)
    rows = _tests(y_true, weighted=True) or f"{table.n:,.10g} rows"
    parts = _cell_shares(table, shares)
    names = [str(each) for each in table.classes]
    k, labeled = len(names), len(names) <= MOST_LABELED
    cells = [[_cell(n, part) for n, part in zip(*row)] for row in zip(table.counts, parts)]
    figure = go.Figure(
        go.Heatmap(
            z=parts,
            x=names,
            y=names,
            text=cells,
            texttemplate="%{text}" if labeled else None,
            hovertemplate="true %{y}, predicted %{x}<br>%{text}<extra></extra>",
            colorscale=[[0, look(theme).paper], [1, color(0)]],
            zmin=0,
            zmax=1 if shares != "all" else None,
            xgap=2,
            ygap=2,
            showscale=not labeled,
            colorbar={"title": SHARES[shares], "tickformat": ".0%"},
        )
    )
    figure.update_xaxes(title="predicted class", type="category", showgrid=False)
    figure.update_yaxes(title="true class", type="category", autorange="reversed", showgrid=False)
    if labeled:
        _add_class_errors(figure, table, theme)
    size = max(70, 44) * k if labeled else 640
    left = 60 + 8 * max(map(len, names))
    width = max(size + left + (230 if labeled else 120), 620)
    note = f"{rows}, error {table.error}; cells: count and {SHARES[shares]}"
    note, top = note_in_lines(note, width)
    return dress(
        figure,
        "Confusion of classes",
        theme,
        note=note,
        width=width,
        height=max(size, 160) + 80 + top,
        margin={"l": left, "r": 230 if labeled else 120, "t": top, "b": 70},
    )


def _confusion_of(y_true: Any, y_pred: Any, classes: Any) -> ConfusionTable:
    if isinstance(y_true, ConfusionTable):
        return y_true
    if isinstance(y_true, CrossValidation):
        rows, said, weights = _out_of_folds(y_true)
        return confusion_table(y_true.y[rows], said.predictions, classes, weights)
    return confusion_table(y_true, y_pred, classes)


def _cell_shares(table: ConfusionTable, shares: str) -> np.ndarray:
    if shares == "true":
        return table.fractions()
    if shares == "predicted":
        return table.transposed().fractions().T
    return table.counts / table.n


def _cell(count: float, part: float) -> str:
    rows = f"{count:,.0f}" if count == round(count) else f"{count:,.1f}"
    return f"{rows}<br>{part:.0%}" if np.isfinite(part) else rows


def _add_class_errors(figure: go.Figure, table: ConfusionTable, theme: str) -> None:
    faint = {"color": look(theme).faint, "size": 13}
    place = {"xref": "paper", "x": 1.02, "xanchor": "left", "showarrow": False}
    figure.add_annotation(
        text="class error", yref="paper", y=1, yanchor="bottom", font=faint, **place
    )
    for name, error in zip(table.classes, table.class_errors):
        text = "no such rows" if error is None else str(error)
        figure.add_annotation(text=text, y=str(name), font={"size": 13}, **place)


def performance_areas(
    y_true: Any, y_pred: Any = None, *, positive: Any = None, theme: str = "light"
) -> go.Figure:
    """Accuracy, precision and recall as areas of the two-by-two table.

    The square is all rows: its width divides them by truth, its height by prediction. Each measure
    is the area in full colour over that in full and in pale colour together. Text: 004 3.3.

    Parameters
    ----------
    y_true : array-like of labels, or Rates
    y_pred : array-like of labels, default=None
    positive : label, default=None
        The positive class; the second in sorted order where there are two.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = performance_areas([1] * 40 + [0] * 60, [1] * 30 + [0] * 55 + [1] * 15)
    """
    rates = y_true if isinstance(y_true, Rates) else two_class_rates(y_true, y_pred, positive)
    n = rates.tp + rates.fp + rates.fn + rates.tn
    right = share_interval(rates.tp + rates.tn, n, rates.confidence_level)
    panels: list[tuple[str, Estimate | None, set[str], set[str]]] = [
        ("accuracy", right, {"TP", "TN"}, {"FP", "FN"}),
        ("precision", rates.precision, {"TP"}, {"FP"}),
        ("recall", rates.sensitivity, {"TP"}, {"FN"}),
    ]
    titles = [f"{name} {'is undefined' if f is None else f}" for name, f, _, _ in panels]
    figure = make_subplots(1, 3, subplot_titles=titles, horizontal_spacing=0.05)
    for column, (_, _, above, below) in enumerate(panels, start=1):
        _add_areas(figure, rates, n, above, below, theme, column)
    figure.update_xaxes(
        range=[0, 1],
        showgrid=False,
        tickvals=_halves(rates, n),
        ticktext=[f"{rates.positive}", f"{rates.negative}"],
        title="true class",
    )
    figure.update_yaxes(range=[0, 1], showgrid=False, showticklabels=False)
    figure = dress(
        figure,
        "Accuracy, precision and recall as areas",
        theme,
        note=f"{n:,} rows; measure = full colour / (full + pale); area = rows",
        width=1000,
        height=430,
        margin={"l": 40, "r": 30, "t": 110, "b": 60},
    )
    return figure.update_yaxes(ticks="")


def _halves(rates: Rates, n: int) -> list[float]:
    share = (rates.tp + rates.fn) / n
    return [share / 2, (1 + share) / 2]


def _add_areas(figure, rates: Rates, n: int, above, below, theme: str, column: int) -> None:
    """The four cells as rectangles: positives at the left, hits at the bottom of each part."""
    edge = (rates.tp + rates.fn) / n
    hit = rates.tp / max(rates.tp + rates.fn, 1)
    alarm = rates.fp / max(rates.fp + rates.tn, 1)
    cells = {
        "TP": (0, edge, 0, hit, rates.tp),
        "FN": (0, edge, hit, 1, rates.fn),
        "FP": (edge, 1, 0, alarm, rates.fp),
        "TN": (edge, 1, alarm, 1, rates.tn),
    }
    for name, (x0, x1, y0, y1, count) in cells.items():
        share = 0.85 if name in above else (0.3 if name in below else 0.0)
        box = {"x0": x0, "x1": x1, "y0": y0, "y1": y1, "layer": "below"}
        line = {"color": look(theme).faint, "width": 1}
        figure.add_shape(**box, fillcolor=faded(color(0), share), line=line, row=1, col=column)
        if count:
            ink = "#ffffff" if share > 0.5 else look(theme).ink
            figure.add_annotation(
                x=(x0 + x1) / 2,
                y=(y0 + y1) / 2,
                text=f"{name} {count:,}",
                showarrow=False,
                font={"color": ink, "size": 13},
                row=1,
                col=column,
            )


def roc(
    y_true: Any,
    scores: Any = None,
    *,
    positive: Any = None,
    classes: Any = None,
    theme: str = "light",
) -> go.Figure:
    """ROC curves with their areas, and a band for a single curve.

    The band holds, threshold by threshold, both rates together at the curve's level (the
    intervals of two independent shares). Text: 004 11.7.

    Parameters
    ----------
    y_true : array-like of labels, RocCurve, mapping of names to RocCurve, or CrossValidation
    scores : array-like of shape (n,) or (n, n_classes), or mapping of names to these, default=None
        Several columns give one curve per class against the others.
    positive : label, default=None
    classes : array-like, default=None
        Classes of the columns; the sorted classes by default.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).layout.xaxis.title.text
    'false positive rate'
    """
    curves = _curves(RocCurve, partial(_of_label, roc_curve), y_true, scores, positive, classes)
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", name="by chance", line=_dashed(theme), hoverinfo="skip"
    )
    thinned = 0
    for place, (name, curve) in enumerate(curves.items()):
        kept = _kept_steps(len(curve.thresholds))
        thinned = max(thinned, len(curve.thresholds) - len(kept))
        if len(curves) == 1:
            _add_roc_band(figure, curve, kept, color(place))
        figure.add_scatter(
            x=curve.false_positive_rate[kept],
            y=curve.true_positive_rate[kept],
            mode="lines",
            name=f"{name}{': ' if name else ''}area {curve.area}",
            line={"color": color(place), "width": 2.5},
            customdata=curve.thresholds[kept],
            hovertemplate="threshold %{customdata:.4g}<br>false %{x:.3f}, true %{y:.3f}",
        )
    figure.update_xaxes(title="false positive rate", range=[-0.01, 1.01])
    figure.update_yaxes(title="true positive rate", range=[-0.01, 1.01])
    one = next(iter(curves.values()))
    level = f"{one.area.confidence_level:.0%}"
    note = f"area: chance that a positive row scores above a negative one, {level} interval"
    note += _drawn(thinned)
    return _square(figure, "ROC curve", theme, _and_tests(note, y_true))


def _add_roc_band(figure, curve: RocCurve, kept: np.ndarray, code: str) -> None:
    joint = np.sqrt(curve.area.confidence_level)
    true = [
        share_interval(r * curve.n_positive, curve.n_positive, joint)
        for r in curve.true_positive_rate[kept]
    ]
    false = [
        share_interval(r * curve.n_negative, curve.n_negative, joint)
        for r in curve.false_positive_rate[kept]
    ]
    upper = np.array([[f.low, t.high] for f, t in zip(false, true)])
    lower = np.array([[f.high, t.low] for f, t in zip(false, true)])
    outline = np.concatenate([[[0, 0]], upper, [[1, 1]], lower[::-1]])
    figure.add_scatter(
        x=outline[:, 0],
        y=outline[:, 1],
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=faded(code),
        hoverinfo="skip",
        name=f"{curve.area.confidence_level:.0%} of both rates at a threshold",
    )


def precision_recall(
    y_true: Any,
    scores: Any = None,
    *,
    positive: Any = None,
    classes: Any = None,
    theme: str = "light",
) -> go.Figure:
    """Precision against recall: the raw saw teeth, and for a single curve the interpolated steps.

    The eleven points of the text's average precision are marked; the dashed line is what random
    order reaches. Text: 000c 18.2.5.

    Parameters
    ----------
    y_true : array-like of labels, PrecisionRecallCurve, mapping of these, or CrossValidation
    scores : array-like of shape (n,) or (n, n_classes), or mapping of names to these, default=None
    positive : label, default=None
    classes : array-like, default=None
        Classes of the columns; the sorted classes by default.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.uniform(size=200) < 0.3
    >>> figure = precision_recall(y_true, y_true + rng.normal(size=200))
    """
    curves = _curves(
        PrecisionRecallCurve,
        partial(_of_label, precision_recall_curve),
        y_true,
        scores,
        positive,
        classes,
    )
    figure, thinned = go.Figure(), 0
    for place, (name, curve) in enumerate(curves.items()):
        kept = _kept_steps(len(curve.recall))
        thinned = max(thinned, len(curve.recall) - len(kept))
        prefix = f"{name}: " if name else ""
        figure.add_scatter(
            x=curve.recall[kept],
            y=curve.precision[kept],
            mode="lines",
            name=f"{prefix}average precision {curve.average_precision}",
            line={"color": color(place), "width": 2},
            customdata=curve.thresholds[kept],
            hovertemplate="threshold %{customdata:.4g}<br>recall %{x:.3f}, precision %{y:.3f}",
        )
    one = next(iter(curves.values()))
    if len(curves) == 1:
        _add_interpolated(figure, one)
        level = one.n_relevant / one.depth[-1]
        if one.recall[-1] == 1:
            figure.add_hline(
                y=level,
                line=_dashed(theme),
                annotation={"text": "random order", "font": {"color": look(theme).faint}},
            )
    figure.update_xaxes(title="recall", range=[-0.01, 1.01])
    figure.update_yaxes(title="precision", range=[-0.01, 1.03])
    note = f"{one.average_precision.confidence_level:.0%} interval of the area" + _drawn(thinned)
    return _square(figure, "Precision against recall", theme, _and_tests(note, y_true))


def _add_interpolated(figure: go.Figure, curve: PrecisionRecallCurve) -> None:
    best = curve.interpolated(curve.recall)
    kept = _kept_steps(len(best))
    figure.add_scatter(
        x=curve.recall[kept],
        y=best[kept],
        mode="lines",
        line={"color": color(1), "width": 1.5, "shape": "vh"},
        name="largest precision at this recall or more",
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=RECALL_LEVELS,
        y=curve.interpolated(RECALL_LEVELS),
        mode="markers",
        marker={"color": color(1), "size": 8, "symbol": "diamond"},
        name=f"eleven points, mean {curve.eleven_point:.3f}",
    )


def calibration(
    y_true: Any,
    proba: Any = None,
    *,
    positive: Any = None,
    classes: Any = None,
    n_bins: int = 10,
    theme: str = "light",
) -> go.Figure:
    """Observed shares against predicted probabilities, bin by bin, with rows per bin below.

    Points on the diagonal: what is given probability p happens in a share p of cases.

    Parameters
    ----------
    y_true : array-like of labels, Calibration, mapping of names to these, or CrossValidation
    proba : array-like of shape (n,) or (n, n_classes), or mapping of names to these, default=None
    positive : label, default=None
    classes : array-like, default=None
        Classes of the columns; the sorted classes by default.
    n_bins : int, default=10
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> proba = rng.uniform(size=400)
    >>> happened = rng.uniform(size=400) < proba**1.5
    >>> figure = calibration(happened, proba)
    """

    def take(y, p, which, sample_weight=None):
        return calibrate(y, p, which, n_bins=n_bins, sample_weight=sample_weight)

    found = _curves(Calibration, take, y_true, proba, positive, classes, probabilities=True)
    figure = make_subplots(2, 1, shared_xaxes=True, row_heights=[0.78, 0.22], vertical_spacing=0.04)
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line=_dashed(theme), name="right", hoverinfo="skip"
    )
    for place, (name, each) in enumerate(found.items()):
        bars = error_bars(each.observed, theme) | {"color": color(place)}
        figure.add_scatter(
            x=each.predicted,
            y=each.shares,
            error_y=bars,
            mode="lines+markers",
            line={"color": color(place), "width": 1.5},
            marker={"size": 8, "color": color(place)},
            customdata=each.counts,
            name=f"{name or f'P({each.positive})'}: mean distance {each.expected_error:.3f}",
            hovertemplate="predicted %{x:.3f}, observed %{y:.3f}<br>%{customdata:,.1~f} rows",
        )
        _add_bin_counts(figure, each, color(place))
    figure.update_xaxes(range=[-0.02, 1.02])
    figure.update_xaxes(title="predicted probability", row=2, col=1)
    figure.update_yaxes(title="observed share", range=[-0.02, 1.02], row=1, col=1)
    figure.update_yaxes(title="rows", rangemode="tozero", nticks=3, row=2, col=1)
    one = next(iter(found.values()))
    note = f"bars: {one.observed[0].confidence_level:.0%} intervals"
    if len(found) == 1 and np.isfinite(one.p):
        note += f"; p = {one.p:.2g} that right probabilities miss so much (Spiegelhalter)"
    note, top = note_in_lines(_and_tests(note, y_true), 640)
    margin = {"l": 70, "r": 30, "t": top, "b": 60}
    figure = dress(figure, "Calibration of probabilities", theme, note=note, margin=margin)
    return figure.update_layout(width=640, height=590 + top, legend=_inside("bottom"))


def _add_bin_counts(figure: go.Figure, found: Calibration, code: str) -> None:
    filled = np.histogram(found.predicted, found.edges)[0] > 0
    left, right = found.edges[:-1][filled], found.edges[1:][filled]
    if len(left) != len(found.counts):
        left, right = found.predicted - 0.01, found.predicted + 0.01
    figure.add_bar(
        x=(left + right) / 2,
        y=found.counts,
        width=np.maximum(right - left, 0.004),
        marker={"color": faded(code, 0.55), "line": {"color": code, "width": 1}},
        showlegend=False,
        hovertemplate="%{y:,.1~f} rows<extra></extra>",
        row=2,
        col=1,
    )


def rejection(
    y_true: Any, y_pred: Any = None, confidence: Any = None, *, theme: str = "light"
) -> go.Figure:
    """Accuracy on the accepted rows against the share that is rejected, the least certain first.

    Text: 004 11.7.

    Parameters
    ----------
    y_true : array-like of labels, RejectionCurve, or mapping of names to RejectionCurve
    y_pred : array-like of labels, default=None
    confidence : array-like of shape (n,), default=None
        Such as the largest probability of a row.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.uniform(0.5, 1, size=200)
    >>> right = rng.uniform(size=200) < confidence
    >>> figure = rejection(np.ones(200, dtype=int), right.astype(int), confidence)
    """
    if isinstance(y_true, RejectionCurve):
        curves = {"": y_true}
    elif isinstance(y_true, Mapping):
        curves = dict(y_true)
    else:
        curves = {"": rejection_curve(y_true, y_pred, confidence)}
    figure, thinned = go.Figure(), 0
    for place, (name, curve) in enumerate(curves.items()):
        kept = _kept_steps(len(curve.rejected))
        thinned = max(thinned, len(curve.rejected) - len(kept))
        ends = np.array([(f.value, f.low, f.high) for f in curve.accuracy])[kept]
        x = curve.rejected[kept]
        _add_band(figure, x, ends[:, 1], ends[:, 2], color(place))
        figure.add_scatter(
            x=x,
            y=ends[:, 0],
            mode="lines",
            line={"color": color(place), "width": 2.5},
            name=name or "accuracy of the rest",
            showlegend=len(curves) > 1,
            customdata=curve.thresholds[kept],
            hovertemplate="%{x:.1%} rejected (confidence below %{customdata:.3g}): %{y:.3f}",
        )
    figure.update_xaxes(title="share of rows rejected", tickformat=".0%", range=[0, 1])
    figure.update_yaxes(title="accuracy on the accepted rows")
    level = next(iter(curves.values())).accuracy[0].confidence_level
    note = f"band: {level:.0%} interval; few rows are left at the right" + _drawn(thinned)
    return dress(figure, "Accuracy against rejection", theme, note=note, width=760, height=500)


def reject_zones(
    x: Any,
    probabilities: Any,
    *,
    threshold: float = 0.8,
    classes: Sequence[Any] | None = None,
    x_name: str = "input",
    theme: str = "light",
) -> go.Figure:
    """Class probabilities along one input, with the zones where no class is certain enough.

    Text: 004 11.7: transition regions are where rejection pays.

    Parameters
    ----------
    x : array-like of shape (n,)
        Places along the input, or along a direction.
    probabilities : array-like of shape (n,) or (n, n_classes)
        Probabilities of the classes at each place; of the second class where there is one column.
    threshold : float, default=0.8
        Least probability of the likeliest class for a row to be accepted.
    classes : sequence, default=None
    x_name : str, default="input"
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-4, 4, 100)
    >>> figure = reject_zones(x, 1 / (1 + np.exp(-x)))
    """
    places = number_block(x, "x").ravel()
    block = number_block(probabilities, "probabilities")
    block = np.column_stack([1 - block, block]) if block.ndim == 1 else block
    order = np.argsort(places, kind="stable")
    places, block = places[order], block[order]
    names = list(range(block.shape[1])) if classes is None else list(classes)
    unsure = block.max(axis=1) < threshold
    figure = go.Figure()
    for start, end in _runs(unsure):
        edges = places[start], places[min(end, len(places) - 1)]
        figure.add_vrect(*edges, fillcolor=look(theme).faint, opacity=0.2, line_width=0)
    for k, name in enumerate(names):
        line = {"color": color(k), "width": 2.5}
        figure.add_scatter(x=places, y=block[:, k], mode="lines", name=f"P({name})", line=line)
    figure.add_hline(y=threshold, line=_dashed(theme))
    figure.update_xaxes(title=x_name)
    figure.update_yaxes(title="probability of the class", range=[-0.02, 1.02])
    note = f"grey: no class reaches {threshold:g}, rejected ({unsure.mean():.0%} of the places)"
    return dress(figure, "Where to reject", theme, note=note, width=780, height=480)


def _runs(marks: np.ndarray) -> list[tuple[int, int]]:
    """First place, and the place after the last, of every run of marks."""
    steps = np.flatnonzero(np.diff(np.concatenate([[0], marks.astype(int), [0]])))
    return [(int(a), int(b)) for a, b in zip(steps[::2], steps[1::2])]


def category_errors(
    y_true: Any,
    y_pred: Any,
    category: Any = None,
    *,
    name: str = "true class",
    most: int = 30,
    theme: str = "light",
) -> go.Figure:
    """Error rate per category as sorted bars with intervals, the worst first.

    Parameters
    ----------
    y_true, y_pred : array-like of labels
    category : array-like, default=None
        What to split the rows by; the true class by default.
    name : str, default="true class"
        What the categories are.
    most : int, default=30
        Categories shown, the worst ones; the note says how many are left.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> y_true = ["cat"] * 30 + ["dog"] * 30 + ["owl"] * 20
    >>> y_pred = ["cat"] * 27 + ["dog"] * 25 + ["owl"] * 28
    >>> figure = category_errors(y_true, y_pred)
    """
    y, said = label_column(y_true, "y"), label_column(y_pred, "predicted")
    kinds = y if category is None else label_column(category, "category")
    if not len(y) == len(said) == len(kinds):
        raise DataError(f"there are {len(y)} labels, {len(said)} predictions, {len(kinds)} rows")
    names, codes = np.unique(kinds, return_inverse=True)
    rows, wrong = np.bincount(codes), np.bincount(codes, y != said)
    errors = [share_interval(int(w), int(n)) for w, n in zip(wrong, rows)]
    order = sorted(range(len(names)), key=lambda k: -errors[k].value)
    shown = order[:most]
    figure = go.Figure(
        go.Bar(
            y=[f"{names[k]} ({rows[k]:,})" for k in shown],
            x=[errors[k].value for k in shown],
            error_x=error_bars([errors[k] for k in shown], theme) | {"color": look(theme).ink},
            orientation="h",
            marker={"color": color(0)},
            hovertemplate="%{y}: %{x:.3f}<extra></extra>",
        )
    )
    overall = share_interval(int(wrong.sum()), len(y))
    figure.add_vline(x=overall.value, line=_dashed(theme))
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False)
    figure.update_xaxes(title="error rate", range=[0, None], tickformat=".0%")
    left = f"; {len(order) - most} better categories not shown" if len(order) > most else ""
    return dress(
        figure,
        f"Error by {name}",
        theme,
        note=f"rows in brackets; bars: 95% intervals; dashed: all rows, {overall}{left}",
        width=800,
        height=170 + 28 * len(shown),
        margin={
            "l": 60 + 8 * max(len(str(names[k])) for k in shown),
            "r": 30,
            "t": 90,
            "b": 60,
        },
    )


def predicted_versus_true(
    y_true: Any, y_pred: Any = None, *, unit: str = "", theme: str = "light"
) -> go.Figure:
    """Predictions against true values, with the line of perfect prediction.

    Beyond 5,000 rows the density of all rows is drawn instead of markers.

    Parameters
    ----------
    y_true : array-like of shape (n,), or CrossValidation
    y_pred : array-like of shape (n,), default=None
    unit : str, default=""
        Unit of the target, for the axes.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> predicted_versus_true([1.0, 2.0, 3.0], [1.1, 1.9, 3.2]).layout.xaxis.title.text
    'true value'
    """
    y, said = _numbers_of(y_true, y_pred)
    gaps = y - said
    figure = go.Figure()
    _add_points(figure, y, said, color(0), "true %{x:.4g}, predicted %{y:.4g}<extra></extra>")
    low, high = min(y.min(), said.min()), max(y.max(), said.max())
    slack = 0.04 * ((high - low) or 1.0)
    ends = [low - slack, high + slack]
    figure.add_scatter(x=ends, y=ends, mode="lines", line=_dashed(theme), hoverinfo="skip")
    spread = float(((y - y.mean()) ** 2).sum())
    r2 = f"R² {1 - float((gaps**2).sum()) / spread:.3f}" if spread > 0 else "no spread in truth"
    figure.update_xaxes(title=_with_unit("true value", unit), range=ends)
    figure.update_yaxes(title=_with_unit("predicted value", unit), range=ends)
    note = (
        f"{_tests(y_true) or f'{len(y):,} rows'}, {r2}, root mean squared error "
        f"{np.sqrt((gaps**2).mean()):.4g}; dashed: perfect"
    )
    note, top = note_in_lines(note, 660)
    margin = {"l": 70, "r": 30, "t": top, "b": 60}
    figure = dress(figure, "Predicted against true values", theme, note=note, margin=margin)
    return figure.update_layout(showlegend=False, width=660, height=550 + top)


def residuals(
    y_true: Any,
    y_pred: Any = None,
    x: Any = None,
    *,
    x_name: str = "x",
    groups: Any = None,
    theme: str = "light",
) -> go.Figure:
    """Residuals, true minus predicted, against the prediction (and a column), and their histogram.

    A band of even width about zero is good; a fan says that the spread grows, a bend that the model
    misses a curve. Rows beyond three standard deviations are filled; the normal law of the same
    spread lies over the histogram. Texts: 000b 10.2 · 003 "residuals".

    Parameters
    ----------
    y_true : array-like of shape (n,), or CrossValidation
    y_pred : array-like of shape (n,), default=None
    x : array-like of shape (n,), default=None
        A column to show the residuals against, in a further panel.
    x_name : str, default="x"
    groups : array-like of shape (n,), default=None
        Colours of the rows; at most eight groups.
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
    >>> model = LinearRegression().fit(x[:, None], y)
    >>> figure = residuals(y, model.predict(x[:, None]), x)
    """
    y, said = _numbers_of(y_true, y_pred)
    gaps = residuals_of(y, said)
    sd = float(gaps.std(ddof=1)) if len(gaps) > 1 else 0.0
    axes = {"predicted value": said}
    if x is not None:
        axes[x_name] = _at_tests(number_block(x, x_name).ravel(), y_true)
    if groups is not None:
        groups = _at_tests(label_column(groups, "groups"), y_true)
    columns = len(axes) + 1
    figure = make_subplots(
        1,
        columns,
        shared_yaxes=True,
        horizontal_spacing=0.04,
        column_widths=[1.0] * len(axes) + [0.4],
    )
    for column, (title, values) in enumerate(axes.items(), start=1):
        _add_residuals(figure, values, gaps, sd, groups, column)
        figure.add_hline(y=0, line={"color": look(theme).faint, "width": 1}, row=1, col=column)
        figure.update_xaxes(title=title, row=1, col=column)
    _add_residual_histogram(figure, gaps, sd, theme, columns)
    figure.update_yaxes(title="residual: true − predicted", row=1, col=1)
    far = int((np.abs(gaps - gaps.mean()) > 3 * sd).sum())
    rows = _tests(y_true) or f"{len(y):,} rows"
    note = f"{rows}, standard deviation {sd:.4g}; {far:,} beyond 3 standard deviations"
    return dress(
        figure,
        "Residuals",
        theme,
        note=note,
        width=560 + 300 * len(axes),
        height=480,
        showlegend=groups is not None,
    )


def _add_residuals(figure, values, gaps, sd: float, groups, column: int) -> None:
    place = {"row": 1, "col": column}
    hover = "at %{x:.4g}: residual %{y:.4g}<extra></extra>"
    far = np.abs(gaps - gaps.mean()) > 3 * sd
    if groups is None:
        _add_points(figure, values[~far], gaps[~far], color(0), hover, **place)
        _add_far(figure, values[far], gaps[far], color(1), hover, **place)
        return
    names, codes = np.unique(groups, return_inverse=True)
    for k, name in enumerate(names):
        own = codes == k
        figure.add_scatter(
            x=values[own], y=gaps[own], mode="markers", name=str(name), legendgroup=str(name),
            marker={
                "color": color(k), "size": 6, "opacity": 0.7,
                "symbol": np.where(far[own], "circle", "circle-open"),
            },
            showlegend=column == 1, hovertemplate=hover, **place,
        )  # fmt: skip


def _add_far(figure, x, y, code: str, hover: str, **place) -> None:
    marker = {"color": code, "size": 7}
    figure.add_scatter(
        x=x, y=y, mode="markers", marker=marker, hovertemplate=hover, showlegend=False, **place
    )


def _add_residual_histogram(figure, gaps, sd: float, theme: str, column: int) -> None:
    counts, edges = np.histogram(gaps, bins="auto" if len(gaps) < 100_000 else 100)
    middles, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    place = {"row": 1, "col": column}
    figure.add_bar(
        y=middles,
        x=counts / (counts.sum() * width),
        orientation="h",
        width=width,
        marker={"color": faded(color(0), 0.6)},
        hovertemplate="%{y:.4g}: density %{x:.3g}<extra></extra>",
        showlegend=False,
        **place,
    )
    if sd > 0:
        line = np.linspace(edges[0], edges[-1], 200)
        figure.add_scatter(
            y=line,
            x=scipy.stats.norm.pdf(line, gaps.mean(), sd),
            mode="lines",
            line={"color": look(theme).strong, "width": 2},
            hoverinfo="skip",
            showlegend=False,
            **place,
        )
    figure.update_xaxes(title="density", nticks=3, **place)


def losses(kind: str = "margin", *, delta: float = 1.0, theme: str = "light") -> go.Figure:
    """Losses against the margin y f(x), or against the residual y - f(x).

    Texts: 000b 11.1 · 001 3.3 · 002 "Loss functions".

    Parameters
    ----------
    kind : {"margin", "residual"}, default="margin"
    delta : float, default=1.0
        Where Huber's loss turns from a parabola to a line.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = losses("margin")
    """
    if kind not in ("margin", "residual"):
        raise DataError(f"kind={kind!r} is neither 'margin' nor 'residual'")
    x = np.linspace(-3, 3, 601)
    if kind == "margin":
        lines = {each.name: each.values(np.ones_like(x), x) for each in MARGIN_LOSSES}
        axis = "margin y f(x): below 0 the row is wrong"
    else:
        chosen = [squared_loss, absolute_loss, huber_loss(delta, "whole")]
        lines = {each.name: each.values(x, np.zeros_like(x)) for each in chosen}
        axis = "residual y − f(x)"
    figure = go.Figure()
    dashes = ("solid", "dash", "dot", "dashdot", "longdash")
    for k, (name, values) in enumerate(lines.items()):
        line = {"color": color(k), "width": 2.5, "dash": dashes[k % 5]}
        figure.add_scatter(x=x, y=values, mode="lines", name=name, line=line)
    figure.update_xaxes(title=axis)
    figure.update_yaxes(title="loss", range=[-0.1, 4.5])
    return dress(
        figure,
        f"Losses against the {kind}",
        theme,
        note="exact formulas, so no error bars",
        width=760,
        height=480,
    )


def _of_label(curve, y_true, y_score, pos_label, **more):
    """A curve of scikit-learn's form, which takes the positive class by keyword."""
    return curve(y_true, y_score, pos_label=pos_label, **more)


def _curves(kind, take, y_true, scores, positive, classes, probabilities: bool = False) -> dict:
    """Named results of one kind, from a result, a cross-validation, or columns."""
    if isinstance(y_true, kind):
        return {"": y_true}
    if isinstance(y_true, CrossValidation):
        return _curves_out_of_folds(take, y_true, positive, probabilities)
    if isinstance(y_true, Mapping):
        return _with_names(
            {
                name: _curves(kind, take, each, None, positive, None, probabilities)
                for name, each in y_true.items()
            }
        )
    if isinstance(scores, Mapping):
        return _with_names(
            {
                name: _curves_of_columns(take, y_true, each, positive, classes)
                for name, each in scores.items()
            }
        )
    return _curves_of_columns(take, y_true, scores, positive, classes)


def _with_names(several: Mapping[Any, dict]) -> dict:
    """Curves of several learners by the learner's name, and the class where there are more."""
    return {
        f"{name} {part}".strip(): curve
        for name, curves in several.items()
        for part, curve in curves.items()
    }


def _curves_out_of_folds(take, result: CrossValidation, positive, probabilities: bool) -> dict:
    rows, said, weights = _out_of_folds(result)
    heard = said.probabilities if probabilities or said.scores is None else said.scores
    if heard is None:
        needed = "log_loss" if probabilities else "auc"
        raise DataError(
            f"{result.name} kept no scores or probabilities; cross_validate with "
            f"measures={needed!r} among the measures"
        )
    take = partial(take, sample_weight=weights)
    return _curves_of_columns(take, result.y[rows], heard, positive, said.classes)


def _curves_of_columns(take, y_true, scores, positive, classes) -> dict:
    """One curve of a column, or of the second of two; else one per class against the others."""
    block = number_block(scores, "scores")
    if block.ndim == 1:
        return {"": take(y_true, block, positive)}
    names = np.unique(label_column(y_true, "y")) if classes is None else np.asarray(classes)
    if len(names) != block.shape[1]:
        raise DataError(f"{block.shape[1]} columns of scores for {len(names)} classes")
    block = in_order_of_classes(block, column_names(scores), names, classes is not None)
    if len(names) == 2 and positive is None:
        return {"": take(y_true, block[:, 1], None)}
    chosen = range(len(names)) if positive is None else [list(names).index(positive)]
    return {str(names[k]): take(y_true, block[:, k], names[k]) for k in chosen}


def _out_of_folds(result: CrossValidation) -> tuple[np.ndarray, Said, np.ndarray | None]:
    """The rows of all tests, what was said of them, and weights that add up to the rows tested.

    Without weights where no row was tested twice; folds that failed have no tests.
    """
    tests = _heard(result)
    if not tests:
        raise DataError(f"every fold of {result.name} failed: {result.failures[0]}")
    rows = np.concatenate([test for test, _ in tests])
    order = np.argsort(rows, kind="stable")
    joined = []
    for part in ("predictions", "probabilities", "scores"):
        each = [getattr(said, part) for _, said in tests]
        known = all(values is not None for values in each)
        joined.append(np.concatenate(each)[order] if known else None)
    n_rows = len(np.unique(rows))
    weights = None
    if n_rows < len(rows):
        weights = np.full(len(rows), n_rows / len(rows)).view(Frequencies)
    return rows[order], Said(*joined, result.classes), weights


def _heard(result: CrossValidation) -> list[tuple[np.ndarray, Said]]:
    """Test rows, and what was said of them, of every fold that did not fail."""
    folds = zip(result.splits, result.folds)
    return [(test, fold.said) for (_, test), fold in folds if fold.said is not None]


def _at_tests(column: np.ndarray, given: Any) -> np.ndarray:
    """A column of rows, once for every test where a cross-validation is drawn."""
    if not isinstance(given, CrossValidation):
        return column
    if len(column) != given.splits.n_rows:
        raise DataError(
            f"there are {len(column):,} values for the {given.splits.n_rows:,} rows that were split"
        )
    return column[_out_of_folds(given)[0]]


def _tests(given: Any, weighted: bool = False) -> str:
    """How many tests of how many rows stand behind a cross-validation's picture, if it is one."""
    if not isinstance(given, CrossValidation):
        return ""
    tested = [test for test, _ in _heard(given)]
    n_tests, n_rows = sum(map(len, tested)), len(np.unique(np.concatenate(tested)))
    text = f"{n_rows:,} rows" if n_tests == n_rows else f"{n_tests:,} tests of {n_rows:,} rows"
    if weighted and n_tests > n_rows:
        text += f" (each counts {n_rows / n_tests:.2g})"
    failed = len(given.folds) - len(tested)
    return text + (f" ({failed} of {len(given.folds)} folds failed)" if failed else "")


def _and_tests(note: str, given: Any) -> str:
    """The note with the tests of a cross-validation, or of several."""
    results = given.values() if isinstance(given, Mapping) else [given]
    told = dict.fromkeys(_tests(each, weighted=True) for each in results)
    return "; ".join([note, *filter(None, told)])


def _numbers_of(y_true: Any, y_pred: Any) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(y_true, CrossValidation):
        rows, heard, _ = _out_of_folds(y_true)
        y_true, y_pred = y_true.y[rows], heard.predictions
    y, said = number_block(y_true, "y_true").ravel(), number_block(y_pred, "y_pred").ravel()
    if len(y) != len(said):
        raise DataError(f"there are {len(y):,} true values and {len(said):,} predictions")
    return y, said


def _add_points(figure, x, y, code: str, hover: str, **place) -> None:
    """Markers, or where they would hide each other the density of all rows."""
    if len(x) <= MOST_MARKERS:
        marker = {"color": code, "size": 6, "opacity": 0.5 if len(x) > 300 else 0.8}
        figure.add_scatter(
            x=x, y=y, mode="markers", marker=marker, hovertemplate=hover, showlegend=False, **place
        )
        return
    counts, x_edges, y_edges = np.histogram2d(x, y, bins=80)
    figure.add_heatmap(
        x=(x_edges[1:] + x_edges[:-1]) / 2,
        y=(y_edges[1:] + y_edges[:-1]) / 2,
        z=np.where(counts > 0, np.log10(np.maximum(counts, 1)), np.nan).T,
        customdata=counts.T,
        hovertemplate="%{customdata:,} rows<extra></extra>",
        colorscale=SEQUENTIAL,
        colorbar={"title": "log₁₀ rows"},
        showscale=not place,
        **place,
    )


def _add_band(figure, x, low, high, code: str) -> None:
    figure.add_scatter(
        x=np.concatenate([x, x[::-1]]),
        y=np.concatenate([high, low[::-1]]),
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=faded(code),
        hoverinfo="skip",
        showlegend=False,
    )


def _kept_steps(n: int) -> np.ndarray:
    """Places of a long curve's steps that are drawn, the ends among them."""
    return np.unique(np.linspace(0, n - 1, min(n, MOST_STEPS)).round().astype(int))


def _drawn(left_out: int) -> str:
    return f"; {left_out:,} steps too fine to see are not drawn" if left_out else ""


def _dashed(theme: str) -> dict[str, Any]:
    return {"color": look(theme).faint, "width": 1.5, "dash": "dash"}


def _inside(corner: str) -> dict[str, Any]:
    """A legend within the axes, at the lower right or upper left."""
    if corner == "bottom":
        return {"x": 0.98, "y": 0.3, "xanchor": "right", "yanchor": "bottom"}
    return {"x": 0.02, "y": 0.98, "xanchor": "left", "yanchor": "top"}


def _square(figure: go.Figure, title: str, theme: str, note: str) -> go.Figure:
    lines, top = note_in_lines(note, 660)
    figure = dress(figure, title, theme, note=lines)
    legend = {"orientation": "h", "x": 0, "y": -0.14, "yanchor": "top"}
    n = sum(1 for trace in figure.data if trace.showlegend is not False)
    margin = {"l": 70, "r": 30, "t": top, "b": 80 + 24 * n}
    return figure.update_layout(width=660, height=550 + top + 24 * n, legend=legend, margin=margin)


def _with_unit(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit else name
