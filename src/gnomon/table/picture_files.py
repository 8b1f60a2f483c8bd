"""One picture in a file: PNG, PGM and PBM, NumPy arrays, and grids of numbers; written as PNG.

Enough to take a picture in and give one back without a further package. Colours become grey levels
by their luminance (ITU-R BT.601).
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.engine import memory
from gnomon.engine.kernel import kernel
from gnomon.table.errors import ReadError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Samples of a pixel for each PNG color type (PNG specification 11.2.2).
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
LUMINANCE = np.array([0.299, 0.587, 0.114])  # luma of red, green and blue, ITU-R BT.601
KNOWN = "PNG, PGM, PBM, NPY, or CSV with a row of numbers for each row of pixels"


def read_picture(path: str | Path, *, color: bool = False) -> np.ndarray:
    """A picture as grey levels of shape (height, width), or with its colors.

    Parameters
    ----------
    path : str or Path
        PNG (not interlaced), PGM or PBM, a NumPy array (.npy) or a CSV of numbers.
    color : bool, default=False
        Keep colors that are not grey.

    Returns
    -------
    levels : ndarray of shape (height, width) or (height, width, 3)
        Of the file's own numbers: 0 to 255 for 8-bit files.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", file=str(path)) from error
    try:
        if content.startswith(SIGNATURE):
            return _leveled(_from_png(content), color)
        if content[:2] in (b"P1", b"P2", b"P4", b"P5"):
            return _leveled(_from_netpbm(content), color)
        if path.suffix == ".npy":
            return _leveled(np.load(path, allow_pickle=False), color)
        if not content.strip():
            raise ValueError("it is empty")
        return _leveled(np.loadtxt(path, delimiter=",", ndmin=2), color)
    except (ValueError, IndexError, struct.error, zlib.error, UnicodeDecodeError) as error:
        raise ReadError(
            f"is no picture that can be read ({error})", file=str(path), remedy=f"Give {KNOWN}."
        ) from error


def write_picture(levels: np.ndarray, path: str | Path) -> Path:
    """Write grey levels or colors as an 8-bit PNG.

    Parameters
    ----------
    levels : ndarray of shape (height, width) or (height, width, 3)
        Numbers from 0 to 255, rounded.
    path : str or Path

    Returns
    -------
    path : Path
    """
    path = Path(path)
    path.write_bytes(png_bytes(levels))
    return path


def png_bytes(pixels: Any) -> bytes:
    """The content of an 8-bit PNG file of gray levels or of colors.

    Parameters
    ----------
    pixels : ndarray of shape (height, width) or (height, width, 3)
        Numbers from 0 to 255, rounded.

    Returns
    -------
    content : bytes
    """
    array = np.asarray(pixels)
    is_color = array.ndim == 3 and array.shape[2] == 3
    known = is_color or array.ndim == 2
    if not known or not array.size or array.min() < 0 or array.max() > 255:
        raise ValueError("a picture to write is a grid of numbers from 0 to 255")
    height, width = array.shape[:2]
    lines = np.zeros((height, width * (3 if is_color else 1) + 1), dtype=np.uint8)
    lines[:, 1:] = np.rint(array).reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2 if is_color else 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b""))
    return SIGNATURE + b"".join(_chunk(name, body) for name, body in parts)


def _chunk(name: bytes, body: bytes) -> bytes:
    check = zlib.crc32(name + body)
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", check)


def gray_of(pixels: np.ndarray) -> np.ndarray:
    """The luminance of colors, as grey levels."""
    return pixels[:, :, :3] @ LUMINANCE


def _leveled(array: np.ndarray, color: bool) -> np.ndarray:
    """Grey levels of an array of pixels, with or without channels; or its colors."""
    if array.dtype.kind not in "biuf":
        raise ValueError(f"its cells are {array.dtype}, not numbers")
    pixels = np.asarray(array, dtype=np.float64)
    keeps = False
    if pixels.ndim == 3 and pixels.shape[2] in (3, 4):
        keeps = color and bool((pixels[:, :, :3] != pixels[:, :, :1]).any())
        pixels = pixels[:, :, :3] if keeps else gray_of(pixels)
    if pixels.ndim != (3 if keeps else 2) or not pixels.size:
        raise ValueError(f"its shape is {pixels.shape}, not (height, width)")
    if not np.isfinite(pixels).all():
        raise ValueError("some pixels are no finite numbers")
    return pixels


