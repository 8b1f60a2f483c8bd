"""The kernel that grows one tree, and its parts; `gnomon.trees.grower` is the way to call it.

Why it is fast
--------------
- A cell is a byte, and the best cut of a column is found from at most 256 sums instead of a sort:
  O(rows + bins) per node and column.
- All sums are whole numbers (fixed point), so they are exact in any order: where every node looks
  at all columns, the histogram of the greater child is the parent's minus the lesser child's.
- A node with few rows marks the bins that it fills in 256 bits and visits those only, or sorts its
  rows, so that small nodes, which are most of a deep tree, cost in proportion to their rows; with
  several classes a row that changes sides changes the squares of its own class only.
- The codes are kept column by column, for nodes that hold many of the rows, and row by row, for
  nodes that hold few: the codes of a row then share a cache line, which stays near to the end.
- The rows of a node lie side by side with their labels and sums, and stay in ascending order.

Hooks: a constraint on which columns may be used together belongs into `draw_feature`; a monotone
constraint into `bar_small_sides`, where the sums left of every cut are known.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from gnomon.engine.kernel import kernel, lean_subkernel

# Constants are NumPy's, because for a Python number the compiler makes a copy of each function that
# takes it.
GINI, ENTROPY, MISCLASSIFICATION, SQUARED_ERROR = np.arange(4)
MISSING = 255
NO, YES = np.arange(2)
# Below so many rows a node visits its filled bins only, and below so many it sorts its rows instead
# (measured: there the ways cost the same).
SPARSE_BELOW = 64
SORT_BELOW = 24
# Rows for each class below which a node of several classes goes from row to row instead.
ROWS_PER_CLASS = 128
# A node with less than one in so many of the table's rows reads the codes row by row.
ROW_WISE_ONE_IN = 32
SUBSETS_UP_TO = 8
# Open nodes that growth in depth can have at most: the logarithm of the number of rows, and some.
MOST_OPEN_NODES = 80

# Typed constants: a signed one beside an unsigned number would make a float.
ONE = np.uint64(1)
SIX = np.uint64(6)
LOW_BITS = np.uint64(63)
SIXTY_SEVEN = np.uint64(67)
# Powers of two leave different remainders modulo 67, which finds the lowest bit of a word.
BIT_OF_REMAINDER = np.zeros(67, np.int64)
BIT_OF_REMAINDER[[pow(2, bit, 67) for bit in range(64)]] = np.arange(64)


class Table(NamedTuple):
    """Binned columns: codes by_column (d * n,) and by_row (n * d,), columns (2, d), edges (2, d,
    256), n rows, d features."""

    by_column: Annotated[np.ndarray, "u1[:]"]
    by_row: Annotated[np.ndarray, "u1[:]"]
    columns: Annotated[np.ndarray, "i8[:,:]"]
    edges: Annotated[np.ndarray, "f8[:,:,:]"]
    n_rows: Annotated[int, "i8"]
    n_features: Annotated[int, "i8"]


class Target(NamedTuple):
    """labels (n,) or empty, whole-number sums (n, c), counts (n,) how often each row is taken, and
    offset (outputs,) added to the values of nodes."""

    labels: Annotated[np.ndarray, "u2[:]"]
    sums: Annotated[np.ndarray, "i8[:,:]"]
    counts: Annotated[np.ndarray, "i4[:]"]
    offset: Annotated[np.ndarray, "f8[:]"]


class Rules(NamedTuple):
    """Criterion and limits, in the units of the sums."""

    criterion: Annotated[int, "i8"]
    n_classes: Annotated[int, "i8"]
    n_channels: Annotated[int, "i8"]
    max_depth: Annotated[int, "i8"]
    max_leaf_nodes: Annotated[int, "i8"]
    min_split: Annotated[int, "i8"]
    min_leaf: Annotated[int, "i8"]
    max_features: Annotated[int, "i8"]
    min_weight: Annotated[float, "f8"]
    min_gain: Annotated[float, "f8"]
    weight_unit: Annotated[float, "f8"]
    value_unit: Annotated[float, "f8"]
    gain_unit: Annotated[float, "f8"]
    pure_below: Annotated[float, "f8"]


class Rows(NamedTuple):
    """The rows taken, those of a node side by side: index (2, n), label (2, n or 0), sums (2, c,
    n)."""

    index: Annotated[np.ndarray, "out u4[:,:]"]
    label: Annotated[np.ndarray, "out u2[:,:]"]
    sums: Annotated[np.ndarray, "out i8[:,:,:]"]


class Scratch(NamedTuple):
    """lists (5, 257), sums (5, channels), gains (3, 257), bits (4, 4) with the seed of the draws in
    bits[3, 1], cut (5,), deck (d,), goes_left (256,)."""

    lists: Annotated[np.ndarray, "out i8[:,:]"]
    sums: Annotated[np.ndarray, "out i8[:,:]"]
    gains: Annotated[np.ndarray, "out f8[:,:]"]
    bits: Annotated[np.ndarray, "out u8[:,:]"]
    cut: Annotated[np.ndarray, "out i8[:]"]
    deck: Annotated[np.ndarray, "out i8[:]"]
    goes_left: Annotated[np.ndarray, "out u1[:]"]


class Frontier(NamedTuple):
    """Open nodes m: whole (m, 10), real (m, 2), levels (m, 4), sums (m, 2, channels), places (5,
    m + slots + 5): the heap, free places and slots, and the nodes to be opened next."""

    whole: Annotated[np.ndarray, "out i8[:,:]"]
    real: Annotated[np.ndarray, "out f8[:,:]"]
    levels: Annotated[np.ndarray, "out u8[:,:]"]
    sums: Annotated[np.ndarray, "out i8[:,:,:]"]
    places: Annotated[np.ndarray, "out i8[:,:]"]


class Nodes(NamedTuple):
    """The tree: whole (nodes, 6), real (nodes, 4), value (nodes, outputs), masks (.., 4)."""

    whole: Annotated[np.ndarray, "out i4[:,:]"]
    real: Annotated[np.ndarray, "out f8[:,:]"]
    value: Annotated[np.ndarray, "out f8[:,:]"]
    masks: Annotated[np.ndarray, "out u8[:,:]"]


# Rows of Table.columns and Table.edges.
N_BINS, IS_CATEGORY = np.arange(2)
LOW, HIGH = np.arange(2)
# Every array of Rows has a second half, into which `part_rows` puts the right side for a moment.
HERE, ASIDE = np.arange(2)
# Rows of Scratch.lists, whole numbers per bin: bins in the order of the cuts (as they are, or
# sorted), and weight, value and number of rows on the left of each cut.
FILLED, SORTED, WEIGHTS, VALUES, COUNTS = np.arange(5)
# Rows of Scratch.sums, whole numbers per channel: both sides of a candidate, the left of the best
# split so far, and the sums of the one or two nodes that are being opened.
LEFT, RIGHT, BEST_LEFT, FRESH = np.arange(4)
# Rows of Scratch.gains, numbers per bin (BEST: only the first counts).
GAINS, KEYS, BEST = np.arange(3)
# Rows of Scratch.bits, 256 bits each: bins marked; of the best split, levels on the left and levels
# seen; state of the generator of random numbers.
MARKED, BEST_ON_LEFT, BEST_SEEN, RANDOM = np.arange(4)
# Places in Scratch.cut, the best split so far.
FEATURE, LAST_LEFT, FIRST_RIGHT, MISSING_LEFT, MISSING_SEEN = np.arange(5)
# Columns of Frontier.whole (up to F_SLOT also of fresh nodes) and .real; Frontier.sums: of the
# node, of its left child.
F_NODE, F_START, F_END, F_DEPTH, F_PATH, F_SLOT = np.arange(6)
F_FEATURE, F_CUT, F_MISSING_LEFT, F_CATEGORY = np.arange(6, 10)
F_GAIN, F_THRESHOLD = np.arange(2)
F_TOTAL, F_LEFT = np.arange(2)
# Columns of Nodes.whole and .real.
N_FEATURE, N_MISSING_LEFT, N_CATEGORY, N_LEFT, N_SAMPLES, N_START = np.arange(6)
N_THRESHOLD, N_WEIGHT, N_IMPURITY, N_GAIN = np.arange(4)

# In these functions hists[h] (256, channels) is the histogram of one column in one node. Loops over
# rows count in unsigned numbers, which spares the test whether an index is negative.


@lean_subkernel
def next_random(bits, bound):
    """A whole number in 0 .. bound - 1 from the state bits[RANDOM, 0] (xorshift, 64 bits)."""
    state = bits[RANDOM, 0]
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    bits[RANDOM, 0] = state
    return np.int64(((state >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@lean_subkernel
def begin_draws(bits, path):
    """Seed the draws of a node by the tree's seed bits[RANDOM, 1] and its path from the root.

    So the draws depend neither on the order in which nodes are opened nor on the number of rows.
    """
    state = bits[RANDOM, 1] + np.uint64(path) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits[RANDOM, 0] = (state ^ (state >> np.uint64(31))) | np.uint64(1)


@lean_subkernel
def draw_feature(deck, bits, max_features, drawn):
    """The next column to look at: in order when all are used, else from the shuffled deck."""
    if max_features < deck.size:
        other = drawn + next_random(bits, deck.size - drawn)
        deck[drawn], deck[other] = deck[other], deck[drawn]
    return deck[drawn]


@lean_subkernel
def put_deck_in_order(deck, bits, path, n_drawn):
    """Undo the draws of a node, by drawing the same places again."""
    begin_draws(bits, path)
    for drawn in range(n_drawn):
        other = drawn + next_random(bits, deck.size - drawn)
        deck[drawn] = drawn
        deck[other] = other


@lean_subkernel
def add_classes(codes, stride, shift, rows, start, end, hists, h):
    """Add the weights of rows start .. end - 1 to a histogram by class."""
    index, label, sums = rows.index, rows.label, rows.sums
    for i in range(np.uint64(start), np.uint64(end)):
        code = codes[np.uint64(index[HERE, i]) * stride + shift]
        hists[h, code, label[HERE, i]] += sums[HERE, 0, i]


@lean_subkernel
def add_sums(codes, stride, shift, rows, start, end, hists, h):
    """Add weight and value of rows start .. end - 1 to a histogram."""
    index, sums = rows.index, rows.sums
    for i in range(np.uint64(start), np.uint64(end)):
        code = codes[np.uint64(index[HERE, i]) * stride + shift]
        hists[h, code, 0] += sums[HERE, 0, i]
        hists[h, code, 1] += sums[HERE, 1, i]


@lean_subkernel
def add_sums_and_counts(codes, stride, shift, rows, start, end, hists, h):
    """Add weight, value and number of rows start .. end - 1 to a histogram."""
    index, sums = rows.index, rows.sums
    for i in range(np.uint64(start), np.uint64(end)):
        code = codes[np.uint64(index[HERE, i]) * stride + shift]
        hists[h, code, 0] += sums[HERE, 0, i]
        hists[h, code, 1] += sums[HERE, 1, i]
        hists[h, code, 2] += 1


@lean_subkernel
def add_channel(codes, stride, shift, rows, channel, start, end, hists, h):
    """Add one of several sums of rows start .. end - 1 to a histogram."""
    index, sums = rows.index, rows.sums
    for i in range(np.uint64(start), np.uint64(end)):
        code = codes[np.uint64(index[HERE, i]) * stride + shift]
        hists[h, code, channel] += sums[HERE, channel, i]


@lean_subkernel
def add_counts(codes, stride, shift, rows, start, end, hists, h):
    """Add the number of rows start .. end - 1 to the last channel of a histogram."""
    index = rows.index
    last = hists.shape[2] - 1
    for i in range(np.uint64(start), np.uint64(end)):
        hists[h, codes[np.uint64(index[HERE, i]) * stride + shift], last] += 1


@lean_subkernel
def add_rows(codes, stride, shift, rows, start, end, n_classes, counting, hists, h):
    """Add rows start .. end - 1 to a histogram; the code of row r is codes[r * stride + shift]."""
    n_sums = rows.sums.shape[1]
    if n_classes > 0:
        add_classes(codes, stride, shift, rows, start, end, hists, h)
    elif n_sums == 2 and counting:
        add_sums_and_counts(codes, stride, shift, rows, start, end, hists, h)
        return
    elif n_sums == 2:
        add_sums(codes, stride, shift, rows, start, end, hists, h)
    else:
        for channel in range(n_sums):
            add_channel(codes, stride, shift, rows, channel, start, end, hists, h)
    if counting:
        add_counts(codes, stride, shift, rows, start, end, hists, h)


@lean_subkernel
def mark_bins(codes, stride, shift, rows, start, end, bits):
    """Set the bit of every row's bin in bits[MARKED]."""
    index = rows.index
    for i in range(np.uint64(start), np.uint64(end)):
        code = np.uint64(codes[np.uint64(index[HERE, i]) * stride + shift])
        bits[MARKED, code >> SIX] |= ONE << (code & LOW_BITS)


