"""Variational autoencoder: an autoencoder that is a model of how rows arise, and draws new ones.

A code z is drawn from N(0, I), and a row from p(x | z) given by the decoder. The encoder gives mean
m and variance s^2 of a normal approximation q(z | x) of the codes of a row; both are trained to
raise the bound

log p(x) >= E_q log p(x | z) - sum_k (m_k^2 + s_k^2 - 1 - log s_k^2) / 2,

with z = m + s e for a normal e, so that the expectation has a gradient.

Texts: 000c 19.3.1 (describes it and leaves out the formulas); Kingma and Welling (2014).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Data, DensityEstimator
from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.parameters import StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.neural.autoencoder import Coder
from gnomon.neural.joint import JOINT_PARAMETERS, LEARNING, Joint
from gnomon.neural.layers import Dense, Run
from gnomon.neural.network import Network, Parameters

LIMIT = 12.0  # of log variances of codes: beyond, exp overflows in the first steps of bad rates
LEAST_LOG_VARIANCE = -9.0  # of a column that is decoded without error
N_DRAWS = 16  # codes of a row by which the bound is computed


@method(
    task="density",
    texts="000c 19.3.1",
    use="New rows like those of a large table, and smooth codes; a bound on their probability.",
    avoid="Sharp images, or few rows: it blurs, and a GaussianMixture has less to learn.",
    peers=("torch", "pyro"),
    synonyms=("vae", "generative model", "evidence lower bound", "elbo"),
)
@shared_parameters(JOINT_PARAMETERS)
class VariationalAutoencoder(Coder, DensityEstimator):
    """A generative model of rows with normal codes, trained by a bound on their probability.

    Raises the mean of ``E log p(x | z) - KL(q(z | x) || N(0, I))``. Use it to draw new rows, or for
    codes between which one can interpolate. Not for sharp images, which it blurs, nor for few rows.

    Parameters
    ----------
    output : {"identity", "sigmoid"}, default="identity"
        p(x | z): normal with a variance for each column, of standardized columns; or Bernoulli, of
        columns that are scaled to lie between 0 and 1 (pixels).
    beta : float, default=1.0
        Factor of the divergence from N(0, I).
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first parameters, of the order of rows and of codes.

    Attributes
    ----------
    encoder_parameters_, decoder_parameters_ : ndarray
        All parameters of the two networks, one array each.
    log_variance_ : ndarray of shape (n_columns,)
        Of standardized columns given their code; zeros with ``output="sigmoid"``.
    mean_, scale_ : ndarray of shape (n_columns,)
        By which rows are scaled.
    n_iter_ : int
        Passes made.
    history_ : History
        Minus the mean bound of each pass, in nats, of scaled rows.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Notes
    -----
    Texts: 000c 19.3.1. ``transform`` gives the means of codes. The bound of ``score_samples`` is a
    mean over the same 16 draws for every row, so that it does not depend on other rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import VariationalAutoencoder
    >>> rows = np.random.default_rng(0).normal(size=(200, 3)) * [1.0, 2.0, 3.0]
    >>> model = VariationalAutoencoder(2, max_iter=20, random_state=0).fit(rows)
    >>> model.sample(5, random_state=0).shape
    (5, 3)
    """

    _parameter_constraints = {
        "n_components": [whole(1)],
        "hidden_layer_sizes": ["array-like"],
        "activation": [str],
        "output": [StrOptions({"identity", "sigmoid"})],
        "beta": [at_least(0)],
        "alpha": [at_least(0)],
        **LEARNING,
    }
    _stored = {"log_variance_": Array("f8", ("n_columns",))}

    def __init__(
        self,
        n_components: int = 2,
        *,
        hidden_layer_sizes: Any = (64,),
        activation: str = "relu",
        output: str = "identity",
        beta: float = 1.0,
        alpha: float = 0.0,
        solver: str = "adam",
        learning_rate_init: float = 0.001,
        batch_size: int = 128,
        max_iter: int = 100,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_history: str = "objective",
    ):
        self.n_components = n_components
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.output = output
        self.beta = beta
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
        return Network([*hidden, Dense(2 * self.n_components)], n_columns)

    def _decoder(self, n_columns: int) -> Network:
        hidden = [Dense(int(units), self.activation) for units in self.hidden_layer_sizes][::-1]
        return Network([*hidden, Dense(n_columns)], self.n_components)

    def _fit(self, data: Data) -> None:
        d = data.n_columns
        rows = self._learn_scaling(data)
        # the log variances of the columns are the biases of a layer that sees a zero
        joint = Joint([self._encoder(d), self._decoder(d), Network([Dense(d, name="noise")], 1)])
        joint.draw(self._rng())

        def attributes(flat: np.ndarray) -> dict[str, Any]:
            own = joint.views(flat)[2]["noise"]["bias"]
            log_variance = np.maximum(own, LEAST_LOG_VARIANCE) * (self.output == "identity")
            found = self._attributes(flat[: joint.slices[1].stop], joint.slices[0].stop)
            return found | {"log_variance_": log_variance}

        def part(slopes: list[Parameters], x: Any, factors: np.ndarray, rng: Any) -> float:
            draws = rng.standard_normal((len(x), self.n_components))
            return bound_part(joint, slopes, x, factors, draws, self.beta, self.output)

        self._descend(joint, rows, data, part, attributes, alpha=self.alpha)

    def _codes(self, rows: Any) -> np.ndarray:
        return super()._codes(rows)[:, : self.n_components]

    def _decoded(self, codes: np.ndarray) -> np.ndarray:
        return self._unscaled(self._means(codes))

    def _means(self, codes: np.ndarray) -> np.ndarray:
        """Means of scaled rows given their codes."""
        decoder = self._decoder(len(self.mean_))
        found = decoder.predict(decoder.from_flat(self.decoder_parameters_), codes)
        return expit(found) if self.output == "sigmoid" else found

    def _log_density(self, rows: Any) -> np.ndarray:
        """The bound at each row, in the units of the columns."""
        x, k = self._scaled(rows), self.n_components
        d = len(self.mean_)
        encoder, decoder = self._encoder(d), self._decoder(d)
        levels = encoder.predict(encoder.from_flat(self.encoder_parameters_), x)
        mean, log_s = levels[:, :k], np.clip(levels[:, k:], -LIMIT, LIMIT)
        of_decoder = decoder.from_flat(self.decoder_parameters_)
        draws = np.random.default_rng(20261118).standard_normal((N_DRAWS // 2, k))
        total = np.zeros(len(x))
        for draw in (*draws, *-draws):
            output = decoder.predict(of_decoder, mean + np.exp(0.5 * log_s) * draw)
            total -= row_losses(output, x, self.log_variance_, self.output)[0] / N_DRAWS
        bound = total - divergence(mean, log_s)
        return bound - (np.log(self.scale_).sum() if self.output == "identity" else 0.0)

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> np.ndarray:
        """New rows: codes drawn from N(0, I), decoded, with the noise of the columns.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState or None, default=None
            ``random_state`` of the estimator by default.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_columns)
            With ``output="sigmoid"``, the probabilities of the cells.
        """
        check_is_fitted(self)
        state = self.random_state if random_state is None else random_state
        if not isinstance(state, np.random.Generator):
            state = np.random.default_rng(check_random_state(state).randint(2**31))
        found = self._means(state.standard_normal((n_samples, self.n_components)))
        if self.output == "identity":
            found = found + np.exp(0.5 * self.log_variance_) * state.standard_normal(found.shape)
        return self._unscaled(found)


def divergence(mean: np.ndarray, log_variance: np.ndarray) -> np.ndarray:
    """KL(N(m, s^2) || N(0, 1)), summed over the numbers of a code; of shape (n,).

    Examples
    --------
    >>> divergence(np.array([[1.0, 0.0]]), np.zeros((1, 2)))
    array([0.5])
    """
    return 0.5 * (mean**2 + np.exp(log_variance) - 1 - log_variance).sum(axis=1)


def row_losses(
    output: np.ndarray, x: np.ndarray, log_variance: np.ndarray, kind: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """-log p(x | z) of each row, and its slopes in the output and in the log variances.

    output (n, d), x (n, d) scaled rows, log_variance (d,) for ``kind="identity"``.
    """
    if kind == "sigmoid":
        return (np.logaddexp(0, output) - x * output).sum(axis=1), expit(output) - x, 0.0 * output
    miss = (output - x) * np.exp(-log_variance)
    squares = miss * (output - x)
    losses = 0.5 * (squares + log_variance + np.log(2 * np.pi)).sum(axis=1)
    return losses, miss, 0.5 * (1 - squares)


def bound_part(
    joint: Joint,
    slopes: list[Parameters],
    x: np.ndarray,
    factors: np.ndarray,
    draws: np.ndarray,
    beta: float,
    kind: str,
) -> float:
    """Minus the bound of a part of a batch for given draws, and gradients of the networks."""
    (encoder, decoder, _), (of_encoder, of_decoder, of_noise) = joint.networks, joint.parameters
    k = draws.shape[1]
    levels, up = encoder.forward(of_encoder, x, Run(True))
    mean, log_s = levels[:, :k], np.clip(levels[:, k:], -LIMIT, LIMIT)
    spread = np.exp(0.5 * log_s)
    output, down = decoder.forward(of_decoder, mean + spread * draws, Run(True))
    log_variance = np.maximum(of_noise["noise"]["bias"], LEAST_LOG_VARIANCE)
    losses, slope, of_variance = row_losses(output, x, log_variance, kind)
    weights = factors[:, None]
    _, of_codes = decoder.backward(of_decoder, down, weights * slope, slopes[1])
    of_mean = of_codes + weights * beta * mean
    of_log_s = 0.5 * spread * draws * of_codes + weights * beta * 0.5 * (spread**2 - 1)
    of_log_s = np.where(np.abs(levels[:, k:]) < LIMIT, of_log_s, 0.0)
    encoder.backward(
        of_encoder, up, np.concatenate([of_mean, of_log_s], axis=1), slopes[0], to_input=False
    )
    free = of_noise["noise"]["bias"] > LEAST_LOG_VARIANCE
    slopes[2]["noise"]["bias"][:] = (weights * of_variance).sum(axis=0) * free
    return float(factors @ (losses + beta * divergence(mean, log_s)))
