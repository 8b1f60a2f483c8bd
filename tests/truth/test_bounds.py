"""Bounds hold in simulation; labellings agree with brute force; solvers solve."""

from itertools import combinations, permutations, product
from math import comb

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from gnomon.engine.errors import DataError
from gnomon.evaluate import (
    FAMILIES,
    chebyshev,
    dichotomies,
    find_shattered,
    finite_family,
    growth_function,
    hoeffding,
    is_shattered,
    johnson_lindenstrauss_dimension,
    largest_dichotomy_count,
    largest_family,
    margin_bound,
    mean_estimation_error,
    mean_estimation_error_of,
    memorization,
    minimize_empirical_risk,
    no_free_lunch,
    occam_weights,
    sauer_bound,
    structural_risk_minimization,
    symmetrisation,
    vc_dimension,
    vc_gap,
    vc_sample_complexity,
)
from gnomon.evaluate.growth import (
    all_labelings,
    lifted_points,
    separating,
    sine_frequency,
    sine_points,
)
from gnomon.evaluate.vc_bounds import enclosing_radius, log_sauer_sum


def exceeds(count: int, n: int, bound: float) -> bool:
    """Whether a simulated share is above a bound beyond five standard errors."""
    return count / n > bound + 5 * np.sqrt(bound * (1 - bound) / n) + 1 / n


@pytest.mark.covers("hoeffding-bound", "chebyshev-bound")
@pytest.mark.parametrize("share", [0.05, 0.3, 0.5])
def test_gaps_of_a_fixed_hypothesis_are_as_rare_as_promised(rng, share):
    n, runs = 200, 20_000
    gaps = np.abs(rng.binomial(n, share, runs) / n - share)
    for epsilon in (0.03, 0.07, 0.1):
        far = int((gaps >= epsilon).sum())
        assert not exceeds(far, runs, hoeffding(n=n, epsilon=epsilon).delta)
        variance = share * (1 - share)
        assert not exceeds(far, runs, chebyshev(variance, n=n, epsilon=epsilon).delta)
        upper = int((rng.binomial(n, share, runs) / n - share >= epsilon).sum())
        assert not exceeds(upper, runs, hoeffding(n=n, epsilon=epsilon, sides=1).delta)


@pytest.mark.covers("finite-family-bound")
def test_the_best_of_many_hypotheses_breaks_hoeffding_but_not_the_union_bound(rng):
    n, hypotheses, runs = 100, 50, 4000
    errors = rng.binomial(n, 0.5, (runs, hypotheses)) / n
    gap = 0.5 - errors.min(axis=1)  # how much better the chosen one looks than it is
    single = hoeffding(n=n, delta=0.05, sides=1).epsilon
    union = finite_family(hypotheses, n=n, delta=0.05, sides=1).epsilon
    assert (gap > single).mean() > 0.15
    assert not exceeds(int((gap > union).sum()), runs, 0.05)


@pytest.mark.covers("hoeffding-bound", "chebyshev-bound", "finite-family-bound")
def test_each_bound_solves_for_any_of_its_quantities(rng):
    n, delta, variance = float(rng.integers(50, 5000)), rng.uniform(0.01, 0.2), rng.uniform(0.1, 3)
    for solve in (
        lambda **given: hoeffding(**given, span=2.0),
        lambda **given: finite_family(17, **given),
        lambda **given: chebyshev(variance, **given),
    ):
        epsilon = solve(n=n, delta=delta).epsilon
        assert solve(n=n, epsilon=epsilon).delta == pytest.approx(delta)
        assert solve(epsilon=epsilon, delta=delta).n in (n, n + 1)
    epsilon = finite_family(40, n=n, delta=delta).epsilon
    assert largest_family(n, epsilon, delta) == pytest.approx(40)


def test_bounds_name_what_is_missing_or_wrong():
    with pytest.raises(DataError, match="all but one of n, epsilon, delta"):
        hoeffding(n=10)
    with pytest.raises(DataError, match="delta=2"):
        hoeffding(n=10, delta=2)
    with pytest.raises(DataError, match="variance=-1"):
        chebyshev(-1, n=10, delta=0.1)
    with pytest.raises(DataError, match=r"epsilon=0\.7"):
        johnson_lindenstrauss_dimension(10, 0.7)
    with pytest.raises(DataError, match="no family is called 'circles'"):
        vc_dimension("circles")
    with pytest.raises(DataError, match="below 2"):
        symmetrisation(10, 0.1)


