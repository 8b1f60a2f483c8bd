"""The same fits on the workers of a real Dask cluster (processes of this machine): same bits."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from functools import partial
from pathlib import Path

import cloudpickle
import distributed
import numpy as np
import pandas as pd
import pytest

import gnomon
from gnomon.bayes import GaussianNB
from gnomon.cluster import KMeans
from gnomon.distributed import ClusterError, VersionMismatch, connect, local, remote
from gnomon.distributed.holding import _Place, _rows_of
from gnomon.engine import sums
from gnomon.engine.errors import DataError, MemoryLimitError
from gnomon.engine.sums import ArraySource, MappedSource, add_up
from gnomon.engine.threads import in_order
from gnomon.evaluate import cross_validation_estimates
from gnomon.linear import LinearRegression, LogisticRegression, Ridge
from gnomon.sample import Metropolis, Target, continued, sample_chains
from gnomon.select import GridSearchCV, SelectKBest, VarianceThreshold
from gnomon.table import read, scan
from gnomon.trees import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    boosting,
    boosting_grower,
    boosting_rounds,
    boosting_workers,
)
from gnomon.trees.random_forest import ManyTrees
from tests.contract.cases import (
    CLASSES,
    assert_same_bits,
    each,
    fit,
    make,
    outputs,
    problem,
    streaming,
)

pytestmark = pytest.mark.covers("cluster-dask")


@pytest.fixture(scope="module")
def by_value():
    """Workers get the functions of this module as they are, and need not import its imports."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def cluster(by_value):
    with local(2, memory="2GB") as found:
        yield found


@pytest.fixture
def small_blocks(monkeypatch):
    """Chunks of sixteen rows in blocks of two: few rows are spread over all workers."""
    monkeypatch.setattr(sums, "FEWEST_ROWS", 16)
    monkeypatch.setattr(sums, "MOST_ROWS", 16)
    monkeypatch.setattr(sums, "BLOCK_CHUNKS", 2)
    monkeypatch.setattr(sums, "BLOCK_ROWS", 0)
    sums.rows_per_chunk.cache_clear()
    yield
    monkeypatch.undo()
    sums.rows_per_chunk.cache_clear()


@pytest.fixture
def numbers(rng):
    X = rng.normal(size=(700, 4)) * 10.0 ** rng.integers(-4, 4, 4)
    return X, X @ rng.normal(size=4) + rng.normal(size=700)


def on(cluster, work):
    with gnomon.config(executor=cluster):
        return work()


def products(chunk):
    return (chunk.rows.T @ chunk.rows, chunk.weights.sum(), float(chunk.start))


def test_totals_of_a_cluster_have_the_bits_of_threads(cluster, numbers, small_blocks):
    X, y = numbers
    for weights in (None, np.abs(y)):
        expected = add_up(products, ArraySource(X, y, weights), 1)
        found = on(cluster, lambda w=weights: add_up(products, ArraySource(X, y, w)))
        assert [np.array(a).tobytes() for a in found] == [np.array(a).tobytes() for a in expected]


def test_the_page_on_scale_lists_the_methods_that_stream():
    page = (Path(gnomon.__file__).parents[2] / "docs" / "scale.md").read_text()
    listed = page.split("tests/contract/test_cluster.py -->")[1].split("A scan of any other")[0]
    found = set(re.findall(r"`([A-Z]\w+)`", listed))
    boosting_too = {"HistGradientBoostingClassifier", "HistGradientBoostingRegressor"}
    assert found == {cls.__name__ for cls in streaming()} | boosting_too


SOME = [LinearRegression, LogisticRegression, GaussianNB, SelectKBest, VarianceThreshold]


def same_on_cluster(cls, cluster, rng, n=300, d=4):
    X, y = problem(make(cls), rng, n=n, d=d)
    expected = outputs(fit(make(cls), X, y), X)
    assert_same_bits(outputs(on(cluster, lambda: fit(make(cls), X, y)), X), expected)


@pytest.mark.parametrize("cls", SOME)
def test_a_fit_on_workers_has_the_bits_of_threads(cls, cluster, rng, small_blocks):
    same_on_cluster(cls, cluster, rng)


