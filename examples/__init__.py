"""Examples that are longer than a docstring allows."""
