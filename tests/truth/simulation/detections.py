"""The interval of `detect` beside the precision on many more pictures of the same kind."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gnomon.vision import Detections, detection_precision
from gnomon.workbench.detect.job import _precision
from gnomon.workbench.detect.result import Found
from tests.truth.simulation.harness import Outcome, simulation
from tests.truth.simulation.learn import holds

PICTURES, MANY, PLACES = 20, 3_000, 12


class Kind(NamedTuple):
    """Objects per picture, share of the second class, share found, false boxes, spread of scores.

    `uneven`: in half of the pictures a third of that share is found.
    """

    objects: float
    rare: float
    found: float
    false: float
    spread: float
    uneven: bool = False


KINDS = {
    "one object": Kind(0.0, 0.5, 0.8, 0.3, 0.2),
    "many objects": Kind(4.0, 0.5, 0.7, 1.0, 0.2),
    "rare class": Kind(2.0, 0.15, 0.7, 0.5, 0.2),
    "many false boxes": Kind(2.0, 0.5, 0.7, 4.0, 0.2),
    "blind scores": Kind(2.0, 0.5, 0.7, 1.0, 5.0),
    "uneven pictures": Kind(2.0, 0.5, 0.9, 1.0, 0.2, uneven=True),
}


def picture(kind: Kind, rng: np.random.Generator) -> Found:
    """Objects at places of a grid, some of them found, and boxes at places without an object."""
    n = min(1 + int(rng.poisson(kind.objects)), PLACES - 4)
    places = rng.permutation(PLACES)
    labels = np.where(rng.random(PLACES) < kind.rare, "b", "a")
    share = kind.found / 3 if kind.uneven and rng.random() < 0.5 else kind.found
    hit = places[:n][rng.random(n) < share]
    false = places[n : n + min(int(rng.poisson(kind.false)), PLACES - n)]
    told = np.concatenate([hit, false])
    scores = np.repeat([0.6, 0.4], [len(hit), len(false)]) + kind.spread * rng.normal(
        size=len(told)
    )
    order = np.argsort(-scores)
    boxes = np.column_stack([20 * places, 0 * places, 20 * places + 10, 0 * places + 10])
    boxes = boxes[np.argsort(places)].astype(float)
    said = Detections(boxes[told[order]], scores[order], labels[told[order]])
    return Found(Path("p.png"), "p.png", said, (boxes[places[:n]], labels[places[:n]]), True)


@cache
def expected(law: str) -> float:
    """The precision on many pictures."""
    rng = np.random.default_rng(0)
    many = [picture(KINDS[law], rng) for _ in range(MANY)]
    return detection_precision([each.detections for each in many], [e.truth for e in many]).value


@simulation("detect", "mean average precision", laws=tuple(KINDS), quick=1, quick_laws=2)
def new_pictures(law: str, rng: np.random.Generator) -> Outcome:
    """Boxes that a detector might find in twenty pictures."""
    found = _precision([picture(KINDS[law], rng) for _ in range(PICTURES)], 0)
    return {"mean average precision": None if found is None else holds(found, expected(law))}
