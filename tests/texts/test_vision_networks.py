"""Networks of the text: parameters, blocks and receptive fields as corrected (000c 17.2, 18.1)."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.table.errors import ReadError
from gnomon.vision import (
    alexnet,
    cifar_network,
    cifar_resnet,
    inception_network,
    mnist_network,
    read_safetensors,
    resnet,
    roi_pool,
    vgg,
)


@pytest.mark.covers("simple-mnist-cnn")
def test_the_mnist_network_has_431080_parameters_and_sees_all_pixels_at_1_x_1_x_500():
    network = mnist_network()
    assert network.n_parameters == 431_080
    shapes = [node.output_shape for node in network.nodes]
    assert shapes[:5] == [(24, 24, 20), (12, 12, 20), (8, 8, 50), (4, 4, 50), (1, 1, 500)]
    fields = network.summary()._columns()["receptive field"]
    # the text: every value of 4 x 4 x 50 is affected by every pixel; it sees 16 x 16
    assert int(fields[3]) == 16
    assert int(fields[4]) == 28
    normalized = mnist_network(batch_norm=True)
    assert normalized.n_parameters == 431_080 + 2 * (20 + 50 + 500)


@pytest.mark.covers("simple-cifar-cnn")
def test_the_cifar_network_has_145578_parameters_and_blocks_as_corrected():
    network = cifar_network()
    assert network.n_parameters == 145_578
    shapes = [node.output_shape for node in network.nodes]
    assert shapes[0] == (32, 32, 32)  # printed 32 x 32 x 3
    assert [
        shapes[1],
        shapes[4],
        shapes[6],
        shapes[7],
    ] == [(16, 16, 32), (8, 8, 32), (4, 4, 64), (1, 1, 64)]


@pytest.mark.covers("vggnet")
@pytest.mark.parametrize(
    ("variant", "millions", "layers"),
    [("A", 132.86, 11), ("B", 133.05, 13), ("C", 133.64, 16), ("D", 138.36, 16), ("E", 143.67, 19)],
)
def test_vgg_networks_have_the_published_sizes(variant, millions, layers):
    network = vgg(variant)
    assert network.n_parameters / 1e6 == pytest.approx(millions, abs=0.005)
    kinds = [type(node.layer).__name__ for node in network.nodes]
    assert sum(kind in ("Conv2D", "Dense") for kind in kinds) == layers
    with pytest.raises(DataError, match="none of A, B"):
        vgg("F")


@pytest.mark.covers("alexnet")
def test_alexnet_has_the_blocks_of_the_text_in_two_groups():
    network = alexnet()
    shapes = [node.output_shape for node in network.nodes]
    assert shapes[0] == (55, 55, 96)
    second = network.nodes[3].layer
    assert second.groups == 2
    # 2 x 128 kernels of 5 x 5 x 48
    sizes = [each.shape for each in second.parameters((27, 27, 96)).values()]
    assert sum(int(np.prod(size)) for size in sizes) == 256 * (5 * 5 * 48 + 1)
    assert network.n_parameters == 60_965_224


@pytest.mark.covers("resnet", "inception-network")
def test_residual_and_inception_networks_have_their_layers_and_run(rng):
    # convolutions, normalizations and the dense layer of the published networks; the projections
    # on shortcuts have no normalization of their own: 2 x (128 + 256 + 512) parameters fewer
    assert resnet(18).n_parameters == 11_689_512 - 1_792
    assert resnet(34).n_parameters == 21_797_672 - 1_792
    small = cifar_resnet(1, filters=4)
    images = rng.normal(size=(2, 32, 32, 3))
    parameters = small.initial(rng)
    assert np.isfinite(small.predict(parameters, images)).all()
    assert cifar_resnet(3).n_parameters == pytest.approx(272_000, rel=0.01)
    network = inception_network()
    output = network.predict(network.initial(rng), images)
    assert output.shape == (2, 10)


@pytest.mark.covers("roi-pooling")
@pytest.mark.parametrize("size", [(1, 1), (2, 3), (3, 2)])
def test_regions_are_pooled_over_even_or_shared_cells(rng, size):
    maps = rng.normal(size=(9, 11, 2))
    found = roi_pool(maps, [[2, 1, 8, 7], [0, 0, 11, 9], [4, 4, 5, 5]], size)
    assert found.shape == (3, *size, 2)
    np.testing.assert_array_equal(found[0].max(axis=(0, 1)), maps[1:7, 2:8].max(axis=(0, 1)))
    np.testing.assert_array_equal(found[1].max(axis=(0, 1)), maps.max(axis=(0, 1)))
    np.testing.assert_array_equal(found[2], np.broadcast_to(maps[4, 4], (*size, 2)))
    rows, columns = size
    even = roi_pool(maps, [[0, 0, 6, 6]], size)[0]
    blocks = maps[:6, :6].reshape(rows, 6 // rows, columns, 6 // columns, 2).max(axis=(1, 3))
    np.testing.assert_array_equal(even, blocks)
    half = roi_pool(maps, [[0, 0, 12, 12]], size, scale=0.5)[0]
    np.testing.assert_array_equal(half, even)


def written(header: bytes, body: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header + body


def test_arrays_of_a_safetensors_file_are_read_and_false_sizes_refused(rng, tmp_path):
    array = rng.normal(size=(2, 3)).astype("<f4")
    head = '{"__metadata__":{"a":"b"},"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}'
    file = tmp_path / "w.safetensors"
    file.write_bytes(written(head.encode(), array.tobytes()))
    np.testing.assert_array_equal(read_safetensors(file)["w"], array)
    brain = (array.view("<u4") >> 16).astype("<u2").tobytes()
    file.write_bytes(written(head.replace("F32", "BF16").replace("24", "12").encode(), brain))
    np.testing.assert_allclose(read_safetensors(file)["w"], array, rtol=0.01)
    for wrong, words in (
        (head.replace("[2,3]", "[2,4]"), "does not fit"),
        (head.replace("F32", "F7"), "unknown type"),
        (head.replace("[0,24]", "[8,32]"), "does not fit"),
        (head[:-5], "cannot be read"),
        (head.replace('"shape":[2,3],', ""), "not described"),
    ):
        file.write_bytes(written(wrong.encode(), array.tobytes()))
        with pytest.raises(ReadError, match=words):
            read_safetensors(file)
    file.write_bytes(b"\xff" * 30)
    with pytest.raises(ReadError, match="no safetensors file"):
        read_safetensors(file)
