"""The kernel that grows one tree, and its parts; `gnomon.trees.grower` is the way to call it.

Why it is fast
--------------
- A cell is a byte, so a column of 10^5 rows stays in the second-level cache, and the best cut of a column
  is found from at most 256 sums instead of a sort: O(rows + bins) per node and column.
- All sums are whole numbers (fixed point), so they are exact in any order: the histogram of the greater
  child is the parent's minus the lesser child's, with no error, when every node looks at all columns.
- A node with fewer rows than bins marks the bins it fills in 256 bits and visits those only, so that small
  nodes, which are most of a deep tree, cost in proportion to their rows.
- The rows of a node lie side by side, with their labels and sums, and stay in ascending order.

Hooks: a constraint on which columns may be used together belongs into `draw_feature`; a monotone constraint
into `admissible`, where each candidate's two sides are known.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from gnomon.engine.kernel import kernel, subkernel

GINI, ENTROPY, MISCLASSIFICATION, SQUARED_ERROR, NEWTON = range(5)
MISSING = 255
SPARSE_BELOW = 160
SUBSETS_UP_TO = 8
STACK_ROOM = 80

ONE = np.uint64(1)
LOW_BITS = np.uint64(63)
SIXTY_SEVEN = np.uint64(67)
BIT_OF_REMAINDER = np.zeros(67, np.int64)
for _bit in range(64):
    BIT_OF_REMAINDER[(1 << _bit) % 67] = _bit

Table = namedtuple("Table", "codes n_bins is_category low high")
Rules = namedtuple(
    "Rules",
    "criterion n_classes n_channels max_depth max_leaf_nodes min_split min_leaf max_features "
    "min_weight min_gain l2 weight_unit value_unit gain_unit pure_below",
)
Rows = namedtuple("Rows", "index label sums")
Search = namedtuple(
    "Search", "hist seen order sorted_order key left right part best_order best_left best score rng deck"
)
Frontier = namedtuple(
    "Frontier",
    "node start end depth slot feature cut missing_left is_category gain threshold mask total left free",
)
Nodes = namedtuple(
    "Nodes",
    "feature threshold missing_left category left value samples weight impurity gain start",
)

# Places in Search.best.
FEATURE, POSITION, MISSING_LEFT, N_ORDER = range(4)


@subkernel
def next_random(rng, bound):
    """A whole number in 0 .. bound - 1 from the generator state rng (1,) (xorshift, 64 bits)."""
    state = rng[0]
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    rng[0] = state
    return np.int64(((state >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@subkernel
def draw_feature(search, rules, drawn):
    """The next column to look at: in order when all are used, else from the shuffled deck."""
    deck = search.deck
    if rules.max_features < deck.size:
        other = drawn + next_random(search.rng, deck.size - drawn)
        deck[drawn], deck[other] = deck[other], deck[drawn]
    return deck[drawn]


@subkernel
def add_rows(column, rows, start, end, rules, hist, sign):
    """Add (sign 1) or take away (sign -1) rows start .. end - 1 in the histogram hist (256, channels)."""
    index, label, sums = rows.index, rows.label, rows.sums
    counted = rules.n_channels - 1
    if rules.n_classes > 0:
        for i in range(start, end):
            hist[column[index[i]], label[i]] += sign * sums[i, 0]
        if rules.min_leaf > 1:
            for i in range(start, end):
                hist[column[index[i]], counted] += sign
    elif sums.shape[1] == 2 and rules.min_leaf > 1:
        for i in range(start, end):
            code = column[index[i]]
            hist[code, 0] += sign * sums[i, 0]
            hist[code, 1] += sign * sums[i, 1]
            hist[code, 2] += sign
    elif sums.shape[1] == 2:
        for i in range(start, end):
            code = column[index[i]]
            hist[code, 0] += sign * sums[i, 0]
            hist[code, 1] += sign * sums[i, 1]
    else:
        for i in range(start, end):
            code = column[index[i]]
            for c in range(sums.shape[1]):
                hist[code, c] += sign * sums[i, c]
            if rules.min_leaf > 1:
                hist[code, counted] += sign


@subkernel
def mark_bins(column, index, start, end, seen):
    for i in range(start, end):
        code = np.uint64(column[index[i]])
        seen[code >> np.uint64(6)] |= ONE << (code & LOW_BITS)


@subkernel
def marked_bins(seen, order):
    """The marked bins in ascending order into order; unmarks them; returns their number."""
    m = 0
    for word in range(4):
        bits = seen[word]
        seen[word] = np.uint64(0)
        while bits != np.uint64(0):
            lowest = bits & (~bits + ONE)
            order[m] = 64 * word + BIT_OF_REMAINDER[lowest % SIXTY_SEVEN]
            m += 1
            bits ^= lowest
    return m


@subkernel
def bin_is_filled(hist, b, n_classes):
    """Whether a row with positive weight lies in bin b."""
    if n_classes == 0:
        return hist[b, 0] > 0
    for k in range(n_classes):
        if hist[b, k] > 0:
            return True
    return False


@subkernel
def filled_bins(hist, n_bins, n_classes, order):
    """The filled bins in ascending order (the missing bin last) into order; returns their number."""
    m = 0
    for b in range(n_bins):
        order[m] = b
        m += bin_is_filled(hist, b, n_classes)
    order[m] = MISSING
    return m + bin_is_filled(hist, MISSING, n_classes)


@subkernel
def side_score(sums, weight, rules):
    """Score of one side; a split is best when the sum of its sides' scores is greatest.

    Gini sum w_k^2 / W; entropy sum w_k log2(w_k / W); misclassification max w_k; squared error
    sum S_j^2 / W; Newton G^2 / (H + l2). Each is a constant minus the side's weighted impurity.
    """
    score = 0.0
    if rules.criterion == GINI:
        for k in range(rules.n_classes):
            score += float(sums[k]) * float(sums[k])
        return score / weight
    if rules.criterion == ENTROPY:
        for k in range(rules.n_classes):
            if sums[k] > 0:
                score += sums[k] * np.log2(sums[k] / weight)
        return score
    if rules.criterion == MISCLASSIFICATION:
        for k in range(rules.n_classes):
            score = max(score, float(sums[k]))
        return score
    for j in range(1, rules.n_channels - (rules.min_leaf > 1)):
        score += float(sums[j]) * float(sums[j])
    return score / (weight + rules.l2)


@subkernel
def side_weight(sums, rules):
    if rules.n_classes == 0:
        return float(sums[0])
    weight = np.int64(0)
    for k in range(rules.n_classes):
        weight += sums[k]
    return float(weight)


@subkernel
def admissible(left, right, rules):
    """Whether both sides have rows and weight enough."""
    if rules.min_leaf > 1:
        counted = rules.n_channels - 1
        if left[counted] < rules.min_leaf or right[counted] < rules.min_leaf:
            return False
    if rules.min_weight > 0.0:
        return (
            side_weight(left, rules) >= rules.min_weight
            and side_weight(right, rules) >= rules.min_weight
        )
    return True


@subkernel
def split_score(left, right, rules):
    """Score of a split from the sums of its sides, minus infinity where it is not admissible."""
    if not admissible(left, right, rules):
        return -np.inf
    return side_score(left, side_weight(left, rules), rules) + side_score(
        right, side_weight(right, rules), rules
    )


@subkernel
def best_cut_two_classes(hist, order, n_cuts, total, missing):
    """Best Gini cut of two classes when any cut is admissible: (score, position in order)."""
    total_0, total_1 = total[0], total[1]
    weight = float(total_0 + total_1)
    left_0 = hist[MISSING, 0] if missing else np.int64(0)
    left_1 = hist[MISSING, 1] if missing else np.int64(0)
    best_score, best_position = -np.inf, -1
    for position in range(n_cuts):
        b = order[position]
        left_0 += hist[b, 0]
        left_1 += hist[b, 1]
        l0, l1 = float(left_0), float(left_1)
        r0, r1 = float(total_0 - left_0), float(total_1 - left_1)
        left = l0 + l1
        score = (l0 * l0 + l1 * l1) / left + (r0 * r0 + r1 * r1) / (weight - left)
        if score > best_score:
            best_score, best_position = score, position
    return best_score, best_position


@subkernel
def best_cut_one_sum(hist, order, n_cuts, total, missing, rules):
    """Best cut of a single sum S over a weight W, score S^2 / (W + l2): (score, position in order)."""
    counting = rules.min_leaf > 1
    total_w, total_s = total[0], total[1]
    total_n = total[2] if counting else np.int64(0)
    left_w = hist[MISSING, 0] if missing else np.int64(0)
    left_s = hist[MISSING, 1] if missing else np.int64(0)
    left_n = hist[MISSING, 2] if missing and counting else np.int64(0)
    best_score, best_position = -np.inf, -1
    for position in range(n_cuts):
        b = order[position]
        left_w += hist[b, 0]
        left_s += hist[b, 1]
        if counting:
            left_n += hist[b, 2]
            if left_n < rules.min_leaf:
                continue
            if total_n - left_n < rules.min_leaf:
                break
        lw, ls = float(left_w), float(left_s)
        rw, rs = float(total_w - left_w), float(total_s - left_s)
        if lw < rules.min_weight or rw < rules.min_weight:
            continue
        score = ls * ls / (lw + rules.l2) + rs * rs / (rw + rules.l2)
        if score > best_score:
            best_score, best_position = score, position
    return best_score, best_position


@subkernel
def best_cut_in_general(hist, order, n_cuts, total, missing, rules, left, right):
    """Best cut for any criterion: (score, position in order). left, right (channels,) are scratch."""
    for c in range(rules.n_channels):
        left[c] = hist[MISSING, c] if missing else 0
    best_score, best_position = -np.inf, -1
    for position in range(n_cuts):
        b = order[position]
        for c in range(rules.n_channels):
            left[c] += hist[b, c]
            right[c] = total[c] - left[c]
        score = split_score(left, right, rules)
        if score > best_score:
            best_score, best_position = score, position
    return best_score, best_position


@subkernel
def best_cut(hist, order, n_cuts, total, missing, rules, search):
    """Best cut between the bins order[0 .. n_cuts]; with missing, the missing bin is on the left too."""
    if (
        rules.criterion == GINI
        and rules.n_classes == 2
        and rules.min_leaf <= 1
        and rules.min_weight <= 0.0
    ):
        return best_cut_two_classes(hist, order, n_cuts, total, missing)
    if rules.n_classes == 0 and rules.n_channels - (rules.min_leaf > 1) == 2:
        return best_cut_one_sum(hist, order, n_cuts, total, missing, rules)
    return best_cut_in_general(
        hist, order, n_cuts, total, missing, rules, search.left, search.right
    )


@subkernel
def keep_if_better(score, position, hist, order, m, missing, feature, rules, search):
    """Make this cut the node's best so far if its score is greater."""
    if not score > search.score[0]:
        return
    search.score[0] = score
    best = search.best
    best[FEATURE], best[POSITION], best[MISSING_LEFT], best[N_ORDER] = feature, position, missing, m
    for c in range(rules.n_channels):
        search.best_left[c] = hist[MISSING, c] if missing else 0
    for i in range(m):
        search.best_order[i] = order[i]
    for i in range(position + 1):
        for c in range(rules.n_channels):
            search.best_left[c] += hist[order[i], c]


