"""Prints the script by which a shell completes commands, options, formats and files."""

from __future__ import annotations

import click

from agentwatch.cli.default_command import HelpfulCommand

SHELLS = ("bash", "zsh", "fish")


@click.command(cls=HelpfulCommand)
@click.argument("name", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, name: str) -> int:
    """Print the completion script of a shell."""
    from agentwatch.cli.stdout import print_lines

    return print_lines(script(ctx.find_root().command, name).splitlines())


def script(program: click.Command, shell: str) -> str:
    """Return the completion script of a shell.

    Args:
        program: The program, as click knows it.
        shell: One of SHELLS.
    """
    from click.shell_completion import get_completion_class

    complete = get_completion_class(shell)
    assert complete is not None
    return f"{complete(program, {}, 'agentwatch', '_AGENTWATCH_COMPLETE').source().strip()}\n"
