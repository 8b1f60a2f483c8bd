"""Train a described network and watch it: history, early stop, checkpoints, findings in words.

The loop makes epochs of batches (`gnomon.neural.batches`), measures validation rows after each,
keeps the best parameters, and stops when they have not improved for some epochs. A loss that is not
finite ends it with the last good parameters. A checkpoint holds all that the next epoch depends on,
so that a run that was killed goes on with the same bits.

Texts: 000c 17.2.1-17.2.4 · 003 4.3.2-4.3.3 · 004 9.2.3 (early stopping).
"""

from __future__ import annotations

import json
import os
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.threads import Crew
from gnomon.neural.batches import Slots, generator
from gnomon.neural.diagnostics import (
    course_findings,
    gradient_findings,
    input_findings,
    unit_findings,
)
from gnomon.neural.losses import CrossEntropy, Loss, loss_of
from gnomon.neural.network import Network, Parameters
from gnomon.neural.penalties import Penalty
from gnomon.neural.trainer import Trainer, predict_all, rule_of
from gnomon.optimize.schedules import Schedule, constant

FORMAT = 1  # rises with every change that older versions cannot read


@dataclass(repr=False)
class Training(Result):
    """A trained network and the history of its training.

    Attributes
    ----------
    network : Network
    parameters : Parameters
        The best ones by the validation rows, where there are any; else the last.
    loss : Loss
    losses : list of float
        Mean training loss of each epoch, penalty included.
    validation_losses, validation_errors : list of float
        Of the validation rows after each epoch; the error is the share of wrong classes, of
        networks for classes.
    errors : list of float
        Share of wrong classes among some training rows after each epoch, where it is measured.
    baseline : float
        Error of the most frequent class of the training rows, or variance of the target.
    learning_rates : list of float
    stopped : str
        Why it ended: "max_iter", "converged", "callback", or "loss is not finite".
    findings : list of str
        What went wrong, in words.
    """

    network: Network
    parameters: Parameters
    loss: Loss
    losses: list[float] = field(default_factory=list)
    validation_losses: list[float] = field(default_factory=list)
    validation_errors: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    baseline: float = float("nan")
    learning_rates: list[float] = field(default_factory=list)
    stopped: str = "max_iter"
    findings: list[str] = field(default_factory=list)

    def predict(self, X: Any) -> np.ndarray:
        """Estimates or probabilities for some rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)

        Returns
        -------
        output : ndarray of shape (n_samples, *output_shape)
        """
        rows = self.network.rows(X, self.parameters.flat.dtype)
        return self.loss.link(predict_all(self.network, self.parameters, rows))

    @property
    def n_iter(self) -> int:
        """Epochs made."""
        return len(self.losses)

    def _title(self) -> str:
        return f"{self.network!r} after {self.n_iter} epochs: {self.stopped}"

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {
            "epoch": list(range(1, self.n_iter + 1)),
            "learning rate": self.learning_rates,
            "loss": self.losses,
        }
        if self.errors:
            columns["error"] = self.errors
        if self.validation_losses:
            columns["validation loss"] = self.validation_losses
        if self.validation_errors:
            columns["validation error"] = self.validation_errors
        return columns

    def _remarks(self) -> list[str]:
        return self.findings


