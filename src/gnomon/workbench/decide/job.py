"""The job `decide`: from measured rows to settings that are worth the next trial.

Every wanted outcome gets the best regressor that `learn` finds. An outcome whose regressor does not
beat the baseline is not optimized: what it proposed would be noise. The settings of the best
predicted outcomes are searched inside the data, a person says which are better, a trial is measured
and added, and the models are fitted again.

Texts: 004 1.1-1.5.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import clone

from gnomon.decide import (
    Goal,
    PreferenceSearch,
    Proposals,
    answer_by_goal,
    non_dominated,
    preference_cycle,
    propose_settings,
)
from gnomon.engine.errors import DataError
from gnomon.table import Table
from gnomon.workbench.base.budget import Budget
from gnomon.workbench.base.given import as_table, left_out, source_of
from gnomon.workbench.base.job import Request
from gnomon.workbench.base.runs import Run
from gnomon.workbench.decide.options import JOB, DecideOptions
from gnomon.workbench.decide.result import DecideResult, Trial
from gnomon.workbench.decide.words import answers, goals, settings, turns, wishes
from gnomon.workbench.learn.job import learn
from gnomon.workbench.learn.result import LearnResult

FOLDS = 5  # usual number of folds (scikit-learn's default cv)
FEWEST = 12  # rows with all wanted outcomes; fewer say nothing about held-out errors


@JOB.public
def improve(table: Any, options: DecideOptions, request: Request) -> DecideResult:
    """Find settings that are worth the next trial, from rows that were measured.

    Columns are turned (they may be set), wanted (more, less, or near a value) or given. Use it
    where a trial is dear and rows of past settings and outcomes exist. It does not propose where
    no model beats the baseline, and proposes only inside the data. The command line calls it
    ``gnomon decide``; `gnomon.decide` is the package of its parts.

    Returns
    -------
    result : DecideResult
        Prints itself; has the proposals, their predicted outcomes and nearest rows, the expected
        gain of a trial, and writes the report.
    """
    begin = time.perf_counter()
    rows = with_trials(as_table(table), options.measured)
    want = goals(options.want, rows)
    turned = turns(options.turn, rows)
    require_varying(rows, turned)
    answers(options.prefer, options.proposals)
    both = sorted(set(turned) & set(want))
    if both:
        raise DataError(f"{', '.join(both)} is turned and wanted: a column is one or the other")
    held = settings(options.given, rows, "given")
    worth = settings(options.worth, rows, "worth")
    used = left_out(rows, options.without, (*turned, *want, *held))
    source = source_of(table) or request.source
    with Run.begin(request.folder, rows, source, options, JOB.name) as run:
        models, scores, errors = fitted(used, list(want), options, run, request)
        inputs = used.drop(list(want))
        request.progress("searching for settings", 0, 0)
        found = propose_settings(
            models,
            inputs,
            turned,
            want,
            given=held,
            errors=errors,
            n=options.proposals,
            random_state=options.random_state,
        )
        result = DecideResult(
            rows, want, found, scores, trial_of(found, used, want, errors, worth), run, options
        )
        result.models = models
        chosen(result, options)
        result.seconds = time.perf_counter() - begin
        run.finish(result)
    return result


def require_varying(table: Table, turned: dict[str, Any]) -> None:
    """Refuse a turned column that never varies, before anything is fitted."""
    columns = table.to_dict()
    for name in turned:
        if len({value for value in columns[name] if value is not None}) < 2:
            raise DataError(
                f"input {name!r} cannot be turned: it never varies in the data, so nothing can be "
                "learned about it. Measure rows with other settings of it"
            )


def with_trials(table: Table, measured: str | None) -> Table:
    """The table with the rows of a file of trials added.

    Parameters
    ----------
    table : Table
    measured : str or None

    Returns
    -------
    table : Table
    """
    if measured is None:
        return table
    trials = as_table(measured)
    unknown = [name for name in trials.columns if name not in table]
    if unknown:
        raise DataError(f"{measured} has columns that the table has not: {', '.join(unknown)}")
    columns = {
        name: [
            *table.to_dict()[name],
            *(trials.to_dict()[name] if name in trials else [None] * len(trials)),
        ]
        for name in table.columns
    }
    return Table.from_dict(columns).with_schema(table.schema, unseen="extend")


def fitted(
    table: Table, outcomes: list[str], options: DecideOptions, run: Run, request: Request
) -> tuple[dict[str, Any], dict[str, str], dict[str, np.ndarray]]:
    """A regressor of each outcome on all its rows, its score, and errors of rows held out."""
    models, scores, errors = {}, {}, {}
    allowance = Budget.of(options.budget).part(len(outcomes))
    refused = []
    for name in outcomes:
        others = [each for each in outcomes if each != name]
        usable = table.drop(others)
        known = np.flatnonzero([value is not None for value in table.to_dict()[name]])
        if len(known) < FEWEST:
            raise DataError(
                f"{name!r} was measured in {len(known)} rows; at least {FEWEST} are needed"
            )
        usable = usable[known]

        def tell(step: str, done: int, total: int, of: str = name) -> None:
            request.progress(f"{of}: {step}", done, total)

        result = learn(
            usable,
            name,
            task="regress",
            budget=allowance,
            learners=options.learners,
            random_state=options.random_state,
            progress=tell,
        )
        assert isinstance(result, LearnResult)  # of one target
        scores[name] = f"{result.chosen}, {result.measure} {result.test}"
        if not result.beats_baseline:
            refused.append(name)
            continue
        run.decide(f"{name} is predicted by {result.chosen}", result.verdict())
        models[name] = clone(result.model).fit(usable, name)
        errors[name] = held_out_errors(result.model, usable, name, options.random_state)
    if refused:
        raise DataError(
            f"no learner was shown to predict {', '.join(refused)} better than the baseline with "
            f"{len(table)} rows, so settings that promise more of it would be chance. Measure more "
            "rows with different settings, or leave it out of --want"
        )
    return models, scores, errors


def held_out_errors(model: Any, table: Table, name: str, random_state: int) -> np.ndarray:
    """Measured less predicted, for every row by a model that has not seen it."""
    places = np.random.default_rng(random_state).permutation(len(table))
    truth = np.array(table.to_dict()[name], dtype=np.float64)
    found = np.empty(len(table))
    for fold in range(FOLDS):
        held = np.zeros(len(table), dtype=bool)
        held[places[fold::FOLDS]] = True
        part = clone(model).fit(table[~held], name)
        found[held] = truth[held] - part.predict(table[held].drop(name))
    return found


def trial_of(
    proposals: Proposals,
    table: Table,
    want: dict[str, Goal],
    errors: dict[str, np.ndarray],
    worth: dict[str, float],
) -> Trial:
    """What one more trial promises, averaged over errors of rows held out.

    With the worth of outcomes: what it gains over the best measured row. Without: how far it goes
    beyond every measured row in some outcome, as a share of the range of outcomes.
    """
    columns = table.to_dict()
    measured = np.column_stack([np.array(columns[name], dtype=np.float64) for name in want])
    measured = measured[~np.isnan(measured).any(axis=1)]
    losses = np.column_stack([goal.loss(measured[:, j]) for j, goal in enumerate(want.values())])
    n = min(len(errors[name]) for name in want)
    prices = np.array([worth.get(name, 0.0) for name in want])
    spread = np.ptp(losses, axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    front = losses[non_dominated(losses)]
    gains = []
    for outcomes in proposals.outcomes:
        possible = np.column_stack(
            [goal.loss(outcomes[name].value + errors[name][:n]) for name, goal in want.items()]
        )
        if worth:
            better = (losses @ prices).min() - possible @ prices
        else:
            better = ((front - possible[:, None, :]) / spread).max(axis=2).min(axis=1)
        gains.append(float(np.maximum(better, 0.0).mean()))
    return Trial(int(np.argmax(gains)), gains, bool(worth))


def chosen(result: DecideResult, options: DecideOptions) -> None:
    """Narrow the proposals by answers and wishes."""
    predicted, wanted = predicted_losses(result)
    pairs = answers(options.prefer, len(predicted))
    result.contradiction = preference_cycle(pairs)
    if pairs and len(predicted) > 1:
        search = PreferenceSearch(predicted, wanted, random_state=options.random_state)
        for preferred, other in pairs:
            search.tell(preferred, other)
        result.order = search.standing().rows.tolist()
    given = wishes(options.wish, list(result.want))
    if given:
        current = result.order[0] if result.order else 0
        result.order = answer_by_goal(predicted, wanted, current, given).rows.tolist()


def predicted_losses(result: DecideResult) -> tuple[np.ndarray, dict[str, str]]:
    """Predicted outcomes of the proposals; those wanted near a value as distances from it."""
    columns, wanted = [], {}
    for name, goal in result.want.items():
        values = np.array([each[name].value for each in result.proposals.outcomes])
        columns.append(goal.loss(values) if goal.want == "near" else values)
        wanted[name] = "less" if goal.want == "near" else goal.want
    return np.column_stack(columns), wanted
