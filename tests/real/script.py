"""The scenarios that the scripted model plays, which are the truth of each session.

A prompt names its scenario: `Please do RUN-full now`. A call is written with the agent's own tool, which is
found by its name and filled in by its schema.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

Tools = Mapping[str, Mapping[str, Any] | None]
"""The tools that an agent offers: the JSON schema of each; None if it takes a text."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the script, and its true outcome."""

    kind: str
    """The key of `_TOOLS`."""
    command: str = ""
    path: str = ""
    content: str = ""
    old: str = ""
    new: str = ""
    asks: bool = False
    """Whether the command asks to run outside a sandbox, with agents that have such an option."""
    in_background: bool = False
    outcome: str = "succeeded"
    exit_code: int | None = None
    """The exit code of a command; None for another tool."""


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    seconds: float = 0.3
    """How long the text takes."""
    stalls: float = 0
    """Seconds of silence after the text."""
    error: int = 0
    """The HTTP status of a refusal; 0 for an answer."""
    refusals: int = 0
    """How often it is refused before it is answered; 0 for always."""


class Usage(NamedTuple):
    """The tokens of one answer."""

    uncached: int
    cached: int
    output: int


class Played(NamedTuple):
    """A call as the model has written it."""

    tool: str
    arguments: dict[str, Any] | str
    """The text of a tool without a schema."""


def _shell(command: str, exit_code: int = 0, **given: Any) -> Call:
    outcome = "failed" if exit_code else "succeeded"
    return Call("shell", command=command, exit_code=exit_code, outcome=outcome, **given)


SOUGHT = "asked.txt"
"""What the scenario `write` writes and `search` looks up."""
ANSWER = "All done: the answer is forty-two."
SCENARIOS: dict[str, tuple[Step, ...]] = {
    "full": (
        Step("I begin with a look around.", (_shell("echo hello-one && ls"),)),
        Step("Now one that fails.", (_shell("echo oops >&2; exit 3", 3),)),
        Step(calls=(Call("write", path="notes.txt", content="alpha\nbeta\n"),)),
        Step(calls=(Call("edit", path="notes.txt", old="beta", new="gamma"),)),
        Step(calls=(Call("read", path="missing-file.txt", outcome="failed"),)),
        Step("Two at once.", (_shell("echo begin-A; sleep 2; echo par-A"), _shell("echo par-B"))),
        Step("A long one.", (_shell("echo start-long; sleep 20; echo long-done"),)),
        Step(ANSWER),
    ),
    "turn": (
        Step(
            "I think about it.", (_shell("touch marker.txt && sleep 15 && echo done", asks=True),), seconds=6
        ),
        Step("The turn is done."),
    ),
    "hello": (Step("Hello there, nothing to do."),),
    "long": (
        Step("A long one now.", (_shell("echo start-long; sleep 20; echo long-done"),)),
        Step("Long is done."),
    ),
    "quiet": (Step("I wait very long.", stalls=100),),
    "write": (Step("I write.", (Call("write", path=SOUGHT, content="x\n"),)), Step("Written.")),
    "search": (Step("I look it up.", (Call("find", content=f"{SOUGHT} kind:edit"),)), Step("Found.")),
    "fetch": (Step("I fetch.", (Call("fetch"),)), Step("Fetched.")),
    "question": (Step("A question.", (Call("question"),)), Step("Thanks for the answer.")),
    "two": (
        Step(
            "Two ask.", (_shell("touch a1 && echo a1", asks=True), _shell("touch a2 && echo a2", asks=True))
        ),
        Step("Both."),
    ),
    "sub": (Step("I delegate.", (Call("task"),)), Step("The helper has reported.")),
    "subjob": (Step(calls=(_shell("echo sub-start; sleep 8; echo sub-ran"),)), Step("Sub report: fine.")),
    "background": (
        Step(calls=(_shell("echo bg-start; sleep 30; echo bg-done", in_background=True),)),
        Step("It runs in the background."),
    ),
    "error": (Step(error=400),),
    "slow": (Step("One two three four five six seven eight.", seconds=8),),
    "flaky": (Step("Answered after two refusals.", error=500, refusals=2),),
    "broken": (Step(error=500),),
}
_TOOLS = {
    "shell": (
        "Bash",
        "bash",
        "exec_command",
        "shell_command",
        "shell",
        "run_shell_command",
        "Execute",
        "run_command",
        "run_commands",
    ),
    "write": ("Write", "write", "write_file", "Create", "create", "create_file", "apply_patch", "editor"),
    "edit": ("Edit", "edit", "replace", "search_replace", "str_replace", "apply_patch", "editor"),
    "read": ("Read", "read", "read_file", "view", "read_files"),
    "fetch": ("WebFetch", "webfetch", "web_fetch", "fetch"),
    "task": ("Agent", "Task", "task", "agent", "spawn_agent", "invoke_agent"),
    "find": ("mcp__agentwatch__find", "mcp_agentwatch_find"),
    "question": ("AskUserQuestion", "ask_user_question", "question", "ask_user", "request_user_input"),
}
"""The names of the tools of all agents, the preferred first."""
_CHOICES = [{"label": "Red", "description": "red one"}, {"label": "Blue", "description": "blue one"}]
_FILLED = {"string": "x", "boolean": False, "number": 60_000, "integer": 60_000, "array": [], "object": {}}
"""What a required argument gets that the script does not know, by its type."""
_PROMPT = re.compile(r"RUN-([a-z]+)")


