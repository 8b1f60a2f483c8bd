"""The job `topics`: what a column of texts is about, or that it has no topics.

A fifth of the texts is put aside. For each number of topics, latent Dirichlet allocation is fitted
to the others from two seeds, and the texts put aside are completed: half of their words are given,
the other half is predicted. The smallest number within one standard error of the best is taken;
where it predicts no better than the frequencies of words alone (one topic), there are no topics.
The texts' steps (000a 6.3: vocabulary, stop words, stems, sparse counts) come before, with a
note where the collection is small for its vocabulary. Texts: 000a 6.3 · 002 (topics).
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.table import Table
from gnomon.table.kinds import Kind
from gnomon.text import CountVectorizer, GibbsLDA, heldout_log_likelihood, topic_coherence
from gnomon.text.base import cells
from gnomon.text.topic_measures import completed_words, weighed_mean
from gnomon.workbench.base.given import as_table, source_of
from gnomon.workbench.base.job import Request
from gnomon.workbench.base.runs import Run
from gnomon.workbench.topics.options import JOB, TopicsOptions
from gnomon.workbench.topics.result import Candidate, TopicsResult

# About doubling: the held-out likelihood changes slowly with the number of topics.
CANDIDATES = (2, 3, 5, 10, 20, 40)
FEWEST_TEXTS = 20  # judgement: four texts are put aside to compare with
WORDS_PER_TERM = 10  # fewer occurrences of a term on average are said to be few
N_SEEDS = 2  # judgement: a second start tells chance from a better number; each is a whole fit
PUT_ASIDE = 0.2  # the usual fifth for testing


@JOB.public
def topics(table: Any, options: TopicsOptions, request: Request) -> TopicsResult:
    """Find the topics of texts: how many, their words, their documents, how stable they are.

    Use it to see what many texts are about. To find the texts about something, use `gnomon.search`;
    to predict a column from texts, `gnomon.learn`.

    Returns
    -------
    result : TopicsResult

    Examples
    --------
    >>> import gnomon
    >>> texts = ["cat dog cat dog mouse", "bond stock bond price stock"] * 30
    >>> found = gnomon.topics({"remark": texts}, text="remark", n_topics=2, max_iter=20)
    >>> sorted(sorted(words) for words in found.model.top_words(2))
    [['bond', 'stock'], ['cat', 'dog']]
    """
    begin = time.perf_counter()
    rows = as_table(table)
    source = source_of(table) or request.source
    with Run.begin(request.folder, rows, source, options, JOB.name) as run:
        options.text = text_column_of(rows, options.text)
        texts = cells(rows.column(options.text))
        counter, counts = counted(texts, options)
        notes = notes_of(counts, texts)
        run.decide(
            f"{counts.shape[1]:,} terms of {len(texts):,} texts",
            f"words of at least {options.min_df} texts, stop words: {options.stop_words}",
        )
        candidates = compared(counts, options, request)
        chosen = options.n_topics or chosen_number(candidates)
        run.decide(f"{chosen} topics", reason_of(candidates, options))
        request.progress("the final model", 0, 0)
        model = fitted(texts, chosen, options, options.random_state, counter)
        again = fitted(counts, chosen, options, options.random_state + 1)
        result = TopicsResult(
            model,
            candidates,
            stability(model.topic_word_, again.topic_word_),
            topic_coherence(model, counts, n_words=min(10, counts.shape[1])),
            periods_of(rows, options, model.doc_topic_),
            rows,
            texts,
            run,
            options,
            notes,
        )
        result.seconds = time.perf_counter() - begin
        run.finish(result)
    return result


def text_column_of(rows: Table, given: str | None) -> str:
    """The column of texts: the one that was named, or the only one."""
    if given is not None:
        if given not in rows.columns:
            raise DataError(f"there is no column {given!r}; there are {', '.join(rows.columns)}")
        if rows.schema[given].kind not in (Kind.TEXT, Kind.CATEGORY, Kind.IDENTIFIER):
            raise DataError(f"the column {given!r} is a {rows.schema[given].kind}, not text")
        return given
    found = rows.schema.of_kind(Kind.TEXT)
    if len(found) != 1:
        raise DataError(
            f"there are {len(found)} columns of text: name one of {', '.join(rows.columns)} by "
            "text="
        )
    return found[0]


def counted(texts: list[str], options: TopicsOptions) -> tuple[CountVectorizer, sp.csr_array]:
    """The vocabulary and the counts of its words."""
    counter = CountVectorizer(
        stop_words=None if options.stop_words == "none" else options.stop_words,
        stemmer=options.stemmer,
        min_df=options.min_df,
    )
    counts = sp.csr_array(counter.fit_transform(texts))
    filled = int((np.diff(counts.indptr) > 0).sum())
    if filled < FEWEST_TEXTS:
        raise DataError(
            f"{filled} texts hold words of {options.min_df} texts or more; topics need at least "
            f"{FEWEST_TEXTS}. Lower min_df or give more texts"
        )
    return counter, counts


def notes_of(counts: sp.csr_array, texts: list[str]) -> list[str]:
    """What the reader should know about the collection."""
    notes = []
    empty = int((np.diff(counts.indptr) == 0).sum())
    if empty:
        notes.append(f"{empty:,} of {len(texts):,} texts hold no word of the vocabulary.")
    per_term = counts.sum() / counts.shape[1]
    if per_term < WORDS_PER_TERM:
        notes.append(
            f"The collection is small for its vocabulary: a term occurs {per_term:.1f} times on "
            "average. Topics of rare words are uncertain; increase min_df."
        )
    return notes


def fitted(
    X: Any, n_topics: int, options: TopicsOptions, seed: int, counter: Any = None
) -> GibbsLDA:
    """A model of so many topics."""
    model = GibbsLDA(n_topics, max_iter=options.max_iter, vectorizer=counter, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return model.fit(X)


class Split(NamedTuple):
    """Texts to learn from, and texts put aside."""

    training: sp.csr_array
    aside: sp.csr_array


def split(counts: sp.csr_array, seed: int) -> Split:
    """A fifth of the texts put aside at random."""
    order = np.random.default_rng(seed).permutation(counts.shape[0])
    n_aside = max(int(PUT_ASIDE * len(order)), 2)
    return Split(counts[np.sort(order[n_aside:])], counts[np.sort(order[:n_aside])])


def compared(counts: sp.csr_array, options: TopicsOptions, request: Request) -> list[Candidate]:
    """How well each number of topics predicts words of texts put aside."""
    parts = split(counts, options.random_state)
    most = max(parts.training.shape[0] // 5, 2)
    numbers = [k for k in CANDIDATES if k <= most] if options.n_topics is None else [
        k for k in [options.n_topics] if k > 1
    ]  # fmt: skip
    found = []
    single: np.ndarray | None = None
    for place, k in enumerate([1, *numbers]):
        request.progress("numbers of topics", place, len(numbers) + 1)
        n_seeds = 1 if k == 1 else N_SEEDS
        models = [fitted(parts.training, k, options, s) for s in range(n_seeds)]
        likelihoods = [heldout_log_likelihood(model, parts.aside) for model in models]
        totals, sizes = completed_words(models[0], parts.aside)
        single = totals if single is None else single
        used = sizes > 0
        found.append(
            Candidate(
                k,
                likelihoods[0],
                [each.value for each in likelihoods],
                weighed_mean(totals[used] - single[used], sizes[used], 0.95),
            )
        )
    return found


def chosen_number(candidates: list[Candidate]) -> int:
    """The smallest number of topics that is within one standard error of the best; 1 for none."""
    best = max(candidates, key=lambda each: each.likelihood.value)
    if best.gain.low <= 0:
        return 1
    enough = best.gain.value - best.gain.error
    return min(each.n_topics for each in candidates if each.gain.value >= enough)


def reason_of(candidates: list[Candidate], options: TopicsOptions) -> str:
    """Why this number of topics."""
    if options.n_topics is not None:
        return "as was asked for"
    if chosen_number(candidates) == 1:
        return "no number of topics predicts held-out words better than word frequencies"
    return "the smallest number within one standard error of the best held-out likelihood"


def stability(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Of each topic, the cosine of its words with those of its match from another seed."""
    units = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (one, two)]
    cosines = units[0] @ units[1].T
    rows, columns = linear_sum_assignment(-cosines)
    return cosines[rows, columns]


