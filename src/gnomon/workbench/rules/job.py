"""The job `rules`: from baskets to the rules that are more than chance, or that there are none.

All frequent item sets are found; each rule with one item on the right is tested by Fisher's exact
test, corrected for all rules that the search has looked at; rules that a shorter one makes
redundant are left out. A fifth of the baskets is put aside to see how well rules of the others
complete a basket. Texts: beyond the texts; Agrawal and Srikant (1994); Webb (2007).
"""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import numpy as np

from gnomon.cluster import (
    Rule,
    association_rules,
    frequent_itemsets,
    suggest_items,
)
from gnomon.engine.errors import DataError
from gnomon.evaluate import share_interval
from gnomon.workbench.base.given import as_table, source_of
from gnomon.workbench.base.job import Request
from gnomon.workbench.base.runs import Run
from gnomon.workbench.rules.baskets import baskets_of
from gnomon.workbench.rules.options import JOB, RulesOptions
from gnomon.workbench.rules.result import Completion, RulesResult

PUT_ASIDE = 0.2  # the usual fifth for testing
MOST_COMPLETED = 2_000  # judgement: shares of 2,000 baskets are known to about two points
FEWEST_COMPLETED = 30  # judgement: the share completed from fewer baskets is known too poorly
N_ITEMS = 5  # judgement: suggestions that a customer is shown at once


@JOB.public
def rules(table: Any, options: RulesOptions, request: Request) -> RulesResult:
    """Find association rules among the items of baskets, with corrected p-values.

    Use it to see which items go together and to complete a basket. Where one column is to be
    predicted, use `gnomon.learn`.

    Returns
    -------
    result : RulesResult

    Examples
    --------
    >>> import gnomon
    >>> table = {"tea": [1, 0] * 30, "milk": [1, 0] * 28 + [0, 1] * 2, "salt": [1, 1, 0] * 20}
    >>> found = gnomon.rules(table)
    >>> [str(rule) for rule in found.rules]
    ['milk -> tea', 'tea -> milk']
    """
    begin = time.perf_counter()
    rows = as_table(table)
    source = source_of(table) or request.source
    with Run.begin(request.folder, rows, source, options, JOB.name) as run:
        found = baskets_of(rows, options)
        request.progress("frequent item sets", 0, 0)
        itemsets = frequent_itemsets(
            found.baskets, options.min_support, max_length=options.max_length
        )
        require_known(options.has, itemsets.items)
        run.decide(
            f"{len(itemsets.counts):,} item sets are frequent",
            f"at least {options.min_support:.2%} of {itemsets.n_baskets:,} baskets, at most "
            f"{options.max_length} items",
        )
        request.progress("tests of rules", 0, 0)
        everything = association_rules(
            itemsets, min_confidence=options.min_confidence, correction=options.correction
        )
        shown = [rule for rule in everything if rule.p < options.alpha]
        kept = [rule for rule in shown if not rule.redundant]
        run.decide(
            f"{len(kept):,} of {len(everything):,} rules are kept",
            f"corrected p below {options.alpha:g} over {itemsets.n_searched:,} rules searched, and "
            f"not redundant ({len(shown) - len(kept):,} are)",
        )
        kept.sort(key=lambda rule: (-rule.lift.low, str(rule)))
        request.progress("baskets put aside", 0, 0)
        completion = completed(found.baskets, options) if kept else None
        result = RulesResult(
            itemsets,
            kept,
            len(everything),
            len(shown) - len(kept),
            completion,
            suggest_items(options.has, kept) if options.has else [],
            run,
            options,
            found.notes,
        )
        result.seconds = time.perf_counter() - begin
        run.finish(result)
    return result


def require_known(has: list[str], items: list[Any]) -> None:
    """Refuse a basket with an item that no basket of the table holds."""
    unknown = [each for each in has if each not in items]
    if unknown:
        listed = ", ".join(map(str, items[:8]))
        raise DataError(
            f"has={unknown[0]!r} is in no basket; items are {listed}"
            f"{' ...' if len(items) > 8 else ''}"
        )


def completed(baskets: list[list[str]], options: RulesOptions) -> Completion | None:
    """How well rules of most baskets complete the others, one item of each taken out."""
    rng = np.random.default_rng(options.random_state)
    order = rng.permutation(len(baskets))
    count = int(PUT_ASIDE * len(baskets))
    training = [baskets[i] for i in order[count:].tolist()]
    aside = [sorted(set(baskets[i])) for i in order[:count].tolist()]
    aside = [basket for basket in aside if len(basket) > 1][:MOST_COMPLETED]
    if len(aside) < FEWEST_COMPLETED:
        return None
    itemsets = frequent_itemsets(training, options.min_support, max_length=options.max_length)
    learned = [
        rule
        for rule in association_rules(itemsets, correction=options.correction)
        if rule.p < options.alpha and not rule.redundant
    ]
    frequent = [item for item, _ in Counter(i for b in training for i in set(b)).most_common()]
    hits = popular = 0
    by_item = _by_first(learned)
    for basket in aside:
        taken = basket[int(rng.integers(len(basket)))]
        rest = [item for item in basket if item != taken]
        near = [rule for item in rest for rule in by_item.get(item, [])]
        said = [each.item for each in suggest_items(rest, near, n_items=N_ITEMS)]
        usual = [item for item in frequent if item not in rest][:N_ITEMS]
        # fewer rules than places: the most frequent items fill them
        said += [item for item in usual if item not in said][: N_ITEMS - len(said)]
        hits += taken in said
        popular += taken in usual
    n = len(aside)
    return Completion(share_interval(hits, n), share_interval(popular, n), n)


def _by_first(rules: list[Rule]) -> dict[Any, list[Rule]]:
    """Rules by the first item of their left side."""
    found: dict[Any, list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.left[0], []).append(rule)
    return found
