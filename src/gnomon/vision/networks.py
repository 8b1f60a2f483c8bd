"""The convolutional networks of the text as descriptions, counted exactly before training.

Each function gives a `gnomon.neural.Network`, which names the shape, parameters and receptive field
of every layer (`summary`). Corrections of the text: the first block of the CIFAR network is
32 x 32 x 32 (printed 32 x 32 x 3); the table of VGG networks is corrupt there, and the 128 kernels
of the second block are 3 x 3 x 64; in the MNIST network a value after the second pooling sees
16 x 16 pixels, and only the block of 1 x 1 x 500 sees all 28 x 28.

Texts: 000c 17.2.1 (MNIST), 17.2.2 (CIFAR) · 000c 18.1.4 (AlexNet), 18.1.5 (VGG), 18.1.8
(inception), 18.1.9 (residual networks).
"""

from __future__ import annotations

from typing import Any

from gnomon.engine.errors import DataError
from gnomon.neural import (
    Activation,
    BatchNorm,
    Conv2D,
    Dense,
    Dropout,
    Flatten,
    LocalResponseNorm,
    MaxPool2D,
    MeanPool2D,
    Network,
    Residual,
    grid_reduction,
    inception,
)

# filters of the blocks of VGG networks; a negative number is a 1 x 1 convolution
VGG_BLOCKS = {
    "A": ((64,), (128,), (256,) * 2, (512,) * 2, (512,) * 2),
    "B": ((64,) * 2, (128,) * 2, (256,) * 2, (512,) * 2, (512,) * 2),
    "C": ((64,) * 2, (128,) * 2, (256, 256, -256), (512, 512, -512), (512, 512, -512)),
    "D": ((64,) * 2, (128,) * 2, (256,) * 3, (512,) * 3, (512,) * 3),
    "E": ((64,) * 2, (128,) * 2, (256,) * 4, (512,) * 4, (512,) * 4),
}
# residual blocks of the four stages
RESNET_BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 152: (3, 8, 36, 3)}
PADDED = (0, 1, 0, 1)  # one row below and one column at the right, as in the code behind the text


def mnist_network(n_classes: int = 10, *, batch_norm: bool = False) -> Network:
    """The small network of the text for images of 28 x 28: 431,080 parameters (000c 17.2.1).

    Parameters
    ----------
    n_classes : int, default=10
    batch_norm : bool, default=False
        Normalize after the first three convolutions, as the code behind the text does.

    Returns
    -------
    network : Network

    Examples
    --------
    >>> mnist_network().n_parameters
    431080
    """
    norm = [BatchNorm()] if batch_norm else []
    layers: list[Any] = [Conv2D(20, 5), *norm, MaxPool2D(2), Conv2D(50, 5), *norm, MaxPool2D(2)]
    layers += [Conv2D(500, 4), *norm, Activation("relu"), Conv2D(n_classes, 1), Flatten()]
    return Network(layers, (28, 28, 1))


def cifar_network(n_classes: int = 10) -> Network:
    """The small network of the text for images of 32 x 32 x 3: 145,578 parameters (000c 17.2.2).

    Parameters
    ----------
    n_classes : int, default=10

    Returns
    -------
    network : Network

    Examples
    --------
    >>> cifar_network().n_parameters
    145578
    """
    layers: list[Any] = [
        Conv2D(32, 5, padding=2),
        MaxPool2D(3, 2, PADDED),
        Activation("relu"),
        Conv2D(32, 5, "relu", padding=2),
        MeanPool2D(3, 2, PADDED),
        Conv2D(64, 5, "relu", padding=2),
        MeanPool2D(3, 2, PADDED),
        Conv2D(64, 4, "relu"),
        Conv2D(n_classes, 1),
        Flatten(),
    ]
    return Network(layers, (32, 32, 3))


def alexnet(n_classes: int = 1000) -> Network:
    """AlexNet in its two-group form with response normalization (000c 18.1.4).

    Parameters
    ----------
    n_classes : int, default=1000

    Returns
    -------
    network : Network

    Examples
    --------
    >>> alexnet().n_parameters
    60965224
    """
    layers: list[Any] = [
        Conv2D(96, 11, "relu", stride=4),
        LocalResponseNorm(),
        MaxPool2D(3, 2),
        Conv2D(256, 5, "relu", padding=2, groups=2),
        LocalResponseNorm(),
        MaxPool2D(3, 2),
        Conv2D(384, 3, "relu", padding=1),
        Conv2D(384, 3, "relu", padding=1, groups=2),
        Conv2D(256, 3, "relu", padding=1, groups=2),
        MaxPool2D(3, 2),
        Flatten(),
        Dense(4096, "relu"),
        Dropout(0.5),
        Dense(4096, "relu"),
        Dropout(0.5),
        Dense(n_classes),
    ]
    return Network(layers, (227, 227, 3))


