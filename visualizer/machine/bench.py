"""What a verb works with: the queue's keys, the step it runs for, and the calls it may send."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from visualizer.caller import Caller, Reply
from visualizer.keyspace import Keyspace
from visualizer.model import Parameter, Step
from visualizer.script import Named, Value, load

Tokens = Mapping[tuple[str, bytes], bytes]


class TokenUnknownError(Exception):
    """A step names a worker that holds no token for the job. Nothing was sent."""


class Bench:
    """One step's tools. ``tokens`` maps (worker, job id) to the token that worker last got for that job; ``now_ms`` is
    the lesson's clock, where it has one."""

    def __init__(
        self, caller: Caller, space: Keyspace, step: Step, tokens: Tokens, now_ms: Callable[[], int] | None = None
    ) -> None:
        self.space = space
        self.step = step
        self._now_ms = now_ms
        self._caller = caller
        self._tokens = tokens

    @property
    def id(self) -> bytes:
        """The id of the step's job; ValueError where the step names none."""
        if self.step.id is None:
            raise ValueError(f"{self.step.do} is about a job, and the step names none")
        return self.step.id

    def key(self, type_: str) -> bytes:
        """The queue's key of that type, ``emq:{q}:<type>``."""
        return self.space.key(type_)

    def keys(self, *types: str) -> dict[str, bytes]:
        """The queue's keys of those types, each by its type."""
        return {type_: self.key(type_) for type_ in types}

    def row(self, job: bytes | None = None) -> bytes:
        """The row's key of the step's job (or of ``job``); gated: an ill-formed id raises before anything is sent."""
        return self.space.job(self.id if job is None else job)

    def call(self, script: str, keys: Named, args: Named) -> Reply:
        """Runs a script by name with named keys and arguments."""
        return self._caller.call(load(script), keys, args)

    def command(self, command: str, *args: Value, keys: tuple[bytes, ...] = ()) -> Reply:
        """Sends one plain command."""
        return self._caller.command(command, *args, keys=keys)

    def now_ms(self) -> int:
        """What time it is for the scripts that are told, by the lesson's clock."""
        if self._now_ms is None:
            raise ValueError(f"{self.step.do} needs a clock, and this machine's lessons have none")
        return self._now_ms()

    def fetch_token(self, worker: str) -> bytes:
        """A token that this worker has not used yet: its name and the number of the fetch."""
        used = [int(token.rpartition(b":")[2]) for (name, _), token in self._tokens.items() if name == worker]
        return f"{worker}:{max(used, default=0) + 1}".encode()

    def holder(self, token: bytes) -> str:
        """The worker that got this token, empty where none did."""
        return next((worker for (worker, _), held in self._tokens.items() if held == token), "")

    def take(self, parameter: Parameter) -> Any:
        """What the step gives for that parameter, else its default."""
        return self.step.given.get(parameter.name, parameter.default)

    def token(self) -> bytes:
        """The token the step sends: a worker's last one for this job, a whole number, or a literal text."""
        return self.resolve_token(self.step.given.get("token"), self.id)

    def resolve_token(self, written: Any, job: bytes) -> bytes:
        """A token as a lesson writes it, as the bytes that are sent."""
        if isinstance(written, Mapping):
            return str(written["text"]).encode()
        if isinstance(written, int):
            return str(written).encode()
        if isinstance(written, bytes):
            return written
        token = self._tokens.get((str(written), job))
        if token is None:
            raise TokenUnknownError(f"worker {written} has claimed no such job, so it has no token")
        return token
