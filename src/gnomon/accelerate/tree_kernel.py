"""Decision trees as scikit-learn grows them, split by split, with less sorting.

scikit-learn sorts the samples of a node by every feature that it draws. Here each feature is
sorted once for all trees of an ensemble: the samples of a large node are read off in that order,
and only those of small nodes are sorted. Draws of features, order of sums and comparison
of splits are those of scikit-learn's best splitter, so that the tree is the same (where values
of a feature are equal, sums may differ by rounding).
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from gnomon.engine.kernel import kernel, subkernel

LEAF, UNDEFINED = -1, -2  # scikit-learn's TREE_LEAF and TREE_UNDEFINED
EPSILON = np.finfo(np.float64).eps
SAME = np.float32(1e-7)  # values of a feature that differ by no more are equal
# Samples of the whole table that are read as quickly as one sample of a node is sorted; per
# doubling of the node's size.
READ_PER_SORTED = 3.0
SHORT = 16  # samples that insertion sorts


class Samples(NamedTuple):
    """The table: features by rows, their order, targets (class codes or numbers) and weights."""

    columns: Annotated[np.ndarray, "f4[:,:]"]
    order: Annotated[np.ndarray, "i4[:,:]"]
    y: Annotated[np.ndarray, "f8[:]"]
    weights: Annotated[np.ndarray, "f8[:]"]


class Rules(NamedTuple):
    """How to grow; ``n_classes`` is 0 for numbers."""

    n_classes: Annotated[int, "i8"]
    max_features: Annotated[int, "i8"]
    min_samples_split: Annotated[int, "i8"]
    min_samples_leaf: Annotated[int, "i8"]
    min_weight_leaf: Annotated[float, "f8"]
    max_depth: Annotated[int, "i8"]
    min_impurity_decrease: Annotated[float, "f8"]
    seed: Annotated[int, "i8"]


class Grown(NamedTuple):
    """The nodes: (left, right, feature, samples, missing left), (threshold, impurity, weight)."""

    links: Annotated[np.ndarray, "out i8[:,:]"]
    numbers: Annotated[np.ndarray, "out f8[:,:]"]
    values: Annotated[np.ndarray, "out f8[:,:]"]


@subkernel
def next_draw(state):
    """The next of scikit-learn's pseudo-random numbers, and the state after it."""
    state = np.uint32(state)
    if state == 0:
        state = np.uint32(1)
    state = np.uint32(state ^ np.uint32(state << np.uint32(13)))
    state = np.uint32(state ^ np.uint32(state >> np.uint32(17)))
    state = np.uint32(state ^ np.uint32(state << np.uint32(5)))
    return np.int64(state & np.uint32(0x7FFFFFFF)), state


