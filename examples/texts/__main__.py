"""The command: python -m examples.texts --data FOLDER [--only 000]."""

from __future__ import annotations

import argparse

from examples.texts import all_texts  # noqa: F401  (enters the experiments)
from examples.texts.frame import SEED, Folder, run

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m examples.texts", description=__doc__)
    parser.add_argument("--data", help="folder with the data sets that gnomon does not carry")
    parser.add_argument("--only", action="append", default=[], help="text or name of an experiment")
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    missed = run(Folder(given.data) if given.data else None, given.only, given.seed)
    if missed:
        raise SystemExit(f"{len(missed)} not computed: {', '.join(missed)}")
