"""Every estimator records its course, tells callbacks of it, and stops when asked to."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.metrics import accuracy_score, r2_score

from gnomon.engine.history import History
from tests.contract.cases import (
    CLASSES,
    assert_same_bits,
    assert_sound,
    each,
    every_method,
    every_path,
    fit,
    fitted_on_numbers,
    having,
    make,
    needs_target,
    outputs,
    summing,
)

STEPPING = [
    cls for cls in CLASSES if cls in {*summing(), *having("max_iter"), *having("n_estimators")}
]
RECORDING = [cls for cls in CLASSES if cls in {*summing(), *having("max_iter")}]
LOOPING = having("max_iter")
SCORED = [cls for cls in STEPPING if needs_target(make(cls)) and hasattr(cls, "score")]
# max_iter bounds the passes of each split here; the steps are the splits
ONE_STEP = {"BisectingKMeans": {"n_clusters": 2}}
STEPS_TRIED = 3  # the outputs of every step of a long course take minutes


class Recorder:
    """Writes down what it is told; asks to stop at the end of the first subtask if so made."""

    def __init__(self, stops: bool = False):
        self.stops = stops
        self.told: list[tuple[str, bool, int]] = []
        self.offered = 0
        self.usable = []

    def setup(self, estimator, context):
        self.told.append(("setup", True, 0))

    def teardown(self, estimator, context):
        self.told.append(("teardown", True, 0))

    def on_fit_task_begin(self, estimator, context, *, X=None):
        self.told.append(("begin", context.parent is None, context.task_id))

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        is_root = context.parent is None
        self.told.append(("end", is_root, context.task_id))
        if fitted_estimator is not None and X is not None:
            self.offered += 1
            if is_root or self.offered <= STEPS_TRIED:
                self.usable.append(outputs(fitted_estimator, X))
        return self.stops and not is_root

    def steps(self, what: str) -> list[int]:
        return [number for event, is_root, number in self.told if event == what and not is_root]


@functools.cache
def watched_fit(cls: type, seed: int) -> tuple:
    """A fit that callbacks watch and that keeps its full history: estimator, recorder, scores."""
    shared = fitted_on_numbers(cls, seed)
    estimator = make(cls, **({"keep_history": "full"} if cls in having("keep_history") else {}))
    recorder, callbacks = Recorder(), []
    if cls in SCORED:
        measure = "accuracy" if is_classifier(estimator) else "r2"
        callbacks.append(ScoringMonitor(scoring=measure))
    fit(estimator.set_callbacks(recorder, *callbacks), shared.X, shared.y)
    scores = [row[measure] for row in callbacks[0].get_logs().data] if callbacks else []
    return estimator, recorder, scores


@pytest.fixture
def watched(cls, seed) -> tuple:
    return watched_fit(cls, seed)


@each("cls", RECORDING)
def test_steps_and_objectives_are_recorded(cls, on_numbers):
    estimator = on_numbers.estimator
    assert isinstance(estimator.history_, History)
    loops = np.max(estimator.n_iter_), np.sum(estimator.n_iter_)  # side by side, or in turn
    assert 1 <= len(estimator.history_) in loops
    assert np.isfinite(np.asarray(estimator.history_)).all()
    assert estimator.history_.stopped in {"converged", "max_iter", "done"}
    assert estimator.history_.states == []


@each("cls", LOOPING)
def test_no_more_steps_are_made_than_allowed(cls, on_numbers):
    one_step = ONE_STEP.get(cls.__name__, {"max_iter": 1})
    estimator = fit(make(cls, **one_step), on_numbers.X, on_numbers.y)
    assert np.max(estimator.n_iter_) == 1


def test_whoever_loops_can_keep_its_states():
    assert [cls for cls in LOOPING if cls in having("keep_history")] == LOOPING


@each("cls", having("keep_history"))
def test_a_full_history_holds_a_state_of_its_own_for_every_step(cls, watched):
    estimator, _, _ = watched
    states = estimator.history_.states
    assert len(states) == len(estimator.history_)
    assert all(states)
    arrays = [value for state in states for value in state.values() if np.ndim(value)]
    buffers = sorted((*np.lib.array_utils.byte_bounds(array), i) for i, array in enumerate(arrays))
    for (_, end, i), (start, _, j) in itertools.pairwise(buffers):
        assert end <= start or not np.shares_memory(arrays[i], arrays[j])


@every_method
def test_callbacks_are_told_of_the_fit_from_begin_to_end(cls, watched):
    estimator, recorder, _ = watched
    root = [event for event, is_root, _ in recorder.told if is_root]
    assert root == ["setup", "begin", "end", "teardown"]
    assert sorted(recorder.steps("begin")) == sorted(recorder.steps("end"))
    if cls in STEPPING:
        assert 1 <= len(recorder.steps("end")) <= estimator._most_steps()


@every_method
def test_callbacks_get_estimators_that_can_be_used_at_once(cls, watched, on_numbers):
    _, recorder, _ = watched
    assert recorder.usable
    for found in recorder.usable:
        assert_sound(found)
    assert_same_bits(recorder.usable[-1], on_numbers.outputs)


@every_method
def test_callbacks_and_a_full_history_change_no_bit(cls, watched, on_numbers):
    assert_same_bits(outputs(watched[0], on_numbers.X), on_numbers.outputs)


@each("cls", SCORED)
def test_scores_can_be_monitored_step_by_step(cls, watched, on_numbers):
    estimator, recorder, scores = watched
    assert len(scores) == recorder.offered
    assert np.isfinite(scores).all()
    measure = accuracy_score if is_classifier(estimator) else r2_score
    expected = measure(on_numbers.y, estimator.predict(on_numbers.X))
    assert scores[-1] == pytest.approx(expected)


@every_method
def test_a_callback_that_asks_to_stop_ends_the_fit_cleanly(cls, on_numbers):
    estimator, recorder = make(cls), Recorder(stops=True)
    fit(estimator.set_callbacks(recorder), on_numbers.X, on_numbers.y)
    assert_sound(outputs(estimator, on_numbers.X))
    assert recorder.told[-1][0] == "teardown"
    if cls in RECORDING:
        assert np.max(estimator.n_iter_) == 1
        assert estimator.history_.stopped in {"callback", "converged"}
    if cls in STEPPING:
        assert len(recorder.steps("end")) == 1


@every_path
def test_a_progress_bar_works(cls, on_numbers, capsys):
    estimator = make(cls)
    fit(estimator.set_callbacks(ProgressBar()), on_numbers.X, on_numbers.y)
    assert cls.__name__ in capsys.readouterr().out
    assert_same_bits(outputs(estimator, on_numbers.X), on_numbers.outputs)


class Failing(Recorder):
    def on_fit_task_end(self, estimator, context):
        raise ZeroDivisionError("a callback's own")


@every_path
def test_a_failing_callback_is_heard_of_and_the_estimator_can_be_fitted_again(cls, on_numbers):
    estimator = make(cls)
    with pytest.raises(ZeroDivisionError, match="a callback's own"):
        fit(estimator.set_callbacks(Failing()), on_numbers.X, on_numbers.y)
    estimator.set_callbacks()
    again = fit(estimator, on_numbers.X, on_numbers.y)
    assert_same_bits(outputs(again, on_numbers.X), on_numbers.outputs)
