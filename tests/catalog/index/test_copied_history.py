"""History that a fork, a resume or a second file repeats counts once."""

import json
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentwatch import summary
from agentwatch.catalog.digest.reading import Tail
from tests.agents.pi.lines import HEADER, assistant, call
from tests.agents.pi.lines import user as pi_user
from tests.builders import claude_lines as stream
from tests.builders.codex.lines import BEGAN_MS, MINUTE_MS, copied, file_name, meta, name_at, turn, written
from tests.builders.machine.fake import fake_machine
from tests.builders.on_disk.transcript import AT_MS, line, user
from tests.catalog.index.machines import Indexed

IDS = tuple(f"{number}1111111-2222-4333-8444-555555555555" for number in range(4))
SUMS = (
    "SELECT count(*), sum(calls), sum(failed), sum(input_tokens), sum(cached_tokens), sum(output_tokens)"
    " FROM session"
)
Json = dict[str, Any]


@pytest.fixture
def indexed(tmp_path: Path) -> Indexed:
    """A machine without sessions, and the path of an index."""
    return Indexed(fake_machine(tmp_path / "machine", with_captures=False), tmp_path / "state" / "index.db")


def message(name: str, parent: str | None, block: Json, tokens: int, **more: Any) -> Json:
    """Return a line of a message with its own request."""
    usage = {"input_tokens": tokens, "cache_read_input_tokens": 10 * tokens, "output_tokens": 2}
    said = {"id": f"msg_{name}", "role": "assistant", "model": "m", "content": [block], "usage": usage}
    return line("assistant", name, parent, message=said, requestId=f"req_{name}", **more)


def text(name: str, parent: str | None, tokens: int, **more: Any) -> Json:
    """Return a line with a text of the agent."""
    return message(name, parent, {"type": "text", "text": name}, tokens, **more)


def conversation() -> list[Json]:
    """Return a session with a failed command, and a subagent in the same file."""
    task = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "Task",
        "input": {"prompt": "look", "description": "d"},
    }
    bash = {"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {"command": "make"}}
    results = [
        [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}],
        [{"type": "tool_result", "tool_use_id": "toolu_2", "content": "Exit code 2\nno", "is_error": True}],
    ]
    return [
        user("go", "u1"),
        message("u2", "u1", task, 1),
        user("look", "s1", isSidechain=True),
        text("s2", "s1", 7, isSidechain=True),
        user(results[0], "u3", "u2"),
        message("u4", "u3", bash, 2),
        user(results[1], "u5", "u4"),
        text("u6", "u5", 3),
    ]


def keep(indexed: Indexed, number: int, lines: list[Json]) -> Path:
    """Write a transcript that was changed later than those with a smaller number."""
    folder = indexed.machine.home / ".claude/projects/-w"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{IDS[number]}.jsonl"
    own = (each | {"sessionId": IDS[number]} for each in lines)
    path.write_text("".join(json.dumps(each) + "\n" for each in own))
    os.utime(path, (1_795_000_000 + number, 1_795_000_000 + number))
    return path


def test_a_copied_transcript_counts_once(indexed: Indexed) -> None:
    """By message id and request id, whether or not its lines name the session that they were copied from."""
    keep(indexed, 0, conversation())
    indexed.update()
    assert indexed.rows(SUMS) == [(1, 2, 1, 143, 130, 8)]
    keep(indexed, 1, [*conversation(), user("more", "f1", "u6"), text("f2", "f1", 100)])
    named = [
        each | {"forkedFrom": {"sessionId": IDS[0], "messageUuid": each["uuid"]}} for each in conversation()
    ]
    keep(indexed, 2, [*named, user("more", "g1", "u6"), text("g2", "g1", 1000)])
    indexed.update()
    assert indexed.rows(SUMS) == [(3, 2, 1, 12243, 11130, 12)]
    assert indexed.rows("SELECT calls, input_tokens FROM session ORDER BY session_id") == [
        (2, 143),
        (0, 1100),
        (0, 11000),
    ]
    assert indexed.rows("SELECT count(*) FROM call") == [(2,)]
    assert indexed.rows("SELECT count(*) FROM failure") == [(1,)]
    (indexed.machine.home / ".claude/projects/-w" / f"{IDS[0]}.jsonl").unlink()
    indexed.update()
    assert indexed.rows(SUMS) == [(2, 2, 1, 12243, 11130, 12)]


