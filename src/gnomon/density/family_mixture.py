"""Mixtures of any exponential family by EM, as sums over chunks of rows.

    p(x) = sum_k c_k prod_j p(x_j | theta_kj)

In an exponential family both steps are linear in the sufficient statistics: the E-step is a product
S Theta', the M-step matches the weighted means of S to those of the family. So one code fits
normal, Poisson, Bernoulli, gamma ... mixtures, and multinomial ones, whose rows are counts of words
or colours and whose components are read as topics.

Texts: 002 "EM for exponential families", "Multinomial mixtures" (L4931-5101), "Hard EM",
"Restarts".
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.starts import SurveyedData
from gnomon.contract import Data, DensityEstimator, Step, SumLearner, Takes
from gnomon.density.draws import as_generator
from gnomon.density.exponential_family import ExponentialFamily
from gnomon.density.families import FAMILIES, Multinomial
from gnomon.density.gaussian_mixture import FilledSource, warn_lost
from gnomon.engine.errors import DataError
from gnomon.engine.history import History
from gnomon.engine.parameters import FLAG, HISTORY, JOBS, SEED, StrOptions, at_least, between, whole
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, DictOf, Flag, Number
from gnomon.engine.sums import Chunk, Source, add_up, rows_per_chunk
from gnomon.engine.threads import resolve_jobs

NOTHING = 10 * np.finfo(np.float64).eps
FARTHEST = 1e140  # sums of squares of such values are finite: floats end at 1.8e308
LEAST_SHARE = 1e-12  # keeps the log of an empty component's share finite


class StatisticSums(NamedTuple):
    """Per component: weight of rows, of known cells per block, and sum of S of known cells.

    Then weight of the outlier part, log-likelihood and weight of all rows.
    """

    weight: np.ndarray
    cells: np.ndarray
    statistics: np.ndarray
    outliers: float
    log_likelihood: float
    rows: float


class ColumnRange(NamedTuple):
    """Weight, sums and sums of squares of the known cells of columns; weight of all rows."""

    weight: np.ndarray
    total: np.ndarray
    squares: np.ndarray
    rows: float


class Cells(NamedTuple):
    """Sufficient statistics of rows, zero where a cell is missing, and which blocks are known.

    Attributes
    ----------
    statistics : ndarray of shape (n, n_blocks, n_statistics)
        One block per column, or one for the whole row.
    known : ndarray of bool of shape (n, n_blocks)
    """

    statistics: np.ndarray
    known: np.ndarray

    def per_row(self, values: np.ndarray) -> np.ndarray:
        """Sums over the known blocks of each row; one line for all where every cell is known.

        values (m, n_blocks); the sums have shape (n, m) or (1, m).
        """
        if self.known.all():
            return values.sum(axis=1)[np.newaxis]
        return self.known @ values.T


class ScaledSource:
    """Rows in common units, for the start and for normal components.

    Parameters
    ----------
    source : Source
    center, scale : ndarray of shape (n_columns,)
    """

    def __init__(self, source: Source, center: np.ndarray, scale: np.ndarray):
        self.source = source
        self.center, self.scale = center, scale
        self.n_rows, self.n_columns = source.n_rows, source.n_columns
        self.weighted = source.weighted

    def chunks(self) -> Iterator[Chunk]:
        for chunk in self.source.chunks():
            yield chunk._replace(rows=(chunk.rows - self.center) / self.scale)


@method(
    task="density",
    texts='002 "EM for exponential families", "Multinomial mixtures", "Hard EM"',
    use="Groups of counts, yes/no answers, durations or word counts, found softly.",
    avoid="Columns that depend on each other within a group; normal clouds with tilted axes.",
    peers=("pomegranate.GeneralMixtureModel", "R flexmix"),
)
class FamilyMixture(DensityEstimator, SumLearner):
    """A mixture of any exponential family, columns independent within a component, by EM.

    Maximises ``sum_i w_i log sum_k c_k prod_j p(x_ij | theta_kj)``. Use it for groups of counts,
    yes/no answers, durations, or rows of word counts ("multinomial"). Do not use it where columns
    depend on each other within a group: `GaussianMixture` has full covariances. EM finds a local
    maximum: start several times (`n_init`) and compare ``ends_``. Missing cells are left out of
    the product, which is the maximum likelihood estimate where they are missing at random; only
    "multinomial", whose rows are wholes, refuses them.

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    family : str, default="normal"
        Of every column: "normal", "bernoulli", "poisson", "geometric", "exponential", "gamma",
        "inverse-gamma" or "beta"; or "multinomial", of whole rows of counts.
    assignment : {"soft", "hard"}, default="soft"
        "hard" gives each row to its likeliest component alone (classification EM).
    outliers : bool, default=False
        Add a component that is uniform over the range of the columns, which takes what fits
        nowhere; for "normal" only.
    smoothing : float, default=1e-6
        Keeps components from collapsing: this part of the mean statistics of all rows is mixed
        into those of every component.
    tol : float, default=1e-4
        Ends when the mean log-likelihood per row changes by less.
    max_iter : int, default=200
        Most passes of one start.
    n_init : int, default=1
        Number of starts, of which the one with the highest likelihood is kept.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts (by k-means) and of `sample`.
    n_jobs : int or None, default=None
        Threads; None for all processors. The result does not depend on it.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps weights and natural parameters of every pass in ``history_.states``.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Weights of the components; their sum is 1, less the weight of the outlier part.
    outlier_weight_ : float
        Weight of the outlier part; 0 where there is none.
    natural_ : ndarray of shape (n_components, n_blocks, n_statistics)
        Natural parameters: one block per column, or one for the whole row ("multinomial"). Of
        "normal" columns in standard units.
    parameters_ : dict of str to ndarray
        The usual parameters by name, of shape (n_components, n_columns), in the data's units.
    center_ : ndarray of shape (n_columns,)
        What was taken from each column ("normal"; else zero).
    scale_ : ndarray of shape (n_columns,)
        What each column was divided by ("normal"; else one).
    outlier_log_density_ : float
        Log density of the outlier part; only its value within the range of the columns counts.
    outlier_ranges_ : ndarray of shape (n_columns,)
        The range of each column, in standard units, which that density is spread over.
    ends_ : ndarray of shape (n_init,)
        Mean log-likelihood per row at the end of every start.
    converged_ : bool
        Whether the best start ended by `tol`.
    history_ : History
        The mean log-likelihood per row at each pass of the best start.
    n_iter_ : int
        Its passes.
    encoder_ : TableEncoder
        How the columns of a table became numbers; only after fitting on a table.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names; only where they have names.

    Notes
    -----
    Texts: 002 (L4931-5101, hard EM, restarts). Zero probabilities of multinomials, which 002 warns
    of, are kept from arising by `smoothing`.

    Examples
    --------
    >>> from gnomon.density import FamilyMixture
    >>> counts = [[1], [0], [2], [1], [20], [22], [19]]
    >>> model = FamilyMixture(2, family="poisson", random_state=0).fit(counts)
    >>> sorted(model.parameters_["rate"].ravel().round(1).tolist())
    [1.0, 20.3]
    """

    natively = Takes(missing=True)
    _parameter_constraints = {
        "n_components": [whole(1)],
        "family": [StrOptions({*FAMILIES, "multinomial"})],
        "assignment": [StrOptions({"soft", "hard"})],
        "outliers": FLAG,
        "smoothing": [between(0, 1, "left")],
        "tol": [at_least(0)],
        "max_iter": [whole(1)],
        "n_init": [whole(1)],
        "random_state": SEED,
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }
    _stored = {
        "center_": Array("f8", ("n_columns",)),
        "converged_": Flag(),
        "ends_": Array("f8", ("n_init",)),
        "natural_": Array("f8", ("n_components", None, None)),
        "outlier_log_density_": Number(),
        "outlier_ranges_": Array("f8", ("n_columns",)),
        "outlier_weight_": Number(),
        "parameters_": DictOf(Array("f8", ("n_components", "n_columns"))),
        "scale_": Array("f8", ("n_columns",)),
        "weights_": Array("f8", ("n_components",), low=0.0),
    }

    def __init__(
        self,
        n_components=2,
        *,
        family="normal",
        assignment="soft",
        outliers=False,
        smoothing=1e-6,
        tol=1e-4,
        max_iter=200,
        n_init=1,
        random_state=None,
        n_jobs=None,
        keep_history="objective",
    ):
        self.n_components = n_components
        self.family = family
        self.assignment = assignment
        self.outliers = outliers
        self.smoothing = smoothing
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _family(self, d: int) -> ExponentialFamily:
        return Multinomial(d) if self.family == "multinomial" else FAMILIES[self.family]()

    def _fit(self, data: Data) -> None:
        if data.n_rows < self.n_components:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, "
                f"n_samples = {data.n_rows}; use fewer components"
            )
        if self.outliers and self.family != "normal":
            raise ValueError(
                f"outliers=True is for family='normal', not {self.family!r}; for other families "
                "use gnomon.density.fit_mixture with a Uniform part"
            )
        self.ends_ = np.empty(0)
        super()._fit(data)

    def _run(self, data: Data, rng: np.random.Generator) -> tuple[Any, History]:
        state, history = super()._run(data, rng)
        self.ends_ = np.append(self.ends_, history[-1])
        return state, history

    def _start(self, data: Data, rng: np.random.Generator) -> dict[str, Any]:
        survey = self._survey(data)
        source = FilledSource(data.source, survey["middle"]) if survey["gaps"] else data.source
        scaled = ScaledSource(source, survey["middle"], survey["width"])
        groups = KMeans(self.n_components, n_jobs=self.n_jobs)
        surveyed = SurveyedData.of(Data(scaled, data.columns), self.n_jobs)
        state, _ = groups._run(surveyed, rng)
        centers = groups._attributes(state)["cluster_centers_"]
        first = survey | {"centers": centers, "objective": -np.inf}
        total = self._total(first, data.source)
        return survey | self._maximized(first, total) | {"objective": -np.inf}

    def _survey(self, data: Data) -> dict[str, Any]:
        """Units of the columns, mean statistics of all rows, the range of the outlier part."""
        d = data.n_columns
        family = self._family(d)
        sums = add_up(_column_sums, data.source, self.n_jobs)
        if (sums.weight == 0).any():
            column = data.columns.names[int(np.argmin(sums.weight))]
            raise DataError(f"column {column!r} has no value in any row; leave it out")
        middle = sums.total / sums.weight
        about = add_up(_Centered(middle), data.source, self.n_jobs)
        width = np.sqrt(np.maximum(about.squares / about.weight, 0.0))
        width[width <= 32 * np.finfo(float).eps * np.abs(middle)] = 1.0
        width[width == 0] = 1.0
        normal = self.family == "normal"
        units = {
            "middle": middle,
            "width": width,
            "center": middle if normal else np.zeros(d),
            "scale": width if normal else np.ones(d),
        }
        weight, total = add_up(_Statistics(family, units["center"], units["scale"]), data.source)
        edges = np.full((2, d), [[np.inf], [-np.inf]])
        for chunk in data.source.chunks():
            edges[0] = np.fmin(edges[0], np.fmin.reduce(chunk.rows, axis=0))
            edges[1] = np.fmax(edges[1], np.fmax.reduce(chunk.rows, axis=0))
        span = (edges[1] - edges[0]) / units["scale"]
        return units | {
            "overall": total / weight[:, np.newaxis],
            "ranges": np.where(span > 0, span, 1.0),
            "gaps": bool((sums.weight < sums.rows).any()),
        }

    def _sums(self, state: dict[str, Any], chunk: Chunk) -> StatisticSums:
        d = chunk.rows.shape[1]
        family = self._family(d)
        values = (chunk.rows - state["center"]) / state["scale"]
        cells = _cells(family, values, chunk.start)
        k = self.n_components
        total = float(chunk.weights.sum())
        if "centers" in state:
            apart = ((chunk.rows - state["middle"]) / state["width"])[:, None, :] - state["centers"]
            nearest = np.nansum(apart**2, axis=2).argmin(axis=1)
            shares = (nearest[:, None] == np.arange(k)).astype(float)
            shares[~cells.known.any(axis=1)] = 1 / k
            owned = shares * chunk.weights[:, None]
            return StatisticSums(owned.sum(axis=0), *_owned_cells(owned, cells), 0.0, 0.0, total)
        joint = self._joint(family, cells, values, state)
        log_density = logsumexp(joint, axis=1)
        if self.assignment == "hard":
            best = joint.argmax(axis=1)
            shares = (best[:, None] == np.arange(joint.shape[1])).astype(float)
            log_density = joint[np.arange(len(joint)), best]
        else:
            shares = np.exp(joint - log_density[:, None])
        owned = shares * chunk.weights[:, None]
        aside = float(owned[:, k:].sum())
        likelihood = float(chunk.weights @ log_density)
        mine = owned[:, :k]
        return StatisticSums(mine.sum(axis=0), *_owned_cells(mine, cells), aside, likelihood, total)

    def _joint(self, family, cells: Cells, values, state) -> np.ndarray:
        """log of weight times density of each component, and of the outlier part where it is."""
        natural = state["natural"]
        k, n = len(natural), len(values)
        raised = cells.statistics.reshape(n, -1) @ natural.reshape(k, -1).T
        joint = raised - cells.per_row(family.log_partition(natural).reshape(k, -1))
        base = np.where(cells.known, family.log_base(values).reshape(n, -1), 0.0)
        joint += base.sum(axis=1)[:, None]
        with np.errstate(divide="ignore"):
            joint += np.log(state["weights"])
            if self.outliers:
                level = np.log(state["outlier_weight"]) - cells.per_row(
                    np.log(state["ranges"])[np.newaxis]
                )
                joint = np.hstack([joint, np.broadcast_to(level, (n, 1))])
        if self.family == "normal":
            joint -= cells.per_row(np.log(state["scale"])[np.newaxis])
        return joint

    def _maximized(self, state: dict[str, Any], total: StatisticSums) -> dict[str, Any]:
        """Weights and natural parameters that match the means of S."""
        held = total.weight > NOTHING * total.rows
        learnt = (total.cells > NOTHING * total.rows)[:, :, None]
        each = np.where(learnt, total.cells[:, :, None], 1.0)
        means = np.where(learnt, total.statistics / each, state["overall"])
        mixed = (1 - self.smoothing) * means + self.smoothing * state["overall"]
        d = len(state["center"])
        if self.family == "normal":
            # a column that does not vary in a component keeps a little of the unit variance
            spread = mixed[..., 1] - mixed[..., 0] ** 2
            mixed = np.stack(
                [mixed[..., 0], mixed[..., 0] ** 2 + np.maximum(spread, 0.0) + self._floor()], -1
            )
        natural = self._family(d).natural(mixed)
        if "natural" in state:
            natural = np.where(learnt, natural, state["natural"])
        weight = np.where(held, total.weight, 0.0)
        outliers = total.outliers if "natural" in state else 0.05 * total.rows
        whole_weight = weight.sum() + (outliers if self.outliers else 0.0)
        return {
            "weights": weight / whole_weight,
            "outlier_weight": outliers / whole_weight if self.outliers else 0.0,
            "natural": natural,
        }

    def _floor(self) -> float:
        return max(self.smoothing, 1e-12)

    def _update(self, state: dict[str, Any], total: StatisticSums) -> Step:
        objective = total.log_likelihood / total.rows
        following = state | self._maximized(state, total) | {"objective": objective}
        return Step(following, objective, abs(objective - state["objective"]) < self.tol)

    def _better(self, one: History, other: History) -> bool:
        return one[-1] > other[-1]

    def _attributes(self, state: dict[str, Any]) -> dict[str, Any]:
        d = len(state["center"])
        natural = state["natural"]
        usual = self._family(d).to_parameters(natural)
        if self.family == "normal":
            usual = {
                "mean": state["center"] + state["scale"] * usual["mean"],
                "variance": state["scale"] ** 2 * usual["variance"],
            }
        return {
            "weights_": state["weights"],
            "outlier_weight_": float(state["outlier_weight"]),
            "natural_": natural,
            "parameters_": {
                name: np.asarray(value).reshape(len(natural), -1) for name, value in usual.items()
            },
            "center_": state["center"],
            "scale_": state["scale"],
            "outlier_log_density_": -float(np.log(state["ranges"]).sum()),
            "outlier_ranges_": state["ranges"],
        }

    def _replayable(self, state: dict[str, Any]) -> dict[str, Any]:
        return {name: np.array(state[name]) for name in ("weights", "natural")}

    def _end(self, state: dict[str, Any], data: Data) -> None:
        self.converged_ = self.history_.stopped == "converged"
        warn_lost(self.weights_)
        if self.history_.stopped == "max_iter":
            warnings.warn(
                f"FamilyMixture has not converged in max_iter={self.max_iter} passes (mean "
                f"log-likelihood {self.history_[-1]:.6g}); raise max_iter, or tol={self.tol:g}",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _logs(self, rows: np.ndarray) -> np.ndarray:
        """log of weight times density, of shape (n, K), or K + 1 with the outlier part."""
        family = self._family(rows.shape[1])
        values = np.clip((rows - self.center_) / self.scale_, -FARTHEST, FARTHEST)
        state = {
            "natural": self.natural_,
            "weights": self.weights_,
            "outlier_weight": self.outlier_weight_,
            "ranges": self.outlier_ranges_,
            "scale": self.scale_,
        }
        return self._joint(family, _cells(family, values), values, state)

    def _log_density(self, rows: np.ndarray) -> np.ndarray:
        return logsumexp(self._logs(rows), axis=1)

    def predict_proba(self, X) -> np.ndarray:
        """Posterior probability of each component, for each row; the outlier part comes last.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        proba : ndarray of shape (n_samples, n_components) or one column more with ``outliers``
        """
        return self._each_block(self._posterior, X)

    def _posterior(self, rows: np.ndarray) -> np.ndarray:
        logs = self._logs(rows)
        proba = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        return proba / proba.sum(axis=1, keepdims=True)

    def predict(self, X) -> np.ndarray:
        """The likeliest component of each row; ``n_components`` for the outlier part.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self._each_block(lambda rows: self._logs(rows).argmax(axis=1), X)

    def sample(self, n_samples=1, random_state=None, n_draws=100) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows from the components (not from the outlier part).

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState, Generator or None, default=None
            None for the estimator's own.
        n_draws : int, default=100
            Total count of a row, for "multinomial".

        Returns
        -------
        rows : ndarray of shape (n_samples, n_columns)
        labels : ndarray of shape (n_samples,)
            The component of each row.
        """
        check_is_fitted(self)
        rng = self._rng() if random_state is None else as_generator(random_state)
        d = len(self.center_)
        family = self._family(d)
        labels = rng.choice(len(self.weights_), n_samples, p=self.weights_ / self.weights_.sum())
        rows = np.empty((n_samples, d))
        for k in range(len(self.weights_)):
            own = np.flatnonzero(labels == k)
            if self.family == "multinomial":
                rows[own] = Multinomial(d, n_draws).draw(self.natural_[k, 0], len(own), rng)
                continue
            for j in range(d):
                rows[own, j] = family.draw(self.natural_[k, j], len(own), rng)
        return rows * self.scale_ + self.center_, labels

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        d = len(self.center_)
        blocks = 1 if self.family == "multinomial" else d
        own = len(self.weights_) * blocks * self._family(d).n_parameters
        return own + len(self.weights_) - 1 + int(self.outliers)

    def aic(self, X) -> float:
        """Akaike's criterion on these rows, ``-2 log L + 2 p``; lower is better.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        aic : float
        """
        return -2 * float(self.score_samples(X).sum()) + 2 * self.n_parameters_

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
        return -2 * float(logs.sum()) + self.n_parameters_ * float(np.log(len(logs)))

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        threads = resolve_jobs(self.n_jobs)
        chunk = min(rows_per_chunk(n_columns), n_rows)
        k = self.n_components
        passing = threads * chunk * (4 * n_columns + k * (n_columns + 3))
        start = KMeans(k, n_jobs=self.n_jobs)._working_memory(n_rows, n_columns)
        return max(8 * passing, start) + 8 * 12 * k * n_columns

    def _memory_remedy(self) -> str:
        return "Stream the rows with gnomon.table.scan, or use fewer components."

    def _check_loaded(self) -> None:
        if not hasattr(self, "natural_"):
            return
        encoder = getattr(self, "encoder_", None)
        d = self.n_features_in_ if encoder is None else len(encoder.columns)
        family = self._family(d)
        blocks = 1 if self.family == "multinomial" else d
        expected = (self.n_components, blocks, family.n_statistics)
        fits = self.natural_.shape == expected and self.weights_.shape == expected[:1]
        if not hasattr(self, "outlier_ranges_"):
            # older files hold the product of the ranges only, which is all that whole rows need
            self.outlier_ranges_ = np.full(d, np.exp(-self.outlier_log_density_ / max(d, 1)))
        if not fits or self.center_.shape != (d,) or self.scale_.shape != (d,):
            raise ValueError(f"natural_ does not fit {self.n_components} components of {d} columns")


def _cells(family: ExponentialFamily, values: np.ndarray, start: int = 0) -> Cells:
    """S of each column of some rows, or of each whole row; `start` is the place of the first."""
    missing = np.isnan(values)
    if not family.width:
        statistics = family.statistics(values)
        if missing.any():
            statistics = np.where(missing[..., None], 0.0, statistics)
        return Cells(statistics, ~missing)
    if missing.any():
        row, column = np.argwhere(missing)[0]
        raise DataError(
            f"row {start + row}, column {column} is missing, and {family.name} counts are of whole "
            "rows: write 0 where nothing was counted, or leave out the row"
        )
    return Cells(family.statistics(values)[:, None, :], np.ones((len(values), 1), dtype=bool))


def _owned_cells(owned: np.ndarray, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    """Weight of the known cells of each component, and the sum of their statistics."""
    n, k = owned.shape
    summed = inner(owned, cells.statistics.reshape(n, -1))
    if cells.known.all():
        weight = np.repeat(owned.sum(axis=0)[:, None], cells.known.shape[1], axis=1)
    else:
        weight = inner(owned, cells.known.astype(np.float64))
    return weight, summed.reshape(k, *cells.statistics.shape[1:])


def _column_sums(chunk: Chunk) -> ColumnRange:
    return _Centered(np.zeros(chunk.rows.shape[1]))(chunk)


class _Centered:
    """Sums of columns about a centre; an object, so that it can be sent elsewhere."""

    def __init__(self, center: np.ndarray):
        self.center = center

    def __call__(self, chunk: Chunk) -> ColumnRange:
        known = ~np.isnan(chunk.rows)
        values = np.where(known, chunk.rows - self.center, 0.0)
        return ColumnRange(
            chunk.weights @ known,
            chunk.weights @ values,
            chunk.weights @ values**2,
            float(chunk.weights.sum()),
        )


class _Statistics:
    """Weight and sum of the statistics of all known cells; refuses rows outside of the support."""

    def __init__(self, family: ExponentialFamily, center: np.ndarray, scale: np.ndarray):
        self.family, self.center, self.scale = family, center, scale

    def __call__(self, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        values = (chunk.rows - self.center) / self.scale
        cells = _cells(self.family, values, chunk.start)
        inside = self.family.inside(values) | ~cells.known.reshape(self.family._outcomes(values))
        if not inside.all():
            place = tuple(int(i) for i in np.argwhere(~inside)[0])
            where = f"row {chunk.start + place[0]}"
            where += f", column {place[1]}" if len(place) > 1 else ""
            raise DataError(
                f"{where} cannot be {self.family.name}: outcomes are {self.family.support}. Choose "
                "another family, or leave out what does not belong"
            )
        summed = np.tensordot(chunk.weights, cells.statistics, axes=1)
        return chunk.weights @ cells.known, summed
