"""`sessions` prints what the options want as a table or JSON, and counts on stderr what it does not print."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.session_entry import LEAST_CHARACTERS, Key
from agentwatch.agents.state_report import State
from agentwatch.base.faults import Fault
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import Ground
from agentwatch.cli.address import parse_address
from agentwatch.cli.sessions import Wanted, chosen, table
from agentwatch.text.amounts import byte_size
from agentwatch.text.safe import SafeText, columns
from tests.builders.lines import init, result, user
from tests.builders.machine.fake import fake_machine
from tests.builders.machine.rows import NOW_MS, row, save
from tests.conftest import case
from tests.harness.program import ran

SUCCEEDED = init() + user("Raise the timeout.") + result("done")
FAILED = init() + user("Rename it.") + result("no such file", is_error=True)


def saved(days: float, data: bytes) -> Path:
    """Save a recording some days ago, and return its path."""
    path = save(days)
    status = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(status.st_mtime_ns, status.st_mtime_ns))
    return path


def test_an_empty_list_has_the_newest_older_sessions() -> None:
    """They are read and printed, and stderr says that they are older; JSON for scripts stays empty."""
    for days in range(25):
        saved(40 + days, FAILED)
    done = ran("sessions")
    printed = done.stdout.decode().splitlines()
    assert len(printed) == 20
    assert all("no such file" in line for line in printed)
    assert b"20 sessions" in done.stderr
    assert b"all older than 7 days \xc2\xb7 5 older sessions hidden: --all" in done.stderr
    assert ran("sessions", "--json").stdout == b""
    saved(1, SUCCEEDED)
    assert len(ran("sessions").stdout.splitlines()) == 1


def test_hidden_sessions_are_counted_and_options_choose() -> None:
    """A session of last month is counted on stderr, and printed on demand. Options choose by state, time and
    repository; a choice of nothing ends with 0 as well.
    """
    # Without a session, nothing is printed on stdout; without --json, one line says so.
    said = b"agentwatch: no agent has a session here (see agentwatch doctor)\n"
    for options, line in (((), said), (("--json",), b""), (("--all",), said)):
        with case(" ".join(options)):
            done = ran("sessions", *options)
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", line)
    # The sessions that are there.
    saved(1, SUCCEEDED), saved(40, SUCCEEDED)
    done = ran("sessions", "--json")
    assert (len(done.stdout.splitlines()), done.stderr) == (1, b"agentwatch: 1 older session hidden: --all\n")
    for option in (("--all",), ("--since", "60d"), ("--since", "2020-01-01")):
        done = ran("sessions", "--json", *option)
        assert (len(done.stdout.splitlines()), done.stderr) == (2, b"")
    cases: list[tuple[list[str], int]] = [
        (["--state", "failed"], 1),
        (["--state", "failed", "--state", "succeeded"], 2),
        (["--state", "your-turn"], 0),
        (["--state", "your turn"], 0),
        (["--since", "36h"], 1),
        (["--repo", "nothing"], 0),
    ]
    saved(2, FAILED)
    for chosen_by, count in cases:
        with case(" ".join(chosen_by)):
            done = ran("sessions", "--json", *chosen_by)
            assert (done.returncode, len(done.stdout.splitlines())) == (0, count)


def test_the_list_and_its_json_have_each_session() -> None:
    """Each session has a line with its id, title, and answer or outcome; stderr has the totals."""
    second, first = saved(2, FAILED), saved(1, SUCCEEDED)
    done = ran("sessions")
    assert done.returncode == 0
    newest, other = done.stdout.decode().splitlines()
    assert first.stem.startswith(newest.split()[0])
    assert second.stem.startswith(other.split()[0])
    assert "Raise the timeout." in newest
    assert "✓" in newest
    assert "“done”" in newest
    assert "failed" in other
    size = first.stat().st_size + second.stat().st_size
    assert done.stderr.decode() == f"agentwatch: 2 sessions · own recordings: {byte_size(size)}\n"
    # In JSON, each line is an object, whose id and path open the session; nothing else is printed.
    second.unlink()
    done = ran("sessions", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    [found] = map(json.loads, done.stdout.splitlines())
    assert found["path"] == str(first)
    shown = [ran("--output-format", "summary", words).stdout for words in (found["id"], found["path"])]
    assert shown[0] == shown[1] != b""
    # A hostile prompt does not act on the terminal.
    first.unlink()
    saved(1, init() + user("\x1b[31mred\x9b\u202e\nline" * 100) + result("\x1b]0;title\x07", is_error=True))
    for options in ((), ("--json",)):
        with case(options):
            done = ran("sessions", *options)
            assert done.stdout.count(b"\n") == 1
            assert b"\x1b" not in done.stdout


@pytest.mark.system
@pytest.mark.slow
def test_every_id_is_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sessions of all agents are listed, and each id of 6 characters names the path beside it.

    A session that has only begun has no path yet.
    """
    machine = fake_machine(tmp_path / "machine", 30)
    for name, value in machine.environ.items():
        monkeypatch.setenv(name, value)
    done = ran("sessions", "--json", "--all")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) >= len(machine.made)
    opened = set()
    for each in rows:
        if len(each["id"]) < LEAST_CHARACTERS or each["path"] is None:
            continue
        try:
            path = parse_address(each["id"]).path
        except Fault as fault:
            assert "only the metadata can be read" in str(fault)  # noqa: PT017 - the others can be opened
            continue
        assert os.path.realpath(path) == os.path.realpath(each["path"]), each
        opened.add(each["agent"])
    assert opened >= {"claude", "codex", "gemini", "qwen", "opencode", "pi", "copilot"}


