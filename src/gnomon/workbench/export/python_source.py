"""Python code of a model that needs nothing but Python itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.table.codes import NumberCode
from gnomon.workbench.export.plain_model import PlainModel

# Nodes of all trees together; 100,000 are about 5 MB of code.
MOST_NODES = 100_000

HEAD = '''"""A model of gnomon {version} as plain Python: predict(row){proba}.

A row is a dict by column name{or_list}. Missing values are None, NaN or left out.
"""

import math

COLUMNS = {columns!r}
CLASSES = {classes!r}
'''

ENCODED = '''
# each column of the table: how it becomes numbers
CODES = {codes}


def numbers(row):
    """The numbers that the model sees."""
    found = []
    for name, levels, shares, first, unknown in CODES:
        value = row.get(name)
        missing = value is None or value != value
        if levels is None:
            found.append(unknown if missing else float(value))
        elif shares is None:
            found.append(float(levels.index(value)) if value in levels else unknown)
        elif value in levels:
            found += [float(value == level) for level in levels[first:]]
            found += [0.0] * (len(shares) - len(levels))
        elif missing or len(shares) == len(levels):
            found += shares[first:]
        else:  # a rare level is one of the others
            found += [0.0] * (len(shares) - 1 - first) + [1.0]
    return found
'''

PLAIN = '''

def numbers(row):
    """The numbers that the model sees."""
    values = [row.get(name) for name in COLUMNS] if isinstance(row, dict) else list(row)
    return [math.nan if value is None else float(value) for value in values]
'''

LINEAR = '''
COEF = {coef!r}
INTERCEPT = {intercept!r}


def scores(x):
    """The linear functions of the columns."""
    return [b + sum(a * v for a, v in zip(row, x)) for row, b in zip(COEF, INTERCEPT)]
'''

TREES = '''
INTERCEPT = {intercept!r}
SCALE = {scale!r}
# of each tree: the score that it adds to (None: all), then for each node: column, threshold (or the
# set of level codes that go left), whether missing values go left, left child (the right one
# follows) and value
TREES = [
{trees}
]


def leaf(tree, x):
    """The value of the leaf that a row falls into."""
    node = 0
    while True:
        column, test, missing_left, left, value = tree[node]
        if left < 0:
            return value
        v = x[column]
        if v != v:
            goes_left = missing_left
        elif isinstance(test, frozenset):
            goes_left = int(v) in test
        else:
            goes_left = v <= test
        node = left if goes_left else left + 1


def scores(x):
    """The sums over the trees."""
    found = list(INTERCEPT)
    for place, tree in TREES:
        value = leaf(tree, x)
        if place is None:
            for k in range(len(found)):
                found[k] += SCALE * value[k]
        else:
            found[place] += SCALE * value[0]
    return found
'''

LINKS = {
    "identity": "    return found",
    "exp": "    return [math.exp(value) for value in found]",
    "logistic": """\
    p = 1 / (1 + math.exp(-found[0])) if found[0] > -700 else 0.0
    return [1 - p, p]""",
    "softmax": """\
    top = max(found)
    weights = [math.exp(value - top) for value in found]
    return [weight / sum(weights) for weight in weights]""",
}

CLASSIFY = '''

def predict_proba(row):
    """The probabilities of the classes, in the order of CLASSES."""
    found = scores(numbers(row))
{link}


def predict(row):
    """The most probable class."""
    found = predict_proba(row)
    return CLASSES[max(range(len(found)), key=found.__getitem__)]
'''

REGRESS = '''

def answer(found):
    """The answer that the scores stand for."""
{link}


def predict(row):
    """The predicted number."""
    return answer(scores(numbers(row)))[0]
'''


def python_source(plain: PlainModel) -> str:
    """Python code with ``predict(row)``, and ``predict_proba(row)`` of classes.

    Parameters
    ----------
    plain : PlainModel

    Returns
    -------
    source : str
    """
    from gnomon import __version__

    nodes = sum(tree.n_nodes for tree, _ in plain.trees)
    if nodes > MOST_NODES:
        raise DataError(
            f"the trees have {nodes:,} nodes, and code is written for at most {MOST_NODES:,}; use "
            "fewer or smaller trees, or --to onnx"
        )
    classify = plain.classes is not None
    parts = [
        HEAD.format(
            version=__version__,
            proba=" and predict_proba(row)" if classify else "",
            or_list="" if plain.codes else " or a list in the order of COLUMNS",
            columns=plain.names if plain.codes is None else [c.name for c in plain.codes],
            classes=plain.classes,
        )
    ]
    if plain.codes is None:
        parts.append(PLAIN)
    else:
        lines = ",\n".join(f"    {_code_line(code)}" for code in plain.codes)
        parts.append(ENCODED.format(codes=f"[\n{lines},\n]"))
    if plain.coef is not None:
        coef, intercept = plain.coef.tolist(), plain.intercept.tolist()
        parts.append(LINEAR.format(coef=coef, intercept=intercept))
    else:
        trees = ",\n".join(f"    ({place!r}, {_tree_text(tree)})" for tree, place in plain.trees)
        parts.append(
            TREES.format(intercept=plain.intercept.tolist(), scale=plain.scale, trees=trees + ",")
        )
    parts.append((CLASSIFY if classify else REGRESS).format(link=LINKS[plain.link]))
    text = "\n".join(parts)
    return text.replace(": nan", ": math.nan").replace(" nan,", " math.nan,")


def _code_line(code: Any) -> str:
    """Name, levels, shares, first column and the number of an unknown value, as a tuple."""
    if isinstance(code, NumberCode):
        unknown = "math.nan" if code.keep_missing else repr(float(code.mean))
        return f"({code.name!r}, None, None, 0, {unknown})"
    if not code.one_hot:
        unknown = "math.nan" if code.keep_missing else repr(float(np.argmax(code.shares)))
        return f"({code.name!r}, {list(code.values)!r}, None, 0, {unknown})"
    shares = code.shares.tolist()
    return f"({code.name!r}, {list(code.values)!r}, {shares!r}, {code.first_column}, math.nan)"


def _tree_text(tree: Any) -> str:
    """The nodes of a tree as a list of tuples."""
    lines = []
    for node in range(tree.n_nodes):
        if tree.left[node] < 0:
            lines.append(f"(0, 0.0, True, -1, {tree.value[node].tolist()!r})")
            continue
        if tree.category[node] >= 0:
            test = _levels_left(tree.category_left[tree.category[node]])
        else:
            number = float(tree.threshold[node])
            test = repr(number) if np.isfinite(number) else "math.inf"
        lines.append(
            f"({tree.feature[node]}, {test}, {bool(tree.missing_left[node])}, {tree.left[node]}, "
            "None)"
        )
    return f"[{', '.join(lines)}]"


def _levels_left(words: np.ndarray) -> str:
    places = [
        64 * w + bit for w, word in enumerate(words) for bit in range(64) if (int(word) >> bit) & 1
    ]
    return f"frozenset({places!r})"
