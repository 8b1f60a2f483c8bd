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
    """A formula on lines of its own; a wide one is scrolled in its place."""
    formula = tex2mathml(node.astext(), as_block=True)
    self.body.append(f'<div class="gnomon-formula" tabindex="0">{formula}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (inline, None), (displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
