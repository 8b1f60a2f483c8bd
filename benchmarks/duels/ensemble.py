"""Ensembles against scikit-learn's."""

from sklearn import ensemble, tree

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import accuracy, bent, classes, r2
from gnomon.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    StagewiseRegressor,
)
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor


def classes50(n):
    return classes(n, 50, 2)


def classes20(n):
    return classes(n, 20, 2)


def bent20(n):
    return bent(n, 20)


Duel(
    name="AdaBoost of 50 stumps, 50 columns, 2 classes",
    peer="scikit-learn AdaBoostClassifier",
    data=classes50,
    ours=lambda given: AdaBoostClassifier().fit(given.rows, given.y),
    theirs=lambda given: ensemble.AdaBoostClassifier().fit(given.rows, given.y),
    quality=accuracy,
    tolerance=0.01,
    bar=5.0,
    sizes=(10**4, 10**5),
    repeats=1,
)

Duel(
    name="AdaBoost of 10 stumps, 20 columns, 2 classes",
    peer="scikit-learn AdaBoostClassifier",
    data=classes20,
    ours=lambda given: AdaBoostClassifier(n_estimators=10).fit(given.rows, given.y),
    theirs=lambda given: ensemble.AdaBoostClassifier(n_estimators=10).fit(given.rows, given.y),
    quality=accuracy,
    tolerance=0.01,
    bar=5.0,
    sizes=(10**6,),
    repeats=1,
)

Duel(
    name="bag of 10 full trees, 20 columns, 2 classes",
    peer="scikit-learn BaggingClassifier",
    data=classes20,
    ours=lambda given: BaggingClassifier(DecisionTreeClassifier(), random_state=0).fit(
        given.rows, given.y
    ),
    theirs=lambda given: ensemble.BaggingClassifier(
        tree.DecisionTreeClassifier(), n_jobs=-1, random_state=0
    ).fit(given.rows, given.y),
    quality=accuracy,
    tolerance=0.01,
    sizes=(10**4, 10**5),
    repeats=3,
)

Duel(
    name="stagewise sum of 30 trees of depth 3, 20 columns, numbers",
    peer="scikit-learn GradientBoostingRegressor",
    data=bent20,
    ours=lambda given: StagewiseRegressor(DecisionTreeRegressor(max_depth=3), n_estimators=30).fit(
        given.rows, given.y
    ),
    theirs=lambda given: ensemble.GradientBoostingRegressor(learning_rate=0.3, n_estimators=30).fit(
        given.rows, given.y
    ),
    quality=r2,
    tolerance=0.01,
    sizes=(10**4, 10**5),
    repeats=3,
)

MEMBERS = [
    ("shallow", tree.DecisionTreeClassifier(max_depth=4)),
    ("deep", tree.DecisionTreeClassifier(max_depth=12)),
]

Duel(
    name="stack of two of their trees with a tree on top, 20 columns, 2 classes",
    peer="scikit-learn StackingClassifier",
    data=classes20,
    ours=lambda given: StackingClassifier(
        MEMBERS, tree.DecisionTreeClassifier(max_depth=3), random_state=0
    ).fit(given.rows, given.y),
    theirs=lambda given: ensemble.StackingClassifier(
        MEMBERS, tree.DecisionTreeClassifier(max_depth=3), n_jobs=-1
    ).fit(given.rows, given.y),
    quality=accuracy,
    tolerance=0.02,
    sizes=(10**4, 10**5),
    repeats=3,
)
