"""The commands of the program and their options, as data, and as a page of the reference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from unittest.mock import patch

import click

from agentwatch.cli.app import agentwatch as program


class Option(NamedTuple):
    """An option of a command."""

    names: tuple[str, ...]
    value: str
    """What follows it, such as FILE; empty for a flag."""
    effect: str
    """What it does, in sentences; code is in backticks."""


class Command(NamedTuple):
    """A command of the program."""

    name: str
    """With the name of the program: `agentwatch run`."""
    summary: str
    usage: str
    """The words after the name."""
    options: tuple[Option, ...]


def commands() -> list[Command]:
    """Return the program itself, which watches, and its commands in the order of `--help`."""
    with patch("agentwatch.agents.plugins.GROUP.names", list):  # those of this machine are not in a document
        group = click.Context(program, info_name="agentwatch", **program.context_settings)
        watch = _command(program.commands["watch"], group, "agentwatch")
        first = watch._replace(summary=_sentence(program.help), usage="[OPTIONS] [ADDRESS | MACHINE...]")
        version = [option for option in _options(program, group) if "--version" in option.names]
        return [
            first._replace(options=(*first.options[:-1], *version, first.options[-1])),
            *_below(program, group),
        ]


def page() -> str:
    """Return the page of all commands."""
    lines = [
        "# Commands",
        "",
        "This page is generated from the program: `python docs/reference.py`.",
        "`agentwatch COMMAND --help` prints the same; each command has this option, and `-h` for it.",
        "An ADDRESS is a file, a session or a part of one: [addresses](addresses.md).",
        "The [exit codes](exit-codes.md) are the same for all commands.",
    ]
    for command in commands():
        lines += [
            "",
            f"## {command.name}",
            "",
            command.summary,
            "",
            "```text",
            f"{command.name} {command.usage}",
            "```",
        ]
        options = [option for option in command.options if "--help" not in option.names]
        if options:
            lines += ["", "| option | effect |", "|---|---|"]
        lines += [f"| {_heading(option)} | {_cell(option.effect)} |" for option in options]
    return "\n".join(lines) + "\n"


def _below(group: click.Group, context: click.Context) -> Iterator[Command]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from _below(command, inner)
        else:
            yield _command(command, inner, inner.command_path)


def _command(command: click.Command, context: click.Context, name: str) -> Command:
    usage = " ".join(command.collect_usage_pieces(context))
    return Command(name, _sentence(command.help), usage, tuple(_options(command, context)))


def _options(command: click.Command, context: click.Context) -> Iterator[Option]:
    for option in command.get_params(context):
        if not isinstance(option, click.Option) or option.hidden:
            continue
        option.get_help_record(context)  # some write their help only now
        effect = _sentence(option.help)
        match option.type:
            case click.Choice(choices=choices):
                value = "NAME" if option.metavar is None else option.metavar
                effect += f" Values: {', '.join(f'`{choice}`' for choice in choices)}."
            case click.IntRange() | click.FloatRange():
                value = option.metavar or "N"
                effect += _range(option.type)
            case _:
                value = option.make_metavar(context)
        yield Option((*option.opts, *option.secondary_opts), "" if option.is_flag else value, effect)


def _range(limits: click.IntRange | click.FloatRange) -> str:
    if limits.max is None:
        return f" At least {limits.min:g}." if limits.min else ""
    return f" From {limits.min:g} to {limits.max:g}."


def _sentence(text: str | None) -> str:
    """Return a help text as one paragraph; a list of names, each as code."""
    prose, _, names = (text or "").partition("\b")
    listed = ", ".join(f"`{name}`" for name in names.replace(",", " ").split())
    return " ".join([*prose.split(), *([f"Names: {listed}."] if listed else [])])


def _heading(option: Option) -> str:
    names = [f"`{name} {option.value}`".replace(" `", "`") for name in option.names]
    return _cell(", ".join(names))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
