"""What `detect` gives back: boxes in pictures, the detector, and how good it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.contract.estimate import Estimate
from gnomon.table import Table
from gnomon.table.picture_files import png_bytes
from gnomon.vision import Detections, gray_to_rgb, match_detections, read_image
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run
from gnomon.workbench.base.whole_file import written
from gnomon.workbench.detect.options import DetectOptions

HEADINGS = ["class", "true boxes", "found", "false boxes"]
# Judgement: five colors of boxes that are told apart on photographs.
COLORS = ((230, 60, 40), (40, 110, 230), (20, 150, 80), (200, 120, 0), (150, 60, 180))
MOST_DRAWN = 1000  # pictures that are written with their boxes


@dataclass
class Found:
    """A picture and what was found in it.

    Attributes
    ----------
    path : Path
    name : str
        The file, relative to the folder.
    detections : Detections
    truth : tuple of (boxes, labels) or None
    is_test : bool
        Whether it has true boxes and was not learned from.
    """

    path: Path
    name: str
    detections: Detections
    truth: tuple[np.ndarray, np.ndarray] | None
    is_test: bool


@dataclass(repr=False)
class DetectResult(JobResult):
    """Boxes in pictures; prints itself, draws pictures, writes a report.

    Attributes
    ----------
    model : Detector
    found : list of Found
        For every picture that could be read.
    files : Table
        All files of the folder.
    precision : Estimate or None
        Mean average precision at an overlap of one half on the test pictures; None where no true
        boxes are known.
    """

    model: Any
    found: list[Found]
    files: Table
    run: Run
    settings: DetectOptions
    notes: list[str] = field(default_factory=list)
    precision: Estimate | None = None
    seconds: float = 0.0

    @property
    def n_boxes(self) -> int:
        """Detected boxes in all pictures."""
        return sum(len(each.detections) for each in self.found)

    def verdict(self) -> str:
        """In a sentence: how good the detector is, or that this is not known."""
        if self.precision is None:
            return "How many of the boxes are right is not known: no true boxes were given."
        n_test = sum(each.is_test for each in self.found)
        which = "pictures that were not learned from"
        if self.settings.model is not None:
            which = "pictures with known boxes; it is too high if the model was learned from them"
        return (
            f"Mean average precision {self.precision} at an overlap of one half, on {n_test:,} "
            f"{which} (95% interval by leaving out pictures; finding nothing gives 0, all boxes "
            "and no false one gives 1)."
        )

    def lines(self) -> list[list[Any]]:
        """Per class of the test pictures: true boxes, found ones, false ones; see `HEADINGS`."""
        counts: dict[str, np.ndarray] = {}
        for each in self.found:
            if not each.is_test or each.truth is None:
                continue
            said = each.detections.labels.astype(str)
            for name in {*said.tolist(), *each.truth[1].tolist()}:
                mine = said == name
                match = match_detections(
                    each.detections.boxes[mine],
                    each.detections.scores[mine],
                    each.truth[0][each.truth[1] == name],
                )
                hits = int(match.relevant.sum())
                more = np.array([match.n_truth, hits, len(match.relevant) - hits])
                counts[name] = counts.get(name, np.zeros(3, dtype=int)) + more
        return [[name, *counts[name].tolist()] for name in sorted(counts)]

    def table(self) -> Table:
        """All detected boxes: file, left, top, right, bottom, label, score."""
        rows = [
            (each.name, *box, str(label), float(score))
            for each in self.found
            for box, label, score in zip(
                each.detections.boxes.tolist(), each.detections.labels, each.detections.scores
            )
        ]
        names = ("file", "left", "top", "right", "bottom", "label", "score")
        columns = list(zip(*rows)) if rows else [()] * len(names)
        return Table.from_dict({name: list(column) for name, column in zip(names, columns)})

    def summary(self) -> dict[str, Any]:
        """All results as plain data."""
        return as_json(
            {
                "verdict": self.verdict(),
                "pictures": len(self.found),
                "boxes": self.n_boxes,
                "model": type(self.model).__name__,
                "classes": [str(each) for each in self.model.classes_],
                "precision": self.precision,
                "by_class": [dict(zip(HEADINGS, line)) for line in self.lines()],
                "notes": self.notes,
            }
        )

    def write_files(self, folder: Path) -> None:
        """Write the boxes, the pictures with their boxes, and the detector."""
        written(self.table(), folder / "boxes.csv")
        for each in self.found[:MOST_DRAWN]:
            path = (folder / "pictures" / each.name).with_suffix(".png")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(png_bytes(self.drawn(each)))
        self.save(folder / "model.gnomon")

    def drawn(self, each: Found) -> np.ndarray:
        """A picture (height, width, 3) with outlines of its boxes, a color for each class."""
        image = np.asarray(read_image(each.path), dtype=np.float64)
        pixels = np.clip(image if image.ndim == 3 else gray_to_rgb(image), 0, 255).copy()
        height, width = pixels.shape[:2]
        wide = max(round(max(height, width) / 200), 1)
        classes = {str(name): k for k, name in enumerate(self.model.classes_)}
        for box, label in zip(each.detections.boxes, each.detections.labels):
            left, top, right, bottom = np.rint(box).astype(int)
            color = COLORS[classes[str(label)] % len(COLORS)]
            part = pixels[max(top, 0) : min(bottom, height), max(left, 0) : min(right, width)]
            for side in (part[:wide], part[-wide:], part[:, :wide], part[:, -wide:]):
                side[:] = color
        return pixels

    @property
    def same_if(self) -> str:
        """Whether a repetition finds as many boxes, as an expression."""
        return f"result.n_boxes == {self.n_boxes}"

    def __str__(self) -> str:
        first = f"{self.n_boxes:,} boxes in {len(self.found):,} pictures"
        return "\n".join([first, *self.notes, self.verdict()])
