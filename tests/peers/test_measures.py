"""Measures against scikit-learn, SciPy and statsmodels on the same numbers."""

import numpy as np
import pytest
from sklearn import metrics

from gnomon.evaluate import (
    accuracy,
    agreement_of_many,
    area_under_roc,
    average_precision,
    balanced_accuracy,
    brier_score,
    cohen_kappa,
    confusion_table,
    cross_entropy,
    deviance,
    error_rate,
    f_measure,
    margin_hinge_loss,
    multiclass_area,
    precision,
    precision_recall_curve,
    r_squared,
    recall,
    roc_curve,
    share_interval,
    top_k_error,
)
from gnomon.evaluate.number_measures import (
    mean_absolute_error,
    mean_squared_error,
    root_mean_squared_error,
)


@pytest.mark.covers("error-rate-accuracy", "confusion-matrix", "zero-one-loss")
def test_classes(rng):
    y, said = rng.choice(list("abc"), (2, 120))
    assert accuracy(y, said).value == pytest.approx(metrics.accuracy_score(y, said))
    assert error_rate(y, said).value == pytest.approx(metrics.zero_one_loss(y, said))
    expected = metrics.balanced_accuracy_score(y, said)
    assert balanced_accuracy(y, said).value == pytest.approx(expected)
    assert cohen_kappa(y, said).value == pytest.approx(metrics.cohen_kappa_score(y, said))
    assert confusion_table(y, said).counts.tolist() == metrics.confusion_matrix(y, said).tolist()


@pytest.mark.covers("precision-recall", "roc-curve", "hinge-loss")
def test_two_classes(rng):
    y = np.concatenate([[0, 1], rng.integers(0, 2, 98)])
    scores = np.round(rng.normal(size=100) + y, 1)
    said = (scores > 0.5).astype(int)
    for ours, theirs in [
        (precision, metrics.precision_score),
        (recall, metrics.recall_score),
        (f_measure, metrics.f1_score),
    ]:
        assert ours(y, said).value == pytest.approx(theirs(y, said))
    curve = roc_curve(y, scores)
    fpr, tpr, _ = metrics.roc_curve(y, scores, drop_intermediate=False)
    assert curve.false_positive_rate == pytest.approx(fpr)
    assert curve.true_positive_rate == pytest.approx(tpr)
    assert curve.area.value == pytest.approx(metrics.roc_auc_score(y, scores))
    expected = metrics.average_precision_score(y, scores)
    assert average_precision(y, scores).value == pytest.approx(expected)
    p, r, _ = metrics.precision_recall_curve(y, scores)
    found = precision_recall_curve(y, scores)
    assert found.precision[::-1] == pytest.approx(p[:-1])
    assert found.recall[::-1] == pytest.approx(r[:-1])
    signs = 2 * y - 1
    assert margin_hinge_loss(signs, scores).value == pytest.approx(metrics.hinge_loss(y, scores))


@pytest.mark.covers("cross-entropy-loss", "top-k-error")
def test_probabilities(rng):
    proba = rng.dirichlet(np.ones(4), 80)
    y = np.concatenate([np.arange(4), rng.integers(0, 4, 76)])
    assert cross_entropy(y, proba).value == pytest.approx(metrics.log_loss(y, proba))
    expected = metrics.brier_score_loss(y, proba, scale_by_half=False)
    assert brier_score(y, proba).value == pytest.approx(expected)
    expected = 1 - metrics.top_k_accuracy_score(y, proba, k=2)
    assert top_k_error(y, proba, 2).value == pytest.approx(expected)


