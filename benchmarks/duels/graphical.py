"""Duels of exact inference in belief networks with pgmpy, on two public networks."""

from __future__ import annotations

import importlib.util
import logging
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.duels.duel import Duel

DATA = Path(__file__).parents[3] / "shared" / "data"
EVIDENCE = {
    "alarm": {"HRBP": "HIGH", "CVP": "LOW", "BP": "LOW"},
    "insurance": {"PropCost": "Million", "Age": "Adolescent"},
}
TARGET = {"alarm": "LVFAILURE", "insurance": "RiskAversion"}
QUERIES = 50


def absent(name: str) -> str:
    """Why a duel cannot be held here."""
    if not importlib.util.find_spec("pgmpy"):
        return "pgmpy is not installed"
    return "" if (DATA / f"{name}.bif").exists() else f"{name}.bif is not there"


def networks(n: int, name: str) -> dict:
    """The network as both sides hold it, and evidence drawn from it."""
    from pgmpy.readwrite import BIFReader

    from gnomon.graphical import read_bif

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    ours = read_bif(DATA / f"{name}.bif")
    theirs = BIFReader(str(DATA / f"{name}.bif")).get_model()
    n = min(n, QUERIES)
    rows = ours.simulate(n, random_state=0)
    drawn = [{key: rows[key][i] for key in EVIDENCE[name]} for i in range(n)]
    return {"name": name, "ours": ours, "theirs": theirs, "drawn": drawn}


def all_posteriors(data: dict) -> np.ndarray:
    """The posteriors of all nodes that are not given."""
    found = data["ours"].marginals(**EVIDENCE[data["name"]])
    return np.concatenate(list(found.values()))


def their_posteriors(data: dict) -> np.ndarray:
    from pgmpy.inference import VariableElimination

    given = EVIDENCE[data["name"]]
    asked = VariableElimination(data["theirs"])
    levels = data["ours"].levels
    return np.concatenate(
        [
            _in_order(asked.query([node], evidence=given, show_progress=False), node, levels[node])
            for node in data["ours"].names
            if node not in given
        ]
    )


def one_node(data: dict) -> np.ndarray:
    """The posterior of one node, for the evidence of each row."""
    target = TARGET[data["name"]]
    return np.concatenate([data["ours"].query(target, **row).values for row in data["drawn"]])


def their_one_node(data: dict) -> np.ndarray:
    from pgmpy.inference import VariableElimination

    target = TARGET[data["name"]]
    asked = VariableElimination(data["theirs"])
    levels = data["ours"].levels[target]
    return np.concatenate(
        [
            _in_order(asked.query([target], evidence=row, show_progress=False), target, levels)
            for row in data["drawn"]
        ]
    )


def _in_order(factor, node: str, levels: tuple) -> np.ndarray:
    return np.array([factor.get_value(**{node: level}) for level in levels])


for network in EVIDENCE:
    Duel(
        name=f"belief network {network}: posteriors of all nodes, given some",
        peer="pgmpy VariableElimination",
        data=lambda n, name=network: networks(n, name),
        ours=all_posteriors,
        theirs=their_posteriors,
        quality=lambda found, _: float(found @ np.arange(1, len(found) + 1)),
        tolerance=1e-6,
        sizes=(1,),
        bar=5.0,
        missing=partial(absent, network),
    )
    Duel(
        name=f"belief network {network}: one node, given n rows of evidence",
        peer="pgmpy VariableElimination",
        data=lambda n, name=network: networks(n, name),
        ours=one_node,
        theirs=their_one_node,
        quality=lambda found, _: float(found @ np.arange(1, len(found) + 1)),
        tolerance=1e-6,
        sizes=(QUERIES,),
        bar=5.0,
        missing=partial(absent, network),
    )
