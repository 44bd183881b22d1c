"""The command `export`: writes a session in another format, or a part of it as a recording."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from agentwatch.base.faults import INCOMPLETE_RECORDING, USAGE, Fault, cannot_create, raising
from agentwatch.cli.address import Address, is_once, open_reader, parse_address
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.messages import ShownProgress, say
from agentwatch.cli.options import Options
from agentwatch.cli.output import STDOUT, check_output, descriptor, owner_of, write_file, write_times
from agentwatch.cli.parameters import (
    ADDRESS,
    PATH,
    as_moment,
    completed_from,
    forced,
    stream_format,
    together,
)
from agentwatch.recording.store import SessionFiles
from agentwatch.text.amounts import byte_size, plural

if TYPE_CHECKING:
    from agentwatch.agents import Agent
    from agentwatch.output.export.clip import Range
    from agentwatch.output.export.exported import Exported, Wanted
    from agentwatch.output.export.exporters import Choices, Exporter, Sender
    from agentwatch.output.redact.recording import Redacted

_WORDS = "14:03:07, +95s, -10s, #12, 50% or a bookmark's name"
_RECORDING = "recording"
"""The format that is no `Exporter`: it needs the bytes of the recording, and has arrival times beside it."""
_TO = ".."
_PIECE_BYTES = 1 << 20
_MOST_COPIES = 1000
"""Up to this number, an export gets a new name beside earlier ones; after it, the fault is reported."""
_UNFIT = re.compile(r"[^0-9A-Za-z._-]")


def as_filter(_ctx: click.Context, option: click.Parameter, words: str) -> str:
    """Check that the words of the option are a rule."""
    if words.strip():
        from agentwatch.rules.calls.fields import CALLS
        from agentwatch.rules.language.errors import RuleError
        from agentwatch.rules.language.parser import parse

        try:
            parse(words, CALLS)
        except RuleError as error:
            raise click.UsageError(f"{option.opts[0]}: {error.reason}") from None
    return words


cutting = together(
    click.option("--from", "begin", callback=as_moment, metavar="MOMENT", help=f"Start at {_WORDS}."),
    click.option("--until", callback=as_moment, metavar="MOMENT", help="End at a moment, in the same words."),
    click.option(
        "--only",
        callback=as_filter,
        metavar="RULE",
        default="",
        help="Export only the calls that a rule selects: 'failed duration>5s'.",
    ),
)


def _format_names() -> list[str]:
    from agentwatch.output.export.exporters import exporter_names

    return [_RECORDING, *exporter_names()]


def _exporter(_ctx: click.Context, option: click.Parameter, name: str) -> Any:
    if name == _RECORDING:
        return None
    from agentwatch.output.export.exporters import GROUP, exporter_named

    exporter = exporter_named(name)
    if exporter is not None:
        return exporter
    if name not in (names := _format_names()):
        raise click.UsageError(f"{option.opts[0]}: {name!r} is not one of: {', '.join(names)}")
    reason = GROUP.problem_of(name)
    GROUP.problems.clear()  # the error is reported here
    raise click.UsageError(reason)


class _ExporterOption(click.Option):
    """An option whose help names all formats."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        *names, last = _format_names()
        self.help = f"{', '.join(names)} or {last}."
        return super().get_help_record(ctx)


