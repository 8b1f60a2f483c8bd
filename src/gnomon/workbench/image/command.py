"""The command ``gnomon image``."""

from __future__ import annotations

from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.image.options import JOB


class ImageCommand(JobCommand):
    """Clean a noisy picture, or cut it into segments: neighbouring pixels tend to agree.

    The run folder gets answer.png, answer.npy, report.html and run.json.

    Examples:

      gnomon image scan.png --strength 1.5

      gnomon image field.png --task segment --segments 4
    """

    job = JOB
    suffix = "image"