@pytest.mark.covers("vc-generalization-bound")
def test_the_vc_bound_holds_for_the_best_threshold(rng):
    """Labels are coins: every threshold errs half of the time, the chosen one seems better."""
    n, runs, delta = 400, 300, 0.1
    worst = []
    for _ in range(runs):
        label = rng.random(n) < 0.5
        ones = np.concatenate([[0], np.cumsum(label)])
        rest = np.concatenate([np.cumsum(~label[::-1])[::-1], [0]])
        errors = (ones + rest) / n  # of x > t for every t
        worst.append(0.5 - min(errors.min(), (1 - errors).min()))
    assert not exceeds(int((np.array(worst) > vc_gap(n, 2, delta)).sum()), runs, delta)
    assert vc_gap(n, 2, delta, "vapnik") > np.quantile(worst, 1 - delta)


@pytest.mark.covers("vc-generalization-bound")
def test_the_penalty_falls_with_rows_and_rises_with_dimension_and_confidence():
    for form in ("growth", "polynomial", "exponential", "vapnik"):
        rows = [vc_gap(n, 5, 0.05, form) for n in (100, 1000, 10_000, 10**7)]
        dimensions = [vc_gap(1000, d, 0.05, form) for d in (0, 1, 3, 10, 100, 3000)]
        certain = [vc_gap(1000, 5, delta, form) for delta in (0.5, 0.1, 0.01, 1e-6)]
        assert rows == sorted(rows, reverse=True)
        assert dimensions == sorted(dimensions)
        assert certain == sorted(certain)
    assert vc_gap(1000, np.inf, 0.05) == np.inf


@pytest.mark.covers("vc-sample-complexity")
@pytest.mark.parametrize("form", ["growth", "polynomial", "exponential", "vapnik"])
@pytest.mark.parametrize(
    ("epsilon", "delta", "d"), [(0.05, 0.1, 3), (0.2, 0.01, 50), (0.9, 0.5, 0)]
)
def test_the_solved_number_of_rows_is_the_smallest(form, epsilon, delta, d):
    n = vc_sample_complexity(epsilon, delta, d, form).n
    assert vc_gap(n, d, delta, form) <= epsilon
    assert n == 1 or vc_gap(n - 1, d, delta, form) > epsilon


@pytest.mark.covers("sauer-bound")
def test_the_logarithm_of_the_sum_is_that_of_the_exact_sum():
    for n, d in product((1, 5, 40, 300), (0, 1, 3, 7, 60)):
        exact = sum(comb(n, i) for i in range(min(d, n) + 1))
        assert log_sauer_sum(n, d) == pytest.approx(np.log(float(exact)), rel=1e-10, abs=1e-10)


@pytest.mark.covers("sauer-bound")
def test_b_of_n_and_k_is_the_largest_set_of_labelings_without_a_shattered_subset():
    for n, k in [(2, 1), (2, 2), (3, 2), (3, 3), (4, 2)]:
        assert largest_dichotomy_count(n, k) == _largest_by_enumeration(n, k)


def _largest_by_enumeration(n: int, k: int) -> int:
    patterns = list(product((0, 1), repeat=n))
    subsets = list(combinations(range(n), k))
    best = 0
    for chosen in range(1, 2 ** len(patterns)):
        if chosen.bit_count() <= best:
            continue
        rows = [row for i, row in enumerate(patterns) if chosen >> i & 1]
        if all(len({tuple(row[j] for j in s) for row in rows}) < 2**k for s in subsets):
            best = len(rows)
    return best


@pytest.mark.covers("sauer-bound")
def test_the_three_upper_bounds_are_above_the_sum(rng):
    for _ in range(50):
        d = int(rng.integers(1, 12))
        bound = sauer_bound(int(rng.integers(d, 60)), d)
        assert bound.sum <= min(bound.polynomial, bound.exponential, 2.0**bound.n) * (1 + 1e-12)
        assert bound.sum == largest_dichotomy_count(bound.n, d + 1)


