"""Duels: gnomon's methods head to head with the best peers, on the same data and the same work."""
