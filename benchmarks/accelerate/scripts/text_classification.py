"""Classification of short texts: word counts, then logistic regression on sparse rows."""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import make_pipeline

rng = np.random.RandomState(0)
words = np.array([f"word{i}" for i in range(4_000)])
topics = rng.dirichlet(np.full(len(words), 0.05), size=4)
y = rng.randint(4, size=3_000)
shares = 0.2 * topics[y] + 0.8 * topics.mean(axis=0)
texts = [" ".join(rng.choice(words, 60, p=share / share.sum())) for share in shares]
for model in (LogisticRegression(C=5, max_iter=1_000), ComplementNB()):
    scores = cross_val_score(make_pipeline(TfidfVectorizer(), model), texts, y, cv=5)
    print(type(model).__name__, np.round(scores, 4))
