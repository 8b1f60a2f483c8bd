"""What is registered, and the contract of methods that take something other than a table.

Every exported class with ``fit`` is registered. Methods of sequences, networks, ratings and indexes
keep the parts of the contract that do not depend on a table of rows.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.exceptions import NotFittedError
from sklearn.utils import all_estimators, get_tags
from sklearn.utils._param_validation import InvalidParameterError

import gnomon
from gnomon.density import Distribution, ExponentialFamily
from gnomon.engine.estimator import Estimator
from gnomon.engine.history import History
from gnomon.engine.registry import KINDS, PACKAGES, find, methods
from gnomon.engine.renamed import FORMER_CLASSES
from gnomon.engine.synonyms import SYNONYMS
from gnomon.linear.inference import NoSummary
from gnomon.neighbors import Distance
from gnomon.prepare import Filter
from tests.contract.cases import each, make

# parts that methods are made of: they have ``fit`` and are no methods themselves
PARTS = (Distance, Distribution, ExponentialFamily)
BASES = {Filter}
NETWORKS = {method.cls for method in methods("graph")}  # their ``fit`` is a constructor
ESTIMATORS = [method.cls for method in methods() if method.cls not in NETWORKS]
NEED_NO_FIT = {
    "cost_complexity_pruning_path",
    "path",
    "non_zeros",
    "pieces",
    "save",
    "forecast",
    "get_metadata_routing",
    "get_params",
}
WHOLE = {"length", "n_steps", "n", "k", "budget"}


def exported_classes() -> list[type]:
    found = []
    for name in PACKAGES:
        if name == "contract" or importlib.util.find_spec(f"gnomon.{name}") is None:
            continue
        package = importlib.import_module(f"gnomon.{name}")
        members = (getattr(package, each) for each in package.__all__)
        found += [member for member in members if inspect.isclass(member)]
    return found


def test_every_exported_class_with_fit_is_registered():
    registered = {method.cls for method in methods()}
    missing = [
        cls.__name__
        for cls in exported_classes()
        if hasattr(cls, "fit") and not issubclass(cls, PARTS) and cls not in registered | BASES
    ]
    assert missing == []


def test_every_kind_of_input_is_known_and_every_method_has_one():
    assert {method.takes for method in methods()} <= set(KINDS)
    with pytest.raises(ValueError, match="sequences"):
        methods("sequence")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("hmm", "HiddenMarkovModel"),
        ("hidden markov", "HiddenMarkovModel"),
        ("random forest", "RandomForestClassifier"),
        ("conditional random field", "ChainCRF"),
        ("Bayesian network", "BeliefNetwork"),
        ("sklearn.neighbors.NearestNeighbors", "NearestNeighbors"),
        ("collaborative filtering", "NeighborRecommender"),
        ("gbm", "HistGradientBoostingRegressor"),
        ("svm", "SVC"),
        ("principal component analysis", "PCA"),
    ],
)
def test_methods_are_found_by_their_usual_names(words, name):
    assert name in {method.name for method in find(words)}


def test_every_part_of_a_name_with_synonyms_occurs_in_a_name():
    names = {method.name for method in methods()} | {name for name, _ in all_estimators()}
    names |= set(FORMER_CLASSES)
    assert [part for part in SYNONYMS if not any(part in name for name in names)] == []


def test_a_search_lists_the_method_of_that_name_first():
    assert find("nearest neighbors")[0].name == "NearestNeighbors"


def public_methods(cls: type) -> list[str]:
    """Names of methods of gnomon's that an object answers, apart from ``fit`` and its kin."""
    found = []
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        own = getattr(inspect.unwrap(member), "__module__", "") if callable(member) else ""
        plain = not name.startswith(("_", "fit", "partial_fit", "set_")) and inspect.isfunction(
            member
        )
        if plain and own.startswith("gnomon") and name not in NEED_NO_FIT:
            found.append(name)
    return found


def given(method) -> list:
    """Values for the parameters of a method that have no default."""
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
    wanted = [
        parameter
        for parameter in inspect.signature(method).parameters.values()
        if parameter.default is parameter.empty and parameter.kind < parameter.VAR_POSITIONAL
    ]
    values = {"y": np.array([1.0, 2.0, 2.0])} | dict.fromkeys(WHOLE, 2)
    return [values.get(each.name, rows) for each in wanted]


