"""Two threads against two worker processes, for a machine that does nothing else.

``python -m benchmarks.workers [--rows 10000000] [--dask-ml PYTHON]`` prints one line for each
comparison; PYTHON is an interpreter that has dask-ml.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from functools import partial
from statistics import median

import numpy as np

import gnomon
from gnomon.cluster import KMeans
from gnomon.cluster.nearest import Centers
from gnomon.distributed import local
from gnomon.engine.sums import ArraySource, add_up
from gnomon.engine.threads import Crew
from gnomon.evaluate import cross_validation_estimates
from gnomon.trees import (
    RandomForestClassifier,
    boosting_workers,
    losses,
)
from gnomon.trees.binning import Binner
from gnomon.trees.boosting_grower import BoostingRules, PackedTable
from gnomon.trees.boosting_rounds import NONE, Booster, Target

PASSES, TREES, FOLDS = 5, 5, 8
# dask-ml's Lloyd's passes from the same start, timed after the rows are on the workers
DASK_ML = """
import sys, time, warnings
warnings.simplefilter("ignore")
def main(rows, passes):
    import dask.array as da
    import numpy as np
    from dask_ml.cluster import KMeans
    from distributed import Client, LocalCluster, wait
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster):
            X = da.random.default_rng(0).normal(size=(rows, 20), chunks=(rows // 8, 20)).persist()
            wait(X)
            start = np.random.default_rng(0).normal(size=(8, 20))
            KMeans(8, init=start, max_iter=1, tol=0).fit(X)
            seconds = []
            for n in (1, 1 + passes):
                begin = time.perf_counter()
                KMeans(8, init=start, max_iter=n, tol=0).fit(X)
                seconds.append(time.perf_counter() - begin)
            print((seconds[1] - seconds[0]) / passes)
if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
"""


def seconds_of(work) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def in_turns(works: dict, repeats: int) -> dict[str, float]:
    """Median seconds of each, after one call that is not counted."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeats + 1):
        for name, work in works.items():
            seconds = seconds_of(work)
            if turn:
                found[name].append(seconds)
    return {name: median(each) for name, each in found.items()}


def products(chunk):
    return (chunk.rows.T @ chunk.rows,)


def passes(cluster, X) -> dict[str, float]:
    """Seconds of a pass on workers, by name."""
    model = KMeans(8, bounds="none", init=X[:8], max_iter=1)
    state = {"centers": Centers.at(X[:8].copy(), X[:1000].mean(axis=0))}
    on_workers = {}
    for name, function in {"k-means": partial(model._sums, state), "products": products}.items():
        source = ArraySource(X)

        def remote(function=function, source=source):
            with gnomon.config(executor=cluster):
                add_up(function, source)

        found = in_turns(
            {"threads": lambda f=function, s=source: add_up(f, s, 2), "workers": remote}, PASSES
        )
        moved = moved_by(cluster, remote)
        on_workers[name] = found["workers"]
        report(f"a pass of {name}", found, moved / X.nbytes)
    return on_workers


def moved_by(cluster, work) -> float:
    before = cluster.bytes_moved()
    work()
    return cluster.bytes_moved() - before


def report(name: str, found: dict[str, float], share: float | None = None) -> None:
    ratio = found["workers"] / found["threads"]
    moved = "" if share is None else f", moved {100 * share:.3f} % of the rows"
    print(
        f"{name}: threads {found['threads']:.3f} s, workers {found['workers']:.3f} s, "
        f"ratio {ratio:.2f}{moved}",
        flush=True,
    )


def boosting(cluster, X) -> None:
    """Seconds of a round of boosting (a tree of 31 leaves)."""
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2])
    table = PackedTable.of(Binner().fit(X).transform(X))
    target, loss, rules = Target(y, NONE, None), losses.SquaredError(), BoostingRules()
    baseline = loss.begin(y, np.ones(len(y)))
    given = (table, target, loss, baseline)
    with Crew(2) as crew:
        here = Booster(*given, crew, rules, 0.1)
        there = boosting_workers.ClusterBooster(cluster, *given, rules, 0.1)
        here.derive()
        there.derive()

        def round_of(booster):
            booster.round(NONE, [0])
            return booster.derive()

        found = in_turns(
            {"threads": lambda: round_of(here), "workers": lambda: round_of(there)}, TREES
        )
        moved = moved_by(cluster, lambda: round_of(there))
        round_of(here)
        assert round_of(here) == round_of(there), "the losses differ"
    report("a round of boosting", found, moved / X.nbytes)


