"""Pictures of importance by permutation and of the ANOVA expansion show their numbers."""

import numpy as np
import pytest

from gnomon import show
from gnomon.trees import HistGradientBoostingRegressor, RandomForestRegressor, anova_expansion


@pytest.fixture
def problem(rng):
    rows = rng.uniform(-1, 1, size=(200, 3))
    return rows, rows[:, 0] + rows[:, 1] * rows[:, 2]


@pytest.mark.covers("permutation-importance-oob")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_importance_out_of_bag_is_drawn_with_its_error_over_trees(problem, theme):
    found = RandomForestRegressor(20, oob_importance=2, random_state=0).fit(*problem)
    found = found.oob_importances_
    bar = show.importances(found, theme=theme).data[0]
    order = np.argsort(-found.mean)
    unit = 100 / found.mean.max()
    assert list(bar.y) == [f"x{j}" for j in order]
    np.testing.assert_allclose(bar.x, unit * found.mean[order])
    np.testing.assert_allclose(bar.error_x.array, 2 * unit * found.standard_error[order])


@pytest.mark.covers("anova-expansion")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_shares_of_variance_are_drawn_with_their_intervals(problem, theme):
    model = HistGradientBoostingRegressor(max_iter=30).fit(*problem)
    expansion = anova_expansion(model, problem[0], max_rows=40)
    alone, together = show.variance_shares(expansion, theme=theme).data
    for name, value, up in zip(alone.y, alone.x, alone.error_x.array):
        assert value == pytest.approx(100 * expansion.shares[name].value)
        high = expansion.shares[name].high
        assert up == pytest.approx(100 * high - value)
    assert set(together.y) == {" × ".join(pair) for pair in expansion.pairs}
    fewer = show.variance_shares(expansion, most=2)
    assert sum(len(trace.y) for trace in fewer.data) == 2
    assert "4 lesser effects" in fewer.layout.title.text
