"""Search of parameters by cross-validation, under scikit-learn's names.

GridSearchCV tries all combinations, RandomizedSearchCV random ones, the halving searches many with
few rows and the best of them with more. They are scikit-learn's own classes, which take any table:
a table goes as it is to an estimator of this library, which encodes it inside each fold, so that
nothing leaks from the rows that judge; other estimators get encoded numbers. The score of the best
parameters is optimistic: `gnomon.select.tune` and `gnomon.evaluate.nested_cross_validation` give
the honest one.

Texts: 002 "Model selection" · 004 3.2.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import model_selection
from sklearn.base import is_classifier, is_regressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.utils import column_or_1d, get_tags

from gnomon.contract import intake
from gnomon.contract.over_scikit_learn import OverScikitLearn, is_foreign, needs_encoder
from gnomon.engine.errors import DataError, GnomonWarning, ModelFileError
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, DictOf, Flag, Number, Object, Optional, Whole
from gnomon.engine.threads import joblib_elsewhere
from gnomon.evaluate.measures import require_no_target

TEXTS = "002 Model selection · 004 3.2"


class OverSearch(OverScikitLearn):
    """A search over the parameters of an estimator."""

    _copies = 0.7
    _transient = ("scorer_", "_checked_cv_orig")
    _keeps_cells = True  # the estimator inside takes frames
    _many_targets = True  # where the estimator inside takes them
    _stored = {
        "n_features_in_": Optional(Whole(1)),
        "pre_dispatch": Optional(Anything()),
        "best_estimator_": Optional(Object()),
        "best_params_": Optional(DictOf(Anything())),
        "best_score_": Optional(Number(finite=False)),
        "best_index_": Optional(Whole()),
        "cv_results_": DictOf(Anything()),
        "multimetric_": Flag(),
        "n_splits_": Whole(),
        "refit_time_": Optional(Number()),
        "scorer_": Optional(Anything()),
    }

    @property
    def natively(self):  # type: ignore[override]
        """Sparse rows where the estimator inside takes them."""
        return Takes(sparse=get_tags(self.estimator).input_tags.sparse)

    def _check_loaded(self) -> None:
        """Scorers are functions, which model files do not hold: they follow from ``scoring``."""
        if self.refit and "cv_results_" in vars(self) and "best_estimator_" not in vars(self):
            raise ModelFileError("the search has refit an estimator, which the file lacks")
        if hasattr(self, "cv_results_"):
            self.scorer_ = self._get_scorers()[0]

    @property
    def _target(self):
        if is_classifier(self.estimator):
            return "classes"
        return "numbers" if is_regressor(self.estimator) else None

    def _learn(self, fit: Callable[..., Any], X: Any, given: dict[str, Any]) -> Any:
        """scikit-learn's `fit`, which tells callbacks of the search and of each fit by itself."""
        self._validate_params()
        self._require_rows(X)
        if getattr(X, "shape", (0,))[0] == 1:
            raise DataError(
                f"{type(self).__name__} got n_samples=1: rows must be left out to judge parameters "
                "by. Give more rows"
            )
        if given.get("y") is None:
            scorers = self._get_scorers()[0]
            name = self.scoring if isinstance(self.scoring, str) else str(scorers)
            require_no_target(getattr(scorers, "_scorers", {name: scorers}))
        self._forget()
        rows, changed, self._of_the_table = self._taken(X, given, more=False)
        self._given = {}
        try:
            with joblib_elsewhere():
                return fit(rows, **changed)
        finally:
            self.__dict__.update(self._of_the_table)
            del self._given, self._of_the_table

    def _init_callback_context(self, **kwargs: Any) -> Any:
        """scikit-learn's, at whose end callbacks get the estimator that is fitted."""
        context = super()._init_callback_context(**kwargs)
        end = context.call_on_fit_task_end
        of_table = self._of_the_table
        context.call_on_fit_task_end = functools.partial(
            end, reconstruction_attributes=lambda: self._public() | of_table
        )
        return context

    def _check_target(self, X: Any, y: Any) -> None:
        if np.asarray(y).shape[1:] == (1,):
            column_or_1d(y, warn=True)
        super()._check_target(X, y)

    def _taken(
        self, X: Any, given: dict[str, Any], more: bool
    ) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """A table as it is: an estimator of this library encodes it, a pipeline says how."""
        if not needs_encoder(X):
            if self.cv is None or isinstance(self.cv, Integral) or hasattr(self.cv, "split"):
                return super()._taken(X, given, more)
            self._check_target(X, given.get("y"))  # folds are positions of rows: all rows stay
            rows, of_table = self._unnamed(X, more)
            return rows, given, of_table
        table = intake.as_table(X)
        y = given.get("y")
        if isinstance(y, str):
            values = np.array(table.column(y).to_pylist())
            given, table = {**given, "y": values}, table.drop([y])
            return table.to_pandas(), given, {"target_name_": y}
        return (table.to_pandas() if is_foreign(X) else X), given, {}


