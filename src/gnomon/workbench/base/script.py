"""The script of a run: a few public calls that give the same numbers again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SHORT = 60  # judgement: calls of so many letters are written on one line, others one option a line
# functions of jobs whose names are those of packages, which cannot be called
FUNCTIONS = {"decide": "improve", "prepare": "reshape"}


def job_script(record: dict[str, Any], options: dict[str, Any], same_if: str) -> str:
    """A script that repeats a job and says whether it gave the same.

    Parameters
    ----------
    record : dict
        What ``run.json`` holds.
    options : dict
        The options that differ from their defaults.
    same_if : str
        An expression of ``result`` that is true where it is as recorded.

    Returns
    -------
    script : str
    """
    job, data = FUNCTIONS.get(record["job"], record["job"]), record["data"]
    subject = {"image": "picture", "detect": "pictures", "minimize": "function"}.get(job, "table")
    version, mark = record["versions"]["gnomon"], data["fingerprint"]
    return "\n".join(
        [
            f'"""Repeats a run of gnomon {version} on data of fingerprint {mark}."""',
            "",
            *opening(record["source"], subject),
            *_call(job, subject, options),
            "print(result)",
            "",
            f"same = {same_if}",
            'print("the result is", "as recorded" if same else "DIFFERENT")',
            f"if result.run.record['data']['fingerprint'] != {mark!r}:",
            '    print("the data have changed since the run")',
            "raise SystemExit(not same)",
            "",
        ]
    )


def _call(job: str, subject: str, options: dict[str, Any]) -> list[str]:
    """The call: in one line where it is short."""
    arguments = [f"{name}={value!r}" for name, value in options.items()]
    line = f"result = gnomon.{job}({', '.join([subject, *arguments])})"
    if len(line) <= SHORT:
        return [line]
    return [
        f"result = gnomon.{job}(",
        f"    {subject},",
        *(f"    {each}," for each in arguments),
        ")",
    ]


def opening(source: str | None, subject: str = "table") -> list[str]:
    """The first lines of a script: what it imports, and how it gets the table or the picture.

    Parameters
    ----------
    source : str or None
        Where it was read; None where it was in memory.
    subject : {"table", "picture", "pictures", "function"}, default="table"

    Returns
    -------
    lines : list of str
    """
    if source is not None and source.startswith("example:"):
        name = source.removeprefix("example:")
        imports = ["import gnomon", "from gnomon.table import example"]
        return [*imports, "", f"table = example({name!r})"]
    if source is None:
        place = [
            "if len(sys.argv) < 2:",
            f'    sys.exit("the {subject} was in memory; save it, then: python again.py FILE")',
            "file = sys.argv[1]",
        ]
        options: dict[str, Any] = {}
    else:
        from gnomon.workbench.base.given import read_options, split_source

        file, found = split_source(source)
        options = read_options(found)
        place = [f"file = sys.argv[1] if len(sys.argv) > 1 else {file!r}"]
        if file.split("://")[0] in ("postgresql", "postgres"):
            place.insert(0, "# the password is taken from the environment: PGPASSWORD")
    if subject != "table":
        return ["import sys", "", "import gnomon", "", *place, f"{subject} = file"]
    asked = "".join(f", {name}={value!r}" for name, value in options.items())
    is_folder = source is not None and Path(file).is_dir()
    reader = "gnomon.vision.picture_table" if is_folder else "gnomon.read"
    reading = [
        "try:",
        f"    table = {reader}(file{asked})",
        "except GnomonError as error:",
        '    sys.exit(f"{error} If the file has moved: python again.py FILE")',
    ]
    imports = ["import sys", "", "import gnomon", "from gnomon.engine.errors import GnomonError"]
    if is_folder:
        imports.insert(3, "import gnomon.vision")
    return [*imports, "", *place, *reading]
