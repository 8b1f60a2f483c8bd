"""Tables of boxes: one row for each object, with the file of its picture.

Texts: 000c 18.2.5 (the truth that detections are matched with).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gnomon.table import Table, read
from gnomon.table.errors import ReadError

FILE_NAMES = ("file", "filename", "image", "picture")
LABEL_NAMES = ("label", "class", "name", "category")
SIDE_NAMES = (
    ("left", "xmin", "x_min", "x1"),
    ("top", "ymin", "y_min", "y1"),
    ("right", "xmax", "x_max", "x2"),
    ("bottom", "ymax", "y_max", "y2"),
)
ONE_CLASS = "object"


def read_boxes(boxes: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The true boxes of pictures from a table with a row for each object.

    Parameters
    ----------
    boxes : path, data frame or Table
        Columns ``file``, ``left``, ``top``, ``right``, ``bottom`` in pixels and ``label``; also
        ``xmin``, ``ymin``, ``xmax``, ``ymax`` and ``class``. Without labels all objects are of one
        class, "object".

    Returns
    -------
    truth : dict
        From the name of a file to its boxes (n, 4) and labels (n,).

    Examples
    --------
    >>> table = {"file": ["a.png"], "left": [1], "top": [2], "right": [5], "bottom": [9]}
    >>> read_boxes(Table.from_dict(table))["a.png"][0].tolist()
    [[1.0, 2.0, 5.0, 9.0]]
    """
    table = boxes if isinstance(boxes, Table) else read(boxes)
    source = "the table of boxes" if isinstance(boxes, Table) else str(boxes)
    columns = {str(name).strip().lower(): name for name in table.columns}

    def column(names: tuple[str, ...], needed: bool = True) -> list[Any] | None:
        for name in names:
            if name in columns:
                return table[columns[name]].to_pylist()
        if needed:
            raise ReadError(
                f"has no column {names[0]!r}",
                file=source,
                remedy=f"Boxes need {FILE_NAMES[0]}, left, top, right, bottom and label; the "
                f"columns are {', '.join(table.columns)}.",
            )
        return None

    files = column(FILE_NAMES) or []
    sides = [column(names) or [] for names in SIDE_NAMES]
    labels = column(LABEL_NAMES, needed=False) or [ONE_CLASS] * len(files)
    found: dict[str, tuple[list, list]] = {}
    for row, (file, label, *box) in enumerate(zip(files, labels, *sides), 1):
        try:
            numbers = [float(each) for each in box]
        except (TypeError, ValueError):
            numbers = [np.nan]
        if file is None or label is None or not np.isfinite(numbers).all():
            raise ReadError(
                f"row {row} is not a file with four numbers and a label: {[file, *box, label]}",
                file=source,
                remedy="Fill in the row or take it out.",
            )
        places, names = found.setdefault(str(Path(str(file))), ([], []))
        places.append(numbers)
        names.append(str(label))
    return {file: (np.array(a), np.array(b)) for file, (a, b) in found.items()}
