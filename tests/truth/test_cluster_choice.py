"""Choices of k, tendency, dictionaries, types: on data whose answer is known."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from gnomon.cluster import (
    DBSCAN,
    AgglomerativeClustering,
    DictionaryVote,
    KMeans,
    TypeHistogramClassifier,
    VectorQuantizer,
    block_types,
    c_index,
    choose_by_application,
    choose_by_encoding,
    choose_by_gap,
    choose_by_information,
    choose_by_prediction_strength,
    choose_by_silhouette,
    choose_by_stability,
    distance_histogram,
    fill_by_clusters,
    hopkins,
    image_pieces,
    likelihood_by_k,
    parameter_sensitivity,
    pixel_features,
    segment_image,
    signal_pieces,
    silhouette,
    type_histograms,
    weights_of_k,
)
from gnomon.density import GaussianMixture
from gnomon.engine.errors import DataError
from gnomon.evaluate import aic, bic


def three_blobs(rng, n=120):
    group = np.arange(n) % 3
    return np.array([[0, 0], [30, 0], [15, 26]])[group] + rng.normal(size=(n, 2)), group


@pytest.mark.covers("choose-k-by-silhouette")
@pytest.mark.parametrize("clusterer", [None, AgglomerativeClustering()])
def test_silhouettes_choose_three_blobs_and_are_all_there(clusterer, rng):
    rows, _ = three_blobs(rng)
    choice = choose_by_silhouette(rows, range(2, 6), clusterer=clusterer, random_state=0)
    assert choice.chosen == 3
    assert [len(each.per_cluster) for each in choice.detail["silhouettes"]] == [2, 3, 4, 5]
    best = choice.detail["silhouettes"][1]
    assert choice.figures[1].value == pytest.approx(best.per_row.mean())
    assert choice.figures[1].low < choice.figures[1].value < choice.figures[1].high


@pytest.mark.covers("choose-k-by-stability")
def test_stability_chooses_three_blobs_and_leaves_one_cluster_out(rng):
    rows, _ = three_blobs(rng)
    choice = choose_by_stability(rows, [2, 3, 4, 6], n_splits=8, random_state=0)
    assert choice.chosen == 3
    assert choice.figures[1].value == pytest.approx(0.0)
    assert choice.values[3] > 0.05
    with pytest.raises(DataError, match="between 2"):
        choose_by_stability(rows, [1, 2])


def test_gap_and_prediction_strength_choose_three_blobs(rng):
    rows, group = three_blobs(rng)
    rows[group == 2] += 60  # two groups are better than one beyond doubt: gap takes the first peak
    assert choose_by_gap(rows, range(1, 6), n_references=8, random_state=0).chosen == 3
    choice = choose_by_prediction_strength(rows, range(1, 6), n_splits=5, random_state=0)
    assert choice.chosen == 3
    assert choice.values[0] == 1.0


@pytest.mark.covers("choose-k-by-aic-bic")
def test_information_counts_parameters_and_chooses_three_blobs(rng):
    rows, _ = three_blobs(rng)
    mixture = GaussianMixture(random_state=0)
    choice = choose_by_information(mixture, rows, [1, 2, 3])
    assert choice.chosen == 3
    assert choice.reasonable == [3]
    model = choice.detail["models"][2]
    log_likelihood = float(model.score_samples(rows).sum())
    assert choice.values[2] == pytest.approx(bic(log_likelihood, 17, len(rows)))
    other = choose_by_information(mixture, rows, [3], criterion="aic")
    assert other.values[0] == pytest.approx(aic(log_likelihood, 17), rel=1e-6)
    by_components = choose_by_information(mixture, rows, [3], penalty="components")
    expected = -2 * log_likelihood + 3 * np.log(len(rows))
    assert by_components.values[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.covers("bayesian-number-of-clusters")
def test_weights_of_k_sum_to_one_and_follow_the_prior(rng):
    rows, _ = three_blobs(rng)
    choice = choose_by_information(GaussianMixture(random_state=0), rows, [2, 3, 4])
    weights = weights_of_k(choice)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[0] < 1e-6
    ratio = np.exp(-(choice.values[1] - choice.values[2]) / 2)
    assert weights[1] / weights[2] == pytest.approx(ratio, rel=1e-6)
    assert weights_of_k(choice, [1, 0, 1])[1] == 0.0
    with pytest.raises(DataError, match="BIC"):
        weights_of_k(choose_by_silhouette(rows, [2, 3], random_state=0))


@pytest.mark.covers("kmeans-penalised-k")
def test_a_message_of_three_blobs_is_shortest_with_three_centers(rng):
    rows, _ = three_blobs(rng)
    choice = choose_by_encoding(rows, range(1, 7), random_state=0)
    assert choice.chosen == 3
    assert choice.values[5] > choice.values[2]


@pytest.mark.covers("choose-k-by-application")
def test_the_system_that_does_best_held_out_is_chosen(rng):
    rows = rng.uniform(0, 8, size=(160, 1))
    target = (np.floor(rows[:, 0]) % 2).astype(int)

    def system(k):
        return make_pipeline(KMeans(k, random_state=0), KNeighborsClassifier(5))

    choice = choose_by_application(system, rows, target, [1, 8])
    assert set(choice.detail["scores"]) == {1, 8}
    assert len(choice.detail["scores"][8]) == 5
    assert choice.chosen == choice.ks[int(choice.values.argmax())]
    assert choice.values[1] > 0.7


@pytest.mark.covers("likelihood-grows-with-k")
def test_likelihood_grows_on_rows_learnt_from_and_not_on_others(rng):
    rows = rng.normal(size=(60, 2))
    found = likelihood_by_k(
        GaussianMixture(random_state=0), rows, [1, 6], n_splits=4, random_state=0
    )
    assert found.learnt[1].value > found.learnt[0].value
    assert found.held_out[1].value < found.held_out[0].value


@pytest.mark.covers("cluster-tendency-and-stability")
def test_hopkins_tells_clumps_from_uniform_rows(rng):
    rows, _ = three_blobs(rng, n=300)
    assert hopkins(rows, random_state=0).statistic > 0.8
    assert hopkins(rows, random_state=0).p_value < 0.01
    values = [hopkins(rng.uniform(size=(400, 2)), 80, random_state=s).statistic for s in range(10)]
    assert 0.4 < np.mean(values) < 0.6


@pytest.mark.covers("cluster-tendency-and-stability")
def test_distances_of_clumps_differ_from_uniform_ones_and_parameters_are_shaken(rng):
    rows, _ = three_blobs(rng)
    clumps = distance_histogram(rows, random_state=0)
    assert clumps.share.sum() == pytest.approx(1.0)
    flat = distance_histogram(rng.uniform(size=(120, 2)), random_state=0)
    assert clumps.divergence > 3 * flat.divergence
    shaken = parameter_sensitivity(DBSCAN(), rows, "eps", [0.05, 4.0], n_repeats=4, random_state=0)
    assert shaken.agreement[1].value == pytest.approx(1.0)
    assert shaken.n_clusters[1] == 3


@pytest.mark.covers("signal-pieces")
def test_pieces_of_signals_and_images_stand_where_they_were_cut(rng):
    signal = rng.normal(size=(23, 2))
    pieces = signal_pieces(signal, 5)
    np.testing.assert_array_equal(pieces[1], signal[5:10].ravel())
    assert pieces.shape == (4, 10)
    assert signal_pieces(signal, 5, step=1).shape == (19, 10)
    assert len(signal_pieces(signal, 6, jitters=3)) == 3 + 3 + 3
    drawn = signal_pieces(signal[:, 0], 4, n_random=7, random_state=0)
    windows = {tuple(signal[i : i + 4, 0]) for i in range(20)}
    assert all(tuple(piece) in windows for piece in drawn)
    image = rng.normal(size=(9, 12, 3))
    patches = image_pieces(image, 3)
    assert patches.shape == (12, 27)
    np.testing.assert_array_equal(patches[5], image[3:6, 3:6].ravel())
    assert len(image_pieces(image, 3, jitters=9)) == 9 * 12
    assert image_pieces(image, 4, n_random=6, random_state=0).shape == (6, 48)
    with pytest.raises(DataError, match="no piece"):
        signal_pieces([1.0, 2.0], 3)


def waves(rng, n, kind):
    length = int(rng.integers(150, 300))
    t = np.arange(length)
    wave = 3 * np.sign(np.sin(t / 3)) if kind else np.sin(t / 3)
    return [wave + 0.1 * rng.normal(size=length) for _ in range(n)]


@pytest.mark.covers("vq-dictionary", "vq-histogram")
@pytest.mark.parametrize("depth", [1, 2])
def test_histograms_of_pieces_count_nearest_entries_and_tell_waves_apart(depth, rng):
    train = waves(rng, 8, 0) + waves(rng, 8, 1)
    quantizer = VectorQuantizer(8, n_entries=6, depth=depth, random_state=0)
    shares = quantizer.fit_transform(train)
    assert shares.shape == (16, quantizer.n_entries_)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    pieces = quantizer.pieces(train[0])
    if depth == 1:
        gaps = ((pieces[:, None] - quantizer.dictionary_.cluster_centers_) ** 2).sum(axis=2)
        counts = np.bincount(gaps.argmin(axis=1), minlength=6)
        np.testing.assert_allclose(shares[0], counts / counts.sum())
    model = LogisticRegression().fit(shares * 10, np.repeat([0, 1], 8))
    test = quantizer.transform(waves(rng, 5, 0) + waves(rng, 5, 1))
    assert model.score(test * 10, np.repeat([0, 1], 5)) >= 0.8


@pytest.mark.covers("vq-multi-dictionary-vote")
def test_dictionaries_vote_by_majority(rng):
    train = waves(rng, 8, 0) + waves(rng, 8, 1)
    truth = np.repeat(["round", "square"], 8)
    model = DictionaryVote(
        VectorQuantizer(8, n_entries=6), KNeighborsClassifier(1), n_dictionaries=5, random_state=0
    ).fit(train, truth)
    test = waves(rng, 3, 0) + waves(rng, 3, 1)
    said = [each.predict(q.transform(test)) for q, each in model.members_]
    votes = np.array(said).mean(axis=0)
    np.testing.assert_array_equal(
        model.predict(test), np.array(["round", "square"])[(votes > 0.5).astype(int)]
    )
    dictionaries = [q.dictionary_.cluster_centers_ for q, _ in model.members_]
    assert not np.allclose(np.sort(dictionaries[0], axis=0), np.sort(dictionaries[1], axis=0))
    with pytest.raises(ValueError, match="n_dictionaries"):
        DictionaryVote(VectorQuantizer(8), KNeighborsClassifier(), n_dictionaries=2).fit(
            train, truth
        )


@pytest.mark.covers("set-classification-by-types")
def test_sets_are_classified_by_their_mix_of_types(rng):
    centers = np.array([[0.0, 0.0], [20.0, 0.0]])

    def bag(share):
        types = (rng.random(60) < share).astype(int)
        return centers[types] + rng.normal(size=(60, 2))

    sets = [bag(0.2) for _ in range(12)] + [bag(0.8) for _ in range(12)]
    truth = np.repeat(["few", "many"], 12)
    model = TypeHistogramClassifier(KNeighborsClassifier(3), n_types=2, random_state=0)
    model.fit(sets, truth)
    np.testing.assert_allclose(model.histograms(sets).sum(axis=1), 1.0)
    assert model.predict([bag(0.1), bag(0.9)]).tolist() == ["few", "many"]


@pytest.mark.covers("block-type-histograms")
def test_blocks_of_other_mixes_are_told_apart(rng):
    rows, group = three_blobs(rng, n=300)
    block = np.where(rng.random(300) < np.array([0.9, 0.5, 0.1])[group], "north", "south")
    found = block_types(rows, block, 3, random_state=0)
    assert found.counts.sum() == 300
    types = found.types.labels_
    expected = [[((block == b) & (types == t)).sum() for t in range(3)] for b in ("north", "south")]
    np.testing.assert_array_equal(found.counts, expected)
    p, q = found.shares
    used = p + q > 0
    assert found.distances[0, 1] == pytest.approx((((p - q) ** 2)[used] / (p + q)[used]).sum())
    assert found.p_value < 0.01
    quartiles = block_types(rows, rows[:, 0], 3, n_quantiles=4, random_state=0)
    assert quartiles.counts.sum(axis=1).tolist() == [75] * 4
    np.testing.assert_array_equal(type_histograms([0, 1, 1], ["a", "a", "b"]), [[1, 1], [0, 1]])


def test_prediction_strength_is_not_fooled_by_clusters_of_one_row(rng):
    rows = np.repeat([[0.0, 0.0], [30.0, 0.0]], 10, axis=0) + rng.normal(size=(20, 2))
    choice = choose_by_prediction_strength(rows, range(1, 11), random_state=0)
    assert choice.chosen == 2
    assert choice.values[-1] == 0


def test_more_clusters_than_different_rows_are_refused(rng):
    rows = rng.permutation(np.repeat([[0.0], [1.0], [5.0]], 8, axis=0))
    for choose in (choose_by_prediction_strength, choose_by_stability, choose_by_silhouette):
        with pytest.raises(DataError, match=r"only 3 rows differ.* ask for 3 at most"):
            choose(rows, range(2, 7))
        with pytest.raises(DataError, match="all rows are equal"):
            choose(np.ones((24, 2)), [2, 3])


def test_tables_with_text_are_judged_as_methods_see_them(rng):
    rows, group = three_blobs(rng, 60)
    frame = pd.DataFrame(
        {"a": rows[:, 0], "b": rows[:, 1], "kind": np.array(["u", "v", "w"])[group]}
    )
    coded = np.column_stack([rows, np.eye(3)[group]])
    assert silhouette(frame, group).total == pytest.approx(silhouette(coded, group).total)
    assert choose_by_silhouette(frame, [2, 3, 4], random_state=0).chosen == 3
    assert 0 < hopkins(frame, random_state=0).statistic < 1


@pytest.mark.covers("image-segmentation-by-clustering")
def test_an_image_of_two_fields_is_segmented(rng):
    image = np.zeros((12, 16, 3))
    image[:, :8], image[:, 8:] = [0.8, 0.1, 0.1], [0.1, 0.2, 0.9]
    image += 0.02 * rng.normal(size=image.shape)
    truth = np.arange(16) >= 8
    for features in ("color", "color+place"):
        found = segment_image(image, 2, features=features, random_state=0)
        assert (np.abs(found.labels - found.labels[0, 0]) == truth).all()
        for half, column in ((image[:, :8], 0), (image[:, 8:], 15)):
            mean = half.reshape(-1, 3).mean(axis=0)
            np.testing.assert_allclose(found.mean_image[0, column], mean)
    mixture = segment_image(image, GaussianMixture(2, random_state=0))
    np.testing.assert_allclose(mixture.weight_maps.sum(axis=0), 1.0)
    striped = np.tile([[0.0, 1.0]], (12, 8)) * (np.arange(16) < 8)
    texture = segment_image(striped, 2, features="histogram", random_state=0, window=5)
    assert (texture.labels[:, 2:5] == texture.labels[0, 2]).all()
    assert texture.labels[0, 2] != texture.labels[0, 13]
    assert pixel_features(image, "color+place").shape == (192, 5)


@pytest.mark.covers("kmeans-collaborative-filter")
def test_gaps_of_ratings_are_filled_by_the_clusters_mean(rng):
    taste = np.array([[5.0, 5, 1, 1, 3, 1], [1.0, 1, 5, 5, 1, 4]])
    group = np.arange(40) % 2
    whole = taste[group] + 0.1 * rng.normal(size=(40, 6))
    ratings = np.where(rng.random((40, 6)) < 0.25, np.nan, whole)
    ratings[:, 0] = whole[:, 0]
    found = min(
        (fill_by_clusters(ratings, 2, random_state=seed) for seed in range(8)),
        key=lambda each: np.nansum((ratings - each.centers[each.labels]) ** 2),
    )
    given = ~np.isnan(ratings)
    np.testing.assert_array_equal(found.filled[given], ratings[given])
    assert np.abs(found.filled - whole).max() < 0.8
    own = ratings[found.labels == found.labels[0]]
    np.testing.assert_allclose(found.centers[found.labels[0]], np.nanmean(own, axis=0))
    with pytest.raises(DataError, match="every rater"):
        fill_by_clusters([[np.nan, np.nan], [1.0, 2.0]], 1)


@pytest.mark.covers("cluster-tendency-and-stability")
def test_hopkins_of_many_columns_is_a_number(rng):
    rows = 100 * rng.normal(size=(60, 1500))
    assert 0 <= hopkins(rows, random_state=0).statistic <= 1


def test_distances_of_equal_rows_are_not_counted_nor_compared():
    rows = np.ones((12, 2))
    with pytest.raises(DataError, match="all rows are equal"):
        distance_histogram(rows)
    with pytest.raises(DataError, match="equally far"):
        c_index(rows, np.repeat([0, 1], 6))


def test_prediction_strength_is_told_as_a_share(rng):
    rows = np.r_[rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 30]
    choice = choose_by_prediction_strength(rows, [2, 3], random_state=0)
    assert all(each.high <= 1 for each in choice.figures)


def test_a_reach_of_next_to_nothing_makes_no_group_and_no_overflow(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (DBSCAN(1e-300).fit(rng.normal(size=(60, 3))).labels_ == -1).all()
