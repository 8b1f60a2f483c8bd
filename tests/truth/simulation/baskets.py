"""What `rules` says of baskets whose items are independent, or linked in pairs."""

from __future__ import annotations

import numpy as np

from gnomon.workbench.rules.job import rules
from tests.truth.simulation.harness import Doubted, Outcome, simulation
from tests.truth.simulation.learn import holds

# number of baskets, and the share of them that holds each item
SHARES = {
    "equal shares": (300, np.full(12, 0.2)),
    "zipf": (300, 0.6 / np.arange(1, 13)),
    "rare items": (400, np.full(12, 0.04)),
    "common items": (300, np.full(12, 0.7)),
    "few baskets": (60, np.full(8, 0.3)),
    "two levels": (300, np.repeat([0.5, 0.06], 6)),
}
LINKS = (0.2, 0.35, 0.6)


def as_table(held: np.ndarray) -> dict[str, list[bool]]:
    return {f"i{j}": column.tolist() for j, column in enumerate(held.T)}


@simulation("rules", "rules beyond chance", laws=tuple(SHARES), quick=3)
def independent_items(law: str, rng: np.random.Generator) -> Outcome:
    """No item says anything of another."""
    n, shares = SHARES[law]
    found = rules(as_table(rng.random((n, len(shares))) < shares), max_length=3)
    return {"rules beyond chance": len(found.rules) > 0}


@simulation("rules", "confidence", "lift", laws=tuple(SHARES), quick=3)
def linked_items(law: str, rng: np.random.Generator) -> Outcome:
    """Of each pair of items the second is the first in a share of the baskets, else independent.

    Intervals count where a rule is shown, as a person sees them: the verdict says that those of the
    strongest of many rules hold less often.
    """
    n, shares = SHARES[law]
    link = float(rng.choice(LINKS))
    held = rng.random((n, len(shares))) < shares
    held[:, 1::2] = np.where(rng.random((n, len(shares) // 2)) < link, held[:, ::2], held[:, 1::2])
    first, second = shares[::2], link * shares[::2] + (1 - link) * shares[1::2]
    alone = np.column_stack([first, second]).ravel()
    both = np.outer(alone, alone)
    pairs = 2 * np.arange(len(first))
    both[pairs, pairs + 1] = both[pairs + 1, pairs] = first * (link + (1 - link) * shares[1::2])
    confidence, lift = [], []
    found = rules(as_table(held), max_length=2)
    for rule in found.rules:
        i, j = int(str(rule.left[0])[1:]), int(str(rule.right)[1:])
        confidence.append(holds(rule.confidence, both[i, j] / alone[i]))
        lift.append(holds(rule.lift, both[i, j] / (alone[i] * alone[j])))
    if not lift:
        return {"confidence": None, "lift": None}
    shares = {"confidence": float(np.mean(confidence)), "lift": float(np.mean(lift))}
    said = "of the strongest of many they hold less often" in found.verdict()
    return {name: Doubted(each) if said else each for name, each in shares.items()}
