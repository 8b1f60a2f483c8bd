"""The job search: the rows whose text fits a query best."""
