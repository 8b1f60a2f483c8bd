"""Text 000, chapters 1 to 7: classifiers, learning theory, components, low rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from examples.texts.frame import Folder, Proof, erratum, experiment, omit
from gnomon.bayes import NaiveBayes
from gnomon.evaluate import dichotomies, normal_mass, random_splits
from gnomon.margin import StochasticSVM
from gnomon.neighbors import KNeighborsClassifier
from gnomon.reduce import NIPALS, PCA, cca_permutation_test, principal_coordinates, procrustes
from gnomon.text import LatentSemanticAnalysis
from gnomon.trees import RandomForestClassifier

ADULT = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]


@experiment(
    "000",
    1,
    "Worked Example 1.1",
    "One nearest neighbor on a thousand digits",
    printed={"accuracy": 0.84},
    data=("mnist.npz",),
    methods=("KNeighborsClassifier",),
    why=(
        "The text takes rows 1 to 1,000 and 1,001 to 1,200 of another copy of MNIST. Here: mean "
        "and standard "
        "deviation over 20 random draws of the same sizes. 0.84 is low but within what one draw "
        "can give."
    ),
)
def digits_by_nearest_neighbor(data: Folder, seed: int) -> dict[str, Any]:
    digits = data.arrays("mnist.npz")
    X, y = digits["train_images"].reshape(60000, -1).astype(float), digits["train_labels"]
    rng = np.random.default_rng(seed)
    scores = []
    for _ in range(20):
        rows = rng.choice(len(y), size=1200, replace=False)
        train, test = rows[:1000], rows[1000:]
        model = KNeighborsClassifier(1).fit(X[train], y[train])
        scores.append(model.score(X[test], y[test]))
    return {"accuracy": np.mean(scores), "standard deviation": np.std(scores), "least": min(scores)}


@experiment(
    "000",
    1,
    "Worked Example 1.2",
    "Naive Bayes on breast tissue",
    printed={"accuracy": 0.52, "chance": 0.17},
    data=("breast_tissue.csv",),
    methods=("NaiveBayes",),
    why=(
        "The printed figure is one split with 19 test rows; here 100 stratified splits of a "
        "fifth. The standard "
        "deviation shows that one split says little."
    ),
)
def breast_tissue(data: Folder, seed: int) -> dict[str, Any]:
    table = data.frame("breast_tissue.csv")
    X, y = table.drop(columns="class").to_numpy(float), table["class"].to_numpy()
    scores = [
        NaiveBayes("normal").fit(X[train], y[train]).score(X[test], y[test])
        for train, test in random_splits(len(y), 100, 0.2, stratify=y, random_state=seed)
    ]
    return {
        "accuracy": np.mean(scores),
        "standard deviation over splits": np.std(scores),
        "chance": 1 / 6,
    }


@experiment(
    "000",
    2,
    "section 2.1.6",
    "A linear SVM by stochastic gradient on the Adult table",
    printed={"accuracy": "about 0.8", "squared length of a": "smaller for a larger penalty"},
    data=("adult.csv.gz",),
    methods=("StochasticSVM",),
    why=(
        "The same six columns, season lengths and rate schedule 1 / (0.01 s + 50). The largest "
        "penalty keeps the length near zero and "
        "predicts the common class, whose share is the accuracy."
    ),
)
def adult_by_stochastic_gradient(data: Folder, seed: int) -> dict[str, Any]:
    table = data.frame("adult.csv.gz").iloc[:32000]
    numbers = table.select_dtypes("number").to_numpy(float)
    X = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    y = (table["income"].astype(str).str.contains(">50K")).to_numpy().astype(int)
    result: dict[str, Any] = {"number of columns": X.shape[1]}
    for penalty in (1e-5, 1e-3, 1e-1, 10.0):
        model = StochasticSVM(
            penalty,
            n_seasons=100,
            n_steps=426,
            rate_top=100.0,
            rate_base=5000.0,
            random_state=seed,
        ).fit(X[:27000], y[:27000])
        length = float(np.sum(np.square(model.coef_)))
        result[f"accuracy, penalty {penalty:g}"] = model.score(X[27000:], y[27000:])
        result[f"squared length of a, penalty {penalty:g}"] = length
    result["share of the common class"] = 1 - y[27000:].mean()
    return result


@experiment(
    "000",
    2,
    "Worked Example 2.1",
    "A random forest on heart disease",
    printed={
        "error, five classes": 0.45,
        "error, two classes": 0.19,
        "false positive rate, two classes": 0.16,
        "false negative rate, two classes": 0.22,
        "false positive rate, five classes merged": 0.079,
        "false negative rate, five classes merged": 0.36,
    },
    data=("heart_cleveland.csv",),
    methods=("RandomForestClassifier",),
    why=(
        "Out-of-bag votes of 500 trees, mean of 10 seeds; another implementation of forests. The "
        "conclusion stands: "
        "to merge five classes afterwards misses more of the sick than to learn two classes."
    ),
)
def heart_disease(data: Folder, seed: int) -> dict[str, Any]:
    table = data.frame("heart_cleveland.csv", na_values="?")
    X, y = table.drop(columns="num").to_numpy(float), table["num"].to_numpy(int)
    X = np.where(np.isnan(X), -1.0, X)  # a missing cell is a level of its own, as in the text
    rows = []
    for each in range(10):
        five = out_of_bag_classes(X, y, seed + each)
        two = out_of_bag_classes(X, (y > 0).astype(int), seed + each)
        rows.append(
            [
                np.mean(five != y),
                np.mean(two != (y > 0)),
                np.mean(two[y == 0]),
                np.mean(two[y > 0] == 0),
                np.mean(five[y == 0] > 0),
                np.mean(five[y > 0] == 0),
            ]
        )
    names = [
        "error, five classes",
        "error, two classes",
        "false positive rate, two classes",
        "false negative rate, two classes",
        "false positive rate, five classes merged",
        "false negative rate, five classes merged",
    ]
    return dict(zip(names, np.mean(rows, axis=0), strict=True))


def out_of_bag_classes(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    forest = RandomForestClassifier(500, max_features=3, oob_score=True, random_state=seed)
    forest.fit(X, y)
    return forest.classes_[forest.oob_decision_function_.argmax(axis=1)]


@experiment(
    "000",
    2,
    "Table 1.1, Worked Example 2.1",
    "Rates of the printed confusion tables",
    printed={
        "class errors, five classes": [0.079, 0.91, 0.81, 0.86, 1.0],
        "total error, five classes": 0.45,
        "total error, two classes": 0.19,
    },
    why="Recomputed from the printed counts: the same after rounding.",
)
def printed_confusion_tables(data: Folder, seed: int) -> dict[str, Any]:
    five = np.array(
        [[151, 7, 2, 3, 1], [32, 5, 9, 9, 0], [10, 9, 7, 9, 1], [6, 13, 9, 5, 2], [2, 3, 2, 6, 0]]
    )
    two = np.array([[138, 26], [31, 108]])
    return {
        "class errors, five classes": 1 - np.diag(five) / five.sum(axis=1),
        "total error, five classes": 1 - np.trace(five) / five.sum(),
        "total error, two classes": 1 - np.trace(two) / two.sum(),
    }


@experiment(
    "000",
    3,
    "Worked Examples 3.1 to 3.4",
    "How many labelings a linear classifier can give",
    printed={
        "3 points on a line": 6,
        "4 points in the plane": 14,
        "4 points, three on a line": 12,
    },
    methods=("dichotomies",),
)
def labelings_of_few_points(data: Folder, seed: int) -> dict[str, Any]:
    on_a_line = np.array([[0.0], [1.0], [2.0]])
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.1]])
    three_on_a_line = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 1.0]])
    return {
        "3 points on a line": len(dichotomies(on_a_line).labelings),
        "4 points in the plane": len(dichotomies(square).labelings),
        "4 points, three on a line": len(dichotomies(three_on_a_line).labelings),
    }


@experiment(
    "000",
    5,
    "sections 4.1.2 and 5.1.2",
    "Four columns of the body fat table, turned to their components",
    printed={"extent along the components": "about 80, 15, and far less in 3 and 4"},
    data=("bodyfat.csv",),
    methods=("PCA",),
    why=(
        "The text reads the extents off a picture and gives no units; here twice the standard "
        "deviation along each "
        "component, without rows 39 and 42, which the text calls outliers. The order of sizes "
        "agrees."
    ),
)
def body_fat_components(data: Folder, seed: int) -> dict[str, Any]:
    table = data.frame("bodyfat.csv")[["weight", "adipos", "age", "height"]].to_numpy(float)
    model = PCA().fit(np.delete(table, [38, 41], axis=0))
    return {"extent along the components": 2 * np.sqrt(model.explained_variance_)}


@experiment(
    "000",
    5,
    "section 5.1.4",
    "The error of a projection is the sum of the eigenvalues left out (iris)",
    printed={"largest difference": 0},
    data=("iris.csv",),
    methods=("PCA",),
)
def projection_error_of_iris(data: Folder, seed: int) -> dict[str, Any]:
    X = data.frame("iris.csv").iloc[:, :4].to_numpy(float)
    values = PCA().fit(X).explained_variance_ * (len(X) - 1) / len(X)
    errors, differences = [], []
    for kept in (1, 2, 3):
        model = PCA(kept).fit(X)
        back = model.inverse_transform(model.transform(X))
        errors.append(np.mean(np.sum((X - back) ** 2, axis=1)))
        differences.append(abs(errors[-1] - values[kept:].sum()))
    return {
        "eigenvalues": values,
        "error with 1, 2, 3 components": errors,
        "largest difference": float(np.round(max(differences), 12)),
    }


@experiment(
    "000",
    5,
    "section 5.3, on other faces",
    "How many components a set of faces needs",
    printed={"components": "a couple of hundred hold most of the variance (JAFFE, 64 x 64)"},
    data=("att_faces.npz",),
    methods=("PCA",),
    why=(
        "Other faces: the text's set may not be passed on. 400 pictures of 28 x 23 pixels stand "
        "in for it."
    ),
)
def eigenfaces(data: Folder, seed: int) -> dict[str, Any]:
    faces = data.arrays("att_faces.npz")["images"].reshape(400, -1).astype(float)
    share = np.cumsum(PCA().fit(faces).explained_variance_ratio_)
    return {
        "components for 90% of the variance": int(np.searchsorted(share, 0.9) + 1),
        "share of the first 200": share[199],
    }


@experiment(
    "000",
    6,
    "section 6.2.3",
    "A map of South African provincial capitals from their distances",
    printed={"map": "matches the geographical map"},
    data=("south_african_capitals.csv",),
    methods=("principal_coordinates", "procrustes"),
    why="The text's own distances are not printed; here great circles between the same towns.",
)
def map_of_capitals(data: Folder, seed: int) -> dict[str, Any]:
    table = data.frame("south_african_capitals.csv")
    distances = table.select_dtypes("number").iloc[:, -len(table) :].to_numpy(float)
    found = principal_coordinates(distances, 2)
    latitude, longitude = (np.radians(table[start]) for start in ("latitude", "longitude"))
    flat = np.column_stack([longitude * np.cos(latitude.mean()), latitude]) * 6371
    aligned = procrustes(found.places, flat)
    away = np.sqrt(np.mean(np.sum((aligned.places - flat) ** 2, axis=1)))
    return {"root mean square distance from the true place, km": away}


@experiment(
    "000",
    6,
    "section 6.3.5, on other documents",
    "Nearest words after latent semantic analysis",
    printed={"nearest words": "share phrases with the word: model-models, network-networks"},
    data=("ap_bag_of_words.npz",),
    methods=("LatentSemanticAnalysis",),
    why=(
        "Associated Press articles stand in for the papers of NIPS, which the data do not hold; "
        "200 dimensions."
    ),
)
def words_near_words(data: Folder, seed: int) -> dict[str, Any]:
    from scipy import sparse

    file = data.arrays("ap_bag_of_words.npz")
    shape = tuple(file["shape"])
    counts = sparse.csr_matrix((file["count"], (file["doc"], file["word"])), shape=shape)
    model = LatentSemanticAnalysis(200, random_state=seed).fit(counts.astype(float))
    vectors = np.asarray(model.components_).T * model.singular_values_
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    words = [str(word) for word in file["vocabulary"]]
    near = {}
    for word in ("police", "bush", "stock", "school"):
        similar = vectors @ vectors[words.index(word)]
        near[word] = ", ".join(words[each] for each in np.argsort(-similar)[1:4])
    return near


@experiment(
    "000",
    7,
    "section 7.3",
    "Canonical correlations of tiles, and of noise of the same shape",
    printed={
        "first correlations": [0.96, 0.94, 0.93, 0.93, 0.92],
        "share of shuffles below the observed value": 0.826,
    },
    methods=("cca_permutation_test",),
    why=(
        "The picture data are not at hand. Two independent sets of 400 x 121 normal numbers give "
        "correlations nearly as "
        "large, and the permutation test is as undecided: the number of rows alone explains the "
        "text's case."
    ),
)
def canonical_correlations_of_noise(data: Folder, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(2, 400, 121))
    test = cca_permutation_test(X, Y, n_permutations=99, random_state=seed)
    return {
        "first correlations": np.asarray(test.correlations)[:5],
        "p value with all pairs": float(np.asarray(test.p_values)[-1]),
    }


@erratum(
    "000",
    1,
    "section 1.3, estimate of p(y)",
    printed="the count of a class divided by the number of classes",
    right="the count of a class divided by the number of training rows",
)
def prior_of_a_class() -> Proof:
    y = np.array([0] * 6 + [1] * 3 + [2])
    counts = np.bincount(y)
    model = NaiveBayes("normal").fit(np.arange(10.0)[:, None] % 4, y)
    return Proof(
        (counts / 3).tolist(),
        (counts / 10).tolist(),
        model.class_prior_.tolist(),
        "the prior that the fitted model uses; probabilities sum to 1",
    )


@erratum(
    "000",
    1,
    "Worked Example 1.2, confusion table",
    printed="rows are the true classes",
    right="columns are the true classes: only their sums are a fifth of the class sizes",
)
def which_side_is_true() -> Proof:
    table = np.array(
        [
            [2, 0, 0, 0, 0, 0],
            [0, 3, 0, 0, 0, 1],
            [2, 0, 2, 0, 0, 0],
            [0, 0, 0, 0, 1, 0],
            [0, 0, 0, 0, 2, 1],
            [0, 1, 0, 3, 0, 1],
        ]
    )
    sizes = np.array([22, 21, 14, 15, 16, 18])
    return Proof(
        table.sum(axis=1).tolist(),
        table.sum(axis=0).tolist(),
        (sizes // 5).tolist(),
        "a fifth of the class sizes of the data set, rounded down",
    )


@erratum(
    "000",
    2,
    "section 2.1.6, how many rows are seen",
    printed="100 seasons of 50 draws touch about 3,000 of 27,000 rows",
    right="N (1 - (1 - 1/N)^draws), about 4,564",
)
def rows_that_are_seen() -> Proof:
    rows, draws = 27000, 5000
    rng = np.random.default_rng(0)
    seen = [len(np.unique(rng.integers(rows, size=draws))) for _ in range(400)]
    expected = rows * (1 - (1 - 1 / rows) ** draws)
    return Proof(
        30, round(expected / 100), round(np.mean(seen) / 100), "400 simulations, in hundreds"
    )


@erratum(
    "000",
    3,
    "Worked Example 3.2",
    printed="four points on a line have 10 labelings",
    right="8 = 2 N; 10 is the count for five points",
)
def labelings_of_points_on_a_line() -> Proof:
    line = np.column_stack([np.arange(4.0), np.zeros(4)])
    return Proof(
        10, 2 * 4, len(dichotomies(line).labelings), "a linear program for each of 16 labelings"
    )


@erratum(
    "000",
    3,
    "section 3.3.3, the VC bound",
    printed="the growth function at N in the union bound",
    right="the growth function at 2 N: the second sample adds N points",
)
def growth_at_twice_the_rows() -> Proof:
    def patterns(n: int) -> int:
        return len(dichotomies(np.arange(float(n))[:, None]).labelings)

    n = 3
    return Proof(
        patterns(n), 2 * (2 * n), patterns(2 * n), "labelings of two samples of 3 points together"
    )


@erratum(
    "000",
    4,
    "exercise 4.8 and section 10.3.4",
    printed="66% of a normal distribution is within one standard deviation",
    right="68.27%",
)
def mass_within_one_deviation() -> Proof:
    truth = stats.norm.cdf(1) - stats.norm.cdf(-1)
    return Proof(0.66, float(normal_mass(1.0)), truth, "the distribution function of SciPy")


@erratum(
    "000",
    4,
    "section 4.2.1, error of the mean (exercise 4.8)",
    printed="thresholds k / N for the mean of N rows",
    right="k / sqrt(N): the standard deviation of a mean",
)
def deviation_of_a_mean() -> Proof:
    rng = np.random.default_rng(0)
    n = 100
    means = rng.normal(size=(20000, n)).mean(axis=1)
    return Proof(
        round(1 / n, 2), round(1 / np.sqrt(n), 2), round(means.std(), 2), "20,000 simulated means"
    )


@erratum(
    "000",
    5,
    "section 5.1.6, NIPALS with missing cells",
    printed="denominators are summed over all cells",
    right="over the known cells only; then rank-one data are recovered exactly",
)
def nipals_with_missing_cells() -> Proof:
    rng = np.random.default_rng(0)
    whole = np.outer(rng.normal(size=30), rng.normal(size=8))
    X = np.where(rng.random(whole.shape) < 0.3, np.nan, whole)
    known = ~np.isnan(X)
    filled = np.where(known, X, 0.0)
    u = filled[0] / np.linalg.norm(filled[0])
    for _ in range(500):  # the printed steps
        w = filled @ u / (u @ u)
        u = filled.T @ w / (w @ w)
        u /= np.linalg.norm(u)
    printed = np.linalg.norm(np.outer(filled @ u, u) - whole) / np.linalg.norm(whole)
    model = NIPALS(1, center=False).fit(X)
    back = np.asarray(model.inverse_transform(model.transform(X)))
    corrected = np.linalg.norm(back - whole) / np.linalg.norm(whole)
    return Proof(
        round(printed, 3),
        round(corrected, 6),
        0.0,
        "the rank-one matrix that cells were taken from",
    )


@erratum(
    "000",
    6,
    "Procedure 6.2, principal coordinates",
    printed="W = +1/2 A D A'",
    right="W = -1/2 A D A'",
)
def sign_of_principal_coordinates() -> Proof:
    X = np.random.default_rng(0).normal(size=(6, 3))
    X -= X.mean(axis=0)
    squared = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    A = np.eye(6) - 1 / 6
    first = A @ squared @ A.T
    return Proof(
        round(first[0, 0] / 2, 6), round(-first[0, 0] / 2, 6), round(X[0] @ X[0], 6), "X X' itself"
    )


@erratum(
    "000",
    6,
    "section 6.3.1, distance of unit vectors",
    printed="2 - cosine",
    right="the square of the distance is 2 - 2 cosine",
)
def distance_and_cosine() -> Proof:
    x, y = np.array([3.0, 4.0, 0.0]) / 5, np.array([0.0, 0.6, 0.8])
    return Proof(2 - x @ y, 2 - 2 * (x @ y), float(np.sum((x - y) ** 2)), "the difference itself")


@erratum(
    "000",
    6,
    "section 6.3.6, TF-IDF",
    printed="a word in every document keeps about its count",
    right="with the printed formula c log(N / N_i) it gets 0",
)
def tf_idf_of_a_common_word() -> Proof:
    from gnomon.text import TfidfTransformer

    counts = np.array([[3.0, 1.0], [2.0, 0.0], [4.0, 0.0]])
    given = TfidfTransformer(norm=None, smooth_idf=False, idf_formula="log").fit_transform(counts)
    return Proof(3.0, 3 * np.log(3 / 3), float(given.toarray()[0, 0]), "TfidfTransformer")


omit("000", 5, "section 5.2", "Spectral reflectances of 1,995 surfaces", "the data are not at hand")
omit(
    "000",
    6,
    "sections 6.2.3, 6.3.3",
    "Reflectances; words of NIPS papers",
    "the data are not at hand",
)
omit("000", 7, "Worked Example 7.1", "Anxiety and wildness of mice", "the data are not at hand")
omit(
    "000", 7, "section 7.2", "Captions and features of 20,000 pictures", "the data are not at hand"
)
omit(
    "000", 4, "section 4.1.2", "Scatter and stem plots of iris and wine", "pictures without figures"
)
