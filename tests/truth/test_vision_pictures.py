"""Pictures of images and folders of pictures."""

from __future__ import annotations

import base64
import io
import struct
import zlib

import numpy as np
import pytest

from gnomon import show
from gnomon.engine.errors import DataError, GnomonError
from gnomon.table.errors import ReadError
from gnomon.table.picture_files import png_bytes, write_picture
from gnomon.vision import Detections, make_anchors, make_scenes, picture_folder, read_image

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")


def drawn(trace) -> np.ndarray:
    """The pixels of an image trace."""
    content = base64.b64decode(trace.source.partition(",")[2])
    return np.asarray(Image.open(io.BytesIO(content)))


@pytest.mark.covers("contact-sheet")
def test_a_contact_sheet_shows_every_image_in_its_place(rng):
    images = rng.integers(0, 256, (7, 5, 6))
    images[0, 0, 0] = 255
    sheet = drawn(show.contact_sheet(images, n_columns=3).data[0])
    for place, image in enumerate(images):
        top, left = 2 + place // 3 * 7, 2 + place % 3 * 8
        np.testing.assert_array_equal(sheet[top : top + 5, left : left + 6], image)
    lines = show.contact_sheet(images, list("abababa"), means=True)
    assert [each.text for each in lines.layout.annotations] == ["a", "b"]


@pytest.mark.covers("misclassification-gallery")
@pytest.mark.parametrize("by", ["true", "predicted"])
def test_the_gallery_names_the_wrong_images_only(by):
    figure = show.misclassified_images(
        np.zeros((4, 8, 8)), ["a", "b", "b", "c"], ["a", "c", "b", "a"], by=by
    )
    texts = [each.text for each in figure.layout.annotations]
    assert texts == (["b", "c", "c", "a"] if by == "true" else ["a", "c", "c", "b"])
    assert "2 of 4" in figure.layout.title.text


@pytest.mark.covers("detector-boxes", "anchor-box-picture", "detector-pipeline-cartoon")
def test_boxes_are_drawn_at_their_pixels():
    scene = make_scenes(1, random_state=0)[0]
    found = Detections(scene.boxes, np.ones(len(scene.boxes)), scene.labels)
    figure = show.detector_boxes(scene, found)
    outline = next(trace for trace in figure.data if trace.name == "detected")
    assert [outline.x[0], outline.y[0]] == (scene.boxes[0, :2] - 0.5).tolist()
    assert f"{len(scene.boxes)} of {len(scene.boxes)} true boxes" in figure.layout.title.text
    assert "9 anchor boxes" in show.anchor_boxes(scene.image).layout.title.text
    boxes = [[0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30]]
    steps = show.detector_pipeline(scene, boxes, [0.9, 0.8, 0.2])
    assert "3 proposals, 2 above 0.5, 1 kept" in steps.layout.title.text


@pytest.mark.covers("mean-image-parts", "local-histogram-window")
def test_parts_of_images_and_histograms_have_the_right_numbers(rng):
    images = rng.integers(0, 256, (5, 6, 6)).astype(float)
    sheet = drawn(show.mean_image_parts(images, n_images=2).data[0])
    assert sheet.shape == (3 * 8 + 2, 3 * 8 + 2)
    figure = show.local_histogram(images[0], (1, 2, 4, 5))
    bars = next(trace for trace in figure.data if trace.type == "bar")
    counted = np.histogram(images[0, 2:5, 1:4], np.linspace(0, 256, 17))[0]
    np.testing.assert_array_equal(bars.y, counted)


@pytest.mark.covers("benchmark-timeline", "local-pattern-annotation")
def test_timeline_and_patterns_mark_what_they_are_given():
    figure = show.benchmark_timeline([2015, 2012], [0.036, 0.17], ["b", "a"], [152, 8])
    assert list(figure.data[0].x) == [2012, 2015]
    image = np.zeros((1, 9, 9))
    image[0, 4, 1:8] = 1.0
    marked = show.local_patterns(image, ["horizontal bar"], share=0.9).data[1]
    assert {(x, y) for x, y in zip(marked.x, marked.y)} == {(2 + x, 2 + 4) for x in range(2, 7)}
    with pytest.raises(DataError, match="none of"):
        show.local_patterns(image, ["smile"])


def test_anchors_have_the_areas_and_aspects_of_the_text():
    anchors = make_anchors((64, 80))
    assert anchors.shape == (4, 5, 9, 4)
    sides = anchors[2, 3, :, 2:] - anchors[2, 3, :, :2]
    np.testing.assert_allclose(np.sqrt(sides.prod(axis=1)), np.repeat([128, 256, 512], 3))
    np.testing.assert_allclose(sides[:, 1] / sides[:, 0], np.tile([0.5, 1, 2], 3))
    np.testing.assert_allclose((anchors[0, 0, :, :2] + anchors[0, 0, :, 2:]) / 2, 8)


def test_a_png_in_color_is_read_as_it_was_written(rng, tmp_path):
    pixels = rng.integers(0, 256, (5, 7, 3))
    (tmp_path / "a.png").write_bytes(png_bytes(pixels))
    np.testing.assert_array_equal(read_image(tmp_path / "a.png"), pixels)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGBA", "CMYK", "LA", "I;16"])