@lean_subkernel
def marked_bins(bits, lists):
    """The marked bins in ascending order into lists[FILLED]; unmarks them; returns their number."""
    m = 0
    for word in range(4):
        left = bits[MARKED, word]
        bits[MARKED, word] = np.uint64(0)
        while left != np.uint64(0):
            lowest = left & (~left + ONE)
            lists[FILLED, m] = 64 * word + BIT_OF_REMAINDER[lowest % SIXTY_SEVEN]
            m += 1
            left ^= lowest
    return m


@lean_subkernel
def bin_weight(hists, h, b, n_classes):
    weight = hists[h, b, 0]
    for k in range(1, n_classes):
        weight += hists[h, b, k]
    return weight


@lean_subkernel
def bins_to_cut(hists, h, n_bins, n_classes, is_category, lists):
    """Bins to cut between, ascending, missing last, into lists[FILLED]; returns their number.

    Empty bins of a numeric column may stay: a cut after one repeats the cut before it.
    """
    if is_category:
        m = 0
        for b in range(n_bins):
            lists[FILLED, m] = b
            m += 1 if bin_weight(hists, h, b, n_classes) > 0 else 0
    else:
        m = n_bins
        for b in range(n_bins):
            lists[FILLED, b] = b
    lists[FILLED, m] = MISSING
    return m + (1 if bin_weight(hists, h, MISSING, n_classes) > 0 else 0)


