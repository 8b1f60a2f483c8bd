"""Search: the documents that fit a query best, by the cosine of weighed counts or by BM25.

Cosine: x_q' x_d / (|x_q| |x_d|) of TF-IDF weights. BM25: the sum over words of the query of

    log(1 + (N - N_w + 1/2) / (N_w + 1/2)) c / (c + k1 (1 - b + b n_d / mean n))

where c is the word's count in document d of n_d words and N_w of the N documents hold it. Both are
sums over the words of the query of a weight per word and document, computed once at ``fit``; a
search adds up the columns of its words. All documents with a word of the query are scored, so the
result is exact.

Texts: 003 (retrieval by word counts and cosine); BM25 is beyond the texts (Robertson 1994).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon.engine import memory
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import at_least, between
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Whole
from gnomon.text.base import CountModel, fits
from gnomon.text.vectorizers import CountVectorizer, TfidfVectorizer


class RetrievalIndex(CountModel):
    """Documents that are searched: a weight for each word and document, by word."""

    _stored = {
        "n_documents_": Whole(1),
        "weights_": Array("f8", ("n_entries",)),
        "documents_": Array("i8", ("n_entries",), low=0, below="n_documents_"),
        "ends_": Array("i8", ("n_features_in_ + 1",), low=0, high="n_entries", rising=True),
    }

    def _check_loaded(self) -> None:
        need = 8 * getattr(self, "n_documents_", 0)
        memory.require(need, f"an index of {need // 8:,} documents", "Is the file damaged?")

    @fits
    def fit(self, X: Any, y: Any = None) -> Any:
        """Store the documents.

        Parameters
        ----------
        X : texts or counts
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        rows = self._learned_rows(X)
        self.n_documents_ = rows.shape[0]
        weights = sp.csc_array(self._document_weights(rows))
        weights.sort_indices()
        self.weights_ = weights.data
        self.documents_ = weights.indices.astype(np.int64)
        self.ends_ = weights.indptr.astype(np.int64)
        return self

    def _document_weights(self, rows: sp.csr_array) -> sp.csr_array:
        raise NotImplementedError

    def _query_weights(self, rows: sp.csr_array) -> sp.csr_array:
        return rows

    def search(self, queries: Any, n_results: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """The documents with the highest scores.

        Parameters
        ----------
        queries : texts or counts
        n_results : int, default=10

        Returns
        -------
        documents : ndarray of shape (n_queries, n_results)
            Numbers of the documents, the best first, equals in their own order; -1 where fewer
            documents hold a word of the query.
        scores : ndarray of shape (n_queries, n_results)
            0 where there is no document.
        """
        rows = self._query_weights(self._rows(queries))
        count = min(int(n_results), self.n_documents_)
        documents = np.full((rows.shape[0], count), -1, dtype=np.int64)
        scores = np.zeros((rows.shape[0], count))
        columns, ends = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
        buffer = np.zeros(self.n_documents_)
        best_documents(
            columns, rows.data, ends, self.weights_, self.documents_, self.ends_, buffer, documents,
            scores,
        )  # fmt: skip
        return documents, scores

    def scores(self, query: Any) -> np.ndarray:
        """The score of every document for one query.

        Parameters
        ----------
        query : list of one text, or counts in one row

        Returns
        -------
        scores : ndarray of shape (n_documents,)
        """
        shape = (self.n_documents_, self.n_features_in_)
        weights = sp.csc_array((self.weights_, self.documents_, self.ends_), shape=shape)
        return np.asarray((weights @ self._query_weights(self._rows(query)).T).toarray()).ravel()


@method(
    task="search",
    texts="003 (retrieval by word counts and cosine)",
    use="Documents like a query or like another document, by the angle of their weighed counts.",
    avoid="Short queries of a few words: BM25Index.",
    peers=("gensim.similarities.SparseMatrixSimilarity",),
    takes="texts",
    synonyms=("document retrieval", "cosine similarity", "vector space model"),
)
class CosineIndex(RetrievalIndex):
    """Search of documents by the cosine of their weighed counts with those of the query.

    Use it to find documents that are like a document; not for queries of a few words, for which
    `BM25Index` is better. Texts: 003.

    Parameters
    ----------
    vectorizer : TfidfVectorizer or like, default=None
        What weighs texts; by default `TfidfVectorizer`.

    Attributes
    ----------
    n_documents_ : int
    weights_, documents_ : ndarray of shape (n_entries,)
        Weights of the words in documents, word after word, and the documents.
    ends_ : ndarray of shape (n_terms + 1,)
        Entries of word j are those from ``ends_[j]`` to ``ends_[j + 1]``.
    terms_ : ndarray of str
    vectorizer_ : object
        Only where texts were given.
    n_features_in_ : int

    Examples
    --------
    >>> from gnomon.text import CosineIndex
    >>> index = CosineIndex().fit(["a red fish", "a blue bird", "red birds fly"])
    >>> index.search(["red fish"], 2)[0].tolist()
    [[0, 2]]
    """

    _weights = True
    _parameter_constraints = CountModel._vectorizer_constraints

    def __init__(self, *, vectorizer: Any = None):
        self.vectorizer = vectorizer

    def _usual_vectorizer(self) -> Any:
        return TfidfVectorizer()

    def _document_weights(self, rows: sp.csr_array) -> sp.csr_array:
        return rows_of_length_one(rows)

    def _query_weights(self, rows: sp.csr_array) -> sp.csr_array:
        return rows_of_length_one(rows)


@method(
    task="search",
    texts="beyond the texts",
    use="The usual ranking of documents for queries of a few words.",
    avoid="Whole documents as queries: CosineIndex.",
    peers=("bm25s.BM25", "rank_bm25.BM25Okapi"),
    takes="texts",
    synonyms=("BM25", "Okapi", "full-text search", "ranking function"),
)
class BM25Index(RetrievalIndex):
    """Search of documents by BM25, exactly.

    Use it for queries of a few words; not for whole documents as queries, for which `CosineIndex`
    divides by their length. Texts: beyond them; Robertson and others (1994), in the form of Lucene.

    Parameters
    ----------
    k1 : float, default=1.5
        How fast further occurrences of a word count less; 0 counts only whether it occurs.
    b : float, default=0.75
        How much the length of a document counts, from 0 to 1.
    vectorizer : CountVectorizer or like, default=None
        What counts texts; by default words in lower case without English stop words.

    Attributes
    ----------
    n_documents_ : int
    weights_, documents_ : ndarray of shape (n_entries,)
        Scores of single words in documents, word after word, and the documents.
    ends_ : ndarray of shape (n_terms + 1,)
        Entries of word j are those from ``ends_[j]`` to ``ends_[j + 1]``.
    terms_ : ndarray of str
    vectorizer_ : object
        Only where texts were given.
    n_features_in_ : int

    Examples
    --------
    >>> from gnomon.text import BM25Index
    >>> index = BM25Index().fit(["one red fish", "a blue bird", "red birds fly with red wings"])
    >>> documents, scores = index.search(["red fish"], 2)
    >>> documents.tolist(), scores.round(3).tolist()
    ([[0, 2]], [[0.683, 0.221]])
    """

    _parameter_constraints = {
        "k1": [at_least(0)],
        "b": [between(0, 1)],
    } | CountModel._vectorizer_constraints

    def __init__(self, *, k1: float = 1.5, b: float = 0.75, vectorizer: Any = None):
        self.k1 = k1
        self.b = b
        self.vectorizer = vectorizer

    def _usual_vectorizer(self) -> Any:
        return CountVectorizer(stop_words="english")

    def _document_weights(self, rows: sp.csr_array) -> sp.csr_array:
        n = rows.shape[0]
        holding = np.bincount(rows.indices, minlength=rows.shape[1])
        rarity = np.log1p((n - holding + 0.5) / (holding + 0.5))
        lengths = np.asarray(rows.sum(axis=1)).ravel()
        factor = self.k1 * (1 - self.b + self.b * lengths / lengths.mean())
        count = rows.data
        weights = count / (count + np.repeat(factor, np.diff(rows.indptr)))
        return sp.csr_array((weights * rarity[rows.indices], rows.indices, rows.indptr), rows.shape)


def rows_of_length_one(rows: sp.csr_array) -> sp.csr_array:
    """Sparse rows divided by their length; zeros stay."""
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    lengths = np.sqrt(np.where(squares > 0, squares, 1.0))
    data = rows.data / np.repeat(lengths, np.diff(rows.indptr))
    return sp.csr_array((data, rows.indices, rows.indptr), rows.shape)


@kernel(
    "i8[:]", "f8[:]", "i8[:]", "f8[:]", "i8[:]", "i8[:]", "out f8[:]", "out i8[:,:]", "out f8[:,:]"
)
def best_documents(columns, counts, ends, weights, documents, word_ends, buffer, found, scores):
    """The best documents for each query, by insertion into a short sorted list.

    columns, counts, ends are the rows of the queries; weights, documents, word_ends the columns of
    the documents; buffer (n_documents,) is zero and is left so; found, scores (n_queries, n_best).
    """
    touched = np.empty(len(buffer), dtype=np.int64)
    n_best = found.shape[1]
    for q in range(len(ends) - 1):
        n_touched = 0
        for e in range(ends[q], ends[q + 1]):
            word = columns[e]
            for p in range(word_ends[word], word_ends[word + 1]):
                d = documents[p]
                if buffer[d] == 0.0:
                    touched[n_touched] = d
                    n_touched += 1
                buffer[d] += counts[e] * weights[p]
        n_found = 0
        for t in range(n_touched):
            d = touched[t]
            score = buffer[d]
            buffer[d] = 0.0
            if score <= 0.0:
                continue
            if n_found == n_best:
                worst = scores[q, n_best - 1]
                if score < worst or (score == worst and d > found[q, n_best - 1]):
                    continue
                n_found -= 1
            place = n_found
            while place > 0 and (
                scores[q, place - 1] < score
                or (scores[q, place - 1] == score and found[q, place - 1] > d)
            ):
                scores[q, place] = scores[q, place - 1]
                found[q, place] = found[q, place - 1]
                place -= 1
            scores[q, place] = score
            found[q, place] = d
            n_found += 1
