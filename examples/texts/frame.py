"""What an experiment, an erratum and an omission are, and how they are run and kept."""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import gnomon
from examples.texts.contents import TEXTS

RESULTS = Path(__file__).parent / "results"
SEED = 0
DIGITS = 5  # significant digits of the numbers that are kept


@dataclass(frozen=True)
class Experiment:
    """A printed experiment or worked example; `compute(data, seed)` gives the reproduced values."""

    text: str
    chapter: int
    where: str
    title: str
    printed: Mapping[str, Any]
    why: str
    data: tuple[str, ...]
    methods: tuple[str, ...]
    compute: Callable[[Folder, int], dict[str, Any]]

    @property
    def name(self) -> str:
        return f"{self.text}/{self.compute.__name__}"


@dataclass(frozen=True)
class Proof:
    """A computed check of an erratum: the corrected value is the true one, the printed is not.

    Attributes
    ----------
    printed : number, str or list
        What the text prints, or what its formula gives.
    corrected : number, str or list
        What the corrected formula gives.
    truth : number, str or list
        The same by a way that uses neither formula, named in `by`.
    by : str
    """

    printed: Any
    corrected: Any
    truth: Any
    by: str

    def holds(self, tol: float = 1e-6) -> bool:
        return close(self.corrected, self.truth, tol) and not close(self.printed, self.truth, tol)


@dataclass(frozen=True)
class Erratum:
    """An error of a text, what is right, and a function that proves it."""

    text: str
    chapter: int
    where: str
    printed: str
    right: str
    prove: Callable[[], Proof]

    @property
    def name(self) -> str:
        return f"{self.text}/{self.prove.__name__}"


@dataclass(frozen=True)
class Omission:
    """A printed experiment that is not reproduced, and why."""

    text: str
    chapter: int
    where: str
    what: str
    why: str


class Folder:
    """The user's folder of data sets."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def has(self, name: str) -> bool:
        return (self.path / name).exists()

    def frame(self, name: str, **options: Any) -> Any:
        """A file of comma-separated values as a data frame."""
        import pandas as pd

        return pd.read_csv(self.path / name, **options)

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        with np.load(self.path / name) as file:
            return dict(file)

    def text(self, name: str) -> str:
        import gzip

        raw = (self.path / name).read_bytes()
        raw = gzip.decompress(raw) if name.endswith(".gz") else raw
        return raw.decode("utf-8", errors="replace")


EXPERIMENTS: list[Experiment] = []
ERRATA: list[Erratum] = []
OMISSIONS: list[Omission] = []


def experiment(
    text: str,
    chapter: int,
    where: str,
    title: str,
    *,
    printed: Mapping[str, Any],
    why: str = "",
    data: tuple[str, ...] = (),
    methods: tuple[str, ...] = (),
) -> Callable:
    """Enter an experiment; the function below it computes the reproduced values."""

    def enter(compute: Callable) -> Callable:
        EXPERIMENTS.append(
            Experiment(text, chapter, where, title, printed, why, data, methods, compute)
        )
        return compute

    return enter


def erratum(text: str, chapter: int, where: str, *, printed: str, right: str) -> Callable:
    """Enter an erratum; the function below it proves it."""

    def enter(prove: Callable[[], Proof]) -> Callable[[], Proof]:
        ERRATA.append(Erratum(text, chapter, where, printed, right, prove))
        return prove

    return enter


def omit(text: str, chapter: int, where: str, what: str, why: str) -> None:
    """Enter an experiment that is not reproduced."""
    OMISSIONS.append(Omission(text, chapter, where, what, why))


def close(one: Any, other: Any, tol: float = 1e-6) -> bool:
    """Whether two values, lists or strings are the same up to a relative tolerance."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    if np.shape(one) != np.shape(other):
        return False
    return bool(np.allclose(one, other, rtol=tol, atol=tol))


def kept(value: Any) -> Any:
    """A value as it stands in the file of results."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): kept(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [kept(each) for each in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
    return str(value)


def results_of(text: str) -> dict[str, dict]:
    """The kept results of a text, by name."""
    path = RESULTS / f"{text}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def run(folder: Folder | None, only: list[str], seed: int = SEED) -> list[str]:
    """Compute what is asked for and keep it; return the names of what was not computed."""
    missed: list[str] = []
    for text in TEXTS:
        results = results_of(text)
        current = [each for each in EXPERIMENTS + ERRATA if each.text == text]
        names = {each.name for each in current}
        results = {name: result for name, result in results.items() if name in names}
        for each in current:
            if only and not any(each.name.startswith(start) for start in only):
                continue
            needs = each.data if isinstance(each, Experiment) else ()
            absent = [name for name in needs if folder is None or not folder.has(name)]
            if absent:
                missed.append(each.name)
                print(f"{each.name}: not computed, no {', '.join(absent)}")
                continue
            begun = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    values = computed(each, folder, seed)
                except Exception as error:
                    missed.append(each.name)
                    print(f"{each.name}: failed, {type(error).__name__}: {error}", flush=True)
                    continue
            seconds = time.perf_counter() - begun
            results[each.name] = {
                "date": date.today().isoformat(),
                "seed": seed,
                "gnomon": gnomon.__version__,
                "seconds": round(seconds, 1),
                "values": values,
            }
            print(f"{each.name} ({seconds:.1f} s): {values}", flush=True)
            write(text, results)
    return missed


def computed(each: Experiment | Erratum, folder: Folder | None, seed: int) -> dict[str, Any]:
    if isinstance(each, Experiment):
        return kept(each.compute(folder, seed))
    proof = each.prove()
    if not proof.holds():
        raise ValueError(f"{each.name} does not hold: {proof}")
    return kept(vars(proof))


def write(text: str, results: dict[str, dict]) -> None:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{text}.json"
    path.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
