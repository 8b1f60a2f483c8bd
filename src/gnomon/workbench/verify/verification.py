"""Where conventions differ and how to switch, and how gnomon's numbers compare with references.

Both are computed when they are asked for, on data that everybody has, so that nobody has to take
them on trust (000a 5: verify every implementation; 001 8: keep both conventions, switchable).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.table import example


class Convention(NamedTuple):
    """A quantity that texts and other programs define differently.

    Attributes
    ----------
    what : str
    text : str
        What the texts do.
    others : str
        What most programs do.
    switch : str
        How to get either here.
    values : callable
        ``values()`` gives the number by the text and by the others, through the switch, on iris.
    """

    what: str
    text: str
    others: str
    switch: str
    values: Callable[[], tuple[float, ...]]


def iris() -> tuple[np.ndarray, np.ndarray]:
    """Sepal length, and the other three measures, of 150 flowers."""
    table = example("iris").drop("species").to_dict()
    rows = np.column_stack([np.asarray(column, dtype=float) for column in table.values()])
    return rows[:, 1:], rows[:, 0]


def pca_divisor() -> tuple[float, ...]:
    from gnomon.reduce import PCA

    rows, _ = iris()
    return tuple(float(PCA(ddof=d).fit(rows).explained_variance_[0]) for d in (0, 1))


def spread_divisor() -> tuple[float, ...]:
    from gnomon.prepare import StandardScaler

    rows, _ = iris()
    return tuple(float(StandardScaler(ddof=d).fit_transform(rows)[0, 0]) for d in (0, 1))


def ridge_scale() -> tuple[float, ...]:
    from gnomon.linear import Ridge

    rows, y = iris()
    return tuple(float(Ridge(alpha=a).fit(rows, y).coef_[0]) for a in (len(y) * 0.1, 0.1))


def ridge_constant() -> tuple[float, ...]:
    from gnomon.linear import Ridge

    rows, y = iris()
    ones = np.column_stack([np.ones(len(y)), rows])
    penalized = Ridge(alpha=1.0, fit_intercept=False).fit(ones, y).coef_[0]
    return float(penalized), float(Ridge(alpha=1.0).fit(rows, y).intercept_)


def cook_noise() -> tuple[float, ...]:
    from gnomon.linear import influence

    rows, y = iris()
    return tuple(float(influence(rows, y, convention=c).cooks.max()) for c in ("text", "R"))


def huber_factor() -> tuple[float, ...]:
    from gnomon.evaluate import huber_loss

    whole, half = (huber_loss(1.0, scaling=s).values([0.0], [3.0])[0] for s in ("whole", "half"))
    return float(whole), float(half)


def information_scale() -> tuple[float, ...]:
    from gnomon.evaluate import aic

    return aic(-100.0, 3, scale="half"), aic(-100.0, 3)


def entropy_unit() -> tuple[float, ...]:
    from gnomon.density import entropy

    return entropy([1 / 3] * 3, base=2), entropy([1 / 3] * 3)


CONVENTIONS = (
    Convention(
        "divisor of PCA's variances",
        "n (001, 000)",
        "n - 1",
        "PCA(ddof=0) or PCA(ddof=1)",
        pca_divisor,
    ),
    Convention(
        "divisor of a column's spread",
        "n (000 4)",
        "n - 1 in R and pandas",
        "StandardScaler(ddof=0) or StandardScaler(ddof=1)",
        spread_divisor,
    ),
    Convention(
        "scale of ridge's penalty",
        "lambda on the mean of squares (000 10.4.2)",
        "alpha on their sum",
        "Ridge(alpha=n * lambda) or Ridge(alpha=alpha)",
        ridge_scale,
    ),
    Convention(
        "ridge's constant",
        "penalised like the rest (001 7.2.3)",
        "free",
        "a column of ones with Ridge(fit_intercept=False), or Ridge()",
        ridge_constant,
    ),
    Convention(
        "noise in Cook's distance",
        "squared residuals over n (000 10.3.3)",
        "over n - d (R, statsmodels)",
        'influence(convention="text") or influence(convention="R")',
        cook_noise,
    ),
    Convention(
        "factor of Huber's loss",
        "r^2 inside (001 13.6.2)",
        "r^2 / 2 inside",
        'huber_loss(scaling="whole") or huber_loss(scaling="half")',
        huber_factor,
    ),
    Convention(
        "scale of information criteria",
        "k - L (002)",
        "2 k - 2 L",
        'aic(scale="half") or aic(scale="deviance")',
        information_scale,
    ),
    Convention(
        "unit of entropy and information",
        "bits: impurities of trees (000a 2.5), codes",
        "nats: log_loss, gnomon.density, mutual information (SciPy, scikit-learn)",
        "entropy(p, base=2) or entropy(p); log_loss(...).value / log(2) is in bits",
        entropy_unit,
    ),
)


@dataclass(repr=False)
class Conventions(Result):
    """Every convention with its two numbers.

    Attributes
    ----------
    rows : list of (Convention, (float, float))
    """

    rows: list[tuple[Convention, tuple[float, ...]]]

    def _title(self) -> str:
        return "Where texts and other programs differ, and how to switch"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "what": [each.what for each, _ in self.rows],
            "text": [f"{each.text}: {pair[0]:.4g}" for each, pair in self.rows],
            "others": [f"{each.others}: {pair[1]:.4g}" for each, pair in self.rows],
            "switch": [each.switch for each, _ in self.rows],
        }


def conventions() -> Conventions:
    """What texts and programs define differently, both numbers computed here.

    Returns
    -------
    conventions : Conventions

    Examples
    --------
    >>> len(conventions().rows) >= 7
    True
    """
    return Conventions([(each, each.values()) for each in CONVENTIONS])


class Reference(NamedTuple):
    """A number of gnomon beside that of another source.

    Attributes
    ----------
    method, quantity : str
    source : str
        A package, or a place in a text.
    package : str
        Module that must be there; empty for worked numbers of the texts.
    values : callable
        ``values()`` gives our number and theirs.
    tolerance : float
        Largest relative difference.
    """

    method: str
    quantity: str
    source: str
    package: str
    values: Callable[[], tuple[float, ...]]
    tolerance: float = 1e-6


def least_squares_slope() -> tuple[float, ...]:
    from gnomon.linear import LinearRegression

    rows, y = iris()
    design = np.column_stack([np.ones(len(y)), rows])
    theirs = np.linalg.lstsq(design, y, rcond=None)[0][1]
    return float(LinearRegression().fit(rows, y).coef_[0]), float(theirs)


def logistic_loss() -> tuple[float, ...]:
    from sklearn.linear_model import LogisticRegression as Theirs

    from gnomon.linear import LogisticRegression

    rows, y = iris()
    large = np.where(y > np.median(y), "large", "small")
    ours = LogisticRegression(tol=1e-10, max_iter=1000).fit(rows, large)
    theirs = Theirs(tol=1e-10, max_iter=10_000).fit(rows, large)
    return float(ours.coef_[0, 0]), float(theirs.coef_[0, 0])


def naive_bayes_probability() -> tuple[float, ...]:
    from sklearn.naive_bayes import GaussianNB

    from gnomon.bayes import NaiveBayes

    rows, y = iris()
    large = np.where(y > np.median(y), "large", "small")
    models = NaiveBayes().fit(rows, large), GaussianNB(var_smoothing=0.0).fit(rows, large)
    return tuple(float(each.predict_proba(rows[60:61])[0, 0]) for each in models)


def pca_variance() -> tuple[float, ...]:
    from sklearn.decomposition import PCA as Theirs

    from gnomon.reduce import PCA

    rows, _ = iris()
    return tuple(float(each.fit(rows).explained_variance_[1]) for each in (PCA(), Theirs()))


def k_means_objective() -> tuple[float, ...]:
    from sklearn.cluster import KMeans as Theirs

    from gnomon.cluster import KMeans

    rows, _ = iris()
    return (
        float(KMeans(2, n_init=10, random_state=0).fit(rows).inertia_),
        float(Theirs(2, n_init=10, random_state=0).fit(rows).inertia_),
    )


def area() -> tuple[float, ...]:
    from sklearn.metrics import roc_auc_score

    from gnomon.evaluate import area_under_roc

    rows, y = iris()
    large = y > np.median(y)
    labels = np.where(large, "large", "small")
    found = area_under_roc(labels, rows[:, 1], "large")
    return float(found.value), float(roc_auc_score(large, rows[:, 1]))


def slope_error() -> tuple[float, ...]:
    from statsmodels.api import OLS, add_constant

    from gnomon.linear import influence

    rows, y = iris()
    theirs = OLS(y, add_constant(rows)).fit().get_influence().cooks_distance[0].max()
    return float(influence(rows, y, convention="R").cooks.max()), float(theirs)


def hoeffding_gap() -> tuple[float, ...]:
    from gnomon.evaluate import hoeffding

    return float(hoeffding(n=1000, delta=0.05).epsilon), float(np.sqrt(np.log(40) / 2000))


REFERENCES = (
    Reference("LinearRegression", "slope", "NumPy lstsq", "numpy", least_squares_slope),
    Reference("LogisticRegression", "coefficient", "scikit-learn", "sklearn", logistic_loss, 1e-3),
    Reference("NaiveBayes", "probability", "scikit-learn", "sklearn", naive_bayes_probability),
    Reference("PCA", "second variance", "scikit-learn", "sklearn", pca_variance),
    Reference("KMeans", "objective", "scikit-learn", "sklearn", k_means_objective, 1e-4),
    Reference("area_under_roc", "area", "scikit-learn", "sklearn", area),
    Reference("influence", "Cook's distance", "statsmodels", "statsmodels", slope_error),
    Reference("hoeffding", "gap of 1,000 rows", "001 4.2.4, by hand", "", hoeffding_gap),
)


@dataclass(repr=False)
class Verification(Result):
    """Our numbers beside the references.

    Attributes
    ----------
    rows : list of (Reference, float, float)
        Ours and theirs.
    absent : list of Reference
        Those whose package is not installed.
    """

    rows: list[tuple[Reference, float, float]]
    absent: list[Reference]

    def agrees(self, row: tuple[Reference, float, float]) -> bool:
        """Whether a row's numbers are the same within its tolerance."""
        reference, ours, theirs = row
        return abs(ours - theirs) <= reference.tolerance * max(abs(theirs), 1e-12)

    @property
    def right(self) -> bool:
        """Whether all numbers agree."""
        return all(map(self.agrees, self.rows))

    def _title(self) -> str:
        good = sum(map(self.agrees, self.rows))
        return f"{good} of {len(self.rows)} numbers agree with their reference"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "method": [each.method for each, *_ in self.rows],
            "number": [each.quantity for each, *_ in self.rows],
            "reference": [each.source for each, *_ in self.rows],
            "ours": [ours for _, ours, _ in self.rows],
            "theirs": [theirs for *_, theirs in self.rows],
            "agrees": ["yes" if self.agrees(row) else "NO" for row in self.rows],
        }

    def _remarks(self) -> list[str]:
        return [
            f"{each.package} is not installed: {each.method} not compared" for each in self.absent
        ]


def verify(word: str = "") -> Verification:
    """Compare numbers of gnomon with other packages and with worked numbers, here and now.

    A sample for users of what the tests do at length.

    Parameters
    ----------
    word : str, default=""
        Only methods whose name has it.

    Returns
    -------
    verification : Verification

    Examples
    --------
    >>> verify("PCA").right
    True
    """
    wanted = [each for each in REFERENCES if word.lower() in each.method.lower()]
    if not wanted:
        known = ", ".join(each.method for each in REFERENCES)
        raise DataError(f"there is no reference for {word!r}; there are some for {known}")
    here = [e for e in wanted if not e.package or importlib.util.find_spec(e.package)]
    rows = []
    for each in here:
        ours, theirs = each.values()
        rows.append((each, ours, theirs))
    return Verification(rows, [each for each in wanted if each not in here])
