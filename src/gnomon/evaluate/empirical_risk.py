"""Risk minimisation: the exact 0-1 minimiser of small linear problems, and choices that pay for
complexity.

Empirical risk minimisation takes the hypothesis of fewest training errors. For hyperplanes the
count is piecewise constant in the weights, so no gradient helps; here it is minimised exactly, by
going through all labellings that hyperplanes realise, or by a mixed-integer programme. It is
consistent for families of finite VC dimension; for a given number of rows, structural risk
minimisation chooses among nested families by training error plus a penalty for the dimension.

Texts: 002 (empirical risk) · 004 3.1, 10.1 (eqs. 10.2 to 10.4) · 003 2.5.7 (simplicity as a prior).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, special

from gnomon.contract.estimate import finite_column
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate.bounds import check_at_least
from gnomon.evaluate.growth import dichotomies, growth_function, lifted_points, separating
from gnomon.evaluate.intake import label_column, number_block, same_length
from gnomon.evaluate.vc_bounds import VC_FORMS, vc_gap

MOST_PROBLEMS = 20_000  # some seconds: 140 rows of one column, 30 of two
# The M of big-M: larger hides violations in the solver's tolerance of 1e-6.
STEEPEST_PROGRAMME = 1e4


@dataclass(frozen=True, repr=False, eq=False)
class MinimalRisk(Result):
    """A hyperplane of fewest training errors.

    Attributes
    ----------
    n_errors : int
        Training errors of every minimiser.
    n_rows : int
    classes : tuple
        Negative and positive class.
    coef : ndarray of shape (n_columns,)
    intercept : float
        One minimiser: predict the positive class where ``rows @ coef + intercept > 0``.
    n_minimizers : int or None
        How many labellings of the rows have so few errors; None where they were not counted.
    """

    n_errors: int
    n_rows: int
    classes: tuple[Any, Any]
    coef: np.ndarray
    intercept: float
    n_minimizers: int | None

    @property
    def risk(self) -> float:
        """Share of training rows that are wrong."""
        return self.n_errors / self.n_rows

    def predict(self, rows: Any) -> np.ndarray:
        """The class of rows of shape (n, n_columns) by the minimiser."""
        positive = number_block(rows, "rows") @ self.coef + self.intercept > 0
        return np.array(self.classes)[positive.astype(int)]

    def _title(self) -> str:
        return f"Fewest training errors of a hyperplane: {self.n_errors} of {self.n_rows:,} rows"

    def _columns(self) -> dict[str, list[Any]]:
        names = [f"w{j}" for j in range(len(self.coef))]
        return {"weight": [*names, "offset"], "value": [*self.coef.tolist(), self.intercept]}

    def _remarks(self) -> list[str]:
        if self.n_minimizers is None:
            return ["other hyperplanes may be as good; they were not counted"]
        if self.n_minimizers == 1:
            return ["no other labelling of these rows by a hyperplane is as good"]
        return [f"{self.n_minimizers} labellings of these rows are as good: not unique"]


def minimize_empirical_risk(
    rows: Any, y: Any, *, count: bool | None = None, time_limit: float = 60.0
) -> MinimalRisk:
    """Find the hyperplane of fewest training errors, exactly, for small problems.

    min_w sum_i [y_i (w x_i + b) <= 0]. To minimise it is NP-hard in the number of columns; use it
    to judge surrogate losses on small problems, not as a classifier.

    Parameters
    ----------
    rows : array-like of shape (n, n_columns)
    y : array-like of shape (n,)
        Two classes.
    count : bool, default=None
        Go through all labellings by hyperplanes and count the minimisers; by default where that
        takes some seconds (140 rows of one column, 30 of two). Otherwise a mixed-integer programme
        (SciPy's ``milp``) finds one.
    time_limit : float, default=60.0
        Seconds for the programme; beyond them an error is raised, as the minimum is not proven.

    Returns
    -------
    found : MinimalRisk

    Examples
    --------
    >>> xor = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> found = minimize_empirical_risk(xor, [0, 1, 1, 0])
    >>> found.n_errors, found.n_minimizers
    (1, 4)
    """
    rows = number_block(rows, "rows")
    rows = rows.reshape(len(rows), -1)
    y = label_column(y, "y")
    same_length(y, rows, "rows")
    classes = np.unique(y)
    if len(classes) != 2:
        raise DataError(f"y has {len(classes)} classes; a hyperplane is for two")
    positive = y == classes[1]
    if count is None:
        sizes = range(1, len(rows) + 1)
        problems = sum(growth_function(n, "hyperplanes", rows.shape[1]) for n in sizes)
        count = problems <= MOST_PROBLEMS
    if count:
        labels, n_minimizers = _by_counting(rows, positive)
        weights = separating(lifted_points(rows, True), labels)
    else:
        weights, n_minimizers = _by_programme(rows, positive, time_limit), None
    assert weights is not None
    coef, intercept = _unscaled(rows, weights)
    wrong = int(((rows @ coef + intercept > 0) != positive).sum())
    names = tuple(each.item() if hasattr(each, "item") else each for each in classes)
    return MinimalRisk(wrong, len(rows), names, coef, intercept, n_minimizers)


def _by_counting(rows: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, int]:
    labelings = dichotomies(rows, "hyperplanes").labelings
    errors = (labelings != positive).sum(axis=1)
    return labelings[errors.argmin()], int((errors == errors.min()).sum())


def _by_programme(rows: np.ndarray, positive: np.ndarray, time_limit: float) -> np.ndarray:
    """Minimise sum e_i with y_i (w x_i + b) + M e_i >= 1, e_i of 0 or 1, weights bounded."""
    lifted = lifted_points(rows, True)
    n, k = lifted.shape
    sign = np.where(positive, 1.0, -1.0)
    enough = 1 + STEEPEST_PROGRAMME * np.abs(lifted).sum(axis=1).max()
    rows_of_constraints = np.column_stack([sign[:, None] * lifted, enough * np.eye(n)])
    found = optimize.milp(
        np.concatenate([np.zeros(k), np.ones(n)]),
        constraints=optimize.LinearConstraint(rows_of_constraints, lb=1.0),
        integrality=np.concatenate([np.zeros(k), np.ones(n)]),
        bounds=optimize.Bounds(
            np.concatenate([np.full(k, -STEEPEST_PROGRAMME), np.zeros(n)]),
            np.concatenate([np.full(k, STEEPEST_PROGRAMME), np.ones(n)]),
        ),
        options={"time_limit": time_limit},
    )
    if found.status != 0:
        raise DataError(
            f"no proven minimum of {n} rows within {time_limit:g} s; take fewer rows or columns, "
            "or more time"
        )
    # rounding of the programme's switches may hide errors: separate the rows it calls right
    right = found.x[k:] < 0.5
    weights = separating(lifted[right], positive[right])
    return found.x[:k] if weights is None else weights


def _unscaled(rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights of the rows themselves from those of rows of unit spread."""
    center = rows.mean(axis=0)
    spread = float(np.abs(rows - center).max()) or 1.0
    coef = weights[:-1] / spread
    return coef, float(weights[-1] - coef @ center)


@dataclass(frozen=True, repr=False, eq=False)
class StructuralChoice(Result):
    """Nested families with training error, penalty and their sum.

    Attributes
    ----------
    names : list of str
    errors : ndarray
        Training error of the best member of each family.
    dimensions : ndarray
        Their VC dimensions.
    penalties : ndarray
    form : str
        Which penalty.
    """

    names: list[str]
    errors: np.ndarray
    dimensions: np.ndarray
    penalties: np.ndarray
    form: str

    @property
    def bounds(self) -> np.ndarray:
        """Training error plus penalty."""
        return self.errors + self.penalties

    @property
    def best(self) -> str:
        """The family of the smallest sum; the simpler one of two that are equal."""
        return self.names[int(self.bounds.argmin())]

    def _title(self) -> str:
        return f"Structural risk minimisation ({self.form} penalty) chooses {self.best}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "family": self.names,
            "dimension": self.dimensions.tolist(),
            "training error": self.errors.tolist(),
            "penalty": self.penalties.tolist(),
            "sum": self.bounds.tolist(),
        }

    def _remarks(self) -> list[str]:
        return ["a bound chooses families that are too small; cross-validation is sharper"]


