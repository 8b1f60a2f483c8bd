"""Elimination of a network's tables, compiled: the order is worked out once, values enter late.

A recipe depends on which nodes are asked for and which are given, not on the given values: those
only move where each table is read from. So a second question of the same form costs one kernel.
Tables are probabilities, and every message is scaled to the largest entry 1; where a whole message
comes near underflow the kernel says so, and logarithms (`elimination`) take over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gnomon.engine.kernel import kernel
from gnomon.graphical.elimination import EliminationPlan

TINY = 1e-200  # messages below may have lost factors to underflow


class Recipe(NamedTuple):
    """How to multiply and sum tables, in arrays.

    Step s runs over all cells of its clique, multiplies what `sources` first_source[s] to
    first_source[s + 1] hold there, and adds the product to its message; the last step is the
    answer.

    Attributes
    ----------
    first_axis, sizes : ndarray
        Axes of each step's clique, and their lengths.
    first_source, source_table : ndarray
        What each step multiplies: tables by number, then messages by number.
    source_stride : ndarray of shape (n_sources, most_axes)
        By how much a source moves on when an axis of the clique does.
    message_first : ndarray of shape (n_steps + 1,)
    message_stride : ndarray of shape (n_steps, most_axes)
    held_stride : ndarray of shape (n_tables, n_held)
        By how much a table is read further on per value of a given node.
    """

    first_axis: np.ndarray
    sizes: np.ndarray
    first_source: np.ndarray
    source_table: np.ndarray
    source_stride: np.ndarray
    message_first: np.ndarray
    message_stride: np.ndarray
    held_stride: np.ndarray


def recipe(
    scopes: Sequence[Sequence[int]],
    strides: Sequence[Sequence[int]],
    sizes: Sequence[int],
    held: Sequence[int],
    forecast: EliminationPlan,
    kept: Sequence[int],
) -> Recipe:
    """The recipe of tables over scopes (given nodes included), in the order of a plan.

    Parameters
    ----------
    scopes, strides : sequence of sequence of int
        The variables of each table, and by how many cells each moves it on.
    sizes : sequence of int
    held : sequence of int
        Variables whose values will be given.
    forecast : EliminationPlan
    kept : sequence of int
        The answer has these axes, in this order.

    Returns
    -------
    recipe : Recipe
    """
    given = {v: k for k, v in enumerate(held)}
    rank = {v: i for i, v in enumerate(forecast.order)}
    last = len(rank)
    waiting: list[list[tuple[int, dict[int, int]]]] = [[] for _ in range(last + 1)]
    held_stride = np.zeros((len(scopes), len(held)), dtype=np.int64)
    for t, (scope, steps) in enumerate(zip(scopes, strides)):
        moves = {v: step for v, step in zip(scope, steps) if v not in given}
        for v, step in zip(scope, steps):
            if v in given:
                held_stride[t, given[v]] = step
        waiting[min((rank.get(v, last) for v in moves), default=last)].append((t, moves))
    cliques, messages, tables, first_source, moves_of = [], [], [], [0], []
    for s in range(last + 1):
        found = {v for _, moves in waiting[s] for v in moves}
        out = list(kept) if s == last else sorted(found - {forecast.order[s]})
        clique = out if s == last else [*out, forecast.order[s]]
        cliques.append(clique)
        messages.append(out)
        for table, moves in waiting[s]:
            tables.append(table)
            moves_of.append([moves.get(v, 0) for v in clique])
        first_source.append(len(tables))
        if s < last:
            inside = dict(zip(out, _steps([sizes[v] for v in out])))
            waiting[min((rank.get(v, last) for v in out), default=last)].append(
                (len(scopes) + s, inside)
            )
    most = max(len(clique) for clique in cliques) or 1
    cells = [int(np.prod([sizes[v] for v in out])) for out in messages]
    lengths = [len(clique) for clique in cliques]
    return Recipe(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.array([sizes[v] for clique in cliques for v in clique], dtype=np.int64),
        np.array(first_source, dtype=np.int64),
        np.array(tables, dtype=np.int64),
        _padded(moves_of, most),
        np.concatenate([[0], np.cumsum(cells)]).astype(np.int64),
        _padded(
            [
                [*_steps([sizes[v] for v in out]), *[0] * (len(clique) - len(out))]
                for clique, out in zip(cliques, messages)
            ],
            most,
        ),
        held_stride,
    )


def _steps(sizes: Sequence[int]) -> list[int]:
    """Cells to move on per axis of a contiguous table."""
    return [int(np.prod(sizes[k + 1 :])) for k in range(len(sizes))]


def _padded(rows: Sequence[Sequence[int]], width: int) -> np.ndarray:
    out = np.zeros((len(rows), width), dtype=np.int64)
    for i, row in enumerate(rows):
        out[i, : len(row)] = row
    return out


@kernel(
    "f8[:]", "i8[:]", "i8[:]", "i8[:]", "i8[:]", "i8[:]", "i8[:]", "i8[:,:]", "i8[:]", "i8[:,:]",
    "i8[:,:]", "out f8[:]",
)  # fmt: skip
def sum_products(
    cells, table_first, values, first_axis, sizes, first_source, source_table, source_stride,
    message_first, message_stride, held_stride, messages,
):  # fmt: skip
    """Follow a `Recipe`; the logarithm of the answer's scale, or NaN where it nearly underflowed.

    cells: all tables one after the other, beginning at table_first (n_tables,); values (n_held,) of
    the given nodes; messages is written, its last part being the answer.
    """
    n_tables, log_scale = len(table_first), 0.0
    place = np.zeros(source_stride.shape[1], np.int64)
    at = np.zeros(len(source_table), np.int64)
    for s in range(len(first_axis) - 1):
        n_axes = first_axis[s + 1] - first_axis[s]
        last = max(n_axes - 1, 0)
        n_last = sizes[first_axis[s] + last] if n_axes > 0 else 1
        n_outer = 1
        for a in range(n_axes - 1):
            place[a] = 0
            n_outer *= sizes[first_axis[s] + a]
        begin, end = first_source[s], first_source[s + 1]
        for f in range(begin, end):
            table = source_table[f]
            if table >= n_tables:
                at[f] = message_first[table - n_tables]
            else:
                at[f] = table_first[table]
                for h in range(len(values)):
                    at[f] += held_stride[table, h] * values[h]
        out = message_first[s]
        for i in range(out, message_first[s + 1]):
            messages[i] = 0.0
        for _ in range(n_outer):
            for k in range(n_last):
                product = 1.0
                for f in range(begin, end):
                    cell = at[f] + k * source_stride[f, last]
                    product *= messages[cell] if source_table[f] >= n_tables else cells[cell]
                messages[out + k * message_stride[s, last]] += product
            a = n_axes - 2
            while a >= 0:
                place[a] += 1
                out += message_stride[s, a]
                for f in range(begin, end):
                    at[f] += source_stride[f, a]
                if place[a] < sizes[first_axis[s] + a]:
                    break
                out -= place[a] * message_stride[s, a]
                for f in range(begin, end):
                    at[f] -= place[a] * source_stride[f, a]
                place[a] = 0
                a -= 1
        largest = 0.0
        for i in range(message_first[s], message_first[s + 1]):
            largest = max(largest, messages[i])
        if largest < TINY:
            return np.nan
        for i in range(message_first[s], message_first[s + 1]):
            messages[i] /= largest
        log_scale += np.log(largest)
    return log_scale
