"""What is worth knowing about a table before learning from it, and what to do about each thing.

Each check looks at one thing (constant columns, duplicates, leaks ...) and gives findings: how bad,
which columns, the figures, the remedy, and where there is one, the line of code that does it.
Texts: 004 chapter 5 (clean and structure data first) · 003 2.1 · 000a 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import special

from gnomon.table.kinds import Kind
from gnomon.table.summary import four_digits
from gnomon.workbench.analysis.associations import Association, as_numbers
from gnomon.workbench.analysis.problem import FEW_VALUES
from gnomon.workbench.analysis.series_hint import forecast_hint, series_time
from gnomon.workbench.look.finding import Finding, named
from gnomon.workbench.look.result import Look

SAME = 0.9999  # judgement: alike but for rounding or a few cells
# Judgement: one row in 200 differs: folds and trees see next to nothing of it.
NEARLY_CONSTANT = 0.995
GIVES_AWAY = 0.95  # judgement: share of the target's variation; a hint to look, learn checks it
TIED = 0.98  # judgement: as strong as the same quantity measured twice
FEW = 20  # judgement: with fewer pairs a tie of 0.98 can be chance in a wide table
# Missing cells below which no test says what they go with.
FEW_HOLES = 10
RARE_CLASS = 0.1
MOSTLY_MISSING = 0.5
MANY_LEVELS = 100
FEW_ROWS = 50
MANY_OUTLIERS = 0.05
# Of normal values 0.7% lie outside; of few more, unevenly, as their quartiles vary: with so much
# more per square root of the rows, 5 of 20, 7 of 50 and 9 of 90 are as rare as binomial counts.
NORMAL_OUTLIERS, OF_FEW = 0.01, 0.2
FEWEST_CODES = 3
CHANCE = 0.05  # the usual level, of all columns together


def findings(look: Look) -> list[Finding]:
    """All findings about a table, the worst first."""
    rank = {"bad": 0, "warning": 1, "note": 2}
    found = [finding for check in CHECKS for finding in check(look)]
    return sorted(found, key=lambda finding: rank[finding.kind])


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
    empty = tuple(each.name for each in look.columns if each.rows and each.missing == each.rows)
    if empty:
        yield Finding(
            "warning",
            "empty",
            empty,
            f"{named(empty)}: all values are missing",
            "leave the column out, or find out why it was not filled",
            _drop(empty),
        )
    same = tuple(e.name for e in look.columns if e.distinct == 1 and e.rows > 1)
    if same:
        yield Finding(
            "warning",
            "constant",
            same,
            f"{named(same)}: one value only",
            "a column that never changes says nothing; leave it out",
            _drop(same),
        )
    for each in look.columns:
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
            f"{named(found)}: a name for each row, left out by learners",
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
            f"{named(much)}: more than half of the values are missing",
            "leave the column out, or keep only whether it was filled",
        )
    if pattern.counts:
        share = 1 - pattern.complete_rows / pattern.rows
        yield Finding(
            "note",
            "missing",
            tuple(pattern.counts),
            f"missing values stand in {len(pattern.counts)} of {len(look.table.columns)} columns, "
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
    for others, names, strength, p in _missing_alike(look):
        several = len(names) > 1
        yield Finding(
            "warning",
            "missing not at random",
            (*names, *others),
            f"whether {named(names)} {'are' if several else 'is'} missing goes with "
            f"{named(others)} (strength {'up to ' if several else ''}{strength:.2f}, p {_p(p)})",
            f"filling {'them' if several else 'it'} with one value biases results; keep whether "
            f"{'they were' if several else 'it was'} missing as a column, and do not drop the rows",
        )


def _missing_alike(look: Look) -> list[tuple[tuple[str, ...], tuple[str, ...], float, float]]:
    """Columns whose holes go with the same others: the others, the columns, strength and p."""
    found: dict[tuple[str, ...], list[tuple[str, float, float]]] = {}
    for name in dict.fromkeys(each[0] for each in look.missing.related):
        rows = [each for each in look.missing.related if each[0] == name]
        if rows[0][2] >= 0.1 and look.missing.counts[name] >= FEW_HOLES:
            others = tuple(each[1] for each in rows[:3])
            found.setdefault(others, []).append((name, rows[0][2], rows[0][3]))
    return [
        (
            others,
            tuple(name for name, _, _ in each),
            max(strength for _, strength, _ in each),
            max(p for _, _, p in each),
        )
        for others, each in found.items()
    ]


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
        if not pair.strength >= SAME or pair.n < 3 or look.target in (pair.first, pair.second):
            continue
        levels = {look.columns[name].distinct for name in (pair.first, pair.second)}
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
    for each in look.columns:
        if each.kind not in (Kind.NUMBER, Kind.INTEGER) or each.median is None:
            continue
        code = _code(look, each)
        if code is not None:
            value, count = code
            yield Finding(
                "warning",
                "stands for missing",
                (each.name,),
                f"{each.name!r}: {count:,} values are {value:g}, far from the others; it may stand "
                "for a missing value",
                "if it does, read the file again with it as a missing word of the column: "
                f"gnomon.read(file, schema=table.schema.set({each.name!r}, missing=['{value:g}']))",
            )
        if not (np.isfinite(each.minimum) and np.isfinite(each.maximum)):
            yield Finding(
                "bad",
                "infinite",
                (each.name,),
                f"{each.name!r} is infinite in {_infinite_rows(look, each.name)}: no learner can "
                "use that",
                "a division by zero upstream? Leave the cells empty, or repair them",
            )


def _heavy_tails(look: Look) -> Iterator[Finding]:
    shares = {}
    for each in look.columns:
        known = each.rows - each.missing
        if each.kind in (Kind.NUMBER, Kind.INTEGER) and each.distinct > FEW_VALUES:
            outside = each.outliers or 0
            p = chance_of_outliers(outside, known) * len(look.columns)
            if outside > MANY_OUTLIERS * known and p < CHANCE:
                shares[each.name] = outside / known
    many = sorted(shares, key=lambda n: -shares[n])
    if not many:
        return
    listed = [
        f"{n!r} ({shares[n]:.1%}, {four_digits(look.columns[n].minimum)} to "
        f"{four_digits(look.columns[n].maximum)})"
        for n in many[:6]
    ]
    more = f" and {len(many) - 6} more" if len(many) > 6 else ""
    yield Finding(
        "note",
        "outliers",
        tuple(many),
        f"many values lie outside the whiskers of their box: {', '.join(listed)}{more}",
        "heavy tails: use ranks, logarithms or trees; look at the largest for errors",
    )


def chance_of_outliers(outside: int, known: int) -> float:
    """Chance that so many of some normal values lie outside the whiskers of their box."""
    share = min(NORMAL_OUTLIERS + OF_FEW / np.sqrt(known), 1.0)
    return float(special.bdtrc(outside - 1, known, share))


def _infinite_rows(look: Look, name: str) -> str:
    infinite = np.flatnonzero(np.isinf(look.table.column(name).to_numpy()))
    listed = ", ".join(f"{row + 1:,}" for row in infinite[:5])
    more = f" and {len(infinite) - 5:,} more" if len(infinite) > 5 else ""
    return f"row{'' if len(infinite) == 1 else 's'} {listed}{more}"


def _code(look: Look, each: Any) -> tuple[float, int] | None:
    """A repeated number at an end of the range, farther off than the box of the others is wide."""
    if each.distinct <= FEW_VALUES:
        return None
    values = as_numbers(look.table.column(each.name))
    values = values[~np.isnan(values)]
    for end in (each.minimum, each.maximum):
        count = int((values == end).sum())
        if not FEWEST_CODES <= count <= len(values) / 2:
            continue
        others = values[values != end]
        low, high = np.percentile(others, [25, 75])
        if np.abs(others - end).min() > high - low > 0:
            return float(end), count
    return None


def _categories(look: Look) -> Iterator[Finding]:
    for each in look.columns:
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
    each = look.columns[look.target]
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
    if each.kind is Kind.INTEGER and 2 < each.distinct <= FEW_VALUES:
        yield Finding(
            "note",
            "target of few values",
            (look.target,),
            f"the target {look.target!r} has {each.distinct} whole numbers only, and is learnt as "
            "an amount",
            "if they name classes: gnomon learn --task classify",
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


def _is_moment(look: Look, name: str) -> bool:
    return look.table.schema[name].kind is Kind.DATETIME


def _leak(name: str, text: str) -> Finding:
    return Finding(
        "bad",
        "leak",
        (name,),
        f"{text}: it gives the target away",
        "is it known before the outcome is? If not, leave it out",
        _drop((name,)),
    )


def _trend(name: str, text: str) -> Finding:
    return Finding(
        "warning",
        "trend",
        (name,),
        f"{text}: the target changes with time",
        f"split by time: gnomon learn --time {name!r}. Trees cannot go beyond what they have seen",
    )


def _leaks(look: Look) -> Iterator[Finding]:
    if look.target is None:
        return
    said = set()
    for pair in look.with_target:
        name = pair.second if pair.first == look.target else pair.first
        if not pair.strength >= TIED or pair.n < FEW:
            continue
        said.add(name)
        how = f"goes with the target almost without exception ({pair.measure} {pair.strength:.3f})"
        if _is_moment(look, name):
            yield _trend(name, f"{name!r} {how}")
        else:
            yield _leak(name, f"{name!r} {how if pair.pearson is None else how_tied(pair)}")
    for name, share, error in look.predictors:
        if share < GIVES_AWAY or name in said:
            continue
        text = f"{name!r} alone explains {share:.1%} ± {error:.1%} of the target on unseen rows"
        yield _trend(name, text) if _is_moment(look, name) else _leak(name, text)
    for name, other, strength, _ in look.missing.related:
        if other == look.target and strength >= 0.5 and look.missing.counts[name] >= FEW_HOLES:
            yield Finding(
                "bad",
                "leak",
                (name,),
                f"whether {name!r} is filled gives the target away (strength {strength:.2f})",
                "it may be filled in after the outcome; if so, leave it out",
                _drop((name,)),
            )


def how_tied(pair: Association) -> str:
    """How a column of numbers goes with the target, in words."""
    assert pair.pearson is not None
    assert pair.spearman is not None
    if abs(pair.pearson) >= TIED:
        return (
            f"lies on a straight line with the target (r = {pair.pearson:.4f}), as if it were "
            "the target in another unit"
        )
    return (
        f"has nearly the order of the target (rank correlation {pair.spearman:.4f}), as if it "
        "were the target on another scale"
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


def _series(look: Look) -> Iterator[Finding]:
    hint = forecast_hint(look.table, look.target)
    if hint:
        time = series_time(look.table)
        yield Finding(
            "note",
            "series",
            (str(time),),
            f"one row for each date of {time!r}: this may be a series, whose next values depend on "
            "those before",
            f"to forecast it: {hint}",
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
    _heavy_tails,
    _categories,
    _identifiers,
    _order,
    _series,
)
