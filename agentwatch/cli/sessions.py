"""The command `sessions`: lists the sessions of machines, indexes them, and deletes old recordings."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from agentwatch import __version__
from agentwatch.base.clock import now_ms
from agentwatch.base.faults import (
    CANNOT_CREATE,
    INCOMPLETE_RECORDING,
    USAGE,
    Fault,
    cannot_create,
    cannot_open,
    raising,
)
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.messages import ShownProgress, confirmed, say
from agentwatch.cli.parameters import age, printed_colour, since, together
from agentwatch.cli.stdout import print_json, print_lines, terminal_width
from agentwatch.text.amounts import byte_size, plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, columns, fitted, safe_line, styled
from agentwatch.text.times import date_and_minute

if TYPE_CHECKING:
    from agentwatch.agents.session_entry import Key, SessionEntry
    from agentwatch.catalog.index import SessionIndex, Updated
    from agentwatch.catalog.places import Places
    from agentwatch.catalog.row import Row
    from agentwatch.recording.saved_sessions import Prunable

_ANSWER_SECONDS = 5.0
_WIDTH = 100
"""The width of a terminal that does not say it."""
_LEAST_ID = 8
_MOST_WHOLE = 1000
"""The characters of an id that are printed elsewhere than on a terminal."""
_Result = TypeVar("_Result")
_MOST_ID = 25
"""The length of the stems that agentwatch gives. A longer beginning of an id is not shown."""


def _known_agents(_ctx: click.Context, option: click.Parameter, names: tuple[str, ...]) -> frozenset[str]:
    return _known(option, names, agent_names()) if names else frozenset()


def _known_states(_ctx: click.Context, option: click.Parameter, names: tuple[str, ...]) -> frozenset[str]:
    if not names:
        return frozenset()
    from agentwatch.agents.state_report import State

    typed = [state.value.replace(" ", "-") for state in State]
    found = _known(option, tuple(name.replace(" ", "-") for name in names), typed)
    return frozenset(name.replace("-", " ") for name in found)


def _known(option: click.Parameter, names: tuple[str, ...], known: list[str]) -> frozenset[str]:
    for name in names:
        if name not in known:
            raise click.UsageError(f"{option.opts[0]}: {name!r} is not one of: {', '.join(known)}")
    return frozenset(names)


def agent_names() -> list[str]:
    """The short names of all agents whose sessions are found."""
    from agentwatch.agents.registry import known_agents, programs
    from agentwatch.agents.session_entry import OWN

    formats = (agent.agent or agent.name for agent in known_agents())
    return sorted({*formats, *(program.name for program in programs()), OWN})


_choosing = together(
    click.option("--all", "shows_all", is_flag=True, help="Print hidden sessions too."),
    click.option(
        "--agent",
        "agents",
        multiple=True,
        callback=_known_agents,
        metavar="NAME",
        help="Print only sessions of this agent.",
    ),
    click.option(
        "--state",
        "states",
        multiple=True,
        callback=_known_states,
        metavar="NAME",
        help="Print only sessions in this state: working, asks, your-turn, …",
    ),
    click.option(
        "--since",
        "since_ms",
        callback=since,
        metavar="TIME",
        help="Print only sessions with activity since then: 2h, 2026-11-20.",
    ),
    click.option("--repo", default="", metavar="NAME", help="Print only sessions in this repository."),
)
_pruning = together(
    click.option(
        "--prune", "is_pruned", is_flag=True, help="Delete old recordings of agentwatch; asks first."
    ),
    click.option(
        "--older",
        "older_ms",
        callback=age,
        metavar="AGE",
        help="With --prune: those older than 30d, 12h, 4w.",
    ),
    click.option("--keep-bookmarked", is_flag=True, help="With --prune: keep those with bookmarks."),
    click.option("--dry-run", is_flag=True, help="With --prune: only print what would be deleted."),
    click.option("--yes", is_flag=True, help="With --prune: delete without asking."),
)

_indexing = click.option(
    "--index", "is_indexed", is_flag=True, help="Update the SQLite index of all calls, and print its path."
)


@click.command(cls=HelpfulCommand)
@click.argument("machines", nargs=-1, metavar="[MACHINE]...")
@_choosing
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@_pruning
@_indexing
@printed_colour
def sessions(machines: tuple[str, ...], *, as_json: bool, **given: Any) -> int:
    """List the sessions on this machine or on others, newest first."""
    for option, is_given in (("--prune", given["is_pruned"]), ("--index", given["is_indexed"])):
        if is_given and machines:
            raise click.UsageError(f"{option} is about this machine; it excludes MACHINE")
    if given.pop("is_indexed"):
        if as_json or any(value for value in given.values() if value != frozenset()):
            raise click.UsageError("--index excludes other options: it holds all sessions")
        return update_index()
    wanted = Wanted(**{name: given.pop(name) for name in Wanted._fields})
    if given.pop("is_pruned"):
        if as_json or wanted != Wanted():
            raise click.UsageError("--prune chooses recordings by --older and --keep-bookmarked only")
        return prune(**given)
    for name, value in given.items():
        if value is not None and value is not False:
            raise click.UsageError(f"--{name.removesuffix('_ms').replace('_', '-')} needs --prune")
    return list_sessions(wanted, machines, as_json=as_json)


def list_sessions(wanted: Wanted, machines: Sequence[str], *, as_json: bool) -> int:
    """Print the wanted sessions. What is hidden, and machines that do not answer, are reported on stderr. The
    exit code is 0 even without sessions, and 2 if our own folder cannot be read or no machine answers.
    `machines` are `.`, `nats://HOST`, `ssh://HOST`; empty for this machine."""
    from agentwatch.base.config import HERE
    from agentwatch.catalog.hiding import SHOWN_DAYS
    from agentwatch.recording.saved_sessions import saved_stems
    from agentwatch.recording.store import sessions_folder

    at_ms = now_ms()
    if machines:
        rows, code = of_machines(machines, wants_all=wanted.has_old)
    else:
        rows, code = rows_here(wanted, at_ms, shows_older=not as_json), 0
    found = chosen(rows, wanted, at_ms)
    older = [] if found.rows or as_json else found.newest_older
    if older:
        found = found._replace(rows=older, older=found.older - len(older))
    lines = table(found.rows, rows.values(), terminal_width(_WIDTH), at_ms)
    code = (_print_json(found.rows) if as_json else print_lines(lines)) or code
    hidden = found.hidden()
    size = 0
    if not machines or HERE in machines:
        try:
            size = sum(stem.size for stem in saved_stems())
        except OSError as error:
            say(str(cannot_open(sessions_folder(), error)))
            code = code or USAGE
    totals = [] if as_json else _totals(len(found.rows), size)
    if not found.rows and not as_json and not code:
        totals.insert(
            0, "no sessions found" if rows else "no agent has a session here (see agentwatch doctor)"
        )
    if older:
        totals.append(f"all older than {SHOWN_DAYS} days")
    if notes := [*totals, *([hidden] if hidden else [])]:
        say(" · ".join(notes))
    return code


def rows_here(wanted: Wanted, at_ms: int, *, shows_older: bool) -> Mapping[Key, Row]:
    """Return the rows of this machine; sessions that are not wanted may be left unread. With `shows_older`,
    the newest older sessions are read if there are no others."""
    from agentwatch.agents.session_entry import OWN
    from agentwatch.catalog.catalog import Machine

    machine = Machine(os.environ, Path.home())
    machine.wants_all, machine.since_ms = wanted.has_old, wanted.since_ms
    machine.agents = frozenset() if OWN in wanted.agents else wanted.agents
    machine.settle_surely(now_ms)
    found = chosen(machine.rows, wanted, at_ms)
    if shows_older and not found.rows and found.newest_older:
        machine.in_view = {row.key for row in found.newest_older}
        machine.settle(now_ms())
    for note in machine.notes:
        say(note)
    return machine.rows


def of_machines(words: Sequence[str], *, wants_all: bool) -> tuple[Mapping[Key, Row], int]:
    """Return the rows and the exit code; report the machines that do not answer."""
    from agentwatch.cli.address import check_sources, log_in, machine_list
    from agentwatch.cli.config_file import read_machines

    check_sources(words)
    log_in(words)
    listed = machine_list(words, read_machines(), os.environ, Path.home())
    listed.wants_all = wants_all
    listed.settle(_ANSWER_SECONDS)
    for note in listed.notes:
        say(note)
    has_answer = listed.here is not None
    for address, each in listed.elsewhere.items():
        has_answer = has_answer or (each.is_found and not each.problem)
        if not each.is_found and not each.problem:
            say(f"{address}: no answer within {_ANSWER_SECONDS:.0f} s")
    rows = listed.rows
    listed.close()
    return rows, 0 if has_answer else USAGE


def _print_json(rows: Sequence[Row]) -> int:
    import platform

    from agentwatch.output.session_rows import row_json

    host = platform.node()
    lines = [row_json(row, host) for row in rows]
    if any(row.uses for row in rows):
        from agentwatch.catalog.kept_prices import keep

        keep()
    return print_json([b"\n".join(lines)]) if lines else 0


def _totals(count: int, size: int) -> list[str]:
    """Return the number of sessions and the size of our own recordings, in words; a zero is left out."""
    words = [plural(count, "session")] if count else []
    return [*words, f"own recordings: {byte_size(size)}"] if size else words


class Wanted(NamedTuple):
    """The options that choose sessions. An empty option chooses all."""

    agents: frozenset[str] = frozenset()
    states: frozenset[str] = frozenset()
    repo: str = ""
    since_ms: int | None = None
    shows_all: bool = False

    @property
    def has_old(self) -> bool:
        """Whether sessions that the list hides may be among them."""
        return self.shows_all or self.since_ms is not None

    def matches(self, row: Row) -> bool:
        """Whether a row matches the options. Hidden sessions can match too."""
        from agentwatch.agents.session_entry import OWN

        if self.agents and row.agent not in self.agents and not (row.is_own and OWN in self.agents):
            return False
        if self.states and row.status.state.value not in self.states:
            return False
        if self.repo and row.repo.casefold() != self.repo.casefold():
            return False
        return self.since_ms is None or row.last_ms >= self.since_ms


class Chosen(NamedTuple):
    """The sessions that are printed, and the numbers of those that match and are hidden."""

    rows: Sequence[Row]
    older: int = 0
    one_liners: int = 0
    subagents: int = 0
    newest_older: Sequence[Row] = ()
    """The sessions that are printed if there are no others."""

    def hidden(self) -> str:
        """Return what is hidden, in words; empty if nothing is."""
        counts = ((self.older, "older session"), (self.one_liners, "one-liner"), (self.subagents, "subagent"))
        words = [plural(count, noun) for count, noun in counts if count]
        return f"{', '.join(words)} hidden: --all" if words else ""


def chosen(rows: Mapping[Key, Row], wanted: Wanted, now_ms: int) -> Chosen:
    """Choose the sessions to print. Subagents that do not ask the user, and one-liners that have ended, are
    left out as in the list. `--since` replaces the limit of a week."""
    from agentwatch.catalog.hiding import is_hidden, newest_older, root
    from agentwatch.catalog.session_status import Group

    kept: list[Row] = []
    old: list[Row] = []
    one_liners = subagents = 0
    for row in rows.values():
        if not wanted.matches(row):
            continue
        if wanted.shows_all:
            kept.append(row)
        elif root(row, rows) is not row:
            subagents += 1
        elif row.is_archived or (wanted.since_ms is None and is_hidden(row, now_ms)):
            old.append(row)
        elif row.is_one_liner and row.group in (Group.YOUR_TURN, Group.ENDED):  # which the list folds
            one_liners += 1
        else:
            kept.append(row)
    kept.sort(key=lambda row: (row.last_ms, row.key), reverse=True)  # those without a time last
    return Chosen(kept, len(old), one_liners, subagents, newest_older(old, now_ms))


def table(rows: Sequence[Row], every: Iterable[Row], width: int | None, now_ms: int) -> Iterator[SafeText]:
    """Yield a line for each session, below a heading and cut to `width` columns. `width` is None without a
    terminal: then ids are whole, title and activity have at most 60 columns, and no cell from the title on is
    padded. Lines are never narrower than about 80 columns, because a session in two lines would be of no use
    to `grep`. `every` has all sessions, from which ids are shortened."""
    from agentwatch.screen.screens.sessions import cells

    if not rows:
        return
    needed, shown = cells.grown(cells.NO_ROWS, rows, now_ms), None
    if width is None:
        ids = [safe_line((place + name)[:_MOST_WHOLE]) for place, name in map(_named, rows)]
        id_width = max(map(columns, ids))
    else:
        lengths = shortest({_named(row)[1] for row in every})
        ids = [safe_line(place + name[: lengths.get(name, _LEAST_ID)]) for place, name in map(_named, rows)]
        places = max(columns(safe_line(place)) for place, _ in map(_named, rows))
        id_width = min(max(map(columns, ids)), places + _MOST_ID)
        shown = cells.columns_for(max(width - id_width - 2, cells.LEAST_FOR_ONE_ROW), needed)
        [(names, style)] = cells.heading(shown)
        yield styled((SafeText(f"{fitted(SafeText('id'), id_width)}  {names}".rstrip()), style))
    for row, beginning in zip(rows, ids, strict=True):
        own = cells.unpadded_columns(row, needed, now_ms) if shown is None else shown
        pieces = cells.wide_row(row, own, now_ms, 0)
        while not pieces[-1][0].strip():
            pieces.pop()
        *pieces, (last, style) = pieces
        named = (SafeText(f"{fitted(beginning, id_width)}  "), "accent")
        yield styled(named, *pieces, (SafeText(last.rstrip()), style))


def _named(row: Row) -> tuple[str, str]:
    """Return the address of another machine with its last `/`, and the session's id without the publisher."""
    from agentwatch.base.config import ENGINE

    if not row.address:
        return "", row.id
    place, slash, name = row.address.rpartition("/")
    return place + slash, name.rpartition(".")[2] if place.startswith(ENGINE) else name


