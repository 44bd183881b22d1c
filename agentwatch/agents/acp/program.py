"""What is known about the Agent Client Protocol, which several agents speak, beside its formats."""

from __future__ import annotations

from agentwatch.agents.program import Knowledge, Program

PROGRAM = Program(
    name="acp",
    knowledge=Knowledge(converses=True),
    no_resume="only the editor that has started it can continue it",
)
