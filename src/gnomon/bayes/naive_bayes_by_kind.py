"""Naive Bayes under scikit-learn's names: one kind of column each.

    P(c | x)  proportional to  P(c) prod_j p(x_j | c)

GaussianNB for numbers, MultinomialNB and ComplementNB for counts, BernoulliNB for yes and no,
CategoricalNB for codes of categories. scikit-learn's own classes, which take any table here;
`NaiveBayes` chooses the distribution column by column.

Texts: 000 4.2 · 001 4 · 002 "Naive Bayes" · 003 2.7 · 004 9.
"""

from __future__ import annotations

from sklearn import naive_bayes

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Number

TEXTS = "000 4.2 · 001 4 · 004 9"


@method(
    task="classify",
    texts=TEXTS,
    use="Numbers that are about normal within each class; a fast first model.",
    avoid="Strongly dependent columns, or columns of several kinds (NaiveBayes).",
    peers=("sklearn.naive_bayes.GaussianNB",),
    on="scikit-learn",
)
class GaussianNB(OverScikitLearn, naive_bayes.GaussianNB):
    """Naive Bayes with a normal distribution for each feature in each class.

    Use it as a fast first model of numeric columns; not where columns are strongly dependent, whose
    evidence it counts twice. `NaiveBayes` takes columns of several kinds.

    Examples
    --------
    >>> from gnomon.bayes import GaussianNB
    >>> GaussianNB().fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]).predict([[5.4]])
    array([1])
    """

    _target = "classes"
    _stored = {
        "class_count_": Array("f", ("n_classes",)),
        "class_prior_": Array("f", ("n_classes",), low=0.0),
        "epsilon_": Number(),
        "theta_": Array("f", ("n_classes", "n_columns")),
        "var_": Array("f", ("n_classes", "n_columns")),
    }


@method(
    task="classify",
    texts=TEXTS,
    use="Counts of words or events.",
    avoid="Numbers that are not counts (GaussianNB, NaiveBayes).",
    peers=("sklearn.naive_bayes.MultinomialNB",),
    on="scikit-learn",
)
class MultinomialNB(OverScikitLearn, naive_bayes.MultinomialNB):
    """Naive Bayes for counts: one multinomial distribution over the features in each class.

    Use it for counts, such as words of documents; not for numbers that may be negative.

    Examples
    --------
    >>> from gnomon.bayes import MultinomialNB
    >>> MultinomialNB().fit([[2, 0], [3, 1], [0, 4]], ["a", "a", "b"]).predict([[1, 3]])
    array(['b'], dtype='<U1')
    """

    natively = Takes(sparse=True)
    _target = "classes"
    _stored = {
        "class_count_": Array("f8", ("n_classes",), low=0.0),
        "class_log_prior_": Array("f8", ("n_classes",)),
        "feature_count_": Array("f8", ("n_classes", "n_columns"), low=0.0),
        "feature_log_prob_": Array("f8", ("n_classes", "n_columns")),
    }


@method(
    task="classify",
    texts=TEXTS,
    use="Counts where some classes are much rarer than others.",
    avoid="Numbers that are not counts (GaussianNB, NaiveBayes).",
    peers=("sklearn.naive_bayes.ComplementNB",),
    on="scikit-learn",
)
class ComplementNB(OverScikitLearn, naive_bayes.ComplementNB):
    """Naive Bayes for counts that learns each class from the rows of all other classes.

    Use it for counts with classes of unequal size, where MultinomialNB favours the frequent ones;
    not for numbers that may be negative.

    Examples
    --------
    >>> from gnomon.bayes import ComplementNB
    >>> ComplementNB().fit([[2, 0], [3, 1], [0, 4]], ["a", "a", "b"]).predict([[1, 3]])
    array(['b'], dtype='<U1')
    """

    natively = Takes(sparse=True)
    _target = "classes"
    _stored = {
        "class_count_": Array("f8", ("n_classes",)),
        "class_log_prior_": Array("f8", ("n_classes",)),
        "feature_all_": Array("f8", ("n_columns",)),
        "feature_count_": Array("f8", ("n_classes", "n_columns")),
        "feature_log_prob_": Array("f8", ("n_classes", "n_columns")),
    }


@method(
    task="classify",
    texts=TEXTS,
    use="Columns of yes and no, such as words that occur or not.",
    avoid="Numbers of many values (GaussianNB, NaiveBayes).",
    peers=("sklearn.naive_bayes.BernoulliNB",),
    on="scikit-learn",
)
class BernoulliNB(OverScikitLearn, naive_bayes.BernoulliNB):
    """Naive Bayes for features that are present or absent.

    Use it for columns of yes and no; not for numbers of many values, which it cuts at ``binarize``.

    Examples
    --------
    >>> from gnomon.bayes import BernoulliNB
    >>> BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"]).predict([[0, 1]])
    array(['b'], dtype='<U1')
    """

    natively = Takes(sparse=True)
    _target = "classes"
    _stored = {
        "class_count_": Array("f8", ("n_classes",), low=0.0),
        "class_log_prior_": Array("f8", ("n_classes",)),
        "feature_count_": Array("f8", ("n_classes", "n_columns"), low=0.0),
        "feature_log_prob_": Array("f8", ("n_classes", "n_columns")),
    }


@method(
    task="classify",
    texts=TEXTS,
    use="Columns of category codes 0, 1, 2 and so on.",
    avoid="Numbers of many values; text categories in tables (NaiveBayes).",
    peers=("sklearn.naive_bayes.CategoricalNB",),
    on="scikit-learn",
)
class CategoricalNB(OverScikitLearn, naive_bayes.CategoricalNB):
    """Naive Bayes for features that are codes of categories.

    Use it for columns of codes 0, 1, 2 ...; not for other numbers, and for tables with text
    `NaiveBayes` is made.

    Examples
    --------
    >>> from gnomon.bayes import CategoricalNB
    >>> CategoricalNB().fit([[0, 2], [0, 1], [1, 0]], ["a", "a", "b"]).predict([[1, 0]])
    array(['b'], dtype='<U1')
    """

    _target = "classes"
    _stored = {
        "category_count_": ListOf(Array("f8", ("n_classes", None), low=0.0), "n_columns"),
        "class_count_": Array("f8", ("n_classes",)),
        "class_log_prior_": Array("f8", ("n_classes",)),
        "feature_log_prob_": ListOf(Array("f8", ("n_classes", None)), "n_columns"),
        "n_categories_": Array("i8", ("n_columns",), low=0),
    }
