"""Passes along chains: likelihoods, posteriors, best paths, from arrays of weights.

These are the recursions with their book-keeping: rows that show one of few symbols share the row of
a small table (`seen`), steps of a few kinds share a table of transitions (`moves`), and rows that
no path explains are named. Weights need not be probabilities, so random fields use them too.

Texts: 001 14.2.5-14.2.6 · 000b 13.2-13.3 · 002 L6405-6556.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.sequence import recursions


@dataclass(frozen=True, eq=False)
class Prepared:
    """Sequences end to end.

    Attributes
    ----------
    rows : ndarray
    bounds : ndarray of int
        Sequence r has the rows bounds[r] to bounds[r + 1].
    """

    rows: np.ndarray
    bounds: np.ndarray

    def split(self, table: np.ndarray) -> list[np.ndarray]:
        """A result for all rows, cut into those of the sequences."""
        return np.split(table, self.bounds[1:-1])


@dataclass(frozen=True, eq=False)
class Posteriors:
    """Results of the forward and backward passes.

    Attributes
    ----------
    log_likelihood : ndarray of shape (n_sequences,)
    states : ndarray of shape (n_rows, n_states)
        p(z_n = k | X).
    pairs : ndarray of shape (n_states, n_states)
        Sum over steps of p(z_{n-1} = j, z_n = k | X); one such table for each kind of step where
        there are several.
    """

    log_likelihood: np.ndarray
    states: np.ndarray
    pairs: np.ndarray


class Forward(NamedTuple):
    """Results of the scaled forward pass.

    Attributes
    ----------
    alpha : ndarray of shape (n_rows, n_states)
        Filtered probabilities.
    scale, shift : ndarray of shape (n_rows,)
        log p(x_n | the rows before) = log scale + shift.
    likelihood : ndarray of shape (n_shown, n_states)
        p(x | k), divided by the exponential of its shift.
    stuck : int
        The first row that no path explains, or -1.
    """

    alpha: np.ndarray
    scale: np.ndarray
    shift: np.ndarray
    likelihood: np.ndarray
    stuck: int


def prepare(law: Any, sequences: Sequence) -> Prepared:
    """Check each sequence by the emission distribution and lay them end to end."""
    if isinstance(sequences, (str, np.ndarray)) and not _holds_sequences(sequences):
        raise DataError("give a list of sequences: [sequence] where there is only one")
    parts = []
    for r, sequence in enumerate(sequences):
        try:
            parts.append(law.rows(sequence))
        except DataError as error:
            raise DataError(f"sequence {r}: {error}") from error
    if not parts:
        raise DataError("there are no sequences")
    bounds = np.cumsum([0, *(len(part) for part in parts)]).astype(np.int64)
    if any(part.shape[1:] != parts[0].shape[1:] for part in parts):
        raise DataError("sequences have different numbers of columns")
    return Prepared(parts[0] if len(parts) == 1 else np.concatenate(parts), bounds)


def shown_by(law: Any, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log p(row | state) of the different rows, and which of these each row is.

    A law that has ``distinct(rows)`` says which rows are alike; otherwise each stands for itself.
    """
    if not hasattr(law, "distinct"):
        return law.log_likelihood(rows), np.arange(len(rows))
    different, seen = law.distinct(rows)
    return law.log_likelihood(different), seen


def scaled_forward(start, transition, logs, bounds, seen=None, moves=None) -> Forward:
    """The forward pass; arguments as in `posteriors`."""
    logs = _floats(logs)
    seen, moves = _one_each(seen, len(logs)), _all_alike(moves, bounds)
    likelihood, shift = np.empty_like(logs), np.empty(len(logs))
    recursions.below_largest(logs, likelihood, shift)
    np.exp(likelihood, out=likelihood)
    alpha = np.empty((len(seen), logs.shape[1]))
    scale = np.ones(len(seen))
    stuck = recursions.forward(
        bounds, _floats(start), _stack(transition), moves, likelihood, seen, alpha, scale
    )
    return Forward(alpha, scale, shift[seen], likelihood, stuck)


def one_log_likelihood(start, transition, logs, recursion: str = "scaled", **steps) -> float:
    """log p of one sequence; -inf where it is impossible. Arguments as in `posteriors`."""
    length = len(steps.get("seen", logs))
    if length == 0:
        return 0.0
    bounds = np.array([0, length])
    if recursion == "scaled":
        found = scaled_forward(start, transition, logs, bounds, **steps)
        if found.stuck < 0:
            return float(np.log(found.scale).sum() + found.shift.sum())
    return float(logsum(log_alpha(start, transition, logs, bounds, **steps)[-1]))


