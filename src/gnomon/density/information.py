"""Information: content, entropy, divergence, mutual information, from probabilities or samples.

    J(x) = -log P(x),  H(P) = E[J],  D(P || Q) = E_P[J_Q - J_P] >= 0,
    I(X; Y) = H(Y) - H(Y | X) = D(P(x, y) || P(x) P(y))

in nats, or in bits with ``base=2``. 0 log 0 is 0; D is infinite where Q excludes what P allows.

Texts: 000c 15.2.1, 19.1.2 (the sum of log-likelihoods there lacks its 1/N) · 002 "Information
theory" (L5311-5647) · 004 7.5 (eq. 7.5 has a minus sign too many).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy import integrate, special
from scipy.spatial import KDTree

from gnomon.cluster.intake import label_codes
from gnomon.contract.estimate import finite_column
from gnomon.contract.result import Result
from gnomon.density.families import simplex
from gnomon.engine.errors import DataError, GnomonWarning

FEW_PER_CELL = 5  # the usual rule of the chi-square test: 5 expected in a cell
NEARLY_WHOLE = 1e-3  # judgement: an integral off by more shows wrong limits, not rough quadrature
UNDERFLOWN = 1e-30  # where q underflows to 0, p so small adds nothing to an integral


def information_content(probability: ArrayLike, base: float | None = None) -> Any:
    """-log P(x): great for what is improbable, additive for independent outcomes.

    Parameters
    ----------
    probability : float or array-like
    base : float, default=None
        2 for bits; nats by default.

    Returns
    -------
    information : float or ndarray

    Examples
    --------
    >>> information_content(0.125, base=2)
    3.0
    """
    p = np.asarray(probability, dtype=np.float64)
    if ((p < 0) | (p > 1)).any() or np.isnan(p).any():
        raise DataError("probabilities lie between 0 and 1")
    with np.errstate(divide="ignore"):
        found = -np.log(p) / _unit(base) + 0.0
    return float(found) if found.ndim == 0 else found


def entropy(probabilities: ArrayLike, base: float | None = None) -> float:
    """-sum p log p of a table of probabilities of any shape.

    Parameters
    ----------
    probabilities : array-like
        Zero or more each, 1 together. Counts of a sample: divide them by their sum (the estimate
        is then too small, by about (cells - 1) / (2 n) nats).
    base : float, default=None

    Returns
    -------
    entropy : float

    Examples
    --------
    >>> entropy([0.6, 0.1, 0.3], base=2)
    1.295461844238322
    """
    p = simplex(np.asarray(probabilities, dtype=np.float64).ravel(), "probabilities")
    return float(special.entr(p).sum()) / _unit(base)


def sample_entropy(values: Any, base: float | None = None, correct: bool = False) -> float:
    """Entropy of the frequencies of a sample of categories.

    Parameters
    ----------
    values : sequence
    base : float, default=None
    correct : bool, default=False
        Add Miller and Madow's (cells - 1) / (2 n), which removes most of the bias.

    Returns
    -------
    entropy : float

    Examples
    --------
    >>> sample_entropy("aabb", base=2)
    1.0
    """
    counts = np.bincount(_categories(values, "values")[1])
    found = float(special.entr(counts / counts.sum()).sum())
    if correct:
        found += (len(counts) - 1) / (2 * counts.sum())
    return found / _unit(base)


def differential_entropy(
    density: Callable[[float], float],
    low: float,
    high: float,
    base: float | None = None,
    *,
    points: Sequence[float] = (),
) -> float:
    """-integral p log p over an interval; negative where a density is narrow.

    Parameters
    ----------
    density : callable
        Of one number; its integral over the interval must be 1.
    low, high : float
        Where it lives; may be infinite.
    base : float, default=None
    points : sequence of float, default=()
        Places where it is large, which a wide interval may hide from quadrature.

    Returns
    -------
    entropy : float

    Examples
    --------
    >>> round(differential_entropy(lambda x: 2.0, 0, 0.5), 6)
    -0.693147
    """
    _require_whole(density, low, high, points)
    found = _integral(lambda x: special.entr(float(density(x))), low, high, points)
    return found / _unit(base)


def _integral(
    function: Callable[[float], float], low: float, high: float, points: Sequence[float]
) -> float:
    """By quadrature, piece by piece between the points."""
    edges = [low, *sorted(float(x) for x in points if low < x < high), high]
    return float(sum(integrate.quad(function, a, b, limit=500)[0] for a, b in pairwise(edges)))


def _require_whole(
    density: Callable[[float], float], low: float, high: float, points: Sequence[float]
) -> None:
    whole = _integral(lambda x: float(density(x)), low, high, points)
    if not abs(whole - 1) <= NEARLY_WHOLE:
        raise DataError(
            f"the density integrates to {whole:.4g} from {low:g} to {high:g}, not to 1: either it "
            "is none there, or it is so narrow that quadrature missed it. Give points=[...] where "
            "it is large, or narrower bounds"
        )


def differential_entropy_of(values: ArrayLike, base: float | None = None) -> float:
    """Differential entropy of a sample of numbers, by spacings of its order statistics (SciPy).

    Parameters
    ----------
    values : array-like of shape (n,)
    base : float, default=None

    Returns
    -------
    entropy : float

    Examples
    --------
    >>> import numpy as np
    >>> found = differential_entropy_of(np.random.default_rng(0).normal(size=5000))
    >>> bool(abs(found - 0.5 * np.log(2 * np.pi * np.e)) < 0.1)
    True
    """
    return float(scipy.stats.differential_entropy(finite_column(values, "values"))) / _unit(base)


def perplexity(probabilities: ArrayLike) -> float:
    """2^H with H in bits: how many equally likely outcomes would be as uncertain.

    Parameters
    ----------
    probabilities : array-like

    Returns
    -------
    perplexity : float

    Examples
    --------
    >>> perplexity([0.25, 0.25, 0.25, 0.25])
    4.0
    """
    return float(2 ** entropy(probabilities, base=2))


def kl_divergence(p: ArrayLike, q: ArrayLike, base: float | None = None) -> float:
    """D(P || Q) = sum p log(p / q): what coding P by a code for Q costs more.

    Not symmetric, no distance. Zero only where P = Q; infinite where q = 0 < p.

    Parameters
    ----------
    p, q : array-like of one shape
        Probabilities.
    base : float, default=None

    Returns
    -------
    divergence : float

    Examples
    --------
    >>> round(kl_divergence([0.6, 0.1, 0.3], [1/3, 1/3, 1/3]), 6)
    0.200667
    >>> kl_divergence([0.5, 0.5], [1.0, 0.0])
    inf
    """
    p = simplex(np.asarray(p, dtype=np.float64).ravel(), "p")
    q = simplex(np.asarray(q, dtype=np.float64).ravel(), "q")
    if p.shape != q.shape:
        raise DataError(f"p has {len(p)} probabilities and q has {len(q)}")
    return max(float(special.rel_entr(p, q).sum()), 0.0) / _unit(base)


def kl_of_densities(
    p: Callable[[float], float],
    q: Callable[[float], float],
    low: float,
    high: float,
    base: float | None = None,
    *,
    points: Sequence[float] = (),
) -> float:
    """D(P || Q) of two densities of one number, by quadrature.

    Infinite where q is zero and p is not; a p below 1e-30 counts as zero there, since in far tails
    q is zero by underflow only. Where q is much narrower than p, choose `low` and `high` such that
    q does not underflow between them.

    Parameters
    ----------
    p, q : callable
        Densities. Members of one exponential family have it exactly: `Member.divergence`.
    low, high : float
        Where p lives, so that its integral is 1; may be infinite.
    base : float, default=None
    points : sequence of float, default=()
        Places where p is large, which a wide interval may hide from quadrature.

    Returns
    -------
    divergence : float

    Examples
    --------
    >>> from scipy.stats import norm
    >>> round(kl_of_densities(norm(0, 1).pdf, norm(1, 1).pdf, -12, 12), 6)
    0.5
    """

    def term(x: float) -> float:
        here, other = float(p(x)), float(q(x))
        if other == 0 and here < UNDERFLOWN:
            return 0.0
        return float(special.rel_entr(here, other))

    bounded = bool(np.isfinite([low, high]).all())
    if bounded and any(np.isinf(term(x)) for x in np.linspace(low, high, 65)[1:-1]):
        return np.inf
    _require_whole(p, low, high, points)
    return max(_integral(term, low, high, points), 0.0) / _unit(base)


@dataclass(repr=False, eq=False)
class InformationDiagram(Result):
    """How much two variables tell, alone, together and of each other.

    Attributes
    ----------
    x, y : float
        H(X), H(Y).
    joint : float
        H(X, Y) = H(X) + H(Y | X).
    mutual : float
        I(X; Y).
    unit : str
    """

    x: float
    y: float
    joint: float
    mutual: float
    unit: str

    @property
    def y_given_x(self) -> float:
        """H(Y | X)."""
        return max(self.joint - self.x, 0.0)

    @property
    def x_given_y(self) -> float:
        """H(X | Y)."""
        return max(self.joint - self.y, 0.0)

    def _title(self):
        return f"Information of two variables, in {self.unit}"

    def _columns(self):
        names = ["H(X)", "H(Y)", "H(X, Y)", "H(X | Y)", "H(Y | X)", "I(X; Y)"]
        values = [self.x, self.y, self.joint, self.x_given_y, self.y_given_x, self.mutual]
        return {"": names, self.unit: values}


def information_of_table(joint: ArrayLike, base: float | None = None) -> InformationDiagram:
    """Entropies and mutual information of a table of joint probabilities.

    Parameters
    ----------
    joint : array-like of shape (n_x, n_y)
        P(x, y); 1 together.
    base : float, default=None

    Returns
    -------
    diagram : InformationDiagram

    Examples
    --------
    >>> found = information_of_table([[0.3, 0.1], [0.2, 0.4]])
    >>> round(found.mutual, 6), round(found.joint, 6)
    (0.086305, 1.279854)
    """
    joint = np.asarray(joint, dtype=np.float64)
    if joint.ndim != 2:
        raise DataError("a joint table has rows for x and columns for y")
    x, y = joint.sum(axis=1), joint.sum(axis=0)
    together = entropy(joint, base)
    mutual = kl_divergence(joint, np.outer(x, y), base)
    unit = "nats" if base is None else "bits" if base == 2 else f"units of log {base}"
    return InformationDiagram(entropy(x, base), entropy(y, base), together, mutual, unit)


def information_of_sample(x: Any, y: Any, base: float | None = None) -> InformationDiagram:
    """Entropies and mutual information of two columns of categories, from their counts.

    Mutual information of few rows is too great (by about (cells - rows - columns + 1) / (2 n));
    a warning says where there are fewer than five rows per cell.

    Parameters
    ----------
    x, y : sequences of one length
    base : float, default=None

    Returns
    -------
    diagram : InformationDiagram

    Examples
    --------
    >>> found = information_of_sample("aabb" * 10, "uuvv" * 10, base=2)
    >>> found.mutual, found.y_given_x
    (1.0, 0.0)
    """
    (_, first), (_, second) = _categories(x, "x"), _categories(y, "y")
    if len(first) != len(second):
        raise DataError(f"x has {len(first):,} rows and y {len(second):,}; they must be paired")
    n = len(first)
    counts = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(counts, (first, second), 1.0)
    if n < FEW_PER_CELL * counts.size:
        warnings.warn(
            f"{n:,} rows for {counts.size:,} cells: the mutual information comes out too "
            f"great, by about {_mutual_bias(counts):.3g} nats. Take more rows or fewer categories",
            GnomonWarning,
            stacklevel=2,
        )
    return information_of_table(counts / n, base)


def _categories(values: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The different values of a column or any sequence, and the number of each row's among them."""
    is_column = isinstance(values, np.ndarray) or hasattr(values, "to_numpy")
    return label_codes(values if is_column else list(values), name=name)


