"""Linear models against scikit-learn and statsmodels."""

from functools import partial

import numpy as np
import statsmodels.api as sm
from celer import celer_path
from glum import GeneralizedLinearRegressor
from scipy.special import xlogy
from skglm.datafits import Quadratic
from skglm.penalties import L1, L1_plus_L2
from skglm.solvers import AndersonCD
from sklearn import linear_model as peer

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import Labelled, classes, line, r2
from gnomon.linear import (
    GLM,
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
    RobustRegression,
)


def line50(n):
    return line(n, 50)


def two_classes(n):
    return classes(n, 20, 2)


def five_classes(n):
    return classes(n, 20, 5)


def penalized_loss(model, given) -> float:
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
            quality=penalized_loss,
            higher_is_better=False,
        )


def seven_classes(n):
    return classes(n, 50, 7)


Duel(
    name="logistic regression, 50 columns, 7 classes, to the same objective",
    peer="scikit-learn LogisticRegression(lbfgs)",
    data=seven_classes,
    ours=lambda given: LogisticRegression().fit(given.rows, given.y),
    theirs=lambda given: peer.LogisticRegression(max_iter=1000).fit(given.rows, given.y),
    quality=penalized_loss,
    higher_is_better=False,
    sizes=(10**4, 10**5),
    bar=1.5,
)


def wide(n):
    """Twenty columns for each row, of which fifty matter."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 20 * n))
    y = rows[:, :50] @ rng.normal(size=50) + rng.normal(size=n)
    return Labelled(rows, y, rows[:1], y[:1])


def line500(n):
    return line(n, 500)


def path_objective(found, given) -> float:
    """Mean objective over a path; ours is a PenaltyPath, theirs (alphas, coefficients, gaps)."""
    ours = hasattr(found, "coefficients")
    alphas, coefs = (found.alphas, found.coefficients) if ours else (found[0], found[1].T)
    ratio = found.l1_ratio if ours else found[-1]
    rows, y = given.rows - given.rows.mean(axis=0), given.y - given.y.mean()
    residuals = y[:, None] - rows @ coefs.T
    sizes = ratio * np.abs(coefs).sum(axis=1) + (1 - ratio) / 2 * (coefs**2).sum(axis=1)
    return float(((residuals**2).mean(axis=0) / 2 + alphas * sizes).mean())


def our_path(ratio, given):
    model = Lasso(tol=2e-5) if ratio == 1 else ElasticNet(l1_ratio=ratio, tol=2e-5)
    return model.path(given.rows, given.y)


def their_path(ratio, given):
    """scikit-learn's path and the share of absolute values."""
    rows, y = given.rows - given.rows.mean(axis=0), given.y - given.y.mean()
    options = {"alphas": 100, "tol": 1e-5, "max_iter": 100_000}
    return *peer.enet_path(rows, y, l1_ratio=ratio, **options), ratio


def celers_path(ratio, given):
    rows, y = given.rows - given.rows.mean(axis=0), given.y - given.y.mean()
    options = {"l1_ratio": ratio, "n_alphas": 100, "tol": 1e-5}
    return *celer_path(np.asfortranarray(rows), y, "lasso", **options), ratio


def skglms_path(ratio, given):
    """Working sets and extrapolation; its tolerance is of the slopes, not of a gap."""
    rows, y = given.rows - given.rows.mean(axis=0), given.y - given.y.mean()
    alphas = np.abs(rows.T @ y).max() / (len(y) * ratio) * np.geomspace(1, 1e-3, 100)
    penalty = L1(1.0) if ratio == 1 else L1_plus_L2(1.0, ratio)
    solver = AndersonCD(tol=1e-5, fit_intercept=False, warm_start=True)
    return *solver.path(np.asfortranarray(rows), y, Quadratic(), penalty, alphas), ratio


for ratio, kind in ((1.0, "lasso"), (0.5, "elastic net")):
    for make, shape, sizes in (
        (wide, "twenty columns per row", (100, 500)),
        (line500, "500 columns", (10**4, 10**5)),
    ):
        for side, who, bar in (
            (their_path, "scikit-learn enet_path", 4.0),
            (celers_path, "celer celer_path", 1.0),
            (skglms_path, "skglm AndersonCD.path", 1.0),
        ):
            Duel(
                name=f"{kind} path of 100 penalties to the same duality gap, {shape}",
                peer=who,
                data=make,
                ours=partial(our_path, ratio),
                theirs=partial(side, ratio),
                quality=path_objective,
                higher_is_better=False,
                tolerance=1e-4,
                sizes=sizes,
                bar=bar,
            )

RIDGE_PENALTIES = np.geomspace(1e6, 1e-1, 100)


def their_ridges(given):
    """Coefficients of a hundred fits."""
    models = (peer.Ridge(alpha=alpha).fit(given.rows, given.y) for alpha in RIDGE_PENALTIES)
    return [model.coef_ for model in models]


