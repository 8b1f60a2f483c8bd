"""Plant small faults in the code, one at a time, and count how many of them the tests find.

    python -m tests.mutants                      # 240 faults, the tests of `make test`
    python -m tests.mutants --count 60 tests/contract

No file is changed. pytest collects the tests once; a forked child runs them all on the sound code
and notes which functions each test calls. Then every fault is planted in the memory of a child of
its own, which runs the tests that call the faulty function, the quickest first, until one fails.

Faults are seeded: comparisons flipped, numbers off by one, constants and signs changed, conditions
negated, arguments dropped, early returns. They lie in functions of the frame and of ten methods.
Compiled kernels are left out: their machine code comes from the cache on disk.
"""

from __future__ import annotations

import argparse
import ast
import gc
import os
import pickle
import random
import signal
import sys
import tempfile
import threading
import time
import types
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

import gnomon

SOURCE = Path(gnomon.__file__).parent
PACKAGES = ("engine", "contract", "table", "evaluate", "workbench")
METHODS = (
    "bayes/naive_bayes",
    "cluster/kmeans",
    "density/gaussian_mixture",
    "ensemble/stacking",
    "linear/least_squares",
    "linear/logistic",
    "margin/svc",
    "neighbors/classify",
    "reduce/pca",
    "trees/random_forest",
)
COMPILED = {"kernel", "subkernel"}
COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
OPERATIONS = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
}


FOUND = ("found", "time", "died")  # a test fails, takes ten times as long, or ends the process


class Fault(NamedTuple):
    """A stretch of a file's text and what stands there instead."""

    path: Path
    function: str
    line: int
    kind: str
    start: int
    stop: int
    text: str

    @property
    def package(self) -> str:
        package = self.path.relative_to(SOURCE).parts[0]
        return package if package in PACKAGES else "methods"

    def planted(self) -> str:
        """The file's text with the fault in it."""
        content = self.path.read_text()
        return content[: self.start] + self.text + content[self.stop :]

    def __str__(self) -> str:
        old = " ".join(self.path.read_text()[self.start : self.stop].split())
        new = " ".join(self.text.split())
        place = f"{self.path.relative_to(SOURCE.parent)}:{self.line}"
        return f"{place} {self.function}: {self.kind}, {old[:40]!r} becomes {new[:50]!r}"


class Finder(ast.NodeVisitor):
    """All faults that can be planted in the functions of a file."""

    def __init__(self, path: Path):
        self.path = path
        self.content = path.read_text()
        self.lines = [0]
        for line in self.content.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.scope: list[str] = []
        self.function = ""
        self.faults: list[Fault] = []
        self.visit(ast.parse(self.content))

    def place(self, line: int, column: int) -> int:
        """The position of a place that the parser gives in bytes of a line."""
        begin = self.lines[line - 1]
        text = self.content[begin : self.lines[line]]
        return begin + len(text.encode()[:column].decode())

    def span(self, node) -> tuple[int, int]:
        return (
            self.place(node.lineno, node.col_offset),
            self.place(node.end_lineno, node.end_col_offset),
        )

    def add(self, kind: str, start: int, stop: int, text: str, line: int) -> None:
        if self.function:
            fault = Fault(self.path, self.function, line, kind, start, stop, text)
            self.faults.append(fault)

    def swap(self, kind: str, left, right, words: tuple[str, str]) -> None:
        """Replace the sign that stands between two operands."""
        begin, end = self.span(left)[1], self.span(right)[0]
        at = self.content.find(words[0], begin, end)
        if at >= 0:
            self.add(kind, at, at + len(words[0]), words[1], left.end_lineno)

    def visit_ClassDef(self, node):
        self._inside(node)

    def visit_FunctionDef(self, node):
        decorators = {part.id for each in node.decorator_list for part in _names(each)}
        if decorators & COMPILED:
            return
        outermost = not self.function
        if outermost:
            self.function = ".".join([*self.scope, node.name])
            self._early_return(node)
        self._inside(node)
        if outermost:
            self.function = ""

    def _inside(self, node) -> None:
        self.scope.append(node.name)
        for statement in node.body:
            if not _is_docstring(statement):
                self.visit(statement)
        self.scope.pop()

    def _early_return(self, node) -> None:
        body = node.body[1:] if _is_docstring(node.body[0]) else node.body
        if body and not isinstance(body[0], (ast.Pass, ast.Raise)):
            start, _ = self.span(body[0])
            indent = " " * body[0].col_offset
            self.add("early return", start, start, f"return None\n{indent}", body[0].lineno)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node):
        """The words of an error are not code."""

    def visit_Compare(self, node):
        for left, sign, right in zip([node.left, *node.comparators], node.ops, node.comparators):
            self.swap("comparison", left, right, COMPARISONS[type(sign)])
        self.generic_visit(node)

    def visit_BinOp(self, node):
        if type(node.op) in OPERATIONS and not isinstance(node.left, (ast.Constant, ast.JoinedStr)):
            self.swap("sign", node.left, node.right, OPERATIONS[type(node.op)])
        self.generic_visit(node)

    def visit_If(self, node):
        start, stop = self.span(node.test)
        self.add("condition", start, stop, f"not ({self.content[start:stop]})", node.lineno)
        self.generic_visit(node)

    def visit_Constant(self, node):
        start, stop = self.span(node)
        if node.value is True or node.value is False:
            self.add("constant", start, stop, str(not node.value), node.lineno)
        elif isinstance(node.value, int):
            self.add("off by one", start, stop, str(node.value + 1), node.lineno)
        elif isinstance(node.value, float):
            self.add("constant", start, stop, repr(2 * node.value + 1), node.lineno)

    def visit_JoinedStr(self, node):
        """The words of a message are not code."""

    def visit_Call(self, node):
        for given in node.keywords:
            start, stop = self.span(given)
            rest = self.content[stop:]
            stop += len(rest) - len(rest.lstrip(", \n")) if rest.lstrip()[:1] == "," else 0
            if given.arg is not None:
                self.add("argument dropped", start, stop, "", given.lineno)
        self.generic_visit(node)