@lean_subkernel
def side_weight(sums, side, n_classes):
    """Weight of sums[side] (channels,)."""
    weight = sums[side, 0]
    for k in range(1, n_classes):
        weight += sums[side, k]
    return float(weight)


@lean_subkernel
def side_score(sums, side, weight, rules):
    """Score of one side, sums[side]; a split is best when the sum of its sides' scores is greatest.

    Gini sum w_k^2 / W; entropy sum w_k log2(w_k / W); misclassification max w_k; squared error
    sum S_j^2 / W. Each is a constant minus the side's weighted impurity.
    """
    score = 0.0
    if rules.criterion == GINI:
        for k in range(rules.n_classes):
            score += float(sums[side, k]) * float(sums[side, k])
        return score / weight
    if rules.criterion == ENTROPY:
        for k in range(rules.n_classes):
            if sums[side, k] > 0:
                score += float(sums[side, k]) * np.log2(float(sums[side, k]) / weight)
        return score
    if rules.criterion == MISCLASSIFICATION:
        for k in range(rules.n_classes):
            score = max(score, float(sums[side, k]))
        return score
    for j in range(1, rules.n_channels - (rules.min_leaf > 1)):
        score += float(sums[side, j]) * float(sums[side, j])
    return score / weight


@lean_subkernel
def add_up_bins(hists, h, lists, which, n_cuts, missing_left, two_classes, counting):
    """Weight, value and row count left of every cut, into rows of lists.

    With two classes the weight is that of both and the value that of the second.
    """
    last = hists.shape[2] - 1
    weight, value, count = np.int64(0), np.int64(0), np.int64(0)
    if missing_left:
        value, count = hists[h, MISSING, 1], hists[h, MISSING, last]
        weight = hists[h, MISSING, 0] + (value if two_classes else 0)
    if counting:
        for i in range(n_cuts):
            count += hists[h, lists[which, i], last]
            lists[COUNTS, i] = count
    if two_classes:
        for i in range(n_cuts):
            b = lists[which, i]
            value += hists[h, b, 1]
            weight += hists[h, b, 0] + hists[h, b, 1]
            lists[WEIGHTS, i] = weight
            lists[VALUES, i] = value
        return
    for i in range(n_cuts):
        b = lists[which, i]
        weight += hists[h, b, 0]
        value += hists[h, b, 1]
        lists[WEIGHTS, i] = weight
        lists[VALUES, i] = value


@lean_subkernel
def gains_of_one_sum(lists, n_cuts, weight, value, least, gains):
    """Gain of every cut of a sum S over a weight W; -1 where a side weighs less than `least`.

    (S_L W_R - S_R W_L)^2 / (W W_L W_R), the same for a split and its mirror image.
    """
    w = float(weight)
    for i in range(n_cuts):
        left = float(lists[WEIGHTS, i])
        right = float(weight - lists[WEIGHTS, i])
        s_left = float(lists[VALUES, i])
        s_right = float(value - lists[VALUES, i])
        surplus = s_left * right - s_right * left
        enough = (left >= least) & (right >= least)
        gains[GAINS, i] = surplus * surplus / (w * (left * right)) if enough else -1.0


@lean_subkernel
def bar_small_sides(lists, n_cuts, n_rows, min_leaf, gains):
    """Bar the cuts that leave fewer than min_leaf of the node's rows on a side."""
    for i in range(n_cuts):
        count = lists[COUNTS, i]
        if count < min_leaf or n_rows - count < min_leaf:
            gains[GAINS, i] = -1.0


@lean_subkernel
def gain_of_sides(sums, node_score, rules):
    """Gain of the split with the sides sums[LEFT], sums[RIGHT]; -1 where it is not admissible."""
    left, right = (
        side_weight(sums, LEFT, rules.n_classes),
        side_weight(sums, RIGHT, rules.n_classes),
    )
    least = max(rules.min_weight, 1.0)
    if left < least or right < least:
        return -1.0
    if rules.min_leaf > 1:
        last = rules.n_channels - 1
        if sums[LEFT, last] < rules.min_leaf or sums[RIGHT, last] < rules.min_leaf:
            return -1.0
    score = side_score(sums, LEFT, left, rules) + side_score(sums, RIGHT, right, rules)
    return max(score - node_score, 0.0)


@lean_subkernel
def gains_in_general(
    hists, h, lists, which, n_cuts, node, missing_left, node_score, rules, sums, gains
):
    """Gain of every cut for any criterion; the node's sums are sums[node]."""
    for c in range(rules.n_channels):
        sums[LEFT, c] = hists[h, MISSING, c] if missing_left else 0
    for i in range(n_cuts):
        for c in range(rules.n_channels):
            sums[LEFT, c] += hists[h, lists[which, i], c]
            sums[RIGHT, c] = sums[node, c] - sums[LEFT, c]
        gains[GAINS, i] = gain_of_sides(sums, node_score, rules)


@lean_subkernel
def place_of_greatest(gains, bits, n):
    """First place of the greatest gain; -1 where none is >= 0. bits: gains as whole numbers.

    Numbers >= 0 sort like their bit patterns, and the greatest of whole numbers is found with
    vectors.
    """
    top = np.int64(-1)
    for i in range(n):
        top = max(top, bits[GAINS, i])
    if top < 0:
        return -1
    place = 0
    while bits[GAINS, place] != top:
        place += 1
    return place


@lean_subkernel
def has_one_sum(rules):
    """Whether the gain is that of a single sum: one target, or the Gini index of two classes."""
    if rules.n_classes == 0:
        return rules.n_channels - (rules.min_leaf > 1) == 2
    return rules.n_classes == 2 and rules.criterion == GINI


@lean_subkernel
def best_cut_of_one_sum(n_cuts, node, rules, scratch):
    """(gain, position) of the best cut, from the sums left of every cut in lists; -1 if none."""
    lists, sums, gains = scratch.lists, scratch.sums, scratch.gains
    weight = sums[node, 0] + (sums[node, 1] if rules.n_classes > 0 else 0)
    least = max(rules.min_weight, 1.0)
    gains_of_one_sum(lists, n_cuts, weight, sums[node, 1], least, gains)
    if rules.min_leaf > 1:
        n_rows = sums[node, rules.n_channels - 1]
        bar_small_sides(lists, n_cuts, n_rows, rules.min_leaf, gains)
    position = place_of_greatest(gains, gains.view(np.int64), n_cuts)
    if position < 0:
        return -1.0, -1
    # The Gini gain of two classes counts each of them.
    return gains[GAINS, position] * (2.0 if rules.n_classes > 0 else 1.0), position


