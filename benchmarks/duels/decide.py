"""Fronts of several goals against pymoo's NSGA-II: the same evaluations, hypervolume as quality."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.duels.duel import Duel
from gnomon.decide import hypervolume, non_dominated, nsga2

REFERENCE = {"zdt1": [1.1, 1.1], "zdt2": [1.1, 1.1], "zdt3": [1.1, 1.1], "dtlz2": [1.1] * 3}
VARIABLES = {"zdt1": 30, "zdt2": 30, "zdt3": 30, "dtlz2": 12}


class Problem(NamedTuple):
    name: str
    evaluations: int


def goals(name: str, x: np.ndarray) -> np.ndarray:
    """The goals of a table of points."""
    if name == "dtlz2":
        g = 1 + ((x[:, 2:] - 0.5) ** 2).sum(axis=1)
        a, b = np.cos(x[:, :2] * np.pi / 2).T, np.sin(x[:, :2] * np.pi / 2).T
        return g[:, None] * np.column_stack([a[0] * a[1], a[0] * b[1], b[0]])
    f, g = x[:, 0], 1 + 9 * x[:, 1:].mean(axis=1)
    h = {
        "zdt1": 1 - np.sqrt(f / g),
        "zdt2": 1 - (f / g) ** 2,
        "zdt3": 1 - np.sqrt(f / g) - f / g * np.sin(10 * np.pi * f),
    }[name]
    return np.column_stack([f, g * h])


def ours(problem: Problem) -> np.ndarray:
    found = nsga2(
        lambda x: goals(problem.name, x),
        [[0, 1]] * VARIABLES[problem.name],
        vectorized=True,
        max_evaluations=problem.evaluations,
        random_state=1,
    )
    return found.values


def theirs(problem: Problem) -> np.ndarray:
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import Problem as Theirs
    from pymoo.optimize import minimize

    class Same(Theirs):
        def __init__(self):
            n = VARIABLES[problem.name]
            super().__init__(n_var=n, n_obj=len(REFERENCE[problem.name]), xl=0.0, xu=1.0)

        def _evaluate(self, x, out, *args, **kwargs):
            out["F"] = goals(problem.name, x)

    found = minimize(Same(), NSGA2(pop_size=100), ("n_eval", problem.evaluations), seed=1)
    return found.F


def covered(name: str):
    return lambda front, problem: hypervolume(front, REFERENCE[name])


for each in REFERENCE:
    Duel(
        name=f"NSGA-II, {each}, population 100",
        peer="pymoo NSGA2",
        data=lambda n, name=each: Problem(name, n),
        ours=ours,
        theirs=theirs,
        quality=covered(each),
        tolerance=0.01,
        sizes=(20_000,),
        repeats=3,
    )

Duel(
    name="non-dominated rows of three goals, on a sphere",
    peer="pymoo NonDominatedSorting",
    data=lambda n: (
        -np.abs(
            (lambda v: v / np.linalg.norm(v, axis=1, keepdims=True))(
                np.random.default_rng(0).normal(size=(n, 3))
            )
        )
    ),
    ours=lambda values: np.flatnonzero(non_dominated(values)),
    theirs=lambda values: (
        __import__("pymoo.util.nds.non_dominated_sorting", fromlist=["x"])
        .NonDominatedSorting()
        .do(values, only_non_dominated_front=True)
    ),
    quality=lambda front, values: float(len(front)),
    tolerance=1e-9,
    sizes=(5_000,),
    repeats=3,
)
