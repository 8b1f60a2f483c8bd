"""Gnomon: one library and workbench for machine learning, from a raw table to a decision."""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

_HOMES = {
    "advise": "gnomon.workbench.advise",
    "config": "gnomon.engine.config",
    "settings": "gnomon.engine.config",
    "again": "gnomon.workbench.again",
    "compare": "gnomon.workbench.compare",
    "group": "gnomon.workbench.group",
    "learn": "gnomon.workbench.learn",
    "load": "gnomon.engine.modelfile",
    "look": "gnomon.workbench.look",
    "map": "gnomon.workbench.map",
    "methods": "gnomon.engine.registry",
    "predict": "gnomon.workbench.predict",
    "read": "gnomon.table",
    "resume": "gnomon.workbench.runs",
    "scan": "gnomon.table",
    "shift_check": "gnomon.workbench.diagnosis",
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'gnomon' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
