"""Text 002: lecture slides of statistical machine learning."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from scipy import sparse, stats

from examples.texts.frame import Folder, Proof, erratum, experiment, omit
from gnomon.density import HuffmanCode, entropy
from gnomon.ensemble import AdaBoostClassifier, cascade_rates
from gnomon.evaluate import gaussian_parameters, normal_mass
from gnomon.linear import LinearRegression
from gnomon.reduce import PCA
from gnomon.sample import potts_gibbs
from gnomon.sequence import NGramModel, pagerank, plain_letters
from gnomon.text import GibbsLDA, top_words
from gnomon.trees import DecisionTreeClassifier
from gnomon.vision import rectangle_features


@experiment(
    "002",
    6,
    '"Spam data", "AdaBoost"',
    "Spam by a tree and by boosted stumps",
    printed={"error, tree of 17 nodes": 0.093, "error, boosted stumps": 0.045},
    data=("spam.csv",),
    methods=("DecisionTreeClassifier", "AdaBoostClassifier"),
    why=(
        "3,065 training and 1,536 test rows, as in the book from which the example comes; 17 "
        "leaves. Stumps reach 5 to 6%: "
        "4.5% belongs to boosted trees of several splits in that book."
    ),
)
def spam(data: Folder, seed: int) -> dict[str, Any]:
    table = data.frame("spam.csv")
    X = table.drop(columns=["class", "esl_test"]).to_numpy(float)
    y = (table["class"] == "spam").to_numpy().astype(int)
    test = table["esl_test"].to_numpy().astype(bool)
    tree = DecisionTreeClassifier(max_leaf_nodes=17, random_state=seed).fit(X[~test], y[~test])
    boosted = AdaBoostClassifier(n_estimators=400, random_state=seed).fit(X[~test], y[~test])
    table_of_tree = [
        float(np.mean((y[test] == true) & (tree.predict(X[test]) == given)))
        for true in (0, 1)
        for given in (0, 1)
    ]
    return {
        "error, tree of 17 leaves": 1 - tree.score(X[test], y[test]),
        "shares of the table (mail as mail, as spam; spam as mail, as spam)": table_of_tree,
        "error, boosted stumps": 1 - boosted.score(X[test], y[test]),
    }


@experiment(
    "002",
    6,
    '"AdaBoost", simulated data',
    "Many stumps beat one large tree",
    printed={"order": "boosted stumps below a large tree below one stump"},
    methods=("AdaBoostClassifier", "DecisionTreeClassifier"),
    why=(
        "The slide has no numbers; the usual data of this figure: ten normal columns, class by a "
        "sum of squares above 9.34."
    ),
)
def stumps_and_a_large_tree(data: Folder, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12000, 10))
    y = (np.sum(X**2, axis=1) > 9.34).astype(int)
    models = {
        "one stump": DecisionTreeClassifier(max_depth=1),
        "large tree": DecisionTreeClassifier(max_leaf_nodes=244, random_state=seed),
        "400 boosted stumps": AdaBoostClassifier(n_estimators=400, random_state=seed),
    }
    return {
        f"test error, {name}": 1 - model.fit(X[:2000], y[:2000]).score(X[2000:], y[2000:])
        for name, model in models.items()
    }


@experiment(
    "002",
    6,
    '"Viola-Jones"',
    "Rates of a cascade, and number of rectangle features",
    printed={
        "detection rate of 10 stages": "about 0.90",
        "false positive rate": "about 6e-6",
        "rectangle features": "about 160,000",
    },
    methods=("cascade_rates", "rectangle_features"),
    why=(
        "The count is that of windows of 24 x 24 pixels; of 19 x 19, which the slide names, there"
        " are 63,960."
    ),
)
def cascade(data: Folder, seed: int) -> dict[str, Any]:
    rates = cascade_rates(0.99, 0.30, 10)
    return {
        "detection rate of 10 stages": float(rates.detection),
        "false positive rate": float(rates.false_positive),
        "rectangle features, 24 x 24": len(rectangle_features((24, 24))),
        "rectangle features, 19 x 19": len(rectangle_features((19, 19))),
    }


@experiment(
    "002",
    8,
    '"PCA", digits',
    "Components of the digit 3",
    printed={"eigenvalues": "a gap after a few"},
    data=("zip_digits.npz",),
    methods=("PCA",),
    why="The slide shows the curve without numbers; 658 threes of 16 x 16 pixels.",
)
def components_of_threes(data: Folder, seed: int) -> dict[str, Any]:
    file = data.arrays("zip_digits.npz")
    threes = file["train_images"][file["train_labels"] == 3].reshape(-1, 256).astype(float)
    share = PCA().fit(threes).explained_variance_ratio_
    return {
        "threes": len(threes),
        "share of the first 4 components": share[:4],
        "share of the first 50 together": share[:50].sum(),
    }


@experiment(
    "002",
    10,
    '"Shakespeare", n-gram models',
    "Text from n-grams of Shakespeare's words",
    printed={"text": "more like English with every n"},
    data=("shakespeare_8_plays.txt.gz",),
    methods=("NGramModel",),
    why=(
        "Another corpus (8 plays). Measured by the bits per letter that models of letters need on"
        " the last tenth."
    ),
)
def letters_of_shakespeare(data: Folder, seed: int) -> dict[str, Any]:
    letters = plain_letters(data.text("shakespeare_8_plays.txt.gz"))
    cut = 9 * len(letters) // 10
    result = {}
    for n in (1, 2, 3, 4):
        model = NGramModel(n, epsilon=0.01).fit([letters[:cut]])
        score = float(model.score([letters[cut : cut + 30000]]))
        result[f"bits per letter, n = {n}"] = -score / np.log(2) / 30000
    return result


@experiment(
    "002",
    10,
    '"Romeo and Juliet", word frequencies',
    "Zipf's law in Romeo and Juliet",
    printed={"exponent": "1.5 to 2", "bits per letter of English": 4.11},
    data=("romeo_and_juliet.txt",),
    methods=("LinearRegression", "entropy", "HuffmanCode"),
    why=(
        "The slope of log count on log rank is about 1 here. 1.5 to 2 is the exponent of the "
        "other form of the law: how many words are used r times."
    ),
)
def words_of_romeo_and_juliet(data: Folder, seed: int) -> dict[str, Any]:
    text = plain_letters(data.text("romeo_and_juliet.txt"))
    counts = np.array(sorted(Counter(text.split()).values(), reverse=True), float)
    ranks = np.log(np.arange(1, len(counts) + 1))
    slope = LinearRegression().fit(ranks[:, None], np.log(counts)).coef_[0]
    used, words = np.unique(counts, return_counts=True)
    few = used <= 30
    other = LinearRegression().fit(np.log(used[few])[:, None], np.log(words[few])).coef_[0]
    shares = Counter(text)
    shares = {letter: count / len(text) for letter, count in shares.items()}
    return {
        "exponent, count by rank": -slope,
        "exponent, words used r times": -other,
        "bits per letter of the play": entropy(list(shares.values()), base=2),
        "bits of a Huffman code": HuffmanCode.of(shares).mean_length,
    }


@experiment(
    "002",
    12,
    '"PageRank", on another web',
    "PageRank of a small web",
    printed={"graph": "500 pages around harvard.edu"},
    data=("painters_links.csv",),
    methods=("pagerank",),
    why="The 500 pages are not at hand; 14 pages on painters and their 50 links stand in for them.",
)
def rank_of_pages(data: Folder, seed: int) -> dict[str, Any]:
    table = data.frame("painters_links.csv")
    names = sorted(set(table.iloc[:, 0]) | set(table.iloc[:, 1]))
    place = {name: number for number, name in enumerate(names)}
    links = np.zeros((len(names), len(names)))
    for one, other in table.iloc[:, :2].itertuples(index=False):
        links[place[one], place[other]] = 1
    ranks = np.asarray(pagerank(links).scores)
    best = np.argsort(-ranks)[:3]
    return {
        "highest pages": ", ".join(names[each] for each in best),
        "sum of all ranks": ranks.sum(),
    }


@experiment(
    "002",
    14,
    '"Topics in newspaper text"',
    "Topics of the Associated Press",
    printed={
        "topics": (
            "Arts (film, show, music), Budgets (million, tax, program), Children, Education "
            "(school, students)"
        )
    },
    data=("ap_bag_of_words.npz",),
    methods=("GibbsLDA",),
    why=(
        "The same corpus, 30 topics instead of 100 and 60 sweeps, to keep the run short; the four"
        " topics nearest to the printed words."
    ),
)
def topics_of_the_press(data: Folder, seed: int) -> dict[str, Any]:
    file = data.arrays("ap_bag_of_words.npz")
    shape = tuple(file["shape"])
    counts = sparse.csr_matrix((file["count"], (file["doc"], file["word"])), shape=shape)
    model = GibbsLDA(30, max_iter=60, random_state=seed).fit(counts)
    words = top_words(model.components_, [str(word) for word in file["vocabulary"]], 15)
    printed = {
        "Arts": {
            "new",
            "film",
            "show",
            "music",
            "movie",
            "play",
            "musical",
            "best",
            "actor",
            "first",
        },
        "Budgets": {
            "million",
            "tax",
            "program",
            "budget",
            "billion",
            "federal",
            "year",
            "spending",
        },
        "Children": {
            "children",
            "women",
            "people",
            "child",
            "years",
            "families",
            "work",
            "parents",
        },
        "Education": {"school", "students", "schools", "education", "teachers", "high", "public"},
    }
    result = {}
    for name, known in printed.items():
        best = max(words, key=lambda topic: len(known & set(topic)))
        result[f"nearest to {name}"] = ", ".join(best[:8])
    return result


@experiment(
    "002",
    15,
    '"Burn-in of the Potts sampler"',
    "A Potts model after 200 sweeps is not in equilibrium",
    printed={"pictures": "200 sweeps look like segments, 10,000 differ"},
    methods=("potts_gibbs",),
    why=(
        "64 x 64 places, 5 states, beta 1.4, 3,000 sweeps: the share of the commonest state still"
        " grows."
    ),
)
def burn_in_of_a_potts_model(data: Folder, seed: int) -> dict[str, Any]:
    shares = {}
    for sweeps in (200, 3000):
        states = potts_gibbs((64, 64), 1.4, sweeps, n_states=5, random_state=seed).states
        counts = np.bincount(np.asarray(states).ravel().astype(int))
        shares[f"share of the commonest state, {sweeps} sweeps"] = counts.max() / counts.sum()
    return shares


@erratum(
    "002",
    1,
    '"Gaussian distribution"',
    printed="normalizer sqrt(2 pi sigma)",
    right="sqrt(2 pi) sigma",
)
def normalizer_of_a_normal() -> Proof:
    from scipy.integrate import quad

    sigma = 2.5
    truth = quad(lambda x: np.exp(-(x**2) / (2 * sigma**2)), -60, 60)[0]
    return Proof(np.sqrt(2 * np.pi * sigma), np.sqrt(2 * np.pi) * sigma, truth, "quadrature")


@erratum(
    "002",
    1,
    '"Gaussian", mass within standard deviations',
    printed="65%, 95%, 99.7%, also of ellipses in the plane",
    right="68.3%, 95.4%, 99.7% of one column; of ellipses 39.3%, 86.5%, 98.9%",
)
def mass_of_ellipses() -> Proof:
    radii = np.array([1.0, 2.0, 3.0])
    truth = stats.chi2(2).cdf(radii**2)
    return Proof(
        [0.65, 0.95, 0.997],
        [float(normal_mass(r, 2)) for r in radii],
        truth.tolist(),
        "chi-squared with two degrees of freedom",
    )


@erratum(
    "002",
    2,
    '"Perceptron algorithm"',
    printed="every row is added in turn",
    right="only rows that are misclassified: else it does not end",
)
def perceptron_without_a_condition() -> Proof:
    X = np.array([[1, 0.0, 0.0], [1, 2.0, 2.0], [1, 2.0, 0.0], [1, 3.0, 0.0]])
    y = np.array([-1, -1, 1, 1])

    def wrong(condition: bool) -> int:
        z = np.zeros(3)
        for turn in range(4000):
            row = turn % 4
            if not condition or y[row] * (X[row] @ z) <= 0:
                z = z + y[row] * X[row]
        return int(np.sum(y * (X @ z) <= 0))

    from gnomon.margin import separability

    least = 0 if separability(X[:, 1:], y).separable else 1
    return Proof(
        wrong(False),
        wrong(True),
        least,
        "wrong rows after 1,000 rounds; a linear program separates them",
    )


@erratum(
    "002",
    4,
    '"Newton\'s method"',
    printed="converges from every start for convex functions",
    right="not without a line search: it diverges for sqrt(1 + x^2) from |x| > 1",
)
def newton_may_diverge() -> Proof:
    x = 1.5
    for _ in range(4):
        x = -(x**3)  # the Newton step of sqrt(1 + x^2), whose minimum is at 0
    return Proof("converges", "diverges", "diverges" if abs(x) > 1e6 else "converges", "4 steps")


@erratum(
    "002",
    7,
    '"Degrees of freedom" of a normal distribution',
    printed="d + d (d - 1) / 2",
    right="d + d (d + 1) / 2",
)
def parameters_of_a_normal() -> Proof:
    d = 3
    free = d + len({(min(i, j), max(i, j)) for i in range(d) for j in range(d)})
    return Proof(
        d + d * (d - 1) // 2, int(gaussian_parameters(d)), free, "distinct entries, counted"
    )


@erratum(
    "002",
    7,
    '"Bias and variance" of least squares',
    printed="variance of a prediction without a square",
    right="sigma^2 |X (X'X)^-1 x|^2",
)
def variance_of_a_prediction() -> Proof:
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(20), rng.normal(size=20)])
    x0 = np.array([1.0, 1.5])
    weights = X @ np.linalg.inv(X.T @ X) @ x0
    noise = rng.normal(size=(200000, 20))
    return Proof(
        round(float(np.linalg.norm(weights)), 2),
        round(float(weights @ weights), 2),
        round(float((noise @ weights).var()), 2),
        "200,000 simulated fits",
    )


@erratum(
    "002",
    9,
    '"EM", lower bound',
    printed="the sum of the logs of the terms is below the log of their sum",
    right="only with shares that sum to one",
)
def lower_bound_of_em() -> Proof:
    terms = np.array([10.0, 10.0])
    shares = np.array([0.5, 0.5])
    truth = np.log(terms.sum())
    right = shares @ np.log(terms / shares)
    return Proof(
        bool(np.log(terms).sum() <= truth + 1e-12),
        bool(right <= truth + 1e-12),
        True,
        "two terms of 10",
    )


@erratum(
    "002",
    10,
    '"Histograms" of grey values',
    printed="256 values in 16 bins are 8 a bin",
    right="16",
)
def values_in_a_bin() -> Proof:
    counts = np.histogram(np.arange(256), bins=16)[0]
    return Proof(8, 256 // 16, int(counts[0]), "NumPy's histogram of 0 to 255")


@erratum(
    "002",
    14,
    '"Posterior of a normal mean"',
    printed="sigma_n = sigma^2 sigma_0^2 / (sigma^2 + n sigma_0^2) as a standard deviation",
    right="as a variance",
)
def posterior_of_a_mean() -> Proof:
    x, sigma, prior_mean, prior = np.array([4, 5.5, 3.2, 6.1]), 1.5, 2.0, 5.0
    variance = sigma**2 * prior**2 / (sigma**2 + len(x) * prior**2)
    grid = np.linspace(-10, 20, 200001)
    logs = stats.norm.logpdf(grid, prior_mean, prior)
    logs = logs + stats.norm.logpdf(x[:, None], grid, sigma).sum(axis=0)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    spread = weights @ (grid - weights @ grid) ** 2
    return Proof(variance**2, variance, spread, "the posterior on a grid")


omit(
    "002",
    6,
    '"Viola-Jones"',
    "Detection rates on the MIT+CMU pictures",
    "training and test pictures are not at hand",
)
omit("002", 9, '"Mixtures"', "A thousand points of a mixture", "pictures without figures")
omit(
    "002",
    15,
    '"Ising"',
    "Samples on a grid, segmentation of a noisy picture",
    "pictures without figures; the picture is not given",
)
omit(
    "002",
    10,
    '"Multinomial clustering" of a picture',
    "Local histograms of a radar picture",
    "the picture is not at hand",
)
omit(
    "002",
    6,
    '"Bagging"',
    "Bootstrapped trees in five dimensions",
    "pictures without figures; the sample is not given",
)
omit(
    "002",
    6,
    '"Random forests"',
    "One set in two dimensions under support vector machines and a forest",
    "pictures without figures; the points are not given",
)
omit(
    "002",
    8,
    '"Gaussian"',
    "A thousand points of a normal distribution",
    "a picture without figures",
)
omit("002", 13, '"Dishonest casino"', "Filtering and decoding of rolls", "pictures without figures")
