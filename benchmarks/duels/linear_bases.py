"""Bases and local regression against scikit-learn and statsmodels."""

import numpy as np
from sklearn import preprocessing as peer
from sklearn.linear_model import LinearRegression as PeerRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from statsmodels.nonparametric.smoothers_lowess import lowess

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import SEED, Labelled
from gnomon.linear import (
    LocallyWeightedRegression,
    PolynomialFeatures,
    PolynomialRegression,
    SplineBasis,
)

DEGREES = 5


def ten_columns(n):
    return np.random.default_rng(SEED).normal(size=(n, 10))


def wave(n):
    """One column, a wave with noise; a thousand queries."""
    rng = np.random.default_rng(SEED)
    x = np.sort(rng.uniform(0, 10, n + 1000))
    y = np.sin(x) + 0.3 * rng.normal(size=len(x))
    queries = np.sort(rng.permutation(len(x))[:1000])
    learnt = np.setdiff1d(np.arange(len(x)), queries)
    return Labelled(x[learnt, None], y[learnt], x[queries, None], y[queries])


def size(columns, given) -> float:
    """A figure of all new columns."""
    return float(np.sqrt(np.square(columns).sum()))


def answers(said, given) -> float:
    """Share of the variance of held-out rows that is explained."""
    return float(1 - np.var(given.test_y - said) / np.var(given.test_y))


def their_lowess(given):
    said = lowess(
        given.y, given.rows[:, 0], frac=0.1, it=0, xvals=given.test_rows[:, 0], is_sorted=True
    )
    return np.asarray(said)


def their_degrees(given):
    model = make_pipeline(
        peer.StandardScaler(), peer.PolynomialFeatures(include_bias=False), PeerRegression()
    )
    grid = {"polynomialfeatures__degree": list(range(1, DEGREES + 1))}
    folds = KFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(model, grid, cv=folds, scoring="neg_mean_squared_error")
    return search.fit(given.rows, given.y).predict(given.test_rows)


Duel(
    name="polynomial features of degree 3, 10 columns",
    peer="scikit-learn PolynomialFeatures",
    data=ten_columns,
    ours=lambda rows: PolynomialFeatures(3).fit_transform(rows),
    theirs=lambda rows: peer.PolynomialFeatures(3).fit_transform(rows),
    quality=size,
    sizes=(10**4, 10**5),
)

Duel(
    name="cubic splines of 8 knots, 10 columns",
    peer="scikit-learn SplineTransformer",
    data=ten_columns,
    ours=lambda rows: SplineBasis(8, knots="uniform").fit_transform(rows),
    theirs=lambda rows: peer.SplineTransformer(8, extrapolation="linear").fit_transform(rows),
    quality=lambda columns, rows: float(columns.sum()),
    sizes=(10**4, 10**5),
)

Duel(
    name="polynomial regression, degree 1 to 5 by 5 folds, one column",
    peer="scikit-learn GridSearchCV",
    data=wave,
    ours=lambda given: (
        PolynomialRegression(max_degree=DEGREES).fit(given.rows, given.y).predict(given.test_rows)
    ),
    theirs=their_degrees,
    quality=answers,
    tolerance=1e-3,
    sizes=(10**4, 10**5),
)

Duel(
    name="local lines by tricube weights, 1000 queries",
    peer="statsmodels lowess",
    data=wave,
    ours=lambda given: (
        LocallyWeightedRegression(kernel="tricube", span=0.1, power=1)
        .fit(given.rows, given.y)
        .predict(given.test_rows)
    ),
    theirs=their_lowess,
    quality=answers,
    tolerance=1e-3,
    sizes=(10**4, 10**5),
)
