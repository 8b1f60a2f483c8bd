"""What can go wrong with a cluster, and what to do about it."""

from __future__ import annotations

from gnomon.engine.errors import GnomonError, MemoryLimitError
from gnomon.engine.memory import readable


class ClusterError(GnomonError, RuntimeError):
    """The cluster cannot go on; what was computed before is in the run folder, if there is one."""


def scheduler_gone(address: str) -> ClusterError:
    return ClusterError(
        f"the scheduler at {address} is gone. Start a cluster again and repeat the command with "
        "its address (--workers): a job goes on from its run folder"
    )


def no_workers(address: str, seconds: float) -> ClusterError:
    return ClusterError(
        f"the scheduler at {address} has had no worker for {seconds:.0f} s. Start workers "
        f"(dask worker {address}), or a cluster on this machine (gnomon workers start 2)"
    )


def worker_died(about: str, n_bytes: int, limit: int | None) -> MemoryLimitError:
    """A task that ended every worker that tried it: nearly always memory."""
    most = "" if not limit else f", each of which may use {readable(limit)},"
    return MemoryLimitError(
        f"workers{most} died again and again while they computed {about}, which holds "
        f"{readable(n_bytes)} of rows. Give workers more memory (gnomon workers start 2 --memory "
        "8GB; dask worker --memory-limit), start more of them so that each holds fewer rows, or "
        "fit on this machine from a scan (executor=None)"
    )


def too_many_rows(n_bytes: int, n_workers: int, room: int) -> MemoryLimitError:
    return MemoryLimitError(
        f"the rows take {readable(n_bytes)} as numbers, and the {n_workers} workers may hold "
        f"{readable(room)} together. Start more workers, give each more memory (gnomon workers "
        "start 4 --memory 8GB; dask worker --memory-limit), or fit on this machine from a scan "
        "(executor=None)"
    )
