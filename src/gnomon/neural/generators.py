"""Generators: networks that turn normal noise into rows like those of a table.

- `GAN`: against a discriminator D, argmin_G max_D mean log D(x) + mean log(1 - D(G(z)));
- `SlicedGenerator`: by the sliced Wasserstein distance, the mean over directions of the squared
  differences of sorted projections; the worst of many directions is added in every pass;
- `MomentMatchingGenerator`: by differences of expectations, in the form of a kernel (MMD): the
  expectations of all functions k(., x).

Texts: 000c 19.3.2-19.3.4; Goodfellow et al. (2014), Deshpande et al. (2018), Li et al. (2015).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Data
from gnomon.contract.docstrings import shared_parameters
from gnomon.engine.draw import WeightedDraw, canonical_order
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, StrOptions, above, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.neural.autoencoder import Scaling, last_activation
from gnomon.neural.joint import JOINT_PARAMETERS, LEARNING, Joint, JointLearner
from gnomon.neural.layers import Dense, Run
from gnomon.neural.network import Network, Parameters
from gnomon.neural.trainer import rule_of
from gnomon.optimize.rules import AdamRule

N_REFERENCES = 128  # training rows kept for the witness function
CANDIDATES = 64  # random directions of which the worst is added
MOST_WORST = 16  # worst directions that are kept
BANDWIDTHS = (0.25, 1.0, 4.0)  # of kernels, in units of the median squared distance
GENERATING: dict[str, Any] = {
    "n_components": [whole(1)],
    "hidden_layer_sizes": ["array-like"],
    "activation": [str],
    "output": [StrOptions({"identity", "sigmoid"})],
    **LEARNING,
}


class RowGenerator(Scaling, JointLearner):
    """What all generators share: a network from noise to scaled rows."""

    _largest = 1e30
    _stored: ClassVar[Any] = {
        "generator_parameters_": Array("f8", (None,)),
        "mean_": Array("f8", ("n_columns",)),
        "scale_": Array("f8", ("n_columns",), low=0.0),
    }

    def _generator(self, n_columns: int) -> Network:
        hidden = [Dense(int(units), self.activation) for units in self.hidden_layer_sizes]
        return Network([*hidden, Dense(n_columns, last_activation(self.output))], self.n_components)

    def _networks(self, n_columns: int) -> list[Network]:
        return [self._generator(n_columns)]

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> np.ndarray:
        """New rows, from noise.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState or None, default=None
            ``random_state`` of the estimator by default.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_columns)
        """
        check_is_fitted(self)
        state = self.random_state if random_state is None else random_state
        if not isinstance(state, np.random.Generator):
            state = np.random.default_rng(check_random_state(state).randint(2**31))
        return self._unscaled(self._drawn(n_samples, state))

    def _drawn(self, n: int, rng: np.random.Generator) -> np.ndarray:
        network = self._generator(len(self.mean_))
        noise = rng.standard_normal((n, self.n_components))
        return network.predict(network.from_flat(self.generator_parameters_), noise)

    def decision_function(self, X: Any) -> np.ndarray:
        """How much more likely a row is a training row than a generated one; 0 where undecided.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        evidence : ndarray of shape (n_samples,)
        """
        return self._each_block(lambda rows: self._evidence(self._scaled(rows)), X)

    def _evidence(self, rows: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        joint = Joint(self._networks(max(n_columns, 1)))
        batch = min(self.batch_size, n_rows)
        kernels = 8 * 6 * batch**2 + 8 * 4 * batch * CANDIDATES
        return self._training_memory(n_rows, n_columns, joint) + kernels

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "generator_parameters_"):
            needed = self._generator(len(self.mean_)).n_stored
            if len(self.generator_parameters_) != needed:
                raise ValueError(f"generator_parameters_ must be {needed} numbers")


def against(
    critic: Network,
    parameters: Parameters,
    slopes: Parameters,
    real: np.ndarray,
    fake: np.ndarray,
    factors: np.ndarray,
    saturating: bool = False,
) -> tuple[float, float, np.ndarray]:
    """The adversarial loss: of the critic, of the generator, and its slope in the fake rows.

    With scores s = log D / (1 - D), the critic minimises mean softplus(-s(x)) + softplus(s(fake)).
    The generator minimises softplus(-s(fake)), or -softplus(s(fake)) where saturating, which is
    the text's form and has no slope where the critic is sure.

    Parameters
    ----------
    critic : Network
        Of one output.
    parameters, slopes : Parameters
        Of the critic; its gradient is written to `slopes`.
    real, fake : ndarray of shape (n, d)
    factors : ndarray of shape (n,)
        Weights of the rows in the means.
    saturating : bool, default=False

    Returns
    -------
    of_critic, of_generator : float
    slope : ndarray of shape (n, d)
        Of the generator's loss.
    """
    weights = factors[:, None]
    of_real, tape_real = critic.forward(parameters, real, Run(True))
    of_fake, tape_fake = critic.forward(parameters, fake, Run(True))
    loss = float((weights * (np.logaddexp(0, -of_real) + np.logaddexp(0, of_fake))).sum())
    own = -weights * expit(of_fake) if saturating else -weights * expit(-of_fake)
    value = -np.logaddexp(0, of_fake) if saturating else np.logaddexp(0, -of_fake)
    slope = critic.backward(parameters, tape_fake, own, slopes)[1]
    critic.backward(parameters, tape_real, -weights * expit(-of_real), slopes, to_input=False)
    first = slopes.flat.copy()
    critic.backward(parameters, tape_fake, weights * expit(of_fake), slopes, to_input=False)
    slopes.flat += first
    assert slope is not None
    return loss, float((weights * value).sum()), slope


@method(
    task="density",
    texts="000c 19.3.2",
    use="New rows like those of a table, where a network must judge how alike they are.",
    avoid="Results that must not depend on luck: VariationalAutoencoder, SlicedGenerator.",
    peers=("torch examples", "pytorch-gan zoo"),
    synonyms=("generative adversarial network", "discriminator", "generative model"),
)
@shared_parameters(JOINT_PARAMETERS)
class GAN(RowGenerator):
    """Generative adversarial network: a generator of rows against a discriminator.

    ``argmin_G max_D  mean log D(x) + mean log(1 - D(G(z)))``, by turns: `n_critic` steps of D, one
    of G. Use it to draw rows that a network cannot tell from those of a table. Not where training
    must be reliable: it may oscillate or lose kinds of rows (see `mode_collapse_check`).

    Parameters
    ----------
    n_components : int, default=8
        Numbers of noise.
    hidden_layer_sizes : array-like of int, default=(64,)
        Of the generator, and of the discriminator.
    n_critic : int, default=1
        Steps of the discriminator for each step of the generator.
    saturating : bool, default=False
        Whether the generator minimises log(1 - D(G(z))) as the text does, which has no slope where
        the discriminator is sure, or -log D(G(z)).
    solver : str, default="adam"
        "adam" has beta_1 = 0.5 here, which damps oscillations.
    max_iter : int, default=100
        Passes over the rows; it does not end earlier, since no loss tells how good the rows are.
    tol : float, default=0.0001
        Has no effect.
    n_iter_no_change : int, default=10
        Has no effect.

    Attributes
    ----------
    generator_parameters_, critic_parameters_ : ndarray
        All parameters of the two networks, one array each.
    mean_, scale_ : ndarray of shape (n_columns,)
        By which rows are scaled.
    n_iter_ : int
        Passes made.
    history_ : History
        Mean loss of the discriminator in each pass; 2 log 2 = 1.386 where it cannot decide.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Notes
    -----
    Texts: 000c 19.3.2. ``decision_function`` is log D / (1 - D).

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import GAN
    >>> rows = np.random.default_rng(0).normal(size=(300, 2)) + [5.0, 0.0]
    >>> GAN(max_iter=20, random_state=0).fit(rows).sample(4, random_state=0).shape
    (4, 2)
    """

    _parameter_constraints = {
        "n_critic": [whole(1)],
        "saturating": FLAG,
        **GENERATING,
    }
    _stored = {"critic_parameters_": Array("f8", (None,))}

    def __init__(
        self,
        n_components: int = 8,
        *,
        hidden_layer_sizes: Any = (64,),
        activation: str = "leaky_relu",
        output: str = "identity",
        n_critic: int = 1,
        saturating: bool = False,
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
        self.n_critic = n_critic
        self.saturating = saturating
        self.solver = solver
        self.learning_rate_init = learning_rate_init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _critic(self, n_columns: int) -> Network:
        hidden = [Dense(int(units), self.activation) for units in self.hidden_layer_sizes][::-1]
        return Network([*hidden, Dense(1)], n_columns)

    def _networks(self, n_columns: int) -> list[Network]:
        return [self._generator(n_columns), self._critic(n_columns)]

    def _fit(self, data: Data) -> None:
        rows = self._learn_scaling(data)
        joint = Joint(self._networks(data.n_columns))
        joint.draw(self._rng())
        mine, theirs = joint.slices
        rules = [self._rule(), self._rule()]
        seed = int(self._rng().integers(2**31))

        def part(slopes: list[Parameters], x: Any, factors: np.ndarray, rng: Any) -> float:
            generator, critic = joint.networks
            noise = rng.standard_normal((len(x), self.n_components))
            fake, tape = generator.forward(joint.parameters[0], noise, Run(True))
            loss, _, slope = against(
                critic, joint.parameters[1], slopes[1], x, fake, factors, self.saturating
            )
            generator.backward(joint.parameters[0], tape, slope, slopes[0], to_input=False)
            return loss

        def step(x: Any, weights: Any, place: tuple[int, ...], crew: Any) -> float:
            for turn in range(self.n_critic + 1):
                loss, slope = joint.gradient(part, x, weights, crew, (seed, *place, turn))
                moving, rule = (theirs, rules[1]) if turn < self.n_critic else (mine, rules[0])
                flat = joint.flat[moving]
                flat += rule.step(flat, slope[moving], self.learning_rate_init)
            return loss

        def attributes(flat: np.ndarray) -> dict[str, Any]:
            return {
                "generator_parameters_": flat[mine].copy(),
                "critic_parameters_": flat[theirs].copy(),
            }

        self._pass_over(joint.flat, rows, data, step, attributes, seed, can_converge=False)

    def _rule(self) -> Any:
        return AdamRule(0.5) if self.solver == "adam" else rule_of(self.solver)

    def _evidence(self, rows: np.ndarray) -> np.ndarray:
        critic = self._critic(len(self.mean_))
        return critic.predict(critic.from_flat(self.critic_parameters_), rows)[:, 0]

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "critic_parameters_"):
            needed = self._critic(len(self.mean_)).n_stored
            if len(self.critic_parameters_) != needed:
                raise ValueError(f"critic_parameters_ must be {needed} numbers")


class DistanceGenerator(RowGenerator):
    """A generator trained by a distance between a batch of rows and as many generated ones."""

    _stored: ClassVar[Any] = {
        "reference_": Array("f8", (None, "n_columns")),
        "bandwidth_": Number(0.0),
    }

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if len(getattr(self, "reference_", (0,))) == 0:
            raise ValueError("there are no rows of reference")

    def _distance(self, fake: np.ndarray, real: np.ndarray, rng: Any) -> tuple[float, np.ndarray]:
        """The distance of two sets of rows, and its slope in the first."""
        raise NotImplementedError

    def _begin_pass(self, fake: np.ndarray, real: np.ndarray, rng: np.random.Generator) -> None:
        """What is looked for before each pass."""

    def _fit(self, data: Data) -> None:
        rows = self._learn_scaling(data)
        draw = WeightedDraw(canonical_order(rows))
        self.reference_ = rows[draw(data.weight_array, np.random.default_rng(0), N_REFERENCES)]
        n_batches = int(np.ceil(data.weight_array.sum() / self.batch_size))
        given = getattr(self, "bandwidth", None)
        self.bandwidth_ = float(given or median_squared_distance(self.reference_))
        joint = Joint(self._networks(data.n_columns))
        joint.draw(self._rng())
        seen = 0

        def part(slopes: list[Parameters], x: Any, factors: np.ndarray, rng: Any) -> float:
            nonlocal seen
            real = evenly(x, factors)
            noise = rng.standard_normal((len(real), self.n_components))
            fake, tape = joint.networks[0].forward(joint.parameters[0], noise, Run(True))
            if seen % n_batches == 0:
                self._begin_pass(fake, real, rng)
            seen += 1
            loss, slope = self._distance(fake, real, rng)
            joint.networks[0].backward(joint.parameters[0], tape, slope, slopes[0], to_input=False)
            return loss

        def attributes(flat: np.ndarray) -> dict[str, Any]:
            return {"generator_parameters_": flat.copy()}

        self._descend(joint, rows, data, part, attributes, across_rows=True)

    def _evidence(self, rows: np.ndarray) -> np.ndarray:
        made = self._drawn(len(self.reference_), np.random.default_rng(20261118))
        return witness(rows, self.reference_, made, self.bandwidth_)


def evenly(rows: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """As many rows, each as often as its weight says, up to rounding."""
    line = np.cumsum(factors)
    marks = (np.arange(len(rows)) + 0.5) * line[-1] / len(rows)
    return rows[np.minimum(np.searchsorted(line, marks), len(rows) - 1)]


def squared_distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """|a_i - b_j|^2, of shape (n, m)."""
    found = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T
    return np.maximum(found, 0.0)


def median_squared_distance(rows: np.ndarray) -> float:
    """The median of the squared distances that are not zero; 1 where all are."""
    found = squared_distances(rows, rows)
    apart = found[found > 1e-12 * max(float(found.max()), 1e-300)]
    return float(np.median(apart)) if len(apart) else 1.0


def kernel_sum(squared: np.ndarray, bandwidth: float) -> tuple[np.ndarray, np.ndarray]:
    """Sum of exp(-r^2 / (2 h)) over the bandwidths h, and its derivative in r^2."""
    parts = [np.exp(-squared / (2 * bandwidth * c)) for c in BANDWIDTHS]
    slopes = [-part / (2 * bandwidth * c) for part, c in zip(parts, BANDWIDTHS)]
    return sum(parts), sum(slopes)  # type: ignore[return-value]


def witness(rows: Any, real: Any, fake: Any, bandwidth: float) -> np.ndarray:
    """The witness function: mean of k(., x) over real rows less that over fake ones.

    Of all functions of a bounded norm it has the largest difference of expectations.

    Parameters
    ----------
    rows : array-like of shape (n, d)
    real, fake : array-like of shape (m, d)
    bandwidth : float
        Squared width of the kernels.

    Returns
    -------
    values : ndarray of shape (n,)
        Positive where there are more real rows than fake ones.
    """
    x = np.asarray(rows)
    values = [kernel_sum(squared_distances(x, np.asarray(b)), bandwidth)[0] for b in (real, fake)]
    return values[0].mean(axis=1) - values[1].mean(axis=1)


def mmd_part(fake: np.ndarray, real: np.ndarray, bandwidth: float) -> tuple[float, np.ndarray]:
    """Squared distance of kernel means (MMD), and its slope in the fake rows."""
    n, m = len(fake), len(real)
    own, own_slope = kernel_sum(squared_distances(fake, fake), bandwidth)
    cross, cross_slope = kernel_sum(squared_distances(fake, real), bandwidth)
    there = kernel_sum(squared_distances(real, real), bandwidth)[0]
    value = own.mean() + there.mean() - 2 * cross.mean()
    slope = 4 / n**2 * (own_slope.sum(axis=1)[:, None] * fake - own_slope @ fake)
    slope -= 4 / (n * m) * (cross_slope.sum(axis=1)[:, None] * fake - cross_slope @ real)
    return float(value), slope


def sliced_part(
    fake: np.ndarray, real: np.ndarray, directions: np.ndarray
) -> tuple[float, np.ndarray]:
    """Mean squared difference of sorted projections, and its slope in the fake rows.

    fake (n, d), real (n, d), directions (k, d) of length one.
    """
    mine, theirs = fake @ directions.T, np.sort(real @ directions.T, axis=0)
    order = np.argsort(mine, axis=0, kind="stable")
    miss = np.take_along_axis(mine, order, axis=0) - theirs
    slope = np.empty_like(mine)
    np.put_along_axis(slope, order, 2 * miss / miss.size, axis=0)
    return float((miss**2).mean()), slope @ directions


def unit_directions(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Random directions, of shape (n, d)."""
    found = rng.standard_normal((n, d))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@method(
    task="density",
    texts="000c 19.3.4",
    use="New rows like those of a table, by a training that has one loss and comes to rest.",
    avoid="Images of many pixels: random directions see little of them.",
    peers=("POT sliced_wasserstein_distance",),
    synonyms=("sliced Wasserstein", "optimal transport", "generative model"),
)
@shared_parameters(JOINT_PARAMETERS)
class SlicedGenerator(DistanceGenerator):
    """A generator of rows trained by the sliced Wasserstein distance.

    Minimises the mean over directions of ``mean_i (sort(G(z)'u)_i - sort(x'u)_i)^2``. Use it to
    draw rows like those of a table; its one loss falls steadily, which that of `GAN` does not. Not
    for images of many pixels, of which random directions see little.

    Parameters
    ----------
    n_components : int, default=8
        Numbers of noise.
    hidden_layer_sizes : array-like of int, default=(64,)
        Of the generator.
    n_projections : int, default=32
        Random directions of each step, beside the worst ones found so far.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first parameters, of the order of rows, of noise and of directions.

    Attributes
    ----------
    generator_parameters_ : ndarray
        All parameters of the network, in one array.
    reference_ : ndarray of shape (n_references, n_columns)
        Scaled training rows for ``decision_function``.
    bandwidth_ : float
        Median squared distance of these.
    mean_, scale_ : ndarray of shape (n_columns,)
        By which rows are scaled.
    n_iter_ : int
        Passes made.
    history_ : History
        Mean distance of each pass, of scaled rows.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Notes
    -----
    Texts: 000c 19.3.4. In each pass the worst of 64 random directions and of the direction between
    the means is added; the last 16 of these are kept. ``decision_function`` is the witness
    function of a kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import SlicedGenerator
    >>> rows = np.random.default_rng(0).normal(size=(300, 2)) + [5.0, 0.0]
    >>> model = SlicedGenerator(max_iter=60, random_state=0).fit(rows)
    >>> bool(abs(model.sample(500, random_state=0).mean(axis=0) - [5.0, 0.0]).max() < 0.5)
    True
    """

    _parameter_constraints = {"n_projections": [whole(1)], **GENERATING}
    _transient = ("_worst",)

    def __init__(
        self,
        n_components: int = 8,
        *,
        hidden_layer_sizes: Any = (64,),
        activation: str = "relu",
        output: str = "identity",
        n_projections: int = 32,
        solver: str = "adam",
        learning_rate_init: float = 0.003,
        batch_size: int = 256,
        max_iter: int = 100,
        tol: float = 1e-4,
        n_iter_no_change: int = 20,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_history: str = "objective",
    ):
        self.n_components = n_components
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.output = output
        self.n_projections = n_projections
        self.solver = solver
        self.learning_rate_init = learning_rate_init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _fit(self, data: Data) -> None:
        self._worst = np.empty((0, data.n_columns))
        try:
            super()._fit(data)
        finally:
            del self._worst

    def _begin_pass(self, fake: np.ndarray, real: np.ndarray, rng: np.random.Generator) -> None:
        candidates = unit_directions(CANDIDATES, fake.shape[1], rng)
        between = real.mean(axis=0) - fake.mean(axis=0)
        length = np.linalg.norm(between)
        if length > 0:
            candidates = np.vstack([candidates, between / length])
        gaps = np.sort(fake @ candidates.T, axis=0) - np.sort(real @ candidates.T, axis=0)
        worst = candidates[np.argmax((gaps**2).mean(axis=0))]
        self._worst = np.vstack([self._worst, worst])[-MOST_WORST:]

    def _distance(self, fake: np.ndarray, real: np.ndarray, rng: Any) -> tuple[float, np.ndarray]:
        fresh = unit_directions(self.n_projections, fake.shape[1], rng)
        return sliced_part(fake, real, np.vstack([fresh, self._worst]))


