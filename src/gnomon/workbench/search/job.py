"""The job `search`: the rows whose text fits a query best.

Texts: 000a 6.3.2 (latent semantic analysis) · 003 (cosine); BM25 is beyond the texts.
"""

from __future__ import annotations

import time
from typing import Any

from gnomon.engine.errors import DataError
from gnomon.text import (
    BM25Index,
    CosineIndex,
    CountVectorizer,
    LatentSemanticAnalysis,
    TfidfVectorizer,
)
from gnomon.text.base import cells
from gnomon.workbench.base.given import as_table, source_of
from gnomon.workbench.base.job import Request
from gnomon.workbench.base.runs import Run
from gnomon.workbench.search.options import JOB, SearchOptions
from gnomon.workbench.search.result import Hit, SearchResult
from gnomon.workbench.topics.job import text_column_of


@JOB.public
def search(table: Any, options: SearchOptions, request: Request) -> SearchResult:
    """Find the rows of a table whose text fits a query best.

    Use it to look for texts about something. To see what all texts are about, use `gnomon.topics`.

    Returns
    -------
    result : SearchResult

    Examples
    --------
    >>> import gnomon
    >>> table = {"remark": ["a red fish", "a blue bird"]}
    >>> found = gnomon.search(table, query="fish", text="remark")
    >>> [hit.row for hit in found.hits]
    [0]
    """
    begin = time.perf_counter()
    rows = as_table(table)
    source = source_of(table) or request.source
    queries = [each for each in options.query if each.strip()]
    if not queries:
        raise DataError("there is no query: give words to look for, as in query='red fish'")
    with Run.begin(request.folder, rows, source, options, JOB.name) as run:
        options.text = text_column_of(rows, options.text)
        texts = cells(rows.column(options.text))
        request.progress("index of the texts", 0, 0)
        model = index_of(options, len(texts)).fit(texts)
        documents, scores = model.search(queries, options.n_results)
        hits = [
            Hit(query, place + 1, int(row), float(score), texts[row])
            for query, found, values in zip(queries, documents, scores)
            for place, (row, score) in enumerate(zip(found, values))
            if row >= 0 and score > 0
        ]
        analyze = model.vectorizer_.build_analyzer()
        unknown = sorted({term for q in queries for term in analyze(q)} - set(model.terms_))
        run.decide(f"{len(texts):,} texts, {len(model.terms_):,} terms", f"method {options.method}")
        result = SearchResult(model, hits, unknown, rows, run, options)
        result.seconds = time.perf_counter() - begin
        run.finish(result)
    return result


def index_of(options: SearchOptions, n_texts: int) -> Any:
    """The index that searches, not fitted."""
    words = {"stop_words": "english", "stemmer": options.stemmer}
    if options.method == "bm25":
        return BM25Index(vectorizer=CountVectorizer(**words))
    if options.method == "cosine":
        return CosineIndex(vectorizer=TfidfVectorizer(**words))
    n_components = min(options.n_components, max(n_texts - 1, 1))
    return LatentSemanticAnalysis(
        n_components, vectorizer=TfidfVectorizer(sublinear_tf=True, **words), random_state=0
    )
