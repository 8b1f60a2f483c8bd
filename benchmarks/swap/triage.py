"""Which lost tests say nothing about the interface, and in what way the others differ.

The first table holds the verdicts "not applicable" of the triage that issue 18 gives: a test reads
a private attribute, mocks scikit-learn's internals, or compares the exact text of a message whose
type is right. The second sorts what is left by the error that the test ends with.
"""

from __future__ import annotations

import re

NOT_APPLICABLE = (  # "Class test | error", reason
    (r"\| AttributeError: .*(has no attribute|'s) '_\w+'", "private attribute"),
    (r"\| NotFittedError: .* it has no '_\w+'", "private attribute"),
    (r"\| AttributeError: .* does not have the attribute '_\w+'", "private attribute"),
    (r"\| ModuleNotFoundError|\| ImportError", "private module"),
    (r"\| \w*(AssertionError|Failed): Regex pattern did not match", "text of a message"),
    (r"\| AssertionError: (Pattern|Regex).*(not )?match", "text of a message"),
    (r"\| AssertionError: .*(should be raised|Did not find|not found in)", "text of a message"),
    (r"deprecat|futurewarning|default_copy_warning", "a deprecation of scikit-learn"),
    (r"pyamg_not_available|test_warning_elkan_1_cluster|immutable_coef|probA_probB", "internals"),
    (r"test_inplace_data_preprocessing", "copy_X=False must overwrite X"),
    (r"^Normalizer .*test_normalizer_l1_l2_max", "copy=False must overwrite X"),
    (r"^PowerTransformer .*copy_False", "copy=False must overwrite X"),
    (r"^SVC .*test_tweak_params", "writes into dual_coef_"),
    (r"^GaussianMixture .*(all_init_does_not_estimate|convergence_warning)", "mocks internals"),
    (r"^(RandomForest|Bagging)\w+ .*(oob_warning|test_oob_score_)", "text of a message"),
    (r"^RandomForestClassifier .*test_backend_respected", "backends of joblib"),
    (r"^Isomap .*test_multiple_connected_components$", "text of a message"),
    (r"^LogisticRegression .*test_max_iter\[", "text of a message"),
    (r"^LinearSVC .*test_linear_svm_convergence_warnings", "text of a message"),
    (
        r"^DecisionTree\w+ .*(apply_sparse_trees|on_sparse_input|test_big_input|huge_allocations)",
        "compiled internals",
    ),
    (
        r"^LogisticRegression .*(liblinear|lbfgs|newton_cholesky|test_check_solver_option|"
        r"warns_with_n_jobs|callback_support)",
        "a particular solver of scikit-learn",
    ),
    (r"^Ridge .*(sparse_error|sparse_sag|lbfgs_solver_error)", "a particular solver"),
    (r"^ElasticNet .*(incorrect_gram|overridden_gram)", "Gram matrix given"),
)

KINDS = (
    (r"Timeout", "time limit"),
    (r"^did not run", "did not run"),
    (r"^InvalidParameterError|unexpected keyword|takes .* positional", "parameter or value"),
    (r"^NotImplementedError", "parameter or value"),
    (r"^AttributeError", "attribute or method"),
    (r"[Ss]parse", "sparse input"),
    (r"1d array|several outputs|one target|multi-?output|multilabel", "several outputs"),
    (r"^Failed: DID NOT (RAISE|WARN)", "error or warning absent"),
    (r"Warning: ", "a warning where there is none"),
    (r"dtype|float32", "dtype"),
    (r"^AssertionError.*(Not equal|not almost equal|Arrays are not)", "other numbers"),
    (r"^AssertionError", "other result"),
    (r"^(ValueError|TypeError|IndexError|KeyError)", "refused input"),
)


def not_applicable(name: str, row: dict) -> str | None:
    """Why a lost test of the class says nothing about it, if so."""
    label = f"{name} {row['id']} | {row.get('error', 'did not run')}"
    return next((why for pattern, why in NOT_APPLICABLE if re.search(pattern, label)), None)


def kind_of(row: dict) -> str:
    """In what way a lost test differs, by its error."""
    error = " ".join(row.get("error", "did not run").split())
    return next((kind for pattern, kind in KINDS if re.search(pattern, error)), "another error")
