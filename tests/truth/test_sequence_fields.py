"""Random fields, local models, state spaces, lags and speech against enumeration and algebra."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPRegressor
from sklearn.tree import DecisionTreeClassifier

import gnomon
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.sequence import (
    Autoregression,
    ChainCRF,
    LagRegressor,
    LinearGaussianModel,
    MaxEntMarkovModel,
    WordRecognizer,
    cepstra,
    crf,
    deltas,
    extended_kalman_filter,
    label_bias,
    mel_filters,
    particle_filter,
    segment_scores,
    spectrogram,
    token_features,
)
from gnomon.sequence.crf import _Problem
from gnomon.sequence.state_space import _slope

WORDS = ["sun", "rain", "wind", "fog"]


def tagged(rng, lengths=(5, 3, 1, 6)):
    sequences = [[{w: 1.0, "bias": 1.0} for w in rng.choice(WORDS, n)] for n in lengths]
    labels = [rng.choice(["A", "B", "C"], n).tolist() for n in lengths]
    labels[0][:3] = ["A", "B", "C"]
    return sequences, labels


def all_scores(model, sequence):
    nodes, edges = model.costs(sequence)
    k = len(model.labels_)
    return {
        path: -sum(nodes[i, a] for i, a in enumerate(path))
        - sum(edges[a, b] for a, b in pairwise(path))
        for path in product(range(k), repeat=len(nodes))
    }


@pytest.mark.covers("crf-linear-chain", "crf-max-likelihood")
def test_field_is_normalized_over_all_paths_and_decodes_the_best(rng):
    sequences, labels = tagged(rng)
    model = ChainCRF(alpha=0.05).fit(sequences, labels)
    for sequence, truth in zip(sequences, labels, strict=True):
        scores = all_scores(model, sequence)
        total = logsumexp(list(scores.values()))
        path = tuple(model.labels_.index(x) for x in truth)
        assert model.log_likelihood([sequence], [truth])[0] == pytest.approx(scores[path] - total)
        (decoded,) = model.predict([sequence])
        found = scores[tuple(model.labels_.index(x) for x in decoded)]
        assert found == pytest.approx(max(scores.values()))
        shares = np.zeros((len(sequence), 3))
        for each, score in scores.items():
            shares[np.arange(len(each)), each] += np.exp(score - total)
        assert model.predict_proba([sequence])[0] == pytest.approx(shares)


@pytest.mark.covers("crf-max-likelihood")
def test_gradient_of_the_likelihood_is_that_of_differences_and_is_zero_at_the_end(rng):
    sequences, labels = tagged(rng)
    model = ChainCRF(alpha=0.05, tol=1e-12).fit(sequences, labels)
    problem = _Problem(model, sequences, labels)
    theta = rng.normal(size=problem.size)
    gap = check_grad(lambda t: problem.likelihood(t)[0], lambda t: problem.likelihood(t)[1], theta)
    assert gap < 1e-4
    slope = problem.likelihood(model.theta_)[1] / 4 + 2 * 0.05 * model.theta_
    assert np.abs(slope).max() < 1e-4
    assert np.diff(model.history_).max() < 1e-9


@pytest.mark.covers("crf-max-likelihood")
@pytest.mark.parametrize("pairs", ["seen", "all"])
def test_gradients_of_blocks_and_lots_are_that_of_differences(pairs, rng, monkeypatch):
    monkeypatch.setattr(crf, "LEAST_BLOCK", 3)
    monkeypatch.setattr(crf, "COMMON_PARAMETERS", int(rng.integers(0, 20)))
    sequences, labels = tagged(rng)
    model = ChainCRF(pairs=pairs, max_iter=1, loss="hinge").fit(sequences, labels)
    problem = _Problem(model, sequences, labels)
    assert len(problem.blocks()) > 1
    theta = rng.normal(size=problem.size)
    value, slope = problem.likelihood(theta)
    for place in range(problem.size):
        step = np.zeros(problem.size)
        step[place] = 1e-5
        rise = problem.likelihood(theta + step)[0] - problem.likelihood(theta - step)[0]
        assert slope[place] == pytest.approx(rise / 2e-5, abs=1e-6)
    moved = theta / 2
    assert problem.lot_likelihood(moved, np.arange(4), 2.0, 1.0) == pytest.approx(value)
    assert moved - theta / 2 == pytest.approx(slope)
    model.theta_ = theta
    assert -model.log_likelihood(sequences, labels).sum() == pytest.approx(value)


@pytest.mark.covers("crf-max-likelihood")
def test_small_lots_come_near_the_optimum_and_threads_change_nothing(rng):
    sequences, labels = tagged(rng, lengths=(5, 3, 1, 6, 7, 4, 9, 5))
    whole = ChainCRF(alpha=0.05).fit(sequences, labels)
    lots = ChainCRF(alpha=0.05, solver="sgd", batch_size=2, random_state=0).fit(sequences, labels)
    problem = _Problem(whole, sequences, labels)
    reached = [
        problem.likelihood(m.theta_)[0] / 8 + 0.05 * m.theta_ @ m.theta_ for m in (whole, lots)
    ]
    assert reached[0] == pytest.approx(whole.history_[-1], rel=1e-6)
    assert reached[0] - 1e-9 <= reached[1] <= 1.02 * reached[0]
    one, two = (ChainCRF(n_jobs=jobs).fit(sequences, labels).theta_ for jobs in (1, 2))
    assert np.array_equal(one, two)


def test_rare_features_and_wrong_input_of_fields():
    sequences, labels = [[["a", "b"], ["a"]], [["a"]]], [["X", "Y"], ["X"]]
    assert ChainCRF(min_count=2).fit(sequences, labels).feature_names_ == ["a"]
    seen = ChainCRF().fit(sequences, labels)
    assert seen.node_weights_[seen.feature_names_.index("b"), seen.labels_.index("Y")] == 0
    assert seen.predict([]) == []
    with pytest.raises(DataError, match="see sequence 1"):
        ChainCRF().fit(sequences, [["X", "Y"], ["X", "X"]])
    with pytest.raises(ValueError, match="'solver' parameter"):
        ChainCRF(solver="newton").fit(sequences, labels)
    with pytest.raises(DataError, match="l1 goes with"):
        ChainCRF(solver="sgd", l1=1.0).fit(sequences, labels)
    with pytest.raises(DataError, match="is NaN"):
        ChainCRF().fit([[{"a": np.nan}]], [["X"]])


@pytest.mark.covers("crf-max-likelihood")
def test_a_penalty_of_absolute_values_makes_weights_exactly_zero(rng):
    sequences, labels = tagged(rng)
    dense = ChainCRF().fit(sequences, labels)
    sparse = ChainCRF(l1=0.3).fit(sequences, labels)
    assert (sparse.node_weights_ == 0).sum() > (dense.node_weights_ == 0).sum()


@pytest.mark.covers("crf-structured-hinge")
def test_structured_hinge_is_the_worst_margin_over_all_paths(rng):
    sequences, labels = tagged(rng)
    model = ChainCRF(loss="hinge", margin=0.7, max_iter=2, random_state=0).fit(sequences, labels)
    problem = _Problem(model, sequences, labels)
    theta = model.theta_ = rng.normal(size=problem.size)
    for r, (sequence, truth) in enumerate(zip(sequences, labels, strict=True)):
        scores = all_scores(model, sequence)
        path = tuple(model.labels_.index(x) for x in truth)
        worst = max(
            score + 0.7 * sum(a != b for a, b in zip(each, path, strict=True))
            for each, score in scores.items()
        )
        lot, moved = np.array([r]), theta.copy()
        value = problem.hinge(theta, lot)
        problem.hinge(moved, lot, 1.0, 1.0)
        slope = moved - theta
        assert value == pytest.approx(worst - scores[path], abs=1e-9)
        step = rng.normal(size=len(theta))
        beyond = problem.hinge(theta + step, lot)
        assert beyond >= value + slope @ step - 1e-9


@pytest.mark.covers("crf-structured-hinge")
def test_the_hinge_separates_what_can_be_separated(rng):
    sequences = [[[w] for w in rng.choice(WORDS, n)] for n in (6, 9, 4, 7, 5, 8)]
    labels = [["wet" if w[0] in ("rain", "fog") else "dry" for w in s] for s in sequences]
    model = ChainCRF(loss="hinge", alpha=1e-4, max_iter=60, random_state=0).fit(sequences, labels)
    assert model.score(sequences, labels) == 1
    assert model.history_[-1] < model.history_[0]


@pytest.mark.covers("crf-linear-features")
def test_feature_functions_with_shared_weights_give_the_indicators_field(rng):
    sequences, labels = tagged(rng)
    names = ["A", "B", "C"]
    plain = ChainCRF(alpha=0.05, tol=1e-12, max_iter=500, labels=names, pairs="all")
    plain.fit(sequences, labels)
    features = plain.feature_names_

    def joint(sequence):
        table = np.zeros((len(sequence), 3, len(features), 3))
        for i, token in enumerate(sequence):
            for name, value in token.items():
                for k in range(3):
                    table[i, k, features.index(name), k] = value
        return table.reshape(len(sequence), 3, -1)

    pairs = np.eye(9).reshape(3, 3, 9)
    general = ChainCRF(
        alpha=0.05, tol=1e-12, max_iter=500, labels=names, features=joint, edges=pairs
    ).fit(sequences, labels)
    assert general.node_weights_ == pytest.approx(plain.node_weights_.ravel(), abs=1e-3)
    assert general.edge_weights_ == pytest.approx(plain.edge_weights_.ravel(), abs=1e-3)
    scores = [rng.normal(size=(n, 3)) for n in (4, 6)]
    truth = [s.argmin(axis=1).tolist() for s in scores]
    one = ChainCRF(labels=[0, 1, 2], features=lambda s: s[:, :, None]).fit(scores, truth)
    assert one.node_weights_.shape == (1,)
    assert one.node_weights_[0] < 0


def test_fields_and_local_models_are_saved_and_loaded(rng, tmp_path):
    sequences, labels = tagged(rng)
    for model in (ChainCRF(), MaxEntMarkovModel()):
        model.fit(sequences, labels)
        back = gnomon.load(model.save(tmp_path / "model.gnomon"))
        assert back.predict(sequences) == model.predict(sequences)


def test_segments_are_scored_whole():
    truth = [["B-NP", "I-NP", "O", "B-VP", "B-NP"]]
    assert segment_scores(truth, truth) == (1, 1, 1)
    precision, recall, _ = segment_scores(truth, [["B-NP", "O", "O", "B-VP", "B-NP"]])
    assert (precision, recall) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert "digit" in token_features(["A1"])[0]


@pytest.mark.covers("memm")
def test_local_model_is_normalized_for_each_previous_label_and_decodes_the_best_path(rng):
    sequences, labels = tagged(rng, (20, 15, 12))
    model = MaxEntMarkovModel(alpha=1e-2).fit(sequences, labels)
    logs = model.log_transitions(sequences[2][:4])
    sums = np.exp(logs).sum(axis=2)
    assert sums == pytest.approx(
        np.where(model.successors_.any(axis=1), 1.0, 0.0)[None, :] * np.ones_like(sums)
    )
    best = max(
        logs[0, 3, p[0]] + sum(logs[i, p[i - 1], p[i]] for i in range(1, 4))
        for p in product(range(3), repeat=4)
    )
    (path,) = model.predict([sequences[2][:4]])
    codes = [model.labels_.index(x) for x in path]
    found = logs[0, 3, codes[0]] + sum(logs[i, codes[i - 1], codes[i]] for i in range(1, 4))
    assert found == pytest.approx(best)


@pytest.mark.covers("memm")
def test_any_classifier_of_the_next_label_will_do(rng):
    sequences = [[[w] for w in rng.choice(WORDS, 30)] for _ in range(8)]
    labels = [["wet" if w[0] in ("rain", "fog") else "dry" for w in s] for s in sequences]
    for classifier in (LogisticRegression(C=100), DecisionTreeClassifier()):
        model = MaxEntMarkovModel(classifier=classifier).fit(sequences, labels)
        assert model.score(sequences, labels) == 1
        chances = np.exp(model.log_transitions(sequences[0]))
        assert chances.sum(axis=2) == pytest.approx(1)


@pytest.mark.covers("memm", "label-bias-diagnostic")
def test_a_state_with_one_successor_hears_nothing():
    with pytest.warns(GnomonWarning, match="label bias"):
        MaxEntMarkovModel().fit([[["u"], ["v"], ["u"], ["v"]]], [["A", "B", "A", "B"]])
    ways = [[0, 0, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1], [1, 1, 1, 1]]
    quiet = label_bias(ways, np.zeros((3, 4)))
    # from a uniform start of four states to 1-0-3: the two successors of 1, then no choice
    assert quiet.local_cost == pytest.approx(np.log(4) + np.log(2))
    loud = label_bias(ways, [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, -10]])
    assert loud.local_path.tolist() == [1, 0, 3]
    assert loud.local_cost == pytest.approx(quiet.local_cost)
    assert loud.out_degree.tolist() == [1, 2, 4, 4]
    assert loud.sway[0] == 0
    assert loud.sway[2:].min() > 0
    assert loud.global_path[2] != 3


def random_linear(rng, n=2, d=1):
    def spread(size):
        root = rng.normal(size=(size, size))
        return root @ root.T + 0.3 * np.eye(size)

    return LinearGaussianModel(
        0.6 * rng.normal(size=(n, n)),
        rng.normal(size=(d, n)),
        spread(n),
        spread(d),
        rng.normal(size=n),
        spread(n),
    )


def joint_normal(model, length):
    """Mean and covariance of all states and observations, written out."""
    n = len(model.start_mean)
    means, blocks = [model.start_mean], [[model.start_covariance]]
    for t in range(1, length):
        means.append(model.motion @ means[-1])
        row = [model.motion @ blocks[t - 1][s] for s in range(t)]
        row.append(model.motion @ blocks[t - 1][t - 1] @ model.motion.T + model.motion_noise)
        blocks.append(row)
    states = np.zeros((n * length, n * length))
    for t in range(length):
        for s in range(t + 1):
            states[n * t : n * t + n, n * s : n * s + n] = blocks[t][s]
            states[n * s : n * s + n, n * t : n * t + n] = blocks[t][s].T
    see = np.kron(np.eye(length), model.sight)
    seen = see @ states @ see.T + np.kron(np.eye(length), model.sight_noise)
    return np.concatenate(means), states, see, seen


@pytest.mark.covers("state-space-model")
def test_kalman_filter_and_smoother_are_conditionals_of_the_joint_normal_law(rng):
    model = random_linear(rng)
    _, series = model.sample(4, random_state=rng)
    mean, states, see, seen = joint_normal(model, 4)
    smooth = model.smooth(series)
    gain = states @ see.T @ np.linalg.inv(seen)
    expected = mean + gain @ (series.ravel() - see @ mean)
    assert smooth.means.ravel() == pytest.approx(expected, abs=1e-8)
    left = states - gain @ see @ states
    for t in range(4):
        assert smooth.covariances[t] == pytest.approx(
            left[2 * t : 2 * t + 2, 2 * t : 2 * t + 2], abs=1e-8
        )
    assert model.score(series) == pytest.approx(
        multivariate_normal(see @ mean, seen).logpdf(series.ravel())
    )
    assert model.filter(series).means[-1] == pytest.approx(smooth.means[-1])
    gap = series.copy()
    gap[2] = np.nan
    keep = [0, 1, 3]
    part = multivariate_normal((see @ mean)[keep], seen[np.ix_(keep, keep)])
    assert model.score(gap) == pytest.approx(part.logpdf(series.ravel()[keep]))


@pytest.mark.covers("extended-kalman-filter")
def test_extended_filter_is_exact_where_all_is_straight_and_follows_a_curve(rng):
    model = random_linear(rng)
    _, series = model.sample(6, random_state=rng)
    arguments = (model.motion_noise, model.sight_noise, model.start_mean, model.start_covariance)
    found = extended_kalman_filter(
        series, lambda z: model.motion @ z, lambda z: model.sight @ z, *arguments
    )
    assert found.means == pytest.approx(model.filter(series).means, abs=1e-5)
    at = rng.normal(size=2)
    slope = _slope(lambda z: np.array([z[0] * z[1], np.sin(z[0])]), at)
    assert slope == pytest.approx(np.array([[at[1], at[0]], [np.cos(at[0]), 0]]), abs=1e-6)
    angle = 0.3 + 0.05 * np.arange(60)
    seen = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, 0.05, (60, 2))
    track = extended_kalman_filter(
        seen,
        lambda z: np.array([z[0] + z[1], z[1]]),
        lambda z: np.array([np.cos(z[0]), np.sin(z[0])]),
        np.diag([1e-6, 1e-6]),
        0.0025 * np.eye(2),
        [0.0, 0.0],
        np.diag([0.5, 0.01]),
    )
    assert track.means[-1, 0] == pytest.approx(angle[-1], abs=0.1)


@pytest.mark.covers("particle-filter")
def test_particles_agree_with_the_kalman_filter(rng):
    model = LinearGaussianModel([[0.9]], [[1.0]], [[0.5]], [[0.5]], [0.0], [[1.0]])
    _, series = model.sample(15, random_state=rng)
    found = particle_filter(
        series,
        lambda n, g: g.normal(0, 1, (n, 1)),
        lambda z, g: 0.9 * z + g.normal(0, 0.5**0.5, z.shape),
        lambda x, z: -((x - z[:, 0]) ** 2) - 0.5 * np.log(np.pi),
        n_particles=8000,
        random_state=rng,
    )
    exact = model.filter(series)
    assert np.abs(found.means - exact.means).max() < 0.15
    assert found.log_likelihood == pytest.approx(exact.log_likelihood, abs=0.6)
    assert (found.effective > 1).all()
    assert (found.effective <= 8000 + 1e-6).all()
    with pytest.raises(DataError, match="no particle can explain row 0"):
        particle_filter(
            [1.0],
            lambda n, g: np.zeros((n, 1)),
            lambda z, g: z,
            lambda x, z: np.full(len(z), -np.inf),
        )


@pytest.mark.covers("autoregression-linear-gaussian")
def test_autoregression_is_that_of_statsmodels_and_finds_its_order(rng):
    from statsmodels.tsa.ar_model import AutoReg

    series = np.zeros(600)
    for n in range(2, 600):
        series[n] = 0.5 + 0.5 * series[n - 1] - 0.6 * series[n - 2] + rng.normal()
    model = Autoregression(2).fit([series])
    peer = AutoReg(series, 2).fit()
    assert np.r_[model.intercept_, model.coef_.ravel()] == pytest.approx(peer.params)
    assert model.forecast_rows(series, 3).ravel() == pytest.approx(peer.forecast(3))
    assert model.score([series]) == pytest.approx(peer.llf)
    chosen = Autoregression("bic", max_order=6).fit([series])
    assert chosen.order_ >= 2
    assert chosen.criteria_[chosen.order_] == min(chosen.criteria_.values())
    for how in ("aic", "later"):
        assert Autoregression(how, max_order=4).fit([series]).order_ >= 2
    pair = np.column_stack([series[1:], series[:-1]])
    both = Autoregression(1).fit([pair])
    assert both.coef_[0, 1] == pytest.approx([1, 0], abs=1e-8)
    assert both.sample(5, random_state=rng).shape == (5, 2)


@pytest.mark.covers("lag-network")
def test_a_network_on_lags_learns_a_curve_that_no_plane_can(rng):
    series = np.empty(600)
    series[0] = rng.uniform(0.2, 0.8)
    for n in range(1, 600):
        series[n] = 3.8 * series[n - 1] * (1 - series[n - 1])
    network = MLPRegressor(hidden_layer_sizes=(20,), solver="lbfgs", max_iter=400, random_state=0)
    model = LagRegressor(network, lags=1).fit([series])
    plane = Autoregression(1).fit([series])
    assert -model.score([series]) < 0.2 * plane.covariance_[0, 0]
    assert model.forecast_rows(series, 2).shape == (2, 1)


@pytest.mark.covers("speech-front-end")
def test_features_of_a_tone_stand_at_its_pitch(rng):
    rate, pitch = 8000, 1000
    tone = np.sin(2 * np.pi * pitch * np.arange(4000) / rate)
    power = spectrogram(tone, window=256, hop=128)
    assert set(power.argmax(axis=1)) == {round(pitch * 256 / rate)}
    filters = mel_filters(20, 256, rate)
    assert filters.min() >= 0
    middle = filters.sum(axis=0)[8:-30]
    assert middle == pytest.approx(np.ones(len(middle)))
    ramp = np.arange(10.0)[:, None] * [[2.0, -1.0]]
    assert deltas(ramp)[3:7] == pytest.approx(np.tile([2.0, -1.0], (4, 1)))
    found = cepstra(tone, rate, window=256, hop=128)
    assert found.shape == (len(power), 39)
    hiss = tone + rng.normal(0, 0.3, len(tone))
    soft, loud = (cepstra(v * hiss, rate, window=256, hop=128, slopes=False) for v in (1, 10))
    assert loud[:, 1:] == pytest.approx(soft[:, 1:], abs=1e-5)
    assert (loud[:, 0] > soft[:, 0]).all()
    with pytest.raises(DataError, match="at least 400"):
        spectrogram(np.zeros(10))


@pytest.mark.covers("phoneme-hmm")
def test_words_of_shared_sounds_are_recognized_alone_and_in_a_row(rng):
    lexicon = {"on": "A N", "no": "N A", "nan": "N A N", "so": "S A"}
    centers = {(p, i): rng.normal(0, 6, 3) for p in "ANS" for i in range(3)}

    def say(word):
        rows = [
            centers[p, i] + rng.normal(0, 0.5, 3)
            for p in lexicon[word].split()
            for i in range(3)
            for _ in range(rng.integers(1, 4))
        ]
        return np.array(rows)

    words = list(lexicon) * 8
    heard = [say(word) for word in words]
    model = WordRecognizer(lexicon, max_iter=8).fit(heard, words)
    assert len(model.parts_) == 9
    assert np.diff(model.history_).min() > -1e-6 * abs(model.history_[0])
    fresh = [say(word) for word in lexicon]
    assert model.predict(fresh) == list(lexicon)
    assert model.predict_words(np.vstack([say("so"), say("on")])) == ["so", "on"]
    assert model.sample("so", random_state=rng).shape[1] == 3
