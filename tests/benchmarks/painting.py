"""Runs an app in this process on a terminal that swallows what is painted, and times a key up to its last painted byte.

Two figures a key: *work* is the processor time of this process, all threads together, from the key to the last byte
of its painting. Waiting costs none of it: neither for the server, whose own work is in another process, nor for
Textual, which paints at most 60 times a second. *Felt* is the time on the wall, with all of that in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter, process_time
from typing import Any

from msgspec import Struct
from textual import events
from textual.app import App
from textual.drivers.headless_driver import HeadlessDriver

SIZE = (120, 36)
# A step paints several times, with the engine's calls and Textual's 60ths of a second between; a longer gap than this
# is the end of what a key painted.
GAP_SECONDS = 0.15
QUIET_SECONDS = 0.2
PATIENCE_SECONDS = 120.0


class Painted(Struct, frozen=True):
    """What one key took until it was painted, in milliseconds."""

    work_ms: float
    felt_ms: float


class Screening:
    """An app on a terminal of 120×36 that keeps only when it was written to."""

    def __init__(self, app: App[Any]) -> None:
        self.app = app
        self._written: list[tuple[float, float]] = []
        written = self._written

        class Swallowing(HeadlessDriver):
            """Textual paints for it as for a real terminal."""

            @property
            def is_headless(self) -> bool:
                return False

            def write(self, data: str) -> None:  # noqa: ARG002
                written.append((perf_counter(), process_time()))

        app.driver_class = Swallowing

    def run(self, script: Callable[[Screening], Awaitable[None]]) -> None:
        """Opens the app, runs the script in it, and ends it."""

        async def piloted(_pilot: Any) -> None:
            try:
                await script(self)
            finally:
                self.app.exit()

        asyncio.run(self.app.run_async(size=SIZE, auto_pilot=piloted))

    async def until(self, done: Callable[[], bool]) -> None:
        """Waits until that holds and nothing is painted any more. TimeoutError where it never does."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not done() or (self._written and perf_counter() - self._written[-1][0] < QUIET_SECONDS):
                await asyncio.sleep(QUIET_SECONDS)

    async def press(self, key: str, done: Callable[[], bool]) -> Painted:
        """Presses a key, and waits until it has done its work and is painted."""
        return await self.act(lambda: self.app.post_message(events.Key(key, key)), done)

    async def act(self, act: Callable[[], Any], done: Callable[[], bool]) -> Painted:
        """Does something in the app, and waits until it has done its work and is painted."""
        self._written.clear()
        felt_from, work_from = perf_counter(), process_time()
        act()
        await asyncio.sleep(QUIET_SECONDS)
        await self.until(lambda: done() and bool(self._written))
        felt_to, work_to = self._written[0]
        for felt_at, work_at in self._written[1:]:
            if felt_at - felt_to > GAP_SECONDS:
                break
            felt_to, work_to = felt_at, work_at
        return Painted((work_to - work_from) * 1000, (felt_to - felt_from) * 1000)
