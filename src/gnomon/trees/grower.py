"""The histogram grower: from binned columns and per-row sums to one tree.

One grower serves single trees and forests. What it adds up per bin is a few whole numbers per row:
the weight of each class (classification), or weight and weighted target (regression, any number of
outputs). The greedy step is the same for all:

    choose column and cut that maximise   score(left) + score(right) - score(node)

with score = sum_k w_k^2 / W (Gini), sum_k w_k log2(w_k / W) (entropy), max_k w_k
(misclassification) or sum_j S_j^2 / W (squared error). Numbers are cut at thresholds, categories
into two sets of levels; missing values go to the side where they gain more.

Targets and weights are rounded to fixed point with as many bits as fit (44 for 10^5 rows), so every
sum is exact: the tree depends neither on the order of the rows nor on threads, and a row of weight
k gives the same tree as k equal rows.

Texts: 000a 2.5 (information gain, forests) · 001 9.2 (CART, categories) and 10.10 (boosting) · 002
"Tree classifiers" · 003 2.2 · 004 9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gnomon.engine.kernel import kernel
from gnomon.trees import grower_kernel
from gnomon.trees.binning import Binned, fixed_point_weights
from gnomon.trees.tree import Tree

CRITERIA = {
    "gini": grower_kernel.GINI,
    "entropy": grower_kernel.ENTROPY,
    "misclassification": grower_kernel.MISCLASSIFICATION,
    "squared_error": grower_kernel.SQUARED_ERROR,
}
CLASS_CRITERIA = ("gini", "entropy", "misclassification")
MAX_CLASSES = 2**16  # judgement: a histogram of 256 bins and so many classes is 134 MB
# Bytes of the histograms that open nodes keep at most.
HISTOGRAM_BYTES = 2**28
BYTES_PER_BIN = 8  # of each sum: whole numbers of 64 bits


@dataclass(frozen=True)
class GrowthRules:
    """What the grower aims at and where it stops.

    Parameters
    ----------
    criterion : {"gini", "entropy", "misclassification", "squared_error"}
    max_depth : int, optional
        Greatest number of questions on a path.
    max_leaf_nodes : int, optional
        Grow best-first, the split with the greatest gain next, up to this many leaves.
    min_samples_split, min_samples_leaf : int
        Least number of training rows in a node that is split, and on each side.
    min_weight_leaf : float
        Least weight on each side.
    min_impurity_decrease : float
        Least gain per unit of the root's weight.
    max_features : int, optional
        Columns drawn at random at each node; by default all, in order.

    Notes
    -----
    A split without gain is allowed, because the next one may gain, as with exclusive-or.
    """

    criterion: str
    max_depth: int | None = None
    max_leaf_nodes: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_features: int | None = None

    def __post_init__(self):
        if self.criterion not in CRITERIA:
            raise ValueError(f"criterion is {self.criterion!r}; known are {', '.join(CRITERIA)}.")
        if self.max_leaf_nodes is not None and self.max_leaf_nodes < 2:
            raise ValueError(f"max_leaf_nodes is {self.max_leaf_nodes}; at least 2 are needed.")


@dataclass(frozen=True)
class Statistics:
    """Per row, the whole numbers that a tree adds up; made by the functions below.

    Attributes
    ----------
    labels : uint16 array (n_rows,), empty unless n_classes > 0
    sums : int64 array (n_rows, 1 + n_sums)
        Weight, and weighted targets, in units of weight_unit and value_unit.
    offset : float64 array (n_outputs,)
        Added to the value of every node (targets are centred before they are rounded).
    greatest : float
        Greatest absolute target in units of value_unit per weight_unit.
    """

    labels: np.ndarray
    sums: np.ndarray
    n_classes: int
    weight_unit: float
    value_unit: float
    offset: np.ndarray
    greatest: float


def class_statistics(
    labels: np.ndarray,
    n_classes: int,
    weights: np.ndarray | None = None,
    draws: int | None = None,
) -> Statistics:
    """Statistics of a classification target.

    Parameters
    ----------
    labels : integer array (n_rows,)
        Classes 0 .. n_classes - 1.
    n_classes : int
    weights : array (n_rows,), optional
    draws : int, optional
        Size of the bootstrap samples that will be drawn; it bounds the sums.
    """
    labels = np.asarray(labels)
    if n_classes > MAX_CLASSES:
        raise ValueError(f"{n_classes} classes; the grower takes at most {MAX_CLASSES}.")
    if labels.size and not (labels.min() >= 0 and labels.max() < n_classes):
        raise ValueError(f"labels must lie in 0 .. {n_classes - 1}.")
    fixed, unit = _fixed_weights(weights, labels.size, draws)
    return Statistics(
        labels.astype(np.uint16), fixed[:, None], n_classes, unit, 1.0, np.zeros(n_classes), 0.0
    )


def value_statistics(
    values: np.ndarray, weights: np.ndarray | None = None, draws: int | None = None
) -> Statistics:
    """Statistics of numeric targets (n_rows,) or (n_rows, n_outputs) for squared error.

    The targets are centred and rounded to whole multiples of a power of two, about 2^-44 of their
    range for 10^5 rows.
    """
    values = np.asarray(values, np.float64)
    values = values.reshape(values.shape[0], -1)
    if not np.all(np.isfinite(values)):
        raise ValueError("Targets must be finite.")
    fixed, unit = _fixed_weights(weights, values.shape[0], draws)
    used = fixed > 0
    present = values[used] if used.any() else np.zeros((1, values.shape[1]))
    offset = present.min(axis=0) / 2 + present.max(axis=0) / 2
    centered = np.where(used[:, None], values - offset, 0.0)
    greatest = float(np.abs(centered).max(initial=0.0))
    total = _greatest_total(fixed, draws) * unit
    exponent = min(61 - _bits(greatest * total), 53 - _bits(greatest), 1000) if greatest else 0
    if unit == 1.0:
        targets = np.rint(np.ldexp(centered, exponent)).astype(np.int64) * fixed[:, None]
    else:
        weighted = centered * (fixed * unit)[:, None]
        targets = np.rint(np.ldexp(weighted, exponent)).astype(np.int64)
    sums = np.column_stack((fixed, targets))
    value_unit = math.ldexp(1.0, -exponent)
    greatest *= unit / value_unit
    return Statistics(np.empty(0, np.uint16), sums, 0, unit, value_unit, offset, greatest)


def grow_tree(
    binned: Binned,
    statistics: Statistics,
    rules: GrowthRules,
    counts: np.ndarray | None = None,
    seed: int = 0,
    leaf_of_row: np.ndarray | None = None,
) -> Tree:
    """Grow one tree; releases the interpreter lock, so that trees grow on threads side by side.

    Parameters
    ----------
    binned : Binned
    statistics : Statistics
        From `class_statistics` or `value_statistics`.
    rules : GrowthRules
    counts : int array (n_rows,), optional
        How often each row is taken (a bootstrap sample; 0: left out). By default once each.
    seed : int
        Seed of the draws of columns; unused when every node looks at all columns.
    leaf_of_row : int32 array (n_rows,), optional
        Receives the leaf of every row taken (other rows are left as they are).

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.trees.binning import Binner
    >>> rows = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> binned = Binner().fit(rows).transform(rows)
    >>> statistics = value_statistics([1.0, 1.0, 5.0, 5.0])
    >>> tree = grow_tree(binned, statistics, GrowthRules("squared_error"))
    >>> tree.threshold[0], tree.value[:, 0], tree.gain[0]
    (np.float64(1.5), array([3., 1., 5.]), np.float64(16.0))
    """
    _check_match(binned, statistics, rules)
    if counts is None:
        counts = np.ones(binned.n_rows, np.int32)
    if counts.shape != (binned.n_rows,):
        raise ValueError(f"counts has shape {counts.shape}, expected ({binned.n_rows},).")
    counts = np.where(statistics.sums[:, 0] > 0, counts, 0).astype(np.int32, copy=False)
    n_taken = np.count_nonzero(counts)
    if n_taken == 0:
        raise ValueError("No row has a positive weight and count; a tree needs at least one.")
    kernel_rules = _kernel_rules(rules, statistics, binned.n_features)
    n_channels = kernel_rules.n_channels
    nodes = empty_nodes(rules, int(n_taken), statistics.offset.size, binned.columns[1].any())
    all_columns = rules.max_features is None or rules.max_features >= binned.n_features
    n_slots = histogram_slots(
        binned.n_rows, binned.n_features, n_channels, rules.max_leaf_nodes, all_columns
    )
    with np.errstate(over="ignore"):  # the draws count modulo 2^64, also without the compiler
        n_nodes, n_masks = grower_kernel.grow(
            grower_kernel.Table(
                binned.codes.reshape(-1),
                binned.rows.reshape(-1),
                binned.columns,
                binned.edges,
                binned.n_rows,
                binned.n_features,
            ),
            grower_kernel.Target(statistics.labels, statistics.sums, counts, statistics.offset),
            kernel_rules,
            _empty_rows(statistics, int(n_taken)),
            np.empty((n_slots * binned.n_features + 1, 256, n_channels), np.int64),
            _scratch(binned.n_features, n_channels, seed),
            _empty_frontier(rules, int(n_taken), n_channels, n_slots),
            nodes,
            np.empty(0, np.int32) if leaf_of_row is None else leaf_of_row,
        )
    return tree_of(nodes, n_nodes, n_masks, binned.levels)


def tree_of(
    nodes: grower_kernel.Nodes,
    n_nodes: int,
    n_masks: int = 0,
    levels: dict[int, np.ndarray] | None = None,
) -> Tree:
    """The tree that a kernel has written into the first nodes."""
    feature, missing_left, category, left, samples, _ = nodes.whole[:n_nodes].T
    asks_levels = category >= 0
    by_mask = np.empty(n_masks, np.int64)
    by_mask[category[asks_levels]] = feature[asks_levels]
    threshold, weight, impurity, gain = nodes.real[:n_nodes].T
    return Tree(
        feature=feature.copy(),
        threshold=threshold.copy(),
        missing_left=missing_left.astype(np.uint8),
        category=category.copy() if n_masks else np.broadcast_to(np.int32(-1), n_nodes),
        category_left=_masks_of_levels(nodes.masks[:n_masks], by_mask, levels or {}),
        left=left.copy(),
        value=nodes.value[:n_nodes].copy(),
        n_node_samples=samples.copy(),
        weight=weight.copy(),
        impurity=impurity.copy(),
        gain=gain.copy(),
    )


def empty_nodes(
    rules: GrowthRules, n_taken: int, n_outputs: int, categories: bool
) -> grower_kernel.Nodes:
    """Arrays for as many nodes as there can be.

    The system gives memory only to the pages that are written.
    """
    leaves = max(1, n_taken // rules.min_samples_leaf)
    if rules.max_leaf_nodes is not None:
        leaves = min(leaves, rules.max_leaf_nodes)
    if rules.max_depth is not None:
        leaves = min(leaves, 1 << min(rules.max_depth, 62))
    return grower_kernel.Nodes(
        whole=np.empty((2 * leaves - 1, 6), np.int32),
        real=np.empty((2 * leaves - 1, 4)),
        value=np.empty((2 * leaves - 1, n_outputs)),
        masks=np.empty((leaves if categories else 0, 4), np.uint64),
    )


def _empty_rows(statistics: Statistics, n_taken: int) -> grower_kernel.Rows:
    return grower_kernel.Rows(
        index=np.empty((2, n_taken), np.uint32),
        label=np.empty((2, n_taken if statistics.n_classes else 0), np.uint16),
        sums=np.empty((2, statistics.sums.shape[1], n_taken), np.int64),
    )


def _scratch(n_features: int, n_channels: int, seed: int) -> grower_kernel.Scratch:
    bits = np.empty((4, 4), np.uint64)
    bits[grower_kernel.RANDOM, 1] = generator_state(seed)
    return grower_kernel.Scratch(
        lists=np.empty((5, 257), np.int64),
        sums=np.empty((5, n_channels), np.int64),
        gains=np.empty((3, 257)),
        bits=bits,
        cut=np.empty(5, np.int64),
        deck=np.empty(n_features, np.int64),
        goes_left=np.empty(256, np.uint8),
    )


def _empty_frontier(
    rules: GrowthRules, n_taken: int, n_channels: int, n_slots: int
) -> grower_kernel.Frontier:
    n_open = grower_kernel.MOST_OPEN_NODES
    if rules.max_leaf_nodes is not None:
        n_open = min(rules.max_leaf_nodes, n_taken) + 1
    return grower_kernel.Frontier(
        whole=np.empty((n_open, 10), np.int64),
        real=np.empty((n_open, 2)),
        levels=np.empty((n_open, 4), np.uint64),
        sums=np.empty((n_open, 2, n_channels), np.int64),
        places=np.empty((5, n_open + n_slots + 5), np.int64),
    )


def _masks_of_levels(
    masks: np.ndarray, features: np.ndarray, levels: dict[int, np.ndarray]
) -> np.ndarray:
    """The bins that go left as levels that go left, where a column's levels are not its bins."""
    if not any(feature in levels for feature in features):
        return masks.copy()
    sides = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little")
    n_levels = max([256, *(levels[feature].size for feature in features if feature in levels)])
    wide = np.repeat(sides[:, -1:], -(-n_levels // 64) * 64, axis=1)
    for node, feature in enumerate(features):
        if feature in levels:
            wide[node, : levels[feature].size] = sides[node, levels[feature]]
        else:
            wide[node, :256] = sides[node]
    return np.packbits(wide, axis=1, bitorder="little").view(np.uint64)


def bootstrap_counts(n_rows: int, draws: int, seed: int) -> np.ndarray:
    """How often each row comes in `draws` draws with replacement: int32 (n_rows,).

    Examples
    --------
    >>> int(bootstrap_counts(10, 25, seed=1).sum())
    25
    """
    counts = np.zeros(n_rows, np.int32)
    bits = np.zeros((4, 4), np.uint64)
    bits[grower_kernel.RANDOM, 0] = generator_state(seed)
    draw_with_replacement(draws, bits, counts)
    return counts


@kernel("i8", "out u8[:,:]", "out i4[:]")
def draw_with_replacement(draws, bits, counts):
    """Add one to counts (n,) at each of `draws` random places; bits as in the growing kernel."""
    for _ in range(draws):
        counts[grower_kernel.next_random(bits, counts.size)] += 1


def generator_state(seed: int) -> np.uint64:
    return np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] | np.uint64(1)


def _kernel_rules(
    rules: GrowthRules, statistics: Statistics, n_features: int
) -> grower_kernel.Rules:
    n_channels = statistics.n_classes or statistics.sums.shape[1]
    gain_unit = statistics.weight_unit
    if statistics.n_classes == 0:
        gain_unit = statistics.value_unit**2 / statistics.weight_unit
    return grower_kernel.Rules(
        criterion=CRITERIA[rules.criterion],
        n_classes=statistics.n_classes,
        n_channels=n_channels + (rules.min_samples_leaf > 1),
        max_depth=2**62 if rules.max_depth is None else rules.max_depth,
        max_leaf_nodes=rules.max_leaf_nodes or 0,
        min_split=rules.min_samples_split,
        min_leaf=rules.min_samples_leaf,
        max_features=min(rules.max_features or n_features, n_features),
        min_weight=rules.min_weight_leaf / statistics.weight_unit,
        min_gain=rules.min_impurity_decrease,
        weight_unit=statistics.weight_unit,
        value_unit=statistics.value_unit,
        gain_unit=gain_unit,
        # Targets that spread by less than 2^-38 of their range are one value.
        pure_below=(statistics.greatest * 2.0**-37) ** 2,
    )


def histogram_slots(
    n_rows: int, n_columns: int, n_channels: int, max_leaf_nodes: int | None, all_columns: bool
) -> int:
    """Open nodes that keep histograms, to get a child's by subtraction; 0: it does not pay."""
    if not all_columns:
        return 0
    slots = max_leaf_nodes or 3 + max(1, n_rows).bit_length()
    bytes_each = n_columns * BYTES_PER_BIN * 256 * n_channels
    return slots + 1 if (slots + 1) * bytes_each <= HISTOGRAM_BYTES else 0


def _check_match(binned: Binned, statistics: Statistics, rules: GrowthRules) -> None:
    if statistics.sums.shape[0] != binned.n_rows:
        raise ValueError(
            f"The statistics have {statistics.sums.shape[0]} rows, the columns {binned.n_rows}."
        )
    fitting = CLASS_CRITERIA if statistics.n_classes else ("squared_error",)
    if rules.criterion not in fitting:
        raise ValueError(
            f"criterion {rules.criterion!r} does not fit this target; use {' or '.join(fitting)}."
        )


def _fixed_weights(
    weights: np.ndarray | None, n_rows: int, draws: int | None
) -> tuple[np.ndarray, float]:
    if weights is None:
        return np.ones(n_rows, np.int64), 1.0
    weights = np.asarray(weights, np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"weights has shape {weights.shape}, expected ({n_rows},).")
    return fixed_point_weights(weights, (draws or 0) * float(weights.max(initial=0.0)))


def _greatest_total(fixed: np.ndarray, draws: int | None) -> float:
    return max(float(fixed.sum()), (draws or 0) * float(fixed.max(initial=0)))


def _bits(value: float) -> int:
    """The least e with value < 2^e."""
    return math.frexp(value)[1]
