"""`gnomon learn` against FLAML: same training rows, same seconds, accuracy on the same test rows.

FLAML needs an environment of its own: ``GNOMON_AUTOML_PYTHON`` names the Python that has
``flaml[automl]`` and pyarrow. Both sides run in processes of their own, so that importing counts
for both; the memory of these is not measured. Adult is read from ``../shared/data``, or from the
folder that ``GNOMON_DATA`` names.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq
from sklearn.datasets import load_digits

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import SEED, classes

SECONDS = 60
WARM_SECONDS = 5
WARM_ROWS = 2_000
TARGET = "target"
PEER_PYTHON = "GNOMON_AUTOML_PYTHON"
DATA = Path(os.environ.get("GNOMON_DATA", Path(__file__).parents[3] / "shared" / "data"))

OURS = """
import sys
import numpy as np
import gnomon
train, test, target, seconds, out = sys.argv[1:]
found = gnomon.learn(train, target, budget=f"{seconds}s", test_share=0.1, choose="best")
print(found.board, file=sys.stderr)
predicted = found.model.predict(found.problem.inputs(gnomon.read(test)))
np.save(out, np.asarray(predicted).astype(str))
"""

THEIRS = """
import sys
import numpy as np
import pyarrow.parquet as pq
from flaml import AutoML
train, test, target, seconds, out = sys.argv[1:]
rows, others = (pq.read_table(path).to_pandas() for path in (train, test))
for name in rows.columns:
    if rows[name].dtype.kind not in "iuf":
        levels = sorted({*rows[name].dropna(), *others[name].dropna()})
        for frame in (rows, others):
            frame[name] = frame[name].astype("category").cat.set_categories(levels)
y = rows.pop(target).astype(str)
others = others.drop(columns=target)
model = AutoML()
model.fit(rows, y, task="classification", metric="accuracy", time_budget=float(seconds),
          n_jobs=-1, seed=0, verbose=0)
print(model.best_estimator, model.best_config, file=sys.stderr)
np.save(out, np.asarray(model.predict(others)).astype(str))
"""


class Files(NamedTuple):
    """Training and test rows as files, and how long a side may learn."""

    train: Path
    test: Path
    truth: np.ndarray
    seconds: int


def written(train: pa.Table, test: pa.Table, n: int) -> Files:
    """Tables as Parquet files that end with this process."""
    folder = Path(keeper().name)
    places = [folder / f"{part}-{n}.parquet" for part in ("train", "test")]
    for table, place in zip((train, test), places):
        pq.write_table(table, place)
    truth = np.asarray(test.column(TARGET).to_pylist()).astype(str)
    return Files(*places, truth, WARM_SECONDS if n == WARM_ROWS else SECONDS)


@lru_cache(maxsize=1)
def keeper() -> tempfile.TemporaryDirectory:
    """The folder of the files."""
    return tempfile.TemporaryDirectory()


def adult(n: int) -> Files:
    """The census table with its own division; "?" is missing."""
    table = csv.read_csv(
        DATA / "adult.csv.gz",
        convert_options=csv.ConvertOptions(null_values=["?", ""], strings_can_be_null=True),
    )
    marks = table.column("split")
    table = table.drop_columns(["split"])
    table = table.rename_columns(
        [TARGET if name == "income" else name for name in table.column_names]
    )
    train, test = (table.filter(pc.equal(marks, mark)) for mark in ("train", "test"))
    return written(train.slice(0, n), test, n)


def digits(n: int) -> Files:
    """Small pictures of ten digits; a fifth of them tests."""
    rows, y = load_digits(return_X_y=True)
    order = np.random.default_rng(SEED).permutation(len(y))
    table = as_table(rows[order], y[order])
    n_test = len(y) // 5
    return written(table.slice(n_test), table.slice(0, n_test), n)


def bends(n: int) -> Files:
    """Two classes by products and bends of a third of twenty columns."""
    made = classes(n, 20, 2)
    return written(as_table(made.rows, made.y), as_table(made.test_rows, made.test_y), n)


def as_table(rows: np.ndarray, y: np.ndarray) -> pa.Table:
    """Columns x0, x1 ... and the classes as words."""
    columns = {f"x{j}": rows[:, j] for j in range(rows.shape[1])}
    return pa.table(columns | {TARGET: [f"class {each}" for each in y]})


def predictions(python: str, program: str, given: Files) -> np.ndarray:
    """What a side says of the test rows, learnt in a process of its own."""
    out = given.train.with_name(f"said-{os.getpid()}.npy")
    words = [given.train, given.test, TARGET, given.seconds, out]
    done = subprocess.run(
        [python, "-c", program, *map(str, words)], stderr=subprocess.PIPE, text=True
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return np.load(out)


def ours(given: Files) -> np.ndarray:
    return predictions(sys.executable, OURS, given)


def theirs(given: Files) -> np.ndarray:
    return predictions(os.environ[PEER_PYTHON], THEIRS, given)


def accuracy(said: np.ndarray, given: Files) -> float:
    return float((said == given.truth).mean())


def missing_peer() -> str:
    """Why FLAML cannot be met, or nothing."""
    python = os.environ.get(PEER_PYTHON)
    if not python:
        return f"{PEER_PYTHON} names no Python that has flaml[automl]"
    done = subprocess.run([python, "-c", "from flaml import AutoML"], capture_output=True)
    return "" if done.returncode == 0 else f"{python} has no flaml[automl]"


def missing_adult() -> str:
    """Why the duel on Adult cannot be held, or nothing."""
    if not (DATA / "adult.csv.gz").exists():
        return f"{DATA} has no adult.csv.gz"
    return missing_peer()


for name, data, rows, missing in (
    ("Adult", adult, 32_561, missing_adult),
    ("digits of scikit-learn", digits, 1_438, missing_peer),
    ("20 columns, 2 classes that bend", bends, 100_000, missing_peer),
):
    Duel(
        name=f"learn in {SECONDS} s: {name} (memory not measured)",
        peer="FLAML AutoML",
        data=data,
        ours=ours,
        theirs=theirs,
        quality=accuracy,
        tolerance=0.003,
        sizes=(rows,),
        bar=0.9,
        repeats=1,
        missing=missing,
    )
