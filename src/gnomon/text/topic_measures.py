"""How good topics are: likelihood of held-out words, and how well the words of a topic go together.

Document completion: the words of a new document are parted in two halves at random; the shares of
topics come from one half, and the other is scored,

    mean over its words w of log sum_k theta_k phi_kw,

the same for every model with topics. Coherence scores pairs of a topic's top words by the documents
that hold them: UMass log((D(a, b) + 1) / D(b)), b the more probable word, or
NPMI log(p(a, b) / p(a) p(b)) / -log p(a, b), between -1 and 1.

Texts: beyond the texts; Wallach and others (2009), Mimno and others (2011), Bouma (2009).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon.contract.estimate import Estimate
from gnomon.engine.errors import DataError


def heldout_log_likelihood(
    model: Any, X: Any, *, random_state: Any = 0, confidence_level: float = 0.95
) -> Estimate:
    """Mean log-probability of a word of new documents, by document completion.

    Parameters
    ----------
    model : GibbsLDA, MultinomialMixture, LatentDirichletAllocation or like
        With ``transform``, shares of topics, and ``components_``, words of topics up to a factor.
    X : texts, or counts of the model's terms
        Documents that the model was not fitted to; those of fewer than two words are left out.
    random_state : int or Generator, default=0
        Seed of the halves.
    confidence_level : float, default=0.95

    Returns
    -------
    likelihood : Estimate
        With the interval of a mean over documents, weighed by their words. Its exponential, with
        the sign turned, is the perplexity.

    Examples
    --------
    >>> from gnomon.text import MultinomialMixture
    >>> counts = np.array([[4, 4, 0], [0, 0, 6]] * 3)
    >>> model = MultinomialMixture(2, random_state=0).fit(counts)
    >>> round(heldout_log_likelihood(model, counts).value, 2)
    -0.4
    """
    totals, sizes = completed_words(model, X, random_state=random_state)
    used = sizes > 0
    if not used.any():
        raise DataError("no document has two known words: there is nothing to complete")
    return weighed_mean(totals[used], sizes[used], confidence_level)


def completed_words(model: Any, X: Any, *, random_state: Any = 0) -> tuple[np.ndarray, np.ndarray]:
    """Log-probability of the second half of each document given the first, and its words.

    Parameters
    ----------
    model : topic model
    X : texts or counts
    random_state : int or Generator, default=0

    Returns
    -------
    totals, sizes : ndarray of shape (n_documents,)
    """
    rows = model._rows(X) if hasattr(model, "_rows") else sp.csr_array(X)
    given, asked = halves(sp.csr_array(rows, dtype=np.int64), np.random.default_rng(random_state))
    topics = np.asarray(model.components_)
    topics = topics / topics.sum(axis=1, keepdims=True)
    shares = np.asarray(model.transform(given))
    shares = shares / shares.sum(axis=1, keepdims=True)
    totals, sizes = np.zeros(rows.shape[0]), np.asarray(asked.sum(axis=1)).ravel()
    columns = np.ascontiguousarray(topics.T)
    for i in np.flatnonzero(sizes).tolist():
        part = slice(asked.indptr[i], asked.indptr[i + 1])
        chance = columns[asked.indices[part]] @ shares[i]
        with np.errstate(divide="ignore"):
            totals[i] = asked.data[part] @ np.log(chance)
    return totals, sizes


def halves(rows: sp.csr_array, rng: np.random.Generator) -> tuple[sp.csr_array, sp.csr_array]:
    """The words of each document split at random into two halves; the first has the odd word."""
    documents = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    owners = np.repeat(documents, rows.data)
    words = np.repeat(rows.indices, rows.data)
    order = np.lexsort((rng.random(len(words)), owners))
    place = np.arange(len(words)) - np.searchsorted(owners, owners)
    sizes = np.bincount(owners, minlength=rows.shape[0])
    first = place < -(-sizes[owners] // 2)
    parts = []
    for chosen in (first, ~first):
        where = owners[chosen], words[order][chosen]
        parts.append(sp.csr_array((np.ones(len(where[0])), where), shape=rows.shape))
    return parts[0], parts[1]


def weighed_mean(totals: np.ndarray, sizes: np.ndarray, confidence_level: float) -> Estimate:
    """A ratio of sums with the interval of its linearization; unbounded for one document."""
    from scipy.stats import t

    value = float(totals.sum() / sizes.sum())
    n = len(totals)
    if n < 2 or not np.isfinite(value):
        return Estimate(value, -np.inf, np.inf, confidence_level)
    error = np.sqrt(n / (n - 1) * ((totals - value * sizes) ** 2).sum()) / sizes.sum()
    half = float(t.ppf(0.5 + confidence_level / 2, n - 1) * error)
    return Estimate(value, value - half, value + half, confidence_level, float(error), "student")


def topic_coherence(
    topics: Any,
    X: Any,
    *,
    measure: str = "npmi",
    n_words: int = 10,
    terms: Sequence[str] | None = None,
) -> np.ndarray:
    """How often the top words of each topic stand in the same documents.

    Parameters
    ----------
    topics : topic model, or list of list of str
        Its top words, the most probable first.
    X : texts or counts
        Documents in which the words are counted; best others than those of the fit.
    measure : {"npmi", "umass"}, default="npmi"
        Both are higher for better topics.
    n_words : int, default=10
        Top words of each topic.
    terms : sequence of str, default=None
        The words of the columns of X, where `topics` is a list of words.

    Returns
    -------
    coherence : ndarray of shape (n_topics,)
        The mean over pairs of words; of NPMI, a pair that never meets counts -1.

    Examples
    --------
    >>> counts = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]])
    >>> topics = [["cat", "dog"], ["cat", "emu"]]
    >>> topic_coherence(topics, counts, terms=["cat", "dog", "emu"]).round(3)
    array([ 0.415, -1.   ])
    """
    if measure not in ("npmi", "umass"):
        raise DataError(f"measure is 'npmi' or 'umass', not {measure!r}")
    if hasattr(topics, "top_words"):
        rows, names = topics._rows(X), topics.terms_
        topics = topics.top_words(n_words)
    elif terms is None:
        raise DataError("give the words of the columns of X as terms=")
    else:
        rows, names = sp.csr_array(X), terms
    places = {str(name): j for j, name in enumerate(names)}
    held = sp.csc_array(rows > 0, dtype=np.float64)
    return np.array([_coherence(words[:n_words], held, places, measure) for words in topics])


def _coherence(words: Sequence[str], held: sp.csc_array, places: dict, measure: str) -> float:
    unknown = [word for word in words if word not in places]
    if unknown:
        raise DataError(f"the word {unknown[0]!r} is in none of the documents' columns")
    part = held[:, [places[word] for word in words]]
    together = np.asarray((part.T @ part).toarray())
    alone = together.diagonal()
    n = held.shape[0]
    second, first = np.tril_indices(len(words), -1)  # the first word of a pair is more probable
    if not len(first):
        return float("nan")
    both = together[first, second]
    if measure == "umass":
        return float(np.mean(np.log((both + 1) / np.maximum(alone[first], 1))))
    met = both > 0
    share = np.where(met, both, 1) / n
    product = np.where(met, alone[first] * alone[second], 1) / n**2
    certain = share >= 1
    npmi = np.log(share / product) / np.where(certain, 1.0, -np.log(np.where(certain, 0.5, share)))
    return float(np.mean(np.where(met, np.where(certain, 1.0, npmi), -1.0)))
