"""Boosted stumps: columns are binned once, then each round is one pass over bytes.

A stump asks one question about one column. With class weights summed per bin, the best threshold
of a column is read off its running sums; so a round costs rows x columns byte look-ups and no sort.
Weights are whole numbers (fixed point), so that sums are exact: the order of rows and of
threads changes nothing, and a row of weight k is exactly k rows. For two classes one signed sum
per bin suffices: the weight classified right less that classified wrong is |D_left| + |D_right|,
with D the sum of signed weights.

Texts: 000b 12.2.3 (weighted stump) · 002 "AdaBoost".
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from gnomon.engine.kernel import kernel
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array
from gnomon.engine.threads import in_order, resolve_jobs
from gnomon.trees.binning import MISSING_BIN, N_CODES, Binned, Binner

ROWS_AT_ONCE = 4096  # signed weights of a block, 32 kB, stay in the first-level cache
BITS = 61  # sums of whole numbers in an int64, with a bit for the sign and one to spare
FEW_CELLS = 2**16  # judgement: binning so few cells takes less than waking threads


@storable
class Stumps:
    """Questions about one column each, with the class on either side.

    Attributes
    ----------
    feature, left, right : int64 arrays of shape (n_stumps,)
        The column, and the class codes of its two sides.
    threshold : float64 array of shape (n_stumps,)
        Values up to it go left.
    missing_left : uint8 array of shape (n_stumps,)
        Whether missing values go left.
    levels : int64 array of shape (n_stumps,)
        The row of ``masks`` for a column of categories; -1 for numbers.
    masks : uint8 array of shape (n_masks, 256)
        Which levels go left.
    """

    _stored = {
        "feature": Array("i8", ("n_feature",), low=0),
        "left": Array("i8", ("n_feature",), low=0),
        "levels": Array("i8", ("n_feature",), low=-1),
        "masks": Array("u1", (None, None)),
        "missing_left": Array("u1", ("n_feature",)),
        "right": Array("i8", ("n_feature",), low=0),
        "threshold": Array("f8", ("n_feature",)),
    }

    def __init__(self):
        self.feature = np.empty(0, np.int64)
        self.left = np.empty(0, np.int64)
        self.right = np.empty(0, np.int64)
        self.threshold = np.empty(0)
        self.missing_left = np.empty(0, np.uint8)
        self.levels = np.empty(0, np.int64)
        self.masks = np.empty((0, N_CODES), np.uint8)

    def __len__(self) -> int:
        return len(self.feature)

    def first(self, n: int) -> Stumps:
        """The first n stumps."""
        return self.at(np.arange(min(n, len(self))))

    def at(self, places: np.ndarray) -> Stumps:
        """Some of the stumps."""
        made = Stumps()
        for name in ("feature", "left", "right", "threshold", "missing_left", "levels"):
            setattr(made, name, getattr(self, name)[places])
        made.masks = self.masks
        return made

    def votes(self, rows: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
        """Sum of the stumps' weights per class, for rows of numbers: (n, n_classes)."""
        votes = np.zeros((rows.shape[0], n_classes))
        add_votes(
            np.ascontiguousarray(rows, dtype=np.float64),
            self.feature,
            self.threshold,
            self.missing_left,
            self.left,
            self.right,
            self.levels,
            self.masks,
            weights,
            votes,
        )
        return votes

    def codes(self, rows: np.ndarray) -> np.ndarray:
        """The class code that each stump gives each row: (n, n_stumps)."""
        found = np.empty((rows.shape[0], len(self)), dtype=np.int64)
        for m in range(len(self)):
            one = self.at(np.array([m]))
            greatest = int(max(one.left[0], one.right[0])) + 1
            found[:, m] = one.votes(rows, np.ones(1), greatest).argmax(axis=1)
        return found

    def check(self, n_columns: int, n_classes: int) -> None:
        """Raise where values from a file do not fit together."""
        n = len(self.feature)
        for name in ("left", "right", "threshold", "missing_left", "levels"):
            if getattr(self, name).shape != (n,):
                raise ValueError(f"the stumps' {name} has another length than their columns")
        if n and not (self.feature.min() >= 0 and self.feature.max() < n_columns):
            raise ValueError("a stump tests a column that the model does not have")
        for side in (self.left, self.right):
            if n and not (side.min() >= 0 and side.max() < n_classes):
                raise ValueError("a stump names a class that the model does not have")
        if self.masks.ndim != 2 or self.masks.shape[1] != N_CODES or self.masks.dtype != np.uint8:
            raise ValueError("the stumps' masks are not of 256 levels")
        if n and not (self.levels.min() >= -1 and self.levels.max() < len(self.masks)):
            raise ValueError("a stump names a mask that the model does not have")
        wanted = {"feature": "i8", "left": "i8", "right": "i8", "threshold": "f8", "levels": "i8"}
        for name, kind in wanted.items():
            if getattr(self, name).dtype != np.dtype(kind):
                raise ValueError(f"the stumps' {name} is not of the right type")
        if self.missing_left.dtype != np.uint8:
            raise ValueError("the stumps' missing_left is not of the right type")


