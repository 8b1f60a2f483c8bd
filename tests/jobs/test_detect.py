"""`gnomon detect`: learn a detector from boxes, draw boxes in new pictures, refuse bad tables."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gnomon
from gnomon.engine.errors import DataError, GnomonError
from gnomon.linear import Ridge
from gnomon.table import Table
from gnomon.table.picture_files import write_picture
from gnomon.vision import Detections, FasterRCNNDetector, make_scenes, read_boxes, read_image
from gnomon.workbench.detect.job import _precision
from gnomon.workbench.detect.report import _mark
from gnomon.workbench.detect.result import Found
from tests.jobs.terminal import call

HEAD = "file,left,top,right,bottom,label"


def written_scenes(folder, n: int = 10, seed: int = 0) -> list:
    """Pictures of digits with a table of their boxes."""
    folder.mkdir(parents=True, exist_ok=True)
    scenes = make_scenes(
        n, size=(32, 32), scales=(12, 20), n_objects=1, labels=None, random_state=seed
    )
    lines = [HEAD]
    for i, scene in enumerate(scenes):
        write_picture(scene.image, folder / f"{i}.png")
        for box, label in zip(scene.boxes, scene.labels):
            lines.append(",".join([f"{i}.png", *map(str, box), f"d{label}"]))
    (folder / "boxes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return scenes


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A short training, its folder of pictures and its run."""
    place = tmp_path_factory.mktemp("detect")
    written_scenes(place / "photos")
    result = gnomon.detect(
        place / "photos", size=32, max_iter=1, threshold=0.0, folder=place / "run"
    )
    return place, result


@pytest.mark.covers("detector-boxes")
def test_a_detector_is_learned_measured_on_other_pictures_and_written(learned):
    place, result = learned
    assert sum(each.is_test for each in result.found) == 2
    assert 0 <= result.precision.low <= result.precision.high <= 1
    assert "not learned from" in result.verdict()
    run = place / "run"
    assert {"boxes.csv", "model.gnomon", "report.html", "run.json", "again.py"} <= {
        each.name for each in run.iterdir()
    }
    assert json.loads((run / "run.json").read_text())["status"] == "finished"
    boxes = read_boxes(run / "boxes.csv")
    assert sum(len(each[0]) for each in boxes.values()) == result.n_boxes > 0
    assert sum(line[1] for line in result.lines()) == 2  # one true box in each test picture


def test_written_pictures_show_the_boxes_and_nothing_else_changes(learned):
    place, result = learned
    for each in result.found[:3]:
        given = np.asarray(read_image(each.path), dtype=float)
        drawn = read_image(place / "run" / "pictures" / each.name).astype(float)
        changed = (drawn != given[..., None]).any(axis=2)
        outlines = np.zeros_like(changed)
        for left, top, right, bottom in np.rint(each.detections.boxes).astype(int):
            part = outlines[top:bottom, left:right]
            part[:1], part[-1:], part[:, :1], part[:, -1:] = True, True, True, True
        assert changed.any()
        assert not (changed & ~outlines).any()


def test_a_saved_run_detects_in_new_pictures_and_again_repeats_it(learned, tmp_path):
    place, _ = learned
    scenes = written_scenes(tmp_path / "new", 3, seed=1)
    (tmp_path / "new" / "boxes.csv").unlink()
    result = gnomon.detect(
        tmp_path / "new", model=str(place / "run"), folder=tmp_path / "runs" / "new"
    )
    model = gnomon.load(place / "run" / "model.gnomon")
    for each, expected in zip(result.found, model.predict(scenes)):
        assert len(each.detections) == len(expected)
    assert result.precision is None
    assert "not known" in result.verdict()
    assert gnomon.again("new", runs=tmp_path / "runs").same
    one = gnomon.detect(tmp_path / "new" / "0.png", model=str(place / "run"))
    assert len(one.found) == 1
    figure = one.plot()
    assert f"{one.n_boxes} detections" in str(figure.layout)


def test_the_command_prints_the_verdict_and_what_it_wrote(learned, tmp_path):
    place, _ = learned
    said = call(
        "detect", str(place / "photos"), "--model", str(place / "run"), "--name", "x",
        folder=tmp_path,
    )  # fmt: skip
    assert "Mean average precision" in said.stdout
    assert "boxes of the test pictures" in said.stdout
    assert (tmp_path / "runs" / "x" / "pictures" / "0.png").exists()