TIMES = "SELECT turns, active_ms FROM session ORDER BY session_id"


def at(lines: list[Json], *seconds: float) -> list[Json]:
    """Return lines with times, in seconds after the first."""
    times = (datetime.fromtimestamp(AT_MS / 1000 + each, UTC).isoformat() for each in seconds)
    return [each | {"timestamp": time} for each, time in zip(lines, times, strict=True)]


def test_copied_turns_and_their_time_count_once(indexed: Indexed) -> None:
    """A turn that continued after it was copied counts with all of its time, in the files together."""
    ended = line("system", "t1", "u2", subtype="turn_duration", durationMs=9000)
    turn, more = [user("go", "u1"), text("u2", "u1", 1)], [user("more", "f1", "u2"), text("f2", "f1", 2)]
    keep(indexed, 0, at([*turn, *more], 0, 5, 100, 107))
    keep(indexed, 1, at([*turn, *more], 0, 5, 900, 903))
    keep(indexed, 2, at([*turn, text("u3", "u2", 3)], 0, 5, 6))
    origin = {"forkedFrom": {"sessionId": IDS[0], "messageUuid": "x"}}
    named = [each | origin for each in turn]
    keep(indexed, 3, at([*named, *more], 0, 5, 500, 502))
    indexed.update()
    assert indexed.rows(TIMES) == [(2, 12_000), (1, 3000), (0, 1000), (1, 2000)]
    indexed.update()
    assert indexed.rows(TIMES) == [(2, 12_000), (1, 3000), (0, 1000), (1, 2000)]
    said = line("system", "t2", "f2", subtype="turn_duration", durationMs=8000)
    keep(indexed, 0, at([*turn, ended, *more, said], 0, 5, 5, 100, 107, 107))
    keep(indexed, 1, at([*turn, ended, *more, said], 0, 5, 5, 900, 903, 903))
    indexed.update()
    assert indexed.rows(TIMES)[:2] == [(2, 17_000), (1, 8000)]


def test_messages_with_the_same_id_are_told_apart_by_their_requests(indexed: Indexed) -> None:
    """Some servers give each message the same id."""
    for number in (0, 1):
        said = text("u2", "u1", 5) | {"requestId": f"req_{number}"}
        keep(indexed, number, [user("go", "u1"), said, text("u3", "u2", 5) | {"message": said["message"]}])
    indexed.update()
    assert indexed.rows("SELECT sum(input_tokens) FROM session") == [(55 * 3,)]
    # Some relays give each message the same id, and no request one.
    for number in (2, 3):
        said = text("u2", "u1", 5) | {"requestId": None}
        keep(indexed, number, at([user("go", "u1"), said, user("on", "u3", "u2"), said], 0, number, 7, 8))
    indexed.update()
    assert indexed.rows("SELECT sum(input_tokens) FROM session") == [(55 * 6,)]


def test_a_subagent_counts_the_same_in_both_forms(indexed: Indexed) -> None:
    """The summary of a session and the statistics have its own tokens and those of its subagents."""
    path = keep(indexed, 0, conversation())
    whole = summary(path)["tokens"]["input"]
    inside = [each for each in conversation() if not each["isSidechain"]]
    apart = [each | {"agentId": "a1"} for each in conversation() if each["isSidechain"]]
    folder = path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    keep(indexed, 0, inside)
    (folder / "agent-a1.jsonl").write_text("".join(json.dumps(each) + "\n" for each in apart))
    assert summary(path)["tokens"]["input"] == whole == 143
    indexed.update()
    assert indexed.rows("SELECT count(*), sum(input_tokens) FROM session") == [(2, 143)]


