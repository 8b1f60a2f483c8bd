"""A name of another library that gnomon calls otherwise leads to gnomon's."""

from __future__ import annotations

import importlib

import pytest

import gnomon
from gnomon.engine.synonyms import CALLED_HERE

PACKAGES = ("bayes", "cluster", "ensemble", "evaluate", "linear", "margin", "prepare", "reduce")


@pytest.mark.parametrize("name", sorted(CALLED_HERE))
def test_a_name_of_another_library_is_led_to_ours(name):
    home, _, ours = CALLED_HERE[name].rpartition(".")
    assert hasattr(importlib.import_module(home), ours)
    for package in PACKAGES:
        module = getattr(gnomon, package)
        assert name not in module.__all__, f"gnomon has {name}: remove it from CALLED_HERE"
        hint = f"gnomon calls it {CALLED_HERE[name]}"
        with (
            pytest.warns(UserWarning, match=hint) as caught,
            pytest.raises(AttributeError, match=hint),
        ):
            getattr(module, name)
        assert caught[0].filename == __file__


def test_an_import_of_such_a_name_warns_before_it_fails():
    with (
        pytest.warns(UserWarning, match="gnomon calls it gnomon.prepare.WordCounts"),
        pytest.raises(ImportError),
    ):
        from gnomon.prepare import CountVectorizer  # noqa: F401
