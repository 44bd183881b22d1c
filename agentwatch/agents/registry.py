"""The known agents, and the detection of the agent that wrote a line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentwatch.agents.agent import Agent
    from agentwatch.agents.fields import Fields
    from agentwatch.agents.program import HookedAgent, McpClient, Program


AGENTS = {
    "cursor": ("cursor", "cursor-transcript"),
    "acp": ("acp",),
    "codex": ("codex", "codex-rollout"),
    "qwen": ("qwen-chat", "qwen"),
    "opencode": ("opencode",),
    "copilot": ("copilot",),
    "pi": ("pi", "pi-session"),
    "cline": ("cline", "cline-session"),
    "gemini": ("gemini-chat", "gemini"),
    "amp": ("amp",),
    "droid": ("droid", "droid-session"),
    "kimi": ("kimi", "kimi-wire"),
    "vibe": ("vibe", "vibe-journal"),
    "claude": ("claude-transcript", "claude-code", "claude-family"),
}
"""The formats of each built-in agent, by its short name and folder, which has `FORMATS` in `agent.py` and
`PROGRAM` in `program.py`. The first that recognises a line wrote it; Cline comes before Gemini, whose older
chats are documents too. Claude Code is the last: its formats also recognise lines of Qwen Code and Amp."""
FORMATS = tuple(name for names in AGENTS.values() for name in names)


@cache
def known_agents() -> tuple[Agent, ...]:
    """Cursor is asked before the others are imported, which takes 6 ms: no other recognises its lines."""
    modules = [import_module(f"agentwatch.agents.{folder}.agent") for folder in AGENTS]
    return tuple(agent for module in modules for agent in module.FORMATS)


@cache
def programs() -> tuple[Program, ...]:
    from agentwatch.agents.plugins import plugin_programs

    built_in = [import_module(f"agentwatch.agents.{folder}.program").PROGRAM for folder in AGENTS]
    others = plugin_programs(AGENTS)
    if not others:
        return tuple(built_in)
    from agentwatch.agents.plugins.programs import guarded

    return (*built_in, *map(guarded, others))


@cache
def program_named(name: str) -> Program | None:
    return next((program for program in programs() if program.name == name), None)


def known_name(name: str) -> str:
    """Return the short name of the agent that calls itself by this name; the name itself if it is unknown.

    Example:
        >>> known_name("gemini-cli"), known_name("OpenCode"), known_name("Tiny")
        ('gemini', 'opencode', 'Tiny')
    """
    plain = name.casefold()
    for program in programs():
        command = program.command
        named = (
            () if command is None else (*command.names, *(each.split("/")[-1] for each in command.packages))
        )
        if plain in (program.name, *named):
            return program.name
    return name


def silence_hint() -> str:
    """Return why a pipe of an agent that is not known yet may stay silent; empty if no agent's does."""
    return " · ".join(program.hints.silence for program in programs() if program.hints.silence)


def failure_hint(lines: Iterable[str]) -> str | None:
    """Return the cause of a failure that an agent prints instead of a stream; None if no line has one."""
    causes = [cause for program in programs() for cause in program.hints.failures]
    return next((cause for line in lines for words, cause in causes if words in line), None)


class SessionFolder(NamedTuple):
    agent: str
    part: str
    """The path of the folder below the agent's own folder, which names the layout of its files."""
    path: str


def variables() -> list[str]:
    roots = (root for program in programs() for each in program.sessions for root in each.roots)
    named = (program.database.variable for program in programs() if program.database)
    return list(dict.fromkeys((*(root[1:].partition("/")[0] for root in roots if root[0] == "$"), *named)))


def session_folders(environ: Mapping[str, str], home: Path) -> list[SessionFolder]:
    """Return the folders in which agents may keep sessions, each once. A variable with a relative path is
    ignored: the path depends on where the agent was started."""
    found = (
        SessionFolder(program.name, each.part, os.path.realpath(os.path.join(root, each.part)))
        for program in programs()
        for each in program.sessions
        for root in _expanded(each.roots, environ, home)
    )
    return list(dict.fromkeys(found))


