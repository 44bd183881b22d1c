"""Sessions of this machine while they are watched, and the rows that show them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.agents.session_entry import OWN, Key, Reach, SessionEntry
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog.hiding import Archive
from agentwatch.catalog.places import is_problem
from agentwatch.catalog.repository import Repositories, Repository
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import LIVE, UNKNOWN, Basis, Ground, Process, SessionStatus
from agentwatch.catalog.states import LEAST_QUIET_MS, Steady, knowledge_of, status
from agentwatch.recording.acts import Act, SessionActs, acts_name, acts_names
from agentwatch.session.counts import known_sum

if TYPE_CHECKING:
    from agentwatch.catalog.digest.digest import Digest
    from agentwatch.catalog.digest.reading import Tail
    from agentwatch.session.counts import Use
    from agentwatch.session.events import Tokens
    from agentwatch.session.limits import Reported

NO_FILE = Path()
"""The path of a session that has written nothing yet."""
_MS_NS = 1_000_000
_MOST_COUNTED = 1 << 20
"""The bytes of a recording in which lines are counted, in 0.1 ms."""
_MOST_SKEW_MS = 60_000
_MOST_SUBAGENTS = 10_000


class SessionCounts(NamedTuple):
    """The counts under the names of the row, with subagents; None means unknown."""

    calls: int | None = None
    failed: int | None = None
    rejected: int | None = None
    cancelled: int | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    uses: tuple[tuple[Use, Tokens], ...] | None = None

    @classmethod
    def summed(cls, counts: Sequence[SessionCounts]) -> SessionCounts:
        *numbers, uses = zip(*counts, strict=True)
        sums = cls(*map(known_sum, numbers))
        used = () if sums.cost_usd is not None else tuple(chain(*filter(None, uses)))
        return sums._replace(uses=used or None)


class LocalSession:
    __slots__ = (
        *("_acts_of", "_arrivals", "acts", "below_ms", "found", "is_joined", "is_read", "kept"),
        *("life", "process", "reported", "status", "tail"),
    )

    def __init__(self, found: SessionEntry) -> None:
        self.found = found
        self.tail: Tail | None = None
        """It is None until the first time, and without lines."""
        self.kept: Digest | None = None
        """What an earlier list has read; nothing follows if the process has ended."""
        self.is_read = False
        """Whether the lines were read since the file has changed."""
        self.reported: StateReport | None = None
        self.process: Process | None = None
        self.life = Life.DEAD
        self.is_joined = False
        """Whether it is known whether its process runs."""
        self.status: SessionStatus = UNKNOWN
        self.acts: Sequence[Act] = ()
        self._acts_of: SessionActs | None = None
        self.below_ms = 0
        """The time of the last line of its subagents; 0 without one."""
        self._arrivals: tuple[int, tuple[int, int] | None] = (0, None)
        """The time of change of a recording of our own, and when its first and last line arrived."""

    @property
    def digest(self) -> Digest | None:
        """Return None if its lines were not read."""
        return self.kept if self.tail is None else self.tail.digest

    @property
    def final(self) -> Digest | None:
        """The digest, if its process has ended and reading its lines again would give the same."""
        if self.tail is None or not self.is_joined or self.life is not Life.DEAD:
            return None
        return self.tail.final

    @property
    def problem(self) -> OSError | None:
        """Return None if its lines can be read, or were before and are being written."""
        error = None if self.tail is None else self.tail.problem
        is_known = self.digest is not None and self.digest.seen_ms is not None
        return error if error is not None and is_problem(error, is_known=is_known) else None

    @property
    def unread(self) -> str:
        """Why none of its lines was ever read; empty if one was, or if it was not tried."""
        is_known = self.digest is None or self.digest.seen_ms is not None or self.digest.is_whole
        error = None if self.tail is None or is_known else self.tail.problem
        return self.found.metadata.problem if error is None else error.strerror or "they cannot be read"

    @property
    def is_behind(self) -> bool:
        """Whether its lines have changed, and may be read again only later."""
        return self.tail is not None and self.tail.is_behind

    @property
    def is_due(self) -> bool:
        return self.tail is None or self.tail.is_due

    @property
    def is_live(self) -> bool:
        return self.life is not Life.DEAD or self.is_running

    @property
    def is_running(self) -> bool:
        """Whether time alone may change its state."""
        return self.status.state in LIVE

    def is_reported(self, now_ms: int) -> bool:
        """Whether time changes only the words of its state, which its agent reports."""
        if self.reported is None or self.reported.state is None or self.status.ground is not Ground.SAID:
            return False
        return self.status.until_ms is None and (self.tail is None or not self.tail.is_silent(now_ms))

    @property
    def reporting_pid(self) -> int:
        """The agent's process, if the agent's report decides the state, not what it does; otherwise 0."""
        status, process = self.status, self.process
        is_said = status.ground is Ground.SAID and status.by[:1] == (Basis.REPORT,)
        return process.pid if is_said and process is not None and not process.is_shared else 0

    def is_timeless(self, now_ms: int) -> bool:
        """Whether even the words of its state stay; they say for how long it is silent, if no call runs."""
        if not self.is_reported(now_ms):
            return False
        if self.status.state is not State.WORKING or self.status.is_calling or self.digest is None:
            return True
        seen_ms = self.digest.seen_ms
        return seen_ms is None or now_ms - seen_ms <= LEAST_QUIET_MS

    def is_doubtful(self, now_ms: int) -> bool:
        """Whether a question is inferred that the next look may disprove: the agent may be busy, the result
        of its command may not be written yet, or its store has changed."""
        process, state = self.process, self.status
        if state.state is not State.ASKS or state.ground is not Ground.INFERRED or process is None:
            return False
        if process.is_idle is not None or self.is_behind or not process.is_calm:
            return process.is_idle is None or self.is_behind
        busy_process = process._replace(is_idle=False)
        busy = status(self.found, self.digest, self.reported, busy_process, self.life, now_ms)
        return busy.state is not State.ASKS

    @property
    def cwd(self) -> str:
        if self.digest is not None and self.digest.cwd:
            return self.digest.cwd
        reported = None if self.reported is None else self.reported.cwd
        shown = self.process.cwd if self.process is not None and self.process.viewer else None
        return self.found.metadata.cwd or reported or shown or ""

    @property
    def seen_ms(self) -> int:
        """The time of its last line, or else of the last change of its file."""
        digest, metadata = self.digest, self.found.metadata
        seen_ms = metadata.changed_ms if digest is None or digest.seen_ms is None else digest.seen_ms
        return self.found.changed_ns // _MS_NS if seen_ms is None else seen_ms + self.skew_ms

    @property
    def began_ms(self) -> int | None:
        digest, reported = self.digest, self.reported
        if digest is None or digest.began_ms is None:
            known_ms = self.found.metadata.began_ms
            return known_ms if known_ms is not None or reported is None else reported.began_ms
        return digest.began_ms + self.skew_ms

    @property
    def span(self) -> tuple[int | None, int | None]:
        """The times of its first and its last line, in ms, if its file was read since it has changed."""
        is_known = self.is_read and self.found.reach is not Reach.STORE and self.digest is not None
        return self.began_ms, self.digest.seen_ms if is_known and self.digest is not None else None

    @property
    def duration_ms(self) -> int | None:
        """How long it took, if it has ended, as `Session.duration_ms`."""
        if self.is_running or self.digest is None:
            return None
        arrived = self._arrived_ms() if self.found.agent == OWN else None
        return self.digest.duration_ms(arrived or (None, None), self.below_ms)

    @property
    def is_counted(self) -> bool:
        """Whether its own lines were read whole."""
        digest = self.digest
        return bool(digest and digest.is_whole and digest.format and self.found.reach is not Reach.PARTS)

    @property
    def has_results(self) -> bool:
        """Whether its agent writes the results of calls."""
        return knowledge_of(self.found.agent).has_results

    @property
    def counts(self) -> SessionCounts | None:
        """Return None if its own lines were not read whole."""
        digest = self.digest
        if digest is None or not self.is_counted:
            return None
        has_results = self.has_results
        tokens, uses = digest.tokens, digest.uses
        used = tuple(uses.priced()) if uses is not None and tokens.cost_usd is None else ()
        return SessionCounts(
            digest.calls,
            digest.failed if has_results else None,
            digest.rejected if has_results else None,
            digest.cancelled if has_results else None,
            *tokens[:4],
            used or None,
        )

    def read(self, *, is_brief: bool = False) -> bool:
        """Return whether the digest has changed. `is_brief` reads only the ends: it has ended long ago."""
        self.is_read = True
        if self.found.reach is Reach.LISTED:
            return False
        if self.tail is None or (self.tail.is_brief and not is_brief):
            from agentwatch.catalog.digest.reading import Tail

            self.tail, self.kept = Tail(self.found, is_brief=is_brief), None
        self.tail.found = self.found
        has_changed = self.tail.update()
        return self.end() or has_changed

    def read_acts(self, names: Container[str]) -> bool:
        """Return whether its acts have changed. `names` are of the files of acts in the state folder."""
        is_own = self.found.agent == OWN
        if self._acts_of is None:
            if self.found.path == NO_FILE if is_own else acts_name(*self.found.key) not in names:
                return False
            self._acts_of = SessionActs(self.found.path if is_own else None)
        before, self.acts = self.acts, self._acts_of.read(*self.found.key)
        return self.acts is not before

    def join(self, life: Life, process: Process | None) -> bool:
        """Return whether its process, or whether it runs, has changed."""
        if self.is_joined and (self.life, self.process) == (life, process):
            return False
        self.life, self.process, self.is_joined = life, process, True
        self.end()
        return True

    def judged(self, now_ms: int, *, has_subagent: bool = False) -> SessionStatus:
        """`has_subagent` says whether a subagent works whose last line is newer than its own."""
        if self.tail is not None:
            self.tail.pass_time(now_ms)
        found, digest, skew_ms, reported = self.found, self.digest, self.skew_ms, self.reported
        if unread := self.unread:
            known = status(found, None, reported, self.process, self.life, now_ms)
            now = known.now or unread.removeprefix("it is ")
            return known._replace(now=now) if known.state is State.UNKNOWN else known
        is_over = found.agent == OWN and self.life is Life.DEAD and found.size
        if is_over and digest is not None and not digest.format and self.is_read:
            now = _unknown_agent(found)
            return SessionStatus(State.UNKNOWN, Ground.UNKNOWN, self.seen_ms, now, by=(Basis.NO_LINES,))
        if reported is not None and found.agent == OWN and (arrived := self._arrived_ms()) is not None:
            # as the header, which counts from the first line
            reported = reported._replace(began_ms=arrived[0])
        if not skew_ms or (reported is not None and reported.state is not None):
            return status(found, digest, reported, self.process, self.life, now_ms, has_subagent=has_subagent)
        if reported is not None and reported.began_ms is not None:
            reported = reported._replace(began_ms=reported.began_ms - skew_ms)
        known = status(found, digest, reported, None, self.life, now_ms - skew_ms)
        times = (known.since_ms, known.now_since_ms, known.until_ms)
        since_ms, now_since_ms, until_ms = (None if each is None else each + skew_ms for each in times)
        return known._replace(since_ms=since_ms, now_since_ms=now_since_ms, until_ms=until_ms)

    @property
    def skew_ms(self) -> int:
        """How far the clock of the agent is behind ours, for a recording of our own; 0 if less than a minute.
        A stream may have old stamps: it is replayed, or its agent has another clock. The file of one that is
        being written has the time at which the last line arrived; later it may be copied, and only its
        arrival times say so."""
        digest = self.digest
        if self.found.agent != OWN or digest is None or digest.seen_ms is None or self.life is Life.UNKNOWN:
            return 0
        changed_ms = self.found.changed_ns // _MS_NS
        if abs(changed_ms - digest.seen_ms) <= _MOST_SKEW_MS:
            return 0
        arrived = (0, changed_ms) if self.life is Life.LIVE else self._arrived_ms()
        skew_ms = 0 if arrived is None else arrived[1] - digest.seen_ms
        return skew_ms if abs(skew_ms) > _MOST_SKEW_MS else 0

    def _arrived_ms(self) -> tuple[int, int] | None:
        """Return when the first and the last line of a recording arrived; None if unknown."""
        found = self.found
        if self._arrivals[0] != found.changed_ns and found.path != NO_FILE:
            from agentwatch.recording.head_tail import arrivals_ms
            from agentwatch.recording.store import SessionFiles

            self._arrivals = found.changed_ns, arrivals_ms(SessionFiles(found.path).times)
        return self._arrivals[1]

    def end(self) -> bool:
        """Apply what the end of the process means for the lines, if it has ended."""
        if self.tail is None or self.life is not Life.DEAD or not self.is_joined:
            return False
        has_changed = self.tail.settle()
        self.tail.release()
        return has_changed


def _unknown_agent(found: SessionEntry) -> str:
    """What a recording has whose lines are of no known agent: `unknown agent, 12 lines`."""
    from agentwatch.recording.head_tail import first_bytes
    from agentwatch.text.amounts import plural

    lines = first_bytes(found.path, _MOST_COUNTED).count(b"\n")
    return f"unknown agent, {'over ' if found.size > _MOST_COUNTED else ''}{plural(lines, 'line')}"


def without_file(key: Key, reported: StateReport) -> SessionEntry:
    """A session that an agent names before it has written its first line."""
    since_ms = reported.since_ms or reported.began_ms or 0
    return SessionEntry(*key, NO_FILE, 0, since_ms * _MS_NS, reach=Reach.LISTED)


def row_of(
    session: LocalSession,
    repository: Repository,
    subagents: tuple[int, int] = (0, 0),
    twin: LocalSession | None = None,
    *,
    counts: SessionCounts | None = None,
    is_archived: bool = False,
) -> Row:
    """`subagents` are all, and those that work. `twin` is the same session in the agent's own file, which may
    have the prompt that the stream lacks. `counts` is None if a part of them was not read."""
    found, reported, status = session.found, session.reported, session.status
    from agentwatch.catalog.digest.digest import Digest

    digest, metadata = session.digest or Digest(), found.metadata
    is_own = found.agent == OWN
    prompts = (digest.first_prompt or metadata.prompt, digest.last_prompt)
    branch = metadata.branch if digest.branch is None else digest.branch
    is_counted = session.is_counted
    has_results = is_counted and session.has_results
    return Row(
        key=found.key,
        agent=digest.agent
        or (reported.runs if is_own and reported is not None else "" if is_own else found.agent),
        id=found.id,
        path=found.path,
        can_open=found.reach is not Reach.LISTED,
        status=status,
        title=_title(session) or (_title(twin) if twin is not None else ""),
        is_read=session.is_read or found.reach is Reach.LISTED,
        prompts="\n".join(dict.fromkeys(filter(None, prompts))),
        last_text=digest.last_text,
        cwd=session.cwd,
        repo=repository.name,
        branch=_branch(branch, repository, is_live=session.is_live),
        worktree=repository.worktree,
        model=digest.model or metadata.model or "",
        **(counts or SessionCounts())._asdict(),
        turns=digest.turns if is_counted else None,
        open_calls=len(digest.open_calls),
        context_used=digest.context_used,
        context_size=digest.context_size,
        limits=_limits(session),
        lines_added=digest.lines_added if has_results else None,
        lines_removed=digest.lines_removed if has_results else None,
        todo=digest.todo,
        tests=digest.tests,
        began_ms=session.began_ms if metadata.began_ms is None else metadata.began_ms,
        seen_ms=session.seen_ms,
        duration_ms=session.duration_ms,
        exit_code=metadata.exit_code,
        size=found.size,
        pid=_pid(session),
        tmux=reported.tmux if reported is not None else "",
        parent=None if found.parent is None else (found.agent, found.parent),
        subagents=min(subagents[0], _MOST_SUBAGENTS),
        working_subagents=subagents[1],
        is_one_liner=digest.is_one_liner or (reported is not None and reported.is_one_liner),
        is_archived=is_archived or metadata.is_archived,
        is_own=is_own,
        acts=session.acts,
    )


def _limits(session: LocalSession) -> tuple[Reported, ...]:
    """A line without a time is as old as the session, or younger."""
    known = () if session.digest is None else session.digest.limits.windows
    began_ms = session.began_ms
    return tuple(each._replace(said_ms=began_ms) if each.said_ms is None else each for each in known)


def _branch(written: str | None, repository: Repository, *, is_live: bool) -> str:
    """The branch that is checked out where a session runs, or that its lines name; empty for none."""
    now = repository.branch
    return now or written or "" if is_live or written is None else written


def _title(session: LocalSession) -> str:
    """The user's name, the agent's title, or the last prompt, which says more than a summary of the first."""
    from agentwatch.catalog.digest.digest import Digest

    digest, metadata, reported = session.digest or Digest(), session.found.metadata, session.reported
    given = (
        reported.name if reported is not None and reported.is_users_name else "",
        metadata.title if metadata.is_users_title else "",
        digest.title if digest.is_users_title else "",
        metadata.title,
        digest.title,
        digest.last_prompt,
        metadata.prompt,
        digest.first_prompt,
        reported.name if reported is not None else "",
    )
    return next(filter(None, given), "")


def _pid(session: LocalSession) -> int | None:
    if session.life is not Life.LIVE:
        return None
    if session.reported is not None and session.reported.pid is not None:
        return session.reported.pid
    return None if session.process is None else session.process.pid or None


LATER_MS = 60_000
"""The agent may write its own file for this time after the last line of its stream."""


class Twins:
    """The recordings of our own, by their session. One has the times of all lines and the end of the process,
    so its row stands for both, unless the session was continued without us."""

    def __init__(self) -> None:
        self._recordings: defaultdict[Key, set[Key]] = defaultdict(set)
        self._sessions: dict[Key, Key] = {}

    def note(self, key: Key, session: LocalSession) -> Key | None:
        """Return the key of a recording's session in the agent's own file; None for another session."""
        digest = session.digest
        if session.found.agent != OWN or digest is None or not digest.agent or not digest.session_id:
            return None
        of = digest.agent, digest.session_id
        if self._sessions.get(key) != of:
            self.forget(key)
            self._sessions[key] = of
            self._recordings[of].add(key)
        return of

    def session_of(self, key: Key) -> Key | None:
        """Return None for a session that is not a recording."""
        return self._sessions.get(key)

    def recordings_of(self, key: Key) -> AbstractSet[Key]:
        """The recordings of a session, whose rows may show its title."""
        return self._recordings.get(key, frozenset())

    def forget(self, key: Key) -> None:
        if (of := self._sessions.pop(key, None)) is not None:
            self._recordings[of].discard(key)

    def has_recording(self, key: Key, sessions: Mapping[Key, LocalSession]) -> bool:
        """Whether the row of a recording stands for a session in an agent's own file."""
        own = self._recordings.get(key)
        if not own:
            return False
        seen_ms = sessions[key].seen_ms - LATER_MS
        return any(sessions[each].is_live or sessions[each].seen_ms >= seen_ms for each in own)


