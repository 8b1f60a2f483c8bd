"""Cross-validation and curves under scikit-learn's names: its functions, with its results.

`cross_validation_estimates`, `learning_curve_estimates` and `validation_curve_estimates` are those
of this library: their results have intervals and tests. Up to version 0.1 they had scikit-learn's
names; calls with their own parameters still reach them, with a warning.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from sklearn import model_selection

from gnomon.evaluate.cross_validation import cross_validation_estimates
from gnomon.evaluate.curves import learning_curve_estimates, validation_curve_estimates


def as_scikit_learn(theirs: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    """scikit-learn's function; calls that only ours understands are passed on to ours.

    Parameters
    ----------
    theirs : callable
        The function of scikit-learn.
    ours : callable
        The function of this library that had the same name before.

    Returns
    -------
    function : callable
    """
    signature = inspect.signature(theirs)
    own = set(inspect.signature(ours).parameters) - set(signature.parameters)
    positional = [p for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]

    @functools.wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        if own.isdisjoint(kwargs) and len(args) <= len(positional):
            return theirs(*args, **kwargs)
        warnings.warn(
            f"gnomon.evaluate.{theirs.__name__} is scikit-learn's function now; with "
            f"{', '.join(sorted(own & set(kwargs))) or 'these arguments'} call {ours.__name__}",
            FutureWarning,
            stacklevel=2,
        )
        return ours(*args, **kwargs)

    return function


cross_validate = as_scikit_learn(model_selection.cross_validate, cross_validation_estimates)
learning_curve = as_scikit_learn(model_selection.learning_curve, learning_curve_estimates)
validation_curve = as_scikit_learn(model_selection.validation_curve, validation_curve_estimates)