@pytest.mark.covers("growth-function")
@pytest.mark.parametrize("d", [1, 2, 3])
def test_points_in_general_position_have_covers_count_of_labelings(rng, d):
    for n in (1, 2, 5, 7):
        points = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 3)
        shifted = points + rng.normal() * 5
        assert len(dichotomies(shifted)) == growth_function(n, "hyperplanes", d)
        central = dichotomies(points, "hyperplanes through zero")
        assert len(central) == growth_function(n, "hyperplanes through zero", d)


@pytest.mark.covers("growth-function")
def test_labelings_grown_point_by_point_are_those_of_all_linear_programmes(rng):
    points = rng.integers(0, 4, (7, 2)).astype(float)  # with ties and points on lines
    direct = [
        row for row in all_labelings(7) if separating(lifted_points(points, True), row) is not None
    ]
    assert dichotomies(points).labelings.tolist() == np.array(direct).tolist()


@pytest.mark.covers("growth-function")
def test_a_labeling_is_realized_exactly_if_it_is_that_of_a_turned_line(rng):
    """In the plane every separable labelling is a prefix in the order along some direction."""
    points = rng.standard_normal((6, 2))
    angles = np.linspace(0, 2 * np.pi, 20_001)
    orders = np.argsort(np.column_stack([np.cos(angles), np.sin(angles)]) @ points.T, axis=1)
    seen = set()
    for order in np.unique(orders, axis=0):
        for k in range(7):
            row = np.zeros(6, dtype=bool)
            row[order[:k]] = True
            seen.add(tuple(row.tolist()))
    found = {tuple(row) for row in dichotomies(points).labelings.tolist()}
    assert seen <= found
    assert len(found) == growth_function(6, "hyperplanes", 2)


@pytest.mark.covers("growth-function", "vc-dimension")
@pytest.mark.parametrize(
    ("family", "d"),
    [("rays", 1), ("intervals", 1), ("convex sets", 1), ("hyperplanes", 2), ("balls", 1)],
)
def test_closed_growth_functions_are_reached_and_not_exceeded(rng, family, d):
    for n in (1, 2, 4, 6):
        most = max(len(dichotomies(rng.standard_normal((n, d)), family)) for _ in range(3))
        if FAMILIES[family].growth is not None:
            assert most == growth_function(n, family, d)
        else:
            assert most <= sauer_bound(n, int(vc_dimension(family, d))).sum


@pytest.mark.covers("vc-dimension")
@pytest.mark.parametrize(
    ("family", "d"),
    [
        ("hyperplanes", 1),
        ("hyperplanes", 3),
        ("hyperplanes through zero", 3),
        ("rays", 1),
        ("intervals", 1),
        ("rectangles", 1),
        ("rectangles", 2),
        ("balls", 2),
        ("stumps", 1),
        ("stumps", 2),
        ("stumps", 3),
    ],
)
def test_a_set_as_large_as_the_vc_dimension_is_shattered_and_no_larger_one(rng, family, d):
    size = int(vc_dimension(family, d))
    points = find_shattered(size, family, d, random_state=rng, n_init=3000)
    assert points is not None
    assert dichotomies(points, family).shattered
    for _ in range(20):
        assert not dichotomies(rng.standard_normal((size + 1, d)), family).shattered


@pytest.mark.covers("vc-dimension")
def test_no_four_points_are_shattered_by_stumps_in_the_plane():
    """Only the orders of the points along the two columns matter: all pairs of orders."""
    first = np.arange(4.0)
    for second in permutations(range(4)):
        points = np.column_stack([first, np.array(second, dtype=float)])
        assert not dichotomies(points, "stumps").shattered


@pytest.mark.covers("vc-dimension")
def test_balls_and_convex_sets_label_as_brute_force_says(rng):
    ring = np.column_stack([np.cos(np.arange(8)), np.sin(np.arange(8))])
    assert is_shattered(ring, "convex sets")
    assert vc_dimension("convex sets", 2) == np.inf
    points = rng.standard_normal((4, 2))
    centers = rng.uniform(-6, 6, (40_000, 2))
    distances = ((centers[:, None, :] - points) ** 2).sum(axis=2)
    order = np.unique(np.argsort(distances, axis=1), axis=0)
    seen = {tuple(np.isin(np.arange(4), row[:k]).tolist()) for row in order for k in range(5)}
    found = {tuple(row) for row in dichotomies(points, "balls").labelings.tolist()}
    assert seen <= found


