"""k-means with hints: pairs of rows that must, or must not, be in one cluster.

Texts: 004 17.1.4 (PCK-means, eq 17.8; MPCK-means).
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gnomon.cluster.centers import require_rows, warn_fewer_clusters
from gnomon.cluster.distinct import nearest_label
from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.transfer import fit_quietly
from gnomon.contract import Clusterer, Data
from gnomon.engine.draw import canonical_order
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import HISTORY, JOBS, SEED, StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, ListOf

LEAST_VARIANCE = 1e-6  # judgement: share of the mean variance below which a metric is not inverted


class Links(NamedTuple):
    """Pairs of rows with what breaking them costs.

    Attributes
    ----------
    must, cannot : ndarray of int of shape (m, 2)
    must_weights, cannot_weights : ndarray of shape (m,)
    """

    must: np.ndarray
    must_weights: np.ndarray
    cannot: np.ndarray
    cannot_weights: np.ndarray


def checked_links(must_link: Any, cannot_link: Any, weight: float, n: int) -> Links:
    """Links as arrays; a third entry of a pair is its own weight."""
    parts: list[np.ndarray] = []
    for name, given in (("must_link", must_link), ("cannot_link", cannot_link)):
        pairs = np.array([tuple(each)[:2] for each in given], dtype=np.int64).reshape(-1, 2)
        weights = np.array([each[2] if len(each) > 2 else weight for each in given], dtype=float)
        if len(pairs) and (pairs.min() < 0 or pairs.max() >= n):
            worst = pairs[(pairs < 0).any(axis=1) | (pairs >= n).any(axis=1)][0]
            raise DataError(
                f"{name} {tuple(worst.tolist())} names a row that is not among 0..{n - 1}"
            )
        same = pairs[:, 0] == pairs[:, 1]
        if name == "cannot_link" and same.any():
            raise DataError(f"cannot_link ({pairs[same][0, 0]}, {pairs[same][0, 0]}) is one row")
        parts += [pairs, weights]
    return Links(*parts)


def must_link_closure(must: np.ndarray, n: int) -> np.ndarray:
    """The group of each of n rows when must-links are followed on and on."""
    graph = coo_array((np.ones(len(must)), (must[:, 0], must[:, 1])), shape=(n, n))
    return connected_components(graph, directed=False)[1]


def contradictions(must_link: Any, cannot_link: Any, n: int) -> list[tuple[int, int]]:
    """Cannot-links between rows that must-links join, directly or through others.

    Parameters
    ----------
    must_link, cannot_link : sequence of pairs of int
    n : int
        Number of rows.

    Returns
    -------
    pairs : list of tuple

    Examples
    --------
    >>> contradictions([(0, 1), (1, 2)], [(0, 2), (0, 3)], 4)
    [(0, 2)]
    """
    links = checked_links(must_link, cannot_link, 1.0, n)
    group = must_link_closure(links.must, n)
    broken = group[links.cannot[:, 0]] == group[links.cannot[:, 1]]
    return [(int(a), int(b)) for a, b in links.cannot[broken]]


@method(
    task="group",
    texts="004 17.1.4",
    use="Groups where a person knows of some pairs that they belong together, or do not.",
    avoid="Without any hints (KMeans); more than some ten thousand linked rows.",
    peers=("active_semi_clustering.PCKMeans",),
)
class ConstrainedKMeans(Clusterer):
    """A k-means that heeds must-links and cannot-links between rows.

    Minimises ``sum_i |x_i - c_l(i)|^2_A + sum of weights of broken links`` (PCK-means). With
    ``links="never"`` no link may be broken: rows joined by must-links move together, others are
    placed by turns with backtracking (COP-means), and it refuses where no way is found. With
    ``metric="diagonal"`` or ``"full"`` each cluster learns its own distance
    ``(x - c)' A_c (x - c) - log det A_c``, and a broken link costs more the farther (must) or
    nearer (cannot) its rows are (MPCK-means). Use it when some pairs are known. The first centres
    are means of groups that must-links make, heavy ones that lie far apart, then those of k-means.

    Links name rows by their place in the table that ``fit`` is given. A new row goes to its
    nearest centre, since no link names it.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of groups.
    must_link : sequence of (i, j) or (i, j, weight), default=()
        Pairs of rows that belong together.
    cannot_link : sequence of (i, j) or (i, j, weight), default=()
        Pairs of rows that do not.
    weight : float, default=1.0
        What a broken link costs, where it has no weight of its own.
    links : {"penalty", "never"}, default="penalty"
        Whether links may be broken for their weight, or not at all.
    metric : {"euclidean", "diagonal", "full"}, default="euclidean"
        Distance of rows to centres: plain, or learnt for each cluster.
    max_iter : int, default=100
        Most passes.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first centres.
    n_jobs : int or None, default=None
        Threads of the first centres.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the centres of every pass in ``history_.states``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_columns)
        The centres.
    metrics_ : ndarray of shape (n_clusters, n_columns, n_columns)
        A_c of each cluster; the identity where none is learnt.
    labels_ : ndarray of shape (n_samples,)
        The group of each row.
    broken_ : list of tuple
        Links that the labels break.
    n_iter_ : int
        Passes made.
    history_ : History
        The objective after each pass.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Notes
    -----
    Texts: 004 17.1.4, which gives eq 17.8 and describes MPCK-means in words; its objective is that
    of Bilenko, Basu and Mooney (2004).

    Examples
    --------
    >>> from gnomon.cluster import ConstrainedKMeans
    >>> rows = [[0.0], [1.0], [10.0], [11.0]]
    >>> model = ConstrainedKMeans(2, must_link=[(1, 2, 2)], cannot_link=[(0, 1, 3)], random_state=0)
    >>> model.fit(rows).history_[-1], model.broken_
    (6.0, [(1, 2), (0, 1)])
    """

    _parameter_constraints = {
        "n_clusters": [whole(1)],
        "must_link": ["array-like"],
        "cannot_link": ["array-like"],
        "weight": [at_least(0)],
        "links": [StrOptions({"penalty", "never"})],
        "metric": [StrOptions({"euclidean", "diagonal", "full"})],
        "max_iter": [whole(1)],
        "random_state": SEED,
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }
    _largest = 1e60
    _stored = {
        "broken_": ListOf(Anything()),
        "cluster_centers_": Array("f8", ("n_clusters", "n_columns")),
        "labels_": Array("i8", (None,), low=0, below="n_clusters"),
        "metrics_": Array("f8", ("n_clusters", "n_columns", "n_columns")),
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        must_link=(),
        cannot_link=(),
        weight=1.0,
        links="penalty",
        metric="euclidean",
        max_iter=100,
        random_state=None,
        n_jobs=None,
        keep_history="objective",
    ):
        self.n_clusters = n_clusters
        self.must_link = must_link
        self.cannot_link = cannot_link
        self.weight = weight
        self.links = links
        self.metric = metric
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _learn(self, X, y, sample_weight):
        vars(self).pop("labels_", None)
        super()._learn(X, y, sample_weight)
        if not hasattr(self, "labels_"):
            self.labels_ = self.predict(X)
        return self

    def _fit(self, data: Data) -> None:
        require_rows(data.n_rows, self.n_clusters)
        if data.kept is not None and (len(self.must_link) or len(self.cannot_link)):
            raise DataError("links name rows, so rows of weight zero cannot be left out; drop them")
        links = checked_links(self.must_link, self.cannot_link, self.weight, data.n_rows)
        if self.links == "never":
            _refuse_contradictions(links, data.n_rows)
        order = canonical_order(data.rows)
        rows = np.ascontiguousarray(data.rows[order], dtype=np.float64)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        moved = links._replace(must=place[links.must], cannot=place[links.cannot])
        problem = _Problem(rows, data.weight_array[order], moved, self.links, self.metric)
        labels = self._alternate(problem)
        warn_fewer_clusters(labels, self.n_clusters)
        if data.kept is None:
            self.labels_ = labels[place]
            self.broken_ = _broken(links, self.labels_)
        else:
            self.broken_ = []

    def _alternate(self, problem: _Problem) -> np.ndarray:
        centers = self._first_centers(problem)
        k, d = centers.shape
        metrics = np.repeat(np.eye(d)[None], k, axis=0)
        labels = np.full(len(problem.rows), -1)
        course = self._course("pass", self.max_iter)
        for _ in course:
            before = labels
            labels = problem.assigned(centers, metrics, labels)
            centers = problem.centers(labels, centers)
            metrics = problem.metrics(labels, centers, metrics)
            found = {"cluster_centers_": centers, "metrics_": metrics}
            if course.end_step(
                problem.objective(labels, centers, metrics),
                bool((before == labels).all()),
                state=partial(dict, cluster_centers=centers.copy()),
                attributes=partial(lambda found: self._public() | found, found),
            ):
                break
        self.cluster_centers_, self.metrics_ = centers, metrics
        self.history_, self.n_iter_ = course.history, len(course.history)
        return labels

    def _first_centers(self, problem: _Problem) -> np.ndarray:
        """Means of heavy groups of must-links that lie apart, then centres of k-means."""
        k, rows, weights = self.n_clusters, problem.rows, problem.weights
        seed = int(self._rng().integers(2**31))
        model = KMeans(k, random_state=seed, n_jobs=self.n_jobs)
        spread = fit_quietly(model, rows, weights).cluster_centers_
        if len(problem.links.must) == 0:
            return spread.copy()
        group, sizes = problem.group, np.bincount(problem.group, weights)
        linked = np.unique(group[problem.links.must])
        means = np.array([weights[group == g] @ rows[group == g] / sizes[g] for g in linked])
        centers = [means[sizes[linked].argmax()]]
        while len(centers) < k:
            gaps = ((means[:, None] - np.array(centers)) ** 2).sum(axis=2).min(axis=1)
            pull = sizes[linked] * gaps
            if not pull.max() > 0:
                break
            centers.append(means[pull.argmax()])
        while len(centers) < k:
            gaps = ((spread[:, None] - np.array(centers)) ** 2).sum(axis=2).min(axis=1)
            centers.append(spread[gaps.argmax()])
        return np.array(centers)

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        if self.metric == "euclidean":
            numbers = np.arange(len(self.cluster_centers_))
            return nearest_label(rows, self.cluster_centers_, numbers)
        return metric_distances(rows, self.cluster_centers_, self.metrics_).argmin(axis=1)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        inner = KMeans(self.n_clusters, n_jobs=self.n_jobs).forecast(n_rows, n_columns)
        k = self.n_clusters
        return inner + 8 * n_rows * (6 * n_columns + 4 * k + 8) + 24 * k * n_columns**2

    def _check_loaded(self) -> None:
        if not hasattr(self, "cluster_centers_"):
            return
        encoder = getattr(self, "encoder_", None)
        d = self.n_features_in_ if encoder is None else len(encoder.columns)
        k = len(self.cluster_centers_)
        if self.cluster_centers_.shape != (k, d) or self.metrics_.shape != (k, d, d) or k == 0:
            raise ValueError(f"centres or metrics do not fit rows of {d} columns")
        if {self.cluster_centers_.dtype, self.metrics_.dtype} != {np.dtype(np.float64)}:
            raise ValueError("centres and metrics must be numbers")


def _refuse_contradictions(links: Links, n: int) -> None:
    group = must_link_closure(links.must, n)
    broken = group[links.cannot[:, 0]] == group[links.cannot[:, 1]]
    if broken.any():
        a, b = links.cannot[broken][0]
        chain = np.flatnonzero(group == group[a])
        raise DataError(
            f"cannot_link ({a}, {b}) contradicts must-links: rows {chain.tolist()[:12]} must all "
            "be together; drop one of these links, or allow broken ones with links='penalty'"
        )


def _broken(links: Links, labels: np.ndarray) -> list[tuple[int, int]]:
    apart = labels[links.must[:, 0]] != labels[links.must[:, 1]]
    together = labels[links.cannot[:, 0]] == labels[links.cannot[:, 1]]
    pairs = [*links.must[apart].tolist(), *links.cannot[together].tolist()]
    return [(int(a), int(b)) for a, b in pairs]


def metric_distances(rows: np.ndarray, centers: np.ndarray, metrics: np.ndarray) -> np.ndarray:
    """``(x - c)' A (x - c) - log det A`` of every row and cluster."""
    distances = np.empty((len(rows), len(centers)))
    for c, (center, metric) in enumerate(zip(centers, metrics)):
        away = rows - center
        constant = np.linalg.slogdet(metric)[1]
        distances[:, c] = (np.dot(away, metric) * away).sum(axis=1) - constant
    return distances


