"""The command `sessions` with its options: what is printed, and which recordings are deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.parameters import age, printed_colour, since, together

if TYPE_CHECKING:
    from agentwatch.cli.sessions import Wanted


class Pruning(NamedTuple):
    """What `--prune` does."""

    older_ms: int | None
    """The age from which recordings are deleted, in milliseconds; None for the one in the settings."""
    keeps_bookmarked: bool
    is_sure: bool
    """Whether they are deleted without a question."""
    is_dry: bool
    """Whether nothing is deleted, nor asked."""


def _known_agents(_ctx: click.Context, option: click.Parameter, names: tuple[str, ...]) -> frozenset[str]:
    return _known(option, names, agent_names()) if names else frozenset()


def _known_states(_ctx: click.Context, option: click.Parameter, names: tuple[str, ...]) -> frozenset[str]:
    if not names:
        return frozenset()
    from agentwatch.output.session_rows import state_names

    typed = [name.replace(" ", "-") for name in state_names()]
    found = _known(option, tuple(name.replace(" ", "-") for name in names), typed)
    return frozenset(name.replace("-", " ") for name in found)


def _known(option: click.Parameter, names: tuple[str, ...], known: list[str]) -> frozenset[str]:
    for name in names:
        if name not in known:
            raise click.UsageError(f"{option.opts[0]}: {name!r} is not one of: {', '.join(known)}")
    return frozenset(names)


def agent_names() -> list[str]:
    """Return the short names of all agents whose sessions are found."""
    from agentwatch.agents.found import OWN
    from agentwatch.agents.registry import known_agents, programs

    formats = (agent.agent or agent.name for agent in known_agents())
    return sorted({*formats, *(program.name for program in programs()), OWN})


_choosing = together(
    click.option("--all", "shows_all", is_flag=True, help="Print hidden sessions too."),
    click.option(
        "--agent",
        "agents",
        multiple=True,
        callback=_known_agents,
        metavar="NAME",
        help="Print only sessions of this agent.",
    ),
    click.option(
        "--state",
        "states",
        multiple=True,
        callback=_known_states,
        metavar="NAME",
        help="Print only sessions in this state: working, asks, your-turn, …",
    ),
    click.option(
        "--since",
        "since_ms",
        callback=since,
        metavar="TIME",
        help="Print only sessions with activity since then: 2h, 2026-11-20.",
    ),
    click.option("--repo", default="", metavar="NAME", help="Print only sessions in this repository."),
)
_pruning = together(
    click.option(
        "--prune", "is_pruned", is_flag=True, help="Delete old recordings of agentwatch; asks first."
    ),
    click.option(
        "--older",
        "older_ms",
        callback=age,
        metavar="AGE",
        help="With --prune: those older than 30d, 12h, 4w.",
    ),
    click.option("--keep-bookmarked", is_flag=True, help="With --prune: keep those with bookmarks."),
    click.option("--dry-run", is_flag=True, help="With --prune: only print what would be deleted."),
    click.option("--yes", is_flag=True, help="With --prune: delete without asking."),
)

_indexing = click.option(
    "--index", "is_indexed", is_flag=True, help="Update the SQLite index of all calls, and print its path."
)


@click.command(cls=HelpfulCommand)
@click.argument("machines", nargs=-1, metavar="[MACHINE]...")
@_choosing
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@_pruning
@_indexing
@printed_colour
def sessions(machines: tuple[str, ...], *, as_json: bool, **given: Any) -> int:
    """List the sessions on this machine or on others, newest first."""
    check_here(given, machines)

    if is_indexing(given, as_json=as_json):
        from agentwatch.cli.index import update_index

        return update_index()
    if (asked := pruning_of(given, as_json=as_json)) is not None:
        from agentwatch.cli.sessions import prune

        return prune(asked)
    from agentwatch.cli.sessions import list_sessions

    return list_sessions(wanted_of(given), machines, as_json=as_json)


def wanted_of(given: dict[str, Any]) -> Wanted:
    """Return which sessions are printed."""
    from agentwatch.cli.sessions import Wanted

    return Wanted(**{name: given[name] for name in Wanted._fields})


def pruning_of(given: dict[str, Any], *, as_json: bool) -> Pruning | None:
    """Return what `--prune` does; None if it is not given. Raise `UsageError` if an option needs `--prune`,
    or excludes it."""
    beside = {
        "--older": given["older_ms"] is not None,
        "--keep-bookmarked": given["keep_bookmarked"],
        "--dry-run": given["dry_run"],
        "--yes": given["yes"],
    }
    if not given["is_pruned"]:
        for name, is_given in beside.items():
            if is_given:
                raise click.UsageError(f"{name} needs --prune")
        return None
    listing = ("shows_all", "agents", "states", "repo")
    if as_json or any(given[name] for name in listing) or given["since_ms"] is not None:
        raise click.UsageError("--prune chooses recordings by --older and --keep-bookmarked only")
    if given["yes"] and given["dry_run"]:
        raise click.UsageError("--yes excludes --dry-run")
    return Pruning(given["older_ms"], given["keep_bookmarked"], given["yes"], given["dry_run"])


def check_here(given: dict[str, Any], machines: tuple[str, ...]) -> None:
    """Check that an option about the files of this machine is given without a MACHINE. Raise `UsageError` if
    it is not."""
    for name, is_given in (("--prune", given["is_pruned"]), ("--index", given["is_indexed"])):
        if is_given and machines:
            raise click.UsageError(f"{name} is about this machine; it excludes MACHINE")


def is_indexing(given: dict[str, Any], *, as_json: bool) -> bool:
    """Return whether the index is updated. Raise `UsageError` if another option is given: the index holds all
    sessions."""
    if given.pop("is_indexed") is False:
        return False
    if as_json or any(value for value in given.values() if value != frozenset()):
        raise click.UsageError("--index excludes other options: it holds all sessions")
    return True
