"""Inner loops of latent Dirichlet allocation."""

from __future__ import annotations

import functools
from typing import Annotated, NamedTuple

import numpy as np

from gnomon.engine.kernel import kernel, lean_subkernel

FOLD_STEPS, FOLD_TOL = 200, 1e-5  # change of the shares, relative to the length

vectorized = functools.partial(lean_subkernel, reordered=True)


class Block(NamedTuple):
    """Words of one block, of ascending documents; their topics are written."""

    documents: Annotated[np.ndarray, "i4[:]"]
    words: Annotated[np.ndarray, "i4[:]"]
    topics: Annotated[np.ndarray, "out i4[:]"]
    uniform: Annotated[np.ndarray, "f8[:]"]


class Counts(NamedTuple):
    """Words of each topic by document, by word and in all, and the prior of topics."""

    by_document: Annotated[np.ndarray, "out f4[:,:]"]
    by_word: Annotated[np.ndarray, "out f4[:,:]"]
    totals: Annotated[np.ndarray, "out f8[:]"]
    prior: Annotated[np.ndarray, "f4[:]"]


@vectorized
def weigh(of_document, of_word, beta, inverse, weights):
    """Write the weight of each topic, return their sum."""
    total = np.float32(0)
    for k in range(len(weights)):
        weight = of_document[k] * (of_word[k] + beta) * inverse[k]
        weights[k] = weight
        total += weight
    return total


@vectorized
def block_sum(weights, first):
    """Sum of sixteen weights."""
    total = np.float32(0)
    for k in range(first, first + 16):
        total += weights[k]
    return total


@lean_subkernel
def topic_at(weights, target, n_topics):
    """The topic at which the sum of the weights passes the target.

    A uniform number near 1 and sums in another order may round the target above all sums: the last
    topic is meant then.
    """
    k = 0
    passed = np.float32(0)
    while k + 16 <= len(weights):
        more = block_sum(weights, k)
        if passed + more > target:
            break
        passed += more
        k += 16
    while k < n_topics - 1:
        passed += weights[k]
        if passed > target:
            break
        k += 1
    return min(k, n_topics - 1)


@lean_subkernel
def draw_one_by_one(block, counts, beta, inverse, local, weights):
    """The loop of `draw_topics`; the last three are buffers of one value per topic."""
    by_document, by_word, totals, prior = counts
    n_topics = len(totals)
    mass = beta * len(by_word)
    small = np.float32(beta)
    last = -1
    for i in range(len(block.words)):
        d = block.documents[i]
        if d != last:
            for k in range(len(prior)):
                local[k] = by_document[d, k] + prior[k]
            last = d
        of_word = by_word[block.words[i]]
        old = block.topics[i]
        local[old] -= 1
        of_word[old] -= 1
        total = weigh(local, of_word, small, inverse, weights)
        stays = np.float32(local[old] * (of_word[old] + small) / (totals[old] - 1 + mass))
        total += stays - weights[old]
        target = np.float32(block.uniform[i]) * total
        # topics may stand in any order: the old one, which is often drawn again, comes first
        if target < stays:
            local[old] += 1
            of_word[old] += 1
            continue
        weights[old] = 0
        new = topic_at(weights, target - stays, n_topics)
        block.topics[i] = new
        by_document[d, old] -= 1
        by_document[d, new] += 1
        local[new] += 1
        of_word[new] += 1
        totals[old] -= 1
        totals[new] += 1
        inverse[old] = 1.0 / (totals[old] + mass)
        inverse[new] = 1.0 / (totals[new] + mass)


@kernel(Block, Counts, "f8")
def draw_topics(block, counts, beta):
    """Draw the topic of every word of a block, given those of all other words."""
    wide = len(counts.prior)
    inverse = np.zeros(wide, dtype=np.float32)
    for k in range(len(counts.totals)):
        inverse[k] = 1.0 / (counts.totals[k] + beta * len(counts.by_word))
    local = np.zeros(wide, dtype=np.float32)
    weights = np.zeros(wide, dtype=np.float32)
    draw_one_by_one(block, counts, beta, inverse, local, weights)


@kernel("f4[:,:]", "f8[:,:]")
def sum_of_logs(counts, table):
    """Sum of ``table[k, counts[i, k]]`` over counts that are not 0. table (n_topics, n_values)."""
    total = 0.0
    for i in range(len(counts)):
        for k in range(len(table)):
            if counts[i, k] > 0:
                total += table[k, int(counts[i, k])]
    return total


@kernel("i8[:]", "f8[:]", "i8[:]", "f8[:,:]", "f8[:]", "out f8[:,:]")
def fold_documents(columns, counts, ends, words, alpha, shares):
    """Shares of topics in documents, by the fixed point of expected counts.

    columns, counts (n_entries,), ends (n_documents + 1,), words (n_terms, n_topics).
    """
    n_topics = len(alpha)
    expected = np.empty(n_topics)
    part = np.empty(n_topics)
    for d in range(len(ends) - 1):
        length = 0.0
        for e in range(ends[d], ends[d + 1]):
            length += counts[e]
        now = shares[d]
        for k in range(n_topics):
            now[k] = alpha[k] + length / n_topics
        for _ in range(FOLD_STEPS):
            for k in range(n_topics):
                expected[k] = alpha[k]
            for e in range(ends[d], ends[d + 1]):
                add_expected(now, words[columns[e]], counts[e], part, expected)
            change = 0.0
            for k in range(n_topics):
                change += abs(expected[k] - now[k])
                now[k] = expected[k]
            if change <= FOLD_TOL * length:
                break
        total = 0.0
        for k in range(n_topics):
            total += now[k]
        for k in range(n_topics):
            now[k] /= total


@vectorized
def add_expected(now, of_word, count, part, expected):
    """Add the expected topics of a word's occurrences."""
    total = 0.0
    for k in range(len(now)):
        share = now[k] * of_word[k]
        part[k] = share
        total += share
    if total > 0:
        factor = count / total
        for k in range(len(now)):
            expected[k] += factor * part[k]
