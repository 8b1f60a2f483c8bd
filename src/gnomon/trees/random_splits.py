"""Trees whose thresholds are drawn at random: one per column looked at, the best of which is taken.

A node draws columns without replacement. For each it finds the least and the greatest value of its
rows and draws a threshold between them, uniformly; no rows are sorted, so that a node costs rows x
columns looked at. Columns known to be constant among the rows of a node are constant in its
descendants too and are not looked at again.

Why it is fast: the rows of a node lie side by side with their targets and weights, the columns of
the table are contiguous, and a node with fewer rows than classes visits its rows' classes only.

Texts: 000a 2.5.4 · 001 9.5.
"""

from __future__ import annotations

import functools
from typing import Annotated, NamedTuple

import numpy as np

from gnomon.engine.kernel import kernel, lean_subkernel
from gnomon.trees.grower import GrowthRules, empty_nodes, generator_state, tree_of
from gnomon.trees.grower_kernel import (
    ASIDE,
    ENTROPY,
    GINI,
    HERE,
    MOST_OPEN_NODES,
    N_CATEGORY,
    N_FEATURE,
    N_GAIN,
    N_IMPURITY,
    N_LEFT,
    N_MISSING_LEFT,
    N_SAMPLES,
    N_START,
    N_THRESHOLD,
    N_WEIGHT,
    ONE,
    RANDOM,
    SQUARED_ERROR,
    Nodes,
    next_random,
)
from gnomon.trees.tree import Tree

vectorized = functools.partial(lean_subkernel, reordered=True)
CRITERIA = {"gini": GINI, "entropy": ENTROPY, "squared_error": SQUARED_ERROR}
# Values of a column that differ by less are one, as in scikit-learn.
ALIKE = np.float32(1e-7)
TWO_TO_32 = np.int64(2**32)


class Samples(NamedTuple):
    """columns (d, n), labels (n,) or empty, numbers (n,) or empty, weights (n,)."""

    columns: Annotated[np.ndarray, "f4[:,:]"]
    labels: Annotated[np.ndarray, "u2[:]"]
    numbers: Annotated[np.ndarray, "f8[:]"]
    weights: Annotated[np.ndarray, "f8[:]"]


class Limits(NamedTuple):
    """Criterion and limits of growth; min_gain in the units of weight x impurity."""

    criterion: Annotated[int, "i8"]
    n_classes: Annotated[int, "i8"]
    max_depth: Annotated[int, "i8"]
    min_split: Annotated[int, "i8"]
    min_leaf: Annotated[int, "i8"]
    max_features: Annotated[int, "i8"]
    min_weight: Annotated[float, "f8"]
    min_gain: Annotated[float, "f8"]


class Taken(NamedTuple):
    """The rows taken, those of a node side by side: index, label or empty, (weight, number).

    The second half of each receives the right side of a split for a moment.
    """

    index: Annotated[np.ndarray, "out u4[:,:]"]
    label: Annotated[np.ndarray, "out u2[:,:]"]
    numbers: Annotated[np.ndarray, "out f8[:,:,:]"]


class Work(NamedTuple):
    """found (n,) values of a column; deck (2, d) columns, and those known constant; classes (2, k)
    sums of the node and of its left side; bits (4, 4) with the state of the draws; stack (m, 5)."""

    found: Annotated[np.ndarray, "out f4[:]"]
    deck: Annotated[np.ndarray, "out i8[:,:]"]
    classes: Annotated[np.ndarray, "out f8[:,:]"]
    bits: Annotated[np.ndarray, "out u8[:,:]"]
    stack: Annotated[np.ndarray, "out i8[:,:]"]


# First index of Taken.numbers[HERE], of Work.classes and of Work.deck; columns of Work.stack.
WEIGHT, NUMBER = np.arange(2)
TOTAL, LEFT = np.arange(2)
COLUMNS, CONSTANT = np.arange(2)
S_NODE, S_START, S_END, S_DEPTH, S_CONSTANT = np.arange(5)


