"""Representation first, labels after: a transformer of all rows, a classifier of the labeled ones.

Texts: 004 17.1.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from gnomon.contract import Data
from gnomon.engine.distinct import distinct_rows
from gnomon.engine.estimator import Estimator, forecast_of
from gnomon.engine.parameters import HasMethods
from gnomon.engine.registry import method
from gnomon.engine.stored import Object
from gnomon.ensemble.member import fit_on, takes_weights
from gnomon.linear import LogisticRegression
from gnomon.reduce import PCA
from gnomon.semi.graph import FewLabels


@method(
    task="classify",
    texts="004 17.1.3",
    use="Few labels, many unlabeled rows and columns whose main directions separate the classes.",
    avoid="Classes that differ along directions of little variance.",
    peers=("sklearn.pipeline.Pipeline",),
    synonyms=("unsupervised pretraining", "semi-supervised", "representation"),
)
class RepresentationClassifier(FewLabels):
    """A transformer fitted to all rows, then a classifier fitted to the labeled ones.

    Unlabeled rows shape the representation ``z = t(x)`` (components, a map, a scale), labeled rows
    the classifier of z. Use it where unlabeled rows show structure that few labels cannot. Not
    where the classes differ along directions that the transformer drops. A Pipeline would fit the
    transformer to the labeled rows alone. Unlabeled rows have a missing cell as target, or -1 where
    two other classes are left. Texts: 004 17.1.3.

    Parameters
    ----------
    transformer : estimator, default=None
        Fitted to all rows as numbers, without labels; None for PCA.
    estimator : estimator, default=None
        A classifier, of any library; None for a LogisticRegression.

    Attributes
    ----------
    transformer_ : estimator
        The fitted transformer.
    member_ : Member
        The fitted classifier, which knows classes as codes 0, 1, 2 ...
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.semi import RepresentationClassifier
    >>> rows = [[0.0, 0.0], [1.0, 1.2], [8.0, 7.9], [9.0, 9.1]]
    >>> RepresentationClassifier().fit(rows, [0, None, None, 1]).predict(rows).tolist()
    [0, 0, 1, 1]
    """

    _parameter_constraints = {
        "transformer": [HasMethods(["fit", "transform"]), None],
        "estimator": [HasMethods(["fit"]), None],
    }
    _keeps_rows = True  # where the transformer or the classifier does
    _stored = {"transformer_": Object(), "member_": Object(("Member",))}

    def __init__(self, transformer=None, estimator=None):
        self.transformer = transformer
        self.estimator = estimator

    def _parts(self) -> tuple[Any, Any]:
        transformer = PCA() if self.transformer is None else clone(self.transformer)
        learner = LogisticRegression() if self.estimator is None else clone(self.estimator)
        return transformer, learner

    def _fit(self, data: Data) -> None:
        transformer, learner = self._parts()
        found = distinct_rows(data.rows, data.weight_array, data.y)
        rows, weights = found.rows, found.weights
        if (weights != 1).any() and takes_weights(transformer):
            transformer.fit(rows, sample_weight=weights)
        else:
            transformer.fit(rows)
        self.transformer_ = transformer
        known = found.y >= 0
        weighted = (weights != 1).any() and takes_weights(learner)
        coded = np.asarray(transformer.transform(rows[known]))
        name = type(learner).__name__
        self.member_ = fit_on(
            learner, name, coded, found.y[known], weights[known] if weighted else None
        )

    def _proba(self, rows: Any) -> np.ndarray:
        return self.member_.proba(np.asarray(self.transformer_.transform(rows)), len(self.classes_))

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        transformer, learner = self._parts()
        both = forecast_of(transformer, n_rows, n_columns) + forecast_of(learner, n_rows, n_columns)
        return both + 8 * n_rows * (4 * n_columns + 16)

    def _check_loaded(self) -> None:
        if hasattr(self, "transformer_") and not isinstance(self.transformer_, Estimator):
            raise ValueError("transformer_ is no estimator")
