"""Autoencoders: networks that code rows in a few numbers and decode them.

An encoder E gives the code of a row, a decoder D gives the row back; both are trained together to
minimise the mean of |D(E(x)) - x|^2 / 2. Without hidden layers and with identity units the best
codes span the first principal components. Options make other kinds of it:

- ``noise``: the encoder sees corrupted rows and the decoder must give the clean ones (denoising;
  with "block", inpainting), with fresh noise whenever a row is drawn;
- ``contractive``: the squared derivatives of the code with respect to the row are added to the
  loss, sum_j a'(z_j)^2 |w_j|^2 for a layer of units a(w_j'x + b_j);
- ``alpha``: weight decay; ``whiten``: codes with unit covariance.

Texts: 000c 19.2.1-19.2.3 · 003 4.4.2.4, 4.5.1 · 004 9.3.1-9.3.2.
"""

from __future__ import annotations

import warnings
from math import isqrt, prod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_array, check_is_fitted

from gnomon.contract import Data, Transformer
from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.distinct import distinct_rows
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.parameters import FLAG, StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.neural.activations import activation_of
from gnomon.neural.convolution import Conv2D, ConvTranspose2D
from gnomon.neural.corruption import NOISES, corrupt_rows
from gnomon.neural.joint import JOINT_PARAMETERS, LEARNING, Joint, JointLearner
from gnomon.neural.layers import Dense, Flatten, Layer, Reshape, Run
from gnomon.neural.network import Network, Parameters

TOGETHER = 2**16  # cells of all layers of rows predicted at once; windows take nine times that
CURVED = ("logistic", "sigmoid", "tanh")  # activations whose second derivative is used


class Scaling:
    """Mixin: rows are scaled before a network sees them, and its outputs scaled back.

    ``output="identity"``: columns have mean 0 and variance 1. ``output="sigmoid"``: columns lie
    between 0 and 1; they are left as they are where all values do so already.
    """

    output: str

    def _learn_scaling(self, data: Data) -> np.ndarray:
        rows = np.asarray(data.rows, dtype=np.float64)
        if self.output == "sigmoid":
            low, high = rows.min(axis=0), rows.max(axis=0)
            if low.min() >= 0 and high.max() <= 1:
                low, high = np.zeros_like(low), np.ones_like(high)
            self.mean_, spread = low, high - low
        else:
            distinct = distinct_rows(rows, data.weight_array)
            share = distinct.weights / distinct.weights.sum()
            self.mean_ = share @ distinct.rows
            spread = np.sqrt(share @ (distinct.rows - self.mean_) ** 2)
        small = np.finfo(float).eps * np.abs(self.mean_)
        self.scale_ = np.where(spread > small, spread, 1.0)
        return self._scaled(rows)

    def _scaled(self, rows: Any) -> np.ndarray:
        return (rows - self.mean_) / self.scale_

    def _unscaled(self, rows: np.ndarray) -> np.ndarray:
        return rows * self.scale_ + self.mean_