@lean_subkernel
def best_cut(hists, h, which, n_cuts, node, missing_left, node_score, rules, scratch):
    """(gain, position) of the best cut after one of n_cuts bins in lists[which]; -1 if none.

    With missing_left the missing bin lies left of every cut.
    """
    lists, gains = scratch.lists, scratch.gains
    if has_one_sum(rules):
        two_classes, counting = rules.n_classes == 2, rules.min_leaf > 1
        add_up_bins(hists, h, lists, which, n_cuts, missing_left, two_classes, counting)
        return best_cut_of_one_sum(n_cuts, node, rules, scratch)
    gains_in_general(
        hists,
        h,
        lists,
        which,
        n_cuts,
        node,
        missing_left,
        node_score,
        rules,
        scratch.sums,
        gains,
    )
    position = place_of_greatest(gains, gains.view(np.int64), n_cuts)
    if position < 0:
        return -1.0, -1
    return gains[GAINS, position], position


@lean_subkernel
def sort_rows(codes, stride, shift, rows, start, n, lists):
    """Rows start .. start + n - 1, n < 64, by code: 64 code + place into lists[SORTED].

    A row's rank is the number of lesser ones: n^2 comparisons, but no branch that can be mistaken.
    """
    for i in range(n):
        row = np.uint64(rows.index[HERE, np.uint64(start + i)])
        lists[COUNTS, i] = (np.int64(codes[row * stride + shift]) << 6) | i
    for i in range(n):
        key = lists[COUNTS, i]
        rank = np.int64(0)
        for j in range(n):
            rank += 1 if lists[COUNTS, j] < key else 0
        lists[SORTED, rank] = key


@lean_subkernel
def add_up_rows(rows, start, n, n_classes, lists):
    """As `add_up_bins`, from sorted rows, and the bins into lists[FILLED]; returns how many."""
    label, sums = rows.label, rows.sums
    weight, value = np.int64(0), np.int64(0)
    m = -1
    last_code = np.int64(-1)
    for i in range(n):
        key = lists[SORTED, i]
        place = np.uint64(start + (key & 63))
        if key >> 6 != last_code:
            last_code = key >> 6
            m += 1
            lists[FILLED, m] = last_code
        weight += sums[HERE, 0, place]
        if n_classes == 0:
            value += sums[HERE, 1, place]
        else:
            value += sums[HERE, 0, place] if label[HERE, place] == 1 else 0
        lists[WEIGHTS, m] = weight
        lists[VALUES, m] = value
        lists[COUNTS, m] = i + 1
    return m + 1


@lean_subkernel
def consider_few_rows(codes, stride, shift, rows, start, n, node, feature, rules, scratch):
    """Best threshold of a numeric column in a node of few rows and one sum, without histogram."""
    lists, sums, cut = scratch.lists, scratch.sums, scratch.cut
    sort_rows(codes, stride, shift, rows, start, n, lists)
    m = add_up_rows(rows, start, n, rules.n_classes, lists)
    if m < 2:
        return
    has_missing = lists[FILLED, m - 1] == MISSING
    for missing_left in range(2 if has_missing else 1):
        if missing_left:
            for c in range(WEIGHTS, COUNTS + 1):
                missing = lists[c, m - 1] - lists[c, m - 2]
                for i in range(m - 1):
                    lists[c, i] += missing
        gain, position = best_cut_of_one_sum(m - 1 - missing_left, node, rules, scratch)
        if gain > scratch.gains[BEST, 0]:
            scratch.gains[BEST, 0] = gain
            second = lists[VALUES, position] if rules.n_classes > 0 else 0
            sums[BEST_LEFT, 0] = lists[WEIGHTS, position] - second
            sums[BEST_LEFT, 1] = lists[VALUES, position]
            if rules.min_leaf > 1:
                sums[BEST_LEFT, 2] = lists[COUNTS, position]
            cut[FEATURE] = feature
            cut[LAST_LEFT] = lists[FILLED, position]
            cut[FIRST_RIGHT] = lists[FILLED, position + 1]
            cut[MISSING_LEFT] = missing_left
            cut[MISSING_SEEN] = 1 if has_missing else 0


@lean_subkernel
def order_by_code(codes, stride, shift, rows, start, n, lists):
    """Places of rows start .. start + n - 1 by code, in order, to rows.index[ASIDE]; stable.

    lists[COUNTS, code] is where the rows of the next code begin.
    """
    index, count = rows.index, lists[COUNTS]
    for b in range(257):
        count[b] = 0
    for i in range(start, start + n):
        count[np.int64(codes[np.uint64(index[HERE, i]) * stride + shift]) + 1] += 1
    for b in range(256):
        count[b + 1] += count[b]
    for i in range(start, start + n):
        code = np.int64(codes[np.uint64(index[HERE, i]) * stride + shift])
        index[ASIDE, count[code]] = np.uint32(i)
        count[code] += 1


@lean_subkernel
def move_left(rows, place, sums, squares):
    """Move one row from the right side to the left; squares: of both sides' weights by class."""
    kind, weight = rows.label[HERE, place], rows.sums[HERE, 0, place]
    left, right = sums[LEFT, kind], sums[RIGHT, kind]
    squares[LEFT] += float(weight) * float(2 * left + weight)
    squares[RIGHT] -= float(weight) * float(2 * right - weight)
    sums[LEFT, kind] = left + weight
    sums[RIGHT, kind] = right - weight
    return weight


@lean_subkernel
def consider_rows_of_classes(
    codes, stride, shift, rows, start, n, node, node_score, feature, rules, scratch
):
    """Best threshold of a numeric column by the Gini index of several classes, row after row.

    One row changes the squares of one class: a cut costs as much as its rows, not as the classes.
    """
    lists, sums, cut = scratch.lists, scratch.sums, scratch.cut
    squares = scratch.gains[KEYS]
    order_by_code(codes, stride, shift, rows, start, n, lists)
    ordered = rows.index[ASIDE]
    missing = lists[COUNTS, MISSING - 1]  # where rows with a missing value begin
    total = np.int64(0)
    for k in range(rules.n_classes):
        total += sums[node, k]
    least = max(rules.min_weight, 1.0)
    for missing_left in range(2 if 0 < missing < n else 1):
        squares[LEFT], squares[RIGHT] = 0.0, 0.0
        for k in range(rules.n_classes):
            sums[LEFT, k], sums[RIGHT, k] = 0, sums[node, k]
            squares[RIGHT] += float(sums[node, k]) * float(sums[node, k])
        weight, count = np.int64(0), np.int64(0)
        if missing_left:
            for i in range(missing, n):
                weight += move_left(rows, ordered[i], sums, squares)
                count += 1
        last = missing if missing_left else n
        i = np.int64(0)
        while i < last:
            code = codes[np.uint64(rows.index[HERE, ordered[i]]) * stride + shift]
            end = lists[COUNTS, code]
            while i < end:
                weight += move_left(rows, ordered[i], sums, squares)
                count += 1
                i += 1
            if i >= last:
                break
            left, right = float(weight), float(total - weight)
            small = count < rules.min_leaf or n - count < rules.min_leaf
            if left < least or right < least or small:
                continue
            gain = max(squares[LEFT] / left + squares[RIGHT] / right - node_score, 0.0)
            if gain > scratch.gains[BEST, 0]:
                scratch.gains[BEST, 0] = gain
                for k in range(rules.n_classes):
                    sums[BEST_LEFT, k] = sums[LEFT, k]
                if rules.min_leaf > 1:
                    sums[BEST_LEFT, rules.n_channels - 1] = count
                after = codes[np.uint64(rows.index[HERE, ordered[i]]) * stride + shift]
                cut[FEATURE] = feature
                cut[LAST_LEFT] = np.int64(code)
                cut[FIRST_RIGHT] = np.int64(after)
                cut[MISSING_LEFT] = missing_left
                cut[MISSING_SEEN] = 1 if missing < n else 0