@pytest.mark.covers("vc-dimension")
def test_one_parameter_of_a_sine_shatters_any_number_of_points():
    n = 9
    x = sine_points(n)[:, 0]
    for row in all_labelings(n):
        assert ((np.sin(sine_frequency(row) * x) > 0) == row).all()
    assert is_shattered(sine_points(6), "sines")


@pytest.mark.covers("growth-function", "vc-dimension")
def test_any_classifier_can_be_asked_for_its_labelings(rng):
    points = rng.standard_normal((5, 2))
    assert dichotomies(points, DecisionTreeClassifier()).shattered
    few = dichotomies(points, KNeighborsClassifier(3))
    assert len(few) < 32
    assert find_shattered(3, DecisionTreeClassifier(), n_columns=1, random_state=rng) is not None


@pytest.mark.covers("empirical-risk-minimisation")
def test_the_fewest_errors_are_those_of_all_hyperplanes(rng):
    for d in (1, 2):
        rows = rng.standard_normal((9, d))
        y = rng.permutation([0, 1, 0, 1, 0, 1, 0, 1, 1])
        counted = minimize_empirical_risk(rows, y)
        programmed = minimize_empirical_risk(rows, y, count=False)
        labelings = dichotomies(rows).labelings
        fewest = (labelings != y.astype(bool)).sum(axis=1).min()
        assert counted.n_errors == programmed.n_errors == fewest
        assert (counted.predict(rows) != y).sum() == fewest
        assert programmed.n_minimizers is None


@pytest.mark.covers("empirical-risk-minimisation")
def test_separable_rows_have_no_errors_whatever_their_units(rng):
    rows = rng.standard_normal((40, 3))
    y = np.where(rows @ [1.0, -2.0, 0.5] > 0.3, "up", "down")
    for scale, shift in [(1.0, 0.0), (1e-6, 3.0), (1e6, -2e6)]:
        found = minimize_empirical_risk(rows * scale + shift, y, count=False)
        assert found.n_errors == 0


@pytest.mark.covers("empirical-risk-minimisation")
def test_the_smallest_training_error_and_its_risk_tend_to_the_smallest_risk(rng):
    """Labels follow x > 0 but for 20 percent."""
    inside, outside = [], []
    for _ in range(8):
        x = rng.uniform(-1, 1, 80)
        y = (x > 0) ^ (rng.random(80) < 0.2)
        found = minimize_empirical_risk(x, y.astype(int))
        inside.append(found.risk)
        fresh = rng.uniform(-1, 1, 20_000)
        wrong = found.predict(fresh[:, None]) != (fresh > 0)
        outside.append(0.2 + 0.6 * wrong.mean())
    assert abs(np.mean(inside) - 0.2) < 0.1
    assert 0.2 <= np.mean(outside) < 0.3


@pytest.mark.covers("structural-risk-minimisation")
def test_a_full_vc_penalty_chooses_no_larger_family_for_fewer_rows():
    errors, dimensions = [0.4, 0.2, 0.1, 0.05, 0.0], [1, 3, 10, 50, 500]
    chosen = [
        structural_risk_minimization(errors, dimensions, n, form="vapnik").bounds.argmin()
        for n in (10, 100, 1000, 10_000, 10**6)
    ]
    assert chosen == sorted(chosen)
    assert chosen[0] == 0
    assert chosen[-1] == 4
    with pytest.raises(DataError, match="nested"):
        structural_risk_minimization([0.1, 0.2], [3, 1], 100)


@pytest.mark.covers("complexity-penalised-selection")
def test_a_simplicity_prior_prefers_the_simpler_of_two_equal_hypotheses():
    weights = occam_weights([-5.0, -5.0, -5.0 + np.log(8)], [2, 4, 5])
    assert weights.sum() == pytest.approx(1)
    assert weights[0] / weights[1] == pytest.approx(4)
    assert weights[2] == pytest.approx(weights[0])  # eight times likelier, eight times dearer


