"""Show: every picture, a Plotly figure drawn from the public attributes of fitted objects."""

from gnomon.show.ensembles import (
    boosting_rounds,
    boosting_say,
    importances,
    members,
    partial_dependence,
    stage_residuals,
    staged_errors,
    trellis,
)
from gnomon.show.trees import (
    forest,
    impurity_curves,
    rules,
    split_candidates,
    split_purity,
    tree,
)

__all__ = [
    "boosting_rounds",
    "boosting_say",
    "forest",
    "importances",
    "impurity_curves",
    "members",
    "partial_dependence",
    "rules",
    "split_candidates",
    "split_purity",
    "stage_residuals",
    "staged_errors",
    "tree",
    "trellis",
]
