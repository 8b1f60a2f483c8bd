"""Names and values as labels of pictures: short, and shown as they are."""

from __future__ import annotations

from typing import Any


def label(value: Any, most: int = 28) -> str:
    """A name or value as Plotly shows it as it is: shortened, and with its HTML escaped.

    Examples
    --------
    >>> label("a<b>")
    'a&lt;b&gt;'
    """
    text = " ".join(str(value).split()) or "(empty)"
    text = text if len(text) <= most else text[: most - 1] + "…"
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def labels(values: Any, most: int = 28) -> list[str]:
    """Labels of several names, all different: equal ones get their number."""
    found: list[str] = []
    taken: set[str] = set()
    for k, value in enumerate(values):
        text = label(value, most)
        found.append(text if text not in taken else f"{text} ({k + 1})")
        taken.add(found[-1])
    return found
