"""Decides the state of a session from what the agent reports, its process, its open calls and its last lines.

The agent's own report counts first, then whether its process runs, then its last lines. A session is never
taken to have ended because it is old, nor to run because its file has changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.program import CHANGES, NO_CALLS, Knowledge
from agentwatch.agents.registry import program_named
from agentwatch.agents.session_entry import OWN, Key, Reach, SessionEntry
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog.digest.digest import MOST_ACTIVITY, Turn
from agentwatch.catalog.session_status import LIVE, Basis, Ground, Process, SessionStatus
from agentwatch.session.agent_process import ending_of, is_contradiction
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.limits import WAITS_FOR_LIMIT
from agentwatch.text.amounts import plain_markdown
from agentwatch.text.durations import age_words

if TYPE_CHECKING:
    from agentwatch.catalog.digest.digest import Digest, OpenCall


# Permission.

_OWN = Knowledge(NO_CALLS, is_exact=True)
_OTHER = Knowledge()
_NEVER_ASKING = frozenset({"auto", "bypasspermissions", "dontask", "never", "yolo"})
"""Modes in which no call waits for permission: of Claude, Codex (`never`), Gemini and Qwen (`yolo`)."""
_CHANGING_FREELY = frozenset({"acceptedits", "autoedit"})
"""Modes in which changes of files need no permission: of Claude, Gemini and Qwen."""


def knowledge_of(agent: str) -> Knowledge:
    """Return what can be known about the sessions of an agent, by its short name."""
    if agent == OWN:
        return _OWN
    program = program_named(agent)
    return _OTHER if program is None else program.knowledge


def may_ask(known: Knowledge, mode: str, kind: ToolKind) -> bool:
    """Whether a call may wait for permission without a line that says so. `mode` is in the agent's words."""
    mode = mode.lower().replace("-", "").replace("_", "")
    if mode in _NEVER_ASKING or (mode in _CHANGING_FREELY and kind in CHANGES):
        return False
    return kind in known.asking


_BEFORE_MS = 1_000
"""A child that is this much older than a call may still be its command: the call gets its time when its line
is written, and starts of processes are known to 10 ms."""
_TOLERANCE_MS = 100
"""The time of a line and the start of a process are exact to 10 ms."""
_WAITING_MS = {
    ToolKind.EXECUTE: 2_000,
    ToolKind.FETCH: 60_000,
    ToolKind.DELEGATE: 10_000,
    **dict.fromkeys(CHANGES, 10_000),
}
"""The duration from which a call that may ask, and of which nothing else is seen, is taken to ask. A command
without a child process does not run. A change of a file takes milliseconds, a download up to a minute."""
_UNWRITTEN_MS = 5_000
"""The duration after which a call that is not written yet is taken to ask, if it has no child process."""
READING = frozenset({ToolKind.READ, ToolKind.SEARCH, ToolKind.THINK, ToolKind.PLAN})
"""Kinds of calls that no agent asks for, as a rule."""
_QUICK = READING | CHANGES
"""Kinds of calls that end at once. One that is still open waits for the other calls of its step: some agents
write all results together."""
_AFTER_MS = 2_000
"""A file that is older than a process by this time was not written by it."""
LEAST_QUIET_MS = 60_000
_TIMES_THE_USUAL = 3
_RETRIED_MS = 5_000
"""The tolerated silence after a retry was due, if the usual one is not known."""
_MOST_DOUBLED = 16
_PATIENCE_MS = 600_000
"""The tolerated silence while the conversation is compacted or a retry is due, as in an open session."""


def has_child_since(process: Process | None, then_ms: int | None) -> bool | None:
    """Return None if it is unknown."""
    if process is None:
        return None
    if not process.children:
        return False
    if process.child_began_ms is None or then_ms is None:
        return None
    return process.child_began_ms >= then_ms - _BEFORE_MS


