"""Pictures of images: contact sheets, galleries of errors, boxes, anchors, mean images, histograms.

Texts: 000c, figures 17.1, 17.3, 17.8, 17.13-17.18, 18.1, 18.6-18.8 · 002 "Viola-Jones", window
histograms.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.show.theme import COLORS, dress, look
from gnomon.table.picture_files import png_bytes
from gnomon.vision import Scene, as_images, iou, non_maximum_suppression, resize
from gnomon.vision.anchors import anchors_at
from gnomon.vision.features import NAMED_PATTERNS, PatternDetector
from gnomon.vision.images import one_image

TILE = 56  # judgement: pixels of an image in a sheet
MOST_IMAGES = 400  # judgement: images are kept in the page
DARK_EDGE = "0 0 2px black, 0 0 2px black, 0 0 4px black"  # so that a text stands out


def _as_levels(image: np.ndarray, span: tuple[float, float]) -> np.ndarray:
    """Pixels from 0 to 255 of values in a span; gray (h, w) or color (h, w, 3)."""
    low, high = span
    scaled = np.clip((image - low) / max(high - low, 1e-12), 0, 1) * 255
    return scaled[..., 0] if scaled.shape[2] == 1 else scaled[..., :3]


def _span(images: np.ndarray) -> tuple[float, float]:
    """0 to 255 or 0 to 1 where the values look like that, else their range."""
    low, high = float(images.min()), float(images.max())
    if low >= 0 and 64 < high <= 255:
        return 0.0, 255.0
    return (0.0, 1.0) if low >= 0 and 0.25 < high <= 1 else (low, high)


def _image_trace(levels: np.ndarray, **place: Any) -> go.Image:
    text = base64.b64encode(png_bytes(levels)).decode("ascii")
    return go.Image(source=f"data:image/png;base64,{text}", hoverinfo="skip", **place)


def _pixel_axes(figure: go.Figure, **where: Any) -> None:
    figure.update_xaxes(visible=False, constrain="domain", **where)
    figure.update_yaxes(visible=False, autorange="reversed", constrain="domain", **where)


def _sheet(tiles: np.ndarray, n_columns: int, gap: int = 2, ground: float = 255) -> np.ndarray:
    """Tiles (n, h, w) or (n, h, w, 3) side by side in lines, with gaps."""
    n, height, width = tiles.shape[:3]
    n_rows = -(-n // n_columns)
    shape = (n_rows * (height + gap) + gap, n_columns * (width + gap) + gap, *tiles.shape[3:])
    out = np.full(shape, ground)
    for place, tile in enumerate(tiles):
        y, x = divmod(place, n_columns)
        top, left = gap + y * (height + gap), gap + x * (width + gap)
        out[top : top + height, left : left + width] = tile
    return out


def _tiles(images: Any, image_shape: Any = None, span: Any = None) -> np.ndarray:
    """Images as tiles from 0 to 255, gray (n, h, w) or color (n, h, w, 3)."""
    found = as_images(images, image_shape)
    limits = _span(found) if span is None else span
    return np.stack([_as_levels(each, limits) for each in found])


def contact_sheet(
    images: Any,
    labels: Any = None,
    *,
    n_columns: int = 10,
    means: bool = False,
    image_shape: Any = None,
    title: str = "Images",
    theme: str = "light",
) -> go.Figure:
    """Images side by side; with labels a line for each class (000c, figures 17.1 and 17.14).

    Parameters
    ----------
    images : array-like of shape (n, height, width[, channels]) or (n, pixels)
    labels : array-like of shape (n,), default=None
        With classes each line shows the first images of one class.
    n_columns : int, default=10
    means : bool, default=False
        The first image of a line is the mean of its class, its contrast doubled.
    image_shape : tuple, default=None
    title : str, default="Images"
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> len(contact_sheet(np.zeros((3, 4, 4))).data)
    1
    """
    tiles = _tiles(images, image_shape)
    ground = 255 if theme == "light" else 30
    names: list[str] = []
    if labels is None:
        shown = tiles[:MOST_IMAGES]
    else:
        codes = np.asarray(labels)
        if codes.shape != (len(tiles),):
            raise DataError(f"{len(tiles)} images need as many labels, not {codes.shape}")
        lines = []
        for name in np.unique(codes):
            mine = tiles[codes == name]
            line = np.full((n_columns, *tiles.shape[1:]), float(ground))
            count = min(len(mine), n_columns - means)
            line[int(means) : int(means) + count] = mine[:count]
            if means:
                mean = mine.mean(axis=0)
                line[0] = np.clip(mean.mean() + 2 * (mean - mean.mean()), 0, 255)
            lines.append(line)
            names.append(str(name))
        shown = np.concatenate(lines)
    sheet = _sheet(shown, n_columns, ground=ground)
    figure = go.Figure(_image_trace(sheet))
    step = tiles.shape[1] + 2
    for row, name in enumerate(names):
        figure.add_annotation(
            x=-1, y=2 + row * step + tiles.shape[1] / 2, text=name, xanchor="right", showarrow=False
        )
    n_rows = -(-len(shown) // n_columns)
    left_out = len(tiles) - MOST_IMAGES if labels is None else 0
    note = (
        f"the first {MOST_IMAGES} of {len(tiles):,}" if left_out > 0 else f"{len(tiles):,} images"
    )
    if names and means:
        note += "; first column: mean of the class, contrast doubled"
    left = 30 + 8 * max((len(name) for name in names), default=0)
    dress(
        figure,
        title,
        theme,
        note=note,
        width=min(left + n_columns * TILE + 40, 1200),
        height=110 + n_rows * TILE * tiles.shape[1] // tiles.shape[2],
        margin={"l": left, "r": 20, "t": 90, "b": 10},
    )
    _pixel_axes(figure)
    return figure


def misclassified_images(
    images: Any,
    y_true: Any,
    y_pred: Any,
    *,
    by: str = "true",
    n_columns: int = 10,
    n_images: int | None = None,
    image_shape: Any = None,
    theme: str = "light",
) -> go.Figure:
    """The images that were classified wrongly (000c, figures 17.13, 17.17 and 17.18).

    Parameters
    ----------
    images : array-like of shape (n, height, width[, channels]) or (n, pixels)
    y_true, y_pred : array-like of shape (n,)
    by : {"true", "predicted"}, default="true"
        A line for each true class (which of its images were missed), or for each predicted class
        (which images of others intrude).
    n_columns : int, default=10
    n_images : int, default=None
        How many images were classified, where only some of them are given; None for these.
    image_shape : tuple, default=None
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = misclassified_images(np.zeros((2, 4, 4)), ["a", "b"], ["a", "a"])
    >>> figure.layout.annotations[0].text
    'b'
    """
    if by not in ("true", "predicted"):
        raise DataError(f"by={by!r} is neither 'true' nor 'predicted'")
    tiles = _tiles(images, image_shape)
    true, pred = (np.asarray(each).astype(str) for each in (y_true, y_pred))
    if not len(tiles) == len(true) == len(pred):
        raise DataError(f"{len(tiles)} images, {len(true)} true and {len(pred)} predicted classes")
    wrong = np.flatnonzero(true != pred)
    group, other = (true, pred) if by == "true" else (pred, true)
    names = np.unique(group[wrong])
    figure = go.Figure()
    ground = 255 if theme == "light" else 30
    height, width = tiles.shape[1:3]
    label = max(height // 4, 1)
    shown = np.full(
        (max(len(names), 1) * n_columns, height + label, *tiles.shape[2:]), float(ground)
    )
    for row, name in enumerate(names):
        figure.add_annotation(
            x=-1,
            y=2 + row * (height + label + 2) + height / 2,
            text=str(name),
            xanchor="right",
            showarrow=False,
        )
        mine = wrong[group[wrong] == name]
        for column, place in enumerate(mine[:n_columns]):
            shown[row * n_columns + column, :height] = tiles[place]
            figure.add_annotation(
                x=2 + column * (width + 2) + width / 2,
                y=2 + row * (height + label + 2) + height,
                text=str(other[place]),
                yanchor="top",
                showarrow=False,
                font={"size": 11, "color": COLORS[1]},
            )
    figure.add_trace(_image_trace(_sheet(shown, n_columns, ground=ground)))
    role = "predicted" if by == "true" else "true"
    most = max((int((group[wrong] == name).sum()) for name in names), default=0)
    cut = f"; at most {n_columns} of a line are shown" if most > n_columns else ""
    left = 30 + 8 * max((len(name) for name in names), default=0)
    dress(
        figure,
        f"{len(wrong):,} of {n_images or len(true):,} images are classified wrongly",
        theme,
        note=f"a line for each {by} class; below an image its {role} class{cut}",
        width=min(left + n_columns * (TILE + 6) + 40, 1200),
        height=120 + max(len(names), 1) * (TILE + 22),
        margin={"l": left, "r": 20, "t": 90, "b": 20},
    )
    _pixel_axes(figure)
    return figure


def _draw_boxes(
    figure: go.Figure,
    boxes: Any,
    color: str,
    name: str,
    texts: Any = None,
    room: float = 0.0,
    **where: Any,
):
    """Boxes as one trace of outlines; texts stand above them where there is room, else inside."""
    x: list[Any] = []
    y: list[Any] = []
    for left, top, right, bottom in np.asarray(boxes, dtype=float).reshape(-1, 4) - 0.5:
        x += [left, right, right, left, left, None]
        y += [top, top, bottom, bottom, top, None]
    dash = where.pop("dash", "solid")
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": color, "width": 2, "dash": dash},
        name=name,
        hoverinfo="name",
        **where,
    )
    if texts is None:
        return
    corners = np.asarray(boxes, dtype=float).reshape(-1, 4) - 0.5
    figure.add_scatter(
        x=corners[:, 0],
        y=corners[:, 1],
        mode="text",
        text=list(texts),
        textposition=["bottom right" if top < room else "top right" for top in corners[:, 1]],
        textfont={"color": "white", "size": 13, "shadow": DARK_EDGE},
        showlegend=False,
        hoverinfo="skip",
        **where,
    )


def detector_boxes(
    image: Any,
    detections: Any,
    truth: Any = None,
    *,
    suppressed: Any = None,
    proposals: Any = None,
    theme: str = "light",
) -> go.Figure:
    """Boxes with scores drawn on an image, the truth in another color (000c, figure 18.6).

    Parameters
    ----------
    image : Scene or array-like of shape (height, width[, channels])
    detections : Detections
    truth : array-like of shape (n, 4), default=None
        None for the boxes of the scene, where it is one.
    suppressed : array-like of shape (m, 4), default=None
        Boxes that suppression has dropped.
    proposals : array-like of shape (k, 4), default=None
        Boxes that were tried.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.vision import Detections
    >>> found = Detections([[1, 1, 4, 4]], [0.9], ["cat"])
    >>> len(detector_boxes(np.zeros((8, 8)), found).data)
    3
    """
    if isinstance(image, Scene) and truth is None:
        truth = image.boxes
    pixels = one_image(image.image if isinstance(image, Scene) else image)
    figure = go.Figure(_image_trace(_as_levels(pixels, _span(pixels))))
    faint = look(theme).faint
    for boxes, color, name, dash in (
        (proposals, faint, "proposed", "dot"),
        (suppressed, COLORS[4], "suppressed", "dot"),
        (truth, COLORS[2], "true box", "dash"),
    ):
        if boxes is not None and len(boxes):
            _draw_boxes(figure, boxes, color, name, dash=dash)
    texts = [f"{label} {score:.2g}" for label, score in zip(detections.labels, detections.scores)]
    room = max(pixels.shape) / 25  # pixels that a line of text is high
    _draw_boxes(figure, detections.boxes, COLORS[1], "detected", texts, room)
    note = f"{len(detections.scores)} detections"
    if truth is not None:
        hits = 0
        if len(truth) and len(detections.scores):
            hits = int((iou(truth, detections.boxes).max(axis=1) > 0.5).sum())
        note += f"; {hits} of {len(truth)} true boxes are overlapped by more than one half"
    _framed(figure, pixels.shape, "Detected objects", note, theme)
    figure.update_layout(showlegend=True)
    return figure


def _framed(figure: go.Figure, shape: Any, title: str, note: str, theme: str) -> None:
    height, width = shape[:2]
    scale = 560 / max(height, width)
    dress(
        figure,
        title,
        theme,
        note=note,
        width=max(round(width * scale) + 200, 620),
        height=round(height * scale) + 130,
        margin={"l": 20, "r": 160, "t": 100, "b": 20},
    )
    figure.update_xaxes(visible=False, range=[-0.5, width - 0.5], constrain="domain")
    figure.update_yaxes(
        visible=False, range=[height - 0.5, -0.5], constrain="domain", scaleanchor="x"
    )


def anchor_boxes(
    image: Any,
    point: Any = None,
    *,
    scales: Any = (16, 32, 64),
    aspects: Any = (0.5, 1.0, 2.0),
    theme: str = "light",
) -> go.Figure:
    """The anchor boxes at one point of the grid (000c, figure 18.8).

    Parameters
    ----------
    image : array-like of shape (height, width[, channels])
    point : tuple of (x, y), default=None
        None for the middle of the image.
    scales : sequence of float, default=(16, 32, 64)
        Roots of the areas.
    aspects : sequence of float, default=(0.5, 1.0, 2.0)
        Heights over widths.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> len(anchor_boxes(np.zeros((64, 64))).data)
    5
    """
    pixels = one_image(image)
    height, width = pixels.shape[:2]
    center = (width / 2, height / 2) if point is None else point
    figure = go.Figure(_image_trace(_as_levels(pixels, _span(pixels))))
    for k, scale in enumerate(scales):
        boxes = anchors_at([center], [scale], aspects)
        _draw_boxes(figure, boxes, COLORS[k % len(COLORS)], f"scale {scale:g}")
    figure.add_scatter(
        x=[center[0] - 0.5],
        y=[center[1] - 0.5],
        mode="markers",
        marker={"color": COLORS[3], "size": 8},
        name="grid point",
    )
    note = f"{len(scales)} scales x {len(aspects)} aspects at one point of the grid"
    _framed(figure, pixels.shape, f"{len(scales) * len(aspects)} anchor boxes", note, theme)
    return figure


def mean_image_parts(
    images: Any,
    *,
    n_images: int = 6,
    image_shape: Any = None,
    theme: str = "light",
) -> go.Figure:
    """The mean image, and what single images have more and less than it (000c, figure 17.8).

    Parameters
    ----------
    images : array-like of shape (n, height, width[, channels]) or (n, pixels)
    n_images : int, default=6
    image_shape : tuple, default=None
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> len(mean_image_parts(np.arange(32.0).reshape(2, 4, 4)).data)
    1
    """
    found = as_images(images, image_shape)
    mean, chosen = found.mean(axis=0), found[:n_images]
    rest = chosen - mean
    most = max(float(np.abs(rest).max()), 1e-12)
    span = _span(found)
    lines = [
        [_as_levels(mean, span)] + [_as_levels(each, span) for each in chosen],
        [np.full_like(_as_levels(mean, span), 255.0 if theme == "light" else 30.0)]
        + [_as_levels(np.maximum(each, 0), (0, most)) for each in rest],
    ]
    blank = lines[1][0]
    lines.append([blank] + [_as_levels(np.maximum(-each, 0), (0, most)) for each in rest])
    tiles = np.stack([tile for line in lines for tile in line])
    n_columns = len(chosen) + 1
    figure = go.Figure(_image_trace(_sheet(tiles, n_columns, ground=float(blank.flat[0]))))
    height, width = found.shape[1:3]
    for row, name in enumerate(("images", "more than the mean", "less than the mean")):
        figure.add_annotation(
            x=-1, y=2 + row * (height + 2) + height / 2, text=name, xanchor="right", showarrow=False
        )
    figure.add_annotation(x=2 + width / 2, y=-1, text="mean", yanchor="bottom", showarrow=False)
    dress(
        figure,
        "The mean image and what is left",
        theme,
        note=f"mean of {len(found):,} images; light: large. Both parts on one scale",
        width=min(200 + n_columns * 90, 1200),
        height=150 + 3 * 90 * height // width,
        margin={"l": 160, "r": 20, "t": 110, "b": 10},
    )
    _pixel_axes(figure)
    return figure


def local_histogram(
    image: Any,
    window: Any = None,
    *,
    bins: int = 16,
    theme: str = "light",
) -> go.Figure:
    """A window on an image with the histogram of its gray values; a slider moves it (002).

    Parameters
    ----------
    image : array-like of shape (height, width)
        Values from 0 to 255.
    window : tuple of (left, top, right, bottom), default=None
        None for a quarter of the image, which a slider moves along the diagonal.
    bins : int, default=16
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> len(local_histogram(np.zeros((16, 16))).data)
    2
    """
    pixels = one_image(image)
    gray = pixels.mean(axis=2)
    height, width = gray.shape
    side = max(min(height, width) // 4, 1)
    corners = np.linspace(0, 1, 9)
    places = (
        [(round(t * (width - side)), round(t * (height - side))) for t in corners]
        if window is None
        else []
    )
    boxes: list[tuple[int, ...]] = [(x, y, x + side, y + side) for x, y in places]
    boxes = boxes or [tuple(int(v) for v in window)]
    edges = np.linspace(0, 256, bins + 1)

    def parts(box: Any) -> tuple[Any, Any]:
        left, top, right, bottom = box
        counts = np.histogram(gray[top:bottom, left:right], edges)[0]
        outline = go.Scatter(
            x=np.array([left, right, right, left, left]) - 0.5,
            y=np.array([top, top, bottom, bottom, top]) - 0.5,
            mode="lines",
            line={"color": COLORS[1], "width": 3},
            xaxis="x",
            yaxis="y",
        )
        bars = go.Bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=counts,
            marker={"color": COLORS[0]},
            xaxis="x2",
            yaxis="y2",
        )
        return outline, bars

    figure = make_subplots(1, 2, subplot_titles=["image and window", "gray values in the window"])
    content = base64.b64encode(png_bytes(_as_levels(pixels, (0, 255)))).decode("ascii")
    figure.add_layout_image(
        source=f"data:image/png;base64,{content}",
        xref="x",
        yref="y",
        x=-0.5,
        y=-0.5,
        sizex=width,
        sizey=height,
        sizing="stretch",
        layer="below",
    )
    outline, bars = parts(boxes[0])
    figure.add_trace(outline)
    figure.add_trace(bars)
    if len(boxes) > 1:
        figure.frames = [
            go.Frame(data=list(parts(box)), traces=[0, 1], name=str(i))
            for i, box in enumerate(boxes)
        ]
        steps = [
            {
                "method": "animate",
                "args": [[str(i)], {"mode": "immediate", "frame": {"duration": 0}}],
                "label": str(i + 1),
            }
            for i in range(len(boxes))
        ]
        figure.update_layout(sliders=[{"steps": steps, "currentvalue": {"prefix": "place "}}])
    dress(
        figure,
        "A window and its histogram",
        theme,
        note=f"{bins} bins of width {256 / bins:g}",
        width=920,
        height=560,
        showlegend=False,
        bargap=0.05,
        margin={"l": 40, "r": 30, "t": 120, "b": 60},
    )
    figure.update_xaxes(visible=False, range=[-0.5, width - 0.5], row=1, col=1)
    figure.update_yaxes(
        visible=False, range=[height - 0.5, -0.5], scaleanchor="x", constrain="domain", row=1, col=1
    )
    figure.update_xaxes(title="gray value", range=[0, 256], row=1, col=2)
    figure.update_yaxes(title="pixels", row=1, col=2)
    return figure


def detector_pipeline(
    image: Any,
    proposals: Any,
    scores: Any,
    boxes: Any = None,
    *,
    iou_threshold: float = 0.3,
    score_threshold: float = 0.5,
    theme: str = "light",
) -> go.Figure:
    """The steps of a detector: image, proposals, crops, scores, suppression, boxes (000c 18.2).

    Parameters
    ----------
    image : Scene or array-like of shape (height, width[, channels])
    proposals : array-like of shape (n, 4)
    scores : array-like of shape (n,)
    boxes : array-like of shape (n, 4), default=None
        Proposals after box regression; None where there is none.
    iou_threshold : float, default=0.3
    score_threshold : float, default=0.5
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = detector_pipeline(np.zeros((16, 16)), [[1, 1, 8, 8]], [0.9])
    >>> [each.text for each in figure.layout.annotations][:2]
    ['1 image', '2 proposals']
    """
    pixels = one_image(image.image if isinstance(image, Scene) else image)
    places = np.asarray(proposals, dtype=float).reshape(-1, 4)
    score = np.asarray(scores, dtype=float)
    kept = non_maximum_suppression(
        places, score, iou_threshold=iou_threshold, score_threshold=score_threshold
    )
    names = ["image", "proposals", "crops", "scores", "suppression", "boxes"]
    figure = make_subplots(
        2,
        3,
        subplot_titles=[f"{i + 1} {name}" for i, name in enumerate(names)],
        vertical_spacing=0.1,
    )
    levels = _as_levels(pixels, _span(pixels))
    best = np.argsort(-score, kind="stable")[:12]
    strong = np.flatnonzero(score >= score_threshold)
    for place in (0, 1, 4, 5):
        figure.add_trace(_image_trace(levels), row=place // 3 + 1, col=place % 3 + 1)
    _draw_boxes(figure, places, look(theme).faint, "proposed", row=1, col=2)
    crops = []
    for left, top, right, bottom in np.rint(places[best]).astype(int):
        part = pixels[max(top, 0) : max(bottom, 1), max(left, 0) : max(right, 1)]
        crops.append(_as_levels(resize(part, (24, 24)), _span(pixels)))
    if crops:
        sheet = _sheet(np.stack(crops), 4, ground=255 if theme == "light" else 30)
        figure.add_trace(_image_trace(sheet), row=1, col=3)
    figure.add_bar(
        x=list(range(1, len(best) + 1)), y=score[best], marker={"color": COLORS[0]}, row=2, col=1
    )
    figure.add_hline(y=score_threshold, line={"color": COLORS[1], "dash": "dash"}, row=2, col=1)
    _draw_boxes(figure, places[strong], COLORS[4], "suppressed", dash="dot", row=2, col=2)
    _draw_boxes(figure, places[kept], COLORS[1], "kept", row=2, col=2)
    final = places if boxes is None else np.asarray(boxes, dtype=float).reshape(-1, 4)
    _draw_boxes(figure, final[kept], COLORS[2], "final", row=2, col=3)
    moved = "moved by regression" if boxes is not None else "not moved"
    dress(
        figure,
        "From an image to boxes",
        theme,
        note=f"{len(places)} proposals, {len(strong)} above {score_threshold:g}, "
        f"{len(kept)} kept; {moved}",
        width=980,
        height=760,
        showlegend=False,
        margin={"l": 40, "r": 20, "t": 130, "b": 50},
    )
    for place in (0, 1, 2, 4, 5):
        where = {"row": place // 3 + 1, "col": place % 3 + 1}
        figure.update_xaxes(visible=False, constrain="domain", **where)
        anchor = "x" if place == 0 else f"x{place + 1}"
        figure.update_yaxes(
            visible=False, autorange="reversed", constrain="domain", scaleanchor=anchor, **where
        )
    figure.update_xaxes(title="proposal, best first", row=2, col=1)
    figure.update_yaxes(title="score", row=2, col=1)
    return figure


def benchmark_timeline(
    years: Sequence[float],
    errors: Sequence[float],
    names: Sequence[str],
    depths: Sequence[float] | None = None,
    *,
    title: str = "Error of the best entry by year",
    theme: str = "light",
) -> go.Figure:
    """Error by year with the depth of each network (000c, figure 18.1).

    Parameters
    ----------
    years : sequence of float
    errors : sequence of float
        Shares from 0 to 1.
    names : sequence of str
    depths : sequence of float, default=None
        Layers of each entry, drawn as the size of its mark.
    title : str, default="Error of the best entry by year"
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> len(benchmark_timeline([2012, 2015], [0.16, 0.036], ["a", "b"], [8, 152]).data)
    1
    """
    if not len(years) == len(errors) == len(names):
        raise DataError(f"{len(years)} years, {len(errors)} errors and {len(names)} names")
    order = np.argsort(years, kind="stable")
    size = 12 if depths is None else 8 + 3 * np.sqrt(np.asarray(depths, dtype=float))[order]
    texts = [names[i] + ("" if depths is None else f"<br>{depths[i]:g} layers") for i in order]
    figure = go.Figure(
        go.Scatter(
            x=np.asarray(years)[order],
            y=100 * np.asarray(errors, dtype=float)[order],
            mode="lines+markers+text",
            text=texts,
            textposition="top right",
            marker={"size": size, "color": COLORS[0]},
            line={"color": COLORS[0], "width": 2},
        )
    )
    note = "" if depths is None else "the area of a mark grows with the number of layers"
    dress(figure, title, theme, note=note, width=860, height=520, showlegend=False)
    span = max(float(np.ptp(years)), 1.0)
    figure.update_xaxes(title="year", range=[min(years) - 0.06 * span, max(years) + 0.2 * span])
    figure.update_yaxes(title="error in percent", range=[0, 125 * max(errors)])
    return figure


def local_patterns(
    images: Any,
    patterns: Sequence[str] = ("horizontal bar", "vertical bar", "line ending"),
    *,
    share: float = 0.7,
    n_columns: int = 5,
    theme: str = "light",
) -> go.Figure:
    """Local patterns marked on drawings: bars, spots and line endings (000c 17.1.1).

    Parameters
    ----------
    images : array-like of shape (n, height, width)
        Light ink on dark ground; scaled to a range from 0 to 1 inside.
    patterns : sequence of str, default=("horizontal bar", "vertical bar", "line ending")
        Names of patterns of `PatternDetector`.
    share : float, default=0.7
        A place is marked where the response exceeds this share of the largest one.
    n_columns : int, default=5
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> len(local_patterns(np.eye(8)[None]).data)
    4
    """
    found = as_images(images)[..., :1]
    low, high = float(found.min()), float(found.max())
    scaled = (found - low) / max(high - low, 1e-12)
    if unknown := set(patterns) - set(NAMED_PATTERNS):
        raise DataError(f"{sorted(unknown)} are none of {', '.join(NAMED_PATTERNS)}")
    height, width = found.shape[1:3]
    sheet = _sheet(np.stack([_as_levels(each, (0, 1)) for each in scaled]), n_columns, ground=128)
    figure = go.Figure(_image_trace(sheet))
    for k, name in enumerate(patterns):
        response = PatternDetector(name, n_jobs=1).fit_transform(scaled)[..., 0]
        which, y, x = np.nonzero(response > share * max(response.max(), 1e-12))
        figure.add_scatter(
            x=2 + (which % n_columns) * (width + 2) + x,
            y=2 + (which // n_columns) * (height + 2) + y,
            mode="markers",
            marker={
                "color": COLORS[(1, 2, 3, 4)[k % 4]],
                "symbol": ("line-ew-open", "line-ns-open", "circle-open", "x")[k % 4],
                "size": 9,
                "line": {"width": 2},
            },
            name=name,
        )
    _framed(
        figure,
        sheet.shape,
        "Local patterns",
        f"where the response exceeds {share:g} of the largest",
        theme,
    )
    return figure
