"""Merging clusters: two ways that keep O(rows) numbers, and one on a table of distances.

Ward's is the chain of nearest neighbours on centroids (a merge never brings two clusters nearer to
a third, so any two mutual nearest neighbours may merge; `spanning` merges most of them in rounds);
mean and median linkage, which lack that property, keep for each cluster its nearest one. Both take
O(n^2 d) time: distances are computed when needed and never stored. Clusters stand in columns, so
that the innermost loops run over clusters and become vector instructions.
"""

from __future__ import annotations

import numpy as np

from gnomon.engine.kernel import kernel, subkernel

SINGLE, COMPLETE, AVERAGE, MEAN, MEDIAN, WARD, WEIGHTED = range(7)
TILE = 256  # columns of 2 kB each stay in the first-level cache
FIRST_COLUMNS = 6  # judgement: enough to tell far tiles; the others are then not read


@subkernel
def squared_to_tile(columns, point, start, size, squared):
    """Squared distances of a point to columns start .. start + size. columns (d, n), point (d,)."""
    found, column, value = squared[:size], columns[0, start : start + size], point[0]
    for t in range(size):
        gap = column[t] - value
        found[t] = gap * gap
    add_to_tile(columns, point, 1, start, size, squared)


@subkernel
def add_to_tile(columns, point, first, start, size, squared):
    """Add the squares of columns `first` and after, in their order, as many as `point` has.

    Four at a time, so that the sums are read and written once for all four.
    """
    d, stop, found = len(point), start + size, squared[:size]
    alone = first + (d - first) % 4
    for j in range(first, alone):
        column, value = columns[j, start:stop], point[j]
        for t in range(size):
            gap = column[t] - value
            found[t] += gap * gap
    for j in range(alone, d, 4):
        c_0, c_1 = columns[j, start:stop], columns[j + 1, start:stop]
        c_2, c_3 = columns[j + 2, start:stop], columns[j + 3, start:stop]
        p_0, p_1, p_2, p_3 = point[j], point[j + 1], point[j + 2], point[j + 3]
        for t in range(size):
            g_0, g_1, g_2, g_3 = c_0[t] - p_0, c_1[t] - p_1, c_2[t] - p_2, c_3[t] - p_3
            found[t] = found[t] + g_0 * g_0 + g_1 * g_1 + g_2 * g_2 + g_3 * g_3


@subkernel
def tile_in_reach(columns, point, start, size, reach, squared):
    """`squared_to_tile`, given up with False where a few columns show that all are beyond reach."""
    first = min(len(point), FIRST_COLUMNS)
    squared_to_tile(columns, point[:first], start, size, squared)
    if first == len(point):
        return True
    if squared[:size].min() > reach:
        return False
    add_to_tile(columns, point, first, start, size, squared)
    return True


@subkernel
def nearest_by_ward(columns, weights, left, own, squared, point):
    """The cluster whose union with cluster `own` adds the least squares, and how much it adds.

    Of equals the one in the first column. columns (d, n), weights (n,), of which `left` are there.
    """
    d = columns.shape[0]
    weight = weights[own]
    for j in range(d):
        point[j] = columns[j, own]
    least, found = np.inf, -1
    for start in range(0, left, TILE):
        size = min(TILE, left - start)
        squared_to_tile(columns, point, start, size, squared)
        values, beside = squared[:size], weights[start : start + size]
        for t in range(size):
            values[t] *= weight * beside[t] / (weight + beside[t])
        if start <= own < start + size:
            values[own - start] = np.inf
        if values.min() < least:
            for t in range(size):
                if values[t] < least:
                    least, found = values[t], start + t
    return found, least


@kernel("out f8[:,:]", "out f8[:]", "out i8[:]", "out i8[:]", "out f8[:]")
def ward_chain(columns, weights, one, other, added):
    """Ward's merges by the chain of nearest neighbours; columns (d, n) and weights are used up.

    Writes the n - 1 merges: a row of each side, and the sum of squares that the merge adds.
    """
    d, n = columns.shape
    name = np.arange(n)
    squared, point = np.empty(TILE), np.empty(d)
    chain, chain_height = np.empty(n, np.int64), np.empty(n)
    place = np.arange(n)
    length, left = 0, n
    for merge in range(n - 1):
        if length == 0:
            chain[0], length = name[0], 1
        while True:
            tip = place[chain[length - 1]]
            found, least = nearest_by_ward(columns, weights, left, tip, squared, point)
            if length > 1 and least >= chain_height[length - 2]:
                break
            chain_height[length - 1] = least
            chain[length] = name[found]
            length += 1
        kept, gone = chain[length - 1], chain[length - 2]
        one[merge], other[merge], added[merge] = kept, gone, chain_height[length - 2]
        length -= 2
        a, b = place[kept], place[gone]
        total = weights[a] + weights[b]
        share = weights[b] / total
        for j in range(d):
            columns[j, a] += share * (columns[j, b] - columns[j, a])
        weights[a] = total
        left -= 1
        for j in range(d):
            columns[j, b] = columns[j, left]
        weights[b], name[b] = weights[left], name[left]
        place[name[b]] = b


