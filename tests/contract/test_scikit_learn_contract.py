"""Every estimator is a scikit-learn estimator: all of its common tests, none expected to fail."""

from __future__ import annotations

import contextlib
import functools
import unittest
import warnings

import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import (
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
    estimator_checks_generator,
)
from sklearn.utils.validation import has_fit_parameter

from gnomon.contract import SumLearner
from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.estimator import Estimator
from gnomon.engine.registry import methods
from tests.contract.cases import (
    CLASSES,
    Failures,
    each,
    each_path,
    every_method,
    every_path,
    make,
    peer_of,
    takes_weights,
)

# A search transforms where the estimator inside does.
TRANSFORMERS = [cls for cls in CLASSES if hasattr(make(cls), "transform")]
NAMING = [cls for cls in CLASSES if hasattr(cls, "get_feature_names_out")]
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


# scikit-learn compares weights with repetitions to 1e-7: iterations must go on until then, as in
# its own table of parameters for this check.
CONVERGED = {cls: {"tol": 1e-10} for cls in ("ElasticNetCV", "LassoCV")}
# Checks of the intake of arrays, targets and weights, which no method has code of its own for, and
# repetitions of a check with the same rows in another container.
OF_THE_FRAME = {
    "check_all_zero_sample_weights_error",
    "check_array_api_input",
    "check_classifier_data_not_an_array",
    "check_classifiers_regression_target",
    "check_complex_data",
    "check_dict_unchanged",
    "check_dtype_object",
    "check_estimator_sparse_matrix",
    "check_estimators_empty_data_messages",
    "check_estimators_nan_inf",
    "check_estimators_pickle",
    "check_fit1d",
    "check_fit2d_predict1d",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_readonly_memmap_input",
    "check_regressor_data_not_an_array",
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_not_overwritten",
    "check_sample_weights_pandas_series",
    "check_sample_weights_shape",
    "check_supervised_y_2d",
    "check_supervised_y_no_nan",
    "check_transformer_data_not_an_array",
}


def is_of_the_frame(check: functools.partial) -> bool:
    return check.func.__name__ in OF_THE_FRAME or "readonly_memmap" in check.keywords


def run_checks(estimator, wanted) -> None:
    """Run the checks of scikit-learn's that are wanted, and fail with all failures."""
    ran = 0
    with Failures() as failures:
        for checked, check in estimator_checks_generator(estimator):
            if wanted(check):
                ran += 1
                with failures.case(f"{check.func.__name__} {check.keywords or ''}"):
                    run_check(check, checked)
    assert ran > 10


def run_check(check, estimator) -> None:
    with warnings.catch_warnings(), contextlib.suppress(unittest.SkipTest):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", SkipTestWarning)
        check(estimator)


@every_method
def test_common_tests_of_scikit_learn(cls):
    run_checks(
        make(cls, **CONVERGED.get(cls.__name__, {})), lambda check: not is_of_the_frame(check)
    )


@every_path
def test_common_tests_of_scikit_learn_for_the_frame(cls):
    run_checks(make(cls), is_of_the_frame)


@every_path
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
@each_path("cls", TRANSFORMERS)
def test_transformers_give_the_frames_that_are_asked_for(cls, check):
    assert hasattr(make(cls), "set_output")
    quietly(check, make(cls))


@every_method
def test_every_learner_takes_weights(cls):
    """A class that computes by scikit-learn's takes them where that one does."""
    if issubclass(cls, OverScikitLearn):
        assert takes_weights(make(cls)) == has_fit_parameter(peer_of(cls), "sample_weight")
    elif issubclass(cls, SumLearner) or hasattr(cls, "predict"):
        assert takes_weights(make(cls))
