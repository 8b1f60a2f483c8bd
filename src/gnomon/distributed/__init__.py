"""Past one machine: the same fits on the workers of a Dask cluster, with the same bits.

``gnomon.config(executor=gnomon.distributed.connect("tcp://scheduler:8786"))`` sends sums over rows
and independent fits to the workers; `local` starts some on this machine.
"""

from __future__ import annotations

from gnomon.distributed.cluster import Cluster, WorkerState, connect, local
from gnomon.distributed.errors import ClusterError
from gnomon.distributed.remote import VersionMismatch

__all__ = ["Cluster", "ClusterError", "VersionMismatch", "WorkerState", "connect", "local"]
