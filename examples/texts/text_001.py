"""Text 001: lecture notes without experiments on data; statements and errata are checked."""

from __future__ import annotations

from itertools import product
from math import comb, factorial
from typing import Any

import numpy as np
from scipy import stats

from examples.texts.frame import Folder, Proof, erratum, experiment
from gnomon.cluster import lance_williams, partitions, stirling
from gnomon.evaluate import growth_function, hoeffding, largest_dichotomy_count
from gnomon.linear import PolynomialFeatures
from gnomon.neural import softmax_jacobian
from gnomon.trees import DecisionTreeClassifier


@experiment(
    "001",
    4,
    "sections 4.1.3 and 4.1.4",
    "Growth functions",
    printed={
        "B(4, 3)": "sum of C(4, i) for i < 3: 11",
        "labelings of 1 to 6 points in the plane": "2^N up to d + 1 = 3 points",
    },
    methods=("growth_function", "largest_dichotomy_count"),
)
def growth_functions(data: Folder, seed: int) -> dict[str, Any]:
    return {
        "B(4, 3)": largest_dichotomy_count(4, 3),
        "labelings of 1 to 6 points in the plane": [growth_function(n) for n in range(1, 7)],
    }


@experiment(
    "001",
    5,
    "section 5.3.2",
    "Dimension of polynomial transforms of two columns",
    printed={"Q = 1, 2, 3, 10": [2, 5, 9, 65]},
    methods=("PolynomialFeatures",),
)
def dimension_of_polynomials(data: Folder, seed: int) -> dict[str, Any]:
    rows = np.ones((1, 2))
    shapes = [PolynomialFeatures(q).fit_transform(rows).shape[1] - 1 for q in (1, 2, 3, 10)]
    return {"Q = 1, 2, 3, 10": shapes}


@experiment(
    "001",
    6,
    "sections 6.2 and 6.3",
    "The Jacobian of softmax",
    printed={"largest difference from central differences": 0},
    methods=("softmax_jacobian",),
)
def jacobian_of_softmax(data: Folder, seed: int) -> dict[str, Any]:
    z, step = np.array([1.0, 2.0, 3.0]), 1e-5

    def softmax(values: np.ndarray) -> np.ndarray:
        return np.exp(values) / np.exp(values).sum()

    moved = [(softmax(z + step * e) - softmax(z - step * e)) / (2 * step) for e in np.eye(3)]
    away = np.abs(np.asarray(softmax_jacobian(z)).reshape(3, 3) - np.array(moved)).max()
    return {"largest difference from central differences": float(np.round(away, 8))}


@experiment(
    "001",
    11,
    "sections 11.3 and 11.4",
    "Impurities and splits of a category",
    printed={"splits of q = 3, 5, 10 levels in two": [3, 15, 511], "Gini at one half": 0.5},
    methods=("DecisionTreeClassifier",),
)
def impurities(data: Folder, seed: int) -> dict[str, Any]:
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    tree = DecisionTreeClassifier(criterion="gini").fit(X, y)
    counts = [len(list(partitions(q, 2))) for q in (3, 5, 10)]
    return {
        "splits of q = 3, 5, 10 levels in two": counts,
        "Gini at one half": float(tree.tree_.impurity[0]),
    }


