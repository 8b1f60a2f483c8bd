"""Markov chains, pages and n-grams against sums over paths, linear algebra and plain counts."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.sequence import (
    MarkovChain,
    MarkovModel,
    NGramModel,
    SubstitutionCipher,
    WordMatcher,
    break_cipher,
    channel,
    corpus_needed,
    correct_text,
    corrupt,
    gamblers_ruin,
    link_graph,
    matching_cost,
    pagerank,
    random_walk,
    run_lengths,
    search_pages,
)


def random_chain(rng, n, links=0.5):
    table = rng.random((n, n)) * (rng.random((n, n)) < links)
    table[np.arange(n), rng.integers(0, n, n)] += 0.1
    return table / table.sum(axis=1, keepdims=True)


@pytest.mark.covers("markov-chain")
def test_distribution_after_n_steps_is_the_sum_over_all_paths(rng):
    table = random_chain(rng, 3, 1)
    start = rng.dirichlet(np.ones(3))
    chain = MarkovChain(table, ["a", "b", "c"], start)
    sums = np.zeros(3)
    for path in product(range(3), repeat=4):
        weight = np.exp(chain.log_probability([chain.states[i] for i in path]))
        sums[path[-1]] += weight
    assert chain.distribution(3) == pytest.approx(sums)
    sparse = MarkovChain(sp.csr_array(table), ["a", "b", "c"], start)
    assert sparse.distribution(3) == pytest.approx(sums)


@pytest.mark.covers("markov-chain")
@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_markov_model_of_any_order_is_normalized_counts(order, rng):
    texts = ["".join(rng.choice(list("abc"), n)) for n in (40, 30, 2)]
    model = MarkovModel(order, alpha=0.5).fit(texts)
    runs = Counter(t[i : i + order + 1] for t in texts for i in range(len(t) - order))
    for run in map("".join, product("abc", repeat=order + 1)):
        total = sum(runs[run[:-1] + x] for x in "abc")
        expected = (runs[run] + 0.5) / (total + 1.5)
        assert model.predict_next(run[:-1])["abc".index(run[-1])] == pytest.approx(expected)
    assert model.n_parameters == 3**order * 2
    sums = [np.exp(model.log_likelihood("".join(t))) for t in product("abc", repeat=3)]
    assert sum(sums) == pytest.approx(1)
    assert len(model.sample(7, random_state=rng)) == 7
    if order == 2:
        chain = model.chain()
        path = [("a", "b"), ("b", "c"), ("c", "a")]
        assert chain.log_probability(path) == pytest.approx(model.log_likelihood("abca"))


def test_markov_and_ngram_models_are_saved_and_loaded(tmp_path):
    for model in (MarkovModel(2, alpha=1.0), NGramModel(3)):
        model.fit(["abracadabra"])
        back = gnomon.load(model.save(tmp_path / "model.gnomon"))
        assert back.log_likelihood("abra") == model.log_likelihood("abra")


@pytest.mark.covers("markov-chain-structure")
def test_classes_and_periods_are_those_of_all_ways(rng):
    for _ in range(20):
        n = int(rng.integers(1, 9))
        table = random_chain(rng, n, 0.15)
        found = MarkovChain(table).structure()
        reach = np.linalg.matrix_power(np.eye(n) + (table > 0), n) > 0
        mutual = {frozenset(np.flatnonzero(reach[i] & reach[:, i]).tolist()) for i in range(n)}
        assert {frozenset(c) for c in found.classes} == mutual
        for names, closed, period in zip(found.classes, found.closed, found.periods, strict=True):
            assert closed == (set(np.flatnonzero(reach[names[0]])) == set(names))
            part = table[np.ix_(names, names)] > 0
            ways = [k for k in range(1, 40) if np.linalg.matrix_power(part * 1.0, k)[0, 0] > 0]
            assert period == (np.gcd.reduce(ways) if ways else 0)
        assert set(found.transient) == {
            i for c, shut in zip(found.classes, found.closed, strict=True) if not shut for i in c
        }


@pytest.mark.covers("stationary-distribution", "markov-power-method")
@pytest.mark.parametrize("sparse", [False, True])
def test_three_ways_give_the_same_equilibrium(sparse, rng):
    table = random_chain(rng, 6, 1) * 0.9 + 0.1 / 6
    chain = MarkovChain(sp.csr_array(table) if sparse else table)
    solved = chain.stationary()
    assert solved @ table == pytest.approx(solved)
    assert chain.stationary("eigen") == pytest.approx(solved, abs=1e-9)
    assert chain.stationary("power") == pytest.approx(solved, abs=1e-9)
    again = chain.power_method(solved)
    assert again.n_steps <= 2


@pytest.mark.covers("stationary-distribution")
def test_a_large_sparse_chain_is_solved_too(rng):
    n = 2000
    graph = sp.csr_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    graph = graph + sp.csr_array((np.ones(n), (np.arange(n), rng.permutation(n))), shape=(n, n))
    graph = graph + sp.eye_array(n)
    chain = random_walk(graph)
    for method in ("solve", "eigen"):
        found = chain.stationary(method)
        assert np.abs(chain.transition.T @ found - found).max() < 1e-9


@pytest.mark.covers("markov-power-method", "stationary-distribution", "markov-chain-structure")
def test_periodic_and_reducible_chains_are_refused_where_a_limit_was_asked():
    flip = MarkovChain([[0, 1], [1, 0]], start=[1, 0])
    assert flip.structure().periods == [2]
    assert not flip.structure().has_limit
    assert flip.power_method().oscillates
    with pytest.raises(DataError, match="oscillates"):
        flip.stationary("power")
    assert flip.stationary() == pytest.approx([0.5, 0.5])
    two = MarkovChain([[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]], ["x", "y", "z"])
    with pytest.raises(DataError, match="2 closed classes"):
        two.stationary()
    assert two.stationary_of_classes().tolist() == [[0, 1, 0], [0, 0, 1]]
    assert two.structure().absorbing == ["y", "z"]
    assert "several equilibria" in str(two.structure())


@pytest.mark.covers("absorption-probability")
def test_absorption_and_hitting_are_limits_of_powers(rng):
    table = np.zeros((6, 6))
    table[:4] = rng.dirichlet(np.ones(6), 4)
    table[4, 4] = 1
    table[5, 5] = 1
    chain = MarkovChain(table)
    far = np.linalg.matrix_power(table, 3000)
    found = chain.absorption()
    assert found.transient == [0, 1, 2, 3]
    assert found.probability == pytest.approx(far[:4, 4:], abs=1e-9)
    steps = sum(np.linalg.matrix_power(table, n)[:4, :4].sum(axis=1) for n in range(3000))
    assert found.steps == pytest.approx(steps, rel=1e-6)
    assert chain.hitting_probability([5]) == pytest.approx(far[:, 5], abs=1e-9)
    assert np.isinf(chain.hitting_time([5])[:5]).all()
    assert chain.hitting_time([4, 5])[:4] == pytest.approx(steps, rel=1e-6)


@pytest.mark.covers("absorption-probability")
def test_ruin_has_its_closed_form():
    for p, goal in ((0.4, 10), (0.55, 7), (0.5, 8)):
        stake = np.arange(goal + 1)
        rho = (1 - p) / p
        closed = 1 - stake / goal if p == 0.5 else (rho**goal - rho**stake) / (rho**goal - 1)
        chain = gamblers_ruin(p, goal)
        assert chain.hitting_probability([0]) == pytest.approx(closed)
        if p == 0.5:
            assert chain.hitting_time([0, goal]) == pytest.approx(stake * (goal - stake))


@pytest.mark.covers("markov-chain-simulation")
@pytest.mark.parametrize("sparse", [False, True])
def test_simulated_paths_have_the_chain_s_frequencies(sparse, rng):
    table = random_chain(rng, 4, 0.7)
    chain = MarkovChain(sp.csr_array(table) if sparse else table, list("abcd"))
    paths = chain.simulate(3, 20_000, first="b", random_state=rng)
    shares = np.bincount(paths[:, 3], minlength=4) / 20_000
    assert shares == pytest.approx(chain.distribution(3, "b"), abs=5 * 0.5 / 20_000**0.5)
    used = np.zeros((4, 4), dtype=bool)
    used[paths[:, :-1].ravel(), paths[:, 1:].ravel()] = True
    assert not used[table == 0].any()
    event = chain.event_probability(lambda p: p[:, 1] == 0, 1, first="b", random_state=rng)
    assert event.value == pytest.approx(table[1, 0], abs=6 * 0.5 / 100)


@pytest.mark.covers("markov-chain-simulation")
def test_a_path_ends_where_it_is_absorbed(rng):
    path = gamblers_ruin(0.5, 4).simulate_until_absorbed(first=2, random_state=rng)
    assert path[-1] in (0, 4)
    assert set(np.abs(np.diff(path))) == {1}
    assert sum(length for _, length in run_lengths(path)) == len(path)
    with pytest.raises(DataError, match="no absorbing state after 10 steps"):
        MarkovChain([[0, 1], [1, 0]]).simulate_until_absorbed(max_steps=10)


@pytest.mark.covers("graph-random-walk")
def test_equilibrium_of_a_walk_on_an_undirected_graph_is_its_degrees(rng):
    weights = rng.integers(1, 5, (5, 5))
    weights = weights + weights.T
    walk = random_walk(weights, list("vwxyz"))
    degrees = weights.sum(axis=1)
    assert walk.stationary() == pytest.approx(degrees / degrees.sum())
    with pytest.raises(DataError, match="'w' has no way out"):
        random_walk([[0, 1], [0, 0]], ["v", "w"])


@pytest.mark.covers("pagerank", "web-graph")
def test_pagerank_is_the_equilibrium_of_the_full_matrix(rng):
    n = 30
    links = [(int(a), int(b)) for a, b in rng.integers(0, n, (70, 2))]
    graph = link_graph(links, range(n))
    assert graph.dangling == [i for i in range(n) if i not in {a for a, _ in links}]
    found = pagerank(graph, alpha=0.8, tol=1e-13)
    rows = graph.links.toarray()
    out = rows.sum(axis=1, keepdims=True)
    rows = np.where(out > 0, rows / np.where(out > 0, out, 1), 1 / n)
    full = MarkovChain(0.8 * rows + 0.2 / n)
    assert found.scores == pytest.approx(full.stationary())
    assert found.scores.sum() == pytest.approx(1)
    personal = rng.dirichlet(np.ones(n))
    anywhere = np.where(out > 0, rows, personal)
    mine = pagerank(graph, alpha=0.8, personalization=7 * personal, tol=1e-13)
    full = MarkovChain(0.8 * anywhere + 0.2 * personal)
    assert mine.scores == pytest.approx(full.stationary())
    with pytest.warns(FutureWarning, match="personalization"):
        former = pagerank(graph, alpha=0.8, personal=personal, tol=1e-13)
    assert former.scores == pytest.approx(mine.scores)


@pytest.mark.covers("pagerank")
def test_pagerank_equals_networkx(rng):
    networkx = pytest.importorskip("networkx")
    weights = rng.integers(0, 3, (12, 12)) * (rng.random((12, 12)) < 0.3)
    weights[4] = 0
    start = dict(enumerate(rng.dirichlet(np.ones(12))))
    graph = networkx.from_numpy_array(weights, create_using=networkx.DiGraph)
    theirs = networkx.pagerank(graph, 0.7, start, 1000, 1e-14)
    ours = pagerank(weights, 0.7, list(start.values()))
    assert ours.scores == pytest.approx([theirs[i] for i in range(12)], abs=1e-9)


@pytest.mark.covers("pagerank")
def test_a_warm_start_needs_fewer_steps_and_ends_in_the_same_place(rng):
    graph = sp.random_array((200, 200), density=0.03, rng=rng)
    first = pagerank(graph)
    changed = sp.lil_array(graph)
    changed[0, 1] = 1.0
    cold, warm = pagerank(changed), pagerank(changed, nstart=first.scores)
    assert warm.n_steps <= cold.n_steps
    assert warm.scores == pytest.approx(cold.scores, abs=1e-8)
    assert search_pages("a", ["a", "b", "a"], [0.1, 0.5, 0.4]) == [2, 0]
    assert not pagerank(graph, max_iter=1).converged


@pytest.mark.covers("ngram-model", "ngram-smoothing-constant", "ngram-smoothing-split")
@pytest.mark.parametrize("smoothing", ["none", "constant", "split", "add", "back-off"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_probabilities_of_an_ngram_model_sum_to_one(n, smoothing, rng):
    texts = ["".join(rng.choice(list("abcd"), 60))]
    model = NGramModel(n, smoothing=smoothing, alphabet="abcde").fit(texts)
    for history in map("".join, product("abcde", repeat=n - 1)):
        chances = model.probabilities(history)
        assert chances.min() >= 0
        assert chances.sum() == pytest.approx(1) or (smoothing == "none" and not chances.any())
    total = sum(np.exp(model.log_likelihood(t)) for t in product("abcde", repeat=2))
    assert total == pytest.approx(1) or smoothing == "none"
    assert len(model.sample(5, history=texts[0], random_state=rng)) == 5 or smoothing == "none"


@pytest.mark.covers("ngram-smoothing-split", "ngram-smoothing-constant", "ngram-unseen-fraction")
def test_joint_probabilities_give_the_unseen_what_was_reserved(rng):
    text = "".join(rng.choice(list("abcd"), 15))
    grams = Counter(text[i : i + 2] for i in range(len(text) - 1))
    split = NGramModel(2, epsilon=0.1, alphabet="abcd").fit([text])
    unseen = 16 - len(grams)
    assert split.unseen_fraction() == unseen / 16
    joint = split.joint()
    for a, b in product(range(4), repeat=2):
        gram = "abcd"[a] + "abcd"[b]
        expected = 0.9 * grams[gram] / 14 if gram in grams else 0.1 / unseen
        assert joint[a, b] == pytest.approx(expected)
        row = joint[a] / joint[a].sum()
        assert split.probabilities("abcd"[a]) == pytest.approx(row)
    with pytest.warns(GnomonWarning, match="never seen"):
        heavy = NGramModel(2, smoothing="constant", epsilon=10.0, alphabet="abcd").fit([text])
    light = NGramModel(2, smoothing="constant", epsilon=1e-3, alphabet="abcd").fit([text])
    assert light.joint().sum() == pytest.approx(1)
    first = next(g for g in map("".join, product("abcd", repeat=2)) if g not in grams)
    place = "abcd".index(first[0]), "abcd".index(first[1])
    assert light.joint()[place] == pytest.approx(1e-3 / (1 + 1e-3 * unseen))
    assert heavy.joint()[place] > light.joint()[place]


@pytest.mark.covers("ngram-smoothing-split")
def test_a_history_never_seen_is_followed_by_anything():
    model = NGramModel(2, alphabet="abc").fit(["abab"])
    assert model.probabilities("c") == pytest.approx([1 / 3] * 3)
    backed = NGramModel(2, smoothing="back-off", alphabet="abc").fit(["abab"])
    assert backed.probabilities("c") == pytest.approx(backed.probabilities(""))


@pytest.mark.covers("ngram-model", "next-item-guess", "ngram-unseen-fraction")
def test_ngrams_of_words_score_guess_and_are_as_perplexed_as_they_should(rng):
    text = [*["the", "dog", "saw"], *["the", "dog", "and"], *["the", "cat", "saw"], *["the", "dog"]]
    model = NGramModel(2, smoothing="none").fit([text])
    assert model.guess(["the"]) == "dog"
    assert model.probabilities(["the"])[model.alphabet_.index("cat")] == pytest.approx(1 / 4)
    expected = np.log(4 / 11) + np.log(3 / 4)
    assert model.log_likelihood(["the", "dog"]) == pytest.approx(expected)
    coin = NGramModel(1).fit([list("ht" * 50)])
    assert coin.perplexity(["hhtth"]) == pytest.approx(2)
    assert corpus_needed(10**5, 2, 3) == 3 * 10**10
    with pytest.raises(DataError, match="nothing was seen after"):
        NGramModel(3, smoothing="none").fit(["abc"]).guess("ca")


def brute_correction(text, model, table):
    letters = model.alphabet_
    best, found = -np.inf, ""
    for guess in product(letters, repeat=len(text)):
        with np.errstate(divide="ignore"):
            seen = sum(
                np.log(table[letters.index(t), letters.index(s)])
                for t, s in zip(guess, text, strict=True)
            )
        score = model.log_likelihood(guess) + seen
        if score > best:
            best, found = score, "".join(guess)
    return best, found


@pytest.mark.covers("noisy-channel-correction")
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("kind", ["neighbour", "uniform"])
def test_corrected_text_is_the_best_of_all_texts(n, kind, rng):
    source = "".join(rng.choice(list("abcd"), 80, p=[0.5, 0.3, 0.15, 0.05]))
    model = NGramModel(n, epsilon=0.05, alphabet="abcd").fit([source])
    table = channel(0.3, kind, 4)
    assert table.sum(axis=1) == pytest.approx(np.ones(4))
    noisy = corrupt(source[:5], table, "abcd", random_state=rng)
    best, _ = brute_correction(noisy, model, table)
    found = correct_text(noisy, model, table)
    with np.errstate(divide="ignore"):
        seen = sum(
            np.log(table["abcd".index(t), "abcd".index(s)])
            for t, s in zip(found, noisy, strict=True)
        )
    assert model.log_likelihood(found) + seen == pytest.approx(best)


@pytest.mark.covers("substitution-cipher", "baum-welch-frozen")
def test_a_cipher_is_undone_by_its_key_and_broken_with_known_transitions(rng):
    # letters that differ much in how often they come and in what follows them
    common = np.array([0.45, 0.25, 0.15, 0.1, 0.05])
    moves = 0.4 * common + 0.6 * np.eye(5)[[1, 0, 3, 4, 0]]
    chain = MarkovChain(moves, list("abcde"))
    train, plain = (
        "".join("abcde"[i] for i in chain.simulate(3000, random_state=rng)[0]) for _ in range(2)
    )
    cipher = SubstitutionCipher.random("abcde", random_state=rng)
    hidden = cipher.encode(plain)
    assert cipher.decode(hidden) == plain
    onehot = np.eye(5)[["abcde".index(x) for x in plain[:20]]]
    assert ["abcde"[i] for i in (onehot @ cipher.matrix).argmax(axis=1)] == list(hidden[:20])
    found, hmm = break_cipher(
        hidden, NGramModel(2).fit([train]), random_state=int(rng.integers(1e6))
    )
    assert found.agreement(cipher) == 1
    assert found.decode(hidden) == plain
    assert np.diff(hmm.history_).min() > -1
    with pytest.raises(DataError, match="every symbol"):
        SubstitutionCipher("aab", "abc")


@pytest.mark.covers("one-element-structured-matching")
def test_every_weight_above_one_corrects_alike_and_one_below_errs():
    words = ["mist", "malt", "moss", "fast"]
    assert matching_cost("mist", "malt", 5) == 2 + 2 * 5
    pairs = [("mist", "misk"), ("fast", "faxt"), ("moss", "mosp")]
    for weight in (1.5, 3, 10):
        matcher = WordMatcher(words, weight)
        assert [matcher.correct(seen) for _, seen in pairs] == [true for true, _ in pairs]
    assert WordMatcher.tuned(words, pairs).weight == 2.0
    below = WordMatcher(words, 0.5)
    assert not any(below.correct(seen) == true for true, seen in pairs)


@pytest.mark.covers("ngram-model")
@pytest.mark.parametrize("smoothing", ["none", "constant", "split", "add", "back-off"])
def test_a_text_s_likelihood_is_the_product_of_the_rows_of_probabilities(smoothing, rng):
    for n in (1, 2, 3):
        texts = ["".join(rng.choice(list("abcd"), length)) for length in (30, 12)]
        model = NGramModel(n, smoothing=smoothing, alphabet="abcde").fit(texts)
        asked = texts[1] if smoothing == "none" else texts[1] + "eeab"
        rows = [model.probabilities(asked[:i])["abcde".index(asked[i])] for i in range(len(asked))]
        assert model.log_likelihood(asked) == pytest.approx(np.log(rows).sum())


@pytest.mark.covers("markov-chain-structure", "stationary-distribution")
def test_the_limit_is_a_high_power_and_is_refused_where_a_class_has_a_period(rng):
    for _ in range(30):
        table = rng.dirichlet(np.ones(5), 5) * (rng.random((5, 5)) < 0.5)
        table[[0, 1], :] = np.eye(5)[[0, 1]]
        table[2:, 0] += 0.1
        table /= table.sum(axis=1, keepdims=True)
        chain = MarkovChain(table, start=rng.dirichlet(np.ones(5)))
        far = chain.start @ np.linalg.matrix_power(table, 5000)
        assert chain.limit() == pytest.approx(far, abs=1e-8)
        assert chain.limit(first=3) == pytest.approx(
            np.linalg.matrix_power(table, 5000)[3], abs=1e-8
        )
    ring = MarkovChain(np.roll(np.eye(3), 1, axis=1), ["a", "b", "c"], start=[1, 0, 0])
    with pytest.raises(DataError, match="a, b, c has period 3"):
        ring.limit()
    with pytest.raises(DataError, match="oscillates with period 3"):
        ring.stationary("power")
    assert ring.power_method().period == 3


@pytest.mark.covers("stationary-distribution", "absorption-probability")
def test_large_chains_that_mix_slowly_are_solved_and_random_ones_settle(rng):
    n = 3000
    up = rng.uniform(0.3, 0.7, n - 1)
    table = sp.diags_array([up, 1 - up], offsets=[1, -1], shape=(n, n)).tolil()
    table[0, 0], table[n - 1, n - 1] = 1 - up[0], 1 - table[n - 1, n - 2]
    rows = sp.csr_array(table)
    rows = sp.csr_array(sp.diags_array(1 / rows.sum(axis=1)) @ rows)
    slow = MarkovChain(rows)
    found = slow.stationary()
    assert np.abs(rows.T @ found - found).sum() < 1e-9
    links = sp.csr_array((np.ones(4 * n), (np.repeat(np.arange(n), 4), rng.integers(0, n, 4 * n))))
    links.resize((n, n))
    mixed = random_walk(links + sp.eye_array(n) + sp.eye_array(n, k=1) + sp.eye_array(n, k=1 - n))
    found = mixed.stationary()
    assert np.abs(mixed.transition.T @ found - found).sum() < 1e-11
    times = mixed.hitting_time([0])
    among = mixed.transition @ times
    assert times[1:] == pytest.approx(1 + among[1:], rel=1e-6)


@pytest.mark.covers("markov-chain")
def test_sparse_counts_say_what_full_ones_do(rng):
    path = rng.integers(0, 6, 200).tolist()
    for order in (1, 2):
        full = MarkovModel(order).fit([path])
        sparse = MarkovModel(order, sparse=True).fit([path])
        assert sparse.counts_.toarray().ravel() == pytest.approx(full.counts_.ravel())
        assert sparse.log_likelihood(path[:30]) == pytest.approx(full.log_likelihood(path[:30]))
        assert sparse.predict_next(path[:order]) == pytest.approx(full.predict_next(path[:order]))
    assert MarkovModel(sparse=True).fit([path]).chain().transition.toarray() == pytest.approx(
        MarkovModel().fit([path]).transition_
    )
    with pytest.raises(DataError, match="cannot be smoothed"):
        MarkovModel(sparse=True, alpha=1.0).fit([path])


@pytest.mark.covers("markov-chain", "pagerank", "markov-power-method")
@pytest.mark.slow
def test_a_million_states_are_learned_ranked_and_settled(rng):
    n = 10**6
    path = rng.integers(0, n, 2 * n)
    model = MarkovModel(sparse=True, states=range(n)).fit([np.r_[np.arange(n), path, 0].tolist()])
    chain = model.chain()
    shares = chain.stationary()
    assert np.abs(chain.transition.T @ shares - shares).sum() < 1e-9
    assert pagerank(chain.transition).converged
