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
from gnomon.contract import Data, DensityEstimator, Step, SumLearner
from gnomon.density.draws import as_generator
from gnomon.density.exponential_family import ExponentialFamily
from gnomon.density.families import FAMILIES, Multinomial
from gnomon.engine.errors import DataError
from gnomon.engine.history import History
from gnomon.engine.parameters import FLAG, HISTORY, JOBS, SEED, StrOptions, at_least, between, whole
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.sums import Chunk, Source, add_up, rows_per_chunk
from gnomon.engine.threads import resolve_jobs

NOTHING = 10 * np.finfo(np.float64).eps
FARTHEST = 1e140
LEAST_SHARE = 1e-12


class StatisticSums(NamedTuple):
    """Per component weight and sum of S; weight of the outlier part; log-likelihood; all weight."""

    weight: np.ndarray
    statistics: np.ndarray
    outliers: float
    log_likelihood: float
    rows: float


class ColumnRange(NamedTuple):
    """Weight, sums and sums of squares of columns."""

    weight: float
    total: np.ndarray
    squares: np.ndarray


class ScaledSource:
    """Rows in common units, for the start and for normal components.

    Parameters
    ----------
    source : Source
    centre, scale : ndarray of shape (n_columns,)
    """

    def __init__(self, source: Source, centre: np.ndarray, scale: np.ndarray):
        self.source = source
        self.centre, self.scale = centre, scale
        self.n_rows, self.n_columns = source.n_rows, source.n_columns
        self.weighted = source.weighted

    def chunks(self) -> Iterator[Chunk]:
        for chunk in self.source.chunks():
            yield chunk._replace(rows=(chunk.rows - self.centre) / self.scale)


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
    maximum: start several times (`n_init`) and compare ``ends_``.

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
    centre_ : ndarray of shape (n_columns,)
        What was taken from each column ("normal"; else zero).
    scale_ : ndarray of shape (n_columns,)
        What each column was divided by ("normal"; else one).
    outlier_log_density_ : float
        Log density of the outlier part; only its value within the range of the columns counts.
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
                f"n_samples = {data.n_rows}; ask for fewer components"
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
        scaled = ScaledSource(data.source, survey["middle"], survey["width"])
        groups = KMeans(self.n_components, n_jobs=self.n_jobs)
        surveyed = SurveyedData.of(Data(scaled, data.columns), self.n_jobs)
        state, _ = groups._run(surveyed, rng)
        centres = groups._attributes(state)["cluster_centers_"]
        first = survey | {"centres": centres, "objective": -np.inf}
        total = self._total(first, data.source)
        return survey | self._maximised(first, total) | {"objective": -np.inf}

    def _survey(self, data: Data) -> dict[str, Any]:
        """Units of the columns, mean statistics of all rows, log density of the outlier part."""
        d = data.n_columns
        family = self._family(d)
        sums = add_up(_column_sums, data.source, self.n_jobs)
        middle = sums.total / sums.weight
        about = add_up(_Centred(middle), data.source, self.n_jobs)
        width = np.sqrt(np.maximum(about.squares / about.weight, 0.0))
        width[width <= 32 * np.finfo(float).eps * np.abs(middle)] = 1.0
        width[width == 0] = 1.0
        normal = self.family == "normal"
        units = {
            "middle": middle,
            "width": width,
            "centre": middle if normal else np.zeros(d),
            "scale": width if normal else np.ones(d),
        }
        overall = add_up(_Statistics(family, units["centre"], units["scale"]), data.source)
        edges = np.full((2, d), [[np.inf], [-np.inf]])
        for chunk in data.source.chunks():
            edges[0] = np.minimum(edges[0], chunk.rows.min(axis=0))
            edges[1] = np.maximum(edges[1], chunk.rows.max(axis=0))
        span = (edges[1] - edges[0]) / units["scale"]
        flat = -float(np.log(np.where(span > 0, span, 1.0)).sum())
        return units | {"overall": overall[1] / overall[0], "flat": flat}

    def _sums(self, state: dict[str, Any], chunk: Chunk) -> StatisticSums:
        d = chunk.rows.shape[1]
        family = self._family(d)
        values = (chunk.rows - state["centre"]) / state["scale"]
        statistics = _statistics(family, values)
        flat = statistics.reshape(len(values), -1)
        k = self.n_components
        if "centres" in state:
            apart = ((chunk.rows - state["middle"]) / state["width"])[:, None, :] - state["centres"]
            nearest = (apart**2).sum(axis=2).argmin(axis=1)
            shares = (nearest[:, None] == np.arange(k)).astype(float)
            owned = shares * chunk.weights[:, None]
            found = inner(owned, flat).reshape(k, *statistics.shape[1:])
            return StatisticSums(owned.sum(axis=0), found, 0.0, 0.0, float(chunk.weights.sum()))
        joint = self._joint(family, flat, values, state)
        log_density = logsumexp(joint, axis=1)
        if self.assignment == "hard":
            best = joint.argmax(axis=1)
            shares = (best[:, None] == np.arange(joint.shape[1])).astype(float)
            log_density = joint[np.arange(len(joint)), best]
        else:
            shares = np.exp(joint - log_density[:, None])
        owned = shares * chunk.weights[:, None]
        found = inner(owned[:, :k], flat).reshape(k, *statistics.shape[1:])
        aside = float(owned[:, k:].sum())
        likelihood = float(chunk.weights @ log_density)
        total = float(chunk.weights.sum())
        return StatisticSums(owned[:, :k].sum(axis=0), found, aside, likelihood, total)

    def _joint(self, family, flat, values, state) -> np.ndarray:
        """log of weight times density of each component, and of the outlier part where it is."""
        natural = state["natural"]
        k = len(natural)
        raised = flat @ natural.reshape(k, -1).T
        joint = raised - family.log_partition(natural).reshape(k, -1).sum(axis=1)
        base = family.log_base(values)
        joint += (base.sum(axis=1) if base.ndim == 2 else base)[:, None]
        with np.errstate(divide="ignore"):
            joint += np.log(state["weights"])
            if self.outliers:
                level = np.log(state["outlier_weight"]) + state["flat"]
                joint = np.column_stack([joint, np.full(len(joint), level)])
        return joint

    def _maximised(self, state: dict[str, Any], total: StatisticSums) -> dict[str, Any]:
        """Weights and natural parameters that match the means of S."""
        held = total.weight > NOTHING * total.rows
        each = np.where(held, total.weight, 1.0)[:, None, None]
        means = np.where(held[:, None, None], total.statistics / each, state["overall"])
        mixed = (1 - self.smoothing) * means + self.smoothing * state["overall"]
        d = len(state["centre"])
        if self.family == "normal":
            # a column that does not vary in a component keeps a little of the unit variance
            spread = mixed[..., 1] - mixed[..., 0] ** 2
            mixed = np.stack(
                [mixed[..., 0], mixed[..., 0] ** 2 + np.maximum(spread, 0.0) + self._floor()], -1
            )
        natural = self._family(d).natural(mixed)
        if "natural" in state:
            natural = np.where(held[:, None, None], natural, state["natural"])
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
        objective = total.log_likelihood / total.rows - float(np.log(state["scale"]).sum())
        following = state | self._maximised(state, total) | {"objective": objective}
        return Step(following, objective, abs(objective - state["objective"]) < self.tol)

    def _better(self, one: History, other: History) -> bool:
        return one[-1] > other[-1]

    def _attributes(self, state: dict[str, Any]) -> dict[str, Any]:
        d = len(state["centre"])
        natural = state["natural"]
        usual = self._family(d).to_parameters(natural)
        if self.family == "normal":
            usual = {
                "mean": state["centre"] + state["scale"] * usual["mean"],
                "variance": state["scale"] ** 2 * usual["variance"],
            }
        return {
            "weights_": state["weights"],
            "outlier_weight_": float(state["outlier_weight"]),
            "natural_": natural,
            "parameters_": {
                name: np.asarray(value).reshape(len(natural), -1) for name, value in usual.items()
            },
            "centre_": state["centre"],
            "scale_": state["scale"],
            "outlier_log_density_": float(state["flat"]),
        }

    def _replayable(self, state: dict[str, Any]) -> dict[str, Any]:
        return {name: np.array(state[name]) for name in ("weights", "natural")}

    def _end(self, state: dict[str, Any], data: Data) -> None:
        self.converged_ = self.history_.stopped == "converged"
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
        values = np.clip((rows - self.centre_) / self.scale_, -FARTHEST, FARTHEST)
        flat = _statistics(family, values).reshape(len(values), -1)
        state = {
            "natural": self.natural_,
            "weights": self.weights_,
            "outlier_weight": self.outlier_weight_,
            "flat": self.outlier_log_density_,
        }
        return self._joint(family, flat, values, state) - float(np.log(self.scale_).sum())

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
        d = len(self.centre_)
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
        return rows * self.scale_ + self.centre_, labels

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        d = len(self.centre_)
        blocks = 1 if self.family == "multinomial" else d
        own = len(self.weights_) * blocks * self._family(d).n_parameters
        return own + len(self.weights_) - 1 + int(self.outliers)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        threads = resolve_jobs(self.n_jobs)
        chunk = min(rows_per_chunk(n_columns), n_rows)
        k = self.n_components
        passing = threads * chunk * (8 * n_columns + k * (2 * n_columns + 6))
        start = KMeans(k, n_jobs=self.n_jobs)._working_memory(n_rows, n_columns)
        return max(8 * passing, start) + 8 * 12 * k * n_columns

    def _memory_remedy(self) -> str:
        return "Stream the rows with gnomon.table.scan, or ask for fewer components."

    def _check_loaded(self) -> None:
        if not hasattr(self, "natural_"):
            return
        encoder = getattr(self, "encoder_", None)
        d = self.n_features_in_ if encoder is None else len(encoder.columns)
        family = self._family(d)
        blocks = 1 if self.family == "multinomial" else d
        expected = (self.n_components, blocks, family.n_statistics)
        fits = self.natural_.shape == expected and self.weights_.shape == expected[:1]
        if not fits or self.centre_.shape != (d,) or self.scale_.shape != (d,):
            raise ValueError(f"natural_ does not fit {self.n_components} components of {d} columns")


