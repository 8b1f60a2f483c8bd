"""The job advise: which methods fit a table, and why."""
