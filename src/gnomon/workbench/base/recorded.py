"""Numbers of the records of runs."""

from __future__ import annotations

from typing import Any

from gnomon.evaluate import Estimate


def figure_of(record: dict[str, Any], name: str) -> Any:
    """A figure of a record with its interval."""
    return Estimate(number(record[name]), number(record["low"]), number(record["high"]))


def number(value: float | None) -> float:
    """A number of a record; what is unknown is NaN."""
    return float("nan") if value is None else value
