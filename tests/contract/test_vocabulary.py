"""Public names keep to one vocabulary: the words of the field, in American spelling."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re

import gnomon

# Words that mean what the field calls otherwise, and the field's word.
OTHER_WORDS = {
    "max_steps": "max_iter",
    "max_turns": "max_iter",
    "max_passes": "max_iter",
    "n_rounds": "max_iter",
    "n_sweeps": "max_iter",
    "n_starts": "n_init",
    "n_tries": "n_init",
    "n_restarts": "n_init",
    "n_folds": "cv",
    "splits": "cv",
    "learner": "estimator",
    "learners": "estimators",
    "seed": "random_state",
    "tolerance": "tol",
    "level": "confidence_level",
    "confidence": "confidence_level",
    "said": "y_pred",
    "guesses": "y_pred",
    "answers": "y_pred",
    "predicted": "y_pred",
}
# Parameters that bear such a word for something else.
ELSE = {
    "cluster.Rule(confidence)": "of an association rule: P(then given if), the usual term",
    "ensemble.CascadeClassifier(n_folds)": "a number of folds only, no splitter",
    "ensemble.accuracy_rejection_curve(confidence)": "confidence of each row, not a level",
    "evaluate.CrossValidation(splits)": "the splits of a result",
    "evaluate.HoldOut(learner)": "a result",
    "evaluate.Measure(said)": "what an estimator predicts, in several forms",
    "evaluate.rejection_curve(confidence)": "confidence of each row, not a level",
    "margin.solve(max_steps)": "pair steps; max_iter counts working sets",
    "margin.SparseSVM(max_passes)": "passes of liblinear, which reports no steps",
    "reduce.NIPALS(max_turns)": "for each component; no step of the whole fit is recorded",
    "sample.burn_in(tolerance)": "the largest ratio of variances",
    "select.RecursiveElimination(n_folds)": "a number of folds only, no splitter",
    "select.WrapperSelector(n_folds)": "a number of folds only, no splitter",
    "sequence.MarkovChain(max_steps)": "steps of a simulated chain",
    "show.rejection(confidence)": "confidence of each row, not a level",
    "table.Hierarchy(level)": "a level of the hierarchy",
    "trees.FlexibleTreeClassifier(n_tries)": "random questions tried at a node",
    "trees.FlexibleTreeRegressor(n_tries)": "random questions tried at a node",
    "trees.PrunedTreeClassifier(n_folds)": "a number of folds only, no splitter",
    "trees.PrunedTreeRegressor(n_folds)": "a number of folds only, no splitter",
}
BRITISH = re.compile(
    r"centre|neighbour|colour|behaviour|favour|labell|modell|grey|analys(?:e|ing)\b"
    r"|(?:normal|organ|penal|general|linear|recogn|optim|minim|maxim|regular|standard|summar"
    r"|visual|initial|categor|factor|random|polar|quant|discret|central|equal|real|symbol"
    r"|memor|local|binar|character|emphas|util|winsor|token)is(?:e|ed|er|ing|ation|ations)(?![a-z])",
    re.IGNORECASE,
)


def public_objects():
    """Pairs of name with package, and object, of everything that a package lists."""
    for found in pkgutil.iter_modules(gnomon.__path__):
        if not found.ispkg or found.name.startswith("_"):
            continue
        package = importlib.import_module(f"gnomon.{found.name}")
        for name in getattr(package, "__all__", ()):
            yield f"{found.name}.{name}", getattr(package, name)


def parameters_of(thing):
    """Names of parameters of a function, or of a class and its public methods."""
    if inspect.isclass(thing):
        methods = [getattr(thing, name, None) for name in dir(thing) if name[0] != "_"]
        functions = [thing, *(each for each in methods if inspect.isfunction(each))]
        functions = [
            each
            for each in functions
            if inspect.isclass(each) or (each.__module__ or "").startswith("gnomon")
        ]
    else:
        functions = [thing] if inspect.isfunction(thing) else []
    for function in functions:
        try:
            yield from inspect.signature(function).parameters
        except (TypeError, ValueError):
            continue


def test_no_parameter_has_a_word_of_our_own_for_what_the_field_names():
    wrong = {
        f"{name}({parameter}): {OTHER_WORDS[parameter]}"
        for name, thing in public_objects()
        for parameter in parameters_of(thing)
        if parameter in OTHER_WORDS and f"{name}({parameter})" not in ELSE
    }
    assert not wrong, "\n" + "\n".join(sorted(wrong))


def test_public_names_and_parameters_are_spelled_in_american_english():
    wrong = {
        f"{name}: {spelled}"
        for name, thing in public_objects()
        for spelled in (name.partition(".")[2], *parameters_of(thing))
        if BRITISH.search(spelled)
    }
    assert not wrong, "\n" + "\n".join(sorted(wrong))
