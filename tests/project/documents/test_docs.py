"""The pages name only what exists, and all that they must; what docs/reference.py writes is up to date."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import click
import pytest

import agentwatch
from agentwatch.agents.registry import programs
from agentwatch.catalog import catalog
from agentwatch.catalog.session_status import Group
from agentwatch.cli.app import agentwatch as program
from agentwatch.screen.keys import shortcuts
from agentwatch.screen.screens.sessions import words
from agentwatch.screen.screens.sessions.cells import COLUMNS
from tests.conftest import ROOT, case
from tests.project.documents.doc_claims import (
    _TICKED,
    NAMED_KEYS,
    Page,
    bound_ids,
    commands_of,
    ids_of,
    missing_paths,
    page,
    unbound_keys,
    wrong_commands,
    wrong_ids,
    wrong_options,
    wrong_variables,
)

Check = Callable[[Page], Iterator[str]]
PAGES = sorted(
    path.relative_to(ROOT)
    for pattern in ("*.md", "docs/**/*.md", "bench/*.md", "recordings/*.md")
    for path in ROOT.glob(pattern)
)
CONFIG = ROOT / "docs" / "config.md"
KEYS = ROOT / "docs" / "reference" / "keys.md"
PYTHON = ROOT / "docs" / "reference" / "python.md"
SOURCE = ROOT / "docs" / "source.md"
CHECKS: list[Check] = [missing_paths, wrong_commands, wrong_options, wrong_variables, unbound_keys, wrong_ids]


WRONG: list[tuple[Check, str, str]] = [
    (missing_paths, "See [that](docs/GONE.md).", "docs/GONE.md"),
    (missing_paths, "It is in `screen/gone.py`.", "screen/gone.py"),
    (missing_paths, "It is in `agentwatch/gone`.", "agentwatch/gone"),
    (missing_paths, "```sh\npytest tests/gone.py -q\n```\n", "tests/gone.py"),
    (wrong_commands, "```sh\ncat x | agentwatch --gone | jq .\n```\n", "agentwatch --gone"),
    (wrong_commands, "Run `agentwatch replay FILE --tee`.", "agentwatch replay --tee"),
    (wrong_commands, "Run `agentwatch gone FILE`.", "agentwatch gone"),
    (wrong_commands, "Run `agentwatch engine gone`.", "agentwatch engine gone"),
    (wrong_commands, "Run `agentwatch engine check HOST --age 1d`.", "agentwatch engine check --age"),
    (wrong_options, "With `--gone FILE` it is kept.", "--gone"),
    (wrong_options, "With `-x` it is kept.", "-x"),
    (wrong_variables, "Set `AGENTWATCH_GONE=1`.", "AGENTWATCH_GONE"),
    (wrong_variables, "Set `$GONE`.", "GONE"),
    (unbound_keys, "| key | does |\n|---|---|\n| `q`, `esc`, `ctrl+f12` | quit |\n", "ctrl+f12"),
    (wrong_ids, "| key | does | id |\n|---|---|---|\n| `q` | quit | `gone` |\n", "gone: q"),
    (wrong_ids, "| key | does | id |\n|---|---|---|\n| `g` `home` `x` | up | `top` |\n", "top: g home x"),
]


@pytest.mark.slow
def test_what_a_page_names_exists() -> None:
    """Each path, command, option, variable, key and binding of a page exists; a wrong one is found alone."""
    assert len(PAGES) > 35
    for path in PAGES:
        found = page((ROOT / path).read_text(), (ROOT / path).parent)
        for check in CHECKS:
            with case(f"{check.__name__}, {path}"):
                assert [*check(found)] == []
    for check, text, name in WRONG:
        with case(text):
            assert [*check(page(text))] == [name]


DIALECT = re.compile(
    r"\b(?:goes on|go on|heard|gone|stands|looks? at|looked at|as far as|gives? way|by itself)\b"
    r"|(?:^|[.:;|] )Of \w+|\bis no (?:error|failure|orphan|session|part|longer an?)\b",
    re.MULTILINE,
)
"""Words of a dialect that the documents had, for which the field has terms."""


def test_the_documents_use_the_terms_of_the_field() -> None:
    """No page has a phrase that a reader of the field stumbles over."""
    assert Path("docs/reference/commands.md") in PAGES
    for path in PAGES:
        with case(path):
            assert DIALECT.findall((ROOT / path).read_text()) == []
    for text in ("A file that is gone", "Of older ones", "It is no error.", "The list goes on."):
        with case(text):
            assert DIALECT.search(text)


def test_the_pages_are_complete() -> None:
    """They have each room, each binding that can be given another key, and each public name, once."""
    [rooms] = [rows for header, _, *rows in page(SOURCE.read_text()).tables if header[0].startswith("room")]
    found = sorted(f"`{path.parent.name}/`" for path in (ROOT / "agentwatch").glob("*/__init__.py"))
    assert sorted(row[0] for row in rooms) == found
    assert ids_of(page(KEYS.read_text())) == set(bound_ids())
    [example] = re.findall(r"```toml\n(.*?)```", CONFIG.read_text(), re.DOTALL)
    assert tomllib.loads(example)["keys"].keys() <= bound_ids().keys()
    named = re.findall(r"^### (\w+)(?:\.\w+)?$", PYTHON.read_text(), re.MULTILINE)
    assert sorted(named) == sorted({*agentwatch.__all__} - {"__version__"})
    # The table of keys has each key that is bound in the list.
    text = "\n".join(row[0] for row in rows("key"))
    keys = {NAMED_KEYS.get(key, key) for key in _TICKED.findall(text)} | set(re.findall("left|right", text))
    own = (each for each in shortcuts() if each.place in {"sessions", "home"})
    bound = {key for each in own for key in each.keys.split(",")}
    assert {"/" if key == "slash" else key for key in bound} <= keys
    # Each sign, each word of a session that runs, and the groups in their order are keys.
    shown = [row[0].strip("`").split() for row in rows("sign")]
    assert {sign for sign, _ in shown} == {state.sign for state in words._STATES.values()}
    live = {"tool", "model", *(state.word for state in words._STATES.values())} - {
        "works",
        "ended",
        "unknown",
    }
    assert live <= {word for _, word in shown}
    assert list(dict.fromkeys(row[1] for row in rows("sign"))) == [*Group]
    columns = dict.fromkeys(("state", *(column.name for column in COLUMNS)))
    assert [row[0] for row in rows("column")] == [*columns]
    # Each variable that moves the folder of an agent is keys beside its agent's folder.
    folders = "\n".join(f"{row[1]} {row[2]}" for row in rows("agent") if len(row) == 4)
    roots = [root for program in programs() for each in program.sessions for root in each.roots]
    assert len(roots) >= 10
    for root in roots:
        with case(root):
            first = root.partition("/")[0]
            assert f"`{first[1:]}`" in folders if first.startswith("$") else f"`{root}`" in folders
    # Each part of the machine is read as often as the table says.
    for part, beginning in (
        ("registries", "records of Claude Code"),
        ("registries", "other reported states"),
        ("live", "the files of sessions that run"),
        ("processes", "processes"),
        ("recent", "the files of sessions that have changed within the hour"),
        ("places", "folders, for new sessions"),
        ("branches", "the branches"),
    ):
        with case(part):
            [often] = [row[1] for row in rows("what") if row[0].startswith(beginning)]
            assert often.startswith(f"every {catalog._SECONDS[part]:g} s")
            if part in ("registries", "live"):
                assert f"; every {catalog._SECONDS['in view']:g} s while" in often


def test_a_link_leads_to_a_heading_where_markdown_is_shown() -> None:
    """A link to a place in a page leads to a heading, by the names that code hosting sites give them."""
    links = [
        (path, target, place)
        for path in PAGES
        if path.parts[0] == "docs"
        for target, place in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", (ROOT / path).read_text())
    ]
    assert len({path for path, _, _ in links}) > 10
    for path, target, place in links:
        with case(f"{path}: {target}#{place}"):
            text = (ROOT / path if not target else (ROOT / path).parent / target).read_text()
            headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
            names = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert place in names


MAN_PAGE = ROOT / "docs" / "man" / "agentwatch.1"


def every_command(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    """Yield each command below a group with its name: `engine init`."""
    for name, command in commands_of(group).items():
        if isinstance(command, click.Group):
            yield from ((f"{name} {below}", found) for below, found in every_command(command))
        else:
            yield name, command


def test_what_is_generated_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python docs/reference.py` has nothing to write."""
    monkeypatch.syspath_prepend(ROOT / "docs")
    generated = import_module("reference").generated()
    old = [f"docs/{name}" for name, text in generated.items() if (ROOT / "docs" / name).read_text() != text]
    assert not old, f"not up to date: {', '.join(old)}: run .venv/bin/python docs/reference.py"
    # In the man page, characters that it would act on, or beyond ASCII, are shown as they are.
    lines = import_module("generating.man_page")._lines
    assert [*lines(".SH 'a' \\e `b\\|c` – [words](page.md#x)")] == [
        "\\&.SH \\(aqa\\(aq \\ee \\fBb|c\\fR \\[u2013] words"
    ]


