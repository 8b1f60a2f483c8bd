"""A register of trained networks: parameters to share and reuse, with what they expect.

An entry is one safetensors file. Its arrays are the parameters by layer and name and the scaling of
the columns; its header holds the description of the network, the classes, and where it comes from.
So the preprocessing that the parameters were trained with cannot be lost, other programs can read
the arrays, and reading an entry runs no code.

Texts: 000c 18.1.5, section 8 (trained parameters that others reuse).
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.neural.losses import LOSSES
from gnomon.neural.network import Network, Parameters
from gnomon.neural.safetensors import read_metadata, read_safetensors, write_safetensors
from gnomon.neural.trainer import predict_all

FORMAT = "1"
ENDING = ".safetensors"
MEAN, SCALE = "preprocessing/mean", "preprocessing/scale"
NAME = re.compile(r"^[A-Za-z0-9][\w.-]{0,79}$")


@dataclass(repr=False)
class TrainedNetwork(Result):
    """A network with its parameters and what it expects of its inputs.

    Attributes
    ----------
    name : str
    network : Network
    parameters : Parameters
    loss : str
        A name of `gnomon.neural.LOSSES`: what the outputs mean.
    mean, scale : ndarray or None
        The network takes ``(x - mean) / scale``; None for inputs as they are.
    classes : list or None
    about : dict of str to str
        Such as "source", "license", "trained on".
    """

    name: str
    network: Network
    parameters: Parameters
    loss: str = "log_loss"
    mean: np.ndarray | None = None
    scale: np.ndarray | None = None
    classes: list[Any] | None = None
    about: dict[str, str] = field(default_factory=dict)

    def predict(self, X: Any) -> np.ndarray:
        """Estimates, or probabilities of the classes, for rows that are not scaled yet.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)

        Returns
        -------
        output : ndarray of shape (n_samples, *output_shape)
        """
        rows = np.asarray(X, dtype=np.float64)
        if self.mean is not None and self.scale is not None:
            rows = (rows.reshape(len(rows), -1) - self.mean) / self.scale
        rows = self.network.rows(rows, self.parameters.flat.dtype)
        return LOSSES[self.loss]().link(predict_all(self.network, self.parameters, rows))

    def _title(self) -> str:
        return f"{self.name}: {self.network!r}"

    def _columns(self) -> dict[str, list[Any]]:
        scaled = "as they are" if self.mean is None else "standardized by the stored scale"
        told = {
            "takes rows of shape": self.network.input_shape,
            "columns": scaled,
            "classes": "none" if self.classes is None else ", ".join(map(str, self.classes)),
            **self.about,
        }
        return {"what": list(told), "value": list(told.values())}


class NetworkRegister:
    """A folder of trained networks.

    Parameters
    ----------
    folder : path or None, default=None
        None for the variable ``GNOMON_NETWORKS``, else ``~/.local/share/gnomon/networks``.

    Examples
    --------
    >>> import tempfile
    >>> from gnomon.neural import NetworkClassifier, NetworkRegister
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"]
    >>> model = NetworkClassifier(learning_rate_init=0.1, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     register = NetworkRegister(folder)
    ...     _ = register.add("levels", model, about={"source": "four rows"})
    ...     register.names(), register.get("levels").predict([[3.0]]).round().tolist()
    (['levels'], [[1.0, 0.0]])
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None):
        given = folder or os.environ.get("GNOMON_NETWORKS")
        self.folder = Path(given) if given else Path.home() / ".local/share/gnomon/networks"

    def __repr__(self) -> str:
        return f"NetworkRegister({str(self.folder)!r}: {len(self.names())} networks)"

    def names(self) -> list[str]:
        """The names of all entries, sorted."""
        return sorted(file.name.removesuffix(ENDING) for file in self.folder.glob(f"*{ENDING}"))

    def add(
        self,
        name: str,
        model: Any,
        *,
        about: dict[str, str] | None = None,
        replace: bool = False,
    ) -> Path:
        """Enter a trained network.

        Parameters
        ----------
        name : str
            Letters, digits, ``-``, ``_`` and ``.``.
        model : TrainedNetwork, NetworkClassifier, NetworkRegressor or ConvNetClassifier
            Fitted on columns of numbers.
        about : dict from str to str, default=None
            Where it comes from: "source", "license", "trained on" and the like.
        replace : bool, default=False
            Whether an entry of this name may be overwritten.

        Returns
        -------
        path : Path
            The file.
        """
        if not NAME.match(name):
            raise DataError(
                f"{name!r} is no name for a network: use letters, digits, '-', '_' and '.'"
            )
        file = self.folder / f"{name}{ENDING}"
        if file.exists() and not replace:
            raise DataError(
                f"there is a network {name!r} already; give replace=True or another name"
            )
        entry = model if isinstance(model, TrainedNetwork) else entry_of(name, model)
        told = entry.about | (about or {})
        metadata = {
            "gnomon.format": FORMAT,
            "gnomon.network": entry.network.as_text(),
            "gnomon.loss": entry.loss,
            "gnomon.classes": json.dumps(entry.classes),
            "gnomon.about": json.dumps(told),
        }
        arrays = {
            "/".join(place.path): entry.parameters.flat[place.start : place.stop].reshape(
                place.parameter.shape
            )
            for place in entry.network.places
        }
        if entry.mean is not None and entry.scale is not None:
            arrays |= {MEAN: entry.mean, SCALE: entry.scale}
        self.folder.mkdir(parents=True, exist_ok=True)
        return write_safetensors(file, arrays, metadata)

    def get(self, name: str) -> TrainedNetwork:
        """An entry.

        Parameters
        ----------
        name : str

        Returns
        -------
        network : TrainedNetwork
        """
        file = self.folder / f"{name}{ENDING}"
        if not NAME.match(name) or not file.exists():
            known = ", ".join(self.names()) or "none"
            raise DataError(f"there is no network {name!r} in {self.folder}; there are: {known}")
        network, told = described(file)
        arrays = read_safetensors(file)
        parameters = network.initial(0)
        kinds = {arrays[key].dtype for key in map("/".join, paths(network)) if key in arrays}
        if len(kinds) == 1:
            parameters = parameters.astype(kinds.pop())
        for place in network.places:
            key = "/".join(place.path)
            found = arrays.get(key)
            if found is None or found.shape != tuple(place.parameter.shape):
                shape = "missing" if found is None else f"of shape {found.shape}"
                raise DataError(
                    f"{file}: {key} is {shape}; the network needs {tuple(place.parameter.shape)}"
                )
            if not np.isfinite(found).all():
                raise DataError(f"{file}: {key} holds numbers that are not finite")
            parameters.flat[place.start : place.stop] = found.ravel()
        mean, scale = arrays.get(MEAN), arrays.get(SCALE)
        n_inputs = int(np.prod(network.input_shape))
        for key, values in ((MEAN, mean), (SCALE, scale)):
            if values is not None and (
                values.shape != (n_inputs,) or not np.isfinite(values).all()
            ):
                raise DataError(f"{file}: {key} must be {n_inputs} finite numbers")
        classes, about = json.loads(told["gnomon.classes"]), json.loads(told["gnomon.about"])
        return TrainedNetwork(
            name, network, parameters, told["gnomon.loss"], mean, scale, classes, about
        )

    def about(self, name: str) -> dict[str, str]:
        """What the header of an entry says, without its arrays.

        Parameters
        ----------
        name : str

        Returns
        -------
        about : dict from str to str
            With "network", "parameters" and what was given when it was entered.
        """
        network, told = described(self.folder / f"{name}{ENDING}")
        return {
            "network": repr(network),
            "parameters": f"{network.n_parameters:,}",
            **json.loads(told["gnomon.about"]),
        }

    def remove(self, name: str) -> None:
        """Delete an entry.

        Parameters
        ----------
        name : str
        """
        if name not in self.names():
            raise DataError(f"there is no network {name!r} in {self.folder}")
        (self.folder / f"{name}{ENDING}").unlink()


