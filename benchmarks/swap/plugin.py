"""pytest plugin: replace or accelerate scikit-learn's classes, and log which tests use which.

The environment says how: ``SWAP_MODE`` (baseline, accelerate, forced or native), ``SWAP_CLASS``
(the class that native mode replaces) and ``SWAP_LOG`` (a file that gets one JSON line per test).
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import signal
from pathlib import Path

import pytest

from benchmarks.swap.classes import CASES, some_of_each

MODE, LOG = os.environ["SWAP_MODE"], Path(os.environ["SWAP_LOG"])
ONLY, MOST = os.environ.get("SWAP_ONLY"), int(os.environ.get("SWAP_MOST", "0"))
SECONDS = float(os.environ.get("SWAP_SECONDS", "60"))
constructed: set[str] = set()
watched: dict[type, str] = {}


def watch(cls: type, name: str) -> None:
    """Note when a test constructs the class (a `Lasso` is not an `ElasticNet`, its base)."""
    original = cls.__init__
    watched[cls] = name

    @functools.wraps(original)
    def __init__(self, *args, **kwargs):
        nearest = next(base for base in type(self).__mro__ if base in watched)
        constructed.add(watched[nearest])
        original(self, *args, **kwargs)

    cls.__init__ = __init__


def set_up() -> None:
    """Import scikit-learn, then change it as the mode says."""
    importlib.import_module("sklearn.experimental.enable_halving_search_cv")
    packages = {name: importlib.import_module(f"sklearn.{c.package}") for name, c in CASES.items()}
    importlib.import_module("sklearn.utils.estimator_checks")
    if MODE == "native":
        name = os.environ["SWAP_CLASS"]
        ours = getattr(importlib.import_module(f"gnomon.{CASES[name].ours}"), name)
        watch(ours, name)
        setattr(packages[name], name, ours)
        return
    for name, package in packages.items():
        watch(getattr(package, name), name)
    if MODE != "baseline":
        import gnomon.accelerate

        gnomon.accelerate.install(always=MODE == "forced")


set_up()


def name_of(item) -> str:
    return f"{item.module.__name__}::{item.name}"


def pytest_collection_modifyitems(config, items):
    """Keep the tests that ``SWAP_ONLY`` names, or ``SWAP_MOST`` cases of each test function."""
    if ONLY is not None:
        wanted = set(Path(ONLY).read_text().split("\n"))
        kept = [item for item in items if name_of(item) in wanted]
    elif MOST:
        wanted = set(some_of_each([name_of(item) for item in items], MOST))
        kept = [item for item in items if name_of(item) in wanted]
    else:
        return
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def out_of_time(signum, frame):
    raise TimeoutError(f"Timeout: more than {SECONDS} seconds of processor time")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """End a test by its processor time, which other work on the machine does not change."""
    signal.signal(signal.SIGVTALRM, out_of_time)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call" or report.outcome == "failed":
        row = {
            "id": name_of(item),
            "passed": report.outcome == "passed" and not hasattr(report, "wasxfail"),
            "classes": sorted(constructed & set(CASES)),
            "seconds": round(call.duration, 2),
        }
        if call.excinfo is not None:
            row["error"] = f"{call.excinfo.type.__name__}: {call.excinfo.value}"[:600]
            frames = [f"{entry.path}:{entry.lineno + 1}" for entry in call.excinfo.traceback]
            row["where"] = [frame for frame in frames if "/_pytest/" not in frame][-6:]
        with LOG.open("a") as log:
            log.write(json.dumps(row) + "\n")
    return report


def pytest_unconfigure(config):
    if MODE in ("accelerate", "forced"):
        import gnomon.accelerate

        LOG.with_suffix(".report").write_text(str(gnomon.accelerate.report()))
