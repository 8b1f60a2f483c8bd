"""What every job stands on: options, runs, results, reports, the command line."""
