"""The bar of intervals: of nominal 95% intervals 93 to 97% hold the truth."""

from scipy import stats


def refuted(share: float, runs: int) -> bool:
    """Whether a share of simulated runs speaks against 93 to 97%, at one in 10,000."""
    held = round(share * runs)
    too_few = stats.binom.cdf(held, runs, 0.93) < 1e-4
    return bool(too_few or stats.binom.sf(held - 1, runs, 0.97) < 1e-4)
