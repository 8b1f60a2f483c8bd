"""A folder of pictures as a table: labels from folder names or a CSV, features, broken files named.

Pictures are read one by one and reduced at once, so that a folder larger than memory is no
problem. Pillow reads them: EXIF rotation is applied, 16-bit levels become 0 to 255, palettes and
CMYK become RGB, transparent pixels white. Without Pillow PNG and PGM files are read as gray levels.

Texts: 000c 17.1 (image sets) · 004 3 (features of images).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.engine import memory
from gnomon.engine.errors import GnomonError
from gnomon.engine.threads import in_order
from gnomon.table import Kind, Schema, Table, read
from gnomon.table.errors import ReadError
from gnomon.table.picture_files import read_picture
from gnomon.table.schema import Column
from gnomon.vision.hog import HOG
from gnomon.vision.images import crop, gray_to_rgb, resize, resize_keeping_aspect, rgb_to_gray

ENDINGS = frozenset(
    {".png", ".jpg", ".jpeg", ".jpe", ".gif", ".bmp", ".tif", ".tiff", ".webp"}
    | {".pgm", ".ppm", ".pbm", ".pnm", ".npy"}
)
WITHOUT_PILLOW = frozenset([".png", ".pgm", ".pbm", ".npy"])
LABELS = "folder"
FILE = "file"
SIDE = 32  # pictures are cut to this square before features are taken
CELL = 8  # 4 cells to a side of 32, one block: 144 features with 9 directions
TINY = 4  # the thumbnail whose colors are features
MOST_NAMED = 5  # judgement: of broken files in a note; the result lists all


def read_image(path: Any) -> np.ndarray:
    """A picture as an array of gray levels or of colors, upright.

    Parameters
    ----------
    path : path
        JPEG, PNG, GIF, BMP, TIFF, WebP, PGM, PPM or NPY.

    Returns
    -------
    image : ndarray of shape (height, width) or (height, width, 3)
        From 0 to 255; float where the file has 16 bits.

    Examples
    --------
    >>> import tempfile
    >>> from gnomon.table.picture_files import write_picture
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_picture(np.full((2, 3), 7), Path(folder) / "a.png")
    ...     read_image(file).tolist()
    [[7, 7, 7], [7, 7, 7]]
    """
    path = Path(path)
    if path.suffix.lower() == ".npy":
        return read_picture(path)
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError:
        if path.suffix.lower() in WITHOUT_PILLOW:
            return read_picture(path)
        raise ReadError(
            "needs Pillow to be read",
            file=str(path),
            remedy="Install it with: pip install 'gnomon[vision]'.",
        ) from None
    try:
        with Image.open(path) as picture:
            width, height = picture.size
            what = f"a picture of {height:,} x {width:,} pixels"
            memory.require(32 * width * height, what, "Make it smaller first.")
            pixels = _upright(ImageOps.exif_transpose(picture))
        if not np.isfinite(pixels).all():
            raise ValueError("a pixel is no finite number")
        return pixels
    except (
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
        UnidentifiedImageError,
        Image.DecompressionBombError,
    ) as error:
        if isinstance(error, GnomonError):
            raise
        empty = path.is_file() and path.stat().st_size == 0
        why = "it is empty" if empty else str(error).split("\n")[0]
        raise ReadError(
            f"is no picture that can be read ({why})",
            file=str(path),
            remedy="Save it again as PNG or JPEG, or take it out of the folder.",
        ) from error


def _upright(picture: Any) -> np.ndarray:
    """Pixels of a picture of any mode, as gray levels or RGB from 0 to 255."""
    mode = picture.mode
    if mode.startswith("I;16") or mode == "I":
        return np.asarray(picture, dtype=np.float64) / 257
    if mode == "F":
        return np.asarray(picture, dtype=np.float64)
    if mode in ("1", "L"):
        return np.asarray(picture.convert("L"))
    if mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in picture.info:
        colors = np.asarray(picture.convert("RGBA"), dtype=np.float64)
        share = colors[..., 3:] / 255
        return np.rint(colors[..., :3] * share + 255 * (1 - share)).astype(np.uint8)
    return np.asarray(picture.convert("RGB"))


@dataclass
class PictureFolder:
    """The pictures of a folder, which are read when they are needed.

    Attributes
    ----------
    folder : Path
    files : list of Path
        Those that have the ending of a picture, sorted.
    labels : list of str or None
        The name of the folder of each, or its label in a CSV; None where there are none.
    broken : dict from Path to str
        Files that could not be read when the folder was last gone through, and why.
    sizes, channels : Counter
        How many pictures have which (height, width) and which number of channels, from then.
    """

    folder: Path
    files: list[Path]
    labels: list[str] | None = None
    broken: dict[Path, str] = field(default_factory=dict)
    sizes: Counter[tuple[int, int]] = field(default_factory=Counter)
    channels: Counter[int] = field(default_factory=Counter)

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[np.ndarray]:
        """One picture after the other; an error for one that is broken."""
        return (read_image(file) for file in self.files)

    def reduced(self, function: Any, n_jobs: int | None = None) -> tuple[list[int], list[Any]]:
        """A function of every picture that can be read, on threads; one picture at a time each.

        Parameters
        ----------
        function : callable
            Of an array (height, width) or (height, width, 3).
        n_jobs : int, default=None

        Returns
        -------
        places : list of int
            Positions in ``files`` of those that could be read.
        values : list
        """
        self.broken, self.sizes, self.channels = {}, Counter(), Counter()

        def one(file: Path) -> tuple[Any, ...]:
            try:
                image = read_image(file)
            except (GnomonError, OSError) as error:
                return None, str(error), None
            return function(image), image.shape[:2], 3 if image.ndim == 3 else 1

        places, values = [], []
        for place, (value, told, channels) in enumerate(in_order(one, self.files, n_jobs)):
            if channels is None:
                self.broken[self.files[place]] = told
                continue
            self.sizes[told] += 1
            self.channels[channels] += 1
            places.append(place)
            values.append(value)
        if not places:
            first = next(iter(self.broken.values()), "there is none")
            raise ReadError(
                f"holds no picture that can be read: {first}",
                file=str(self.folder),
                remedy="Give a folder of JPEG or PNG files.",
            )
        return places, values

    def images(self, size: Any = (SIDE, SIDE), *, gray: bool = False) -> tuple[np.ndarray, Any]:
        """All pictures at one size: scaled with their aspect kept, then cut around the center.

        Parameters
        ----------
        size : tuple of (height, width), default=(32, 32)
        gray : bool, default=False

        Returns
        -------
        images : ndarray of float32 of shape (n, height, width) or (n, height, width, 3)
        labels : ndarray of str or None
            Labels of the pictures that could be read.
        """
        places, found = self.reduced(lambda image: _fitted(image, size, gray).astype(np.float32))
        labels = None if self.labels is None else np.array([self.labels[i] for i in places])
        return np.stack(found), labels

    def table(self) -> Table:
        """Features of every picture as columns, with its file and label.

        Columns: histograms of edges (``edges 0`` ...), colors of a thumbnail (``red 0`` ...),
        height, width, the file and the label. They depend on the picture alone, so that a model
        takes other folders.

        Returns
        -------
        table : Table
        """
        model = HOG(pixels_per_cell=(CELL, CELL), cells_per_block=(SIDE // CELL,) * 2, n_jobs=1)
        model.fit(np.zeros((1, SIDE, SIDE)))
        places, found = self.reduced(lambda image: _features(image, model))
        matrix = np.stack(found)
        columns: dict[str, Any] = {
            name: matrix[:, j] for j, name in enumerate(_names(matrix.shape[1]))
        }
        columns[FILE] = [str(self.files[i].relative_to(self.folder)) for i in places]
        kinds = {FILE: Kind.IDENTIFIER}
        if self.labels is not None:
            columns[LABELS] = [self.labels[i] for i in places]
            kinds[LABELS] = Kind.CATEGORY
        schema = Schema(
            Column(name, kind, reason="of a folder of pictures") for name, kind in kinds.items()
        )
        table = Table.from_dict(columns, schema)
        table.notes[:0] = self.notes()
        return table

    def notes(self) -> list[str]:
        """What there is to know about the pictures that were read: number, sizes, broken files.

        Returns
        -------
        notes : list of str
        """
        n = sum(self.sizes.values())
        heights = sorted({size[0] for size in self.sizes})
        widths = sorted({size[1] for size in self.sizes})
        gray = self.channels[1]
        found = [
            f"{n:,} pictures of {_range(heights)} x {_range(widths)} pixels "
            f"(height x width), {gray:,} of them gray."
        ]
        if self.broken:
            named = ", ".join(file.name for file in list(self.broken)[:MOST_NAMED])
            more = (
                f" and {len(self.broken) - MOST_NAMED} more"
                if len(self.broken) > MOST_NAMED
                else ""
            )
            found.append(
                f"{len(self.broken):,} files could not be read and are left out: {named}{more}."
            )
        return found


def picture_folder(folder: Any, *, labels: Any = None) -> PictureFolder:
    """The pictures of a folder with their labels.

    Parameters
    ----------
    folder : path
        Pictures in sub-folders, whose names are the labels; or all in the folder itself.
    labels : path, data frame or Table, default=None
        A table whose first column holds file names and whose second column holds labels; None for
        ``labels.csv`` in the folder where there is one, else the names of sub-folders.

    Returns
    -------
    pictures : PictureFolder

    Examples
    --------
    >>> import tempfile
    >>> from gnomon.table.picture_files import write_picture
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("cat", "dog"):
    ...         (Path(folder) / name).mkdir()
    ...         _ = write_picture(np.zeros((4, 4)), Path(folder) / name / "1.png")
    ...     picture_folder(folder).labels
    ['cat', 'dog']
    """
    place = Path(os.fspath(folder))
    files = picture_files(place)
    if labels is None and (place / "labels.csv").is_file():
        labels = place / "labels.csv"
    if labels is not None:
        return PictureFolder(*_labeled(place, files, labels))
    inside = [path.relative_to(place).parts for path in files]
    named = [parts[0] for parts in inside if len(parts) > 1]
    if not named:
        return PictureFolder(place, files)
    if len(named) < len(files):
        lost = next(path for path, parts in zip(files, inside) if len(parts) == 1)
        raise ReadError(
            f"holds pictures in sub-folders and others beside them, such as {lost.name}",
            file=str(place),
            remedy="Put every picture into the folder of its class, or give a labels.csv.",
        )
    return PictureFolder(place, files, named)


def picture_files(place: Path) -> list[Path]:
    """The files in a folder and its sub-folders that have the ending of a picture, sorted.

    Parameters
    ----------
    place : Path

    Returns
    -------
    files : list of Path
    """
    if not place.is_dir():
        raise ReadError("is no folder", file=str(place), remedy="Give a folder of pictures.")
    files = sorted(
        path for path in place.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file()
    )
    if not files:
        raise ReadError(
            "is a directory and holds no picture",
            file=str(place),
            remedy=f"Pictures end in {', '.join(sorted(ENDINGS))}.",
        )
    return files


def _labeled(place: Path, files: list[Path], labels: Any) -> tuple[Path, list[Path], list[str]]:
    table = labels if isinstance(labels, Table) else read(labels)
    if len(table.columns) < 2:
        raise ReadError(
            "needs two columns: file and label", file=str(labels), remedy="Add the labels."
        )
    names, values = (table[name].to_pylist() for name in table.columns[:2])
    known = {str(path.relative_to(place)): path for path in files}
    missing = [str(name) for name in names if str(name) not in known]
    if missing:
        raise ReadError(
            f"names {len(missing):,} files that are not in the folder, such as {missing[0]}",
            file=str(labels),
            remedy="Write names relative to the folder.",
        )
    twice = [name for name, times in Counter(names).items() if times > 1]
    blank = [name for name, value in zip(names, values) if value is None]
    if twice or blank:
        what = f"names {twice[0]} twice" if twice else f"has no label for {blank[0]}"
        raise ReadError(what, file=str(labels), remedy="Give every file one label.")
    return place, [known[str(name)] for name in names], [str(each) for each in values]


def picture_table(folder: Any, *, labels: Any = None) -> Table:
    """A folder of pictures as a table of features, files and labels.

    Parameters
    ----------
    folder : path
    labels : path, data frame or Table, default=None
        As in `picture_folder`.

    Returns
    -------
    table : Table
        With a column "folder" where pictures have labels; ``table.notes`` names broken files.

    Examples
    --------
    >>> import tempfile
    >>> from gnomon.table.picture_files import write_picture
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_picture(np.zeros((4, 4)), Path(folder) / "1.png")
    ...     len(picture_table(folder))
    1
    """
    return picture_folder(folder, labels=labels).table()


def _fitted(image: np.ndarray, size: Any, gray: bool) -> np.ndarray:
    """A picture scaled to cover the size with its aspect kept, then cut around the center."""
    height, width = (int(each) for each in size)
    pixels = np.asarray(image, dtype=np.float64)
    pixels = (rgb_to_gray(pixels) if gray else pixels) if pixels.ndim == 3 else pixels
    if pixels.ndim == 2 and not gray:
        pixels = gray_to_rgb(pixels)
    if height == width:
        return crop(resize_keeping_aspect(pixels, height), (height, width))
    factor = max(height / pixels.shape[0], width / pixels.shape[1])
    larger = (
        max(round(pixels.shape[0] * factor), height),
        max(round(pixels.shape[1] * factor), width),
    )
    flat = pixels if pixels.ndim == 3 else pixels[..., None]
    return crop(resize(flat, larger).reshape(*larger, *pixels.shape[2:]), (height, width))


def _features(image: np.ndarray, model: HOG) -> np.ndarray:
    small = _fitted(image, (SIDE, SIDE), gray=False)
    edges = model.transform(rgb_to_gray(small)[None])[0]
    colors = resize(small, (TINY, TINY)).transpose(2, 0, 1).ravel()
    return np.concatenate([edges, colors, image.shape[:2]])


def _names(count: int) -> list[str]:
    tiny = [f"{color} {i}" for color in ("red", "green", "blue") for i in range(TINY * TINY)]
    rest = [*tiny, "height", "width"]
    return [*(f"edges {i}" for i in range(count - len(rest))), *rest]


def _range(numbers: list[int]) -> str:
    """Sorted numbers as "first to last", or the one where there is no other."""
    return f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