def shortest(ids: set[str]) -> dict[str, int]:
    """Return for each id the length of its shortest unique beginning, at least 8."""
    lengths = dict.fromkeys(ids, _LEAST_ID)
    for first, second in pairwise(sorted(ids)):
        pair = first[:_MOST_ID], second[:_MOST_ID]
        common = len(os.path.commonprefix(pair)) + 1  # noqa: RUF071 - characters are meant
        lengths[first] = max(lengths[first], common)
        lengths[second] = max(lengths[second], common)
    return lengths


def every_session(places: Places | None = None) -> Collection[SessionEntry]:
    """Return every session on this machine, or those of some places; report what cannot be read."""
    from agentwatch.catalog.places import Places, notes_of

    places = places or Places(os.environ, Path.home(), os.geteuid())
    every = {each.key: each for batch in places.first() for each in batch}
    for note in notes_of(places.problems.values()):
        say(note)
    return every.values()


def update_index() -> int:
    """Bring the index up to date; print its path on stdout, and for a person what was done on stderr."""
    began = time.monotonic()

    def report(index: SessionIndex, done: Updated) -> str:
        sessions, calls = index.counts()
        words = [f"{plural(sessions, 'session')}, {plural(calls, 'call')}"]
        took = duration_words(1000 * (time.monotonic() - began))
        words.append(f"{done.read:,} read ({byte_size(done.size)}) in {took}")
        if done.removed:
            words.append(f"{done.removed:,} removed")
        if done.unreadable:
            words.append(f"{done.unreadable:,} cannot be read")
        say(" · ".join(words))
        return os.fspath(index.path)

    return print_lines([safe_line(with_index("--index", report))])


