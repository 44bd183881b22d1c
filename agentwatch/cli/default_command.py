"""The command group: a command may be left out, and help and version are printed like everything else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from agentwatch import __version__
from agentwatch.base.faults import BROKEN_PIPE, INCOMPLETE_RECORDING
from agentwatch.base.files import write_all
from agentwatch.cli.messages import say

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_INCOMPLETE = "agentwatch.incomplete"
SUBCOMMANDS = {
    "acp": ("subcommands", "acp", "Start an editor's agent and record both directions."),
    "check": ("check", "check", "Check recordings by rules: exit 1 if one is broken, else 0."),
    "compare": ("compare", "compare", "Show where two runs differ, or several runs a side."),
    "completion": ("subcommands", "completion", "Print the completion script of a shell."),
    "continue": ("continuing", "continue_", "Continue a session that nobody holds, with a new prompt."),
    "demo": ("subcommands", "demo", "Replay a bundled session; needs no agent and no network."),
    "doctor": ("doctor", "doctor", "Print facts for a bug report, or the unknown parts of a FILE."),
    "engine": ("engine", "engine", "Set up and check the NATS server to which machines publish."),
    "export": ("export", "export", "Write a session as a file for others, redacted."),
    "find": ("find", "find", "Find calls and texts in the sessions of all agents."),
    "hooks": ("hooks", "hooks", "Let Claude Code, Codex, Cursor or Gemini CLI report by hooks."),
    "host-pieces": ("subcommands", "host_pieces", ""),
    "host-rows": ("subcommands", "host_rows", ""),
    "mcp": ("mcp", "mcp", "Let agents search the sessions of this machine."),
    "replay": ("subcommands", "replay", "Replay a recording with its original timing."),
    "run": ("subcommands", "run", "Start an agent and watch it; exit with the agent's exit code."),
    "schema": ("schema", "print_schema", "Print the JSON Schema of what a command prints as JSON."),
    "sessions": (
        "sessions",
        "sessions",
        "List the sessions on this machine or on others, newest first.",
    ),
    "show": ("show", "show", "Print one call (FILE#12), or the state at a time (FILE@+95s)."),
    "stats": ("stats", "stats", "Print statistics over all sessions on this machine."),
    "status": ("subcommands", "status", "Print one line of counts for tmux and shell prompts."),
}
"""The commands that are imported only when they run: the module, the name, and the line in `--help`, which
takes half as long without these imports. A hidden command has no line."""

ALIASES = {
    "clip": "export --to recording",
    "drift": "doctor",
    "engine status": "engine check",
    "explain": "show --why",
    "log": "--print --times",
    "redact": "export --to recording",
    "ship": "engine ship",
}
"""The former names of commands, with the words that replace them. They are removed in the next version."""


ARGUMENTS = {
    "ADDRESS": "ADDRESS: a FILE, the id of a session or its first 6 characters, or - for stdin. FILE#12 is "
    "the 12th call; FILE@14:03:07, FILE@+95s and FILE@50% are moments.",
    "MACHINE": "MACHINE: . is this one, nats://HOST an engine, ssh://HOST a host; agentwatch lists the "
    "sessions of all that are named.",
    "AGENT": "AGENT: the command of the agent, with its arguments.",
    "ENGINE": "ENGINE: nats://HOST, or the name of an engine in the settings.",
}
"""The text about the arguments at the end of `--help`."""


class HelpfulCommand(click.Command):
    """A command whose help explains its arguments, and can be printed to a full disk without a bug."""

    _help: click.Option | None = None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if not self.epilog:
            usage = " ".join(self.collect_usage_pieces(ctx))
            self.epilog = " ".join(words for name, words in ARGUMENTS.items() if name in usage)
        super().format_epilog(ctx, formatter)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        names = self.get_help_option_names(ctx)
        if self._help is None or {*self._help.opts} != {*names}:  # click compares it with the one it parsed
            self._help = click.Option(
                [*names, "is_help"],
                is_flag=True,
                expose_value=False,
                is_eager=True,
                callback=show_help,
                help="Show this message and exit.",  # click asks gettext for it, which imports locale: 2 ms
            )
        return self._help


class DefaultCommand(HelpfulCommand, click.Group):
    """A group whose first word may also be a FILE or an option of `watch`."""

    command_class = HelpfulCommand

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in SUBCOMMANDS and cmd_name not in self.commands:
            from importlib import import_module

            module, name, _ = SUBCOMMANDS[cmd_name]
            self.add_command(getattr(import_module(f"agentwatch.cli.{module}"), name), cmd_name)
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *SUBCOMMANDS})

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `watch` before arguments that name no command."""
        if ctx.resilient_parsing and not args:
            return super().parse_args(ctx, args)  # the first word is being completed
        args = _without_alias(args, is_quiet=ctx.resilient_parsing)
        first = args[0] if args else None
        if (
            first not in self.commands
            and first not in SUBCOMMANDS
            and first not in ("--help", "-h", "--version")
        ):
            if first is not None and not ctx.resilient_parsing:
                self._check_for_a_slip(ctx, first)
            args = ["watch", *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> int:
        """Return the exit code: it is not 0 after a session that misses bytes."""
        code: int | None = super().invoke(ctx)
        return code or (INCOMPLETE_RECORDING if ctx.meta.get(_INCOMPLETE) else 0)

    def _check_for_a_slip(self, ctx: click.Context, word: str) -> None:
        if not (word.isascii() and word.isalpha()) or os.path.lexists(word):
            return
        from agentwatch.rules.language.errors import nearest

        if command := nearest(word, self.list_commands(ctx)):
            raise click.UsageError(
                f"no command, file or session is called {word}; did you mean {command}?", ctx
            )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command, an option of `watch`, or an ADDRESS."""
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

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing one."""
        named = [(name, words) for name, (_, _, words) in SUBCOMMANDS.items() if words]
        width = formatter.width - 6 - max(len(name) for name, _ in named)  # as click has it
        rows = [(name, click.Command(name, help=words).get_short_help_str(width)) for name, words in named]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _without_alias(args: list[str], *, is_quiet: bool) -> list[str]:
    """Replace the former name of a command by its present name, and report it."""
    for count in (1, 2):
        name = " ".join(args[:count])
        if name in ALIASES:
            if not is_quiet:
                say(f"{name} is now agentwatch {ALIASES[name]}")
            return [*ALIASES[name].split(), *args[count:]]
    return args


def note_incomplete() -> None:
    """Note that a command reads a session of which bytes are missing, as was reported."""
    if (context := click.get_current_context(silent=True)) is not None:
        context.meta[_INCOMPLETE] = True


def show_version(ctx: click.Context, _option: click.Parameter, is_given: bool) -> None:
    if is_given and not ctx.resilient_parsing:
        ctx.exit(_print(f"agentwatch {__version__}"))


def show_help(ctx: click.Context, _option: click.Parameter, is_given: bool) -> None:
    """Print the help of a command, and exit."""
    if is_given and not ctx.resilient_parsing:
        ctx.exit(_print(ctx.get_help()))


def _print(text: str) -> int:
    try:
        write_all(1, f"{text}\n".encode())
    except BrokenPipeError:
        return BROKEN_PIPE
    except OSError as error:
        say(f"cannot print: {error.strerror}")
        return INCOMPLETE_RECORDING
    return 0
