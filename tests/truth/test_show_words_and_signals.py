"""Pictures of words, signals and captions hold the counts and values they are drawn from."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from gnomon import show
from gnomon.density import Zipf
from gnomon.engine.errors import DataError
from gnomon.reduce import svd_smooth
from gnomon.sequence import NGramModel, spectrogram
from gnomon.show.theme import look

THEMES = pytest.mark.parametrize("theme", ["light", "dark"])
TEXT = "the cat and the hat and the bat at the mat"


@pytest.mark.covers("ngram-tables")
@THEMES
def test_tables_hold_the_commonest_letters_pairs_by_letter_and_triples(theme):
    model = NGramModel(3).fit([TEXT])
    figure = show.ngram_tables(model, most=4, per_item=2, theme=theme)
    starred = TEXT.replace(" ", "*")
    ones, twos, threes = (
        Counter(starred[k : k + n] for k in range(len(starred) - n + 1)) for n in (1, 2, 3)
    )
    letters, shares = figure.data[0].cells.values
    assert [ones[each] for each in letters] == [count for _, count in ones.most_common(4)]
    assert float(shares[0]) == pytest.approx(ones[letters[0]] / len(starred), abs=5e-5)
    first, *pairs = figure.data[1].cells.values
    assert first[0] == "*"
    for k, letter in enumerate(first):
        mine = {pair: count for pair, count in twos.items() if pair[0] == letter}
        written = [column[k].split() for column in pairs if column[k]]
        assert len(written) == min(2, len(mine))
        assert [mine[pair] for pair, _ in written] == sorted(mine.values(), reverse=True)[:2]
        for pair, share in written:
            assert float(share) == pytest.approx(mine[pair] / (len(starred) - 1), abs=5e-5)
    triples = figure.data[2].cells.values[0]
    assert [threes[each] for each in triples] == [count for _, count in threes.most_common(4)]
    assert figure.data[0].cells.fill.color == look(theme).paper


@pytest.mark.covers("ngram-tables")
def test_words_stand_with_dots_between_them_and_short_models_have_fewer_tables():
    figure = show.ngram_tables(NGramModel(2).fit([TEXT.split()]))
    assert len(figure.data) == 2
    assert "and · the 0.2000" in figure.data[1].cells.values[1]


@pytest.mark.covers("zipf-plot")
@THEMES
def test_zipf_plot_writes_the_fitted_exponent_and_recovers_a_power_law(theme):
    counts = {f"w{k}": 1e6 * k**-1.3 for k in range(60, 0, -1)}
    figure = show.zipf_plot(counts, theme=theme)
    assert "exponent 1.30" in figure.layout.title.text
    points, line = figure.data[:2]
    np.testing.assert_allclose(points.y, 1e6 * np.arange(1, 61) ** -1.3)
    np.testing.assert_allclose([line.y[0], line.y[1]], [points.y[0], points.y[-1]])
    assert points.hovertext[0] == "w1"
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"


@pytest.mark.covers("zipf-plot")
def test_zipf_line_is_that_of_the_way_asked_for(rng):
    counts = rng.integers(1, 500, size=40)
    for how in ("regression", "likelihood"):
        figure = show.zipf_plot(counts, how=how)
        fitted = Zipf.fit(counts, how)
        assert f"exponent {fitted.exponent:.2f}" in figure.layout.title.text
        fall = np.log(figure.data[1].y[0] / figure.data[1].y[1])
        assert fall == pytest.approx(fitted.exponent * np.log(40))
    logs = np.log(np.sort(counts)[::-1])
    fit = np.polyval(np.polyfit(np.log(np.arange(1, 41)), logs, 1), [0, np.log(40)])
    np.testing.assert_allclose(np.log(show.zipf_plot(counts).data[1].y), fit)


@pytest.mark.covers("word-count-smoothing-bars")
@THEMES
def test_bars_stand_in_order_of_raw_counts_with_the_smoothed_ones_beside(theme, rng):
    table = rng.poisson(1.5, size=(12, 9)).astype(float)
    table[0] = [0, 3, 1, 0, 5, 2, 0, 0, 4]
    words = [f"word{k}" for k in range(9)]
    smoothed = svd_smooth(table, 2)[0]
    figure = show.smoothed_counts(table[0], smoothed, words, most=7, theme=theme)
    raw, smooth = figure.data
    assert list(raw.y) == [5, 4, 3, 2, 1, 0, 0]
    assert list(raw.x[:5]) == ["word4", "word8", "word1", "word5", "word2"]
    places = [words.index(each) for each in smooth.x]
    np.testing.assert_allclose(smooth.y, smoothed[places])
    assert smooth.y[5] >= smooth.y[6]
    assert "2 rarer words" in figure.layout.title.text
    with pytest.raises(DataError, match="smoothed ones"):
        show.smoothed_counts([1, 2], [1.0])


@pytest.mark.covers("signal-traces")
@THEMES
def test_signals_of_unequal_length_stand_in_the_line_of_their_class(theme, rng):
    signals = [rng.normal(size=(n, 2)) for n in (30, 50, 40, 20, 60)]
    classes = ["walk", "run", "walk", "walk", "run"]
    figure = show.signal_traces(signals, classes, rate=10, per_class=2, unit="g", theme=theme)
    assert len(figure.data) == 8
    assert "1 signals more" in figure.layout.title.text
    assert [note.text for note in figure.layout.annotations] == ["walk", "run"]
    second = figure.data[2]
    np.testing.assert_allclose(second.y, signals[2][:, 0])
    assert second.x[-1] == pytest.approx(3.9)
    shared = {figure.layout[f"yaxis{k}"].matches for k in ("2", "4")}
    assert len(shared) == 1
    assert None not in shared
    with pytest.raises(DataError, match="5 signals"):
        show.signal_traces(signals, ["walk"])


@pytest.mark.covers("signal-traces")
def test_centers_are_traces_with_the_commonest_first(rng):
    centers = rng.normal(size=(4, 16))
    figure = show.center_traces(centers, [5, 40, 7, 1])
    assert figure.layout.annotations[0].text == "centre 1 (40)"
    np.testing.assert_allclose(figure.data[0].y, centers[1])
    np.testing.assert_allclose(figure.data[3].y, centers[3])


@pytest.mark.covers("signal-traces")
@THEMES
def test_sound_has_its_spectrogram_and_layers_on_one_axis_of_time(theme):
    rate = 8000
    tone = np.sin(2 * np.pi * 1000 * np.arange(4000) / rate)
    layers = {"words": [(0.0, 0.5, "one")], "phonemes": [(0.0, 0.2, "w"), (0.2, 0.5, "ah")]}
    figure = show.sound_layers(tone, rate, layers, window=400, hop=100, theme=theme)
    wave, power = figure.data[:2]
    np.testing.assert_allclose(wave.y, tone)
    z = np.asarray(power.z)
    assert z.shape == spectrogram(tone, window=400, hop=100).T.shape
    assert z.max() == 0
    assert power.y[z[:, 5].argmax()] == pytest.approx(1.0)
    texts = {trace.name: trace for trace in figure.data[2:] if trace.mode == "text"}
    assert list(texts["phonemes"].text) == ["w", "ah"]
    np.testing.assert_allclose(texts["phonemes"].x, [0.1, 0.35])
    assert list(figure.layout.yaxis3.ticktext) == ["words", "phonemes"]
    assert figure.layout.xaxis.matches == figure.layout.xaxis2.matches == "x3"


@pytest.mark.covers("true-predicted-caption")
@THEMES
def test_captions_are_red_green_and_boxed(theme):
    images = [np.zeros((4, 6)), np.full((4, 6, 3), 0.5)]
    figure = show.captioned_images(
        images,
        [["sea", "sky"], ["<b>"]],
        [["sky"], ["a", "b", "c", "d", "e", "f"]],
        [0.714, -0.2],
        theme=theme,
    )
    notes = figure.layout.annotations
    assert [note.text for note in notes[:3]] == ["T: sea, <b>sky</b>", "P: <b>sky</b>", "0.71"]
    assert notes[3].text == "T: &lt;b&gt;"
    assert notes[4].text.endswith("e +1")
    red, green = ([int(note.font.color[k : k + 2], 16) for k in (1, 3)] for note in notes[:2])
    assert red[0] > red[1]
    assert green[1] > green[0]
    assert notes[2].bgcolor == "#F0E442"
    assert [trace.type for trace in figure.data] == ["heatmap", "image"]
    with pytest.raises(DataError, match="2 images"):
        show.captioned_images(images, [["a"]], [["a"]], [1.0])
