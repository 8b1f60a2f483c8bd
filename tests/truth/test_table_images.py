"""IDX and image sets, written out byte by byte."""

import gzip
import struct

import numpy as np
import pytest

from gnomon.table import ReadError, image_dataset, read, read_idx

CODES = {"u1": 8, "i1": 9, "i2": 11, "i4": 12, "f4": 13, "f8": 14}


def idx(array):
    """The bytes of an IDX file, from the definition of the format."""
    code = CODES[array.dtype.str[1:]]
    header = struct.pack(">HBB", 0, code, array.ndim)
    sizes = b"".join(struct.pack(">I", size) for size in array.shape)
    return header + sizes + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.mark.covers("idx-file-reader")
@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("shape", [(5,), (3, 4, 2), (0, 28, 28)])
@pytest.mark.parametrize("packed", [False, True])
def test_idx_files_of_every_type_come_back(tmp_path, rng, kind, shape, packed):
    array = (rng.normal(size=shape) * 50).astype(kind)
    path = tmp_path / "x-idx-ubyte"
    content = idx(array)
    path.write_bytes(gzip.compress(content) if packed else content)
    found = read_idx(path)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)
    assert found.flags.writeable


@pytest.mark.covers("idx-file-reader")
@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "not an IDX file"),
        (b"a,b\n1,2\n", "not an IDX file"),
        (struct.pack(">HBB", 0, 7, 1), "not an IDX file"),
        (struct.pack(">HBBI", 0, 8, 2, 5), "ends within its dimensions"),
        (struct.pack(">HBBI", 0, 8, 1, 5) + b"abc", "5 bytes, and holds 3"),
        (struct.pack(">HBBI", 0, 8, 1, 2) + b"abc", "holds more than 2"),
        (struct.pack(">HBB", 0, 14, 4) + b"\xff" * 16 + b"abc", "and holds 3"),
    ],
)
def test_damaged_idx_files_are_refused_before_anything_is_allocated(content, complaint):
    with pytest.raises(ReadError, match=complaint):
        read_idx(content)


@pytest.mark.covers("idx-file-reader")
def test_the_csv_form_of_mnist_is_a_table(rng):
    pixels = rng.integers(0, 256, size=(4, 9))
    header = "label," + ",".join(f"pixel{number}" for number in range(9))
    rows = "\n".join(f"{label}," + ",".join(map(str, row)) for label, row in enumerate(pixels))
    table = read(f"{header}\n{rows}\n".encode())
    assert table["label"].to_pylist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(table.drop("label").to_numpy(), pixels)


@pytest.fixture
def images(rng):
    return rng.integers(0, 256, size=(7, 28, 28), dtype=np.uint8)


@pytest.mark.covers("image-dataset-loaders")
def test_a_folder_of_idx_files_keeps_its_split(tmp_path, images):
    labels = np.arange(7, dtype=np.uint8)
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images)))
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(labels))
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(idx(images[:2]))
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(idx(labels[:2]))
    found = image_dataset(tmp_path)
    np.testing.assert_array_equal(found.train_images, images)
    np.testing.assert_array_equal(found.train_labels, labels)
    np.testing.assert_array_equal(found.test_images, images[:2])
    assert repr(found) == "ImageSet of 7 + 2 images, 28 x 28"
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(labels[:3]))
    with pytest.raises(ReadError, match="7 images and 3 labels"):
        image_dataset(tmp_path)


def cifar(rng, n, labels):
    planes = rng.integers(0, 256, size=(n, 3, 32, 32), dtype=np.uint8)
    marks = rng.integers(0, 10, size=(n, labels), dtype=np.uint8)
    records = b"".join(mark.tobytes() + plane.tobytes() for mark, plane in zip(marks, planes))
    return planes, marks, records


@pytest.mark.covers("image-dataset-loaders")
def test_cifar_10_batches_are_joined_and_turned(tmp_path, rng):
    first = cifar(rng, 3, 1)
    second = cifar(rng, 2, 1)
    test = cifar(rng, 2, 1)
    (tmp_path / "data_batch_1.bin").write_bytes(first[2])
    (tmp_path / "data_batch_2.bin").write_bytes(second[2])
    (tmp_path / "test_batch.bin").write_bytes(test[2])
    (tmp_path / "batches.meta.txt").write_text("airplane\nautomobile\n\n")
    found = image_dataset(tmp_path)
    assert found.train_images.shape == (5, 32, 32, 3)
    assert found.train_images[3, 10, 20, 2] == second[0][0, 2, 10, 20]
    np.testing.assert_array_equal(found.train_labels, np.r_[first[1], second[1]][:, 0])
    np.testing.assert_array_equal(found.test_labels, test[1][:, 0])
    assert found.classes == ("airplane", "automobile")
    assert found.superclasses is None
    (tmp_path / "data_batch_1.bin").write_bytes(first[2][:-1])
    with pytest.raises(ReadError, match="not a multiple of 3,073"):
        image_dataset(tmp_path)


@pytest.mark.covers("image-dataset-loaders")
def test_cifar_100_has_superclasses(tmp_path, rng):
    train, test = cifar(rng, 4, 2), cifar(rng, 2, 2)
    (tmp_path / "train.bin").write_bytes(train[2])
    (tmp_path / "test.bin").write_bytes(test[2])
    found = image_dataset(tmp_path)
    np.testing.assert_array_equal(found.train_superclasses, train[1][:, 0])
    np.testing.assert_array_equal(found.train_labels, train[1][:, 1])
    np.testing.assert_array_equal(found.test_superclasses, test[1][:, 0])


@pytest.mark.covers("image-dataset-loaders")
def test_npz_files_are_loaded_without_pickle(tmp_path, images):
    labels = np.arange(7)
    np.savez(
        tmp_path / "x.npz", x_train=images, y_train=labels, x_test=images[:1], y_test=labels[:1]
    )
    found = image_dataset(tmp_path / "x.npz")
    assert (len(found.train_images), len(found.test_images)) == (7, 1)
    np.savez(tmp_path / "plain.npz", X=images, y=labels)
    assert image_dataset(tmp_path / "plain.npz").test_images is None
    np.savez(tmp_path / "odd.npz", what=images)
    with pytest.raises(ReadError, match="holds the arrays"):
        image_dataset(tmp_path / "odd.npz")
    np.savez(tmp_path / "evil.npz", X=np.array([{"a": 1}], dtype=object), y=labels)
    with pytest.raises(ReadError, match="without pickle"):
        image_dataset(tmp_path / "evil.npz")


def test_folders_without_images_are_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(ReadError, match=r"it holds notes\.txt"):
        image_dataset(tmp_path)
    with pytest.raises(ReadError, match="neither a folder nor"):
        image_dataset(tmp_path / "notes.txt")
