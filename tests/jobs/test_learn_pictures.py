"""`gnomon learn` on a folder of pictures: labels from folder names, galleries of errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import gnomon
from gnomon.engine.errors import DataError
from gnomon.table.picture_files import write_picture
from gnomon.workbench.cli import app


@pytest.fixture
def photos(rng, tmp_path):
    """Pictures of bars: upright or lying, some of them in the wrong folder."""
    for i in range(60):
        image = rng.integers(0, 60, (24, 24))
        upright = i % 2 == 0
        place = rng.integers(4, 18)
        if upright:
            image[:, place : place + 3] = 255
        else:
            image[place : place + 3] = 255
        label = "upright" if upright != (i % 8 < 2) else "lying"  # a quarter is misfiled
        folder = tmp_path / "photos" / label
        folder.mkdir(parents=True, exist_ok=True)
        write_picture(image, folder / f"{i}.png")
    return tmp_path / "photos"


@pytest.mark.slow
@pytest.mark.covers("image-classification-pipeline")
def test_learn_takes_a_folder_and_shows_the_wrong_pictures(photos, tmp_path):
    result = gnomon.learn(
        str(photos),
        target="folder",
        learners=["naive Bayes"],
        curve=False,
        budget=60,
        random_state=0,
        folder=tmp_path / "run",
    )
    assert result.task == "classify"
    y, said = np.array(result.problem.values(result.test_table)), result.said.predictions
    numbers = np.array([int(Path(n).stem) for n in result.test_table["file"].to_pylist()])
    wrong, misfiled = y != said, numbers % 8 < 2
    assert (wrong & misfiled).any()  # a bar in the wrong folder is taken for what it shows
    assert not wrong.all()
    for name, group, other in (
        ("missed_pictures", y, said),
        ("intruding_pictures", said, y),
    ):
        figure = result.plot(name)
        assert f"{wrong.sum()} of {len(y)} images are classified wrongly" in str(
            figure.layout.title.text
        )
        expected = []
        for line in np.unique(group[wrong]):
            expected += [line, *other[wrong & (group == line)]]
        assert [each.text for each in figure.layout.annotations] == expected
    assert "gnomon.vision.picture_table" in result.script
    assert result.chosen != "baseline"


def test_a_folder_of_one_class_is_refused(photos, tmp_path):
    for file in (photos / "lying").iterdir():
        file.unlink()
    (photos / "lying").rmdir()
    with pytest.raises(DataError, match=r"upright|one"):
        gnomon.learn(str(photos), target="folder")


def test_the_command_line_reads_a_folder(photos, tmp_path):
    done = CliRunner().invoke(app, ["look", str(photos), "--runs", str(tmp_path / "runs")])
    assert done.exit_code == 0, done.output
    assert "60" in done.output
