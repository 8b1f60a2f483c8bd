"""The job `image`: clean a noisy picture, or cut it into segments, by a Markov random field.

Neighbouring pixels like to agree; how much, against what was observed, is one number. Two values:
the exact mode by a graph cut. Grey levels: mean field. Segments: a mixture of normals whose labels
agree with their neighbours, by Gibbs. Texts: 000 15.1, 15.2 · 002 "Segmentation".
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.graphical import PixelLabels, denoise_binary, denoise_gray, segment_mixture
from gnomon.table import Table
from gnomon.table.picture_files import read_picture
from gnomon.workbench.base.job import Request
from gnomon.workbench.base.runs import Run
from gnomon.workbench.image.options import JOB, ImageOptions
from gnomon.workbench.image.result import ImageResult

GRAY_LEVELS = 32
TO_DEVIATION = 1.4826


@JOB.public
def image(picture: Any, options: ImageOptions, request: Request) -> ImageResult:
    """Clean a noisy picture, or cut it into segments, by a Markov random field.

    Use it where noise hits pixels one by one and things are larger than a few pixels. Not for
    photographs with fine texture: smoothing takes it for noise. Files are PNG, PGM, PBM, NPY or
    CSV; colours become grey.

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
    levels = read_picture(picture) if is_file else np.asarray(picture, dtype=np.float64)
    if levels.ndim != 2 or levels.size < 4 or not np.isfinite(levels).all():
        raise DataError(f"a picture is a grid of finite numbers, not of shape {levels.shape}")
    pixels = Table.from_dict({"level": levels.ravel().tolist()})
    source = str(Path(picture).resolve()) if is_file else request.source
    with Run.begin(request.folder, pixels, source, options, JOB.name) as run:
        run.decide(f"{levels.shape[0]:,} x {levels.shape[1]:,} pixels", "the picture as it is")
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
    if len(values) <= 2:
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
    gray = np.linspace(levels.min(), levels.max(), min(len(values), GRAY_LEVELS))
    run.decide(
        f"{len(gray)} grey levels, noise of standard deviation {spread:.3g}",
        "measured by the median difference of neighbours",
    )
    return denoise_gray(levels, options.strength, levels=gray, weight=1 / (2 * spread**2))


def noise_deviation(levels: np.ndarray) -> float:
    """Standard deviation of the noise, from the median difference of neighbours: edges are few."""
    gaps = np.concatenate([np.diff(levels, axis=0).ravel(), np.diff(levels, axis=1).ravel()])
    return float(TO_DEVIATION * np.median(np.abs(gaps)) / np.sqrt(2))
