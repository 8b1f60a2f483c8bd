"""From which size on a call is accelerated: one table, measured against scikit-learn 1.9.

Below `SMALLEST` scikit-learn's routine is as fast or faster. Routines with compiled kernels pay
once per process for loading them, about `FIRST_USE` seconds: a single call below `LARGE` does
not pay for that, so such calls stay with scikit-learn until they have taken that long together.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Iterator

from gnomon.accelerate.unsupported import Unsupported

# Seconds for importing numba and a package of methods and for reading its kernels from the cache;
# and for kernels of this package, which need no other.
FIRST_USE, FIRST_USE_OF_OWN = 1.0, 0.5
OWN = "gnomon.accelerate.tree_kernel"

# The ratio of processor time at these sizes is 1.1 or more, or threads gain.
SMALLEST: dict[str, float] = {
    "coordinate descent": 10_000,  # cells
    "dbscan": 1_000,  # rows
    "forest": 100_000,  # cells times trees
    "forest predictions": 50_000,  # rows times trees
    "isolation forest": 20,  # trees
    "k-means": 1e6,  # rows times centers
    "kernel density": 100_000,  # pairs of rows
    "least squares": 100_000,  # cells
    "linear loss": 2e6,  # cells times classes
    "mixture": 200_000,  # cells times components
    "moments": 1e6,  # cells
    "naive Bayes": 500_000,  # cells times classes
    "neighbors": 1e6,  # distances and their columns that a search computes, about
    "paths": 200,  # nodes
    "quantile": 2_000,  # cells
    "scaling": 100,  # rows
    "support vector predictions": 1e6,  # cells of the support vectors times rows
    "support vectors": 5e6,  # pairs of rows times columns
    "tree": 2_000,  # cells
    "ward": 500,  # rows
}
# Counted alike: a call of this size takes scikit-learn more than two seconds.
LARGE: dict[str, float] = {
    "dbscan": 100_000,
    "k-means": 5e6,
    "kernel density": 2e7,
    "neighbors": 1e10,
    "paths": 2_500,
    "quantile": 50_000,
    "scaling": 1_500,
    "tree": 1e7,
    "ward": 6_000,
}

_always = False
_waited = 0.0
_call = threading.local()


def set_always(always: bool) -> None:
    """Whether every size is accelerated (for tests)."""
    global _always, _waited
    _always, _waited = always, 0.0


def waited(seconds: float) -> None:
    """Note how long scikit-learn took for calls that only wait for compiled code."""
    global _waited
    _waited += seconds


@contextlib.contextmanager
def call_of(needs: str | None) -> Iterator[None]:
    """The routine that runs now needs this module."""
    outer = getattr(_call, "needs", None)
    _call.needs = needs
    try:
        yield
    finally:
        _call.needs = outer


def worth(name: str, work: float) -> None:
    """Leave the call to scikit-learn where it is too small; load the compiled code otherwise.

    Parameters
    ----------
    name : str
        The entry of `SMALLEST` (and `LARGE`).
    work : float
        The size of this call.
    """
    needs = getattr(_call, "needs", None)
    if not _always:
        if work < SMALLEST[name]:
            raise Unsupported("small input")
        unloaded = needs is not None and needs not in sys.modules
        cost = FIRST_USE_OF_OWN if needs == OWN else FIRST_USE
        if unloaded and work < LARGE[name] and _waited < cost:
            raise Unsupported("loading the compiled code would take longer", waits=True)
    if needs is not None:
        importlib.import_module(needs)


def faster_if(condition: object, reason: str) -> None:
    """Leave the call to scikit-learn where its shape makes it no faster here."""
    if not condition and not _always:
        raise Unsupported(reason)
