"""The job predict: a saved model and new rows."""
