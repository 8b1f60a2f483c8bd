"""The kernels that grow one tree of a boosted model; `gnomon.trees.boosting_grower` calls them.

Why it is fast
--------------
- First and second derivative of a row are rounded to whole numbers and packed into one 64-bit word,
  ``g << shift | h``. One addition adds both, a histogram of 256 bins is two kilobytes, and the
  greater child's is the parent's minus the lesser child's, exactly. The values of the leaves are
  computed afterwards from the derivatives themselves.
- The codes of eight columns lie in one word. One load serves eight histograms, which stay in the
  first cache: a third of a nanosecond per cell.
- A side's number of rows is not added up per bin: it is known when the rows are parted. A best cut
  with too few rows on a side is then sought again with counts, which is rare.
- Growth is best-first, but several open nodes are split in one step, those that are nearly sure to
  be wanted; what is not wanted in the end is dropped. Steps are few, and their work is shared by
  the threads: blocks of rows to be parted, groups of columns to be searched. All sums are whole
  numbers, so the tree does not depend on who did what.

A step is: `part` the rows of the chosen nodes, `settle` their children, `join` the blocks of nodes
with many rows, `search` the children's splits, `plan` the next step. `grow_alone` runs all of it on
one thread.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from gnomon.engine.kernel import kernel, lean_subkernel

# A byte per column in a word of 64 bits.
COLUMNS_PER_WORD = 8
HALF_A_WORD = 4
N_CODES = 256  # codes of `trees.binning`
CELLS = COLUMNS_PER_WORD * N_CODES
MISSING = 255  # code of `trees.binning`
# Rows of a block that one thread parts at once.
BLOCK = 2**15
# Rows whose codes are fetched at once.
TILE = 1024
# Rows of a node that are worth sharing among the threads, and jobs that are shared in this way.
SHARED_ROWS = 2**15
MOST_SHARED = 2
# Nodes that one step splits at most.
MOST_JOBS = 64
# Cost of clearing, subtracting and searching a group's histograms, in additions of rows.
SEARCH_COST = 400
# Gains below this share of the node's own score are rounding.
LEAST_SHARE = 1e-13

BYTE = np.uint64(255)  # typed constants: a signed one beside an unsigned number would make a float
BITS = tuple(np.uint64(8 * k) for k in range(COLUMNS_PER_WORD))
STARTS = tuple(np.uint64(N_CODES * k) for k in range(COLUMNS_PER_WORD))
# Typed constants, as above; 6 and 63 part a code into word and bit.
ONE = np.uint64(1)
ZERO = np.uint64(0)
SIX = np.uint64(6)
LOW_BITS = np.uint64(63)

# Rows of columns: number of value bins, levels without an order, and direction of a column with
# which the prediction must not fall (1) or rise (-1).
N_BINS, IS_CATEGORY, DIRECTION = range(3)
# Columns of nodes.
(
    START,
    END,
    BUFFER,
    SLOT,
    DEPTH,
    COUNT,
    TOTAL,
    LEFT,
    FEATURE,
    CUT,
    MISSING_LEFT,
    LEFT_TOTAL,
    STATE,
    KEY,
    PARENT,
    COUNTED,
) = range(16)
N_NODE_FIELDS = 16  # how many the names above are
CLOSED, OPEN, EXPANDED, COMMITTED = range(4)
# Columns of reals: gain of the node's split, and bounds of the values below it.
GAIN, LOW, HIGH = range(3)
# Last axis of found: the best split of a node within a group of columns.
F_FEATURE, F_CUT, F_MISSING_LEFT, F_LEFT_TOTAL = range(4)
# Rows of lists, and places in its first row.
NUMBERS, FRONTIER, FREE_SLOTS, JOB_NODE, JOB_KIND, BATCH = range(6)
N_LISTS = 6  # how many the names above are
N_NODES, N_LEAVES, N_FRONTIER, N_FREE, N_JOBS, N_BATCH, N_BLOCKS, N_EXPANDED, IS_SHARED = range(9)
ROOT, PAIR, RECOUNT = range(3)
# Columns of blocks.
B_NODE, B_START, B_END, B_LEFT_ROWS, B_LEFT_COUNT, B_TO_LEFT, B_TO_RIGHT = range(7)
N_BLOCK_FIELDS = 7  # how many the names above are
# Columns of pieces: rows of the leaves.
P_LEAF, P_BUFFER, P_START, P_END = range(4)
# Rows of a thread's whole and real workspace, and its histograms.
PREFIX, COUNTS, ORDER = range(3)
GAINS, KEYS = range(2)
OWN, TALLY = range(2)


class Rules(NamedTuple):
    """What a split must satisfy, in the units of the packed derivatives."""

    shift: Annotated[int, "i8"]
    max_depth: Annotated[int, "i8"]
    max_leaves: Annotated[int, "i8"]
    min_leaf: Annotated[int, "i8"]
    max_features: Annotated[int, "i8"]
    bounded: Annotated[int, "i8"]
    most_nodes: Annotated[int, "i8"]
    n_workers: Annotated[int, "i8"]
    least_weight: Annotated[float, "f8"]
    least_gain: Annotated[float, "f8"]
    l2: Annotated[float, "f8"]
    category_l2: Annotated[float, "f8"]
    tie: Annotated[float, "f8"]


class State(NamedTuple):
    """The table, the packed derivatives and the tree as far as it has grown.

    n rows, d columns in g groups of eight, m nodes: codes (d, n), words (n, g), packed (n,), tally
    (n,) or empty, columns (3, d), index (2, rows taken), hists (slots, g, CELLS), nodes (m, 16),
    reals (m, 3), masks (m, 4), found_gain (m, g), found (m, g, 4), found_masks (m, g, 4), allowed
    (m or 0, d), members (sets, d), alive (m or 0, sets), lists (6, ..), blocks (.., 7), deck (d,).
    """

    codes: Annotated[np.ndarray, "u1[:,:]"]
    words: Annotated[np.ndarray, "u8[:,:]"]
    packed: Annotated[np.ndarray, "i8[:]"]
    tally: Annotated[np.ndarray, "i8[:]"]
    columns: Annotated[np.ndarray, "i8[:,:]"]
    members: Annotated[np.ndarray, "u1[:,:]"]
    index: Annotated[np.ndarray, "out u4[:,:]"]
    hists: Annotated[np.ndarray, "out i8[:,:,:]"]
    nodes: Annotated[np.ndarray, "out i8[:,:]"]
    reals: Annotated[np.ndarray, "out f8[:,:]"]
    masks: Annotated[np.ndarray, "out u8[:,:]"]
    found_gain: Annotated[np.ndarray, "out f8[:,:]"]
    found: Annotated[np.ndarray, "out i8[:,:,:]"]
    found_masks: Annotated[np.ndarray, "out u8[:,:,:]"]
    allowed: Annotated[np.ndarray, "out u1[:,:]"]
    alive: Annotated[np.ndarray, "out u1[:,:]"]
    lists: Annotated[np.ndarray, "out i8[:,:]"]
    blocks: Annotated[np.ndarray, "out i8[:,:]"]
    deck: Annotated[np.ndarray, "out i8[:]"]


class Workspace(NamedTuple):
    """Arrays of one thread.

    tile (TILE,), tile_words (g, TILE), hists (2, g, CELLS), whole (3, 256), real (2, 256), sides
    (256,).
    """

    tile: Annotated[np.ndarray, "out i8[:]"]
    tile_words: Annotated[np.ndarray, "out u8[:,:]"]
    hists: Annotated[np.ndarray, "out i8[:,:,:]"]
    whole: Annotated[np.ndarray, "out i8[:,:]"]
    real: Annotated[np.ndarray, "out f8[:,:]"]
    sides: Annotated[np.ndarray, "out u1[:]"]


@lean_subkernel
def mixed(key):
    """The next key of a chain of random numbers (xorshift and a multiplication)."""
    key = np.uint64(key) | ONE
    key ^= key << np.uint64(13)
    key ^= key >> np.uint64(7)
    key ^= key << np.uint64(17)
    return np.int64(key >> np.uint64(2))


@lean_subkernel
def add_rows(words, values, n, hist):
    """Add n values to the histograms of the eight columns whose codes are in each of n words."""
    for i in range(np.uint64(n)):
        word, value = words[i], values[i]
        hist[word & BYTE] += value
        hist[((word >> BITS[1]) & BYTE) + STARTS[1]] += value
        hist[((word >> BITS[2]) & BYTE) + STARTS[2]] += value
        hist[((word >> BITS[3]) & BYTE) + STARTS[3]] += value
        hist[((word >> BITS[4]) & BYTE) + STARTS[4]] += value
        hist[((word >> BITS[5]) & BYTE) + STARTS[5]] += value
        hist[((word >> BITS[6]) & BYTE) + STARTS[6]] += value
        hist[(word >> BITS[7]) + STARTS[7]] += value


@lean_subkernel
def add_rows_to_half(words, values, n, hist):
    """The same where only the first four columns of the words are there."""
    for i in range(np.uint64(n)):
        word, value = words[i], values[i]
        hist[word & BYTE] += value
        hist[((word >> BITS[1]) & BYTE) + STARTS[1]] += value
        hist[((word >> BITS[2]) & BYTE) + STARTS[2]] += value
        hist[((word >> BITS[3]) & BYTE) + STARTS[3]] += value


@lean_subkernel
def gather(values, index, start, n, tile):
    """values of n rows from index[start] on into tile; ones where values are empty."""
    rows = np.uint64(start)
    if values.size == 0:
        for i in range(n):
            tile[i] = 1
        return
    for i in range(np.uint64(n)):
        tile[i] = values[np.uint64(index[rows + i])]


@lean_subkernel
def gather_words(words, first, last, index, start, n, tile_words):
    """Words of n rows from index[start] on, those of a group side by side."""
    rows = np.uint64(start)
    for i in range(np.uint64(n)):
        row = np.uint64(index[rows + i])
        for group in range(np.uint64(first), np.uint64(last)):
            tile_words[group, i] = words[row, group]


@lean_subkernel
def border(worker, n_workers, total):
    return total * worker // n_workers


@lean_subkernel
def fill(node, first, last, values, hists, state, work):
    """Histograms of a node's rows for the groups of columns first .. last - 1.

    A thousand rows at a time: their codes are fetched from memory together, so that the processor
    waits for many at once, and are then added group by group in the first cache.
    """
    fill_part(node, 0, 1, first, last, values, hists, state, work)


@lean_subkernel
def fill_part(node, part, n_parts, first, last, values, hists, state, work):
    """The same for one of n_parts equal parts of the node's rows."""
    for group in range(first, last):
        clear(hists[group])
    index = state.index[state.nodes[node, BUFFER]]
    begin, n_rows = state.nodes[node, START], state.nodes[node, END] - state.nodes[node, START]
    end = begin + border(part + 1, n_parts, n_rows)
    n_columns = state.columns.shape[1]
    for start in range(begin + border(part, n_parts, n_rows), end, TILE):
        n = min(TILE, end - start)
        gather(values, index, start, n, work.tile)
        gather_words(state.words, first, last, index, start, n, work.tile_words)
        for group in range(first, last):
            if n_columns - group * COLUMNS_PER_WORD <= HALF_A_WORD:
                add_rows_to_half(work.tile_words[group], work.tile, n, hists[group])
            else:
                add_rows(work.tile_words[group], work.tile, n, hists[group])


