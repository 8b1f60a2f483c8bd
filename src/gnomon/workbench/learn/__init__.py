"""The job learn: what predicts a column best, and how well."""