class _Problem:
    """Rows with links, and the two steps of the alternation."""

    def __init__(self, rows, weights, links: Links, keeping: str, metric: str):
        self.rows, self.weights, self.links = rows, weights, links
        self.never, self.metric = keeping == "never", metric
        self.group = must_link_closure(links.must, len(rows))
        self.partners: dict[int, list[tuple[int, float, bool]]] = {}
        for pairs, costs, must in (
            (links.must, links.must_weights, True),
            (links.cannot, links.cannot_weights, False),
        ):
            for (a, b), cost in zip(pairs.tolist(), costs.tolist()):
                self.partners.setdefault(a, []).append((b, cost, must))
                self.partners.setdefault(b, []).append((a, cost, must))
        linked = np.unique(links.must)
        groups = self.group[linked]
        self.joined = [linked[groups == g] for g in np.unique(groups)]
        spread = rows.max(axis=0) - rows.min(axis=0)
        self.span = float((spread**2).sum())

    def assigned(self, centers, metrics, before: np.ndarray) -> np.ndarray:
        """Each row to its cheapest cluster, linked rows one after the other until none moves."""
        distances = self.distances(centers, metrics)
        if self.never:
            return self._assigned_without_breaking(distances)
        labels = distances.argmin(axis=1)
        linked = sorted(self.partners)
        if (before >= 0).all():
            labels[linked] = before[linked]
        for _ in range(50):
            moved = False
            for i in linked:
                cost = self.weights[i] * distances[i]
                cost = cost + self._penalties(i, labels, metrics)
                best = int(cost.argmin())
                if cost[best] < cost[labels[i]]:
                    labels[i], moved = best, True
            moved |= self._move_together(labels, distances, metrics)
            moved |= self._exchange(labels, distances, metrics)
            if not moved:
                break
        return labels

    def _move_together(self, labels, distances, metrics) -> bool:
        """Rows joined by must-links to one cluster, where that is cheaper than where they are.

        One by one each would break the link first, so that a pair in the wrong place would stay.
        """
        moved = False
        for members in self.joined:
            here = labels[members].copy()
            least, best = self._cost_of(members, labels, distances, metrics), None
            for c in range(distances.shape[1]):
                labels[members] = c
                cost = self._cost_of(members, labels, distances, metrics)
                if cost < least - 1e-12 * abs(least):
                    least, best = cost, c
            labels[members] = here if best is None else best
            moved |= best is not None
        return moved

    def _exchange(self, labels, distances, metrics) -> bool:
        """The two sides of a cannot-link change places, where that is cheaper.

        Each alone would break the link first, so that two rows in each other's place would stay.
        """
        moved = False
        for a, b in self.links.cannot.tolist():
            if labels[a] == labels[b]:
                continue
            sides = [np.flatnonzero(self.group == self.group[row]) for row in (a, b)]
            members = np.concatenate(sides)
            here = labels[members].copy()
            before = self._cost_of(members, labels, distances, metrics)
            labels[sides[0]], labels[sides[1]] = labels[b], labels[a]
            after = self._cost_of(members, labels, distances, metrics)
            if after < before - 1e-12 * abs(before):
                moved = True
            else:
                labels[members] = here
        return moved

    def _cost_of(self, members, labels, distances, metrics) -> float:
        """Distances of some rows and what their broken links cost, links among them once."""
        inside = set(members.tolist())
        total = float(self.weights[members] @ distances[members, labels[members]])
        for i in members.tolist():
            for other, weight, must in self.partners.get(i, ()):
                if (labels[i] != labels[other]) == must:
                    factors = self._link_factors(i, other, labels[other], metrics, must)
                    share = 0.5 if other in inside else 1.0
                    total += share * weight * float(factors[labels[i]])
        return total

    def distances(self, centers, metrics) -> np.ndarray:
        if self.metric == "euclidean":
            return ((self.rows[:, None] - centers) ** 2).sum(axis=2)
        return metric_distances(self.rows, centers, metrics)

    def _penalties(self, i: int, labels: np.ndarray, metrics: np.ndarray) -> np.ndarray:
        """What broken links of row i cost in each cluster."""
        k = len(metrics)
        cost = np.zeros(k)
        for other, weight, must in self.partners[i]:
            factors = self._link_factors(i, other, labels[other], metrics, must)
            if must:
                factors[labels[other]] = 0.0
                cost += weight * factors
            else:
                cost[labels[other]] += weight * factors[labels[other]]
        return cost

    def _link_factors(self, i, other, there, metrics, must: bool) -> np.ndarray:
        """1 for the plain distance; with learnt ones how far apart (must) or near (cannot)."""
        if self.metric == "euclidean":
            return np.ones(len(metrics))
        away = self.rows[i] - self.rows[other]
        squared = np.einsum("d,kde,e->k", away, metrics, away)
        if must:
            return 0.5 * (squared + squared[there])
        largest = np.linalg.eigvalsh(metrics).max(axis=1) * self.span
        return np.maximum(largest - squared, 0.0)

    def _assigned_without_breaking(self, distances: np.ndarray) -> np.ndarray:
        """COP-means: groups of must-links placed one by one, backtracking where none fits."""
        n_groups, k = self.group.max() + 1, distances.shape[1]
        cost = np.zeros((n_groups, k))
        np.add.at(cost, self.group, self.weights[:, None] * distances)
        apart: dict[int, set[int]] = {}
        for a, b in self.group[self.links.cannot].tolist():
            apart.setdefault(a, set()).add(b)
            apart.setdefault(b, set()).add(a)
        place = cost.argmin(axis=1)
        tight = sorted(apart, key=lambda g: (-len(apart[g]), g))
        chosen = _backtrack(tight, apart, np.argsort(cost, axis=1, kind="stable"))
        if chosen is None:
            raise DataError(
                f"no way was found to put rows in {k} clusters without breaking a cannot-link; "
                "use more clusters, drop links, or allow broken ones with links='penalty'"
            )
        for each, where in chosen.items():
            place[each] = where
        return place[self.group]

    def centers(self, labels: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Means of the clusters; one that has lost all its rows stays."""
        centers = before.copy()
        for c in range(len(before)):
            own = labels == c
            if own.any():
                centers[c] = self.weights[own] @ self.rows[own] / self.weights[own].sum()
        return centers

    def metrics(self, labels, centers, before: np.ndarray) -> np.ndarray:
        """A_c = n_c (scatter + parts of broken links)^-1 (diagonal or full)."""
        if self.metric == "euclidean":
            return before
        metrics = before.copy()
        d = self.rows.shape[1]
        overall = np.cov(self.rows.T, aweights=self.weights, ddof=0).reshape(d, d)
        floor = LEAST_VARIANCE * max(float(np.trace(overall)) / d, np.finfo(float).tiny * 1e6)
        for c in range(len(centers)):
            own = labels == c
            if not own.any():
                continue
            away = self.rows[own] - centers[c]
            scatter = (away * self.weights[own][:, None]).T @ away
            scatter += self._broken_scatter(labels, c)
            scatter = scatter / self.weights[own].sum()
            if self.metric == "diagonal":
                scatter = np.diag(np.diag(scatter))
            metrics[c] = np.linalg.inv(scatter + floor * np.eye(d))
        return metrics

    def _broken_scatter(self, labels: np.ndarray, c: int) -> np.ndarray:
        """Half the weighted outer products of the broken must-links of a cluster."""
        d = self.rows.shape[1]
        total = np.zeros((d, d))
        for (a, b), weight in zip(self.links.must, self.links.must_weights):
            if labels[a] != labels[b] and c in (labels[a], labels[b]):
                away = self.rows[a] - self.rows[b]
                total += 0.5 * weight * np.outer(away, away)
        return total

    def objective(self, labels, centers, metrics) -> float:
        distances = self.distances(centers, metrics)
        total = float(self.weights @ distances[np.arange(len(labels)), labels])
        if self.never:
            return total
        for pairs, costs, must in (
            (self.links.must, self.links.must_weights, True),
            (self.links.cannot, self.links.cannot_weights, False),
        ):
            for (a, b), cost in zip(pairs, costs):
                if (labels[a] != labels[b]) == must:
                    factors = self._link_factors(a, b, labels[b], metrics, must)
                    total += float(cost * factors[labels[a]])
        return total


def _backtrack(
    groups: list[int], apart: dict[int, set[int]], preference: np.ndarray, most: int = 100_000
) -> dict[int, int] | None:
    """A cluster for each group, none with those it must be apart from; cheap ones first."""
    chosen: dict[int, int] = {}
    tried = [0] * (len(groups) + 1)
    depth = steps = 0
    while depth < len(groups):
        steps += 1
        if steps > most:
            return None
        group = groups[depth]
        chosen.pop(group, None)
        taken = {chosen[other] for other in apart[group] if other in chosen}
        options = preference[group]
        while tried[depth] < len(options) and int(options[tried[depth]]) in taken:
            tried[depth] += 1
        if tried[depth] == len(options):
            tried[depth] = 0
            depth -= 1
            if depth < 0:
                return None
            chosen.pop(groups[depth], None)
            tried[depth] += 1
            continue
        chosen[group] = int(options[tried[depth]])
        depth += 1
        tried[depth] = 0
    return chosen
