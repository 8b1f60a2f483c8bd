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


@kernel(BOUNDS, ROW, TABLE, TABLE, "out f8[:,:]", "out f8[:]")
def forward(bounds, start, transition, likelihood, alpha, scale):
    """Scaled forward pass; the first row that no path explains, or -1.

    bounds (R + 1), start (K), transition (K, K), likelihood and alpha (N, K), scale (N).
    """
    n_states = len(start)
    for r in range(len(bounds) - 1):
        for n in range(bounds[r], bounds[r + 1]):
            if n == bounds[r]:
                for k in range(n_states):
                    alpha[n, k] = start[k]
            else:
                for k in range(n_states):
                    alpha[n, k] = 0.0
                for j in range(n_states):
                    weight = alpha[n - 1, j]
                    for k in range(n_states):
                        alpha[n, k] += weight * transition[j, k]
            total = 0.0
            for k in range(n_states):
                alpha[n, k] *= likelihood[n, k]
                total += alpha[n, k]
            if not total > 0.0:
                return n
            scale[n] = total
            for k in range(n_states):
                alpha[n, k] /= total
    return -1


@kernel(BOUNDS, TABLE, TABLE, ROW, TABLE, "out f8[:,:]", "out f8[:,:]")
def backward(bounds, transition, likelihood, scale, alpha, gamma, pairs):
    """Scaled backward pass: posteriors of states, and the sum over steps of those of pairs.

    `pairs` (K, K) must come as zeros: the sum of alpha_{n-1}(j) b_n(k) beta_n(k) / c_n is added to
    it and multiplied by A at the end. gamma (N, K).
    """
    n_states = transition.shape[0]
    ahead = np.empty(n_states)
    beta = np.empty(n_states)
    for r in range(len(bounds) - 1):
        beta[:] = 1.0
        for n in range(bounds[r + 1] - 1, bounds[r] - 1, -1):
            for k in range(n_states):
                gamma[n, k] = alpha[n, k] * beta[k]
            if n == bounds[r]:
                break
            for k in range(n_states):
                ahead[k] = likelihood[n, k] * beta[k] / scale[n]
            for j in range(n_states):
                weight = alpha[n - 1, j]
                total = 0.0
                for k in range(n_states):
                    total += transition[j, k] * ahead[k]
                    pairs[j, k] += weight * ahead[k]
                beta[j] = total
    for j in range(n_states):
        for k in range(n_states):
            pairs[j, k] *= transition[j, k]


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


@kernel(BOUNDS, ROW, TABLE, TABLE, "out f8[:,:]")
def log_forward(bounds, log_start, log_transition, log_likelihood, log_alpha):
    """Forward pass on logarithms (N, K); slower than `forward`, for weights of any size."""
    n_states = len(log_start)
    terms = np.empty(n_states)
    for r in range(len(bounds) - 1):
        for n in range(bounds[r], bounds[r + 1]):
            for k in range(n_states):
                reached = log_start[k]
                if n > bounds[r]:
                    for j in range(n_states):
                        terms[j] = log_alpha[n - 1, j] + log_transition[j, k]
                    reached = log_sum(terms, n_states)
                log_alpha[n, k] = reached + log_likelihood[n, k]


@kernel(BOUNDS, TABLE, TABLE, "out f8[:,:]")
def log_backward(bounds, log_transition, log_likelihood, log_beta):
    """Backward pass on logarithms (N, K)."""
    n_states = log_transition.shape[0]
    terms = np.empty(n_states)
    for r in range(len(bounds) - 1):
        for n in range(bounds[r + 1] - 1, bounds[r] - 1, -1):
            for j in range(n_states):
                if n == bounds[r + 1] - 1:
                    log_beta[n, j] = 0.0
                    continue
                for k in range(n_states):
                    terms[k] = log_transition[j, k] + log_likelihood[n + 1, k] + log_beta[n + 1, k]
                log_beta[n, j] = log_sum(terms, n_states)


@kernel(BOUNDS, ROW, TABLE, TABLE, "out i8[:]", "out f8[:]")
def best_paths(bounds, log_start, log_transition, log_likelihood, path, reached):
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
            value[k] = log_start[k] + log_likelihood[first, k]
        for n in range(first + 1, end):
            for k in range(n_states):
                best[k] = value[0] + log_transition[0, k]
                came_from[n - first, k] = 0
            for j in range(1, n_states):
                so_far = value[j]
                for k in range(n_states):
                    candidate = so_far + log_transition[j, k]
                    if candidate > best[k]:
                        best[k] = candidate
                        came_from[n - first, k] = j
            for k in range(n_states):
                value[k] = best[k] + log_likelihood[n, k]
        last = 0
        for k in range(1, n_states):
            if value[k] > value[last]:
                last = k
        reached[r] = value[last]
        for n in range(end - 1, first - 1, -1):
            path[n] = last
            if n > first:
                last = came_from[n - first, last]


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
