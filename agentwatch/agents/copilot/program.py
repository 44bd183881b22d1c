"""What is known about Copilot, beside its formats.

Source: the vendor's documentation and code, and folders that the program has written.
"""

from __future__ import annotations

from agentwatch.agents.fields import Fields, mapping, text
from agentwatch.agents.program import NO_CALLS, Command, Knowledge, Mode, Program, Reports, Resume, SessionsAt

_REFUSED = "what needs a permission is refused"
_MODES = {
    "plan": "it plans, and changes nothing",
    "interactive": _REFUSED,
    "autopilot": f"it continues by itself until it is done; {_REFUSED}",
}


def _mode_in(fields: Fields) -> str | None:
    """Return the mode in a prompt, if it is there, or in a change of it; not in a prompt for a subagent."""
    if "agentId" in fields:
        return None
    data = mapping(fields.get("data"))
    if fields.get("type") == "session.mode_changed":
        return text(data, "newMode")
    return text(data, "agentMode") if fields.get("type") == "user.message" else None


def _folder_in(fields: Fields) -> str | None:
    is_start = fields.get("type") == "session.start"
    return text(mapping(mapping(fields.get("data")).get("context")), "cwd") if is_start else None


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
        ("copilot", "--output-format", "json", "{mode}", "--resume={id}", "--prompt={text}"),
        "copilot --resume",
        modes=tuple(Mode(name, words, (f"--mode={name}",)) for name, words in _MODES.items()),
        asking="interactive",
        mode_in=_mode_in,
        folder_in=_folder_in,
        widened_by=("COPILOT_ALLOW_ALL", "COPILOT_ASSISTED_APPROVAL"),
    ),
)
"""It logs each question and its answer."""
