"""OverScikitLearn: a class of scikit-learn as it is, under the contract of this library.

Where scikit-learn's own implementation is the best there is, a method here inherits from it and
from `OverScikitLearn`. A numeric array, a sparse matrix or a data frame of numbers goes to
scikit-learn's code unchanged, so that parameters, results, attributes, warnings and errors are
its own. `OverScikitLearn` adds what the contract promises beyond that: any table (encoded in
``fit`` by a stored `TableEncoder`), a memory forecast, callbacks and model files.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples, check_is_fitted

from gnomon.contract import intake
from gnomon.contract.intake.arrays import refuse_huge
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Estimator
from gnomon.engine.stored import CLASSES, Optional, Whole
from gnomon.table.scan import Scan
from gnomon.table.table import Table

FITTING = ("fit", "fit_transform", "fit_predict", "partial_fit")
ANSWERING = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "predict_joint_log_proba",
    "decision_function",
    "transform",
    "score_samples",
    "score",
)
NUMERIC = ("predict_proba", "decision_function", "transform", "score_samples")
# What a fit on a table sets beside scikit-learn's attributes.
OF_TABLE = ("encoder_", "feature_names_in_", "n_features_in_", "target_name_", "weight_name_")
ATTRIBUTES = """
encoder_ : TableEncoder
    How a table became numbers; only when a table of other than numbers was given.
target_name_ : str
    The column that is the target, only where it was given by name.
weight_name_ : str
    The column that holds the weights, only where it was given by name.

