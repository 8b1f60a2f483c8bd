"""Who may ask the server, and what it does with requests that make no sense."""

from __future__ import annotations

import errno
import random
import string

import pytest
from starlette.responses import RedirectResponse
from starlette.testclient import TestClient

from gnomon.workbench.web.app import Workbench
from gnomon.workbench.web.server import guarded
from gnomon.workbench.web.session import Session

pytestmark = pytest.mark.covers("run-report")
PORT = 8020
ROOT = f"http://127.0.0.1:{PORT}"


def client_of(folder, *, host: str = "127.0.0.1", enter: bool = True, **settings) -> TestClient:
    bench = Workbench(Session(folder / "session", folder / "runs"), **settings)
    guard = guarded(bench, host, PORT)
    client = TestClient(guard, base_url=ROOT, follow_redirects=False)
    client.headers["accept-encoding"] = "identity"
    client.bench = bench
    if enter:
        entered = client.get(f"/?token={bench.session.token()}")
        assert entered.status_code == 303
        assert entered.headers["location"] == "/"
    return client


def test_without_the_token_nothing_is_shown(tmp_path):
    client = client_of(tmp_path, enter=False)
    for place in ("/", "/table", "/table/rows", "/script/session.py", "/runs", "/nothing"):
        assert client.get(place).status_code == 403
    assert client.post("/open", data={"source": "example:iris"}).status_code == 403
    assert client.get("/?token=wrong").status_code == 403
    client.cookies.set(f"gnomon-{PORT}", "wrong")
    assert client.get("/").status_code == 403


def test_the_cookie_is_kept_from_scripts_and_other_sites(tmp_path):
    client = client_of(tmp_path, enter=False)
    given = client.get(f"/table?a=1&token={client.bench.session.token()}")
    assert given.headers["location"] == "/table?a=1", "the token leaves the address"
    assert {"HttpOnly", "SameSite=Strict"} <= set(given.headers["set-cookie"].split("; "))
    away = client.get(f"//evil.example/?token={client.bench.session.token()}")
    assert not away.headers.get("location", "").startswith("//")


@pytest.mark.parametrize("host", ["evil.example:8020", "evil.example", "127.0.0.1:80", "", "[::1"])
def test_a_foreign_host_is_refused(tmp_path, host):
    client = client_of(tmp_path)
    assert client.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_request_of_another_site_changes_nothing(tmp_path, headers):
    client = client_of(tmp_path)
    answer = client.post("/open", data={"source": "example:iris"}, headers=headers)
    assert answer.status_code == 403
    assert client.bench.session.steps == []


def test_every_answer_forbids_foreign_scripts(tmp_path):
    client = client_of(tmp_path)
    for place in ("/", "/static/page.js", "/nothing", "/table/rows"):
        policy = client.get(place).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe-eval" not in policy


