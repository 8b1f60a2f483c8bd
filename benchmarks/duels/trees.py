"""Trees, forests and boosting against scikit-learn and LightGBM."""

from typing import Any, NamedTuple

import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn import ensemble, tree

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import Labelled, accuracy, bent, classes, r2
from gnomon.trees import (
    DecisionTreeClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)


def classes50(n):
    return classes(n, 50, 2)


def classes20(n):
    return classes(n, 20, 2)


def bent20(n):
    return bent(n, 20)


def bent50(n):
    return bent(n, 50)


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
    name="forest of 10 trees, 20 columns, 2 classes",
    peer="scikit-learn RandomForestClassifier",
    data=classes20,
    ours=lambda given: RandomForestClassifier(10, random_state=0).fit(given.rows, given.y),
    theirs=lambda given: ensemble.RandomForestClassifier(10, n_jobs=-1, random_state=0).fit(
        given.rows, given.y
    ),
    quality=accuracy,
    tolerance=0.005,
    bar=5.0,
    sizes=(10**6,),
    repeats=1,
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

# One hundred rounds of 31 leaves, at least twenty rows each, rate 0.1, 255 bins, is everybody's
# default; scikit-learn would also stop early.
BOOSTED = "boosting of 100 trees of 31 leaves"
# Classes from 10^5 rows on: the 2000 test rows of 10^4 leave an error of 0.8% in the accuracy.
CLASSES = ((50, classes50, (10**5,)), (20, classes20, (10**6,)))
NUMBERS = ((50, bent50, (10**4, 10**5)), (20, bent20, (10**6,)))

for width, data, sizes in CLASSES:
    Duel(
        name=f"{BOOSTED}, {width} columns, 2 classes, against LightGBM",
        peer="LightGBM LGBMClassifier",
        data=data,
        ours=lambda given: HistGradientBoostingClassifier().fit(given.rows, given.y),
        theirs=lambda given: LGBMClassifier(n_jobs=-1, verbose=-1).fit(given.rows, given.y),
        quality=accuracy,
        tolerance=0.005,
        bar=0.9,
        sizes=sizes,
        repeats=3,
    )
    Duel(
        name=f"{BOOSTED}, {width} columns, 2 classes, against scikit-learn",
        peer="scikit-learn HistGradientBoostingClassifier",
        data=data,
        ours=lambda given: HistGradientBoostingClassifier().fit(given.rows, given.y),
        theirs=lambda given: ensemble.HistGradientBoostingClassifier(early_stopping=False).fit(
            given.rows, given.y
        ),
        quality=accuracy,
        tolerance=0.005,
        sizes=sizes,
        repeats=3,
    )

for width, data, sizes in NUMBERS:
    Duel(
        name=f"{BOOSTED}, {width} columns, numbers, against LightGBM",
        peer="LightGBM LGBMRegressor",
        data=data,
        ours=lambda given: HistGradientBoostingRegressor().fit(given.rows, given.y),
        theirs=lambda given: LGBMRegressor(n_jobs=-1, verbose=-1).fit(given.rows, given.y),
        quality=r2,
        tolerance=0.005,
        bar=0.9,
        sizes=sizes,
        repeats=3,
    )
    Duel(
        name=f"{BOOSTED}, {width} columns, numbers, against scikit-learn",
        peer="scikit-learn HistGradientBoostingRegressor",
        data=data,
        ours=lambda given: HistGradientBoostingRegressor().fit(given.rows, given.y),
        theirs=lambda given: ensemble.HistGradientBoostingRegressor(early_stopping=False).fit(
            given.rows, given.y
        ),
        quality=r2,
        tolerance=0.005,
        sizes=sizes,
        repeats=3,
    )


class Fitted(NamedTuple):
    """Both models, fitted on the same rows, and rows to predict."""

    rows: np.ndarray
    y: np.ndarray
    ours: Any
    theirs: Any


TRAINING_ROWS = 20_000
SINGLE_ROWS = 500


def boosted_classes(n) -> Fitted:
    given: Labelled = classes(max(n, TRAINING_ROWS), 20, 2)
    train = slice(0, TRAINING_ROWS)
    return Fitted(
        given.rows[:n],
        given.y[:n],
        HistGradientBoostingClassifier().fit(given.rows[train], given.y[train]),
        LGBMClassifier(n_jobs=-1, verbose=-1).fit(given.rows[train], given.y[train]),
    )


def fitted_forest(n) -> Fitted:
    given: Labelled = classes(max(n, TRAINING_ROWS), 20, 2)
    train = slice(0, TRAINING_ROWS)
    return Fitted(
        given.rows[:n],
        given.y[:n],
        RandomForestClassifier(random_state=0).fit(given.rows[train], given.y[train]),
        ensemble.RandomForestClassifier(n_jobs=-1, random_state=0).fit(
            given.rows[train], given.y[train]
        ),
    )


def one_by_one(model, rows: np.ndarray) -> np.ndarray:
    return np.concatenate([model.predict_proba(rows[i : i + 1]) for i in range(SINGLE_ROWS)])


def share_right(proba: np.ndarray, given: Fitted) -> float:
    return float((proba.argmax(axis=1) == given.y[: len(proba)]).mean())


Duel(
    name="prediction by 100 boosted trees of 31 leaves, 20 columns",
    peer="LightGBM LGBMClassifier",
    data=boosted_classes,
    ours=lambda given: given.ours.predict_proba(given.rows),
    theirs=lambda given: given.theirs.predict_proba(given.rows),
    quality=share_right,
    tolerance=0.005,
    sizes=(10**4, 10**5, 10**6),
)

Duel(
    name=f"prediction of {SINGLE_ROWS} single rows by 100 boosted trees of 31 leaves, 20 columns",
    peer="LightGBM LGBMClassifier",
    data=boosted_classes,
    ours=lambda given: one_by_one(given.ours, given.rows),
    theirs=lambda given: one_by_one(given.theirs, given.rows),
    quality=share_right,
    tolerance=0.05,
    sizes=(10**4,),
)

Duel(
    name="prediction by a forest of 100 full trees, 20 columns",
    peer="scikit-learn RandomForestClassifier",
    data=fitted_forest,
    ours=lambda given: given.ours.predict_proba(given.rows),
    theirs=lambda given: given.theirs.predict_proba(given.rows),
    quality=share_right,
    tolerance=0.005,
    sizes=(10**4, 10**5),
    repeats=3,
)
