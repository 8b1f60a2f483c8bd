"""The course of a fit: what is recorded, what callbacks are told, how a fit is stopped."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.engine.history import Course, History


class Teller:
    """Stands for scikit-learn's context of a fit: remembers tasks, stops at the given step."""

    def __init__(self, stop_at: int | None = None):
        self.stop_at = stop_at
        self.calls: list[str] = []

    def subcontext(self, task_name):
        return self

    def call_on_fit_task_begin(self, **given):
        self.calls.append("begin")

    def call_on_fit_task_end(self, **given):
        self.calls.append("end")
        return self.stop_at is not None and self.calls.count("end") > self.stop_at


def run(context=None, max_steps=5, converge_at=None, keep_states=False) -> History:
    course = Course(None, context, "pass", max_steps, keep_states)
    for step in course:
        state = {"step": np.array([step])}
        if course.end_step(1.0 / (step + 1), step == converge_at, state=lambda s=state: s):
            break
    return course.history


def test_a_course_that_uses_all_its_steps_says_so():
    history = run()
    assert history.stopped == "max_iter"
    assert history.objective == [1.0, 1 / 2, 1 / 3, 1 / 4, 1 / 5]


def test_a_course_that_converges_ends_there():
    history = run(converge_at=2)
    assert len(history) == 3
    assert history.stopped == "converged"


def test_a_callback_may_end_the_course():
    context = Teller(stop_at=1)
    history = run(context)
    assert len(history) == 2
    assert history.stopped == "callback"
    assert context.calls == ["begin", "end"] * 2


def test_convergence_is_told_rather_than_a_wish_to_stop_at_the_same_step():
    assert run(Teller(stop_at=2), converge_at=2).stopped == "converged"


def test_every_begin_has_its_end():
    context = Teller()
    run(context)
    assert context.calls == ["begin", "end"] * 5


@pytest.mark.parametrize("keep", [False, True])
def test_states_are_kept_only_when_asked_for(keep):
    history = run(keep_states=keep)
    assert [int(state["step"][0]) for state in history.states] == ([0, 1, 2, 3, 4] if keep else [])


def test_a_history_behaves_as_the_sequence_of_its_objectives():
    history = History([3.0, 2.0, 1.5], stopped="converged")
    assert history[0] == 3.0
    assert history[-1] == 1.5
    assert list(history) == [3.0, 2.0, 1.5]
    np.testing.assert_array_equal(np.diff(history), [-1.0, -0.5])
    assert np.asarray(history, dtype=np.float32).dtype == np.float32


def test_a_history_prints_its_course():
    assert repr(History()) == "History(no steps)"
    shown = repr(History([3.0, 1.5], stopped="converged"))
    assert "2 steps" in shown
    assert "3 -> 1.5" in shown
    assert "converged" in shown