@subkernel
def consider_numbers(hist, m, total, feature, rules, search):
    """Best threshold of a numeric column whose m filled bins are in search.order.

    Missing values go to the side where they gain more; the last cut parts them from all values.
    """
    order = search.order
    has_missing = order[m - 1] == MISSING
    score, position = best_cut(hist, order, m - 1, total, False, rules, search)
    keep_if_better(score, position, hist, order, m, False, feature, rules, search)
    if has_missing:
        score, position = best_cut(hist, order, m - 2, total, True, rules, search)
        keep_if_better(score, position, hist, order, m, True, feature, rules, search)


@subkernel
def sort_levels(order, m, key):
    """Sort the m levels in order by their keys key[level], equal keys by level (insertion sort)."""
    for i in range(1, m):
        level = order[i]
        j = i
        while j > 0 and key[order[j - 1]] > key[level]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = level


@subkernel
def consider_levels(hist, m, total, feature, rules, search):
    """Best subset of the m levels in search.order; missing is one more level.

    Two classes and a single sum: sorted by class share or mean, some prefix is the best of all
    2^(m-1) - 1 subsets (Fisher; Breiman). More classes or sums: all subsets of up to eight levels, and
    beyond that prefixes in the order of each class's share (or each mean) in turn.
    """
    order, key = search.sorted_order, search.key
    n_sums = rules.n_channels - (rules.min_leaf > 1)
    n_orders = rules.n_classes if rules.n_classes > 0 else n_sums - 1
    if rules.n_classes == 2:
        n_orders = 1
    if n_orders > 1 and m <= SUBSETS_UP_TO:
        consider_subsets(hist, m, total, feature, rules, search)
        return
    for which in range(n_orders):
        channel = which if rules.n_classes > 0 else which + 1
        for i in range(m):
            level = search.order[i]
            order[i] = level
            weight = side_weight(hist[level], rules)
            key[level] = hist[level, channel] / (weight + rules.l2)
        sort_levels(order, m, key)
        score, position = best_cut(hist, order, m - 1, total, False, rules, search)
        keep_if_better(score, position, hist, order, m, False, feature, rules, search)


