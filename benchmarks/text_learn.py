"""`gnomon learn` on columns of text beside TF-IDF with a linear SVM, on rows that neither saw.

    python -m benchmarks.text_learn DATA TASK [BUDGET]

TASK is one of

- messages: spam or not (`sms_spam.csv`);
- reviews: films, praise or not (`movie_reviews.csv.gz`);
- plays: from which of eight plays a sentence is (`shakespeare_8_plays.txt.gz`);
- questions: whether a sentence of these plays is a question, its last mark taken off.

Three rows of ten are held out (seed 0), at most 4,000 others are learned from. The peer is
scikit-learn's `TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)` with `LinearSVC`, whose C is
chosen from 0.1, 1 and 10 by five folds. It learns from these rows, and from three quarters of them,
since `learn` keeps a quarter for its own test.
"""

from __future__ import annotations

import gzip
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import gnomon

MOST_ROWS = 4000
SENTENCE = re.compile(r"[^.!?;]+[.!?]")


def messages(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "sms_spam.csv").rename(columns={"type": "label"})


def reviews(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "movie_reviews.csv.gz")[["label", "text"]]


def sentences(folder: Path) -> pd.DataFrame:
    """Sentences of five words and more, of speeches only, with their play and last mark."""
    found = []
    with gzip.open(folder / "shakespeare_8_plays.txt.gz", "rt", encoding="utf-8") as file:
        text = file.read()
    for part in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        play, _, body = part.partition("\n")
        lines = [line for line in body.split("\n") if line.strip() and not line.isupper()]
        for each in SENTENCE.findall(" ".join(lines)):
            words = each.split()
            if len(words) >= 5:
                found.append((play, each[-1], " ".join(words)[:-1]))
    return pd.DataFrame(found, columns=["play", "mark", "text"]).drop_duplicates("text")


def plays(folder: Path) -> pd.DataFrame:
    return sentences(folder).rename(columns={"play": "label"})[["label", "text"]]


def questions(folder: Path) -> pd.DataFrame:
    found = sentences(folder)
    found["label"] = np.where(found["mark"] == "?", "question", "other")
    return found[["label", "text"]]


TASKS: dict[str, Callable[[Path], pd.DataFrame]] = {
    each.__name__: each for each in (messages, reviews, plays, questions)
}


def main(folder: Path, task: str, budget: str) -> None:
    table = TASKS[task](folder)
    train, test = train_test_split(table, test_size=0.3, random_state=0, stratify=table["label"])
    train = train.iloc[:MOST_ROWS]
    print(f"{task}: {len(train):,} rows to learn from, {len(test):,} held out", flush=True)
    for share in (1.0, 0.75):
        begin, some = time.process_time(), train.sample(frac=share, random_state=0)
        peer = GridSearchCV(
            make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LinearSVC()),
            {"linearsvc__C": [0.1, 1, 10]},
        ).fit(some["text"], some["label"])
        other = float((peer.predict(test["text"]) == test["label"]).mean())
        spent = time.process_time() - begin
        print(
            f"  TF-IDF + LinearSVC of {len(some):,} rows {other:.4f} ({spent:.0f} s of processor "
            "time)",
            flush=True,
        )
    begin = time.process_time()
    found = gnomon.learn(train.reset_index(drop=True), "label", budget=budget)
    told = np.asarray(found.predict(test[["text"]].reset_index(drop=True)).table["prediction"])
    own = float((told == test["label"].to_numpy()).mean())
    spent = time.process_time() - begin
    error = np.sqrt(own * (1 - own) / len(test))
    print(f"  learn {own:.4f} +- {error:.4f} by {found.chosen} ({spent:.0f} s of processor time)")
    print(found.board_text())


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "120s")
