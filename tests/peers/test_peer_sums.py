"""Classes of scikit-learn that learn from sums: of chunks, what scikit-learn has of all rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.covariance
import sklearn.feature_selection
import sklearn.naive_bayes
from sklearn.feature_selection import chi2, f_classif, f_regression, r_regression

from gnomon.bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from gnomon.density import OAS, LedoitWolf
from gnomon.select import GenericUnivariateSelect, SelectFdr, SelectKBest, VarianceThreshold
from gnomon.table import scan

N = 20_000  # several chunks of five columns


def written(X, y, weights, tmp_path):
    names = [f"c{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names)
    frame = frame if y is None else frame.assign(outcome=y)
    frame = frame if weights is None else frame.assign(times=weights)
    frame.to_parquet(tmp_path / "rows.parquet")
    return scan(tmp_path / "rows.parquet", rows_per_chunk=700)


@pytest.mark.parametrize("cls", [GaussianNB, BernoulliNB, MultinomialNB, ComplementNB])
@pytest.mark.parametrize("kind", ["none", "whole", "any"])
def test_naive_bayes_in_chunks_is_that_of_all_rows(cls, kind, rng, tmp_path):
    y = rng.integers(0, 3, N)
    X = rng.poisson(2 + y[:, None], (N, 5)) + (0.25 if cls is GaussianNB else 0.0)
    weights = {"none": None, "whole": rng.integers(0, 3, N) * 1.0, "any": rng.random(N)}[kind]
    streamed = cls().fit(
        written(X, y, weights, tmp_path),
        "outcome",
        sample_weight=None if weights is None else "times",
    )
    here = cls().fit(X, y, sample_weight=weights)
    theirs = getattr(sklearn.naive_bayes, cls.__name__)().fit(X, y, sample_weight=weights)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(5)])
    assert streamed.predict_proba(frame).tobytes() == here.predict_proba(X).tobytes()
    np.testing.assert_allclose(here.predict_proba(X), theirs.predict_proba(X), rtol=1e-7)
    for name in ("class_count_", "feature_count_", "theta_", "class_log_prior_", "class_prior_"):
        if hasattr(theirs, name):
            np.testing.assert_allclose(getattr(here, name), getattr(theirs, name), rtol=1e-10)


def test_variances_far_from_zero_keep_their_digits_in_chunks(rng, tmp_path):
    X, y = rng.normal(size=(N, 2)) + 1e8, rng.integers(0, 2, N)
    streamed = GaussianNB().fit(written(X, y, None, tmp_path), "outcome")
    exact = [(X[y == k] - X[y == k].mean(axis=0)).var(axis=0) for k in (0, 1)]
    np.testing.assert_allclose(streamed.var_ - streamed.epsilon_, exact, rtol=1e-7)


def test_negative_counts_of_a_stream_are_refused_as_in_memory(rng, tmp_path):
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    for rows, target in ((written(X, y, None, tmp_path), "outcome"), (X, y)):
        with pytest.raises(ValueError, match="Negative values in data passed to MultinomialNB"):
            MultinomialNB().fit(rows, target)


def test_priors_of_a_stream_are_checked_as_in_memory(rng, tmp_path):
    X, y = rng.normal(size=(50, 3)), rng.integers(0, 2, 50)
    for rows, target in ((written(X, y, None, tmp_path), "outcome"), (X, y)):
        with pytest.raises(ValueError, match="sum of the priors should be 1"):
            GaussianNB(priors=[0.5, 0.6]).fit(rows, target)
        found = GaussianNB(priors=[0.3, 0.7]).fit(rows, target)
        assert found.class_prior_.tolist() == [0.3, 0.7]


@pytest.mark.parametrize(
    ("selector", "score"),
    [
        *[(SelectKBest, score) for score in (chi2, f_classif, f_regression, r_regression)],
        *[(SelectFdr, score) for score in (chi2, f_classif, f_regression)],
        (GenericUnivariateSelect, f_classif),
    ],
)
def test_scores_in_chunks_are_those_of_all_rows(score, selector, rng, tmp_path):
    of_classes = score in (chi2, f_classif)
    y = rng.integers(0, 3, N) if of_classes else rng.normal(size=N)
    X = rng.gamma(2, 1, (N, 5)) + 0.02 * np.outer(y - y.min(), np.arange(5))
    more = {"k": 3} if selector is SelectKBest else {}
    streamed = selector(score, **more).fit(written(X, y, None, tmp_path), "outcome")
    here = selector(score, **more).fit(X, y)
    theirs = getattr(sklearn.feature_selection, selector.__name__)(score, **more).fit(X, y)
    assert streamed.scores_.tobytes() == here.scores_.tobytes()
    np.testing.assert_allclose(here.scores_, theirs.scores_, rtol=1e-8)
    if score is not r_regression:
        np.testing.assert_allclose(here.pvalues_, theirs.pvalues_, rtol=1e-6, atol=1e-300)
    assert streamed.get_support().tolist() == theirs.get_support().tolist()
    assert here.score_func is score


def test_a_perfect_and_a_constant_column_have_scikit_learns_scores(rng):
    y = rng.normal(size=N)
    X = np.column_stack([np.round(y * 64) / 64, np.full(N, 3.0), rng.normal(size=N)])
    target = X[:, 0].copy()
    here, theirs = SelectKBest(f_regression, k=1).fit(X, target), f_regression(X, target)
    np.testing.assert_allclose(here.scores_[1:], theirs[0][1:], rtol=1e-8)
    np.testing.assert_allclose(here.pvalues_[1:], theirs[1][1:], rtol=1e-8)
    assert here.scores_[0] > 1e12
    assert here.pvalues_[0] == 0.0


@pytest.mark.parametrize("threshold", [0.0, 0.4])
def test_variances_in_chunks_are_those_of_all_rows_with_holes(threshold, rng, tmp_path):
    X = rng.normal(size=(N, 5)) * [1.0, 0.1, 1e-9, 3.0, 0.0] + 2.0
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 4] = 7.0
    streamed = VarianceThreshold(threshold).fit(written(X, None, None, tmp_path))
    here = VarianceThreshold(threshold).fit(X)
    theirs = sklearn.feature_selection.VarianceThreshold(threshold).fit(X)
    assert streamed.variances_.tobytes() == here.variances_.tobytes()
    np.testing.assert_allclose(here.variances_, theirs.variances_, rtol=1e-8, atol=1e-25)
    assert streamed.get_support().tolist() == theirs.get_support().tolist()
    with pytest.raises(ValueError, match="No feature in X meets the variance threshold 1000"):
        VarianceThreshold(1000.0).fit(X)


@pytest.mark.parametrize("cls", [LedoitWolf, OAS])
@pytest.mark.parametrize("assume_centered", [False, True])
@pytest.mark.parametrize(("n", "d"), [(N, 5), (30, 12), (300, 1)])
def test_shrunk_covariances_in_chunks_are_those_of_all_rows(
    cls, assume_centered, n, d, rng, tmp_path
):
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 0.5
    given = {"assume_centered": assume_centered}
    streamed = cls(**given).fit(written(X, None, None, tmp_path))
    here = cls(**given).fit(X)
    theirs = getattr(sklearn.covariance, cls.__name__)(**given).fit(X)
    for name in ("location_", "covariance_", "precision_", "shrinkage_"):
        found, expected = getattr(here, name), getattr(theirs, name)
        assert np.asarray(getattr(streamed, name)).tobytes() == np.asarray(found).tobytes()
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)