@subkernel
def consider_subsets(hist, m, total, feature, rules, search):
    """Best of all subsets of at most eight levels; the last level stays on the right."""
    left, right, order = search.left, search.right, search.sorted_order
    best_score, best_subset = -np.inf, 0
    for subset in range(1, 1 << (m - 1)):
        for c in range(rules.n_channels):
            left[c] = 0
            for i in range(m - 1):
                if subset >> i & 1:
                    left[c] += hist[search.order[i], c]
            right[c] = total[c] - left[c]
        score = split_score(left, right, rules)
        if score > best_score:
            best_score, best_subset = score, subset
    n_left = 0
    for i in range(m):
        if best_subset >> i & 1:
            order[n_left] = search.order[i]
            n_left += 1
    n_placed = n_left
    for i in range(m):
        if not best_subset >> i & 1:
            order[n_placed] = search.order[i]
            n_placed += 1
    keep_if_better(best_score, n_left - 1, hist, order, m, False, feature, rules, search)


@subkernel
def consider(hist, m, total, feature, table, rules, search):
    if table.is_category[feature]:
        consider_levels(hist, m, total, feature, rules, search)
    else:
        consider_numbers(hist, m, total, feature, rules, search)


@subkernel
def consider_directly(start, end, total, feature, table, rows, rules, search):
    """Look at a column through a fresh histogram; returns whether its values differ within the node."""
    column, hist = table.codes[feature], search.hist
    add_rows(column, rows, start, end, rules, hist, 1)
    if end - start < SPARSE_BELOW:
        mark_bins(column, rows.index, start, end, search.seen)
        m = marked_bins(search.seen, search.order)
    else:
        m = filled_bins(hist, table.n_bins[feature], rules.n_classes, search.order)
    if m > 1:
        consider(hist, m, total, feature, table, rules, search)
    for i in range(m):
        for c in range(rules.n_channels):
            hist[search.order[i], c] = 0
    return m > 1