def _is_still_open(digest: Digest, process: Process | None, known: Knowledge, *, has_subagent: bool) -> bool:
    """Whether a turn that only silence has ended is open: its command or subagent works, or the title of its
    terminal says so. The answer is written before the command starts: an older child is an earlier one's."""
    if not known.ends_in_silence or digest.turn is not Turn.ENDED or digest.outcome is not Outcome.SUCCEEDED:
        return False
    if process is not None and process.title is State.WORKING:
        return True
    if process is None or not process.children or process.child_began_ms is None or digest.seen_ms is None:
        return has_subagent
    return has_subagent or process.child_began_ms >= digest.seen_ms - _TOLERANCE_MS


def _has_unwritten_call(digest: Digest, known: Knowledge, now_ms: int) -> bool:
    """Whether a call seems open that is written only when it has ended: the model has answered without ending
    the turn, or its answer announces a call."""
    if known.announces is None or digest.seen_ms is None:
        return False
    if digest.turn is Turn.ENDED:
        return digest.outcome is Outcome.SUCCEEDED and known.announces(digest.last_text)
    return digest.is_answered and now_ms - digest.seen_ms >= _UNWRITTEN_MS


def _is_stopped(digest: Digest, process: Process | None, now_ms: int) -> bool:
    """Whether the title of the terminal says that a turn is over of which the lines have no end: Qwen Code
    writes none when the user ends its retries. A title may be some seconds older than the last line."""
    if process is None or process.title is not State.YOUR_TURN or digest.seen_ms is None:
        return False
    return now_ms - digest.seen_ms >= _UNWRITTEN_MS


def is_left_over(process: Process | None, then_ms: int | None) -> bool:
    """Whether something belongs to an earlier process: the session was resumed since."""
    if process is None or process.began_ms is None or then_ms is None:
        return False
    return process.began_ms > then_ms + _AFTER_MS


def visible_calls(digest: Digest, known: Knowledge, process: Process | None = None) -> tuple[OpenCall, ...]:
    """The oldest first; none of an agent that writes them late, or of an earlier process that was killed."""
    if not known.has_calls:
        return ()
    return tuple(call for call in digest.open_calls.values() if not is_left_over(process, call.started_ms))


def waiting_call(
    calls: Sequence[OpenCall], mode: str, process: Process | None, known: Knowledge, now_ms: int
) -> OpenCall | None:
    """The oldest open call that seems to wait for permission. None if a call seems to run, which may be a
    reason for the silence of the others."""
    if process is None:
        return None
    with_calls = {call.parent_call for call in calls}
    waiting = None
    for call in calls:
        if call.call_id in with_calls:
            continue  # a subagent, whose own calls are open
        if not may_ask(known, mode, call.kind):
            if call.kind not in _QUICK:
                return None
            continue
        if call.started_ms is None or now_ms - call.started_ms < _WAITING_MS[call.kind]:
            return None
        if may_run(process, call):
            return None
        waiting = waiting or call
    return waiting


def may_run(process: Process, call: OpenCall) -> bool:
    """Whether the agent is busy or a process runs. A command has one of its own, however busy the agent is:
    with what it draws, or another session."""
    is_busy = process.is_idle is False and not process.is_shared  # a daemon may work for another session
    is_busy = is_busy and call.kind is not ToolKind.EXECUTE
    return is_busy or has_child_since(process, call.started_ms) is not False


def is_silent(
    digest: Digest,
    calls: Sequence[OpenCall],
    process: Process | None,
    now_ms: int,
    known: Knowledge = _OTHER,
) -> bool:
    """Whether nothing has happened for longer than is usual, and no call and no child explains it."""
    if digest.seen_ms is None or now_ms - digest.seen_ms <= tolerated_ms(digest, known):
        return False
    if not calls:
        return not has_child_since(process, digest.seen_ms)
    return all(
        call.kind is ToolKind.EXECUTE and has_child_since(process, call.started_ms) is False for call in calls
    )


