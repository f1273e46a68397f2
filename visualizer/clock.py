"""Times and durations as people read them. Instants are milliseconds since the Unix epoch, shown in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# datetime ends with the year 9999.
_LAST_MS = 253_402_300_799_999


def time_of_day(instant_ms: float, beside_ms: float | None = None) -> str:
    """``15:11:39.441``; with its date where that is another day than ``beside_ms``'s."""
    if not 0 <= instant_ms <= _LAST_MS:
        return f"{instant_ms:.0f} ms, which is no date"
    instant = _EPOCH + timedelta(milliseconds=int(instant_ms))
    text = f"{instant:%H:%M:%S}.{int(instant_ms) % 1000:03d}"
    if beside_ms is not None and abs(instant_ms - beside_ms) >= 86_400_000:
        return f"{instant:%Y-%m-%d} {text}"
    return text


def lesson_time(ms: float) -> str:
    """An instant of a lesson's own clock, in minutes and seconds since the lesson began: ``00:05.010``."""
    minutes, left = divmod(int(ms), 60_000)
    return f"{minutes:02d}:{left // 1000:02d}.{left % 1000:03d}"


def duration(ms: float) -> str:
    """``40 ms``, ``1.8 s``, ``2 min 5 s``, ``10 min``, ``3 h 20 min``, ``12 days``; the sign is dropped."""
    ms = abs(ms)
    if ms < 100:
        return f"{ms:.0f} ms"
    seconds = ms / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, left = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {left} s" if left else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} days"


def relative(instant_ms: float, now_ms: float) -> str:
    """``in 1.8 s`` or ``42.0 s ago``."""
    ahead = instant_ms - now_ms
    return f"in {duration(ahead)}" if ahead > 0 else f"{duration(ahead)} ago"
