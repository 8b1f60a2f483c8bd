"""Digits: a pipeline of scaling and a support vector machine, tuned by a grid search."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import classification_report
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
grid = {"svc__C": [0.1, 0.5, 1, 5, 10], "svc__gamma": [0.01, 0.05, 0.1, 0.5, 1]}
search = GridSearchCV(make_pipeline(MinMaxScaler(), SVC()), grid, cv=5).fit(X_train, y_train)
print(search.best_params_, np.round(search.cv_results_["mean_test_score"], 4))
print("support vectors", search.best_estimator_[-1].n_support_)
print(classification_report(y_test, search.predict(X_test), digits=4))
