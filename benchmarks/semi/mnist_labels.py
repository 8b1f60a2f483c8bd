"""Few labels on MNIST: accuracy over draws of labels, and time and memory against scikit-learn.

python benchmarks/semi/mnist_labels.py [n_rows] [n_draws] prints, for 1, 3, 5 and 10 labels per
class, the mean accuracy on the unlabeled rows of 1-NN, LabelSpreading(kernel="knn"),
HarmonicLabelPropagation and PoissonLearning; then the time of a fit of LabelSpreading and of
ours, interleaved.
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
from sklearn.pipeline import make_pipeline

from gnomon.neighbors import KNeighborsClassifier
from gnomon.reduce import PCA
from gnomon.semi import HarmonicLabelPropagation, LabelSpreading, PoissonLearning
from gnomon.semi import graph as graphs

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
    """Seconds and peak megabytes of a fit."""
    tracemalloc.start()
    begin = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - begin
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return seconds, peak


def main(n_rows: int, n_draws: int) -> None:
    with np.load(DATA) as file:
        X = file["train_images"][:n_rows].reshape(n_rows, -1) / 255.0
        truth = file["train_labels"][:n_rows].astype(int)
    rng = np.random.default_rng(0)
    warnings.simplefilter("ignore")
    y = np.full(n_rows, -1)
    for c in range(10):
        y[rng.choice(np.flatnonzero(truth == c), 10, replace=False)] = c
    for name, model in (
        ("sklearn LabelSpreading(knn)", semi_supervised.LabelSpreading("knn", n_jobs=-1)),
        ("LabelSpreading(knn)", LabelSpreading("knn")),
        ("HarmonicLabelPropagation", HarmonicLabelPropagation(7)),
        ("PCA(50), HarmonicLabelPropagation", make_pipeline(PCA(50), HarmonicLabelPropagation(7))),
    ):
        seconds, peak = timed(model, X, y)
        print(f"{name}: {seconds:.1f} s, peak {peak:,.0f} MB", flush=True)

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
