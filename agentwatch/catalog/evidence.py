"""Why a row of the list says what it says: each piece of evidence, which `states` names by its `Basis`, in
words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.agents.registry import hooked_agents, program_named
from agentwatch.agents.session_entry import OWN, Reach, SessionEntry
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.base.faults import Fault
from agentwatch.catalog.digest.digest import Digest, OpenCall, Turn
from agentwatch.catalog.hooks.plan import Hooks
from agentwatch.catalog.processes import session_in
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import Basis, Ground, Process, SessionStatus
from agentwatch.catalog.states import (
    asked_words,
    call_words,
    failure_words,
    has_child_since,
    has_no_line,
    inferred_words,
    is_left_over,
    is_outdated,
    knowledge_of,
    may_ask,
    may_run,
    tolerated_ms,
    visible_calls,
)
from agentwatch.session.agent_process import exit_words
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.text.durations import running_clock
from agentwatch.text.times import coming

if TYPE_CHECKING:
    from agentwatch.catalog.local_session import LocalSession


_MOST_PIDS = 4
_AS_A_RULE = "A recorded agent answers one prompt, as a rule. The command does not say it."
_OVER = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED})


class Weight(StrEnum):
    DECIDED = "decided"
    OUTWEIGHED = "outweighed"
    """The proof says something else, and does not count."""
    MISSING = "missing"
    """The proof was not there, and would have said more."""


class Proof(NamedTuple):
    """Its words contain foreign text."""

    what: str
    """Sentences: what was seen, and why it does not count."""
    source: str = ""
    """`file PATH`, `process PID`, `hook PATH`, `server SOCKET`; empty for what is missing."""
    since_ms: int | None = None
    weight: Weight = Weight.DECIDED


class Facts(NamedTuple):
    found: SessionEntry
    digest: Digest | None
    reported: StateReport | None
    process: Process | None
    life: Life
    processes: Sequence[Process] | None = ()
    """The processes of its agent in its folder, or whose folder is unknown; None if they cannot be listed."""
    has_hooks: bool | None = None
    """It is None if the agent's hooks cannot be used."""
    subagent: Proof | None = None
    """The later line of a subagent that works; None without one."""
    problem: str = ""
    skew_ms: int = 0
    """How far the clock of its lines is behind ours."""

    @property
    def lines(self) -> str:
        return "" if self.found.path == Path() else f"file {self.found.path}"

    @property
    def runner(self) -> str:
        pid = self.process.pid if self.process is not None else self.reported and self.reported.pid
        return f"process {pid}" if pid else "processes"

    def written(self, words: str, since_ms: int | None) -> Proof:
        """Its time is by the clock of the lines."""
        return Proof(words, self.lines, None if since_ms is None else since_ms + self.skew_ms)


def evidence(row: Row, facts: Facts | None, now_ms: int) -> list[Proof]:
    """What decided, was outweighed, or is missing. `facts` is None for a session of another machine."""
    if facts is None:
        return list(_elsewhere(row))
    status, life = row.status, [Basis.PROCESS]
    if facts.found.parent is not None and status.state in _OVER:
        life = []  # whatever its process does
    if _is_running(facts, status):
        life = [Basis.CHILD, *life]
    found = [_proof(basis, facts, status, now_ms) for basis in dict.fromkeys((*status.by, *life))]
    found += (each._replace(weight=Weight.OUTWEIGHED) for each in _outweighed(facts, status))
    missing = () if status.ground is Ground.SAID else _missing(facts, status)
    return [*found, *(Proof(words, weight=Weight.MISSING) for words in missing)]


def _elsewhere(row: Row) -> Iterator[Proof]:
    if not row.address:
        yield Proof("The session is not in the list any more.")
        return
    status, place, (scheme, _, rest) = row.status, row.place, row.address.partition("://")
    source, inferred = f"{scheme}://{rest.partition('/')[0]}", status.ground is Ground.INFERRED
    state = "no state" if status.state is State.UNKNOWN else f"“{status.state}”"
    words = f"{place} reports {state}{', which is inferred there' if inferred else ''}."
    report = Proof(words, source, status.since_ms)
    if row.lost_ms is None:
        yield report
    else:
        yield Proof(f"Nothing arrives from {place}.", source, row.lost_ms)
        yield report._replace(weight=Weight.OUTWEIGHED)
    yield Proof(f"agentwatch show --why on {place}, which shows the evidence.", weight=Weight.MISSING)


