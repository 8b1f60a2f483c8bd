"""Lists: methods, workflows, examples, bounds of theory."""
