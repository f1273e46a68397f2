"""Builds every key of one queue behind two gates (the queue's name, the id), and finds a key's cluster slot.

Keys are only ever put together. None is taken apart again at its ``:``, since an id or a member may hold one.
"""

from __future__ import annotations

import binascii
import unicodedata

from visualizer.ids import IdError, parse
from visualizer.visible import visible

SLOTS = 16_384


class QueueNameError(ValueError):
    """Why a queue name is refused, as a sentence that is safe to show."""


class Keyspace:
    """The keys of one queue, ``emq:{queue}:…``; raises `QueueNameError` for a name that cannot stand in the braces.

    ``base`` is what all of them start with. ``row_prefix`` comes between it and the id in the key of a job's row.
    """

    def __init__(self, queue: str, row_prefix: str) -> None:
        self.queue = queue
        self.base = b"emq:{%b}:" % _checked(queue)
        self._row_base = self.base + row_prefix.encode()

    def key(self, type: str) -> bytes:
        """The queue's key of that type (``pending``, ``metrics:completed``); the empty type gives ``base``."""
        return self.base + type.encode()

    def job(self, id: bytes | str) -> bytes:
        """The key of a job's row; raises `IdError` before any key is built where the id is ill-formed."""
        return self._row_base + _gated(id, "job_key requires a valid branded id")

    def lane(self, group: bytes | str) -> bytes:
        """The key of a group's lane; raises `IdError` before any key is built where the group is no branded id."""
        return self.base + b"g:%b:pending" % _gated(group, "a lane is named by a valid branded id")


def slot(key: bytes) -> int:
    """The cluster slot (0 … 16383) of a key: CRC16-XMODEM of its hash tag, or of all of it where it has none.

    The hash tag is what stands between the first ``{`` and the next ``}``, if that is anything at all.
    """
    _, opened, rest = key.partition(b"{")
    tag, closed, _ = rest.partition(b"}")
    return binascii.crc_hqx(tag if opened and closed and tag else key, 0) % SLOTS


def _gated(id: bytes | str, rule: str) -> bytes:
    try:
        return str(parse(id)).encode()
    except IdError as fault:
        raise IdError(f"{rule}: {fault}") from fault


def _checked(queue: str) -> bytes:
    """The queue name in UTF-8, or the reason why it cannot be one."""
    shown = f"the queue name '{visible(queue, 40)}'"
    if not queue:
        raise QueueNameError(
            "a queue name cannot be empty: its keys would start with emq:{}:, which is no hash tag, "
            "and so lie in different cluster slots"
        )
    if "{" in queue or "}" in queue:
        raise QueueNameError(
            f"{shown} holds a brace: the name stands in the braces of every key, "
            "and a brace in it changes the hash tag and so the cluster slot"
        )
    if any(unicodedata.category(character) == "Cc" for character in queue):
        raise QueueNameError(f"{shown} holds a control character, which no one could read or type")
    try:
        return queue.encode()
    except UnicodeEncodeError as fault:
        raise QueueNameError(f"{shown} is not valid text: its character {fault.start + 1} has no UTF-8 form") from fault
