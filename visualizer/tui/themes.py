"""Our two themes, and the names that every theme needs for what happened."""

from __future__ import annotations

from textual.color import Color
from textual.theme import Theme

DARK = Theme(
    name="echomq-dark",
    primary="#7aa2c9",
    secondary="#8fa6c4",
    accent="#e8bf5a",
    foreground="#d3dae6",
    background="#0f131c",
    surface="#131926",
    panel="#192130",
    success="#86e3b8",
    warning="#e8bf5a",
    error="#f2705f",
    dark=True,
    variables={
        "now": "#e8bf5a",
        "entered": "#86e3b8",
        "left": "#f0a184",
        "quiet": "#8390a6",
        "faint": "#5a677d",
        "strong": "#ffffff",
        "lua-keyword": "#8fb3e0",
        "lua-string": "#a8cf8e",
        "lua-number": "#d8a0df",
        "lua-call": "#8cd0d3",
        "lua-comment": "#7d8aa0",
    },
)

LIGHT = Theme(
    name="echomq-light",
    primary="#2b5f94",
    secondary="#45607f",
    accent="#8a5a00",
    foreground="#1c2430",
    background="#fbfaf7",
    surface="#f3f1ec",
    panel="#eae7e0",
    success="#0b6e45",
    warning="#8a5a00",
    error="#b3261e",
    dark=False,
    variables={
        "now": "#8a5a00",
        "entered": "#0b6e45",
        "left": "#a8401c",
        "quiet": "#5a6473",
        "faint": "#a0a6ae",
        "strong": "#000000",
        "lua-keyword": "#1d4f91",
        "lua-string": "#3a6b1a",
        "lua-number": "#7b2d8b",
        "lua-call": "#0f6674",
        "lua-comment": "#66707d",
    },
)


def defaults_for(theme: Theme) -> dict[str, str]:
    """The same names for a theme that is not ours, from its own colours."""
    plain = theme.foreground or ("#e0e0e0" if theme.dark else "#202020")
    ground = theme.background or ("#121212" if theme.dark else "#f5f5f5")
    quiet, faint = _between(plain, ground, 0.35), _between(plain, ground, 0.6)
    return {
        "now": theme.warning or theme.accent or theme.primary,
        "entered": theme.success or theme.primary,
        "left": theme.error or theme.primary,
        "quiet": quiet,
        "faint": faint,
        "strong": plain,
        "lua-keyword": theme.primary,
        "lua-string": theme.success or plain,
        "lua-number": theme.accent or plain,
        "lua-call": theme.accent or plain,
        "lua-comment": quiet,
    }


def _between(plain: str, ground: str, share: float) -> str:
    """A colour that far on the way from the text to its ground; the terminal's own colours cannot be mixed."""
    if plain.startswith("ansi") or ground.startswith("ansi"):
        return plain
    return Color.parse(plain).blend(Color.parse(ground), share).hex
