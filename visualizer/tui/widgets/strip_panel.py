"""Panels that draw rows of their own: other rows cost one repaint, and no layout."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual.content import Content
from textual.geometry import Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual


class StripPanel(ScrollView, can_focus=True):
    """Rows that scroll where they do not fit, above ``pinned`` rows that stay in view.

    Whoever inherits makes the rows in `_make`, which is called anew whenever the panel is wider or narrower than before
    or its styles are others; `_remake` calls it for another content.
    """

    ALLOW_MAXIMIZE = True

    # ScrollView's own would lay the whole screen out again whenever a text has more or fewer rows. The column of the
    # scrollbar is always kept free, so there is nothing to lay out.
    virtual_size = Reactive(Size(0, 0))

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._rows: Sequence[Strip] = ()
        self._pinned: Sequence[Strip] = ()
        self._made_for = Size(0, 0)
        self._looks: dict[str, Style] = {}
        self._titled: tuple[str, str | None] = ("", None)

    def entitle(self, title: str, subtitle: str | None = None) -> None:
        """The words in the panel's border, above and below (None: what stands there stays)."""
        if (title, subtitle) == self._titled:
            return
        self._titled = (title, subtitle)
        self.border_title = Content(title)
        if subtitle is not None:
            self.border_subtitle = Content(subtitle)

    @property
    def room(self) -> Size:
        """What the rows have, in cells."""
        return self.scrollable_content_region.size

    @property
    def row_count(self) -> int:
        """How many rows there are, in view and out of it."""
        return len(self._rows) + len(self._pinned)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._looks.clear()
        if self.is_attached:
            self._remake()

    def on_resize(self) -> None:
        if self.room != self._made_for:
            self._remake()

    def render_line(self, y: int) -> Strip:
        width, height = self.room
        above = height - len(self._pinned)
        rows, at = (self._pinned, y - above) if y >= above else (self._rows, y + self.scroll_offset.y)
        if at >= len(rows):
            return Strip.blank(width, self._ground)
        return rows[at].crop_extend(0, width, self._ground)

    def look(self, name: str) -> Style:
        """A component's style, looked up once."""
        found = self._looks.get(name)
        if found is None:
            found = self._looks[name] = self.get_component_rich_style(name)
        return found

    @property
    def _ground(self) -> Style:
        return self.visual_style.rich_style

    def _make(self, width: int, height: int) -> tuple[Sequence[Strip], Sequence[Strip]]:
        """The rows, and those that are pinned, for so many cells."""
        raise NotImplementedError

    def _remake(self, *, from_top: bool = False) -> None:
        self._made_for = self.room
        width, height = self.room
        self._rows, self._pinned = self._make(max(width, 1), height)
        count = len(self._rows) + len(self._pinned)
        self.virtual_size = Size(width, count)
        bar = self.vertical_scrollbar
        bar.window_virtual_size, bar.window_size = count, height
        self.scroll_to(0, 0 if from_top else min(self.scroll_offset.y, self.max_scroll_y), animate=False)
        self.refresh()

    def _strips(self, content: Content, width: int) -> list[Strip]:
        """Content as rows of so many cells."""
        return Visual.to_strips(self, content, width, None, self.visual_style) if content else []


class TextPanel(StripPanel):
    """A titled panel of content."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._content = Content("")

    def put(self, title: str, content: Content) -> None:
        """Other content, from its top; nothing is repainted where it is the one already shown."""
        self.entitle(title)
        if not content.is_same(self._content):
            self._content = content
            self._remake(from_top=True)

    def _make(self, width: int, height: int) -> tuple[Sequence[Strip], Sequence[Strip]]:  # noqa: ARG002
        return self._strips(self._content, width), ()