@pytest.mark.system
def test_a_file_that_is_not_up_to_date_is_named(tmp_path: Path) -> None:
    """`--check` names a file that another version has written, and leaves it alone."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("site", ".cache"))
    old = tmp_path / "docs" / "man" / "agentwatch.1"
    old.write_text("old\n")
    for arguments, code, content in ((["--check"], 1, "old\n"), ([], 0, MAN_PAGE.read_text())):
        ran = subprocess.run(
            [sys.executable, tmp_path / "docs" / "reference.py", *arguments],
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ran.returncode, ran.stdout, old.read_text()) == (code, "man/agentwatch.1\n", content)


def test_the_man_page_is_complete() -> None:
    """It has each command and option, and sections for what is not in `--help`; mandoc reports nothing."""
    text = MAN_PAGE.read_text()
    assert text.isascii()
    plain = text.replace("\\-", "-")
    for section in ("NAME", "SYNOPSIS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"):
        assert f"\n.SH {section}\n" in plain
    shown = {
        option
        for _, command in every_command(program)
        for param in command.params
        if isinstance(param, click.Option) and not param.hidden
        for option in param.opts
    }
    for name, command in every_command(program):
        assert (f".SS agentwatch {name}\n" in plain) is not command.hidden
        for param in command.params:
            is_hidden = isinstance(param, click.Option) and param.hidden
            for option in (option for option in param.opts if option[0] == "-"):
                assert (f"\\fB{option}\\fR" in plain) is (option in shown or not is_hidden), option
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    linted = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "all", MAN_PAGE], capture_output=True, text=True, check=False
    )
    assert (linted.returncode, linted.stdout) == (0, "")


LIST_PAGES = page(
    "".join((ROOT / "docs" / name).read_text() for name in ("sessions.md", "reference/sessions.md"))
)


def rows(heading: str) -> list[list[str]]:
    """Return the rows of the tables whose first column has a heading."""
    return [row for header, _, *body in LIST_PAGES.tables if header[0] == heading for row in body]
