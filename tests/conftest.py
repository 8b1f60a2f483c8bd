"""What all tests share: the run's seed, and small tables of every kind.

The seed is that of the committed state of code and tests, so that a run is repeated by running it
again; GNOMON_TEST_SEED sets another: a number, or "random" for a new one in every run.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import zlib

import hypothesis
import hypothesis.core
import numpy as np
import pytest
from _pytest.runner import runtestprotocol

SEED_VARIABLE = "GNOMON_TEST_SEED"
SECOND_VARIABLE = "GNOMON_TEST_SECOND_SEED"
SEED_OUTSIDE_GIT = 1


def pytest_configure(config):
    """Choose the run's seed before workers start, so that they inherit it; for Hypothesis too."""
    given = os.environ.get(SEED_VARIABLE)
    if not given:
        os.environ[SEED_VARIABLE] = str(seed_of_state(config.rootpath))
    elif given == "random":
        os.environ[SEED_VARIABLE] = str(secrets.randbelow(2**31))
    if hypothesis.core.global_force_seed is None:
        hypothesis.core.global_force_seed = run_seed()


def seed_of_state(root) -> int:
    """A seed for the committed state of code and tests; the same for the same state."""
    command = ["git", "rev-parse", "HEAD:src", "HEAD:tests"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return SEED_OUTSIDE_GIT
    return zlib.crc32(done.stdout)


def pytest_report_header(config):
    return (
        f"gnomon seed: {run_seed()} (repeat with {SEED_VARIABLE}={run_seed()}); "
        f"hypothesis profile: {hypothesis.settings.get_current_profile_name()}"
    )


def run_seed() -> int:
    """The seed of this run."""
    return int(os.environ[SEED_VARIABLE])


def pytest_runtest_protocol(item, nextitem):
    """With GNOMON_TEST_SECOND_SEED, run a failed randomized test again with the next seed.

    A test that fails for both seeds fails; one that fails for the first is named in the summary.
    """
    if not os.environ.get(SECOND_VARIABLE) or not _is_random(item):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if any(report.failed for report in reports):
        first = run_seed()
        _choose_seed(first + 1)
        item._initrequest()
        again = runtestprotocol(item, nextitem=nextitem, log=False)
        _choose_seed(first)
        if not any(report.failed for report in again):
            why = next(report.longreprtext for report in reports if report.failed)
            again[0].failed_for_seed = f"{item.nodeid} failed for seed {first}:\n{why}"
            reports = again
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _is_random(item) -> bool:
    """Whether a test is randomized: by Hypothesis, or by the run's seed."""
    drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    return drawn or not {"rng", "seed"}.isdisjoint(getattr(item, "fixturenames", ()))


def _choose_seed(seed: int) -> None:
    os.environ[SEED_VARIABLE] = str(seed)
    hypothesis.core.global_force_seed = seed


def pytest_terminal_summary(terminalreporter):
    found = [
        report.failed_for_seed
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "failed_for_seed", None)
    ]
    if found:
        terminalreporter.section("flaky tests that fail for one of two seeds: fix them")
        for text in found:
            terminalreporter.write_line(text)


@pytest.fixture
def seed() -> int:
    """The run's seed; a test must hold for any."""
    return run_seed()


@pytest.fixture
def rng(request) -> np.random.Generator:
    """A generator of the test's own, from the run's seed and the test's name."""
    return np.random.default_rng([run_seed(), zlib.crc32(request.node.nodeid.encode())])


@pytest.fixture
def mixed_table(rng):
    """A Table of every kind of column, with missing cells, and a target of three classes."""
    import pandas as pd

    from gnomon.table import Table
    from tests.contract.cases import mixed_columns

    classes = np.array(["no", "perhaps", "yes"])[np.arange(90) % 3]
    return Table.from_frame(pd.DataFrame(mixed_columns(rng, 90)).assign(outcome=classes))


COMMON = {
    "deadline": None,
    "derandomize": False,
    "print_blob": True,
    "suppress_health_check": [
        hypothesis.HealthCheck.too_slow,
        hypothesis.HealthCheck.function_scoped_fixture,
    ],
}
UNSHRUNK = [phase for phase in hypothesis.Phase if phase is not hypothesis.Phase.shrink]
hypothesis.settings.register_profile("quick", max_examples=15, phases=UNSHRUNK, **COMMON)
hypothesis.settings.register_profile("thorough", max_examples=300, **COMMON)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
