"""Words looked up: facts, procedures, examples."""