def with_index(asked: str, use: Callable[[SessionIndex, Updated], _Result]) -> _Result:
    """Bring the index of every session up to date, and return the result of `use`, which gets the index and
    what was done. A damaged index is reported and built again once: `use` may be called again if it raises
    `sqlite3.Error`. `asked` is what the user has typed: `--index`, `stats`."""
    if find_spec("_sqlite3") is None:
        raise Fault(f"{asked} needs the module sqlite3, which this Python was built without", CANNOT_CREATE)
    import sqlite3

    from agentwatch.catalog.index import index_path, remove_index

    path = index_path()
    try:
        try:
            return _used(path, use)
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:  # a subclass is not damage: a full disk, a lock
                raise
            _say_damaged(path)
            remove_index(path)
            return _used(path, use)
    except OSError as error:
        raise cannot_create(path, error) from None
    except sqlite3.Error as error:
        raise Fault(f"cannot write {path}: {error} (it can be deleted)", INCOMPLETE_RECORDING) from None


def _used(path: Path, use: Callable[[SessionIndex, Updated], _Result]) -> _Result:
    from agentwatch.catalog.index import SessionIndex, update
    from agentwatch.catalog.places import Places

    progress = ShownProgress().step("reading sessions")
    with closing(SessionIndex(path, __version__)) as index:
        if index.was_damaged:
            _say_damaged(path)
        places = Places(os.environ, Path.home(), os.geteuid(), stamps := index.stamps())
        every = every_session(places)
        try:
            done = update(index, every, progress, stamps, places.unread)
        finally:
            progress.clear()
        with index.snapshot():
            return use(index, done)


