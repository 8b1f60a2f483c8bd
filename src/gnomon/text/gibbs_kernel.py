"""Inner loops of latent Dirichlet allocation."""

from __future__ import annotations

import functools
from typing import Annotated, NamedTuple

import numpy as np

from gnomon.engine.kernel import kernel, lean_subkernel

FOLD_STEPS, FOLD_TOL = 200, 1e-5  # change of the shares, relative to the length

STRIDES = 64, 16  # topics that are added up at once while one is looked for

vectorized = functools.partial(lean_subkernel, reordered=True)


class Block(NamedTuple):
    """Words of one block, of ascending words; their topics are written."""

    documents: Annotated[np.ndarray, "i4[:]"]
    words: Annotated[np.ndarray, "i4[:]"]
    topics: Annotated[np.ndarray, "out i4[:]"]
    uniform: Annotated[np.ndarray, "f4[:]"]


class Counts(NamedTuple):
    """Words of each topic by document, by word and in all, and the prior of topics."""

    by_document: Annotated[np.ndarray, "out f4[:,:]"]
    by_word: Annotated[np.ndarray, "out f4[:,:]"]
    totals: Annotated[np.ndarray, "out f8[:]"]
    prior: Annotated[np.ndarray, "f4[:]"]


@vectorized
def total_weight(of_document, prior, of_word):
    """The sum of the weights of some topics.

    It writes nothing: a vectorized sum that also writes takes another order, and rounds otherwise,
    where its arrays happen to lie closely behind each other in memory.
    """
    total = np.float32(0)
    for k in range(len(of_word)):
        total += (of_document[k] + prior[k]) * of_word[k]
    return total


@lean_subkernel
def topic_at(of_document, prior, of_word, target, old, weight_of_old, n_topics):
    """The topic at which the sum of the weights, without that of the old topic, passes the target.

    A uniform number near 1 and sums in another order may round the target above all sums: the last
    topic is meant then.
    """
    first, end = 0, n_topics
    for stride in STRIDES:
        while first + stride < end:
            then = first + stride
            more = total_weight(of_document[first:then], prior[first:then], of_word[first:then])
            more -= weight_of_old if first <= old < then else np.float32(0)
            if target < more:
                end = then
                break
            target -= more
            first = then
    for k in range(first, end - 1):
        weight = (of_document[k] + prior[k]) * of_word[k] if k != old else np.float32(0)
        if target < weight:
            return k
        target -= weight
    return end - 1


@lean_subkernel
def draw_one_by_one(block, counts, beta, inverse, of_word):
    """The loop of `draw_topics`; the last two are buffers of one value per topic."""
    by_document, by_word, totals, prior = counts
    n_topics = len(totals)
    mass = beta * len(by_word)
    small = np.float32(beta)
    last = -1
    for i in range(len(block.words)):
        now = by_word[block.words[i]]
        if block.words[i] != last:
            for k in range(len(prior)):
                of_word[k] = (now[k] + small) * inverse[k]
            last = block.words[i]
        of_document = by_document[block.documents[i]]
        old = block.topics[i]
        total = total_weight(of_document, prior, of_word)
        with_it = (of_document[old] + prior[old]) * of_word[old]
        alone = np.float32((now[old] - 1 + small) / (totals[old] - 1 + mass))
        stays = (of_document[old] - 1 + prior[old]) * alone
        target = block.uniform[i] * (total - with_it + stays)
        # topics may stand in any order: the old one, which is often drawn again, comes first
        if target < stays:
            continue
        target -= stays
        new = topic_at(of_document, prior, of_word, target, old, with_it, n_topics)
        block.topics[i] = new
        of_document[old] -= 1
        of_document[new] += 1
        now[old] -= 1
        now[new] += 1
        totals[old] -= 1
        totals[new] += 1
        inverse[old] = 1.0 / (totals[old] + mass)
        inverse[new] = 1.0 / (totals[new] + mass)
        of_word[old] = (now[old] + small) * inverse[old]
        of_word[new] = (now[new] + small) * inverse[new]


@kernel(Block, Counts, "f8")
def draw_topics(block, counts, beta):
    """Draw the topic of every word of a block, given those of all other words."""
    wide = len(counts.prior)
    inverse = np.zeros(wide, dtype=np.float32)
    for k in range(len(counts.totals)):
        inverse[k] = 1.0 / (counts.totals[k] + beta * len(counts.by_word))
    of_word = np.zeros(wide, dtype=np.float32)
    draw_one_by_one(block, counts, beta, inverse, of_word)


@kernel("i4[:]", "i4[:]", "out f4[:,:]")
def count_topics(rows, topics, counts):
    """Add 1 to ``counts[row, topic]`` for every word."""
    for i in range(len(rows)):
        counts[rows[i], topics[i]] += 1


@kernel("f4[:,:]", "f8[:]", "i8[:]")
def sum_of_logs(counts, values, starts):
    """Sum of ``values[starts[k] + counts[i, k]]``; a vector of topics at a time."""
    total = 0.0
    for i in range(len(counts)):
        total += looked_up(counts[i], values, starts)
    return total


@vectorized
def looked_up(counts, values, starts):
    """Sum of the values of one row of counts."""
    total = 0.0
    for k in range(len(counts)):
        total += values[np.uint64(starts[k]) + np.uint64(counts[k])]
    return total


@kernel("i8[:]", "f8[:]", "i8[:]", "f8[:,:]", "f8[:]", "out f8[:,:]")
def fold_documents(columns, counts, ends, words, alpha, shares):
    """Shares of topics in documents, by the fixed point of expected counts.

    columns, counts (n_entries,), ends (n_documents + 1,), words (n_terms, n_topics).
    """
    n_topics = len(alpha)
    expected = np.empty(n_topics)
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
                add_expected(now, words[columns[e]], counts[e], expected)
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
def product(now, of_word):
    """Sum of the products of two rows; see `total_weight` on why it writes nothing."""
    total = 0.0
    for k in range(len(now)):
        total += now[k] * of_word[k]
    return total


@lean_subkernel
def add_expected(now, of_word, count, expected):
    """Add the expected topics of a word's occurrences."""
    total = product(now, of_word)
    if total > 0:
        factor = count / total
        for k in range(len(now)):
            expected[k] += factor * (now[k] * of_word[k])
