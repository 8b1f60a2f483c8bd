"""Splits: which rows train and which test, by every rule of the texts.

The rule never looks at the answer beyond what stratifying needs, and the same seed gives the same
splits. Texts: 000a 1.1.3 · 000b 11.1.3 · 001 7.3 · 002 "Cross validation", "Bootstrap" ·
003 2.1.7 · 004 3.2, 5.3.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Integral
from typing import Any, overload

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedShuffleSplit,
)

from gnomon.contract.estimate import check_inside_unit
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.evaluate.intake import label_column

PLENTY = 10_000  # judgement: from here half of the rows teach nearly as well as nine tenths
Pair = tuple[np.ndarray, np.ndarray]


@dataclass(repr=False)
class Splits(Result, Sequence[Pair]):
    """Training and test rows, several times.

    Attributes
    ----------
    pairs : list of (ndarray, ndarray)
        Positions of training and test rows of each split.
    n_rows : int
        Rows that were split.
    how : str
        The rule, in words.
    n_repeats : int
        Repetitions, each of as many splits.
    groups : ndarray or None
        Codes of the groups that were kept together.
    ordered : bool
        Whether rows are in order of time.
    """

    pairs: list[Pair]
    n_rows: int
    how: str
    n_repeats: int = 1
    groups: np.ndarray | None = None
    ordered: bool = False

    def __post_init__(self) -> None:
        for number, (train, test) in enumerate(self.pairs):
            if len(train) == 0 or len(test) == 0:
                part = "training" if len(train) == 0 else "test"
                raise DataError(f"split {number} of {self.how} has no {part} rows")

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, number: int) -> Pair: ...

    @overload
    def __getitem__(self, number: slice) -> list[Pair]: ...

    def __getitem__(self, number: int | slice) -> Pair | list[Pair]:
        return self.pairs[number]

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    @property
    def n_folds(self) -> int:
        """Splits of one repetition."""
        return len(self.pairs) // self.n_repeats

    @property
    def test_share(self) -> float:
        """Test rows per training row, averaged: what the corrected comparison needs."""
        return float(np.mean([len(test) / len(train) for train, test in self.pairs]))

    @property
    def partition(self) -> bool:
        """Whether every repetition tests every row once, each fold training on all the others."""
        whole = all(len(train) + len(test) == self.n_rows for train, test in self.pairs)
        tested = sum(len(test) for _, test in self.pairs)
        if not whole or self.ordered or tested != self.n_repeats * self.n_rows:
            return False
        first = np.concatenate([test for _, test in self.pairs[: self.n_folds]])
        return len(np.unique(first)) == self.n_rows

    @property
    def tests_per_row(self) -> float:
        """How often a test's row is tested, sum c^2 / sum c for rows that are tested c times.

        The mean over J splits varies like that of J / tests_per_row splits of different rows: a row
        that is tested again is no new row. As many as there are repetitions of folds.
        """
        times = np.bincount(np.concatenate([test for _, test in self.pairs])).astype(float)
        return float((times**2).sum() / times.sum())

    def repeat_of(self, number: int) -> int:
        """The repetition that a split belongs to.

        Parameters
        ----------
        number : int

        Returns
        -------
        repeat : int
        """
        return number // self.n_folds

    def _title(self) -> str:
        return f"{self.how}: {len(self)} splits of {self.n_rows:,} rows"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "split": list(range(len(self))),
            "train": [len(train) for train, _ in self.pairs],
            "test": [len(test) for _, test in self.pairs],
        }


def k_fold(
    n_rows: int,
    n_splits: int = 10,
    n_repeats: int = 1,
    *,
    shuffle: bool = True,
    stratify: Any = None,
    groups: Any = None,
    random_state: int | None = 0,
) -> Splits:
    """K-fold cross-validation: every row is tested once per repetition, by a model without it.

    Five to ten folds are a good habit; 003 advises 5 repetitions of 2 folds where data are
    plenty and 1 of 10 otherwise (`auto_folds`). Stratify classes; give groups where rows belong
    together (patients, machines), or the estimate is too good; use `forward_in_time` for series.

    Parameters
    ----------
    n_rows : int
    n_splits : int, default=10
    n_repeats : int, default=1
        Each with another shuffle.
    shuffle : bool, default=True
        False gives contiguous folds in the order of the rows (003 2.1.7.2), once.
    stratify : array-like of shape (n_rows,), default=None
        Classes whose shares every fold keeps.
    groups : array-like of shape (n_rows,), default=None
        Rows of a group are in one fold together.
    random_state : int or None, default=0

    Returns
    -------
    splits : Splits

    Examples
    --------
    >>> [test.tolist() for _, test in k_fold(6, 3, shuffle=False)]
    [[0, 1], [2, 3], [4, 5]]
    """
    _check_folds(n_rows, n_splits, n_repeats, shuffle)
    labels = _strata(stratify, n_rows, n_splits)
    codes, _ = _group_codes(groups, n_rows, n_splits)
    pairs: list[Pair] = []
    for seed in _seeds(random_state, n_repeats):
        if labels is not None and codes is None:
            pairs += _dealt(labels, n_splits, shuffle, seed)
            continue
        splitter = _k_fold_splitter(n_splits, shuffle, seed, labels is not None, codes is not None)
        pairs += splitter.split(np.zeros(n_rows), labels, codes)
    kind = ["stratified"] * (labels is not None) + ["grouped"] * (codes is not None)
    kind += [] if shuffle else ["contiguous"]
    how = " ".join([f"{n_repeats} x {n_splits}-fold", *kind, "cross-validation"])
    return Splits(pairs, n_rows, how, n_repeats, codes)


def auto_folds(
    n_rows: int, *, stratify: Any = None, groups: Any = None, random_state: int | None = 0
) -> Splits:
    """The folds that 003 2.1.7.2.3 advises: 5 x 2 from 10,000 rows on, 1 x 10 below.

    Fewer than ten rows, or groups, or rows of the largest class, give as many folds as there are of
    them.

    Parameters
    ----------
    n_rows : int
    stratify : array-like of shape (n_rows,), default=None
    groups : array-like of shape (n_rows,), default=None
    random_state : int or None, default=0

    Returns
    -------
    splits : Splits

    Examples
    --------
    >>> auto_folds(300).how
    '1 x 10-fold cross-validation'
    """
    most = n_rows if groups is None else len(np.unique(label_column(groups, "groups")))
    if stratify is not None:
        labels = label_column(stratify, "the classes to stratify by")
        most = min(most, int(np.unique(labels, return_counts=True)[1].max()))
    n_folds, n_repeats = (2, 5) if n_rows >= PLENTY else (max(min(10, most), 2), 1)
    return k_fold(
        n_rows, n_folds, n_repeats, stratify=stratify, groups=groups, random_state=random_state
    )


def random_splits(
    n_rows: int,
    n_splits: int = 10,
    test_share: float = 0.15,
    *,
    stratify: Any = None,
    groups: Any = None,
    random_state: int | None = 0,
) -> Splits:
    """Repeated random splits (Monte-Carlo cross-validation; "cross-validation" in 000a 1.1.3).

    Some rows are tested several times and some never; k folds use the rows better.

    Parameters
    ----------
    n_rows : int
    n_splits : int, default=10
    test_share : float, default=0.15
        Share of rows that test.
    stratify : array-like of shape (n_rows,), default=None
    groups : array-like of shape (n_rows,), default=None
        Rows of a group are on one side together; not beside stratify.
    random_state : int or None, default=0

    Returns
    -------
    splits : Splits

    Examples
    --------
    >>> train, test = random_splits(100, 10)[0]
    >>> len(train), len(test)
    (85, 15)
    """
    check_inside_unit("test_share", test_share, 0.2)
    _check_whole(n_rows=n_rows, n_splits=n_splits)
    if n_rows < 2 or n_splits < 1:
        raise DataError(f"{n_rows} rows cannot be split {n_splits} times in training and test")
    if stratify is not None and groups is not None:
        raise DataError("random splits are stratified or grouped, not both; use k_fold for both")
    labels = _strata(stratify, n_rows, 2)
    codes, _ = _group_codes(groups, n_rows, 2)
    (seed,) = _seeds(random_state, 1)
    cls = ShuffleSplit
    if labels is not None:
        cls = StratifiedShuffleSplit
    elif codes is not None:
        cls = GroupShuffleSplit
    splitter = cls(n_splits=n_splits, test_size=test_share, random_state=seed)
    try:
        pairs = list(splitter.split(np.zeros(n_rows), labels, codes))
    except ValueError as error:
        raise DataError(f"{n_rows} rows cannot be split so: {error}") from None
    kind = "stratified " if labels is not None else "grouped " if codes is not None else ""
    how = f"{n_splits} {kind}random splits with {test_share:.0%} test rows"
    return Splits(pairs, n_rows, how, n_splits, codes)


def hold_out_split(
    n_rows: int,
    test_share: float = 0.2,
    *,
    stratify: Any = None,
    groups: Any = None,
    random_state: int | None = 0,
) -> Splits:
    """One random split; a fifth of the rows tests by the rule of thumb of 001 7.3.1.

    Parameters
    ----------
    n_rows : int
    test_share : float, default=0.2
    stratify : array-like of shape (n_rows,), default=None
    groups : array-like of shape (n_rows,), default=None
    random_state : int or None, default=0

    Returns
    -------
    splits : Splits

    Examples
    --------
    >>> len(hold_out_split(50)[0][1])
    10
    """
    found = random_splits(
        n_rows, 1, test_share, stratify=stratify, groups=groups, random_state=random_state
    )
    found.how = f"hold-out of {test_share:.0%}"
    return found


def leave_one_out(n_rows: int) -> Splits:
    """Each row is tested once by a model of all others: n fits.

    Little bias, but it hides the variance between training sets, and costs n fits; least squares
    and ridge have a closed form (`press`).

    Parameters
    ----------
    n_rows : int

    Returns
    -------
    splits : Splits

    Examples
    --------
    >>> leave_one_out(3)[1][0].tolist()
    [0, 2]
    """
    _check_whole(n_rows=n_rows)
    if n_rows < 2:
        raise DataError(f"{n_rows} rows cannot be left out one by one")
    rows = np.arange(n_rows)
    pairs = [(np.delete(rows, i), rows[i : i + 1]) for i in range(n_rows)]
    return Splits(pairs, n_rows, "leave-one-out")


def leave_group_out(groups: Any) -> Splits:
    """Each group is tested once by a model of all others.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)

    Returns
    -------
    splits : Splits

    Examples
    --------
    >>> len(leave_group_out(["a", "a", "b", "c"]))
    3
    """
    labels = label_column(groups, "groups")
    codes, names = _group_codes(labels, len(labels), 2)
    pairs = list(LeaveOneGroupOut().split(np.zeros(len(labels)), groups=codes))
    return Splits(pairs, len(labels), f"leave-one-group-out of {names} groups", 1, codes)


def forward_in_time(
    times: Any, n_splits: int = 5, *, gap: int = 0, window: int | None = None
) -> Splits:
    """Test on what comes after the training rows, as the model will be used.

    The moments are cut in n_folds + 1 stretches of about equal numbers of rows; stretch k + 1
    tests a model of all before it. Rows of one moment are never on both sides.

    Parameters
    ----------
    times : array-like of shape (n_rows,)
        Sortable moments; the rows need not be in order.
    n_splits : int, default=5
    gap : int, default=0
        Moments left out between training and test, for targets that look ahead.
    window : int, default=None
        Train on so many moments before the gap only; all by default.

    Returns
    -------
    splits : Splits

    Examples
    --------
    >>> [(len(train), len(test)) for train, test in forward_in_time(range(12), 3)]
    [(3, 3), (6, 3), (9, 3)]
    """
    labels = label_column(list(times) if isinstance(times, range) else times, "times")
    _check_whole(n_folds=n_splits, gap=gap, **({} if window is None else {"window": window}))
    if gap < 0:
        raise DataError(f"gap={gap}: training rows would be test rows too; it must be 0 or more")
    if window is not None and window < 1:
        raise DataError(f"window={window} leaves no moment to train on; it must be 1 or more")
    distinct, moment = np.unique(labels, return_inverse=True)
    if n_splits < 1 or len(distinct) < n_splits + 1:
        raise DataError(f"{len(distinct)} moments cannot be cut in {n_splits} + 1 stretches")
    line = np.cumsum(np.bincount(moment))
    marks = len(labels) * np.arange(1, n_splits + 1) / (n_splits + 1)
    cuts = np.searchsorted(line, marks - 0.5) + 1
    cuts = np.append(np.maximum.accumulate(cuts), len(distinct))
    pairs = []
    for begin, end in pairwise(cuts):
        first = 0 if window is None else max(int(begin) - gap - window, 0)
        train = np.flatnonzero((moment >= first) & (moment < begin - gap))
        pairs.append((train, np.flatnonzero((moment >= begin) & (moment < end))))
    return Splits(pairs, len(labels), f"{n_splits} stretches forward in time", ordered=True)


def bootstrap_bags(n_rows: int, n_bags: int = 200, *, random_state: int | None = 0) -> Splits:
    """Bags of n rows drawn with replacement; the rows not drawn (about 1/e) test.

    Parameters
    ----------
    n_rows : int
    n_bags : int, default=200
    random_state : int or None, default=0

    Returns
    -------
    splits : Splits
        Training positions repeat where a row was drawn several times.

    Examples
    --------
    >>> train, test = bootstrap_bags(50, 1)[0]
    >>> len(train), sorted(set(train) & set(test))
    (50, [])
    """
    _check_whole(n_rows=n_rows, n_bags=n_bags)
    if n_rows < 2 or n_bags < 1:
        raise DataError(f"{n_rows} rows give no {n_bags} bags with rows left out")
    rng = np.random.default_rng(random_state)
    pairs: list[Pair] = []
    while len(pairs) < n_bags:
        drawn = np.sort(rng.integers(0, n_rows, n_rows))
        left = np.flatnonzero(np.bincount(drawn, minlength=n_rows) == 0)
        if len(left):
            pairs.append((drawn, left))
    return Splits(pairs, n_rows, f"{n_bags} bootstrap bags", n_bags)


def as_splits(splits: Any, n_rows: int, labels: Any, groups: Any, random_state: Any) -> Splits:
    """Whatever names splits: "auto", a number of folds, Splits, pairs, a scikit-learn splitter.

    Groups are refused where the splits have one of them on both sides.
    """
    if isinstance(splits, str):
        if splits != "auto":
            raise DataError(f"cv={splits!r}: give 'auto', a number of folds or Splits")
        return auto_folds(n_rows, stratify=labels, groups=groups, random_state=random_state)
    if isinstance(splits, Integral):
        return k_fold(
            n_rows, int(splits), stratify=labels, groups=groups, random_state=random_state
        )
    codes = None if groups is None else _group_codes(groups, n_rows, 1)[0]
    if isinstance(splits, Splits):
        if splits.n_rows != n_rows:
            raise DataError(f"the splits are of {splits.n_rows:,} rows and X has {n_rows:,}")
        found = splits if codes is None else replace(splits, groups=codes)
    elif hasattr(splits, "split"):
        pairs = list(splits.split(np.zeros((n_rows, 1)), labels, codes))
        found = Splits(pairs, n_rows, type(splits).__name__, _repeats(pairs), codes)
    else:
        pairs = _given_pairs(splits, n_rows)
        found = Splits(pairs, n_rows, f"{len(pairs)} given splits", _repeats(pairs), codes)
    if codes is not None:
        _require_apart(found, groups)
    return found


def _given_pairs(splits: Any, n_rows: int) -> list[Pair]:
    """Pairs of training and test positions, checked."""
    try:
        pairs = [(np.asarray(train), np.asarray(test)) for train, test in splits]
    except (TypeError, ValueError):
        raise DataError(
            f"cv={splits!r}: give 'auto', a whole number of folds, Splits, a splitter of "
            "scikit-learn's form, or pairs of training and test positions"
        ) from None
    if not pairs:
        raise DataError("there are no splits")
    for number, pair in enumerate(pairs):
        for rows in pair:
            if len(rows) and rows.dtype.kind not in "iu":
                raise DataError(
                    f"split {number} holds {rows.dtype} values; give whole numbers, the positions "
                    "of rows (numpy.flatnonzero of a mask)"
                )
            if len(rows) and (rows.min() < 0 or rows.max() >= n_rows):
                raise DataError(f"split {number} names rows beyond the {n_rows:,} there are")
    return pairs


def _repeats(pairs: list[Pair]) -> int:
    """The fewest repetitions, of as many splits each, none of which tests a row twice."""
    n = len(pairs)
    for n_repeats in (each for each in range(1, n + 1) if n % each == 0):
        size = n // n_repeats
        tests = (
            np.concatenate([test for _, test in pairs[k : k + size]]) for k in range(0, n, size)
        )
        if all(len(np.unique(rows)) == len(rows) for rows in tests):
            return n_repeats
    return max(n, 1)


def _require_apart(splits: Splits, groups: Any) -> None:
    """Refuse splits that have a group on both sides."""
    assert splits.groups is not None
    for number, (train, test) in enumerate(splits):
        both = np.intersect1d(splits.groups[train], splits.groups[test])
        if len(both):
            name = label_column(groups, "groups")[splits.groups == both[0]][0]
            raise DataError(
                f"split {number} of {splits.how} has {len(both):,} groups on both sides (first: "
                f"{name}), so scores would be too good; make the splits with groups=..., or give a "
                "number of folds"
            )


def _check_whole(**numbers: Any) -> None:
    for name, value in numbers.items():
        if not isinstance(value, Integral):
            raise DataError(f"{name}={value!r} must be a whole number")


def _check_folds(n_rows: int, n_folds: int, n_repeats: int, shuffle: bool) -> None:
    _check_whole(n_rows=n_rows, n_folds=n_folds, n_repeats=n_repeats)
    if n_folds < 2 or n_repeats < 1:
        raise DataError(f"{n_repeats} x {n_folds} folds: there must be two folds at least, once")
    if n_rows < n_folds:
        raise DataError(
            f"{n_rows:,} rows cannot be cut in {n_folds:,} folds; take at most {n_rows:,} folds "
            "(that is leave-one-out)"
        )
    if not shuffle and n_repeats > 1:
        raise DataError("contiguous folds are the same each time; shuffle to repeat them")


def _k_fold_splitter(
    n_folds: int, shuffle: bool, seed: int, stratified: bool, grouped: bool
) -> Any:
    random = {"shuffle": shuffle, "random_state": seed if shuffle else None}
    if stratified and grouped:
        return StratifiedGroupKFold(n_folds, **random)
    return GroupKFold(n_folds, **random) if grouped else KFold(n_folds, **random)


def _dealt(codes: np.ndarray, n_folds: int, shuffle: bool, seed: int) -> list[Pair]:
    """Stratified folds: rows are dealt out in turn, class by class, going on where the last ended.

    So every fold has its share of each class, and of all rows, to within one.
    """
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(codes)) if shuffle else np.arange(len(codes))
    by_class = rows[np.argsort(codes[rows], kind="stable")]
    fold = np.empty(len(codes), dtype=np.int64)
    fold[by_class] = np.arange(len(codes)) % n_folds
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


def _strata(stratify: Any, n_rows: int, n_folds: int) -> np.ndarray | None:
    """Codes of the classes; says which are too small to be in every fold."""
    if stratify is None:
        return None
    labels = label_column(stratify, "the classes to stratify by")
    if len(labels) != n_rows:
        raise DataError(f"there are {len(labels):,} classes to stratify {n_rows:,} rows by")
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if counts.max() < n_folds:
        raise DataError(
            f"no class has {n_folds} rows, so {n_folds} folds cannot be stratified: take fewer "
            "folds, or do not stratify (are these classes at all?)"
        )
    small = counts < n_folds
    if small.any():
        shown = ", ".join(f"{c} ({k})" for c, k in zip(classes[small][:5], counts[small][:5]))
        warnings.warn(
            f"{int(small.sum())} of {len(classes)} classes have fewer rows than the {n_folds} "
            f"folds: {shown}. Some folds will lack them; merge small classes or take fewer folds",
            GnomonWarning,
            stacklevel=4,
        )
    return codes


def _group_codes(groups: Any, n_rows: int, n_folds: int) -> tuple[np.ndarray | None, int]:
    if groups is None:
        return None, 0
    labels = label_column(groups, "groups")
    if len(labels) != n_rows:
        raise DataError(f"there are {len(labels):,} groups for {n_rows:,} rows")
    names, codes = np.unique(labels, return_inverse=True)
    if len(names) < n_folds:
        raise DataError(f"{len(names)} groups cannot be cut in {n_folds} folds")
    return codes, len(names)


def _seeds(random_state: int | None, n: int) -> list[int]:
    """Seeds of n repetitions; the first is the given one, so that one repetition is its own."""
    sequence = np.random.SeedSequence(random_state)
    return [int(each.generate_state(1)[0]) for each in sequence.spawn(n)]