def folds() -> None:
    """Folds of a forest on one worker and on two."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 10))
    y = (X[:, 0] + rng.normal(size=4000) > 0).astype(int)
    forest = RandomForestClassifier(200, random_state=0, n_jobs=1)
    # without the five further fits of an interval: 13 fits on two workers gain 1.86 at most
    options = {"cv": FOLDS, "pair_fits": 0, "random_state": 0}
    score = partial(cross_validation_estimates, forest, X, y, **options)
    seconds = {}
    for n in (1, 2):
        with local(n) as cluster, gnomon.config(executor=cluster):
            score()
            seconds[n] = median(seconds_of(score) for _ in range(PASSES))
    print(
        f"{FOLDS} folds of a forest: one worker {seconds[1]:.2f} s, two {seconds[2]:.2f} s, "
        f"{seconds[1] / seconds[2]:.2f} times as fast",
        flush=True,
    )


# Half of the folds above in a process of its own, without Dask or gnomon's threads.
ALONE = """
import sys, time
import numpy as np
from gnomon.evaluate import cross_validation_estimates
from gnomon.trees import RandomForestClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 10))
y = (X[:, 0] + rng.normal(size=4000) > 0).astype(int)
forest = RandomForestClassifier(200, random_state=0, n_jobs=1)
def work(): cross_validation_estimates(forest, X, y, cv=4, random_state=0, n_jobs=1)
work()
print("ready", flush=True)
sys.stdin.readline()
begin, used = time.perf_counter(), time.process_time()
work()
print(time.perf_counter() - begin, time.process_time() - used)
"""


def independent() -> None:
    """What the machine itself allows: the same work in one process, and in two at once."""
    found = {}
    for n in (1, 2):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        running = [subprocess.Popen([sys.executable, "-c", ALONE], **pipes) for _ in range(n)]
        for process in running:
            process.stdout.readline()
        for process in running:
            process.stdin.write("\n")
            process.stdin.flush()
        times = [process.communicate()[0].split() for process in running]
        found[n] = [max(float(each[place]) for each in times) for place in (0, 1)]
    (one, one_used), (two, two_used) = found[1], found[2]
    print(
        f"independent processes: one {one:.2f} s ({one_used:.2f} s of processor), each of two "
        f"{two:.2f} s ({two_used:.2f} s), {2 * one / two:.2f} times as much work in a second "
        f"({2 * one_used / two_used:.2f} by processor time)",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--limit", action="store_true", help="only the machine's own limit")
    parser.add_argument("--dask-ml", metavar="PYTHON", help="an interpreter that has dask-ml")
    options = parser.parse_args()
    if options.limit:
        independent()
        return
    X = np.random.default_rng(0).normal(size=(options.rows, 20))
    with local(2) as cluster:
        ours = passes(cluster, X)
        boosting(cluster, X)
    folds()
    independent()
    if options.dask_ml:
        words = [options.dask_ml, "-c", DASK_ML, str(options.rows), str(PASSES)]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            print(f"dask-ml failed: {done.stderr.strip().splitlines()[-1]}")
            return
        theirs = float(done.stdout.split()[-1])
        print(
            f"a pass of k-means: dask-ml {theirs:.3f} s, gnomon {ours['k-means']:.3f} s, "
            f"{theirs / ours['k-means']:.2f} times as fast"
        )


if __name__ == "__main__":
    main()
