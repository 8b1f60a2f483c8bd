"""The job `again`: repeat a finished run from its record alone, and compare the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnomon.evaluate.run_folder import fingerprint
from gnomon.workbench.base.given import as_table
from gnomon.workbench.base.job import Progress
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.runs import RunError, find_run, read_record
from gnomon.workbench.jobs import JOBS


@dataclass
class Repetition:
    """A run and its repetition.

    Attributes
    ----------
    name : str
    recorded, found : dict of str to float
        Score of every learner on the folds, and ``"test"``.
    """

    name: str
    recorded: dict[str, float]
    found: dict[str, float]

    @property
    def same(self) -> bool:
        """Whether every number is the same to the last bit."""
        return self.recorded == self.found


def again(
    run: str | Path,
    *,
    runs: str | Path = "runs",
    table: Any = None,
    progress: Progress | None = None,
) -> Repetition:
    """Repeat a finished run from its record alone, and compare the numbers.

    Parameters
    ----------
    run : path or name
    runs : path, default="runs"
    table : Table, data frame or path, default=None
        Where the run's table was not read from a file.
    progress : callable, default=None
        Called as ``progress(step, done, total)``.

    Returns
    -------
    repetition : Repetition
    """
    folder = find_run(run, runs)
    record = read_record(folder)
    if record.get("status") != "finished":
        raise RunError(f"{folder} is not finished; 'gnomon learn --resume {folder}' goes on")
    if record["job"] not in JOBS:
        raise RunError(f"a run of 'gnomon {record['job']}' is not repeated from its record")
    table = record["source"] if table is None else table
    if table is None:
        raise RunError(f"the data of {folder} were not read from a file; give them as table=")
    settings = record["settings"]
    if "budget" in settings:
        settings = settings | {"budget": None}
    job = JOBS[record["job"]]
    subject = as_table(table) if job.subject == "table" else table
    result = job.repeated(subject, settings, progress=progress)
    mark = result.run.record["data"]["fingerprint"] or fingerprint(subject)
    if mark != record["data"]["fingerprint"]:
        raise RunError(f"the data of {folder} have changed since: {record['source']}")
    found = as_json(result.summary())  # infinite figures are written as unknown
    return Repetition(folder.name, numbers(record["results"]), numbers(found))


def numbers(summary: dict[str, Any]) -> dict[str, float]:
    """The figures of a run that a repetition must give."""
    if "quality" in summary:
        return {
            f"{measure} of {name}": each["value"]
            for name, found in summary["quality"].items()
            for measure, each in found.items()
        }
    if "groups" in summary:
        return {
            **{f"rows of {each['name']}": each["rows"] for each in summary["groups"]},
            **{
                f"{measure} of {each['method']}, {each['k']} groups": each[measure]["value"]
                for each in summary["groupings"]
                for measure in ("silhouette", "stability")
            },
        }
    if "scores" in summary:
        return {
            **{name: each["value"] for name, each in summary["scores"].items()},
            "test": summary["test"]["value"],
        }
    return dict(leaves(summary))


def leaves(data: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """All numbers in plain data, by their path."""
    if isinstance(data, dict | list):
        items = data.items() if isinstance(data, dict) else enumerate(data, 1)
        for key, value in items:
            yield from leaves(value, f"{name} {key}".strip())
    elif isinstance(data, int | float) and not isinstance(data, bool):
        yield name, data
