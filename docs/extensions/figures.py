"""Figures of the pages: Plotly's own script is copied from the installed package and loaded only
by pages that have a figure, so that a page stays small and nothing comes from outside."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from plotly.offline import get_plotlyjs

from gnomon.show.theme import THEMES

SCRIPTS = ("plotly.min.js", "themes.js", "figures.js")
DIGITS = 5  # significant digits of the numbers of a figure: more cannot be seen


def html_of(figure: Any) -> str:
    """The place of a figure in a page, with its description."""
    described = _rounded(json.loads(figure.to_json()))
    described["layout"].pop("width", None)  # as wide as its place in the page
    content = json.dumps(described, separators=(",", ":"))
    content = content.replace("</", "<\\/")
    return f'<div class="gnomon-figure"><script type="application/json">{content}</script></div>'


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return value


def _write_scripts(app: Any) -> None:
    """Plotly's script, and which light color is which dark one."""
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plotly.min.js").write_text(get_plotlyjs(), encoding="utf-8")
    light, dark = (asdict(THEMES[name]) for name in ("light", "dark"))
    pairs = {light[part]: dark[part] for part in light}
    content = f"window.gnomonDark = {json.dumps(pairs)};\n"
    (folder / "themes.js").write_text(content, encoding="utf-8")


def _load_scripts(app: Any, page: str, template: str, context: dict, doctree: Any) -> None:
    if "gnomon-figure" in context.get("body", ""):
        for name in SCRIPTS:
            app.add_js_file(name)


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", _write_scripts)
    app.connect("html-page-context", _load_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
