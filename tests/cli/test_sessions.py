"""`sessions` prints a table or JSON, and counts on stderr what it does not print."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from agentwatch.base.faults import Fault
from agentwatch.cli.address import parse_address
from agentwatch.text.amounts import byte_size
from tests.builders.lines import init, result, user
from tests.builders.machine.fake import fake_machine
from tests.builders.machine.rows import save
from tests.conftest import case
from tests.harness.program import ran


def listed(home: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Run `sessions` for a user without other agents."""
    return ran("sessions", *options)


SUCCEEDED = init() + user("Raise the timeout.") + result("done")
FAILED = init() + user("Rename it.") + result("no such file", is_error=True)


def saved(days: float, data: bytes) -> Path:
    """Save a recording some days ago, and return its path."""
    path = save(days)
    status = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(status.st_mtime_ns, status.st_mtime_ns))
    return path


def test_a_machine_without_sessions_has_an_empty_list(home: Path) -> None:
    """Nothing is printed on stdout, and the exit code is 0; without --json, one line says so."""
    said = b"agentwatch: no agent has a session here (see agentwatch doctor)\n"
    for options, line in (((), said), (("--json",), b""), (("--all",), said)):
        with case(" ".join(options)):
            done = listed(home, *options)
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", line)


def test_sessions_are_listed_newest_first(home: Path) -> None:
    """Each session has a line with its id, title, and answer or outcome; stderr has the totals."""
    second, first = saved(2, FAILED), saved(1, SUCCEEDED)
    done = listed(home)
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


def test_json_has_an_object_for_each_session(home: Path) -> None:
    """Each line is an object, whose id and path open the session; nothing else is printed."""
    path = saved(1, SUCCEEDED)
    done = listed(home, "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    [found] = map(json.loads, done.stdout.splitlines())
    assert found["path"] == str(path)
    shown = [ran("--output-format", "summary", words).stdout for words in (found["id"], found["path"])]
    assert shown[0] == shown[1] != b""


@pytest.mark.system
@pytest.mark.slow
def test_every_id_is_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sessions of all agents are listed, and each id of 6 characters names the path beside it."""
    machine = fake_machine(tmp_path / "machine", 30)
    for name, value in machine.environ.items():
        monkeypatch.setenv(name, value)
    done = ran("sessions", "--json", "--all")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) >= len(machine.made)
    opened = set()
    for row in rows:
        try:
            path = parse_address(row["id"]).path
        except Fault as fault:
            assert "only the metadata can be read" in str(fault)  # noqa: PT017 - the others can be opened
            continue
        if len(row["id"]) >= 6 and row["path"] is not None:
            assert os.path.realpath(path) == os.path.realpath(row["path"]), row
            opened.add(row["agent"])
    assert opened >= {"claude", "codex", "gemini", "qwen", "opencode", "pi", "copilot"}


def test_hidden_sessions_are_counted_and_options_choose(home: Path) -> None:
    """A session of last month is counted on stderr, and printed on demand. Options choose by state, time and
    repository; a choice of nothing ends with 0 as well.
    """
    saved(1, SUCCEEDED), saved(40, SUCCEEDED)
    done = listed(home, "--json")
    assert (len(done.stdout.splitlines()), done.stderr) == (1, b"agentwatch: 1 older session hidden: --all\n")
    for option in (("--all",), ("--since", "60d"), ("--since", "2020-01-01")):
        done = listed(home, "--json", *option)
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
    for options, count in cases:
        with case(" ".join(options)):
            done = listed(home, "--json", *options)
            assert (done.returncode, len(done.stdout.splitlines())) == (0, count)


def test_wrong_options_are_usage_errors(home: Path) -> None:
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
            done = listed(home, *options)
            assert (done.returncode, done.stdout) == (2, b"")
            assert done.stderr.decode().startswith(f"agentwatch: {reason}")
            assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_listing_is_safe(home: Path, options: tuple[str, ...]) -> None:
    """A hostile prompt does not act on the terminal on which the sessions are listed."""
    saved(1, init() + user("\x1b[31mred\x9b\u202e\nline" * 100) + result("\x1b]0;title\x07", is_error=True))
    done = listed(home, *options)
    assert done.stdout.count(b"\n") == 1
    assert b"\x1b" not in done.stdout