def tolerated_ms(digest: Digest, known: Knowledge) -> int:
    """The longest silence that is usual in a session. A retry that may have been stopped is due in time."""
    usual_ms = _TIMES_THE_USUAL * (digest.usual_pause_ms or 0)
    if digest.retry and known.retries_after_ms is not None:
        delay_ms = known.retries_after_ms << min(max(digest.course.nth_retry - 1, 0), _MOST_DOUBLED)
        return min(delay_ms + max(_RETRIED_MS, usual_ms), _PATIENCE_MS)
    if digest.is_compacting or digest.retry:
        return _PATIENCE_MS
    return max(LEAST_QUIET_MS, usual_ms)


# The activity in one line. All of it is foreign text.

RUNNING = "its process runs"
BUSY = "busy"
MODEL_OR_TOOL = "model or tool"
NO_PROMPT = "no prompt"


def call_words(call: OpenCall) -> str:
    """`pytest -q`, or else its tool."""
    return (call.target or call.tool)[:MOST_ACTIVITY]


def asked_words(call: OpenCall) -> str:
    """`Bash rm -rf build`."""
    return f"{call.tool} {call.target}".strip()[:MOST_ACTIVITY]


def inferred_words(call: OpenCall) -> str:
    """`shell npm ci (no child process)`."""
    reason = "no child process" if call.kind is ToolKind.EXECUTE else "no result"
    return f"{asked_words(call)} ({reason})"


def model_words(digest: Digest) -> str:
    """What an agent does that makes no call: it compacts, waits for a retry, or thinks."""
    if digest.is_compacting:
        return "compacting"
    return digest.retry[:MOST_ACTIVITY] or "thinking"


def silence_words(digest: Digest, now_ms: int) -> str:
    """`nothing for 6 min (usually 20 s)`; empty if it is unknown."""
    if digest.seen_ms is None:
        return ""
    usual = "" if digest.usual_pause_ms is None else f" (usually {age_words(digest.usual_pause_ms)})"
    return f"nothing for {age_words(now_ms - digest.seen_ms)}{usual}"


def answer_words(digest: Digest | None) -> str:
    """The last line of the last answer, in which it asks or says what is done."""
    line = "" if digest is None else digest.last_text.rstrip().rpartition("\n")[2].strip()
    return (plain_markdown(line) or line)[:MOST_ACTIVITY]


def failure_words(digest: Digest) -> str:
    """The first line of the reason, or else the outcome."""
    if digest.outcome is Outcome.CANCELLED:
        return Outcome.CANCELLED.value
    return digest.reason.lstrip().partition("\n")[0][:MOST_ACTIVITY]


def tail_words(digest: Digest | None) -> str:
    """What the last lines show, whether or not the session still runs."""
    if digest is None:
        return ""
    call = next(iter(digest.open_calls.values()), None)
    return answer_words(digest) if call is None else call_words(call)


# Turns.


def working(digest: Digest, calls: tuple[OpenCall, ...], ground: Ground) -> SessionStatus:
    since_ms = digest.turn_ms
    if calls:
        call, by = calls[0], (Basis.CALL,)
        about = since_ms, call_words(call), call.started_ms
        return SessionStatus(State.WORKING, ground, *about, is_calling=True, by=by)
    now = model_words(digest)
    return SessionStatus(State.WORKING, ground, since_ms, now, digest.seen_ms, by=(Basis.TURN,))


def has_failed(digest: Digest) -> bool:
    """Whether the last turn has ended in an error, or was interrupted."""
    return digest.turn is Turn.ENDED and digest.outcome not in (None, Outcome.SUCCEEDED)


# Reported states.

_LATER_MS = 1_000
"""The time by which a line must be newer than a report to outdate it."""


