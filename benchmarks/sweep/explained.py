"""Why a method loses cases of the sweep, where the cause is known; shown beside each lost case."""

SMALL = "the fixed cost of a fit (checks, callbacks, history), half a millisecond to one"
EXPLAINED: dict[str, str] = {
    "Ridge": SMALL,
    "StandardScaler": SMALL,
    "LinearDiscriminantAnalysis": SMALL,
    "GaussianNB": SMALL,
    "DecisionTreeRegressor": SMALL,
    "GradientBoostingRegressor": SMALL,
    "ElasticNet": SMALL + "; sums over chunks, which a cluster could do, instead of the columns",
    "Lasso": SMALL + "; sums over chunks, which a cluster could do, instead of the columns",
}
