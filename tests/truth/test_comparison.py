"""Tests that compare learners: their formulas, and that they hold their level where others fail."""

import itertools
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.metrics import make_scorer, r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from gnomon.cluster import KMeans
from gnomon.engine.errors import DataError
from gnomon.evaluate import (
    Scores,
    accuracy,
    bayesian_sign_test,
    bayesian_signed_rank_test,
    bayesian_t_test,
    cochran_q_test,
    compare_areas,
    compare_scores,
    corrected_standard_error,
    corrected_t_test,
    cross_validation_estimates,
    experiment,
    five_by_two_f_test,
    five_by_two_t_test,
    friedman_test,
    k_fold,
    leaderboard,
    mcnemar_of_counts,
    mcnemar_test,
    random_splits,
    sign_test,
    wilcoxon_test,
)
from gnomon.evaluate.leaderboard import ranked

RUNS = 2000


def equally_good_learners(rng, splits, runs: int = RUNS, n: int = 100) -> np.ndarray:
    """Squared errors per fold of least squares on one of two equally good columns.

    Really refitted on every fold of every run; of shape (2, runs, folds).
    """
    columns = rng.normal(size=(2, runs, n))
    y = columns.sum(axis=0) + rng.normal(size=(runs, n))
    scores = np.empty((2, runs, len(splits)))
    for fold, (train, test) in enumerate(splits):
        for learner, x in enumerate(columns):
            mean_x, mean_y = x[:, train].mean(1, keepdims=True), y[:, train].mean(1, keepdims=True)
            gaps = x[:, train] - mean_x
            slope = (gaps * (y[:, train] - mean_y)).sum(1, keepdims=True)
            slope /= (gaps**2).sum(1, keepdims=True)
            errors = y[:, test] - mean_y - slope * (x[:, test] - mean_x)
            scores[learner, :, fold] = (errors**2).mean(axis=1)
    return scores


def rejections(tests, confidence_level: float = 0.05) -> float:
    return float(np.mean([each.p < confidence_level for each in tests]))


def not_above(count: float, runs: int, confidence_level: float) -> bool:
    """Whether so many rejections do not refute (at one in 10,000) that the level holds."""
    return stats.binom.sf(count - 1, runs, confidence_level) > 1e-4


@pytest.mark.covers("learner-comparison")
@pytest.mark.parametrize(
    "splits",
    [k_fold(100, 10, 5), random_splits(100, 30, 0.1), random_splits(100, 15, 1 / 3)],
    ids=["5 x 10 folds", "30 random splits", "15 random thirds"],
)
def test_the_plain_t_test_on_folds_finds_differences_that_are_not_there(splits, rng):
    first, second = equally_good_learners(rng, splits)
    plain = stats.ttest_rel(first, second, axis=1).pvalue
    corrected = [corrected_t_test(a, b, splits.test_share) for a, b in zip(first, second)]
    assert np.mean(plain < 0.05) > 0.25
    assert rejections(corrected) <= 0.075
    covered = [each.difference.low <= 0 <= each.difference.high for each in corrected]
    assert 0.925 <= np.mean(covered) <= 0.985


@pytest.mark.covers("learner-comparison")
def test_the_corrected_test_is_careful_on_ten_folds_once(rng):
    splits = k_fold(100, 10)
    first, second = equally_good_learners(rng, splits)
    assert rejections([corrected_t_test(a, b, 1 / 9) for a, b in zip(first, second)]) <= 0.06


@pytest.mark.covers("learner-comparison")
def test_tests_of_five_times_two_folds_hold_their_level(rng):
    first, second = equally_good_learners(rng, k_fold(100, 2, 5))
    pairs = list(zip(first, second))
    assert rejections([five_by_two_t_test(a, b) for a, b in pairs]) <= 0.07
    assert rejections([five_by_two_f_test(a, b) for a, b in pairs]) <= 0.075


@pytest.mark.covers("learner-comparison")
def test_the_corrected_test_finds_a_difference_that_is_there(rng):
    splits = k_fold(100, 10, 5)
    first, second = equally_good_learners(rng, splits, runs=200)
    assert rejections([corrected_t_test(a, b + 3.0, 1 / 9) for a, b in zip(first, second)]) > 0.9


