"""Trees and forests against scikit-learn and LightGBM's forest mode."""

from lightgbm import LGBMClassifier
from sklearn import ensemble, tree

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import accuracy, bent, classes, r2
from gnomon.trees import (
    DecisionTreeClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)


def classes50(n):
    return classes(n, 50, 2)


def classes20(n):
    return classes(n, 20, 2)


def bent20(n):
    return bent(n, 20)


Duel(
    name="forest of 100 trees, 50 columns, 2 classes",
    peer="scikit-learn RandomForestClassifier",
    data=classes50,
    ours=lambda given: RandomForestClassifier(random_state=0).fit(given.rows, given.y),
    theirs=lambda given: ensemble.RandomForestClassifier(n_jobs=-1, random_state=0).fit(
        given.rows, given.y
    ),
    quality=accuracy,
    tolerance=0.005,
    bar=5.0,
    sizes=(10**4, 10**5),
    repeats=3,
)

Duel(
    name="forest of 100 trees of at most 255 leaves, 50 columns, 2 classes",
    peer="LightGBM forest mode",
    data=classes50,
    ours=lambda given: RandomForestClassifier(max_leaf_nodes=255, random_state=0).fit(
        given.rows, given.y
    ),
    theirs=lambda given: LGBMClassifier(
        boosting_type="rf",
        n_estimators=100,
        num_leaves=255,
        bagging_freq=1,
        bagging_fraction=0.632,
        feature_fraction_bynode=7 / 50,
        random_state=0,
        n_jobs=-1,
        verbose=-1,
    ).fit(given.rows, given.y),
    quality=accuracy,
    tolerance=0.005,
    sizes=(10**4, 10**5),
    repeats=3,
)

Duel(
    name="forest of 100 trees, 20 columns, numbers",
    peer="scikit-learn RandomForestRegressor",
    data=bent20,
    ours=lambda given: RandomForestRegressor(max_features=1 / 3, random_state=0).fit(
        given.rows, given.y
    ),
    theirs=lambda given: ensemble.RandomForestRegressor(
        max_features=1 / 3, n_jobs=-1, random_state=0
    ).fit(given.rows, given.y),
    quality=r2,
    tolerance=0.005,
    bar=5.0,
    sizes=(10**4, 10**5),
    repeats=3,
)

Duel(
    name="one tree of depth 8, 20 columns, 2 classes",
    peer="scikit-learn DecisionTreeClassifier",
    data=classes20,
    ours=lambda given: DecisionTreeClassifier(max_depth=8).fit(given.rows, given.y),
    theirs=lambda given: tree.DecisionTreeClassifier(max_depth=8).fit(given.rows, given.y),
    quality=accuracy,
    tolerance=0.01,
)
