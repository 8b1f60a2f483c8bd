"""What learners warn of in many folds is said once, and nothing is lost by that."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from gnomon.evaluate import cross_validation_estimates
from gnomon.evaluate.fold_warnings import never_repeated


class Warner(RegressorMixin, BaseEstimator):
    """Warns in every fit, or only of an odd first row."""

    def __init__(self, only_odd: bool = False):
        self.only_odd = only_odd

    def fit(self, X, y):
        if not self.only_odd or X[0, 0] % 2:
            warnings.warn(
                f"not done after {int(X[:, 0].sum())} steps", RuntimeWarning, stacklevel=2
            )
        return self

    def predict(self, X):
        return np.zeros(len(X))


class Wrapper(Warner):
    """A learner that cross-validates another one to fit."""

    def fit(self, X, y):
        cross_validation_estimates(Warner(), X, y, cv=3, n_jobs=1)
        return self


@pytest.fixture
def rows():
    return np.arange(60.0)[:, None], np.arange(60.0)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("learner", [Warner(), Wrapper()])
def test_a_warning_of_all_folds_is_said_once_with_their_number(learner, n_jobs, rows):
    with pytest.warns(RuntimeWarning) as said:
        cross_validation_estimates(learner, *rows, cv=10, n_jobs=n_jobs)
    assert len(said) == 1
    assert str(said[0].message).startswith("not done after")
    assert str(said[0].message).endswith("(in 10 of 10 folds)")
    assert said[0].filename == __file__


def test_folds_that_warn_are_counted(rows):
    X, y = rows
    splits = [(np.arange(1 + i % 2, 60), np.array([0])) for i in range(5)]
    with pytest.warns(RuntimeWarning, match=r"in 3 of 5 folds") as said:
        cross_validation_estimates(Warner(only_odd=True), X, y, cv=splits, measures="mse")
    assert len(said) == 1


def test_filters_of_warnings_hold_and_are_left_as_they_were(rows):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore", RuntimeWarning)
        before = warnings.showwarning, list(warnings.filters)
        cross_validation_estimates(Warner(), *rows, cv=5, n_jobs=2)
        assert before == (warnings.showwarning, list(warnings.filters))
        assert not said
        warnings.simplefilter("error", RuntimeWarning)
        run = cross_validation_estimates(Warner(), *rows, cv=5, n_jobs=2)
    assert len(run.failures) == 5
    assert "RuntimeWarning: not done" in run.failures[0].error


def test_warnings_of_a_job_that_differ_in_numbers_only_are_said_once(recwarn):
    with never_repeated():
        for step, value in enumerate([1.5e-3, 2.25, 7]):
            warnings.warn(f"not done after {step} steps at {value}", RuntimeWarning, stacklevel=1)
        warnings.warn("something else", RuntimeWarning, stacklevel=1)
    texts = [str(each.message) for each in recwarn.list]
    assert texts == ["not done after 0 steps at 0.0015", "something else"]
