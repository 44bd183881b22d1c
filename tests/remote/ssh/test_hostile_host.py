"""Tests of `agentwatch.remote.ssh.host_list` with a host that is hostile, or breaks its protocol."""

from __future__ import annotations

import pytest

from agentwatch.agents.reported import State
from agentwatch.remote.ssh.shared_connection import (
    END,
    LIST,
    ChannelLines,
    begun,
    command,
    connection_to,
    parse_ssh,
)
from tests.remote.ssh.sessions import ID, KEY, SECONDS, greeting, save, until, watching
from tests.remote.ssh.sshd import Sshd

pytestmark = pytest.mark.system


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
    assert row.standing.state is State.UNKNOWN
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


def test_a_line_without_an_end_is_a_problem(host: Sshd) -> None:
    """A host cannot fill our memory with one line."""
    host.install("#!/bin/sh\nexec tr '\\0' x </dev/zero\n")
    with watching(host) as watched:
        until(watched, lambda: "does not end" in watched.problem)
        assert watched.rows == {}


def test_a_program_that_fails_is_a_problem_in_one_safe_line(host: Sshd) -> None:
    """Its last line on stderr is the reason, without control characters and cut to its bound."""
    host.install("#!/bin/sh\nprintf 'first\\n\\033[31mbroken %0900d\\n' 7 >&2\nexit 3\n")
    with watching(host) as watched:
        until(watched, lambda: "broken" in watched.problem)
        assert "\x1b" not in watched.problem
        assert len(watched.problem) <= 200


def test_what_a_login_shell_prints_is_passed_over(host: Sshd) -> None:
    """A greeting on the standard output before the script begins is no row."""
    (host.home / ".bashrc").write_text("echo Welcome; echo '{\"complete\":true}'\n")
    (host.home / ".zshenv").write_text("echo Welcome\n")
    save(host)
    with watching(host) as watched:
        until(watched, lambda: watched.rows)
        assert list(watched.rows) == [KEY]
