"""Hidden Markov models and random fields beside hmmlearn and CRFsuite."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from gnomon.engine.errors import GnomonWarning
from gnomon.sequence import (
    CategoricalEmission,
    ChainCRF,
    GaussianEmission,
    HiddenMarkovModel,
    read_tagged_sentences,
    segment_scores,
    token_features,
)

DATA = Path(__file__).parents[3] / "shared" / "data"
WORDS = ["sun", "rain", "wind", "fog", "ice"]


@pytest.mark.covers("hmm-discrete", "viterbi", "baum-welch", "hmm-likelihood")
def test_symbols_give_the_likelihood_path_and_steps_of_hmmlearn(rng):
    hmmlearn = pytest.importorskip("hmmlearn.hmm")
    k, m = int(rng.integers(2, 11)), 5
    start = rng.dirichlet(np.ones(k))
    transition = rng.dirichlet(np.ones(k), k)
    table = rng.dirichlet(np.ones(m), k)
    symbols = rng.integers(0, m, 300)
    theirs = hmmlearn.CategoricalHMM(k, n_iter=3, tol=-np.inf, init_params="")
    theirs.startprob_, theirs.transmat_, theirs.emissionprob_ = start, transition, table
    theirs.n_features = m
    ours = HiddenMarkovModel.known(start, transition, CategoricalEmission(table))
    assert ours.score([symbols]) == pytest.approx(theirs.score(symbols[:, None]))
    reached, path = theirs.decode(symbols[:, None])
    _, joint = ours.decode([symbols])
    assert joint[0] == pytest.approx(reached)
    assert ours.log_joint(symbols, path.tolist()) == pytest.approx(joint[0])
    fitted = HiddenMarkovModel(
        emission=CategoricalEmission(table), start=start, transition=transition, max_iter=3, tol=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        fitted.fit([symbols])
    theirs.fit(symbols[:, None])
    assert fitted.transition_ == pytest.approx(theirs.transmat_, abs=1e-8)
    assert fitted.emission_.table == pytest.approx(theirs.emissionprob_, abs=1e-8)


@pytest.mark.covers("hmm-continuous", "baum-welch")
@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_numbers_give_the_steps_of_hmmlearn(rng, covariance):
    hmmlearn = pytest.importorskip("hmmlearn.hmm")
    k, d = 3, 2
    full = covariance == "full"
    means = rng.normal(0, 3, (k, d))
    rows = means[rng.integers(0, k, 400)] + rng.normal(size=(400, d))
    transition = rng.dirichlet(np.ones(k), k)
    theirs = hmmlearn.GaussianHMM(
        k,
        "full" if full else "diag",
        n_iter=3,
        tol=-np.inf,
        init_params="",
        covars_prior=0.0,
        covars_weight=0.0 if full else 1.0,
    )
    theirs.startprob_, theirs.transmat_ = np.full(k, 1 / k), transition
    theirs.means_ = means
    unit = np.tile(np.eye(d), (k, 1, 1))
    theirs.covars_ = unit if full else np.ones((k, d))
    law = GaussianEmission(covariance, means=means, covariances=unit, floor=1e-12)
    ours = HiddenMarkovModel(
        emission=law, start=np.full(k, 1 / k), transition=transition, max_iter=3, tol=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours.fit([rows])
        theirs.fit(rows)
        assert ours.score([rows]) == pytest.approx(theirs.score(rows), rel=1e-6)
    assert ours.emission_.means == pytest.approx(theirs.means_, rel=1e-4, abs=1e-4)
    assert ours.transition_ == pytest.approx(theirs.transmat_, abs=1e-4)


@pytest.mark.covers("crf-max-likelihood", "crf-linear-chain")
def test_a_field_reaches_the_objective_of_crfsuite(rng, tmp_path):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    sequences = [[[w, "bias"] for w in rng.choice(WORDS, n)] for n in rng.integers(1, 9, 30)]
    labels = [rng.choice(["A", "B", "C"], len(s)).tolist() for s in sequences]
    trainer = pycrfsuite.Trainer(verbose=False)
    for sequence, path in zip(sequences, labels, strict=True):
        trainer.append(sequence, path)
    trainer.set_params({"c1": 0.0, "c2": 1.0, "feature.possible_transitions": True})
    trainer.train(str(tmp_path / "field"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "field"))
    ours = ChainCRF(alpha=1 / 30, tol=1e-9).fit(sequences, labels)
    gaps = []
    for sequence, shares in zip(sequences, ours.predict_proba(sequences), strict=True):
        tagger.set(sequence)
        theirs = [
            [tagger.marginal(label, i) for label in ours.labels_] for i in range(len(sequence))
        ]
        gaps.append(np.abs(np.array(theirs) - shares).max())
    assert max(gaps) < 0.02


@pytest.mark.slow
@pytest.mark.skipif(
    not (DATA / "conll2000_train.txt.gz").exists(), reason="the sentences are not here"
)
@pytest.mark.parametrize("options", [{}, {"loss": "hinge", "max_iter": 12, "step": 0.3}])
def test_chunks_of_sentences_are_found(options):
    train = read_tagged_sentences(DATA / "conll2000_train.txt.gz")[:2000]
    test = read_tagged_sentences(DATA / "conll2000_test.txt.gz")[:500]
    settings = {"alpha": 1 / len(train), "random_state": 0, **options}
    model = ChainCRF(**settings).fit(
        [token_features(w, t) for w, t, _ in train], [labels for _, _, labels in train]
    )
    found = model.predict([token_features(w, t) for w, t, _ in test])
    assert segment_scores([labels for _, _, labels in test], found)[2] > 0.9
