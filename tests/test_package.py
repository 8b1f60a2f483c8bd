"""The built package: its files, and what a new environment can do with it.

The slow test builds the source archive and from it the wheel, and installs that with what it stands
on into a new environment; it needs a package index.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import gnomon
from tests.jobs.test_documentation import blocks, write_files_of_readme

ROOT = Path(__file__).parents[1]


def test_the_version_is_stated_once():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert "version" in project["dynamic"]
    assert "version" not in project
    assert f"version: {gnomon.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def bound_by_permissions() -> None:
    """Let permissions of files bind the next program of this process though its user is root."""
    drop_capability, override_permissions = 24, 1  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
    ctypes.CDLL(None).prctl(drop_capability, override_permissions, 0, 0, 0)


def runner(folder: Path) -> Callable[..., str]:
    """Runs commands in a folder, away from the source tree and from this user's caches."""
    kept_out = ("PYTHONPATH", "VIRTUAL_ENV", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    clean = {name: value for name, value in os.environ.items() if name not in kept_out}
    clean |= {"HOME": str(folder), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    ordinary = bound_by_permissions if sys.platform == "linux" and os.geteuid() == 0 else None

    def run(*command: str | Path) -> str:
        done = subprocess.run(
            [str(each) for each in command],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env=clean,
            preexec_fn=ordinary,
        )
        assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
        return done.stdout + done.stderr

    return run


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_readme_runs_in_a_new_read_only_environment(tmp_path):
    run = runner(tmp_path)
    scripts = "Scripts" if os.name == "nt" else "bin"
    run(sys.executable, "-m", "venv", "tools")
    run(tmp_path / "tools" / scripts / "python", "-m", "pip", "install", "-q", "build")
    run(tmp_path / "tools" / scripts / "python", "-m", "build", "-o", tmp_path / "dist", ROOT)
    (archive,) = (tmp_path / "dist").glob("*.tar.gz")
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    with tarfile.open(archive) as packed:
        names = packed.getnames()
    top = f"gnomon-{gnomon.__version__}"
    assert {f"{top}/{name}" for name in ("LICENSE", "README.md", "pyproject.toml")} <= set(names)
    assert f"{top}/src/gnomon/py.typed" in names
    with zipfile.ZipFile(wheel) as packed:
        inside = packed.namelist()
    assert "gnomon/py.typed" in inside
    assert "gnomon/workbench/web/static/htmx.LICENSE.txt" in inside
    assert "gnomon/show/static/plotly.LICENSE.txt" in inside
    assert not [name for name in inside if name.endswith((".nbc", ".nbi", ".pyc"))]

    run(sys.executable, "-m", "venv", "new")
    python = tmp_path / "new" / scripts / "python"
    run(python, "-m", "pip", "install", "-q", wheel)
    installed = Path(run(python, "-c", "import gnomon; print(gnomon.__file__)").strip())
    assert tmp_path in installed.parents
    package = [installed.parent, *installed.parent.rglob("*")]
    for path in package:
        path.chmod(0o555 if path.is_dir() else 0o444)
    write_files_of_readme(tmp_path)
    (tmp_path / "readme.py").write_text("\n".join(blocks(ROOT / "README.md")), encoding="utf-8")
    first = run(python, "readme.py")
    assert first.count("compiling kernels") == 1, "the first use says it once"
    assert "compiling kernels" not in run(python, "readme.py"), "they are kept elsewhere"
    command = tmp_path / "new" / scripts / "gnomon"
    run(command, "look", "sales.csv")
    said = run(command, "learn", "sales.csv", "--target", "churn", "--budget", "20s")
    assert "accuracy" in said
    (found,) = (tmp_path / "runs").iterdir()
    run(command, "predict", found, "sales.csv")
    assert {installed.parent, *installed.parent.rglob("*")} == set(package), "nothing was written"