def _statistics(family: ExponentialFamily, values: np.ndarray) -> np.ndarray:
    """S of rows: of each column, of shape (n, d, m), or of the whole row, (n, 1, m)."""
    if family.width:
        return family.statistics(values)[:, None, :]
    return family.statistics(values)


def _column_sums(chunk: Chunk) -> ColumnRange:
    return _Centred(np.zeros(chunk.rows.shape[1]))(chunk)


class _Centred:
    """Sums of columns about a centre; an object, so that it can be sent elsewhere."""

    def __init__(self, centre: np.ndarray):
        self.centre = centre

    def __call__(self, chunk: Chunk) -> ColumnRange:
        values = chunk.rows - self.centre
        return ColumnRange(
            float(chunk.weights.sum()), chunk.weights @ values, chunk.weights @ values**2
        )


class _Statistics:
    """Weight and sum of the statistics of all rows; refuses rows outside of the support."""

    def __init__(self, family: ExponentialFamily, centre: np.ndarray, scale: np.ndarray):
        self.family, self.centre, self.scale = family, centre, scale

    def __call__(self, chunk: Chunk) -> tuple[float, np.ndarray]:
        values = (chunk.rows - self.centre) / self.scale
        inside = self.family.inside(values)
        if not inside.all():
            place = tuple(int(i) for i in np.argwhere(~inside)[0])
            where = f"row {chunk.start + place[0]}"
            where += f", column {place[1]}" if len(place) > 1 else ""
            raise DataError(
                f"{where} cannot be {self.family.name}: outcomes are {self.family.support}. Choose "
                "another family, or leave out what does not belong"
            )
        summed = np.tensordot(chunk.weights, _statistics(self.family, values), axes=1)
        return float(chunk.weights.sum()), summed
