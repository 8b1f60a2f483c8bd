"""Naive Bayes against scikit-learn's."""

from sklearn.naive_bayes import GaussianNB

from benchmarks.duels.duel import Duel
from benchmarks.duels.tables import accuracy, classes
from gnomon.bayes import NaiveBayes


def data(n):
    return classes(n, 20, 5)


Duel(
    name="naive Bayes fit, 20 normal columns, 5 classes",
    peer="scikit-learn GaussianNB",
    data=data,
    ours=lambda given: NaiveBayes().fit(given.rows, given.y),
    theirs=lambda given: GaussianNB().fit(given.rows, given.y),
    quality=accuracy,
)


Duel(
    name="naive Bayes fit and predict, 20 normal columns, 5 classes",
    peer="scikit-learn GaussianNB",
    data=data,
    ours=lambda given: _predicted(NaiveBayes(), given),
    theirs=lambda given: _predicted(GaussianNB(), given),
    quality=accuracy,
)


def _predicted(model, given):
    model.fit(given.rows, given.y).predict(given.rows)
    return model
