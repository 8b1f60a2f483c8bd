"""Few labels on MNIST: accuracy over draws of labels, and time and memory against scikit-learn.

python benchmarks/semi/mnist_labels.py [n_rows] [n_draws] prints, for 1, 3, 5 and 10 labels per
class, the mean accuracy on the unlabeled rows of 1-NN, LabelSpreading, HarmonicLabelPropagation and
PoissonLearning; before that the time of a fit of scikit-learn's LabelSpreading(kernel="knn") and of
ours, and how far conjugate gradients are from the direct solve of the same 4,000 rows. n_draws = 0
prints the times only. Processor seconds count all threads.
Needs ../shared/data/mnist.npz.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
from sklearn import semi_supervised

from gnomon.neighbors import KNeighborsClassifier
from gnomon.semi import HarmonicLabelPropagation, LabelSpreading, PoissonLearning
from gnomon.semi import graph as graphs
from gnomon.semi.harmonic import System

DATA = Path(__file__).parents[2] / "../shared/data/mnist.npz"


def once_per_table(search):
    """The neighbors of the same rows in another order are put in that order, not searched again."""
    kept: dict[tuple, tuple] = {}

    def found(self, *args):
        k = args[0] if isinstance(args[0], int) else args[1]
        mark = self.stored @ np.sqrt(np.arange(2.0, self.stored.shape[1] + 2))
        order = np.argsort(mark, kind="stable")
        key = (search.__name__, k, len(order))
        if key not in kept:
            kept[key] = (order, search(self, *args))
        before, result = kept[key]
        here, there = np.empty_like(order), np.empty_like(order)
        here[order], there[before] = before, order  # row i here was row here[i] then
        return type(result)(result.distances[here], there[result.indices[here]])

    return found


def timed(model, X, y) -> tuple[float, float]:
    """Processor seconds and seconds of a fit."""
    processor, begin = time.process_time(), time.perf_counter()
    model.fit(X, y)
    return time.process_time() - processor, time.perf_counter() - begin


def solver_error(X, y) -> float:
    """The largest difference of a value by conjugate gradients from the direct solve."""
    by = [
        HarmonicLabelPropagation(solver=solver, class_prior=None).fit(X, y).label_distributions_
        for solver in ("cg", "direct")
    ]
    return float(np.abs(by[0] - by[1]).max())


def solver_memory(X, y) -> tuple[float, float]:
    """Megabytes of the graph, and the peak of what a solve allocates beyond it."""
    rows = graphs.index_of(X, "euclidean")
    edges = graphs.neighbor_edges(rows.others(10))
    graph = (edges.data.nbytes + edges.indices.nbytes + edges.indptr.nbytes) / 1e6
    points = graphs.Points(X, np.ones(len(y)), y, np.arange(len(y)), 10)
    tracemalloc.start()
    system = System.of(edges, points, np.ones(len(y), dtype=bool))
    system.by_conjugate_gradients(10, 1e-10, lambda *_: False)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return graph, peak


def main(n_rows: int, n_draws: int) -> None:
    with np.load(DATA) as file:
        X = file["train_images"][:n_rows].reshape(n_rows, -1) / 255.0
        truth = file["train_labels"][:n_rows].astype(int)
    rng = np.random.default_rng(0)
    warnings.simplefilter("ignore")
    y = np.full(n_rows, -1)
    for c in range(10):
        y[rng.choice(np.flatnonzero(truth == c), 10, replace=False)] = c
    peer = timed(semi_supervised.LabelSpreading("knn", n_jobs=-1), X, y)
    print(f"sklearn LabelSpreading(knn): {peer[0]:.1f} processor s, {peer[1]:.1f} s", flush=True)
    for name, model in (
        ("LabelSpreading(knn)", LabelSpreading("knn")),
        ("HarmonicLabelPropagation", HarmonicLabelPropagation(7)),
        ("PoissonLearning", PoissonLearning(7)),
    ):
        model.fit(X[:3000], y[:3000])  # compiles kernels
        ours = timed(model, X, y)
        print(
            f"{name}: {ours[0]:.1f} processor s ({peer[0] / ours[0]:.1f}x), {ours[1]:.1f} s "
            f"({peer[1] / ours[1]:.1f}x)",
            flush=True,
        )
    print(f"conjugate gradients and direct solve: {solver_error(X[:4000], y[:4000]):.1e}")
    graph, peak = solver_memory(X, y)
    print(f"graph {graph:.1f} MB, solve at most {peak:.1f} MB beyond it", flush=True)
    if not n_draws:
        return

    index = graphs.NeighborIndex
    index.others, index.search = once_per_table(index.others), once_per_table(index.search)
    for per_class in (1, 3, 5, 10):
        scores: dict[str, list[float]] = {}
        for _ in range(n_draws):
            y = np.full(n_rows, -1)
            for c in range(10):
                y[rng.choice(np.flatnonzero(truth == c), per_class, replace=False)] = c
            free = y < 0
            one = KNeighborsClassifier(1).fit(X[~free], y[~free])
            found = {"1-NN": one.predict(X[free])}
            for name, model in (
                ("LabelSpreading", LabelSpreading("knn", n_neighbors=10)),
                ("LabelSpreading alpha .99", LabelSpreading("knn", n_neighbors=10, alpha=0.99)),
                ("harmonic", HarmonicLabelPropagation(class_prior=None, tol=1e-6)),
                ("harmonic, class mass", HarmonicLabelPropagation(tol=1e-6)),
                ("Poisson", PoissonLearning()),
            ):
                found[name] = model.fit(X, y).transduction_[free]
            for name, labels in found.items():
                scores.setdefault(name, []).append(float((labels == truth[free]).mean()))
        row = "  ".join(f"{name} {100 * np.mean(s):.1f}" for name, s in scores.items())
        print(f"{per_class} labels per class: {row}", flush=True)


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    main(*(given + [60_000, 20][len(given) :]))
