"""Numbers compared with other packages; conventions."""
