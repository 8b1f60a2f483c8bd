"""Every estimator is a scikit-learn estimator: all of its common tests, none expected to fail."""

from __future__ import annotations

import warnings

import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import (
    check_all_zero_sample_weights_error,
    check_dataframe_column_names_consistency,
    check_get_feature_names_out_error,
    check_global_output_transform_pandas,
    check_global_set_output_transform_polars,
    check_param_validation,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
    parametrize_with_checks,
)

from gnomon.contract import SumLearner
from gnomon.engine.estimator import Estimator
from gnomon.engine.registry import methods
from tests.contract.cases import CLASSES, each, every_method, make, takes_weights

TRANSFORMERS = [cls for cls in CLASSES if hasattr(cls, "transform")]
NAMING = [cls for cls in CLASSES if hasattr(cls, "get_feature_names_out")]
WEIGHTED = [cls for cls in CLASSES if takes_weights(make(cls))]
SET_OUTPUT_CHECKS = [
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_global_output_transform_pandas,
    check_set_output_transform_polars,
    check_global_set_output_transform_polars,
]


def quietly(check, estimator) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(type(estimator).__name__, estimator)


def test_the_registry_holds_methods_that_are_estimators():
    for method in methods("table"):
        assert issubclass(method.cls, Estimator), method.name
        assert method.use, method.name
        assert method.avoid, method.name
        assert method.texts, method.name


@parametrize_with_checks([make(cls) for cls in CLASSES])
def test_common_test_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", SkipTestWarning)
        check(estimator)


@every_method
def test_names_of_columns_are_kept_and_compared(cls):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        check_dataframe_column_names_consistency(cls.__name__, make(cls))
    assert not [each for each in told if "fitted without feature names" in str(each.message)]


@every_method
def test_wrong_parameters_are_refused_from_one_table(cls):
    quietly(check_param_validation, make(cls))


@each("cls", TRANSFORMERS)
def test_transformers_name_their_columns(cls):
    quietly(check_transformer_get_feature_names_out, make(cls))
    quietly(check_transformer_get_feature_names_out_pandas, make(cls))


@each("cls", NAMING)
def test_an_unfitted_estimator_cannot_name_its_columns(cls):
    quietly(check_get_feature_names_out_error, make(cls))


@pytest.mark.parametrize("check", SET_OUTPUT_CHECKS, ids=lambda check: check.__name__)
@each("cls", TRANSFORMERS)
def test_transformers_give_the_frames_that_are_asked_for(cls, check):
    assert hasattr(make(cls), "set_output")
    quietly(check, make(cls))


@each("cls", WEIGHTED)
def test_weights_that_are_all_zero_are_refused(cls):
    quietly(check_all_zero_sample_weights_error, make(cls))


@every_method
def test_every_learner_takes_weights(cls):
    if issubclass(cls, SumLearner) or hasattr(cls, "predict"):
        assert takes_weights(make(cls))
