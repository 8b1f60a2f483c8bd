"""The gallery: every picture of `gnomon.show`, drawn by the example of its docstring.

The examples are executed when a build begins, and kept until their module changes. Each picture
has a page, and a small picture in the index.

Why not sphinx-gallery: its examples are scripts of their own, so that each of these pictures would
have a second example beside that of its docstring, which the tests execute and the reference shows;
and it keeps pictures as files, or Plotly's figures in one theme, where these follow light and dark.
What it has besides, small pictures in an index and examples that are executed, is here too.
"""

from __future__ import annotations

import html
import importlib
import inspect
import re
import shutil
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import thumbnails
from docstring_examples import examples, run_example
from figures import html_of
from registry_pages import HERE, title, write
from sphinx.util import logging

from gnomon import show

logger = logging.getLogger(__name__)


def drawn_by_example(name: str) -> go.Figure | None:
    """The last figure that a function makes while the example of its docstring runs."""
    function = getattr(show, name)
    module = importlib.import_module(function.__module__)
    made: list[go.Figure] = []

    def recorded(*arguments: Any, **options: Any) -> Any:
        figure = function(*arguments, **options)
        if isinstance(figure, go.Figure):
            made.append(go.Figure(figure))
        return figure

    names = vars(module) | {name: recorded, "show": show}
    setattr(show, name, recorded)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run_example(function, names)
    finally:
        setattr(show, name, function)
    return made[-1] if made else None


def write_gallery(app: Any) -> None:
    """Write a page for each function of `show` that has an example that draws, and the index."""
    folder = Path(app.doctreedir).parent / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    pages: dict[str, list[str]] = defaultdict(list)
    without = []
    for name in show.__all__:
        picture = kept_picture(name, folder)
        if picture:
            module = getattr(show, name).__module__.split(".")[-1]
            pages[module].append(name)
            write(HERE / "gallery" / module / f"{name}.rst", page_of(name, picture))
        else:
            without.append(name)
    if without:
        logger.info("no picture in the gallery of: %s", ", ".join(without))
    small = Path(app.outdir) / "_static" / "thumbnails"
    drawn = [name for module in pages for name in pages[module]]
    kept = Path(app.doctreedir).parent / "thumbnails"
    thumbnails.draw({name: folder / f"{name}.html" for name in drawn}, kept)
    small.mkdir(parents=True, exist_ok=True)
    for name in drawn:
        if (kept / f"{name}.webp").exists():
            shutil.copyfile(kept / f"{name}.webp", small / f"{name}.webp")
    parts = [title("Gallery"), "Pictures of ``gnomon.show``, each with the code that draws it.\n"]
    for module in sorted(pages):
        heading = module.replace("_", " ").capitalize()
        cards = [card(module, name, small / f"{name}.webp") for name in pages[module]]
        parts += [title(heading, "-"), ".. raw:: html", ""]
        parts += [f'   <div class="gnomon-cards">{"".join(cards)}</div>', ""]
        parts += [".. toctree::", "   :hidden:", f"   :caption: {heading}", ""]
        parts += [*(f"   {module}/{name}" for name in pages[module]), ""]
    write(HERE / "gallery" / "index.rst", "\n".join(parts))


def card(module: str, name: str, picture: Path) -> str:
    """A picture in the index: small, with its name and what it shows."""
    width, height = (round(side * thumbnails.SHOWN) for side in thumbnails.DRAWN)
    image = (
        f'<img src="../_static/thumbnails/{name}.webp" alt="" loading="lazy" width="{width}" '
        f'height="{height}">'
        if picture.exists()
        else ""
    )
    return (
        f'<a class="gnomon-card" href="{module}/{name}.html">{image}<strong>{name}</strong>'
        f"<span>{first_sentence(name)}</span></a>"
    )


def first_sentence(name: str) -> str:
    """What a picture shows, in one line of HTML."""
    text = inspect.getdoc(getattr(show, name)).split("\n\n")[0].replace("\n", " ")
    return re.sub("`+([^`]+)`+", r"<code>\1</code>", html.escape(text, quote=False))


def page_of(name: str, picture: str) -> str:
    """First lines of the docstring, the example and its picture."""
    function = getattr(show, name)
    code = "".join("   " + line + "\n" for line in source_of(function).splitlines())
    parts = [
        title(name),
        inspect.getdoc(function).split("\n\n")[0].replace("|", r"\|"),
        f"\n:doc:`Parameters </reference/show>`\n\n.. code-block:: python\n\n{code}",
        f".. raw:: html\n\n   {picture}\n",
    ]
    return "\n".join(parts)


def kept_picture(name: str, folder: Path) -> str:
    """The picture as HTML, kept until the module of the function changes."""
    kept = folder / f"{name}.html"
    source = Path(inspect.getfile(inspect.unwrap(getattr(show, name))))
    if not kept.exists() or kept.stat().st_mtime < source.stat().st_mtime:
        figure = drawn_by_example(name)
        kept.write_text("" if figure is None else html_of(figure), encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def source_of(function: Any) -> str:
    """The example's code, with the imports that docstrings leave out."""
    code = "".join(example.source for example in examples(function))
    name = function.__name__
    if f"import {name}" not in code:
        code = f"from gnomon.show import {name}\n{code}"
    return code if "np." not in code or "import numpy" in code else f"import numpy as np\n{code}"


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", write_gallery, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
