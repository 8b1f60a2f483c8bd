"""Text 004: few printed figures; stories of data and statements are checked."""

from __future__ import annotations

from math import comb, exp
from typing import Any

import numpy as np
from scipy import stats

from examples.texts.frame import Folder, Proof, erratum, experiment, omit
from gnomon.cluster import AgglomerativeClustering
from gnomon.ensemble import majority_probability
from gnomon.linear import LinearRegression, PolynomialFeatures, chi_square_fit
from gnomon.margin import ANOVA, Polynomial
from gnomon.neighbors import KNeighborsClassifier
from gnomon.neural import Autoencoder
from gnomon.optimize import BoldDriver, minimize
from gnomon.reduce import PCA, lattice, stress_layout
from gnomon.select import mutual_information


@experiment(
    "004",
    3,
    "Figure 3.5",
    "Confusions of the digit 3 among ZIP code digits",
    printed={"right": 632, "as 2": 8, "as 5": 10, "as 8": 7, "as 1 or 4": 0},
    data=("zip_digits.npz",),
    methods=("KNeighborsClassifier",),
    why=(
        "The classifier is not named. Here five nearest neighbors, each of the 658 threes of the "
        "training set left out in turn by 10 folds. "
        "8, 5 and 2 lead here too."
    ),
)
def confusions_of_threes(data: Folder, seed: int) -> dict[str, Any]:
    file = data.arrays("zip_digits.npz")
    X, y = file["train_images"].reshape(-1, 256).astype(float), file["train_labels"]
    fold = np.random.default_rng(seed).integers(0, 10, len(y))
    given = np.empty_like(y)
    for each in range(10):
        model = KNeighborsClassifier(5).fit(X[fold != each], y[fold != each])
        given[fold == each] = model.predict(X[fold == each])
    counts = np.bincount(given[y == 3].astype(int), minlength=10)
    return {
        "right": counts[3],
        "as 2": counts[2],
        "as 5": counts[5],
        "as 8": counts[8],
        "as 1 or 4": counts[1] + counts[4],
    }


@experiment(
    "004",
    4,
    "Figures 4.1 and 5.3",
    "Price of cars by horsepower",
    printed={"fit": "a line, and a polynomial of degree 2"},
    data=("automobile.csv",),
    methods=("LinearRegression", "PolynomialFeatures"),
    why=(
        "The figures have no numbers and their data are not named; R squared on the automobile "
        "table."
    ),
)
def price_of_cars(data: Folder, seed: int) -> dict[str, Any]:
    table = data.frame("automobile.csv", na_values="?")[["horsepower", "price"]].dropna()
    X, y = table[["horsepower"]].to_numpy(float), table["price"].to_numpy(float)
    return {
        f"R squared, degree {degree}": LinearRegression()
        .fit(P := PolynomialFeatures(degree, include_bias=False).fit_transform(X), y)
        .score(P, y)
        for degree in (1, 2)
    }


@experiment(
    "004",
    9,
    "section 9.3.1",
    "Digits through a bottleneck of two units",
    printed={"map": "visible clusters of digits"},
    data=("mnist.npz",),
    methods=("Autoencoder", "PCA"),
    why=(
        "Not reached in a run of seconds: after 40 epochs on 2,000 digits the codes tell digits "
        "apart no better than two components. Accuracy "
        "of one nearest neighbor between the codes of 2,000 training rows and 1,000 others."
    ),
)
def digits_through_two_units(data: Folder, seed: int) -> dict[str, Any]:
    file = data.arrays("mnist.npz")
    rows = np.random.default_rng(seed).choice(60000, size=3000, replace=False)
    X = file["train_images"].reshape(-1, 784)[rows] / 255.0
    y = file["train_labels"][rows]
    reduced = PCA(50, random_state=seed).fit_transform(X)
    coder = Autoencoder(2, hidden_layer_sizes=(128, 32), max_iter=40, random_state=seed)
    codes = {
        "two components": reduced[:, :2],
        "two units": np.asarray(coder.fit(reduced[:2000]).transform(reduced)),
    }
    return {
        f"accuracy of the nearest neighbor, {name}": KNeighborsClassifier(1)
        .fit(places[:2000], y[:2000])
        .score(places[2000:], y[2000:])
        for name, places in codes.items()
    }


@experiment(
    "004",
    13,
    "Figures 13.2 and 13.4",
    "Groups of cars by mechanical features and price",
    printed={"dendrogram": "picture"},
    data=("automobile.csv",),
    methods=("AgglomerativeClustering",),
    why=(
        "The text shows a picture. Here: how the mean price differs between four groups of Ward's"
        " linkage on standardized columns."
    ),
)
def groups_of_cars(data: Folder, seed: int) -> dict[str, Any]:
    table = data.frame("automobile.csv", na_values="?").select_dtypes("number").dropna()
    X = table.to_numpy(float)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    labels = AgglomerativeClustering(4, linkage="ward").fit(scaled).labels_
    prices = table["price"].to_numpy()
    return {
        "cars in each group": np.bincount(labels),
        "mean price of each group": [prices[labels == each].mean() for each in range(4)],
    }


