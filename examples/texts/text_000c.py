"""Text 000, chapters 14 to 19: sequence models, mean field, networks, images, maps."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np

from examples.texts.frame import Folder, Proof, erratum, experiment, omit
from gnomon.evaluate import cross_val_score
from gnomon.graphical import PairwiseModel, chain_min_cost, forest_sum_product, mean_field
from gnomon.linear import LogisticRegression
from gnomon.neighbors import KNeighborsClassifier
from gnomon.neural import ConvNetClassifier, MLPClassifier
from gnomon.reduce import PCA, TSNE, sammon
from gnomon.sequence import label_bias
from gnomon.vision import cifar_network, mnist_network, vgg


def credit(data: Folder) -> tuple[np.ndarray, np.ndarray]:
    table = data.frame("credit_default.csv.gz")
    columns = [name for name in table if name.lower() not in ("id", "default")]
    X = table[columns].to_numpy(float)
    return (X - X.mean(axis=0)) / X.std(axis=0), table["default"].to_numpy(int)


@experiment(
    "000",
    16,
    "section 16.2",
    "Credit card default: a baseline and logistic regression",
    printed={"error of predicting no default": 0.22, "error of logistic regression": 0.19},
    data=("credit_default.csv.gz",),
    methods=("LogisticRegression",),
    why=(
        "The text chooses an L1 penalty by cross-validation; with 30,000 rows and 23 columns the "
        "penalty hardly matters."
    ),
)
def credit_by_logistic_regression(data: Folder, seed: int) -> dict[str, Any]:
    X, y = credit(data)
    scores = cross_val_score(LogisticRegression(C=1.0), X, y, cv=5)
    return {
        "error of predicting no default": y.mean(),
        "error of logistic regression": 1 - np.mean(scores),
    }


@experiment(
    "000",
    16,
    "section 16.2, Figures 16.2 to 16.5",
    "Credit card default: two units by stochastic gradient",
    printed={
        "test error, penalty 0.001": "significantly below 0.19",
        "without standardized columns": "no sensible progress",
    },
    data=("credit_default.csv.gz",),
    methods=("MLPClassifier",),
    why=(
        "Batches of 20 instead of single rows and a constant rate; one split of 25,000 and 5,000 "
        "rows. The order agrees: a small penalty is better "
        "than logistic regression, a large one is not, and without standardized columns nobody is"
        " predicted to default."
    ),
)
def credit_by_two_units(data: Folder, seed: int) -> dict[str, Any]:
    X, y = credit(data)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:25000], order[25000:]
    options = {"solver": "sgd", "batch_size": 20, "max_iter": 10, "random_state": seed}
    result = {}
    for alpha in (0.0, 0.001, 0.1):
        model = MLPClassifier((2,), alpha=alpha, learning_rate_init=0.01, **options)
        result[f"test error, penalty {alpha:g}"] = 1 - model.fit(X[train], y[train]).score(
            X[test], y[test]
        )
    raw = data.frame("credit_default.csv.gz")
    raw = raw[[name for name in raw if name.lower() not in ("id", "default")]].to_numpy(float)
    model = MLPClassifier((2,), alpha=0.001, learning_rate_init=0.01, **options)
    try:
        score = model.fit(raw[train], y[train]).score(raw[test], y[test])
        result["test error without standardized columns"] = 1 - score
    except (ValueError, FloatingPointError) as error:
        result["test error without standardized columns"] = f"no fit: {type(error).__name__}"
    result["share of default in the test rows"] = y[test].mean()
    return result


@experiment(
    "000",
    16,
    "section 16.4.3, Figures 16.9 and 16.10",
    "Credit card default: one to four layers",
    printed={"validation error": "lower with more layers, by little"},
    data=("credit_default.csv.gz",),
    methods=("MLPClassifier",),
    why=(
        "Adam from random weights for 5 epochs without dropout, where the text starts a deep net "
        "from a trained shallow one. More layers than one help a little."
    ),
)
def credit_by_deeper_networks(data: Folder, seed: int) -> dict[str, Any]:
    X, y = credit(data)
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:25000], order[25000:]
    result = {}
    for layers in (1, 2, 3, 4):
        model = MLPClassifier((100,) * layers, batch_size=500, max_iter=5, random_state=seed)
        score = model.fit(X[train], y[train]).score(X[test], y[test])
        result[f"validation error, {layers} layers"] = 1 - score
    return result


@experiment(
    "000",
    16,
    "Figures 17.9 and 17.14, Table 18.1",
    "Numbers of parameters",
    printed={
        "first layer of the MNIST network": 520,
        "first layer of the CIFAR network": 2432,
        "learnable layers of VGG A to E": [11, 13, 16, 16, 19],
    },
    methods=("mnist_network", "cifar_network", "vgg"),
)
def numbers_of_parameters(data: Folder, seed: int) -> dict[str, Any]:
    def layers(variant: str) -> int:
        text = str(vgg(variant).summary())
        return sum("Conv2D" in line or "Dense" in line for line in text.splitlines())

    return {
        "first layer of the MNIST network": (5 * 5 * 1) * 20 + 20,
        "first layer of the CIFAR network": (5 * 5 * 3) * 32 + 32,
        "all of the MNIST network": mnist_network().n_parameters,
        "all of the CIFAR network": cifar_network().n_parameters,
        "learnable layers of VGG A to E": [layers(each) for each in "ABCDE"],
        "parameters of VGG A to E, millions": [vgg(each).n_parameters / 1e6 for each in "ABCDE"],
    }


@experiment(
    "000",
    17,
    "section 17.2.1",
    "Digits by a small convolutional network",
    printed={"test error": 0.0089},
    data=("mnist.npz",),
    methods=("ConvNetClassifier",),
    why=(
        "Cut down to run in about a minute: 6,000 training rows instead of 60,000, 3 epochs "
        "instead of 20, a smaller network, 2,000 test rows. "
        "Compare it with logistic regression on the same rows, below."
    ),
)
def digits_by_convolution(data: Folder, seed: int) -> dict[str, Any]:
    X, y, test, truth = digits(data)
    model = ConvNetClassifier(image_shape=(28, 28, 1), max_iter=3, random_state=seed)
    model.fit(X[:6000], y[:6000])
    return {"test error": 1 - model.score(test[:2000], truth[:2000])}


@experiment(
    "000",
    17,
    "section 17.1",
    "Digits by logistic regression on pixels",
    printed={"test error": "quite poor compared with better methods"},
    data=("mnist.npz",),
    methods=("LogisticRegression",),
    why="6,000 training rows, 2,000 test rows.",
)
def digits_by_logistic_regression(data: Folder, seed: int) -> dict[str, Any]:
    X, y, test, truth = digits(data)
    model = LogisticRegression(C=0.05, max_iter=50).fit(X[:6000], y[:6000])
    return {"test error": 1 - model.score(test[:2000], truth[:2000])}


def digits(data: Folder) -> tuple[np.ndarray, ...]:
    file = data.arrays("mnist.npz")
    X, test = (file[f"{part}_images"].reshape(-1, 784) / 255.0 for part in ("train", "test"))
    return X, file["train_labels"], test, file["test_labels"]


@experiment(
    "000",
    19,
    "Figures 19.1 and 19.2",
    "Maps of 1,000 digits: Sammon and t-SNE",
    printed={"maps": "t-SNE separates the digits much better than Sammon's mapping"},
    data=("mnist.npz",),
    methods=("sammon", "TSNE"),
    why=(
        "Measured as the accuracy of one nearest neighbor in the map, 10 folds; the text shows "
        "pictures."
    ),
)
def maps_of_digits(data: Folder, seed: int) -> dict[str, Any]:
    X, y, _, _ = digits(data)
    rows = np.random.default_rng(seed).choice(len(y), size=1000, replace=False)
    reduced = PCA(30, random_state=seed).fit_transform(X[rows])
    maps = {
        "two components": reduced[:, :2],
        "Sammon's mapping": sammon(reduced, max_iter=300).places,
        "t-SNE": TSNE(random_state=seed).fit_transform(reduced),
    }
    return {
        f"accuracy of the nearest neighbor, {name}": float(
            np.mean(cross_val_score(KNeighborsClassifier(1), places, y[rows], cv=10))
        )
        for name, places in maps.items()
    }


@experiment(
    "000",
    14,
    "section 14.2, label bias",
    "Label bias of locally normalized models",
    printed={"effect": "a state with one successor ignores what is observed"},
    methods=("label_bias",),
    why=(
        "Four states, the first of which leads to the fourth only; the third observation speaks "
        "strongly against the fourth."
    ),
)
def bias_of_labels(data: Folder, seed: int) -> dict[str, Any]:
    successors = np.array([[0, 0, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]], bool)
    scores = np.zeros((3, 4))
    scores[0, 1], scores[2, 3] = 2.0, -10.0
    found = label_bias(successors, scores)
    return {
        "path with a softmax at every state": str(np.asarray(found.local_path).tolist()),
        "path with scores added over the whole path": str(np.asarray(found.global_path).tolist()),
    }


def costs_of_all_paths(unary: np.ndarray, pair: np.ndarray) -> dict[tuple[int, ...], float]:
    paths = product(range(unary.shape[1]), repeat=len(unary))
    return {
        path: sum(unary[step, state] for step, state in enumerate(path))
        + sum(pair[one, other] for one, other in pairwise(path))
        for path in paths
    }


@erratum(
    "000",
    14,
    "exercise 14.1 (c)",
    printed="the stated inequalities between the costs force the labels 111111000000",
    right="they do not: the cost of a change from 1 to 0 must be small too",
)
def costs_that_do_not_force_the_labels() -> Proof:
    seen = "aaaaaabbbabb"
    cost = {"0a": 1.0, "0b": 0.0, "1a": 0.0, "1b": 1.0}
    unary = np.array([[cost[f"{state}{letter}"] for state in (0, 1)] for letter in seen])
    pair = np.array([[0.0, 1.0], [20.0, 0.0]])  # meets every printed condition
    costs = costs_of_all_paths(unary, pair)
    return Proof(
        "111111000000",
        "".join(map(str, np.asarray(chain_min_cost(unary, pair).labels).tolist())),
        "".join(map(str, min(costs, key=costs.__getitem__))),
        "the cheapest of all 4,096 labelings",
    )


@erratum(
    "000",
    14,
    "section 14.1.1, dynamic programming on a chain",
    printed="the recursion adds the cost of node k, so that the last node is left out",
    right="it adds the cost of node k + 1",
)
def recursion_on_a_chain() -> Proof:
    to_go = np.zeros(2)
    for step in (1, 0):
        to_go = (CHAIN_EDGES + CHAIN_NODES[step][:, None] + to_go).min(axis=1)
    costs = costs_of_all_paths(CHAIN_NODES, CHAIN_EDGES)
    return Proof(
        float((CHAIN_NODES[0] + to_go).min()),
        float(chain_min_cost(CHAIN_NODES, CHAIN_EDGES).cost),
        min(costs.values()),
        "the cheapest of 8 paths",
    )


CHAIN_NODES = np.array([[0.1, 1.0], [0.5, 0.3], [1.0, 0.2]])
CHAIN_EDGES = np.array([[0.0, 1.0], [2.0, 0.5]])


@erratum(
    "000",
    14,
    "section 14.2.3, normalizer of a chain",
    printed="K = log sum f_1(u), without the cost of the first node",
    right="K = log sum exp(-V_1(u)) f_1(u)",
)
def normalizer_of_a_chain() -> Proof:
    f = np.ones(2)
    for step in (2, 1):
        f = np.exp(-CHAIN_EDGES - CHAIN_NODES[step]) @ f
    model = PairwiseModel(CHAIN_NODES, [(0, 1), (1, 2)], [CHAIN_EDGES, CHAIN_EDGES])
    costs = np.array(list(costs_of_all_paths(CHAIN_NODES, CHAIN_EDGES).values()))
    return Proof(
        float(np.log(f.sum())),
        float(forest_sum_product(model).log_normalizer),
        float(np.log(np.exp(-costs).sum())),
        "the sum over 8 paths",
    )


@erratum(
    "000",
    15,
    "exercise 15.2",
    printed="a cost c for unequal neighbors is the matrix c I",
    right="c (1 1' - I)",
)
def matrix_of_a_cost() -> Proof:
    c = 3.0
    truth = [[c * (i != j) for j in range(3)] for i in range(3)]
    return Proof(
        (c * np.eye(3)).tolist(),
        (c * (1 - np.eye(3))).tolist(),
        truth,
        "the definition, cell by cell",
    )


@erratum(
    "000",
    15,
    "section 15.3, update of mean field",
    printed="an exponential of an exponential",
    right=(
        "q proportional to the exponential of minus the expected cost: exact where variables do "
        "not meet"
    ),
)
def update_of_mean_field() -> Proof:
    unary = np.array([[0.3, 1.0], [0.0, 0.4]])
    model = PairwiseModel(unary, [(0, 1)], [np.zeros((2, 2))])
    weights = np.exp(-unary[0])
    double = np.exp(weights)
    exact = forest_sum_product(model)
    return Proof(
        (double / double.sum()).tolist(),
        np.asarray(mean_field(model).q)[0].tolist(),
        np.asarray(exact.nodes[0]).tolist(),
        "marginals by sum-product on the same model",
    )


@erratum(
    "000",
    16,
    "section 16.2, rate of the last epoch",
    printed=(
        "after a factor 1 / 1.1 at the end of each of 10 epochs the last epoch runs at about 0.38"
    ),
    right="at 0.42: the tenth factor comes after the tenth epoch",
)
def rate_of_the_last_epoch() -> Proof:
    rate, used = 1.0, []
    for _ in range(10):
        used.append(rate)
        rate /= 1.1
    return Proof(round(1.1**-10, 4), round(1.1**-9, 4), round(used[-1], 4), "ten epochs in a loop")


@erratum(
    "000",
    17,
    "section 17.2.1, receptive fields",
    printed="each value of the 4 x 4 x 50 block sees all 28 x 28 pixels",
    right="it sees 16 x 16; the 1 x 1 x 500 block is the first to see all",
)
def what_a_block_sees() -> Proof:
    network = mnist_network()
    line = next(each for each in str(network.summary()).splitlines() if "4 x 4 x 50" in each)
    pixels = {0}
    for size, step in reversed([(5, 1), (2, 2), (5, 1), (2, 2)]):
        pixels = {step * pixel + shift for pixel in pixels for shift in range(size)}
    return Proof(28, int(line.split()[-1]), len(pixels), "pixels traced back through four layers")


@erratum(
    "000",
    17,
    "section 17.2.2, size of the first block",
    printed="32 x 32 x 3 after 32 kernels",
    right="32 x 32 x 32",
)
def size_of_the_first_block() -> Proof:
    text = str(cifar_network().summary()).splitlines()
    first = next(line for line in text if "Conv2D" in line)
    return Proof(3, int(first.split(" x ")[2].split()[0]), 32, "one channel for each kernel")


omit(
    "000",
    17,
    "section 17.2.2",
    "CIFAR-10 by a small network",
    "20 epochs take hours on two processors; part of the data only",
)
omit(
    "000",
    18,
    "sections 18.1 and 18.2",
    "AlexNet, VGG, ResNet and detectors on ImageNet",
    "data and hours of training are not at hand",
)
omit(
    "000",
    19,
    "Figures 19.6 to 19.11",
    "Faces and X-rays by autoencoders and GANs",
    "the data are not at hand; pictures without figures",
)
omit("000", 16, "exercise 16.7", "p53 mutants", "the data are not at hand")
