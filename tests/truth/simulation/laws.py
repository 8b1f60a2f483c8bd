"""The laws by which tables are drawn; each gives numbers of mean zero and about unit spread."""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

PER_GROUP = 5
CORRELATION = 0.7


def normal(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(size=n)


def skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.exponential(size=n) - 1


def heavy(rng: np.random.Generator, n: int) -> np.ndarray:
    """Student's t of three degrees of freedom: its fourth moment is infinite."""
    return rng.standard_t(3, size=n) / np.sqrt(3)


def discrete(rng: np.random.Generator, n: int) -> np.ndarray:
    return (rng.poisson(1.0, size=n) - 1).astype(float)


def grouped(rng: np.random.Generator, n: int) -> np.ndarray:
    """Five rows after each other share half of the variance; jobs are told the groups."""
    common = np.repeat(rng.normal(size=-(-n // PER_GROUP)), PER_GROUP)[:n]
    return np.sqrt(0.5) * (common + rng.normal(size=n))


def autocorrelated(rng: np.random.Generator, n: int) -> np.ndarray:
    """Autoregressive of order one; jobs are told the time."""
    steps = rng.normal(size=n) * np.sqrt(1 - CORRELATION**2)
    steps[0] = rng.normal()
    return lfilter([1.0], [1.0, -CORRELATION], steps)


def uniform(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.sqrt(3) * (2 * rng.random(n) - 1)


def contaminated(rng: np.random.Generator, n: int) -> np.ndarray:
    """A tenth of the values spreads three times as far."""
    return rng.normal(size=n) * np.where(rng.random(n) < 0.1, 3, 1) / np.sqrt(1.8)


LAWS = {
    "normal": normal,
    "skewed": skewed,
    "heavy-tailed": heavy,
    "discrete": discrete,
    "grouped": grouped,
    "autocorrelated": autocorrelated,
}

INDEPENDENT = ("normal", "skewed", "heavy-tailed", "discrete")
# further laws for functions of independent rows, which say nothing of the last two
MORE_LAWS = LAWS | {"uniform": uniform, "contaminated": contaminated}
FOR_INDEPENDENT = (*INDEPENDENT, "uniform", "contaminated")


def columns(law: str, rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """A block of independent columns that follow a law; shape (n, d)."""
    return np.column_stack([LAWS[law](rng, n) for _ in range(d)])


def as_dict(block: np.ndarray, **others: object) -> dict[str, list]:
    """A table of columns x0, x1 ... and others by name."""
    named = {f"x{j}": column.tolist() for j, column in enumerate(block.T)}
    return named | {name: np.asarray(values).tolist() for name, values in others.items()}
