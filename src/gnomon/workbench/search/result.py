"""What `search` gives back: the rows that fit each query, best first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gnomon.table import Table
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run
from gnomon.workbench.base.whole_file import written
from gnomon.workbench.search.options import SearchOptions

HEADINGS = ["rank", "row", "score", "text"]


class Hit(NamedTuple):
    """A row that fits a query.

    Attributes
    ----------
    query : str
    rank : int
        From 1.
    row : int
        Its position in the table, from 0.
    score : float
    text : str
    """

    query: str
    rank: int
    row: int
    score: float
    text: str


@dataclass(repr=False)
class SearchResult(JobResult):
    """Rows that fit queries; prints itself, writes a report.

    Attributes
    ----------
    model : BM25Index, CosineIndex or LatentSemanticAnalysis
    hits : list of Hit
        Query after query, the best first.
    unknown : list of str
        Words of the queries that no text holds.
    """

    model: Any
    hits: list[Hit]
    unknown: list[str]
    data: Table
    run: Run
    settings: SearchOptions
    seconds: float = 0.0

    def of(self, query: str) -> list[Hit]:
        """The hits of one query."""
        return [hit for hit in self.hits if hit.query == query]

    def lines(self, query: str, letters: int = 120) -> list[list[Any]]:
        """The hits of a query as text; `HEADINGS` are those of the columns."""
        return [
            [hit.rank, hit.row, f"{hit.score:.3f}", shortened(hit.text, letters)]
            for hit in self.of(query)
        ]

    def table(self) -> Table:
        """The hits as a table."""
        names = Hit._fields
        return Table.from_dict({name: [getattr(hit, name) for hit in self.hits] for name in names})

    def summary(self) -> dict[str, Any]:
        """All results as plain data."""
        return as_json(
            {
                "texts": len(self.data),
                "hits": [hit._asdict() for hit in self.hits],
                "unknown": self.unknown,
            }
        )

    def write_files(self, folder: Path) -> None:
        """Write the hits and the index."""
        if self.hits:
            written(self.table(), folder / "hits.csv")
        self.save(folder / "model.gnomon")

    @property
    def same_if(self) -> str:
        """Whether a repetition finds the same rows, as an expression."""
        return f"[hit.row for hit in result.hits] == {[hit.row for hit in self.hits]}"

    def __str__(self) -> str:
        lines = [f"{len(self.data):,} texts, {len(self.hits):,} hits"]
        if self.unknown:
            lines.append(f"No text holds {', '.join(self.unknown)}.")
        return "\n".join(lines)


def shortened(text: str, letters: int) -> str:
    """A text in one line, cut to so many letters."""
    line = " ".join(text.split())
    return line if len(line) <= letters else line[: letters - 1] + "…"
