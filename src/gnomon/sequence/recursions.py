"""Recursions along chains: forward, backward and best path, for many sequences in one call.

Sequences lie end to end; sequence r has the rows ``bounds[r]`` to ``bounds[r + 1]``. With start
weights pi, a matrix A of transition weights and weights b_n(k) of what was seen at step n,

    delta_n(k) = b_n(k) sum_j alpha_{n-1}(j) A_jk,   c_n = sum_k delta_n(k),   alpha_n = delta_n /
    c_n,

so that log p(X) = sum_n log c_n; backwards, beta_{n-1}(j) = sum_k A_jk b_n(k) beta_n(k) / c_n. Then
alpha_n beta_n are the posteriors of the states, and alpha_{n-1}(j) A_jk b_n(k) beta_n(k) / c_n
those of pairs. Nothing asks that pi and A are probabilities: random fields use the same recursions.

One pass costs K^2 per step; the inner loops run along rows of A, so that compilers make vectors
of them.

Texts: 001 14.2.5 (scaled; the backward start and the pairs are not printed there), 14.2.6 · 000b
13.2-13.3 (its printed backward recursion is wrong) · 002 L6405-6556.
"""

from __future__ import annotations

import numpy as np

from gnomon.engine.kernel import kernel, lean_subkernel

ROW = "f8[:]"
TABLE = "f8[:,:]"
BOUNDS = "i8[:]"
INDEX = "i8[:]"
STACK = "f8[:,:,:]"
LANES = 8  # doubles in one AVX-512 register, or two of AVX2


@kernel(BOUNDS, ROW, STACK, INDEX, TABLE, INDEX, "out f8[:,:]", "out f8[:]")
def forward(bounds, start, transitions, moves, likelihood, seen, alpha, scale):
    """Scaled forward pass; the first row that no path explains, or -1.

    bounds (R + 1), start (K), alpha (N, K), scale (N). Row n was reached by
    ``transitions[moves[n]]`` (S, K, K) and shows what row ``seen[n]`` of the likelihood (M, K)
    says: where there are few symbols or kinds of steps, their tables are small and stay near.
    """
    n_states = len(start)
    ahead = np.empty(n_states)
    for r in range(len(bounds) - 1):
        for n in range(bounds[r], bounds[r + 1]):
            if n == bounds[r]:
                for k in range(n_states):
                    ahead[k] = start[k]
            else:
                transition = transitions[moves[n]]
                for k in range(n_states):
                    ahead[k] = 0.0
                for j in range(n_states):
                    weight = alpha[n - 1, j]
                    for k in range(n_states):
                        ahead[k] += weight * transition[j, k]
            shown = likelihood[seen[n]]
            total = 0.0
            for k in range(n_states):
                ahead[k] *= shown[k]
                total += ahead[k]
            if not total > 0.0:
                return n
            scale[n] = total
            for k in range(n_states):
                alpha[n, k] = ahead[k] / total
    return -1


@kernel(BOUNDS, STACK, INDEX, TABLE, INDEX, ROW, TABLE, "out f8[:,:]", "out f8[:,:,:]")
def backward(bounds, reversals, moves, likelihood, seen, scale, alpha, gamma, pairs):
    """Scaled backward pass: posteriors of states, and sums for those of pairs by kind of step.

    `reversals` are the transposed tables of transitions, so that the inner loop runs along their
    rows. The sum of alpha_{n-1}(j) b_n(k) beta_n(k) / c_n is added to `pairs` (S, K, K): times the
    transitions, these are the posteriors of pairs. gamma (N, K).
    """
    n_states = alpha.shape[1]
    ahead = np.empty(n_states)
    beta = np.empty(n_states)
    for r in range(len(bounds) - 1):
        beta[:] = 1.0
        for n in range(bounds[r + 1] - 1, bounds[r] - 1, -1):
            for k in range(n_states):
                gamma[n, k] = alpha[n, k] * beta[k]
            if n == bounds[r]:
                break
            shown = likelihood[seen[n]]
            for k in range(n_states):
                ahead[k] = shown[k] * beta[k] / scale[n]
            reversal = reversals[moves[n]]
            pair = pairs[moves[n]]
            beta[:] = 0.0
            for k in range(n_states):
                for j in range(n_states):
                    beta[j] += reversal[k, j] * ahead[k]
            for j in range(n_states):
                for k in range(n_states):
                    pair[j, k] += alpha[n - 1, j] * ahead[k]


