"""What `look`, `map`, `compare` and `predict` say of tables in which nothing is to be found."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gnomon.table import Table
from gnomon.workbench.analysis.associations import associations_with
from gnomon.workbench.analysis.diagnosis import shift_check
from gnomon.workbench.compare.job import compare
from gnomon.workbench.learn.job import learn
from gnomon.workbench.look.job import look
from gnomon.workbench.look.rates import target_by_category
from gnomon.workbench.map.job import far_rows
from gnomon.workbench.predict.job import predict
from gnomon.workbench.train.job import train
from tests.truth.simulation.harness import Doubted, Outcome, simulation
from tests.truth.simulation.laws import (
    FOR_INDEPENDENT,
    INDEPENDENT,
    LAWS,
    MORE_LAWS,
    as_dict,
    columns,
)
from tests.truth.simulation.learn import NEW_ROWS, QUICK, holds, question

HALVES = (slice(200), slice(200, None))
LOOKED = ("missing not at random", "leak", "trend", "same columns", "missing together")


@simulation("look", "association", *LOOKED, quick=1)
def unrelated_columns(law: str, rng: np.random.Generator) -> Outcome:
    """Five columns that have nothing to do with each other, two of them with holes.

    `look` tests rows as independent ones, which it says below p; of rows that hang together it is
    told nothing.
    """
    n = 200
    block = columns(law, rng, n, 4)
    for j in (1, 2):
        block[rng.random(n) < 0.1, j] = np.nan
    level = np.array(["a", "b", "c"])[rng.integers(3, size=n)]
    y = LAWS[law](rng, n)
    found = look(as_dict(block, level=level, y=y), target="y")
    told = {each.about for each in found.findings}
    real = any(pair.p <= 0.05 for pair in found.associations)
    outcomes: Outcome = {"association": real} | {name: name in told for name in LOOKED}
    said = any("independent rows" in limit for limit in found.limits)
    if law not in INDEPENDENT and (said or not (real or outcomes[LOOKED[0]])):  # no p, no sentence
        outcomes |= {name: Doubted(outcomes[name]) for name in ("association", LOOKED[0])}
    return outcomes


@simulation("look", "rate of a level", laws=FOR_INDEPENDENT, quick=4)
def levels(law: str, rng: np.random.Generator) -> Outcome:
    """The mean of a target in a common and in a rarer level of a column."""
    n, shift = 150, {"a": 0.0, "b": 1.0}
    level = np.where(rng.random(n) < 0.15, "b", "a")
    y = MORE_LAWS[law](rng, n) + np.array([shift[each] for each in level])
    rows = Table.from_dict({"level": level.tolist(), "y": y.tolist()})
    _, shown, _ = target_by_category(rows, "y", associations_with(rows, "y"))
    found = [holds(figure, shift[name]) for _, name, _, figure in shown]
    return {"rate of a level": float(np.mean(found)) if found else None}


@simulation("map", "far rows", quick=3)
def one_cloud(law: str, rng: np.random.Generator) -> Outcome:
    """Rows of one cloud, in two to eight columns, none of them put in from elsewhere."""
    d = int(rng.choice([2, 4, 8]))
    points = columns(law, rng, 300, d)
    return {"far rows": len(far_rows(points / points.std(axis=0))) > 0}


@simulation("compare", "difference of runs", quick=1, quick_laws=1)
def equal_runs(law: str, rng: np.random.Generator) -> Outcome:
    """Two runs on the same rows, each with a column that is as good as the other's.

    The learner is given: where one run chose the baseline, which heavy tails bring about in a
    fifth of the pairs, the models do differ.
    """
    n = 160
    y = LAWS[law](rng, n)
    X = np.column_stack([y + LAWS[law](rng, n) for _ in range(2)])
    others, options = question(law, n)
    table = as_dict(X, y=y, **others)
    with TemporaryDirectory() as place:
        names = [str(Path(place) / name) for name in ("one", "two")]
        for name, other in zip(names, ("x1", "x0")):
            learn(
                table,
                "y",
                learners=["linear regression"],
                fit_learner="linear regression",
                without=[other],
                folder=name,
                **options,
                **QUICK,
            )
        p = compare(names, folder=place).pairs[0]["p"]
    return {"difference of runs": bool(p < 0.05)}


@simulation("predict", "score of new rows", "shift", quick=1, quick_laws=1)
def new_rows(law: str, rng: np.random.Generator) -> Outcome:
    """New rows of the law of the training rows, and the score on them."""
    X, n, (others, options) = columns("normal", rng, 400, 3), 200, question(law, 400)
    y = X[:, 0] + LAWS[law](rng, 400)
    old, new = ({name: values[part] for name, values in others.items()} for part in HALVES)
    with TemporaryDirectory() as place:
        folder = str(Path(place) / "run")
        table = as_dict(X[:n], y=y[:n], **old)
        found = learn(table, "y", learners=["ridge"], folder=folder, **options, **QUICK)
        said = predict(folder, Table.from_dict(as_dict(X[n:], y=y[n:], **new)))
    many = rng.normal(size=(NEW_ROWS, 3))
    days = {n: rng.choice(new[n], NEW_ROWS).astype("M8[D]") for n in new if n == "day"}
    expected = found.model.predict(Table.from_dict(as_dict(many, **days)))
    truth = float(np.sqrt(np.mean((many[:, 0] + LAWS[law](rng, NEW_ROWS) - expected) ** 2)))
    return {"score of new rows": holds(said.score[1], truth), "shift": said.shift.found}


@simulation("train", "test score", quick=1, quick_laws=1)
def trained_networks(law: str, rng: np.random.Generator) -> Outcome:
    """The error of a small network on its test rows, and on many new rows."""
    X = columns("normal", rng, 400, 3)
    y = X[:, 0] + LAWS[law](rng, 400)
    found = train(as_dict(X, y=y), "y", hidden=[4], learning_rate=0.02, max_iter=8)
    many = rng.normal(size=(NEW_ROWS, 3))
    off = (
        many[:, 0] + LAWS[law](rng, NEW_ROWS) - found.model.predict(Table.from_dict(as_dict(many)))
    )
    truth = float(np.sqrt(np.mean(off**2)))
    held = holds(found.test_score, truth)
    said = law not in INDEPENDENT and "for independent rows" in found.verdict()
    return {"test score": Doubted(held) if said else held}


@simulation("predict", "shift", quick=1)
def like_tables(law: str, rng: np.random.Generator) -> Outcome:
    """Two tables of one law; rows are shuffled, so that what hangs together is in both."""
    block = columns(law, rng, 240, 4)[rng.permutation(240)]
    one, other = (Table.from_dict(as_dict(part)) for part in (block[:160], block[160:]))
    return {"shift": shift_check(one, other).found}
