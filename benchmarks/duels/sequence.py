"""Duels of hidden Markov models with hmmlearn, of random fields with CRFsuite, of PageRank."""

from __future__ import annotations

import importlib.util
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.duels.duel import Duel

STATES = 8
STEPS = 10
COLUMNS = 4
CHUNKS = Path(__file__).parents[3] / "shared" / "data"


def absent(package: str) -> str:
    """Why a duel cannot be held here."""
    return "" if importlib.util.find_spec(package) else f"{package} is not installed"


def series(n_rows: int) -> dict[str, np.ndarray]:
    """Symbols of a chain of eight states, and a random start for both sides."""
    rng = np.random.default_rng(0)
    states = np.repeat(rng.integers(0, STATES, n_rows // 10 + 1), 10)[:n_rows]
    table = rng.dirichlet(np.full(12, 0.3), STATES)
    return {
        "symbols": (table.cumsum(axis=1)[states] < rng.random(n_rows)[:, None])
        .sum(axis=1)
        .clip(0, 11),
        "transition": rng.dirichlet(np.ones(STATES), STATES),
        "emission": rng.dirichlet(np.ones(12), STATES),
    }


def ours(data: dict[str, np.ndarray]) -> float:
    """Ten steps of Baum-Welch; the log-likelihood reached."""
    from gnomon.engine.errors import GnomonWarning
    from gnomon.sequence import CategoricalEmission, HiddenMarkovModel

    model = HiddenMarkovModel(
        emission=CategoricalEmission(data["emission"]),
        start=np.full(STATES, 1 / STATES),
        transition=data["transition"],
        max_iter=STEPS,
        tol=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return model.fit([data["symbols"]]).history_[-1]


def theirs(data: dict[str, np.ndarray]) -> float:
    """The same by hmmlearn, with its scaled recursions."""
    from hmmlearn.hmm import CategoricalHMM

    model = CategoricalHMM(
        STATES, n_iter=STEPS, tol=-np.inf, init_params="", implementation="scaling"
    )
    model.startprob_ = np.full(STATES, 1 / STATES)
    model.transmat_ = data["transition"]
    model.emissionprob_ = data["emission"]
    symbols = data["symbols"][:, None]
    return model.fit(symbols).score(symbols)


def reached(result: float, data: dict[str, np.ndarray]) -> float:
    return result


Duel(
    name=f"Baum-Welch, {STATES} states, 12 symbols, {STEPS} steps",
    peer="hmmlearn CategoricalHMM",
    data=series,
    ours=ours,
    theirs=theirs,
    quality=reached,
    sizes=(10**4, 2 * 10**5),
    bar=2.0,
    missing=partial(absent, "hmmlearn"),
)


def our_path(data: dict[str, np.ndarray]) -> float:
    """The best path; its log joint probability."""
    from gnomon.sequence import CategoricalEmission, HiddenMarkovModel

    law = CategoricalEmission(data["emission"])
    model = HiddenMarkovModel.known(np.full(STATES, 1 / STATES), data["transition"], law)
    return float(model.decode([data["symbols"]])[1][0])


def their_path(data: dict[str, np.ndarray]) -> float:
    from hmmlearn.hmm import CategoricalHMM

    model = CategoricalHMM(STATES, init_params="")
    model.startprob_ = np.full(STATES, 1 / STATES)
    model.transmat_ = data["transition"]
    model.emissionprob_ = data["emission"]
    model.n_features = data["emission"].shape[1]
    return model.decode(data["symbols"][:, None])[0]


Duel(
    name=f"Viterbi, {STATES} states, 12 symbols",
    peer="hmmlearn CategoricalHMM",
    data=series,
    ours=our_path,
    theirs=their_path,
    quality=reached,
    sizes=(10**4, 2 * 10**5),
    bar=2.0,
    missing=partial(absent, "hmmlearn"),
)


def numbers(n_rows: int) -> dict[str, np.ndarray]:
    """Rows of four numbers around the means of eight states, and a start for both sides."""
    rng = np.random.default_rng(0)
    states = np.repeat(rng.integers(0, STATES, n_rows // 10 + 1), 10)[:n_rows]
    means = rng.normal(0, 2, (STATES, COLUMNS))
    return {
        "rows": means[states] + rng.normal(size=(n_rows, COLUMNS)),
        "means": means + rng.normal(0, 0.3, means.shape),
        "transition": rng.dirichlet(np.ones(STATES), STATES),
    }


def our_normal(data: dict[str, np.ndarray], covariance: str) -> float:
    """Five steps of Baum-Welch with normal laws; the log-likelihood reached."""
    from gnomon.engine.errors import GnomonWarning
    from gnomon.sequence import GaussianEmission, HiddenMarkovModel

    unit = np.tile(np.eye(COLUMNS), (STATES, 1, 1))
    law = GaussianEmission(covariance, means=data["means"], covariances=unit, floor=1e-12)
    model = HiddenMarkovModel(
        emission=law,
        start=np.full(STATES, 1 / STATES),
        transition=data["transition"],
        max_iter=5,
        tol=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return model.fit([data["rows"]]).history_[-1]


def their_normal(data: dict[str, np.ndarray], covariance: str) -> float:
    from hmmlearn.hmm import GaussianHMM

    full = covariance == "full"
    model = GaussianHMM(
        STATES,
        "full" if full else "diag",
        n_iter=5,
        tol=-np.inf,
        init_params="",
        implementation="scaling",
        covars_prior=0.0,
        covars_weight=0.0 if full else 1.0,
    )
    model.startprob_ = np.full(STATES, 1 / STATES)
    model.transmat_ = data["transition"]
    model.means_ = data["means"]
    unit = np.ones((STATES, COLUMNS))
    model.covars_ = np.tile(np.eye(COLUMNS), (STATES, 1, 1)) if full else unit
    return model.fit(data["rows"]).score(data["rows"])


for kind in ("diagonal", "full"):
    Duel(
        name=f"Baum-Welch, {STATES} states, {COLUMNS} numbers, {kind} covariance, 5 steps",
        peer="hmmlearn GaussianHMM",
        data=numbers,
        ours=partial(our_normal, covariance=kind),
        theirs=partial(their_normal, covariance=kind),
        quality=reached,
        sizes=(10**4, 2 * 10**5),
        bar=2.0,
        missing=partial(absent, "hmmlearn"),
    )


def chunks(n_rows: int) -> dict[str, list]:
    """Features and labels of so many words of CoNLL-2000, and of its test sentences."""
    from gnomon.sequence import read_tagged_sentences, token_features

    data: dict[str, list] = {}
    for part, most in (("train", n_rows), ("test", 10**9)):
        kept, words = [], 0
        for sentence in read_tagged_sentences(CHUNKS / f"conll2000_{part}.txt.gz"):
            if words >= most:
                break
            kept.append(sentence)
            words += len(sentence[0])
        data[part] = [list(map(list, token_features(w, t))) for w, t, _ in kept]
        data[f"{part} labels"] = [labels for _, _, labels in kept]
    return data


def our_field(data: dict[str, list]) -> list:
    """A field by maximum likelihood with CRFsuite's penalty; its labels of the test sentences."""
    from gnomon.sequence import ChainCRF

    model = ChainCRF(alpha=1 / len(data["train"]), max_iter=1000)
    return model.fit(data["train"], data["train labels"]).predict(data["test"])


def their_field(data: dict[str, list]) -> list:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence, labels in zip(data["train"], data["train labels"], strict=True):
        trainer.append(sentence, labels)
    trainer.set_params({"c1": 0.0, "c2": 1.0})
    tagger = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/field")
        tagger.open(f"{folder}/field")
        return [tagger.tag(sentence) for sentence in data["test"]]


def segments_right(labels: list, data: dict[str, list]) -> float:
    from gnomon.sequence import segment_scores

    return segment_scores(data["test labels"], labels)[2]


def no_chunks() -> str:
    """Why the duel of fields cannot be held here."""
    if not (CHUNKS / "conll2000_train.txt.gz").exists():
        return "the sentences of CoNLL-2000 are not here"
    return absent("pycrfsuite")


Duel(
    name="Random field on CoNLL-2000 (rows are words), F1 of segments",
    peer="CRFsuite L-BFGS",
    data=chunks,
    ours=our_field,
    theirs=their_field,
    quality=segments_right,
    tolerance=2e-3,
    sizes=(2 * 10**4, 211_727),
    bar=0.8,
    repeats=2,
    missing=no_chunks,
)


def pages(n_rows: int):
    """Pages with ten links each on average, most of them to a few, some with none."""
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    tails = rng.integers(0, n_rows, 10 * n_rows)
    heads = (n_rows * rng.random(10 * n_rows) ** 3).astype(np.int64)
    return sp.csr_array((np.ones(10 * n_rows), (tails, heads)), shape=(n_rows, n_rows))


def our_ranks(links) -> np.ndarray:
    from gnomon.sequence import pagerank

    return pagerank(links).scores


def their_ranks(links) -> np.ndarray:
    """The textbook's loop on SciPy's sparse products."""
    import scipy.sparse as sp

    n = links.shape[0]
    out = np.asarray(links.sum(axis=1)).ravel()
    steps = sp.csr_array((sp.diags_array(np.where(out > 0, 1 / np.maximum(out, 1), 0)) @ links).T)
    now, change = np.full(n, 1 / n), np.inf
    while change > 1e-10:
        after = 0.85 * (steps @ now + now[out == 0].sum() / n) + 0.15 / n
        change = np.abs(after - now).sum()
        now = after
    return now


def unmoved(scores: np.ndarray, links) -> float:
    """Minus the change that one more step would make, rounded to what both must reach."""
    out = np.asarray(links.sum(axis=1)).ravel()
    shares = np.where(out > 0, scores / np.maximum(out, 1), 0)
    after = 0.85 * (links.T @ shares + scores[out == 0].sum() / len(out)) + 0.15 / len(out)
    return -max(float(np.abs(after - scores).sum()), 1e-9)


Duel(
    name="PageRank, ten links a page (10^6 pages in under 10 s)",
    peer="a loop on SciPy's products",
    data=pages,
    ours=our_ranks,
    theirs=their_ranks,
    quality=unmoved,
    sizes=(10**5, 10**6),
    bar=0.9,
    repeats=3,
)
