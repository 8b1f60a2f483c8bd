"""Pictures of images: before and after a Markov random field, where it is unsure, segments with
their weights, samples of a Potts model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.show.theme import SEQUENTIAL, dress

PANEL = 300  # judgement: pixels of a panel


def labeled_image(found: Any, image: Any = None, *, theme: str = "light") -> go.Figure:
    """An image before and after cleaning or segmenting, and how unsure each pixel is.

    Texts: 000 15.1, 15.2 (denoising) · 002 "Segmentation".

    Parameters
    ----------
    found : PixelLabels or MixtureSegments
        From `gnomon.graphical`: `denoise_binary`, `denoise_gray`, `label_pixels` or
        `segment_mixture`.
    image : array-like of shape (height, width) or (height, width, 3), default=None
        The image as it was given.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.graphical import denoise_binary
    >>> len(labeled_image(denoise_binary([[1, 1, 1], [1, 0, 1], [1, 1, 1]])).data)
    2
    """
    is_mixture = hasattr(found, "means")
    answer = found.means[found.labels] if is_mixture else np.asarray(found.image)
    if answer.dtype.kind not in "biuf":
        answer = np.unique(answer, return_inverse=True)[1].reshape(answer.shape)
    panels: list[tuple[str, np.ndarray, bool]] = []
    if image is not None:
        given = np.asarray(image, dtype=np.float64)
        if given.shape != answer.shape:
            raise DataError(f"the image is {given.shape}, what was found {answer.shape}")
        panels.append(("as given", given, False))
    panels.append(("segments" if is_mixture else "answer", answer.astype(np.float64), False))
    if found.probabilities is not None:
        panels.append(("unsure", 1 - found.probabilities.max(axis=2), True))
    figure = make_subplots(1, len(panels), subplot_titles=[name for name, _, _ in panels])
    low = min(float(values.min()) for _, values, share in panels if not share)
    high = max(float(values.max()) for _, values, share in panels if not share)
    for number, (name, values, share) in enumerate(panels, 1):
        if values.ndim == 3:
            is_stored = low >= 0 and 1 < high <= 255
            levels = values if is_stored else 255 * (values - low) / ((high - low) or 1.0)
            figure.add_trace(go.Image(z=np.rint(levels).astype(np.uint8)), row=1, col=number)
            continue
        figure.add_heatmap(
            z=values,
            zmin=0.0 if share else low,
            zmax=1.0 if share else high,
            colorscale=SEQUENTIAL if share else "Greys_r",
            showscale=share,
            colorbar={"title": {"text": "unsure"}, "len": 0.8} if share else None,
            hovertemplate=f"row %{{y}}, column %{{x}}: %{{z:.3g}}<extra>{name}</extra>",
            row=1,
            col=number,
        )
    dress(
        figure,
        _title(found, is_mixture),
        theme,
        note="unsure: 1 less the probability of the chosen value" if panels[-1][2] else "",
        width=PANEL * len(panels) + 120,
        height=PANEL * answer.shape[0] // max(answer.shape[1], 1) + 170
        if answer.shape[0] < 2 * answer.shape[1]
        else 2 * PANEL + 170,
        margin={"l": 30, "r": 30, "t": 120, "b": 20},
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, autorange="reversed")
    for number in range(1, len(panels) + 1):
        figure.update_yaxes(scaleanchor=f"x{number if number > 1 else ''}", row=1, col=number)
    return figure


def _title(found: Any, is_mixture: bool) -> str:
    if is_mixture:
        return f"Segments of {len(found.means)} normals, neighbours agreeing by {found.beta:g}"
    return f"An image cleaned by {found.method}"


def segment_maps(
    image: Any,
    found: Mapping[str, Any],
    *,
    most_maps: int = 5,
    theme: str = "light",
) -> go.Figure:
    """An image, then for each way to segment it the means of segments and a grey map for each.

    Give one without smoothing and one with it to see what it does: single pixels that disagree
    with all their neighbours go. Texts: 000b 9.2 (weight maps) · 002 "Segmentation".

    Parameters
    ----------
    image : array-like of shape (height, width)
    found : mapping from names to Segmentation or MixtureSegments
        From `gnomon.cluster.segment_image` or `gnomon.graphical.segment_mixture`, such as
        ``{"beta = 0": ..., "beta = 1.5": ...}``; a line of panels each.
    most_maps : int, default=5
        Grey maps of a line at most: white is a weight of 1.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.cluster import segment_image
    >>> image = [[0.0, 0.1, 0.9], [0.1, 0.9, 1.0]]
    >>> len(segment_maps(image, {"color": segment_image(image, 2, random_state=0)}).data)
    4
    """
    given = np.asarray(image, dtype=np.float64)
    lines = []
    for name, each in found.items():
        if hasattr(each, "weight_maps"):
            means, weights = np.squeeze(each.mean_image), each.weight_maps
        else:
            means, weights = each.means[each.labels], np.moveaxis(each.probabilities, 2, 0)
        if means.shape != given.shape:
            raise DataError(f"the image is {given.shape}, the segments of {name} {means.shape}")
        maps = [(f"segment {k}", one, True) for k, one in enumerate(weights[:most_maps])]
        lines.append([("image", given, False), (str(name), means, False), *maps])
    return _gray_panels(
        lines,
        "Segments and their weights",
        "each pixel as the mean of its segment; maps: white where a pixel is all of the segment",
        (float(given.min()), float(given.max())),
        theme,
    )


def potts_samples(
    samples: Sequence[Sequence[Any]],
    *,
    sweeps: Sequence[int],
    theme: str = "light",
) -> go.Figure:
    """States of Potts models: a line for each beta, a column for each number of sweeps.

    With small beta there are specks, with large beta patches that grow with the sweeps. Texts: 002
    "Potts model" (samples after 200 and 10000 sweeps, and Ising samples at growing beta).

    Parameters
    ----------
    samples : sequence of sequences of PottsSample
        ``samples[i][j]``, from `gnomon.sample.potts_gibbs`, is of the i-th beta after
        ``sweeps[j]`` sweeps.
    sweeps : sequence of int
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.sample import potts_gibbs
    >>> line = [potts_gibbs((6, 6), 0.9, n, random_state=0) for n in (1, 50)]
    >>> len(potts_samples([line], sweeps=(1, 50)).data)
    2
    """
    if any(len(line) != len(sweeps) for line in samples):
        raise DataError(f"each beta has a sample for each of {len(sweeps)} numbers of sweeps")
    lines = [
        [
            (
                f"beta {each.beta:g}, {n:,} sweep{'s' if n != 1 else ''}",
                each.states.astype(float),
                0,
            )
            for each, n in zip(line, sweeps, strict=True)
        ]
        for line in samples
    ]
    top = max(float(values.max()) for line in lines for _, values, _ in line)
    note = "a grey for each state; energies fall as neighbours agree"
    return _gray_panels(lines, "Samples of a Potts model", note, (0.0, max(top, 1.0)), theme)


def _gray_panels(lines, title: str, note: str, limits: tuple[float, float], theme: str):
    """Lines of grey images with a name above each; weights go from 0 to 1, the rest by limits."""
    wide = max(map(len, lines))
    names = [line[k][0] if k < len(line) else "" for line in lines for k in range(wide)]
    figure = make_subplots(
        len(lines), wide, subplot_titles=names, horizontal_spacing=0.02,
        vertical_spacing=0.22 / len(lines),
    )  # fmt: skip
    side = min(PANEL, 1100 // wide)
    for row, line in enumerate(lines):
        for column, (name, values, is_weight) in enumerate(line):
            low, high = (0.0, 1.0) if is_weight else limits
            figure.add_heatmap(
                z=values,
                zmin=low,
                zmax=high,
                colorscale="Greys_r",
                showscale=False,
                hovertemplate=f"row %{{y}}, column %{{x}}: %{{z:.3g}}<extra>{name}</extra>",
                row=row + 1,
                col=column + 1,
            )
            number = row * wide + column + 1
            figure.update_yaxes(
                scaleanchor=f"x{number if number > 1 else ''}", row=row + 1, col=column + 1
            )
    height, width = lines[0][0][1].shape
    tall = int(side * min(height / width, 2.0))
    dress(
        figure,
        title,
        theme,
        note=note,
        width=side * wide + 60,
        height=(tall + 40) * len(lines) + 130,
        margin={"l": 30, "r": 30, "t": 120, "b": 20},
    )
    figure.update_annotations(font_size=13)
    figure.update_xaxes(visible=False, constrain="domain")
    figure.update_yaxes(visible=False, autorange="reversed", constrain="domain")
    return figure
