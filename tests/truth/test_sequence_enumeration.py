"""Every inference along a chain against the sum over all paths, on hundreds of tiny models."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gnomon.engine.errors import DataError
from gnomon.sequence import (
    CategoricalEmission,
    ChainCRF,
    GaussianEmission,
    HiddenMarkovModel,
    HMMClassifier,
    InputEmission,
    InputHMM,
)
from gnomon.sequence.passes import best_log_paths, posteriors, several_best

N_MODELS = 200


def random_rows(rng, shape, zeros):
    rows = rng.gamma(0.7, size=shape) * (rng.random(shape) >= zeros)
    rows[..., 0] += 1e-3
    return rows / rows.sum(axis=-1, keepdims=True)


def all_paths(start, tables, logs):
    """Weight of every path: a dict from tuples of states; tables has one entry for each step."""
    length, k = logs.shape
    weights = {}
    for path in product(range(k), repeat=length):
        weight = start[path[0]]
        for n, (i, j) in enumerate(pairwise(path), start=1):
            weight *= tables[n][i, j]
        weights[path] = weight * np.exp(logs[np.arange(length), path].sum())
    return weights


def tiny(rng):
    """Start, transitions, symbols' table and a sequence with gaps, of at most 1000 paths."""
    k = int(rng.integers(1, 11))
    length = int(rng.integers(1, 1 + min(6, max(1, int(np.log(1000) / np.log(max(k, 2)))))))
    zeros = rng.choice([0.0, 0.3])
    start, transition = random_rows(rng, (k,), zeros), random_rows(rng, (k, k), zeros)
    table = random_rows(rng, (k, 3), 0.0)
    symbols = [None if rng.random() < 0.1 else int(s) for s in rng.integers(0, 3, length)]
    return start, transition, table, symbols


@pytest.mark.covers(
    "hmm-likelihood",
    "hmm-filtering",
    "hmm-forward-backward",
    "hmm-scaled-forward-backward",
    "hmm-posterior-decoding",
    "viterbi",
)
def test_all_answers_of_two_hundred_tiny_models_are_those_of_all_paths(rng):
    for _ in range(N_MODELS):
        start, transition, table, symbols = tiny(rng)
        law = CategoricalEmission(table)
        model = HiddenMarkovModel.known(start, transition, law)
        logs = law.log_likelihood(law.rows(symbols))
        length, k = logs.shape
        weights = all_paths(start, [transition] * length, logs)
        total = sum(weights.values())
        assert model.score([symbols]) == pytest.approx(np.log(total))
        states, pairs = np.zeros((length, k)), np.zeros((k, k))
        for path, weight in weights.items():
            states[np.arange(length), path] += weight / total
            for i, j in pairwise(path):
                pairs[i, j] += weight / total
        assert model.smooth([symbols])[0] == pytest.approx(states, abs=1e-9)
        assert model.filter([symbols])[0][-1] == pytest.approx(states[-1], abs=1e-9)
        for recursion in ("scaled", "log"):
            found = posteriors(start, transition, logs, np.array([0, length]), recursion)
            assert found.pairs == pytest.approx(pairs, abs=1e-9)
        ordered = sorted(weights.values(), reverse=True)
        (path,), joint = model.decode([symbols])
        assert np.exp(joint[0]) == pytest.approx(ordered[0])
        assert weights[tuple(path)] == pytest.approx(ordered[0])
        count = int(rng.integers(1, 8))
        paths, logs_of_paths = model.k_best(symbols, count)
        possible = [weight for weight in ordered if weight > 0][:count]
        assert np.exp(logs_of_paths) == pytest.approx(possible)
        assert len({tuple(p) for p in paths}) == len(possible)
        assert [weights[tuple(p)] for p in paths] == pytest.approx(possible)


@pytest.mark.covers("viterbi")
def test_paths_of_many_sequences_do_not_see_each_other(rng):
    for k in (3, 8, 9):
        log_start, log_table = rng.normal(size=k), rng.normal(size=(k, k))
        parts = [rng.normal(size=(n, k)) for n in (4, 0, 1, 7)]
        bounds = np.cumsum([0, 4, 0, 1, 7])
        path, reached = best_log_paths(log_start, log_table, np.vstack(parts), bounds)
        for r, part in enumerate(parts):
            if len(part):
                best, values = several_best(log_start, log_table, part, 1)
                assert path[bounds[r] : bounds[r + 1]].tolist() == best[0].tolist()
                assert reached[r] == pytest.approx(values[0])


