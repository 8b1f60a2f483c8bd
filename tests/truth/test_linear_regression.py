"""Least squares and ridge against exact rational arithmetic, certified values and brute force."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.engine.errors import DataError
from gnomon.linear import GLM, LinearRegression, NoSummary, Ridge
from gnomon.table import scan

# Longley (1967), in units of NIST's divided by a thousand where R divides; last column: employed.
LONGLEY = np.array(
    [
        [83.0, 234.289, 235.6, 159.0, 107.608, 1947, 60.323],
        [88.5, 259.426, 232.5, 145.6, 108.632, 1948, 61.122],
        [88.2, 258.054, 368.2, 161.6, 109.773, 1949, 60.171],
        [89.5, 284.599, 335.1, 165.0, 110.929, 1950, 61.187],
        [96.2, 328.975, 209.9, 309.9, 112.075, 1951, 63.221],
        [98.1, 346.999, 193.2, 359.4, 113.270, 1952, 63.639],
        [99.0, 365.385, 187.0, 354.7, 115.094, 1953, 64.989],
        [100.0, 363.112, 357.8, 335.0, 116.219, 1954, 63.761],
        [101.2, 397.469, 290.4, 304.8, 117.388, 1955, 66.019],
        [104.6, 419.180, 282.2, 285.7, 118.734, 1956, 67.857],
        [108.4, 442.769, 293.6, 279.8, 120.445, 1957, 68.169],
        [110.8, 444.546, 468.1, 263.7, 121.950, 1958, 66.513],
        [112.6, 482.704, 381.3, 255.2, 123.366, 1959, 68.655],
        [114.2, 502.601, 393.1, 251.4, 125.368, 1960, 69.564],
        [115.7, 518.173, 480.6, 257.2, 127.852, 1961, 69.331],
        [116.9, 554.894, 400.7, 282.7, 130.081, 1962, 70.551],
    ]
)


def exact_least_squares(X: np.ndarray, y: np.ndarray, alpha: int = 0) -> np.ndarray:
    """Intercept and coefficients in rational arithmetic, rounded at the end only."""
    rows = [[Fraction(1), *map(Fraction, row)] for row in X.tolist()]
    targets = [Fraction(value) for value in np.asarray(y, dtype=float).tolist()]
    q = len(rows[0])
    system = [
        [sum(r[i] * r[j] for r in rows) + (alpha if i == j > 0 else 0) for j in range(q)]
        + [sum(r[i] * t for r, t in zip(rows, targets))]
        for i in range(q)
    ]
    for i in range(q):
        pivot = next(k for k in range(i, q) if system[k][i])
        system[i], system[pivot] = system[pivot], system[i]
        system[i] = [value / system[i][i] for value in system[i]]
        for k in range(q):
            if k != i and system[k][i]:
                factor = system[k][i]
                system[k] = [a - factor * b for a, b in zip(system[k], system[i])]
    return np.array([float(line[-1]) for line in system])


def binary_fractions(rng, shape) -> np.ndarray:
    """Numbers to which a large power of two can be added without rounding."""
    return np.round(rng.normal(size=shape) * 1024) / 1024


def all_coefficients(model) -> np.ndarray:
    return np.concatenate([[model.intercept_], model.coef_])


@pytest.mark.covers("linear-regression", "regression-summary-table")
def test_longley_agrees_with_the_certified_values_and_with_exact_arithmetic():
    X, y = LONGLEY[:, :-1], LONGLEY[:, -1]
    model = LinearRegression().fit(X, y)
    np.testing.assert_allclose(all_coefficients(model), exact_least_squares(X, y), rtol=1e-10)
    summary = model.summary()
    # NIST StRD, Longley: certified standard deviations and analysis of variance.
    assert summary.standard_error[0] == pytest.approx(890.420383607373, rel=1e-10)
    assert summary.standard_error[-1] == pytest.approx(0.455478499142212, rel=1e-10)
    facts = summary.facts
    assert facts["residual standard error"] == pytest.approx(0.304854073561965, rel=1e-10)
    assert facts["R2"] == pytest.approx(0.995479004577296, rel=1e-12)
    assert facts["F"] == pytest.approx(330.285339234588, rel=1e-10)


@pytest.mark.covers("linear-regression", "condition-number-collinearity")
@pytest.mark.parametrize("degree", [3, 5, 8, 10])
def test_powers_of_a_variable_are_fitted_although_they_are_nearly_dependent(degree, rng):
    x = np.linspace(-8.78, -3.13, 82)
    X = x[:, None] ** np.arange(1, degree + 1)
    y = 0.8 + 0.1 * rng.random(82)
    model = LinearRegression().fit(X, y)
    assert model.rank_ == degree
    tolerance = 1e-13 * max(model.condition_, 1e4)
    np.testing.assert_allclose(all_coefficients(model), exact_least_squares(X, y), rtol=tolerance)
    assert model.solver_ == ("orthogonal" if degree > 3 else "cholesky")


def test_a_perfect_fit_leaves_no_residual_and_exact_coefficients():
    x = np.arange(21.0)
    X = x[:, None] ** np.arange(1, 6)
    model = LinearRegression().fit(X, 1 + X.sum(axis=1))
    np.testing.assert_allclose(all_coefficients(model), 1.0, rtol=1e-8)
    assert model.statistics_.residual[0] < 1e-12


def test_ridge_agrees_with_exact_arithmetic_also_where_the_penalty_is_tiny():
    X, y = LONGLEY[:, :-1], LONGLEY[:, -1]
    np.testing.assert_allclose(
        all_coefficients(Ridge(2.0).fit(X, y)), exact_least_squares(X, y, alpha=2), rtol=1e-10
    )
    x = np.linspace(-8.0, -3.0, 40)
    X = x[:, None] ** np.arange(1, 9)
    y = np.sin(x)
    alpha = Fraction(1, 2**30)
    model = Ridge(float(alpha)).fit(X, y)
    np.testing.assert_allclose(
        all_coefficients(model), exact_least_squares(X, y, alpha=alpha), rtol=1e-7
    )


@pytest.mark.covers("ridge-regression")
def test_ridge_is_least_squares_with_rows_for_the_penalty(rng):
    X, y, alpha = rng.normal(size=(40, 5)), rng.normal(size=40), 3.7
    stacked = np.vstack([X - X.mean(axis=0), np.sqrt(alpha) * np.eye(5)])
    targets = np.concatenate([y - y.mean(), np.zeros(5)])
    expected = np.linalg.lstsq(stacked, targets, rcond=None)[0]
    np.testing.assert_allclose(Ridge(alpha).fit(X, y).coef_, expected, atol=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", [(60, 12), (12, 12), (8, 30)])
def test_dependent_columns_get_the_solution_of_least_norm(shape, intercept, rng):
    n, p = shape
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, p))
    y = rng.normal(size=(n, 2))
    model = LinearRegression(fit_intercept=intercept).fit(X, y)
    center = X.mean(axis=0) if intercept else 0.0
    expected = np.linalg.pinv(X - center, rcond=1e-10) @ (y - (y.mean(axis=0) if intercept else 0))
    np.testing.assert_allclose(model.coef_, expected.T, atol=1e-10)
    assert model.rank_ == 4
    assert model.condition_ == np.inf


def test_rank_does_not_depend_on_the_units_of_columns(rng):
    X, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    units = np.array([1e-20, 1.0, 1e20])
    model = LinearRegression().fit(X * units, y)
    assert model.rank_ == 3
    np.testing.assert_allclose(model.coef_ * units, LinearRegression().fit(X, y).coef_, rtol=1e-9)


def test_levels_of_a_category_beside_the_intercept_predict_the_means_of_the_groups(rng):
    group = np.concatenate([np.arange(4), rng.integers(0, 4, 96)])
    y = rng.normal(size=100) + group
    model = LinearRegression().fit(np.eye(4)[group], y)
    means = [y[group == g].mean() for g in range(4)]
    np.testing.assert_allclose(model.predict(np.eye(4)), means, atol=1e-12)
    assert model.rank_ == 3


def test_a_constant_column_gets_no_coefficient(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    model = LinearRegression().fit(np.hstack([X, np.full((30, 1), 0.1)]), y)
    np.testing.assert_allclose(model.coef_, [*LinearRegression().fit(X, y).coef_, 0], atol=1e-13)


def test_large_offsets_do_not_cost_digits(rng):
    X, y = binary_fractions(rng, (9000, 3)), rng.normal(size=9000)
    model, moved = LinearRegression().fit(X, y), LinearRegression().fit(X + 2.0**30, y)
    np.testing.assert_allclose(moved.coef_, model.coef_, atol=1e-12)


def test_a_first_chunk_that_is_far_from_the_rest_costs_a_pass_and_no_digits(rng):
    X = np.concatenate([np.full(8192, 1e9), 2.0 + rng.normal(size=10)])[:, None]
    rest = np.concatenate([np.zeros(8192), np.ones(10)])[:, None] * rng.normal(size=(8202, 1))
    X = np.hstack([X, 1e6 + rest])
    y = rest[:, 0] * 3 + rng.normal(size=8202)
    centered = X - np.array([X[:, 0].mean(), 1e6 + rest.mean()])
    expected = np.linalg.lstsq(centered / centered.std(axis=0), y - y.mean(), rcond=None)[0]
    model = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_ * centered.std(axis=0), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.covers("regression-summary-table")
def test_weights_are_repetitions_also_in_standard_errors(rng):
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    counts = rng.integers(0, 4, 40)
    weighted = LinearRegression().fit(X, y, sample_weight=counts).summary()
    repeated = LinearRegression().fit(X.repeat(counts, axis=0), y.repeat(counts)).summary()
    np.testing.assert_allclose(weighted.standard_error, repeated.standard_error, rtol=1e-12)
    for key, value in repeated.facts.items():
        assert weighted.facts[key] == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("p", [5, 260])
def test_sparse_rows_give_what_dense_rows_give(p, rng):
    X = sp.random_array((400, p), density=0.1, rng=rng, format="csr")
    y, weights = rng.normal(size=400), rng.integers(1, 4, 400)
    for model in (LinearRegression(), Ridge(0.3)):
        dense = model.fit(X.toarray(), y, weights).coef_
        np.testing.assert_allclose(model.fit(X, y, weights).coef_, dense, atol=1e-9)


def test_many_dense_columns_in_sparse_form_with_large_offsets_keep_their_digits(rng):
    X = binary_fractions(rng, (400, 210)) + 2.0**24
    y = rng.normal(size=400)
    found = LinearRegression().fit(sp.csr_array(X), y).coef_
    np.testing.assert_allclose(found, LinearRegression().fit(X - 2.0**24, y).coef_, atol=1e-11)


def test_more_columns_than_rows_are_solved_in_the_space_of_rows(rng):
    X, y, weights = rng.normal(size=(20, 70)), rng.normal(size=20), rng.integers(1, 5, 20)
    for alpha in (1e-14, 0.5, 100.0):
        mean = weights @ X / weights.sum()
        centered = X - mean
        gram = (centered.T * weights) @ centered + alpha * np.eye(70)
        right = (centered.T * weights) @ (y - weights @ y / weights.sum())
        if alpha > 1e-10:
            expected = np.linalg.solve(gram, right)
            np.testing.assert_allclose(
                Ridge(alpha).fit(X, y, weights).coef_, expected, rtol=1e-8, atol=1e-12
            )
    limit = LinearRegression().fit(X, y, weights)
    np.testing.assert_allclose(Ridge(1e-14).fit(X, y, weights).coef_, limit.coef_, atol=1e-9)


@pytest.mark.covers("regression-summary-table")
def test_a_stream_gives_the_summary_that_memory_gives(rng, tmp_path):
    X = rng.normal(size=(5000, 3)).round(6)
    y = (X @ [1.0, 2.0, 0.0] + rng.normal(size=5000)).round(6)
    path = tmp_path / "rows.csv"
    np.savetxt(path, np.column_stack([X, y]), "%.6f", ",", header="a,b,c,y", comments="")
    streamed = LinearRegression().fit(scan(path), "y").summary()
    held = LinearRegression().fit(X, y).summary()
    assert streamed.names == ("(intercept)", "a", "b", "c")
    np.testing.assert_array_equal(streamed.standard_error, held.standard_error)


@pytest.mark.parametrize(
    ("model", "shape", "weights", "reason"),
    [
        (Ridge(1.0), (30, 2), None, "biased"),
        (LinearRegression(), (5, 8), None, "rank"),
        (LinearRegression(), (4, 3), None, "nothing to estimate"),
        (LinearRegression(), (30, 2), 0.5, "not whole numbers"),
    ],
)
def test_a_summary_that_would_not_be_valid_is_refused_with_the_reason(
    model, shape, weights, reason, rng
):
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    model.fit(X, y, None if weights is None else np.full(shape[0], weights))
    with pytest.raises(NoSummary, match=reason):
        model.summary()


@pytest.mark.parametrize("model", [LinearRegression(), GLM(), GLM(family="gamma")])
@pytest.mark.parametrize("value", [1.0, 0.1, 300_000.1])
def test_a_target_that_does_not_vary_has_no_summary(model, value, rng):
    model.fit(rng.normal(size=(100, 2)), np.full(100, value))
    with pytest.raises(NoSummary, match="does not vary"):
        model.summary()


@pytest.mark.parametrize("model", [LinearRegression(), LinearRegression(fit_intercept=False)])
def test_an_exact_fit_has_no_summary_and_one_that_is_nearly_exact_has(model, rng):
    X = rng.normal(size=(100, 2))
    y = X @ [1.0, 2.0]
    with pytest.raises(NoSummary, match="exact"):
        model.fit(X, y).summary()
    summary = model.fit(X, y + 1e-10 * rng.normal(size=100)).summary()
    assert summary.facts["residual standard error"] == pytest.approx(1e-10, rel=0.5)


def test_a_summary_of_several_targets_says_which_it_shows(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    model = LinearRegression().fit(X, y)
    assert "target 1 alone" in str(model.summary(target=1))
    assert "alone" not in str(model.fit(X, y[:, 0]).summary())


def test_ridge_without_penalty_has_the_summary_of_least_squares(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    found, expected = Ridge(0.0).fit(X, y).summary(), LinearRegression().fit(X, y).summary()
    np.testing.assert_allclose(found.standard_error, expected.standard_error)


def test_a_column_that_varies_too_little_to_be_squared_is_named(rng):
    X = rng.normal(size=(30, 2)) * [1.0, 1e-160]
    with pytest.raises(DataError, match="'x1' varies"):
        LinearRegression().fit(X, rng.normal(size=30))


def test_a_summary_prints_as_text_page_and_table(rng):
    summary = LinearRegression().fit(rng.normal(size=(30, 2)), rng.normal(size=30)).summary(0.9)
    assert "90% low" in str(summary)
    assert summary._repr_html_().count("<tr>") == 4
    assert summary.to_table().columns[0] == "coefficient"
    assert (summary.low < summary.estimate).all()


def test_the_summary_leaves_dependent_columns_out_as_r_does(rng):
    """R's lm and statsmodels' OLS on the columns that are no combination of columns before them."""
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, 2.0, -1.0] + rng.normal(size=60)
    dependent = np.column_stack([X[:, :2], X[:, 0] - X[:, 1], np.full(60, 3.0), X[:, 2]])
    found = LinearRegression().fit(dependent, y)
    expected = LinearRegression().fit(X, y)
    summary, of_three = found.summary(), expected.summary()
    assert list(summary.names) == ["(intercept)", "x0", "x1", "x4"]
    np.testing.assert_allclose(summary.estimate, of_three.estimate, rtol=1e-9)
    np.testing.assert_allclose(summary.standard_error, of_three.standard_error, rtol=1e-9)
    assert "2 of 5 columns are constant or combinations" in summary.notes[-1]
    robust = found.summary(cov_type="HC3", X=dependent, y=y)
    np.testing.assert_allclose(
        robust.standard_error, expected.summary(cov_type="HC3", X=X, y=y).standard_error, rtol=1e-9
    )
    np.testing.assert_allclose(
        found.get_prediction(dependent[:4]).conf_int(),
        expected.get_prediction(X[:4]).conf_int(),
        rtol=1e-9,
    )


@pytest.mark.parametrize("size", [5e-324, 1e-308, 1e-160])
def test_fewer_rows_than_columns_of_too_small_numbers_are_refused(size, rng):
    X = size * np.rint(9 * rng.normal(size=(3, 4)))
    with pytest.raises(DataError, match=r"column 'x\d' varies by no more than"):
        LinearRegression().fit(X, rng.normal(size=3))
    assert np.isfinite(Ridge().fit(X, rng.normal(size=3)).coef_).all()
