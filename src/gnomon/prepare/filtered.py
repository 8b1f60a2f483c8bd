"""FilteredLearner: filters wrapped round any learner, on features and on labels.

In training, features and labels go through their filters before they reach the learner. At
prediction the features do, the learner predicts in its own representation, and the prediction
goes back through the labels' filters, so that the caller sees the original types and units.
Texts: 003 2.1.9.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.callback import with_callbacks
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    has_fit_parameter,
    validate_data,
)

from gnomon.contract import intake
from gnomon.contract.learner import Learner
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Estimator, Takes, forecast_of, memory_of_copies
from gnomon.engine.parameters import HasMethods, StrOptions, validated
from gnomon.engine.registry import method
from gnomon.engine.stored import CLASSES, Anything, ListOf, Object, Optional
from gnomon.prepare.base import Filter
from gnomon.prepare.categories import OneHot, OrdinalScores
from gnomon.table.encode import TableEncoder
from gnomon.table.grid import is_table
from gnomon.table.scan import Scan
from gnomon.table.table import Table

FILTERS = ["array-like", HasMethods(["fit", "transform"]), None]


def _has(name: str):
    def check(self) -> bool:
        return not self._labels() and hasattr(self.estimator, name)

    return available_if(check)


@method(
    task="regress",
    texts="003 2.1.9",
    use="Filters before the features of any learner, or around its target.",
    avoid="Learners of gnomon without a filter of the target: they take any table.",
    peers=("sklearn.compose.TransformedTargetRegressor", "sklearn.pipeline.Pipeline"),
    synonyms=("target transform", "wrapper"),
)
class FilteredLearner(MetaEstimatorMixin, Estimator):
    """Any learner with filters before its features and round its labels; it then takes any table.

    ``features="auto"`` chooses by what the learner declares: a learner of gnomon takes tables
    itself; for one of scikit-learn, categories, dates and text become numbers, and holes are
    filled unless it takes NaN. Chosen filters run first, in their order, and whatever they leave
    is converted in the same way.

    Filters of the target make new kinds of learners: a classifier with ``target=Discretize()``
    predicts numbers (the bucket's centre), a regressor with ``target=OneHot()`` predicts classes
    (the mode), a network with ``target=MinMaxScaler((-1, 1))`` sees labels in its range,
    ``target=RoundToInteger()`` gives whole numbers.

    Use it to give any table to any learner, or to filter a target. Not needed for learners of
    gnomon without a filter of the target: they take any table. Texts: 003 2.1.9 and 2.1.9.5;
    choosing filters by declared capabilities is Waffles' "auto filter".

    Parameters
    ----------
    estimator : estimator
        The learner; a clone of it is fitted.
    features : "auto", filter, list of filters or None, default="auto"
        Filters of the features, before the automatic ones. None gives the rows to the learner as
        they are.
    target : filter, list of filters or None, default=None
        Reversible filters of the target.

    Attributes
    ----------
    estimator_ : estimator
        The fitted learner.
    feature_filters_ : list of Filter
        The fitted filters of the features.
    target_filters_ : list of Filter
        The fitted filters of the target.
    encoder_ : TableEncoder or None
        The automatic conversion of what the filters leave of a table.
    classes_ : ndarray
        The classes, where it predicts classes.
    target_name_, weight_name_ : str
        The columns that are the target and the weights, where they were given by name.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LinearRegression
    >>> from gnomon.prepare import FilteredLearner
    >>> from gnomon.prepare import OneHot
    >>> colors = ["red", "blue", "red", "blue"]
    >>> rows = pd.DataFrame({"color": colors, "size": [1.0, 2.0, 3.0, None]})
    >>> model = FilteredLearner(LinearRegression(), target=OneHot()).fit(rows, ["a", "b", "a", "b"])
    >>> model.predict(rows).tolist()
    ['a', 'b', 'a', 'b']
    """

    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"])],
        "features": [StrOptions({"auto"}), *FILTERS],
        "target": FILTERS,
    }
    _stored = {
        "classes_": Optional(CLASSES),
        "estimator_": Object(),
        "feature_filters_": ListOf(Anything()),
        "target_filters_": ListOf(Anything()),
    }

    def __init__(self, estimator, *, features="auto", target=None):
        self.estimator = estimator
        self.features = features
        self.target = target

    @validated
    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the filters, then the learner on what they give.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)
        y : array-like or str
            The target, or the name of its column in a table.
        sample_weight : array-like or str, default=None
            Weights of the rows, for the filters and the learner, or the name of their column.

        Returns
        -------
        self : object
        """
        given = intake.given_to_callbacks(self, X, y, sample_weight)
        context = self._init_callback_context(max_subtasks=0)
        context.call_on_fit_task_begin(estimator=self, **given)
        self._learn(X, y, sample_weight)
        context.call_on_fit_task_end(
            estimator=self, reconstruction_attributes=self._public, **given
        )
        return self

    def _learn(self, X, y, sample_weight) -> None:
        X, y, sample_weight = self._split_off(X, y, sample_weight)
        X, y = self._checked(X, y)
        self._require_memory(len(y), self.n_features_in_)
        weights = {}
        if sample_weight is not None:
            weights["sample_weight"] = _check_sample_weight(sample_weight, np.empty((len(y), 1)))
        self.feature_filters_ = [clone(each) for each in _as_list(self.features)]
        for each in self.feature_filters_:
            X = each.fit(X, **weights).transform(X)
        rows = self._encoded(X, weights.get("sample_weight"), fit=True)
        labels = self._forward_labels(y, weights)
        self.estimator_ = clone(self.estimator)
        if weights and not has_fit_parameter(self.estimator_, "sample_weight"):
            raise DataError(f"{type(self.estimator).__name__} takes no sample_weight")
        self.estimator_.fit(rows, labels, **weights)
        if is_classifier(self):
            self.classes_ = np.unique(y) if self.target_filters_ else self.estimator_.classes_

    def predict(self, X) -> np.ndarray:
        """Predictions in the original types and units of the target.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        rows = self._rows(X)
        labels = np.asarray(self.estimator_.predict(rows))
        if not self.target_filters_:
            return labels
        labels = labels.reshape(len(labels), -1)
        for each in reversed(self.target_filters_):
            labels = each.inverse_transform(labels)
        return np.asarray(labels[:, 0].tolist()) if labels.dtype.kind == "O" else labels[:, 0]

    @_has("predict_proba")
    def predict_proba(self, X) -> np.ndarray:
        """Probability of each class, where the learner has it and its labels are not filtered.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        rows = self._rows(X)
        return self.estimator_.predict_proba(rows)

    @_has("decision_function")
    def decision_function(self, X) -> np.ndarray:
        """The learner's decision function, where it has one and its labels are not filtered.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)

        Returns
        -------
        decision : ndarray
        """
        rows = self._rows(X)
        return self.estimator_.decision_function(rows)

    def score(self, X, y, sample_weight=None) -> float:
        """Accuracy of classes, or share of the variance explained.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)
        y : array-like or str
            The true target, or the name of its column in a table.
        sample_weight : array-like or str, default=None

        Returns
        -------
        score : float
        """
        X, y, sample_weight = intake.take_truth(self, X, y, sample_weight)
        measure = accuracy_score if is_classifier(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        copies = 1 + len(_as_list(self.features))
        inner = forecast_of(self.estimator, n_rows, n_columns)
        return inner + memory_of_copies(copies, n_rows, n_columns)

    def _labels(self) -> list:
        return _as_list(self.target)

    @property
    def _target(self) -> str:
        return "classes" if is_classifier(self) else "numbers"

    def _split_off(self, X, y, sample_weight):
        for role in ("target_name_", "weight_name_"):
            vars(self).pop(role, None)
        _refuse_scan(X)
        if not any(isinstance(given, str) for given in (y, sample_weight)):
            return X, y, sample_weight
        if not is_table(X):
            raise DataError("the name of a column is given and X is no table; give the values")
        return intake.split_off(self, intake.as_table(X), y, sample_weight)

    def _checked(self, X, y):
        if y is None:
            raise ValueError("FilteredLearner requires y to be passed, but the target y is None")
        if is_table(X):
            self._check_table(X, reset=True)
            if self.n_features_in_ == 0:
                raise DataError("the table has no columns (0 feature(s)); at least one is needed")
            y = intake.plain_target(y, getattr(self, "target_name_", "y"))
            y = column_or_1d(y, warn=True)
            n = len(Table.from_frame(X)) if not hasattr(X, "shape") else X.shape[0]
            if len(y) != n:
                raise DataError(f"X has {n:,} rows and y {len(y):,}")
        else:
            X, y = validate_data(self, X, y, dtype=self._dtype(), ensure_all_finite=self._finite())
        if is_classifier(self):
            check_classification_targets(y)
        return X, y

    def _finite(self) -> bool | str:
        takes_holes = _as_list(self.features) or self._learner_takes().missing
        return "allow-nan" if takes_holes else True

    def _dtype(self) -> str | None:
        return None if _as_list(self.features) else "numeric"

    def _check_table(self, X, reset: bool) -> None:
        named = X.arrow if isinstance(X, Table) else X
        if reset:
            self.__dict__.pop("feature_names_in_", None)
        _check_feature_names(self, named, reset=reset)
        _check_n_features(self, named, reset=reset)

    def _learner_takes(self) -> Takes:
        tags = get_tags(self.estimator).input_tags
        return Takes(missing=tags.allow_nan)

    def _encoded(self, X, weights, fit: bool):
        """What the filters leave, as the learner takes it."""
        own = isinstance(self.estimator, Learner) or self.features is None
        if fit:
            self.encoder_ = None
        if own or not is_table(X):
            return X
        table = intake.as_table(X)
        if fit:
            self.encoder_ = TableEncoder(self._learner_takes()).fit(table, weights)
            return self.encoder_.transform(table)
        assert self.encoder_ is not None
        return self.encoder_.transform(self.encoder_.as_learnt(table))

    def _rows(self, X):
        check_is_fitted(self)
        _refuse_scan(X)
        if is_table(X):
            if hasattr(self, "target_name_") or hasattr(self, "weight_name_"):
                X = intake.without_roles(self, intake.as_table(X))
            self._check_table(X, reset=False)
        else:
            X = validate_data(
                self, X, reset=False, dtype=self._dtype(), ensure_all_finite=self._finite()
            )
        for each in self.feature_filters_:
            X = each.transform(X)
        return self._encoded(X, None, fit=False)

    def _forward_labels(self, y: np.ndarray, weights: dict) -> np.ndarray:
        self.target_filters_ = [clone(each) for each in self._labels()]
        if not self.target_filters_:
            return y
        column: Any = np.asarray(y).reshape(-1, 1)
        if column.dtype.kind == "U":
            column = column.astype(object)
        for each in self.target_filters_:
            if isinstance(each, Filter) and each._why_not:
                raise DataError(
                    f"{type(each).__name__} cannot be undone ({each._why_not}), so predictions "
                    "could not be turned back; apply it to y before fit"
                )
            column = each.fit(column, **weights).transform(column)
        return column[:, 0] if column.shape[1] == 1 else column

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags.required = True
        filled = any(getattr(each, "_fills", False) for each in _as_list(self.features))
        tags.input_tags.allow_nan = inner.input_tags.allow_nan or filled
        filters = self._labels()
        if filters:
            of_classes = any(isinstance(each, (OneHot, OrdinalScores)) for each in filters)
            tags.estimator_type = "classifier" if of_classes else "regressor"
            tags.classifier_tags = ClassifierTags() if of_classes else None
            tags.regressor_tags = None if of_classes else RegressorTags()
        return tags


def _refuse_scan(X) -> None:
    if isinstance(X, Scan):
        raise DataError(
            "filters work on tables in memory, and this is a scan; read it first: scan.read()"
        )


def _as_list(filters) -> list:
    if filters is None or isinstance(filters, str):
        return []
    return list(filters) if isinstance(filters, (list, tuple)) else [filters]
