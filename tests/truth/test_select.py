"""Selectors against brute force, known answers and what the texts warn of."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.ensemble import FeatureSubsetRegressor
from gnomon.evaluate import chi2_independence
from gnomon.evaluate import correlation_ratio as reference_ratio
from gnomon.select import (
    AlongRanking,
    Backward,
    Beam,
    Boruta,
    Evolution,
    Exhaustive,
    FilterSelector,
    Floating,
    Forward,
    RecursiveElimination,
    StabilitySelector,
    WrapperSelector,
    entropy_of,
    mutual_information,
    rank_features,
    selection_bias,
    selection_stability,
    stability_score,
)
from gnomon.trees import RandomForestClassifier


def regression(rng, n=120, d=6, noise=0.5):
    """y from columns 0, 2 and, less, 4."""
    X = rng.normal(size=(n, d))
    return X, 2 * X[:, 0] - 2 * X[:, 2] + X[:, 4] + noise * rng.normal(size=n)


def two_classes(rng, n=200, d=5):
    """Classes that columns 1 and 3 part."""
    X = rng.normal(size=(n, d))
    y = (X[:, 1] + X[:, 3] + 0.3 * rng.normal(size=n) > 0).astype(int)
    return X, y


def exclusive_or(rng, n=400, d=5):
    """Classes that columns 1 and 3 tell only together."""
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 1] * X[:, 3] > 0, "yes", "no")


def products():
    """A learner that sees products of two columns."""
    return make_pipeline(PolynomialFeatures(2, interaction_only=True), LogisticRegression())


def chosen(selector, X, y) -> list[int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return selector.fit(X, y).get_support(indices=True).tolist()


@pytest.mark.covers("rank-pearson-correlation")
def test_correlations_and_their_p_are_scipys(rng):
    X, y = regression(rng)
    found = FilterSelector(score_func="correlation").fit(X, y)
    for j in range(X.shape[1]):
        exact = stats.pearsonr(X[:, j], y)
        assert found.scores_[j] == pytest.approx(abs(exact.statistic), abs=1e-10)
        assert found.p_values_[j] == pytest.approx(exact.pvalue, rel=1e-6, abs=1e-12)
    parabola = rng.permutation(np.linspace(-1, 1, 201))[:, None]
    assert rank_features(parabola, parabola[:, 0] ** 2, "correlation").scores[0] < 1e-9


@pytest.mark.covers("rank-correlation-ratio")
def test_correlation_ratios_are_those_of_the_definition(rng):
    X = rng.normal(size=(90, 3))
    y = rng.integers(0, 3, 90)
    X[:, 1] += y
    found = FilterSelector(score_func="correlation_ratio").fit(X, y)
    for j in range(3):
        exact = reference_ratio(X[:, j], y)
        assert found.scores_[j] == pytest.approx(exact.effects["eta^2"].value, abs=1e-10)
        assert found.p_values_[j] == pytest.approx(exact.p, rel=1e-6, abs=1e-14)
    two = (y > 0).astype(int)
    eta = FilterSelector(score_func="correlation_ratio").fit(X, two).scores_
    r = FilterSelector(score_func="correlation").fit(X, two).scores_
    np.testing.assert_allclose(eta, r**2, atol=1e-10)
    bent = rng.normal(size=(500, 1))
    assert rank_features(bent, bent[:, 0] ** 2, "correlation_ratio").scores[0] > 0.5


@pytest.mark.covers("rank-chi2")
def test_chi_square_is_that_of_the_table_of_counts(rng):
    levels = rng.integers(0, 4, 150)
    y = np.where(rng.random(150) < 0.2 + 0.15 * levels, "a", "b")
    frame = pd.DataFrame({"level": np.array(list("pqrs"))[levels], "noise": rng.normal(size=150)})
    found = FilterSelector(score_func="chi2").fit(frame, y)
    table = pd.crosstab(frame["level"], y)
    exact = chi2_independence(table.to_numpy())
    assert found.scores_[0] == pytest.approx(exact.statistic)
    assert found.p_values_[0] == pytest.approx(exact.p)
    by_p = FilterSelector(1, score_func="chi2", rank_by="p").fit(frame, y)
    assert by_p.ranking_[np.argmin(by_p.p_values_)] == 1


@pytest.mark.covers("rank-mutual-information")
def test_mutual_information_is_entropy_less_conditional_entropy(rng):
    x, y = rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    conditional = sum((x == v).mean() * entropy_of(y[x == v]) for v in np.unique(x))
    assert mutual_information(x, y) == pytest.approx(entropy_of(y) - conditional, abs=1e-12)
    assert mutual_information(x, x) == pytest.approx(entropy_of(x))
    assert mutual_information(x, y) == pytest.approx(mutual_information(y, x))
    found = rank_features(np.column_stack([x, rng.integers(0, 3, 60)]), y, "mutual_information")
    assert mutual_information(x, y) == pytest.approx(found.scores[found.names.index("x0")])
    assert "overestimated" in str(found)


@pytest.mark.covers("rank-mutual-information")
def test_neighbors_give_the_mutual_information_of_normals_and_of_classes(rng):
    rho = 0.8
    pair = rng.multivariate_normal([0, 0], [[1, rho], [rho, 1]], 3000)
    exact = -0.5 * np.log(1 - rho**2)
    assert abs(mutual_information(pair[:, 0], pair[:, 1], method="knn") - exact) < 0.12
    codes = rng.integers(0, 2, 3000)
    apart = rng.random(3000) + 5 * codes
    assert abs(mutual_information(apart, codes, method="knn") - np.log(2)) < 0.1
    alone = rng.normal(size=3000)
    assert abs(mutual_information(alone, codes, method="knn")) < 0.1


@pytest.mark.covers("rank-fisher-index")
def test_fishers_index_is_its_formula_and_does_not_depend_on_units(rng):
    X, y = two_classes(rng)
    found = FilterSelector(score_func="fisher_index").fit(X, y).scores_
    for j in range(X.shape[1]):
        one, other = X[y == 0, j], X[y == 1, j]
        squares = ((one - one.mean()) ** 2).sum() + ((other - other.mean()) ** 2).sum()
        assert found[j] == pytest.approx((one.mean() - other.mean()) ** 2 / squares)
    rescaled = FilterSelector(score_func="fisher_index").fit(X * [1, 50, 0.1, 3, 1] + 7, y).scores_
    np.testing.assert_allclose(rescaled, found, rtol=1e-8)
    with pytest.raises(DataError, match="classes"):
        FilterSelector(score_func="fisher_index").fit(X, X[:, 0])


@pytest.mark.covers("rank-fisher-vector")
def test_the_fisher_vector_ranks_by_its_components(rng):
    X, y = two_classes(rng, n=400)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    within = sum(np.cov(Z[y == c].T, bias=True) * (y == c).mean() for c in (0, 1))
    direction = np.linalg.solve(within, Z[y == 0].mean(axis=0) - Z[y == 1].mean(axis=0))
    found = FilterSelector(score_func="fisher_vector").fit(X, y).scores_
    shape = found / np.linalg.norm(found)
    np.testing.assert_allclose(shape, np.abs(direction) / np.linalg.norm(direction), atol=0.02)
    wide = rng.normal(size=(30, 60))
    classes = np.arange(30) % 2
    wide[:, 7] += 4 * classes
    assert rank_features(wide, classes, "fisher_vector").names[0] == "x7"


@pytest.mark.covers("rank-boosted-stumps")
def test_boosted_stumps_choose_the_columns_that_classes_were_made_of(rng):
    X, y = two_classes(rng)
    assert chosen(FilterSelector(2, score_func="boosted_stumps"), X, y) == [1, 3]
    three = np.digitize(X[:, 2], [-0.5, 0.5])
    assert chosen(FilterSelector(1, score_func="boosted_stumps"), X, three) == [2]


@pytest.mark.covers("rank-linear-weights")
def test_weights_of_linear_models_rank_columns_whatever_their_units(rng):
    X, y = regression(rng)
    units = 10.0 ** rng.integers(-3, 4, X.shape[1])
    for score in ("linear_weights", LinearRegression()):
        plain = FilterSelector(2, score_func=score).fit(X, y)
        scaled = FilterSelector(2, score_func=score).fit(X * units, y)
        assert plain.get_support(indices=True).tolist() == [0, 2]
        np.testing.assert_allclose(scaled.scores_, plain.scores_, rtol=1e-6, atol=1e-9)
    Xc, yc = two_classes(rng)
    for learner in (LogisticRegression(), LinearSVC()):
        assert chosen(FilterSelector(2, score_func=learner), Xc, yc) == [1, 3]


@pytest.mark.covers("rank-linear-weights")
def test_the_columns_of_a_category_count_as_one_group(rng):
    place = rng.choice(["north", "south", "east"], 200)
    frame = pd.DataFrame({"a": rng.normal(size=200), "place": place, "b": rng.normal(size=200)})
    y = 3.0 * (place == "south") + 0.2 * rng.normal(size=200)
    selector = FilterSelector(1, score_func="linear_weights").fit(frame, y)
    assert selector.get_support().tolist() == [False, True, False]
    assert selector.transform(frame).shape == (200, 3)
    assert all("place" in name for name in selector.get_feature_names_out())


@pytest.mark.covers("filter-ranking")
def test_a_filter_is_blind_to_exclusive_or_and_backward_search_is_not(rng):
    X, y = exclusive_or(rng)
    assert rank_features(X, y).scores.max() < 0.25
    selector = WrapperSelector(products(), Backward(), n_features_to_select=2, random_state=0)
    assert chosen(selector, X, y) == [1, 3]
    assert "XOR" in str(rank_features(X, y))


@pytest.mark.covers("filter-ranking")
def test_strengths_of_all_kinds_of_columns_can_be_compared(rng):
    n = 400
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "number": y + 0.3 * rng.normal(size=n),
            "word": np.where(rng.random(n) < 0.6 + 0.3 * y, "p", "q"),
            "nothing": rng.normal(size=n),
            "nowhere": rng.choice(list("abc"), n),
        }
    )
    found = rank_features(frame, np.array(["no", "yes"])[y])
    assert found.names[0] == "number"
    assert found.names[1] == "word"
    assert ((found.scores >= 0) & (found.scores <= 1)).all()


@pytest.mark.covers("filter-ranking")
def test_importance_out_of_bag_ranks_what_trees_use(rng):
    X, y = exclusive_or(rng, n=500)
    forest = RandomForestClassifier(60, oob_importance=2)
    assert chosen(FilterSelector(2, score_func=forest, random_state=0), X, y) == [1, 3]


@pytest.mark.covers("select-mifs")
@pytest.mark.parametrize("redundancy", ["mifs", "mrmr"])
def test_a_copy_is_not_chosen_beside_its_original(redundancy, rng):
    n = 1000
    one, other = rng.normal(size=(2, n))
    y = (1.5 * one + other > 0).astype(int)
    X = np.column_stack([one, one + 0.01 * rng.normal(size=n), other, rng.normal(size=n)])
    assert set(chosen(FilterSelector(2, score_func="mutual_information"), X, y)) == {0, 1}
    found = chosen(FilterSelector(2, redundancy=redundancy, beta=1.0), X, y)
    assert 2 in found
    assert len(found) == 2


@pytest.mark.covers("select-mifs")
def test_mifs_is_the_greedy_choice_of_battitis_formula(rng):
    X = rng.integers(0, 3, (200, 5))
    y = (X[:, 0] + X[:, 1] > 2).astype(int)
    beta, picked = 0.7, []
    for _ in range(3):
        left = [j for j in range(5) if j not in picked]
        values = [
            mutual_information(X[:, j], y)
            - beta * sum(mutual_information(X[:, j], X[:, s]) for s in picked)
            for j in left
        ]
        picked.append(left[int(np.argmax(values))])
    selector = FilterSelector(3, redundancy="mifs", beta=beta).fit(X.astype(float), y)
    assert np.argsort(selector.ranking_)[:3].tolist() == picked


def brute_force(X, y, n_parameters_factor) -> tuple[int, ...]:
    """The subset of least AIC or BIC by least squares."""
    best, winner = np.inf, ()
    n, d = X.shape
    for size in range(d + 1):
        for subset in itertools.combinations(range(d), size):
            design = np.column_stack([np.ones(n), X[:, subset]])
            left = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
            value = n * np.log((left**2).mean()) + n_parameters_factor * (size + 2)
            if value < best:
                best, winner = value, subset
    return winner


@pytest.mark.covers("select-exhaustive")
@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_the_exhaustive_search_finds_the_subset_of_least_criterion(criterion, rng):
    X, y = regression(rng, n=60, noise=2.0)
    factor = 2 if criterion == "aic" else np.log(60)
    winner = brute_force(X, y, factor)
    found = chosen(WrapperSelector(search=Exhaustive(), criterion=criterion), X, y)
    assert tuple(found) == (winner or tuple(found))
    with pytest.raises(DataError, match=r"1,048,576 subsets"):
        WrapperSelector(search=Exhaustive()).fit(rng.normal(size=(40, 20)), rng.normal(size=40))


@pytest.mark.covers("select-exhaustive", "wrapper-selection")
def test_no_search_beats_the_exhaustive_one_on_the_same_folds(rng):
    X, y = regression(rng, n=80, noise=2.0)
    best = WrapperSelector(search=Exhaustive(), random_state=1).fit(X, y)
    assert best.n_evaluations_ == 64
    for search in (
        Forward(), Backward(), Floating(), Beam(3), Beam(2, "backward"), Evolution(), AlongRanking()
    ):  # fmt: skip
        found = WrapperSelector(search=search, random_state=1).fit(X, y)
        assert found.score_ <= best.score_ + 1e-12
        assert found.score_ >= best.score_ - 0.1


@pytest.mark.covers("wrapper-selection")
def test_least_squares_from_sums_scores_as_the_learner_itself(rng):
    X, y = regression(rng)
    folds = {"n_folds": 4, "random_state": 3}
    fast = WrapperSelector(search=Backward(), **folds).fit(X, y)
    slow = WrapperSelector(LinearRegression(), Backward(), **folds).fit(X, y)
    np.testing.assert_allclose(fast.trace_.scores, slow.trace_.scores, atol=1e-6)
    np.testing.assert_allclose(fast.trace_.errors, slow.trace_.errors, atol=1e-6)
    assert fast.get_support().tolist() == slow.get_support().tolist()


@pytest.mark.covers("select-forward")
def test_forward_adds_the_best_feature_each_time_and_stops_when_none_improves(rng):
    X, y = regression(rng, n=200)
    found = WrapperSelector(search=Forward(), random_state=0).fit(X, y)
    trace = found.trace_
    assert trace.subsets[0] == []
    assert all(np.diff(trace.sizes) == 1)
    assert all(np.diff(trace.scores) > 0)
    assert {0, 2, 4} <= set(found.get_support(indices=True).tolist())
    first = trace.subsets[1]
    singles = WrapperSelector(search=Exhaustive(most=1), random_state=0).fit(X, y)
    assert singles.trace_.subsets[1] == first


@pytest.mark.covers("select-forward", "select-backward")
@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_stepwise_criteria_keep_the_columns_that_matter(criterion, rng):
    X, y = regression(rng, n=300)
    for search in (Forward(), Backward()):
        found = chosen(WrapperSelector(search=search, criterion=criterion), X, y)
        assert {0, 2, 4} <= set(found)
    Xc, yc = two_classes(rng)
    learner = LogisticRegression(C=1e4)
    selector = WrapperSelector(learner, Forward(), criterion=criterion)
    assert {1, 3} <= set(chosen(selector, Xc, yc))
    with pytest.raises(DataError, match="likelihood"):
        WrapperSelector(criterion=criterion).fit(Xc, yc)


@pytest.mark.covers("select-forward", "select-backward")
def test_forward_sees_nothing_in_exclusive_or_and_backward_sees_it(rng):
    X, y = exclusive_or(rng, n=300)
    first = WrapperSelector(products(), Forward(most=1), random_state=0)
    chosen(first, X, y)
    assert first.score_ < 0.7
    backward = WrapperSelector(products(), Backward(), random_state=0).fit(X, y)
    assert backward.score_ > 0.8
    assert {1, 3} <= set(backward.get_support(indices=True).tolist())


@pytest.mark.covers("select-backward")
def test_backward_ranks_all_features_in_the_order_of_removal(rng):
    X, y = regression(rng, n=200)
    found = WrapperSelector(search=Backward(), random_state=0).fit(X, y)
    trace = found.trace_
    d = X.shape[1]
    assert len(trace.subsets) == d
    assert found.n_evaluations_ == d * (d + 1) // 2
    removed = [feature for feature in trace.features if feature >= 0]
    assert set(removed[:3]) == {1, 3, 5}
    order = removed + trace.subsets[-1]
    kept = found.get_support(indices=True)
    outside = [j for j in order if j not in kept]
    assert np.argsort(found.ranking_).tolist()[len(kept) :] == outside[::-1]
    fewer = WrapperSelector(search=Backward(), rule="one_se", random_state=0).fit(X, y)
    assert fewer.get_support().sum() <= found.get_support().sum()


@pytest.mark.covers("select-along-ranking")
def test_inclusion_along_a_ranking_follows_it_and_stops_when_nothing_is_gained(rng):
    X, y = regression(rng, n=300, d=20)
    search = AlongRanking("correlation", patience=3)
    found = WrapperSelector(search=search, random_state=0).fit(X, y)
    order = np.argsort(-FilterSelector(score_func="correlation").fit(X, y).scores_, kind="stable")
    added = [feature for feature in found.trace_.features if feature >= 0]
    assert added == order[: len(added)].tolist()
    assert {0, 2, 4} <= set(found.get_support(indices=True).tolist())
    best = int(np.argmax(found.trace_.scores))
    assert len(found.trace_.scores) - 1 - best in (0, 1, 2, 3)
    tree = WrapperSelector(
        DecisionTreeClassifier(max_depth=3), AlongRanking("fisher_index"), random_state=0
    )
    assert {1, 3} <= set(chosen(tree, *two_classes(rng, n=500)))


@pytest.mark.covers("select-beam")
def test_a_beam_of_one_is_the_greedy_search_and_a_wide_one_is_exhaustive(rng):
    X, y = regression(rng, n=70, noise=2.0)
    greedy = WrapperSelector(search=Forward(patience=None), random_state=0).fit(X, y)
    narrow = WrapperSelector(search=Beam(1), random_state=0).fit(X, y)
    assert narrow.trace_.subsets == greedy.trace_.subsets
    backward = WrapperSelector(search=Beam(1, "backward"), random_state=0).fit(X, y)
    assert backward.trace_.scores.tolist() == pytest.approx(
        WrapperSelector(search=Backward(), random_state=0).fit(X, y).trace_.scores.tolist()
    )
    wide = WrapperSelector(search=Beam(100), random_state=0).fit(X, y)
    best = WrapperSelector(search=Exhaustive(), random_state=0).fit(X, y)
    assert wide.score_ == pytest.approx(best.score_)


@pytest.mark.covers("select-evolutionary")
def test_evolution_never_loses_its_best_and_repeats_by_its_seed(rng):
    X, y = regression(rng, n=100, d=8)
    runs = [WrapperSelector(search=Evolution(), random_state=5).fit(X, y) for _ in range(2)]
    scores = runs[0].trace_.scores
    assert (np.diff(scores) >= -1e-12).all()
    assert runs[0].get_support().tolist() == runs[1].get_support().tolist()
    assert {0, 2} <= set(runs[0].get_support(indices=True).tolist())


@pytest.mark.covers("recursive-feature-elimination")
def test_elimination_drops_the_least_weight_at_each_fit(rng):
    X, y = regression(rng, n=150)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    left, order = list(range(6)), []
    while len(left) > 1:
        weights = np.abs(LinearRegression().fit(Z[:, left], y).coef_)
        order.append(left.pop(int(np.argmin(weights))))
    found = RecursiveElimination(LinearRegression(), 1, step=1).fit(X, y)
    assert np.argsort(found.ranking_).tolist() == (order + left)[::-1]
    own = RecursiveElimination(random_state=0).fit(X, y)
    assert {0, 2, 4} <= set(own.get_support(indices=True).tolist())
    assert len(own.scores_) == len(own.sizes_)
    assert np.isfinite(own.errors_).all()
    svm = RecursiveElimination(LinearSVC(), 2)
    assert chosen(svm, *two_classes(rng)) == [1, 3]
    with pytest.raises(DataError, match=r"neither weights"):
        RecursiveElimination(KNeighborsRegressor()).fit(X, y)


@pytest.mark.covers("embedded-selection")
def test_stable_features_are_those_that_matter_and_few_are_wrong(rng):
    X, y = regression(rng, n=200, d=30)
    found = StabilitySelector(random_state=0).fit(X, y)
    kept = set(found.get_support(indices=True).tolist())
    assert {0, 2} <= kept
    assert len(kept - {0, 2, 4}) <= 3
    assert found.expected_errors_ == pytest.approx(16 / (0.2 * 30))
    assert found.frequency(0).value == 1.0
    noise = rng.normal(size=(100, 30))
    wrong = [len(chosen(StabilitySelector(random_state=k), noise, y[:100])) for k in range(5)]
    assert np.mean(wrong) <= 5
    forest = StabilitySelector(RandomForestClassifier(20), n_halves=10, n_features_per_half=2)
    assert chosen(forest, *two_classes(rng, n=400)) == [1, 3]


@pytest.mark.covers("embedded-selection")
def test_boruta_confirms_what_tells_only_together_and_rejects_noise(rng):
    X, y = exclusive_or(rng, n=500)
    found = Boruta(n_estimators=100, max_iter=15, random_state=0).fit(X, y)
    kept = set(found.get_support(indices=True).tolist())
    assert {1, 3} <= kept
    assert len(kept) <= 3
    assert min(found.hits_[[1, 3]]) > np.median(found.hits_[[0, 2, 4]])
    assert [word == "confirmed" for word in found.decisions_] == found.get_support().tolist()


@pytest.mark.covers("wrapper-selection")
def test_selecting_outside_the_folds_makes_noise_look_predictable(rng):
    X, y = rng.normal(size=(60, 400)), np.arange(60) % 2
    found = selection_bias(FilterSelector(10), LogisticRegression(), X, y)
    assert found.bias > 0.05
    assert found.outside.value > 0.65
    assert "inside" in str(found)


def test_stability_is_one_of_equal_choices_and_near_zero_of_random_ones(rng):
    same = np.tile([True, False, True, False], (10, 1))
    assert stability_score(same).value == pytest.approx(1)
    values = [stability_score(rng.random((20, 50)) < 0.3) for _ in range(20)]
    assert abs(np.mean([each.value for each in values])) < 0.05
    assert all(each.low <= each.value <= each.high for each in values)
    X, y = regression(rng, n=300)
    steady = selection_stability(FilterSelector(2, score_func="correlation"), X, y, n_resamples=15)
    assert steady.score.value > 0.7
    assert np.isnan(stability_score(np.ones((3, 4))).value)


def test_models_made_during_the_selection_can_be_combined(rng):
    X, y = regression(rng, n=150)
    found = WrapperSelector(search=Backward(), random_state=0).fit(X, y)
    subsets = found.best_subsets(3)
    assert len(subsets) == 3
    assert subsets[0] == found.trace_.subsets[int(np.argmax(found.trace_.scores))]
    model = FeatureSubsetRegressor(LinearRegression(), groups=subsets).fit(X, y)
    assert model.score(X, y) > 0.8


def test_nothing_that_improves_is_said_and_one_feature_is_kept(rng):
    X = rng.normal(size=(40, 3))
    with pytest.warns(GnomonWarning, match="improves on none"):
        found = WrapperSelector(search=Forward(), random_state=0).fit(
            np.column_stack([np.zeros(40), np.ones(40)]), X[:, 0]
        )
    assert found.get_support().sum() == 1
    with pytest.raises(DataError, match="task='classify'"):
        FilterSelector(task="classify").fit(X, X[:, 0])
    with pytest.raises(DataError, match="learns numbers"):
        WrapperSelector(LinearRegression()).fit(X, np.array(list("ab") * 20))
