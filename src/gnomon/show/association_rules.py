"""Pictures of association rules: lifts with intervals, and support against confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnomon.show.theme import SEQUENTIAL, color, dress, error_bars, look

MOST_RULES = 25  # judgement: lines of names that a page holds
MOST_POINTS = 3_000  # judgement: more points hide each other


def rule_lifts(rules: Sequence[Any], *, theme: str = "light") -> Any:
    """The lift of each rule with its interval; at most 25 rules.

    Parameters
    ----------
    rules : sequence of Rule
        The first are drawn.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly Figure

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.cluster import association_rules, frequent_itemsets
    >>> rng = np.random.default_rng(0)
    >>> bread = rng.uniform(size=300) < 0.5
    >>> butter = rng.uniform(size=300) < np.where(bread, 0.7, 0.2)
    >>> baskets = [[name for name, has in (("bread", b), ("butter", c), ("tea", t)) if has]
    ...            for b, c, t in zip(bread, butter, rng.uniform(size=300) < 0.3, strict=True)]
    >>> found = association_rules(frequent_itemsets(baskets, 0.05))
    >>> figure = rule_lifts(found)
    """
    import plotly.graph_objects as go

    drawn = list(rules[:MOST_RULES])[::-1]
    lifts = [rule.lift for rule in drawn]
    figure = go.Figure()
    figure.add_scatter(
        x=[lift.value for lift in lifts],
        y=[str(rule) for rule in drawn],
        mode="markers",
        marker={"color": color(0), "size": 9},
        error_x=error_bars(lifts, theme),
        hovertemplate="%{y}<br>lift %{x:.2f}<extra></extra>",
    )
    figure.add_vline(1, line={"color": look(theme).strong, "dash": "dot"})
    note = f"the first {len(drawn)} of {len(rules):,} rules" if len(rules) > len(drawn) else ""
    dress(figure, "Lift of rules", theme, note=note, height=24 * len(drawn) + 170)
    figure.update_xaxes(title="lift", type="log" if max(x.high for x in lifts) > 20 else "linear")
    figure.update_yaxes(automargin=True)
    return figure


def rule_points(rules: Sequence[Any], *, theme: str = "light") -> Any:
    """Support and confidence of each rule, colored by its lift.

    Parameters
    ----------
    rules : sequence of Rule
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly Figure
        Of at most 3,000 rules, the first.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.cluster import association_rules, frequent_itemsets
    >>> rng = np.random.default_rng(0)
    >>> bread = rng.uniform(size=300) < 0.5
    >>> butter = rng.uniform(size=300) < np.where(bread, 0.7, 0.2)
    >>> baskets = [[name for name, has in (("bread", b), ("butter", c), ("tea", t)) if has]
    ...            for b, c, t in zip(bread, butter, rng.uniform(size=300) < 0.3, strict=True)]
    >>> found = association_rules(frequent_itemsets(baskets, 0.05))
    >>> figure = rule_points(found)
    """
    import plotly.graph_objects as go

    drawn = rules[:MOST_POINTS]
    figure = go.Figure()
    figure.add_scatter(
        x=[rule.support.value for rule in drawn],
        y=[rule.confidence.value for rule in drawn],
        mode="markers",
        text=[str(rule) for rule in drawn],
        marker={
            "color": [rule.lift.value for rule in drawn],
            "colorscale": SEQUENTIAL,
            "colorbar": {"title": "lift"},
            "size": 8,
        },
        hovertemplate="%{text}<br>support %{x:.2%}, confidence %{y:.1%}<extra></extra>",
    )
    note = f"the first {len(drawn):,} of {len(rules):,} rules" if len(rules) > len(drawn) else ""
    dress(figure, "Support and confidence of rules", theme, note=note)
    figure.update_xaxes(title="support", tickformat=".1%")
    figure.update_yaxes(title="confidence", tickformat=".0%", rangemode="tozero")
    return figure
