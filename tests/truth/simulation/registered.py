"""All simulations: importing their modules registers them."""

from tests.truth.simulation import (
    baskets,
    detections,
    group,
    labels,
    learn,
    library,
    series,
    tables,
    texts,
    trials,
)
from tests.truth.simulation.harness import SIMULATIONS

__all__ = [
    "SIMULATIONS",
    "baskets",
    "detections",
    "group",
    "labels",
    "learn",
    "library",
    "series",
    "tables",
    "texts",
    "trials",
]
