"""The states that follow from lines, one after the other, as an agent writes them."""

import json
from pathlib import Path

import pytest

from agentwatch.agents.session_entry import SessionEntry
from agentwatch.agents.state_report import Life, State
from agentwatch.catalog.digest.reading import apply_lines, decoder_for, digest_of, format_of
from agentwatch.catalog.session_status import Ground, Group, SessionStatus
from agentwatch.catalog.states import status
from tests.catalog.states.cases import NOW_MS, process, reported

AT = "2026-11-21T22:50:54.020Z"
"""The time NOW_MS, as agents write it."""
Json = dict[str, object]


class Played:
    """A session whose lines are written one by one, at NOW_MS."""

    def __init__(self, agent: str) -> None:
        self.found = SessionEntry(agent, "s1", Path("/s1.jsonl"), 0, 0)
        self.digest = digest_of(self.found, format_of(self.found))
        self.digest.is_whole = True
        self._decoder = decoder_for(self.digest)

    def write(self, kind: str, key: str = "payload", **fields: object) -> None:
        line = {"type": kind, "timestamp": AT, key: fields}
        apply_lines(self.digest, self._decoder, [json.dumps(line).encode()])

    def after(
        self, seconds: int, *, child_ago_ms: int | None = None, life: Life = Life.LIVE
    ) -> SessionStatus:
        """Return the state some seconds later; a child of the agent may have begun."""
        report = reported(None) if self.found.agent == "copilot" else None
        now_ms = NOW_MS + 1000 * seconds
        runs = process(self.found.agent, child_ago_ms=child_ago_ms)
        return status(self.found, self.digest, report, runs, life, now_ms)


def codex() -> Played:
    """Return a session of Codex after its prompt."""
    session = Played("codex")
    session.write("turn_context", approval_policy="on-request", model="gpt", cwd="/w")
    session.write("event_msg", type="task_started", turn_id="t")
    prompt = {"type": "UserMessage", "id": "m", "content": [{"type": "text", "text": "Install it"}]}
    session.write("event_msg", type="item_completed", turn_id="t", item=prompt)
    return session


def call(session: Played) -> None:
    """Write a call of Codex that needs permission."""
    arguments = {"cmd": "npm ci", "sandbox_permissions": "require_escalated", "justification": "network"}
    session.write(
        "response_item",
        type="function_call",
        name="exec_command",
        call_id="c",
        arguments=json.dumps(arguments),
    )


def test_codex_asks_until_the_command_has_a_process_and_may_fail() -> None:
    """Codex writes the call, but neither the question nor the answer. Codex writes `task_complete` after an
    error too, with the error in it."""
    session = codex()
    assert session.after(3)[:2] == (State.WORKING, Ground.INFERRED)
    call(session)
    assert session.after(1).state is State.WORKING
    asks = session.after(2)
    assert asks[:4] == (State.ASKS, Ground.INFERRED, NOW_MS, "exec_command npm ci (no child process)")
    answered = session.after(60, child_ago_ms=0)
    assert (answered.state, answered.now) == (State.WORKING, "npm ci")
    session.write(
        "response_item", type="function_call_output", call_id="c", output="Process exited with code 0"
    )
    assert session.after(3).now == "thinking"
    session = codex()
    error = {"message": "You've hit your usage limit.", "codex_error_info": "usage_limit_exceeded"}
    error |= {"codex_error_info": "server_overloaded"}
    session.write("event_msg", type="task_complete", turn_id="t", last_agent_message=None, error=error)
    assert session.after(3)[:4:3] == (State.TURN_FAILED, "You've hit your usage limit.")
    assert session.after(3, life=Life.DEAD).state is State.FAILED


