"""The job map: pictures of the rows in two dimensions."""
