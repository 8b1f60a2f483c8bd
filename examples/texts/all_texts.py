"""Imports the modules that enter the experiments."""

from examples.texts import text_000a, text_000b

__all__ = ["text_000a", "text_000b"]
