"""Terms of the field, each in a sentence and with what computes it."""

# a term: what it means and what computes it, then other names of the term
TERMS: dict[str, tuple[str, ...]] = {
    "accuracy": (
        "The share of rows whose predicted class is right; compare it with the baseline's "
        "(evaluate.accuracy, evaluate.BaselineClassifier).",
        "hit rate",
    ),
    "AUC": (
        "The area under the ROC curve: the chance that a positive row has a higher score than a "
        "negative one (evaluate.roc_curve).",
        "area under the curve",
        "c-statistic",
    ),
    "autoML": (
        "Methods and parameters compared automatically on the same folds (gnomon learn).",
        "automatic machine learning",
        "model selection",
    ),
    "baseline": (
        "A prediction that ignores the columns, such as the commonest class; a model must beat it "
        "to be of use (evaluate.BaselineClassifier, evaluate.BaselineRegressor).",
        "dummy",
    ),
    "bias and variance": (
        "The two parts of a learner's error: what it gets wrong on average, and how much it "
        "changes with the training rows (evaluate.bias_variance).",
        "bias variance",
        "overfitting",
        "underfitting",
    ),
    "calibration": (
        "Whether events that are predicted with 70% happen in 70% of the cases "
        "(evaluate.calibration, gnomon learn).",
        "reliability diagram",
    ),
    "clustering": (
        "Parting rows into groups without a target (gnomon group, the package cluster).",
        "segmentation",
        "unsupervised learning",
    ),
    "confidence interval": (
        "A range that holds the true value in the stated share of repetitions; every score of "
        "gnomon has one (contract.estimate.Estimate).",
        "error bar",
        "confidence level",
    ),
    "confusion matrix": (
        "Rows counted by true and predicted class (evaluate.confusion_table).",
        "contingency table",
    ),
    "cross-validation": (
        "Every row is tested once by a model that was fitted on other rows "
        "(evaluate.cross_validation_estimates).",
        "k-fold",
        "cv",
        "resampling",
    ),
    "drift": (
        "New rows that differ from the training rows (gnomon.shift_check, gnomon predict).",
        "covariate shift",
        "data shift",
    ),
    "feature importance": (
        "How much worse predictions become without a column (gnomon learn).",
        "permutation importance",
        "variable importance",
    ),
    "feature selection": ("Choosing columns inside the folds (the package select).",),
    "forecast": (
        "Predicting the next values of a series, with intervals (gnomon forecast; "
        "sequence.ETSModel, sequence.LagForecaster, sequence.Autoregression).",
        "time series",
        "prediction of a series",
    ),
    "GAN": ("A generative adversarial network: one network generates rows, another judges them.",),
    "imputation": (
        "Filling missing cells (neighbors.KNNImputer).",
        "missing values",
        "missing data",
    ),
    "leak": (
        "A column that holds the target or was written after it; scores are then too good "
        "(gnomon look, gnomon learn).",
        "leakage",
        "data leakage",
        "target leakage",
    ),
    "log loss": (
        "Minus the mean logarithm of the probability of the true class (evaluate.log_loss).",
        "cross-entropy",
        "deviance",
    ),
    "multiple testing": (
        "Many tests find something by chance; p-values are corrected for their number "
        "(evaluate.adjusted_p_values).",
        "Bonferroni",
        "false discovery rate",
    ),
    "outlier": (
        "A row far from the others (gnomon look, margin.OneClassSVM, cluster.HDBSCAN).",
        "anomaly",
        "novelty",
    ),
    "p-value": (
        "The probability of a result at least as extreme if the null hypothesis were true.",
        "significance",
        "hypothesis test",
    ),
    "R2": (
        "The share of the variance of the target that a model explains (evaluate.r_squared).",
        "R squared",
        "coefficient of determination",
    ),
    "regularization": (
        "A penalty on large coefficients that trades variance for bias (linear.Ridge, "
        "linear.Lasso).",
        "regularization",
        "shrinkage",
        "penalty",
    ),
    "ROC": (
        "Receiver operating characteristic: true against false positive rate at every threshold "
        "(evaluate.roc_curve, show.roc).",
        "ROC curve",
        "receiver operating characteristic",
    ),
    "test rows": (
        "Rows that are used once, at the end, for an honest score.",
        "held-out rows",
        "test set",
    ),
}
