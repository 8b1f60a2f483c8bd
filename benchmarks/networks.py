"""Networks on MNIST against scikit-learn and torch, in turns in one process.

``python -m benchmarks.networks DATA [mlp] [conv] [digits] [...]``, DATA the folder of mnist.npz:

- mlp: 784-128-10, three epochs, accuracy and time by MLPClassifier of both libraries;
- conv: images per second of training the small network of 000c 17.2.1 in float32, by the own
  engine, the torch engine and a plain torch loop, on the same batches;
- digits: errors of that network on the 10,000 test images after 20 epochs, for five seeds (hours);
- credit, small, denoise, flat_map, vae, generate, few: see `benchmarks.network_tasks`.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.network_tasks import TASKS
from gnomon.engine.threads import Crew
from gnomon.neural import (
    L2,
    Conv2D,
    CrossEntropy,
    Flatten,
    MaxPool2D,
    MLPClassifier,
    Network,
    Trainer,
    rule_of,
    train,
)

ROUNDS = 3
BATCH = 100


def mnist(folder: str, dtype: str = "float32"):
    """Images with pixels from 0 to 1, and labels: of training and of test."""
    with np.load(Path(folder) / "mnist.npz") as file:
        parts = [file[name] for name in ("train_images", "train_labels", "test_images")]
        test_labels = file["test_labels"]
    scaled = [(each.astype(dtype) / 255)[..., None] for each in (parts[0], parts[2])]
    return scaled[0], parts[1].astype(int), scaled[1], test_labels.astype(int)


def text_network() -> Network:
    """The network of 000c 17.2.1: 431,080 parameters."""
    return Network(
        [
            Conv2D(20, 5),
            MaxPool2D(2),
            Conv2D(50, 5),
            MaxPool2D(2),
            Conv2D(500, 4, "relu"),
            Conv2D(10, 1),
            Flatten(),
        ],
        (28, 28, 1),
    )


def mlp(folder: str) -> None:
    """Three epochs of 784-128-10 by both libraries, in turns."""
    from sklearn.neural_network import MLPClassifier as Peer

    warnings.simplefilter("ignore")
    X, y, new, truth = mnist(folder)
    X, new = X.reshape(len(X), -1), new.reshape(len(new), -1)
    for dtype in ("float64", "float32"):
        rows = X.astype(dtype)
        contenders = {
            "gnomon": MLPClassifier(128, max_iter=3, random_state=0, dtype=dtype),
            "scikit-learn": Peer(128, max_iter=3, random_state=0),
        }
        seconds: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(ROUNDS):
            for name, each in contenders.items():
                begin = time.perf_counter()
                each.fit(rows, y)
                seconds[name].append(time.perf_counter() - begin)
        for name, each in contenders.items():
            found = each.score(new.astype(dtype), truth)
            print(f"{dtype} {name}: {median(seconds[name]):.2f} s, accuracy {found:.4f}")
        ratio = median(seconds["scikit-learn"]) / median(seconds["gnomon"])
        print(f"{dtype}: {ratio:.2f} times as fast as scikit-learn", flush=True)


def conv(folder: str, steps: int = 20) -> None:
    """Images per second of training, on the same batches in turns."""
    import torch

    from gnomon.neural.torch_engine import TorchTrainer

    X, y, _, _ = mnist(folder)
    network = text_network()
    start = network.initial(0, dtype=np.float32)
    batches = [slice(k * BATCH, (k + 1) * BATCH) for k in range(steps)]
    sides = {
        "own engine": Trainer(network, start.copy(), CrossEntropy(), rule_of("momentum")),
        "torch engine": TorchTrainer(network, start.copy(), CrossEntropy(), rule_of("momentum")),
    }
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 20, 5),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(20, 50, 5),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(50, 500, 4),
        torch.nn.ReLU(),
        torch.nn.Conv2d(500, 10, 1),
        torch.nn.Flatten(),
    )
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9)

    def bare() -> None:
        for some in batches:
            x = torch.from_numpy(np.ascontiguousarray(X[some].transpose(0, 3, 1, 2)))
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), torch.from_numpy(y[some]))
            loss.backward()
            optimizer.step()

    def own(name: str) -> None:
        with Crew(None) as crew:
            for k, some in enumerate(batches):
                sides[name].step(X[some], y[some], None, 0.01, crew, (0, k))

    seconds: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name in (*sides, "torch"):
            begin = time.perf_counter()
            bare() if name == "torch" else own(name)
            seconds.setdefault(name, []).append(time.perf_counter() - begin)
    for name, each in seconds.items():
        rate = BATCH * steps / median(each)
        share = median(seconds["torch"]) / median(each)
        print(f"{name}: {rate:.0f} images a second, {share:.2f} times torch", flush=True)


def digits(folder: str) -> None:
    """Errors of the text's network after 20 epochs."""
    X, y, new, truth = mnist(folder)
    errors = []
    for seed in range(5):
        used = time.process_time()
        found = train(
            text_network(),
            X - X.mean(axis=0),
            y,
            solver="momentum",
            learning_rate=lambda epoch: 0.02 if epoch < 14 else 0.002,
            penalty=L2(5e-4),
            batch_size=BATCH,
            max_iter=20,
            dtype=np.float32,
            random_state=seed,
            n_jobs=1,
        )
        wrong = found.predict(new - X.mean(axis=0)).argmax(axis=1) != truth
        errors.append(int(wrong.sum()))
        print(
            f"seed {seed}: {errors[-1]} errors of {len(truth):,}, "
            f"{time.process_time() - used:.0f} s of processor time",
            flush=True,
        )
    print(f"median {median(errors)}")


if __name__ == "__main__":
    parts = {"mlp": mlp, "conv": conv, "digits": digits, **TASKS}
    for chosen in sys.argv[2:] or ["mlp", "conv"]:
        parts[chosen](sys.argv[1])
