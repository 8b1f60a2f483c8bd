"""Reports: one HTML file of text, tables and pictures that opens anywhere, without a network.

Pictures are Plotly figures. The script that draws them is inside the file, packed, once; a figure
is drawn when it comes into view, so that a report of fifty figures opens as fast as one of two.
Light and dark follow the reader's system and can be switched; on paper everything is light and
drawn.
"""

from __future__ import annotations

import base64
import json
import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from gnomon.engine.errors import GnomonWarning
from gnomon.show.plotly_script import is_in_a_plane, packed_script
from gnomon.show.theme import THEMES, Theme
from gnomon.table.summary import four_digits
from gnomon.workbench.base.whole_file import write_whole

MOST_BYTES = 6_000_000  # judgement: larger pages open slowly; Plotly itself is 4.8 MB of it
LONG = 40  # judgement: longer cells are broken into lines, shorter ones stay on one
MARKS = {"good": "✓", "warning": "!", "bad": "✕", "note": "i"}
SPOKEN = {"good": "Good", "warning": "Warning", "bad": "Bad", "note": "Note"}
Verdict = Literal["good", "warning", "bad", "note"]


@dataclass
class Part:
    """One piece of a section: what it is, and what the template shows of it."""

    what: str
    content: dict[str, Any]


@dataclass
class Section:
    """A heading and what stands below it."""

    title: str
    anchor: str
    parts: list[Part] = field(default_factory=list)


