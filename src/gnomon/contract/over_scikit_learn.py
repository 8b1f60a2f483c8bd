"""OverScikitLearn: a class of scikit-learn as it is, under the contract of this library.

Where scikit-learn's own implementation is the best there is, a method here inherits from it and
from `OverScikitLearn`. The rows of a numeric array, a sparse matrix or a data frame of numbers go
to scikit-learn's code, so that parameters, results and attributes are its own. `OverScikitLearn`
adds what the contract promises beyond that: any table (encoded in ``fit`` by a stored
`TableEncoder`), results that do not depend on layout and type of an array, clear errors, weights
that are repetitions, a memory forecast, callbacks and model files.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import warnings
from collections.abc import Callable, Collection, Iterator
from typing import Any, ClassVar, NamedTuple

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from sklearn.callback import with_callbacks
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from gnomon.contract import intake
from gnomon.contract.docstrings import with_defaults, with_peer
from gnomon.contract.intake.arrays import (
    checked_weights,
    refusal_of_missing,
    refuse_huge,
    squares_are_small,
)
from gnomon.contract.intake.arrays import is_plain as has_only_numbers
from gnomon.contract.intake.targets import checked_target
from gnomon.contract.short_checks import methods_with_short_checks, with_short_methods
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Estimator, forecast_of, is_fitted, memory_of_copies
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
    "mahalanobis",
    "score",
)
NUMERIC = ("predict_proba", "decision_function", "transform", "score_samples", "mahalanobis")
PROBABILITIES = ("predict_proba", "predict_log_proba")
# scikit-learn's scores that are linear in the rows, and whether those of one target are flat.
FLAT_SCORES = {
    "LinearModel._decision_function": False,
    "BaseSGDRegressor._decision_function": True,
    "LinearClassifierMixin.decision_function": True,
    "LinearDiscriminantAnalysis.decision_function": True,
}
COPYING = ("copy", "copy_X")  # where one is False, scikit-learn's code writes to what it is given
ROUNDING = 1e-9  # of a sum of probabilities; the sums of usual models differ from one by 1e-15
# What a fit on a table sets beside scikit-learn's attributes.
OF_TABLE = (
    "encoder_",
    "feature_names_in_",
    "n_features_in_",
    "table_mean_",
    "table_scale_",
    "target_name_",
    "weight_name_",
)
ATTRIBUTES = """encoder_ : TableEncoder
    How a table became numbers; only when a table of other than numbers was given.
target_name_ : str
    The column that is the target, only where it was given by name.
weight_name_ : str
    The column that holds the weights, only where it was given by name.

