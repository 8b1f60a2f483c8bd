"""The options of the job ``map``."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option

METHODS = ("PCA", "stress", "Sammon", "t-SNE")
ON_REQUEST = ("Isomap", "LLE", "spectral", "UMAP")
FEWEST_ROWS = 5  # judgement: a map of fewer points says nothing that the table does not
MOST_MAPPED = 2_000  # judgement: maps compare all pairs of rows; a page moves 2,000 points smoothly


@dataclass
class MapOptions(Options):
    """The options of `map`."""

    color: str | None = option(
        None, column=True, help="The column that colours the rows first; the report offers all."
    )
    without: list[str] = option(
        [], column=True, help="Columns that distances are not made from, such as an outcome."
    )
    methods: list[str] | None = option(
        None,
        flag="method",
        choices=(*METHODS, *ON_REQUEST),
        help="PCA, stress (distances as they are), Sammon (small distances count more), t-SNE "
        "(neighbours only): these four by default; Isomap (distances along the sheet), LLE (mixes "
        "of neighbours), spectral (neighbours together), UMAP (needs an extra).",
    )
    random_state: int = option(0, flag="seed", least=0, help="Seed of drawn rows and of starts.")
    rows: int = option(
        MOST_MAPPED,
        least=FEWEST_ROWS,
        help="The most rows that maps are made of; time and memory grow with their square.",
    )
    place_all: bool = option(
        False,
        help="Place the rows that were not drawn too, by all methods but stress and Sammon. Their "
        "coordinates are written; pictures and measures are of the drawn rows.",
    )


JOB = Job("map", MapOptions)
