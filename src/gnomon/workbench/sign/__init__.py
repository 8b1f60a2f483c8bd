"""`gnomon sign`: signatures of model files."""
