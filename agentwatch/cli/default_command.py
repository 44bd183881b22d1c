"""The command group: a command may be left out, and help and version are printed like everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agentwatch import __version__
from agentwatch.cli.messages import say
from agentwatch.faults import INCOMPLETE_RECORDING
from agentwatch.outputs.writing import write_all

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_BROKEN_PIPE = 141


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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `watch` before arguments that name no command."""
        if ctx.resilient_parsing and not args:
            return super().parse_args(ctx, args)  # the first word is being completed
        first = args[0] if args else None
        if first not in self.commands and first not in ("--help", "-h", "--version"):
            args = ["watch", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the first word: a command, an option of `watch`, or a FILE."""
        from click.shell_completion import CompletionItem

        found = super().shell_complete(ctx, incomplete)
        watch = self.commands["watch"]
        if incomplete.startswith("-"):
            context = watch.make_context("agentwatch", [], resilient_parsing=True)
            return [*found, *watch.shell_complete(context, incomplete)]
        # The script for bash forgets the words before a file, and offers files only if there are no words.
        return [CompletionItem(incomplete, type="file"), *found]

    def format_usage(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the usage without a command first: a pipe, an ADDRESS, or machines."""
        formatter.write_usage("agentwatch", "[OPTIONS] [ADDRESS | MACHINE...] | COMMAND [ARGS]...")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the options of `watch`, which the program accepts without a command."""
        self.commands["watch"].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


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
        return _BROKEN_PIPE
    except OSError as error:
        say(f"cannot print: {error.strerror}")
        return INCOMPLETE_RECORDING
    return 0
