"""Decisions against enumeration: policies of random trees, fronts by all pairs, exact volumes."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest
from scipy import stats

from gnomon.decide import (
    Chance,
    Decision,
    Goal,
    Leaf,
    Payment,
    PreferenceSearch,
    Turn,
    Unknown,
    UtilityTree,
    answer_by_goal,
    best_choice,
    break_ties,
    compare_options,
    cost_threshold,
    crowding_distance,
    expected_utility,
    expected_utility_over,
    hypervolume,
    infer_utilities,
    least_expected_cost,
    non_dominated,
    non_dominated_rank,
    nsga2,
    pareto_front,
    preference_cycle,
    propose_settings,
    reference_point,
    reject_rule,
    sweep,
    threshold_for_rate,
    undecided_band,
    value_of_features,
    value_of_perfect_information,
    value_of_sample_information,
    value_of_test,
)
from gnomon.engine.errors import DataError
from gnomon.linear import LinearRegression, LogisticRegression
from gnomon.table import Table
from gnomon.trees import DecisionTreeRegressor

STATES = ("s0", "s1", "s2")


def random_tree(rng, depth: int, prior) -> object:
    """A tree whose chances are of one variable of three states, or private coins."""
    if depth == 0 or rng.random() < 0.15:
        return float(rng.normal())
    children = [random_tree(rng, depth - 1, prior) for _ in range(3)]
    kind = rng.integers(4)
    if kind == 0:
        return Decision(dict(zip("abc", children)))
    if kind == 1:
        return Payment(float(rng.random()), children[0])
    if kind == 2:
        share = rng.random()
        return Chance({"head": (share, children[0]), "tail": (None, children[1])})
    return Chance(dict(zip(STATES, zip(prior, children))), "state")


def decisions_of(node) -> list:
    found = [node] if isinstance(node, Decision) else []
    for child in node.children().values():
        found += decisions_of(child)
    return found


def value_of_policy(node, policy, weights, prior) -> float:
    """Value of fixed choices, given the probabilities of the states."""
    if isinstance(node, Leaf):
        return node.amount.at({})
    if isinstance(node, Payment):
        return value_of_policy(node.then, policy, weights, prior) - node.amount.at({})
    if isinstance(node, Decision):
        return value_of_policy(node.children()[policy[id(node)]], policy, weights, prior)
    shares = dict(zip(STATES, weights)) if node.name == "state" else node.probabilities({})
    total = 0.0
    for i, (key, child) in enumerate(node.children().items()):
        below = np.eye(3)[i] if node.name == "state" else weights  # the state is known from then on
        total += shares[key] * value_of_policy(child, policy, below, prior) if shares[key] else 0.0
    return total


def best_by_enumeration(root, weights, prior) -> float:
    nodes = decisions_of(root)
    choices = itertools.product(*(list(node.children()) for node in nodes))
    policies = ({id(n): c for n, c in zip(nodes, each)} for each in choices)
    return max(value_of_policy(root, policy, weights, prior) for policy in policies)


@pytest.mark.covers("utility-tree", "value-of-information")
def test_value_of_information_of_random_trees_equals_enumeration_of_policies(rng):
    done = 0
    while done < 60:
        prior = rng.dirichlet(np.ones(3))
        root = random_tree(rng, 4, prior)
        if not isinstance(root, Decision) or len(decisions_of(root)) > 5:
            continue
        tree = UtilityTree(root)
        has_state = any(getattr(n, "name", "") == "state" for _, n in tree.nodes())
        now = best_by_enumeration(root, prior, prior)
        assert tree.value() == pytest.approx(now, abs=1e-10)
        if not has_state:
            continue
        done += 1
        likelihood = rng.dirichlet(np.ones(2), size=3)  # of two signals given each state
        told = 0.0
        for k in range(2):
            joint = prior * likelihood[:, k]
            told += joint.sum() * best_by_enumeration(root, joint / joint.sum(), prior)
        known = sum(p * best_by_enumeration(root, np.eye(3)[i], prior) for i, p in enumerate(prior))
        signals = {
            f"signal {k}": {s: likelihood[i, k] for i, s in enumerate(STATES)} for k in range(2)
        }
        sample = tree.value_of_information("state", signals)
        perfect = tree.value_of_information("state")
        assert sample == pytest.approx(told - now, abs=1e-10)
        assert perfect == pytest.approx(known - now, abs=1e-10)
        assert 0 <= sample <= perfect + 1e-12


def test_a_constant_added_to_every_leaf_changes_no_decision_and_the_value_by_that_constant(rng):
    def shifted(node, by):
        if isinstance(node, Leaf):
            return Leaf(node.utility + by)
        if isinstance(node, Payment):
            return Payment(node.price, shifted(node.then, by))
        if isinstance(node, Decision):
            return Decision({k: shifted(c, by) for k, c in node.children().items()})
        shares = node.probabilities({})
        outcomes = {k: (shares[k], shifted(c, by)) for k, c in node.children().items()}
        return Chance(outcomes, node.name)

    for _ in range(20):
        root = Decision({k: random_tree(rng, 3, [0.2, 0.3, 0.5]) for k in "ab"})
        before, after = UtilityTree(root).solve(), UtilityTree(shifted(root, 7.0)).solve()
        assert after.best == before.best
        assert after.value == pytest.approx(before.value + 7.0)


@pytest.mark.covers("utility-threshold-solver")
def test_regions_of_two_unknowns_agree_with_the_tree_at_every_place():
    p, price = Unknown("p"), Unknown("price")
    game = Payment(price, Chance({"win": (p, 2.0), "lose": (None, 0.0)}))
    tree = UtilityTree(Decision({"play": game, "refuse": 0.0}))
    found = tree.regions(("p", 0, 1), ("price", 0, 2))
    plays = np.array(found.options)[found.codes] == "play"
    grid_p, grid_price = np.meshgrid(found.x, found.y)
    clear = np.abs(2 * grid_p - grid_price) > 1e-9
    assert (plays == (2 * grid_p >= grid_price))[clear].all()
    assert tree.thresholds("p", 0, 1, price=0.5).values == [pytest.approx(0.25, abs=1e-14)]


def test_probabilities_of_a_chance_come_from_a_fitted_model():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    model = LogisticRegression().fit(X, [0, 0, 1, 0, 1, 1])
    chance = Chance.from_model(model, [[2.5]], {0: 10.0, 1: -10.0})
    p = model.predict_proba([[2.5]])[0]
    assert UtilityTree(chance).value() == pytest.approx(10 * p[0] - 10 * p[1])
    with pytest.raises(DataError, match="classes"):
        Chance.from_model(model, [[2.5]], {0: 1.0})


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: UtilityTree(Chance({"a": (0.5, 1.0), "b": (0.2, 0.0)})).value(), "add up to 0.7"),
        (lambda: UtilityTree(Chance({"a": (1.5, 1.0), "b": (None, 0.0)})).value(), "between 0"),
        (lambda: UtilityTree(Decision({})), "no option"),
        (lambda: UtilityTree(Decision({"a": Unknown("x"), "b": 1.0})).solve(), "depends on x"),
        (lambda: UtilityTree(Decision({"a": "many"})), "an amount is a number"),
        (lambda: UtilityTree(Decision({"a": 1.0})).after("b"), "no branch 'b'"),
        (lambda: UtilityTree(Decision({"a": 1.0})).value_of_information("x"), "no chance 'x'"),
        (lambda: expected_utility([(0.7, 1), (0.7, 1)]), "add up to 1"),
        (lambda: compare_options({"a": [(1, 1)]}, per="unit"), "price above 0"),
        (lambda: value_of_test([0.2, 0.2], [[1, 2]]), "add up to 0.4"),
        (lambda: least_expected_cost([[0.5, 0.5]], [[1, 2, 3, 4]] * 2), "names of the 4 actions"),
        (lambda: cost_threshold([1, 1], [1, 2], false_negative=1, false_positive=1), "both kinds"),
        (lambda: infer_utilities([({"a": 1.0}, {"b": 1.0})], {}), "do not fix"),
        (lambda: pareto_front([[1.0, np.nan]], {"a": "more", "b": "less"}), "finite"),
        (lambda: PreferenceSearch([[1, 2], [0, 1]], {"a": "more", "b": "more"}).ask(), "nothing"),
    ],
)
def test_bad_input_is_refused_with_what_is_wrong(make, words):
    with pytest.raises(DataError, match=words):
        make()


def test_a_tree_with_a_cycle_is_refused():
    inner = Decision({"stop": 0.0})
    inner.options["again"] = Payment(1.0, inner)
    with pytest.raises(DataError, match="no cycles"):
        UtilityTree(inner)


@pytest.mark.covers("utility-continuous")
def test_the_best_stock_is_the_critical_quantile_of_demand():
    demand = stats.norm(50, 8)
    found = best_choice(lambda x, q: 5.0 * min(x, q) - 2.0 * q, demand, (20, 90))
    assert found.choice == pytest.approx(demand.ppf(1 - 2 / 5), abs=1e-3)
    sampled = expected_utility_over(lambda x: x**2, demand.rvs(4000, random_state=1))
    assert sampled.low < 50**2 + 8**2 < sampled.high
    counts = expected_utility_over(lambda x: float(x), stats.poisson(3.5))
    assert counts.value == pytest.approx(3.5)


@pytest.mark.covers("value-of-test")
def test_a_test_with_errors_is_worth_what_bayes_rule_gives(rng):
    for _ in range(50):
        prior, utilities = rng.random(), rng.normal(size=(3, 2))
        sensitivity, specificity = rng.random(2)
        found = value_of_test(prior, utilities, sensitivity=sensitivity, specificity=specificity)
        p_yes = prior * sensitivity + (1 - prior) * (1 - specificity)
        after = 0.0
        for share, hit in ((p_yes, prior * sensitivity), (1 - p_yes, prior * (1 - sensitivity))):
            if share > 0:
                after += share * (utilities @ [hit / share, 1 - hit / share]).max()
        assert found.with_test == pytest.approx(after)
        perfect = value_of_perfect_information([prior, 1 - prior], utilities)
        assert 0 <= found.value <= perfect + 1e-12
    useless = value_of_sample_information([0.3, 0.7], [[1, -1], [0, 0]], [[0.5, 0.5]] * 2)
    assert useless == pytest.approx(0, abs=1e-15)


def test_a_redundant_feature_set_gains_nothing_beyond_the_other(rng):
    signal = rng.normal(size=600)
    X = np.column_stack([signal, 2 * signal + 1, rng.normal(size=600)])
    y = (signal + 0.5 * rng.normal(size=600) > 0).astype(int)
    found = value_of_features(LogisticRegression(), X, y, {"A": [0], "B": [1], "noise": [2]})
    gains = dict(zip(found.names, found.gains))
    beyond = dict(zip(found.names, found.beyond))
    assert gains["A"].low > 0.1
    assert gains["noise"].high < 0.1
    assert beyond["A"] is None
    assert abs(beyond["A and B"].value) < 0.02


@pytest.mark.covers("expected-cost-decision")
def test_the_action_of_least_expected_cost_is_the_best_of_all_for_every_row(rng):
    proba = rng.dirichlet(np.ones(3), 50)
    costs = rng.random((3, 4))
    found = least_expected_cost(proba, costs, actions=["a", "b", "c", "reject"])
    by_hand = [min(range(4), key=lambda a: sum(row * costs[:, a])) for row in proba]
    assert found.actions.tolist() == [["a", "b", "c", "reject"][k] for k in by_hand]
    per_row = rng.random((50, 3, 3))
    y = rng.integers(0, 3, 50)
    own = least_expected_cost(proba, per_row, y_true=y)
    chosen = [min(range(3), key=lambda a: proba[i] @ per_row[i, :, a]) for i in range(50)]
    assert own.actions.tolist() == chosen
    assert own.paid.value == pytest.approx(
        np.mean([per_row[i, y[i], chosen[i]] for i in range(50)])
    )


@pytest.mark.covers("cost-threshold-target-rate")
def test_thresholds_are_the_best_of_all_scores(rng):
    y = (rng.random(300) < 0.2).astype(int)
    score = np.round(y + rng.normal(size=300), 1)
    found = cost_threshold(y, score, false_negative=7.0, false_positive=1.0)

    def cost(t):
        return np.mean(np.where(y == 1, 7.0 * (score < t), 1.0 * (score >= t)))

    every = [*np.unique(score), np.inf]
    assert found.cost.value == pytest.approx(min(cost(t) for t in every))
    for rate in (0.0, 0.5, 0.9, 1.0):
        reached = threshold_for_rate(y, score, rate)
        assert reached.detection_rate.value >= rate
        higher = [t for t in every if t > reached.threshold]
        assert all((score[y == 1] >= t).mean() < rate for t in higher)
        alarms = threshold_for_rate(y, score, rate, of="false alarm")
        assert alarms.false_alarm_rate.value <= rate
        lower = [t for t in every if t < alarms.threshold]
        assert all((score[y == 0] >= t).mean() > rate for t in lower)


@pytest.mark.covers("reject-rule-posterior", "undecided-band-output")
def test_chow_s_rule_has_the_least_cost_and_a_band_sends_the_stated_share(rng):
    proba = rng.dirichlet(np.ones(3), 400)
    accepted = reject_rule(proba, reject_cost=0.3).accepted
    costs = np.column_stack([1 - np.eye(3), np.full(3, 0.3)])
    assert (accepted == (least_expected_cost(proba, costs).actions != "reject")).all()
    two = np.column_stack([np.linspace(0, 1, 11), np.linspace(1, 0, 11)])
    assert (reject_rule(two, margin=0.2).accepted == (two.max(axis=1) > 0.7)).all()
    gap = reject_rule(proba, gap=0.4).accepted
    top = np.sort(proba, axis=1)
    assert (gap == (top[:, -1] - top[:, -2] >= 0.4)).all()
    band = undecided_band([0.1, 0.39, 0.4, 0.5, 0.6, 0.61])
    assert band.sent.value == pytest.approx(3 / 6)


@pytest.mark.covers("tie-breaking-rule")
def test_ties_are_broken_by_the_stated_rule_and_random_ones_evenly():
    votes = np.array([[1.0, 3.0, 3.0]] * 3000 + [[5.0, 0.0, 0.0]])
    assert (break_ties(votes, "first")[:3000] == 1).all()
    assert (break_ties(votes, "reject")[:3000] == -1).all()
    drawn = break_ties(votes, "random", random_state=0)
    assert (drawn == break_ties(votes, "random", random_state=0)).all()
    assert abs((drawn[:3000] == 1).mean() - 0.5) < 0.05
    assert not (drawn[:3000] == 0).any()
    assert (break_ties(votes, "prior", prior=[0.5, 0.1, 0.4])[:3000] == 2).all()
    for rule in ("first", "random", "reject"):
        assert break_ties(votes, rule)[-1] == 0


def dominated_by_pairs(values: np.ndarray) -> np.ndarray:
    no_worse = (values[:, None] <= values[None]).all(axis=2)
    better = (values[:, None] < values[None]).any(axis=2)
    return (no_worse & better).any(axis=0)


@pytest.mark.covers("multi-objective-tradeoff")
@pytest.mark.parametrize("n_goals", [1, 2, 3, 4, 6])
def test_the_front_is_that_of_all_pairs_also_with_equal_rows(n_goals, rng):
    for n_values in (2, 4, 1000):
        values = rng.integers(0, n_values, (150, n_goals)).astype(float)
        assert (non_dominated(values) == ~dominated_by_pairs(values)).all()
    ranks = non_dominated_rank(values)
    for rank in range(ranks.max() + 1):
        rest = ranks >= rank
        assert (non_dominated(values[rest]) == (ranks[rest] == rank)).all()


def test_the_front_of_a_hundred_thousand_rows_of_three_goals_takes_less_than_a_second(rng):
    on_sphere = np.abs(rng.normal(size=(100_000, 3)))
    on_sphere /= -np.linalg.norm(on_sphere, axis=1, keepdims=True)  # nearly all are on the front
    non_dominated(on_sphere[:100])
    start = time.process_time()
    found = non_dominated(on_sphere)
    assert time.process_time() - start < 1.0
    assert found.mean() > 0.9


def test_knee_weights_and_bounds_choose_on_the_front():
    values = [[10, 9], [9, 4], [6, 2], [1, 1], [5, 5]]
    front = pareto_front(values, {"yield": "more", "cost": "less"})
    assert front.rows.tolist() == [0, 1, 2, 3]
    assert front.knee() == 1
    assert front.weighted({"yield": 1.0}) == 0
    assert front.weighted({"cost": 1.0}) == 3
    assert front.constrained("yield", {"cost": 3}) == 2
    with pytest.raises(DataError, match="loosen"):
        front.constrained("yield", {"cost": 0})


@pytest.mark.covers("nsga2-hypervolume")
@pytest.mark.parametrize("n_goals", [2, 3, 4])
def test_hypervolume_equals_a_count_of_random_points(n_goals, rng):
    values = rng.random((12, n_goals))
    points = rng.random((60_000, n_goals))
    inside = (values[:, None] <= points[None]).all(axis=2).any(axis=0)
    assert hypervolume(values, np.ones(n_goals)) == pytest.approx(inside.mean(), abs=0.012)


def test_hypervolume_of_boxes_is_exact():
    assert hypervolume([[1.0, 1.0, 1.0]], [2, 3, 4]) == pytest.approx(6.0)
    assert hypervolume([[0, 1, 0, 0], [1, 0, 0, 0]], [2, 2, 1, 1]) == pytest.approx(3.0)
    assert hypervolume([[5.0, 5.0]], [2, 2]) == 0.0
    assert np.isinf(crowding_distance([[0, 1], [1, 0], [0.5, 0.5]])[:2]).all()


def test_nsga2_finds_the_front_of_zdt1(seed):
    def zdt1(x):
        g = 1 + 9 * x[:, 1:].mean(axis=1)
        return np.column_stack([x[:, 0], g * (1 - np.sqrt(x[:, 0] / g))])

    found = nsga2(zdt1, [[0, 1]] * 10, vectorized=True, max_evaluations=8_000, random_state=seed)
    # the whole front has 1 + 2/3 below (1, 1) ... up to the reference (1.1, 1.1)
    exact = 1.1 * 1.1 - (1 - 2 / 3) - 0.0
    assert hypervolume(found.values, [1.1, 1.1]) > 0.97 * exact
    assert non_dominated(found.values).all()


def test_nsga2_keeps_whole_numbers_whole_and_survives_undefined_values():
    def goals(x):
        return (np.nan, np.nan) if x[1] > 3 else (x[0] + x[1], (x[0] - 4) ** 2)

    found = nsga2(
        goals, [[0, 8], [0, 5]], integer=[True, False], population_size=20,
        max_evaluations=600, random_state=0,
    )  # fmt: skip
    assert (found.x[:, 0] == np.round(found.x[:, 0])).all()
    assert np.isfinite(found.values).all()


@pytest.mark.covers("interactive-preference-search")
def test_answers_lead_to_the_best_candidates_of_a_hidden_utility(seed):
    rng = np.random.default_rng(seed)
    values = rng.random((120, 4))
    goals = dict.fromkeys("abcd", "more")
    found = 0
    for k in range(6):
        weights = rng.dirichlet(np.ones(4))
        utility = values @ weights
        search = PreferenceSearch(values, goals, random_state=k)
        for _ in range(12):
            a, b = search.ask()
            search.tell(*((a, b) if utility[a] > utility[b] else (b, a)))
        top = np.argsort(-utility)[:5]
        found += search.standing().rows[0] in top
    assert found >= 4


def test_an_answer_that_was_taken_back_counts_no_longer():
    values = [[9, 5], [8, 2], [7, 1], [1, 0.5]]
    goals = {"power": "more", "price": "less"}
    search = PreferenceSearch(values, goals)
    for _ in range(4):
        search.tell(0, 3)
    before = search.standing()
    search.tell(3, 0)
    search.forget(search.answers[-1])
    assert search.standing().rows[0] == before.rows[0]
    assert len(search.answers) == 4


@pytest.mark.covers("answer-coherence")
def test_the_shortest_cycle_of_contradictory_answers_is_shown(rng):
    chain = [(i, i + 1) for i in range(6)]
    assert preference_cycle(chain) == []
    cycle = preference_cycle([*chain, (5, 0), (4, 2)])
    assert sorted(cycle) == [2, 3, 4]
    for _ in range(30):
        answers = {(int(a), int(b)) for a, b in rng.integers(0, 6, (8, 2)) if a != b}
        found = preference_cycle(sorted(answers))
        exists = any(
            all((p[i], p[(i + 1) % size]) in answers for i in range(size))
            for size in range(2, 7)
            for p in itertools.permutations(range(6), size)
        )
        assert bool(found) == exists
        assert all((a, b) in answers for a, b in zip(found, [*found[1:], *found[:1]]))


@pytest.mark.covers("reference-point-answers")
def test_the_reference_point_answer_is_on_the_front_and_meets_a_wish_that_can_be_met(rng):
    values = rng.random((200, 3))
    goals = {"a": "more", "b": "less", "c": "more"}
    front = pareto_front(values, goals)
    possible = reference_point(values, goals, {"a": 0.3, "b": 0.7, "c": 0.3})
    assert possible.shortfall[0] <= 0
    for wish in ({"a": 0.99, "b": 0.01, "c": 0.99}, {"b": 0.0}):
        answer = reference_point(values, goals, wish)
        assert set(answer.rows) <= set(front.rows)
        assert (np.diff(answer.shortfall) >= -1e-5).all()


def test_wishes_by_goal_keep_what_must_be_kept_and_stop_at_the_wished_value():
    goals = {"a": "more", "b": "less", "c": "more"}
    values = np.array([[5, 5, 5], [6, 6, 5], [9, 8, 5], [9, 6, 1], [7, 9, 9]], dtype=float)
    wished = answer_by_goal(values, goals, 0, {"a": "improve", "b": ("give up", 8), "c": "keep"})
    assert wished.rows.tolist() == [2, 1]
    until = answer_by_goal(values, goals, 0, {"a": ("until", 6), "c": "keep"})
    assert set(until.rows.tolist()) == {1, 2, 4}
    assert np.ptp(until.shortfall) == 0
    with pytest.raises(DataError, match="no candidate meets"):
        answer_by_goal(values, goals, 0, {"a": "improve", "b": "keep", "c": "keep"})


@pytest.mark.covers("model-sweeper")
def test_a_sweep_gives_the_model_s_predictions_and_marks_places_without_data(rng):
    X = rng.random((300, 3))
    X = X[X[:, 0] + X[:, 1] < 1]
    model = LinearRegression().fit(X, X @ [1.0, 2.0, 3.0])
    found = sweep(model, X, (0, 1), fixed={"x2": 0.5}, n_points=20)
    first, second = np.meshgrid(*found.places)
    assert found.values == pytest.approx(first + 2 * second + 1.5)
    corner = first + second
    assert found.supported[corner < 0.7].mean() > 0.8
    assert not found.supported[corner > 1.4].any()
    names = ["red", "blue"]
    table = Table.from_dict({"x": X[:, 0].tolist(), "color": [names[i % 2] for i in range(len(X))]})
    y = X[:, 0] + np.array([5.0 * (i % 2) for i in range(len(X))])
    mixed = sweep(DecisionTreeRegressor(max_depth=3).fit(table, y), table, ("x", "color"))
    assert mixed.values.shape[0] == 2
    assert abs((mixed.values[0] - mixed.values[1]).mean() - 5) < 0.3
    with pytest.raises(DataError, match="no input"):
        sweep(model, X, "nothing")


@pytest.mark.covers("learned-model-optimisation")
def test_proposals_reach_the_known_optimum_inside_the_data_and_differ(rng):
    n = 400
    speed, heat = rng.uniform(0, 10, n), rng.uniform(0, 5, n)
    kind = np.array(["old", "new"])[rng.integers(0, 2, n)]
    output = 20 - (speed - 6) ** 2 - (heat - 2) ** 2 + 3 * (kind == "new")
    cost = speed + 2 * heat
    table = Table.from_dict({"speed": speed.tolist(), "heat": heat.tolist(), "kind": kind.tolist()})
    models = {
        "output": DecisionTreeRegressor(min_samples_leaf=3).fit(table, output),
        "cost": LinearRegression().fit(table, cost),
    }
    errors = {"output": output - models["output"].predict(table)}
    one = propose_settings(
        {"output": models["output"]},
        table,
        {"speed": Turn(step=0.5), "heat": Turn(), "kind": Turn()},
        {"output": Goal("more")},
        errors=errors,
    )
    best = one.settings[0]
    assert best["kind"] == "new"
    assert abs(best["speed"] - 6) < 1.6
    assert abs(best["heat"] - 2) < 1.2
    assert best["speed"] * 2 == round(best["speed"] * 2)
    assert np.isfinite(one.outcomes[0]["output"].high)
    both = propose_settings(
        models,
        table,
        {"speed": Turn(), "heat": Turn(0.0, 3.0)},
        {"output": Goal("more"), "cost": Goal("less")},
        given={"kind": "old"},
        n=5,
    )
    assert 3 <= len(both.settings) <= 5
    assert both.inside.all()
    assert all(each["heat"] <= 3.0 for each in both.settings)
    costs = [each["cost"].value for each in both.outcomes]
    assert max(costs) - min(costs) > 1
    with pytest.raises(DataError, match="never varies"):
        propose_settings(models, table.with_column("heat", [1.0] * n), {"heat": Turn()},
                         {"cost": Goal("less")})  # fmt: skip


def test_a_turned_column_of_whole_numbers_stays_whole(rng):
    X = Table.from_dict({"weight": rng.integers(900, 2000, 60), "doors": rng.integers(2, 6, 60)})
    weights, doors = (np.array(X.column(name).to_pylist(), float) for name in X.columns)
    models = {"cost": LinearRegression().fit(X, (weights - 1500) ** 2 / 1e4 - doors)}
    turn = {"weight": Turn(1000.5, 1300.5), "doors": Turn()}
    errors = {"cost": np.linspace(-9, 9, 60)}
    found = propose_settings(models, X, turn, {"cost": Goal("less")}, errors=errors)
    assert len(found.settings) == 5
    for name, low, high in (("weight", 1001, 1300), ("doors", 2, 5)):
        chosen = [each[name] for each in found.settings]
        assert all(value == round(value) and low <= value <= high for value in chosen)
    with pytest.raises(DataError, match="whole number"):
        propose_settings(models, X, {"doors": Turn(step=0.5)}, {"cost": Goal("less")})


def test_one_best_setting_has_others_beside_it_that_errors_do_not_tell_from_it(rng):
    n = 120
    speed, heat = rng.uniform(0, 10, n), rng.uniform(0, 5, n)
    X = Table.from_dict({"speed": speed, "heat": heat})
    models = {"cost": LinearRegression().fit(X, speed + 2 * heat)}
    turn, want = {"speed": Turn(), "heat": Turn()}, {"cost": Goal("less")}
    alone = propose_settings(models, X, turn, want)
    assert alone.n_front == len(alone.settings) == 1
    assert alone.others_sentence() == ""
    found = propose_settings(models, X, turn, want, errors={"cost": np.linspace(-4, 4, 80)})
    assert found.n_front == 1
    assert len(found.settings) == 5
    costs = np.array([each["cost"].value for each in found.outcomes])
    assert (costs - costs[0] <= 2.1).all()  # the median of the absolute errors is 2
    speeds = [each["speed"] for each in found.settings]
    assert max(speeds) - min(speeds) > 1
    assert "B, C, D, E" in str(found)