@experiment(
    "004",
    16,
    "Figures 16.2 and 16.3, on other votes",
    "Representatives by their votes",
    printed={"layout": "two parties separate although the party is not an input"},
    data=("house_votes_84.csv",),
    methods=("PCA", "KNeighborsClassifier"),
    why=(
        "Votes of the House of 1984 stand in for the text's activities; accuracy of the party of "
        "the nearest member in a map of two coordinates."
    ),
)
def representatives(data: Folder, seed: int) -> dict[str, Any]:
    table = data.frame("house_votes_84.csv")
    votes = table.drop(columns="Class").replace({"y": 1.0, "n": -1.0, "?": 0.0}).to_numpy(float)
    party = table["Class"].to_numpy()
    places = PCA(2).fit_transform(votes)
    order = np.random.default_rng(seed).permutation(len(party))
    half = len(party) // 2
    model = KNeighborsClassifier(5).fit(places[order[:half]], party[order[:half]])
    return {
        "accuracy of the party from the map": model.score(
            places[order[half:]], party[order[half:]]
        ),
        "share of the larger party": np.unique(party, return_counts=True)[1].max() / len(party),
    }


@experiment(
    "004",
    16,
    "Figures 16.5 to 16.8",
    "Three layouts of a lattice",
    printed={
        "edges only": "tangled, stress 0",
        "with default distances": "bent to a ball",
        "with shortest paths": "a pillow",
    },
    methods=("lattice", "stress_layout"),
    why=(
        "12 x 12 nodes instead of 30 x 30, to keep the run short; side of the square over its "
        "middle row: below 1 a ball, above 1 a pillow with drawn-out corners."
    ),
)
def layouts_of_a_lattice(data: Folder, seed: int) -> dict[str, Any]:
    net = lattice(12, 12)
    result = {}
    for name, missing in (("with default distances", "repel"), ("with shortest paths", "paths")):
        found = stress_layout(net, missing=missing, default_distance=9.0, random_state=seed)
        side = np.linalg.norm(found.places[0] - found.places[11])
        middle = np.linalg.norm(found.places[72] - found.places[83])
        result[f"{name}: side / middle row"] = side / middle
    return result


@experiment(
    "004",
    5,
    "appendix of chapter 5, Figure 5.7",
    "Whiskers of a box plot of normal data",
    printed={"whisker": 2.7, "within": 0.993},
)
def whiskers(data: Folder, seed: int) -> dict[str, Any]:
    quartile = stats.norm.ppf(0.75)
    whisker = quartile + 1.5 * 2 * quartile
    return {"whisker": whisker, "within": 2 * stats.norm.cdf(whisker) - 1}


@experiment(
    "004",
    11,
    "section 11.1",
    "Majorities of independent voters",
    printed={"error": "tends to 0 where each is right more often than not"},
    methods=("majority_probability",),
)
def majorities(data: Folder, seed: int) -> dict[str, Any]:
    return {
        f"error of {m} voters, each right with 0.6": 1 - majority_probability(0.6, m)
        for m in (1, 11, 101)
    }


@experiment(
    "004",
    9,
    "section 9.2.1",
    "The bold driver never ends above its start",
    printed={"error": "does not rise from accepted step to step"},
    methods=("BoldDriver",),
)
def bold_driver(data: Folder, seed: int) -> dict[str, Any]:
    def error(w: np.ndarray) -> float:
        return 0.5 * float(w[0] ** 2 + 25 * w[1] ** 2)

    def slope(w: np.ndarray) -> np.ndarray:
        return np.array([w[0], 25 * w[1]])

    found = minimize(error, [1.0, 1.0], BoldDriver(0.01, max_iter=60), jac=slope)
    return {"error at the start": 13.0, "error after 60 steps": float(found.fun)}


@erratum(
    "004",
    5,
    "section 5.1, a good fit",
    printed="chi-squared near 1",
    right="chi-squared near its degrees of freedom N - M",
)
def chi_squared_of_a_good_fit() -> Proof:
    rng = np.random.default_rng(0)
    x = np.linspace(0, 5, 30)
    values = [
        chi_square_fit(x, 1 + 2 * x + rng.normal(size=30), 1.0, 1).goodness.chi2 for _ in range(300)
    ]
    return Proof(
        1, 30 - 2, round(float(np.mean(values))), "mean of 300 simulated fits of the true line"
    )


@erratum(
    "004",
    5,
    "Figure 5.1",
    printed="a polynomial has degree - 1 free parameters",
    right="degree + 1",
)
def parameters_of_a_polynomial() -> Proof:
    x = np.linspace(0, 1, 9)
    rank = np.linalg.matrix_rank(np.vander(x, 4))
    return Proof(3 - 1, 3 + 1, int(rank), "rank of the columns of degree 3")