@subkernel
def nearest_after(columns, left, own, squared, point):
    """The nearest of the columns after column `own`, and its squared distance."""
    for j in range(len(point)):
        point[j] = columns[j, own]
    least, found = np.inf, -1
    for start in range(own + 1, left, TILE):
        size = min(TILE, left - start)
        squared_to_tile(columns, point, start, size, squared)
        for t in range(size):
            if squared[t] < least:
                least = squared[t]
                found = start + t
    return found, least


@kernel("out f8[:,:]", "out f8[:]", "i8", "out i8[:]", "out i8[:]", "out f8[:]")
def merge_centers(columns, weights, midway, one, other, squared_height):
    """Mean (midway = 0) or median linkage on centres in columns (d, n), which are used up.

    A merged cluster takes the first column of its two, the other is filled with infinity. Each
    column keeps its nearest later one; a distance that is out of date is too small at most for a
    column whose nearest has moved away, and is then computed again. Merges come in their order;
    heights may fall (inversions).
    """
    d, n = columns.shape
    squared, point = np.empty(TILE), np.empty(d)
    near, least = np.empty(n, np.int64), np.empty(n)
    for i in range(n):
        near[i], least[i] = nearest_after(columns, n, i, squared, point)
    for merge in range(n - 1):
        while True:
            a = 0
            for i in range(1, n):
                if least[i] < least[a]:
                    a = i
            b = near[a]
            now = 0.0
            for j in range(d):
                gap = columns[j, a] - columns[j, b]
                now += gap * gap
            if now == least[a]:
                break
            near[a], least[a] = nearest_after(columns, n, a, squared, point)
        one[merge], other[merge], squared_height[merge] = a, b, least[a]
        share = 0.5 if midway else weights[b] / (weights[a] + weights[b])
        weights[a] += weights[b]
        for j in range(d):
            columns[j, a] += share * (columns[j, b] - columns[j, a])
            columns[j, b] = np.inf
            point[j] = columns[j, a]
        least[b] = np.inf
        for start in range(0, a, TILE):
            size = min(TILE, a - start)
            squared_to_tile(columns, point, start, size, squared)
            for t in range(size):
                if squared[t] < least[start + t]:
                    least[start + t], near[start + t] = squared[t], a
        near[a], least[a] = nearest_after(columns, n, a, squared, point)
        for i in range(b):
            if near[i] == b and least[i] < np.inf:
                near[i], least[i] = nearest_after(columns, n, i, squared, point)


@subkernel
def lance_williams_value(linkage, d_ir, d_jr, d_ij, n_i, n_j, n_r):
    """Distance of the union of i and j to r; squared distances for mean, median and Ward's."""
    both = n_i + n_j
    if linkage == SINGLE:
        return min(d_ir, d_jr)
    if linkage == COMPLETE:
        return max(d_ir, d_jr)
    if linkage == WEIGHTED:
        return 0.5 * d_ir + 0.5 * d_jr
    if linkage == AVERAGE:
        return (n_i * d_ir + n_j * d_jr) / both
    if linkage == MEAN:
        return (n_i * d_ir + n_j * d_jr - n_i * n_j / both * d_ij) / both
    if linkage == MEDIAN:
        return 0.5 * d_ir + 0.5 * d_jr - 0.25 * d_ij
    return ((n_i + n_r) * d_ir + (n_j + n_r) * d_jr - n_r * d_ij) / (both + n_r)


@subkernel
def nearest_in_line(table, alive, own):
    """The nearest cluster after `own` in its line of the table, and the distance."""
    least, found = np.inf, -1
    for j in range(own + 1, len(alive)):
        if alive[j] and table[own, j] < least:
            least, found = table[own, j], j
    return found, least