@method(
    task="density",
    texts="000c 19.3.3",
    use="New rows like those of a table of few columns, by expectations of many functions.",
    avoid="Many columns: kernels see little there.",
    peers=("MMD-GAN codes",),
    synonyms=("maximum mean discrepancy", "mmd", "kernel two-sample", "generative model"),
)
@shared_parameters(JOINT_PARAMETERS)
class MomentMatchingGenerator(DistanceGenerator):
    """A generator of rows whose expectations of test functions match those of the data.

    Minimises ``|mean k(., G(z)) - mean k(., x)|^2`` in the space of a kernel k (MMD): the sum of
    squared differences of expectations over its functions. Use it for tables of few columns. Not
    for many columns, where kernels see little.

    Parameters
    ----------
    n_components : int, default=8
        Numbers of noise.
    hidden_layer_sizes : array-like of int, default=(64,)
        Of the generator.
    bandwidth : float or None, default=None
        Squared width of the kernel, of scaled rows; the median squared distance by default.
        Kernels of a quarter and of four times it are added.

    Attributes
    ----------
    generator_parameters_ : ndarray
        All parameters of the network, in one array.
    reference_ : ndarray of shape (n_references, n_columns)
        Scaled training rows for ``decision_function``.
    bandwidth_ : float
        Squared width of the kernel.
    mean_, scale_ : ndarray of shape (n_columns,)
        By which rows are scaled.
    n_iter_ : int
        Passes made.
    history_ : History
        Mean squared distance of kernel means in each pass.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Notes
    -----
    Texts: 000c 19.3.3, whose rounds of new test functions are here the kernel's functions all at
    once. ``decision_function`` is the witness function.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import MomentMatchingGenerator
    >>> rows = np.random.default_rng(0).normal(size=(300, 2)) + [5.0, 0.0]
    >>> model = MomentMatchingGenerator(max_iter=60, random_state=0).fit(rows)
    >>> bool(abs(model.sample(500, random_state=0).mean(axis=0) - [5.0, 0.0]).max() < 0.5)
    True
    """

    _parameter_constraints = {"bandwidth": [above(0), None], **GENERATING}

    def __init__(
        self,
        n_components: int = 8,
        *,
        hidden_layer_sizes: Any = (64,),
        activation: str = "relu",
        output: str = "identity",
        bandwidth: float | None = None,
        solver: str = "adam",
        learning_rate_init: float = 0.003,
        batch_size: int = 256,
        max_iter: int = 100,
        tol: float = 1e-4,
        n_iter_no_change: int = 20,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_history: str = "objective",
    ):
        self.n_components = n_components
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.output = output
        self.bandwidth = bandwidth
        self.solver = solver
        self.learning_rate_init = learning_rate_init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _distance(self, fake: np.ndarray, real: np.ndarray, rng: Any) -> tuple[float, np.ndarray]:
        return mmd_part(fake, real, self.bandwidth_)


