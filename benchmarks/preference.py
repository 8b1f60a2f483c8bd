"""How many answers a person must give: preference search on a real table of cars.

    python -m benchmarks.preference FOLDER_OF_DATA [n_people]

Simulated people have a hidden additive utility of six criteria and answer wrongly in one case of
ten. Measured: the share of people for whom the first candidate is among their true best five, after
each number of answers, for the questions that `PreferenceSearch` chooses and for random questions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import gnomon
from gnomon.decide import PreferenceSearch

GOALS = {
    "horsepower": "more",
    "city_mpg": "more",
    "price": "less",
    "length": "more",
    "curb_weight": "less",
    "symboling": "less",
}
ANSWERS = 24
WRONG = 0.1
BEST = 5


def cars(folder: Path) -> np.ndarray:
    """The complete rows of the six criteria."""
    columns = gnomon.read(folder / "automobile.csv").select(list(GOALS)).to_dict()
    table = np.array([[np.nan if v is None else v for v in columns[name]] for name in GOALS])
    return table.T[~np.isnan(table).any(axis=0)]


def hits(values: np.ndarray, person: int, chosen: bool) -> np.ndarray:
    """Whether the first candidate is among the true best, after each number of answers."""
    rng = np.random.default_rng([7, person])
    signs = np.array([1.0 if want == "more" else -1.0 for want in GOALS.values()])
    scaled = values * signs
    scaled = (scaled - scaled.min(axis=0)) / np.ptp(scaled, axis=0)
    utility = scaled ** np.exp(0.3 * rng.normal(size=6)) @ rng.dirichlet(np.ones(6))
    best = set(np.argsort(-utility)[:BEST].tolist())
    search = PreferenceSearch(values, GOALS, random_state=person)
    found = np.zeros(ANSWERS, dtype=bool)
    for k in range(ANSWERS):
        a, b = search.ask() if chosen else rng.choice(search.front, 2, replace=False)
        right = (utility[a] > utility[b]) != (rng.random() < WRONG)
        search.tell(*((a, b) if right else (b, a)))
        found[k] = int(search.standing().rows[0]) in best
    return found


def main() -> None:
    folder = Path(sys.argv[1])
    n_people = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    values = cars(folder)
    chosen = np.mean([hits(values, person, True) for person in range(n_people)], axis=0)
    drawn = np.mean([hits(values, person, False) for person in range(n_people)], axis=0)
    print(f"{len(values)} cars, {n_people} people, {WRONG:.0%} wrong answers")
    print("answers  chosen questions  random questions")
    for k in range(0, ANSWERS, 2):
        print(f"{k + 1:7d}  {chosen[k]:16.2f}  {drawn[k]:16.2f}")
    print(f"     12  {chosen[11]:16.2f}  {drawn[11]:16.2f}")


if __name__ == "__main__":
    main()
