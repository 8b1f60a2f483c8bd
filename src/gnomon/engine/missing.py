"""Whether a single value is missing."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA (which does not say whether it equals NA).

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing("nan"), is_missing([float("nan")])
    (True, True, False, False)
    """
    if value is None:
        return True
    different = value != value
    if isinstance(different, (bool, np.bool_)):
        return bool(different)
    return not isinstance(different, np.ndarray) and not hasattr(value, "__len__")
