"""Duels of the package text: counting, latent semantic analysis, topics, search, word vectors.

They use the movie reviews and the Associated Press articles in ``../shared/data``; the size is the
number of documents.
"""

from __future__ import annotations

import importlib.util
import re
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.duels.duel import Duel

DATA = Path(__file__).parents[3] / "shared" / "data"
REVIEWS, ARTICLES = DATA / "movie_reviews.csv.gz", DATA / "ap_bag_of_words.npz"
SWEEPS = 50
ALPHA, BETA = 0.1, 0.01


def absent(path: Path, package: str = "sklearn") -> str:
    """Why a duel cannot be held here."""
    if not path.exists():
        return f"{path.name} is not in ../shared/data"
    return "" if importlib.util.find_spec(package) else f"{package} is not installed"


@cache
def reviews(n_rows: int) -> list[str]:
    from gnomon.table import read

    return read(REVIEWS).column("text").to_pylist()[:n_rows]


@cache
def articles(n_rows: int) -> sp.csr_array:
    found = np.load(ARTICLES)
    rows = sp.csr_array((found["count"], (found["doc"], found["word"])), dtype=np.float64)
    return rows[:n_rows]


def our_counts(texts: list[str]) -> Any:
    from gnomon.text import CountVectorizer

    return CountVectorizer().fit_transform(texts)


def their_counts(texts: list[str]) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer().fit_transform(texts)


def checksum(counts: Any, texts: list[str]) -> float:
    """A figure that two matrices share only where they are the same."""
    return float(counts.data @ np.sqrt(1.0 + counts.indices))


Duel(
    name="counts of words of movie reviews",
    peer="scikit-learn CountVectorizer",
    data=reviews,
    ours=our_counts,
    theirs=their_counts,
    quality=checksum,
    tolerance=0.0,
    sizes=(500, 2000),
    bar=2.0,
    missing=partial(absent, REVIEWS),
)


def our_lsa(rows: sp.csr_array) -> np.ndarray:
    from gnomon.text import LatentSemanticAnalysis

    return LatentSemanticAnalysis(100, random_state=0).fit(rows).singular_values_


def their_lsa(rows: sp.csr_array) -> np.ndarray:
    from sklearn.decomposition import TruncatedSVD

    return TruncatedSVD(100, algorithm="arpack", random_state=0).fit(rows).singular_values_


def total(values: np.ndarray, rows: sp.csr_array) -> float:
    return float(values.sum())


Duel(
    name="latent semantic analysis, rank 100",
    peer="scikit-learn TruncatedSVD (ARPACK)",
    data=articles,
    ours=our_lsa,
    theirs=their_lsa,
    quality=total,
    tolerance=1e-9,
    sizes=(1000, 2246),
    bar=2.0,
    missing=partial(absent, ARTICLES),
)


def our_topics(rows: sp.csr_array, n_topics: int) -> float:
    from gnomon.text import GibbsLDA

    model = GibbsLDA(
        n_topics,
        doc_topic_prior=ALPHA,
        topic_word_prior=BETA,
        max_iter=SWEEPS,
        learn_priors=False,
        n_jobs=1,
        random_state=0,
    )
    return model.fit(rows).log_likelihood_


def their_topics(rows: sp.csr_array, n_topics: int) -> float:
    import tomotopy

    model = tomotopy.LDAModel(k=n_topics, alpha=ALPHA, eta=BETA, seed=1)
    model.optim_interval = 0
    for i in range(rows.shape[0]):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        words = np.repeat(rows.indices[part], rows.data[part].astype(int))
        model.add_doc([str(word) for word in words.tolist()])
    model.train(SWEEPS, workers=1)
    return model.ll_per_word


def as_reached(result: float, rows: Any) -> float:
    return result


for k, least in ((20, 1.0), (200, 2.0)):
    Duel(
        name=f"latent Dirichlet allocation by Gibbs sampling, {k} topics, {SWEEPS} sweeps",
        peer="tomotopy LDAModel",
        data=articles,
        ours=partial(our_topics, n_topics=k),
        theirs=partial(their_topics, n_topics=k),
        quality=as_reached,
        tolerance=0.003,
        sizes=(2246,),
        bar=least,
        repeats=3,
        missing=partial(absent, ARTICLES, "tomotopy"),
    )


def split_reviews(n_rows: int) -> list[list[str]]:
    return [re.findall(r"\w\w+", text.lower()) for text in reviews(n_rows)]


def our_vectors(sentences: list[list[str]]) -> Any:
    from gnomon.text import Word2Vec

    return Word2Vec(max_iter=1, random_state=0).fit(sentences)


def their_vectors(sentences: list[list[str]]) -> Any:
    from gensim.models import Word2Vec

    return Word2Vec(sentences, sg=1, negative=5, workers=1, epochs=1, seed=1)


def vocabulary_size(model: Any, sentences: Any) -> float:
    return float(len(model.terms_ if hasattr(model, "terms_") else model.wv))


Duel(
    name="skip-gram word2vec, 100 numbers, one pass",
    peer="gensim Word2Vec, one worker",
    data=split_reviews,
    ours=our_vectors,
    theirs=their_vectors,
    quality=vocabulary_size,
    sizes=(500, 2000),
    bar=0.8,
    repeats=3,
    missing=partial(absent, REVIEWS, "gensim"),
)


@cache
def searched(n_rows: int) -> tuple[Any, Any, list[list[str]], Any]:
    """Both indexes of the reviews, and six words of each review as a query."""
    import bm25s

    from gnomon.text import BM25Index

    texts = reviews(n_rows)
    ours = BM25Index().fit(texts)
    split = ours.vectorizer_.build_analyzer()
    theirs = bm25s.BM25(method="lucene")
    theirs.index([split(text) for text in texts], show_progress=False)
    queries = [" ".join(text.split()[10:16]) for text in texts]
    return ours, theirs, [split(query) for query in queries], queries


def our_search(indexes: tuple) -> float:
    return float(indexes[0].search(indexes[3], 10)[1].sum())


def their_search(indexes: tuple) -> float:
    found = indexes[1].retrieve(indexes[2], k=10, show_progress=False, n_threads=1)
    return float(found.scores.sum())


Duel(
    name="BM25, ten best of all documents for each of as many queries",
    peer="bm25s",
    data=searched,
    ours=our_search,
    theirs=their_search,
    quality=as_reached,
    tolerance=1e-5,
    sizes=(500, 2000),
    bar=1.0,
    missing=partial(absent, REVIEWS, "bm25s"),
)
