"""Pictures of decisions draw what the solved objects hold."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon import show
from gnomon.decide import (
    Chance,
    Decision,
    Goal,
    Payment,
    Turn,
    Unknown,
    UtilityTree,
    pareto_front,
    propose_settings,
    sweep,
)
from gnomon.linear import LinearRegression

THEMES = pytest.mark.parametrize("theme", ["light", "dark"])


def texts(figure) -> list[str]:
    return [each.text for each in figure.layout.annotations]


@pytest.mark.covers("utility-tree-drawing")
@THEMES
def test_every_node_of_a_utility_tree_has_its_value_and_untaken_branches_are_grey(theme):
    game = Payment(1.0, Chance({"win": (Unknown("p"), 10.0), "lose": (None, -2.0)}))
    tree = UtilityTree(Decision({"play": game, "refuse": 0.0}))
    figure = show.utility_tree(tree, p=0.5, theme=theme)
    for value in ("<b>3</b>", "<b>4</b>", "<b>10</b>", "<b>-2</b>", "<b>0</b>"):
        assert value in texts(figure)
    assert "win (0.5)" in texts(figure)
    widths = [trace.line.width for trace in figure.data if trace.mode == "lines"]
    assert sorted(widths) == [2, 3, 3, 3, 3]
    refused = show.utility_tree(tree, p=0.0, theme=theme)
    widths = [trace.line.width for trace in refused.data if trace.mode == "lines"]
    assert sorted(widths) == [2, 2, 2, 2, 3]


@THEMES
def test_regions_fronts_sweeps_and_proposals_are_drawn(theme, rng):
    p, price = Unknown("p"), Unknown("price")
    tree = UtilityTree(
        Decision({"play": Payment(price, Chance({"w": (p, 2.0), "l": (None, 0.0)})), "refuse": 0.0})
    )
    regions = tree.regions(("p", 0, 1), ("price", 0, 2))
    figure = show.threshold_regions(regions, theme=theme)
    assert (np.asarray(figure.data[0].z) == regions.codes).all()
    values = rng.random((50, 2))
    found = pareto_front(values, {"a": "more", "b": "less"})
    figure = show.front(found, values, chosen=found.knee(), theme=theme)
    assert len(figure.data[0].x) == 50
    assert len(figure.data[1].x) == len(found.rows)
    wide = rng.random((50, 4))
    many = pareto_front(wide, dict.fromkeys("abcd", "less"))
    assert len(show.front(many, theme=theme).data) == len(many.rows)
    X = rng.random((80, 3))
    model = LinearRegression().fit(X, X.sum(axis=1))
    for over in ((0, 1), 0):
        swept = sweep(model, X, over, n_points=10)
        drawn = show.sweeper(swept, theme=theme).data[0]
        shown = drawn.z if drawn.type == "heatmap" else drawn.y
        assert np.asarray(shown) == pytest.approx(swept.values)
    settings = propose_settings(
        {"y": model}, X, {"x0": Turn(), "x1": Turn()}, {"y": Goal("near", 1.5)}, n=3
    )
    assert len(show.proposals(settings, theme=theme).data[0].x) == len(settings.settings)
