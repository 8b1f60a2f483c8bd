"""Optimizers against SciPy, Clarabel, cma and optuna.

As duels: dense quadratic programs and differential evolution. The other figures that the optimizers
are held to (cost per evaluation, seeds that reach an optimum, evaluations to targets of BBOB,
regret of Bayesian optimization) are no times of one call: ``python -m benchmarks.duels.optimize``
prints them; with ``--long`` it takes the full numbers of seeds.
"""

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import differential_evolution, quadratic_assignment, rosen

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import SEED
from gnomon.optimize import Integer, Permutation, QuadraticAssignment, minimize, quadratic_program


class Program(NamedTuple):
    P: np.ndarray
    q: np.ndarray
    G: np.ndarray
    h: np.ndarray


def program(n: int, seed: int = SEED) -> Program:
    """A dense convex program with 2 n inequalities."""
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(n, n))
    G, x = rng.normal(size=(2 * n, n)), rng.normal(size=n)
    return Program(M @ M.T / n, rng.normal(size=n), G, G @ x + rng.random(2 * n))


def by_clarabel(task: Program) -> np.ndarray:
    import clarabel
    from scipy import sparse

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(task.P)),
        task.q,
        sparse.csc_matrix(task.G),
        task.h,
        [clarabel.NonnegativeConeT(len(task.h))],
        settings,
    )
    return np.array(solver.solve().x)


def objective(x: np.ndarray, task: Program) -> float:
    return float(x @ task.P @ x / 2 + task.q @ x)


Duel(
    name="dense quadratic program, 2 n inequalities (size: n)",
    peer="Clarabel",
    data=program,
    ours=lambda task: quadratic_program(*task).x,
    theirs=by_clarabel,
    quality=objective,
    tolerance=1e-7,
    higher_is_better=False,
    sizes=(50, 200),
    bar=0.5,
)

Duel(
    name="differential evolution, Rosenbrock in 5 columns (size: evaluations)",
    peer="scipy differential_evolution",
    data=lambda n: n,
    ours=lambda n: minimize(rosen, [(-3, 3)] * 5, "de", max_evaluations=n, random_state=0).fun,
    theirs=lambda n: (
        differential_evolution(
            rosen, [(-3, 3)] * 5, maxiter=n // 75 - 1, tol=0, polish=False, rng=0
        ).fun
    ),
    quality=lambda fun, n: float(np.log10(max(fun, 1e-8))),
    tolerance=0.5,
    higher_is_better=False,
    sizes=(15_000,),
)


def overhead(n: int = 1000) -> None:
    """Milliseconds per evaluation of a free objective in 10 columns."""
    free = float
    for method in (
        "random",
        "annealing",
        "affine-shaker",
        "nelder-mead",
        "cma-es",
        "de",
        "evolution",
    ):
        begin = time.perf_counter()
        minimize(lambda x: free(x[0]), [(-1, 1)] * 10, method, max_evaluations=n, random_state=0)
        print(f"overhead {method}: {(time.perf_counter() - begin) / n * 1e3:.3f} ms per evaluation")
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    begin = time.perf_counter()
    study.optimize(lambda t: sum(t.suggest_float(str(j), -1, 1) for j in range(10)), n_trials=n)
    print(f"overhead optuna TPE: {(time.perf_counter() - begin) / n * 1e3:.3f} ms per evaluation")


def rastrigin(x: np.ndarray) -> float:
    return 10 * len(x) + float((x * x - 10 * np.cos(2 * np.pi * x)).sum())


def seeds_on_rastrigin(n_seeds: int = 50) -> None:
    """Seeds that reach the optimum of Rastrigin in two columns within 5,000 evaluations."""
    for method in ("affine-shaker", "annealing"):
        runs = [
            minimize(
                rastrigin,
                [(-5.12, 5.12)] * 2,
                method,
                max_evaluations=5000,
                target=1e-6,
                random_state=seed,
            )
            for seed in range(n_seeds)
        ]
        reached = sum(run.fun <= 1e-6 for run in runs)
        counts = np.median([run.nfev for run in runs])
        print(f"Rastrigin {method}: {reached} of {n_seeds} seeds, median {counts:.0f} evaluations")


# QAPLIB's chr12c (Christofides and Benavent 1989): edges of the tree of flows, upper distances
FLOWS = ((0, 1, 90), (0, 2, 10), (1, 3, 23), (2, 4, 43), (3, 5, 88), (4, 6, 26), (5, 7, 16),
         (6, 8, 1), (7, 9, 96), (8, 10, 29), (9, 11, 37))  # fmt: skip
