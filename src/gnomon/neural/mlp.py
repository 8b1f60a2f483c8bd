"""Multilayer perceptrons: networks of dense layers for classes and numbers.

With layers h_0 = x, h_l = a(h_(l-1) W_l + b_l) and a last linear layer o, minimises

    sum_i w_i L(o(x_i), y_i) / sum_i w_i + alpha / (2 n) sum_l |W_l|^2

over batches of n rows, where L is the log-loss (softmax, or the logistic for two classes and for
labels side by side), half the squared error or the Poisson deviance. Batches keep the contract
(`gnomon.neural.batches`).

Texts: 000c 17.1-17.2 · 001 6 · 002 (named) · 003 4.3 · 004 9.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metaestimators import available_if

from gnomon.contract import Classifier, Data, Learner, Regressor, Takes, intake
from gnomon.contract.docstrings import shared_attributes, shared_parameters
from gnomon.contract.inert import without_effect
from gnomon.engine.distinct import distinct_rows
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.history import Course
from gnomon.engine.parameters import (
    FLAG,
    HISTORY,
    JOBS,
    SEED,
    Options,
    StrOptions,
    above,
    at_least,
    between,
    validated,
    whole,
)
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number, Text, Whole
from gnomon.engine.threads import Crew
from gnomon.neural.activations import ACTIVATIONS, activation_of, softmax
from gnomon.neural.batches import Batch, Slots
from gnomon.neural.diagnostics import course_findings, input_findings, unit_findings
from gnomon.neural.initialization import INITIALIZATIONS
from gnomon.neural.layers import Activation, Dense, Dropout, Layer
from gnomon.neural.losses import (
    BinaryCrossEntropy,
    CrossEntropy,
    Loss,
    MixedLoss,
    PoissonLoss,
    SquaredLoss,
)
from gnomon.neural.network import Network, Parameters
from gnomon.neural.normalization import BatchNorm
from gnomon.neural.penalties import L2, Elastic, Penalty
from gnomon.neural.trainer import Trainer
from gnomon.optimize.rules import AdagradRule, AdamRule, MomentumRule, RMSpropRule, Rule

Real = float
HIDDEN = sorted(set(ACTIVATIONS) - {"softmax", "exponential"})
AUTO_BATCH = 200  # as in scikit-learn
LEAST_RATE = 1e-6  # at which "adaptive" ends, as in scikit-learn
LARGEST = sys.float_info.max
EPSILON = BatchNorm().epsilon
# Texts of parameters that classes here share, for their docstrings.
MLP_PARAMETERS = """\
hidden_layer_sizes : int or sequence of int
    Units of each hidden layer.
activation : str or list of str
    Of the hidden layers: "identity", "logistic", "tanh", "relu", or any other of
    `gnomon.neural.ACTIVATIONS`; a list gives one for each layer.
solver : {"adam", "sgd", "lbfgs", "adamw", "adagrad", "rmsprop"}
    "lbfgs" takes all rows at once, and is good for few of them.
alpha : float
    Weight of the penalty on the weights; divided by the rows of a batch.
batch_size : int or "auto"
    Rows of a batch; "auto" is 200, or all where there are fewer.
learning_rate : {"constant", "invscaling", "adaptive"}
    Schedule of "sgd": constant, divided by t^power_t, or divided by five whenever the loss has
    not improved for `n_iter_no_change` epochs.
learning_rate_init : float
    The first step size.
power_t : float
    Exponent of "invscaling".
max_iter : int
    Most epochs.
shuffle : bool
    Whether each epoch shuffles the rows; False keeps the order of the table.
random_state : int, RandomState, Generator or None
    Seed of the first weights, the batches and dropout.
tol : float
    An epoch improves the loss where it is better by this much.
warm_start : bool
    Whether ``fit`` goes on from the weights of before.
momentum : float
    Of "sgd".
nesterovs_momentum : bool
    Nesterov's form of it.
early_stopping : bool
    Put rows aside, stop when their score has not improved for `n_iter_no_change` epochs, and
    keep the weights of the best epoch.
validation_fraction : float
    The share of rows put aside.
beta_1 : float
    Of "adam": decay of the mean of gradients.
beta_2 : float
    Of "adam": decay of the mean of squared gradients.
n_iter_no_change : int
    Epochs without improvement before the end.
max_fun : int
    Most evaluations of "lbfgs".
dropout : float
    Share of the hidden units that are dropped in each step.
batch_norm : bool
    Batch normalisation of the hidden layers.
l1_ratio : float
    Share of the penalty that is on absolute weights, which makes some exactly zero.
max_norm : float
    Largest norm of the weights into a unit.
init : str
    First weights: scikit-learn's rule, or one of `gnomon.neural.INITIALIZATIONS`.
dtype : {"auto", "float64", "float32"}
    What training computes in; float32 takes about half the time. "auto" is float32 where the rows
    are (and the solver takes batches), as in scikit-learn.
n_jobs : int or None
    Threads; the result does not depend on it.
keep_history : {"objective", "full"}
    "full" keeps the weights after every epoch in ``history_.states``.
