"""Workflows of the texts: three-way checks, chains with care, HMM tasks, choice of features."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.graphical import BeliefNetwork
from gnomon.linear import LinearRegression
from gnomon.sample import GaussianWalk, Metropolis, gaussian_mixture
from gnomon.sequence import CategoricalEmission, HiddenMarkovModel
from gnomon.table import Table
from gnomon.workbench.workflows.feature_choice import choose_features
from gnomon.workbench.workflows.hmm import hmm_task, hmm_tasks
from gnomon.workbench.workflows.sampling_practice import practise_mcmc, three_way_check


def tiny_network(rng: np.random.Generator) -> BeliefNetwork:
    return BeliefNetwork(
        {"a": "tf", "b": ("low", "mid", "high"), "c": "tf"},
        {"b": ["a"], "c": ["a", "b"]},
        {
            "a": rng.dirichlet([2, 2]),
            "b": rng.dirichlet([2, 2, 2], size=2),
            "c": rng.dirichlet([2, 2], size=(2, 3)),
        },
    )


@pytest.mark.covers("inference-three-way-check")
def test_right_engines_agree_with_enumeration_and_a_wrong_one_is_named(rng):
    network = tiny_network(rng)
    given = {"c": "t"}

    def without_evidence(net, wanted, evidence):
        return net.query(*wanted).values.ravel()

    def right(net, wanted, evidence):
        return net.query(*wanted, **evidence).values.ravel()

    found = three_way_check(
        network, "a", "b", evidence=given, engines={"mine": right}, random_state=rng
    )
    assert found.agree, found
    by_hand = []
    for i, k in itertools.product(range(2), range(3)):
        tables = network.tables
        by_hand.append(tables["a"][i] * tables["b"][i, k] * tables["c"][i, k, 0])
    np.testing.assert_allclose(found.exact, np.array(by_hand) / sum(by_hand))
    assert found.values[4] == {"a": "f", "b": "mid"}
    prior, posterior = network.query("a").values, network.query("a", **given).values
    if np.abs(prior - posterior).max() > 1e-6:
        wrong = three_way_check(
            network, "a", evidence=given, engines={"mine": without_evidence}, random_state=rng
        )
        assert wrong.wrong == ["mine"]
        assert "NOT" in str(wrong)


@pytest.mark.covers("inference-three-way-check")
def test_a_network_too_large_to_write_down_is_refused(rng):
    names = [f"x{i}" for i in range(70)]
    network = BeliefNetwork(
        dict.fromkeys(names, (0, 1)), {}, dict.fromkeys(names, np.array([0.5, 0.5]))
    )
    with pytest.raises(DataError, match=r"Eliminate|sample"):
        three_way_check(network, "x0")


@pytest.mark.covers("mcmc-practice-workflow")
def test_chains_are_tuned_lengthened_and_summarized_with_the_truth_in_the_interval(rng):
    target = gaussian_mixture([[3.0, -1.0]], [[[4.0, 1.0], [1.0, 1.0]]])
    found = practise_mcmc(target, n_draws=500, random_state=rng)
    assert found.mixed
    for name, truth in zip(("x0", "x1"), (3.0, -1.0)):
        mean = found.summary()[name]
        assert abs(mean.value - truth) < 6 * mean.error
    acceptances = [accepted for accepted, _ in found.widths.values()]
    assert acceptances[0] > acceptances[-1]
    assert [step for step, _ in found.steps] == ["proposal", "burn-in", "mixing", "lag"]
    assert list(found.figures("dark")) == ["x0", "x1"]
    assert 1 <= found.lag < found.chains.draws.shape[1]


@pytest.mark.covers("mcmc-practice-workflow")
def test_unmixed_chains_are_not_summarized(rng):
    far = gaussian_mixture([[-40.0], [40.0]], np.ones((2, 1, 1)))
    small = Metropolis(GaussianWalk(0.5), adapt=False)
    starts = [[-40.0], [-40.0], [40.0], [40.0]]
    found = practise_mcmc(far, small, starts=starts, n_draws=200, most_draws=800, random_state=rng)
    assert not found.mixed
    assert found.chains.draws.shape[1] == 800
    assert "NOT MIXED" in str(found)
    with pytest.raises(DataError, match="not mixed"):
        found.summary()
    with pytest.raises(DataError, match="two at least"):
        practise_mcmc(far, n_chains=1)


QUESTIONS = {
    "How likely is this sequence?": "evaluate",
    "Which state is the machine in now?": "filter",
    "Which state was it in at every step, with hindsight?": "smooth",
    "What is the best path of states?": "decode",
    "What comes next?": "predict",
    "Estimate the parameters by Baum-Welch": "learn",
    "decode": "decode",
    "Generate a few sequences": "simulate",
    "Which word of the class list was spoken? Classify it": "classify",
}


@pytest.mark.covers("hmm-task-chooser")
@pytest.mark.parametrize("question", list(QUESTIONS))
def test_a_question_names_its_task(question):
    assert hmm_task(question).name == QUESTIONS[question]


@pytest.mark.covers("hmm-task-chooser")
def test_routines_answer_their_questions_as_enumeration_does():
    start, transition = np.array([0.6, 0.4]), np.array([[0.7, 0.3], [0.4, 0.6]])
    emission = np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])
    model = HiddenMarkovModel.known(start, transition, CategoricalEmission(emission))
    x = [0, 1, 2]
    joint = {}
    for path in itertools.product(range(2), repeat=3):
        p = start[path[0]] * emission[path[0], x[0]]
        for t in (1, 2):
            p *= transition[path[t - 1], path[t]] * emission[path[t], x[t]]
        joint[path] = p
    total = sum(joint.values())
    answer = {task.name: task.run for task in hmm_tasks().tasks}
    assert answer["evaluate"](model, [x])[0] == pytest.approx(np.log(total))
    assert answer["decode"](model, [x])[0][0] == list(max(joint, key=joint.get))
    smoothed = [sum(p for path, p in joint.items() if path[t] == 1) / total for t in range(3)]
    np.testing.assert_allclose(answer["smooth"](model, [x])[0][:, 1], smoothed)
    filtered = answer["filter"](model, [x])[0]
    assert filtered[2, 1] == pytest.approx(smoothed[2])
    assert filtered[0, 1] == pytest.approx(0.04 / 0.34)
    assert len(answer["simulate"](model, [x])[0][1]) == 3
    with pytest.raises(DataError, match="HMMClassifier"):
        answer["classify"](model, [x])


@pytest.mark.covers("hmm-task-chooser")
def test_a_question_of_no_task_or_of_two_is_refused_with_the_list():
    with pytest.raises(DataError, match=r"evaluate.*decode"):
        hmm_task("What is the meaning of this?")
    with pytest.raises(DataError, match=r"filter.*predict"):
        hmm_task("Where is it now, and what is next?")


def combination(rng: np.random.Generator, n: int = 240) -> Table:
    """The target needs a and b together; copy repeats c; noise says nothing."""
    a, b, c = rng.normal(size=(3, n))
    y = a - b + 2 * c + 0.1 * rng.normal(size=n)
    return Table.from_dict(
        {
            "a": a.tolist(),
            "b": b.tolist(),
            "c": c.tolist(),
            "noise": rng.normal(size=n).tolist(),
            "after": (y + 1e-9).tolist(),
            "y": y.tolist(),
        }
    )


@pytest.mark.covers("feature-choice-workflow")
def test_knowledge_filter_and_learner_keep_what_matters_and_the_check_is_inside_folds(rng):
    table = combination(rng)
    found = choose_features(table, "y", LinearRegression(), leave_out=["after"], n_folds=4)
    assert {"a", "b", "c"} <= set(found.chosen)
    assert "after" not in found.names
    assert found.left_out == ["after"]
    assert found.ranking.names[0] == "c"
    assert found.trace.scores.shape[0] == 4
    assert found.chosen_columns.value <= found.all_columns.value * 1.1
    assert "inside every fold" in str(found)


@pytest.mark.covers("feature-choice-workflow")
def test_choices_that_cannot_be_made_are_refused(rng):
    table = combination(rng, 60)
    with pytest.raises(DataError, match="nowhere"):
        choose_features(table, "y", leave_out=["nowhere"])
    with pytest.raises(DataError, match="nothing to choose"):
        choose_features(table, "y", leave_out=["a", "b", "c", "noise"])
    with pytest.raises(DataError, match="cannot be left out"):
        choose_features(table, "y", leave_out=["y"])
