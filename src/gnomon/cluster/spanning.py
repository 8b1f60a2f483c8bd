"""Trees of merges found through a tree of boxes: what is far is never compared.

In many columns, where boxes leave nothing out, `all_pairs` does the same work.

The minimum spanning tree is Borůvka's: every component takes its shortest edge to another, and all
such edges at once. Each row keeps a list of its nearest; a list holds until it has no row of
another component left, and only then is the tree asked again, below the shortest edge that the
component has so far. Ward's merges come in rounds: any two clusters that are nearest to each other
may merge, in whatever order, since no merge brings clusters nearer. Memory is O(rows).

References: Borůvka (1926); Bentley and Friedman (1978); Bruynooghe (1977) on reciprocal neighbours.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from gnomon.cluster import all_pairs
from gnomon.cluster.boxes import DEEPEST, Boxes, BoxTree, box_tree, least_squared
from gnomon.cluster.linkage_kernel import squared_to_tile, ward_chain
from gnomon.engine.costs import boxes_pay
from gnomon.engine.kernel import kernel, subkernel
from gnomon.engine.threads import in_order

# Rows of a leaf: a look at so many rows costs about as much as one at a box.
LEAF = 32
NEAREST_KEPT = 6
ROWS_AT_ONCE = 1024
# Parts in which a round is searched: each sees only its own shortest edges.
SEARCHES = 16
# Clusters below which, and share of clusters merged in a round below which, the chain of nearest
# neighbours is sooner done than another round: of all pairs, and of boxes (measured).
FEW_CLUSTERS, FEW_IN_BOXES = 4000, 200
LEAST_SHARE = 0.05
ROUNDED_DOWN = 1.0 - 1e-12


class Edges(NamedTuple):
    """Edges of a spanning tree: their ends, by places in the table, and squared lengths."""

    one: np.ndarray
    other: np.ndarray
    squared: np.ndarray


def core_distances(
    rows: np.ndarray, weights: np.ndarray, enough: float, n_jobs: int | None = None
) -> np.ndarray:
    """Squared radius of the ball round each row that holds the weight `enough`, itself counted."""
    tree = box_tree(rows, leaf_rows=LEAF)
    columns = np.ascontiguousarray(tree.rows.T)
    in_tree = weights[tree.order]
    most = int(np.searchsorted(np.cumsum(np.sort(weights)), enough)) + 2
    squared = np.empty(len(rows))

    def look(first: int) -> None:
        last = min(first + ROWS_AT_ONCE, len(rows))
        fill_core_distances(
            first, last, tree.rows, columns, in_tree, tree.boxes, enough, most, squared
        )

    for _ in in_order(look, range(0, len(rows), ROWS_AT_ONCE), n_jobs, short=True):
        pass
    found = np.empty(len(rows))
    found[tree.order] = squared
    return found


def shortest_edges(
    rows: np.ndarray, cores: np.ndarray | None = None, n_jobs: int | None = None
) -> Edges:
    """The minimum spanning tree of rows, by distances or by mutual reachability.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    cores : ndarray of shape (n,), default=None
        Squared core distances; an edge is then as long as the largest of the distance and the core
        distances of its ends.
    n_jobs : int or None, default=None

    Returns
    -------
    edges : Edges
        In ascending order.
    """
    n = len(rows)
    if not boxes_pay(*rows.shape):
        return _edges_of_all_pairs(rows, np.zeros(n) if cores is None else cores.copy())
    tree = box_tree(rows, leaf_rows=LEAF)
    columns = np.ascontiguousarray(tree.rows.T)
    inside = np.zeros(n) if cores is None else cores[tree.order]
    least_core = node_minima(tree, inside)
    kept = min(NEAREST_KEPT, n - 1)
    near, squared = np.empty((n, kept), np.int64), np.empty((n, kept))

    def look(first: int) -> None:
        last = min(first + ROWS_AT_ONCE, n)
        fill_nearest_lists(
            first, last, tree.rows, columns, inside, tree.boxes, least_core, near, squared
        )

    for _ in in_order(look, range(0, n, ROWS_AT_ONCE), n_jobs, short=True):
        pass
    lists = Lists.of(near, squared)
    size = max(ROWS_AT_ONCE, -(-n // SEARCHES))
    one, other, length = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1)
    node_component = np.empty(len(tree.boxes.start), np.int64)
    edges = 0

    def search(first: int) -> None:
        find_strangers(
            first,
            min(first + size, n),
            tree.rows,
            columns,
            inside,
            tree.boxes,
            least_core,
            node_component,
            lists,
        )

    while edges < n - 1:
        begin_round(tree.boxes, near, squared, node_component, lists)
        for _ in in_order(search, range(0, n, size), n_jobs, short=True):
            pass
        edges = end_round(edges, lists, one, other, length)
    order = np.argsort(length, kind="stable")
    return Edges(tree.order[one[order]], tree.order[other[order]], length[order])


def _edges_of_all_pairs(rows: np.ndarray, cores: np.ndarray) -> Edges:
    """`shortest_edges` in many columns; cores are used up."""
    n = len(rows)
    found = Edges(np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1))
    all_pairs.prim_edges(rows.T.copy(), cores, *found)
    order = np.argsort(found.squared, kind="stable")
    return Edges(*(part[order] for part in found))


def node_minima(tree: BoxTree, values: np.ndarray) -> np.ndarray:
    """The least value among the rows of each node; values in the order of the tree."""
    least = np.empty(len(tree.boxes.start))
    fill_node_minima(values, tree.boxes, least)
    return least


@kernel("f8[:]", Boxes, "out f8[:]")
def fill_node_minima(values, boxes, least):
    """See `node_minima`; children stand behind their parents. values (n,), least (n_nodes,)."""
    for back in range(len(boxes.start)):
        node = len(boxes.start) - 1 - back
        first = boxes.child[node]
        if first < 0:
            least[node] = values[boxes.start[node] : boxes.stop[node]].min()
        else:
            least[node] = min(least[first], least[first + 1])


@subkernel
def push_children(point, node, boxes, bound, stack, gaps, waiting):
    """Put the children of a node that are within the bound on the stack, the nearer on top."""
    near, far = boxes.child[node], boxes.child[node] + 1
    to_near = least_squared(point, boxes.low[near], boxes.high[near])
    to_far = least_squared(point, boxes.low[far], boxes.high[far])
    if to_far < to_near:
        near, far, to_near, to_far = far, near, to_far, to_near
    if to_far < bound:
        stack[waiting], gaps[waiting] = far, to_far
        waiting += 1
    if to_near < bound:
        stack[waiting], gaps[waiting] = near, to_near
        waiting += 1
    return waiting


@kernel("i8", "i8", "f8[:,:]", "f8[:,:]", "f8[:]", Boxes, "f8", "i8", "out f8[:]")
def fill_core_distances(first, last, rows, columns, weights, boxes, enough, most, squared):
    """Squared core distances of the rows first .. last. rows (n, d), weights, squared (n,).

    The nearest rows so far are kept in order, no more than are needed for the weight; there are
    never more than `most`.
    """
    stack, gaps, tile = np.empty(DEEPEST, np.int64), np.empty(DEEPEST), np.empty(LEAF)
    best, held = np.empty(most + 1), np.empty(most + 1)
    for i in range(first, last):
        count, total, bound = 0, 0.0, np.inf
        stack[0], gaps[0], waiting = 0, 0.0, 1
        while waiting > 0:
            waiting -= 1
            node = stack[waiting]
            if gaps[waiting] >= bound:
                continue
            if boxes.child[node] >= 0:
                waiting = push_children(rows[i], node, boxes, bound, stack, gaps, waiting)
                continue
            begin = boxes.start[node]
            squared_to_tile(columns, rows[i], begin, boxes.stop[node] - begin, tile)
            for j in range(begin, boxes.stop[node]):
                distance = tile[j - begin]
                if distance >= bound:
                    continue
                place = count
                while place > 0 and best[place - 1] > distance:
                    best[place], held[place] = best[place - 1], held[place - 1]
                    place -= 1
                best[place], held[place] = distance, weights[j]
                count += 1
                total += weights[j]
                while count > 1 and total - held[count - 1] >= enough:
                    count -= 1
                    total -= held[count]
                if total >= enough:
                    bound = best[count - 1]
        squared[i] = bound


@kernel("i8", "i8", "f8[:,:]", "f8[:,:]", "f8[:]", Boxes, "f8[:]", "out i8[:,:]", "out f8[:,:]")
def fill_nearest_lists(first, last, rows, columns, cores, boxes, least_core, near, squared):
    """The nearest other rows of the rows first .. last, in order. near, squared (n, kept)."""
    kept = near.shape[1]
    stack, gaps, tile = np.empty(DEEPEST, np.int64), np.empty(DEEPEST), np.empty(LEAF)
    for i in range(first, last):
        best, found = squared[i], near[i]
        best[:] = np.inf
        found[:] = -1
        stack[0], gaps[0], waiting = 0, 0.0, 1
        while waiting > 0:
            waiting -= 1
            node = stack[waiting]
            bound = best[kept - 1]
            if max(gaps[waiting], least_core[node], cores[i]) >= bound:
                continue
            if boxes.child[node] >= 0:
                waiting = push_children(rows[i], node, boxes, bound, stack, gaps, waiting)
                continue
            begin = boxes.start[node]
            squared_to_tile(columns, rows[i], begin, boxes.stop[node] - begin, tile)
            for j in range(begin, boxes.stop[node]):
                distance = max(tile[j - begin], cores[i], cores[j])
                if distance >= best[kept - 1] or j == i:
                    continue
                place = kept - 1
                while place > 0 and best[place - 1] > distance:
                    best[place], found[place] = best[place - 1], found[place - 1]
                    place -= 1
                best[place], found[place] = distance, j


@subkernel
def nearest_stranger(
    i, rows, columns, cores, boxes, least_core, component, node_component, bound, stack, gaps, tile
):
    """The nearest row of another component below a bound, and how far; -1 where there is none."""
    found, own = -1, component[i]
    stack[0], gaps[0], waiting = 0, 0.0, 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if node_component[node] == own:
            continue
        if max(gaps[waiting], least_core[node]) >= bound:
            continue
        if boxes.child[node] >= 0:
            waiting = push_children(rows[i], node, boxes, bound, stack, gaps, waiting)
            continue
        begin = boxes.start[node]
        squared_to_tile(columns, rows[i], begin, boxes.stop[node] - begin, tile)
        for j in range(begin, boxes.stop[node]):
            distance = max(tile[j - begin], cores[i], cores[j])
            if distance < bound and component[j] != own:
                found, bound = j, distance
    return found, bound


@subkernel
def root_of(above, i):
    """The row that stands for the component of a row; paths are halved on the way."""
    while above[i] != i:
        above[i] = above[above[i]]
        i = above[i]
    return i


class Lists(NamedTuple):
    """What is known of each row's nearest row in another component.

    Attributes
    ----------
    above, component : ndarray
        A row nearer to that which stands for the component, and that row itself.
    at : ndarray
        How much of the row's list is used up.
    partner : ndarray
        The nearest row of another component; -1 where it is not known.
    floor : ndarray
        Its squared distance, or a bound that it is not below: strangers only ever move away.
    best : ndarray
        Of each component the shortest edge known when the search begins.
    """

    above: Annotated[np.ndarray, "out i8[:]"]
    component: Annotated[np.ndarray, "out i8[:]"]
    at: Annotated[np.ndarray, "out i8[:]"]
    partner: Annotated[np.ndarray, "out i8[:]"]
    floor: Annotated[np.ndarray, "out f8[:]"]
    best: Annotated[np.ndarray, "out f8[:]"]

    @classmethod
    def of(cls, near: np.ndarray, squared: np.ndarray) -> Lists:
        n = len(near)
        above, at, partner = np.arange(n), np.zeros(n, np.int64), np.full(n, -1)
        return cls(above, np.empty(n, np.int64), at, partner, squared[:, -1].copy(), np.empty(n))


@kernel(Boxes, "i8[:,:]", "f8[:,:]", "out i8[:]", Lists)
def begin_round(boxes, near, squared, node_component, lists):
    """Name the components, of nodes too (-1: several), and take partners from the lists."""
    n, kept = near.shape
    for i in range(n):
        lists.component[i] = root_of(lists.above, i)
        lists.best[i] = np.inf
    for back in range(len(boxes.start)):
        node = len(boxes.start) - 1 - back
        if boxes.child[node] >= 0:
            left, right = node_component[boxes.child[node]], node_component[boxes.child[node] + 1]
            node_component[node] = left if left == right else -1
            continue
        node_component[node] = lists.component[boxes.start[node]]
        for i in range(boxes.start[node] + 1, boxes.stop[node]):
            if lists.component[i] != lists.component[boxes.start[node]]:
                node_component[node] = -1
    for i in range(n):
        own = lists.component[i]
        while lists.at[i] < kept and lists.component[near[i, lists.at[i]]] == own:
            lists.at[i] += 1
        if lists.at[i] < kept:
            lists.partner[i], lists.floor[i] = near[i, lists.at[i]], squared[i, lists.at[i]]
        elif lists.partner[i] >= 0 and lists.component[lists.partner[i]] == own:
            lists.partner[i] = -1
        if lists.partner[i] >= 0:
            lists.best[own] = min(lists.best[own], lists.floor[i])


@kernel("i8", "i8", "f8[:,:]", "f8[:,:]", "f8[:]", Boxes, "f8[:]", "i8[:]", Lists)
def find_strangers(first, last, rows, columns, cores, boxes, least_core, node_component, lists):
    """Ask the tree for partners of the rows first .. last that may have a component's shortest."""
    shortest = lists.best.copy()
    stack, gaps, tile = np.empty(DEEPEST, np.int64), np.empty(DEEPEST), np.empty(LEAF)
    for i in range(first, last):
        own = lists.component[i]
        if lists.partner[i] >= 0 or lists.floor[i] >= shortest[own]:
            continue
        lists.partner[i], lists.floor[i] = nearest_stranger(
            i,
            rows,
            columns,
            cores,
            boxes,
            least_core,
            lists.component,
            node_component,
            shortest[own],
            stack,
            gaps,
            tile,
        )
        if lists.partner[i] >= 0:
            shortest[own] = lists.floor[i]


