"""Compiled loops of sequential minimal optimisation.

Variables a_t in [0, bound_t] have signs s_t; sums of s_t a_t over each group stay as they are. With
v_t = -s_t (gradient)_t, raising s_i a_i by delta and lowering s_j a_j by as much changes the
objective by -delta (v_i - v_j) + delta^2 (K_ii + K_jj - 2 K_ij) / 2. A pair (i, j) with v_i > v_j
whose bounds leave room is a violating one; the greatest v_i - v_j of a group is its gap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gnomon.engine.kernel import kernel, lean_subkernel, subkernel

LEAST_CURVATURE = 1e-12  # LIBSVM's TAU
# Steps, per variable, after which it is looked which variables to set aside, and the share of
# active ones from which on that does not pay (measured with 100 to 1,000 variables).
PERIODS, WORTH_SETTING_ASIDE = 2, 0.8


@lean_subkernel
def can_rise(alpha, bound, sign):
    """Whether sign times alpha is below its upper bound."""
    return alpha < bound if sign > 0 else alpha > 0.0


@lean_subkernel
def can_fall(alpha, bound, sign):
    """Whether sign times alpha is above its lower bound."""
    return alpha > 0.0 if sign > 0 else alpha < bound


@lean_subkernel
def curvature(matrix, i, j):
    """K_ii + K_jj - 2 K_ij, made positive where the matrix is no kernel matrix."""
    return max(matrix[i, i] + matrix[j, j] - 2.0 * matrix[i, j], LEAST_CURVATURE)


@lean_subkernel
def move_pair(i, j, wish, alpha, bound, sign):
    """Raise s_i a_i and lower s_j a_j by `wish` or as far as bounds allow; gives how far."""
    room_i = bound[i] - alpha[i] if sign[i] > 0 else alpha[i]
    room_j = alpha[j] if sign[j] > 0 else bound[j] - alpha[j]
    step = min(wish, min(room_i, room_j))
    alpha[i] += sign[i] * step
    alpha[j] -= sign[j] * step
    # what reaches a bound stands on it to the bit
    if step == room_i:
        alpha[i] = bound[i] if sign[i] > 0 else 0.0
    if step == room_j:
        alpha[j] = 0.0 if sign[j] > 0 else bound[j]
    return step


class Moved(NamedTuple):
    """Pairs that were moved, and how far; as many as a period has steps."""

    pairs: np.ndarray
    steps: np.ndarray


@subkernel
def move_pairs(matrix, values, alpha, bound, sign, group, n_groups, tol, most, second_order, moved):
    """At most `most` steps of `solve_pairs`, of all variables given; takes down pairs and steps."""
    q = len(alpha)
    diagonal, rises, falls = np.empty(q), np.empty(q, np.bool_), np.empty(q, np.bool_)
    for t in range(q):
        diagonal[t] = matrix[t, t]
        rises[t] = can_rise(alpha[t], bound[t], sign[t])
        falls[t] = can_fall(alpha[t], bound[t], sign[t])
    for count in range(most):
        best_i = best_j = -1
        best_gain = 0.0
        gap = 0.0
        for g in range(n_groups):
            i = -1
            top = -np.inf
            for t in range(q):
                if values[t] > top and rises[t] and group[t] == g:
                    top = values[t]
                    i = t
            if i < 0:
                continue
            least = np.inf
            row = matrix[i]
            for t in range(q):
                if values[t] >= top or not falls[t] or group[t] != g:
                    continue
                least = min(least, values[t])
                fall = top - values[t]
                gain = fall
                if second_order == 1:
                    bend = diagonal[i] + diagonal[t] - 2.0 * row[t]
                    gain = fall * fall / max(bend, LEAST_CURVATURE)
                if gain > best_gain:
                    best_gain = gain
                    best_i = i
                    best_j = t
            gap = max(gap, top - least)
        if gap <= tol or best_i < 0:
            return count, gap
        i, j = best_i, best_j
        wish = (values[i] - values[j]) / curvature(matrix, i, j)
        step = move_pair(i, j, wish, alpha, bound, sign)
        for t in (i, j):
            rises[t] = can_rise(alpha[t], bound[t], sign[t])
            falls[t] = can_fall(alpha[t], bound[t], sign[t])
        row, other = matrix[i], matrix[j]
        for t in range(q):
            values[t] -= step * (row[t] - other[t])
        moved.pairs[count, 0] = i
        moved.pairs[count, 1] = j
        moved.steps[count] = step
    return most, np.inf


@subkernel
def not_idle(values, alpha, bound, sign, group, n_groups):
    """Variables that may be one of a violating pair: others stand firmly on a bound.

    They can only rise and lie below the least v of those that can fall, or the other way round.
    """
    q = len(alpha)
    top, least = np.full(n_groups, -np.inf), np.full(n_groups, np.inf)
    for t in range(q):
        g = group[t]
        if can_rise(alpha[t], bound[t], sign[t]):
            top[g] = max(top[g], values[t])
        if can_fall(alpha[t], bound[t], sign[t]):
            least[g] = min(least[g], values[t])
    kept = np.empty(q, np.bool_)
    for t in range(q):
        falls = can_fall(alpha[t], bound[t], sign[t])
        rises = can_rise(alpha[t], bound[t], sign[t])
        below, above = values[t] < least[group[t]], values[t] > top[group[t]]
        kept[t] = not ((not falls and below) or (not rises and above))
    return np.flatnonzero(kept)


@kernel(
    "f8[:,:]",
    "out f8[:]",
    "out f8[:]",
    "f8[:]",
    "f8[:]",
    "i8[:]",
    "i8",
    "f8",
    "i8",
    "i8",
    "out i8[:,:]",
    "out f8[:]",
)
def solve_pairs(
    matrix, values, alpha, bound, sign, group, n_groups, tol, most, second_order, pairs, steps
):
    """Pair after pair until no gap is above tol; gives the number of steps and the gap.

    matrix (q, q) of kernel values, values (q,) the v, alpha (q,), bound (q,), sign (q,) +1 or -1,
    group (q,). The partner of the most violating variable is that of greatest decrease
    (second_order = 1) or of least v (0). pairs (m, 2) and steps (m,) take down the first m steps.

    As the end comes near most variables stand firmly on a bound and take part in no step; from time
    to time those are set aside (shrinking, Joachims 1999), and the rest stand in a matrix of their
    own. The end is always that of all variables.
    """
    q, kept = len(alpha), len(steps)
    period = PERIODS * q
    moved = Moved(np.empty((period, 2), np.int64), np.empty(period))
    former, active, done = alpha.copy(), np.arange(q), 0
    while True:
        n_active, most_now = len(active), min(period, most - done)
        if n_active == q:
            count, gap = move_pairs(
                matrix, values, alpha, bound, sign, group, n_groups, tol, most_now, second_order,
                moved,
            )  # fmt: skip
        else:
            part, its = np.empty((n_active, n_active)), alpha[active]
            for a in range(n_active):
                row = matrix[active[a]]
                for b in range(n_active):
                    part[a, b] = row[active[b]]
            count, gap = move_pairs(
                part, values[active], its, bound[active], sign[active], group[active], n_groups,
                tol, most_now, second_order, moved,
            )  # fmt: skip
            # v of all variables, those that were set aside among them
            for a in range(n_active):
                t = active[a]
                former[t], alpha[t] = alpha[t], its[a]
                change = sign[t] * (alpha[t] - former[t])
                if change != 0.0:
                    row = matrix[t]
                    for u in range(q):
                        values[u] -= change * row[u]
        for step in range(min(count, kept - done)):
            pairs[done + step, 0] = active[moved.pairs[step, 0]]
            pairs[done + step, 1] = active[moved.pairs[step, 1]]
            steps[done + step] = moved.steps[step]
        done += count
        if n_active == q and count < most_now:
            return done, gap
        if done >= most:
            return most, np.inf
        active = not_idle(values, alpha, bound, sign, group, n_groups)
        if len(active) > WORTH_SETTING_ASIDE * q or count == 0:
            active = np.arange(q)


@kernel(
    "f8[:,:]",
    "out f8[:]",
    "out f8[:]",
    "f8[:]",
    "f8[:]",
    "f8",
    "i8",
    "i8",
    "i8",
)
def solve_shrinking(matrix, values, alpha, bound, sign, tol, most, second_order, period):
    """As `solve_pairs` for one group, setting aside what stands firmly on a bound.

    Every `period` steps, variables that can only rise and lie below the least v of those that can
    fall (or the other way round) leave the active list; when the active ones have converged, the
    v of the others are computed anew from alpha and all take part again.
    """
    n = len(alpha)
    start = values.copy()
    for t in range(n):
        if alpha[t] != 0.0:
            for u in range(n):
                start[u] += sign[t] * alpha[t] * matrix[t, u]
    active = np.arange(n)
    n_active = n
    count = 0
    while True:
        top = -np.inf
        least = np.inf
        i = -1
        for a in range(n_active):
            t = active[a]
            if values[t] > top and can_rise(alpha[t], bound[t], sign[t]):
                top = values[t]
                i = t
            if values[t] < least and can_fall(alpha[t], bound[t], sign[t]):
                least = values[t]
        gap = max(top - least, 0.0)
        if gap <= tol or i < 0:
            if n_active == n:
                return count, gap
            for u in range(n):
                values[u] = start[u]
            for t in range(n):
                if alpha[t] != 0.0:
                    for u in range(n):
                        values[u] -= sign[t] * alpha[t] * matrix[t, u]
            active = np.arange(n)
            n_active = n
            continue
        if count >= most:
            return count, gap
        j = -1
        best = 0.0
        for a in range(n_active):
            t = active[a]
            fall = top - values[t]
            if fall <= 0.0 or not can_fall(alpha[t], bound[t], sign[t]):
                continue
            gain = fall
            if second_order == 1:
                gain = fall * fall / curvature(matrix, i, t)
            if gain > best:
                best = gain
                j = t
        wish = (values[i] - values[j]) / curvature(matrix, i, j)
        step = move_pair(i, j, wish, alpha, bound, sign)
        for a in range(n_active):
            t = active[a]
            values[t] -= step * (matrix[i, t] - matrix[j, t])
        count += 1
        if count % period == 0:
            kept = 0
            for a in range(n_active):
                t = active[a]
                rises = can_rise(alpha[t], bound[t], sign[t])
                falls = can_fall(alpha[t], bound[t], sign[t])
                idle = (not falls and values[t] < least) or (not rises and values[t] > top)
                if not idle:
                    active[kept] = t
                    kept += 1
            n_active = kept


@kernel("f8[:,:]", "i8[:]", "f8[:]", "i8", "i8", "out f8[:]")
def add_rows(table, slots, factors, start, stop, total):
    """Add factors times rows of the table to total, columns start to stop."""
    for r in range(len(slots)):
        row = table[slots[r]]
        factor = factors[r]
        for k in range(start, stop):
            total[k] += factor * row[k]


@kernel("f8[:,:]", "i8[:]", "i8[:]", "out f8[:,:]")
def gather(table, slots, columns, out):
    """out[a, b] = table[slots[a], columns[b]]."""
    for a in range(len(slots)):
        row = table[slots[a]]
        for b in range(len(columns)):
            out[a, b] = row[columns[b]]
