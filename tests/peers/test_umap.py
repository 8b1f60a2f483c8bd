"""UMAP on its library: the map, its manners, and what is said where the library is absent."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import gnomon
from gnomon.engine.errors import DataError, GnomonError
from gnomon.reduce import UMAP
from gnomon.reduce.umap import memberships


def test_the_extra_is_named_where_the_library_is_absent(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(GnomonError, match=r"gnomon\[umap\]"):
        UMAP().fit(rng.normal(size=(20, 3)))


def test_memberships_sum_to_the_logarithm_of_their_number(rng):
    distances = np.sort(rng.random((30, 12)), axis=1)
    found = memberships(distances)
    np.testing.assert_allclose(found.sum(axis=1), np.log2(12), rtol=1e-6)
    np.testing.assert_array_equal(found[:, 0], 1.0)


@pytest.mark.slow
def test_groups_are_seen_new_rows_join_theirs_and_seeds_repeat(rng, tmp_path):
    pytest.importorskip("umap")
    group = np.arange(120) % 3
    X = 20 * np.eye(3, 6)[group] + rng.normal(size=(120, 6))
    model = UMAP(random_state=0).fit(X)
    means = np.array([model.embedding_[group == g].mean(axis=0) for g in range(3)])
    nearest = np.linalg.norm(model.embedding_[:, None] - means, axis=2).argmin(axis=1)
    assert (nearest == group).all()
    new = model.transform(X + 0.01)
    assert (np.linalg.norm(new[:, None] - means, axis=2).argmin(axis=1) == group).all()
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    shuffled = rng.permutation(120)
    again = UMAP(random_state=0).fit(X[shuffled])
    np.testing.assert_array_equal(again.embedding_, model.embedding_[shuffled])
    loaded = gnomon.load(model.save(tmp_path / "map.gnomon"))
    np.testing.assert_array_equal(loaded.transform(X + 0.01), new)
    weighted = UMAP(random_state=0).fit(X, sample_weight=np.repeat([1.0, 2.0], 60))
    np.testing.assert_array_equal(weighted.embedding_, model.embedding_)
    with pytest.raises(DataError, match="four different rows"):
        UMAP().fit(X[:3])
