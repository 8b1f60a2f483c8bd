"""gnomon.accelerate: scikit-learn's code runs unchanged; results, pickles and classes stay."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import (
    ElasticNet,
    LassoCV,
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
)
from sklearn.manifold import MDS, Isomap
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import gnomon.accelerate as accelerate
from gnomon.accelerate.ledger import Entry
from gnomon.accelerate.routes import ROUTES


@pytest.fixture(autouse=True)
def plain_afterwards():
    accelerate.reset()
    yield
    accelerate.uninstall()


def rows(rng, n=300, d=3):
    return rng.normal(size=(n, d)) + 4 * rng.integers(3, size=(n, 1))


def classes(X):
    return (X[:, 0] > np.median(X[:, 0])).astype(int) + (X[:, 1] > np.median(X[:, 1]))


SAME = {
    "KMeans": (
        lambda s: KMeans(4, random_state=s, n_init=2),
        ["cluster_centers_", "labels_", "inertia_", "n_iter_"],
    ),
    "DBSCAN": (lambda s: DBSCAN(eps=0.7), ["labels_", "core_sample_indices_", "components_"]),
    "AgglomerativeClustering": (
        lambda s: AgglomerativeClustering(3, compute_distances=True),
        ["labels_", "children_", "distances_"],
    ),
    "LinearRegression": (
        lambda s: LinearRegression(),
        ["coef_", "intercept_", "singular_", "rank_"],
    ),
    "GaussianNB": (lambda s: GaussianNB(), ["theta_", "var_", "class_prior_"]),
    "LogisticRegression": (lambda s: LogisticRegression(C=0.1), ["coef_", "intercept_"]),
    "SVC": (lambda s: SVC(), ["support_", "support_vectors_", "dual_coef_", "intercept_"]),
    "SVR": (lambda s: SVR(), ["support_", "dual_coef_", "intercept_", "n_iter_"]),
    "OneClassSVM": (lambda s: OneClassSVM(nu=0.2), ["support_", "dual_coef_", "offset_"]),
    "RandomForestClassifier": (
        lambda s: RandomForestClassifier(10, random_state=s),
        ["feature_importances_"],
    ),
    "RandomForestRegressor": (
        lambda s: RandomForestRegressor(10, random_state=s),
        ["feature_importances_"],
    ),
    "Isomap": (lambda s: Isomap(n_neighbors=80), ["dist_matrix_"]),
    "GradientBoostingRegressor": (
        lambda s: GradientBoostingRegressor(n_estimators=5, random_state=s),
        ["feature_importances_", "train_score_"],
    ),
    "AdaBoostClassifier": (
        lambda s: AdaBoostClassifier(n_estimators=5, random_state=s),
        ["feature_importances_", "estimator_weights_"],
    ),
    "MDS": (
        lambda s: MDS(random_state=s, n_init=1, max_iter=10, init="random"),
        ["embedding_", "stress_", "n_iter_"],
    ),
    "BayesianGaussianMixture": (
        lambda s: BayesianGaussianMixture(n_components=2, random_state=s, max_iter=10, tol=0),
        ["means_", "covariances_"],
    ),
    **{
        f"GaussianMixture {kind}": (
            lambda s, kind=kind: GaussianMixture(
                3, covariance_type=kind, random_state=s, max_iter=10, tol=0
            ),
            ["means_", "covariances_", "weights_", "lower_bound_"],
        )
        for kind in ("full", "tied", "diag", "spherical")
    },
}
ANSWERS = ("predict", "predict_proba", "decision_function", "score_samples", "transform")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", SAME)
@pytest.mark.covers("accelerate-scikit-learn")
def test_an_accelerated_fit_and_its_answers_equal_those_of_scikit_learn(name, rng, seed):
    make, attributes = SAME[name]
    X = rows(rng)
    numbers = name in ("LinearRegression", "SVR") or "Regressor" in name
    y = X @ [1.0, -1.0, 0.5] if numbers else classes(X)
    plain = make(seed).fit(X, y)
    expected = {answer: getattr(plain, answer)(X) for answer in ANSWERS if hasattr(plain, answer)}
    with accelerate.install(always=True):
        fast = make(seed).fit(X, y)
        found = {answer: getattr(fast, answer)(X) for answer in expected}
    report = accelerate.report()
    here = sum(entry.accelerated for entry in report.calls.values())
    assert here or "an empty cluster" in str(report) or "equal height" in str(report), report
    assert "failed here" not in str(report)
    for attribute in attributes:
        ours, theirs = getattr(fast, attribute), getattr(plain, attribute)
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8, err_msg=attribute)
    for answer, value in expected.items():
        np.testing.assert_allclose(found[answer], value, rtol=1e-6, atol=1e-8, err_msg=answer)


@pytest.mark.parametrize("max_features", [None, 2])
@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_a_tree_has_the_same_nodes_as_that_of_scikit_learn(task, max_features, rng, seed):
    X = rng.normal(size=(300, 4))
    y = X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=300)
    weights = rng.integers(3, size=300).astype(float)
    cls = DecisionTreeClassifier if task == "classes" else DecisionTreeRegressor
    y = classes(X) if task == "classes" else y

    def tree(**limits):
        model = cls(max_features=max_features, random_state=seed, **limits)
        return model.fit(X, y, sample_weight=weights).tree_

    for limits in ({}, {"min_samples_leaf": 7, "max_depth": 4}, {"min_impurity_decrease": 0.01}):
        plain = tree(**limits)
        with accelerate.install(always=True):
            fast = tree(**limits)
        assert accelerate.report().calls["decision trees"].fell_back == 0
        for name in ("children_left", "children_right", "feature", "threshold", "n_node_samples"):
            np.testing.assert_array_equal(getattr(fast, name), getattr(plain, name), name)
        np.testing.assert_allclose(fast.value, plain.value, rtol=1e-12)
        np.testing.assert_allclose(fast.impurity, plain.impurity, atol=1e-12)
        assert fast.max_depth == plain.max_depth


@pytest.mark.parametrize(
    ("make", "label"),
    [
        (lambda: LogisticRegression(tol=1e-8), "LogisticRegression.fit (L-BFGS)"),
        (lambda: LassoCV(cv=3, tol=1e-8), "LassoCV.fit (paths)"),
        (lambda: ElasticNet(alpha=0.01, tol=1e-8), "ElasticNet.fit"),
    ],
)
def test_steps_on_one_thread_of_blas_give_the_results_of_scikit_learn(make, label, rng):
    X = scipy.sparse.random(300, 40, density=0.3, random_state=0, format="csr")
    y = X @ rng.normal(size=40) + 0.1 * rng.normal(size=300)
    y = y > np.median(y) if "Logistic" in label else y
    for rows_of in (X, X.toarray()):
        plain = make().fit(rows_of, y)
        accelerate.reset()
        with accelerate.install(always=True):
            fast = make().fit(rows_of, y)
        assert accelerate.report().calls[label].accelerated > 0
        assert accelerate.report().calls[label].fell_back == 0
        np.testing.assert_allclose(fast.coef_, plain.coef_, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(fast.predict(rows_of), plain.predict(rows_of), rtol=1e-5)


def test_quantile_planes_are_as_good_as_those_of_scikit_learn(rng):
    X = rng.normal(size=(150, 4))
    y = X @ [1.0, 0.0, -2.0, 0.3] + rng.standard_t(3, size=150)
    for quantile, alpha in ((0.5, 0.0), (0.8, 0.02)):
        plain = QuantileRegressor(quantile=quantile, alpha=alpha).fit(X, y)
        with accelerate.install(always=True):
            fast = QuantileRegressor(quantile=quantile, alpha=alpha).fit(X, y)
        np.testing.assert_allclose(fast.coef_, plain.coef_, atol=1e-7)
        np.testing.assert_allclose(fast.intercept_, plain.intercept_, atol=1e-7)


@pytest.mark.parametrize("algorithm", ["kd_tree", "brute"])
@pytest.mark.parametrize("tied", [False, True])
def test_neighbors_are_those_of_scikit_learn_also_with_ties(algorithm, tied, rng):
    X = rng.normal(size=(400, 3))
    if tied:
        X[0] = X[1]
    model = NearestNeighbors(n_neighbors=4, algorithm=algorithm).fit(X)
    expected = [*model.kneighbors(X[:50] + 0.1), *model.kneighbors()]
    with accelerate.install(always=True):
        found = [*model.kneighbors(X[:50] + 0.1), *model.kneighbors()]
    assert accelerate.report().calls["NearestNeighbors.kneighbors"].accelerated == 2
    for ours, theirs in zip(found, expected):
        np.testing.assert_allclose(ours, theirs, atol=1e-7)


def test_kernel_densities_are_those_of_scikit_learn(rng):
    X = rng.normal(size=(200, 2))
    weights = rng.uniform(0.5, 2, size=200)
    model = KernelDensity(bandwidth=0.3).fit(X, sample_weight=weights)
    expected = model.score_samples(X + 0.1)
    with accelerate.install(always=True):
        np.testing.assert_allclose(model.score_samples(X + 0.1), expected, rtol=1e-9)
    assert accelerate.report().calls["KernelDensity.score_samples"].accelerated == 1


def test_uninstall_restores_every_routine():
    before = {id(route): route._place(sys.modules[route.module]) for route in imported()}
    originals = [vars_of(owner)[name] for owner, name in before.values()]
    accelerate.install()
    assert accelerate.installed()
    replaced = [vars_of(owner)[name] for owner, name in before.values()]
    assert all(new is not old for new, old in zip(replaced, originals))
    accelerate.install()  # a second time changes nothing
    assert [vars_of(owner)[name] for owner, name in before.values()] == replaced
    accelerate.uninstall()
    assert not accelerate.installed()
    after = [vars_of(owner)[name] for owner, name in before.values()]
    assert all(new is old for new, old in zip(after, originals))
    assert accelerate.report().not_installed == {}


def imported():
    accelerate.install()  # declares the routes
    accelerate.uninstall()
    return [route for route in ROUTES if route.module in sys.modules]


def vars_of(owner):
    return owner if isinstance(owner, dict) else vars(owner)


def test_estimators_made_before_install_and_their_clones_are_accelerated(rng):
    X = rows(rng)
    model = make_pipeline(StandardScaler(), SVC())
    copy = clone(model)
    with accelerate.install(always=True):
        assert isinstance(copy[-1], SVC)
        assert repr(copy[-1]) == "SVC()"
        copy.fit(X, classes(X)).predict(X)
    assert accelerate.report().calls["SVC.fit"].accelerated == 1
    assert accelerate.report().calls["SVC.predict"].accelerated == 1


def test_a_pickle_of_an_accelerated_model_is_plain_scikit_learn(rng, tmp_path):
    X = rows(rng)
    with accelerate.install(always=True):
        model = KNeighborsClassifier().fit(X, classes(X))
        expected = model.predict(X[:20])
        data = pickle.dumps(model)
    assert b"gnomon" not in data
    np.testing.assert_array_equal(pickle.loads(data).predict(X[:20]), expected)


def test_a_grid_search_chooses_the_same_with_the_same_scores(rng):
    X = rows(rng, 120)
    y = classes(X)

    def search():
        return GridSearchCV(SVC(), {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}, cv=3).fit(X, y)

    plain = search()
    with accelerate.install(always=True):
        fast = search()
    assert fast.best_params_ == plain.best_params_
    np.testing.assert_array_equal(
        fast.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )


def test_small_and_unsupported_calls_run_in_scikit_learn_and_are_listed(rng):
    X = rows(rng)
    with accelerate.install():
        LinearRegression().fit(X, X[:, 0])
    with accelerate.install(always=True):
        LinearRegression().fit(X, X[:, 0], sample_weight=np.ones(len(X)))
    entry = accelerate.report().calls["LinearRegression.fit"]
    assert isinstance(entry, Entry)
    assert (entry.accelerated, entry.fell_back) == (0, 2)
    assert dict(entry.reasons) == {"small input": 1, "sample_weight": 1}
    assert "LinearRegression.fit" in str(accelerate.report())
    accelerate.reset()
    assert "no call" in str(accelerate.report())


def test_errors_are_those_of_scikit_learn(rng):
    X = rows(rng)
    with accelerate.install(always=True):
        with pytest.raises(ValueError, match="Found input variables with inconsistent numbers"):
            LinearRegression().fit(X, X[:-1, 0])
        with pytest.raises(ValueError, match="'eps' parameter of DBSCAN must be"):
            DBSCAN(eps=-1).fit(X)
        with pytest.raises(ValueError, match="contains NaN"):
            GaussianNB().fit(np.where(X > 4, np.nan, X), classes(X))


SCRIPT = """
import pickle, sys
import numpy as np
from sklearn.linear_model import LinearRegression