# Whether a process has the session.


def _process(facts: Facts) -> Proof:
    process, reported = facts.process, facts.reported
    words = {Life.LIVE: _live, Life.DEAD: _dead, Life.UNKNOWN: _unsure}[facts.life](facts)
    began_ms = process.began_ms if process is not None else reported and reported.began_ms
    source = facts.runner
    if reported is None or reported.pid is None:
        is_own, is_said = facts.found.agent == OWN, reported is not None and reported.life is Life.LIVE
        source = facts.lines if is_own else (is_said and reported and reported.source) or source
    return Proof(words, source, began_ms if facts.life is Life.LIVE else None)


def _live(facts: Facts) -> str:
    found, process, reported = facts.found, facts.process, facts.reported
    if found.parent is not None:
        return "The process of the session that started this subagent runs."
    pid = reported and reported.pid
    if found.agent == OWN:
        return "agentwatch records the process, which runs." if pid else "The recording is being written."
    if reported is not None and reported.state is State.STARTING:
        return "The process runs in a terminal, and no session of it is found."
    if reported is not None and reported.life is Life.LIVE:
        if pid is None:
            return "The agent reports that it has this session open."
        viewer, shows = process and process.viewer, "may show" if process and process.is_guess else "shows"
        shown = f" Process {viewer} {shows} it in a terminal." if viewer else ""
        return f"The process runs, and the agent reports that it has this session.{shown}"
    if process is None:
        return f"This session is the only one that {_pids(facts)} may have written."
    if any(Path(path).name in (found.path.name, f"{found.id}.lock") for path in process.open_paths):
        return "The process runs, and has the file of this session open."
    if process.is_guess:
        return _guessed(facts, process)
    if session_in(process.agent, process.arguments) in (found.id, str(found.path)):
        return "The process runs, and its arguments name this session."
    return "The process runs, and only this session was written in its folder since it began."


def _guessed(facts: Facts, process: Process) -> str:
    """Why a session runs that is only one of the newest of its folder."""
    near = [each for each in facts.processes or () if not each.is_shared]
    if len(near) < 2:
        return "The process runs in the folder of this session, which was written last there."
    runs = (
        f"This session is one of those written last in the folder of {_pids(facts._replace(processes=near))}"
    )
    if not process.pid:
        return f"{runs}, and it is not known which of them has it."
    return f"{runs}; the process ran when it began."


def _dead(facts: Facts) -> str:
    found, reported = facts.found, facts.reported
    if found.parent is not None:
        return "No process has the session that started this subagent."
    if found.agent == OWN:
        return "No process writes the recording."
    if facts.process is not None:
        return "The process runs in the folder of this session, and a newer session was written there."
    if reported is not None and reported.pid is not None:
        return "The process that the agent's record names has ended."
    facts = facts._replace(processes=[each for each in facts.processes or () if not each.is_shared])
    if not facts.processes:
        return f"No process of {found.agent} runs in the folder of this session."
    return f"Nothing links this session to {_pids(facts)}."


def _unsure(facts: Facts) -> str:
    if facts.found.agent == OWN:
        return "The file system has no locks that show whether the recording is being written."
    if facts.reported is not None and facts.reported.claim is Life.UNKNOWN:
        return "The process that the agent's record names is on another machine or in a container."
    if facts.processes is None:
        return "The processes of this machine are not known."
    return f"It is not known whether {_pids(facts)} wrote this session or another one."


def _pids(facts: Facts) -> str:
    """`process 101`, `processes 101, 102`."""
    pids = [str(each.pid) for each in facts.processes or ()]
    if not pids:
        return f"a process of {facts.found.agent}"
    more = " and others" if pids[_MOST_PIDS:] else ""
    return f"{'processes' if pids[1:] else 'process'} {', '.join(pids[:_MOST_PIDS])}{more}"


# What else decides.


def _reporter(reported: StateReport) -> str:
    """`The hook`, `The server`, `The agent`."""
    kind = reported.source.partition(" ")[0]
    return f"The {kind if kind in ('hook', 'server') else 'agent'}"