@click.command(cls=HelpfulCommand)
@click.argument("address", type=ADDRESS)
@click.option(
    "--to",
    "exporter",
    cls=_ExporterOption,
    required=True,
    metavar="FORMAT",
    callback=_exporter,
    shell_complete=completed_from(_format_names),
)
@click.option("-o", "output", type=PATH, metavar="FILE", help="Write FILE; - is stdout.")
@forced
@cutting
@click.option("--max-bytes", type=click.IntRange(1), metavar="N", help="markdown: stop at a call before N.")
@click.option("--max-idle", type=click.FloatRange(0), metavar="SECONDS", help="asciicast: shorten silences.")
@click.option("--content", is_flag=True, help="otlp: send texts, arguments and results too.")
@click.option("--raw", "is_raw", is_flag=True, help="Leave secrets and personal data in.")
@stream_format
def export(address: str, **given: Any) -> int:
    """Write a session as a file for others, redacted.

    A recording may be a part of the session: FILE#3..#9 or FILE@+10s..+90s.
    """
    from agentwatch.analysis.moments import Asked
    from agentwatch.output.export.exported import Wanted
    from agentwatch.output.export.exporters import Choices, Sender

    exporter, output, is_forced, is_raw = (given[x] for x in ("exporter", "output", "is_forced", "is_raw"))
    if output is None and is_forced:
        raise click.UsageError("--force needs -o: without it, the file is always new")
    check_output(output, [address], is_forced=is_forced, has_times=exporter is None)
    begin, until, only = given["begin"], given["until"], given["only"]
    agent = Options(format=given["format"]).agent()
    if exporter is None:
        if begin is not None or until is not None or only:
            raise click.UsageError(
                "--to recording takes a part as FILE#3..#9; it excludes --from, --until, --only"
            )
        return _export_recording(address, output, agent, is_raw=is_raw, is_forced=is_forced)
    parsed = parse_address(address)
    if parsed.moment is not None:
        raise click.UsageError("export takes a whole recording; --from and --until choose a part of it")
    choices = Choices(**{name: given[name] for name in ("max_bytes", "max_idle", "content")})
    wanted = Wanted(Asked(begin, until), only, is_raw)
    if not isinstance(exporter, Sender):
        return _export(parsed, wanted, exporter, choices, output, agent, is_forced=is_forced)
    if output is not None:
        raise Fault(f"--to {exporter.name} sends the session; it takes no -o", USAGE)
    return _send(parsed, wanted, exporter, choices, agent)


def _export(
    address: Address,
    wanted: Wanted,
    exporter: Exporter,
    choices: Choices,
    output: Path | None,
    agent: Agent | None,
    *,
    is_forced: bool,
) -> int:
    """Report on stderr what was written and masked."""
    progress = ShownProgress()
    check_output(output, [str(address.path)], is_forced=is_forced)
    session = open_session(address, wanted, agent, progress)
    path = output or _new_file(session.name, exporter.suffix)
    choices = choices._replace(progress=progress.step("writing"))
    try:
        size = write_file(path, exporter.write(session, choices), replaces=is_forced)
    finally:
        progress.clear()
    is_limited = choices.max_bytes is not None
    say("; ".join(_report(session, None if path == STDOUT else path, size, is_limited=is_limited)))
    return 0


def _send(address: Address, wanted: Wanted, sender: Sender, choices: Choices, agent: Agent | None) -> int:
    """Report on stderr what was sent and masked."""
    sender.check()
    progress = ShownProgress()
    session = open_session(address, wanted, agent, progress)
    try:
        sent = sender.send(session, choices._replace(progress=progress.step("sending")))
    finally:
        progress.clear()
    say("; ".join((sent.words, *_report(session, None, 0))))
    return 0 if sent.is_complete else INCOMPLETE_RECORDING


def open_session(address: Address, wanted: Wanted, agent: Agent | None, progress: ShownProgress) -> Exported:
    """Return the part of a session that is exported."""
    from agentwatch.analysis.moments import Problem
    from agentwatch.analysis.status import unknown_agent
    from agentwatch.output.export.exported import exported

    is_stream = is_once(address.path)
    name = "session" if is_stream else address.name
    bookmarks = None if is_stream else SessionFiles(address.path).bookmarks
    reader = open_reader(address.path)
    step = "reading" if wanted.is_raw else "redacting"
    try:
        session = exported(reader, name, wanted, agent, bookmarks, progress.step(step))
    except OSError as error:
        raise cannot_create(Path("the redacted copy"), error) from None
    finally:
        progress.clear()
    if isinstance(session, Problem):
        raise Fault(f"{address.words}: {session.words}", USAGE)
    if session.session.format is None:
        raise Fault(f"{address.words}: {unknown_agent(session.session)}", USAGE)
    return session


def _new_file(name: str, suffix: str) -> Path:
    """Return a name that is not in use: `demo.html`, then `demo-2.html`."""
    stem = _UNFIT.sub("_", name.removesuffix(".gz").rsplit(".", 1)[0] or "session")[:100]
    names = [f"{stem}{suffix}", *(f"{stem}-{number}{suffix}" for number in range(2, _MOST_COPIES))]
    return next(
        (path for path in map(Path, names) if not os.path.lexists(path) and not owner_of(path)),
        Path(names[0]),
    )


def _report(session: Exported, path: Path | None, size: int, *, is_limited: bool = False) -> Iterator[str]:
    """Yield what was written, and what was masked. With a limited size, some calls may be left out."""
    if path is not None:
        calls = plural(sum(session.outcomes().values()), "call")
        yield f"wrote {path} ({byte_size(size)}, {f'as many of {calls} as fit' if is_limited else calls})"
    yield "nothing was redacted (--raw)" if session.masked is None else session.masked