@subkernel
def find_split(start, end, slot, total, weight, pool, table, rows, rules, search):
    """Best split of the node into search; whether there is one. Stops early at a split that cannot be beaten.

    Columns that are constant in the node count towards max_features, but the search goes on until one
    varies, so that a node is never given up while it can be split.
    """
    search.score[0] = -np.inf
    drawn = 0
    informative = 0
    n_features = search.deck.size
    while drawn < n_features and (drawn < rules.max_features or informative == 0):
        feature = draw_feature(search, rules, drawn)
        drawn += 1
        if slot < 0:
            informative += consider_directly(
                start, end, total, feature, table, rows, rules, search
            )
        else:
            hist = pool[slot, feature]
            m = filled_bins(hist, table.n_bins[feature], rules.n_classes, search.order)
            if m > 1:
                informative += 1
                consider(hist, m, total, feature, table, rules, search)
        if rules.criterion == GINI and search.score[0] >= weight:
            break
    return search.score[0] > -np.inf


@subkernel
def midpoint(below, above):
    middle = below / 2 + above / 2
    if below <= middle < above:
        return middle
    return below


@subkernel
def store_split(entry, n_rows, frontier, table, rules, search, total_weight):
    """Copy the best split of an open node from search into its place in the frontier.

    What was not seen in the node (a level, or missing values) goes to the side with more weight.
    """
    best, order = search.best, search.best_order
    feature, position, m = best[FEATURE], best[POSITION], best[N_ORDER]
    frontier.feature[entry] = feature
    frontier.left[entry, :] = search.best_left
    left_is_greater = 2.0 * side_weight(search.best_left, rules) >= total_weight
    frontier.is_category[entry] = table.is_category[feature]
    mask = frontier.mask[entry]
    if table.is_category[feature]:
        default = left_is_greater
        for i in range(m):
            if order[i] == MISSING:
                default = i <= position
        mask[:] = ~np.uint64(0) if default else np.uint64(0)
        for i in range(m):
            bit = ONE << (np.uint64(order[i]) & LOW_BITS)
            if i <= position:
                mask[order[i] >> 6] |= bit
            else:
                mask[order[i] >> 6] &= ~bit
        frontier.missing_left[entry] = default
        frontier.threshold[entry] = np.nan
        return
    last_left = order[position]
    first_right = order[position + 1]
    missing_seen = order[m - 1] == MISSING
    frontier.missing_left[entry] = best[MISSING_LEFT] if missing_seen else left_is_greater
    frontier.cut[entry] = last_left
    frontier.threshold[entry] = (
        np.inf
        if first_right == MISSING
        else midpoint(table.high[feature, last_left], table.low[feature, first_right])
    )


