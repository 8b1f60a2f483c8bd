"""Latent Dirichlet allocation by collapsed Gibbs sampling: documents that mix topics.

A document d has shares of topics theta_d ~ Dirichlet(alpha); each of its words is of a topic k
drawn from theta_d, and drawn from the topic's words phi_k ~ Dirichlet(beta). With theta and phi
integrated out, the topic of one word w, given those of all others, has the probability

    p(k) proportional to (n_dk + alpha_k) (n_kw + beta) / (n_k + V beta)

of counts without that word. A sweep draws every word's topic once.

Why it is fast: counts are kept as float32 rows by document and by word, so that the product over
topics is one vectorized loop without a division; a topic is found in blocks of sixteen. Words are
cut in P x P blocks of documents and words. In each of P steps P blocks without a document or word
in common are sampled at once; only n_k is shared, and each block has its own until the step ends.
In a block equal words follow each other, so that the second factor stays in the nearest memory, and
rows of one block lie side by side, so that threads write to no line of memory in common.
Blocks depend on the counts alone, so the bits are the same for any number of threads. (Yan, Xu and
Qi 2009; with one block it is the plain sampler.)

Texts: 002 (latent Dirichlet allocation, which names no way to fit it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma, gammaln

from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, JOBS, SEED, above, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.threads import Pace, in_order
from gnomon.text.base import CountModel, fits
from gnomon.text.gibbs_kernel import (
    Block,
    Counts,
    count_topics,
    draw_topics,
    fold_documents,
    sum_of_logs,
)
from gnomon.text.topics import TopicModel

WORDS_PER_SHARD = 100_000  # fixed, so that the draws do not depend on n_jobs
MOST_SHARDS = 8  # judgement: each shard works on old counts of the others, so few of them
LANES = 8  # topics of a vector: rows of counts are padded to it
PRIOR_EVERY = 10  # sweeps between estimates of the priors
KEPT_EVERY = 5  # sweeps between states whose counts are averaged, in the last quarter


@method(
    task="density",
    texts="002 (latent Dirichlet allocation)",
    use="Topics of documents that mix several; the usual model of a collection of texts.",
    avoid="Very short texts of one topic each: MultinomialMixture.",
    peers=("tomotopy.LDAModel", "lda.LDA", "sklearn.decomposition.LatentDirichletAllocation"),
    takes="texts",
    synonyms=("topic model", "latent Dirichlet allocation", "collapsed Gibbs", "seeded topics"),
)
class GibbsLDA(TopicModel):
    """Latent Dirichlet allocation by collapsed Gibbs sampling.

    Use it for the topics of documents of some length; it reaches better held-out likelihoods than
    the variational `LatentDirichletAllocation`. Not for texts of a few words: prefer
    `MultinomialMixture`. Texts: 002.

    Parameters
    ----------
    n_components : int, default=10
        Topics.
    doc_topic_prior : float, default=None
        alpha of each topic at the start; None is 1 / n_components.
    topic_word_prior : float, default=None
        beta of each word at the start; None is 1 / n_components.
    max_iter : int, default=300
        Sweeps.
    learn_priors : bool, default=True
        Estimate alpha (one per topic) and beta every ten sweeps, by Minka's fixed point.
    seed_words : list of list of str, or dict of int to list of str, default=None
        Words that belong to the first topics, or to topics by number; other topics stay free.
    seed_weight : int, default=100
        Occurrences that a seed word has in its topic before any text is read.
    vectorizer : CountVectorizer or like, default=None
        What counts texts; by default words in lower case without English stop words.
    n_jobs : int, default=None
        Threads; the bits do not depend on it.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_terms)
        Occurrences of each word in each topic, averaged over states of the last quarter of the
        sweeps, plus the prior; ``topic_word_`` are the probabilities.
    doc_topic_ : ndarray of shape (n_documents, n_components)
        Shares of topics in the documents of ``fit``, averaged alike.
    doc_topic_prior_ : ndarray of shape (n_components,)
    topic_word_prior_ : float
    log_likelihood_ : float
        log p(words, topics) per word, of the last state.
    terms_ : ndarray of str
    vectorizer_ : object
        Only where texts were given.
    n_features_in_ : int
    history_ : History
        log p(words, topics) per word after each sweep.
    n_iter_ : int

    Examples
    --------
    >>> from gnomon.text import GibbsLDA
    >>> texts = ["cat dog cat dog", "bond stock bond stock", "cat dog bond stock"] * 5
    >>> model = GibbsLDA(2, max_iter=50, random_state=0).fit(texts)
    >>> sorted(sorted(words) for words in model.top_words(2))
    [['bond', 'stock'], ['cat', 'dog']]
    """

    _parameter_constraints = {
        "n_components": [whole(1)],
        "doc_topic_prior": [above(0), None],
        "topic_word_prior": [above(0), None],
        "max_iter": [whole(1)],
        "learn_priors": FLAG,
        "seed_words": [list, tuple, dict, None],
        "seed_weight": [whole(1)],
        "n_jobs": JOBS,
        "random_state": SEED,
    } | CountModel._vectorizer_constraints
    _stored = {
        "doc_topic_": Array("f8", (None, "n_components"), low=0.0),
        "doc_topic_prior_": Array("f8", ("n_components",), low=0.0),
        "topic_word_prior_": Number(0.0),
        "log_likelihood_": Number(),
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: float | None = None,
        topic_word_prior: float | None = None,
        max_iter: int = 300,
        learn_priors: bool = True,
        seed_words: Any = None,
        seed_weight: int = 100,
        vectorizer: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.max_iter = max_iter
        self.learn_priors = learn_priors
        self.seed_words = seed_words
        self.seed_weight = seed_weight
        self.vectorizer = vectorizer
        self.n_jobs = n_jobs
        self.random_state = random_state

    @fits
    def fit(self, X: Any, y: Any = None) -> GibbsLDA:
        """Sample topics of the words.

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
        n_rows, n_columns = rows.shape
        self._require_memory(n_rows, n_columns, int(rows.data.sum()))
        usual = 1.0 / self.n_components
        alpha = np.full(self.n_components, self.doc_topic_prior or usual)
        beta = float(self.topic_word_prior or usual)
        sampler = Sampler.begin(rows, self._seeds(), self.seed_weight, self._rng(), alpha, beta)
        course = self._course("sweep", self.max_iter)
        keep_from = self.max_iter - max(self.max_iter // 4, 1)
        kept = 0
        word_sum = np.zeros((rows.shape[1], self.n_components))
        doc_sum = np.zeros((rows.shape[0], self.n_components))
        for sweep in course:
            sampler.sweep(self.n_jobs)
            if self.learn_priors and sweep % PRIOR_EVERY == PRIOR_EVERY - 1:
                sampler.learn_priors()
            stop = course.end_step(sampler.log_likelihood())
            last = stop or sweep == self.max_iter - 1
            if last or (sweep >= keep_from and sweep % KEPT_EVERY == 0):
                word_sum += sampler.by_word[:, : self.n_components]
                doc_sum += sampler.by_document[:, : self.n_components] + sampler.alpha
                kept += 1
            if stop:
                break
        self.history_ = course.history
        self.n_iter_ = len(course.history)
        self.log_likelihood_ = float(course.history[-1])
        self.doc_topic_prior_, self.topic_word_prior_ = sampler.alpha, sampler.beta
        word_sum, doc_sum = word_sum[sampler.row_of_word], doc_sum[sampler.row_of_document]
        self.components_ = np.ascontiguousarray(word_sum.T) / kept + sampler.beta
        self.doc_topic_ = doc_sum / doc_sum.sum(axis=1, keepdims=True)
        return self

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int:
        return 24 * n_entries + 20 * (n_rows + n_columns) * (self.n_components + LANES)

    def _memory_remedy(self) -> str:
        return "Use fewer topics, or leave out rare words (min_df of the vectorizer)."

    def _seeds(self) -> list[tuple[int, int]]:
        """Pairs (column, topic) of the seed words."""
        given = self.seed_words or {}
        by_topic = given if isinstance(given, dict) else dict(enumerate(given))
        places = {str(term): j for j, term in enumerate(self.terms_)}
        found = []
        for topic, words in by_topic.items():
            if not 0 <= topic < self.n_components:
                raise DataError(
                    f"seed_words names topic {topic}, but there are {self.n_components}: 0 to "
                    f"{self.n_components - 1}"
                )
            for word in words:
                if word not in places:
                    raise DataError(f"the seed word {word!r} of topic {topic} is in no text")
                found.append((places[word], topic))
        return found

    def _shares(self, rows: sp.csr_array) -> np.ndarray:
        return fold_in(rows, self.topic_word_, self.doc_topic_prior_)


def fold_in(rows: sp.csr_array, topic_word: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Shares of given topics in documents: the fixed point of expected counts.

    n_k = sum_w c_w r_wk with r_wk proportional to phi_kw (n_k + alpha_k); the shares are
    (n_k + alpha_k) / (n + sum of alpha). Nothing is drawn, and each document stands for itself.

    Parameters
    ----------
    rows : csr_array of shape (n_documents, n_terms)
    topic_word : ndarray of shape (n_topics, n_terms)
    alpha : ndarray of shape (n_topics,)

    Returns
    -------
    shares : ndarray of shape (n_documents, n_topics)
    """
    shares = np.empty((rows.shape[0], len(alpha)))
    words = np.ascontiguousarray(topic_word.T)
    columns, ends = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    fold_documents(columns, rows.data, ends, words, np.asarray(alpha, float), shares)
    return shares


@dataclass
class Sampler:
    """The state of a collapsed Gibbs sampler.

    Attributes
    ----------
    documents, words, topics : ndarray of shape (n_words,)
        Row of each word in `by_document` and in `by_word`, and its topic, block after block.
    borders : ndarray of shape (n_shards ** 2 + 1,)
    row_of_document, row_of_word : ndarray of shape (n_documents,) and (n_terms,)
        Rows of a shard lie side by side.
    by_document, by_word : ndarray of float32, padded to whole vectors
        n_dk; n_kw with the seed words' weight.
    totals : ndarray of shape (n_topics,)
        n_k.
    """

    documents: np.ndarray
    words: np.ndarray
    topics: np.ndarray
    borders: np.ndarray
    n_shards: int
    row_of_document: np.ndarray
    row_of_word: np.ndarray
    by_document: np.ndarray
    by_word: np.ndarray
    totals: np.ndarray
    alpha: np.ndarray
    beta: float
    seeds: list[tuple[int, int]]
    seed_weight: int
    rng: np.random.Generator
    pace: Pace

    @classmethod
    def begin(
        cls,
        rows: sp.csr_array,
        seeds: list[tuple[int, int]],
        seed_weight: int,
        rng: np.random.Generator,
        alpha: np.ndarray,
        beta: float,
    ) -> Sampler:
        """Words in blocks, each with a topic drawn at random; seed words in their topics."""
        n_documents, n_terms = rows.shape
        k = len(alpha)
        columns = sp.csc_array(rows)  # word after word, each with its documents in order
        counts = columns.data.astype(np.int64)
        n_words = int(counts.sum())
        n_shards = int(np.clip(n_words // WORDS_PER_SHARD, 1, MOST_SHARDS))
        shard_of_document = even_shards(np.asarray(rows.sum(axis=1)).ravel(), n_shards)
        shard_of_word = even_shards(np.asarray(columns.sum(axis=0)).ravel(), n_shards)
        row_of_document, row_of_word = side_by_side(shard_of_document), side_by_side(shard_of_word)
        term = np.repeat(np.arange(n_terms), np.diff(columns.indptr))
        # block b of step s: documents of shard b, words of shard (b + s) mod P
        shard = shard_of_document[columns.indices]
        step = (shard_of_word[term] - shard) % n_shards
        block = (step * n_shards + shard).astype(np.uint8)
        order = np.argsort(block, kind="stable")
        block, counts, term = block[order], counts[order], term[order]
        documents = np.repeat(row_of_document[columns.indices[order]], counts)
        words = np.repeat(row_of_word[term], counts)
        topics = rng.integers(0, k, n_words, dtype=np.int32)
        topic_of_seed = np.full(n_terms, -1, dtype=np.int32)
        for word, topic in seeds:
            topic_of_seed[row_of_word[word]] = topic
        if seeds:
            topics = np.where(topic_of_seed[words] >= 0, topic_of_seed[words], topics)
        wide = -(-k // LANES) * LANES
        by_document = np.zeros((n_documents, wide), dtype=np.float32)
        by_word = np.zeros((n_terms, wide), dtype=np.float32)
        count_topics(documents, topics, by_document)
        count_topics(words, topics, by_word)
        for word, topic in seeds:
            by_word[row_of_word[word], topic] += seed_weight
        sizes = np.bincount(block, weights=counts, minlength=n_shards**2)
        borders = np.concatenate([[0], np.cumsum(sizes)])
        return cls(
            documents,
            words,
            topics,
            borders.astype(np.int64),
            n_shards,
            row_of_document,
            row_of_word,
            by_document,
            by_word,
            by_word[:, :k].sum(axis=0, dtype=np.float64),
            alpha,
            beta,
            seeds,
            seed_weight,
            rng,
            Pace(),
        )

    def sweep(self, n_jobs: int | None) -> None:
        """Draw every word's topic once."""
        wide = self.by_word.shape[1]
        prior = np.zeros(wide, dtype=np.float32)
        prior[: len(self.alpha)] = self.alpha
        for step in range(self.n_shards):
            seeds = self.rng.integers(0, 2**63, self.n_shards)
            before = self.totals
            items = [(step * self.n_shards + b, seeds[b]) for b in range(self.n_shards)]

            def draw(item: tuple[int, int], before=before) -> np.ndarray:
                begin, end = self.borders[item[0]], self.borders[item[0] + 1]
                totals = before.copy()
                generator = np.random.Generator(np.random.SFC64(int(item[1])))
                uniform = generator.random(end - begin, dtype=np.float32)
                part = Block(
                    self.documents[begin:end],
                    self.words[begin:end],
                    self.topics[begin:end],
                    uniform,
                )
                counts = Counts(self.by_document, self.by_word, totals, prior)
                draw_topics(part, counts, self.beta)
                return totals

            done = list(in_order(draw, items, n_jobs, short=True, pace=self.pace))
            self.totals = before + sum(after - before for after in done)

    def log_likelihood(self) -> float:
        """log p(words, topics) per word."""
        k, n_terms, n_documents = len(self.alpha), len(self.by_word), len(self.by_document)
        lengths, alpha_sum = self.by_document.sum(axis=1, dtype=np.float64), self.alpha.sum()
        found = rising_logs(self.by_document, self.alpha)
        found += n_documents * gammaln(alpha_sum) - gammaln(lengths + alpha_sum).sum()
        found += rising_logs(self.by_word, np.full(k, self.beta))
        found += k * gammaln(n_terms * self.beta)
        found -= gammaln(self.totals + n_terms * self.beta).sum()
        return float(found / len(self.words))

    def learn_priors(self) -> None:
        """One fixed-point step of alpha and beta (Minka 2000); neither leaves 1e-4 to 1e2."""
        k, n_terms = len(self.alpha), len(self.by_word)
        lengths = self.by_document.sum(axis=1, dtype=np.float64)
        for _ in range(3):
            total = self.alpha.sum()
            below = (digamma(lengths + total) - digamma(total)).sum()
            above_ = np.array(
                [
                    rising_digamma(self.by_document[:, topic], self.alpha[topic])
                    for topic in range(k)
                ]
            )
            self.alpha = np.clip(self.alpha * above_ / below, 1e-4, 1e2)
            mass = digamma(self.totals + n_terms * self.beta) - digamma(n_terms * self.beta)
            risen = rising_digamma(self.by_word[:, :k].ravel(), self.beta)
            self.beta = float(np.clip(self.beta * risen / (n_terms * mass.sum()), 1e-4, 1e2))


def rising_digamma(counts: np.ndarray, prior: float) -> float:
    """Sum over counts of digamma(count + prior) - digamma(prior)."""
    how_often = np.bincount(counts.astype(np.int64))
    values = digamma(np.arange(len(how_often)) + prior) - digamma(prior)
    return float(how_often @ values)


def rising_logs(counts: np.ndarray, priors: np.ndarray) -> float:
    """Sum over counts of log gamma(count + prior) - log gamma(prior), one prior per topic."""
    different, which = np.unique(priors, return_inverse=True)
    n_values = int(counts.max()) + 1
    values = gammaln(different[:, None] + np.arange(n_values)) - gammaln(different)[:, None]
    starts = np.zeros(counts.shape[1], dtype=np.int64)  # topics of the padding have no words
    starts[: len(which)] = which * n_values
    return float(sum_of_logs(counts, values.ravel(), starts))


def even_shards(weights: np.ndarray, n_shards: int) -> np.ndarray:
    """A shard for each item, so that shards weigh about the same: to and fro from the heaviest."""
    order = np.argsort(-weights, kind="stable")
    turn = np.arange(len(weights)) % (2 * n_shards)
    shard = np.empty(len(weights), dtype=np.int64)
    shard[order] = np.minimum(turn, 2 * n_shards - 1 - turn)
    return shard


def side_by_side(shards: np.ndarray) -> np.ndarray:
    """A row for each item, so that those of a shard follow each other."""
    rows = np.empty(len(shards), dtype=np.int32)
    rows[np.argsort(shards, kind="stable")] = np.arange(len(shards), dtype=np.int32)
    return rows