class Coder(Scaling, ClassNamePrefixFeaturesOutMixin, JointLearner, Transformer):
    """What all autoencoders share: an encoder and a decoder, trained together."""

    _largest = 1e30
    _stored: ClassVar[Any] = {
        "encoder_parameters_": Array("f8", (None,)),
        "decoder_parameters_": Array("f8", (None,)),
        "mean_": Array("f8", ("n_columns",)),
        "scale_": Array("f8", ("n_columns",), low=0.0),
    }

    @property
    def _n_features_out(self) -> int:
        check_is_fitted(self)
        return self.n_components

    def _encoder(self, n_columns: int) -> Network:
        raise NotImplementedError

    def _decoder(self, n_columns: int) -> Network:
        raise NotImplementedError

    def _joint(self) -> Joint:
        """The fitted encoder and decoder."""
        d = len(self.mean_)
        flat = np.concatenate([self.encoder_parameters_, self.decoder_parameters_])
        return Joint([self._encoder(d), self._decoder(d)], flat)

    def _attributes(self, flat: np.ndarray, n_encoder: int) -> dict[str, Any]:
        return {
            "encoder_parameters_": flat[:n_encoder].copy(),
            "decoder_parameters_": flat[n_encoder:].copy(),
        }

    def _codes(self, rows: Any) -> np.ndarray:
        """Codes of scaled rows."""
        encoder = self._encoder(len(self.mean_))
        return encoder.predict(encoder.from_flat(self.encoder_parameters_), rows)

    def _decoded(self, codes: np.ndarray) -> np.ndarray:
        """Rows in their own units."""
        decoder = self._decoder(len(self.mean_))
        found = decoder.predict(decoder.from_flat(self.decoder_parameters_), codes)
        return self._unscaled(found.reshape(len(codes), -1))

    def _map(self, rows: Any) -> np.ndarray:
        return self._codes(self._scaled(rows))

    def _rows_at_once(self, rows: Any) -> int:
        nodes = [node for network in self._joint().networks for node in network.nodes]
        cells = sum(prod(node.output_shape) for node in nodes)
        return int(np.clip(TOGETHER // cells, 1, super()._rows_at_once(rows)))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows that codes stand for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)

        Returns
        -------
        rows : ndarray of shape (n_samples, n_columns)
            In the columns that the network sees (categories as numbers).
        """
        check_is_fitted(self)
        codes = check_array(X, dtype=np.float64)
        if codes.shape[1] != self.n_components:
            raise DataError(
                f"inverse_transform takes {self.n_components} numbers per row, not {codes.shape[1]}"
            )
        return self._decoded(codes)

    def reconstruct(self, X: Any) -> np.ndarray:
        """The decoded code of each row: without noise, or with blocks filled.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        rows : ndarray of shape (n_samples, n_columns)
        """
        return self._each_block(lambda rows: self._decoded(self._map(rows)), X)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        seen = max(n_columns, 1)
        joint = Joint([self._encoder(seen), self._decoder(seen)])
        return self._training_memory(n_rows, n_columns, joint)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "encoder_parameters_"):
            d = len(self.mean_)
            sizes = self._encoder(d).n_stored, self._decoder(d).n_stored
            found = len(self.encoder_parameters_), len(self.decoder_parameters_)
            if sizes != found:
                raise ValueError(f"encoder and decoder need {sizes} parameters, not {found}")


class ReconstructingCoder(Coder):
    """An autoencoder that minimises the squared error of reconstruction."""

    def _fit(self, data: Data) -> None:
        d = data.n_columns
        self._require_known_curvature()
        if self.n_components > d and self.noise is None and not self.contractive:
            warnings.warn(
                f"the code has {self.n_components} numbers for {d} columns: without noise or a "
                "penalty the network may copy rows; decrease n_components",
                GnomonWarning,
                stacklevel=2,
            )
        rows = self._learn_scaling(data)
        ends = (0.0, 1.0) if self.output == "sigmoid" else (rows.min(axis=0), rows.max(axis=0))
        cells: dict[str, Any] = {"low": ends[0], "high": ends[1], "image_shape": self._image(d)}
        joint = Joint([self._encoder(d), self._decoder(d)])
        joint.draw(self._rng())
        n_encoder = joint.slices[0].stop

        def attributes(flat: np.ndarray) -> dict[str, Any]:
            return self._attributes(flat, n_encoder)

        def part(slopes: list[Parameters], x: Any, factors: np.ndarray, rng: Any) -> float:
            seen, changed = x, None
            if self.noise is not None:
                seen, changed = corrupt_rows(x, self.noise, self.noise_level, rng, **cells)
            return self._backward(joint, slopes, x, seen, changed, factors)

        self._descend(
            joint, rows, data, part, attributes, alpha=self.alpha, across_rows=self.whiten
        )

    def _image(self, n_columns: int) -> tuple[int, ...] | None:
        return self.image_shape

    def _require_known_curvature(self) -> None:
        if self.contractive and not self._curved_code():
            raise DataError(
                "contractive needs a code layer of logistic or tanh units right on the columns: "
                "use hidden_layer_sizes=() and code_activation='logistic' or 'tanh'"
            )

    def _curved_code(self) -> bool:
        return False

    def _backward(
        self,
        joint: Joint,
        slopes: list[Parameters],
        clean: np.ndarray,
        seen: np.ndarray,
        changed: np.ndarray | None,
        factors: np.ndarray,
    ) -> float:
        """Loss of a part of a batch, and gradients of both networks."""
        (encoder, decoder), (of_encoder, of_decoder) = joint.networks, joint.parameters
        codes, up = encoder.forward(of_encoder, seen, Run(True))
        output, down = decoder.forward(of_decoder, codes, Run(True))
        flat = output.reshape(len(output), -1)
        weights = factors[:, None]
        if changed is not None and self.corrupted_weight != 1.0:
            weights = weights * np.where(changed, self.corrupted_weight, 1.0)
        miss = flat - clean
        loss = 0.5 * float((weights * miss**2).sum())
        slope = (weights * miss).reshape(output.shape)
        _, of_codes = decoder.backward(of_decoder, down, slope, slopes[1])
        assert of_codes is not None
        if self.whiten:
            value, more = whitening(codes, factors)
            loss, of_codes = loss + value, of_codes + more
        encoder.backward(of_encoder, up, of_codes, slopes[0], to_input=False)
        if self.contractive:
            name = encoder.nodes[0].name
            views, own = of_encoder[name], slopes[0][name]
            loss += self.contractive * contraction(
                self.code_activation, views, own, seen, codes, factors, self.contractive
            )
        return loss


def whitening(codes: np.ndarray, factors: np.ndarray) -> tuple[float, np.ndarray]:
    """|C - I|^2 / 4 of the covariance C of codes, and its gradient with respect to them."""
    share = factors / factors.sum()
    centered = codes - share @ codes
    off = (centered * share[:, None]).T @ centered - np.eye(codes.shape[1])
    return 0.25 * float((off**2).sum()), share[:, None] * (centered @ off)


def contraction(
    activation: str,
    views: dict[str, np.ndarray],
    slopes: dict[str, np.ndarray],
    x: np.ndarray,
    codes: np.ndarray,
    factors: np.ndarray,
    amount: float = 1.0,
) -> float:
    """Half the mean squared Frobenius norm of dh/dx of a layer h = a(x W + b).

    Adds `amount` times its gradient to `slopes`.

    Parameters
    ----------
    activation : {"logistic", "tanh"}
    views, slopes : dict of ndarray
        "weight" (d, k) and "bias" (k,) of the layer, and their gradients.
    x : ndarray of shape (n, d)
    codes : ndarray of shape (n, k)
        h.
    factors : ndarray of shape (n,)
        Weight of each row in the mean.
    amount : float, default=1.0

    Returns
    -------
    penalty : float
    """
    slope = activation_of(activation).slope(codes, codes)
    bend = -2 * codes * slope if activation == "tanh" else slope * (1 - 2 * codes)
    squares = (views["weight"] ** 2).sum(axis=0)
    weighted = factors[:, None] * slope
    slopes["weight"] += amount * views["weight"] * (weighted * slope).sum(axis=0)
    through = weighted * bend * squares
    slopes["weight"] += amount * (x.T @ through)
    slopes["bias"] += amount * through.sum(axis=0)
    return 0.5 * float(((weighted * slope).sum(axis=0) * squares).sum())


def contractive_step(weights: Any, slope: Any, learning_rate: float, contractive: float) -> Any:
    """Weights after the update that 003 prints: w_j - eta lambda a'(net) w_j for each unit.

    It shrinks the weights of units that are not saturated, without the part of the exact gradient
    that saturates them.

    Parameters
    ----------
    weights : array-like of shape (n_inputs, n_units)
    slope : array-like of shape (n_units,)
        a'(net) of each unit.
    learning_rate : float
    contractive : float
        lambda.

    Returns
    -------
    weights : ndarray of shape (n_inputs, n_units)

    Examples
    --------
    >>> contractive_step([[2.0, 2.0]], [0.25, 0.0], 1.0, 0.4)
    array([[1.8, 2. ]])
    """
    before = np.asarray(weights, dtype=np.float64)
    return before - learning_rate * contractive * np.asarray(slope) * before


RECONSTRUCTING: dict[str, Any] = {
    "n_components": [whole(1)],
    "output": [StrOptions({"identity", "sigmoid"})],
    "noise": [StrOptions({*NOISES}), None],
    "noise_level": [at_least(0)],
    "corrupted_weight": [at_least(0)],
    "image_shape": ["array-like", None],
    "alpha": [at_least(0)],
    **LEARNING,
}


@method(
    task="reduce",
    texts="000c 19.2 · 003 4.4.2.4, 4.5.1 · 004 9.3",
    use="Codes of rows on a curved surface; removal of noise; maps of two units; features.",
    avoid="Few rows, or columns with linear relations: PCA is exact and needs no tuning.",
    peers=("torch", "sklearn.neural_network.MLPRegressor"),
    synonyms=(
        "denoising autoencoder",
        "contractive autoencoder",
        "bottleneck",
        "nonlinear PCA",
        "inpainting",
    ),
)
@shared_parameters(JOINT_PARAMETERS)
class Autoencoder(ReconstructingCoder):
    """Codes of rows by a network that must give the rows back from them.

    Minimises the mean of ``|D(E(x)) - x|^2 / 2``. Use it where rows lie near a curved surface of
    few dimensions, to remove noise (``noise``), for maps (``n_components=2``), or for features of
    unlabelled rows. Not for few rows or linear relations: `PCA` is exact and needs no tuning.

    Parameters
    ----------
    code_activation : str, default="identity"
        Of the code.
    output : {"identity", "sigmoid"}, default="identity"
        Of the decoder: identity for columns that are standardized first, sigmoid for columns that
        are scaled to lie between 0 and 1 (pixels).
    image_shape : tuple of int or None, default=None
        (height, width) of rows that are images, for blocks.
    contractive : float, default=0.0
        Weight of half the squared derivatives of the code; needs ``hidden_layer_sizes=()`` and
        logistic or tanh codes.
    whiten : bool, default=False
        Whether codes are drawn to unit covariance, by ``|C - I|^2 / 4`` of each batch.

    Attributes
    ----------
    encoder_parameters_, decoder_parameters_ : ndarray
        All parameters of the two networks, one array each.
    mean_, scale_ : ndarray of shape (n_columns,)
        By which rows are scaled.
    n_iter_ : int
        Passes made.
    history_ : History
        Mean loss of each pass.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Notes
    -----
    Texts: 000c 19.2, 003 4.4.2.4, 004 9.3. 003 prints an update for the contractive penalty that is
    not the gradient of the derivatives' squares (`contractive_step`); here it is.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import Autoencoder
    >>> t = np.random.default_rng(0).uniform(-1, 1, 300)
    >>> rows = np.column_stack([t, t**2, t**3])
    >>> model = Autoencoder(1, learning_rate_init=0.01, random_state=0).fit(rows)
    >>> bool(np.mean((model.reconstruct(rows) - rows) ** 2) < 0.2 * rows.var(axis=0).mean())
    True
    """

    _parameter_constraints = {
        "hidden_layer_sizes": ["array-like"],
        "activation": [str],
        "code_activation": [str],
        "contractive": [at_least(0)],
        "whiten": FLAG,
        **RECONSTRUCTING,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        hidden_layer_sizes: Any = (64,),
        activation: str = "relu",
        code_activation: str = "identity",
        output: str = "identity",
        noise: str | None = None,
        noise_level: float = 0.2,
        corrupted_weight: float = 1.0,
        image_shape: Any = None,
        contractive: float = 0.0,
        whiten: bool = False,
        alpha: float = 1e-4,
        solver: str = "adam",
        learning_rate_init: float = 0.001,
        batch_size: int = 200,
        max_iter: int = 200,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_history: str = "objective",
    ):
        self.n_components = n_components
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.code_activation = code_activation
        self.output = output
        self.noise = noise
        self.noise_level = noise_level
        self.corrupted_weight = corrupted_weight
        self.image_shape = image_shape
        self.contractive = contractive
        self.whiten = whiten
        self.alpha = alpha
        self.solver = solver
        self.learning_rate_init = learning_rate_init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _encoder(self, n_columns: int) -> Network:
        hidden = [Dense(int(units), self.activation) for units in self.hidden_layer_sizes]
        return Network([*hidden, Dense(self.n_components, self.code_activation)], n_columns)

    def _decoder(self, n_columns: int) -> Network:
        hidden = [Dense(int(units), self.activation) for units in self.hidden_layer_sizes][::-1]
        return Network([*hidden, Dense(n_columns, last_activation(self.output))], self.n_components)

    def _curved_code(self) -> bool:
        return not len(self.hidden_layer_sizes) and self.code_activation in CURVED


def last_activation(output: str) -> str:
    """The name of the decoder's activation."""
    return "logistic" if output == "sigmoid" else "identity"


@method(
    task="reduce",
    texts="000c 19.2.1-19.2.2",
    use="Codes of small images; removal of noise and filling of blocks in them.",
    avoid="Columns that are no pixels: Autoencoder.",
    peers=("torch", "keras examples"),
    synonyms=("hourglass network", "denoising", "inpainting", "image compression"),
)
@shared_parameters(JOINT_PARAMETERS)
class ConvAutoencoder(ReconstructingCoder):
    """Codes of images by convolutions, and images from codes by transposed convolutions.

    Each layer of the encoder halves height and width; the decoder mirrors it. Minimises the mean of
    ``|D(E(x)) - x|^2 / 2`` over the pixels. Use it for small images, also to remove noise
    (``noise``) or to fill removed blocks (``noise="block"``). Not for columns that are no pixels,
    which `Autoencoder` takes.

    Parameters
    ----------
    filters : array-like of int, default=(8, 16)
        Channels of each layer of the encoder.
    image_shape : tuple of int or None, default=None
        (height, width) or (height, width, channels) of a row; square where that fits, else one
        column of pixels.
    output : {"identity", "sigmoid"}, default="sigmoid"
        Of the decoder: sigmoid for columns that are scaled to lie between 0 and 1 (pixels),
        identity for columns that are standardized first.

    Attributes
    ----------
    encoder_parameters_, decoder_parameters_ : ndarray
        All parameters of the two networks, one array each.
    mean_, scale_ : ndarray of shape (n_columns,)
        By which rows are scaled.
    n_iter_ : int
        Passes made.
    history_ : History
        Mean loss of each pass.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Notes
    -----
    Texts: 000c 19.2.1-19.2.2. Kernels are 3 x 3 with stride 2. Squared error blurs edges.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import ConvAutoencoder
    >>> images = np.random.default_rng(0).random((20, 64))
    >>> model = ConvAutoencoder(4, image_shape=(8, 8), max_iter=2, random_state=0).fit(images)
    >>> model.transform(images).shape, model.reconstruct(images).shape
    ((20, 4), (20, 64))
    """

    _parameter_constraints = {"filters": ["array-like"], **RECONSTRUCTING}
    whiten = False
    contractive = 0.0

    def __init__(
        self,
        n_components: int = 16,
        *,
        filters: Any = (8, 16),
        image_shape: Any = None,
        output: str = "sigmoid",
        noise: str | None = None,
        noise_level: float = 0.2,
        corrupted_weight: float = 1.0,
        alpha: float = 0.0,
        solver: str = "adam",
        learning_rate_init: float = 0.001,
        batch_size: int = 128,
        max_iter: int = 20,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_history: str = "objective",
    ):
        self.n_components = n_components
        self.filters = filters
        self.image_shape = image_shape
        self.output = output
        self.noise = noise
        self.noise_level = noise_level
        self.corrupted_weight = corrupted_weight
        self.alpha = alpha
        self.solver = solver
        self.learning_rate_init = learning_rate_init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _image(self, n_columns: int) -> tuple[int, int, int]:
        return shape_of_images(self.image_shape, n_columns)

    def _encoder(self, n_columns: int) -> Network:
        layers: list[Layer] = [Conv2D(int(k), 3, "relu", stride=2, padding=1) for k in self.filters]
        return Network([*layers, Flatten(), Dense(self.n_components)], self._image(n_columns))

    def _decoder(self, n_columns: int) -> Network:
        shapes = [self._image(n_columns)]
        for k in self.filters:
            height, width, _ = shapes[-1]
            shapes.append(((height + 1) // 2, (width + 1) // 2, int(k)))
        first = shapes[-1]
        layers: list[Layer] = [Dense(prod(first), "relu"), Reshape(first)]
        for small, large in zip(shapes[:0:-1], shapes[-2::-1]):
            more = large[0] - (2 * small[0] - 1), large[1] - (2 * small[1] - 1)
            last = large is shapes[0]
            activation = last_activation(self.output) if last else "relu"
            layers.append(ConvTranspose2D(large[2], 3, activation, 2, 1, output_padding=more))
        return Network(layers, self.n_components)


def shape_of_images(image_shape: Any, n_columns: int) -> tuple[int, int, int]:
    """Height, width and channels of rows of pixels; an error where they do not fit."""
    if image_shape is None:
        side = isqrt(n_columns)
        return (side, side, 1) if side * side == n_columns else (n_columns, 1, 1)
    shape = tuple(int(size) for size in image_shape)
    shape = shape if len(shape) == 3 else (*shape, 1)
    if len(shape) != 3 or prod(shape) != n_columns:
        raise DataError(f"image_shape={image_shape} does not fit rows of {n_columns} columns")
    return shape