def grow_random(
    columns: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None,
    n_classes: int,
    rules: GrowthRules,
    seed: int,
) -> Tree:
    """Grow one tree; releases the interpreter lock.

    Parameters
    ----------
    columns : float32 ndarray of shape (n_columns, n_rows)
        Finite.
    y : uint16 codes of classes, or float64 numbers, of shape (n_rows,)
    weights : ndarray of shape (n_rows,), optional
        Rows of weight zero are left out.
    n_classes : int
        0 for numbers.
    rules : GrowthRules
        Without ``max_leaf_nodes``.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> columns = np.array([[0.0, 1.0, 2.0, 3.0]], np.float32)
    >>> y = np.array([0, 0, 1, 1], np.uint16)
    >>> tree = grow_random(columns, y, None, 2, GrowthRules("gini"), 0)
    >>> bool(tree.predict(columns.T)[:, 1].tolist() == [0.0, 0.0, 1.0, 1.0])
    True
    """
    d, n = columns.shape
    weights = np.ones(n) if weights is None else np.ascontiguousarray(weights, np.float64)
    n_taken = int(np.count_nonzero(weights > 0))
    if n_taken == 0:
        raise ValueError("No row has a positive weight; a tree needs at least one.")
    of_classes = n_classes > 0
    offset = 0.0 if of_classes else float(np.average(y, weights=weights))
    nodes = empty_nodes(rules, n_taken, max(n_classes, 1), False)
    bits = np.zeros((4, 4), np.uint64)
    bits[RANDOM, 0] = generator_state(seed)
    with np.errstate(over="ignore"):  # the draws count modulo 2^64, also without the compiler
        n_nodes = grow(
            Samples(
                columns,
                y if of_classes else np.empty(0, np.uint16),
                np.empty(0) if of_classes else y - offset,
                weights,
            ),
            Limits(
                int(CRITERIA[rules.criterion]),
                n_classes,
                np.iinfo(np.int64).max if rules.max_depth is None else rules.max_depth,
                rules.min_samples_split,
                rules.min_samples_leaf,
                d if rules.max_features is None else rules.max_features,
                float(rules.min_weight_leaf),
                rules.min_impurity_decrease * float(weights.sum()),
            ),
            Taken(
                np.empty((2, n_taken), np.uint32),
                np.empty((2, n_taken if of_classes else 0), np.uint16),
                np.empty((2, 1 if of_classes else 2, n_taken)),
            ),
            Work(
                np.empty(n_taken, np.float32),
                np.empty((2, d), np.int64),
                np.zeros((2, n_classes)),
                bits,
                np.empty((2 * MOST_OPEN_NODES, 5), np.int64),
            ),
            nodes,
        )
    if not of_classes:
        nodes.value[:n_nodes] += offset
    return tree_of(nodes, n_nodes)


@kernel(Samples, Limits, Taken, Work, Nodes)
def grow(samples, limits, taken, work, nodes):
    """Grow one tree; returns the number of its nodes. `grow_random` makes the arrays."""
    deck, stack = work.deck, work.stack
    for feature in range(deck.shape[1]):
        deck[COLUMNS, feature] = feature
    n = gather(samples, taken)
    stack[0, S_NODE], stack[0, S_START], stack[0, S_END] = 0, 0, n
    stack[0, S_DEPTH], stack[0, S_CONSTANT] = 0, 0
    size, n_nodes = np.int64(1), np.int64(1)
    while size > 0:
        size -= 1
        node, start, end = stack[size, S_NODE], stack[size, S_START], stack[size, S_END]
        depth, n_constant = stack[size, S_DEPTH], stack[size, S_CONSTANT]
        weight, cost, score = describe(node, start, end, limits, taken, work, nodes)
        if (
            cost <= 0.0
            or depth >= limits.max_depth
            or end - start < max(limits.min_split, 2 * limits.min_leaf)
            or weight < 2.0 * limits.min_weight
        ):
            continue
        feature, threshold, gain, n_constant = draw_split(
            start, end, weight, score, nodes.value[node, 0], n_constant, samples, limits, taken,
            work,
        )  # fmt: skip
        if feature < 0 or gain < limits.min_gain:
            continue
        nodes.whole[node, N_FEATURE] = feature
        nodes.whole[node, N_LEFT] = n_nodes
        nodes.real[node, N_THRESHOLD] = threshold
        nodes.real[node, N_GAIN] = min(max(gain, 0.0), cost)
        middle, left_weight = part(start, end, samples.columns, feature, threshold, taken)
        nodes.whole[node, N_MISSING_LEFT] = 1 if 2.0 * left_weight >= weight else 0
        # The child with fewer rows is taken up next: so the stack stays short.
        left_later = 0 if middle - start < end - middle else 1
        for later in range(1, -1, -1):
            is_left = later == left_later
            stack[size, S_NODE] = n_nodes if is_left else n_nodes + 1
            stack[size, S_START] = start if is_left else middle
            stack[size, S_END] = middle if is_left else end
            stack[size, S_DEPTH] = depth + 1
            stack[size, S_CONSTANT] = n_constant
            size += 1
        n_nodes += 2
    return n_nodes


@lean_subkernel
def gather(samples, taken):
    """Put the rows of positive weight into taken; returns their number."""
    n = 0
    for i in range(samples.weights.size):
        if samples.weights[i] > 0.0:
            taken.index[HERE, n] = i
            taken.numbers[HERE, WEIGHT, n] = samples.weights[i]
            if samples.labels.size > 0:
                taken.label[HERE, n] = samples.labels[i]
            else:
                taken.numbers[HERE, NUMBER, n] = samples.numbers[i]
            n += 1
    return n


