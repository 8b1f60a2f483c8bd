"""Few labels on reviews, spam and wine: transductive SVM, active learning, metric from links.

python -m benchmarks.semi.few_labels [reviews|spam|wine] [n_draws] prints the accuracy on unlabeled
reviews of a linear SVM of 40 labels and of TransductiveSVC, draw by draw; the accuracy on `spam` of
labels drawn at random and chosen by uncertainty; and the adjusted Rand index of k-means on `wine`
by the Euclidean distance and by a metric learned from 200 links. Without a name, all three.
Needs ../shared/data.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from gnomon.cluster import KMeans
from gnomon.margin import LinearSVC
from gnomon.prepare import StandardScaler
from gnomon.semi import LinkMetric, TransductiveSVC, label_curve, links_from_labels
from gnomon.trees import RandomForestClassifier

DATA = Path(__file__).parents[2] / "../shared/data"


def reviews(n_draws: int) -> None:
    table = pd.read_csv(DATA / "movie_reviews.csv.gz")
    X = TfidfVectorizer(min_df=3, sublinear_tf=True).fit_transform(table["text"])
    truth = table["label"].to_numpy()
    gains = []
    for draw in range(n_draws):
        rng = np.random.default_rng(draw)
        y = np.full(len(truth), None, dtype=object)
        for c in np.unique(truth):
            some = rng.choice(np.flatnonzero(truth == c), 20, replace=False)
            y[some] = c
        free = np.array([value is None for value in y])
        plain = LinearSVC(random_state=0).fit(X[~free], truth[~free])
        alone = float((plain.predict(X[free]) == truth[free]).mean())
        model = TransductiveSVC(C=30.0, C_unlabeled=0.3, search="continuation").fit(X, y)
        with_all = float((model.transduction_[free] == truth[free]).mean())
        gains.append(100 * (with_all - alone))
        print(f"draw {draw}: SVM {100 * alone:.1f}, transductive {100 * with_all:.1f}", flush=True)
    print(f"gain: mean {np.mean(gains):+.1f} points, least {min(gains):+.1f}", flush=True)


def spam(n_repeats: int) -> None:
    table = pd.read_csv(DATA / "spam.csv").drop(columns="esl_test")
    X, y = table.drop(columns="class").to_numpy(float), table["class"].to_numpy()
    curve = label_curve(
        RandomForestClassifier(100, random_state=0),
        X,
        y,
        n_start=20,
        n_labels=200,
        n_queries=10,
        n_repeats=n_repeats,
        random_state=0,
    )
    print(curve)
    reached = curve.labels_for(curve.random[-1].value)
    print(f"random at 200 labels: {curve.random[-1].value:.3f}, reached with {reached}")


def wine(n_draws: int, scaled: bool) -> None:
    table = pd.read_csv(DATA / "wine.csv")
    X, truth = table.drop(columns="class").to_numpy(float), table["class"].to_numpy()
    X = StandardScaler().fit_transform(X) if scaled else X

    def rand_index(rows: np.ndarray) -> float:
        return adjusted_rand_score(truth, KMeans(3, n_init=10, random_state=0).fit_predict(rows))

    plain = rand_index(X)
    for metric in ("diagonal", "full"):
        found = []
        for draw in range(n_draws):
            must, cannot = links_from_labels(truth, 200, random_state=draw)
            learned = LinkMetric(must, cannot, metric=metric).fit_transform(X)
            found.append(rand_index(learned))
        print(
            f"wine, adjusted Rand index: Euclidean {plain:.3f}, {metric} metric of 200 links "
            f"{np.mean(found):.3f}, least {min(found):.3f}",
            flush=True,
        )


def main(names: list[str], n_draws: int) -> None:
    if "reviews" in names:
        reviews(n_draws)
    if "spam" in names:
        spam(n_draws)
    if "wine" in names:
        for scaled in (False, True):
            print("columns scaled" if scaled else "columns as they are")
            wine(n_draws, scaled)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    names = [word for word in sys.argv[1:] if not word.isdigit()]
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    main(names or ["reviews", "spam", "wine"], numbers[0] if numbers else 5)
