"""Writes the model files that every later version must load: ``python tests/data/models/make.py``.

Run it once per format number of `gnomon.engine.modelfile`, when the format is settled, and never
again for that number: the files are kept as they are. Beside each ``<method>.gnomon`` stands
``<method>.json`` with what the model said of the rows in ``rows.json`` (numbers) or
``table.parquet`` (mixed columns).
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))

from gnomon.engine.modelfile import FORMAT  # noqa: E402
from tests.contract.cases import (  # noqa: E402
    CLASSES,
    fit,
    make,
    mixed_columns,
    outputs,
    target,
)

METHODS = {
    1: {
        "BaselineClassifier",
        "BaselineRegressor",
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        "GaussianMixture",
        "KMeans",
        "LinearRegression",
        "LogisticRegression",
        "NaiveBayes",
        "PCA",
        "RandomForestClassifier",
        "RandomForestRegressor",
        "Ridge",
    }
}


def main() -> None:
    folder = HERE / f"v{FORMAT}"
    if any(folder.glob("*.gnomon")):
        raise SystemExit(f"{folder} has its files already; they are kept for ever")
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(FORMAT)
    group = np.arange(60) % 3
    rows = np.round(3.0 * group[:, None] + rng.normal(size=(60, 3)), 3)
    table = pd.DataFrame(mixed_columns(rng, 60))
    table["count"] += 10 * group
    (folder / "rows.json").write_text(json.dumps(rows.tolist()))
    table.to_parquet(folder / "table.parquet")
    for cls in CLASSES:
        if cls.__name__ not in METHODS[FORMAT]:
            continue
        y = target(make(cls), rows, group, rng)
        keep(fit(make(cls), rows, y), rows, folder / cls.__name__)
        keep(fit(make(cls), table, y), table, folder / f"{cls.__name__}-table")


def keep(estimator, given, path: Path) -> None:
    """Save a model and what it says of the rows that it was given."""
    estimator.save(path.with_suffix(".gnomon"))
    said = {name: values.tolist() for name, values in outputs(estimator, given).items()}
    path.with_suffix(".json").write_text(json.dumps(said))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