@pytest.mark.covers("learner-comparison")
def test_mcnemars_test_holds_its_level(rng):
    for n, share in ((60, 0.3), (1000, 0.3)):
        counts = rng.multinomial(n, [share / 2, share / 2, 1 - share], RUNS)
        found = {
            method: rejections([mcnemar_of_counts(b, c, n, method) for b, c, _ in counts])
            for method in ("mid-p", "exact", "chi2")
        }
        assert found["exact"] <= 0.065
        assert found["chi2"] <= 0.065
        assert found["exact"] <= found["mid-p"] <= 0.075
    assert found["mid-p"] >= 0.03


def test_cochrans_q_holds_its_level(rng):
    shared = rng.normal(size=(RUNS, 150, 1))
    right = (shared + rng.normal(size=(RUNS, 150, 4)) > -0.8).astype(int)
    assert 0.03 <= rejections([cochran_q_test(each) for each in right]) <= 0.07


def test_wilcoxon_and_sign_tests_hold_their_level(rng):
    first, second = rng.standard_t(3, size=(2, 1000, 25))
    pairs = list(zip(first, second))
    found = [wilcoxon_test(a, b) for a, b in pairs]
    assert 0.025 <= rejections(found) <= 0.08
    assert np.mean([each.difference.low <= 0 <= each.difference.high for each in found]) >= 0.92
    assert rejections([sign_test(a, b) for a, b in pairs]) <= 0.07


@pytest.mark.parametrize("n", [6, 10, 30, 60])
def test_wilcoxons_interval_holds_zero_exactly_where_p_does_not_reject(n, rng):
    for gaps in rng.normal(1 / np.sqrt(n), 1, size=(200, n)):
        found = wilcoxon_test(gaps, np.zeros(n))
        assert (found.p < 0.05) == (not found.difference.low <= 0 <= found.difference.high)


def test_friedmans_test_and_nemenyis_difference_hold_their_level(rng):
    scores = rng.normal(size=(400, 20, 1)) + rng.normal(size=(400, 20, 4))
    found = [friedman_test(each) for each in scores]
    assert np.mean([each.p < 0.05 for each in found]) <= 0.09
    assert np.mean([each.f_p < 0.05 for each in found]) <= 0.1
    apart = [np.ptp(each.ranks) > each.critical_difference for each in found]
    assert np.mean(apart) <= 0.09
    agree = [(each.pair_p.min() < 0.05) == far for each, far in zip(found, apart)]
    assert np.mean(agree) > 0.99


@pytest.mark.covers("roc-curve")
def test_delongs_test_holds_its_level(rng):
    y = np.repeat([0, 1], [70, 50])
    shared = rng.normal(size=(RUNS, 120)) + y
    first, second = shared + rng.normal(size=(2, RUNS, 120))
    found = [compare_areas(y, a, b) for a, b in zip(first, second)]
    assert 0.03 <= rejections(found) <= 0.07
    covered = [each.difference.low <= 0 <= each.difference.high for each in found]
    assert 0.93 <= np.mean(covered) <= 0.97


def test_of_many_equal_learners_hardly_ever_one_is_called_different(rng):
    wrong = 0
    for scores in rng.normal(size=(400, 12, 20)):
        found = compare_scores({str(i): row for i, row in enumerate(scores)}, 1 / 19)
        wrong += found.real.any()
    assert wrong / 400 <= 0.09


@pytest.mark.covers("learner-comparison")
def test_the_corrected_statistic_is_that_of_nadeau_and_bengio(rng):
    a, b = rng.normal(size=(2, 15))
    gaps = a - b
    t = gaps.mean() / np.sqrt((1 / 15 + 0.2) * gaps.var(ddof=1))
    found = corrected_t_test(a, b, 0.2)
    assert found.statistic == pytest.approx(t)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), 14))
    assert found.difference.error == pytest.approx(corrected_standard_error(gaps, 0.2))
    assert Scores("a", a, 0.2).p_against(Scores("b", b, 0.2)) == pytest.approx(found.p)
    reverse = corrected_t_test(b, a, 0.2)
    assert reverse.statistic == pytest.approx(-t)