def descendants(subagents: Mapping[Key, AbstractSet[Key]], key: Key) -> list[Key]:
    """The session, its subagents and theirs; foreign files may say that these are in a circle."""
    family, seen = [key], {key}
    for each in family:
        below = subagents.get(each, set()) - seen
        seen |= below
        family += below
    return family


class RowTable:
    """Each row is replaced when something in it has changed. The caller adds and removes the sessions."""

    def __init__(
        self, sessions: Mapping[Key, LocalSession], subagents: Mapping[Key, AbstractSet[Key]]
    ) -> None:
        self.rows: Mapping[Key, Row] = {}
        """The rows by key. A changed row replaces the mapping by a new one."""
        self.twins = Twins()
        self.archive = Archive()
        self._sessions = sessions
        self._subagents = subagents
        self._repositories = Repositories()
        self._row_repositories: dict[Key, Repository] = {}
        self._checked: dict[str, Repository] = {}
        """Read every 5 s."""
        self.steady = Steady()

    def running(self, live: AbstractSet[Key], now_ms: int, *, is_silence_due: bool) -> set[Key]:
        """The sessions and subagents whose state time may change. `is_silence_due` includes those whose agent
        reports it: only the minutes of their silence change."""
        sessions = self._sessions
        if is_silence_due:
            running = {key for key in live if not sessions[key].is_timeless(now_ms)}
        else:
            running = {key for key in live if not sessions[key].is_reported(now_ms)}
        for key in live & self._subagents.keys():
            running.update(each for each in self._subagents[key] if self._sessions[each].is_running)
        return running

    def held(self, now_ms: int) -> set[Key]:
        """Return the sessions that may be shown to ask now, because they have seemed to for a second."""
        return self.steady.due(now_ms)

    def moved(self, live: AbstractSet[Key]) -> set[Key]:
        """Return the sessions in whose folder another branch is checked out than their rows show."""
        cwds = {key: self._sessions[key].cwd for key in live}
        now = self._checked = {cwd: self._repositories.of(cwd) for cwd in set(cwds.values()) if cwd}
        return {key for key, cwd in cwds.items() if cwd and self._row_repositories.get(key) != now[cwd]}

    def judge(self, due: AbstractSet[Key], timed: AbstractSet[Key], now_ms: int) -> set[Key]:
        """Judge sessions, and update their rows: something is new about those in `due`; those in `timed` may
        have another state. Return the next: parents of changed subagents, recordings of changed sessions."""
        changed: dict[Key, Row | None] = {}
        parents: set[Key] = set()
        repositories = {"": Repository(), **self._checked}  # `HEAD` is read once for a folder
        acts = acts_names()
        for key in sorted(due | timed, key=self._subagents.__contains__):  # parents count their subagents
            session = self._sessions.get(key)
            if session is None or self.twins.has_recording(key, self._sessions):
                self.steady.forget(key)
                changed[key] = None
                self._row_repositories.pop(key, None)
                parents |= self.twins.recordings_of(key)
                continue
            before = session.status
            known = session.judged(now_ms, has_subagent=self.later_subagent(key, session) is not None)
            session.status = self.steady.shown(key, known, before, now_ms)
            if session.status == before and key not in due:
                continue
            if (cwd := session.cwd) not in repositories:
                repositories[cwd] = self._repositories.of(cwd)
            session.read_acts(acts)
            of = self.twins.session_of(key)
            twin = None if of is None else self._sessions.get(of)
            about = session, repositories[cwd], self._count_subagents(key), twin
            is_archived = key in self.archive.keys
            changed[key] = row_of(*about, counts=self._counts(key), is_archived=is_archived)
            if session.is_live:
                self._row_repositories[key] = repositories[cwd]
            else:
                self._row_repositories.pop(key, None)
            if session.found.parent is not None and session.status != before:
                parents.add((session.found.agent, session.found.parent))
        self._replace(changed)
        return parents

    def _replace(self, changed: Mapping[Key, Row | None]) -> None:
        """A row that is None is removed."""
        different = {key: row for key, row in changed.items() if self.rows.get(key) != row}
        if not different:
            return
        rows = dict(self.rows)
        for key, row in different.items():
            if row is None:
                rows.pop(key, None)
            else:
                rows[key] = row
        self.rows = rows

    def later_subagent(self, key: Key, session: LocalSession) -> LocalSession | None:
        """The subagent that works and has written last, after its session; None without one."""
        keys = self._subagents.get(key)
        if not keys or session.digest is None or session.digest.seen_ms is None:
            return None
        seen_ms = session.digest.seen_ms
        subagents = map(self._sessions.get, tuple(keys))  # another thread may ask, and one may vanish
        later = (each for each in subagents if each and each.is_running and each.seen_ms > seen_ms)
        return max(later, key=lambda each: each.seen_ms, default=None)

    def _counts(self, key: Key) -> SessionCounts | None:
        """Return None if a subagent was not read whole. Note in the session when the last of them wrote."""
        session = self._sessions[key]
        if key not in self._subagents or knowledge_of(key[0]).joins_subagents:
            return session.counts
        family = [self._sessions[each] for each in descendants(self._subagents, key)]
        digests = [each.digest for each in family[1:]]
        session.below_ms = max((each.seen_ms or 0 for each in digests if each is not None), default=0)
        counts = [each.counts for each in family]
        known = [each for each in counts if each is not None]
        return SessionCounts.summed(known) if len(known) == len(counts) else None

    def _count_subagents(self, key: Key) -> tuple[int, int]:
        """All subagents, and those that work."""
        keys = self._subagents.get(key)
        if not keys:
            return 0, 0
        states = [self._sessions[each].status.state for each in keys]
        return len(states), states.count(State.WORKING)
