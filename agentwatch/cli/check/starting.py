"""Writes a first file of rules: `check --init`."""

from __future__ import annotations

from pathlib import Path

from agentwatch.cli.check.command import whole_address
from agentwatch.cli.check.reading import judged
from agentwatch.cli.export.output import STDOUT, check_output, write_file
from agentwatch.cli.export.progress import ShownProgress
from agentwatch.cli.messages import printable, say
from agentwatch.rules.check.starter import starter, starter_of, starting_rules
from agentwatch.wire import Agent


def write_starter(words: str, output: Path | None, agent: Agent | None, *, is_forced: bool) -> int:
    """Write a file of rules, and return the exit code.

    Args:
        words: The address of a session; empty for rules that suit many sessions.
        output: The file; None for stdout.
        agent: The agent that wrote the recording; None to detect it.
        is_forced: Whether an existing file may be replaced.

    Raises:
        Fault: The recording cannot be read, or the file may not or cannot be written.
    """
    check_output(output, [words], is_forced=is_forced)
    if words:
        progress = ShownProgress()
        address = whole_address(words)
        check_output(output, [str(address.path)], is_forced=is_forced)
        with judged(address, starting_rules(), agent, progress.step("reading"), waits=False) as found:
            progress.clear()
            lines = list(starter_of(found[0], found[1], address.words))
    else:
        lines = list(starter())
    path = STDOUT if output is None else output
    write_file(path, ["".join(f"{printable(line)}\n" for line in lines).encode()], replaces=is_forced)
    if path != STDOUT:
        say(f"wrote {path}")
    return 0