@lean_subkernel
def term(mass, criterion):
    """What a class of some weight adds to the score of a side: its square, or w log2 w."""
    if criterion == GINI:
        return mass * mass
    return mass * np.log2(mass) if mass > 0.0 else 0.0


@lean_subkernel
def score_of(terms, weight, criterion):
    """Score of a side from the terms of its classes: a constant minus its weighted impurity."""
    if criterion == GINI:
        return terms / weight
    return terms - weight * np.log2(weight)


@vectorized
def describe(node, start, end, limits, taken, work, nodes):
    """Write a node's size, value and impurity; its weight, weight x impurity and sum of terms.

    Weight x impurity is 0 where all targets are alike.
    """
    whole, real, value = nodes.whole, nodes.real, nodes.value
    whole[node, N_FEATURE] = -1
    whole[node, N_MISSING_LEFT] = 0
    whole[node, N_CATEGORY] = -1
    whole[node, N_LEFT] = -1
    whole[node, N_SAMPLES] = end - start
    whole[node, N_START] = start
    real[node, N_THRESHOLD] = np.nan
    real[node, N_GAIN] = 0.0
    numbers, weight, cost, terms = taken.numbers, 0.0, 0.0, 0.0
    if limits.n_classes > 0:
        label, totals = taken.label, work.classes
        for k in range(limits.n_classes):
            totals[TOTAL, k] = 0.0
        for i in range(np.uint64(start), np.uint64(end)):
            totals[TOTAL, label[HERE, i]] += numbers[HERE, WEIGHT, i]
            weight += numbers[HERE, WEIGHT, i]
        present = 0
        for k in range(limits.n_classes):
            value[node, k] = totals[TOTAL, k] / weight
            if totals[TOTAL, k] > 0.0:
                terms += term(totals[TOTAL, k], limits.criterion)
                present += 1
        if present > 1:
            cost = -score_of(terms, weight, limits.criterion)
            cost += weight if limits.criterion == GINI else 0.0
    else:
        total, first, alike = 0.0, numbers[HERE, NUMBER, start], True
        for i in range(np.uint64(start), np.uint64(end)):
            weight += numbers[HERE, WEIGHT, i]
            total += numbers[HERE, WEIGHT, i] * numbers[HERE, NUMBER, i]
            alike &= numbers[HERE, NUMBER, i] == first
        mean = first if alike else total / weight
        value[node, 0] = mean
        if not alike:
            for i in range(np.uint64(start), np.uint64(end)):
                residual = numbers[HERE, NUMBER, i] - mean
                cost += numbers[HERE, WEIGHT, i] * residual * residual
    real[node, N_WEIGHT] = weight
    real[node, N_IMPURITY] = max(cost, 0.0) / weight
    return weight, cost, terms


@lean_subkernel
def draw_split(
    start, end, weight, terms, mean, n_known, samples, limits, taken, work
):  # fmt: skip
    """The best of the thresholds drawn: its column (-1: none), threshold and gain, and how many
    columns are known to be constant in the node.

    max_features columns are drawn, and more until one is not constant. deck[COLUMNS] holds the
    n_known constant ones first; those found here follow them, and those tried stand at the end.
    """
    deck, bits, found = work.deck, work.bits, work.found
    d = deck.shape[1]
    left_over, visited, drawn_known, n_found = d, np.int64(0), np.int64(0), np.int64(0)
    best, best_threshold, best_gain = np.int64(-1), 0.0, -1.0
    while left_over > n_known + n_found and (
        visited < limits.max_features or visited <= n_found + drawn_known
    ):
        visited += 1
        place = drawn_known + next_random(bits, left_over - n_found - drawn_known)
        if place < n_known:
            deck[COLUMNS, place], deck[COLUMNS, drawn_known] = (
                deck[COLUMNS, drawn_known],
                deck[COLUMNS, place],
            )
            drawn_known += 1
            continue
        place += n_found
        feature = deck[COLUMNS, place]
        low, high = values_of(samples.columns, feature, start, end, taken.index, found)
        if high <= low + ALIKE:
            deck[COLUMNS, place] = deck[COLUMNS, n_known + n_found]
            deck[COLUMNS, n_known + n_found] = feature
            n_found += 1
            continue
        left_over -= 1
        deck[COLUMNS, place] = deck[COLUMNS, left_over]
        deck[COLUMNS, left_over] = feature
        share = float(next_random(bits, TWO_TO_32)) / float(TWO_TO_32)
        threshold = float(low) + share * (float(high) - float(low))
        if threshold >= float(high):
            threshold = float(low)
        if limits.n_classes > 0:
            gain = gain_of_classes(start, end, threshold, weight, terms, limits, taken, work)
        else:
            gain = gain_of_numbers(start, end, threshold, weight, mean, limits, taken, found)
        if gain > best_gain:
            best, best_threshold, best_gain = feature, threshold, gain
    for place in range(n_known):
        deck[COLUMNS, place] = deck[CONSTANT, place]
    for place in range(n_known, n_known + n_found):
        deck[CONSTANT, place] = deck[COLUMNS, place]
    return best, best_threshold, best_gain, n_known + n_found


