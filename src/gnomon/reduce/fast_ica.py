"""FastICA under scikit-learn's name: directions in which the rows are least normal.

    x = A s,  the entries of s independent;  s = W (x - m),  W by fixed points of E[x g(w'x)]

scikit-learn's own class, which takes any table here; `ICA` records its steps and takes weights.

Texts: 001 17.3 (the idea).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import decomposition
from sklearn.decomposition import _fastica
from sklearn.exceptions import ConvergenceWarning

from gnomon.contract.over_scikit_learn import OverScikitLearn, quietly
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.history import Course
from gnomon.engine.parameters import HISTORY
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.engine.threads import blas_for

CONTRASTS = {"logcosh": _fastica._logcosh, "exp": _fastica._exp, "cube": _fastica._cube}
NORMAL_KURTOSIS = 3.0  # fourth moment of a standard normal
# Share of the greatest squared singular value, far above the rounding of products.
CLEARLY_FULL = 1e-9
NO_SOURCES = "columns are constant or depend on each other. Leave such columns out"


@method(
    task="reduce",
    texts="001 17.3",
    use="Signals that are sums of independent sources, to be parted.",
    avoid="Sources that are about normal, or more sources than columns.",
    peers=("sklearn.decomposition.FastICA",),
    on="scikit-learn",
)
class FastICA(OverScikitLearn, decomposition.FastICA):
    """Independent components by fixed-point iterations.

    Use it to part signals that are sums of independent sources; not where sources are about
    normal, which cannot be told apart. `ICA` takes weights and streams.

    Parameters
    ----------
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` also keeps the components after each step.

    Attributes
    ----------
    history_ : History
        Minus the sum of the sources' absolute excess kurtosis, after each step; with
        ``algorithm="deflation"``, of the source that the step is about.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import FastICA
    >>> sources = np.random.default_rng(0).uniform(size=(200, 2))
    >>> FastICA(random_state=0).fit_transform(sources @ np.array([[1, 1], [0, 1]])).shape
    (200, 2)
    """

    _stored = {
        "_unmixing": Array("f", ("n_unmixing", "n_unmixing")),
        "components_": Array("f", ("n_unmixing", "n_columns")),
        "mean_": Array("f", ("n_columns",)),
        "mixing_": Array("f", ("n_columns", "n_unmixing")),
        "whitening_": Array("f", ("n_unmixing", "n_columns")),
    }
    _parameter_constraints = {"keep_history": HISTORY}

    def __init__(
        self,
        n_components=None,
        *,
        algorithm="parallel",
        whiten="unit-variance",
        fun="logcosh",
        fun_args=None,
        max_iter=200,
        tol=1e-4,
        w_init=None,
        whiten_solver="svd",
        random_state=None,
        keep_history="objective",
    ):
        super().__init__(
            n_components,
            algorithm=algorithm,
            whiten=whiten,
            fun=fun,
            fun_args=fun_args,
            max_iter=max_iter,
            tol=tol,
            w_init=w_init,
            whiten_solver=whiten_solver,
            random_state=random_state,
        )
        self.keep_history = keep_history

    def _fit_peer(self, fit, rows, given):
        with blas_for(min(np.shape(rows), default=0)):
            return self._fit_rows(fit, rows, given)

    def _fit_rows(self, fit, rows, given):
        if isinstance(rows, np.ndarray) and rows.dtype == np.float32:
            return self._fit_singles(fit, rows, given)
        rank = rank_of(rows) if self.whiten else None
        if rank is not None and 0 < rank < self._n_asked(rows):
            return self._fit_fewer(rank, fit, rows, given)
        drawn_from = copy.deepcopy(self.random_state)
        try:
            result, history = self._watched(fit, rows, given)
        except StoppedError as stopped:
            history = stopped.history
            changed = {"max_iter": len(history), "random_state": drawn_from}
            result = self._changed(changed, fit, rows, given)
        except (ValueError, np.linalg.LinAlgError) as error:
            if rank == 0:
                raise DataError(f"FastICA needs rows that differ: {NO_SOURCES}") from None
            if rank is not None and ("NaN" in str(error) or "converge" in str(error)):
                raise DataError(f"FastICA finds no finite components: {NO_SOURCES}") from None
            raise
        self.history_ = history
        return result

    def _fit_singles(self, fit, rows, given):
        """Fit float32 rows in float64, as steps in float32 end elsewhere; keep float32."""
        result = self._fit_rows(fit, rows.astype(np.float64), given)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray) and value.dtype == np.float64:
                setattr(self, name, value.astype(np.float32))
        is_array = isinstance(result, np.ndarray)
        return result.astype(np.float32) if is_array else result

    def _n_asked(self, rows: np.ndarray) -> int:
        """Components that the parameters ask for."""
        most = min(rows.shape)
        return most if self.n_components is None else min(self.n_components, most)

    def _fit_fewer(self, rank, fit, rows, given):
        """Fit as many components as there are directions; more would be made of rounding errors."""
        asked, self.n_components = self.n_components, rank
        try:
            result = self._fit_rows(fit, rows, given)
        finally:
            self.n_components = asked
        warnings.warn(
            f"the rows vary in {rank} directions only: there are as many components",
            GnomonWarning,
            stacklevel=2,
        )
        return result

    def _changed(self, changed: dict[str, Any], call: Callable[..., Any], *args: Any) -> Any:
        """The call, with other parameters meanwhile."""
        asked = {name: getattr(self, name) for name in changed}
        vars(self).update(changed)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                return call(*args[:-1], **args[-1])
        finally:
            vars(self).update(asked)

    def _watched(self, fit, rows, given):
        """scikit-learn's fit, whose contrast function sees the sources of every step."""
        steps = Steps(self, rows)
        asked, self.fun = self.fun, steps
        try:
            result = fit(rows, **given)
        finally:
            self.fun = asked
        if not np.isfinite(self.components_).all():
            raise DataError(f"FastICA finds no finite components: {NO_SOURCES}")
        steps.end_last()
        history = steps.course.history
        if history.stopped != "callback":
            history.stopped = "converged" if self.n_iter_ < self.max_iter else "max_iter"
        return result, history

    def _most_steps(self) -> Any:
        """Unknown where one component is found after the other."""
        return self.max_iter if self.algorithm == "parallel" else None

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (7 * n_rows * n_columns + 8 * n_columns**2 + 8 * n_rows)


class StoppedError(Exception):
    """A callback requested a stop."""

    def __init__(self, history):
        super().__init__("a callback requested a stop")
        self.history = history


class Steps:
    """The contrast function of a fit, which is called once in every step, with the sources so far.

    The sources that a step begins with are those that the step before ended with.
    """

    def __init__(self, ica: FastICA, rows: np.ndarray) -> None:
        self.ica, self.rows = ica, rows
        self.asked = ica.fun
        most = ica.max_iter * (1 if ica.algorithm == "parallel" else min(rows.shape))
        full = ica.keep_history == "full"
        self.course = Course(ica, ica._during[0], "step", most, full, ica._given)
        self.running = iter(self.course)
        self.begun = False

    def __call__(self, sources: np.ndarray, **fun_args: Any) -> Any:
        if self.begun and self._end(sources):
            raise StoppedError(self.course.history)
        next(self.running)
        self.begun = True
        if isinstance(self.asked, str):
            return CONTRASTS[self.asked](sources, fun_args)
        return self.asked(sources, **fun_args)

    def _end(self, sources: np.ndarray) -> bool:
        """End a step; True where a callback requests a stop."""
        squares = np.atleast_2d(sources) ** 2
        kurtosis = np.einsum("ij,ij->i", squares, squares) / squares.shape[1]
        objective = -np.abs(kurtosis - NORMAL_KURTOSIS).sum()
        attributes = None
        if sources.ndim == 2 and (self.course.keep_states or "_skl_callbacks" in vars(self.ica)):
            attributes = self._attributes(sources)
        with self.ica._outside_fit(fun=self.asked) as of_table:
            return self.course.end_step(
                objective,
                state=lambda: attributes or {"source": sources.copy()},
                attributes=None if attributes is None else lambda: attributes | of_table,
            )

    def end_last(self) -> None:
        """End the last step, by the components that were fitted."""
        ica = self.ica
        final = (self.rows - getattr(ica, "mean_", 0.0)) @ ica.components_.T
        if ica.whiten:
            final = final / final.std(axis=0)
        stopped = self._end(final.T)
        if stopped:
            self.course.history.stopped = "callback"

    def _attributes(self, sources: np.ndarray) -> dict[str, np.ndarray]:
        """What is fitted of a step, from its sources: of variance one if whitened."""
        n = len(self.rows)
        found: dict[str, np.ndarray] = {}
        if self.ica.whiten:
            found["mean_"] = self.rows.mean(axis=0)
            scale = sources.std(axis=1, keepdims=True)
            sources = sources / (scale if self.ica.whiten == "unit-variance" else np.sqrt(n))
        centered = self.rows - found.get("mean_", 0.0)
        components = np.linalg.lstsq(centered, sources.T, rcond=None)[0].T
        return found | {"components_": components, "mixing_": np.linalg.pinv(components)}


def rank_of(rows: Any) -> int | None:
    """In how many directions rows vary; None where they are not several rows of finite numbers."""
    is_matrix = isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.size > rows.shape[1]
    if not is_matrix or not np.isfinite(rows).all():
        return None
    with quietly():
        centered = rows - rows.mean(axis=0)
        tall = centered if len(rows) >= rows.shape[1] else centered.T
        # products show a rank that is clearly full, in a fraction of the time
        squares = np.linalg.eigvalsh(np.dot(tall.T, tall))
        if squares[0] > CLEARLY_FULL * squares[-1]:
            return len(squares)
        # the triangle has the singular values of all rows, for a fraction of the time
        values = np.linalg.svd(np.linalg.qr(tall, mode="r"), compute_uv=False)
        return int(np.sum(values > values[0] * len(tall) * np.finfo(values.dtype).eps))
