"""Worked examples of the texts on cross-validation, leave-one-out and the bootstrap."""

import numpy as np
import pytest

from gnomon.evaluate import (
    BaselineRegressor,
    auto_folds,
    bootstrap,
    bootstrap_bags,
    cross_validation_estimates,
    k_fold,
    leave_one_out,
    linear_leave_one_out,
    press,
    random_splits,
)

CARS = np.array([96000.0, 4500.0, 24000.0, 35000.0, 8699.0, 17650.0])


@pytest.mark.covers("majority-mean-baseline")
def test_003_baseline_predicts_the_mean_value_of_the_cars():
    model = BaselineRegressor().fit(np.zeros((6, 1)), CARS)
    assert model.predict(np.zeros((1, 1)))[0] == pytest.approx(185849 / 6)


@pytest.mark.covers("kfold-cv", "squared-error-measures")
def test_003_three_fold_cross_validation_pools_the_squared_errors():
    found = cross_validation_estimates(
        BaselineRegressor(), np.zeros((6, 1)), CARS, cv=k_fold(6, 3, shuffle=False)
    )
    _, said = found.out_of_fold()
    assert said.predictions.tolist() == [21337.25, 21337.25, 31712.25, 31712.25, 39875, 39875]
    errors = CARS - said.predictions
    assert errors.tolist() == [74662.75, -16837.25, -7712.25, 3287.75, -31176, -22225]
    assert found.pooled() == pytest.approx(35105.08255, abs=1e-5)
    assert found.mean == pytest.approx(35105.08255, abs=1e-5)
    assert found.mean_over_folds() < found.pooled()


@pytest.mark.covers("repeated-cv")
def test_003_advises_5_x_2_folds_for_plenty_of_rows_and_1_x_10_for_few():
    plenty, few = auto_folds(20_000), auto_folds(300)
    assert (plenty.n_repeats, plenty.n_folds) == (5, 2)
    assert (few.n_repeats, few.n_folds) == (1, 10)


@pytest.mark.covers("random-split-cv")
def test_000a_exercises_ask_for_ten_splits_that_leave_out_15_percent():
    splits = random_splits(200)
    assert len(splits) == 10
    assert {len(test) for _, test in splits} == {30}


@pytest.mark.covers("analytic-loocv")
def test_001_leave_one_out_of_five_points():
    x, y = np.arange(5.0)[:, None], [1.0, 3.0, 2.0, 5.0, 4.0]
    found = linear_leave_one_out(x, y)
    assert found.leverages == pytest.approx([0.6, 0.3, 0.2, 0.3, 0.6])
    assert found.in_sample == pytest.approx(0.72)
    assert found.mean_squared_error.value == pytest.approx(1.811480, abs=1e-6)


@pytest.mark.covers("analytic-loocv")
def test_001_leave_one_out_of_ridge_with_a_penalized_constant():
    design, y = np.column_stack([np.ones(5), np.arange(5.0)]), [1.0, 3.0, 2.0, 5.0, 4.0]
    found = linear_leave_one_out(design, y, 1.0, intercept=False)
    assert found.in_sample == pytest.approx(0.781963, abs=1e-6)
    assert found.mean_squared_error.value == pytest.approx(1.599683, abs=1e-6)
    hat = design @ np.linalg.solve(design.T @ design + np.eye(2), design.T)
    again = press(y, hat @ y, hat)
    assert again.mean_squared_error.value == pytest.approx(found.mean_squared_error.value)


@pytest.mark.covers("bootstrap-estimate")
@pytest.mark.parametrize(("n", "share"), [(10, 0.348678), (100, 0.366032), (1000, 0.367695)])
def test_002_and_004_a_row_is_absent_from_a_draw_with_probability_about_1_over_e(n, share):
    found = bootstrap(np.mean, np.arange(float(n)), n_resamples=2, method="normal")
    assert found.absent_share == pytest.approx(share, abs=1e-6)


@pytest.mark.covers("bootstrap-estimate")
def test_002_rows_left_out_and_drawn_over_many_bags(seed):
    n, bags = 50, bootstrap_bags(50, 4000, random_state=seed)
    left_out = np.mean([len(test) / n for _, test in bags])
    drawn = np.bincount(np.concatenate([train for train, _ in bags]), minlength=n)
    assert left_out == pytest.approx((1 - 1 / n) ** n, abs=0.004)
    assert drawn.sum() == 4000 * n
    assert drawn == pytest.approx(np.full(n, 4000), abs=6 * np.sqrt(4000))


@pytest.mark.covers("bootstrap-estimate")
def test_002_bootstrap_estimate_of_the_plug_in_variance_is_n_minus_1_over_n_of_it(rng):
    values = rng.normal(size=20)
    found = bootstrap(
        lambda x: x.var(axis=-1), values, n_resamples=20_000, vectorized=True, method="normal"
    )
    error = found.standard_error / np.sqrt(20_000)
    assert found.bootstrap_estimate == pytest.approx(19 / 20 * values.var(), abs=5 * error)
    assert found.bias == pytest.approx(found.bootstrap_estimate - values.var())


@pytest.mark.covers("bootstrap-interval")
@pytest.mark.parametrize("confidence_level", [0.683, 0.90, 0.954])
def test_004_percentile_intervals_hold_their_share_of_the_replicates(confidence_level, rng):
    values = rng.exponential(size=40)
    found = bootstrap(
        np.mean, values, n_resamples=1000, method="percentile", confidence_level=confidence_level
    )
    figure = found.interval()
    inside = np.mean((found.replicates >= figure.low) & (found.replicates <= figure.high))
    assert inside == pytest.approx(confidence_level, abs=0.003)
    assert figure.low < found.median < figure.high


@pytest.mark.covers("leave-one-out-cv")
def test_002_leave_one_out_trains_n_times_on_n_minus_1_rows():
    splits = leave_one_out(7)
    assert [len(train) for train, _ in splits] == [6] * 7
    assert sorted(int(test[0]) for _, test in splits) == list(range(7))
