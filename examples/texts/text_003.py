"""Text 003: data-driven learning, probability and utility, optimization and networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from examples.texts.frame import Folder, Proof, erratum, experiment, omit
from gnomon.decide import expected_utility
from gnomon.density import entropy
from gnomon.evaluate import BaselineRegressor
from gnomon.graphical import BeliefNetwork
from gnomon.linear import LogisticRegression, polynomial_count
from gnomon.neighbors import KNeighborsClassifier
from gnomon.neural import MLPClassifier
from gnomon.optimize import critical_points
from gnomon.trees import DecisionTreeClassifier, ExtraTreesClassifier, ObliqueTreeClassifier

CARS = np.array([96000.0, 4500, 24000, 35000, 8699, 17650])
FASHION = [  # socks, shirt, pants, tie, fashion
    ("match", "T-shirt", "shorts", "no", "stylish"),
    ("match", "none", "none", "yes", "dork"),
    ("mismatch", "button-up", "shorts", "no", "dork"),
    ("match", "button-up", "slacks", "yes", "stylish"),
    ("mismatch", "T-shirt", "slacks", "no", "dork"),
    ("match", "none", "shorts", "yes", "dork"),
    ("mismatch", "T-shirt", "shorts", "no", "dork"),
]


@experiment(
    "003",
    2,
    "sections 2.1.6 and 2.1.7.2.1",
    "The baseline on six cars",
    printed={"prediction": 30974.8333, "root mean squared error, 3 folds": 35105.0826},
    methods=("BaselineRegressor",),
)
def baseline_of_cars(data: Folder, seed: int) -> dict[str, Any]:
    rows = np.zeros((6, 1))
    errors = []
    for fold in ([0, 1], [2, 3], [4, 5]):
        rest = np.setdiff1d(np.arange(6), fold)
        model = BaselineRegressor().fit(rows[rest], CARS[rest])
        errors.extend(CARS[fold] - model.predict(rows[fold]))
    return {
        "prediction": BaselineRegressor().fit(rows, CARS).predict(rows)[0],
        "root mean squared error, 3 folds": np.sqrt(np.mean(np.square(errors))),
    }


@experiment(
    "003",
    2,
    "section 2.2.1.1",
    "The nearest neighbor of a row with a category",
    printed={"distances": [40.125, 63.008, 58.009], "prediction": "blue"},
    methods=("KNeighborsClassifier",),
    why="A category counts 0 or 1; coded 0 and 1 it is an ordinary column.",
)
def nearest_of_mixed_rows(data: Folder, seed: int) -> dict[str, Any]:
    X, y = np.array([[0.0, 4, 35], [1, 0, 12], [0, 1, 17]]), np.array(["blue", "pink", "black"])
    model = KNeighborsClassifier(1).fit(X, y)
    distances, order = model.kneighbors([[1.0, 1, 75]], 3)
    return {
        "distances": distances[0][np.argsort(order[0])],
        "prediction": model.predict([[1.0, 1, 75]])[0],
    }


@experiment(
    "003",
    2,
    "section 2.5.2.1.1",
    "Trees, forests and a line on two overlapping clouds",
    printed={
        "order": "tree and unlimited forests overfit; depth 4 cures it; logistic regression is best"
    },
    methods=("DecisionTreeClassifier", "ExtraTreesClassifier", "LogisticRegression"),
    why=(
        "200 points around (0, 0) and (1, 0.5), mean of 5 draws, 4,000 fresh points; the text "
        "shows pictures. 500 trees instead of 2,000."
    ),
)
def two_clouds(data: Folder, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)

    def clouds(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = np.arange(n) % 2
        return rng.normal(size=(n, 2)) + y[:, None] * [1.0, 0.5], y

    def models(each: int) -> dict[str, Any]:
        options = {"max_features": 1, "bootstrap": True, "random_state": each}
        return {
            "tree": DecisionTreeClassifier(random_state=each),
            "50 random trees": ExtraTreesClassifier(50, **options),
            "500 random trees": ExtraTreesClassifier(500, **options),
            "500 random trees of depth 4": ExtraTreesClassifier(500, max_depth=4, **options),
            "oblique tree": ObliqueTreeClassifier(random_state=each),
            "logistic regression": LogisticRegression(),
        }

    scores: dict[str, list[float]] = {}
    for each in range(5):
        X, y = clouds(200)
        test, truth = clouds(4000)
        for name, model in models(seed + each).items():
            scores.setdefault(name, []).append(model.fit(X, y).score(test, truth))
    return {f"accuracy, {name}": np.mean(values) for name, values in scores.items()}


@experiment(
    "003",
    4,
    "section 4.3.6.2",
    "A network on the car evaluation table",
    printed={"training error after 2,000 epochs": "below 1%", "test error": "almost 4%"},
    data=("car_evaluation.csv",),
    methods=("MLPClassifier",),
    why=(
        "16 hidden units, half of the rows, 300 epochs in batches of 10 instead of 2,000 of "
        "single rows, rate 0.03, mean of 3 splits; the text "
        "does not name split and coding (here one column for each level). A smaller test error "
        "than printed."
    ),
)
def car_evaluation(data: Folder, seed: int) -> dict[str, Any]:
    import pandas as pd

    table = data.frame("car_evaluation.csv")
    X = pd.get_dummies(table.drop(columns="class")).to_numpy(float)
    y = table["class"].to_numpy()
    train_errors, test_errors = [], []
    for each in range(3):
        order = np.random.default_rng(seed + each).permutation(len(y))
        train, test = order[:864], order[864:]
        model = MLPClassifier(
            (16,),
            "tanh",
            solver="sgd",
            learning_rate_init=0.03,
            alpha=0.0,
            batch_size=10,
            max_iter=300,
            n_iter_no_change=300,
            random_state=seed + each,
        ).fit(X[train], y[train])
        train_errors.append(1 - model.score(X[train], y[train]))
        test_errors.append(1 - model.score(X[test], y[test]))
    return {
        "training error": np.mean(train_errors),
        "test error": np.mean(test_errors),
    }


@experiment(
    "003",
    3,
    "section 3.3.1",
    "Two lotteries",
    printed={"A": -0.55, "B": -2.0},
    methods=("expected_utility",),
)
def lotteries(data: Folder, seed: int) -> dict[str, Any]:
    def worth(price: float, prize: float, chance: float) -> float:
        return expected_utility([(chance, 0.9 * prize), (1 - chance, 0.0)]) - price

    return {"A": worth(1, 5000, 1e-4), "B": worth(20, 1e6, 2e-5)}


@experiment(
    "003",
    3,
    "section 3.4.3.1",
    "A belief network of three variables",
    printed={"P(B | A, C)": 3 / 4, "P(not B | not A, not C)": 16 / 25},
    methods=("BeliefNetwork",),
)
def three_variables(data: Folder, seed: int) -> dict[str, Any]:
    network = BeliefNetwork(
        {"A": "tf", "B": "tf", "C": "tf"},
        {"B": ["A"], "C": ["B"]},
        {
            "A": [2 / 5, 3 / 5],
            "B": [[2 / 3, 1 / 3], [3 / 7, 4 / 7]],
            "C": [[1 / 2, 1 / 2], [1 / 3, 2 / 3]],
        },
    )
    return {
        "P(B | A, C)": network.query("B", A="t", C="t").probability(B="t"),
        "P(not B | not A, not C)": network.query("B", A="f", C="f").probability(B="f"),
    }


@experiment(
    "003",
    4,
    "sections 4.1.3 and 4.2.3",
    "A critical point, and coefficients of polynomials",
    printed={"critical point": [-3 / 26, -11 / 52], "coefficients, 10 columns, degree 5": 3003},
    methods=("critical_points", "polynomial_count"),
)
def critical_point(data: Folder, seed: int) -> dict[str, Any]:
    def f(w: np.ndarray) -> float:
        a, b = w
        return 1 + 2 * a + 3 * b + 4 * a * b + 5 * a * a + 6 * b * b

    found = critical_points(f, [(-2, 2), (-2, 2)], n_init=20)
    return {
        "critical point": np.asarray(found.points)[0],
        "coefficients, 10 columns, degree 5": polynomial_count(10, 5),
    }


def gain(column: int) -> float:
    """Bits that a column of the fashion table tells of the last one."""
    labels = [row[-1] for row in FASHION]

    def bits(values: list[str]) -> float:
        shares = np.unique(values, return_counts=True)[1] / len(values)
        return float(entropy(shares, base=2))

    parts = [
        [row[-1] for row in FASHION if row[column] == level]
        for level in {r[column] for r in FASHION}
    ]
    return bits(labels) - sum(len(part) / len(labels) * bits(part) for part in parts)


@erratum(
    "003",
    2,
    "section 2.3.2.2, information gain",
    printed="a gain of 0.292 bits for the attribute Tie",
    right="0.292 is the gain of Socks; Tie has 0.006",
)
def gain_of_a_tie() -> Proof:
    return Proof(
        "Tie",
        "Socks",
        ("Socks", "Shirt", "Pants", "Tie")[
            int(np.argmin([abs(gain(c) - 0.292) for c in range(4)]))
        ],
        "the column whose gain is nearest to 0.292",
    )


@erratum(
    "003",
    2,
    "section 2.2.1.2",
    printed="the estimate of the variance that divides by n - 1 is the one of maximum likelihood",
    right="maximum likelihood divides by n",
)
def divisor_of_a_variance() -> Proof:
    from scipy.optimize import minimize_scalar
    from scipy.stats import norm

    x = np.array([1.0, 2.0, 4.0, 7.0])
    best = minimize_scalar(
        lambda v: -norm.logpdf(x, x.mean(), np.sqrt(v)).sum(), bounds=(0.5, 30), method="bounded"
    )
    return Proof(
        round(x.var(ddof=1), 4), round(x.var(), 4), round(float(best.x), 4), "maximized likelihood"
    )


@erratum(
    "003",
    3,
    "section 3.3.3, sending without or with a test",
    printed="expected utility with the test 0.146",
    right="0.0286: the second probability is 0.368, not 0.321",
)
def utility_of_a_test() -> Proof:
    x = 150 / 365
    fails = 3 * x**2 - 2 * x**3
    rng = np.random.default_rng(0)
    lasts = rng.beta(2, 2, size=4_000_000) > x
    truth = np.where(lasts, 1.5, -2.5).mean()
    return Proof(
        0.146,
        round(expected_utility([(1 - fails, 1.5), (fails, -2.5)]), 2),
        round(truth, 2),
        "four million simulated parts",
    )


@erratum(
    "003",
    3,
    "section 3.3.5, whom to send a coupon",
    printed="those whose probability of buying is above 0.0536",
    right="below: a coupon only pays where few would buy without it",
)
def whom_to_send_a_coupon() -> Proof:
    answer, gain_of_sale, off, postage = 13 / 67, 1.20, 0.25, 0.12

    def sending_pays(chance: float) -> bool:
        with_coupon = expected_utility([(answer, gain_of_sale - off), (1 - answer, 0.0)]) - postage
        return with_coupon > chance * gain_of_sale

    return Proof(
        "above",
        "below",
        "below" if sending_pays(0.01) and not sending_pays(0.2) else "above",
        "expected profit at probabilities 0.01 and 0.2",
    )


@erratum(
    "003",
    4,
    "section 4.3, convexity",
    printed="a monotonic activation makes the squared error convex",
    right="not so: (1 - logistic(w))^2 is above its chord",
)
def convexity_of_a_squared_error() -> Proof:
    def f(w: float) -> float:
        return (1 - 1 / (1 + np.exp(-w))) ** 2

    return Proof(
        "convex",
        "not convex",
        "convex" if f(-4) <= (f(-8) + f(0)) / 2 else "not convex",
        "f at -8, -4, 0",
    )


@erratum(
    "003",
    4,
    "section 4.4.2, elastic net",
    printed="the quadratic term is added to the weight",
    right="subtracted: else weights grow",
)
def sign_of_a_decay() -> Proof:
    w, step, rate = 2.0, 1e-6, 0.1

    def penalty(value: float) -> float:
        return 0.5 * 0.3 * value**2 + 0.2 * abs(value)

    slope = (penalty(w + step) - penalty(w - step)) / (2 * step)
    return Proof(
        w + rate * 0.3 * w - rate * 0.2,
        w - rate * (0.3 * w + 0.2),
        w - rate * slope,
        "a step along the central difference",
    )


@erratum(
    "003",
    5,
    "section 5.2, chain rule",
    printed="f(g(x)) has the constant term 13",
    right="f(g(x)) = 49 x^4 + 35 x^2 + 7",
)
def constant_of_a_polynomial() -> Proof:
    f, g = np.polynomial.Polynomial([1, -1, 1]), np.polynomial.Polynomial([3, 0, 7])
    return Proof(13.0, 7.0, float(f(g)(0.0)), "the composition at x = 0")


omit("003", 3, "section 3.3.4", "Mushrooms at 97.6%", "a hypothetical figure of the text")
omit(
    "003",
    2,
    "section 2.2.2.2",
    "Neighbors on a pattern of red and cyan",
    "pictures without figures",
)
omit("003", 2, "section 2.5.2", "A hundred bagged models of points", "a picture without figures")
omit("003", 3, "section 3.2.3", "A normal curve through a histogram", "a picture without figures")