"""


class OverScikitLearn(Estimator):
    """Mixin that stands before a class of scikit-learn in the bases of a method.

    Class attributes that a method may set: ``natively`` (what it takes as it is), ``_target``
    (None, "classes", "numbers" or "any"), ``_largest`` (values beyond which its arithmetic
    overflows).
    """

    _target: ClassVar[str | None] = None
    _many_targets: ClassVar[bool] = False
    _largest: ClassVar[float] = 1e100
    _largest_target: ClassVar[float] = 1e100
    _stored = {
        "n_features_in_": Whole(1),
        "classes_": Optional(CLASSES),
    }

    def __init_subclass__(cls, **kwargs: Any) -> None:
        peers = [base for base in cls.__mro__ if is_peer(base)]
        if peers:
            cls._stand_before(peers[0])
        super().__init_subclass__(**kwargs)

    @classmethod
    def _stand_before(cls, theirs: Any) -> None:
        """Wrap the methods of scikit-learn's class, take over its parameters and their texts."""
        for name in (*FITTING, *ANSWERING):
            if name not in vars(cls) and hasattr(theirs, name):
                setattr(cls, name, wrapped(name, inspect.getattr_static(theirs, name)))
        if hasattr(theirs, "get_feature_names_out"):
            cls.get_feature_names_out = names_out
        cls._parameter_constraints = theirs._parameter_constraints
        cls.__doc__ = documentation(cls.__doc__ or "", theirs.__doc__ or "")

    def __sklearn_tags__(self) -> Any:
        return super(Estimator, self).__sklearn_tags__()

    def _row_factors(self, y: np.ndarray, weights: np.ndarray | None) -> tuple[None, None]:
        """scikit-learn's code applies ``class_weight`` by itself."""
        return None, None

    def _class_weights(self, totals: np.ndarray) -> None:
        """As `_row_factors`, for tables that are streamed."""

    def _is_pairwise(self) -> bool:
        """Tables hold features, not distances."""
        return False

    def _public(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k.endswith("_") and not k.startswith("_")}

    def _plain(self) -> Any:
        """This estimator as scikit-learn would have fitted it on the encoded rows."""
        plain = object.__new__(type(self))
        plain.__dict__.update(vars(self))
        for name in OF_TABLE:
            plain.__dict__.pop(name, None)
        plain.n_features_in_ = len(self.encoder_.columns)
        return plain

    @with_callbacks
    def _learn(self, fit: Callable[..., Any], X: Any, given: dict[str, Any]) -> Any:
        """scikit-learn's `fit` of rows that it takes, between the callbacks' begin and end."""
        told = intake.given_to_callbacks(self, X, given.get("y"), given.get("sample_weight"))
        self._require_rows(X)
        rows, changed, of_table = self._taken(X, given)
        context = self._init_callback_context(max_subtasks=0)
        context.call_on_fit_task_begin(estimator=self, **told)
        with self._inside_fit(), np.errstate(all="ignore"):
            result = fit(rows, **changed)
        self.__dict__.update(of_table)
        context.call_on_fit_task_end(estimator=self, reconstruction_attributes=self._public, **told)
        return result

    @contextlib.contextmanager
    def _inside_fit(self) -> Iterator[None]:
        """scikit-learn's own fit would end the callbacks, and may call other wrapped methods."""
        names = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")
        hidden = {name: self.__dict__.pop(name) for name in names}
        self._given = True
        try:
            yield
        except TypeError as error:
            if "not supported between instances" not in str(error):
                raise
            raise DataError(
                f"the target holds values of several types or missing values ({error}); give "
                "values of one type, none missing"
            ) from error
        finally:
            del self._given
            self.__dict__.update(hidden)

    def _taken(self, X: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """Rows and arguments for scikit-learn's fit, and the attributes that a table adds."""
        if needs_encoder(X):
            return self._encode(X, given)
        for name in ("encoder_", "target_name_", "weight_name_"):
            self.__dict__.pop(name, None)
        rows = self._checked(X)
        weights = given.get("sample_weight")
        if weights is None:
            return rows, given, {}
        weights = np.asarray(weights)
        if weights.dtype.kind in "fiu" and (weights < 0).any():
            raise ValueError("Negative values in data passed to `sample_weight`")
        kept = weights > 0
        if kept.all() or not kept.any() or kept.shape != (_num_samples(X),):
            return rows, given, {}
        y = given.get("y")
        if y is not None and self._target == "classes" and loses_a_class(y, kept):
            return rows, given, {}
        changed = {"sample_weight": weights[kept]}
        if y is not None:
            changed["y"] = _safe_indexing(y, np.flatnonzero(kept))
        return _safe_indexing(rows, np.flatnonzero(kept)), {**given, **changed}, {}

    def _checked(self, X: Any) -> Any:
        """An array without values beyond what the arithmetic bears; half precision is widened."""
        if not isinstance(X, np.ndarray) or X.ndim != 2:
            return X
        if X.dtype == np.float16:
            return X.astype(np.float32)
        if X.dtype.kind in "fiu" and np.isfinite(X).all():
            refuse_huge(self, X)
        return X

    def _require_rows(self, X: Any) -> None:
        shape = getattr(X, "shape", None)
        if shape is not None and len(shape) == 2 and not isinstance(X, Scan):
            self._require_memory(shape[0], shape[1], getattr(X, "nnz", None))

    def _encode(self, X: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """Rows of a table, the arguments of ``fit`` for them, and what is kept of the table."""
        y, weights = given.get("y"), given.get("sample_weight")
        kind = self._target
        if kind == "any":
            kind = self._target = kind_of(X, y)  # type: ignore[misc]
        try:
            data = intake.take_in(self, X, y if kind else None, weights)
        finally:
            self.__dict__.pop("_target", None)
        changed: dict[str, Any] = {}
        if kind == "classes":
            changed["y"] = self.__dict__.pop("classes_")[data.y]
        elif kind is not None:
            changed["y"] = data.y
        if weights is not None:
            changed["sample_weight"] = data.weight_array
        of_table = {name: self.__dict__.pop(name) for name in OF_TABLE if name in vars(self)}
        return data.rows, {**given, **changed}, of_table

    def _as_frame(self, X: Any) -> Any:
        """A table in a form that scikit-learn knows, without the columns that had other roles."""
        if not is_foreign(X):
            return X
        check_is_fitted(self)
        table = X.read() if isinstance(X, Scan) else intake.as_table(X)
        return intake.without_roles(self, table).to_pandas()

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (4 * n_rows * n_columns + 8 * n_rows + 8 * n_columns)


def is_peer(base: type) -> bool:
    return base.__module__.startswith("sklearn.") and hasattr(base, "fit")


def names_out(self: Any, input_features: Any = None) -> Any:
    """Names of the columns that ``transform`` gives.

    Parameters
    ----------
    input_features : array-like of str or None, default=None
        Names of the columns that go in, where ``fit`` saw none.

    Returns
    -------
    names : ndarray of str
    """
    peer: Any = super(Estimator, self)
    if "encoder_" in vars(self):
        input_features = np.array(self.encoder_.columns.names, dtype=object)
        peer = super(Estimator, self._plain())
    return peer.get_feature_names_out(input_features)


def loses_a_class(y: Any, kept: np.ndarray) -> bool:
    """Whether a class has rows of weight zero only; it must stay among the classes."""
    labels = np.asarray(y)
    return labels.ndim == 1 and len(np.unique(labels[kept])) < len(np.unique(labels))


def wrapped(name: str, original: Any) -> Any:
    """A method of scikit-learn's class that takes any table.

    A method that exists for some parameters only (``available_if``) still does.
    """
    if hasattr(original, "check") and hasattr(original, "fn"):
        return available_if(original.check)(wrapped(name, original.fn))
    call = fitting(original) if name in FITTING else answering(name, original)
    return functools.wraps(original)(call)


def fitting(original: Callable[..., Any]) -> Callable[..., Any]:
    """A method that learns."""
    signature = inspect.signature(original)
    _, first, *_ = signature.parameters
    open_ended = [p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD]

    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        if "_given" in vars(self):  # called by scikit-learn's own fit
            return original(self, *args, **kwargs)
        given = dict(signature.bind(self, *args, **kwargs).arguments)
        for name in open_ended:
            given.update(given.pop(name, {}))
        given.pop("self")
        X = given.pop(first)
        return self._learn(functools.partial(original, self), X, given)

    return fit


def answering(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """A method that answers for rows."""

    def answer(self: Any, *args: Any, **kwargs: Any) -> Any:
        if "_given" in vars(self):
            return original(self, *args, **kwargs)
        if "encoder_" not in vars(self) and args and not is_foreign(args[0]):
            return finite(self, name, original, self._checked(args[0]), *args[1:], **kwargs)
        given = dict(inspect.signature(original).bind(self, *args, **kwargs).arguments)
        given.pop("self")
        X = given.pop("X")
        if name == "score":
            X, y, weights = intake.take_truth(self, X, given.get("y"), given.get("sample_weight"))
            given["y"] = y
            if weights is not None:
                given["sample_weight"] = weights
        if "encoder_" in vars(self):
            blocks = list(intake.blocks_of(self, X))
            rows = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
            return getattr(self._plain(), name)(rows, **given)
        return finite(self, name, original, self._as_frame(X), **given)

    return answer


def finite(
    estimator: Any, name: str, original: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """What the method answers; NaN, the result of an overflow or of 0 / 0, is refused."""
    with np.errstate(all="ignore"):
        answer = original(estimator, *args, **kwargs)
    if name in NUMERIC and isinstance(answer, np.ndarray) and answer.dtype.kind == "f":
        missing = np.isnan(answer)
        if missing.any() and not holds_nan(args[0]):
            raise DataError(
                f"{type(estimator).__name__}.{name} is not a number for row "
                f"{int(np.argwhere(missing)[0][0])}: its values, or those that were learnt from, "
                "are constant, too large or too small. Rescale the columns or leave them out"
            )
    return answer


def holds_nan(X: Any) -> bool:
    values = X.data if hasattr(X, "nnz") else np.asarray(X)
    return values.dtype.kind == "f" and bool(np.isnan(values).any())


def is_foreign(X: Any) -> bool:
    """Whether X is a table of a kind that scikit-learn does not know."""
    return isinstance(X, (Table, Scan)) or is_arrow(X)


def kind_of(X: Any, y: Any) -> str | None:
    """What a target is, by its values: "classes" or "numbers"; None where there is none."""
    if y is None:
        return None
    if isinstance(y, str):
        if isinstance(X, Scan) or y not in intake.as_table(X).columns:
            return "numbers"
        y = intake.as_table(X).column(y).to_numpy(zero_copy_only=False)
    kind = type_of_target(np.asarray(y))
    return "numbers" if kind.startswith(("continuous", "unknown")) else "classes"


def is_arrow(X: Any) -> bool:
    return nw.dependencies.is_pyarrow_table(X)


def needs_encoder(X: Any) -> bool:
    """Whether X is a table that scikit-learn cannot take: text, dates or missing cells in it."""
    if is_foreign(X):
        return True
    if not intake.is_frame(X):
        return False
    columns = nw.from_native(X, eager_only=True).iter_columns()
    return not X.shape[1] or any(
        not (column.dtype.is_numeric() or column.dtype == nw.Boolean) or column.null_count() > 0
        for column in columns
    )


SECTION = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)


def documentation(own: str, theirs: str) -> str:
    """A docstring: its own text and examples, with the parameters and attributes of the peer's."""
    text, sections = parted(own)
    _, known = parted(theirs)
    known = {name: known.get(name, "") for name in ("Parameters", "Attributes")} | sections
    known["Attributes"] = known["Attributes"].rstrip() + "\n" + ATTRIBUTES
    body = "".join(f"{name}\n{'-' * len(name)}\n{known[name]}" for name in known)
    return text.rstrip() + "\n\n" + body


def parted(text: str) -> tuple[str, dict[str, str]]:
    """The introduction of a docstring and its sections by name."""
    parts = SECTION.split(inspect.cleandoc(text))
    return parts[0], dict(zip(parts[1::2], parts[2::2]))