def test_forked_and_reverted_threads_count_once(indexed: Indexed) -> None:
    """A fork has its own requests and calls; a thread in two files is one session."""
    day = indexed.machine.home / ".codex/sessions/2026/11/24"
    day.mkdir(parents=True)
    parent, fork, rollout = (name_at(BEGAN_MS + number * MINUTE_MS, number) for number in (0, 10, 20))
    first = [meta(parent, BEGAN_MS), *turn(parent, BEGAN_MS + MINUTE_MS, 11, 1000, 1000)]
    whole = [*first, *turn(parent, BEGAN_MS + 2 * MINUTE_MS, 12, 3100, 2100)]
    (day / file_name(BEGAN_MS, parent)).write_bytes(written(whole))
    at_ms = BEGAN_MS + 10 * MINUTE_MS
    own = turn(fork, at_ms + MINUTE_MS, 13, 6300, 3200)
    begin = [meta(fork, at_ms, forked_from_id=parent), *copied(whole, at_ms)]
    (day / file_name(at_ms, fork)).write_bytes(written([*begin, *own]))
    at_ms = BEGAN_MS + 20 * MINUTE_MS
    base = {"thread_id": parent, "end_ordinal_exclusive": 9, "end_byte_offset": len(written(first))}
    begin = [meta(parent, at_ms, history_base=base), *turn(parent, at_ms + MINUTE_MS, 14, 1700, 700)]
    (day / file_name(at_ms, parent, rollout)).write_bytes(written(begin))
    indexed.update()
    columns = "session_id, calls, input_tokens, turns, active_ms < 60000"
    assert indexed.rows(f"SELECT {columns} FROM session ORDER BY 1") == [
        (parent, 3, 3800, 2, 1),  # the revert took a prompt back
        (fork, 1, 3200, 1, 1),
    ]
    assert indexed.rows("SELECT count(*) FROM call") == [(4,)]
    # A spawned thread repeats the lines of another too, and is folded under it, or under the first of all.
    at_ms = BEGAN_MS + 30 * MINUTE_MS
    child, below = (name_at(at_ms, number) for number in (30, 40))
    for name, spawned_by, more in (
        (child, parent, {"session_id": child}),
        (below, child, {"session_id": parent}),
    ):
        source = {"subagent": {"thread_spawn": {"parent_thread_id": spawned_by, "depth": 1}}}
        own = turn(name, at_ms + MINUTE_MS, 15 + (name == below), 3600, 500)
        lines = [meta(name, at_ms, source=source, **more), *whole, *own]
        (day / file_name(at_ms, name)).write_bytes(written(lines))
    indexed.update()
    assert indexed.rows(f"SELECT {columns}, parent FROM session WHERE parent IS NOT NULL ORDER BY 1") == [
        (child, 1, 500, 1, 1, parent),
        (below, 1, 500, 1, 1, parent),
    ]
    # The summary of a thread has those that it has spawned, and counts none of what it repeats.
    for name, began_ms, counts in ((parent, BEGAN_MS, (4100, 4, 2)), (child, at_ms, (1000, 2, 1))):
        found = summary(day / file_name(began_ms, name))
        assert (found["tokens"]["input"], found["calls_by_outcome"]["succeeded"], found["turns"]) == counts