def test_a_session_that_a_limit_has_refused_waits_for_it() -> None:
    """Once the limit is over, the turn has failed; without a reset, the agent's words are shown."""
    session, reset_s = codex(), NOW_MS // 1000 + 600
    full = {"used_percent": 100.0, "window_minutes": 300, "resets_at": reset_s}
    error = {"message": "You've hit your usage limit.", "codex_error_info": "usage_limit_exceeded"}
    for limits, now in (
        (None, "waits for the limit: You've hit your usage limit."),
        (full, "waits for the limit"),
    ):
        session.write("event_msg", type="token_count", rate_limits={"primary": limits})
        session.write("event_msg", type="task_complete", turn_id="t", last_agent_message=None, error=error)
        until_ms = None if limits is None else reset_s * 1000
        waits = session.after(3)
        assert (waits.state, waits.ground, waits.now, waits.until_ms) == (
            State.LIMITED,
            Ground.SAID,
            now,
            until_ms,
        )
        assert waits.group is Group.QUIET
        assert session.after(3, life=Life.DEAD)[:4:3] == (State.FAILED, "You've hit your usage limit.")
    assert session.after(601).state is State.TURN_FAILED
    session.write("event_msg", type="task_started", turn_id="u")
    session.write("event_msg", type="user_message", message="Again")
    assert session.after(3).state is State.WORKING
    error |= {"codex_error_info": "server_overloaded"}
    session.write("event_msg", type="task_complete", turn_id="u", last_agent_message=None, error=error)
    assert session.after(3).state is State.TURN_FAILED
    # A turn that is open and silent waits for the limit that has refused its request.
    session, error = codex(), {"message": "limit", "codex_error_info": "usage_limit_exceeded"}
    session.write("event_msg", type="error", **error)
    assert session.after(3).state is State.WORKING
    assert session.after(600)[:4:3] == (State.LIMITED, "waits for the limit")
    # A call that was interrupted is not open any more.
    session = codex()
    call(session)
    session.write("event_msg", type="turn_aborted", turn_id="t", reason="interrupted")
    assert session.after(600)[:4:3] == (State.TURN_FAILED, "cancelled")


def test_a_question_that_answers_itself_has_its_end() -> None:
    """The end is known from the line of the question, and gone with its answer."""
    session = codex()
    arguments = json.dumps({"questions": [{"question": "Which port?"}], "autoResolutionMs": 60_000})
    session.write(
        *("response_item", "payload"),
        type="function_call",
        name="request_user_input",
        call_id="q",
        arguments=arguments,
    )
    asks = session.after(3)
    assert (asks.state, asks.until_ms) == (State.ASKS, NOW_MS + 60_000)
    session.write("response_item", type="function_call_output", call_id="q", output="8080")
    assert session.after(3).until_ms is None


def test_copilot_says_what_it_asks_until_the_answer() -> None:
    """The question and the answer of Copilot are lines: nothing is inferred in between."""
    session = Played("copilot")
    session.write("user.message", "data", content="Remove it")
    session.write("assistant.turn_start", "data", turnId="0")
    arguments = {"toolCallId": "c", "toolName": "bash", "arguments": {"command": "rm -rf build"}}
    session.write("tool.execution_start", "data", **arguments)
    assert session.after(60)[:2] == (State.WORKING, Ground.SAID)
    request = {"kind": "shell", "toolCallId": "c", "fullCommandText": "rm -rf build"}
    session.write("permission.requested", "data", requestId="r", permissionRequest=request)
    assert session.after(60)[:4] == (State.ASKS, Ground.SAID, NOW_MS, "bash rm -rf build")
    assert session.after(60, life=Life.DEAD).state is State.UNFINISHED
    session.write("permission.completed", "data", requestId="r", result={"kind": "approved"})
    assert session.after(60)[:4:3] == (State.WORKING, "rm -rf build")


@pytest.mark.parametrize("agent", ["codex", "copilot"])
def test_a_question_outlives_no_turn(agent: str) -> None:
    """Whatever was open, the next prompt begins with the model at work."""
    session = Played(agent)
    if agent == "codex":
        call(session)
        session.write("event_msg", type="turn_aborted", turn_id="t", reason="interrupted")
        prompt = {"type": "UserMessage", "id": "n", "content": [{"type": "text", "text": "Again"}]}
        session.write("event_msg", type="task_started", turn_id="u")
        session.write("event_msg", type="item_completed", turn_id="u", item=prompt)
    else:
        session.write("user.message", "data", content="Remove it")
        session.write("permission.requested", "data", requestId="r", permissionRequest={"toolCallId": "c"})
        assert session.after(3).state is State.ASKS
        session.write("abort", "data", reason="user initiated")
        session.write("user.message", "data", content="Again")
    assert session.after(3)[:4:3] == (State.WORKING, "thinking")