def mean_r2(coefs, given) -> float:
    """Mean R2 of coefficients, of a list or of a path."""
    coefs = np.array(getattr(coefs, "coefficients", coefs))
    y = given.test_y - given.test_y.mean()
    fitted = (given.test_rows - given.test_rows.mean(axis=0)) @ coefs.T
    return float(1 - ((y[:, None] - fitted) ** 2).mean() / (y**2).mean())


def our_choice(given):
    """Ridge regression of the penalty of least cross-validated error."""
    path = Ridge().path(given.rows, given.y, alphas=RIDGE_PENALTIES, cv=5, random_state=0)
    return Ridge(path.alpha_min).fit(given.rows, given.y)


Duel(
    name="ridge path of 100 penalties, 50 columns",
    peer="scikit-learn Ridge, a hundred fits",
    data=line50,
    ours=lambda given: Ridge().path(given.rows, given.y, alphas=RIDGE_PENALTIES),
    theirs=their_ridges,
    quality=mean_r2,
    sizes=(10**4, 10**5),
)

for folds, how in ((None, "leave-one-out"), (5, "5 folds")):
    Duel(
        name=f"ridge, one of 100 penalties chosen by validation ({how}), 50 columns",
        peer="scikit-learn RidgeCV",
        data=line50,
        ours=our_choice,
        theirs=lambda given, folds=folds: peer.RidgeCV(RIDGE_PENALTIES, cv=folds).fit(
            given.rows, given.y
        ),
        quality=r2,
        tolerance=1e-5,
        sizes=(10**4, 10**5),
    )


def counts50(n):
    given = line(n, 50)
    size = given.y / np.abs(given.y).max()
    return given._replace(y=np.random.default_rng(0).poisson(np.exp(size)).astype(float))


def deviance(found, given) -> float:
    """That of our summary, or of a result of statsmodels or glum."""
    if hasattr(found, "facts"):
        return float(found.facts["deviance"])
    if hasattr(found, "deviance"):
        return float(found.deviance)
    means = found.predict(given.rows)
    return float(2 * (xlogy(given.y, given.y / means) - given.y + means).sum())


def with_table(given):
    """glum's fit and its table of coefficients."""
    model = GeneralizedLinearRegressor(family="poisson", alpha=0, gradient_tol=1e-7)
    model.fit(given.rows, given.y)
    model.coef_table(X=given.rows, y=given.y)
    return model


Duel(
    name="Poisson regression with summary table, 50 columns",
    peer="statsmodels GLM",
    data=counts50,
    ours=lambda given: GLM("poisson").fit(given.rows, given.y).summary(),
    theirs=lambda given: sm.GLM(
        given.y, sm.add_constant(given.rows), family=sm.families.Poisson()
    ).fit(),
    quality=deviance,
    higher_is_better=False,
    sizes=(10**4, 10**5),
    bar=3.0,
)

Duel(
    name="Poisson regression with summary table, 50 columns",
    peer="glum GeneralizedLinearRegressor",
    data=counts50,
    ours=lambda given: GLM("poisson").fit(given.rows, given.y).summary(),
    theirs=with_table,
    quality=deviance,
    higher_is_better=False,
)

Duel(
    name="Huber regression, 50 columns",
    peer="statsmodels RLM",
    data=line50,
    ours=lambda given: RobustRegression(tol=1e-7).fit(given.rows, given.y).scale_,
    theirs=lambda given: sm.RLM(given.y, sm.add_constant(given.rows)).fit().scale,
    quality=lambda found, given: float(found),
    higher_is_better=False,
    tolerance=1e-4,
    sizes=(10**4, 10**5),
    bar=3.0,
)


def line20(n):
    return line(n, 20)


def quantile_loss(found, given) -> float:
    """The loss of the 0.3 quantile: ours, or that of a result of statsmodels or scikit-learn."""
    constant = hasattr(found, "params")
    predicted = found.predict(sm.add_constant(given.rows) if constant else given.rows)
    residual = given.y - predicted
    return float(np.maximum(0.3 * residual, -0.7 * residual).sum())


Duel(
    name="quantile regression, 20 columns",
    peer="statsmodels QuantReg",
    data=line20,
    ours=lambda given: QuantileRegressor(quantile=0.3, alpha=0).fit(given.rows, given.y),
    theirs=lambda given: sm.QuantReg(given.y, sm.add_constant(given.rows)).fit(q=0.3),
    quality=quantile_loss,
    higher_is_better=False,
    tolerance=1e-3,
    sizes=(10**4, 10**5),
    bar=3.0,
)

Duel(
    name="quantile regression, 20 columns",
    peer="scikit-learn QuantileRegressor",
    data=line20,
    ours=lambda given: QuantileRegressor(quantile=0.3, alpha=0).fit(given.rows, given.y),
    theirs=lambda given: peer.QuantileRegressor(quantile=0.3, alpha=0).fit(given.rows, given.y),
    quality=quantile_loss,
    higher_is_better=False,
    tolerance=1e-3,
    sizes=(10**3, 5 * 10**3),
    bar=3.0,
)