@lean_subkernel
def clear(hist):
    for cell in range(hist.size):
        hist[cell] = 0


@lean_subkernel
def subtract(hist, part):
    for cell in range(hist.size):
        hist[cell] -= part[cell]


@lean_subkernel
def add_up(hist, first, n_cuts, before, sums):
    """Sums left of each of n_cuts cuts of the bins from hist[first] on."""
    total = before
    for b in range(n_cuts):
        total += hist[first + b]
        sums[b] = total


@lean_subkernel
def add_up_in_order(hist, first, order, n_cuts, sums):
    """The same for bins in a given order."""
    total = np.int64(0)
    for i in range(n_cuts):
        total += hist[first + order[i]]
        sums[i] = total


@lean_subkernel
def gains_of_cuts(sums, n_cuts, total, shift, least, l2, gains):
    """Gain of every cut; -1 where a side weighs less than `least`.

    With gradient G and weight H of the node:  (G_L H - H_L G)^2 / (H H_L H_R)  without penalty,
    else  G_L^2 / (H_L + l2) + G_R^2 / (H_R + l2) - G^2 / (H + l2).
    """
    low = (1 << shift) - 1
    g, h = float(total >> shift), float(total & low)
    if l2 == 0.0:
        for i in range(n_cuts):
            g_left, h_left = float(sums[i] >> shift), float(sums[i] & low)
            h_right = h - h_left
            surplus = g_left * h - h_left * g
            enough = (h_left >= least) & (h_right >= least)
            gains[i] = surplus * surplus / (h * h_left * h_right) if enough else -1.0
        return
    whole = g * g / (h + l2)
    for i in range(n_cuts):
        g_left, h_left = float(sums[i] >> shift), float(sums[i] & low)
        g_right, h_right = g - g_left, h - h_left
        gain = g_left * g_left / (h_left + l2) + g_right * g_right / (h_right + l2) - whole
        enough = (h_left >= least) & (h_right >= least)
        gains[i] = (gain if gain > 0.0 else 0.0) if enough else -1.0


@lean_subkernel
def between(value, low, high):
    return min(max(value, low), high)


