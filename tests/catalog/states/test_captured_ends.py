"""The states of captured sessions, by their last lines and whether their process runs."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from agentwatch.agents.found import Found
from agentwatch.agents.reported import Life, State
from agentwatch.catalog.digest.reading import Tail
from agentwatch.catalog.standing import Ground, Process
from agentwatch.catalog.states import standing
from tests.builders.captures import Captures
from tests.conftest import case


class Case(NamedTuple):
    """A capture, its states when the process has ended and while it runs, and the words of the former."""

    file: str
    dead: State
    live: State
    now: str = ""
    ground: Ground = Ground.SAID
    parent: str | None = None


REFUSED = "400 scripted refusal"
OK, BAD, CUT, NONE = State.SUCCEEDED, State.FAILED, State.UNFINISHED, State.UNKNOWN
TURN, STOPPED, WORKING = State.YOUR_TURN, State.TURN_FAILED, State.WORKING
CASES = [
    Case("claude-transcript/own-2.1.330/279aaafe-*.jsonl", BAD, STOPPED, f"API Error: {REFUSED}"),
    Case("claude-transcript/own-2.1.330/72f3da5c-*.jsonl", OK, TURN),
    Case("claude-transcript/own-2.1.330/56e980f7-*.jsonl", OK, TURN),
    Case("claude-transcript/own-2.1.330/*/subagents/*.jsonl", OK, OK, parent="main"),
    Case("codex-rollout/own-0.169/*01a20051*.jsonl", OK, TURN),
    Case("codex-rollout/own-0.169/*01a2005e*.jsonl", OK, TURN),
    Case("gemini-chat/own-0.61/proj/chats/*70a6e3dc.jsonl", OK, TURN, ground=Ground.INFERRED),
    Case("gemini-chat/own-0.61/proj/chats/*710af93e.jsonl", CUT, WORKING, "no answer", Ground.INFERRED),
    Case("qwen-chat/own-0.24.4/7c021896-*.jsonl", OK, TURN),
    Case("qwen-chat/own-0.24.4/912bb8e5-*.jsonl", BAD, STOPPED, REFUSED),
    Case("pi-session/own-0.73.1/*01a2005e-2f25-*.jsonl", OK, TURN),
    Case("pi-session/own-0.73.1/*01a2005e-46d1-*.jsonl", BAD, STOPPED, REFUSED),
    Case("copilot-events/own-1.0.102/7e16c16c-*/events.jsonl", OK, TURN),
    Case("copilot-events/own-1.0.102/b3f2996e-*/events.jsonl", BAD, STOPPED, REFUSED),
    Case("copilot-events/made/3e9b6c58-*/events.jsonl", CUT, WORKING, "bash make light", Ground.INFERRED),
    Case("cursor-transcript/made/small.jsonl", OK, TURN),
    Case("cursor-transcript/made/large.jsonl", NONE, NONE, "Good night.", Ground.UNKNOWN),
]
OF_OTHERS = [
    Case("copilot-events/agent-sessions/large.jsonl", CUT, WORKING, "bash echo hi", Ground.INFERRED),
    Case("cursor-transcript/agent-sessions/small.jsonl", OK, TURN),
    Case("cursor-transcript/agent-sessions/large.jsonl", NONE, NONE, "You are welcome.", Ground.UNKNOWN),
]


def test_a_captured_session_ends_as_it_did(captures: Captures, tmp_path: Path) -> None:
    """A failed turn is not taken for a good one, and an open one for neither."""
    for ended in CASES if captures.is_own else OF_OTHERS:
        with case(ended.file):
            (source,) = captures.find(f"disk/{ended.file}")
            path = tmp_path / source.name
            path.write_bytes(source.read_bytes())
            agent = ended.file.partition("-")[0]
            session = Found(
                agent, "s1", path, path.stat().st_size, path.stat().st_mtime_ns, parent=ended.parent
            )
            tail = Tail(session)
            tail.update()
            tail.settle()
            assert tail.digest is not None
            now_ms = (tail.digest.seen_ms or 0) + 1_000
            dead = standing(session, tail.digest, None, None, Life.DEAD, now_ms)
            assert dead[:2] == (ended.dead, ended.ground)
            assert dead.now == ended.now
            process = Process(1, 1, agent, began_ms=tail.digest.began_ms)
            assert standing(session, tail.digest, None, process, Life.LIVE, now_ms).state is ended.live
            other_host = standing(session, tail.digest, None, None, Life.UNKNOWN, now_ms)
            assert other_host.state is (ended.dead if ended.parent else State.UNKNOWN)