@erratum(
    "004",
    7,
    "equation 7.5, conditional entropy",
    printed="a minus sign before the sum of P(x) H(Y | x)",
    right="no minus: an entropy is not negative",
)
def sign_of_a_conditional_entropy() -> Proof:
    x, y = np.array([0, 0, 1, 1, 1, 1]), np.array([0, 1, 0, 0, 0, 1])

    def bits(values: np.ndarray) -> float:
        shares = np.unique(values, return_counts=True)[1] / len(values)
        return float(-np.sum(shares * np.log(shares)))

    inside = sum(np.mean(x == level) * bits(y[x == level]) for level in (0, 1))
    truth = bits(y) - mutual_information(x.astype(float), y, n_bins=2)
    return Proof(-inside, inside, float(truth), "H(Y) - I(X; Y)")


@erratum(
    "004",
    10,
    "section 10.1.3, ANOVA kernel",
    printed="exp(-gamma (x - y)) without a square",
    right="exp(-gamma (x - y)^2): a kernel is symmetric",
)
def symmetry_of_the_anova_kernel() -> Proof:
    x, y = np.array([1.0, 2.0]), np.array([0.5, -1.0])

    def printed(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.sum(np.exp(-0.5 * (a - b))) ** 2)

    kernel = ANOVA(gamma=0.5, degree=2)
    value = float(np.asarray(kernel(x[None], y[None])).ravel()[0])
    back = float(np.asarray(kernel(y[None], x[None])).ravel()[0])
    return Proof(
        round(printed(x, y) - printed(y, x), 6), round(value - back, 6), 0.0, "k(x, y) - k(y, x)"
    )


@erratum(
    "004",
    13,
    "section 13.6, ellipsoid of Mahalanobis distances",
    printed="the sphere mapped by S",
    right="by the square root of S",
)
def ellipsoid_of_a_covariance() -> Proof:
    S = np.diag([4.0, 1.0, 0.25])
    axis = np.array([1.0, 0.0, 0.0])
    inverse = np.linalg.inv(S)

    def distance(point: np.ndarray) -> float:
        return float(np.sqrt(point @ inverse @ point))

    return Proof(
        distance(S @ axis), distance(np.sqrt(S) @ axis), 1.0, "the distance that is asked for"
    )


@erratum(
    "004",
    11,
    "section 11.6, probability from additive logistic regression",
    printed="P = exp(H) / (1 + exp(H))",
    right="exp(2 H) / (1 + exp(2 H)) where H minimizes the exponential loss",
)
def probability_of_a_boosted_score() -> Proof:
    from scipy.optimize import minimize_scalar

    p = 0.8
    H = minimize_scalar(lambda h: p * exp(-h) + (1 - p) * exp(h)).x
    return Proof(
        round(exp(H) / (1 + exp(H)), 5),
        round(exp(2 * H) / (1 + exp(2 * H)), 5),
        p,
        "the true share",
    )


@erratum(
    "004",
    2,
    "section 2.1, weighted neighbors with a large offset",
    printed="tends to the mean of all training outputs",
    right="to the mean of the k nearest",
)
def large_offset_of_weights() -> Proof:
    from gnomon.neighbors import KNeighborsRegressor

    X, y = np.array([[0.0], [1.0], [3.0], [7.0]]), np.array([1.0, 2.0, 4.0, 10.0])
    model = KNeighborsRegressor(3, weights="distance", offset=1e9).fit(X, y)
    return Proof(
        y.mean(), y[:3].mean(), float(model.predict([[2.0]])[0]), "the model with offset 1e9"
    )


@experiment(
    "004",
    10,
    "section 10.1.3",
    "Features of a polynomial kernel",
    printed={"largest difference from (1 + x y)^d": 0},
    methods=("Polynomial",),
    why="With a_n = sqrt(C(d, n)), which the text leaves to the reader.",
)
def features_of_a_polynomial_kernel(data: Folder, seed: int) -> dict[str, Any]:
    x, y = np.random.default_rng(seed).normal(size=(2, 50, 1))
    kernel = np.asarray(Polynomial(degree=3, gamma=1.0, coef0=1.0)(x, y))
    roots = np.sqrt([comb(3, n) for n in range(4)])
    product = (roots * x ** np.arange(4)) @ (roots * y ** np.arange(4)).T
    away = np.abs(kernel - product).max()
    return {"largest difference from (1 + x y)^d": float(np.round(away, 9))}


omit("004", 4, "Figure 4.5", "Stature for age", "the data are not named")
omit(
    "004",
    6,
    "section 6.2",
    "Kinect; committees of networks for characters",
    "no figures and no data",
)
omit("004", 9, "Figure 9.4", "Energy to heat a house", "the data are not named")
omit("004", 11, "section 11.3", "Volcanoes on Venus", "the data are not at hand")
omit("004", 16, "Figure 16.1", "Friends with mountaineering interests", "the data are not given")
