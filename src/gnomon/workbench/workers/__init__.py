"""``gnomon workers``: a Dask cluster on this machine, and what the workers of any do."""