def vgg(variant: str = "D", n_classes: int = 1000, *, input_shape: Any = (224, 224, 3)) -> Network:
    """A VGG network, A to E: 3 x 3 convolutions in five blocks, three dense layers (000c 18.1.5).

    Parameters
    ----------
    variant : {"A", "B", "C", "D", "E"}, default="D"
    n_classes : int, default=1000
    input_shape : tuple of (height, width, channels), default=(224, 224, 3)

    Returns
    -------
    network : Network

    Examples
    --------
    >>> round(vgg("E").n_parameters / 1e6, 2)
    143.67
    """
    if variant not in VGG_BLOCKS:
        raise DataError(f"variant={variant!r} is none of {', '.join(VGG_BLOCKS)}")
    layers: list[Any] = []
    for block in VGG_BLOCKS[variant]:
        for filters in block:
            size = 3 if filters > 0 else 1
            layers.append(Conv2D(abs(filters), size, "relu", padding="same"))
        layers.append(MaxPool2D(2))
    layers.append(Flatten())
    for _ in range(2):
        layers += [Dense(4096, "relu"), Dropout(0.5)]
    return Network([*layers, Dense(n_classes)], input_shape)


def inception_network(n_classes: int = 10, *, input_shape: Any = (32, 32, 3)) -> Network:
    """A small network of inception and grid reduction modules (000c 18.1.8).

    Parameters
    ----------
    n_classes : int, default=10
    input_shape : tuple of (height, width, channels), default=(32, 32, 3)

    Returns
    -------
    network : Network

    Examples
    --------
    >>> inception_network().output_shape
    (10,)
    """
    layers: list[Any] = [
        Conv2D(32, 3, "relu", padding="same"),
        inception(16, (16, 24), (8, 12), 12),
        inception(16, (16, 24), (8, 12), 12),
        grid_reduction(64),
        inception(32, (32, 48), (16, 24), 24),
        grid_reduction(96),
        inception(48, (48, 64), (16, 24), 24),
    ]
    return _pooled(layers, n_classes, input_shape)


def cifar_resnet(
    n_blocks: int = 3, n_classes: int = 10, *, filters: int = 16, input_shape: Any = (32, 32, 3)
) -> Network:
    """A residual network for small images: three stages of blocks (000c 18.1.9).

    Parameters
    ----------
    n_blocks : int, default=3
        Blocks of a stage; there are ``6 * n_blocks + 2`` layers.
    n_classes : int, default=10
    filters : int, default=16
        Of the first stage; each stage has twice as many as the one before.
    input_shape : tuple of (height, width, channels), default=(32, 32, 3)

    Returns
    -------
    network : Network

    Examples
    --------
    >>> cifar_resnet(1).output_shape
    (10,)
    """
    layers: list[Any] = [_conv(filters, 3), BatchNorm(), Activation("relu")]
    for stage in range(3):
        for block in range(n_blocks):
            stride = 2 if stage and not block else 1
            layers.append(_plain_block(filters * 2**stage, stride))
    return _pooled(layers, n_classes, input_shape)


def resnet(depth: int = 34, n_classes: int = 1000, *, input_shape: Any = (224, 224, 3)) -> Network:
    """A residual network for large images (000c 18.1.9).

    Parameters
    ----------
    depth : {18, 34, 50, 152}, default=34
        Networks of 50 layers and more have blocks of 1 x 1, 3 x 3 and 1 x 1 convolutions.
    n_classes : int, default=1000
    input_shape : tuple of (height, width, channels), default=(224, 224, 3)

    Returns
    -------
    network : Network

    Examples
    --------
    >>> resnet(18).output_shape
    (1000,)
    """
    if depth not in RESNET_BLOCKS:
        raise DataError(f"depth={depth} is none of {', '.join(map(str, RESNET_BLOCKS))}")
    layers: list[Any] = [
        Conv2D(64, 7, stride=2, padding=3, bias=False),
        BatchNorm(),
        Activation("relu"),
        MaxPool2D(3, 2, 1),
    ]
    for stage, count in enumerate(RESNET_BLOCKS[depth]):
        for block in range(count):
            stride = 2 if stage and not block else 1
            make = _plain_block if depth < 50 else _bottleneck
            layers.append(make(64 * 2**stage, stride))
    return _pooled(layers, n_classes, input_shape)


def _conv(filters: int, size: int, stride: int = 1) -> Conv2D:
    return Conv2D(filters, size, stride=stride, padding=size // 2, bias=False)


def _plain_block(filters: int, stride: int) -> Residual:
    first = (_conv(filters, 3, stride), BatchNorm(), Activation("relu"))
    return Residual((*first, _conv(filters, 3), BatchNorm()))


def _bottleneck(filters: int, stride: int) -> Residual:
    first = (_conv(filters, 1), BatchNorm(), Activation("relu"))
    second = (_conv(filters, 3, stride), BatchNorm(), Activation("relu"))
    return Residual((*first, *second, _conv(4 * filters, 1), BatchNorm()))


def _pooled(layers: list[Any], n_classes: int, input_shape: Any) -> Network:
    """The network whose last maps are averaged over the image before the classes."""
    height, width, *_ = Network(layers, input_shape).output_shape
    return Network([*layers, MeanPool2D((height, width)), Flatten(), Dense(n_classes)], input_shape)
