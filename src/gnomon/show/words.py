"""Pictures of counted words and letters: n-gram tables, Zipf's line, smoothed counts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gnomon.density import Zipf
from gnomon.engine.errors import DataError
from gnomon.show.labels import label
from gnomon.show.theme import color, dress, legend_below, look


def ngram_tables(
    model: Any, *, most: int = 15, per_item: int = 5, theme: str = "light"
) -> go.Figure:
    """Commonest single items, pairs by their first item, and triples, with their shares.

    A space is written as ``*``. Texts: 000b 13.1.3 (its tables of letters).

    Parameters
    ----------
    model : NGramModel
        Fitted with n of 1 to 3 or more; longer runs than triples are not tabled.
    most : int, default=15
        Single items and triples at most.
    per_item : int, default=5
        Pairs for each first item.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure
        One table for each length of run.

    Examples
    --------
    >>> from gnomon.sequence import NGramModel
    >>> figure = ngram_tables(NGramModel(2).fit(["a ab"]))
    >>> figure.data[0].cells.values[0]
    ['a', '*', 'b']
    """
    parts = [_single_items(model, most)]
    if model.n >= 2:
        parts.append(_pairs(model, per_item))
    if model.n >= 3:
        parts.append(_triples(model, most))
    wide = [2.0, 1.0 + per_item, 2.0][: len(parts)]
    ends = np.cumsum([0.0, *wide]) / sum(wide)
    colors = look(theme)
    figure = go.Figure()
    for (header, columns), left, right in zip(parts, ends[:-1], ends[1:], strict=True):
        figure.add_table(
            domain={"x": [left + 0.008, right - 0.008]},
            header={
                "values": [f"<b>{each}</b>" for each in header],
                "fill_color": colors.grid,
                "line_color": colors.grid,
                "font": {"color": colors.ink, "size": 13},
                "align": "left",
                "height": 26,
            },
            cells={
                "values": columns,
                "fill_color": colors.paper,
                "line_color": colors.grid,
                "font": {"color": colors.ink, "size": 13},
                "align": "left",
                "height": 24,
            },
        )
    lines = max(len(columns[0]) for _, columns in parts)
    runs = " · ".join(f"{n:,} runs of {m + 1}" for m, n in enumerate(model.n_runs_[:3]))
    return dress(
        figure,
        "Commonest runs of items",
        theme,
        note=f"share of all runs of the same length; * is a space; {runs}",
        height=130 + 24 * (lines + 2),
        width=1050 if len(parts) > 1 else 420,
        margin={"l": 20, "r": 20, "t": 90, "b": 20},
    )


def _starred(run: Sequence[Hashable]) -> str:
    """A run of letters as a word, of other items with dots between; spaces are stars."""
    items = ["*" if item == " " else label(item) for item in run]
    return ("" if all(len(item) == 1 for item in items) else " · ").join(items)


def _ranked(counts: Mapping, most: int) -> list:
    return sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))[:most]


def _single_items(model: Any, most: int) -> tuple[list[str], list[list[str]]]:
    found = _ranked(model.counts_[0][()], most)
    shares = [f"{count / model.n_runs_[0]:.4f}" for _, count in found]
    return ["item", "share"], [[_starred((item,)) for item, _ in found], shares]


def _pairs(model: Any, per_item: int) -> tuple[list[str], list[list[str]]]:
    firsts = sorted(model.counts_[1], key=lambda history: str(history[0]))
    columns: list[list[str]] = [[_starred(history) for history in firsts]]
    columns += [[] for _ in range(per_item)]
    for history in firsts:
        found = _ranked(model.counts_[1][history], per_item)
        for k in range(per_item):
            cell = ""
            if k < len(found):
                item, count = found[k]
                cell = f"{_starred((*history, item))} {count / model.n_runs_[1]:.4f}"
            columns[k + 1].append(cell)
    return ["first", *[f"pair {k + 1}" for k in range(per_item)]], columns


def _triples(model: Any, most: int) -> tuple[list[str], list[list[str]]]:
    counts = {
        (*history, item): count
        for history, row in model.counts_[2].items()
        for item, count in row.items()
    }
    found = _ranked(counts, most)
    shares = [f"{count / model.n_runs_[2]:.4f}" for _, count in found]
    return ["triple", "share"], [[_starred(run) for run, _ in found], shares]


def zipf_plot(
    counts: Any, *, how: str = "regression", most_names: int = 12, theme: str = "light"
) -> go.Figure:
    """Counts against their ranks on logarithmic axes, with the fitted line of Zipf's law.

    Texts: 000b 10.2.5 (the line by regression of the logarithms) · 002 "Zipf".

    Parameters
    ----------
    counts : mapping from words to counts, or array-like of counts
        All above zero, in any order.
    how : {"regression", "likelihood"}, default="regression"
        The texts' line through the logarithms, or maximum likelihood, as of
        `gnomon.density.Zipf.fit`.
    most_names : int, default=12
        Words written beside their points, the commonest.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> zipf_plot([120, 60, 40, 30]).layout.title.text.split("<br>")[0]
    '<b>Counts against rank, exponent 1.00</b>'
    """
    words = list(counts) if isinstance(counts, Mapping) else None
    numbers = np.asarray(list(counts.values()) if words is not None else counts, dtype=float)
    fitted = Zipf.fit(numbers, how)
    order = np.argsort(-numbers, kind="stable")
    ranks = np.arange(1, len(numbers) + 1)
    if how == "regression":
        middle = np.log(numbers).mean() + fitted.exponent * np.log(ranks).mean()
        line = np.exp(middle - fitted.exponent * np.log(ranks))
    else:
        line = numbers.sum() * np.exp(fitted.log_density(ranks))
    names = None if words is None else [label(words[k]) for k in order]
    figure = go.Figure()
    figure.add_scatter(
        x=ranks,
        y=numbers[order],
        mode="markers",
        marker={"color": color(0), "size": 6, "opacity": 0.7},
        hovertext=names,
        hovertemplate="%{hovertext} rank %{x}: %{y}<extra></extra>"
        if names is not None
        else "rank %{x}: %{y}<extra></extra>",
        name="words" if words is not None else "things counted",
    )
    figure.add_scatter(
        x=ranks[[0, -1]],
        y=line[[0, -1]],
        mode="lines",
        line={"color": look(theme).strong, "width": 3},
        name=f"rank<sup>−{fitted.exponent:.2f}</sup>, by {how}",
    )
    if names is not None:
        _names_along(figure, names, ranks, numbers[order], most_names, theme)
    logs = np.log(numbers[order]), np.log(line)
    fit = 1 - ((logs[0] - logs[1]) ** 2).sum() / max(((logs[0] - logs[0].mean()) ** 2).sum(), 1e-99)
    dress(
        figure,
        f"Counts against rank, exponent {fitted.exponent:.2f}",
        theme,
        note=f"{len(numbers):,} different, {numbers.sum():,.0f} in all; R² of the logs {fit:.3f}",
        **legend_below(),
    )
    figure.update_xaxes(title="rank", type="log", dtick=1)
    figure.update_yaxes(title="count", type="log", dtick=1)
    return figure


def _names_along(figure: go.Figure, names, ranks, counts, most: int, theme: str) -> None:
    """Names beside the points, but only where the last one written leaves room."""
    shown: list[int] = []
    for k in range(len(names)):
        if len(shown) < most and (not shown or ranks[k] >= 1.45 * ranks[shown[-1]]):
            shown.append(k)
    figure.add_scatter(
        x=ranks[shown],
        y=counts[shown],
        mode="text",
        text=[f" {names[k]}" for k in shown],
        textposition="top right",
        textfont={"color": look(theme).ink, "size": 12},
        showlegend=False,
        hoverinfo="skip",
        cliponaxis=False,
    )


def smoothed_counts(
    raw: Any,
    smoothed: Any,
    words: Sequence[str] | None = None,
    *,
    most: int = 40,
    title: str = "Word counts of a document, raw and smoothed",
    theme: str = "light",
) -> go.Figure:
    """Raw and smoothed counts of one document side by side, words by how common they are in it.

    Smoothing (as by `gnomon.reduce.svd_smooth` of the table of documents and words) gives counts
    to words that the document might have held. Texts: 000a 6.3, figure 6.5.

    Parameters
    ----------
    raw, smoothed : array-like of shape (n_words,)
    words : sequence of str, default=None
        Their names; numbers by default.
    most : int, default=40
        Words drawn: those with the largest raw counts, and of equal ones those with the largest
        smoothed counts. The note says how many are left out.
    title : str
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> smoothed_counts([2, 0, 1], [1.5, 0.4, 1.1], ["the", "sea", "ship"]).data[0].x
    ('the', 'ship', 'sea')
    """
    before, after = np.asarray(raw, dtype=float), np.asarray(smoothed, dtype=float)
    if before.shape != after.shape or before.ndim != 1:
        raise DataError(f"raw counts are {before.shape}, smoothed ones {after.shape}")
    names = [str(k) for k in range(len(before))] if words is None else [label(w) for w in words]
    if len(names) != len(before):
        raise DataError(f"there are {len(before)} counts and {len(names)} words")
    order = np.lexsort((-after, -before))[:most]
    figure = go.Figure()
    for counts, name, tint in ((before, "raw", color(0)), (after, "smoothed", color(1))):
        figure.add_bar(
            x=[names[k] for k in order],
            y=counts[order],
            name=name,
            marker_color=tint,
            hovertemplate=f"%{{x}}: %{{y:.3g}} {name}<extra></extra>",
        )
    gained = int(((before == 0) & (after > 0)).sum())
    note = f"{gained} words without a count get one"
    if len(order) < len(before):
        note += f"; {len(before) - len(order)} rarer words are not drawn"
    dress(figure, title, theme, note=note, **legend_below(bottom=150))
    figure.update_xaxes(
        title="words by their count", tickangle=-60, showgrid=False, type="category", dtick=1
    )
    figure.update_yaxes(title="count")
    return figure