@lean_subkernel
def keep_cut(
    gain, position, hists, h, which, m, missing_left, is_category, feature, n_classes, scratch
):
    """Make the cut after lists[which, position] the node's best so far."""
    lists, sums, cut = scratch.lists, scratch.sums, scratch.cut
    scratch.gains[BEST, 0] = gain
    for c in range(hists.shape[2]):
        sums[BEST_LEFT, c] = hists[h, MISSING, c] if missing_left else 0
    for i in range(position + 1):
        for c in range(hists.shape[2]):
            sums[BEST_LEFT, c] += hists[h, lists[which, i], c]
    first_right = position + 1
    while first_right < m - 1 and bin_weight(hists, h, lists[which, first_right], n_classes) == 0:
        first_right += 1
    cut[FEATURE] = feature
    cut[LAST_LEFT] = lists[which, position]
    cut[FIRST_RIGHT] = lists[which, first_right]
    cut[MISSING_LEFT] = missing_left
    cut[MISSING_SEEN] = 1 if lists[which, m - 1] == MISSING else 0
    if is_category:
        keep_levels(lists, which, position, m, scratch.bits)


@lean_subkernel
def keep_levels(lists, which, position, m, bits):
    """Note the m levels seen in lists[which], and those up to the position as going left."""
    for word in range(4):
        bits[BEST_ON_LEFT, word] = np.uint64(0)
        bits[BEST_SEEN, word] = np.uint64(0)
    for i in range(m):
        level = np.uint64(lists[which, i])
        bit = ONE << (level & LOW_BITS)
        bits[BEST_SEEN, level >> SIX] |= bit
        if i <= position:
            bits[BEST_ON_LEFT, level >> SIX] |= bit


@lean_subkernel
def consider_numbers(hists, h, m, node, node_score, feature, rules, scratch):
    """Best threshold of a numeric column whose m bins are in lists[FILLED].

    Missing values go to the side where they gain more; the last cut parts them from all values.
    """
    lists = scratch.lists
    directions = 2 if lists[FILLED, m - 1] == MISSING else 1
    for missing_left in range(directions):
        n_cuts = m - 1 - missing_left
        gain, position = best_cut(
            hists, h, FILLED, n_cuts, node, missing_left, node_score, rules, scratch
        )
        if gain > scratch.gains[BEST, 0]:
            keep_cut(
                gain,
                position,
                hists,
                h,
                FILLED,
                m,
                missing_left,
                NO,
                feature,
                rules.n_classes,
                scratch,
            )


@lean_subkernel
def sort_levels(lists, keys, m):
    """Sort the m levels in lists[SORTED] by keys[KEYS, level], equal keys by level."""
    for i in range(1, m):
        level = lists[SORTED, i]
        j = i
        while j > 0 and keys[KEYS, lists[SORTED, j - 1]] > keys[KEYS, level]:
            lists[SORTED, j] = lists[SORTED, j - 1]
            j -= 1
        lists[SORTED, j] = level


@lean_subkernel
def consider_levels(hists, h, m, node, node_score, feature, rules, scratch):
    """Best subset of the m levels in lists[FILLED]; missing is one more level.

    Two classes and a single sum: sorted by class share or mean, some prefix is the best of all
    2^(m-1) - 1 subsets (Fisher; Breiman). More classes or sums: all subsets of up to eight levels,
    and beyond that prefixes in the order of each class's share (or each mean) in turn.
    """
    lists, keys = scratch.lists, scratch.gains
    first_channel = 0 if rules.n_classes > 2 else 1
    last_channel = rules.n_channels - (rules.min_leaf > 1)
    if last_channel - first_channel > 1 and m <= SUBSETS_UP_TO:
        consider_subsets(hists, h, m, node, node_score, feature, rules, scratch)
        return
    for channel in range(first_channel, last_channel):
        for i in range(m):
            level = lists[FILLED, i]
            lists[SORTED, i] = level
            weight = float(bin_weight(hists, h, level, rules.n_classes))
            keys[KEYS, level] = float(hists[h, level, channel]) / weight
        sort_levels(lists, keys, m)
        gain, position = best_cut(hists, h, SORTED, m - 1, node, NO, node_score, rules, scratch)
        if gain > scratch.gains[BEST, 0]:
            keep_cut(
                gain, position, hists, h, SORTED, m, NO, YES, feature, rules.n_classes, scratch
            )


@lean_subkernel
def consider_subsets(hists, h, m, node, node_score, feature, rules, scratch):
    """Best of all subsets of at most eight levels; the last level stays on the right."""
    lists, sums = scratch.lists, scratch.sums
    best_gain, best_subset = scratch.gains[BEST, 0], 0
    for subset in range(1, 1 << (m - 1)):
        for c in range(rules.n_channels):
            sums[LEFT, c] = 0
            for i in range(m - 1):
                if subset >> i & 1:
                    sums[LEFT, c] += hists[h, lists[FILLED, i], c]
            sums[RIGHT, c] = sums[node, c] - sums[LEFT, c]
        gain = gain_of_sides(sums, node_score, rules)
        if gain > best_gain:
            best_gain, best_subset = gain, subset
    if best_subset == 0:
        return
    n_left = 0
    n_placed = 0
    for side in range(2):
        n_left = n_placed
        for i in range(m):
            if (best_subset >> i & 1) != side:
                lists[SORTED, n_placed] = lists[FILLED, i]
                n_placed += 1
    keep_cut(best_gain, n_left - 1, hists, h, SORTED, m, NO, YES, feature, rules.n_classes, scratch)


@lean_subkernel
def clear_bins(hists, h, lists, m):
    """Empty the bins lists[FILLED, 0 .. m - 1] of a histogram."""
    for i in range(m):
        for c in range(hists.shape[2]):
            hists[h, lists[FILLED, i], c] = 0


@lean_subkernel
def clear_all_bins(hists, h):
    """Empty a histogram."""
    for b in range(256):
        for c in range(hists.shape[2]):
            hists[h, b, c] = 0


@lean_subkernel
def consider_column(
    codes,
    stride,
    shift,
    rows,
    start,
    end,
    slot,
    node,
    node_score,
    feature,
    hists,
    table,
    rules,
    scratch,
):
    """Best split of a column through its histogram: the one kept in the slot, or a fresh one."""
    lists = scratch.lists
    is_category = table.columns[IS_CATEGORY, feature] != 0
    n_bins = table.columns[N_BINS, feature]
    sparse = slot < 0 and end - start < SPARSE_BELOW
    h = slot * table.n_features + feature if slot >= 0 else hists.shape[0] - 1
    if slot < 0:
        counting = rules.min_leaf > 1
        add_rows(codes, stride, shift, rows, start, end, rules.n_classes, counting, hists, h)
    if sparse:
        mark_bins(codes, stride, shift, rows, start, end, scratch.bits)
        m = marked_bins(scratch.bits, lists)
    else:
        m = bins_to_cut(hists, h, n_bins, rules.n_classes, is_category, lists)
    if m > 1 and is_category:
        consider_levels(hists, h, m, node, node_score, feature, rules, scratch)
    elif m > 1:
        consider_numbers(hists, h, m, node, node_score, feature, rules, scratch)
    if sparse:
        clear_bins(hists, h, lists, m)
    elif slot < 0:
        clear_all_bins(hists, h)


