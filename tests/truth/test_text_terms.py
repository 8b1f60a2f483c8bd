"""Texts as words and pairs of words: counts by hand, TF-IDF as in scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import gnomon
from gnomon.engine.modelfile import load
from gnomon.linear import LogisticRegression, Ridge
from gnomon.margin import SVC
from gnomon.table import Table, terms
from gnomon.table.codes import TermCode, TextCode
from gnomon.workbench.analysis.portfolio import scaled

WORDS = ["red", "green", "blue", "bird", "fish", "sings", "swims", "deep", "high", "under", "sky"]


@pytest.fixture
def texts(rng):
    return [" ".join(rng.choice(WORDS, rng.integers(1, 12))) for _ in range(60)]


def coded(code, texts, weights=None):
    """A code that has looked at the texts, and the column."""
    column = Table.from_dict({"t": texts}, None).set("t", kind="text").column("t")
    code.look(column, weights)
    code.finish()
    return code, column


def test_weights_are_those_of_scikit_learn(texts):
    code, column = coded(TermCode("t", 10_000), texts)
    peer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    expected = peer.fit_transform(texts)
    assert code.vocabulary == sorted(peer.vocabulary_)
    np.testing.assert_allclose(code.sparse(column).toarray(), expected.toarray(), atol=1e-12)


def test_counts_of_words_are_those_of_scikit_learn(texts):
    code, column = coded(TextCode("t", 8), texts)
    peer = CountVectorizer(vocabulary=code.vocabulary)
    out = np.empty((60, 8))
    code.encode(column, out)
    np.testing.assert_array_equal(out, peer.transform(texts).toarray())


def test_a_weight_is_a_repetition_and_pieces_are_the_whole(texts, rng):
    weights = rng.integers(1, 4, 60)
    once = coded(TermCode("t", 10_000), texts, weights.astype(float))[0]
    often = coded(TermCode("t", 10_000), list(np.repeat(texts, weights)))[0]
    assert once.vocabulary == often.vocabulary
    np.testing.assert_allclose(once.idf, often.idf)
    column = Table.from_dict({"t": texts}).set("t", kind="text").column("t")
    pieces = TermCode("t", 10_000)
    pieces.look(column[:20], None)
    pieces.look(column[20:], None)
    pieces.finish()
    whole = coded(TermCode("t", 10_000), texts)[0]
    assert pieces.vocabulary == whole.vocabulary
    np.testing.assert_array_equal(pieces.idf, whole.idf)


def test_what_is_left_out_is_told(texts):
    code = coded(TermCode("t", 5), texts)[0]
    whole = coded(TermCode("t", 10_000), texts)[0]
    common = sorted(zip(whole.idf, whole.vocabulary))[:5]
    assert code.vocabulary == sorted(term for _, term in common)
    assert "rarer ones are left out" in code.notes[0]


def test_counts_start_anew_beyond_their_bound_and_stay_right(texts, monkeypatch):
    code, column = coded(TermCode("t", 10_000), texts)
    before = code.sparse(column)
    monkeypatch.setattr(terms, "MOST_KEPT", 0)
    np.testing.assert_array_equal(code.sparse(column).toarray(), before.toarray())


def test_a_missing_text_and_unknown_words_have_no_weight(texts, tmp_path):
    y = ["a", "b"] * 30
    table = Table.from_dict({"t": texts, "x": np.arange(60.0)}).set("t", kind="text")
    model = LogisticRegression().fit(table, y)
    other = Table.from_dict({"t": [None, "zzz yyy"], "x": [3.0, 3.0]}).set("t", kind="text")
    said = model.predict_proba(other)
    assert said[0] == pytest.approx(said[1])
    model.save(tmp_path / "m.gnomon")
    np.testing.assert_array_equal(load(tmp_path / "m.gnomon").predict_proba(other), said)


def test_numbers_are_learnt_from_text(texts):
    y = np.array([text.count("bird") - text.count("fish") for text in texts], dtype=float)
    table = Table.from_dict({"t": texts}).set("t", kind="text")
    assert Ridge(alpha=0.01).fit(table, y).score(table, y) > 0.8


def test_pairs_of_words_decide_where_single_words_cannot(rng):
    first = rng.choice(["not", "very"], 240)
    second = rng.choice(["good", "bad"], 240)
    filler = [" ".join(rng.choice(WORDS, 6)) for _ in range(240)]
    texts = [f"{a} {b} and {c}" for a, b, c in zip(first, second, filler)]
    y = np.where((first == "very") == (second == "good"), "praise", "blame")
    table = Table.from_dict({"t": texts, "y": y.tolist()}).set("t", kind="text")
    found = gnomon.learn(
        table, "y", budget=None, folds=3, repeats=1, curve=False, learners=["logistic regression"]
    )
    assert found.test.value > 0.85
    assert any("pairs of words" in each["what"] for each in found.decisions)


def test_a_kernel_machine_takes_a_table_without_numbers(texts):
    table = Table.from_dict({"t": texts}).set("t", kind="text")
    machine = scaled(SVC()).fit(table, ["a", "b"] * 30)
    assert set(machine.predict(table)) <= {"a", "b"}