"""
# Texts of attributes that classes here share, for their docstrings.
MLP_ATTRIBUTES = """\
coefs_ : list of ndarray
    Weights of each layer, shape (units before, units).
intercepts_ : list of ndarray
    Biases of each layer.
norms_ : list of ndarray of shape (4, units)
    Gain, shift, mean and variance of batch normalisation, layer by layer; else empty.
loss_ : float
    The loss of the last epoch.
best_loss_ : float or None
    The smallest loss; None with `early_stopping`.
loss_curve_ : list of float
    The loss of each epoch.
best_validation_score_ : float or None
    The greatest of them.
t_ : int
    Rows used in training.
n_iter_ : int
    Epochs made.
n_layers_ : int
    Layers with input and output.
n_outputs_ : int
    Numbers that the network gives.
out_activation_ : str
    Of the last layer.
findings_ : list of str
    What is wrong with the training, in words.
history_ : History
    The loss of each epoch.
n_features_in_ : int
    Number of columns seen in ``fit``.
"""


def _check_solver(estimator: Any) -> bool:
    if estimator.solver == "lbfgs":
        raise AttributeError(
            "partial_fit needs a solver that takes batches, and solver='lbfgs' takes all rows"
        )
    return True


@dataclass
class _Solver:
    """What a solver carries from epoch to epoch."""

    rule: Rule
    rate: float
    stalled: int = 0


class _MultilayerPerceptron(Learner):
    """What classifier and regressor share."""

    loss_curve_: list[float]
    validation_scores_: list[float] | None

    natively = Takes(sparse=True, float32=True)
    _many_targets = True
    _largest = 1e50
    _largest_target = 1e50
    _transient = ("_solver",)  # a loaded model goes on with a fresh solver
    _stored: ClassVar[Any] = {
        "coefs_": ListOf(Array("f", (None, None))),
        "intercepts_": ListOf(Array("f", (None,))),
        "norms_": ListOf(Array("f", (4, None))),
        "column_mean_": Array("f", ("n_columns",)) | None,
        "column_scale_": Array("f", ("n_columns",), low=0) | None,
        "n_layers_": Whole(2),
        "n_outputs_": Whole(1),
        "out_activation_": Text(("identity", "logistic", "softmax", "exp", "mixed")),
        "loss_": Number(finite=False),
        "best_loss_": Number(finite=False) | None,
        "loss_curve_": ListOf(Number(finite=False)),
        "validation_scores_": ListOf(Number(finite=False)) | None,
        "best_validation_score_": Number(finite=False) | None,
        "t_": Whole(0),
        "n_iter_": Whole(0),
        "findings_": ListOf(Text()),
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "hidden_layer_sizes": ["array-like", whole(1)],
        "activation": [StrOptions(set(HIDDEN)), list, tuple],
        "solver": [StrOptions({"lbfgs", "sgd", "adam", "adamw", "adagrad", "rmsprop"})],
        "alpha": [at_least(0)],
        "batch_size": [StrOptions({"auto"}), whole(1)],
        "learning_rate": [StrOptions({"constant", "invscaling", "adaptive"})],
        "learning_rate_init": [above(0)],
        "power_t": [at_least(0)],
        "max_iter": [whole(1)],
        "shuffle": FLAG,
        "random_state": SEED,
        "tol": [at_least(0)],
        "warm_start": FLAG,
        "momentum": [between(0, 1)],
        "nesterovs_momentum": FLAG,
        "early_stopping": FLAG,
        "validation_fraction": [between(0, 1, closed="left")],
        "beta_1": [between(0, 1, closed="left")],
        "beta_2": [between(0, 1, closed="left")],
        "epsilon": [above(0)],
        "n_iter_no_change": [whole(1), Options(Real, {np.inf})],
        "max_fun": [whole(1)],
        "dropout": [between(0, 1, closed="left")],
        "batch_norm": FLAG,
        "l1_ratio": [between(0, 1)],
        "max_norm": [above(0), None],
        "init": [StrOptions({"auto", *INITIALIZATIONS})],
        "dtype": [StrOptions({"auto", "float64", "float32"})],
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        widths = [n_columns, *self._widths(), 10]
        weights = sum((before + 1) * after for before, after in itertools.pairwise(widths))
        batch = min(AUTO_BATCH if self.batch_size == "auto" else self.batch_size, n_rows)
        if self.solver == "lbfgs":  # all rows at once, and the pairs of steps that it keeps
            return 8 * (3 * n_rows * sum(widths) + 30 * weights + 8 * n_rows)
        return 8 * (4 * batch * sum(widths) + 14 * weights + 16 * n_rows + 8 * n_columns)

    def _memory_remedy(self) -> str:
        return "Use fewer units, smaller batches, or fewer rows or columns."

    def _widths(self) -> list[int]:
        sizes = self.hidden_layer_sizes
        listed = [sizes] if np.ndim(sizes) == 0 else list(sizes)
        if any(size != int(size) or size <= 0 for size in listed):
            raise ValueError(f"hidden_layer_sizes must be > 0, got {listed}.")
        return [int(size) for size in listed]

    def _activations(self) -> list[str]:
        """The activation of each hidden layer."""
        n = len(self._widths())
        if isinstance(self.activation, str):
            return [self.activation] * n
        given = list(self.activation)
        if len(given) != n:
            raise DataError(f"activation lists {len(given)} functions for {n} hidden layers")
        for name in given:
            activation_of(name)
        return given

    def _network(self, n_columns: int, n_outputs: int) -> Network:
        layers: list[Layer] = []
        for width, activation in zip(self._widths(), self._activations()):
            if self.batch_norm:
                layers += [Dense(width), BatchNorm(), Activation(activation)]
            else:
                layers.append(Dense(width, activation))
            if self.dropout:
                layers.append(Dropout(self.dropout))
        return Network([*layers, Dense(n_outputs)], n_columns)

    def _first(self, network: Network, rng: np.random.Generator, dtype: Any) -> Parameters:
        """First parameters: scikit-learn's rule (biases too are drawn), or the chosen one."""
        if self.init != "auto":
            return network.initial(rng, init=self.init, dtype=dtype)
        scale = np.sqrt(1 / 3) if "logistic" in self._activations() else 1.0
        parameters = network.initial(rng, scale=scale, dtype=dtype)
        for place in network.places:
            if place.parameter.role == "bias" and place.path[-1] == "bias":
                fans = place.parameter.fan_in + place.parameter.fan_out
                width = scale * np.sqrt(6 / fans)
                drawn = rng.uniform(-width, width, place.stop - place.start)
                parameters.flat[place.start : place.stop] = drawn
        return parameters

    def _make_solver(self) -> _Solver:
        rules: dict[str, Any] = {
            "sgd": partial(MomentumRule, self.momentum, self.nesterovs_momentum),
            "adam": partial(AdamRule, self.beta_1, self.beta_2, self.epsilon),
            "adamw": partial(AdamRule, self.beta_1, self.beta_2, self.epsilon, 0.01),
            "adagrad": AdagradRule,
            "rmsprop": RMSpropRule,
            "lbfgs": Rule,  # the line search decides on the step
        }
        if self.solver == "sgd" and (self.momentum == 0 or self.momentum == 1):
            rule = Rule() if self.momentum == 0 else _FullMomentum(self.nesterovs_momentum)
            return _Solver(rule, float(self.learning_rate_init))
        return _Solver(rules[self.solver](), float(self.learning_rate_init))

    def _loss_and_outputs(self, y: np.ndarray) -> tuple[Loss, int, str]:
        """The loss, the number of outputs and the name of the last activation."""
        raise NotImplementedError

    def _encoded(self, y: np.ndarray, dtype: Any) -> np.ndarray:
        """The target as the loss takes it."""
        raise NotImplementedError

    def _validation_score(self, rows: Any, y: np.ndarray, weights: Any) -> float:
        raise NotImplementedError

    def _fit(self, data: Data) -> None:
        self._prepare(data, again=self.warm_start and hasattr(self, "coefs_"))
        if self.solver == "lbfgs":
            self._fit_at_once(data)
        else:
            self._fit_batches(data, self.max_iter)
        if self.history_.stopped == "max_iter":
            warnings.warn(
                f"stopped after max_iter={self.max_iter} epochs before the loss stopped falling "
                f"by tol={self.tol:g}: increase max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _prepare(self, data: Data, again: bool) -> None:
        """First parameters, or those of before; empty curves where it starts anew."""
        dtype = self._number_type(data, again)
        loss, n_outputs, last = self._loss_and_outputs(data.y)
        self._training_loss = loss
        network = self._network(data.n_columns, n_outputs)
        self._seed = int(self._rng().integers(2**32))
        if again:
            if [each.shape for each in self.coefs_] != self._shapes(network):
                raise DataError(
                    "warm_start and partial_fit go on with the layers of before; "
                    f"they have shapes {[each.shape for each in self.coefs_]}, and the parameters "
                    f"ask for {self._shapes(network)}"
                )
            parameters = self._gathered(network, dtype)
        else:
            parameters = self._first(network, np.random.default_rng(self._seed), dtype)
            self.t_, self.loss_curve_, self._solver = 0, [], self._make_solver()
            self.best_loss_ = None if self.early_stopping else LARGEST
            self.validation_scores_ = [] if self.early_stopping else None
            self.best_validation_score_ = -LARGEST if self.early_stopping else None
            self._set_scale(data)
        if "_solver" not in vars(self):
            self._solver = self._make_solver()
        self.n_layers_, self.n_outputs_, self.out_activation_ = (
            len(self._widths()) + 2,
            n_outputs,
            last,
        )
        self.loss_ = LARGEST
        self._net, self._parameters = network, parameters
        self._keep(self._unpacked(parameters))

    def _number_type(self, data: Data, again: bool) -> np.dtype:
        """What training computes in."""
        if self.dtype != "auto":
            return np.dtype(self.dtype)
        if again:
            return self.coefs_[0].dtype
        # a line search compares losses that float32 cannot tell apart
        single = data.is_float32 and self.solver != "lbfgs"
        return np.dtype(np.float32 if single else np.float64)

    def _shapes(self, network: Network) -> list[tuple[int, ...]]:
        return [p.parameter.shape for p in network.places if p.path[-1] == "weight"]

    def _set_scale(self, data: Data) -> None:
        """Mean and scale of the columns of a table with other columns than numbers."""
        self.column_mean_ = self.column_scale_ = None
        encoder = getattr(self, "encoder_", None)
        if encoder is None or encoder.only_numbers or sp.issparse(data.rows):
            return
        order = np.lexsort(data.rows.T[::-1])  # sums do not depend on the order of rows
        rows, weights = data.rows[order], data.weight_array[order]
        self.column_mean_ = np.average(rows, axis=0, weights=weights)
        spread = np.sqrt(np.average((rows - self.column_mean_) ** 2, axis=0, weights=weights))
        self.column_scale_ = np.where(spread > 0, spread, 1.0)

    def _scaled(self, rows: Any) -> Any:
        if getattr(self, "column_mean_", None) is None:
            return rows
        return (rows - self.column_mean_) / self.column_scale_

    def _unpacked(self, parameters: Parameters) -> dict[str, Any]:
        """The public arrays of some parameters; copies."""
        found: dict[str, list[Any]] = {"coefs_": [], "intercepts_": [], "norms_": []}
        for node in self._net.nodes:
            views = parameters.views.get(node.name, {})
            if isinstance(node.layer, Dense):
                found["coefs_"].append(views["weight"].copy())
                found["intercepts_"].append(views["bias"].copy())
            elif isinstance(node.layer, BatchNorm):
                parts = [views[key] for key in ("gain", "shift", "mean", "variance")]
                found["norms_"].append(np.stack(parts))
        return found

    def _gathered(self, network: Network, dtype: Any) -> Parameters:
        """Parameters from the public arrays."""
        parameters = network.from_flat(np.empty(network.n_stored, dtype=dtype))
        dense, norms = 0, 0
        for node in network.nodes:
            views = parameters.views.get(node.name, {})
            if isinstance(node.layer, Dense):
                views["weight"][:] = self.coefs_[dense]
                views["bias"][:] = self.intercepts_[dense]
                dense += 1
            elif isinstance(node.layer, BatchNorm):
                for key, part in zip(("gain", "shift", "mean", "variance"), self.norms_[norms]):
                    views[key][:] = part
                norms += 1
        return parameters

    def _rows_and_target(self, data: Data) -> tuple[Any, np.ndarray]:
        dtype = self._parameters.flat.dtype
        rows = sp.csr_array(data.rows) if sp.issparse(data.rows) else self._scaled(data.rows)
        return rows.astype(dtype, copy=False), self._encoded(data.y, dtype)

    def _fit_batches(self, data: Data, epochs: int) -> None:
        rows, target = self._rows_and_target(data)
        slots = Slots(rows, data.y, data.weights, shuffle=self.shuffle)
        aside = None
        if self.early_stopping:
            slots, aside = self._put_aside(slots, data.y)
        size = self._batch_size(slots.total)
        trainer = Trainer(
            self._net,
            self._parameters,
            self._training_loss,
            self._solver.rule,
            penalty=self._penalty(),
            penalty_per_row=True,
            largest_norm=self.max_norm,
            random_state=self._seed,
        )
        course = self._course("epoch", epochs)
        best = None
        failed = False
        with Crew(self.n_jobs) as crew, np.errstate(all="ignore"):
            for _ in course:
                number = len(self.loss_curve_) + 1
                before = self._parameters.flat.copy()
                value = trainer.epoch(rows, target, slots, size, self._solver.rate, number, crew)
                if not (np.isfinite(value) and np.isfinite(self._parameters.flat).all()):
                    self._parameters.flat[:] = before
                    value, failed = LARGEST, True
                self.loss_ = float(value)
                self.loss_curve_.append(self.loss_)
                self.t_ += slots.total
                self.n_iter_ = len(self.loss_curve_)
                if aside is not None:
                    best = self._judge(aside, rows, data.y, best)
                stop = failed or self._stop_now()
                if course.end_step(
                    self.loss_,
                    stop,
                    state=self._state,
                    attributes=self._attributes_now,
                ):
                    break
        if best is not None:
            self._parameters.flat[:] = best
        self._keep(self._unpacked(self._parameters))
        self._finish(course, data, failed)

    def _penalty(self) -> Penalty | None:
        if not self.alpha:
            return None
        return Elastic(self.alpha, self.l1_ratio) if self.l1_ratio else L2(self.alpha)

    def _put_aside(self, slots: Slots, y: np.ndarray) -> tuple[Slots, Batch]:
        labels = y if isinstance(self, Classifier) and y.ndim == 1 else None
        rng = np.random.default_rng([self._seed, 0, 1])
        slots, aside = slots.split(self.validation_fraction, rng, labels)
        if len(aside.rows) < 2 or slots.total < 1:
            raise ValueError(
                "The validation set is too small. Increase 'validation_fraction' or the size of "
                "your dataset."
            )
        return slots, aside

    def _batch_size(self, total: int) -> int:
        if self.batch_size == "auto":
            return min(AUTO_BATCH, total)
        if self.batch_size > total:
            warnings.warn(
                f"batch_size={self.batch_size} is larger than the {total} rows; all rows make one "
                "batch",
                GnomonWarning,
                stacklevel=5,
            )
        return min(self.batch_size, total)

    def _judge(self, aside: Batch, rows: Any, y: np.ndarray, best: Any) -> Any:
        """Score the rows put aside; the best parameters so far."""
        self._keep(self._unpacked(self._parameters))
        some = rows[aside.rows]
        some = some.toarray() if sp.issparse(some) else some
        score = self._validation_score(some, y[aside.rows], aside.weights)
        scores, known = self.validation_scores_, self.best_validation_score_
        assert scores is not None
        assert known is not None
        scores.append(score)
        self._solver.stalled = self._solver.stalled + 1 if score < known + self.tol else 0
        if score > known:
            self.best_validation_score_ = score
            return self._parameters.flat.copy()
        return best

    def _stop_now(self) -> bool:
        """Whether the loss or the score has not improved for long; the next learning rate."""
        if not self.early_stopping:
            last, known = self.loss_curve_[-1], self.best_loss_
            assert known is not None
            self._solver.stalled = self._solver.stalled + 1 if last > known - self.tol else 0
            self.best_loss_ = min(last, known)
        if self.solver == "sgd" and self.learning_rate == "invscaling":
            self._solver.rate = self.learning_rate_init / (self.t_ + 1) ** self.power_t
        if self._solver.stalled <= self.n_iter_no_change:
            return False
        if (
            self.solver != "sgd"
            or self.learning_rate != "adaptive"
            or self._solver.rate <= LEAST_RATE
        ):
            return True
        self._solver.rate /= 5
        self._solver.stalled = 0
        return False

    def _state(self) -> dict[str, Any]:
        found = self._unpacked(self._parameters)
        parts = [("coefs", found["coefs_"]), ("intercepts", found["intercepts_"])]
        return {f"{name}_{i}": each for name, arrays in parts for i, each in enumerate(arrays)}

    def _attributes_now(self) -> dict[str, Any]:
        public = {k: v for k, v in self._public().items() if k != "history_"}
        lists = {k: list(v) for k, v in public.items() if isinstance(v, list)}
        return public | lists | self._unpacked(self._parameters)

    def _fit_at_once(self, data: Data) -> None:
        """L-BFGS over all rows, equal ones written once."""
        distinct = distinct_rows(data.rows, data.weight_array, data.y)
        dtype = self._parameters.flat.dtype
        rows = (
            distinct.rows.toarray() if sp.issparse(distinct.rows) else self._scaled(distinct.rows)
        )
        rows, target = rows.astype(dtype, copy=False), self._encoded(distinct.y, dtype)
        weights = distinct.weights.astype(dtype)
        penalty = L2(self.alpha)  # absolute weights have no gradient at zero
        trainer = Trainer(
            self._net,
            self._parameters,
            self._training_loss,
            Rule(),
            penalty=penalty,
            penalty_per_row=True,
            random_state=self._seed,
        )
        course = self._course("epoch", self.max_iter)
        steps = iter(course)
        flat, n = self._parameters.flat, self._net.n_parameters
        total = float(weights.sum())

        def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
            flat[:n] = x
            value, gradient = trainer.gradient(rows, target, weights, crew)
            value += trainer.add_penalty(gradient, total)
            return min(float(value), LARGEST), np.nan_to_num(gradient[:n].astype(np.float64))

        def told(intermediate_result: Any) -> None:
            flat[:n] = intermediate_result.x
            self._step_at_once(course, float(intermediate_result.fun))
            next(steps, None)

        next(steps)
        with Crew(self.n_jobs) as crew, np.errstate(all="ignore"):
            options = {"maxfun": self.max_fun, "maxiter": self.max_iter, "gtol": self.tol}
            found = minimize(
                objective,
                flat[:n].astype(np.float64),
                jac=True,
                method="L-BFGS-B",
                callback=told,
                options=options,
            )
        if np.isfinite(found.x).all():
            flat[:n] = found.x
        self._keep(self._unpacked(self._parameters))
        self.loss_ = float(found.fun)
        if not len(course.history):
            self._step_at_once(course, self.loss_, converged=True)
        elif course.history.stopped == "done":
            course.history.stopped = "converged" if found.success else "max_iter"
        self._finish(course, data, failed=False)

    def _step_at_once(self, course: Course, value: float, converged: bool = False) -> None:
        self.loss_ = value
        self.loss_curve_.append(value)
        self.best_loss_ = min(value, LARGEST if self.best_loss_ is None else self.best_loss_)
        self.n_iter_ = len(self.loss_curve_)
        if (
            course.end_step(value, converged, state=self._state, attributes=self._attributes_now)
            and not converged
        ):
            raise StopIteration

    def _finish(self, course: Course, data: Data, failed: bool) -> None:
        self.history_ = course.history
        self.n_iter_ = len(course.history)
        some = self._scaled(np.asarray(data.rows[:1000])) if not sp.issparse(data.rows) else None
        findings = [] if some is None else input_findings(some)
        findings += course_findings(self.loss_curve_, [], [])
        if some is not None:
            with np.errstate(all="ignore"):
                findings += unit_findings(self._net, self._parameters, some)
        if failed:
            course.history.stopped = "done"
            findings.append(
                f"training stopped in epoch {self.n_iter_}: the loss is not finite; the weights "
                "are those of the epoch before. Scale the inputs or decrease learning_rate_init"
            )
        self.findings_ = findings
        for each in findings:
            warnings.warn(each, GnomonWarning, stacklevel=6)
        del self._net, self._parameters, self._training_loss, self._seed

    def _more(self, data: Data) -> Any:
        """One epoch over more rows."""
        if self.early_stopping:
            raise ValueError("partial_fit does not support early_stopping=True")
        again = hasattr(self, "coefs_")
        self._prepare(data, again)
        epochs = self.n_iter_ if again else 0
        self._fit_batches(data, 1)
        self.n_iter_ = epochs + 1
        return self

    def _output(self, rows: Any) -> np.ndarray:
        """The output of the last layer for a block of rows."""
        rows = rows.toarray() if sp.issparse(rows) else self._scaled(rows)
        a = rows.astype(self.coefs_[0].dtype, copy=False)
        return self._passed(a)

    def _passed(self, a: np.ndarray) -> np.ndarray:
        activations = [*self._activations(), "identity"]
        for place, (weight, bias) in enumerate(zip(self.coefs_, self.intercepts_)):
            z = np.dot(a, weight) + bias
            if self.norms_ and place < len(self.norms_):
                gain, shift, mean, variance = self.norms_[place]
                z = (z - mean) / np.sqrt(variance + EPSILON) * gain + shift
            a = activation_of(activations[place]).value(z)
        return a

    def _check_loaded(self) -> None:
        if "coefs_" not in vars(self):
            return
        widths = [self.n_features_in_, *[each.shape[1] for each in self.coefs_]]
        if "encoder_" in vars(self) and self.encoder_ is not None:
            widths[0] = self.coefs_[0].shape[0]
        fits = len(self.coefs_) == len(self.intercepts_) == self.n_layers_ - 1
        for place, (weight, bias) in enumerate(zip(self.coefs_, self.intercepts_)):
            fits = fits and weight.shape == (widths[place], widths[place + 1])
            fits = fits and bias.shape == (widths[place + 1],)
        fits = fits and widths[-1] == self.n_outputs_
        fits = fits and len(self._activations()) == len(self.coefs_) - 1
        if self.column_mean_ is not None:
            fits = fits and len(self.column_mean_) == widths[0]
        if self.norms_:
            fits = fits and [each.shape[1] for each in self.norms_] == widths[1:-1]
            fits = fits and all((each[3] >= 0).all() for each in self.norms_)
        if not fits:
            raise DataError("the shapes of coefs_, intercepts_ and norms_ do not fit together")


class _FullMomentum(MomentumRule):
    """Momentum 1, which scikit-learn allows."""

    def __init__(self, nesterov: bool):
        super().__init__(0.0, nesterov)
        self.momentum = 1.0


@method(
    task="classify",
    texts="000c 17.1-17.2 · 001 6 · 002 named · 003 4.3 · 004 9",
    use="Many rows of numbers whose classes depend on mixtures of columns; labels side by side.",
    avoid="Few rows, or columns of mixed kinds: boosted trees are better and need less care.",
    peers=("sklearn.neural_network.MLPClassifier", "skorch.NeuralNetClassifier"),
    synonyms=("neural network", "multilayer perceptron", "feedforward network", "backpropagation"),
)
@without_effect("verbose")
@shared_parameters(MLP_PARAMETERS)
@shared_attributes(MLP_ATTRIBUTES)
class MLPClassifier(_MultilayerPerceptron, Classifier):
    """A network of dense layers for classes, trained by back-propagation.

    Minimises the mean log-loss plus alpha / (2 n) times the squared weights, n the rows of a batch.
    Use it where there are many rows of numbers, scaled to a like size. For few rows or columns of
    mixed kinds boosted trees are better.

    Parameters
    ----------
    epsilon : float, default=1e-8
        Of "adam".
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,) or list of ndarray
        The classes; of each column of a target of several columns.
    coefs_, intercepts_, norms_
    column_mean_, column_scale_ : ndarray of shape (n_columns,) or None
        What the columns of a table with other columns than numbers are standardised by.
    loss_, best_loss_, loss_curve_
    validation_scores_ : list of float or None
        Accuracy on the rows put aside, by epoch.
    best_validation_score_, t_, n_iter_, n_layers_, n_outputs_, out_activation_, findings_
    history_, n_features_in_

    See Also
    --------
    gnomon.neural.Network : Any other layers.

    Notes
    -----
    Texts: 000c 17.1-17.2, 001 6, 003 4.3, 004 9. Batches are cut from the rows in canonical order
    (`gnomon.neural.batches`), so that weights are repetitions; scikit-learn's batches differ. A
    table with other columns than numbers is standardised. A target of several columns may mix two
    classes and more; where all are 0 and 1, ``predict_proba`` gives one column each, as in
    scikit-learn.

    Examples
    --------
    >>> from gnomon.neural import MLPClassifier
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> net = MLPClassifier(8, solver="lbfgs", activation="tanh", random_state=0)
    >>> net.fit(X, ["no", "yes", "yes", "no"]).predict(X).tolist()
    ['no', 'yes', 'yes', 'no']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_MultilayerPerceptron._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        hidden_layer_sizes=(100,),
        activation="relu",
        *,
        solver="adam",
        alpha=0.0001,
        batch_size="auto",
        learning_rate="constant",
        learning_rate_init=0.001,
        power_t=0.5,
        max_iter=200,
        shuffle=True,
        random_state=None,
        tol=1e-4,
        verbose=False,
        warm_start=False,
        momentum=0.9,
        nesterovs_momentum=True,
        early_stopping=False,
        validation_fraction=0.1,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-8,
        n_iter_no_change=10,
        max_fun=15000,
        dropout=0.0,
        batch_norm=False,
        l1_ratio=0.0,
        max_norm=None,
        init="auto",
        dtype="auto",
        class_weight=None,
        n_jobs=None,
        keep_history="objective",
    ):
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.l1_ratio = l1_ratio
        self.max_norm = max_norm
        self.init = init
        self.dtype = dtype
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _outputs_each(self) -> list[int]:
        """Outputs of the network for each column of the target."""
        known = self.classes_ if isinstance(self.classes_, list) else [self.classes_]
        return [len(each) if len(each) > 2 else 1 for each in known]

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "coefs_" in vars(self) and sum(self._outputs_each()) != self.n_outputs_:
            raise DataError("classes_ and n_outputs_ do not fit together")

    def _loss_and_outputs(self, y: np.ndarray) -> tuple[Loss, int, str]:
        widths = self._outputs_each()
        if max(widths) == 1:
            return BinaryCrossEntropy(), len(widths), "logistic"
        if len(widths) == 1:
            return CrossEntropy(), widths[0], "softmax"
        parts: list[tuple[Loss, int]] = [
            (CrossEntropy() if width > 1 else BinaryCrossEntropy(), width) for width in widths
        ]
        return MixedLoss(parts), sum(widths), "mixed"

    def _encoded(self, y: np.ndarray, dtype: Any) -> np.ndarray:
        if self._outputs_each()[0] > 1 and y.ndim == 1:
            return y
        return y.reshape(len(y), -1).astype(dtype)

    def _validation_score(self, rows: Any, y: np.ndarray, weights: Any) -> float:
        best = self._most_probable(self._proba_of(self._passed(rows)))
        return float(accuracy_score(y, best, sample_weight=weights))

    def _proba(self, rows: Any) -> np.ndarray:
        return self._proba_of(self._output(rows))

    def _proba_of(self, output: np.ndarray) -> np.ndarray:
        """Probabilities of all classes of all columns side by side, in float64."""
        output = output.astype(np.float64, copy=False)
        known = self.classes_ if isinstance(self.classes_, list) else [self.classes_]
        parts, start = [], 0
        for classes, width in zip(known, self._outputs_each()):
            mine = output[:, start : start + width]
            start += width
            if len(classes) == 1:
                parts.append(np.ones((len(output), 1)))
            elif width == 1:
                second = BinaryCrossEntropy().link(mine)
                parts.append(np.hstack([1 - second, second]))
            else:
                parts.append(softmax(mine))
        return np.concatenate(parts, axis=1)

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class, for each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``. For a target of several columns of 0 and 1 the
            probability of 1 in each; for other such targets a list of arrays.
        """
        proba = super().predict_proba(X)
        if not isinstance(proba, list) or not all(
            each.dtype.kind in "iufb" and np.isin(each, (0, 1)).all() for each in self.classes_
        ):
            return proba
        ones = [
            each[:, -1] if classes[-1] == 1 else np.zeros(len(each))
            for each, classes in zip(proba, self.classes_)
        ]
        return np.stack(ones, axis=1)

    @available_if(_check_solver)
    @validated
    def partial_fit(self, X, y, sample_weight=None, classes=None):
        """Make one epoch over more rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        classes : array-like of shape (n_classes,), default=None
            All classes that may come; needed in the first call.

        Returns
        -------
        self : object
        """
        first = not hasattr(self, "coefs_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if first:
            data = intake.take_in(self, X, y, sample_weight)
            if not isinstance(self.classes_, list):
                data.source.y = intake.use_classes(self, data.source.y, np.unique(classes))
        else:
            if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise ValueError(
                    f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                    f"{self.classes_!r}"
                )
            data = intake.take_more(self, X, y, sample_weight)
        return self._more(data)


@method(
    task="regress",
    texts="000c 17.1-17.2 · 001 6 · 003 4.3 · 004 9",
    use="Many rows of numbers and a smooth target, of one column or several.",
    avoid="Few rows, or columns of mixed kinds: boosted trees are better and need less care.",
    peers=("sklearn.neural_network.MLPRegressor", "skorch.NeuralNetRegressor"),
    synonyms=("neural network", "multilayer perceptron", "feedforward network", "backpropagation"),
)
@without_effect("verbose")
@shared_parameters(MLP_PARAMETERS)
@shared_attributes(MLP_ATTRIBUTES)
class MLPRegressor(_MultilayerPerceptron, Regressor):
    """A network of dense layers for numbers, trained by back-propagation.

    Minimises half the mean squared error (or the Poisson deviance) plus alpha / (2 n) times the
    squared weights, n the rows of a batch. Use it where there are many rows of numbers, scaled to a
    like size. For few rows or columns of mixed kinds boosted trees are better.

    Parameters
    ----------
    loss : {"squared_error", "poisson"}, default="squared_error"
        Half the squared error, or the Poisson deviance with the exponential as last activation.
    epsilon : float, default=1e-8
        Of "adam".

    Attributes
    ----------
    coefs_, intercepts_, norms_
    column_mean_, column_scale_ : ndarray of shape (n_columns,) or None
        What the columns of a table with other columns than numbers are standardised by.
    loss_, best_loss_, loss_curve_
    validation_scores_ : list of float or None
        R2 on the rows put aside, by epoch.
    best_validation_score_, t_, n_iter_, n_layers_, n_outputs_, out_activation_, findings_
    history_, n_features_in_

    See Also
    --------
    gnomon.neural.Network : Any other layers.

    Notes
    -----
    Texts: 000c 17.1-17.2, 001 6, 003 4.3, 004 9. Batches are cut from the rows in canonical order
    (`gnomon.neural.batches`), so that weights are repetitions; scikit-learn's batches differ. A
    table with other columns than numbers is standardised.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import MLPRegressor
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> net = MLPRegressor(hidden_layer_sizes=10, solver="lbfgs", random_state=0)
    >>> net.fit(X, X[:, 0] ** 2).score(X, X[:, 0] ** 2) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "loss": [StrOptions({"squared_error", "poisson"})],
        **_MultilayerPerceptron._parameter_constraints,
    }

    def __init__(
        self,
        loss="squared_error",
        hidden_layer_sizes=(100,),
        activation="relu",
        *,
        solver="adam",
        alpha=0.0001,
        batch_size="auto",
        learning_rate="constant",
        learning_rate_init=0.001,
        power_t=0.5,
        max_iter=200,
        shuffle=True,
        random_state=None,
        tol=1e-4,
        verbose=False,
        warm_start=False,
        momentum=0.9,
        nesterovs_momentum=True,
        early_stopping=False,
        validation_fraction=0.1,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-8,
        n_iter_no_change=10,
        max_fun=15000,
        dropout=0.0,
        batch_norm=False,
        l1_ratio=0.0,
        max_norm=None,
        init="auto",
        dtype="auto",
        n_jobs=None,
        keep_history="objective",
    ):
        self.loss = loss
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.dropout = dropout
        self.batch_norm = batch_norm
        self.l1_ratio = l1_ratio
        self.max_norm = max_norm
        self.init = init
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _loss_and_outputs(self, y: np.ndarray) -> tuple[Loss, int, str]:
        n = 1 if y.ndim == 1 else y.shape[1]
        if self.loss == "poisson":
            return PoissonLoss(), n, "exp"
        return SquaredLoss(), n, "identity"

    def _prepare(self, data: Data, again: bool) -> None:
        if self.loss == "poisson" and (data.y < 0).any():
            raise ValueError("loss='poisson' needs targets y that are 0 or more")
        super()._prepare(data, again)

    def _encoded(self, y: np.ndarray, dtype: Any) -> np.ndarray:
        return y.reshape(len(y), -1).astype(dtype)

    def _validation_score(self, rows: Any, y: np.ndarray, weights: Any) -> float:
        found = self._linked(self._passed(rows)).reshape(y.shape)
        if not np.isfinite(found).all():
            return -LARGEST
        return float(r2_score(y, found, sample_weight=weights))

    def _linked(self, output: np.ndarray) -> np.ndarray:
        output = output.astype(np.float64, copy=False)
        return PoissonLoss().link(output) if self.out_activation_ == "exp" else output

    def _estimate(self, rows: Any) -> np.ndarray:
        found = self._linked(self._output(rows))
        return found[:, 0] if self.n_outputs_ == 1 else found

    @available_if(_check_solver)
    @validated
    def partial_fit(self, X, y, sample_weight=None):
        """Make one epoch over more rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        take = intake.take_more if hasattr(self, "coefs_") else intake.take_in
        return self._more(take(self, X, y, sample_weight))
