"""The job `image`: clean a noisy picture, or cut it into segments, by a Markov random field.

Neighbouring pixels like to agree; how much, against what was observed, is one number. Two values:
the exact mode by a graph cut. Grey levels and colours: total variation. Segments: a mixture of
normals whose labels agree with their neighbours, by Gibbs.

Texts: 000 15.1, 15.2 · 002 "Segmentation".
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.graphical import PixelLabels, denoise_binary, denoise_shaded, segment_mixture
from gnomon.table import Table
from gnomon.table.picture_files import gray_of, read_picture
from gnomon.workbench.base.job import Request
from gnomon.workbench.base.runs import Run
from gnomon.workbench.image.options import JOB, ImageOptions
from gnomon.workbench.image.result import ImageResult

TO_DEVIATION = 1.4826  # 1 / quantile(0.75) of the normal law: median absolute deviation to sd
# faces, photographs and patches with noise of 10, 25 and 50: 3.6 dB better than a 5 x 5 median,
# at the worst 0.9 dB; with 0.6 and 0.9 at the worst 0.04 and 0.4 dB
USUAL_STRENGTH = 0.7


@JOB.public
def image(picture: Any, options: ImageOptions, request: Request) -> ImageResult:
    """Clean a noisy picture, or cut it into segments, by a Markov random field.

    Use it where noise hits pixels one by one and things are larger than a few pixels. Fine
    texture is taken for noise. Colours stay colours where the picture is cleaned; segments are
    those of the grey levels. Files are PNG, PGM, PBM, NPY or CSV.

    Returns
    -------
    result : ImageResult

    Examples
    --------
    >>> import gnomon
    >>> noisy = np.ones((8, 8))
    >>> noisy[3, 3] = 0
    >>> int(gnomon.image(noisy).answer.sum())
    64
    """
    begin = time.perf_counter()
    tell, task = request.progress, options.task
    is_file = isinstance(picture, (str, os.PathLike))
    keeps = task == "denoise"
    levels = (
        read_picture(picture, color=keeps) if is_file else np.asarray(picture, dtype=np.float64)
    )
    is_color = levels.ndim == 3 and levels.shape[2] == 3
    if is_color and not keeps:
        levels = gray_of(levels)
    if not (levels.ndim == 2 or is_color) or levels.size < 4 or not np.isfinite(levels).all():
        raise DataError(f"a picture is a grid of finite numbers, not of shape {levels.shape}")
    pixels = Table.from_dict({"level": levels.ravel().tolist()})
    source = str(Path(picture).resolve()) if is_file else request.source
    with Run.begin(request.folder, pixels, source, options, JOB.name) as run:
        run.decide(f"{levels.shape[0]:,} x {levels.shape[1]:,} pixels", "the picture as it is")
        if is_color and not keeps:
            run.decide("segments are of grey levels", "a mixture of normals of one number")
        tell(task, 0, 1)
        if task == "segment":
            found: Any = segment_mixture(
                levels, options.n_segments, options.strength, random_state=options.random_state
            )
            answer = found.means[found.labels]
        else:
            found = _cleaned(levels, options, run)
            answer = found.image.astype(np.float64)
        result = ImageResult(levels, answer, found, options, time.perf_counter() - begin, run)
        run.finish(result)
    tell(task, 1, 1)
    return result


def _cleaned(levels: np.ndarray, options: ImageOptions, run: Run) -> PixelLabels:
    values = np.unique(levels)
    if len(values) <= 2 and levels.ndim == 2:
        fidelity = float(np.log((1 - options.noise) / options.noise) / 2)
        run.decide("two values: a graph cut, which finds the best picture exactly", "it can be")
        marks = (levels == values[-1]).astype(np.int64)
        found = denoise_binary(
            marks, coupling=options.strength / 2, fidelity=fidelity, method="graph cut"
        )
        named = values[found.image] if len(values) == 2 else np.full(levels.shape, values[0])
        return PixelLabels(named, None, found.cost, found.history, found.method)
    spread = noise_deviation(levels)
    if not spread > 0:
        raise DataError(
            "half of the pixels equal their neighbours: there is no noise of grey levels to clean. "
            "Two values are cleaned by their share of flips (--noise); cut the picture there"
        )
    run.decide(
        f"noise of standard deviation {spread:.3g} is cleaned by total variation",
        "measured by the median difference of differences of neighbours",
    )
    channels = levels.shape[2] if levels.ndim == 3 else 1  # the length of a slope is of all
    price = USUAL_STRENGTH * np.sqrt(channels) * options.strength / spread
    return denoise_shaded(levels, price, weight=1 / (2 * spread**2))


def noise_deviation(levels: np.ndarray) -> float:
    """Standard deviation of the noise, from the median over all squares of four pixels.

    The difference of their differences is 0 on even slopes and along straight edges, which the
    difference of two neighbours is not: of a photograph with noise of 10 it is 14 instead of 16.
    """
    steps = np.diff(np.diff(levels, axis=0), axis=1)
    return float(TO_DEVIATION * np.median(np.abs(steps)) / 2) if steps.size else 0.0
