"""Linear models against scikit-learn and statsmodels."""

import numpy as np
import statsmodels.api as sm
from sklearn import linear_model as peer

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import classes, line, r2
from gnomon.linear import LinearRegression, LogisticRegression, Ridge


def line50(n):
    return line(n, 50)


def two_classes(n):
    return classes(n, 20, 2)


def five_classes(n):
    return classes(n, 20, 5)


def penalised_loss(model, given) -> float:
    """The objective that both minimise: sum of log losses plus |coef|^2 / 2."""
    proba = model.predict_proba(given.rows)
    loss = -np.log(proba[np.arange(len(given.y)), given.y]).sum()
    return float(loss + (model.coef_**2).sum() / 2)


def explained_share(summary, given) -> float:
    """R2 of our summary, or of a result of statsmodels."""
    return float(summary.facts["R2"] if hasattr(summary, "facts") else summary.rsquared)


Duel(
    name="least squares, 50 columns",
    peer="scikit-learn LinearRegression",
    data=line50,
    ours=lambda given: LinearRegression().fit(given.rows, given.y),
    theirs=lambda given: peer.LinearRegression().fit(given.rows, given.y),
    quality=r2,
)

Duel(
    name="ridge, 50 columns",
    peer="scikit-learn Ridge",
    data=line50,
    ours=lambda given: Ridge(alpha=1.0).fit(given.rows, given.y),
    theirs=lambda given: peer.Ridge(alpha=1.0).fit(given.rows, given.y),
    quality=r2,
)

Duel(
    name="least squares with summary table, 50 columns",
    peer="statsmodels OLS",
    data=line50,
    ours=lambda given: LinearRegression().fit(given.rows, given.y).summary(),
    theirs=lambda given: sm.OLS(given.y, sm.add_constant(given.rows)).fit(),
    quality=explained_share,
)

for solver in ("lbfgs", "newton-cholesky"):
    for make, k in ((two_classes, 2), (five_classes, 5)):
        Duel(
            name=f"logistic regression, 20 columns, {k} classes, to the same objective ({solver})",
            peer=f"scikit-learn LogisticRegression({solver})",
            data=make,
            ours=lambda given: LogisticRegression().fit(given.rows, given.y),
            theirs=lambda given, solver=solver: peer.LogisticRegression(
                solver=solver, max_iter=1000
            ).fit(given.rows, given.y),
            quality=penalised_loss,
            higher_is_better=False,
        )
