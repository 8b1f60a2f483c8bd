"""Items that occur together: frequent item sets, and association rules that are more than chance.

An item set is frequent where at least `min_support` of the baskets hold all of it. All of them are
found by Eclat: each set has the bits of its baskets, sets with a common beginning are joined by one
"and" of their bits, and a set that is not frequent is joined no further. A rule X -> y (who has X
also has y) has

    support n_Xy / n,   confidence n_Xy / n_X,   lift (n_Xy n) / (n_X n_y).

That X and y go together by chance is tested by Fisher's exact test, corrected for all rules that
the search has looked at, also those that were too rare. The log of the lift has the variance
1 / n_Xy - 1 / n_X - 1 / n_y + (2 lift - 1) / n (delta method). A rule is redundant where leaving
out an item of X loses nothing beyond chance (Webb, 2007: productive rules).

Texts: beyond the texts; Agrawal and Srikant (1994); Zaki (2000) for Eclat.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import scipy

from gnomon.contract.estimate import Estimate, share_interval
from gnomon.engine.errors import DataError
from gnomon.evaluate.significance import adjusted_p_values

MOST_SETS = 1_000_000  # judgement: some hundred megabytes of Python tuples
# p of the test that an item of X adds to a rule; 0.05 as Webb (2007).
ADDS = 0.05


class Itemsets(NamedTuple):
    """Frequent item sets.

    Attributes
    ----------
    items : list
        All items, sorted.
    counts : dict of tuple of int to int
        Baskets that hold each frequent set, by the places of its items.
    n_baskets : int
    n_searched : int
        Rules with one item on the right that the search has looked at, also rare ones.
    """

    items: list
    counts: dict[tuple[int, ...], int]
    n_baskets: int
    n_searched: int


class Rule(NamedTuple):
    """Who has the items on the left also has the one on the right.

    Attributes
    ----------
    left : tuple
    right : object
    count : int
        Baskets that hold all of them.
    support : Estimate
    confidence : Estimate
    lift : Estimate
        Confidence relative to the share of all baskets that hold the right item.
    p : float
        Of Fisher's exact test that left and right are independent, corrected.
    redundant : bool
        Whether the rule without one of its items on the left says as much.
    """

    left: tuple
    right: Hashable
    count: int
    support: Estimate
    confidence: Estimate
    lift: Estimate
    p: float
    redundant: bool

    def __str__(self) -> str:
        return f"{' + '.join(map(str, self.left))} -> {self.right}"


class Suggestion(NamedTuple):
    """An item for a basket, and the rule that suggests it."""

    item: Hashable
    rule: Rule


def frequent_itemsets(
    baskets: Iterable[Iterable[Hashable]], min_support: float = 0.01, *, max_length: int = 4
) -> Itemsets:
    """All item sets that at least a share of the baskets hold.

    Parameters
    ----------
    baskets : iterable of iterables
        The items of each basket; repeated ones count once.
    min_support : float, default=0.01
        Least share of the baskets.
    max_length : int, default=4
        Most items of a set.

    Returns
    -------
    found : Itemsets

    Examples
    --------
    >>> found = frequent_itemsets([["a", "b"], ["a", "b", "c"], ["a"], ["b"]], 0.5)
    >>> {"".join(found.items[i] for i in key): n for key, n in found.counts.items()}
    {'a': 3, 'b': 3, 'ab': 2}
    """
    if not 0 < min_support <= 1:
        raise DataError(f"min_support={min_support!r} must lie above 0 and be at most 1")
    bits, n = _bits(baskets)
    if n < 1:
        raise DataError("there are no baskets")
    least = max(int(np.ceil(min_support * n - 1e-9)), 1)
    items = sorted(bits, key=lambda item: (str(type(item)), item))
    places = {item: place for place, item in enumerate(items)}
    counts: dict[tuple[int, ...], int] = {}
    searched = 0
    alone = []
    for item in items:
        count = bits[item].bit_count()
        if count >= least:
            counts[(places[item],)] = count
            alone.append(((places[item],), bits[item]))
    # rare items first: their sets are few, so that the search ends early
    alone.sort(key=lambda each: (each[1].bit_count(), each[0]))
    stack = [alone]
    while stack:
        siblings = stack.pop()
        for place, (key, own) in enumerate(siblings):
            deeper = []
            for other, bits_of_other in siblings[place + 1 :]:
                joined = own & bits_of_other
                count = joined.bit_count()
                searched += len(key) + 1
                if count >= least:
                    new = (*key, other[-1])
                    counts[tuple(sorted(new))] = count
                    deeper.append((new, joined))
            if len(counts) > MOST_SETS:
                raise DataError(
                    f"more than {MOST_SETS:,} item sets are frequent; give a larger min_support or "
                    "a smaller max_length"
                )
            if len(key) + 1 < max_length and len(deeper) > 1:
                stack.append(deeper)
    ordered = dict(sorted(counts.items(), key=lambda each: (len(each[0]), each[0])))
    return Itemsets(items, ordered if max_length > 1 else _singles(ordered), n, searched)


def _bits(baskets: Iterable[Iterable[Hashable]]) -> tuple[dict[Hashable, int], int]:
    """For each item the bits of its baskets, as one whole number; and the number of baskets."""
    members: dict[Hashable, list[int]] = {}
    n = 0
    for n, basket in enumerate(baskets, 1):
        for item in set(basket):
            members.setdefault(item, []).append(n - 1)
    found = {}
    for item, rows in members.items():
        flags = np.zeros(n, dtype=np.uint8)
        flags[rows] = 1
        found[item] = int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")
    return found, n


def _singles(counts: dict[tuple[int, ...], int]) -> dict[tuple[int, ...], int]:
    return {key: count for key, count in counts.items() if len(key) == 1}


def association_rules(
    itemsets: Itemsets,
    *,
    min_confidence: float = 0.0,
    correction: str = "benjamini-hochberg",
    confidence_level: float = 0.95,
) -> list[Rule]:
    """Rules with one item on the right, the smallest corrected p first.

    Parameters
    ----------
    itemsets : Itemsets
    min_confidence : float, default=0.0
        Rules of less are left out; the correction counts them.
    correction : {"benjamini-hochberg", "holm"}, default="benjamini-hochberg"
        Bounds the share of false rules among those below a p, or the chance of any.
    confidence_level : float, default=0.95
        Level of the intervals.

    Returns
    -------
    rules : list of Rule

    Examples
    --------
    >>> baskets = [["tea", "milk"]] * 30 + [["coffee"]] * 30 + [["tea"]] * 5 + [["milk"]] * 5
    >>> rule = association_rules(frequent_itemsets(baskets, 0.1))[0]
    >>> print(rule, rule.confidence.value.__round__(2), bool(rule.p < 0.001))
    tea -> milk 0.86 True
    """
    counts, n = itemsets.counts, itemsets.n_baskets
    keys = [(key, right) for key in counts if len(key) > 1 for right in key]
    if not keys:
        return []
    both = np.array([counts[key] for key, _ in keys])
    left = np.array([counts[_without(key, right)] for key, right in keys])
    right = np.array([counts[(item,)] for _, item in keys])
    raw = scipy.stats.hypergeom.sf(both - 1, n, right, left)
    searched = max(itemsets.n_searched, len(keys))
    corrected = _corrected(np.clip(raw, 0, 1), searched, correction)
    z = scipy.stats.norm.ppf((1 + confidence_level) / 2)
    rules = []
    for place in np.lexsort((-both / left, corrected)).tolist():
        key, item = keys[place]
        if both[place] / left[place] < min_confidence:
            continue
        lift = both[place] * n / (left[place] * right[place])
        spread = 1 / both[place] - 1 / left[place] - 1 / right[place] + (2 * lift - 1) / n
        error = float(np.sqrt(max(spread, 0.0)))
        rules.append(
            Rule(
                tuple(itemsets.items[i] for i in key if i != item),
                itemsets.items[item],
                int(both[place]),
                share_interval(both[place], n, confidence_level),
                share_interval(both[place], left[place], confidence_level),
                Estimate(
                    lift,
                    lift * np.exp(-z * error),
                    lift * np.exp(z * error),
                    confidence_level,
                    lift * error,
                    "delta method on the log",
                ),
                float(corrected[place]),
                _is_redundant(key, item, counts),
            )
        )
    return rules


def _without(key: tuple[int, ...], item: int) -> tuple[int, ...]:
    return tuple(each for each in key if each != item)


def _corrected(raw: np.ndarray, searched: int, correction: str) -> np.ndarray:
    """Corrected p-values, as if every rule that was looked at and is too rare had p = 1."""
    if correction not in ("benjamini-hochberg", "holm"):
        raise DataError(f"correction={correction!r} is not benjamini-hochberg or holm")
    if searched <= 10 * MOST_SETS:
        return adjusted_p_values(np.concatenate([raw, np.ones(searched - len(raw))]), correction)[
            : len(raw)
        ]
    return np.minimum(raw * searched, 1.0)  # Bonferroni bounds both


def _is_redundant(key: tuple[int, ...], item: int, counts: dict[tuple[int, ...], int]) -> bool:
    """Whether some item on the left adds nothing beyond chance among baskets with the others."""
    others = _without(key, item)
    if len(others) == 1:
        return False
    n_both, n_left = counts[key], counts[others]
    for each in others:
        n_base = counts[_without(others, each)]
        n_base_right = counts[_without(key, each)]
        if scipy.stats.hypergeom.sf(n_both - 1, n_base, n_base_right, n_left) > ADDS:
            return True
    return False


def suggest_items(
    basket: Iterable[Hashable], rules: Sequence[Rule], *, n_items: int = 5
) -> list[Suggestion]:
    """What else goes with a basket: items of the rules whose left side it holds.

    Parameters
    ----------
    basket : iterable
    rules : sequence of Rule
    n_items : int, default=5
        Most items that are given.

    Returns
    -------
    suggestions : list of Suggestion
        Ordered by the lower end of the interval of the confidence, so that a rule of few baskets
        does not come first by luck.

    Examples
    --------
    >>> baskets = [["tea", "milk"]] * 30 + [["coffee"]] * 30 + [["tea"]] * 5 + [["milk"]] * 5
    >>> rules = association_rules(frequent_itemsets(baskets, 0.1))
    >>> [each.item for each in suggest_items(["tea"], rules)]
    ['milk']
    """
    has = set(basket)
    best: dict[Hashable, Rule] = {}
    for rule in rules:
        if rule.right in has or not has.issuperset(rule.left):
            continue
        known = best.get(rule.right)
        if known is None or rule.confidence.low > known.confidence.low:
            best[rule.right] = rule
    ordered = sorted(best.values(), key=lambda rule: (-rule.confidence.low, str(rule.right)))
    return [Suggestion(rule.right, rule) for rule in ordered[:n_items]]