@kernel(INDEX, TABLE, "out f8[:,:]")
def sums_by_symbol(codes, weights, totals):
    """Add each row of weights (N, K) to the row of `totals` (M, K) that its code names (not -1)."""
    n_states = weights.shape[1]
    for n in range(len(codes)):
        if codes[n] >= 0:
            row = totals[codes[n]]
            for k in range(n_states):
                row[k] += weights[n, k]


@kernel(TABLE, "out f8[:,:]", "out f8[:]")
def below_largest(logs, rest, largest):
    """Each row of logs (M, K) less its largest entry; where that is not finite, as it is."""
    for n in range(len(logs)):
        top = -np.inf
        for k in range(logs.shape[1]):
            top = max(top, logs[n, k])
        largest[n] = top if -np.inf < top < np.inf else 0.0
        for k in range(logs.shape[1]):
            rest[n, k] = logs[n, k] - largest[n]


@lean_subkernel
def log_sum(values, count):
    """log sum exp of the first `count` values."""
    largest = -np.inf
    for k in range(count):
        largest = max(largest, values[k])
    if largest == -np.inf:
        return largest
    total = 0.0
    for k in range(count):
        total += np.exp(values[k] - largest)
    return largest + np.log(total)


@kernel(BOUNDS, ROW, STACK, INDEX, TABLE, INDEX, "out f8[:,:]")
def log_forward(bounds, log_start, log_transitions, moves, log_likelihood, seen, log_alpha):
    """Forward pass on logarithms (N, K); slower than `forward`, for weights of any size."""
    n_states = len(log_start)
    terms = np.empty(n_states)
    for r in range(len(bounds) - 1):
        for n in range(bounds[r], bounds[r + 1]):
            for k in range(n_states):
                reached = log_start[k]
                if n > bounds[r]:
                    for j in range(n_states):
                        terms[j] = log_alpha[n - 1, j] + log_transitions[moves[n], j, k]
                    reached = log_sum(terms, n_states)
                log_alpha[n, k] = reached + log_likelihood[seen[n], k]


@kernel(BOUNDS, STACK, INDEX, TABLE, INDEX, "out f8[:,:]")
def log_backward(bounds, log_transitions, moves, log_likelihood, seen, log_beta):
    """Backward pass on logarithms (N, K)."""
    n_states = log_transitions.shape[1]
    terms = np.empty(n_states)
    for r in range(len(bounds) - 1):
        for n in range(bounds[r + 1] - 1, bounds[r] - 1, -1):
            for j in range(n_states):
                if n == bounds[r + 1] - 1:
                    log_beta[n, j] = 0.0
                    continue
                for k in range(n_states):
                    terms[k] = (
                        log_transitions[moves[n + 1], j, k]
                        + log_likelihood[seen[n + 1], k]
                        + log_beta[n + 1, k]
                    )
                log_beta[n, j] = log_sum(terms, n_states)


@kernel(
    BOUNDS, STACK, INDEX, TABLE, INDEX, TABLE, TABLE, "out f8[:]", "out f8[:,:]", "out f8[:,:,:]"
)
def log_sums(
    bounds, log_transitions, moves, log_likelihood, seen, log_alpha, log_beta, values, gamma, pairs
):
    """From both passes on logarithms: log p of each sequence, posteriors, sums of pairs by step."""
    n_states = log_alpha.shape[1]
    for r in range(len(bounds) - 1):
        first, end = bounds[r], bounds[r + 1]
        values[r] = log_sum(log_alpha[end - 1], n_states) if end > first else 0.0
        for n in range(first, end):
            for k in range(n_states):
                gamma[n, k] = np.exp(log_alpha[n, k] + log_beta[n, k] - values[r])
            if n == first:
                continue
            for k in range(n_states):
                ahead = log_likelihood[seen[n], k] + log_beta[n, k] - values[r]
                for j in range(n_states):
                    pairs[moves[n], j, k] += np.exp(
                        log_alpha[n - 1, j] + log_transitions[moves[n], j, k] + ahead
                    )