def test_a_copied_chat_counts_once(indexed: Indexed) -> None:
    """Chats of Gemini and of Qwen give each answer an id, which a copy repeats."""
    usage = {"promptTokenCount": 1000, "candidatesTokenCount": 20}
    qwen = [
        user("Go", "u1") | {"message": {"role": "user", "parts": [{"text": "Go"}]}},
        line(
            "assistant", "u2", "u1", message={"role": "model", "parts": [{"text": "A"}]}, usageMetadata=usage
        ),
    ]
    gemini: list[Json] = [
        {"id": "m1", "timestamp": "2026-11-28T09:00:00.000Z", "type": "user", "content": "Go"},
        {
            "id": "m2",
            "timestamp": "2026-11-28T09:00:02.000Z",
            "type": "gemini",
            "content": "A",
            "toolCalls": [],
        }
        | {"thoughts": [], "model": "m", "tokens": {"input": 1000, "output": 20, "cached": 0, "thoughts": 0}},
    ]
    for name in IDS[:2]:
        start = {"sessionId": name, "projectHash": "h", "startTime": gemini[0]["timestamp"], "kind": "main"}
        files = {
            f".qwen/projects/-w/chats/{name}.jsonl": [each | {"sessionId": name} for each in qwen],
            f".gemini/tmp/w/chats/session-2026-11-28T09-00-{name[:8]}.jsonl": [start, *gemini],
        }
        for path, lines in files.items():
            kept_at = indexed.machine.home / path
            kept_at.parent.mkdir(parents=True, exist_ok=True)
            kept_at.write_text("".join(json.dumps(each) + "\n" for each in lines))
    indexed.update()
    assert indexed.rows("SELECT agent, count(*), sum(input_tokens) FROM session GROUP BY 1 ORDER BY 1") == [
        ("gemini", 2, 1000),
        ("qwen", 2, 1000),
    ]


SESSION = "11111111-2222-4333-8444-555555555555"


def bash(call_id: str, **fields: object) -> list[Json]:
    """Return a call and its answer."""
    begun, ended = (
        stream.call("Bash", call_id, command="ls"),
        stream.answer("a", call_id, result={"stdout": "a"}),
    )
    return [begun | fields, ended | fields]


def kept(*lines: Json, **fields: object) -> bytes:
    """Return lines as the agent keeps them."""
    own = {"sessionId": SESSION, "cwd": stream.CWD, "timestamp": "2026-11-22T12:00:00.000Z", **fields}
    return stream.written(*(line | own for line in lines))


def lay(indexed: Indexed, *, inside: bool) -> None:
    """Write a recording and the agent's files of a session with a subagent, and one of another session."""
    task = stream.call("Task", "t-1", prompt="Look."), stream.answer("Done.", "t-1")
    own = bash("a-1", parent_tool_use_id="t-1") if inside else []
    lines = (task[0], *own, task[1], *bash("b-1"), *bash("b-2"), stream.result())
    recorded = (stream.init(), *lines)
    indexed.record(
        "20261122-120000-000abcdef", stream.written(*(line | {"session_id": SESSION} for line in recorded))
    )
    folder = indexed.machine.home / ".claude/projects/-home-ada-tidepool"
    (folder / SESSION / "subagents").mkdir(parents=True, exist_ok=True)
    (folder / f"{SESSION}.jsonl").write_bytes(kept(*task, *bash("b-1"), *bash("b-2")))
    (folder / SESSION / "subagents/agent-a1.jsonl").write_bytes(
        kept(*bash("a-1"), isSidechain=True, agentId="a1")
    )
    other = SESSION.replace("1", "9")
    (folder / other / "subagents").mkdir(parents=True, exist_ok=True)
    (folder / f"{other}.jsonl").write_bytes(kept(*task, sessionId=other))
    (folder / other / "subagents/agent-a2.jsonl").write_bytes(
        kept(*bash("a-1"), isSidechain=True, agentId="a2", sessionId=other)
    )


