"""Forms, made from the same declaration of options as the command line."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from gnomon.engine.errors import DataError
from gnomon.table import Table
from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Option


@dataclass(frozen=True)
class Field:
    """One field of a form.

    Attributes
    ----------
    option : Option
    shape : {"choice", "choices", "column", "columns", "switch", "number", "lines", "text"}
    value : str or list of str
        What stands there at first.
    """

    option: Option
    shape: str
    value: Any

    @property
    def label(self) -> str:
        """The name in plain letters."""
        return (self.option.flag or self.option.name).replace("-", " ").replace("_", " ")

    @property
    def choices(self) -> list[str]:
        """What is offered: what is allowed or suggested, and what stands there already."""
        suggested = [] if self.option.complete is None else self.option.complete("")
        standing = self.value if isinstance(self.value, list) else []
        return list(dict.fromkeys([*self.option.choices, *suggested, *standing]))

    @property
    def step(self) -> str:
        """The step of a number field: whole numbers, or any."""
        return "1" if self.option.type is int else "any"


def shape_of(option: Option) -> str:
    """Which kind of field asks for an option."""
    if option.column:
        return "columns" if option.many or option.repeats else "column"
    if option.choices or (option.many and option.complete is not None):
        return "choices" if option.many else "choice"
    if option.type is bool:
        return "switch"
    if option.many:
        return "lines"
    return "number" if option.type in (int, float) else "text"


def fields_of(job: Job, given: dict[str, Any] | None = None) -> list[Field]:
    """The fields of a job, in the order of its options."""
    found = []
    for option in job.options.declared():
        if not option.flag:
            continue
        value = None if option.is_required else option.default
        if given is not None and option.name in given:
            value = given[option.name]
        shape = shape_of(option)
        if shape in ("columns", "choices", "lines"):
            several = [] if value is None else value if isinstance(value, list) else [value]
            found.append(Field(option, shape, [str(each) for each in several]))
        else:
            found.append(Field(option, shape, "" if value is None else value))
    return found


def values_of(job: Job, form: dict[str, list[str]], table: Table | None) -> dict[str, Any]:
    """The options that a form asks for, checked; what is left empty keeps its default.

    Parameters
    ----------
    job : Job
    form : dict of str to list of str
    table : Table or None
        Whose columns may be named.

    Returns
    -------
    options : dict
        Those that differ from their defaults.
    """
    given: dict[str, Any] = {}
    for field in fields_of(job):
        option = field.option
        texts = [each.strip() for each in form.get(option.name, []) if each.strip()]
        if field.shape == "lines":
            texts = [line.strip() for each in texts for line in each.splitlines() if line.strip()]
        if field.shape == "switch":
            given[option.name] = bool(texts)
            continue
        if not texts:
            if option.is_required:
                raise DataError(f"{field.label}: {option.help}")
            continue
        if option.column and table is not None:
            for text in texts:
                table.column(text)
        values = [_value(option, text) for text in texts]
        several = option.many or (option.repeats and len(values) > 1)
        given[option.name] = values if several else values[0]
    return job.options(**given).changed()


def _value(option: Option, text: str) -> Any:
    if option.type not in (int, float):
        return text
    try:
        return option.type(text)
    except (ValueError, OverflowError):
        kind = "a whole number" if option.type is int else "a number"
        raise DataError(f"{option.name}: {text!r} is not {kind}") from None


def settings_of(text: str, allowed: set[str]) -> dict[str, Any]:
    """Parameters of a method from ``n_clusters=3, tol=0.1``: names and plain values alone."""
    if not text.strip():
        return {}
    try:
        call = ast.parse(f"f({text})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        found = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        raise DataError(f"{text!r}: write settings as name=value, name=value") from None
    unknown = sorted(set(found) - allowed)
    if unknown:
        raise DataError(
            f"there is no setting {', '.join(unknown)}; there are {', '.join(sorted(allowed))}"
        )
    return found
