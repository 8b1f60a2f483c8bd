"""Worked examples of the texts on trees: 001 chapter 9, 003 section 2.3, 004 chapter 9."""

import numpy as np
import pytest

from gnomon.table import Table
from gnomon.trees import DecisionTreeClassifier

FASHION = Table.from_dict(
    {
        "socks": ["match", "match", "mismatch", "match", "mismatch", "match", "mismatch"],
        "shirt": ["T-shirt", "none", "button-up", "button-up", "T-shirt", "none", "T-shirt"],
        "pants": ["shorts", "none", "shorts", "slacks", "slacks", "shorts", "shorts"],
        "tie": ["no", "yes", "no", "yes", "no", "yes", "no"],
        "fashion": ["stylish", "dork", "dork", "stylish", "dork", "dork", "dork"],
    }
)


def impurity_of(labels, criterion):
    rows = np.zeros((len(labels), 1))
    return DecisionTreeClassifier(criterion=criterion).fit(rows, labels).nodes_.impurity[0]


def saving_of_one_question(left, right, criterion):
    """Gain per row of the split that parts two lists of labels."""
    rows = np.repeat([[0.0], [1.0]], [len(left), len(right)], axis=0)
    tree = (
        DecisionTreeClassifier(criterion=criterion, max_depth=1)
        .fit(rows, list(left + right))
        .nodes_
    )
    return tree.gain[0] / len(rows)


@pytest.mark.covers("split-entropy-gain", "classification-tree")
def test_003_w15_socks_is_the_first_question_with_a_gain_of_0_2917_bits():
    model = DecisionTreeClassifier(criterion="entropy").fit(FASHION, "fashion")
    first = model.encoder_.columns.names[model.nodes_.feature[0]]
    assert model.nodes_.impurity[0] == pytest.approx(0.8631, abs=5e-5)
    assert first == "socks"
    assert model.nodes_.gain[0] / 7 == pytest.approx(0.2917, abs=5e-5)


@pytest.mark.covers("classification-tree")
def test_003_w14_within_matching_socks_the_shirt_decides_and_ends_the_tree():
    model = DecisionTreeClassifier(criterion="entropy").fit(FASHION, "fashion")
    asked = [model.encoder_.columns.names[f] for f in model.nodes_.feature if f >= 0]
    assert asked == ["socks", "shirt"]
    assert model.get_depth() == 2
    new = Table.from_dict(
        {"socks": ["match"], "shirt": ["button-up"], "pants": ["shorts"], "tie": ["yes"]}
    )
    assert model.predict(new).tolist() == ["stylish"]


@pytest.mark.covers("split-entropy-gain", "split-gini")
@pytest.mark.parametrize(
    ("counts", "entropy", "gini"),
    [((1, 1), 1.0, 0.5), ((1, 1, 1, 1), 2.0, 0.75), ((9, 5), 0.940286, 0.459184)],
)
def test_004_d6_impurities_of_given_counts(counts, entropy, gini):
    labels = [label for label, n in enumerate(counts) for _ in range(n)]
    assert impurity_of(labels, "entropy") == pytest.approx(entropy, abs=1e-6)
    assert impurity_of(labels, "gini") == pytest.approx(gini, abs=1e-6)


@pytest.mark.covers("split-entropy-gain", "split-gini")
@pytest.mark.parametrize(
    ("left", "right", "gain", "gini_after"),
    [
        ("AAABB", "AABBB", 0.029049, 0.48),
        ("AAAAB", "ABBBB", 0.278072, 0.32),
        ("AAAAAB", "BBBB", 0.609987, 0.166667),
    ],
)
def test_004_d6_gains_of_three_questions(left, right, gain, gini_after):
    assert saving_of_one_question(left, right, "entropy") == pytest.approx(gain, abs=1e-6)
    gini_saving = saving_of_one_question(left, right, "gini")
    assert 0.5 - gini_saving == pytest.approx(gini_after, abs=1e-6)


@pytest.mark.covers("split-misclassification")
def test_001_t8_impurities_at_one_half():
    assert impurity_of([0, 1], "misclassification") == 0.5
    assert impurity_of([0, 1], "gini") == 0.5
    assert impurity_of([0, 1], "entropy") * np.log(2) == pytest.approx(0.693147, abs=1e-6)