def _mutual_bias(counts: np.ndarray) -> float:
    held = (counts > 0).sum() - (counts.sum(axis=1) > 0).sum() - (counts.sum(axis=0) > 0).sum()
    return max(float(held + 1), 0.0) / (2 * counts.sum())


def conditional_entropy(joint: ArrayLike, base: float | None = None) -> float:
    """H(Y | X) = sum_x P(x) H(Y | x) of a table of joint probabilities.

    Parameters
    ----------
    joint : array-like of shape (n_x, n_y)
    base : float, default=None

    Returns
    -------
    entropy : float

    Examples
    --------
    >>> round(conditional_entropy([[0.3, 0.1], [0.2, 0.4]]), 6)
    0.606843
    """
    return information_of_table(joint, base).y_given_x


def continuous_mutual_information(
    x: ArrayLike, y: ArrayLike, n_neighbors: int = 5, base: float | None = None
) -> float:
    """Mutual information of numbers or vectors, by nearest neighbours (Kraskov and others 2004).

    digamma(k) + digamma(n) - mean(digamma(n_x + 1) + digamma(n_y + 1)), where n_x and n_y count the
    rows nearer in x, in y, than the k-th neighbour in both (greatest difference of columns). No
    bins; nearly unbiased where the two are independent. Rows must not repeat.

    Parameters
    ----------
    x, y : array-like of shape (n,) or (n, d)
    n_neighbors : int, default=5
        Few: less bias; many: less scatter.
    base : float, default=None

    Returns
    -------
    information : float
        Negative values, which happen by chance, are given as 0.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> a = rng.normal(size=2000)
    >>> continuous_mutual_information(a, rng.normal(size=2000)) < 0.05
    True
    """
    x, y = (np.atleast_2d(np.asarray(each, dtype=np.float64).T).T for each in (x, y))
    n = len(x)
    if len(y) != n or n <= n_neighbors:
        raise DataError(f"x and y need one length, more than n_neighbors={n_neighbors}")
    both = np.hstack([x, y])
    if len(np.unique(both, axis=0)) < n:
        raise DataError("rows repeat: the neighbour estimate is of continuous columns only")
    reach = KDTree(both).query(both, k=n_neighbors + 1, p=np.inf)[0][:, -1]
    reach = np.nextafter(reach, 0)
    near = [
        KDTree(part).query_ball_point(part, reach, p=np.inf, return_length=True) for part in (x, y)
    ]
    found = special.digamma(n_neighbors) + special.digamma(n)
    found -= (special.digamma(near[0]) + special.digamma(near[1])).mean()
    return max(float(found), 0.0) / _unit(base)