@subkernel
def fill_sides(entry, frontier, goes_left):
    """Side of each of the 256 codes for the split of an open node."""
    if frontier.is_category[entry]:
        for b in range(256):
            word = frontier.mask[entry, b >> 6]
            goes_left[b] = (word >> (np.uint64(b) & LOW_BITS)) & ONE
        return
    for b in range(255):
        goes_left[b] = b <= frontier.cut[entry]
    goes_left[MISSING] = frontier.missing_left[entry]


@subkernel
def part_rows(start, end, column, goes_left, rows, spare):
    """Move the left rows of start .. end - 1 before the right ones, both in order; returns the border."""
    index, label, sums = rows.index, rows.label, rows.sums
    labelled = label.size > 0
    n_sums = sums.shape[1]
    left, right = start, 0
    for i in range(start, end):
        row = index[i]
        to_left = np.int64(goes_left[column[row]])
        index[left] = row
        spare.index[right] = row
        if labelled:
            spare.label[right] = label[i]
            label[left] = label[i]
        for c in range(n_sums):
            value = sums[i, c]
            sums[left, c] = value
            spare.sums[right, c] = value
        left += to_left
        right += 1 - to_left
    for i in range(right):
        index[left + i] = spare.index[i]
        for c in range(n_sums):
            sums[left + i, c] = spare.sums[i, c]
    if labelled:
        for i in range(right):
            label[left + i] = spare.label[i]
    return left


@subkernel
def sum_of_squared_errors(start, end, total, rows, n_sums):
    """sum over rows and outputs of (s - w S / W)^2 / w: the weighted squared error about the node's mean."""
    sums = rows.sums
    error = 0.0
    for j in range(1, n_sums):
        mean = float(total[j]) / float(total[0])
        for i in range(start, end):
            weight = float(sums[i, 0])
            residual = float(sums[i, j]) - weight * mean
            error += residual * residual / weight
    return error


@subkernel
def describe_node(node, start, end, total, nodes, rows, rules, offset):
    """Write a new node's size, value and impurity; returns (weight, whether it may gain from a split)."""
    weight = side_weight(total, rules)
    nodes.start[node] = start
    nodes.samples[node] = end - start
    nodes.weight[node] = weight * rules.weight_unit
    nodes.feature[node] = -1
    nodes.left[node] = -1
    nodes.category[node] = -1
    nodes.missing_left[node] = 0
    nodes.threshold[node] = np.nan
    nodes.gain[node] = 0.0
    if rules.n_classes > 0:
        heaviest = np.int64(0)
        for k in range(rules.n_classes):
            nodes.value[node, k] = total[k] / weight
            heaviest = max(heaviest, total[k])
        score = side_score(total, weight, rules)
        if rules.criterion == ENTROPY:
            nodes.impurity[node] = max(0.0, -score / weight)
        else:
            nodes.impurity[node] = max(0.0, 1.0 - score / weight)
        return weight, float(heaviest) < weight
    n_sums = rules.n_channels - (rules.min_leaf > 1)
    if rules.criterion == NEWTON:
        ratio = rules.value_unit / rules.weight_unit
        nodes.value[node, 0] = -float(total[1]) / (weight + rules.l2) * ratio
        nodes.impurity[node] = -side_score(total, weight, rules) * rules.gain_unit
        return weight, True
    ratio = rules.value_unit / rules.weight_unit
    for j in range(1, n_sums):
        nodes.value[node, j - 1] = offset[j - 1] + float(total[j]) / weight * ratio
    error = sum_of_squared_errors(start, end, total, rows, n_sums) / weight
    nodes.impurity[node] = error * ratio * ratio
    return weight, error > rules.pure_below


