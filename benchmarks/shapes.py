"""Scores of the clusterers on sets of known shapes: ``python -m benchmarks.shapes FOLDER``.

FOLDER holds CSV files whose last column ``label`` is the true group (such as the well-known sets of
spirals, rings and clouds). Columns are standardised. The score is the adjusted Rand index, noise
counted as a group of its own. Methods that ask for the number of groups get the true one; DBSCAN
gets the best of a dozen radii, chosen by the truth: what it can do, not what a user would get.
HDBSCAN is asked for groups of ten rows at least, all others run with their defaults. What depends
on a seed is run five times.

The scores are kept in ``benchmarks/shapes.json``; `benchmarks.duels` puts them in RESULTS.md.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

RECORD = Path(__file__).parent / "shapes.json"
SEEDS = 5


def makers() -> dict[str, Callable[[int, np.ndarray, int], Iterator]]:
    """For each method its estimators for a table with k groups: of several, the best counts."""
    from gnomon import cluster
    from gnomon.density import GaussianMixture

    def one(make):
        return lambda k, rows, seed: iter([make(k, seed)])

    return {
        "KMeans": one(lambda k, seed: cluster.KMeans(k, random_state=seed)),
        "MiniBatchKMeans": one(lambda k, seed: cluster.MiniBatchKMeans(k, random_state=seed)),
        "HartiganKMeans": one(lambda k, seed: cluster.HartiganKMeans(k, random_state=seed)),
        "SoftKMeans": one(lambda k, seed: cluster.SoftKMeans(k, random_state=seed)),
        "KMedoids": one(lambda k, seed: cluster.KMedoids(k, random_state=seed)),
        "GaussianMixture": one(lambda k, seed: GaussianMixture(k, random_state=seed)),
        "DivisiveClustering": one(lambda k, seed: cluster.DivisiveClustering(k)),
        "AgglomerativeClustering, ward": one(lambda k, seed: cluster.AgglomerativeClustering(k)),
        "AgglomerativeClustering, average": one(
            lambda k, seed: cluster.AgglomerativeClustering(k, linkage="average")
        ),
        "AgglomerativeClustering, single": one(
            lambda k, seed: cluster.AgglomerativeClustering(k, linkage="single")
        ),
        "DBSCAN, best eps": radii,
        "HDBSCAN": one(lambda k, seed: cluster.HDBSCAN(10)),
        "MeanShift": one(lambda k, seed: cluster.MeanShift(bandwidth="auto", bin_seeding=True)),
        "Denclue": one(lambda k, seed: cluster.Denclue()),
    }


def radii(k: int, rows: np.ndarray, seed: int) -> Iterator:
    """DBSCAN at radii from the typical distance of a fifth neighbour to a dozen times as much."""
    from gnomon.cluster import DBSCAN
    from gnomon.cluster.spanning import core_distances

    typical = np.sqrt(np.median(core_distances(rows, np.ones(len(rows)), 5.0)))
    for factor in np.geomspace(0.5, 8, 12):
        yield DBSCAN(float(factor * typical), min_samples=5)


def labels_of(model, rows: np.ndarray) -> np.ndarray:
    """The groups that a model finds in the rows that it is fitted to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows)
        return model.labels_ if hasattr(model, "labels_") else model.predict(rows)


def score(make: Callable, truth: np.ndarray, rows: np.ndarray) -> dict:
    """Mean and deviation of the score over seeds; one run where no seed counts."""
    from sklearn.metrics import adjusted_rand_score

    k = len(np.unique(truth))
    seeded = "random_state" in next(make(k, rows, 0)).get_params()
    scores = [
        max(adjusted_rand_score(truth, labels_of(model, rows)) for model in make(k, rows, seed))
        for seed in range(SEEDS if seeded else 1)
    ]
    return {"mean": float(np.mean(scores)), "deviation": float(np.std(scores)), "runs": len(scores)}


def main() -> None:
    from gnomon.table import read

    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit("give the folder with the CSV files: python -m benchmarks.shapes FOLDER")
    record = []
    for path in sorted(Path(sys.argv[1]).glob("*.csv"), key=lambda path: path.stem.lower()):
        frame = read(path).to_pandas()
        truth, rows = frame.pop("label").to_numpy(), frame.to_numpy(dtype=np.float64)
        rows = np.ascontiguousarray((rows - rows.mean(axis=0)) / rows.std(axis=0))
        for name, make in makers().items():
            record.append({"set": path.stem, "rows": len(rows), "method": name})
            record[-1] |= score(make, truth, rows)
            print(f"{path.stem} · {name}: {said(record[-1])}", flush=True)
    RECORD.write_text(json.dumps(record, indent=1) + "\n")


def said(row: dict) -> str:
    if row["runs"] == 1:
        return f"{row['mean']:.2f}"
    return f"{row['mean']:.2f} ± {row['deviation']:.2f}"


def section() -> list[str]:
    """The lines of RESULTS.md: a line for each method, a column for each set."""
    if not RECORD.exists():
        return []
    record = json.loads(RECORD.read_text())
    sets = list(dict.fromkeys(row["set"] for row in record))
    names = list(dict.fromkeys(row["method"] for row in record))
    found = {(row["method"], row["set"]): row for row in record}
    sizes = {row["set"]: row["rows"] for row in record}
    lines = [
        "",
        "## Shapes",
        "",
        "Adjusted Rand index with the true groups (1: the same, 0: as by chance), noise counted as",
        "a group; ± the deviation over five seeds. Methods that ask for the number of groups get",
        "the true one, DBSCAN the best of a dozen radii. Made by `python -m benchmarks.shapes`.",
        "",
        "| method | " + " | ".join(f"{each} ({sizes[each]:,})" for each in sets) + " | mean |",
        "|---|" + "--:|" * (len(sets) + 1),
    ]
    for name in names:
        rows = [found[name, each] for each in sets]
        mean = np.mean([row["mean"] for row in rows])
        lines.append(f"| {name} | " + " | ".join(map(said, rows)) + f" | {mean:.2f} |")
    return lines


if __name__ == "__main__":
    main()
