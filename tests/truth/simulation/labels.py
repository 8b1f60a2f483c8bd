"""What `label` says of the choice of rows where every choice is as good."""

from __future__ import annotations

import numpy as np
from sklearn.naive_bayes import GaussianNB

from gnomon.semi import label_curve
from gnomon.workbench.label.job import POINTS, REPEATS
from tests.truth.simulation.harness import Outcome, simulation
from tests.truth.simulation.laws import FOR_INDEPENDENT, MORE_LAWS

ROWS, FIRST, LAST = 120, 10, 60


@simulation("label", "gain over random choice", laws=FOR_INDEPENDENT, quick=1)
def nothing_to_choose(law: str, rng: np.random.Generator) -> Outcome:
    """Classes that no column says anything of; a quick learner for the job's forest."""
    X = np.column_stack([MORE_LAWS[law](rng, ROWS) for _ in range(3)])
    y = MORE_LAWS[law](rng, ROWS) > 0.2
    curve = label_curve(
        GaussianNB(),
        X,
        y,
        n_start=FIRST,
        n_labels=LAST,
        n_queries=(LAST - FIRST) // POINTS,
        n_repeats=REPEATS,
        random_state=int(rng.integers(2**31)),
    )
    return {"gain over random choice": curve.helps}