@lean_subkernel
def bounded_gains_of_cuts(sums, n_cuts, total, rules, l2, direction, low, high, gains):
    """Gains where the values of both sides are kept in bounds and in the wanted order.

    A side with value v lowers the loss by  -(2 G v + (H + l2) v^2),  times one half.
    """
    mask = (1 << rules.shift) - 1
    g, h = float(total >> rules.shift), float(total & mask)
    value = between(-g / (h + l2), low, high)
    whole = -(2.0 * g * value + (h + l2) * value * value)
    for i in range(n_cuts):
        g_left, h_left = float(sums[i] >> rules.shift), float(sums[i] & mask)
        g_right, h_right = g - g_left, h - h_left
        gains[i] = -1.0
        if h_left < rules.least_weight or h_right < rules.least_weight:
            continue
        left = between(-g_left / (h_left + l2), low, high)
        right = between(-g_right / (h_right + l2), low, high)
        if direction * (right - left) < 0.0:
            continue
        gain = -(2.0 * g_left * left + (h_left + l2) * left * left)
        gain -= 2.0 * g_right * right + (h_right + l2) * right * right
        gains[i] = max(gain - whole, 0.0)


@lean_subkernel
def bar_small_sides(counts, n_cuts, count, min_leaf, gains):
    """Bar the cuts that leave fewer than min_leaf rows on a side."""
    for i in range(n_cuts):
        if counts[i] < min_leaf or count - counts[i] < min_leaf:
            gains[i] = -1.0


@lean_subkernel
def tie(node, state, rules):
    """By how much the roots of two gains in a node must differ to count as different.

    The derivatives of its n rows are rounded to whole numbers, which changes their sums by the root
    of n or so, and the root of a gain by that over the root of the second derivatives' sum.
    """
    rows = state.nodes[node, END] - state.nodes[node, START]
    weight = state.nodes[node, TOTAL] & ((1 << rules.shift) - 1)
    return rules.tie * np.sqrt(float(rows) / float(weight))


@lean_subkernel
def least_above(gain, margin):
    """The least gain that counts as different from a given one."""
    root = np.sqrt(gain) + margin
    return root * root


@lean_subkernel
def place_of_greatest(gains, bits, n, margin):
    """First place of the greatest gain, -1 where none is >= 0; bits: gains read as whole numbers.

    Numbers >= 0 sort like their bits, and the greatest of whole numbers is found with vectors.
    """
    top = np.int64(-1)
    for i in range(n):
        top = max(top, bits[i])
    if top < 0:
        return -1
    best = 0
    while bits[best] != top:
        best += 1
    root = max(np.sqrt(gains[best]) - margin, 0.0)
    least = root * root
    place = 0
    # up to the greatest itself: the square of a root may be rounded above it
    while place < best and gains[place] < least:
        place += 1
    return place


@lean_subkernel
def best_cut(n_cuts, node, feature, l2, counting, state, rules, work):
    """Place of the best of n_cuts cuts whose left sums are in work.whole; -1 if there is none."""
    sums, gains = work.whole[PREFIX], work.real[GAINS]
    total = state.nodes[node, TOTAL]
    if rules.bounded:
        direction = state.columns[DIRECTION, feature]
        low, high = state.reals[node, LOW], state.reals[node, HIGH]
        bounded_gains_of_cuts(sums, n_cuts, total, rules, l2, direction, low, high, gains)
    else:
        gains_of_cuts(sums, n_cuts, total, rules.shift, rules.least_weight, l2, gains)
    if counting:
        count = state.nodes[node, COUNT]
        bar_small_sides(work.whole[COUNTS], n_cuts, count, rules.min_leaf, gains)
    return place_of_greatest(gains, gains.view(np.int64), n_cuts, tie(node, state, rules))


@lean_subkernel
def keep(node, group, feature, cut, missing_left, place, state, rules, work):
    """Make a cut the best of its group of columns, where it gains more than those before."""
    gain = work.real[GAINS, place]
    if gain <= least_above(state.found_gain[node, group], tie(node, state, rules)):
        return False
    state.found_gain[node, group] = gain
    state.found[node, group, F_FEATURE] = feature
    state.found[node, group, F_CUT] = cut
    state.found[node, group, F_MISSING_LEFT] = missing_left
    state.found[node, group, F_LEFT_TOTAL] = work.whole[PREFIX, place]
    return True


@lean_subkernel
def middle_of_gap(hist, first, place, n_bins):
    """The cut in the middle of the empty bins that follow bin `place`; the last if all are."""
    after = place + 1
    while after < n_bins and hist[first + after] == 0:
        after += 1
    return n_bins - 1 if after >= n_bins else (place + after - 1) >> 1


@lean_subkernel
def search_numbers(node, group, feature, first, hist, tally, counting, state, rules, work):
    """Best threshold of a numeric column; missing values go to the side where they gain more."""
    n_bins = state.columns[N_BINS, feature]
    missing = hist[first + MISSING]
    total = state.nodes[node, TOTAL]
    heavier = (1 << rules.shift) - 1
    for missing_left in range(2 if missing != 0 else 1):
        n_cuts = n_bins if missing != 0 and missing_left == 0 else n_bins - 1
        add_up(hist, first, n_cuts, missing if missing_left else 0, work.whole[PREFIX])
        if counting:
            before = tally[first + MISSING] if missing_left else 0
            add_up(tally, first, n_cuts, before, work.whole[COUNTS])
        place = best_cut(n_cuts, node, feature, rules.l2, counting, state, rules, work)
        if place < 0:
            continue
        side = missing_left
        if missing == 0:
            side = 1 if 2 * (work.whole[PREFIX, place] & heavier) >= (total & heavier) else 0
        cut = middle_of_gap(hist, first, place, n_bins)
        keep(node, group, feature, cut, side, place, state, rules, work)


@lean_subkernel
def sort_levels(order, keys, m):
    """Sort m levels by their keys, equal keys by level."""
    for i in range(1, m):
        level = order[i]
        j = i
        while j > 0 and keys[order[j - 1]] > keys[level]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = level


@lean_subkernel
def search_levels(node, group, feature, first, hist, tally, counting, state, rules, work):
    """Best set of levels: sorted by G / (H + l2), some first ones of them; missing is a level.

    Levels of a column with more than four are penalised more, since a set of many levels is chosen
    more freely than a threshold.
    """
    order, keys = work.whole[ORDER], work.real[KEYS]
    low = (1 << rules.shift) - 1
    m = 0
    for b in range(N_CODES):
        if hist[first + b] != 0:
            order[m] = b
            m += 1
    if m < 2:
        return
    l2 = rules.l2 + (rules.category_l2 if m > 4 else 0.0)
    for i in range(m):
        packed = hist[first + order[i]]
        keys[order[i]] = float(packed >> rules.shift) / (float(packed & low) + l2)
    sort_levels(order, keys, m)
    add_up_in_order(hist, first, order, m - 1, work.whole[PREFIX])
    if counting:
        add_up_in_order(tally, first, order, m - 1, work.whole[COUNTS])
    place = best_cut(m - 1, node, feature, l2, counting, state, rules, work)
    if place >= 0 and keep(node, group, feature, place, 0, place, state, rules, work):
        keep_levels(node, group, order, place, m, state, rules)


