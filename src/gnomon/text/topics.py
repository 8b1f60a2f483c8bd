"""Topic models of counted words, and the mixture of multinomials: one topic per document.

The mixture says that a document of topic k has the probability
p(counts | k) = prod_w p_kw^(count of w), up to a factor that no topic changes. EM turns between

    r_ik proportional to pi_k prod_w p_kw^(c_iw),      p_kw proportional to alpha + sum_i r_ik c_iw,
    pi_k = mean_i r_ik

in logarithms, since the products underflow. (000b prints the wrong index in the denominator of
p_kw: it is the sum over words of the same topic.)

Texts: 000b 9.1.3 · 002 (clusters as topics) · 004 12.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from gnomon.engine.errors import DataError
from gnomon.engine.parameters import SEED, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.text.base import CountModel, fits
from gnomon.text.vectorizers import CountVectorizer


class TopicModel(CountModel):
    """A model with topics, which are distributions of words: ``components_``, up to a factor."""

    _stored = {"components_": Array("f8", ("n_components", "n_features_in_"), low=0.0)}

    def _usual_vectorizer(self) -> Any:
        return CountVectorizer(stop_words="english")

    @property
    def topic_word_(self) -> np.ndarray:
        """Probability of each word in each topic, of shape (n_components, n_terms)."""
        return self.components_ / self.components_.sum(axis=1, keepdims=True)

    def top_words(self, n_words: int = 15) -> list[list[str]]:
        """The most probable words of each topic, the most probable first.

        Parameters
        ----------
        n_words : int, default=15

        Returns
        -------
        words : list of list of str
        """
        return top_words(self.topic_word_, self.terms_, n_words)

    def neg_log_proba(self, X: Any) -> np.ndarray:
        """-log p(document | topic), a feature for each topic (000b 9.2.1).

        Parameters
        ----------
        X : texts or counts

        Returns
        -------
        features : ndarray of shape (n_documents, n_components)
            Without the factor of the order of words, which is the same for all topics.
        """
        rows = self._rows(X)
        floor = np.finfo(np.float64).tiny
        return -np.asarray(rows @ np.log(np.maximum(self.topic_word_, floor)).T)

    def transform(self, X: Any) -> np.ndarray:
        """Share of each topic in each document.

        Parameters
        ----------
        X : texts or counts

        Returns
        -------
        shares : ndarray of shape (n_documents, n_components)
            A document without known words has the shares that are usual.
        """
        return self._shares(self._rows(X))

    def _shares(self, rows: sp.csr_array) -> np.ndarray:
        raise NotImplementedError

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Learn the topics, and give the share of each topic in each document.

        Parameters
        ----------
        X : texts or counts
        y : None
            Not used.

        Returns
        -------
        shares : ndarray of shape (n_documents, n_components)
        """
        return self.fit(X).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns that ``transform`` gives.

        Parameters
        ----------
        input_features : None
            Not used.

        Returns
        -------
        names : ndarray of str
        """
        name = type(self).__name__.lower()
        return np.array([f"{name}{k}" for k in range(len(self.components_))], dtype=object)


def top_words(topic_word: np.ndarray, terms: Any, n_words: int = 15) -> list[list[str]]:
    """The most probable words of each topic, the most probable first.

    Parameters
    ----------
    topic_word : array-like of shape (n_topics, n_terms)
    terms : sequence of str
        The words of the columns.
    n_words : int, default=15

    Returns
    -------
    words : list of list of str

    Examples
    --------
    >>> top_words([[0.2, 0.5, 0.3]], ["cat", "dog", "emu"], 2)
    [['dog', 'emu']]
    """
    names = [str(term) for term in terms]
    order = np.argsort(-np.asarray(topic_word), axis=1, kind="stable")[:, :n_words]
    return [[names[j] for j in row] for row in order.tolist()]


@method(
    task="density",
    texts="000b 9.1.3 · 002 (clusters as topics) · 004 12.1",
    use="Groups of documents, or of other counts, each about one topic.",
    avoid="Documents of several topics: GibbsLDA.",
    peers=("R mixtools multmixEM",),
    takes="texts",
    synonyms=("topic model", "mixture of multinomials", "document clustering"),
)
class MultinomialMixture(TopicModel):
    """Mixture of multinomials by EM: each document is of one topic.

    Use it to group short documents, or histograms of any things; not for documents that mix
    topics, which `GibbsLDA` models. Texts: 000b 9.1.3.

    Parameters
    ----------
    n_components : int, default=10
        Topics.
    alpha : float, default=0.01
        Added to the count of each word in each topic, as in `MultinomialNB`; 0 is the maximum
        likelihood, which gives new documents with a word unseen in a topic the probability 0.
    max_iter : int, default=100
    tol : float, default=1e-4
        EM stops when the objective per document rises by less.
    n_init : int, default=5
        Starts, each from random documents; the best objective is kept.
    weights_init : array-like of shape (n_components,), default=None
        First shares of the topics.
    components_init : array-like of shape (n_components, n_terms), default=None
        First distributions of words; with it there is one start.
    vectorizer : CountVectorizer or like, default=None
        What counts texts; by default words in lower case without English stop words.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_terms)
        Probability of each word in each topic.
    weights_ : ndarray of shape (n_components,)
    labels_ : ndarray of shape (n_documents,)
        The most probable topic of each document.
    lower_bound_ : float
        The objective reached, per document.
    terms_ : ndarray of str
    vectorizer_ : object
        Only where texts were given.
    n_features_in_ : int
    history_ : History
        The objective of the best start: log-likelihood of the counts plus the logarithm of the
        prior, per document. It never falls.
    n_iter_ : int

    Examples
    --------
    >>> from gnomon.text import MultinomialMixture
    >>> texts = ["cat dog cat", "dog cat dog", "bond stock bond", "stock bond stock"]
    >>> model = MultinomialMixture(2, random_state=0).fit(texts)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3])
    True
    """

    _parameter_constraints = {
        "n_components": [whole(1)],
        "alpha": [at_least(0)],
        "max_iter": [whole(1)],
        "tol": [at_least(0)],
        "n_init": [whole(1)],
        "weights_init": ["array-like", None],
        "components_init": ["array-like", None],
        "random_state": SEED,
    } | CountModel._vectorizer_constraints
    _stored = {
        "weights_": Array("f8", ("n_components",), low=0.0),
        "labels_": Array("i8", (None,), low=0, below="n_components"),
        "lower_bound_": Number(),
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        alpha: float = 0.01,
        max_iter: int = 100,
        tol: float = 1e-4,
        n_init: int = 5,
        weights_init: Any = None,
        components_init: Any = None,
        vectorizer: Any = None,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.weights_init = weights_init
        self.components_init = components_init
        self.vectorizer = vectorizer
        self.random_state = random_state

    @fits
    def fit(self, X: Any, y: Any = None) -> MultinomialMixture:
        """Learn the topics.

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
        rng = self._rng()
        n_starts = 1 if self.components_init is not None else self.n_init
        best: tuple[float, Any] | None = None
        for _ in range(n_starts):
            found = self._climb(rows, self._start(rows, rng))
            if best is None or found[0] > best[0]:
                best = found
            if found[1][2].stopped == "callback":
                break
        assert best is not None  # n_init is at least one
        self.lower_bound_, (shares, logs, history) = best
        self.components_, self.weights_, self.history_ = np.exp(logs), shares, history
        self.n_iter_ = len(history)
        self.labels_ = self._shares(rows).argmax(axis=1)
        return self

    def _most_steps(self) -> int:
        return self.n_init * self.max_iter

    def _start(self, rows: sp.csr_array, rng: np.random.Generator) -> tuple[Any, Any]:
        """First shares, and logarithms of first distributions of words."""
        k = self.n_components
        shares = np.full(k, 1.0 / k)
        if self.weights_init is not None:
            shares = np.asarray(self.weights_init, dtype=np.float64)
            if shares.shape != (k,) or (shares < 0).any() or not shares.sum() > 0:
                raise DataError(f"weights_init must hold {k} shares, 0 or more")
            shares = shares / shares.sum()
        if self.components_init is not None:
            first = np.asarray(self.components_init, dtype=np.float64)
            if first.shape != (k, rows.shape[1]) or (first < 0).any():
                raise DataError(
                    f"components_init has shape {first.shape}, not {(k, rows.shape[1])}, or values "
                    "below 0"
                )
        else:
            lengths = np.asarray(rows.sum(axis=1)).ravel()
            some = rng.choice(np.flatnonzero(lengths), k, replace=k > (lengths > 0).sum())
            usual = np.asarray(rows.sum(axis=0)).ravel() / lengths.sum()
            # half of a document and half of all: no word starts at zero
            first = 0.5 * rows[some].toarray() / lengths[some, None] + 0.5 * usual + 1e-12
            first *= rng.uniform(0.9, 1.1, first.shape)
        with np.errstate(divide="ignore"):
            return shares, np.log(first / first.sum(axis=1, keepdims=True))

    def _climb(self, rows: sp.csr_array, start: tuple[Any, Any]) -> tuple[float, Any]:
        """EM from one start: the objective reached, and shares, log-probabilities, history."""
        shares, logs = start
        course = self._course("iteration", self.max_iter)
        n = rows.shape[0]
        reached = -np.inf
        for _ in course:
            joint = joint_logs(rows, shares, logs)
            level = logsumexp(joint, axis=1)
            prior = self.alpha * logs.sum() if self.alpha else 0.0
            objective = float((level.sum() + prior) / n)
            responsibilities = np.exp(joint - level[:, None])
            counts = np.asarray((rows.T @ responsibilities).T) + self.alpha
            shares = responsibilities.mean(axis=0)
            with np.errstate(divide="ignore", invalid="ignore"):
                totals = counts.sum(axis=1, keepdims=True)
                logs = np.log(np.where(totals > 0, counts / totals, 1.0 / counts.shape[1]))
            rise, reached = objective - reached, objective
            if course.end_step(objective, bool(rise < self.tol)):
                break
        return reached, (shares, logs, course.history)

    def _shares(self, rows: sp.csr_array) -> np.ndarray:
        with np.errstate(divide="ignore"):
            joint = joint_logs(rows, self.weights_, np.log(self.components_))
        level = logsumexp(joint, axis=1, keepdims=True)
        impossible = ~np.isfinite(level)
        return np.where(impossible, self.weights_, np.exp(joint - np.where(impossible, 0, level)))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable topic of each document.

        Parameters
        ----------
        X : texts or counts

        Returns
        -------
        labels : ndarray of shape (n_documents,)
        """
        return self.transform(X).argmax(axis=1)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of a document's counts, without the factor of the order of words.

        Parameters
        ----------
        X : texts or counts
        y : None
            Not used.

        Returns
        -------
        score : float
        """
        rows = self._rows(X)
        with np.errstate(divide="ignore"):
            joint = joint_logs(rows, self.weights_, np.log(self.components_))
        return float(logsumexp(joint, axis=1).mean())


def joint_logs(rows: sp.csr_array, shares: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """log pi_k + sum_w c_iw log p_kw, of shape (n_documents, n_topics)."""
    possible = np.isfinite(logs)
    with np.errstate(divide="ignore"):
        found = np.asarray(rows @ np.where(possible, logs, 0.0).T) + np.log(shares)
    if not possible.all():
        found[np.asarray(rows @ (~possible).astype(np.float64).T) > 0] = -np.inf
    return found
