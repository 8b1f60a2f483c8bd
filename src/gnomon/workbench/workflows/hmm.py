"""The questions that a hidden Markov model answers, and the routine for each.

Evaluation, filtering, smoothing, decoding, prediction and learning are different questions with
different routines, and their names are easily confused: the forward and backward recursions with
forward-backward training, Viterbi decoding with Viterbi training (001 14.2, 002 5).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError


@dataclass(frozen=True)
class HMMTask:
    """One question to a hidden Markov model.

    Attributes
    ----------
    name : str
    question : str
    formula : str
        What is computed.
    routine : str
        The call that answers it, on a `gnomon.sequence.HiddenMarkovModel`.
    caution : str
        What it is confused with, or must not be used for.
    words : tuple of str
        Beginnings of words that give the question away.
    run : callable
        ``run(model, sequences)`` does it.
    """

    name: str
    question: str
    formula: str
    routine: str
    caution: str
    words: tuple[str, ...]
    run: Callable[[Any, Sequence[Any]], Any]


def _not_with_one_model(model: Any, sequences: Sequence[Any]) -> Any:
    raise DataError(
        "a class needs a model of each class: fit gnomon.sequence.HMMClassifier on sequences and "
        "their classes, and predict"
    )


TASKS = (
    HMMTask(
        "evaluate",
        "How likely is this sequence; which model explains it best?",
        "log p(X)",
        "log_likelihood(sequences)",
        "the forward recursion alone, scaled; no training and no path",
        ("evaluat", "likely", "likelihood", "probabl", "explain", "score", "compare", "anomal"),
        lambda model, sequences: model.log_likelihood(sequences),
    ),
    HMMTask(
        "filter",
        "Which state now, from what was seen so far?",
        "p(z_t | x_1 ... x_t)",
        "filter(sequences), or online() for one observation at a time",
        "it knows no future: for the past of a whole sequence smooth instead",
        ("filter", "now", "current", "online", "so far", "live", "real-time", "stream", "track"),
        lambda model, sequences: model.filter(sequences),
    ),
    HMMTask(
        "smooth",
        "Which state at each step, all observations known?",
        "p(z_t | x_1 ... x_N)",
        "smooth(sequences)",
        "forward and backward recursions; not the training that is called forward-backward",
        ("smooth", "each step", "every step", "posterior", "hindsight", "past", "afterwards"),
        lambda model, sequences: model.smooth(sequences),
    ),
    HMMTask(
        "decode",
        "Which path of states is best?",
        "argmax over paths of p(Z, X)",
        "decode(sequences); method='posterior' for most single states right",
        "Viterbi decoding, not Viterbi training; the best path need not go through the most "
        "probable state of each step",
        ("decod", "path", "viterbi", "segment", "transcri", "tag", "label", "recogni"),
        lambda model, sequences: model.decode(sequences),
    ),
    HMMTask(
        "predict",
        "What comes next?",
        "p(x_{N+1} | x_1 ... x_N)",
        "predict_observation(sequence), predict_states(sequence)",
        "the law of the next observation, not of the next state alone",
        ("next", "predict", "forecast", "future", "tomorrow", "ahead"),
        lambda model, sequences: [model.predict_observation(each) for each in sequences],
    ),
    HMMTask(
        "learn",
        "What are the model's parameters?",
        "argmax of p(X) over start, transitions and emissions",
        "fit(sequences), or fit(sequences, states) where states are known",
        "EM climbs to a local optimum: start several times; with known states it only counts",
        ("learn", "train", "fit", "estimat", "parameter", "baum", "em "),
        lambda model, sequences: model.fit(sequences),
    ),
    HMMTask(
        "classify",
        "Which of several classes made this sequence?",
        "argmax over classes of log p(class) + log p(X | class)",
        "gnomon.sequence.HMMClassifier: a model for each class",
        "states are not classes: a path within one model names no class",
        ("classif", "class", "which word", "which speaker", "who "),
        _not_with_one_model,
    ),
    HMMTask(
        "simulate",
        "What would sequences of this model look like?",
        "z_1, x_1, z_2, x_2 ... drawn one after the other",
        "sample(length)",
        "a model whose sequences do not look like the data has missed something",
        ("simulat", "generat", "draw", "sample", "invent"),
        lambda model, sequences: [model.sample(len(each)) for each in sequences],
    ),
)


@dataclass(repr=False)
class HMMTasks(Result):
    """All questions and their routines.

    Attributes
    ----------
    tasks : tuple of HMMTask
    """

    tasks: tuple[HMMTask, ...] = TASKS

    def _title(self) -> str:
        return "Name the task first"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            part: [getattr(task, part) for task in self.tasks]
            for part in ("name", "question", "formula", "routine", "caution")
        }


def hmm_tasks() -> HMMTasks:
    """All questions that a hidden Markov model answers, with routine and caution.

    Returns
    -------
    tasks : HMMTasks

    Examples
    --------
    >>> [task.name for task in hmm_tasks().tasks][:4]
    ['evaluate', 'filter', 'smooth', 'decode']
    """
    return HMMTasks()


def hmm_task(question: str) -> HMMTask:
    """The task that a question in words names, and so the routine that answers it.

    Looks for words of the field; a question that names none, or two alike, is refused with the
    list, since the wrong routine would answer another question.

    Parameters
    ----------
    question : str
        The task's name, or a question in words.

    Returns
    -------
    task : HMMTask

    Examples
    --------
    >>> hmm_task("Which state is the machine in now?").routine
    'filter(sequences), or online() for one observation at a time'
    """
    asked = " ".join(question.lower().split()) + " "
    named = [task for task in TASKS if task.name == asked.strip()]
    if named:
        return named[0]
    hits = [
        sum(bool(re.search(rf"\b{re.escape(word)}", asked)) for word in task.words)
        for task in TASKS
    ]
    best = max(hits)
    found = [task for task, count in zip(TASKS, hits) if count == best]
    if best == 0 or len(found) > 1:
        among = found if best else TASKS
        listed = "; ".join(f"{task.name}: {task.question}" for task in among)
        raise DataError(f"the question {question!r} does not name one task; say which: {listed}")
    return found[0]
