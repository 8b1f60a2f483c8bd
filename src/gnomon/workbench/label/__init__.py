"""The job label: which items go together."""
