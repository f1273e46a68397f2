"""The commands and their options. The first word that is no command is a lesson."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable
from typing import Any, TypeVar

import click

from visualizer.engine import CHOICES

Command = TypeVar("Command", bound=Callable[..., Any])
LARGEST_PACE = 1_000.0
# How like a command a word must be to be taken for its misspelling, from 0 to 1.
ALIKE = 0.7


class Pace(click.ParamType[float]):
    """A factor that every duration is multiplied by."""

    name = "factor"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            pace = float(value)
        except ValueError:
            pace = math.nan
        if not 0 < pace <= LARGEST_PACE:
            self.fail(f"{value} is no pace: a number greater than 0, up to {LARGEST_PACE:.0f}, is wanted.", param, ctx)
        return pace


class Between(click.ParamType[float]):
    """A number in a range, which is told where another is given; a whole number where ``least`` is one."""

    def __init__(self, least: float, most: float, name: str) -> None:
        self._least, self._most = least, most
        self.name = name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float
        try:
            number = int(value) if isinstance(self._least, int) else float(value)
        except ValueError:
            whole = "whole " if isinstance(self._least, int) else ""
            self.fail(f"{value!r} is not a {whole}number.", param, ctx)
        if not self._least <= number <= self._most:  # nan is in no range
            self.fail(f"{value} is not between {self._least} and {self._most}.", param, ctx)
        return number


class OneOf(click.Choice[str]):
    """One of a few words, which are told in one line where none is given."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:  # noqa: ARG002
        return f"Choose {' or '.join(map(str, self.choices))}."


class OpenCommand(click.Command):
    """The command that is meant where none is named, so its name is not shown either."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.find_root().command_path, "[LESSON] [OPTIONS]")


class LessonGroup(click.Group):
    """A group that opens a lesson, or the home screen, where no command is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        asks_group = args and (args[0] in self.commands or args[0] in ("--help", "--version"))
        if args and not asks_group and not args[0].startswith("-"):
            self._refuse_unknown(ctx, args[0])
        return super().parse_args(ctx, args if asks_group else [open_.name or "", *args])

    def _refuse_unknown(self, ctx: click.Context, word: str) -> None:
        """Refuses a first word that is no lesson: as a command, where it looks most like one. UnknownLessonError."""
        from visualizer.resources import lessons_folder

        if (lessons_folder() / f"{word}.toml").is_file():
            return  # found without what reads lessons: a server is started before anything slow
        from visualizer.lesson import UnknownLessonError, all_lessons, find

        try:
            find(word)
        except UnknownLessonError:
            lessons = [file.stem for file in all_lessons()]
            near = difflib.get_close_matches(word, [*self.commands, *lessons], n=1, cutoff=ALIKE)
            if near and near[0] in self.commands:
                raise click.UsageError(f"There is no command {word}; did you mean {near[0]}?", ctx) from None
            raise

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        open_.format_usage(ctx, formatter)
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        open_.format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


def _engine_options(command: Command) -> Command:
    for option in (
        click.option("--take-over", is_flag=True, help="On a server by URL: delete what a visualizer left behind."),
        click.option(
            "--pace", type=Pace(), default=1.0, show_default=True, help="Multiplies every lease, delay and wait."
        ),
        click.option("--queue", help="The queue to use; the lesson's own otherwise."),
        _engine_option,
    ):
        command = option(command)
    return command


_engine_option = click.option("--engine", default="auto", show_default=True, metavar="NAME|URL", help=f"{CHOICES}.")
_path_option = click.option("--path", help="The path of the lesson.")


@click.group(cls=LessonGroup, subcommand_metavar="")
@click.version_option(package_name="echomq-visualizer")
def visualizer() -> None:
    """Step one job id through a queue's state machine, while the real Lua script runs on a real Valkey."""


@visualizer.command("open", cls=OpenCommand, hidden=True)
@click.argument("lesson", required=False)
@_path_option
@_engine_options
@click.option("--theme", help="A theme of the screen.")
@click.option("--plain", is_flag=True, help="Lines of text and the same keys, without a screen.")
def open_(
    lesson: str | None,
    path: str | None,
    engine: str,
    queue: str | None,
    pace: float,
    take_over: bool,
    theme: str | None,
    plain: bool,
) -> int:
    """Opens a lesson, or the home screen."""
    from visualizer.cli.opening import check_engine_options, open_plain, open_screen

    if path is not None and lesson is None:
        raise click.UsageError("--path needs the lesson that it is a path of.")
    if theme is not None and plain:
        raise click.UsageError("--theme is for the screen, and --plain draws none.")
    check_engine_options(engine, queue, take_over)
    if plain:
        return open_plain(lesson, path, engine, queue, pace, take_over)
    return open_screen(lesson, path, engine, queue, pace, theme, take_over)


@visualizer.command()
@click.argument("lesson")
@_path_option
@click.option("--turns", metavar="ACTOR,…", help="Whose turn each step of the path's race is; needs --path.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a frame, one a line.")
@click.option("--wire", is_flag=True, help="Tell every call as it went over the wire, and what its script issued.")
@_engine_options
def walk(
    lesson: str,
    path: str | None,
    turns: str | None,
    as_json: bool,
    wire: bool,
    engine: str,
    queue: str | None,
    pace: float,
    take_over: bool,
) -> int:
    """Play a lesson without a screen.

    LESSON is a lesson's name or a TOML file. Without --path every path is played. Exit code 0: all was as announced;
    1: it was not; 2: it could not be played. Of an order that --turns chooses nothing is announced, so that there every
    broken law is a 1.
    """
    from visualizer.cli.opening import check_engine_options
    from visualizer.cli.walking import walk_lesson

    if turns is not None and path is None:
        raise click.UsageError("--turns needs the --path whose race it is about.")
    check_engine_options(engine, queue, take_over)
    chosen = [] if turns is None else [turn.strip() for turn in turns.split(",")]
    return walk_lesson(lesson, path, as_json, wire, engine, queue, pace, take_over, chosen)


