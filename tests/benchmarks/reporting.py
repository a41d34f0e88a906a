"""What was measured, beside what is to be reached."""

import statistics
from collections.abc import Sequence

import attrs


@attrs.frozen
class Row:
    """One figure. It holds if it is at most `reach`, or with `at_least` set, at least that."""

    what: str
    figure: float
    reach: float
    details: str = ""
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the figure is where it is to be."""
        return self.figure >= self.reach if self.at_least else self.figure <= self.reach

    def __str__(self) -> str:
        sign = "at least" if self.at_least else "at most"
        mark = "ok  " if self.holds else "MISS"
        details = f"   ({self.details})" if self.details else ""
        return f"{mark} {self.what}: {self.figure:.3g}, to reach {sign} {self.reach:g}{details}"


def percentile(values: Sequence[float], share: int) -> float:
    """Return the value that `share` percent of `values` do not exceed."""
    return statistics.quantiles(values, n=100, method="inclusive")[share - 1]
