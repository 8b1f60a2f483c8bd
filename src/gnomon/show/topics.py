"""Pictures of topic models: words of topics, a map of topics, a document coloured by topic."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.show.labels import label
from gnomon.show.theme import color, dress, look

COLUMNS = 3  # judgement: panels that a page holds beside each other
WORD = re.compile(r"(\w\w+)")


def topic_words(
    model: Any,
    *,
    n_words: int = 12,
    names: Any = None,
    most: int = 30,
    theme: str = "light",
) -> go.Figure:
    """The most probable words of each topic, as bars.

    Parameters
    ----------
    model : GibbsLDA, LatentDirichletAllocation or MultinomialMixture
        Fitted.
    n_words : int, default=12
    names : sequence of str, default=None
        Names of the topics; numbers from 1 by default.
    most : int, default=30
        Topics that are drawn, at most: the first.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.text import MultinomialMixture
    >>> model = MultinomialMixture(2, random_state=0).fit(["cat dog cat", "bond stock bond"])
    >>> len(topic_words(model, n_words=2).data)
    2
    """
    shares = model.topic_word_
    k = min(len(shares), most)
    titles = [f"topic {t + 1}" for t in range(k)] if names is None else list(names)[:k]
    columns = min(COLUMNS, k)
    rows = -(-k // columns)
    figure = make_subplots(
        rows,
        columns,
        subplot_titles=[label(title, 40) for title in titles],
        horizontal_spacing=0.14,
        vertical_spacing=min(0.35 / rows, 0.12),
    )
    for t in range(k):
        best = np.argsort(-shares[t], kind="stable")[:n_words]
        figure.add_bar(
            x=shares[t, best],
            y=[label(model.terms_[j], 20) for j in best],
            orientation="h",
            marker_color=color(t),
            showlegend=False,
            hovertemplate="%{y}: %{x:.2%}<extra></extra>",
            row=t // columns + 1,
            col=t % columns + 1,
        )
    dress(
        figure,
        "Words of the topics",
        theme,
        note="the most probable words of each topic and their probabilities",
        height=120 + rows * (60 + 20 * n_words),
    )
    figure.update_yaxes(autorange="reversed", tickfont={"size": 12}, type="category")
    return figure.update_xaxes(tickformat=".0%", nticks=4)


def topic_map(model: Any, weights: Any, *, n_words: int = 3, theme: str = "light") -> go.Figure:
    """Topics as circles: near where they have words in common, large where they are frequent.

    The distance of topics is the root of the Jensen-Shannon divergence of their words; the places
    are those of principal coordinates.

    Parameters
    ----------
    model : topic model
        Fitted.
    weights : array-like of shape (n_topics,)
        Shares of the topics in all words.
    n_words : int, default=3
        Words that name a topic.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.text import GibbsLDA
    >>> texts = ["cat dog cat", "bond stock bond", "rain snow rain", "cat dog", "snow rain"]
    >>> model = GibbsLDA(3, max_iter=20, random_state=0).fit(texts)
    >>> figure = topic_map(model, [0.4, 0.3, 0.3])
    """
    shares = model.topic_word_
    size = np.asarray(weights, dtype=np.float64)
    if size.shape != (len(shares),):
        raise DataError(f"weights has shape {size.shape}; one for each of {len(shares)} topics")
    places, kept = principal_coordinates(topic_distances(shares))
    names = [", ".join(words) for words in model.top_words(n_words)]
    figure = go.Figure()
    for t, name in enumerate(names):
        figure.add_scatter(
            x=places[t : t + 1, 0],
            y=places[t : t + 1, 1],
            mode="markers+text",
            text=[str(t + 1)],
            name=f"{t + 1}: {name}",
            marker={
                "size": 16 + 50 * np.sqrt(size[t] / size.max()),
                "color": color(t),
                "opacity": 0.55,
                "line": {"color": look(theme).ink, "width": 1},
            },
            hovertemplate=f"topic {t + 1}: {size[t]:.1%} of the words<extra></extra>",
            cliponaxis=False,
        )
    dress(
        figure,
        "Map of the topics",
        theme,
        note=f"near topics share words; two coordinates keep {kept:.0%} of the distances' squares",
        height=560,
        legend={"itemsizing": "constant"},
    )
    spread = float(np.abs(places).max()) or 1.0
    bounds = [-1.35 * spread, 1.35 * spread]
    figure.update_xaxes(range=bounds, showticklabels=False)
    return figure.update_yaxes(range=bounds, showticklabels=False)


def topic_distances(shares: np.ndarray) -> np.ndarray:
    """Roots of the Jensen-Shannon divergences of distributions in rows."""
    k = len(shares)
    found = np.zeros((k, k))
    for a in range(k):
        middle = (shares[a] + shares) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            one = np.where(shares[a] > 0, shares[a] * np.log(shares[a] / middle), 0.0)
            two = np.where(shares > 0, shares * np.log(shares / middle), 0.0)
        found[a] = np.sqrt(np.maximum((one + two).sum(axis=1) / 2, 0.0))
    return found


def principal_coordinates(distances: np.ndarray) -> tuple[np.ndarray, float]:
    """Places in the plane, and the share of the squared distances that they keep."""
    k = len(distances)
    center = np.eye(k) - 1.0 / k
    values, vectors = np.linalg.eigh(-center @ distances**2 @ center / 2)
    top = np.maximum(values[::-1][:2], 0.0)
    places = np.zeros((k, 2))
    places[:, : len(top)] = vectors[:, ::-1][:, :2] * np.sqrt(top)
    total = np.maximum(values, 0.0).sum()
    return places, float(top.sum() / total) if total > 0 else 1.0


def topics_over_time(
    shares: Any, times: Any, names: Any, *, errors: Any = None, theme: str = "light"
) -> go.Figure:
    """Mean share of each topic in the documents of each stretch of time.

    Parameters
    ----------
    shares : array-like of shape (n_times, n_topics)
    times : sequence
        The stretches, in order.
    names : sequence of str
        The topics.
    errors : array-like of shape (n_times, n_topics), default=None
        Half widths of intervals.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> shares = [[0.2, 0.8], [0.5, 0.5], [0.7, 0.3]]
    >>> figure = topics_over_time(shares, ["2019", "2020", "2021"], ["pets", "money"])
    """
    values = np.asarray(shares, dtype=np.float64)
    figure = go.Figure()
    for t, name in enumerate(names):
        bars = None if errors is None else {"array": np.asarray(errors)[:, t], "thickness": 1}
        figure.add_scatter(
            x=list(times),
            y=values[:, t],
            name=label(name, 40),
            mode="lines+markers",
            line={"color": color(t)},
            error_y=bars,
        )
    dress(
        figure,
        "Topics over time",
        theme,
        note="mean share of the topic in the documents of each stretch, with 95% intervals"
        if errors is not None
        else "mean share of the topic in the documents of each stretch",
        height=480,
    )
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    return figure


def document_topics(
    text: str, model: Any, *, most: int = 400, per_line: int = 12, theme: str = "light"
) -> go.Figure:
    """A document, each known word in the color of its most probable topic.

    The probability of a topic for a word of the document is proportional to the topic's share in
    the document times the word's probability in the topic. Texts: 002 (its news article).

    Parameters
    ----------
    text : str
    model : topic model
        Fitted to texts.
    most : int, default=400
        Words that are shown; the rest is cut, which the note says.
    per_line : int, default=12
        Words in a line.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.text import MultinomialMixture
    >>> model = MultinomialMixture(2, random_state=0).fit(["cat dog cat", "bond stock bond"])
    >>> figure = document_topics("A cat!", model)
    >>> "A" in figure.layout.annotations[0].text
    True
    """
    if "vectorizer_" not in vars(model):
        raise DataError("document_topics needs a model that was fitted to texts, not to counts")
    topics = word_topics(text, model)
    pieces, used, count = [], set(), 0
    faint = look(theme).faint
    for piece in WORD.split(text):
        topic = topics.get(piece)
        clean = escape(piece, quote=False).replace("\n", " ")
        if WORD.fullmatch(piece):
            count += 1
            if count > most:
                break
            if count % per_line == 0:
                clean += "<br>"
        if topic is None:
            pieces.append(f"<span style='color:{faint}'>{clean}</span>")
        else:
            used.add(topic)
            pieces.append(f"<span style='color:{color(topic)}'><b>{clean}</b></span>")
    lines = 1 + min(count, most) // per_line
    figure = go.Figure()
    figure.add_annotation(
        text="".join(pieces), x=0, y=1, xref="paper", yref="paper", align="left",
        showarrow=False, xanchor="left", yanchor="top", font={"size": 14},
    )  # fmt: skip
    names = model.top_words(3)
    for topic in sorted(used):
        title = f"topic {topic + 1}: {', '.join(names[topic])}"
        marker = {"color": color(topic), "size": 12}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name=title)
    cut = f"; the first {most} words are shown" if count > most else ""
    dress(
        figure,
        "A document by topic",
        theme,
        note=f"each word in the color of its most probable topic; grey: in no topic{cut}",
        height=180 + 18 * lines + 8 * len(used),
        showlegend=True,
        legend={"orientation": "h", "y": -0.02, "yanchor": "top"},
    )
    figure.update_xaxes(visible=False)
    return figure.update_yaxes(visible=False)


def word_topics(text: str, model: Any) -> dict[str, int]:
    """The most probable topic of each word of a text that the model knows."""
    known = {str(term): j for j, term in enumerate(model.terms_)}
    shares = np.asarray(model.transform([text]))[0]
    weights = shares[:, None] * model.topic_word_
    analyze = model.vectorizer_.build_analyzer()
    found = {}
    for word in set(WORD.findall(text)):
        terms = [term for term in analyze(word) if term in known]
        if terms:
            found[word] = int(weights[:, known[terms[0]]].argmax())
    return found