@experiment(
    "001",
    21,
    "section 21.3.3",
    "Lance-Williams updates",
    printed={"largest difference from the definition, five linkages": 0},
    methods=("lance_williams",),
    why="The row of the mean linkage holds for squared distances only.",
)
def lance_williams_updates(data: Folder, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    groups = [rng.normal(size=(n, 2)) + 3 * k for k, n in enumerate((3, 2, 4))]
    i, j, r = groups
    both = np.vstack([i, j])

    def between(a: np.ndarray, b: np.ndarray, how: Any) -> float:
        return float(how(np.linalg.norm(a[:, None] - b[None], axis=2)))

    away = []
    for linkage, how in (("single", np.min), ("complete", np.max), ("average", np.mean)):
        pairs = (between(i, r, how), between(j, r, how), between(i, j, how))
        away.append(lance_williams(linkage, pairs, (3, 2, 4)) - between(both, r, how))
    return {"largest difference from the definition": float(np.round(np.abs(away).max(), 12))}


@erratum(
    "001",
    3,
    "section 3.5.1, Hoeffding's inequality (6)",
    printed="P[|nu - mu| > eps] >= 2 exp(-2 eps^2 N)",
    right="<=",
)
def direction_of_hoeffding() -> Proof:
    n, eps = 100, 0.1
    outcomes = stats.binom(n, 0.5)
    chance = outcomes.cdf(n * (0.5 - eps) - 1) + outcomes.sf(n * (0.5 + eps))
    bound = float(hoeffding(n=n, epsilon=eps).delta)
    return Proof(
        ">=", "<=", "<=" if chance <= bound else ">=", "the binomial distribution, N = 100"
    )


@erratum(
    "001",
    5,
    "section 5.2.2, gradient (32) of the logistic loss of one row",
    printed="-y x / (1 + exp(-y w'x)), and a step along +gradient",
    right="-y x / (1 + exp(+y w'x)), and a step along -gradient",
)
def gradient_of_one_row() -> Proof:
    w, x, y, step = 0.7, 2.0, 1.0, 1e-6

    def loss(value: float) -> float:
        return float(np.log1p(np.exp(-y * value * x)))

    slope = (loss(w + step) - loss(w - step)) / (2 * step)
    return Proof(
        -y * x / (1 + np.exp(-y * w * x)),
        -y * x / (1 + np.exp(y * w * x)),
        slope,
        "a central difference",
    )


@erratum(
    "001",
    9,
    "section 9.6, recursion of back-propagation",
    printed="the errors of a layer use w_ji",
    right="the transpose: w_ij",
)
def transpose_in_back_propagation() -> Proof:
    x, W, v, step = np.array([1.0, 2.0]), np.array([[0.1, -0.2], [0.3, 0.4]]), [0.5, -0.6], 1e-6
    U = np.array([[0.2, 0.7], [-0.3, 0.1]])

    def output(inputs: np.ndarray) -> float:
        return float(np.dot(v, np.tanh(U @ np.tanh(W @ inputs))))

    hidden, move = np.tanh(W @ x), np.array([step, 0])
    last = np.array(v) * (1 - np.tanh(U @ hidden) ** 2)
    truth = (output(x + move) - output(x - move)) / (2 * step)
    right = (W.T @ ((U.T @ last) * (1 - hidden**2)))[0]
    printed = (W.T @ ((U @ last) * (1 - hidden**2)))[0]
    return Proof(round(printed, 7), round(right, 7), round(truth, 7), "a central difference")


@erratum(
    "001",
    13,
    "section 13.10, size of trees",
    printed="J = 2 for main effects and J = 2 for interactions of two columns",
    right="J = 3 leaves for interactions of two columns",
)
def leaves_for_an_interaction() -> Proof:
    X = np.array(list(product([0.0, 1.0], repeat=2)))
    y = (X[:, 0] * X[:, 1]).astype(int)  # needs both columns

    def errors(leaves: int) -> int:
        return int(np.sum(DecisionTreeClassifier(max_leaf_nodes=leaves).fit(X, y).predict(X) != y))

    needed = next(leaves for leaves in (2, 3, 4) if errors(leaves) == 0)
    return Proof(2, 3, needed, "the smallest tree without error on x1 and x2")


@erratum(
    "001",
    14,
    "section 14.1, parameters of a Markov model of order M",
    printed="K^(M-1) (K - 1)",
    right="K^M (K - 1)",
)
def parameters_of_a_markov_model() -> Proof:
    K, M = 3, 2
    rows = len(list(product(range(K), repeat=M)))  # one distribution for each past
    return Proof(K ** (M - 1) * (K - 1), K**M * (K - 1), rows * (K - 1), "all pasts, counted")


@erratum(
    "001",
    17,
    "section 17.1.4",
    printed="C_ij <= C_ii C_jj",
    right="C_ij^2 <= C_ii C_jj",
)
def bound_of_a_covariance() -> Proof:
    rows = np.array([[0.5, 0.5], [-0.5, -0.5]])
    C = rows.T @ rows / 2
    bound = float(C[0, 0] * C[1, 1])
    return Proof(
        bool(C[0, 1] <= bound), bool(C[0, 1] ** 2 <= bound), True, "the points (.5, .5), (-.5, -.5)"
    )


@erratum(
    "001",
    18,
    "section 18.1, number of partitions",
    printed="S(n, k) summed from t = 1",
    right="from t = 0",
)
def number_of_partitions() -> Proof:
    n, k = 4, 2
    terms = [(-1) ** t * comb(k, t) * (k - t) ** n for t in range(k + 1)]
    assert sum(terms) // factorial(k) == stirling(n, k)
    return Proof(
        sum(terms[1:]) / factorial(k), stirling(n, k), len(list(partitions(n, k))), "all partitions"
    )