@dataclass
class Loop:
    """The epochs of a training: steps, measures, the best parameters, checkpoints.

    Attributes
    ----------
    trainer : Trainer
    rows, target : ndarray
    slots : Slots
        Of the training rows.
    found : Training
        What is recorded.
    schedule : callable
        The learning rate of an epoch.
    batch_size : int
    held_out : (rows, target, weights) or None
        Validation rows.
    measured : (rows, target, weights) or None
        Training rows whose error is recorded.
    n_iter_no_change : int or None
    tol : float
    checkpoint : Path or None
    epoch : int
        Epochs made.
    best : float
        The least loss, of the validation rows where there are any.
    waited : int
        Epochs since the loss was better by `tol`.
    best_flat : ndarray or None
        The parameters of the best validation loss.
    """

    trainer: Trainer
    rows: Any
    target: np.ndarray
    slots: Slots
    found: Training
    schedule: Schedule
    batch_size: int
    held_out: Any = None
    measured: Any = None
    n_iter_no_change: int | None = None
    tol: float = 0.0
    checkpoint: Path | None = None
    epoch: int = 0
    best: float = np.inf
    waited: int = 0
    best_flat: np.ndarray | None = None

    @property
    def ended(self) -> bool:
        """Whether there is a reason to make no further epoch."""
        return self.found.stopped != "max_iter"

    def resume(self) -> None:
        """Go on from the checkpoint, where there is one."""
        if self.checkpoint is not None:
            _resume(self.checkpoint, self)

    def make_epoch(self, crew: Crew) -> None:
        """Train one epoch and measure; where the loss is not finite, keep the parameters before."""
        self.epoch += 1
        flat, found = self.trainer.parameters.flat, self.found
        rate = self.schedule(self.epoch - 1)
        before = flat.copy()
        value = self.trainer.epoch(
            self.rows, self.target, self.slots, self.batch_size, rate, self.epoch, crew
        )
        if not (np.isfinite(value) and np.isfinite(flat).all()):
            flat[:] = before
            found.stopped = "loss is not finite"
            return
        found.losses.append(value)
        found.learning_rates.append(rate)
        self._measure()
        if self.n_iter_no_change is not None and self.waited >= self.n_iter_no_change:
            found.stopped = "converged"

    def _measure(self) -> None:
        """Measure the validation rows; keep the parameters where they are the best so far."""
        found, value = self.found, self.found.losses[-1]
        if self.measured is not None:
            found.errors += _error(self.trainer, self.measured)[1]
        if self.held_out is not None:
            value, error = _error(self.trainer, self.held_out)
            found.validation_losses.append(value)
            found.validation_errors += error
        self.waited = 0 if value < self.best - self.tol else self.waited + 1
        if value < self.best:
            self.best = value
            if self.held_out is not None:
                self.best_flat = self.trainer.parameters.flat.copy()

    def keep(self) -> None:
        """Write the checkpoint, where a file is given for it."""
        if self.checkpoint is not None:
            _write(self.checkpoint, self)

    def end(self) -> None:
        """Take the best parameters by the validation rows, where there are any."""
        if self.best_flat is not None:
            self.trainer.parameters.flat[:] = self.best_flat


def _error(trainer: Trainer, measured: Any) -> tuple[float, list[float]]:
    """Mean loss of some rows, and of networks for classes the share of wrong ones, in a list."""
    rows, target, weights = measured
    output = predict_all(trainer.network, trainer.parameters, rows)
    value = float(np.average(trainer.loss(output, target)[0], weights=weights))
    if not (isinstance(trainer.loss, CrossEntropy) and target.ndim == 1):
        return value, []
    return value, [float(np.average(output.argmax(axis=1) != target, weights=weights))]