@kernel("i8", Lists, "out i8[:]", "out i8[:]", "out f8[:]")
def end_round(edges, lists, one, other, length):
    """Join every component by its shortest edge; returns how many edges there are now."""
    n = len(lists.above)
    chosen = np.full(n, -1, np.int64)
    lists.best[:] = np.inf
    for i in range(n):
        own = lists.component[i]
        if lists.partner[i] >= 0 and lists.floor[i] < lists.best[own]:
            lists.best[own], chosen[own] = lists.floor[i], i
    for own in range(n):
        i = chosen[own]
        if i < 0:
            continue
        a, b = root_of(lists.above, i), root_of(lists.above, lists.partner[i])
        if a != b:
            lists.above[max(a, b)] = min(a, b)
            one[edges], other[edges], length[edges] = i, lists.partner[i], lists.floor[i]
            edges += 1
    return edges


def ward_merges(rows: np.ndarray, weights: np.ndarray, n_jobs: int | None = None) -> Edges:
    """Ward's merges: a row of each side, and the sum of squares that each adds; in any order."""
    centers, weights, name = rows.copy(), weights.copy(), np.arange(len(rows))
    near, added = np.full(len(rows), -1), np.full(len(rows), np.inf)
    done: list[Edges] = []
    while True:
        by_boxes = boxes_pay(*centers.shape)
        if len(name) <= (FEW_IN_BOXES if by_boxes else FEW_CLUSTERS):
            break
        find = find_ward_neighbors if by_boxes else all_pairs.find_ward_neighbors
        find(centers, weights, near, added, n_jobs)
        mutual = near[near] == np.arange(len(near))
        kept = np.flatnonzero(mutual & (np.arange(len(near)) < near))
        if len(kept) < LEAST_SHARE * len(name):
            break
        gone = near[kept]
        done.append(Edges(name[kept], name[gone], added[kept]))
        share = weights[gone] / (weights[kept] + weights[gone])
        centers[kept] += share[:, None] * (centers[gone] - centers[kept])
        weights[kept] += weights[gone]
        near[mutual[near]] = -1
        near[kept] = -1
        stays = np.ones(len(name), dtype=bool)
        stays[gone] = False
        place = np.cumsum(stays) - 1
        near = np.where(near >= 0, place[near], -1)[stays]
        centers, weights, name, added = centers[stays], weights[stays], name[stays], added[stays]
    columns = np.ascontiguousarray(centers.T)
    rest = Edges(
        np.empty(len(name) - 1, np.int64),
        np.empty(len(name) - 1, np.int64),
        np.empty(len(name) - 1),
    )
    ward_chain(columns, weights, *rest)
    done.append(Edges(name[rest.one], name[rest.other], rest.squared))
    return Edges(*(np.concatenate(each) for each in zip(*done)))


