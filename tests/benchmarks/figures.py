"""What a measurement prints, and how two things are timed against each other in one run."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from msgspec import Struct


class Finding(Struct, frozen=True):
    """One figure of ours with its bar. ``bare`` is the bare thing's figure of the same run, None where there is none.

    ``ours``, ``bare`` and ``worst`` (our 95th percentile, where the bar asks for it) are in ``unit``. The bar is on
    the ratio where ``by_ratio``, else on ``worst``, else on ``ours``. ``beside`` are figures without a bar.
    """

    what: str
    ours: float
    bar: float
    bare: float | None = None
    worst: float | None = None
    by_ratio: bool = False
    unit: str = "ms"
    beside: str = ""

    @property
    def ratio(self) -> float | None:
        return self.ours / self.bare if self.bare else None

    @property
    def judged(self) -> float:
        """The figure that is held against the bar."""
        if self.by_ratio and self.ratio is not None:
            return self.ratio
        return self.ours if self.worst is None else self.worst

    @property
    def holds(self) -> bool:
        return self.judged <= self.bar

    def line(self) -> str:
        """What it prints."""
        ours = f"{self.what}: {self._spoken(self.ours)}"
        if self.worst is not None:
            ours += f" (p95 {self._spoken(self.worst)})"
        parts = [ours]
        if self.bare is not None:
            parts.append(f"bare {self._spoken(self.bare)}")
        if self.ratio is not None:
            parts.append(f"{self.ratio:.2f} ×")
        judged = "p95 " if self.worst is not None and not self.by_ratio else ""
        parts.append(f"bar {judged}≤ {self.bar:g} {'×' if self.by_ratio else self.unit}")
        parts.append("holds" if self.holds else "misses")
        return " · ".join(parts) + (f" · beside: {self.beside}" if self.beside else "")

    def _spoken(self, figure: float) -> str:
        return f"{figure:.3g} {self.unit}" if abs(figure) < 100 else f"{figure:,.0f} {self.unit}"


def rounds(full: int, share: float) -> int:
    """How many rounds a share of the full number is: at least one."""
    return max(1, round(full * share))


def p95(figures: Sequence[float]) -> float:
    """The 95th percentile: at most one figure in twenty is larger."""
    ordered = sorted(figures)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


def interleaved(count: int, *things: Callable[[], Any]) -> list[list[float]]:
    """Times every thing in turn, A B A B …, ``count`` times; the milliseconds of each.

    A first turn is not counted: what is made once and kept belongs to nobody.
    """
    taken: list[list[float]] = [[] for _ in things]
    for turn in range(count + 1):
        for figures, thing in zip(taken, things, strict=True):
            started = perf_counter()
            thing()
            ended = perf_counter()
            if turn:
                figures.append((ended - started) * 1000)
    return taken


def medians(count: int, *things: Callable[[], Any]) -> list[float]:
    """The median milliseconds of every thing, timed in turn."""
    return [statistics.median(figures) for figures in interleaved(count, *things)]
