"""Run scikit-learn's code unchanged, faster: ``python -m gnomon.accelerate script.py``.

`install` replaces some inner routines of scikit-learn by faster ones that compute the same: the
same iterations from the same first values and random draws, so that results agree to rounding
(where scikit-learn stops at a tolerance, it stops at the same step). A call that is not supported
or too small to gain runs in scikit-learn's own routine; `report` lists which calls ran where.

The classes themselves stay scikit-learn's. So estimators that were imported or made before
`install` are accelerated too, and pickles are plain scikit-learn: they load in any process. What
stays as it was: worker processes that joblib starts (``n_jobs=2`` with processes) run plain
scikit-learn, unless they call `install` themselves, and so do classes not in this table.

====================================================  ==========================================
accelerated                                           how
====================================================  ==========================================
KMeans, BisectingKMeans                               bounds on distances, from the same start
DBSCAN                                                boxes of rows (up to six columns)
AgglomerativeClustering, ward                         boxes of rows (up to six columns)
GaussianMixture, BayesianGaussianMixture              EM block by block, on threads
KNeighbors*, NearestNeighbors, LocalOutlierFactor     exact search; ties left to scikit-learn
KernelDensity (Gaussian)                              boxes of rows, relative error 1e-12
SVC, NuSVC, SVR, NuSVR, OneClassSVM                   kernel tables, predictions as products
LinearRegression                                      products of columns, refined
LogisticRegression(CV), Poisson-, Gamma-, Tweedie-    the loss in one pass, on threads
Lasso(CV), ElasticNet(CV), LogisticRegression(CV)     small products on one thread of BLAS
QuantileRegressor                                     the dual of few rows
GaussianNB                                            moments and densities block by block
RandomForest*, ExtraTrees*, RandomTreesEmbedding,     all processors, each tree as before
IsolationForest
Isomap, MDS                                           paths and stress in kernels
====================================================  ==========================================

Where scikit-learn is not imported yet, its imports of pandas and of SciPy's statistics, a third of
the time of ``import sklearn.ensemble``, are put off until something uses them.

Examples
--------
>>> import gnomon.accelerate
>>> import numpy as np
>>> from sklearn.linear_model import LinearRegression
>>> X = np.random.default_rng(0).normal(size=(20_000, 10))
>>> with gnomon.accelerate.install():
...     model = LinearRegression().fit(X, X[:, 0] - X[:, 1])
>>> gnomon.accelerate.report().calls["LinearRegression.fit"].accelerated
1
"""

from __future__ import annotations

import sys
from typing import Any

from gnomon.accelerate import limits, routes
from gnomon.accelerate.ledger import Report, report, reset
from gnomon.engine import late_imports

__all__ = ["Report", "install", "installed", "report", "reset", "uninstall"]

_watch = late_imports.Finder(routes.has_route, routes.install_in)


class Installed:
    """What `install` returns: in a ``with`` statement, scikit-learn is as before afterwards."""

    def __enter__(self) -> Installed:
        return self

    def __exit__(self, *error: Any) -> None:
        uninstall()


def install(*, always: bool = False) -> Installed:
    """Accelerate scikit-learn in this process.

    Parameters
    ----------
    always : bool, default=False
        Whether calls are accelerated that are too small to gain. For tests.

    Returns
    -------
    installed : Installed
        For a ``with`` statement, which ends with `uninstall`.

    See Also
    --------
    report : Which calls were accelerated.
    """
    from gnomon.accelerate import (  # noqa: F401  they declare their routes
        bayes,
        cluster,
        linear,
        manifold,
        mixture,
        neighbors,
        svm,
        tree_builder,
        trees,
    )

    limits.set_always(always)
    if _watch not in sys.meta_path:
        sys.meta_path.insert(0, _watch)
    for name in {route.module for route in routes.ROUTES}:
        if name in sys.modules:
            routes.install_in(sys.modules[name])
    return Installed()


def uninstall() -> None:
    """Put scikit-learn's own routines back."""
    if _watch in sys.meta_path:
        sys.meta_path.remove(_watch)
    for route in routes.ROUTES:
        route.uninstall()


def installed() -> bool:
    """Whether scikit-learn is accelerated now."""
    return _watch in sys.meta_path


def load_ipython_extension(ipython: Any) -> None:
    """``%load_ext gnomon.accelerate``."""
    install()


def unload_ipython_extension(ipython: Any) -> None:
    """``%unload_ext gnomon.accelerate``."""
    uninstall()
