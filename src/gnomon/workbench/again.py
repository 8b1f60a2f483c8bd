"""The script of a run: a few public calls that give the same numbers again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnomon.workbench.plain_data import as_json
from gnomon.workbench.runs import RunError, find_run, read_record

PLAIN = {
    "task": "auto",
    "measure": None,
    "choose": "one-standard-error",
    "folds": None,
    "repeats": None,
    "test_share": 0.25,
    "groups": None,
    "time": None,
    "seed": 0,
    "fit_rows": None,
    "search": None,
    "compare_rows": None,
}


def again_script(record: dict[str, Any], summary: dict[str, Any]) -> str:
    """A script that repeats a run and says whether it gave the same numbers.

    Parameters
    ----------
    record : dict
        What ``run.json`` holds.
    summary : dict
        The run's results.

    Returns
    -------
    script : str
    """
    settings = record["settings"] | {"learners": list(summary["scores"])}
    competed = record.get("plan") or settings["learners"]
    settings["learners"] = [name for name in competed if name in settings["learners"]]
    arguments = [f"    target={settings['target']!r},", f"    learners={settings['learners']!r},"]
    arguments.append("    budget=None,")
    arguments += [
        f"    {key}={settings[key]!r},"
        for key, usual in PLAIN.items()
        if settings.get(key) != usual
    ]
    arguments.append(f"    curve={bool(settings.get('curve'))!r},")
    version = record["versions"]["gnomon"]
    head = f'"""Repeats a run of gnomon {version} on data of fingerprint {{}}."""'
    lines = [
        head.format(record["data"]["fingerprint"]),
        "",
        *opening(record["source"]),
        "result = gnomon.learn(",
        "    table,",
        *arguments,
        ")",
        "print(result)",
        "",
        f"same = result.test.value == float({str(summary['test']['value'])!r})",
        'print("the test figure is", "as recorded" if same else "OTHER")',
        f"if result.run.record['data']['fingerprint'] != {record['data']['fingerprint']!r}:",
        '    print("the table is not what it was")',
        "raise SystemExit(not same)",
        "",
    ]
    return "\n".join(lines)


def opening(source: str | None) -> list[str]:
    """The first lines of a script: what it imports, and how it gets the table.

    Parameters
    ----------
    source : str or None
        Where the table was read; None where it was in memory.

    Returns
    -------
    lines : list of str
    """
    if source is not None and source.startswith("example:"):
        name = source.removeprefix("example:")
        imports = ["import gnomon", "from gnomon.table import example"]
        return [*imports, "", f"table = example({name!r})"]
    imports = ["import sys", "", "import gnomon", "from gnomon.engine.errors import GnomonError"]
    if source is None:
        place = [
            "if len(sys.argv) < 2:",
            '    sys.exit("the table was in memory; save it, then: python again.py FILE")',
            "file = sys.argv[1]",
        ]
    else:
        place = [f"file = sys.argv[1] if len(sys.argv) > 1 else {source!r}"]
    reading = [
        "try:",
        "    table = gnomon.read(file)",
        "except GnomonError as error:",
        '    sys.exit(f"{error} Where does it lie now? python again.py FILE")',
    ]
    return [*imports, "", *place, *reading]


@dataclass
class Repetition:
    """A run and its repetition.

    Attributes
    ----------
    name : str
    recorded, found : dict of str to float
        Score of every learner on the folds, and ``"test"``.
    """

    name: str
    recorded: dict[str, float]
    found: dict[str, float]

    @property
    def same(self) -> bool:
        """Whether every number is the same to the last bit."""
        return self.recorded == self.found


def again(run: str | Path, *, runs: str | Path = "runs", **options: Any) -> Repetition:
    """Repeat a finished run from its record alone, and compare the numbers.

    Parameters
    ----------
    run : path or name
    runs : path, default="runs"
    **options : object
        ``progress`` and ``table`` of `learn`.

    Returns
    -------
    repetition : Repetition
    """
    from gnomon.workbench.group import group
    from gnomon.workbench.learn import learn
    from gnomon.workbench.map import map as map_rows

    folder = find_run(run, runs)
    record = read_record(folder)
    if record.get("status") != "finished":
        raise RunError(f"{folder} is not finished; 'gnomon learn --resume {folder}' goes on")
    table = options.pop("table", record["source"])
    if table is None:
        raise RunError(f"the table of {folder} was not read from a file; give it as table=")
    if record["job"] not in ("learn", "group", "map"):
        raise RunError(f"a run of 'gnomon {record['job']}' is not repeated from its record")
    result: Any
    if record["job"] == "group":
        result = group(table, **record["settings"], **options)
    elif record["job"] == "map":
        result = map_rows(table, **record["settings"], **options)
    else:
        result = learn(table, **record["settings"] | {"budget": None}, **options)
    if result.run.record["data"]["fingerprint"] != record["data"]["fingerprint"]:
        raise RunError(f"the data of {folder} have changed since: {record['source']}")
    found = as_json(result.summary())  # infinite figures are written as unknown
    return Repetition(folder.name, numbers(record["results"]), numbers(found))


def numbers(summary: dict[str, Any]) -> dict[str, float]:
    """The figures of a run that a repetition must give."""
    if "quality" in summary:
        return {
            f"{measure} of {name}": each["value"]
            for name, found in summary["quality"].items()
            for measure, each in found.items()
        }
    if "groups" in summary:
        return {
            **{f"rows of {each['name']}": each["rows"] for each in summary["groups"]},
            **{
                f"{measure} of {each['method']}, {each['k']} groups": each[measure]["value"]
                for each in summary["groupings"]
                for measure in ("silhouette", "stability")
            },
        }
    return {
        **{name: each["value"] for name, each in summary["scores"].items()},
        "test": summary["test"]["value"],
    }
