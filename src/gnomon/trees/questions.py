"""Questions that tell a row which branch to take: about one column, or about all of them.

Many questions stand in a few plain arrays, so that the rows at all nodes of a level are answered at
once and a tree of any size is stored in a handful of arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from gnomon.engine.storable import storable
from gnomon.engine.stored import Array

NONE, AT_MOST, BELOW, LEVELS, LINEAR, GAUSSIAN = range(6)
UNKNOWN = -1  # no branch
BLOCK_CELLS = 2**17  # numbers of a block: 1 MB


@storable
@dataclass(frozen=True)
class Questions:
    """Questions side by side.

    A question about a number asks ``x <= threshold`` or ``x < threshold`` and sends to branch `low`
    if so, else to `high`; one about a category looks the level's branch up; a linear one asks
    ``x . direction < threshold``; a Gaussian one sends to the branch whose density is greatest.
    Missing cells go to the branch `missing`; where that is -1, and for levels that the question
    does not know, there is no answer.

    Attributes
    ----------
    kind : int8 array (q,)
        0 none, 1 at most, 2 below, 3 levels, 4 linear, 5 Gaussian.
    feature : int32 array (q,)
        Column asked about; -1 where all are.
    threshold : float64 array (q,)
    low, high, missing : int16 arrays (q,)
        Branches.
    first_level, n_levels : int64 arrays (q,)
        Where the levels' branches stand in `level_branch`.
    level_branch : int16 array
    place : int64 array (q,)
        Row of `directions`, or first row of `means`.
    n_gaussians : int64 array (q,)
    directions : float64 array (n_linear, d)
    means : float64 array (n_gaussians, d)
    whiteners : float64 array (n_gaussians, d, d)
        ``(x - mean) @ whitener`` has unit covariance.
    offsets : float64 array (n_gaussians,)
        Added to minus half the squared distance.
    """

    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    low: np.ndarray
    high: np.ndarray
    missing: np.ndarray
    first_level: np.ndarray
    n_levels: np.ndarray
    level_branch: np.ndarray
    place: np.ndarray
    n_gaussians: np.ndarray
    directions: np.ndarray
    means: np.ndarray
    whiteners: np.ndarray
    offsets: np.ndarray
    _stored = {
        "directions": Array("f8", (None, "n_directions_1")),
        "feature": Array("i4", ("n_feature",), low=-1),
        "first_level": Array("i8", ("n_feature",), low=0),
        "high": Array("i2", ("n_feature",), low=0),
        "kind": Array("i1", ("n_feature",), low=0),
        "level_branch": Array("i2", (None,), low=-1),
        "low": Array("i2", ("n_feature",), low=0),
        "means": Array("f8", ("n_means", "n_directions_1")),
        "missing": Array("i2", ("n_feature",), low=-1),
        "n_gaussians": Array("i8", ("n_feature",), low=0),
        "n_levels": Array("i8", ("n_feature",), low=0),
        "offsets": Array("f8", ("n_means",)),
        "place": Array("i8", ("n_feature",), low=0),
        "threshold": Array("f8", ("n_feature",), finite=False),
        "whiteners": Array("f8", ("n_means", "n_directions_1", "n_directions_1")),
    }

    def __len__(self) -> int:
        return len(self.kind)

    def branches(self, which: np.ndarray, rows: np.ndarray, places: np.ndarray) -> np.ndarray:
        """The branch that question ``which[i]`` gives row ``places[i]``; -1 for no answer."""
        answers = np.full(len(which), UNKNOWN, np.int64)
        kinds = self.kind[which]
        axis = np.flatnonzero((kinds == AT_MOST) | (kinds == BELOW) | (kinds == LEVELS))
        if len(axis):
            answers[axis] = self._of_one_column(which[axis], rows, places[axis])
        for kind, answer in ((LINEAR, self._linear), (GAUSSIAN, self._gaussian)):
            asked = np.flatnonzero(kinds == kind)
            if len(asked):
                answers[asked] = answer(which[asked], rows, places[asked])
        return answers

    def _of_one_column(self, which, rows, places) -> np.ndarray:
        values = rows[places, self.feature[which]]
        thresholds = self.threshold[which]
        strict = self.kind[which] == BELOW
        is_low = np.where(strict, values < thresholds, values <= thresholds)
        answers = np.where(is_low, self.low[which], self.high[which]).astype(np.int64)
        levels = np.flatnonzero(self.kind[which] == LEVELS)
        answers[levels] = self._of_levels(which[levels], values[levels])
        gone = np.isnan(values)
        answers[gone] = self.missing[which[gone]]
        return answers

    def _of_levels(self, which, values) -> np.ndarray:
        known = (values >= 0) & (values < self.n_levels[which])
        answers = np.full(len(which), UNKNOWN, np.int64)
        at = self.first_level[which[known]] + values[known].astype(np.int64)
        answers[known] = self.level_branch[at]
        unseen = answers == UNKNOWN
        answers[unseen] = self.missing[which[unseen]]
        return answers

    def _linear(self, which, rows, places) -> np.ndarray:
        answers = np.empty(len(which), np.int64)
        size = max(BLOCK_CELLS // rows.shape[1], 1)
        for start in range(0, len(which), size):
            block = slice(start, start + size)
            directions = self.directions[self.place[which[block]]]
            projections = np.einsum("ij,ij->i", rows[places[block]], directions)
            below = projections < self.threshold[which[block]]
            answers[block] = np.where(below, self.low[which[block]], self.high[which[block]])
        return answers

    def _gaussian(self, which, rows, places) -> np.ndarray:
        answers = np.empty(len(which), np.int64)
        for question in np.unique(which):
            asked = np.flatnonzero(which == question)
            here = rows[places[asked]]
            first = self.place[question]
            scores = [
                self._log_density(first + branch, here)
                for branch in range(self.n_gaussians[question])
            ]
            answers[asked] = np.argmax(scores, axis=0)
        return answers

    def _log_density(self, gaussian: int, rows: np.ndarray) -> np.ndarray:
        standard = (rows - self.means[gaussian]) @ self.whiteners[gaussian]
        return self.offsets[gaussian] - 0.5 * (standard**2).sum(axis=1)

    def taken(self, which: np.ndarray) -> Questions:
        """Some of the questions, without what only the others need."""
        levels = consecutive(self.first_level[which], self.n_levels[which])
        gaussians = consecutive(self.place[which], self.n_gaussians[which])
        is_linear = self.kind[which] == LINEAR
        linear = self.place[which[is_linear]]
        place = np.cumsum(self.n_gaussians[which]) - self.n_gaussians[which]
        place[is_linear] = np.arange(len(linear))
        return Questions(
            kind=self.kind[which],
            feature=self.feature[which],
            threshold=self.threshold[which],
            low=self.low[which],
            high=self.high[which],
            missing=self.missing[which],
            first_level=np.cumsum(self.n_levels[which]) - self.n_levels[which],
            n_levels=self.n_levels[which],
            level_branch=self.level_branch[levels],
            place=place,
            n_gaussians=self.n_gaussians[which],
            directions=self.directions[linear],
            means=self.means[gaussians],
            whiteners=self.whiteners[gaussians],
            offsets=self.offsets[gaussians],
        )

    def _check_loaded(self) -> None:
        """Refuse arrays that do not fit together: they are used as positions."""
        q = len(self.kind)
        one_each = ("feature", "threshold", "low", "high", "missing", "first_level", "n_levels")
        one_each += ("place", "n_gaussians")
        levels, linear = self.kind == LEVELS, self.kind == LINEAR
        last = self.first_level + self.n_levels
        sound = (
            all(getattr(self, name).shape == (q,) for name in one_each)
            and ((self.kind >= NONE) & (self.kind <= GAUSSIAN)).all()
            and (self.first_level[levels] >= 0).all()
            and (self.n_levels >= 0).all()
            and (last[levels] <= len(self.level_branch)).all()
            and ((self.place[linear] >= 0) & (self.place[linear] < len(self.directions))).all()
            and (self.n_gaussians >= 0).all()
            and (self.place >= 0).all()
            and ((self.place + self.n_gaussians)[self.n_gaussians > 0] <= len(self.means)).all()
            and len(self.means) == len(self.whiteners) == len(self.offsets)
            and self.directions.ndim == 2
        )
        if not sound:
            raise ValueError("the arrays of a tree's questions do not fit together")


def consecutive(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """starts[0], starts[0] + 1 ... (counts[0] numbers), then from starts[1] on, and so forth.

    Examples
    --------
    >>> consecutive(np.array([5, 1]), np.array([2, 3]))
    array([5, 6, 1, 2, 3])
    """
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(counts.sum())


def make_question(
    kind: int,
    feature: int = -1,
    threshold: float = np.nan,
    low: int = 0,
    high: int = 1,
    missing: int = UNKNOWN,
    level_branch: np.ndarray | Sequence[int] = (),
    direction: np.ndarray | None = None,
    means: np.ndarray | None = None,
    whiteners: np.ndarray | None = None,
    offsets: np.ndarray | None = None,
    width: int = 0,
) -> Questions:
    """One question; see `Questions`."""
    level_branch = np.asarray(level_branch, np.int16)
    if direction is not None:
        width = len(direction)
    if means is None or whiteners is None or offsets is None:
        means = np.empty((0, width))
        whiteners, offsets = np.empty((0, width, width)), np.empty(0)
    return Questions(
        kind=np.array([kind], np.int8),
        feature=np.array([feature], np.int32),
        threshold=np.array([threshold]),
        low=np.array([low], np.int16),
        high=np.array([high], np.int16),
        missing=np.array([missing], np.int16),
        first_level=np.zeros(1, np.int64),
        n_levels=np.array([len(level_branch)]),
        level_branch=level_branch,
        place=np.zeros(1, np.int64),
        n_gaussians=np.array([len(means)]),
        directions=np.empty((0, width)) if direction is None else direction[None, :],
        means=means,
        whiteners=whiteners,
        offsets=offsets,
    )


def joined(questions: Sequence[Questions], width: int) -> Questions:
    """Questions one after the other; those of one column only have no width of their own."""
    if not questions:
        return _without_any(width)
    arrays = {}
    for field in fields(Questions):
        parts = [getattr(each, field.name) for each in questions]
        if field.name in ("directions", "means", "whiteners"):
            shape = (width,) * (parts[0].ndim - 1)
            parts = [part if len(part) else np.empty((0, *shape)) for part in parts]
        arrays[field.name] = np.concatenate(parts)
    n_levels = [len(each.level_branch) for each in questions]
    n_linear = [len(each.directions) for each in questions]
    n_gaussians = [len(each.means) for each in questions]
    shifts = np.repeat(np.cumsum([0, *n_levels[:-1]]), [len(each) for each in questions])
    arrays["first_level"] = arrays["first_level"] + shifts
    for kind, counts in ((LINEAR, n_linear), (GAUSSIAN, n_gaussians)):
        shifts = np.repeat(np.cumsum([0, *counts[:-1]]), [len(each) for each in questions])
        arrays["place"] = arrays["place"] + np.where(arrays["kind"] == kind, shifts, 0)
    return Questions(**arrays)


def _without_any(width: int) -> Questions:
    one = make_question(NONE, width=width)
    return Questions(**{field.name: getattr(one, field.name)[:0] for field in fields(Questions)})
