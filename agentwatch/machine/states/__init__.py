"""The state of a session: what its agent says, or else what its process and its last lines show."""

from agentwatch.machine.states.decision import standing

__all__ = ["standing"]
