"""Workbench: the jobs that a person runs."""

from gnomon.workbench.learn import LearnResult, learn

__all__ = ["LearnResult", "learn"]
