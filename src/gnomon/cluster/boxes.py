"""A tree of boxes over rows: what is within reach of a point, found without looking at the rest.

Every node holds a stretch of the rows (put in the order of the tree) and their tight bounding box;
a node is halved at the median of its widest side until it is small. Least and largest distance to a
box bound those to all its rows, so that whole nodes are left out or counted at once. Memory is
O(rows), in any number of columns.
"""

from __future__ import annotations

import functools
from typing import Annotated, NamedTuple

import numpy as np

from gnomon.engine.kernel import kernel, lean_subkernel, subkernel

vectorized = functools.partial(lean_subkernel, reordered=True)
# Twice the rounding error of one addition: sums in another order differ by so much per column.
ROUNDING = 2.0**-51
LEAF_ROWS = 8
DEEPEST = 128


class Boxes(NamedTuple):
    """The nodes of a tree of boxes.

    Attributes
    ----------
    start, stop : ndarray of shape (n_nodes,)
        The rows of each node.
    child : ndarray of shape (n_nodes,)
        The first of a node's two children, which stand side by side; -1 for a leaf.
    low, high : ndarray of shape (n_nodes, d)
        The bounding box of each node.
    """

    start: Annotated[np.ndarray, "i8[:]"]
    stop: Annotated[np.ndarray, "i8[:]"]
    child: Annotated[np.ndarray, "i8[:]"]
    low: Annotated[np.ndarray, "f8[:,:]"]
    high: Annotated[np.ndarray, "f8[:,:]"]


class BoxTree(NamedTuple):
    """Rows in a tree of boxes.

    Attributes
    ----------
    rows : ndarray of shape (n, d)
        In the order of the tree.
    order : ndarray of shape (n,)
        Where each of them stood in the table.
    boxes : Boxes
    """

    rows: np.ndarray
    order: np.ndarray
    boxes: Boxes


def box_tree(rows: np.ndarray, diameter: float = np.inf, leaf_rows: int = LEAF_ROWS) -> BoxTree:
    """The tree of rows; leaves are no larger across than `diameter`, unless single rows."""
    n, d = rows.shape
    most = 2 * n
    order = np.arange(n)
    start, stop, child = (np.empty(most, np.int64) for _ in range(3))
    low, high = np.empty((most, d)), np.empty((most, d))
    used = build_boxes(rows, leaf_rows, diameter * diameter, order, start, stop, child, low, high)
    parts = (part[:used].copy() for part in (start, stop, child, low, high))
    return BoxTree(np.ascontiguousarray(rows[order]), order, Boxes(*parts))


