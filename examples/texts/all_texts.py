"""Imports the modules that enter the experiments."""

from examples.texts import text_000a, text_000b, text_000c, text_001, text_002, text_003, text_004

__all__ = ["text_000a", "text_000b", "text_000c", "text_001", "text_002", "text_003", "text_004"]
