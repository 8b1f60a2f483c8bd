"""Former names of parameters are accepted for one version, with a warning."""

import pytest

from gnomon.evaluate import accuracy


def test_an_old_parameter_gives_the_result_of_the_new_one_and_warns():
    labels = ["a", "b"] * 10
    with pytest.warns(FutureWarning, match="level is now confidence_level"):
        old = accuracy(labels, labels, level=0.5)
    assert old == accuracy(labels, labels, confidence_level=0.5)


def test_old_and_new_name_together_are_refused():
    with pytest.raises(TypeError, match="give confidence_level, not also level"):
        accuracy(["a"], ["a"], level=0.5, confidence_level=0.9)


def test_warnings_point_at_the_line_of_the_caller():
    with pytest.warns(FutureWarning) as caught:
        accuracy(["a"], ["a"], level=0.5)
    assert caught[0].filename == __file__
