"""What every job gives back: it prints itself, draws pictures, writes a report and a run folder.

A result in ``gnomon/workbench/NAME/result.py`` finds its pictures and its report in the
``report.py`` beside it: ``pictures_of(result)`` and ``report_of(result)``.
"""

from __future__ import annotations

import importlib
import json
import warnings
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from gnomon.engine.errors import DataError
from gnomon.engine.notebook import text_html
from gnomon.workbench.base.options import Options
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.runs import Run
from gnomon.workbench.base.script import job_script
from gnomon.workbench.base.whole_file import write_whole

Picture = Callable[[str], Any]


class JobResult:
    """Base of the results of jobs.

    Attributes
    ----------
    run : Run
        The record of the run, with its decisions, and its folder where there is one.
    settings : Options
        The options, with the values that the run has settled.
    seconds : float
        Time that the job took.
    """

    run: Run
    settings: Options
    seconds: float

    @property
    def pictures(self) -> list[str]:
        """Names of the pictures that `plot` draws."""
        return list(self._beside("pictures_of")(self))

    def plot(self, what: str | None = None, *, theme: str = "light") -> Any:
        """Draw a picture.

        Parameters
        ----------
        what : str, default=None
            One of `pictures`; the first by default.
        theme : {"light", "dark"}, default="light"

        Returns
        -------
        figure : plotly.graph_objects.Figure
        """
        found: dict[str, Picture] = self._beside("pictures_of")(self)
        if not found:
            raise DataError(f"a result of '{self.run.record['job']}' has no pictures")
        name = next(iter(found)) if what is None else what
        if name not in found:
            raise DataError(f"there is no picture {what!r}; there are {', '.join(found)}")
        return found[name](theme)

    def _repr_html_(self) -> str:
        names = ", ".join(self.pictures)
        return text_html(str(self), [f"Pictures, by plot(name): {names}"] if names else [])

    def figures(self, theme: str = "light") -> dict[str, Any]:
        """All pictures by name, as Plotly figures.

        Parameters
        ----------
        theme : {"light", "dark"}, default="light"

        Returns
        -------
        figures : dict of str to plotly.graph_objects.Figure
        """
        found: dict[str, Picture] = self._beside("pictures_of")(self)
        return {name: draw(theme) for name, draw in found.items()}

    def report(self, path: str | PathLike[str]) -> Path:
        """Write the report: one HTML file that needs no network.

        Parameters
        ----------
        path : path

        Returns
        -------
        path : Path
        """
        written: Path = self._beside("report_of")(self).write(path)
        return written

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the model to a file that `gnomon.load` reads.

        Parameters
        ----------
        path : path

        Returns
        -------
        path : Path
        """
        model = getattr(self, "model", None)
        if model is None:
            raise DataError(
                f"a result of '{self.run.record['job']}' has no model to save; report(path) writes "
                "the report and write(folder) all results"
            )
        saved: Path = model.save(Path(path))
        return saved

    @property
    def same_if(self) -> str:
        """Whether a repetition has the same results, as an expression for the script."""
        return "True"

    @property
    def script(self) -> str:
        """A short script in public calls that repeats the run."""
        return job_script(self.run.record, self.settings.changed(), self.same_if)

    def summary(self) -> dict[str, Any]:
        """The result as plain data, for records and scripts."""
        raise NotImplementedError

    def to_json(self) -> str:
        """The result as JSON."""
        return json.dumps(as_json(self.summary()), indent=1, ensure_ascii=False)

    def write(self, folder: str | PathLike[str]) -> None:
        """Write all results to a folder, each file whole or not at all.

        Parameters
        ----------
        folder : path
        """
        place = Path(folder)
        self.write_files(place)
        write_whole(place / "again.py", self.script)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.report(place / "report.html")

    def write_files(self, folder: Path) -> None:
        """Write what this job has beside its script and its report."""

    def __repr__(self) -> str:
        return str(self)

    def _beside(self, name: str) -> Callable[..., Any]:
        package = type(self).__module__.rpartition(".")[0]
        found: Callable[..., Any] = getattr(importlib.import_module(f"{package}.report"), name)
        return found