class StumpFinder:
    """Finds the stump of the least weighted error, round after round.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n, d)
    y : int64 array of shape (n,)
        Class codes.
    n_classes : int
    weights : ndarray or None
        Weights of the rows.
    is_category : bool array of shape (d,)
    n_jobs : int or None
    """

    def __init__(self, rows, y, n_classes: int, weights, is_category, n_jobs):
        n_jobs = resolve_jobs(n_jobs) if rows.shape[0] * rows.shape[1] >= FEW_CELLS else 1
        binner = Binner().fit(rows, weights, is_category, n_jobs)
        self.binned: Binned = binner.transform(rows, n_jobs)
        self.thresholds = binner.thresholds_
        self.y = np.ascontiguousarray(y, dtype=np.int64)
        self.n_classes = n_classes
        self.n_jobs = n_jobs
        self.factors = np.ones(self.binned.n_rows)
        self.repeats, self.unit_bits = self._repetitions(weights)
        self.stumps = Stumps()
        d = self.binned.n_features
        n_groups = min(n_jobs, d)
        edges = np.linspace(0, d, n_groups + 1).astype(np.int64)
        self.groups = list(itertools.pairwise(edges))
        width = 1 if n_classes == 2 else n_classes
        self.sums = np.zeros((d, N_CODES * width), dtype=np.int64)
        self.whole = np.empty(self.binned.n_rows, dtype=np.int64)
        self.has_gaps = np.array([(row == MISSING_BIN).any() for row in self.binned.codes])

    def _repetitions(self, weights) -> tuple[np.ndarray, int]:
        """Whole numbers in proportion to the weights, and the bits that are left for factors."""
        n = self.binned.n_rows
        if weights is None:
            return np.ones(n, dtype=np.int64), BITS - math.ceil(math.log2(max(n, 2)))
        for bits in (0, 8, 16, 24, 30):
            scaled = np.ldexp(weights, bits)
            if (scaled == np.rint(scaled)).all() and scaled.sum() < 2.0**41:
                repeats = scaled.astype(np.int64)
                break
        else:
            share = weights / weights.max()
            bits = 40 - math.ceil(math.log2(max(share.sum(), 2.0)))  # the total has 40 bits
            repeats = np.maximum(np.rint(np.ldexp(share, bits)), 1).astype(np.int64)
        return repeats, BITS - math.ceil(math.log2(max(int(repeats.sum()), 2)))

    def find(self) -> tuple[float, int]:
        """Add the best stump for the present weights; its weighted error, and where it stands."""
        scale_weights(self.factors, self.repeats, 2.0**self.unit_bits, self.whole)
        self.sums[:] = 0
        list(in_order(self._add_up, self.groups, self.n_jobs))
        total = int(self.whole.sum())
        choose = self._choose_of_two if self.n_classes == 2 else self._choose_of_many
        right = choose()
        return (total - right) / total, len(self.stumps) - 1

    def _add_up(self, group) -> None:
        first, last = group
        if self.n_classes == 2:
            add_signed(self.binned.codes, self.whole, self.y, first, last, self.sums)
        else:
            add_by_class(
                self.binned.codes, self.whole, self.y, self.n_classes, first, last, self.sums
            )

    def _choose_of_two(self) -> int:
        """The best stump from signed sums; the weight that it classifies right."""
        sums = self.sums
        total = int(self.whole.sum())
        overall = int(sums[0].sum())
        best, place = -1, None
        running = np.cumsum(sums[:, :MISSING_BIN], axis=1)
        missing = sums[:, MISSING_BIN]
        for with_missing in (False, True):
            left = running + missing[:, None] if with_missing else running
            merit = np.abs(left) + np.abs(overall - left)
            merit[~self._allowed(with_missing)] = -1
            j, t = np.unravel_index(merit.argmax(), merit.shape)
            if merit[j, t] > best:
                best, place = int(merit[j, t]), (int(j), int(t), with_missing, int(left[j, t]))
        best_level, level_place = self._best_levels_of_two(overall)
        if level_place is not None and best_level > best:
            j, mask, with_missing, left = level_place
            self._add_stump(j, 0.0, with_missing, int(left > 0), int(overall - left > 0), mask)
            return (total + best_level) // 2
        if place is None or best < 0:
            self._add_stump(0, np.inf, True, int(overall > 0), int(overall > 0), None)
            return (total + abs(overall)) // 2
        j, t, with_missing, left = place
        sides = int(left > 0), int(overall - left > 0)
        gaps_left = self._gaps_left(j, with_missing, sides, overall)
        self._add_stump(j, self._threshold(j, t), gaps_left, *sides, None)
        return (total + best) // 2

    def _gaps_left(self, j: int, with_missing: bool, sides: tuple[int, int], overall: int) -> bool:
        """Where missing cells go; where none were seen, to the side of the commoner class."""
        return with_missing if self.has_gaps[j] else sides[0] == int(overall > 0)

    def _best_levels_of_two(self, overall: int):
        """For columns of categories: levels go where their own weight points."""
        best, place = -1, None
        for j in np.flatnonzero(self.binned.columns[1]):
            sums = self.sums[j]
            mask = sums > 0
            left = int(sums[mask].sum())
            merit = abs(left) + abs(overall - left)
            if merit > best:
                best = merit
                place = (int(j), mask.astype(np.uint8), bool(mask[MISSING_BIN]), left)
        return best, place

    def _choose_of_many(self) -> int:
        k = self.n_classes
        sums = self.sums.reshape(-1, N_CODES, k)
        overall = sums[0].sum(axis=0)
        best, place = -1, None
        running = np.cumsum(sums[:, :MISSING_BIN], axis=1)
        for with_missing in (False, True):
            left = running + sums[:, MISSING_BIN, None, :] if with_missing else running
            merit = left.max(axis=2) + (overall - left).max(axis=2)
            merit[~self._allowed(with_missing)] = -1
            j, t = np.unravel_index(merit.argmax(), merit.shape)
            if merit[j, t] > best:
                best, place = int(merit[j, t]), (int(j), int(t), with_missing, left[j, t].copy())
        for j in np.flatnonzero(self.binned.columns[1]):
            leader = sums[j].argmax(axis=1)
            for c in range(k):
                mask = (leader == c) & (sums[j].sum(axis=1) > 0)
                left = sums[j][mask].sum(axis=0)
                merit = int(left.max() + (overall - left).max())
                if merit > best:
                    best, place = merit, (int(j), mask, bool(mask[MISSING_BIN]), left)
        if place is None:
            top = int(overall.argmax())
            self._add_stump(0, np.inf, True, top, top, None)
            return int(overall.max())
        j, cut, with_missing, left = place
        sides = int(left.argmax()), int((overall - left).argmax())
        if isinstance(cut, np.ndarray):
            self._add_stump(j, 0.0, with_missing, *sides, cut.astype(np.uint8))
        else:
            top = int(overall.argmax())
            goes_left = with_missing if self.has_gaps[j] else sides[0] == top
            self._add_stump(j, self._threshold(j, cut), goes_left, *sides, None)
        return best

    def _allowed(self, with_missing: bool) -> np.ndarray:
        """Thresholds that part something: below the last bin, or the last where cells are
        missing.
        """
        n_bins, is_category = self.binned.columns
        last = n_bins - 1 if with_missing else np.where(self.has_gaps, n_bins, n_bins - 1)
        return (np.arange(MISSING_BIN) < last[:, None]) & (is_category == 0)[:, None]

    def _threshold(self, j: int, t: int) -> float:
        cuts = self.thresholds[j]
        return float(cuts[t]) if t < len(cuts) else np.inf

    def _add_stump(self, feature, threshold, missing_left, left, right, mask) -> None:
        stumps = self.stumps
        if mask is None:
            number = -1
        else:
            number = len(stumps.masks)
            stumps.masks = np.vstack([stumps.masks, mask[None, :]])
        added = {
            "feature": feature,
            "threshold": threshold,
            "missing_left": np.uint8(missing_left),
            "left": left,
            "right": right,
            "levels": number,
        }
        for name, value in added.items():
            before = getattr(stumps, name)
            setattr(stumps, name, np.append(before, np.asarray(value, dtype=before.dtype)))

    def wrong(self, place: int) -> np.ndarray:
        """Which training rows a stump classifies wrongly."""
        stumps = self.stumps
        j = int(stumps.feature[place])
        goes_left = np.zeros(N_CODES, dtype=np.uint8)
        if stumps.levels[place] >= 0:
            goes_left[:] = stumps.masks[stumps.levels[place]]
        else:
            cuts = self.thresholds[j]
            threshold = stumps.threshold[place]
            n_left = int(np.searchsorted(cuts, threshold, side="right"))
            n_left = N_CODES if np.isinf(threshold) else n_left
            goes_left[:n_left] = 1
        goes_left[MISSING_BIN] = stumps.missing_left[place]
        side = np.where(goes_left, stumps.left[place], stumps.right[place])
        return side[self.binned.codes[j]] != self.y

    def reweight(self, wrong: np.ndarray, factor: float) -> None:
        """Multiply the weights of some rows; the greatest stays near one."""
        self.factors[wrong] *= factor
        self.factors /= 2.0 ** math.frexp(float(self.factors.max()))[1]

    def share_of_weights(self) -> np.ndarray:
        """The weights of the rows, adding up to one."""
        weights = self.factors * self.repeats
        return weights / weights.sum()


