"""The job group: groups of rows."""
