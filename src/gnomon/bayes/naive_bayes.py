"""Naive Bayes: columns independent given the class, a model of its own kind for each column.

    p(class | x)  is proportional to  p(class) prod_j p(x_j | class)

taken in logarithms, so that any number of columns can be multiplied. Every p(x_j | class) is
estimated alone, from the cells that are known; a missing cell is left out of the product. One pass
of sums over the rows.

Texts: 000 1.3, 1.3.2, exercises 1.1 to 1.3 · 002 "Naive Bayes classifiers" · 003 3.4.6.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from gnomon.bayes.column_models import (
    BernoulliColumns,
    CategoricalColumns,
    ColumnModel,
    HistogramColumns,
    KernelColumns,
    MissingColumns,
    MultinomialColumns,
    NormalColumns,
    PoissonColumns,
    Smoothing,
)
from gnomon.bayes.kernels import class_moments
from gnomon.bayes.priors import class_priors
from gnomon.bayes.scores import BayesClassifier
from gnomon.contract import Columns, Data, Step, SumLearner, Takes, intake
from gnomon.engine.errors import DataError, ModelFileError
from gnomon.engine.parameters import JOBS, StrOptions, above, at_least, validated, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, DictOf, ListOf, Object, Text
from gnomon.engine.sums import ArraySource, chunks_memory, rows_per_chunk
from gnomon.engine.threads import in_order
from gnomon.table.codes import NumberCode, TextCode
from gnomon.table.table import Table

FAMILIES = ("normal", "poisson", "bernoulli", "categorical", "multinomial", "histogram", "kernel")
MODEL_OF_KIND = {"number": "normal", "category": "categorical"}
COLUMNS_AT_ONCE = 512  # judgement: columns that are dense at the same time; bounds memory


@method(
    task="classify",
    texts="000a 1.3, 1.3.2, exercise 1.1 · 002 naive Bayes classifiers · 003 3.4.6",
    use="As a fast first model on many columns of mixed kinds with missing cells; it streams.",
    avoid="Where columns repeat each other and probabilities are needed: they come out too sure.",
    peers=(
        "sklearn.naive_bayes.GaussianNB",
        "sklearn.naive_bayes.BernoulliNB",
        "sklearn.naive_bayes.MultinomialNB",
        "sklearn.naive_bayes.CategoricalNB",
    ),
)
class NaiveBayes(BayesClassifier, SumLearner):
    """Bayes' rule with columns independent given the class, and a model for each column.

    Predicts the class with the largest log p(class) + sum_j log p(x_j | class), where p(class) is
    the share of the class among the rows and each p(x_j | class) is estimated on its own, from
    known cells only. Missing cells and categories that were never seen are left out of the sum.

    Use it as a first model, with many columns, mixed kinds of columns, missing cells, few rows per
    class or more rows than memory: it needs one pass. Do not use it where columns say the same
    thing twice and the probabilities themselves matter: it counts the evidence twice and comes out
    too sure, although the class is often right.

    Models by name:

    ============= ================================= ==========================================
    name          for                               p(x | class)
    ============= ================================= ==========================================
    "normal"      measurements                      normal, by maximum likelihood
    "kernel"      measurements of any shape         mean of normal bumps on the training values
    "histogram"   measurements of any shape         (count in the bin + alpha) / (n + alpha n_bins)
    "poisson"     counts                            Poisson, rate (sum + alpha) / n
    "bernoulli"   yes/no (a number above 0 is yes)  (n_yes + alpha) / (n + 2 alpha)
    "categorical" categories, numbers of few values (count + alpha) / (n + alpha n_values)
    "multinomial" counts of one whole: words        prod_j share_j^x_j, share (c_j + alpha) / sum
    ============= ================================= ==========================================

    Texts: 000 1.3 and 1.3.2 (all models; missing values; "add one to all small counts" is
    ``alpha=1``); 002 "Naive Bayes classifiers"; 003 3.4.6 (a heading). Differences: 000 divides
    the class counts by the number of classes, which does not give probabilities; here by the
    number of rows, as in 002. 000 breaks ties at random; here they go to the class that sorts
    first, so that results can be repeated.

    Parameters
    ----------
    models : str or dict, default="auto"
        ``"auto"``: by the kind of the column: numbers "normal", categories "categorical", booleans
        "bernoulli", words of a text column "multinomial". A name: that model for all columns of
        numbers (categories stay categorical). A dict from column names (for arrays: positions or
        "x0", "x1" ...) to names: the others follow "auto". All columns that are called
        "multinomial" form one vector of counts.
    alpha : float, default=1.0
        Added to counts, so that nothing is impossible only because it was not seen.
    priors : None, "uniform" or array-like of shape (n_classes,), default=None
        Probabilities of the classes; None for their shares among the rows.
    var_smoothing : float, default=1e-9
        This part of the largest variance of a normal column is added to all their variances (1
        counts as the largest where all are constant). With 0, a column that is constant within a
        class is refused.
    missing : {"skip", "model"}, default="skip"
        "skip" leaves missing cells out, which is right where they are missing by chance. "model"
        also counts how often each column is missing in each class (a category never seen before
        counts as missing).
    n_bins : int, default=10
        Bins of the histogram model, of equal width over the range of the training rows; the outer
        ones are open.
    bandwidth : {"silverman", "scott"} or float, default="silverman"
        Width of the bumps of the kernel model, per class and column by a rule, or one number for
        all.
    kernel_points : int or None, default=2000
        The kernel model is evaluated exactly up to so many distinct values in a class; beyond,
        values are put on a lattice of a 32nd bandwidth (relative error of the density below
        0.001). None: always exactly.
    n_jobs : int or None, default=None
        Threads; None for all processors. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the training rows of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Probability of each class.
    column_models_ : dict
        Name of the model of every column.
    fitted_models_ : list
        The fitted models with their parameters, each for some columns (``.names``): for instance
        ``.mean`` and ``.variance`` of normal ones; see `gnomon.bayes.column_models`.
    history_ : History
        Per pass minus the log-likelihood per row, without kernel columns and terms that are the
        same for all classes.
    n_iter_ : int
        Passes: one; two where the first rows misled about where a class lies, and digits would
        have been lost.
    encoder_ : TableEncoder
        How the columns of a table became numbers; only after fitting on a table.
    target_name_ : str
        The target's column; only where it was given by name.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names; only where they have names.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.bayes import NaiveBayes
    >>> rows = [[1.0, 0], [1.2, 1], [np.nan, 0], [3.1, 1], [2.9, 1], [3.0, np.nan]]
    >>> model = NaiveBayes(models={1: "bernoulli"}).fit(rows, ["a", "a", "a", "b", "b", "b"])
    >>> model.predict([[1.1, np.nan], [np.nan, 1]])
    array(['a', 'b'], dtype='<U1')
    >>> model.column_models_
    {'x0': 'normal', 'x1': 'bernoulli'}
    """

    natively = Takes(missing=True, categories=True, sparse=True)
    _parameter_constraints = {
        "models": [StrOptions({"auto", *FAMILIES}), dict],
        "alpha": [above(0)],
        "priors": ["array-like", StrOptions({"uniform"}), None],
        "var_smoothing": [at_least(0)],
        "missing": [StrOptions({"skip", "model"})],
        "n_bins": [whole(1, 10_000)],
        "bandwidth": [StrOptions({"silverman", "scott"}), above(0)],
        "kernel_points": [whole(2), None],
        "n_jobs": JOBS,
    }
    _stored = {
        "class_count_": Array("f8", ("n_classes",), low=0.0),
        "class_prior_": Array("f8", ("n_classes",), low=0.0),
        "column_models_": DictOf(Text()),
        "fitted_models_": ListOf(Object()),
    }

    def __init__(
        self,
        models="auto",
        alpha=1.0,
        priors=None,
        var_smoothing=1e-9,
        missing="skip",
        n_bins=10,
        bandwidth="silverman",
        kernel_points=2000,
        n_jobs=None,
    ):
        self.models = models
        self.alpha = alpha
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.missing = missing
        self.n_bins = n_bins
        self.bandwidth = bandwidth
        self.kernel_points = kernel_points
        self.n_jobs = n_jobs

    def _passes(self):
        return 2

    def _start(self, data, rng):
        if data.n_rows == 0:
            raise DataError("no row has a weight above zero; there is nothing to learn from")
        models = self._planned(data.columns)
        self._require_gathering(models, data)
        if isinstance(data.source, ArraySource):
            data.source.size = _chunk_rows(models, data.source.rows)
        models = self._looked(models, data)
        return {"models": self._centered(models, data), "recentered": False}

    def _sums(self, state, chunk):
        n_classes = len(self.classes_)
        sums = [np.bincount(chunk.y, chunk.weights, minlength=n_classes)]
        for model in state["models"]:
            block = model.block(chunk.rows)
            sums += model.sums(block, chunk.y, chunk.weights, n_classes)
        return tuple(sums)

    def _update(self, state, total):
        class_count, *rest = total
        models, place = [], 0
        for model in state["models"]:
            models.append(model.with_total(tuple(rest[place : place + model.n_sums])))
            place += model.n_sums
        again = not state["recentered"] and any(model.lost_precision() for model in models)
        self._estimate(models)
        objective = self._cost(class_count, models)
        if again:
            models = [
                each.recentered() if isinstance(each, NormalColumns) else each for each in models
            ]
        following = {"models": models, "class_count": class_count, "recentered": again}
        return Step(following, objective, not again)

    def _attributes(self, state):
        return {
            "class_count_": state["class_count"],
            "class_prior_": class_priors(self.priors, state["class_count"]),
            "column_models_": _models_by_name(state["models"]),
            "fitted_models_": state["models"],
        }

    def _planned(self, columns: Columns) -> list[ColumnModel]:
        """Empty models for all columns, as the parameter `models` says."""
        groups: dict[tuple, list[int]] = {}
        for column, family in enumerate(self._families(columns)):
            groups.setdefault(family, []).append(column)
        models = []
        for family, members in groups.items():
            for part in _parts(np.array(members, dtype=np.int64), family[0]):
                models.append(self._empty(family[0], part, columns))
        if self.missing == "model":
            models.append(MissingColumns(np.arange(len(columns)), columns.names))
        return models

    def _families(self, columns: Columns) -> list[tuple[str, Any]]:
        """Per column the name of its model, and what columns of one model must have in common."""
        kinds = _column_kinds(columns, getattr(self, "encoder_", None))
        named = self._named_columns(columns, kinds) if isinstance(self.models, dict) else {}
        general = self.models if isinstance(self.models, str) and self.models != "auto" else None
        families = []
        for column, (kind, origin) in enumerate(kinds):
            is_category = kind == "category"
            family = named.get(column)
            if family is None and not is_category:
                family = general
            if family is None:
                family = MODEL_OF_KIND.get(kind, kind)
            if is_category and family != "categorical":
                raise DataError(
                    f"column {columns.names[column]!r} holds categories, whose codes have no size: "
                    f"the {family!r} model does not apply. Choose 'categorical', or give the "
                    "column another kind in the schema"
                )
            together: Any = is_category
            if family == "multinomial" and kind == "multinomial" and column not in named:
                together = origin
            families.append((family, together))
        return families

    def _named_columns(self, columns: Columns, kinds) -> dict[int, str]:
        """Positions and models of the columns that the dict `models` names."""
        places: dict[Any, list[int]] = {}
        for column, (_, origin) in enumerate(kinds):
            for key in {columns.names[column], origin}:
                places.setdefault(key, []).append(column)
            if not hasattr(self, "encoder_"):
                places[column] = [column]
        named = {}
        for key, family in self.models.items():
            if family != "auto" and family not in FAMILIES:
                raise ValueError(
                    f"models[{key!r}] is {family!r}; the models are 'auto', "
                    f"{', '.join(map(repr, FAMILIES))}"
                )
            if key not in places:
                raise DataError(
                    f"models names a column {key!r} that is not there; the columns are "
                    f"{', '.join(map(repr, columns.names[:20]))}"
                )
            if family != "auto":
                named.update(dict.fromkeys(places[key], family))
        return named

    def _empty(self, family: str, part: np.ndarray, columns: Columns) -> ColumnModel:
        names = tuple(columns.names[column] for column in part)
        n_classes = len(self.classes_)
        if family == "normal":
            return NormalColumns(part, names, np.zeros((n_classes, len(part))))
        if family == "poisson":
            return PoissonColumns(part, names)
        if family == "bernoulli":
            return BernoulliColumns(part, names)
        if family == "multinomial":
            return MultinomialColumns(part, names)
        if family == "histogram":
            return HistogramColumns(part, names, self.n_bins)
        if family == "kernel":
            return KernelColumns(part, names, n_classes, self.bandwidth, self.kernel_points)
        levels = [columns.levels[column] for column in part]
        known = [np.arange(n, dtype=np.float64) for n in levels] if all(levels) else None
        return CategoricalColumns(part, names, known)

    def _looked(self, models: list[ColumnModel], data: Data) -> list[ColumnModel]:
        """The models after a pass over the rows, for those that need to look before they count."""
        waiting = [model for model in models if model.looks_first]
        if not waiting:
            return models
        seen: list[list] = [[] for _ in waiting]
        for looks in in_order(partial(_looks, waiting), data.source.chunks(), self.n_jobs):
            for shown, look in zip(seen, looks):
                shown.append(look)
        settled = iter([model.settled(shown) for model, shown in zip(waiting, seen)])
        return [next(settled) if model.looks_first else model for model in models]

    def _centered(self, models: list[ColumnModel], data: Data) -> list[ColumnModel]:
        """Normal models with a shift per class near its values, from the first rows."""
        if not any(isinstance(model, NormalColumns) for model in models):
            return models
        first = next(iter(data.source.chunks()))
        n_classes = len(self.classes_)
        return [
            NormalColumns(m.columns, m.names, _class_means(m.block(first.rows), first, n_classes))
            if isinstance(m, NormalColumns)
            else m
            for m in models
        ]

    def _estimate(self, models: list[ColumnModel]) -> None:
        largest = max(
            (m.largest_variance() for m in models if isinstance(m, NormalColumns)), default=0.0
        )
        smoothing = Smoothing(self.alpha, self.var_smoothing * (largest or 1.0))
        for model in models:
            model.estimate(smoothing)

    def _cost(self, class_count: np.ndarray, models: list[ColumnModel]) -> float:
        """Minus the log-likelihood per row of what the models count."""
        seen = class_count[class_count > 0]
        n = seen.sum()
        likelihood = (seen * np.log(seen / n)).sum() + sum(m.log_likelihood() for m in models)
        return float(-likelihood / n)

    @validated
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Learn from more rows; after all batches the same as ``fit`` on all rows at once.

        Refused where that cannot be: for the histogram and kernel models (which need the range, or
        all the rows, first) and for tables with other columns than numbers (whose codes need all
        rows; use ``fit`` on a `gnomon.table.scan`, which streams).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of numbers, of shape (n_samples, n_features)
            A batch of rows.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), default=None
            All classes that may come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
        """
        first = not hasattr(self, "fitted_models_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit")
        if first:
            data = intake.take_in(self, X, y, sample_weight)
            data.source.y = intake.use_classes(self, data.source.y, np.unique(classes))
        else:
            data = intake.take_more(self, X, y, sample_weight)
        self._refuse_coded_columns()
        planned = self._planned(data.columns)
        _require_sums(planned)
        if not first:
            _require_same(self.fitted_models_, planned)
        state, history = self._run(data, self._rng())
        if not first:
            state = self._joined(state)
        self._keep(self._attributes(state))
        self.history_ = history
        self.n_iter_ = len(history)
        return self

    def _joined(self, state: dict) -> dict:
        """The state of the rows of all earlier batches and these together."""
        models = [old.joined(new) for old, new in zip(self.fitted_models_, state["models"])]
        self._estimate(models)
        return {"models": models, "class_count": self.class_count_ + state["class_count"]}

    def _refuse_coded_columns(self) -> None:
        encoder = getattr(self, "encoder_", None)
        if encoder is not None and not encoder.only_numbers:
            raise DataError(
                "partial_fit takes columns of numbers only: the codes of categories, dates and "
                "text would have to be known for all batches. Use fit on gnomon.table.scan(...), "
                "which streams"
            )

    def predict_joint_log_proba(self, X) -> np.ndarray:
        """log p(class) + sum_j log p(x_j | class) over the known cells.

        Terms that are the same for all classes (x! of counts, the width of histogram bins) are
        left out.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        joint_log_proba : ndarray of shape (n_samples, n_classes)
        """
        return self._each_block(self._scores, X)

    def log_odds(self, X, of=None, against=None) -> Table:
        """Why: what the prior and each column add to the log-odds of one class against another.

        Each number is log p(x_j | of) - log p(x_j | against): above zero it speaks for the first
        class, below for the second, and a missing cell says nothing (0). They add up to the total,
        which is log [p(of | x) / p(against | x)].

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)
        of : class label, default=None
            The class to argue for; None for the predicted class of each row.
        against : class label, default=None
            The class to argue against; None for the most probable other class of each row.

        Returns
        -------
        table : Table
            One row per row of X, with columns "(class)", "(against)", "(prior)", one per column,
            and "(total)".

        Examples
        --------
        >>> from gnomon.bayes import NaiveBayes
        >>> model = NaiveBayes("poisson").fit([[0, 4], [1, 5], [6, 4]], ["a", "a", "b"])
        >>> why = model.log_odds([[7, 4]])
        >>> [round(why["x0"][0].as_py(), 2), round(why["(total)"][0].as_py(), 2)]
        [7.62, 6.93]
        """
        check_is_fitted(self)
        if len(self.classes_) < 2:
            raise DataError(
                f"there is one class only, {self.classes_[0]!r}: odds need another to be against"
            )
        chosen = self._class_code(of), self._class_code(against)
        if None not in chosen and chosen[0] == chosen[1]:
            raise ValueError(f"of and against are both {of!r}: choose two classes")
        numbers = self._each_block(partial(self._arguments, *chosen), X)
        pair = numbers[:, :2].astype(np.int64)
        columns = {
            "(class)": self.classes_[pair[:, 0]],
            "(against)": self.classes_[pair[:, 1]],
            "(prior)": numbers[:, 2],
        }
        columns |= dict(zip(self.column_models_, numbers[:, 3:-1].T))
        return _as_table(columns | {"(total)": numbers[:, -1]})

    def _class_code(self, label) -> int | None:
        if label is None:
            return None
        found = np.flatnonzero(self.classes_ == label)
        if len(found) != 1:
            raise ValueError(
                f"there is no class {label!r}; the classes are {self.classes_.tolist()}"
            )
        return int(found[0])

    def _arguments(self, of: int | None, against: int | None, rows) -> np.ndarray:
        """Per row: the two class codes, then the parts of their log-odds, then the sum of these."""
        joint = self._scores(rows)
        everyone = np.arange(len(joint))
        if of is None and against is not None:
            joint[:, against] = -np.inf
        ours = joint.argmax(axis=1) if of is None else np.full(len(joint), of)
        joint[everyone, ours] = -np.inf
        theirs = joint.argmax(axis=1) if against is None else np.full(len(joint), against)
        theirs = np.where(theirs == ours, (ours == 0).astype(np.int64), theirs)
        numbers = np.zeros((len(joint), len(self.column_models_) + 4))
        numbers[:, 0], numbers[:, 1] = ours, theirs
        numbers[:, 2] = _log(self.class_prior_[ours]) - _log(self.class_prior_[theirs])
        for model in self.fitted_models_:
            block = model.block(rows)
            numbers[:, 3 + model.columns] += model.terms(block, ours) - model.terms(block, theirs)
        numbers[:, -1] = numbers[:, 2:-1].sum(axis=1)
        return numbers

    def _rows_at_once(self, rows):
        return _chunk_rows(self.fitted_models_, rows)

    def _scores(self, rows) -> np.ndarray:
        joint = np.tile(_log(self.class_prior_), (rows.shape[0], 1))
        for model in self.fitted_models_:
            model.add_log_densities(model.block(rows), joint)
        return joint

    def _require_gathering(self, models: list[ColumnModel], data: Data) -> None:
        """Kernel columns are held in memory, also where the rows are streamed: refuse in time."""
        if any(isinstance(model, KernelColumns) for model in models):
            self._require_memory(data.n_rows, data.n_columns)

    def _working_memory(self, n_rows, n_columns):
        held = self._kernel_columns(n_columns)
        chunks = chunks_memory(n_rows, n_columns, self.n_jobs)
        kernels = 8 * n_rows * (2 * held + 6 * (held > 0))
        return 8 * (4 * n_rows + 64 * n_columns) + chunks + kernels

    def _kernel_columns(self, n_columns: int) -> int:
        if isinstance(self.models, dict):
            return sum(family == "kernel" for family in self.models.values())
        return n_columns if self.models == "kernel" else 0

    def _memory_remedy(self):
        if self._kernel_columns(1):
            return (
                "The kernel model holds its columns in memory: use 'histogram' or 'normal' instead."
            )
        return "Use fewer columns, or stream the rows with gnomon.table.scan."

    def _check_loaded(self):
        if not hasattr(self, "fitted_models_"):
            return
        n_classes = len(self.classes_)
        places = np.concatenate(
            [m.columns for m in self.fitted_models_ if not isinstance(m, MissingColumns)]
        )
        if sorted(places.tolist()) != list(range(len(self.column_models_))):
            raise ModelFileError("its NaiveBayes has not one model for every column")
        if self.class_prior_.shape != (n_classes,) or any(
            _n_classes_of(model) != n_classes for model in self.fitted_models_
        ):
            raise ModelFileError("its NaiveBayes holds models of another number of classes")


