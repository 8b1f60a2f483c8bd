"""Recurrent cells and back-propagation through time: simple, LSTM and GRU.

A cell turns the row of a step and the state before it into the next state. Parameters have torch's
names, shapes and order of gates, so that weights can be exchanged with it:

- simple: h' = tanh(W_ih x + b_ih + W_hh h + b_hh)
- LSTM: gates i, f, o = sigmoid(...) and g = tanh(...); c' = f c + i g, h' = o tanh(c')
- GRU: r, z = sigmoid(...); n = tanh(W_in x + b_in + r (W_hn h + b_hn)); h' = (1 - z) n + z h

Backward, the gradient of the loss with respect to the state of a step is what its own output asks
for plus what flows back from the step after it.

Texts: 001 9.1 and 004 9 name recurrent networks; Hochreiter and Schmidhuber (1997), Cho et al.
(2014).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

Parameters = dict[str, np.ndarray]


class SimpleCell:
    """h' = tanh(a + b), with a the share of the row and b that of the state."""

    n_gates = 1
    n_states = 1

    @staticmethod
    def forward(a: np.ndarray, b: np.ndarray, states: tuple) -> tuple[tuple, tuple]:
        """The next states, and what the backward step needs."""
        h = np.tanh(a + b)
        return (h,), (h,)

    @staticmethod
    def backward(kept: tuple, slopes: tuple) -> tuple[np.ndarray, np.ndarray, tuple]:
        """Slopes of a, of b, and those that reach the states before without passing b."""
        (h,), (dh,) = kept, slopes
        d = dh * (1 - h**2)
        return d, d, (np.zeros_like(dh),)


class LSTMCell:
    """Long short-term memory; the states are h and c."""

    n_gates = 4
    n_states = 2

    @staticmethod
    def forward(a: np.ndarray, b: np.ndarray, states: tuple) -> tuple[tuple, tuple]:
        """The next states, and what the backward step needs."""
        i, f, g, o = np.split(a + b, 4, axis=1)
        i, f, g, o = expit(i), expit(f), np.tanh(g), expit(o)
        c = f * states[1] + i * g
        squashed = np.tanh(c)
        return (o * squashed, c), (i, f, g, o, squashed, states[1])

    @staticmethod
    def backward(kept: tuple, slopes: tuple) -> tuple[np.ndarray, np.ndarray, tuple]:
        """Slopes of a, of b, and those that reach the states before without passing b."""
        i, f, g, o, squashed, before = kept
        dh, dc = slopes
        dc = dc + dh * o * (1 - squashed**2)
        parts = (
            dc * g * i * (1 - i),
            dc * before * f * (1 - f),
            dc * i * (1 - g**2),
            dh * squashed * o * (1 - o),
        )
        d = np.concatenate(parts, axis=1)
        return d, d, (np.zeros_like(dh), dc * f)


class GRUCell:
    """Gated recurrent unit."""

    n_gates = 3
    n_states = 1

    @staticmethod
    def forward(a: np.ndarray, b: np.ndarray, states: tuple) -> tuple[tuple, tuple]:
        """The next states, and what the backward step needs."""
        (h,) = states
        (ar, az, an), (br, bz, bn) = np.split(a, 3, axis=1), np.split(b, 3, axis=1)
        r, z = expit(ar + br), expit(az + bz)
        n = np.tanh(an + r * bn)
        return ((1 - z) * n + z * h,), (r, z, n, bn, h)

    @staticmethod
    def backward(kept: tuple, slopes: tuple) -> tuple[np.ndarray, np.ndarray, tuple]:
        """Slopes of a, of b, and those that reach the states before without passing b."""
        r, z, n, bn, h = kept
        (dh,) = slopes
        dn = dh * (1 - z) * (1 - n**2)
        dz = dh * (h - n) * z * (1 - z)
        dr = dn * bn * r * (1 - r)
        return (
            np.concatenate((dr, dz, dn), axis=1),
            np.concatenate((dr, dz, dn * r), axis=1),
            (dh * z,),
        )


CELLS: dict[str, Any] = {"simple": SimpleCell, "lstm": LSTMCell, "gru": GRUCell}


