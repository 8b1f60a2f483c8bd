"""Invariances of selectors: units, order of rows, weights as repetitions, threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.select import (
    Backward,
    FilterSelector,
    Forward,
    RecursiveElimination,
    StabilitySelector,
    WrapperSelector,
    stability_score,
)

SELECTORS = {
    "filter": lambda: FilterSelector(2),
    "mrmr": lambda: FilterSelector(2, redundancy="mrmr"),
    "forward": lambda: WrapperSelector(search=Forward(most=3), random_state=0),
    "backward": lambda: WrapperSelector(search=Backward(), random_state=0),
    "elimination": lambda: RecursiveElimination(random_state=0),
    "stability": lambda: StabilitySelector(n_halves=10, random_state=0),
}
each_selector = pytest.mark.parametrize("name", list(SELECTORS))


def problem(seed: int):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 5))
    return rng, X, 3 * X[:, 1] - 2 * X[:, 4] + 0.5 * rng.normal(size=60)


def support(name: str, X, y, weights=None) -> list[int]:
    return SELECTORS[name]().fit(X, y, sample_weight=weights).get_support(indices=True).tolist()


@each_selector
@given(seed=st.integers(0, 2**32 - 1))
def test_rows_in_another_order_and_whole_weights_change_nothing(name, seed):
    rng, X, y = problem(seed)
    times = rng.integers(1, 3, len(X))
    rows = rng.permutation(np.repeat(np.arange(len(X)), times))
    assert support(name, X, y, times) == support(name, X[rows], y[rows])


@given(values=st.integers(2, 12), chosen=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_stability_is_at_most_one_and_does_not_depend_on_the_names_of_features(
    values, chosen, seed
):
    rng = np.random.default_rng(seed)
    masks = rng.random((values, 9)) < chosen / 9
    found = stability_score(masks).value
    shuffled = stability_score(masks[:, rng.permutation(9)]).value
    if np.isnan(found):
        assert np.isnan(shuffled)
    else:
        assert found <= 1 + 1e-12
        assert found == pytest.approx(shuffled)