def test_impossible_symbols_are_named_by_all_that_asks_for_paths():
    law = CategoricalEmission([[1.0, 0.0], [1.0, 0.0]])
    model = HiddenMarkovModel.known([1, 0], [[0.5, 0.5], [0, 1]], law)
    bad = [0, 0, 1, 0]
    for ask in (
        lambda: model.k_best(bad, 2),
        lambda: model.decode([[0, 0], bad]),
        lambda: model.smooth([bad]),
        lambda: model.filter([bad]),
        lambda: model.instantaneous([bad]),
        lambda: model.pair_posteriors(bad),
    ):
        with pytest.raises(DataError, match="observation 2 of sequence"):
            ask()
    assert model.score([bad]) == -np.inf
    with pytest.raises(DataError, match="1 path or more"):
        model.k_best([0], 0)


def random_input_model(rng, k, width, law):
    model = InputHMM(k)
    model.start_ = rng.dirichlet(np.ones(k))
    model.weights_ = rng.normal(size=(k, 1 + width, k))
    model.emission_ = law
    return model


@pytest.mark.covers("hmm-forward-backward", "viterbi")
def test_a_model_with_inputs_is_the_sum_over_all_paths(rng):
    for _ in range(50):
        k, length, width = int(rng.integers(1, 4)), int(rng.integers(1, 6)), 2
        law = CategoricalEmission(rng.dirichlet(np.ones(3), k))
        model = random_input_model(rng, k, width, law)
        inputs = rng.normal(size=(length, width))
        symbols = rng.integers(0, 3, length)
        logs = law.log_likelihood(symbols)
        weights = all_paths(model.start_, model.transitions(inputs), logs)
        total = sum(weights.values())
        assert model.score([symbols], [inputs]) == pytest.approx(np.log(total))
        states = np.zeros((length, k))
        for path, weight in weights.items():
            states[np.arange(length), path] += weight / total
        assert model.smooth([symbols], [inputs])[0] == pytest.approx(states, abs=1e-9)
        (path,) = model.predict([symbols], [inputs])
        assert weights[tuple(path)] == pytest.approx(max(weights.values()))


def test_no_step_of_em_with_inputs_lowers_its_objective(rng):
    inputs = [rng.normal(size=(n, 2)) for n in (40, 25)]
    for law in ("gaussian", "poisson", InputEmission()):
        series = [rng.poisson(np.exp(0.5 + 0.3 * u[:, 0])).astype(float) for u in inputs]
        model = InputHMM(2, law, max_iter=15, tol=-np.inf, random_state=0)
        with pytest.warns(match="did not converge"):
            model.fit(series, inputs)
        assert np.diff(model.history_).min() > -1e-6 * abs(model.history_[0])
        assert model.n_iter_ == 15


def test_inputs_that_drive_states_and_what_they_show_are_found_again(rng):
    truth = random_input_model(
        rng,
        2,
        1,
        InputEmission(weights=[[[0.0], [2.0]], [[9.0], [-2.0]]], covariances=[[[0.25]]] * 2),
    )
    truth.start_ = np.array([0.5, 0.5])
    truth.weights_ = np.array([[[2.0, 0.0], [-4.0, 0.0]], [[0.0, 2.0], [0.0, -4.0]]])
    inputs = rng.normal(size=(1500, 1))
    path, series = truth.sample(inputs, random_state=int(rng.integers(1000)))
    model = InputHMM(2, InputEmission(), n_init=4, random_state=0).fit([series], [inputs])
    found = np.array(model.predict([series], [inputs])[0])
    share = np.mean(found == path)
    assert max(share, 1 - share) > 0.9
    slopes = np.sort(model.emission_.weights[:, 1, 0])
    assert slopes == pytest.approx([-2, 2], abs=0.3)
    stay = model.transitions([[-1.0], [2.0]])
    assert np.diagonal(stay[0]).min() > 0.9 > 0.5 > np.diagonal(stay[1]).max()


def test_wrong_inputs_are_named():
    model = InputHMM(2)
    with pytest.raises(DataError, match="sequence 0 has 3 steps and 2 inputs"):
        model.fit([[1.0, 2.0, 3.0]], [[0.0, 1.0]])
    with pytest.raises(DataError, match="input 1 of sequence 0 is missing"):
        model.fit([[1.0, 2.0]], [[0.0, np.nan]])
    with pytest.raises(DataError, match="inputs are needed"):
        InputEmission(weights=[[[0.0], [1.0]]], covariances=[[[1.0]]]).draw(np.array([0]), None)
    with pytest.raises(DataError, match="need inputs beside them"):
        InputEmission().rows([1.0, 2.0])