def test_k_means_of_many_rows_has_the_bits_of_threads_and_of_a_scan(cluster, rng):
    """Above 5,000 rows threads keep sums from pass to pass, which no other place does."""
    X = rng.normal(size=(40_000, 9)) + 4 * rng.integers(0, 3, size=(40_000, 1))
    frame = pd.DataFrame(X, columns=list("abcdefghi"))
    model = partial(KMeans, 7, random_state=0, max_iter=100)
    expected = model().fit(X)
    for found in (on(cluster, lambda: model().fit(X)), model().fit(scan(frame))):
        assert found.cluster_centers_.tobytes() == expected.cluster_centers_.tobytes()
        assert found.labels_.tobytes() == expected.labels_.tobytes()
        assert found.inertia_ == expected.inertia_


def frame_of(rng, n=900):
    X = rng.normal(size=(n, 3))
    words = np.array(["red", 'a "quoted" word', "two\nlines", "comma, inside"])
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["word"] = words[rng.integers(0, 4, n)]
    frame["times"] = rng.integers(0, 3, n)
    frame["outcome"] = X @ [1.0, -2.0, 0.5] + (frame["word"] == "red") + rng.normal(size=n)
    return frame


@pytest.mark.parametrize(
    ("form", "weight"), [("csv", "times"), ("parquet", None), ("folder", "times")]
)
def test_rows_read_on_workers_give_the_bits_of_a_scan(
    form, weight, cluster, rng, small_blocks, tmp_path
):
    frame = frame_of(rng)
    path = tmp_path / ("rows" if form == "folder" else f"rows.{form}")
    if form == "csv":
        frame.to_csv(path, index=False)
    elif form == "parquet":
        frame.to_parquet(path, row_group_size=100)
    else:
        path.mkdir()
        for part in range(3):
            rows = frame.iloc[300 * part : 300 * (part + 1)]
            rows.to_parquet(path / f"part-{part}.parquet", row_group_size=70)

    def fitted():
        opened = scan(path, rows_per_chunk=64)
        return LinearRegression().fit(opened, "outcome", sample_weight=weight)

    expected, found = fitted(), on(cluster, fitted)
    assert found.coef_.tobytes() == expected.coef_.tobytes()
    assert found.intercept_ == expected.intercept_
    assert len(found.coef_) > 3


@pytest.mark.parametrize("n_parts", [2, 7, 40])
def test_byte_ranges_of_a_file_with_line_ends_in_quotes_hold_all_rows(n_parts, rng, tmp_path):
    frame = frame_of(rng, 120)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    opened = scan(tmp_path / "rows.csv")
    whole = opened.read().arrow
    parts = [remote.read_part(part, opened.schema) for part in opened.parts(n_parts)]
    assert len(parts) > 1
    assert remote.joined([part for part in parts if part is not None]).equals(whole)


def test_a_bad_row_of_a_file_is_told_with_its_line(cluster, rng, small_blocks, tmp_path):
    path = tmp_path / "rows.csv"
    lines = ["x,y", *(f"{i},{i % 7}" for i in range(500))]
    lines[401] = "many,3"
    path.write_text("\n".join(lines))
    opened = scan(path, sample_rows=100)
    with pytest.raises(DataError, match="line 402"):
        on(cluster, lambda: LinearRegression().fit(opened, "y"))


def test_arrays_and_frames_of_dask_are_computed_on_the_workers(cluster, numbers, small_blocks):
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    X, y = numbers
    expected = LinearRegression().fit(X, y)
    lazy, target = da.from_array(X, chunks=(130, 2)), da.from_array(y, chunks=200)
    for executor in (None, cluster):
        found = on(executor, lambda: LinearRegression().fit(lazy, target))
        assert found.coef_.tobytes() == expected.coef_.tobytes()
        np.testing.assert_allclose(found.predict(lazy), expected.predict(X))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(outcome=y)
    by_name = LinearRegression().fit(scan(frame), "outcome")
    parts = dd.from_pandas(frame, npartitions=5)
    found = on(cluster, lambda: LinearRegression().fit(parts, "outcome"))
    assert found.coef_.tobytes() == by_name.coef_.tobytes()


