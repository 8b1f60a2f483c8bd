"""What `decide` says of outcomes that no input says anything of."""

from __future__ import annotations

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.workbench.decide.job import improve
from tests.truth.simulation.harness import Outcome, simulation
from tests.truth.simulation.laws import FOR_INDEPENDENT, MORE_LAWS, as_dict


@simulation("decide", "outcomes are predicted", laws=FOR_INDEPENDENT, quick=1, quick_laws=1)
def chance_outcomes(law: str, rng: np.random.Generator) -> Outcome:
    """Inputs and an outcome that have nothing to do with each other: nothing is proposed."""
    X = np.column_stack([MORE_LAWS[law](rng, 80) for _ in range(2)])
    table = as_dict(X, y=MORE_LAWS[law](rng, 80))
    try:
        improve(table, turn=["x0", "x1"], want=["y:more"], learners=["ridge"], proposals=2)
    except DataError as error:
        if "better than the baseline" not in str(error):
            raise
        return {"outcomes are predicted": False}
    return {"outcomes are predicted": True}