@kernel(BOUNDS, ROW, STACK, INDEX, TABLE, INDEX, "out i8[:]", "out f8[:]")
def best_paths(bounds, log_start, log_transitions, moves, log_likelihood, seen, path, reached):
    """Viterbi: the states of each best path (N) and the logarithms of its joint weight (R).

    Of equal paths the one with the lower state numbers, seen from its end, is taken.
    """
    n_states = len(log_start)
    longest = 0
    for r in range(len(bounds) - 1):
        longest = max(longest, bounds[r + 1] - bounds[r])
    came_from = np.empty((longest, n_states), dtype=np.int32)
    value = np.empty(n_states)
    best = np.empty(n_states)
    for r in range(len(bounds) - 1):
        first, end = bounds[r], bounds[r + 1]
        if first == end:
            reached[r] = 0.0
            continue
        for k in range(n_states):
            value[k] = log_start[k] + log_likelihood[seen[first], k]
        for n in range(first + 1, end):
            steps = log_transitions[moves[n]]
            for k in range(n_states):
                best[k] = value[0] + steps[0, k]
                came_from[n - first, k] = 0
            for j in range(1, n_states):
                so_far = value[j]
                for k in range(n_states):
                    candidate = so_far + steps[j, k]
                    if candidate > best[k]:
                        best[k] = candidate
                        came_from[n - first, k] = j
            for k in range(n_states):
                value[k] = best[k] + log_likelihood[seen[n], k]
        last = 0
        for k in range(1, n_states):
            if value[k] > value[last]:
                last = k
        reached[r] = value[last]
        for n in range(end - 1, first - 1, -1):
            path[n] = last
            if n > first:
                last = came_from[n - first, last]


@kernel(BOUNDS, ROW, TABLE, TABLE, INDEX, "out i8[:]", "out f8[:]")
def best_paths_in_lanes(bounds, log_start, log_transition, log_likelihood, seen, path, reached):
    """`best_paths` of one table for at most eight states, filled up to eight with -inf.

    Twice as fast: the values of all states, and the states that they came from, are two vectors
    that stay in registers.
    """
    longest = 0
    for r in range(len(bounds) - 1):
        longest = max(longest, bounds[r + 1] - bounds[r])
    came_from = np.empty((longest, LANES), dtype=np.int8)
    value = np.empty(LANES)
    for r in range(len(bounds) - 1):
        first, end = bounds[r], bounds[r + 1]
        if first == end:
            reached[r] = 0.0
            continue
        for k in range(LANES):
            value[k] = log_start[k] + log_likelihood[seen[first], k]
        for n in range(first + 1, end):
            step, way = log_transition[0], value[0]
            v0, v1, v2, v3 = way + step[0], way + step[1], way + step[2], way + step[3]
            v4, v5, v6, v7 = way + step[4], way + step[5], way + step[6], way + step[7]
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
            for j in range(1, LANES):
                step, way, state = log_transition[j], value[j], float(j)
                c = way + step[0]
                s0, v0 = (state, c) if c > v0 else (s0, v0)
                c = way + step[1]
                s1, v1 = (state, c) if c > v1 else (s1, v1)
                c = way + step[2]
                s2, v2 = (state, c) if c > v2 else (s2, v2)
                c = way + step[3]
                s3, v3 = (state, c) if c > v3 else (s3, v3)
                c = way + step[4]
                s4, v4 = (state, c) if c > v4 else (s4, v4)
                c = way + step[5]
                s5, v5 = (state, c) if c > v5 else (s5, v5)
                c = way + step[6]
                s6, v6 = (state, c) if c > v6 else (s6, v6)
                c = way + step[7]
                s7, v7 = (state, c) if c > v7 else (s7, v7)
            shown, source = log_likelihood[seen[n]], came_from[n - first]
            value[0], source[0] = v0 + shown[0], np.int8(s0)
            value[1], source[1] = v1 + shown[1], np.int8(s1)
            value[2], source[2] = v2 + shown[2], np.int8(s2)
            value[3], source[3] = v3 + shown[3], np.int8(s3)
            value[4], source[4] = v4 + shown[4], np.int8(s4)
            value[5], source[5] = v5 + shown[5], np.int8(s5)
            value[6], source[6] = v6 + shown[6], np.int8(s6)
            value[7], source[7] = v7 + shown[7], np.int8(s7)
        last = 0
        for k in range(1, LANES):
            if value[k] > value[last]:
                last = k
        reached[r] = value[last]
        for n in range(end - 1, first - 1, -1):
            path[n] = last
            if n > first:
                last = came_from[n - first, last]


