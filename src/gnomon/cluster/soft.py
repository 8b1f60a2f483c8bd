"""k-means with shares instead of labels, and k-means with a junk cluster for far rows.

Texts: 000b 8.2.3 (soft weights, junk) · 004 12.3 eqs 12.8-12.11.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax
from sklearn.utils.validation import check_is_fitted

from gnomon.cluster.centers import (
    STARTING_WORDS,
    CentreClusterer,
    distances_to,
    squared_spread,
)
from gnomon.cluster.intake import number_rows
from gnomon.cluster.nearest import Centers, Nearest, find_nearest
from gnomon.cluster.starts import SurveyedData
from gnomon.cluster.sums import ClusterSums, cluster_sums
from gnomon.contract import Data, Step
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.parameters import HISTORY, JOBS, SEED, StrOptions, above, at_least, whole
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.sums import Chunk, add_up

TINY_SHARE = 1e-6  # judgement: one row of a million; a cluster with less is as good as empty
JUNK = -1  # scikit-learn's label of noise


class SpreadSums(NamedTuple):
    weight: float
    squares: float


@method(
    task="group",
    texts="000b 8.2.3 · 004 12.3",
    use="Groups that overlap: every row has a share in each, and small shares draw little.",
    avoid="Outliers (their shares still sum to one); groups of unlike spread (GaussianMixture).",
    peers=("skfuzzy.cmeans",),
)
class SoftKMeans(CentreClusterer):
    """A k-means in which every row belongs to all clusters by shares that sum to one.

    The share of cluster c is proportional to ``exp(-|x - c|^2 / (2 s^2))`` (gaussian),
    ``exp(-|x - c| / s)`` (exponential) or ``|x - c|^(-2 / (m - 1))`` (fuzzy c-means); centres move
    to the means of all rows weighted by shares (fuzzy: by their m-th powers). With s to 0 or m to 1
    it becomes k-means. Use it for overlapping groups. Not against outliers: a far row's shares sum
    to one too, and it drags centres (`JunkKMeans`).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of groups.
    membership : {"gaussian", "exponential", "fuzzy"}, default="gaussian"
        How shares fall with distance.
    scale : float or "auto", default="auto"
        s, in units of the columns; "auto": half the root mean square, per column, of the distances
        to the nearest first centre. Not used by "fuzzy".
    fuzziness : float, default=2
        m, above 1; of "fuzzy" only.
    init : {"k-means++", "random-rows", "random", "random-partition", "farthest-first", \
            "uniform", "first-centre-d2"} or array-like of shape (n_clusters, n_columns), \
            default="k-means++"
        The first centres, as of `KMeans`.
    max_iter : int, default=300
        Most passes.
    tol : float, default=1e-4
        Ends when the centres' squared movement, summed, is at most `tol` times the mean variance
        of the columns.
    rate : float, default=0.1
        Step of ``partial_fit``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the start.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the centres of every pass in ``history_.states``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_columns)
        The centres.
    scale_ : float
        The scale used.
    labels_ : ndarray of shape (n_samples,)
        The cluster of the largest share.
    n_iter_ : int
        Passes made.
    history_ : History
        Per pass: gaussian ``-2 s^2 sum log sum exp(.)``, which never rises; exponential the mean of
        distances by shares, summed; fuzzy ``sum share^m |x - c|^2``, which never rises.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Notes
    -----
    Texts: 000b 8.2.3 (gaussian, subtracting the least squared distance first, so that nothing
    underflows), 004 12.3 (exponential; on-line steps ``p += rate share (x - p)``). A warning is
    given when a cluster's shares sum to next to nothing, as 000b advises.

    Examples
    --------
    >>> from gnomon.cluster import SoftKMeans
    >>> model = SoftKMeans(2, scale=1.0, random_state=0).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> model.predict_proba([[5.0]]).round(2).tolist()
    [[0.5, 0.5]]
    """

    cluster_centers_: np.ndarray
    scale_: float

    _parameter_constraints = {
        "n_clusters": [whole(1)],
        "membership": [StrOptions({"gaussian", "exponential", "fuzzy"})],
        "scale": [StrOptions({"auto"}), above(0)],
        "fuzziness": [above(1)],
        "init": [STARTING_WORDS, "array-like"],
        "max_iter": [whole(1)],
        "tol": [at_least(0)],
        "rate": [above(0)],
        "random_state": SEED,
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }
    _stored = {
        "cluster_centers_": Array("f8", ("n_clusters", "n_columns")),
        "scale_": Number(),
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        membership="gaussian",
        scale="auto",
        fuzziness=2.0,
        init="k-means++",
        max_iter=300,
        tol=1e-4,
        rate=0.1,
        random_state=None,
        n_jobs=None,
        keep_history="objective",
    ):
        self.n_clusters = n_clusters
        self.membership = membership
        self.scale = scale
        self.fuzziness = fuzziness
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.rate = rate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _start(self, data: SurveyedData, rng: np.random.Generator) -> dict[str, Any]:
        centers = Centers.at(self._first_centers(data, rng), data.mean)
        return {
            "centers": centers,
            "scale": self._chosen_scale(data, centers),
            "least_movement": self.tol * float(data.variances.mean()),
        }

    def _chosen_scale(self, data: Data, centers: Centers) -> float:
        if self.scale != "auto":
            return float(self.scale)
        total = add_up(partial(_spread_of, centers=centers), data.source, self.n_jobs)
        root = np.sqrt(total.squares / total.weight / data.n_columns)
        return float(root / 2) if root > 0 else 1.0

    def _shares(self, rows: np.ndarray, centers: np.ndarray, scale: float) -> tuple:
        """Shares of each row, and distances to each centre."""
        distances = distances_to(rows, centers)
        if self.membership == "fuzzy":
            with np.errstate(divide="ignore"):
                logits = -2.0 / (self.fuzziness - 1.0) * np.log(distances)
            at = np.isposinf(logits)
            hit = at.any(axis=1)
            logits[hit] = np.where(at[hit], 0.0, -np.inf)
        elif self.membership == "gaussian":
            logits = -0.5 * (distances / scale) ** 2
        else:
            logits = -distances / scale
        return softmax(logits, axis=1), distances, logits

    def _sums(self, state: dict[str, Any], chunk: Chunk) -> ClusterSums:
        centers, scale = state["centers"], state["scale"]
        shares, distances, logits = self._shares(chunk.rows, centers.points, scale)
        if self.membership == "fuzzy":
            shares = shares**self.fuzziness
            objective = (shares * distances**2).sum(axis=1)
        elif self.membership == "gaussian":
            objective = -2 * scale**2 * logsumexp(logits, axis=1)
        else:
            objective = (shares * distances).sum(axis=1)
        pull = shares * chunk.weights[:, None]
        total = inner(pull, chunk.rows - centers.shift)
        return ClusterSums(pull.sum(axis=0), total, float(chunk.weights @ objective))

    def _update(self, state: dict[str, Any], total: ClusterSums) -> Step:
        centers: Centers = state["centers"]
        held = total.weight > 0
        moved = centers.points.copy()
        moved[held] = centers.shift + total.total[held] / total.weight[held, None]
        movement = float(((moved - centers.points) ** 2).sum())
        following = state | {"centers": Centers.at(moved, centers.shift), "sums": total.weight}
        return Step(following, total.objective, movement <= state["least_movement"])

    def _attributes(self, state: dict[str, Any]) -> dict[str, Any]:
        return super()._attributes(state) | {"scale_": state["scale"]}

    def _end(self, state: dict[str, Any], data: Data) -> None:
        share = state["sums"] / state["sums"].sum()
        if share.min() < TINY_SHARE:
            warnings.warn(
                f"cluster {int(share.argmin())} of SoftKMeans holds a share of {share.min():.1e} "
                "of the rows: it is as good as empty; choose fewer clusters or a larger scale",
                GnomonWarning,
                stacklevel=2,
            )

    def predict_proba(self, X) -> np.ndarray:
        """Share of each row in each cluster.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        shares : ndarray of shape (n_samples, n_clusters)
        """
        check_is_fitted(self)
        return self._each_block(
            lambda rows: self._shares(rows, self.cluster_centers_, self.scale_)[0], X
        )

    def partial_fit(self, X, y=None) -> SoftKMeans:
        """Move the centres on-line, row after row: ``c += rate share (x - c)`` (004 eq 12.9).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, in the columns that ``fit`` has learnt from; the first call may start alone.
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        if not hasattr(self, "cluster_centers_"):
            return self.fit(X)
        centers = self.cluster_centers_.copy()
        for row in self._each_block(lambda rows: rows, X):
            shares, _, _ = self._shares(row[None], centers, self.scale_)
            centers += self.rate * shares.T * (row - centers)
        self.cluster_centers_ = centers
        return self