def test_a_subagent_counts_once(indexed: Indexed) -> None:
    """If the recording has the calls of the subagent, the subagent's own file does not count."""
    lay(indexed, inside=True)
    indexed.update()
    assert indexed.rows("SELECT is_recording, parent, calls FROM session ORDER BY 3 DESC, 2") == [
        (1, None, 4),
        (0, None, 1),
        (0, SESSION.replace("1", "9"), 1),
    ]
    lay(indexed, inside=False)
    indexed.update()
    assert indexed.rows(
        "SELECT is_recording, parent, calls FROM session WHERE calls < 3 AND parent = ?", SESSION
    ) == [(0, SESSION, 1)]


TABLES = (
    "CREATE TABLE session (id, parent_id, directory, title, version, time_created, time_updated)",
    "CREATE TABLE message (id, session_id, time_created, time_updated, data)",
    "CREATE TABLE part (id, session_id, message_id, time_created, time_updated, data)",
)


def opencode(
    indexed: Indexed, session_id: str, created: int, *steps: tuple[int, Json], above: str | None = None
) -> None:
    """Write a session of opencode: each step has a time, a prompt and one part of the answer to it."""
    path = indexed.machine.home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with closing(sqlite3.connect(path)) as database, database:
        for table in TABLES if is_new else ():
            database.execute(table)
        row = (session_id, above, AT_MS + created, AT_MS + 900_000 + created)
        database.execute("INSERT INTO session VALUES (?, ?, '/w', 't', '1.18.33', ?, ?)", row)
        for at, part in steps:
            end = {"type": "step-finish", "cost": 0.01, "tokens": {"input": at, "output": 1}}
            answer = [{"type": "step-start"}, part, end | {"reason": "stop"}]
            for role, parts in (("user", [{"type": "text", "text": "go"}]), ("assistant", answer)):
                message, time = f"msg_{session_id}_{at}_{role}", {"created": AT_MS + at}
                data = {
                    "role": role,
                    "time": time if role == "user" else time | {"completed": AT_MS + at + 9},
                }
                values = (message, session_id, json.dumps(data))
                database.execute("INSERT INTO message VALUES (?, ?, 1, 1, ?)", values)
                for number, each in enumerate(parts):
                    inside = (f"prt_{message}_{number}", session_id, message, json.dumps(each))
                    database.execute("INSERT INTO part VALUES (?, ?, ?, 1, 1, ?)", inside)


def tool(call_id: str, at: int, name: str = "bash", **metadata: Any) -> Json:
    """Return a part with a call of opencode that has ended."""
    state = {"status": "completed", "input": {"command": "ls"}, "metadata": {"exit": 0, **metadata}}
    time = {"start": AT_MS + at + 1, "end": AT_MS + at + 3}
    return {"type": "tool", "callID": call_id, "tool": name, "state": {**state, "time": time}}


def views(indexed: Indexed, agent: str) -> dict[str, tuple[tuple[Any, ...], ...]]:
    """Return the turns, calls, input tokens and cost of each session: in the index, its summary, the list."""
    indexed.update()
    query = "SELECT session_id, turns, calls, input_tokens, round(cost_usd, 3) FROM session WHERE agent = ?"
    stored = {row[0]: row[1:] for row in indexed.rows(query, agent)}
    found: dict[str, tuple[tuple[Any, ...], ...]] = {}
    for each in indexed.found():
        tail = Tail(each._replace(parent=None))
        tail.update()
        assert tail.digest is not None
        said, tokens = summary(each.path), summary(each.path)["tokens"]
        cost = tokens["cost_usd"] and round(tokens["cost_usd"], 3)
        of_summary = (said["turns"], sum(said["calls_by_outcome"].values()), tokens["input"], cost)
        found[each.id] = (stored[each.id], of_summary, (tail.digest.calls,))
    return found


