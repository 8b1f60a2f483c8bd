"""Minimizers and searches: one space, one trace and one `minimize` for all methods."""

from scipy.optimize import LinearConstraint, NonlinearConstraint

from gnomon.optimize import schedules
from gnomon.optimize.affine_shaker import AffineShaker
from gnomon.optimize.annealing import SimulatedAnnealing
from gnomon.optimize.assignment import QuadraticAssignment
from gnomon.optimize.cma_es import CMAES
from gnomon.optimize.constrained import (
    interior_point,
    kkt_report,
    lagrange_multipliers,
    lasso_duality_gap,
    log_barrier,
    svm_duality_gap,
)
from gnomon.optimize.continuation import continuation
from gnomon.optimize.convexity import check_convexity
from gnomon.optimize.derivatives import check_gradient, gradient, hessian, jacobian
from gnomon.optimize.descent import (
    BFGS,
    LBFGS,
    ConjugateGradient,
    CoordinateDescent,
    Newton,
    OneStepSecant,
    SteepestDescent,
    conjugate_gradient,
    one_step_secant,
)
from gnomon.optimize.evenly import Grid, RandomSearch
from gnomon.optimize.evolution import Evolution
from gnomon.optimize.gradient_descent import (
    Adagrad,
    Adam,
    BoldDriver,
    GradientDescent,
    Momentum,
    RMSprop,
)
from gnomon.optimize.halving import Hyperband, SuccessiveHalving
from gnomon.optimize.hill_climber import AdaptiveHillClimber, HillClimber, Restarts
from gnomon.optimize.line_search import line_search
from gnomon.optimize.linear_algebra import (
    change_of_basis,
    definiteness,
    diagonalize,
    frobenius_norm,
    image,
    is_orthogonal,
    logsumexp,
    matrix_product,
    power_iteration,
    pseudo_inverse,
    rank,
)
from gnomon.optimize.minimize import minimize, suggest
from gnomon.optimize.objective import Risk
from gnomon.optimize.optimizer import Optimizer, method_names
from gnomon.optimize.populations import DifferentialEvolution, ParticleSwarm
from gnomon.optimize.programming import linprog, milp, quadratic_program
from gnomon.optimize.roots import critical_points, newton_root
from gnomon.optimize.rules import AdagradRule, AdamRule, MomentumRule, RMSpropRule, Rule
from gnomon.optimize.simplex import NelderMead
from gnomon.optimize.space import (
    Bits,
    Categorical,
    Integer,
    Permutation,
    Real,
    Space,
    Subset,
    as_space,
)
from gnomon.optimize.stochastic import stochastic_gradient_descent
from gnomon.optimize.tabu import ReactiveTabuSearch
from gnomon.optimize.trace import Change, Trace

__all__ = [
    "BFGS",
    "CMAES",
    "LBFGS",
    "Adagrad",
    "AdagradRule",
    "Adam",
    "AdamRule",
    "AdaptiveHillClimber",
    "AffineShaker",
    "Bits",
    "BoldDriver",
    "Categorical",
    "Change",
    "ConjugateGradient",
    "CoordinateDescent",
    "DifferentialEvolution",
    "Evolution",
    "GradientDescent",
    "Grid",
    "HillClimber",
    "Hyperband",
    "Integer",
    "LinearConstraint",
    "Momentum",
    "MomentumRule",
    "NelderMead",
    "Newton",
    "NonlinearConstraint",
    "OneStepSecant",
    "Optimizer",
    "ParticleSwarm",
    "Permutation",
    "QuadraticAssignment",
    "RMSprop",
    "RMSpropRule",
    "RandomSearch",
    "ReactiveTabuSearch",
    "Real",
    "Restarts",
    "Risk",
    "Rule",
    "SimulatedAnnealing",
    "Space",
    "SteepestDescent",
    "Subset",
    "SuccessiveHalving",
    "Trace",
    "as_space",
    "change_of_basis",
    "check_convexity",
    "check_gradient",
    "conjugate_gradient",
    "continuation",
    "critical_points",
    "definiteness",
    "diagonalize",
    "frobenius_norm",
    "gradient",
    "hessian",
    "image",
    "interior_point",
    "is_orthogonal",
    "jacobian",
    "kkt_report",
    "lagrange_multipliers",
    "lasso_duality_gap",
    "line_search",
    "linprog",
    "log_barrier",
    "logsumexp",
    "matrix_product",
    "method_names",
    "milp",
    "minimize",
    "newton_root",
    "one_step_secant",
    "power_iteration",
    "pseudo_inverse",
    "quadratic_program",
    "rank",
    "schedules",
    "stochastic_gradient_descent",
    "suggest",
    "svm_duality_gap",
]
