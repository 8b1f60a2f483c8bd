"""Impurities: how mixed the targets in a node are, from sums that can be added and subtracted.

A split is worth  W I(node) - sum_b W_b I(branch b),  W the weight and I one of

* Gini index       1 - sum_k p_k^2
* entropy          -sum_k p_k log2 p_k   (in bits; times ln 2 in nats)
* smoothed         the same of p_k = (w_k + l/K) / (W + l), as if l more rows were evenly divided
* misclassification  1 - max_k p_k
* cost             sum_{k,m} L_km p_k p_m  for a matrix L of the costs of calling class k class m
* variance         of the target, added over the targets.

Texts: 000a 2.2.2 · 001 11.2-11.4 · 003 2.3.2.2 · 004 6.1.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Impurity(Protocol):
    """What a grower asks of an impurity; sums have one entry per statistic on their last axis."""

    def addends(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Each row's part of the sums: (n, n_sums)."""
        ...

    def total(self, sums: np.ndarray) -> np.ndarray:
        """Weight x impurity of sums (..., n_sums)."""
        ...

    def value(self, sums: np.ndarray) -> np.ndarray:
        """What a leaf of these sums predicts."""
        ...

    def is_pure(self, y: np.ndarray) -> bool: ...

    def level_scores(self, sums: np.ndarray) -> np.ndarray | None:
        """A score by which the best two sets of levels are neighbours; None where none is known."""
        ...


class ClassImpurity:
    """Sums are the weights of the classes."""

    def __init__(self, n_classes: int):
        self.n_classes = n_classes

    def addends(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        sums = np.zeros((len(y), self.n_classes))
        sums[np.arange(len(y)), y] = weights
        return sums

    def value(self, sums: np.ndarray) -> np.ndarray:
        return sums / sums.sum()

    def is_pure(self, y: np.ndarray) -> bool:
        return bool((y == y[0]).all())

    def level_scores(self, sums: np.ndarray) -> np.ndarray | None:
        """The share of the second of two classes; with more classes no order is known."""
        classes = np.flatnonzero(sums.any(axis=0))
        if len(classes) > 2:
            return None
        return sums[:, classes[-1]] / sums.sum(axis=1)

    def total(self, sums: np.ndarray) -> np.ndarray:
        raise NotImplementedError


class Gini(ClassImpurity):
    def total(self, sums):
        weight = sums.sum(axis=-1)
        return weight - ratio((sums**2).sum(axis=-1), weight)


class Entropy(ClassImpurity):
    """Entropy in bits, smoothed by `smoothing` more rows that are evenly divided."""

    def __init__(self, n_classes: int, smoothing: float = 0.0):
        super().__init__(n_classes)
        self.smoothing = smoothing

    def total(self, sums):
        weight = sums.sum(axis=-1)
        smoothed = sums + self.smoothing / self.n_classes
        all_in_all = weight + self.smoothing
        shares = ratio(smoothed, all_in_all[..., None])
        logarithms = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
        return -weight * (shares * logarithms).sum(axis=-1)


class Misclassification(ClassImpurity):
    def total(self, sums):
        return sums.sum(axis=-1) - sums.max(axis=-1)


class CostGini(ClassImpurity):
    """Gini index in which mistaking class k for class m counts costs[k, m]."""

    def __init__(self, costs: np.ndarray):
        super().__init__(len(costs))
        self.costs = costs

    def total(self, sums):
        weight = sums.sum(axis=-1)
        return ratio(((sums @ self.costs) * sums).sum(axis=-1), weight)

    def level_scores(self, sums):
        return None


class FactoredClasses(ClassImpurity):
    """An impurity of class weights times factors; leaves keep the plain shares."""

    def __init__(self, impurity: ClassImpurity, factors: np.ndarray):
        super().__init__(impurity.n_classes)
        self.impurity = impurity
        self.factors = factors

    def total(self, sums):
        return self.impurity.total(sums * self.factors)


def as_columns(y: np.ndarray) -> np.ndarray:
    """Targets side by side, also of no rows."""
    return y[:, None] if y.ndim == 1 else y


class SquaredError:
    """Sums are the weight, the weighted targets and their squares, about a fixed centre."""

    def __init__(self, y: np.ndarray, weights: np.ndarray):
        self.center = weights @ as_columns(y) / weights.sum()

    def addends(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        centered = as_columns(y) - self.center
        weighted = centered * weights[:, None]
        return np.column_stack([weights, weighted, weighted * centered])

    def total(self, sums):
        weight = sums[..., :1]
        n_targets = (sums.shape[-1] - 1) // 2
        first, second = sums[..., 1 : 1 + n_targets], sums[..., 1 + n_targets :]
        return np.maximum(second - ratio(first**2, weight), 0.0).sum(axis=-1)

    def value(self, sums: np.ndarray) -> np.ndarray:
        n_targets = (len(sums) - 1) // 2
        return sums[1 : 1 + n_targets] / sums[0] + self.center

    def is_pure(self, y: np.ndarray) -> bool:
        return bool((y == y[0]).all())

    def level_scores(self, sums: np.ndarray) -> np.ndarray | None:
        """The mean of the levels, where there is one target."""
        if sums.shape[1] > 3:
            return None
        return sums[:, 1] / sums[:, 0]


def ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """numerator / denominator, 0 where nothing is divided by nothing."""
    shape = np.broadcast_shapes(np.shape(numerator), np.shape(denominator))
    return np.divide(numerator, denominator, out=np.zeros(shape), where=denominator > 0)


def class_impurity(
    criterion: str, n_classes: int, smoothing: float, costs: np.ndarray | None
) -> ClassImpurity:
    """The impurity that the parameters of a classification tree name."""
    if costs is not None and n_classes > 2:
        return CostGini(costs)
    impurity: ClassImpurity
    if criterion == "gini":
        impurity = Gini(n_classes)
    elif criterion == "misclassification":
        impurity = Misclassification(n_classes)
    else:
        impurity = Entropy(n_classes, smoothing)
    return impurity if costs is None else FactoredClasses(impurity, costs.sum(axis=1))
