"""Names that a person gives to clusters; kept with the model, shown in predictions (004 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gnomon.engine.errors import DataError


def name_groups(model: Any, names: Mapping[int, str]) -> Any:
    """Name the groups of a fitted clusterer; `gnomon.predict` and its model file know them then.

    Parameters
    ----------
    model : fitted clusterer
        With ``labels_``, or a number of groups.
    names : dict of int to str
        Groups that are not named keep "group 3".

    Returns
    -------
    model : the same
        With ``group_names_``.

    Examples
    --------
    >>> from gnomon.cluster import KMeans
    >>> model = KMeans(2, random_state=0).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> small = int(model.predict([[0.0]])[0])
    >>> name_groups(model, {small: "small", 1 - small: "large"}).group_names_[small]
    'small'
    """
    count = getattr(model, "n_clusters", None) or getattr(model, "n_components", None)
    if not isinstance(count, int):
        raise DataError(f"{type(model).__name__} has no number of groups that could be named")
    unknown = [group for group in names if not 0 <= group < count]
    if unknown:
        raise DataError(f"there is no group {unknown[0]}: groups are 0 to {count - 1}")
    if len(set(names.values())) < len(names):
        raise DataError("two groups have the same name; give each its own")
    model.group_names_ = [str(names.get(group, f"group {group}")) for group in range(count)]
    return model
