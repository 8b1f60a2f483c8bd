"""The texts and their chapters."""

from __future__ import annotations

TEXTS = {
    "000": "Forsyth, Applied Machine Learning",
    "001": "Lecture notes of a one-term course",
    "002": "Orbanz, Statistical Machine Learning",
    "003": "Gashler, A Tour of Machine Learning",
    "004": "Battiti and Brunato, The LION Way",
}

CHAPTERS: dict[str, dict[int, str]] = {
    "000": dict(
        enumerate(
            [
                "Learning to classify",
                "SVMs and random forests",
                "A little learning theory",
                "High-dimensional data",
                "Principal component analysis",
                "Low-rank approximations",
                "Canonical correlation analysis",
                "Clustering",
                "Clustering using probability models",
                "Regression",
                "Regression: choosing and managing models",
                "Boosting",
                "Hidden Markov models",
                "Learning sequence models discriminatively",
                "Mean field inference",
                "Simple neural networks",
                "Simple image classifiers",
                "Classifying images and detecting objects",
                "Small codes for big signals",
            ],
            1,
        )
    ),
    "001": dict(
        enumerate(
            [
                "The learning problem",
                "Training versus testing",
                "The linear model",
                "Multinomial regression",
                "Overfitting",
                "Support vector machines",
                "Deep feedforward networks",
                "Convolutional networks",
                "Tree-based methods",
                "Random forests",
                "Boosting and additive trees",
                "Sequential data",
                "Conditional probabilities and graphical models",
                "Johnson-Lindenstrauss dimensionality reduction",
                "Principal component analysis",
                "Representative-based clustering",
                "Density-based clustering",
                "Clustering validation",
                "Hierarchical clustering",
                "DBSCAN revisited",
            ],
            3,
        )
    ),
    # the slides have no chapters: these are runs of slides on one subject
    "002": dict(
        enumerate(
            [
                "Maximum likelihood and Bayes classifiers",
                "Linear classifiers and the perceptron",
                "Maximum margin",
                "Optimization",
                "Several classes, kernels, model selection",
                "Trees, boosting, bagging and forests",
                "Regression, shrinkage, bias and variance",
                "Dimension reduction",
                "Clustering and mixtures",
                "Exponential families and text",
                "Information theory and model order",
                "Markov chains and PageRank",
                "Graphical models and hidden Markov models",
                "Bayesian models and topics",
                "Sampling and Markov chain Monte Carlo",
            ],
            1,
        )
    ),
    "003": {
        2: "Data-driven learning methods",
        3: "Probability, utility and belief networks",
        4: "Optimization, regression and networks",
        5: "Linear algebra and the chain rule",
    },
    "004": dict(
        enumerate(
            [
                "Introduction",
                "Lazy learning: nearest neighbors",
                "Learning requires a method",
                "Linear models",
                "Mastering generalized linear least-squares",
                "Rules, decision trees, and forests",
                "Ranking and selecting features",
                "Specific nonlinear models",
                "Neural networks, shallow and deep",
                "Statistical learning theory and support vector machines",
                "Democracy in machine learning",
                "Top-down clustering: K-means",
                "Bottom-up clustering",
                "Self-organizing maps",
                "Dimensionality reduction by linear transformations",
                "Visualizing graphs and networks by nonlinear maps",
                "Semi-supervised learning",
            ],
            1,
        )
    ),
}

# First line of each run of slides of 002 in the transcript that docstrings cite (``L717-978``).
LINES_002 = [0, 393, 608, 990, 1490, 1990, 2990, 4080, 4300, 4800, 5290, 5870, 6290, 6620, 7290]

# Words of the titles of slides of 002, by run of slides; the first run that matches is meant.
WORDS_002 = {
    6: ("tree", "stump", "boost", "ensemble", "bagging", "forest", "cascade", "viola", "face"),
    5: ("kernel", "cross validation", "model selection", "several classes", "train, valid"),
    11: ("information theory", "entropy", "huffman", "source coding", "aic", "stability"),
    9: ("k-means", "mixture", "em for", '"em"', "cluster"),
    8: ("pca", "ica", "dimension", "projection"),
    10: ("exponential famil", "multinomial", "text", "n-gram", "moment", "zipf", "shakespeare"),
    12: ("markov chain", "pagerank", "random walk", "web"),
    13: ("graphical", "hidden markov", "hmm", "speech", "casino", "viterbi"),
    14: (
        "posterior",
        "bayesian",
        "prior",
        "hierarchical",
        "topic",
        "dirichlet",
        "lda",
        "conjugate",
    ),
    15: ("sampl", "mcmc", "gibbs", "metropolis", "ising", "potts", "rejection", "segmentation"),
    7: ("regression", "ridge", "lasso", "bias", "linear algebra", "covariance", "bootstrap"),
    4: ("optimi", "gradient", "newton", "convex", "constrain"),
    3: ("margin", "svm", "hull"),
    2: ("perceptron", "hyperplane", "linear class"),
    1: ("",),
}