@lean_subkernel
def keep_levels(node, group, order, place, m, state, rules):
    """The codes that go left: the first levels; what was not seen goes where missing cells go.

    Where these were not seen either, to the heavier side.
    """
    low = (1 << rules.shift) - 1
    left = 2 * (state.found[node, group, F_LEFT_TOTAL] & low)
    unseen_left = left >= (state.nodes[node, TOTAL] & low)
    for i in range(m):
        if order[i] == MISSING:
            unseen_left = i <= place
    state.found[node, group, F_MISSING_LEFT] = 1 if unseen_left else 0
    masks = state.found_masks
    for word in range(4):
        masks[node, group, word] = ~ZERO if unseen_left else ZERO
    for i in range(m):
        code = np.uint64(order[i])
        bit = ONE << (code & LOW_BITS)
        if i <= place:
            masks[node, group, code >> SIX] |= bit
        else:
            masks[node, group, code >> SIX] &= ~bit


@lean_subkernel
def search_group(node, group, hist, tally, counting, state, rules, work):
    """Best split of a node within eight columns."""
    state.found_gain[node, group] = 0.0
    d = state.columns.shape[1]
    for k in range(COLUMNS_PER_WORD):
        feature = group * COLUMNS_PER_WORD + k
        if feature >= d:
            break
        if state.allowed.shape[0] > 0 and state.allowed[node, feature] == 0:
            continue
        first = N_CODES * k
        if state.columns[IS_CATEGORY, feature]:
            search_levels(node, group, feature, first, hist, tally, counting, state, rules, work)
        else:
            search_numbers(node, group, feature, first, hist, tally, counting, state, rules, work)


@lean_subkernel
def lesser_child(node, nodes):
    left = nodes[node, LEFT]
    rows = nodes[left, END] - nodes[left, START]
    return left if 2 * rows <= nodes[node, END] - nodes[node, START] else left + 1


@lean_subkernel
def rows_to_add(job, state):
    """Rows that a job adds to each of its histograms."""
    nodes = state.nodes
    node, kind = state.lists[JOB_NODE, job], state.lists[JOB_KIND, job]
    rows = nodes[node, END] - nodes[node, START]
    if kind == ROOT:
        return rows
    if kind == RECOUNT:
        return rows if nodes[node, SLOT] >= 0 else 2 * rows
    if nodes[node, SLOT] >= 0:
        lesser = lesser_child(node, nodes)
        return nodes[lesser, END] - nodes[lesser, START]
    return rows


@lean_subkernel
def filled_node(job, state):
    """The node whose histograms a job adds up; -1 where it adds up several."""
    node, kind = state.lists[JOB_NODE, job], state.lists[JOB_KIND, job]
    if kind == ROOT:
        return node
    if kind == PAIR and state.nodes[node, SLOT] >= 0:
        return lesser_child(node, state.nodes)
    return -1


@lean_subkernel
def share_rows(state, rules):
    """Decide whether threads add up parts of the rows, since there are too few groups to share."""
    numbers = state.lists[NUMBERS]
    n_jobs = numbers[N_JOBS]
    numbers[IS_SHARED] = 0
    n_units = n_jobs * state.words.shape[1]
    if rules.n_workers < 2 or n_jobs > MOST_SHARED or n_units >= 4 * rules.n_workers:
        return
    rows = np.int64(0)
    for job in range(n_jobs):
        if filled_node(job, state) < 0:
            return
        rows += rows_to_add(job, state)
    if rows >= SHARED_ROWS:
        numbers[IS_SHARED] = 1


@lean_subkernel
def shared_slot(job, worker, state, rules):
    """Where a thread adds up its part of the rows of a job."""
    n_shared = MOST_SHARED * rules.n_workers
    return state.hists.shape[0] - n_shared + job * rules.n_workers + worker


@lean_subkernel
def fill_share(worker, n_workers, state, rules, work):
    """One thread's part of the rows of all jobs."""
    n_groups = state.words.shape[1]
    for job in range(state.lists[NUMBERS, N_JOBS]):
        node = filled_node(job, state)
        hists = state.hists[shared_slot(job, worker, state, rules)]
        fill_part(node, worker, n_workers, 0, n_groups, state.packed, hists, state, work)


@lean_subkernel
def join_hists(job, first, last, hists, state, rules):
    """Histograms of all rows from those of the threads' parts."""
    for group in range(first, last):
        clear(hists[group])
        for worker in range(rules.n_workers):
            add(hists[group], state.hists[shared_slot(job, worker, state, rules), group])


@lean_subkernel
def add(hist, part):
    for cell in range(hist.size):
        hist[cell] += part[cell]


@lean_subkernel
def fill_or_join(job, node, first, last, hists, state, rules, work):
    if state.lists[NUMBERS, IS_SHARED]:
        join_hists(job, first, last, hists, state, rules)
    else:
        fill(node, first, last, state.packed, hists, state, work)


@lean_subkernel
def search_alone(job, node, first, last, state, rules, work):
    """Groups first .. last - 1 of a node without the help of its parent or sibling."""
    slot = state.nodes[node, SLOT]
    hists = state.hists[slot] if slot >= 0 else work.hists[OWN]
    fill_or_join(job, node, first, last, hists, state, rules, work)
    for group in range(first, last):
        search_group(node, group, hists[group], hists[group], False, state, rules, work)


@lean_subkernel
def search_again(node, first, last, state, rules, work):
    """Groups first .. last - 1 of a node whose best cut left too few rows on a side."""
    slot = state.nodes[node, SLOT]
    hists = state.hists[slot] if slot >= 0 else work.hists[OWN]
    if slot < 0:
        fill(node, first, last, state.packed, hists, state, work)
    tally = work.hists[TALLY]
    fill(node, first, last, state.tally, tally, state, work)
    for group in range(first, last):
        search_group(node, group, hists[group], tally[group], True, state, rules, work)


@lean_subkernel
def search_children(job, node, first, last, state, rules, work):
    """Groups first .. last - 1 of both children; the greater's histograms by subtraction.

    They take the place of the parent's.
    """
    nodes = state.nodes
    lesser = lesser_child(node, nodes)
    greater = 2 * nodes[node, LEFT] + 1 - lesser
    slot, own_slot = nodes[node, SLOT], nodes[lesser, SLOT]
    if slot < 0:
        for child in range(nodes[node, LEFT], nodes[node, LEFT] + 2):
            if nodes[child, STATE] == OPEN:
                search_alone(job, child, first, last, state, rules, work)
        return
    hists = state.hists[own_slot] if own_slot >= 0 else work.hists[OWN]
    fill_or_join(job, lesser, first, last, hists, state, rules, work)
    for group in range(first, last):
        hist, rest = hists[group], state.hists[slot, group]
        if nodes[lesser, STATE] == OPEN:
            search_group(lesser, group, hist, hist, False, state, rules, work)
        subtract(rest, hist)
        search_group(greater, group, rest, rest, False, state, rules, work)


@lean_subkernel
def cost_of(job, state):
    """Cost of a group of columns: rows not yet added up, and the search."""
    rows = 0 if state.lists[NUMBERS, IS_SHARED] else rows_to_add(job, state)
    return rows + SEARCH_COST


