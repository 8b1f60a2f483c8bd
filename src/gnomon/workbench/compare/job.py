"""The job `compare`: runs side by side, with a test that is right for what they share."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from gnomon.engine.errors import DataError
from gnomon.table import read
from gnomon.workbench.base.runs import RunError, find_run, read_record, state_of
from gnomon.workbench.learn.lead import two_sided_p

SAME_ROWS = ("target", "random_state", "test_share", "groups", "time", "task")
PREDICTIONS = "test_predictions.parquet"


@dataclass
class Comparison:
    """Runs side by side.

    Attributes
    ----------
    lines : list of dict
        Per run: name, target, chosen learner, measure, test figure, seconds.
    pairs : list of dict
        Per run beside the first: difference of the test figures, p, and how it was found.
    notes : list of str
        What cannot be compared, and why.
    """

    lines: list[dict[str, Any]]
    pairs: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def compare(runs: list[str | Path], *, folder: str | Path = "runs") -> Comparison:
    """Put finished runs side by side and say which differences are real.

    Runs with the same test rows (of the same table, target, seed and share) are compared row by
    row, by a paired t test of the losses; others by their figures on different test rows, which is
    less sharp.

    Parameters
    ----------
    runs : list of path or name
        Two or more; each is compared with the first.
    folder : path, default="runs"

    Returns
    -------
    comparison : Comparison
    """
    if len(runs) < 2:
        raise DataError("give two or more runs to compare")
    places = [find_run(run, folder) for run in runs]
    records = [finished(place) for place in places]
    found = Comparison([line_of(place, record) for place, record in zip(places, records)])
    for place, record in zip(places[1:], records[1:]):
        compare_pair(found, (places[0], records[0]), (place, record))
    return found


def finished(place: Path) -> dict[str, Any]:
    """The record of a run that has ended well."""
    record = read_record(place)
    if record.get("status") != "finished":
        raise RunError(
            f"{place} is not finished ({state_of(record)}); go on with: "
            f"gnomon learn --resume {place}"
        )
    if record["job"] != "learn":
        raise RunError(f"{place} is a run of 'gnomon {record['job']}', which has no test figure")
    return record


def line_of(place: Path, record: dict[str, Any]) -> dict[str, Any]:
    """One run in a line."""
    results = record["results"]
    return {
        "run": place.name,
        "target": record["settings"]["target"],
        "chosen": results["chosen"],
        "measure": results["measure"],
        "test": results["test"]["value"],
        "low": results["test"]["low"],
        "high": results["test"]["high"],
        "beats_baseline": results["beats_baseline"],
        "seconds": record.get("seconds"),
    }


def compare_pair(
    found: Comparison, one: tuple[Path, dict[str, Any]], other: tuple[Path, dict[str, Any]]
) -> None:
    """Add the comparison of a run with the first one, or why there is none."""
    (first, a), (second, b) = one, other
    if a["results"]["measure"] != b["results"]["measure"]:
        found.notes.append(f"{first.name} and {second.name} are judged by different measures.")
        return
    if a["settings"]["target"] != b["settings"]["target"]:
        found.notes.append(
            f"{first.name} and {second.name} predict different targets: they are not compared."
        )
        return
    same_data = a["data"]["fingerprint"] == b["data"]["fingerprint"]
    same = same_data and all(a["settings"].get(key) == b["settings"].get(key) for key in SAME_ROWS)
    if not same:
        found.notes.append(
            f"{first.name} and {second.name} differ in data or split: their test figures are of "
            "different rows and are compared as such."
        )
    pair = row_by_row(one, other) if same else figure_by_figure(one, other)
    found.pairs.append({"first": first.name, "second": second.name, **pair})


def row_by_row(
    one: tuple[Path, dict[str, Any]], other: tuple[Path, dict[str, Any]]
) -> dict[str, Any]:
    """A paired t test of the losses of the same test rows."""
    places = [place / PREDICTIONS for place, _ in (one, other)]
    if not all(place.exists() for place in places):  # runs of version 0.1
        return figure_by_figure(one, other) | {"how": "z test; the losses of rows are not kept"}
    tables = [read(place).to_dict() for place in places]
    losses = [np.asarray(each["loss"], dtype=float) for each in tables]
    a, b = (record["results"]["test"]["value"] for _, record in (one, other))
    gap = None if a is None or b is None else a - b
    gains = losses[1] - losses[0]
    owners = np.asarray(tables[0]["counts as"])
    how = f"paired t test of the losses of the same {len(gains):,} test rows"
    if (parts := len(np.unique(owners))) < len(gains):
        how += f", each of {parts:,} {counted_as_one(one[1]['settings'])} counted as one"
    p = two_sided_p(gains, owners) if gains.any() else 1.0
    return {"difference": gap, "p": None if np.isnan(p) else p, "how": how}


def counted_as_one(settings: dict[str, Any]) -> str:
    """What rows that belong together share."""
    return f"groups of {settings['groups']!r}" if settings.get("groups") else "stretches of time"


def figure_by_figure(
    one: tuple[Path, dict[str, Any]], other: tuple[Path, dict[str, Any]]
) -> dict[str, Any]:
    """A z test of two test figures on rows of their own."""
    a, b = (record["results"]["test"] for _, record in (one, other))
    if a["value"] is None or b["value"] is None:
        return {"difference": None, "p": None, "how": "a figure is infinite"}
    gap = a["value"] - b["value"]
    if a["error"] is None or b["error"] is None:
        return {"difference": gap, "p": None, "how": "no error bars"}
    error = float(np.hypot(a["error"], b["error"]))
    p = float(2 * scipy.stats.norm.sf(abs(gap) / error)) if error > 0 else None
    return {"difference": gap, "p": p, "how": "z test of figures on different test rows"}