def test_a_fork_of_opencode_counts_what_is_its_own(indexed: Indexed) -> None:
    """Its messages have new ids, and the times of their originals; so has the fork of a fork."""
    first, second = (10, tool("c1", 10)), (200, tool("c2", 200))
    opencode(indexed, "ses_a", 0, first)
    opencode(indexed, "ses_b", 100, first, second)
    opencode(indexed, "ses_c", 300, first, second)
    assert views(indexed, "opencode") == {
        "ses_a": ((1, 1, 10, 0.01), (1, 1, 10, 0.01), (1,)),
        "ses_b": ((1, 1, 200, 0.01), (1, 1, 200, 0.01), (1,)),
        "ses_c": ((0, 0, None, None), (0, 0, None, None), (0,)),
    }
    assert indexed.rows("SELECT call_id FROM call ORDER BY 1") == [("c1",), ("c2",)]


def test_a_subagent_of_opencode_counts_once(indexed: Indexed) -> None:
    """The index has it as a session of its own; summaries and rows of its ancestors include it."""
    opencode(indexed, "ses_a", 0, (10, tool("c1", 10, "task", sessionId="ses_b")))
    opencode(indexed, "ses_b", 11, (20, tool("c2", 20, "task", sessionId="ses_c")), above="ses_a")
    opencode(indexed, "ses_c", 21, (30, tool("c3", 30)), above="ses_b")
    assert views(indexed, "opencode") == {
        "ses_a": ((1, 1, 10, 0.01), (1, 3, 60, 0.03), (3,)),
        "ses_b": ((1, 1, 20, 0.01), (1, 2, 50, 0.02), (2,)),
        "ses_c": ((1, 1, 30, 0.01), (1, 1, 30, 0.01), (1,)),
    }
    tokens = summary(indexed.machine.home / ".local/share/opencode/opencode.db/ses_a")["tokens"]
    assert tokens["context_used"] == 11  # not that of a subagent


def pi(indexed: Indexed, name: str, began: str, *entries: tuple[str, str], **header: str) -> None:
    """Write a session of Pi: each entry has an id and a time, and is a prompt, a call and its result."""
    lines: list[Json] = [{**HEADER, "id": name, "timestamp": began, **header}]
    cost = {"input": 5, "output": 1, "cost": {"total": 0.01}}
    for entry, at in entries:
        asked = assistant(call(f"call_{entry}", "bash", command="ls"), stop="toolUse", usage=cost)
        result = {"role": "toolResult", "toolCallId": f"call_{entry}", "toolName": "bash", "content": []}
        for number, message in enumerate((pi_user("go"), asked, result)):
            ids = {"id": f"{entry}{number}", "parentId": lines[-1].get("id") if len(lines) > 1 else None}
            lines.append({"type": "message", **ids, "timestamp": at, "message": message})
    folder = indexed.machine.home / ".pi/agent/sessions/--w--"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"2026_{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    os.utime(folder / f"2026_{name}.jsonl", (1_795_000_000 + len(entries),) * 2)


def test_a_fork_of_pi_counts_what_is_its_own(indexed: Indexed) -> None:
    """Its entries keep their ids and times. A copy whose header names no parent counts once in the index."""
    first, second = ("a", "2026-11-20T10:00:00.000Z"), ("b", "2026-11-20T12:00:00.000Z")
    pi(indexed, "one", "2026-11-20T09:00:00.000Z", first)
    pi(indexed, "two", "2026-11-20T11:00:00.000Z", first, second, parentSession="/w/one.jsonl")
    one, two = ((1, 1, 5, 0.01), (1, 1, 5, 0.01), (1,)), ((1, 1, 5, 0.01), (1, 1, 5, 0.01), (1,))
    assert views(indexed, "pi") == {"one": one, "two": two}
    third = ("c", "2026-11-20T13:00:00.000Z")
    pi(indexed, "copy", "2026-11-20T09:00:00.000Z", first, second, third)
    assert views(indexed, "pi")["copy"][:2] == ((1, 1, 5, 0.01), (3, 3, 15, 0.03))
    assert indexed.rows("SELECT call_id FROM call ORDER BY 1") == [("call_a",), ("call_b",), ("call_c",)]