class Report:
    """A report that is built piece by piece and written as one HTML file.

    Every method but `write` gives the report itself, so that calls can be chained. All text is
    shown as it is: names and cells with HTML in them are escaped.

    Parameters
    ----------
    title : str
    subtitle : str, default=""
        What the report is about: file, rows, date.

    Examples
    --------
    >>> report = Report("Sales", "12 rows").section("Result").text("All is well.")
    >>> report = report.table(["region", "sales"], [["north", 12.5], ["south", 7]])
    >>> "north" in report.html()
    True
    """

    def __init__(self, title: str, subtitle: str = ""):
        self.title = str(title)
        self.subtitle = str(subtitle)
        self.sections: list[Section] = []
        self._n_figures = 0
        self._in_a_plane = True

    def section(self, title: str) -> Report:
        """Begin a section; what follows belongs to it, and the contents list names it."""
        self.sections.append(Section(str(title), f"section-{len(self.sections) + 1}"))
        return self

    def text(self, text: str) -> Report:
        """Add paragraphs; an empty line parts them."""
        paragraphs = [each.strip() for each in re.split(r"\n\s*\n", str(text)) if each.strip()]
        return self._add("text", paragraphs=paragraphs)

    def table(
        self, headings: Sequence[Any], rows: Iterable[Sequence[Any]], caption: str = ""
    ) -> Report:
        """Add a table; a click on a heading sorts it.

        Parameters
        ----------
        headings : sequence of str
        rows : iterable of sequences
            Cells of any type; floats are rounded to four digits, those under the heading ``p`` to
            three places; None is an empty cell. Columns of numbers only stand to the right.
        caption : str, default=""
        """
        headings = [str(heading) for heading in headings]
        rows = [list(row) for row in rows]
        for row in rows:
            if len(row) != len(headings):
                raise ValueError(f"a row has {len(row)} cells; there are {len(headings)} headings")
        written = [_p_cell if heading == "p" else _cell for heading in headings]
        cells = [[write(value) for write, value in zip(written, row)] for row in rows]
        aligned = [
            _style([row[j] for row in rows], [row[j] for row in cells])
            for j in range(len(headings))
        ]
        return self._add(
            "table",
            headings=list(zip(headings, aligned)),
            rows=[list(zip(row, aligned)) for row in cells],
            caption=str(caption),
        )

    def figure(self, figure: Any, caption: str = "") -> Report:
        """Add a Plotly figure of either theme; the reader's theme decides how it is shown.

        Parameters
        ----------
        figure : plotly.graph_objects.Figure
        caption : str, default=""
            Shown below, and read out in place of the picture; by default the figure's title is
            read out.
        """
        self._n_figures += 1
        self._in_a_plane = self._in_a_plane and is_in_a_plane(figure)
        title = _plain(figure.layout.title.text or "")
        return self._add(
            "figure",
            number=self._n_figures,
            caption=str(caption),
            spoken=str(caption) or title or f"figure {self._n_figures}",
            height=int(figure.layout.height or 450),
            width=int(figure.layout.width or 0),
            data=_script_safe(figure.to_json()),
        )

    def code(self, code: str) -> Report:
        """Add lines of code, with a button that copies them."""
        return self._add("code", code=str(code).rstrip("\n"))

    def verdict(self, text: str, kind: Verdict = "good") -> Report:
        """Add a sentence that is to be seen first: ``good``, ``warning``, ``bad`` or ``note``."""
        if kind not in MARKS:
            raise ValueError(f"kind is one of {', '.join(MARKS)}, not {kind!r}")
        return self._add(
            "verdict", text=str(text), kind=kind, mark=MARKS[kind], spoken=SPOKEN[kind]
        )

    def html(self) -> str:
        """The report as the text of an HTML file."""
        return _template().render(
            report=self,
            style=_asset("report.css"),
            script=_asset("report.js"),
            colors=_script_safe(json.dumps(_colors())),
            themes=THEMES,
            plotly=_plotly_script(self._in_a_plane) if self._n_figures else "",
        )

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the report to a file, whole or not at all.

        Parameters
        ----------
        path : path

        Returns
        -------
        path : Path
        """
        content = self.html().encode("utf-8", "replace")
        if len(content) > MOST_BYTES:
            warnings.warn(
                f"{path}: the report has {len(content) / 1e6:.1f} MB; browsers open it slowly. "
                "Draw fewer points or leave figures out",
                GnomonWarning,
                stacklevel=2,
            )
        return write_whole(path, content)

    def _add(self, what: str, **content: Any) -> Report:
        if not self.sections:
            self.sections.append(Section("", "section-0"))
        self.sections[-1].parts.append(Part(what, content))
        return self


def _style(values: list[Any], cells: list[str]) -> str:
    """How a column is set: numbers to the right, long text with room."""
    known = [value for value in values if value is not None]
    if known and all(_is_number(value) for value in known):
        return "number"
    return "long" if max(map(len, cells), default=0) > LONG else ""


def _is_number(value: Any) -> bool:
    if hasattr(value, "dtype"):
        return getattr(value, "ndim", 1) == 0 and value.dtype.kind in "iuf"
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    """A cell as people write it; the text that sorts it right comes from the same digits."""
    if value is None:
        return ""
    if not _is_number(value):
        return str(value)
    number = float(value)
    if math.isnan(number):
        return ""
    if number == int(number) if math.isfinite(number) and abs(number) < 1e15 else False:
        return f"{int(number):,}"
    return four_digits(number)


def _p_cell(value: Any) -> str:
    """A p-value: one that rounds to zero is not zero."""
    if not _is_number(value) or math.isnan(value):
        return _cell(value)
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _plain(markup: str) -> str:
    """The words of a Plotly title, without its tags."""
    from html import unescape

    return unescape(re.sub(r"<[^>]*>", " ", markup)).strip()


def _script_safe(text: str) -> str:
    """JSON that may stand inside a script element."""
    return (
        text.replace("&", "\\u0026")
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )


def _colors() -> dict[str, dict[str, str]]:
    """By theme: every colour of the other themes, as figures write it, and the one to show."""
    return {
        wanted: {
            old: new
            for other, theme in THEMES.items()
            if other != wanted
            for old, new in zip(_written(theme), _written(THEMES[wanted]))
        }
        for wanted in THEMES
    }


def _written(theme: Theme) -> list[str]:
    """The colours of a theme as ``#rrggbb`` and as the start of ``rgba(r,g,b,``."""
    codes = [theme.paper, theme.ink, theme.faint, theme.grid, theme.strong]
    parts = [[str(int(code[k : k + 2], 16)) for k in (1, 3, 5)] for code in codes]
    return [code.lower() for code in codes] + [f"rgba({','.join(rgb)}," for rgb in parts]


def _asset(name: str) -> str:
    return files("gnomon.workbench.base").joinpath("templates", name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_asset("report.html"))


def _plotly_script(in_a_plane: bool) -> str:
    """Plotly's script, packed to a third of its size, as letters."""
    return base64.b64encode(packed_script(in_a_plane)).decode()


def drawn_together(draw: Callable[[str], dict[str, Any]]) -> dict[str, Callable[[str], Any]]:
    """Pictures that are drawn together, each as a function of the theme.

    Parameters
    ----------
    draw : callable
        Gives all pictures by name for a theme.

    Returns
    -------
    pictures : dict of str to callable
    """
    drawn = lru_cache(draw)

    def draw_one(name: str, theme: str) -> Any:
        return drawn(theme)[name]

    return {name: partial(draw_one, name) for name in drawn("light")}