def test_missing_cells_of_an_array_of_dask_are_refused(cluster, numbers, small_blocks):
    da = pytest.importorskip("dask.array")
    X, y = numbers
    X[600, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        on(cluster, lambda: LinearRegression().fit(da.from_array(X, chunks=100), y))


def test_trees_grown_on_workers_have_the_bits_of_threads(cluster, rng):
    X = rng.normal(size=(200, 5))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    model = partial(RandomForestClassifier, n_estimators=6, random_state=3, oob_score=True)
    expected, found = model().fit(X, y), on(cluster, lambda: model().fit(X, y))
    assert found.predict_proba(X).tobytes() == expected.predict_proba(X).tobytes()
    assert found.oob_score_ == expected.oob_score_


@pytest.fixture
def boosting_on_workers(monkeypatch):
    """Few rows are boosted on the workers, in blocks of 64; how many trees were begun there."""
    monkeypatch.setattr(boosting_rounds, "ROWS_AT_ONCE", 64)
    monkeypatch.setattr(boosting_workers, "FEWEST_CELLS", 0)
    grow = boosting_workers.ClusterWorkshop.grow_with
    begun = []

    def counted(self, *arguments):
        begun.append(1)
        return grow(self, *arguments)

    monkeypatch.setattr(boosting_workers.ClusterWorkshop, "grow_with", counted)
    return begun


def boosting_problem(rng, n=500):
    X = rng.normal(size=(n, 11))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[:, 3] = rng.integers(0, 6, n)
    return X, np.nan_to_num(X[:, 0] + X[:, 1] * X[:, 2]) + X[:, 3] % 2 + rng.normal(size=n)


# each with the kind of its weights: none, whole numbers (repetitions) or any
BOOSTED = {
    "numbers": (HistGradientBoostingRegressor, {"categorical_features": [3]}, None),
    "counts": (HistGradientBoostingRegressor, {"loss": "poisson", "early_stopping": True}, "whole"),
    "shares": (HistGradientBoostingClassifier, {"class_weight": "balanced"}, "any"),
    "classes": (HistGradientBoostingClassifier, {"max_features": 0.5}, None),
    "few": (HistGradientBoostingRegressor, {"min_samples_leaf": 60}, "whole"),
    "monotone": (
        HistGradientBoostingRegressor,
        {"monotonic_cst": [1] + 10 * [0], "max_depth": 3, "max_leaf_nodes": None},
        "any",
    ),
}


def boosted(case, rng):
    """What fits one of the cases above, and gives all that was learned."""
    cls, parameters, kind = BOOSTED[case]
    X, y = boosting_problem(rng)
    if case == "counts":
        y = rng.poisson(np.exp(0.3 * y))
    elif cls is HistGradientBoostingClassifier:
        y = np.digitize(y, [-1, 1] if case == "classes" else [0])
    weights = {
        None: None,
        "whole": rng.integers(0, 4, len(y)).astype(float),
        "any": rng.random(len(y)),
    }[kind]

    def learned():
        parts = {"max_iter": 3, "random_state": 0, "min_samples_leaf": 5} | parameters
        model = cls(**parts).fit(X, y, sample_weight=weights)
        fields = ("feature", "threshold", "value", "gain", "n_node_samples")
        trees = [getattr(tree, name).tobytes() for tree in model.trees_ for name in fields]
        return trees, list(model.history_), model.predict(X).tobytes()

    return learned


@pytest.mark.parametrize("case", ["numbers", "shares"])
def test_boosting_on_workers_has_the_bits_of_threads(case, cluster, rng, boosting_on_workers):
    learned = boosted(case, rng)
    expected = learned()
    assert not boosting_on_workers
    assert on(cluster, learned) == expected
    assert boosting_on_workers


class Forgetful:
    """A cluster of three parts in this process, of which one now and then loses what it kept."""

    def __init__(self):
        self.calls, self.source = 0, None

    def block_totals(self, *arguments):
        return None

    in_order = look_through = block_totals

    def on_parts(self, function, source, numbers=None, beside=None):
        if self.source is not source:
            place = _Place(source.size, 1, source.n_rows)
            self.source, spans = source, place.spans(3)
            self.held = [_rows_of(source, start, stop, place) for _, _, start, stop in spans]
        self.calls += 1
        if self.calls % 5 == 0:
            self.held[self.calls % 3].scratch.clear()
        packed = remote.Packed.of(function)
        numbers = range(3) if numbers is None else numbers
        return [(number, packed.function()(self.held[number])) for number in numbers]


@pytest.mark.parametrize("case", BOOSTED)
@pytest.mark.parametrize("room", [2**28, 0])
def test_boosting_goes_on_where_workers_lost_their_state(
    case, room, rng, boosting_on_workers, monkeypatch
):
    monkeypatch.setattr(boosting_grower, "HISTOGRAM_ROOM", room)
    learned = boosted(case, rng)
    expected = learned()
    assert on(Forgetful(), learned) == expected
    assert boosting_on_workers


def read_and_boosted(path, weights, cluster=None, **parameters):
    """All that is learned from the rows of a file, read whole or where workers hold them."""
    given = scan(path, rows_per_chunk=70)
    given = given if cluster else read(path).with_schema(given.schema)
    parts = {"max_iter": 3, "random_state": 0, "min_samples_leaf": 5} | parameters
    with gnomon.config(executor=cluster):
        model = HistGradientBoostingRegressor(**parts)
        model.fit(given, "outcome", sample_weight=weights)
    fields = ("feature", "threshold", "value", "gain", "n_node_samples")
    trees = [getattr(tree, name).tobytes() for tree in model.trees_ for name in fields]
    return trees, list(model.history_), model.validation_score_.tolist()


@pytest.mark.parametrize(
    ("weights", "parameters"),
    [
        (None, {"early_stopping": True, "loss": "poisson"}),
        ("times", {"early_stopping": True, "refit": True}),
        ("times", {"subsample": 0.5}),
        (None, {"loss": "absolute_error"}),
    ],
    ids=["stopping", "weights", "draws", "medians"],
)
def test_rows_read_on_workers_are_boosted_as_in_memory(
    weights, parameters, cluster, rng, boosting_on_workers, small_blocks, tmp_path, monkeypatch
):
    """The bins, the rows that are kept aside and the codes are those of rows in memory."""
    frame = frame_of(rng)
    frame["outcome"] = np.abs(frame["outcome"]).round(1)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    given = tmp_path / "rows.parquet", weights
    expected = read_and_boosted(*given, **parameters)
    assert not boosting_on_workers
    monkeypatch.setattr(boosting.StreamedData, "rows", property(lambda data: 1 / 0))
    assert read_and_boosted(*given, cluster, **parameters) == expected
    sums_suffice = "loss" not in parameters or parameters["loss"] == "poisson"
    assert bool(boosting_on_workers) == (sums_suffice and "subsample" not in parameters)


def doubled(rows):
    return 2.0 * rows


def as_held(held):
    return held.rows.copy(), held.y.copy()


def test_rows_made_of_others_on_workers_are_made_again_where_they_are_lost(
    cluster, rng, small_blocks
):
    X, chosen = rng.normal(size=(700, 3)), rng.random(700) < 0.6
    y = np.arange(np.count_nonzero(chosen), dtype=float)
    source = MappedSource(ArraySource(X), doubled, chosen, y, 3, 16)
    with gnomon.config(executor=cluster):
        held = cluster._held(source, 1)
        first = dict(cluster.on_parts(as_held, source))
        for part in held.parts:
            part.future = None
        again = dict(cluster.on_parts(as_held, source))
    for found in (first, again):
        rows, beside = (np.concatenate([found[k][i] for k in sorted(found)]) for i in (0, 1))
        assert rows.tobytes() == doubled(X[chosen]).tobytes()
        assert beside.tobytes() == y.tobytes()
    chunks = list(source.chunks())
    assert np.concatenate([chunk.rows for chunk in chunks]).tobytes() == rows.tobytes()


def test_category_columns_of_an_array_of_dask_are_boosted_as_in_memory(
    cluster, rng, boosting_on_workers, small_blocks
):
    da = pytest.importorskip("dask.array")
    X, y = boosting_problem(rng)
    settings = {"categorical_features": [3], "max_iter": 3, "early_stopping": True}
    model = partial(HistGradientBoostingRegressor, **settings, random_state=0)
    expected = model().fit(X, y)
    assert not boosting_on_workers
    found = on(cluster, lambda: model().fit(da.from_array(X, chunks=(130, 5)), da.from_array(y)))
    assert found.predict(X).tobytes() == expected.predict(X).tobytes()
    assert boosting_on_workers
    X[:, 3] = np.where(np.isnan(X[:, 3]), X[:, 3], np.arange(len(X)) % 300)
    with pytest.raises(ValueError, match="cardinality"):
        on(cluster, lambda: model().fit(da.from_array(X, chunks=(130, 5)), y))


def test_folds_on_workers_score_as_on_threads(cluster, numbers, tmp_path):
    X, y = numbers
    scores = partial(
        cross_validation_estimates, LinearRegression(), X, y, cv=4, random_state=0, measures="rmse"
    )
    expected = scores().values
    found = on(cluster, lambda: scores(folder=tmp_path)).values
    assert found.tobytes() == expected.tobytes()
    assert len(list(tmp_path.rglob("*.json"))) >= 4, "folds of workers are kept in the folder"


def test_a_grid_search_on_workers_finds_what_threads_find(cluster, numbers):
    X, y = numbers
    grid = {"alpha": [0.1, 1.0, 10.0]}
    expected = GridSearchCV(Ridge(), grid, cv=3).fit(X, y)
    found = on(cluster, lambda: GridSearchCV(Ridge(), grid, cv=3).fit(X, y))
    name = "mean_test_score"
    assert found.cv_results_[name].tobytes() == expected.cv_results_[name].tobytes()


def log_normal(point):
    return -0.5 * float(point @ point)


def test_chains_on_workers_draw_and_go_on_as_on_threads(cluster):
    def drawn():
        chains = sample_chains(Target(log_normal, 2), Metropolis(), 40, n_chains=2, random_state=1)
        return continued(chains, 10, random_state=2).draws

    with warnings.catch_warnings(action="ignore"):  # chains as short as these have not mixed
        assert on(cluster, drawn).tobytes() == drawn().tobytes()


def warned(item):
    warnings.warn(f"item {item}", UserWarning, stacklevel=1)
    return os.getpid()


def test_items_run_in_other_processes_and_their_warnings_are_told(cluster):
    with gnomon.config(executor=cluster), pytest.warns(UserWarning, match="item 3"):
        found = list(in_order(warned, range(6), anywhere=True))
    assert os.getpid() not in found


def test_large_arrays_that_a_function_needs_are_sent_once_to_each_worker(cluster, rng):
    large = rng.normal(size=10**5)
    with gnomon.config(executor=cluster):
        found = list(in_order(lambda place: large[place], range(0, 1000, 100), anywhere=True))
    assert found == large[:1000:100].tolist()


def failing(item):
    raise DataError(f"row {item} is wrong")


def test_an_error_on_a_worker_is_the_error_of_the_call(cluster):
    with gnomon.config(executor=cluster), pytest.raises(DataError, match=r"row [01] is wrong"):
        list(in_order(failing, range(2), anywhere=True))


def test_another_version_of_gnomon_is_refused(cluster, monkeypatch):
    monkeypatch.setattr(remote, "__version__", "0.1.9")
    with pytest.raises(VersionMismatch, match=r"has gnomon .*, the client 0\.1\.9.* Install"):
        connect(cluster.client)
    with gnomon.config(executor=cluster), pytest.raises(VersionMismatch, match="Install"):
        list(in_order(abs, range(2), anywhere=True))


def test_rows_beyond_the_memory_of_the_workers_are_refused_with_the_figure(cluster):
    rows = np.broadcast_to(np.zeros(1), (10**8, 8))
    with pytest.raises(MemoryLimitError, match=r"6\.\d* G.*2 workers may hold.*--memory"):
        on(cluster, lambda: add_up(products, ArraySource(rows)))


def test_no_scheduler_at_an_address_is_told():
    with pytest.raises(ClusterError, match="no scheduler answers"):
        connect("tcp://127.0.0.1:9", timeout=0.5)


def test_a_pass_moves_less_than_a_hundredth_of_the_rows(cluster, rng, monkeypatch):
    X = rng.normal(size=(2**17, 20))
    source = ArraySource(X)
    with gnomon.config(executor=cluster):
        add_up(products, source)
        before = cluster.bytes_moved()
        for _ in range(3):
            add_up(products, source)
        moved = (cluster.bytes_moved() - before) / 3
    assert 0 < moved < 0.01 * X.nbytes


def test_the_state_of_each_worker_is_told(cluster):
    states = cluster.workers()
    assert len(states) == 2
    assert all(0 < state.memory < state.memory_limit for state in states)


def slow_products(chunk):
    time.sleep(0.02)
    return products(chunk)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_twenty_killed_workers_leave_twenty_right_answers(by_value, numbers, small_blocks, rng):
    X, y = numbers
    expected = add_up(products, ArraySource(X, y))
    with local(3) as cluster:
        for _ in range(20):
            cluster.client.wait_for_workers(1, timeout=120)
            pids = list(cluster.client.run(os.getpid).values())
            victim = pids[rng.integers(len(pids))]
            killer = threading.Timer(float(rng.uniform(0, 0.3)), os.kill, (victim, signal.SIGKILL))
            killer.start()
            found = on(cluster, lambda: add_up(slow_products, ArraySource(X, y)))
            killer.join()
            assert found[0].tobytes() == expected[0].tobytes()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_workers_killed_under_boosting_leave_the_right_trees(by_value, boosting_on_workers, rng):
    learned = boosted("numbers", rng)
    expected = learned()
    with local(2) as cluster:
        on(cluster, learned)
        for _ in range(3):
            cluster.client.wait_for_workers(2, timeout=120)
            victim = min(cluster.client.run(os.getpid, on_error="ignore").values())
            killer = threading.Timer(float(rng.uniform(0, 0.5)), os.kill, (victim, signal.SIGKILL))
            killer.start()
            assert on(cluster, learned) == expected
            killer.join()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_worker_that_stands_still_does_not_stall_the_fit(by_value, numbers, small_blocks):
    X, y = numbers
    expected = add_up(products, ArraySource(X, y))
    with local(2) as cluster:
        source = ArraySource(X, y)
        on(cluster, lambda: add_up(products, source))
        pid = min(cluster.client.run(os.getpid).values())
        os.kill(pid, signal.SIGSTOP)
        try:
            begin = time.monotonic()
            found = on(cluster, lambda: add_up(products, source))
            seconds = time.monotonic() - begin
        finally:
            os.kill(pid, signal.SIGCONT)
    assert found[0].tobytes() == expected[0].tobytes()
    assert seconds < 60


def greedy(chunk):
    hold = np.ones(2**30)
    return (float(hold[0]),)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_worker_out_of_memory_is_told_with_figure_and_remedy(by_value, numbers, small_blocks):
    X, y = numbers
    with (
        local(1, memory="900MB") as cluster,
        gnomon.config(executor=cluster),
        pytest.raises(MemoryLimitError, match=r"900 MB.*died again and again.*--memory"),
    ):
        add_up(greedy, ArraySource(X, y))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_killed_scheduler_is_told_with_what_to_do(by_value, numbers, small_blocks):
    X, y = numbers
    cluster = local(1)
    threading.Timer(0.5, cluster.processes.close).start()
    with gnomon.config(executor=cluster), pytest.raises(ClusterError, match="run folder"):
        [add_up(slow_products, ArraySource(X, y)) for _ in range(100)]
    cluster.close()


@pytest.fixture(scope="module", params=[1, 2, 4])
def workers(request, by_value):
    with local(request.param, memory="1GB") as found:
        yield found


FORESTS = [cls for cls in CLASSES if issubclass(cls, ManyTrees)]


@pytest.mark.slow
@pytest.mark.timeout(900)
@each("cls", streaming() + FORESTS)
def test_one_two_and_four_workers_give_the_bits_of_threads(cls, workers, rng, small_blocks):
    same_on_cluster(cls, workers, rng)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("case", BOOSTED)
def test_one_two_and_four_workers_boost_to_the_bits_of_threads(
    case, workers, rng, boosting_on_workers
):
    learned = boosted(case, rng)
    expected = learned()
    assert on(workers, learned) == expected
    assert boosting_on_workers


def ip(*words):
    return subprocess.run(["ip", *words], check=True, capture_output=True, timeout=30)


@pytest.fixture
def hosts(tmp_path):
    """A scheduler here and one worker in each of two network namespaces, joined by a bridge."""
    if shutil.which("ip") is None:
        pytest.skip("ip (package iproute2) is not installed")
    mark = f"g{os.getpid() % 10_000}"
    names = [f"{mark}a", f"{mark}b"]
    with contextlib.ExitStack() as undo:

        def made(*words, gone):
            try:
                ip(*words)
            except (subprocess.CalledProcessError, OSError) as error:
                told = getattr(error, "stderr", b"").decode().strip()
                pytest.skip(f"this machine does not allow network namespaces: {told or error}")
            undo.callback(subprocess.run, ["ip", *gone], check=False, capture_output=True)

        made("link", "add", mark, "type", "bridge", gone=("link", "del", mark))
        ip("addr", "add", "10.213.7.1/24", "dev", mark)
        ip("link", "set", mark, "up")
        for number, name in enumerate(names, 2):
            made("netns", "add", name, gone=("netns", "del", name))
            pair = (f"{name}0", f"{name}1")
            made(
                *f"link add {pair[0]} type veth peer name {pair[1]}".split(),
                gone=("link", "del", pair[0]),
            )
            ip("link", "set", pair[0], "master", mark, "up")
            ip("link", "set", pair[1], "netns", name)
            for words in (
                f"addr add 10.213.7.{number}/24 dev {pair[1]}",
                f"link set {pair[1]} up",
                "link set lo up",
            ):
                ip("-n", name, *words.split())

        def started(*words):
            process = subprocess.Popen(
                [*words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path
            )
            undo.callback(process.wait, 30)
            undo.callback(process.terminate)

        dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
        file = tmp_path / "scheduler.json"
        started(
            *[*dask, "--host", "10.213.7.1", "--port", "0", "--no-dashboard"],
            *["--scheduler-file", str(file)],
        )
        deadline = time.monotonic() + 60
        while not file.exists():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        for number, name in enumerate(names, 2):
            dask = [sys.executable, "-m", "distributed.cli.dask_worker", address]
            started(
                *["ip", "netns", "exec", name, *dask, "--host", f"10.213.7.{number}"],
                *["--nthreads", "1", "--no-dashboard", "--memory-limit", "1GB"],
            )
        client = undo.enter_context(distributed.Client(address, set_as_default=False))
        client.wait_for_workers(2, timeout=120)
        yield connect(client)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_workers_on_two_hosts_give_the_bits_of_threads(
    hosts, rng, by_value, small_blocks, boosting_on_workers, tmp_path
):
    found = {state.address.split("/")[2].split(":")[0] for state in hosts.workers()}
    assert found == {"10.213.7.2", "10.213.7.3"}
    for cls in (LinearRegression, KMeans, RandomForestClassifier):
        same_on_cluster(cls, hosts, rng)
    learned = boosted("numbers", rng)
    expected = learned()
    assert on(hosts, learned) == expected
    frame_of(rng).to_parquet(tmp_path / "rows.parquet", row_group_size=100)

    def streamed():
        return LinearRegression().fit(scan(tmp_path / "rows.parquet", rows_per_chunk=64), "outcome")

    assert on(hosts, streamed).coef_.tobytes() == streamed().coef_.tobytes()
