"""Example tables that come with gnomon or with scikit-learn: small, public, nothing is fetched."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import numpy as np
import pyarrow as pa

from gnomon.engine.errors import DataError
from gnomon.table.kinds import Kind
from gnomon.table.recode import encode_levels
from gnomon.table.schema import Column, Schema
from gnomon.table.table import Table

CUSTOMERS_SEED = 1714  # arbitrary; fixed because the bundled file and printed examples come from it
CUSTOMERS_ROWS = 2000  # judgement: learned from in seconds, and enough for narrow intervals


def example(name: str) -> Table:
    """An example table by name; `examples` lists them.

    Parameters
    ----------
    name : str

    Returns
    -------
    Table

    Examples
    --------
    >>> example("weather").shape
    (14, 5)
    >>> example("iris").schema["species"].levels
    ('setosa', 'versicolor', 'virginica')
    """
    if name in _FILES:
        from importlib.resources import files

        from gnomon.table.read import read

        content = files("gnomon.table").joinpath("examples", f"{name}.csv").read_bytes()
        table = read(content, schema=_FILES[name][1])
        table.notes.insert(0, f"Example table {name!r}: {_FILES[name][0]}.")
        return table
    if name in _SKLEARN:
        return _from_sklearn(name)
    near = get_close_matches(name, examples(), n=1)
    hint = f"Did you mean {near[0]!r}?" if near else ""
    raise DataError(f"No example is named {name!r}. {hint} There are {', '.join(examples())}.")


def examples() -> dict[str, str]:
    """Names of the example tables, each with what it is about.

    Examples
    --------
    >>> "customers" in examples()
    True
    """
    bundled = {name: about for name, (about, _) in _FILES.items()}
    return bundled | {name: about for name, (about, *_) in _SKLEARN.items()}


_FILES: dict[str, tuple[str, dict[Any, Any] | None]] = {
    "weather": ("14 days on which a game was played or not; nominal and numeric columns", None),
    "contact_lenses": (
        "24 patients and the lenses that fit them, all combinations of four properties",
        {"age": {"kind": "ordered", "levels": ["young", "pre-presbyopic", "presbyopic"]}},
    ),
    "customers": (
        "2,000 invented customers of a telephone company with text, dates, missing values, and "
        "whether they left (churn)",
        None,
    ),
}
_SKLEARN: dict[str, tuple[Any, ...]] = {
    "iris": ("150 iris flowers of three species", "load_iris", "species"),
    "wine": ("178 wines of three growers, 13 measurements", "load_wine", "cultivar"),
    "breast_cancer": ("569 tumours, malignant or benign", "load_breast_cancer", "diagnosis"),
    "diabetes": (
        "442 patients and the progression of their disease",
        "load_diabetes",
        "progression",
    ),
    "digits": ("1,797 handwritten digits of 8 x 8 pixels", "load_digits", "digit"),
}


def _from_sklearn(name: str) -> Table:
    from sklearn import datasets

    about, loader, target = _SKLEARN[name]
    options = {"scaled": False} if name == "diabetes" else {}
    bunch = getattr(datasets, loader)(**options)
    columns, arrays = [], []
    for feature, values in zip(bunch.feature_names, bunch.data.T):
        columns.append(Column(_plain(feature), Kind.NUMBER, "a measurement", unit=_unit(feature)))
        arrays.append(pa.chunked_array([pa.array(np.ascontiguousarray(values, dtype=np.float64))]))
    column, values = _target(bunch, target)
    arrow = pa.table([*arrays, values], names=[*(each.name for each in columns), target])
    return Table(arrow, Schema([*columns, column]), [f"Example table {name!r}: {about}."])


def _target(bunch: Any, name: str) -> tuple[Column, pa.ChunkedArray]:
    if not hasattr(bunch, "target_names"):
        values = pa.chunked_array([pa.array(bunch.target, pa.float64())])
        return Column(name, Kind.NUMBER, "the target"), values
    levels = tuple(str(level) for level in bunch.target_names)
    words = pa.chunked_array(
        [pa.array(np.asarray(levels, dtype=object)[bunch.target], pa.string())]
    )
    column = Column(name, Kind.CATEGORY, "the target", levels)
    return column, encode_levels(words, column)


def _plain(feature: str) -> str:
    return feature.split(" (")[0].replace(" ", "_").replace("/", "_")


def _unit(feature: str) -> str | None:
    return feature.split("(")[1].rstrip(")") if "(" in feature else None


def generate_customers(
    rows: int = CUSTOMERS_ROWS, random_state: int = CUSTOMERS_SEED
) -> dict[str, list[Any]]:
    """Invent the customers of the bundled table: columns of written values, some of them missing.

    The chance to leave is a known function of the columns (contract, tenure, complaints, price,
    tone of the last message), so that the best possible accuracy is known too: about 0.85.
    """
    draw = np.random.default_rng(random_state)
    contract = draw.choice(["monthly", "one year", "two years"], rows, p=[0.5, 0.3, 0.2])
    tenure = np.minimum(draw.geometric(0.035, rows), 120)
    age = np.clip(draw.normal(46, 15, rows).round(), 18, 92).astype(int)
    region = draw.choice(["north", "east", "south", "west"], rows, p=[0.3, 0.2, 0.3, 0.2])
    plan = draw.choice(["basic", "standard", "premium"], rows, p=[0.45, 0.35, 0.2])
    price = np.select([plan == "basic", plan == "standard"], [15.0, 30.0], 55.0)
    charge = (price * draw.lognormal(0, 0.15, rows)).round(2)
    complaints = draw.poisson(0.9, rows)
    paperless = draw.random(rows) < 0.6
    joined = np.datetime64("2024-06-30") - (tenure * 30.4 + draw.integers(0, 30, rows)).astype(int)
    angry = draw.random(rows) < 0.12 + 0.2 * (complaints > 1)
    logit = (
        -2.9
        + 3.4 * (contract == "monthly")
        - 1.6 * (contract == "two years")
        - 0.055 * tenure
        + 1.25 * complaints
        + 0.03 * (charge - 30)
        + 2.0 * angry
        + 0.8 * (region == "north")
    )
    chance = 1 / (1 + np.exp(-1.05 * logit))
    churn = draw.random(rows) < chance
    message = [_message(draw, tone) for tone in angry]
    blank = _blanker(draw)
    return {
        "customer_id": [f"C{number:05d}" for number in draw.permutation(rows) + 1],
        "joined": [str(day) for day in joined],
        "age": blank(age, 0.04),
        "region": region.tolist(),
        "plan": plan.tolist(),
        "contract": contract.tolist(),
        "tenure_months": tenure.tolist(),
        "monthly_charge": [f"{value:.2f}" for value in charge],
        "complaints": complaints.tolist(),
        "paperless": blank(np.where(paperless, "yes", "no"), 0.02),
        "last_message": blank(np.array(message, dtype=object), 0.1),
        "churn": np.where(churn, "yes", "no").tolist(),
    }


_OPENINGS = ("hello", "good morning", "dear team", "hi there", "to whom it may concern")
_CALM = (
    "thanks for the quick help with my invoice",
    "please update my postal address",
    "could you explain the new data option",
    "everything works well since the last visit",
    "i would like a copy of my contract",
    "how do i set up the voice mailbox",
)
_ANGRY = (
    "the connection failed again and nobody answers",
    "i was charged twice and want my money back",
    "this is the third outage this month, i am fed up",
    "your competitor offers a better price",
    "cancel my account if this is not repaired",
)


def _message(draw: np.random.Generator, angry: bool) -> str:
    pool = _ANGRY if angry else _CALM
    return f"{draw.choice(_OPENINGS)}, {draw.choice(pool)}"


def _blanker(draw: np.random.Generator) -> Callable[[np.ndarray, float], list[Any]]:
    def blank(values: np.ndarray, share: float) -> list[Any]:
        gone = draw.random(len(values)) < share
        return ["" if lost else str(value) for value, lost in zip(values, gone)]

    return blank