@pytest.mark.covers("learner-comparison")
def test_bayesian_probabilities_are_areas_of_students_posterior(rng):
    a, b = rng.normal(size=(2, 10)) * 0.02
    found = bayesian_t_test(a, b, 1 / 9, rope=0.01)
    gaps = a - b
    rho = 1 / 10
    posterior = stats.t(9, gaps.mean(), np.sqrt((1 / 10 + rho / (1 - rho)) * gaps.var(ddof=1)))
    assert found.worse == pytest.approx(posterior.cdf(-0.01))
    assert found.better == pytest.approx(posterior.sf(0.01))
    assert found.worse + found.equal + found.better == pytest.approx(1)
    flipped = bayesian_t_test(a, b, 1 / 9, rope=0.01, greater_is_better=False)
    assert (flipped.better, flipped.worse) == (found.worse, found.better)
    assert bayesian_t_test(a, b, 1 / 9, rope=10.0).decision() == "equal"
    assert bayesian_t_test(a + 9, b, 1 / 9).decision() == "better"
    assert found.difference.low == pytest.approx(posterior.ppf(0.025))


def test_five_by_two_statistics_by_their_formulas(rng):
    a, b = rng.normal(size=(2, 5, 2))
    p = a - b
    s2 = p.var(axis=1) * 2
    assert five_by_two_t_test(a, b).statistic == pytest.approx(p[0, 0] / np.sqrt(s2.mean()))
    f = (p**2).sum() / (2 * s2.sum())
    assert five_by_two_f_test(a, b).statistic == pytest.approx(f)
    assert five_by_two_f_test(a, b).p == pytest.approx(stats.f.sf(f, 10, 5))
    assert five_by_two_f_test(a.ravel(), b.ravel()).statistic == pytest.approx(f)
    with pytest.raises(DataError, match="ten finite scores"):
        five_by_two_t_test(a[:4], b[:4])


def test_mcnemars_p_by_counting_all_outcomes_of_a_fair_coin():
    for b, c in ((0, 5), (3, 9), (6, 6), (1, 0)):
        n = b + c
        probabilities = [stats.binom.pmf(k, n, 0.5) for k in range(n + 1)]
        exact = sum(p for k, p in enumerate(probabilities) if min(k, n - k) <= min(b, c))
        found = mcnemar_of_counts(b, c, 20, "exact").p
        assert found == pytest.approx(min(exact, 1))
    assert mcnemar_of_counts(0, 0, 9).p == 1
    y, first, second = [0, 0, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1]
    assert mcnemar_test(y, first, second).n == 2


def test_sign_test_leaves_ties_out_and_says_so():
    found = sign_test([1, 2, 3, 4, 5], [0, 1, 2, 4, 6])
    assert (found.statistic, found.n) == (3, 4)
    assert "1 ties of 5" in str(found)
    assert found.p == pytest.approx(2 * stats.binom.cdf(1, 4, 0.5))


def test_friedman_groups_are_those_within_the_critical_difference():
    scores = np.array([[0.9, 0.8, 0.5, 0.4]] * 12) + np.arange(12)[:, None] * 0.001
    found = friedman_test(scores, ["a", "b", "c", "d"])
    assert found.ranks.tolist() == [1, 2, 3, 4]
    spread = np.sqrt(4 * 5 / (6 * 12))
    assert found.critical_difference == pytest.approx(2.569 * spread, abs=1e-3)
    for group in found.groups():
        ranks = [found.ranks["abcd".index(name)] for name in group]
        assert max(ranks) - min(ranks) <= found.critical_difference
    worse = friedman_test(scores, greater_is_better=False)
    assert worse.ranks.tolist() == [4, 3, 2, 1]