@lean_subkernel
def search_share(worker, n_workers, state, rules, work):
    """One thread's share of the search: groups of columns of the jobs, by their cost."""
    n_groups = state.words.shape[1]
    lists = state.lists
    total = np.int64(0)
    for job in range(lists[NUMBERS, N_JOBS]):
        total += cost_of(job, state) * n_groups
    from_cost = border(worker, n_workers, total)
    to_cost = border(worker + 1, n_workers, total)
    done = np.int64(0)
    for job in range(lists[NUMBERS, N_JOBS]):
        cost = cost_of(job, state)
        # a group belongs to the thread in whose share its first unit of cost lies
        first = min(max(-((done - from_cost) // cost), 0), n_groups)
        last = min(max(-((done - to_cost) // cost), 0), n_groups)
        done += cost * n_groups
        if first == last:
            continue
        node, kind = lists[JOB_NODE, job], lists[JOB_KIND, job]
        if kind == ROOT:
            search_alone(job, node, first, last, state, rules, work)
        elif kind == RECOUNT:
            search_again(node, first, last, state, rules, work)
        else:
            search_children(job, node, first, last, state, rules, work)


@lean_subkernel
def fill_sides(node, state, sides):
    """Side of each of the 256 codes at a node: 1 for left."""
    for code in range(N_CODES):
        word = state.masks[node, code >> 6]
        sides[code] = np.uint8((word >> (np.uint64(code) & LOW_BITS)) & ONE)


@lean_subkernel
def part_block(b, state, work):
    """Put the left rows of a block before its right ones, in order, and count them."""
    blocks = state.blocks
    node, start, end = blocks[b, B_NODE], blocks[b, B_START], blocks[b, B_END]
    buffer = state.nodes[node, BUFFER]
    here, aside = state.index[buffer], state.index[1 - buffer]
    feature = state.nodes[node, FEATURE]
    codes = state.codes[feature]
    sides = work.sides
    fill_sides(node, state, sides)
    left, right = np.uint64(start), np.uint64(start)
    tally = state.tally
    count = np.int64(0)
    for i in range(np.uint64(start), np.uint64(end)):
        row = here[i]
        to_left = np.uint64(sides[codes[np.uint64(row)]])
        here[left] = row
        aside[right] = row
        left += to_left
        right += ONE - to_left
        if tally.size > 0:
            count += np.int64(to_left) * tally[np.uint64(row)]
    n_left = np.int64(left) - start
    for i in range(np.uint64(start), right):
        here[i + np.uint64(n_left)] = aside[i]
    blocks[b, B_LEFT_ROWS] = n_left
    blocks[b, B_LEFT_COUNT] = count if tally.size > 0 else n_left


@lean_subkernel
def part_share(worker, n_workers, state, work):
    for b in range(worker, state.lists[NUMBERS, N_BLOCKS], n_workers):
        part_block(b, state, work)


@lean_subkernel
def join_share(worker, n_workers, state):
    """Copy the split blocks of the nodes that have several into the other buffer, left first."""
    blocks = state.blocks
    for b in range(worker, state.lists[NUMBERS, N_BLOCKS], n_workers):
        if blocks[b, B_TO_LEFT] < 0:
            continue
        buffer = state.nodes[blocks[b, B_NODE], BUFFER]
        source, target = state.index[buffer], state.index[1 - buffer]
        start, n_left = blocks[b, B_START], blocks[b, B_LEFT_ROWS]
        for i in range(n_left):
            target[blocks[b, B_TO_LEFT] + i] = source[start + i]
        for i in range(blocks[b, B_END] - start - n_left):
            target[blocks[b, B_TO_RIGHT] + i] = source[start + n_left + i]


@lean_subkernel
def take_slot(lists):
    """A free slot for histograms; -1 where all are taken."""
    if lists[NUMBERS, N_FREE] == 0:
        return -1
    lists[NUMBERS, N_FREE] -= 1
    return lists[FREE_SLOTS, lists[NUMBERS, N_FREE]]


@lean_subkernel
def free_slot(node, state):
    slot, lists = state.nodes[node, SLOT], state.lists
    if slot >= 0:
        lists[FREE_SLOTS, lists[NUMBERS, N_FREE]] = slot
        lists[NUMBERS, N_FREE] += 1
        state.nodes[node, SLOT] = -1


@lean_subkernel
def add_job(node, kind, lists):
    n_jobs = lists[NUMBERS, N_JOBS]
    lists[JOB_NODE, n_jobs] = node
    lists[JOB_KIND, n_jobs] = kind
    lists[NUMBERS, N_JOBS] = n_jobs + 1


@lean_subkernel
def can_split(node, state, rules):
    weight = state.nodes[node, TOTAL] & ((1 << rules.shift) - 1)
    return (
        state.nodes[node, DEPTH] < rules.max_depth
        and state.nodes[node, COUNT] >= 2 * rules.min_leaf
        and float(weight) >= 2.0 * rules.least_weight
    )


@lean_subkernel
def allow_columns(node, state, rules):
    """The columns that a node may ask about: those of sets that hold the whole path, or a draw."""
    if state.allowed.shape[0] == 0:
        return
    allowed, members, alive, deck = state.allowed, state.members, state.alive, state.deck
    d, n_sets = members.shape[1], members.shape[0]
    parent = state.nodes[node, PARENT]
    for each in range(n_sets):
        alive[node, each] = 1
        if parent >= 0:
            alive[node, each] = alive[parent, each] & members[each, state.nodes[parent, FEATURE]]
    n_allowed = 0
    for feature in range(d):
        allowed[node, feature] = 1 if n_sets == 0 else 0
        for each in range(n_sets):
            allowed[node, feature] |= alive[node, each] & members[each, feature]
        deck[n_allowed] = feature
        n_allowed += allowed[node, feature]
    if rules.max_features >= n_allowed:
        return
    key = state.nodes[node, KEY]
    for drawn in range(rules.max_features):
        key = mixed(key + 0x5DEECE66D)
        other = drawn + (key >> 8) % (n_allowed - drawn)
        deck[drawn], deck[other] = deck[other], deck[drawn]
    for left_out in range(rules.max_features, n_allowed):
        allowed[node, deck[left_out]] = 0


@lean_subkernel
def bound_children(node, state, rules):
    """Values left and right of a split by a column with a direction keep to their sides."""
    nodes, reals = state.nodes, state.reals
    left = nodes[node, LEFT]
    for child in range(left, left + 2):
        reals[child, LOW], reals[child, HIGH] = reals[node, LOW], reals[node, HIGH]
    direction = state.columns[DIRECTION, nodes[node, FEATURE]]
    if direction == 0:
        return
    mask = (1 << rules.shift) - 1
    middle = 0.0
    for child in range(left, left + 2):
        total = nodes[child, TOTAL]
        value = -float(total >> rules.shift) / (float(total & mask) + rules.l2)
        middle += 0.5 * between(value, reals[node, LOW], reals[node, HIGH])
    lower, upper = (left, left + 1) if direction > 0 else (left + 1, left)
    reals[lower, HIGH] = middle
    reals[upper, LOW] = middle


@lean_subkernel
def make_children(node, n_left, count_left, joined, state, rules):
    """Make the two children of a node whose rows are split."""
    nodes, lists = state.nodes, state.lists
    left = lists[NUMBERS, N_NODES]
    lists[NUMBERS, N_NODES] += 2
    lists[NUMBERS, N_EXPANDED] += 1
    nodes[node, LEFT] = left
    nodes[node, STATE] = EXPANDED
    middle = nodes[node, START] + n_left
    buffer = 1 - nodes[node, BUFFER] if joined else nodes[node, BUFFER]
    for side in range(2):
        child = left + side
        nodes[child, START] = middle if side else nodes[node, START]
        nodes[child, END] = nodes[node, END] if side else middle
        nodes[child, BUFFER] = buffer
        nodes[child, SLOT] = -1
        nodes[child, DEPTH] = nodes[node, DEPTH] + 1
        nodes[child, COUNT] = nodes[node, COUNT] - count_left if side else count_left
        total = nodes[node, LEFT_TOTAL]
        nodes[child, TOTAL] = nodes[node, TOTAL] - total if side else total
        nodes[child, PARENT] = node
        nodes[child, COUNTED] = 0
        nodes[child, KEY] = mixed(nodes[node, KEY] + 7919 * (side + 1))
        nodes[child, STATE] = OPEN if can_split(child, state, rules) else CLOSED
        if nodes[child, STATE] == OPEN:
            allow_columns(child, state, rules)
    bound_children(node, state, rules)


@lean_subkernel
def give_slots(node, state):
    """Slots of the children: the greater takes over the parent's, the lesser gets a free one."""
    nodes = state.nodes
    lesser = lesser_child(node, nodes)
    greater = 2 * nodes[node, LEFT] + 1 - lesser
    if nodes[greater, STATE] != OPEN:
        free_slot(node, state)
    if nodes[lesser, STATE] == OPEN:
        nodes[lesser, SLOT] = take_slot(state.lists)
    if nodes[greater, STATE] == OPEN and nodes[node, SLOT] < 0:
        nodes[greater, SLOT] = take_slot(state.lists)


@lean_subkernel
def settle_nodes(state, rules):
    """After the rows are split: make children and jobs; returns whether blocks must be joined."""
    nodes, lists, blocks = state.nodes, state.lists, state.blocks
    lists[NUMBERS, N_JOBS] = 0
    is_last = lists[NUMBERS, N_LEAVES] + 1 >= rules.max_leaves
    any_joined = False
    b = 0
    while b < lists[NUMBERS, N_BLOCKS]:
        node = blocks[b, B_NODE]
        end = b
        n_left, count_left = np.int64(0), np.int64(0)
        while end < lists[NUMBERS, N_BLOCKS] and blocks[end, B_NODE] == node:
            n_left += blocks[end, B_LEFT_ROWS]
            count_left += blocks[end, B_LEFT_COUNT]
            blocks[end, B_TO_LEFT] = -1
            end += 1
        if min(count_left, nodes[node, COUNT] - count_left) < rules.min_leaf:
            nodes[node, COUNTED] = 1
            add_job(node, RECOUNT, lists)
            b = end
            continue
        joined = end - b > 1
        if joined:
            any_joined = True
            to_left = nodes[node, START]
            to_right = to_left + n_left
            for each in range(b, end):
                blocks[each, B_TO_LEFT], blocks[each, B_TO_RIGHT] = to_left, to_right
                to_left += blocks[each, B_LEFT_ROWS]
                to_right += blocks[each, B_END] - blocks[each, B_START] - blocks[each, B_LEFT_ROWS]
        make_children(node, n_left, count_left, joined, state, rules)
        left = nodes[node, LEFT]
        if is_last:
            nodes[left, STATE], nodes[left + 1, STATE] = CLOSED, CLOSED
        give_slots(node, state)
        if nodes[left, STATE] == OPEN or nodes[left + 1, STATE] == OPEN:
            add_job(node, PAIR, lists)
        b = end
    share_rows(state, rules)
    return any_joined


@lean_subkernel
def mask_of_cut(node, state):
    """The codes that go left at a threshold: those up to the cut, and missing where it says so."""
    cut = state.nodes[node, CUT]
    for word in range(4):
        below = cut + 1 - 64 * word
        if below >= 64:
            state.masks[node, word] = ~ZERO
        else:
            state.masks[node, word] = (ONE << np.uint64(max(below, 0))) - ONE
    bit = ONE << (np.uint64(MISSING) & LOW_BITS)
    if state.nodes[node, MISSING_LEFT]:
        state.masks[node, 3] |= bit
    else:
        state.masks[node, 3] &= ~bit


@lean_subkernel
def take_split(node, state, rules):
    """Take the best split of all groups for a node; without one it is closed."""
    nodes = state.nodes
    best, gain, margin = -1, 0.0, tie(node, state, rules)
    for group in range(state.found_gain.shape[1]):
        if state.found_gain[node, group] > least_above(gain, margin):
            best, gain = group, state.found_gain[node, group]
    total = nodes[node, TOTAL]
    g, h = float(total >> rules.shift), float(total & ((1 << rules.shift) - 1))
    if best < 0 or gain <= max(rules.least_gain, LEAST_SHARE * g * g / (h + rules.l2)):
        nodes[node, STATE] = CLOSED
        free_slot(node, state)
        return
    state.reals[node, GAIN] = gain
    feature = state.found[node, best, F_FEATURE]
    nodes[node, FEATURE] = feature
    nodes[node, CUT] = state.found[node, best, F_CUT]
    nodes[node, MISSING_LEFT] = state.found[node, best, F_MISSING_LEFT]
    nodes[node, LEFT_TOTAL] = state.found[node, best, F_LEFT_TOTAL]
    if state.columns[IS_CATEGORY, feature] == 0:
        mask_of_cut(node, state)
        return
    for word in range(4):
        state.masks[node, word] = state.found_masks[node, best, word]


@lean_subkernel
def enter(node, state, rules):
    """Put a node into the frontier, which is sorted by gain; of equals the older comes first."""
    lists, gains = state.lists, state.reals
    place = lists[NUMBERS, N_FRONTIER]
    margin = tie(node, state, rules)
    while place > 0:
        before = lists[FRONTIER, place - 1]
        if gains[node, GAIN] <= least_above(gains[before, GAIN], margin):
            break
        lists[FRONTIER, place] = before
        place -= 1
    lists[FRONTIER, place] = node
    lists[NUMBERS, N_FRONTIER] += 1


@lean_subkernel
def leave(node, lists):
    """Take a node out of the frontier."""
    place = 0
    while lists[FRONTIER, place] != node:
        place += 1
    lists[NUMBERS, N_FRONTIER] -= 1
    while place < lists[NUMBERS, N_FRONTIER]:
        lists[FRONTIER, place] = lists[FRONTIER, place + 1]
        place += 1


@lean_subkernel
def take_results(state, rules):
    """Take the splits that the last search found."""
    nodes, lists = state.nodes, state.lists
    for job in range(lists[NUMBERS, N_JOBS]):
        node, kind = lists[JOB_NODE, job], lists[JOB_KIND, job]
        if kind == PAIR:
            left = nodes[node, LEFT]
            lesser = lesser_child(node, nodes)
            greater = 2 * left + 1 - lesser
            if nodes[node, SLOT] >= 0:
                nodes[greater, SLOT] = nodes[node, SLOT]
                nodes[node, SLOT] = -1
            for child in range(left, left + 2):
                if nodes[child, STATE] == OPEN:
                    take_split(child, state, rules)
            continue
        if kind == RECOUNT:
            leave(node, lists)
        take_split(node, state, rules)
        if nodes[node, STATE] == OPEN:
            enter(node, state, rules)
    lists[NUMBERS, N_JOBS] = 0


@lean_subkernel
def commit(state, rules):
    """Make splits final in best-first order, as far as their nodes have been split already."""
    nodes, lists = state.nodes, state.lists
    while lists[NUMBERS, N_FRONTIER] > 0 and lists[NUMBERS, N_LEAVES] < rules.max_leaves:
        node = lists[FRONTIER, 0]
        if nodes[node, STATE] != EXPANDED:
            return
        leave(node, lists)
        nodes[node, STATE] = COMMITTED
        lists[NUMBERS, N_LEAVES] += 1
        for child in range(nodes[node, LEFT], nodes[node, LEFT] + 2):
            if nodes[child, STATE] != CLOSED:
                enter(child, state, rules)


@lean_subkernel
def choose_batch(state, rules):
    """The open nodes to be split next: those of the first half of what may still be split."""
    lists = state.lists
    missing = rules.max_leaves - lists[NUMBERS, N_LEAVES]
    ranks = min(max((missing + 1) >> 1, 1), lists[NUMBERS, N_FRONTIER])
    most = (rules.most_nodes - lists[NUMBERS, N_NODES]) // 2 - missing + 1
    most = min(max(most, 1), MOST_JOBS)
    n_batch = 0
    for rank in range(ranks):
        node = lists[FRONTIER, rank]
        if state.nodes[node, STATE] == OPEN and n_batch < most:
            lists[BATCH, n_batch] = node
            n_batch += 1
    lists[NUMBERS, N_BATCH] = n_batch


@lean_subkernel
def cut_in_blocks(state):
    """The rows of the chosen nodes in blocks; returns their number."""
    lists, blocks = state.lists, state.blocks
    n_blocks = 0
    for i in range(lists[NUMBERS, N_BATCH]):
        node = lists[BATCH, i]
        start, end = state.nodes[node, START], state.nodes[node, END]
        while start < end:
            blocks[n_blocks, B_NODE] = node
            blocks[n_blocks, B_START] = start
            blocks[n_blocks, B_END] = min(start + BLOCK, end)
            start += BLOCK
            n_blocks += 1
    lists[NUMBERS, N_BLOCKS] = n_blocks
    return n_blocks


@lean_subkernel
def plan_step(state, rules):
    """Take the results of the last search and choose the next nodes; returns their blocks."""
    take_results(state, rules)
    commit(state, rules)
    lists = state.lists
    if lists[NUMBERS, N_FRONTIER] == 0 or lists[NUMBERS, N_LEAVES] >= rules.max_leaves:
        return 0
    choose_batch(state, rules)
    return cut_in_blocks(state)


@lean_subkernel
def plant(state, rules, count, total, key):
    """Make the root of the rows in index[0]; returns whether it may be split.

    count and total: sums of the tallies and of the packed derivatives of these rows.
    """
    nodes, lists = state.nodes, state.lists
    for place in range(lists.shape[1]):
        lists[NUMBERS, place] = 0
    n_slots = state.hists.shape[0]
    if rules.n_workers > 1:
        n_slots -= MOST_SHARED * rules.n_workers
    for slot in range(n_slots):
        lists[FREE_SLOTS, slot] = n_slots - 1 - slot
    lists[NUMBERS, N_FREE] = n_slots
    lists[NUMBERS, N_NODES] = 1
    lists[NUMBERS, N_LEAVES] = 1
    nodes[0, START], nodes[0, END] = 0, state.index.shape[1]
    nodes[0, BUFFER], nodes[0, DEPTH], nodes[0, COUNTED] = 0, 0, 0
    nodes[0, COUNT], nodes[0, TOTAL] = count, total
    nodes[0, PARENT], nodes[0, SLOT] = -1, -1
    nodes[0, KEY] = mixed(key)
    state.reals[0, LOW], state.reals[0, HIGH] = -np.inf, np.inf
    nodes[0, STATE] = OPEN if can_split(0, state, rules) else CLOSED
    if nodes[0, STATE] == CLOSED or rules.max_leaves < 2:
        nodes[0, STATE] = CLOSED
        return False
    allow_columns(0, state, rules)
    nodes[0, SLOT] = take_slot(lists)
    add_job(0, ROOT, lists)
    share_rows(state, rules)
    return True


@kernel(State, Rules, "i8", "i8", "i8")
def start_tree(state, rules, count, total, key):
    """Make the root; returns whether it may be split. See `boosting_grower.Workshop`."""
    return plant(state, rules, count, total, key)


@kernel(State, Rules)
def plan(state, rules):
    """Choose what to split next; returns the number of blocks of rows, 0 at the end."""
    return plan_step(state, rules)


@kernel(State, Rules)
def settle(state, rules):
    """Make the children of the nodes whose rows are split; returns whether to join blocks."""
    return settle_nodes(state, rules)


@kernel(State, Rules, Workspace, "i8", "i8", "i8")
def do_share(state, rules, work, task, worker, n_workers):
    """One thread's share of a task: 0 search splits, 1 part rows, 2 join blocks, 3 add up rows."""
    if task == 0:
        search_share(worker, n_workers, state, rules, work)
    elif task == 1:
        part_share(worker, n_workers, state, work)
    elif task == 2:
        join_share(worker, n_workers, state)
    else:
        fill_share(worker, n_workers, state, rules, work)


@lean_subkernel
def search_given(node, hists, state, rules, work):
    """Keep the histograms of a node, added up elsewhere, and search them."""
    slot = state.nodes[node, SLOT]
    for group in range(hists.shape[0]):
        if slot >= 0:
            clear(state.hists[slot, group])
            add(state.hists[slot, group], hists[group])
        search_group(node, group, hists[group], hists[group], False, state, rules, work)


@kernel(State, Rules, Workspace, "out i8[:,:,:]")
def search_all_given(state, rules, work, given):
    """Search the splits of all jobs in histograms that were added up elsewhere.

    given (n, g, CELLS): job by job, of the node (with its counts after it, where they are wanted),
    of the lesser child, or of both open children where the parent's were not kept.
    """
    nodes, lists = state.nodes, state.lists
    place = 0
    for job in range(lists[NUMBERS, N_JOBS]):
        node, kind = lists[JOB_NODE, job], lists[JOB_KIND, job]
        slot = nodes[node, SLOT]
        if kind == ROOT:
            search_given(node, given[place], state, rules, work)
            place += 1
        elif kind == RECOUNT:
            hists = state.hists[slot] if slot >= 0 else given[place]
            place += 1 if slot < 0 else 0
            for group in range(hists.shape[0]):
                search_group(
                    node, group, hists[group], given[place, group], True, state, rules, work
                )
            place += 1
        elif slot < 0:
            for child in range(nodes[node, LEFT], nodes[node, LEFT] + 2):
                if nodes[child, STATE] == OPEN:
                    search_given(child, given[place], state, rules, work)
                    place += 1
        else:
            lesser = lesser_child(node, nodes)
            greater = 2 * nodes[node, LEFT] + 1 - lesser
            if nodes[lesser, STATE] == OPEN:
                search_given(lesser, given[place], state, rules, work)
            for group in range(given.shape[1]):
                rest = state.hists[slot, group]
                subtract(rest, given[place, group])
                search_group(greater, group, rest, rest, False, state, rules, work)
            place += 1


@kernel(State, Workspace)
def part_blocks(state, work):
    """Split the rows of all blocks; see `part_block`."""
    part_share(0, 1, state, work)


@kernel(State, Workspace, "i8[:,:]", "out i8[:,:,:]")
def fill_wanted(state, work, wanted, hists):
    """hists (n, g, CELLS) of some nodes; wanted (n, 2): node, and 1 to count rows instead."""
    for i in range(wanted.shape[0]):
        values = state.tally if wanted[i, 1] else state.packed
        fill(wanted[i, 0], 0, state.words.shape[1], values, hists[i], state, work)


@kernel(State, Rules, Workspace, "i8", "i8", "i8")
def grow_alone(state, rules, work, count, total, key):
    """Grow a tree on one thread."""
    growing = plant(state, rules, count, total, key)
    while growing:
        search_share(0, 1, state, rules, work)
        growing = plan_step(state, rules) > 0
        if growing:
            part_share(0, 1, state, work)
            if settle_nodes(state, rules):
                join_share(0, 1, state)


@kernel("f8[:]", "i8[:]")
def sum_of_sizes(values, counts):
    """Sum of absolute values (n,), times counts (n,) or one; four sums run side by side."""
    a = b = c = d = 0.0
    if counts.size > 0:
        for i in range(values.size):
            a += abs(values[i]) * counts[i]
        return a
    n = values.size // 4 * 4
    for i in range(0, n, 4):
        a += abs(values[i])
        b += abs(values[i + 1])
        c += abs(values[i + 2])
        d += abs(values[i + 3])
    for i in range(n, values.size):
        a += abs(values[i])
    return (a + b) + (c + d)


@kernel("f8[:]", "f8[:]", "i8[:]", "f8", "f8", "i8", "out i8[:]")
def pack(gradients, hessians, counts, gradient_scale, hessian_scale, shift, packed):
    """packed (n,): both derivatives as whole numbers in one word, times counts (n,) or one.

    A second derivative counts one unit at least, so that no row weighs nothing; where they are
    empty, all are one. Returns the sum.
    """
    total = np.int64(0)
    for i in range(packed.size):
        h = np.int64(1)
        if hessians.size > 0:
            h = max(np.int64(np.rint(hessians[i] * hessian_scale)), 1)
        packed[i] = (np.int64(np.rint(gradients[i] * gradient_scale)) << shift) + h
        if counts.size > 0:
            packed[i] *= counts[i]
        total += packed[i]
    return total


@kernel("i8[:,:]", "u4[:,:]", "i8", "i8", "out u4[:]")
def tell_leaves(pieces, index, worker, n_workers, leaves):
    """leaves (n_rows,): the leaf of each row, for one thread's share of every piece.

    pieces (n, 4): leaf, buffer, start and end of its rows in index (2, n_rows). Rows are then read
    in their order, where every load serves eight of them.
    """
    for p in range(pieces.shape[0]):
        leaf, here = np.uint32(pieces[p, P_LEAF]), index[pieces[p, P_BUFFER]]
        start, n_rows = pieces[p, P_START], pieces[p, P_END] - pieces[p, P_START]
        first = np.uint64(start + border(worker, n_workers, n_rows))
        for i in range(first, np.uint64(start + border(worker + 1, n_workers, n_rows))):
            leaves[np.uint64(here[i])] = leaf


@kernel("u4[:]", "f8[:]", "f8[:]", "i8[:]", "f8", "f8", "out i8[:,:]")
def add_up_leaves(leaves, gradients, hessians, counts, gradient_scale, hessian_scale, sums):
    """sums (n_nodes + 1, 2) += both derivatives of the rows of each leaf as whole numbers: exact.

    Where hessians are empty, all are one.
    """
    one = np.int64(np.rint(hessian_scale))
    for i in range(leaves.size):
        leaf = np.uint64(leaves[i])
        g = np.int64(np.rint(gradients[i] * gradient_scale))
        h = np.int64(np.rint(hessians[i] * hessian_scale)) if hessians.size > 0 else one
        times = counts[i] if counts.size > 0 else 1
        sums[leaf, 0] += times * g
        sums[leaf, 1] += times * h


@kernel("u4[:]", "f8[:]", "out f8[:]")
def add_to_scores(leaves, values, scores):
    """scores (n_rows,) += the value of each row's leaf."""
    for i in range(leaves.size):
        scores[i] += values[np.uint64(leaves[i])]


@kernel("u1[:,:]", "u4[:]", "i4[:]", "i4[:]", "u8[:,:]", "f8[:]", "out f8[:]")
def add_by_codes(codes, rows, feature, left, masks, values, scores):
    """scores[rows] += the value of the leaf that each row's codes lead to.

    codes (n_columns, n_rows); the tree: feature, left (n_nodes,), masks (n_nodes, 4) of the codes
    that go left, values (n_nodes,).
    """
    for i in range(rows.size):
        row = np.uint64(rows[i])
        node = 0
        while left[node] >= 0:
            code = np.uint64(codes[feature[node], row])
            goes_left = (masks[node, code >> SIX] >> (code & LOW_BITS)) & ONE
            node = left[node] + 1 - np.int64(goes_left)
        scores[row] += values[node]


@kernel("i8", "i8", "i8", "out i8[:]")
def draw_without_replacement(n_wanted, n_tickets, key, drawn):
    """Mark n_wanted of n_tickets at random in drawn (n_tickets,), which is zero."""
    wanted = n_wanted
    for ticket in range(n_tickets):
        key = mixed(key)
        if (key & (2**40 - 1)) * 2.0**-40 * (n_tickets - ticket) < wanted:
            drawn[ticket] = 1
            wanted -= 1


@kernel("u1[:,:]", "i8", "i8", "out u8[:,:]")
def pack_codes(codes, start, stop, words):
    """words (n_rows, n_groups): the codes (n_columns, n_rows) of eight columns each, some rows."""
    for row in range(start, stop):
        for group in range(words.shape[1]):
            words[row, group] = ZERO
    for column in range(codes.shape[0]):
        group = column // COLUMNS_PER_WORD
        bit = np.uint64(8 * (column % COLUMNS_PER_WORD))
        for row in range(start, stop):
            words[row, group] |= np.uint64(codes[column, row]) << bit
