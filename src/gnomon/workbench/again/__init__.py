"""The job again: a run repeated from its record."""
