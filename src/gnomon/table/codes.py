"""Codes: how one column of a table becomes columns of numbers, and back.

Each code looks at a column in any number of pieces (so that it works on streams), is then
finished, and from there on turns columns of that name into numbers the same way: nothing is learnt
from later rows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from gnomon.engine.errors import DataError
from gnomon.engine.storable import storable
from gnomon.engine.stored import (
    Anything,
    Array,
    DictOf,
    Flag,
    ListOf,
    Nothing,
    Number,
    Optional,
    Text,
    Whole,
)
from gnomon.table import missing
from gnomon.table.errors import ReadError
from gnomon.table.inference import WRITTEN_NUMBERS
from gnomon.table.kinds import Kind
from gnomon.table.notes import counted, warn
from gnomon.table.recode import as_strings, recode
from gnomon.table.schema import WRITING, Column
from gnomon.table.terms import TermCounts, shared_counts

DAY = 86_400.0  # seconds
OTHER = "(other)"
MOST_DENSE_LEVELS = 100  # judgement: a column becomes at most 100 dense columns, 800 bytes per row


class Code:
    """Base of codes: ``look`` at pieces of a column, ``finish``, then ``encode`` and ``decode``.

    Attributes
    ----------
    name : str
        The column's name.
    notes : list of str
        What a person should know about the conversion.
    """

    reversible = True
    _stored = {
        "name": Text(),
        "notes": ListOf(Text()),
        "written": Optional(DictOf(Anything())),
    }

    def __init__(self, name: str):
        self.name = name
        self.notes: list[str] = []

    def look(self, column: pa.ChunkedArray, weights: np.ndarray | None) -> None:
        raise NotImplementedError

    def remember(self, column: Column) -> None:
        """Keep how the training column was written: unit, marks, format, words."""
        fields = {field: getattr(column, field) for field in WRITING}
        if column.kind is Kind.BOOLEAN:
            fields["levels"] = column.levels
        self.written = {field: value for field, value in fields.items() if value is not None}

    def _learnt(self, kind: Kind) -> Column:
        """The training column as it was written; model files of old do not say how."""
        return Column(self.name, kind, **getattr(self, "written", {}))

    def understood(self, values: pa.ChunkedArray, column: Column) -> pa.ChunkedArray:
        """The values of a column of another table in the form that was learnt.

        Words are read as the training column was written. Another unit than that of the training
        column is refused.

        Parameters
        ----------
        values : ChunkedArray
        column : Column
            What the other table's schema says of them.
        """
        return values

    def finish(self) -> None:
        """All training rows have been seen."""

    @property
    def names(self) -> list[str]:
        """Names of the columns of numbers."""
        return [self.name]

    @property
    def levels(self) -> list[int]:
        """Number of categories of each column of codes; 0 for numbers."""
        return [0] * len(self.names)

    def encode(self, column: pa.ChunkedArray, out: np.ndarray) -> None:
        """Write the numbers of a column to ``out`` of shape (n, len(names))."""
        raise NotImplementedError

    def decode(self, numbers: np.ndarray) -> pa.Array:
        """The column that the numbers stand for."""
        raise DataError(f"column {self.name!r} cannot be turned back: its code is not reversible")


@storable
class NumberCode(Code):
    """A number as itself; missing cells as the mean, or as NaN where the method takes them.

    Parameters
    ----------
    name : str
    keep_missing : bool
    whole : bool
        Decode to whole numbers.
    """

    _stored = {
        "flag": Flag(),
        "keep_missing": Flag(),
        "mean": Number(),
        "n_missing": Whole(),
        "weight": Number(),
        "whole": Flag(),
    }

    def __init__(self, name: str, keep_missing: bool, whole: bool = False, flag: bool = False):
        super().__init__(name)
        self.keep_missing = keep_missing
        self.whole = whole
        self.flag = flag
        self.weight = 0.0
        self.mean = 0.0
        self.n_missing = 0

    def look(self, column: Any, weights: Any) -> None:
        self.look_at_numbers(as_numbers(column, self.name), weights)

    def look_at_numbers(self, values: np.ndarray, weights: np.ndarray | None) -> None:
        """Learn from some values as float64, NaN where they are missing."""
        present: Any = ~np.isnan(values)
        n_missing = int(len(values) - np.count_nonzero(present))
        self.n_missing += n_missing
        if not n_missing:
            present = slice(None)
        weights = np.ones(len(values)) if weights is None else weights
        added = float(weights[present].sum())
        if added > 0:
            total = self.weight + added
            shift = float((weights[present] * (values[present] - self.mean)).sum()) / total
            self.weight, self.mean = total, self.mean + shift

    @staticmethod
    def look_at_block(codes: list[NumberCode], columns: np.ndarray, weights: np.ndarray) -> None:
        """Let every code learn from its column, as `look_at_numbers` does, to the bit.

        Parameters
        ----------
        codes : list of NumberCode
        columns : ndarray of shape (n_codes, n)
            In C order, without missing cells.
        weights : ndarray of shape (n,)
        """
        added = float(weights.sum())
        if not added > 0:
            return
        means = np.array([code.mean for code in codes])
        totals = np.array([code.weight + added for code in codes])
        means = means + (weights * (columns - means[:, None])).sum(axis=1) / totals
        for code, weight, mean in zip(codes, totals.tolist(), means.tolist()):
            code.weight, code.mean = weight, mean

    def finish(self) -> None:
        if self.weight == 0:
            self.notes.append(f"column {self.name!r} has no value at all: it is read as zero")
        elif self.n_missing and not self.keep_missing:
            self.notes.append(
                f"column {self.name!r}: {self.n_missing:,} missing cells are read as the "
                f"mean, {self.mean:.6g}"
            )

    def understood(self, values: Any, column: Any) -> Any:
        learnt = self._learnt(self._kind())
        refuse_other_unit(learnt, column)
        if hasattr(self, "written") and (note := other_mark(learnt, column)):
            warn(note)
        if not is_words(values.type):
            return values
        strings = as_strings(values)
        if self.flag and learnt.levels:
            strings, unseen = boolean_words(strings, learnt.levels)
            if unseen:
                warn(unseen_words(learnt, unseen))
        try:
            return recode(strings, plainly(learnt), written=True)[1]
        except ReadError as error:
            raise self._not_as_learnt(learnt, error) from None

    def _kind(self) -> Kind:
        if self.flag:
            return Kind.BOOLEAN
        return Kind.INTEGER if self.whole else Kind.NUMBER

    def _not_as_learnt(self, learnt: Column, error: ReadError) -> DataError:
        held = "true or false" if self.flag else "numbers"
        unit = f" in {learnt.unit!r}" if learnt.unit else ""
        row = "" if error.row is None else f" (row {error.row - 1})"
        return DataError(
            f"column {self.name!r} held {held}{unit} when the model was fitted: {error.problem}"
            f"{row}. Correct it, leave the cell empty if the value is missing, or fit again"
        )

    def encode(self, column: Any, out: Any) -> None:
        values = as_numbers(column, self.name)
        if not self.keep_missing:
            values = np.where(np.isnan(values), self.mean, values)
        out[:, 0] = values

    def decode(self, numbers: Any) -> Any:
        values = numbers[:, 0]
        missing = np.isnan(values)
        if self.flag:
            return pa.array(values >= 0.5, mask=missing)
        if self.whole:
            return pa.array(np.rint(np.where(missing, 0, values)).astype(np.int64), mask=missing)
        return pa.array(values, mask=missing)


@storable
class CategoryCode(Code):
    """A category as one number 0, 1, 2 ..., or as one column per level (one-hot).

    A missing or never seen value is read, in one-hot form, as the levels' shares among the
    training rows (what is expected when nothing is known); in code form as NaN or as the
    commonest level, and so too in one-hot form of more than a hundred levels.

    Parameters
    ----------
    name : str
    one_hot : bool
    keep_missing : bool
        In code form: missing and unseen values as NaN.
    most_levels : int
        Beyond so many, the rarest are read together as one level "(other)".
    known : list or None
        Levels in their given order; None for those seen, sorted.
    leave_out_first : bool
        In one-hot form: no column for the first of several levels, which all zeros then mean.
    """

    _stored = {
        "counts": DictOf(Anything()),
        "first_column": Whole(),
        "keep_missing": Flag(),
        "known": ListOf(Anything()) | None,
        "leave_out_first": Flag(),
        "lumped": Whole(),
        "most_levels": Whole(),
        "n_missing": Whole(),
        "one_hot": Flag(),
        "shares": Array("f8", ("n_shares",), low=0.0),
        "values": ListOf(Anything()),
    }

    def _check_loaded(self) -> None:
        n_levels = len(self.values) + bool(self.lumped)  # the last share is that of all others
        if hasattr(self, "shares") and len(self.shares) != n_levels:
            raise ValueError(f"{len(self.shares)} shares of {n_levels} categories")

    def __init__(
        self,
        name: str,
        one_hot: bool,
        keep_missing: bool,
        most_levels: int,
        known: Any = None,
        leave_out_first: bool = False,
    ) -> None:
        super().__init__(name)
        self.leave_out_first = leave_out_first
        self.one_hot = one_hot
        self.keep_missing = keep_missing
        self.most_levels = most_levels
        self.known = known
        self.counts: dict[Any, float] = {}
        self.n_missing = 0

    def look(self, column: Any, weights: Any) -> None:
        values, codes = dictionary(column)
        seen = codes >= 0
        self.n_missing += int(len(codes) - seen.sum())
        chosen = None if weights is None else weights[seen]
        for value, count in zip(values, np.bincount(codes[seen], chosen, minlength=len(values))):
            if count > 0:
                self.counts[value] = self.counts.get(value, 0.0) + float(count)

    def finish(self) -> None:
        given = [level for level in self.known or [] if level in self.counts]
        rest = sorted(set(self.counts) - set(given), key=lambda v: (type(v).__name__, v))
        levels = given + rest
        self.lumped = max(len(levels) - self.most_levels, 0)
        if self.lumped:
            by_count = sorted(levels, key=lambda v: (-self.counts[v], str(v)))
            keep = set(by_count[: self.most_levels - 1])
            self.lumped = len(levels) - len(keep)
            self.notes.append(
                f"column {self.name!r} has {len(levels):,} categories: the {len(keep):,} "
                f"commonest are kept, the other {self.lumped:,} are read as one, {OTHER}"
            )
            levels = [v for v in levels if v in keep]
        self.values = levels
        shares = [self.counts[v] for v in levels]
        if self.lumped:
            shares.append(sum(self.counts.values()) - sum(shares))
        total = sum(shares)
        self.shares = np.array(shares) / total if total else np.zeros(len(shares))
        self.first_column = int(self.one_hot and self.leave_out_first and len(shares) > 1)
        if self.first_column:
            self.notes.append(
                f"column {self.name!r}: its other categories are compared with {levels[0]!r}"
            )
        if not self.values:
            self.notes.append(f"column {self.name!r} has no value at all: it carries nothing")
        elif self.n_missing and not (self.keep_missing and not self.one_hot):
            shared = self.one_hot and not self.wide
            how = "the levels' shares" if shared else f"the commonest, {self._commonest()!r}"
            self.notes.append(
                f"column {self.name!r}: {self.n_missing:,} missing cells are read as {how}"
            )
        self.counts = {}

    def _commonest(self) -> Any:
        labels = [*self.values, OTHER]
        return labels[int(self.shares.argmax())]

    @property
    def names(self) -> Any:
        if not self.one_hot:
            return [self.name]
        return [f"{self.name}={label}" for label in self._labels()[self.first_column :]]

    def _labels(self) -> list[Any]:
        return [*self.values, OTHER] if self.lumped else self.values

    @property
    def levels(self) -> Any:
        return [0] * len(self.names) if self.one_hot else [max(len(self.shares), 1)]

    @property
    def wide(self) -> bool:
        """Whether there are so many columns that they are sparse ones."""
        return self.one_hot and len(self.shares) > MOST_DENSE_LEVELS

    def understood(self, values: Any, column: Any) -> Any:
        in_words = column.kind is Kind.BOOLEAN and column.levels
        return as_strings(values, column) if in_words else values

    def _places(self, column: Any) -> np.ndarray:
        """The level of each row, -1 where it is not known."""
        values, codes = dictionary(column)
        position = self._positions(column.type)
        unseen = len(self.values) if self.lumped else -1
        found = [position.get(value, position.get(_bare(value), unseen)) for value in values]
        if found and self.values and max(found) < 0:
            warn(
                f"Column {self.name!r}: none of its values ({listed(values)}) is among the "
                f"categories that were learnt ({listed(self.values)}); all are read as unknown."
            )
        return np.array([*found, -1], dtype=np.int64)[codes]

    def _positions(self, kind_of: pa.DataType) -> dict[Any, int]:
        """The place of each level; for a column of numbers also by the number that it is.

        Of several levels that are one number ("1" and "01"), that which is written plainly has it.
        A level with outer spaces, which files are read without, is found without them too.
        """
        position = {value: place for place, value in enumerate(self.values)}
        bare = Counter(map(_bare, self.values))
        position |= {_bare(v): p for v, p in position.items() if bare[_bare(v)] == 1}
        if not (pa.types.is_integer(kind_of) or pa.types.is_floating(kind_of)):
            return position
        spelled: dict[Any, list[str]] = {}
        for level in self.values:
            number = number_of(level)
            if number is not None:
                spelled.setdefault(number, []).append(level)
        for number, levels in spelled.items():
            plain = levels[0] if len(levels) == 1 else f"{number}"
            if plain in position:
                position[number] = position[plain]
        return position

    def sparse(self, column: Any) -> sp.csr_array:
        """One-hot columns of a column of many levels."""
        places = self._places(column)
        columns = np.where(places >= 0, places, self._commonest_code()) - self.first_column
        marked = columns >= 0
        starts = np.concatenate([[0], np.cumsum(marked)])
        shape = len(columns), len(self.shares) - self.first_column
        return sp.csr_array((np.ones(starts[-1]), columns[marked], starts), shape=shape)

    def encode(self, column: Any, out: Any) -> None:
        places = self._places(column)
        if not self.one_hot:
            unknown = np.nan if self.keep_missing else float(self._commonest_code())
            out[:, 0] = np.where(places >= 0, places, unknown)
            return
        out[:] = 0.0
        columns = places - self.first_column
        marked = columns >= 0
        out[np.flatnonzero(marked), columns[marked]] = 1.0
        out[places < 0] = self.shares[self.first_column :]

    def _commonest_code(self) -> int:
        return int(self.shares.argmax()) if len(self.shares) else 0

    def decode(self, numbers: Any) -> Any:
        if not self.one_hot:
            places = np.where(np.isnan(numbers[:, 0]), -1, numbers[:, 0]).astype(np.int64)
        elif self.first_column:
            first = 1 - numbers.sum(axis=1, keepdims=True)
            places = np.hstack([first, numbers]).argmax(axis=1)
        else:
            places = numbers.argmax(axis=1) if numbers.shape[1] else np.full(len(numbers), -1)
        labels = self._labels()
        return pa.array([labels[p] if 0 <= p < len(labels) else None for p in places.tolist()])


@storable
class DateCode(Code):
    """A date or time as its parts: days since 1970, year, month, day, weekday and hour.

    Parts that do not vary among the training rows are left out. Missing cells: as for numbers.
    """

    PARTS = ("days", "year", "month", "day", "weekday", "hour")
    _stored = {
        "high": Array("f8", (None,)),
        "keep_missing": Flag(),
        "low": Array("f8", (None,)),
        "means": Array("f8", (None,)),
        "n_missing": Whole(),
        "used": ListOf(Whole()),
        "weight": Number(),
    }

    def __init__(self, name: str, keep_missing: bool):
        super().__init__(name)
        self.keep_missing = keep_missing
        self.weight = 0.0
        self.n_missing = 0
        self.means = np.zeros(len(self.PARTS))
        self.low = np.full(len(self.PARTS), np.inf)
        self.high = np.full(len(self.PARTS), -np.inf)

    def look(self, column: Any, weights: Any) -> None:
        parts = date_parts(column)
        present = ~np.isnan(parts[:, 0])
        self.n_missing += int((~present).sum())
        weights = np.ones(len(parts)) if weights is None else weights
        added = float(weights[present].sum())
        if added > 0:
            self.weight += added
            self.means += weights[present] @ (parts[present] - self.means) / self.weight
            self.low = np.minimum(self.low, parts[present].min(axis=0))
            self.high = np.maximum(self.high, parts[present].max(axis=0))

    def finish(self) -> None:
        self.used = [0] + [p for p in range(1, len(self.PARTS)) if self.low[p] < self.high[p]]
        if self.n_missing and not self.keep_missing:
            self.notes.append(
                f"column {self.name!r}: {self.n_missing:,} missing dates are read as the mean date"
            )

    @property
    def names(self) -> Any:
        return [f"{self.name}:{self.PARTS[p]}" for p in self.used]

    def understood(self, values: Any, column: Any) -> Any:
        learnt = self._learnt(Kind.DATETIME)
        packed = pa.types.is_integer(values.type) and learnt.format
        if not packed and not is_words(values.type):
            return values
        strings = as_strings(values)
        if learnt.format:
            try:
                return recode(strings, learnt, written=True)[1]
            except ReadError:
                if packed:
                    raise self._no_dates(values) from None
        return missing.blank(pc.utf8_trim_whitespace(strings), missing.USUAL)

    def _no_dates(self, column: pa.ChunkedArray) -> DataError:
        pattern = self._learnt(Kind.DATETIME).format
        example = first_undated(column)
        return DataError(
            f"column {self.name!r} held dates when they were learnt; here it holds "
            f"{type_in_words(column.type)} such as {example!r}; give dates, or text such as "
            f"2026-01-31{f' or in the form {pattern}' if pattern else ''}"
        )

    def encode(self, column: Any, out: Any) -> None:
        if not could_be_dates(column):
            raise self._no_dates(column)
        try:
            parts = date_parts(column)
        except pa.ArrowInvalid:
            raise self._no_dates(column) from None
        if not self.keep_missing:
            parts = np.where(np.isnan(parts), self.means, parts)
        out[:] = parts[:, self.used]

    def decode(self, numbers: Any) -> Any:
        days = numbers[:, 0]
        missing = np.isnan(days)
        micros = np.rint(np.where(missing, 0, days) * DAY * 1e6).astype("datetime64[us]")
        return pa.array(micros, mask=missing)


@storable
class TextCode(Code):
    """Text as counts of its commonest words; not reversible.

    Parameters
    ----------
    name : str
    most_words : int
        Words kept: those in most training rows, and in at least two.
    """

    reversible = False
    _stored = {
        "most_words": Whole(),
        "rows_with": DictOf(Anything()),
        "vocabulary": ListOf(Text()),
    }

    def __init__(self, name: str, most_words: int):
        super().__init__(name)
        self.most_words = most_words
        self.rows_with: Any = Counter()  # weights need not be whole

    def look(self, column: Any, weights: Any) -> None:
        weights = np.ones(len(column)) if weights is None else weights
        counts = shared_counts()
        numbers, _, ends = counts.of(column.to_pylist())
        seen = np.bincount(numbers, np.repeat(weights, np.diff(ends)))
        for number in np.flatnonzero(seen > 0).tolist():
            if " " not in counts.names[number]:
                self.rows_with[counts.names[number]] += float(seen[number])

    def finish(self) -> None:
        several = [(word, n) for word, n in self.rows_with.items() if n >= 2]
        several.sort(key=lambda pair: (-pair[1], pair[0]))
        self.vocabulary = sorted(word for word, _ in several[: self.most_words])
        self.notes.append(
            f"column {self.name!r} is read as counts of its {len(self.vocabulary)} commonest words"
        )
        self.rows_with = Counter()

    @property
    def names(self) -> Any:
        return [f"{self.name}:{word}" for word in self.vocabulary]

    def encode(self, column: Any, out: Any) -> None:
        counts = shared_counts()
        numbers, times, ends = counts.of(column.to_pylist())
        places = counts.places(self.vocabulary)[numbers]
        known = places >= 0
        rows = np.repeat(np.arange(len(column)), np.diff(ends))
        out[:] = 0.0
        out[rows[known], places[known]] = times[known]


@storable
class TermCode(Code):
    """Text as weights of its words and pairs of adjacent words (TF-IDF), sparse; not reversible.

    A term that stands c times in a text and in m of n training rows weighs

        (1 + log c) (1 + log((1 + n) / (1 + m))),

    and the weights of a row have length one. A missing text has no terms.

    Parameters
    ----------
    name : str
    most_terms : int
        Terms kept: those in most training rows. Those of a single row are kept where there is
        room: on sentences of plays a linear machine names 1.4% more of them rightly.
    """

    reversible = False

    _stored = {
        "most_terms": Whole(),
        "n_rows": Number(),
        "n_entries": Whole(),
        "n_texts": Whole(),
        "rows_with": DictOf(Number()),
        "_pending": Optional(Nothing()),
        "vocabulary": ListOf(Text(), "n_terms"),
        "idf": Array("f8", ("n_terms",)),
    }

    def __init__(self, name: str, most_terms: int):
        super().__init__(name)
        self.most_terms = most_terms
        self.n_rows = 0.0
        self.n_entries = 0
        self.n_texts = 0
        self.rows_with: dict[str, float] = {}
        self._pending: tuple[TermCounts, np.ndarray] | None = None

    def look(self, column: Any, weights: Any) -> None:
        weights = np.ones(len(column)) if weights is None else weights
        counts = shared_counts()
        numbers, _, ends = counts.of(column.to_pylist())
        owners = np.repeat(weights, np.diff(ends))
        seen = np.bincount(numbers, owners, minlength=len(counts.names))
        self.n_rows += float(weights.sum())
        self.n_entries += len(numbers)
        self.n_texts += len(column)
        if self._pending is not None:
            self._gather(*self._pending)
        self._pending = counts, seen

    def _gather(self, counts: TermCounts, seen: np.ndarray) -> None:
        for number in np.flatnonzero(seen).tolist():
            term = counts.names[number]
            self.rows_with[term] = self.rows_with.get(term, 0.0) + float(seen[number])

    def finish(self) -> None:
        if self._pending is not None and not self.rows_with:
            names, seen = self._pending[0].names, self._pending[1]
        else:
            if self._pending is not None:
                self._gather(*self._pending)
            names, seen = list(self.rows_with), np.array(list(self.rows_with.values()))
        known = np.flatnonzero(seen > 0)
        kept = sorted((names[k], k) for k in self._commonest(names, seen, known))
        self.vocabulary = [term for term, _ in kept]
        rows_with = seen[[k for _, k in kept]] if kept else np.zeros(0)
        self.idf = 1 + np.log((1 + self.n_rows) / (1 + rows_with))
        cut = len(known) - len(kept)
        self.notes.append(
            f"column {self.name!r} is read as {len(kept):,} words and pairs of words, weighted by "
            "TF-IDF" + (f"; {cut:,} rarer ones are left out" if cut else "")
        )
        self.rows_with, self._pending = {}, None

    @property
    def names(self) -> Any:
        return [f"{self.name}:{term}" for term in self.vocabulary]

    @property
    def wide(self) -> bool:
        """Whether rows come as sparse ones, as those of categories of many levels do."""
        return len(self.vocabulary) > MOST_DENSE_LEVELS

    def _commonest(self, names: list[str], seen: np.ndarray, known: np.ndarray) -> list[int]:
        """Numbers of the terms in most rows; of equally common ones those that sort first."""
        if len(known) <= self.most_terms:
            return known.tolist()
        last = np.partition(seen[known], -self.most_terms)[-self.most_terms]
        more = known[seen[known] > last].tolist()
        ties = sorted(known[seen[known] == last].tolist(), key=lambda k: names[k])
        return more + ties[: self.most_terms - len(more)]

    @property
    def entries(self) -> int:
        """Terms of a training row, on the mean."""
        return -(-self.n_entries // max(self.n_texts, 1))

    def sparse(self, column: Any) -> sp.csr_array:
        """The weights of the terms of every text."""
        counts = shared_counts()
        numbers, times, ends = counts.of(column.to_pylist())
        places = counts.places(self.vocabulary)[numbers]
        known = places >= 0
        starts = np.concatenate([[0], np.cumsum(known)])[ends]
        places = places[known]
        values = (1 + np.log(times[known])) * self.idf[places]
        shape = len(column), len(self.vocabulary)
        rows = sp.csr_array((values, places, starts), shape=shape)
        lengths = np.sqrt(np.bincount(np.repeat(np.arange(shape[0]), np.diff(starts)), values**2))
        lengths = np.append(lengths, np.ones(shape[0] - len(lengths)))
        rows.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(starts))
        rows.sort_indices()
        return rows

    def encode(self, column: Any, out: Any) -> None:
        out[:] = self.sparse(column).toarray()


def _bare(value: Any) -> Any:
    """A word without outer spaces; other values as they are."""
    return value.strip() if isinstance(value, str) else value


def as_numbers(column: pa.ChunkedArray, name: str) -> np.ndarray:
    """A column as float64, missing cells as NaN."""
    try:
        numbers = pc.cast(column, pa.float64(), safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"column {name!r} must hold numbers and holds {type_in_words(column.type)}: "
            f"{first_other(column)}. Convert it to numbers, or give it another kind"
        ) from error
    return numbers.to_numpy()


def first_other(column: pa.ChunkedArray) -> str:
    """The first value that is no number, and its row."""
    for row, value in enumerate(column.to_pylist()):
        if value is not None and number_of(value) is None:
            return f"{value!r} in row {row}"
    return "in a form that is not known"


def first_undated(column: pa.ChunkedArray) -> Any:
    """The first value that cannot be read as a date."""
    known = column.drop_null()
    if is_words(column.type):
        for value in as_strings(known).unique():
            try:
                value.cast(pa.timestamp("us"))
            except pa.ArrowInvalid:
                return value.as_py()
    return known[0].as_py()


def number_of(value: Any) -> int | float | None:
    """The number that a word stands for; None for other words and other values."""
    if not isinstance(value, str):
        return None
    for reader in (int, float):
        try:
            return reader(value)
        except ValueError:
            continue
    return None


def type_in_words(kind_of: pa.DataType) -> str:
    """What a column of this type holds, for people."""
    if is_words(kind_of):
        return "words"
    if pa.types.is_temporal(kind_of):
        return "dates or times"
    if pa.types.is_boolean(kind_of):
        return "true and false"
    return "numbers" if pa.types.is_primitive(kind_of) else "other values"


def is_words(kind_of: pa.DataType) -> bool:
    """Whether a column of this type holds strings, perhaps as categories."""
    if pa.types.is_dictionary(kind_of):
        kind_of = kind_of.value_type
    return pa.types.is_string(kind_of) or pa.types.is_large_string(kind_of)


def refuse_other_unit(learnt: Column, here: Column) -> None:
    """Numbers in another unit than that of training are other numbers."""
    if learnt.unit and here.unit and learnt.unit != here.unit:
        raise DataError(
            f"column {here.name!r} was in {learnt.unit!r} when the model was fitted and is in "
            f"{here.unit!r} here; convert it to {learnt.unit!r}. If both mean the same, say so: "
            f"table.set({here.name!r}, unit={learnt.unit!r})"
        )


def plainly(learnt: Column) -> Column:
    """A column of written numbers, any of them, by its own marks: one it has not is not guessed."""
    if not learnt.kind.is_numeric:
        return learnt
    return replace(learnt, kind=Kind.NUMBER, decimal=learnt.decimal or ".")


def other_mark(learnt: Column, here: Column) -> str | None:
    """The sentence that warns of a mark before decimals that stood between thousands, or turned."""
    decimal = learnt.decimal or ("." if learnt.kind is Kind.NUMBER else None)
    decimal_here = here.decimal or ("." if here.reason == WRITTEN_NUMBERS else None)
    if here.thousands is not None and here.thousands == decimal:
        mark, before, now = here.thousands, "before decimals", "between thousands"
    elif decimal_here is not None and decimal_here == learnt.thousands:
        mark, before, now = decimal_here, "between thousands", "before decimals"
    else:
        return None
    return (
        f"Column {here.name!r}: {mark!r} stood {before} when the model was fitted and is read as "
        f"standing {now} here. If that is wrong, read the file with the schema of the training "
        "table, or with decimal= and thousands=."
    )


def boolean_words(strings: pa.ChunkedArray, words: Any) -> tuple[pa.ChunkedArray, list[str]]:
    """The strings with missing values in place of all but two words; which others there were."""
    cleaned = missing.blank(pc.utf8_trim_whitespace(strings), missing.USUAL)
    known = pa.array([word.lower() for word in words], pa.string())
    is_known = pc.is_in(pc.utf8_lower(cleaned), value_set=known)
    unseen = cleaned.filter(pc.invert(is_known)).drop_null().unique().to_pylist()
    return pc.if_else(is_known, cleaned, pa.scalar(None, pa.string())), unseen


def unseen_words(learnt: Column, unseen: list[str]) -> str:
    """The sentence that says what was taken as missing."""
    return (
        f"Column {learnt.name!r} held {' or '.join(map(repr, learnt.levels or ()))} when the model "
        f"was fitted; {counted(len(unseen), 'other word')} in it, taken as missing: "
        f"{listed(unseen)}."
    )


def listed(values: list[Any]) -> str:
    """The first of some values."""
    return ", ".join(map(repr, values[:5])) + (" ..." if len(values) > 5 else "")


def dictionary(column: pa.ChunkedArray) -> tuple[list[Any], np.ndarray]:
    """The distinct values of a column and, per row, the position of its value; -1 where missing."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return encoded.dictionary.to_pylist(), codes


