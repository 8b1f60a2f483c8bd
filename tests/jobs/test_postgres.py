"""A real PostgreSQL server, read by the library, the command line and the browser."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import gnomon
from gnomon.table import Kind, ReadError, example, scan
from gnomon.workbench.base.runs import read_record
from gnomon.workbench.cli import app
from tests.jobs.postgres import PASSWORD, URL_PASSWORD, missing, running
from tests.jobs.web import browsed, served, submit, text_of

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.covers("run-report"),
]
CELLS = [
    (1, "ann", 1.5, True, datetime.date(2024, 2, 29), None),
    (2, 'o\'neil, "bob"', None, False, None, "ä → ß"),
    (3, None, -2.25, None, datetime.date(1999, 12, 31), ""),
]


@pytest.fixture(scope="module")
def url():
    """A server with the example's customers, and a small table of every kind of cell."""
    import psycopg

    customers = example("customers")
    names = ", ".join(f'"{name}" text' for name in customers.columns)
    with running() as place:
        with psycopg.connect(place) as connection:
            connection.execute(
                "create table kinds (id integer primary key, who text, amount double precision, "
                'paid boolean, "the day" date, note text)'
            )
            with connection.cursor() as cursor:
                cursor.executemany("insert into kinds values (%s, %s, %s, %s, %s, %s)", CELLS)
                cursor.execute(f"create table customers ({names})")
                with cursor.copy("copy customers from stdin") as copy:
                    for row in zip(*(customers.column(n).to_pylist() for n in customers.columns)):
                        copy.write_row([None if v is None else str(v) for v in row])
        yield place


def public(url: str) -> str:
    """The URL without its password."""
    return url.replace(f":{URL_PASSWORD}", "")


def files_with_the_password(folder: Path) -> list[Path]:
    """The files below a folder that hold the password, written in either way."""
    secrets = (PASSWORD.encode(), URL_PASSWORD.encode())
    files = [each for each in folder.rglob("*") if each.is_file()]
    return [each for each in files if any(secret in each.read_bytes() for secret in secrets)]


def command(url: str, folder: Path, *words: str) -> subprocess.CompletedProcess:
    """The command line on the server, as a person starts it."""
    asked = [sys.executable, "-m", "gnomon", *words, "--runs", str(folder / "runs")]
    return subprocess.run(asked, capture_output=True, text=True, cwd=folder)


def test_cells_and_kinds_of_a_server_are_those_that_were_written(url):
    table = gnomon.read(url, table="kinds")
    assert list(table.columns) == ["id", "who", "amount", "paid", "the day", "note"]
    found = list(zip(*(table.column(name).to_pylist() for name in table.columns)))
    assert [row[:4] for row in found] == [row[:4] for row in CELLS]
    assert [None if row[4] is None else row[4].isoformat()[:10] for row in found] == [
        None if row[4] is None else row[4].isoformat() for row in CELLS
    ]
    assert table.schema["paid"].kind is Kind.BOOLEAN
    assert table.schema["amount"].kind is Kind.NUMBER
    asked = gnomon.read(url, sql="select count(*) as n, max(amount) as most from kinds")
    assert asked.to_dict() == {"n": [3], "most": [1.5]}


def test_a_stream_of_a_server_has_the_rows_of_its_table(url):
    whole = gnomon.read(url, table="customers")
    streamed = [len(part) for part in scan(url, table="customers")]
    assert sum(streamed) == len(whole) == len(example("customers"))


def test_refusals_of_a_server_name_the_place_and_not_the_password(url):
    for wrong, options, said in [
        (url.replace(URL_PASSWORD, "wr0ng"), {"table": "kinds"}, "password authentication failed"),
        (url, {"table": "nothing"}, "nothing"),
        (url, {"sql": "select 1 / 0"}, "division by zero"),
        (url, {}, "table"),
    ]:
        with pytest.raises(ReadError, match=said) as caught:
            gnomon.read(wrong, **options)
        for secret in (PASSWORD, URL_PASSWORD, "wr0ng"):
            assert secret not in str(caught.value)


def test_look_takes_the_url_and_writes_no_password_down(url, tmp_path):
    words = ["look", f"{url}#table=customers", "--runs", str(tmp_path), "--name", "seen"]
    looked = CliRunner().invoke(app, words)
    assert looked.exit_code == 0, looked.output
    assert "2,000 rows" in looked.output
    assert files_with_the_password(tmp_path) == []


@pytest.mark.slow  # a process and some fits
def test_learn_takes_a_query_of_a_server_and_writes_no_password_down(url, tmp_path):
    learned = command(
        url, tmp_path, "learn", url, "--sql", "select * from customers where age is not null",
        "--target", "churn", "--learner", "naive Bayes", "--budget", "8s", "--name", "churn",
    )  # fmt: skip
    assert learned.returncode == 0, learned.stderr
    record = read_record(tmp_path / "runs" / "churn")
    assert public(url) in str(record)
    assert files_with_the_password(tmp_path) == []


def test_a_table_of_a_server_is_opened_in_the_browser_and_its_script_reads_it_again(url, tmp_path):
    form = "form:has([placeholder^=postgresql])"
    with served(tmp_path) as server, browsed(server) as page:
        submit(page, form, source=url.replace(URL_PASSWORD, "wr0ng"), table="customers")
        assert "password authentication failed" in text_of(page)
        page.go(server.root)
        submit(page, form, source=url)
        assert "Which table?" in text_of(page, "h1")
        page.follow("document.querySelector('#choices [value=customers]').click()")
        page.wait_for("document.querySelectorAll('#rows tr').length > 5")
        assert "postgres, customers" in text_of(page, "h1")
        assert "2,000 rows" in text_of(page)
        script = page.evaluate("fetch('/script/session.py').then(r => r.text())")
        words = text_of(page, "body")
        last = server.bench.session.table
        assert len(page.errors) == 1, "the refusal of the wrong password"
    for secret in (PASSWORD, URL_PASSWORD):
        assert secret not in script
        assert secret not in words
    assert files_with_the_password(tmp_path) == []
    script += f"table.save({str(tmp_path / 'again.arrow')!r})\n"
    environment = os.environ | {"PGPASSWORD": PASSWORD}
    subprocess.run([sys.executable, "-c", script], check=True, cwd=tmp_path, env=environment)
    assert gnomon.read(tmp_path / "again.arrow").equals(last)