@pytest.mark.covers("hmm-continuous")
@pytest.mark.parametrize("covariance", ["diagonal", "full", "tied"])
def test_normal_laws_weigh_rows_as_sums_written_out_do(rng, covariance):
    n, k, d = 40, 3, int(rng.integers(1, 5))
    rows, weights = rng.normal(5, 2, (n, d)), rng.random((n, k))
    rows[rng.random(n) < 0.1] = np.nan
    law = GaussianEmission(covariance)
    law.begin(rows, k, rng)
    law.learn(rows, weights)
    seen = ~np.isnan(rows).any(axis=1)
    kept, mass = rows[seen], weights[seen]
    means = (mass.T @ kept) / mass.sum(axis=0)[:, None]
    assert law.means == pytest.approx(means)
    spread = np.stack(
        [
            ((kept - m) * w[:, None]).T @ (kept - m) / w.sum()
            for m, w in zip(means, mass.T, strict=True)
        ]
    )
    if covariance == "diagonal":
        spread = spread * np.eye(d)
    if covariance == "tied":
        spread[:] = np.average(spread, axis=0, weights=mass.sum(axis=0))
    assert law.covariances == pytest.approx(spread + np.diag(law.ridge), abs=1e-9)
    logs = law.log_likelihood(rows)
    assert not logs[~seen].any()
    for j in range(k):
        density = multivariate_normal(law.means[j], law.covariances[j]).logpdf(kept)
        assert logs[seen, j] == pytest.approx(np.ravel(density))


@pytest.mark.covers("crf-linear-chain")
def test_k_best_labelings_of_a_field_are_those_of_all_labelings(rng):
    sequences = [[{w: 1.0} for w in rng.choice(list("xyz"), n)] for n in (4, 2, 5, 3)]
    labels = [rng.choice(["A", "B", "C"], len(s)).tolist() for s in sequences]
    labels[0][:3] = ["A", "B", "C"]
    model = ChainCRF(alpha=0.05).fit(sequences, labels)
    nodes, edges = model.costs(sequences[0])
    weights = all_paths(np.ones(3), [np.exp(-edges)] * 4, -nodes)
    shares = np.array(sorted(weights.values(), reverse=True)) / sum(weights.values())
    paths, logs = model.k_best(sequences[0], 9)
    assert np.exp(logs) == pytest.approx(shares[:9])
    assert logs == pytest.approx(model.log_likelihood([sequences[0]] * 9, paths))


@pytest.mark.covers("speaker-adaptation-mllr", "hmm-classifier")
def test_a_classifier_adapted_to_a_user_knows_classes_that_the_user_did_not_give(rng):
    def spoken(shift, center, n=30):
        return [center + shift + rng.normal(0, 0.5, (15, 2)) for _ in range(n)]

    centers = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    law = GaussianEmission("diagonal")
    model = HMMClassifier(HiddenMarkovModel(1, law, random_state=0))
    model.fit([s for c in centers for s in spoken(0.0, c)], np.repeat([0, 1, 2], 30).tolist())
    shift = np.array([2.0, 2.0])
    given = spoken(shift, centers[0], 4) + spoken(shift, centers[1], 4)
    adapted = model.adapt(given, [0] * 4 + [1] * 4)
    tests = [s for c in centers for s in spoken(shift, c)]
    truth = np.repeat([0, 1, 2], 30).tolist()
    assert adapted.score(tests, truth) > model.score(tests, truth)
    assert adapted.score(given, [0] * 4 + [1] * 4) == 1
    with pytest.raises(DataError, match="is not one of the classes"):
        model.adapt(given, ["?"] * 8)


class Waiting:
    """Waiting times, exponential in each state: an emission law as a user writes one."""

    def __init__(self):
        self.rates = None

    def rows(self, sequence):
        return np.asarray(sequence, dtype=float)

    def begin(self, rows, n_states, rng):
        self.rates = np.geomspace(0.3, 3, n_states) / rows.mean()

    def log_likelihood(self, rows):
        return np.log(self.rates) - rows[:, None] * self.rates

    def learn(self, rows, weights):
        self.rates = weights.sum(axis=0) / (rows @ weights)

    def draw(self, states, rng):
        return rng.exponential(1 / self.rates[states])

    def n_parameters(self):
        return len(self.rates)


@pytest.mark.covers("hmm-continuous")
def test_a_law_of_the_user_is_learned_like_any_other(rng):
    law = Waiting()
    law.rates = np.array([0.1, 10.0])
    truth = HiddenMarkovModel.known([0.5, 0.5], [[0.95, 0.05], [0.05, 0.95]], law)
    path, waits = truth.sample(2000, random_state=int(rng.integers(1000)))
    model = HiddenMarkovModel(2, Waiting(), random_state=0).fit([waits])
    assert np.diff(model.history_).min() > -1e-6
    assert np.sort(1 / model.emission_.rates) == pytest.approx([0.1, 10], rel=0.3)
    share = np.mean(np.array(model.predict([waits])[0]) == path)
    assert max(share, 1 - share) > 0.95
