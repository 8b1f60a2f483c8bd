"""The command line as a person uses it."""

import os
import subprocess
import sys

import pytest

import gnomon
from gnomon.table import example


def run(*arguments, folder):
    command = [sys.executable, "-m", "gnomon", *map(str, arguments)]
    environment = os.environ | {"COLUMNS": "160", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, env=environment
    )


@pytest.fixture
def small_file(tmp_path):
    path = tmp_path / "small.csv"
    example("customers")[slice(0, 300)].save(path)
    return path


def test_learn_prints_a_leaderboard_with_the_baseline_and_writes_a_model(small_file):
    done = run("learn", small_file, "--target", "churn", "--repeats", 1, folder=small_file.parent)
    assert done.returncode == 0, done.stderr
    for name in ("BaselineClassifier", "NaiveBayes", "LogisticRegression", "RandomForest"):
        assert name in done.stdout
    assert "95% interval" in done.stdout
    model = gnomon.load(small_file.parent / "model.gnomon")
    assert len(model.predict(gnomon.read(small_file))) == 300


def test_learn_names_near_columns_when_the_target_is_wrong(small_file):
    done = run("learn", small_file, "--target", "chrun", folder=small_file.parent)
    assert done.returncode == 2
    assert "'churn'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (small_file.parent / "model.gnomon").exists()


def test_learn_refuses_a_missing_file_in_one_clear_line(tmp_path):
    done = run("learn", "nothing.csv", "--target", "y", folder=tmp_path)
    assert done.returncode == 2
    assert "nothing.csv" in done.stderr
    assert "Traceback" not in done.stderr


def test_methods_lists_what_is_registered_and_finds_words(tmp_path):
    everything = run("methods", folder=tmp_path)
    trees = run("methods", "trees", folder=tmp_path)
    nothing = run("methods", "xyzzy", folder=tmp_path)
    assert "KMeans" in everything.stdout
    assert "RandomForestClassifier" in trees.stdout
    assert "KMeans" not in trees.stdout
    assert nothing.returncode == 1
    assert "rooms" in nothing.stderr


def test_version_is_the_packages(tmp_path):
    assert gnomon.__version__ in run("--version", folder=tmp_path).stdout
