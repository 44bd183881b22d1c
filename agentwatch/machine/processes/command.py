"""Which agent a command line belongs to."""

import os
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from agentwatch.wire.agents import programs
from agentwatch.wire.program import Command as Look

_UNKNOWN = Look(())

_INTERPRETERS = frozenset({"node", "nodejs", "bun", "deno", "sh", "bash", "dash", "zsh"})
_RUNNERS = frozenset({"run", "x"})
"""The word between the interpreter and the script: `bun run gemini`."""
_WITH_VALUE = frozenset({"-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file"})
"""The options of Node.js whose value is the next argument."""
_CODE = frozenset({"-c", "-e", "-m", "-p", "--eval", "--print"})
"""The options that run code or a module, not a script."""
_NO_SESSION = frozenset(
    {"agents", "auth", "completion", "config", "doctor", "export", "extensions", "import", "install"}
    | {"login", "logout", "mcp", "models", "plugin", "plugins", "setup-token", "stats", "uninstall", "update"}
    | {"upgrade", "--help", "-h", "--version", "-v", "--ripgrep"}
)
"""The first arguments of processes of an agent that have no session, because they manage something."""
_SESSION_OPTIONS = frozenset({"--resume", "-r", "resume", "--session", "-s", "--session-id"})
_FORKS = frozenset({"--fork-session", "fork"})
_LEAST_ID = 8
"""Shorter values are no ids: Gemini numbers its sessions, `--resume 5`."""


class Command(NamedTuple):
    """The command line of an agent."""

    agent: str
    rest: tuple[str, ...]
    """The arguments after the program or script."""
    is_script: bool
    """Whether an interpreter runs it."""

    @property
    def is_shared(self) -> bool:
        """Whether the process serves several sessions."""
        return any(word in self.rest for word in look_of(self.agent).servers)

    @property
    def folder(self) -> str | None:
        """The folder that the arguments name for the session; None without one."""
        for option in look_of(self.agent).folder_options:
            for word, value in zip(self.rest, self.rest[1:], strict=False):
                if word == option:
                    return value
            for word in self.rest:
                if word.startswith(f"{option}=") and option.startswith("--"):
                    return word.partition("=")[2]
        return None


def command_of(arguments: Sequence[str]) -> Command | None:
    """Return the command of an agent; None for any other program.

    Args:
        arguments: The arguments of the process, of which the first is the program.
    """
    if len(arguments) == 1 and " " in arguments[0]:
        arguments = arguments[0].split()  # a program that has set its title: `npm exec @google/gemini-cli`
    if not arguments:
        return None
    program = _name(arguments[0])
    if agent := _named(program):
        return _command(agent, arguments[1:], is_script=False)
    if program not in _INTERPRETERS and not program.startswith("python"):
        return None
    place = _script(arguments)
    if place is None:
        return None
    script = arguments[place]
    agent = _named(_name(script)) or _packaged(script)
    return _command(agent, arguments[place + 1 :], is_script=True) if agent else None


def session_in(agent: str, arguments: Sequence[str]) -> str | None:
    """Return the id or the path of the session that arguments resume; None if they name no session.

    Args:
        agent: The short name of the agent.
        arguments: The arguments of the process.
    """
    if not _FORKS.isdisjoint(arguments):
        return None
    for word, following in zip(arguments, (*arguments[1:], ""), strict=False):
        option, _, value = word.partition("=")
        if option not in _SESSION_OPTIONS or option in look_of(agent).own_ids:
            continue
        value = value or following
        if len(value) >= _LEAST_ID and not value.startswith("-"):
            return value
    return None


def _command(agent: str, rest: Sequence[str], *, is_script: bool) -> Command | None:
    first = frozenset(rest[:1])
    if first & _NO_SESSION or first & look_of(agent).helpers:
        return None
    return Command(agent, tuple(rest), is_script)


def _script(arguments: Sequence[str]) -> int | None:
    """Return the place of the script that an interpreter runs; None if it runs none."""
    skips = False
    for place, word in enumerate(arguments[1:], 1):
        if skips or word in _RUNNERS:
            skips = False
        elif word in _CODE:
            return None
        elif word in _WITH_VALUE:
            skips = True
        elif not word.startswith("-"):
            return place
    return None


def _name(path: str) -> str:
    """Return the name of a program without its folder and ending."""
    return os.path.basename(path).removesuffix(".js").removesuffix(".mjs").removesuffix(".exe")


def _named(name: str) -> str | None:
    looks = _looks()
    for prefix, agent in looks.releases:
        if name.startswith(prefix):
            return agent
    return looks.names.get(name)


def _packaged(path: str) -> str | None:
    for package, agent in _looks().packages:
        if f"/{package}/" in path:
            return agent
    return None


def look_of(agent: str) -> Look:
    """Return how the processes of an agent look, by its short name."""
    return _looks().of.get(agent, _UNKNOWN)


class _Looks(NamedTuple):
    """How the processes of all agents look."""

    of: dict[str, Look]
    names: dict[str, str]
    """The short name of the agent by the name of its program."""
    packages: tuple[tuple[str, str], ...]
    releases: tuple[tuple[str, str], ...]


@cache
def _looks() -> _Looks:
    of = {program.name: program.command for program in programs() if program.command is not None}
    return _Looks(
        of,
        {name: agent for agent, look in of.items() for name in look.names},
        tuple((package, agent) for agent, look in of.items() for package in look.packages),
        tuple((prefix, agent) for agent, look in of.items() for prefix in look.releases),
    )
