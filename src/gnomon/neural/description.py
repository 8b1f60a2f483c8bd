"""Descriptions of networks as plain values and as readable text.

A text has a line for each layer: its kind, then its values by name. Layers inside another are
indented below it. The first line gives the shape of the input. A name before a colon names a layer,
and ``from`` says which layers it takes in (the one before it otherwise)::

    input 28 28 1
    first: Conv2D filters=20 kernel_size=5 activation=relu
    MaxPool2D size=2
    Residual
        Conv2D filters=20 kernel_size=3 padding=same
    Flatten
    Dense units=10

Reading a description runs no code: values are numbers, words, true, false, none, or lists in
brackets.

Texts: 000c 18.1.1 (an environment that assembles a described network).
"""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from typing import Any

from gnomon.engine.errors import DataError
from gnomon.neural.composite import Composite
from gnomon.neural.layers import LAYERS, Layer

INDENT = 4  # as in Python
_WORDS = {"true": True, "false": False, "none": None}
_LINE = re.compile(r"^(?:(?P<name>[\w.-]+)\s*:\s*)?(?P<kind>\w+)(?P<rest>(?:\s.*)?)$")
_VALUE = re.compile(r"(\w+)=(\[[^\]]*\]|\S+)")


def layer_of(told: Any, where: str = "the description") -> Layer:
    """A layer from its description as plain values.

    Parameters
    ----------
    told : Layer or dict
        With the key "kind", and values by name.
    where : str
        What errors call the place.

    Returns
    -------
    layer : Layer

    Examples
    --------
    >>> layer_of({"kind": "Dense", "units": 3})
    Dense(units=3, activation='identity', bias=True, bias_start=0.0, name=None)
    """
    if isinstance(told, Layer):
        return told
    if not isinstance(told, dict) or "kind" not in told:
        raise DataError(f"{where}: a layer is a Layer, or a dict with a 'kind', not {told!r}")
    values = {key: value for key, value in told.items() if key != "kind"}
    cls = LAYERS.get(told["kind"])
    if cls is None:
        known = ", ".join(sorted(LAYERS))
        raise DataError(f"{where}: there is no layer {told['kind']!r}; the layers are {known}")
    known_fields = {each.name: each for each in fields(cls)}  # type: ignore[arg-type]
    for key in values:
        if key not in known_fields:
            raise DataError(f"{where}: {cls.__name__} has no {key!r}; it has {list(known_fields)}")
    for key, each in known_fields.items():
        if each.default is MISSING and key not in values:
            raise DataError(f"{where}: {cls.__name__} needs {key!r}")
    if issubclass(cls, Composite):
        inner = values.get("layers", ())
        values["layers"] = tuple(layer_of(each, f"{where}, {cls.__name__}") for each in inner)
    plain = {key: tuple(v) if isinstance(v, list) else v for key, v in values.items()}
    return cls(**plain)


def text_of(nodes: list[tuple[str, Layer, list[str]]], input_shape: tuple[int, ...]) -> str:
    """The text of a network's nodes: name, layer, names of its inputs."""
    lines = ["input " + " ".join(map(str, input_shape))]
    before = "input"
    for name, layer, inputs in nodes:
        taken = "" if inputs == [before] else " from " + ", ".join(inputs)
        lines += _lines(layer, 0, name, taken)
        before = name
    return "\n".join(lines) + "\n"


def _lines(layer: Layer, depth: int, name: str | None, taken: str = "") -> list[str]:
    told = layer.as_dict()
    kind, inner = told.pop("kind"), told.pop("layers", [])
    told.pop("name", None)
    values = "".join(f" {key}={_written(value)}" for key, value in told.items())
    label = f"{name}: " if name else ""
    lines = [" " * (INDENT * depth) + label + kind + values + taken]
    if inner:
        for each in layer.layers:  # type: ignore[attr-defined]
            lines += _lines(each, depth + 1, each.name)
    return lines


def _written(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_written, value)) + "]"
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def _read(word: str) -> Any:
    if word.startswith("["):
        return [_read(each.strip()) for each in word[1:-1].split(",") if each.strip()]
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


def parse(text: str) -> dict[str, Any]:
    """A network's description as plain values, from its text.

    Parameters
    ----------
    text : str

    Returns
    -------
    told : dict
        With "input_shape", and "layers": a list of dicts, whose "inputs" may name layers.
    """
    numbered = [
        (number, line.split("#")[0].rstrip()) for number, line in enumerate(text.splitlines(), 1)
    ]
    numbered = [(number, line) for number, line in numbered if line.strip()]
    if not numbered or not numbered[0][1].startswith("input"):
        raise DataError("a description begins with a line 'input' and the shape, as: input 28 28 1")
    number, first = numbered[0]
    shape = first.split()[1:]
    if not shape or not all(each.isdecimal() for each in shape):
        raise DataError(f"line {number}: {first!r} must give the shape, as: input 28 28 1")
    layers: list[dict[str, Any]] = []
    open_layers: list[tuple[int, list[dict[str, Any]]]] = [(-1, layers)]
    for number, line in numbered[1:]:
        depth = len(line) - len(line.lstrip())
        while depth <= open_layers[-1][0]:
            open_layers.pop()
        told = _parsed_line(line.strip(), number)
        parent = open_layers[-1][1]
        if len(open_layers) > 1 and "inputs" in told:
            raise DataError(f"line {number}: a layer inside another cannot take its input 'from'")
        parent.append(told)
        inner: list[dict[str, Any]] = []
        told["layers"] = inner
        open_layers.append((depth, inner))
    return {"input_shape": [int(each) for each in shape], "layers": _without_empty(layers)}


def _parsed_line(line: str, number: int) -> dict[str, Any]:
    found = _LINE.match(line)
    if found is None:
        raise DataError(f"line {number}: {line!r} is no layer; write its kind and name=value parts")
    told: dict[str, Any] = {"kind": found["kind"], "line": number}
    if found["name"]:
        told["name"] = found["name"]
    rest = found["rest"]
    parts = re.split(r"\sfrom\s", rest, maxsplit=1)
    if len(parts) == 2:
        told["inputs"] = [each.strip() for each in parts[1].split(",") if each.strip()]
    left = _VALUE.sub("", parts[0]).strip()
    if left:
        raise DataError(f"line {number}: {left!r} is not of the form name=value")
    told |= {key: _read(value) for key, value in _VALUE.findall(parts[0])}
    return told


def _without_empty(layers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Layers without the empty lists of inner layers of those that have none; names checked."""
    found = []
    for told in layers:
        inner = _without_empty(told.pop("layers"))
        number = told.pop("line")
        cls = LAYERS.get(told["kind"])
        if inner and (cls is None or not issubclass(cls, Composite)):
            raise DataError(f"line {number}: {told['kind']} has no layers inside; indent less")
        if inner:
            told["layers"] = inner
        found.append(told)
    return found