def by_report(state: State, reported: StateReport, digest: Digest | None, now_ms: int) -> SessionStatus:
    """The state that the agent says, with what its lines show about it."""
    since_ms = reported.since_ms
    if state is State.ASKS:
        question, asked_ms = _question(reported, digest)
        since_ms = asked_ms if since_ms is None else since_ms
        until_ms = digest.question_until_ms if digest is not None else None
        asks = SessionStatus(State.ASKS, Ground.SAID, since_ms, question, since_ms, until_ms=until_ms)
        is_written = digest is not None and bool(digest.question)
        return asks._replace(by=(Basis.REPORT, Basis.QUESTION) if is_written else (Basis.REPORT,))
    if digest is None:
        since_ms = reported.began_ms if since_ms is None else since_ms
        return SessionStatus(state, Ground.SAID, since_ms, by=(Basis.REPORT,))
    if state is State.WORKING:
        calls = tuple(digest.open_calls.values())
        is_long = digest.turn is Turn.OPEN and not calls and is_silent(digest, calls, None, now_ms)
        works = working(digest, calls, Ground.SAID)
        if digest.turn is not Turn.OPEN and not calls:
            works = works._replace(now=BUSY)
        since_ms = works.since_ms if since_ms is None else since_ms
        works = works._replace(since_ms=since_ms, by=(Basis.REPORT,))
        if is_long:
            silent = works._replace(now=silence_words(digest, now_ms), by=(Basis.REPORT, Basis.SILENCE))
            works = _or_limited(silent, digest, now_ms)
        return works
    by: tuple[Basis, ...] = (Basis.REPORT,)
    if state is State.YOUR_TURN and has_failed(digest):
        state, by = State.TURN_FAILED, (Basis.REPORT, Basis.TURN)
    if since_ms is None and digest.turn is not Turn.OPEN:
        since_ms = reported.began_ms if digest.turn is Turn.NONE else digest.turn_ms or digest.seen_ms
    now = failure_words(digest) if state is State.TURN_FAILED else answer_words(digest)
    ground = Ground.SAID
    if digest.turn is Turn.OPEN:
        now = ""  # the last answer belongs to an earlier prompt
        if digest.retry:  # Claude Code writes no line when the user ends its retries
            now, ground = Outcome.CANCELLED.value, Ground.INFERRED
    ended = SessionStatus(state, ground, since_ms, now, since_ms if now else None, by=by)
    return _or_limited(ended, digest, now_ms) if state is State.TURN_FAILED else ended


def _or_limited(otherwise: SessionStatus, digest: Digest, now_ms: int) -> SessionStatus:
    """Return that a session waits for its usage limit, if that is why it has failed or is silent."""
    if not digest.limits.waits(now_ms):
        return otherwise
    until_ms = digest.limits.until_ms
    why = f": {otherwise.now}" if otherwise.state is State.TURN_FAILED and until_ms is None else ""
    now = f"{WAITS_FOR_LIMIT}{why}"[:MOST_ACTIVITY]
    by = (*otherwise.by, Basis.LIMIT)
    return SessionStatus(State.LIMITED, otherwise.ground, otherwise.since_ms, now, until_ms=until_ms, by=by)


def _question(reported: StateReport, digest: Digest | None) -> tuple[str, int | None]:
    """What a session asks that says so itself, and since when. Its line may come after its report."""
    if digest is None:
        return reported.about, None
    if digest.question:
        return digest.question, digest.question_ms
    agents = {call.parent_call for call in digest.open_calls.values()}
    calls = [call for call in digest.open_calls.values() if call.call_id not in agents]
    if reported.about == "permission":
        calls = [call for call in calls if call.kind not in READING] or calls
    else:
        calls = [call for call in calls if call.asks]
    if not calls:
        return reported.about, digest.question_ms
    more = f" or {len(calls) - 1} more" if calls[1:] else ""
    return f"{asked_words(calls[0])}{more}", digest.question_ms or calls[0].started_ms


