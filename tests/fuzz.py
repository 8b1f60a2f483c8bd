"""Many changed model files, counted: ``make fuzz FUZZ="--minutes 3 --seed 1"``.

Classes are taken in turn, each with a new seed; every change is tried with kernels as plain Python.
The process ends with status 1 where a file was neither refused nor harmless.
"""

from __future__ import annotations

import argparse
import collections
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.contract.cases import CLASSES
from tests.jobs.test_model_file_mutants import FINE, outcomes, prepared

AT_ONCE = 10  # classes per process, which takes seconds to start


def main() -> int:
    """Try changed files until the time is up; the number of failures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    end = time.monotonic() + 60 * asked.minutes
    counts: collections.Counter[str] = collections.Counter()
    failures, seed = [], asked.seed
    while time.monotonic() < end:
        chosen = np.random.default_rng(seed).permutation(len(CLASSES))[:AT_ONCE]
        with tempfile.TemporaryDirectory() as folder:
            folders, _ = prepared([CLASSES[i] for i in chosen], seed, Path(folder), times=1)
            for line in outcomes(folders):
                counts[line[-1] if line[-1] in FINE else "failed"] += 1
                if line[-1] not in FINE:
                    failures.append("  ".join(line))
        print(f"seed {seed}: {dict(counts)}", flush=True)
        seed += 1
    print("\n".join(failures))
    return len(failures)


if __name__ == "__main__":
    sys.exit(bool(main()))
