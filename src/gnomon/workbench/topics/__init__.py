"""The job topics: what a column of texts is about."""