@kernel("out f8[:,:]", "f8[:]", "i8", "out i8[:]", "out i8[:]", "out f8[:]")
def merge_by_table(table, weights, linkage, one, other, height):
    """Merge by Lance and Williams on a table (n, n) of distances, which is used up.

    Each line keeps its nearest later cluster. Merges come in their order; a merged cluster takes
    the first place of its two.
    """
    n = len(table)
    alive = np.ones(n, np.bool_)
    sizes = weights.copy()
    near, least = np.empty(n, np.int64), np.empty(n)
    for i in range(n):
        near[i], least[i] = nearest_in_line(table, alive, i)
    for merge in range(n - 1):
        a = -1
        for i in range(n):
            if alive[i] and near[i] >= 0 and (a < 0 or least[i] < least[a]):
                a = i
        b = near[a]
        between = table[a, b]
        one[merge], other[merge], height[merge] = a, b, between
        alive[b] = False
        for r in range(n):
            if not alive[r] or r == a:
                continue
            value = lance_williams_value(
                linkage, table[a, r], table[b, r], between, sizes[a], sizes[b], sizes[r]
            )
            table[a, r] = value
            table[r, a] = value
        sizes[a] += sizes[b]
        for i in range(n):
            if not alive[i] or i > b:
                continue
            if i == a or near[i] == a or near[i] == b:
                near[i], least[i] = nearest_in_line(table, alive, i)
            elif i < a and table[i, a] < least[i]:
                near[i], least[i] = a, table[i, a]


@kernel("out f8[:,:]", "f8[:]", "i8", "out i8[:]", "out i8[:]", "out f8[:]")
def chain_by_table(table, weights, linkage, one, other, height):
    """Merge by the chain of nearest neighbours on a table (n, n) of distances, which is used up.

    For linkages by which a union is no nearer to a third cluster than the nearer of its two: O(n^2)
    always. Merges come in any order. Lines of merged clusters keep old values; that a cluster is
    there no more is looked up for the few that seem to be nearer than all before.
    """
    n = len(table)
    sizes = weights.copy()
    alive = np.ones(n, np.bool_)
    chain = np.empty(n, np.int64)
    length, begin = 0, 0
    for merge in range(n - 1):
        if length == 0:
            while not alive[begin]:
                begin += 1
            chain[0], length = begin, 1
        while True:
            tip = chain[length - 1]
            line = table[tip]
            # of equals the one before in the chain, so that the chain ends
            found = chain[length - 2] if length > 1 else -1
            least = line[found] if length > 1 else np.inf
            for j in range(n):
                if line[j] < least and alive[j] and j != tip:
                    least, found = line[j], j
            if length > 1 and found == chain[length - 2]:
                break
            chain[length] = found
            length += 1
        length -= 2
        a, b = min(tip, found), max(tip, found)
        one[merge], other[merge], height[merge] = a, b, least
        alive[b] = False
        for r in range(n):
            if alive[r] and r != a:
                value = lance_williams_value(
                    linkage, table[a, r], table[b, r], least, sizes[a], sizes[b], sizes[r]
                )
                table[a, r] = value
                table[r, a] = value
        sizes[a] += sizes[b]


@kernel("i8[:]", "i8[:]", "f8[:]", "f8[:]", "out f8[:,:]")
def name_merges(one, other, heights, weights, merges):
    """Merges of rows as a tree: clusters numbered n, n + 1 ... as they arise.

    one, other, heights (n - 1,) in order of merging: a row of each side; merges (n - 1, 4): both
    clusters (the smaller number first), height, weight.
    """
    n = len(weights)
    above, number, size = np.arange(n), np.arange(n), weights.copy()
    for merge in range(n - 1):
        a, b = one[merge], other[merge]
        while above[a] != a:
            above[a] = above[above[a]]
            a = above[a]
        while above[b] != b:
            above[b] = above[above[b]]
            b = above[b]
        merges[merge, 0] = min(number[a], number[b])
        merges[merge, 1] = max(number[a], number[b])
        merges[merge, 2] = heights[merge]
        size[a] += size[b]
        merges[merge, 3] = size[a]
        above[b] = a
        number[a] = n + merge


@kernel("i8[:,:]", "b1[:]", "out i8[:]")
def label_leaves(children, made, labels):
    """Clusters of leaves where some merges are made, numbered by their first leaf.

    children (n - 1, 2) of each merge, made (n - 1,), labels (n,). Of a merge that is made, so are
    those below it.
    """
    n = len(labels)
    top = np.arange(2 * n - 1)
    for back in range(n - 1):
        merge = n - 2 - back
        if made[merge]:
            top[children[merge, 0]] = top[n + merge]
            top[children[merge, 1]] = top[n + merge]
    number, found = np.full(2 * n - 1, -1), 0
    for leaf in range(n):
        if number[top[leaf]] < 0:
            number[top[leaf]] = found
            found += 1
        labels[leaf] = number[top[leaf]]