"""


class OnPeer(Estimator):
    """What methods share that compute with a class of scikit-learn, which they are or hold."""

    def _forget(self) -> None:
        """Delete what an earlier fit set; ``warm_start`` goes on from there."""
        goes_on = getattr(self, "warm_start", False)
        for name in self._public():
            if not goes_on or name in (*OF_TABLE, "history_"):
                delattr(self, name)

    def _require_rows(self, X: Any) -> None:
        shape = getattr(X, "shape", None)
        if shape is not None and len(shape) == 2 and not isinstance(X, Scan):
            self._require_memory(shape[0], shape[1], getattr(X, "nnz", None))


class PeerRows(NamedTuple):
    """What a class of scikit-learn that a method holds is fitted to."""

    X: Any
    weights: np.ndarray | None = None
    is_float32: bool = False


class HoldsPeer(OnPeer):
    """Mixin of a method that holds an object of the class ``_peer`` of scikit-learn's.

    It stands before a `Learner` in the bases: what is not for the peer (`_is_for_peer`) is learnt
    from by the method's own ``_fit``. Parameters that the peer has are given on to it.
    """

    _peer: ClassVar[Any]

    @classmethod
    @functools.cache
    def _given_on(cls) -> tuple[str, ...]:
        """Parameters that are given on to the peer, which is not to write to what it is given."""
        theirs = set(cls._peer._get_param_names()).difference(COPYING)
        return tuple(name for name in cls._get_param_names() if name in theirs)

    def _unfitted(self) -> Any:
        made = with_short_methods(self._peer)
        peer = made(**{name: getattr(self, name) for name in self._given_on()})
        return peer.set_output(transform="default") if hasattr(peer, "set_output") else peer

    def _is_for_peer(self, X: Any, sample_weight: Any) -> bool:
        raise NotImplementedError

    def _peer_rows(self, X: Any, sample_weight: Any) -> PeerRows:
        raise NotImplementedError

    def _fit_peer(self, given: PeerRows) -> None:
        raise NotImplementedError

    def _take_in(self, X: Any, y: Any, sample_weight: Any) -> Any:
        self._forget()
        self._require_rows(X)
        if self._is_for_peer(X, sample_weight):
            return self._peer_rows(X, sample_weight)
        return super()._take_in(self._own_rows(X), y, sample_weight)

    def _own_rows(self, X: Any) -> Any:
        """What the method's own intake gets."""
        return X

    def _fit_given(self, given: Any) -> None:
        if isinstance(given, PeerRows):
            self._fit_peer(given)
        else:
            super()._fit_given(given)

    def _keep_public(self, peer: Any, but: Collection[str]) -> None:
        """Make the peer's fitted attributes the method's own, where it has none of the name."""
        for name, value in vars(peer).items():
            public = name.endswith("_") and not name.startswith("_") and name not in but
            if public and not hasattr(type(self), name):
                setattr(self, name, value)


