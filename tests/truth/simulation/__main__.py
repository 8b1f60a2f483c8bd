"""Run the simulations and write benchmarks/TRUTH.md.

``python -m tests.truth.simulation [word ...]`` runs those whose job or name has a word. Counts are
kept in benchmarks/truth.json, so that a run that was stopped goes on where it ended, and more
repeats add to those that were made. ``--fresh`` forgets the counts of what is run: where an
interval or a test was changed, earlier counts say nothing of it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

from tests.truth.simulation.harness import Count, Record, Simulation, lines, repeated
from tests.truth.simulation.registered import SIMULATIONS

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
RESULTS, RECORDS = BENCHMARKS / "TRUTH.md", BENCHMARKS / "truth.json"
BLOCK = 10  # repeats of one law between two laws, so that all advance together
HEAD = """# How often statements are true, measured

Every test and interval that a job prints, in simulated tables in which the truth is known. Nominal
is the level of a test (share of false alarms) or the coverage of an interval; measured is the share
of simulated tables, with its Monte Carlo error; *open*: too few repeats (below 100, or a share
outside the band by chance) to decide; *declined* counts tables in which the job itself says that
the statement cannot be made or trusted, or, in the laws "grouped" and "autocorrelated", that it is
for independent rows; *said*: outside the band, and the job says so where it prints the statement.
Where a job can be told the groups or the time of these laws, it is told.
`group` is simulated with 200 rows and at most five groups (`most=5`; its default is ten).
Written by `make truth`; descriptions of the table at hand (`figure` in
`gnomon.workbench.base.statements`) claim nothing of other rows and are not listed.

| job | statement | law | nominal | measured | band | repeats | declined | verdict |
|---|---|---|---|---|---|---|---|---|
"""


def main() -> int:
    """Run what is asked for; 1 where a statement fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="simulations whose job or name has one of these")
    parser.add_argument("--laws", nargs="+", help="these laws alone")
    parser.add_argument("--repeats", type=int, default=1000, help="tables per law")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--fresh", action="store_true", help="forget earlier counts")
    asked = parser.parse_args()
    records = read_records()
    chosen = [
        each
        for each in SIMULATIONS
        if not asked.words or any(word in f"{each.job}/{each.name}" for word in asked.words)
    ]
    if asked.laws:
        chosen = [
            replace(each, laws=tuple(law for law in each.laws if law in asked.laws))
            for each in chosen
        ]
    if asked.fresh:
        again = {name for each in chosen for name in names(each)}
        records = {name: each for name, each in records.items() if name not in again}
    run(chosen, records, asked.repeats, time.time() + asked.seconds)
    failed = write_results(read_records())
    print(f"{RESULTS} is written; {failed} statements fail in a law")
    return int(failed > 0)


def run(chosen: list[Simulation], records: dict[str, Record], repeats: int, until: float) -> None:
    """All simulations in turns of some repeats, so that an early stop leaves none behind."""
    for target in range(BLOCK, repeats + BLOCK, BLOCK):
        for each in chosen:
            for law in each.laws:
                record = records.setdefault(name_of(each, law), Record())
                repeated(each, law, record, min(target, repeats), until)
                write_records(records, chosen)
        print(f"{min(target, repeats)} repeats", flush=True)
        if time.time() >= until:
            return


def name_of(each: Simulation, law: str) -> str:
    """Under which the counts of a simulation and law are kept."""
    return f"{each.job}/{each.name}/{law}"


def names(each: Simulation) -> list[str]:
    return [name_of(each, law) for law in each.laws]


def read_records() -> dict[str, Record]:
    """The counts of earlier runs."""
    if not RECORDS.exists():
        return {}
    kept = json.loads(RECORDS.read_text())
    return {
        key: Record(each["repeats"], {n: Count(**c) for n, c in each["counts"].items()})
        for key, each in kept.items()
    }


def write_records(records: dict[str, Record], chosen: list[Simulation]) -> None:
    """Keep the counts of what was run, beside those that another run has written meanwhile."""
    ours = {name for each in chosen for name in names(each)}
    known = read_records() | {name: each for name, each in records.items() if name in ours}
    plain = {key: asdict(each) for key, each in sorted(known.items())}
    RECORDS.write_text(json.dumps(plain, indent=1) + "\n")


def write_results(records: dict[str, Record]) -> int:
    """Write the table; how many statements fail in a law."""
    written, failed = [], 0
    for each in SIMULATIONS:
        for law in each.laws:
            record = records.get(name_of(each, law))
            for statement, of, count, verdict in lines(each, law, record) if record else ():
                failed += verdict == "FAILS"
                measured = f"{count.share:.1%} ± {count.error:.1%}" if count.n else "-"
                band = f"{statement.band[0]:.1%} to {statement.band[1]:.1%}"
                cells = [statement.job, statement.name, of, f"{statement.nominal:.1%}", measured]
                cells += [band, str(count.n), str(count.declined), verdict]
                written.append(f"| {' | '.join(cells)} |")
    RESULTS.write_text(HEAD + "\n".join(written) + "\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
