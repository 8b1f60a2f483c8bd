"""The options of the job ``image``."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option


@dataclass
class ImageOptions(Options):
    """The options of `image`."""

    task: str = option(
        "denoise", choices=("denoise", "segment"), help="Clean the picture, or cut it."
    )
    strength: float = option(
        1.0, least=0, help="How strongly neighbouring pixels are drawn to agree: 0 not at all."
    )
    noise: float = option(
        0.1,
        least=0,
        greatest=0.5,
        open=True,
        help="In a picture of two values: the share of pixels that noise has flipped. The noise of "
        "grey levels is measured.",
    )
    n_segments: int = option(3, flag="segments", least=2, help="How many segments to cut into.")
    random_state: int = option(0, flag="seed", least=0, help="Seed of random draws.")


JOB = Job("image", ImageOptions, subject="picture")
