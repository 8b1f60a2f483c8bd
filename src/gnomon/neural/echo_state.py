"""Echo state networks: a fixed random recurrent layer, and a linear read-out that is learned.

The reservoir's state is x_t = (1 - a) x_{t-1} + a tanh(W_in [1, u_t] + W x_{t-1}) with random links
W scaled to a spectral radius below one, so that the state forgets how it began. Only the read-out
is fitted, by ridge regression on [1, u_t, x_t]: one linear solve instead of back-propagation
through time.

Texts: 003 4.8 names reservoir networks; Jaeger (2001), Lukosevicius (2012).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import solve
from sklearn.utils.validation import check_is_fitted

from gnomon.engine.errors import DataError
from gnomon.engine.parameters import SEED, above, at_least, between, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, Flag, ListOf, Whole
from gnomon.engine.threads import one_blas_thread
from gnomon.neural.recurrent import has_value_per_step, known_rows
from gnomon.sequence.learner import SequenceEstimator, fits, of_sequences

CONSTRAINTS: dict[str, Any] = {
    "n_units": [whole(1)],
    "spectral_radius": [above(0)],
    "leaking_rate": [between(0, 1, "right")],
    "input_scale": [above(0)],
    "density": [between(0, 1, "right")],
    "alpha": [at_least(0)],
    "washout": [whole(0)],
    "random_state": SEED,
}


class EchoStateEstimator(SequenceEstimator):
    """The reservoir that the regressor and the classifier share."""

    _parameter_constraints = CONSTRAINTS
    _stored: ClassVar[Any] = {
        "weight_in_": Array("f8", ("n_units", "n_features_in_ + 1")),
        "weight_hidden_": Array("f8", ("n_units", "n_units")),
        "coef_": Array("f8", ("n_outputs_", "n_units + n_features_in_ + 1")),
        "n_outputs_": Whole(1),
        "mean_": Array("f8", ("n_features_in_",)),
        "scale_": Array("f8", ("n_features_in_",)),
    }

    def __init__(
        self,
        n_units: int = 100,
        *,
        spectral_radius: float = 0.9,
        leaking_rate: float = 1.0,
        input_scale: float = 1.0,
        density: float = 0.1,
        alpha: float = 1e-6,
        washout: int = 0,
        random_state: Any = None,
    ):
        self.n_units = n_units
        self.spectral_radius = spectral_radius
        self.leaking_rate = leaking_rate
        self.input_scale = input_scale
        self.density = density
        self.alpha = alpha
        self.washout = washout
        self.random_state = random_state

    def _begin(self, sequences: Sequence) -> list[np.ndarray]:
        """Draw the reservoir for these sequences; gives their rows."""
        rows = [known_rows(each, place) for place, each in enumerate(sequences)]
        if not rows:
            raise DataError("there are no sequences to learn from")
        self.n_features_in_ = rows[0].shape[1]
        self._require_columns(rows)
        together = np.concatenate(rows)
        self.mean_ = together.mean(axis=0)
        spread = together.std(axis=0)
        self.scale_ = np.where(spread > 0, spread, 1.0)
        rng, n = self._rng(), self.n_units
        self.weight_in_ = self.input_scale * rng.uniform(-0.5, 0.5, (n, self.n_features_in_ + 1))
        links = rng.uniform(-0.5, 0.5, (n, n)) * (rng.random((n, n)) < self.density)
        self.weight_hidden_ = scaled_to_radius(links, self.spectral_radius)
        return rows

    def _require_columns(self, sequences: list[np.ndarray]) -> None:
        for place, each in enumerate(sequences):
            if each.shape[1] != self.n_features_in_:
                raise DataError(
                    f"sequence {place} has {each.shape[1]} columns; "
                    f"the network was fitted to {self.n_features_in_}"
                )

    def _features(self, sequence: Any, place: int = 0) -> np.ndarray:
        """One, the inputs and the states of each step, of shape (length, 1 + d + n_units)."""
        rows = known_rows(sequence, place)
        self._require_columns([rows])
        inputs = np.column_stack([np.ones(len(rows)), (rows - self.mean_) / self.scale_])
        driven, a = inputs @ self.weight_in_.T, self.leaking_rate
        states, x = np.empty((len(rows), len(self.weight_hidden_))), np.zeros(self.n_units)
        for t in range(len(rows)):
            x = (1 - a) * x + a * np.tanh(driven[t] + self.weight_hidden_ @ x)
            states[t] = x
        return np.column_stack([inputs, states])

    def states(self, sequence: Any) -> np.ndarray:
        """The states of the reservoir along a sequence.

        Parameters
        ----------
        sequence : array-like of shape (n,) or (n, n_features_in_)

        Returns
        -------
        states : ndarray of shape (n, n_units)
        """
        check_is_fitted(self)
        return self._features(sequence)[:, 1 + self.n_features_in_ :]


def scaled_to_radius(links: np.ndarray, radius: float) -> np.ndarray:
    """Links scaled so that their largest eigenvalue has this absolute value."""
    found = float(np.abs(np.linalg.eigvals(links)).max())
    return links * (radius / found) if found > 1e-12 else links


def ridge_read_out(features: np.ndarray, targets: np.ndarray, alpha: float) -> np.ndarray:
    """The minimiser of |targets - features C'|^2 + alpha n |C|^2, of shape (n_targets, p)."""
    squares = features.T @ features
    squares[np.diag_indices_from(squares)] += alpha * len(features)
    try:
        return solve(squares, features.T @ targets, assume_a="pos").T
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(features, targets, rcond=None)[0].T