@visualizer.command()
@click.argument("lesson")
@_path_option
@click.option("--step", type=int, required=True, help="The step's number on the path; those before it are played.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a stop, one a line.")
@_engine_options
def xray(
    lesson: str,
    path: str | None,
    step: int,
    as_json: bool,
    engine: str,
    queue: str | None,
    pace: float,
    take_over: bool,
) -> int:
    """Look into the script of one step, line by line, on a throw-away copy of the queue.

    LESSON is a lesson's name or a TOML file. Each line that runs is told with its commands and replies, the locals it
    changed, and what the script and every other client then see. Exit code 2: there is nothing to look into.
    """
    from visualizer.cli.opening import check_engine_options
    from visualizer.cli.xraying import xray_step

    check_engine_options(engine, queue, take_over)
    return xray_step(lesson, path, step, as_json, engine, queue, pace, take_over)


@visualizer.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a lesson, one a line.")
def lessons(as_json: bool) -> int:
    """List the lessons."""
    from visualizer.cli.listing import list_lessons

    return list_lessons(as_json)


@visualizer.command()
@click.argument("name", required=False, metavar="[MACHINE/NAME]")
@click.option("--source", is_flag=True, help="Exactly the text that is sent.")
def script(name: str | None, source: bool) -> int:
    """List the scripts, or show the contract of one."""
    from visualizer.cli.listing import list_scripts, show_script

    if name is not None:
        return show_script(name, source)
    if source:
        raise click.UsageError("--source needs the name of a script.")
    return list_scripts()


@visualizer.command()
@click.argument("name", required=False)
def verbs(name: str | None) -> int:
    """List what a lesson's `do` can hold; with NAME, what that takes and answers."""
    from visualizer.cli.verbs import list_verbs, show_verb

    return list_verbs() if name is None else show_verb(name)


@visualizer.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@_engine_option
@click.option("--queue", default="check", show_default=True, help="The queue that every lesson is played on.")
@click.option("--pace", type=Pace(), default=0.05, show_default=True, help="Multiplies every lease, delay and wait.")
@click.option("--take-over", is_flag=True, help="On a server by URL: delete what a visualizer left behind.")
def check(files: tuple[str, ...], engine: str, queue: str, pace: float, take_over: bool) -> int:
    """Load and play lessons; each fault is a line and exit code 1."""
    from visualizer.cli.checking import check_lessons
    from visualizer.cli.opening import check_engine_options

    check_engine_options(engine, queue, take_over)
    return check_lessons(files, engine, queue, pace, take_over)


@visualizer.command()
def doctor() -> int:
    """Look at what the visualizer needs here: each thing is ok, or how to get there."""
    from visualizer.cli.ending import FAILED, OK, say
    from visualizer.doctor import examine

    code = OK
    for finding in examine():
        say(finding.text)
        if finding.well is False:
            code = FAILED
    return code


@visualizer.command("id")
@click.argument("id_", required=False, metavar="[ID]")
@click.option("--mint", metavar="NAMESPACE", help="Mint an id of this namespace, like JOB.")
def id_(id_: str | None, mint: str | None) -> int:
    """Explain a branded id, or mint one."""
    from visualizer.cli.listing import explain_id, mint_id

    if (id_ is None) == (mint is None):
        raise click.UsageError("Either an ID or --mint NAMESPACE is wanted.")
    return mint_id(mint) if mint is not None else explain_id(id_ or "")


@visualizer.command()
@click.option(
    "--seconds",
    type=Between(0.1, 3_600, "seconds"),
    default=10.0,
    show_default=True,
    help="How long the processes work, from 0.1 to 3600.",
)
@click.option(
    "--seed", type=Between(0, 2**32 - 1, "number"), help="What the workers draw; drawn and told where none is given."
)
@click.option("--all", "every", is_flag=True, help="Tell every law and call, a broken reading, and the orders.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object with every count.")
@_engine_option
def prove(seconds: float, seed: int | None, every: bool, as_json: bool, engine: str) -> int:
    """Prove the laws under load.

    Many processes work on three queues of a private Valkey at once, while observers judge every reading: scripts, the
    naive client's separate commands, and odd calls that scripts accept. Exit code 0: no reading of the scripted queue
    broke a law, and every call that had to be refused was; 1: not so; 2: it could not run to its end.
    """
    from visualizer.cli.opening import check_engine_options
    from visualizer.cli.proving import prove as run_proof

    check_engine_options(engine, None, False)
    return run_proof(seconds, seed, as_json, every, engine)


@visualizer.command()
@click.argument("what", type=OneOf(["state", "transition"]))
@click.argument("name", required=False)
@click.option("--engine", type=click.Choice(["auto", "valkey", "fakeredis"]), default="auto", show_default=True)
def show(what: str, name: str | None, engine: str) -> int:
    """Put a fresh job into a state, or through a transition, and tell what happened; without NAME, list them."""
    from visualizer.cli.listing import show_choice

    return show_choice(what, name, engine)