def test_equal_scores_differ_with_p_one_and_a_constant_gap_with_p_zero():
    same = np.array([0.5, 0.6, 0.7])
    assert corrected_t_test(same, same, 0.5).p == 1
    assert corrected_t_test(same, same + 0.125, 0.5).p < 1e-6
    assert bayesian_t_test(same, same, 0.5, rope=0.0).equal == 1
    assert friedman_test(np.ones((5, 3))).p == 1
    assert cochran_q_test(np.ones((5, 3))).p == 1
    assert wilcoxon_test(same, same).p == 1


def test_unpaired_missing_or_single_scores_are_refused():
    with pytest.raises(DataError, match="same folds"):
        corrected_t_test([1, 2, 3], [1, 2], 0.1)
    with pytest.raises(DataError, match="must be finite"):
        corrected_t_test([1, np.nan, 3], [1, 2, 3], 0.1)
    with pytest.raises(DataError, match="two folds"):
        corrected_t_test([1], [2], 0.1)
    with pytest.raises(DataError, match="table 0, learner 1"):
        friedman_test([[1, np.nan], [1, 2]])


@pytest.mark.covers("learner-comparison")
def test_a_table_of_all_pairs_is_that_of_the_single_tests(rng):
    scores = {name: rng.normal(size=10) + shift for name, shift in zip("abc", (0, 0.5, 3))}
    found = compare_scores(scores, 1 / 9, rope=0.3)
    assert found.names[0] == "c"
    for one in "abc":
        for other in set("abc") - {one}:
            figure, adjusted = found.between(one, other)
            single = corrected_t_test(scores[one], scores[other], 1 / 9)
            assert figure[:3] == pytest.approx(single.difference[:3])
            assert adjusted >= single.p - 1e-12
    place = {name: found.names.index(name) for name in "abc"}
    pair = np.flatnonzero((found.first == 0) & (found.second == place["a"]))[0]
    expected = bayesian_t_test(scores["c"], scores["a"], 1 / 9, 0.3).equal
    assert found.equal[pair] == pytest.approx(expected)
    assert len(found.to_table()) == 3


def test_learners_with_missing_scores_are_left_out_by_name(rng):
    scores = {"a": rng.normal(size=5), "b": rng.normal(size=5), "c": [1, 2, np.nan, 4, 5]}
    found = compare_scores(scores, 0.25)
    assert found.left_out == ["c"]
    assert "Left out, as folds failed: c" in str(found)


def test_a_thousand_models_of_ten_folds_are_compared_in_under_two_seconds(rng):
    scores = {f"model {i}": row for i, row in enumerate(rng.normal(size=(1000, 10)))}
    compare_scores({name: scores[name] for name in list(scores)[:3]}, 1 / 9)
    begin = time.process_time()
    found = compare_scores(scores, 1 / 9)
    text = str(found)
    assert time.process_time() - begin < 2
    assert len(found.p) == 499_500
    assert "more lines" in text


@pytest.mark.slow
def test_a_leaderboard_of_a_thousand_models_is_compared_in_under_two_seconds(rng):
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    one = cross_validation_estimates(GaussianNB(), X, y, cv=10)
    scores = one.scores["accuracy"] + 0.05 * rng.normal(size=(1000, 10))
    board = ranked(
        [replace(one, name=f"model {i}", scores={"accuracy": row}) for i, row in enumerate(scores)]
    )
    begin = time.process_time()
    found = board.differences()
    text = str(found)
    assert time.process_time() - begin < 2
    assert len(found.p) == 499_500
    assert "more lines" in text


@pytest.mark.covers("learner-comparison")
def test_the_bayesian_t_test_errs_as_seldom_as_the_corrected_one_and_less_with_a_rope(rng):
    splits = k_fold(100, 10, 5)
    first, second = equally_good_learners(rng, splits, runs=500)
    sure = {0.0: 0, 0.2: 0}
    for a, b in zip(first, second):
        p = corrected_t_test(a, b, splits.test_share).p
        for rope in sure:
            found = bayesian_t_test(a, b, splits.test_share, rope)
            sure[rope] += max(found.better, found.worse) >= 0.975
            if rope == 0:
                assert 2 * min(found.better, found.worse) == pytest.approx(p, abs=1e-12)
    assert not_above(sure[0.0], 500, 0.05)
    assert sure[0.2] <= sure[0.0]