@dataclass(frozen=True, eq=False)
class ModeCheck:
    """Shares of kinds of rows among real and generated rows.

    Attributes
    ----------
    kinds : ndarray
        Classes, or numbers of clusters.
    real, generated : ndarray of shape (n_kinds,)
        Shares.
    missing : ndarray
        Kinds whose share among generated rows is below `least_ratio` of that among real ones.
    p_value : float
        The p-value of the test that both have the same shares (chi-square).
    n_copies : int
        Generated rows nearer to a training row than training rows are to each other (below the
        1% quantile of their nearest distances).
    """

    kinds: np.ndarray
    real: np.ndarray
    generated: np.ndarray
    missing: np.ndarray
    p_value: float
    n_copies: int

    @property
    def collapsed(self) -> bool:
        """Whether kinds are missing."""
        return len(self.missing) > 0


def mode_collapse_check(
    real: Any,
    generated: Any,
    *,
    classifier: Any = None,
    n_kinds: int = 10,
    least_ratio: float = 0.3,
) -> ModeCheck:
    """Compare how often each kind of row occurs among real and generated rows.

    Parameters
    ----------
    real, generated : array-like of shape (n, d) and (m, d)
    classifier : estimator, default=None
        A fitted classifier that gives the kind of a row; k-means of the real rows by default.
    n_kinds : int, default=10
        Clusters, without a classifier.
    least_ratio : float, default=0.3
        Share among generated rows by that among real ones below which a kind is missing.

    Returns
    -------
    check : ModeCheck

    Notes
    -----
    Texts: 000c 19.3.2 names the problem.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> both = np.concatenate([rng.normal(size=(100, 2)), 20 + rng.normal(size=(100, 2))])
    >>> mode_collapse_check(both, rng.normal(size=(100, 2)), n_kinds=2).collapsed
    True
    """
    from scipy.cluster.vq import kmeans2
    from scipy.spatial import cKDTree
    from scipy.stats import chi2_contingency

    known, made = np.asarray(real, dtype=np.float64), np.asarray(generated, dtype=np.float64)
    if known.ndim != 2 or made.ndim != 2 or known.shape[1] != made.shape[1]:
        raise DataError(
            f"real and generated rows need the same columns; shapes {known.shape}, {made.shape}"
        )
    if classifier is None:
        centers, labels = kmeans2(known, n_kinds, minit="++", seed=0)
        found = cKDTree(centers).query(made)[1]
    else:
        labels, found = classifier.predict(known), classifier.predict(made)
    kinds = np.unique(labels)
    counts = np.array([[np.sum(each == kind) for kind in kinds] for each in (labels, found)])
    shares = counts / counts.sum(axis=1, keepdims=True).clip(1)
    occurring = counts[:, counts.sum(axis=0) > 0]
    p_value = float(chi2_contingency(occurring).pvalue) if occurring.shape[1] > 1 else 1.0
    tree = cKDTree(known)
    apart = tree.query(known, k=2)[0][:, 1]
    near = tree.query(made)[0]
    limit = np.quantile(apart[apart > 0], 0.01) if (apart > 0).any() else 0.0
    return ModeCheck(
        kinds,
        shares[0],
        shares[1],
        kinds[shares[1] < least_ratio * shares[0]],
        p_value,
        int(np.sum(near < limit)),
    )


