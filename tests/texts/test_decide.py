"""Worked decisions of text 003, sections 2.1.1 and 3.3, with the corrections of its errata."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.decide import (
    Chance,
    Decision,
    Payment,
    Unknown,
    UtilityTree,
    compare_options,
    expected_utility_over,
    infer_utilities,
    value_of_perfect_information,
    value_of_test,
)


@pytest.mark.covers("expected-utility")
def test_lotteries_of_section_3_3_1_lose_055_and_200_and_twenty_cheap_tickets_lose_11():
    tax = 0.9
    options = {"A": [(1 / 10_000, 5000 * tax)], "B": [(1 / 50_000, 1_000_000 * tax)]}
    found = compare_options(options, prices={"A": 1.0, "B": 20.0})
    worth = dict(zip(found.names, found.utilities))
    assert found.best == "do nothing"
    assert worth["A"] == pytest.approx(-0.55)
    assert worth["B"] == pytest.approx(-2.0)
    assert 20 * worth["A"] == pytest.approx(-11.0)
    per_unit = compare_options(options, prices={"A": 1.0, "B": 20.0}, per="unit", do_nothing=False)
    assert per_unit.names == ["B", "A"]


@pytest.mark.covers("value-of-information")
def test_knowing_the_commoner_class_is_worth_064_of_a_lunch_of_8():
    guess, always = 0.5 * 8, 0.58 * 8
    assert always - guess == pytest.approx(0.64)
    # knowing the answer of every case is worth what the best constant answer misses
    assert value_of_perfect_information([0.58, 0.42], [[8, 0], [0, 8]]) == pytest.approx(8 - always)


@pytest.mark.covers("utility-continuous", "value-of-test")
def test_mars_mission_is_sent_untested_and_the_test_is_worth_2207():
    start = 150 / 365
    density = lambda x: 6 * x - 6 * x**2  # noqa: E731
    survive = expected_utility_over(lambda x: float(x > start), density, (0, 1)).value
    assert survive == pytest.approx(0.632150, abs=1e-6)
    send = expected_utility_over(lambda x: 4.0 if x > start else -6.0, density, (0, 1)).value
    assert send == pytest.approx(-6 + 10 - 30 * start**2 + 20 * start**3, abs=1e-9)
    tested = value_of_test(survive, [[4.0, -6.0], [0.0, 0.0]], price=2.5)
    assert tested.value == pytest.approx(2.207101, abs=1e-6)
    assert tested.with_test == pytest.approx(0.0286, abs=5e-5)  # the text's 0.146 is wrong
    assert not tested.buy
    tree = UtilityTree(
        Decision(
            {
                "send": Chance({"survives": (survive, 4.0), "fails": (None, -6.0)}, "mission"),
                "stay": 0.0,
            }
        )
    )
    assert tree.value_of_information("mission") == pytest.approx(tested.value)


@pytest.mark.covers("utility-inference")
def test_death_by_a_mushroom_is_worth_minus_79999992():
    nothing, meal = {"nothing": 1.0}, {"meal": 1 - 1e-7, "death": 1e-7}
    found = infer_utilities([(nothing, meal)], {"nothing": 0.0, "meal": 8.0})
    assert found.utilities["death"].value == pytest.approx(-79_999_992, rel=1e-9)


@pytest.mark.covers("utility-tree", "utility-threshold-solver")
def test_a_coupon_is_sent_to_customers_whose_probability_is_below_00536():
    """003 3.3.5: 13 of 67 react to a coupon of 0.25 on a profit of 1.20; sending costs 0.12."""
    x = Unknown("x")
    coupon = Payment(0.12, Chance({"buys": (13 / 67, 1.20 - 0.25), "does not": (None, 0.0)}))
    none = Chance({"buys": (x, 1.20), "does not": (None, 0.0)})
    found = UtilityTree(Decision({"send": coupon, "do not": none})).thresholds("x", 0, 1)
    assert found.values == [pytest.approx(0.05360696517, abs=1e-10)]
    assert found.best == ["send", "do not"]  # the text prints ">" for "<"


def test_what_was_paid_before_changes_no_later_decision():
    play = Chance({"win": (0.5, 3.0), "lose": (None, -1.0)})
    tree = UtilityTree(
        Decision({"enter": Payment(5.0, Decision({"play": play, "leave": 0.0})), "stay": 0.0})
    )
    assert tree.solve().best == "stay"
    inside = tree.after("enter")
    assert inside.sunk == 5.0
    assert inside.solve().best == "play"
    assert inside.solve().value == 1.0


def test_twenty_repetitions_of_utilities_are_found_by_least_squares_with_an_interval(rng):
    truth = {"best": 1.0, "worst": 0.0, "middle": 0.6, "low": 0.25}
    answers = []
    for _ in range(20):
        for name in ("middle", "low"):
            share = np.clip(truth[name] + 0.01 * rng.normal(), 0, 1)
            answers.append(({name: 1.0}, {"best": share, "worst": 1 - share}))
    found = infer_utilities(answers, {"best": 1.0, "worst": 0.0}).utilities
    for name, estimate in found.items():
        assert abs(estimate.value - truth[name]) < 0.02
        assert 0 < estimate.high - estimate.low < 0.05
