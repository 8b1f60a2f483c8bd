"""Categories in least squares: one level is the reference, and the summary tests the others."""

import numpy as np
import pytest

from gnomon.linear import LinearRegression
from gnomon.table import Table

COLORS = ["blue", "green", "red", "blue", "green", "red", "blue", "red"]
Y = np.array([1.0, 4.0, 9.0, 2.0, 6.0, 8.0, 3.0, 7.0])


def test_coefficients_of_a_category_are_differences_of_means_from_the_first_level():
    model = LinearRegression().fit(Table.from_dict({"color": COLORS}), Y)
    means = {c: Y[np.array(COLORS) == c].mean() for c in set(COLORS)}
    assert model.encoder_.columns.names == ("color=green", "color=red")
    assert model.intercept_ == pytest.approx(means["blue"])
    assert model.coef_ == pytest.approx(
        [means["green"] - means["blue"], means["red"] - means["blue"]]
    )
    assert model.summary().facts["R2"] > 0.8


def test_without_an_intercept_every_level_keeps_its_column():
    model = LinearRegression(fit_intercept=False).fit(Table.from_dict({"color": COLORS}), Y)
    assert len(model.coef_) == 3


def test_the_reference_code_is_reversible():
    table = Table.from_dict({"color": COLORS})
    encoder = LinearRegression().fit(table, Y).encoder_
    back = encoder.inverse_transform(encoder.transform(table))
    assert back.column("color").to_pylist() == COLORS


def test_a_missing_category_is_predicted_as_the_mean_over_the_levels_shares():
    model = LinearRegression().fit(Table.from_dict({"color": COLORS}), Y)
    nothing = Table.from_dict({"color": [*COLORS[:2], None]})
    assert model.predict(nothing)[2] == pytest.approx(Y.mean())