def usage(step: int) -> Usage:
    """Return the tokens of a step: each differs, so that a step left out is noticed."""
    return Usage(1000 + 100 * step, 10 * step, 50 + step)


def prompt(scenario: str) -> str:
    return f"Please do RUN-{scenario} now"


def place(messages: list[tuple[bool, str, bool]]) -> tuple[str | None, int]:
    """Return the scenario of a conversation and the number of its next step.

    A message is whether the user wrote it, its text, and whether it has calls.
    """
    scenario, at = None, 0
    for number, (is_users, text, _) in enumerate(messages):
        if is_users and (found := _PROMPT.findall(text)):
            scenario, at = found[-1], number
    steps = sum(has_calls for is_users, _, has_calls in messages[at + 1 :] if not is_users)
    return (scenario, steps) if scenario in SCENARIOS else (None, 0)


def can_play(tools: Tools) -> bool:
    """Return whether an agent offers a tool that runs commands, by which every call can be played.

    `gemini --prompt` offers none unless its arguments allow all calls.
    """
    return any(name in tools for name in _TOOLS["shell"])


def played(call: Call, tools: Tools, folder: str, url: str) -> Played:
    """Return a call as the agent's tool takes it, or else a command that has the same outcome."""
    name = next((name for name in _TOOLS[call.kind] if name in tools), None)
    if name is None and not can_play(tools):  # it tries what it may not
        return Played(call.kind, {"path": call.path, "content": call.content})
    if name is None:
        commands = {
            "read": f"cat {call.path}",
            "write": f"printf 'alpha\\nbeta\\n' > {call.path}",
            "edit": f"sed -i s/{call.old}/{call.new}/ {call.path}",
        }
        return played(_shell(commands.get(call.kind, f"echo no-tool-for-{call.kind}")), tools, folder, url)
    schema = tools[name]
    if name == "apply_patch":
        text = _patch(call)
        fields = (schema or {}).get("properties") or {"input": {}}
        return Played(name, text if schema is None else {next(iter(fields)): text})
    schema = schema or {}
    known = _arguments(call, name, os.path.join(folder, call.path), url)
    required = schema.get("required") or ()
    arguments = {}
    for key, field in (schema.get("properties") or {}).items():
        kind = field.get("type") if isinstance(field, dict) else None
        if (value := known.get(key)) is not None:
            arguments[key] = ["bash", "-lc", value] if kind == "array" and key == "command" else value
        elif key in required:
            chosen = field.get("enum") if isinstance(field, dict) else None
            arguments[key] = chosen[-1] if chosen else _FILLED.get(str(kind), "x")
    return Played(name, arguments)


def _patch(call: Call) -> str:
    if call.kind == "write":
        body = f"*** Add File: {call.path}\n" + "".join(f"+{line}\n" for line in call.content.splitlines())
    else:
        body = f"*** Update File: {call.path}\n@@\n-{call.old}\n+{call.new}\n"
    return f"*** Begin Patch\n{body}*** End Patch\n"


def _arguments(call: Call, tool: str, path: str, url: str) -> dict[str, Any]:
    """Return the values of all names that the arguments of such a tool have in any agent."""
    match call.kind:
        case "shell":
            asking = {
                "sandbox_permissions": "require_escalated",
                "justification": "May I touch the marker file?",
            }
            return {
                **dict.fromkeys(("command", "cmd"), call.command),
                "commands": [call.command],
                "description": "run a command",
                **dict.fromkeys(("run_in_background", "is_background"), call.in_background),
                **dict.fromkeys(("timeout_ms", "yield_time_ms"), 30_000),
                **(asking if call.asks else {}),
            }
        case "fetch":
            return {"url": f"{url}/page", "prompt": f"Read {url}/page", "format": "text"}
        case "task":
            helper = (
                "generalist" if tool == "invoke_agent" else "general" if tool == "task" else "general-purpose"
            )
            return {
                **dict.fromkeys(("prompt", "message", "objective", "task"), prompt("subjob")),
                "description": "look around",
                **dict.fromkeys(("subagent_type", "agent_name"), helper),
                **dict.fromkeys(("name", "task_name"), "helper"),
            }
        case "find":
            return {"words": call.content}
        case "question":
            question = {"question": "Which colour?", "header": "Colour", "type": "choice", "id": "q1"}
            flags = {"multiSelect": False, "multiple": False}
            return {
                "questions": [{**question, **flags, "options": _CHOICES}],
                "question": "Which colour?",
                "choices": ["Red", "Blue"],
                "options": ["Red", "Blue"],
            }
        case _:
            return {
                **dict.fromkeys(("file_path", "filePath", "path", "absolute_path"), path),
                **dict.fromkeys(("content", "file_text", "contents"), call.content or None),
                **dict.fromkeys(("old_string", "oldString", "old_str", "oldText"), call.old or None),
                **dict.fromkeys(("new_string", "newString", "new_str", "newText"), call.new or None),
                "old_text": call.old or None,
                "new_text": call.new or call.content,
                "files": [{"path": path}],
                "edits": [{"oldText": call.old, "newText": call.new}],
                "instruction": "change a word",
            }
