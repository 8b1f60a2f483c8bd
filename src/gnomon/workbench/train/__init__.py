"""The job train: a network, watched while it learns."""
