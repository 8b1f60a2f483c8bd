"""Restricted Boltzmann machine: binary hidden units that explain the columns of a table.

p(v, h) is proportional to exp(b'v + c'h + h'W v); no two hidden and no two visible units are
linked, so each layer given the other is a set of independent units:
p(h_j = 1 | v) = sigmoid(c_j + W_j v). The gradient of the mean log-likelihood is the difference of
two expectations of h v', over the data and over the model; the second is estimated by a few steps
of Gibbs sampling, from the data (contrastive divergence) or from a chain that goes on from batch
to batch (persistent).

Texts: 003 4.4.3.2 describes encoding, decoding, sampling by cycling between both and contrastive
divergence, and leaves the formula open; Hinton (2002), Tieleman (2008).
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, logsumexp
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from gnomon.contract import Data, Transformer
from gnomon.contract.inert import without_effect
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.estimator import Takes
from gnomon.engine.parameters import FLAG, SEED, StrOptions, above, validated, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Whole
from gnomon.engine.sums import rows_per_chunk
from gnomon.engine.threads import one_blas_thread
from gnomon.neural.batches import Slots

FIRST_SCALE = 0.01  # standard deviation of the first weights, as in scikit-learn
LINEAR_FROM = 40.0  # log(1 + exp(x)) = x in double precision
MOST_STATES = 20  # units whose states are enumerated: a million states


class Machine(NamedTuple):
    """The numbers of a restricted Boltzmann machine.

    Attributes
    ----------
    weights : ndarray of shape (n_hidden, n_visible)
    hidden : ndarray of shape (n_hidden,)
        Intercepts c.
    visible : ndarray of shape (n_visible,)
        Intercepts b.
    gaussian : bool
        Whether visible units are normal of variance one instead of binary.
    """

    weights: np.ndarray
    hidden: np.ndarray
    visible: np.ndarray
    gaussian: bool = False

    def encode(self, v: Any) -> np.ndarray:
        """p(h = 1 | v), of shape (n, n_hidden)."""
        return expit(v @ self.weights.T + self.hidden)

    def decode(self, h: np.ndarray) -> np.ndarray:
        """E(v | h), of shape (n, n_visible)."""
        level = h @ self.weights + self.visible
        return level if self.gaussian else expit(level)

    def draw_visible(self, h: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Visible units drawn given the hidden ones."""
        mean = self.decode(h)
        if self.gaussian:
            return mean + rng.standard_normal(mean.shape)
        return (rng.random(mean.shape) < mean).astype(np.float64)

    def free_energy(self, v: Any) -> np.ndarray:
        """F(v) = -log sum_h exp(-E(v, h)), of shape (n,); p(v) is proportional to exp(-F(v))."""
        softplus = np.logaddexp(0, v @ self.weights.T + self.hidden).sum(axis=1)
        if self.gaussian:
            return 0.5 * ((v - self.visible) ** 2).sum(axis=1) - softplus
        return -(v @ self.visible) - softplus

    def log_partition(self) -> float:
        """log Z by enumeration of the smaller layer."""
        n_hidden, n_visible = self.weights.shape
        if n_hidden > MOST_STATES and (self.gaussian or n_visible > MOST_STATES):
            raise DataError(
                f"log Z is enumerated for at most {MOST_STATES} units of a layer; "
                f"the machine has {n_visible} visible and {n_hidden} hidden ones"
            )
        if not self.gaussian and n_visible < n_hidden:
            return float(logsumexp(-self.free_energy(all_states(n_visible))))
        h = all_states(n_hidden)
        level = h @ self.weights + self.visible
        if self.gaussian:
            integrals = 0.5 * (level**2 - self.visible**2 + np.log(2 * np.pi))
        else:
            integrals = np.logaddexp(0, level)
        return float(logsumexp(h @ self.hidden + integrals.sum(axis=1)))

    def moments(self, v: np.ndarray, h: np.ndarray, weights: np.ndarray) -> Machine:
        """Weighted means of h v', h and v: a side of the gradient."""
        share = weights / weights.sum()
        return Machine((h * share[:, None]).T @ v, share @ h, share @ v, self.gaussian)

    def moved(self, along: Machine, back: Machine, step: float) -> Machine:
        """The machine after a step along the difference of two sides of the gradient."""
        return Machine(
            self.weights + step * (along.weights - back.weights),
            self.hidden + step * (along.hidden - back.hidden),
            self.visible + step * (along.visible - back.visible),
            self.gaussian,
        )