def posteriors(
    start, transition, logs, bounds, recursion: str = "scaled", *, seen=None, moves=None
) -> Posteriors:
    """Forward and backward passes: log p of each sequence, posteriors of states and pairs.

    Parameters
    ----------
    start : ndarray of shape (n_states,)
    transition : ndarray of shape (n_states, n_states) or (n_kinds, n_states, n_states)
        Weights; they need not be probabilities. Several kinds of steps have a table each.
    logs : ndarray of shape (n_shown, n_states)
        log p(x | k), of all rows end to end, or of the different ones with `seen`.
    bounds : ndarray of int
        Sequence r has the rows bounds[r] to bounds[r + 1].
    recursion : {"scaled", "log"}, default="scaled"
    seen : ndarray of int of shape (n_rows,), default=None
        Which row of `logs` each row is.
    moves : ndarray of int of shape (n_rows,), default=None
        Which kind of step led to each row; that of the first row of a sequence is not used.

    Returns
    -------
    result : Posteriors
    """
    if recursion == "log":
        return _log_posteriors(start, transition, logs, bounds, seen, moves)
    found = scaled_forward(start, transition, logs, bounds, seen, moves)
    if found.stuck >= 0:
        # a state that can be reached may only have underflowed beside one that cannot
        return _log_posteriors(start, transition, logs, bounds, seen, moves)
    tables = _stack(transition)
    gamma = np.empty_like(found.alpha)
    pairs = np.zeros(tables.shape)
    recursions.backward(
        bounds,
        np.ascontiguousarray(np.swapaxes(tables, 1, 2)),
        _all_alike(moves, bounds),
        found.likelihood,
        _one_each(seen, len(logs)),
        found.scale,
        found.alpha,
        gamma,
        pairs,
    )
    pairs *= tables
    steps = np.r_[0.0, np.cumsum(np.log(found.scale) + found.shift)]
    return Posteriors(np.diff(steps[bounds]), gamma, pairs.reshape(np.shape(transition)))


def viterbi(
    start, transition, logs, bounds, *, seen=None, moves=None
) -> tuple[np.ndarray, np.ndarray]:
    """Best paths and their log joint weights; arguments as in `posteriors`."""
    with np.errstate(divide="ignore"):
        return best_log_paths(
            np.log(_floats(start)), np.log(_floats(transition)), logs, bounds, seen, moves
        )


def best_log_paths(
    log_start, log_transition, logs, bounds, seen=None, moves=None
) -> tuple[np.ndarray, np.ndarray]:
    """Best paths and their log joint weights, from logarithms of weights of any size."""
    logs, log_start = _floats(logs), _floats(log_start)
    seen, moves, tables = (
        _one_each(seen, len(logs)),
        _all_alike(moves, bounds),
        _stack(log_transition),
    )
    path = np.empty(len(seen), dtype=np.int64)
    reached = np.empty(len(bounds) - 1)
    n_states = len(log_start)
    if len(tables) == 1 and n_states <= recursions.LANES:
        gap = (0, recursions.LANES - n_states)
        padded = (
            np.pad(log_start, gap, constant_values=-np.inf),
            np.pad(tables[0], (gap, gap), constant_values=-np.inf),
            np.pad(logs, ((0, 0), gap), constant_values=-np.inf) if gap[1] else logs,
        )
        recursions.best_paths_in_lanes(bounds, *padded, seen, path, reached)
    else:
        moves = _all_alike(moves, bounds)
        recursions.best_paths(bounds, log_start, tables, moves, logs, seen, path, reached)
    return path, reached


def several_best(
    log_start, log_transition, logs, n_paths: int, *, seen=None, moves=None
) -> tuple[np.ndarray, np.ndarray]:
    """The best paths of one sequence (n_paths, length), best first, and their log joint weights.

    There are fewer where fewer are possible. Arguments are logarithms, else as in `posteriors`.
    """
    logs = _floats(logs)
    seen = _one_each(seen, len(logs))
    bounds = np.array([0, len(seen)])
    if n_paths < 1 or len(seen) == 0:
        raise DataError("ask for 1 path or more, of a sequence of 1 step or more")
    memory.require(
        8 * n_paths * len(seen) * (1 + logs.shape[1]),
        f"the {n_paths:,} best paths of {len(seen):,} steps",
        "Ask for fewer paths, or cut the sequence.",
    )
    paths = np.empty((n_paths, len(seen)), dtype=np.int64)
    reached = np.empty(n_paths)
    recursions.several_best_paths(
        _floats(log_start),
        _stack(log_transition),
        _all_alike(moves, bounds),
        logs,
        seen,
        paths,
        reached,
    )
    possible = reached > -np.inf
    return paths[possible], reached[possible]


def path_log_joint(start, transition, logs, path, bounds, *, seen=None, moves=None) -> np.ndarray:
    """log p(X, Z) of each sequence for given paths, end to end."""
    seen, moves = _one_each(seen, len(logs)), _all_alike(moves, bounds)
    with np.errstate(divide="ignore"):
        log_start, tables = np.log(start), np.log(_stack(transition))
    shown = logs[seen, path]
    terms = shown.copy()
    terms[1:] += tables[moves[1:], path[:-1], path[1:]]
    found = np.zeros(len(bounds) - 1)
    for r, (first, end) in enumerate(pairwise(bounds)):
        if end > first:
            opening = log_start[path[first]] + shown[first]
            found[r] = opening + terms[first + 1 : end].sum()
    return found


