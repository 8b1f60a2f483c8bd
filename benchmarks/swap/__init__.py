"""The swap test: scikit-learn's own tests, run with its classes accelerated or replaced by ours."""
