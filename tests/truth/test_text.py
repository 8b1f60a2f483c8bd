"""Texts: counts as scikit-learn counts them, and models against brute force."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy.special import gammaln, logsumexp
from sklearn.feature_extraction import text as peer

from gnomon.engine.errors import DataError
from gnomon.sequence import (
    LETTERS,
    channel,
    corrupt,
    corrupt_words,
    link_graph,
    pagerank,
    plain_letters,
    search_pages,
)
from gnomon.table import Table, scan
from gnomon.text import (
    BM25Index,
    CosineIndex,
    CountVectorizer,
    GibbsLDA,
    GloVe,
    HashingVectorizer,
    LatentSemanticAnalysis,
    MultinomialMixture,
    TfidfTransformer,
    TfidfVectorizer,
    Word2Vec,
    heldout_log_likelihood,
    stem_words,
    top_words,
    topic_coherence,
)
from gnomon.text.gibbs_lda import Sampler
from gnomon.text.tokens import split_words
from gnomon.text.word_vectors import all_words, co_occurrences

ALPHABET = [*"abcdeXYZ_09éßΣς中𝔸\u0301'-. \n", "\ud800", "İ", "ﬁ"]
PAIRS = [
    (CountVectorizer, peer.CountVectorizer),
    (TfidfVectorizer, peer.TfidfVectorizer),
    (HashingVectorizer, peer.HashingVectorizer),
]


def assert_same_matrix(found, expected):
    assert type(found) is type(expected)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def random_texts(rng, n=40, alphabet=ALPHABET):
    return ["".join(rng.choice(alphabet, rng.integers(0, 60))) for _ in range(n)] + ["ab", "cd"] * 9


@pytest.mark.covers("bag-of-words", "tf-idf")
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ngram_range": (1, 3), "stop_words": ["ab", "cd"]},
        {"ngram_range": (2, 2), "lowercase": False, "binary": True},
        {"strip_accents": "unicode", "dtype": np.float32},
        {"analyzer": "char", "ngram_range": (1, 2)},
        {"token_pattern": r"\w"},
        {"tokenizer": str.split, "token_pattern": None},
    ],
)
def test_matrices_are_those_of_scikit_learn_to_the_bit(ours, theirs, options, rng):
    texts, new = random_texts(rng), random_texts(rng, 10)
    if theirs is peer.HashingVectorizer:  # it cannot hash half a surrogate pair
        texts, new = ([t.replace("\ud800", "") for t in each] for each in (texts, new))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = ours(**options), theirs(**options)
        assert_same_matrix(one.fit_transform(texts), two.fit_transform(texts))
        assert_same_matrix(one.transform(new), two.transform(new))
    if hasattr(two, "vocabulary_"):
        assert one.vocabulary_ == two.vocabulary_


@pytest.mark.parametrize(
    "options", [{"min_df": 2}, {"max_features": 5}, {"max_df": 0.3}, {"vocabulary": ["ab", "zz"]}]
)
def test_the_vocabulary_is_limited_as_in_scikit_learn(options, rng):
    texts = random_texts(rng, alphabet=list("ab  "))
    one, two = CountVectorizer(**options), peer.CountVectorizer(**options)
    assert_same_matrix(one.fit_transform(texts), two.fit_transform(texts))
    assert one.get_feature_names_out().tolist() == two.get_feature_names_out().tolist()


def test_words_are_split_alike_in_any_chunks(rng, monkeypatch):
    texts = random_texts(rng)
    whole = CountVectorizer(ngram_range=(1, 2)).fit_transform(texts)
    monkeypatch.setattr("gnomon.text.tokens.LETTERS_AT_ONCE", 50)
    monkeypatch.setattr("gnomon.text.tokens.FIRST_SLOTS", 2)
    assert_same_matrix(CountVectorizer(ngram_range=(1, 2)).fit_transform(texts), whole)


def test_runs_longer_than_every_text_cost_nothing():
    texts = ["one two three", "two three", "four"]
    expected = CountVectorizer(ngram_range=(1, 3)).fit_transform(texts)
    found = CountVectorizer(ngram_range=(1, 2**40)).fit_transform(texts)
    assert_same_matrix(found, expected)


def test_texts_of_any_source_are_counted_alike(tmp_path):
    texts = ["red cat", None, "blue cat cat"]
    frame = pd.DataFrame({"n": [1, 2, 3], "remark": texts})
    frame.to_csv(tmp_path / "texts.csv", index=False)
    stream = scan(tmp_path / "texts.csv").set("remark", kind="text").select(["remark"])
    table = Table.from_dict({"n": [1, 2, 3], "remark": texts}).set("remark", kind="text")
    expected = peer.CountVectorizer().fit_transform(["red cat", "", "blue cat cat"])
    sources = [
        frame["remark"],
        pl.Series(texts),
        pa.array(texts),
        table,
        table.column("remark"),
        stream,
        (text or "" for text in texts),
        np.array([["red cat"], [""], ["blue cat cat"]], dtype=object),
    ]
    for source in sources:
        assert_same_matrix(CountVectorizer().fit_transform(source), expected)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("one text", "string object received"),
        (["a b", 3.0], "document 1 is 3.0"),
        (["a", "b"], "empty vocabulary"),
        (["the", "of"], "empty vocabulary"),
        ([], "empty vocabulary"),
        (pd.DataFrame({"a": [1], "b": [2]}), "0 columns of text"),
        (np.zeros((3, 2)), "one column"),
    ],
)
def test_bad_texts_are_refused_with_the_place(bad, message):
    with pytest.raises(ValueError, match=message):
        CountVectorizer(stop_words="english").fit(bad)


@pytest.mark.covers("vocabulary-by-minimum-count", "stop-words", "stemming")
def test_minimum_count_counts_occurrences_and_stems_are_merged():
    texts = ["run running runs", "jump jumped", "the swim", "the the"]
    counter = CountVectorizer(stemmer="english", min_count=2, stop_words=["the"])
    np.testing.assert_array_equal(
        counter.fit_transform(texts).toarray(), [[0, 3], [2, 0], [0, 0], [0, 0]]
    )
    assert counter.get_feature_names_out().tolist() == ["jump", "run"]
    slow = CountVectorizer(
        stemmer="english", min_count=2, stop_words=["the"], tokenizer=str.split, token_pattern=None
    )
    assert_same_matrix(slow.fit_transform(texts), counter.fit_transform(texts))
    assert stem_words(["stocking", "stock"]) == ["stock", "stock"]  # 000a 6.3: can confuse
    with pytest.raises(DataError, match="no stemmer for 'klingon'"):
        CountVectorizer(stemmer="klingon").fit(texts)


@pytest.mark.covers("tf-idf")
def test_the_weight_of_the_text_is_count_times_log_of_documents_per_document_that_holds_it(rng):
    counts = rng.integers(0, 4, (12, 5))
    counts[0], counts[:, 0] = 1, rng.integers(1, 3, 12)  # each word occurs, the first everywhere
    weigh = TfidfTransformer(norm=None, smooth_idf=False, idf_formula="log")
    found = weigh.fit_transform(sp.csr_array(counts)).toarray()
    expected = counts * np.log(12 / (counts > 0).sum(axis=0))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert (found[:, 0] == 0).all()
    rare = TfidfTransformer(norm=None, smooth_idf=False, idf_formula="probabilistic").fit(counts)
    held = (counts > 0).sum(axis=0)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(rare.idf_, np.maximum(np.log((12 - held) / held), 0), atol=1e-12)


def random_counts(rng, n=30, d=20, most=3):
    counts = rng.poisson(0.5, (n, d)) * (1 + np.arange(d) % most)
    counts[:, 0] += 1
    return counts


@pytest.mark.covers("latent-semantic-analysis", "latent-semantic-search", "lsa-word-vectors")
@pytest.mark.parametrize("shape", [(30, 20), (150, 200), (200, 150)])
def test_coordinates_are_those_of_the_dense_decomposition(shape, rng):
    counts = random_counts(rng, *shape)
    model = LatentSemanticAnalysis(5, tol=1e-10, random_state=0).fit(sp.csr_array(counts))
    left, values, right = np.linalg.svd(counts.astype(float), full_matrices=False)
    np.testing.assert_allclose(model.singular_values_, values[:5], rtol=1e-9)
    smoothed = left[:, :5] * values[:5] @ right[:5]
    unit = smoothed / np.sqrt((smoothed**2).sum(axis=1, keepdims=True))
    cosines = model.document_vectors_ @ model.document_vectors_.T
    np.testing.assert_allclose(cosines, unit @ unit.T, atol=1e-6)
    words = (values[:5, None] * right[:5]).T
    words /= np.sqrt((words**2).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(
        model.word_vectors_ @ model.word_vectors_.T, words @ words.T, atol=1e-6
    )
    found, scores = model.search(counts[:4], 3)
    full = (unit @ unit.T)[:4]
    np.testing.assert_allclose(scores, -np.sort(-full, axis=1)[:, :3], atol=1e-6)
    assert (found[:, 0] == np.arange(4)).sum() >= 3 or scores[:, 0].min() > 1 - 1e-9


def test_a_matrix_of_low_rank_is_decomposed_and_too_many_components_are_refused(rng):
    counts = np.outer(rng.integers(1, 4, 200), rng.integers(0, 3, 160))
    counts[0, :] = 1
    model = LatentSemanticAnalysis(4, random_state=0).fit(counts)
    assert model.singular_values_[2] < 1e-6 * model.singular_values_[0]
    assert np.isfinite(model.components_).all()
    with pytest.raises(DataError, match="more than the 2 documents"):
        LatentSemanticAnalysis(3).fit([[1, 2], [2, 1]] @ np.eye(2))


@pytest.mark.covers("document-retrieval-cosine")
def test_cosine_search_is_the_best_of_all_cosines(rng):
    counts = sp.csr_array(random_counts(rng))
    queries = sp.csr_array(random_counts(rng, 6))
    found, scores = CosineIndex().fit(counts).search(queries, 7)
    one, two = counts.toarray(), queries.toarray()
    cosines = (two @ one.T) / np.outer(np.linalg.norm(two, axis=1), np.linalg.norm(one, axis=1))
    np.testing.assert_allclose(scores, -np.sort(-cosines, axis=1)[:, :7], rtol=1e-12)
    np.testing.assert_allclose(np.take_along_axis(cosines, found, axis=1), scores, rtol=1e-12)


@pytest.mark.covers("bm25")
def test_bm25_is_its_formula_and_the_search_is_exact(rng):
    counts = random_counts(rng, 40, 12)
    counts[:, 3] = 0
    counts[7, 3] = 2
    index = BM25Index(k1=1.2, b=0.6).fit(sp.csr_array(counts))
    query = np.zeros((1, 12))
    query[0, [0, 3, 5]] = 1, 2, 1
    expected = np.zeros(40)
    for word, times in ((0, 1), (3, 2), (5, 1)):
        held = (counts[:, word] > 0).sum()
        rarity = np.log(1 + (40 - held + 0.5) / (held + 0.5))
        length = counts.sum(axis=1) / counts.sum(axis=1).mean()
        part = counts[:, word] / (counts[:, word] + 1.2 * (0.4 + 0.6 * length))
        expected += times * rarity * part
    np.testing.assert_allclose(index.scores(query), expected, rtol=1e-12)
    found, scores = index.search(query, 40)
    order = np.argsort(-expected, kind="stable")
    n_hits = (expected > 0).sum()
    np.testing.assert_allclose(scores[0, :n_hits], expected[order[:n_hits]], rtol=1e-12)
    assert (found[0, n_hits:] == -1).all()


def test_a_query_of_unknown_words_finds_nothing():
    index = BM25Index().fit(["red fish", "blue bird"])
    found, scores = index.search(["zebra", ""], 2)
    assert (found == -1).all()
    assert (scores == 0).all()
    cosines = LatentSemanticAnalysis(1).fit(["red fish", "blue bird"]).search(["zebra"], 1)[1]
    assert cosines.tolist() == [[0.0]]


@pytest.mark.covers("query-then-pagerank")
def test_pages_with_all_words_of_a_query_are_ranked_by_pagerank():
    graph = link_graph([("a", "c"), ("b", "c"), ("c", "b"), ("d", "a")])
    scores = pagerank(graph).scores
    texts = ["red fish", "red fish two", "fish red", "blue fish"]
    pages = [graph.pages.index(page) for page in "acbd"]
    found = search_pages("red fish", [texts[i] for i in (0, 2, 1, 3)], scores, graph.pages)
    assert pages
    assert found == sorted(found, key=lambda page: -scores[graph.pages.index(page)])
    assert set(found) == {"a", "b", "c"}


@pytest.mark.covers("text-normalise-27", "text-corruption-channel")
def test_letters_pass_the_channel_and_words_change_in_one_or_two_places(rng):
    text = plain_letters("Hello,  World! 42\n") * 200
    assert set(text) <= set(LETTERS)
    changed = corrupt(text, channel(0.2, "uniform"), random_state=rng)
    wrong = np.mean([a != b for a, b in zip(text, changed)])
    assert abs(wrong - 0.2 * 26 / 27) < 5 * np.sqrt(0.16 / len(text))
    words = corrupt_words(["abcdef"] * 500 + ["a", ""], random_state=rng)
    places = [sum(a != b for a, b in zip(word, "abcdef")) for word in words[:500]]
    assert set(places) == {0, 1, 2} or set(places) == {1, 2}
    assert [len(word) for word in words[-2:]] == [1, 0]
    # one or two places with equal probability, each changed with probability 25/26
    assert abs(np.mean(places) - 1.5 * 25 / 26) < 0.15


@pytest.mark.covers("multinomial-mixture-topics")
def test_one_step_of_em_gives_the_numbers_of_the_catalogue():
    counts = np.array([[2, 1, 0], [0, 1, 3], [3, 0, 1], [1, 1, 2]])
    model = MultinomialMixture(
        2,
        alpha=0.0,
        max_iter=1,
        weights_init=[0.5, 0.5],
        components_init=[[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]],
    ).fit(counts)
    np.testing.assert_allclose(
        model.components_,
        [[0.679140, 0.155322, 0.165538], [0.184485, 0.234494, 0.581021]],
        atol=1e-6,
    )
    np.testing.assert_allclose(model.weights_, [0.464707, 0.535293], atol=1e-6)


@pytest.mark.covers("multinomial-mixture-topics", "topic-neglogprob-features", "topic-top-words")
def test_the_objective_of_the_mixture_never_falls_and_groups_are_found(rng):
    topics = rng.dirichlet(np.full(30, 0.1), 3)
    truth = rng.integers(0, 3, 120)
    counts = np.array([rng.multinomial(40, topics[k]) for k in truth])
    model = MultinomialMixture(3, random_state=int(rng.integers(1000))).fit(counts)
    assert (np.diff(np.asarray(model.history_)) > -1e-9).all()
    together = model.labels_[:, None] == model.labels_
    assert (together == (truth[:, None] == truth)).mean() > 0.9
    features = model.neg_log_proba(counts)
    expected = -(counts @ np.log(model.components_).T)
    np.testing.assert_allclose(features, expected, rtol=1e-10)
    joint = np.log(model.weights_) - expected
    np.testing.assert_allclose(
        model.transform(counts),
        np.exp(joint - logsumexp(joint, axis=1, keepdims=True)),
        atol=1e-10,
    )
    best = np.argsort(-model.components_, axis=1)[:, 0]
    assert [words[0] for words in model.top_words(1)] == [f"term {j}" for j in best]
    assert top_words([[0.1, 0.9]], ["x", "y"], 1) == [["y"]]


def exact_posterior(documents, words, n_topics, n_terms, alpha, beta):
    """Probability of every assignment of topics to words, by enumeration."""
    found = {}
    for topics in itertools.product(range(n_topics), repeat=len(words)):
        by_document = np.zeros((max(documents) + 1, n_topics))
        by_word = np.zeros((n_topics, n_terms))
        for d, w, k in zip(documents, words, topics):
            by_document[d, k] += 1
            by_word[k, w] += 1
        found[topics] = (
            gammaln(by_document + alpha).sum()
            + gammaln(by_word + beta).sum()
            - gammaln(by_word.sum(axis=1) + n_terms * beta).sum()
        )
    values = np.array(list(found.values()))
    return dict(zip(found, np.exp(values - logsumexp(values)))), found


@pytest.mark.covers("latent-dirichlet-allocation")
def test_the_sampler_draws_from_the_exact_posterior(rng):
    counts = sp.csr_array(np.array([[2.0, 1, 0], [0, 1, 1]]))
    sampler = Sampler.begin(counts, [], 1, rng, np.full(2, 0.7), 0.4)
    documents, words = sampler.documents.tolist(), sampler.words.tolist()
    exact, _ = exact_posterior(documents, words, 2, 3, 0.7, 0.4)
    drawn = dict.fromkeys(exact, 0)
    n = 6000
    for _ in range(n):
        sampler.sweep(1)
        drawn[tuple(sampler.topics.tolist())] += 1
    distance = sum(abs(drawn[each] / n - exact[each]) for each in exact) / 2
    assert distance < 0.06  # of 32 states


@pytest.mark.covers("latent-dirichlet-allocation")
def test_the_log_likelihood_is_that_of_the_formula(rng):
    counts = sp.csr_array(np.array([[2.0, 1, 0], [0, 1, 1]]))
    sampler = Sampler.begin(counts, [], 1, rng, np.full(2, 0.7), 0.4)
    _, logs = exact_posterior(sampler.documents, sampler.words, 2, 3, 0.7, 0.4)
    constant = 2 * (gammaln(1.4) - 2 * gammaln(0.7)) - gammaln(1.4 + np.array([3, 2])).sum()
    constant += 2 * (gammaln(1.2) - 3 * gammaln(0.4))
    expected = (logs[tuple(sampler.topics.tolist())] + constant) / 5
    np.testing.assert_allclose(sampler.log_likelihood(), expected, rtol=1e-10)


def topic_documents(rng, n=150, length=60):
    """Documents that mix three topics of ten words each."""
    topics = np.kron(np.eye(3), np.full(10, 0.1))
    shares = rng.dirichlet(np.full(3, 0.3), n)
    return np.array([rng.multinomial(length, share @ topics) for share in shares]), shares


@pytest.mark.covers("latent-dirichlet-allocation", "heldout-likelihood")
def test_topics_that_documents_were_made_of_are_found_and_complete_documents(rng):
    counts, shares = topic_documents(rng)
    model = GibbsLDA(3, max_iter=100, random_state=int(rng.integers(1000))).fit(counts)
    blocks = [{int(word.split()[1]) // 10 for word in words} for words in model.top_words(8)]
    assert sorted(min(block) for block in blocks) == [0, 1, 2]
    assert all(len(block) == 1 for block in blocks)
    order = [min(block) for block in blocks]
    found = model.transform(counts)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.abs(found - shares[:, order]).mean() < 0.05
    new, _ = topic_documents(rng, 60)
    mixture = MultinomialMixture(3, random_state=0).fit(counts)
    ours = heldout_log_likelihood(model, new)
    single = heldout_log_likelihood(mixture, new)
    assert ours.value > single.value
    assert ours.low < ours.value < ours.high


@pytest.mark.covers("latent-dirichlet-allocation")
def test_blocks_and_threads_change_no_bit_and_counts_stay_whole(rng, monkeypatch):
    counts, _ = topic_documents(rng, 60)
    monkeypatch.setattr("gnomon.text.gibbs_lda.WORDS_PER_SHARD", 1000)
    one = GibbsLDA(4, max_iter=10, n_jobs=1, random_state=0).fit(counts)
    two = GibbsLDA(4, max_iter=10, n_jobs=2, random_state=0).fit(counts)
    np.testing.assert_array_equal(one.components_, two.components_)
    assert list(one.history_) == list(two.history_)
    sampler = Sampler.begin(sp.csr_array(counts, dtype=float), [], 1, rng, np.full(4, 0.1), 0.1)
    assert sampler.n_shards == 3
    for _ in range(5):
        sampler.sweep(2)
    by_word = np.zeros_like(sampler.by_word)
    np.add.at(by_word, (sampler.words, sampler.topics), 1)
    np.testing.assert_array_equal(sampler.by_word, by_word)
    np.testing.assert_array_equal(sampler.totals, by_word.sum(axis=0)[:4])
    np.testing.assert_array_equal(by_word.sum(axis=1)[sampler.row_of_word], counts.sum(axis=0))


@pytest.mark.covers("seeded-topics")
def test_seed_words_put_a_topic_where_it_is_asked_for(rng):
    counts, _ = topic_documents(rng)
    seeds = {1: ["term 3", "term 4"], 0: ["term 25"]}
    model = GibbsLDA(3, max_iter=40, seed_words=seeds, random_state=0).fit(counts)
    words = [{int(word.split()[1]) // 10 for word in topic} for topic in model.top_words(6)]
    assert words == [{2}, {0}, {1}]
    with pytest.raises(DataError, match="'zebra' of topic 0 is in no text"):
        GibbsLDA(3, seed_words=[["zebra"]]).fit(counts)
    with pytest.raises(DataError, match="topic 5, but there are 3"):
        GibbsLDA(3, seed_words={5: ["term 1"]}).fit(counts)


@pytest.mark.covers("topic-coherence")
def test_coherence_is_that_of_its_formulas():
    held = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1], [1, 0, 0]])
    npmi = topic_coherence([["a", "b", "c"]], held * 3, terms=list("abc"))[0]
    pairs = [(3, 3, 2), (3, 2, 0), (3, 2, 1)]  # documents of a, b and both; a, c; b, c
    values = [
        -1.0 if both == 0 else np.log(both / 5 / (a * b / 25)) / -np.log(both / 5)
        for a, b, both in pairs
    ]
    np.testing.assert_allclose(npmi, np.mean(values))
    umass = topic_coherence([["a", "b", "c"]], held, measure="umass", terms=list("abc"))[0]
    np.testing.assert_allclose(umass, np.mean(np.log([3 / 3, 1 / 3, 2 / 3])))


def test_documents_without_words_have_usual_shares_and_bad_counts_are_refused(rng):
    counts, _ = topic_documents(rng, 30)
    counts[4] = 0
    model = GibbsLDA(3, max_iter=10, random_state=0).fit(counts)
    expected = model.doc_topic_prior_ / model.doc_topic_prior_.sum()
    np.testing.assert_allclose(model.transform(counts)[4], expected)
    mixture = MultinomialMixture(2, random_state=0).fit(counts)
    np.testing.assert_allclose(mixture.transform(np.zeros((1, 30))), [mixture.weights_])
    for bad in (-1.0, 0.5, np.nan):
        wrong = counts.astype(float)
        wrong[2, 3] = bad
        with pytest.raises(DataError, match="row 2, column 3"):
            GibbsLDA(2).fit(wrong)
    with pytest.raises(DataError, match="no document holds a word"):
        GibbsLDA(2).fit(np.zeros((3, 2)))
    with pytest.raises(DataError, match="give counts of the same 30 terms"):
        model.transform(["some text"])
    with pytest.raises(DataError, match="30 features"):
        model.transform(counts[:, :4])


def sentences(rng, n=400):
    """Words of two kinds that stand in like places."""
    animals, papers = ["cat", "dog", "cow"], ["bond", "stock", "note"]
    return [
        f"the {rng.choice(animals)} eats fresh green grass"
        if rng.random() < 0.5
        else f"market {rng.choice(papers)} falls on bad news"
        for _ in range(n)
    ]


@pytest.mark.covers("word2vec")
def test_word2vec_puts_words_of_like_places_near_and_lowers_its_loss(rng):
    model = Word2Vec(16, min_count=2, sample=0, max_iter=15, random_state=0).fit(sentences(rng))
    assert model.history_[-1] < 0.8 * model.history_[0]
    cosine = {word: value for word, value in model.nearest_words("cat", 20)}
    assert min(cosine["dog"], cosine["cow"]) > max(cosine["bond"], cosine["stock"])
    again = Word2Vec(16, min_count=2, sample=0, max_iter=15, random_state=0)
    means = model.transform(["cat dog", "zebra"])
    np.testing.assert_allclose(means[0], (model.vector("cat") + model.vector("dog")) / 2, rtol=1e-6)
    assert (means[1] == 0).all()
    with pytest.raises(DataError, match="no word occurs min_count=2 times"):
        again.fit(["one two"])


@pytest.mark.covers("glove")
def test_glove_fits_logarithms_of_co_occurrences(rng):
    words = all_words(["a1 b2 c3 a1", "b2 a1"])
    assert words.names == ["a1", "b2", "c3"]
    expected = np.zeros((3, 3))
    for text in ([0, 1, 2, 0], [1, 0]):
        for i, j in itertools.permutations(range(len(text)), 2):
            if abs(i - j) <= 2:
                expected[text[i], text[j]] += 1 / abs(i - j)
    np.testing.assert_allclose(co_occurrences(words, 2).toarray(), expected)
    model = GloVe(8, min_count=2, window=4, max_iter=40, random_state=0).fit(sentences(rng))
    assert model.history_[-1] < 0.1 * model.history_[0]
    cosine = dict(model.nearest_words("cat", 20))
    assert cosine["dog"] > cosine["bond"]


def test_lists_of_words_are_texts_already_split():
    found = all_words([["red", "cat"], [], ["cat"]])
    assert (found.names, found.numbers.tolist(), found.ends.tolist()) == (
        ["red", "cat"],
        [0, 1, 1],
        [0, 2, 2, 3],
    )
    assert split_words(["Red cat", "", "x"]).names == ["Red", "cat"]


def test_uniform_numbers_that_round_to_one_draw_one_of_the_topics(rng):
    """They once stood for a topic beyond the last, whose count was written outside the table."""
    from gnomon.text.gibbs_kernel import Block, Counts, draw_topics

    n, k = 300, 30
    tables = np.zeros((2, n + 1, 32), dtype=np.float32)
    tables[:, :n, :k] = 1 + rng.integers(0, 50, (2, n, k))
    totals = np.full(64, 1e4)
    prior = np.r_[np.full(k, 0.1), np.zeros(2)].astype(np.float32)
    rows = np.arange(n, dtype=np.int32)
    topics = np.zeros(n, dtype=np.int32)
    block = Block(rows, rows.copy(), topics, np.full(n, 1, dtype=np.float32))
    draw_topics(block, Counts(tables[0], tables[1], totals[:k], prior), 0.01)
    assert topics.max() < k
    assert np.all(totals[k:] == 1e4)


def test_draws_do_not_depend_on_where_arrays_lie_in_memory(rng):
    """A sum that also wrote took another order where its arrays followed each other closely."""
    from gnomon.text.gibbs_kernel import Block, Counts, draw_topics

    n, k, wide = 4000, 60, 64
    pool = np.zeros(3 * wide + 30 * wide, dtype=np.float32)
    words = np.repeat(np.arange(30, dtype=np.int32), n // 30 + 1)[:n]
    given = rng.integers(0, k, n).astype(np.int32)
    by_word, by_document = np.zeros((30, wide), np.float32), np.zeros((1, wide), np.float32)
    np.add.at(by_word, (words, given), 1)
    np.add.at(by_document, (np.zeros(n, dtype=int), given), 1)
    uniform = rng.random(n, dtype=np.float32)
    drawn = []
    for distance in (0, 1, 8, 40, wide):
        prior = pool[:wide]
        prior[:k] = 0.1
        row = pool[wide + distance : 2 * wide + distance].reshape(1, wide)
        row[:] = by_document
        block = Block(np.zeros(n, dtype=np.int32), words, given.copy(), uniform)
        totals = by_word[:, :k].sum(axis=0, dtype=float)
        draw_topics(block, Counts(row, by_word.copy(), totals, prior), 0.01)
        drawn.append(block.topics)
    for each in drawn[1:]:
        np.testing.assert_array_equal(each, drawn[0])