@lean_subkernel
def find_split(start, end, slot, path, node, cost, hists, table, rows, rules, scratch):
    """Look for the best split of the node whose sums are sums[node]; returns whether there is one.

    max_features columns are tried, and more until one can be split, so that no node is given up
    while it can be split. The search ends early at a split into pure sides, which gains the whole
    cost of the node and cannot be beaten.
    """
    gains = scratch.gains
    weight = side_weight(scratch.sums, node, rules.n_classes)
    node_score = side_score(scratch.sums, node, weight, rules)
    gains[BEST, 0] = -1.0
    unbeatable = cost * (1.0 - 1e-12)
    n_rows = end - start
    by_sorting = slot < 0 and n_rows < SORT_BELOW and has_one_sum(rules)
    # several classes: bins times classes cost more than rows up to so many of these
    walk = slot < 0 and rules.criterion == GINI and rules.n_classes > 2
    walk = walk and n_rows < ROWS_PER_CLASS * rules.n_classes
    # its running sums of squares are exact, whatever the order of rows, below 2^53
    walk = walk and weight * weight < 2.0**53
    row_wise = n_rows * ROW_WISE_ONE_IN < table.n_rows
    codes = table.by_row if row_wise else table.by_column
    stride = np.uint64(table.n_features if row_wise else 1)
    drawn = np.int64(0)
    begin_draws(scratch.bits, path)
    while drawn < table.n_features and (drawn < rules.max_features or gains[BEST, 0] < 0.0):
        feature = draw_feature(scratch.deck, scratch.bits, rules.max_features, drawn)
        drawn += 1
        shift = np.uint64(feature if row_wise else feature * table.n_rows)
        if by_sorting and table.columns[IS_CATEGORY, feature] == 0:
            consider_few_rows(
                codes, stride, shift, rows, start, n_rows, node, feature, rules, scratch
            )
        elif walk and table.columns[IS_CATEGORY, feature] == 0:
            consider_rows_of_classes(
                codes, stride, shift, rows, start, n_rows, node, node_score, feature, rules, scratch
            )
        else:
            consider_column(
                codes,
                stride,
                shift,
                rows,
                start,
                end,
                slot,
                node,
                node_score,
                feature,
                hists,
                table,
                rules,
                scratch,
            )
        if gains[BEST, 0] >= unbeatable:
            break
    if rules.max_features < table.n_features:
        put_deck_in_order(scratch.deck, scratch.bits, path, drawn)
    return gains[BEST, 0] >= 0.0


@lean_subkernel
def midpoint(below, above):
    middle = below / 2 + above / 2
    if below <= middle < above:
        return middle
    return below


@lean_subkernel
def store_split(entry, weight, frontier, table, n_classes, scratch):
    """Copy the best split of an open node into its place in the frontier.

    What was not seen in the node (a level, or missing values) goes to the side with more weight.
    """
    whole, cut, bits = frontier.whole, scratch.cut, scratch.bits
    feature = cut[FEATURE]
    is_category = table.columns[IS_CATEGORY, feature]
    whole[entry, F_FEATURE] = feature
    whole[entry, F_CUT] = cut[LAST_LEFT]
    whole[entry, F_CATEGORY] = is_category
    for c in range(scratch.sums.shape[1]):
        frontier.sums[entry, F_LEFT, c] = scratch.sums[BEST_LEFT, c]
    default = 1 if 2.0 * side_weight(scratch.sums, BEST_LEFT, n_classes) >= weight else 0
    if is_category == 0:
        whole[entry, F_MISSING_LEFT] = cut[MISSING_LEFT] if cut[MISSING_SEEN] else default
        threshold = np.inf
        if cut[FIRST_RIGHT] != MISSING:
            below = table.edges[HIGH, feature, cut[LAST_LEFT]]
            above = table.edges[LOW, feature, cut[FIRST_RIGHT]]
            threshold = midpoint(below, above)
        frontier.real[entry, F_THRESHOLD] = threshold
        return
    missing_bit = ONE << (np.uint64(MISSING) & LOW_BITS)
    if bits[BEST_SEEN, 3] & missing_bit:
        default = 1 if bits[BEST_ON_LEFT, 3] & missing_bit else 0
    for word in range(4):
        unseen = ~bits[BEST_SEEN, word] if default else np.uint64(0)
        frontier.levels[entry, word] = bits[BEST_ON_LEFT, word] | unseen
    whole[entry, F_MISSING_LEFT] = default
    frontier.real[entry, F_THRESHOLD] = np.nan


@lean_subkernel
def fill_sides(entry, frontier, goes_left):
    """Side of each of the 256 codes for the split of an open node."""
    whole, levels = frontier.whole, frontier.levels
    if whole[entry, F_CATEGORY]:
        for b in range(256):
            goes_left[b] = (levels[entry, b >> 6] >> (np.uint64(b) & LOW_BITS)) & ONE
        return
    for b in range(255):
        goes_left[b] = 1 if b <= whole[entry, F_CUT] else 0
    goes_left[MISSING] = whole[entry, F_MISSING_LEFT]


@lean_subkernel
def part_rows(start, end, codes, stride, shift, goes_left, rows):
    """Move the left rows of start .. end - 1 before the right ones, in order; returns the border.

    Every row is written to both sides, and the place of the one it belongs to moves on: no branch.
    """
    index, label, sums = rows.index, rows.label, rows.sums
    labeled = label.shape[1] > 0
    n_sums = sums.shape[1]
    left, right = np.uint64(start), np.uint64(0)
    if labeled:
        for i in range(np.uint64(start), np.uint64(end)):
            row, kind, weight = index[HERE, i], label[HERE, i], sums[HERE, 0, i]
            to_left = np.uint64(goes_left[codes[np.uint64(row) * stride + shift]])
            index[HERE, left] = row
            index[ASIDE, right] = row
            label[HERE, left] = kind
            label[ASIDE, right] = kind
            sums[HERE, 0, left] = weight
            sums[ASIDE, 0, right] = weight
            left += to_left
            right += ONE - to_left
        for i in range(right):
            label[HERE, left + i] = label[ASIDE, i]
    else:
        for i in range(np.uint64(start), np.uint64(end)):
            row = index[HERE, i]
            to_left = np.uint64(goes_left[codes[np.uint64(row) * stride + shift]])
            index[HERE, left] = row
            index[ASIDE, right] = row
            for c in range(n_sums):
                value = sums[HERE, c, i]
                sums[HERE, c, left] = value
                sums[ASIDE, c, right] = value
            left += to_left
            right += ONE - to_left
    for i in range(right):
        index[HERE, left + i] = index[ASIDE, i]
    for c in range(n_sums):
        for i in range(right):
            sums[HERE, c, left + i] = sums[ASIDE, c, i]
    return np.int64(left)


