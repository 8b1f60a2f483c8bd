"""Any table at all: every learner gives a sound result or a clear error, and the same one again."""

from __future__ import annotations

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.neighbors.stored import StoredRows
from tests.contract.cases import (
    CLASSES,
    as_frame,
    assert_clear,
    assert_same_bits,
    assert_sound,
    each,
    each_path,
    make,
    marks_missing,
    needs_target,
    outputs,
)

pytestmark = pytest.mark.timeout(300)

CELLS = {
    "numbers": st.floats(allow_infinity=False) | st.none(),
    "small numbers": st.floats(-100, 100) | st.none(),
    "whole numbers": st.integers(-(2**63), 2**63 - 1),
    "counts": st.integers(0, 4),
    "flags": st.booleans() | st.none(),
    "words": st.sampled_from(["red", "green", "blue", "", "nan"]) | st.none(),
    "text": st.text(max_size=30) | st.none(),
    "days": st.dates(datetime.date(1, 1, 1), datetime.date(9999, 12, 31)) | st.none(),
    "moments": st.datetimes(datetime.datetime(1680, 1, 1), datetime.datetime(2260, 1, 1))
    | st.none(),
    "nothing": st.none(),
}
NAMES = st.text(min_size=1, max_size=8)
LEARNERS = [cls for cls in CLASSES if hasattr(cls, "predict")]


@st.composite
def tables(draw, max_rows: int = 12) -> pd.DataFrame:
    """A data frame of any columns."""
    n = draw(st.integers(1, max_rows))
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    columns = {}
    for name in names:
        cells = CELLS[draw(st.sampled_from(sorted(CELLS)))]
        columns[name] = pd.Series(draw(st.lists(cells, min_size=n, max_size=n)))
    return pd.DataFrame(columns)


def said(cls, frame, y, new):
    """What a fresh estimator says, or the error that it gives, which must be clear."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return outputs(make(cls).fit(frame, y), new)
        except Exception as error:
            assert_clear(error)
            return None


def scales_tables_only(cls: type, frame: pd.DataFrame, y: np.ndarray | None) -> bool:
    """Whether a Table of these cells means other distances than the frame, as is documented.

    Neighbours divide the columns of a Table by their deviation; those of a data frame that holds
    only numbers they take as they are, as scikit-learn does.
    """
    if not issubclass(cls, StoredRows):
        return False
    encoder = getattr(make(cls).fit(frame, y), "encoder_", None)
    return encoder is None or encoder.only_numbers


@each("cls", LEARNERS)
@settings(max_examples=5)
@given(frame=tables(), data=st.data())
def test_any_table_gives_a_sound_result_or_a_clear_error(cls, frame, data):
    y = None
    if needs_target(make(cls)):
        y = np.arange(len(frame)) % data.draw(st.integers(1, 3)) * 1.0
    found = said(cls, frame, y, frame)
    if found is None:
        return
    assert_sound(found, missing=marks_missing(make(cls)))
    assert_same_bits(said(cls, frame, y, frame), found)
    kinds = ["arrow"] if scales_tables_only(cls, frame, y) else ["table", "arrow"]
    kind = data.draw(st.sampled_from(kinds))
    other = as_frame(frame, kind)
    assert_same_bits(said(cls, other, y, other), found)


@each_path("cls", LEARNERS)
@settings(max_examples=8)
@given(frame=tables(), new=tables())
def test_a_model_meets_any_other_table_with_a_result_or_a_clear_error(cls, frame, new):
    y = np.arange(len(frame)) % 2 * 1.0 if needs_target(make(cls)) else None
    new.columns = [*frame.columns, *(f"more {i}" for i in range(5))][: new.shape[1]]
    found = said(cls, frame, y, new)
    if found is not None:
        assert_sound(found, missing=marks_missing(make(cls)))
