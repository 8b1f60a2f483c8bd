"""What other libraries score on the same training and test rows.

Each peer is given the training rows as a pandas data frame and returns what it says of the test
rows: classes and scores, or numbers. A peer that does not suit a table returns None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

MOST_ROWS_OF_KERNELS = 8_000
LONG_TEXT = 3.0  # words in the mean cell


class Said(NamedTuple):
    """Predictions; of classes also scores, one column per class, and the classes."""

    predictions: np.ndarray
    scores: np.ndarray | None = None
    classes: np.ndarray | None = None


def text_columns(X: pd.DataFrame) -> list[str]:
    """Columns of free text: many distinct cells of several words."""
    found = []
    for name in X.columns:
        cells = X[name].dropna().astype(str)
        if is_numeric_dtype(X[name]) or cells.nunique() < 0.3 * len(cells):
            continue
        if cells.str.count(r"\s+").mean() >= LONG_TEXT - 1:
            found.append(name)
    return found


def other_columns(X: pd.DataFrame) -> list[str]:
    """All columns but those of free text."""
    texts = set(text_columns(X))
    return [name for name in X.columns if name not in texts]


def lightgbm(
    train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame, classify: bool, seconds: float
):
    """LightGBM with its defaults on numbers and categories."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    names = other_columns(train)
    if not names:
        return None
    train, test = as_categories(train[names], test[names])
    model = (LGBMClassifier if classify else LGBMRegressor)(verbose=-1, n_jobs=1)
    return said_by(model.fit(train, y), test, classify)


def as_categories(train: pd.DataFrame, test: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Columns that are no numbers as categories, in names that LightGBM takes."""
    columns_one, columns_two = {}, {}
    for place, name in enumerate(train.columns):
        if is_numeric_dtype(train[name]):
            columns_one[f"c{place}"], columns_two[f"c{place}"] = train[name], test[name]
            continue
        kind = pd.CategoricalDtype(sorted(train[name].dropna().astype(str).unique()))
        columns_one[f"c{place}"] = (
            train[name].astype(object).map(str, na_action="ignore").astype(kind)
        )
        columns_two[f"c{place}"] = (
            test[name].astype(object).map(str, na_action="ignore").astype(kind)
        )
    one, two = pd.DataFrame(columns_one, train.index), pd.DataFrame(columns_two, test.index)
    return one, two


def linear_text(
    train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame, classify: bool, seconds: float
):
    """TF-IDF of words and bigrams with a linear support vector machine."""
    names = text_columns(train)
    if not names or not classify:
        return None
    joined = [part[names].fillna("").astype(str).agg(" ".join, axis=1) for part in (train, test)]
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LinearSVC())
    return said_by(model.fit(joined[0], y), joined[1], classify)


def kernel_machine(
    train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame, classify: bool, seconds: float
):
    """SVC or SVR with their defaults on standardized columns and one-hot categories."""
    names = other_columns(train)
    if not names or len(train) > MOST_ROWS_OF_KERNELS:
        return None
    numeric = [name for name in names if is_numeric_dtype(train[name])]
    others = [name for name in names if name not in numeric]
    filled = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    coded = OneHotEncoder(handle_unknown="ignore", max_categories=100)
    columns = make_column_transformer((filled, numeric), (coded, others))
    if classify:
        return said_by(make_pipeline(columns, SVC()).fit(train, y), test, classify)
    center, scale = y.mean(), y.std() or 1.0
    model = make_pipeline(columns, SVR()).fit(train, (y - center) / scale)
    return Said(model.predict(test) * scale + center)


def flaml(train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame, classify: bool, seconds: float):
    """FLAML for as many seconds as ours, where it is installed."""
    try:
        from flaml.automl.automl import AutoML
    except ImportError:
        return None
    # LightGBM, which it tries, takes no special characters in names
    train, test = (
        part.set_axis([f"c{j}" for j in range(part.shape[1])], axis=1) for part in (train, test)
    )
    model = AutoML()
    model.fit(
        train,
        y,
        task="classification" if classify else "regression",
        time_budget=seconds,
        verbose=0,
    )
    return said_by(model, test, classify)


def autogluon(
    train: pd.DataFrame, y: np.ndarray, test: pd.DataFrame, classify: bool, seconds: float
):
    """AutoGluon for as many seconds as ours, where it is installed."""
    try:
        from autogluon.tabular import TabularPredictor
    except ImportError:
        return None
    model = TabularPredictor("y", verbosity=0).fit(train.assign(y=y), time_limit=seconds)
    if not classify:
        return Said(model.predict(test).to_numpy())
    scores = model.predict_proba(test)
    return Said(model.predict(test).to_numpy(), scores.to_numpy(), np.asarray(scores.columns))


def said_by(model: Any, test: Any, classify: bool) -> Said:
    """Predictions of a fitted model of scikit-learn's kind."""
    predictions = np.asarray(model.predict(test))
    if not classify:
        return Said(predictions)
    if hasattr(model, "predict_proba"):
        return Said(predictions, np.asarray(model.predict_proba(test)), np.asarray(model.classes_))
    scores = np.asarray(model.decision_function(test))
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores])
    return Said(predictions, scores, np.asarray(model.classes_))


PEERS: dict[str, Callable[..., Said | None]] = {
    "LightGBM": lightgbm,
    "TF-IDF + linear SVM": linear_text,
    "SVC / SVR": kernel_machine,
    "FLAML": flaml,
    "AutoGluon": autogluon,
}
