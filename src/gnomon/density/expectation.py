"""The E-step of Gaussian mixtures, in whitened coordinates, with missing cells.

For component k with covariance L L' the row x becomes y = (x - mean) P, P = L^-T, so that its
Mahalanobis distance is |y|: one matrix product per block of rows and component. Moments are summed
in these coordinates, too: near the end they are close to 0 and I, whatever the units and the
conditioning.

A missing cell is a direction in which y is free. Leaving it out is to project y on what is
orthogonal to the rows P_m of P that belong to the missing cells: with Q an orthonormal basis of
them,

    y <- y - Q'Q y                        is the whitened row completed by its conditional
    expectation, log det Sigma_oo = log det Sigma + 2 log det R,  P_m = R Q, Q'Q
    is the whitened conditional covariance of the missing cells.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gnomon.cluster.nearest import squared_length
from gnomon.density.leaves import exponentiate
from gnomon.engine.kernel import kernel, lean_subkernel, subkernel

BLOCK_CELLS = 2**16  # half a megabyte, which fits in the second-level cache
ABREAST = 64  # rows that the complete pass takes at once
fused_subkernel = functools.partial(lean_subkernel, fused=True)
FEWEST_ROWS = 32  # judgement: fewer rows in a block cost more calls than the cache saves
HALF_LOG_2_PI = float(0.5 * np.log(2 * np.pi))


class Components(NamedTuple):
    """Components of a mixture, prepared for rows.

    Attributes
    ----------
    shift : ndarray of shape (d,)
        A point in the middle of the rows.
    centers : ndarray of shape (K, d)
        Means minus the shift.
    factors : ndarray of shape (K, d + 1, d) or (K, d)
        P with one more row, -centre P; or the inverse standard deviations, where covariances are
        diagonal.
    constants : ndarray of shape (K,)
        log weight + log det P - d/2 log 2 pi.
    """

    shift: np.ndarray
    centers: np.ndarray
    factors: np.ndarray
    constants: np.ndarray

    @classmethod
    def of(
        cls, weights: np.ndarray, means: np.ndarray, factors: np.ndarray, shift: np.ndarray
    ) -> Components:
        """From P of shape (K, d, d), or inverse standard deviations of shape (K, d)."""
        centers = means - shift
        diagonal = factors if factors.ndim == 2 else np.diagonal(factors, axis1=1, axis2=2)
        with np.errstate(divide="ignore"):
            constants = np.log(weights) + np.log(diagonal).sum(axis=1)
        constants -= means.shape[1] * HALF_LOG_2_PI
        if factors.ndim == 3:
            offsets = np.matmul(-centers[:, None, :], factors)
            factors = np.concatenate([factors, offsets], axis=1)
        return cls(shift, centers, np.ascontiguousarray(factors), constants)


class Block(NamedTuple):
    """Some rows of a chunk in whitened coordinates.

    Attributes
    ----------
    positions : ndarray of int64
        Where the rows stand in the chunk.
    absent : ndarray of uint8, shape (m, d) or (0, d)
        Which cells are missing; no rows when none is.
    whitened : ndarray of shape (K, m, d)
    logs : ndarray of shape (K, m)
        Logarithm of weight times density.
    """

    positions: np.ndarray
    absent: np.ndarray
    whitened: np.ndarray
    logs: np.ndarray


def rows_per_block(n_components: int, n_columns: int) -> int:
    """Rows whose whitened coordinates stay in the second-level cache."""
    return max(BLOCK_CELLS // max(n_components * n_columns, 1), FEWEST_ROWS)


def blocks(rows: np.ndarray, components: Components, gaps: bool) -> Iterator[Block]:
    """The rows of a chunk in whitened coordinates; complete rows first, then by missing pattern.

    All blocks share one piece of memory: a block is to be used before the next is asked for.
    """
    n, d = rows.shape
    k = len(components.centers)
    positions, n_complete = by_pattern(rows) if gaps else (np.arange(n), n)
    size = min(rows_per_block(k, d), n)
    shifted = np.ones((size, d + 1))
    space = np.empty(k * size * d)
    for first, last, complete in ((0, n_complete, True), (n_complete, n, False)):
        for start in range(first, last, size):
            some = positions[start : min(start + size, last)]
            m = len(some)
            absent = np.zeros((0 if complete else m, d), np.uint8)
            place_rows(rows, some, components.shift, shifted, absent)
            whitened = space[: k * m * d].reshape(k, m, d)
            logs = whiten(shifted[:m], absent, components, whitened)
            yield Block(some, absent, whitened, logs)


def by_pattern(rows: np.ndarray) -> tuple[np.ndarray, int]:
    """Positions of rows, complete ones first, the others sorted by which cells are missing."""
    missing = np.isnan(rows)
    incomplete = missing.any(axis=1)
    some = np.flatnonzero(incomplete)
    patterns = np.packbits(missing[some], axis=1)
    some = some[np.lexsort(patterns.T)]
    complete = np.flatnonzero(~incomplete)
    return np.concatenate([complete, some]), len(complete)


def whiten(
    shifted: np.ndarray, absent: np.ndarray, components: Components, whitened: np.ndarray
) -> np.ndarray:
    """Whitened coordinates, and logs of weight times density; the last column is ones."""
    logs = np.empty(whitened.shape[:2])
    if components.factors.ndim == 2:
        scale_rows(shifted, absent, *components[1:], whitened, logs)
        return logs
    np.matmul(shifted, components.factors, out=whitened)
    if len(absent):
        project_out(components.factors, components.constants, absent, whitened, logs)
    else:
        log_densities(whitened, components.constants, logs)
    return logs


@kernel("f8[:,:]", "i8[:]", "f8[:]", "out f8[:,:]", "out u1[:,:]")
def place_rows(rows, which, shift, shifted, absent):
    """Rows at some positions minus the shift, missing cells 0 and noted where `absent` has rows.

    rows (n, d), shifted (at least m, d + 1), absent (m, d) or (0, d).
    """
    for i in range(len(which)):
        for j in range(len(shift)):
            shifted[i, j] = rows[which[i], j] - shift[j]
    for i in range(len(absent)):
        for j in range(len(shift)):
            if np.isnan(shifted[i, j]):
                shifted[i, j] = 0.0
                absent[i, j] = 1


@kernel("f8[:,:,:]", "f8[:]", "out f8[:,:]")
def log_densities(whitened, constants, logs):
    """constants[k] - |y|^2 / 2. whitened (K, m, d), logs (K, m)."""
    for k in range(whitened.shape[0]):
        for i in range(whitened.shape[1]):
            logs[k, i] = constants[k] - 0.5 * squared_length(whitened[k, i])


@kernel(
    "f8[:,:]",
    "u1[:,:]",
    "f8[:,:]",
    "f8[:,:]",
    "f8[:]",
    "out f8[:,:,:]",
    "out f8[:,:]",
)
def scale_rows(shifted, absent, centers, inverse, constants, whitened, logs):
    """Whitened rows and log densities for diagonal covariances; missing cells count for nothing.

    shifted (m, d + 1), centres and inverse standard deviations (K, d), whitened (K, m, d), logs
    (K, m).
    """
    n_components, d = centers.shape
    gaps = len(absent) > 0
    for k in range(n_components):
        for i in range(len(shifted)):
            log = constants[k]
            for j in range(d):
                y = (shifted[i, j] - centers[k, j]) * inverse[k, j]
                if gaps and absent[i, j]:
                    y = 0.0
                    log += HALF_LOG_2_PI - np.log(inverse[k, j])
                whitened[k, i, j] = y
            logs[k, i] = log - 0.5 * squared_length(whitened[k, i])


@fused_subkernel
def logs_of_weighted_densities(across, centers, inverse, constants, logs):
    """constants[k] - |(x - centre) * inverse|^2 / 2. across (d, ABREAST), logs (K, ABREAST)."""
    for k in range(len(centers)):
        log = logs[k]
        log[:] = 0.0
        for j in range(len(across)):
            line = across[j]
            center = centers[k, j]
            scale = inverse[k, j]
            for i in range(ABREAST):
                y = (line[i] - center) * scale
                log[i] += y * y
        for i in range(ABREAST):
            log[i] = constants[k] - 0.5 * log[i]


@lean_subkernel
def share_abreast(logs, flat, powers, bits, hard, most, total):
    """Logs become shares that are still to be divided by their total; `most` the greatest log.

    logs (K, ABREAST), flat the same as one line, most and total (ABREAST,).
    """
    n_components = len(logs)
    most[:] = -np.inf
    for k in range(n_components):
        for i in range(ABREAST):
            most[i] = logs[k, i] if logs[k, i] > most[i] else most[i]
    if hard:
        total[:] = 0.0
        for k in range(n_components):
            for i in range(ABREAST):
                logs[k, i] = 1.0 if logs[k, i] == most[i] and total[i] == 0.0 else 0.0
                total[i] += logs[k, i]
        return
    for k in range(n_components):
        for i in range(ABREAST):
            logs[k, i] -= most[i]
    exponentiate(flat, powers, bits)
    total[:] = 0.0
    for k in range(n_components):
        for i in range(ABREAST):
            total[i] += logs[k, i]


@fused_subkernel
def add_moments(across, centers, shares, weight, first, second):
    """Sums of shares, of shares times x - centre, and of its squares.

    across (d, ABREAST), centres, first, second (K, d), shares (K, ABREAST), weight (K,).
    """
    for k in range(len(centers)):
        share = shares[k]
        weight[k] += share.sum()
        for j in range(len(across)):
            line = across[j]
            center = centers[k, j]
            a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
            for i in range(0, ABREAST, 4):
                y0 = line[i] - center
                y1 = line[i + 1] - center
                y2 = line[i + 2] - center
                y3 = line[i + 3] - center
                s0 = share[i] * y0
                s1 = share[i + 1] * y1
                s2 = share[i + 2] * y2
                s3 = share[i + 3] * y3
                a0 += s0
                a1 += s1
                a2 += s2
                a3 += s3
                b0 += s0 * y0
                b1 += s1 * y1
                b2 += s2 * y2
                b3 += s3 * y3
            first[k, j] += (a0 + a1) + (a2 + a3)
            second[k, j] += (b0 + b1) + (b2 + b3)


@kernel(
    "f8[:,:]",
    "f8[:]",
    "f8[:]",
    "f8[:,:]",
    "f8[:,:]",
    "f8[:]",
    "b1",
    "out f8[:]",
    "out f8[:,:]",
    "out f8[:,:]",
    "out f8[:,:]",
)
def complete_pass(
    rows, weights, shift, centers, inverse, constants, hard, weight, first, second, shares
):
    """E-step and moments of rows without gaps, for diagonal covariances; the log-likelihood.

    rows (n, d), weights (n,), the others as in `Components`. Adds to weight (K,), first and second
    (K, d): moments about the centres, in the units of the rows. Shares (n, K) are written where
    there is room for them, (0, K) else. Rows are taken abreast, column by column, so that
    whitened rows of every component are never stored and the processor takes several at once.
    """
    n, d = rows.shape
    n_components = len(centers)
    across = np.zeros((d, ABREAST))
    logs = np.empty((n_components, ABREAST))
    flat = logs.reshape(n_components * ABREAST)
    powers = np.empty(n_components * ABREAST)
    bits = powers.view(np.int64)
    most = np.empty(ABREAST)
    total = np.empty(ABREAST)
    log_likelihood = 0.0
    for start in range(0, n, ABREAST):
        m = min(ABREAST, n - start)
        for i in range(m):
            for j in range(d):
                across[j, i] = rows[start + i, j] - shift[j]
        logs_of_weighted_densities(across, centers, inverse, constants, logs)
        share_abreast(logs, flat, powers, bits, hard, most, total)
        for i in range(m):
            log_likelihood += weights[start + i] * (most[i] + np.log(total[i]))
            total[i] = 1.0 / total[i]
        total[m:] = 0.0
        for k in range(n_components):
            for i in range(ABREAST):
                logs[k, i] *= total[i]
        if len(shares):
            for i in range(m):
                for k in range(n_components):
                    shares[start + i, k] = logs[k, i]
        for k in range(n_components):
            for i in range(m):
                logs[k, i] *= weights[start + i]
        add_moments(across, centers, logs, weight, first, second)
    return log_likelihood


@subkernel
def missing_basis(factor, absent, basis):
    """An orthonormal basis Q of the rows of P of missing cells: their number and log det R.

    Gram and Schmidt's way, twice, which is enough (Kahan). factor (d + 1, d), absent (d,), basis
    (d, d).
    """
    d = len(absent)
    m = 0
    log_det = 0.0
    for j in range(d):
        if not absent[j]:
            continue
        for c in range(d):
            basis[m, c] = factor[j, c]
        for _ in range(2):
            for q in range(m):
                dot = 0.0
                for c in range(d):
                    dot += basis[q, c] * basis[m, c]
                for c in range(d):
                    basis[m, c] -= dot * basis[q, c]
        length = np.sqrt(squared_length(basis[m]))
        for c in range(d):
            basis[m, c] /= length
        log_det += np.log(length)
        m += 1
    return m, log_det


@subkernel
def same_pattern(absent, i):
    """Whether row i misses the same cells as the row before it. absent (m, d)."""
    if i == 0:
        return False
    j = 0
    while j < absent.shape[1] and absent[i, j] == absent[i - 1, j]:
        j += 1
    return j == absent.shape[1]


@kernel("f8[:,:,:]", "f8[:]", "u1[:,:]", "out f8[:,:,:]", "out f8[:,:]")
def project_out(factors, constants, absent, whitened, logs):
    """Complete whitened rows by conditional expectation; log densities of what is observed.

    factors (K, d + 1, d), absent (m, d), whitened (K, m, d), logs (K, m).
    """
    n_components, n, d = whitened.shape
    basis = np.empty((d, d))
    for k in range(n_components):
        m = 0
        log_det = 0.0
        for i in range(n):
            if not same_pattern(absent, i):
                m, log_det = missing_basis(factors[k], absent[i], basis)
            for q in range(m):
                dot = 0.0
                for c in range(d):
                    dot += basis[q, c] * whitened[k, i, c]
                for c in range(d):
                    whitened[k, i, c] -= dot * basis[q, c]
            log = constants[k] - log_det + m * HALF_LOG_2_PI
            logs[k, i] = log - 0.5 * squared_length(whitened[k, i])


@kernel("f8[:,:]", "out f8[:,:]", "out f8[:]")
def share_out(logs, shares, log_density):
    """Posterior share of each component in each row, and the log density. logs, shares (K, m)."""
    n_components, m = logs.shape
    for i in range(m):
        most = logs[0, i]
        for k in range(1, n_components):
            most = max(most, logs[k, i])
        total = 0.0
        for k in range(n_components):
            share = np.exp(logs[k, i] - most)
            shares[k, i] = share
            total += share
        for k in range(n_components):
            shares[k, i] /= total
        log_density[i] = most + np.log(total)


@kernel("f8[:,:]", "out f8[:,:]", "out f8[:]")
def give_to_best(logs, shares, log_density):
    """Each row wholly to its likeliest component (of equal ones the first). logs, shares (K, m)."""
    n_components, m = logs.shape
    for i in range(m):
        best = 0
        for k in range(n_components):
            shares[k, i] = 0.0
            if logs[k, i] > logs[best, i]:
                best = k
        shares[best, i] = 1.0
        log_density[i] = logs[best, i]


@kernel("f8[:,:]", "f8[:]", "i8[:]", "out f8[:]", "out f8[:,:]", "out f8[:,:,:]")
def weigh(shares, weights, which, weight, roots, whitened):
    """Scale whitened rows by the roots of weight times share, so that Y'Y is the weighted moment.

    shares, roots (K, m), weights (n,), weight (K,): the sums of weight times share, whitened (K,
    m, d).
    """
    n_components, m, d = whitened.shape
    for k in range(n_components):
        for i in range(m):
            share = weights[which[i]] * shares[k, i]
            weight[k] += share
            root = np.sqrt(share)
            roots[k, i] = root
            for j in range(d):
                whitened[k, i, j] *= root


@kernel("f8[:,:,:]", "out f8[:,:]")
def add_squares(whitened, second):
    """Sums of squares per component and column. whitened (K, m, d), second (K, d)."""
    n_components, m, d = whitened.shape
    for k in range(n_components):
        for i in range(m):
            for j in range(d):
                second[k, j] += whitened[k, i, j] * whitened[k, i, j]


@kernel("u1[:,:]", "f8[:,:]", "out f8[:,:]")
def add_missing_variances(absent, roots, second):
    """What missing cells add to sums of squares. absent (m, d), second (K, d)."""
    for k in range(len(roots)):
        for i in range(len(absent)):
            for j in range(absent.shape[1]):
                if absent[i, j]:
                    second[k, j] += roots[k, i] * roots[k, i]


@kernel("f8[:,:,:]", "u1[:,:]", "f8[:,:]", "out f8[:,:,:]")
def add_missing_covariances(factors, absent, roots, second):
    """What missing cells add to second moments, Q'Q. absent (m, d), second (K, d, d)."""
    n_components, n = roots.shape
    d = absent.shape[1]
    basis = np.empty((d, d))
    for k in range(n_components):
        i = 0
        while i < n:
            m, _ = missing_basis(factors[k], absent[i], basis)
            share = roots[k, i] * roots[k, i]
            i += 1
            while i < n and same_pattern(absent, i):
                share += roots[k, i] * roots[k, i]
                i += 1
            for q in range(m):
                for a in range(d):
                    for b in range(d):
                        second[k, a, b] += share * basis[q, a] * basis[q, b]