@lean_subkernel
def mean_squared_error(start, end, node_sums, node, sums):
    """1/W sum over rows and outputs of (s - w S / W)^2 / w: the variance about the node's mean."""
    error = 0.0
    for j in range(1, sums.shape[1]):
        mean = float(node_sums[node, j]) / float(node_sums[node, 0])
        for i in range(np.uint64(start), np.uint64(end)):
            weight = float(sums[HERE, 0, i])
            residual = float(sums[HERE, j, i]) - weight * mean
            error += residual * residual / weight
    return error / float(node_sums[node, 0])


@lean_subkernel
def describe_node(node, start, end, sums, which, nodes, row_sums, rules, offset):
    """Write a new node's size, value and impurity; returns the most that splits of it can gain.

    In the units of the sums; 0 where all targets are alike.
    """
    whole, real, value = nodes.whole, nodes.real, nodes.value
    weight = side_weight(sums, which, rules.n_classes)
    whole[node, N_FEATURE] = -1
    whole[node, N_MISSING_LEFT] = 0
    whole[node, N_CATEGORY] = -1
    whole[node, N_LEFT] = -1
    whole[node, N_SAMPLES] = end - start
    whole[node, N_START] = start
    real[node, N_THRESHOLD] = np.nan
    real[node, N_WEIGHT] = weight * rules.weight_unit
    real[node, N_GAIN] = 0.0
    if rules.n_classes > 0:
        score = side_score(sums, which, weight, rules)
        heaviest = np.int64(0)
        for k in range(rules.n_classes):
            value[node, k] = float(sums[which, k]) / weight
            heaviest = max(heaviest, sums[which, k])
        cost = -score if rules.criterion == ENTROPY else weight - score
        real[node, N_IMPURITY] = max(0.0, cost / weight)
        return cost if float(heaviest) < weight else 0.0
    ratio = rules.value_unit / rules.weight_unit
    for j in range(1, row_sums.shape[1]):
        value[node, j - 1] = offset[j - 1] + float(sums[which, j]) / weight * ratio
    error = mean_squared_error(start, end, sums, which, row_sums)
    real[node, N_IMPURITY] = error * ratio * ratio
    return error * weight if error > rules.pure_below else 0.0


@lean_subkernel
def open_node(
    fresh, which, least_gain, hists, table, rows, rules, scratch, frontier, free, nodes, offset
):
    """Describe the node fresh[which] and look for its split; returns its place in the frontier.

    A node that stays a leaf has none: -1.
    """
    node, start, end = fresh[which, F_NODE], fresh[which, F_START], fresh[which, F_END]
    sums = scratch.sums
    cost = describe_node(node, start, end, sums, FRESH + which, nodes, rows.sums, rules, offset)
    weight = side_weight(sums, FRESH + which, rules.n_classes)
    if (
        cost == 0.0
        or fresh[which, F_DEPTH] >= rules.max_depth
        or end - start < max(rules.min_split, 2 * rules.min_leaf)
        or weight < 2.0 * rules.min_weight
    ):
        return -1
    slot, path = fresh[which, F_SLOT], fresh[which, F_PATH]
    if not find_split(
        start, end, slot, path, FRESH + which, cost, hists, table, rows, rules, scratch
    ):
        return -1
    gain = scratch.gains[BEST, 0] * rules.gain_unit
    if gain < least_gain:
        return -1
    entry = take(free)
    for c in range(F_SLOT + 1):
        frontier.whole[entry, c] = fresh[which, c]
    for c in range(rules.n_channels):
        frontier.sums[entry, F_TOTAL, c] = sums[FRESH + which, c]
    frontier.real[entry, F_GAIN] = gain
    store_split(entry, weight, frontier, table, rules.n_classes, scratch)
    return entry


@lean_subkernel
def take(free):
    """The next free place of a list free[1], free[2] ... of free[0] places."""
    free[0] -= 1
    return free[free[0] + 1]


@lean_subkernel
def give_back(free, place):
    if place >= 0:
        free[0] += 1
        free[free[0]] = place


@lean_subkernel
def fill_free(free, n):
    free[0] = n
    for place in range(n):
        free[place + 1] = n - 1 - place


@lean_subkernel
def put_children(entry, middle, n_nodes, frontier, fresh, sums):
    """Put the children of an open node into fresh and sums, the one with fewer rows first."""
    whole = frontier.whole
    start, end = whole[entry, F_START], whole[entry, F_END]
    left = 0 if middle - start <= end - middle else 1
    right = 1 - left
    fresh[left, F_NODE], fresh[left, F_START], fresh[left, F_END] = n_nodes, start, middle
    fresh[right, F_NODE], fresh[right, F_START], fresh[right, F_END] = n_nodes + 1, middle, end
    fresh[left, F_PATH] = 2 * whole[entry, F_PATH]
    fresh[right, F_PATH] = 2 * whole[entry, F_PATH] + 1
    for which in range(2):
        fresh[which, F_DEPTH] = whole[entry, F_DEPTH] + 1
        fresh[which, F_SLOT] = -1
    for c in range(sums.shape[1]):
        of_left = frontier.sums[entry, F_LEFT, c]
        sums[FRESH + left, c] = of_left
        sums[FRESH + right, c] = frontier.sums[entry, F_TOTAL, c] - of_left


@lean_subkernel
def close_node(entry, n_nodes, n_masks, frontier, nodes):
    """Give an open node the children n_nodes and n_nodes + 1; returns the number of masks."""
    whole, real = frontier.whole, frontier.real
    node = whole[entry, F_NODE]
    nodes.whole[node, N_FEATURE] = whole[entry, F_FEATURE]
    nodes.whole[node, N_MISSING_LEFT] = whole[entry, F_MISSING_LEFT]
    nodes.whole[node, N_LEFT] = n_nodes
    nodes.real[node, N_THRESHOLD] = real[entry, F_THRESHOLD]
    nodes.real[node, N_GAIN] = real[entry, F_GAIN]
    if whole[entry, F_CATEGORY] == 0:
        return n_masks
    nodes.whole[node, N_CATEGORY] = n_masks
    for word in range(4):
        nodes.masks[n_masks, word] = frontier.levels[entry, word]
    return n_masks + 1


@lean_subkernel
def precedes(a, b, frontier):
    """Best-first order: the greater gain, and of equals the older node."""
    gain_a, gain_b = frontier.real[a, F_GAIN], frontier.real[b, F_GAIN]
    if gain_a != gain_b:
        return gain_a > gain_b
    return frontier.whole[a, F_NODE] < frontier.whole[b, F_NODE]


@lean_subkernel
def push(heap, size, entry, best_first, frontier):
    """Add an open node to the stack (to the heap, when best_first); returns the new size."""
    place = size
    while best_first and place > 0:
        parent = (place - 1) >> 1
        if not precedes(entry, heap[parent], frontier):
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = entry
    return size + 1