def is_outdated(
    reported: StateReport, digest: Digest | None, process: Process | None, known: Knowledge
) -> bool:
    """Whether the lines, or a child, are newer than what a hook has said: it says that a question begins, but
    not that it was answered; and nothing about an interruption."""
    if known.is_exact or reported.since_ms is None or digest is None:
        return False
    after_ms = reported.since_ms + _LATER_MS
    if digest.turn_ms is not None and digest.turn_ms > after_ms:
        return True  # a turn has ended since, or another has begun
    if reported.state is not State.ASKS:
        return False
    if has_child_since(process, after_ms):
        return True  # the command that was asked about runs
    return not digest.open_calls and digest.seen_ms is not None and digest.seen_ms > after_ms


def status(
    found: SessionEntry,
    digest: Digest | None,
    reported: StateReport | None,
    process: Process | None,
    life: Life,
    now_ms: int,
    *,
    has_subagent: bool = False,
) -> SessionStatus:
    """`digest` is None if its lines were not read. `has_subagent` says whether a subagent works whose last
    line is newer than those of the session."""
    known = knowledge_of(found.agent)
    is_still_open = (
        digest is not None
        and life is Life.LIVE
        and _is_still_open(digest, process, known, has_subagent=has_subagent)
    )
    if digest is not None and is_still_open:
        digest = replace(digest, turn=Turn.OPEN, turn_ms=digest.begun_ms, outcome=None)
    if found.parent is not None and digest is not None and digest.turn is Turn.ENDED:
        return _ended(digest, _ground_of_end(digest, known))  # a subagent has one turn
    if life is Life.UNKNOWN:
        return SessionStatus(State.UNKNOWN, Ground.UNKNOWN, now=tail_words(digest), by=(Basis.PROCESS,))
    if life is Life.DEAD:
        ended = _dead(found, digest, reported, known)
        is_guess = process is not None and ended.ground is Ground.SAID
        return ended._replace(ground=Ground.INFERRED) if is_guess else ended
    judged = _running(found, digest, reported, process, known, now_ms, has_subagent=has_subagent)
    is_inferred = judged.state is State.WORKING and judged.by[0] is not Basis.REPORT
    if is_inferred and (is_still_open or has_subagent):
        more = Basis.SUBAGENT if has_subagent else Basis.STILL_OPEN
        judged = judged._replace(by=(more,) if is_still_open else (*judged.by, more))
    has_report = reported is not None and reported.state is not None
    if process is not None and process.is_guess and (_depends_on_window(process, reported) or not has_report):
        return judged._replace(ground=Ground.UNKNOWN if judged.ground is Ground.UNKNOWN else Ground.INFERRED)
    return judged


def _running(
    found: SessionEntry,
    digest: Digest | None,
    reported: StateReport | None,
    process: Process | None,
    known: Knowledge,
    now_ms: int,
    *,
    has_subagent: bool,
) -> SessionStatus:
    if found.agent == OWN and (recorded := _recorded(found, digest, reported)) is not None:
        return recorded
    is_left = process is not None and process.is_shared and process.viewer == 0
    state = None if reported is None or is_outdated(reported, digest, process, known) else reported.state
    has_one_prompt = process is not None and process.has_one_prompt
    if has_one_prompt and state is State.YOUR_TURN:
        state = None
    if state is State.STARTING or (has_one_prompt and digest is None):
        began_ms = process and process.began_ms
        return SessionStatus(State.STARTING, Ground.INFERRED, began_ms, RUNNING, by=(Basis.NO_LINES,))
    if reported is not None and state is not None and not (is_left and _depends_on_window(process, reported)):
        return by_report(state, reported, digest, now_ms)
    if digest is None or _has_no_prompt(digest):
        if is_left:
            by: tuple[Basis, ...] = (Basis.NO_WINDOW, Basis.NO_PROMPT)
            return SessionStatus(State.UNFINISHED, Ground.INFERRED, now=NO_PROMPT, by=by)
        if digest is None and reported is None:
            return SessionStatus(State.UNKNOWN, Ground.UNKNOWN, now=RUNNING, by=(Basis.NO_LINES,))
        if reported is None:
            return SessionStatus(State.YOUR_TURN, Ground.INFERRED, by=(Basis.NO_PROMPT,))
        by = (Basis.NO_PROMPT, Basis.REPORT)
        return SessionStatus(State.YOUR_TURN, Ground.SAID, reported.began_ms, by=by)
    return _live(found, digest, reported, process, known, now_ms, has_subagent=has_subagent)


