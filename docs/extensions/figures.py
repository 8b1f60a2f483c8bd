"""Figures of the pages: Plotly's script stands beside them and is loaded only by pages that have a
figure, so that a page stays small and nothing comes from outside. Figures in a plane load the
smaller script."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gnomon.show.plotly_script import is_in_a_plane, packed_script
from gnomon.show.theme import THEMES

PLOTLY = {True: "plotly-plane.js", False: "plotly-all.js"}  # by whether a figure is in a plane
SCRIPTS = ("themes.js", "figures.js")
ALL = 'class="gnomon-figure all"'
DIGITS = 5  # significant digits of the numbers of a figure: more cannot be seen


def html_of(figure: Any) -> str:
    """The place of a figure in a page, with its description."""
    described = _rounded(json.loads(figure.to_json()))
    described["layout"].pop("width", None)  # as wide as its place in the page
    content = json.dumps(described, separators=(",", ":"))
    content = content.replace("</", "<\\/")
    kind = 'class="gnomon-figure"' if is_in_a_plane(figure) else ALL
    return f'<div {kind}><script type="application/json">{content}</script></div>'


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
    for in_a_plane, name in PLOTLY.items():
        (folder / name).write_bytes(gzip.decompress(packed_script(in_a_plane)))
    light, dark = (asdict(THEMES[name]) for name in ("light", "dark"))
    pairs = {light[part]: dark[part] for part in light}
    content = f"window.gnomonDark = {json.dumps(pairs)};\n"
    (folder / "themes.js").write_text(content, encoding="utf-8")


def _load_scripts(app: Any, page: str, template: str, context: dict, doctree: Any) -> None:
    body = context.get("body", "")
    if "gnomon-figure" in body:
        for name in (PLOTLY[ALL not in body], *SCRIPTS):
            app.add_js_file(name)


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", _write_scripts)
    app.connect("html-page-context", _load_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
