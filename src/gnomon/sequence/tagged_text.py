"""Text whose words carry labels: reading it, features of words, evaluation by segment.

Texts: 000c 14.2 (features of what surrounds a step); the columns of CoNLL-2000 are the common form
of such files.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from gnomon.engine.errors import DataError


def read_tagged_sentences(path: str | Path) -> list[tuple[list[str], ...]]:
    """Sentences of a file with one word and its tags in a line, and an empty line between them.

    Parameters
    ----------
    path : str or Path
        Text in UTF-8, as it is or compressed (``.gz``); columns stand apart by spaces or tabs.

    Returns
    -------
    sentences : list of tuple of list
        The columns of each sentence: words, then tags.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "chunks.txt")
    ...     _ = file.write_text("He PRP B-NP\\nruns VBZ B-VP\\n\\nStop VB B-VP\\n")
    ...     read_tagged_sentences(file)[0]
    (['He', 'runs'], ['PRP', 'VBZ'], ['B-NP', 'B-VP'])
    """
    sentences, block = [], []
    width = 0
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            cells = line.split()
            width = width or len(cells)
            if cells and len(cells) != width:
                raise DataError(
                    f"{path}, line {number}: {len(cells)} columns in the place of {width}"
                )
            if cells:
                block.append(cells)
            elif block:
                sentences.append(block)
                block = []
    if block:
        sentences.append(block)
    return [tuple(list(column) for column in zip(*lines, strict=True)) for lines in sentences]


def token_features(words: Sequence[str], tags: Sequence[str] | None = None) -> list[dict]:
    """Features of the words of a sentence: themselves, endings, shape, neighbours, tags around.

    Parameters
    ----------
    words : sequence of str
    tags : sequence of str, default=None
        One for each word, such as parts of speech: those up to two steps away, their pairs and
        triples, words up to two steps away and pairs of words are features then too.

    Returns
    -------
    tokens : list of dict
        1.0 under the name of each feature; what `ChainCRF` and `MaxEntMarkovModel` take.

    Examples
    --------
    >>> sorted(token_features(["Big", "dog"])[1])[:4]
    ['bias', 'next=</s>', 'previous=big', 'suffix2=og']
    >>> "tags[0,1]=DT|NN" in token_features(["the", "dog"], ["DT", "NN"])[0]
    True
    """
    if tags is not None and len(tags) != len(words):
        raise DataError(f"{len(words)} words have {len(tags)} tags")
    lower = ["<s>", *(word.lower() for word in words), "</s>"]
    found = []
    for i, word in enumerate(words, start=1):
        names = [
            "bias",
            f"word={lower[i]}",
            f"suffix2={lower[i][-2:]}",
            f"suffix3={lower[i][-3:]}",
            f"previous={lower[i - 1]}",
            f"next={lower[i + 1]}",
        ]
        names += ["title"] * word.istitle() + ["upper"] * word.isupper()
        names += ["digit"] * any(letter.isdigit() for letter in word)
        found.append(dict.fromkeys(names, 1.0))
    if tags is not None:
        for token, names in zip(found, _around(lower[1:-1], tags), strict=True):
            token.update(dict.fromkeys(names, 1.0))
    return found


def _around(words: Sequence[str], tags: Sequence[str]) -> Iterable[list[str]]:
    """Names of the features of tags, and of words two steps away, of each word."""
    edge = ["<s>"] * 2, ["</s>"] * 2
    w, t = [*edge[0], *words, *edge[1]], [*edge[0], *tags, *edge[1]]
    for i in range(2, len(words) + 2):
        names = [f"tag[{k}]={t[i + k]}" for k in range(-2, 3)]
        names += [f"tags[{k},{k + 1}]={t[i + k]}|{t[i + k + 1]}" for k in range(-2, 2)]
        names += [
            f"tags[{k}..{k + 2}]={t[i + k]}|{t[i + k + 1]}|{t[i + k + 2]}" for k in range(-2, 1)
        ]
        names += [f"word[-2]={w[i - 2]}", f"word[2]={w[i + 2]}"]
        names += [f"words[-1,0]={w[i - 1]}|{w[i]}", f"words[0,1]={w[i]}|{w[i + 1]}"]
        yield names


@dataclass(frozen=True)
class SegmentScores:
    """Precision, recall and F1 of whole segments of one kind.

    Attributes
    ----------
    precision, recall, f1 : float
    n_true, n_predicted, n_right : int
    """

    precision: float
    recall: float
    f1: float
    n_true: int
    n_predicted: int
    n_right: int

    @classmethod
    def of(cls, n_true: int, n_predicted: int, n_right: int) -> SegmentScores:
        """From counts; a share of nothing is 0."""
        precision = n_right / n_predicted if n_predicted else 0.0
        recall = n_right / n_true if n_true else 0.0
        both = precision + recall
        f1 = 2 * precision * recall / both if both else 0.0
        return cls(precision, recall, f1, n_true, n_predicted, n_right)


def segment_scores(
    truth: Sequence[Sequence[str]], y_pred: Sequence[Sequence[str]]
) -> tuple[float, float, float]:
    """Precision, recall and F1 of whole segments in labels such as B-NP, I-NP, O.

    A segment counts where its kind and both its ends are right, as in the evaluation of CoNLL-2000;
    for each kind see `segment_scores_by_kind`.

    Examples
    --------
    >>> segment_scores([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "B-NP"]])
    (0.5, 0.5, 0.5)
    """
    kinds = segment_scores_by_kind(truth, y_pred).values()
    whole = SegmentScores.of(
        sum(kind.n_true for kind in kinds),
        sum(kind.n_predicted for kind in kinds),
        sum(kind.n_right for kind in kinds),
    )
    return whole.precision, whole.recall, whole.f1


def segment_scores_by_kind(
    truth: Sequence[Sequence[str]], y_pred: Sequence[Sequence[str]]
) -> dict[str, SegmentScores]:
    """The scores of `segment_scores` for the segments of each kind, by name.

    Examples
    --------
    >>> scores = segment_scores_by_kind([["B-NP", "I-NP", "B-VP"]], [["B-NP", "I-NP", "B-NP"]])
    >>> scores["NP"].precision, scores["VP"].recall
    (0.5, 0.0)
    """
    real, found, right = Counter[str](), Counter[str](), Counter[str]()
    for r, (true_path, path) in enumerate(zip(truth, y_pred, strict=True)):
        if len(true_path) != len(path):
            raise DataError(f"sequence {r} has {len(true_path)} labels and {len(path)} predictions")
        theirs, ours = set(segments(true_path)), set(segments(path))
        real.update(kind for _, _, kind in theirs)
        found.update(kind for _, _, kind in ours)
        right.update(kind for _, _, kind in theirs & ours)
    return {
        kind: SegmentScores.of(real[kind], found[kind], right[kind])
        for kind in sorted(real.keys() | found.keys())
    }


def segments(path: Sequence[str]) -> list[tuple[int, int, str]]:
    """Segments in a path of labels B-kind, I-kind, O: first step, the step after its end, kind.

    Examples
    --------
    >>> segments(["B-NP", "I-NP", "O", "I-VP"])
    [(0, 2, 'NP'), (3, 4, 'VP')]
    """
    parts = [label.partition("-")[::2] for label in path]
    begins = [
        i
        for i, (mark, kind) in enumerate(parts)
        if mark == "B" or (mark == "I" and (i == 0 or parts[i - 1][1] != kind))
    ]
    found: list[Any] = []
    for first, end in pairwise([*begins, len(parts)]):
        kind = parts[first][1]
        last = first + 1
        while last < end and parts[last] == ("I", kind):
            last += 1
        found.append((first, last, kind))
    return found
