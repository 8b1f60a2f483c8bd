"""Rows followed through a fit: each step shows what the method does at that step."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.cluster import KMeans, SelfOrganizingMap
from gnomon.engine.errors import DataError
from gnomon.ensemble import StagewiseRegressor
from gnomon.linear import LogisticRegression
from gnomon.reduce import TSNE
from gnomon.show import replay_rows
from gnomon.trees import RandomForestClassifier
from gnomon.workbench.workflows import WatchRows, replay

pytestmark = pytest.mark.covers("run-report")


def followed(model, X, y=None, **options):
    """The steps of a watched fit, and its rows."""
    watch = WatchRows(X, y, **options)
    steps = replay(model.set_callbacks(watch).fit(X, y))
    return steps, watch.over(steps)


@pytest.fixture
def clouds(rng):
    centers = np.array([[0.0, 0, 0], [6, 0, 0], [0, 6, 0]])
    labels = np.repeat([0, 1, 2], 20)
    return centers[labels] + rng.normal(size=(60, 3)), labels


def test_groups_of_each_step_are_those_of_its_nearest_center(clouds):
    X, _ = clouds
    steps, rows = followed(KMeans(3, n_init=1, random_state=0, keep_history="full"), X)
    assert rows.numbers == list(range(len(steps)))
    for state, groups, placed in zip(steps.states, rows.answers, rows.centers, strict=True):
        gaps = ((X[:, None] - state["cluster_centers"]) ** 2).sum(axis=2)
        assert (groups == gaps.argmin(axis=1)).all()
        # the plane turns and projects: distances in it are at most those between the rows
        flat = np.linalg.norm(placed[:, None] - placed, axis=2)
        full = np.linalg.norm(state["cluster_centers"][:, None] - state["cluster_centers"], axis=2)
        assert (flat <= full + 1e-9).all()
    figure = replay_rows(steps, rows)
    assert len(figure.frames) == len(steps)
    assert np.allclose(figure.frames[-1].data[1].x, rows.centers[-1][:, 0], atol=1e-3)


def test_a_map_moves_its_rows_and_long_fits_show_some_steps(clouds):
    X, _ = clouds
    model = TSNE(perplexity=10, max_iter=60, random_state=0, keep_history="full")
    steps, rows = followed(model, X, most_rows=20, most_steps=16)
    assert len(steps) == 60
    assert len(rows.numbers) <= 17
    assert rows.numbers[0] == 0
    assert rows.numbers[-1] == 59, "the last step is always shown"
    assert rows.rows.tolist() == list(range(0, 60, 3))
    assert np.allclose(rows.places[-1], model.embedding_[::3])
    assert not np.allclose(rows.places[0], rows.places[-1])
    note = replay_rows(steps, rows).layout.title.text
    assert "20 rows are shown" in note
    assert f"after {len(rows.numbers)} of the steps" in note


def test_the_net_of_a_self_organizing_map_joins_neighbors(clouds):
    X, _ = clouds
    model = SelfOrganizingMap(2, 3, grid="square", random_state=0, keep_history="full")
    steps, rows = followed(model, X)
    assert len(rows.edges) == 7, "a grid of 2 x 3 cells has 7 edges"
    assert len(replay_rows(steps, rows, theme="dark").data) == 3


def test_wrong_classes_are_crosses_and_predictions_move_to_the_observed(clouds):
    X, labels = clouds
    steps, rows = followed(LogisticRegression(keep_history="full"), X, labels)
    shown = np.array(replay_rows(steps, rows).frames[0].data[0].marker.symbol)
    assert (shown == np.where(rows.answers[0] == labels, "circle", "x")).all()
    y = X @ [1.0, 2.0, 0.5]
    model = StagewiseRegressor(n_estimators=8, keep_history="full")
    steps, rows = followed(model, X, y)
    errors = [np.square(places[:, 0] - places[:, 1]).mean() for places in rows.places]
    assert errors[-1] < errors[0]
    assert rows.axes == ("observed", "predicted")


def test_what_cannot_be_followed_is_said(clouds):
    X, labels = clouds
    with pytest.raises(DataError, match="n_init=1"):
        followed(KMeans(3, n_init=4, random_state=0, keep_history="full"), X)
    with pytest.raises(DataError, match="nothing with rows before its last step"):
        followed(RandomForestClassifier(5, random_state=0, keep_history="full"), X, labels)
