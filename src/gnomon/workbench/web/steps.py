"""What a person does with a table, step by step: each is a public call, done and written down.

The page does what the line says, and the script holds the same line, so that it gives the same.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from gnomon.engine.errors import DataError
from gnomon.table import Kind, Table
from gnomon.table.sql import is_postgres
from gnomon.workbench.base.given import read_options, source_of, split_source
from gnomon.workbench.jobs import JOBS
from gnomon.workbench.web.code import GNOMON, Code
from gnomon.workbench.web.fitted import columns_code
from gnomon.workbench.web.replays import replay_code

EXAMPLE = "from gnomon.table import example"


def reading(source: str, name: str = "table") -> Code:
    """How a table is read."""
    if source.startswith("example:"):
        return Code((f"{name} = example({source.removeprefix('example:')!r})",), (EXAMPLE,))
    place, options = split_source(source)
    asked = "".join(f", {key}={value!r}" for key, value in read_options(options).items())
    lines = [f"{name} = gnomon.read({place!r}{asked})"]
    if is_postgres(place):
        lines.insert(0, "# the password is taken from the environment: PGPASSWORD")
    return Code(tuple(lines))


def call(name: str, options: dict[str, Any], subject: str = "table") -> str:
    """A call of a public function."""
    return f"gnomon.{name}({', '.join([subject, *(f'{k}={v!r}' for k, v in options.items())])})"


def code_of(step: dict[str, Any], number: int = 1) -> Code:
    """The lines of a step.

    Parameters
    ----------
    step : dict
        ``do`` says what, ``with`` the rest.
    number : int
        Number of the result that the step makes or uses, from 1, for its name.

    Returns
    -------
    code : Code
    """
    given = step["with"]
    if step["do"] == "open":
        return reading(given["source"])
    if step["do"] == "kind":
        return Code((f"table = table.set({given['column']!r}, kind={given['kind']!r})",))
    if step["do"] == "rename":
        return Code((f"table = table.rename({ {given['column']: given['name']}!r})",))
    if step["do"] == "reshape":
        return Code((f"table = {call('reshape', given)}.table",))
    if step["do"] == "columns":
        return columns_code(**given)
    if step["do"] == "replay":
        return replay_code(**given)
    if step["do"] == "ask":
        return Code(tuple(given["lines"]), tuple(given.get("imports", (GNOMON,))))
    if step["do"] == "answer":
        return Code((f"result_{number}.answer({given['row']!r}, {given['label']!r})",))
    if step["do"] == "labels":
        return Code((f"table = result_{number}.labeled_table()",))
    return job_code(given, number)


def job_code(given: dict[str, Any], number: int) -> Code:
    """The call of a job: as its finished run records it, before that as it was requested."""
    job, name = JOBS[given["job"]], f"result_{number}"
    subject = "table" if job.subject == "table" else repr(given["subject"])
    settled = recorded_call(Path(given["run"]) / "again.py")
    made = call(job.call, given["options"], subject)
    if settled is not None:
        arguments = {
            each.arg: ast.literal_eval(each.value) for each in settled.keywords if each.arg
        }
        made = call(job.call, arguments, subject)
    return Code((f"{name} = {made}", f"print({name})"))


def recorded_call(script: Path) -> ast.Call | None:
    """The call of the job in the script of a run; None where there is none."""
    try:
        tree = ast.parse(script.read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return None
    for line in tree.body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "result":
            return line.value if isinstance(line.value, ast.Call) else None
    return None


def done(step: dict[str, Any], table: Table | None) -> Table:
    """The table after a step that is done at once: by the public call that its line has."""
    given = step["with"]
    if table is None:
        raise DataError("there is no table yet; open one first")
    if step["do"] == "kind":
        return table.set(given["column"], kind=Kind(given["kind"]))
    if step["do"] == "rename":
        return table.rename({given["column"]: given["name"]})
    if step["do"] == "reshape":
        import gnomon

        return gnomon.reshape(table, **given).table
    raise DataError(f"{step['do']!r} is no step of a table")


def words_of(step: dict[str, Any]) -> str:
    """A step in a few words, for the list of what was done."""
    given = step["with"]
    if step["do"] == "open":
        return f"open {shortened(given['source'])}"
    if step["do"] == "kind":
        return f"{given['column']} is {given['kind']}"
    if step["do"] == "rename":
        return f"rename {given['column']}"
    if step["do"] == "reshape":
        return "; ".join(f"{name} {_listed(value)}" for name, value in given.items())
    if step["do"] == "columns":
        return f"columns of {given['method']}"
    if step["do"] == "replay":
        return f"replay {given['method']}"
    if step["do"] == "ask":
        return str(given["words"])
    if step["do"] == "answer":
        return f"row {given['row']} is {given['label']}"
    if step["do"] == "labels":
        return "the table with these labels"
    return str(given["job"])


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def shortened(source: str) -> str:
    """A source by its last part, and the part of it that was read.

    Examples
    --------
    >>> shortened("postgresql://ann@host/shop?sslmode=require#table=orders")
    'shop, orders'
    """
    if source.startswith("example:"):
        return source.removeprefix("example:")
    place, options = split_source(source)
    name = Path(place.partition("?")[0] if is_postgres(place) else place).name
    parts = [options[part] for part in ("member", "sheet", "table") if part in options]
    return ", ".join([name, *parts, *(["a query"] if "sql" in options else [])])


def public_source(source: str) -> str:
    """A source as it may be written down: paths are absolute, passwords left out."""
    return str(source_of(source))
