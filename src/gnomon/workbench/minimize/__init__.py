"""The job `minimize`: the least value of a function in a Python file."""