class Mine:
    pass

if __name__ == "__main__":
    print(sys.argv[1:], type(pickle.loads(pickle.dumps(Mine()))).__name__)
    X = np.random.default_rng(0).normal(size=(30_000, 5))
    print(np.abs(np.round(LinearRegression().fit(X, X[:, 0]).coef_, 6)).tolist())
"""


def test_a_script_runs_with_its_arguments_as_the_main_program(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "gnomon.accelerate", "--report", str(script), "a", "--b=1"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.splitlines() == ["['a', '--b=1'] Mine", "[1.0, 0.0, 0.0, 0.0, 0.0]"]
    assert "LinearRegression.fit" in done.stderr


def test_a_script_that_does_not_exist_is_named(capsys):
    from gnomon.accelerate.__main__ import main

    with pytest.raises(SystemExit):
        main(["nowhere.py"])
    assert "there is no file 'nowhere.py'" in capsys.readouterr().err


def test_the_ipython_extension_installs_and_uninstalls():
    accelerate.load_ipython_extension(None)
    assert accelerate.installed()
    accelerate.unload_ipython_extension(None)
    assert not accelerate.installed()


LATE = """
import builtins, pickle, sys
import gnomon.accelerate
usual = builtins.__import__
gnomon.accelerate.install()
import numpy as np
from sklearn.covariance import EllipticEnvelope
from sklearn.isotonic import check_increasing
from sklearn.metrics import label_ranking_average_precision_score as precision
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import PowerTransformer, QuantileTransformer
from sklearn.tree import DecisionTreeClassifier
late = [name for name in ("pandas", "scipy.stats") if name in sys.modules]
assert builtins.__import__ is usual
X = np.random.default_rng(0).normal(size=(60, 3))
y = X[:, 0] > 0
assert pickle.loads(pickle.dumps(EllipticEnvelope(random_state=0).fit(X))).predict(X).min() == -1
search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}).fit(X, y)
print(late, check_increasing(X[:, 0], X[:, 0]), search.cv_results_["rank_test_score"],
      precision(y[:, None] == [0, 1], X[:, :2]),
      QuantileTransformer(n_quantiles=10, output_distribution="normal").fit_transform(X).sum(),
      PowerTransformer().fit(X).lambdas_, "scipy.stats" in sys.modules)
import pandas, scipy.stats
from sklearn.utils import fixes
assert fixes.pd.DataFrame is pandas.DataFrame
print(DecisionTreeClassifier().fit(pandas.DataFrame(X, columns=list("abc")), y).feature_names_in_)
"""


def test_scikit_learn_uses_statistics_and_pandas_that_are_imported_late():
    def printed(program):
        command = [sys.executable, "-W", "ignore", "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.partition("] ")

    imported, _, found = printed(LATE)
    at_once, _, expected = printed(
        LATE.replace("gnomon.accelerate.install()", "import pandas, scipy.stats")
    )
    assert (imported, at_once) == ("[", "['pandas', 'scipy.stats'")
    assert found == expected
