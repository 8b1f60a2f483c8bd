"""Hidden Markov models of symbols, of counts of symbols, and of Poisson counts, as in hmmlearn.

Texts: 000b 13.2-13.3 · 001 14.2.1 · 002 L6337-6556.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy
from sklearn.utils import check_random_state

from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import whole
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.sequence import recursions
from gnomon.sequence.base_hmm import HMM_PARAMETERS, PRIOR, BaseHMM, _distributions
from gnomon.sequence.emissions import _normalized
from gnomon.sequence.passes import Posteriors, posteriors


class EmissionTable(BaseHMM):
    """What hidden Markov models with a table of probabilities of symbols share."""

    _stored = {
        "emissionprob_": Array("f8", ("n_components", "n_features"), low=0.0),
    }

    def _get_n_fit_scalars_per_param(self) -> dict[str, int]:
        free = self.n_components * (self.n_features - 1)
        return super()._get_n_fit_scalars_per_param() | {"e": free}

    def _public(self) -> dict[str, Any]:
        return super()._public() | {"n_features": self.n_features}

    def _init(self, X: np.ndarray, lengths: Any = None) -> None:
        super()._init(X, lengths)
        if self._needs_init("e", "emissionprob_"):
            rng = check_random_state(self.random_state)
            table = rng.rand(self.n_components, self.n_features)
            self.emissionprob_ = table / table.sum(axis=1, keepdims=True)

    def _check(self) -> None:
        super()._check()
        table = np.atleast_2d(np.asarray(self.emissionprob_, dtype=np.float64))
        known = vars(self).get("n_features")
        self.n_features = table.shape[1] if known is None else known
        shape = (self.n_components, self.n_features)
        self.emissionprob_ = _distributions("emissionprob_", table, shape)


@method(
    task="density",
    texts="000b 13.2-13.3 · 001 14.2 · 002 L6337-6556",
    use="Symbols that hidden states emit: to score, decode or simulate sequences of them.",
    avoid="Symbols that are not whole numbers, or missing: HiddenMarkovModel.",
    peers=("hmmlearn.hmm.CategoricalHMM",),
    takes="sequences",
    synonyms=("hmm", "hidden Markov model", "discrete HMM", "Baum-Welch"),
)
@shared_parameters(HMM_PARAMETERS)
class CategoricalHMM(EmissionTable):
    """Hidden Markov model of symbols 0, 1, 2 ..., as `hmmlearn.hmm.CategoricalHMM`.

    Use it for sequences of symbols that depend on a state which is not observed. Not for symbols
    with names, missing symbols or known states: `HiddenMarkovModel` has them.

    Parameters
    ----------
    startprob_prior, transmat_prior : float or array-like, default=1.0
        Parameters of the Dirichlet priors of ``startprob_`` and of the rows of ``transmat_``.
    emissionprob_prior : float or array-like, default=1.0
        Parameters of the Dirichlet priors of the rows of ``emissionprob_``.
    n_features : int, default=None
        Number of symbols; ``fit`` sets it to the largest symbol + 1 by default.
    tol : float, default=1e-2
        EM stops when an iteration raises the log-likelihood by less.
    params, init_params : str, default="ste"
        What EM updates and what is initialized first: "s" ``startprob_``, "t" ``transmat_``, "e"
        ``emissionprob_``.

    Attributes
    ----------
    startprob_ : ndarray of shape (n_components,)
    transmat_ : ndarray of shape (n_components, n_components)
    emissionprob_ : ndarray of shape (n_components, n_features)
    monitor_ : ConvergenceMonitor
    history_ : History
        Log-likelihood before each update.
    n_iter_ : int
        Iterations that were made.

    Notes
    -----
    X has one column of whole numbers. Texts: 000b 13.2-13.3, 001 14.2, 002 L6337-6556.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.sequence import CategoricalHMM
    >>> model = CategoricalHMM(2)
    >>> model.startprob_ = [0.6, 0.4]
    >>> model.transmat_ = [[0.7, 0.3], [0.4, 0.6]]
    >>> model.emissionprob_ = [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]
    >>> log_prob, states = model.decode([[0], [1], [2]])
    >>> round(float(np.exp(log_prob)), 5), states
    (0.01344, array([1, 0, 0]))
    """

    _parameter_constraints = BaseHMM._parameter_constraints | {
        "emissionprob_prior": PRIOR,
        "n_features": [whole(1), None],
    }

    def __init__(
        self,
        n_components=1,
        startprob_prior=1.0,
        transmat_prior=1.0,
        *,
        emissionprob_prior=1.0,
        n_features=None,
        algorithm="viterbi",
        random_state=None,
        n_iter=10,
        tol=1e-2,
        verbose=False,
        params="ste",
        init_params="ste",
        implementation="log",
    ):
        super().__init__(
            n_components,
            startprob_prior,
            transmat_prior,
            algorithm,
            random_state,
            n_iter,
            tol,
            verbose,
            params,
            init_params,
            implementation,
        )
        self.emissionprob_prior = emissionprob_prior
        self.n_features = n_features

    def _check_and_set_n_features(self, X: np.ndarray) -> None:
        if X.dtype.kind not in "iu":
            raise DataError(f"symbols must be whole numbers; X holds {X.dtype}")
        if X.min() < 0:
            raise DataError(f"symbols must not be negative; the smallest is {X.min()}")
        if self.n_features is None:
            self.n_features = int(X.max()) + 1
        elif X.max() >= self.n_features:
            raise DataError(
                f"the largest symbol is {X.max()}, but n_features={self.n_features} allows "
                f"symbols up to {self.n_features - 1}"
            )

    def _rows_of(self, X: Any, lengths: Any) -> tuple[np.ndarray, np.ndarray]:
        rows, bounds = super()._rows_of(X, lengths)
        if rows.shape[1] != 1:
            raise DataError(f"X has {rows.shape[1]} columns; symbols stand in one column, (n, 1)")
        return rows, bounds

    def _symbols(self, X: np.ndarray) -> np.ndarray:
        self._check_and_set_n_features(X)
        return X[:, 0].astype(np.int64)

    def _compute_log_likelihood(self, X: np.ndarray) -> np.ndarray:
        return self._symbol_logs()[self._symbols(X)]

    def _symbol_logs(self) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(self.emissionprob_.T)

    def _expect(self, rows: np.ndarray, bounds: np.ndarray) -> Posteriors:
        seen = self._symbols(rows)
        return posteriors(self.startprob_, self.transmat_, self._symbol_logs(), bounds, seen=seen)

    def _learn_emissions(self, rows: np.ndarray, weights: np.ndarray) -> None:
        if "e" not in self.params:
            return
        counts = np.zeros((self.n_features, self.n_components))
        recursions.sums_by_symbol(self._symbols(rows), np.ascontiguousarray(weights), counts)
        counts = np.maximum(np.asarray(self.emissionprob_prior) - 1 + counts.T, 0)
        self.emissionprob_ = _normalized(counts, self.emissionprob_)

    def _generate_sample_from_state(self, state: int, random_state: np.random.RandomState) -> Any:
        return [int((np.cumsum(self.emissionprob_[state]) > random_state.rand()).argmax())]


@method(
    task="density",
    texts="001 14.2.1",
    use="Counts of symbols in a fixed number of trials at every step, from hidden states.",
    avoid="One symbol at every step: CategoricalHMM.",
    peers=("hmmlearn.hmm.MultinomialHMM",),
    takes="sequences",
    synonyms=("hmm", "hidden Markov model"),
)
@shared_parameters(HMM_PARAMETERS)
class MultinomialHMM(EmissionTable):
    """Hidden Markov model of counts of symbols, as `hmmlearn.hmm.MultinomialHMM`.

    Use it where every step shows how often each symbol came up in a number of trials. Not for one
    symbol at every step: use `CategoricalHMM`.

    Parameters
    ----------
    n_trials : int or array-like of int, default=None
        Trials of each row; ``fit`` sets it to the sums of the rows by default.
    startprob_prior, transmat_prior : float or array-like, default=1.0
        Parameters of the Dirichlet priors of ``startprob_`` and of the rows of ``transmat_``.
    tol : float, default=1e-2
        EM stops when an iteration raises the log-likelihood by less.
    params, init_params : str, default="ste"
        What EM updates and what is initialized first: "s" ``startprob_``, "t" ``transmat_``, "e"
        ``emissionprob_``.

    Attributes
    ----------
    startprob_ : ndarray of shape (n_components,)
    transmat_ : ndarray of shape (n_components, n_components)
    emissionprob_ : ndarray of shape (n_components, n_features)
    n_features : int
        Number of symbols.
    monitor_ : ConvergenceMonitor
    history_ : History
        Log-likelihood before each update.
    n_iter_ : int
        Iterations that were made.

    Notes
    -----
    log p(x | k) = log n! - sum log x_j! + sum x_j log p_kj. Texts: 001 14.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.sequence import MultinomialHMM
    >>> X = np.array([[5, 0], [4, 1], [5, 0], [0, 5], [1, 4], [0, 5]])
    >>> states = MultinomialHMM(2, random_state=0).fit(X).predict(X)
    >>> len(set(states[:3])), len(set(states[3:]))
    (1, 1)
    """

    _parameter_constraints = BaseHMM._parameter_constraints | {
        "n_trials": [whole(0), "array-like", None]
    }

    def __init__(
        self,
        n_components=1,
        n_trials=None,
        startprob_prior=1.0,
        transmat_prior=1.0,
        algorithm="viterbi",
        random_state=None,
        n_iter=10,
        tol=1e-2,
        verbose=False,
        params="ste",
        init_params="ste",
        implementation="log",
    ):
        super().__init__(
            n_components,
            startprob_prior,
            transmat_prior,
            algorithm,
            random_state,
            n_iter,
            tol,
            verbose,
            params,
            init_params,
            implementation,
        )
        self.n_trials = n_trials

    def _check_and_set_n_features(self, X: np.ndarray) -> None:
        super()._check_and_set_n_features(X)
        if X.dtype.kind not in "iu" or X.min() < 0:
            raise DataError("counts of symbols must be whole numbers, 0 or more")
        if self.n_trials is None:
            self.n_trials = X.sum(axis=1)
        elif (X.sum(axis=1) != self.n_trials).any():
            raise DataError("the counts of every row must sum to its n_trials")

    def _check(self) -> None:
        super()._check()
        if self.n_trials is None:
            raise DataError("n_trials must be set, or fit must set it")

    def _compute_log_likelihood(self, X: np.ndarray) -> np.ndarray:
        constant = gammaln(X.sum(axis=1) + 1.0) - gammaln(X + 1.0).sum(axis=1)
        if (self.emissionprob_ > 0).all():
            return X @ np.log(self.emissionprob_).T + constant[:, None]
        terms = xlogy(X[:, None, :], self.emissionprob_[None, :, :])
        return terms.sum(axis=2) + constant[:, None]

    def _learn_emissions(self, rows: np.ndarray, weights: np.ndarray) -> None:
        if "e" in self.params:
            counts = inner(weights, np.ascontiguousarray(rows, dtype=np.float64))
            self.emissionprob_ = _normalized(counts, self.emissionprob_)

    def _generate_sample_from_state(self, state: int, random_state: np.random.RandomState) -> Any:
        trials = np.unique(self.n_trials)
        if len(trials) != 1:
            raise DataError("to draw samples, n_trials must be one number")
        return random_state.multinomial(int(trials[0]), self.emissionprob_[state])


@method(
    task="density",
    texts="001 14.2.1",
    use="Counts whose rates change with a hidden state: calls per hour, spikes, accidents.",
    avoid="Counts with missing cells: HiddenMarkovModel with PoissonEmission.",
    peers=("hmmlearn.hmm.PoissonHMM",),
    takes="sequences",
    synonyms=("hmm", "hidden Markov model", "Markov-modulated Poisson"),
)
@shared_parameters(HMM_PARAMETERS)
class PoissonHMM(BaseHMM):
    """Hidden Markov model of Poisson counts, as `hmmlearn.hmm.PoissonHMM`.

    Use it for series of counts whose rates change with a state which is not observed. Not for
    counts with missing cells: use `HiddenMarkovModel` with `PoissonEmission`.

    Parameters
    ----------
    startprob_prior, transmat_prior : float or array-like, default=1.0
        Parameters of the Dirichlet priors of ``startprob_`` and of the rows of ``transmat_``.
    lambdas_prior, lambdas_weight : float or array-like, default=0.0
        Shape and rate of the gamma prior of ``lambdas_``: counts and rows seen beforehand.
    tol : float, default=1e-2
        EM stops when an iteration raises the log-likelihood by less.
    params, init_params : str, default="stl"
        What EM updates and what is initialized first: "s" ``startprob_``, "t" ``transmat_``, "l"
        ``lambdas_``.

    Attributes
    ----------
    startprob_ : ndarray of shape (n_components,)
    transmat_ : ndarray of shape (n_components, n_components)
    lambdas_ : ndarray of shape (n_components, n_features)
        Rates.
    n_features : int
    monitor_ : ConvergenceMonitor
    history_ : History
        Log-likelihood before each update.
    n_iter_ : int
        Iterations that were made.

    Notes
    -----
    The prior counts against the weight of the rows of its own state; hmmlearn 0.3 counts it against
    all rows. Texts: 001 14.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.sequence import PoissonHMM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.poisson(np.repeat([2, 20], 40))[:, None]
    >>> model = PoissonHMM(2, random_state=0, n_iter=50).fit(X)
    >>> np.sort(model.lambdas_.ravel()).round()
    array([ 2., 21.])
    """

    _parameter_constraints = BaseHMM._parameter_constraints | {
        "lambdas_prior": PRIOR,
        "lambdas_weight": PRIOR,
    }
    _stored = {
        "lambdas_": Array("f8", ("n_components", "n_features")),
    }

    def __init__(
        self,
        n_components=1,
        startprob_prior=1.0,
        transmat_prior=1.0,
        lambdas_prior=0.0,
        lambdas_weight=0.0,
        algorithm="viterbi",
        random_state=None,
        n_iter=10,
        tol=1e-2,
        verbose=False,
        params="stl",
        init_params="stl",
        implementation="log",
    ):
        super().__init__(
            n_components,
            startprob_prior,
            transmat_prior,
            algorithm,
            random_state,
            n_iter,
            tol,
            verbose,
            params,
            init_params,
            implementation,
        )
        self.lambdas_prior = lambdas_prior
        self.lambdas_weight = lambdas_weight

    def _public(self) -> dict[str, Any]:
        return super()._public() | {"n_features": self.n_features}

    def _get_n_fit_scalars_per_param(self) -> dict[str, int]:
        free = self.n_components * self.n_features
        return super()._get_n_fit_scalars_per_param() | {"l": free}

    def _init(self, X: np.ndarray, lengths: Any = None) -> None:
        super()._init(X, lengths)
        if (X < 0).any() or (np.floor(X) != X).any():
            raise DataError("counts must be whole numbers, 0 or more")
        if self._needs_init("l", "lambdas_"):
            # a gamma distribution with the mean and variance of all counts
            mean, variance = max(float(X.mean()), 1e-3), max(float(X.var()), 1e-6)
            rng = check_random_state(self.random_state)
            shape = (self.n_components, self.n_features)
            self.lambdas_ = rng.gamma(mean**2 / variance, variance / mean, size=shape)

    def _check(self) -> None:
        super()._check()
        self.lambdas_ = np.atleast_2d(np.asarray(self.lambdas_, dtype=np.float64))
        known = vars(self).get("n_features", self.lambdas_.shape[1])
        if self.lambdas_.shape != (self.n_components, known):
            raise DataError(
                f"lambdas_ has shape {self.lambdas_.shape}; it must have shape "
                f"({self.n_components}, {known})"
            )
        if not (self.lambdas_ >= 0).all():
            raise DataError("lambdas_ holds negative rates")
        self.n_features = known

    def _compute_log_likelihood(self, X: np.ndarray) -> np.ndarray:
        if X.shape[1] != self.n_features:
            raise DataError(f"X has {X.shape[1]} columns, but the model has {self.n_features}")
        constant = self.lambdas_.sum(axis=1) + gammaln(X + 1.0).sum(axis=1)[:, None]
        if (self.lambdas_ > 0).all():
            return X @ np.log(self.lambdas_).T - constant
        return xlogy(X[:, None, :], self.lambdas_[None, :, :]).sum(axis=2) - constant

    def _learn_emissions(self, rows: np.ndarray, weights: np.ndarray) -> None:
        if "l" not in self.params:
            return
        mass = weights.sum(axis=0)[:, None] + np.asarray(self.lambdas_weight)
        counts = inner(weights, np.ascontiguousarray(rows, dtype=np.float64))
        counts = counts + np.asarray(self.lambdas_prior)
        self.lambdas_ = np.where(mass > 0, counts / np.where(mass > 0, mass, 1.0), self.lambdas_)

    def _generate_sample_from_state(self, state: int, random_state: np.random.RandomState) -> Any:
        return random_state.poisson(self.lambdas_[state])
