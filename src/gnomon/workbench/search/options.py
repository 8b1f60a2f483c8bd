"""The options of the job ``search``."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option

METHODS = ("bm25", "cosine", "lsa")


@dataclass
class SearchOptions(Options):
    """The options of `search`, and what the run settled where none was given."""

    query: list[str] = option([], help="What to look for; may be given several times.")
    text: str | None = option(
        None,
        settled=True,
        column=True,
        help="The column of texts; the only one of text by default.",
    )
    method: str = option(
        "bm25",
        choices=METHODS,
        help="BM25, the cosine of TF-IDF weights, or latent semantic analysis, which also finds "
        "texts without the words of the query.",
    )
    n_results: int = option(10, least=1, help="Rows for each query.")
    n_components: int = option(100, least=2, help="Coordinates of latent semantic analysis.")
    stemmer: str | None = option(
        None, help="Language whose word endings are cut, such as english or german."
    )


JOB = Job("search", SearchOptions)
