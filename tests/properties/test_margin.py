"""What must hold of machines and kernels for any rows."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import gnomon
from gnomon.margin import (
    ANOVA,
    RBF,
    SVC,
    SVR,
    Linear,
    LinearSVC,
    OneVsOneClassifier,
    OneVsRestClassifier,
    Polynomial,
    margins,
    mercer_check,
    nearest_points,
    separability,
)

small = st.floats(-5, 5, allow_nan=False, width=32)
tables = arrays(np.float64, st.tuples(st.integers(4, 20), st.integers(1, 3)), elements=small)


def quietly(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


@given(tables)
def test_every_gram_matrix_of_a_kernel_passes_the_check_of_mercer(X):
    for kernel in (Linear(), RBF(0.5), Polynomial(2), ANOVA(0.5, 2), RBF(0.1) * Linear()):
        assert mercer_check(kernel(X), tol=1e-8).valid


@given(tables, st.integers(0, 10**6))
def test_a_machine_keeps_its_box_and_balance_and_no_score_contradicts_them(X, seed):
    y = np.random.default_rng(seed).integers(0, 2, len(X))
    y[:2] = 0, 1
    model = quietly(SVC(C=2.0, tol=1e-6), X, y)
    signed = model.dual_coef_[0]
    assert abs(signed.sum()) < 1e-9
    assert model.kkt_violation_[0] <= 1e-6
    # equal rows are one, with their weights added
    assert np.abs(signed).max(initial=0) <= 2.0 * len(X)
    assert np.isfinite(model.decision_function(X)).all()


@given(tables, st.integers(0, 10**6))
def test_rows_that_are_no_support_vectors_can_be_left_out(X, seed):
    y = np.random.default_rng(seed).integers(0, 2, len(X))
    y[:2] = 0, 1
    model = quietly(SVC(C=1.0, gamma=0.5, tol=1e-9), X, y)
    rows = model.support_
    if len(set(y[rows])) < 2:
        return
    kept = np.isin(np.arange(len(X)), rows)
    # equal rows stand behind one support vector
    kept |= [any((X[i] == X[r]).all() and y[i] == y[r] for r in rows) for i in range(len(X))]
    again = quietly(SVC(C=1.0, gamma=0.5, tol=1e-9), X[kept], y[kept])
    np.testing.assert_allclose(again.dual_objective_, model.dual_objective_, rtol=1e-6, atol=1e-8)


@given(tables, st.integers(0, 10**6))
def test_hulls_are_apart_exactly_where_a_plane_separates(X, seed):
    y = np.random.default_rng(seed).integers(0, 2, len(X))
    y[:2] = 0, 1
    answer = separability(X, y)
    distance = nearest_points(X[y == 0], X[y == 1]).distance
    if answer.separable:
        room = margins(answer.plane, X, np.where(y == 1, 1, -1)).geometric_margin
        assert room > 0
        assert distance >= 2 * room - 1e-3
    else:
        assert distance < 1e-2


@given(st.integers(0, 10**6))
def test_a_shift_of_the_rows_changes_no_machine_of_a_distance(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    y = np.arange(30) % 2
    shift = rng.uniform(-10, 10, 2)
    one = quietly(SVC(kernel=RBF(0.5), tol=1e-8), X, y).decision_function(X)
    other = quietly(SVC(kernel=RBF(0.5), tol=1e-8), X + shift, y).decision_function(X + shift)
    np.testing.assert_allclose(one, other, atol=1e-4)
    target = X[:, 0] + rng.normal(size=30)
    up = quietly(SVR(tol=1e-8), X, target + 7).predict(X)
    np.testing.assert_allclose(up, quietly(SVR(tol=1e-8), X, target).predict(X) + 7, atol=1e-4)


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_votes_and_claims_agree_with_what_is_predicted(seed, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12 * k, 2))
    y = np.arange(12 * k) % k
    one = quietly(OneVsOneClassifier(None), X, y)
    votes = one.votes(X)
    assert (votes.sum(axis=1) == k * (k - 1) // 2).all()
    assert (votes[np.arange(len(X)), one.predict(X)] == votes.max(axis=1)).all()
    clear = ~one.ties(X)
    assert (votes.argmax(axis=1) == one.predict(X))[clear].all()
    rest = quietly(OneVsRestClassifier(None), X, y)
    claims = rest.claims(X)
    single = claims.sum(axis=1) == 1
    assert (claims.argmax(axis=1) == rest.predict(X))[single].all()


@given(st.integers(0, 10**6))
def test_kernels_of_any_make_are_saved_with_their_machines(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 2))
    kernel = 0.5 * RBF(sigma=1.3) + Polynomial(2) * ANOVA(0.3, 1) + Linear()
    model = quietly(SVC(kernel=kernel), X, np.arange(20) % 2)
    with tempfile.TemporaryDirectory() as folder:
        loaded = gnomon.load(model.save(Path(folder) / "model.gnomon"))
    assert loaded.kernel == kernel
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@given(st.integers(0, 10**6), st.sampled_from(["hinge", "squared_hinge"]))
def test_the_dual_of_a_linear_machine_never_passes_its_primal(seed, loss):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    sign = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    sign[:2] = 1, -1
    model = quietly(LinearSVC(loss=loss, max_iter=7), X, sign)
    slack = np.maximum(0, 1 - sign * model.decision_function(X))
    z = np.append(model.coef_[0], model.intercept_[0])
    primal = 0.5 * z @ z + (slack if loss == "hinge" else slack**2).sum()
    assert max(model.history_) <= primal + 1e-9 * primal
