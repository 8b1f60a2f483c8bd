"""`gnomon topics` and `gnomon search`: planted topics, none where there are none, rows that fit."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gnomon
from gnomon.engine.errors import DataError
from gnomon.show import document_topics, topic_map, topics_over_time
from gnomon.text import MultinomialMixture
from tests.jobs.terminal import call

THEMES = [
    ["cat", "dog", "horse", "mouse", "bird", "fish"],
    ["bond", "stock", "price", "market", "bank", "trade"],
    ["rain", "snow", "wind", "cloud", "storm", "sun"],
]


def letters(rng, n: int = 90, mixed: bool = False) -> list[str]:
    """Texts about one of three themes each; about all at once where `mixed`."""
    everything = [word for theme in THEMES for word in theme]
    return [" ".join(rng.choice(everything if mixed else THEMES[i % 3], 25)) for i in range(n)]


@pytest.mark.covers("text-workflow", "topic-top-words", "document-topic-colouring")
def test_planted_topics_are_found_with_their_number_and_written(rng, tmp_path):
    days = np.datetime64("2020-01-01") + np.arange(90) * 3
    table = {"body": letters(rng), "written": days}
    found = gnomon.topics(table, text="body", time="written", max_iter=30, folder=tmp_path / "run")
    themes = [{THEMES.index(t) for w in words for t in THEMES if w in t} for words in
              found.model.top_words(4)]  # fmt: skip
    assert {min(each) for each in themes} == {0, 1, 2}
    assert found.n_topics in (3, 5)
    assert "times as probable" in found.verdict()
    assert found.candidates[0].n_topics == 1
    assert max(each.gain.low for each in found.candidates) > 0.5
    assert found.pictures == ["words", "map", "document", "time"]
    assert found.periods["texts"].sum() == 90
    names = {each.name for each in (tmp_path / "run").iterdir()}
    assert {"run.json", "again.py", "words.csv", "shares.csv"} <= names
    assert {"model.gnomon", "report.html"} <= names
    loaded = gnomon.load(tmp_path / "run" / "model.gnomon")
    new = ["dog and cat and bird"]
    np.testing.assert_array_equal(loaded.transform(new), found.model.transform(new))
    assert gnomon.again("run", runs=tmp_path, table=table).same


def test_texts_of_words_at_random_have_no_topics(rng):
    found = gnomon.topics({"body": letters(rng, mixed=True)}, text="body", max_iter=20)
    assert found.n_topics == 1
    assert "no topics" in found.verdict()


def test_too_few_texts_and_wrong_columns_are_refused(rng):
    with pytest.raises(DataError, match="topics need at least 20"):
        gnomon.topics({"body": letters(rng, 9)}, text="body")
    with pytest.raises(DataError, match="no column 'words'"):
        gnomon.topics({"body": letters(rng)}, text="words")
    with pytest.raises(DataError, match="not a column of dates"):
        gnomon.topics({"body": letters(rng)}, text="body", time="body", n_topics=2, max_iter=10)


@pytest.mark.covers("bm25", "document-retrieval-cosine", "latent-semantic-search")
@pytest.mark.parametrize("method", ["bm25", "cosine", "lsa"])
def test_rows_that_fit_a_query_are_found(method, rng, tmp_path):
    texts = letters(rng, 30)
    table = {"body": texts, "n": list(range(30))}
    found = gnomon.search(
        table,
        query=["storm snow", "zebra"],
        text="body",
        method=method,
        n_components=3,
        folder=tmp_path / "run",
    )
    assert {hit.row % 3 for hit in found.of("storm snow")} == {2}
    assert found.of("zebra") == []
    assert found.unknown == ["zebra"]
    assert "No text fits" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert gnomon.again("run", runs=tmp_path, table=table).same
    with pytest.raises(DataError, match="there is no query"):
        gnomon.search(table, query=" ", text="body")


@pytest.mark.covers("job-topics")
def test_the_commands_print_topics_and_rows(rng, tmp_path):
    path = tmp_path / "letters.csv"
    lines = "\n".join(f'{i},"{text}"' for i, text in enumerate(letters(rng, 45)))
    path.write_text("n,body\n" + lines + "\n", encoding="utf-8")
    topics = ["topics", path, "--text", "body", "--n-topics", "3", "--max-iter", "20"]
    answer = call(*topics, folder=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert "3 topics" in answer.stdout + answer.stderr
    answer = call("search", path, "--text", "body", "--query", "bond", "--json", folder=tmp_path)
    assert answer.returncode == 0, answer.stderr
    hits = json.loads(answer.stdout)["hits"]
    assert {hit["row"] % 3 for hit in hits} == {1}


@pytest.mark.covers("document-topic-colouring", "topic-top-words")
def test_words_of_a_document_have_the_color_of_their_topic(rng):
    model = MultinomialMixture(3, random_state=0).fit(letters(rng))
    figure = document_topics("The dog met a bird & <b>snow</b>", model)
    text = figure.layout.annotations[0].text
    assert "&lt;" in text
    assert "&amp;" in text
    assert len(figure.data) >= 1
    counts = MultinomialMixture(2, random_state=0).fit(np.array([[1, 2], [3, 1]]))
    with pytest.raises(DataError, match="fitted to texts"):
        document_topics("a", counts)
    assert [each.text for each in topic_map(model, [1, 1, 1]).data] == [("1",), ("2",), ("3",)]
    with pytest.raises(DataError, match="one for each of 3 topics"):
        topic_map(model, [1, 1])
    assert len(topics_over_time([[0.2, 0.8]], ["2020"], ["a", "b"]).data) == 2
