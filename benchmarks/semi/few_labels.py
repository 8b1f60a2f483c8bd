"""Few labels on reviews and on spam: transductive SVM and active learning.

python benchmarks/semi/few_labels.py [n_draws] prints the accuracy on unlabeled reviews of a linear
SVM of 40 labels and of TransductiveSVC, draw by draw; then the accuracy on `spam` of labels drawn
at random and chosen by uncertainty.
Needs ../shared/data.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer

from gnomon.margin import LinearSVC
from gnomon.semi import TransductiveSVC, label_curve
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
        model = TransductiveSVC(C_unlabeled=1.0).fit(X, y)
        with_all = float((model.transduction_[free] == truth[free]).mean())
        gains.append(100 * (with_all - alone))
        print(f"draw {draw}: SVM {100 * alone:.1f}, transductive {100 * with_all:.1f}", flush=True)
    print(f"gain: mean {np.mean(gains):+.1f} points, least {min(gains):+.1f}", flush=True)


def spam() -> None:
    table = pd.read_csv(DATA / "spam.csv").drop(columns="esl_test")
    X, y = table.drop(columns="class").to_numpy(float), table["class"].to_numpy()
    curve = label_curve(
        RandomForestClassifier(100, random_state=0),
        X,
        y,
        n_start=20,
        n_labels=200,
        n_queries=10,
        n_repeats=5,
        random_state=0,
    )
    print(curve)
    reached = curve.labels_for(curve.random[-1].value)
    print(f"random at 200 labels: {curve.random[-1].value:.3f}, reached with {reached}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    reviews(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    spam()
