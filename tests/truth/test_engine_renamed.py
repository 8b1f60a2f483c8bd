"""Former names of classes and parameters still work, with a warning; packages are found lazily."""

from __future__ import annotations

import subprocess
import sys
import types
import zipfile

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import gnomon
from gnomon.engine import modelfile
from gnomon.engine.renamed import FORMER_CLASSES, former_names, former_parameters
from gnomon.engine.storable import STORABLE
from gnomon.margin import PocketPerceptron
from gnomon.neighbors import NeighborImputer


def test_a_former_name_answers_with_todays_object_and_a_warning():
    module = types.ModuleType("somewhere")
    module.__getattr__ = former_names("somewhere", {"Dumper": "json:dumps"})
    try:
        with pytest.warns(FutureWarning, match=r"somewhere\.Dumper is now json\.dumps"):
            assert module.Dumper([1]) == "[1]"
        with pytest.raises(AttributeError, match="'somewhere' has no attribute 'Loader'"):
            _ = module.Loader
    finally:
        del FORMER_CLASSES["Dumper"]


def test_a_former_parameter_is_taken_with_a_warning_and_not_shown():
    @former_parameters(n_starts="n_init")
    class Search(BaseEstimator):
        def __init__(self, n_init=1):
            self.n_init = n_init

    with pytest.warns(FutureWarning, match="Search: the parameter n_starts is now n_init"):
        assert Search(n_starts=3).get_params() == {"n_init": 3}
    with pytest.raises(TypeError, match="give n_init, not also n_starts"):
        Search(n_starts=3, n_init=2)


def test_a_model_file_of_a_former_class_and_parameter_is_read(tmp_path, monkeypatch):
    from gnomon.cluster import KMeans

    model = KMeans(n_clusters=2, random_state=0).fit(np.array([[0.0], [0.1], [5.0], [5.1]]))
    path = model.save(tmp_path / "model.gnomon")
    monkeypatch.delitem(STORABLE, "KMeans")
    monkeypatch.setitem(STORABLE, "KMeansOfToday", KMeans)
    with pytest.raises(modelfile.ModelFileError, match="does not know"):
        gnomon.load(path)
    monkeypatch.setitem(FORMER_CLASSES, "KMeans", "KMeansOfToday")
    assert gnomon.load(path).n_clusters == 2


def test_packages_are_attributes_of_gnomon_without_an_import_of_their_own():
    code = "import gnomon; gnomon.cluster.KMeans; assert 'trees' in dir(gnomon)"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'no_such_package'"):
        _ = gnomon.no_such_package


def test_filters_answer_at_their_former_place():
    import gnomon.prepare
    import gnomon.table.filters

    with pytest.warns(FutureWarning, match=r"is now gnomon\.prepare\.OneHot"):
        assert gnomon.table.filters.OneHot is gnomon.prepare.OneHot
    with pytest.warns(FutureWarning, match=r"is now gnomon\.prepare\.FilteredLearner"):
        assert gnomon.contract.FilteredLearner is gnomon.prepare.FilteredLearner


@pytest.mark.parametrize(
    ("former", "today"),
    [
        ("Perceptron", lambda: PocketPerceptron(max_iter=50)),
        ("KNNImputer", lambda: NeighborImputer(2)),
    ],
)
def test_a_file_of_a_class_whose_name_has_another_meaning_now_is_read_as_before(
    former, today, tmp_path, rng
):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    X[:, 0] += 10 * y
    fitted = today().fit(X, y)
    path = fitted.save(tmp_path / "model.gnomon")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    ours = type(fitted).__name__.encode()
    members["model.json"] = members["model.json"].replace(ours, former.encode())
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    assert type(gnomon.load(path)) is type(fitted)
