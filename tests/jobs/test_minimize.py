"""The job `minimize` and the advice on optimizers, as a person uses them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gnomon
from gnomon.engine.errors import DataError
from gnomon.workbench.minimize.advice import optimizer_advice
from tests.jobs.terminal import call

FILE = """
import numpy as np
from gnomon.optimize import Categorical, Real

space = {"rate": Real(0.001, 1, log=True), "kind": Categorical(["a", "b"])}


def cost(point):
    return (np.log10(point["rate"]) + 1) ** 2 + (point["kind"] == "a")


def bowl(x):
    return float(((x - 1) ** 2).sum())


def bowl_gradient(x):
    return 2 * (x - 1)


def broken(x):
    raise RuntimeError("no furnace")


cost_space = space
bowl_space = [(-5, 5), (-5, 5)]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "furnace.py"
    path.write_text(FILE)
    return path


@pytest.mark.covers("optimiser-advisor")
def test_a_function_of_a_file_is_minimized_written_and_repeated(file, tmp_path):
    folder = tmp_path / "runs" / "one"
    found = gnomon.minimize(
        f"{file}:bowl", methods=["l-bfgs", "cma-es"], max_evaluations=300, folder=folder
    )
    np.testing.assert_allclose(found.x, [1, 1], atol=1e-3)
    names = {each.name for each in folder.iterdir()}
    assert {"run.json", "again.py", "report.html", "evaluations.csv", "changes.csv"} <= names
    assert {"trace-l-bfgs.jsonl", "trace-cma-es.jsonl"} <= names
    assert gnomon.again("one", runs=tmp_path / "runs").same
    assert found.pictures == ["progress", "paths"] or "changes" in found.pictures
    assert json.loads(found.to_json())["methods"]["l-bfgs"]["evaluations"] < 20


def test_mixed_spaces_come_from_the_file_or_the_flags(file):
    of_file = gnomon.minimize(f"{file}:cost", max_evaluations=600)
    assert of_file.x["kind"] == "b"
    assert of_file.fun < 1e-2
    given = gnomon.minimize(
        f"{file}:cost", bounds=["rate=0.01:1:log", "kind=a|b"], max_evaluations=300
    )
    assert given.x["rate"] >= 0.01


def test_bad_functions_and_bounds_are_named(file):
    with pytest.raises(DataError, match="no furnace"):
        gnomon.minimize(f"{file}:broken", bounds=["0:1"])
    with pytest.raises(DataError, match="has no function"):
        gnomon.minimize(f"{file}:nothing")
    with pytest.raises(DataError, match=r"FILE\.py:NAME"):
        gnomon.minimize("furnace")
    with pytest.raises(DataError, match="is no bound"):
        gnomon.minimize(f"{file}:bowl", bounds=["few"])
    with pytest.raises(DataError, match="every bound or to none"):
        gnomon.minimize(f"{file}:bowl", bounds=["x=0:1", "0:1"])
    with pytest.raises(DataError, match="--bound"):
        gnomon.minimize(lambda x: 0.0)


@pytest.mark.covers("optimiser-advisor")
def test_advice_follows_the_function():
    smooth = optimizer_advice(lambda x: float(x @ x), [(-1, 1)] * 4, gradient=True)
    assert smooth.methods[0] == "l-bfgs"
    rough = optimizer_advice(lambda x: float((x**2 - np.cos(9 * x)).sum()), [(-5, 5)] * 4)
    assert rough.methods[0] == "cma-es"
    assert rough.facts["convex"] is False
    mixed = optimizer_advice(lambda p: float(p["n"]), {"n": [1, 2], "x": (0, 1)})
    assert mixed.methods[0] in ("evolution", "annealing")
    rng = np.random.default_rng(0)
    noisy = optimizer_advice(lambda x: float(rng.normal()), [(-1, 1)] * 4)
    assert noisy.facts["noisy"]
    assert noisy.methods.index("l-bfgs") > noisy.methods.index("cma-es")


def test_commands_print_the_minimum_and_the_advice(file, tmp_path):
    done = call("minimize", f"{file}:bowl", "--method", "l-bfgs", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["fun"] < 1e-8
    told = call("advise", "--function", f"{file}:bowl", folder=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "l-bfgs" in told.stdout
    assert "convexity" in told.stdout


def test_a_function_takes_its_bounds_as_arguments_a_dict_or_an_array():
    def each(y, x):
        return (x - 0.25) ** 2 + (y - 1) ** 2

    def point(at):
        return each(at["y"], at["x"])

    def array(at, scale=1.0):
        return scale * each(at[1], at[0])

    named, plain = ["x=0:1", "y=0:2"], ["0:1", "0:2"]
    ways = [(each, named), (each, plain[::-1]), (point, named), (array, plain)]
    for function, bounds in ways:
        found = gnomon.minimize(function, bounds=bounds, max_evaluations=600)
        assert found.fun < 1e-3
    told = gnomon.minimize(each, bounds=named, max_evaluations=600).summary()
    assert told["x"] == pytest.approx({"x": 0.25, "y": 1.0}, abs=0.05)


def test_one_argument_that_bears_the_name_of_the_bound_is_given_the_number():
    found = gnomon.minimize(lambda x: (x - 0.25) ** 2, bounds=["x=0:1"], max_evaluations=200)
    assert found.fun < 1e-3


def test_the_advice_on_optimizers_takes_bounds_and_says_what_it_needs(file, tmp_path):
    given = ("--bound", "-5:5", "--bound", "-5:5")
    told = call("advise", "--function", f"{file}:broken", *given, folder=tmp_path)
    assert told.returncode == 2
    assert "no furnace" in told.stderr
    (tmp_path / "plain.py").write_text("def far(x, y):\n    return x * x + y * y\n")
    told = call("advise", "--function", "plain.py:far", *given, folder=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "cma-es" in told.stdout
    assert "--bound" in call("advise", "--function", "plain.py:far", folder=tmp_path).stderr
