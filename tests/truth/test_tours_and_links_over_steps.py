"""Searches and PageRanks followed step by step: each step shows what the method held there."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.optimize import Permutation, minimize
from gnomon.sequence import pagerank
from gnomon.show import replay_rows
from gnomon.table import Table
from gnomon.workbench.workflows import LinkedPages, RowTour, replay

pytestmark = pytest.mark.covers("run-report")
LINKS = {"from": ["a", "a", "b", "c", "d", None], "to": ["b", "c", "c", "a", "c", "a"]}


@pytest.mark.parametrize("method", ["annealing", "random", "evolution"])
def test_a_search_finds_the_shortest_of_all_tours_and_each_step_is_a_tour(rng, method):
    tour = RowTour(rng.normal(size=(6, 3)))
    assert tour.distances == pytest.approx(tour.distances.T)
    found = minimize(tour, tour.space, method, max_evaluations=2000, random_state=0)
    least = min(tour(np.array([0, *rest])) for rest in itertools.permutations(range(1, 6)))
    assert found.fun == pytest.approx(least)
    steps = replay(found)
    rows = tour.over(steps)
    assert len(steps) <= 120
    for state, order, value in zip(steps.states, rows.orders, steps.objective, strict=True):
        assert sorted(order) == list(range(6))
        assert tour(order) == pytest.approx(value), "the value is that of the tour shown"
        assert state["least"] == min(found.history.values[: state["evaluations"]])
    evaluations = [state["evaluations"] for state in steps.states]
    assert (evaluations[0], evaluations[-1]) == (1, len(found.history))
    assert evaluations == sorted(set(evaluations))


def test_the_temperature_of_annealing_is_among_its_steps(rng):
    tour = RowTour(rng.normal(size=(8, 2)))
    found = minimize(tour, tour.space, "annealing", max_evaluations=3000, random_state=0)
    steps = replay(found)
    cooled = {c.evaluation: c.after for c in found.history.changes if c.name == "temperature"}
    for state in steps.states[1:]:
        past = [at for at in cooled if at <= state["evaluations"]]
        if past:
            assert state["temperature"] == cooled[max(past)]
    assert steps.states[-1]["temperature"] < steps.states[0]["temperature"]


def test_distances_of_a_tour_are_those_of_the_rows_and_long_tables_are_thinned(rng):
    rows = rng.normal(size=(30, 4))
    tour = RowTour(rows, most_rows=10)
    assert tour.shown.tolist() == list(range(0, 30, 3))
    gaps = np.linalg.norm(rows[tour.shown][:, None] - rows[tour.shown], axis=2)
    assert tour.distances == pytest.approx(gaps)
    table = Table.from_dict({"x": [0.0, 1.0, 4.0, 2.0], "group": ["a", "b", "a", "b"]})
    assert RowTour(table).distances.shape == (4, 4)
    assert RowTour(table.to_pandas()).distances == pytest.approx(RowTour(table).distances)


def test_pages_are_as_large_as_their_scores_after_each_step():
    pages = LinkedPages(Table.from_dict(LINKS), "from", "to", most_pages=3)
    assert pages.graph.links.sum() == 5, "a row without a page is no link"
    found = pagerank(pages.graph, keep_history="full")
    steps = replay(found)
    assert len(steps) == found.n_steps == len(found.history_)
    assert steps.states[-1]["scores"] == pytest.approx(found.scores)
    short = pagerank(pages.graph, max_iter=3)
    assert steps.states[2]["scores"] == pytest.approx(short.scores)
    assert steps.objective[2] == short.change
    rows = pages.over(steps)
    best = [pages.graph.pages[page] for page in found.order()[:3]]
    assert rows.names == best
    assert rows.sizes[-1] == pytest.approx(np.sort(found.scores)[::-1][:3])
    # a, b and c are linked with each other; d is not shown
    assert sorted(map(tuple, rows.links.tolist())) == [(0, 1), (0, 2), (1, 2)]


def test_the_pictures_hold_the_tour_and_the_pages(rng):
    tour = RowTour(rng.normal(size=(5, 2)))
    steps = replay(minimize(tour, tour.space, "annealing", max_evaluations=50, random_state=0))
    rows = tour.over(steps)
    frame = replay_rows(steps, rows, theme="dark").frames[-1]
    line = np.column_stack([frame.data[0].x, frame.data[0].y]).reshape(5, 3, 2)
    drawn = np.linalg.norm(line[:, 0] - line[:, 1], axis=1).sum()
    assert drawn == pytest.approx(steps.objective[-1], abs=1e-2), "the tour of two columns"

    pages = LinkedPages(Table.from_dict(LINKS), "from", "to")
    steps = replay(pagerank(pages.graph, keep_history="full"))
    figure = replay_rows(steps, pages.over(steps))
    assert "4 pages are shown" in figure.layout.title.text
    areas = np.square(figure.frames[-1].data[0].marker.size)
    assert areas / areas.sum() == pytest.approx(np.sort(steps.states[-1]["scores"])[::-1], abs=1e-2)
    assert figure.frames[0].traces == (1,), "the links stay, the pages change"


def test_parts_without_a_path_between_them_lie_side_by_side():
    apart = Table.from_dict({"from": ["a", "c", "e"], "to": ["b", "d", "f"]})
    pages = LinkedPages(apart, "from", "to")
    (places, *_) = pages.over(replay(pagerank(pages.graph, keep_history="full"))).places
    assert np.isfinite(places).all()
    gaps = np.linalg.norm(places[:, None] - places, axis=2)
    assert gaps[np.triu_indices(6, 1)].min() > 0.1


def test_what_is_no_tour_and_no_link_is_refused(rng):
    with pytest.raises(DataError, match="at least 3 rows"):
        RowTour([[0.0, 1.0], [1.0, 0.0]])
    found = minimize(lambda order: 0.0, Permutation(4), "random", max_evaluations=20)
    with pytest.raises(DataError, match="did not search for a tour"):
        RowTour(rng.normal(size=(5, 2))).over(replay(found))
    nobody = Table.from_dict({"from": ["a", None], "to": [None, "b"]})
    with pytest.raises(DataError, match="no row has both"):
        LinkedPages(nobody, "from", "to")
    with pytest.raises(DataError, match="kept no states"):
        replay(pagerank(np.ones((2, 2))))
    with pytest.raises(DataError, match="keep_history"):
        pagerank(np.ones((2, 2)), keep_history="all")
