"""The job `image`: clean a noisy picture, or cut it into segments, by a Markov random field.

Neighbouring pixels like to agree; how much, against what was observed, is one number. Two values:
the exact mode by a graph cut. Grey levels: mean field. Segments: a mixture of normals whose labels
agree with their neighbours, by Gibbs. Texts: 000 15.1, 15.2 · 002 "Segmentation".
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.graphical import (
    MixtureSegments,
    PixelLabels,
    denoise_binary,
    denoise_grey,
    segment_mixture,
)
from gnomon.table import Table
from gnomon.table.picture_files import read_picture, write_picture
from gnomon.workbench.plain_data import as_json
from gnomon.workbench.report import Report
from gnomon.workbench.runs import Run

TASKS = ("denoise", "segment")
GREY_LEVELS = 32
TO_DEVIATION = 1.4826
Tell = Callable[[str, int, int], None]


@dataclass
class ImageSettings:
    """What was asked for.

    Attributes
    ----------
    task : str
    strength : float
    noise : float
    n_segments : int
    seed : int
    """

    task: str = "denoise"
    strength: float = 1.0
    noise: float = 0.1
    n_segments: int = 3
    seed: int = 0


@dataclass
class ImageResult:
    """A picture cleaned, or cut into segments.

    Attributes
    ----------
    picture : ndarray of shape (height, width)
        As given.
    answer : ndarray of shape (height, width)
        Grey levels; of segments, the mean of each.
    found : PixelLabels or MixtureSegments
    settings : ImageSettings
    seconds : float
    run : Run
    """

    picture: np.ndarray
    answer: np.ndarray
    found: PixelLabels | MixtureSegments
    settings: ImageSettings
    seconds: float
    run: Run

    @property
    def changed(self) -> float:
        """Share of the pixels whose value is another one now."""
        return float((self.answer != self.picture).mean())

    def figure(self, theme: str = "light") -> Any:
        """The picture before and after, and where the answer is unsure.

        Parameters
        ----------
        theme : {"light", "dark"}, default="light"

        Returns
        -------
        figure : plotly.graph_objects.Figure
        """
        from gnomon.show.pixels import labelled_image

        return labelled_image(self.found, self.picture, theme=theme)

    def summary(self) -> dict[str, Any]:
        """What was found, as plain data."""
        height, width = self.picture.shape
        found: dict[str, Any] = {"height": height, "width": width, "changed": self.changed}
        if isinstance(self.found, MixtureSegments):
            shares = [float((self.found.labels == k).mean()) for k in range(len(self.found.means))]
            found |= {"means": self.found.means, "sds": self.found.sds, "shares": shares}
        else:
            found |= {"method": self.found.method, "cost": self.found.cost}
        return as_json(found)

    def to_json(self) -> str:
        """All results as JSON."""
        return json.dumps(self.summary(), indent=1, ensure_ascii=False)

    def write(self, folder: Path) -> None:
        """Write the answer as a picture and as an array, and the report."""
        write_picture(_as_grey(self.answer), folder / "answer.png")
        labels = self.found.labels if isinstance(self.found, MixtureSegments) else self.answer
        np.save(folder / "answer.npy", labels)
        report = Report(f"Picture {self.run.record['source'] or ''}", str(self))
        report.section("Before and after").figure(self.figure(), "Unsure: 1 less the largest share")
        report.section("Decisions")
        made = [[each["what"], each["why"]] for each in self.run.decisions]
        report.table(["what", "why"], made)
        report.write(folder / "report.html")

    def __str__(self) -> str:
        height, width = self.picture.shape
        said = f"{height:,} x {width:,} pixels"
        if isinstance(self.found, MixtureSegments):
            means = ", ".join(f"{mean:.3g}" for mean in self.found.means)
            return f"{said} in {len(self.found.means)} segments around {means}"
        return f"{said}, {100 * self.changed:.1f} % changed by {self.found.method}"

    def __repr__(self) -> str:
        return str(self)


def image(
    picture: Any,
    *,
    task: str = "denoise",
    strength: float = 1.0,
    noise: float = 0.1,
    n_segments: int = 3,
    seed: int = 0,
    folder: str | os.PathLike | None = None,
    progress: Tell | None = None,
) -> ImageResult:
    """Clean a noisy picture, or cut it into segments, by a Markov random field.

    Use it where noise hits pixels one by one and things are larger than a few pixels. Not for
    photographs with fine texture: smoothing takes it for noise.

    Parameters
    ----------
    picture : path or array-like of shape (height, width)
        PNG, PGM, PBM, NPY or CSV; colours become grey.
    task : {"denoise", "segment"}, default="denoise"
    strength : float, default=1
        How much neighbours like to agree: 0 not at all.
    noise : float, default=0.1
        Of a picture of two values: the share of pixels that noise has flipped. The noise of grey
        levels is measured.
    n_segments : int, default=3
    seed : int, default=0
    folder : path, default=None
        Where all is written: answer.png, answer.npy, report.html, run.json.
    progress : callable, default=None
        ``progress(what, done, total)``.

    Returns
    -------
    result : ImageResult

    Examples
    --------
    >>> noisy = np.ones((8, 8))
    >>> noisy[3, 3] = 0
    >>> int(image(noisy).answer.sum())
    64
    """
    begin = time.perf_counter()
    tell = progress or (lambda what, done, total: None)
    settings = ImageSettings(task, float(strength), float(noise), int(n_segments), int(seed))
    _require_sensible(settings)
    is_file = isinstance(picture, (str, os.PathLike))
    levels = read_picture(picture) if is_file else np.asarray(picture, dtype=np.float64)
    if levels.ndim != 2 or levels.size < 4 or not np.isfinite(levels).all():
        raise DataError(f"a picture is a grid of finite numbers, not of shape {levels.shape}")
    pixels = Table.from_dict({"level": levels.ravel().tolist()})
    source = str(picture) if is_file else None
    with Run.begin(folder, pixels, source, settings, job="image") as run:
        run.decide(f"{levels.shape[0]:,} x {levels.shape[1]:,} pixels", "the picture as it is")
        tell(task, 0, 1)
        if task == "segment":
            found: Any = segment_mixture(levels, n_segments, strength, random_state=seed)
            answer = found.means[found.labels]
        else:
            found = _cleaned(levels, settings, run)
            answer = found.image.astype(np.float64)
        result = ImageResult(levels, answer, found, settings, time.perf_counter() - begin, run)
        run.finish(result)
    tell(task, 1, 1)
    return result


def _require_sensible(settings: ImageSettings) -> None:
    if settings.task not in TASKS:
        raise DataError(f"task={settings.task!r} is none of {', '.join(TASKS)}")
    if not settings.strength >= 0:
        raise DataError(f"strength={settings.strength} must not be negative")
    if not 0 < settings.noise < 0.5:
        raise DataError(f"noise={settings.noise} is the share of flipped pixels, below one half")
    if settings.n_segments < 2:
        raise DataError("a picture is cut into two segments at least")


def _cleaned(levels: np.ndarray, settings: ImageSettings, run: Run) -> PixelLabels:
    values = np.unique(levels)
    if len(values) <= 2:
        fidelity = float(np.log((1 - settings.noise) / settings.noise) / 2)
        run.decide("two values: a graph cut, which finds the best picture exactly", "it can be")
        marks = (levels == values[-1]).astype(np.int64)
        found = denoise_binary(
            marks, coupling=settings.strength / 2, fidelity=fidelity, method="graph cut"
        )
        named = values[found.image] if len(values) == 2 else np.full(levels.shape, values[0])
        return PixelLabels(named, None, found.cost, found.history, found.method)
    spread = noise_deviation(levels)
    if not spread > 0:
        raise DataError(
            "half of the pixels equal their neighbours: there is no noise of grey levels to clean. "
            "Two values are cleaned by their share of flips (--noise); cut the picture there"
        )
    grey = np.linspace(levels.min(), levels.max(), min(len(values), GREY_LEVELS))
    run.decide(
        f"{len(grey)} grey levels, noise of standard deviation {spread:.3g}",
        "measured by the median difference of neighbours",
    )
    return denoise_grey(levels, settings.strength, levels=grey, weight=1 / (2 * spread**2))


def noise_deviation(levels: np.ndarray) -> float:
    """Standard deviation of the noise, from the median difference of neighbours: edges are few."""
    gaps = np.concatenate([np.diff(levels, axis=0).ravel(), np.diff(levels, axis=1).ravel()])
    return float(TO_DEVIATION * np.median(np.abs(gaps)) / np.sqrt(2))


def _as_grey(levels: np.ndarray) -> np.ndarray:
    """On the scale of a picture file: 0 to 255 as they are, others stretched."""
    low, high = float(levels.min()), float(levels.max())
    if low >= 0 and 1 < high <= 255:
        return levels
    return np.zeros(levels.shape) if high == low else 255 * (levels - low) / (high - low)
