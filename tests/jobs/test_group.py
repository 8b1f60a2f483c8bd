"""`gnomon group`: named groups with honest figures, or the statement that there are none."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gnomon
from gnomon.cluster import silhouette
from gnomon.contract.estimate import Estimate
from gnomon.engine.errors import DataError
from gnomon.table import Table
from gnomon.workbench.base.runs import RunError
from gnomon.workbench.group.model import GroupModel
from gnomon.workbench.group.profile import profiles
from gnomon.workbench.group.search import Grouping, Judged, judged_places, ranked
from gnomon.workbench.group.tendency import Cloud
from tests.conftest import run_seed
from tests.jobs.browser import needs_browser, opened, require_sound
from tests.jobs.terminal import call, run

pytestmark = pytest.mark.covers("clustering-assessment-workflow")


def three_clouds(rng, n: int = 60) -> dict[str, list]:
    """Three kinds of customers, told apart by age, spending and plan."""
    kinds = np.repeat([0, 1, 2], n)
    return {
        "age": (rng.normal(size=3 * n) + np.array([25, 45, 70])[kinds]).round(1).tolist(),
        "spending": (rng.normal(size=3 * n) + np.array([10, 60, 30])[kinds]).round(2).tolist(),
        "plan": np.array(["free", "gold", "silver"])[kinds].tolist(),
        "left": np.where(
            rng.random(3 * n) < np.array([0.8, 0.1, 0.3])[kinds], "yes", "no"
        ).tolist(),
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "clouds"
    table = three_clouds(np.random.default_rng(run_seed()))
    return gnomon.group(table, without=["left"], most=5, folder=folder), folder


def test_three_clouds_are_three_groups_that_are_called_clear(found):
    result, _ = found
    assert result.chosen.k == 3
    assert result.clear
    assert sorted(each.rows for each in result.groups) == [60, 60, 60]
    assert "nearly the same groups" in result.verdict()


def test_profiles_say_what_sets_a_group_apart_also_in_columns_that_were_left_out(found):
    result, _ = found
    said = "\n".join(map(str, result.groups))
    assert "plan is 'gold' in 100% of the rows, against 0% elsewhere" in said
    assert "left is" in said
    assert len({each.name for each in result.groups}) == 3


def test_the_run_folder_holds_labels_groupings_model_report_and_script(found):
    result, folder = found
    names = {each.name for each in folder.iterdir()}
    assert names >= {"labels.csv", "groupings.csv", "model.gnomon", "report.html", "again.py"}
    labels = gnomon.read(folder / "labels.csv").to_dict()
    assert labels["group"] == result.labels.tolist()
    record = json.loads((folder / "run.json").read_text())
    assert (record["job"], record["status"]) == ("group", "finished")


def test_the_saved_model_assigns_new_rows_and_knows_the_names(found, rng):
    result, folder = found
    new = three_clouds(rng, 20)
    said = gnomon.predict(folder, new).table.to_dict()
    assert len(set(zip(said["prediction"], said["group"]))) == 3
    names = {each.number: each.name for each in result.groups}
    assert [names[group] for group in said["prediction"]] == said["group"]
    assert [len(set(said["prediction"][start : start + 20])) for start in (0, 20, 40)] == [1, 1, 1]


def test_one_normal_cloud_has_no_groups_and_it_is_said(rng):
    table = {name: rng.normal(size=300).tolist() for name in "abc"}
    result = gnomon.group(table, most=4, methods=["k-means"])
    assert not result.clear
    assert "Groups are not shown" in result.verdict() or "No grouping is stable" in result.verdict()


def test_clouds_without_groups_are_called_clear_at_most_as_often_as_chance_allows(rng):
    clear = 0
    for _ in range(12):
        table = {name: rng.normal(size=120).tolist() for name in "ab"}
        clear += gnomon.group(table, most=3, methods=["k-means"]).clear
    assert clear <= 5


def test_effects_are_those_of_hedges_and_cohen(rng):
    table = Table.from_dict({"x": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0], "c": list("aabbbb")})
    number, level = profiles(table, np.array([0, 0, 0, 1, 1, 1]))[1].traits
    exact = 1 - 3 / (4 * 4 - 1)
    assert number.effect == pytest.approx(exact * 6 / 1.0)
    assert level.effect == pytest.approx(2 * np.arcsin(1) - 2 * np.arcsin(np.sqrt(1 / 3)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"without": ["agee"]}, "Did you mean 'age'"),
        ({"groups": 1}, "at least 2"),
        ({"groups": 1000}, "between 2 and"),
        ({"methods": ["k-mean"]}, "is not one of k-means"),
        ({"without": ["age", "spending", "plan", "left"]}, "no column|has no columns"),
    ],
)
def test_bad_questions_are_refused_by_name(options, message, rng):
    with pytest.raises((DataError, KeyError), match=message):
        gnomon.group(three_clouds(rng, 10), **options)


def test_a_table_of_equal_rows_or_of_few_rows_is_refused():
    with pytest.raises(DataError, match="one value only"):
        gnomon.group({"a": [1.0] * 50, "b": ["x"] * 50})
    with pytest.raises(DataError, match="9 rows"):
        gnomon.group({"a": list(range(9))})


def test_the_command_prints_writes_and_is_repeated_to_the_same_numbers(tmp_path, rng):
    Table.from_dict(three_clouds(rng, 25)).save(tmp_path / "clouds.csv")
    options = ("--without", "left", "--most", "4", "--method", "k-means", "--method", "Ward")
    done = call("group", "clouds.csv", *options, "--strict", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 groups by" in done.stdout
    assert (tmp_path / "runs" / "clouds-groups-1" / "report.html").exists()
    listed = call("runs", folder=tmp_path).stdout
    assert "(group)" in listed
    again = call("again", "last", folder=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    as_json = call("group", "clouds.csv", *options, "--json", folder=tmp_path)
    assert json.loads(as_json.stdout)["chosen"]["k"] == 3


def test_strict_ends_with_3_where_there_are_no_groups(tmp_path, rng):
    Table.from_dict({name: rng.normal(size=200).tolist() for name in "abc"}).save(
        tmp_path / "cloud.csv"
    )
    done = call(
        "group", "cloud.csv", "--most", "3", "--method", "k-means", "--strict", folder=tmp_path
    )
    assert done.returncode in (0, 3)
    assert (done.returncode == 0) == ("nearly the same groups" in done.stdout)


def test_a_grouping_is_neither_resumed_nor_compared(found):
    _, folder = found
    with pytest.raises(RunError, match="not resumed"):
        gnomon.resume(folder)
    with pytest.raises(RunError, match="no test figure"):
        gnomon.compare([folder, folder])


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_the_report_opens_without_errors_and_draws_every_picture(found, dark):
    _, folder = found
    with opened(folder / "report.html", dark=dark) as page:
        require_sound(page)
        assert len(page.figures()) == 8
    assert (folder / "report.html").stat().st_size < 6e6


def test_of_equally_parted_groupings_the_clearly_more_stable_one_is_chosen():
    def grouping(method, k, stability, error):
        parted = Estimate(0.3, 0.29, 0.31, error=0.01)
        found = Grouping(method, k, parted, Estimate(stability, 0, 1, error=error))
        return Judged(found, np.zeros(0, dtype=int))

    def chosen(*found):
        return ranked(list(found), np.zeros((0, 2)))[0].grouping

    shaky, firm = grouping("k-means", 3, 0.81, 0.03), grouping("Ward", 3, 0.99, 0.01)
    alike = grouping("k-means", 3, 0.97, 0.02)
    assert chosen(shaky, firm).method == "Ward"
    assert chosen(alike, firm).method == "k-means"
    assert chosen(firm, grouping("k-means", 2, 0.85, 0.05)).k == 2


def test_the_silhouette_told_is_that_of_the_groups_given(rng):
    centers = 6 * rng.normal(size=(5, 3))
    points = centers[rng.integers(0, 5, 2600)] + rng.normal(size=(2600, 3))
    table = Table.from_dict({name: column.tolist() for name, column in zip("abc", points.T)})
    found = gnomon.group(table, groups=5, methods=["k-means"])
    taken = judged_places(len(points), 0)
    told = silhouette(found.model.coordinates(found.table)[taken], found.labels[taken]).total
    assert found.chosen.silhouette.value == pytest.approx(told)
    assert f"{told:.3f}" in found.figures()["silhouettes"].layout.annotations[0].text


def test_the_model_of_a_run_is_read_in_a_new_process(found, tmp_path):
    result, folder = found
    kinds = {"age": [25.0, 45.0, 70.0], "spending": [10.0, 60.0, 30.0]}
    Table.from_dict(kinds | {"plan": ["free", "gold", "silver"]}).save(tmp_path / "new.csv")
    done = run("predict", folder, "new.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    said = gnomon.read(tmp_path / "predictions.csv").to_dict()["group"]
    assert set(said) == {each.name for each in result.groups}


def blobs(rng, n: int, centers) -> dict[str, list]:
    """Normal clouds of about the same size in the plane."""
    centers = np.asarray(centers, dtype=float)
    points = centers[rng.integers(0, len(centers), n)] + rng.normal(size=(n, 2))
    return {"x": points[:, 0].tolist(), "y": points[:, 1].tolist()}


def test_groups_by_density_of_many_rows_are_those_that_were_judged_on_some(rng):
    result = gnomon.group(blobs(rng, 12_000, [[0, 0], [9, 0], [4.5, 8]]), methods=["DBSCAN"])
    assert result.chosen.k == 3
    sizes = [each.rows for each in result.groups if each.number >= 0]
    assert len(sizes) == 3
    assert min(sizes) > 2_000


def test_groups_of_all_rows_that_are_not_the_judged_ones_are_not_given(rng, monkeypatch):
    from gnomon.workbench.group import search as group_search

    def other_groups(grouping, of_judged, points, n_judged, seed):
        return group_search.made("k-means", 7, grouping.dense_share, points, seed)

    monkeypatch.setattr(group_search, "made_of_all", other_groups)
    table = blobs(rng, 2_500, [[0, 0], [9, 0], [4.5, 8]])
    result = gnomon.group(table, groups=3, methods=["k-means"])
    assert len(result.groups) == 3
    assert "the others are assigned" in str(result)


def rings(rng, n: int = 1_500) -> dict[str, list]:
    """Three rings about one centre."""
    angles, kinds = rng.uniform(0, 2 * np.pi, n), rng.integers(0, 3, n)
    radii = np.array([1.0, 3.0, 5.0])[kinds] + 0.1 * rng.normal(size=n)
    x, y = radii * np.cos(angles), radii * np.sin(angles)
    return {"x": x.tolist(), "y": y.tolist(), "ring": np.array(list("abc"))[kinds].tolist()}


def test_rings_are_groups_of_their_own_shape_and_called_clear(rng, tmp_path):
    table = rings(rng)
    result = gnomon.group(table, without=["ring"], most=6, methods=["k-means", "DBSCAN"])
    assert result.chosen.method == "DBSCAN"
    assert result.clear
    assert "density index" in result.verdict()
    for number in range(result.chosen.k):
        kinds = np.array(table["ring"])[result.labels == number]
        assert len(set(kinds.tolist())) == 1
    page = result.report(tmp_path / "report.html").read_text()
    assert "one may lie round another" in page
    assert all(each.name in page for each in result.groups)


def test_independent_answers_of_yes_and_no_are_no_groups(rng):
    table = {name: rng.choice(["yes", "no"], 400).tolist() for name in ("a", "b", "c")}
    result = gnomon.group(table)
    assert max(each.k for each in result.groupings) < 8
    assert len({(each.method, each.k) for each in result.groupings}) == len(result.groupings)
    assert "At most 7 groups are tried" in str(result)
    tried = [result.tendency.p]
    for _ in range(3):
        table = {name: rng.choice(["yes", "no"], 400).tolist() for name in ("a", "b", "c")}
        tried.append(gnomon.group(table, methods=["k-means"]).tendency.p)
    assert max(tried) > 0.05


def test_answers_that_go_together_are_groups(rng):
    kinds = rng.integers(0, 3, 300)
    words = np.array(["low", "middle", "high"])
    table = {
        name: np.where(rng.random(300) < 0.9, words[kinds], rng.choice(words, 300)).tolist()
        for name in ("a", "b", "c", "d")
    }
    result = gnomon.group(table, most=5, methods=["k-means"])
    assert (result.chosen.k, result.clear) == (3, True)


def test_two_humps_of_one_column_are_groups_and_one_skewed_hump_is_none(rng):
    humps = (rng.normal(size=300) + 9 * rng.integers(0, 2, 300)).tolist()
    result = gnomon.group({"x": humps}, most=3, methods=["k-means"])
    assert (result.chosen.k, result.clear) == (2, True)
    clear = [
        gnomon.group({"x": rng.exponential(size=200).tolist()}, most=3, methods=["k-means"]).clear
        for _ in range(4)
    ]
    assert not all(clear)


def test_more_groups_than_different_rows_are_refused(rng):
    table = {"a": rng.choice(list("xyz"), 200).tolist(), "b": rng.choice(list("pq"), 200).tolist()}
    with pytest.raises(DataError, match="groups=50: the rows have only 6 different values"):
        gnomon.group(table, groups=50)
    with pytest.raises(DataError, match="only 2 different values"):
        gnomon.group({"a": ["yes", "no"] * 20})


def test_sampling_and_missing_cells_are_told_on_the_screen_and_in_the_report(rng, tmp_path):
    table = blobs(rng, 2_100, [[0, 0], [9, 0]])
    table["x"] = [None if place % 5 == 0 else value for place, value in enumerate(table["x"])]
    result = gnomon.group(table, groups=2, methods=["k-means"])
    said = str(result)
    assert "judged on 2,000 of 2,100 rows" in said
    assert "x: 20.0% of the cells, read as the mean" in said
    page = result.report(tmp_path / "report.html").read_text()
    assert "missing" in page
    assert "2,000 of 2,100 rows" in page


def test_files_hold_numbers_and_the_names_of_rows(rng, tmp_path):
    table = blobs(rng, 60, [[0, 0], [12, 0]])
    table["name"] = [f"K{place:05d}" for place in range(60)]
    result = gnomon.group(table, most=3, methods=["k-means"], folder=tmp_path / "run")
    kept = gnomon.read(tmp_path / "run" / "groupings.csv").to_dict()
    assert kept["silhouette"][0] == result.chosen.silhouette.value
    assert kept["stability error"][0] == result.chosen.stability.error
    labels = gnomon.read(tmp_path / "run" / "labels.csv").to_dict()
    assert labels["name of the table"] == table["name"]


def test_profiles_speak_in_the_words_and_digits_of_the_table(tmp_path):
    lines = [f"{word},{price}" for word, price in zip(["ja", "nein"] * 30, [11_530, 52_070] * 30)]
    lines = [f"{line}.{place % 7}" for place, line in enumerate(lines)]
    (tmp_path / "sales.csv").write_text("\n".join(["paid,price", *lines]))
    first, _ = profiles(gnomon.read(tmp_path / "sales.csv"), np.tile([0, 1], 30))
    said = str(first)
    assert "paid is 'ja' in 100% of the rows, against 0% elsewhere" in said
    assert "mean 11,530 against 52,070 elsewhere" in said


def test_columns_that_took_no_part_are_told_apart(found):
    result, _ = found
    assert "Groups were made without left: there effects are findings." in str(result)


def test_a_number_that_parts_the_groups_wholly_is_told_first():
    label = np.repeat([0, 1], 10)
    table = Table.from_dict({"x": np.arange(20.0).tolist(), "code": (label + 0.5).tolist()})
    first = profiles(table, label)[1]
    assert first.traits[0].column == "code"
    assert first.traits[0].is_typical
    assert str(first.traits[0]) == "code is higher: 1.5 in all rows, 0.5 in all others"


def test_clouds_of_more_columns_than_rows_have_the_columns_values(rng):
    rows = rng.normal(size=(30, 80))
    cloud = Cloud(rows, [slice(j, j + 1) for j in range(80)], rng)
    np.testing.assert_allclose(np.linalg.norm(cloud.factor, axis=1), 1)
    drawn = cloud.draw(rng)
    assert drawn.shape == rows.shape
    assert (drawn.min(axis=0) >= rows.min(axis=0)).all()
    assert (drawn.max(axis=0) <= rows.max(axis=0)).all()


def test_missing_answers_are_read_as_the_share_of_yes(rng):
    columns = three_clouds(rng)
    n = len(next(iter(columns.values())))
    columns["member"] = [None, *(rng.random(n - 1) < 0.5).tolist()]
    model = GroupModel().fit_space(Table.from_dict(columns))
    assert "share of yes" in model.missing_cells(n)["member"]


def fifteen_clouds(rng):
    """Fifteen clouds on a grid, far apart, and the number of the cloud."""
    centres = np.array([[10.0 * (k % 5), 10.0 * (k // 5)] for k in range(15)])
    cloud = np.repeat(np.arange(15), 20)
    points = centres[cloud] + 0.5 * rng.normal(size=(300, 2))
    return {"x": points[:, 0], "y": points[:, 1], "cloud": [f"c{k}" for k in cloud]}


def test_more_than_ten_groups_are_found_where_the_rows_have_them(rng):
    result = gnomon.group(fifteen_clouds(rng), without=["cloud"], methods=["k-means", "Ward"])
    assert result.chosen.k == 15
    assert any("groups are tried too" in each for each in result.notes)
    assert not any("cloud" in each.name for each in result.groups)
    assert any(trait.column == "cloud" for each in result.groups for trait in each.traits)


def test_a_search_that_stops_at_its_cap_says_so(rng):
    result = gnomon.group(fifteen_clouds(rng), without=["cloud"], most=4, methods=["k-means"])
    stopped = [each for each in result.notes if "stopped at" in each]
    assert bool(stopped) == (result.chosen.k == 4)
    result = gnomon.group(fifteen_clouds(rng), without=["cloud"], most=15, methods=["Ward"])
    assert result.chosen.k == 15
    assert "stopped at 15 groups" in " ".join(result.notes)