DISTANCES = (
    (36, 54, 26, 59, 72, 9, 34, 79, 17, 46, 95), (73, 35, 90, 58, 30, 78, 35, 44, 79, 36),
    (21, 10, 97, 58, 66, 69, 61, 54, 63), (93, 12, 46, 40, 37, 48, 68, 85),
    (64, 5, 29, 76, 16, 5, 76), (96, 55, 38, 54, 0, 34), (83, 35, 11, 56, 37), (44, 12, 15, 80),
    (64, 39, 33), (70, 86), (18,),
)  # fmt: skip
OPTIMUM = 11156


def assignment(n_seeds: int = 50) -> None:
    """Seeds in which tabu search finds the optimum of chr12c within 1 s."""
    flow, distance = np.zeros((2, 12, 12))
    for i, j, weight in FLOWS:
        flow[i, j] = flow[j, i] = weight
    for i, row in enumerate(DISTANCES):
        distance[i, i + 1 :] = distance[i + 1 :, i] = row
    cost = QuadraticAssignment(flow, distance)
    cost.neighbor_values(np.arange(12))  # compiles the kernel
    runs = [
        minimize(
            cost,
            Permutation(12),
            "tabu",
            max_evaluations=None,
            max_seconds=1.0,
            target=OPTIMUM,
            random_state=seed,
        )
        for seed in range(n_seeds)
    ]
    reached = sum(run.fun == OPTIMUM for run in runs)
    counts = np.median([run.nfev for run in runs])
    print(f"chr12c: {reached} of {n_seeds} seeds within 1 s, median {counts:.0f} evaluations")


def generated_assignments(n_instances: int = 5, n: int = 20) -> None:
    """Cost reached on random instances in 3 s, against SciPy's 2-opt from random starts in 3 s."""
    for number in range(n_instances):
        rng = np.random.default_rng(number)
        flow = rng.integers(0, 10, (n, n)) * (rng.random((n, n)) < (number + 1) / n_instances)
        if number % 2:  # places on a grid, as in Nugent's instances
            places = np.column_stack(np.divmod(np.arange(n), 5))
            distance = np.abs(places[:, None] - places).sum(axis=2)
        else:
            distance = rng.integers(0, 10, (n, n))
        ours = minimize(
            QuadraticAssignment(flow, distance),
            Permutation(n),
            "tabu",
            max_evaluations=None,
            max_seconds=3.0,
            random_state=number,
        )
        theirs, begin = np.inf, time.perf_counter()
        while time.perf_counter() - begin < 3.0:
            found = quadratic_assignment(flow, distance, method="2opt", options={"rng": rng})
            theirs = min(theirs, found.fun)
        print(f"assignment {number}: tabu {ours.fun:.0f}, SciPy 2-opt restarted {theirs:.0f}")


def bbob(n_seeds: int = 1, budget: int = 10_000) -> None:
    """Evaluations to the hardest common target of BBOB in 5 columns, ours over cma's."""
    import cma
    import ioh

    targets = 10.0 ** np.arange(2, -9, -1.0)
    ratios = []
    for number in range(1, 25):
        ours, theirs = [], []
        for seed in range(n_seeds):
            problem = ioh.get_problem(number, 1, 5, ioh.ProblemClass.BBOB)
            optimum = problem.optimum.y
            run = minimize(
                lambda x, problem=problem: problem(x.tolist()),
                [(-5, 5)] * 5,
                "cma-es",
                max_evaluations=budget,
                target=optimum + 1e-8,
                random_state=seed,
            )
            ours.append(run.history.best - optimum)
            problem = ioh.get_problem(number, 1, 5, ioh.ProblemClass.BBOB)
            values: list[float] = []

            def told(x, problem=problem, values=values):
                values.append(problem(list(x)))
                return values[-1]

            settings = {
                "verbose": -9,
                "maxfevals": budget,
                "seed": seed + 1,
                "ftarget": optimum + 1e-8,
                "bounds": [-5, 5],
            }
            start = np.random.default_rng(seed).uniform(-4, 4, 5)
            cma.fmin2(told, start, 3.0, settings, restarts=9)
            theirs.append(np.minimum.accumulate(values)[:budget] - optimum)
        both = [
            t
            for t in targets
            if all(each[-1] <= t for each in ours) and all(e[-1] <= t for e in theirs)
        ]
        if both:
            hard = min(both)
            counts = [
                np.mean([np.argmax(each <= hard) + 1 for each in side]) for side in (ours, theirs)
            ]
            ratios.append(counts[0] / counts[1])
            print(f"BBOB f{number}: target {hard:g}, ours {counts[0]:.0f}, cma {counts[1]:.0f}")
    print(f"BBOB: median ratio of evaluations {np.median(ratios):.2f} over {len(ratios)} functions")