@pytest.mark.covers("learner-comparison")
@pytest.mark.parametrize("test", [bayesian_sign_test, bayesian_signed_rank_test])
def test_of_equal_learners_one_is_called_better_in_a_twentieth_and_less_with_a_rope(test, rng):
    runs, sure = 400, {0.0: np.zeros(2), 0.3: np.zeros(2)}
    for seed, gaps in enumerate(rng.normal(size=(runs, 25))):
        for rope, count in sure.items():
            found = test(gaps, np.zeros(25), rope, n_draws=400, random_state=seed)
            count += np.array([found.better, found.worse]) >= 0.95
    for count in sure[0.0]:
        assert not_above(count, runs, 0.06)
        assert count / runs >= 0.01
    assert sure[0.3].sum() <= sure[0.0].sum()


@pytest.mark.covers("learner-comparison")
def test_bayesian_sign_probabilities_are_integrals_over_the_dirichlet_law():
    # three tables better, two worse, none equal; prior one: Dirichlet(2, 1, 3)
    first, second = [0.9, 0.9, 0.9, 0.1, 0.1], [0.5] * 5
    found = bayesian_sign_test(first, second, rope=0.05, n_draws=50_000)
    side = np.linspace(0, 1, 401)[1:-1]
    worse, better = np.meshgrid(side, side)
    equal = 1 - worse - better
    density = np.where(equal > 0, worse * better**2, 0.0)
    for value, largest in [
        (found.better, (better > worse) & (better > equal)),
        (found.worse, (worse > better) & (worse > equal)),
    ]:
        assert value == pytest.approx(density[largest].sum() / density.sum(), abs=0.015)
    assert found.worse + found.equal + found.better == pytest.approx(1)


@pytest.mark.covers("learner-comparison")
def test_bayesian_signed_ranks_by_plain_loops_over_pairs(rng):
    first, second = rng.random((2, 6))
    found = bayesian_signed_rank_test(first, second, rope=0.1, n_draws=1000, random_state=5)
    gaps = [0.0, *(first - second)]
    wins = np.zeros(3)
    for weights in np.random.default_rng(5).dirichlet(np.ones(7), 1000):
        shares = np.zeros(3)
        for (i, a), (j, b) in itertools.product(enumerate(gaps), repeat=2):
            middle = (a + b) / 2
            shares[1 + (middle > 0.1) - (middle < -0.1)] += weights[i] * weights[j]
        wins[shares.argmax()] += 1
    np.testing.assert_allclose([found.worse, found.equal, found.better], wins / 1000, atol=0.002)


@pytest.mark.covers("learner-comparison")
def test_bayesian_rank_tests_change_sides_with_the_learners(rng):
    first, second = rng.random((2, 12))
    for test in (bayesian_sign_test, bayesian_signed_rank_test):
        one, other = test(first, second, 0.05), test(second, first, 0.05)
        assert one.better == pytest.approx(other.worse, abs=0.03)
        losses = test(first, second, 0.05, greater_is_better=False)
        assert losses.better == one.worse
        with pytest.raises(DataError, match="rope"):
            test(first, second, -1)


@pytest.mark.covers("learner-comparison")
def test_an_experiment_counts_wins_per_table_and_ranks_over_tables(rng):
    tables = {}
    for name in ("one", "two", "three"):
        X = rng.normal(size=(400, 2))
        tables[name] = X, np.where(X[:, 0] + 0.3 * rng.normal(size=400) > 0, "yes", "no")
    learners = {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1)}
    found = experiment(learners, tables, cv=5, pair_fits=0)
    assert found.names == ["bayes", "stump", "baseline"]
    assert found.scores.shape == (3, 3)
    duels = found.against("baseline")
    assert duels.counts("bayes") == (3, 0, 0)
    for table, row in zip(tables, duels.outcome):
        for name, outcome in zip(duels.names, row):
            p = found.boards[table][name].p_against(found.boards[table]["baseline"])
            assert (outcome != 0) == (p < 0.05)
    assert found.ranks().names == found.names
    np.testing.assert_allclose(found.ranks().ranks.sum(), 6)
    assert "on 3 tables" in str(found)
    with pytest.raises(DataError, match="none of"):
        found.against("forest")


