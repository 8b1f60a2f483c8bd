"""Generators from any form of ``random_state``."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def as_generator(random_state: Any) -> np.random.Generator:
    """A generator from any form of ``random_state``."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    legacy = check_random_state(random_state)
    return np.random.default_rng(legacy.randint(0, 2**32, size=4, dtype=np.uint32))
