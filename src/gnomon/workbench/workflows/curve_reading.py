"""Reading training curves: what the loss over the steps says of step size, units and penalty.

Too small a rate falls slowly to the end; a large one falls fast and stalls; too large a one
diverges; a right one drops quickly and then gains steadily. A curve that is flat from the start
means dead units or columns that were not scaled. Loss may fall with no change of error, so models
are not compared by loss when the error counts (000c 5, 16.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError

FEWEST_STEPS = 8  # a median for each eighth of the curve
FLAT = 0.01  # judgement: 1% of the start is noise of the eye, less is no change
RISEN = 1.05  # judgement: 5% above its least is a rise, not noise


class Reading(NamedTuple):
    """One thing that a curve says."""

    trouble: str
    seen: str
    remedy: str


@dataclass(repr=False)
class CurveReading(Result):
    """What training curves say.

    Attributes
    ----------
    readings : list of Reading
        The rate first, then units, error against loss, and the gap to other rows.
    best_step : int
        Where the validation loss (or the loss) is least.
    """

    readings: list[Reading]
    best_step: int

    @property
    def troubles(self) -> list[str]:
        """Names of the troubles; empty where the curves look right."""
        return [each.trouble for each in self.readings]

    def _title(self) -> str:
        return ", ".join(self.troubles) if self.readings else "the curves look right"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "trouble": self.troubles,
            "seen": [each.seen for each in self.readings],
            "remedy": [each.remedy for each in self.readings],
        }


def read_curves(
    loss: ArrayLike,
    *,
    validation: ArrayLike | None = None,
    error: ArrayLike | None = None,
    baseline_error: float | None = None,
) -> CurveReading:
    """Name the trouble that training curves show, with what to do.

    Rules of thumb on smoothed curves, not tests: look at the picture as well. Not for fewer than
    eight steps.

    Parameters
    ----------
    loss : array-like of shape (n_steps,)
        Training loss, such as ``model.history_.objective`` of what is minimised.
    validation : array-like of shape (n_steps,), default=None
        The loss on other rows.
    error : array-like of shape (n_steps,), default=None
        The error that counts, at the same steps.
    baseline_error : float, default=None
        The error of always naming the commonest class.

    Returns
    -------
    reading : CurveReading

    Examples
    --------
    >>> import numpy as np
    >>> read_curves(0.1 + np.exp(-np.arange(50) / 5)).troubles
    []
    >>> read_curves(1.0 + 0.01 * np.arange(50.0) ** 2).troubles
    ['rate far too large']
    """
    course = as_curve(loss, "loss")
    others = None if validation is None else as_curve(validation, "validation", len(course))
    wrong = None if error is None else as_curve(error, "error", len(course))
    readings = [read_rate(course)]
    if readings[0] is None or readings[0].trouble != "flat from the start":
        readings += [read_error(course, wrong), read_gap(course, others)]
    readings.append(read_units(wrong, baseline_error))
    judged = course if others is None else others
    finite = np.where(np.isfinite(judged), judged, np.inf)
    return CurveReading([each for each in readings if each is not None], int(finite.argmin()))


def as_curve(values: ArrayLike, name: str, length: int | None = None) -> np.ndarray:
    """A curve as numbers; NaN and infinity may end it."""
    curve = np.asarray(values, dtype=float)
    if curve.ndim != 1 or len(curve) < FEWEST_STEPS:
        raise DataError(f"{name} must be a list of {FEWEST_STEPS} steps or more")
    if length is not None and len(curve) != length:
        raise DataError(f"{name} has {len(curve)} steps, the loss {length}")
    if not np.isfinite(curve[0]):
        raise DataError(f"{name} begins with {curve[0]}: nothing can be read from it")
    return curve


def parts(curve: np.ndarray) -> np.ndarray:
    """Medians of eight stretches of a curve: noise is smoothed away."""
    return np.array([np.median(each) for each in np.array_split(curve, FEWEST_STEPS)])


def read_rate(loss: np.ndarray) -> Reading | None:
    """What the curve of the loss shows about the step size."""
    if not np.isfinite(loss).all():
        return Reading(
            "rate far too large",
            f"the loss is no number from step {int(np.argmin(np.isfinite(loss)))} on",
            "divide the rate by ten",
        )
    smooth = parts(loss)
    if np.ptp(loss) <= FLAT * max(abs(loss[0]), 1e-300):
        return Reading(
            "flat from the start",
            f"the loss stays within {np.ptp(loss):.2g} of {loss[0]:.4g}",
            "standardise the columns; look for units that are zero on all rows; start from "
            "smaller random weights or use a smaller rate",
        )
    fallen = loss[0] - smooth[-1]
    if fallen <= 0 or smooth[-1] > 2 * max(smooth.min(), 0.0) + 0.5 * abs(loss[0]):
        return Reading(
            "rate far too large",
            f"the loss ends at {smooth[-1]:.4g}, having begun at {loss[0]:.4g}",
            "divide the rate by ten",
        )
    early, late = smooth[2] - smooth[4], smooth[5] - smooth[7]
    if late > 0.1 * fallen and late > 0.5 * early:
        return Reading(
            "rate too small",
            f"the last quarter still brings {late / fallen:.0%} of all that was gained",
            "use a greater rate, or more steps: it may end well",
        )
    noise = np.median(np.abs(np.diff(loss[len(loss) // 2 :])))
    if loss[0] - smooth[0] > 0.8 * fallen and noise > 0.05 * fallen:
        return Reading(
            "rate too large",
            f"it fell fast, then stalled with steps of {noise:.2g} up and down",
            "let the rate shrink with the steps, or begin with a smaller one",
        )
    return None


def read_units(error: np.ndarray | None, baseline: float | None) -> Reading | None:
    """Whether everything is called one class."""
    if error is None or baseline is None:
        return None
    if np.abs(error[len(error) // 2 :] - baseline).max() > FLAT * max(baseline, FLAT):
        return None
    return Reading(
        "one class only",
        f"the error stays at {baseline:.4g}, that of naming the commonest class",
        "units may be dead: use a smaller rate, other starting weights, or more units",
    )


def read_error(loss: np.ndarray, error: np.ndarray | None) -> Reading | None:
    """Whether the loss gains where the error does not."""
    if error is None:
        return None
    smooth, wrong = parts(loss), parts(error)
    gained = (smooth[3] - smooth[-1]) / max(abs(smooth[3]), 1e-300)
    if gained < 0.1 or abs(wrong[3] - wrong[-1]) > FLAT * max(wrong[3], FLAT):
        return None
    return Reading(
        "loss without error",
        f"in the second half the loss fell by {gained:.0%}, the error not at all",
        "stop, and compare models by the error, not by the loss",
    )


def read_gap(loss: np.ndarray, validation: np.ndarray | None) -> Reading | None:
    """Whether other rows get worse while the training rows gain."""
    if validation is None:
        return None
    smooth, others = parts(loss), parts(validation)
    least = int(others.argmin())
    if others[-1] < RISEN * others[least] or smooth[-1] >= smooth[least]:
        return None
    return Reading(
        "overfitting",
        f"on other rows the loss has risen from {others[least]:.4g} to {others[-1]:.4g}",
        f"stop near step {int(validation.argmin())}, or use a greater penalty, which usually "
        "narrows the gap",
    )
