"""The man page `agentwatch(1)`: the commands from click, the tables from the pages of the reference."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import wrap

from agentwatch import __version__
from generating.commands import Command, Option, commands

_REVISED = "2026-11-29"
"""When the sentences of this module were last changed."""
_DESCRIPTION = """\
agentwatch is a live monitor, in the terminal, for coding-agent sessions. It reads the stream that an agent
prints, or the file in which an agent keeps its session, and shows what the agent says and does while it
works. It keeps a recording of the stream and a plain-text log of the agent's actions.

Without arguments, on a terminal, it lists the sessions of all agents on this machine. With a stream on
stdin, as in `AGENT | agentwatch`, it watches that stream. With an ADDRESS, it opens a recording. With a
MACHINE or several, it lists their sessions: `.` is this one, `nats://HOST` an engine, `ssh://HOST` a host.

With `--print`, or without a terminal, it prints instead of opening the screen."""
_FILES = """\
A recording and the files beside it are in `$AGENTWATCH_HOME/sessions`, by default in the user's state folder.
The settings are in `~/.config/agentwatch/config.toml`."""
_EXAMPLES = (
    ("Play the bundled session; no agent and no network are needed.", "agentwatch demo"),
    ("List the sessions of all agents on this machine.", "agentwatch"),
    (
        "Watch a stream in the middle of a pipeline.",
        'cursor-agent -p "Fix the test" --output-format stream-json | agentwatch --tee | jq -c .type',
    ),
    (
        "Start an agent, watch it, and exit with its exit code.",
        'agentwatch run -- codex exec --json "Fix the test"',
    ),
    ("Print the 12th call of a recording in full.", "agentwatch show session.ndjson#12"),
)
_SEE_ALSO = "jq(1), tmux(1)"
_ESCAPES = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti", '"': "\\(dq"}
_SPAN = re.compile(r"`([^`\n]+)`|\[([^]\n]+)\]\([^)\n]+\)")


def man_page(pages: Path) -> str:
    """Return the man page in the language of man(7).

    Args:
        pages: The folder of the documents, whose tables of exit codes, files and variables it contains.
    """
    reference = pages / "reference"
    lines = [
        f'.TH AGENTWATCH 1 {_REVISED} "agentwatch {__version__}" "User Commands"',
        ".nh",
        *_section("NAME", "agentwatch \\- a live monitor, in the terminal, for coding\\-agent sessions"),
        *_section("SYNOPSIS", *_synopsis()),
        *_section("DESCRIPTION", *_paragraphs(_DESCRIPTION)),
    ]
    program, *others = commands()
    lines += _section("OPTIONS", *_tagged(map(_option, program.options)))
    lines += _section("COMMANDS", *(line for command in others for line in _command(command)))
    lines += _section("ADDRESSES", *_tagged(_rows(reference / "addresses.md", "address")))
    lines += _section("EXIT STATUS", *_tagged(_rows(reference / "exit-codes.md", "code")))
    lines += _section("ENVIRONMENT", *_tagged(_rows(pages / "config.md", "variable")))
    lines += _section("FILES", *_lines(_FILES), *_tagged(_rows(reference / "files.md", "file")))
    lines += _section("EXAMPLES", *_examples())
    lines += _section("SEE ALSO", _SEE_ALSO)
    return "\n".join(lines) + "\n"


def _section(name: str, *lines: str) -> list[str]:
    return [f".SH {name}", *lines]


def _synopsis() -> Iterator[str]:
    yield "\\fBagentwatch\\fR [\\fIOPTIONS\\fR] [\\fIADDRESS\\fR | \\fIMACHINE\\fR...]"
    yield ".br"
    yield "\\fIAGENT\\fR | \\fBagentwatch\\fR [\\fIOPTIONS\\fR]"
    yield ".br"
    yield "\\fBagentwatch\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]"


def _paragraphs(text: str) -> Iterator[str]:
    for index, paragraph in enumerate(text.split("\n\n")):
        if index:
            yield ".PP"
        yield from _lines(paragraph)


def _command(command: Command) -> Iterator[str]:
    yield f".SS {_escaped(command.name)}"
    yield f"\\fB{_escaped(command.name)}\\fR {_escaped(command.usage)}"
    yield ".PP"
    yield from _lines(command.summary)
    yield from _tagged(_option(option) for option in command.options if "--help" not in option.names)


def _option(option: Option) -> tuple[str, str]:
    return ", ".join(f"`{name}`" for name in option.names) + f" {option.value}".rstrip(), option.effect


def _tagged(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a list of terms with their explanations."""
    for term, explanation in pairs:
        yield ".TP"
        yield " ".join(_lines(term))
        yield from _lines(explanation)


def _examples() -> Iterator[str]:
    for index, (words, example) in enumerate(_EXAMPLES):
        yield from ([".PP"] if index else [])
        yield from (*_lines(words), ".PP", ".RS 4", ".nf", _escaped(example), ".fi", ".RE")


def _rows(page: Path, heading: str) -> Iterator[tuple[str, str]]:
    """Yield the first two cells of the rows of the table whose first column has a heading."""
    rows = iter(page.read_text().splitlines())
    for row in rows:
        if row.startswith(f"| {heading} |"):
            break
    next(rows)
    for row in rows:
        if not row.startswith("|"):
            return
        first, second, *_ = re.split(r"(?<!\\)\|", row.strip("|"))
        yield first.strip(), second.strip()


def _lines(text: str) -> Iterator[str]:
    """Yield a paragraph of Markdown in lines of roff: code is bold, a link is its words."""
    parts, end = [], 0
    for found in _SPAN.finditer(text):
        parts.append(_escaped(text[end : found.start()]))
        parts.append(f"\\fB{_escaped(found[1])}\\fR" if found[1] else _escaped(found[2]))
        end = found.end()
    for line in wrap(
        "".join((*parts, _escaped(text[end:]))), 79, break_long_words=False, break_on_hyphens=False
    ):
        yield f"\\&{line}" if line.startswith(".") else line


def _escaped(text: str) -> str:
    """Return text that roff prints as it is, in ASCII."""
    return "".join(
        _ESCAPES.get(character) or (character if character.isascii() else f"\\[u{ord(character):04X}]")
        for character in text.replace("\\|", "|")
    )
