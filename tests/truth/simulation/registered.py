"""All simulations: importing their modules registers them."""

from tests.truth.simulation import group, learn, library, series, tables, texts
from tests.truth.simulation.harness import SIMULATIONS

__all__ = ["SIMULATIONS", "group", "learn", "library", "series", "tables", "texts"]
