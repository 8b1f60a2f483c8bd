"""What is worth knowing about a table before learning from it, and what to do about each thing.

Each check looks at one thing (constant columns, duplicates, leaks ...) and gives findings: how bad,
which columns, the figures, the remedy, and where there is one, the line of code that does it.
Texts: 004 chapter 5 (clean and structure data first) · 003 2.1 · 000a 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from gnomon.table.kinds import Kind

if TYPE_CHECKING:
    from gnomon.workbench.look import Look

SAME = 0.9999
NEARLY_CONSTANT = 0.995
GIVES_AWAY = 0.95
TIED = 0.98
FEW = 20
RARE_CLASS = 0.1
MOSTLY_MISSING = 0.5
MANY_LEVELS = 100
FEW_ROWS = 50
MANY_OUTLIERS = 0.05


@dataclass(frozen=True)
class Finding:
    """One thing about a table.

    Attributes
    ----------
    kind : {"bad", "warning", "note"}
        ``bad``: results would be wrong; ``warning``: decide about it; ``note``: good to know.
    about : str
        The topic: ``"leak"``, ``"constant"``, ``"duplicates"`` ...
    columns : tuple of str
    text : str
        What was found, with its figures.
    remedy : str
        What to do about it.
    code : str
        A line that does it to ``table``; empty where a person must decide.
    """

    kind: Literal["bad", "warning", "note"]
    about: str
    columns: tuple[str, ...]
    text: str
    remedy: str
    code: str = ""


def findings(look: Look) -> list[Finding]:
    """All findings about a table, the worst first."""
    rank = {"bad": 0, "warning": 1, "note": 2}
    found = [finding for check in CHECKS for finding in check(look)]
    return sorted(found, key=lambda finding: rank[finding.kind])


def _named(columns: tuple[str, ...] | list[str], most: int = 6) -> str:
    listed = ", ".join(repr(name) for name in columns[:most])
    return listed if len(columns) <= most else f"{listed} and {len(columns) - most} more"


def _drop(columns: tuple[str, ...]) -> str:
    return f"table = table.drop({list(columns)!r})"


def _few_rows(look: Look) -> Iterator[Finding]:
    n = len(look.table)
    if n < FEW_ROWS:
        yield Finding(
            "warning",
            "few rows",
            (),
            f"{n} row{'' if n == 1 else 's'}: intervals will be wide and tests weak",
            "collect more rows, or use a simple model and leave-one-out estimates",
        )


def _constant(look: Look) -> Iterator[Finding]:
    empty = tuple(each.name for each in look.summary if each.rows and each.missing == each.rows)
    if empty:
        yield Finding(
            "warning",
            "empty",
            empty,
            f"{_named(empty)}: all values are missing",
            "leave the column out, or find out why it was not filled",
            _drop(empty),
        )
    same = tuple(e.name for e in look.summary if e.distinct == 1 and e.rows > 1)
    if same:
        yield Finding(
            "warning",
            "constant",
            same,
            f"{_named(same)}: one value only",
            "a column that never changes says nothing; leave it out",
            _drop(same),
        )
    for each in look.summary:
        known = each.rows - each.missing
        share = (each.most_common_count or 0) / known if known else 0.0
        if each.distinct > 1 and share >= NEARLY_CONSTANT:
            yield Finding(
                "note",
                "nearly constant",
                (each.name,),
                f"{each.name!r}: {share:.2%} of the values are {each.most_common!r}",
                "check whether the rest are errors; few learners can use so rare a change",
            )


def _identifiers(look: Look) -> Iterator[Finding]:
    found = tuple(c.name for c in look.table.schema if c.kind is Kind.IDENTIFIER)
    if found:
        yield Finding(
            "note",
            "identifiers",
            found,
            f"{_named(found)}: a name for each row, left out by learners",
            "keep it to find rows again; set another kind if it means something",
        )


def _missing(look: Look) -> Iterator[Finding]:
    pattern = look.missing
    much = tuple(
        name
        for name, count in pattern.counts.items()
        if MOSTLY_MISSING * pattern.rows < count < pattern.rows
    )
    if much:
        yield Finding(
            "warning",
            "mostly missing",
            much,
            f"{_named(much)}: more than half of the values are missing",
            "leave the column out, or keep only whether it was filled",
        )
    if pattern.counts:
        share = 1 - pattern.complete_rows / pattern.rows
        yield Finding(
            "note",
            "missing",
            tuple(pattern.counts),
            f"{len(pattern.counts)} of {len(look.table.columns)} columns have missing values, "
            f"{share:.1%} of the rows at least one",
            "learners of gnomon take them as they are; do not drop such rows without a look at "
            "what they have in common",
        )
    for first, second, phi in pattern.together[:3]:
        yield Finding(
            "note",
            "missing together",
            (first, second),
            f"{first!r} and {second!r} are mostly missing in the same rows (correlation {phi:.2f})",
            "one cause may lie behind both: find it before filling them",
        )
    for name in dict.fromkeys(each[0] for each in pattern.related):
        rows = [each for each in pattern.related if each[0] == name]
        if rows[0][2] < 0.1:
            continue
        others = tuple(each[1] for each in rows[:3])
        yield Finding(
            "warning",
            "missing not at random",
            (name, *others),
            f"whether {name!r} is missing goes with {_named(others)} "
            f"(strength {rows[0][2]:.2f}, p {_p(rows[0][3])})",
            "filling it with a mean biases results; keep whether it was missing as a column, and "
            "do not drop the rows",
        )


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def _duplicates(look: Look) -> Iterator[Finding]:
    for count, apart in (
        (look.duplicate_rows, ""),
        (look.duplicate_rows_apart, " apart from identifiers"),
    ):
        if count:
            yield Finding(
                "warning",
                "duplicates",
                (),
                f"{count:,} row{'s repeat' if count > 1 else ' repeats'} an earlier one{apart} "
                f"({count / len(look.table):.1%})",
                "if they are the same thing entered twice, keep one: copies in both training and "
                "test rows make results look too good",
            )
            return


def _same_columns(look: Look) -> Iterator[Finding]:
    for pair in look.associations:
        if pair.strength < SAME or pair.n < 3 or look.target in (pair.first, pair.second):
            continue
        levels = {look.summary[name].distinct for name in (pair.first, pair.second)}
        if pair.measure == "correlation ratio" and len(levels) > 1:
            continue
        how = "have the same order" if pair.measure == "correlation" else "are one to one"
        if pair.pearson is not None and abs(pair.pearson) >= SAME:
            how = "lie on a straight line"
        yield Finding(
            "warning",
            "same columns",
            (pair.first, pair.second),
            f"{pair.first!r} and {pair.second!r} {how} (strength {pair.strength:.4f})",
            "keep the one that people understand; two share importance and blur explanations",
            _drop((pair.second,)),
        )


def _outliers(look: Look) -> Iterator[Finding]:
    for each in look.summary:
        if each.kind not in (Kind.NUMBER, Kind.INTEGER) or each.median is None:
            continue
        known = each.rows - each.missing
        if _looks_like_code(each):
            yield Finding(
                "warning",
                "stands for missing",
                (each.name,),
                f"{each.name!r}: {each.most_common_count:,} values are {each.most_common}, far "
                "from the others; it may stand for a missing value",
                "if it does, say so when reading: the schema's missing words",
            )
        if each.outliers and each.outliers > MANY_OUTLIERS * known:
            yield Finding(
                "note",
                "outliers",
                (each.name,),
                f"{each.name!r}: {each.outliers:,} values ({each.outliers / known:.1%}) lie "
                f"outside the whiskers of its box; it ranges from {each.minimum:.4g} to "
                f"{each.maximum:.4g}",
                "heavy tails: use ranks, logarithms or trees; look at the largest for errors",
            )
        if not (np.isfinite(each.minimum) and np.isfinite(each.maximum)):
            yield Finding(
                "warning",
                "infinite",
                (each.name,),
                f"{each.name!r} has infinite values",
                "a division by zero upstream? Make them missing, or repair them",
            )


def _looks_like_code(each) -> bool:
    """Whether the commonest number is an end of the range, far outside the box."""
    if not each.most_common_count or not each.iqr or each.most_common_count < 3:
        return False
    try:
        value = float(each.most_common)
    except ValueError:
        return False
    far = abs(value - each.median) > 5 * each.iqr
    return far and value in (each.minimum, each.maximum)


def _categories(look: Look) -> Iterator[Finding]:
    for each in look.summary:
        if each.kind.has_levels and each.distinct > MANY_LEVELS and each.name != look.target:
            rows = each.rows / each.distinct
            yield Finding(
                "note",
                "many levels",
                (each.name,),
                f"{each.name!r} has {each.distinct:,} levels, {rows:,.{0 if rows >= 100 else 1}f} "
                "rows each on average",
                "join rare levels, or use what the level stands for (a region for a postcode)",
            )


def _target(look: Look) -> Iterator[Finding]:
    if look.target is None:
        return
    each = look.summary[look.target]
    if each.missing:
        yield Finding(
            "warning",
            "target missing",
            (look.target,),
            f"the target is missing in {each.missing:,} rows, which cannot be learned from",
            "find out whether those rows differ from the others",
        )
    if each.distinct < 2:
        yield Finding(
            "bad",
            "target constant",
            (look.target,),
            f"the target {look.target!r} has {each.distinct} value"
            f"{'' if each.distinct == 1 else 's'}: there is nothing to predict",
            "choose another target, or find rows with another outcome",
        )
    if each.kind in (Kind.IDENTIFIER, Kind.TEXT):
        yield Finding(
            "bad",
            "target kind",
            (look.target,),
            f"the target {look.target!r} is of kind {each.kind}: "
            f"{look.table.schema[look.target].reason}",
            "choose another target, or set its kind in the schema",
        )
    total = sum(look.class_counts.values())
    rare = {c: n for c, n in look.class_counts.items() if n < RARE_CLASS * total}
    if rare and each.kind in (Kind.CATEGORY, Kind.ORDERED, Kind.BOOLEAN) and each.distinct <= 20:
        name = min(rare, key=lambda c: rare[c])
        share = rare[name] / total
        yield Finding(
            "warning",
            "unbalanced classes",
            (look.target,),
            f"the class {name!r} of {look.target!r} has {rare[name]:,} rows ({share:.1%})",
            "judge by recall, precision or cost, not by accuracy; stratify splits",
        )


def _leaks(look: Look) -> Iterator[Finding]:
    if look.target is None:
        return
    for name, share, error in look.overview.of(look.target):
        if share >= GIVES_AWAY:
            yield Finding(
                "bad",
                "leak",
                (name,),
                f"{name!r} alone explains {share:.1%} ± {error:.1%} of the target on unseen rows: "
                "it gives the target away",
                "is it known before the outcome is? If not, leave it out",
                _drop((name,)),
            )
    said = {name for name, share, _ in look.overview.of(look.target) if share >= GIVES_AWAY}
    for pair in look.associations:
        names = {pair.first, pair.second}
        name = next(iter(names - {look.target}))
        if look.target in names and pair.strength >= TIED and name not in said and pair.n >= FEW:
            yield Finding(
                "bad",
                "leak",
                (name,),
                f"{name!r} goes with the target almost without exception ({pair.measure} "
                f"{pair.strength:.3f}): it gives the target away",
                "is it known before the outcome is? If not, leave it out",
                _drop((name,)),
            )
    for name, other, strength, _ in look.missing.related:
        if other == look.target and strength >= 0.5:
            yield Finding(
                "bad",
                "leak",
                (name,),
                f"whether {name!r} is filled gives the target away (strength {strength:.2f})",
                "it may be filled in after the outcome; if so, leave it out",
                _drop((name,)),
            )


def _order(look: Look) -> Iterator[Finding]:
    for name in look.table.sorted_by_class():
        if name == look.target:
            yield Finding(
                "warning",
                "sorted",
                (name,),
                f"the rows are sorted by {name!r}",
                "shuffle before splitting (gnomon's splits do)",
                "table = table.shuffle(random_state=0)",
            )


CHECKS = (
    _leaks,
    _target,
    _few_rows,
    _constant,
    _same_columns,
    _duplicates,
    _missing,
    _outliers,
    _categories,
    _identifiers,
    _order,
)