@kernel("f8[:]", "i8[:]", "f8", "out i8[:]")
def scale_weights(factors, repeats, unit, whole):
    """Whole-number weights: factors (n,) over the greatest, in units, times repetitions (n,)."""
    greatest = 0.0
    for i in range(factors.size):
        if factors[i] > greatest:
            greatest = factors[i]
    for i in range(factors.size):
        whole[i] = np.int64(factors[i] / greatest * unit + 0.5) * repeats[i]


@kernel("u1[:,:]", "i8[:]", "i8[:]", "i8", "i8", "out i8[:,:]")
def add_signed(codes, whole, y, first, last, sums):
    """Sums (d, 256) of weights, positive for class 1 and negative for 0, of columns first to
    last.
    """
    n = codes.shape[1]
    signed = np.empty(ROWS_AT_ONCE, np.int64)
    for begin in range(0, n, ROWS_AT_ONCE):
        size = min(ROWS_AT_ONCE, n - begin)
        for i in range(size):
            signed[i] = whole[begin + i] if y[begin + i] == 1 else -whole[begin + i]
        for j in range(first, last):
            column = codes[j]
            into = sums[j]
            for i in range(size):
                into[column[begin + i]] += signed[i]


@kernel("u1[:,:]", "i8[:]", "i8[:]", "i8", "i8", "i8", "out i8[:,:]")
def add_by_class(codes, whole, y, n_classes, first, last, sums):
    """Sums (d, 256 * n_classes) of weights per bin and class, of columns first to last."""
    n = codes.shape[1]
    for begin in range(0, n, ROWS_AT_ONCE):
        end = min(begin + ROWS_AT_ONCE, n)
        for j in range(first, last):
            column = codes[j]
            into = sums[j]
            for i in range(begin, end):
                into[np.int64(column[i]) * n_classes + y[i]] += whole[i]


@kernel(
    "f8[:,:]",
    "i8[:]",
    "f8[:]",
    "u1[:]",
    "i8[:]",
    "i8[:]",
    "i8[:]",
    "u1[:,:]",
    "f8[:]",
    "out f8[:,:]",
)
def add_votes(rows, feature, threshold, missing_left, left, right, levels, masks, weights, votes):
    """Add each stump's weight to the votes (n, n_classes) of the class that it names."""
    for i in range(rows.shape[0]):
        for m in range(feature.size):
            value = rows[i, feature[m]]
            if np.isnan(value):
                goes_left = missing_left[m] == 1
            elif levels[m] < 0:
                goes_left = value <= threshold[m]
            elif 0.0 <= value < 255.0:
                goes_left = masks[levels[m], np.int64(value)] == 1
            else:
                goes_left = missing_left[m] == 1
            votes[i, left[m] if goes_left else right[m]] += weights[m]
