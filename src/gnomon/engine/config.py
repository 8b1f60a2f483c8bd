"""Settings that hold for the whole process: ``gnomon.config(memory_limit="4GB", n_jobs=2)``."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from typing import Any

# Powers of ten as in SI; the line below adds the binary units of IEC 80000-13.
UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


@dataclass(frozen=True)
class Settings:
    """What is set now.

    Attributes
    ----------
    memory_limit : int or None
        Most bytes that one fit may allocate; None means a share of what is free when it starts.
    n_jobs : int or None
        Threads where an estimator does not say; None means one per processor.
    executor : object or None
        What sums chunks of rows and runs independent fits; None means threads. See
        `gnomon.engine.sums.Executor` and `gnomon.distributed`.
    """

    memory_limit: int | None = None
    n_jobs: int | None = None
    executor: Any = None


_settings = Settings()


class config:  # a verb to its users: config(...) changes settings, `with config(...)` for a while
    """Change settings; used in a ``with`` statement, they are put back at its end.

    Parameters
    ----------
    memory_limit : int, str or None
        Bytes, or text such as ``"500MB"`` or ``"4GB"``; None for the default share.
    n_jobs : int or None
        Threads for estimators whose own ``n_jobs`` is None.
    executor : Executor, dask.distributed.Client, str or None
        Where chunks of rows are summed and independent fits run: what `gnomon.distributed.connect`
        gives, a client of Dask, or the address of its scheduler; None for threads of this process.

    Examples
    --------
    >>> import gnomon
    >>> with gnomon.config(memory_limit="2GB"):
    ...     gnomon.settings().memory_limit
    2000000000
    """

    def __init__(self, **changes: Any):
        global _settings
        unknown = set(changes) - set(Settings.__dataclass_fields__)
        if unknown:
            raise TypeError(
                f"config has no setting {', '.join(sorted(unknown))}; "
                f"it has {', '.join(Settings.__dataclass_fields__)}"
            )
        if changes.get("memory_limit") is not None:
            changes["memory_limit"] = to_bytes(changes["memory_limit"])
        if _is_of_dask(changes.get("executor")):
            # named, not imported: the engine knows nothing above it
            distributed = importlib.import_module("gnomon.distributed")
            changes["executor"] = distributed.connect(changes["executor"])
        self._before = _settings
        _settings = replace(_settings, **changes)

    def __enter__(self) -> Settings:
        return _settings

    def __exit__(self, *error: Any) -> None:
        global _settings
        _settings = self._before


def _is_of_dask(executor: Any) -> bool:
    """Whether this is an address or a client of Dask, which `gnomon.distributed` makes one of."""
    return isinstance(executor, str) or type(executor).__module__.split(".")[0] == "distributed"


def settings() -> Settings:
    """The settings that hold now."""
    return _settings


def to_bytes(amount: int | float | str) -> int:
    """Read ``"1.5GB"``, ``"2GiB"`` or a plain number as bytes."""
    if isinstance(amount, (int, float)):
        number = float(amount)
    else:
        text = amount.strip().upper().replace(" ", "")
        unit = next((u for u in sorted(UNITS, key=len, reverse=True) if text.endswith(u)), None)
        try:
            number = float(text.removesuffix(unit or "")) * UNITS.get(unit or "B", 1)
        except ValueError:
            raise ValueError(
                f"{amount!r} is not an amount of memory; write bytes, or '500MB' or '4GB'"
            ) from None
    if not 0 < number < float("inf"):
        raise ValueError(f"an amount of memory must be positive and finite, not {amount!r}")
    return int(number)
