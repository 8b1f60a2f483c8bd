"""The job look: what is in a table."""
