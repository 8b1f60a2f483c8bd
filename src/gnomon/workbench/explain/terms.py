"""Terms of the field, each in a sentence and with what computes it."""

# a term: what it means and what computes it, then other names of the term
TERMS: dict[str, tuple[str, ...]] = {
    "accuracy": (
        "The share of rows whose predicted class is right; compare it with the baseline's "
        "(evaluate.accuracy, evaluate.BaselineClassifier).",
        "hit rate",
    ),
    "active learning": (
        "Choosing the rows whose label teaches most (semi.query, gnomon label).",
        "uncertainty sampling",
        "query strategy",
    ),
    "attention": (
        "Weights by which a network, a transformer above all, mixes the states of a sequence. "
        "Not in gnomon: use PyTorch.",
        "self-attention",
        "large language model",
        "LLM",
    ),
    "AUC": (
        "The area under the ROC curve: the chance that a positive row has a higher score than "
        "a negative one (evaluate.roc_curve).",
        "area under the curve",
        "c-statistic",
    ),
    "autoML": (
        "Methods and parameters compared automatically on the same folds (gnomon learn).",
        "automatic machine learning",
        "model selection",
    ),
    "bandit": (
        "A choice among actions of which only the chosen one's reward is seen (semi.LinearBandit).",
        "multi-armed bandit",
        "contextual bandit",
    ),
    "baseline": (
        "A prediction that ignores the columns, such as the commonest class; a model must "
        "beat it to be of use (evaluate.BaselineClassifier, evaluate.BaselineRegressor).",
        "dummy",
    ),
    "batch normalization": (
        "Scaling the inputs of a layer by the mean and spread of the batch (neural.BatchNorm).",
        "batchnorm",
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
    "class imbalance": (
        'One class is much rarer than the others: weigh classes (class_weight="balanced"), or '
        "choose the threshold by costs (decide.CostDecisions, decide.Thresholds). Resampling "
        "by synthetic rows is not in gnomon.",
        "imbalanced classes",
        "SMOTE",
        "oversampling",
        "undersampling",
        "rare class",
    ),
    "clustering": (
        "Parting rows into groups without a target (gnomon group, the package cluster).",
        "segmentation",
        "unsupervised learning",
    ),
    "community detection": (
        "Groups of nodes of a graph with many links within: cluster.SpectralClustering with a "
        "precomputed affinity, judged by cluster.modularity. Louvain and Leiden are not in "
        "gnomon: use networkx or igraph.",
        "Louvain",
        "Leiden",
        "graph clustering",
    ),
    "confidence interval": (
        "A range that holds the true value in the stated share of repetitions; every score of "
        "gnomon has one (contract.estimate.Estimate).",
        "error bar",
        "confidence level",
    ),
    "conformal prediction": (
        "Sets or intervals of predictions that hold the truth in a stated share of new rows "
        "(gnomon learn, linear.prediction_intervals).",
        "prediction set",
        "prediction interval",
    ),
    "confusion matrix": (
        "Rows counted by true and predicted class (evaluate.confusion_table, show.confusion).",
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
    "dynamic time warping": (
        "A distance of two sequences after the best stretching of time; for words see "
        "sequence.least_cost_path. Not in gnomon as a metric: pass a function as metric "
        "(neighbors.FunctionDistance).",
        "DTW",
    ),
    "early stopping": (
        "Ending a fit when the score on rows kept aside no longer rises: early_stopping and "
        "n_iter_no_change of boosting, networks and stochastic gradient descent.",
        "n_iter_no_change",
        "patience",
    ),
    "edit distance": (
        "The fewest insertions, deletions and substitutions that turn one word into another "
        "(sequence.matching_cost, sequence.WordMatcher).",
        "Levenshtein distance",
        "Damerau-Levenshtein",
        "string distance",
    ),
    "EM algorithm": (
        "Expectation maximization: the likelihood with hidden variables is raised by turns of "
        "an expectation and a maximization (density.GaussianMixture, density.fit_mixture, "
        "sequence.GaussianHMM).",
        "expectation maximization",
    ),
    "ensemble": (
        "A model made of several models (the packages ensemble and trees).",
        "committee",
        "blending",
        "model averaging",
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
    "frequent itemsets": (
        "Items that often occur together, and rules from them (cluster.frequent_itemsets, "
        "cluster.association_rules).",
        "Apriori",
        "FP-growth",
        "market basket analysis",
    ),
    "GAN": ("A generative adversarial network: one network generates rows, another judges them.",),
    "genetic algorithm": (
        "A search that keeps, crosses and changes the best candidates (optimize.Evolution, "
        "optimize.DifferentialEvolution, select.Evolution).",
        "evolutionary algorithm",
    ),
    "gradient descent": (
        "Steps against the gradient (optimize.GradientDescent, optimize.Adam, "
        "linear.SGDClassifier).",
        "backpropagation",
        "SGD",
        "stochastic gradient descent",
    ),
    "graph neural network": (
        "A network on the nodes of a graph. Not in gnomon: use PyTorch Geometric.",
        "GNN",
    ),
    "hyperparameter": (
        "A parameter that is set before the fit; it is chosen by cross-validation "
        "(select.GridSearchCV, select.RandomizedSearchCV, select.tune, gnomon learn).",
        "hyperparameter tuning",
        "tuning",
        "Optuna",
    ),
    "imputation": (
        "Filling missing cells (neighbors.KNNImputer).",
        "missing values",
        "missing data",
    ),
    "information criterion": (
        "Likelihood less a price per parameter (evaluate.aic, evaluate.bic).",
        "AIC",
        "BIC",
        "MDL",
    ),
    "jackknife": (
        "Standard errors from leaving out one row, or block of rows, after the other "
        "(evaluate.bootstrap, evaluate.leave_one_out).",
        "leave-one-out error",
    ),
    "leak": (
        "A column that holds the target or was written after it; scores are then too good "
        "(gnomon look, gnomon learn).",
        "leakage",
        "data leakage",
        "target leakage",
    ),
    "locality-sensitive hashing": (
        "Near neighbors by codes that near rows share; gnomon searches approximately by a "
        "graph instead (neighbors.ApproximateNeighbors).",
        "LSH",
        "MinHash",
        "nearest neighbor index",
        "HNSW",
        "faiss",
    ),
    "log loss": (
        "Minus the mean logarithm of the probability of the true class (evaluate.log_loss).",
        "cross-entropy",
        "deviance",
    ),
    "MCMC": (
        "Markov chain Monte Carlo: draws from a density that is known up to a factor "
        "(sample.Metropolis, sample.Hamiltonian, sample.Gibbs, sample.Slice, "
        "sample.sample_chains).",
        "Markov chain Monte Carlo",
        "Monte Carlo",
        "PyMC",
        "Stan",
    ),
    "multiple testing": (
        "Many tests find something by chance; p-values are corrected for their number "
        "(evaluate.adjusted_p_values).",
        "Bonferroni",
        "false discovery rate",
    ),
    "number of clusters": (
        "How many groups the rows have (cluster.choose_by_silhouette, cluster.choose_by_gap, "
        "cluster.choose_by_knee, gnomon group).",
        "elbow",
        "elbow method",
        "gap statistic",
        "choice of k",
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
    "permutation importance": (
        "How much a score falls when a column is shuffled (trees.PermutationImportance, "
        "gnomon learn).",
        "variable importance",
        "mean decrease in accuracy",
    ),
    "pipeline": (
        "Steps that are fitted together inside each fold: scikit-learn's Pipeline takes "
        "gnomon's estimators; prepare.FilteredLearner joins a learner to filters.",
        "Pipeline",
        "ColumnTransformer",
        "make_pipeline",
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
    "reinforcement learning": (
        "Learning from rewards of actions. In gnomon only bandits (semi.LinearBandit) and "
        "example-wise grades (semi.Graded).",
        "Q-learning",
        "policy gradient",
    ),
    "ROC": (
        "Receiver operating characteristic: true against false positive rate at every "
        "threshold (evaluate.roc_curve, show.roc).",
        "ROC curve",
        "receiver operating characteristic",
    ),
    "seasonality": (
        "A pattern that repeats with a fixed period (sequence.find_season, "
        "sequence.decomposition, sequence.ETSModel).",
        "seasonal decomposition",
        "STL",
        "period",
    ),
    "SHAP": (
        "Shares of the columns in one prediction. The package shap reads gnomon's trees "
        "(`tree_`, `estimators_`) as it reads scikit-learn's; see also "
        "evaluate.contributions.",
        "Shapley values",
        "local explanation",
        "LIME",
    ),
    "survival analysis": (
        "Times until an event, some of them not yet seen. Not in gnomon: use lifelines or "
        "scikit-survival.",
        "Kaplan-Meier",
        "Cox regression",
        "proportional hazards",
        "censoring",
    ),
    "test rows": (
        "Rows that are used once, at the end, for an honest score.",
        "held-out rows",
        "test set",
    ),
    "train and test split": (
        "Rows to fit on and rows to judge by (table.split, evaluate.HoldOut; scikit-learn's "
        "train_test_split takes the same tables).",
        "train_test_split",
        "holdout",
        "validation set",
    ),
    "transfer learning": (
        "Fitting a part of a network that was trained on other rows (neural.fine_tune, "
        "neural.PretrainedClassifier).",
        "fine-tuning",
        "pretrained model",
    ),
    "VC dimension": (
        "The most rows that a family of models can part in every way (evaluate.vc_dimension, "
        "gnomon theory).",
        "Vapnik-Chervonenkis dimension",
        "PAC learning",
    ),
}