@lean_subkernel
def pop(heap, size, best_first, frontier):
    """Take the next node from a stack (or heap) of the given size."""
    if not best_first:
        return heap[size - 1]
    top = heap[0]
    last = heap[size - 1]
    size -= 1
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and precedes(heap[child + 1], heap[child], frontier):
            child += 1
        if not precedes(heap[child], last, frontier):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = last
    return top


@lean_subkernel
def build_histograms(start, end, slot, hists, table, rows, n_classes, counting):
    """Histograms of all columns for the rows start .. end - 1 into a slot."""
    row_wise = (end - start) * ROW_WISE_ONE_IN < table.n_rows
    codes = table.by_row if row_wise else table.by_column
    stride = np.uint64(table.n_features if row_wise else 1)
    for feature in range(table.n_features):
        h = slot * table.n_features + feature
        clear_all_bins(hists, h)
        shift = np.uint64(feature if row_wise else feature * table.n_rows)
        add_rows(codes, stride, shift, rows, start, end, n_classes, counting, hists, h)


@lean_subkernel
def subtract_histograms(slot, part, n_features, hists):
    """Take the histograms in slot `part` away from those in `slot`."""
    for feature in range(n_features):
        h, g = slot * n_features + feature, part * n_features + feature
        for b in range(256):
            for c in range(hists.shape[2]):
                hists[h, b, c] -= hists[g, b, c]


@lean_subkernel
def gather_rows(target, rows):
    """Put the rows with a positive count, sums times count, into rows; returns their number."""
    labels, sums, counts = target.labels, target.sums, target.counts
    n = 0
    for i in range(counts.size):
        if counts[i] > 0:
            rows.index[HERE, n] = i
            if labels.size > 0:
                rows.label[HERE, n] = labels[i]
            for c in range(sums.shape[1]):
                rows.sums[HERE, c, n] = counts[i] * sums[i, c]
            n += 1
    return n


@lean_subkernel
def add_root_sums(n, rows, rules, sums):
    """Sums over the first n rows into sums[FRESH]."""
    for c in range(rules.n_channels):
        sums[FRESH, c] = 0
    for i in range(n):
        if rules.n_classes > 0:
            sums[FRESH, rows.label[HERE, i]] += rows.sums[HERE, 0, i]
        else:
            for c in range(rows.sums.shape[1]):
                sums[FRESH, c] += rows.sums[HERE, c, i]
    if rules.min_leaf > 1:
        sums[FRESH, rules.n_channels - 1] = n


@lean_subkernel
def fill_leaves(n_nodes, nodes, index, leaf_of_row):
    """Write the leaf of every row in the tree."""
    for node in range(n_nodes):
        if nodes.whole[node, N_LEFT] < 0:
            first = nodes.whole[node, N_START]
            for i in range(first, first + nodes.whole[node, N_SAMPLES]):
                leaf_of_row[index[HERE, i]] = node


@kernel(Table, Target, Rules, Rows, "out i8[:,:,:]", Scratch, Frontier, Nodes, "out i4[:]")
def grow(table, target, rules, rows, hists, scratch, frontier, nodes, leaf_of_row):
    """Grow one tree; returns the number of its nodes and of its category nodes.

    hists (slots * d + 1, 256, channels); leaf_of_row (n,) receives the leaf of every row taken, or
    is empty. `gnomon.trees.grower` makes the arrays.
    """
    d, n_table = table.n_features, table.n_rows
    open_whole, channel_sums, places = frontier.whole, scratch.sums, frontier.places
    heap, free, free_slots, fresh = places[0], places[1], places[2], places[3:]
    for feature in range(d):
        scratch.deck[feature] = feature
    for word in range(4):
        scratch.bits[MARKED, word] = np.uint64(0)
    clear_all_bins(hists, hists.shape[0] - 1)
    fill_free(free, open_whole.shape[0])
    n = gather_rows(target, rows)
    add_root_sums(n, rows, rules, channel_sums)
    n_slots = hists.shape[0] // d if n >= SPARSE_BELOW else 0
    fill_free(free_slots, n_slots)
    counting = rules.min_leaf > 1
    best_first = rules.max_leaf_nodes > 0
    total_weight = side_weight(channel_sums, FRESH, rules.n_classes) * rules.weight_unit
    least_gain = rules.min_gain * total_weight

    # Nodes to be opened next: the root, then pairs of children.
    fresh[0, F_NODE], fresh[0, F_START], fresh[0, F_END], fresh[0, F_DEPTH] = 0, 0, n, 0
    fresh[0, F_PATH] = 1
    fresh[0, F_SLOT] = take(free_slots) if n_slots > 0 else -1
    n_fresh, n_nodes, n_leaves = np.int64(1), np.int64(1), np.int64(1)
    n_masks, size = np.int64(0), np.int64(0)
    while True:
        slot = fresh[0, F_SLOT]
        if slot >= 0:
            start, end = fresh[0, F_START], fresh[0, F_END]
            build_histograms(start, end, slot, hists, table, rows, rules.n_classes, counting)
            if n_fresh == 2:
                subtract_histograms(fresh[1, F_SLOT], slot, d, hists)
            if end - start < SPARSE_BELOW:
                give_back(free_slots, slot)
                fresh[0, F_SLOT] = -1
        # The lesser child comes first and is pushed last, to be taken up next: the stack stays
        # below the logarithm of the number of rows.
        opened = np.int64(-1)
        for which in range(n_fresh):
            entry = open_node(
                fresh,
                which,
                least_gain,
                hists,
                table,
                rows,
                rules,
                scratch,
                frontier,
                free,
                nodes,
                target.offset,
            )
            if entry < 0:
                give_back(free_slots, fresh[which, F_SLOT])
            elif which == 0:
                opened = entry
            else:
                size = push(heap, size, entry, best_first, frontier)
        if opened >= 0:
            size = push(heap, size, opened, best_first, frontier)
        if size == 0 or (best_first and n_leaves == rules.max_leaf_nodes):
            break
        entry = pop(heap, size, best_first, frontier)
        size -= 1
        start, end = open_whole[entry, F_START], open_whole[entry, F_END]
        feature, slot = open_whole[entry, F_FEATURE], open_whole[entry, F_SLOT]
        fill_sides(entry, frontier, scratch.goes_left)
        row_wise = (end - start) * ROW_WISE_ONE_IN < n_table
        middle = part_rows(
            start,
            end,
            table.by_row if row_wise else table.by_column,
            np.uint64(d if row_wise else 1),
            np.uint64(feature if row_wise else feature * n_table),
            scratch.goes_left,
            rows,
        )
        put_children(entry, middle, n_nodes, frontier, fresh, channel_sums)
        if slot >= 0 and fresh[1, F_END] - fresh[1, F_START] >= SPARSE_BELOW:
            fresh[0, F_SLOT] = take(free_slots)
            fresh[1, F_SLOT] = slot
        else:
            give_back(free_slots, slot)
        n_masks = close_node(entry, n_nodes, n_masks, frontier, nodes)
        give_back(free, entry)
        n_fresh = 2
        n_nodes += 2
        n_leaves += 1
    if leaf_of_row.size > 0:
        fill_leaves(n_nodes, nodes, rows.index, leaf_of_row)
    return n_nodes, n_masks
