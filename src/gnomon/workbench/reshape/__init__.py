"""The job reshape (the command prepare): filter, derive, join, group and pivot a table."""