@method(
    task="forecast",
    texts="003 4.8",
    use="Series that follow from their own past by a nonlinear rule; trained in one linear solve.",
    avoid="Noisy short series: ETSModel; labels of sequences: EchoStateClassifier.",
    peers=("reservoirpy.nodes.Reservoir",),
    takes="sequences",
    synonyms=("esn", "reservoir computing", "liquid state machine"),
)
class EchoStateRegressor(EchoStateEstimator):
    """Numbers for each step of a sequence, or its next rows, by an echo state network.

    Minimises ``|Y - [1, u, x] C'|^2 + alpha n |C|^2`` over the read-out C alone. Use it for series
    of a nonlinear rule with memory, and as a quick first try before `RecurrentRegressor`. Not for
    short noisy series.

    Parameters
    ----------
    n_units : int, default=100
        Units of the reservoir.
    spectral_radius : float, default=0.9
        Largest absolute eigenvalue of the links: near one for a long memory.
    leaking_rate : float, default=1.0
        How far the state moves in a step; small for slow signals.
    input_scale : float, default=1.0
        Scale of the links from the inputs: large for strongly nonlinear states.
    density : float, default=0.1
        Share of the links of the reservoir that are not zero.
    alpha : float, default=1e-06
        Ridge penalty of the read-out.
    washout : int, default=0
        First steps of each sequence that the read-out is not fitted to.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the reservoir.

    Attributes
    ----------
    weight_in_ : ndarray of shape (n_units, n_features_in_ + 1)
    weight_hidden_ : ndarray of shape (n_units, n_units)
    coef_ : ndarray of shape (n_outputs_, 1 + n_features_in_ + n_units)
        The read-out.
    mean_, scale_ : ndarray of shape (n_features_in_,)
        By which rows are standardized.
    n_features_in_ : int
    n_outputs_ : int
    own_future_ : bool
        Whether it was fitted to the next row of the sequences themselves.

    Notes
    -----
    Texts: 003 4.8.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import EchoStateRegressor
    >>> wave = np.sin(0.3 * np.arange(300))
    >>> model = EchoStateRegressor(50, washout=20, random_state=0).fit([wave[:250]])
    >>> bool(abs(model.forecast_rows(wave[:250], 20)[:, 0] - wave[250:270]).max() < 0.05)
    True
    """

    _stored = {"own_future_": Flag()}

    @fits("y")
    def fit(self, sequences: Sequence, y: Sequence | None = None) -> EchoStateRegressor:
        """Draw the reservoir and fit the read-out.

        Parameters
        ----------
        sequences : list of sequences
            Numbers, or rows of numbers, step by step.
        y : sequence, default=None
            A sequence with a number, or row of numbers, for each step of each sequence; the next
            row of the sequence itself by default.

        Returns
        -------
        self : EchoStateRegressor
        """
        rows = self._begin(sequences)
        self.own_future_ = y is None
        if y is None:
            targets, rows = [each[1:] for each in rows], [each[:-1] for each in rows]
        else:
            if not has_value_per_step(rows, y):
                raise DataError("y must have a value for each step; see RecurrentRegressor")
            targets = [known_rows(each, place) for place, each in enumerate(y)]
        kept = [k for k, each in enumerate(rows) if len(each) > self.washout]
        if not kept:
            raise DataError(
                f"no sequence has more than washout={self.washout} steps; decrease washout"
            )
        with one_blas_thread():
            features = np.concatenate([self._features(rows[k])[self.washout :] for k in kept])
            wanted = np.concatenate([targets[k][self.washout :] for k in kept])
            self.n_outputs_ = wanted.shape[1]
            self.coef_ = ridge_read_out(features, wanted, self.alpha)
        return self

    @of_sequences()
    def predict(self, sequences: Sequence) -> list[np.ndarray]:
        """The numbers of each step of each sequence; 1-D where there is one number."""
        with one_blas_thread():
            found = [self._features(each, k) @ self.coef_.T for k, each in enumerate(sequences)]
        return [each[:, 0] for each in found] if self.n_outputs_ == 1 else found

    def forecast_rows(self, sequence: Any, n_steps: int = 1) -> np.ndarray:
        """Rows after the end of a sequence, each from the rows before it and those forecast.

        Parameters
        ----------
        sequence : array-like of shape (n,) or (n, n_features_in_)
        n_steps : int, default=1

        Returns
        -------
        rows : ndarray of shape (n_steps, n_features_in_)
        """
        check_is_fitted(self)
        if not self.own_future_:
            raise DataError("forecast_rows needs a network that was fitted without y")
        with one_blas_thread():
            last = self._features(sequence)[-1]
            found, a = np.empty((n_steps, self.n_features_in_)), self.leaking_rate
            for step in range(n_steps):
                found[step] = self.coef_ @ last
                state = last[1 + self.n_features_in_ :]
                inputs = np.concatenate([[1.0], (found[step] - self.mean_) / self.scale_])
                moved = np.tanh(self.weight_in_ @ inputs + self.weight_hidden_ @ state)
                last = np.concatenate([inputs, (1 - a) * state + a * moved])
        return found

    @of_sequences("y")
    def score(self, sequences: Sequence, y: Sequence | None = None) -> float:
        """R2 over all numbers; of the next row where it was fitted without y."""
        if y is None:
            rows = [known_rows(each, place) for place, each in enumerate(sequences)]
            y, sequences = [each[1:] for each in rows], [each[:-1] for each in rows]
        found = np.concatenate([np.ravel(each) for each in self.predict(sequences)])
        truth = np.concatenate([np.ravel(each) for each in y])
        return float(1 - ((truth - found) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())


@method(
    task="classify",
    texts="003 4.8",
    use="Classes of sequences of different lengths; trained in one linear solve.",
    avoid="Labels that depend on one short event in a long sequence: RecurrentClassifier.",
    peers=("reservoirpy.nodes.Reservoir",),
    takes="sequences",
    synonyms=("esn", "reservoir computing", "liquid state machine"),
)
class EchoStateClassifier(EchoStateEstimator):
    """Classes of sequences by the mean state of an echo state network.

    The read-out is ridge regression of the classes' indicators on the mean of ``[1, u_t, x_t]``
    over a sequence; the class with the largest output is predicted. Use it for sequences of
    different lengths whose classes differ in their dynamics all along. Not where one short event
    decides.

    Parameters
    ----------
    n_units : int, default=100
        Units of the reservoir.
    spectral_radius : float, default=0.9
        Largest absolute eigenvalue of the links: near one for a long memory.
    leaking_rate : float, default=1.0
        How far the state moves in a step; small for slow signals.
    input_scale : float, default=1.0
        Scale of the links from the inputs: large for strongly nonlinear states.
    density : float, default=0.1
        Share of the links of the reservoir that are not zero.
    alpha : float, default=1e-06
        Ridge penalty of the read-out.
    washout : int, default=0
        First steps of each sequence that the mean leaves out, if there are more.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the reservoir.

    Attributes
    ----------
    classes_ : list
    weight_in_ : ndarray of shape (n_units, n_features_in_ + 1)
    weight_hidden_ : ndarray of shape (n_units, n_units)
    coef_ : ndarray of shape (n_outputs_, 1 + n_features_in_ + n_units)
        The read-out.
    mean_, scale_ : ndarray of shape (n_features_in_,)
        By which rows are standardized.
    n_features_in_ : int
    n_outputs_ : int

    Notes
    -----
    Texts: 003 4.8.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import EchoStateClassifier
    >>> slow, fast = np.sin(0.2 * np.arange(90)), np.sin(0.9 * np.arange(90))
    >>> parts = [*slow.reshape(6, 15), *fast.reshape(6, 15)]
    >>> model = EchoStateClassifier(30, random_state=0).fit(parts, ["slow"] * 6 + ["fast"] * 6)
    >>> model.predict([slow[7:40], fast[5:30]])
    ['slow', 'fast']
    """

    _stored = {"classes_": ListOf(Anything(), "n_outputs_")}

    @fits()
    def fit(self, sequences: Sequence, y: Sequence[Hashable]) -> EchoStateClassifier:
        """Draw the reservoir and fit the read-out.

        Parameters
        ----------
        sequences : list of sequences
        y : sequence
            The class of each.

        Returns
        -------
        self : EchoStateClassifier
        """
        rows = self._begin(sequences)
        if len(rows) != len(y):
            raise DataError(f"{len(rows)} sequences have {len(y)} labels")
        seen: set[Any] = set(y)
        self.classes_ = sorted(seen)
        self.n_outputs_ = len(self.classes_)
        indicators = np.array([[float(label == c) for c in self.classes_] for label in y])
        with one_blas_thread():
            self.coef_ = ridge_read_out(self._means(rows), indicators, self.alpha)
        return self

    def _means(self, sequences: Sequence) -> np.ndarray:
        features = [self._features(each, place) for place, each in enumerate(sequences)]
        return np.stack([e[min(self.washout, len(e) - 1) :].mean(axis=0) for e in features])

    @of_sequences()
    def decision_function(self, sequences: Sequence) -> np.ndarray:
        """Output of the read-out for each class, of shape (n, n_classes)."""
        with one_blas_thread():
            return self._means(sequences) @ self.coef_.T

    @of_sequences()
    def predict(self, sequences: Sequence) -> list:
        """The class of each sequence."""
        return [self.classes_[k] for k in self.decision_function(sequences).argmax(axis=1)]

    @of_sequences()
    def score(self, sequences: Sequence, y: Sequence[Hashable]) -> float:
        """Share of sequences with the right class."""
        return float(np.mean([a == b for a, b in zip(self.predict(sequences), y, strict=True)]))
