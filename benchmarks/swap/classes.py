"""Which classes are counted, where ours are, and which test modules of scikit-learn are theirs."""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """A class of scikit-learn: its package, the package of our namesake, its test modules."""

    package: str
    ours: str | None
    modules: tuple[str, ...]


def _case(package: str, ours: str | None, *modules: str) -> Case:
    return Case(package, ours, tuple(f"sklearn.{module}" for module in modules))


_COMMON = "linear_model.tests.test_common"
_DESCENT = (
    "linear_model.tests.test_coordinate_descent",
    "linear_model.tests.test_sparse_coordinate_descent",
)
_ENCODERS = "preprocessing.tests.test_encoders"
_FOREST = ("ensemble.tests.test_forest",)
_KMEANS = "cluster.tests.test_k_means"
_LEAST_ANGLE = ("linear_model.tests.test_least_angle", _COMMON)
_MIXTURE = ("mixture.tests.test_gaussian_mixture", "mixture.tests.test_mixture")
_NEIGHBORS = "neighbors.tests.test_neighbors"
_SVM = ("svm.tests.test_svm", "svm.tests.test_sparse")
_TREE = (
    "tree.tests.test_tree",
    "tree.tests.test_export",
    "tree.tests.test_split",
    "tree.tests.test_monotonic_tree",
)
_HISTOGRAM = "ensemble._hist_gradient_boosting.tests.test_gradient_boosting"

CASES: dict[str, Case] = {
    "AdaBoostClassifier": _case("ensemble", "ensemble", "ensemble.tests.test_weight_boosting"),
    "AgglomerativeClustering": _case("cluster", "cluster", "cluster.tests.test_hierarchical"),
    "BaggingClassifier": _case("ensemble", "ensemble", "ensemble.tests.test_bagging"),
    "BayesianGaussianMixture": _case("mixture", "density", "mixture.tests.test_bayesian_mixture"),
    "BisectingKMeans": _case("cluster", "cluster", "cluster.tests.test_bisect_k_means"),
    "CalibratedClassifierCV": _case("calibration", "ensemble", "tests.test_calibration"),
    "DBSCAN": _case("cluster", "cluster", "cluster.tests.test_dbscan"),
    "DecisionTreeClassifier": _case("tree", "trees", *_TREE),
    "DecisionTreeRegressor": _case("tree", "trees", *_TREE),
    "ElasticNet": _case("linear_model", "linear", *_DESCENT, _COMMON),
    "ExtraTreesClassifier": _case("ensemble", "trees", *_FOREST),
    "ExtraTreesRegressor": _case("ensemble", "trees", *_FOREST),
    "GaussianMixture": _case("mixture", "density", *_MIXTURE),
    "GaussianNB": _case("naive_bayes", "bayes", "tests.test_naive_bayes"),
    "GradientBoostingClassifier": _case(
        "ensemble", "trees", "ensemble.tests.test_gradient_boosting"
    ),
    "GradientBoostingRegressor": _case(
        "ensemble", "trees", "ensemble.tests.test_gradient_boosting"
    ),
    "HDBSCAN": _case("cluster", "cluster", "cluster.tests.test_hdbscan"),
    "HistGradientBoostingClassifier": _case("ensemble", "trees", _HISTOGRAM),
    "HistGradientBoostingRegressor": _case("ensemble", "trees", _HISTOGRAM),
    "IsolationForest": _case("ensemble", "trees", "ensemble.tests.test_iforest"),
    "Isomap": _case("manifold", "reduce", "manifold.tests.test_isomap"),
    "KMeans": _case("cluster", "cluster", _KMEANS),
    "KNeighborsClassifier": _case("neighbors", "neighbors", _NEIGHBORS),
    "KNeighborsRegressor": _case("neighbors", "neighbors", _NEIGHBORS),
    "KernelDensity": _case("neighbors", "density", "neighbors.tests.test_kde"),
    "KernelPCA": _case("decomposition", "reduce", "decomposition.tests.test_kernel_pca"),
    "KernelRidge": _case("kernel_ridge", "margin", "tests.test_kernel_ridge"),
    "Lars": _case("linear_model", "linear", *_LEAST_ANGLE),
    "Lasso": _case("linear_model", "linear", *_DESCENT, _COMMON),
    "LassoLars": _case("linear_model", "linear", *_LEAST_ANGLE),
    "LedoitWolf": _case("covariance", "density", "covariance.tests.test_covariance"),
    "LinearRegression": _case("linear_model", "linear", "linear_model.tests.test_base", _COMMON),
    "LinearSVR": _case("svm", "margin", *_SVM),
    "LocalOutlierFactor": _case("neighbors", "neighbors", "neighbors.tests.test_lof"),
    "LogisticRegression": _case(
        "linear_model", "linear", "linear_model.tests.test_logistic", _COMMON
    ),
    "MDS": _case("manifold", None, "manifold.tests.test_mds"),
    "MeanShift": _case("cluster", "cluster", "cluster.tests.test_mean_shift"),
    "MinCovDet": _case("covariance", "density", "covariance.tests.test_robust_covariance"),
    "MiniBatchKMeans": _case("cluster", "cluster", _KMEANS),
    "NearestCentroid": _case("neighbors", "neighbors", "neighbors.tests.test_nearest_centroid"),
    "NearestNeighbors": _case("neighbors", "neighbors", _NEIGHBORS),
    "Normalizer": _case("preprocessing", "prepare", "preprocessing.tests.test_data"),
    "NuSVC": _case("svm", "margin", *_SVM),
    "NuSVR": _case("svm", "margin", *_SVM),
    "OAS": _case("covariance", "density", "covariance.tests.test_covariance"),
    "OPTICS": _case("cluster", "cluster", "cluster.tests.test_optics"),
    "OneClassSVM": _case("svm", "margin", *_SVM),
    "OneHotEncoder": _case("preprocessing", "prepare", _ENCODERS),
    "OrdinalEncoder": _case("preprocessing", "prepare", _ENCODERS),
    "PCA": _case("decomposition", "reduce", "decomposition.tests.test_pca"),
    "PoissonRegressor": _case("linear_model", None, "linear_model._glm.tests.test_glm"),
    "QuantileRegressor": _case("linear_model", "linear", "linear_model.tests.test_quantile"),
    "RANSACRegressor": _case("linear_model", "linear", "linear_model.tests.test_ransac"),
    "RandomForestClassifier": _case("ensemble", "trees", *_FOREST),
    "RandomForestRegressor": _case("ensemble", "trees", *_FOREST),
    "Ridge": _case("linear_model", "linear", "linear_model.tests.test_ridge", _COMMON),
    "SGDClassifier": _case("linear_model", "linear", "linear_model.tests.test_sgd"),
    "SGDRegressor": _case("linear_model", "linear", "linear_model.tests.test_sgd"),
    "SVC": _case("svm", "margin", *_SVM),
    "SVR": _case("svm", "margin", *_SVM),
    "SpectralClustering": _case("cluster", "cluster", "cluster.tests.test_spectral"),
    "StackingClassifier": _case("ensemble", "ensemble", "ensemble.tests.test_stacking"),
    "TargetEncoder": _case("preprocessing", "prepare", "preprocessing.tests.test_target_encoder"),
    "TweedieRegressor": _case("linear_model", "linear", "linear_model._glm.tests.test_glm"),
    "VotingClassifier": _case("ensemble", "ensemble", "ensemble.tests.test_voting"),
}


def theirs(name: str) -> str:
    """The public path of scikit-learn's class."""
    return f"sklearn.{CASES[name].package}.{name}"