def _report(facts: Facts, status: SessionStatus) -> Proof:
    reported = facts.reported
    if reported is None:
        return Proof("The agent has reported it, and reports nothing now.")
    source = reported.source or facts.runner
    if reported.state is None or status.by[:1] != (Basis.REPORT,):
        more = ", and it would report a question" if status.state is State.WORKING else ""
        return Proof(f"The agent reports that the session is open{more}.", source, reported.began_ms)
    about = f" ({reported.about})" if reported.about else ""
    since_ms = status.since_ms if reported.since_ms is None else reported.since_ms
    return Proof(f"{_reporter(reported)} reports “{reported.state}”{about}.", source, since_ms)


def _call_of(facts: Facts, status: SessionStatus) -> OpenCall | None:
    """The open call that a state is about, by its words, or else the oldest."""

    def fits(call: OpenCall) -> tuple[bool, bool]:
        return status.now in (call_words(call), asked_words(call), inferred_words(call)), call.asks

    calls = visible_calls(facts.digest or Digest(), knowledge_of(facts.found.agent), facts.process)
    return max(calls, key=fits, default=None)


def _is_running(facts: Facts, status: SessionStatus) -> bool:
    """Return whether the call that a session works on might ask, but seems to run."""
    call, process, digest = _call_of(facts, status), facts.process, facts.digest or Digest()
    if call is None or process is None or (status.state, status.by[:1]) != (State.WORKING, (Basis.CALL,)):
        return False
    known = knowledge_of(facts.found.agent)
    return may_ask(known, digest.permission_mode, call.kind) and may_run(process, call)


def _child(facts: Facts, call: OpenCall | None, then_ms: int | None) -> Proof:
    has_child = has_child_since(facts.process, then_ms)
    if has_child is False:
        return Proof("The process is busy: a call may run.", facts.runner)
    began_ms = facts.process and facts.process.child_began_ms
    words = f"A child process began after the {'last line' if call is None else 'call'}"
    words = "The process has a child process of unknown age" if has_child is None else words
    if facts.process is not None and not facts.process.pid:
        words = "It is not known which process has the session"
    return Proof(f"{words}: a call may run.", facts.runner, began_ms)


def _turn(facts: Facts) -> Proof:
    digest = facts.digest or Digest()
    if digest.turn is Turn.OPEN:
        return facts.written("The last turn has begun and not ended.", digest.turn_ms)
    if digest.turn is Turn.NONE:
        return facts.written("The lines have no end of a turn.", digest.seen_ms)
    known = knowledge_of(facts.found.agent)
    if known.ends_in_silence and digest.outcome is Outcome.SUCCEEDED:
        return facts.written("Nothing follows the last answer.", digest.seen_ms)
    outcome = "succeeded" if digest.outcome is None else str(digest.outcome)
    reason = f": {failure_words(digest)}".rstrip(": .") if digest.outcome is Outcome.FAILED else ""
    return facts.written(f"The last turn has ended: {outcome}{reason}.", digest.turn_ms or digest.seen_ms)


def _title(facts: Facts) -> Proof:
    state = facts.process and facts.process.title
    return Proof(f"The title that the agent gives its pane of tmux says “{state}”.", facts.runner)


def _no_lines(facts: Facts) -> str:
    if facts.problem:
        return f"Its lines cannot be read: {facts.problem}."
    is_listed = facts.found.path != Path() and facts.found.reach is Reach.LISTED
    if is_listed and not has_no_line(facts.found):
        return "Only the metadata of the session can be read."
    if facts.digest is not None and facts.found.size:
        return "The lines are of no agent that this version knows."
    return "The session has no line."