class OverHalving(OverSearch):
    """A search that goes on with the best candidates and more rows."""

    _stored = {
        "min_resources_": Optional(Anything()),
        "max_resources_": Optional(Anything()),
        "n_resources_": Optional(Anything()),
        "n_candidates_": Optional(Anything()),
        "n_remaining_candidates_": Optional(Anything()),
        "n_possible_iterations_": Optional(Anything()),
        "n_required_iterations_": Optional(Anything()),
        "n_iterations_": Optional(Anything()),
        "_checked_cv_orig": Optional(Anything()),
        "_n_samples_orig": Optional(Anything()),
        "_run_search": Optional(Anything()),
    }

    def _learn(self, fit: Callable[..., Any], X: Any, given: dict[str, Any]) -> Any:
        """scikit-learn's `fit`; rounds in which no candidate has a score are named."""
        found = super()._learn(fit, X, given)
        rounds = np.asarray(self.cv_results_["iter"])
        scores = np.asarray(self.cv_results_["mean_test_score"])
        blind = [k for k in np.unique(rounds) if np.isnan(scores[rounds == k]).all()]
        if blind:
            sizes = ", ".join(str(self.n_resources_[k]) for k in blind)
            warnings.warn(
                f"{type(self).__name__}: all scores are NaN in rounds with {self.resource}="
                f"{sizes}, so the candidates kept there are arbitrary. Increase min_resources "
                f"(now {self.min_resources_}), use fewer folds, or a measure that is defined for "
                "few rows",
                GnomonWarning,
                stacklevel=4,
            )
        return found


@method(
    task="classify",
    texts=TEXTS,
    use="Few parameters with few values each.",
    avoid="Many parameters: v values of d parameters are v^d fits.",
    peers=("sklearn.model_selection.GridSearchCV",),
    on="scikit-learn",
    synonyms=("tuning", "hyperparameter search", "model selection"),
)
class GridSearchCV(OverSearch, model_selection.GridSearchCV):
    """Try all combinations of parameters by cross-validation and fit the best on all rows.

    Use it for few parameters; not for many, where random search finds better ones in the same
    time. ``best_score_`` was used for the choice and is optimistic: see `gnomon.select.tune`.

    Examples
    --------
    >>> from gnomon.linear import Ridge
    >>> from gnomon.select import GridSearchCV
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 1, 2, 3, 4, 5.5]
    >>> GridSearchCV(Ridge(), {"alpha": [0.1, 100]}, cv=3).fit(X, y).best_params_
    {'alpha': 0.1}
    """


@method(
    task="classify",
    texts=TEXTS,
    use="Several parameters of which some matter more than others.",
    avoid="One parameter of few values, which a grid covers.",
    peers=("sklearn.model_selection.RandomizedSearchCV",),
    on="scikit-learn",
    synonyms=("tuning", "hyperparameter search", "random search"),
)
class RandomizedSearchCV(OverSearch, model_selection.RandomizedSearchCV):
    """Try random combinations of parameters by cross-validation and fit the best on all rows.

    Use it for several parameters; not for one of few values, which a grid covers.
    ``best_score_`` was used for the choice and is optimistic: see `gnomon.select.tune`.

    Examples
    --------
    >>> from gnomon.linear import Ridge
    >>> from gnomon.select import RandomizedSearchCV
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 1, 2, 3, 4, 5.5]
    >>> search = RandomizedSearchCV(Ridge(), {"alpha": [0.1, 100]}, n_iter=2, cv=3, random_state=0)
    >>> search.fit(X, y).best_params_
    {'alpha': 0.1}
    """


@method(
    task="classify",
    texts=TEXTS,
    use="Many combinations whose rank shows on few rows already.",
    avoid="Small tables: ranks on a few rows are chance.",
    peers=("sklearn.model_selection.HalvingGridSearchCV",),
    on="scikit-learn",
    synonyms=("tuning", "successive halving"),
)
class HalvingGridSearchCV(OverHalving, model_selection.HalvingGridSearchCV):
    """Try all combinations on few rows, keep the best part and try it on more, and so on.

    Use it for many combinations and many rows; not for small tables, where ranks on a few rows are
    chance.

    Examples
    --------
    >>> from gnomon.linear import Ridge
    >>> from gnomon.select import HalvingGridSearchCV
    >>> X, y = [[k] for k in range(40)], [float(k) for k in range(40)]
    >>> search = HalvingGridSearchCV(Ridge(), {"alpha": [0.1, 1e6]}, cv=3, random_state=0)
    >>> search.fit(X, y).best_params_
    {'alpha': 0.1}
    """


@method(
    task="classify",
    texts=TEXTS,
    use="Wide ranges of parameters whose rank shows on few rows already.",
    avoid="Small tables: ranks on a few rows are chance.",
    peers=("sklearn.model_selection.HalvingRandomSearchCV",),
    on="scikit-learn",
    synonyms=("tuning", "successive halving", "hyperband"),
)
class HalvingRandomSearchCV(OverHalving, model_selection.HalvingRandomSearchCV):
    """Try random combinations on few rows, keep the best part and try it on more, and so on.

    Use it for wide ranges and many rows; not for small tables, where ranks on a few rows are
    chance.

    Examples
    --------
    >>> from gnomon.linear import Ridge
    >>> from gnomon.select import HalvingRandomSearchCV
    >>> X, y = [[k] for k in range(40)], [float(k) for k in range(40)]
    >>> alphas = {"alpha": [0.1, 1e6]}
    >>> search = HalvingRandomSearchCV(Ridge(), alphas, n_candidates=2, cv=3, min_resources=12)
    >>> search.fit(X, y).best_params_
    {'alpha': 0.1}
    """
