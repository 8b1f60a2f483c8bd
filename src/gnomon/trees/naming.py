"""What the columns and levels that a fitted model sees are called."""

from __future__ import annotations

from collections.abc import Collection

from gnomon.table.codes import OTHER, CategoryCode
from gnomon.table.encode import TableEncoder


def column_labels(encoder: TableEncoder) -> dict[str, tuple[int, list | None]]:
    """Per column that a method sees: its position and the labels of its levels (None: numbers)."""
    found: dict[str, tuple[int, list | None]] = {}
    position = 0
    for code in encoder.codes:
        labels = None
        if isinstance(code, CategoryCode) and not code.one_hot:
            labels = [*code.values, OTHER] if code.lumped else list(code.values)
        for name in code.names:
            found[name] = (position, labels)
            position += 1
    return found


def labels_of_model(model) -> dict[str, tuple[int, list | None]]:
    """The same of a fitted model; columns of an array are x0, x1 ..."""
    encoder = getattr(model, "encoder_", None)
    if encoder is not None:
        return column_labels(encoder)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"x{j}" for j in range(model.n_features_in_)]
    return {str(name): (j, None) for j, name in enumerate(names)}


def has_columns(model, names: Collection[str]) -> bool:
    """Whether a fitted model sees columns of all these names."""
    if hasattr(model, "encoder_") or hasattr(model, "feature_names_in_"):
        return set(names) <= set(labels_of_model(model))
    # without a list of all names, which a damaged file could make endless
    places = [name[1:] for name in names if name[:1] == "x" and name[1:].isdecimal()]
    return len(places) == len(names) and all(int(j) < model.n_features_in_ for j in places)


def names_of_columns(model) -> list[str]:
    """Names of the columns that a fitted model sees, in order."""
    return list(labels_of_model(model))
