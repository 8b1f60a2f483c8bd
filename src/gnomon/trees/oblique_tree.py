"""Trees whose questions are about all columns at once: hyperplanes, or clouds of normal density.

Texts: 003 2.3.2.3 (oblique trees by class means) and 2.3.2.4 (Gaussian divisions) · 004 6.1.
"""

from __future__ import annotations

import numpy as np

from gnomon.contract import Classifier, Data, Regressor, Takes
from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.parameters import FLAG, StrOptions, between, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Flag
from gnomon.trees.distinct import CountedRows
from gnomon.trees.flexible_grower import Finder
from gnomon.trees.flexible_tree import (
    CLASS_LEAVES,
    GENERAL_CONSTRAINTS,
    GENERAL_PARAMETERS,
    OneGeneralTree,
)
from gnomon.trees.impurity import Impurity, class_impurity
from gnomon.trees.oblique_splits import GaussianSplit, ObliqueSplit

OBLIQUE_CONSTRAINTS = {
    "directions": [StrOptions({"means", "random", "optimised"})],
    "n_directions": [whole(1)],
    "standardize": FLAG,
    **GENERAL_CONSTRAINTS,
}


class ObliqueTree(OneGeneralTree):
    """What both oblique trees share; columns are numbers without gaps."""

    natively = Takes()
    _largest = 1e100

    directions: str
    n_directions: int
    standardize: bool

    def _finder(self, sample: CountedRows, levels: np.ndarray, impurity: Impurity) -> Finder:
        center, scale = np.zeros(len(levels)), np.ones(len(levels))
        if self.standardize:
            shares = sample.weights / sample.weights.sum()
            center = shares @ sample.rows
            spread = np.array([shares @ (x - c) ** 2 for x, c in zip(sample.rows.T, center)])
            scale = np.where(spread > 0, np.sqrt(spread), 1.0)
        return ObliqueSplit(
            impurity,
            self.directions,
            center,
            scale,
            self._least(sample),
            self.n_directions,
        )

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        leaves = max(n_rows // self.min_samples_leaf, 1)
        if self.max_depth is not None:
            leaves = min(leaves, 2 ** min(self.max_depth, 60))
        if self._target == "classes":
            leaves = int(CLASS_LEAVES * leaves)
        points = 8 * n_rows * n_columns
        return points + super()._working_memory(n_rows, n_columns) + 24 * n_columns * leaves


@method(
    task="classify",
    texts="003 2.3.2.3 · 004 6.1",
    use="Members of an ensemble that should differ, or boundaries that run across the axes.",
    avoid="People must read the tree, or columns are categories or have many gaps.",
    peers=("Waffles GMeanMarginsTree", "treeple.ObliqueRandomForestClassifier", "OC1"),
)
@shared_parameters(GENERAL_PARAMETERS)
class ObliqueTreeClassifier(ObliqueTree, Classifier):
    """A tree of hyperplanes: each node asks ``w . x < t``.

    Use it for boundaries that run across the axes, or as a member of an ensemble that should
    differ from plain trees; not where people must read it. Three ways to choose the plane: half-way
    between class means (003 2.3.2.3: quick, weaker alone), the best of random directions, or OC1's
    search, coefficient by coefficient, for the least Gini index. More than two classes are first
    put in two groups along the first principal component of the class indicators. A node that no
    such plane parts stays a leaf. Unlike 003, columns are measured in units of their deviation
    (``standardize=False`` for the text's form), so that units do not matter. Texts: 003 2.3.2.3,
    004 6.1.

    Parameters
    ----------
    min_samples_leaf : int, default=1
        Least rows on each side of a plane.
    random_state : int, RandomState or None, default=None
        Seed of the random directions, and of the order in which coefficients are moved.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    tree_ : GeneralTree
        The nodes as arrays; planes are ``tree_.questions.directions`` in the columns' own units.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.trees import ObliqueTreeClassifier
    >>> rows = [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0], [1.0, 0.0], [2.0, 1.0], [3.0, 2.0]]
    >>> model = ObliqueTreeClassifier().fit(rows, ["up", "up", "up", "down", "down", "down"])
    >>> model.get_n_leaves(), model.predict([[5.0, 9.0], [9.0, 5.0]]).tolist()
    (2, ['up', 'down'])
    """

    _parameter_constraints = {
        "class_weight": [None, dict, StrOptions({"balanced"})],
        **OBLIQUE_CONSTRAINTS,
    }

    def __init__(
        self,
        directions="means",
        *,
        n_directions=10,
        standardize=True,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        class_weight=None,
        random_state=None,
    ):
        self.directions = directions
        self.n_directions = n_directions
        self.standardize = standardize
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.random_state = random_state

    def _impurity(self, sample: CountedRows) -> Impurity:
        return class_impurity("gini", len(self.classes_), 0.0, None)

    def _proba(self, rows):
        return self.tree_.predict(rows)


@method(
    task="regress",
    texts="003 2.3.2.3 · 004 6.1",
    use="Members of an ensemble that should differ, or steps that run across the axes.",
    avoid="People must read the tree, or columns are categories or have many gaps.",
    peers=("Waffles GMeanMarginsTree", "treeple.ObliqueRandomForestRegressor"),
)
@shared_parameters(GENERAL_PARAMETERS)
class ObliqueTreeRegressor(ObliqueTree, Regressor):
    """A regression tree of hyperplanes: each node asks ``w . x < t``.

    Use it for steps that run across the axes, or as a member of an ensemble that should differ from
    plain trees; not where people must read it. The rows with a target above and below the mean
    (several targets: along their first principal component) are the two groups whose means place
    the plane; "random" and "optimised" planes save most squared error. Details as in
    `ObliqueTreeClassifier`. Texts: 003 2.3.2.3, 004 6.1.

    Parameters
    ----------
    min_samples_leaf : int, default=5
        Least rows on each side of a plane.
    random_state : int, RandomState or None, default=None
        Seed of the random directions, and of the order in which coefficients are moved.

    Attributes
    ----------
    tree_ : GeneralTree
        The nodes as arrays; planes are ``tree_.questions.directions`` in the columns' own units.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.trees import ObliqueTreeRegressor
    >>> rows = [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0], [1.0, 0.0], [2.0, 1.0], [3.0, 2.0]]
    >>> model = ObliqueTreeRegressor(min_samples_leaf=1).fit(rows, [1, 1, 1, 5, 5, 5])
    >>> model.predict([[5.0, 9.0], [9.0, 5.0]])
    array([1., 5.])
    """

    _many_targets = True
    _parameter_constraints = dict(OBLIQUE_CONSTRAINTS)
    _stored = {
        "_one_target": Flag(),
    }

    def __init__(
        self,
        directions="means",
        *,
        n_directions=10,
        standardize=True,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=5,
        min_weight_fraction_leaf=0.0,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        random_state=None,
    ):
        self.directions = directions
        self.n_directions = n_directions
        self.standardize = standardize
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.random_state = random_state

    def _fit(self, data: Data) -> None:
        super()._fit(data)
        self._one_target = data.y.ndim == 1

    def _estimate(self, rows):
        values = self.tree_.predict(rows)
        return values[:, 0] if self._one_target else values


@method(
    task="classify",
    texts="003 2.3.2.4",
    use="Classes that are a few normal clouds each, of different shapes.",
    avoid="Many columns for the rows: every node estimates a covariance per class.",
    peers=(),
)
@shared_parameters(GENERAL_PARAMETERS)
class GaussianTreeClassifier(OneGeneralTree, Classifier):
    """A tree whose nodes divide the rows by a normal distribution per class.

    Use it where classes are unions of clouds: each node has a branch per class of its rows, and a
    row takes the branch of the greatest  log p_k - 1/2 log det C_k - 1/2 (x - m_k)' C_k^-1 (x -
    m_k);  the boundaries of two classes are conics. Not with many columns and few rows. 003 2.3.2.4
    drops the prior p_k and the determinant, although these differ between the classes; that rule is
    ``rule="distance"``. A covariance may be singular where rows are few, so that each is mixed with
    the node's own variances; without that (``shrinkage=0``) a node with a singular covariance stays
    a leaf. Texts: 003 2.3.2.4.

    Parameters
    ----------
    rule : {"posterior", "distance"}, default="posterior"
        Divide by posterior density, or as the text does by Mahalanobis distance.
    shrinkage : float, default=0.1
        Share of the node's variances in every class covariance.
    min_samples_leaf : int, default=1
        Least rows in at least two branches.
    min_impurity_decrease : float, default=0.0
        Least saving of Gini index, per unit of the total weight; 0 lets every split pass.
    random_state : int, RandomState or None, default=None
        Not used: nothing is drawn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    tree_ : GeneralTree
        The nodes as arrays; ``tree_.questions`` holds the clouds.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.trees import GaussianTreeClassifier
    >>> rows = [[-4.0], [-3.0], [-0.5], [0.0], [0.5], [3.0], [4.0]]
    >>> y = ["out", "out", "in", "in", "in", "out", "out"]
    >>> model = GaussianTreeClassifier().fit(rows, y)
    >>> model.get_n_leaves(), model.predict([[-9.0], [0.1], [9.0]]).tolist()
    (2, ['out', 'in', 'out'])
    """

    natively = Takes()
    _largest = 1e100
    _parameter_constraints = {
        "rule": [StrOptions({"posterior", "distance"})],
        "shrinkage": [between(0, 1)],
        "class_weight": [None, dict, StrOptions({"balanced"})],
        **GENERAL_CONSTRAINTS,
    }

    def __init__(
        self,
        rule="posterior",
        *,
        shrinkage=0.1,
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        min_impurity_decrease=0.0,
        ccp_alpha=0.0,
        class_weight=None,
        random_state=None,
    ):
        self.rule = rule
        self.shrinkage = shrinkage
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.random_state = random_state

    def _impurity(self, sample: CountedRows) -> Impurity:
        return class_impurity("gini", len(self.classes_), 0.0, None)

    def _finder(self, sample: CountedRows, levels: np.ndarray, impurity: Impurity) -> Finder:
        return GaussianSplit(impurity, self.rule, float(self.shrinkage), self._least(sample))

    def _proba(self, rows):
        return self.tree_.predict(rows)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        n_classes = len(getattr(self, "classes_", (0, 1)))
        leaves = max(n_rows // 50, 1)
        clouds = 8 * n_columns**2 * n_classes * min(leaves, 1000)
        points = 4 * 8 * n_rows * n_columns
        return points + clouds + super()._working_memory(n_rows, n_columns)
