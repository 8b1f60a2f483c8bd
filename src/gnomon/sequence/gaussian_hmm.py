"""Hidden Markov models with normal emissions and with mixtures of normals, as in hmmlearn.

M-step with the priors of hmmlearn, gamma the probabilities of the states: mean_k = (means_weight
means_prior + sum gamma x) / (means_weight + sum gamma), and covariances in the same way from the
squares around the new means. Texts: 001 14.2.1, 14.2.4 · 002 L6496-6556.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import StrOptions, at_least, whole
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.sequence.base_hmm import HMM_PARAMETERS, PRIOR, BaseHMM, _distributions
from gnomon.sequence.emissions import (
    column_scatters,
    diagonal_normal_logs,
    full_normal_logs,
    scatters,
)

TYPES = ("spherical", "diag", "full", "tied")
REAL: list = [at_least(-np.inf), "array-like"]
JITTER = 1e-7  # added to a covariance that is not positive definite, as in hmmlearn
TINY = np.finfo(np.float64).tiny


@method(
    task="density",
    texts="000b 13.2-13.3 · 001 14.2 · 002 L6337-6556",
    use="Numbers that move between a few hidden regimes, each with a normal distribution.",
    avoid="Sequences with missing rows or known states: HiddenMarkovModel.",
    peers=("hmmlearn.hmm.GaussianHMM",),
    takes="sequences",
    synonyms=("hmm", "hidden Markov model", "regime switching", "Baum-Welch"),
)
@shared_parameters(HMM_PARAMETERS)
class GaussianHMM(BaseHMM):
    """Hidden Markov model with normal emissions, as `hmmlearn.hmm.GaussianHMM`.

    Use it to find regimes in a series of numbers, or to score and simulate such series. Not for
    sequences with missing rows, known states or several starts: `HiddenMarkovModel` has them.

    Parameters
    ----------
    covariance_type : {"spherical", "diag", "full", "tied"}, default="diag"
        One variance per state, one per state and column, one matrix per state, or one matrix.
    min_covar : float, default=1e-3
        Added to the variances that EM starts from.
    startprob_prior, transmat_prior : float or array-like, default=1.0
        Parameters of the Dirichlet priors of ``startprob_`` and of the rows of ``transmat_``.
    means_prior, means_weight : float or array-like, default=0
        Mean and precision of the normal prior of ``means_``.
    covars_prior : float or array-like, default=1e-2
        Scale of the inverse gamma ("spherical", "diag") or inverse Wishart prior of ``covars_``.
    covars_weight : float, default=1
        Its degrees of freedom.
    tol : float, default=1e-2
        EM stops when an iteration raises the log-likelihood by less.
    params, init_params : str, default="stmc"
        What EM updates and what is initialized first: "s" ``startprob_``, "t" ``transmat_``, "m"
        ``means_``, "c" ``covars_``.
    implementation : {"log", "scaling"}, default="log"
        Has no effect here: both use the scaled recursion, which turns to logarithms where it would
        underflow.

    Attributes
    ----------
    startprob_ : ndarray of shape (n_components,)
    transmat_ : ndarray of shape (n_components, n_components)
    means_ : ndarray of shape (n_components, n_features)
    covars_ : ndarray of shape (n_components, n_features, n_features)
        Full matrices for every `covariance_type`; to set it, give the shape of the type:
        (n_components,), (n_components, n_features), (n_components, n_features, n_features) or
        (n_features, n_features).
    n_features : int
    monitor_ : ConvergenceMonitor
    history_ : History
        Log-likelihood before each update.
    n_iter_ : int
        Iterations that were made.

    Notes
    -----
    Maximizes log p(X) plus the logarithms of the priors by EM. Texts: 000b 13.2-13.3, 001 14.2;
    their printed updates are corrected (see `HiddenMarkovModel`). A state that explains no row
    keeps its mean and covariance, where hmmlearn gives NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.sequence import GaussianHMM
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, 50), rng.normal(6, 1, 50)])[:, None]
    >>> model = GaussianHMM(2, random_state=0).fit(X)
    >>> states = model.predict(X)
    >>> bool(states[0] != states[-1]), len(set(states[:50]))
    (True, 1)
    """

    _parameter_constraints = BaseHMM._parameter_constraints | {
        "covariance_type": [StrOptions(set(TYPES))],
        "min_covar": [at_least(0)],
        "means_prior": REAL,
        "means_weight": PRIOR,
        "covars_prior": PRIOR,
        "covars_weight": [at_least(0)],
    }
    _stored = {
        "_covars_": Array(
            "f8",
            [("n_components",), (None, "n_features"), ("n_components", "n_features", "n_features")],
        ),
        "means_": Array("f8", ("n_components", "n_features")),
    }

    def __init__(
        self,
        n_components=1,
        covariance_type="diag",
        min_covar=1e-3,
        startprob_prior=1.0,
        transmat_prior=1.0,
        means_prior=0,
        means_weight=0,
        covars_prior=1e-2,
        covars_weight=1,
        algorithm="viterbi",
        random_state=None,
        n_iter=10,
        tol=1e-2,
        verbose=False,
        params="stmc",
        init_params="stmc",
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
        self.covariance_type = covariance_type
        self.min_covar = min_covar
        self.means_prior = means_prior
        self.means_weight = means_weight
        self.covars_prior = covars_prior
        self.covars_weight = covars_weight

    @property
    def covars_(self) -> np.ndarray:
        """Covariance matrices of the states, full ones for every `covariance_type`."""
        stored = self._covars_
        if self.covariance_type in ("spherical", "diag"):
            return _as_variances(stored, self.means_.shape)[:, :, None] * np.eye(
                self.means_.shape[1]
            )
        return np.broadcast_to(stored, (self.n_components, *stored.shape[-2:])).copy()

    @covars_.setter
    def covars_(self, covars: Any) -> None:
        self._covars_ = checked_covars(covars, self.covariance_type, self.n_components)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not hasattr(self, "_covars_"):
            return
        k, d = self.means_.shape
        shapes = {"spherical": [(k,), (k, d)], "diag": [(k, d)], "full": [(k, d, d)]}
        if self._covars_.shape not in shapes.get(self.covariance_type, [(d, d)]):
            raise ValueError("the covariances are not those of the states and columns")

    def _public(self) -> dict[str, Any]:
        return super()._public() | {"_covars_": self._covars_, "n_features": self.n_features}

    def _get_n_fit_scalars_per_param(self) -> dict[str, int]:
        k, d = self.n_components, self.n_features
        spread = {
            "spherical": k,
            "diag": k * d,
            "full": k * d * (d + 1) // 2,
            "tied": d * (d + 1) // 2,
        }
        return super()._get_n_fit_scalars_per_param() | {
            "m": k * d,
            "c": spread[self.covariance_type],
        }

    def _init(self, X: np.ndarray, lengths: Any = None) -> None:
        super()._init(X, lengths)
        if self._needs_init("m", "means_"):
            self.means_ = groups_of(X, self.n_components, self.random_state).cluster_centers_
        if self._needs_init("c", "covars_"):
            whole_cov = covariance_of(X, self.min_covar)
            k = self.n_components
            self._covars_ = {
                "spherical": lambda: np.full(k, whole_cov.mean()),
                "diag": lambda: np.tile(np.diag(whole_cov), (k, 1)),
                "full": lambda: np.tile(whole_cov, (k, 1, 1)),
                "tied": lambda: whole_cov,
            }[self.covariance_type]()

    def _check(self) -> None:
        super()._check()
        if self.covariance_type not in TYPES:
            raise DataError(
                f"covariance_type is one of {', '.join(TYPES)}, not {self.covariance_type!r}"
            )
        self.means_ = np.array(self.means_, dtype=np.float64)
        if self.means_.ndim != 2 or len(self.means_) != self.n_components:
            raise DataError(
                f"means_ has shape {self.means_.shape}; it must have {self.n_components} rows"
            )
        self.n_features = self.means_.shape[1]

    def _compute_log_likelihood(self, X: np.ndarray) -> np.ndarray:
        if X.shape[1] != self.means_.shape[1]:
            raise DataError(f"X has {X.shape[1]} columns, but the model has {self.means_.shape[1]}")
        if self.covariance_type in ("spherical", "diag"):
            variances = _as_variances(self._covars_, self.means_.shape)
            return diagonal_normal_logs(X, self.means_, np.maximum(variances, TINY))
        return full_normal_logs(X, self.means_, positive_definite(self.covars_))

    def _learn_emissions(self, rows: np.ndarray, weights: np.ndarray) -> None:
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        mass = weights.sum(axis=0)
        if "m" in self.params:
            total = self.means_weight * np.asarray(self.means_prior) + inner(weights, rows)
            self.means_ = _ratio(total, (self.means_weight + mass)[:, None], self.means_)
        if "c" in self.params:
            away = self.means_ - np.asarray(self.means_prior)
            if self.covariance_type in ("spherical", "diag"):
                self._learn_variances(rows, weights, mass, away)
            else:
                self._learn_matrices(rows, weights, mass, away)

    def _learn_variances(self, rows, weights, mass, away) -> None:
        squares, cells = np.zeros((2, *self.means_.shape))
        column_scatters(rows, weights, self.means_, squares, cells)
        squares += np.asarray(self.means_weight) * away**2 + self.covars_prior
        degrees = max(self.covars_weight - 1, 0) + mass
        found = squares / np.maximum(degrees, 1e-5)[:, None]  # hmmlearn's bound on the divisor
        self._covars_ = found.mean(axis=1) if self.covariance_type == "spherical" else found

    def _learn_matrices(self, rows, weights, mass, away) -> None:
        d = self.n_features
        products, masses = np.zeros((self.n_components, d, d)), np.zeros(self.n_components)
        scatters(rows, weights, self.means_, products, masses)
        products += np.asarray(self.means_weight) * away[:, :, None] * away[:, None, :]
        degrees = max(self.covars_weight - d, 0)
        if self.covariance_type == "tied":
            self._covars_ = (self.covars_prior + products.sum(axis=0)) / (degrees + mass.sum())
        else:
            self._covars_ = _ratio(
                self.covars_prior + products, (degrees + mass)[:, None, None], self._covars_
            )

    def _generate_sample_from_state(self, state: int, random_state: np.random.RandomState) -> Any:
        return random_state.multivariate_normal(self.means_[state], self.covars_[state])


@method(
    task="density",
    texts="001 14.2.4 · 002 L6496-6556",
    use="Numbers that move between hidden regimes, each a mixture of normal distributions.",
    avoid="Regimes that are single bells: GaussianHMM has fewer parameters.",
    peers=("hmmlearn.hmm.GMMHMM",),
    takes="sequences",
    synonyms=("hmm", "hidden Markov model", "mixture emissions"),
)
@shared_parameters(HMM_PARAMETERS)
class GMMHMM(BaseHMM):
    """Hidden Markov model whose states emit mixtures of normals, as `hmmlearn.hmm.GMMHMM`.

    Use it where the values of a regime have several modes or heavy tails. Not where one bell per
    state will do: `GaussianHMM` has fewer parameters and fewer local maxima.

    Parameters
    ----------
    n_mix : int, default=1
        Components of the mixture of each state.
    min_covar : float, default=1e-3
        Added to the variances that EM starts from.
    startprob_prior, transmat_prior, weights_prior : float or array-like, default=1.0
        Parameters of the Dirichlet priors of ``startprob_`` and of the rows of ``transmat_`` and
        ``weights_``.
    means_prior, means_weight : float or array-like, default=0.0
        Mean and precision of the normal prior of ``means_``.
    covars_prior, covars_weight : float or array-like, default=None
        Shape and scale of the inverse gamma prior ("spherical", "diag"), or scale matrix and
        degrees of freedom of the inverse Wishart prior; by default those that make the update the
        maximum of the likelihood.
    algorithm : {"viterbi", "map"}, default="viterbi"
        How `decode` and `predict` find states.
    covariance_type : {"spherical", "diag", "full", "tied"}, default="diag"
        Of every component: one variance, one variance per column, a matrix, or one matrix for all
        components of a state.
    tol : float, default=1e-2
        EM stops when an iteration raises the log-likelihood by less.
    params, init_params : str, default="stmcw"
        What EM updates and what is initialized first: "s" ``startprob_``, "t" ``transmat_``, "m"
        ``means_``, "c" ``covars_``, "w" ``weights_``.

    Attributes
    ----------
    startprob_ : ndarray of shape (n_components,)
    transmat_ : ndarray of shape (n_components, n_components)
    weights_ : ndarray of shape (n_components, n_mix)
    means_ : ndarray of shape (n_components, n_mix, n_features)
    covars_ : ndarray
        Of shape (n_components, n_mix), (n_components, n_mix, n_features), (n_components, n_mix,
        n_features, n_features) or (n_components, n_features, n_features), by `covariance_type`.
    n_features : int
    monitor_ : ConvergenceMonitor
    history_ : History
        Log-likelihood before each update.
    n_iter_ : int
        Iterations that were made.

    Notes
    -----
    Covariances are taken around the new means, so that EM never lowers the likelihood; hmmlearn
    takes them around the means before the update, and ends at the same maxima. Texts: 001 14.2.4.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.sequence import GMMHMM
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.choice([-3.0, 3.0], 60), np.zeros(60)])[:, None]
    >>> X += 0.3 * rng.normal(size=X.shape)
    >>> model = GMMHMM(2, n_mix=2, random_state=0).fit(X)
    >>> model.means_.shape
    (2, 2, 1)
    """

    _parameter_constraints = BaseHMM._parameter_constraints | {
        "n_mix": [whole(1)],
        "covariance_type": [StrOptions(set(TYPES))],
        "min_covar": [at_least(0)],
        "weights_prior": PRIOR,
        "means_prior": REAL,
        "means_weight": PRIOR,
        "covars_prior": [*REAL, None],
        "covars_weight": [*REAL, None],
    }
    _stored = {
        "covars_": Array(
            "f8",
            [
                ("n_components", "n_mix"),
                ("n_components", None, "n_features"),
                ("n_components", "n_mix", "n_features", "n_features"),
            ],
        ),
        "means_": Array("f8", ("n_components", "n_mix", "n_features")),
        "weights_": Array("f8", ("n_components", "n_mix"), low=0.0),
    }

    def __init__(
        self,
        n_components=1,
        n_mix=1,
        min_covar=1e-3,
        startprob_prior=1.0,
        transmat_prior=1.0,
        weights_prior=1.0,
        means_prior=0.0,
        means_weight=0.0,
        covars_prior=None,
        covars_weight=None,
        algorithm="viterbi",
        covariance_type="diag",
        random_state=None,
        n_iter=10,
        tol=1e-2,
        verbose=False,
        params="stmcw",
        init_params="stmcw",
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
        self.n_mix = n_mix
        self.min_covar = min_covar
        self.weights_prior = weights_prior
        self.means_prior = means_prior
        self.means_weight = means_weight
        self.covars_prior = covars_prior
        self.covars_weight = covars_weight
        self.covariance_type = covariance_type

    def _public(self) -> dict[str, Any]:
        return super()._public() | {"n_features": self.n_features}

    def _get_n_fit_scalars_per_param(self) -> dict[str, int]:
        k, m, d = self.n_components, self.n_mix, self.n_features
        spread = {
            "spherical": k * m,
            "diag": k * m * d,
            "full": k * m * d * (d + 1) // 2,
            "tied": k * d * (d + 1) // 2,
        }
        return super()._get_n_fit_scalars_per_param() | {
            "m": k * m * d,
            "c": spread[self.covariance_type],
            "w": k * (m - 1),
        }

    def _covars_shape(self) -> tuple[int, ...]:
        k, m, d = self.n_components, self.n_mix, self.n_features
        return {
            "spherical": (k, m),
            "diag": (k, m, d),
            "full": (k, m, d, d),
            "tied": (k, d, d),
        }[self.covariance_type]

    def _init(self, X: np.ndarray, lengths: Any = None) -> None:
        super()._init(X, lengths)
        if self._needs_init("w", "weights_"):
            self.weights_ = np.full((self.n_components, self.n_mix), 1 / self.n_mix)
        if self._needs_init("m", "means_"):
            self.means_ = self._first_means(X)
        if self._needs_init("c", "covars_"):
            spread = covariance_of(X, self.min_covar)
            first = {"spherical": spread.mean(), "diag": np.diag(spread)}
            values = first.get(self.covariance_type, spread)
            self.covars_ = np.broadcast_to(values, self._covars_shape()).copy()

    def _first_means(self, X: np.ndarray) -> np.ndarray:
        """Centers of `n_mix` groups within each of `n_components` groups of rows."""
        groups = groups_of(X, self.n_components, self.random_state).labels_
        rng = check_random_state(self.random_state)
        means = np.empty((self.n_components, self.n_mix, X.shape[1]))
        for k in range(self.n_components):
            rows = X[groups == k]
            if len(rows) >= self.n_mix:
                means[k] = groups_of(rows, self.n_mix, self.random_state).cluster_centers_
            else:  # too few rows for as many groups: points between pairs of them
                one, other = rows[rng.randint(len(rows), size=(2, self.n_mix))]
                means[k] = one + rng.rand(self.n_mix, 1) * (other - one)
        return means

    def _check(self) -> None:
        super()._check()
        if self.covariance_type not in TYPES:
            raise DataError(
                f"covariance_type is one of {', '.join(TYPES)}, not {self.covariance_type!r}"
            )
        k, m = self.n_components, self.n_mix
        self.weights_ = _distributions("weights_", self.weights_, (k, m))
        self.means_ = np.array(self.means_, dtype=np.float64)
        if self.means_.ndim != 3 or self.means_.shape[:2] != (k, m):
            raise DataError(
                f"means_ has shape {self.means_.shape}; it must have shape ({k}, {m}, n_features)"
            )
        self.n_features = self.means_.shape[2]
        self.covars_ = np.array(self.covars_, dtype=np.float64)
        if self.covars_.shape != self._covars_shape():
            raise DataError(
                f"covars_ has shape {self.covars_.shape}; for covariance_type="
                f"{self.covariance_type!r} it must have shape {self._covars_shape()}"
            )
        if self.covariance_type in ("spherical", "diag"):
            if (self.covars_ < 0).any():
                raise DataError("covars_ holds negative variances")
        else:
            refuse_indefinite(self.covars_.reshape(-1, *self.covars_.shape[-2:]), strictly=False)

    def _component_logs(self, X: np.ndarray) -> np.ndarray:
        """log of weight times density of every component, (n_samples, n_components, n_mix)."""
        k, m, d = self.means_.shape
        if X.shape[1] != d:
            raise DataError(f"X has {X.shape[1]} columns, but the model has {d}")
        means = self.means_.reshape(k * m, d)
        if self.covariance_type in ("spherical", "diag"):
            spread = (
                self.covars_[..., None] if self.covariance_type == "spherical" else self.covars_
            )
            variances = np.broadcast_to(spread, (k, m, d)).reshape(k * m, d)
            logs = diagonal_normal_logs(X, means, np.maximum(variances, TINY))
        else:
            each = self.covars_[:, None] if self.covariance_type == "tied" else self.covars_
            matrices = np.broadcast_to(each, (k, m, d, d)).reshape(k * m, d, d)
            logs = full_normal_logs(X, means, positive_definite(matrices))
        with np.errstate(divide="ignore"):
            return logs.reshape(len(X), k, m) + np.log(self.weights_)

    def _compute_log_likelihood(self, X: np.ndarray) -> np.ndarray:
        return logsumexp(self._component_logs(X), axis=2)

    def _priors(self) -> tuple[np.ndarray, np.ndarray]:
        """Parameters of the prior of the covariances, in the shapes of the update."""
        k, m, d = self.n_components, self.n_mix, self.n_features
        defaults = {
            "spherical": (-(d + 2) / 2, 0.0),
            "diag": (-1.5, 0.0),
            "full": (0.0, -(d + 2.0)),
            "tied": (0.0, -(m + d + 1.0)),
        }[self.covariance_type]
        shape = self._covars_shape()
        weight_shape = {"full": (k, m), "tied": (k,)}.get(self.covariance_type, shape)
        prior = defaults[0] if self.covars_prior is None else self.covars_prior
        weight = defaults[1] if self.covars_weight is None else self.covars_weight
        return np.broadcast_to(prior, shape), np.broadcast_to(weight, weight_shape)

    def _learn_emissions(self, rows: np.ndarray, weights: np.ndarray) -> None:
        logs = self._component_logs(rows)
        top = logs.max(axis=2, keepdims=True)
        shares = np.exp(logs - np.where(np.isfinite(top), top, 0.0))
        totals = shares.sum(axis=2, keepdims=True)
        shares *= weights[:, :, None] / np.where(totals > 0, totals, 1.0)
        mass = shares.sum(axis=0)
        k, m, d = self.means_.shape
        flat = shares.reshape(len(rows), k * m)
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        if "w" in self.params:
            counts = np.maximum(mass + np.asarray(self.weights_prior) - 1, 0)
            totals = counts.sum(axis=1, keepdims=True)
            self.weights_ = _ratio(counts, totals, self.weights_)
        precision = np.broadcast_to(self.means_weight, (k, m))[:, :, None]
        if "m" in self.params:
            total = precision * np.asarray(self.means_prior) + inner(flat, rows).reshape(k, m, d)
            self.means_ = _ratio(total, precision + mass[:, :, None], self.means_)
        if "c" in self.params:
            away = self.means_ - np.asarray(self.means_prior)
            if self.covariance_type in ("spherical", "diag"):
                self._learn_variances(rows, flat, mass, precision * away**2)
            else:
                products = away[..., :, None] * away[..., None, :]
                self._learn_matrices(rows, flat, mass, precision[..., None] * products)

    def _learn_variances(self, rows, flat, mass, from_means) -> None:
        k, m, d = self.means_.shape
        squares, cells = np.zeros((2, k * m, d))
        column_scatters(rows, flat, self.means_.reshape(k * m, d), squares, cells)
        squares = squares.reshape(k, m, d) + from_means
        shape, scale = self._priors()
        if self.covariance_type == "spherical":
            total, degrees = squares.sum(axis=2), d * (mass + 1) + 2 * (shape + 1)
        else:
            total, degrees = squares, mass[:, :, None] + 1 + 2 * (shape + 1)
        self.covars_ = _ratio(total + 2 * scale, degrees, self.covars_)

    def _learn_matrices(self, rows, flat, mass, from_means) -> None:
        k, m, d = self.means_.shape
        products, masses = np.zeros((k * m, d, d)), np.zeros(k * m)
        scatters(rows, flat, self.means_.reshape(k * m, d), products, masses)
        products = products.reshape(k, m, d, d) + from_means
        prior, freedom = self._priors()
        if self.covariance_type == "tied":
            total, degrees = products.sum(axis=1), mass.sum(axis=1) + m + freedom + d + 1
        else:
            total, degrees = products, mass + freedom + d + 2
        total = total + np.swapaxes(prior, -1, -2)
        self.covars_ = _ratio(total, degrees[..., None, None], self.covars_)

    def _generate_sample_from_state(self, state: int, random_state: np.random.RandomState) -> Any:
        which = random_state.choice(self.n_mix, p=self.weights_[state])
        spread = (
            self.covars_[state] if self.covariance_type == "tied" else self.covars_[state, which]
        )
        if self.covariance_type in ("spherical", "diag"):
            spread = spread * np.eye(self.n_features)
        return random_state.multivariate_normal(self.means_[state, which], spread)


def groups_of(X: np.ndarray, count: int, random_state: Any) -> Any:
    """k-means with ten starts, as hmmlearn begins; on one thread, because the rows are few."""
    from sklearn.cluster import KMeans

    with threadpool_limits(1):
        return KMeans(count, random_state=random_state, n_init=10).fit(X)


def covariance_of(X: np.ndarray, added: float) -> np.ndarray:
    """The covariance matrix of all rows, with a number added to its diagonal."""
    if len(X) < 2:
        raise DataError(f"{len(X)} row has no covariance; give more rows, or set covars_")
    return np.atleast_2d(np.cov(X.T)) + added * np.eye(X.shape[1])


def checked_covars(covars: Any, kind: str, n_components: int) -> np.ndarray:
    """Covariances in the shape of their type, or an error that says what is wrong."""
    found = np.array(covars, dtype=np.float64)
    if kind == "spherical":
        found = found.reshape(len(found), -1)
        if found.shape[0] != n_components or (found != found[:, :1]).any():
            raise DataError(f"'spherical' covars_ must have shape ({n_components},)")
        found = found[:, 0].copy()
    wanted = {"spherical": 1, "diag": 2, "full": 3, "tied": 2}.get(kind)
    if wanted is None:
        raise DataError(f"covariance_type is one of {', '.join(TYPES)}, not {kind!r}")
    if found.ndim != wanted or (kind != "tied" and len(found) != n_components):
        raise DataError(f"{kind!r} covars_ cannot have shape {found.shape}")
    if kind in ("spherical", "diag"):
        if not (found > 0).all():
            raise DataError(f"{kind!r} covars_ must be positive")
        return found
    if found.shape[-1] != found.shape[-2]:
        raise DataError(f"{kind!r} covars_ must hold square matrices, not shape {found.shape}")
    refuse_indefinite(found.reshape(-1, *found.shape[-2:]))
    return found


def refuse_indefinite(matrices: np.ndarray, strictly: bool = True) -> None:
    """Raise where a matrix is not symmetric or not positive (semi)definite."""
    for i, matrix in enumerate(matrices):
        if not np.allclose(matrix, matrix.T):
            raise DataError(f"covariance matrix {i} is not symmetric")
        least = np.linalg.eigvalsh(matrix)[0]
        if least < 0 or (strictly and least <= 0):
            raise DataError(f"covariance matrix {i} is not positive definite")


def positive_definite(matrices: np.ndarray) -> np.ndarray:
    """The matrices; those without a Cholesky root have `JITTER` added to their diagonal."""
    try:
        np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        matrices = matrices.copy()
        for i, matrix in enumerate(matrices):
            try:
                np.linalg.cholesky(matrix)
            except np.linalg.LinAlgError:
                matrices[i] += JITTER * np.eye(len(matrix))
        try:
            np.linalg.cholesky(matrices)
        except np.linalg.LinAlgError as error:
            raise DataError(
                "a covariance matrix is not positive definite; use covariance_type='diag', more "
                "rows, or a larger covars_prior"
            ) from error
    return matrices


def _as_variances(stored: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Variances of every state and column, from one per state or one per column."""
    return np.broadcast_to(stored[:, None] if stored.ndim == 1 else stored, shape)


def _ratio(total: np.ndarray, mass: np.ndarray, old: np.ndarray) -> np.ndarray:
    """Totals divided by their masses; the old values where nothing weighs."""
    there = np.broadcast_to(mass > 0, total.shape)
    return np.where(there, total / np.where(mass > 0, mass, 1.0), old)