@kernel(ROW, STACK, INDEX, TABLE, INDEX, "out i8[:,:]", "out f8[:]")
def several_best_paths(log_start, log_transitions, moves, log_likelihood, seen, paths, reached):
    """The best paths of one sequence, best first (L, N), and their log joint weights (L).

    Each state keeps its L best ways there, merged from the sorted ways of all states before: N K
    (K + L K) steps. Weights are -inf where there are fewer than L possible paths.
    """
    n_paths, length = paths.shape
    n_states = len(log_start)
    value = np.full((n_states, n_paths), -np.inf)
    better = np.empty((n_states, n_paths))
    came_from = np.zeros((length, n_states, n_paths), dtype=np.int32)
    which = np.zeros((length, n_states, n_paths), dtype=np.int32)
    heads = np.empty(n_states, dtype=np.int64)
    for k in range(n_states):
        value[k, 0] = log_start[k] + log_likelihood[seen[0], k]
    for n in range(1, length):
        for k in range(n_states):
            heads[:] = 0
            for place in range(n_paths):
                best = -np.inf
                source = 0
                for j in range(n_states):
                    if heads[j] < n_paths:
                        candidate = value[j, heads[j]] + log_transitions[moves[n], j, k]
                        if candidate > best:
                            best = candidate
                            source = j
                better[k, place] = best + log_likelihood[seen[n], k]
                came_from[n, k, place] = source
                which[n, k, place] = min(heads[source], n_paths - 1)
                if best > -np.inf:
                    heads[source] += 1
        value[:] = better
    heads[:] = 0
    for place in range(n_paths):
        last = 0
        best = -np.inf
        for k in range(n_states):
            if heads[k] < n_paths and value[k, heads[k]] > best:
                best = value[k, heads[k]]
                last = k
        reached[place] = best
        if best == -np.inf:
            continue
        way = heads[last]
        heads[last] += 1
        for n in range(length - 1, -1, -1):
            paths[place, n] = last
            if n > 0:
                before = came_from[n, last, way]
                way = which[n, last, way]
                last = before


@kernel("i8[:]", "i8[:]", ROW, ROW, TABLE, "out i8[:]")
def best_path_sparse(pointers, sources, log_weights, log_start, log_likelihood, path):
    """Viterbi where few states lead to a state; the logarithm of the best path's joint weight.

    The states that lead to k are ``sources[pointers[k] : pointers[k + 1]]``. Costs as many steps
    as there are links, for each row: 27 times fewer than a full table for pairs of letters.
    """
    n_rows, n_states = log_likelihood.shape
    came_from = np.empty((n_rows, n_states), dtype=np.int32)
    value = log_start + log_likelihood[0]
    moved = np.empty(n_states)
    for n in range(1, n_rows):
        for k in range(n_states):
            best = -np.inf
            source = 0
            for link in range(pointers[k], pointers[k + 1]):
                candidate = value[sources[link]] + log_weights[link]
                if candidate > best:
                    best = candidate
                    source = sources[link]
            moved[k] = best + log_likelihood[n, k]
            came_from[n, k] = source
        value[:] = moved
    last = np.argmax(value)
    score = value[last]
    for n in range(n_rows - 1, -1, -1):
        path[n] = last
        if n > 0:
            last = came_from[n, last]
    return score


@kernel("i8", TABLE, ROW, "out i8[:]")
def walk(first, cumulative, uniforms, path):
    """A path of a chain from the state `first`, by the inverse of each row's cumulative sums."""
    n_states = cumulative.shape[1]
    state = first
    for n in range(len(path)):
        path[n] = state
        if n + 1 < len(path):
            target = uniforms[n] * cumulative[state, n_states - 1]
            k = 0
            while k < n_states - 1 and cumulative[state, k] <= target:
                k += 1
            state = k