def _depends_on_window(process: Process | None, reported: StateReport | None) -> bool:
    """Return whether a report about a session of a daemon is only true while a window shows the session. The
    daemon works on without a window. Whether its question is still open, the daemon knows, but no hook."""
    if reported is None or process is None or not process.is_shared:
        return False
    is_asked_by_server = reported.is_by_server and reported.state is State.ASKS
    return reported.state is not State.WORKING and not is_asked_by_server


def _recorded(
    found: SessionEntry, digest: Digest | None, reported: StateReport | None
) -> SessionStatus | None:
    """The state of a recording that is being written, whose agent has no turn of the user's: the stream
    answers one prompt, unless it is a conversation. None if its lines show it like those of any session."""
    began_ms = None if reported is None else reported.began_ms
    if digest is None or not digest.format:
        if not found.size:
            return SessionStatus(State.STARTING, Ground.SAID, began_ms, by=(Basis.NO_LINES,))
        # the lines are of no known agent
        return SessionStatus(State.WORKING, Ground.INFERRED, began_ms, RUNNING, by=(Basis.NO_LINES,))
    has_one_prompt = None if reported is None else reported.has_one_prompt
    if has_one_prompt is False or knowledge_of(digest.format).converses:
        return None
    if digest.turn is Turn.ENDED:
        return _ended(digest, Ground.SAID if has_one_prompt else Ground.INFERRED, Basis.ONE_PROMPT)
    if not _has_no_prompt(digest):
        return None
    return working(digest, (), Ground.SAID)._replace(since_ms=began_ms, by=(Basis.NO_PROMPT,))


def _dead(
    found: SessionEntry, digest: Digest | None, reported: StateReport | None, known: Knowledge
) -> SessionStatus:
    if reported is not None and reported.state is not None and reported.state not in LIVE:
        now = failure_words(digest) if digest is not None and reported.state is State.FAILED else ""
        return SessionStatus(reported.state, Ground.SAID, reported.since_ms, now, by=(Basis.REPORT,))
    if digest is None:
        changed_ms, no_lines = found.metadata.changed_ms, (Basis.NO_LINES,)
        if has_no_line(found):
            return SessionStatus(State.UNFINISHED, Ground.INFERRED, changed_ms, NO_PROMPT, by=no_lines)
        return SessionStatus(State.UNKNOWN, Ground.UNKNOWN, changed_ms, by=no_lines)
    if digest.turn is Turn.ENDED:
        ended = _ended(digest, _ground_of_end(digest, known))
        ending = ending_of(digest.outcome or Outcome.SUCCEEDED, found.metadata.exit_code)
        if is_contradiction(ending.words):
            return ended._replace(state=State.FAILED, now=ending.words, by=(*ended.by, Basis.EXIT))
        return ended
    if not known.has_ends:
        now = answer_words(digest)
        return SessionStatus(State.UNKNOWN, Ground.UNKNOWN, digest.seen_ms, now, by=(Basis.NO_ENDS,))
    call = next(iter(visible_calls(digest, known)), None)
    now, by = ("no answer", Basis.TURN) if call is None else (asked_words(call), Basis.CALL)
    if _has_no_prompt(digest):
        now, by = NO_PROMPT, Basis.NO_PROMPT
    return SessionStatus(State.UNFINISHED, Ground.INFERRED, digest.seen_ms, now, by=(by,))


def has_no_line(found: SessionEntry) -> bool:
    """Whether it is a session that its agent has described, and to which it has not written."""
    is_described = found.reach is Reach.LISTED and found.path != Path() and not found.size
    return is_described and not found.metadata.problem and not found.metadata.title