def nearest_points(rows: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest point of each row (of equals the first), and how far; soon where it is near."""
    tree = box_tree(np.ascontiguousarray(points))
    found, distances = np.empty(len(rows), np.int64), np.empty(len(rows))
    nearest_rows(np.ascontiguousarray(rows), *tree, np.inf, found, distances)
    return found, distances


@subkernel
def select_median(rows, order, begin, end, middle, j):
    """Reorder order[begin:end] so that its first `middle - begin` have the smaller rows[., j]."""
    low, high = begin, end - 1
    while low < high:
        a, b, c = rows[order[low], j], rows[order[(low + high) // 2], j], rows[order[high], j]
        pivot = max(min(a, b), min(max(a, b), c))
        i, k = low, high
        while i <= k:
            while rows[order[i], j] < pivot:
                i += 1
            while rows[order[k], j] > pivot:
                k -= 1
            if i <= k:
                order[i], order[k] = order[k], order[i]
                i += 1
                k -= 1
        if middle <= k:
            high = k
        elif middle >= i:
            low = i
        else:
            return


@subkernel
def fill_boxes(rows, leaf_rows, squared_diameter, order, start, stop, child, low, high):
    """Fill the nodes, level by level; returns how many. rows (n, d), nodes' arrays of 2 n."""
    n, d = rows.shape
    start[0], stop[0] = 0, n
    used, node = 1, 0
    while node < used:
        begin, end = start[node], stop[node]
        for j in range(d):
            low[node, j] = high[node, j] = rows[order[begin], j]
        for i in range(begin + 1, end):
            for j in range(d):
                value = rows[order[i], j]
                low[node, j] = min(low[node, j], value)
                high[node, j] = max(high[node, j], value)
        across, widest = 0.0, 0
        for j in range(d):
            side = high[node, j] - low[node, j]
            across += side * side
            if side > high[node, widest] - low[node, widest]:
                widest = j
        size = end - begin
        child[node] = -1
        if size > 1 and (size > leaf_rows or across > squared_diameter):
            middle = begin + size // 2
            select_median(rows, order, begin, end, middle, widest)
            child[node] = used
            start[used], stop[used] = begin, middle
            start[used + 1], stop[used + 1] = middle, end
            used += 2
        node += 1
    return used


@kernel(
    "f8[:,:]",
    "i8",
    "f8",
    "out i8[:]",
    "out i8[:]",
    "out i8[:]",
    "out i8[:]",
    "out f8[:,:]",
    "out f8[:,:]",
)
def build_boxes(rows, leaf_rows, squared_diameter, order, start, stop, child, low, high):
    """`fill_boxes` for Python."""
    return fill_boxes(rows, leaf_rows, squared_diameter, order, start, stop, child, low, high)


@vectorized
def least_squared(point, low, high):
    """Squared distance of a point to a box, lowered by what rounding can add. All (d,)."""
    total = 0.0
    for j in range(len(point)):
        gap = max(low[j] - point[j], point[j] - high[j], 0.0)
        total += gap * gap
    return total * (1.0 - ROUNDING * len(point))


@vectorized
def most_squared(point, low, high):
    """Squared distance of a point to the farthest corner of a box, raised in the same way."""
    total = 0.0
    for j in range(len(point)):
        gap = max(point[j] - low[j], high[j] - point[j])
        total += gap * gap
    return total * (1.0 + ROUNDING * len(point))


@subkernel
def least_between(low_1, high_1, low_2, high_2):
    """Squared distance of two boxes."""
    total = 0.0
    for j in range(len(low_1)):
        gap = max(low_1[j] - high_2[j], low_2[j] - high_1[j], 0.0)
        total += gap * gap
    return total


@lean_subkernel
def squared_between(one, other):
    """Squared distance of two rows."""
    total = 0.0
    for j in range(len(one)):
        gap = one[j] - other[j]
        total += gap * gap
    return total


@lean_subkernel
def weight_of_leaf(point, rows, before, first, last, squared):
    """Weight of the rows first .. last - 1 within reach of a point.

    The sums of four rows are added up side by side, each in the order of columns, as by
    `squared_between`.
    """
    weight = 0.0
    i = first
    while i + 4 <= last:
        of_1, of_2, of_3, of_4 = 0.0, 0.0, 0.0, 0.0
        for j in range(len(point)):
            value = point[j]
            of_1 += (value - rows[i, j]) * (value - rows[i, j])
            of_2 += (value - rows[i + 1, j]) * (value - rows[i + 1, j])
            of_3 += (value - rows[i + 2, j]) * (value - rows[i + 2, j])
            of_4 += (value - rows[i + 3, j]) * (value - rows[i + 3, j])
        weight += before[i + 1] - before[i] if of_1 <= squared else 0.0
        weight += before[i + 2] - before[i + 1] if of_2 <= squared else 0.0
        weight += before[i + 3] - before[i + 2] if of_3 <= squared else 0.0
        weight += before[i + 4] - before[i + 3] if of_4 <= squared else 0.0
        i += 4
    while i < last:
        if squared_between(point, rows[i]) <= squared:
            weight += before[i + 1] - before[i]
        i += 1
    return weight


@subkernel
def count_within(point, rows, before, boxes, squared, lax_squared, enough, stack):
    """Weight of the rows within reach of a point; stops counting once it is `enough`.

    Nodes whose farthest corner is within `lax_squared` are counted whole, rows one by one within
    `squared`; below some rows a look at each is quicker than at boxes. Near
    nodes come first, so that enough is soon found. before (n + 1,): weights
    cumulated in the order of the tree.
    """
    total = 0.0
    waiting = 0
    if least_squared(point, boxes.low[0], boxes.high[0]) <= squared:
        stack[0], waiting = 0, 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if boxes.stop[node] - boxes.start[node] <= LEAF_ROWS:
            total += weight_of_leaf(
                point, rows, before, boxes.start[node], boxes.stop[node], squared
            )
        elif most_squared(point, boxes.low[node], boxes.high[node]) <= lax_squared:
            total += before[boxes.stop[node]] - before[boxes.start[node]]
        else:
            near, far = boxes.child[node], boxes.child[node] + 1
            to_near = least_squared(point, boxes.low[near], boxes.high[near])
            to_far = least_squared(point, boxes.low[far], boxes.high[far])
            if to_far < to_near:
                near, far, to_near, to_far = far, near, to_far, to_near
            if to_far <= squared:
                stack[waiting] = far
                waiting += 1
            if to_near <= squared:
                stack[waiting] = near
                waiting += 1
        if total >= enough:
            return total
    return total


@subkernel
def nearest_within(point, rows, order, boxes, squared, stack):
    """Place of the nearest row within reach (of equals the first of the table), and how far.

    -1 where there is none. The nearer child is looked into first.
    """
    found, least = -1, squared
    stack[0], waiting = 0, 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if least_squared(point, boxes.low[node], boxes.high[node]) > least:
            continue
        if boxes.child[node] < 0:
            for i in range(boxes.start[node], boxes.stop[node]):
                distance = squared_between(point, rows[i])
                if distance < least or (
                    distance == least and (found < 0 or order[i] < order[found])
                ):
                    found, least = i, distance
            continue
        near, far = boxes.child[node], boxes.child[node] + 1
        if least_squared(point, boxes.low[far], boxes.high[far]) < least_squared(
            point, boxes.low[near], boxes.high[near]
        ):
            near, far = far, near
        stack[waiting], stack[waiting + 1] = far, near
        waiting += 2
    return found, least


@kernel("f8[:,:]", "f8[:,:]", "f8[:]", Boxes, "f8", "f8", "out f8[:]")
def weights_within(points, rows, before, boxes, squared, lax_squared, weights):
    """`count_within` for many points (m, d); weights (m,)."""
    stack = np.empty(DEEPEST, np.int64)
    for i in range(len(points)):
        weights[i] = count_within(
            points[i],
            rows,
            before,
            boxes,
            squared,
            lax_squared,
            np.inf,
            stack,
        )


@kernel("f8[:,:]", "f8[:,:]", "i8[:]", Boxes, "f8", "out i8[:]", "out f8[:]")
def nearest_rows(points, rows, order, boxes, squared, found, distances):
    """The nearest row of each point (m, d) within reach, by its place in the table, or -1."""
    stack = np.empty(DEEPEST, np.int64)
    for i in range(len(points)):
        place, least = nearest_within(points[i], rows, order, boxes, squared, stack)
        found[i] = order[place] if place >= 0 else -1
        distances[i] = np.sqrt(least)


@kernel("f8[:,:]", "f8[:,:]", "i8[:]", Boxes, "f8", "out i8[:]", "out f8[:]")
def closest_pair(points, rows, order, boxes, good_squared, pair, distance):
    """The closest pair of a point (m, d) and a row; ends early at one within `good_squared`."""
    stack = np.empty(DEEPEST, np.int64)
    best = np.inf
    for i in range(len(points)):
        place, least = nearest_within(points[i], rows, order, boxes, best, stack)
        if place >= 0 and least < best:
            best = least
            pair[0], pair[1] = i, order[place]
            if best <= good_squared:
                break
    distance[0] = np.sqrt(best)
