"""Show: every picture, a Plotly figure drawn from the public attributes of fitted objects.

A picture's file is imported when the picture is first asked for: most know methods of other rooms.
"""

from __future__ import annotations

import importlib

from gnomon.engine.renamed import former_names, with_former_vocabulary

_PICTURES = {
    "association_rules": ["rule_lifts", "rule_points"],
    "axes": [
        "blob_steps",
        "fisher_lines",
        "low_rank_data",
        "one_covariance",
        "principal_axes",
        "reconstruction",
        "rotated_data",
    ],
    "captions": ["captioned_images"],
    "chains": [
        "chain_path",
        "chain_traces",
        "posterior_density",
        "proposal_widths",
        "rejection_points",
    ],
    "clusters": [
        "attractors",
        "choice_of_k",
        "cluster_ellipses",
        "component_planes",
        "core_border_noise",
        "dendrogram",
        "ellipsoid_morph",
        "ellipsoid_surface",
        "inertial_ellipsoids",
        "likelihood_by_k",
        "linked_map",
        "navigate_clusters",
        "segmentation",
        "silhouettes",
        "type_histogram_grid",
        "u_matrix",
        "voronoi_cells",
    ],
    "comparisons": [
        "bootstrap_draws",
        "confidence_region",
        "critical_difference",
        "information",
        "leaderboard",
        "majority_vote",
        "null_histogram",
    ],
    "decisions": ["front", "proposals", "sweeper", "threshold_regions", "utility_tree"],
    "densities": ["density_curves", "kriging_surface", "posterior_curves", "simplex"],
    "embedding_panels": ["embeddings"],
    "ensembles": [
        "boosting_rounds",
        "boosting_say",
        "importances",
        "members",
        "partial_dependence",
        "stage_residuals",
        "staged_errors",
        "trellis",
        "variance_shares",
    ],
    "few_labels": ["label_curves", "propagation_replay"],
    "forecasts": ["forecast_fan", "forecast_residuals", "horizon_errors", "series_parts"],
    "graphs": ["geodesic_path", "low_density_boundary", "subgraphs"],
    "linear": [
        "box_cox_profile",
        "coefficient_path",
        "fit_over_scatter",
        "influence_plot",
        "penalty_pressure",
        "robust_losses",
        "validation_curve",
    ],
    "linear_bases": ["both_coordinates", "degree_curve", "hinge_parts", "local_fit", "tangent"],
    "maps": [
        "biplot",
        "canonical_correlations",
        "eigenimages",
        "keyword_map",
        "map_points",
        "network",
        "residual_images",
        "scree",
        "shepard",
    ],
    "margins": [
        "corrections",
        "feature_space",
        "hulls",
        "kernel_bumps",
        "kernel_surface",
        "seasons",
        "support_vectors",
        "tube",
    ],
    "matrices": ["change_of_basis", "matrix_product", "repeated_application", "spy", "vector_sum"],
    "methods": ["method_properties"],
    "measures": [
        "calibration",
        "category_errors",
        "confusion",
        "losses",
        "performance_areas",
        "precision_recall",
        "predicted_versus_true",
        "reject_zones",
        "rejection",
        "residuals",
        "roc",
    ],
    "model_sets": ["model_set"],
    "neural": [
        "activation_curves",
        "adversarial_triple",
        "architectures",
        "computation_graph",
        "convolution_steps",
        "image_batches",
        "intensity_profile",
        "kernel_responses",
        "network_blocks",
        "network_units",
        "neuron",
        "sigmoid_sum",
        "strongest_responses",
        "training_curves",
    ],
    "neighbors": [
        "ball_tree",
        "bounding_ball_growth",
        "class_distances",
        "nearest_regions",
        "neighbor_curves",
        "scaling_chart",
        "unit_balls",
    ],
    "networks": ["belief_network", "graphical_model"],
    "optima": ["barrier_curves", "constrained_optimum", "penalized_optimum"],
    "optimizers": ["optimizer_paths", "quadratic_form", "search_progress", "self_changes"],
    "latent": ["latent_interpolation_grid"],
    "pixels": ["labeled_image", "potts_samples", "segment_maps"],
    "points": [
        "class_scatter",
        "covariance_contours",
        "linked_views",
        "parallel_coordinates",
        "scatterplot_matrix",
    ],
    "regions": ["decision_regions"],
    "regularizers": ["regularizer_comparison"],
    "replays": ["replay", "replay_rows"],
    "resampling": [
        "complexity",
        "cv_curve",
        "fold_scores",
        "fold_stability",
        "learning_curve",
        "shattering",
        "small_multiples",
        "sorted_scores",
        "splits",
    ],
    "selection": ["elimination_curve", "feature_ranking", "selection_stability", "selection_trace"],
    "sequences": ["chain_graph", "state_probabilities", "state_trellis", "trellis_replay"],
    "signals": ["center_traces", "signal_traces", "sound_layers"],
    "state_paths": ["chain_and_trellis", "occupation", "state_inference"],
    "tables": ["association_map", "joint_grid", "missing_cells", "overview_matrix", "table_roles"],
    "tangents": [
        "function_with_tangents",
        "newton_steps",
        "restarts",
        "step_sizes",
        "tangent_plane",
    ],
    "topics": ["document_topics", "topic_map", "topic_words", "topics_over_time"],
    "trees": ["forest", "impurity_curves", "rules", "split_candidates", "split_purity", "tree"],
    "values": [
        "box_plot",
        "buckets",
        "category_bars",
        "class_histograms",
        "rates_by_category",
        "stem",
    ],
    "vision": [
        "anchor_boxes",
        "benchmark_timeline",
        "contact_sheet",
        "detector_boxes",
        "detector_pipeline",
        "local_histogram",
        "local_patterns",
        "mean_image_parts",
        "misclassified_images",
    ],
    "words": ["ngram_tables", "smoothed_counts", "zipf_plot"],
    "workflows": ["workflow"],
}
_FORMER = {
    "centre_traces": "center_traces",
    "labelled_image": "labeled_image",
    "neighbour_curves": "neighbor_curves",
    "penalised_optimum": "penalized_optimum",
    "regulariser_comparison": "regularizer_comparison",
}
_HOMES = {name: home for home, names in _PICTURES.items() for name in names}

__all__ = sorted(_HOMES)


def __getattr__(name: str):
    if name in _HOMES:
        module = importlib.import_module(f"gnomon.show.{_HOMES[name]}")
        return with_former_vocabulary(getattr(module, name))
    return _former(name)


_former = former_names(__name__, _FORMER)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
