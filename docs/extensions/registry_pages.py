"""A page for every method, and a reference page for every package, made from the registry.

The pages are written to ``docs/methods`` and ``docs/reference`` when a build begins; a page that
would not change is left alone, so that a second build does only what is new.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import math
import re
import textwrap
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

from docstring_examples import examples
from example_pictures import picture_of_example
from figures import html_of
from pictures import picture

from gnomon.engine.registry import KINDS, PACKAGES, Method, methods
from gnomon.workbench.explain.terms import TERMS

HERE = Path(__file__).parent.parent
RESULTS = HERE.parent / "benchmarks" / "results.json"
SWEEP = HERE.parent / "benchmarks" / "sweep.json"
FORMULAS = {
    name: formula
    for names, formula in tomllib.loads((HERE / "formulas.toml").read_text("utf-8")).items()
    for name in names.split()
}
OTHERS = ("table", "workbench", "accelerate")
TASKS = {
    "classify": "Predict a class",
    "regress": "Predict a number",
    "group": "Find groups",
    "density": "Describe a distribution",
    "reduce": "Fewer columns, and maps",
    "filter": "Prepare columns",
    "label": "Label each step of a sequence",
    "forecast": "Forecast",
    "search": "Search neighbors",
    "infer": "Any variable from any others",
}


def write_pages(app: Any) -> None:
    """Write all generated pages."""
    found = methods()
    duels = duels_by_class(found)
    for each in found:
        path = HERE / "methods" / each.package / f"{each.name}.rst"
        drawn = picture_of(each, Path(app.doctreedir).parent / "pictures")
        write(path, method_page(each, duels[each.name], drawn))
    write(HERE / "methods" / "index.rst", methods_index(found))
    names = [name for name in (*PACKAGES, *OTHERS) if importlib.util.find_spec(f"gnomon.{name}")]
    registered = {each.name for each in found}
    for name in names:
        write(HERE / "reference" / f"{name}.rst", package_page(name, registered))
    write(HERE / "reference" / "index.rst", reference_index(names))
    write(HERE / "glossary.rst", glossary())


def write(path: Path, text: str) -> None:
    """Write a page unless it stands there already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n"


