"""Reads what a lesson's step announces, and refuses every place, law and outcome that could not come."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from visualizer import ids
from visualizer.lesson_faults import FaultList
from visualizer.lesson_table import Table, named
from visualizer.model import Expect, Machine

_ROWS = ("gone", "unchanged", "none")


class ExpectReader:
    """Reads the ``expect`` tables of one lesson. ``machine`` None (an unknown one) leaves its names unchecked.

    ``groups`` maps a name to a group's id.
    """

    def __init__(self, machine: Machine | None, groups: Mapping[str, bytes], faults: FaultList) -> None:
        self._machine = machine
        self._groups = groups
        self._faults = faults

    def read(self, table: Table, do: str, outcomes: Collection[str] | None) -> Expect:
        """What the step ``do`` is to bring; whatever is wrong with it is noted. ``outcomes`` None are not checked."""
        outcome = table.want("outcome", str, "a text", None)
        if outcome is not None and outcomes is not None and outcome not in outcomes:
            self._faults.unknown(table.key("outcome"), f"outcome of {do}", outcome, outcomes)
        refused = table.want("refused", str, "the error's text or code, as a text,", None)
        expect = Expect(
            leaves=tuple(self._place(key, name) for key, name in table.names_list("leaves")),
            enters=tuple(self._place(key, name) for key, name in table.names_list("enters")),
            outcome=outcome,
            row=self._row(table),
            refused=refused,
            breaks=tuple(self._law(key, name) for key, name in table.names_list("breaks")),
        )
        table.done()
        return expect

    def _row(self, table: Table) -> str | Mapping[str, str] | None:
        written = table.any("row")
        if isinstance(written, dict):
            fields = Table(written, table.key("row"), self._faults)
            return {name: fields.need(name, str, "the field's text") or "" for name in fields.names()}
        word: str | None = table.one_of("row", _ROWS, " or a table of fields")
        return word

    def _place(self, key: str, written: str) -> str:
        if self._machine is None:
            return written
        names = [place.name for place in self._machine.places]
        lanes = self._machine.lanes
        if lanes and written.startswith("lane:"):
            group = named(self._faults, key, "group", written.removeprefix("lane:"), self._groups) or b""
            return f"{lanes.prefix}{group.decode('ascii', 'replace')}{lanes.suffix}"
        if lanes and written.startswith(lanes.prefix) and written.endswith(lanes.suffix):
            try:
                ids.parse(written.removeprefix(lanes.prefix).removesuffix(lanes.suffix))
            except ids.IdError as wrong:
                self._faults.add(key, f"a lane is named by its group's id, or lane:<name>: {wrong}")
        elif written not in names:
            self._faults.unknown(key, "place", written, names)
        return written

    def _law(self, key: str, written: str) -> str:
        known = [law.name for law in self._machine.laws] if self._machine else [written]
        if written not in known:
            self._faults.unknown(key, "law", written, known)
        return written
