"""The four forms of the covariances of a mixture: full, tied, diagonal, spherical.

Inside, every component has its own d x d matrix (full, tied) or its own d variances (diagonal,
spherical); a form says how these are pooled, how the public array is shaped, and how many numbers
it has.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dtrtrs

LARGEST_FACTOR = 1e50  # deviations of 1e-50 and less have collapsed; squares of factors stay finite


class Form:
    """A form of covariances; made for `n_components` components of `n_columns` columns.

    Parameters
    ----------
    n_components : int
    n_columns : int
    """

    def __init__(self, n_components: int, n_columns: int):
        self.k = n_components
        self.d = n_columns

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the public array."""
        raise NotImplementedError

    @property
    def n_parameters(self) -> int:
        raise NotImplementedError

    def pooled(self, own: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The public array from every component's own covariance and weight."""
        raise NotImplementedError

    def expanded(self, public: np.ndarray) -> np.ndarray:
        """Every component's own covariance from the public array."""
        raise NotImplementedError

    def contracted(self, own: np.ndarray) -> np.ndarray:
        """The public array from equal pieces that `expanded` has made (or their roots)."""
        raise NotImplementedError

    def regularized(self, public: np.ndarray, amount: float) -> np.ndarray:
        """With `amount` added to every variance."""
        return public + amount

    def of_number(self, variance: float) -> np.ndarray:
        """The public array of a number times the identity."""
        return np.full(self.shape, variance)

    def of_variances(self, variances: np.ndarray) -> np.ndarray:
        """The public array of the same variances of columns in every component."""
        raise NotImplementedError

    def inverted(self, public: np.ndarray) -> np.ndarray:
        """Covariances from precisions, and back."""
        return 1.0 / public


class Full(Form):
    """A covariance matrix per component."""

    @property
    def shape(self):
        return (self.k, self.d, self.d)

    @property
    def n_parameters(self):
        return self.k * self.d * (self.d + 1) // 2

    def pooled(self, own, weight):
        return own

    def expanded(self, public):
        return public

    def contracted(self, own):
        return own

    def regularized(self, public, amount):
        return public + amount * np.eye(self.d)

    def of_number(self, variance):
        return np.broadcast_to(variance * np.eye(self.d), self.shape).copy()

    def of_variances(self, variances):
        return np.broadcast_to(np.diag(variances), self.shape).copy()

    def inverted(self, public):
        inverse = np.linalg.inv(public)
        return (inverse + np.swapaxes(inverse, -1, -2)) / 2


class Tied(Full):
    """One covariance matrix for all components."""

    @property
    def shape(self):
        return (self.d, self.d)

    @property
    def n_parameters(self):
        return self.d * (self.d + 1) // 2

    def pooled(self, own, weight):
        return np.tensordot(weight / weight.sum(), own, axes=1)

    def expanded(self, public):
        return np.broadcast_to(public, (self.k, self.d, self.d))

    def contracted(self, own):
        return own[0].copy()


class Diagonal(Form):
    """A variance per component and column."""

    @property
    def shape(self):
        return (self.k, self.d)

    @property
    def n_parameters(self):
        return self.k * self.d

    def pooled(self, own, weight):
        return own

    def expanded(self, public):
        return public

    def contracted(self, own):
        return own

    def of_variances(self, variances):
        return np.broadcast_to(variances, self.shape).copy()


class Spherical(Form):
    """One variance per component."""

    @property
    def shape(self):
        return (self.k,)

    @property
    def n_parameters(self):
        return self.k

    def pooled(self, own, weight):
        return own.mean(axis=1)

    def expanded(self, public):
        return np.repeat(public[:, None], self.d, axis=1)

    def contracted(self, own):
        return own[:, 0].copy()

    def of_variances(self, variances):
        return np.full(self.shape, variances.mean())


FORMS: dict[str, type[Form]] = {
    "full": Full,
    "tied": Tied,
    "diag": Diagonal,
    "spherical": Spherical,
}


class CollapseError(ValueError):
    """A covariance that is not positive definite.

    Parameters
    ----------
    component : int
        Whose it is.
    """

    def __init__(self, component: int):
        super().__init__(f"the covariance of component {component} is not positive definite")
        self.component = component


def factorized(own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Roots L (covariance L L') and whitening factors L^-T; standard deviations for variances.

    Raises CollapseError for a covariance that is not (numerically) positive definite.
    """
    if own.ndim == 2:
        for component, variances in enumerate(own):
            if not (variances > LARGEST_FACTOR**-2).all():
                raise CollapseError(component)
        roots = np.sqrt(own)
        return roots, 1.0 / roots
    roots, factors = np.empty(own.shape), np.empty(own.shape)
    tied = len(own) > 1 and own.strides[0] == 0
    identity = np.eye(own.shape[-1])
    for component, covariance in enumerate(own[:1] if tied else own):
        try:
            root = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:
            raise CollapseError(component) from None
        if not (np.diagonal(root) > 1 / LARGEST_FACTOR).all():
            raise CollapseError(component)
        roots[component] = root
        # what solve_triangular calls, without its checks, which cost more than the solution
        factors[component] = dtrtrs(root.T, identity, lower=0, trans=1)[0].T
    if tied:
        roots[1:], factors[1:] = roots[0], factors[0]
    return roots, factors
