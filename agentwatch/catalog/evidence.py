"""Why a row of the list says what it says: each piece of evidence with its source, its time and its weight.

The states are decided in `states`, which names the evidence by its `Basis`. Here it gets its words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.agents.found import OWN, Found, Reach
from agentwatch.agents.registry import hooked_agents
from agentwatch.agents.reported import Life, Said, State
from agentwatch.base.faults import Fault
from agentwatch.catalog.digest.digest import Digest
from agentwatch.catalog.digest.parts import OpenCall, Turn
from agentwatch.catalog.hooks.plan import Hooks
from agentwatch.catalog.processes import session_in
from agentwatch.catalog.row import Row
from agentwatch.catalog.standing import Basis, Ground, Process, Standing
from agentwatch.catalog.states import (
    asked_words,
    failure_words,
    has_child_since,
    is_left_over,
    is_outdated,
    knowledge_of,
    may_ask,
    tolerated_ms,
)
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.text.durations import running_clock
from agentwatch.text.times import coming

if TYPE_CHECKING:
    from agentwatch.catalog.tracked import Tracked


_MOST_PIDS = 4
_AS_A_RULE = "A recorded agent answers one prompt, as a rule. The command does not say it."
_OVER = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED})


class Weight(StrEnum):
    """What a piece of evidence counts."""

    DECIDED = "decided"
    OUTWEIGHED = "outweighed"
    """It says something else, and does not count."""
    MISSING = "missing"
    """It was not there, and would have said more."""


class Proof(NamedTuple):
    """A piece of evidence. Its words contain foreign text."""

    what: str
    """Sentences: what was seen, and why it does not count."""
    source: str = ""
    """Where it was seen: `file PATH`, `process PID`, `hook PATH`, `server SOCKET`; empty for what is missing.
    """
    since_ms: int | None = None
    """When it began, in milliseconds since the epoch; None if unknown."""
    weight: Weight = Weight.DECIDED


class Facts(NamedTuple):
    """All that is known about a session of this machine at one time."""

    found: Found
    digest: Digest | None
    said: Said | None
    process: Process | None
    life: Life
    processes: Sequence[Process] | None = ()
    """The processes of its agent in its folder, or whose folder is unknown; None if they cannot be listed."""
    has_hooks: bool | None = None
    """Whether hooks are installed for its agent; None if its hooks cannot be used."""
    problem: str = ""
    """Why its lines cannot be read."""
    skew_ms: int = 0
    """How far the clock of its lines is behind ours."""

    @property
    def lines(self) -> str:
        """The source of its lines."""
        return "" if self.found.path == Path() else f"file {self.found.path}"

    @property
    def runner(self) -> str:
        """The source of what its process shows."""
        pid = self.process.pid if self.process is not None else self.said and self.said.pid
        return f"process {pid}" if pid else "processes"

    def on_our_clock(self, proof: Proof) -> Proof:
        """Return a piece of evidence with its time by our clock."""
        if not self.skew_ms or proof.since_ms is None or proof.source != self.lines:
            return proof
        return proof._replace(since_ms=proof.since_ms + self.skew_ms)


def evidence(row: Row, facts: Facts | None, now_ms: int) -> list[Proof]:
    """Return the evidence for the state of a row: what decided, what was outweighed, what is missing.

    Args:
        row: The row.
        facts: What is known about its session; None for a session of another machine.
        now_ms: The present time, in milliseconds since the epoch.
    """
    if facts is None:
        return list(_elsewhere(row))
    standing = row.standing
    is_over = facts.found.parent is not None and standing.state in _OVER  # whatever its process does
    bases = standing.by if is_over else dict.fromkeys((*standing.by, Basis.PROCESS))
    found = [_WORDS[basis](facts, standing, now_ms) for basis in bases]
    found += (each._replace(weight=Weight.OUTWEIGHED) for each in _outweighed(facts, standing))
    missing = () if standing.ground is Ground.SAID else _missing(facts, standing)
    return [*map(facts.on_our_clock, found), *(Proof(words, weight=Weight.MISSING) for words in missing)]


def _elsewhere(row: Row) -> Iterator[Proof]:
    """Yield what is known of a session of another machine: its report."""
    if not row.address:
        yield Proof("The session is not in the list any more.")
        return
    standing, place, (scheme, _, rest) = row.standing, row.place, row.address.partition("://")
    source, inferred = f"{scheme}://{rest.partition('/')[0]}", standing.ground is Ground.INFERRED
    words = f"{place} reports “{standing.state}”{', which is inferred there' if inferred else ''}."
    reported = Proof(words, source, standing.since_ms)
    if row.lost_ms is None:
        yield reported
    else:
        yield Proof(f"Nothing arrives from {place}.", source, row.lost_ms)
        yield reported._replace(weight=Weight.OUTWEIGHED)
    words = f"The evidence is on {place}: agentwatch explain shows it there."
    yield Proof(words, weight=Weight.MISSING)


# Whether a process has the session.


def _process(facts: Facts, _standing: Standing, _now_ms: int) -> Proof:
    process, said = facts.process, facts.said
    words = {Life.LIVE: _live, Life.DEAD: _dead, Life.UNKNOWN: _unsure}[facts.life](facts)
    began_ms = process.began_ms if process is not None else said and said.began_ms
    is_lock = facts.found.agent == OWN and (said is None or said.pid is None)
    source = facts.lines if is_lock else facts.runner
    return Proof(words, source, began_ms if facts.life is Life.LIVE else None)


def _live(facts: Facts) -> str:
    found, process, said = facts.found, facts.process, facts.said
    pid = None if said is None or said.life is not Life.LIVE else said.pid
    if found.parent is not None:
        return "The process of the session that started this subagent runs."
    if found.agent == OWN:
        return "agentwatch records the process, which runs." if pid else "The recording is being written."
    if said is not None and said.state is State.STARTING:
        return "The process runs in a terminal, and no session of it is found."
    if pid is not None:
        shown = f" Process {process.viewer} shows it in a terminal." if process and process.viewer else ""
        return f"The process runs, and the agent reports that it has this session.{shown}"
    if process is None:
        return f"This session is the only one that {_pids(facts)} may have written."
    if any(Path(path).name in (found.path.name, f"{found.id}.lock") for path in process.open_paths):
        return "The process runs, and has the file of this session open."
    if process.is_guess:
        return "The process runs in the folder of this session, the newest of several that changed there."
    if session_in(process.agent, process.arguments) in (found.id, str(found.path)):
        return "The process runs, and its arguments name this session."
    return "The process runs, and only this session has changed in its folder since it began."


def _dead(facts: Facts) -> str:
    found, said = facts.found, facts.said
    if found.parent is not None:
        return "No process has the session that started this subagent."
    if found.agent == OWN:
        return "No process writes the recording."
    if facts.process is not None:
        return "The process runs in the folder of this session, and a newer session has changed there."
    if said is not None and said.pid is not None:
        return "The process that the agent's record names has ended."
    facts = facts._replace(processes=[each for each in facts.processes or () if not each.is_shared])
    if not facts.processes:
        return f"No process of {found.agent} runs in the folder of this session."
    return f"Nothing links this session to {_pids(facts)}."


def _unsure(facts: Facts) -> str:
    if facts.found.agent == OWN:
        return "The file system has no locks that show whether the recording is being written."
    if facts.said is not None and facts.said.claim is Life.UNKNOWN:
        return "The process that the agent's record names is on another machine or in a container."
    if facts.processes is None:
        return "The processes of this machine cannot be listed."
    return f"This session is one of several that {_pids(facts)} may have written."


def _pids(facts: Facts) -> str:
    """Return the processes that may have the session, in words: `process 101`, `processes 101, 102`."""
    pids = [str(each.pid) for each in facts.processes or ()][:_MOST_PIDS]
    noun = "processes" if pids[1:] else "process" if pids else f"a process of {facts.found.agent}"
    return f"{noun} {', '.join(pids)}".rstrip()


# What else decides.


def _reporter(said: Said) -> str:
    """Return who reports: `The hook`, `The server`, `The agent`."""
    kind = said.source.partition(" ")[0]
    return f"The {kind if kind in ('hook', 'server') else 'agent'}"


def _report(facts: Facts, standing: Standing, _now_ms: int) -> Proof:
    said = facts.said
    if said is None:
        return Proof("The agent has reported it, and reports nothing now.")
    source = said.source or facts.runner
    if said.state is None or standing.by[0] is not Basis.REPORT:
        more = ", and it would report a question" if standing.state is State.WORKING else ""
        return Proof(f"The agent reports that the session is open{more}.", source, said.began_ms)
    about = f" ({said.about})" if said.about else ""
    since_ms = standing.since_ms if said.since_ms is None else said.since_ms
    return Proof(f"{_reporter(said)} reports “{said.state}”{about}.", source, since_ms)


def _call_of(facts: Facts, standing: Standing) -> OpenCall | None:
    """Return the open call that a state is about."""
    calls = () if facts.digest is None else tuple(facts.digest.open_calls.values())
    about = [each for each in calls if standing.now_since_ms in (None, each.started_ms)]
    return next(iter(about or calls), None)


def _question(facts: Facts, standing: Standing, _now_ms: int) -> Proof:
    asked_ms = (facts.digest or Digest()).asked_ms
    return Proof(f"The question “{standing.now}” has no answer.", facts.lines, asked_ms)


def _call(facts: Facts, standing: Standing, _now_ms: int) -> Proof:
    call = _call_of(facts, standing)
    if call is None:
        return Proof("A call had no result when the state was decided.", facts.lines)
    has = "is a question, and has no answer" if call.asks else "has no result"
    return Proof(f"The call “{asked_words(call)}” {has}.", facts.lines, call.started_ms)


def _no_child(facts: Facts, standing: Standing, _now_ms: int) -> Proof:
    call = _call_of(facts, standing)
    since_ms = standing.since_ms if call is None else call.started_ms
    return Proof("The process has had no child process since then.", facts.runner, since_ms)


def _turn(facts: Facts, _standing: Standing, _now_ms: int) -> Proof:
    digest = facts.digest or Digest()
    if digest.turn is Turn.OPEN:
        return Proof("The last turn has begun and not ended.", facts.lines, digest.turn_ms)
    if digest.turn is Turn.NONE:
        return Proof("The lines have no end of a turn.", facts.lines, digest.seen_ms)
    known = knowledge_of(facts.found.agent)
    if known.ends_in_silence and digest.outcome is Outcome.SUCCEEDED:
        return Proof("Nothing follows the last answer.", facts.lines, digest.seen_ms)
    outcome = "succeeded" if digest.outcome is None else str(digest.outcome)
    reason = f": {failure_words(digest)}".rstrip(": .") if digest.outcome is Outcome.FAILED else ""
    return Proof(
        f"The last turn has ended: {outcome}{reason}.", facts.lines, digest.turn_ms or digest.seen_ms
    )


def _silence(facts: Facts, standing: Standing, now_ms: int) -> Proof:
    digest, silent_ms = facts.digest or Digest(), now_ms - (standing.since_ms or now_ms)
    usual = running_clock(tolerated_ms(digest))
    words = f"Nothing was written for {running_clock(silent_ms)}. Up to {usual} is usual here."
    return Proof(words, facts.lines, digest.seen_ms)


def _limit(facts: Facts, standing: Standing, now_ms: int) -> Proof:
    ends = "It does not say until when." if standing.until_ms is None else ""
    ends = ends or f"It resets at {coming(standing.until_ms or 0, now_ms)}."
    return Proof(f"A usage limit has refused the last request. {ends}", facts.lines, standing.since_ms)


def _no_lines(facts: Facts, _standing: Standing, _now_ms: int) -> Proof:
    if facts.problem:
        return Proof(f"Its lines cannot be read: {facts.problem}.", facts.lines)
    if facts.found.path != Path() and facts.found.reach is Reach.LISTED:
        return Proof("Only the metadata of the session can be read.", facts.lines)
    if facts.digest is not None and facts.found.size:
        return Proof("The lines are of no agent that this version knows.", facts.lines)
    return Proof("The session has no line yet.", facts.lines)


def _one_prompt(facts: Facts, standing: Standing, now_ms: int) -> Proof:
    is_known = facts.found.agent != OWN or (facts.said is not None and facts.said.has_one_prompt)
    words = "The command answers one prompt, and ends." if is_known else _AS_A_RULE
    return _of_process(words)(facts, standing, now_ms)


_Words = Callable[[Facts, Standing, int], Proof]


def _of_lines(words: str) -> _Words:
    return lambda facts, _, __: Proof(words, facts.lines, (facts.digest or Digest()).seen_ms)


def _of_process(words: str, *, is_child: bool = False) -> _Words:
    def proof(facts: Facts, _standing: Standing, _now_ms: int) -> Proof:
        process = facts.process
        began_ms = process and (process.child_began_ms if is_child else process.began_ms)
        return Proof(words, facts.runner, began_ms)

    return proof


_WORDS: dict[Basis, _Words] = {
    Basis.PROCESS: _process,
    Basis.REPORT: _report,
    Basis.QUESTION: _question,
    Basis.CALL: _call,
    Basis.NO_CHILD: _no_child,
    Basis.CHILD: _of_process(
        "The process has a younger child process, or is busy: a call may run.", is_child=True
    ),
    Basis.UNWRITTEN: _of_lines("The last answer announces a call, or does not end the turn."),
    Basis.TURN: _turn,
    Basis.STILL_OPEN: _of_process(
        "A child process or a subagent began after the last answer.", is_child=True
    ),
    Basis.SUBAGENT: _of_lines("A subagent has written a later line."),
    Basis.SILENCE: _silence,
    Basis.LIMIT: _limit,
    Basis.NO_PROMPT: _of_lines("No line has a prompt yet."),
    Basis.NO_LINES: _no_lines,
    Basis.NO_ENDS: _of_lines("The agent does not write the end of a turn."),
    Basis.ONE_PROMPT: _one_prompt,
    Basis.LEFT_OVER: _of_process("The process began after the last line: it has resumed the session."),
    Basis.NO_WINDOW: _of_process("The process is a daemon, and no terminal shows the session."),
}
"""The words for each kind of evidence. A new kind needs a `Basis`, and its words here."""


# What does not count, and what is missing.

_OPEN = frozenset({State.WORKING, State.ASKS, State.QUIET})
_AT_REST = frozenset({State.YOUR_TURN, State.SHELL})


def _outweighed(facts: Facts, standing: Standing) -> Iterator[Proof]:
    said, digest, process = facts.said, facts.digest, facts.process
    is_reported = standing.by[:1] == (Basis.REPORT,)  # later, it only says that the session is open
    if said is not None and said.state not in (None, State.STARTING) and not is_reported:
        words = f"{_reporter(said)} reports “{said.state}”. {_why_not(facts, said)}"
        yield Proof(words, said.source or facts.runner, said.since_ms)
    if digest is None or facts.life is Life.DEAD:
        return
    turn = _turn(facts, standing, 0)
    if facts.life is Life.UNKNOWN:
        yield turn._replace(what=f"{turn.what} It does not show whether the process runs.")
    if is_reported and (
        (digest.turn is Turn.ENDED and standing.state in _OPEN)
        or (digest.turn is Turn.OPEN and standing.state in _AT_REST)
    ):
        yield turn._replace(what=f"{turn.what} A report counts before the lines.")
    for each in tuple(digest.open_calls.values()):
        if is_left_over(process, each.started_ms):
            words = f"The call “{asked_words(each)}” has no result. An earlier process made it."
            yield Proof(words, facts.lines, each.started_ms)
    call, mode, known = _call_of(facts, standing), digest.permission_mode, knowledge_of(facts.found.agent)
    works = call is not None and call.kind is ToolKind.EXECUTE and standing.state is State.WORKING
    if call is not None and works and not may_ask(known, mode, call.kind):
        why = f"in the mode “{mode}”" if may_ask(known, "", call.kind) else "of this agent"
        proof = _no_child(facts, standing, 0)
        if has_child_since(process, call.started_ms) is False:
            yield proof._replace(what=f"{proof.what} But no call {why} asks.")


def _why_not(facts: Facts, said: Said) -> str:
    """Return why a report does not count."""
    process = facts.process
    if facts.life is Life.UNKNOWN:
        return "It counts only while a process is known to have this session."
    if facts.life is Life.DEAD:
        return "It counts only while a process has this session."
    if is_outdated(said, facts.digest, process, knowledge_of(facts.found.agent)):
        return "A newer line or child process outdates it."
    if process is not None and process.is_shared and process.viewer == 0:
        return "It counts only while a terminal shows the session."
    return "The command answers one prompt, and has no turn of yours."


def _missing(facts: Facts, standing: Standing) -> Iterator[str]:
    agent, said, process = facts.found.agent, facts.said, facts.process
    is_unsure = facts.life is Life.UNKNOWN
    if is_unsure and facts.processes is None:
        yield "The list of processes, from /proc or from ps and lsof."
    elif said is not None and said.claim is Life.UNKNOWN:
        yield "The list of processes where the process runs."
    elif (process is not None and process.is_guess) or (is_unsure and agent != OWN):
        yield f"One process for each folder: {agent} does not say which process has which session."
        yield "A recording: agentwatch run knows the process that it starts."
    elif facts.life is Life.LIVE and agent != OWN and (said is None or said.state is None):
        if facts.has_hooks is False:
            yield f"The hooks of {agent}: agentwatch hooks install {agent} lets it report its state."
        elif facts.has_hooks:
            yield "A report of the hook, which may be newer than this session."
        else:
            yield f"A report of its state, which {agent} does not write."
    if standing.state is State.UNFINISHED:
        yield "A line with the end of the turn, which was not written before the process ended."
        return
    known = knowledge_of(agent)
    if known.announces is not None and facts.life is Life.LIVE:
        yield f"The call that runs or asks, which {agent} writes when it has ended."
    if Basis.NO_ENDS in standing.by or (Basis.TURN in standing.by and known.ends_in_silence):
        yield f"A line with the end of a turn, which {agent} does not write."


def facts_of(
    session: Tracked, processes: Mapping[int, Process] | None, environ: Mapping[str, str], home: Path
) -> Facts:
    """Return what is known about a session of this machine.

    Args:
        session: The session.
        processes: The processes of all agents; None if they cannot be listed.
        environ: The environment, which may name the folders of agents.
        home: The home folder.
    """
    found, cwd, has_hooks = session.found, session.cwd, None
    if (hooked := hooked_agents().get(found.agent)) is not None:
        with suppress(Fault):
            has_hooks = Hooks(hooked, environ, home).status().right > 0
    near = [
        each
        for each in (processes or {}).values()
        if each.agent == found.agent and (each.is_shared or not cwd or each.cwd in (None, cwd))
    ]
    return Facts(
        *(found, session.digest, session.said, session.process, session.life),
        processes=None if processes is None else near,
        has_hooks=has_hooks,
        problem=str(session.problem or ""),
        skew_ms=session.skew_ms,
    )
