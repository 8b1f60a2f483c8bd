"""Duels of hidden Markov models with hmmlearn."""

from __future__ import annotations

import importlib.util
from functools import partial

import numpy as np

from benchmarks.duels.duel import Duel

STATES = 8
STEPS = 10


def absent(package: str) -> str:
    """Why a duel cannot be held here."""
    return "" if importlib.util.find_spec(package) else f"{package} is not installed"


def series(n_rows: int) -> dict[str, np.ndarray]:
    """Symbols of a chain of eight states, and a random start for both sides."""
    rng = np.random.default_rng(0)
    states = np.repeat(rng.integers(0, STATES, n_rows // 10 + 1), 10)[:n_rows]
    table = rng.dirichlet(np.full(12, 0.3), STATES)
    return {
        "symbols": (table.cumsum(axis=1)[states] < rng.random(n_rows)[:, None])
        .sum(axis=1)
        .clip(0, 11),
        "transition": rng.dirichlet(np.ones(STATES), STATES),
        "emission": rng.dirichlet(np.ones(12), STATES),
    }


def ours(data: dict[str, np.ndarray]) -> float:
    """Ten steps of Baum-Welch; the log-likelihood reached."""
    import warnings

    from gnomon.engine.errors import GnomonWarning
    from gnomon.sequence import CategoricalEmission, HiddenMarkovModel

    model = HiddenMarkovModel(
        emission=CategoricalEmission(data["emission"]),
        start=np.full(STATES, 1 / STATES),
        transition=data["transition"],
        max_iter=STEPS,
        tol=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return model.fit([data["symbols"]]).history_[-1]


def theirs(data: dict[str, np.ndarray]) -> float:
    """The same by hmmlearn, with its scaled recursions."""
    from hmmlearn.hmm import CategoricalHMM

    model = CategoricalHMM(
        STATES, n_iter=STEPS, tol=-np.inf, init_params="", implementation="scaling"
    )
    model.startprob_ = np.full(STATES, 1 / STATES)
    model.transmat_ = data["transition"]
    model.emissionprob_ = data["emission"]
    symbols = data["symbols"][:, None]
    return model.fit(symbols).score(symbols)


def reached(result: float, data: dict[str, np.ndarray]) -> float:
    return result


Duel(
    name=f"Baum-Welch, {STATES} states, 12 symbols, {STEPS} steps",
    peer="hmmlearn CategoricalHMM",
    data=series,
    ours=ours,
    theirs=theirs,
    quality=reached,
    sizes=(10**4, 2 * 10**5),
    bar=2.0,
    missing=partial(absent, "hmmlearn"),
)
