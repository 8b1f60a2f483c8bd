"""The job `label`: which rows without a label would help most, and whether asking beats chance.

A random forest learns from the labeled rows; the rows that it is least sure of are asked for. Where
there are labels enough, half of them is hidden and asked for again in both ways, by the strategy
and at random, which gives the curve of accuracy against the number of labels. Texts: 001 3.3.1 ·
003 2.12.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.semi import LabelCurve, label_curve, query
from gnomon.table import Table
from gnomon.table.schema import no_such_column
from gnomon.trees import RandomForestClassifier
from gnomon.workbench.base.given import as_table, left_out, source_of
from gnomon.workbench.base.job import Request
from gnomon.workbench.base.runs import Run
from gnomon.workbench.label.options import JOB, LabelOptions
from gnomon.workbench.label.result import LabelResult

N_TREES = 100  # scikit-learn's default n_estimators
FEWEST_FOR_CURVE = 60  # judgement: a curve learns on part of the labels and is judged on the rest
# Judgement: a forest is fitted for each repeat and point, so rows are bounded.
MOST_FOR_CURVE = 1_000
REPEATS = 6  # four show a gain of 2.6 standard deviations of one repeat, six of two
POINTS = 5  # judgement: enough to see whether the curve still rises


@JOB.public
def label(table: Any, options: LabelOptions, request: Request) -> LabelResult:
    """Choose the rows without a label that a person should label next.

    Use it when labels cost time and most cells of the target are empty. The command line asks the
    questions and writes a copy of the table with the answers; here they are ``result.questions``.

    Returns
    -------
    result : LabelResult

    Examples
    --------
    >>> import gnomon
    >>> table = {"a": [0.0, 1.0, 9.0, 10.0, 5.0], "y": ["no", "no", "yes", "yes", None]}
    >>> gnomon.label(table, "y").questions
    [4]
    """
    begin = time.perf_counter()
    rows = as_table(table)
    source = source_of(table) or request.source
    if options.target not in rows:
        raise no_such_column(options.target, rows.columns)
    with Run.begin(request.folder, rows, source, options, JOB.name) as run:
        used = left_out(rows, options.without, (options.target,))
        labels = used.column(options.target).to_pylist()
        known = np.array([value is not None and value == value for value in labels])
        free = np.flatnonzero(~known)
        if not len(free):
            raise DataError(
                f"every row has a label in {options.target!r}; there is nothing to ask for"
            )
        inputs = used.drop(options.target)
        y = np.array([str(value) for value, is_known in zip(labels, known) if is_known])
        result = LabelResult(
            rows, [], [], sorted(set(y.tolist())), int(known.sum()), None, run, options
        )
        request.progress("rows to ask for", 0, 0)
        _choose(result, inputs, y, known, free)
        request.progress("curve against random choice", 0, 0)
        result.curve = _curve(inputs, y, known, options)
        result.seconds = time.perf_counter() - begin
        run.finish(result)
    return result


def _forest(random_state: int) -> RandomForestClassifier:
    return RandomForestClassifier(N_TREES, random_state=random_state)


def _choose(
    result: LabelResult, inputs: Table, y: np.ndarray, known: np.ndarray, free: np.ndarray
) -> None:
    """The rows to ask for, and how sure the model is of each."""
    options, run = result.settings, result.run
    n = min(options.n_questions, len(free))
    if len(set(y.tolist())) < 2:
        rng = np.random.default_rng(options.random_state)
        result.questions = [int(row) for row in rng.choice(free, n, replace=False)]
        result.sureness = [float("nan")] * n
        run.decide("rows are drawn at random", "there are no labels of two classes to learn from")
        return
    labeled = (inputs[np.flatnonzero(known)], y)
    model = _forest(options.random_state).fit(*labeled)
    rest = inputs[free]
    places = query(
        model,
        rest,
        strategy=options.strategy,
        n_queries=n,
        labeled=labeled,
        random_state=options.random_state,
    )
    sure = np.asarray(model.predict_proba(rest[places])).max(axis=1)
    result.questions = [int(row) for row in free[places]]
    result.sureness = [float(each) for each in sure]
    run.decide(
        f"{n} of {len(free):,} rows without a label are asked for, by {options.strategy}",
        f"a random forest of the {int(known.sum()):,} labeled rows",
    )


def _curve(
    inputs: Table, y: np.ndarray, known: np.ndarray, options: LabelOptions
) -> LabelCurve | None:
    """Asking against random choice on the labels that are there; None where they are few."""
    counts = np.unique(y, return_counts=True)[1]
    if len(y) < FEWEST_FOR_CURVE or len(counts) < 2 or options.strategy == "random":
        return None
    rng = np.random.default_rng(options.random_state)
    taken = np.sort(rng.permutation(len(y))[:MOST_FOR_CURVE])
    n_labels = int(0.5 * len(taken))
    n_start = max(10, len(counts), n_labels // 10)
    return label_curve(
        _forest(options.random_state),
        inputs[np.flatnonzero(known)[taken]],
        y[taken],
        strategy=options.strategy,
        n_start=n_start,
        n_labels=n_labels,
        n_queries=max((n_labels - n_start) // POINTS, 1),
        n_repeats=REPEATS,
        random_state=options.random_state,
    )