def outcome(method) -> None:
    found = method(*given(method))
    if inspect.isgenerator(found):
        next(found)


@each("cls", ESTIMATORS)
def test_every_public_method_before_fit_says_that_the_estimator_is_not_fitted(cls):
    estimator = make(cls)
    wrong = []
    for name in public_methods(cls) if get_tags(estimator).requires_fit else ():
        try:
            outcome(getattr(estimator, name))
        except (NotFittedError, NoSummary):  # a penalized fit never has a summary
            continue
        except Exception as error:
            wrong.append(f"{name}: {error!r}")
        else:
            wrong.append(f"{name}: no error")
    assert wrong == []


class Problem(NamedTuple):
    """What a method of another kind is fitted to, and how it is asked."""

    fit: tuple
    ask: tuple  # a method and its arguments
    options: dict[str, Any] = {}


SYMBOLS = np.array([0, 0, 1, 1, 0, 2, 1, 1, 2, 2, 0, 0] * 4)
NUMBERS = np.sin(np.arange(48.0)) + 4 * (np.arange(48) % 16 > 8)
COUNTS = np.column_stack([SYMBOLS, 2 * SYMBOLS + 1])
STEPS = [[[f"w{s}"] for s in part] for part in np.split(SYMBOLS, 4)]
TAGS = [[("N", "V", "D")[s] for s in part] for part in np.split(SYMBOLS, 4)]
SERIES = list(np.split(NUMBERS, 4))
ROWS = np.column_stack([NUMBERS, np.cos(np.arange(48.0))])
CLASSES_OF_SERIES = ["a", "b", "a", "b"]
SOUNDS = [np.column_stack([part, part**2]) for part in SERIES]
WORDS = {"la": "L A", "hi": "H I"}
RATINGS = np.array([[5, 4, 1, np.nan], [5, 5, 1, 2], [1, 2, 5, 5], [4, 5, 2, 1]])
IMAGES = np.random.default_rng(0).uniform(0, 255, (12, 12, 10))
TEXTS = ["red cat and red dog", "the dog saw a cat", "bond and stock", "stock fell, bond rose"] * 3
SCENES = gnomon.vision.make_scenes(24, size=(40, 40), scales=(12, 20), n_objects=1, random_state=0)
LABELS = {"size": NUMBERS.tolist(), "kind": SYMBOLS.astype(str).tolist()}

