"""The evidence for a state says in words what decided it, what did not count, and what is missing."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from agentwatch.agents.registry import hooked_agents
from agentwatch.agents.session_entry import OWN, Metadata
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog.digest.digest import Digest, Turn
from agentwatch.catalog.evidence import Facts, Proof, Weight, evidence, facts_of
from agentwatch.catalog.hooks.plan import Hooks
from agentwatch.catalog.local_session import LocalSession
from agentwatch.catalog.session_status import UNKNOWN, Basis, Ground, Process, SessionStatus
from agentwatch.catalog.states import status
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.limits import KnownLimits
from agentwatch.text.times import coming
from tests.builders.machine.rows import row
from tests.catalog.states.cases import (
    MINUTE_MS,
    NOW_MS,
    SECOND_MS,
    call,
    ended,
    found,
    process,
    reported,
    working,
)
from tests.catalog.states.test_any_session import AGENTS
from tests.catalog.states.test_any_session import Any as AnyOf
from tests.conftest import case

DONE = ended(working(), outcome=Outcome.SUCCEEDED, last_text="All done.\n")
FILE = "file /sessions/s1.jsonl"


class Case(NamedTuple):
    """A session, and the sentences about it; each ends with the source in brackets if it has one."""

    name: str
    digest: Digest | None
    decided: list[str]
    outweighed: list[str] = []
    missing: list[str] = []
    agent: str = "codex"
    says: StateReport | None = None
    runs: Process | None = None
    life: Life = Life.LIVE
    facts: dict[str, Any] = {}
    parent: str | None = None
    has_subagent: bool = False


RUNS = "The process runs, and only this session was written in its folder since it began. [process 7]"
NAMED = "The process runs, and the agent reports that it has this session. [process 7]"
NONE_RUNS = "No process of codex runs in the folder of this session. [processes]"
OPEN_CALL = f"The call “Tool pytest -q” has no result. [{FILE}]"
NO_CHILD = "The process has had no child process since then. [process 7]"
CHILD = "A child process began after the call: a call may run. [process 7]"
BUSY = "The process is busy: a call may run. [process 7]"
SUBAGENT = Proof("A subagent wrote a later line.", "file /sessions/s1/sub.jsonl", NOW_MS)
ENDED = f"The last turn has ended: succeeded. [{FILE}]"
OPEN = f"The last turn has begun and not ended. [{FILE}]"
INSTALL = "The hooks of codex: agentwatch hooks install codex lets it report its state."
SERVER = "A report of the server of Codex, which a terminal with options such as -c does not use."
NO_REPORT = "A report of its state, of which codex has written none."
NO_GEMINI = NO_REPORT.replace("codex", "gemini")
HIDDEN = "The call that runs or asks, which gemini writes when it has ended."
NO_END = "The rest of the turn, which was not written before the process ended."
IS_OPEN = "The agent reports that the session is open, and it would report a question. [file /r/7.json]"
REFUSED = f"A usage limit has refused the last request. It does not say until when. [{FILE}]"
TURN = "The agent reports “your turn”. [file /r/7.json]"
HOOK = StateReport(
    "codex",
    "s1",
    Life.UNKNOWN,
    state=State.ASKS,
    since_ms=NOW_MS - 3_000,
    about="permission",
    source="hook /h/s1.log",
)
RECORD = reported(State.YOUR_TURN)._replace(pid=7, source="file /r/7.json")
TWO = [process()._replace(pid=101), process()._replace(pid=102)]
WHICH = "A report of codex that says which process has which session."
RECORDING = "A recording: agentwatch run knows the process that it starts."
SHARED = process()._replace(is_shared=True, viewer=0)

WRITTEN_LAST = "This session is one of those written last in the folder of processes 101, 102"
IN_FOLDER = "The process runs in the folder of this session"


def report_left(reason: str) -> str:
    """Return the sentences about a report that does not count."""
    return f"The agent reports “your turn”. {reason} [file /r/7.json]"


def live(*given: Any, agent: str = "codex", **more: Any) -> Case:
    """Return a session whose process runs."""
    return Case(*given, **more)._replace(agent=agent, runs=process(agent))


CASES = [
    Case("process gone", working(call()), [OPEN_CALL, NONE_RUNS], missing=[NO_END], life=Life.DEAD),
    Case(
        "another process in the folder",
        DONE,
        [ENDED, "Nothing links this session to processes 101, 102. [processes]"],
        life=Life.DEAD,
        facts={"processes": TWO},
    ),
    Case(
        "the process of the record has ended",
        DONE,
        [ENDED, "The process that the agent's record names has ended. [process 7]"],
        [report_left("It counts only while a process has this session.")],
        agent="claude",
        says=RECORD._replace(life=Life.DEAD),
        life=Life.DEAD,
    ),
    live("pid found by folder", DONE, [ENDED, RUNS]),
    Case(
        "hook report",
        working(call()),
        ["The hook reports “asks” (permission). [hook /h/s1.log]", RUNS],
        says=HOOK,
        runs=process(child_ago_ms=4_900),
    ),
    Case(
        "outdated hook report",
        working(call(), seen_ago_ms=100),
        [OPEN_CALL, CHILD, RUNS],
        ["The hook reports “asks”. A newer line or child process outdates it. [hook /h/s1.log]"],
        says=HOOK,
        runs=process(child_ago_ms=500),
    ),
    live(
        "server said",
        working(call()),
        ["The server reports “asks” (permission). [server /run/codex.sock]", RUNS],
        says=HOOK._replace(source="server /run/codex.sock"),
    ),
    live(
        "state file said",
        working(),
        [TURN, NAMED],
        [f"The last turn has begun and not ended. A report counts before the lines. [{FILE}]"],
        agent="claude",
        says=RECORD,
    ),
    live(
        "inferred open call",
        working(call()),
        [OPEN_CALL, NO_CHILD, RUNS],
        missing=[INSTALL, SERVER],
        facts={"has_hooks": False},
    ),
    live(
        "inferred, and the hook is silent",
        working(call()),
        [OPEN_CALL, NO_CHILD, RUNS],
        missing=["A report of the hook, which may be newer than this session.", SERVER],
        facts={"has_hooks": True},
    ),
    live(
        "a call in a mode that never asks",
        replace(working(call()), permission_mode="never"),
        [OPEN_CALL, RUNS],
        [NO_CHILD.replace(" [", " But no call in the mode “never” asks. [")],
        [NO_REPORT, SERVER],
    ),
    Case(
        "two processes in one folder",
        DONE,
        ["It is not known whether processes 101, 102 wrote this session or another one. [processes]"],
        [f"The last turn has ended: succeeded. That does not show whether the process runs. [{FILE}]"],
        [WHICH, RECORDING],
        life=Life.UNKNOWN,
        facts={"processes": TWO},
    ),
    Case(
        "one session, and two processes that may have it",
        DONE,
        [ENDED, "This session is the only one that processes 101, 102 may have written. [processes]"],
        facts={"processes": TWO},
    ),
    Case(
        "no list of processes",
        None,
        ["The processes of this machine are not known. [processes]"],
        missing=["The list of processes, from /proc or from ps and lsof."],
        life=Life.UNKNOWN,
        facts={"processes": None},
    ),
    Case(
        "in a container",
        None,
        ["The process that the agent's record names is on another machine or in a container. [process 7]"],
        [report_left("It counts only while a process is known to have this session.")],
        ["The list of processes where the process runs."],
        agent="claude",
        says=RECORD._replace(life=Life.UNKNOWN),
        life=Life.UNKNOWN,
    ),
    Case(
        "the newest of several",
        DONE,
        [ENDED, f"{IN_FOLDER}, which was written last there. [process 7]"],
        missing=[WHICH, RECORDING],
        runs=process()._replace(is_guess=True),
    ),
    Case(
        "one of the newest, of one of several processes",
        DONE,
        [ENDED, f"{WRITTEN_LAST}; the process ran when it began. [process 7]"],
        missing=[WHICH, RECORDING],
        runs=process()._replace(is_guess=True),
        facts={"processes": TWO},
    ),
    Case(
        "one of the newest, of an unknown one",
        working(call()),
        [
            OPEN_CALL,
            "It is not known which process has the session: a call may run. [processes]",
            f"{WRITTEN_LAST}, and it is not known which of them has it. [processes]",
        ],
        missing=[WHICH, RECORDING],
        runs=Process(0, 0, "codex", children=1, is_guess=True),
        facts={"processes": TWO},
    ),
    Case(
        "an older one of several",
        DONE,
        [ENDED, f"{IN_FOLDER}, and a newer session was written there. [process 7]"],
        missing=[WHICH, RECORDING],
        runs=process()._replace(is_guess=True),
        life=Life.DEAD,
    ),
    Case(
        "its file is open",
        DONE,
        [ENDED, "The process runs, and has the file of this session open. [process 7]"],
        runs=process()._replace(open_paths=("/sessions/s1.jsonl",)),
    ),
    Case(
        "its arguments name it",
        DONE,
        [ENDED, "The process runs, and its arguments name this session. [process 7]"],
        runs=process()._replace(arguments=("resume", "/sessions/s1.jsonl")),
    ),
    Case(
        "no terminal shows it",
        DONE,
        [ENDED, "The process is a daemon, and no terminal shows the session. [process 7]", NAMED],
        [report_left("It counts only while a terminal shows the session.")],
        says=RECORD._replace(agent="codex"),
        runs=SHARED,
    ),
    Case(
        "one prompt",
        DONE,
        [ENDED, "The command answers one prompt, and ends. [process 7]", NAMED],
        [report_left("The command answers one prompt, and has no turn of yours.")],
        agent="claude",
        says=RECORD,
        runs=process("claude")._replace(has_one_prompt=True),
    ),
    Case(
        "one prompt, and a call",
        working(call()),
        [OPEN_CALL, IS_OPEN, CHILD, NAMED],
        [report_left("The command answers one prompt, and has no turn of yours.")],
        agent="claude",
        says=RECORD,
        runs=process("claude", child_ago_ms=4_900)._replace(has_one_prompt=True),
    ),
    Case(
        "a hook, and a child after the answer",
        replace(DONE, seen_ms=NOW_MS - 9_000),
        ["The hook reports “working”. [hook /h/s1.log]", RUNS],
        [f"Nothing follows the last answer. A report counts before the lines. [{FILE}]"],
        agent="gemini",
        says=HOOK._replace(state=State.WORKING, about=""),
        runs=process("gemini", child_ago_ms=8_900),
    ),
    Case(
        "an ended recording",
        ended(working(), outcome=Outcome.FAILED, reason="usage limit.\nmore"),
        [
            f"The last turn has ended: failed: usage limit. [{FILE}]",
            f"No process writes the recording. [{FILE}]",
        ],
        agent=OWN,
        life=Life.DEAD,
    ),
    Case(
        "a recording that is being written",
        replace(working(call()), format="claude-code"),
        [
            OPEN_CALL,
            "The agent reports that the session is open, and it would report a question. [process 7]",
            "agentwatch records the process, which runs. [process 7]",
        ],
        agent=OWN,
        says=reported(None, agent=OWN)._replace(pid=7, has_one_prompt=True),
    ),
    Case(
        "a recording whose command is not known",
        ended(replace(working(), format="cursor"), outcome=Outcome.SUCCEEDED),
        [
            ENDED,
            "A recorded agent answers one prompt, as a rule. The command does not say it. [process 7]",
            "agentwatch records the process, which runs. [process 7]",
        ],
        agent=OWN,
        says=reported(None, agent=OWN)._replace(pid=7),
    ),
    Case(
        "a recording without locks",
        None,
        [f"The file system has no locks that show whether the recording is being written. [{FILE}]"],
        agent=OWN,
        life=Life.UNKNOWN,
    ),
    live(
        "quiet",
        replace(working(seen_ago_ms=10 * MINUTE_MS), usual_pause_ms=40 * SECOND_MS),
        [f"Nothing was written for 10:00. Up to 2:00 is usual here. [{FILE}]", OPEN, RUNS],
        missing=[NO_REPORT, SERVER],
    ),
    live(
        "a question in the lines",
        replace(working(call()), question="shell npm ci", question_ms=NOW_MS - 9),
        [f"The question “shell npm ci” has no answer. [{FILE}]", RUNS],
        agent="copilot",
    ),
    live(
        "a call that is a question",
        working(call(ToolKind.OTHER, "Which?", asks=True)),
        [f"The call “Tool Which?” is a question, and has no answer. [{FILE}]", RUNS],
    ),
    live(
        "silence ends a turn",
        DONE,
        [f"Nothing follows the last answer. [{FILE}]", RUNS],
        missing=[
            INSTALL.replace("codex", "gemini"),
            HIDDEN,
            "A line with the end of a turn, which gemini does not write.",
        ],
        agent="gemini",
        facts={"has_hooks": False},
    ),
    Case(
        "a child after the answer",
        replace(DONE, seen_ms=NOW_MS - 9_000),
        ["A child process began after the last answer. [process 7]", RUNS],
        missing=[NO_GEMINI, HIDDEN],
        agent="gemini",
        runs=process("gemini", child_ago_ms=8_900),
    ),
    *(
        Case(
            f"a title that says {state}",
            DONE,
            [f"The title that the agent gives its pane of tmux says “{state}”. [process 7]", RUNS],
            missing=[NO_GEMINI, HIDDEN],
            agent="gemini",
            runs=process("gemini")._replace(title=state),
        )
        for state in (State.ASKS, State.WORKING)
    ),
    Case(
        "a title that says nothing any more",
        working(seen_ago_ms=9_000),
        ["The title that the agent gives its pane of tmux says “your turn”. [process 7]", RUNS],
        missing=["A report of its state, of which qwen has written none."],
        agent="qwen",
        runs=process("qwen")._replace(title=State.YOUR_TURN),
    ),
    live(
        "a call that is not written",
        replace(working(seen_ago_ms=9_000), is_answered=True, last_text="I will run it."),
        [f"The last answer does not end the turn. [{FILE}]", NO_CHILD, RUNS],
        missing=[NO_GEMINI, HIDDEN],
        agent="gemini",
    ),
    live(
        "a call of an earlier process",
        replace(working(call(ago_ms=200 * MINUTE_MS), seen_ago_ms=200 * MINUTE_MS)),
        ["The process began after the last line: it has resumed the session. [process 7]", RUNS],
        [f"The call “Tool pytest -q” has no result. An earlier process made it. [{FILE}]"],
        [NO_REPORT, SERVER],
    ),
    live("a subagent", DONE, [ENDED], parent="main"),
    live(
        "a subagent that works",
        working(),
        [OPEN, "The process of the session that started this subagent runs. [process 7]"],
        missing=[NO_REPORT, SERVER],
        parent="main",
    ),
    Case(
        "no line can be read",
        None,
        [f"Its lines cannot be read: denied. [{FILE}]", NONE_RUNS],
        life=Life.DEAD,
        facts={"problem": "denied"},
    ),
    live(
        "no prompt",
        Digest(is_whole=True),
        [f"No line has a prompt. [{FILE}]", RUNS],
        missing=[NO_REPORT, SERVER],
    ),
    Case(
        "a server reports it, and the system shows no locks",
        DONE,
        [
            "The server reports “your turn”. [server /s]",
            "The agent reports that it has this session open. [server /s]",
        ],
        says=RECORD._replace(agent="codex", pid=None, source="server /s"),
    ),
    Case("only a daemon runs", DONE, [ENDED, NONE_RUNS], life=Life.DEAD, facts={"processes": [SHARED]}),
    Case(
        "many processes in the folder",
        DONE,
        [ENDED, "Nothing links this session to processes 1, 2, 3, 4 and others. [processes]"],
        life=Life.DEAD,
        facts={"processes": [process()._replace(pid=pid) for pid in range(1, 6)]},
    ),
    live(
        "a call that asks, after one of the same time that does not",
        working(call(ToolKind.READ, "a.py", call_id="c0"), call()),
        [OPEN_CALL, NO_CHILD, RUNS],
        missing=[NO_REPORT, SERVER],
    ),
    Case(
        "a call that never asks, with a child",
        replace(working(call()), permission_mode="never"),
        [OPEN_CALL, RUNS],
        missing=[NO_REPORT, SERVER],
        runs=process(child_ago_ms=4_000),
    ),
    live(
        "a run for one prompt, as its record says",
        working(call()),
        [OPEN_CALL, IS_OPEN, NAMED],
        [NO_CHILD.replace(" [", " But no call of a run for one prompt asks. [")],
        agent="claude",
        says=RECORD._replace(state=None, is_one_liner=True),
    ),
    live(
        "reported after a failed turn that a limit refused",
        ended(working(), outcome=Outcome.FAILED, limits=KnownLimits(is_refused=True)),
        [TURN, f"The last turn has ended: failed. [{FILE}]", REFUSED, NAMED],
        agent="claude",
        says=RECORD,
    ),
    Case(
        "silence ended the last turn before the process ended",
        DONE,
        [f"Nothing follows the last answer. [{FILE}]", NONE_RUNS.replace("codex", "gemini")],
        missing=["A line with the end of a turn, which gemini does not write."],
        agent="gemini",
        life=Life.DEAD,
    ),
    Case(
        "no prompt before the process ended",
        Digest(is_whole=True),
        [f"No line has a prompt. [{FILE}]", NONE_RUNS],
        life=Life.DEAD,
    ),
    live(
        "a question among calls of the same time",
        working(call(), call(ToolKind.OTHER, "Which?", call_id="c2", asks=True)),
        [f"The call “Tool Which?” is a question, and has no answer. [{FILE}]", RUNS],
    ),
    Case(
        "a call of this process beside one of an earlier process",
        working(call(ToolKind.OTHER, "old", ago_ms=200 * MINUTE_MS, call_id="c0"), call()),
        [OPEN_CALL, CHILD, RUNS],
        [f"The call “Tool old” has no result. An earlier process made it. [{FILE}]"],
        [NO_REPORT, SERVER],
        runs=process(child_ago_ms=4_000),
    ),
    Case(
        "a child of unknown age",
        working(call()),
        [OPEN_CALL, "The process has a child process of unknown age: a call may run. [process 7]", RUNS],
        missing=[NO_REPORT, SERVER],
        runs=process(children=1),
    ),
    Case(
        "a change while the process is busy",
        working(call(ToolKind.EDIT, "a.py", ago_ms=MINUTE_MS)),
        [f"The call “Tool a.py” has no result. [{FILE}]", BUSY, RUNS],
        missing=["A report of its state, of which qwen has written none."],
        agent="qwen",
        runs=process("qwen")._replace(is_idle=False),
    ),
    Case(
        "an announced call while the process is busy",
        replace(DONE, seen_ms=NOW_MS - 9_000, last_text="I'll run the tests."),
        [f"The last answer announces a call. [{FILE}]", BUSY, RUNS],
        missing=[NO_GEMINI, HIDDEN],
        agent="gemini",
        runs=process("gemini")._replace(is_idle=False),
    ),
    Case(
        "an answer that does not end the turn, with a child",
        replace(working(seen_ago_ms=9_000), is_answered=True),
        [
            f"The last answer does not end the turn. [{FILE}]",
            "A child process began after the last line: a call may run. [process 7]",
            RUNS,
        ],
        missing=[NO_GEMINI, HIDDEN],
        agent="gemini",
        runs=process("gemini", child_ago_ms=8_000),
    ),
    live(
        "a subagent after the answer",
        DONE,
        ["A subagent wrote a later line. [file /sessions/s1/sub.jsonl]", RUNS],
        missing=[NO_GEMINI, HIDDEN],
        agent="gemini",
        facts={"subagent": SUBAGENT},
        has_subagent=True,
    ),
    live(
        "a subagent beside an open call",
        working(call(ToolKind.DELEGATE, "look")),
        [f"The call “Tool look” has no result. [{FILE}]", "A subagent wrote a later line.", RUNS],
        missing=[NO_REPORT, SERVER],
        has_subagent=True,
    ),
    live(
        "quiet with a call that never asks",
        replace(working(call(ago_ms=5 * MINUTE_MS), seen_ago_ms=5 * MINUTE_MS), permission_mode="never"),
        [f"Nothing was written for 5:00. Up to 1:00 is usual here. [{FILE}]", OPEN_CALL, NO_CHILD, RUNS],
        missing=[NO_REPORT, SERVER],
    ),
    live(
        "a run for one prompt never asks",
        replace(working(call()), is_one_liner=True),
        [OPEN_CALL, RUNS],
        [NO_CHILD.replace(" [", " But no call of a run for one prompt asks. [")],
        [NO_REPORT, SERVER],
    ),
    Case(
        "a run for one prompt before its first line",
        None,
        ["The session has no line. [file /sessions/s1.jsonl]", NAMED],
        ["The agent reports “working”. It counts only when the session has a line. [file /r/7.json]"],
        agent="claude",
        says=RECORD._replace(state=State.WORKING),
        runs=process("claude")._replace(has_one_prompt=True),
    ),
    live(
        "reported, but silent",
        replace(working(seen_ago_ms=5 * MINUTE_MS), limits=KnownLimits(is_refused=True)),
        [
            "The agent reports “working”. [file /r/7.json]",
            f"Nothing was written for 5:00. Up to 1:00 is usual here. [{FILE}]",
            REFUSED,
            NAMED,
        ],
        agent="claude",
        says=RECORD._replace(state=State.WORKING),
    ),
    Case(
        "one of several windows of a daemon",
        DONE,
        [TURN, f"{NAMED.removesuffix(' [process 7]')} Process 8 may show it in a terminal. [process 7]"],
        missing=["A report of codex that says which terminal shows which session.", RECORDING],
        says=RECORD._replace(agent="codex"),
        runs=SHARED._replace(viewer=8, is_guess=True),
    ),
    live(
        "no ends",
        replace(working(), turn=Turn.NONE, calls=1),
        [f"The agent does not write the end of a turn. [{FILE}]", RUNS],
        missing=[
            NO_REPORT.replace("codex", "amp"),
            "A line with the end of a turn, which amp does not write.",
        ],
        agent="amp",
    ),
]


def proofs_of(one: Case) -> list[Proof]:
    """Return the evidence for the state of a session."""
    session = found(one.agent, one.parent)
    known = status(session, one.digest, one.says, one.runs, one.life, NOW_MS, has_subagent=one.has_subagent)
    facts = Facts(session, one.digest, one.says, one.runs, one.life)._replace(**one.facts)
    return evidence(row()._replace(status=known), facts, NOW_MS)


def sentences(proofs: list[Proof], weight: Weight) -> list[str]:
    """Return the sentences of a weight with their sources."""
    return [
        f"{each.what} [{each.source}]" if each.source else each.what
        for each in proofs
        if each.weight is weight
    ]


def test_each_state_has_its_evidence_in_words() -> None:
    """What decided comes first, then what did not count with the reason, then what is missing."""
    for one in CASES:
        with case(one.name):
            proofs = proofs_of(one)
            assert sentences(proofs, Weight.DECIDED) == one.decided
            assert sentences(proofs, Weight.OUTWEIGHED) == one.outweighed
            assert sentences(proofs, Weight.MISSING) == one.missing
            assert [each.weight for each in proofs] == sorted(
                (each.weight for each in proofs), key=[*Weight].index
            )


def test_a_limit_is_evidence_beside_the_failed_turn() -> None:
    """It says until when the session waits, if the agent does."""
    failed = ended(working(), outcome=Outcome.FAILED, reason="You've hit your limit.")
    until_ms = NOW_MS + MINUTE_MS
    cases = ((until_ms, f"It resets at {coming(until_ms, NOW_MS)}."), (None, "It does not say until when."))
    for until, words in cases:
        digest = replace(failed, limits=KnownLimits(is_refused=True, until_ms=until))
        decided = sentences(proofs_of(Case("limit", digest, [], runs=process())), Weight.DECIDED)
        assert f"A usage limit has refused the last request. {words} [{FILE}]" in decided
        assert f"The last turn has ended: failed: You've hit your limit. [{FILE}]" in decided


def test_a_question_that_answers_itself_says_when() -> None:
    """The row shows the time that is left, whoever reports the question."""
    until_ms = NOW_MS + MINUTE_MS
    digest = replace(working(), question="Which port?", question_ms=NOW_MS, question_until_ms=until_ms)
    asked = (
        f"The question “Which port?” has no answer. It answers itself at {coming(until_ms, NOW_MS)}. [{FILE}]"
    )
    for says in (None, RECORD._replace(state=State.ASKS, about="question")):
        with case(says):
            one = Case("asks", digest, [], agent="claude", says=says, runs=process("claude"))
            assert asked in sentences(proofs_of(one), Weight.DECIDED)


def test_each_piece_of_evidence_has_its_time() -> None:
    """A call has the time of its start, a report its own, a process its start; what is missing has none."""
    times = {
        each.what.split()[1]: NOW_MS - (each.since_ms or 0) for each in proofs_of(CASES[8]) if each.since_ms
    }
    assert times == {"call": 5_000, "process": 100 * MINUTE_MS}
    [report, *_] = proofs_of(CASES[4])
    assert report.since_ms == NOW_MS - 3_000
    [server, *_] = proofs_of(CASES[4]._replace(says=HOOK._replace(since_ms=None)))
    assert server.since_ms == NOW_MS - 5_000, "the question has the time of its call"
    gone = Case("gone", DONE, [], runs=process(), life=Life.DEAD)
    assert [each.since_ms for each in proofs_of(gone)] == [NOW_MS - MINUTE_MS, None]


def test_times_of_a_replayed_stream_are_those_of_its_arrival() -> None:
    """The lines of a recording may have old stamps; the clock of its process and of its state is ours."""
    digest = replace(DONE, question_ms=NOW_MS - 5_000)
    for basis, says, expected in (
        (Basis.TURN, None, NOW_MS - MINUTE_MS + 1_000),
        (Basis.QUESTION, None, NOW_MS - 4_000),
        (Basis.LIMIT, None, NOW_MS - 3_000),
        (Basis.PROCESS, reported(None, agent=OWN)._replace(began_ms=NOW_MS - 7_000), NOW_MS - 7_000),
    ):
        with case(basis):
            facts = Facts(found(OWN), digest, says, None, Life.LIVE, skew_ms=1_000)
            known = SessionStatus(State.SUCCEEDED, Ground.SAID, NOW_MS - 3_000, by=(basis,))
            proof, *_ = evidence(row()._replace(status=known), facts, NOW_MS)
            assert (proof.since_ms, proof.source) == (expected, FILE)
    known = SessionStatus(State.QUIET, Ground.INFERRED, by=(Basis.SILENCE,))
    silence, *_ = evidence(row()._replace(status=known), facts, NOW_MS)
    assert silence.what.startswith("Nothing was written for 0:04.")


def test_no_call_of_a_replayed_stream_is_of_an_earlier_process() -> None:
    """Its calls have old stamps, and its process began after them."""
    session = LocalSession(found(OWN))
    digest = working(call(ago_ms=200 * MINUTE_MS), seen_ago_ms=200 * MINUTE_MS)
    session.tail = SimpleNamespace(digest=digest, problem=None)  # type: ignore[assignment]
    session.process, session.life = process(), Life.LIVE
    assert session.skew_ms
    facts = facts_of(session, None, {}, {}, Path("/"))
    known = SessionStatus(State.WORKING, Ground.SAID, by=(Basis.CALL,))
    proofs = evidence(row()._replace(status=known), facts, NOW_MS)
    assert {each.what for each in proofs if "pytest" in each.what} == {
        "The call “Tool pytest -q” has no result."
    }


def test_evidence_is_found_for_any_session() -> None:
    """Whatever is known, and whatever has changed since the row was judged, there is a sentence."""
    for seed in range(2):
        with case(f"seed {seed}"):
            some = AnyOf(seed)
            for _ in range(100):
                agent, life = some.of(AGENTS), some.of([*Life, Life.LIVE, Life.LIVE])
                digest = some.of([None, some.digest(), some.digest()])
                says = some.of([None, None, some.reported(agent)])
                runs = some.of([None, some.process(agent), some.process(agent)])
                has_subagent = some.of([False, False, True])
                known = status(found(agent), digest, says, runs, life, NOW_MS, has_subagent=has_subagent)
                shown = row()._replace(status=known)
                proofs = evidence(shown, Facts(found(agent), digest, says, runs, life), NOW_MS)
                assert proofs[0].weight is Weight.DECIDED
                assert all(each.what.endswith(".") for each in proofs)
                if known.state is State.ASKS and known.by == (Basis.CALL,):
                    assert "is a question" in proofs[0].what
                decided = " ".join(sentences(proofs, Weight.DECIDED))
                if "reports “" in decided:
                    assert f"“{known.state}”" in decided or known.state is State.TURN_FAILED, decided
                if known.state in (State.WORKING, State.ASKS, State.QUIET):
                    assert "turn has ended" not in decided, decided
                    assert "Nothing follows" not in decided, decided
                if known.state in (State.YOUR_TURN, State.SUCCEEDED):
                    assert "has no result" not in decided, decided
                    assert "not ended" not in decided, decided
                assert evidence(shown, Facts(found(agent), None, None, None, Life.UNKNOWN), NOW_MS)


@pytest.mark.parametrize("address", ["ssh://build1/claude/7f", "nats://team/ci.7f"])
def test_the_evidence_of_a_remote_session_is_on_its_machine(address: str) -> None:
    """A row of another machine shows its report, and says where the evidence is."""
    place = address.rpartition("/")[0].removesuffix("/claude")
    remote = row(State.ASKS, Ground.INFERRED, since_ms=NOW_MS)._replace(address=address, host="build1")
    proofs = evidence(remote, None, NOW_MS)
    assert proofs[0] == Proof("build1 reports “asks”, which is inferred there.", place, NOW_MS)
    assert sentences(proofs, Weight.MISSING) == ["agentwatch show --why on build1, which shows the evidence."]
    lost = evidence(remote._replace(lost_ms=NOW_MS - 90), None, NOW_MS)
    assert lost[0] == Proof("Nothing arrives from build1.", place, NOW_MS - 90)
    assert lost[1].weight is Weight.OUTWEIGHED
    unread = evidence(remote._replace(status=UNKNOWN), None, NOW_MS)
    assert unread[0].what == "build1 reports no state."


def test_the_facts_are_those_of_the_folder_of_the_session(tmp_path: Path) -> None:
    """A daemon serves all folders, and hooks count only where they can be used."""
    session = LocalSession(found()._replace(metadata=Metadata(cwd="/w")))
    processes = {
        number: process(agent)._replace(pid=number, cwd=cwd, is_shared=number == 4)
        for number, (agent, cwd) in enumerate(
            [("codex", "/w"), ("codex", None), ("codex", "/x"), ("pi", "/w"), ("codex", "/x")]
        )
    }
    (tmp_path / ".codex").mkdir()
    facts = facts_of(session, None, processes, {"HOME": str(tmp_path)}, tmp_path)
    assert [each.pid for each in facts.processes or ()] == [0, 1, 4]
    anywhere = facts_of(LocalSession(found()), None, processes, {"HOME": str(tmp_path)}, tmp_path)
    assert [each.pid for each in anywhere.processes or ()] == [0, 1, 2, 4]
    assert (facts.has_hooks, facts.problem, facts.life) == (False, "", Life.DEAD)
    hooks = Hooks(
        hooked_agents()["codex"], {"HOME": str(tmp_path), "AGENTWATCH_HOME": str(tmp_path)}, tmp_path
    )
    hooks.install(hooks.installing())
    environ = {"HOME": str(tmp_path), "AGENTWATCH_HOME": str(tmp_path)}
    assert facts_of(session, None, None, environ, tmp_path)[5:7] == (None, True)
    hooks.file.write_bytes(b"\xff")
    assert facts_of(session, None, None, environ, tmp_path).has_hooks is None
    assert facts_of(LocalSession(found("pi")), None, {}, environ, tmp_path).has_hooks is None


def test_a_session_that_has_vanished_has_no_evidence() -> None:
    """Between the key and the popup, its file may be deleted."""
    assert [each.what for each in evidence(row(), None, NOW_MS)] == [
        "The session is not in the list any more."
    ]
