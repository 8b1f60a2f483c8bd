"""Linear and quadratic discriminant analysis: a normal distribution in each class.

    score_c(x) = log pi_c - 1/2 log |S_c| - 1/2 (x - mu_c)' S_c^-1 (x - mu_c)

With one covariance S for all classes the borders are straight (linear), with one for each class
they are quadrics. scikit-learn's own classes, which take any table here. `GaussianClassifier`
has weights, diagonal and shared covariances; `FisherDiscriminant` streams.

Texts: 000 4.3 · 001 4.3 · 004 9.2.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn import discriminant_analysis
from sklearn.utils.metaestimators import available_if

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Optional, Whole

TEXTS = "000 4.3 · 001 4.3 · 004 9.2"


@method(
    task="classify",
    texts=TEXTS,
    use="Classes of like shape, straight borders, or a map of labelled rows to few columns.",
    avoid="Classes of unlike covariance (QuadraticDiscriminantAnalysis).",
    peers=("sklearn.discriminant_analysis.LinearDiscriminantAnalysis",),
    on="scikit-learn",
)
class LinearDiscriminantAnalysis(OverScikitLearn, discriminant_analysis.LinearDiscriminantAnalysis):
    """Linear discriminant analysis: normal classes with one common covariance.

    Use it to classify by straight borders, or to map labelled rows to the few directions that part
    the classes; not where classes have unlike covariances.

    Examples
    --------
    >>> from gnomon.bayes import LinearDiscriminantAnalysis
    >>> X = [[0, 0], [1, 1], [0, 1], [4, 4], [5, 5], [4, 5]]
    >>> LinearDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1]).predict([[4, 3]])
    array([1])
    """

    _copies = 4.0
    _squares = 3.0
    _target = "classes"
    _stored = {
        "_max_components": Optional(Whole()),
        "_n_features_out": Optional(Whole(1)),
        "coef_": Array("f", ("n_coef", "n_columns")),
        "covariance_": Optional(Array("f", ("n_columns", "n_columns"))),
        "explained_variance_ratio_": Optional(Array("f", (None,))),
        "intercept_": Array("f", ("n_coef",)),
        "means_": Array("f", ("n_classes", "n_columns")),
        "priors_": Array("f", ("n_classes",), low=0.0),
        "scalings_": Optional(Array("f", ("n_columns", None))),
        "xbar_": Optional(Array("f", ("n_columns",))),
    }


LinearDiscriminantAnalysis.transform = available_if(lambda lda: lda.solver != "lsqr")(  # type: ignore[method-assign]
    LinearDiscriminantAnalysis.transform
)


@method(
    task="classify",
    texts=TEXTS,
    use="Classes that are about normal, each with a covariance of its own.",
    avoid="More columns than rows per class, unless reg_param > 0.",
    peers=("sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis",),
    on="scikit-learn",
)
class QuadraticDiscriminantAnalysis(
    OverScikitLearn, discriminant_analysis.QuadraticDiscriminantAnalysis
):
    """Quadratic discriminant analysis: normal classes, each with its own covariance.

    Use it where classes differ in shape; not with more columns than rows in a class. Where columns
    depend on each other within a class, the least ``reg_param`` that suffices is used, and a
    warning says so.

    Examples
    --------
    >>> from gnomon.bayes import QuadraticDiscriminantAnalysis
    >>> X = [[0, 0], [1, 2], [2, 1], [5, 4], [6, 7], [8, 6]]
    >>> QuadraticDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1]).predict([[6, 5]])
    array([1])
    """

    _target = "classes"
    _stored = {
        "means_": Array("f", ("n_classes", "n_columns")),
        "priors_": Array("f8", ("n_classes",), low=0.0),
        "covariance_": Optional(ListOf(Array("f", ("n_columns", "n_columns")), "n_classes")),
        "rotations_": ListOf(Array("f", ("n_columns", None)), "n_classes"),
        "scalings_": ListOf(Array("f", (None,)), "n_classes"),
    }

    def _fit_peer(self, fit, rows, given):
        """Fit; where columns depend on each other within a class, with the least ``reg_param``.

        scikit-learn's class refuses variances below ``tol``, which twice that much lifts above it.
        """
        try:
            return super()._fit_peer(fit, rows, given)
        except np.linalg.LinAlgError:
            asked, least = self.reg_param, min(2 * self.tol, 1.0)
            if self.solver != "svd" or asked >= least:
                raise
        try:
            self.reg_param = least
            result = super()._fit_peer(fit, rows, given)
        finally:
            self.reg_param = asked
        warnings.warn(
            "columns are constant or depend on each other within a class: fitted with "
            f"reg_param={least:g} in place of {asked:g}",
            GnomonWarning,
            stacklevel=2,
        )
        return result
