"""Arrays and sparse matrices: scikit-learn's validation, with a fast path for finite floats."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_sample_weight, validate_data

from gnomon.contract.data import Data
from gnomon.engine.errors import DataError
from gnomon.engine.sums import ArraySource
from gnomon.engine.threads import one_blas_thread
from gnomon.table.encode import Columns

FLOATS = (np.float64, np.float32)
# Cells whose product OpenBLAS never shares among threads (it does from 10,000 on).
SHORT_LINE = 8192


def checked_array(learner: Any, X: Any, y: Any, reset: bool) -> Any:
    """Rows of finite floats (float32 stays), checked as scikit-learn does.

    Parameters
    ----------
    learner : Learner
    X : array-like or sparse matrix
    y : object
        The target; only whether it is None matters here.
    reset : bool
        Whether this is a fit, which sets ``n_features_in_``.

    Returns
    -------
    rows : ndarray or csr_matrix
    """
    lacks_target = reset and y is None and learner._target is not None
    harmless = isinstance(X, np.ndarray) and squares_are_small(X, learner._largest)
    if harmless and not lacks_target and is_plain(learner, X, reset):
        learner.n_features_in_ = X.shape[1]
        return X
    if not lacks_target and learner.natively.sparse and is_plain_sparse(learner, X, reset):
        learner.n_features_in_ = X.shape[1]
        return X
    try:
        rows = validate_data(
            learner,
            X,
            None if lacks_target else "no_validation",
            reset=reset,
            accept_sparse="csr" if learner.natively.sparse else False,
            dtype=FLOATS,
            ensure_all_finite=not harmless and ("allow-nan" if learner.natively.missing else True),
        )
    except ValueError as error:
        raise refusal_of_missing(learner, error) or error from None
    rows = rows[0] if isinstance(rows, tuple) else rows
    if not harmless:
        refuse_huge(learner, rows)
    return rows


@contextlib.contextmanager
def own_refusals(learner: Any) -> Iterator[None]:
    """Around scikit-learn's code: missing cells are refused in our words."""
    try:
        yield
    except ValueError as error:
        raise refusal_of_missing(learner, error) or error from None


def refusal_of_missing(learner: Any, error: ValueError) -> DataError | None:
    """scikit-learn's refusal of missing cells, without its advice to take its own boosting."""
    found, _, advice = str(error).partition("\n")
    if "does not accept missing values" not in advice:
        return None
    return DataError(
        f"{found} {type(learner).__name__} takes no missing cells in an array: fill them in first "
        "(gnomon.prepare.SimpleImputer), leave those rows out, or give a table or data frame, "
        "where they are filled in"
    )


def is_plain(learner: Any, X: np.ndarray, reset: bool) -> bool:
    """Whether nothing is left to check of an array of finite floats: small fits notice the time."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.size == 0:
        return False
    if "feature_names_in_" in vars(learner):
        return False
    return reset or X.shape[1] == getattr(learner, "n_features_in_", None)


def is_plain_sparse(learner: Any, X: Any, reset: bool) -> bool:
    """The same of a sparse matrix by rows, with indices that every library reads."""
    if type(X) not in (sp.csr_array, sp.csr_matrix) or X.indices.dtype != np.int32:
        return False
    if X.ndim != 2 or 0 in X.shape or "feature_names_in_" in vars(learner):
        return False
    same_columns = reset or X.shape[1] == getattr(learner, "n_features_in_", None)
    return same_columns and squares_are_small(X.data, learner._largest)


def refuse_huge(learner: Any, rows: Any, names: Any = None) -> None:
    """Refuse numbers whose squares or products would overflow, naming the column."""
    values = rows.data if sp.issparse(rows) else rows
    if values.size == 0 or not np.isfinite(learner._largest):
        return
    if squares_are_small(values, learner._largest):
        return
    if float(max(np.nanmax(values, initial=0), -np.nanmin(values, initial=0))) <= learner._largest:
        return
    if sp.issparse(rows):
        raise DataError(f"{type(learner).__name__}: values beyond {learner._largest:g}; rescale")
    worst = np.unravel_index(np.nanargmax(np.abs(rows)), rows.shape)
    if names is None:
        names = getattr(learner, "feature_names_in_", None)
    column = repr(names[worst[1]]) if names is not None else str(worst[1])
    raise DataError(
        f"{type(learner).__name__} cannot compute with numbers beyond {learner._largest:g}: "
        f"column {column}, row {worst[0]} holds {rows[worst]:g}. Rescale the column or mark "
        "such values as missing"
    )


def squares_are_small(values: np.ndarray, largest: float) -> bool:
    """Whether the sum of squares rules out missing and too large numbers: one fast pass."""
    if values.dtype not in FLOATS:
        return False
    in_one_piece = values.flags.c_contiguous or values.flags.f_contiguous
    if not in_one_piece and values.size > SHORT_LINE:
        return False
    line = values.ravel(order="K")
    hold = nullcontext() if line.size <= SHORT_LINE else one_blas_thread()
    with hold, np.errstate(over="ignore", invalid="ignore"):
        total = float(np.dot(line, line))
    return total <= largest * largest and total < np.inf  # False of NaN too


def require_shape(learner: Any, X: Any) -> None:
    """Compare the forecast with the memory limit before the conversion to float allocates."""
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) == 2:
        learner._require_memory(*shape, getattr(X, "nnz", None))


def require_square(learner: Any, rows: Any) -> None:
    """Refuse a precomputed matrix of distances or kernel values that is not square."""
    n_rows, n_columns = rows.shape
    if n_rows != n_columns:
        raise DataError(
            f"Precomputed matrix must be square. Input is a {n_rows}x{n_columns} matrix; "
            f"{type(learner).__name__}.fit takes one row and one column per sample where its "
            "metric, affinity or kernel is 'precomputed'"
        )


def checked_weights(sample_weight: Any, rows: Any) -> np.ndarray | None:
    """Weights that are zero or more, one per row; None where none are given."""
    if sample_weight is None:
        return None
    return _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)


def assembled(
    learner: Any, rows: Any, y: Any, weights: Any, columns: Columns, fits: bool = False
) -> Data:
    """Rows, target and weights (times those of the classes), without rows of weight zero.

    ``fits`` says that the memory for so many rows has been compared with the limit.
    """
    factors = None
    if learner._target == "classes":
        factors, of_rows = learner._row_factors(y, weights)
        if of_rows is not None:
            weights = of_rows if weights is None else weights * of_rows
    kept = None
    if weights is not None and (weights == 0).any():
        kept = weights > 0
        if not kept.any():
            raise DataError(
                "the weight of every row is zero: there is nothing to learn from. "
                "Give weights of which some are positive"
            )
        rows, weights = rows[kept], weights[kept]
        y = None if y is None else y[kept]
    if weights is not None and (weights == 1).all():
        weights = None
    if not fits:
        learner._require_memory(*rows.shape, rows.nnz if sp.issparse(rows) else None)
    return Data(ArraySource(rows, y, weights), columns, kept, factors=factors)