def test_wrong_options_are_usage_errors() -> None:
    """An unknown name is reported with the known ones, in one line with 2."""
    cases: list[tuple[list[str], str]] = [
        (
            ["--state", "busy"],
            "--state: 'busy' is not one of: starting, working, asks, limited, quiet, your-turn, shell, ",
        ),
        (["--agent", "x"], "--agent: 'x' is not one of: "),
        (["--since", "soon"], "--since: 'soon' is neither an age nor a date; an age is 90s, 30m, 2h, 30d"),
        (["--older", "30d"], "--older needs --prune"),
        (["--yes"], "--yes needs --prune"),
        (["--prune", "--json"], "--prune chooses recordings by --older and --keep-bookmarked only"),
        (["--prune", "--older", "old"], "--older: 'old' is not an age; an age is 90s, 30m, 2h, 30d or 4w"),
        (["--prune", "--older", "1d", "--yes", "--dry-run"], "--yes excludes --dry-run"),
        (["--prune"], '--prune needs an age: --older 30d, or keep = "30d" under [sessions] in the settings'),
    ]
    for options, reason in cases:
        with case(" ".join(options)):
            done = ran("sessions", *options)
            assert (done.returncode, done.stdout) == (2, b"")
            assert done.stderr.decode().startswith(f"agentwatch: {reason}")
            assert done.stderr.count(b"\n") == 1


ASKS = row(
    State.ASKS,
    since_ms=NOW_MS - 14_000,
    now="Bash rm -rf build",
    title="Add retry limits to the client",
    repo="api",
    branch="retry-limits",
    calls=33,
    failed=2,
)


def lines(*rows: Row, width: int = 100, every: tuple[Row, ...] = ()) -> list[SafeText]:
    """Return the lines of a table below its heading."""
    return list(table(rows, (*rows, *every), width, NOW_MS))[1:]


def test_a_line_has_the_columns_of_the_list() -> None:
    """A line has id, state, clock, agent, project, title and activity, and is cut to the width. On a
    terminal, a heading names the columns above them.
    """
    [line] = lines(ASKS, width=140)
    assert line.startswith("00000000  ! asks")
    for words in (
        "0:14",
        "claude",
        "api ⎇ retry-limits",
        "Add retry limits to the client",
        "Bash rm -rf build",
    ):
        assert words in line
    for width in (80, 100, 140):
        assert max(columns(line) for line in lines(ASKS, row(number=1 << 40), width=width)) <= width
    # The heading.
    heading, line = table([ASKS], [ASKS], 140, NOW_MS)
    assert heading.split() == ["id", "state", "for", "agent", "project", "title", "now", "calls"]
    for name, words in (("state", "! asks"), ("agent", "claude"), ("title", "Add retry"), ("now", "Bash rm")):
        assert heading.index(name) == line.index(words)
    # A state that was inferred has a question mark.
    [line] = lines(row(State.ASKS, Ground.INFERRED))
    assert " !? asks? " in line
    # A text of a session can neither control the terminal nor break the table.
    for text in ("\x1b[31mred", "two\nlines", "\u202eright", "日本語" * 200, "a" * 100_000):
        with case(f"{text:.20}"):
            [line] = lines(
                row(State.WORKING, title=text, now=text, repo=text, branch=text, agent=text, id=text)
            )
            assert line.isprintable()
            assert columns(line) <= 100


def test_the_table_for_a_program_is_not_padded_and_may_be_empty() -> None:
    """Elsewhere than on a terminal there is no heading, ids and places are whole and aligned, title and
    activity are cut at 60 columns, and a short one is not padded to the longest. A table of nothing is empty.
    """
    long = row(State.WORKING, number=7, title="t" * 300, now="n" * 300, repo="r" * 90, branch="b" * 90)
    found = list(table([ASKS, long], [ASKS, long], None, NOW_MS))
    assert [line.split()[0] for line in found] == [ASKS.id, long.id]
    for words in ("t" * 59 + "…  ", "n" * 59 + "…", "r" * 90, "b" * 90):
        assert words in found[1]
    assert found[0].index("Add retry") == found[1].index("ttt")
    few = next(table([row(calls=2, failed=0, context_used=None)], [], None, NOW_MS))
    for line, title in ((found[0], "Add retry"), (few, few.split("  ")[-3])):
        assert "   " not in line[line.index(title) :]
    assert list(table([], [], 100, NOW_MS)) == list(table([], [], None, NOW_MS)) == []
    # The id is as long as it must be to differ from those of all sessions, printed or not.
    rows = [row(id=name) for name in ("20261120-140307-1aaaaa", "20261120-140307-2bbbbb", "d3410ecf-7a95")]
    ids = [line.split()[0] for line in lines(*rows, every=(row(id="d3410ecf-7b"), row(id="20261")))]
    assert ids == ["20261120-140307-1", "20261120-140307-2", "d3410ecf-7a"]
    # The ids of hostile names take no more room than the stem of a recording.
    [line] = lines(row(id="x" * 1000 + "a"), every=(row(id="x" * 1000 + "b"),))
    assert columns(line) <= 100
    assert line.split()[0].strip("x…") == ""