def _proof(basis: Basis, facts: Facts, status: SessionStatus, now_ms: int) -> Proof:
    digest, process, call = facts.digest or Digest(), facts.process, _call_of(facts, status)
    then_ms = digest.seen_ms if call is None else call.started_ms
    in_lines = partial(facts.written, since_ms=digest.seen_ms)
    by_process = partial(Proof, source=facts.runner, since_ms=process and process.began_ms)
    match basis:
        case Basis.PROCESS:
            return _process(facts)
        case Basis.REPORT:
            return _report(facts, status)
        case Basis.QUESTION:
            until_ms = status.until_ms
            ends = f" It answers itself at {coming(until_ms, now_ms)}." if until_ms else ""
            return facts.written(f"The question “{status.now}” has no answer.{ends}", digest.question_ms)
        case Basis.CALL:
            if call is None:
                return Proof("A call had no result when the state was decided.", facts.lines)
            has = "is a question, and has no answer" if call.asks else "has no result"
            return facts.written(f"The call “{asked_words(call)}” {has}.", call.started_ms)
        case Basis.NO_CHILD:
            return Proof("The process has had no child process since then.", facts.runner, then_ms)
        case Basis.CHILD:
            return _child(facts, call, then_ms)
        case Basis.UNWRITTEN:
            does = "announces a call" if digest.turn is Turn.ENDED else "does not end the turn"
            return in_lines(f"The last answer {does}.")
        case Basis.TURN:
            return _turn(facts)
        case Basis.STILL_OPEN:
            if process is not None and process.title is State.WORKING:
                return _title(facts)
            began_ms = process and process.child_began_ms
            return Proof("A child process began after the last answer.", facts.runner, began_ms)
        case Basis.SUBAGENT:
            return facts.subagent or Proof("A subagent wrote a later line.")
        case Basis.SILENCE:
            silent_ms = now_ms - facts.skew_ms - (digest.seen_ms or now_ms)
            words = f"Nothing was written for {running_clock(silent_ms)}."
            usual_ms = tolerated_ms(digest, knowledge_of(facts.found.agent))
            return in_lines(f"{words} Up to {running_clock(usual_ms)} is usual here.")
        case Basis.LIMIT:
            until_ms, words = status.until_ms, "A usage limit has refused the last request."
            ends = f"resets at {coming(until_ms, now_ms)}" if until_ms else "does not say until when"
            return Proof(f"{words} It {ends}.", facts.lines, status.since_ms)
        case Basis.NO_PROMPT:
            return in_lines("No line has a prompt.")
        case Basis.NO_LINES:
            return Proof(_no_lines(facts), facts.lines)
        case Basis.NO_ENDS:
            return in_lines("The agent does not write the end of a turn.")
        case Basis.ONE_PROMPT:
            is_known = facts.found.agent != OWN or (facts.reported and facts.reported.has_one_prompt)
            return by_process("The command answers one prompt, and ends." if is_known else _AS_A_RULE)
        case Basis.LEFT_OVER:
            return by_process("The process began after the last line: it has resumed the session.")
        case Basis.EXIT:
            words = exit_words(facts.found.metadata.exit_code)
            return Proof(f"Its process ended with {words}, whatever its result says.", facts.lines)
        case Basis.TITLE:
            return _title(facts)
        case Basis.NO_WINDOW:
            return by_process("The process is a daemon, and no terminal shows the session.")


# What does not count, and what is missing.

_OPEN = frozenset({State.WORKING, State.ASKS, State.LIMITED})
"""The reported states in the middle of a turn."""


def _outweighed(facts: Facts, status: SessionStatus) -> Iterator[Proof]:
    reported, digest, process = facts.reported, facts.digest, facts.process
    is_reported = status.by[:1] == (Basis.REPORT,)  # later, it only says that the session is open
    if reported is not None and reported.state not in (None, State.STARTING) and not is_reported:
        words = f"{_reporter(reported)} reports “{reported.state}”. {_why_not(facts, reported)}"
        yield Proof(words, reported.source or facts.runner, reported.since_ms)
    if digest is None:
        return
    turn = _turn(facts)
    if facts.life is Life.UNKNOWN:
        yield turn._replace(what=f"{turn.what} That does not show whether the process runs.")
    denied = Turn.ENDED if status.state in _OPEN else Turn.OPEN
    if is_reported and Basis.TURN not in status.by and digest.turn is denied:
        yield turn._replace(what=f"{turn.what} A report counts before the lines.")
    for each in tuple(digest.open_calls.values()):
        if is_left_over(process, each.started_ms):
            words = f"The call “{asked_words(each)}” has no result. An earlier process made it."
            yield facts.written(words, each.started_ms)
    call, mode, known = _call_of(facts, status), digest.permission_mode, knowledge_of(facts.found.agent)
    if call is None or call.kind is not ToolKind.EXECUTE or status.state is not State.WORKING:
        return
    is_one_liner = digest.is_one_liner or (reported is not None and reported.is_one_liner)
    why = "of a run for one prompt" if is_one_liner else ""
    if not may_ask(known, mode, call.kind):
        why = f"in the mode “{mode}”" if may_ask(known, "", call.kind) else "of this agent"
    if why and has_child_since(process, call.started_ms) is False:
        words = f"The process has had no child process since then. But no call {why} asks."
        yield Proof(words, facts.runner, call.started_ms)


