"""NaiveBayes against formulas written out cell by cell, and its promises kept."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gnomon
from gnomon.bayes import NaiveBayes
from gnomon.bayes.column_models import on_lattice
from gnomon.engine.errors import DataError, MemoryLimitError
from gnomon.engine.modelfile import load

FAMILIES = ["normal", "poisson", "bernoulli", "categorical", "multinomial", "histogram", "kernel"]
OF_SUMS = FAMILIES[:5]


def some_rows(rng, n=120, holes=0.15):
    rows = rng.integers(0, 5, (n, 4)).astype(float)
    y = rng.permutation(np.arange(n) % 3)
    rows += y[:, None] * (rng.random((n, 4)) < 0.5)
    rows[rng.random(rows.shape) < holes] = np.nan
    return rows, y


def log_density_by_hand(family, x, known, everyone, alpha, n_bins):
    """log p(x | known values of a class) up to what all classes share."""
    n = len(known)
    if family == "normal":
        variance = known.var()
        return -0.5 * math.log(2 * math.pi * variance) - (x - known.mean()) ** 2 / (2 * variance)
    if family == "poisson":
        rate = (known.sum() + alpha) / n
        return x * math.log(rate) - rate
    if family == "bernoulli":
        yes = ((known > 0).sum() + alpha) / (n + 2 * alpha)
        return math.log(yes if x > 0 else 1 - yes)
    if family == "categorical":
        values = np.unique(everyone)
        return math.log(((known == x).sum() + alpha) / (n + alpha * len(values)))
    if family == "histogram":
        low, high = everyone.min(), everyone.max()
        place = [min(int((v - low) / (high - low) * n_bins), n_bins - 1) for v in [x, *known]]
        return math.log((place[1:].count(place[0]) + alpha) / (n + alpha * n_bins))
    bumps = np.exp(-((x - known) ** 2) / (2 * 0.7**2)) / (0.7 * math.sqrt(2 * math.pi))
    return math.log(bumps.mean())


@pytest.mark.covers("naive-bayes", "naive-bayes-missing", "naive-bayes-kde")
@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "multinomial"])
def test_log_joint_is_the_sum_over_known_cells_written_out(rng, family):
    rows, y = some_rows(rng)
    model = NaiveBayes(family, alpha=0.7, n_bins=4, bandwidth=0.7, var_smoothing=0).fit(rows, y)
    joint = model.predict_joint_log_proba(rows[:20])
    for i, row in enumerate(rows[:20]):
        for k in range(3):
            expected = math.log((y == k).mean())
            for j, x in enumerate(row):
                if not np.isnan(x):
                    cells = rows[y == k, j]
                    everyone = rows[~np.isnan(rows[:, j]), j]
                    known = cells[~np.isnan(cells)]
                    expected += log_density_by_hand(family, x, known, everyone, 0.7, 4)
            assert joint[i, k] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.covers("naive-bayes")
def test_multinomial_shares_are_those_of_all_counts_of_the_class():
    rows = [[2, 0, 1], [3, 1, 0], [0, 4, 4]]
    model = NaiveBayes("multinomial", alpha=1.0).fit(rows, ["a", "a", "b"])
    shares = np.exp(model.fitted_models_[0].log_share)
    np.testing.assert_allclose(shares, [[6 / 10, 2 / 10, 2 / 10], [1 / 11, 5 / 11, 5 / 11]])


@pytest.mark.covers("naive-bayes-missing")
@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "multinomial"])
def test_a_missing_column_equals_a_model_that_never_had_it(rng, family):
    rows, y = some_rows(rng)
    without = NaiveBayes(family, var_smoothing=0).fit(rows[:, :3], y)
    hidden = rows.copy()
    hidden[:, 3] = np.nan
    with_it = NaiveBayes(family, var_smoothing=0).fit(rows, y)
    np.testing.assert_allclose(
        with_it.predict_joint_log_proba(hidden),
        without.predict_joint_log_proba(rows[:, :3]),
        rtol=1e-12,
        atol=1e-13,  # of sums that nearly cancel
    )


@pytest.mark.covers("naive-bayes-missing")
def test_missingness_that_depends_on_the_class_is_learnt_when_asked(rng):
    rows, y = rng.normal(size=(400, 1)), np.repeat([0, 1], 200)
    rows[200:300] = np.nan
    model = NaiveBayes(missing="model").fit(rows, y)
    # missing: 0 of 200 and 100 of 200, add one each way.
    odds = (101 / 202) / (1 / 202)
    assert model.predict_proba([[np.nan]])[0, 1] == pytest.approx(odds / (1 + odds))
    assert NaiveBayes().fit(rows, y).predict_proba([[np.nan]])[0, 1] == pytest.approx(0.5)


@pytest.mark.covers("naive-bayes-missing")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_class_with_no_known_value_in_a_column_gets_no_verdict_from_it(rng, family):
    rows, y = some_rows(rng, holes=0)
    rows[y == 1, 2] = np.nan
    model = NaiveBayes(family).fit(rows, y)
    assert np.isfinite(model.predict_joint_log_proba(rows)).all()
    rows[:, 2] = np.nan
    assert np.isfinite(NaiveBayes(family).fit(rows, y).predict_proba(rows)).all()


@pytest.mark.covers("naive-bayes")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("family", [*OF_SUMS, {0: "normal", 1: "poisson", 2: "categorical"}])
def test_batches_in_any_cut_equal_one_fit(rng, family, weighted):
    rows, y = some_rows(rng)
    weights = rng.uniform(0.1, 3, len(y)) if weighted else None
    whole = NaiveBayes(family).fit(rows, y, sample_weight=weights)
    batches = NaiveBayes(family)
    cuts = np.sort(rng.integers(1, len(y), 3))
    for part in np.split(np.arange(len(y)), np.unique(cuts)):
        batches.partial_fit(
            rows[part],
            y[part],
            classes=[0, 1, 2],
            sample_weight=None if weights is None else weights[part],
        )
    np.testing.assert_allclose(
        batches.predict_joint_log_proba(rows), whole.predict_joint_log_proba(rows), rtol=1e-9
    )
    np.testing.assert_allclose(batches.class_count_, whole.class_count_)


@pytest.mark.parametrize("family", ["histogram", "kernel"])
def test_batches_are_refused_where_all_rows_are_needed_first(family):
    with pytest.raises(ValueError, match=r"needs .* all rows before"):
        NaiveBayes(family).partial_fit([[1.0], [2.0]], [0, 1], classes=[0, 1])


def test_a_class_that_was_not_announced_is_refused_and_nothing_changes():
    model = NaiveBayes().partial_fit([[1.0], [2.0]], ["a", "b"], classes=["a", "b"])
    before = model.predict_proba([[1.3]])
    with pytest.raises(ValueError, match="'c'"):
        model.partial_fit([[1.0]], ["c"])
    assert (model.predict_proba([[1.3]]) == before).all()


@pytest.mark.parametrize("center", [0.0, 1e8, -3e12])
def test_a_far_mean_costs_no_digits_even_when_classes_come_sorted(rng, center):
    unit = 2.0 ** np.ceil(np.log2(max(abs(center) * 2.0**-30, 1.0)))
    offsets = rng.integers(-8, 9, (30_000, 2)) * unit
    y = np.repeat([0, 1, 2], 10_000)
    rows = np.rint(center) + offsets + y[:, None] * 1e4 * unit
    normal = NaiveBayes(var_smoothing=0).fit(rows, y).fitted_models_[0]
    for k in range(3):
        np.testing.assert_allclose(normal.variance[k], offsets[y == k].var(axis=0), rtol=1e-10)


def test_no_underflow_with_thousands_of_columns(rng):
    rows, y = rng.normal(size=(40, 3000)), np.repeat([0, 1], 20)
    rows[y == 1] += 0.2
    model = NaiveBayes().fit(rows, y)
    log_proba = model.predict_log_proba(rows * 50)
    assert np.isfinite(log_proba).all()
    np.testing.assert_allclose(np.exp(log_proba).sum(axis=1), 1.0)


@pytest.mark.parametrize("family", ["normal", "kernel", "histogram"])
def test_rows_at_absurd_distances_still_get_probabilities(rng, family):
    model = NaiveBayes(family).fit(rng.normal(size=(30, 2)) * 1e-90, np.repeat([0, 1], 15))
    proba = model.predict_proba([[1e99, -1e99], [1e99, np.nan], [0.0, 0.0]])
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_a_constant_column_is_refused_only_without_variance_smoothing():
    rows, y = [[1.0, 0.1], [2.0, 0.1], [3.0, 0.1], [5.0, 0.1]], [0, 0, 1, 1]
    assert np.isfinite(NaiveBayes().fit(rows, y).predict_proba(rows)).all()
    with pytest.raises(DataError, match="'x1' has one value only"):
        NaiveBayes(var_smoothing=0).fit(rows, y)


@pytest.mark.covers("naive-bayes")
@pytest.mark.parametrize("missing", ["skip", "model"])
@pytest.mark.parametrize("family", FAMILIES)
def test_log_odds_of_columns_add_up_to_those_of_the_posterior(rng, family, missing):
    rows, y = some_rows(rng)
    model = NaiveBayes(family, missing=missing).fit(rows, y)
    why = model.log_odds(rows, of=2, against=0)
    log_proba = model.predict_log_proba(rows)
    total = why["(total)"].to_numpy()
    np.testing.assert_allclose(total, log_proba[:, 2] - log_proba[:, 0], atol=1e-9)
    parts = sum(why[name].to_numpy() for name in ["(prior)", "x0", "x1", "x2", "x3"])
    np.testing.assert_allclose(parts, total, atol=1e-9)
    default = model.log_odds(rows)
    assert (default["(class)"].to_numpy() == model.predict(rows)).all()
    assert (default["(total)"].to_numpy() >= -1e-9).all()
    if missing == "skip":
        assert (why["x1"].to_numpy()[np.isnan(rows[:, 1])] == 0).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_sparse_rows_give_what_dense_rows_give(rng, family):
    rows, y = some_rows(rng)
    rows[rng.random(rows.shape) < 0.5] = 0.0
    dense, sparse = (NaiveBayes(family).fit(x, y) for x in (rows, sp.csr_array(rows)))
    np.testing.assert_allclose(
        sparse.predict_joint_log_proba(sp.csr_array(rows)),
        dense.predict_joint_log_proba(rows),
        rtol=1e-11,
    )


@pytest.mark.parametrize("family", [*FAMILIES, {1: "kernel", 2: "histogram", 3: "poisson"}])
def test_a_loaded_model_predicts_the_same_bits(rng, family, tmp_path):
    rows, y = some_rows(rng)
    model = NaiveBayes(family, missing="model").fit(rows, y)
    again = load(model.save(tmp_path / "nb.gnomon"))
    assert (again.predict_proba(rows) == model.predict_proba(rows)).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_number_of_threads_changes_no_bit(rng, family):
    rows, y = some_rows(rng, n=20_000)
    one, two = (NaiveBayes(family, n_jobs=n).fit(rows, y) for n in (1, 2))
    assert (one.predict_joint_log_proba(rows) == two.predict_joint_log_proba(rows)).all()


@pytest.mark.parametrize("family", ["poisson", "multinomial"])
def test_a_negative_count_is_refused_with_its_column(family):
    with pytest.raises(DataError, match="'x1' holds -2"):
        NaiveBayes(family).fit([[1, 2], [0, -2.0]], [0, 1])
    model = NaiveBayes(family).fit([[1, 2], [0, 2.0]], [0, 1])
    with pytest.raises(DataError, match="'x0' holds -1"):
        model.predict([[-1, 0.0]])


def test_wrong_columns_models_and_priors_are_refused_by_name():
    rows, y = [[1.0], [2.0]], [0, 1]
    with pytest.raises(DataError, match="'height' that is not there"):
        NaiveBayes({"height": "normal"}).fit(rows, y)
    with pytest.raises(ValueError, match="'gauss'"):
        NaiveBayes({0: "gauss"}).fit(rows, y)
    with pytest.raises(ValueError, match="2 classes"):
        NaiveBayes(priors=[1.0]).fit(rows, y)
    with pytest.raises(ValueError, match="1 together"):
        NaiveBayes(priors=[0.5, 0.6]).fit(rows, y)


@pytest.mark.covers("naive-bayes-kde")
def test_silvermans_rule_per_class_and_column():
    values = np.array([1.0, 2, 4, 8, 16, 3, 3.5, 4, 4.5, 9])
    model = NaiveBayes("kernel").fit(values[:, None], np.repeat([0, 1], 5))
    for k, mine in enumerate((values[:5], values[5:])):
        quartiles = np.quantile(mine, [0.25, 0.75], method="inverted_cdf")
        spread = min(mine.std(), np.ptp(quartiles) / 1.34)
        assert model.fitted_models_[0].bandwidth[k, 0] == pytest.approx(0.9 * spread * 5**-0.2)


@pytest.mark.covers("naive-bayes-kde")
def test_the_lattice_of_many_values_keeps_the_density_to_a_thousandth(rng):
    rows, y = rng.normal(size=(8000, 1)), np.repeat([0, 1], 4000)
    exact = NaiveBayes("kernel", kernel_points=None).fit(rows, y)
    lattice = NaiveBayes("kernel", kernel_points=500).fit(rows, y)
    at = np.linspace(-2.5, 2.5, 101)[:, None]
    error = lattice.predict_joint_log_proba(at) - exact.predict_joint_log_proba(at)
    assert np.abs(error).max() < 1e-3
    assert exact.fitted_models_[0].exact.all()
    assert not lattice.fitted_models_[0].exact.any()


def test_a_lattice_keeps_weight_and_mean(rng):
    points, weight = np.sort(rng.normal(size=300)), rng.uniform(0.1, 1, 300)
    moved, gathered = on_lattice(points, weight, 0.05)
    assert gathered.sum() == pytest.approx(weight.sum())
    assert moved @ gathered == pytest.approx(points @ weight)


def test_far_kernel_densities_follow_the_nearest_value():
    model = NaiveBayes("kernel", bandwidth=1.0).fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    log_density = model.predict_joint_log_proba([[200.0]])[0] - np.log(0.5)
    nearest = -0.5 * np.array([199.0, 194.0]) ** 2 - 0.5 * np.log(2 * np.pi) - np.log(2)
    np.testing.assert_allclose(log_density, nearest, rtol=1e-12)


@pytest.fixture
def visits(rng):
    """A table of every kind of column, with missing cells, and its classes."""
    n = 200
    y = rng.permutation(np.arange(n) % 2)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(40 + 10 * y, 8)),
            "place": rng.choice(["north", "south", "east"], n),
            "member": rng.random(n) < 0.2 + 0.5 * y,
            "visits": rng.poisson(2 + y),
        }
    )
    frame.loc[rng.random(n) < 0.1, "place"] = None
    return frame, y


@pytest.mark.covers("naive-bayes", "naive-bayes-missing")
def test_a_table_chooses_models_by_kind_and_reads_an_unseen_category_as_missing(visits):
    frame, y = visits
    model = NaiveBayes({"visits": "poisson"}).fit(frame, y)
    assert model.column_models_ == {
        "age": "normal",
        "place": "categorical",
        "member": "bernoulli",
        "visits": "poisson",
    }
    unseen, absent = frame.head(5).assign(place="west"), frame.head(5).assign(place=None)
    assert (model.predict_proba(unseen) == model.predict_proba(absent)).all()


def test_models_that_a_table_cannot_have_are_refused(visits):
    frame, y = visits
    with pytest.raises(DataError, match="'place' holds categories"):
        NaiveBayes({"place": "normal"}).fit(frame, y)
    assert NaiveBayes("kernel").fit(frame, y).column_models_["place"] == "categorical"
    with pytest.raises(DataError, match="columns of numbers only"):
        NaiveBayes().partial_fit(frame, y, classes=[0, 1])


def test_kernel_columns_beyond_the_memory_limit_are_refused_before_they_are_gathered(rng):
    rows, y = rng.normal(size=(20_000, 5)), np.arange(20_000) % 2
    with gnomon.config(memory_limit=10**6), pytest.raises(MemoryLimitError, match="kernel model"):
        NaiveBayes("kernel").fit(rows, y)