@subkernel
def sort_both(keys, items, low, high):
    """Sort keys[low:high] and the items with them, in place."""
    while high - low > SHORT:
        a, b, c = keys[low], keys[(low + high) // 2], keys[high - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        left, right = low, high - 1
        while left <= right:
            while keys[left] < pivot:
                left += 1
            while keys[right] > pivot:
                right -= 1
            if left <= right:
                keys[left], keys[right] = keys[right], keys[left]
                items[left], items[right] = items[right], items[left]
                left += 1
                right -= 1
        if right + 1 - low < high - left:
            sort_both(keys, items, low, right + 1)
            low = left
        else:
            sort_both(keys, items, left, high)
            high = right + 1
    for place in range(low + 1, high):
        key, item = keys[place], items[place]
        before = place - 1
        while before >= low and keys[before] > key:
            keys[before + 1], items[before + 1] = keys[before], items[before]
            before -= 1
        keys[before + 1], items[before + 1] = key, item


@subkernel
def order_node(table, feature, samples, keys, place, start, end, size):
    """Order the samples of a node by a feature; keys become its values."""
    column = table.columns[feature]
    m = end - start
    if m * np.log2(m) * READ_PER_SORTED > size:
        ordered = table.order[feature]
        at = start
        for k in range(len(ordered)):
            i = ordered[k]
            if start <= place[i] < end:
                samples[at] = i
                keys[at] = column[i]
                at += 1
        for k in range(start, end):
            place[samples[k]] = k
        return
    for k in range(start, end):
        keys[k] = column[samples[k]]
    sort_both(keys, samples, start, end)
    for k in range(start, end):
        place[samples[k]] = k


@subkernel
def move(table, rules, samples, start, end, old, new, totals, left):
    """Move the border between left and right of a node from old to new; left is (sums, weight)."""
    k = rules.n_classes
    if new - old <= end - new:
        for p in range(old, new):
            i = samples[p]
            if k:
                left[int(table.y[i])] += table.weights[i]
            else:
                left[0] += table.weights[i] * table.y[i]
            left[-1] += table.weights[i]
        return
    left[:] = totals
    for p in range(end - 1, new - 1, -1):
        i = samples[p]
        if k:
            left[int(table.y[i])] -= table.weights[i]
        else:
            left[0] -= table.weights[i] * table.y[i]
        left[-1] -= table.weights[i]


@subkernel
def gini(sums, n_classes, weight):
    squares = 0.0
    for c in range(n_classes):
        squares += sums[c] * sums[c]
    return 1.0 - squares / (weight * weight)


@subkernel
def next_value(keys, p, end):
    """The next place after p where the value differs from the one before it."""
    p += 1
    while p < end and keys[p] <= np.float32(keys[p - 1] + SAME):
        p += 1
    return p


@subkernel
def best_cut_of_numbers(table, rules, samples, keys, start, end, totals, best):
    """The best place to cut the ordered samples, or -1, and what it comes to."""
    y, weights = table.y, table.weights
    least, least_weight = rules.min_samples_leaf, rules.min_weight_leaf
    total, total_weight = totals[0], totals[1]
    left, weight = 0.0, 0.0
    cut, at = -1, start
    p = next_value(keys, start, end)
    while p < end:
        if p - start >= least and end - p >= least:
            if p - at <= end - p:
                for q in range(at, p):
                    i = samples[q]
                    left += weights[i] * y[i]
                    weight += weights[i]
            else:
                left, weight = total, total_weight
                for q in range(end - 1, p - 1, -1):
                    i = samples[q]
                    left -= weights[i] * y[i]
                    weight -= weights[i]
            at = p
            rest, rest_weight = total - left, total_weight - weight
            if weight >= least_weight and rest_weight >= least_weight:
                value = left * left / weight + rest * rest / rest_weight
                if value > best:
                    best, cut = value, p
        p = next_value(keys, p, end)
    return best, cut


@subkernel
def best_cut_of_classes(table, rules, samples, keys, start, end, totals, left, best):
    """The best place to cut the ordered samples, or -1, and what it comes to."""
    y, weights, k = table.y, table.weights, rules.n_classes
    least, least_weight = rules.min_samples_leaf, rules.min_weight_leaf
    total_weight, weight = totals[k], 0.0
    left[:] = 0.0
    cut, at = -1, start
    p = next_value(keys, start, end)
    while p < end:
        if p - start >= least and end - p >= least:
            if p - at <= end - p:
                for q in range(at, p):
                    i = samples[q]
                    left[int(y[i])] += weights[i]
                    weight += weights[i]
            else:
                left[:] = totals
                weight = total_weight
                for q in range(end - 1, p - 1, -1):
                    i = samples[q]
                    left[int(y[i])] -= weights[i]
                    weight -= weights[i]
            at = p
            rest_weight = total_weight - weight
            if weight >= least_weight and rest_weight >= least_weight:
                squares, rest_squares = 0.0, 0.0
                for c in range(k):
                    here = left[c]
                    squares += here * here
                    there = totals[c] - here
                    rest_squares += there * there
                impurity = 1.0 - squares / (weight * weight)
                rest_impurity = 1.0 - rest_squares / (rest_weight * rest_weight)
                value = -rest_weight * rest_impurity - weight * impurity
                if value > best:
                    best, cut = value, p
        p = next_value(keys, p, end)
    return best, cut


@kernel(Samples, Rules, Grown)
def grow(table, rules, grown):
    """Grow a tree; returns the number of nodes and the depth."""
    d, n = table.columns.shape
    width = max(rules.n_classes, 1)
    samples, place = np.empty(n, np.int64), np.full(n, -1, np.int64)
    size, total_weight = 0, 0.0
    for i in range(n):
        if table.weights[i] != 0.0:
            samples[size] = i
            place[i] = size
            size += 1
        total_weight += table.weights[i]
    keys = np.empty(n, np.float32)
    features, constants = np.arange(d), np.empty(d, np.int64)
    totals, left, right = np.zeros(width + 1), np.zeros(width + 1), np.zeros(width + 1)
    state = np.uint32(rules.seed)
    most = 2 * (size + 1)
    stack = np.empty((most, 6), np.int64)  # start, end, depth, parent, is left, constants
    impurities = np.empty(most)
    stack[0] = (0, size, 0, UNDEFINED, 0, 0)
    impurities[0] = np.inf
    waiting, count, deepest = 1, 0, -1
    while waiting:
        waiting -= 1
        start, end, depth, parent, is_left, n_known = stack[waiting]
        impurity = impurities[waiting]
        totals[:] = 0.0
        squares = 0.0
        for p in range(start, end):
            i = samples[p]
            w = table.weights[i]
            if rules.n_classes:
                totals[int(table.y[i])] += w
            else:
                weighted = w * table.y[i]
                totals[0] += weighted
                squares += weighted * table.y[i]
            totals[-1] += w
        weight = totals[-1]
        if count == 0:
            if rules.n_classes:
                impurity = gini(totals, rules.n_classes, weight)
            else:
                impurity = squares / weight - (totals[0] / weight) ** 2.0
        is_leaf = (
            depth >= rules.max_depth
            or end - start < rules.min_samples_split
            or end - start < 2 * rules.min_samples_leaf
            or weight < 2 * rules.min_weight_leaf
            or impurity <= EPSILON
        )
        feature, threshold, cut, missing_left = UNDEFINED, -2.0, end, 0
        impurity_left, impurity_right = 0.0, 0.0
        n_constants = n_known
        if not is_leaf:
            best = -np.inf
            undrawn, visited, n_found, n_drawn = d, 0, 0, 0
            while undrawn > n_constants and (
                visited < rules.max_features or visited <= n_found + n_drawn
            ):
                visited += 1
                draw, state = next_draw(state)
                j = n_drawn + draw % (undrawn - n_found - n_drawn)
                if j < n_known:
                    features[n_drawn], features[j] = features[j], features[n_drawn]
                    n_drawn += 1
                    continue
                j += n_found
                f = features[j]
                order_node(table, f, samples, keys, place, start, end, size)
                if keys[end - 1] <= np.float32(keys[start] + SAME):
                    features[j], features[n_constants] = features[n_constants], features[j]
                    n_found += 1
                    n_constants += 1
                    continue
                undrawn -= 1
                features[undrawn], features[j] = features[j], features[undrawn]
                if rules.n_classes:
                    best, found = best_cut_of_classes(
                        table, rules, samples, keys, start, end, totals, left, best
                    )
                else:
                    best, found = best_cut_of_numbers(
                        table, rules, samples, keys, start, end, totals, best
                    )
                if found >= 0:
                    feature, cut = f, found
                    threshold = keys[found - 1] / 2.0 + keys[found] / 2.0
                    missing_left = int(found - start > end - found)
            for k in range(n_known):
                features[k] = constants[k]
            for k in range(n_known, n_known + n_found):
                constants[k] = features[k]
            if cut < end:
                column = table.columns[feature]
                first, last = start, end
                while first < last:
                    if column[samples[first]] <= threshold:
                        first += 1
                    else:
                        last -= 1
                        samples[first], samples[last] = samples[last], samples[first]
                for k in range(start, end):
                    place[samples[k]] = k
                left[:] = 0.0
                move(table, rules, samples, start, end, start, cut, totals, left)
                for c in range(len(totals)):
                    right[c] = totals[c] - left[c]
                if rules.n_classes:
                    impurity_left = gini(left, rules.n_classes, left[-1])
                    impurity_right = gini(right, rules.n_classes, right[-1])
                else:
                    squares_left = 0.0
                    for p in range(start, cut):
                        i = samples[p]
                        squares_left += table.weights[i] * table.y[i] * table.y[i]
                    impurity_left = squares_left / left[-1] - (left[0] / left[-1]) ** 2.0
                    impurity_right = (squares - squares_left) / right[-1] - (
                        right[0] / right[-1]
                    ) ** 2.0
                improvement = (weight / total_weight) * (
                    impurity
                    - (right[-1] / weight * impurity_right)
                    - (left[-1] / weight * impurity_left)
                )
                is_leaf = improvement + EPSILON < rules.min_impurity_decrease
            else:
                is_leaf = True
        node = count
        count += 1
        if parent != UNDEFINED:
            grown.links[parent, 0 if is_left else 1] = node
        grown.links[node, 3] = end - start
        grown.numbers[node, 1] = impurity
        grown.numbers[node, 2] = weight
        for c in range(width):
            grown.values[node, c] = totals[c] / weight
        if is_leaf:
            grown.links[node, 0] = grown.links[node, 1] = LEAF
            grown.links[node, 2], grown.links[node, 4] = UNDEFINED, 0
            grown.numbers[node, 0] = -2.0
        else:
            grown.links[node, 2], grown.links[node, 4] = feature, missing_left
            grown.numbers[node, 0] = threshold
            stack[waiting] = (cut, end, depth + 1, node, 0, n_constants)
            impurities[waiting] = impurity_right
            stack[waiting + 1] = (start, cut, depth + 1, node, 1, n_constants)
            impurities[waiting + 1] = impurity_left
            waiting += 2
        deepest = max(deepest, depth)
    return count, deepest
