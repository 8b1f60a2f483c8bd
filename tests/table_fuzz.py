"""Random tables and damaged files of tables, and what becomes of them.

`random_columns` makes a table of odd cells and names; `random_file` writes one in a format and may
damage its bytes. A file must be read as a table or refused with an error of gnomon's; ``learn`` on
what was read must end with a result or such an error. ``python -m tests.table_fuzz KIND SEED N``
tries N cases and prints a line before and after each, so that a caller sees which one ended the
process.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl import Workbook
from openpyxl.utils.exceptions import IllegalCharacterError

import gnomon
from gnomon.engine.errors import GnomonError

KINDS = ("read", "learn")
SECONDS = {"read": 20, "learn": 120}  # of processor time
MEMORY = 8 * 2**30
TARGET = "to predict"
WORDS = (
    "a",
    "b",
    "red",
    "yes",
    "no",
    "TRUE",
    "N/A",
    "-",
    "?",
    "null",
    "NaN",
    "inf",
    "é",
    "日本",
    "🙂",
)
ODD = (
    "",
    " ",
    "1,5",
    "1.234,56",
    "$ 12",
    "5 kg",
    "12%",
    "007",
    "1e308",
    "-1e309",
    "9007199254740993",
    "99999999999999999999999",
    "0001-01-01",
    "9999-12-31",
    "31/02/2020",
    "2020-02-30T25:61",
    "=1+1",
    'quo"te',
    "line\nbreak",
    "car\rriage",
    "\ufeff",
    "\u202eright",
    "x" * 300,
)
NAMES = (
    "x",
    "y",
    "",
    " ",
    "x",
    "1",
    "a,b",
    'a"b',
    "é",
    "target",
    "Unnamed: 0",
    "select",
    "__",
    "\n",
)


def random_column(rng: np.random.Generator, n: int, kind: int) -> list[Any]:
    """Values of one of twelve kinds, some of them missing or odd."""
    values: list[Any]
    if kind == 0:
        values = rng.normal(size=n).tolist()
    elif kind == 1:
        values = rng.integers(-5, 5, n).tolist()
    elif kind == 2:
        values = rng.choice(WORDS, n).tolist()
    elif kind == 3:
        values = [str(rng.choice(ODD)) for _ in range(n)]
    elif kind == 4:
        values = (10.0 ** rng.uniform(-320, 308, n) * rng.choice([-1, 1], n)).tolist()
    elif kind == 5:
        values = rng.integers(-(2**63), 2**63 - 1, n).tolist()
    elif kind == 6:
        values = [f"id{i}" for i in rng.permutation(n)]
    elif kind == 7:
        days = rng.integers(1, 3_600_000, n)
        values = [datetime.date.fromordinal(int(day)).isoformat() for day in days]
    elif kind == 8:
        values = rng.choice(["true", "false"], n).tolist()
    elif kind == 9:
        values = [str(rng.choice(WORDS))] * n
    elif kind == 10:
        values = [" ".join(rng.choice(WORDS, rng.integers(1, 12))) for _ in range(n)]
    else:
        values = [None] * n
    share = rng.choice([0.0, 0.0, 0.1, 0.9])
    odd = rng.choice([0.0, 0.0, 0.02])
    for i in range(n):
        if rng.random() < share:
            values[i] = None
        elif rng.random() < odd:
            values[i] = str(rng.choice(ODD))
    return values


def random_columns(rng: np.random.Generator, n: int) -> list[tuple[str, list[Any]]]:
    """Names, not all different, and values of a table."""
    named = rng.random() < 0.5
    return [
        (f"c{j}" if named else str(rng.choice(NAMES)), random_column(rng, n, rng.integers(12)))
        for j in range(rng.integers(1, 8))
    ]


def as_csv(columns: list[tuple[str, list[Any]]], rng: np.random.Generator) -> bytes:
    out = io.StringIO()
    writer = csv.writer(
        out,
        delimiter=str(rng.choice([",", ";", "\t", "|", " "])),
        lineterminator=str(rng.choice(["\n", "\r\n", "\r"])),
        quoting=int(rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
    )
    if rng.random() < 0.9:
        writer.writerow([name for name, _ in columns])
    for row in zip(*(values for _, values in columns)):
        kept = row if rng.random() < 0.9995 else row[: rng.integers(len(row) + 1)]
        writer.writerow(["" if cell is None else cell for cell in kept])
    encoding = str(rng.choice(["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"]))
    return out.getvalue().encode(encoding, "replace")


def records(columns: list[tuple[str, list[Any]]]) -> list[dict[str, Any]]:
    names = [name for name, _ in columns]
    return [dict(zip(names, row)) for row in zip(*(values for _, values in columns))]


def as_json(columns: list[tuple[str, list[Any]]], rng: np.random.Generator) -> bytes:
    rows: list[Any] = records(columns)
    if rows and rng.random() < 0.2:
        nested = [[1, [2]], {"a": {"b": None}}, 1e400, 10**400, "\ud800"]
        rows[rng.integers(len(rows))] = nested[rng.integers(len(nested))]
    return json.dumps(rows).encode("utf-8", "surrogatepass")


def as_json_lines(columns: list[tuple[str, list[Any]]], rng: np.random.Generator) -> bytes:
    return "\n".join(json.dumps(row) for row in records(columns)).encode()


def as_spreadsheet(columns: list[tuple[str, list[Any]]], rng: np.random.Generator) -> bytes:
    book = Workbook()
    for row in [[name for name, _ in columns], *zip(*(values for _, values in columns))]:
        try:
            book.active.append([_cell(value) for value in row])
        except IllegalCharacterError:
            continue
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _cell(value: Any) -> Any:
    return str(value) if isinstance(value, int) and abs(value) > 2**53 else value


def as_parquet(columns: list[tuple[str, list[Any]]], rng: np.random.Generator) -> bytes:
    arrays = []
    for _, values in columns:
        try:
            arrays.append(pa.array(values))
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # values of several types
            arrays.append(pa.array([None if each is None else str(each) for each in values]))
    out = io.BytesIO()
    pq.write_table(pa.table(arrays, names=[name for name, _ in columns]), out)
    return out.getvalue()


WRITERS: dict[str, Callable[..., bytes]] = {
    "x.csv": as_csv,
    "x.json": as_json,
    "x.jsonl": as_json_lines,
    "x.xlsx": as_spreadsheet,
    "x.parquet": as_parquet,
}


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """The bytes with some changed, cut off, repeated or put in."""
    found = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        place = int(rng.integers(len(found) + 1))
        what = rng.integers(4)
        if what == 0 and found:
            found[min(place, len(found) - 1)] = rng.integers(256)
        elif what == 1:
            del found[place : place + int(rng.integers(1, 50))]
        elif what == 2:
            found[place:place] = rng.bytes(int(rng.integers(1, 20)))
        else:
            found[place:place] = found[place // 2 : place]
    return bytes(found)


def random_file(rng: np.random.Generator, kind: str) -> tuple[str, bytes]:
    """A name and the bytes of a file of a table."""
    if kind == "read" and rng.random() < 0.05:
        return str(rng.choice(list(WRITERS))), rng.bytes(int(rng.integers(400)))
    name = str(rng.choice(list(WRITERS), p=[0.4, 0.15, 0.15, 0.15, 0.15]))
    n = int(rng.integers(60) if kind == "read" else rng.integers(30, 150))
    columns = random_columns(rng, n)
    if kind == "learn":
        ordinary = [1, 2, 8] if rng.random() < 0.6 else [0, 1, 4]
        columns.append((TARGET, random_column(rng, n, int(rng.choice(ordinary)))))
    content = WRITERS[name](columns, rng)
    if kind == "read" and rng.random() < 0.5:
        content = damaged(content, rng)
    return name, content


def read_it(path: Path, rng: np.random.Generator) -> None:
    table = gnomon.table.read(path)
    str(table)
    str(table.schema)


def learn_it(path: Path, rng: np.random.Generator) -> None:
    table = gnomon.table.read(path)
    names = [column.name for column in table.schema]
    target = TARGET if rng.random() < 0.8 else names[rng.integers(len(names))]
    gnomon.learn(table, target, budget="2s", folds=3, curve=False)


class TimeUp(BaseException):
    """The case took too long."""


def outcome(kind: str, seed: int) -> str:
    """What becomes of one case: "done", "refused", or a description of the failure."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    name, content = random_file(rng, kind)
    signal.setitimer(signal.ITIMER_PROF, SECONDS[kind])
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_bytes(content)
            (read_it if kind == "read" else learn_it)(path, rng)
    except GnomonError as error:
        return f"refused: {error}"
    except TimeUp:
        return "hang"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"raw {type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "done"


def main() -> None:
    """Try cases; the command line names the kind, the first seed and the number of cases."""
    kind, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def end(*_):
        raise TimeUp

    signal.signal(signal.SIGPROF, end)
    for seed in range(first, first + count):
        print(kind, seed, "begun", sep="\t", flush=True)
        print(kind, seed, outcome(kind, seed).replace("\n", " ")[:300], sep="\t", flush=True)


if __name__ == "__main__":
    main()