def periods_of(rows: Table, options: TopicsOptions, shares: np.ndarray) -> dict[str, np.ndarray]:
    """Texts by stretch of time: how many, the mean share of each topic, and half intervals."""
    if options.time is None:
        return {}
    if options.time not in rows.columns or rows.schema[options.time].kind != Kind.DATETIME:
        raise DataError(f"time={options.time!r} is not a column of dates")
    dates = np.array(rows.column(options.time).to_numpy(), dtype="datetime64[D]")
    known = ~np.isnat(dates)
    if known.sum() < 2:
        raise DataError(f"the column {options.time!r} holds fewer than two dates")
    days = (dates[known].max() - dates[known].min()).astype(int)
    unit = "Y" if days > 365 * 6 else "M" if days > 90 else "D"
    stretch = dates[known].astype(f"datetime64[{unit}]")
    periods, place = np.unique(stretch, return_inverse=True)
    sizes = np.bincount(place)
    inside = shares[known]
    means = np.array([inside[place == p].mean(axis=0) for p in range(len(periods))])
    spread = np.array([inside[place == p].std(axis=0) for p in range(len(periods))])
    half = 1.96 * spread / np.sqrt(np.maximum(sizes - 1, 1))[:, None]
    half[sizes < 2] = np.nan
    return {"period": periods.astype(str), "texts": sizes, "shares": means, "half": half}
