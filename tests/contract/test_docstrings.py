"""Every estimator explains itself: parameters, defaults, attributes, an example.

The examples themselves run as doctests of `src`.
"""

from __future__ import annotations

import inspect
import re

import numpy as np
from numpydoc.docscrape import ClassDoc, FunctionDoc
from numpydoc.validate import validate

from tests.contract.cases import every_method, parameters_of

# What numpydoc asks for and the project's form does not: sections See Also, Extended Summary as a
# separate paragraph and Notes are written where they help, and a summary line may be long.
UNNEEDED = {"SA01", "SA04", "ES01", "EX01", "GL01", "GL02", "GL03", "GL08", "PR06", "PR08", "PR09"}
UNNEEDED |= {"RT02", "RT03", "RT05", "SS05", "SS06", "PR07", "RT04", "SS03", "YD01"}
PUBLIC = ("fit", "predict", "predict_proba", "transform", "score_samples", "fit_predict")


def documented(entries) -> dict[str, str]:
    """Name to type, also where one entry documents several names."""
    return {name.strip(): entry.type for entry in entries for name in entry.name.split(",")}


@every_method
def test_docstring_is_of_numpys_form(cls):
    found = validate(f"{cls.__module__}.{cls.__qualname__}")
    errors = [(code, text) for code, text in found["errors"] if code not in UNNEEDED]
    assert errors == []


@every_method
def test_every_parameter_is_documented_in_order_with_its_default(cls):
    parameters = documented(ClassDoc(cls)["Parameters"])
    assert list(parameters) == list(parameters_of(cls))
    for name, parameter in parameters_of(cls).items():
        kind = parameters[name]
        if parameter.default is inspect.Parameter.empty:
            assert "default" not in kind, f"{name} has no default"
            continue
        stated = re.search(r"default=(.+)$", kind)
        assert stated, f"{name} : {kind!r} states no default"
        assert same_default(stated[1], parameter.default), f"{name}: {stated[1]}"


def same_default(stated: str, default) -> bool:
    stated = stated.strip().strip("`").replace("np.inf", "inf").replace("numpy.inf", "inf")
    if isinstance(default, str):
        return stated.strip("\"'") == default
    if inspect.isfunction(default) or inspect.isclass(default):
        return stated == default.__name__
    if isinstance(default, float):
        return float(stated) == default or (np.isnan(default) and stated == "nan")
    return stated == repr(default)


@every_method
def test_every_fitted_attribute_is_documented_and_every_documented_one_exists(cls, on_numbers):
    estimator = on_numbers.estimator
    attributes = documented(ClassDoc(cls)["Attributes"])
    fitted = {n for n in vars(estimator) if n.endswith("_") and not n.startswith("_")}
    assert fitted <= set(attributes)
    named = {"feature_names_in_", "encoder_", "target_name_"}
    missing = [n for n in attributes if n not in named and not hasattr(estimator, n)]
    unset = [
        name for name in missing if not re.search(r"(?i)\b(only|where|if|with)\b", about(cls, name))
    ]
    assert unset == []


def about(cls, name: str) -> str:
    entries = ClassDoc(cls)["Attributes"]
    return next(" ".join([e.type, *e.desc]) for e in entries if name in e.name)


@every_method
def test_docstring_says_when_to_use_it_and_gives_an_example(cls):
    text = inspect.getdoc(cls)
    assert ">>>" in "\n".join(ClassDoc(cls)["Examples"])
    assert re.search(r"\b[Uu]se\b", text), "does not say when to use it"
    assert re.search(r"\b(not|no|avoid|instead)\b", text, re.IGNORECASE), "does not say when not"


@every_method
def test_its_module_names_the_texts(cls):
    text = f"{inspect.getdoc(cls)} {inspect.getdoc(inspect.getmodule(cls))}"
    assert re.search(r"Texts?\b|\b00[0-4][a-z]?\b", text)


@every_method
def test_public_methods_document_what_they_take(cls):
    for name in PUBLIC:
        method = getattr(cls, name, None)
        if method is None or not method.__module__.startswith("gnomon"):
            continue
        taken = set(inspect.signature(method).parameters) - {"self"}
        named = {each.lstrip("*") for each in documented(FunctionDoc(method)["Parameters"])}
        assert named == taken, name
        assert FunctionDoc(method)["Returns"], name
