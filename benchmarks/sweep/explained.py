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
    "KMeans": "of sparse rows, a fit ends before its fixed cost is paid (slices of sparse rows, "
    "checks); of hundreds of columns, as many products as the peer, which has no bounds to keep",
    "KMeans with k-means++": "few passes, of which two more add all rows for bits that do not "
    "depend on bounds; the canonical order of the rows, by which draws are made",
    "MiniBatchKMeans": "rows are drawn along their canonical order; a start of one whole pass on "
    "three batches; every batch copies its rows",
    "AgglomerativeClustering, ward": "a table of distances whose columns are written at every "
    "merge, which miss the cache; fastcluster computes distances of rows of few columns anew",
    "AgglomerativeClustering, complete": "as Ward of few rows: columns of the table are written "
    "at every merge, fastcluster holds half of the table",
}
