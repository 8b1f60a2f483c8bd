"""Help: every term, method and procedure, as `gnomon explain` has them."""

from __future__ import annotations

from starlette.responses import Response

from gnomon.workbench.web.app import Asked, Workbench

MOST = 30  # judgement: hits on a page; a better word finds less


def help_page(bench: Workbench, asked: Asked) -> Response:
    """What is known about a word; without one, the list of terms."""
    from gnomon.workbench.explain.entries import help_entries
    from gnomon.workbench.explain.index import find
    from gnomon.workbench.explain.terms import TERMS

    word = asked.get("word").strip()[:200]
    found = find(word).entries if word else []
    named = sorted(found, key=lambda each: each.name.lower() != word.lower())[:MOST]
    told = help_entries(word)[:MOST] if word else []
    return bench.page(
        "help.html", here="help", word=word, named=named, told=told, terms=sorted(TERMS)
    )


ROUTES = [("/help", help_page, "GET")]