@dataclass(repr=False, eq=False)
class LikelihoodAsDivergence(Result):
    """Maximum likelihood as the least divergence from the empirical distribution.

    Attributes
    ----------
    names : list
    mean_log_likelihood : list of float
        (1 / n) sum log q(x_i) of each model.
    divergence : list of float
        D(F_n || q) of each.
    entropy : float
        H(F_n): mean log-likelihood plus divergence is minus this for every model, so that both
        choose the same one.
    """

    names: list[Any]
    mean_log_likelihood: list[float]
    divergence: list[float]
    entropy: float

    @property
    def best(self) -> Any:
        """The model of the greatest likelihood and of the least divergence."""
        return self.names[int(np.argmin(self.divergence))]

    def _title(self):
        return f"Likelihood and divergence; entropy of the sample {self.entropy:.4g} nats"

    def _columns(self):
        return {
            "model": self.names,
            "mean log-likelihood": self.mean_log_likelihood,
            "divergence": self.divergence,
        }


def likelihood_as_divergence(
    values: Any, models: dict[Any, dict[Any, float]]
) -> LikelihoodAsDivergence:
    """Mean log-likelihood and divergence of discrete models on one sample, side by side.

    D(F_n || q) = -H(F_n) - (1 / n) sum_i log q(x_i): the two differ by the entropy of the sample
    only (000c prints the sum without 1 / n).

    Parameters
    ----------
    values : sequence
        The sample.
    models : dict of name to dict of value to probability

    Returns
    -------
    comparison : LikelihoodAsDivergence

    Examples
    --------
    >>> found = likelihood_as_divergence("aab", {"fair": {"a": 0.5, "b": 0.5}})
    >>> round(found.divergence[0] + found.mean_log_likelihood[0] + found.entropy, 12)
    0.0
    """
    seen, codes = _categories(values, "values")
    shares = np.bincount(codes) / len(codes)
    logs, gaps = [], []
    for model in models.values():
        q = np.array([float(model.get(each, 0.0)) for each in seen.tolist()])
        with np.errstate(divide="ignore"):
            logs.append(float(shares @ np.log(q)))
        gaps.append(float(special.rel_entr(shares, q).sum()))
    return LikelihoodAsDivergence(list(models), logs, gaps, float(special.entr(shares).sum()))


def _unit(base: float | None) -> float:
    if base is None:
        return 1.0
    if not base > 1:
        raise DataError(f"base={base} must be greater than 1")
    return float(np.log(base))
