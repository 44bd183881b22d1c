"""Outside agents/ no code knows an agent's tools: it matches on `ToolKind`, never on a name or a phrase."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from agentwatch.agents.cursor.tools import NAMED_IN_THE_WILD, TOOLS
from agentwatch.agents.tool import other_tool
from agentwatch.session.events import ToolKind
from tests.conftest import ROOT, case

PACKAGE = ROOT / "agentwatch"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] != "agents")
PHRASES = frozenset(tool.phrase for tool in (*TOOLS.values(), other_tool("new")))
NAMES = frozenset({*TOOLS, *NAMED_IN_THE_WILD})
KEYS = frozenset(f"{name}ToolCall" for name in NAMES)
OWN_WORDS = {
    "rules/calls/fields.py": frozenset({"shell", "task", "write"}),
    "__init__.py": {"read"},  # the function of the Python API
    "session/events.py": frozenset(ToolKind) & NAMES,  # the values of ToolKind are agentwatch's own
    "analysis/verdicts.py": {"grep", "ls"},  # programs of the shell
    "analysis/episodes.py": {"grep"},  # a program of the shell
    "catalog/index/rows.py": {"read", "task"},
    "cli/config_file.py": {"list"},  # the setting that names machines
    "cli/machine_settings.py": {"list"},
    "analysis/files.py": {"read"},  # the value of FileAction.READ, for the list of files
    "catalog/hooks/answers.py": {"list"},  # where the user acted
    "cli/subcommands.py": {"list"},
    "screen/screens/sessions/screen.py": {"list"},
    "sources/agent.py": {"list"},
    "catalog/processes.py": {"mcp"},  # a subcommand of agents
    "output/redact/secrets/key_files.py": {"grep"},  # a program of the shell that shows a file
    "recording/saved.py": {"truncated"},  # how a followed file ended
    "screen/terminal/keymap.py": {"delete"},  # the key Delete
}
"""Modules that use a tool's name as an ordinary word, and the words."""


@cache
def literals(source: str) -> list[tuple[int, str]]:
    """Return the line number and the text of each string literal, without docstrings.

    Every string that is a statement by itself counts as a docstring. Parts of f-strings and bytes are
    included.
    """
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            if isinstance(node.value, str):
                found.append((node.lineno, node.value))
            elif isinstance(node.value, bytes):
                found.append((node.lineno, node.value.decode("utf-8", "replace")))
    return found


def phrases_in(source: str) -> list[tuple[int, str]]:
    """Return the literals that contain a phrase of the text format in any case."""
    return [
        (line, text)
        for line, text in literals(source)
        if any(phrase.casefold() in text.casefold() for phrase in PHRASES)
    ]


def names_in(source: str) -> list[tuple[int, str]]:
    """Return the literals that are a tool's name, or its key in a line."""
    return [(line, text) for line, text in literals(source) if text in NAMES | KEYS]


@pytest.mark.system
@pytest.mark.slow
def test_no_module_outside_agents_contains_a_phrase_of_the_text_format() -> None:
    """A phrase such as `Read file` is only written where the agent's format is decoded."""
    assert {"Read file", "Ran terminal command", "Used tool"} <= PHRASES
    found = {str(path.relative_to(PACKAGE)): phrases_in(path.read_text("utf-8")) for path in MODULES}
    assert {name: texts for name, texts in found.items() if texts} == {}


@pytest.mark.system
@pytest.mark.slow
def test_no_module_outside_agents_contains_the_name_of_a_tool() -> None:
    """A name such as `shell` is only written where the agent's format is decoded."""
    assert {"shell", "semSearch", "createPlan"} <= NAMES
    found = {}
    for path in MODULES:
        name = str(path.relative_to(PACKAGE))
        own = OWN_WORDS.get(name, frozenset[str]())
        found[name] = [(line, text) for line, text in names_in(path.read_text("utf-8")) if text not in own]
    assert {name: texts for name, texts in found.items() if texts} == {}


def test_an_exempted_word_is_still_used() -> None:
    """Each exemption covers exactly the words that its module uses."""
    for name, words in OWN_WORDS.items():
        with case(name):
            assert {text for _, text in names_in((PACKAGE / name).read_text("utf-8"))} == words


def test_a_name_in_code_is_found() -> None:
    """A comparison, a key, a constant, bytes and a pattern with a tool's name are found."""
    for source in (
        'if call.tool == "shell":\n    pass',
        'limits = {"webFetch": 1}',
        'SHELL = "shell"',
        'is_shell = b"shellToolCall" in data',
        'match tool:\n    case "updateTodos":\n        pass',
    ):
        with case(source):
            assert names_in(source)


def test_a_phrase_in_code_is_found() -> None:
    """A comparison, an f-string and a text that contain a phrase are found, in any case."""
    for source in (
        'if call.phrase == "Edited file":\n    pass',
        'words = f"Read file {path}"',
        'EXAMPLE = "read lints"',
    ):
        with case(source):
            assert phrases_in(source)


def test_documentation_may_contain_names_and_phrases() -> None:
    """Docstrings, attribute docstrings and comments are not code."""
    source = '"""Read file"""\n\nkind = 1  # shell\n"""shell"""\n\n\ndef run():\n    """Edited file"""\n'
    assert names_in(source) == phrases_in(source) == []
