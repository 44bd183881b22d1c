"""The command `hooks`: shows what it would change, asks, and changes that and nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from agentwatch.agents.plugins import PROGRAMS
from agentwatch.agents.program import HookedAgent
from agentwatch.agents.registry import answered_agents, hooked_agents
from agentwatch.base.faults import CANNOT_CREATE, USAGE, Fault
from agentwatch.catalog.hooks.plan import Change, Hooks, Status
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.messages import confirmed, say
from agentwatch.cli.stdout import print_lines
from agentwatch.text.times import date_and_time


class AgentName(click.Choice[str]):
    """The name of one of some agents, which are loaded when a name is read, completed or listed."""

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self._names = names
        self.case_sensitive = True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self._names())


@click.command(cls=HelpfulCommand)
@click.argument("action", type=click.Choice(("status", "install", "remove")))
@click.argument(
    "agent", type=AgentName(lambda: sorted({**hooked_agents(), **answered_agents()})), required=False
)
@click.option(
    "--answer", "answers", is_flag=True, help="Let the list answer permission prompts (Claude Code)."
)
@click.option("--yes", "is_confirmed", is_flag=True, help="Change files without asking.")
def hooks(action: str, agent: str | None, *, answers: bool, is_confirmed: bool) -> int:
    """Let Claude Code, Codex, Cursor or Gemini CLI report by hooks.

    Codex, Cursor and Gemini CLI report their states. Claude Code, with --answer, lets the list answer its
    permission prompts; its state is known without hooks.
    """
    if os.name != "posix":
        raise Fault("hooks need a system with /bin/sh", USAGE)
    agents, answered = hooked_agents(), answered_agents()
    for problem in PROGRAMS.problems:
        say(problem)
    if action == "status":
        every = [*agents.items(), *answered.items()]
        found = (hooked for name, hooked in sorted(every) if agent in (None, name))
        return print_lines([line for hooked in found for line in _report(hooked)])
    if agent is None:
        raise Fault(f"hooks {action} needs an agent: {', '.join(sorted({**agents, **answered}))}", USAGE)
    if action == "install" and answers and agent not in answered:
        raise Fault(f"hooks install --answer: only for {', '.join(answered)}", USAGE)
    if action == "install" and not answers and agent not in agents:
        raise Fault(f"hooks install {agent} needs --answer: its state is known without hooks", USAGE)
    chosen = answered if answers or agent not in agents else agents
    hooks = Hooks(chosen[agent], os.environ, Path.home())
    return _install(hooks, is_confirmed) if action == "install" else _remove(hooks, is_confirmed)


def _install(hooks: Hooks, is_confirmed: bool) -> int:
    changes, program = hooks.installing(), hooks.program
    if not changes and program.is_installed:
        return print_lines([f"the hooks of {hooks.agent.title} are installed already: {hooks.file}"])
    verb = "is" if is_confirmed else "would be"
    more = [] if program.is_installed else [f"The program that they run {verb} written: {program.path}"]
    done = f"installed the hooks of {hooks.agent.title}"
    return changed(changes, more, "Install the hooks?", is_confirmed, hooks.install, done, hooks.agent.note)


def _remove(hooks: Hooks, is_confirmed: bool) -> int:
    changes = hooks.removing()
    if not changes:
        return print_lines([f"no hooks of agentwatch are installed for {hooks.agent.title}"])
    verb = "are" if is_confirmed else "would be"
    logs = f"The logs of the hooks {verb} deleted: {hooks.program.folder / hooks.agent.name}"
    more = [] if hooks.agent.answers else [logs]
    if hooks.program.path.exists() and not hooks.is_program_shared():
        more.append(
            f"The program that they run {'is' if is_confirmed else 'would be'} deleted: {hooks.program.path}"
        )
    done = f"removed the hooks of {hooks.agent.title}"
    return changed(changes, more, "Remove the hooks?", is_confirmed, hooks.remove, done)


def changed(
    changes: list[Change],
    more: list[str],
    question: str,
    is_confirmed: bool,
    make: Callable[[list[Change]], list[Path]],
    *done: str,
) -> int:
    """Show the changes, ask, and make them; then print the copies of the changed files, and `done`."""
    if code := print_lines([*(line for change in changes for line in change.diff()), *more]):
        return code
    if not (is_confirmed or confirmed(question)):
        say("nothing was changed; --yes changes it without asking")
        return USAGE
    try:
        copies = make(changes)
    except OSError as error:
        raise Fault(f"cannot change {error.filename}: {error.strerror or error}", CANNOT_CREATE) from None
    return print_lines([*(f"the file before: {copy}" for copy in copies), *filter(None, done)])


def _report(agent: HookedAgent) -> list[str]:
    hooks = Hooks(agent, os.environ, Path.home())
    try:
        words = _status_words(hooks.status(), agent)
    except Fault as fault:
        words = f"unknown: {fault}"
    return [f"{agent.name:8}{words}"]


def _status_words(status: Status, agent: HookedAgent) -> str:
    if not status.is_there:
        return "the agent was never started"
    if not status.right + status.other:
        return f"not installed: {status.file}"
    problems, events = [], len(agent.events)
    if status.right < events:
        problems.append(f"{status.right} of {events} entries")
    if status.other:
        problems.append(f"{status.other} of another version or folder")
    if not status.has_program:
        problems.append("the program is missing or changed")
    last = "no event yet"
    if status.last_ms is not None:
        last = f"last event {date_and_time(status.last_ms)}"
    state = f"incomplete ({', '.join(problems)}): run hooks install again" if problems else "installed"
    return f"{state} · {'answers prompts' if agent.answers else last} · {status.file}"