class OverScikitLearn(OnPeer):
    """Mixin that stands before a class of scikit-learn in the bases of a method.

    Class attributes that a method may set: ``natively`` (what it takes as it is), ``_target``
    (None, "classes", "numbers", or "any" where the values of the target decide), ``_largest``
    (values beyond which its arithmetic overflows).
    """

    _target: ClassVar[str | None] = None
    _many_targets: ClassVar[bool] = False
    _largest: ClassVar[float] = 1e100
    _largest_target: ClassVar[float] = 1e100
    _stored = {
        "n_features_in_": Whole(1),
        "classes_": Optional(CLASSES),
    }
    # copies of the rows and tables of columns by columns that scikit-learn's code holds at its peak
    _copies: ClassVar[float] = 3.0
    _squares: ClassVar[float] = 0.0
    _keeps_cells: ClassVar[bool] = False  # whether cells are handed on, as columns are selected
    _is_watched: ClassVar[bool] = False  # whether names that a fit calls are replaced meanwhile
    _own_parameters: ClassVar[str] = ""  # texts of parameters that the peer does not have
    _own_attributes: ClassVar[str] = ATTRIBUTES

    def __init_subclass__(cls, **kwargs: Any) -> None:
        peer = peer_before(cls)
        if peer is not None:
            cls._stand_before(peer)
        super().__init_subclass__(**kwargs)

    @classmethod
    def _stand_before(cls, theirs: Any) -> None:
        """Wrap the methods of scikit-learn's class, take over its parameters and their texts."""
        short = {
            name: method
            for name, method in methods_with_short_checks(theirs)
            if not (cls._is_watched and "fit" in name)
        }
        for name in (*FITTING, *ANSWERING):
            if name not in vars(cls) and hasattr(theirs, name):
                original = inspect.getattr_static(theirs, name)
                setattr(cls, name, wrapped(name, linear_scores(short.get(name, original))))
        for name in short.keys() - {*FITTING, *ANSWERING}:
            if inspect.getattr_static(cls, name) is inspect.getattr_static(theirs, name):
                setattr(cls, name, short[name])
        if hasattr(theirs, "_decision_function") and "_decision_function" not in vars(cls):
            cls._decision_function = linear_scores(theirs._decision_function)
        if hasattr(theirs, "get_feature_names_out"):
            cls.get_feature_names_out = names_out
        if issubclass(theirs, SelectorMixin):
            cls._keeps_cells = True
        own = vars(cls).get("_parameter_constraints", {})
        cls._parameter_constraints = theirs._parameter_constraints | own
        text = with_peer(cls.__doc__ or "", theirs, cls._own_parameters, cls._own_attributes)
        cls.__doc__ = with_defaults(text, theirs)

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

    def _plain(self) -> Any:
        """This estimator as scikit-learn would have fitted it on the encoded rows."""
        plain = object.__new__(type(self))
        plain.__dict__.update(vars(self))
        for name in OF_TABLE:
            plain.__dict__.pop(name, None)
        plain._sklearn_output_config = {"transform": "default"}
        encoder = vars(self).get("encoder_")
        plain.n_features_in_ = self.n_features_in_ if encoder is None else len(encoder.columns)
        return plain

    @with_callbacks
    def _learn(self, fit: functools.partial[Any], X: Any, given: dict[str, Any]) -> Any:
        """scikit-learn's `fit` of rows that it takes, between the callbacks' begin and end."""
        self._validate_params()
        more = fit.func.__name__ == "partial_fit"
        if not more:
            self._forget()
        told = intake.given_to_callbacks(self, X, given.get("y"), given.get("sample_weight"))
        self._require_rows(X)
        rows, changed, of_table = self._taken(X, given, more)
        context = self._init_callback_context(max_subtasks=self._most_steps())
        context.call_on_fit_task_begin(estimator=self, **told)
        with self._inside_fit(told, of_table):
            result = self._fit_peer(fit, rows, changed)
        self._pack()
        self.__dict__.update(of_table)
        context.call_on_fit_task_end(estimator=self, reconstruction_attributes=self._public, **told)
        return result

    def _pack(self) -> None:
        """Copy fitted arrays that are views of larger ones, which a model file does not hold."""
        for name, value in self._public().items():
            if isinstance(value, np.ndarray) and not value.flags.forc:
                setattr(self, name, value.copy(order="K"))

    def _fit_peer(self, fit: Callable[..., Any], rows: Any, given: dict[str, Any]) -> Any:
        """scikit-learn's own fit; a method that needs more around it extends this."""
        if not all(getattr(self, name, True) for name in COPYING):
            rows = copied(rows)
            given = {**given, "y": copied(given["y"])} if "y" in given else given
        return fit(rows, **given)

    @contextlib.contextmanager
    def _inside_fit(self, told: dict[str, Any], of_table: dict[str, Any]) -> Iterator[None]:
        """scikit-learn's own fit would end the callbacks, and may call other wrapped methods."""
        names = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")
        hidden = {name: self.__dict__.pop(name) for name in names}
        output = vars(self).get("_sklearn_output_config")
        self._sklearn_output_config = {"transform": "default"}
        self._given, self._during = told, (hidden["_callback_fit_ctx"], of_table)
        try:
            with quietly():
                yield
        except (TypeError, IndexError, NotImplementedError, ValueError) as error:
            clear = clear_error(self, error)
            if clear is None:
                raise
            raise clear from error
        finally:
            del self._given, self._during, self._sklearn_output_config
            self.__dict__.update(hidden)
            if output is not None:
                self._sklearn_output_config = output

    @contextlib.contextmanager
    def _outside_fit(self, **changed: Any) -> Iterator[dict[str, Any]]:
        """As callbacks may see the estimator in mid-fit; gives the attributes of the table."""
        hidden = {name: getattr(self, name) for name in ("_given", "_during", *changed)}
        self.__dict__.update(changed)
        del self._given, self._during
        try:
            yield hidden["_during"][1]
        finally:
            self.__dict__.update(hidden)

    def _taken(
        self, X: Any, given: dict[str, Any], more: bool
    ) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """Rows and arguments for scikit-learn's fit, and the attributes that a table adds.

        ``more`` says that rows are added to those learnt from before (``partial_fit``).
        """
        if more and is_fitted(self):
            if "encoder_" in vars(self):
                return self._more(X, given)
        elif needs_encoder(X):
            return self._encode(X, given)
        y = given.get("y")
        self._check_target(X, y)
        rows, of_table = self._unnamed(X, more)
        weights = checked_weights(given.get("sample_weight"), rows)
        if weights is None:
            return rows, given, of_table
        kept = np.flatnonzero(weights)
        if not len(kept):
            raise DataError(
                "the weight of every row is zero: there is nothing to learn from. Give weights of "
                "which some are positive"
            )
        if y is not None and self._target == "classes" and loses_a_class(y, kept):
            return rows, {**given, "sample_weight": weights}, of_table
        ones = (weights[kept] == 1).all()
        changed = {"sample_weight": None if ones else weights[kept]}
        if len(kept) < len(weights):
            rows = _safe_indexing(rows, kept)
            changed |= {} if y is None else {"y": _safe_indexing(y, kept)}
        return rows, {**given, **changed}, of_table

    def _check_target(self, X: Any, y: Any) -> None:
        """Refuse a target that is lacking, or that holds no numbers or too large ones."""
        if self._target in (None, "any"):
            return
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        is_complex = getattr(getattr(X, "dtype", None), "kind", "") == "c"  # refused by itself
        if self._target == "numbers" and not is_complex:
            checked_target(self, y, X)

    def _unnamed(self, X: Any, more: bool) -> tuple[Any, dict[str, Any]]:
        """Rows in one layout and type, and the names of the columns of a data frame."""
        if self._keeps_cells or not intake.is_frame(X):
            return self._checked(X), {}
        first = not (more and is_fitted(self))
        _check_feature_names(self, X, reset=first)
        named = self.__dict__.pop("feature_names_in_", None)
        return self._checked(numbers_of(X)), {} if named is None else {"feature_names_in_": named}

    def _checked(self, X: Any) -> Any:
        """An array of C order and floats, without values beyond what the arithmetic bears.

        A selector hands cells on as they are, so that numbers keep their type.
        """
        if sp.issparse(X) or intake.is_frame(X):
            return X
        rows = np.asarray(X)
        if is_checked(self, rows):
            return rows
        if rows.ndim != 2 or rows.size == 0 or rows.dtype.kind not in "fiubO":
            return X
        if not self._keeps_cells or rows.dtype.kind == "b":
            rows = as_c_floats(rows)
        if rows.dtype.kind == "f":
            if np.isinf(rows).any():
                raise DataError(
                    f"{type(self).__name__}: the data contain infinity; Input X contains infinity. "
                    "Replace such values or mark them as missing"
                )
            refuse_huge(self, rows)
        return rows

    def _encode(self, X: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """Rows of a table, the arguments of ``fit`` for them, and what is kept of the table."""
        y, weights = given.get("y"), given.get("sample_weight")
        kind = self._target
        if kind == "any":
            kind = self._found_target = kind_of(X, y)
        try:
            data = intake.take_in(self, X, y if kind else None, weights)
        finally:
            self.__dict__.pop("_found_target", None)
        changed: dict[str, Any] = {}
        if kind == "classes":
            changed["y"] = self.__dict__.pop("classes_")[data.y]
        elif kind is not None:
            changed["y"] = data.y
        if weights is not None:
            changed["sample_weight"] = data.weight_array
        of_table = {name: self.__dict__.pop(name) for name in OF_TABLE if name in vars(self)}
        return data.rows, {**given, **changed}, of_table

    def _more(self, X: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """A further batch of a table, by the codes that were fitted."""
        rows = self._of_table(next(intake.blocks_of(self, X)))
        of_table = {name: self.__dict__.pop(name) for name in OF_TABLE if name in vars(self)}
        self.n_features_in_ = rows.shape[1]
        return rows, given, of_table

    def _rows_at_once(self) -> int | None:
        """Rows of a prediction to compute at once; None for all."""

    def _of_table(self, rows: Any) -> Any:
        """Encoded rows of a table as scikit-learn's class takes them."""
        return rows

    def _as_frame(self, X: Any) -> Any:
        """A table in a form that scikit-learn knows, without the columns that had other roles."""
        if not is_foreign(X) and not has_roles(self, X):
            return X
        check_is_fitted(self)
        table = X.read() if isinstance(X, Scan) else intake.as_table(X)
        return intake.without_roles(self, table).to_pandas()

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        copies = memory_of_copies(self._copies, n_rows, n_columns)
        own = int(copies + 8 * self._squares * n_columns**2)
        inner = getattr(self, "estimator", None)
        return own if inner is None else own + forecast_of(inner, n_rows, n_columns)


def is_peer(base: type) -> bool:
    return base.__module__.startswith("sklearn.") and hasattr(base, "fit")


def peer_before(cls: type) -> Any:
    """The class of scikit-learn's that a new class stands before.

    None for a subclass of a class that stands before it already, such as a user's: it inherits.
    """
    bases = cls.__mro__[1:]
    peers = [base for base in bases if is_peer(base)]
    stands = [base for base in bases if issubclass(base, OverScikitLearn)]
    return (
        None if any(issubclass(base, tuple(peers)) for base in stands) else next(iter(peers), None)
    )


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


def copied(values: Any) -> Any:
    return values.copy() if hasattr(values, "copy") else values


def loses_a_class(y: Any, kept: np.ndarray) -> bool:
    """Whether a class has no row among those kept; it must stay among the classes."""
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
    signature = inspect.signature(original)
    _, first, *_ = signature.parameters

    def answer(self: Any, *args: Any, **kwargs: Any) -> Any:
        if "_given" in vars(self):
            return original(self, *args, **kwargs)
        if "encoder_" not in vars(self) and args and is_plain(self, args[0]):
            return sound(self, name, original, self._checked(args[0]), *args[1:], **kwargs)
        given = dict(signature.bind(self, *args, **kwargs).arguments)
        given.pop("self")
        X = given.pop(first)
        if name == "score":
            X, y, weights = intake.take_truth(self, X, given.get("y"), given.get("sample_weight"))
            given["y"] = y
            if weights is not None:
                given["sample_weight"] = weights
        if "encoder_" in vars(self):
            blocks = list(intake.blocks_of(self, X))
            rows = self._of_table(blocks[0] if len(blocks) == 1 else np.concatenate(blocks))
            return getattr(self._plain(), name)(rows, **given)
        X = self._as_frame(X)
        if is_plain(self, X):
            return sound(self, name, original, X, **given)
        _check_feature_names(self, X, reset=False)
        return getattr(self._plain(), name)(self._checked(numbers_of(X)), **given)

    return answer


def is_checked(estimator: Any, X: Any) -> bool:
    """Whether an array is of finite floats in C order, of as many columns as in ``fit``."""
    if not (type(X) is np.ndarray and X.flags.c_contiguous):
        return False
    return has_only_numbers(estimator, X, False) and squares_are_small(X, estimator._largest)


def linear_scores(original: Any) -> Any:
    """The method; one that is linear in the rows does not check rows that need no check.

    scikit-learn's check of an array takes ten times as long as the scores of one row.
    """
    flat = FLAT_SCORES.get(getattr(original, "__qualname__", ""))
    if flat is None:
        return original

    @functools.wraps(original)
    def scores(self: Any, X: Any) -> Any:
        coef = vars(self).get("coef_")
        if type(coef) is not np.ndarray or not is_checked(self, X):
            return original(self, X)
        found = X @ coef.T + self.intercept_
        return found.ravel() if flat and found.ndim == 2 and found.shape[1] == 1 else found

    return scores


def is_plain(estimator: Any, X: Any) -> bool:
    """Whether scikit-learn's method takes X itself: an array, or a frame to select columns of."""
    if is_foreign(X) or has_roles(estimator, X):
        return False
    return estimator._keeps_cells or not intake.is_frame(X)


def has_roles(estimator: Any, X: Any) -> bool:
    """Whether X is a frame that holds the column that was the target or the weights in ``fit``."""
    names = [vars(estimator).get(role) for role in ("target_name_", "weight_name_")]
    return any(names) and intake.is_frame(X) and not set(names).isdisjoint(X.columns)


def sound(
    estimator: Any, name: str, original: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """What the method answers; NaN, the result of an overflow or of 0 / 0, is refused.

    Probabilities that rounding of large logarithms made not add up to one are divided by their sum.
    """
    with quietly():
        answer = in_blocks(estimator, original, *args, **kwargs)
    if not (isinstance(answer, np.ndarray) and answer.dtype.kind == "f"):
        return answer
    hands_on = name == "transform" and estimator.natively.missing  # NaN stands for missing cells
    if name in NUMERIC and np.isnan(answer).any() and not (hands_on or holds_nan(args[0])):
        raise DataError(
            f"{type(estimator).__name__}.{name} is not a number for row "
            f"{int(np.argwhere(np.isnan(answer))[0][0])}: its values, or those that were learnt "
            "from, are constant, too large or too small. Rescale the columns or leave them out"
        )
    if name in PROBABILITIES and answer.ndim == 2:
        return adding_up(answer, logarithms=name == "predict_log_proba")
    return answer


def in_blocks(estimator: Any, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The method's answer, computed for some rows at once where it needs much memory for each."""
    most = estimator._rows_at_once()
    rows = args[0]
    if most is None or kwargs or len(args) > 1 or np.shape(rows)[0] <= most:
        return original(estimator, *args, **kwargs)
    starts = range(0, np.shape(rows)[0], most)
    return np.concatenate([original(estimator, rows[i : i + most]) for i in starts])


def adding_up(proba: np.ndarray, logarithms: bool) -> np.ndarray:
    """Probabilities whose sum is one in each row; rows of which it is are left as they are."""
    totals = (np.exp(proba) if logarithms else proba).sum(axis=1, keepdims=True)
    if (np.abs(totals - 1) <= ROUNDING).all():
        return proba
    if logarithms:
        shifted = proba - proba.max(axis=1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return proba / totals


class quietly:  # a verb to its users; a generator would take half as long again
    """Without NumPy's warnings of overflows, of 0 / 0 and of empty slices: results are checked."""

    def __enter__(self) -> None:
        self._warnings, self._errors = warnings.catch_warnings(), np.errstate(all="ignore")
        self._warnings.__enter__()
        self._errors.__enter__()
        warnings.simplefilter("ignore", RuntimeWarning)

    def __exit__(self, *error: Any) -> None:
        self._errors.__exit__(*error)
        self._warnings.__exit__(*error)


def clear_error(estimator: Any, error: Exception) -> DataError | None:
    """What an error inside scikit-learn's code means for the data; None where it is unknown."""
    if isinstance(error, TypeError):
        if "not supported between instances" not in str(error):
            return None
        return DataError(
            f"the target holds values of several types or missing values ({error}); give values "
            "of one type, none missing"
        )
    is_algebra = isinstance(error, np.linalg.LinAlgError) or "NaN" in str(error)
    if isinstance(error, ValueError) and (isinstance(error, DataError) or not is_algebra):
        return None
    if isinstance(error, NotImplementedError):
        return DataError(f"{error} Choose another solver, or leave the option out")
    if isinstance(error, ValueError) and (refused := refusal_of_missing(estimator, error)):
        return refused
    return DataError(
        f"{type(estimator).__name__} cannot be computed of these rows: columns are constant or "
        f"depend on each other ({error}). Leave such columns out, or give more rows"
    )


def as_c_floats(rows: np.ndarray) -> np.ndarray:
    """Floats in C order: results of BLAS depend in their last bits on the layout."""
    is_float = rows.dtype in (np.float64, np.float32)
    return np.ascontiguousarray(rows, dtype=None if is_float else np.float64)


def numbers_of(frame: Any) -> np.ndarray:
    """The cells of a data frame of numbers and booleans."""
    rows = nw.from_native(frame, eager_only=True).to_numpy()
    try:
        return rows if rows.dtype.kind == "f" else rows.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"the table holds cells that are not numbers ({error}), and the estimator was fitted "
            "to numbers only: give columns as in the training table"
        ) from None


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
    return not isinstance(X, np.ndarray) and nw.dependencies.is_pyarrow_table(X)


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
