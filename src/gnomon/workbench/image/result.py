"""What `image` gives back: the picture, cleaned or cut into segments."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.graphical import MixtureSegments, PixelLabels
from gnomon.graphical.total_variation import TOTAL_VARIATION
from gnomon.table.picture_files import write_picture
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run
from gnomon.workbench.image.options import ImageOptions


@dataclass(repr=False)
class ImageResult(JobResult):
    """A picture cleaned, or cut into segments.

    Attributes
    ----------
    picture : ndarray of shape (height, width) or (height, width, 3)
        As given.
    answer : ndarray of shape (height, width) or (height, width, 3)
        Grey levels or colours; of segments, the mean of each.
    found : PixelLabels or MixtureSegments
    settings : ImageOptions
    seconds : float
    run : Run
    """

    picture: np.ndarray
    answer: np.ndarray
    found: PixelLabels | MixtureSegments
    settings: ImageOptions
    seconds: float
    run: Run

    @property
    def changed(self) -> float:
        """Share of the pixels whose value is another one now."""
        return float((self.answer != self.picture).mean())

    def summary(self) -> dict[str, Any]:
        """What was found, as plain data."""
        height, width = self.picture.shape[:2]
        found: dict[str, Any] = {"height": height, "width": width, "changed": self.changed}
        if isinstance(self.found, MixtureSegments):
            shares = [float((self.found.labels == k).mean()) for k in range(len(self.found.means))]
            found |= {"means": self.found.means, "sds": self.found.sds, "shares": shares}
        else:
            found |= {"method": self.found.method, "cost": self.found.cost}
        return as_json(found)

    def write_files(self, folder: Path) -> None:
        """Write the answer as a picture and as an array."""
        write_picture(_as_levels(self.answer), folder / "answer.png")
        labels = self.found.labels if isinstance(self.found, MixtureSegments) else self.answer
        np.save(folder / "answer.npy", labels)

    @property
    def same_if(self) -> str:
        """Whether a repetition changes the same share of the pixels, as an expression."""
        return f"result.changed == {self.changed!r}"

    def __str__(self) -> str:
        height, width = self.picture.shape[:2]
        said = f"{height:,} x {width:,} pixels"
        if isinstance(self.found, MixtureSegments):
            means = ", ".join(f"{mean:.3g}" for mean in self.found.means)
            return f"{said} in {len(self.found.means)} segments around {means}"
        if self.found.method == TOTAL_VARIATION:
            size = float(np.sqrt(((self.answer - self.picture) ** 2).mean()))
            return f"{said}, changed by {size:.3g} (root mean square) by {TOTAL_VARIATION}"
        return f"{said}, {100 * self.changed:.1f} % changed by {self.found.method}"


def _as_levels(levels: np.ndarray) -> np.ndarray:
    """On the scale of a picture file: 0 to 255 as they are, others stretched."""
    low, high = float(levels.min()), float(levels.max())
    if low >= 0 and 1 < high <= 255:
        return levels
    return np.zeros(levels.shape) if high == low else 255 * (levels - low) / (high - low)