def test_six_pictures_without_a_fault_or_a_hit_leave_room_for_some(tmp_path):
    """The ends of the binomial distribution: 0.54 is the rate that all six hit in 2.5%."""
    scenes = make_scenes(6, n_objects=1, random_state=0)
    for share, expected in ((1, 1.0), (0, 0.0)):
        found = [
            Found(
                tmp_path,
                str(i),
                Detections(s.boxes[:share], np.ones(share), s.labels[:share].astype(str)),
                (s.boxes, s.labels.astype(str)),
                True,
            )
            for i, s in enumerate(scenes)
        ]
        estimate = _precision(found, 0)
        assert estimate.value == expected
        ends = (0.025 ** (1 / 6), 1.0) if share else (0.0, 1 - 0.025 ** (1 / 6))
        assert (estimate.low, estimate.high) == pytest.approx(ends)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["file,left,top,right,label", "0.png,1,1,5,a"], "has no column 'bottom'"),
        ([HEAD, "0.png,1,1,5,x,a"], "row 1 is not a file with four numbers"),
        ([HEAD, "9x.png,1,1,5,5,a"], "such as 9x.png"),
        ([HEAD, "0.png,1,1,50,5,a"], "boxes of 0.png.*not inside the image of 32 x 32"),
        ([HEAD, "0.png,9,1,5,5,a"], "boxes of 0.png.*has no area"),
        ([HEAD, "0.png,1,1,5,5,a"], "1 pictures have boxes; a detector needs at least 8"),
    ],
)
def test_a_wrong_table_of_boxes_is_refused_with_its_place(tmp_path, lines, words):
    written_scenes(tmp_path / "photos", 3)
    (tmp_path / "boxes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(GnomonError, match=words):
        gnomon.detect(tmp_path / "photos", boxes=str(tmp_path / "boxes.csv"))


def test_detect_says_what_is_missing(tmp_path):
    written_scenes(tmp_path / "photos", 2)
    (tmp_path / "photos" / "boxes.csv").unlink()
    with pytest.raises(DataError, match="neither a model to detect with nor a table of boxes"):
        gnomon.detect(tmp_path / "photos")
    Ridge().fit([[0.0], [1.0]], [0.0, 1.0]).save(tmp_path / "ridge.gnomon")
    with pytest.raises(DataError, match="holds a Ridge, which gives no boxes"):
        gnomon.detect(tmp_path / "photos", model=str(tmp_path / "ridge.gnomon"))
    with pytest.raises(GnomonError, match="no folder"):
        gnomon.detect(tmp_path / "nowhere", model="x")


def test_broken_pictures_are_named_and_one_class_without_labels_is_enough(tmp_path):
    scenes = written_scenes(tmp_path / "photos")
    (tmp_path / "photos" / "torn.png").write_bytes(b"\x89PNG torn")
    table = Table.from_dict(
        {
            "File": [f"{i}.png" for i in range(10)],
            **{
                name: [scene.boxes[0, k] for scene in scenes]
                for k, name in enumerate(("xmin", "ymin", "xmax", "ymax"))
            },
        }
    )
    truth = read_boxes(table)
    assert truth["3.png"][1].tolist() == ["object"]
    model = FasterRCNNDetector(filters=2, max_iter=1, random_state=0).fit(
        [scene.image for scene in scenes], [truth[f"{i}.png"] for i in range(10)]
    )
    assert model.classes_.tolist() == ["object"]
    saved = model.save(tmp_path / "model.gnomon")
    result = gnomon.detect(tmp_path / "photos", model=str(saved))
    assert len(result.found) == 10
    assert any("torn.png" in note for note in result.notes)


def test_a_detector_that_finds_nothing_is_marked_bad_and_says_what_helps(learned, tmp_path):
    place, _ = learned
    result = gnomon.detect(
        place / "photos", model=str(place / "run"), threshold=1.0, folder=tmp_path / "run"
    )
    assert result.n_boxes == 0
    assert result.precision.value == 0
    assert any("No object was found: lower the threshold" in note for note in result.notes)
    assert any("pictures of 32 x 32 pixels" in note for note in result.notes)
    assert "too high if the model was learned from them" in result.verdict()
    assert _mark(result) == "bad"
