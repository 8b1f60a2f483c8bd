"""Compiled loops of sequential minimal optimisation.

Variables a_t in [0, bound_t] have signs s_t; sums of s_t a_t over each group stay as they are. With
v_t = -s_t (gradient)_t, raising s_i a_i by delta and lowering s_j a_j by as much changes the
objective by -delta (v_i - v_j) + delta^2 (K_ii + K_jj - 2 K_ij) / 2. A pair (i, j) with v_i > v_j
whose bounds leave room is a violating one; the greatest v_i - v_j of a group is its gap.
"""

from __future__ import annotations

import numpy as np

from gnomon.engine.kernel import kernel, lean_subkernel

LEAST_CURVATURE = 1e-12  # LIBSVM's TAU


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
    """
    q = len(alpha)
    kept = len(steps)
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
        if count < kept:
            pairs[count, 0] = i
            pairs[count, 1] = j
            steps[count] = step
    return most, np.inf


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
