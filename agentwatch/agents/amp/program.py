"""What is known about Amp, beside its formats."""

from __future__ import annotations

from agentwatch.agents.program import NO_CALLS, Command, Knowledge, Program

PROGRAM = Program(
    name="amp",
    command=Command(
        names=("amp",), packages=("@sourcegraph/amp",), one_prompt=frozenset({"-x", "--execute"})
    ),
    knowledge=Knowledge(NO_CALLS, has_calls=False, has_ends=False),
    no_resume="its threads are on the vendor's server: run amp threads continue",
)
