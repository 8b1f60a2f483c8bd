"""Pictures of the values of one column: boxes, bars, histograms by class, buckets, stems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.compute as pc
import scipy

from gnomon.contract.columns import Rows
from gnomon.contract.intake import as_table
from gnomon.engine.errors import DataError
from gnomon.show.labels import label, labels
from gnomon.show.theme import color, dress, look
from gnomon.table.recode import as_strings
from gnomon.table.summary import five_numbers

MOST_CLASSES = 8  # as many as there are colors
WHISKERS = {
    "iqr": "whiskers to the farthest value within 1.5 interquartile ranges of the box",
    "range": "whiskers at minimum and maximum",
    "sd": "whiskers at one standard deviation around the mean",
    "percentile": "whiskers at the 9th and 91st percentile",
}
MOST_POINTS = 400  # judgement: more outliers hide each other
# Of 100,000 normal rows every 100th moves the density by 1e-4: less than a pixel.
MOST_KERNELS = 1000
BEYOND = 1e100  # squares and their sums are finite: floats end at 1.8e308


def box_plot(
    table: Any,
    columns: str | Sequence[str],
    *,
    by: str | None = None,
    whiskers: Any = "iqr",
    theme: str = "light",
) -> go.Figure:
    """Box plots under the density of the values, with a choice of whiskers.

    The box holds the middle half, the line in it is the median, circles are values outside the
    whiskers. Above each box, the density by a Gaussian kernel (Scott's width). Text: 004 chapter 5,
    appendix.

    Parameters
    ----------
    table : Table or data frame
    columns : str or sequence of str
        Columns of numbers in one unit; one column when `by` is given.
    by : str, default=None
        A column of categories: one box per level.
    whiskers : {"iqr", "range", "sd", "percentile"}, default="iqr"
        As in `gnomon.table.five_numbers`.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.table import example
    >>> figure = box_plot(example("iris"), "sepal_width", by="species")
    >>> sorted({trace.type for trace in figure.data})
    ['box', 'scatter']
    """
    samples, axis = _samples(table, columns, by)
    look_of = look(theme)
    figure = go.Figure()
    shown_outliers = 0
    n_outliers = 0
    for k, (name, values) in enumerate(samples.items()):
        box = five_numbers(values, whiskers)
        tone = color(k) if by is not None else color(0)
        known = values[np.isfinite(values)]
        if _has_density(known):
            at = np.linspace(known.min(), known.max(), 160)
            density = scipy.stats.gaussian_kde(_thinned(known, MOST_KERNELS))(at)
            figure.add_scatter(
                x=at,
                y=k + 0.22 + 0.55 * density / density.max(),
                mode="lines",
                line={"color": tone, "width": 1.5},
                fill=None,
                hoverinfo="skip",
            )
        figure.add_box(
            y=[k],
            q1=[box.lower_quartile],
            median=[box.median],
            q3=[box.upper_quartile],
            lowerfence=[box.low],
            upperfence=[box.high],
            orientation="h",
            width=0.3,
            line={"color": tone},
            fillcolor="rgba(0,0,0,0)",
            name=label(name),
        )
        outside = _thinned(box.outliers, MOST_POINTS)
        n_outliers += len(box.outliers)
        shown_outliers += len(outside)
        figure.add_scatter(
            x=outside,
            y=np.full(len(outside), k),
            mode="markers",
            marker={"symbol": "circle-open", "size": 7, "color": tone},
            hovertemplate="%{x}<extra></extra>",
        )
    names = labels(samples, 22)
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=names,
        showgrid=False,
        range=[-0.5, len(names) - 0.1],
    )
    figure.update_xaxes(title=axis)
    note = f"{WHISKERS[whiskers]}; {n_outliers:,} values outside"
    if shown_outliers < n_outliers:
        note += f", {shown_outliers:,} of them drawn"
    return dress(
        figure,
        f"Box plot of {label(columns) if isinstance(columns, str) else f'{len(names)} columns'}"
        + (f" by {label(by)}" if by is not None else ""),
        theme,
        note=note,
        width=820,
        height=200 + 76 * len(names),
        showlegend=False,
        margin={"l": 150, "r": 30, "t": 90, "b": 60},
        boxmode="overlay",
        plot_bgcolor=look_of.paper,
    )


def _samples(table: Any, columns: Any, by: str | None) -> tuple[dict[str, np.ndarray], str]:
    rows = Rows(as_table(table))
    wanted = [columns] if isinstance(columns, str) else list(columns)
    for name in wanted:
        if rows.values(name).dtype.kind != "f":
            raise DataError(f"column {name!r} does not hold numbers; box plots show numbers only")
    if by is None:
        found = {name: rows.values(name) for name in wanted}
    else:
        if len(wanted) != 1:
            raise DataError("with by=, give one column")
        values, classes = rows.values(wanted[0]), class_codes(rows, by)
        found = {each: values[classes == each] for each in class_names(classes)}
    found = {name: values for name, values in found.items() if np.isfinite(values).any()}
    if not found:
        raise DataError("there are no values to show: all are missing")
    return found, label(wanted[0]) if len(wanted) == 1 else "value"


def class_codes(rows: Rows, by: str | None) -> np.ndarray:
    """The class of each row as text, "(missing)" where it is missing; one for all without `by`."""
    if by is None:
        return np.broadcast_to(np.array("all rows", dtype=object), len(rows))
    column = rows.X.schema[by]
    named = rows.X.column(by).combine_chunks().dictionary_encode()
    written = as_strings(pa.chunked_array([named.dictionary]), column).to_pylist()
    names = np.array([*written, "(missing)"], dtype=object)
    return names[pc.fill_null(named.indices, len(written)).to_numpy(zero_copy_only=False)]


def class_names(classes: np.ndarray, most: int | None = MOST_CLASSES) -> list[str]:
    """The classes, in order; beyond `most`, the commonest."""
    if len(classes) and classes.strides == (0,):  # one for all rows
        return [classes[0]]
    counts = pa.array(classes, pa.string()).value_counts().to_pylist()
    commonest = sorted(counts, key=lambda each: (-each["counts"], each["values"]))[:most]
    return sorted(each["values"] for each in commonest)


def _thinned(values: np.ndarray, most: int) -> np.ndarray:
    """At most so many of the values, evenly spaced among the sorted ones, ends kept."""
    if len(values) <= most:
        return values
    return np.sort(values)[np.linspace(0, len(values) - 1, most).round().astype(int)]


def category_bars(
    values: Any,
    *,
    name: str = "",
    kind: str = "bar",
    order: str = "count",
    most: int = 25,
    theme: str = "light",
) -> go.Figure:
    """How often each value occurs, as bars with 95 % intervals of the shares, or as a pie.

    Take bars where shares are compared, a pie for shares of a whole with few values. Texts: 003
    2.1 (distributions of categories) · 002 (letter frequencies, words by rank).

    Parameters
    ----------
    values : sequence of values, or dict of value to count
    name : str, default=""
        What the values are.
    kind : {"bar", "pie"}, default="bar"
    order : {"count", "name"}, default="count"
        Commonest first, or by name.
    most : int, default=25
        Values shown, the commonest; the others are one bar.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = category_bars("abracadabra", name="letter")
    >>> sorted({trace.type for trace in figure.data})
    ['bar']
    """
    from gnomon.contract.estimate import share_interval

    if kind not in ("bar", "pie"):
        raise DataError(f"kind={kind!r} is none of bar, pie")
    counts = _counted(values)
    total = sum(counts.values())
    if not total:
        raise DataError("there is nothing to count")
    commonest = sorted(counts, key=lambda each: (-counts[each], str(each)))
    shown = commonest[:most] if len(commonest) > most + 1 else commonest
    if order == "name":
        shown = sorted(shown, key=str)
    heights = [counts[each] for each in shown]
    ticks = labels(shown, 22)
    if len(shown) < len(counts):
        heights.append(total - sum(heights))
        ticks.append(f"{len(counts) - len(shown):,} others")
    bits = _bits_of(np.array(list(counts.values())))
    figure = go.Figure()
    if kind == "pie":
        figure.add_pie(
            labels=ticks,
            values=heights,
            sort=False,
            direction="clockwise",
            textinfo="label+percent",
            marker={
                "colors": [color(k) for k in range(len(ticks))],
                "line": {"color": look(theme).paper, "width": 2},
            },
            hovertemplate="%{label}: %{value:,}<extra></extra>",
        )
        size = {"height": 520, "width": 720, "showlegend": False}
    else:
        spans = [share_interval(count, total) for count in heights]
        figure.add_bar(
            x=ticks,
            y=[100 * span.value for span in spans],
            marker_color=color(0),
            customdata=heights,
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [100 * (span.high - span.value) for span in spans],
                "arrayminus": [100 * (span.value - span.low) for span in spans],
                "color": look(theme).ink,
                "thickness": 1.2,
                "width": 3,
            },
            hovertemplate="%{x}: %{customdata:,} (%{y:.2f} %)<extra></extra>",
        )
        figure.update_xaxes(type="category", tickangle=-40 if len(ticks) > 5 else 0, showgrid=False)
        figure.update_yaxes(title="share, %", rangemode="tozero")
        size = {"height": 440, "width": max(460, min(200 + 44 * len(ticks), 1300))}
        size["margin"] = {"l": 70, "r": 30, "t": 90, "b": 120 if len(ticks) > 5 else 60}
    interval = "; bars end in 95 % intervals" if kind == "bar" else ""
    return dress(
        figure,
        f"How often each value of {label(name)} occurs" if name else "How often each value occurs",
        theme,
        note=f"{total:,} values, {len(counts):,} different, {bits:.2f} bits{interval}",
        **size,
    )


def rates_by_category(
    groups: Sequence[tuple[str, str, int, Any]],
    *,
    what: str = "",
    overall: float = float("nan"),
    theme: str = "light",
) -> go.Figure:
    """A rate or mean in every level of some categories, with its interval; a line for all rows.

    Parameters
    ----------
    groups : sequence of (column, level, number of rows, Estimate)
    what : str, default=""
        What the figures are.
    overall : float, default=NaN
        The figure of all rows.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.contract.estimate import share_interval
    >>> figure = rates_by_category([("plan", "basic", 40, share_interval(10, 40))], overall=0.3)
    >>> figure.data[0].x
    (0.25,)
    """
    if not groups:
        raise DataError("there is no group to draw")
    figure = go.Figure()
    for place, column in enumerate(dict.fromkeys(each[0] for each in groups)):
        of_column = [each for each in groups if each[0] == column]
        values = [each[3] for each in of_column]
        figure.add_scatter(
            x=[each.value for each in values],
            y=[f"{label(column, 20)} = {label(each[1], 24)}" for each in of_column],
            mode="markers",
            marker={"color": color(place), "size": 9},
            name=label(column),
            customdata=[each[2] for each in of_column],
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [each.high - each.value for each in values],
                "arrayminus": [each.value - each.low for each in values],
                "thickness": 1.4,
            },
            hovertemplate="%{y}: %{x:.4g}, %{customdata:,} rows<extra></extra>",
        )
    if np.isfinite(overall):
        figure.add_vline(x=overall, line={"color": look(theme).ink, "dash": "dot", "width": 1})
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_xaxes(title=what)
    return dress(
        figure,
        f"{what[:1].upper()}{what[1:]} by category" if what else "By category",
        theme,
        note=f"95 % intervals; dotted: all rows, {overall:.4g}",
        height=150 + 24 * len(groups),
        width=860,
        margin={"l": 260, "r": 30, "t": 90, "b": 60},
        showlegend=False,
    )


def _counted(values: Any) -> dict[Any, int]:
    from collections import Counter

    if isinstance(values, Mapping):
        return {value: int(count) for value, count in values.items() if count > 0}
    listed = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    return dict(Counter("(missing)" if each is None else each for each in listed))


def class_histograms(
    table: Any,
    column: str,
    by: str | None = None,
    *,
    bins: int = 30,
    curve: str | None = "kde",
    theme: str = "light",
) -> go.Figure:
    """Histograms of a number within each class, each of area one, with fitted curves.

    The class-conditional densities p(x | class) that generative classifiers fit; where they do not
    overlap, the column alone tells the classes apart. The note gives the entropy of the bins: a
    flat histogram has much, a peaked one little. Texts: 000a (class histograms) · 003 · 004 4.

    Parameters
    ----------
    table : Table or data frame
    column : str
        A column of numbers.
    by : str, default=None
        The classes; all rows together by default.
    bins : int, default=30
    curve : {"kde", "normal"} or None, default="kde"
        A density by a Gaussian kernel (Scott's width), the normal density of the same mean and
        deviation, or none.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.table import example
    >>> figure = class_histograms(example("iris"), "petal_width", "species")
    >>> sorted({trace.type for trace in figure.data})
    ['bar', 'scatter']
    """
    if curve not in ("kde", "normal", None):
        raise DataError(f"curve={curve!r} is none of kde, normal, None")
    rows = Rows(as_table(table))
    values = rows.values(column)
    if values.dtype.kind != "f":
        raise DataError(f"column {column!r} does not hold numbers; see category_bars")
    classes = class_codes(rows, by)
    finite = np.isfinite(values)
    if not finite.any():
        raise DataError(f"column {column!r} has no values to show: all are missing")
    values, unit = _within_reach(values)
    edges = _bin_edges(values[finite], bins)
    figure = go.Figure()
    found = classes if by is None else classes[finite]
    shown = class_names(found)
    for k, each in enumerate(shown):
        sample = values[finite & (classes == each)]
        heights, _ = np.histogram(sample, edges)
        density = heights / (len(sample) * np.diff(edges))
        figure.add_bar(
            x=(edges[1:] + edges[:-1]) / 2,
            y=density,
            width=np.diff(edges),
            marker={"color": color(k), "line": {"width": 0}},
            opacity=0.45,
            name=f"{label(each)} ({len(sample):,}; {_bits_of(heights):.2f} bits)",
            legendgroup=str(k),
            hovertemplate="%{x:.4g}: %{y:.4g}<extra></extra>",
        )
        if curve is not None and _has_density(sample):
            at = np.linspace(edges[0], edges[-1], 200)
            figure.add_scatter(
                x=at,
                y=_curve(sample, at, curve),
                mode="lines",
                line={"color": color(k), "width": 2.5},
                legendgroup=str(k),
                showlegend=False,
                hoverinfo="skip",
            )
    drawn = {"kde": "; curves by a Gaussian kernel", "normal": "; normal curves", None: ""}[curve]
    missing = len(values) - int(finite.sum())
    holes = f"; {missing:,} missing or infinite" if missing else ""
    left = len(class_names(found, None)) - len(shown)
    others = f"; {left} rarer classes not shown" if left else ""
    figure.update_xaxes(title=label(column) + unit)
    figure.update_yaxes(title="density", rangemode="tozero")
    return dress(
        figure,
        f"{label(column)}" + (f" within each class of {label(by)}" if by else ""),
        theme,
        note=f"each histogram has area one{drawn}{holes}{others}",
        barmode="overlay",
        width=820,
        height=440,
        showlegend=True,
    )


def _bits_of(heights: np.ndarray) -> float:
    shares = heights[heights > 0] / heights.sum()
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def _curve(sample: np.ndarray, at: np.ndarray, curve: str) -> np.ndarray:
    if curve == "normal":
        return scipy.stats.norm.pdf(at, sample.mean(), sample.std(ddof=1))
    return scipy.stats.gaussian_kde(_thinned(sample, MOST_KERNELS))(at)


def _has_density(sample: np.ndarray) -> bool:
    """Whether a kernel density can be computed: some spread, and not beyond what floats square."""
    if len(sample) < 3 or np.abs(sample).max() > BEYOND:
        return False
    return bool(sample.std() > 1e-9 * np.abs(sample).max())


def _within_reach(values: np.ndarray) -> tuple[np.ndarray, str]:
    """Values that differences of do not overflow, and the unit that this makes necessary."""
    finite = values[np.isfinite(values)]
    largest = float(np.abs(finite).max())
    return (values / largest, f" / {largest:.3g}") if largest > BEYOND else (values, "")


def _bin_edges(values: np.ndarray, bins: int) -> np.ndarray:
    """Edges of equal widths; one bin around values that hardly differ."""
    low, high = float(values.min()), float(values.max())
    if high - low > 1e-9 * max(abs(low), abs(high)):
        return np.linspace(low, high, bins + 1)
    reach = 1e-6 * abs(low) or 0.5
    return np.array([low - reach, high + reach])


def buckets(values: Any, edges: Any, *, name: str = "", theme: str = "light") -> go.Figure:
    """Buckets of a discretised number on its line: edges, and how many values lie in each.

    Text: 003 2.1 (discretisation).

    Parameters
    ----------
    values : array-like of shape (n,)
        NaN is left out and counted.
    edges : array-like
        Inner edges, rising; a value on an edge belongs to the bucket above it.
    name : str, default=""
        What the values are.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = buckets([1.0, 2.0, 2.5, 4.0], [1.5, 3.0], name="size")
    >>> sorted({trace.type for trace in figure.data})
    ['scatter']
    """
    values = np.asarray(values, dtype=np.float64)
    edges = np.asarray(edges, dtype=np.float64)
    if (np.diff(edges) <= 0).any() or edges.ndim != 1:
        raise DataError("edges must rise")
    known = values[np.isfinite(values)]
    if not len(known):
        raise DataError("there are no values to show: all are missing")
    look_of = look(theme)
    counts = np.bincount(np.searchsorted(edges, known, side="right"), minlength=len(edges) + 1)
    ends = [known.min(), known.max(), *edges.tolist()]
    reach = 0.04 * (max(ends) - min(ends) or 1.0)
    borders = np.concatenate([[min(ends) - reach], edges, [max(ends) + reach]])
    figure = go.Figure()
    points = _thinned(known, 2000)
    figure.add_scatter(
        x=points,
        y=np.full(len(points), 0.28),
        mode="markers",
        marker={"symbol": "line-ns", "size": 12, "line": {"width": 1, "color": color(0)}},
        opacity=0.6,
        hovertemplate="%{x}<extra></extra>",
    )
    for k, (low, high) in enumerate(pairwise(borders)):
        figure.add_shape(
            type="rect",
            x0=low,
            x1=high,
            y0=0,
            y1=0.5,
            layer="below",
            fillcolor=color(5 if k % 2 else 6),
            opacity=0.25,
            line_width=0,
        )
        figure.add_annotation(
            x=(low + high) / 2,
            y=0.64,
            text=f"<b>{counts[k]:,}</b><br>{counts[k] / len(known):.0%}",
            showarrow=False,
            font={"color": look_of.ink, "size": 13},
        )
    for edge in edges:
        figure.add_shape(
            type="line",
            x0=edge,
            x1=edge,
            y0=-0.05,
            y1=0.55,
            line={"color": look_of.strong, "width": 2},
        )
        figure.add_annotation(
            x=edge, y=-0.14, text=f"{edge:.4g}", showarrow=False, font={"color": look_of.strong}
        )
    figure.update_yaxes(visible=False, range=[-0.25, 0.8])
    figure.update_xaxes(title=label(name) if name else None, showgrid=False)
    missing = len(values) - len(known)
    return dress(
        figure,
        f"{len(counts)} buckets of {label(name)}" if name else f"{len(counts)} buckets",
        theme,
        note=f"{len(known):,} values; ticks are values, numbers below are edges"
        + (f"; {missing:,} missing" if missing else ""),
        width=860,
        height=320,
        margin={"l": 30, "r": 30, "t": 90, "b": 60},
    )


def stem(
    values: Any,
    *,
    names: Sequence[Any] | None = None,
    others: Mapping[str, Any] | None = None,
    title: str = "Components",
    unit: str = "value",
    theme: str = "light",
) -> go.Figure:
    """A vector as stems on its components, others laid over it: class means, say.

    Text: 000a (vectors as stem plots, class means).

    Parameters
    ----------
    values : array-like of shape (d,), or dict of name to such
        With several vectors, each gets a colour; they stand side by side on each component.
    names : sequence of length d, default=None
        Names of the components; their numbers by default.
    others : dict of str to array-like of shape (d,), default=None
        Vectors to lay over it as lines.
    title : str, default="Components"
    unit : str, default="value"
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = stem([0.5, -1.0, 2.0], others={"mean": [0.0, 0.5, 1.0]})
    >>> sorted({trace.type for trace in figure.data})
    ['scatter']
    """
    given = values if isinstance(values, Mapping) else {"vector": values}
    vectors = {key: np.asarray(v, dtype=np.float64) for key, v in given.items()}
    over = {key: np.asarray(v, dtype=np.float64) for key, v in (others or {}).items()}
    sizes = {len(v) for v in [*vectors.values(), *over.values()]}
    if len(sizes) != 1:
        raise DataError("all vectors must have the same number of components")
    d = sizes.pop()
    figure = go.Figure()
    at = np.arange(1, d + 1, dtype=np.float64)
    for k, (key, vector) in enumerate(vectors.items()):
        x = at + 0.6 * ((k + 0.5) / len(vectors) - 0.5)
        stems_x = np.column_stack([x, x, np.full(d, np.nan)]).ravel()
        stems_y = np.column_stack([np.zeros(d), vector, np.full(d, np.nan)]).ravel()
        figure.add_scatter(
            x=stems_x,
            y=stems_y,
            mode="lines",
            line={"color": color(k), "width": 1.5},
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            x=x,
            y=vector,
            mode="markers",
            marker={"color": color(k), "size": 8},
            name=label(key),
            hovertemplate="%{x:.0f}: %{y:.4g}<extra></extra>",
        )
    for k, (key, vector) in enumerate(over.items(), start=len(vectors)):
        figure.add_scatter(
            x=at,
            y=vector,
            mode="lines+markers",
            line={"color": color(k), "width": 1.5, "dash": "dot"},
            marker={"symbol": "diamond-open", "size": 7},
            name=label(key),
        )
    figure.add_hline(y=0, line={"color": look(theme).faint, "width": 1})
    figure.update_yaxes(title=unit)
    if names is not None and d <= 40:
        figure.update_xaxes(tickvals=at, ticktext=labels(names, 14), tickangle=-40)
    else:
        figure.update_xaxes(title="component")
    return dress(
        figure,
        title,
        theme,
        note=f"{d} components",
        width=860,
        height=420,
        showlegend=len(vectors) + len(over) > 1,
        margin={"l": 70, "r": 30, "t": 90, "b": 90 if names is not None else 60},
    )
