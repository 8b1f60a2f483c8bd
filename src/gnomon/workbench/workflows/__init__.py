"""Workflows of the texts: each answers one question step by step and shows every step's figures.

A workflow's file is imported when it is first asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "ImprovementLoop": "gnomon.decide.improvement",
    "LinkedPages": "linked_pages",
    "RowTour": "row_tour",
    "check_gradient": "single_method",
    "choose_features": "feature_choice",
    "copy_check": "generator_copies",
    "grow_and_prune": "single_method",
    "hmm_task": "hmm",
    "hmm_tasks": "hmm",
    "measured_properties": "properties",
    "name_groups": "named_groups",
    "practise_mcmc": "sampling_practice",
    "printed_properties": "properties",
    "read_curves": "curve_reading",
    "repair_regression": "repair",
    "replay": "fit_replay",
    "WatchRows": "rows_over_steps",
    "signal_recipe": "signals",
    "three_way_check": "sampling_practice",
    "tune_boosting": "single_method",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        home = _HOMES[name] if "." in _HOMES[name] else f"{__name__}.{_HOMES[name]}"
        return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module 'gnomon.workbench.workflows' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