def branin(a: float, b: float) -> float:
    valley = b - 5.1 / (4 * np.pi**2) * a * a + 5 / np.pi * a - 6
    return float(valley**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10)


HARTMANN_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
HARTMANN = {
    3: (
        np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]]),
        np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]),
    ),
    6: (
        np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14],
                  [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]),
        np.array([[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
                  [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]),
    ),
}  # fmt: skip


def hartmann(*x: float) -> float:
    scales, centers = HARTMANN[len(x)]
    return float(-HARTMANN_WEIGHTS @ np.exp(-(scales * (x - centers / 1e4) ** 2).sum(axis=1)))


SHIFTS = {"low": 0.0, "middle": 3.0, "high": 8.0}
POWERS = {"one": 1.0, "two": 0.8, "three": 1.1, "four": 0.6}


def mixed_branin(a: float, b: int, kind: str) -> float:
    """One real number, one whole number, one of three categories."""
    return branin(a - SHIFTS[kind] / 4, b) + SHIFTS[kind]


def mixed_hartmann(a: float, b: float, c: int, kind: str) -> float:
    """Two real numbers, one whole number, one of four categories."""
    return POWERS[kind] * hartmann(a, b, c / 20)


class Problem(NamedTuple):
    """A function of named values, its space (real, whole, categories) and its least value."""

    name: str
    function: Callable[..., float]
    space: dict[str, Any]
    least: float


PROBLEMS = (
    Problem("Branin", branin, {"a": (-5.0, 10.0), "b": (0.0, 15.0)}, 0.39788736),
    Problem("Hartmann-3", hartmann, {c: (0.0, 1.0) for c in "abc"}, -3.86278215),
    Problem("Hartmann-6", hartmann, {c: (0.0, 1.0) for c in "abcdef"}, -3.32236801),
    Problem(
        "mixed Branin",
        mixed_branin,
        {"a": (-5.0, 10.0), "b": Integer(0, 15), "kind": list(SHIFTS)},
        min(mixed_branin(a, b, "low") for a in np.linspace(-5, 10, 3001) for b in range(16)),
    ),
    Problem(
        "mixed Hartmann",
        mixed_hartmann,
        {"a": (0.0, 1.0), "b": (0.0, 1.0), "c": Integer(0, 20), "kind": list(POWERS)},
        -4.24837308,
    ),
)


def regret_of_ours(problem: Problem, seed: int) -> tuple[float, float]:
    """Regret after 30 evaluations, and seconds per proposal."""
    begin = time.perf_counter()
    run = minimize(
        lambda point: problem.function(*point.values()),
        problem.space,
        "bayesian-optimization",
        max_evaluations=30,
        random_state=seed,
    )
    return run.fun - problem.least, (time.perf_counter() - begin) / 30


def regret_of_optuna(problem: Problem, seed: int) -> float:
    """Regret of GPSampler after 30 evaluations."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial: Any) -> float:
        values = []
        for name, kind in problem.space.items():
            if isinstance(kind, Integer):
                values.append(trial.suggest_int(name, kind.low, kind.high))
            elif isinstance(kind, tuple):
                values.append(trial.suggest_float(name, *kind))
            else:
                values.append(trial.suggest_categorical(name, kind))
        return problem.function(*values)

    study = optuna.create_study(sampler=optuna.samplers.GPSampler(seed=seed))
    study.optimize(objective, n_trials=30)
    return study.best_value - problem.least


def regret(n_seeds: int = 3) -> None:
    """Median regret after 30 evaluations, ours and optuna's GPSampler."""
    for problem in PROBLEMS:
        ours, seconds = zip(*(regret_of_ours(problem, seed) for seed in range(n_seeds)))
        theirs = [regret_of_optuna(problem, seed) for seed in range(n_seeds)]
        print(
            f"{problem.name}: median regret {np.median(ours):.3g}, optuna {np.median(theirs):.3g}; "
            f"{np.median(seconds):.3f} s per proposal"
        )


if __name__ == "__main__":
    long = "--long" in sys.argv
    overhead()
    seeds_on_rastrigin()
    assignment(n_seeds=50 if long else 10)
    generated_assignments()
    bbob(n_seeds=5 if long else 1)
    regret(n_seeds=30 if long else 3)
