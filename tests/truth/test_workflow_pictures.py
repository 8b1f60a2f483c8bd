"""Flow diagrams: every step is drawn, arrows lead to the right, loops are told from the rest."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gnomon import show
from gnomon.ensemble import StackingClassifier
from gnomon.show.workflows import WORKFLOWS, layers
from gnomon.trees import DecisionTreeClassifier


def texts(figure):
    return {note.text.replace("<br>", " ") for note in figure.layout.annotations if note.text}


@pytest.mark.covers("workflow-diagram")
@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_step_is_drawn_right_of_what_leads_to_it(name):
    steps = WORKFLOWS[name]
    figure = show.workflow(name)
    wanted = {*steps, *(after for following in steps.values() for after in following)}
    assert texts(figure) == wanted
    columns, back = layers(steps)
    place = {step: x for x, column in enumerate(columns) for step in column}
    for step, following in steps.items():
        for after in following:
            assert (place[after] > place[step]) != ((step, after) in back)
    boxes = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    corners = {(box.x0, box.y0) for box in boxes}
    assert len(boxes) == len(corners) == len(wanted)


@pytest.mark.covers("workflow-diagram")
def test_only_workflows_that_repeat_have_a_way_back():
    assert {name for name, steps in WORKFLOWS.items() if layers(steps)[1]} == {
        "cross-validation",
        "evolution",
    }


def test_pipelines_and_stacks_are_drawn_from_their_parts():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    assert texts(show.workflow(pipeline)) == {
        "rows",
        "standardscaler: StandardScaler",
        "logisticregression: LogisticRegression",
        "answer",
    }
    stack = StackingClassifier(
        [("one", DecisionTreeClassifier()), ("two", LogisticRegression())],
        final_estimator=LogisticRegression(),
    )
    assert texts(show.workflow(stack, theme="dark")) == {
        "rows",
        "one: DecisionTreeClassifier",
        "two: LogisticRegression",
        "on top: LogisticRegression",
        "answer",
    }


def test_what_has_no_steps_is_refused_with_what_has():
    with pytest.raises(ValueError, match="one of pipeline, model selection"):
        show.workflow("no such")
    with pytest.raises(ValueError, match="neither steps nor estimators"):
        show.workflow(DecisionTreeClassifier())
    with pytest.raises(ValueError, match="no step to draw"):
        show.workflow({})
