"""Naive Bayes, Gaussian classifiers and kriging against scikit-learn's."""

import numpy as np
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern
from sklearn.naive_bayes import GaussianNB

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import accuracy, classes
from gnomon.bayes import GaussianClassifier, Kriging, NaiveBayes


def data(n):
    return classes(n, 20, 5)


Duel(
    name="naive Bayes fit, 20 normal columns, 5 classes",
    peer="scikit-learn GaussianNB",
    data=data,
    ours=lambda given: NaiveBayes().fit(given.rows, given.y),
    theirs=lambda given: GaussianNB().fit(given.rows, given.y),
    quality=accuracy,
)


Duel(
    name="naive Bayes fit and predict, 20 normal columns, 5 classes",
    peer="scikit-learn GaussianNB",
    data=data,
    ours=lambda given: _predicted(NaiveBayes(), given),
    theirs=lambda given: _predicted(GaussianNB(), given),
    quality=accuracy,
)


def _predicted(model, given):
    model.fit(given.rows, given.y).predict(given.rows)
    return model


for shared, peer, name in (
    (False, QuadraticDiscriminantAnalysis, "quadratic"),
    (True, LinearDiscriminantAnalysis, "linear"),
):
    Duel(
        name=f"Gaussian classifier fit and predict, {name}, 20 columns, 5 classes",
        peer=f"scikit-learn {peer.__name__}",
        data=data,
        ours=lambda given, shared=shared: _predicted(GaussianClassifier(shared=shared), given),
        theirs=lambda given, peer=peer: _predicted(peer(), given),
        quality=accuracy,
        tolerance=1e-4,
        bar=2.0,
    )


def surface(n):
    rng = np.random.default_rng(0)
    sites = rng.uniform(0, 10, (n + 2000, 2))
    values = np.sin(sites[:, 0]) + np.cos(sites[:, 1]) + 0.1 * rng.normal(size=len(sites))
    return sites[:n], values[:n], sites[n:], values[n:]


def kriged(given):
    sites, values, at, _ = given
    return (
        Kriging(range=3.0, sill=1.0, nugget=0.01, standardize=False).fit(sites, values).predict(at)
    )


def processed(given):
    sites, values, at, _ = given
    kernel = ConstantKernel(100.0, "fixed") + Matern(3.0, "fixed", nu=0.5)
    model = GaussianProcessRegressor(kernel, alpha=0.01, optimizer=None, normalize_y=False)
    return model.fit(sites, values).predict(at)


Duel(
    name="kriging of 2,000 places from n sites (all up to 2,000, the 100 nearest of more)",
    peer="scikit-learn GaussianProcessRegressor, all sites",
    data=surface,
    ours=kriged,
    theirs=processed,
    quality=lambda estimate, given: float(np.mean((estimate - given[3]) ** 2)),
    tolerance=0.02,
    higher_is_better=False,
    sizes=(500, 2000, 5000),
    repeats=3,
)
