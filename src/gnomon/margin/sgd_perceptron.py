"""Perceptron as scikit-learn has it: stochastic gradient descent on max(0, -y (w . x + b)).

Rows are drawn from a canonical order, and whole weights are written out as repetitions, so that
neither the order of a table nor weight versus repetition changes the result. With
``shuffle=False`` rows are visited in the order given, with scikit-learn's result to the bit. Sparse
rows give what dense rows give: scikit-learn takes a hundredth of the intercept's steps there.

Texts: 001 3.2 · 002 L532-606.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn import linear_model
from sklearn.linear_model import _stochastic_gradient

from gnomon.contract.recorded import Recorded, Steps, replaced
from gnomon.contract.written_out import WrittenOut
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Flag, Number, Text, Whole


@method(
    task="classify",
    texts="001 3.2 · 002 L532-606",
    use="Very many rows or sparse ones, and a linear border; rows that arrive in batches.",
    avoid="Overlapping classes where the border must be the best one: LinearSVC.",
    peers=("sklearn.linear_model.Perceptron",),
    on="scikit-learn",
)
class Perceptron(Recorded, WrittenOut, linear_model.Perceptron):
    """Perceptron by stochastic gradient descent, with penalties, batches and early stopping.

    A row on the wrong side does w <- w + eta0 y x. Use it for very many or sparse rows; not where
    classes overlap and the best border is wanted. `PocketPerceptron` is the textbooks' form, which
    ends when all rows are right and keeps the plane of fewest errors.

    Attributes
    ----------
    history_ : History
        Sum over rows, and over classes if more than two, of max(0, -y (w . x + b)) after each
        pass, of the w and b of that pass (not their average).

    Examples
    --------
    >>> from gnomon.margin import Perceptron
    >>> model = Perceptron(random_state=0).fit([[0, 0], [1, 1], [5, 5], [6, 6]], [0, 0, 1, 1])
    >>> model.predict([[0, 0], [6, 6]]).tolist()
    [0, 1]
    """

    natively = Takes(sparse=True)
    _target = "classes"
    _largest = 1e20
    _transient = ("_loss_function_",)  # is made again from the parameters
    _stored = {
        "_expanded_class_weight": Array("f", ("n_classes",)),
        "average": Flag() | Whole(),
        "coef_": Array("f", (None, "n_columns")),
        "epsilon": Number(),
        "intercept_": Array("f", (None,)),
        "learning_rate": Text(),
        "loss": Text(),
        "power_t": Number(),
        "t_": Number(),
    }

    def _in_canonical_order(self, rows: Any, given: dict[str, Any]) -> bool:
        return self.shuffle

    def _fit_peer(self, fit: Any, rows: Any, given: dict[str, Any]) -> Any:
        with replaced(_stochastic_gradient, "make_dataset", with_whole_intercepts):
            return super()._fit_peer(fit, rows, given)

    @contextlib.contextmanager
    def _watched(self, steps: Steps) -> Iterator[None]:
        """Keep what every class against the others is learnt from, and the order of its rows."""
        self._passes: list[list[Pass]] = []
        spares: list[Spare] = []

        def make_dataset(original: Any, X: Any, y: Any, weights: Any, random_state: Any) -> Any:
            same_draws = copy.deepcopy(random_state)
            spare, _ = original(X, y, weights, random_state=same_draws)
            spares.append(Spare(X, y, weights, spare))
            return with_whole_intercepts(original, X, y, weights, random_state)

        def sgd_function(original: Any, input_dtype: Any) -> Callable[..., Any]:
            def sgd(*args: Any) -> Any:
                before = [np.array(each) for each in args[:4]]
                found = original(input_dtype)(*args)
                again = Again(spares.pop(), before, args, n_passes=found[-1])
                self._passes.append(again.passes(original(input_dtype)))
                return found

            return sgd

        module = _stochastic_gradient
        try:
            with (
                replaced(module, "make_dataset", make_dataset),
                replaced(module, "_get_plain_sgd_function", sgd_function),
            ):
                yield
        except BaseException:
            del self._passes
            raise

    def _made_again(self, steps: Steps, rows: Any, given: dict[str, Any]) -> None:
        """Each pass of all classes; a class that has ended stays as it is."""
        by_class = self.__dict__.pop("_passes")
        if not by_class:  # fitted on other threads, where nothing is seen of the passes
            signs = np.where(
                np.asarray(given["y"])[:, None] == self.classes_[-len(self.coef_) :], 1, -1
            )
            wrong = np.maximum(0, -signs * (rows @ self.coef_.T + self.intercept_))
            steps.report(wrong.sum(), {"coef": self.coef_, "intercept": self.intercept_})
        for number in range(max(map(len, by_class), default=0)):
            now = [passes[min(number, len(passes) - 1)] for passes in by_class]
            coef = np.stack([each.coef for each in now])
            intercept = np.array([each.intercept for each in now])
            attributes = {"coef_": coef, "intercept_": intercept, "classes_": self.classes_}
            loss = sum(each.loss for each in now)
            steps.report(loss, {"coef": coef, "intercept": intercept}, attributes)


def with_whole_intercepts(original: Any, *args: Any, **kwargs: Any) -> tuple[Any, float]:
    """scikit-learn's rows; the intercept takes whole steps, so that sparse rows are as dense ones.

    scikit-learn's takes a hundredth of a step for sparse rows.
    """
    return original(*args, **kwargs)[0], 1.0


class Pass(NamedTuple):
    """A plane after a pass over the rows, and its loss."""

    coef: np.ndarray
    intercept: float
    loss: float


class Spare(NamedTuple):
    """Rows, signs and weights of one class against the others, in the order of a fit's begin."""

    X: Any
    y: np.ndarray
    weights: np.ndarray
    dataset: Any


class Again(NamedTuple):
    """A fit that has ended, to be made again pass by pass."""

    spare: Spare
    before: list[np.ndarray]
    args: tuple[Any, ...]
    n_passes: int

    def passes(self, sgd: Callable[..., Any]) -> list[Pass]:
        """The planes after each pass.

        scikit-learn's code asks a function for a score after each pass where it stops early.
        """
        found: list[Pass] = []

        def score(coef: np.ndarray, intercept: float) -> float:
            found.append(self.judged(np.array(coef), float(intercept)))
            return float(len(found))

        early_stopping, patience, tol = True, self.n_passes + 1, -np.inf
        coef, intercept, average, average_intercept = self.before
        sgd(
            coef,
            float(intercept),
            None if self.args[2] is None else average,
            float(average_intercept),
            *self.args[4:8],
            self.spare.dataset,
            self.args[9],
            early_stopping,
            score,
            patience,
            self.n_passes,
            tol,
            *self.args[15:],
        )
        return found

    def judged(self, coef: np.ndarray, intercept: float) -> Pass:
        _, y, weights, _ = self.spare
        wrong = np.maximum(0, -y * (self.spare.X @ coef + intercept))
        return Pass(coef, intercept, float(wrong @ weights))
