"""Usual names and abbreviations of methods, by a part of the name of their class.

A class has the synonyms of every part that its name contains, so that a classifier and a regressor
share them; a method may add its own with ``@method(synonyms=...)``.
"""

from __future__ import annotations

SYNONYMS: dict[str, tuple[str, ...]] = {
    "AdaBoost": ("boosting", "arcing"),
    "Agglomerative": ("hierarchical clustering", "linkage", "dendrogram", "Ward"),
    "Backfitting": ("gam", "generalized additive model"),
    "Bagging": ("bootstrap aggregating",),
    "Baseline": ("dummy", "zero rule", "majority class"),
    "BayesianAveraging": ("bma", "bayesian model averaging"),
    "BeliefNetwork": ("Bayesian network", "tan", "tree-augmented naive Bayes"),
    "Boruta": ("all-relevant features", "shadow features"),
    "CanonicalCorrelation": ("cca",),
    "DBSCAN": ("density-based clustering",),
    "DecisionTree": ("cart", "classification and regression tree"),
    "Denclue": ("density-based clustering",),
    "Discretize": ("binning", "KBinsDiscretizer"),
    "DivisiveClustering": ("diana", "hierarchical clustering"),
    "Dummy": ("baseline", "majority class"),
    "ElasticNet": ("regularization", "l1 and l2 penalty"),
    "ExtraTrees": ("extremely randomized trees",),
    "FisherDiscriminant": ("lda", "linear discriminant analysis"),
    "GLM": ("generalized linear model",),
    "Gating": ("mixture of experts",),
    "GaussianClassifier": ("lda", "qda", "discriminant analysis"),
    "GaussianMixture": ("gmm", "mixture model", "em algorithm", "soft clustering"),
    "GaussianProcess": ("gp", "kriging"),
    "GradientBoosting": ("gbm", "gbdt", "xgboost", "lightgbm", "mart"),
    "HDBSCAN": ("hierarchical density-based clustering",),
    "ICA": ("independent component analysis", "blind source separation"),
    "Impute": ("imputation", "missing values"),
    "Imputer": ("imputation", "missing values"),
    "Isomap": ("manifold learning", "geodesic distances"),
    "KMeans": ("Lloyd", "vector quantization"),
    "KMedoids": ("pam", "partitioning around medoids"),
    "KNeighbors": ("knn", "k-nn", "nearest neighbor", "instance-based learning"),
    "KernelDensity": ("kde", "Parzen window"),
    "KernelPCA": ("kpca",),
    "Kriging": ("gaussian process", "gp", "geostatistics"),
    "Lasso": ("l1 penalty", "sparse regression", "regularization"),
    "LinearRegression": ("ols", "ordinary least squares"),
    "LinearSVC": ("svm", "support vector machine", "LinearSVC"),
    "LocallyLinearEmbedding": ("lle", "manifold learning"),
    "LocallyWeightedRegression": ("loess", "lowess", "local regression"),
    "LogisticRegression": ("logit", "maximum entropy", "softmax regression"),
    "LogitBoost": ("boosting",),
    "MARS": ("multivariate adaptive regression splines", "earth"),
    "MeanShift": ("mode seeking",),
    "ModelTree": ("m5", "linear model tree"),
    "NIPALS": ("pca", "missing values"),
    "NaiveBayes": ("GaussianNB", "MultinomialNB", "BernoulliNB"),
    "OneClassSVM": ("novelty detection", "outlier detection", "anomaly detection"),
    "OneHot": ("dummy variables", "one-hot encoding", "indicator columns"),
    "OneVsOne": ("ovo", "all pairs", "multiclass"),
    "OneVsRest": ("ovr", "one versus all", "ova", "multiclass"),
    "Ordinal": ("ordered categories", "integer codes"),
    "OutputCode": ("ecoc", "error-correcting output codes"),
    "PCA": ("principal component analysis", "Karhunen-Loeve", "svd"),
    "Perceptron": ("linear threshold unit",),
    "PocketPerceptron": ("linear threshold unit", "pocket algorithm"),
    "PolynomialFeatures": ("interactions",),
    "QuantileRegress": ("median regression", "pinball loss"),
    "QuantileTransformer": ("rank transform",),
    "RandomForest": ("rf", "bagged trees"),
    "RandomProjection": ("Johnson-Lindenstrauss",),
    "RecursiveElimination": ("rfe", "recursive feature elimination"),
    "Ridge": ("l2 penalty", "Tikhonov", "weight decay", "regularization"),
    "RobustRegression": ("HuberRegressor", "m-estimator", "outliers"),
    "RuleList": ("decision list", "ripper", "association rules"),
    "SVC": ("svm", "support vector machine", "kernel machine"),
    "SVR": ("svm", "support vector regression", "kernel machine"),
    "SelfOrgani": ("som", "Kohonen map"),
    "SparseLogistic": ("l1 penalty", "logit"),
    "SpectralEmbedding": ("Laplacian eigenmaps", "manifold learning"),
    "Spline": ("b-spline", "natural cubic spline", "smoothing"),
    "Stacking": ("stacked generalization", "super learner"),
    "TSNE": ("t-sne", "stochastic neighbor embedding", "manifold learning"),
    "Voting": ("majority vote", "ensemble"),
    "Whiten": ("sphering", "decorrelation"),
    "WordCounts": ("bag of words", "CountVectorizer", "tf-idf"),
    "WrapperSelector": ("forward selection", "SequentialFeatureSelector"),
}


def synonyms_of(name: str) -> tuple[str, ...]:
    """The synonyms of every part that the name of a class contains.

    Examples
    --------
    >>> synonyms_of("RandomForestRegressor")
    ('rf', 'bagged trees')
    """
    return tuple(word for part, words in SYNONYMS.items() if part in name for word in words)


# Names of other libraries for what has another name here: a different interface or meaning.
CALLED_HERE: dict[str, str] = {
    "BayesianNetwork": "gnomon.graphical.BeliefNetwork",
    "ClassicalMDS": "gnomon.reduce.principal_coordinates",
    "CountVectorizer": "gnomon.prepare.WordCounts",
    "IterativeImputer": "gnomon.prepare.RegressionImpute",
    "KFold": "gnomon.evaluate.k_fold",
    "KernelRidge": "gnomon.margin.kernel_ridge",
    "LeaveOneOut": "gnomon.evaluate.leave_one_out",
    "Logit": "gnomon.linear.LogisticRegression",
    "MDS": "gnomon.reduce.stress_map",
    "OLS": "gnomon.linear.LinearRegression",
    "brier_score_loss": "gnomon.evaluate.brier_score",
    "calibration_curve": "gnomon.evaluate.calibration",
    "confusion_matrix": "gnomon.evaluate.confusion_table",
    "permutation_test_score": "gnomon.evaluate.label_permutation_test",
    "train_test_split": "gnomon.evaluate.hold_out_split",
}
