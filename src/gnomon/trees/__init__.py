"""Trees: one histogram grower under single trees, forests and boosting."""
