"""The job forecast: the next values of one or several series."""
