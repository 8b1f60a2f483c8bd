"""``python -m gnomon.accelerate [--report] script.py [arguments]``: a script, accelerated."""

from __future__ import annotations

import argparse
import os
import runpy
import sys

from gnomon.accelerate import install, report


def main(arguments: list[str] | None = None) -> None:
    """Run a script or, with -m, a module, as Python does, with scikit-learn accelerated."""
    parser = argparse.ArgumentParser(
        "python -m gnomon.accelerate", description="Run a Python script with scikit-learn faster."
    )
    parser.add_argument(
        "--report", action="store_true", help="print at the end which calls ran where"
    )
    parser.add_argument("-m", action="store_true", help="SCRIPT is the name of a module")
    parser.add_argument("script", help="file, or module with -m")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="passed to the script")
    given = parser.parse_args(arguments)
    sys.argv = [given.script, *given.arguments]
    install()
    try:
        if given.m:
            sys.path[0] = os.getcwd()
            runpy.run_module(given.script, run_name="__main__", alter_sys=True)
        else:
            if not os.path.exists(given.script):
                parser.error(f"there is no file {given.script!r}; give a Python script")
            sys.path[0] = os.path.dirname(os.path.abspath(given.script))
            runpy.run_path(given.script, run_name="__main__")
    finally:
        if given.report:
            print(report(), file=sys.stderr)


if __name__ == "__main__":
    main()
