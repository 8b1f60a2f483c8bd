"""The job compare: runs side by side."""
