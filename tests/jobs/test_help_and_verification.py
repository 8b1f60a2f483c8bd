"""What users can look up: help whose examples run, conventions, and numbers beside references."""

from __future__ import annotations

import doctest
import json

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.engine.registry import methods
from gnomon.workbench.explain.entries import KINDS, help_entries
from gnomon.workbench.verify.verification import CONVENTIONS, REFERENCES, conventions, iris, verify
from tests.jobs.terminal import call


@pytest.mark.covers("help-entries")
def test_there_is_a_fact_for_every_method_and_entries_of_all_four_kinds():
    facts = {each.title for each in help_entries(kind="fact")}
    assert facts == {each.name for each in methods()}
    assert {each.kind for each in help_entries()} == set(KINDS)
    assert all(each.text and each.title for each in help_entries())


@pytest.mark.covers("help-entries")
def test_examples_that_help_shows_run_as_shown(rng):
    """A handful at a time; the suite of docstrings runs all of them."""
    shown = help_entries(kind="example")
    for place in rng.choice(len(shown), 5, replace=False):
        entry = shown[place]
        parsed = doctest.DocTestParser().get_doctest(entry.text, {}, entry.title, None, 0)
        options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        assert doctest.DocTestRunner(optionflags=options).run(parsed).failed == 0, entry.title


@pytest.mark.covers("help-entries")
def test_explain_finds_a_procedure_and_says_when_nothing_is_known(tmp_path):
    done = call("explain", "gradient", "--kind", "procedure", "--json", folder=tmp_path)
    found = json.loads(done.stdout)
    assert [each["title"] for each in found] == ["verify a gradient"]
    assert "check_gradient" in found[0]["text"]
    assert call("explain", "xyzzy", folder=tmp_path).returncode == 1
    assert call("explain", "tree", "--kind", "song", folder=tmp_path).returncode == 2


@pytest.mark.covers("convention-switches")
def test_both_conventions_are_reached_by_the_switch_and_differ_as_they_should():
    """Each pair against the factor, or the equations, by which the conventions differ."""
    found = {each.what: pair for each, pair in conventions().rows}
    rows, y = iris()
    n, d = rows.shape
    assert len(found) == len(CONVENTIONS)
    text, others = found["divisor of PCA's variances"]
    assert text / others == pytest.approx((n - 1) / n)
    text, others = found["divisor of a column's spread"]
    assert text / others == pytest.approx(np.sqrt(n / (n - 1)))
    text, others = found["noise in Cook's distance"]
    assert text / others == pytest.approx(n / (n - d - 1))
    assert found["factor of Huber's loss"] == (5.0, 2.5)
    assert found["scale of information criteria"] == (103.0, 206.0)
    centered, moved = rows - rows.mean(axis=0), y - y.mean()
    by_text = np.linalg.solve(centered.T @ centered / n + 0.1 * np.eye(d), centered.T @ moved / n)
    by_sum = np.linalg.solve(centered.T @ centered + 0.1 * np.eye(d), centered.T @ moved)
    assert found["scale of ridge's penalty"] == pytest.approx((by_text[0], by_sum[0]))
    ones = np.column_stack([np.ones(n), rows])
    penalized = np.linalg.solve(ones.T @ ones + np.eye(d + 1), ones.T @ y)
    assert found["ridge's constant"][0] == pytest.approx(penalized[0])


@pytest.mark.covers("reference-verification")
def test_every_number_agrees_with_its_reference():
    found = verify()
    assert found.right, str(found)
    assert len(found.rows) + len(found.absent) == len(REFERENCES)


@pytest.mark.covers("reference-verification")
def test_a_wrong_number_is_seen_and_an_unknown_method_named(tmp_path, monkeypatch):
    found = verify("KMeans")
    reference, ours, theirs = found.rows[0]
    found.rows[0] = (reference, ours * 1.01, theirs)
    assert not found.right
    assert "NO" in str(found)
    with pytest.raises(DataError, match="LinearRegression"):
        verify("crystal ball")
    done = call("verify", "PCA", folder=tmp_path)
    assert done.returncode == 0
    assert "1 of 1 numbers agree" in done.stdout
    assert "PCA(ddof=0)" in call("conventions", "--json", folder=tmp_path).stdout


def test_levels_lists_the_tests_and_intervals_of_a_job_and_refuses_unknown_jobs(tmp_path):
    done = call("levels", "learn", "--json", folder=tmp_path)
    names = {each["name"] for each in json.loads(done.stdout)}
    assert {"better than the baseline", "test score"} <= names
    assert "search" not in names  # a description of the table claims nothing of other rows
    assert call("levels", "nothing", folder=tmp_path).returncode == 2
