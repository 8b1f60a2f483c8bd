"""The script of a grouping or a map: one public call that gives the same numbers again."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gnomon.workbench.again import opening


def job_script(record: dict[str, Any], settings: Any, same: str) -> str:
    """A script that repeats a job and says whether it gave the same.

    Parameters
    ----------
    record : dict
        What ``run.json`` holds.
    settings : dataclass
        What was asked for; its class without arguments is what is usual.
    same : str
        An expression of ``result`` that is true where it is as recorded.

    Returns
    -------
    script : str
    """
    job, usual = record["job"], asdict(type(settings)())
    asked = {key: value for key, value in asdict(settings).items() if value != usual[key]}
    arguments = "".join(f", {key}={value!r}" for key, value in asked.items())
    return "\n".join(
        [
            f'"""Repeats a run of gnomon {record["versions"]["gnomon"]}: {job}."""',
            "",
            *opening(record["source"]),
            f"result = gnomon.{job}(table{arguments})",
            "print(result)",
            f"same = {same}",
            'print("the result is", "as recorded" if same else "OTHER")',
            "raise SystemExit(not same)",
            "",
        ]
    )
