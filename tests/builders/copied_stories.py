"""Sessions of six agents with known numbers, which are forked, resumed, replayed, rewound and nested.

A step is a call and the request that made it. All requests have different numbers, so that a view which adds
one too many, or leaves one out, says another sum.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.builders.codex.lines import copied, file_name, meta, name_at, turn
from tests.builders.formats import gemini_chat as gemini
from tests.builders.machine.made import Story as Made
from tests.builders.machine.made import id_of

Json = dict[str, Any]
BEGAN_MS = 1_795_300_000_000
CWD = "/w"
FORKED_MS, MORE_MS = 10_000_000, 11_000_000
"""When a session is forked or resumed, after its beginning, and when it continues."""


class Step(NamedTuple):
    """A request with a call: its input tokens, of which half were cached; a tenth were written."""

    tokens: int
    fails: bool = False
    inner: tuple[int, ...] = ()
    """The requests of the subagent that the call starts, each with a call that succeeds."""


Turns = tuple[tuple[Step, ...], ...]


class Written(NamedTuple):
    """A session in a file, and what is true of it."""

    id: str
    turns: Turns
    """Its own ones."""
    rewound: int = 0
    """How many of these the user took back."""


def _steps() -> st.SearchStrategy[Step]:
    return st.builds(Step, st.just(0), st.booleans(), st.sampled_from([(), (), (0,), (0, 0)]))


@st.composite
def stories(draw: st.DrawFn) -> tuple[Turns, Turns]:
    """Draw the turns of a session, and those that follow what happens to it."""
    turns = st.lists(st.lists(_steps(), min_size=1, max_size=3), min_size=1, max_size=3)
    first, more = draw(turns), draw(turns)
    number = 0

    def numbered(step: Step) -> Step:
        nonlocal number
        number += 1
        inner = tuple(10 * (1 << number) + 1000 * at for at, _ in enumerate(step.inner, 1))
        return step._replace(tokens=10 * (1 << number), inner=inner)

    whole = [tuple(tuple(map(numbered, turn)) for turn in turns) for turns in (first, more)]
    return whole[0], whole[1]


def truth(session: Written) -> Json:
    """Return the numbers that each view must say."""
    steps = [step for turn in session.turns for step in turn]
    tokens = [count for step in steps for count in (step.tokens, *step.inner)]
    return {
        "calls": len(tokens),
        "failed": sum(step.fails for step in steps),
        "rejected": 0,
        "cancelled": 0,
        "input": sum(tokens),
        "cached": sum(each // 2 for each in tokens),
        "output": sum(each // 10 for each in tokens),
        "turns": len(session.turns) - session.rewound,
    }


def iso(at_ms: int) -> str:
    return Made("", "", "", at_ms).at(0)


def save(path: Path, lines: Iterable[Json]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


def without_inner(turns: Turns) -> Turns:
    """Return turns whose calls start no subagents."""
    return tuple(tuple(step._replace(inner=()) for step in turn) for turn in turns)


# Claude Code: a fork names what it copies; a resume may write all lines again with new uuids.


def _claude(session: str, turns: Turns, first: int, at_ms: int, parent: str | None = None) -> list[Json]:
    def line(kind: str, key: str, message: Json, **more: Any) -> Json:
        nonlocal parent
        more["parentUuid"], parent = parent, key
        common = {"sessionId": session, "cwd": CWD, "version": "2.1.330", "isSidechain": False, "uuid": key}
        return {"type": kind, "timestamp": iso(at_ms + number * 1000), "message": message, **common, **more}

    lines: list[Json] = []
    for number, steps in enumerate(turns, first):
        lines.append(line("user", f"p{number}", {"role": "user", "content": f"prompt {number}"}))
        for step in steps:
            key = f"{number}-{step.tokens}"
            lines += _claude_step(line, key, step.tokens, "Task" if step.inner else "Bash", fails=step.fails)
        text = {"role": "assistant", "model": "opus", "content": [{"type": "text", "text": "Done."}]}
        lines.append(
            line("assistant", f"e{number}", {**text, "id": f"end{number}", "stop_reason": "end_turn"})
        )
    return lines


def _claude_step(line: Callable[..., Json], key: str, tokens: int, tool: str, *, fails: bool) -> list[Json]:
    usage = {"input_tokens": tokens - tokens // 2, "cache_read_input_tokens": tokens // 2}
    given = {"command": "ls"} if tool == "Bash" else {"prompt": "look", "description": key}
    block = {"type": "tool_use", "id": f"toolu_{key}", "name": tool, "input": given}
    message = {"id": f"msg_{key}", "role": "assistant", "model": "opus", "content": [block]}
    counts = {"usage": usage | {"output_tokens": tokens // 10}}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{key}", "content": "ok", "is_error": fails}
    return [
        line("assistant", f"a{key}", message | counts, requestId=f"req_{key}"),
        line("user", f"r{key}", {"role": "user", "content": [result]}),
    ]


def _claude_subagents(home: Path, session: str, turns: Turns, first: int, at_ms: int = BEGAN_MS) -> None:
    for number, steps in enumerate(turns, first):
        for step in steps:
            agent = f"a{number}{step.tokens}"
            lines: list[Json] = []

            def line(kind: str, key: str, message: Json, *, agent: str = agent, **more: Any) -> Json:
                common = {
                    "sessionId": session,
                    "cwd": CWD,
                    "isSidechain": True,
                    "agentId": agent,
                    "uuid": key,
                }
                return {"type": kind, "timestamp": iso(at_ms), "message": message, **common, **more}

            for tokens in step.inner:
                lines += _claude_step(line, f"{agent}-{tokens}", tokens, "Bash", fails=False)
            if lines:
                path = home / f".claude/projects/-w/{session}/subagents/agent-{agent}.jsonl"
                prompt = line("user", f"p{agent}", {"role": "user", "content": "look"})
                save(path, [prompt, *lines])
                about = {"agentType": "x", "description": "d", "toolUseId": f"toolu_{number}-{step.tokens}"}
                path.with_suffix(".meta.json").write_text(json.dumps(about))


def claude(home: Path, story: Turns, more: Turns) -> list[Written]:
    """Write a session, a fork of it, and one that was resumed with all lines written again."""
    whole, fork, again = map(id_of, (1, 2, 3))
    folder, first = home / ".claude/projects/-w", _claude(whole, story, 0, BEGAN_MS)
    save(folder / f"{whole}.jsonl", first)
    _claude_subagents(home, whole, story, 0)
    after = len(story)
    named = [
        line | {"sessionId": fork, "forkedFrom": {"sessionId": whole, "messageUuid": line["uuid"]}}
        for line in first
    ]
    own = _claude(fork, more, after, BEGAN_MS + MORE_MS, first[-1]["uuid"])
    save(folder / f"{fork}.jsonl", [*named, *own])
    _claude_subagents(home, fork, more, after, BEGAN_MS + MORE_MS + after * 1000 + 5000)
    old = _claude(again, _shifted(story), 100, BEGAN_MS)
    new = [line | {key: line[key] and f"{line[key]}-again" for key in ("uuid", "parentUuid")} for line in old]
    own = _claude(again, _shifted(more), 200, BEGAN_MS + MORE_MS, new[-1]["uuid"])
    save(folder / f"{again}.jsonl", [*old, *new, *own])
    resumed = Written(again, (*_shifted(story), *_shifted(more)))
    return [Written(whole, story), Written(fork, more), resumed]


def _shifted(turns: Turns) -> Turns:
    """Return turns with other requests, without subagents."""
    return tuple(tuple(Step(step.tokens + 1_000_000, step.fails) for step in turn) for turn in turns)


# Codex: a fork copies lines with their turns and the counts of the thread.


def _codex(thread: str, turns: Turns, first: int, total: int, at_ms: int) -> list[Json]:
    lines = []
    for number, (step,) in enumerate(turns, first):
        total += step.tokens
        begun = at_ms + number * 60_000
        of_turn = turn(thread, begun, number, total, step.tokens)
        for line in of_turn:
            if line["payload"].get("type") == "function_call_output" and step.fails:
                line["payload"]["output"] = "Process exited with code 1\nOutput:\nno"
        lines += of_turn
    return lines


def codex(home: Path, story: Turns, more: Turns) -> list[Written]:
    """Write a thread, a fork of it, and one whose last turn was taken back."""
    story, more = _one_each(story), _one_each(more)
    thread, fork, back = (name_at(BEGAN_MS + number, number) for number in (1, 2, 3))
    day = home / ".codex/sessions/2026/11/21"
    whole = [meta(thread, BEGAN_MS), *_codex(thread, story, 0, 0, BEGAN_MS)]
    save(day / file_name(BEGAN_MS, thread), whole)
    at_ms, before = BEGAN_MS + FORKED_MS, sum(step.tokens for (step,) in story)
    begin = [meta(fork, at_ms, forked_from_id=thread), *copied(whole, at_ms)]
    own = _codex(fork, more, len(story) + 1, before, at_ms)
    save(day / file_name(at_ms, fork), [*begin, *own])
    taken = [
        {
            "timestamp": iso(at_ms),
            "type": "event_msg",
            "payload": {"type": "thread_rolled_back", "num_turns": 1},
        }
    ]
    lines = [meta(back, BEGAN_MS + 3), *_codex(back, story, 0, 0, BEGAN_MS + 3), *taken]
    later = _codex(back, more, len(story) + 1, before, at_ms)
    save(day / file_name(BEGAN_MS + 3000, back), [*lines, *later])
    return [Written(thread, story), Written(fork, more), Written(back, (*story, *more), rewound=1)]


def _one_each(turns: Turns) -> Turns:
    return tuple((step._replace(inner=()),) for turn in turns for step in turn)


# opencode: a fork copies messages with new ids and their old times; a subagent is a session of its own.

_TABLES = {
    "session": "id TEXT, parent_id TEXT, directory TEXT, version TEXT, time_created INT, time_updated INT",
    "message": "id TEXT, session_id TEXT, time_created INT, time_updated INT, data TEXT",
    "part": "id TEXT, session_id TEXT, message_id TEXT, time_created INT, time_updated INT, data TEXT",
}
Rows = dict[str, list[tuple[Any, ...]]]


def _opencode(rows: Rows, session: str, turns: Turns, at_ms: int, name: str) -> None:
    for number, steps in enumerate(turns):
        user = f"msg_{name}{number}u"
        begun = at_ms + number * 100_000
        _message(rows, session, user, begun, {"role": "user", "time": {"created": begun}})
        _part(rows, session, user, begun, {"type": "text", "text": f"prompt {number}"})
        for at, step in enumerate(steps, 1):
            last = at == len(steps)
            child = f"ses_{name}{number}s{at}" if step.inner else None
            _opencode_step(
                rows, session, f"msg_{name}{number}s{at}", begun + at * 1000, step, child, is_last=last
            )
            if child is not None:
                created = begun + at * 1000 + 100
                rows["session"].append((child, session, CWD, "1.18.33", created, created))
                inner = tuple(Step(tokens) for tokens in step.inner)
                _opencode(rows, child, (inner,), created, f"{name}{number}s{at}c")


def _opencode_step(
    rows: Rows, session: str, message: str, at_ms: int, step: Step, child: str | None, *, is_last: bool
) -> None:
    ended = {"created": at_ms, "completed": at_ms + 500}
    data = {"role": "assistant", "time": ended, "modelID": "m", "finish": "stop" if is_last else "tool-calls"}
    _message(rows, session, message, at_ms, data)
    state: Json = (
        {"status": "error", "error": "no"} if step.fails else {"status": "completed", "output": "ok"}
    )
    state |= {"input": {"command": "ls"}, "time": {"start": at_ms, "end": at_ms + 100}}
    if child is not None:
        state |= {"input": {"prompt": "look", "description": "d"}, "metadata": {"sessionId": child}}
    tool = {"type": "tool", "tool": "bash" if child is None else "task", "callID": f"call_{message}"}
    half = step.tokens // 2
    cache = {"read": half, "write": 0}
    tokens = {"input": step.tokens - half, "output": step.tokens // 10, "reasoning": 0, "cache": cache}
    end = {"type": "step-finish", "reason": data["finish"], "tokens": tokens, "cost": 0}
    if is_last and child is None:
        end["reason"] = "stop"
    for part in ({"type": "step-start"}, {**tool, "state": state}, end):
        _part(rows, session, message, at_ms, part)


def _message(rows: Rows, session: str, name: str, at_ms: int, data: Json) -> None:
    rows["message"].append((name, session, at_ms, at_ms, json.dumps(data)))


def _part(rows: Rows, session: str, message: str, at_ms: int, data: Json) -> None:
    name = f"prt_{len(rows['part']):05}"
    rows["part"].append((name, session, message, at_ms, at_ms, json.dumps(data)))


def opencode(home: Path, story: Turns, more: Turns) -> list[Written]:
    """Write a session with subagents, and a fork of it."""
    rows: Rows = {table: [] for table in _TABLES}
    at_ms = BEGAN_MS + FORKED_MS
    for session, created in (("ses_whole", BEGAN_MS), ("ses_fork", at_ms)):
        rows["session"].append((session, None, CWD, "1.18.33", created, created))
    _opencode(rows, "ses_whole", story, BEGAN_MS, "w")
    _opencode(rows, "ses_fork", without_inner(story), BEGAN_MS, "f")
    _opencode(rows, "ses_fork", more, at_ms + 1000, "o")
    path = home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, columns in _TABLES.items():
            connection.execute(f"CREATE TABLE {table} ({columns})")
            places = ", ".join("?" * (columns.count(",") + 1))
            connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows[table])
    return [Written("ses_whole", story), Written("ses_fork", more)]


# Pi: a fork keeps ids and times in a second file; going back begins another branch in the same file.


def _pi(turns: Turns, first: int, at_ms: int, parent: str | None) -> list[Json]:
    lines: list[Json] = []

    def entry(key: str, message: Json) -> None:
        nonlocal parent
        at = at_ms + len(lines) * 1000
        line = {"type": "message", "id": key, "parentId": parent, "timestamp": iso(at)}
        lines.append(line | {"message": {**message, "timestamp": at}})
        parent = key

    def text(words: str) -> list[Json]:
        return [{"type": "text", "text": words}]

    said = {"role": "assistant", "model": "m", "provider": "p"}
    for number, steps in enumerate(turns, first):
        entry(f"p{number}", {"role": "user", "content": text(f"prompt {number}")})
        for step in steps:
            key = f"{number}-{step.tokens}"
            half = step.tokens // 2
            usage = {
                "input": step.tokens - half,
                "cacheRead": half,
                "cacheWrite": 0,
                "output": step.tokens // 10,
            }
            call = {"type": "toolCall", "id": f"c{key}", "name": "bash", "arguments": {"command": "ls"}}
            entry(f"a{key}", {**said, "content": [call], "stopReason": "toolUse", "usage": usage})
            result = {
                "role": "toolResult",
                "toolCallId": f"c{key}",
                "toolName": "bash",
                "content": text("ok"),
            }
            entry(f"r{key}", {**result, "isError": step.fails})
        entry(f"e{number}", {**said, "content": text("Done."), "stopReason": "stop"})
    return lines


def pi(home: Path, story: Turns, more: Turns) -> list[Written]:
    """Write a session, a fork of it, and one in which the user went back before the last prompt."""
    story, more = without_inner(story), without_inner(more)
    folder, at_ms = home / ".pi/agent/sessions/--w--", BEGAN_MS + FORKED_MS
    names = [id_of(number) for number in (11, 12, 13)]
    heads = [
        {"type": "session", "version": 3, "id": name, "timestamp": iso(began), "cwd": CWD}
        for name, began in zip(names, (BEGAN_MS, at_ms, BEGAN_MS), strict=True)
    ]
    first = _pi(story, 0, BEGAN_MS, None)
    path = folder / f"a_{names[0]}.jsonl"
    save(path, [heads[0], *first])
    own = _pi(more, len(story), at_ms + 1000, first[-1]["id"])
    save(folder / f"b_{names[1]}.jsonl", [heads[1] | {"parentSession": str(path)}, *first, *own])
    other = _pi(_shifted(story), 50, BEGAN_MS, None)
    back = next(line["parentId"] for line in reversed(other) if line["message"]["role"] == "user")
    later = _pi(_shifted(more), 60, at_ms, back)
    save(folder / f"c_{names[2]}.jsonl", [heads[2], *other, *later])
    rewound = Written(names[2], (*_shifted(story), *_shifted(more)), rewound=1)
    return [Written(names[0], story), Written(names[1], more), rewound]


# Gemini: a message is written again when its calls have ended, and all of them by `$set`.


def _gemini(turns: Turns, first: int, at_ms: int) -> list[Json]:
    lines: list[Json] = []
    for number, steps in enumerate(turns, first):
        at = {"timestamp": iso(at_ms + number * 1000)}
        lines.append(gemini.prompt(f"prompt {number}", f"p{number}") | at)
        for step in steps:
            key = f"{number}-{step.tokens}"
            status = "error" if step.fails else "success"
            tokens = {"input": step.tokens, "cached": step.tokens // 2, "output": step.tokens // 10}
            call = gemini.call(f"c{key}", "run_shell_command", status, args={"command": "ls"}, **at)
            counts = tokens | {"thoughts": 0, "tool": 0, "total": step.tokens}
            lines.append(gemini.answer("", f"a{key}", tokens=counts) | at)
            lines.append(gemini.answer("", f"a{key}", call, tokens=counts) | at)
        lines.append(gemini.answer("Done.", f"e{number}") | at)
    return lines


def gemini_cli(home: Path, story: Turns, more: Turns) -> list[Written]:
    """Write a session that was resumed with all messages written again. Its subagents have files of their
    own, in a folder that is named by the session; those of the resumed one are subagents of subagents.
    """
    name, chats = id_of(21), home / ".gemini/tmp/w/chats"
    head = {**gemini.START, "sessionId": name, "startTime": iso(BEGAN_MS), "lastUpdated": iso(BEGAN_MS)}
    first = _gemini(story, 0, BEGAN_MS)
    above = name
    for number, turns in ((0, story), (100, more)):
        for step in (step for steps in turns for step in steps if step.inner):
            child = f"agent-{step.tokens}"
            inner = (tuple(Step(tokens) for tokens in step.inner),)
            begin = head | {"sessionId": child, "kind": "subagent"}
            save(chats / above / f"{child}.jsonl", [begin, *_gemini(inner, number, BEGAN_MS + 1000)])
            above = child
    last = {line["id"]: line for line in first}
    later = _gemini(more, len(story), BEGAN_MS + MORE_MS)
    lines = [head, *first, gemini.replaced(*last.values()), *later]
    save(chats / f"session-2026-11-21T23-08-{name[:8]}.jsonl", lines)
    return [Written(name, (*story, *more))]


# Copilot: a resume goes on in the same file; the metrics at the end of a run are of all runs.


def copilot(home: Path, story: Turns, more: Turns) -> list[Written]:
    """Write a session that was resumed, whose subagents write to the same file."""
    name, lines = id_of(31), list[Json]()

    def add(kind: str, data: Json, agent: str | None = None) -> None:
        at = iso(BEGAN_MS + len(lines) * 1000)
        own = {} if agent is None else {"agentId": agent}
        lines.append({"type": kind, "data": data, "id": f"e{len(lines)}", "timestamp": at, **own})

    def call(
        key: str, tool: str, *, fails: bool, inner: Iterable[int] = (), agent: str | None = None
    ) -> None:
        arguments = {"command": "ls"} if tool == "bash" else {"prompt": "look", "description": "d"}
        request = {"toolCallId": key, "name": tool, "arguments": arguments}
        add("assistant.message", {"messageId": f"m{key}", "content": "", "toolRequests": [request]}, agent)
        add("tool.execution_start", {"toolCallId": key, "toolName": tool, "arguments": arguments}, agent)
        for number, _ in enumerate(inner):
            call(f"{key}i{number}", "bash", fails=False, agent=key)
        add(
            "tool.execution_complete",
            {"toolCallId": key, "success": not fails, "result": {"content": "ok"}},
            agent,
        )

    start = {"sessionId": name, "version": 1, "copilotVersion": "1.0.102", "startTime": iso(BEGAN_MS)}
    add("session.start", {**start, "context": {"cwd": CWD}})
    used = 0
    written = 0
    for number, turns in enumerate((story, more)):
        if number:
            add("session.resume", {"resumeTime": iso(BEGAN_MS + MORE_MS), "eventCount": len(lines)})
        for at, steps in enumerate(turns):
            add("user.message", {"content": f"prompt {number} {at}"})
            add("assistant.turn_start", {"turnId": "0"})
            for step in steps:
                tool = "task" if step.inner else "bash"
                call(f"c{number}{at}{step.tokens}", tool, fails=step.fails, inner=step.inner)
                used += step.tokens + sum(step.inner)
                written += step.tokens // 10 + sum(tokens // 10 for tokens in step.inner)
            add("assistant.message", {"messageId": f"e{number}{at}", "content": "Done.", "toolRequests": []})
            add("assistant.turn_end", {"turnId": "0"})
        usage = {"inputTokens": used, "cacheReadTokens": used // 2, "outputTokens": written}
        add("session.shutdown", {"shutdownType": "routine", "modelMetrics": {"m": {"usage": usage}}})
    save(home / f".copilot/session-state/{name}/events.jsonl", lines)
    return [Written(name, (*story, *more))]


WRITERS: Mapping[str, Callable[[Path, Turns, Turns], list[Written]]] = {
    "claude": claude,
    "codex": codex,
    "opencode": opencode,
    "pi": pi,
    "gemini": gemini_cli,
    "copilot": copilot,
}
"""By the agent's short name: what writes a session, and what happens to it, below a home folder."""
