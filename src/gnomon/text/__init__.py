"""Texts: counts of words, weights, topics, searches, vectors of words."""

from gnomon.text.gibbs_lda import GibbsLDA
from gnomon.text.lda import LatentDirichletAllocation
from gnomon.text.lsa import LatentSemanticAnalysis
from gnomon.text.search import BM25Index, CosineIndex
from gnomon.text.stems import stem_words
from gnomon.text.topic_measures import heldout_log_likelihood, topic_coherence
from gnomon.text.topics import MultinomialMixture, top_words
from gnomon.text.vectorizers import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from gnomon.text.word_vectors import GloVe, Word2Vec

__all__ = [
    "BM25Index",
    "CosineIndex",
    "CountVectorizer",
    "GibbsLDA",
    "GloVe",
    "HashingVectorizer",
    "LatentDirichletAllocation",
    "LatentSemanticAnalysis",
    "MultinomialMixture",
    "TfidfTransformer",
    "TfidfVectorizer",
    "Word2Vec",
    "heldout_log_likelihood",
    "stem_words",
    "top_words",
    "topic_coherence",
]
