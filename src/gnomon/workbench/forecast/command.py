"""The command ``gnomon forecast``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.base.screen import console, print_table, say
from gnomon.workbench.forecast.options import JOB

MOST_ROWS = 24  # judgement: one screen; a day of hours, two years of months


class ForecastCommand(JobCommand):
    """Forecast the next values of one or several series, with prediction intervals.

    Methods compete from several points of the past and are compared with the naive forecast. The
    run folder gets forecast.csv, leaderboard.csv and report.html; 'gnomon predict FOLDER NEW_FILE'
    goes on with the same methods when later values have come.

    Examples:

      gnomon forecast sales.csv --target sales --time month --horizon 12

      gnomon forecast shops.csv --target sales --time date --groups shop --known holiday
    """

    job = JOB
    failure = "Exit with 3 where no method is shown to beat the naive forecast."

    def folder(self, words: dict[str, Any], given: str) -> Any:
        """The run folder, named after the target."""
        return super().folder(words | {"target": [f"{words['target']}-forecast"]}, given)

    def show(self, result: Any) -> None:
        """The verdict, the leaderboard and the forecast."""
        from gnomon.workbench.forecast.result import HEADINGS

        say(str(result))
        console.print()
        lines = result.board_lines()
        print_table(
            HEADINGS,
            lines,
            title="methods that competed",
            caption="MASE: mean absolute error in units of the naive forecast's on earlier values. "
            "Intervals of 95%.",
        )
        table = result.table()
        rows = [
            [f"{cell:.6g}" if isinstance(cell, float) else cell for cell in table.row(i).values()]
            for i in range(min(len(table), MOST_ROWS))
        ]
        level = f"{result.settings.confidence_level:.0%}"
        headings = [*table.columns[:-2], f"{level} low", "high"]
        print_table(headings, rows, title="forecast")
        if len(table) > MOST_ROWS:
            say(f"... and {len(table) - MOST_ROWS} more in forecast.csv")

    def after(self, folder: Path) -> None:
        """How to go on."""
        say(f"when later values have come: gnomon predict {folder} NEW_FILE")

    def failed(self, result: Any) -> bool:
        """Whether no method is shown to beat the baseline."""
        return not result.beats_baseline