@subkernel
def open_node(
    node, start, end, depth, slot, total, root_weight, pool, table, rows, rules, search, frontier, nodes, offset
):
    """Describe a new node and look for its split; returns its place in the frontier, -1 for a leaf."""
    weight, impure = describe_node(node, start, end, total, nodes, rows, rules, offset)
    n_rows = end - start
    if (
        not impure
        or depth >= rules.max_depth
        or n_rows < rules.min_split
        or n_rows < 2 * rules.min_leaf
        or weight < 2.0 * rules.min_weight
    ):
        return -1
    if not find_split(start, end, slot, total, weight, pool, table, rows, rules, search):
        return -1
    gain = (search.score[0] - side_score(total, weight, rules)) * rules.gain_unit
    if rules.criterion == NEWTON:
        if not gain > rules.min_gain:
            return -1
    elif gain < rules.min_gain * root_weight * rules.weight_unit:
        return -1
    entry = take_free(frontier)
    frontier.node[entry] = node
    frontier.start[entry] = start
    frontier.end[entry] = end
    frontier.depth[entry] = depth
    frontier.slot[entry] = slot
    frontier.gain[entry] = max(gain, 0.0)
    frontier.total[entry, :] = total
    store_split(entry, n_rows, frontier, table, rules, search, weight)
    return entry


@subkernel
def take_free(frontier):
    """A free place of the frontier; free[0] counts the free places listed after it."""
    free = frontier.free
    entry = free[free[0]]
    free[0] -= 1
    return entry


@subkernel
def give_back(frontier, entry):
    free = frontier.free
    free[0] += 1
    free[free[0]] = entry


@subkernel
def precedes(a, b, frontier):
    """Best-first order: the greater gain, and of equals the older node."""
    if frontier.gain[a] != frontier.gain[b]:
        return frontier.gain[a] > frontier.gain[b]
    return frontier.node[a] < frontier.node[b]


@subkernel
def push(heap, size, entry, best_first, frontier):
    """Add an open node to the stack (or heap, when best_first); returns the new size."""
    place = size
    while best_first and place > 0:
        parent = (place - 1) >> 1
        if not precedes(entry, heap[parent], frontier):
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = entry
    return size + 1


@subkernel
def pop(heap, size, best_first, frontier):
    """Take the next node of a stack (or heap) of the given size."""
    if not best_first:
        return heap[size - 1]
    top = heap[0]
    last = heap[size - 1]
    size -= 1
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and precedes(heap[child + 1], heap[child], frontier):
            child += 1
        if not precedes(heap[child], last, frontier):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = last
    return top


@subkernel
def build_histograms(start, end, slot, pool, table, rows, rules):
    for feature in range(table.codes.shape[0]):
        hist = pool[slot, feature]
        hist[:, :] = 0
        add_rows(table.codes[feature], rows, start, end, rules, hist, 1)


@subkernel
def share_histograms(slot, middle, start, end, pool, spare_slots, table, rows, rules):
    """Histograms of two children from their parent's in slot: (left slot, right slot), -1 for none.

    The lesser child is added up (or, when it has few rows, only taken away row by row) and the greater is
    the difference. Children with fewer rows than bins are better without.
    """
    left_is_lesser = middle - start < end - middle
    if left_is_lesser:
        first, last = start, middle
    else:
        first, last = middle, end
    n_lesser = last - first
    n_greater = end - start - n_lesser
    if n_greater < SPARSE_BELOW:
        spare_slots[0] += 1
        spare_slots[spare_slots[0]] = slot
        return -1, -1
    lesser = -1
    if n_lesser < SPARSE_BELOW:
        for feature in range(table.codes.shape[0]):
            add_rows(table.codes[feature], rows, first, last, rules, pool[slot, feature], -1)
    else:
        lesser = spare_slots[spare_slots[0]]
        spare_slots[0] -= 1
        build_histograms(first, last, lesser, pool, table, rows, rules)
        whole, part = pool[slot].ravel(), pool[lesser].ravel()
        for i in range(whole.size):
            whole[i] -= part[i]
    if left_is_lesser:
        return lesser, slot
    return slot, lesser


@subkernel
def give_slot_back(slot, spare_slots):
    if slot >= 0:
        spare_slots[0] += 1
        spare_slots[spare_slots[0]] = slot


@subkernel
def new_nodes(capacity, n_values):
    return Nodes(
        np.empty(capacity, np.int32),
        np.empty(capacity),
        np.empty(capacity, np.uint8),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int32),
        np.empty((capacity, n_values)),
        np.empty(capacity, np.int32),
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity),
        np.empty(capacity, np.int64),
    )


