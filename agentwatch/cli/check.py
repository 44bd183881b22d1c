"""The command `check`: opens recordings, judges them by rules, and prints the report."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from agentwatch.base.clock import wall_ns
from agentwatch.base.faults import USAGE, Fault, reading
from agentwatch.cli.address import STDIN, Address, source_at, whole_address
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.messages import ShownProgress, in_runner, printable, say, xml_without_commands
from agentwatch.cli.options import Options
from agentwatch.cli.output import STDOUT, check_output, write_file
from agentwatch.cli.parameters import ADDRESS, PATH, forced, printed_colour, since, stream_format, together
from agentwatch.cli.stdout import print_json, print_lines
from agentwatch.session.events import Outcome
from agentwatch.text.amounts import plural
from agentwatch.text.safe import safe_line

if TYPE_CHECKING:
    from agentwatch.agents import Agent
    from agentwatch.agents.session_entry import SessionEntry
    from agentwatch.feed.feed import Feed
    from agentwatch.rules.check.judge import Checked, Judge
    from agentwatch.rules.check.kinds import Rule
    from agentwatch.session.session import Session
    from agentwatch.sources.file import FileSource
    from agentwatch.sources.stores.intake import StoreSource

BROKEN = 1
_WHOLE = "check judges a whole recording, not a moment of it"
_NO_RULES = "no rules: give --rules FILE, --forbid, --require or --limit (--init writes a file of rules)"
_STEP_SECONDS = 0.2
_POLL_SECONDS = 1.0
"""The interval at which a file without an end mark is tested for still being written."""
_QUIET_SECONDS = 600
"""A file without a result that has not changed for this time is complete; commands may take minutes."""
_OPEN = (None, Outcome.RUNNING, Outcome.UNFINISHED)
"""Outcomes of a session that has no result yet; None before its first line."""
_MOST_SESSIONS = 1000
_OWN = "agentwatch"


_FORMATS = ("text", "json", "junit", "github")
_rules = together(
    click.option(
        "--rules",
        "files",
        multiple=True,
        type=PATH,
        metavar="FILE",
        help="Read rules from a TOML file.",
    ),
    click.option(
        "--forbid",
        "forbids",
        multiple=True,
        metavar="RULE",
        help="No call may match: 'tool:edit outside:cwd'.",
    ),
    click.option(
        "--require",
        "requires",
        multiple=True,
        metavar="FACT",
        help="Must hold at the end: result, integrity, text_matches_result, tests=green, acted:allow.",
    ),
    click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="NAME=N",
        help="Maximum of: calls, failed, rejected, call, idle, elapsed, cost, tokens, context.",
    ),
)
_printing = together(
    click.option(
        "--output-format",
        type=click.Choice(_FORMATS),
        default="text",
        help="Print text (default), JSON, JUnit XML, or annotations of GitHub.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Same as --output-format json."),
    click.option(
        "--explain", "explains", is_flag=True, help="Print the calls that each rule checked and hit."
    ),
)
_starting = together(
    click.option("--init", "is_init", is_flag=True, help="Write a file of rules from the session ADDRESS."),
    click.option("--starter", metavar="NAME", help="Write a set of rules to begin with: safe."),
    click.option(
        "-o",
        "output",
        type=PATH,
        metavar="FILE",
        help="With --init or --starter: write FILE; default: stdout.",
    ),
    forced,
)


@click.command(cls=HelpfulCommand)
@click.argument("addresses", nargs=-1, metavar="[ADDRESS]...", type=ADDRESS)
@_rules
@_printing
@click.option("--strict", "is_strict", is_flag=True, help="Exit 2 if a rule could not judge a call.")
@click.option(
    "--wait", "waits", is_flag=True, help="Follow recordings that are still being written to their end."
)
@click.option(
    "--since",
    "since_ms",
    callback=since,
    metavar="TIME",
    help="Try the rules on the sessions of this machine that began since then: 7d, 2026-11-20.",
)
@_starting
@printed_colour
@stream_format
def check(addresses: tuple[str, ...], **given: Any) -> int:
    """Check recordings by rules: exit 1 if one is broken, else 0."""
    agent = Options(format=given["format"]).agent()
    rules = [given[name] for name in ("files", "forbids", "requires", "limits")]
    output, is_forced, starter = given["output"], given["is_forced"], given["starter"]
    output_format, since_ms = "json" if given["as_json"] else given["output_format"], given["since_ms"]
    if given["is_init"] or starter is not None:
        if starter is not None and (given["is_init"] or addresses):
            raise click.UsageError("--starter takes -o, and neither --init nor an ADDRESS")
        if any(rules) or len(addresses) > 1 or since_ms is not None:
            raise click.UsageError("--init takes one ADDRESS or none, -o and --format")
        if is_forced and output is None:
            raise click.UsageError("--force needs -o")
        if starter is not None:
            return _write(_shipped(starter), output, is_forced=is_forced)
        return write_starter(addresses[0] if addresses else "", output, agent, is_forced=is_forced)
    if output is not None or is_forced:
        raise click.UsageError("-o and --force need --init or --starter")
    if given["explains"] and output_format != "text":
        raise click.UsageError("--explain needs --output-format text; the other formats always contain it")
    checked_rules = _rules_of(*rules)
    switches = {name: given[name] for name in ("waits", "explains", "is_strict")}
    if since_ms is not None:
        if addresses or any(switches.values()) or output_format not in ("text", "json"):
            raise click.UsageError("--since takes rules and --json; it finds the sessions itself")
        return try_rules(checked_rules, since_ms, as_json=output_format == "json")
    if not addresses:
        raise click.UsageError("name at least one ADDRESS; - is stdin")
    return run_check(addresses, checked_rules, agent, output_format, **switches)


def _rules_of(
    files: Sequence[Path], forbids: Sequence[str], requires: Sequence[str], limits: Sequence[str]
) -> list[Rule]:
    """Return the rules of the command line. A `require` or `limit` of an option replaces the same one of a
    file. Raise `Fault` if there is no rule, or a rule cannot be read."""
    from agentwatch.rules.check.kinds import by_options, merged, read_rules
    from agentwatch.rules.language.errors import RuleError

    found = [rule for path in files for rule in read_rules(path)]
    try:
        found = merged([*found, *by_options(forbids, requires, limits)])
    except RuleError as error:
        raise Fault(error.reason, USAGE) from None
    if not found:
        raise Fault(_NO_RULES, USAGE)
    return found


def run_check(
    addresses: Sequence[str],
    rules: Sequence[Rule],
    agent: Agent | None,
    output_format: str,
    *,
    waits: bool,
    explains: bool,
    is_strict: bool = False,
) -> int:
    """Judge recordings and print the report. `agent` is None to detect it. `waits` follows recordings to
    their end, `explains` lists for each rule the calls that it checked and hit, `is_strict` demands that each
    rule but warnings judges every call. The exit code is 0 if all rules hold, 1 if one is broken, 2 if a
    recording cannot be read or a rule that is not a warning had nothing to check."""
    from agentwatch.rules.check.judge import Checked, blind, is_misused, partly_judged
    from agentwatch.rules.check.reports import name_of

    checked, code = list[Checked](), 0
    progress = ShownProgress()
    for words in addresses:
        try:
            address = whole_address(words, _WHOLE)
            if waits and address.elsewhere:
                raise Fault(f"--wait is for recordings of this machine: {address.session}", USAGE)
            began, step = time.monotonic(), progress.step("checking")
            with open_judged(address, rules, agent, step, waits=waits) as (feed, judge, is_live):
                judgements = judge.judgements()
            seconds, session = time.monotonic() - began, feed.session
            checked.append(Checked(words, judgements, len(session.calls), session.format, seconds, is_live))
        except Fault as fault:
            progress.clear()
            say(str(fault))
            code = max(code, fault.exit_code)
    progress.clear()
    unseen = blind(checked)
    for each in unseen:
        say(f"the rule {name_of(each)} had nothing to check: {each.words}")
    for each in partly_judged(checked) if is_strict else ():
        fields = " and ".join(each.unknown) or "a value"
        say(f"the rule {name_of(each)} did not judge {plural(each.not_judged, 'call')}: unknown {fields}")
    if any(each.is_error for one in checked for each in one.judgements):
        code = max(code, BROKEN)
    if is_misused([*unseen, *(partly_judged(checked) if is_strict else ())]):
        code = max(code, USAGE)
    return _print(checked, output_format, code, explains=explains) or code


def _print(checked: Sequence[Checked], output_format: str, code: int, *, explains: bool) -> int:
    from agentwatch.rules.check.reports import (
        explained,
        github_commands,
        json_line,
        junit_document,
        text_lines,
        verdict,
    )

    if output_format == "json":
        return print_json([json_line(checked, code)])
    if output_format == "junit":
        document = junit_document(checked)
        document = xml_without_commands(document) if in_runner() else document
    elif output_format == "github":
        lines = [*github_commands(checked), *([printable(verdict(checked))] if checked else [])]
        document = "\n".join(lines).encode()
    else:
        return print_lines(explained(checked) if explains else text_lines(checked))
    write_file(STDOUT, [document, b"\n"] if document else [], replaces=False)
    return 0


class _Opened(NamedTuple):
    source: FileSource | StoreSource
    is_live: bool = False
    """Whether the recording is still being written, and is read up to its present end."""
    is_written: Callable[[Session], bool] | None = None
    """Returns whether the recording is still being written; None if it has an end mark."""


@contextmanager
def open_judged(
    address: Address,
    rules: Sequence[Rule],
    agent: Agent | None,
    progress: Callable[[int, int], None],
    *,
    waits: bool,
) -> Iterator[tuple[Feed, Judge, bool]]:
    """Yield the feed of a recording that was read to its end, its judge, and whether it is still written. It
    is open until the end of the block. `progress` gets the bytes read and all bytes. `waits` follows it to
    its end."""
    from agentwatch.feed.feed import Feed
    from agentwatch.recording.acts import SessionActs
    from agentwatch.rules.check.judge import Judge

    found = _open(address, waits=waits)
    with closing(found.source):
        feed = Feed(found.source.reader, agent)
        if not address.elsewhere and address.path != STDIN:
            feed.acts_of = SessionActs.of_file(address.path)
        judge = Judge(feed, rules)
        _read(feed, found, progress)
        if faults := _faults(found.source):
            raise Fault(f"{address.session}: {faults}", USAGE)
        if not feed.session.lines.total:
            raise Fault(f"{address.session}: no line was read", USAGE)
        if feed.session.outcome is None:
            from agentwatch.analysis.status import unknown_agent  # 4 ms, for this fault only

            raise Fault(f"{address.session}: {unknown_agent(feed.session)}", USAGE)
        yield feed, judge, found.is_live


def _open(address: Address, *, waits: bool) -> _Opened:
    """Report on stderr a recording that is still being written, unless `waits`."""
    from agentwatch.agents.opening import saved_source
    from agentwatch.agents.own_files import is_still_written
    from agentwatch.recording.saved import SavedGrowth

    path = address.path
    if path == STDIN:
        return _Opened(source_at(path))
    is_own = is_still_written(path)
    if is_own and waits:
        source = saved_source(path, follow=True, follow_store=True)
        return _Opened(source, is_written=lambda _: is_still_written(path))
    source = saved_source(path, None)
    growth = source.reader.growth
    is_live = is_own or (isinstance(growth, SavedGrowth) and growth.is_followed)
    if waits and not is_live and isinstance(growth, SavedGrowth) and _has_changed(path):
        source.finish()
        source.close()
        source = saved_source(path, follow=True, follow_store=True)
        return _Opened(source, is_written=partial(_is_unfinished, path))
    if is_live and not waits:
        source.leave()
        words = "may still be written" if is_own else "is still being written"
        say(f"{address.session} {words}: checked as it is now (--wait waits for its end)")
    return _Opened(source, is_live and not waits)


def _is_unfinished(path: Path, session: Session) -> bool:
    """Whether a session without a result may continue, such as a session that a shell writes to a file."""
    return session.outcome in _OPEN and _has_changed(path)


def _has_changed(path: Path) -> bool:
    try:
        return wall_ns() / 1e9 - path.stat().st_mtime < _QUIET_SECONDS
    except OSError:
        return False


def _read(feed: Feed, found: _Opened, progress: Callable[[int, int], None]) -> None:
    from agentwatch.feed.feed import POLL_SECONDS

    poll_at = time.monotonic()
    while not feed.is_over:
        applied = feed.advance(_STEP_SECONDS)
        progress(feed.offset, feed.reader.growth.size())
        if applied or feed.is_over:
            continue
        time.sleep(POLL_SECONDS)
        if found.is_written is not None and time.monotonic() >= poll_at:
            poll_at = time.monotonic() + _POLL_SECONDS
            if not found.is_written(feed.session):
                found.source.leave()


def _faults(source: FileSource | StoreSource) -> str:
    """Return why a recording was not read to its end; empty if it was read completely."""
    if source.ended_by is not None:
        return f"it was {source.ended_by} while it was read"
    return "; ".join(source.new_faults())


def try_rules(rules: Sequence[Rule], since_ms: int, *, as_json: bool) -> int:
    """Print how often each rule would have fired in the newest 1,000 sessions that began since a time. The
    exit code is 1 if a rule would have fired, 2 if a rule that is not a warning had nothing to check."""
    from agentwatch.rules.check.kinds import Severity
    from agentwatch.rules.check.reports import Trial, trial_json, trial_lines

    trial, unreadable = Trial(rules), 0
    every = _changed_since(since_ms)
    progress = ShownProgress().step("reading sessions")
    seen: set[str] = set()
    for index, found in enumerate(every[:_MOST_SESSIONS]):
        progress(index, min(len(every), _MOST_SESSIONS))
        try:
            with reading(found.path):
                checked = _judge_session(found, rules, since_ms, seen)
        except (Fault, OSError):
            unreadable += 1
            continue
        if checked is not None:
            trial.add(checked)
    progress.clear()
    if len(every) > _MOST_SESSIONS:
        say(f"the newest {_MOST_SESSIONS:,} of {len(every):,} sessions were read")
    if unreadable:
        say(f"{plural(unreadable, 'session')} cannot be read")
    blind = trial.blind() if trial.sessions else []
    for each in blind:
        say(f"the rule {safe_line(each.rule.name)} had nothing to check")
    if not trial.sessions:
        say("no session began since then")
    is_misused = any(each.rule.severity is Severity.ERROR for each in blind)
    code = USAGE if is_misused or not trial.sessions else BROKEN if trial.is_broken else 0
    return (print_json([trial_json(trial)]) if as_json else print_lines(trial_lines(trial))) or code


def _changed_since(since_ms: int) -> list[SessionEntry]:
    """Return the sessions that changed since a time: recordings of agentwatch first, then the newest
    first."""
    from agentwatch.agents.session_entry import Reach
    from agentwatch.cli.sessions import every_session

    sessions = (each for each in every_session() if each.reach is not Reach.LISTED)
    wanted = (each for each in sessions if _changed_ms(each) >= since_ms)
    return sorted(wanted, key=lambda each: (each.agent != _OWN, -_changed_ms(each)))


def _changed_ms(found: SessionEntry) -> int:
    return max(found.changed_ns // 10**6, found.metadata.changed_ms or 0)


def _judge_session(
    found: SessionEntry, rules: Sequence[Rule], since_ms: int, seen: set[str]
) -> Checked | None:
    """Judge one session; None if it began earlier, or was already judged as a recording of agentwatch."""
    from agentwatch.agents.opening import saved_source
    from agentwatch.feed.feed import Feed
    from agentwatch.recording.acts import SessionActs
    from agentwatch.rules.check.judge import Checked, Judge

    if found.agent != _OWN and found.id in seen:
        return None
    with closing(saved_source(found.path)) as source:
        feed = Feed(source.reader)
        feed.acts_of = SessionActs.of_file(found.path)
        judge, session = Judge(feed, rules), feed.session
        while not feed.is_over:
            feed.advance(_STEP_SECONDS)
            if session.first_seen_ms is not None and session.first_seen_ms < since_ms:
                return None
        began_ms = session.first_seen_ms or found.metadata.began_ms
        if session.outcome is None or (began_ms is not None and began_ms < since_ms):
            return None
        if found.agent == _OWN and session.run.session_id:
            seen.add(session.run.session_id)
        address = os.fspath(found.path)
        return Checked(address, judge.judgements(), len(session.calls), session.format, 0.0)


def write_starter(words: str, output: Path | None, agent: Agent | None, *, is_forced: bool) -> int:
    """Write a file of rules; without `words`, rules that suit many sessions. `output` is None for stdout."""
    from agentwatch.rules.check.starter import starter, starter_of, starting_rules

    if words:
        check_output(output, [words], is_forced=is_forced)
        progress = ShownProgress()
        address = whole_address(words, _WHOLE)
        check_output(output, [str(address.path)], is_forced=is_forced)
        with open_judged(address, starting_rules(), agent, progress.step("reading"), waits=False) as found:
            progress.clear()
            lines = list(starter_of(found[0], found[1], address.words))
    else:
        lines = list(starter())
    return _write("".join(f"{printable(line)}\n" for line in lines).encode(), output, is_forced=is_forced)


def _shipped(name: str) -> bytes:
    from agentwatch.rules.check.kinds import starter_path
    from agentwatch.rules.language.errors import RuleError

    try:
        return starter_path(name).read_bytes()
    except RuleError as error:
        raise Fault(f"--starter: {error.reason}", USAGE) from None


def _write(data: bytes, output: Path | None, *, is_forced: bool) -> int:
    check_output(output, [], is_forced=is_forced)
    path = STDOUT if output is None else output
    write_file(path, [data], replaces=is_forced)
    if path != STDOUT:
        say(f"wrote {path}")
    return 0
