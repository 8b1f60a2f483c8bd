"""Every estimator records its course, tells callbacks of it, and stops when asked to."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.callback import ProgressBar, ScoringMonitor

from gnomon.engine.history import History
from tests.contract.cases import (
    CLASSES,
    assert_same_bits,
    assert_sound,
    each,
    every_method,
    fit,
    having,
    make,
    needs_target,
    outputs,
    problem,
    summing,
)

STEPPING = [
    cls for cls in CLASSES if cls in {*summing(), *having("max_iter"), *having("n_estimators")}
]
RECORDING = [cls for cls in CLASSES if cls in {*summing(), *having("max_iter")}]
LOOPING = having("max_iter")


class Recorder:
    """Writes down what it is told; asks to stop at the end of the given subtask."""

    def __init__(self, stop_at: int | None = None):
        self.stop_at = stop_at
        self.told: list[tuple[str, bool, int]] = []
        self.usable = []

    def setup(self, estimator, context):
        self.told.append(("setup", True, 0))

    def teardown(self, estimator, context):
        self.told.append(("teardown", True, 0))

    def on_fit_task_begin(self, estimator, context, *, X=None):
        self.told.append(("begin", context.parent is None, context.task_id))

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        self.told.append(("end", context.parent is None, context.task_id))
        if fitted_estimator is not None and X is not None:
            self.usable.append(outputs(fitted_estimator, X))
        return self.stop_at is not None and context.parent is not None

    def steps(self, what: str) -> list[int]:
        return [number for event, is_root, number in self.told if event == what and not is_root]


@each("cls", RECORDING)
def test_steps_and_objectives_are_recorded(cls, rng):
    estimator = make(cls)
    fit(estimator, *problem(estimator, rng))
    assert isinstance(estimator.history_, History)
    assert np.max(estimator.n_iter_) == len(estimator.history_) >= 1
    assert np.isfinite(np.asarray(estimator.history_)).all()
    assert estimator.history_.stopped in {"converged", "max_iter", "done"}
    assert estimator.history_.states == []


@each("cls", LOOPING)
def test_no_more_steps_are_made_than_allowed(cls, rng):
    estimator = make(cls, max_iter=1)
    fit(estimator, *problem(estimator, rng))
    assert np.max(estimator.n_iter_) == 1


def test_whoever_loops_can_keep_its_states():
    assert [cls for cls in LOOPING if cls in having("keep_history")] == LOOPING


@each("cls", having("keep_history"))
def test_a_full_history_holds_a_state_of_its_own_for_every_step(cls, rng):
    estimator = make(cls, keep_history="full")
    X, y = problem(estimator, rng)
    fit(estimator, X, y)
    states = estimator.history_.states
    assert len(states) == len(estimator.history_)
    assert all(states)
    arrays = [value for state in states for value in state.values() if np.ndim(value)]
    for i, one in enumerate(arrays):
        assert not any(np.shares_memory(one, other) for other in arrays[i + 1 :])
    assert_same_bits(outputs(estimator, X), outputs(fit(make(cls), X, y), X))


@every_method
def test_callbacks_are_told_of_the_fit_from_begin_to_end(cls, rng):
    estimator, recorder = make(cls), Recorder()
    fit(estimator.set_callbacks(recorder), *problem(estimator, rng))
    root = [event for event, is_root, _ in recorder.told if is_root]
    assert root == ["setup", "begin", "end", "teardown"]
    assert sorted(recorder.steps("begin")) == sorted(recorder.steps("end"))


@each("cls", STEPPING)
def test_callbacks_are_told_of_every_step(cls, rng):
    estimator, recorder = make(cls), Recorder()
    fit(estimator.set_callbacks(recorder), *problem(estimator, rng))
    assert 1 <= len(recorder.steps("end")) <= estimator._most_steps()


@every_method
def test_callbacks_get_estimators_that_can_be_used_at_once(cls, rng):
    estimator, recorder = make(cls), Recorder()
    X, y = problem(estimator, rng)
    fit(estimator.set_callbacks(recorder), X, y)
    assert recorder.usable
    for found in recorder.usable:
        assert_sound(found)
    assert_same_bits(recorder.usable[-1], outputs(estimator, X))


@every_method
def test_callbacks_change_no_bit(cls, rng):
    X, y = problem(make(cls), rng)
    watched = fit(make(cls).set_callbacks(Recorder()), X, y)
    assert_same_bits(outputs(watched, X), outputs(fit(make(cls), X, y), X))


@every_method
def test_a_callback_that_asks_to_stop_ends_the_fit_cleanly(cls, rng):
    estimator, recorder = make(cls), Recorder(stop_at=0)
    X, y = problem(estimator, rng)
    fit(estimator.set_callbacks(recorder), X, y)
    assert_sound(outputs(estimator, X))
    assert recorder.told[-1][0] == "teardown"
    if cls in RECORDING:
        assert np.max(estimator.n_iter_) == 1
        assert estimator.history_.stopped in {"callback", "converged"}
    if cls in STEPPING:
        assert len(recorder.steps("end")) == 1


@every_method
def test_a_progress_bar_works(cls, rng, capsys):
    estimator = make(cls)
    X, y = problem(estimator, rng)
    fit(estimator.set_callbacks(ProgressBar()), X, y)
    assert cls.__name__ in capsys.readouterr().out
    assert_same_bits(outputs(estimator, X), outputs(fit(make(cls), X, y), X))


@every_method
def test_a_failing_callback_is_heard_of_and_the_estimator_can_be_fitted_again(cls, rng):
    class Failing(Recorder):
        def on_fit_task_end(self, estimator, context):
            raise ZeroDivisionError("a callback's own")

    estimator = make(cls)
    X, y = problem(estimator, rng)
    with pytest.raises(ZeroDivisionError, match="a callback's own"):
        fit(estimator.set_callbacks(Failing()), X, y)
    estimator.set_callbacks()
    assert_same_bits(outputs(fit(estimator, X, y), X), outputs(fit(make(cls), X, y), X))


@each("cls", [cls for cls in STEPPING if needs_target(make(cls)) and hasattr(cls, "score")])
def test_scores_can_be_monitored_step_by_step(cls, rng):
    estimator = make(cls)
    X, y = problem(estimator, rng)
    measure = "accuracy" if is_classifier(estimator) else "r2"
    recorder, monitor = Recorder(), ScoringMonitor(scoring=measure)
    fit(estimator.set_callbacks(recorder, monitor), X, y)
    log = monitor.get_logs().data
    scores = [entry[measure] for entry in log]
    assert len(scores) == len(recorder.usable)
    assert np.isfinite(scores).all()
    assert scores[-1] == pytest.approx(estimator.score(X, y))
