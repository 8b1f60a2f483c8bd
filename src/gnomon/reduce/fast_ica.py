"""FastICA under scikit-learn's name: directions in which the rows are least normal.

    x = A s,  the entries of s independent;  s = W (x - m),  W by fixed points of E[x g(w'x)]

scikit-learn's own class, which takes any table here; `ICA` records its steps and takes weights.

Texts: 001 17.3 (the idea).
"""

from __future__ import annotations

from sklearn import decomposition

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.registry import method
from gnomon.engine.stored import Array


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
    normal, which cannot be told apart. `ICA` records its steps and takes weights.

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
