"""Gaussian mixture: a density that is a weighted sum of normal densities, fitted by EM.

Maximises  sum_i w_i log sum_k pi_k N(x_i; mu_k, Sigma_k)  by turns: the E-step gives every row to
the components in the shares of their posterior probability, the M-step fits every component to its
shares. The likelihood never falls; the end is a local maximum.

Texts: 000 9.1-9.2 (known covariance) · 001 18.3 · 002 "Gaussian mixtures" · 003 2.9.3 · 004 12.3.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.starts import STARTS, SurveyedData
from gnomon.contract import Data, DensityEstimator, Step, SumLearner, Takes
from gnomon.contract.inert import without_effect
from gnomon.density.covariance import FORMS, CollapseError, Form, factorized
from gnomon.density.draws import as_generator
from gnomon.density.expectation import (
    Components,
    add_missing_covariances,
    add_missing_variances,
    add_squares,
    blocks,
    complete_pass,
    give_to_best,
    rows_per_block,
    share_out,
    weigh,
)
from gnomon.engine.errors import DataError
from gnomon.engine.history import History
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import (
    FLAG,
    HISTORY,
    JOBS,
    SEED,
    StrOptions,
    Words,
    above,
    at_least,
    meant,
    whole,
)
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.renamed import former_parameters
from gnomon.engine.stored import Array, Flag, ListOf, Number, Optional
from gnomon.engine.sums import Chunk, Source, add_up, rows_per_chunk
from gnomon.engine.threads import one_blas_thread, resolve_jobs

NOTHING = 10 * np.finfo(np.float64).eps
# Share of a column's deviation below which a component's is rounding error: the likelihood of
# narrower components was measured to fall between steps.
NARROWEST = 1e5 * np.finfo(np.float64).eps
INITS = Words(
    ("kmeans", "k-means++", "random", "random_from_data", "uniform"),
    {"k-means": "kmeans", "random-rows": "random_from_data"},
)
STARTING_MEANS = {"random": "random-partition", "random_from_data": "random-rows"}


class MomentSums(NamedTuple):
    """Per component weight, first and second whitened moment; log-likelihood; all weight."""

    weight: np.ndarray
    first: np.ndarray
    second: np.ndarray
    log_likelihood: float
    rows: float


class ColumnSums(NamedTuple):
    """Per column: weight of the observed cells, their sum and sum of squares; all weight."""

    observed: np.ndarray
    total: np.ndarray
    squares: np.ndarray
    rows: float


class Survey(NamedTuple):
    """Means and variances of the observed cells of each column, and whether cells are missing."""

    means: np.ndarray
    variances: np.ndarray
    gaps: bool


class FilledSource:
    """A source whose missing cells are filled with the columns' means, for the start only.

    Rows without any value weigh nothing: all of them would lie on the mean, which may be as far
    from one centre as from another.

    Parameters
    ----------
    source : Source
    means : ndarray of shape (n_columns,)
    """

    def __init__(self, source: Source, means: np.ndarray):
        self.source = source
        self.means = means
        self.n_rows = source.n_rows
        self.n_columns = source.n_columns
        self.weighted = True

    def chunks(self) -> Iterator[Chunk]:
        for chunk in self.source.chunks():
            missing = np.isnan(chunk.rows)
            yield chunk._replace(
                rows=np.where(missing, self.means, chunk.rows),
                weights=np.where(missing.all(axis=1), 0.0, chunk.weights),
                weighted=True,
            )


@method(
    task="density",
    texts='000b 9.1-9.2 · 001 18.3 · 002 "EM for Gaussian mixtures" · 003 2.9.3 · 004 12.3',
    use="A density with several bumps, soft groups with shapes, numeric tables with missing cells.",
    avoid="Many columns and few rows (take diagonal covariances); columns that are not continuous.",
    peers=("sklearn.mixture.GaussianMixture",),
)
@former_parameters(init="init_params")
@without_effect("verbose", "verbose_interval")
class GaussianMixture(DensityEstimator, SumLearner):
    """A density that is a weighted sum of normal densities, fitted by expectation-maximisation.

    Maximises ``sum_i w_i log sum_k pi_k N(x_i; mu_k, Sigma_k)``. Missing cells are integrated out,
    in ``fit`` and in every prediction: a row counts by the density of its observed cells, and the
    M-step uses the conditional expectations of the missing ones and of their products. That is the
    maximum likelihood estimate where cells are missing at random; nothing is imputed.

    Use it for a density with several bumps, for soft groups that have shapes, for outliers
    (`score_samples`). Do not use it with many columns and few rows: a full covariance has d(d+1)/2
    numbers per component. EM finds a local maximum: start several times (`n_init`) and compare
    ``ends_``. The likelihood is unbounded when a component shrinks to a point; `reg_covar`
    prevents it.

    Parameters
    ----------
    n_components : int, default=1
        Number of components.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        A matrix per component; one matrix for all; variances per component and column; a variance
        per component.
    tol : float, default=1e-3
        Ends when the mean log-likelihood per row changes by less.
    reg_covar : float, default=1e-6
        Added to every estimated variance.
    max_iter : int, default=100
        Most passes of one start.
    n_init : int, default=1
        Number of starts, of which the one with the highest likelihood is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data", "uniform"}, \
            default="kmeans"
        The start. "kmeans": weights, means and covariances of the groups that `KMeans` finds (000
        9.2.5). "k-means++": of the groups around its first centres. "random_from_data": means at
        random rows, the variances of the columns, equal weights; "random": the same with the means
        of random groups. "uniform": means uniform in the range of each column, unit covariances,
        equal weights (001). Missing cells are filled with the columns' means for the start only.
    weights_init : array-like of shape (n_components,) or None, default=None
        First weights.
    means_init : array-like of shape (n_components, n_columns) or None, default=None
        First means.
    precisions_init : array-like or None, default=None
        Inverses of the first covariances, in the shape of ``covariances_``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the start and of `sample`.
    warm_start : bool, default=False
        Whether a further ``fit`` starts from the result of the last, once.
    covariance : "estimate", float or array-like, default="estimate"
        The known covariance, where only means and weights are to be estimated (000 9.2): a number
        times the identity, or an array of the shape of ``covariances_``; one matrix (or one row of
        variances) stands for all components.
    n_jobs : int or None, default=None
        Threads; None for one per processor. The result does not depend on it.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps weights, means and covariances of every pass in ``history_.states``.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Weights of the components; their sum is 1.
    means_ : ndarray of shape (n_components, n_columns)
        Means of the components.
    covariances_ : ndarray
        Of shape (n_components, n_columns, n_columns) for "full", (n_columns, n_columns) for "tied",
        (n_components, n_columns) for "diag", (n_components,) for "spherical".
    precisions_ : ndarray
        Inverses of the covariances, in the same shape.
    precisions_cholesky_ : ndarray
        Factors P of the precisions, ``P @ P.T``, in the same shape; upper triangular.
    converged_ : bool
        Whether the best start ended by `tol`.
    lower_bound_ : float
        Mean log-likelihood per row at the last pass of the best start.
    lower_bounds_ : list of float
        The same at each pass of the best start.
    ends_ : ndarray of shape (n_init,)
        Mean log-likelihood per row at the last pass of every start.
    n_iter_ : int
        Passes of the best start.
    history_ : History
        The mean log-likelihood per row at each pass: of the components that the pass began with.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    gnomon.cluster.KMeans : Hard groups around centres, much cheaper.

    Notes
    -----
    Of float32 rows, fitted arrays, probabilities and densities are float32 too, as in scikit-learn;
    sums are accumulated, and factors of matrices computed, in float64.

    Texts: 000 9.1-9.2 (known covariance, underflow-safe weights), 001 18.3 (one and several
    dimensions), 002 "Gaussian mixtures" (restarts by likelihood; collapse), 003 2.9.3, 004 12.3.
    Different from the texts: it ends on the likelihood rather than on the movement of means (001),
    the best start is the one of highest likelihood rather than Q (000 9.2.5), and the bound that
    002 prints for EM, which fails where densities exceed 1, is not used.

    Why it is fast: with diagonal covariances rows are taken abreast and are never stored whitened;
    with one matrix for all components they are whitened once. Else rows are whitened by one matrix
    product per component and block that stays in cache, and the moments are summed in those
    whitened coordinates by a symmetric product of half the cost.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.density import GaussianMixture
    >>> rows = [[0.0], [0.2], [np.nan], [5.0], [5.2]]
    >>> model = GaussianMixture(2, random_state=0).fit(rows)
    >>> np.sort(model.means_.ravel()).round(2)
    array([0.1, 5.1])
    """

    natively = Takes(missing=True, float32=True)
    _always_float64 = ("ends_",)
    _parameter_constraints = {
        "n_components": [whole(1)],
        "covariance_type": [StrOptions(set(FORMS))],
        "tol": [at_least(0)],
        "reg_covar": [at_least(0)],
        "max_iter": [whole(1)],
        "n_init": [whole(1)],
        "init_params": [INITS],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "precisions_init": ["array-like", None],
        "random_state": SEED,
        "warm_start": FLAG,
        "covariance": [StrOptions({"estimate"}), above(0), "array-like"],
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }
    _stored = {
        "converged_": Flag(),
        "covariances_": Array(
            "f",
            [(None,), ("n_covariances", "n_columns"), ("n_components", "n_columns", "n_columns")],
        ),
        "ends_": Optional(Array("f8", ("n_init",))),
        "lower_bound_": Number(),
        "lower_bounds_": Optional(ListOf(Number(), "n_iter_")),
        "means_": Array("f", ("n_components", "n_columns")),
        "precisions_": Array(
            "f",
            [(None,), ("n_covariances", "n_columns"), ("n_components", "n_columns", "n_columns")],
        ),
        "precisions_cholesky_": Array(
            "f",
            [(None,), ("n_covariances", "n_columns"), ("n_components", "n_columns", "n_columns")],
        ),
        "weights_": Array("f", ("n_components",), low=0.0),
    }

    def __init__(
        self,
        n_components=1,
        *,
        covariance_type="full",
        tol=1e-3,
        reg_covar=1e-6,
        max_iter=100,
        n_init=1,
        init_params="kmeans",
        weights_init=None,
        means_init=None,
        precisions_init=None,
        random_state=None,
        warm_start=False,
        verbose=0,
        verbose_interval=10,
        covariance="estimate",
        n_jobs=None,
        keep_history="objective",
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.covariance = covariance
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    @property
    def _goes_on(self) -> bool:
        """Whether the fit starts from the result of the last."""
        return self.warm_start and hasattr(self, "converged_")

    def _starts(self) -> int:
        return 1 if self._goes_on else self.n_init

    @property
    def _estimates_covariance(self) -> bool:
        return isinstance(self.covariance, str)

    def _form(self, n_columns: int) -> Form:
        return FORMS[self.covariance_type](self.n_components, n_columns)

    def _fit(self, data: Data) -> None:
        if data.n_rows < self.n_components:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, "
                f"n_samples = {data.n_rows}; use fewer components"
            )
        self.ends_ = np.empty(0)
        super()._fit(data)

    def _run(self, data: Data, rng: np.random.Generator) -> tuple[Any, History]:
        with one_blas_thread():  # waking threads for d x d matrices takes longer than the work
            state, history = super()._run(data, rng)
        self.ends_ = np.append(self.ends_, history[-1])
        return state, history

    def _start(self, data: Data, rng: np.random.Generator) -> dict[str, Any]:
        survey = self._survey(data)
        form = self._form(data.n_columns)
        if self._goes_on and self.means_.shape == (form.k, form.d):
            return self._state(*self._in_double(), survey, form)
        weights, means, covariances = self._given_start(form)
        if weights is None or means is None or covariances is None:
            found = self._started(data, survey, form, means, rng)
            given = (weights, means, covariances)
            weights, means, covariances = (
                one if other is None else other for one, other in zip(found, given)
            )
        return self._state(weights, means, covariances, survey, form)

    def _survey(self, data: Data) -> Survey:
        zero = np.zeros(data.n_columns)
        sums = add_up(partial(column_sums, zero), data.source, self.n_jobs)
        if (sums.observed == 0).any():
            column = int(np.argmin(sums.observed))
            raise DataError(
                f"column {data.columns.names[column]!r} has no value in any row; leave it out"
            )
        means = sums.total / sums.observed
        about = add_up(partial(column_sums, means), data.source, self.n_jobs)
        gaps = bool((sums.observed < sums.rows).any())
        return Survey(means, about.squares / about.observed, gaps)

    def _given_start(self, form: Form) -> tuple:
        """First weights, means and covariances where the user gives them."""
        weights = self._array("weights_init", (form.k,))
        if weights is not None and ((weights < 0).any() or abs(weights.sum() - 1) > 1e-6):
            raise ValueError("weights_init must be zero or more and add up to 1")
        means = self._array("means_init", (form.k, form.d))
        if not self._estimates_covariance:
            return weights, means, self._known_covariance(form)
        precisions = self._array("precisions_init", form.shape)
        covariances = None
        if precisions is not None:
            try:
                covariances = form.inverted(precisions)
                factorized(form.expanded(covariances))
            except (CollapseError, np.linalg.LinAlgError) as error:
                raise ValueError("precisions_init must be positive definite") from error
        return weights, means, covariances

    def _array(self, name: str, shape: tuple[int, ...]) -> np.ndarray | None:
        value = getattr(self, name)
        if value is None:
            return None
        array = np.array(value, dtype=np.float64)
        if array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape}; it should have {shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds numbers that are missing or infinite")
        return array

    def _known_covariance(self, form: Form) -> np.ndarray:
        value = np.array(self.covariance, dtype=np.float64)
        if value.ndim == 0:
            value = form.of_number(float(value))
        elif value.shape == form.shape[1:]:
            value = np.broadcast_to(value, form.shape).copy()
        if value.shape != form.shape:
            raise ValueError(
                f"covariance has shape {value.shape}; for covariance_type="
                f"{self.covariance_type!r} it should be a number or have shape {form.shape}"
            )
        own = form.expanded(value)
        if own.ndim == 3 and not np.allclose(own, np.swapaxes(own, 1, 2), rtol=1e-10, atol=0):
            raise ValueError("covariance must be symmetric")
        try:
            factorized(own)
        except CollapseError as error:
            raise ValueError(f"covariance must be positive definite: {error}") from error
        return value

    def _started(self, data: Data, survey: Survey, form: Form, means, rng) -> tuple:
        """Weights, means and covariances to start from."""
        equal = np.full(form.k, 1.0 / form.k)
        if means is None:
            source = FilledSource(data.source, survey.means) if survey.gaps else data.source
            filled = SurveyedData.of(Data(source, data.columns), self.n_jobs)
            means = self._first_means(filled, rng)
            start = meant(self, "init_params")
            if start == "uniform":
                return equal, means, form.of_number(1.0)
            if start in STARTING_MEANS:
                variances = survey.variances + self.reg_covar
                return equal, means, form.of_variances(variances)
        unit = self._state(equal, means, form.of_number(1.0), survey, form) | {"hard": True}
        grouped = self._update(unit, self._total(unit, data.source)).state
        return grouped["weights"], grouped["means"], grouped["covariances"]

    def _first_means(self, data: SurveyedData, rng: np.random.Generator) -> np.ndarray:
        start = meant(self, "init_params")
        if start != "kmeans":
            return STARTS[STARTING_MEANS.get(start, start)](data, self.n_components, rng)
        groups = KMeans(self.n_components, n_jobs=self.n_jobs)
        state, _ = groups._run(data, rng)
        return groups._attributes(state)["cluster_centers_"]

    def _state(self, weights, means, covariances, survey: Survey, form: Form) -> dict[str, Any]:
        try:
            roots, factors = factorized(form.expanded(covariances))
        except CollapseError as error:
            raise ValueError(self._collapse_message(error.component, weights)) from error
        return {
            "weights": weights,
            "means": means,
            "covariances": covariances,
            "roots": roots,
            "factors": factors,
            "components": Components.of(weights, means, factors, survey.means),
            "survey": survey,
            "form": form,
            "hard": False,
            "objective": -np.inf,
        }

    def _collapse_message(self, component: int, weights: np.ndarray) -> str:
        return (
            f"Fitting the mixture model failed: the covariance of component {component} (weight "
            f"{weights[component]:.3g}) has collapsed, as its rows lie in fewer dimensions than "
            f"there are columns. Use fewer components than n_components={self.n_components}, "
            f"raise reg_covar={self.reg_covar:g}, or take covariance_type='diag'"
        )

    def _sums(self, state: dict[str, Any], chunk: Chunk) -> MomentSums:
        components: Components = state["components"]
        if not state["survey"].gaps and self.covariance_type == "tied":
            return tied_sums(components, chunk, state["hard"])
        if not state["survey"].gaps and components.factors.ndim == 2:
            return diagonal_sums(components, chunk, state["hard"])
        k, d = components.centers.shape
        dense = components.factors.ndim == 3
        weight, first = np.zeros(k), np.zeros((k, d))
        second = np.zeros((k, d, d) if dense else (k, d))
        log_likelihood = 0.0
        share = give_to_best if state["hard"] else share_out
        for block in blocks(chunk.rows, components, state["survey"].gaps):
            shares, roots = np.empty(block.logs.shape), np.empty(block.logs.shape)
            log_density = np.empty(len(block.positions))
            share(block.logs, shares, log_density)
            weigh(shares, chunk.weights, block.positions, weight, roots, block.whitened)
            first += np.matmul(roots[:, None, :], block.whitened)[:, 0]
            if dense:
                second += np.matmul(block.whitened.transpose(0, 2, 1), block.whitened)
            else:
                add_squares(block.whitened, second)
            if len(block.absent) and dense:
                add_missing_covariances(components.factors, block.absent, roots, second)
            elif len(block.absent):
                add_missing_variances(block.absent, roots, second)
            log_likelihood += float(chunk.weights[block.positions] @ log_density)
        return MomentSums(weight, first, second, log_likelihood, float(chunk.weights.sum()))

    def _update(self, state: dict[str, Any], total: MomentSums) -> Step:
        form: Form = state["form"]
        held = total.weight > NOTHING * total.rows
        weight = np.where(held, total.weight, 0.0)
        each = np.where(held, weight, 1.0)[:, None]
        mean = np.where(held[:, None], total.first / each, 0.0)
        means = state["means"] + unwhitened(mean, state["roots"])
        covariances = state["covariances"]
        if self._estimates_covariance:
            own = own_covariances(total.second, each, mean, state["roots"])
            covariances = form.regularized(form.pooled(own, weight), self.reg_covar)
            if not held.all() and self.covariance_type != "tied":
                covariances = np.where(
                    held.reshape((-1,) + (1,) * (covariances.ndim - 1)),
                    covariances,
                    state["covariances"],
                )
        objective = total.log_likelihood / total.rows
        following = self._state(weight / weight.sum(), means, covariances, state["survey"], form)
        following["objective"] = objective
        if self._estimates_covariance and self.reg_covar == 0:
            self._refuse_narrow(following)
        return Step(following, objective, abs(objective - state["objective"]) < self.tol)

    def _refuse_narrow(self, state: dict[str, Any]) -> None:
        """Raise where a component shrinks onto one row, towards an infinite likelihood.

        With missing cells its variance falls by a factor in each step and never is zero.
        """
        roots = state["roots"]
        deviations = roots if roots.ndim == 2 else np.diagonal(roots, axis1=1, axis2=2)
        narrow = deviations < NARROWEST * np.sqrt(state["survey"].variances)
        if narrow.any():
            component = int(narrow.any(axis=1).argmax())
            raise ValueError(self._collapse_message(component, state["weights"]))

    def _better(self, one: History, other: History) -> bool:
        return one[-1] > other[-1]

    def _attributes(self, state: dict[str, Any]) -> dict[str, Any]:
        form: Form = state["form"]
        return {
            "weights_": state["weights"],
            "means_": state["means"],
            "covariances_": state["covariances"],
            "precisions_": form.inverted(state["covariances"]),
            "precisions_cholesky_": form.contracted(state["factors"]),
        }

    def _replayable(self, state: dict[str, Any]) -> dict[str, Any]:
        return {name: np.array(state[name]) for name in ("weights", "means", "covariances")}

    def _end(self, state: dict[str, Any], data: Data) -> None:
        self.lower_bound_ = self.history_[-1]
        self.lower_bounds_ = list(self.history_)
        self.converged_ = self.history_.stopped == "converged"
        warn_lost(self.weights_)
        if self.history_.stopped == "max_iter":
            warnings.warn(
                "Best performing initialization did not converge. Try different init parameters, "
                "or increase max_iter, tol, or check for degenerate data "
                f"(max_iter={self.max_iter}, tol={self.tol:g}, mean log-likelihood "
                f"{self.lower_bound_:.6g}).",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _in_double(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights, means and covariances in float64, which of float32 rows are stored as float32.

        Covariances come from their factors then: rounded, a matrix of columns that nearly depend on
        each other need not be positive definite.
        """
        weights, means = (
            np.asarray(each, dtype=np.float64) for each in (self.weights_, self.means_)
        )
        if self.covariances_.dtype == np.float64:
            return weights, means, self.covariances_
        form = self._form(means.shape[1])
        factors = form.expanded(self.precisions_cholesky_).astype(np.float64)
        if factors.ndim == 2:
            return weights, means, form.contracted(1 / factors**2)
        roots = np.linalg.inv(factors)
        return weights, means, form.contracted(roots.transpose(0, 2, 1) @ roots)

    def _components(self) -> Components:
        weights, means, _ = self._in_double()
        factors = self._form(means.shape[1]).expanded(self.precisions_cholesky_)
        return Components.of(weights, means, factors.astype(np.float64), weights @ means)

    def _shares(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Posterior shares (n, K) and log density of each row."""
        shares = np.empty((len(rows), len(self.weights_)))
        log_density = np.empty(len(rows))
        for block in blocks(rows, self._components(), bool(np.isnan(rows).any())):
            some, logs = np.empty(block.logs.shape), np.empty(len(block.positions))
            share_out(block.logs, some, logs)
            shares[block.positions] = some.T
            log_density[block.positions] = logs
        return shares, log_density

    def _log_density(self, rows: np.ndarray) -> np.ndarray:
        return self._shares(rows)[1]

    def predict_proba(self, X) -> np.ndarray:
        """Posterior probability of each component, for each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        proba : ndarray of shape (n_samples, n_components)
        """
        return self._each_block(lambda rows: self._shares(rows)[0], X)

    def predict(self, X) -> np.ndarray:
        """The likeliest component of each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self._each_block(lambda rows: self._shares(rows)[0].argmax(axis=1), X)

    def fit_predict(self, X, y=None, sample_weight=None) -> np.ndarray:
        """Fit the mixture and give the likeliest component of each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : None
            Not used.
        sample_weight : array-like, default=None

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self.fit(X, y, sample_weight=sample_weight).predict(X)

    def sample(self, n_samples=1, random_state=None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows from the mixture.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState, Generator or None, default=None
            None for the estimator's own.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_columns)
            In the order of the components.
        labels : ndarray of shape (n_samples,)
            The component of each row.
        """
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(f"Invalid value for 'n_samples': {n_samples}; it must be at least 1")
        rng = self._rng() if random_state is None else as_generator(random_state)
        form = self._form(self.means_.shape[1])
        weights, means, covariances = self._in_double()
        roots, _ = factorized(form.expanded(covariances))
        counts = rng.multinomial(n_samples, weights / weights.sum())
        labels = np.repeat(np.arange(len(counts)), counts)
        normal = rng.standard_normal((n_samples, form.d))
        drawn = [
            mean + unwhitened(normal[labels == k][:, None, :], roots[k][None])[:, 0]
            for k, mean in enumerate(means)
        ]
        return np.concatenate(drawn), labels

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters: weights, means, and covariances where they are estimated."""
        form = self._form(self.means_.shape[1])
        covariances = form.n_parameters if self._estimates_covariance else 0
        return covariances + form.k * form.d + form.k - 1

    def aic(self, X) -> float:
        """Akaike's criterion on these rows, ``-2 log L + 2 p``; the lower the better.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        aic : float
        """
        logs = self.score_samples(X).sum(dtype=np.float64)
        return -2 * float(logs) + 2 * self.n_parameters_

    def bic(self, X) -> float:
        """Schwarz's (Bayesian) criterion on these rows, ``-2 log L + p log n``; lower is better.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        bic : float
        """
        logs = self.score_samples(X)
        fit = -2 * float(logs.sum(dtype=np.float64))
        return fit + self.n_parameters_ * float(np.log(len(logs)))

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        threads = resolve_jobs(self.n_jobs)
        k, d = self.n_components, n_columns
        chunk = min(rows_per_chunk(d), n_rows)
        block = min(rows_per_block(k, d), n_rows)
        dense = self.covariance_type in ("full", "tied")
        moments = k * d * (d if dense else 1)
        passing = threads * (k * block * (d + 3) + 4 * chunk + 2 * chunk * d + 5 * moments)
        start = 0
        if self.means_init is None and k > 1:
            start = KMeans(k, n_jobs=self.n_jobs)._working_memory(n_rows, d)
        return max(8 * (passing + 12 * moments), start)

    def _memory_remedy(self) -> str:
        return "Stream the rows with gnomon.table.scan, or take covariance_type='diag'."

    def _check_loaded(self) -> None:
        if not hasattr(self, "means_"):
            return
        encoder = getattr(self, "encoder_", None)
        d = self.n_features_in_ if encoder is None else len(encoder.columns)
        form = self._form(d)
        for name, shape in (
            ("weights_", (form.k,)),
            ("means_", (form.k, d)),
            ("covariances_", form.shape),
            ("precisions_cholesky_", form.shape),
        ):
            array = getattr(self, name)
            if array.shape != shape or array.dtype not in (np.float64, np.float32):
                raise ValueError(f"{name} does not fit {form.k} components of {d} columns")


def column_sums(shift: np.ndarray, chunk: Chunk) -> ColumnSums:
    """Sums of the observed cells of each column, less a shift."""
    d = len(shift)
    weight, total, squares = np.zeros(d), np.zeros(d), np.zeros(d)
    add_observed(chunk.rows, chunk.weights, shift, weight, total, squares)
    return ColumnSums(weight, total, squares, float(chunk.weights.sum()))


@kernel("f8[:,:]", "f8[:]", "f8[:]", "out f8[:]", "out f8[:]", "out f8[:]")
def add_observed(rows, weights, shift, weight, total, squares):
    """Add up weights, values less the shift and their squares where cells are not missing.

    rows (n, d), weights (n,), the others (d,).
    """
    n, d = rows.shape
    for i in range(n):
        for j in range(d):
            value = rows[i, j] - shift[j]
            known = value == value
            share = weights[i] if known else 0.0
            value = value if known else 0.0
            weight[j] += share
            total[j] += share * value
            squares[j] += share * value * value


def diagonal_sums(components: Components, chunk: Chunk, hard: bool) -> MomentSums:
    """The sums of a chunk without gaps, for diagonal covariances."""
    k, d = components.centers.shape
    weight, first, second = np.zeros(k), np.zeros((k, d)), np.zeros((k, d))
    log_likelihood = complete_pass(
        chunk.rows, chunk.weights, *components, hard, weight, first, second, np.empty((0, k))
    )
    scale = components.factors
    return MomentSums(
        weight, first * scale, second * scale**2, log_likelihood, float(chunk.weights.sum())
    )


def tied_sums(components: Components, chunk: Chunk, hard: bool) -> MomentSums:
    """The sums of a chunk without gaps, for one covariance matrix of all components.

    Rows are whitened once, for all components. With m the mean of the centres c by a row's shares s

        sum_k s_k (y - c_k)(y - c_k)' = (y - m)(y - m)' + 1/2 sum_kl s_k s_l (c_k - c_l)(c_k - c_l)'

    which has no difference of large numbers, and takes one product of matrices for all components.
    """
    k, d = components.centers.shape
    factor = components.factors[0, :d]
    rows = np.dot(chunk.rows - components.shift, factor)
    centers = np.dot(components.centers, factor)
    weight, first, unused = np.zeros(k), np.zeros((k, d)), np.zeros((k, d))
    shares = np.empty((len(rows), k))
    log_likelihood = complete_pass(
        rows,
        chunk.weights,
        np.zeros(d),
        centers,
        np.ones((k, d)),
        components.constants,
        hard,
        weight,
        first,
        unused,
        shares,
    )
    roots = np.sqrt(chunk.weights)[:, None]
    rows -= np.dot(shares, centers)
    rows *= roots
    shares *= roots
    second = inner(rows, rows)
    one, other = np.triu_indices(k, 1)
    apart = centers[one] - centers[other]
    second += inner(apart, inner(shares, shares)[one, other][:, None] * apart)
    parts = weight / weight.sum()
    return MomentSums(
        weight, first, parts[:, None, None] * second, log_likelihood, float(chunk.weights.sum())
    )


def unwhitened(y: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """x - mean of whitened y: y L' for roots (K, d, d), y s for standard deviations (K, d)."""
    if roots.ndim == 2 and roots.shape == y.shape[-2:]:
        return y * roots
    if roots.ndim == 2:
        return y * roots[:, None, :]
    return np.einsum("k...j,kij->k...i", y, roots)


def own_covariances(
    second: np.ndarray, weight: np.ndarray, mean: np.ndarray, roots: np.ndarray
) -> np.ndarray:
    """Every component's covariance from its whitened moments; weight (K, 1), mean (K, d)."""
    if roots.ndim == 2:
        return (second / weight - mean**2) * roots**2
    moments = second / weight[:, :, None] - mean[:, :, None] * mean[:, None, :]
    own = roots @ moments @ roots.transpose(0, 2, 1)
    return (own + own.transpose(0, 2, 1)) / 2


def warn_lost(weights: np.ndarray) -> None:
    """Say which components of a mixture no row belongs to."""
    lost = np.flatnonzero(weights == 0)
    if len(lost):
        warnings.warn(
            f"components {lost.tolist()} of n_components={len(weights)} have lost all their rows "
            "and have weight 0; use fewer components or start otherwise",
            ConvergenceWarning,
            stacklevel=3,
        )
