"""Machines against libsvm and liblinear as scikit-learn has them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm as peer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.metrics import pairwise
from sklearn.multiclass import OneVsOneClassifier as PeerOneVsOne
from sklearn.multiclass import OneVsRestClassifier as PeerOneVsRest
from sklearn.pipeline import make_pipeline

from gnomon.margin import (
    RBF,
    SVC,
    SVR,
    ChiSquare,
    LinearSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    OneVsOneClassifier,
    OneVsRestClassifier,
    Polynomial,
    Sigmoid,
)

KERNELS = {
    "linear": {},
    "rbf": {"gamma": 0.4},
    "poly": {"gamma": 0.5, "degree": 2, "coef0": 1.0},
}


def groups(rng, n=150, d=3, k=3):
    codes = np.arange(n) % k
    return rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(k, d))[codes], codes


def dual_of(model, X, kernel):
    c = model.dual_coef_[0]
    return np.abs(c).sum() - 0.5 * c @ kernel(X[model.support_]) @ c


@pytest.mark.covers("kernel-svm", "soft-margin-svm")
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_dual_objective_is_not_below_libsvms_and_scores_agree(kernel, rng):
    X, codes = groups(rng, k=2)
    ours = SVC(C=2.0, kernel=kernel, tol=1e-7, **KERNELS[kernel]).fit(X, codes)
    theirs = peer.SVC(C=2.0, kernel=kernel, tol=1e-7, **KERNELS[kernel]).fit(X, codes)
    reached = dual_of(theirs, X, ours.kernel_)
    assert ours.dual_objective_[0] == pytest.approx(reached, rel=1e-5)
    assert ours.dual_objective_[0] >= reached * (1 - 1e-6)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=5e-3, rtol=1e-3
    )


@pytest.mark.covers("kernel-svm")
def test_pairs_of_several_classes_are_those_of_libsvm(rng):
    X, codes = groups(rng, k=4)
    ours = SVC(gamma=0.3, tol=1e-7).fit(X, codes)
    theirs = peer.SVC(gamma=0.3, tol=1e-7, decision_function_shape="ovo").fit(X, codes)
    np.testing.assert_allclose(-ours.pair_scores(X), theirs.decision_function(X), atol=1e-3)
    # votes near a border of two classes may fall either way
    clear = np.abs(ours.pair_scores(X)).min(axis=1) > 1e-2
    theirs = peer.SVC(gamma=0.3, tol=1e-7, break_ties=True).fit(X, codes)
    ours.set_params(break_ties=True)
    assert (ours.predict(X) == theirs.predict(X))[clear].all()
    np.testing.assert_allclose(
        ours.decision_function(X)[clear], theirs.decision_function(X)[clear], atol=1e-3
    )


@pytest.mark.covers("svm-class-costs")
def test_costs_of_classes_and_rows_are_those_of_libsvm(rng):
    X, codes = groups(rng, k=2)
    weights = rng.uniform(0.2, 3, len(X))
    costs = {0: 0.5, 1: 3.0}
    ours = SVC(gamma=0.3, class_weight=costs, tol=1e-7).fit(X, codes, sample_weight=weights)
    theirs = peer.SVC(gamma=0.3, class_weight=costs, tol=1e-7)
    theirs.fit(X, codes, sample_weight=weights)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)


@pytest.mark.covers("support-vector-regression")
@pytest.mark.parametrize("kernel", KERNELS)
def test_regressions_agree_with_libsvm(kernel, rng):
    X, codes = groups(rng, 100)
    y = np.sin(X[:, 0]) + codes + 0.3 * rng.normal(size=100)
    ours = SVR(C=1.5, epsilon=0.2, kernel=kernel, tol=1e-7, **KERNELS[kernel]).fit(X, y)
    theirs = peer.SVR(C=1.5, epsilon=0.2, kernel=kernel, tol=1e-7, **KERNELS[kernel]).fit(X, y)
    c = theirs.dual_coef_[0]
    gram = ours.kernel_(X[theirs.support_])
    reached = y[theirs.support_] @ c - 0.2 * np.abs(c).sum() - 0.5 * c @ gram @ c
    assert ours.dual_objective_ == pytest.approx(reached, rel=1e-5)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=5e-3)


def test_nu_forms_and_one_class_agree_with_libsvm(rng):
    X, codes = groups(rng, k=2)
    y = X[:, 0] + rng.normal(size=len(X))
    ours = NuSVC(nu=0.4, gamma=0.3, tol=1e-7).fit(X, codes)
    theirs = peer.NuSVC(nu=0.4, gamma=0.3, tol=1e-7).fit(X, codes)
    scale = np.abs(theirs.decision_function(X)).max()
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=2e-3 * scale
    )
    ours = NuSVR(nu=0.4, gamma=0.3, tol=1e-7).fit(X, y)
    theirs = peer.NuSVR(nu=0.4, gamma=0.3, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=2e-3)
    ours = OneClassSVM(nu=0.3, gamma=0.3, tol=1e-7).fit(X)
    theirs = peer.OneClassSVM(nu=0.3, gamma=0.3, tol=1e-7).fit(X)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)


@pytest.mark.covers("soft-margin-svm")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_linear_machines_are_not_worse_than_liblinear(loss, rng):
    X, codes = groups(rng, 300, 5, 2)
    sign = np.where(codes == 1, 1.0, -1.0)

    def objective(model):
        z = np.append(model.coef_[0], model.intercept_[0])
        slack = np.maximum(0, 1 - sign * model.decision_function(X))
        return 0.5 * z @ z + (slack if loss == "hinge" else slack**2).sum()

    ours = LinearSVC(loss=loss).fit(X, codes)
    theirs = peer.LinearSVC(loss=loss, dual=True, max_iter=5000).fit(X, codes)
    assert objective(ours) <= objective(theirs) * (1 + 1e-5)
    assert ours.dual_objective_[0] <= objective(theirs)


@pytest.mark.covers("one-vs-rest", "one-vs-one")
def test_classes_of_many_from_two_are_scikit_learns(rng):
    X, codes = groups(rng, k=4)
    member = peer.LinearSVC(dual=False, tol=1e-10)
    ours, theirs = OneVsRestClassifier(member), PeerOneVsRest(member)
    np.testing.assert_allclose(
        ours.fit(X, codes).decision_function(X), theirs.fit(X, codes).decision_function(X)
    )
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    ours, theirs = OneVsOneClassifier(member), PeerOneVsOne(member)
    np.testing.assert_allclose(
        ours.fit(X, codes).decision_function(X), theirs.fit(X, codes).decision_function(X)
    )


@pytest.mark.covers("kernel-rbf", "kernel-polynomial", "kernel-sigmoid")
def test_kernel_matrices_are_scikit_learns(rng):
    A, B = rng.normal(size=(20, 4)), rng.normal(size=(10, 4))
    np.testing.assert_allclose(RBF(0.3)(A, B), pairwise.rbf_kernel(A, B, 0.3), atol=1e-12)
    np.testing.assert_allclose(
        Polynomial(3, 1.0, 0.3)(A, B), pairwise.polynomial_kernel(A, B, 3, 0.3, 1.0)
    )
    np.testing.assert_allclose(
        Sigmoid(0.3, 0.1)(A, B), pairwise.sigmoid_kernel(A, B, 0.3, 0.1), atol=1e-12
    )
    A, B = np.abs(A), np.abs(B)
    np.testing.assert_allclose(ChiSquare(0.7)(A, B), pairwise.chi2_kernel(A, B, 0.7))


def test_regressors_as_members_predict_every_class(rng):
    X = rng.normal(size=(90, 2))
    y = np.arange(90) % 3
    X += 4 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    for ours, theirs in (
        (OneVsRestClassifier, PeerOneVsRest),
        (OneVsOneClassifier, PeerOneVsOne),
    ):
        found = ours(LinearRegression()).fit(X, y).predict(X)
        assert set(found) == {0, 1, 2}
        assert np.mean(found == y) >= np.mean(theirs(LinearRegression()).fit(X, y).predict(X) == y)


def test_kernel_values_are_cut_to_the_rows_of_each_pair(rng):
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    X[:, 0] += 2 * y
    member = peer.SVC(kernel="precomputed")
    ours = OneVsOneClassifier(member).fit(X @ X.T, y)
    theirs = PeerOneVsOne(member).fit(X @ X.T, y)
    assert ours.__sklearn_tags__().input_tags.pairwise
    np.testing.assert_array_equal(ours.predict(X @ X.T), theirs.predict(X @ X.T))


def test_several_labels_of_a_row_are_learnt_one_by_one(rng):
    X = rng.normal(size=(80, 3))
    labels = (X @ rng.normal(size=(3, 4)) > 0).astype(int)
    ours = OneVsRestClassifier(peer.SVC()).fit(X, labels)
    theirs = PeerOneVsRest(peer.SVC()).fit(X, labels)
    assert ours.multilabel_
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_sparse_coefficients_of_a_linear_machine_predict_the_same(rng):
    X = rng.normal(size=(60, 4))
    model = LinearSVC(C=0.1).fit(X, X[:, 0] + X[:, 1] > 0)
    before, shape = model.decision_function(X), model.coef_.shape
    assert sp.issparse(model.sparsify().coef_)
    np.testing.assert_array_equal(model.decision_function(X), before)
    assert model.densify().coef_.shape == shape


@pytest.mark.parametrize("name", ["OneVsRestClassifier", "OneVsOneClassifier"])
def test_a_pipeline_that_fills_missing_cells_may_be_the_member(rng, name):
    X = np.where(rng.random((60, 3)) < 0.2, np.nan, rng.normal(size=(60, 3)))
    y = rng.integers(3, size=60)
    member = make_pipeline(SimpleImputer(), peer.LinearSVC())
    ours = {"OneVsRestClassifier": OneVsRestClassifier, "OneVsOneClassifier": OneVsOneClassifier}
    theirs = {"OneVsRestClassifier": PeerOneVsRest, "OneVsOneClassifier": PeerOneVsOne}
    found = ours[name](member).fit(X, y).predict(X)
    np.testing.assert_array_equal(found, theirs[name](member).fit(X, y).predict(X))
