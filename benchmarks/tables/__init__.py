"""`gnomon learn` on many tables, against other libraries on the same split; see `__main__`."""
