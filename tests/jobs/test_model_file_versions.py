"""Model files of every format version stay loadable, with what they said when they were made."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gnomon
from gnomon.engine.modelfile import FORMAT, describe
from tests.contract.cases import outputs

FOLDER = Path(__file__).parents[1] / "data" / "models"
KEPT = sorted(FOLDER.glob("v*/*.gnomon"))


def test_files_of_every_format_are_kept():
    for number in range(1, FORMAT + 1):
        assert list((FOLDER / f"v{number}").glob("*.gnomon")), f"no file of format {number} is kept"


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_kept_file_says_what_it_said(path):
    assert describe(path)["format"] == int(path.parent.name.removeprefix("v"))
    if path.stem.endswith("-table"):
        given = pd.read_parquet(path.parent / "table.parquet")
    else:
        given = np.array(json.loads((path.parent / "rows.json").read_text()))
    found = outputs(gnomon.load(path), given)
    expected = json.loads(path.with_suffix(".json").read_text())
    assert found.keys() >= expected.keys()
    for name, values in expected.items():
        if found[name].dtype.kind == "f":
            np.testing.assert_allclose(found[name], np.array(values, float), rtol=1e-8, atol=1e-10)
        else:
            assert found[name].tolist() == values
