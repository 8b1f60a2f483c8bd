"""Recognition of faces: one class for each person and one for the background, on eigenfaces.

Each image is scaled to mean zero and variance one, so that lighting does not matter. The principal
components of the faces (eigenfaces) span the face space. A window is described by its coordinates
there, in units of their standard deviations, and by the share of it that lies outside, which is
large for what is no face (times the root of the number of eigenfaces, so that distances weigh
both alike). Any classifier learns from these numbers.

    z_k = u_k'(x - m) / s_k,   r = |x - m - sum_k u_k u_k'(x - m)|^2 / |x|^2

Texts: 002 (applications: recognition of faces, named only).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.callback import with_callbacks
from sklearn.utils.metaestimators import available_if

from gnomon.engine.errors import DataError
from gnomon.engine.parameters import HasMethods, validated, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import CLASSES, Array, Object
from gnomon.linear import LogisticRegression
from gnomon.reduce import PCA
from gnomon.vision.base import ImageEstimator
from gnomon.vision.images import as_images


def _gives_probabilities(self: Any) -> bool:
    inner = getattr(self, "estimator_", self.estimator)
    return inner is None or hasattr(inner, "predict_proba")


@method(
    task="classify",
    texts="002",
    use="Faces of known people, upright and cut alike, from few pictures of each.",
    avoid="Turned faces or free lighting; use a network with pretrained weights.",
    peers=("cv2.face.EigenFaceRecognizer",),
    takes="images",
    synonyms=("eigenfaces", "face recognition"),
)
class EigenfaceClassifier(ClassifierMixin, ImageEstimator):
    """Name the person of a face, or say that it is background, by a classifier on eigenfaces.

    Use it for upright faces that are cut alike; not for turned ones. Classes are the people and,
    where `y` has it, the background. Texts: 002.

    Parameters
    ----------
    n_components : int, default=50
        Eigenfaces; fewer where there are fewer faces.
    estimator : estimator, default=None
        Classifier of the coordinates; None for logistic regression.
    background : str, default="background"
        The class whose images do not shape the eigenfaces.
    image_shape : tuple, default=None
        Height, width and channels, where images are rows of pixels.
    n_jobs : int, default=None
        Threads; None for one per processor.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
        The eigenfaces.
    mean_ : ndarray of shape (n_features_in_,)
        The mean of the scaled faces.
    deviations_ : ndarray of shape (n_components,)
        Standard deviations of the coordinates of faces.
    estimator_ : estimator
    classes_ : ndarray
    image_shape_ : tuple
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.vision import EigenfaceClassifier
    >>> rng = np.random.default_rng(0)
    >>> faces = np.repeat(rng.normal(size=(2, 6, 6)), 5, axis=0) + rng.normal(size=(10, 6, 6)) / 5
    >>> model = EigenfaceClassifier(3).fit(faces, ["Ann"] * 5 + ["Bob"] * 5)
    >>> model.predict(faces[[0, 9]]).tolist()
    ['Ann', 'Bob']
    """

    _parameter_constraints = {
        **ImageEstimator._parameter_constraints,
        "n_components": [whole(1)],
        "estimator": [None, HasMethods(["fit", "predict"])],
        "background": [str],
    }
    _stored = {
        **ImageEstimator._stored,
        "components_": Array("f8", ("n_eigenfaces", "n_features_in_")),
        "mean_": Array("f8", ("n_features_in_",)),
        "deviations_": Array("f8", ("n_eigenfaces",), low=0),
        "estimator_": Object(),
        "classes_": CLASSES,
    }

    def __init__(
        self,
        n_components=50,
        estimator=None,
        *,
        background="background",
        image_shape=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.estimator = estimator
        self.background = background
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    @validated
    @with_callbacks
    def fit(self, X: Any, y: Any) -> Any:
        """Learn eigenfaces and people from images.

        Parameters
        ----------
        X : array-like of shape (n, height, width[, channels]), or (n, pixels) with image_shape
        y : array-like of shape (n,)
            The person of each image, or the background.

        Returns
        -------
        self : object
        """
        images, names = as_images(X, self.image_shape), np.asarray(y)
        if names.shape != (len(images),):
            raise DataError(f"{len(images)} images need as many labels, not {names.shape}")
        self._reported(images, names)
        return self

    def _fit(self, images: np.ndarray, *target: Any) -> None:
        (names,) = target
        self.classes_ = np.unique(names)
        if len(self.classes_) < 2:
            raise DataError(
                f"all {len(names)} images are of {str(self.classes_[0])!r}: nothing to tell "
                "apart. Add another person, or images of the background"
            )
        rows = _scaled(images)
        faces = rows[names.astype(str) != self.background]
        if len(faces) < 2:
            raise DataError(f"{len(faces)} images are no background; eigenfaces need two or more")
        found = PCA(min(self.n_components, len(faces) - 1, rows.shape[1])).fit(faces)
        self.components_, self.mean_ = found.components_, found.mean_
        self.deviations_ = np.sqrt(found.explained_variance_)
        learner = LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator
        self.estimator_ = clone(learner).fit(self._map(images), names)

    def _map(self, images: np.ndarray) -> np.ndarray:
        """Coordinates of images in the face space, and the share of each outside it."""
        rows = _scaled(images)
        centered = rows - self.mean_
        places = centered @ self.components_.T
        outside = np.sum((centered - places @ self.components_) ** 2, axis=1) / rows.shape[1]
        # a face is about the root of the number of eigenfaces away from the mean
        outside *= np.sqrt(len(self.deviations_))
        largest = max(float(self.deviations_.max(initial=0.0)), 1e-12)
        return np.column_stack([places / np.maximum(self.deviations_, 1e-6 * largest), outside])

    def eigenface_features(self, X: Any) -> np.ndarray:
        """What the classifier learns from: coordinates, and the share outside the face space.

        Parameters
        ----------
        X : array-like of shape (n, height, width[, channels]) or (n, pixels)

        Returns
        -------
        features : ndarray of shape (n, n_components + 1)
        """
        return self._in_blocks(self._map, self._seen(X))

    def predict(self, X: Any) -> np.ndarray:
        """The person of each image, or the background.

        Parameters
        ----------
        X : array-like of shape (n, height, width[, channels]) or (n, pixels)

        Returns
        -------
        y : ndarray of shape (n,)
        """
        features = self.eigenface_features(X)
        return np.asarray(self.estimator_.predict(features))

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n, height, width[, channels]) or (n, pixels)

        Returns
        -------
        proba : ndarray of shape (n, n_classes)
        """
        features = self.eigenface_features(X)
        return np.asarray(self.estimator_.predict_proba(features))


def _scaled(images: np.ndarray) -> np.ndarray:
    """Images as rows of mean zero and variance one; a constant one is all zero."""
    rows = images.reshape(len(images), -1)
    rows = rows - rows.mean(axis=1, keepdims=True)
    return rows / np.maximum(rows.std(axis=1, keepdims=True), 1e-9)
