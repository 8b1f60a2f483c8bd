"""What every estimator of sequences inherits: two forms of input, callbacks, a recorded history.

Sequences are given as a list with one entry per sequence, or end to end as rows of one array with
the `lengths` of the sequences. A table alone (a 2-D array or a data frame) is one sequence, with
one observation in each row.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils.validation import check_is_fitted

from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Estimator
from gnomon.engine.parameters import SEED, validated

SEEDS = [*SEED, np.random.Generator]


class SequenceEstimator(Estimator):
    """An estimator whose ``fit`` takes sequences."""

    @contextmanager
    def _reported(self, max_steps: int = 0) -> Iterator[None]:
        """Tell the callbacks of the begin and the end of a fit that runs inside."""
        context = self._init_callback_context(max_subtasks=max_steps)
        context.call_on_fit_task_begin(estimator=self)
        yield
        context.call_on_fit_task_end(estimator=self, reconstruction_attributes=self._public)

    def _most_steps(self) -> int:
        return 0


def fits(*beside: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What every ``fit`` of sequences does first: check parameters, take both forms, report.

    Parameters
    ----------
    *beside : str
        As in `of_sequences`.

    Returns
    -------
    decorator : callable
    """

    def decorate(fit: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fit)
        def reported(self: Any, *args: Any, **named: Any) -> Any:
            with self._reported(self._most_steps()):
                return fit(self, *args, **named)

        return validated(with_callbacks(of_sequences(*beside)(reported)))

    return decorate


def as_sequences(X: Any, lengths: Any = None) -> Sequence:
    """Sequences as a list, from either of the two forms.

    Parameters
    ----------
    X : list of sequences, array-like or data frame
        Without `lengths`, a 2-D array or a data frame is one sequence of its rows; an array of
        three axes holds one sequence in each entry of its first axis.
    lengths : array-like of int, default=None
        Lengths of the sequences that lie end to end in `X`.

    Returns
    -------
    sequences : list

    Examples
    --------
    >>> import numpy as np
    >>> [part.tolist() for part in as_sequences(np.arange(3.0)[:, None], [2, 1])]
    [[[0.0], [1.0]], [[2.0]]]
    >>> len(as_sequences(np.zeros((5, 2))))
    1
    """
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if lengths is not None:
        return split_rows(X, lengths)
    if isinstance(X, str):
        raise DataError("give a list of sequences: [sequence] where there is only one")
    if not isinstance(X, np.ndarray):
        return X
    if X.ndim == 2:
        return [X]
    if X.ndim == 1 and X.dtype != object:
        raise DataError(
            "a 1-D array is not a list of sequences; give [X] for one sequence, or X with lengths"
        )
    return list(X)


def split_rows(X: Any, lengths: Any) -> list:
    """Rows that lie end to end, cut into sequences of the given lengths."""
    sizes = np.asarray(lengths)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 1).any():
        raise DataError(f"lengths must be whole numbers, 1 or more; they are {lengths!r}")
    if sizes.sum() != len(X):
        raise DataError(f"lengths sum to {sizes.sum():,}, but X has {len(X):,} rows")
    ends = np.cumsum(sizes)
    return [X[end - size : end] for size, end in zip(sizes.tolist(), ends.tolist())]


def of_sequences(*beside: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a method take sequences in both forms, and add the parameter `lengths` to it.

    Parameters
    ----------
    *beside : str
        Other parameters with one value for each observation (states, labels, inputs).

    Returns
    -------
    decorator : callable
        Its method gets lists of sequences. Every method but ``fit`` requires a fitted estimator.
    """

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(method)
        first = list(signature.parameters)[1]
        shown = [
            *signature.parameters.values(),
            inspect.Parameter("lengths", inspect.Parameter.KEYWORD_ONLY, default=None),
        ]

        @functools.wraps(method)
        def called(self: Any, *args: Any, lengths: Any = None, **named: Any) -> Any:
            if method.__name__ != "fit":
                check_is_fitted(self)
            bound = signature.bind(self, *args, **named)
            X = bound.arguments[first]
            bound.arguments[first] = sequences = as_sequences(X, lengths)
            if sequences is not X:
                for name in beside:
                    if bound.arguments.get(name) is not None:
                        bound.arguments[name] = _cut_alike(bound.arguments[name], X, lengths)
            return method(*bound.args, **bound.kwargs)

        called.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
        return called

    return decorate


def _cut_alike(values: Any, X: Any, lengths: Any) -> Sequence:
    """Values beside the rows of X, cut where X is cut."""
    if lengths is None and np.ndim(X) == 2:
        lengths = [len(X)]
    return list(values) if lengths is None else split_rows(values, lengths)
