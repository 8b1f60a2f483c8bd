"""Simulated tables in which the truth is known: do statements hold as often as they say?

Each module simulates one job: a function ``(law, rng)`` draws a table by a law, runs the job and
tells for each statement whether it was made (a test) or held (an interval); None where the job
itself says that the statement cannot be made or trusted. ``python -m tests.truth.simulation`` (or
``make truth``) repeats them and writes ``benchmarks/TRUTH.md``.
"""
