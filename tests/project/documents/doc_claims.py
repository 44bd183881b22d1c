"""What a page of Markdown claims to exist: paths, commands, options, environment variables, keys, bindings.

Each function yields the claims that do not hold. Only backticks, blocks of code, links and the first
columns of tables are read.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
from opentelemetry.sdk import environment_variables
from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import _character_to_key

import agentwatch.screen
from agentwatch.cli.app import agentwatch as program
from agentwatch.screen.keys import PALETTE_ONLY
from tests.conftest import ROOT

FOREIGN_OPTIONS = {"--stream-partial-output", "--include-partial-messages"}
"""Options of other programs that the pages name by themselves."""
FOREIGN_VARIABLES = {"XDG_CONFIG_HOME", "TMPDIR", "TERM_PROGRAM", "PYTHONDONTWRITEBYTECODE"}
"""Environment variables that are read by what agentwatch uses."""
NAMED_KEYS = {"esc": "escape", "page up": "pageup", "page down": "pagedown"}
SHELLS = ("sh", "bash", "zsh", "fish")
"""The languages of the blocks of code that hold commands; `console` holds their output too."""
BASES = ("", "agentwatch", "tests", "bench", "docs")
"""The folders from which a page may name a file."""
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
_TICKED = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
_FILE = re.compile(r"[\w./-]*\w\.(?:py|md|svg|tcss|yml)")
_IN_A_FOLDER = re.compile(r"(?:\.?/)?(?:agentwatch|tests|bench|docs|styles|recordings|\.ci)/[\w./-]*")
_FOLDER = re.compile(r"[\w.-]+(?:/[\w.-]+)*/")
_OPTION = re.compile(r"(--?[a-z][\w-]*)(?:[= ].*)?")
_VARIABLE = re.compile(r"\$?([A-Z][A-Z0-9]*_[A-Z0-9_]+|(?<=\$)[A-Z]+)(?:[=/].*)?")


class Page(NamedTuple):
    """A page taken apart."""

    folder: Path
    ticked: list[str]
    code: list[str]
    """The lines of the blocks of code that hold commands."""
    links: list[str]
    tables: list[list[list[str]]]
    """The cells of each table, its header first."""


def page(text: str, folder: Path = ROOT) -> Page:
    """Take a page apart."""
    code = [
        line.removeprefix("$ ")
        for kind, block in _BLOCK.findall(text)
        for line in block.splitlines()
        if kind in SHELLS or (kind == "console" and line.startswith("$ "))
    ]
    prose = _BLOCK.sub("", text)
    tables = [
        [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()]
        for table in _TABLE.findall(prose)
    ]
    return Page(folder, _TICKED.findall(prose), code, _LINK.findall(text), tables)


def missing_paths(page: Page) -> Iterator[str]:
    """Yield the links, and the files and folders in backticks and in commands, that do not exist."""
    yield from (link for link in page.links if not (page.folder / link).exists())
    names = _file_names()
    bases = [page.folder, *(ROOT / base for base in BASES)]
    for ticked in page.ticked:
        is_file = _FILE.fullmatch(ticked) or _FOLDER.fullmatch(ticked)
        if is_file and not any((base / ticked).exists() for base in bases) and ticked not in names:
            yield ticked
    for word in {word.strip("'\",;") for text in (*page.ticked, *page.code) for word in text.split()}:
        if _IN_A_FOLDER.fullmatch(word) and not (ROOT / word).exists():
            yield word


@cache
def _file_names() -> set[str]:
    return {path.name for base in BASES[1:] for path in (ROOT / base).rglob("*.*")}


def _commands(page: Page) -> Iterator[list[str]]:
    """Yield the arguments of each call of agentwatch."""
    for text in (*page.code, *page.ticked):
        for command in re.split(r"\s(?:\||&&)\s|[\"')]", text):
            name, *arguments = command.split() or [""]
            if name in ("agentwatch", ".venv/bin/agentwatch"):
                yield arguments[: arguments.index("--")] if "--" in arguments else arguments


def _options(command: click.Command) -> set[str]:
    return {"-h", "--help", *(option for given in command.params for option in given.opts)}


def every_option(command: click.Command) -> set[str]:
    """Return the options of a command, and of the commands below it."""
    below = commands_of(command).values() if isinstance(command, click.Group) else ()
    return _options(command).union(*map(every_option, below))


def commands_of(group: click.Group) -> dict[str, click.Command]:
    """Return the commands of a group by their names, those that are imported when they are used too."""
    context = click.Context(group)
    found = ((name, group.get_command(context, name)) for name in group.list_commands(context))
    return {name: command for name, command in found if command is not None}


def _named(arguments: list[str]) -> tuple[list[str], click.Command | None]:
    """Return the words that name a command, and the command; None if it does not exist."""
    names: list[str] = []
    command: click.Command = program
    for word in arguments:
        if not isinstance(command, click.Group) or re.fullmatch("[a-z]+", word) is None:
            break
        names.append(word)
        if word not in commands_of(command):
            return names, None
        command = commands_of(command)[word]
    return names, command


def wrong_commands(page: Page) -> Iterator[str]:
    """Yield the subcommands of agentwatch that do not exist, and the options that a command lacks."""
    default = _options(program) | _options(program.commands["watch"])
    for arguments in _commands(page):
        names, command = _named(arguments)
        if command is None:
            yield " ".join(["agentwatch", *names])
            continue
        known = _options(command) if names else default
        for word in arguments:
            if word.startswith("-") and word.partition("=")[0] not in known:
                yield " ".join(["agentwatch", *names, word])


def wrong_options(page: Page) -> Iterator[str]:
    """Yield the options in backticks that no command of agentwatch, and no script of bench/, has."""
    known = FOREIGN_OPTIONS | every_option(program)
    scripts = "".join(path.read_text() for path in (ROOT / "bench").glob("*.py"))
    for ticked in page.ticked:
        found = _OPTION.fullmatch(ticked)
        if found and found[1] not in known and f'"{found[1]}"' not in scripts:
            yield found[1]


def wrong_variables(page: Page) -> Iterator[str]:
    """Yield the environment variables in backticks that neither we nor the exporter of traces read."""
    known = FOREIGN_VARIABLES | _words_of_the_code()
    for ticked in page.ticked:
        found = _VARIABLE.fullmatch(ticked)
        if found and found[1] not in known:
            yield found[1]


@cache
def _words_of_the_code() -> set[str]:
    scripts = {path for base in BASES[1:4] for path in (ROOT / base).rglob("*.py")}
    scripts -= {*Path(__file__).parent.iterdir()}
    texts = (path.read_text() for path in (*scripts, Path(environment_variables.__file__)))
    return {word for text in texts for word in re.findall(r"\b[A-Z][A-Z0-9_]*\b", text)}


@cache
def bindings() -> list[Binding]:
    for module in pkgutil.walk_packages(agentwatch.screen.__path__, "agentwatch.screen."):
        importlib.import_module(module.name)
    found = [Binding(App.COMMAND_PALETTE_BINDING, "command_palette"), *Binding.make_bindings(App.BINDINGS)]
    nodes: list[type] = [DOMNode]
    while nodes:
        node = nodes.pop()
        nodes += node.__subclasses__()
        if node.__module__.startswith("agentwatch."):
            found += Binding.make_bindings(vars(node).get("BINDINGS", []))
    return found


def bound_ids() -> dict[str, set[str]]:
    """Return the keys of each binding that has an id."""
    found: dict[str, set[str]] = {}
    for binding in bindings():
        if binding.id:
            keys = found.setdefault(binding.id, set())
            keys |= {binding.key} - {f"{PALETTE_ONLY}{binding.id}"}
    return found


def _key(shown: str) -> str:
    """Return the name by which Textual knows a key."""
    return NAMED_KEYS.get(shown) or (_character_to_key(shown) if len(shown) == 1 else shown)


def _rows(page: Page, begins: str) -> Iterator[list[str]]:
    """Yield the rows of the tables whose first column is headed by a word that begins so."""
    for header, _, *rows in page.tables:
        if header[0].startswith(begins):
            yield from rows


def unbound_keys(page: Page) -> Iterator[str]:
    """Yield the keys in the first column of a table of keys that are bound to nothing."""
    known = {key for binding in bindings() for key in binding.key.split(",")}
    for row in _rows(page, "key"):
        yield from (shown for shown in _TICKED.findall(row[0]) if _key(shown) not in known)


def _cells_of_ids(page: Page) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the ids of each row of a table of keys, and the cells of their keys, in the same order."""
    for header, _, *rows in page.tables:
        if header[0].startswith("key") and header[-1] == "id":
            for row in rows:
                yield _TICKED.findall(row[-1]), row[0].split(", ")


def wrong_ids(page: Page) -> Iterator[str]:
    """Yield the ids in a table of keys that no binding has, or whose default keys are others."""
    known = bound_ids()
    for ids, cells in _cells_of_ids(page):
        for name, cell in zip(ids, cells, strict=False):
            keys = _TICKED.findall(cell)
            if {_key(key) for key in keys} != known.get(name):
                yield f"{name}: {' '.join(keys)}"


def ids_of(page: Page) -> set[str]:
    """Return the ids that the tables of keys name."""
    return {name for ids, _ in _cells_of_ids(page) for name in ids}