PROBLEMS = {
    "HiddenMarkovModel": Problem((SERIES,), ("smooth", SERIES)),
    "DurationHMM": Problem((SERIES,), ("smooth", SERIES), {"max_duration": 4, "max_iter": 20}),
    "InputHMM": Problem((SERIES, SERIES), ("smooth", SERIES, SERIES), {"max_iter": 20}),
    "HMMClassifier": Problem(
        (SERIES, CLASSES_OF_SERIES),
        ("predict_proba", SERIES),
        {"model": gnomon.sequence.HiddenMarkovModel(random_state=0)},
    ),
    "ChainCRF": Problem((STEPS, TAGS), ("predict_proba", STEPS)),
    "MaxEntMarkovModel": Problem((STEPS, TAGS), ("predict", STEPS)),
    "MarkovModel": Problem(([SYMBOLS.tolist()],), ("predict_next", [0])),
    "NGramModel": Problem((["abab", "abba"],), ("probabilities", "a"), {"n": 2}),
    "Autoregression": Problem((SERIES,), ("forecast_rows", NUMBERS, 3)),
    "LagRegressor": Problem((SERIES,), ("forecast_rows", NUMBERS, 3)),
    "ETSModel": Problem((SERIES,), ("forecast_rows", NUMBERS, 3), {"trend": "add"}),
    "NaiveForecaster": Problem((SERIES,), ("forecast_rows", NUMBERS, 3)),
    "StructuralModel": Problem((SERIES,), ("forecast_rows", NUMBERS, 3)),
    "LagForecaster": Problem((SERIES,), ("forecast_rows", NUMBERS, 3), {"lags": 3}),
    "WordRecognizer": Problem(
        (SOUNDS, ["la", "hi"] * 2), ("log_likelihood", SOUNDS), {"lexicon": WORDS, "parts": 2}
    ),
    "GaussianHMM": Problem((ROWS, [24, 24]), ("predict_proba", ROWS), {"n_components": 2}),
    "GMMHMM": Problem((ROWS, [24, 24]), ("predict_proba", ROWS), {"n_components": 2, "n_mix": 2}),
    "CategoricalHMM": Problem(
        (SYMBOLS[:, None], [24, 24]), ("predict_proba", SYMBOLS[:, None]), {"n_components": 2}
    ),
    "MultinomialHMM": Problem((COUNTS,), ("predict_proba", COUNTS), {"n_components": 2}),
    "PoissonHMM": Problem((COUNTS,), ("predict_proba", COUNTS), {"n_components": 2}),
    "VectorQuantizer": Problem((SERIES,), ("transform", SERIES), {"size": 4, "n_entries": 3}),
    "DictionaryVote": Problem((SERIES, CLASSES_OF_SERIES), ("predict", SERIES)),
    "TypeHistogramClassifier": Problem((SOUNDS, CLASSES_OF_SERIES), ("histograms", SOUNDS)),
    "RecurrentClassifier": Problem(
        (SERIES, CLASSES_OF_SERIES), ("predict_proba", SERIES), {"n_units": 4, "max_iter": 5}
    ),
    "RecurrentRegressor": Problem(
        (SERIES, SERIES), ("predict", SERIES), {"n_units": 4, "max_iter": 5}
    ),
    "EchoStateRegressor": Problem((SERIES,), ("forecast_rows", NUMBERS, 3), {"n_units": 10}),
    "EchoStateClassifier": Problem(
        (SERIES, CLASSES_OF_SERIES), ("decision_function", SERIES), {"n_units": 10}
    ),
    "FourierNetwork": Problem((SERIES,), ("forecast_rows", NUMBERS, 3)),
    "CountVectorizer": Problem((TEXTS,), ("transform", TEXTS)),
    "TfidfVectorizer": Problem((TEXTS,), ("transform", TEXTS)),
    "HashingVectorizer": Problem((TEXTS,), ("transform", TEXTS), {"n_features": 64}),
    "MultinomialMixture": Problem((TEXTS,), ("transform", TEXTS), {"n_components": 2}),
    "GibbsLDA": Problem((TEXTS,), ("transform", TEXTS), {"n_components": 2, "max_iter": 20}),
    "LatentDirichletAllocation": Problem((TEXTS,), ("transform", TEXTS), {"n_components": 2}),
    "LatentSemanticAnalysis": Problem((TEXTS,), ("search", TEXTS), {"n_components": 2}),
    "CosineIndex": Problem((TEXTS,), ("search", TEXTS)),
    "BM25Index": Problem((TEXTS,), ("search", TEXTS)),
    "Word2Vec": Problem((TEXTS,), ("transform", TEXTS), {"vector_size": 4, "min_count": 1}),
    "GloVe": Problem((TEXTS,), ("transform", TEXTS), {"vector_size": 4, "min_count": 1}),
    "NearestNeighbors": Problem((ROWS,), ("kneighbors", ROWS)),
    "ApproximateNeighbors": Problem((ROWS,), ("kneighbors", ROWS)),
    "NeighborLabels": Problem((ROWS, gnomon.table.Table.from_dict(LABELS)), ("predict", ROWS)),
    "MeanImageSubtraction": Problem((IMAGES,), ("transform", IMAGES)),
    "ImageWhitening": Problem((IMAGES,), ("transform", IMAGES)),
    "ZCAWhitening": Problem((IMAGES,), ("transform", IMAGES)),
    "HOG": Problem((IMAGES,), ("transform", IMAGES), {"pixels_per_cell": (3, 3)}),
    "RectangleFeatures": Problem((IMAGES,), ("transform", IMAGES), {"growth": 2.0, "step": 3}),
    "LocalHistograms": Problem((IMAGES,), ("transform", IMAGES)),
    "HandFeatures": Problem((IMAGES,), ("transform", IMAGES)),
    "PatternDetector": Problem((IMAGES,), ("transform", IMAGES)),
    "DigitCentering": Problem((IMAGES,), ("transform", IMAGES)),
    "EigenfaceClassifier": Problem(
        (IMAGES, ["a", "b", "background"] * 4), ("predict_proba", IMAGES), {"n_components": 3}
    ),
    "ViolaJonesDetector": Problem(
        (SCENES,),
        ("predict", SCENES[:4]),
        {"window": (10, 10), "n_stages": 2, "max_stumps": 5, "n_negatives": 200},
    ),
    "YoloDetector": Problem(
        (SCENES,), ("predict", SCENES[:4]), {"filters": 3, "max_iter": 2, "threshold": 0.01}
    ),
    "RCNNDetector": Problem(
        (SCENES,),
        ("predict", SCENES[:4]),
        {"window": (8, 8), "n_proposals": 20, "filters": 2, "max_iter": 1, "threshold": 0.01},
    ),
    "FastRCNNDetector": Problem(
        (SCENES,),
        ("predict", SCENES[:4]),
        {"n_proposals": 20, "filters": 2, "max_iter": 1, "threshold": 0.01},
    ),
    "FasterRCNNDetector": Problem(
        (SCENES,), ("predict", SCENES[:4]), {"filters": 2, "max_iter": 1, "threshold": 0.01}
    ),
    "RegionProposalNetwork": Problem(
        (SCENES,), ("predict", SCENES[:4]), {"filters": 2, "max_iter": 1, "threshold": 0.01}
    ),
    "SlidingWindowDetector": Problem(
        (SCENES,), ("predict", SCENES[:4]), {"window": (12, 12), "n_hard": 0}
    ),
    "NeighborRecommender": Problem((RATINGS,), ("predict", [0, 1], [3, 3])),
}
OTHERS = [cls for cls in ESTIMATORS if cls.__name__ in PROBLEMS]
WITH_CALLBACKS = ("gnomon.sequence", "gnomon.neural", "gnomon.text")
RANDOM_PARTS = {"DictionaryVote": {"quantizer": {"size": 4, "n_entries": 3}}}


