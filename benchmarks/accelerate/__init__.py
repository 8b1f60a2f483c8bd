"""Public examples of scikit-learn as small scripts, run with and without `gnomon.accelerate`."""
