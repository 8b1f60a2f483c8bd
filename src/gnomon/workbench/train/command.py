"""The command ``gnomon train``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.base.screen import say
from gnomon.workbench.train.options import JOB


class TrainCommand(JobCommand):
    """Train a network on a table and watch it learn.

    Every epoch tells the loss and the error of training and validation rows. The run folder gets a
    checkpoint after every epoch: the same command with the same --name goes on where a killed one
    ended, with the same result.

    Examples:

      gnomon train sales.csv --target churn --hidden 64 --hidden 32 --search 12

      gnomon train digits.csv --target digit --network convolutions.txt --epochs 20
    """

    job = JOB
    suffix = "network"
    failure = "Exit with 3 where the network is not shown to beat the baseline."

    def show(self, result: Any) -> None:
        """The verdict, how the training went, and what was wrong with it."""
        say(str(result))

    def after(self, folder: Path) -> None:
        """What can be done next."""
        say(f"predict with: gnomon predict {folder} NEW.csv")

    def failed(self, result: Any) -> bool:
        """Whether the network is not shown to beat the baseline."""
        return not result.beats_baseline
