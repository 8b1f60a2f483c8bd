"""Why a method loses cases of the sweep, where the cause is known; shown beside each lost case."""

EXPLAINED: dict[str, str] = {}
