"""Orthogonal matching pursuit: a linear model that takes one column after the other.

The column that correlates most with the residual is added, and the coefficients of all columns so
far are solved for. scikit-learn's own class, which takes any table here; `Lasso` computes a path
of all numbers of columns by coordinate descent.

Texts: 000 10.4.2 · 001 3.4 (subsets of columns).
"""

from __future__ import annotations

from sklearn import linear_model

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number, Whole

TEXTS = "000 10.4.2 · 001 3.4"


@method(
    task="regress",
    texts=TEXTS,
    use="A model of a given, small number of columns.",
    avoid="Strongly correlated columns: the first choice is never taken back.",
    peers=("sklearn.linear_model.OrthogonalMatchingPursuit",),
    on="scikit-learn",
    synonyms=("omp", "forward selection"),
)
class OrthogonalMatchingPursuit(OverScikitLearn, linear_model.OrthogonalMatchingPursuit):
    """Linear regression on a given number of columns, each the best one to add.

    Use it for a model of few columns; not for strongly correlated columns, since a column that was
    chosen stays.

    Examples
    --------
    >>> from gnomon.linear import OrthogonalMatchingPursuit
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], [0.0, 2.0, 4.0, 6.0]
    >>> OrthogonalMatchingPursuit(n_nonzero_coefs=1).fit(X, y).coef_.round(6).tolist()
    [2.0, 0.0]
    """

    _copies = 1.0
    _squares = 3.0
    _target = "numbers"
    _many_targets = True
    _stored = {
        "coef_": Array("f", [("n_columns",), (None, "n_columns")]),
        "intercept_": Number() | Array("f", (None,)),
        "n_iter_": Whole() | ListOf(Whole()),
        "n_nonzero_coefs_": Whole() | None,
    }
