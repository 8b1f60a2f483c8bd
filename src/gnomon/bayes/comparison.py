"""Generative against discriminative learners on the same rows.

A generative learner models p(x | class) and turns it round by Bayes' rule; a discriminative one
models p(class | x) and spends nothing on how x looks. With few rows the generative one's stronger
assumptions help; with many rows they hurt wherever they are wrong, so that the curves of their
errors often cross. Pairs: naive Bayes and logistic regression, a Gaussian classifier and a support
vector machine, a hidden Markov model and a conditional random field.

Texts: 000c 14.2 · 004 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from gnomon.contract.estimate import Estimate
from gnomon.contract.result import Result
from gnomon.evaluate.comparison import corrected_standard_error
from gnomon.evaluate.curves import SHARES, Curve, learning_curve_estimates


@dataclass(repr=False, eq=False)
class GenerativeVersusDiscriminative(Result):
    """Errors of the two learners against the number of training rows, on the same splits.

    Attributes
    ----------
    generative, discriminative : Curve
    sizes : list of int
    differences : list of Estimate
        Error of the generative learner less that of the other, with an interval that is corrected
        for splits of the same rows.
    """

    generative: Curve
    discriminative: Curve
    sizes: list[int]
    differences: list[Estimate]

    @property
    def crossing(self) -> float | None:
        """Rows from which on the discriminative learner errs less, by interpolation in log rows.

        None where it never does, or where the generative learner is never ahead before.
        """
        gaps = np.array([figure.value for figure in self.differences])
        logs = np.log(self.sizes)
        for i in range(len(gaps) - 1):
            if gaps[i] < 0 and (gaps[i + 1 :] > 0).all():
                share = gaps[i] / (gaps[i] - gaps[i + 1])
                return float(np.exp(logs[i] + share * (logs[i + 1] - logs[i])))
        return None

    def _title(self):
        return "Generative against discriminative: error by number of training rows"

    def _columns(self):
        return {
            "rows": self.sizes,
            "generative": self.generative.lines["validation"],
            "discriminative": self.discriminative.lines["validation"],
            "difference": self.differences,
        }

    def _remarks(self):
        if self.crossing is None:
            return ["The curves do not cross in this range"]
        return [f"The discriminative learner is ahead from about {self.crossing:,.0f} rows on"]


def compare_generative(
    generative: Any,
    discriminative: Any,
    X: Any,
    y: Any,
    *,
    sizes: Sequence[float] = SHARES,
    cv: Any = 10,
    confidence_level: float = 0.95,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> GenerativeVersusDiscriminative:
    """Learning curves of a generative and a discriminative classifier on the same splits.

    Parameters
    ----------
    generative, discriminative : classifiers
        Such as `NaiveBayes` and `gnomon.linear.LogisticRegression`.
    X : array-like, data frame or Table of shape (n, n_columns)
    y : array-like of shape (n,) or str
    sizes : sequence of float, default=(0.1, 0.2, 0.35, 0.5, 0.75, 1.0)
        Numbers of training rows, or shares of those that a split has.
    cv : int, Splits, splitter or list of pairs, default=10
    confidence_level : float, default=0.95
    random_state : int or None, default=0
    n_jobs : int or None, default=None

    Returns
    -------
    comparison : GenerativeVersusDiscriminative

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.bayes import GaussianClassifier, compare_generative
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(200) % 2
    >>> X = rng.normal(size=(200, 2)) + y[:, None]
    >>> found = compare_generative(
    ...     GaussianClassifier(shared=True), GaussianClassifier(), X, y, sizes=[20, 160], cv=5
    ... )
    >>> found.sizes
    [20, 160]
    """
    shared = dict(
        sizes=sizes,
        cv=cv,
        confidence_level=confidence_level,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    one = learning_curve_estimates(generative, X, y, measures="error", **shared)
    other = learning_curve_estimates(discriminative, X, y, measures="error", **shared)
    ours, theirs = one.samples["validation"], other.samples["validation"]
    test_share = min(point.splits.test_share for point in one.points)
    differences = [
        _difference(a - b, test_share, confidence_level) for a, b in zip(ours, theirs, strict=True)
    ]
    return GenerativeVersusDiscriminative(one, other, [int(n) for n in one.x], differences)


def _difference(gaps: np.ndarray, test_share: float, confidence_level: float) -> Estimate:
    """Mean of paired differences over splits, with the corrected interval."""
    value = float(gaps.mean())
    error = corrected_standard_error(gaps, test_share)
    half = float(scipy.stats.t.ppf((1 + confidence_level) / 2, len(gaps) - 1)) * error
    return Estimate(value, value - half, value + half, confidence_level, error, "corrected t")
