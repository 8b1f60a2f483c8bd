"""The command ``gnomon learn``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.base.completion import run_names
from gnomon.workbench.base.options import Option
from gnomon.workbench.base.screen import (
    complaints,
    console,
    print_json,
    print_table,
    say,
    shown_progress,
)
from gnomon.workbench.learn.options import JOB

# Judgement: letters of a window for all columns, and for those without memory and size.
WIDE, MIDDLE = 100, 90
# Judgement: enough rows to see that the loaded model answers alike, quickly.
CHECKED_ROWS = 1_000


class LearnCommand(JobCommand):
    """Find what predicts a column best, and how well.

    Test rows are put aside first and used once. Learners, the baseline among them, are compared on
    the same folds. All is written to a run folder as it comes: a killed run goes on with --resume.

    Examples:

      gnomon learn sales.csv --target churn

      gnomon learn sales.csv --target churn --budget 40 --measure auc

      gnomon learn --example customers --target churn

      gnomon learn --resume last
    """

    job = JOB
    failure = "Exit with 3 where nothing beats the baseline."
    own = (
        Option(
            "resume",
            str,
            None,
            "Go on with this run (its name, its folder, or 'last').",
            flag="resume",
            complete=run_names,
        ),
        Option("save", Path, None, "Write the model here too.", flag="save"),
    )

    def run(self, words: dict[str, Any]) -> None:
        """Learn, or go on with a run that was stopped."""
        if words["resume"] is None and len(words["target"] or ()) > 1:
            self.run_each(words)
            return
        if words["resume"] is None:
            super().run(words)
            return
        from gnomon.workbench.base.runs import find_run
        from gnomon.workbench.learn.job import resume

        folder = find_run(words["resume"], words["runs"])
        with self.stopping(folder), shown_progress("resuming") as tell:
            result = resume(folder, progress=tell)
        self.end(words, result, folder)

    def run_each(self, words: dict[str, Any]) -> None:
        """Learn several targets, one after the other, and put the results side by side."""
        from gnomon.workbench.base.budget import Budget
        from gnomon.workbench.learn.targets import HEADINGS, line_of

        targets, given = list(dict.fromkeys(words["target"])), self.given(words)
        table, share = self.table(given), Budget.of(words["budget"]).part(len(targets)).given
        found = {}
        for target in targets:
            others = [each for each in targets if each != target]
            own = words | {
                "target": [target],
                "without": [*(words["without"] or []), *others],
                "name": words["name"] and f"{words['name']}-{target}",
                "budget": share,
            }
            folder = self.folder(own, given)
            if not words["as_json"]:
                console.print(f"[bold]target {escape(target)}[/bold]", highlight=False)
            result = self.work(own, table, given, folder)
            found[target] = result
            if not words["as_json"]:
                self.end(own, result, folder)
        if words["as_json"]:
            print_json({target: each.summary() for target, each in found.items()})
            return
        print_table(HEADINGS, [line_of(each) for each in found.values()], "all targets")

    def given(self, words: dict[str, Any]) -> str:
        """The file or the example to learn from."""
        if words["file"] is None and words["example"] is None:
            raise typer.BadParameter("give a file, or --example NAME, or --resume RUN")
        return super().given(words)

    def options(self, words: dict[str, Any]) -> dict[str, Any]:
        """The options; the budget counts from now on, so that reading is in it."""
        from gnomon.workbench.base.budget import Budget

        return super().options(words) | {"budget": Budget.of(words["budget"])}

    def before(self, given: str, table: Any) -> None:
        """What was read."""
        from gnomon.table.sql import without_secret

        console.print(
            f"[bold]{escape(without_secret(given))}[/bold]: {len(table):,} rows, "
            f"{len(table.columns)} columns",
            highlight=False,
        )
        for note in table.notes:
            say(f"  · {note}")

    @contextmanager
    def stopping(self, folder: Path | None) -> Iterator[None]:
        """Say what is kept and how to go on when a run is stopped by the user."""
        try:
            yield
        except KeyboardInterrupt:
            complaints.print(
                f"stopped; what was computed is kept in {escape(str(folder))}. Go on with: "
                f"gnomon learn --resume {escape(str(folder))}",
                highlight=False,
                soft_wrap=True,
            )
            raise

    def end(self, words: dict[str, Any], result: Any, folder: Path | None) -> None:
        """Read the model back, compare its predictions, and show the result."""
        from gnomon.engine.modelfile import load

        assert folder is not None
        model = folder / "model.gnomon"
        inputs = result.problem.inputs(result.test_table[: min(CHECKED_ROWS, result.n_test)])
        if not (load(model).predict(inputs) == result.model.predict(inputs)).all():
            raise RuntimeError(f"the model read back from {model} predicts differently")
        super().end(words, result, folder)

    def written(self, words: dict[str, Any], result: Any) -> list[Path]:
        """Write the model where ``--save`` asks for it."""
        return [] if words["save"] is None else [result.save(words["save"])]

    def show(self, result: Any) -> None:
        """The problem, the board, the verdict, the checks."""
        for label, text in result.problem.card():
            console.print(f"[dim]{label:>14}[/dim]  {escape(text)}", highlight=False)
        if result.forecast_hint:
            say(result.forecast_hint)
        print_board(result)
        for why, names in by_reason(result.plan.left_out).items():
            say(f"did not compete: {', '.join(names)} ({why})")
        for each in result.decisions:
            of_unlabeled = re.search("rows without a target are (not )?used", each["what"])
            if of_unlabeled or each["what"] == f"{result.chosen} is chosen":
                say(f"{each['what']}: {each['why']}.")
        style = "bold green" if result.beats_baseline else "bold red"
        console.print(escape(result.verdict()), style=style, highlight=False)
        console.print(f"[bold]{escape(result.test_sentence())}[/bold]", highlight=False)
        made = [each for each in result.checks if each.verdict != "not made"]
        good = sum(each.verdict == "good" for each in made)
        say(f"{len(made)} checks were made; {good} found nothing.")
        for check in result.worries:
            color = "red" if check.verdict == "bad" else "yellow"
            console.print(
                f"[{color}]![/{color}] [bold]{escape(check.title)}[/bold]: "
                f"{escape(check.finding)} {escape(check.remedy)}",
                highlight=False,
            )

    def after(self, folder: Path) -> None:
        """How to predict."""
        say(f"next: gnomon predict {folder} NEW_FILE")

    def failed(self, result: Any) -> bool:
        """Whether nothing beats the baseline."""
        return not result.beats_baseline


def by_reason(left_out: dict[str, str]) -> dict[str, list[str]]:
    """The learners that did not compete, by the reason that they share."""
    found: dict[str, list[str]] = {}
    for name, why in left_out.items():
        found.setdefault(why, []).append(name)
    return found


def print_board(result: Any) -> None:
    """The learners, best first; a narrow window has fewer columns, and whole names and scores."""
    from gnomon.workbench.learn.result import P_MEANS

    wide, middle = console.width >= WIDE, console.width >= MIDDLE
    rows = []
    for line in result.leaderboard_lines():
        name, p = line["learner"], line["p_against_best"]
        cells = [
            f"{name} *" if line["chosen"] else name,
            str(result.board[name].figure()),
            "" if p is None or p != p else ("<0.001" if p < 0.001 else f"{p:.3f}"),
            f"{line['fit_seconds']:.2f} s",
        ]
        if middle:
            cells.append(f"{line['predict_seconds']:.3f} s")
        if wide:
            size = line["model_kb"]
            cells += [
                f"{line['memory_mb']:,.0f} MB",
                "" if size is None else f"{size:,.0f} kB",
            ]
        rows.append(cells)
    headings = ["learner", result.measure, "p", "fit", "predict", "memory", "model"]
    print_table(
        headings[: len(rows[0])],
        rows,
        f"{result.measure}, {result.plan.splits.how} of {result.n_train:,} rows",
        f"* chosen. 95% intervals. {P_MEANS}. Seconds of a fit in a fold.",
    )
