"""NaiveBayes against scikit-learn's five classes, in matching settings."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

from gnomon.bayes import NaiveBayes

N, K, D = 300, 3, 7


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)


def agree(ours, theirs, rows):
    close(ours.predict_joint_log_proba(rows), theirs.predict_joint_log_proba(rows))
    close(ours.predict_log_proba(rows), theirs.predict_log_proba(rows))
    close(ours.predict_proba(rows), theirs.predict_proba(rows))
    assert (ours.predict(rows) == theirs.predict(rows)).all()


@pytest.fixture
def y(rng):
    return rng.permutation(np.arange(N) % K)


@pytest.mark.covers("naive-bayes")
@pytest.mark.parametrize("priors", [None, [0.5, 0.3, 0.2]])
def test_normal_columns_equal_gaussian_nb(rng, y, priors):
    rows = rng.normal(size=(N, D)) * rng.uniform(0.1, 10, D) + y[:, None]
    ours = NaiveBayes(priors=priors).fit(rows, y)
    theirs = GaussianNB(priors=priors).fit(rows, y)
    close(ours.fitted_models_[0].mean, theirs.theta_)
    close(ours.fitted_models_[0].variance, theirs.var_)
    agree(ours, theirs, rng.normal(size=(50, D)))


def test_normal_columns_with_weights_equal_gaussian_nb(rng, y):
    rows, weights = rng.normal(size=(N, D)), rng.uniform(0, 3, N)
    ours = NaiveBayes(var_smoothing=0).fit(rows, y, sample_weight=weights)
    agree(ours, GaussianNB(var_smoothing=0).fit(rows, y, sample_weight=weights), rows)


@pytest.mark.covers("naive-bayes")
@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("alpha", [1.0, 0.1])
@pytest.mark.parametrize(
    ("name", "peer"), [("multinomial", MultinomialNB), ("bernoulli", BernoulliNB)]
)
def test_count_columns_equal_multinomial_and_bernoulli_nb(rng, y, name, peer, alpha, as_rows):
    rows = as_rows(rng.poisson(0.5 + y[:, None] * rng.uniform(0, 1, D)))
    weights = rng.uniform(0.1, 3, N)
    ours = NaiveBayes(name, alpha=alpha).fit(rows, y, sample_weight=weights)
    agree(ours, peer(alpha=alpha).fit(rows, y, sample_weight=weights), rows)


def test_uniform_priors_equal_fit_prior_false(rng, y):
    y = np.minimum(y, 1)
    rows = rng.poisson(1 + y[:, None], size=(N, D))
    ours = NaiveBayes("multinomial", priors="uniform").fit(rows, y)
    agree(ours, MultinomialNB(fit_prior=False).fit(rows, y), rows)


@pytest.mark.covers("naive-bayes")
@pytest.mark.parametrize("alpha", [1.0, 0.3])
def test_categorical_columns_equal_categorical_nb(rng, y, alpha):
    rows = np.vstack([np.tile(np.arange(4), (D, 1)).T, rng.integers(0, 4, (N - 4, D))])
    weights = rng.uniform(0.1, 3, N)
    ours = NaiveBayes("categorical", alpha=alpha).fit(rows, y, sample_weight=weights)
    theirs = CategoricalNB(alpha=alpha).fit(rows, y, sample_weight=weights)
    agree(ours, theirs, rng.integers(0, 4, (40, D)))


def test_mixed_columns_equal_the_product_of_the_peers_models(rng, y):
    measures = rng.normal(size=(N, 3)) + y[:, None]
    words = rng.poisson(1 + 0.3 * y[:, None], size=(N, 4))
    models = dict.fromkeys(range(3, 7), "multinomial")
    ours = NaiveBayes(models).fit(np.hstack([measures, words]), y)
    joint = GaussianNB().fit(measures, y).predict_joint_log_proba(measures)
    joint += MultinomialNB().fit(words, y).predict_joint_log_proba(words)
    joint -= np.log(ours.class_prior_)
    close(ours.predict_joint_log_proba(np.hstack([measures, words])), joint)


@pytest.mark.covers("naive-bayes")
@pytest.mark.parametrize(("name", "peer"), [("multinomial", MultinomialNB), ("normal", GaussianNB)])
def test_batches_equal_the_peers_batches(rng, y, name, peer):
    rows = rng.poisson(2 + y[:, None], size=(N, D)).astype(float)
    smoothing = {} if name == "multinomial" else {"var_smoothing": 0}
    ours, theirs = NaiveBayes(name, **smoothing), peer(**smoothing)
    for part in np.array_split(np.arange(N), 4):
        ours.partial_fit(rows[part], y[part], classes=np.arange(K))
        theirs.partial_fit(rows[part], y[part], classes=np.arange(K))
    agree(ours, theirs, rows)


@pytest.mark.covers("naive-bayes-kde")
def test_kernel_columns_equal_scipys_kernel_density(rng, y):
    from scipy.stats import gaussian_kde

    values, weights = rng.normal(size=N), rng.uniform(0.1, 2, N)
    ours = NaiveBayes("kernel", bandwidth=0.4, priors="uniform")
    ours.fit(values[:, None], y, sample_weight=weights)
    at = rng.normal(size=30) * 3
    for k in range(K):
        mine = y == k
        spread = np.sqrt(np.cov(values[mine], aweights=weights[mine]))
        theirs = gaussian_kde(values[mine], 0.4 / spread, weights[mine])
        close(ours.predict_joint_log_proba(at[:, None])[:, k], theirs.logpdf(at) - np.log(K))
