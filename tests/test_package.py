"""The built package: its files, and what a new environment can do with it.

The slow test installs the wheel into a new environment that takes its dependencies from this one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

import gnomon

ROOT = Path(__file__).parents[1]


def test_the_version_is_stated_once():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert "version" in project["dynamic"]
    assert "version" not in project
    assert f"version: {gnomon.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


@pytest.mark.slow
def test_the_wheel_works_without_the_source_tree_and_read_only(tmp_path):
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*command: str) -> str:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=tmp_path, env=clean
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    build = ("-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(tmp_path))
    run(sys.executable, *build, str(ROOT))
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "gnomon/py.typed" in names
    assert not [name for name in names if name.endswith((".nbc", ".nbi", ".pyc"))]
    run(sys.executable, "-m", "venv", str(tmp_path / "venv"))
    python = str(tmp_path / "venv" / "bin" / "python")
    run(python, "-m", "pip", "install", "--no-deps", str(wheel))
    show = "import gnomon; print(gnomon.__file__)"
    installed = Path(run(python, "-c", show).strip())
    assert tmp_path in installed.parents
    dependencies = sysconfig.get_path("purelib")
    (installed.parents[1] / "dependencies.pth").write_text(dependencies)
    for path in installed.parent.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    command = (python, "-m", "gnomon", "learn", "--example", "customers", "--target", "churn")
    said = run(*command, "--budget", "20s")
    assert "accuracy" in said