def structural_risk_minimization(
    errors: ArrayLike,
    dimensions: ArrayLike,
    n: int,
    *,
    form: str = "short",
    delta: float = 0.05,
    names: Sequence[str] | None = None,
) -> StructuralChoice:
    """Choose among nested families by training error plus a penalty for the VC dimension.

    Minimises R_emp + sqrt(h / n) (004 eq. 10.4, logarithms dropped) or R_emp plus the gap of a full
    VC bound. Both terms are in the result: the first falls and the second rises with the family.

    Parameters
    ----------
    errors : array-like of shape (k,)
        Smallest training error within each family.
    dimensions : array-like of shape (k,)
        VC dimensions, not falling.
    n : int
        Training rows.
    form : str, default="short"
        ``"short"``, or a form of `vc_gap`, such as ``"vapnik"``.
    delta : float, default=0.05
        For the full forms.
    names : sequence of str, default=None

    Returns
    -------
    choice : StructuralChoice

    Examples
    --------
    >>> structural_risk_minimization([0.30, 0.12, 0.10], [1, 3, 50], n=500).best
    'h = 3'
    """
    errors = finite_column(errors, "errors")
    dimensions = np.asarray(dimensions, dtype=np.float64)
    if dimensions.shape != errors.shape:
        raise DataError(f"{len(errors)} errors and {dimensions.size} dimensions")
    if (np.diff(dimensions) < 0).any():
        raise DataError("the families must be nested: dimensions must not fall")
    check_at_least("n", n, 1)
    if form == "short":
        penalties = np.sqrt(dimensions / n)
    elif form in VC_FORMS:
        penalties = np.array([vc_gap(n, h, delta, form) for h in dimensions])
    else:
        raise DataError(f"form={form!r} is none of short, {', '.join(VC_FORMS)}")
    given = [f"h = {h:g}" for h in dimensions] if names is None else [str(each) for each in names]
    if len(given) != len(errors):
        raise DataError(f"{len(given)} names for {len(errors)} families")
    return StructuralChoice(given, errors, dimensions, penalties, form)


def occam_weights(
    log_likelihoods: ArrayLike, complexities: ArrayLike, bits: float = 1.0
) -> np.ndarray:
    """Posterior probabilities of hypotheses under a prior that halves with every bit of complexity.

    P(h | data) is proportional to exp(log-likelihood) 2^(-bits * complexity) (003 2.5.7): of two
    hypotheses that explain the data alike, the simpler one counts more. For Bayesian combination
    of models.

    Parameters
    ----------
    log_likelihoods : array-like of shape (k,)
        In nats.
    complexities : array-like of shape (k,)
        Such as the depth of a tree.
    bits : float, default=1.0
        Bits that one unit of complexity costs; 0 makes all hypotheses equally likely beforehand.

    Returns
    -------
    weights : ndarray of shape (k,)
        They sum to one.

    Examples
    --------
    >>> occam_weights([-3.0, -3.0], [1, 2]).round(4)
    array([0.6667, 0.3333])
    """
    log_likelihoods = finite_column(log_likelihoods, "log_likelihoods")
    complexities = finite_column(complexities, "complexities")
    same_length(log_likelihoods, complexities, "complexities")
    log_weights = log_likelihoods - bits * np.log(2) * complexities
    return np.exp(log_weights - special.logsumexp(log_weights))
