"""Training curves: loss and error against the step of any learner that learns in steps.

A boosted or staged learner is asked for all its stages at once. Any other is fitted again with a
growing budget of steps and the same random state, which goes through the same steps again: exact
for every learner that is deterministic given its random state, and needs nothing of it.

Texts: 000a 2.1.3 (accuracy against step or season, one curve per lambda) · 000c 16.2 (loss and
error with baseline lines).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from gnomon.contract.estimate import Estimate
from gnomon.engine.errors import DataError
from gnomon.engine.threads import in_order
from gnomon.evaluate.baseline import BaselineClassifier, BaselineRegressor
from gnomon.evaluate.curves import Curve, bare, default_measures, figures_of, held_out_rows
from gnomon.evaluate.fold_run import FoldWork, Problem, seeded
from gnomon.evaluate.measures import Measure, Said, as_measures

STAGED = {
    "predictions": "staged_predict",
    "probabilities": "staged_predict_proba",
    "scores": "staged_decision_function",
}
BUDGETS = ("max_iter", "n_estimators", "n_iter", "n_epochs", "epochs")
RECORDS = ("history_", "loss_curve_", "train_score_", "validation_scores_", "objective_curve_")
DEFAULT_STEPS = 100  # scikit-learn's usual max_iter (100), where the learner names no number


def training_curve(
    estimator: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    steps: Sequence[int] | None = None,
    how: str = "auto",
    measures: Any = None,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> Curve:
    """Training and test error after each of a learner's steps, with the baseline beside them.

    Use it to see whether training has ended, whether it overfits, and where to stop. The test rows
    that choose where to stop are no longer test rows.

    Parameters
    ----------
    estimator : estimator
        One with ``staged_predict``, ``partial_fit``, or a parameter for its number of steps
        (``max_iter``, ``n_estimators``, ``n_iter``, ``epochs``).
    X : array-like, data frame or Table
        Training rows.
    y : array-like or str
        Their target, or the name of its column.
    X_test : array-like, data frame or Table
        Rows that are not trained on.
    y_test : array-like or str
    steps : sequence of int, default=None
        After which steps to look; by default all stages, or up to about twenty steps that lie
        closer at the beginning.
    how : {"auto", "stages", "refit", "partial_fit"}, default="auto"
        ``"stages"`` asks ``staged_predict``; ``"refit"`` fits again with growing budgets;
        ``"partial_fit"`` shows all rows once more per step. Automatic is the first of the first
        two that the learner allows.
    measures : str, Measure, Loss, callable or list of these, default=None
        As in `cross_validation_estimates`; ``"error"`` or ``"mse"`` by default.
    random_state : int or None, default=0
        Seed for learners that were given none.
    n_jobs : int or None, default=None

    Returns
    -------
    curve : Curve
        Lines ``"training"`` and ``"test"``; error bars are those of the rows, so they say how well
        the error of this one fit is known. ``course`` holds the learner's own record
        (``history_``, ``loss_curve_``), for every step.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 1))
    >>> y = np.sin(6 * X[:, 0]) + 0.3 * rng.normal(size=200)
    >>> boosted = GradientBoostingRegressor(n_estimators=50)
    >>> curve = training_curve(boosted, X[:100], y[:100], X[100:], y[100:])
    >>> len(curve.x), bool(curve.values("training")[-1] < curve.values("training")[0])
    (50, True)
    """
    problem = Problem.of(estimator, X, y, None, None)
    chosen = as_measures(default_measures(measures, problem), problem.task)
    work = FoldWork(estimator, problem, chosen, False, False, False, random_state)
    parts: Parts = {
        "training": (problem.X, problem.y),
        "test": held_out_rows(problem, (X_test, y_test)),
    }
    start = seeded(estimator, random_state, 0)
    way = _way(how, start, chosen)
    if way == "stages":
        found = _by_stages(start, work, parts, steps)
    elif way == "refit":
        found = _by_refitting(start, work, parts, steps, n_jobs)
    else:
        found = _by_partial_fits(start, work, parts, steps)
    places, figures, course, note = found
    return Curve(
        f"Training curve of {type(estimator).__name__} ({chosen[0].name})",
        "step",
        places,
        _as_lines(figures, len(chosen) > 1),
        baselines=_baseline(work, parts["test"]),
        course=course,
        notes=[note],
        greater_is_better=chosen[0].greater_is_better,
    )


Parts = dict[str, tuple[Any, Any]]
Figures = list[dict[tuple[str, str], Estimate]]
Found = tuple[list[int], Figures, dict[str, list[float]], str]


def _way(how: str, learner: Any, measures: list[Measure]) -> str:
    able = {
        "stages": all(hasattr(learner, STAGED.get(each.needs, "-")) for each in measures),
        "refit": _budget(learner) is not None,
        "partial_fit": hasattr(learner, "partial_fit"),
    }
    if how == "auto":
        for option in ("stages", "refit"):
            if able[option]:
                return option
        raise DataError(
            f"{type(learner).__name__} has neither stages nor a number of steps among "
            f"{', '.join(BUDGETS)}; it does not learn in steps, or give how='partial_fit'"
        )
    if how not in able:
        raise DataError(f"how={how!r} is none of auto, {', '.join(able)}")
    if not able[how]:
        raise DataError(f"{type(learner).__name__} cannot be followed by how={how!r}")
    return how


def _budget(learner: Any) -> str | None:
    parameters = learner.get_params(deep=False)
    return next((name for name in BUDGETS if name in parameters), None)


def _by_stages(learner: Any, work: FoldWork, parts: Parts, steps: Any) -> Found:
    learner.fit(*parts["training"])
    wanted = None if steps is None else set(_checked_steps(steps))
    figures: dict[int, dict[tuple[str, str], Estimate]] = {}
    for part, (rows, y) in parts.items():
        for measure in work.measures:
            answers = getattr(learner, STAGED[measure.needs])(rows)
            for step, answer in enumerate(answers, 1):
                if wanted is None or step in wanted:
                    found = measure.figure(y, _said(measure, answer, work.problem.classes))
                    place = figures.setdefault(step, {})
                    place[part, measure.name] = (
                        found if isinstance(found, Estimate) else bare(float(found))
                    )
    if not figures:
        raise DataError(f"steps {sorted(wanted or ())} lie beyond the stages of the learner")
    places = sorted(figures)
    return places, [figures[step] for step in places], _record(learner), "one fit, all its stages"


def _said(measure: Measure, answer: Any, classes: np.ndarray | None) -> Said:
    answer = np.asarray(answer)
    if measure.needs == "probabilities":
        return Said(np.empty(0), probabilities=answer, classes=classes)
    if measure.needs == "scores":
        return Said(np.empty(0), scores=answer.ravel(), classes=classes)
    return Said(answer, classes=classes)


def _by_refitting(
    learner: Any, work: FoldWork, parts: Parts, steps: Any, n_jobs: int | None
) -> Found:
    name = _budget(learner)
    assert name is not None
    most = learner.get_params(deep=False)[name] or DEFAULT_STEPS
    places = _checked_steps(steps) if steps is not None else spread_steps(int(most))

    def after(step: int) -> tuple[dict[tuple[str, str], Estimate], Any]:
        model = clone(learner).set_params(**{name: step}).fit(*parts["training"])
        return _figures(model, work, parts), model if step == places[-1] else None

    with warnings.catch_warnings():
        # a short budget is meant not to converge
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = list(in_order(after, places, n_jobs))
    last = found[-1][1]
    ended = getattr(last, "n_iter_", None)  # some learners give one number per class or target
    note = f"fitted again with {name} = {places[0]} to {places[-1]}"
    if ended is not None and np.size(ended) and np.max(ended) < places[-1]:
        note += f"; it ended by itself after {int(np.max(ended))} steps"
    return places, [figures for figures, _ in found], _record(last), note


def _by_partial_fits(learner: Any, work: FoldWork, parts: Parts, steps: Any) -> Found:
    rows, y = parts["training"]
    places = _checked_steps(steps) if steps is not None else spread_steps(DEFAULT_STEPS)
    more = {} if work.problem.classes is None else {"classes": work.problem.classes}
    figures = []
    for step in range(1, places[-1] + 1):
        learner.partial_fit(rows, y, **more)
        if step in places:
            figures.append(_figures(learner, work, parts))
    return places, figures, _record(learner), "every step is one more pass over all rows"


def _figures(model: Any, work: FoldWork, parts: Parts) -> dict[tuple[str, str], Estimate]:
    return {
        (part, name): figure
        for part, (rows, y) in parts.items()
        for name, figure in figures_of(work, model, rows, y).items()
    }


def _as_lines(figures: Figures, several: bool) -> dict[str, list[Estimate]]:
    return {
        f"{part} {name}" if several else part: [each[part, name] for each in figures]
        for part, name in figures[0]
    }


def _record(model: Any) -> dict[str, list[float]]:
    """What the learner wrote down itself while it learnt."""
    record = {}
    for name in RECORDS:
        kept = getattr(model, name, None)
        if kept is None:
            continue
        values = np.asarray(kept, dtype=np.float64)
        if values.ndim == 1 and len(values):
            record[name.rstrip("_").replace("_", " ")] = values.tolist()
    return record


def _baseline(work: FoldWork, test: tuple[Any, np.ndarray]) -> dict[str, float]:
    """What a learner that looks at no column reaches on the test rows."""
    problem = work.problem
    cls = BaselineClassifier if problem.task == "classify" else BaselineRegressor
    measures = [each for each in work.measures if each.needs != "estimator"]
    asked = FoldWork(cls(), problem, measures, False, False, False, None)
    fitted = cls().fit(np.zeros((problem.n_rows, 1)), problem.y)
    figures = figures_of(asked, fitted, np.zeros((len(test[1]), 1)), test[1])
    return {name: figure.value for name, figure in figures.items()}


def spread_steps(most: int, n: int = 20) -> list[int]:
    """About n whole steps from 1 to the last, closer together at the beginning.

    Parameters
    ----------
    most : int
    n : int, default=20

    Returns
    -------
    steps : list of int

    Examples
    --------
    >>> spread_steps(100, n=6)
    [1, 3, 6, 16, 40, 100]
    """
    return sorted({round(float(step)) for step in np.geomspace(1, max(most, 1), n)})


def _checked_steps(steps: Sequence[int]) -> list[int]:
    places = sorted({int(step) for step in steps})
    if not places or places[0] < 1:
        raise DataError(f"steps {steps!r} must be whole numbers from 1 on")
    return places
