"""Oracles: what they say of themselves is true of what they give; hierarchies of labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn.neighbors import KNeighborsClassifier

from gnomon.engine.errors import DataError
from gnomon.table import (
    Clouds,
    FunctionOracle,
    Hierarchy,
    KnownClasses,
    SwissRoll,
    friedman,
    moons,
    spirals,
)

CLASS_ORACLES = {
    "clouds": Clouds([[0, 0], [2, 0], [0, 3]], sd=1.0, weights=[0.5, 0.3, 0.2]),
    "spirals": spirals(3, noise=0.1),
    "moons": moons(0.3),
    "known": KnownClasses(lambda X: X[:, 0] ** 2, d=2),
}
every_oracle = pytest.mark.parametrize("name", CLASS_ORACLES)


@pytest.mark.covers("example-oracle", "synthetic-generators")
@every_oracle
def test_the_stated_probabilities_are_those_of_the_labels(name, rng):
    oracle = CLASS_ORACLES[name]
    X, y = oracle.sample(8000, rng)
    proba = oracle.proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    for code, label in enumerate(oracle.classes):
        p = proba[:, code]
        for low in np.arange(0, 1, 0.2):
            inside = (p >= low) & (p < low + 0.2)
            if inside.sum() > 50:
                error = np.sqrt((p[inside] * (1 - p[inside])).sum()) / inside.sum() + 1e-3
                assert abs((y[inside] == label).mean() - p[inside].mean()) < 6 * error


@pytest.mark.covers("example-oracle", "synthetic-generators")
@every_oracle
def test_no_learner_beats_the_bayes_rule(name, rng):
    oracle = CLASS_ORACLES[name]
    bayes = oracle.bayes_risk(4000, rng)
    X, y = oracle.sample(500, rng)
    learner = KNeighborsClassifier(15).fit(X, y)
    risk = oracle.risk(learner.predict, 4000, rng)
    assert risk.value > bayes.value - 6 * (risk.error + bayes.error)
    fresh = oracle.sample(5000, rng)
    wrong = oracle.bayes_rule(fresh.X) != fresh.y
    assert abs(wrong.mean() - bayes.value) < 6 * (bayes.error + np.sqrt(0.25 / 5000))


@pytest.mark.covers("example-oracle")
@pytest.mark.parametrize("weights", [None, [0.8, 0.2]])
def test_the_bayes_risk_of_two_clouds_is_exact(weights, rng):
    oracle = Clouds([[0.0, 0.0], [3.0, 4.0]], sd=2.0, weights=weights)
    exact = oracle.bayes_risk()
    assert exact.error == 0
    estimate = oracle.risk(oracle.bayes_rule, 100_000, rng)
    assert abs(exact.value - estimate.value) < 6 * estimate.error
    if weights is None:
        assert exact.value == pytest.approx(norm.cdf(-1.25))
    X = oracle.sample(5, rng).X
    shares = oracle.weights
    density = sum(
        share * multivariate_normal(mean, 4.0).pdf(X) for share, mean in zip(shares, oracle.means)
    )
    np.testing.assert_allclose(np.exp(oracle.log_density(X)), density)


@pytest.mark.covers("example-oracle", "synthetic-generators")
def test_the_function_itself_has_the_risk_of_the_noise(rng):
    for oracle in (friedman(0.7), FunctionOracle(lambda X: X[:, 0], d=3, noise=0.7)):
        X, y = oracle.sample(20_000, rng)
        assert np.var(y - oracle.target(X)) == pytest.approx(0.49, rel=0.1)
        assert oracle.bayes_risk().value == pytest.approx(0.49)
        assert oracle.risk(oracle.target).value == pytest.approx(0.49)
        off = oracle.risk(lambda X, oracle=oracle: oracle.target(X) + 1.0)
        assert off.value == pytest.approx(1.49)


@pytest.mark.covers("synthetic-generators")
def test_the_unrolled_sheet_has_true_lengths():
    roll = SwissRoll()
    t = np.linspace(1.5 * np.pi, 4.5 * np.pi, 20_001)
    path = roll.embed(np.column_stack([t, np.zeros_like(t)]))
    length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    flat = roll.flat([[t[0], 0.0], [t[-1], 5.0]])
    assert flat[1, 0] - flat[0, 0] == pytest.approx(length, rel=1e-6)
    assert flat[1, 1] - flat[0, 1] == 5


def test_the_same_seed_gives_the_same_rows_and_a_table():
    one, other = moons().sample(30, 5), moons().sample(30, 5)
    np.testing.assert_array_equal(one.X, other.X)
    assert one.to_table().columns == ("x0", "x1", "y")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: moons(0.0),
        lambda: Clouds([[0.0]], sd=-1),
        lambda: Clouds([[0.0], [1.0]], weights=[1.0]),
        lambda: FunctionOracle(len, 1, noise=-1),
        lambda: moons().sample(0),
        lambda: moons().proba([[1.0, 2.0, 3.0]]),
        lambda: KnownClasses(lambda X: 2 + X[:, 0], 1).sample(3),
    ],
)
def test_impossible_oracles_are_refused(wrong):
    with pytest.raises(DataError):
        wrong()


ANIMALS = Hierarchy.from_paths(
    [
        ["animal", "chordate", "vertebrate", "placental mammal", "carnivore", "felid", "cat"],
        ["animal", "chordate", "vertebrate", "placental mammal", "carnivore", "canid", "dog"],
        ["animal", "chordate", "vertebrate", "bird"],
    ]
)


@pytest.mark.covers("label-hierarchy")
def test_the_cat_of_000c_18_1_1_is_an_animal_at_the_top():
    assert ANIMALS.ancestors("cat")[0] == "animal"
    assert ANIMALS.coarsen(["cat", "dog", "bird"], 4).tolist() == ["carnivore", "carnivore", "bird"]
    assert ANIMALS.common("cat", "bird") == "vertebrate"
    assert ANIMALS.distance("cat", "dog") == 4
    assert ANIMALS.leaves == ["bird", "cat", "dog"]
    assert ANIMALS.depth == 6


@pytest.mark.covers("label-hierarchy")
def test_predictions_are_scored_at_every_level():
    score = ANIMALS.score(["cat", "cat", "bird"], ["cat", "dog", "dog"])
    assert score.accuracy[0] == 1
    assert score.accuracy[6] == pytest.approx(1 / 3)
    assert score.accuracy[4] == pytest.approx(2 / 3)
    assert score.distance == pytest.approx((0 + 4 + 5) / 3)
    assert ANIMALS.score(["cat"], ["cat"]).f1 == 1
    shared, predicted, true = 6 + 4 + 2, 6 + 6 + 6, 6 + 6 + 3
    assert score.precision == pytest.approx(shared / predicted)
    assert score.recall == pytest.approx(shared / true)


@pytest.mark.covers("label-hierarchy")
def test_circles_two_parents_and_unknown_labels_are_refused():
    with pytest.raises(DataError, match="no circles"):
        Hierarchy({"a": "b", "b": "a"})
    with pytest.raises(DataError, match="one parent"):
        Hierarchy.from_paths([["a", "c"], ["b", "c"]])
    with pytest.raises(DataError, match="no label 'unicorn'"):
        ANIMALS.ancestors("unicorn")
