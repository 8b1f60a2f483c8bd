"""The texts, reproduced: a page for every chapter of the five texts.

Made from the citations in registry and docstrings, from the experiments and errata of
`examples.texts`, and from the results that are kept beside them; nothing is computed here.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections import defaultdict
from functools import cache
from typing import Any

from inherited_docstrings import MATH
from registry_pages import HERE, title, write

from gnomon.engine.registry import PACKAGES, methods

sys.path.insert(0, str(HERE.parent))

from examples.texts import all_texts  # noqa: F401
from examples.texts.contents import CHAPTERS, LINES_002, TEXTS, WORDS_002
from examples.texts.frame import (
    ERRATA,
    EXPERIMENTS,
    OMISSIONS,
    Erratum,
    Experiment,
    results_of,
)

CITED = re.compile(r"\b(00[0-4])[abc]?\s+((?:[^·;\n]|\n(?!\s*\n))*)")
SECTIONS = re.compile(
    r"(?:\A|, | and | to )(?:sections? |chapters? |ch\. |example )?(\d{1,2})(?=[\s.,;:)-]|\Z)"
)
LINE = re.compile(r"\bL(\d+)")


def chapters_cited(text: str) -> set[tuple[str, int]]:
    """The chapters that a docstring cites: ``000 8.2 · 002 "K-means"`` names two."""
    found = set()
    for code, place in CITED.findall(text):
        if code == "002":
            found.add((code, run_of_slides(place)))
        else:
            start = place.strip()[:60]
            chapters = {int(number) for number in SECTIONS.findall(start)}
            found |= {(code, each) for each in chapters if each in CHAPTERS[code]}
    return found


def run_of_slides(place: str) -> int:
    """The run of slides of 002 that a citation by line or by title means."""
    lines = LINE.findall(place)
    if lines:
        return sum(int(lines[0]) >= first for first in LINES_002)
    return next(
        run for run, words in WORDS_002.items() if any(word in place.lower()[:60] for word in words)
    )


@cache
def cited_by_chapter() -> dict[tuple[str, int], list[tuple[str, str, str]]]:
    """Package, name and first line of the public names that cite each chapter."""
    registered = {each.name: each for each in methods()}
    found = defaultdict(list)
    for package in PACKAGES:
        module = importlib.import_module(f"gnomon.{package}")
        for name in getattr(module, "__all__", []):
            public = getattr(module, name)
            if not callable(public):
                continue
            own = inspect.getdoc(public) or ""
            texts = registered[name].texts + "\n" if name in registered else ""
            cited = chapters_cited(texts + own)
            if not cited:
                defined_in = inspect.getmodule(public)
                cited = chapters_cited((defined_in and defined_in.__doc__) or "")
            use = registered[name].use if name in registered else own.split("\n\n")[0]
            for chapter in cited:
                found[chapter].append((package, name, use.replace("\n", " ")))
    return found


@cache
def packages_of_methods() -> dict[str, str]:
    return {each.name: each.package for each in methods()}


def linked(package: str, name: str) -> str:
    """A link to the page of a method, or to the place of a function in the reference."""
    page = packages_of_methods().get(name)
    if page:
        return f":doc:`{name} </methods/{page}/{name}>`"
    return f":py:obj:`{name} <gnomon.{package}.{name}>`"


def linked_by_name(name: str) -> str:
    for package in PACKAGES:
        if name in getattr(importlib.import_module(f"gnomon.{package}"), "__all__", []):
            return linked(package, name)
    raise ValueError(f"examples.texts names {name}, which gnomon does not have")


def write_pages(app: Any) -> None:
    parts = [title("The texts, reproduced"), INTRODUCTION]
    for text, name in TEXTS.items():
        parts += [title(f"{text}: {name}", "-"), ".. list-table::", "   :header-rows: 1", ""]
        parts += row("chapter", "methods", "experiments", "errata", "not reproduced")
        for chapter, heading in CHAPTERS[text].items():
            write(HERE / "texts" / text / f"{chapter:02d}.rst", chapter_page(text, chapter))
            counts = [
                len(cited_by_chapter()[(text, chapter)]),
                *(len(of(kind, text, chapter)) for kind in (EXPERIMENTS, ERRATA, OMISSIONS)),
            ]
            link = f":doc:`{chapter}. {heading} <{text}/{chapter:02d}>`"
            parts += row(link, *(str(count) if count else "" for count in counts))
        parts.append("")
    parts += [".. toctree::", "   :hidden:", "   :glob:", "", "   */*", ""]
    write(HERE / "texts" / "index.rst", "\n".join(parts))


INTRODUCTION = """\
Gnomon holds the methods of five texts (:doc:`/references`). For each chapter there is a page with
its methods, its printed experiments and worked examples beside what comes out here, and its errata,
each with a computed proof. All of it is run by one command from the source tree::

    python -m examples.texts --data FOLDER

