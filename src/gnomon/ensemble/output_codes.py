"""Error-correcting output codes: many two-class questions, and the nearest codeword wins.

Each class gets a codeword of L bits, and one binary classifier learns each bit. A row goes to the
class whose codeword is nearest to the bits predicted. Codewords that differ in at least d bits put
(d - 1) / 2 wrong bits right (rounded down). The shortest code, ceil(log2 K) bits, corrects nothing:
one wrong bit is a wrong class.

Texts: 000a 2.1.7 (the shortest code, which works badly) · 004 11.4.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state

from gnomon.contract import Classifier
from gnomon.engine.parameters import JOBS, SEED, HasMethods, StrOptions, above, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Object, Optional, Whole
from gnomon.ensemble.base import Ensemble, Training, chosen, weighted_error
from gnomon.ensemble.member import Member, fit_member, seeded
from gnomon.linear import LogisticRegression

MOST_EXHAUSTIVE = 7  # 63 members; Dietterich and Bakiri (1995) advise it up to 7 classes
TRIALS = 50  # judgement: codes that are drawn cost microseconds beside one fit
SMALLEST = 1e-12  # keeps the log of a probability finite


def minimal_code(n_classes: int) -> np.ndarray:
    """The shortest code: class k in binary.

    Examples
    --------
    >>> minimal_code(3).tolist()
    [[0, 0], [0, 1], [1, 0]]
    """
    n_bits = max(math.ceil(math.log2(n_classes)), 1)
    places = np.arange(n_bits)[::-1]
    return ((np.arange(n_classes)[:, None] >> places) & 1).astype(np.int64)


def exhaustive_code(n_classes: int) -> np.ndarray:
    """All 2^(K-1) - 1 different questions; codewords differ in 2^(K-2) bits.

    Examples
    --------
    >>> exhaustive_code(3).tolist()
    [[1, 1, 1], [0, 0, 1], [0, 1, 0]]
    """
    questions = np.arange(2 ** (n_classes - 1) - 1)
    rest = (questions[None, :] >> np.arange(n_classes - 1)[::-1, None]) & 1
    return np.vstack([np.ones(len(questions), dtype=np.int64), rest])


def one_vs_rest_code(n_classes: int) -> np.ndarray:
    """One question per class."""
    return np.eye(n_classes, dtype=np.int64)


def random_code(n_classes: int, n_bits: int, rng: np.random.Generator) -> np.ndarray:
    """The best of several random codes: greatest least distance, then greatest mean distance."""
    best, merit = None, (-1.0, -1.0)
    for _ in range(TRIALS):
        code = rng.integers(0, 2, size=(n_classes, n_bits))
        constant = (code == code[0]).all(axis=0)
        code[0, constant] = 1 - code[0, constant]
        distances = codeword_distances(code)
        found = (float(distances.min()), float(distances.mean()))
        if found > merit:
            best, merit = code, found
    assert best is not None
    return best.astype(np.int64)


def codeword_distances(code: np.ndarray) -> np.ndarray:
    """Hamming distance of every pair of codewords."""
    first, second = np.triu_indices(len(code), 1)
    return (code[first] != code[second]).sum(axis=1)


@method(
    task="classify",
    texts="000a 2.1.7 · 004 11.4",
    use="Many classes, and a good learner of two classes.",
    avoid="Two classes, or a learner that handles many classes well itself.",
    peers=("sklearn.multiclass.OutputCodeClassifier",),
)
class OutputCodeClassifier(Ensemble, Classifier):
    """Many two-class questions about the class, answered apart and decoded together.

    Use it for many classes with a good learner of two; not for two classes. Predicts the class of
    the least distance: the Euclidean distance of the scores from the codeword (the default, which
    is scikit-learn's), the number of wrong bits (``decoding="hamming"``), or the log loss of the
    bits' probabilities, -sum_b log q_b(c_kb) (``decoding="loss"``). Probabilities are
    exp(-distance), normalised: for the log loss those of independent bits, otherwise a ranking.
    The default code is scikit-learn's too, bits drawn with equal chances, in which two classes may
    get one codeword; ``code="auto"`` gives codes that correct errors. Texts: 000a 2.1.7, 004 11.4.

    Parameters
    ----------
    estimator : estimator or None
        Learner of two classes, of any library. None for a logistic regression.
    code_size : float, default=1.5
        Bits per class, for ``code=None``: ``int(n_classes * code_size)`` bits in all.
    random_state : int, RandomState or None, default=None
        Seed of a random code, and of members whose own ``random_state`` is None.
    n_jobs : int, default=None
        Threads; None for one per processor.
    code : {"auto", "exhaustive", "random", "one_vs_rest", "minimal"}, array-like or None, \
            default=None
        The code: bits drawn with equal chances (None), all questions (up to seven classes), the
        best of several random codes, one question per class, the shortest code, or a matrix of 0
        and 1 with a row per class. "auto" is exhaustive up to seven classes and random beyond.
    n_bits : int, default=None
        Length of a code that is ``"random"``; None for 10 log2(K), rounded up.
    decoding : {"distance", "loss", "hamming"}, default="distance"
        How distances to codewords are measured.

    Attributes
    ----------
    members_ : list of Member
        One per bit; ``estimators_`` lists their learners.
    code_ : ndarray of shape (n_classes, n_bits)
        The codewords, bits 0 and 1.
    code_book_ : ndarray of shape (n_classes, n_bits)
        The codewords in the terms of the scores: -1 and 1 where the estimator has a decision
        function, else 0 and 1.
    min_distance_ : int
        Least number of bits in which two codewords differ.
    n_corrected_ : int
        Wrong bits that are always put right, (min_distance - 1) // 2.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    history_ : History
        The training error of each bit.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import OutputCodeClassifier
    >>> from gnomon.linear import LogisticRegression
    >>> rows = [[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0], [0.0, 8.0], [0.0, 9.0]]
    >>> model = OutputCodeClassifier(LogisticRegression(), code="auto")
    >>> model.fit(rows, ["a", "a", "b", "b", "c", "c"]).predict([[5.0, 0.5]]).tolist()
    ['b']
    >>> model.min_distance_, model.n_corrected_
    (2, 0)
    """

    _parameter_constraints = {
        "estimator": [None, HasMethods(["fit", "predict"])],
        "code_size": [above(0.0)],
        "random_state": SEED,
        "n_jobs": JOBS,
        "code": [
            None,
            StrOptions({"auto", "exhaustive", "random", "one_vs_rest", "minimal"}),
            "array-like",
        ],
        "n_bits": [None, whole(1)],
        "decoding": [StrOptions({"distance", "loss", "hamming"})],
    }
    _stored = {
        "code_book_": Optional(Array("f8", ("n_classes", None))),
        "code_": Array("i8", ("n_classes", "n_code_1"), low=0),
        "members_": ListOf(Object(("Member",)), "n_code_1"),
        "min_distance_": Whole(),
        "n_corrected_": Whole(),
    }

    def __init__(
        self,
        estimator,
        *,
        code_size=1.5,
        random_state=None,
        n_jobs=None,
        code=None,
        n_bits=None,
        decoding="distance",
    ):
        self.estimator = estimator
        self.code_size = code_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.code = code
        self.n_bits = n_bits
        self.decoding = decoding

    def _candidates(self):
        return chosen(self.estimator, LogisticRegression)

    def _most_steps(self) -> int:
        n_classes = len(getattr(self, "classes_", range(3)))
        if self.code is None:
            return int(n_classes * self.code_size)
        if not isinstance(self.code, str):
            return np.shape(self.code)[1]
        if self.code in ("minimal", "one_vs_rest"):
            return n_classes
        if self.code == "random" or n_classes > MOST_EXHAUSTIVE:
            return self._n_random_bits(n_classes)
        return 2 ** max(n_classes - 1, 1)

    def _n_random_bits(self, n_classes: int) -> int:
        return self.n_bits or math.ceil(10 * math.log2(max(n_classes, 2)))

    def _codewords(self, rng: np.random.Generator) -> np.ndarray:
        n_classes = len(self.classes_)
        if self.code is None:
            return self._drawn_code(n_classes)
        if not isinstance(self.code, str):
            return self._given_code(n_classes)
        if n_classes == 1:
            return np.ones((1, 1), dtype=np.int64)
        kind = self.code
        if kind == "auto":
            kind = "exhaustive" if n_classes <= MOST_EXHAUSTIVE else "random"
        if kind == "exhaustive":
            if n_classes > MOST_EXHAUSTIVE:
                raise ValueError(
                    f"code='exhaustive' asks 2^(K-1) - 1 questions, too many for {n_classes} "
                    "classes; "
                    "use code='random'"
                )
            return exhaustive_code(n_classes)
        if kind == "random":
            n_bits = self._n_random_bits(n_classes)
            if 2**n_bits < n_classes:
                raise ValueError(f"n_bits={n_bits} cannot tell {n_classes} classes apart; raise it")
            return random_code(n_classes, n_bits, rng)
        return one_vs_rest_code(n_classes) if kind == "one_vs_rest" else minimal_code(n_classes)

    def _drawn_code(self, n_classes: int) -> np.ndarray:
        """Bits with equal chances, drawn as scikit-learn draws them."""
        n_bits = int(n_classes * self.code_size)
        if not n_bits:
            raise ValueError(
                f"code_size={self.code_size} gives no bit for {n_classes} classes; increase it"
            )
        draws = check_random_state(self.random_state).uniform(size=(n_classes, n_bits))
        return (draws > 0.5).astype(np.int64)

    def _given_code(self, n_classes: int) -> np.ndarray:
        code = np.asarray(self.code)
        if code.ndim != 2 or len(code) != n_classes or not np.isin(code, (0, 1)).all():
            raise ValueError(
                f"code must be a matrix of 0 and 1 with a row for each of the {n_classes} classes, "
                f"not of shape {code.shape}"
            )
        if n_classes > 1 and codeword_distances(code).min() == 0:
            raise ValueError("code gives two classes the same codeword")
        return code.astype(np.int64)

    def _fit_ensemble(self, training: Training) -> None:
        by_distance = self.decoding == "distance"  # of any numbers, those of regressors too
        [(name, learner)] = self._candidates() if by_distance else self._checked_candidates()
        rng = self._rng()
        code = self._codewords(rng)
        distances = codeword_distances(code)
        self.code_ = code
        self.code_book_ = code.astype(np.float64)
        if hasattr(learner, "decision_function"):
            self.code_book_ = 2 * self.code_book_ - 1
        self.min_distance_ = int(distances.min()) if len(distances) else 0
        self.n_corrected_ = max((self.min_distance_ - 1) // 2, 0)
        seeds = rng.integers(2**31 - 1, size=code.shape[1]).tolist()
        part = training.whole()
        rows, weights = training.at(part.positions), part.weight_array

        def fit(bit: int) -> tuple[Member, float]:
            y = code[training.y, bit]
            fresh = seeded(learner, seeds[bit], False)
            called = f"{name}, bit {bit + 1}"
            member = fit_member(fresh, called, training, part, y=y, seed=seeds[bit])
            score = member.estimate(rows) > 0.5 if is_regressor(learner) else member.codes(rows)
            return member, weighted_error(score, y[part.positions], weights)

        def so_far(made: list) -> dict[str, Any]:
            return {"members_": [member for member, _ in made]}

        made = self._fit_each(range(code.shape[1]), fit, lambda all_made: all_made[-1][1], so_far)
        self._keep(so_far(made))

    def _distances(self, rows) -> np.ndarray:
        """Distance of each row to each codeword, over the bits that have been learnt."""
        if self.decoding == "distance":
            scores = np.column_stack(list(self._ask(lambda m: self._score(m, rows), rows)))
            return euclidean_distances(scores, self.code_book_[:, : scores.shape[1]])
        total = np.zeros((rows.shape[0], len(self.classes_)))
        if self.decoding == "hamming":
            said = self._ask(lambda member: member.votes(rows, 2), rows)
        else:
            said = self._ask(lambda member: member.proba(rows, 2), rows)
        for bit, found in enumerate(said):
            for k, wanted in enumerate(self.code_[:, bit]):
                right = found[:, wanted]  # 1 - p would lose the digits of a small probability
                if self.decoding == "hamming":
                    total[:, k] += 1.0 - right
                else:
                    total[:, k] -= np.log(np.maximum(right, SMALLEST))
        return total

    def _score(self, member: Member, rows) -> np.ndarray:
        """What a member gives for its bit, in the terms of `code_book_`."""
        estimator, given = member.estimator, member.given(rows)
        if is_regressor(estimator):
            return member.estimate(rows)
        if hasattr(estimator, "decision_function"):
            return np.ravel(estimator.decision_function(given))
        bits = member.proba(rows, 2)[:, 1]
        return 2 * bits - 1 if (self.code_book_ < 0).any() else bits

    def _proba(self, rows):
        distances = self._distances(rows)
        liking = np.exp(distances.min(axis=1, keepdims=True) - distances)
        return liking / liking.sum(axis=1, keepdims=True)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return super()._working_memory(n_rows, n_columns) + 8 * n_rows * 10