def _from_png(content: bytes) -> np.ndarray:
    chunks: dict[bytes, bytes] = {}
    place = len(SIGNATURE)
    while place + 8 <= len(content):
        (length,), name = struct.unpack_from(">I", content, place), content[place + 4 : place + 8]
        body = content[place + 8 : place + 8 + length]
        if len(body) < length:
            raise ValueError("it is cut short")
        chunks[name] = chunks.get(name, b"") + body
        place += 12 + length
    for needed in (b"IHDR", b"IDAT"):
        if needed not in chunks:
            raise ValueError(f"its part {needed.decode()} is not there")
    width, height, depth, colors, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    if interlaced or colors not in CHANNELS or depth not in (1, 2, 4, 8, 16):
        raise ValueError("it is interlaced, or of a kind that is not read; save it plainly")
    bits = depth * CHANNELS[colors]
    line = (width * bits + 7) // 8
    memory.require(16 * height * (line + width), f"a picture of {height:,} x {width:,}", "Crop it.")
    unpacked = zlib.decompressobj().decompress(chunks[b"IDAT"], height * (line + 1))
    lines = np.frombuffer(unpacked, dtype=np.uint8).reshape(height, line + 1).astype(np.int64)
    unfilter(lines, max(bits // 8, 1))
    raw = lines[:, 1:].astype(np.uint8)
    samples = _samples(raw, depth, width * CHANNELS[colors]).reshape(height, width, -1)
    if colors == 3:
        palette = np.frombuffer(chunks.get(b"PLTE", b""), dtype=np.uint8).reshape(-1, 3)
        return palette[samples[:, :, 0]]
    return samples[:, :, :3] if colors in (2, 6) else samples[:, :, 0]


def _samples(raw: np.ndarray, depth: int, count: int) -> np.ndarray:
    """The numbers of each line, from bytes."""
    if depth == 8:
        return raw[:, :count]
    if depth == 16:
        return raw.view(">u2").astype(np.uint16)[:, :count]
    bits = np.unpackbits(raw, axis=1).reshape(len(raw), -1, depth)
    return (bits @ (1 << np.arange(depth - 1, -1, -1))).astype(np.uint8)[:, :count]


@kernel("out i8[:,:]", "i8")
def unfilter(lines: Any, step: Any) -> None:
    """Undo the filters of PNG. lines (h, 1 + bytes), the first byte naming the filter; in place."""
    height, width = lines.shape
    for i in range(height):
        kind = lines[i, 0]
        for j in range(1, width):
            left = lines[i, j - step] if j > step else 0
            above = lines[i - 1, j] if i > 0 else 0
            corner = lines[i - 1, j - step] if i > 0 and j > step else 0
            guess = 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = above
            elif kind == 3:
                guess = (left + above) // 2
            elif kind == 4:
                start = left + above - corner
                to_left, to_above = abs(start - left), abs(start - above)
                to_corner = abs(start - corner)
                if to_left <= to_above and to_left <= to_corner:
                    guess = left
                elif to_above <= to_corner:
                    guess = above
                else:
                    guess = corner
            lines[i, j] = (lines[i, j] + guess) % 256


def _from_netpbm(content: bytes) -> np.ndarray:
    kind, place = content[:2], 2
    wanted = 2 if kind in (b"P1", b"P4") else 3
    numbers: list[int] = []
    while len(numbers) < wanted:
        while content[place : place + 1].isspace():
            place += 1
        if content[place : place + 1] == b"#":
            place = content.index(b"\n", place)
            continue
        end = place
        while content[end : end + 1].isdigit():
            end += 1
        numbers.append(int(content[place:end]))
        place = end
    width, height = numbers[:2]
    rest = content[place + 1 :]
    if kind == b"P5":
        cell = ">u2" if numbers[2] > 255 else "u1"
        return np.frombuffer(rest, cell, count=width * height).reshape(height, width)
    if kind == b"P4":
        line = (width + 7) // 8
        packed = np.frombuffer(rest, np.uint8, count=height * line).reshape(height, line)
        return 1 - np.unpackbits(packed, axis=1)[:, :width].astype(np.int64)
    if kind == b"P1":
        marks = [int(mark) for mark in rest.decode("ascii") if mark in "01"]
        return 1 - np.array(marks[: width * height]).reshape(height, width)
    return np.array(rest.split()[: width * height], dtype=np.int64).reshape(height, width)