def test_pictures_of_every_mode_become_gray_or_rgb_levels(mode, tmp_path):
    levels = np.zeros((4, 6), dtype=np.uint8)
    levels[:, 3:] = 255
    if mode == "I;16":
        picture = Image.fromarray(levels.astype(np.uint16) * 257)
    else:
        picture = Image.fromarray(np.repeat(levels[..., None], 3, axis=2)).convert(mode)
    file = tmp_path / ("a.tif" if mode == "CMYK" else "a.png")
    picture.save(file)
    found = read_image(file)
    gray = found if found.ndim == 2 else found.mean(axis=2)
    np.testing.assert_allclose(gray, levels, atol=1.0)


def test_transparent_pixels_are_white_and_turned_pictures_upright(tmp_path):
    colors = np.zeros((2, 2, 4), dtype=np.uint8)
    colors[0, 0] = (10, 20, 30, 255)
    Image.fromarray(colors).save(tmp_path / "a.png")
    found = read_image(tmp_path / "a.png")
    assert found[0, 0].tolist() == [10, 20, 30]
    assert found[1, 1].tolist() == [255, 255, 255]
    turned = Image.fromarray(np.arange(6, dtype=np.uint8).reshape(2, 3) * 40)
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held so that the picture must be turned to the right
    turned.save(tmp_path / "b.png", exif=exif)
    assert read_image(tmp_path / "b.png").tolist() == [[120, 0], [160, 40], [200, 80]]


def test_a_huge_picture_is_refused_by_its_header_before_it_is_read(tmp_path):
    content = bytearray(png_bytes(np.zeros((4, 4))))
    content[16:24] = struct.pack(">II", 120_000, 90_000)
    content[29:33] = struct.pack(">I", zlib.crc32(bytes(content[12:29])))
    (tmp_path / "huge.png").write_bytes(bytes(content))
    with pytest.raises(GnomonError, match=r"huge\.png|90,000 x 120,000 pixels"):
        read_image(tmp_path / "huge.png")


def test_broken_and_empty_pictures_are_refused_with_their_name(rng, tmp_path):
    whole = png_bytes(rng.integers(0, 256, (40, 40)))
    for name, content, why in (
        ("torn.png", whole[: len(whole) // 2], "no picture that can be read"),
        ("empty.png", b"", "it is empty"),
        ("words.jpg", b"a letter", "no picture that can be read"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ReadError, match=f"{name}.*{why}|{why}") as refused:
            read_image(tmp_path / name)
        assert name in str(refused.value)
    Image.fromarray(np.full((4, 4), np.nan, dtype=np.float32)).save(tmp_path / "nan.tiff")
    with pytest.raises(ReadError, match=r"nan\.tiff.*no finite number"):
        read_image(tmp_path / "nan.tiff")


@pytest.fixture
def photos(rng, tmp_path):
    for label in ("cat", "dog"):
        (tmp_path / label).mkdir()
        for i in range(3):
            write_picture(rng.integers(0, 256, (20 + i, 30)), tmp_path / label / f"{i}.png")
    return tmp_path


def test_a_folder_is_a_table_with_labels_and_broken_files_named(photos):
    (photos / "dog" / "bad.jpg").write_bytes(b"not a picture")
    (photos / "dog" / "empty.png").write_bytes(b"")
    table = picture_folder(photos).table()
    assert len(table) == 6
    assert table["folder"].to_pylist() == ["cat"] * 3 + ["dog"] * 3
    assert table["height"].to_pylist() == [20, 21, 22] * 2
    notes = " ".join(table.notes)
    assert "6 pictures of 20 to 22 x 30 pixels" in notes
    assert "2 files could not be read and are left out: bad.jpg, empty.png" in notes
    images, labels = picture_folder(photos).images((16, 24))
    assert images.shape == (6, 16, 24, 3)
    assert labels.tolist() == ["cat"] * 3 + ["dog"] * 3


def test_labels_come_from_a_csv_where_there_is_one(photos):
    (photos / "labels.csv").write_text("file,label\ncat/0.png,small\ndog/1.png,large\n")
    found = picture_folder(photos)
    assert found.labels == ["small", "large"]
    (photos / "labels.csv").write_text("file,label\ncat/9.png,small\n")
    with pytest.raises(ReadError, match="not in the folder"):
        picture_folder(photos)
    (photos / "labels.csv").write_text("file,label\ncat/0.png,small\ncat/0.png,large\n")
    with pytest.raises(ReadError, match=r"names cat/0\.png twice"):
        picture_folder(photos)
    (photos / "labels.csv").write_text("file,label\ncat/0.png,small\ncat/1.png,\n")
    with pytest.raises(ReadError, match=r"has no label for cat/1\.png"):
        picture_folder(photos)


def test_folders_that_hold_no_pictures_or_mixed_ones_are_refused(tmp_path, photos):
    write_picture(np.zeros((4, 4)), photos / "loose.png")
    with pytest.raises(ReadError, match=r"such as loose\.png"):
        picture_folder(photos)
    empty = tmp_path / "nothing"
    empty.mkdir()
    with pytest.raises(ReadError, match="holds no picture"):
        picture_folder(empty)
    (empty / "bad.png").write_bytes(b"x")
    with pytest.raises(ReadError, match="no picture that can be read"):
        picture_folder(empty).table()