def _names(node) -> Iterator[ast.Name]:
    return (part for part in ast.walk(node) if isinstance(part, ast.Name))


def _is_docstring(node) -> bool:
    value = getattr(node, "value", None)
    return isinstance(node, ast.Expr) and isinstance(getattr(value, "value", None), str)


def all_faults() -> dict[str, list[Fault]]:
    """The faults of each package, and of the ten methods."""
    files = [path for package in PACKAGES for path in sorted((SOURCE / package).rglob("*.py"))]
    files += [path for path in (SOURCE / f"{name}.py" for name in METHODS) if path.exists()]
    found = defaultdict(list)
    for path in files:
        for fault in Finder(path).faults:
            found[fault.package].append(fault)
    return found


def drawn(count: int, seed: int, packages: list[str]) -> list[Fault]:
    """So many faults, as evenly over packages and kinds of fault as there are any."""
    rng, chosen = random.Random(seed), []
    found = {package: faults for package, faults in all_faults().items() if package in packages}
    for i, faults in enumerate(found[package] for package in sorted(found)):
        by_kind = defaultdict(list)
        for fault in faults:
            by_kind[fault.kind].append(fault)
        turns = [rng.sample(group, len(group)) for _, group in sorted(by_kind.items())]
        wanted = count // len(found) + (i < count % len(found))
        chosen += _in_turn(turns, wanted)
    return chosen


def _in_turn(groups: list[list[Fault]], wanted: int) -> list[Fault]:
    picked: list[Fault] = []
    while len(picked) < wanted and any(groups):
        for group in groups:
            if group and len(picked) < wanted:
                fault = group.pop()
                if _compiles(fault):
                    picked.append(fault)
    return picked


def _compiles(fault: Fault) -> bool:
    try:
        compile(fault.planted(), str(fault.path), "exec")
    except SyntaxError:
        return False
    return True