def _why_not(facts: Facts, reported: StateReport) -> str:
    process = facts.process
    if facts.life is Life.UNKNOWN:
        return "It counts only while a process is known to have this session."
    if facts.life is Life.DEAD:
        return "It counts only while a process has this session."
    if is_outdated(reported, facts.digest, process, knowledge_of(facts.found.agent)):
        return "A newer line or child process outdates it."
    if process is not None and process.is_shared:
        return "It counts only while a terminal shows the session."
    if reported.state is not State.YOUR_TURN:
        return "It counts only when the session has a line."
    return "The command answers one prompt, and has no turn of yours."


def _missing(facts: Facts, status: SessionStatus) -> Iterator[str]:
    agent, reported, process = facts.found.agent, facts.reported, facts.process
    is_unsure = facts.life is Life.UNKNOWN
    if is_unsure and facts.processes is None:
        yield "The list of processes, from /proc or from ps and lsof."
    elif reported is not None and reported.claim is Life.UNKNOWN:
        yield "The list of processes where the process runs."
    elif (process is not None and process.is_guess) or (is_unsure and agent != OWN):
        has = "terminal shows" if process is not None and process.is_shared else "process has"
        yield f"A report of {agent} that says which {has} which session."
        yield "A recording: agentwatch run knows the process that it starts."
    elif facts.life is Life.LIVE and agent != OWN and (reported is None or reported.state is None):
        if facts.has_hooks is False:
            yield f"The hooks of {agent}: agentwatch hooks install {agent} lets it report its state."
        elif facts.has_hooks:
            yield "A report of the hook, which may be newer than this session."
        else:
            yield f"A report of its state, of which {agent} has written none."
        if (program := program_named(agent)) is not None and program.reports and program.reports.server:
            yield program.reports.server
    if status.state is State.UNFINISHED:
        if Basis.NO_PROMPT not in status.by:
            yield "The rest of the turn, which was not written before the process ended."
        return
    known = knowledge_of(agent)
    if known.announces is not None and facts.life is Life.LIVE:
        yield f"The call that runs or asks, which {agent} writes when it has ended."
    if Basis.NO_ENDS in status.by or (Basis.TURN in status.by and known.ends_in_silence):
        yield f"A line with the end of a turn, which {agent} does not write."


def facts_of(
    session: LocalSession,
    subagent: LocalSession | None,
    processes: Mapping[int, Process] | None,
    environ: Mapping[str, str],
    home: Path,
) -> Facts:
    """`subagent` works and has written a later line. `processes` is None if they cannot be listed."""
    found, cwd, error, has_hooks = session.found, session.cwd, session.problem, None
    if (hooked := hooked_agents().get(found.agent)) is not None:
        with suppress(Fault):
            has_hooks = Hooks(hooked, environ, home).status().right > 0
    near = [
        each
        for each in (processes or {}).values()
        if each.agent == found.agent and (each.is_shared or not cwd or each.cwd in (None, cwd))
    ]
    later = None
    if subagent is not None:
        later = Proof("A subagent wrote a later line.", f"file {subagent.found.path}", subagent.seen_ms)
    return Facts(
        *(found, session.digest, session.reported),
        process=None if session.skew_ms else session.process,  # its times are by another clock
        life=session.life,
        processes=None if processes is None else near,
        has_hooks=has_hooks,
        subagent=later,
        problem=session.unread or (error and (error.strerror or str(error))) or "",
        skew_ms=session.skew_ms,
    )
