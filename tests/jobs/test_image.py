"""The job image: pictures in files, cleaned and segmented, as a person runs it."""

from __future__ import annotations

import json
import struct
import zlib

import numpy as np
import pytest
from scipy.ndimage import median_filter
from sklearn.datasets import load_sample_image

from gnomon.engine.errors import DataError
from gnomon.show import labeled_image
from gnomon.table.picture_files import SIGNATURE, _chunk, read_picture, write_picture
from gnomon.workbench.image.job import image, noise_deviation
from tests.jobs.terminal import call


def square(rng: np.random.Generator, flips: float) -> tuple[np.ndarray, np.ndarray]:
    truth = np.zeros((40, 48), dtype=int)
    truth[8:32, 10:36] = 1
    return truth, np.where(rng.random(truth.shape) < flips, 1 - truth, truth)


@pytest.mark.covers("binary-image-denoiser")
def test_a_noisy_picture_of_two_values_comes_back_cleaner(rng, tmp_path):
    truth, noisy = square(rng, 0.1)
    given = write_picture(255 * noisy, tmp_path / "noisy.png")
    found = image(given, strength=2.0, folder=tmp_path / "run")
    errors = [(each / 255 != truth).mean() for each in (read_picture(given), found.answer)]
    assert errors[1] < errors[0] / 3
    np.testing.assert_array_equal(read_picture(tmp_path / "run" / "answer.png"), found.answer)
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["status"] == "finished"
    assert "plotly" in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.covers("grey-level-mrf-denoiser")
def test_gray_noise_is_measured_and_cleaned(rng):
    truth, _ = square(rng, 0.0)
    levels = 60 + 120 * truth + rng.normal(scale=10, size=truth.shape)
    assert noise_deviation(levels) == pytest.approx(10, rel=0.25)
    found = image(levels, strength=3.0)
    before, after = ((each - 60 - 120 * truth) ** 2 for each in (levels, found.answer))
    assert after.mean() < before.mean() / 1.5


@pytest.mark.parametrize("noise", [10, 25, 50])
def test_photographs_and_patches_are_cleaned_better_than_by_a_median_of_5_x_5(rng, noise):
    photo = load_sample_image("flower.jpg")[100:180, 200:290].astype(float)
    patches = np.full((60, 70), 40.0)
    patches[10:40, 15:50], patches[30:55, 35:65] = 120, 200
    for truth in (photo, photo.mean(axis=2), patches):
        noisy = truth + rng.normal(scale=noise, size=truth.shape)
        size = (5, 5, 1)[: truth.ndim]
        ours, median = image(noisy).answer, median_filter(noisy, size)
        assert ours.shape == truth.shape
        assert ((ours - truth) ** 2).mean() < ((median - truth) ** 2).mean()


def test_a_picture_of_colors_stays_one(rng, tmp_path):
    truth = np.zeros((30, 40, 3))
    truth[:, :20], truth[:, 20:] = (200, 40, 60), (20, 90, 180)
    noisy = np.clip(truth + rng.normal(scale=15, size=truth.shape), 0, 255)
    given = write_picture(noisy, tmp_path / "noisy.png")
    found = image(given, folder=tmp_path / "run")
    assert np.abs(found.answer - truth).mean() < np.abs(noisy - truth).mean() / 3
    written = read_picture(tmp_path / "run" / "answer.png", color=True)
    np.testing.assert_allclose(written, found.answer, atol=0.51)
    assert [each.type for each in found.plot().data] == ["image", "image"]
    assert "root mean square" in str(found)
    assert image(given, task="segment", n_segments=2).answer.shape == (30, 40)


@pytest.mark.covers("mrf-mixture-segmentation")
def test_segments_are_those_of_the_picture(rng):
    truth, _ = square(rng, 0.0)
    found = image(100.0 * truth + rng.normal(scale=25, size=truth.shape), task="segment",
                  n_segments=2, strength=1.5, random_state=int(rng.integers(1000)))  # fmt: skip
    assert (found.found.labels != truth).mean() < 0.03
    figure = labeled_image(found.found, found.picture, theme="dark")
    assert [each.z.shape for each in figure.data] == [truth.shape] * 3