@subkernel
def new_frontier(room, n_channels):
    free = np.empty(room + 1, np.int64)
    free[0] = room
    for i in range(room):
        free[i + 1] = room - 1 - i
    return Frontier(
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.uint8),
        np.empty(room, np.uint8),
        np.empty(room),
        np.empty(room),
        np.empty((room, 4), np.uint64),
        np.empty((room, n_channels), np.int64),
        np.empty((room, n_channels), np.int64),
        free,
    )


@subkernel
def new_search(n_features, n_channels, rng):
    return Search(
        np.zeros((256, n_channels), np.int64),
        np.zeros(4, np.uint64),
        np.empty(257, np.int64),
        np.empty(257, np.int64),
        np.empty(256),
        np.empty(n_channels, np.int64),
        np.empty(n_channels, np.int64),
        np.empty(n_channels, np.int64),
        np.empty(257, np.int64),
        np.empty(n_channels, np.int64),
        np.empty(4, np.int64),
        np.empty(1),
        rng,
        np.arange(n_features),
    )


@subkernel
def gather_rows(labels, sums, counts):
    """The rows with a positive count, their sums multiplied by it."""
    n = 0
    for i in range(counts.size):
        n += counts[i] > 0
    index = np.empty(n, np.uint32)
    label = np.empty(n if labels.size > 0 else 0, np.uint16)
    gathered = np.empty((n, sums.shape[1]), np.int64)
    n = 0
    for i in range(counts.size):
        if counts[i] > 0:
            index[n] = i
            if labels.size > 0:
                label[n] = labels[i]
            for c in range(sums.shape[1]):
                gathered[n, c] = counts[i] * sums[i, c]
            n += 1
    return Rows(index, label, gathered)


@subkernel
def root_sums(rows, rules):
    total = np.zeros(rules.n_channels, np.int64)
    for i in range(rows.index.size):
        if rules.n_classes > 0:
            total[rows.label[i]] += rows.sums[i, 0]
        else:
            for c in range(rows.sums.shape[1]):
                total[c] += rows.sums[i, c]
    if rules.min_leaf > 1:
        total[rules.n_channels - 1] = rows.index.size
    return total


