"""The job rules: which items go together."""
