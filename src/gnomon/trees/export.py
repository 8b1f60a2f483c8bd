"""A tree as text that a person can read."""

from __future__ import annotations

from gnomon.trees.view import TreeView


def export_text(
    estimator, *, tree=None, max_depth: int | None = None, digits: int = 4, missing: bool = False
) -> str:
    """A fitted tree as indented text: conditions, rows, predictions, and surrogates if any.

    Use it to read a small tree or to keep it in a log; for a large one limit `max_depth`, or look
    at `gnomon.show.tree`. Texts: 000a 2.2 · 001 11 · 003 2.3 · 004 6 (trees as drawings).

    Parameters
    ----------
    estimator : fitted tree, or a forest together with one of its trees
    tree : Tree or GeneralTree, default=None
        One of the forest's ``trees_``.
    max_depth : int, default=None
        Deeper nodes are counted, not shown.
    digits : int, default=4
        Digits of numbers.
    missing : bool, default=False
        Say also where missing cells go.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeClassifier, export_text
    >>> model = DecisionTreeClassifier().fit([[1.0], [2.0], [8.0]], ["a", "a", "b"])
    >>> print(export_text(model))
    all: 3 rows, a 67%, b 33%
    ├─ x0 <= 5: 2 rows, a
    └─ x0 > 5: 1 row, b
    """
    view = TreeView.of(estimator, tree)
    depth = view.tree.node_depth
    lines = []
    waiting = [(0, f"all: {_summary(view, 0, digits)}", "")]
    while waiting:
        node, line, indent = waiting.pop()
        lines.append(line)
        children = view.children(node)
        if not children:
            continue
        if max_depth is not None and depth[node] >= max_depth:
            lines.append(f"{indent}└─ ...")
            continue
        lines += [f"{indent}│  ~ {each}" for each in view.surrogate_texts(node, digits)]
        below = []
        for branch, child in enumerate(children):
            last = child == children[-1]
            test = view.branch_text(node, branch, digits, missing)
            text = f"{indent}{'└─' if last else '├─'} {test}: {_summary(view, child, digits)}"
            below.append((child, text, indent + ("   " if last else "│  ")))
        waiting += reversed(below)
    return "\n".join(lines)


def _summary(view: TreeView, node: int, digits: int) -> str:
    n = view.n_rows[node]
    rows = f"{n:.{digits}g} row{'' if n == 1 else 's'}"
    return f"{rows}, {view.value_text(node, digits)}"
