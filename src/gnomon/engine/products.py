"""Products of matrices on engine threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def inner(one: Any, other: Any) -> Any:
    """Products of columns summed over rows, ``one.T @ other``, without the interpreter's lock.

    NumPy's ``@`` keeps the lock where the result has fewer than some five hundred entries, however
    many rows are summed, so that threads would wait for each other; ``np.dot`` gives it free.

    Parameters
    ----------
    one, other : array or sparse array of shape (n, ...) and (n, ...), of one or two dimensions
    """
    if sp.issparse(one) or sp.issparse(other):
        return one.T @ other
    return np.dot(one.T, other)
