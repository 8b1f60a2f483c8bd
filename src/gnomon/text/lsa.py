"""Latent semantic analysis: documents and words as few coordinates, searched by their angle.

The counts X (documents in rows) are about U S V' with the r largest singular values. Document i
has the coordinates a_i = (u_i1 s_1 ... u_ir s_r), word j has b_j = (s_1 v_j1 ... s_r v_jr), both
divided by their length sqrt(sum of squares) (000a prints the division without the root). A query
with counts x has a = V_r' x. Inner products of coordinates are those of rows of the smoothed matrix
U S_r V', which is dense and never made.

The singular values come from Golub-Kahan-Lanczos steps with full orthogonalization on the smaller
side, which need each product with X once per step and no restarts.

Texts: 000a 6.3.2, 6.3.4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh_tridiagonal

from gnomon.engine.errors import DataError
from gnomon.engine.parameters import SEED, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.engine.threads import one_blas_thread
from gnomon.text.base import CountModel, fits
from gnomon.text.vectorizers import TfidfVectorizer

KAHAN = 0.7  # judgement, about the root of 1/2: what keeps so much length was nearly orthogonal


@method(
    task="reduce",
    texts="000a 6.3.2, 6.3.4",
    use="Coordinates of documents and words, for searches that find more than the query's words.",
    avoid="Topics to read: GibbsLDA. Similar meaning from large collections: Word2Vec.",
    peers=("sklearn.decomposition.TruncatedSVD", "gensim.models.LsiModel"),
    takes="texts",
    synonyms=("LSA", "LSI", "latent semantic indexing", "semantic search"),
)
class LatentSemanticAnalysis(CountModel):
    """Documents and words in the space of the largest singular values of the counts.

    Use it to search documents, and for few columns instead of many words; not for topics that a
    person reads, since coordinates have signs. Texts: 000a 6.3.2.

    Parameters
    ----------
    n_components : int, default=100
        Coordinates; no more than there are documents or terms.
    tol : float, default=1e-5
        Residual of the singular vectors, as a share of the largest singular value; singular values
        are exact to about its square.
    vectorizer : TfidfVectorizer or like, default=None
        What weighs texts; by default `TfidfVectorizer`.
    random_state : int, RandomState instance or None, default=None
        Seed of the first vector.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_terms)
        Right singular vectors.
    singular_values_ : ndarray of shape (n_components,)
        The largest first.
    document_vectors_ : ndarray of shape (n_documents, n_components)
        Coordinates of the documents of ``fit``, of length 1; 0 for a document without words.
    terms_ : ndarray of str
    vectorizer_ : object
        Only where texts were given.
    n_features_in_ : int

    Examples
    --------
    >>> from gnomon.text import LatentSemanticAnalysis
    >>> texts = ["cat dog", "dog cat fish", "bond stock", "stock bond market"]
    >>> model = LatentSemanticAnalysis(2, random_state=0).fit(texts)
    >>> documents, cosines = model.search(["fish"], 2)
    >>> sorted(documents[0].tolist()), cosines[0].round(2).tolist()
    ([0, 1], [1.0, 1.0])
    """

    _weights = True
    _parameter_constraints = {
        "n_components": [whole(1)],
        "tol": [at_least(0)],
        "random_state": SEED,
    } | CountModel._vectorizer_constraints
    _stored = {
        "components_": Array("f8", ("rank", "n_features_in_")),
        "singular_values_": Array("f8", ("rank",), low=0.0),
        "document_vectors_": Array("f8", (None, "rank")),
    }

    def __init__(
        self,
        n_components: int = 100,
        *,
        tol: float = 1e-5,
        vectorizer: Any = None,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.tol = tol
        self.vectorizer = vectorizer
        self.random_state = random_state

    def _usual_vectorizer(self) -> Any:
        return TfidfVectorizer()

    @fits
    def fit(self, X: Any, y: Any = None) -> LatentSemanticAnalysis:
        """Learn the coordinates.

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
        if self.n_components > min(rows.shape):
            raise DataError(
                f"n_components={self.n_components} is more than the {rows.shape[0]} documents or "
                f"the {rows.shape[1]} terms: lower it"
            )
        n_rows, n_columns = rows.shape
        self._require_memory(n_rows, n_columns, rows.nnz)
        _, values, right = largest_singular(rows, self.n_components, self.tol, self._rng())
        self.components_, self.singular_values_ = right, values
        self.document_vectors_ = of_length_one(np.asarray(rows @ right.T))
        return self

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int:
        steps = 4 * self.n_components + 100
        return 16 * n_entries + 8 * (steps + 2 * self.n_components) * (n_rows + n_columns)

    def transform(self, X: Any) -> np.ndarray:
        """Coordinates of documents, not divided by their length: X V, as in `TruncatedSVD`.

        Parameters
        ----------
        X : texts or counts

        Returns
        -------
        coordinates : ndarray of shape (n_documents, n_components)
        """
        rows = self._rows(X)
        return np.asarray(rows @ self.components_.T)

    @property
    def word_vectors_(self) -> np.ndarray:
        """Coordinates of the terms, of length 1, of shape (n_terms, n_components)."""
        return of_length_one((self.components_ * self.singular_values_[:, None]).T)

    def search(self, queries: Any, n_results: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """The documents whose coordinates have the smallest angles with those of queries.

        Parameters
        ----------
        queries : texts or counts
        n_results : int, default=10

        Returns
        -------
        documents : ndarray of shape (n_queries, n_results)
            Numbers of the documents, the best first; equals in their own order.
        cosines : ndarray of shape (n_queries, n_results)
            0 throughout for a query without known words.
        """
        found = of_length_one(self.transform(queries)) @ self.document_vectors_.T
        return best_of(found, n_results)

    def nearest_words(self, word: str, n_words: int = 7) -> list[tuple[str, float]]:
        """The words whose coordinates have the smallest angles with those of a word.

        Parameters
        ----------
        word : str
        n_words : int, default=7

        Returns
        -------
        words : list of (str, float)
            Words and cosines.
        """
        return nearest_words(word, self.terms_, self.word_vectors_, n_words)


def of_length_one(vectors: np.ndarray) -> np.ndarray:
    """Rows divided by their length; zeros stay."""
    lengths = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    return vectors / np.where(lengths > 0, lengths, 1.0)


def best_of(scores: np.ndarray, n_best: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest scores of each row and where they stand; equals in their own order."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :n_best]
    return order, np.take_along_axis(scores, order, axis=1)


def nearest_words(
    word: str, terms: Any, vectors: np.ndarray, n_words: int
) -> list[tuple[str, float]]:
    """Words by the cosine of their vectors (of length 1) with a word's, without itself."""
    names = [str(term) for term in terms]
    if word not in names:
        raise DataError(f"{word!r} is not in the vocabulary of {len(names):,} words")
    own = names.index(word)
    cosines = vectors @ vectors[own]
    order = [j for j in np.argsort(-cosines, kind="stable").tolist() if j != own][:n_words]
    return [(names[j], float(cosines[j])) for j in order]


def largest_singular(
    rows: sp.csr_array, rank: int, tol: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The largest singular values of a sparse matrix and their vectors.

    Parameters
    ----------
    rows : csr_array of shape (n, d)
    rank : int
    tol : float
        Residual, as a share of the largest singular value.
    rng : Generator

    Returns
    -------
    left : ndarray of shape (n, rank)
    values : ndarray of shape (rank,)
        The largest first.
    right : ndarray of shape (rank, d)
        The entry of largest absolute value of each row is positive.
    """
    wide = rows.shape[0] <= rows.shape[1]
    turned = sp.csr_array(rows.T)
    matrix, transposed = (rows, turned) if wide else (turned, rows)
    with one_blas_thread():  # vectors so short are not worth a second one
        small = _left_vectors(matrix, transposed, rank, tol, rng)
    # V S = X' U: the lengths of its columns are the singular values
    large = np.asarray(transposed @ small)
    values = np.linalg.norm(large, axis=0)
    large /= np.where(values > 0, values, 1.0)
    left, right = (small, large.T) if wide else (large, small.T)
    right = np.ascontiguousarray(right)
    most, least = right.max(axis=1), right.min(axis=1)
    signs = np.where(-least > most, -1.0, 1.0)
    return left * signs, values, right * signs[:, None]


def _left_vectors(
    matrix: sp.csr_array, transposed: sp.csr_array, rank: int, tol: float, rng: np.random.Generator
) -> np.ndarray:
    """Left singular vectors of the largest values, by Golub-Kahan-Lanczos steps."""
    n = matrix.shape[0]
    if n <= 2 * rank + 20:  # so many steps would span the whole space
        return np.linalg.eigh((matrix @ matrix.T).toarray())[1][:, ::-1][:, :rank]
    basis = np.empty((min(n, 3 * rank + 60), n))
    alphas: list[float] = []
    betas: list[float] = []
    now = rng.normal(size=n)
    now /= np.linalg.norm(now)
    beside = np.zeros(matrix.shape[1])
    beta, check = 0.0, 2 * rank + rank // 2 + 10  # spectra of texts need 2.5 steps per value
    while True:
        step = len(alphas)
        if step == len(basis):
            basis = np.concatenate([basis, np.empty((min(n - step, step), n))])
        basis[step] = now
        beside = transposed @ now - beta * beside
        alpha = float(np.linalg.norm(beside))
        largest = max([alpha, *alphas])
        is_null = alpha <= 1e-12 * largest  # after a new start: the rest of the space is null
        beside /= alpha if alpha > 0 else 1.0
        alphas.append(alpha)
        after = _orthogonal(matrix @ beside - alpha * now, basis[: step + 1])
        beta = float(np.linalg.norm(after))
        if beta <= 1e-12 * largest:  # the steps so far span an invariant space: start anew
            beta, after = 0.0, _orthogonal(rng.normal(size=n), basis[: step + 1])
        betas.append(beta)
        steps = step + 1
        finished = steps == n or (is_null and steps >= rank)
        if finished or (steps >= check and beta > 0):
            # B B' is tridiagonal; the residual is beta times the last entry on the right
            squares, left = eigh_tridiagonal(*_tridiagonal(alphas, betas))
            values = np.sqrt(np.maximum(squares[::-1], 0.0))
            left = left[:, ::-1]
            residual = beta * np.abs(alpha * left[-1, :rank]) / np.maximum(values[:rank], 1e-300)
            if finished or (residual <= tol * values[0]).all():
                return basis[:steps].T @ left[:, :rank]
            check = steps + max(rank // 4, 10)
        now = after / np.linalg.norm(after)


def _orthogonal(vector: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """A vector without its parts along orthonormal rows."""
    for _ in range(2):  # twice is enough
        before = vector
        vector = before - (basis @ before) @ basis
        # little was taken away, so that rounding left nothing along the rows (Kahan's rule)
        if np.linalg.norm(vector) > KAHAN * np.linalg.norm(before):
            break
    return vector


def _tridiagonal(alphas: list[float], betas: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Diagonal and off-diagonal of B B', where B has alphas on and betas below its diagonal."""
    on, below = np.array(alphas), np.array(betas[:-1])
    return on**2 + np.append(0.0, below**2), on[:-1] * below