def _say_damaged(path: Path) -> None:
    say(f"{path} was damaged: all sessions are read again")


def prune(*, older_ms: int | None, keep_bookmarked: bool, dry_run: bool, yes: bool) -> int:
    """Print our recordings that are older than an age, or than the age in the settings, and delete them once
    confirmed: by `--yes`, or on a terminal. The exit code is 74 if one of them cannot be deleted."""
    if yes and dry_run:
        raise click.UsageError("--yes excludes --dry-run")
    from agentwatch.recording.saved_sessions import prunable
    from agentwatch.recording.store import sessions_folder

    if older_ms is None:
        from agentwatch.cli.config_file import read_keep_ms

        older_ms = read_keep_ms()
    if older_ms is None:
        raise Fault(
            '--prune needs an age: --older 30d, or keep = "30d" under [sessions] in the settings', USAGE
        )
    before_ms = now_ms() - older_ms
    with raising(cannot_open, sessions_folder()):
        found = prunable(before_ms, keep_bookmarked=keep_bookmarked)
    code = print_lines(
        f"{date_and_minute(stem.changed_ms)}  {byte_size(stem.size):>8}  {stem.recording}"
        for stem in found.sessions
    )
    if found.bookmarked:
        say(f"kept {plural(found.bookmarked, 'recording')} with bookmarks")
    if found.recorded:
        is_are = "is" if found.recorded == 1 else "are"
        say(f"kept {plural(found.recorded, 'recording')} that {is_are} still being written")
    if not found.sessions:
        say("no recording of agentwatch is that old")
        return code
    words = f"{plural(len(found.sessions), 'recording')}, {byte_size(found.size)}"
    if dry_run or code or not (yes or confirmed(f"Delete {words}?")):
        hint = "" if dry_run else "; --yes deletes them"
        say(f"nothing was deleted: {words} would be{hint}")
        return code
    return _delete(found)


def _delete(found: Prunable) -> int:
    from agentwatch.recording.saved_sessions import delete_session

    deleted = freed = 0
    for stem in found.sessions:
        try:
            freed += delete_session(stem.recording)
        except OSError as error:
            say(f"cannot delete {stem.recording}: {(error.strerror or str(error)).lower()}")
        else:
            deleted += 1
    say(f"deleted {plural(deleted, 'recording')}, {byte_size(freed)}")
    return 0 if deleted == len(found.sessions) else INCOMPLETE_RECORDING