def _models_by_name(models: list[ColumnModel]) -> dict[str, str]:
    """Name of each column's model, in order; doubled names get their position."""
    places = {
        int(column): (name, model.name)
        for model in models
        if not isinstance(model, MissingColumns)
        for column, name in zip(model.columns, model.names)
    }
    by_name: dict[str, str] = {}
    for column in sorted(places):
        name, family = places[column]
        by_name[f"{name} [{column}]" if name in by_name else name] = family
    return by_name


def _looks(models: list[ColumnModel], chunk) -> list:
    """What each model sees in a chunk before the counting; rows of weight zero do not count."""
    rows, y, weights = chunk.rows, chunk.y, chunk.weights
    if chunk.weighted and not weights.all():
        kept = weights > 0
        rows, y, weights = rows[kept], y[kept], weights[kept]
    return [model.look(model.block(rows), y, weights) for model in models]


def _chunk_rows(models: list[ColumnModel], rows) -> int:
    """Rows in a chunk; of sparse rows the stored cells count, where no model makes them dense."""
    if sp.issparse(rows) and all(model.takes_sparse for model in models):
        return rows_per_chunk(rows.nnz // max(rows.shape[0], 1) + 1)
    return rows_per_chunk(rows.shape[1])


def _parts(members: np.ndarray, family: str) -> list[np.ndarray]:
    """Columns in pieces that are small when dense; a multinomial vector stays whole."""
    if family in ("multinomial", "bernoulli", "poisson"):
        return [members]
    return np.array_split(members, -(-len(members) // COLUMNS_AT_ONCE))


def _column_kinds(columns: Columns, encoder) -> list[tuple[str, str]]:
    """Per column: "number", "category" or the model that its kind asks for; its table column."""
    kinds = ["category" if levels else "number" for levels in columns.levels]
    origins = list(columns.names)
    if encoder is not None:
        place = 0
        for code in encoder.codes:
            for _ in code.names:
                origins[place] = code.name
                if isinstance(code, NumberCode) and code.flag:
                    kinds[place] = "bernoulli"
                elif isinstance(code, TextCode):
                    kinds[place] = "multinomial"
                place += 1
    return list(zip(kinds, origins))


def _class_means(block: np.ndarray, chunk, n_classes: int) -> np.ndarray:
    """Means per class of a chunk's known cells; of all classes where a class has none."""
    known = ~np.isnan(block)
    count = known.sum(axis=0)
    mean = np.where(known, block, 0.0).sum(axis=0) / np.maximum(count, 1)
    shift = np.tile(mean, (n_classes, 1))
    weight, first, second = (np.zeros(shift.shape) for _ in range(3))
    class_moments(block, chunk.y, np.ones(len(block)), shift, False, weight, first, second)
    return shift + first / np.maximum(weight, 1.0)


def _require_sums(models: list[ColumnModel]) -> None:
    for model in models:
        if isinstance(model, (HistogramColumns, KernelColumns)):
            needs = "the range of" if isinstance(model, HistogramColumns) else "to hold"
            raise ValueError(
                f"partial_fit: the {model.name!r} model (column {model.names[0]!r}) needs {needs} "
                "all rows before it can be estimated. Use fit, or a model of sums such as 'normal'"
            )


def _require_same(fitted: list[ColumnModel], planned: list[ColumnModel]) -> None:
    """Batches can be added to models of the same kinds only."""
    kinds = [[(model.name, model.names) for model in models] for models in (fitted, planned)]
    if kinds[0] != kinds[1]:
        raise ValueError(
            "the parameters models or missing have changed since the first batch; use fit to "
            "start again"
        )


def _n_classes_of(model: ColumnModel) -> int:
    if isinstance(model, KernelColumns):
        return model.n_classes
    for name in ("mean", "slope", "log_probability"):
        if hasattr(model, name):
            return len(getattr(model, name))
    return -1


def _log(probabilities: np.ndarray) -> np.ndarray:
    """Logarithm; minus infinity for a class that cannot be."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def _as_table(columns: dict[str, np.ndarray]) -> Table:
    return Table(pa.table({name: pa.array(values) for name, values in columns.items()}))