@method(
    task="group",
    texts="000b 8.2.3",
    use="Compact groups among outliers: rows far from every centre move none.",
    avoid="Where the distance at which a row is junk cannot be told, or groups are not compact.",
    peers=("R tclust",),
)
class JunkKMeans(CentreClusterer):
    """A k-means with a junk cluster: rows farther than a threshold from all centres move none.

    Minimises ``sum_i w_i min(min_k |x_i - c_k|^2, t^2)``: each pass rows go to their nearest centre
    or, beyond the threshold t, to the junk cluster (label -1), which has no centre; membership is
    decided anew in every pass, so rows come back. The objective never rises. Use it where outliers
    abound; choose the threshold in the units of the columns. Not for groups that are not compact.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of groups beside the junk.
    threshold : float or "auto", default="auto"
        Distance beyond which a row is junk; "auto": three times the root mean square of the
        distances to the nearest first centre.
    init : {"k-means++", "random-rows", "random", "random-partition", "farthest-first", \
            "uniform", "first-centre-d2"} or array-like of shape (n_clusters, n_columns), \
            default="k-means++"
        The first centres, as of `KMeans`. "k-means++" tends to start at outliers; "random-rows"
        less so.
    max_iter : int, default=300
        Most passes.
    tol : float, default=1e-4
        Ends when the centres' squared movement, summed, is at most `tol` times the mean variance
        of the columns.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the start.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the centres of every pass in ``history_.states``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_columns)
        The centres.
    threshold_ : float
        The threshold used.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row; -1 for junk.
    n_iter_ : int
        Passes made.
    history_ : History
        The objective of each pass.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Notes
    -----
    Texts: 000b 8.2.3. A centre that has lost all its rows to the junk stays where it is.

    Examples
    --------
    >>> from gnomon.cluster import JunkKMeans
    >>> rows = [[0.0], [1.0], [9.0], [10.0], [500.0]]
    >>> first = [[0.0], [9.0]]
    >>> JunkKMeans(2, threshold=50, init=first).fit(rows).labels_.tolist()
    [0, 0, 1, 1, -1]
    """

    _parameter_constraints = {
        "n_clusters": [whole(1)],
        "threshold": [StrOptions({"auto"}), above(0)],
        "init": [STARTING_WORDS, "array-like"],
        "max_iter": [whole(1)],
        "tol": [at_least(0)],
        "random_state": SEED,
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }
    _stored = {
        "threshold_": Number(),
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        threshold="auto",
        init="k-means++",
        max_iter=300,
        tol=1e-4,
        random_state=None,
        n_jobs=None,
        keep_history="objective",
    ):
        self.n_clusters = n_clusters
        self.threshold = threshold
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _start(self, data: SurveyedData, rng: np.random.Generator) -> dict[str, Any]:
        centers = Centers.at(self._first_centers(data, rng), data.mean)
        threshold = self.threshold
        if threshold == "auto":
            total = add_up(partial(_spread_of, centers=centers), data.source, self.n_jobs)
            threshold = 3 * np.sqrt(total.squares / total.weight)
        return {
            "centers": centers,
            "threshold": float(threshold),
            "least_movement": self.tol * float(data.variances.mean()),
        }

    def _sums(self, state: dict[str, Any], chunk: Chunk) -> ClusterSums:
        found = find_nearest(chunk.rows, state["centers"], Nearest.of(len(chunk.rows)))
        most = state["threshold"] ** 2
        near = found.squared <= most
        true = chunk._replace(weights=chunk.weights * near)
        sums = cluster_sums(true, state["centers"], found)
        return sums._replace(objective=sums.objective + most * float(chunk.weights[~near].sum()))

    def _update(self, state: dict[str, Any], total: ClusterSums) -> Step:
        centers: Centers = state["centers"]
        held = total.weight > 0
        moved = centers.points.copy()
        moved[held] = centers.shift + total.total[held] / total.weight[held, None]
        movement = float(((moved - centers.points) ** 2).sum())
        following = state | {"centers": Centers.at(moved, centers.shift)}
        return Step(following, total.objective, movement <= state["least_movement"])

    def _attributes(self, state: dict[str, Any]) -> dict[str, Any]:
        return super()._attributes(state) | {"threshold_": state["threshold"]}

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        found = find_nearest(rows, self._prepared(), Nearest.of(len(rows)))
        return np.where(found.squared <= self.threshold_**2, found.labels, JUNK).astype(np.int64)


def _spread_of(chunk: Chunk, centers: Centers) -> SpreadSums:
    return SpreadSums(*squared_spread(chunk, centers))


def soft_step(X: Any, centers: Any, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """One pass of soft k-means with Gaussian affinities: the shares, and the new centres.

    Parameters
    ----------
    X : array-like of shape (n, d)
    centers : array-like of shape (k, d)
    scale : float
        Sigma of the affinities ``exp(-|x - c|^2 / (2 sigma^2))``.

    Returns
    -------
    shares : ndarray of shape (n, k)
    centers : ndarray of shape (k, d)

    Examples
    --------
    >>> shares, moved = soft_step([[0.0], [1.0], [4.0], [5.0], [9.0]], [[0.0], [5.0]], 1.5)
    >>> moved.ravel().round(6).tolist()
    [0.561298, 5.959136]
    """
    rows, centers = number_rows(X), number_rows(centers, "centers")
    shares = softmax(-0.5 * (distances_to(rows, centers) / scale) ** 2, axis=1)
    return shares, shares.T @ rows / shares.sum(axis=0)[:, None]