@lean_subkernel
def values_of(columns, feature, start, end, index, found):
    """The values of a node's rows in a column, into found; the least and the greatest."""
    low = columns[feature, index[HERE, start]]
    high = low
    first = np.uint64(start)
    for i in range(np.uint64(end - start)):
        value = columns[feature, index[HERE, first + i]]
        found[i] = value
        if value < low:
            low = value
        if value > high:
            high = value
    return low, high


@vectorized
def gain_of_numbers(start, end, threshold, weight, mean, limits, taken, found):
    """What the split saves, W s^2 / (W_left W_right) with s = sum over the left of w (y - mean)."""
    numbers = taken.numbers
    left, moved, count = 0.0, 0.0, np.int64(0)
    first = np.uint64(start)
    for i in range(np.uint64(end - start)):
        goes_left = float(found[i]) <= threshold
        w = numbers[HERE, WEIGHT, first + i] if goes_left else 0.0
        left += w
        moved += w * (numbers[HERE, NUMBER, first + i] - mean)
        count += goes_left
    right = weight - left
    if (
        min(count, end - start - count) < limits.min_leaf
        or min(left, right) < limits.min_weight
        or right <= 0.0
    ):
        return -1.0
    return moved * moved * weight / (left * right)


@lean_subkernel
def gain_of_classes(start, end, threshold, weight, terms, limits, taken, work):
    """What the split saves: scores of both sides less the node's, whose sum of terms is given."""
    numbers, label, classes, found = taken.numbers, taken.label, work.classes, work.found
    left, count = 0.0, np.int64(0)
    first = np.uint64(start)
    for i in range(np.uint64(end - start)):
        goes_left = float(found[i]) <= threshold
        w = numbers[HERE, WEIGHT, first + i] if goes_left else 0.0
        classes[LEFT, label[HERE, first + i]] += w
        left += w
        count += goes_left
    of_left, of_right = 0.0, terms
    if end - start < limits.n_classes:
        for i in range(first, np.uint64(end)):
            k = label[HERE, i]
            mass, total = classes[LEFT, k], classes[TOTAL, k]
            if mass > 0.0:
                of_left += term(mass, limits.criterion)
                of_right += term(total - mass, limits.criterion) - term(total, limits.criterion)
                classes[LEFT, k] = 0.0
    else:
        of_right = 0.0
        for k in range(limits.n_classes):
            of_left += term(classes[LEFT, k], limits.criterion)
            of_right += term(classes[TOTAL, k] - classes[LEFT, k], limits.criterion)
            classes[LEFT, k] = 0.0
    right = weight - left
    if (
        min(count, end - start - count) < limits.min_leaf
        or min(left, right) < limits.min_weight
        or right <= 0.0
    ):
        return -1.0
    scores = score_of(of_left, left, limits.criterion) + score_of(of_right, right, limits.criterion)
    return max(scores - score_of(terms, weight, limits.criterion), 0.0)


@lean_subkernel
def part(start, end, columns, feature, threshold, taken):
    """Move the rows that go left to the front; the first place of the others, and the weight."""
    index, label, numbers = taken.index, taken.label, taken.numbers
    labeled = label.shape[1] > 0
    left, right, weight = np.uint64(start), np.uint64(0), 0.0
    for i in range(np.uint64(start), np.uint64(end)):
        row = index[HERE, i]
        w = numbers[HERE, WEIGHT, i]
        goes_left = float(columns[feature, row]) <= threshold
        to_left = ONE if goes_left else ONE - ONE
        weight += w if goes_left else 0.0
        index[HERE, left] = row
        index[ASIDE, right] = row
        numbers[HERE, WEIGHT, left] = w
        numbers[ASIDE, WEIGHT, right] = w
        if labeled:
            kind = label[HERE, i]
            label[HERE, left] = kind
            label[ASIDE, right] = kind
        else:
            y = numbers[HERE, NUMBER, i]
            numbers[HERE, NUMBER, left] = y
            numbers[ASIDE, NUMBER, right] = y
        left += to_left
        right += ONE - to_left
    for i in range(right):
        index[HERE, left + i] = index[ASIDE, i]
        numbers[HERE, WEIGHT, left + i] = numbers[ASIDE, WEIGHT, i]
        if labeled:
            label[HERE, left + i] = label[ASIDE, i]
        else:
            numbers[HERE, NUMBER, left + i] = numbers[ASIDE, NUMBER, i]
    return np.int64(left), weight
