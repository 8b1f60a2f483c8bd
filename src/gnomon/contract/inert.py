"""Parameters of scikit-learn's that are accepted and validated, but change nothing in gnomon.

A class that bears a scikit-learn name has all of its parameters, so that existing code runs as it
is. Some only choose an implementation that gnomon does not have (``solver``, ``leaf_size``), or
switch a behaviour that gnomon does not need (``copy_X``). They are declared by name with
`without_effect`; what they accept and what the docstring says of them stands once, in `INERT`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar

from sklearn.utils._param_validation import Interval, StrOptions

from gnomon.contract.docstrings import stated, with_entries

Class = TypeVar("Class", bound=type)

NEIGHBOR_SEARCH = {"auto", "ball_tree", "brute", "kd_tree"}
WIDTH = 100  # of a line of the docstring


class Inert(NamedTuple):
    """A parameter without effect.

    Attributes
    ----------
    accepts : list
        The constraints by which scikit-learn validates it.
    kind : str
        Its type, as the docstring gives it.
    because : str
        Why it changes nothing; completes the sentence "Has no effect here: ...".
    """

    accepts: list[Any]
    kind: str
    because: str


def _choice(words: set[str], because: str, *more: Any) -> Inert:
    listed = "{" + ", ".join(f'"{word}"' for word in sorted(words)) + "}"
    others = [
        "None" if each is None else "int" if getattr(each, "type", None) is Integral else "float"
        for each in more
    ]
    return Inert([StrOptions(words), *more], " or ".join([listed, *others]), because)


def _flag(because: str) -> Inert:
    return Inert(["boolean"], "bool", because)


def _number(kind: type, low: float, closed: str, because: str, *more: None) -> Inert:
    words = "int" if kind is Integral else "float"
    accepts = [Interval(kind, low, None, closed=closed), *more]
    return Inert(accepts, f"{words} or None" if more else words, because)


_UNCHANGED = "the data that are given are never changed"
_EXACT_SEARCH = "the search is exact, and its method is chosen by the shape of the data"
_ONE_SOLVER = "the solver is chosen by the shape of the data"
_DIRECT = "the solution is computed directly, without iterations"
_EIGEN = "the eigensolver is chosen by the shape of the data"
_NO_DRAWS = "no random numbers are drawn"

# By parameter, or by "Class.parameter" where classes differ in what they accept.
INERT: dict[str, Inert] = {
    "algorithm": _choice(NEIGHBOR_SEARCH, _EXACT_SEARCH),
    "KernelDensity.algorithm": _choice(NEIGHBOR_SEARCH - {"brute"}, _EXACT_SEARCH),
    "KMeans.algorithm": _choice(
        {"elkan", "lloyd"}, "the bounds on distances are chosen by the shape of the data"
    ),
    "BisectingKMeans.algorithm": _choice(
        {"elkan", "lloyd"}, "the bounds on distances are chosen by the shape of the data"
    ),
    "TruncatedSVD.algorithm": _choice({"arpack", "randomized"}, _ONE_SOLVER),
    "PLSCanonical.algorithm": _choice({"nipals", "svd"}, _ONE_SOLVER),
    "atol": _number(Real, 0, "left", "densities are computed exactly"),
    "rtol": _number(Real, 0, "left", "densities are computed exactly"),
    "breadth_first": _flag("no tree is traversed"),
    "cache_size": _number(Real, 0, "neither", "the memory limit of gnomon decides"),
    "copy": _flag(_UNCHANGED),
    "copy_X": _flag(_UNCHANGED),
    "copy_x": _flag(_UNCHANGED),
    "dual": _flag(_ONE_SOLVER),
    "LinearSVC.dual": Inert(["boolean", StrOptions({"auto"})], 'bool or "auto"', _ONE_SOLVER),
    "LinearSVR.dual": Inert(["boolean", StrOptions({"auto"})], 'bool or "auto"', _ONE_SOLVER),
    "eigen_solver": _choice({"arpack", "auto", "dense"}, _EIGEN),
    "KernelPCA.eigen_solver": _choice({"arpack", "auto", "dense", "randomized"}, _EIGEN),
    "SpectralEmbedding.eigen_solver": _choice({"amg", "arpack", "lobpcg"}, _EIGEN, None),
    "SpectralClustering.eigen_solver": _choice({"amg", "arpack", "lobpcg"}, _EIGEN, None),
    "eigen_tol": Inert(
        [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        'float or "auto"',
        "eigenvectors are computed to machine precision",
    ),
    "intercept_scaling": _number(Real, 0, "neither", "the intercept is not penalized"),
    "iterated_power": _choice(
        {"auto"}, "no randomized solver is used", Interval(Integral, 0, None, closed="left")
    ),
    "FactorAnalysis.iterated_power": _number(Integral, 0, "left", "no randomized solver is used"),
    "leaf_size": _number(Integral, 1, "left", "results do not depend on it in any library"),
    "max_iter": _number(Integral, 1, "left", _DIRECT, None),
    "LocallyLinearEmbedding.max_iter": _number(Integral, 1, "left", _DIRECT),
    "n_jobs": Inert([None, Integral], "int or None", "the work is too small to share"),
    "n_oversamples": _number(Integral, 1, "left", "no randomized solver is used"),
    "neighbors_algorithm": _choice(NEIGHBOR_SEARCH, _EXACT_SEARCH),
    "order": _choice({"C", "F"}, "rows are stored in C order"),
    "path_method": _choice({"D", "FW", "auto"}, "the shortest paths are the same by any method"),
    "power_iteration_normalizer": _choice(
        {"LU", "QR", "auto", "none"}, "no randomized solver is used"
    ),
    "precompute": Inert(
        ["boolean", "array-like"],
        "bool or array-like of shape (n_features, n_features)",
        "whether to use the Gram matrix is decided by the shape of the data",
    ),
    "random_state": Inert(["random_state"], "int, RandomState instance or None", _NO_DRAWS),
    "selection": _choice({"cyclic", "random"}, "the order of the updates is chosen by the solver"),
    "shrinking": _flag("the solver decides when to shrink; the solution is the same"),
    "LinearDiscriminantAnalysis.solver": _choice({"eigen", "lsqr", "svd"}, _ONE_SOLVER),
    "LogisticRegression.solver": _choice(
        {"lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"}, _ONE_SOLVER
    ),
    "LogisticRegressionCV.solver": _choice(
        {"lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"}, _ONE_SOLVER
    ),
    "QuadraticDiscriminantAnalysis.solver": _choice({"eigen", "svd"}, _ONE_SOLVER),
    "QuantileRegressor.solver": _choice(
        {"highs", "highs-ds", "highs-ipm", "interior-point", "revised simplex"}, _ONE_SOLVER
    ),
    "QuantileRegressor.solver_options": Inert([dict, None], "dict or None", _ONE_SOLVER),
    "Ridge.solver": _choice(
        {"auto", "cholesky", "lbfgs", "lsqr", "sag", "saga", "sparse_cg", "svd"}, _ONE_SOLVER
    ),
    "RidgeClassifier.solver": _choice(
        {"auto", "cholesky", "lbfgs", "lsqr", "sag", "saga", "sparse_cg", "svd"}, _ONE_SOLVER
    ),
    "svd_solver": _choice({"arpack", "auto", "covariance_eigh", "full", "randomized"}, _ONE_SOLVER),
    "tol": _number(Real, 0, "left", _DIRECT),
    "verbose": Inert(["verbose"], "int or bool", "progress is shown by callbacks"),
    "verbose_interval": _number(Integral, 1, "left", "progress is shown by callbacks"),
}
for _solver in ("GammaRegressor.solver", "PoissonRegressor.solver", "TweedieRegressor.solver"):
    INERT[_solver] = _choice({"lbfgs", "newton-cholesky"}, _ONE_SOLVER)
for _dense in ("ElasticNetCV.precompute", "LassoCV.precompute"):
    INERT[_dense] = Inert(
        [StrOptions({"auto"}), "array-like", "boolean"],
        '"auto", bool or array-like of shape (n_features, n_features)',
        INERT["precompute"].because,
    )


def without_effect(*names: str, **others: Inert) -> Callable[[Class], Class]:
    """Declare parameters of a class that change nothing: validated, and documented as such.

    The decorator adds their constraints to ``_parameter_constraints`` and their entries to the
    section "Parameters" of the docstring, in the order of the signature; ``__init__`` lists and
    stores them like all others.

    Parameters
    ----------
    *names : str
        Parameters that stand in `INERT`.
    **others : Inert
        Parameters that no other class has.

    Returns
    -------
    decorator : callable

    Examples
    --------
    >>> from gnomon.contract import Regressor
    >>> from gnomon.contract.inert import without_effect
    >>> @without_effect("copy_X")
    ... class Mean(Regressor):
    ...     '''The mean.
    ...
    ...     Parameters
    ...     ----------
    ...     shift : float, default=0.0
    ...         Is added.
    ...     '''
    ...
    ...     def __init__(self, shift=0.0, copy_X=True):
    ...         self.shift, self.copy_X = shift, copy_X
    >>> print(Mean.__doc__)
    The mean.
    <BLANKLINE>
    Parameters
    ----------
    shift : float, default=0.0
        Is added.
    copy_X : bool, default=True
        Has no effect here: the data that are given are never changed.
    """

    def declare(cls: Class) -> Class:
        found = {name: _entry(cls, name) for name in names} | others
        defaults = inspect.signature(cls.__init__).parameters  # type: ignore[misc]
        unknown = [name for name in found if name not in defaults]
        if unknown:
            raise TypeError(f"{cls.__name__}.__init__ has no parameter {unknown[0]!r}")
        table = getattr(cls, "_parameter_constraints", {})
        inert: frozenset[str] = getattr(cls, "_inert", frozenset())
        cls._parameter_constraints = table | {n: e.accepts for n, e in found.items()}  # type: ignore[attr-defined]
        cls._inert = inert | found.keys()  # type: ignore[attr-defined]
        if cls.__doc__:
            cls.__doc__ = with_entries(
                cls, {n: _entry_lines(n, e, defaults[n].default) for n, e in found.items()}
            )
        return cls

    return declare


def _entry(cls: type, name: str) -> Inert:
    for each in cls.__mro__:  # a subclass under another name accepts what its namesake does
        if f"{each.__name__}.{name}" in INERT:
            return INERT[f"{each.__name__}.{name}"]
    if name not in INERT:
        raise TypeError(
            f"{cls.__name__}: the table gnomon.contract.inert.INERT has no parameter {name!r}; add "
            "it there"
        )
    return INERT[name]


def _entry_lines(name: str, entry: Inert, default: Any) -> list[str]:
    words = f"Has no effect here: {entry.because}.".split()
    lines = [f"{name} : {entry.kind}, default={stated(default)}", "   "]
    for word in words:
        if len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append("   ")
        lines[-1] += f" {word}"
    return lines