class CodeSampler:
    """Draws rows by drawing codes of an autoencoder from normals and decoding them.

    Parameters
    ----------
    coder : estimator
        Fitted, with ``transform`` and ``inverse_transform``.
    X : array-like of shape (n, d)
        Rows whose codes the normals are fitted to.
    y : array-like of shape (n,), default=None
        Classes: one normal for each, drawn equally often; one normal for all rows by default.

    Notes
    -----
    Texts: 000c exercises 19.1, 19.3, 19.5.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import Autoencoder, CodeSampler
    >>> rows = np.random.default_rng(0).normal(size=(100, 3))
    >>> coder = Autoencoder(2, max_iter=5, random_state=0).fit(rows)
    >>> CodeSampler(coder, rows).sample(4, random_state=0).shape
    (4, 3)
    """

    def __init__(self, coder: Any, X: Any, y: Any = None):
        codes = np.asarray(coder.transform(X), dtype=np.float64)
        labels = np.zeros(len(codes), dtype=int) if y is None else np.asarray(y)
        self.coder = coder
        self.classes = np.unique(labels)
        self.means = [codes[labels == c].mean(axis=0) for c in self.classes]
        self.covariances = [
            np.atleast_2d(np.cov(codes[labels == c].T, bias=True)) for c in self.classes
        ]

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> np.ndarray:
        """New rows, of the classes in turn.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, Generator or None, default=None

        Returns
        -------
        rows : ndarray of shape (n_samples, n_columns)
        """
        rng = np.random.default_rng(random_state)
        codes = np.stack(
            [
                rng.multivariate_normal(
                    self.means[i % len(self.means)], self.covariances[i % len(self.means)]
                )
                for i in range(n_samples)
            ]
        )
        return self.coder.inverse_transform(codes)