def hard_posteriors(start, transition, logs, bounds, *, seen=None) -> Posteriors:
    """Counts along the best paths, in the place of posteriors."""
    path, joint = viterbi(start, transition, logs, bounds, seen=seen)
    refuse_dead_ends(joint, start, transition, logs, bounds, seen=seen)
    return Posteriors(joint, np.eye(len(start))[path], pair_counts(path, bounds, len(start)))


def pair_counts(path: np.ndarray, bounds: np.ndarray, n_states: int) -> np.ndarray:
    """How often state j was followed by k inside the sequences of a path."""
    within = np.ones(max(len(path) - 1, 0), dtype=bool)
    inner_ends = bounds[1:-1]
    within[inner_ends[(inner_ends > 0) & (inner_ends < len(path))] - 1] = False
    runs = path[:-1][within] * n_states + path[1:][within]
    return np.bincount(runs, minlength=n_states**2).reshape(n_states, n_states).astype(float)


def log_alpha(start, transition, logs, bounds, seen=None, moves=None) -> np.ndarray:
    """Logarithms of the forward weights."""
    with np.errstate(divide="ignore"):
        log_start, tables = np.log(_floats(start)), np.log(_stack(transition))
    logs = _floats(logs)
    seen = _one_each(seen, len(logs))
    found = np.empty((len(seen), logs.shape[1]))
    recursions.log_forward(bounds, log_start, tables, _all_alike(moves, bounds), logs, seen, found)
    return found


def log_beta(transition, logs, bounds, seen=None, moves=None) -> np.ndarray:
    """Logarithms of the backward weights."""
    with np.errstate(divide="ignore"):
        tables = np.log(_stack(transition))
    logs = _floats(logs)
    seen = _one_each(seen, len(logs))
    found = np.empty((len(seen), logs.shape[1]))
    recursions.log_backward(bounds, tables, _all_alike(moves, bounds), logs, seen, found)
    return found


def _log_posteriors(start, transition, logs, bounds, seen, moves) -> Posteriors:
    forwards = log_alpha(start, transition, logs, bounds, seen, moves)
    refuse_impossible(first_dead(forwards), bounds)
    backwards = log_beta(transition, logs, bounds, seen, moves)
    with np.errstate(divide="ignore"):
        tables = np.log(_stack(transition))
    values = np.zeros(len(bounds) - 1)
    gamma = np.empty(forwards.shape)
    pairs = np.zeros(tables.shape)
    recursions.log_sums(
        bounds,
        tables,
        _all_alike(moves, bounds),
        _floats(logs),
        _one_each(seen, len(logs)),
        forwards,
        backwards,
        values,
        gamma,
        pairs,
    )
    return Posteriors(values, gamma, pairs.reshape(np.shape(transition)))


def first_dead(log_alphas: np.ndarray) -> int:
    """The first row that no path explains, or -1."""
    dead = np.flatnonzero(np.isneginf(log_alphas).all(axis=1))
    return int(dead[0]) if len(dead) else -1


def refuse_impossible(stuck: int, bounds: np.ndarray) -> None:
    """Raise an error that names the row which no path explains, if there is one."""
    if stuck < 0:
        return
    r = int(np.searchsorted(bounds, stuck, side="right") - 1)
    raise DataError(
        f"observation {stuck - bounds[r]} of sequence {r} is impossible: no state that can be "
        "reached there shows it. Smooth the probabilities (alpha), or mark it as missing"
    )


def refuse_dead_ends(joint, start, transition, logs, bounds, **steps) -> None:
    """As `refuse_impossible`, where a best path has no weight."""
    if np.isneginf(joint).any():
        refuse_impossible(first_dead(log_alpha(start, transition, logs, bounds, **steps)), bounds)


def logsum(values: np.ndarray) -> float:
    """log sum exp; -inf where all are."""
    largest = values.max()
    return largest if np.isneginf(largest) else largest + np.log(np.exp(values - largest).sum())


def _floats(table: Any) -> np.ndarray:
    return np.ascontiguousarray(table, dtype=np.float64)


def _stack(transition: Any) -> np.ndarray:
    table = _floats(transition)
    return table if table.ndim == 3 else table[None]


def _one_each(seen: Any, count: int) -> np.ndarray:
    return np.arange(count) if seen is None else np.ascontiguousarray(seen, dtype=np.int64)


def _all_alike(moves: Any, bounds: np.ndarray) -> np.ndarray:
    if moves is None:
        return np.zeros(bounds[-1], dtype=np.int64)
    return np.ascontiguousarray(moves, dtype=np.int64)


def _holds_sequences(sequences: Any) -> bool:
    return isinstance(sequences, np.ndarray) and (sequences.ndim > 1 or sequences.dtype == object)
