"""The job ``decide``: from measured rows to the settings that are worth the next trial."""