def paths(network: Network) -> list[tuple[str, ...]]:
    """Where the parameters of a network stand, by layer and name."""
    return [place.path for place in network.places]


def described(file: Path) -> tuple[Network, dict[str, str]]:
    """The network of an entry, and the texts of its header."""
    told = read_metadata(file)
    if told.get("gnomon.format") != FORMAT:
        raise DataError(
            f"{file} was not written by a register of this version; read_safetensors reads its "
            "arrays"
        )
    try:
        if told["gnomon.loss"] not in LOSSES:
            raise DataError(f"{file}: there is no loss {told['gnomon.loss']!r}")
        for name in ("gnomon.classes", "gnomon.about"):
            json.loads(told[name])
        return Network.from_text(told["gnomon.network"]), told
    except (KeyError, ValueError) as error:
        raise DataError(f"{file}: its header cannot be used ({error})") from None


def entry_of(name: str, model: Any) -> TrainedNetwork:
    """The entry of a fitted estimator of a described network."""
    text = getattr(model, "network_", None)
    if text is None:
        raise DataError(
            f"{type(model).__name__} has no description of its network, or is not fitted; give a "
            "fitted NetworkClassifier, NetworkRegressor or ConvNetClassifier, or a TrainedNetwork"
        )
    if getattr(model, "encoder_", None) is not None and not model.encoder_.only_numbers:
        raise DataError(
            "the model was fitted on columns that are no numbers, whose codes a register does not "
            "keep; save it with model.save(path)"
        )
    network = Network.from_text(text)
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise DataError(
            "a register keeps networks for classes; save this one with model.save(path)"
        )
    return TrainedNetwork(
        name,
        network,
        network.from_flat(model.parameters_),
        "log_loss",
        getattr(model, "mean_", None),
        getattr(model, "scale_", None),
        classes.tolist(),
    )
