"""Shapes drawn at random, and the data that have them.

A shape is a small record of numbers and words, so that a case can be repeated from the record
alone: the same shape and seed give the same data in any process.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

STRUCTURES = ("plain", "plain", "correlated", "duplicated", "integers")
TEST_SHARE = 0.2
MOST_TEST_ROWS = 5000


@dataclass(frozen=True)
class Limits:
    """Which shapes a method is given: the largest that both sides finish within the time limit.

    Attributes
    ----------
    rows, columns, groups : int
        The most of each; groups are classes or clusters.
    cells : int
        The most rows times columns.
    sparse, weighted : bool
        Whether the method takes sparse rows, and sample weights.
    least_columns : int
    """

    rows: int = 1_000_000
    columns: int = 10_000
    groups: int = 100
    cells: int = 10_000_000
    sparse: bool = False
    weighted: bool = False
    least_columns: int = 2


@dataclass(frozen=True)
class Shape:
    """One table: its sizes, how it is stored, and how its columns hang together."""

    rows: int
    columns: int
    groups: int
    dtype: str
    order: str
    density: float | None
    weighted: bool
    structure: str
    seed: int
    real: str = ""

    def __str__(self) -> str:
        words = [f"{self.rows:,} x {self.columns:,}", f"{self.groups} groups", self.dtype]
        words += [f"sparse {self.density:.2g}"] if self.density else [f"{self.order} order"]
        words += ["weighted"] * self.weighted
        words += [self.structure] if self.structure != "plain" else []
        return " ".join([f"{self.real}:"] * bool(self.real) + [", ".join(words)])

    def record(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Data:
    """What both sides get; test rows are for the quality that is compared, and are never timed."""

    X: Any
    y: np.ndarray
    numbers: np.ndarray
    weights: np.ndarray | None
    test_X: Any
    test_y: np.ndarray
    test_numbers: np.ndarray
    groups: int


def between(rng: np.random.Generator, low: float, high: float) -> int:
    """A whole number whose logarithm is uniform."""
    return round(math.exp(rng.uniform(math.log(low), math.log(max(high, low)))))


def draw(limits: Limits, method: str, seed: int, number: int) -> Shape:
    """Shape ``number`` of a method: of the seed and the method's name, and of nothing else."""
    rng = np.random.default_rng([seed, number, *method.encode()])
    columns = between(rng, limits.least_columns, min(limits.columns, limits.cells // 300))
    rows = between(rng, 300, min(limits.rows, limits.cells // columns))
    groups = between(rng, 2, min(limits.groups, rows // 20))
    sparse = limits.sparse and columns >= 50 and rng.random() < 0.3
    return Shape(
        rows=rows,
        columns=columns,
        groups=groups,
        dtype=("float32", "float64")[rng.random() < 0.6],
        order="C" if sparse or rng.random() < 0.7 else "F",
        density=float(np.exp(rng.uniform(np.log(0.005), np.log(0.1)))) if sparse else None,
        weighted=bool(limits.weighted and rng.random() < 0.25),
        structure="plain" if sparse else str(rng.choice(STRUCTURES)),
        seed=int(rng.integers(2**31)),
    )


def make(shape: Shape, folder: Path | None = None) -> Data:
    """The data of a shape: drawn, or rows of a real set of the folder."""
    rng = np.random.default_rng(shape.seed)
    n_test = int(min(MOST_TEST_ROWS, max(100, TEST_SHARE * shape.rows)))
    if shape.real:
        from benchmarks.sweep.real import read

        X, y, numbers = read(shape.real, folder)
        kept = rng.permutation(X.shape[0])
        X, y, numbers = X[kept], np.unique(y[kept], return_inverse=True)[1], numbers[kept]
        n_test = min(n_test, X.shape[0] - shape.rows)
    else:
        X, y, numbers = generated(shape, shape.rows + n_test, rng)
    n = shape.rows
    train, test = X[:n], X[n : n + n_test]
    if shape.density is None:
        train = np.array(train, dtype=shape.dtype, order=shape.order)
        test = np.ascontiguousarray(test, dtype=shape.dtype)
    else:
        train, test = train.astype(shape.dtype), test.astype(shape.dtype)
    weights = rng.uniform(0.5, 2.0, n) if shape.weighted else None
    return Data(
        train, y[:n], numbers[:n], weights, test, y[n:][:n_test], numbers[n:][:n_test], shape.groups
    )


def generated(shape: Shape, n: int, rng: np.random.Generator):
    """Rows around ``groups`` centers, classes that mostly follow them, and a linear target."""
    d, k = shape.columns, shape.groups
    group = rng.integers(0, k, n)
    if shape.density is not None:
        X = scipy.sparse.random(n, d, shape.density, format="csr", rng=rng, dtype=np.float64)
        slopes = rng.normal(size=(d, k))
        scores = np.asarray(X @ slopes)
        y = (scores / max(scores.std(), 1e-12) * 2 + rng.gumbel(size=scores.shape)).argmax(axis=1)
    else:
        spread = 3.0 / math.sqrt(d)
        centers = rng.normal(0, spread, (k, d)).astype(np.float32)
        X = rng.standard_normal((n, d), dtype=np.float32)
        if shape.structure == "correlated":
            factors = max(2, d // 10)
            X *= 0.3
            mix = rng.normal(size=(factors, d)).astype(np.float32) / math.sqrt(factors)
            X += rng.standard_normal((n, factors), dtype=np.float32) @ mix
        X += 2 * centers[group]
        if shape.structure == "duplicated":
            X[:, d // 2 :] = X[:, : d - d // 2]
        if shape.structure == "integers":
            np.round(2 * X, out=X)
        X = X.astype(np.float64)
        y = np.where(rng.random(n) < 0.1, rng.integers(0, k, n), group)
    # every class occurs among the rows that are learned from, so that both sides see all of them
    y[: 2 * k] = np.tile(np.arange(k), 2)[: len(y)]
    used = rng.choice(d, min(d, 30), replace=False)
    signal = np.asarray(X[:, used] @ rng.normal(size=len(used))).ravel()
    numbers = signal + rng.normal(size=n) * 0.5 * max(signal.std(), 1e-6)
    return X, y, numbers