def code_objects(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_objects(constant)


def plant(fault: Fault) -> bool:
    """Give every function that the fault lies in its faulty code; False where there is none."""
    faulty = {
        (code.co_qualname, code.co_firstlineno): code
        for code in code_objects(compile(fault.planted(), str(fault.path), "exec"))
    }
    planted = False
    for thing in gc.get_objects():
        if not isinstance(thing, types.FunctionType):
            continue
        code = thing.__code__
        if code.co_filename == str(fault.path) and code.co_qualname == fault.function:
            new = faulty.get((code.co_qualname, code.co_firstlineno))
            if new is not None and new.co_freevars == code.co_freevars:
                thing.__code__ = new
                planted = True
    return planted


class Passing(NamedTuple):
    """A test that passes on the sound code: its cost and the functions of gnomon that it calls."""

    seconds: float
    functions: frozenset[tuple[str, str]]


class Mutants:
    """The pytest plugin: replaces the loop over tests by one over faults."""

    def __init__(self, faults: list[Fault], limit: float, verbose: bool):
        self.faults = faults
        self.limit = limit
        self.verbose = verbose
        self.failed = False
        self.results: list[tuple[Fault, str]] = []

    def pytest_runtest_logreport(self, report):
        self.failed |= report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        begin = time.time()
        passing = in_child(lambda _: self._sound_run(session))
        say(f"{len(passing)} of {len(session.items)} tests pass in {time.time() - begin:.0f} s")
        callers = defaultdict(list)
        for item in session.items:
            if item.nodeid in passing:
                seconds, functions = passing[item.nodeid]
                for function in functions:
                    callers[function].append((item, seconds))
        for fault in self.faults:
            tests = sorted(callers[str(fault.path), fault.function], key=lambda test: test[1])
            run = partial(self._faulty_run, session, fault, tests)
            result = in_child(run) or "died"
            self.results.append((fault, result))
            if self.verbose:
                say(f"{result:11} {len(tests):4} tests  {fault}")
        return True

    def _run(self, session, item) -> bool:
        """Whether the test passes."""
        self.failed = False
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.failed

    def _sound_run(self, session) -> dict[str, Passing]:
        passing = {}
        for item in session.items:
            seen: dict[int, types.CodeType] = {}

            def note(frame, event, _, seen=seen):  # is told of calls alone, as it returns None
                seen[id(frame.f_code)] = frame.f_code

            begin = time.process_time()
            threading.settrace(note)
            sys.settrace(note)
            try:
                passes = self._run(session, item)
            finally:
                sys.settrace(None)
                threading.settrace(None)
            if passes:
                names = {
                    (c.co_filename, c.co_qualname.split(".<locals>")[0]) for c in seen.values()
                }
                inside = frozenset(name for name in names if name[0].startswith(str(SOURCE)))
                passing[item.nodeid] = Passing(time.process_time() - begin, inside)
        return passing

    def _faulty_run(self, session, fault: Fault, tests: list[tuple], answer) -> str:
        """Run tests, the quickest first, until one fails or the time for a fault is over."""
        if not tests:
            return "not run"
        if not plant(fault):
            return "not planted"
        signal.signal(signal.SIGPROF, lambda *_: answer("time"))
        for item, seconds in tests:
            signal.setitimer(signal.ITIMER_PROF, 10 * seconds + 2)
            stopped = threading.Timer(100 * seconds + 60, answer, ("time",))  # waits for ever
            stopped.daemon = True
            stopped.start()
            if not self._run(session, item):
                return "found"
            stopped.cancel()
            if time.process_time() > self.limit:
                break
        return "survives"


def functions_of(codes) -> frozenset[tuple[str, str]]:
    """File and name of the outermost functions of gnomon that the code objects belong to."""
    names = {(code.co_filename, code.co_qualname.split(".<locals>")[0]) for code in codes}
    return frozenset(name for name in names if name[0].startswith(str(SOURCE)))


def in_child(function):
    """What the function returns in a forked process, or gives to its argument; None if it dies."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result"
        child = os.fork()
        if child == 0:
            _run_and_exit(function, path)
        os.waitpid(child, 0)
        return pickle.loads(path.read_bytes()) if path.exists() else None


def _run_and_exit(function, path: Path) -> None:
    def answer(result) -> None:
        path.with_suffix(".new").write_bytes(pickle.dumps(result))
        path.with_suffix(".new").rename(path)
        os._exit(0)

    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    try:
        answer(function(answer))
    finally:
        os._exit(1)


def say(line: str) -> None:
    sys.__stderr__.write(line + "\n")
    sys.__stderr__.flush()


def table(results: list[tuple[Fault, str]]) -> str:
    """How many faults were planted and found, by package and by kind."""
    groups: dict[str, Counter] = defaultdict(Counter)
    for fault, result in results:
        if result != "not planted":
            for group in (fault.package, fault.kind, "all"):
                groups[group][result] += 1
    kinds = sorted(set(groups) - {*PACKAGES, "methods", "all"})
    lines = [f"{'':18}{'planted':>9}{'found':>7}{'not run':>9}{'share':>7}"]
    for group in (*PACKAGES, "methods", *kinds, "all"):
        counts = groups[group]
        if planted := counts.total():
            found = sum(counts[result] for result in FOUND)
            unseen = counts["not run"]
            lines.append(f"{group:18}{planted:9}{found:7}{unseen:9}{found / planted:7.0%}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", nargs="*", default=["tests"], help="what pytest is to collect")
    parser.add_argument("--count", type=int, default=240, help="faults to plant")
    parser.add_argument("--seed", type=int, default=0, help="seed of the choice of faults")
    parser.add_argument("--limit", type=float, default=60, help="processor seconds for a fault")
    parser.add_argument("--packages", nargs="+", default=[*PACKAGES, "methods"])
    parser.add_argument("--quiet", action="store_true", help="print the table alone")
    chosen, more = parser.parse_known_args()
    plugin = Mutants(
        drawn(chosen.count, chosen.seed, chosen.packages), chosen.limit, not chosen.quiet
    )
    options = ["-q", "-s", "-p", "no:xdist", "-p", "no:timeout", "-o", "addopts=--strict-markers"]
    pytest.main([*options, "-m", "not slow", *more, *chosen.tests], plugins=[plugin])
    say(table(plugin.results))
    return 0 if plugin.results else 1


if __name__ == "__main__":
    sys.exit(main())
