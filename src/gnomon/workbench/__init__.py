"""Workbench: the jobs that a person runs, and the command line (`gnomon.workbench.cli`)."""
