"""What is known of the process of an agent that we started, gathered for the status line."""

from __future__ import annotations

from agentwatch.agent_facts import NO_FACTS, AgentFacts
from agentwatch.sources.activity import Activity
from agentwatch.sources.process import AgentProcess


class ProcessFacts:
    """Looks at an agent's process; cheap enough to be asked at every tick."""

    def __init__(self, agent: AgentProcess | None) -> None:
        """Look at `agent`; of None nothing is ever known."""
        self._agent = agent
        self._activity = None if agent is None else Activity(agent.pid)
        self._at_end: AgentFacts | None = None

    def now(self) -> AgentFacts:
        """Return what is known now; after the end it stays."""
        agent = self._agent
        if agent is None or self._activity is None:
            return NO_FACTS
        if agent.exit_code is None:
            return AgentFacts(agent.pid, agent.started_ms, uses_cpu=self._activity.uses_cpu())
        if self._at_end is None:
            last = agent.stderr.last_lines(1)
            self._at_end = AgentFacts(
                None, agent.started_ms, agent.exit_code, stderr=last[0] if last else None
            )
        return self._at_end
