"""The sweep: every method on shapes drawn at random, against the best peer in the same run."""
