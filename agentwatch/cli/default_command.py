"""The command group: a command may be left out, and help and version are printed like everything else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from agentwatch import __version__
from agentwatch.cli.messages import say
from agentwatch.faults import BROKEN_PIPE, INCOMPLETE_RECORDING
from agentwatch.outputs.writing import write_all

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_INCOMPLETE = "agentwatch.incomplete"
LATER = {
    "check": ("check.options", "check"),
    "compare": ("compare.options", "compare"),
    "completion": ("completion.command", "completion"),
    "export": ("export.options", "export"),
    "clip": ("export.options", "clip"),
    "doctor": ("doctor.command", "doctor"),
    "sessions": ("sessions.options", "sessions"),
    "stats": ("stats.options", "stats"),
    "engine": ("engine.options", "engine"),
    "host-rows": ("sessions.host", "host_rows"),
    "host-pieces": ("sessions.host", "host_pieces"),
}
"""The commands that are imported when they are asked for: the module and the name of each."""


class HelpfulCommand(click.Command):
    """A command whose help can be printed to a full disk without an internal error."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the option `--help` with our way to print."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_help
        return option


class DefaultCommand(HelpfulCommand, click.Group):
    """A group whose first word may also be a FILE or an option of `watch`."""

    command_class = HelpfulCommand

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; most are imported when they are asked for."""
        if cmd_name in LATER and cmd_name not in self.commands:
            from importlib import import_module

            module, name = LATER[cmd_name]
            self.add_command(getattr(import_module(f"agentwatch.cli.{module}"), name), cmd_name)
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *LATER})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `watch` before arguments that name no command."""
        if ctx.resilient_parsing and not args:
            return super().parse_args(ctx, args)  # the first word is being completed
        first = args[0] if args else None
        if first not in self.commands and first not in LATER and first not in ("--help", "-h", "--version"):
            if first is not None and not ctx.resilient_parsing:
                self._check_for_a_slip(ctx, first)
            args = ["watch", *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> int:
        """Run the command, and return its exit code: not 0 after a session of which bytes are missing."""
        code: int | None = super().invoke(ctx)
        return code or (INCOMPLETE_RECORDING if ctx.meta.get(_INCOMPLETE) else 0)

    def _check_for_a_slip(self, ctx: click.Context, word: str) -> None:
        """Check that a word is not a misspelt command.

        Raises:
            UsageError: It is like a command, and no file has this name.
        """
        if not (word.isascii() and word.isalpha()) or os.path.lexists(word):
            return
        from agentwatch.rules.errors import nearest

        if command := nearest(word, self.list_commands(ctx)):
            raise click.UsageError(
                f"no command, file or session is called {word}; did you mean {command}?", ctx
            )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the first word: a command, an option of `watch`, or an ADDRESS."""
        found = super().shell_complete(ctx, incomplete)
        watch = self.commands["watch"]
        if incomplete.startswith("-"):
            context = watch.make_context("agentwatch", [], resilient_parsing=True)
            return [*found, *watch.shell_complete(context, incomplete)]
        address = watch.params[0]
        return [*address.type.shell_complete(ctx, address, incomplete), *found]

    def format_usage(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the usage without a command first: a pipe, an ADDRESS, or machines."""
        formatter.write_usage("agentwatch", "[OPTIONS] [ADDRESS | MACHINE...] | COMMAND [ARGS]...")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the options of `watch`, which the program accepts without a command."""
        self.commands["watch"].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


def note_incomplete() -> None:
    """Note that a command reads a session of which bytes are missing, as was reported."""
    if (context := click.get_current_context(silent=True)) is not None:
        context.meta[_INCOMPLETE] = True


def show_version(ctx: click.Context, _option: click.Parameter, is_given: bool) -> None:
    """Print the version and exit if the option is given."""
    if is_given and not ctx.resilient_parsing:
        ctx.exit(_print(f"agentwatch {__version__}"))


def _show_help(ctx: click.Context, _option: click.Parameter, is_given: bool) -> None:
    if is_given and not ctx.resilient_parsing:
        ctx.exit(_print(ctx.get_help()))


def _print(text: str) -> int:
    """Print text on stdout, and return the exit code."""
    try:
        write_all(1, f"{text}\n".encode())
    except BrokenPipeError:
        return BROKEN_PIPE
    except OSError as error:
        say(f"cannot print: {error.strerror}")
        return INCOMPLETE_RECORDING
    return 0
