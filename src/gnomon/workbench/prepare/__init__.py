"""The job prepare: filter, derive, join, group and pivot a table."""
