"""Links, active learning, on-line learning, bandits, feedback and checks of assumptions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from gnomon.bayes import GaussianNB
from gnomon.cluster import KMeans
from gnomon.engine.errors import DataError
from gnomon.linear import LinearRegression, LogisticRegression
from gnomon.semi import (
    FeedbackScorer,
    Graded,
    LinearBandit,
    LinkMetric,
    check_assumptions,
    contradictions,
    label_curve,
    links_from_labels,
    play,
    prequential,
    query,
)


@pytest.mark.covers("metric-from-pairs")
@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_two_hundred_links_on_wine_raise_the_rand_index_by_a_tenth(metric, seed):
    wine = load_wine()
    must, cannot = links_from_labels(wine.target, 200, random_state=seed)
    found = LinkMetric(must, cannot, metric=metric).fit_transform(wine.data)

    def agreement(rows):
        labels = KMeans(3, n_init=5, random_state=0).fit(rows).labels_
        return adjusted_rand_score(wine.target, labels)

    assert agreement(found) >= agreement(wine.data) + 0.1


@pytest.mark.covers("metric-from-pairs", "must-cannot-links")
@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_links_are_likelier_under_the_learned_metric_than_under_any_near_it(metric, rng):
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    must, cannot = links_from_labels(y, 120, random_state=0)
    model = LinkMetric(must, cannot, metric=metric, alpha=0.05).fit(X)

    def objective(root, b):
        away = np.array([X[a] - X[c] for a, c in [*must, *cannot]]) / model.scale_
        moved = away * root if root.ndim == 1 else away @ root.T
        margin = b - (moved**2).sum(axis=1)
        together = np.repeat([1, 0], [len(must), len(cannot)])
        return (np.logaddexp(0, margin) - together * margin).sum() + 0.05 * (root**2).sum()

    best = objective(model.components_, model.threshold_)
    for _ in range(30):
        other = model.components_ + 0.02 * rng.normal(size=model.components_.shape)
        assert objective(np.abs(other) if metric == "diagonal" else other, model.threshold_) > (
            best - 1e-3
        )
    assert np.abs(model.components_[0]).max() >= np.abs(model.components_[-1]).max() - 1e-6


@pytest.mark.covers("metric-for-documents")
def test_a_diagonal_metric_of_sparse_documents_is_that_of_the_same_dense_counts(rng):
    counts = rng.poisson(0.3, size=(60, 30)).astype(float)
    topic = np.arange(60) % 2
    counts[topic == 1, :2] += 3
    must, cannot = links_from_labels(topic, 150, random_state=0)
    model = LinkMetric(must, cannot).fit(sp.csr_array(counts))
    found = model.transform(sp.csr_array(counts))
    assert sp.issparse(found)
    dense = LinkMetric(must, cannot).fit_transform(counts)
    np.testing.assert_allclose(found.toarray(), dense, atol=1e-4)
    assert set(np.argsort(model.components_)[-2:]) == {0, 1}  # the words that tell topics apart


@pytest.mark.covers("must-cannot-links")
def test_contradictory_links_are_named(rng):
    X = rng.normal(size=(5, 2))
    assert contradictions([(0, 1), (1, 2)], [(2, 0)], 5) == [(2, 0)]
    with pytest.raises(DataError, match=r"\(2, 0\) contradicts"):
        LinkMetric([(0, 1), (1, 2)], [(2, 0)]).fit(X)
    with pytest.raises(DataError, match="names a row"):
        LinkMetric([(0, 9)]).fit(X)
    with pytest.raises(DataError, match="pairs"):
        links_from_labels([0, 1, None], 5)


@pytest.mark.covers("active-learning")
@pytest.mark.parametrize("strategy", ["uncertainty", "margin", "entropy"])
def test_the_row_nearest_to_the_border_is_asked_for(strategy, rng):
    model = LogisticRegression().fit([[-1.0], [1.0]], [0, 1])
    rows = rng.uniform(1, 3, size=(20, 1)) * rng.choice([-1, 1], size=(20, 1))
    expected = int(np.abs(rows[:, 0]).argmin())
    assert query(model, rows, strategy=strategy, random_state=0)[0] == expected


@pytest.mark.covers("active-learning")
def test_a_committee_asks_where_its_members_disagree(rng):
    X = np.concatenate([rng.normal(-1, 1, size=(15, 1)), rng.normal(1, 1, size=(15, 1))])
    y = np.repeat([0, 1], 15)
    model = LogisticRegression().fit(X, y)
    border = -model.intercept_[0] / model.coef_[0, 0]
    rows = [[-30.0], *([border + step] for step in np.linspace(-1, 1, 21)), [30.0]]
    asked = query(model, rows, strategy="committee", labeled=(X, y), random_state=0)
    assert 0 < asked[0] < len(rows) - 1
    with pytest.raises(DataError, match="labeled"):
        query(model, X, strategy="committee")
    with pytest.raises(DataError, match="strategy"):
        query(model, X, strategy="luck")


@pytest.mark.covers("active-learning")
def test_asking_for_uncertain_rows_beats_random_rows_on_a_rare_border(rng):
    X = rng.uniform(-1, 1, size=(600, 2))
    y = (X[:, 0] + 0.3 * X[:, 1] > 0.55).astype(int)
    curve = label_curve(
        LogisticRegression(C=100.0), X, y, n_start=10, n_labels=60, n_repeats=4, random_state=1
    )
    assert curve.n_labels[-1] == 60
    assert curve.chosen[-1].value >= curve.random[-1].value - 0.01
    assert curve.labels_for(2.0) is None
    assert curve.chosen[0].value == curve.random[0].value  # both begin with the same labels
    assert "labels" in str(curve)
    last = curve.chosen[-1].value - curve.random[-1].value
    assert curve.test.difference.value == pytest.approx(last)
    assert curve.helps == (curve.test.p < 0.05 and last > 0)


@pytest.mark.covers("online-learning")
def test_prequential_errors_are_of_models_of_the_rows_before(rng):
    X = np.concatenate([rng.normal(size=(80, 2)), rng.normal(size=(80, 2)) + 1.5])
    y = np.repeat([0, 1], 80)
    order = rng.permutation(160)
    X, y = X[order], y[order]
    first = int(max(np.flatnonzero(y == 0)[0], np.flatnonzero(y == 1)[0])) + 2
    found = prequential(GaussianNB(), X, y, batch_size=first, fading=0.9)
    errors = []
    for start in range(first, 160, first):
        model = GaussianNB().fit(X[:start], y[:start])
        errors += (model.predict(X[start : start + first]) != y[start : start + first]).tolist()
    assert np.abs(found.errors - np.array(errors)).mean() < 0.02
    assert found.running[-1] == pytest.approx(found.error.value)
    weights = 0.9 ** np.arange(len(errors))[::-1]
    assert found.recent[-1] == pytest.approx(weights @ found.errors / weights.sum())
    with pytest.raises(DataError, match="partial_fit"):
        prequential(LogisticRegression(), X, y)


@pytest.mark.covers("reinforcement-learning-protocol")
def test_a_bandit_estimates_the_grades_of_its_choices_by_ridge_regression(rng):
    bandit = LinearBandit(2, 3, ridge=0.5)
    X, grades = rng.normal(size=(30, 3)), rng.normal(size=30)
    for x, grade in zip(X, grades):
        bandit.learn(Graded(x, 1, grade))
    coefficients = np.linalg.solve(X.T @ X + 0.5 * np.eye(3), X.T @ grades)
    x = rng.normal(size=3)
    assert bandit.estimates(x)[0][1] == pytest.approx(coefficients @ x)
    assert bandit.estimates(x)[0][0] == 0.0


@pytest.mark.covers("reinforcement-learning-protocol")
def test_a_bandit_regrets_less_than_random_outputs(rng):
    X = rng.normal(size=(400, 3))
    grades = X @ rng.normal(size=(3, 4)) + 0.1 * rng.normal(size=(400, 4))
    examples, regret = play(LinearBandit(4, 3), X, grades)
    random = (grades.max(axis=1) - grades.mean(axis=1)).sum()
    assert regret[-1] < 0.5 * random
    assert all(0 <= each.output < 4 for each in examples)
    with pytest.raises(DataError, match="finite"):
        LinearBandit(2, 1).learn(Graded([1.0], 0, np.nan))


@pytest.mark.covers("feedback-scoring")
def test_corrections_by_experts_move_the_scores(rng):
    X = rng.normal(size=(60, 2))
    start = (X[:, 0] > 0).astype(int)
    scorer = FeedbackScorer(LogisticRegression()).start(X[:20], start[:20])
    before = scorer.scores([[0.0, 3.0]])[0]
    truth = (X[:, 1] > 0).astype(int)  # the experts look at the other column
    scorer.correct(X[20:40], truth[20:40]).correct(X[40:], truth[40:])
    assert scorer.scores([[0.0, 3.0]])[0] > before
    assert len(scorer.agreement) == 2
    with pytest.raises(DataError, match="label"):
        scorer.correct(X[:1], [7])


@pytest.mark.covers("semi-supervised-assumptions")
def test_assumptions_hold_of_groups_and_not_of_shuffled_labels(rng):
    X = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 7.0])
    truth = np.repeat([0, 1], 60)
    y = np.full(120, np.nan, dtype=object)
    known = rng.choice(120, 30, replace=False)
    y[known] = truth[known]
    held = check_assumptions(X, y, n_clusters=2, random_state=0).holds()
    assert {"smoothness", "clusters", "manifold"} <= set(held)
    y[known] = rng.permutation(truth[known])
    wrong = check_assumptions(X, y, n_clusters=2, random_state=0)
    assert min(wrong.p_values) > 0.001
    with pytest.raises(DataError, match="labels"):
        check_assumptions(X, [0] * 120)


@pytest.mark.covers("semi-supervised-assumptions")
def test_rings_are_a_manifold_and_no_clusters(rng):
    angle = rng.uniform(0, 2 * np.pi, 300)
    ring = np.arange(300) % 2
    X = (1 + 2 * ring)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    X += 0.05 * rng.normal(size=X.shape)
    y = np.where(np.arange(300) < 24, ring, np.nan)
    found = check_assumptions(X, y, n_clusters=2, random_state=0)
    measure = dict(zip(found.names, found.values))
    assert measure["manifold"] > measure["clusters"]
    assert "manifold" in found.holds()


@pytest.mark.covers("online-learning")
def test_a_learner_of_numbers_has_squared_errors(rng):
    class Mean(LinearRegression):
        def partial_fit(self, X, y):
            self.fit(X, y)
            return self

    X = rng.normal(size=(40, 1))
    found = prequential(Mean(), X, 2 * X[:, 0], batch_size=10)
    assert found.error.value < 1e-12