def new(cls: type, **changes: Any):
    """An estimator with the parameters of its problem."""
    made = make(cls, **(PROBLEMS[cls.__name__].options | changes))
    for name, values in RANDOM_PARTS.get(cls.__name__, {}).items():
        getattr(made, name).set_params(**values)
    if cls.__name__ in ("DictionaryVote", "TypeHistogramClassifier"):
        made.classifier.set_params(n_neighbors=1)
    return made


def fitted(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(*PROBLEMS[type(estimator).__name__].fit)


@cache
def shared(cls: type):
    """One fit for many tests, which do not change it."""
    return fitted(new(cls))


def answer(estimator) -> str:
    """What a fitted estimator answers, as text of full precision."""
    name, *arguments = PROBLEMS[type(estimator).__name__].ask
    return written(getattr(estimator, name)(*arguments))


def written(found: Any) -> str:
    if hasattr(found, "toarray"):
        return written(found.toarray())
    if hasattr(found, "arrow"):
        return str(found.arrow.to_pylist())
    if isinstance(found, (list, tuple)):
        return ", ".join(written(part) for part in found)
    if hasattr(found, "boxes"):
        return ", ".join(written(part) for part in (found.boxes, found.scores, found.labels))
    return repr(np.asarray(found).tolist())


def test_every_method_of_another_kind_has_a_problem():
    others = [method for method in methods() if method.takes not in ("table", "graph")]
    assert {method.name for method in others} == set(PROBLEMS)


@each("cls", OTHERS)
def test_it_is_an_estimator_that_can_be_cloned_and_describes_itself(cls):
    estimator = new(cls)
    assert isinstance(estimator, Estimator)
    assert clone(estimator).get_params().keys() == estimator.get_params().keys()
    text = inspect.getdoc(cls)
    assert re.search(r"\b[Uu]se\b", text)
    assert re.search(r"\b(not|no|instead|prefer)\b", text, re.IGNORECASE)
    assert "Texts" in text + inspect.getdoc(inspect.getmodule(cls))
    for parameter in inspect.signature(cls).parameters:
        assert re.search(rf"^( *\w+, )*{parameter}(, \w+)* :", text, re.MULTILINE), parameter


@each("cls", OTHERS)
def test_the_example_of_the_docstring_runs_by_itself(cls):
    parsed = doctest.DocTestParser().get_doctest(cls.__doc__, {}, cls.__name__, None, 0)
    assert parsed.examples
    assert doctest.DocTestRunner().run(parsed).failed == 0


@each("cls", OTHERS)
def test_every_parameter_is_in_the_table_and_a_wrong_one_is_refused(cls):
    names = set(inspect.signature(cls).parameters)
    assert set(cls._parameter_constraints) >= names
    for name in names:
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of {cls.__name__}"):
            fitted(new(cls).set_params(**{name: object()}))


@each("cls", OTHERS)
def test_fitting_again_gives_the_same_bits(cls):
    assert answer(fitted(new(cls))) == answer(shared(cls))


@each("cls", [cls for cls in OTHERS if "n_jobs" in inspect.signature(cls).parameters])
def test_the_number_of_threads_changes_no_bit(cls):
    assert answer(fitted(new(cls, n_jobs=2))) == answer(fitted(new(cls, n_jobs=1)))


@each("cls", OTHERS)
def test_a_model_file_keeps_the_answers_to_the_bit(cls, tmp_path):
    loaded = gnomon.load(shared(cls).save(tmp_path / "model.gnomon"))
    assert answer(loaded) == answer(shared(cls))


@pytest.mark.parametrize(
    "model",
    [
        gnomon.sequence.MarkovModel(0),
        gnomon.sequence.MarkovModel(9, sparse=True),
        gnomon.sequence.MarkovModel(2, alpha=1.0),
        gnomon.sequence.HiddenMarkovModel(2, gnomon.sequence.CategoricalEmission(), random_state=0),
        gnomon.sequence.ChainCRF(pairs="all"),
    ],
    ids=["order 0", "order 9", "order 2", "symbols", "all pairs"],
)
def test_a_model_of_words_is_loaded_with_other_options_too(model, tmp_path):
    given = [list("abbabaabbaababba")] * 3
    if isinstance(model, gnomon.sequence.ChainCRF):
        fitted = clone(model).fit([[[step] for step in each] for each in given], given)
        loaded = gnomon.load(fitted.save(tmp_path / "model.gnomon"))
        assert written(loaded.theta_) == written(fitted.theta_)
        return
    fitted = clone(model).fit(given)
    loaded = gnomon.load(fitted.save(tmp_path / "model.gnomon"))
    assert loaded.score(given) == fitted.score(given)


@each("cls", [cls for cls in OTHERS if "history_ :" in cls.__doc__])
def test_the_course_of_a_fit_is_recorded(cls):
    model = shared(cls)
    assert isinstance(model.history_, History)
    assert len(model.history_) - model.n_iter_ in (0, 1)
    assert np.isfinite(np.asarray(model.history_)).all()
    assert model.history_.stopped in {"converged", "max_iter", "done"}


class Stopping:
    """Counts finished iterations and asks to stop after the first."""

    def __init__(self):
        self.events: list[str] = []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append("begin" if context.parent is None else "step")

    def on_fit_task_end(self, estimator, context):
        self.events.append("end" if context.parent is None else "stepped")
        return context.parent is not None


@each("cls", [cls for cls in OTHERS if cls.__module__.startswith(WITH_CALLBACKS)])
def test_callbacks_see_the_fit_and_can_stop_it(cls, capsys):
    callback = Stopping()
    model = fitted(new(cls).set_callbacks(callback))
    assert [event for event in callback.events if "step" not in event] == [
        "setup",
        "begin",
        "end",
        "teardown",
    ]
    steps = callback.events.count("step")
    assert steps == callback.events.count("stepped")
    if hasattr(model, "history_"):
        assert steps == 1
        assert model.history_.stopped in ("callback", "converged")
    assert answer(fitted(new(cls).set_callbacks(ProgressBar()))) == answer(shared(cls))
    assert cls.__name__ in capsys.readouterr().out


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_with_lengths_is_the_list_of_its_sequences(order):
    X = np.asarray(ROWS, order=order)
    for cls in (gnomon.sequence.HiddenMarkovModel, gnomon.sequence.DurationHMM):
        model = cls(2, max_iter=5, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = clone(model).fit([X[:20], X[20:]])
            flat = clone(model).fit(X, lengths=[20, 28])
        assert written(flat.smooth([X])) == written(parts.smooth([X]))
        assert flat.score(X, lengths=[20, 28]) == parts.score([X[:20], X[20:]])


def test_an_array_alone_is_one_sequence_of_its_rows():
    model = gnomon.sequence.Autoregression().fit(ROWS)
    assert written(model.coef_) == written(gnomon.sequence.Autoregression().fit([ROWS]).coef_)
    assert len(shared(gnomon.sequence.GaussianHMM).predict(ROWS)) == len(ROWS)
    hidden = gnomon.sequence.HiddenMarkovModel(2, random_state=0).fit(ROWS)
    assert [len(path) for path in hidden.predict(ROWS)] == [len(ROWS)]


def test_known_states_are_cut_where_the_rows_are_cut():
    states = (SYMBOLS > 0).astype(int)
    model = gnomon.sequence.HiddenMarkovModel(2, random_state=0)
    model.fit(ROWS, states, lengths=[24, 24])
    parts = gnomon.sequence.HiddenMarkovModel(2, random_state=0).fit(
        [ROWS[:24], ROWS[24:]], [states[:24], states[24:]]
    )
    assert written(model.transition_) == written(parts.transition_)


@pytest.mark.parametrize(
    ("X", "lengths", "words"),
    [
        (ROWS, [10, 10], "lengths sum to 20, but X has 48 rows"),
        (ROWS, [48, 0], "lengths must be whole numbers, 1 or more"),
        (ROWS, [24.5, 23.5], "lengths must be whole numbers, 1 or more"),
        (NUMBERS, None, "a 1-D array is not a list of sequences"),
    ],
)
def test_wrong_forms_of_sequences_are_refused_with_the_remedy(X, lengths, words):
    with pytest.raises(ValueError, match=words):
        gnomon.sequence.HiddenMarkovModel(2).fit(X, lengths=lengths)


def test_first_values_in_fortran_order_give_the_same_fit():
    start, moves = np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.3, 0.7]])
    means, spread = np.array([[0.0, 0.0], [4.0, 0.5]]), np.tile(np.eye(2), (2, 1, 1))
    found = []
    for order in "CF":
        law = gnomon.sequence.GaussianEmission(
            means=np.asarray(means, order=order), covariances=np.asarray(spread, order=order)
        )
        table = np.asarray(moves, order=order)
        model = gnomon.sequence.HiddenMarkovModel(
            2, law, start=start, transition=table, max_iter=500
        )
        found.append(written(model.fit([np.asarray(ROWS, order=order)]).smooth([ROWS])))
        peer = gnomon.sequence.GaussianHMM(2, init_params="", n_iter=3)
        peer.startprob_, peer.transmat_, peer.means_ = start, table, np.asarray(means, order=order)
        peer.covars_ = np.ones((2, 2))
        found.append(written(peer.fit(np.asarray(ROWS, order=order)).predict_proba(ROWS)))
    assert found[:2] == found[2:]