def train(
    network: Network,
    X: ArrayLike,
    y: ArrayLike,
    *,
    loss: Loss | str = "log_loss",
    sample_weight: ArrayLike | None = None,
    parameters: Parameters | None = None,
    solver: Any = "adam",
    learning_rate: float | Schedule = 0.001,
    batch_size: int = 128,
    max_iter: int = 20,
    penalty: Penalty | None = None,
    max_norm: float | None = None,
    frozen: tuple[str, ...] = (),
    validation: tuple[ArrayLike, ArrayLike] | None = None,
    n_iter_no_change: int | None = None,
    tol: float = 0.0,
    shuffle: bool = True,
    init: str = "glorot_uniform",
    dtype: Any = np.float64,
    engine: str = "own",
    device: str = "cpu",
    callback: Callable[[Training], bool | None] | None = None,
    checkpoint: str | Path | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
) -> Training:
    """Train a network on rows.

    Parameters
    ----------
    network : Network
        Of a last layer without activation for "log_loss": softmax is in the loss.
    X : array-like of shape (n_samples, *input_shape) or (n_samples, n_columns)
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class codes 0, 1, ... or probabilities for "log_loss", numbers otherwise.
    loss : Loss or str, default="log_loss"
    sample_weight : array-like of shape (n_samples,), default=None
        Weight two is the same as the row standing there twice.
    parameters : Parameters, default=None
        To go on from (they are not changed); drawn by `init` otherwise.
    solver : Rule or str, default="adam"
        "sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw", or a rule of
        `gnomon.optimize`.
    learning_rate : float or callable, default=0.001
        A rate, or a schedule of the epoch (`gnomon.optimize.schedules`).
    batch_size : int, default=128
    max_iter : int, default=20
        Most epochs.
    penalty : Penalty, default=None
        On the weights: `L2`, `L1`, `Elastic` or `Lp`.
    max_norm : float, default=None
        Largest norm of the weights into a unit.
    frozen : tuple of str, default=()
        Layers whose parameters stay.
    validation : (X, y), default=None
        Rows that are measured after each epoch; the best parameters by their loss are kept.
    n_iter_no_change : int, default=None
        Stop after so many epochs without a better loss (of the validation rows, or of training).
    tol : float, default=0.0
        By how much a loss must be better.
    shuffle : bool, default=True
    init : str, default="glorot_uniform"
    dtype : data-type, default=float64
        float32 is about twice as fast.
    engine : {"own", "torch"}, default="own"
        "torch" computes the passes by torch (the extra ``deep``); the steps are the same.
    device : str, default="cpu"
        Of torch.
    callback : callable, default=None
        Called with the `Training` after each epoch; stops where it returns True.
    checkpoint : str or Path, default=None
        A file that is written after each epoch; where it is there, the run goes on from it.
    n_jobs : int or None, default=None
        Threads; they change no bit.
    random_state : int, default=0

    Returns
    -------
    training : Training

    Examples
    --------
    >>> from gnomon.neural import Dense, Network, train
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> net = Network([Dense(8, "tanh"), Dense(2)], 2)
    >>> found = train(net, X, [0, 1, 1, 0], learning_rate=0.05, max_iter=200, random_state=1)
    >>> found.predict(X).argmax(axis=1).tolist()
    [0, 1, 1, 0]
    """
    loss = loss_of(loss)
    rows, target = network.rows(X, dtype), _target(loss, y, dtype)
    if len(rows) != len(target):
        raise DataError(f"there are {len(rows)} rows and {len(target)} targets")
    loss.check(network.output_shape, target)
    for name, given in (("X", rows), ("y", target)):
        if not np.isfinite(given).all():
            raise DataError(f"{name} has cells that are not finite; fill them or leave rows out")
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    start = parameters.astype(dtype) if parameters is not None else None
    if start is None:
        start = network.initial(generator(random_state), init=init, dtype=dtype)
    schedule = learning_rate if callable(learning_rate) else constant(learning_rate)
    trainer = _trainer_of(engine, device)(
        network,
        start,
        loss,
        rule_of(solver),
        penalty=penalty,
        largest_norm=max_norm,
        frozen=frozen,
        random_state=random_state,
    )
    slots = Slots(rows, target, weights, shuffle=shuffle)
    held_out = _held_out(network, loss, validation, dtype)
    found = Training(network, start, loss, baseline=_baseline(loss, target, weights))
    found.findings += input_findings(rows)
    loop = Loop(
        trainer,
        rows,
        target,
        slots,
        found,
        schedule,
        batch_size,
        held_out,
        n_iter_no_change=n_iter_no_change,
        tol=tol,
        checkpoint=None if checkpoint is None else Path(checkpoint),
    )
    loop.resume()
    with Crew(n_jobs) as crew, np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        while loop.epoch < max_iter and not loop.ended:
            loop.make_epoch(crew)
            if found.stopped == "loss is not finite":
                break
            if callback is not None and callback(found):
                found.stopped = "callback"
            loop.keep()
    loop.end()
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found.findings += _findings(found, rows, target)
    for each in found.findings:
        warnings.warn(each, GnomonWarning, stacklevel=2)
    return found


def _trainer_of(engine: str, device: str) -> Callable[..., Trainer]:
    if engine == "own":
        return Trainer
    if engine != "torch":
        raise DataError(f"engine is 'own' or 'torch', not {engine!r}")
    from gnomon.neural.torch_engine import TorchTrainer

    return partial(TorchTrainer, device=device)


def _target(loss: Loss, y: Any, dtype: Any) -> np.ndarray:
    y = np.asarray(y)
    if isinstance(loss, CrossEntropy) and y.ndim == 1:
        if y.dtype.kind not in "iub" or (len(y) and y.min() < 0):
            raise DataError("classes are codes 0, 1, 2, ...: whole numbers that are not negative")
        return y.astype(np.intp)
    return y.astype(dtype)