def test_an_experiment_keeps_the_failure_of_a_learner_on_one_table(rng):
    class Picky(GaussianNB):
        def fit(self, X, y):
            if X.shape[1] == 3:
                raise ValueError("three columns are too many")
            return super().fit(X, y)

    y = np.tile([0, 1], 20)
    tables = {d: (rng.normal(size=(40, d)), y) for d in (2, 3)}
    found = experiment({"picky": Picky()}, tables, cv=4)
    assert np.isnan(found.scores[1, 0])
    assert np.isnan(found.against().outcome[1, 0])
    assert "picky on 3 failed" in str(found)
    with pytest.raises(DataError, match="picky failed on 3"):
        found.ranks()


def test_shares_regions_and_counts_that_cannot_be_are_refused():
    one, other = [0.8, 0.9, 0.7], [0.7, 0.9, 0.8]
    for share in (-0.1, np.nan, "0.1"):
        with pytest.raises(DataError, match=f"test_share={share!r} must be test rows per training"):
            compare_scores({"a": one, "b": other}, share)
        with pytest.raises(DataError, match="test_share="):
            corrected_t_test(one, other, share)
    for rope in (-1, "0.1"):
        for take in (
            lambda rope: compare_scores({"a": one, "b": other}, 0.1, rope=rope),
            lambda rope: bayesian_t_test(one, other, 0.1, rope=rope),
            lambda rope: bayesian_sign_test(one, other, rope),
        ):
            with pytest.raises(DataError, match=f"rope={rope!r} must be the largest difference"):
                take(rope)
    with pytest.raises(DataError, match="whole numbers of rows"):
        mcnemar_of_counts(1.5, 2, 10)
    with pytest.raises(DataError, match="by the learners' names"):
        compare_scores([one, other], 0.1)


def test_the_columns_of_a_table_name_the_learners():
    table = pd.DataFrame({"tree": [1, 0, 1, 1], "bayes": [0, 0, 1, 0], "rule": [0, 1, 1, 0]})
    assert cochran_q_test(table).names == list(table)
    assert sorted(friedman_test(table).names) == sorted(table)
    assert friedman_test(table, names=list("abc")).names != list(table)
    with pytest.raises(DataError, match="2 names for 3 learners"):
        cochran_q_test(table, names=["a", "b"])


def test_learners_and_tables_that_cannot_be_compared_are_refused_by_name(rng):
    X, y = rng.normal(size=(30, 2)), np.tile([0, 1], 15)
    with pytest.raises(DataError, match="is no list of learners; give"):
        leaderboard(GaussianNB(), X, y)
    with pytest.raises(DataError, match="is no learner: give an estimator object"):
        leaderboard([GaussianNB], X, y)
    with pytest.raises(DataError, match="GaussianNB predicts classes and LinearRegression numbers"):
        leaderboard([GaussianNB(), LinearRegression()], X, y)
    with pytest.raises(DataError, match="give the tables by name"):
        experiment([GaussianNB()], [(X, y)])


def test_a_measure_of_the_estimator_has_no_pooled_value_and_says_so(rng):
    X = rng.normal(size=(60, 2))
    scorer = make_scorer(r2_score)
    found = cross_validation_estimates(LinearRegression(), X, X[:, 0], measures=scorer)
    with pytest.raises(DataError, match="use mean_over_folds"):
        found.pooled()


@pytest.mark.parametrize("measure", ["accuracy", "rmse", "log_loss", "auc", "roc_auc", "r2"])
def test_a_measure_without_a_target_is_refused_by_name_before_any_fit(rng, measure):
    X = rng.normal(size=(30, 2))
    with pytest.raises(DataError, match=f"{measure} compares .* give y, or choose no measure"):
        cross_validation_estimates(KMeans(n_clusters=2), X, measures=measure)
    with pytest.raises(DataError, match="y is None: measures need its values"):
        accuracy(None, X[:, 0])