def test_the_command_writes_its_folder_and_says_what_it_did(rng, tmp_path):
    _, noisy = square(rng, 0.05)
    np.save(tmp_path / "noisy.npy", noisy)
    said = call("image", "noisy.npy", "--strength", "2", "--name", "one", folder=tmp_path)
    assert "% changed by graph cut" in said.stdout
    written = {each.name for each in (tmp_path / "runs" / "one").iterdir()}
    assert {"answer.png", "answer.npy", "report.html", "run.json"} <= written


def filtered_png(pixels: np.ndarray, kinds: np.ndarray, colors: int) -> bytes:
    """A PNG whose lines are filtered by the formulas of the standard, written the other way."""
    height, width = pixels.shape[:2]
    step = 1 if pixels.ndim == 2 else pixels.shape[2]
    flat = pixels.reshape(height, -1).astype(int)
    lines = bytearray()
    for i in range(height):
        line = []
        for j in range(flat.shape[1]):
            left = flat[i, j - step] if j >= step else 0
            above = flat[i - 1, j] if i else 0
            corner = flat[i - 1, j - step] if i and j >= step else 0
            order = sorted(
                [(abs(above - corner), 0, left), (abs(left - corner), 1, above),
                 (abs(left + above - 2 * corner), 2, corner)]
            )  # fmt: skip
            guess = [0, left, above, (left + above) // 2, order[0][2]][kinds[i]]
            line.append((flat[i, j] - guess) % 256)
        lines += bytes([int(kinds[i])]) + bytes(line)
    head = struct.pack(">IIBBBBB", width, height, 8, colors, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(bytes(lines))), (b"IEND", b"")]
    return SIGNATURE + b"".join(_chunk(*part) for part in parts)


def test_every_filter_of_png_is_undone(rng, tmp_path):
    gray, color = rng.integers(256, size=(20, 7)), rng.integers(256, size=(20, 7, 3))
    kinds = rng.permutation(np.arange(20) % 5)
    (tmp_path / "a.png").write_bytes(filtered_png(gray, kinds, 0))
    (tmp_path / "b.png").write_bytes(filtered_png(color, kinds, 2))
    np.testing.assert_array_equal(read_picture(tmp_path / "a.png"), gray)
    expected = color @ [0.299, 0.587, 0.114]
    np.testing.assert_allclose(read_picture(tmp_path / "b.png"), expected)
    np.testing.assert_array_equal(read_picture(tmp_path / "b.png", color=True), color)


def test_plain_formats_are_read_alike(tmp_path):
    (tmp_path / "a.pgm").write_bytes(b"P2\n# words\n3 2\n255\n1 2 3\n4 5 6\n")
    (tmp_path / "b.pgm").write_bytes(b"P5 3 2 255\n" + bytes([1, 2, 3, 4, 5, 6]))
    (tmp_path / "c.csv").write_text("1,2,3\n4,5,6\n")
    for name in ("a.pgm", "b.pgm", "c.csv"):
        assert read_picture(tmp_path / name).tolist() == [[1, 2, 3], [4, 5, 6]]
    (tmp_path / "d.pbm").write_bytes(b"P1\n3 2\n1 0 1\n0 1 0\n")
    (tmp_path / "e.pbm").write_bytes(b"P4\n3 2\n" + bytes([0b10100000, 0b01000000]))
    for name in ("d.pbm", "e.pbm"):
        assert read_picture(tmp_path / name).tolist() == [[0, 1, 0], [1, 0, 1]]


NO_PICTURES = (
    b"",
    SIGNATURE,
    SIGNATURE + b"\0\0\0\x0dIHDR",
    b"P5 9 9 255\n1",
    b"P2 x",
    b"words, words",
)


@pytest.mark.parametrize("content", NO_PICTURES)
def test_files_that_are_no_pictures_are_refused_by_name(content, tmp_path):
    (tmp_path / "bad.png").write_bytes(content)
    with pytest.raises(DataError, match=r"bad\.png"):
        read_picture(tmp_path / "bad.png")


def test_wrong_wishes_are_refused():
    with pytest.raises(DataError, match="denoise, segment"):
        image(np.eye(4), task="sharpen")
    with pytest.raises(DataError, match=r"between 0 and 0\.5"):
        image(np.eye(4), noise=0.7)
    with pytest.raises(DataError, match="grid"):
        image(np.ones(4))
