"""Pictures of tables: what is drawn is what the table holds, in both themes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gnomon import show
from gnomon.contract.estimate import share_interval
from gnomon.engine.errors import DataError
from gnomon.show.theme import THEMES
from gnomon.table import Table, example, five_numbers
from gnomon.workbench.look.overview import which_predicts_which

IRIS = example("iris")
NUMBERS = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
MAKERS = {
    "table_roles": lambda **o: show.table_roles(IRIS, "species", **o),
    "missing_cells": lambda **o: show.missing_cells({"a": 3}, [(("a",), 3)], 10, **o),
    "association_map": lambda **o: show.association_map(np.eye(2), ["a", "b"], p=np.eye(2), **o),
    "overview_matrix": lambda **o: show.overview_matrix([[0.5]], ["a"], ["b"], target="b", **o),
    "joint_grid": lambda **o: show.joint_grid([[1, 2]], ["r"], ["a", "b"], event="a", **o),
    "box_plot": lambda **o: show.box_plot(IRIS, NUMBERS, **o),
    "category_bars": lambda **o: show.category_bars("abracadabra", **o),
    "rates_by_category": lambda **o: show.rates_by_category(
        [("a", "x", 9, share_interval(3, 9))], what="share", overall=0.4, **o
    ),
    "pie": lambda **o: show.category_bars("abracadabra", kind="pie", **o),
    "class_histograms": lambda **o: show.class_histograms(IRIS, "petal_width", "species", **o),
    "buckets": lambda **o: show.buckets([1.0, 2.0, 3.0], [1.5], **o),
    "stem": lambda **o: show.stem([1.0, -2.0], others={"m": [0.0, 1.0]}, **o),
    "scatterplot_matrix": lambda **o: show.scatterplot_matrix(IRIS, by="species", **o),
    "class_scatter": lambda **o: show.class_scatter(IRIS, NUMBERS[:2], by="species", **o),
    "class_scatter 3-D": lambda **o: show.class_scatter(IRIS, NUMBERS[:3], by="species", **o),
    "covariance_contours": lambda **o: show.covariance_contours(IRIS, NUMBERS[:2], **o),
    "parallel_coordinates": lambda **o: show.parallel_coordinates(IRIS, by="species", **o),
    "linked_views": lambda **o: show.linked_views(IRIS, [NUMBERS[:2]], **o),
}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", MAKERS)
def test_every_picture_has_a_title_and_wears_its_theme(name, theme):
    figure = MAKERS[name](theme=theme)
    assert figure.layout.title.text
    assert figure.layout.paper_bgcolor == THEMES[theme].paper
    assert json.loads(figure.to_json())["data"]


@pytest.mark.covers("box-plot")
@pytest.mark.parametrize("whiskers", ["iqr", "range", "sd", "percentile"])
def test_boxes_and_circles_are_those_of_five_numbers(rng, whiskers):
    values = rng.standard_t(2, size=120)
    figure = show.box_plot({"x": values}, "x", whiskers=whiskers)
    expected = five_numbers(values, whiskers)
    box = next(trace for trace in figure.data if trace.type == "box")
    circles = next(t for t in figure.data if t.type == "scatter" and t.mode == "markers")
    assert (box.q1[0], box.median[0], box.q3[0]) == (
        expected.lower_quartile,
        expected.median,
        expected.upper_quartile,
    )
    assert (box.lowerfence[0], box.upperfence[0]) == (expected.low, expected.high)
    np.testing.assert_array_equal(np.sort(circles.x), expected.outliers)


@pytest.mark.covers("categorical-bars-pie")
def test_bars_are_shares_with_intervals_and_rare_values_are_one_bar():
    figure = show.category_bars({f"v{k}": 10 - k % 3 for k in range(40)}, most=10)
    bars = figure.data[0]
    assert sum(bars.y) == pytest.approx(100)
    assert bars.x[-1] == "30 others"
    assert all(low > 0 for low in bars.error_y.arrayminus)
    pie = show.category_bars(["a", "b", "a", None], kind="pie").data[0]
    assert dict(zip(pie.labels, pie["values"])) == {"a": 2, "(missing)": 1, "b": 1}


@pytest.mark.covers("class-conditional-histograms")
@pytest.mark.parametrize("curve", ["kde", "normal"])
def test_histograms_and_curves_of_each_class_have_area_one(rng, curve):
    classes = rng.permutation(np.repeat(["a", "b"], [150, 50]))
    x = rng.normal(size=200) + 8 * (classes == "b")
    figure = show.class_histograms({"x": x, "c": classes}, "x", "c", curve=curve)
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert len(bars) == 2
    for trace in bars:
        assert np.sum(np.asarray(trace.y) * np.asarray(trace.width)) == pytest.approx(1)
    for trace in (t for t in figure.data if t.type == "scatter"):
        area = np.trapezoid(np.asarray(trace.y), np.asarray(trace.x))
        assert 0.5 < area < 1.02, "the rest lies beyond the ends of the axis"


@pytest.mark.covers("discretisation-line")
def test_buckets_count_a_value_on_an_edge_above_it():
    figure = show.buckets([0, 1, 1, 2, 5, np.nan], [1, 3])
    counts = [a.text for a in figure.layout.annotations if "%" in a.text]
    assert [text.split("</b>")[0] for text in counts] == ["<b>1", "<b>3", "<b>1"]
    assert "1 missing" in figure.layout.title.text


@pytest.mark.covers("stem-plot")
def test_stems_rise_from_zero_to_each_component():
    figure = show.stem([3.0, -1.0, 2.0], others={"mean": [1.0, 1.0, 1.0]})
    stems, heads, mean = figure.data
    np.testing.assert_array_equal(np.asarray(stems.y)[1::3], [3, -1, 2])
    np.testing.assert_array_equal(np.asarray(stems.y)[0::3], [0, 0, 0])
    assert list(heads.y) == [3, -1, 2]
    assert mean.name == "mean"


@pytest.mark.covers("scatterplot-matrix")
def test_the_matrix_shows_every_class_and_the_correlations_of_all_rows(rng):
    figure = show.scatterplot_matrix(
        IRIS, NUMBERS, by="species", rows=60, random_state=int(rng.integers(99))
    )
    assert {trace.name for trace in figure.data} == {"setosa", "versicolor", "virginica"}
    assert sum(len(trace.dimensions[0]["values"]) for trace in figure.data) == 60
    assert figure.layout.dragmode == "select"
    texts = {annotation.text for annotation in figure.layout.annotations}
    r = np.corrcoef(IRIS.select(NUMBERS).to_numpy().T)
    assert {f"{r[i, j]:.2f}" for i in range(4) for j in range(i + 1, 4)} <= texts
    assert "60 of 150 rows" in figure.layout.title.text


@pytest.mark.covers("class-scatter")
def test_a_query_is_joined_to_its_nearest_rows_of_a_plain_search(rng):
    points = rng.normal(size=(50, 2)) * [1, 100]
    figure = show.class_scatter(
        {"x": points[:, 0], "y": points[:, 1]}, ["x", "y"], query=[0.0, 0.0], neighbors=3
    )
    lines = next(trace for trace in figure.data if trace.mode == "lines")
    nearest = np.argsort(((points / points.std(axis=0)) ** 2).sum(axis=1))[:3]
    np.testing.assert_allclose(np.asarray(lines.x)[1::3], points[nearest, 0])
    letters = show.class_scatter(IRIS, NUMBERS[:2], by="species", characters=True)
    assert {trace.text[0] for trace in letters.data} == {"s", "v"}
    assert show.class_scatter(IRIS, NUMBERS[:3], by="species").data[0].type == "scatter3d"


@pytest.mark.covers("covariance-contour-classes")
def test_ellipses_lie_at_their_mahalanobis_distance(rng):
    points = rng.multivariate_normal([1, 2], [[2, 1], [1, 3]], size=80)
    figure = show.covariance_contours(
        {"x": points[:, 0], "y": points[:, 1]}, ["x", "y"], deviations=(1, 2.5)
    )
    inverse = np.linalg.inv(np.cov(points.T))
    ellipses = [trace for trace in figure.data if trace.mode == "lines"]
    for trace, deviation in zip(ellipses, (1, 2.5), strict=True):
        away = np.column_stack([trace.x, trace.y]) - points.mean(axis=0)
        distance = np.sqrt(np.einsum("ij,jk,ik->i", away, inverse, away))
        np.testing.assert_allclose(distance, deviation, rtol=1e-9)


@pytest.mark.covers("covariance-contour-classes")
def test_the_course_of_a_mixture_is_replayed_step_by_step():
    course = [([[0, 0], [k, k]], [np.eye(2), np.eye(2)]) for k in range(4)]
    figure = show.covariance_contours(IRIS, NUMBERS[:2], course=course)
    assert len(figure.frames) == len(figure.layout.sliders[0].steps) == 4


@pytest.mark.covers("parallel-coordinates")
def test_lines_have_every_cell_of_complete_rows_and_the_others_are_counted():
    table = {"a": [1.0, 2.0, None], "b": ["x", "y", "x"], "c": [3.0, 4.0, 5.0]}
    figure = show.parallel_coordinates(table, ["a", "b", "c"])
    axes = {axis.label: list(axis["values"]) for axis in figure.data[0].dimensions}
    assert axes == {"a": [1, 2], "b": [0, 1], "c": [3, 4]}
    assert list(figure.data[0].dimensions[1].ticktext) == ["x", "y"]
    assert "1 with missing cells not drawn" in figure.layout.title.text


@pytest.mark.covers("linked-views")
def test_linked_views_have_the_same_rows_in_the_same_order(rng):
    figure = show.linked_views(
        IRIS, [NUMBERS[:2], NUMBERS[2:]], by="species", rows=40, random_state=int(rng.integers(99))
    )
    rows = [list(trace.customdata) for trace in figure.data]
    assert rows[0] == rows[1] == rows[2]
    assert len(rows[0]) == 40
    assert figure.layout.meta == {"linked": "rows"}


@pytest.mark.covers("table-roles-view")
def test_roles_kinds_and_missing_cells_are_shown():
    table = Table.from_dict({"key": ["A1", "A2"], "x": [1.0, None], "y": ["a", "b"]})
    figure = show.table_roles(table.set("key", kind="identifier"), "y")
    head = " ".join(figure.data[0].header["values"])
    assert all(word in head for word in ("left out", "feature", "target", "identifier", "number"))
    assert figure.data[0].cells["values"][1] == ["1.0", "missing"]


def test_columns_of_long_names_are_wide_and_as_many_as_a_page_holds():
    names = [f"a_long_name_of_{place}" for place in range(12)]
    table = Table.from_dict({"x": [1.0]} | {name: ["yes"] for name in names})
    figure = show.table_roles(table, names[-1])
    view = figure.data[0]
    assert sum(view.columnwidth) < figure.layout.width <= 920
    assert view.columnwidth[1] > 1.8 * view.columnwidth[0]
    assert [each.split("</b>")[0] for each in view.header["values"]] == [
        f"<b>{name}" for name in ["x", *names[:4], names[-1]]
    ]
    assert f"{len(names) - 5} more columns not shown" in figure.layout.title.text


@pytest.mark.covers("joint-probability-grid")
def test_the_conditional_probability_of_the_marked_cells_is_given():
    figure = show.joint_grid(
        [[3, 1], [2, 4]], ["rain", "sun"], ["a", "b"], condition="sun", event="b"
    )
    assert "P(b | sun) = 0.667" in figure.layout.title.text
    assert len(figure.layout.shapes) == 2
    with pytest.raises(DataError, match="snow"):
        show.joint_grid([[1]], ["rain"], ["a"], condition="snow")


@pytest.mark.covers("overview-matrix")
def test_squares_of_the_overview_grow_with_the_explained_share():
    found = which_predicts_which(IRIS)
    figure = show.overview_matrix(
        found.share, found.inputs, found.outputs, error=found.error, target="species"
    )
    squares = figure.data[0]
    assert len(squares.x) == 20
    shares = np.clip(found.share[~np.isnan(found.share)], 0, 1)
    assert np.corrcoef(np.asarray(squares.marker.size) ** 2, shares)[0, 1] > 0.999


def test_associations_that_are_chance_are_dotted():
    figure = show.association_map(
        [[1, 0.9, 0.1], [0.9, 1, -0.5], [0.1, -0.5, 1]],
        ["a", "b", "c"],
        p=[[np.nan, 0.001, 0.4], [0.001, np.nan, 0.01], [0.4, 0.01, np.nan]],
    )
    assert [list(row) for row in figure.data[0].text] == [
        ["", "0.90", "·"],
        ["0.90", "", "-0.50"],
        ["·", "-0.50", ""],
    ]


def test_names_with_markup_are_escaped_in_every_picture():
    table = {"<b>x</b>": [1.0, 2.0, 3.0, 5.0], "y": [2.0, 1.0, 4.0, 4.0], "c": ["<i>", "b"] * 2}
    for figure in (
        show.scatterplot_matrix(table, by="c"),
        show.class_scatter(table, ["<b>x</b>", "y"], by="c"),
        show.class_histograms(table, "<b>x</b>", "c"),
        show.table_roles(table),
        show.category_bars(table["c"], name="<b>x</b>"),
        show.parallel_coordinates(table),
    ):
        assert "<b>x</b>" not in json.dumps(json.loads(figure.to_json()))
        assert "<i>" not in json.dumps(json.loads(figure.to_json())).replace(
            "<i>number</i>", ""
        ).replace("<i>category</i>", "")


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: show.box_plot(IRIS, "species"), "does not hold numbers"),
        (lambda: show.class_histograms(IRIS, "species"), "does not hold numbers"),
        (lambda: show.class_scatter(IRIS, ["petal_width"]), "two or three"),
        (lambda: show.scatterplot_matrix(IRIS, ["petal_width"]), "two or more"),
        (lambda: show.missing_cells({}, [], 3), "no cell is missing"),
        (lambda: show.buckets([1.0], [2.0, 1.0]), "rise"),
        (lambda: show.stem({"a": [1.0], "b": [1.0, 2.0]}), "same number"),
        (lambda: show.category_bars("ab", kind="ring"), "ring"),
        (lambda: show.linked_views(IRIS, []), "pair of columns"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_reason(draw, words):
    with pytest.raises(DataError, match=words):
        draw()
