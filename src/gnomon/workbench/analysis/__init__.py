"""Analyses that several jobs share: the learning problem, learners, associations, diagnosis."""