NETWORK_CALLS = [
    (gnomon.graphical.BeliefNetwork, {"a": [0, 1, 1, 0], "b": [0, 1, 1, 1]}, "marginals"),
    (gnomon.graphical.GaussianNetwork, {"a": [0.0, 1.0, 2.0], "b": [1.0, 2.0, 4.0]}, "joint"),
]


@pytest.mark.parametrize(("cls", "data", "name"), NETWORK_CALLS)
def test_networks_are_learned_saved_and_loaded(cls, data, name, tmp_path):
    network = cls.fit(data, {"a": (), "b": ("a",)})
    loaded = gnomon.load(network.save(tmp_path / "network.gnomon"))
    assert str(getattr(loaded, name)()) == str(getattr(network, name)())
    with pytest.raises(ValueError, match="c"):
        cls.fit(data, {"c": ("a",)})
    assert {method.cls for method in methods("graph")} == {call[0] for call in NETWORK_CALLS}


def test_former_names_in_british_spelling_answer_with_a_warning():
    with pytest.warns(FutureWarning, match="WordRecognizer"):
        assert gnomon.sequence.WordRecogniser is gnomon.sequence.WordRecognizer
    table = gnomon.graphical.JointTable([[0.1, 0.3], [0.2, 0.4]], {"x": "ab", "y": "cd"})
    with pytest.warns(FutureWarning, match=r"JointTable\.marginalize"):
        former = table.marginalise("y")
    np.testing.assert_array_equal(former.values, table.marginalize("y").values)
