"""What holds of measures whatever the rows are."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gnomon.evaluate import (
    accuracy,
    area_under_roc,
    average_precision,
    balanced_accuracy,
    compare_scores,
    confusion_table,
    error_rate,
    f_measure,
    k_fold,
    mean_interval,
    precision_recall_curve,
    r_squared,
    rejection_curve,
    roc_curve,
    share_interval,
    two_class_rates,
)

LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)
SCORED = st.lists(st.tuples(st.booleans(), st.integers(-50, 50)), min_size=2, max_size=40).filter(
    lambda rows: len({mark for mark, _ in rows}) == 2
)
NUMBERS = arrays(np.float64, st.integers(2, 40), elements=st.floats(-1e6, 1e6))


@pytest.mark.covers("confusion-matrix", "error-rate-accuracy")
@given(LABELS)
def test_accuracy_error_and_confusion_agree_and_do_not_depend_on_the_order_of_rows(rows):
    y, said = np.array(rows).T
    table = confusion_table(y, said)
    assert table.n == len(y)
    assert table.accuracy.value == pytest.approx(accuracy(y, said).value)
    assert error_rate(y, said).value == pytest.approx(1 - accuracy(y, said).value)
    assert np.array_equal(confusion_table(y[::-1], said[::-1]).counts, table.counts)
    swapped = confusion_table(said, y)
    assert np.array_equal(swapped.counts, table.counts.T)
    assert np.nansum(table.fractions(), axis=1) == pytest.approx(
        (table.counts.sum(axis=1) > 0).astype(float)
    )
    for figure in (table.accuracy, balanced_accuracy(y, said)):
        assert -1e-9 <= figure.low <= figure.value + 1e-9 <= figure.high + 2e-9 <= 1 + 3e-9


@pytest.mark.covers("roc-curve", "precision-recall", "interpolated-precision")
@given(SCORED)
def test_curves_rise_and_do_not_change_with_the_units_of_the_scores(rows):
    y, scores = np.array([mark for mark, _ in rows]), np.array([s for _, s in rows], dtype=float)
    curve = roc_curve(y, scores, pos_label=True)
    assert (np.diff(curve.false_positive_rate) >= 0).all()
    assert (np.diff(curve.true_positive_rate) >= 0).all()
    assert area_under_roc(y, 3 * scores + 7, True).value == pytest.approx(curve.area.value)
    assert area_under_roc(y, -scores, True).value == pytest.approx(1 - curve.area.value)
    assert area_under_roc(~y, -scores, True).value == pytest.approx(curve.area.value)
    pr = precision_recall_curve(y, scores, pos_label=True)
    assert (np.diff(pr.recall) >= 0).all()
    assert (pr.interpolated(pr.recall) >= pr.precision - 1e-12).all()
    assert (np.diff(pr.interpolated(np.linspace(0, 1, 20))) <= 1e-12).all()
    assert 0 <= pr.eleven_point <= 1
    value = average_precision(y, scores, True).value
    assert 0 < value <= 1 + 1e-12
    assert average_precision(y, np.exp(scores / 50), True).value == pytest.approx(value)


@pytest.mark.covers("two-class-rates")
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_rates_add_up(rows):
    y, said = np.array(rows).T
    rates = two_class_rates(y, said, True)
    assert rates.tp + rates.fp + rates.fn + rates.tn == len(y)
    if y.any():
        assert rates.sensitivity.value + rates.false_negative_rate.value == pytest.approx(1)
    if (y | said).any():
        assert 0 <= f_measure(y, said, True).low <= f_measure(y, said, True).high <= 1
    again = rates.swapped().swapped()
    assert (again.tp, again.fp, again.fn, again.tn) == (rates.tp, rates.fp, rates.fn, rates.tn)


@pytest.mark.covers("heldout-loss-error")
@given(NUMBERS, st.floats(-1e3, 1e3), st.floats(0.01, 100))
def test_intervals_of_means_move_and_stretch_with_the_values(values, shift, factor):
    assume(values.std() > 1e-3 * (1 + np.abs(values).max()))
    one, other = mean_interval(values), mean_interval(shift + factor * values)
    scale = factor * (one.high - one.low) + 1e-9
    assert other.value == pytest.approx(shift + factor * one.value, abs=1e-6 * scale + 1e-6)
    assert other.low == pytest.approx(shift + factor * one.low, abs=1e-4 * scale)
    assert other.high == pytest.approx(shift + factor * one.high, abs=1e-4 * scale)
    flipped = mean_interval(-values)
    assert flipped.low == pytest.approx(-one.high, abs=1e-6 * (one.high - one.low) + 1e-9)
    assert one.low <= one.value <= one.high


@given(st.integers(1, 500), st.floats(0.5, 0.999), st.data())
def test_shares_lie_in_their_intervals_and_wider_levels_are_wider(n, confidence_level, data):
    k = data.draw(st.integers(0, n))
    figure = share_interval(k, n, confidence_level)
    assert 0 <= figure.low <= figure.value <= figure.high <= 1
    wider = share_interval(k, n, 0.9995)
    assert wider.low <= figure.low + 1e-12
    assert wider.high >= figure.high - 1e-12
    other = share_interval(n - k, n, confidence_level)
    assert other.low == pytest.approx(1 - figure.high, abs=1e-9)


@pytest.mark.covers("r-squared")
@given(NUMBERS, st.data())
def test_r_squared_is_one_for_the_truth_and_zero_for_the_mean(y, data):
    assume(y.std() > 1e-3 * (1 + np.abs(y).max()))
    assert r_squared(y, y).value == 1
    assert r_squared(y, np.full(len(y), y.mean())).value == pytest.approx(0, abs=1e-9)


@pytest.mark.covers("accuracy-rejection-curve")
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=40))
def test_rejection_starts_at_plain_accuracy_and_rejects_ever_more(rows):
    right = np.array([mark for mark, _ in rows]).astype(int)
    sure = np.array([c for _, c in rows], dtype=float)
    curve = rejection_curve(np.ones(len(right), dtype=int), right, sure)
    assert curve.rejected[0] == 0
    assert (np.diff(curve.rejected) > 0).all()
    assert curve.accuracy[0].value == pytest.approx(right.mean())
    assert 0 <= curve.area <= 1


@pytest.mark.covers("kfold-cv")
@given(st.integers(2, 60), st.integers(2, 10), st.integers(1, 3), st.integers(0, 2**31))
def test_folds_part_the_rows_whatever_their_number(n_rows, n_folds, n_repeats, seed):
    assume(n_folds <= n_rows)
    splits = k_fold(n_rows, n_folds, n_repeats, random_state=seed)
    assert len(splits) == n_folds * n_repeats
    for repeat in range(n_repeats):
        tests = [test for _, test in splits[repeat * n_folds : (repeat + 1) * n_folds]]
        assert sorted(np.concatenate(tests)) == list(range(n_rows))
        sizes = [len(test) for test in tests]
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.covers("learner-comparison")
@given(
    arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(2, 8)), elements=st.floats(-9, 9)),
    st.floats(0, 1),
)
def test_comparisons_do_not_depend_on_the_order_of_learners(scores, share):
    given_ = {f"m{i}": row for i, row in enumerate(scores)}
    one = compare_scores(given_, share)
    other = compare_scores(dict(reversed(given_.items())), share)
    assert (one.adjusted_p >= one.p - 1e-12).all()
    for a in one.names:
        for b in one.names:
            if a != b:
                assert one.between(a, b)[0].value == pytest.approx(other.between(a, b)[0].value)
                assert one.between(a, b)[1] == pytest.approx(other.between(a, b)[1])
                assert one.between(a, b)[0].value == pytest.approx(-one.between(b, a)[0].value)