def _ground_of_end(digest: Digest, known: Knowledge) -> Ground:
    """Silence shows no other end than a good one."""
    is_inferred = known.ends_in_silence and digest.outcome is Outcome.SUCCEEDED
    return Ground.INFERRED if is_inferred else Ground.SAID


def _ended(digest: Digest, ground: Ground, *more: Basis) -> SessionStatus:
    """`more` is the evidence besides the turn."""
    since_ms = digest.seen_ms if digest.turn_ms is None else digest.turn_ms
    by = (Basis.TURN, *more)
    if digest.outcome is Outcome.CANCELLED:
        return SessionStatus(State.CANCELLED, ground, since_ms, by=by)
    if has_failed(digest):
        return SessionStatus(State.FAILED, ground, since_ms, failure_words(digest), by=by)
    return SessionStatus(State.SUCCEEDED, ground, since_ms, by=by)


def _live(
    found: SessionEntry,
    digest: Digest,
    reported: StateReport | None,
    process: Process | None,
    known: Knowledge,
    now_ms: int,
    *,
    has_subagent: bool,
) -> SessionStatus:
    if digest.question and not is_left_over(process, digest.question_ms):
        asked, asked_ms, until_ms = digest.question, digest.question_ms, digest.question_until_ms
        asks = SessionStatus(State.ASKS, Ground.SAID, asked_ms, asked, asked_ms, until_ms=until_ms)
        return asks._replace(by=(Basis.QUESTION,))
    if process is not None and process.title is State.ASKS and found.parent is None:
        about = digest.seen_ms, answer_words(digest) or MODEL_OR_TOOL, digest.seen_ms
        return SessionStatus(State.ASKS, Ground.INFERRED, *about, by=(Basis.TITLE,))
    calls = visible_calls(digest, known, process)
    question = next((call for call in calls if call.asks), None)
    if question is not None:
        now, since_ms = asked_words(question), question.started_ms
        return SessionStatus(State.ASKS, Ground.SAID, since_ms, now, since_ms, by=(Basis.CALL,))
    is_busy = has_subagent or (process is not None and process.title is State.WORKING)
    if process is not None and not is_busy and _has_unwritten_call(digest, known, now_ms):
        unwritten = _unwritten(digest, process, known)
        if unwritten is not None:
            return unwritten
    if digest.turn is Turn.ENDED:
        return _turn_ended(digest, process, known, now_ms)
    if not known.has_ends:
        return SessionStatus(State.UNKNOWN, Ground.UNKNOWN, now=RUNNING, by=(Basis.NO_ENDS,))
    if found.parent is None and _is_stopped(digest, process, now_ms):
        now, since_ms = Outcome.CANCELLED.value, digest.seen_ms
        return SessionStatus(State.YOUR_TURN, Ground.INFERRED, since_ms, now, by=(Basis.TITLE,))
    if is_left_over(process, digest.seen_ms):
        by: tuple[Basis, ...] = (Basis.LEFT_OVER,)
        if found.parent is not None:
            return SessionStatus(State.UNFINISHED, Ground.INFERRED, digest.seen_ms, by=by)
        return SessionStatus(State.YOUR_TURN, Ground.INFERRED, process.began_ms if process else None, by=by)
    is_one_liner = digest.is_one_liner or (reported is not None and reported.is_one_liner)
    if not is_one_liner and not (known.is_exact and found.parent is not None):
        waiting = waiting_call(calls, digest.permission_mode, process, known, now_ms)
        if waiting is not None:
            now, since_ms = inferred_words(waiting), waiting.started_ms
            by = (Basis.CALL, Basis.NO_CHILD)
            return SessionStatus(State.ASKS, Ground.INFERRED, since_ms, now, since_ms, by=by)
    if not is_busy and is_silent(digest, calls, process, now_ms, known):
        now = silence_words(digest, now_ms)
        by = (Basis.SILENCE, *((Basis.CALL, Basis.NO_CHILD) if calls else (Basis.TURN,)))
        quiet = SessionStatus(State.QUIET, Ground.INFERRED, digest.seen_ms, now, digest.seen_ms, by=by)
        return _or_limited(quiet, digest, now_ms)
    is_said = known.is_exact and reported is not None
    works = working(digest, calls, Ground.SAID if is_said else Ground.INFERRED)
    if is_said:
        works = works._replace(by=(*works.by, Basis.REPORT))
    if works.since_ms is None and reported is not None:
        works = works._replace(since_ms=reported.began_ms)  # a stream has no time for its prompt
    return works if known.has_calls else works._replace(now=MODEL_OR_TOOL)


