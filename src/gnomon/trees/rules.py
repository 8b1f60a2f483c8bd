"""Decision rules: if these conditions hold, then that; the first rule that fires decides.

A rule has conditions that must all hold and a consequent: a class, a distribution over classes, or
a label of several columns. Rules that are tested in order cannot contradict each other in effect,
but they may overlap with different consequents (the order then decides), and they may leave gaps
where none fires; both are found by arithmetic on the conditions, without data.

Texts: 003 2.4 · 004 6 (introduction).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnomon.contract import intake
from gnomon.engine.errors import DataError
from gnomon.engine.storable import storable
from gnomon.engine.stored import Anything, DictOf, ListOf, Number, Object
from gnomon.table.encode import TableEncoder
from gnomon.trees.conditions import Condition, Interval, LevelSet, NumberSet, Region, simplified
from gnomon.trees.naming import column_labels

MOST_GAPS = 10_000  # judgement: pieces grow with every rule, and no one reads so many


@storable
@dataclass(frozen=True)
class Rule:
    """If all conditions hold, then the label.

    Attributes
    ----------
    conditions : tuple of Condition
        None at all always holds.
    label : object
        A class, a number, or a dict of several columns.
    shares : dict or None
        Share of each class among the rows that it covers, where these are known.
    coverage : float or None
        Weight of the training rows that it fires for.
    accuracy : float or None
        Share of them that have its label (for numbers: their standard deviation about it).
    """

    conditions: tuple[Condition, ...]
    label: Any
    shares: dict | None = None
    coverage: float | None = None
    accuracy: float | None = None
    _stored = {
        "accuracy": Number(),
        "conditions": ListOf(Object(("Condition",)), kind=tuple),
        "coverage": Number(),
        "label": Anything(),
        "shares": DictOf(Number()),
    }

    def fires(self, columns: Mapping[str, np.ndarray], n_rows: int) -> np.ndarray:
        """Whether it fires, for each row."""
        fired = np.ones(n_rows, bool)
        for condition in self.conditions:
            fired &= condition.holds(columns)
        return fired

    def text(self, digits: int = 4, missing: bool = False) -> str:
        """The rule in words; with `missing`, it says also which tests missing cells pass."""
        tests = " and ".join(_bracketed(each.text(digits, missing)) for each in self.conditions)
        said = f"if {tests} then {_label_text(self.label)}" if tests else _label_text(self.label)
        if self.coverage is None or self.accuracy is None:
            return said
        how = f"{self.accuracy:.0%} right" if self.shares is not None else f"+- {self.accuracy:.3g}"
        rows = "row" if self.coverage == 1 else "rows"
        return f"{said}   [{self.coverage:g} {rows}, {how}]"

    def __str__(self) -> str:
        return self.text()


def _bracketed(test: str) -> str:
    return f"({test})" if " or " in test else test


def _label_text(label: Any) -> str:
    if isinstance(label, dict):
        return ", ".join(f"{name} = {value}" for name, value in label.items())
    return f"{label:.4g}" if isinstance(label, float) else str(label)


@dataclass(frozen=True)
class Contradiction:
    """Two rules of different labels that fire for the same rows, and where they do."""

    first: int
    second: int
    where: tuple[Condition, ...]
    labels: tuple[Any, Any]

    def __str__(self) -> str:
        where = " and ".join(map(str, self.where)) or "everywhere"
        one, other = map(_label_text, self.labels)
        return f"rules {self.first + 1} ({one}) and {self.second + 1} ({other}): {where}"


@storable
@dataclass
class RuleList:
    """Rules in order; the first that fires decides, and the default where none does.

    Use it to write knowledge down, to read a tree as rules, and to check rules for contradictions
    and gaps; it learns nothing by itself (`RuleListClassifier` does).

    Attributes
    ----------
    rules : list of Rule
    default : object
        The answer where no rule fires; None for no answer.
    encoder : TableEncoder or None
        How the table of a learnt list becomes columns.

    Examples
    --------
    >>> from gnomon.trees import RuleList
    >>> rules = RuleList.parse('''
    ...     if distance < 2 and sky == sunny then walk
    ...     if distance < 10 and sky == rainy then bus
    ...     else car
    ... ''')
    >>> table = {"distance": [1.0, 5.0, 30.0], "sky": ["sunny", "rainy", "sunny"]}
    >>> rules.predict(table).tolist()
    ['walk', 'bus', 'car']
    """

    rules: list[Rule]
    default: Any = None
    encoder: TableEncoder | None = field(default=None, repr=False)
    _stored = {
        "default": Anything(),
        "encoder": Object(("TableEncoder",)) | None,
        "rules": ListOf(Object(("Rule",))),
    }

    @classmethod
    def parse(cls, text: str | Iterable[str]) -> RuleList:
        """Rules written one per line: ``if age < 16 and gender == male then boy``.

        Tests are ``x < 3``, ``2 < x <= 5``, ``x == red``, ``x != red``, ``x in {red, blue}``,
        ``x not in {...}``, ``|x - 2.3| < 1.5``, ``x is missing``, ``x is present``, joined by
        ``and``. The label follows ``then`` or ``->``: a word, a number, ``name = value`` pairs, or
        shares ``{walk: 0.7, bus: 0.3}``. A line ``else label`` gives the default; so does ``else``
        at the end of a rule.

        Parameters
        ----------
        text : str or iterable of str

        Returns
        -------
        rules : RuleList
        """
        lines = text.splitlines() if isinstance(text, str) else list(text)
        rules, default = [], None
        for number, line in enumerate(lines, 1):
            line = line.strip().strip('"').rstrip(",")
            if not line or line.startswith("#"):
                continue
            rule, otherwise = _parsed_line(line, number)
            if rule is not None:
                rules.append(rule)
            if otherwise is not None:
                default = otherwise
        return cls(rules, default)

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __str__(self) -> str:
        return self.text()

    def text(self, digits: int = 4, missing: bool = False) -> str:
        """The rules in words, one per line; see `Rule.text`."""
        texts = [rule.text(digits, missing) for rule in self.rules]
        lines = [f"{number}. {text}" for number, text in enumerate(texts, 1)]
        if self.default is not None:
            lines.append(f"else {_label_text(self.default)}")
        return "\n".join(lines)

    @property
    def columns(self) -> list[str]:
        """The columns that the rules ask about, in order of appearance."""
        return list(dict.fromkeys(c.column for rule in self.rules for c in rule.conditions))

    def fired(self, X) -> np.ndarray:
        """Number of the first rule that fires, for each row; -1 where none does.

        Parameters
        ----------
        X : dict of columns, data frame, Table or array (columns x0, x1 ...)

        Returns
        -------
        numbers : ndarray of int
        """
        columns, n_rows = self._columns_of(X)
        return self.fired_for(columns, n_rows)

    def fired_for(self, columns: Mapping[str, np.ndarray], n_rows: int) -> np.ndarray:
        """`fired` of columns that are already at hand."""
        number = np.full(n_rows, -1)
        for k, rule in enumerate(self.rules):
            number[(number < 0) & rule.fires(columns, n_rows)] = k
        return number

    def predict(self, X) -> np.ndarray:
        """The label of the first rule that fires, for each row; else the default.

        Parameters
        ----------
        X : dict of columns, data frame, Table or array (columns x0, x1 ...)

        Returns
        -------
        labels : ndarray
            Of dicts where labels have several columns; None where no rule fires and there is no
            default.
        """
        labels = [rule.label for rule in self.rules] + [self.default]
        chosen = [labels[k] for k in self.fired(X)]
        if any(label is None or isinstance(label, dict) for label in labels):
            answers = np.empty(len(chosen), dtype=object)
            answers[:] = chosen
            return answers
        return np.array(chosen)

    def contradictions(self) -> list[Contradiction]:
        """Pairs of rules that fire together and have different labels.

        In a list the first of the two decides; a set of rules without order would contradict
        itself.

        Returns
        -------
        contradictions : list of Contradiction
        """
        found = []
        boxes = [_box(rule) for rule in self.rules]
        for j in range(len(boxes)):
            for i in range(j):
                if self.rules[i].label == self.rules[j].label:
                    continue
                both = _joined_boxes(boxes[i], boxes[j])
                if both is not None:
                    labels = self.rules[i].label, self.rules[j].label
                    found.append(Contradiction(i, j, _conditions(both), labels))
        return found

    def gaps(
        self, levels: Mapping[str, Iterable] | None = None, missing: bool = False
    ) -> list[tuple[Condition, ...]]:
        """Where no rule fires, as conditions that do not overlap; empty where every row is met.

        Parameters
        ----------
        levels : dict of str to list, default=None
            All levels of category columns, where these are known; else there may be others.
        missing : bool, default=False
            Whether rows with missing cells count.

        Returns
        -------
        gaps : list of tuples of Condition
        """
        kinds = {c.column: type(c.region) for rule in self.rules for c in rule.conditions}
        whole: dict[str, Region] = {}
        for column, kind in kinds.items():
            known = (levels or {}).get(column)
            if kind is NumberSet:
                whole[column] = NumberSet((Interval(),), missing)
            elif known is not None:
                whole[column] = LevelSet(frozenset(known), False, missing)
            else:
                whole[column] = LevelSet(frozenset(), True, missing)
        rest = [whole]
        for rule in self.rules:
            rest = [piece for box in rest for piece in _without(box, _box(rule))]
            if len(rest) > MOST_GAPS:
                raise ValueError(
                    f"the rules leave more than {MOST_GAPS:,} gaps; check fewer rules at a time"
                )
        return [
            tuple(Condition(c, region) for c, region in box.items() if region != whole[c])
            for box in rest
        ]

    def _columns_of(self, X) -> tuple[Mapping[str, np.ndarray], int]:
        if self.encoder is not None:
            table = intake.as_table(X).select(self.encoder.names_in)
            rows = self.encoder.transform(table)
            return EncodedColumns(rows, column_labels(self.encoder)), len(rows)
        if isinstance(X, Mapping):
            columns = {name: _plain(values) for name, values in X.items()}
        elif hasattr(X, "columns"):
            table = intake.as_table(X)
            columns = {name: _plain(table.column(name).to_pylist()) for name in self.columns}
        else:
            columns = {f"x{j}": column for j, column in enumerate(np.asarray(X).T)}
        absent = [name for name in self.columns if name not in columns]
        if absent:
            raise DataError(
                f"a rule asks about column {absent[0]!r}, which the table lacks; its columns are "
                f"{', '.join(map(repr, list(columns)[:20]))}"
            )
        return columns, len(next(iter(columns.values())))


class EncodedColumns(Mapping):
    """Columns of encoded rows by name, categories as their labels."""

    def __init__(self, rows: np.ndarray, labels: dict[str, tuple[int, list | None]]):
        self.rows = rows
        self.labels = labels
        self.made: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.made:
            j, labels = self.labels[name]
            self.made[name] = decoded(self.rows[:, j], labels)
        return self.made[name]

    def __iter__(self):
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)


def decoded(values: np.ndarray, labels: list | None) -> np.ndarray:
    """A column of codes as its labels, None where missing; numbers as they are."""
    if labels is None:
        return values
    lookup = np.empty(len(labels) + 1, dtype=object)
    lookup[: len(labels)] = labels
    codes = np.where(np.isnan(values), len(labels), values).astype(np.int64)
    return lookup[codes.clip(0, len(labels))]


def _plain(values) -> np.ndarray:
    values = list(values)
    kinds = {type(value) for value in values if value is not None}
    if kinds and all(issubclass(kind, (int, float, np.number)) for kind in kinds - {bool}):
        return np.array([np.nan if value is None else value for value in values], np.float64)
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


Box = dict[str, Region]


def _box(rule: Rule) -> Box:
    return {each.column: each.region for each in simplified(rule.conditions)}


def _conditions(box: Box) -> tuple[Condition, ...]:
    return tuple(Condition(column, region) for column, region in box.items())


def _joined_boxes(one: Box, other: Box) -> Box | None:
    """Where both hold; None where that is nowhere."""
    both = dict(one)
    for column, region in other.items():
        if column in both:
            if type(both[column]) is not type(region):
                return None
            region = both[column].joined(region)
        if region.is_empty:
            return None
        both[column] = region
    return both if not any(region.is_empty for region in both.values()) else None


def _without(box: Box, rule: Box) -> list[Box]:
    """A box without what a rule covers, in pieces that do not overlap."""
    if _joined_boxes(box, rule) is None:
        return [box]
    pieces = []
    inside = dict(box)
    for column, region in rule.items():
        outside = inside[column].joined(region.denied())
        if not outside.is_empty:
            pieces.append({**inside, column: outside})
        inside[column] = inside[column].joined(region)
    return pieces


ARROW = re.compile(r"\s*(?:->|→|⇒|=>|,?\s+then\b)\s*")
ELSE = re.compile(r"\s*[,;]?\s+else\s+", re.IGNORECASE)
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
NAME = r"[^<>=!|{}]+?"
WITHIN = re.compile(
    rf"^\|+\s*(?P<name>{NAME})\s*[-−]\s*(?P<center>{NUMBER})\s*\|+\s*"
    rf"(?P<sign><=|>=|<|>|≤|≥)\s*(?P<radius>{NUMBER})$"
)
BETWEEN = re.compile(
    rf"^(?P<low>{NUMBER})\s*(?P<first><=|<|≤)\s*(?P<name>{NAME})\s*(?P<second><=|<|≤)\s*"
    rf"(?P<high>{NUMBER})$"
)
AMONG = re.compile(rf"^(?P<name>{NAME})\s+(?P<sign>not in|in)\s*\{{(?P<values>.*)\}}$")
COMPARED = re.compile(rf"^(?P<name>{NAME})\s*(?P<sign>==|!=|<>|<=|>=|<|>|=|≤|≥|≠)\s*(?P<value>.+)$")
GONE = re.compile(r"^(?P<name>.+?)\s+is\s+(?P<what>missing|present)$")
SAME = {"≤": "<=", "≥": ">=", "=": "==", "<>": "!=", "≠": "!="}


def _parsed_line(line: str, number: int) -> tuple[Rule | None, Any]:
    """A rule and a default, either of which may be None."""
    if re.match(r"(?i)else\s", line):
        return None, _parsed_label(line[5:].strip())[0]
    parts = ARROW.split(line, maxsplit=1)
    if len(parts) != 2:
        raise ValueError(
            f'rule {number} has no "then" or "->" between its conditions and its label: {line!r}'
        )
    tests = re.sub(r"(?i)^if\s+", "", parts[0].strip())
    consequent, *otherwise = ELSE.split(parts[1], maxsplit=1)
    conditions = simplified(
        _parsed_condition(test.strip(), number)
        for test in re.split(r"(?i)\s+and\s+|\s*&+\s*", tests)
    )
    label, shares = _parsed_label(consequent.strip())
    default = _parsed_label(otherwise[0].strip())[0] if otherwise else None
    return Rule(conditions, label, shares), default


def _parsed_condition(test: str, number: int) -> Condition:
    if found := WITHIN.match(test):
        center, radius = float(found["center"]), float(found["radius"])
        sign = SAME.get(found["sign"], found["sign"])
        closed = sign in ("<=", ">")
        inside = NumberSet((Interval(center - radius, center + radius, closed, closed),))
        region = inside if sign.startswith("<") else _present(inside.denied())
        return Condition(found["name"].strip(), region)
    if found := BETWEEN.match(test):
        ends = found["first"] != "<", found["second"] != "<"
        interval = Interval(float(found["low"]), float(found["high"]), *ends)
        return Condition(found["name"].strip(), NumberSet((interval,)))
    if found := AMONG.match(test):
        values = frozenset(_value(each) for each in found["values"].split(",") if each.strip())
        others = found["sign"] == "not in"
        return Condition(found["name"].strip(), LevelSet(values, others))
    if found := GONE.match(test):
        nothing = NumberSet((), True)
        region = nothing if found["what"] == "missing" else nothing.denied()
        return Condition(found["name"].strip(), region)
    if found := COMPARED.match(test):
        sign = SAME.get(found["sign"], found["sign"])
        return Condition(found["name"].strip(), _compared(sign, found["value"], number, test))
    raise ValueError(
        f"rule {number}: {test!r} is no test such as 'x < 3', 'x == red' or 'x in {{}}'"
    )


def _present(region: NumberSet) -> NumberSet:
    return NumberSet(region.intervals, False)


def _compared(sign: str, written: str, number: int, test: str) -> Region:
    value = _value(written)
    if isinstance(value, float):
        intervals = {
            "<": [Interval(high=value)],
            "<=": [Interval(high=value, high_in=True)],
            ">": [Interval(low=value)],
            ">=": [Interval(low=value, low_in=True)],
            "==": [Interval(value, value, True, True)],
            "!=": [Interval(high=value), Interval(low=value)],
        }
        return NumberSet(tuple(intervals[sign]))
    if sign not in ("==", "!="):
        raise ValueError(f"rule {number}: {test!r} compares with {written!r}, which is no number")
    return LevelSet(frozenset([value]), sign == "!=")


def _value(written: str):
    written = written.strip()
    if re.fullmatch(NUMBER, written):
        return float(written)
    if written.lower() in ("true", "false"):
        return written.lower() == "true"
    return written.strip("'\"")


def _parsed_label(written: str) -> tuple[Any, dict | None]:
    """A label and, where shares are given, those."""
    written = written.strip().rstrip(".,;")
    if written.startswith("{") and written.endswith("}"):
        shares = {
            _value(name): float(share)
            for name, share in (pair.split(":") for pair in written[1:-1].split(","))
        }
        return max(shares, key=lambda name: shares[name]), shares
    pairs = [pair.split("=", 1) for pair in written.split(",")]
    if all(len(pair) == 2 for pair in pairs):
        values = {name.strip(): _value(value.lstrip("=")) for name, value in pairs}
        return (values if len(values) > 1 else next(iter(values.values()))), None
    return _value(written), None