@pytest.mark.covers("squared-error-measures", "absolute-error", "r-squared", "deviance")
def test_numbers(rng):
    y, said = rng.normal(size=(2, 70))
    for ours, theirs in [
        (mean_squared_error, metrics.mean_squared_error),
        (root_mean_squared_error, metrics.root_mean_squared_error),
        (mean_absolute_error, metrics.mean_absolute_error),
        (r_squared, metrics.r2_score),
    ]:
        assert ours(y, said).value == pytest.approx(theirs(y, said))
    table, guess = rng.normal(size=(2, 30, 3))
    expected = metrics.mean_squared_error(table, guess)
    assert mean_squared_error(table, guess).value == pytest.approx(expected)
    counts, means = rng.poisson(3, 50), rng.gamma(3, 1, 50)
    expected = metrics.mean_poisson_deviance(counts, means)
    assert deviance(counts, means, "poisson").value == pytest.approx(expected)
    positive = rng.gamma(2, 1, 50)
    expected = metrics.mean_gamma_deviance(positive, means)
    assert deviance(positive, means, "gamma").value == pytest.approx(expected)


def test_the_interval_of_shares_and_kappas_agree_with_statsmodels(rng):
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    raters = pytest.importorskip("statsmodels.stats.inter_rater")
    for k, n in ((3, 10), (0, 8), (25, 25), (70, 200)):
        close = proportion.proportion_confint(k, n, method="agresti_coull")
        exact = proportion.proportion_confint(k, n, method="beta")
        expected = max(close[0], exact[0]), min(close[1], exact[1])
        assert share_interval(k, n)[1:3] == pytest.approx(expected, abs=1e-12)
    y, other = rng.integers(0, 3, (2, 150))
    other = np.where(rng.random(150) < 0.5, y, other)
    found = raters.cohens_kappa(confusion_table(y, other).counts)
    assert cohen_kappa(y, other)[0] == pytest.approx(found.kappa)
    assert cohen_kappa(y, other).error == pytest.approx(found.std_kappa)
    labels = np.column_stack([y, other, rng.integers(0, 3, 150)])
    counts, _ = raters.aggregate_raters(labels)
    assert agreement_of_many(labels).value == pytest.approx(raters.fleiss_kappa(counts))


@pytest.mark.covers("roc-curve", "precision-recall")
@pytest.mark.parametrize("whole", [True, False], ids=["whole weights", "any weights"])
def test_weighted_orders(whole, rng):
    y = np.concatenate([[0, 1], rng.integers(0, 2, 98)])
    scores = np.round(rng.normal(size=100) + y, 1)
    weights = rng.integers(1, 4, 100).astype(float) if whole else rng.gamma(2, 1, 100)
    for ours, theirs in [
        (area_under_roc, metrics.roc_auc_score),
        (average_precision, metrics.average_precision_score),
    ]:
        expected = theirs(y, scores, sample_weight=weights)
        assert ours(y, scores, sample_weight=weights).value == pytest.approx(expected)
    curve = roc_curve(y, scores, sample_weight=weights)
    fpr, tpr, _ = metrics.roc_curve(y, scores, sample_weight=weights, drop_intermediate=False)
    assert curve.false_positive_rate == pytest.approx(fpr)
    assert curve.true_positive_rate == pytest.approx(tpr)
    said = (scores > 0.5).astype(int)
    for ours, theirs in [
        (precision, metrics.precision_score),
        (recall, metrics.recall_score),
        (f_measure, metrics.f1_score),
    ]:
        expected = theirs(y, said, sample_weight=weights)
        assert ours(y, said, sample_weight=weights).value == pytest.approx(expected)


@pytest.mark.covers("roc-curve")
@pytest.mark.parametrize(("against", "theirs"), [("one", "ovo"), ("rest", "ovr")])
def test_areas_of_several_classes(against, theirs, rng):
    y = np.concatenate([np.arange(4), rng.integers(0, 4, 96)])
    proba = rng.dirichlet(np.ones(4), 100)
    expected = metrics.roc_auc_score(y, proba, multi_class=theirs)
    found = multiclass_area(y, proba, against=against)
    assert found.mean.value == pytest.approx(expected)
    assert len(found.parts) == {"one": 12, "rest": 4}[against]