Data that gnomon does not carry are read from ``FOLDER``. The results with date and seed are kept in
``examples/texts/results``, and these pages are made from them.
"""


def of(kind: list, text: str, chapter: int) -> list:
    return [each for each in kind if (each.text, each.chapter) == (text, chapter)]


def row(*cells: str) -> list[str]:
    first, *others = cells
    return [f"   * - {first}", *(f"     - {cell}" for cell in others)]


def chapter_page(text: str, chapter: int) -> str:
    parts = [title(f"{text}, {chapter}. {CHAPTERS[text][chapter]}"), f"*{TEXTS[text]}*\n"]
    results = results_of(text)
    experiments, errata = of(EXPERIMENTS, text, chapter), of(ERRATA, text, chapter)
    if experiments:
        parts.append(title("Experiments and worked examples", "-"))
        parts += [experiment_part(each, results.get(each.name)) for each in experiments]
    if errata:
        parts.append(title("Errata", "-"))
        parts += [erratum_part(each, results.get(each.name)) for each in errata]
    omitted = of(OMISSIONS, text, chapter)
    if omitted:
        parts += [title("Not reproduced", "-"), ".. list-table::", "   :header-rows: 1", ""]
        parts += row("place", "what", "why")
        for each in omitted:
            parts += row(each.where, each.what, each.why)
        parts.append("")
    cited = sorted(cited_by_chapter()[(text, chapter)], key=lambda each: (each[0], each[1].lower()))
    if cited:
        parts += [title("Methods of this chapter", "-"), ".. list-table::", ""]
        for package, name, use in cited:
            parts += row(linked(package, name), f"``{package}``", plain(use))
        parts.append("")
    return "\n".join(parts)


def experiment_part(each: Experiment, result: dict | None) -> str:
    values = result["values"] if result else {}
    parts = [title(each.title, "~"), f"{each.where}.", ""]
    parts += [
        ".. list-table::",
        "   :header-rows: 1",
        "",
        *row("quantity", "printed", "reproduced"),
    ]
    for name in [*each.printed, *(name for name in values if name not in each.printed)]:
        parts += row(plain(name), shown(each.printed.get(name, "")), shown(values.get(name, "")))
    parts.append("")
    if each.why:
        parts += [f"**Why they differ, or how it was done.** {plain(each.why)}", ""]
    if each.methods:
        parts += ["Methods: " + ", ".join(map(linked_by_name, each.methods)) + ".", ""]
    return "\n".join([*parts, kept_line(each.name, result, each.data)])


def erratum_part(each: Erratum, result: dict | None) -> str:
    values = result["values"] if result else {}
    parts = [title(plain(each.where), "~"), ".. list-table::", "   :header-rows: 1", ""]
    parts += row("", "statement", "value")
    parts += row("printed", plain(each.printed), shown(values.get("printed", "")))
    parts += row("right", plain(each.right), shown(values.get("corrected", "")))
    parts += row("proof", plain(values.get("by", "not computed")), shown(values.get("truth", "")))
    return "\n".join([*parts, "", kept_line(each.name, result, ())])


def kept_line(name: str, result: dict | None, data: tuple[str, ...]) -> str:
    if result is None:
        return f"``{name}`` is not computed yet.\n"
    files = f"; data: {', '.join(data)}" if data else ""
    return (
        f"``{name}``, {result['date']}, seed {result['seed']}, gnomon {result['gnomon']}, "
        f"{result['seconds']} s{files}\n"
    )


def shown(value: Any) -> str:
    """A value as a person writes it."""
    if isinstance(value, bool):
        return "holds" if value else "does not hold"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(shown(each) for each in value)
    return plain(str(value))


def plain(text: str) -> str:
    """Text without what reStructuredText would read as marks, except code in double backquotes."""
    text = MATH.sub(r"``\1``", text)
    parts = re.split(r"(``.*?``|`[^`]*`)", text)
    parts[::2] = [re.sub(r"([*_|\\])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", write_pages, priority=550)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