def _expanded(roots: tuple[str, ...], environ: Mapping[str, str], home: Path) -> Iterator[str]:
    for root in roots:
        first, _, below = root.partition("/")
        base = environ.get(first[1:], "") if first.startswith("$") else str(home)
        if base.startswith("~/"):
            base = os.path.join(home, base[2:])
        if os.path.isabs(base) and "\0" not in base:
            yield os.path.join(base, below)


def mcp_clients() -> dict[str, McpClient]:
    return {program.name: program.mcp for program in programs() if program.mcp is not None}


def mcp_file(client: McpClient, environ: Mapping[str, str], home: Path) -> Path:
    """Return the file with the servers of an agent, which may not exist."""
    return Path(next(_expanded(client.files, environ, home)))


def hooked_agents() -> dict[str, HookedAgent]:
    found = {
        program.name: hooked
        for program in programs()
        if program.hooks and (hooked := _hooked_agent(program)) is not None
    }
    return dict(sorted(found.items()))


def answered_agents() -> dict[str, HookedAgent]:
    from agentwatch.agents.first_use import imported

    return {program.name: imported(program.answers) for program in programs() if program.answers}


def _hooked_agent(program: Program) -> HookedAgent | None:
    if program.name not in AGENTS:
        from agentwatch.agents.plugins.programs import hooked_agent_of

        return hooked_agent_of(program.name, program.hooks)
    from agentwatch.agents.first_use import imported

    found: HookedAgent = imported(program.hooks)
    return found


def detect(fields: Fields, *, is_first: bool = True, asks_plugins: bool = True) -> Agent | None:
    """Return the agent that wrote a line; None if several can have, or no known agent. `is_first`: no
    event came before it. A line of a type that several agents have is not the agent's after other lines.

    Example:
        >>> detect({"type": "thinking", "subtype": "delta", "text": "Hm"}).name
        'cursor'
        >>> detect({"type": "result", "session_id": "1"}, is_first=False)
    """
    from agentwatch.agents.cursor.agent import AGENT as CURSOR

    if CURSOR.recognises(fields):
        return CURSOR
    agents = known_agents()
    found = next((agent for agent in agents if agent.recognises(fields)), None)
    if found is None and is_first:
        may_have = [agent for agent in agents if agent.may_write is not None and agent.may_write(fields)]
        found = may_have[0] if len(may_have) == 1 else None
    if found is None and asks_plugins:
        from agentwatch.agents.plugins import plugin_agents  # reads the metadata of all packages

        found = next((agent for agent in plugin_agents() if agent.recognises(fields)), None)
    return found


def agent_named(name: str) -> Agent | None:
    found = next((agent for agent in known_agents() if agent.name == name), None)
    if found is None:
        from agentwatch.agents.plugins import plugin_agent

        found = plugin_agent(name)
    return found


def agent_on_disk(name: str) -> Agent | None:
    """Return the format in which an agent keeps its sessions on disk; None if it is unknown.

    Example:
        >>> agent_on_disk("claude").name
        'claude-transcript'
    """
    program = program_named(name)
    return None if program is None or not program.file_format else agent_named(program.file_format)


# The versions of the agents with which the formats were checked, as the stage `real` of the tests found.

CHECKED_FILE = Path(__file__).with_name("checked.json")
"""Written by `python -m tests.real --write`."""


class Checked(NamedTuple):
    version: str
    day: str
    wrong: int

    def __str__(self) -> str:
        result = f"{self.wrong} wrong" if self.wrong else "right"
        return f"checked with version {self.version} on {self.day}: {result}"


@cache
def checked_formats() -> dict[str, Checked]:
    import json

    return {name: Checked(**fields) for name, fields in json.loads(CHECKED_FILE.read_text()).items()}