def _export_recording(
    words: str, output: Path | None, agent: Agent | None, *, is_raw: bool, is_forced: bool
) -> int:
    """Write a recording of a session or a part of it, and its times beside it; report what was masked."""
    address, wanted = parse_range(words)
    check_output(output, [str(address.path)], is_forced=is_forced, has_times=True)
    if wanted is None and is_raw:
        raise click.UsageError("--to recording --raw: name a part as FILE#3..#9; the whole is FILE itself")
    made = _redacted(address) if wanted is None else _clipped(address, wanted, agent, is_raw=is_raw)
    name = "session" if is_once(address.path) else address.name
    path = output or _new_file(name, ".ndjson")
    size = write_file(path, _pieces(made.fd), replaces=is_forced)
    report = made.report
    if descriptor(path) is None:
        write_times(path, made.times, replaces=is_forced)
        report = (f"wrote {path} ({byte_size(size)}, {made.length})", *report)
    say("; ".join(report))
    return 0


class _Made(NamedTuple):
    """A recording in a nameless file."""

    fd: int
    times: Iterator[tuple[int, int]] | list[tuple[int, int]]
    """The offsets and times of arrival: a time holds from its offset to the next one."""
    length: str
    """The number of lines or calls, in words."""
    report: tuple[str, ...]
    """What was masked, and what else the user should know."""


def _redacted(address: Address) -> _Made:
    """Return a recording without secrets and personal data; its agent need not be known."""
    from agentwatch.output.redact.recording import redacted

    progress = ShownProgress()
    try:
        copy = redacted(open_reader(address.path), progress.step("redacting"))
    except OSError as error:
        raise cannot_create(Path(tempfile.gettempdir()), error) from None
    finally:
        progress.clear()
    report = (str(copy.report.words()),)
    return _Made(copy.reader.fd, _times(copy), plural(len(copy.after), "line"), report)


def _times(copy: Redacted) -> Iterator[tuple[int, int]]:
    """Yield the offset and time of each line that arrived at another time than the line before it."""
    seen_ms, start = None, 0
    for end in copy.after:
        at_ms = copy.reader.times.at(start)
        if at_ms is not None and at_ms != seen_ms:
            seen_ms = at_ms
            yield start, at_ms
        start = end


def _clipped(address: Address, wanted: Range, agent: Agent | None, *, is_raw: bool) -> _Made:
    """Return a part of a session as a recording."""
    from agentwatch.analysis.moments import Problem
    from agentwatch.output.export.clip import clip, range_of
    from agentwatch.output.export.exported import Wanted

    session = open_session(address, Wanted(wanted.asked(), is_raw=is_raw), agent, ShownProgress())
    part = range_of(wanted, session)
    if isinstance(part, Problem):
        raise Fault(f"{address.words}: {part.words}", USAGE)
    with raising(cannot_create, Path(tempfile.gettempdir())):
        made = clip(session, part, agent)
    masked = session.report and f"{session.report.words()}, in the whole recording"
    report = [masked or "nothing was redacted (--raw)"]
    if made.is_whole:
        report.append("with all lines before it, which this format needs")
    return _Made(made.fd, made.times, plural(len(part.calls), "call"), tuple(report))


def parse_range(words: str) -> tuple[Address, Range | None]:
    """Return the address and the range, None for the whole session; raise `Fault` for a single moment."""
    from agentwatch.analysis.moments import CallEnd, Problem, parse
    from agentwatch.output.export.clip import Range

    before, dots, after = words.rpartition(_TO)
    if dots and before and not os.path.exists(words):
        until = parse(after)
        address = parse_address(before)
        if address.moment is not None:
            if isinstance(until, Problem):
                raise Fault(f"{words}: {until.words}", USAGE)
            return address._replace(words=words), Range(address.moment, until)
    address = parse_address(words)
    if address.moment is None:
        return address, None
    if isinstance(address.moment, CallEnd):
        return address, Range(address.moment, address.moment)
    raise Fault(
        f"{words}: name a part, such as {address.session}#3..#5 or {address.session}@+10s..+95s", USAGE
    )


def _pieces(fd: int) -> Iterator[bytes]:
    offset = 0
    while data := os.pread(fd, _PIECE_BYTES, offset):
        yield data
        offset += len(data)