def _unwritten(digest: Digest, process: Process, known: Knowledge) -> SessionStatus | None:
    """The state of a session with a call that is not written; None if no call needs permission."""
    if process.is_idle is False or has_child_since(process, digest.seen_ms) is not False:
        by = (Basis.UNWRITTEN, Basis.CHILD)
        since_ms, seen_ms = digest.begun_ms, digest.seen_ms
        return SessionStatus(State.WORKING, Ground.INFERRED, since_ms, MODEL_OR_TOOL, seen_ms, by=by)
    if process.has_one_prompt or not known.never_asks.isdisjoint(process.arguments):
        return None
    now = f"{answer_words(digest) or MODEL_OR_TOOL} (no child process)"
    by = (Basis.UNWRITTEN, Basis.NO_CHILD)
    return SessionStatus(State.ASKS, Ground.INFERRED, digest.seen_ms, now, digest.seen_ms, by=by)


def _turn_ended(digest: Digest, process: Process | None, known: Knowledge, now_ms: int) -> SessionStatus:
    is_shared = process is not None and process.is_shared
    if is_shared and process is not None and process.viewer == 0:
        # the daemon keeps it open, and no terminal shows it
        return _ended(digest, Ground.INFERRED, Basis.NO_WINDOW)
    if process is not None and process.has_one_prompt:
        # `codex exec` runs for some seconds after its answer
        return _ended(digest, _ground_of_end(digest, known), Basis.ONE_PROMPT)
    ground = Ground.INFERRED if is_shared else _ground_of_end(digest, known)
    since_ms = digest.seen_ms if digest.turn_ms is None else digest.turn_ms
    if has_failed(digest):
        now, state = failure_words(digest), State.TURN_FAILED
    else:
        now, state = answer_words(digest), State.YOUR_TURN
    ended = SessionStatus(state, ground, since_ms, now, since_ms, by=(Basis.TURN,))
    return _or_limited(ended, digest, now_ms) if state is State.TURN_FAILED else ended


def _has_no_prompt(digest: Digest) -> bool:
    return digest.turn is Turn.NONE and digest.is_whole and not digest.calls


_HOLD_MS = 1_000
"""Between the exit of a command and the line with its result, the call has no child and seems to ask."""
_MOST_HELD = 1_000


class Steady:
    """The sessions of which it was inferred a moment ago that they ask."""

    def __init__(self) -> None:
        self._since: dict[Key, int] = {}

    def forget(self, key: Key) -> None:
        self._since.pop(key, None)

    def __bool__(self) -> bool:
        return bool(self._since)

    def due(self, now_ms: int) -> set[Key]:
        return {key for key, since_ms in self._since.items() if not 0 <= now_ms - since_ms < _HOLD_MS}

    def shown(
        self, key: Key, known: SessionStatus, before: SessionStatus | None, now_ms: int
    ) -> SessionStatus:
        """An inferred question is shown only when it is a second old. `before` is None for a new session."""
        is_guess = known.state is State.ASKS and known.ground is Ground.INFERRED
        if not is_guess or before is None or before.state is not State.WORKING:
            self._since.pop(key, None)
            return known
        since_ms = self._since.setdefault(key, now_ms)
        if not 0 <= now_ms - since_ms < _HOLD_MS:
            del self._since[key]
            return known
        if len(self._since) > _MOST_HELD:
            del self._since[next(iter(self._since))]
        return before
