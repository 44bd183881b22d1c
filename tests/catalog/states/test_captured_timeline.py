"""Claude Code's own record beside its lines, as they changed: each state is right at each change."""

import ast
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents.claude.reported import record_of
from agentwatch.agents.session_entry import SessionEntry
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog.digest.reading import Tail, apply_lines, decoder_for, digest_of, format_of
from agentwatch.catalog.session_status import Ground, Process, SessionStatus
from agentwatch.catalog.states import status
from tests.builders.captures import OWN, Captures
from tests.catalog.states.cases import NOW_MS, found, process
from tests.conftest import case

ID = "279aaafe-55af-410f-8602-dcb83b5e850d"
DISK = OWN / "disk"
TIMELINE = DISK / "claude-registry/status-against-transcript-timeline.txt"
FILE = DISK / f"claude-transcript/own-2.1.330/{ID}.jsonl"
W, A, Y, F = State.WORKING, State.ASKS, State.YOUR_TURN, State.TURN_FAILED


class Moment(NamedTuple):
    """The state after one change."""

    mark: str
    """What the user did last."""
    known: SessionStatus


def played(*, has_record: bool) -> Iterator[Moment]:
    """Play the capture, and yield the state after each change of the record or of the file."""
    session = found("claude")._replace(id=ID)
    digest = digest_of(session, format_of(session))
    digest.is_whole = True
    decoder = decoder_for(digest)
    lines = iter(FILE.read_bytes().splitlines())
    fields: dict[str, object] = {}
    reported: StateReport | None = None
    mark = "start"
    for text in TIMELINE.read_text().splitlines():
        if text.startswith("----"):
            mark = text.removeprefix("----").strip()
            continue
        seconds, kind, rest = text.split(maxsplit=2)
        if kind == "REG" and ID in rest:
            changed = ast.literal_eval(rest.partition(" ")[2])
            fields = {**fields, **changed, "statusUpdatedAt": NOW_MS + int(float(seconds) * 1000)}
            if "waitingFor" not in changed:
                fields.pop("waitingFor", None)
            record = record_of(fields, 1416)
            assert record is not None
            reported = record.reported
        elif kind == "LINE" and rest.startswith(ID[:14]):
            apply_lines(digest, decoder, [next(lines)])
        else:
            continue
        report = reported if has_record else None
        known = status(session, digest, report, process("claude"), Life.LIVE, digest.seen_ms or NOW_MS)
        yield Moment(mark, known)
    assert next(lines, None) is None


def by_mark(*, has_record: bool) -> dict[str, list[State]]:
    """Return the states that follow each other after each action of the user."""
    return {
        mark: [state for state, _ in groupby(moment.known.state for moment in moments)]
        for mark, moments in groupby(played(has_record=has_record), key=lambda moment: moment.mark)
    }


def test_each_state_is_what_the_record_says() -> None:
    """Between two actions of the user, the states follow each other as they were seen on the screen."""
    assert by_mark(has_record=True) == {
        "start": [Y, W, A],
        "approve": [W, Y],
        "ask": [W, A, W, Y],
        "edit": [Y, W, A, W, A, W, Y],
        "sub": [W, Y, W, Y],
        "long+allow": [W, Y],
        "slow model then esc": [W, Y],
        "denied": [W, A, Y, F],
        "bang shell": [W, F, Y],
        "api error": [W, Y, F],
        "compact": [W, F],
        "slash dialog /model": [A, F],
        "P2 new session": [F],
    }


def test_a_row_says_what_is_asked_and_what_runs() -> None:
    """The questions and calls are named as soon as their lines are written, and nothing is inferred but how
    a turn with several tries ended, until the line that says it."""
    moments = [*played(has_record=True)]
    inferred = {moment.mark: moment.known.now for moment in moments if moment.known.ground is Ground.INFERRED}
    assert inferred == {"api error": "cancelled"}
    shown = dict.fromkeys(moment.known[:4:3] for moment in moments)
    assert [now for state, now in shown if state is A] == [
        *("permission", "Bash touch /tmp/zz-perm && rm -f /tmp/zz-perm"),
        *("question", "AskUserQuestion Which database?", "Write a.txt", "Edit a.txt", "dialog"),
    ]
    assert {"Count files", "sleep 60", "a.txt"} < {now for state, now in shown if state is W}
    assert {now for state, now in shown if state is F} == {"cancelled", "API Error: 400 scripted refusal"}
    assert {now for state, now in shown if state is Y} >= {"", "Noted.", "Edited.", "Done waiting."}


def test_the_lines_alone_are_wrong_in_known_cases() -> None:
    """Without the record, a question seems to run at first, and Esc while the model thinks is not seen."""
    reported, shown = by_mark(has_record=True), by_mark(has_record=False)
    last = {mark: (states[-1], shown[mark][-1]) for mark, states in reported.items() if mark in shown}
    assert {mark: states for mark, states in last.items() if states[0] is not states[1]} == {
        "start": (A, W),
        "slow model then esc": (Y, W),
    }


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
            session = SessionEntry(
                agent, "s1", path, path.stat().st_size, path.stat().st_mtime_ns, parent=ended.parent
            )
            tail = Tail(session)
            tail.update()
            tail.settle()
            assert tail.digest is not None
            now_ms = (tail.digest.seen_ms or 0) + 1_000
            dead = status(session, tail.digest, None, None, Life.DEAD, now_ms)
            assert dead[:2] == (ended.dead, ended.ground)
            assert dead.now == ended.now
            process = Process(1, 1, agent, began_ms=tail.digest.began_ms)
            assert status(session, tail.digest, None, process, Life.LIVE, now_ms).state is ended.live
            other_host = status(session, tail.digest, None, None, Life.UNKNOWN, now_ms)
            assert other_host.state is (ended.dead if ended.parent else State.UNKNOWN)
