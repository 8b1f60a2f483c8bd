"""Check the built site: python docs/check_links.py docs/build/html.

Every link from page to page must lead to a page and, where it names one, to a place in it; no
page may be larger than 1.5 MB; what a page loads is there, and not on another host.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LARGEST = 1_500_000


class Links(HTMLParser):
    """Links, loaded files and places of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.places.add(str(given["id"]))
        if tag == "a" and given.get("name"):
            self.places.add(str(given["name"]))
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        for name in ("src", "href"):
            if tag in ("script", "img", "link", "iframe") and given.get(name):
                self.loaded.append(str(given[name]))


@cache
def page(path: Path) -> Links:
    parser = Links()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser


def has_place(path: Path, fragment: str) -> bool:
    return not fragment or unquote(fragment) in page(path).places


def faults_of(path: Path) -> list[str]:
    """What is wrong with a page."""
    faults = []
    if path.stat().st_size > LARGEST:
        faults.append(f"{path}: {path.stat().st_size:,} bytes, at most {LARGEST:,}")
    for link in page(path).links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
        target = target / "index.html" if target.is_dir() else target
        if not target.exists():
            faults.append(f"{path}: no page {link}")
        elif target.suffix == ".html" and not has_place(target, parts.fragment):
            faults.append(f"{path}: no place {link}")
    for each in page(path).loaded:
        parts = urlsplit(each)
        if parts.netloc and "://" in each:
            faults.append(f"{path}: loads {each}")
        elif not (parts.scheme or (path.parent / unquote(parts.path)).exists()):
            faults.append(f"{path}: loads {each}, which is not there")
    return faults


def main(folder: Path) -> int:
    pages = sorted(path for path in folder.rglob("*.html") if "_static" not in path.parts)
    faults = [fault for path in pages for fault in faults_of(path)]
    print("\n".join(faults[:50]))
    print(f"{len(pages)} pages, {len(faults)} faults")
    return bool(faults) or not pages


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
