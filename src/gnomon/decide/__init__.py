"""Decide: from probabilities and predictions to decisions, by utilities, costs and preferences."""

from gnomon.decide.amount import Amount, Unknown
from gnomon.decide.costs import (
    CostDecisions,
    Threshold,
    cost_threshold,
    least_expected_cost,
    threshold_for_rate,
)
from gnomon.decide.expected_utility import (
    Choice,
    InferredUtilities,
    Options,
    best_choice,
    compare_options,
    expected_utility,
    expected_utility_over,
    infer_utilities,
)
from gnomon.decide.improvement import ImprovementLoop
from gnomon.decide.information import (
    FeatureValues,
    TestValue,
    value_of_features,
    value_of_perfect_information,
    value_of_sample_information,
    value_of_test,
)
from gnomon.decide.nsga2 import FrontSearch, nsga2
from gnomon.decide.pareto import (
    Front,
    crowding_distance,
    hypervolume,
    non_dominated,
    non_dominated_rank,
    pareto_front,
)
from gnomon.decide.preference import (
    PreferenceSearch,
    ReferenceAnswer,
    Standing,
    answer_by_goal,
    preference_cycle,
    reference_point,
)
from gnomon.decide.proposals import Goal, Proposals, Turn, propose_settings
from gnomon.decide.sweeper import Sweep, sweep
from gnomon.decide.undecided import Band, break_ties, reject_rule, undecided_band
from gnomon.decide.utility_tree import (
    Chance,
    Decision,
    Leaf,
    Payment,
    Regions,
    Solution,
    Thresholds,
    UtilityTree,
)

__all__ = [
    "Amount",
    "Band",
    "Chance",
    "Choice",
    "CostDecisions",
    "Decision",
    "FeatureValues",
    "Front",
    "FrontSearch",
    "Goal",
    "ImprovementLoop",
    "InferredUtilities",
    "Leaf",
    "Options",
    "Payment",
    "PreferenceSearch",
    "Proposals",
    "ReferenceAnswer",
    "Regions",
    "Solution",
    "Standing",
    "Sweep",
    "TestValue",
    "Threshold",
    "Thresholds",
    "Turn",
    "Unknown",
    "UtilityTree",
    "answer_by_goal",
    "best_choice",
    "break_ties",
    "compare_options",
    "cost_threshold",
    "crowding_distance",
    "expected_utility",
    "expected_utility_over",
    "hypervolume",
    "infer_utilities",
    "least_expected_cost",
    "non_dominated",
    "non_dominated_rank",
    "nsga2",
    "pareto_front",
    "preference_cycle",
    "propose_settings",
    "reference_point",
    "reject_rule",
    "sweep",
    "threshold_for_rate",
    "undecided_band",
    "value_of_features",
    "value_of_perfect_information",
    "value_of_sample_information",
    "value_of_test",
]
