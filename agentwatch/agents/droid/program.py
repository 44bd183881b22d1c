"""What is known about Droid, beside its formats."""

from __future__ import annotations

from agentwatch.agents.program import Program

PROGRAM = Program(name="droid")
