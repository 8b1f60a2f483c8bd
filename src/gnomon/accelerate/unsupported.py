"""The exception by which a routine of ours leaves a call to scikit-learn."""

from __future__ import annotations


class Unsupported(Exception):
    """This call is not for us: scikit-learn's own routine runs.

    Parameters
    ----------
    reason : str
        Why, for the report.
    waits : bool, default=False
        Whether the call would be accelerated if the compiled code were loaded already.
    """

    def __init__(self, reason: str, waits: bool = False):
        super().__init__(reason)
        self.waits = waits


def require(condition: object, reason: str) -> None:
    """Leave the call to scikit-learn unless the condition holds."""
    if not condition:
        raise Unsupported(reason)