def test_no_file_outside_is_given(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    client = client_of(tmp_path)
    up = ["../secret.txt", "..%2fsecret.txt", "%2e%2e/%2e%2e/secret.txt", "....//secret.txt"]
    for path in up:
        for place in ("/static/", "/runs/", "/script/", "/tasks/", "/runs/x/files/"):
            answer = client.get(place + path)
            assert "secret" not in answer.text.replace("secret.txt", "")


def test_an_upload_that_is_too_large_is_not_kept(tmp_path):
    client = client_of(tmp_path, uploads=1000)
    answer = client.post("/upload?name=a.csv", content=b"x" * 2000)
    assert answer.status_code == 413

    def pieces():
        for _ in range(30):
            yield b"x" * 100

    answer = client.post("/upload?name=a.csv", content=pieces())  # no length is told
    assert answer.status_code == 400
    assert "more than 1,000 bytes" in answer.json()["error"]
    assert not list(tmp_path.rglob("a.csv"))
    assert client.post("/open", content=b"x" * 1_100_000).status_code == 413


def test_names_of_uploads_stay_in_their_folder_and_short(tmp_path, monkeypatch):
    client = client_of(tmp_path)
    place = RedirectResponse("/table", 303)
    monkeypatch.setattr("gnomon.workbench.web.pages.start.opened", lambda bench, path: place)
    long = "数" * 200 + ".csv"
    for name in ("../../../up.csv", "..%2f..%2fup.csv", long, "/etc/up.csv", "..", "a%00b.csv"):
        answer = client.post(f"/upload?name={name}", content=b"a,b\n1,2\n3,4\n")
        assert answer.json() == {"to": "/table"}, name
    files = [path for path in tmp_path.rglob("*") if path.is_file() and "uploads" in path.parts]
    assert len(files) == 6
    assert all(len(path.name.encode()) <= 130 for path in files)
    assert not list(tmp_path.parent.glob("*.csv"))


def test_an_upload_to_a_full_disk_is_a_clear_error(tmp_path, monkeypatch):
    client = client_of(tmp_path)

    async def full(bench, request):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("gnomon.workbench.web.pages.start.received", full)
    answer = client.post("/upload?name=a.csv", content=b"a,b\n1,2\n")
    assert answer.status_code == 400
    assert "No space left" in answer.json()["error"]


def test_others_need_the_password(tmp_path):
    client = client_of(tmp_path, host="0.0.0.0", enter=False, password="open sesame")
    assert client.get("/").headers["location"] == "/login"
    assert client.post("/login", data={"password": "wrong"}).status_code == 403
    entered = client.post("/login", data={"password": "open sesame"})
    assert entered.status_code == 303
    assert client.get("/").status_code == 200
    by_name = {"host": f"evil.example:{PORT}"}
    assert client.get("/", headers=by_name).status_code == 421


def test_a_password_of_a_data_base_is_not_written_down(tmp_path):
    client = client_of(tmp_path)
    url = "postgresql://me:hunter2@127.0.0.1:1/nothing"
    answer = client.post("/open", data={"source": url, "table": "t"})
    assert answer.status_code == 400
    assert "hunter2" not in answer.text
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"hunter2" in content for content in kept)


ODD = [
    "", "0", "-1", "1e400", "nan", "9" * 400, "null", "[]", "{}", '{"a":', "[[[[", "true", "\x00",
    "'", '"', "' or 1=1 --", "../../etc/passwd", "<script>", "%", "é\u202e", "age", "churn",
    "select 1; drop table data", '[{"column": "age", "low": 1, "high": "x"}]', "x" * 3000,
    '[{"kind": "scatter", "x": "age", "y": "nothing"}]', '{"__proto__": 1}', "KMeans", "learn",
    "tour", "links", "annealing", "alpha=2",
]  # fmt: skip
LEFT_ALONE = ("/upload", "/jobs/{name}", "/walk/{way}")  # these start work or forget it


def requests_of(client, rng: random.Random, n: int):
    """Requests to the addresses that there are, with fields that they know, and with nonsense."""
    routes = [(route.path, min(route.methods - {"HEAD"})) for route in client.app.app.routes]
    names = ["start", "count", "source", "do", "column", "kind", "where", "name", "expression",
             "file", "on", "how", "views", "brush", "x", "y", "color", "method", "settings",
             "columns", "target", "word", "run", "threshold", "values", "back", "asked",
             "row", "sort", "as", "option", "prefer", "tail", "head"]  # fmt: skip
    for _ in range(n):
        path, way = rng.choice(routes)
        if way == "POST" and path in LEFT_ALONE:
            way = "GET"
        for part in [p for p in path.split("/") if p.startswith("{")]:
            odd = rng.choice(ODD)[:200].replace("/", "_") or "x"
            path = path.replace(part, "".join(c for c in odd if c in string.printable[:95]) or "y")
        given = {rng.choice(names): rng.choice(ODD) for _ in range(rng.randrange(6))}
        yield path, way, given


def hammer(tmp_path, seed: int, n: int) -> None:
    client = client_of(tmp_path)
    client.bench.session.open("example:customers")
    kept = client.bench.session.content | {}
    for path, way, given in requests_of(client, random.Random(seed), n):
        if way == "GET":
            answer = client.get(path, params=given)
        else:
            answer = client.post(path, data=given)
        assert answer.status_code < 500, (way, path, given)
        if not client.bench.session.steps:
            client.bench.session.content = kept | {}


def test_nonsense_is_refused_with_a_sentence(tmp_path, seed):
    hammer(tmp_path, seed, 200)


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_ten_thousand_fuzzed_requests_end_without_a_fault(tmp_path, seed):
    hammer(tmp_path, seed, 10_000)
