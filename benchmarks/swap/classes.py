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
_DATA = "preprocessing.tests.test_data"
_DISCRIMINANT = "tests.test_discriminant_analysis"
_HALVING = "model_selection.tests.test_successive_halving"
_KERNEL_APPROXIMATION = "tests.test_kernel_approximation"
_MULTICLASS = "tests.test_multiclass"
_NAIVE_BAYES = "tests.test_naive_bayes"
_PLS = "cross_decomposition.tests.test_pls"
_PROJECTION = "tests.test_random_projection"
_PROPAGATION = "semi_supervised.tests.test_label_propagation"
_RIDGE = "linear_model.tests.test_ridge"
_TEXT = "feature_extraction.tests.test_text"
_UNIVARIATE = "feature_selection.tests.test_feature_select"

CASES: dict[str, Case] = {
    "ARDRegression": _case("linear_model", "linear", "linear_model.tests.test_bayes"),
    "AdaBoostClassifier": _case("ensemble", "ensemble", "ensemble.tests.test_weight_boosting"),
    "AdditiveChi2Sampler": _case("kernel_approximation", "reduce", _KERNEL_APPROXIMATION),
    "AgglomerativeClustering": _case("cluster", "cluster", "cluster.tests.test_hierarchical"),
    "BaggingClassifier": _case("ensemble", "ensemble", "ensemble.tests.test_bagging"),
    "BaggingRegressor": _case("ensemble", "ensemble", "ensemble.tests.test_bagging"),
    "BayesianGaussianMixture": _case("mixture", "density", "mixture.tests.test_bayesian_mixture"),
    "BayesianRidge": _case("linear_model", "linear", "linear_model.tests.test_bayes"),
    "BernoulliNB": _case("naive_bayes", "bayes", _NAIVE_BAYES),
    "BernoulliRBM": _case("neural_network", "neural", "neural_network.tests.test_rbm"),
    "BisectingKMeans": _case("cluster", "cluster", "cluster.tests.test_bisect_k_means"),
    "CCA": _case("cross_decomposition", "reduce", _PLS),
    "CalibratedClassifierCV": _case("calibration", "ensemble", "tests.test_calibration"),
    "CategoricalNB": _case("naive_bayes", "bayes", _NAIVE_BAYES),
    "ComplementNB": _case("naive_bayes", "bayes", _NAIVE_BAYES),
    "CountVectorizer": _case("feature_extraction.text", "text", _TEXT),
    "DBSCAN": _case("cluster", "cluster", "cluster.tests.test_dbscan"),
    "DecisionTreeClassifier": _case("tree", "trees", *_TREE),
    "DecisionTreeRegressor": _case("tree", "trees", *_TREE),
    "DummyClassifier": _case("dummy", "evaluate", "tests.test_dummy"),
    "DummyRegressor": _case("dummy", "evaluate", "tests.test_dummy"),
    "ElasticNet": _case("linear_model", "linear", *_DESCENT, _COMMON),
    "ElasticNetCV": _case("linear_model", "linear", *_DESCENT),
    "EllipticEnvelope": _case("covariance", "density", "covariance.tests.test_elliptic_envelope"),
    "ExtraTreesClassifier": _case("ensemble", "trees", *_FOREST),
    "ExtraTreesRegressor": _case("ensemble", "trees", *_FOREST),
    "FactorAnalysis": _case("decomposition", "reduce", "decomposition.tests.test_factor_analysis"),
    "FastICA": _case("decomposition", "reduce", "decomposition.tests.test_fastica"),
    "GammaRegressor": _case("linear_model", "linear", "linear_model._glm.tests.test_glm"),
    "GaussianMixture": _case("mixture", "density", *_MIXTURE),
    "GaussianNB": _case("naive_bayes", "bayes", "tests.test_naive_bayes"),
    "GaussianProcessRegressor": _case(
        "gaussian_process", "bayes", "gaussian_process.tests.test_gpr"
    ),
    "GaussianRandomProjection": _case("random_projection", "reduce", _PROJECTION),
    "GenericUnivariateSelect": _case("feature_selection", "select", _UNIVARIATE),
    "GradientBoostingClassifier": _case(
        "ensemble", "trees", "ensemble.tests.test_gradient_boosting"
    ),
    "GradientBoostingRegressor": _case(
        "ensemble", "trees", "ensemble.tests.test_gradient_boosting"
    ),
    "GridSearchCV": _case("model_selection", "select", "model_selection.tests.test_search"),
    "HDBSCAN": _case("cluster", "cluster", "cluster.tests.test_hdbscan"),
    "HalvingGridSearchCV": _case("model_selection", "select", _HALVING),
    "HalvingRandomSearchCV": _case("model_selection", "select", _HALVING),
    "HashingVectorizer": _case("feature_extraction.text", "text", _TEXT),
    "HistGradientBoostingClassifier": _case("ensemble", "trees", _HISTOGRAM),
    "HistGradientBoostingRegressor": _case("ensemble", "trees", _HISTOGRAM),
    "HuberRegressor": _case("linear_model", "linear", "linear_model.tests.test_huber"),
    "IncrementalPCA": _case("decomposition", "reduce", "decomposition.tests.test_incremental_pca"),
    "IsolationForest": _case("ensemble", "trees", "ensemble.tests.test_iforest"),
    "Isomap": _case("manifold", "reduce", "manifold.tests.test_isomap"),
    "KBinsDiscretizer": _case(
        "preprocessing", "prepare", "preprocessing.tests.test_discretization"
    ),
    "KMeans": _case("cluster", "cluster", _KMEANS),
    "KNNImputer": _case("impute", "neighbors", "impute.tests.test_knn", "impute.tests.test_common"),
    "KNeighborsClassifier": _case("neighbors", "neighbors", _NEIGHBORS),
    "KNeighborsRegressor": _case("neighbors", "neighbors", _NEIGHBORS),
    "KernelDensity": _case("neighbors", "density", "neighbors.tests.test_kde"),
    "KernelPCA": _case("decomposition", "reduce", "decomposition.tests.test_kernel_pca"),
    "KernelRidge": _case("kernel_ridge", "margin", "tests.test_kernel_ridge"),
    "LabelPropagation": _case("semi_supervised", "semi", _PROPAGATION),
    "LabelSpreading": _case("semi_supervised", "semi", _PROPAGATION),
    "Lars": _case("linear_model", "linear", *_LEAST_ANGLE),
    "Lasso": _case("linear_model", "linear", *_DESCENT, _COMMON),
    "LassoCV": _case("linear_model", "linear", *_DESCENT),
    "LassoLars": _case("linear_model", "linear", *_LEAST_ANGLE),
    "LatentDirichletAllocation": _case(
        "decomposition", "text", "decomposition.tests.test_online_lda"
    ),
    "LedoitWolf": _case("covariance", "density", "covariance.tests.test_covariance"),
    "LinearDiscriminantAnalysis": _case("discriminant_analysis", "bayes", _DISCRIMINANT),
    "LinearRegression": _case("linear_model", "linear", "linear_model.tests.test_base", _COMMON),
    "LinearSVC": _case("svm", "margin", *_SVM),
    "LinearSVR": _case("svm", "margin", *_SVM),
    "LocalOutlierFactor": _case("neighbors", "neighbors", "neighbors.tests.test_lof"),
    "LocallyLinearEmbedding": _case("manifold", "reduce", "manifold.tests.test_locally_linear"),
    "LogisticRegression": _case(
        "linear_model", "linear", "linear_model.tests.test_logistic", _COMMON
    ),
    "LogisticRegressionCV": _case("linear_model", "linear", "linear_model.tests.test_logistic"),
    "MDS": _case("manifold", None, "manifold.tests.test_mds"),
    "MLPClassifier": _case("neural_network", "neural", "neural_network.tests.test_mlp"),
    "MLPRegressor": _case("neural_network", "neural", "neural_network.tests.test_mlp"),
    "MaxAbsScaler": _case("preprocessing", "prepare", _DATA),
    "MeanShift": _case("cluster", "cluster", "cluster.tests.test_mean_shift"),
    "MinCovDet": _case("covariance", "density", "covariance.tests.test_robust_covariance"),
    "MinMaxScaler": _case("preprocessing", "prepare", _DATA),
    "MiniBatchKMeans": _case("cluster", "cluster", _KMEANS),
    "MultinomialNB": _case("naive_bayes", "bayes", _NAIVE_BAYES),
    "NMF": _case("decomposition", "reduce", "decomposition.tests.test_nmf"),
    "NearestCentroid": _case("neighbors", "neighbors", "neighbors.tests.test_nearest_centroid"),
    "NearestNeighbors": _case("neighbors", "neighbors", _NEIGHBORS),
    "Normalizer": _case("preprocessing", "prepare", "preprocessing.tests.test_data"),
    "NuSVC": _case("svm", "margin", *_SVM),
    "NuSVR": _case("svm", "margin", *_SVM),
    "Nystroem": _case("kernel_approximation", "reduce", _KERNEL_APPROXIMATION),
    "OAS": _case("covariance", "density", "covariance.tests.test_covariance"),
    "OPTICS": _case("cluster", "cluster", "cluster.tests.test_optics"),
    "OneClassSVM": _case("svm", "margin", *_SVM),
    "OneHotEncoder": _case("preprocessing", "prepare", _ENCODERS),
    "OneVsOneClassifier": _case("multiclass", "margin", _MULTICLASS),
    "OneVsRestClassifier": _case("multiclass", "margin", _MULTICLASS),
    "OrdinalEncoder": _case("preprocessing", "prepare", _ENCODERS),
    "OrthogonalMatchingPursuit": _case("linear_model", "linear", "linear_model.tests.test_omp"),
    "OutputCodeClassifier": _case("multiclass", "ensemble", _MULTICLASS),
    "PCA": _case("decomposition", "reduce", "decomposition.tests.test_pca"),
    "PLSCanonical": _case("cross_decomposition", "reduce", _PLS),
    "PLSRegression": _case("cross_decomposition", "reduce", _PLS),
    "Perceptron": _case("linear_model", "margin", "linear_model.tests.test_perceptron"),
    "PoissonRegressor": _case("linear_model", "linear", "linear_model._glm.tests.test_glm"),
    "PolynomialCountSketch": _case("kernel_approximation", "reduce", _KERNEL_APPROXIMATION),
    "PolynomialFeatures": _case("preprocessing", "linear", "preprocessing.tests.test_polynomial"),
    "PowerTransformer": _case("preprocessing", "prepare", _DATA),
    "QuadraticDiscriminantAnalysis": _case("discriminant_analysis", "bayes", _DISCRIMINANT),
    "QuantileRegressor": _case("linear_model", "linear", "linear_model.tests.test_quantile"),
    "QuantileTransformer": _case("preprocessing", "prepare", _DATA),
    "RANSACRegressor": _case("linear_model", "linear", "linear_model.tests.test_ransac"),
    "RBFSampler": _case("kernel_approximation", "reduce", _KERNEL_APPROXIMATION),
    "RFE": _case("feature_selection", "select", "feature_selection.tests.test_rfe"),
    "RFECV": _case("feature_selection", "select", "feature_selection.tests.test_rfe"),
    "RadiusNeighborsClassifier": _case("neighbors", "neighbors", _NEIGHBORS),
    "RadiusNeighborsRegressor": _case("neighbors", "neighbors", _NEIGHBORS),
    "RandomForestClassifier": _case("ensemble", "trees", *_FOREST),
    "RandomForestRegressor": _case("ensemble", "trees", *_FOREST),
    "RandomizedSearchCV": _case("model_selection", "select", "model_selection.tests.test_search"),
    "Ridge": _case("linear_model", "linear", "linear_model.tests.test_ridge", _COMMON),
    "RidgeCV": _case("linear_model", "linear", _RIDGE),
    "RidgeClassifier": _case("linear_model", "linear", _RIDGE),
    "RidgeClassifierCV": _case("linear_model", "linear", _RIDGE),
    "RobustScaler": _case("preprocessing", "prepare", _DATA),
    "SGDClassifier": _case("linear_model", "linear", "linear_model.tests.test_sgd"),
    "SGDRegressor": _case("linear_model", "linear", "linear_model.tests.test_sgd"),
    "SVC": _case("svm", "margin", *_SVM),
    "SVR": _case("svm", "margin", *_SVM),
    "SelectFdr": _case("feature_selection", "select", _UNIVARIATE),
    "SelectFpr": _case("feature_selection", "select", _UNIVARIATE),
    "SelectFromModel": _case(
        "feature_selection", "select", "feature_selection.tests.test_from_model"
    ),
    "SelectFwe": _case("feature_selection", "select", _UNIVARIATE),
    "SelectKBest": _case("feature_selection", "select", _UNIVARIATE),
    "SelectPercentile": _case("feature_selection", "select", _UNIVARIATE),
    "SelfTrainingClassifier": _case(
        "semi_supervised", "semi", "semi_supervised.tests.test_self_training"
    ),
    "SequentialFeatureSelector": _case(
        "feature_selection", "select", "feature_selection.tests.test_sequential"
    ),
    "SimpleImputer": _case(
        "impute", "prepare", "impute.tests.test_impute", "impute.tests.test_common"
    ),
    "SparseRandomProjection": _case("random_projection", "reduce", _PROJECTION),
    "SpectralClustering": _case("cluster", "cluster", "cluster.tests.test_spectral"),
    "SpectralEmbedding": _case("manifold", "reduce", "manifold.tests.test_spectral_embedding"),
    "SplineTransformer": _case("preprocessing", "linear", "preprocessing.tests.test_polynomial"),
    "StackingClassifier": _case("ensemble", "ensemble", "ensemble.tests.test_stacking"),
    "StackingRegressor": _case("ensemble", "ensemble", "ensemble.tests.test_stacking"),
    "StandardScaler": _case("preprocessing", "prepare", _DATA),
    "TSNE": _case("manifold", "reduce", "manifold.tests.test_t_sne"),
    "TargetEncoder": _case("preprocessing", "prepare", "preprocessing.tests.test_target_encoder"),
    "TfidfTransformer": _case("feature_extraction.text", "text", _TEXT),
    "TfidfVectorizer": _case("feature_extraction.text", "text", _TEXT),
    "TheilSenRegressor": _case("linear_model", "linear", "linear_model.tests.test_theil_sen"),
    "TruncatedSVD": _case("decomposition", "reduce", "decomposition.tests.test_truncated_svd"),
    "TweedieRegressor": _case("linear_model", "linear", "linear_model._glm.tests.test_glm"),
    "VarianceThreshold": _case(
        "feature_selection", "select", "feature_selection.tests.test_variance_threshold"
    ),
    "VotingClassifier": _case("ensemble", "ensemble", "ensemble.tests.test_voting"),
    "VotingRegressor": _case("ensemble", "ensemble", "ensemble.tests.test_voting"),
}


def theirs(name: str) -> str:
    """The public path of scikit-learn's class."""
    return f"sklearn.{CASES[name].package}.{name}"


def some_of_each(ids: list[str], most: int) -> list[str]:
    """At most so many of the cases of each test function, spread from its first to its last."""
    functions: dict[str, list[str]] = {}
    for each in ids:
        functions.setdefault(each.split("[")[0], []).append(each)
    kept = []
    for cases in functions.values():
        step = max((len(cases) - 1) / max(most - 1, 1), 1)
        kept += [cases[round(place * step)] for place in range(min(most, len(cases)))]
    return kept
