"""Formulas as MathML, which browsers draw themselves: nothing is loaded from outside."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def inline(self: Any, node: nodes.math) -> None:
    """A formula within a line."""
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def displayed(self: Any, node: nodes.math_block) -> None:
    """A formula on lines of its own, one for each of its parts; a wide one is scrolled."""
    formula = "".join(tex2mathml(part, as_block=True) for part in parts_of(node.astext()))
    self.body.append(f'<div class="gnomon-formula" tabindex="0">{formula}</div>')
    raise nodes.SkipNode


def parts_of(formula: str) -> list[str]:
    """What stands between wide spaces, where none is inside braces or an environment."""
    parts = formula.split(r"\qquad")
    pairs = (("{", "}"), (r"\begin", r"\end"), (r"\left", r"\right"))
    whole = all(part.count(a) == part.count(b) for part in parts for a, b in pairs)
    return parts if whole and all(map(str.strip, parts)) else [formula]


def setup(app: Any) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
