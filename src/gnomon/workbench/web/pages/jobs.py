"""Jobs: a form for each, made from the declaration that the command line is made from."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

from starlette.responses import Response

from gnomon.engine.errors import DataError
from gnomon.workbench.base.command import FILES, JobCommand
from gnomon.workbench.base.job import Job
from gnomon.workbench.jobs import JOBS
from gnomon.workbench.web.app import Asked, NotFound, Workbench, to
from gnomon.workbench.web.forms import fields_of, values_of

SENTENCE = re.compile(r".+?(?:\.(?=\s)\s*|$)", re.DOTALL)
OF_TERMINAL = re.compile(r"terminal|--\w")  # flags, and questions on the screen
FIRST = 4  # fields that are shown at once; further ones are one click away


def about(job: Job) -> str:
    """What a job does: the help of its command, without what holds on a command line alone."""
    module = importlib.import_module(f"gnomon.workbench.{job.name}.command")
    for _, found in inspect.getmembers(module, inspect.isclass):
        if issubclass(found, JobCommand) and found is not JobCommand and found.job is job:
            told = inspect.cleandoc(found.__doc__ or "").split("\n\nExample")[0]
            return "".join(each for each in SENTENCE.findall(told) if not OF_TERMINAL.search(each))
    return ""


def jobs_page(bench: Workbench, asked: Asked) -> Response:
    """All jobs."""
    listed = [(job, about(job).split("\n")[0]) for job in JOBS.values()]
    return bench.page("jobs.html", here="jobs", jobs=listed)


def job_of(asked: Asked) -> Job:
    """The job that an address names."""
    if asked.path["name"] not in JOBS:
        raise NotFound(f"there is no job {asked.path['name']!r}; there are {', '.join(JOBS)}")
    return JOBS[asked.path["name"]]


def job_page(bench: Workbench, asked: Asked) -> Response:
    """The form of a job; with ``from``, filled in as a former run was."""
    job = job_of(asked)
    given: dict[str, Any] = {}
    if asked.get("from"):
        given = bench.session.options_of(asked.get("from"))
    given |= {name: values[0] for name, values in asked.query.items() if values[0]}
    return form_page(bench, job, given)


def form_page(
    bench: Workbench, job: Job, given: dict[str, Any], wrong: str = "", status: int = 200
) -> Response:
    """A form with values, and what is wrong with them."""
    fields = fields_of(job, given)
    needed = [each for each in fields if each.option.is_required]
    others = [each for each in fields if not each.option.is_required]
    first = needed + others[: max(FIRST - len(needed), 0)]
    return bench.page(
        "job.html",
        status,
        here="jobs",
        job=job,
        about=about(job),
        first=first,
        more=[each for each in fields if each not in first],
        columns=[] if bench.session.table is None else list(bench.session.table.columns),
        subject=FILES[job.subject],
        given=given,
        wrong=wrong,
    )


def run_job(bench: Workbench, asked: Asked) -> Response:
    """Start a job as its form says."""
    job, session = job_of(asked), bench.session
    try:
        if job.subject == "table":
            session.require_table()
        options = values_of(job, asked.form, session.table)
        subject = asked.get("subject").strip()
        if job.subject != "table" and not subject:
            raise DataError(f"Give what the job works on. {FILES[job.subject]}")
    except DataError as error:
        given = {k: v if len(v) > 1 else v[0] for k, v in asked.form.items()}
        return form_page(bench, job, given, str(error), 400)
    return to(f"/runs/{session.run_job(job.name, options, subject)}")


ROUTES = [
    ("/jobs", jobs_page, "GET"),
    ("/jobs/{name}", job_page, "GET"),
    ("/jobs/{name}", run_job, "POST"),
]