def all_states(n: int) -> np.ndarray:
    """All states of n binary units, of shape (2^n, n)."""
    return ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.float64)


@method(
    task="reduce",
    texts="003 4.4.3.2",
    use="Binary features learned without labels from columns of zeros, ones and shares; sampling.",
    avoid="Numbers of any scale (scale them to 0 to 1, or visible='gaussian'); PCA is simpler.",
    peers=("sklearn.neural_network.BernoulliRBM",),
    synonyms=("rbm", "restricted Boltzmann machine", "contrastive divergence"),
)
@without_effect("verbose")
class BernoulliRBM(ClassNamePrefixFeaturesOutMixin, Transformer):
    """Restricted Boltzmann machine with binary hidden units.

    Raises the mean of ``log p(v)``, with ``p(v)`` proportional to ``exp(b'v) prod_j (1 + exp(c_j +
    W_j v))``, by stochastic gradient steps whose model side is sampled. Use it for columns of zeros
    and ones, or shares between them, when features for another learner or samples of similar rows
    are wanted. Not for numbers of any scale as they are; `PCA` needs no tuning.

    Parameters
    ----------
    n_components : int, default=256
        Number of hidden units.
    learning_rate : float, default=0.1
        Step length; the first thing to tune.
    batch_size : int, default=10
        Rows of a step.
    n_iter : int, default=10
        Passes over the rows.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first weights, of the order of rows and of the sampled units.
    visible : {"binary", "gaussian"}, default="binary"
        Visible units: binary (also for shares between 0 and 1), or normal of variance one, for
        columns that were standardized.
    persistent : bool, default=True
        Whether the sampled side goes on from its last state (scikit-learn's way), or starts at the
        rows of each batch (contrastive divergence).
    n_gibbs : int, default=1
        Steps of Gibbs sampling for each batch: the k of CD-k.
    mean_field : bool, default=False
        Whether the sampled side uses the means of visible units instead of draws of them.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Weights W.
    intercept_hidden_ : ndarray of shape (n_components,)
        Intercepts c of the hidden units.
    intercept_visible_ : ndarray of shape (n_features,)
        Intercepts b of the visible units.
    h_samples_ : ndarray of shape (batch_size, n_components)
        State of the hidden units of the persistent chain.
    n_iter_ : int
        Passes made.
    n_steps_ : int
        Batches that were used, those of ``partial_fit`` too.
    history_ : History
        Mean squared error of decoding the code of each row, by pass.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    See Also
    --------
    gnomon.graphical.BoltzmannMachine : Boltzmann machines with any links.

    Notes
    -----
    Texts: 003 4.4.3.2. `score_samples` adds the log-probability of every column given the others;
    scikit-learn draws one column for each row and multiplies by their number, which has the same
    expectation. The last batch of a pass may be short; its two sides are then means over their own
    numbers of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import BernoulliRBM
    >>> X = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
    >>> BernoulliRBM(n_components=2, random_state=0).fit(X).transform(X).shape
    (4, 2)
    """

    natively = Takes(sparse=True, float32=True)
    _largest = 1e30
    _parameter_constraints = {
        "n_components": [whole(1)],
        "learning_rate": [above(0)],
        "batch_size": [whole(1)],
        "n_iter": [whole(0)],
        "random_state": SEED,
        "visible": [StrOptions({"binary", "gaussian"})],
        "persistent": FLAG,
        "n_gibbs": [whole(1)],
        "mean_field": FLAG,
    }
    _stored = {
        "components_": Array("f", ("n_hidden", "n_columns")),
        "intercept_hidden_": Array("f", ("n_hidden",)),
        "intercept_visible_": Array("f", ("n_columns",)),
        "h_samples_": Array("f", (None, "n_hidden"), low=0.0, high=1.0),
        "n_iter_": Whole(),
        "n_steps_": Whole(),
    }

    def __init__(
        self,
        n_components: int = 256,
        *,
        learning_rate: float = 0.1,
        batch_size: int = 10,
        n_iter: int = 10,
        verbose: int = 0,
        random_state: Any = None,
        visible: str = "binary",
        persistent: bool = True,
        n_gibbs: int = 1,
        mean_field: bool = False,
    ):
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.verbose = verbose
        self.random_state = random_state
        self.visible = visible
        self.persistent = persistent
        self.n_gibbs = n_gibbs
        self.mean_field = mean_field

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _most_steps(self) -> int:
        return self.n_iter

    def _machine(self) -> Machine:
        return Machine(
            np.asarray(self.components_, np.float64),
            np.asarray(self.intercept_hidden_, np.float64),
            np.asarray(self.intercept_visible_, np.float64),
            self.visible == "gaussian",
        )

    def _fit(self, data: Data) -> None:
        rng = self._rng()
        self._warn_of_range(data.rows)
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            state = self._first(data.n_columns, rng)
            self._pass_over(data, state, rng)

    def _warn_of_range(self, rows: Any) -> None:
        values = rows.data if sp.issparse(rows) else rows
        outside = values.size and (values.min() < 0 or values.max() > 1)
        if self.visible == "binary" and outside:
            warnings.warn(
                "binary visible units take values from 0 to 1, and some are outside: scale the "
                "columns, or standardize them and use visible='gaussian'",
                GnomonWarning,
                stacklevel=2,
            )

    def _first(self, n_columns: int, rng: np.random.Generator) -> Training:
        k = self.n_components
        weights = rng.normal(0, FIRST_SCALE, (k, n_columns))
        machine = Machine(weights, np.zeros(k), np.zeros(n_columns), self.visible == "gaussian")
        return Training(machine, np.zeros((self.batch_size, k)), 0)

    def _pass_over(self, data: Data, state: Training, rng: np.random.Generator) -> None:
        slots = Slots(data.rows, weights=data.weights)
        course = self._course("pass", self.n_iter)
        for _ in course:
            errors = 0.0
            for batch in slots.epoch(self.batch_size, rng):
                v = dense(data.rows[batch.rows])
                weights = np.ones(len(v)) if batch.weights is None else batch.weights
                state, squared = self._step(state, v, weights, rng)
                errors += squared
            found = self._attributes(state) | {"n_iter_": len(course.history) + 1}
            if course.end_step(
                errors / slots.n_slots,
                attributes=partial(lambda found: self._public() | found, found),
            ):
                break
        self._keep(self._attributes(state))
        self.history_, self.n_iter_ = course.history, len(course.history)

    def _attributes(self, state: Training) -> dict[str, Any]:
        return {
            "components_": state.machine.weights,
            "intercept_hidden_": state.machine.hidden,
            "intercept_visible_": state.machine.visible,
            "h_samples_": state.chain,
            "n_steps_": state.n_steps,
        }

    def _step(
        self, state: Training, v: np.ndarray, weights: np.ndarray, rng: np.random.Generator
    ) -> tuple[Training, float]:
        """One step of the gradient, and the squared error of decoding the codes of the batch."""
        machine = state.machine
        codes = machine.encode(v)
        squared = float(weights @ ((machine.decode(codes) - v) ** 2).mean(axis=1))
        chain = state.chain if self.persistent else draw_units(codes, rng)
        for _ in range(self.n_gibbs):
            free = machine.decode(chain) if self.mean_field else machine.draw_visible(chain, rng)
            expected = machine.encode(free)
            chain = draw_units(expected, rng)
        moved = machine.moved(
            machine.moments(v, codes, weights),
            machine.moments(free, expected, np.ones(len(free))),
            self.learning_rate,
        )
        if not np.isfinite(moved.weights).all():
            raise DataError(
                f"the weights overflow after {state.n_steps} steps: standardize the columns, or "
                f"decrease learning_rate (now {self.learning_rate})"
            )
        return Training(moved, chain, state.n_steps + 1), squared

    @validated
    def partial_fit(self, X: Any, y: Any = None) -> BernoulliRBM:
        """Make one step of the gradient with the rows given.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        self : BernoulliRBM
        """
        if not hasattr(self, "components_"):
            n_iter, self.n_iter = self.n_iter, 0
            try:
                self.fit(X)
            finally:
                self.n_iter = n_iter
        rng = np.random.default_rng([int(self._rng().integers(2**32)), self.n_steps_])
        v = self._each_block(dense, X)
        with one_blas_thread():
            state = Training(
                self._machine(), np.asarray(self.h_samples_, np.float64), self.n_steps_
            )
            state, _ = self._step(state, dense(v), np.ones(len(v)), rng)
        self._keep(self._attributes(state))
        return self

    def _map(self, rows: Any) -> np.ndarray:
        return self._machine().encode(rows)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Expected visible units given hidden ones: E(v | h).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            States of the hidden units, or their probabilities (mean field).

        Returns
        -------
        v : ndarray of shape (n_samples, n_columns)
        """
        check_is_fitted(self)
        codes = check_array(X, dtype=np.float64)
        if codes.shape[1] != len(self.components_):
            raise DataError(
                f"inverse_transform takes {len(self.components_)} hidden units per row, "
                f"not {codes.shape[1]}"
            )
        return self._machine().decode(codes)

    def gibbs(self, v: Any, *, n_steps: int = 1, random_state: Any = None) -> np.ndarray:
        """Steps of Gibbs sampling: hidden units given visible ones, and back.

        Parameters
        ----------
        v : array-like of shape (n_samples, n_features)
            Visible units to start from.
        n_steps : int, default=1
        random_state : int, RandomState or None, default=None
            ``random_state`` of the estimator by default.

        Returns
        -------
        v_new : ndarray of shape (n_samples, n_features)
            Booleans, where visible units are binary and a step was made.
        """
        check_is_fitted(self)
        machine, rng = self._machine(), self._sampler(random_state)
        found = np.array(v, dtype=np.float64)
        for _ in range(n_steps):
            found = machine.draw_visible(draw_units(machine.encode(found), rng), rng)
        return found if machine.gaussian or not n_steps else found.astype(bool)

    def sample(
        self, n_samples: int = 1, *, n_steps: int = 1000, random_state: Any = None
    ) -> np.ndarray:
        """Rows drawn from the machine by cycling between both layers.

        Parameters
        ----------
        n_samples : int, default=1
        n_steps : int, default=1000
            Steps of each chain, all from random hidden units.
        random_state : int, RandomState or None, default=None

        Returns
        -------
        rows : ndarray of shape (n_samples, n_columns)
        """
        check_is_fitted(self)
        machine, rng = self._machine(), self._sampler(random_state)
        start = draw_units(np.full((n_samples, len(machine.hidden)), 0.5), rng)
        v = machine.draw_visible(start, rng)
        return self.gibbs(v, n_steps=n_steps, random_state=int(rng.integers(2**31))).astype(float)

    def _sampler(self, random_state: Any) -> np.random.Generator:
        if random_state is None:
            return self._rng()
        return np.random.default_rng(check_random_state(random_state).randint(2**31))

    def score_samples(self, X: Any) -> np.ndarray:
        """Pseudo-likelihood: the sum over columns of log p(v_i | all other columns).

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        pseudo_likelihood : ndarray of shape (n_samples,)
            With ``visible="gaussian"``, minus the free energy: log p(v) up to a constant.
        """
        return self._each_block(self._pseudo_likelihood, X)

    def _pseudo_likelihood(self, rows: Any) -> np.ndarray:
        machine, v = self._machine(), dense(rows)
        if machine.gaussian:
            return -machine.free_energy(v)
        level = v @ machine.weights.T + machine.hidden
        total = np.zeros(len(v))
        for i in range(v.shape[1]):
            change = 1 - 2 * v[:, i]
            gain = softplus_change(level, change[:, None] * machine.weights[:, i]).sum(axis=1)
            total -= np.logaddexp(0, gain + change * machine.visible[i])
        return total

    def _rows_at_once(self, rows: Any) -> int:
        return rows_per_chunk(max(rows.shape[1], len(self.components_)))

    def log_likelihood(self, X: Any) -> np.ndarray:
        """Exact log p(v) of each row, for machines with a small layer.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        machine = self._machine()
        constant = machine.log_partition()
        return self._each_block(lambda rows: -machine.free_energy(dense(rows)) - constant, X)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        k, batch = self.n_components, min(self.batch_size, n_rows)
        machine = 6 * (k * n_columns + k + n_columns)
        chains = 6 * max(self.batch_size, batch) * (k + n_columns)
        return 8 * (2 * n_rows * (n_columns + 4) + machine + chains)


class Training(NamedTuple):
    """What a step of training changes: the machine, its persistent chain, steps made."""

    machine: Machine
    chain: np.ndarray
    n_steps: int


def softplus_change(level: np.ndarray, change: np.ndarray) -> np.ndarray:
    """log(1 + exp(level + change)) - log(1 + exp(level)), without cancellation of large levels."""
    after = level + change
    both_large = np.minimum(level, after) > LINEAR_FROM
    return np.where(both_large, change, np.logaddexp(0, after) - np.logaddexp(0, level))


def draw_units(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Binary units drawn by their probabilities."""
    return (rng.random(probabilities.shape) < probabilities).astype(np.float64)


def dense(rows: Any) -> np.ndarray:
    """Rows as an array of float64."""
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)