def could_be_dates(column: pa.ChunkedArray) -> bool:
    """Whether the values of a column can be read as dates; where there is none, they can."""
    unlike = (pa.types.is_boolean, pa.types.is_floating, pa.types.is_integer)
    return column.null_count == len(column) or not any(each(column.type) for each in unlike)


def date_parts(column: pa.ChunkedArray) -> np.ndarray:
    """Days since 1970, year, month, day, weekday (Monday 0) and hour, as float64 with NaN."""
    if column.null_count == len(column):  # whatever type a column without a value was given
        return np.full((len(column), len(DateCode.PARTS)), np.nan)
    if pa.types.is_time(column.type):
        seconds = pc.cast(pc.cast(column, pa.time64("us")), pa.int64())
        micros = seconds.to_numpy().astype(np.float64)
        parts = np.zeros((len(column), len(DateCode.PARTS)))
        parts[:, 0] = micros / 1e6 / DAY
        parts[:, 5] = micros // 3.6e9
        parts[np.isnan(micros)] = np.nan
        return parts
    stamps = pc.cast(column, pa.timestamp("us"), safe=False)
    micros = pc.cast(stamps, pa.int64()).to_numpy().astype(np.float64)
    functions = (pc.year, pc.month, pc.day, pc.day_of_week, pc.hour)
    later = [pc.cast(function(stamps), pa.float64()).to_numpy() for function in functions]
    return np.column_stack([micros / 1e6 / DAY, *later])
