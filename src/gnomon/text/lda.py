"""LatentDirichletAllocation under scikit-learn's name: the variational fit.

The topics of documents that mix several, by a factorized approximation of their posterior.
scikit-learn's own class, which takes texts here too; `GibbsLDA` samples the topics instead.

Texts: 002 (latent Dirichlet allocation).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import LatentDirichletAllocation as Peer

from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number, Whole
from gnomon.text.base import CountModel, documented_by, fits
from gnomon.text.topics import TopicModel


@method(
    task="density",
    texts="002 (latent Dirichlet allocation)",
    use="Topics of counted words in mini-batches, where documents arrive one after another.",
    avoid="Documents in memory: GibbsLDA, which reaches better likelihoods.",
    peers=("sklearn.decomposition.LatentDirichletAllocation",),
    on="scikit-learn",
    takes="texts",
    synonyms=("topic model", "variational Bayes", "online LDA"),
)
@documented_by(Peer)
class LatentDirichletAllocation(TopicModel, Peer):
    """Latent Dirichlet allocation by variational Bayes, in one batch or in mini-batches.

    Use it where documents arrive in batches; not where they are in memory, for which `GibbsLDA`
    reaches better held-out likelihoods. Parameters, attributes and results are scikit-learn's;
    one thread is used whatever `n_jobs` is. Texts: 002.

    Parameters
    ----------
    vectorizer : CountVectorizer or like, default=None
        What counts texts; by default words in lower case without English stop words.

    Attributes
    ----------
    terms_ : ndarray of str
    vectorizer_ : object
        Only where texts were given.

    Examples
    --------
    >>> from gnomon.text import LatentDirichletAllocation
    >>> counts = [[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 2, 3], [0, 0, 3, 2]]
    >>> LatentDirichletAllocation(2, random_state=0).fit(counts).transform(counts).shape
    (4, 2)
    """

    _weights = True
    _transient = ("random_state_",)  # is made again by a fit
    _parameter_constraints = Peer._parameter_constraints | CountModel._vectorizer_constraints
    _stored = {
        "components_": Array("f", ("n_components", "n_features_in_"), low=0.0),
        "exp_dirichlet_component_": Array("f", ("n_components", "n_features_in_"), low=0.0),
        "n_batch_iter_": Whole(),
        "n_iter_": Whole(),
        "bound_": Number(),
        "doc_topic_prior_": Number(0.0),
        "topic_word_prior_": Number(0.0),
    }

    def __init__(
        self,
        n_components=10,
        *,
        doc_topic_prior=None,
        topic_word_prior=None,
        learning_method="batch",
        learning_decay=0.7,
        learning_offset=10.0,
        max_iter=10,
        batch_size=128,
        evaluate_every=-1,
        total_samples=1e6,
        perp_tol=1e-1,
        mean_change_tol=1e-3,
        max_doc_update_iter=100,
        n_jobs=None,
        verbose=0,
        random_state=None,
        vectorizer=None,
    ):
        Peer.__init__(
            self,
            n_components,
            doc_topic_prior=doc_topic_prior,
            topic_word_prior=topic_word_prior,
            learning_method=learning_method,
            learning_decay=learning_decay,
            learning_offset=learning_offset,
            max_iter=max_iter,
            batch_size=batch_size,
            evaluate_every=evaluate_every,
            total_samples=total_samples,
            perp_tol=perp_tol,
            mean_change_tol=mean_change_tol,
            max_doc_update_iter=max_doc_update_iter,
            n_jobs=n_jobs,
            verbose=verbose,
            random_state=random_state,
        )
        self.vectorizer = vectorizer

    @fits
    def fit(self, X: Any, y: Any = None) -> LatentDirichletAllocation:
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
        return Peer.fit.__wrapped__(self, self._learned_rows(X))

    def _e_step(self, X, cal_sstats, random_init, parallel=None):
        """scikit-learn's, on one thread: sums over parts of documents change the last bits."""
        given, self.n_jobs = self.n_jobs, 1
        try:
            return Peer._e_step(self, X, cal_sstats, random_init)
        finally:
            self.n_jobs = given

    def _shares(self, rows: sp.csr_array) -> np.ndarray:
        return Peer.transform(self, rows)

    def score(self, X: Any, y: Any = None) -> float:
        """The bound of the log-likelihood, approximately.

        Parameters
        ----------
        X : texts or counts
        y : None
            Not used.

        Returns
        -------
        score : float
        """
        return Peer.score(self, self._rows(X))

    def perplexity(self, X: Any, sub_sampling: bool = False) -> float:
        """exp of minus the bound per word, approximately.

        Parameters
        ----------
        X : texts or counts
        sub_sampling : bool, default=False
            Whether X is a sample of the documents.

        Returns
        -------
        perplexity : float
        """
        return Peer.perplexity(self, self._rows(X), sub_sampling)
