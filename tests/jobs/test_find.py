"""Every public name is found by its own name, its synonyms, its peers' names and by words."""

import importlib
import re

import pytest

import gnomon
from gnomon.engine.registry import PACKAGES
from gnomon.workbench.catalogue.command import methods
from gnomon.workbench.explain.index import NAME, find, index, same_word, words
from gnomon.workbench.explain.terms import TERMS


def test_every_public_name_is_found_first_by_its_own_name():
    for each in index():
        assert each.rank(each.name) == NAME, each.name
        assert each.rank(each.name.rpartition(".")[2]) == NAME, each.name


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("random forest", "trees.RandomForestClassifier"),
        ("sklearn.ensemble.RandomForestClassifier", "trees.RandomForestClassifier"),
        ("t-SNE", "reduce.TSNE"),
        ("HMM", "sequence.GaussianHMM"),
        ("partial dependence", "show.partial_dependence"),
        ("p-value", "p-value"),
        ("leakage", "leak"),
        ("clusters", "clustering"),
        ("elbow", "number of clusters"),
        ("apriori", "frequent itemsets"),
        ("mcmc", "MCMC"),
        ("levenshtein", "edit distance"),
        ("class imbalance", "class imbalance"),
        ("kaplan-meier", "survival analysis"),
        ("shap", "SHAP"),
    ],
)
def test_usual_words_find_the_name(query, name):
    assert name in [each.name for each in find(query)][:20]


def test_a_part_of_a_word_is_no_match():
    assert "cluster.HartiganKMeans" not in [each.name for each in find("GAN")]
    assert len(find("flibbertigibbet")) == 0
    assert "no public name matches" in str(find("flibbertigibbet"))


def test_names_are_parted_into_words():
    assert words("GaussianHMM") == ["gaussian", "hmm"]
    assert words("area_under_ROC 2") == ["area", "under", "roc", "2"]
    assert same_word("forests", "forest")
    assert not same_word("gan", "gansu")


def test_the_names_that_terms_refer_to_exist():
    packages = "|".join(PACKAGES)
    pattern = rf"\b((?:{packages}|show|table|decide)\.\w+)"
    for text, *_ in TERMS.values():
        for name in re.findall(pattern, text):
            package, _, public = name.partition(".")
            assert hasattr(importlib.import_module(f"gnomon.{package}"), public), name


def test_find_is_a_public_function_and_prints_a_table():
    found = gnomon.find("k-means")
    assert str(found).startswith(f"{len(found)} public names match 'k-means'")
    assert "cluster.KMeans" in str(found)


def test_words_that_no_method_has_lead_to_functions_and_terms(capsys):
    methods(["mutual", "information"])
    assert "select.mutual_information" in capsys.readouterr().out
