"""Keeps the sessions of a log apart: the main one, the subagents' sessions, and others at the same time."""

from __future__ import annotations

from agentwatch.events import Event, RunInfo, RunStarted
from agentwatch.wire.acp.requests import short
from agentwatch.wire.fields import Fields, mapping, text

_MOST_SESSIONS = 256
FORMAT = "acp"


class Sessions:
    """The sessions of a log, at most 256. Ids of more than 500 characters are not distinguished."""

    def __init__(self) -> None:
        self.main: str | None = None
        """The session of the current run."""
        self.has_run = False
        """Whether a run has started."""
        self.is_used = False
        """Whether the current run has a prompt or content."""
        self.agent = RunInfo()
        """The name and the version of the agent."""
        self._facts: dict[str, RunInfo] = {}
        self._seen: dict[str, None] = {}
        """The sessions whose content is in the log."""
        self._children: dict[str, str] = {}
        """The agents of the sessions that belong to subagents."""
        self._sides: dict[str, None] = {}
        """Other sessions that have begun while the turn of the main one was open."""

    def describe(self, session: str | None, facts: RunInfo) -> list[Event]:
        """Keep facts about a session. Return them if it is the main one."""
        if (session := short(session)) is None:
            return []
        self._facts[session] = _merged(self._facts.get(session, RunInfo()), facts)
        _bound(self._facts)
        return [facts] if session == self.main and self.has_run and any(facts) else []

    def begin(self, session: str | None, *, is_turn_open: bool) -> list[Event]:
        """Make a session the main one, unless the turn of another one is open."""
        session = short(session)
        if session is None or (session == self.main and self.has_run) or is_turn_open:
            return []
        facts = self._facts.get(session, RunInfo())._replace(session_id=session)
        if self.has_run and not self.is_used:
            self.main = session
            return [facts]
        self.main, self.has_run, self.is_used = session, True, False
        self._sides.pop(session, None)
        started = RunStarted(
            format=FORMAT,
            session_id=session,
            model=facts.model,
            cwd=facts.cwd,
            permission_mode=facts.permission_mode,
            agent_version=self.agent.agent_version,
        )
        named = RunInfo(agent_name=self.agent.agent_name)
        return [started, named] if named.agent_name else [started]

    def restart(self) -> None:
        """Forget what belongs to an agent process: another one has started."""
        self.is_used = self.is_used or self.main is not None
        self.main = None
        self._children.clear()
        self._sides.clear()

    def cwd(self, session: str | None) -> str:
        """Return the working directory of a session, without a separator at its end; empty if unknown."""
        facts = self._facts.get(session or "") or self._facts.get(self.main or "")
        return ((facts and facts.cwd) or "").rstrip("/\\")

    def is_seen(self, session: str | None) -> bool:
        """Return whether content of a session is in the log."""
        return session in self._seen

    def see(self, session: str | None) -> None:
        """Note that content of a session is in the log."""
        if (session := short(session)) is not None and session not in self._seen:
            self._seen[session] = None
            _bound(self._seen)

    def add_child(self, update: Fields) -> str | None:
        """Keep the session of a subagent. Return its title if the session is new."""
        child = short(text(update, "subagentSessionId") or text(update, "sessionId"))
        if child is None or child in self._children or child == self.main:
            return None
        self._children[child] = text(update, "toolCallId") or child
        _bound(self._children)
        return text(update, "title") or text(update, "name") or text(update, "task") or "a subagent"

    def agent_of(self, session: str | None, update: Fields) -> str | None:
        """Return the agent that a line belongs to: a call, or a session; None for the main agent."""
        claude = mapping(mapping(update.get("_meta")).get("claudeCode"))
        if parent := text(claude, "parentToolUseId"):
            return parent
        if session is None or session == self.main:
            return None
        return self._children.get(session) or session

    def is_other(self, session: str | None) -> bool:
        """Return whether a session is neither the main one nor a subagent's."""
        return session is not None and session != self.main and session not in self._children

    def is_side(self, session: str | None) -> bool:
        """Return whether a session is another one that runs at the same time as the main one."""
        return session in self._sides

    def add_side(self, session: str) -> None:
        """Note that another session runs at the same time as the main one."""
        if short(session) is not None:
            self._sides[session] = None
            _bound(self._sides)

    def end_side(self, session: str | None) -> None:
        """Note that the turn of another session has ended."""
        self._sides.pop(session or "", None)


def _merged(first: RunInfo, second: RunInfo) -> RunInfo:
    return first._replace(**{name: value for name, value in second._asdict().items() if value is not None})


def _bound(found: dict[str, RunInfo] | dict[str, str] | dict[str, None]) -> None:
    if len(found) > _MOST_SESSIONS:
        del found[next(iter(found))]
