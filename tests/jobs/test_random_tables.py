"""Random and damaged files of tables are read, or refused with a clear error; so is learning."""

from __future__ import annotations

import pytest

from gnomon.table import read
from gnomon.table.errors import ReadError
from tests.fuzz import is_fine, random_tables
from tests.table_fuzz import as_spreadsheet


@pytest.mark.parametrize(
    ("kind", "n"),
    [
        ("read", 60),
        pytest.param("read", 2000, marks=pytest.mark.slow),
        pytest.param("learn", 20, marks=pytest.mark.slow),
    ],
)
def test_a_random_table_gives_a_result_or_a_clear_error(kind, n, seed):
    found, _ = random_tables(kind, 10_000 * (seed % 10**6), n)
    assert len(found) == n
    assert [line for line in found if not is_fine(line[-1])] == []


def test_a_damaged_spreadsheet_is_refused_as_such(rng, tmp_path):
    content = as_spreadsheet([("a", [1, 2]), ("b", ["x", "y"])], rng)
    place = content.index(b"xl/worksheets/sheet1.xml")
    path = tmp_path / "damaged.xlsx"
    path.write_bytes(content[: place - 30] + bytes(4) + content[place - 26 :])
    with pytest.raises(ReadError, match="is not a spreadsheet that can be read"):
        read(path)
