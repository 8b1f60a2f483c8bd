"""Why a method loses cases of the sweep, where the cause is known; shown beside each lost case."""

SMALL = (
    "the fixed cost of a fit: the frame takes a tenth of a millisecond, the rest are operations on "
    "small arrays of microseconds each"
)
TREES_OF_SCIKIT_LEARN = (
    "the tree is grown by scikit-learn's own code; on top come the canonical order of the rows and "
    "the copy of the nodes in arrays of our own"
)
NEAR = (
    "hundreds of columns: bounds by products in float32, then distances of all that may be nearest "
    "in float64, where the peer keeps the rows' precision; else the fixed cost of fit and search"
)
EXPLAINED: dict[str, str] = {
    "LinearRegression": "float32 rows are summed in float64; a second pass where columns are "
    "nearly dependent",
    "Ridge": SMALL,
    "LogisticRegression": "L-BFGS in float64 with 20 pairs of vectors, down to slopes that are "
    "small in the columns' spread too: more steps than the peer (12 against 9 of 333 x 979, 40 "
    "against 29 of sparse rows)",
    "LogisticRegression, two classes": "as with several classes: more steps than the peer (18 "
    "against 13 of 318 x 1,022), in float64",
    "StandardScaler": "columns in Fortran order are brought to rows, block by block and twice, so "
    "that sums have the same bits in either order",
    "ElasticNet": SMALL + "; sums over chunks, which a cluster could do, instead of the columns",
    "Lasso": SMALL + "; sums over chunks, which a cluster could do, instead of the columns",
    "KMeans": "of sparse rows, a fit ends before its fixed cost is paid (slices of sparse rows, "
    "checks); of hundreds of columns, as many products as the peer, which has no bounds to keep",
    "KMeans with k-means++": "few passes, of which two more add all rows for bits that do not "
    "depend on bounds; the canonical order of the rows, by which draws are made",
    "MiniBatchKMeans": "rows are drawn along their canonical order; a start of one whole pass on "
    "three batches; every batch copies its rows",
    "AgglomerativeClustering, ward": SMALL + " (distinct rows, the tree's merges in SciPy's form)",
    "AgglomerativeClustering, complete": "fastcluster holds half of the table of distances; here "
    "columns of the whole one are written at every merge",
    "ExtraTreesRegressor": "scikit-learn-intelex draws thresholds among 256 bins of a column: 256 "
    "leaves for 3,039 rows of two equal columns, where scikit-learn's trees and ours have 3,039",
    "DecisionTreeClassifier": TREES_OF_SCIKIT_LEARN,
    "DecisionTreeRegressor": TREES_OF_SCIKIT_LEARN,
    "GradientBoostingRegressor": "scikit-learn's own code behind our checks and history",
    "FastICA": "the steps are scikit-learn's own code; recording the objective of each takes a "
    "seventh of the time",
    "NearestNeighbors": NEAR,
    "KNeighborsClassifier": NEAR,
    "KNeighborsRegressor": NEAR,
    "SVC, linear kernel": "machines of a hundred rows or so per pair of classes: kernel values are "
    "copied, and what is optimal is checked before and after",
}
