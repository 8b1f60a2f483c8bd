"""Plug-in Bayes classifier: any density per class, the prior of the classes, Bayes' rule.

    p(class | x)  is proportional to  p(class) p(x | class)

with p(x | class) from a density estimator fitted on the rows of the class alone. Optimal where the
densities are the true ones; in logarithms, so that nothing underflows.

Texts: 002 "Bayes classifier" (L316-339) · 004 3.1 · 000a 1.3, 13.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from gnomon.bayes.priors import class_priors
from gnomon.bayes.rule import checked_costs
from gnomon.bayes.scores import BayesClassifier
from gnomon.contract import Data
from gnomon.density.gaussian_mixture import GaussianMixture
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import forecast_of
from gnomon.engine.parameters import SEED, HasMethods, StrOptions
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Object


@method(
    task="classify",
    texts='002 "Bayes classifier" · 004 3.1',
    use="Classes whose densities are known in form (mixtures, kernels), unequal costs or priors.",
    avoid="Many columns: a density is harder to learn than a boundary.",
    peers=("sklearn.mixture.GaussianMixture", "sklearn.neighbors.KernelDensity"),
)
class GenerativeClassifier(BayesClassifier):
    """Any density per class, and Bayes' rule: decide by the largest p(class) p(x | class).

    Use it where the density of each class has a form that you know or can estimate: a mixture
    (`gnomon.density.GaussianMixture`), a kernel estimate (`gnomon.density.KernelDensity`). Do not
    use it with many columns: a density is harder to learn than a boundary, and what it learns of
    the bulk of a class does not decide.

    Parameters
    ----------
    density : estimator or None, default=None
        A density estimator of any library: ``fit(X)`` and ``score_samples(X)``, the log density;
        cloned for each class. None for one normal per class.
    priors : None, "uniform" or array-like of shape (n_classes,), default=None
        Probabilities of the classes; None for their shares among the rows.
    costs : array-like of shape (n_classes, n_classes) or None, default=None
        costs[i, j]: cost of deciding j where i is true; ``predict`` then decides by the least
        expected cost. None for equal costs.
    random_state : int, RandomState, Generator or None, default=None
        Given to densities that have such a parameter and were given none.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the training rows of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Probability of each class.
    costs_ : ndarray of shape (n_classes, n_classes)
        Costs of decisions.
    densities_ : list
        The fitted density of each class.
    encoder_ : TableEncoder
        How the columns of a table became numbers; only after fitting on a table.
    target_name_ : str
        The target's column; only where it was given by name.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names; only where they have names.

    Notes
    -----
    Texts: 002 "Bayes classifier", 004 3.1. A row of density zero in every class (a window estimate
    far from all rows) gets the priors as its probabilities. Ties go to the class that sorts first.

    Examples
    --------
    >>> from gnomon.bayes import GenerativeClassifier
    >>> from gnomon.density import GaussianMixture
    >>> rows = [[0.0], [0.3], [9.0], [9.2], [4.0], [4.5], [5.0], [4.2]]
    >>> model = GenerativeClassifier(GaussianMixture(2, reg_covar=0.1), random_state=0)
    >>> model.fit(rows, list("aaaabbbb")).predict([[0.1], [8.9], [4.6]])
    array(['a', 'a', 'b'], dtype='<U1')
    """

    _parameter_constraints = {
        "density": [HasMethods(["fit", "score_samples"]), None],
        "priors": ["array-like", StrOptions({"uniform"}), None],
        "costs": ["array-like", None],
        "random_state": SEED,
    }
    _stored = {
        "class_count_": Array("if", ("n_classes",), low=0),
        "class_prior_": Array("f8", ("n_classes",), low=0.0),
        "costs_": Array("f8", ("n_classes", "n_classes"), low=0.0),
        "densities_": ListOf(Object(), "n_classes"),
    }

    def __init__(self, density=None, *, priors=None, costs=None, random_state=None):
        self.density = density
        self.priors = priors
        self.costs = costs
        self.random_state = random_state

    def _fit(self, data: Data) -> None:
        if data.n_rows == 0:
            raise DataError("no row has a weight above zero; there is nothing to learn from")
        n_classes = len(self.classes_)
        rows, y, weights = data.rows, data.y, data.weights
        self.class_count_ = np.bincount(y, weights, minlength=n_classes)
        self.class_prior_ = class_priors(self.priors, self.class_count_)
        self.costs_ = checked_costs(self.costs, n_classes)
        if self.costs_.shape[1] != n_classes:
            raise DataError(f"costs needs {n_classes} columns, one per class to decide for")
        rng = self._rng()
        seeds = rng.integers(2**31 - 1, size=n_classes).tolist()
        self.densities_ = [
            self._fitted(
                code, seed, rows[y == code], None if weights is None else weights[y == code]
            )
            for code, seed in enumerate(seeds)
        ]

    def _template(self) -> Any:
        return GaussianMixture() if self.density is None else self.density

    def _fitted(self, code: int, seed: int, rows: np.ndarray, weights: np.ndarray | None) -> Any:
        density = clone(self._template())
        if density.get_params().get("random_state", seed) is None:
            density.set_params(random_state=seed)
        given = {}
        if weights is not None:
            if not has_fit_parameter(density, "sample_weight"):
                raise DataError(
                    f"{type(density).__name__}.fit takes no sample_weight; choose a density that "
                    "does, or fit without weights"
                )
            given = {"sample_weight": weights}
        try:
            return density.fit(np.ascontiguousarray(rows), **given)
        except ValueError as error:
            raise DataError(
                f"the density of class {self.classes_[code]!r} ({len(rows):,} rows) cannot be "
                f"fitted: {error}"
            ) from error

    def _scores(self, rows: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            priors = np.log(self.class_prior_)
        said = [np.asarray(density.score_samples(rows)) for density in self.densities_]
        joint = priors + np.column_stack(said)
        joint[(joint == -np.inf).all(axis=1)] = priors
        return joint

    def predict(self, X) -> np.ndarray:
        """The class of the least expected cost, for each row: the most probable for equal costs.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        best = self._each_block(self._decision, X)
        return self.classes_[best]

    def _decision(self, rows: np.ndarray) -> np.ndarray:
        if self.costs is None:
            return self._scores(rows).argmax(axis=1)
        return (self._proba(rows) @ self.costs_).argmin(axis=1)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        density = self._template()
        return forecast_of(density, n_rows, n_columns) + 8 * n_rows * (n_columns + 4)

    def _memory_remedy(self) -> str:
        return "Choose a density of less memory, or use fewer rows."
