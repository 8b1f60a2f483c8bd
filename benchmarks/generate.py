"""Figures of autoencoders and generators on MNIST, against the bars that the project set itself.

    python -m benchmarks.generate --epochs 10 --rows 60000 [vae] [denoise] [map]

Needs ../shared/data/mnist.npz. Few epochs or rows give a trial, not the figures of the bars: VAE
784-400-20 after 10 epochs at most 106 nats and within 1% of the same model in plain torch; salt and
pepper 20% at least 6 dB over the noisy image and 1.5 dB over the best PCA; nearest-neighbor
accuracy of a two-unit map at least 1.6 times that of PCA.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from gnomon.neighbors import KNeighborsClassifier
from gnomon.neural import Autoencoder, VariationalAutoencoder, corrupt_rows
from gnomon.reduce import PCA

DATA = Path(__file__).parents[1] / "../shared/data/mnist.npz"


def pixels(n_rows: int) -> tuple[np.ndarray, ...]:
    with np.load(DATA) as file:
        train, test = (file[f"{name}_images"].reshape(-1, 784) / 255 for name in ("train", "test"))
        return train[:n_rows], file["train_labels"][:n_rows], test, file["test_labels"]


def vae(train: np.ndarray, test: np.ndarray, epochs: int) -> None:
    """Test loss in nats, ours and torch's."""
    begin = time.perf_counter()
    model = VariationalAutoencoder(
        20, hidden_layer_sizes=(400,), output="sigmoid", max_iter=epochs, random_state=0
    ).fit(train)
    ours = -model.score(test)
    print(f"vae: {ours:.2f} nats, {time.perf_counter() - begin:.0f} s")
    try:
        theirs, seconds = torch_vae(train, test, epochs)
    except ImportError:
        print("vae in torch: torch is not installed")
        return
    print(f"vae in torch: {theirs:.2f} nats, {seconds:.0f} s; ratio {ours / theirs:.4f}")


def torch_vae(train: np.ndarray, test: np.ndarray, epochs: int) -> tuple[float, float]:
    """The same model in plain torch: loss on the test rows with one code each, and seconds."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    torch.set_num_threads(1)
    encoder = nn.Sequential(nn.Linear(784, 400), nn.ReLU(), nn.Linear(400, 40))
    decoder = nn.Sequential(nn.Linear(20, 400), nn.ReLU(), nn.Linear(400, 784))
    solver = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)

    def loss_of(x: torch.Tensor) -> torch.Tensor:
        mean, log_variance = encoder(x).split(20, dim=1)
        code = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
        miss = nn.functional.binary_cross_entropy_with_logits(decoder(code), x, reduction="sum")
        return miss + 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum()

    rows, begin = torch.tensor(train, dtype=torch.float32), time.perf_counter()
    for _ in range(epochs):
        for places in torch.randperm(len(rows)).split(128):
            solver.zero_grad()
            (loss_of(rows[places]) / len(places)).backward()
            solver.step()
    seconds = time.perf_counter() - begin
    with torch.no_grad():
        return float(loss_of(torch.tensor(test, dtype=torch.float32))) / len(test), seconds


def decibels(rows: np.ndarray, clean: np.ndarray) -> float:
    return float(-10 * np.log10(((rows - clean) ** 2).mean()))


def denoise(train: np.ndarray, test: np.ndarray, epochs: int) -> None:
    """Peak signal-to-noise of noisy, projected and reconstructed test images."""
    noisy = corrupt_rows(test, "salt-and-pepper", 0.2, 0)[0]
    model = Autoencoder(
        64,
        hidden_layer_sizes=(512,),
        output="sigmoid",
        noise="salt-and-pepper",
        noise_level=0.2,
        alpha=0.0,
        batch_size=128,
        max_iter=epochs,
        random_state=0,
    ).fit(train)
    best = -np.inf
    for k in (10, 20, 40, 80):
        pca = PCA(k).fit(train)
        best = max(best, decibels(pca.inverse_transform(pca.transform(noisy)), test))
    found, before = decibels(model.reconstruct(noisy), test), decibels(noisy, test)
    print(f"denoise: {found - before:.2f} dB over noisy, {found - best:.2f} dB over the best PCA")


def two_units(train, labels, test, test_labels, epochs: int) -> None:
    """Nearest-neighbor accuracy of two-unit codes and of two principal components."""
    model = Autoencoder(
        2,
        hidden_layer_sizes=(256, 64),
        output="sigmoid",
        alpha=0.0,
        batch_size=128,
        max_iter=epochs,
        random_state=0,
    ).fit(train)
    scores = []
    for each in (model, PCA(2).fit(train)):
        nearest = KNeighborsClassifier(1).fit(each.transform(train), labels)
        scores.append(nearest.score(each.transform(test), test_labels))
    print(f"map: {scores[0]:.3f} against {scores[1]:.3f} of PCA, ratio {scores[0] / scores[1]:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["vae", "denoise", "map"])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--rows", type=int, default=60_000)
    chosen = parser.parse_args()
    if not DATA.exists():
        raise SystemExit(f"{DATA} is not there")
    train, labels, test, test_labels = pixels(chosen.rows)
    if "vae" in chosen.what:
        vae(train, test, chosen.epochs)
    if "denoise" in chosen.what:
        denoise(train, test, chosen.epochs)
    if "map" in chosen.what:
        two_units(train, labels, test, test_labels, chosen.epochs)


if __name__ == "__main__":
    main()