@pytest.mark.covers("mean-estimation-error")
def test_the_squared_error_of_the_mean_is_the_trace_over_n(rng):
    mix = rng.standard_normal((4, 4))
    covariance = mix @ mix.T
    draws = rng.standard_normal((20_000, 10, 4)) @ mix.T
    squared = (draws.mean(axis=1) ** 2).sum(axis=1)
    expected = mean_estimation_error(covariance, 10)
    assert abs(squared.mean() - expected) < 5 * squared.std() / np.sqrt(len(squared))
    own = np.array([mean_estimation_error_of(each).value for each in draws[:2000]])
    assert abs(own.mean() - expected) < 5 * own.std() / np.sqrt(len(own))


@pytest.mark.covers("johnson-lindenstrauss-dimension")
def test_distances_survive_a_projection_of_the_promised_size(rng):
    n, epsilon = 20, 0.4
    points = rng.standard_normal((n, 300))
    i, j = np.triu_indices(n, 1)
    before = ((points[i] - points[j]) ** 2).sum(axis=1)
    for exact in (False, True):
        k = johnson_lindenstrauss_dimension(n, epsilon, delta=0.01, exact=exact)
        broken = 0
        for _ in range(60):
            small = points @ rng.standard_normal((300, k)) / np.sqrt(k)
            ratio = ((small[i] - small[j]) ** 2).sum(axis=1) / before
            broken += bool((np.abs(ratio - 1) > epsilon).any())
        assert not exceeds(broken, 60, 0.01)
    assert johnson_lindenstrauss_dimension(
        n, epsilon, exact=True
    ) < johnson_lindenstrauss_dimension(n, epsilon)


@pytest.mark.covers("johnson-lindenstrauss-dimension")
def test_one_vector_needs_the_logarithm_of_delta_only():
    assert johnson_lindenstrauss_dimension(2, 0.25, 0.05) == int(
        np.ceil(16 / 3 / 0.25**2 * np.log(1 / 0.05))
    )


@pytest.mark.covers("symmetrisation-bound")
@pytest.mark.parametrize(("n", "epsilon"), [(50, 0.2), (200, 0.1), (100, 0.25)])
def test_the_ghost_sample_bounds_the_true_gap(rng, n, epsilon):
    found = symmetrisation(n, epsilon, n_runs=1500, random_state=rng)
    assert found.holds
    assert found.right.value > 0


@pytest.mark.covers("margin-vc-bound")
def test_the_ball_holds_all_rows_and_is_hardly_larger_than_the_smallest(rng):
    directions = rng.standard_normal((300, 3))
    sphere = 5 * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    opposite = np.vstack([sphere, -sphere])  # in no smaller ball
    radius = enclosing_radius(opposite + np.array([100, -3, 7]))
    assert 5 - 1e-9 <= radius <= 5 * 1.035


@pytest.mark.covers("margin-vc-bound")
def test_without_weights_the_margin_is_infinite_and_one_labeling_is_left():
    bound = margin_bound(radius=1.0, norm=0.0, n_columns=10)
    assert (bound.dimension, bound.margin) == (1, np.inf)
    assert "margin inf" in str(bound)


@pytest.mark.covers("no-free-lunch")
def test_no_learner_beats_chance_off_any_training_rows(rng):
    for bits in (2, 3, 4):
        n = 2**bits
        training = rng.choice(n, int(rng.integers(1, min(n, 7))), replace=False)
        learners = [DecisionTreeClassifier(random_state=0), KNeighborsClassifier(1)]
        found = no_free_lunch(learners, bits, training)
        assert [float(each) for each in found.off_training] == [0.5, 0.5]


@pytest.mark.covers("memorisation-capacity")
def test_trees_and_neighbors_memorize_random_labels_and_a_hyperplane_does_not(rng):
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.tree import DecisionTreeRegressor

    found = memorization(
        {
            "tree": DecisionTreeClassifier(),
            "neighbour": KNeighborsClassifier(1),
            "regression tree": DecisionTreeRegressor(),
            "hyperplane": LogisticRegression(),
            "line": LinearRegression(),
        },
        n_rows=40,
        random_state=rng,
    )
    assert [figure.value for figure in found.memorized] == [1, 1, 1, 0, 0]
