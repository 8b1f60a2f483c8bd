"""The builder of decision trees in `sklearn.tree`, by the kernel of `tree_kernel`."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np

from gnomon.accelerate.limits import worth
from gnomon.accelerate.routes import Route, replaces
from gnomon.accelerate.unsupported import require

_lock = threading.Lock()
_sorted: dict[int, tuple[Any, np.ndarray, np.ndarray]] = {}


def sorted_columns(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The columns of a table and the order of each; kept while the table is in memory."""
    key = id(X)
    with _lock:
        known = _sorted.get(key)
        if known is None or known[0]() is not X:
            columns = np.ascontiguousarray(X.T)
            order = np.argsort(columns, axis=1, kind="stable").astype(np.int32)
            forget = weakref.ref(X, lambda _: _sorted.pop(key, None))
            known = _sorted[key] = (forget, columns, order)
    return known[1], known[2]


class Builder:
    """Stands for scikit-learn's `DepthFirstTreeBuilder`.

    Parameters
    ----------
    theirs : DepthFirstTreeBuilder
    splitter : Splitter
    rules : tuple
        The parameters of the builder after the splitter.
    """

    def __init__(self, theirs: Any, splitter: Any, rules: tuple[Any, ...]):
        self.theirs = theirs
        self.splitter = splitter
        self.rules = rules

    def build(self, *args: Any) -> None:
        """Grow a tree."""
        BUILD(self, *args)


def build_theirs(builder: Builder, *args: Any) -> None:
    """Grow a tree by scikit-learn's builder."""
    builder.theirs.build(*args)


def build_ours(
    original: Any,
    builder: Builder,
    tree: Any,
    X: Any,
    y: np.ndarray,
    sample_weight: Any = None,
    missing_values_in_feature_mask: Any = None,
) -> None:
    """Grow a tree by our kernel."""
    from sklearn.tree._criterion import MSE, Gini
    from sklearn.tree._splitter import BestSplitter
    from sklearn.tree._tree import NODE_DTYPE

    splitter = builder.splitter
    require(type(splitter) is BestSplitter, f"a {type(splitter).__name__}")
    criterion = splitter.criterion
    require(type(criterion) in (Gini, MSE), f"criterion {type(criterion).__name__}")
    require(missing_values_in_feature_mask is None, "missing values")
    require(y.shape[1] == 1, "several outputs")
    require(isinstance(X, np.ndarray) and X.dtype == np.float32, "rows that are not of float32")
    random_state, monotonic = splitter.__reduce__()[1][4:6]
    require(monotonic is None, "monotonic_cst")
    worth("tree", X.size)
    from gnomon.accelerate.tree_kernel import Grown, Rules, Samples, grow

    columns, order = sorted_columns(X)
    n = len(X)
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, np.float64)
    require((weights >= 0).all(), "negative weights")
    n_classes = int(tree.max_n_classes) if type(criterion) is Gini else 0
    split, leaf, least_weight, depth, decrease = builder.rules
    most = 2 * int(np.count_nonzero(weights)) - 1
    if depth < 20:
        most = min(most, 2 ** (int(depth) + 1) - 1)
    grown = Grown(
        np.zeros((most, 5), np.int64), np.zeros((most, 3)), np.zeros((most, max(n_classes, 1)))
    )
    seed = int(random_state.randint(0, 2147483647))
    rules = Rules(
        n_classes,
        int(splitter.max_features),
        int(split),
        int(leaf),
        float(least_weight),
        int(depth),
        float(decrease),
        seed,
    )
    table = Samples(columns, order, np.ascontiguousarray(y[:, 0]), np.ascontiguousarray(weights))
    count, deepest = grow(table, rules, grown)
    nodes = np.zeros(count, dtype=NODE_DTYPE)
    names = ("left_child", "right_child", "feature", "n_node_samples", "missing_go_to_left")
    for name, column in zip(names, grown.links[:count].T):
        nodes[name] = column
    for name, column in zip(
        ("threshold", "impurity", "weighted_n_node_samples"), grown.numbers[:count].T
    ):
        nodes[name] = column
    values = np.ascontiguousarray(grown.values[:count, None, :])
    tree.__setstate__(
        {"max_depth": int(deepest), "node_count": count, "nodes": nodes, "values": values}
    )


BUILD = Route(
    "sklearn.tree._classes",
    "build",
    "decision trees",
    build_ours,
    "gnomon.accelerate.tree_kernel",
).routed(build_theirs)


@replaces("sklearn.tree._classes", "DepthFirstTreeBuilder", "decision trees", counted=False)
def depth_first_builder(original: Any, splitter: Any, *rules: Any) -> Builder:
    """A builder that decides when it sees the data."""
    return Builder(original(splitter, *rules), splitter, rules)
