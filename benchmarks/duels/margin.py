"""Support vector machines against libsvm and liblinear (scikit-learn)."""

from typing import Any, NamedTuple

import numpy as np
from sklearn import svm as peer

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import Labelled, bent, classes
from gnomon.margin import RBF, SVC, SVR, LinearSVC

GAMMA = 0.02
MOST_AT_ONCE = 512


def two_classes(n):
    return classes(n, 50, 2)


def hundred_columns(n):
    return classes(n, 100, 2)


def quadratic(coefficients: np.ndarray, vectors: np.ndarray) -> float:
    """c' K c in blocks of rows."""
    against = RBF(GAMMA).against(vectors)
    total = 0.0
    for first in range(0, len(vectors), MOST_AT_ONCE):
        here = slice(first, first + MOST_AT_ONCE)
        total += float(coefficients[here] @ against(vectors[here]) @ coefficients)
    return total


def dual_objective(model, given: Labelled) -> float:
    """sum a - c' K c / 2, which both maximise."""
    c = model.dual_coef_[0]
    return float(np.abs(c).sum()) - 0.5 * quadratic(c, given.rows[model.support_])


def tube_objective(model, given: Labelled) -> float:
    """sum c y - epsilon sum |c| - c' K c / 2, which both maximise."""
    c, support = model.dual_coef_[0], model.support_
    half = 0.5 * quadratic(c, given.rows[support])
    return float(c @ given.y[support] - 0.1 * np.abs(c).sum() - half)


def hinge(model, given: Labelled) -> float:
    return linear_objective(model, given, 1)


def squared_hinge(model, given: Labelled) -> float:
    return linear_objective(model, given, 2)


def linear_objective(model, given: Labelled, power: int) -> float:
    """|(w, b)|^2 / 2 + sum of slacks to a power, which both minimise."""
    plane = np.append(model.coef_[0], model.intercept_[0])
    sign = np.where(given.y == model.classes_[1], 1.0, -1.0)
    slack = np.maximum(1 - sign * model.decision_function(given.rows), 0.0)
    return float(0.5 * plane @ plane + (slack**power).sum())


class Fitted(NamedTuple):
    ours: Any
    theirs: Any
    rows: np.ndarray
    y: np.ndarray


def fitted(n: int) -> Fitted:
    """Both machines, learnt from 5,000 rows, and n rows to predict for."""
    given = classes(5000 + n, 50, 2)
    rows, y = given.rows[:5000], given.y[:5000]
    ours = SVC(gamma=GAMMA).fit(rows, y)
    theirs = peer.SVC(gamma=GAMMA).fit(rows, y)
    return Fitted(ours, theirs, given.rows[5000:], given.y[5000:])


Duel(
    name="SVC, rbf kernel, 50 columns",
    peer="scikit-learn SVC (libsvm)",
    data=two_classes,
    ours=lambda given: SVC(gamma=GAMMA).fit(given.rows, given.y),
    theirs=lambda given: peer.SVC(gamma=GAMMA).fit(given.rows, given.y),
    quality=dual_objective,
    sizes=(5000, 20_000),
    bar=2.0,
    repeats=3,
)

Duel(
    name="SVC predict, rbf kernel, 50 columns",
    peer="scikit-learn SVC (libsvm)",
    data=fitted,
    ours=lambda given: given.ours.predict(given.rows),
    theirs=lambda given: given.theirs.predict(given.rows),
    quality=lambda said, given: float((said == given.y).mean()),
    tolerance=1e-3,
    sizes=(5000, 20_000),
    bar=5.0,
    repeats=3,
)

Duel(
    name="SVR, rbf kernel, 50 columns",
    peer="scikit-learn SVR (libsvm)",
    data=lambda n: bent(n, 50),
    ours=lambda given: SVR(gamma=GAMMA).fit(given.rows, given.y),
    theirs=lambda given: peer.SVR(gamma=GAMMA).fit(given.rows, given.y),
    quality=tube_objective,
    sizes=(5000, 20_000),
    repeats=3,
)

Duel(
    name="linear SVM, squared hinge, 100 columns",
    peer="scikit-learn LinearSVC (liblinear)",
    data=hundred_columns,
    ours=lambda given: LinearSVC().fit(given.rows, given.y),
    theirs=lambda given: peer.LinearSVC(dual="auto").fit(given.rows, given.y),
    quality=squared_hinge,
    tolerance=1e-5,
    higher_is_better=False,
    sizes=(10**4, 10**5),
)

Duel(
    name="linear SVM, hinge, 100 columns",
    peer="scikit-learn LinearSVC (liblinear)",
    data=hundred_columns,
    ours=lambda given: LinearSVC(loss="hinge", tol=1e-5).fit(given.rows, given.y),
    theirs=lambda given: peer.LinearSVC(loss="hinge", dual=True).fit(given.rows, given.y),
    quality=hinge,
    tolerance=1e-4,
    higher_is_better=False,
    sizes=(10**4, 10**5),
    repeats=3,
)
