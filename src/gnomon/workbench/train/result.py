"""What `train` gives back: the network, its curves, what was wrong, and the test score."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gnomon.evaluate import Estimate
from gnomon.neural import Network
from gnomon.table import Table
from gnomon.workbench.analysis.problem import LearningProblem
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run
from gnomon.workbench.base.whole_file import write_whole, written
from gnomon.workbench.train.options import TrainOptions


@dataclass
class Curves:
    """The curves of one training.

    Attributes
    ----------
    name : str
    losses, validation_losses : list of float
        Mean loss of training and validation rows, by epoch.
    errors, validation_errors : list of float
        Share of wrong classes; empty for numbers.
    stopped : str
        Why it ended.
    settings : dict of str to float
        What was searched.
    """

    name: str
    losses: list[float]
    validation_losses: list[float]
    errors: list[float]
    validation_errors: list[float]
    stopped: str
    settings: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Any, name: str, settings: dict[str, float] | None = None) -> Curves:
        """The curves of a fitted network."""
        return cls(
            name,
            model.loss_curve_,
            model.validation_losses_,
            model.training_errors_,
            model.validation_errors_,
            model.history_.stopped,
            settings or {},
        )

    @property
    def least(self) -> float:
        """The least validation loss; infinite where no epoch was finite."""
        return min(self.validation_losses, default=float("inf"))

    @property
    def best_epoch(self) -> int:
        """The epoch of the least validation loss, from one; 0 where there is none."""
        losses = self.validation_losses
        return losses.index(self.least) + 1 if losses else 0

    def as_dict(self) -> dict[str, Any]:
        """The curves as plain data."""
        return asdict(self)


@dataclass(repr=False)
class TrainResult(JobResult):
    """A trained network; prints itself, draws its curves, writes a report.

    Attributes
    ----------
    model : estimator
        NetworkClassifier, NetworkRegressor or ConvNetClassifier, fitted.
    problem : LearningProblem
    curves : Curves
        Of the final training.
    tried : list of Curves
        Of the settings that were searched.
    findings : list of str
        What is wrong with the training, in words.
    test_score, baseline_score : Estimate
        The measure on the test rows, of the network and of the most frequent class or the mean.
    n_test : int
    sample : Table
        Training rows, kept to compare new ones with.
    """

    model: Any
    problem: LearningProblem
    curves: Curves
    tried: list[Curves]
    findings: list[str]
    test_score: Estimate
    baseline_score: Estimate
    n_test: int
    sample: Table
    run: Run
    settings: TrainOptions
    seconds: float = 0.0

    @property
    def network(self) -> Network:
        """The network of the model."""
        return Network.from_text(self.model.network_)

    @property
    def beats_baseline(self) -> bool:
        """Whether the whole interval of the test score is better than the baseline's value."""
        score, base = self.test_score, self.baseline_score.value
        if self.problem.figure.greater_is_better:
            return score.low > base
        return score.high < base

    def verdict(self) -> str:
        """In a sentence or two: the score on the test rows, and what it is worth."""
        measure, score = self.problem.measure, self.test_score
        line = (
            f"{measure} on {self.n_test:,} test rows: {score.value:.4g} "
            f"(95% interval for independent rows {score.low:.4g} to {score.high:.4g}; "
            f"baseline {self.baseline_score.value:.4g})."
        )
        if not self.beats_baseline:
            line += " The network is not shown to be better than the baseline."
        return line

    def training(self) -> str:
        """In a sentence: how long it was trained, and which weights were kept."""
        curves = self.curves
        return (
            f"{self.network!r}: {len(curves.losses)} epochs ({curves.stopped}); the weights of "
            f"epoch {curves.best_epoch} are kept, the validation loss there is {curves.least:.4g}."
        )

    def summary(self) -> dict[str, Any]:
        """All results as plain data."""
        return as_json(
            {
                "verdict": self.verdict(),
                "clear": self.beats_baseline,
                "measure": self.problem.measure,
                "test_score": self.test_score,
                "baseline_score": self.baseline_score,
                "network": self.model.network_,
                "curves": self.curves.as_dict(),
                "tried": [each.as_dict() for each in self.tried],
                "findings": self.findings,
            }
        )

    def write_files(self, folder: Path) -> None:
        """Write the model, rows to compare new ones with, the description and the curves."""
        self.save(folder / "model.gnomon")
        write_whole(folder / "schema.toml", self.sample.schema.to_toml())
        written(self.sample, folder / "sample.parquet")
        write_whole(folder / "network.txt", self.model.network_)
        curves = self.curves
        columns: dict[str, Any] = {
            "epoch": list(range(1, len(curves.losses) + 1)),
            "loss": curves.losses,
            "validation_loss": curves.validation_losses,
        }
        if curves.errors:
            columns |= {"error": curves.errors, "validation_error": curves.validation_errors}
        if all(len(values) == len(curves.losses) for values in columns.values()):
            written(Table.from_dict(columns), folder / "curves.csv")

    @property
    def same_if(self) -> str:
        """Whether a repetition has the same curves, as an expression."""
        return f"result.curves.validation_losses[-1:] == {self.curves.validation_losses[-1:]!r}"

    def __str__(self) -> str:
        lines = [self.verdict(), self.training()]
        return "\n".join([*lines, *(f"note: {each}" for each in self.findings)])
