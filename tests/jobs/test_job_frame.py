"""The frame of the jobs: options are declared once, results agree, modules have no cycles."""

from __future__ import annotations

import ast
import inspect
import pkgutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

import gnomon
import gnomon.workbench
from gnomon.engine.errors import DataError
from gnomon.workbench import workflows
from gnomon.workbench.base.options import Options, option
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.cli import app
from gnomon.workbench.jobs import JOBS

PLACE = Path(gnomon.workbench.__file__).parent
MODULES = sorted(each.name for each in pkgutil.walk_packages([str(PLACE)], "gnomon.workbench."))


@dataclass
class Sample(Options):
    """Options of every type."""

    target: str = option(help="A column.")
    n: int = option(3, least=2, help="A number.")
    share: float = option(0.5, least=0, greatest=1, open=True, help="A share.")
    way: str = option("up", choices=("up", "down"), help="A way.")
    names: list[str] = option([], help="Names.")  # noqa: RUF009
    deep: bool = option(False, help="Whether.")
    limit: int | None = option(None, help="A limit.")


def imported(module: str) -> set[str]:
    """Modules of the workbench that a module imports, anywhere in it."""
    path = PLACE.parent.parent / Path(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{each.name}" for each in node.names} & set(MODULES)
            found |= names or {node.module} & set(MODULES)
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names} & set(MODULES)
    return found - {module}


def test_modules_of_the_workbench_import_each_other_without_a_cycle():
    left = {module: imported(module) for module in MODULES}
    while free := [module for module, needs in left.items() if not needs & set(left)]:
        for module in free:
            del left[module]
    assert not left


def test_every_module_is_reached_from_a_command_or_a_public_list():
    folders = {module.rpartition(".")[0] for module in MODULES}
    start = {"gnomon.workbench.cli"} | {f"gnomon.workbench.{name}.job" for name in JOBS}
    start |= {each for each in MODULES if each.endswith((".report", ".command"))}
    start |= {getattr(workflows, name).__module__ for name in workflows.__all__}
    seen: set[str] = set()
    while start:
        module = start.pop()
        if module not in seen:
            seen.add(module)
            start |= imported(module)
    assert set(MODULES) - seen <= folders


@pytest.mark.parametrize("name", JOBS)
def test_function_and_command_have_the_declared_options_and_no_others(name):
    job = JOBS[name]
    declared = job.options.declared()
    function = getattr(gnomon, job.call)
    signature = inspect.signature(function)
    assert next(iter(signature.parameters)) == job.subject
    assert {each.name for each in declared} == set(signature.parameters) - {
        job.subject,
        "source",
        "folder",
        "progress",
    }
    for each in declared:
        assert f"\n{each.name} : " in function.__doc__
        if not each.is_required:
            assert signature.parameters[each.name].default == each.default
    command = get_command(app).commands[name]
    flags = {each.name: each.opts for each in command.params}
    for each in declared:
        assert (each.name in flags) == bool(each.flag)
        if each.flag:
            assert flags[each.name] == [f"--{each.flag}"]
    assert {each.flag for each in declared if each.name == "random_state"} <= {"seed"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n": 1}, "n=1 must be at least 2"),
        ({"n": 2.5}, "n=2.5 must be a whole number"),
        ({"n": True}, "n=True must be a whole number"),
        ({"n": None}, "n=None must be a whole number"),
        ({"share": 1}, "share=1 must lie between 0 and 1"),
        ({"way": "left"}, "way='left' is not one of up, down"),
        ({"deep": "yes"}, "deep='yes' must be True or False"),
        ({"names": [1]}, "names=1 must be a string"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_by_name(given, message):
    with pytest.raises(DataError) as refused:
        Sample("y", **given)
    assert str(refused.value) == message


def test_allowed_values_are_kept_in_the_declared_type():
    made = Sample("y", n=np.int64(4), share=np.float32(0.25), names="a")
    assert made.record() == {
        "target": "y",
        "n": 4,
        "share": 0.25,
        "way": "up",
        "names": ["a"],
        "deep": False,
        "limit": None,
    }
    assert type(made.n) is int
    assert made.changed() == {"target": "y", "n": 4, "share": 0.25, "names": ["a"]}


def test_an_unknown_option_is_refused_by_the_name_of_the_job():
    with pytest.raises(TypeError, match=r"learn\(\).*'seed'"):
        gnomon.learn("example:iris", "species", seed=1)


def test_results_of_all_jobs_have_the_same_members_with_one_meaning(tmp_path):
    noisy = np.ones((8, 8))
    noisy[3, 3] = 0
    results = [
        gnomon.look("example:iris", "species"),
        gnomon.advise("example:iris", "species"),
        gnomon.map("example:iris", methods=["PCA"]),
        gnomon.image(noisy),
    ]
    for result in results:
        assert isinstance(result, JobResult)
        assert result.report(tmp_path / "report.html").read_text(encoding="utf-8").count("<html")
        assert f"gnomon.{result.run.record['job']}(" in result.script
        compile(result.script, "again.py", "exec")
        assert isinstance(result.summary(), dict)
        with pytest.raises(DataError, match="has no model to save"):
            result.save(tmp_path / "model.gnomon")
        for name in result.pictures[:1]:
            assert result.plot(name).to_json() == result.plot().to_json()
        with pytest.raises(DataError, match="picture"):
            result.plot("nothing")


def test_again_repeats_a_look_and_an_advice_from_their_records(tmp_path):
    gnomon.look("example:iris", "species", folder=tmp_path / "look")
    gnomon.advise("example:iris", "species", folder=tmp_path / "advice")
    for name in ("look", "advice"):
        assert {"run.json", "again.py", "report.html"} <= {
            each.name for each in (tmp_path / name).iterdir()
        }
        assert gnomon.again(name, runs=tmp_path).same
