"""Sequences: Markov chains, PageRank, n-grams, hidden Markov models, random fields, series."""

from gnomon.engine.renamed import accept_former_vocabulary, former_names
from gnomon.sequence.autoregression import Autoregression, LagRegressor, lag_table
from gnomon.sequence.base_hmm import ConvergenceMonitor
from gnomon.sequence.chain import (
    Absorption,
    ChainStructure,
    MarkovChain,
    PowerResult,
    gamblers_ruin,
    random_walk,
    run_lengths,
)
from gnomon.sequence.class_models import HMMClassifier, adapt_means
from gnomon.sequence.costs import CostPath, least_cost_path
from gnomon.sequence.count_hmm import CategoricalHMM, MultinomialHMM, PoissonHMM
from gnomon.sequence.crf import ChainCRF
from gnomon.sequence.duration import DurationHMM
from gnomon.sequence.emissions import (
    CategoricalEmission,
    Emission,
    GaussianEmission,
    InputEmission,
    LagEmission,
    MixtureEmission,
    PoissonEmission,
)
from gnomon.sequence.exponential_smoothing import ETSModel
from gnomon.sequence.gaussian_hmm import GMMHMM, GaussianHMM
from gnomon.sequence.hmm import (
    HiddenMarkovModel,
    NextObservation,
    OnlineFilter,
    Posteriors,
    posteriors,
)
from gnomon.sequence.input_hmm import InputHMM
from gnomon.sequence.lag_forecaster import LagForecaster
from gnomon.sequence.markov_model import MarkovModel
from gnomon.sequence.memm import LabelBias, MaxEntMarkovModel, label_bias
from gnomon.sequence.naive_forecast import NaiveForecaster
from gnomon.sequence.ngram import LETTERS, NGramModel, corpus_needed, plain_letters
from gnomon.sequence.noisy_text import (
    SubstitutionCipher,
    WordMatcher,
    break_cipher,
    channel,
    correct_text,
    corrupt,
    corrupt_words,
    matching_cost,
)
from gnomon.sequence.pagerank import LinkGraph, PageRank, link_graph, pagerank, search_pages
from gnomon.sequence.rolling_origin import (
    HorizonErrors,
    RollingOrigin,
    horizon_intervals,
    rolling_origin,
)
from gnomon.sequence.seasonality import (
    Season,
    autocorrelation,
    decomposition,
    find_season,
    seasonal_indices,
)
from gnomon.sequence.speech import (
    DIGITS,
    WordRecognizer,
    cepstra,
    deltas,
    mel_filters,
    spectrogram,
)
from gnomon.sequence.state_space import (
    GaussianStates,
    LinearGaussianModel,
    ParticleStates,
    extended_kalman_filter,
    particle_filter,
)
from gnomon.sequence.structural import StructuralModel
from gnomon.sequence.tagged_text import (
    SegmentScores,
    read_tagged_sentences,
    segment_scores,
    segment_scores_by_kind,
    segments,
    token_features,
)

__all__ = [
    "DIGITS",
    "GMMHMM",
    "LETTERS",
    "Absorption",
    "Autoregression",
    "CategoricalEmission",
    "CategoricalHMM",
    "ChainCRF",
    "ChainStructure",
    "ConvergenceMonitor",
    "CostPath",
    "DurationHMM",
    "ETSModel",
    "Emission",
    "GaussianEmission",
    "GaussianHMM",
    "GaussianStates",
    "HMMClassifier",
    "HiddenMarkovModel",
    "HorizonErrors",
    "InputEmission",
    "InputHMM",
    "LabelBias",
    "LagEmission",
    "LagForecaster",
    "LagRegressor",
    "LinearGaussianModel",
    "LinkGraph",
    "MarkovChain",
    "MarkovModel",
    "MaxEntMarkovModel",
    "MixtureEmission",
    "MultinomialHMM",
    "NGramModel",
    "NaiveForecaster",
    "NextObservation",
    "OnlineFilter",
    "PageRank",
    "ParticleStates",
    "PoissonEmission",
    "PoissonHMM",
    "Posteriors",
    "PowerResult",
    "RollingOrigin",
    "Season",
    "SegmentScores",
    "StructuralModel",
    "SubstitutionCipher",
    "WordMatcher",
    "WordRecognizer",
    "adapt_means",
    "autocorrelation",
    "break_cipher",
    "cepstra",
    "channel",
    "corpus_needed",
    "correct_text",
    "corrupt",
    "corrupt_words",
    "decomposition",
    "deltas",
    "extended_kalman_filter",
    "find_season",
    "gamblers_ruin",
    "horizon_intervals",
    "label_bias",
    "lag_table",
    "least_cost_path",
    "link_graph",
    "matching_cost",
    "mel_filters",
    "pagerank",
    "particle_filter",
    "plain_letters",
    "posteriors",
    "random_walk",
    "read_tagged_sentences",
    "rolling_origin",
    "run_lengths",
    "search_pages",
    "seasonal_indices",
    "segment_scores",
    "segment_scores_by_kind",
    "segments",
    "spectrogram",
    "token_features",
]

accept_former_vocabulary(globals())

__getattr__ = former_names(
    __name__,
    {
        "WordRecogniser": "WordRecognizer",
    },
)
