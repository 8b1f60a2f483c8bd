"""Counts of words and TF-IDF weights of texts, under scikit-learn's names.

Texts become a sparse matrix, documents in rows and terms in columns. TF-IDF weighs the count c of
term i by how few of the N documents hold it (N_i):

    c log(N / N_i)                                     (000a 6.3.6; ``idf_formula="log"``)
    c (log((1 + N) / (1 + N_i)) + 1), rows of length 1 (scikit-learn's default)

By the first, a term of all documents has the weight 0 (000a says that it keeps about its count,
which holds for the second only). The classes are scikit-learn's, with its parameters, attributes
and matrices to the bit; texts that are split by the default pattern are read by the kernels of
`gnomon.text.tokens` instead of by regular expressions.

Texts: 000a 6.3, 6.3.6 · 002 (vector space of texts) · 004 1.Q.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction import text as peer
from sklearn.preprocessing import normalize
from sklearn.utils import murmurhash3_32

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes, is_fitted
from gnomon.engine.parameters import StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, DictOf, Flag, Object, Optional, Whole
from gnomon.text.base import TextEstimator, documented_by, fits, texts_of
from gnomon.text.stems import stem_words, stemmer_of
from gnomon.text.tokens import Grams, chunks_of, counted_grams, renumbered, split_words

Peer = peer.CountVectorizer  # the class itself: a test may put another in its place

TEXTS = "000a 6.3 · 002 (vector space of texts) · 004 1.Q"
PATTERN = r"(?u)\b\w\w+\b"  # scikit-learn's default
TYPES = [type, np.dtype, str]
IDF_FORMULAS = ("log-plus-one", "log", "probabilistic")


class FastAnalyzer(TextEstimator):
    """Splits texts as scikit-learn's vectorizers do, by kernels where the default pattern allows.

    It stands before a vectorizer of scikit-learn in the bases of a class.
    """

    _transient = ("_stop_words_id",)  # for a warning that is given once

    def _check_loaded(self) -> None:
        self._validate_params()
        runs = self.ngram_range
        whole_numbers = len(runs) == 2 and all(isinstance(each, int) for each in runs)
        if not whole_numbers or not 1 <= runs[0] <= runs[1]:
            raise ValueError(f"has ngram_range={runs}, not two rising numbers from 1 on")

    def _is_fast(self) -> bool:
        """Whether kernels split the texts: no function of the user's takes part in it."""
        own = (getattr(type(self), name) for name in ("build_analyzer", "build_tokenizer"))
        theirs = (peer._VectorizerMixin.build_analyzer, peer._VectorizerMixin.build_tokenizer)
        return (
            self.analyzer == "word"
            and self.tokenizer is None
            and self.token_pattern == PATTERN
            and tuple(own) == theirs
        )

    def _word_ngrams(self, tokens: list[str], stop_words: Any = None) -> list[str]:
        """Words without stop words, stemmed, in runs."""
        if stop_words is not None:
            tokens = [word for word in tokens if word not in stop_words]
        if self.stemmer is not None:
            tokens = stem_words(tokens, self.stemmer)
        return super()._word_ngrams(tokens)

    def _grams(self, texts: Iterable[Any]) -> Iterable[Grams]:
        """Counted terms, chunk after chunk."""
        self.build_analyzer()  # warns where stop words and pattern do not go together
        prepare = self._prepared()
        stop_words = self.get_stop_words()
        shortest, longest = self.ngram_range
        for chunk in chunks_of(prepare(i, text) for i, text in enumerate(texts)):
            words = split_words(chunk)
            if stop_words is not None or self.stemmer is not None:
                words = renumbered(words, self._kept_names(words.names, stop_words))
            yield counted_grams(words, shortest, longest)

    def _prepared(self) -> Callable[[int, Any], str]:
        """A function of a document's number and the document: its text, decoded and lowered."""
        decode = self.decode
        simple = self.preprocessor is None and self.strip_accents is None
        change = (str.lower if self.lowercase else str) if simple else self.build_preprocessor()

        def prepare(number: int, document: Any) -> str:
            text = decode(document)
            if not isinstance(text, str):
                raise DataError(
                    f"document {number} is {text!r:.40}, a {type(text).__name__}: expected a text. "
                    "Leave it out, or write '' for a document without words"
                )
            return change(text)

        return prepare

    def _kept_names(self, names: list[str], stop_words: Any) -> list[str | None]:
        """What each word is counted as; None where it is a stop word."""
        kept = names if self.stemmer is None else stem_words(names, self.stemmer)
        if stop_words is None:
            return list(kept)
        return [None if word in stop_words else kept[i] for i, word in enumerate(names)]

    def _check_stemmer(self) -> None:
        if self.stemmer is not None:
            stemmer_of(self.stemmer)