class Unrolled(NamedTuple):
    """A layer run over all steps.

    Attributes
    ----------
    outputs : ndarray of shape (n_steps, n, n_units)
        h after each step; that of the last step of a sequence is repeated to the end.
    kept : list of tuple
        What the backward step of each step needs.
    """

    outputs: np.ndarray
    kept: list[tuple]


def layer_shapes(cell: str, n_inputs: int, n_units: int, layer: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the parameters of a layer, as in torch."""
    gates = CELLS[cell].n_gates * n_units
    return {
        f"weight_ih_l{layer}": (gates, n_inputs),
        f"weight_hh_l{layer}": (gates, n_units),
        f"bias_ih_l{layer}": (gates,),
        f"bias_hh_l{layer}": (gates,),
    }


def run_layer(
    cell: str, parameters: Parameters, layer: int, X: np.ndarray, alive: np.ndarray
) -> Unrolled:
    """Run a layer over sequences of different lengths.

    Parameters
    ----------
    cell : {"simple", "lstm", "gru"}
    parameters : dict of str to ndarray
    layer : int
    X : ndarray of shape (n_steps, n, n_inputs)
        Rows of the sequences, step by step; the shorter sequences are padded at their ends.
    alive : ndarray of bool of shape (n_steps, n)
        Which sequences have such a step.

    Returns
    -------
    unrolled : Unrolled
    """
    kind = CELLS[cell]
    weight, bias = parameters[f"weight_hh_l{layer}"].T, parameters[f"bias_hh_l{layer}"]
    inputs = X @ parameters[f"weight_ih_l{layer}"].T + parameters[f"bias_ih_l{layer}"]
    states = tuple(np.zeros((X.shape[1], len(weight))) for _ in range(kind.n_states))
    outputs, kept = np.empty((len(X), X.shape[1], len(weight))), []
    for t in range(len(X)):
        new, cache = kind.forward(inputs[t], states[0] @ weight + bias, states)
        here = alive[t][:, None]
        states = tuple(np.where(here, after, before) for after, before in zip(new, states))
        kept.append(cache)
        outputs[t] = states[0]
    return Unrolled(outputs, kept)


def unroll_back(
    cell: str,
    parameters: Parameters,
    layer: int,
    X: np.ndarray,
    alive: np.ndarray,
    run: Unrolled,
    slopes: np.ndarray,
) -> tuple[np.ndarray, Parameters]:
    """Back-propagation through time of one layer.

    Parameters
    ----------
    cell, parameters, layer, X, alive
        As given to `run_layer`.
    run : Unrolled
        What it returned.
    slopes : ndarray of shape (n_steps, n, n_units)
        Slopes of the loss with respect to the outputs.

    Returns
    -------
    of_inputs : ndarray of shape (n_steps, n, n_inputs)
    of_parameters : dict of str to ndarray
    """
    kind = CELLS[cell]
    weight = parameters[f"weight_hh_l{layer}"]
    n_steps, n, n_units = slopes.shape
    of_rows = np.empty((n_steps, n, len(weight)))
    of_states = np.empty_like(of_rows)
    back = tuple(np.zeros((n, n_units)) for _ in range(kind.n_states))
    for t in range(n_steps - 1, -1, -1):
        here = alive[t][:, None]
        back = (back[0] + slopes[t], *back[1:])
        reaching = tuple(np.where(here, each, 0.0) for each in back)
        of_rows[t], of_states[t], direct = kind.backward(run.kept[t], reaching)
        passed = (direct[0] + of_states[t] @ weight, *direct[1:])
        back = tuple(np.where(here, through, around) for through, around in zip(passed, back))
    before = np.concatenate([np.zeros((1, n, n_units)), run.outputs[:-1]])
    flat = of_states.reshape(-1, len(weight))
    gradient = {
        f"weight_ih_l{layer}": of_rows.reshape(-1, len(weight)).T @ X.reshape(n_steps * n, -1),
        f"weight_hh_l{layer}": flat.T @ before.reshape(n_steps * n, -1),
        f"bias_ih_l{layer}": of_rows.sum(axis=(0, 1)),
        f"bias_hh_l{layer}": flat.sum(axis=0),
    }
    return of_rows @ parameters[f"weight_ih_l{layer}"], gradient
