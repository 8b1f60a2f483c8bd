"""Pictures of what methods are good at."""

from __future__ import annotations

from typing import Any

from gnomon.show.theme import COLORS, dress, look

SYMBOLS = {"good": "▲", "fair": "●", "poor": "▼"}
GRADE_COLORS = {"good": COLORS[2], "fair": COLORS[4], "poor": COLORS[1]}


def method_properties(
    grades: dict[str, dict[str, str]],
    *,
    figures: dict[str, dict[str, float]] | None = None,
    title: str = "What each family of methods is good at",
    theme: str = "light",
) -> Any:
    """Table of methods and properties with a symbol for good, fair and poor.

    Symbols differ in form, not in colour alone.

    Parameters
    ----------
    grades : dict
        Method to property to ``"good"``, ``"fair"`` or ``"poor"``, as
        `gnomon.workbench.workflows.printed_properties` gives it.
    figures : dict, default=None
        Method to property to the measured figure behind the grade, shown beside the symbol.
    title : str
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> picture = method_properties({"trees": {"missing values": "good", "accuracy": "poor"}})
    >>> [text for text in picture.data[0].y]
    ['missing values', 'accuracy']
    """
    import plotly.graph_objects as go

    methods = list(grades)
    properties = list(dict.fromkeys(name for of in grades.values() for name in of))
    figure = go.Figure()
    for method in methods:
        known = [name for name in properties if name in grades[method]]
        words = [grades[method][name] for name in known]
        beside = ["" for _ in known]
        if figures is not None:
            beside = [f" {figures[method][name]:.2f}" for name in known]
        figure.add_scatter(
            x=[method] * len(known),
            y=known,
            mode="text",
            text=[f"{SYMBOLS[word]}{more}" for word, more in zip(words, beside, strict=True)],
            textfont={"size": 17, "color": [GRADE_COLORS[word] for word in words]},
            customdata=words,
            hovertemplate="%{x}<br>%{y}: %{customdata}<extra></extra>",
            showlegend=False,
        )
    key = ", ".join(f"{symbol} {word}" for word, symbol in SYMBOLS.items())
    dress(figure, title, theme, note=key, height=150 + 46 * len(properties))
    figure.update_xaxes(
        side="top",
        showgrid=False,
        type="category",
        automargin=True,
        range=[-0.6, len(methods) - 0.4],
    )
    figure.update_yaxes(
        autorange="reversed",
        type="category",
        automargin=True,
        gridcolor=look(theme).grid,
        categoryorder="array",
        categoryarray=properties,
    )
    return figure
