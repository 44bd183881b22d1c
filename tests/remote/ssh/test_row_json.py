"""A row of a host arrives as it was sent."""

import json

import pytest

from agentwatch.agents.state_report import State
from agentwatch.catalog.digest.digest import LastTests
from agentwatch.remote.ssh.row_json import decode, encode
from agentwatch.remote.ssh.shared_connection import (
    END,
    LIST,
    ChannelLines,
    SshAddress,
    begun,
    command,
    connection_to,
    parse_ssh,
)
from agentwatch.session.limits import Reported
from tests.builders.home.home_app import row
from tests.conftest import case
from tests.remote.ssh.sessions import ID, KEY, SECONDS, greeting, save, until, watching
from tests.remote.ssh.sshd import Sshd


def test_any_row_is_sent() -> None:
    """A verdict of another form is not taken. A row whose names have half a surrogate pair, and whose numbers
    are too large, is sent without them.
    """
    # The newest verdict of tests is that of the host.
    for tests in (None, LastTests(False, 17, 0), LastTests(True, 3, 2, is_stale=True)):
        with case(tests):
            sent = json.loads(encode(row("abcdef")._replace(tests=tests)))
            assert ("tests" in sent) is (tests is not None)
            found = decode(sent, SshAddress("host"))
            assert found is not None
            assert found.tests == tests
    for wrong in WRONG:
        with case(wrong):
            found = decode({"id": "abcdef", "agent": "claude", "tests": wrong}, SshAddress("host"))
            assert found is not None
            assert found.tests is None
    strange = row("\ud800bcdef")._replace(key=("\udfff", "k"), parent=("claude", "\ud800"), calls=1 << 99)
    found = decode(json.loads(encode(strange)), SshAddress("host"))
    assert found is not None
    assert (found.id, found.calls, found.parent) == ("?bcdef", None, ("ssh://host", "claude/?"))
    # The reset is the time of a server; the time of the report is moved to our clock.
    windows = (Reported("5h", 62.7, 9_000, 5_000), Reported("7d", None, None, None))
    waits = row("abcdef", State.LIMITED, now="waits for the limit", until_ms=9_000)
    assert "limits" not in json.loads(encode(waits))
    found = decode(json.loads(encode(waits._replace(limits=windows))), SshAddress("host"), ahead_ms=1_000)
    assert found is not None
    assert found.limits == (Reported("5h", 62, 9_000, 4_000), Reported("7d", None, None, None))
    assert (found.status.state, found.status.until_ms) == (State.LIMITED, 9_000)
    asks = decode(json.loads(encode(row("abcdef", State.ASKS, until_ms=9_000))), SshAddress("host"), 1_000)
    assert asks is not None
    assert asks.status.until_ms == 8_000, "a question ends by the clock of the host"
    for wrong in (5, ["x", {"name": 5}, {"used_percent": 5}], {"name": "5h"}):
        with case(wrong):
            found = decode({"id": "abcdef", "agent": "claude", "limits": wrong}, SshAddress("host"))
            assert found is not None
            assert found.limits == ()
    many = decode({"id": "abcdef", "limits": [{"name": f"{n}h"} for n in range(99)]}, SshAddress("host"))
    assert many is not None
    assert len(many.limits) == 8


WRONG: list[object] = [5, [], [True], [True, 1, 2], [True, -1, 2, False], [True, 1, "2", False]]


@pytest.mark.system
def test_files_with_hostile_names_are_not_listed(host: Sshd) -> None:
    """A name that a shell or a terminal would act on is passed over, and nothing acts on it."""
    for name in (
        "$(touch x).jsonl",
        ";touch x;.jsonl",
        "`touch x`.jsonl",
        "a\nclaude 1 1 .jsonl",
        "-rf.jsonl",
    ):
        save(host, name)
    for name in ("-rf.jsonl", "a b.jsonl", "\x1b[31m.jsonl", "é.jsonl", "*.jsonl", "a..b.jsonl", "'.jsonl"):
        save(host, name)
    save(host, "inside.jsonl", folder="$(touch x)\n`touch x`")
    save(host)
    channel = connection_to(parse_ssh(host.address)[0]).open(command("rows"))
    lines = ChannelLines(channel)
    assert begun(lines, SECONDS) == "tail"
    channel.write(LIST)
    sent = []
    while (line := lines.next(SECONDS)) != END.encode():
        sent.append(line)
    channel.close()
    paths = {line.split()[3].decode() for line in sent if line}
    assert paths == {f"./-srv-app/{name}.jsonl" for name in (ID, "-rf", "a..b")}  # no shell acts on these
    with watching(host) as watched:
        until(watched, lambda: watched.rows)
        assert list(watched.rows) == [KEY]
    assert not list(host.folder.rglob("x"))
    # A greeting on the standard output before the script begins is not a row.
    (host.home / ".bashrc").write_text("echo Welcome; echo '{\"complete\":true}'\n")
    (host.home / ".zshenv").write_text("echo Welcome\n")
    save(host)
    with watching(host) as watched:
        until(watched, lambda: watched.rows)
        assert list(watched.rows) == [KEY]


@pytest.mark.system
def test_hostile_rows_are_data(host: Sshd) -> None:
    """Wrong types, huge texts, unknown states and escape sequences make no row that breaks its bounds."""
    huge = "A" * 50_000
    host.install(
        greeting(
            "\x1b]0;x\x07 no JSON",
            "[]",
            '{"row": 5}',
            '{"row": {"id": {}}}',
            '{"row": {"id": ""}}',
            '{"gone": [1, {}]}',
            '{"gone": ["a"]}',
            '{"now_ms": 1e400}',
            '{"row": {"id": "hostile", "agent": "\\u001b[31m", "state": "exploded", "calls": -1, "size": "9",'
            ' "began_ms": 99999999999999999999, "todo": [1], "tests": [1, "x", -2, {}], "parent": "x",'
            ' "pid": 1, "can_open": 7,'
            f' "title": "{huge}", "cwd": [[]], "since_ms": true}}}}',
            '{"row": {"id": "a/../b;$(x)", "agent": "claude"}}',
            '{"row": {"id": "half", "agent": "claude", "title": "\\ud800"}}',
            '{"row": {"id": "' + "B" * 70_000 + '"}}',
            '{"complete": true}',
        )
    )
    with watching(host) as watched:
        until(watched, lambda: watched.rows)
        rows = {row.id: row for row in watched.rows.values()}
    assert rows.keys() == {"hostile", "a/../b;$(x)"}
    row = rows["hostile"]
    assert row.status.state is State.UNKNOWN
    assert row.tests is None
    assert (row.calls, row.size, row.began_ms, row.todo, row.parent, row.pid) == (
        None,
        0,
        None,
        None,
        None,
        None,
    )
    assert (len(row.title), row.cwd) == (300, "")
    assert rows["a/../b;$(x)"].can_open is False
    assert rows["a/../b;$(x)"].address == ""
    # Its last line on stderr is the reason, without control characters and cut to its bound.
    host.install("#!/bin/sh\nprintf 'first\\n\\033[31mbroken %0900d\\n' 7 >&2\nexit 3\n")
    with watching(host) as watched:
        until(watched, lambda: "broken" in watched.problem)
        assert "\x1b" not in watched.problem
        assert len(watched.problem) <= 200
    # A host cannot fill our memory with one line.
    host.install("#!/bin/sh\nexec tr '\\0' x </dev/zero\n")
    with watching(host) as watched:
        until(watched, lambda: "does not end" in watched.problem)
        assert watched.rows == {}
