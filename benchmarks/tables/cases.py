"""The tables of the benchmark: files of a data folder, scikit-learn's own, and generated ones.

A case gives a data frame, the target, further flags of the command line, and the columns that were
planted to give the target away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets


@dataclass(frozen=True)
class Case:
    """One table.

    Attributes
    ----------
    name, target : str
    frame : callable
        ``frame(data_folder)`` gives the table as a pandas data frame.
    flags : tuple of str
        Further words for the command line.
    leaks : tuple of str
        Columns that give the target away.
    needs : str or None
        A file of the data folder.
    """

    name: str
    target: str
    frame: Callable[[Path], pd.DataFrame]
    flags: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    needs: str | None = None


def stored(file: str, target: str, *flags: str, drop: tuple[str, ...] = ()) -> Case:
    """A file of the data folder; dropped columns are other targets or parts of the split."""

    def frame(data: Path) -> pd.DataFrame:
        return pd.read_csv(data / file, dtype=str, keep_default_na=False).drop(columns=list(drop))

    return Case(Path(file).name.split(".")[0], target, frame, flags, needs=file)


def bundled(name: str, load: Callable[..., object], target: str = "target") -> Case:
    """A table that scikit-learn carries."""

    def frame(data: Path) -> pd.DataFrame:
        found = load(as_frame=True).frame.rename(columns={"target": target})  # type: ignore[attr-defined]
        if name != "diabetes":
            found[target] = "class " + found[target].astype(str)
        return found

    return Case(f"sklearn_{name}", target, frame)


def rng_of(name: str) -> np.random.Generator:
    """The same draws for a name in every run."""
    return np.random.default_rng(list(name.encode()))


def numbers(rng: np.random.Generator, n: int, d: int, prefix: str = "x") -> pd.DataFrame:
    """Columns of independent normal numbers."""
    return pd.DataFrame(rng.normal(size=(n, d)), columns=[f"{prefix}{j}" for j in range(d)])


def wide(name: str, n: int, d: int, informative: int = 20) -> Case:
    """Many more columns than rows; some of them carry a little each."""

    def frame(data: Path) -> pd.DataFrame:
        rng = rng_of(name)
        X = numbers(rng, n, d, "gene")
        signal = X.iloc[:, :informative].sum(axis=1) / np.sqrt(informative)
        X["y"] = np.where(signal + 0.3 * rng.normal(size=n) > 0, "sick", "well")
        return X.round(4)

    return Case(name, "y", frame)


def rare(name: str, n: int, share: float) -> Case:
    """Two classes, one of them rare."""

    def frame(data: Path) -> pd.DataFrame:
        rng = rng_of(name)
        X = numbers(rng, n, 8)
        score = 2 * X["x0"] + X["x1"] * X["x2"] + rng.normal(size=n)
        X["y"] = np.where(score > np.quantile(score, 1 - share), "yes", "no")
        return X.round(4)

    return Case(name, "y", frame)


def many_classes(data: Path) -> pd.DataFrame:
    """Ten classes; two of them have two rows."""
    rng = rng_of("rare_of_many")
    X = numbers(rng, 900, 6)
    y = np.digitize(X["x0"] + 0.5 * X["x1"] + 0.3 * rng.normal(size=900), np.linspace(-1.5, 1.5, 7))
    X["y"] = [f"kind {k}" for k in y]
    X.loc[[3, 7], "y"] = "kind rare a"
    X.loc[[11, 13], "y"] = "kind rare b"
    return X.round(4)


def large(name: str, n: int, d: int) -> Case:
    """Very many rows of numbers and categories."""

    def frame(data: Path) -> pd.DataFrame:
        rng = rng_of(name)
        X = numbers(rng, n, d - 2)
        X["shop"] = np.char.add("s", rng.integers(0, 40, n).astype(str))
        X["day"] = np.array(["mon", "tue", "wed", "thu", "fri"])[rng.integers(0, 5, n)]
        effect = rng.normal(size=40)[X["shop"].str[1:].astype(int)]
        X["y"] = X["x0"] * X["x1"] + np.sin(2 * X["x2"]) + effect + 0.5 * rng.normal(size=n)
        return X.round(3)

    return Case(name, "y", frame)


def dated(data: Path) -> pd.DataFrame:
    """Sales that depend on weekday and month, with missing cells."""
    rng = rng_of("dated")
    days = pd.date_range("2019-01-01", periods=1500, freq="D")
    sales = 100 + 30 * (days.day_of_week >= 5) + 20 * np.sin(2 * np.pi * days.day_of_year / 365)
    frame = pd.DataFrame({"day": days.strftime("%Y-%m-%d"), "price": rng.normal(10, 1, 1500)})
    frame["sales"] = (sales - 8 * (frame["price"] - 10) + rng.normal(0, 5, 1500)).round(2)
    frame.loc[rng.random(1500) < 0.1, "price"] = np.nan
    return frame


def grouped(data: Path) -> pd.DataFrame:
    """Several rows for each patient; patients differ."""
    rng = rng_of("grouped")
    patient = np.repeat(np.arange(150), 6)
    level = rng.normal(size=150)[patient]
    X = numbers(rng, 900, 5)
    X["x0"] += 0.7 * level
    X["patient"] = [f"p{k}" for k in patient]
    X["y"] = (2 * X["x0"] + X["x1"] + rng.normal(size=900)).round(4)
    return X.round(4)


def holes(data: Path) -> pd.DataFrame:
    """A third of all cells is missing, more often where they are large."""
    rng = rng_of("holes")
    X = numbers(rng, 2000, 10)
    y = X["x0"] + X["x1"] ** 2 + 0.5 * rng.normal(size=2000)
    X = X.mask(rng.random(X.shape) < 0.2 + 0.25 * (X > 0))
    X["y"] = np.where(y > y.median(), "high", "low")
    return X.round(4)


def question_types(data: Path) -> pd.DataFrame:
    """Short questions of six types, from templates with a large vocabulary."""
    rng = rng_of("questions")
    nouns = [
        f"{a}{b}"
        for a in ["river", "mountain", "city", "writer", "engine", "planet"]
        for b in range(60)
    ]
    openings = {
        "person": ["who wrote about", "who is behind", "which person named", "who first saw"],
        "place": ["where is", "in which country lies", "what place has", "where can one see"],
        "number": ["how many of", "how long is", "what is the size of", "how far is"],
        "time": ["when was", "in what year came", "what date has", "when did they build"],
        "entity": [
            "what kind of thing is",
            "which animal likes",
            "what name has",
            "what do we call",
        ],
        "reason": [
            "why is there",
            "what does it mean that",
            "how does one make",
            "why do they fear",
        ],
    }
    kinds = list(openings)
    rows = []
    for _ in range(3000):
        kind = kinds[rng.integers(6)]
        said = kind if rng.random() > 0.08 else kinds[rng.integers(6)]
        words = rng.choice(nouns, 3)
        rows.append((f"{openings[kind][rng.integers(4)]} the {' and '.join(words)} ?", said))
    return pd.DataFrame(rows, columns=["question", "type"])


def noise(data: Path) -> pd.DataFrame:
    """Nothing predicts the target."""
    rng = rng_of("noise")
    X = numbers(rng, 800, 12)
    X["y"] = np.where(rng.random(800) > 0.5, "a", "b")
    return X.round(4)


def leaking(
    name: str, column: str, add: Callable[[pd.DataFrame, np.random.Generator], None]
) -> Case:
    """A table of prices in which a planted column gives the target away."""

    def frame(data: Path) -> pd.DataFrame:
        rng = rng_of(name)
        X = numbers(rng, 1200, 6)
        X["price"] = 50 + 8 * X["x0"] + 5 * X["x1"] + 6 * rng.normal(size=1200)
        add(X, rng)
        return X.round(4)

    return Case(name, "price", frame, leaks=tuple(column.split()))


def add_scaled(X: pd.DataFrame, rng: np.random.Generator) -> None:
    X["price_cents"] = 100 * X["price"] + 3


def add_parts(X: pd.DataFrame, rng: np.random.Generator) -> None:
    X["net"] = X["price"] * rng.uniform(0.3, 0.7, len(X))
    X["tax"] = X["price"] - X["net"]


def add_later(X: pd.DataFrame, rng: np.random.Generator) -> None:
    X["paid"] = X["price"] + 0.05 * rng.normal(size=len(X))


def add_flag(X: pd.DataFrame, rng: np.random.Generator) -> None:
    X["price"] = np.where(X["price"] > 50, "dear", "cheap")
    X["tag"] = np.where(X["price"] == "dear", "T1", "T0")
    X.loc[rng.random(len(X)) < 0.01, "tag"] = "T2"


def key_leak(data: Path) -> pd.DataFrame:
    """A number of the series fixes the class; rows of one series stand in all parts."""
    rng = rng_of("leak_key")
    series = np.repeat(np.arange(120), 8)
    X = numbers(rng, 960, 5)
    X["series"] = rng.permutation(1000)[series]
    X["activity"] = np.array(["walk", "run", "sit"])[rng.integers(0, 3, 120)[series]]
    return X.round(4)


CASES: tuple[Case, ...] = (
    stored("iris.csv", "Species"),
    stored("wine.csv", "class"),
    stored("breast_tissue.csv", "class"),
    stored("adult.csv.gz", "income", drop=("split",)),
    stored("heart_cleveland.csv", "num", "--task", "classify"),
    stored("pima_diabetes.csv", "diabetes"),
    stored("wdbc.csv", "diagnosis"),
    stored("student_portuguese.csv", "G3", drop=("G1", "G2")),
    stored("mushroom.csv", "class"),
    stored("car_evaluation.csv", "class"),
    stored("credit_default.csv.gz", "default"),
    stored("spam.csv", "class", drop=("esl_test",)),
    stored("house_votes_84.csv", "Class"),
    stored("colon_tumour.csv", "class"),
    stored("german_credit.csv", "class"),
    stored("sonar.csv", "class"),
    stored("ionosphere.csv", "class"),
    stored("glass.csv", "type", "--task", "classify"),
    stored("bodyfat.csv", "siri", drop=("brozek", "density", "free")),
    stored("fishcatch.csv", "weight_g"),
    stored("gasoline_nir.csv", "octane"),
    stored("boston_housing.csv", "medv"),
    stored("abalone.csv", "rings"),
    stored("automobile.csv", "price"),
    stored("concrete.csv", "strength"),
    stored("insurance_charges.csv", "charges"),
    stored("california_housing.csv.gz", "medianHouseValue"),
    stored("ames_housing.csv", "SalePrice"),
    stored("body_measurements.csv", "wgt"),
    stored("seeds.csv", "variety"),
    stored("sms_spam.csv", "type"),
    stored("movie_reviews.csv.gz", "label", drop=("file",)),
    stored("airline_passengers.csv", "Passengers", "--time", "Month"),
    bundled("digits", datasets.load_digits),
    bundled("diabetes", datasets.load_diabetes),
    wide("wide_60", 60, 1500),
    wide("wide_72", 72, 7130),
    wide("wide_200", 200, 10_000),
    rare("rare_1_percent", 6000, 0.01),
    rare("rare_5_percent", 1000, 0.05),
    Case("rare_of_many", "y", many_classes),
    large("large_100k", 100_000, 12),
    large("large_1m", 1_000_000, 12),
    Case("dated", "sales", dated),
    Case("grouped", "y", grouped, ("--groups", "patient")),
    Case("holes", "y", holes),
    Case("questions", "type", question_types),
    Case("noise", "y", noise),
    leaking("leak_scaled", "price_cents", add_scaled),
    leaking("leak_parts", "net tax", add_parts),
    leaking("leak_later", "paid", add_later),
    leaking("leak_flag", "tag", add_flag),
    Case("leak_key", "activity", key_leak, leaks=("series",)),
)
