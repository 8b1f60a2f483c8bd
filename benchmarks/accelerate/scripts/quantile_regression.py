"""Quantile regression: bands of 90 % under noise that grows and noise with heavy tails."""

import numpy as np
from sklearn.linear_model import LinearRegression, QuantileRegressor
from sklearn.metrics import mean_absolute_error

rng = np.random.RandomState(42)
x = np.linspace(0, 10, 8_000)
X = np.stack([x, np.sin(x), np.cos(x), x**2 / 10], axis=1)
train, test = X[::2], X[1::2]
line = 10 + 0.5 * x
noises = {
    "growing": rng.normal(scale=0.5 + 0.5 * x),
    "heavy-tailed": 0.5 * rng.standard_t(2, size=len(x)),
}
for name, noise in noises.items():
    y = line + noise
    bands = {}
    for quantile in (0.05, 0.5, 0.95):
        bands[quantile] = (
            QuantileRegressor(quantile=quantile, alpha=0).fit(train, y[::2]).predict(test)
        )
    inside = np.mean((y[1::2] >= bands[0.05]) & (y[1::2] <= bands[0.95]))
    mean = LinearRegression().fit(train, y[::2]).predict(test)
    print(
        f"{name}: {inside:.4f} inside the band, absolute error of the median "
        f"{mean_absolute_error(line[1::2], bands[0.5]):.4f}, of the mean "
        f"{mean_absolute_error(line[1::2], mean):.4f}"
    )
