"""A Gaussian mixture with priors: components that the rows do not need get no weight.

    pi ~ Dirichlet(process),    (m_k, S_k) ~ normal-Wishart,    x | k ~ N(m_k, S_k)

The posterior is approximated by a product of one factor for the components and one for the rows
(variational inference); each step raises a lower bound on the evidence. ``n_components`` is an
upper bound, as weights of components without rows go to zero. scikit-learn's own class, which takes
any table here; `GaussianMixture` is the maximum-likelihood fit, with criteria to choose a number.

Texts: 000b 9.1-9.2 · 001 18.3 (mixtures and EM); the bound is that of Attias, and of Blei and
Jordan.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn import mixture

from gnomon.contract.recorded import Recorded, Steps
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Flag, ListOf, Number, Shape, TupleOf


@method(
    task="group",
    texts="000b 9.1-9.2 · 001 18.3",
    use="Overlapping groups of elliptic shape whose number is not known, only an upper bound.",
    avoid="Very many rows (GaussianMixture is faster), or groups of other shapes (HDBSCAN).",
    peers=("sklearn.mixture.BayesianGaussianMixture",),
    on="scikit-learn",
    synonyms=("variational inference", "Dirichlet process", "dpgmm", "stick breaking"),
)
class BayesianGaussianMixture(Recorded, mixture.BayesianGaussianMixture):
    """A Gaussian mixture that finds by itself how many of its components the rows need.

    Use it for overlapping groups of elliptic shape where only an upper bound of their number is
    known; not for very many rows, for which `GaussianMixture` is faster, nor for groups of other
    shapes.

    Attributes
    ----------
    history_ : History
        Minus the lower bound on the logarithm of the evidence, after each step of each start.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.density import BayesianGaussianMixture
    >>> rows = np.random.default_rng(0).normal(size=(100, 1)) + 9 * (np.arange(100)[:, None] % 2)
    >>> model = BayesianGaussianMixture(n_components=5, random_state=0, max_iter=500).fit(rows)
    >>> int((model.weights_ > 0.1).sum())
    2
    """

    _PER_COMPONENT = Array("f", ("n_components",), low=0.0)
    _FORMS: ClassVar[list[Shape]] = [
        ("n_components", "n_columns", "n_columns"),
        ("n_columns", "n_columns"),
        ("n_components", "n_columns"),
        ("n_components",),
    ]
    _BOUND = Number() | Array("f", (1,))  # an array with covariance_type="tied"
    _PRIOR: ClassVar[list[Shape]] = [("n_columns", "n_columns"), ("n_columns",), ()]
    _stored = {
        "weights_": _PER_COMPONENT,
        "means_": Array("f", ("n_components", "n_columns")),
        "covariances_": Array("f", _FORMS),
        "precisions_": Array("f", _FORMS),
        "precisions_cholesky_": Array("f", _FORMS),
        "weight_concentration_": TupleOf((_PER_COMPONENT, _PER_COMPONENT)) | _PER_COMPONENT,
        "weight_concentration_prior_": Number(0.0),
        "mean_precision_": _PER_COMPONENT,
        "mean_precision_prior_": Number(0.0),
        "mean_prior_": Array("f", ("n_columns",)),
        "degrees_of_freedom_": _PER_COMPONENT | Number(0.0),
        "degrees_of_freedom_prior_": Number(0.0),
        "covariance_prior_": Array("f", _PRIOR) | Number(0.0),
        "converged_": Flag(),
        "lower_bound_": _BOUND,
        "lower_bounds_": ListOf(_BOUND),
    }
    _steps: Steps | None = None  # while they are watched

    @contextlib.contextmanager
    def _watched(self, steps: Steps) -> Iterator[None]:
        self._steps, self._bound = steps, np.nan
        try:
            yield
        finally:
            del self._steps, self._bound

    def _compute_lower_bound(self, *args: Any, **kwargs: Any) -> Any:
        bound = super()._compute_lower_bound(*args, **kwargs)
        if self._steps is not None:
            self._bound = bound
        return bound

    def _print_verbose_msg_iter_end(self, n_iter: int, change: float) -> None:
        """scikit-learn calls this after each iteration."""
        super()._print_verbose_msg_iter_end(n_iter, change)
        if self._steps is None:
            return
        reached = object.__new__(type(self))
        vars(reached).update(vars(self))
        reached._set_parameters(reached._get_parameters())
        state = {"means": self.means_, "covariances": self.covariances_}
        self._steps.report(-np.asarray(self._bound).item(), state, reached._public(), n_iter)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        table = n_rows * (3 * n_columns + 5 * self.n_components)
        return 8 * (table + 6 * self.n_components * n_columns**2)
