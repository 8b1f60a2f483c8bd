"""How tables and results show themselves in a notebook: HTML in the look of the reports."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

# the colors of a report; a notebook's own colors of text and paper stay, so that dark ones work
STYLE = (
    ".gnomon{font:14px/1.45 system-ui,sans-serif;max-width:100%;overflow-x:auto}"
    ".gnomon table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.4em 0}"
    ".gnomon th,.gnomon td{padding:.2em .7em;text-align:left;border:0;"
    "border-bottom:1px solid rgba(128,128,128,.3)}"
    ".gnomon th{font-weight:600;border-bottom:2px solid #0072b2}"
    ".gnomon p{margin:.3em 0}.gnomon .title{font-weight:600}"
    ".gnomon pre{font:13px/1.4 ui-monospace,monospace;background:none;padding:0;margin:.4em 0;"
    "white-space:pre-wrap}"
)


def framed(inner: str) -> str:
    """HTML with the style of the reports, which reaches nothing else of the notebook."""
    return f'<div class="gnomon"><style>{STYLE}</style>{inner}</div>'


def table_html(
    headings: Iterable[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    remarks: Iterable[str] = (),
) -> str:
    """A table of texts with a title above it and remarks below."""
    above = f'<p class="title">{html.escape(title)}</p>' if title else ""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in headings)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    below = "".join(f"<p>{html.escape(each)}</p>" for each in remarks)
    return framed(
        f"{above}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
    )


def text_html(text: str, remarks: Iterable[str] = ()) -> str:
    """A printed text, as it is, with remarks below."""
    below = "".join(f"<p>{html.escape(each)}</p>" for each in remarks)
    return framed(f"<pre>{html.escape(text)}</pre>{below}")