@kernel(
    "u1[:,:]",
    "i8[:]",
    "u1[:]",
    "f8[:,:]",
    "f8[:,:]",
    "u2[:]",
    "i8[:,:]",
    "i4[:]",
    "i8[:]",
    "f8[:]",
    "f8[:]",
    "i8",
    "out u8[:]",
    "out i4[:]",
)
def grow(
    codes,
    n_bins,
    is_category,
    low,
    high,
    labels,
    sums,
    counts,
    whole_rules,
    real_rules,
    offset,
    n_slots,
    rng,
    leaf_of_row,
):
    """Grow one tree.

    codes (d, n), n_bins, is_category (d,), low, high (d, 256): the binned table. labels (n,) or empty;
    sums (n, c) whole-number statistics; counts (n,) times that each row is taken (0: not at all).
    whole_rules, real_rules: the fields of Rules in order, offset (outputs,) is added to values. n_slots > 1:
    room for the histograms of that many open nodes. rng (1,): state, not zero. leaf_of_row (n,) or empty:
    receives the leaf of each row taken. Returns the arrays of `gnomon.trees.tree.Tree`.
    """
    table = Table(codes, n_bins, is_category, low, high)
    rules = Rules(
        whole_rules[0],
        whole_rules[1],
        whole_rules[2],
        whole_rules[3],
        whole_rules[4],
        whole_rules[5],
        whole_rules[6],
        whole_rules[7],
        real_rules[0],
        real_rules[1],
        real_rules[2],
        real_rules[3],
        real_rules[4],
        real_rules[5],
        real_rules[6],
    )
    rows = gather_rows(labels, sums, counts)
    n = rows.index.size
    spare = Rows(np.empty_like(rows.index), np.empty_like(rows.label), np.empty_like(rows.sums))
    best_first = rules.max_leaf_nodes > 0
    most_leaves = max(1, n // max(1, rules.min_leaf))
    if best_first:
        most_leaves = min(most_leaves, rules.max_leaf_nodes)
    if rules.max_depth < 31:
        most_leaves = min(most_leaves, 1 << rules.max_depth)
    nodes = new_nodes(2 * most_leaves - 1, offset.size)
    masks = np.empty((16, 4), np.uint64)
    n_masks = 0
    frontier = new_frontier(most_leaves + 1 if best_first else STACK_ROOM, rules.n_channels)
    search = new_search(codes.shape[0], rules.n_channels, rng)
    heap = np.empty(frontier.node.size, np.int64)
    goes_left = np.empty(256, np.uint8)
    keeps_histograms = n_slots > 1 and n >= SPARSE_BELOW
    pool = np.empty(
        (n_slots if keeps_histograms else 0, codes.shape[0], 256, rules.n_channels), np.int64
    )
    spare_slots = np.arange(n_slots, -1, -1)
    spare_slots[0] = n_slots

    total = root_sums(rows, rules)
    root_weight = side_weight(total, rules)
    slot = -1
    if keeps_histograms:
        slot = 0
        spare_slots[0] -= 1
        build_histograms(0, n, slot, pool, table, rows, rules)
    entry = open_node(
        0, 0, n, 0, slot, total, root_weight, pool, table, rows, rules, search, frontier, nodes, offset
    )
    n_nodes = 1
    n_leaves = 1
    size = 0
    if entry >= 0:
        size = push(heap, size, entry, best_first, frontier)
    left_total = np.empty(rules.n_channels, np.int64)
    right_total = np.empty(rules.n_channels, np.int64)
    while size > 0 and (not best_first or n_leaves < rules.max_leaf_nodes):
        entry = pop(heap, size, best_first, frontier)
        size -= 1
        node, start, end = frontier.node[entry], frontier.start[entry], frontier.end[entry]
        feature, depth, slot = frontier.feature[entry], frontier.depth[entry], frontier.slot[entry]
        nodes.feature[node] = feature
        nodes.threshold[node] = frontier.threshold[entry]
        nodes.missing_left[node] = frontier.missing_left[entry]
        nodes.gain[node] = frontier.gain[entry]
        nodes.left[node] = n_nodes
        if frontier.is_category[entry]:
            if n_masks == masks.shape[0]:
                masks = np.concatenate((masks, masks))
            masks[n_masks, :] = frontier.mask[entry]
            nodes.category[node] = n_masks
            n_masks += 1
        fill_sides(entry, frontier, goes_left)
        middle = part_rows(start, end, codes[feature], goes_left, rows, spare)
        for c in range(rules.n_channels):
            left_total[c] = frontier.left[entry, c]
            right_total[c] = frontier.total[entry, c] - frontier.left[entry, c]
        give_back(frontier, entry)
        left_slot, right_slot = -1, -1
        if slot >= 0:
            left_slot, right_slot = share_histograms(
                slot, middle, start, end, pool, spare_slots, table, rows, rules
            )
        left = open_node(
            n_nodes, start, middle, depth + 1, left_slot, left_total, root_weight,
            pool, table, rows, rules, search, frontier, nodes, offset,
        )
        right = open_node(
            n_nodes + 1, middle, end, depth + 1, right_slot, right_total, root_weight,
            pool, table, rows, rules, search, frontier, nodes, offset,
        )
        n_nodes += 2
        n_leaves += 1
        if left < 0:
            give_slot_back(left_slot, spare_slots)
        if right < 0:
            give_slot_back(right_slot, spare_slots)
        # The lesser child is taken up first, which bounds the stack by the logarithm of the rows.
        if middle - start > end - middle:
            left, right = right, left
        if right >= 0:
            size = push(heap, size, right, best_first, frontier)
        if left >= 0:
            size = push(heap, size, left, best_first, frontier)

    if leaf_of_row.size > 0:
        for node in range(n_nodes):
            if nodes.left[node] < 0:
                first = nodes.start[node]
                for i in range(first, first + nodes.samples[node]):
                    leaf_of_row[rows.index[i]] = node
    return (
        nodes.feature[:n_nodes].copy(),
        nodes.threshold[:n_nodes].copy(),
        nodes.missing_left[:n_nodes].copy(),
        nodes.category[:n_nodes].copy(),
        masks[:n_masks].copy(),
        nodes.left[:n_nodes].copy(),
        nodes.value[:n_nodes].copy(),
        nodes.samples[:n_nodes].copy(),
        nodes.weight[:n_nodes].copy(),
        nodes.impurity[:n_nodes].copy(),
        nodes.gain[:n_nodes].copy(),
    )
