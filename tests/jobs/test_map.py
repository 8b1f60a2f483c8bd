"""`gnomon map`: maps that say how far they can be trusted, linked in one report."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

import gnomon
from gnomon import show
from gnomon.engine.errors import DataError
from gnomon.table import Table
from gnomon.workbench.map.job import far_rows
from gnomon.workbench.map.quality import map_quality
from gnomon.workbench.map.report import colors_of
from tests.conftest import run_seed
from tests.jobs.browser import needs_browser, opened, require_sound
from tests.jobs.terminal import call


def clumps(rng, n: int = 40) -> dict[str, list]:
    """Three clumps in five columns, and a row far from all."""
    kinds = np.repeat([0, 1, 2], n)
    points = rng.normal(size=(3 * n, 5)) + 8 * np.eye(3, 5)[kinds]
    points[0] = 60.0
    names = {f"x{j}": points[:, j].round(3).tolist() for j in range(5)}
    return names | {"kind": np.array(["a", "b", "c"])[kinds].tolist()}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "clumps"
    table = clumps(np.random.default_rng(run_seed()))
    return gnomon.map(table, color="kind", without=["kind"], folder=folder), folder


@pytest.mark.parametrize("k", [5, 12])
def test_trustworthiness_and_continuity_are_those_of_scikit_learn(k, rng):
    points = rng.normal(size=(80, 6))
    places = points[:, :2] + 0.2 * rng.normal(size=(80, 2))
    found = map_quality(points, places, k)
    expected = trustworthiness(points, places, n_neighbors=k)
    assert found.trustworthiness.value == pytest.approx(expected)
    expected = trustworthiness(places, points, n_neighbors=k)
    assert found.continuity.value == pytest.approx(expected)


def test_stress_is_that_of_all_distances_at_the_best_scale(rng):
    from scipy.spatial.distance import pdist

    points, places = rng.normal(size=(50, 4)), rng.normal(size=(50, 2))
    true, shown = pdist(points), pdist(places)
    scale = (true @ shown) / (shown @ shown)
    expected = np.sqrt(((true - scale * shown) ** 2).sum() / (true @ true))
    assert map_quality(points, places).stress.value == pytest.approx(expected)


def test_maps_are_ordered_by_trust_and_find_the_row_that_is_far_away(found):
    result, _ = found
    assert set(result.places) == {"PCA", "stress", "Sammon", "t-SNE"}
    trust = [each.trustworthiness.value for each in result.quality.values()]
    assert trust == sorted(trust, reverse=True)
    assert result.far[0] == 0
    assert all(place.shape == (120, 2) for place in result.places.values())


def test_a_map_of_many_dimensions_of_noise_is_not_to_be_believed(rng):
    table = {f"x{j}": rng.normal(size=300).tolist() for j in range(30)}
    result = gnomon.map(table, methods=["PCA"])
    assert "believe no map" in result.verdict()


def test_the_folder_holds_coordinates_of_every_mapped_row(found):
    result, folder = found
    kept = gnomon.read(folder / "coordinates.csv").to_dict()
    assert kept["row"] == list(range(1, 121))
    np.testing.assert_allclose(kept["PCA 1"], result.places["PCA"][:, 0])
    assert kept["outlier"][0]
    assert json.loads((folder / "run.json").read_text())["job"] == "map"


def test_of_many_rows_some_are_drawn_and_it_is_said(rng):
    table = {name: rng.normal(size=2500).tolist() for name in "ab"}
    result = gnomon.map(table, methods=["PCA"], random_state=3)
    assert len(result.rows) == 2000
    assert "2,000 of 2,500 rows" in result.run.decisions[0]["what"]


def test_equal_rows_and_one_column_have_maps_too(rng):
    doubled = np.repeat(rng.normal(size=(20, 3)), 2, axis=0)
    result = gnomon.map({name: doubled[:, j].tolist() for j, name in enumerate("abc")})
    assert all(np.isfinite(place).all() for place in result.places.values())
    assert len(gnomon.map({"a": rng.normal(size=30).tolist()}).places) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"color": "knd"}, "Did you mean 'kind'"),
        ({"without": ["x9"]}, "No column is named"),
        ({"methods": ["tsne"]}, "is not one of PCA"),
    ],
)
def test_bad_questions_are_refused_by_name(options, message, rng):
    with pytest.raises((DataError, KeyError), match=message):
        gnomon.map(clumps(rng, 5), **options)


def test_the_command_writes_and_is_repeated_to_the_same_numbers(tmp_path, rng):
    Table.from_dict(clumps(rng, 15)).save(tmp_path / "clumps.csv")
    done = call("map", "clumps.csv", "--color", "kind", "--without", "kind", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "trustworthiness" in done.stdout
    assert "(map)" in call("runs", folder=tmp_path).stdout
    again = call("again", "last", folder=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr


def test_categories_beyond_eight_are_colored_as_others():
    places = np.arange(24.0).reshape(12, 2)
    figure = show.embeddings({"a": places}, {"letter": list("abcdefghijkl")})
    assert figure.data[0].marker.colorbar.ticktext[-1] == "(others)"
    with pytest.raises(DataError, match=r"shape \(n, 2\)"):
        show.embeddings({"a": places, "b": places[:5]})


@needs_browser
@pytest.mark.covers("embedding-map")
def test_a_row_that_is_pointed_at_or_selected_is_marked_on_every_map(found):
    _, folder = found
    with opened(folder / "report.html") as page:
        require_sound(page)
        page.scroll_through()
        first = "document.querySelector('.figure')"
        page.evaluate(f"{first}.emit('plotly_hover', {{points: [{{customdata: 5}}]}})")
        page.wait_for(f"{first}.querySelectorAll('.hoverlayer .hovertext').length === 4")
        page.evaluate(f"{first}.emit('plotly_selected', {{points: [{{customdata: 7}}]}})")
        page.wait_for(f"{first}._fullData.every(t => String(t.selectedpoints) === '7')")
        assert page.errors == []


def test_maps_by_neighbors_are_drawn_on_request_and_say_what_they_joined(rng):
    rows = np.vstack([rng.normal(size=(30, 3)), rng.normal(size=(30, 3)) + 50])
    table = Table.from_dict({f"c{j}": rows[:, j].tolist() for j in range(3)})
    found = gnomon.map(table, methods=["Isomap", "LLE", "spectral"])
    assert set(found.places) == {"Isomap", "LLE", "spectral"}
    assert all(np.isfinite(places).all() for places in found.places.values())
    said = [each for each in found.run.decisions if "2 parts" in str(each)]
    assert len(said) == 3


def test_few_rows_of_a_table_of_categories_are_far_and_a_lone_one_is_found(rng):
    table = {
        name: rng.choice(list(levels), 200).tolist()
        for name, levels in (("a", "xyz"), ("b", "pq"), ("c", "klmn"))
    }
    assert len(gnomon.map(table, methods=["PCA"]).far) <= 4
    equal = np.zeros((200, 3))
    equal[17] = 5.0
    assert far_rows(equal).tolist() == [17]


def test_small_counts_in_two_columns_have_no_far_rows_in_most_tables(rng):
    tables = [rng.poisson(1.0, (300, 2)).astype(float) for _ in range(20)]
    assert sum(len(far_rows(table / table.std(axis=0))) > 0 for table in tables) <= 4  # of 1
    tables[0][17] = 40.0
    assert far_rows(tables[0] / tables[0].std(axis=0)).tolist() == [17]


def test_more_rows_are_mapped_on_request_and_the_others_are_placed(rng, tmp_path):
    table = {name: rng.normal(size=2300).tolist() for name in "abc"}
    table["code"] = [f"K{place:05d}" for place in range(2300)]
    assert len(gnomon.map(table, methods=["PCA"], rows=2200).rows) == 2200
    folder = tmp_path / "run"
    result = gnomon.map(table, methods=["PCA", "stress"], rows=60, place_all=True, folder=folder)
    assert "60 rows are mapped, drawn from 2,300" in str(result)
    assert "sought among the mapped ones only" in str(result)
    kept = gnomon.read(folder / "coordinates.csv").to_dict()
    assert kept["code"] == table["code"]
    assert np.flatnonzero(kept["mapped"]).tolist() == result.rows.tolist()
    assert sum(cell is not None for cell in kept["stress 1"]) == 60
    assert None not in kept["PCA 1"]
    places = np.column_stack([kept["PCA 1"], kept["PCA 2"]])
    np.testing.assert_allclose(places[result.rows], result.places["PCA"], atol=1e-9)
    with pytest.raises(DataError, match="rows=3"):
        gnomon.map(table, rows=3)


def test_the_script_of_a_map_gives_the_same_again(rng, tmp_path):
    Table.from_dict(clumps(rng, 10)).save(tmp_path / "clumps.csv")
    gnomon.map(tmp_path / "clumps.csv", methods=["PCA"], folder=tmp_path / "run")
    done = subprocess.run(
        [sys.executable, tmp_path / "run" / "again.py"], capture_output=True, text=True, timeout=120
    )
    assert "the result is as recorded" in done.stdout, done.stderr


def test_missing_cells_are_told_with_their_share(rng, tmp_path):
    table = {name: rng.normal(size=40).tolist() for name in "ab"}
    table["a"][:10] = [None] * 10
    result = gnomon.map(table, methods=["PCA"])
    assert "a: 25.0% of the cells, read as the mean" in str(result)
    assert "25.0% of the cells" in result.report(tmp_path / "report.html").read_text()


def test_missing_categories_are_called_missing_and_figures_are_short(rng):
    levels = [None, *rng.choice(["red", "blue"], 29).tolist()]
    table = {"x": rng.normal(size=30).tolist(), "y": rng.normal(size=30).tolist(), "color": levels}
    found = gnomon.map(Table.from_dict(table), methods=["PCA"])
    assert colors_of(found)["color"][0] == "missing"
    assert all(len(cell) <= 24 for cell in found.board()[0])