def find_ward_neighbors(
    centers: np.ndarray,
    weights: np.ndarray,
    near: np.ndarray,
    added: np.ndarray,
    n_jobs: int | None,
) -> None:
    """Fill in, for each cluster without one (-1), the cluster whose union adds least, and what."""
    tree = box_tree(centers, leaf_rows=LEAF)
    columns = np.ascontiguousarray(tree.rows.T)
    inside = weights[tree.order]
    least_weight = node_minima(tree, inside)
    asked = np.flatnonzero(near[tree.order] < 0)

    def look(first: int) -> None:
        some = asked[first : first + ROWS_AT_ONCE]
        fill_ward_neighbors(
            some, tree.rows, columns, inside, tree.order, tree.boxes, least_weight, near, added
        )

    for _ in in_order(look, range(0, len(asked), ROWS_AT_ONCE), n_jobs, short=True):
        pass


@kernel("i8[:]", "f8[:,:]", "f8[:,:]", "f8[:]", "i8[:]", Boxes, "f8[:]", "out i8[:]", "out f8[:]")
def fill_ward_neighbors(asked, rows, columns, weights, order, boxes, least_weight, near, added):
    """The cluster whose union with each given one adds the least squares; of equals the first.

    A union with a cluster of weight v at distance r adds ``w v / (w + v) r^2``, which rises with v:
    the least weight and distance of a node bound it. rows (n, d) in the order of the tree; near and
    added (n,) in that of the table.
    """
    stack, gaps, tile = np.empty(DEEPEST, np.int64), np.empty(DEEPEST), np.empty(LEAF)
    for i in asked:
        weight = weights[i]
        found, least = -1, np.inf
        stack[0], gaps[0], waiting = 0, 0.0, 1
        while waiting > 0:
            waiting -= 1
            node = stack[waiting]
            light = least_weight[node]
            if weight * light / (weight + light) * gaps[waiting] * ROUNDED_DOWN > least:
                continue
            if boxes.child[node] >= 0:
                waiting = push_children(rows[i], node, boxes, np.inf, stack, gaps, waiting)
                continue
            begin = boxes.start[node]
            squared_to_tile(columns, rows[i], begin, boxes.stop[node] - begin, tile)
            for j in range(begin, boxes.stop[node]):
                value = tile[j - begin] * (weight * weights[j] / (weight + weights[j]))
                if j == i or value > least:
                    continue
                if value < least or order[j] < order[found]:
                    found, least = j, value
        near[order[i]], added[order[i]] = order[found], least
