"""What is known about the process of an agent: observed by `sources`, judged by `analysis`."""

from __future__ import annotations

from typing import NamedTuple

LATE_EXIT_MS = 30_000
"""How long after its result an agent may take to exit: agents are known to hang then."""


class AgentFacts(NamedTuple):
    """The process of an agent that agentwatch started; of any other agent nothing is known."""

    pid: int | None = None
    """None once the process has ended."""
    started_ms: int | None = None
    exit_code: int | None = None
    stderr: str | None = None
    """The last line of its stderr, once the process has ended."""
    uses_cpu: bool | None = None
    """Whether the agent's processes use CPU; None if unknown."""


NO_FACTS = AgentFacts()