@method(
    task="filter",
    texts=TEXTS,
    use="Counts of the words of texts, as a sparse matrix.",
    avoid="Classes by a linear method: TfidfVectorizer. Vocabularies that do not fit: "
    "HashingVectorizer.",
    peers=("sklearn.feature_extraction.text.CountVectorizer",),
    takes="texts",
    synonyms=("bag of words", "document-term matrix", "stop words", "stemming", "n-grams"),
)
@documented_by(peer.CountVectorizer)
class CountVectorizer(FastAnalyzer, peer.CountVectorizer):
    """Counts of words: documents in rows, terms in columns, always sparse.

    Use it before topic models and naive Bayes; not before linear methods, for which
    `TfidfVectorizer` weighs the counts. Words that ``fit`` did not see are ignored by
    ``transform``. Texts: 000a 6.3.

    Parameters
    ----------
    stemmer : str, default=None
        Language of the Snowball stemmer that words are cut by, after stop words are left out; None
        keeps words as they are.
    min_count : int, default=1
        Least number of occurrences of a term in all texts together (`min_df` counts texts).

    Examples
    --------
    >>> from gnomon.text import CountVectorizer
    >>> counter = CountVectorizer(stop_words=["the"])
    >>> counter.fit_transform(["The cat sat.", "The cat saw the cat."]).toarray()
    array([[1, 1, 0],
           [2, 0, 1]])
    >>> counter.get_feature_names_out().tolist()
    ['cat', 'sat', 'saw']
    """

    _parameter_constraints = peer.CountVectorizer._parameter_constraints | {
        "dtype": TYPES,
        "stemmer": [str, None],
        "min_count": [whole(1)],
    }
    _stored = {"vocabulary_": DictOf(Whole()), "fixed_vocabulary_": Flag()}

    def __init__(
        self,
        *,
        input="content",
        encoding="utf-8",
        decode_error="strict",
        strip_accents=None,
        lowercase=True,
        preprocessor=None,
        tokenizer=None,
        stop_words=None,
        token_pattern=PATTERN,
        ngram_range=(1, 1),
        analyzer="word",
        max_df=1.0,
        min_df=1,
        max_features=None,
        vocabulary=None,
        binary=False,
        dtype=np.int64,
        stemmer=None,
        min_count=1,
    ):
        Peer.__init__(
            self,
            input=input,
            encoding=encoding,
            decode_error=decode_error,
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            analyzer=analyzer,
            max_df=max_df,
            min_df=min_df,
            max_features=max_features,
            vocabulary=vocabulary,
            binary=binary,
            dtype=dtype,
        )
        self.stemmer = stemmer
        self.min_count = min_count

    def fit(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the vocabulary.

        Parameters
        ----------
        raw_documents : list of str, column, Table or Scan
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        self.fit_transform(raw_documents)
        return self

    @fits
    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the vocabulary and count its terms.

        Parameters
        ----------
        raw_documents : list of str, column, Table or Scan
        y : None
            Not used.

        Returns
        -------
        X : sparse array of shape (n_documents, n_terms)
        """
        self._check_stemmer()
        # by its name: of a TfidfVectorizer, super() is scikit-learn's class of that name
        learn = Peer.fit_transform.__wrapped__  # checks and callbacks are ours
        counts = learn(self, texts_of(raw_documents))
        found = vars(self)["vocabulary_"]
        self.vocabulary_ = {term: int(place) for term, place in found.items()}
        return counts

    def transform(self, raw_documents: Any) -> Any:
        """Count the terms of the vocabulary.

        Parameters
        ----------
        raw_documents : list of str, column, Table or Scan

        Returns
        -------
        X : sparse array of shape (n_documents, n_terms)
        """
        self._check_vocabulary()
        return Peer.transform(self, texts_of(raw_documents))

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if "vocabulary_" not in vars(self):
            return
        places = self.vocabulary_.values()
        if not places or sorted(places) != list(range(len(places))):
            raise ValueError("has a vocabulary whose columns are not numbered from 0 on")

    def _count_vocab(self, raw_documents: Any, fixed_vocab: bool) -> tuple[dict, Any]:
        if not self._is_fast():
            return super()._count_vocab(raw_documents, fixed_vocab)
        vocabulary = self.vocabulary_ if fixed_vocab else {}
        counts, numbers, ends = [], [], [np.zeros(1, dtype=np.int64)]
        for grams in self._grams(raw_documents):
            places = columns_of(grams.names, vocabulary, fixed_vocab)[grams.numbers]
            known = places >= 0
            before = np.concatenate([[0], np.cumsum(known)])
            counts.append(grams.counts[known])
            numbers.append(places[known])
            ends.append(before[grams.ends[1:]] + ends[-1][-1])
        if not (vocabulary or fixed_vocab):
            raise ValueError("empty vocabulary; perhaps the documents only contain stop words")
        rows = as_csr(counts, numbers, ends, len(vocabulary), self.dtype)
        return vocabulary, peer._align_api_if_sparse(rows)

    def _limit_features(self, X, vocabulary, high=None, low=None, limit=None):
        """scikit-learn's, after terms that occur less than `min_count` times are left out."""
        if self.min_count > 1:
            kept = np.asarray(X.sum(axis=0)).ravel() >= self.min_count
            if not kept.any():
                raise ValueError(f"no term occurs min_count={self.min_count} times: lower it")
            places = np.cumsum(kept) - 1
            for term, place in list(vocabulary.items()):
                if kept[place]:
                    vocabulary[term] = int(places[place])
                else:
                    del vocabulary[term]
            X = X[:, np.flatnonzero(kept)]
        everything = (high is None or high >= X.shape[0]) and (low is None or low <= 1)
        if everything and (limit is None or X.shape[1] <= limit):
            return X
        return Peer._limit_features(self, X, vocabulary, high, low, limit)


def columns_of(names: list[str], vocabulary: dict[str, int], fixed: bool) -> np.ndarray:
    """The column of each term; new terms enter the vocabulary, unless it is fixed (-1)."""
    if fixed:
        return np.array([vocabulary.get(name, -1) for name in names], dtype=np.int64)
    return np.array([vocabulary.setdefault(n, len(vocabulary)) for n in names], dtype=np.int64)


def as_csr(counts: list, numbers: list, ends: list, n_columns: int, dtype: Any) -> sp.csr_array:
    """Chunks of counted terms as one sparse array, columns sorted in each row."""
    indptr = np.concatenate(ends)
    kind = np.int32 if indptr[-1] <= np.iinfo(np.int32).max else np.int64
    values = np.concatenate(counts) if counts else np.zeros(0, dtype=np.int64)
    columns = np.concatenate(numbers) if numbers else np.zeros(0, dtype=np.int64)
    parts = values.astype(dtype), columns.astype(kind), indptr.astype(kind)
    rows = sp.csr_array(parts, shape=(len(indptr) - 1, n_columns))
    rows.sort_indices()
    return rows


@method(
    task="filter",
    texts="000a 6.3.6",
    use="Weights of counted words: few for those of nearly all documents.",
    avoid="Texts themselves: TfidfVectorizer.",
    peers=("sklearn.feature_extraction.text.TfidfTransformer",),
    on="scikit-learn",
)
class TfidfTransformer(OverScikitLearn, peer.TfidfTransformer):
    """TF-IDF weights of counts: c times a weight that falls with the documents that hold the term.

    Use it for counts that are there already; not for texts, for which `TfidfVectorizer` does both
    steps. The text's formula is ``norm=None, smooth_idf=False, idf_formula="log"``.

    Parameters
    ----------
    idf_formula : {"log-plus-one", "log", "probabilistic"}, default="log-plus-one"
        The weight of a term of N_i among N documents: log(N / N_i) + 1 as in scikit-learn,
        log(N / N_i), which is 0 for a term of all documents (000a 6.3.6), or
        max(0, log((N - N_i) / N_i)). `smooth_idf` adds one to N and N_i in each.

    Examples
    --------
    >>> from gnomon.text import TfidfTransformer
    >>> weigh = TfidfTransformer(norm=None, smooth_idf=False, idf_formula="log")
    >>> weigh.fit_transform([[3, 1], [2, 0]]).toarray().round(3)
    array([[0.   , 0.693],
           [0.   , 0.   ]])
    """

    natively = Takes(sparse=True)
    _parameter_constraints = {"idf_formula": [StrOptions(set(IDF_FORMULAS))]}
    _stored = {"idf_": Optional(Array("f", ("n_columns",)))}

    def __init__(
        self,
        *,
        norm="l2",
        use_idf=True,
        smooth_idf=True,
        sublinear_tf=False,
        idf_formula="log-plus-one",
    ):
        super().__init__(
            norm=norm, use_idf=use_idf, smooth_idf=smooth_idf, sublinear_tf=sublinear_tf
        )
        self.idf_formula = idf_formula

    def _checked(self, X: Any) -> Any:
        rows = super()._checked(X)
        values = sp.csr_array(rows).data if sp.issparse(rows) else rows
        if self.sublinear_tf and isinstance(values, np.ndarray) and (values < 0).any():
            raise DataError("sublinear_tf=True takes logarithms: counts must be 0 or more")
        return rows

    def _check_loaded(self) -> None:
        if self.use_idf and is_fitted(self) and "idf_" not in vars(self):
            raise ValueError("use_idf=True needs idf_")

    def _fit_peer(self, fit: Any, rows: Any, given: dict[str, Any]) -> Any:
        result = super()._fit_peer(fit, rows, given)
        self._set_formula()
        return result

    def _set_formula(self) -> None:
        """Change ``idf_``, which is log(N / N_i) + 1, to the formula that was asked for."""
        if not self.use_idf or self.idf_formula == "log-plus-one":
            return
        weights = vars(self)["idf_"] - 1.0
        if self.idf_formula == "probabilistic":
            # log((N - N_i) / N_i) = log(N / N_i) + log(1 - N_i / N)
            share = np.exp(-weights)
            weights = np.log(np.maximum(1.0 / share - 1.0, 1.0))
        self.idf_ = np.maximum(weights, 0.0)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the weights, and weigh the counts.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        X : sparse array of shape (n_samples, n_features)
        """
        return self.fit(X, y).transform(X)

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int:
        return 40 * n_entries + 32 * (n_rows + n_columns)


@method(
    task="filter",
    texts="000a 6.3, 6.3.6",
    use="Texts for linear methods and searches: counts of words, weighed by how rare they are.",
    avoid="Topic models and naive Bayes, which need counts: CountVectorizer.",
    peers=("sklearn.feature_extraction.text.TfidfVectorizer",),
    takes="texts",
    synonyms=("tf-idf", "inverse document frequency"),
)
@documented_by(peer.TfidfVectorizer)
class TfidfVectorizer(CountVectorizer, peer.TfidfVectorizer):
    """TF-IDF weights of the words of texts: `CountVectorizer`, then `TfidfTransformer`.

    Use it before linear classifiers, searches and latent semantic analysis; not before topic
    models, which need counts. Texts: 000a 6.3.6.

    Parameters
    ----------
    stemmer : str, default=None
        As in `CountVectorizer`.
    min_count : int, default=1
        As in `CountVectorizer`.
    idf_formula : {"log-plus-one", "log", "probabilistic"}, default="log-plus-one"
        As in `TfidfTransformer`.

    Examples
    --------
    >>> from gnomon.text import TfidfVectorizer
    >>> TfidfVectorizer().fit_transform(["cat and dog", "cat"]).toarray().round(2)
    array([[0.63, 0.45, 0.63],
           [0.  , 1.  , 0.  ]])
    """

    _parameter_constraints = (
        peer.TfidfVectorizer._parameter_constraints
        | CountVectorizer._parameter_constraints
        | {"idf_formula": [StrOptions(set(IDF_FORMULAS))]}
    )
    _stored = {"_tfidf": Object(("TfidfTransformer",))}

    def __init__(
        self,
        *,
        input="content",
        encoding="utf-8",
        decode_error="strict",
        strip_accents=None,
        lowercase=True,
        preprocessor=None,
        tokenizer=None,
        analyzer="word",
        stop_words=None,
        token_pattern=PATTERN,
        ngram_range=(1, 1),
        max_df=1.0,
        min_df=1,
        max_features=None,
        vocabulary=None,
        binary=False,
        dtype=np.float64,
        norm="l2",
        use_idf=True,
        smooth_idf=True,
        sublinear_tf=False,
        stemmer=None,
        min_count=1,
        idf_formula="log-plus-one",
    ):
        super().__init__(
            input=input,
            encoding=encoding,
            decode_error=decode_error,
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            analyzer=analyzer,
            max_df=max_df,
            min_df=min_df,
            max_features=max_features,
            vocabulary=vocabulary,
            binary=binary,
            dtype=dtype,
            stemmer=stemmer,
            min_count=min_count,
        )
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf
        self.idf_formula = idf_formula

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn vocabulary and weights, and weigh the counts.

        Parameters
        ----------
        raw_documents : list of str, column, Table or Scan
        y : None
            Not used.

        Returns
        -------
        X : sparse array of shape (n_documents, n_terms)
        """
        self._check_params()
        self._tfidf = self._weighting()
        counts = CountVectorizer.fit_transform(self, raw_documents)
        self._tfidf.fit(counts)
        return self._tfidf.transform(counts, copy=False)

    def transform(self, raw_documents: Any) -> Any:
        """Weigh the counts of the terms of the vocabulary.

        Parameters
        ----------
        raw_documents : list of str, column, Table or Scan

        Returns
        -------
        X : sparse array of shape (n_documents, n_terms)
        """
        weighting = self._tfidf
        return weighting.transform(CountVectorizer.transform(self, raw_documents), copy=False)

    def _weighting(self) -> TfidfTransformer:
        return TfidfTransformer(
            norm=self.norm,
            use_idf=self.use_idf,
            smooth_idf=self.smooth_idf,
            sublinear_tf=self.sublinear_tf,
            idf_formula=self.idf_formula,
        )


@method(
    task="filter",
    texts=TEXTS,
    use="Texts of any vocabulary in a fixed number of columns, without fitting.",
    avoid="Columns that must have names: CountVectorizer.",
    peers=("sklearn.feature_extraction.text.HashingVectorizer",),
    takes="texts",
    synonyms=("hashing trick", "feature hashing"),
)
@documented_by(peer.HashingVectorizer)
class HashingVectorizer(FastAnalyzer, peer.HashingVectorizer):
    """Counts of words in columns that a hash of the word decides.

    Use it for streams of texts and vocabularies without bound; not where columns must have names,
    since several words may share one. It learns nothing: ``fit`` checks the parameters only.
    Texts: 000a 6.3.

    Parameters
    ----------
    stemmer : str, default=None
        Language of the Snowball stemmer, as in `CountVectorizer`.

    Examples
    --------
    >>> from gnomon.text import HashingVectorizer
    >>> HashingVectorizer(n_features=8, norm=None).transform(["a cat, a dog"]).sum()
    np.float64(0.0)
    """

    _parameter_constraints = peer.HashingVectorizer._parameter_constraints | {
        "dtype": TYPES,
        "stemmer": [str, None],
    }

    def __init__(
        self,
        *,
        input="content",
        encoding="utf-8",
        decode_error="strict",
        strip_accents=None,
        lowercase=True,
        preprocessor=None,
        tokenizer=None,
        stop_words=None,
        token_pattern=PATTERN,
        ngram_range=(1, 1),
        analyzer="word",
        n_features=(2**20),
        binary=False,
        norm="l2",
        alternate_sign=True,
        dtype=np.float64,
        stemmer=None,
    ):
        super().__init__(
            input=input,
            encoding=encoding,
            decode_error=decode_error,
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            analyzer=analyzer,
            n_features=n_features,
            binary=binary,
            norm=norm,
            alternate_sign=alternate_sign,
            dtype=dtype,
        )
        self.stemmer = stemmer

    @fits
    def fit(self, X: Any, y: Any = None) -> Any:
        """Check the parameters; nothing is learned.

        Parameters
        ----------
        X : list of str, column, Table or Scan
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        self._check_stemmer()
        texts_of(X)
        self._warn_for_unused_params()
        self._validate_ngram_range()
        return self

    def transform(self, X: Any) -> Any:
        """Counts by hashed column.

        Parameters
        ----------
        X : list of str, column, Table or Scan

        Returns
        -------
        X : sparse array of shape (n_documents, n_features)
        """
        texts = texts_of(X)
        if not self._is_fast():
            return super().transform(texts)  # scikit-learn's own
        self._validate_ngram_range()
        counts, numbers, ends = [], [], [np.zeros(1, dtype=np.int64)]
        for grams in self._grams(texts):
            hashes = np.array([murmurhash3_32(n.encode(), 0) for n in grams.names], dtype=np.int64)
            columns = np.abs(hashes) % self.n_features
            signs = np.where(hashes >= 0, 1, -1) if self.alternate_sign else np.ones_like(hashes)
            counts.append(grams.counts * signs[grams.numbers])
            numbers.append(columns[grams.numbers])
            ends.append(grams.ends[1:] + ends[-1][-1])
        rows = as_csr(counts, numbers, ends, self.n_features, self.dtype)
        rows.sum_duplicates()
        if self.binary:
            rows.data.fill(1)
        if self.norm is not None:
            rows = normalize(rows, norm=self.norm, copy=False)
        return peer._align_api_if_sparse(rows)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Check the parameters and count.

        Parameters
        ----------
        X : list of str, column, Table or Scan
        y : None
            Not used.

        Returns
        -------
        X : sparse array of shape (n_documents, n_features)
        """
        return self.fit(X, y).transform(X)
