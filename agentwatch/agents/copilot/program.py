"""What is known about Copilot, beside its formats.

Source: the vendor's documentation and code, and folders that the program has written.
"""

from __future__ import annotations

from agentwatch.agents.program import NO_CALLS, Command, Knowledge, Program, Reports, Resume, SessionsAt

PROGRAM = Program(
    name="copilot",
    sessions=(
        SessionsAt(
            "session-state", ("$COPILOT_HOME", "~/.copilot"), "agentwatch.agents.copilot.places:session_state"
        ),
    ),
    file_format="copilot",
    command=Command(
        names=("copilot",),
        packages=("@github/copilot",),
        continues=frozenset({"--continue"}),
        one_prompt=frozenset({"-p", "--prompt"}),
        several_prompts=frozenset({"--acp"}),
        own_ids=frozenset({"--session-id"}),  # the id of the run, not that of a session that is resumed
    ),
    knowledge=Knowledge(NO_CALLS, is_exact=True),
    reports=Reports("session-state", "session-state", "agentwatch.agents.copilot.reported:CopilotLocks"),
    resume=Resume(
        ("copilot", "--output-format", "json", "--resume={id}", "--prompt={text}"), "copilot --resume"
    ),
)
"""It logs each question and its answer."""
