"""Every statement that a job prints is registered and simulated; a few tables of each law."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_circles, make_moons

import gnomon.workbench.learn
import gnomon.workbench.look
from gnomon.workbench.base.statements import STATEMENTS, statements_of
from gnomon.workbench.learn.evidence import WRONG
from tests.truth.simulation import __main__ as simulation_run
from tests.truth.simulation.group import CLOUDS, MOST, clear
from tests.truth.simulation.harness import Count, Doubted, Record, lines, repeated
from tests.truth.simulation.laws import as_dict
from tests.truth.simulation.registered import SIMULATIONS

SIX = 6
JOBS = (
    *("learn", "look", "group", "map", "compare", "predict", "forecast", "train", "topics"),
    *("label", "rules", "decide", "detect"),
)


def literals(package, function: str, place: int) -> set[str]:
    """The words that stand in one place of all calls of a function in a package."""
    found = set()
    for file in Path(package.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            called = isinstance(node, ast.Call) and getattr(node.func, "id", "") == function
            if called and len(node.args) > place and isinstance(node.args[place], ast.Constant):
                found.add(node.args[place].value)
    return found


def test_every_check_of_learn_is_a_registered_statement():
    printed = literals(gnomon.workbench.learn, "Check", 0) | set(WRONG)
    assert printed <= set(statements_of("learn"))


def test_every_finding_of_look_is_a_registered_statement():
    printed = literals(gnomon.workbench.look, "Finding", 1)
    assert len(printed) > 15
    assert printed <= set(statements_of("look"))


def test_every_job_that_judges_has_statements_with_a_level():
    assert {each.job for each in STATEMENTS if each.kind != "figure"} >= set(JOBS)


def test_every_test_and_interval_is_simulated_in_six_laws_or_more():
    laws: dict[tuple[str, str], set[str]] = {}
    for each in SIMULATIONS:
        for name in each.statements:
            laws.setdefault((each.job, name), set()).update(each.laws)
    missing = [
        (each.job, each.name)
        for each in STATEMENTS
        if each.kind != "figure" and len(laws.get((each.job, each.name), ())) < SIX
    ]
    assert not missing


def test_bands_hold_the_nominal_shares():
    for each in STATEMENTS:
        if each.kind != "figure":
            assert each.band[0] <= each.nominal <= each.band[1]


def test_a_share_outside_its_band_fails_once_it_is_beyond_chance():
    few, many = Count(20, 3.0), Count(2000, 300.0)
    assert few.verdict((0.0, 0.07)) == "open"
    assert many.verdict((0.0, 0.07)) == "FAILS"
    assert Count(2000, 100.0).verdict((0.0, 0.07)) == "holds"
    assert Count(0, 0.0, 5).verdict((0.0, 0.07)) == "not made"


def test_a_share_outside_its_band_is_said_only_where_the_job_doubts_nearly_all():
    doubted, silent = Count(), Count()
    for number in range(1000):
        held = number % 5 > 0
        doubted.add(Doubted(held))
        silent.add(Doubted(held) if number % 2 else held)
    assert doubted.share == silent.share == 0.8
    assert doubted.verdict((0.92, 1.0)) == "said"
    assert silent.verdict((0.92, 1.0)) == "FAILS"


def test_a_simulation_goes_on_where_it_was_stopped():
    each = next(one for one in SIMULATIONS if one.name == "equal_lots")
    at_once = repeated(each, "normal", Record(), 6)
    in_turns = repeated(each, "normal", repeated(each, "normal", Record(), 2), 6)
    assert at_once == in_turns


def test_two_runs_at_once_keep_the_counts_of_both(tmp_path, monkeypatch):
    monkeypatch.setattr(simulation_run, "RECORDS", tmp_path / "truth.json")
    one, other = (each for each in SIMULATIONS if each.job == "rules")
    first, second = simulation_run.read_records(), simulation_run.read_records()
    for each, records in ((one, first), (other, second)):
        law = each.laws[0]
        records[f"{each.job}/{each.name}/{law}"] = repeated(each, law, Record(), 1)
        simulation_run.write_records(records, [each])
    assert len(simulation_run.read_records()) == 2


SHAPES = {
    "blobs": lambda n: make_blobs(n, centers=3, cluster_std=0.7, random_state=1)[0],
    "moons": lambda n: make_moons(n, noise=0.05, random_state=0)[0],
    "rings": lambda n: make_circles(n, factor=0.4, noise=0.04, random_state=0)[0],
    "banana": lambda n: CLOUDS["banana"](np.random.default_rng(7), n),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_group_is_simulated_as_the_job_decides_and_finds_groups_of_many_shapes(shape):
    points = SHAPES[shape](300)
    found = gnomon.group(as_dict(points), most=MOST).clear
    assert clear(points) == found == (shape != "banana")


@pytest.mark.parametrize("each", SIMULATIONS, ids=lambda each: f"{each.job}-{each.name}")
def test_no_statement_is_refuted_by_a_few_tables(each, seed):
    """Few repeats find gross failures only; ``make truth`` measures."""
    for law in each.laws[: each.quick_laws]:
        record = repeated(each, law, Record(), each.quick, seed=1 + seed)
        assert [(s.name, law) for s, law, _, v in lines(each, law, record) if v == "FAILS"] == []
        assert sum(count.n + count.declined for count in record.counts.values()) > 0