def picture_of(method: Method, folder: Path) -> str:
    """The picture as HTML, kept until the method's module or this machinery changes.

    A method whose optional library is not installed here has a page without a picture.
    """
    if method.requires and importlib.util.find_spec(method.requires.replace("-", "_")) is None:
        return ""
    sources = (inspect.getfile(method.cls), *map(inspect.getfile, (picture, picture_of_example)))
    stamp = max(Path(each).stat().st_mtime for each in sources)
    kept = folder / f"{method.name}.html"
    if not kept.exists() or kept.stat().st_mtime < stamp:
        folder.mkdir(parents=True, exist_ok=True)
        drawn = picture(method)
        kept.write_text(html_of(drawn), encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def method_page(method: Method, duels: list[dict], drawn: str) -> str:
    """What, when, when not, formula, example, picture, duels and reference of a method."""
    facts = [
        ("When to use it", method.use),
        ("When not", method.avoid),
        ("Task", TASKS.get(method.task, method.task)),
        ("Takes", KINDS[method.takes]),
        ("Texts", method.texts + " (:doc:`/references`)"),
        ("As in", ", ".join(f"``{peer}``" for peer in method.peers)),
        ("Built on", "gnomon's own code" if method.on == "own" else method.on),
        ("Also called", ", ".join(method.synonyms)),
        ("Needs", f"the package ``{method.requires}``" if method.requires else ""),
    ]
    parts = [title(method.name), ".. list-table::", "   :class: gnomon-facts", ""]
    for name, text in facts:
        if text:
            parts += [f"   * - {name}", f"     - {text}"]
    parts += ["", ".. math::", "", f"   {FORMULAS[method.name]}"]
    parts += ["", title("Example", "-"), ".. code-block:: pycon", ""]
    parts += [textwrap.indent(as_typed(method.cls), "   ")]
    if drawn:
        parts += ["", title("At work", "-"), ".. raw:: html", "", f"   {drawn}"]
    if duels:
        parts += ["", title("Measured against peers", "-"), duel_table(duels)]
    parts += ["", title("Reference", "-")]
    parts += [f".. autoclass:: gnomon.{method.package}.{method.name}", "   :members:"]
    parts += ["   :inherited-members:", "   :exclude-members: " + ", ".join(ROUTING), ""]
    return "\n".join(parts)


def as_typed(public: Any) -> str:
    """The examples of a docstring as a session of the interpreter, nothing else between them."""
    lines = []
    for example in examples(public):
        first, *more = example.source.splitlines()
        lines += [f">>> {first}", *(f"... {line}" for line in more), *example.want.splitlines()]
    return "\n".join(lines) + "\n"


# of callbacks and metadata routing, which scikit-learn generates: the same for every estimator
ROUTING = [
    *(f"set_{name}_request" for name in ("fit", "predict", "predict_proba", "score", "transform")),
    *(f"set_{name}_request" for name in ("partial_fit", "decision_function", "inverse_transform")),
    "get_metadata_routing",
    "set_callbacks",
]


def duel_table(duels: list[dict]) -> str:
    lines = [".. list-table::", "   :header-rows: 1", ""]
    header = ("duel", "peer", "rows", "times as fast", "same quality")
    for row in [header, *map(duel_row, duels)]:
        lines += [f"   * - {row[0]}", *(f"     - {cell}" for cell in row[1:])]
    every = "``benchmarks/RESULTS.md`` (chosen cases) and ``benchmarks/SWEEP.md`` (drawn at random)"
    return "\n".join(lines) + f"\n\nAll of them: {every} in the repository.\n"


def duel_row(duel: dict) -> tuple[str, ...]:
    ratio = duel["time_ratio"]
    shown = "" if ratio is None or math.isnan(ratio) else f"{ratio:.2g}"
    reached = "yes" if duel["reached"] else "no"
    return duel["duel"], duel["peer"], f"{duel['rows']:,}", shown, reached


def duels_by_class(found: list[Method]) -> dict[str, list[dict]]:
    """The duels whose peer is a peer of the method, or whose text names the method."""
    result = defaultdict(list)
    for duel in json.loads(RESULTS.read_text(encoding="utf-8")):
        said = f"{duel['duel']} {duel['peer']}".replace("(", " ").replace(")", " ").split()
        for each in found:
            peers = {peer.split(".")[-1] for peer in each.peers}
            if each.package == duel["room"] and ({each.name} | peers) & set(said):
                result[each.name].append(duel)
    names = {each.name for each in found}
    for case in json.loads(SWEEP.read_text(encoding="utf-8")):
        name = re.split(r"[ ,(]", case["method"])[0]
        if name in names and case["outcome"].get("ratio") is not None:
            result[name].append(drawn_case(case))
    return result


def drawn_case(case: dict) -> dict:
    """A case of the sweep as a row of the table of duels."""
    shape, outcome = case["shape"], case["outcome"]
    order = {"C": "", "F": ", in Fortran order"}[shape["order"]]
    sparse = f", sparse ({shape['density']:.1%})" if shape["density"] else ""
    drawn = f"{shape['columns']:,} columns, {shape['dtype']}{order}{sparse}"
    return {
        "duel": f"{case['method']}: {shape['real'] or 'drawn shape'}, {drawn}",
        "peer": outcome["peer"],
        "rows": shape["rows"],
        "time_ratio": outcome["ratio"],
        "reached": outcome["reached"],
    }


def methods_index(found: list[Method]) -> str:
    parts = [title("Methods"), "Every method, by what it is for; each has a page.\n"]
    by_task = defaultdict(list)
    for each in found:
        by_task[each.task].append(each)
    for task, name in TASKS.items():
        if not by_task[task]:
            continue
        parts += [title(name, "-"), ".. list-table::", "   :header-rows: 1", ""]
        parts += ["   * - method", "     - package", "     - use it"]
        for each in sorted(by_task[task], key=lambda each: each.name):
            parts += [f"   * - :doc:`{each.name} <{each.package}/{each.name}>`"]
            parts += [f"     - :doc:`/reference/{each.package}`", f"     - {each.use}"]
        parts.append("")
    for package in sorted({each.package for each in found}):
        parts += [".. toctree::", "   :hidden:", "   :glob:", f"   :caption: {package}", ""]
        parts += [f"   {package}/*", ""]
    return "\n".join(parts)


def package_page(name: str, registered: set[str]) -> str:
    """The functions and classes that a package exports; methods have pages of their own."""
    module = importlib.import_module(f"gnomon.{name}")
    parts = [title(f"gnomon.{name}"), first_line(module), ""]
    names = sorted(getattr(module, "__all__", []), key=str.lower)
    own = [each for each in names if each in registered]
    if own:
        parts += [title("Methods", "-")]
        parts += [", ".join(f":doc:`{each} </{page_of(module, each)}>`" for each in own) + "\n"]
    rest = [each for each in names if each not in registered]
    functions = [each for each in rest if inspect.isroutine(getattr(module, each))]
    classes = [each for each in rest if inspect.isclass(getattr(module, each))]
    for heading, members, kind in (
        ("Functions", functions, "autofunction"),
        ("Classes", classes, "autoclass"),
    ):
        if members:
            parts += [title(heading, "-")]
        for each in members:
            parts += [f".. {kind}:: gnomon.{name}.{each}"]
            if kind == "autoclass":
                parts += ["   :members:"]
            parts += [""]
    return "\n".join(parts)


def page_of(module: Any, name: str) -> str:
    return f"methods/{getattr(module, name).__module__.split('.')[1]}/{name}"


def first_line(module: Any) -> str:
    return inspect.cleandoc(module.__doc__ or "").split("\n\n")[0].replace("\n", " ")


def reference_index(names: list[str]) -> str:
    parts = [title("Reference"), ".. list-table::", ""]
    for name in names:
        text = first_line(importlib.import_module(f"gnomon.{name}"))
        parts += [f"   * - :doc:`gnomon.{name} <{name}>`", f"     - {text}"]
    parts += ["", ".. toctree::", "   :hidden:", "", *(f"   {name}" for name in names), ""]
    return "\n".join(parts)


def glossary() -> str:
    parts = [
        title("Glossary"),
        "The same texts are printed by ``gnomon explain TERM``.\n",
        ".. glossary::",
        "",
    ]
    for term, (text, *others) in sorted(TERMS.items(), key=lambda item: item[0].lower()):
        parts += [f"   {term}", textwrap.indent(text, " " * 6)]
        if others:
            parts += ["", f"      Also: {', '.join(others)}."]
        parts.append("")
    return "\n".join(parts)


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
