"""A CSV of ten million rows through learners by `scan`: time and peak memory of each.

``python -m benchmarks.stream [rows]`` writes the file once into the temporary folder, and runs each
learner in a process of its own, so that the peak is its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

COLUMNS = 8
BLOCK = 500_000
ALLOWED = 1e9


def write(path: Path, n_rows: int) -> None:
    """Numbers, a category and a class, block by block."""
    rng = np.random.default_rng(0)
    part = path.with_suffix(".part")
    with part.open("wb") as sink:
        for start in range(0, n_rows, BLOCK):
            n = min(BLOCK, n_rows - start)
            rows = rng.normal(size=(n, COLUMNS)).round(4)
            columns = {f"x{k}": rows[:, k] for k in range(COLUMNS)}
            columns["color"] = np.array(["red", "green", "blue"])[rng.integers(0, 3, n)]
            columns["y"] = (rows[:, 0] - rows[:, 1] + rng.normal(size=n)).round(4)
            columns["class"] = np.where(columns["y"] > 0, "yes", "no")
            options = pyarrow.csv.WriteOptions(include_header=start == 0)
            pyarrow.csv.write_csv(pa.table(columns), sink, options)
    part.rename(path)


def learn(name: str, path: str) -> None:
    """Fit one learner and say what it took."""
    from gnomon.bayes import NaiveBayes
    from gnomon.linear import LinearRegression
    from gnomon.reduce import PCA
    from gnomon.table import scan

    numbers = [f"x{k}" for k in range(COLUMNS)]
    begin = time.perf_counter()
    if name == "NaiveBayes":
        rows = scan(path).select([*numbers, "color", "class"])
        figure = NaiveBayes().fit(rows, "class").class_count_.sum()
    elif name == "LinearRegression":
        rows = scan(path).select([*numbers, "color", "y"])
        figure = LinearRegression().fit(rows, "y").coef_[0]
    else:
        figure = PCA(3).fit(scan(path).select(numbers)).explained_variance_.sum()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    seconds = time.perf_counter() - begin
    verdict = "" if peak < ALLOWED else "  ABOVE 1 GB"
    print(f"{name}: {seconds:.1f} s, peak {peak / 1e6:.0f} MB{verdict} (figure {figure:.6g})")


def main() -> None:
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10**7
    path = Path(tempfile.gettempdir()) / f"gnomon-stream-{n_rows}.csv"
    if not path.exists():
        write(path, n_rows)
    print(f"{n_rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB of CSV", flush=True)
    for name in ("NaiveBayes", "LinearRegression", "PCA"):
        subprocess.run([sys.executable, "-m", "benchmarks.stream", "--learn", name, path])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--learn"]:
        learn(*sys.argv[2:])
    else:
        main()