OLD_MS = NOW_MS - 8 * 86_400_000


def by_key(*rows: Row) -> Mapping[Key, Row]:
    """Return rows as a machine has them."""
    return {each.key: each for each in rows}


def names(found: Iterable[Row]) -> list[str]:
    """Return the titles of rows, in order."""
    return [each.title for each in found]


ROWS = by_key(
    row(State.ASKS, number=1, title="asks", seen_ms=NOW_MS - 5, repo="api"),
    row(State.WORKING, number=2, title="works", agent="codex", seen_ms=NOW_MS - 3, repo="web"),
    row(State.FAILED, number=3, title="own", agent="cursor", is_own=True, seen_ms=NOW_MS - 4, repo="API"),
    row(State.SUCCEEDED, number=4, title="old", seen_ms=OLD_MS, repo="api"),
    row(State.YOUR_TURN, number=5, title="old and live", seen_ms=OLD_MS, repo="web"),
    row(State.SUCCEEDED, number=6, title="archived", seen_ms=NOW_MS - 9, is_archived=True),
    row(State.SUCCEEDED, number=7, title="one-liner", seen_ms=NOW_MS - 2, is_one_liner=True),
    row(State.WORKING, number=8, title="live one-liner", seen_ms=NOW_MS - 1, is_one_liner=True),
    row(State.WORKING, number=9, title="sub", seen_ms=NOW_MS, parent=row(number=1).key),
    row(State.ASKS, number=10, title="sub asks", seen_ms=NOW_MS - 6, parent=row(number=1).key),
    row(State.WORKING, number=11, title="orphan", seen_ms=NOW_MS - 7, parent=("claude", "gone")),
    row(State.UNKNOWN, number=12, title="no time", seen_ms=None),
)


def test_sessions_are_printed_that_options_want() -> None:
    """The rest is printed, the newest first; what is hidden is counted. With --all nothing is hidden. A
    session is printed if it matches one name of each option; agentwatch has our own recordings. The count
    is that of the sessions that --all would add.
    """
    found = chosen(ROWS, Wanted(), NOW_MS)
    assert names(found.rows) == [
        *("live one-liner", "works", "own", "asks", "sub asks", "orphan", "old and live", "no time")
    ]
    assert (found.older, found.one_liners, found.subagents) == (2, 1, 1)
    assert found.hidden() == "2 older sessions, 1 one-liner, 1 subagent hidden: --all"
    found = chosen(ROWS, Wanted(shows_all=True), NOW_MS)
    assert len(found.rows) == len(ROWS)
    assert names(found.rows)[:2] == ["sub", "live one-liner"]
    assert found.hidden() == ""
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({"agents": frozenset({"codex"})}, ["works"]),
        ({"agents": frozenset({"agentwatch"})}, ["own"]),
        ({"agents": frozenset({"codex", "cursor"})}, ["works", "own"]),
        ({"states": frozenset({"asks"})}, ["asks", "sub asks"]),
        ({"states": frozenset({"your turn", "failed"})}, ["own", "old and live"]),
        ({"repo": "api"}, ["own", "asks"]),
        ({"repo": "ap"}, []),
        ({"repo": "api", "states": frozenset({"failed"})}, ["own"]),
        ({"since_ms": NOW_MS - 4}, ["live one-liner", "works", "own"]),
    ]
    for options, printed in cases:
        with case(options):
            assert names(chosen(ROWS, Wanted(**options), NOW_MS).rows) == printed
    found = chosen(ROWS, Wanted(repo="api"), NOW_MS)
    assert found.hidden() == "1 older session hidden: --all"
    # With --since, an older session is not hidden, an archived one is. A large number is readable.
    found = chosen(ROWS, Wanted(since_ms=OLD_MS), NOW_MS)
    assert "old" in names(found.rows)
    assert "no time" not in names(found.rows)
    assert found.older == 1
    # The newest older ones are known, archived ones left out.
    rows = by_key(*(row(number=at, seen_ms=OLD_MS - at, is_archived=at == 0) for at in range(30)))
    assert [each.last_ms for each in chosen(rows, Wanted(), NOW_MS).newest_older] == [
        OLD_MS - at for at in range(1, 21)
    ]
    rows = by_key(*(row(number=at, seen_ms=OLD_MS) for at in range(4981)))
    assert chosen(rows, Wanted(), NOW_MS).hidden() == "4,981 older sessions hidden: --all"
