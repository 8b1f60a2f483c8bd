"""The bar of a job in a notebook: what the cell shows while it runs, and nothing after it."""

from __future__ import annotations

import sys
import types

import pytest

from gnomon.workbench.base import job
from gnomon.workbench.base.notebook_bar import bar_html, is_notebook


@pytest.fixture
def shown(monkeypatch):
    """All that a cell of a notebook shows, in order."""
    looks = []

    class Place:
        update = staticmethod(looks.append)

    def display(content, display_id):
        looks.append(content)
        return Place

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.HTML, ipython.display.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    return looks


def test_a_job_in_a_notebook_shows_each_step_and_leaves_no_bar(shown):
    assert is_notebook()
    with job.progress_or_bar(None) as tell:
        tell("forest <1>", 1, 4)
        tell("stack", 0, 0)
    assert shown == ["", bar_html("forest <1>", 1, 4), bar_html("stack", 0, 0), ""]
    assert 'value="1" max="4"' in shown[1]
    assert "forest &lt;1&gt;" in shown[1]


def test_a_job_that_fails_in_a_notebook_leaves_no_bar(shown):
    with pytest.raises(ZeroDivisionError), job.progress_or_bar(None) as tell:
        tell("forest", 1 // 0, 4)
    assert shown == ["", ""]


def test_progress_that_is_given_takes_the_place_of_the_bar(shown):
    told = []
    with job.progress_or_bar(lambda *step: told.append(step)) as tell:
        tell("forest", 1, 4)
    assert told == [("forest", 1, 4)]
    assert shown == []


def test_without_a_notebook_there_is_no_bar(shown):
    sys.modules["IPython"].get_ipython = lambda: None
    with job.progress_or_bar(None) as tell:
        assert tell is job.quiet
