"""Inner loops of distances and searches.

Neighbours are ordered by (distance, row number) everywhere, so that ties are settled the same way
by every search. The best so far of a query stand in a heap with the worst on top.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from gnomon.engine.kernel import kernel, lean_subkernel

STRIP = 64  # judgement: whole vectors, few enough that most strips hold no near row


@lean_subkernel
def term(difference, p):
    """|difference|^p; 1 for p = 0 where it is not zero; |difference| itself for infinite p."""
    if p == 2.0:
        return difference * difference
    size = abs(difference)
    if p == 1.0 or p == np.inf:
        return size
    if p == 0.0:
        return 1.0 if size > 0.0 else 0.0
    return size**p


@lean_subkernel
def add_squares(query, block, size, sums):
    """Add squared distances, four columns at a time: sums are read and written once for all four.

    block (d * size,) column after column, sums (size,).
    """
    d = len(query)
    for j in range(d % 4):
        column, value = block[j * size : (j + 1) * size], query[j]
        for t in range(size):
            gap = value - column[t]
            sums[t] += gap * gap
    for j in range(d % 4, d, 4):
        part = block[j * size : (j + 4) * size]
        c_0, c_1 = part[:size], part[size : 2 * size]
        c_2, c_3 = part[2 * size : 3 * size], part[3 * size :]
        q_0, q_1, q_2, q_3 = query[j], query[j + 1], query[j + 2], query[j + 3]
        for t in range(size):
            g_0, g_1, g_2, g_3 = q_0 - c_0[t], q_1 - c_1[t], q_2 - c_2[t], q_3 - c_3[t]
            sums[t] = sums[t] + g_0 * g_0 + g_1 * g_1 + g_2 * g_2 + g_3 * g_3


@kernel("f8[:,:]", "f8[:,:]", "f8", "i8", "out f8[:,:]")
def add_power_sums(one, columns, p, first, sums):
    """Add sum_j |a_j - b_j|^p to sums[:, first:]. one (n, d), columns (d, m) of other rows."""
    d, m = columns.shape
    for i in range(len(one)):
        row = sums[i, first : first + m]
        if p == 2.0:
            add_squares(one[i], columns.ravel(), m, row)
            continue
        for j in range(d):
            a = one[i, j]
            if p == np.inf:
                for b in range(m):
                    row[b] = max(row[b], abs(a - columns[j, b]))
            else:
                for b in range(m):
                    row[b] += term(a - columns[j, b], p)


@kernel("f8[:,:]", "f8[:,:]", "out f8[:,:]")
def add_chi_square(one, other, sums):
    """Add sum_j (a_j - b_j)^2 / (a_j + b_j). one (n, d), other (m, d), sums (n, m)."""
    for i in range(len(one)):
        for k in range(len(other)):
            for j in range(one.shape[1]):
                both = one[i, j] + other[k, j]
                if both > 0.0:
                    difference = one[i, j] - other[k, j]
                    sums[i, k] += difference * difference / both


@kernel("f8[:,:]", "u1[:,:]", "f8[:,:]", "f8[:,:]", "f8", "out f8[:,:]")
def add_masked_sums(one, known, other, extra, p, sums):
    """Add |a_j - b_j|^p + e_j over the coordinates that are known of a.

    one and known (n, d), other and extra (m, d), sums (n, m); extra is what a hole in b costs.
    """
    for i in range(len(one)):
        for k in range(len(other)):
            total = sums[i, k]
            for j in range(one.shape[1]):
                if known[i, j]:
                    value = term(one[i, j] - other[k, j], p) + extra[k, j]
                    if p == np.inf:
                        total = max(total, value)
                    else:
                        total += value
            sums[i, k] = total


@lean_subkernel
def power_sum(a, b, p):
    """sum_j |a_j - b_j|^p of two rows, in the order of columns."""
    total = 0.0
    if p == 2.0:
        for j in range(len(a)):
            difference = a[j] - b[j]
            total += difference * difference
        return total
    for j in range(len(a)):
        value = term(a[j] - b[j], p)
        if p == np.inf:
            total = max(total, value)
        else:
            total += value
    return total


@lean_subkernel
def is_before(distance, number, other_distance, other_number):
    """Whether a neighbour comes before another: nearer, or as near and of smaller number."""
    return distance < other_distance or (distance == other_distance and number < other_number)


@lean_subkernel
def replace_worst(distances, numbers, distance, number):
    """Put a neighbour in the place of the worst, the root of the heap. distances, numbers (k,)."""
    k = len(distances)
    place = 0
    while True:
        child = 2 * place + 1
        if child >= k:
            break
        if child + 1 < k and is_before(
            distances[child], numbers[child], distances[child + 1], numbers[child + 1]
        ):
            child += 1
        if not is_before(distance, number, distances[child], numbers[child]):
            break
        distances[place] = distances[child]
        numbers[place] = numbers[child]
        place = child
    distances[place] = distance
    numbers[place] = number


@lean_subkernel
def sort_heap(distances, numbers):
    """Put a heap in order, best first."""
    for last in range(len(distances) - 1, 0, -1):
        distance, number = distances[last], numbers[last]
        distances[last], numbers[last] = distances[0], numbers[0]
        replace_worst(distances[:last], numbers[:last], distance, number)


@kernel("out f8[:,:]", "out i8[:,:]")
def sort_heaps(distances, numbers):
    """Put the heaps of all queries in order, best first. distances, numbers (n, k)."""
    for i in range(len(distances)):
        sort_heap(distances[i], numbers[i])


@kernel("f8[:,:]", "i8", "out f8[:,:]", "out i8[:,:]")
def take_best(block, first, distances, numbers):
    """Let the rows `first`, `first` + 1 ... compete. block (n, m) holds distances to them."""
    for i in range(len(block)):
        for j in range(block.shape[1]):
            if is_before(block[i, j], first + j, distances[i, 0], numbers[i, 0]):
                replace_worst(distances[i], numbers[i], block[i, j], first + j)


@kernel("f8[:,:]", "f8[:]")
def farthest_coordinate(rows, center):
    """The greatest distance of a coordinate from that of the center. rows (n, d), center (d,)."""
    most = 0.0
    for i in range(len(rows)):
        row = rows[i]
        for j in range(len(row)):
            gap = abs(row[j] - center[j])
            if gap > most:  # nearly never, which is faster than a chain of maxima
                most = gap
    return most


@partial(lean_subkernel, reordered=True)
def about_scaled_square(row, center, factor):
    """The squared length of a centred and scaled row but for rounding, added up in any order."""
    total = 0.0
    for j in range(len(row)):
        total += ((row[j] - center[j]) * factor) * ((row[j] - center[j]) * factor)
    return total


@kernel("f8[:,:]", "f8[:]", "f8", "f8", "out f4[:]")
def scaled_squares(rows, center, factor, share, squares):
    """Squared lengths of centred and scaled rows, times a share. rows (n, d), squares (n,)."""
    for i in range(len(rows)):
        squares[i] = np.float32(about_scaled_square(rows[i], center, factor) * share)


@kernel("f8[:,:]", "f8[:]", "f8", "out f4[:,:]")
def scaled_in_single(rows, center, factor, made):
    """Centred and scaled rows in single precision. rows and made (n, d)."""
    for i in range(len(rows)):
        row, out = rows[i], made[i]
        for j in range(len(row)):
            out[j] = np.float32((row[j] - center[j]) * factor)


@lean_subkernel
def count_below(products, squares, limit):
    """How many sums of a product and a square are below a limit; eight at once on most machines."""
    count = np.int32(0)
    for j in range(len(products)):
        if products[j] + squares[j] < limit:
            count += np.int32(1)
    return count


@lean_subkernel
def kth_bound(products, squares, share, least):
    """The k-th smallest of product + square (1 + share); least (k,) is scratch."""
    for place in range(len(least)):
        least[place] = np.inf
    for j in range(len(products)):
        value = products[j] + squares[j] + share * squares[j]
        if value >= least[0]:
            continue
        place = 0
        while True:
            child = 2 * place + 1
            if child >= len(least):
                break
            if child + 1 < len(least) and least[child + 1] > least[child]:
                child += 1
            if least[child] <= value:
                break
            least[place] = least[child]
            place = child
        least[place] = value
    return float(least[0])


@lean_subkernel
def compete(i, waiting, n, queries, rows, given, first, best, which, limit, unit, length):
    """Let up to four rows compete by their exact distance; returns the new limit of the bounds.

    The sums of four rows are independent of each other and are added up side by side, each in the
    order of columns, as by `power_sum`.
    """
    if n == 4:
        a, b, c, e = waiting[0], waiting[1], waiting[2], waiting[3]
        of_a, of_b, of_c, of_e = 0.0, 0.0, 0.0, 0.0
        for j in range(queries.shape[1]):
            value = queries[i, j]
            of_a += (value - rows[a, j]) * (value - rows[a, j])
            of_b += (value - rows[b, j]) * (value - rows[b, j])
            of_c += (value - rows[c, j]) * (value - rows[c, j])
            of_e += (value - rows[e, j]) * (value - rows[e, j])
    for place in range(n):
        j = waiting[place]
        if n < 4:
            distance = power_sum(queries[i], rows[j], 2.0)
        elif place < 2:
            distance = of_a if place == 0 else of_b
        else:
            distance = of_c if place == 2 else of_e
        number = first + j if first >= 0 else given[j]
        if is_before(distance, number, best[0], which[0]):
            replace_worst(best, which, distance, number)
    return min(limit, np.float32(best[0] * unit - length))


@partial(lean_subkernel, reordered=True)
def about_square(query, row):
    """The squared distance of two rows but for rounding, added up in any order."""
    total = 0.0
    for j in range(len(query)):
        total += (query[j] - row[j]) * (query[j] - row[j])
    return total


@kernel(
    "f4[:,:]",
    "f4[:]",
    "f8[:]",
    "f8",
    "f8",
    "f8",
    "f8[:,:]",
    "f8[:,:]",
    "i8[:]",
    "i8",
    "out f8[:,:]",
    "out i8[:,:]",
)
def take_best_of_products(
    products, squares, lengths, unit, slack, lost, queries, rows, given, first, distances, numbers
):
    """Let rows compete by their squared distance, computed only where a cheap bound allows it.

    products (n, m) are -2 q'x and squares (m,) lowered |x|^2 in single precision; with lengths (n,)
    lowered |q|^2, all in units of which `unit` make one squared unit of the rows, their sum less
    `slack` bounds the squared distance from below, and from above where `lost`, the share by which
    they were lowered, is finite. A row is looked at in double precision where the
    bound is not beyond the worst of the best so far. queries (n, d), rows (m, d) are the rows of
    these products, given (m,) their numbers where first < 0, else first, first + 1 ...
    """
    m, k = products.shape[1], distances.shape[1]
    least, waiting = np.empty(k, np.float32), np.empty(4, np.int64)
    rounding = 1.0 + (queries.shape[1] + 8) * 2.0**-51
    for i in range(len(products)):
        best, which = distances[i], numbers[i]
        line = products[i]
        limit = np.float32(best[0] * unit - lengths[i] + slack)
        done = np.float32(-np.inf)
        if best[0] == np.inf and m >= 2 * k and lost == np.inf:
            # the rows of the least bounds first: their distances leave few others to look at
            done = np.float32(kth_bound(line, squares, np.float32(0.0), least))
            for j in range(m):
                if line[j] + squares[j] <= done:
                    waiting[0] = j
                    limit = compete(
                        i, waiting, 1, queries, rows, given, first, best, which, limit, unit,
                        lengths[i] - slack,
                    )  # fmt: skip
        elif best[0] == np.inf and m >= 2 * k and lengths[i] >= 0.0:
            # as many rows as are wanted are no farther than this: few others are looked at
            share = 2.0 * lost / (1.0 - lost)
            most = kth_bound(line, squares, np.float32(share), least)
            most += lengths[i] * (1.0 + share) + slack
            limit = np.float32(most * (1 + 1e-6) - lengths[i] + slack)
        n_waiting = 0
        for start in range(0, m, STRIP):
            stop = min(start + STRIP, m)
            if count_below(line[start:stop], squares[start:stop], limit) == 0:
                continue
            for j in range(start, stop):
                if not line[j] + squares[j] < limit or line[j] + squares[j] <= done:
                    continue
                # most rows whose bound is loose are found to be too far by a sum that is vectorized
                if lost == np.inf and about_square(queries[i], rows[j]) > best[0] * rounding:
                    continue
                waiting[n_waiting] = j
                n_waiting += 1
                if n_waiting == 4:
                    limit = compete(
                        i, waiting, 4, queries, rows, given, first, best, which, limit, unit,
                        lengths[i] - slack,
                    )  # fmt: skip
                    n_waiting = 0
        compete(
            i, waiting, n_waiting, queries, rows, given, first, best, which, limit, unit,
            lengths[i] - slack,
        )  # fmt: skip


@lean_subkernel
def nth_smallest(order, values, low, high, n):
    """Reorder order[low:high] so that values of places before n are not above those after it."""
    high -= 1
    while low < high:
        middle = values[order[(low + high) // 2]]
        i, j = low, high
        while i <= j:
            while values[order[i]] < middle:
                i += 1
            while values[order[j]] > middle:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if n <= j:
            high = j
        elif n >= i:
            low = i
        else:
            return


@lean_subkernel
def halve(points, order, side, low, high, n):
    """Reorder rows low to high, and their numbers, so that by a column none before n is above."""
    high -= 1
    while low < high:
        middle = points[(low + high) // 2, side]
        i, j = low, high
        while i <= j:
            while points[i, side] < middle:
                i += 1
            while points[j, side] > middle:
                j -= 1
            if i <= j:
                if i < j:
                    order[i], order[j] = order[j], order[i]
                    for c in range(points.shape[1]):
                        points[i, c], points[j, c] = points[j, c], points[i, c]
                i += 1
                j -= 1
        if n <= j:
            high = j
        elif n >= i:
            low = i
        else:
            return


@kernel("out f8[:,:]", "out i8[:]", "out i8[:]", "out f8[:,:]", "i8", "i8", "i8", "i8")
def build_boxes(points, order, sides, edges, root, first, last, n_inner):
    """Halve the rows first to last of node `root`, and of all nodes below it that are < n_inner.

    points (n, d) are put in tree order, order (n,) their numbers with them; sides (n_nodes,): the
    column in which the points of a node are spread most and by which it is halved; edges
    (n_nodes, 2): the greatest value of the lower half and the least of the upper one. The children
    of node v are 2v + 1 and 2v + 2; a node's rows start..stop are halved at (start + stop) // 2.
    """
    nodes, starts, stops = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    nodes[0], starts[0], stops[0] = root, first, last
    top = 1
    while top > 0:
        top -= 1
        node, start, stop = nodes[top], starts[top], stops[top]
        if node >= n_inner:
            continue
        side, width = 0, -1.0
        for j in range(points.shape[1]):
            least = most = points[start, j]
            for place in range(start + 1, stop):
                value = points[place, j]
                least = min(least, value)
                most = max(most, value)
            if most - least > width:
                side, width = j, most - least
        middle = (start + stop) // 2
        halve(points, order, side, start, stop, middle)
        below = points[start, side]
        for place in range(start + 1, middle):
            below = max(below, points[place, side])
        sides[node], edges[node, 0], edges[node, 1] = side, below, points[middle, side]
        nodes[top], starts[top], stops[top] = 2 * node + 2, middle, stop
        nodes[top + 1], starts[top + 1], stops[top + 1] = 2 * node + 1, start, middle
        top += 2


@kernel("f8[:,:]", "i8[:]", "f8[:,:]", "out i8[:]")
def leaves_of(queries, sides, edges, leaves):
    """The leaf of `build_boxes` that each query comes to first. queries (n, d), leaves (n,)."""
    for i in range(len(queries)):
        node = 0
        while node < len(sides):
            value = queries[i, sides[node]]
            node = 2 * node + (1 if value - edges[node, 0] < edges[node, 1] - value else 2)
        leaves[i] = node


@kernel("f8[:,:]", "out f8[:]", "out f8[:,:]", "out f8[:,:]")
def arrange_boxes(points, blocks, lows, highs):
    """Leaf by leaf the columns of its points, and the least and greatest values of every node.

    points (n, d) in the order of `build_boxes`; blocks (n * d,): those of a leaf start..stop stand
    at start * d, column after column, so that a search reads them in one go; lows and highs
    (2 * n_inner + 1, d).
    """
    n, d = points.shape
    n_inner = len(lows) // 2
    nodes, starts, stops = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    nodes[0], starts[0], stops[0] = 0, 0, n
    top = 1
    while top > 0:
        top -= 1
        node, start, stop = nodes[top], starts[top], stops[top]
        if node < n_inner:
            middle = (start + stop) // 2
            nodes[top], starts[top], stops[top] = 2 * node + 2, middle, stop
            nodes[top + 1], starts[top + 1], stops[top + 1] = 2 * node + 1, start, middle
            top += 2
            continue
        size = stop - start
        for j in range(d):
            low = high = points[start, j]
            for t in range(size):
                value = points[start + t, j]
                blocks[start * d + j * size + t] = value
                low = min(low, value)
                high = max(high, value)
            lows[node, j], highs[node, j] = low, high
    for node in range(n_inner - 1, -1, -1):
        for j in range(d):
            lows[node, j] = min(lows[2 * node + 1, j], lows[2 * node + 2, j])
            highs[node, j] = max(highs[2 * node + 1, j], highs[2 * node + 2, j])


@lean_subkernel
def leaf_power_sums(query, blocks, start, size, p, sums):
    """Power sums of a query to the points of a leaf; as `power_sum`, to the bit."""
    first = start * len(query)
    if p == 2.0:
        sums[:size] = 0.0
        add_squares(query, blocks[first : first + size * len(query)], size, sums[:size])
        return
    for t in range(size):
        sums[t] = term(query[0] - blocks[first + t], p)
    for j in range(1, len(query)):
        value = query[j]
        first += size
        if p == np.inf:
            for t in range(size):
                sums[t] = max(sums[t], abs(value - blocks[first + t]))
        else:
            for t in range(size):
                sums[t] += term(value - blocks[first + t], p)


@lean_subkernel
def least_power_sum(query, lows, highs, node, p):
    """Least power sum to a point between the least and greatest values of a node.

    Never above that of one of its points as `power_sum` computes it: same terms, same order.
    """
    total = 0.0
    for j in range(len(query)):
        gap = max(max(lows[node, j] - query[j], query[j] - highs[node, j]), 0.0)
        if p == 2.0:
            total += gap * gap
        elif p == np.inf:
            total = max(total, gap)
        else:
            total += term(gap, p)
    return total


@kernel("f8[:,:]", "f8[:]", "i8[:]", "f8[:,:]", "f8[:,:]", "f8", "out f8[:,:]", "out i8[:,:]")
def search_boxes(queries, blocks, order, lows, highs, p, distances, numbers):
    """The best of each query by descent into the nearer half first; see `arrange_boxes`.

    queries (n, d), order (m,) the points' numbers, distances and numbers (n, k), filled with
    infinity and a number beyond all. A node whose box is farther than the worst of the best so far
    is not looked at.
    """
    m, n_inner = len(order), len(lows) // 2
    nodes, starts, stops = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    bounds = np.empty(64)
    sums = np.empty(m // (n_inner + 1) + 1)
    for i in range(len(queries)):
        query, best, which = queries[i], distances[i], numbers[i]
        nodes[0], starts[0], stops[0], bounds[0] = 0, 0, m, 0.0
        top = 1
        while top > 0:
            top -= 1
            if bounds[top] > best[0]:
                continue
            node, start, stop, bound = nodes[top], starts[top], stops[top], bounds[top]
            while node < n_inner and bound <= best[0]:
                middle = (start + stop) // 2
                lower = least_power_sum(query, lows, highs, 2 * node + 1, p)
                upper = least_power_sum(query, lows, highs, 2 * node + 2, p)
                lower_first = lower <= upper
                bound = min(lower, upper)
                beyond = max(lower, upper)
                if beyond <= best[0]:
                    nodes[top] = 2 * node + (2 if lower_first else 1)
                    starts[top] = middle if lower_first else start
                    stops[top] = stop if lower_first else middle
                    bounds[top] = beyond
                    top += 1
                node = 2 * node + (1 if lower_first else 2)
                start = start if lower_first else middle
                stop = middle if lower_first else stop
            if bound > best[0]:
                continue
            size = stop - start
            leaf_power_sums(query, blocks, start, size, p, sums)
            worst = best[0]
            for place in range(size):
                if sums[place] > worst:
                    continue
                number = order[start + place]
                if is_before(sums[place], number, worst, which[0]):
                    replace_worst(best, which, sums[place], number)
                    worst = best[0]
        sort_heap(best, which)


@lean_subkernel
def push(keys, items, size, key, item):
    """Add to a heap with the smallest key on top."""
    place = size
    while place > 0:
        above = (place - 1) // 2
        if keys[above] <= key:
            break
        keys[place], items[place] = keys[above], items[above]
        place = above
    keys[place], items[place] = key, item


@lean_subkernel
def drop_top(keys, items, size):
    """Take the smallest off a heap of `size` entries."""
    key, item = keys[size - 1], items[size - 1]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1 and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[place], items[place] = keys[child], items[child]
        place = child
    keys[place], items[place] = key, item


@kernel(
    "f8[:,:]",
    "f8[:,:]",
    "i8[:]",
    "i8[:,:]",
    "i8[:,:]",
    "f8[:,:]",
    "f8[:]",
    "f8",
    "out f8[:,:]",
    "out i8[:,:]",
    "out i8[:]",
)
def search_balls(
    queries, points, order, spans, children, centers, radii, slack, distances, numbers, evaluations
):
    """The best of each query, the nearest ball being opened first (Euclidean).

    queries (n, d), points (m, d) in tree order, order (m,), spans and children (n_balls, 2), -1
    where a ball is a leaf, centres (n_balls, d), radii (n_balls,), evaluations (n,): distances
    computed to points.
    """
    n_balls = len(radii)
    keys, balls = np.empty(n_balls), np.empty(n_balls, np.int64)
    for i in range(len(queries)):
        query, best, which = queries[i], distances[i], numbers[i]
        keys[0], balls[0] = 0.0, 0
        size = 1
        while size > 0 and not keys[0] * keys[0] > best[0]:
            ball = balls[0]
            drop_top(keys, balls, size)
            size -= 1
            if children[ball, 0] < 0:
                for place in range(spans[ball, 0], spans[ball, 1]):
                    distance = power_sum(query, points[place], 2.0)
                    evaluations[i] += 1
                    if is_before(distance, order[place], best[0], which[0]):
                        replace_worst(best, which, distance, order[place])
                continue
            for side in range(2):
                child = children[ball, side]
                away = np.sqrt(power_sum(query, centers[child], 2.0))
                bound = max(away * (1.0 - 1e-12) - radii[child] * (1.0 + 1e-12) - slack, 0.0)
                if not bound * bound > best[0]:
                    push(keys, balls, size, bound, child)
                    size += 1
        sort_heap(best, which)


@kernel("f8[:,:]", "f8[:,:]", "f8[:]", "out i8[:]", "out i8[:,:]", "out i8[:]", "out f8[:]")
def build_random_tree(points, columns, draws, order, spans, sides, cuts):
    """A balanced tree that halves a node along one of its five widest columns, drawn at random.

    points (n, d), columns (d, n), draws (n_nodes,) in [0, 1), order (n,), spans (n_nodes, 2), sides
    and cuts (n_nodes,): column and value of the division. Spreads are of at most 64 points of a
    node.
    """
    n, d = points.shape
    n_nodes = len(spans)
    spread = np.empty(d)
    spans[0, 0], spans[0, 1] = 0, n
    for node in range(n_nodes):
        child = 2 * node + 1
        if child >= n_nodes:
            continue
        start, stop = spans[node, 0], spans[node, 1]
        step = max((stop - start) // 64, 1)
        for j in range(d):
            total, squares, count = 0.0, 0.0, 0
            for place in range(start, stop, step):
                value = points[order[place], j] - points[order[start], j]
                total += value
                squares += value * value
                count += 1
            spread[j] = squares - total * total / count
        wanted = int(draws[node] * min(5, d))
        side = 0
        for _ in range(wanted + 1):
            side = 0
            for j in range(d):
                if spread[j] > spread[side]:
                    side = j
            spread[side] = -1.0
        middle = (start + stop) // 2
        nth_smallest(order, columns[side], start, stop, middle)
        sides[node], cuts[node] = side, points[order[middle], side]
        spans[child, 0], spans[child, 1] = start, middle
        spans[child + 1, 0], spans[child + 1, 1] = middle, stop


@kernel(
    "f8[:,:]",
    "f8[:,:]",
    "i8[:,:]",
    "i8[:,:]",
    "i8[:,:]",
    "f8[:,:]",
    "i8",
    "out i8[:]",
    "out f8[:,:]",
    "out i8[:,:]",
    "out i8[:]",
)
def search_forest(
    queries, points, orders, spans, sides, cuts, most, seen, distances, numbers, evaluations
):
    """The best of each query among the rows of the leaves that look nearest, in all trees.

    queries (n, d), points (m, d), orders (t, m), spans (n_nodes, 2), sides and cuts (t, n_nodes),
    most: rows to be compared, at least one leaf of each tree; seen (m,): -1 at first.
    """
    n_trees, n_nodes = sides.shape
    keys, places = np.empty(n_trees * n_nodes), np.empty(n_trees * n_nodes, np.int64)
    for i in range(len(queries)):
        query, best, which = queries[i], distances[i], numbers[i]
        size = 0
        for tree in range(n_trees):
            push(keys, places, size, -1.0, tree * n_nodes)
            size += 1
        while size > 0 and (keys[0] < 0.0 or evaluations[i] < most):
            bound, place = max(keys[0], 0.0), places[0]
            drop_top(keys, places, size)
            size -= 1
            tree, node = place // n_nodes, place % n_nodes
            while 2 * node + 1 < n_nodes:
                apart = query[sides[tree, node]] - cuts[tree, node]
                near = 2 * node + 1 if apart < 0.0 else 2 * node + 2
                far = 4 * node + 3 - near
                push(keys, places, size, bound + apart * apart, tree * n_nodes + far)
                size += 1
                node = near
            for position in range(spans[node, 0], spans[node, 1]):
                number = orders[tree, position]
                if seen[number] == i:
                    continue
                seen[number] = i
                evaluations[i] += 1
                distance = power_sum(query, points[number], 2.0)
                if is_before(distance, number, best[0], which[0]):
                    replace_worst(best, which, distance, number)
        sort_heap(best, which)
