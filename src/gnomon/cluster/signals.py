"""Signals and images by their pieces: cut, quantise by a dictionary, count, classify.

Texts: 000b 8.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from sklearn.base import ClassifierMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from gnomon.cluster.intake import label_codes
from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.transfer import fit_quietly
from gnomon.cluster.tree_kmeans import KMeansTree
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Estimator
from gnomon.engine.parameters import FLAG, SEED, HasMethods, share, validated, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import CLASSES, ListOf, Object, TupleOf, Whole


def signal_pieces(
    signal: Any,
    size: int,
    *,
    step: int | None = None,
    n_random: int | None = None,
    jitters: int = 1,
    random_state: int | np.random.Generator | None = None,
) -> np.ndarray:
    """Cut a signal into pieces of one length, each a row (000b 8.3.1).

    Parameters
    ----------
    signal : array-like of shape (length,) or (length, n_channels)
    size : int
        Samples in a piece.
    step : int, default=None
        From the begin of a piece to that of the next; `size` by default (no overlap). What is left
        at the end and is shorter than a piece is not used.
    n_random : int, default=None
        So many pieces from random places instead.
    jitters : int, default=1
        Cut as many times, each time from a begin that is set off by ``size / jitters`` more.
    random_state : int, Generator or None, default=None

    Returns
    -------
    pieces : ndarray of shape (n_pieces, size * n_channels)

    Examples
    --------
    >>> signal_pieces([1, 2, 3, 4, 5], 2).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    >>> signal_pieces([1, 2, 3, 4, 5], 2, step=1).shape
    (4, 2)
    """
    values = np.asarray(signal, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2:
        raise DataError(f"a signal is one line or one column per channel, not {values.ndim}-D")
    if not 1 <= size <= len(values):
        raise DataError(f"a signal of {len(values)} samples has no piece of size={size}")
    if n_random is not None:
        rng = np.random.default_rng(random_state)
        begins = rng.integers(len(values) - size + 1, size=n_random)
    else:
        offsets = [round(j * size / jitters) for j in range(jitters)]
        step = size if step is None else step
        begins = np.concatenate([np.arange(o, len(values) - size + 1, step) for o in offsets])
    windows = np.lib.stride_tricks.sliding_window_view(values, size, axis=0)
    return windows[begins].transpose(0, 2, 1).reshape(len(begins), -1)


def image_pieces(
    image: Any,
    size: int,
    *,
    step: int | None = None,
    n_random: int | None = None,
    jitters: int = 1,
    random_state: int | np.random.Generator | None = None,
) -> np.ndarray:
    """Cut an image into square patches, each a row (000b 8.3.1).

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, n_channels)
    size : int
        Side of a patch.
    step : int, default=None
        From patch to patch; `size` by default.
    n_random : int, default=None
        So many patches from random places instead.
    jitters : int, default=1
        Each patch is cut as many times (a square number), set off by up to a third of its size to
        the sides; the text uses nine.
    random_state : int, Generator or None, default=None

    Returns
    -------
    pieces : ndarray of shape (n_pieces, size * size * n_channels)

    Examples
    --------
    >>> image_pieces([[1, 2, 3, 4], [5, 6, 7, 8]], 2).tolist()
    [[1.0, 2.0, 5.0, 6.0], [3.0, 4.0, 7.0, 8.0]]
    """
    pixels = np.asarray(image, dtype=np.float64)
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    if pixels.ndim != 3 or not 1 <= size <= min(pixels.shape[:2]):
        raise DataError(f"an image of shape {pixels.shape[:2]} has no patch of side {size}")
    down, across = pixels.shape[0] - size, pixels.shape[1] - size
    if n_random is not None:
        rng = np.random.default_rng(random_state)
        places = np.column_stack(
            [rng.integers(down + 1, size=n_random), rng.integers(across + 1, size=n_random)]
        )
    else:
        step = size if step is None else step
        grid = np.meshgrid(
            np.arange(0, down + 1, step), np.arange(0, across + 1, step), indexing="ij"
        )
        places = _jittered(np.column_stack([each.ravel() for each in grid]), jitters, size)
        places = np.clip(places, 0, [down, across])
    windows = np.lib.stride_tricks.sliding_window_view(pixels, (size, size), axis=(0, 1))
    pieces = windows[places[:, 0], places[:, 1]]
    return pieces.transpose(0, 2, 3, 1).reshape(len(places), -1)


def _jittered(places: np.ndarray, jitters: int, size: int) -> np.ndarray:
    side = round(np.sqrt(jitters))
    if side * side != jitters:
        raise DataError(f"jitters={jitters} is not a square number such as 1, 4 or 9")
    if side == 1:
        return places
    shifts = np.round(np.linspace(-size / 3, size / 3, side)).astype(int)
    return np.concatenate([places + np.array([dy, dx]) for dy in shifts for dx in shifts])


@method(
    task="reduce",
    texts="000b 8.3.2",
    use="Signals or images of different sizes as vectors of one length.",
    avoid="Signals whose order of pieces matters: the histogram forgets it.",
    takes="sequences",
    synonyms=("bag of visual words", "codebook", "dictionary of patches"),
)
class VectorQuantizer(TransformerMixin, Estimator):
    """Signals of any length as histograms over a dictionary of pieces (000b 8.3.2).

    ``fit`` pools the pieces of all training signals and clusters them: k-means, or a tree of
    k-means where the dictionary is large. ``transform`` replaces each piece by its nearest entry
    and counts. So signals of different length become vectors of one length.

    Use it to give signals or images of different sizes to a classifier of vectors. Not where the
    order of the pieces matters: the histogram forgets it.

    Parameters
    ----------
    size : int, default=32
        Samples in a piece (side of a patch for images).
    n_entries : int, default=40
        Entries of the dictionary; the branches of each node with `depth` above one.
    depth : int, default=1
        Levels: above one it is a `KMeansTree` of ``n_entries ^ depth`` leaves at most.
    step : int or None, default=None
        From piece to piece; None: no overlap.
    images : bool, default=False
        Whether signals are images.
    normalize : bool, default=True
        Whether counts are divided by the number of pieces.
    random_state : int or None, default=None

    Attributes
    ----------
    dictionary_ : KMeans or KMeansTree
    n_entries_ : int
        Columns of a histogram.

    Examples
    --------
    >>> from gnomon.cluster import VectorQuantizer
    >>> import numpy as np
    >>> signals = [np.tile([0.0, 1.0], 20), np.tile([5.0, 5.0], 30)]
    >>> VectorQuantizer(2, n_entries=2, random_state=0).fit_transform(signals).tolist() in (
    ...     [[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])
    True
    """

    _parameter_constraints = {
        "size": [whole(1)],
        "n_entries": [whole(1)],
        "depth": [whole(1)],
        "step": [whole(1), None],
        "images": FLAG,
        "normalize": FLAG,
        "random_state": SEED,
    }
    _stored = {
        "dictionary_": Object(("KMeans", "KMeansTree")),
        "n_entries_": Whole(1),
    }

    def __init__(
        self,
        size=32,
        *,
        n_entries=40,
        depth=1,
        step=None,
        images=False,
        normalize=True,
        random_state=None,
    ):
        self.size = size
        self.n_entries = n_entries
        self.depth = depth
        self.step = step
        self.images = images
        self.normalize = normalize
        self.random_state = random_state

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not hasattr(self, "dictionary_"):
            return
        known = getattr(
            self.dictionary_, "n_leaves_", getattr(self.dictionary_, "n_clusters", None)
        )
        if self.n_entries_ != known:
            raise ValueError("the number of entries is not that of the dictionary")
        width = self.dictionary_.n_features_in_
        fits = width % self.size**2 == 0 if self.images else width == self.size
        if not fits:
            raise ValueError("the dictionary is not of pieces of this size")
        self.dictionary_.predict(np.zeros((1, width)))

    def pieces(self, signal: Any) -> np.ndarray:
        """The pieces of one signal."""
        cut = image_pieces if self.images else signal_pieces
        return cut(signal, self.size, step=self.step)

    @validated
    def fit(self, X: Sequence[Any], y: Any = None) -> VectorQuantizer:
        """Make the dictionary from the pieces of all signals.

        Parameters
        ----------
        X : sequence of signals
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        pooled = np.concatenate([self.pieces(signal) for signal in X])
        if self.depth > 1:
            tree = KMeansTree(self.n_entries, depth=self.depth, random_state=self.random_state)
            self.dictionary_ = tree.fit(pooled)
            self.n_entries_ = tree.n_leaves_
        else:
            model = KMeans(min(self.n_entries, len(pooled)), random_state=self.random_state)
            self.dictionary_ = fit_quietly(model, pooled)
            self.n_entries_ = model.n_clusters
        return self

    def transform(self, X: Sequence[Any]) -> np.ndarray:
        """The histogram of each signal over the dictionary.

        Parameters
        ----------
        X : sequence of signals

        Returns
        -------
        histograms : ndarray of shape (n_signals, n_entries)
        """
        check_is_fitted(self, "dictionary_")
        counts = np.array(
            [
                np.bincount(self.dictionary_.predict(self.pieces(s)), minlength=self.n_entries_)
                for s in X
            ],
            dtype=np.float64,
        )
        return counts / counts.sum(axis=1, keepdims=True) if self.normalize else counts


@method(
    task="classify",
    texts="000b 8.3.2",
    use="Classes of signals by several dictionaries of pieces and a vote.",
    avoid="Very many signals: each member makes a dictionary of its own.",
    takes="sequences",
    synonyms=("bag of visual words",),
)
class DictionaryVote(ClassifierMixin, Estimator):
    """Several dictionaries from different pieces, a classifier on each, and a vote (000b 8.3.2).

    Each member makes its dictionary from another random part of the training signals; the class of
    most votes wins (of equals the first).

    Use it where one dictionary depends much on the signals that it was made of. Not for very many
    signals: every member clusters all their pieces again.

    Parameters
    ----------
    quantizer : VectorQuantiser
    classifier : estimator
    n_dictionaries : int, default=3
        At least three, as the text advises.
    share : float, default=0.7
        Share of the signals whose pieces make a dictionary.
    random_state : int or None, default=None

    Attributes
    ----------
    members_ : list of (VectorQuantiser, estimator)
    classes_ : ndarray

    Examples
    --------
    >>> from gnomon.cluster import DictionaryVote, VectorQuantizer
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> signals = [np.tile([level, k], 9) for level in (0.0, 9.0) for k in range(3)]
    >>> model = DictionaryVote(VectorQuantizer(2, n_entries=2), KNeighborsClassifier(1))
    >>> model.fit(signals, [0, 0, 0, 1, 1, 1]).predict([np.tile([9.0, 1.0], 30)]).tolist()
    [1]
    """

    _parameter_constraints = {
        "quantizer": [HasMethods(["fit", "transform", "set_params"])],
        "classifier": [HasMethods(["fit", "predict"])],
        "n_dictionaries": [whole(3)],
        "share": [share()],
        "random_state": SEED,
    }
    _stored = {
        "classes_": CLASSES,
        "members_": ListOf(TupleOf((Object(("VectorQuantizer",)), Object()))),
    }

    def __init__(self, quantizer, classifier, *, n_dictionaries=3, share=0.7, random_state=None):
        self.quantizer = quantizer
        self.classifier = classifier
        self.n_dictionaries = n_dictionaries
        self.share = share
        self.random_state = random_state

    def _check_loaded(self) -> None:
        super()._check_loaded()
        for quantizer, classifier in getattr(self, "members_", ()):
            known = set(range(len(self.classes_)))
            vote = np.asarray(classifier.predict(np.zeros((1, quantizer.n_entries_))))
            whole = vote.dtype.kind in "iu" and np.asarray(classifier.classes_).dtype.kind in "iu"
            if not whole or not set(np.asarray(classifier.classes_).tolist()) <= known:
                raise ValueError("a member votes for classes that are not there")

    @validated
    def fit(self, X: Sequence[Any], y: Any) -> DictionaryVote:
        """Make the dictionaries and fit the classifiers.

        Parameters
        ----------
        X : sequence of signals
        y : array-like of shape (n_signals,)

        Returns
        -------
        self : object
        """
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        rng = np.random.default_rng(self.random_state)
        count = max(round(self.share * len(X)), 1)
        self.members_ = []
        for _ in range(self.n_dictionaries):
            part = rng.choice(len(X), count, replace=False)
            seed = int(rng.integers(2**31))
            quantizer = clone(self.quantizer).set_params(random_state=seed)
            quantizer.fit([X[i] for i in part])
            self.members_.append(
                (quantizer, clone(self.classifier).fit(quantizer.transform(X), codes))
            )
        return self

    def predict(self, X: Sequence[Any]) -> np.ndarray:
        """The class of most votes for each signal.

        Parameters
        ----------
        X : sequence of signals

        Returns
        -------
        classes : ndarray of shape (n_signals,)
        """
        check_is_fitted(self, "members_")
        votes = np.zeros((len(X), len(self.classes_)))
        for quantizer, classifier in self.members_:
            said = classifier.predict(quantizer.transform(X))
            votes[np.arange(len(X)), said] += 1
        return self.classes_[votes.argmax(axis=1)]


def type_histograms(labels: Any, bags: Any, n_types: int | None = None) -> np.ndarray:
    """Count the types (cluster labels) of the items of each bag.

    Parameters
    ----------
    labels : array-like of int of shape (n_items,)
    bags : array-like of shape (n_items,)
        The bag of each item.
    n_types : int, default=None

    Returns
    -------
    counts : ndarray of shape (n_bags, n_types)
        Bags in sorted order.

    Examples
    --------
    >>> type_histograms([0, 1, 1, 0], ["a", "a", "b", "b"]).tolist()
    [[1, 1], [1, 1]]
    """
    labels = np.asarray(labels)
    names, codes = label_codes(bags, len(labels))
    k = int(labels.max()) + 1 if n_types is None else n_types
    cells = np.bincount(codes * k + labels, minlength=len(names) * k)
    return cells.reshape(len(names), k)


@method(
    task="classify",
    texts="000b 8.4",
    use="Classes of sets of items, by the types of items in them.",
    avoid="Items that have an order: HMMClassifier.",
    takes="sequences",
    synonyms=("bag of words", "multiple-instance"),
)
class TypeHistogramClassifier(ClassifierMixin, Estimator):
    """Classify a set of items by its histogram of types (000b 8.4).

    Items of all training sets are clustered into types (about one for ten items); a set is
    represented by the shares of types among its items, and these are classified.

    Use it for sets of items without an order, one label for each set. Not where the order of the
    items matters: `HMMClassifier`.

    Parameters
    ----------
    classifier : estimator
    n_types : int or None, default=None
        Types; None: one for ten items.
    random_state : int or None, default=None

    Attributes
    ----------
    types_ : KMeans
    classifier_ : estimator
    classes_ : ndarray

    Examples
    --------
    >>> from gnomon.cluster import TypeHistogramClassifier
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> sets = [[[0.0], [0.1]], [[9.0], [9.1]], [[0.2], [0.1]], [[9.3], [9.1]]]
    >>> model = TypeHistogramClassifier(KNeighborsClassifier(1), n_types=2, random_state=0)
    >>> model.fit(sets, [0, 1, 0, 1]).predict([[[9.2], [9.0], [9.1]]]).tolist()
    [1]
    """

    _parameter_constraints = {
        "classifier": [HasMethods(["fit", "predict"])],
        "n_types": [whole(2), None],
        "random_state": SEED,
    }
    _stored = {
        "classes_": CLASSES,
        "classifier_": Object(),
        "types_": Object(("KMeans",)),
    }

    def __init__(self, classifier, *, n_types=None, random_state=None):
        self.classifier = classifier
        self.n_types = n_types
        self.random_state = random_state

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "types_"):
            found = self.types_.predict(np.zeros((1, self.types_.n_features_in_)))
            self.classifier_.predict(np.zeros((1, self.types_.n_clusters)))
            if len(self.types_.cluster_centers_) != self.types_.n_clusters or found[0] < 0:
                raise ValueError("the types are not those of the clusters")

    @validated
    def fit(self, X: Sequence[Any], y: Any) -> TypeHistogramClassifier:
        """Find the types and fit the classifier.

        Parameters
        ----------
        X : sequence of arrays of shape (n_items, d)
        y : array-like of shape (n_sets,)

        Returns
        -------
        self : object
        """
        items = np.concatenate([np.asarray(each, dtype=np.float64) for each in X])
        k = self.n_types if self.n_types is not None else max(len(items) // 10, 2)
        self.types_ = fit_quietly(KMeans(k, random_state=self.random_state), items)
        self.classifier_ = clone(self.classifier).fit(self.histograms(X), y)
        self.classes_ = self.classifier_.classes_
        return self

    def histograms(self, X: Sequence[Any]) -> np.ndarray:
        """Shares of the types in each set."""
        check_is_fitted(self, "types_")
        bags = np.repeat(np.arange(len(X)), [len(each) for each in X])
        items = np.concatenate([np.asarray(each, dtype=np.float64) for each in X])
        counts = type_histograms(self.types_.predict(items), bags, self.types_.n_clusters)
        return counts / counts.sum(axis=1, keepdims=True)

    def predict(self, X: Sequence[Any]) -> np.ndarray:
        """The class of each set.

        Parameters
        ----------
        X : sequence of arrays of shape (n_items, d)

        Returns
        -------
        classes : ndarray of shape (n_sets,)
        """
        return self.classifier_.predict(self.histograms(X))


@dataclass(repr=False)
class BlockTypes(Result):
    """Types of records in each block, and how different the blocks are.

    Attributes
    ----------
    blocks : ndarray
    counts : ndarray of shape (n_blocks, n_types)
    distances : ndarray of shape (n_blocks, n_blocks)
        Chi-square distance of the shares: ``sum (p - q)^2 / (p + q)``, from 0 to 2.
    p_value : float
        The p-value of the chi-square test that types do not depend on blocks.
    types : KMeans
    """

    blocks: np.ndarray
    counts: np.ndarray
    distances: np.ndarray
    p_value: float
    types: Any

    @property
    def shares(self) -> np.ndarray:
        return self.counts / self.counts.sum(axis=1, keepdims=True)

    def _title(self) -> str:
        n, k = self.counts.shape
        return f"{k} types in {n} blocks; that all have the same mix: p = {self.p_value:.3g}"

    def _columns(self) -> dict[str, list]:
        columns: dict[str, list] = {"block": [str(each) for each in self.blocks.tolist()]}
        for t in range(self.counts.shape[1]):
            columns[f"type {t}"] = self.counts[:, t].tolist()
        return columns


def block_types(
    X: Any,
    blocks: Any,
    n_types: int = 10,
    *,
    n_quantiles: int | None = None,
    random_state: int | None = None,
) -> BlockTypes:
    """Compare groups of records by their histograms of types (000b 8.2.5).

    Records are clustered ignoring the groups; each group's histogram of cluster labels then shows
    differences that no scatterplot does.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The records, without the column that makes the blocks.
    blocks : array-like of shape (n,)
        The group of each record, or numbers to be cut by `n_quantiles`.
    n_types : int, default=10
    n_quantiles : int, default=None
        Cut numeric `blocks` into so many groups of equal size.
    random_state : int or None, default=None

    Returns
    -------
    types : BlockTypes

    Examples
    --------
    >>> rows = [[0.0], [0.1], [9.0], [9.1], [0.2], [9.2]]
    >>> found = block_types(rows, ["a", "a", "b", "b", "a", "b"], 2, random_state=0)
    >>> found.distances.tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """
    rows = np.asarray(X, dtype=np.float64)
    blocks = np.asarray(blocks)
    if n_quantiles is not None:
        edges = np.quantile(blocks.astype(np.float64), np.linspace(0, 1, n_quantiles + 1)[1:-1])
        blocks = np.searchsorted(edges, blocks, side="left")
    names, codes = label_codes(blocks, len(rows))
    model = fit_quietly(KMeans(n_types, random_state=random_state), rows)
    counts = type_histograms(model.labels_, codes, n_types)
    shares = counts / counts.sum(axis=1, keepdims=True)
    both = shares[:, None] + shares
    apart = (shares[:, None] - shares) ** 2 / np.where(both > 0, both, 1.0)
    used = counts[:, counts.sum(axis=0) > 0]
    p_value = float(scipy.stats.chi2_contingency(used).pvalue) if min(used.shape) > 1 else 1.0
    return BlockTypes(names, counts, apart.sum(axis=2), p_value, model)


@dataclass(repr=False)
class Segmentation(Result):
    """An image in segments.

    Attributes
    ----------
    labels : ndarray of shape (height, width)
    mean_image : ndarray of shape (height, width, n_channels)
        Each pixel replaced by the mean colour of its segment.
    weight_maps : ndarray of shape (n_segments, height, width)
        Share of each pixel in each segment.
    """

    labels: np.ndarray
    mean_image: np.ndarray
    weight_maps: np.ndarray

    def _title(self) -> str:
        height, width = self.labels.shape
        return f"{len(self.weight_maps)} segments of {height} x {width} pixels"

    def _columns(self) -> dict[str, list]:
        return {
            "segment": list(range(len(self.weight_maps))),
            "pixels": np.bincount(self.labels.ravel(), minlength=len(self.weight_maps)).tolist(),
        }


def pixel_features(
    image: Any,
    features: str = "color",
    *,
    place_weight: float = 1.0,
    window: int = 5,
    n_levels: int = 8,
) -> np.ndarray:
    """A row of numbers for each pixel of an image.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, n_channels)
    features : {"color", "color+place", "histogram"}, default="color"
        Channels; channels and coordinates in [0, 1]; counts of grey levels in a window around.
    place_weight : float, default=1
        Factor of the coordinates.
    window : int, default=5
        Side of the window of "histogram"; odd.
    n_levels : int, default=8
        Levels of "histogram".

    Returns
    -------
    rows : ndarray of shape (height * width, n_features)

    Examples
    --------
    >>> pixel_features([[0.0, 1.0]], "color+place").tolist()
    [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    pixels = np.asarray(image, dtype=np.float64)
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    if pixels.ndim != 3:
        raise DataError(f"an image has two or three dimensions, not {pixels.ndim}")
    height, width, channels = pixels.shape
    colors = pixels.reshape(-1, channels)
    if features == "color":
        return colors
    if features == "color+place":
        y, x = np.mgrid[:height, :width]
        scale = max(height - 1, width - 1, 1)
        places = np.column_stack([x.ravel(), y.ravel()]) / scale * place_weight
        return np.column_stack([colors, places])
    if features != "histogram" or window % 2 == 0:
        raise DataError("features is 'color', 'color+place' or 'histogram', with an odd window")
    gray = pixels.mean(axis=2)
    low, high = gray.min(), gray.max()
    level = np.minimum(((gray - low) / ((high - low) or 1.0) * n_levels).astype(int), n_levels - 1)
    padded = np.pad(level, window // 2, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (window, window))
    counts = [(windows == each).sum(axis=(2, 3)).ravel() for each in range(n_levels)]
    return np.column_stack(counts).astype(np.float64)


def segment_image(
    image: Any,
    clusterer: Any = 4,
    *,
    features: str = "color",
    random_state: int | None = None,
    **options: Any,
) -> Segmentation:
    """Segment an image by clustering its pixels or windows (000b 9.2, 002).

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, n_channels)
    clusterer : int or estimator, default=4
        So many segments by `KMeans`; or any clusterer or mixture (`gnomon.density.GaussianMixture`,
        a multinomial mixture for "histogram") with ``predict``; where it has ``predict_proba`` its
        weight maps are soft.
    features : {"color", "color+place", "histogram"}, default="color"
    random_state : int or None, default=None
    **options
        Of `pixel_features`.

    Returns
    -------
    segmentation : Segmentation

    Examples
    --------
    >>> segment_image([[0.0, 0.1, 5.0], [0.1, 5.0, 5.1]], 2, random_state=0).labels.tolist() in (
    ...     [[0, 0, 1], [0, 1, 1]], [[1, 1, 0], [1, 0, 0]])
    True
    """
    pixels = np.asarray(image, dtype=np.float64)
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    rows = pixel_features(pixels, features, **options)
    if isinstance(clusterer, (int, np.integer)):
        model = fit_quietly(KMeans(int(clusterer), random_state=random_state), rows)
    else:
        model = clone(clusterer).fit(rows)
    labels = np.asarray(model.predict(rows)).astype(np.int64)
    k = int(labels.max()) + 1
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(rows)
        k = shares.shape[1]
    else:
        shares = np.eye(k)[labels]
    colors = pixels.reshape(len(rows), -1)
    weight = np.maximum(np.bincount(labels, minlength=k), 1)
    means = np.stack([np.bincount(labels, c, minlength=k) / weight for c in colors.T], axis=1)
    height, width = pixels.shape[:2]
    return Segmentation(
        labels.reshape(height, width),
        means[labels].reshape(pixels.shape),
        shares.T.reshape(k, height, width),
    )


@dataclass(repr=False)
class Ratings(Result):
    """Ratings with their gaps filled from clusters of raters.

    Attributes
    ----------
    filled : ndarray of shape (n_raters, n_items)
        Given ratings as they are, others predicted.
    labels : ndarray of shape (n_raters,)
    centers : ndarray of shape (n_clusters, n_items)
        Mean rating of each item in each cluster.
    """

    filled: np.ndarray
    labels: np.ndarray
    centers: np.ndarray

    def _title(self) -> str:
        return f"{self.filled.shape[0]:,} raters in {len(self.centers)} clusters"

    def _columns(self) -> dict[str, list]:
        return {
            "cluster": list(range(len(self.centers))),
            "raters": np.bincount(self.labels, minlength=len(self.centers)).tolist(),
        }


def fill_by_clusters(
    ratings: Any,
    n_clusters: int,
    *,
    max_iter: int = 100,
    random_state: int | np.random.Generator | None = None,
) -> Ratings:
    """k-means for collaborative filtering: a missing rating is its cluster's mean (003 2.9.2).

    Raters go to the centre with the least mean squared difference over the items that they have
    rated; an item that nobody of a cluster has rated takes the mean of all.

    Parameters
    ----------
    ratings : array-like of shape (n_raters, n_items)
        NaN where there is none; every rater has at least one.
    n_clusters : int
    max_iter : int, default=100
    random_state : int, Generator or None, default=None

    Returns
    -------
    ratings : Ratings

    Examples
    --------
    >>> gap = float("nan")
    >>> given = [[5, 5, 1], [5, gap, 1], [1, 1, 5], [1, 2, gap]]
    >>> fill_by_clusters(given, 2, random_state=0).filled[1].tolist()
    [5.0, 5.0, 1.0]
    """
    given = np.asarray(ratings, dtype=np.float64)
    known = ~np.isnan(given)
    if given.ndim != 2 or not known.any(axis=1).all():
        raise DataError("every rater needs a rating; leave out those without any")
    if not 1 <= n_clusters <= len(given):
        raise DataError(f"{len(given)} raters cannot be in n_clusters={n_clusters} clusters")
    rng = np.random.default_rng(random_state)
    counts = known.sum(axis=0)
    overall = np.where(known, given, 0.0).sum() / known.sum()
    items = np.where(
        counts > 0, np.where(known, given, 0).sum(axis=0) / np.maximum(counts, 1), overall
    )
    start = rng.choice(len(given), n_clusters, replace=False)
    centers = np.where(known[start], given[start], items)
    labels = np.full(len(given), -1)
    for _ in range(max_iter):
        gaps = np.where(known[:, None], (given[:, None] - centers) ** 2, 0.0)
        found = (gaps.sum(axis=2) / known.sum(axis=1, keepdims=True)).argmin(axis=1)
        if (found == labels).all():
            break
        labels = found
        for c in range(n_clusters):
            own = labels == c
            seen = known[own].sum(axis=0)
            total = np.where(known[own], given[own], 0.0).sum(axis=0)
            if own.any():
                centers[c] = np.where(seen > 0, total / np.maximum(seen, 1), items)
    return Ratings(np.where(known, given, centers[labels]), labels, centers)
