"""The base of every public estimator: parameters, callbacks, history, memory, saving."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from gnomon.engine import memory, modelfile
from gnomon.engine.history import Course
from gnomon.engine.parameters import are_allowed
from gnomon.engine.stored import Array, DictOf, Object, Optional, Text, Whole

# Judgement: scikit-learn's learners hold between one and four copies of their rows.
COPIES_ELSEWHERE = 2.0


@dataclass(frozen=True)
class Takes:
    """What a method uses as it is; all else is converted by filters inside ``fit``.

    Attributes
    ----------
    missing : bool
        Missing cells (NaN).
    categories : bool
        Columns of category codes 0, 1, 2 ...
    sparse : bool
        SciPy sparse rows.
    redundant : bool
        One column for every level of a category, although the last follows from the others. A
        method that tests its columns one by one says False: the first level is then left out and
        is what the others are compared with.
    many_levels : bool
        Categories of any number of levels: beyond a hundred, rows come as sparse ones.
    float32 : bool
        float32 rows are kept as in scikit-learn: fitted arrays and outputs are float32 too.
    """

    missing: bool = False
    categories: bool = False
    sparse: bool = False
    redundant: bool = True
    many_levels: bool = False
    float32: bool = False


def is_fitted(estimator: BaseEstimator) -> bool:
    """Whether an estimator has an attribute that ``fit`` sets: one whose name ends in ``_``."""
    # parameters come first, so that the search from the end is short: small fits notice the time
    return any(name[-1] == "_" and name[:2] != "__" for name in reversed(vars(estimator)))


class Estimator(CallbackSupportMixin, BaseEstimator):
    """Parameters validated from one table, a recorded history, a memory forecast, a model file."""

    natively: Takes = Takes()
    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    _transient: ClassVar[tuple[str, ...]] = ()
    _unlabeled: ClassVar[bool] = False  # whether rows without a label are learnt from
    _stored: ClassVar[Any] = {
        "n_features_in_": Optional(Whole(1)),
        "feature_names_in_": Optional(Array("O", ("n_features_in_",), entry=Text())),
        "encoder_": Optional(Object(("TableEncoder",)) | None),
        "target_name_": Optional(Text() | None),
        "weight_name_": Optional(Text() | None),
        "history_": Optional(Object(("History",))),
        "n_iter_": Optional(Whole()),
        "_sklearn_output_config": Optional(DictOf(Text())),
    }

    @classmethod
    @functools.cache
    def _get_param_names(cls) -> Any:
        """scikit-learn's, which reads the signature of the class anew for every fit."""
        return super()._get_param_names()

    def _validate_params(self) -> None:
        """scikit-learn's, called for its message where the table, read once, forbids a value."""
        if not are_allowed(type(self), self.get_params(deep=False)):
            super()._validate_params()

    if not TYPE_CHECKING:  # a type checker would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Called for attributes that are missing: before ``fit``, a NotFittedError.

            So every method that reads a fitted attribute raises it, whatever the method checks.
            """
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)  # raises the property's own error
            learned = name.endswith("_") or name.startswith("_")
            if learned and not name.startswith("__") and not is_fitted(self):
                raise NotFittedError(
                    f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                    f"appropriate arguments before using this estimator; it has no {name!r}."
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.natively.sparse
        tags.input_tags.allow_nan = self.natively.missing
        tags.input_tags.categorical = self.natively.categories
        return tags

    def _public(self) -> dict[str, Any]:
        """The fitted attributes."""
        return {k: v for k, v in vars(self).items() if k.endswith("_") and not k.startswith("_")}

    def save(self, path: str | Path) -> Path:
        """Write this estimator to a model file, which `gnomon.load` reads.

        Parameters
        ----------
        path : str or Path
            Conventionally ends in ``.gnomon``.

        Returns
        -------
        path : Path
        """
        return modelfile.save(self, path)

    def forecast(self, n_rows: int, n_columns: int, n_entries: int | None = None) -> int:
        """Peak bytes that ``fit`` will allocate for a table of this shape, beside the table itself.

        Parameters
        ----------
        n_rows : int
        n_columns : int
            Columns that the method sees: after categories and text have become numbers.
        n_entries : int, default=None
            Cells that are stored, of a sparse table.

        Returns
        -------
        bytes : int
        """
        if n_entries is not None:
            sparse = self._sparse_memory(n_rows, n_columns, n_entries)
            if sparse is not None:
                return sparse
        return int(self._working_memory(n_rows, n_columns))

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        """All that ``fit`` allocates at its peak for dense rows, within a factor of two."""
        return 8 * (4 * n_rows + 4 * n_columns)

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int | None:
        """All that ``fit`` allocates for sparse rows; None where it is as for dense ones."""

    def _memory_remedy(self) -> str:
        """What to do when the forecast exceeds the limit."""
        return "Use fewer rows or columns."

    def _require_memory(self, n_rows: int, n_columns: int, n_entries: int | None = None) -> None:
        memory.require_fit(
            self.forecast(n_rows, n_columns, n_entries),
            f"{type(self).__name__}.fit on {n_rows:,} rows x {n_columns:,} columns",
            self._memory_remedy(),
        )

    def _rng(self) -> np.random.Generator:
        """One generator from ``random_state``, whichever of its forms it has."""
        if not hasattr(self, "random_state"):
            return np.random.default_rng(0)  # draws nothing; numpy's global generator is not ours
        state = self.random_state
        if isinstance(state, np.random.Generator):
            return state
        legacy = check_random_state(state)
        return np.random.default_rng(legacy.randint(0, 2**32, size=4, dtype=np.uint32))

    def _course(self, name: str, max_steps: int) -> Course:
        """The steps of this fit, told to the callbacks and kept in the history."""
        own = vars(self)  # a missing attribute takes longer to look up
        keep = own.get("keep_history") == "full"
        return Course(self, own.get("_callback_fit_ctx"), name, max_steps, keep, own.get("_given"))

    def _most_steps(self) -> int:
        """Steps of the longest possible course, for progress bars; 0 where there are none."""
        return getattr(self, "max_iter", 0) or 0

    def _check_loaded(self) -> None:
        """Raise where values read from a model file do not fit together."""

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key not in modelfile.TRANSIENT}


def forecast_of(learner: Any, n_rows: int, n_columns: int) -> int:
    """What a learner inside another forecasts; for other libraries' learners, copies of rows."""
    if isinstance(learner, Estimator):
        return learner.forecast(n_rows, n_columns)
    return memory_of_copies(COPIES_ELSEWHERE, n_rows, n_columns)


def memory_of_copies(copies: float, n_rows: int, n_columns: int) -> int:
    """Bytes of so many copies of a table of numbers, with a few numbers for each row and column."""
    return int(8 * (copies * n_rows * n_columns + 4 * n_rows + 8 * n_columns))
