"""Images by Markov random fields: denoising, labelling of pixels, segmentation.

Neighbouring pixels (left, right, above, below) tend to agree, and each pixel leans to what was
observed there. Binary, with h and x of -1 and +1: E = -a sum over edges h_i h_j - b sum_i h_i x_i.
Grey levels: c for each pair of neighbours that differ, plus w (h_i - x_i)^2. Labels: c for each
pair that differs, less log p(label | pixel) of any classifier. Mixtures: a label's law given the
rest is c_k p(x_i | theta_k) exp(beta times equal neighbours).

Texts: 000 15.1.1, 15.1.3, 15.3 (its signs of costs and of log Z, and its cI, are corrected) · 002
"Markov random fields" (segmentation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.graphical.mean_field import mean_field
from gnomon.graphical.modes import graph_cut, iterated_modes
from gnomon.graphical.pairwise import PairwiseModel, grid_edges, potts_costs
from gnomon.sample.draws import Seed
from gnomon.sample.potts import potts_gibbs


@dataclass(repr=False)
class PixelLabels(Result):
    """An image cleaned or labelled.

    Attributes
    ----------
    image : ndarray of shape (height, width)
        The answer, in the coding of the input (or the numbers of the labels).
    probabilities : ndarray of shape (height, width, n_states) or None
        Probabilities of the values of each pixel; None where only a mode was looked for.
    cost : float
        Cost of the answer.
    history : list of float
        Course of the free energy, or of the cost.
    method : str
    """

    image: np.ndarray
    probabilities: np.ndarray | None
    cost: float
    history: list[float]
    method: str

    def _title(self) -> str:
        height, width = self.image.shape[:2]
        return f"Image of {height} x {width} pixels by {self.method}"

    def _columns(self) -> dict[str, list]:
        return {"cost": [self.cost], "sweeps": [max(len(self.history) - 1, 0)]}


def denoise_binary(
    image: ArrayLike,
    *,
    coupling: float = 1.0,
    fidelity: float = 1.0,
    method: str = "mean field",
    max_iter: int = 200,
    random_state: Seed = None,
) -> PixelLabels:
    """Clean a binary image by a Boltzmann machine on its grid.

    Use it where noise flips pixels one by one and shapes are larger than a few pixels. Thin lines
    are lost where the coupling is strong.

    Parameters
    ----------
    image : array-like of shape (height, width)
        Of two values: False and True, 0 and 1, or -1 and 1.
    coupling : float, default=1
        theta_HH: how much neighbours like to agree.
    fidelity : float, default=1
        theta_HX: how much a pixel keeps to what was observed. Noise that flips a share e of the
        pixels is log((1 - e) / e) / 2.
    method : {"mean field", "gibbs", "graph cut", "exact"}, default="mean field"
        Approximate marginals; draws; the exact mode; exact marginals (small images only).
    max_iter : int, default=200
        Most sweeps of mean field, or sweeps of Gibbs, of which the first fifth is dropped.
    random_state : int, Generator or None

    Returns
    -------
    cleaned : PixelLabels

    Examples
    --------
    >>> noisy = np.ones((5, 5), dtype=int)
    >>> noisy[2, 2] = 0
    >>> int(denoise_binary(noisy).image.sum())
    25
    """
    observed, values = _signs(image)
    signs = np.array([-1.0, 1.0])
    unary = -fidelity * observed.reshape(-1, 1) * signs
    table = -coupling * np.outer(signs, signs)
    model = PairwiseModel(unary, grid_edges(*observed.shape), [table])
    if method == "graph cut":
        found = graph_cut(model)
        labels = found.labels.reshape(observed.shape)
        return PixelLabels(values[labels], None, found.cost, [found.cost], method)
    if method == "gibbs":
        probabilities, history = _binary_gibbs(observed, coupling, fidelity, max_iter, random_state)
    elif method == "mean field":
        fitted = mean_field(model, max_iter=max_iter)
        probabilities, history = fitted.q, fitted.history
    elif method == "exact":
        marginals = model.exact()
        probabilities, history = np.array(marginals.nodes), [-marginals.log_normalizer]
    else:
        raise DataError(f"method={method!r} is none of mean field, gibbs, graph cut, exact")
    laws = probabilities.reshape(*observed.shape, 2)
    labels = (laws[..., 1] > 0.5).astype(np.int64)
    return PixelLabels(values[labels], laws, model.cost(labels.ravel()), history, method)


def _signs(image: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """The image as -1 and +1, and what these stand for."""
    pixels = np.asarray(image)
    if pixels.ndim != 2 or not pixels.size:
        raise DataError(f"a binary image has the shape (height, width), not {pixels.shape}")
    found = set(np.unique(pixels).tolist())
    for low, high in ((0, 1), (-1, 1)):
        if found <= {low, high}:
            values = np.array([low, high]).astype(pixels.dtype)
            return np.where(pixels == high, 1.0, -1.0), values
    raise DataError("a binary image holds 0 and 1, -1 and 1, or False and True; cut it first")


def _binary_gibbs(observed, coupling, fidelity, n_sweeps, random_state):
    """Shares of the values after a burn-in; h_i h_j = 2 [h_i = h_j] - 1."""
    field = fidelity * observed[:, :, None] * np.array([-1.0, 1.0])
    drawn = potts_gibbs(
        observed.shape,
        2 * coupling,
        n_sweeps,
        field=field,
        start=(observed > 0).astype(np.int64),
        n_burn_in=n_sweeps // 5,
        random_state=random_state,
    )
    return drawn.marginals, drawn.energy.tolist()


def denoise_gray(
    image: ArrayLike,
    c: float,
    *,
    levels: ArrayLike | None = None,
    weight: float = 1.0,
    method: str = "mean field",
    max_iter: int = 50,
) -> PixelLabels:
    """Clean an image of grey levels: c for each pair of neighbours that differ, squared errors.

    The cost is c sum over edges [h_i != h_j] + weight sum_i (h_i - x_i)^2. It likes patches of one
    level; smooth shading becomes steps.

    Parameters
    ----------
    image : array-like of shape (height, width)
    c : float
        Strength of smoothing, in the units of the squared grey levels times the weight.
    levels : array-like, default=None
        Grey levels that the answer may have; 0 to 255 where None.
    weight : float, default=1
        1 / (2 variance of the noise) makes it a posterior.
    method : {"mean field", "modes"}, default="mean field"
        Marginals, or a local search for the mode.
    max_iter : int, default=50

    Returns
    -------
    cleaned : PixelLabels

    Examples
    --------
    >>> noisy = np.full((4, 4), 100)
    >>> noisy[1, 1] = 104
    >>> denoise_gray(noisy, 6.0, levels=[96, 100, 104]).image.tolist()[1]
    [100.0, 100.0, 100.0, 100.0]
    """
    pixels = np.asarray(image, dtype=np.float64)
    if pixels.ndim != 2 or not np.isfinite(pixels).all():
        raise DataError("a grey image is a grid (height, width) of finite numbers")
    if not c >= 0 or not weight >= 0:
        raise DataError("c and weight must not be negative: with c < 0 neighbours would differ")
    gray = np.arange(256.0) if levels is None else np.unique(np.asarray(levels, dtype=np.float64))
    unary = weight * (gray - pixels.reshape(-1, 1)) ** 2
    model = PairwiseModel(unary, grid_edges(*pixels.shape), [potts_costs(len(gray), c)])
    return _labeled(model, pixels.shape, method, max_iter, gray)


def label_pixels(
    classifier: Any,
    features: ArrayLike,
    c: float,
    *,
    method: str = "mean field",
    max_iter: int = 100,
) -> PixelLabels:
    """Label every pixel by a classifier of its surroundings, smoothed by a Potts field.

    Unary costs are -log p(label | features) of any fitted classifier with ``predict_proba``; c is
    paid for each pair of neighbours with different labels. With c = 0 it is the classifier alone.

    Parameters
    ----------
    classifier : fitted classifier
    features : array-like of shape (height, width, n_features)
        Of each pixel; they may look at many pixels (`local_features`).
    c : float
    method : {"mean field", "modes", "graph cut"}, default="mean field"
        The cut is exact, for two labels.
    max_iter : int, default=100

    Returns
    -------
    labeled : PixelLabels
        ``image`` holds the classifier's classes.
    """
    grid = np.asarray(features, dtype=np.float64)
    if grid.ndim != 3:
        raise DataError(f"features have the shape (height, width, n_features), not {grid.shape}")
    if not c >= 0:
        raise DataError(f"c={c} must not be negative")
    shares = classifier.predict_proba(grid.reshape(-1, grid.shape[2]))
    with np.errstate(divide="ignore"):
        unary = -np.log(shares)
    model = PairwiseModel(unary, grid_edges(*grid.shape[:2]), [potts_costs(shares.shape[1], c)])
    return _labeled(model, grid.shape[:2], method, max_iter, np.asarray(classifier.classes_))


def local_features(image: ArrayLike, radius: int = 1) -> np.ndarray:
    """For every pixel its value, and the mean and standard deviation around it.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, channels)
    radius : int, default=1
        The surroundings are a square of 2 radius + 1 pixels; edges are mirrored.

    Returns
    -------
    features : ndarray of shape (height, width, 3 channels)

    Examples
    --------
    >>> local_features(np.ones((4, 5))).shape
    (4, 5, 3)
    """
    from scipy.ndimage import uniform_filter

    pixels = np.asarray(image, dtype=np.float64)
    channels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    size = (2 * radius + 1, 2 * radius + 1, 1)
    mean = uniform_filter(channels, size, mode="reflect")
    spread = uniform_filter((channels - channels.mean()) ** 2, size, mode="reflect")
    variance = np.maximum(spread - (mean - channels.mean()) ** 2, 0.0)
    return np.concatenate([channels, mean, np.sqrt(variance)], axis=2)


def _labeled(
    model: PairwiseModel, shape: tuple, method: str, max_iter: int, values: np.ndarray
) -> PixelLabels:
    if method == "mean field":
        found = mean_field(model, max_iter=max_iter, tol=1e-6)
        labels, history = found.labels, found.history
        laws = found.q.reshape(*shape, -1)
        return PixelLabels(values[labels.reshape(shape)], laws, model.cost(labels), history, method)
    if method == "modes":
        best = iterated_modes(model, max_iter=max_iter)
    elif method == "graph cut":
        best = graph_cut(model)
    else:
        raise DataError(f"method={method!r} is none of mean field, modes, graph cut")
    history = best.history or [best.cost]
    return PixelLabels(values[best.labels.reshape(shape)], None, best.cost, history, method)


@dataclass(repr=False)
class MixtureSegments(Result):
    """A segmentation by a mixture with a smoothing prior.

    Attributes
    ----------
    labels : ndarray of int of shape (height, width)
        The most frequent component of each pixel after the burn-in; components by rising mean.
    probabilities : ndarray of shape (height, width, n_components)
    means, sds : ndarray of shape (n_components,)
        Posterior means of the components' parameters.
    beta : float
    """

    labels: np.ndarray
    probabilities: np.ndarray
    means: np.ndarray
    sds: np.ndarray
    beta: float

    def _title(self) -> str:
        return f"Segments of a mixture of {len(self.means)} normals, beta = {self.beta:g}"

    def _columns(self) -> dict[str, list]:
        share = [float((self.labels == k).mean()) for k in range(len(self.means))]
        return {"mean": self.means.tolist(), "sd": self.sds.tolist(), "share of pixels": share}


def segment_mixture(
    image: ArrayLike,
    n_components: int,
    beta: float,
    *,
    weights: ArrayLike | None = None,
    max_iter: int = 200,
    random_state: Seed = None,
) -> MixtureSegments:
    """Segment an image by a Bayesian mixture of normals whose labels like to agree (Gibbs).

    A label's law given all else is c_k N(x_i; m_k, v_k) exp(beta times equal neighbours); means
    have a wide normal prior, variances an inverse-gamma one. beta = 0 is the mixture without
    smoothing. The weights c_k stay as given: with beta > 0 their law would need the field's
    normalizer.

    Parameters
    ----------
    image : array-like of shape (height, width)
    n_components : int
    beta : float
    weights : array-like of shape (n_components,), default=None
        Equal where None.
    max_iter : int, default=200
        The first half is dropped.
    random_state : int, Generator or None

    Returns
    -------
    segments : MixtureSegments

    Examples
    --------
    >>> halves = np.repeat([[0.0, 10.0]], 4, axis=0).repeat(4, axis=1)
    >>> noisy = halves + np.random.default_rng(0).normal(size=(4, 8))
    >>> segment_mixture(noisy, 2, 1.0, random_state=0).labels[0].tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    """
    pixels = np.asarray(image, dtype=np.float64)
    if pixels.ndim != 2 or not np.isfinite(pixels).all() or np.ptp(pixels) == 0:
        raise DataError("an image is a grid of finite numbers that are not all equal")
    shares = np.full(n_components, 1 / n_components) if weights is None else np.asarray(weights)
    if shares.shape != (n_components,) or not (shares > 0).all() or n_components < 2:
        raise DataError(f"weights must be {n_components} positive numbers, two at least")
    rng = np.random.default_rng(random_state)
    states = _start_labels(pixels, n_components)
    center, spread = pixels.mean(), pixels.var()
    counts = np.zeros((*pixels.shape, n_components))
    means, variances = np.zeros(n_components), np.full(n_components, spread)
    sums = np.zeros((2, n_components))
    for sweep in range(max_iter):
        means, variances = _component_draws(pixels, states, variances, center, spread, rng)
        field = (
            np.log(shares)
            - 0.5 * np.log(variances)
            - 0.5 * (pixels[:, :, None] - means) ** 2 / variances
        )
        states = potts_gibbs(
            pixels.shape,
            beta,
            1,
            n_states=n_components,
            field=field,
            start=states,
            random_state=rng,
        ).states
        if sweep >= max_iter // 2:
            counts[(*np.indices(pixels.shape), states)] += 1
            sums += np.stack([means, np.sqrt(variances)])
    kept = max_iter - max_iter // 2
    order = np.argsort(sums[0])
    laws = counts[:, :, order] / kept
    found_means, sds = (sums / kept)[:, order]
    return MixtureSegments(laws.argmax(axis=2), laws, found_means, sds, float(beta))


def _start_labels(pixels: np.ndarray, n_components: int) -> np.ndarray:
    """Nearest of centres that begin evenly spread over the grey levels and move to their means.

    From shares of pixels instead, a large background would begin, and stay, in two components.
    """
    low, high = np.quantile(pixels, [0.02, 0.98])
    centers = np.linspace(low, high, n_components)
    for _ in range(50):
        labels = np.searchsorted((centers[1:] + centers[:-1]) / 2, pixels)
        n = np.bincount(labels.ravel(), minlength=n_components)
        totals = np.bincount(labels.ravel(), weights=pixels.ravel(), minlength=n_components)
        moved = np.where(n > 0, totals / np.maximum(n, 1), centers)
        if np.array_equal(moved, centers):
            break
        centers = moved
    return labels


def _component_draws(pixels, states, variances, center, spread, rng):
    """Means given variances, then variances given means, from their conjugate distributions."""
    n_components = len(variances)
    flat = states.ravel()
    n = np.bincount(flat, minlength=n_components)
    totals = np.bincount(flat, weights=pixels.ravel(), minlength=n_components)
    precision = n / variances + 1 / (10 * spread)
    means = (totals / variances + center / (10 * spread)) / precision
    means = means + rng.standard_normal(n_components) / np.sqrt(precision)
    squares = np.bincount(flat, weights=(pixels.ravel() - means[flat]) ** 2, minlength=n_components)
    scale = 0.1 * spread / n_components**2 + squares / 2
    return means, scale / rng.gamma(2 + n / 2)
