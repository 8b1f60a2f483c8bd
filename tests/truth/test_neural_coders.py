"""Autoencoders and generators: gradients by central differences, known answers, small problems."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.threads import Crew
from gnomon.neural import (
    GAN,
    Autoencoder,
    CodeSampler,
    ConvAutoencoder,
    DeepBeliefNetwork,
    Dense,
    MomentMatchingGenerator,
    Network,
    PretrainedClassifier,
    SlicedGenerator,
    VariationalAutoencoder,
    contractive_step,
    corrupt_rows,
    mode_collapse_check,
    witness,
)
from gnomon.neural.autoencoder import contraction, whitening
from gnomon.neural.generators import against, mmd_part, sliced_part, unit_directions
from gnomon.neural.joint import Joint
from gnomon.neural.variational import bound_part, divergence
from gnomon.reduce import PCA
from gnomon.semi import RepresentationClassifier
from gnomon.show import latent_interpolation_grid
from gnomon.trees import RandomForestClassifier

STEP = 1e-5


def differences(function, x: np.ndarray, places) -> np.ndarray:
    """Central differences of a function of an array, at some of its places."""
    found = []
    for place in places:
        moved = np.zeros_like(x)
        moved[place] = STEP
        found.append((function(x + moved) - function(x - moved)) / (2 * STEP))
    return np.array(found)


def some_places(x: np.ndarray, rng, n: int = 25) -> list[tuple[int, ...]]:
    flat = rng.choice(x.size, min(n, x.size), replace=False)
    return list(zip(*np.unravel_index(flat, x.shape)))


def assert_gradient(function, x, gradient, rng) -> None:
    places = some_places(x, rng)
    expected = differences(function, x, places)
    np.testing.assert_allclose([gradient[p] for p in places], expected, atol=1e-8)


@pytest.mark.covers("autoencoder-dense", "regularise-contractive")
@pytest.mark.parametrize(
    "options",
    [
        {"hidden_layer_sizes": (5,), "activation": "tanh"},
        {"hidden_layer_sizes": (), "code_activation": "tanh", "contractive": 0.7},
        {"hidden_layer_sizes": (), "code_activation": "logistic", "contractive": 0.7},
        {"hidden_layer_sizes": (4,), "activation": "tanh", "whiten": True},
        {"hidden_layer_sizes": (4,), "activation": "tanh", "output": "sigmoid"},
    ],
    ids=["dense", "contractive tanh", "contractive logistic", "whitening", "sigmoid"],
)
def test_gradients_of_autoencoders_are_central_differences(options, rng):
    model = Autoencoder(2, **options)
    rows, factors = rng.random((7, 3)), rng.random(7)
    joint = Joint([model._encoder(3), model._decoder(3)])
    joint.draw(rng)
    changed = rng.random((7, 3)) < 0.5
    model.corrupted_weight = 2.0

    def loss(flat):
        joint.flat[:] = flat
        slopes = joint.views(np.zeros_like(flat))
        return model._backward(joint, slopes, rows, rows, changed, factors)

    start, gradient = joint.flat.copy(), np.zeros_like(joint.flat)
    model._backward(joint, joint.views(gradient), rows, rows, changed, factors)
    assert_gradient(loss, start, gradient, rng)


@pytest.mark.covers("regularise-contractive")
def test_contraction_is_the_squared_jacobian_of_the_code(rng):
    network = Network([Dense(3, "tanh")], 4)
    parameters, rows = network.initial(rng), rng.normal(size=(5, 4))
    codes = network.predict(parameters, rows)
    views = parameters["dense1"]
    slopes = {name: np.zeros_like(part) for name, part in views.items()}
    found = contraction("tanh", views, slopes, rows, codes, np.full(5, 0.2))
    total = 0.0
    for row in rows:
        for j in range(4):
            up, down = (row + s * STEP * np.eye(4)[j] for s in (1, -1))
            column = network.predict(parameters, np.stack([up, down]))
            total += (((column[0] - column[1]) / (2 * STEP)) ** 2).sum()
    assert found == pytest.approx(0.5 * total / 5, abs=1e-8)
    shrunk = contractive_step([[1.0, 2.0], [3.0, 4.0]], [0.5, 0.0], 0.1, 2.0)
    np.testing.assert_allclose(shrunk, [[0.9, 2.0], [2.7, 4.0]])


@pytest.mark.covers("regularise-contractive")
def test_the_contractive_penalty_makes_codes_less_sensitive(rng, seed):
    rows = rng.normal(size=(150, 5))
    options = {"hidden_layer_sizes": (), "code_activation": "tanh", "learning_rate_init": 0.02}
    slopes = []
    for amount in (0.0, 5.0):
        model = Autoencoder(3, contractive=amount, random_state=seed, **options).fit(rows)
        codes = model.transform(rows)
        moved = [model.transform(rows + 1e-4 * axis) - codes for axis in np.eye(5)]
        slopes.append(np.square(moved).sum())
    assert slopes[1] < 0.7 * slopes[0]
    with pytest.raises(DataError, match="contractive needs a code layer"):
        Autoencoder(2, contractive=0.1).fit(rows)


@pytest.mark.covers("autoencoder-penalised-whitening")
def test_whitening_has_the_slopes_of_its_value_and_gives_white_codes(rng, seed):
    codes, factors = rng.normal(size=(6, 3)), rng.random(6)
    _, slope = whitening(codes, factors)
    assert_gradient(lambda c: whitening(c, factors)[0], codes, slope, rng)
    rows = rng.normal(size=(300, 6)) @ rng.normal(size=(6, 6))
    model = Autoencoder(
        2, hidden_layer_sizes=(), whiten=True, learning_rate_init=0.01, alpha=0, random_state=seed
    ).fit(rows)
    np.testing.assert_allclose(np.cov(model.transform(rows).T), np.eye(2), atol=0.2)


@pytest.mark.covers("autoencoder-dense")
def test_a_linear_autoencoder_spans_the_first_principal_components(rng, seed):
    rows = rng.normal(size=(300, 5)) * [3.0, 2.0, 0.5, 0.4, 0.3]
    rows = rows @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    model = Autoencoder(
        2,
        hidden_layer_sizes=(),
        alpha=0.0,
        learning_rate_init=0.01,
        batch_size=300,
        max_iter=4000,
        tol=0.0,
        n_iter_no_change=4000,
        random_state=seed,
    ).fit(rows)
    scaled = (rows - model.mean_) / model.scale_
    basis = np.linalg.svd(scaled, full_matrices=False)[2][:2]
    found = (model.reconstruct(rows) - model.mean_) / model.scale_
    np.testing.assert_allclose(found, scaled @ basis.T @ basis, atol=1e-2)


@pytest.mark.covers("autoencoder-penalised-whitening")
def test_weight_decay_shrinks_the_weights(rng, seed):
    rows = rng.normal(size=(100, 4))
    sizes = [
        np.linalg.norm(Autoencoder(2, alpha=a, random_state=seed).fit(rows).encoder_parameters_)
        for a in (0.0, 0.1)
    ]
    assert sizes[1] < 0.8 * sizes[0]


@pytest.mark.covers("autoencoder-2d-map", "autoencoder-dense")
def test_two_units_separate_digits_better_than_two_principal_components(seed):
    X, y = load_digits(return_X_y=True)
    keep = y < 5
    X, y = X[keep][:500] / 16, y[keep][:500]

    def own_neighbors(codes):
        squared = ((codes[:, None] - codes[None]) ** 2).sum(axis=2)
        np.fill_diagonal(squared, np.inf)
        return (y[squared.argmin(axis=1)] == y).mean()

    model = Autoencoder(
        2,
        hidden_layer_sizes=(64, 32),
        output="sigmoid",
        learning_rate_init=0.003,
        batch_size=64,
        max_iter=60,
        alpha=0,
        random_state=seed,
    )
    assert own_neighbors(model.fit_transform(X)) > own_neighbors(PCA(2).fit_transform(X))


@pytest.mark.covers("autoencoder-denoising")
def test_noise_is_removed_better_than_by_projection(seed):
    X = load_digits().data[:900] / 16
    noisy, _ = corrupt_rows(X, "salt-and-pepper", 0.2, seed)
    model = Autoencoder(
        24,
        hidden_layer_sizes=(96,),
        output="sigmoid",
        noise="salt-and-pepper",
        noise_level=0.2,
        learning_rate_init=0.003,
        batch_size=64,
        max_iter=40,
        alpha=0,
        random_state=seed,
    ).fit(X[:600])

    def decibels(rows):
        return -10 * np.log10(((rows - X[600:]) ** 2).mean())

    best = -np.inf
    for k in (5, 10, 20):
        pca = PCA(k).fit(X[:600])
        best = max(best, decibels(pca.inverse_transform(pca.transform(noisy[600:]))))
    found = decibels(model.reconstruct(noisy[600:]))
    assert found > decibels(noisy[600:]) + 4
    assert found > best


@pytest.mark.covers("autoencoder-convolutional", "autoencoder-inpainting")
def test_a_removed_block_of_an_image_is_filled(rng, seed):
    """Images of a bar across: what is removed follows from what is left."""
    rows = np.zeros((300, 8, 8))
    rows[np.arange(300), rng.integers(0, 8, 300)] = 1.0
    rows = rows.reshape(300, 64)
    model = ConvAutoencoder(
        8,
        image_shape=(8, 8),
        noise="block",
        noise_level=0.2,
        corrupted_weight=3.0,
        learning_rate_init=0.005,
        batch_size=50,
        max_iter=30,
        random_state=seed,
    ).fit(rows)
    gone, changed = corrupt_rows(rows, "block", 0.2, rng, image_shape=(8, 8))
    filled = model.reconstruct(gone)
    assert ((filled - rows)[changed] ** 2).mean() < 0.6 * ((gone - rows)[changed] ** 2).mean()
    with pytest.raises(DataError, match="does not fit rows of 64 columns"):
        ConvAutoencoder(image_shape=(7, 7)).fit(rows)


@pytest.mark.covers("autoencoder-denoising", "autoencoder-inpainting")
def test_kinds_of_noise_change_what_they_say(rng):
    rows = rng.random((200, 12))
    for noise, value in (("masking", 0.0), ("block", 0.0)):
        found, changed = corrupt_rows(rows, noise, 0.25, rng)
        assert (found[changed] == value).all()
        assert (found[~changed] == rows[~changed]).all()
    salted, changed = corrupt_rows(rows, "salt-and-pepper", 0.3, rng)
    assert set(np.unique(salted[changed])) == {0.0, 1.0}
    assert changed.mean() == pytest.approx(0.3, abs=0.06)
    flipped, changed = corrupt_rows(rows, "flip", 0.5, rng)
    np.testing.assert_allclose(flipped[changed], 1 - rows[changed])
    changed = corrupt_rows(rows, "block", 0.25, rng, image_shape=(3, 4))[1]
    assert (changed.sum(axis=1) == 2 * 2).all()
    with pytest.raises(DataError, match="no noise 'snow'"):
        corrupt_rows(rows, "snow", 0.1)


def test_overflow_of_training_keeps_the_last_good_parameters(rng):
    with pytest.warns(GnomonWarning, match="decrease learning_rate_init"):
        model = Autoencoder(
            2, solver="sgd", learning_rate_init=1e20, max_iter=50, random_state=0
        ).fit(rng.normal(size=(50, 4)))
    assert np.isfinite(model.encoder_parameters_).all()
    with pytest.warns(GnomonWarning, match="may copy rows"):
        Autoencoder(5, max_iter=1).fit(rng.normal(size=(20, 3)))


@pytest.mark.covers("vae")
@pytest.mark.parametrize("kind", ["identity", "sigmoid"])
def test_gradient_of_the_bound_is_its_central_difference(kind, rng):
    model = VariationalAutoencoder(2, hidden_layer_sizes=(4,), activation="tanh", output=kind)
    rows, factors, draws = rng.random((6, 3)), rng.random(6), rng.normal(size=(6, 2))
    joint = Joint([model._encoder(3), model._decoder(3), Network([Dense(3, name="noise")], 1)])
    joint.draw(rng)

    def loss(flat):
        joint.flat[:] = flat
        slopes = joint.views(np.zeros_like(flat))
        return bound_part(joint, slopes, rows, factors, draws, 0.7, kind)

    start, gradient = joint.flat.copy(), np.zeros_like(joint.flat)
    bound_part(joint, joint.views(gradient), rows, factors, draws, 0.7, kind)
    assert_gradient(loss, start, gradient, rng)


@pytest.mark.covers("vae")
def test_the_divergence_from_the_standard_normal_is_its_integral(rng):
    mean, log_variance = rng.normal(size=(1, 1)), rng.normal(size=(1, 1))
    z = np.linspace(-30, 30, 200_001)
    sd = np.exp(0.5 * log_variance[0, 0])
    q = np.exp(-0.5 * ((z - mean[0, 0]) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))
    logs = -0.5 * ((z - mean[0, 0]) / sd) ** 2 - np.log(sd) + 0.5 * z**2
    expected = np.trapezoid(q * logs, z)
    assert divergence(mean, log_variance)[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.covers("vae")
def test_the_bound_is_below_and_near_the_density_of_normal_rows(rng, seed):
    """Rows of two columns with one factor: the model can be exact, so that the bound is near."""
    factor = rng.normal(size=(600, 1))
    rows = factor * [2.0, -1.0] + 0.5 * rng.normal(size=(600, 2))
    covariance = np.outer([2.0, -1.0], [2.0, -1.0]) + 0.25 * np.eye(2)
    inverse = np.linalg.inv(covariance)
    log_density = -0.5 * np.einsum("ij,jk,ik->i", rows, inverse, rows)
    log_density -= 0.5 * np.log(np.linalg.det(2 * np.pi * covariance))
    model = VariationalAutoencoder(
        1, learning_rate_init=0.005, max_iter=80, n_iter_no_change=80, random_state=seed
    ).fit(rows)
    assert model.score(rows) < log_density.mean() + 0.1
    assert model.score(rows) > log_density.mean() - 0.4
    drawn = model.sample(3000, random_state=seed)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=1.2)


@pytest.mark.covers("vae", "code-sampling-generator")
def test_pixels_are_coded_and_drawn(rng, seed):
    X, y = load_digits(return_X_y=True)
    X = X[:500] / 16
    model = VariationalAutoencoder(
        4, output="sigmoid", learning_rate_init=0.003, max_iter=30, random_state=seed
    ).fit(X)
    drawn = model.sample(50, random_state=seed)
    assert drawn.min() >= 0
    assert drawn.max() <= 1
    assert model.score(X) > -30  # nats; independent pixels: about -33
    by_class = CodeSampler(model, X, y[:500])
    assert by_class.sample(20, random_state=seed).shape == (20, 64)
    codes = model.transform(X)
    one = CodeSampler(model, X)
    np.testing.assert_allclose(one.means[0], codes.mean(axis=0))
    np.testing.assert_allclose(one.covariances[0], np.cov(codes.T, bias=True))


@pytest.mark.covers("gan", "adversarial-loss")
@pytest.mark.parametrize("saturating", [False, True])
def test_gradients_of_the_adversarial_loss_are_central_differences(saturating, rng):
    critic = Network([Dense(5, "tanh"), Dense(1)], 3)
    parameters = critic.initial(rng)
    real, fake, factors = rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), rng.random(6)
    slopes = parameters.zeros()
    _, _, slope = against(critic, parameters, slopes, real, fake, factors, saturating)

    def of_critic(flat):
        moved = critic.from_flat(flat)
        return against(critic, moved, moved.zeros(), real, fake, factors, saturating)[0]

    def of_fake(rows):
        return against(critic, parameters, slopes.zeros(), real, rows, factors, saturating)[1]

    assert_gradient(of_critic, parameters.flat.copy(), slopes.flat.copy(), rng)
    assert_gradient(of_fake, fake, slope, rng)


@pytest.mark.covers("sliced-generator", "moment-matching-generator")
def test_slopes_of_distances_are_central_differences(rng):
    fake, real = rng.normal(size=(8, 3)), rng.normal(size=(8, 3))
    directions = unit_directions(5, 3, rng)
    assert_gradient(
        lambda rows: sliced_part(rows, real, directions)[0],
        fake,
        sliced_part(fake, real, directions)[1],
        rng,
    )
    assert_gradient(
        lambda rows: mmd_part(rows, real, 1.5)[0], fake, mmd_part(fake, real, 1.5)[1], rng
    )
    assert mmd_part(real, real, 1.5)[0] == pytest.approx(0.0, abs=1e-12)


def two_groups(rng, n=400) -> np.ndarray:
    return np.where(rng.random((n, 1)) < 0.5, [4.0, 4.0], [-4.0, -4.0]) + rng.normal(size=(n, 2))


@pytest.mark.covers("gan", "sliced-generator", "moment-matching-generator")
@pytest.mark.parametrize(
    "model",
    [
        GAN(max_iter=80, batch_size=64),
        SlicedGenerator(max_iter=60),
        MomentMatchingGenerator(max_iter=60, batch_size=100),
    ],
    ids=lambda model: type(model).__name__,
)
def test_generators_draw_rows_of_both_groups(model, rng, seed):
    rows = two_groups(rng)
    drawn = model.set_params(random_state=seed).fit(rows).sample(600, random_state=seed)
    assert 0.15 < (drawn.sum(axis=1) > 0).mean() < 0.85
    assert np.abs(drawn.mean(axis=0) - rows.mean(axis=0)).max() < 3.0
    between = np.abs(drawn @ [0.5, 0.5]) < 1.0
    assert between.mean() < 0.35


@pytest.mark.covers("mode-collapse-check")
def test_missing_kinds_and_copies_are_found(rng):
    rows = two_groups(rng)
    whole = mode_collapse_check(rows, two_groups(rng), n_kinds=2)
    assert not whole.collapsed
    assert whole.p_value > 1e-4
    half = mode_collapse_check(rows, 4 + rng.normal(size=(300, 2)), n_kinds=2)
    assert half.collapsed
    assert half.p_value < 1e-6
    assert mode_collapse_check(rows, rows, n_kinds=2).n_copies == len(rows)
    labels = rows[:, 0] > 0
    by_class = mode_collapse_check(
        rows, 4 + rng.normal(size=(300, 2)), classifier=LogisticRegression().fit(rows, labels)
    )
    assert by_class.missing.tolist() == [False]
    with pytest.raises(DataError, match="same columns"):
        mode_collapse_check(rows, rows[:, :1])


@pytest.mark.covers("moment-matching-generator")
def test_the_witness_is_positive_where_generated_rows_are_missing(rng):
    rows = two_groups(rng)
    found = witness([[4.0, 4.0], [-4.0, -4.0]], rows, 4 + rng.normal(size=(400, 2)), 4.0)
    assert found[0] < 0 < found[1]


def test_shards_of_a_batch_add_up_to_the_whole(rng, monkeypatch):
    from gnomon.neural import batches

    model = Autoencoder(3, hidden_layer_sizes=(8,))
    joint = Joint([model._encoder(6), model._decoder(6)])
    joint.draw(rng)
    rows = rng.normal(size=(100, 6))

    def part(slopes, x, factors, draws):
        return model._backward(joint, slopes, x, x, None, factors)

    with Crew(2) as crew:
        whole, gradient = joint.gradient(part, rows, None, crew, (0,))
        gradient = gradient.copy()
        monkeypatch.setattr(batches, "SHARD_WORK", 100)
        parts, summed = joint.gradient(part, rows, None, crew, (0,))
    assert parts == pytest.approx(whole, rel=1e-12)
    np.testing.assert_allclose(summed, gradient, atol=1e-12)


@pytest.mark.covers("autoencoder-greedy-pretraining", "deep-belief-network")
@pytest.mark.parametrize("cls", [PretrainedClassifier, DeepBeliefNetwork])
def test_few_labels_are_enough_after_pre_training(cls, seed):
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(X))[:700]
    X, y = X[order] / 16, y[order]
    model = cls((48,), unlabeled=X[100:500], max_iter=60, random_state=seed).fit(X[:100], y[:100])
    assert model.score(X[500:], y[500:]) > 0.75
    with pytest.raises(DataError, match="unlabeled rows need 64 columns"):
        cls((8,), unlabeled=X[:, :5], max_iter=1).fit(X[:20], y[:20])


@pytest.mark.covers("autoencoder-greedy-pretraining")
def test_a_layer_of_pretraining_is_the_encoder_of_an_autoencoder(rng):
    rows = rng.random((60, 5))
    model = PretrainedClassifier((3,), pretrain_iter=5)
    weight, bias, codes = model._layer(3, rows, None, 0)
    np.testing.assert_allclose(1 / (1 + np.exp(-(rows @ weight + bias))), codes, atol=1e-12)


@pytest.mark.covers("autoencoder-then-fine-tune")
def test_the_layers_of_a_whole_encoder_give_the_codes_of_the_autoencoder(rng):
    rows = rng.random((60, 5))
    model = PretrainedClassifier((4, 3), pretraining="whole", pretrain_iter=5)
    layers, coder = model._encoder([4, 3], rows, None, 0)
    found = rows
    for weight, bias in layers:
        found = 1 / (1 + np.exp(-(found @ weight + bias)))
    np.testing.assert_allclose(found, coder.transform(rows), atol=1e-12)


@pytest.mark.covers("autoencoder-then-fine-tune")
def test_fine_tuning_an_encoder_beats_the_same_network_without_pretraining(seed):
    X, y = load_digits(return_X_y=True)
    X = X / 16
    gains, forests = [], []
    for draw in range(2):
        order = np.random.default_rng([seed, draw]).permutation(len(X))
        labeled, unlabeled, test = np.split(order[:1000], [40, 600])
        shared = {"hidden_layer_sizes": (32, 16), "max_iter": 60, "random_state": seed}
        tuned = PretrainedClassifier(unlabeled=X[unlabeled], pretraining="whole", **shared)
        tuned.fit(X[labeled], y[labeled])
        plain = PretrainedClassifier(pretraining="whole", pretrain_iter=1, **shared)
        plain.fit(X[labeled], y[labeled])
        gains.append(tuned.score(X[test], y[test]) - plain.score(X[test], y[test]))
        known = np.where(np.isin(np.arange(len(X)), labeled), y, -1)
        codes = Autoencoder(16, hidden_layer_sizes=(32,), max_iter=30, random_state=seed)
        forest = RepresentationClassifier(codes, RandomForestClassifier(20, random_state=seed))
        forest.fit(X[order[:600]], known[order[:600]])
        forests.append(forest.score(X[test], y[test]))
    assert np.mean(gains) > 0.02
    assert np.mean(forests) > 0.3  # chance: 0.1


@pytest.mark.covers("latent-interpolation-grid")
def test_the_grid_begins_and_ends_with_the_images_and_decodes_equal_steps(rng):
    rows = rng.random((30, 12))
    coder = PCA(4).fit(rows)
    figure = latent_interpolation_grid(coder, rows[:2], rows[2:4], image_shape=(3, 4), n_steps=5)
    z = np.asarray(figure.data[0].z)
    assert z.shape == (2 * 5 - 2, 7 * 6 - 2)
    np.testing.assert_array_equal(z[:3, :4], rows[0].reshape(3, 4))
    np.testing.assert_array_equal(z[5:, -4:], rows[3].reshape(3, 4))
    middle = coder.inverse_transform(coder.transform(rows[[0, 2]]).mean(axis=0, keepdims=True))
    np.testing.assert_allclose(z[:3, 18:22], middle.reshape(3, 4))
    with pytest.raises(DataError, match="does not fit rows of 12 pixels"):
        latent_interpolation_grid(coder, rows[:1], rows[1:2], image_shape=(5, 5))