def _held_out(network: Network, loss: Loss, validation: Any, dtype: Any) -> Any:
    if validation is None:
        return None
    rows, target = network.rows(validation[0], dtype), _target(loss, validation[1], dtype)
    if not len(rows):
        raise DataError("there are no validation rows")
    loss.check(network.output_shape, target)
    return rows, target, None


def _baseline(loss: Loss, target: np.ndarray, weights: np.ndarray | None) -> float:
    if isinstance(loss, CrossEntropy) and target.ndim == 1:
        counts = np.bincount(target, weights)
        return float(1 - counts.max() / counts.sum())
    flat = target.reshape(len(target), -1)
    mean = np.average(flat, axis=0, weights=weights)
    return float(np.average((flat - mean) ** 2, axis=0, weights=weights).sum())


def _findings(found: Training, rows: np.ndarray, target: np.ndarray) -> list[str]:
    told = course_findings(found.losses, found.validation_losses, found.validation_errors)
    if found.stopped == "loss is not finite":
        cause = "the inputs are not scaled" if found.findings else "the step is too large"
        told.append(
            f"training stopped in epoch {found.n_iter + 1}: the loss is not finite, most likely "
            f"because {cause}; the parameters are those of the epoch before"
        )
    told += unit_findings(found.network, found.parameters, rows)
    return told + gradient_findings(found.network, found.parameters, rows, target, found.loss)


RECORDED = ("losses", "errors", "validation_losses", "validation_errors", "learning_rates")


def _write(path: Path, loop: Loop) -> None:
    """Write a checkpoint, whole or not at all."""
    trainer, found = loop.trainer, loop.found
    rule = vars(trainer.rule)
    arrays: dict[str, Any] = {
        f"rule_{key}": value for key, value in rule.items() if isinstance(value, np.ndarray)
    }
    if loop.best_flat is not None:
        arrays["best"] = loop.best_flat
    told = {
        **_identity(loop),
        "values": {k: v for k, v in rule.items() if isinstance(v, (int, float))},
        "epoch": loop.epoch,
        "best": loop.best,
        "waited": loop.waited,
        "stopped": found.stopped,
        **{name: getattr(found, name) for name in RECORDED},
    }
    beside = path.with_name(path.name + ".part")
    with beside.open("wb") as file:
        np.savez(file, parameters=trainer.parameters.flat, told=json.dumps(told), **arrays)
    os.replace(beside, path)


def _identity(loop: Loop) -> dict[str, Any]:
    """What a checkpoint must have in common with the training that goes on from it."""
    return {
        "network": loop.trainer.network.as_dict(),
        "rule": type(loop.trainer.rule).__name__,
        "seed": loop.trainer.random_state,
        "format": FORMAT,
    }


def _resume(path: Path, loop: Loop) -> None:
    """Go on from a checkpoint, where there is one."""
    if not path.exists():
        if not path.parent.is_dir():
            raise DataError(f"there is no folder {path.parent} for the checkpoint; make it first")
        return
    trainer, found = loop.trainer, loop.found
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        told = json.loads(str(arrays["told"]))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        raise DataError(
            f"{path} is no checkpoint, or it is damaged; remove it to start anew"
        ) from None
    for key, value in _identity(loop).items():
        if told.get(key) != json.loads(json.dumps(value)):
            raise DataError(
                f"the checkpoint {path} is of another {key}; remove it to start anew, or choose "
                "another file"
            )
    flat = arrays["parameters"]
    if flat.shape != trainer.parameters.flat.shape or flat.dtype != trainer.parameters.flat.dtype:
        raise DataError(f"the checkpoint {path} holds {flat.dtype} numbers of shape {flat.shape}")
    trainer.parameters.flat[:] = flat
    for key, value in told["values"].items():
        setattr(trainer.rule, key, value)
    for name, value in arrays.items():
        if name.startswith("rule_"):
            setattr(trainer.rule, name.removeprefix("rule_"), value)
    loop.best_flat = arrays.get("best")
    loop.epoch, loop.best, loop.waited = told["epoch"], told["best"], told["waited"]
    for name in RECORDED:
        setattr(found, name, told.get(name, []))
    if told["stopped"] != "callback":
        found.stopped = told["stopped"]
