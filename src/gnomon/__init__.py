"""Gnomon: one library and workbench for machine learning, from a raw table to a decision."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from gnomon.engine import late_imports

__version__ = "0.2.0"

_HOMES = {
    "advise": "gnomon.workbench.advise.job",
    "config": "gnomon.engine.config",
    "settings": "gnomon.engine.config",
    "again": "gnomon.workbench.again.job",
    "compare": "gnomon.workbench.compare.job",
    "detect": "gnomon.workbench.detect.job",
    "export": "gnomon.workbench.export.job",
    "forecast": "gnomon.workbench.forecast.job",
    "find": "gnomon.workbench.explain.index",
    "group": "gnomon.workbench.group.job",
    "image": "gnomon.workbench.image.job",
    "improve": "gnomon.workbench.decide.job",
    "label": "gnomon.workbench.label.job",
    "learn": "gnomon.workbench.learn.job",
    "load": "gnomon.engine.modelfile",
    "look": "gnomon.workbench.look.job",
    "map": "gnomon.workbench.map.job",
    "methods": "gnomon.engine.registry",
    "minimize": "gnomon.workbench.minimize.job",
    "predict": "gnomon.workbench.predict.job",
    "read": "gnomon.table",
    "reshape": "gnomon.workbench.prepare.job",
    "resume": "gnomon.workbench.learn.job",
    "rules": "gnomon.workbench.rules.job",
    "scan": "gnomon.table",
    "search": "gnomon.workbench.search.job",
    "shift_check": "gnomon.workbench.analysis.diagnosis",
    "topics": "gnomon.workbench.topics.job",
    "train": "gnomon.workbench.train.job",
}

__all__ = ["__version__", *sorted(_HOMES)]


late_imports.install()


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _packages():
        return importlib.import_module(f"gnomon.{name}")
    raise AttributeError(f"module 'gnomon' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_packages()})


def _packages() -> list[str]:
    return [each.name for each in pkgutil.iter_modules(__path__) if not each.name.startswith("_")]
