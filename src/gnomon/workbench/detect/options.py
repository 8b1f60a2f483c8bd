"""The options of the job ``detect``."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option


@dataclass
class DetectOptions(Options):
    """The options of `detect`."""

    model: str | None = option(
        None, help="A model file or run folder of a detector; without one it is learned from boxes."
    )
    boxes: str | None = option(
        None,
        help="A table of true boxes: file, left, top, right, bottom, label. By default boxes.csv "
        "in the folder.",
    )
    method: str = option(
        "faster-rcnn",
        choices=("faster-rcnn", "fast-rcnn", "rcnn", "yolo"),
        help="The detector that is learned.",
    )
    size: int = option(
        64,
        least=16,
        help="Side in pixels to which pictures are resized to learn; a multiple of 16.",
    )
    max_iter: int = option(20, least=1, help="Epochs of learning.")
    test_share: float = option(
        0.25, least=0, greatest=1, open=True, help="Share of the pictures put aside for the test."
    )
    threshold: float | None = option(
        None, least=0, greatest=1, help="Least score of a detection; that of the model by default."
    )
    random_state: int = option(
        0, flag="seed", least=0, help="Seed of the split and of the first weights."
    )


JOB = Job("detect", DetectOptions, subject="pictures")
