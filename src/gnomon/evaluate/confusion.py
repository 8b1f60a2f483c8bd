"""Confusion tables and two-class rates, with the axis of truth always named.

Two of the tables of 000a chapter 1 are printed transposed; here rows are the truth, columns the
prediction, and both are labelled wherever a table is shown. Texts: 000a 1.1.2, ex. 2.4, ex. 7.1 ·
002 "Confusion table", "Detection rates" · 004 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.estimate import Estimate, check_level, checked_weights, share_interval
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate.class_measures import complement, mean_of_shares
from gnomon.evaluate.intake import label_column, label_pair, number_block, plain, two_classes

MUTUAL = 0.25  # judgement: a quarter of each class is taken for the other; `at_least` sets it


@dataclass(repr=False)
class ConfusionTable(Result):
    """Counts of rows by true class (rows of the table) and predicted class (columns).

    Attributes
    ----------
    classes : ndarray of shape (k,)
    counts : ndarray of shape (k, k)
        Entry (i, j): rows of true class i that were predicted to be j.
    confidence_level : float
        Level of the intervals.
    """

    classes: np.ndarray
    counts: np.ndarray
    confidence_level: float = 0.95

    @classmethod
    def from_counts(cls, counts: ArrayLike, classes: ArrayLike | None = None) -> ConfusionTable:
        """A table from its counts, rows the truth.

        Parameters
        ----------
        counts : array-like of shape (k, k)
        classes : array-like of shape (k,), default=None
            0, 1, 2 ... by default.

        Returns
        -------
        table : ConfusionTable
        """
        counts = number_block(counts, "counts")
        if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or (counts < 0).any():
            raise DataError(f"counts must be a square table of numbers, not {counts.shape}")
        names = np.arange(len(counts)) if classes is None else label_column(classes, "classes")
        if len(names) != len(counts):
            raise DataError(f"{len(names)} classes name {len(counts)} rows")
        return cls(names, counts)

    @property
    def n(self) -> float:
        """Rows in all."""
        return float(self.counts.sum())

    @property
    def accuracy(self) -> Estimate:
        """Share of right predictions."""
        return share_interval(float(np.trace(self.counts)), self.n, self.confidence_level)

    @property
    def error(self) -> Estimate:
        """Share of wrong predictions."""
        return complement(self.accuracy)

    @property
    def balanced_accuracy(self) -> Estimate:
        """Mean over the classes that occur of the share predicted rightly."""
        parts = [complement(each) for each in self.class_errors if each is not None]
        return mean_of_shares(parts, self.confidence_level)

    @property
    def class_errors(self) -> list[Estimate | None]:
        """Per true class, the share of its rows that is predicted wrongly; None without rows."""
        return [self._wrong(row, i) for i, row in enumerate(self.counts)]

    @property
    def predicted_class_errors(self) -> list[Estimate | None]:
        """Per predicted class, the share of those predictions that is wrong (column reading).

        One minus the predictive value: how often "edible" turns out to be poisonous.
        """
        return [self._wrong(column, i) for i, column in enumerate(self.counts.T)]

    def fractions(self) -> np.ndarray:
        """Rows as shares of their true class, each adding up to 1 (NaN for absent classes).

        Returns
        -------
        shares : ndarray of shape (k, k)
        """
        totals = self.counts.sum(axis=1, keepdims=True)
        return np.divide(
            self.counts, totals, out=np.full(self.counts.shape, np.nan), where=totals > 0
        )

    def percent(self) -> np.ndarray:
        """Cells in percent of all rows, adding up to 100.

        Returns
        -------
        percent : ndarray of shape (k, k)
        """
        return 100 * self.counts / self.n

    def transposed(self) -> ConfusionTable:
        """The table with truth and prediction exchanged, for tables printed the other way.

        Returns
        -------
        table : ConfusionTable
        """
        return ConfusionTable(self.classes, self.counts.T.copy(), self.confidence_level)

    def merge_hints(self, at_least: float = MUTUAL) -> list[tuple[Any, Any]]:
        """Pairs of classes that are taken for each other so often that they may be one.

        Parameters
        ----------
        at_least : float, default=0.25
            Share of each class that is predicted to be the other, both ways.

        Returns
        -------
        pairs : list of (label, label)
        """
        shares = np.nan_to_num(self.fractions())
        both = np.minimum(shares, shares.T)
        pairs = np.argwhere(np.triu(both >= at_least, 1))
        return [(self.classes[i], self.classes[j]) for i, j in pairs]

    def merge(self, *labels: Any) -> ConfusionTable:
        """The table after some classes have been made one.

        Parameters
        ----------
        *labels : label

        Returns
        -------
        table : ConfusionTable
        """
        group = np.isin(self.classes, labels)
        if group.sum() != len(labels):
            raise DataError(f"not all of {labels} are classes of the table")
        place = np.where(group, np.flatnonzero(group)[0], np.arange(len(group)))
        _, place = np.unique(place, return_inverse=True)
        k = int(place.max()) + 1
        counts = np.zeros((k, k))
        np.add.at(counts, (place[:, None], place[None, :]), self.counts)
        names = [" + ".join(map(str, self.classes[place == i])) for i in range(k)]
        return ConfusionTable(np.array(names), counts, self.confidence_level)

    def _wrong(self, line: np.ndarray, own: int) -> Estimate | None:
        total = float(line.sum())
        if total == 0:
            return None
        return complement(share_interval(float(line[own]), total, self.confidence_level))

    def _title(self) -> str:
        return f"Confusion of {self.n:,.0f} rows: error {self.error}, truth in rows"

    def _columns(self) -> dict[str, list[Any]]:
        names = [str(each) for each in self.classes]
        columns: dict[str, list[Any]] = {"true \\ predicted": names}
        for name, column in zip(names, self.counts.T):
            columns[f"as {name}"] = [int(c) if c == int(c) else float(c) for c in column]
        columns["class error"] = list(self.class_errors)
        return columns

    def _remarks(self) -> list[str]:
        pairs = self.merge_hints()
        if not pairs:
            return []
        listed = ", ".join(f"{a} and {b}" for a, b in pairs)
        return [f"Often taken for each other, perhaps one class: {listed}"]


def confusion_table(
    y_true: Any,
    y_pred: Any,
    classes: Any = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
) -> ConfusionTable:
    """Count rows by true and predicted class.

    Look at the diagonal first, then at the class errors: a small total error can hide that a
    rare class is never found.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
    classes : array-like, default=None
        Order of the classes; all that occur, sorted, by default.
    sample_weight : array-like of shape (n,), default=None
    confidence_level : float, default=0.95

    Returns
    -------
    table : ConfusionTable

    Examples
    --------
    >>> print(confusion_table(["cat"] * 6 + ["dog"] * 4, ["cat"] * 5 + ["dog"] * 5))
    Confusion of 10 rows: error 0.10 (0.00 to 0.43), truth in rows
    true \\ predicted  as cat  as dog          class error
    cat                    5       1  0.17 (0.01 to 0.58)
    dog                    0       4  0.00 (0.00 to 0.55)
    """
    check_level(confidence_level)
    y_true, y_pred = label_pair(y_true, y_pred)
    found = np.unique(np.concatenate([y_true, y_pred]))
    names = found if classes is None else label_column(classes, "classes")
    absent = found[~np.isin(found, names)]
    if len(absent):
        raise DataError(f"the label {plain(absent[0])!r} occurs and is not among the classes given")
    order = np.argsort(names, kind="stable")
    code = [order[np.searchsorted(names[order], labels)] for labels in (y_true, y_pred)]
    weights = checked_weights(sample_weight, len(y_true))
    k = len(names)
    counts = np.bincount(code[0] * k + code[1], weights, minlength=k * k).reshape(k, k)
    return ConfusionTable(names, counts.astype(np.float64), confidence_level)


@dataclass(repr=False)
class Rates(Result):
    """The rates of a two-class prediction, each with its interval, and the counts behind them.

    Attributes
    ----------
    positive, negative : label
    tp, fp, fn, tn : int or float
        True and false positives, false and true negatives; or their weights.
    confidence_level : float
    """

    positive: Any
    negative: Any
    tp: float
    fp: float
    fn: float
    tn: float
    confidence_level: float = 0.95

    @property
    def sensitivity(self) -> Estimate | None:
        """Share of positive rows found (detection rate, recall), 1 - false negative rate."""
        return self._share(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> Estimate | None:
        """Share of negative rows left alone, 1 - false positive rate."""
        return self._share(self.tn, self.tn + self.fp)

    @property
    def false_positive_rate(self) -> Estimate | None:
        """Share of negative rows that are called positive."""
        return self._share(self.fp, self.tn + self.fp)

    @property
    def false_negative_rate(self) -> Estimate | None:
        """Share of positive rows that are missed."""
        return self._share(self.fn, self.tp + self.fn)

    @property
    def precision(self) -> Estimate | None:
        """Share of the rows called positive that are (positive predictive value)."""
        return self._share(self.tp, self.tp + self.fp)

    @property
    def negative_predictive_value(self) -> Estimate | None:
        """Share of the rows called negative that are."""
        return self._share(self.tn, self.tn + self.fn)

    def swapped(self) -> Rates:
        """The rates after exchanging the two answers, which helps where the error is above 1/2.

        Returns
        -------
        rates : Rates
        """
        return Rates(
            self.positive, self.negative, self.fn, self.tn, self.tp, self.fp, self.confidence_level
        )

    def _share(self, part: float, whole: float) -> Estimate | None:
        return share_interval(part, whole, self.confidence_level) if whole else None

    def _title(self) -> str:
        return f"Rates of {self.positive!r} against {self.negative!r}"

    def _columns(self) -> dict[str, list[Any]]:
        positives, negatives = self.tp + self.fn, self.tn + self.fp
        rows = [
            ("false positive rate", self.false_positive_rate, self.fp, negatives),
            ("false negative rate", self.false_negative_rate, self.fn, positives),
            ("sensitivity (detection rate)", self.sensitivity, self.tp, positives),
            ("specificity", self.specificity, self.tn, negatives),
            ("precision", self.precision, self.tp, self.tp + self.fp),
            ("predictive value of no", self.negative_predictive_value, self.tn, self.tn + self.fn),
        ]
        names, figures, parts, wholes = map(list, zip(*rows))
        return {"rate": names, "value": figures, "rows": parts, "of": wholes}

    def _remarks(self) -> list[str]:
        wrong, n = self.fp + self.fn, self.tp + self.fp + self.fn + self.tn
        if wrong * 2 > n:
            return [f"{wrong:,} of {n:,} are wrong: exchanging the answers would do better"]
        return []


def two_class_rates(
    y_true: Any,
    y_pred: Any,
    positive: Any = None,
    confidence_level: float = 0.95,
    *,
    sample_weight: Any = None,
) -> Rates:
    """False positive and false negative rates, always both, with what follows from them.

    They trade off against each other; distrust a report that gives one alone.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
    positive : label, default=None
        The positive class; the second in sorted order where there are two.
    confidence_level : float, default=0.95
    sample_weight : array-like of shape (n,), default=None
        Weight two is the same as the row standing there twice.

    Returns
    -------
    rates : Rates

    Examples
    --------
    >>> rates = two_class_rates([0, 0, 0, 1, 1], [0, 0, 1, 1, 1])
    >>> rates.false_positive_rate.value, rates.sensitivity.value
    (0.3333333333333333, 1.0)
    """
    check_level(confidence_level)
    y_true, y_pred = label_pair(y_true, y_pred)
    truly, positive, negative = two_classes(y_true, positive)
    said = y_pred == positive
    cells = [truly & said, ~truly & said, truly & ~said, ~truly & ~said]
    weights = checked_weights(sample_weight, len(y_true))
    counts: list[float] = [int(each.sum()) for each in cells]
    if weights is not None:
        counts = [float(weights[each].sum()) for each in cells]
    tp, fp, fn, tn = counts
    return Rates(positive, negative, tp, fp, fn, tn, confidence_level)


@dataclass(repr=False)
class LabelRates(Result):
    """Error, false positive and false negative rate of each label of a multi-label prediction.

    Attributes
    ----------
    names : list of str
        Labels, the commonest first.
    rates : list of Rates
    """

    names: list[str]
    rates: list[Rates]

    def _title(self) -> str:
        return f"Rates of the {len(self.names)} commonest labels"

    def _columns(self) -> dict[str, list[Any]]:
        n = [each.tp + each.fn + each.fp + each.tn for each in self.rates]
        errors = [
            share_interval(r.fp + r.fn, total, r.confidence_level)
            for r, total in zip(self.rates, n)
        ]
        return {
            "label": self.names,
            "rows": [each.tp + each.fn for each in self.rates],
            "error": errors,
            "false positive rate": [each.false_positive_rate for each in self.rates],
            "false negative rate": [each.false_negative_rate for each in self.rates],
        }


def per_label_rates(
    y_true: Any,
    y_pred: Any,
    names: Any = None,
    n_commonest: int = 30,
    confidence_level: float = 0.95,
) -> LabelRates:
    """Rates of every label of a multi-label prediction (000a ex. 7.1), the commonest first.

    Parameters
    ----------
    y_true : array-like of shape (n, n_labels)
        0 and 1, or False and True: which labels each row has.
    y_pred : array-like of shape (n, n_labels)
    names : array-like of str, default=None
        Names of the labels; their numbers by default.
    n_commonest : int, default=30
        How many labels to give, by how many rows have them.
    confidence_level : float, default=0.95

    Returns
    -------
    rates : LabelRates

    Examples
    --------
    >>> found = per_label_rates([[1, 0], [1, 1]], [[1, 0], [0, 1]], names=["sky", "sea"])
    >>> found.names, found.rates[0].false_negative_rate.value
    (['sky', 'sea'], 0.5)
    """
    y_true, y_pred = number_block(y_true, "y"), number_block(y_pred, "predicted")
    if y_true.ndim != 2 or y_true.shape != y_pred.shape:
        raise DataError(
            f"y has shape {y_true.shape} and the predictions {y_pred.shape}; give tables"
        )
    if not (np.isin(y_true, (0, 1)).all() and np.isin(y_pred, (0, 1)).all()):
        raise DataError("labels and predictions of several labels must be 0 or 1")
    labels = (
        [str(j) for j in range(y_true.shape[1])] if names is None else [str(each) for each in names]
    )
    if len(labels) != y_true.shape[1]:
        raise DataError(f"{len(labels)} names for {y_true.shape[1]} labels")
    order = np.argsort(-y_true.sum(axis=0), kind="stable")[:n_commonest]
    rates = [two_class_rates(y_true[:, j], y_pred[:, j], 1.0, confidence_level) for j in order]
    return LabelRates([labels[j] for j in order], rates)
