"""pytest plugin: replace or accelerate scikit-learn's classes, and log which tests use which.

The environment says how: ``SWAP_MODE`` (baseline, accelerate, forced or native), ``SWAP_CLASS``
(the class that native mode replaces) and ``SWAP_LOG`` (a file that gets one JSON line per test).
"""

from __future__ import annotations

import functools
import importlib
import json
import os
from pathlib import Path

import pytest

from benchmarks.swap.classes import CASES

MODE, LOG = os.environ["SWAP_MODE"], Path(os.environ["SWAP_LOG"])
constructed: set[str] = set()


def watch(cls: type, name: str) -> None:
    """Note when a test constructs the class."""
    original = cls.__init__

    @functools.wraps(original)
    def __init__(self, *args, **kwargs):
        constructed.add(name)
        original(self, *args, **kwargs)

    cls.__init__ = __init__


def set_up() -> None:
    """Import scikit-learn, then change it as the mode says."""
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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    constructed.clear()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call" or report.outcome == "failed":
        row = {
            "id": f"{item.module.__name__}::{item.name}",
            "passed": report.outcome == "passed" and not hasattr(report, "wasxfail"),
            "classes": sorted(constructed & set(CASES)),
        }
        if call.excinfo is not None:
            row["error"] = f"{call.excinfo.type.__name__}: {call.excinfo.value}"[:300]
        with LOG.open("a") as log:
            log.write(json.dumps(row) + "\n")
    return report


def pytest_unconfigure(config):
    if MODE in ("accelerate", "forced"):
        import gnomon.accelerate

        LOG.with_suffix(".report").write_text(str(gnomon.accelerate.report()))
