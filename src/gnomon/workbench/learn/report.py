"""The report of a run of `learn`: problem card, verdict, board, checks, pictures, decisions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gnomon import show
from gnomon.table import Kind, Table
from gnomon.workbench.analysis.diagnosis import drawn
from gnomon.workbench.analysis.portfolio import BASELINE
from gnomon.workbench.base.report import Report
from gnomon.workbench.learn.lead import LEVEL
from gnomon.workbench.learn.result import P_MEANS, LearnResult

MOST_DEPENDENCES = 3  # judgement: pictures of the three most important columns
DEPENDENCE_ROWS = 500  # judgement: each row is asked about at each point of each picture
# places of a partial dependence: each is a prediction of all rows, 30 ms with 7,130 columns
POINTS, FEWER_POINTS, MANY_COLUMNS = 40, 10, 500
WORST_COLUMNS = 4
LONGEST_CELL = 32
Draw = Callable[[str], Any]


def pictures_of(result: LearnResult) -> dict[str, Draw]:
    """The pictures that a run has: functions of the theme, by name."""
    return {name: draw for name, (draw, _) in captioned(result).items()}


def captioned(result: LearnResult) -> dict[str, tuple[Draw, str]]:
    """The pictures that a run has: how each is drawn, and what it shows."""
    y, said = result.problem.values(result.test_table), result.said
    found: dict[str, tuple[Draw, str]] = {
        "leaderboard": (
            lambda theme: show.leaderboard(result.board, as_good=result.as_good, theme=theme),
            "Scores of the learners on the same folds, with 95% intervals. Filled: p of the table "
            f"is {LEVEL:g} or more, or it is the best.",
        ),
        "fold_scores": (
            lambda theme: show.fold_scores(result.board, theme=theme),
            "Every fold of every learner, not the mean alone.",
        ),
    }
    curve = result.curve
    if curve is not None:
        found["learning_curve"] = (
            lambda theme: show.learning_curve(curve, theme=theme),
            "Does the score still rise with more rows?",
        )
    if result.task == "classify":
        found |= class_pictures(result, y, said)
    else:
        found["predicted_versus_true"] = (
            lambda theme: show.predicted_versus_true(y, said.predictions, theme=theme),
            "Predictions of the test rows against the truth.",
        )
        found["residuals"] = (
            lambda theme: show.residuals(y, said.predictions, theme=theme),
            "What is left over: no pattern should be seen here.",
        )
    if result.chosen != BASELINE:
        found |= column_pictures(result)
    return found


def class_pictures(result: LearnResult, y: np.ndarray, said: Any) -> dict[str, tuple[Draw, str]]:
    """Pictures of classes and their probabilities on the test rows."""
    found: dict[str, tuple[Draw, str]] = {
        "confusion": (
            lambda theme: show.confusion(y, said.predictions, theme=theme),
            "Which classes are taken for which, on the test rows.",
        )
    }
    found |= picture_errors(result, y, said)
    if said.probabilities is None or len(said.classes) != 2:
        return found
    scores, positive = said.probabilities[:, 1], said.classes[1]
    if len(np.unique(scores)) < 2:
        return found
    found["roc"] = (
        lambda theme: show.roc(y, scores, positive=positive, theme=theme),
        f"Detected {positive} against false alarms, for every threshold.",
    )
    found["precision_recall"] = (
        lambda theme: show.precision_recall(y, scores, positive=positive, theme=theme),
        f"How many of those called {positive} are, against how many are found.",
    )
    found["calibration"] = (
        lambda theme: show.calibration(y, scores, positive=positive, theme=theme),
        "Do things that are given probability p happen in a share p of cases?",
    )
    return found


def picture_errors(result: LearnResult, y: np.ndarray, said: Any) -> dict[str, tuple[Draw, str]]:
    """Galleries of the pictures that were classified wrongly, where rows are pictures."""
    source = result.run.record["source"]
    wrong = np.flatnonzero(np.asarray(y).astype(str) != np.asarray(said.predictions).astype(str))
    if not source or not len(wrong) or "file" not in result.test_table.columns:
        return {}
    folder = Path(source)
    files = [folder / str(name) for name in result.test_table["file"].to_pylist()]
    if not folder.is_dir() or not all(files[i].is_file() for i in wrong):
        return {}

    def gallery(by: str, theme: str) -> Any:
        from gnomon.vision import PictureFolder

        images, _ = PictureFolder(folder, [files[i] for i in wrong]).images((64, 64))
        return show.misclassified_images(
            images,
            y[wrong],
            np.asarray(said.predictions)[wrong],
            by=by,
            n_images=len(y),
            theme=theme,
        )

    return {
        "missed_pictures": (
            partial(gallery, "true"),
            "The test pictures that were classified wrongly, by their true class.",
        ),
        "intruding_pictures": (
            partial(gallery, "predicted"),
            "The same pictures by the class that they were taken for.",
        ),
    }


def column_pictures(result: LearnResult) -> dict[str, tuple[Draw, str]]:
    """Which columns matter, and how the prediction changes with the strongest."""
    importance = result.importance
    found: dict[str, tuple[Draw, str]] = {
        "importances": (
            lambda theme: show.importances(importance, names=importance.names, theme=theme),
            f"How much {result.measure} is lost when a column is shuffled "
            f"({importance.n_rows:,} test rows"
            + (
                f"; {len(importance.names):,} of {importance.n_columns:,} columns)."
                if importance.is_partial
                else ")."
            ),
        )
    }
    taken = drawn(
        result.problem.values(result.test_table),
        DEPENDENCE_ROWS,
        np.random.default_rng(result.settings.random_state),
        is_class=result.task == "classify",
    )
    rows = result.problem.inputs(result.test_table)[taken]
    drawable = [
        importance.names[j]
        for j in importance.order
        if rows.schema[importance.names[j]].kind in (Kind.NUMBER, Kind.INTEGER, Kind.CATEGORY)
    ]
    most = MOST_DEPENDENCES if len(rows.columns) <= MANY_COLUMNS else 1
    for name in drawable[:most]:
        found[f"partial dependence on {name}"] = (
            partial(dependence, result.model, rows, name),
            f"The mean prediction as {name} changes, all else kept ({len(rows):,} of "
            f"{result.n_test:,} test rows).",
        )
    return found


def dependence(model: Any, rows: Table, name: str, theme: str) -> Any:
    """Partial dependence on a column."""
    n_points = FEWER_POINTS if len(rows.columns) > MANY_COLUMNS else POINTS
    return show.partial_dependence(model, rows, name, n_points=n_points, theme=theme)


def report_of(result: LearnResult) -> Report:
    """The report of a run.

    Parameters
    ----------
    result : LearnResult

    Returns
    -------
    report : Report
    """
    record = result.run.record
    source = result.run.called or "a table in memory"
    report = Report(f"Predicting {result.target}", f"{source} · {record['begun']}")
    report.section("Verdict")
    report.verdict(result.verdict(), "good" if result.beats_baseline else "bad")
    report.text(result.test_sentence())
    for check in result.worries:
        report.verdict(
            f"{check.title}: {check.finding} {check.remedy}",
            "bad" if check.verdict == "bad" else "warning",
        )
    report.section("The problem")
    report.table(["part", "of this problem"], result.problem.card())
    if result.forecast_hint:
        report.text(result.forecast_hint)
    drawn = {
        name: add_picture(name, draw, text) for name, (draw, text) in captioned(result).items()
    }
    report.section("Learners compared")
    add_board(report, result)
    for name in ("leaderboard", "fold_scores", "learning_curve"):
        drawn.pop(name, ignore)(report)
    report.section(f"{result.chosen} on the test rows")
    for name in [n for n in drawn if "importances" not in n and "dependence" not in n]:
        drawn.pop(name)(report)
    add_worst(report, result)
    report.section("Columns")
    for name in list(drawn):
        drawn.pop(name)(report)
    report.section("Checks")
    report.table(
        ["check", "verdict", "finding", "said when", "remedy"],
        [[c.name, c.verdict, c.finding, c.limit, c.remedy] for c in result.checks],
    )
    add_record(report, result)
    return report


def ignore(report: Report) -> None:
    """A picture that this run does not have."""


def add_picture(name: str, draw: Draw, text: str) -> Callable[[Report], None]:
    """A function that adds a picture, or says why it cannot be drawn."""

    def add(report: Report) -> None:
        try:
            figure = draw("light")
        except Exception as error:  # a picture that fails must not lose the run
            report.verdict(f"The picture {name!r} could not be drawn: {error}", "note")
            return
        report.figure(figure, text)

    return add


def add_board(report: Report, result: LearnResult) -> None:
    """The board as a table, and who did not compete."""
    rows = []
    for line in result.leaderboard_lines():
        name, p = line["learner"], line["p_against_best"]
        rows.append(
            [
                f"{name} ✓" if line["chosen"] else name,
                str(result.board[name].figure()),
                None if p is None or np.isnan(p) else p,
                line["fit_seconds"],
                line["predict_seconds"],
                line["memory_mb"],
                line["model_kb"],
            ]
        )
    report.table(
        ["learner", result.measure, "p", "fit s", "predict s", "memory MB", "model kB"],
        rows,
        f"{result.plan.splits.how}; ✓ chosen. 95% intervals. {P_MEANS}. Times per fold; memory as "
        "the method forecasts it.",
    )
    if result.plan.left_out:
        report.table(["did not compete", "why"], list(result.plan.left_out.items()))
    searches = [(e.name, e.search) for e in result.plan.entrants if e.search]
    if searches:
        report.table(["learner", "searched inside every training part"], searches)


def add_worst(report: Report, result: LearnResult) -> None:
    """The test rows that are missed most, with their cells."""
    names = [result.importance.names[j] for j in result.importance.order[:WORST_COLUMNS]]
    rows, shown = [], result.test_table.select(names)
    for place, truth, said, loss in result.worst:
        cells = shown.row(place)
        named = [truth, said] if result.task == "regress" else [str(truth), str(said)]
        rows.append([*named, loss, *(shortened(cells[name]) for name in names)])
    unit = "-log P(truth)" if result.task == "classify" else "distance"
    report.table(
        ["truth", "prediction", unit, *names],
        rows,
        "The test rows that are missed most, with the most important columns: wrong labels, odd "
        "cases, or what the model cannot know.",
    )
    if result.groups:
        report.table(
            ["column", "level", "rows", result.groups[0].measure, "of the others", "p"],
            [[g.column, g.level, g.n_rows, g.score, g.others, g.p] for g in result.groups[:8]],
            "Groups of test rows that differ most from the others; p counts all groups.",
        )


def shortened(cell: Any) -> Any:
    """A cell that does not widen its table."""
    text = str(cell)
    return cell if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"


def add_record(report: Report, result: LearnResult) -> None:
    """What was decided, forecast and needed to repeat the run."""
    report.section("Decisions and record")
    report.table(["decided", "because"], [[each["what"], each["why"]] for each in result.decisions])
    if result.plan.costs:
        rows = len(result.plan.splits[0][0])
        report.table(
            [
                "learner",
                "trial rows",
                "seconds",
                "power of growth",
                f"forecast at {rows:,}",
                "score",
            ],
            [
                [c.name, c.sizes[1], c.seconds[1], c.power, c.at(rows), c.score]
                for c in result.plan.costs
            ],
            "Trials on small subsets, before the run.",
        )
    record = result.run.record
    report.table(["package", "version"], list(record["versions"].items()))
    report.text(
        f"Data fingerprint {record['data']['fingerprint']}; seed {result.settings.random_state}; "
        f"{result.seconds:.1f} s."
    )
    report.code(result.script)
