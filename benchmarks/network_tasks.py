"""What networks reach on MNIST and on defaults of credit cards: figures against simple learners.

``python -m benchmarks.networks DATA credit small denoise flat_map vae generate few`` runs them;
each prints its figure, the bar and the processor time. DATA holds mnist.npz and
credit_default.csv.gz.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np

from gnomon.neural import (
    Autoencoder,
    MLPClassifier,
    PretrainedClassifier,
    VariationalAutoencoder,
    corrupt_rows,
    mode_collapse_check,
)

TASKS: dict[str, Callable[[str], None]] = {}


def task(function: Callable[[str], None]) -> Callable[[str], None]:
    """Register a figure under the name of its function, timed by processor time."""

    def timed(folder: str) -> None:
        warnings.simplefilter("ignore")
        begin = time.process_time()
        function(folder)
        used = time.process_time() - begin
        print(f"{function.__name__}: {used:.0f} s of processor time", flush=True)

    TASKS[function.__name__] = timed
    return timed


def pixels(folder: str, n_train: int, n_test: int) -> tuple[Any, Any, Any, Any]:
    """Rows of pixels from 0 to 1, and labels, of training and of test."""
    with np.load(Path(folder) / "mnist.npz") as file:
        rows = file["train_images"][:n_train].reshape(-1, 784) / 255
        new = file["test_images"][:n_test].reshape(-1, 784) / 255
        return rows, file["train_labels"][:n_train], new, file["test_labels"][:n_test]


@task
def credit(folder: str) -> None:
    """Errors over 10 splits of 25,000 and 5,000: nobody defaults, lasso, two sizes of network."""
    import pandas as pd
    from sklearn.linear_model import LogisticRegression

    table = pd.read_csv(Path(folder) / "credit_default.csv.gz")
    y = table["default"].to_numpy()
    X = table.drop(columns=["ID", "default"]).to_numpy(float)
    settings = {"batch_size": 500, "random_state": 0, "dtype": "float32", "n_jobs": 1}
    learners = {
        "lasso": lambda: LogisticRegression(C=0.1, l1_ratio=1.0, solver="liblinear"),
        "2 units": lambda: MLPClassifier(
            2, alpha=0.5, max_iter=30, learning_rate_init=0.01, **settings
        ),
        "100, 100 units, dropout": lambda: MLPClassifier(
            (100, 100), alpha=1.0, dropout=0.5, max_iter=20, learning_rate_init=0.003, **settings
        ),
    }
    errors: dict[str, list[float]] = {"nobody defaults": []}
    for split in range(10):
        order = np.random.default_rng(split).permutation(len(y))
        train, test = order[:25_000], order[25_000:]
        center, spread = X[train].mean(axis=0), X[train].std(axis=0)
        scaled = (X - center) / spread
        errors["nobody defaults"].append(float(y[test].mean()))
        for name, make in learners.items():
            wrong = make().fit(scaled[train], y[train]).predict(scaled[test]) != y[test]
            errors.setdefault(name, []).append(float(wrong.mean()))
    for name, each in errors.items():
        print(f"credit, {name}: error {mean(each):.4f} +- {stdev(each):.4f} (bar 0.185)")


@task
def small(folder: str) -> None:
    """2,000 rows of 20 columns: processor time by that of scikit-learn, in turns."""
    from sklearn.neural_network import MLPClassifier as Peer

    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 20))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    for units, epochs in (((100,), 10), ((100,), 100), ((20,), 50), ((50, 50), 30)):
        sides = {
            "own": MLPClassifier(units, max_iter=epochs, random_state=0, n_jobs=1),
            "peer": Peer(units, max_iter=epochs, random_state=0),
        }
        best = dict.fromkeys(sides, np.inf)
        for _ in range(7):
            for name, each in sides.items():
                begin = time.process_time()
                each.fit(X, y)
                best[name] = min(best[name], time.process_time() - begin)
        print(
            f"small, {units} units, {epochs} epochs: {1e3 * best['own']:.0f} ms, "
            f"{best['peer'] / best['own']:.2f} times scikit-learn (bar 1), accuracy "
            f"{sides['own'].score(X, y):.3f} and {sides['peer'].score(X, y):.3f}",
            flush=True,
        )


@task
def denoise(folder: str) -> None:
    """Salt and pepper in 20% of the pixels: decibels over the noisy image and the best PCA."""
    from sklearn.decomposition import PCA

    X, _, new, _ = pixels(folder, 10_000, 1000)
    noisy = corrupt_rows(new, "salt-and-pepper", 0.2, 1)[0]

    def decibels(found: np.ndarray) -> float:
        return -10 * float(np.log10(((np.clip(found, 0, 1) - new) ** 2).mean()))

    # the best number of components is chosen by the test images: no PCA does better
    axes = PCA(150, svd_solver="full").fit(X)
    codes = axes.transform(noisy)
    best = max(decibels(axes.mean_ + codes[:, :k] @ axes.components_[:k]) for k in range(5, 151, 5))
    of_noisy = PCA(150, svd_solver="full").fit(corrupt_rows(X, "salt-and-pepper", 0.2, 2)[0])
    codes = of_noisy.transform(noisy)
    for k in range(5, 151, 5):
        found = axes.mean_ + codes[:, :k] @ of_noisy.components_[:k]
        best = max(best, decibels(found))
    model = Autoencoder(
        100,
        hidden_layer_sizes=(400,),
        output="sigmoid",
        noise="salt-and-pepper",
        noise_level=0.2,
        batch_size=100,
        max_iter=15,
        random_state=0,
        n_jobs=1,
    ).fit(X)
    ours = decibels(model.reconstruct(noisy))
    print(
        f"denoise: {ours:.2f} dB, {ours - decibels(noisy):.2f} over the noisy image (bar 6), "
        f"{ours - best:.2f} over the best PCA (bar 1.5)"
    )


@task
def flat_map(folder: str) -> None:
    """Accuracy of the nearest neighbor on two numbers a digit: autoencoder by PCA."""
    from sklearn.decomposition import PCA
    from sklearn.neighbors import KNeighborsClassifier

    X, y, new, truth = pixels(folder, 10_000, 2000)

    def accuracy(coder: Any) -> float:
        near = KNeighborsClassifier(1).fit(coder.transform(X), y)
        return float(near.score(coder.transform(new), truth))

    model = Autoencoder(
        2,
        hidden_layer_sizes=(256, 64),
        output="sigmoid",
        batch_size=100,
        max_iter=25,
        random_state=0,
        n_jobs=1,
    ).fit(X)
    ours, linear = accuracy(model), accuracy(PCA(2).fit(X))
    print(f"flat_map: {ours:.3f}, PCA {linear:.3f}: {ours / linear:.2f} times (bar 1.6)")


@task
def vae(folder: str) -> None:
    """784-400-20, 10 epochs of 60,000 digits: minus the bound of test digits, in nats."""
    X, _, new, _ = pixels(folder, 60_000, 10_000)
    model = VariationalAutoencoder(
        20,
        hidden_layer_sizes=(400,),
        output="sigmoid",
        batch_size=128,
        max_iter=10,
        tol=0,
        random_state=0,
        n_jobs=1,
    ).fit(X)
    print(f"vae: test loss {-model.score_samples(new).mean():.2f} nats (bar 106)")


@task
def generate(folder: str) -> None:
    """Shares of the ten digits among drawn ones, by a classifier, and copies of training rows."""
    X, y, new, truth = pixels(folder, 10_000, 2000)
    judge = MLPClassifier(128, max_iter=8, random_state=0, dtype="float32", n_jobs=1).fit(X, y)
    model = VariationalAutoencoder(
        20,
        hidden_layer_sizes=(400,),
        output="sigmoid",
        batch_size=100,
        max_iter=20,
        random_state=0,
        n_jobs=1,
    ).fit(X)
    drawn = model.sample(2000, random_state=1)
    found = mode_collapse_check(X, drawn, classifier=judge)
    print(
        f"generate, VAE: least share of a digit {found.generated.min():.3f} (bar 0.03), "
        f"{found.n_copies} copies among {len(drawn):,}; the judge's accuracy on test digits "
        f"{judge.score(new, truth):.3f}"
    )


@task
def few(folder: str) -> None:
    """100 and 500 labels: fine-tuned codes of 5,000 rows without labels beside a network alone."""
    X, y, new, truth = pixels(folder, 5000, 3000)
    for n in (100, 500):
        gains = []
        for seed in range(5):
            some = np.random.default_rng(seed).permutation(len(X))[:n]
            common = {"batch_size": 32, "max_iter": 60, "random_state": seed, "n_jobs": 1}
            coded = PretrainedClassifier(
                (256,),
                unlabeled=X,
                pretrain_iter=12,
                noise_level=0.5,
                activation="relu",
                learning_rate_init=0.003,
                **common,
            ).fit(X[some], y[some])
            alone = MLPClassifier(256, learning_rate_init=0.003, **common).fit(X[some], y[some])
            gains.append(coded.score(new, truth) - alone.score(new, truth))
        error = stdev(gains) / len(gains) ** 0.5
        print(f"few, {n} labels: gain {mean(gains):+.4f} +- {error:.4f} (bar: above its error)")
