"""All that is known of an agent is in its folder: outside agents/, its short name occurs in no code."""

from __future__ import annotations

import re

import pytest

from agentwatch.agents.registry import AGENTS, FORMATS, known_agents, programs
from tests.conftest import ROOT, case
from tests.project.documents.doc_claims import page
from tests.project.test_agent_knowledge import MODULES, PACKAGE, literals

WORD = re.compile(rf"(?<![\w.-])(?:{'|'.join(AGENTS)})(?![\w.-])")
PROSE = {"acp", "amp", "copilot", "cursor", "droid", "pi"}
"""Short names that are words or parts of words: they count only as a whole text."""
LONG_NAMES = {"acp": "agent client protocol"}
"""The names of agents that the pages do not call by their short names."""
OTHER_MEANINGS = {
    "screen/screens/compare/screen.py": {"cursor"},  # the row at which a list is
    "screen/screens/session/file_list.py": {"cursor"},
    "screen/screens/session/verdicts.py": {"cursor"},
    "screen/terminal/editor.py": {"cursor"},  # an editor
    "cli/default_command.py": {"acp"},  # the command `agentwatch acp`
    "cli/start.py": {"acp"},
    "output/redact/secrets/rules.py": {"cursor"},  # a vendor of keys
}
"""Modules in which the word is another thing."""
EXAMPLES = {
    "catalog/row_filter.py": {"codex"},
    "screen/screens/sessions/bars.py": {"claude", "codex"},
    "screen/keys.py": {"codex"},
}
"""Modules whose texts for the user have an agent as an example."""


def names_in(source: str) -> set[str]:
    """Return the short names of agents in the texts of a module, without docstrings."""
    found: set[str] = set()
    for _, text in literals(source):
        found.update(name for name in WORD.findall(text) if name not in PROSE or text == name)
    return found


@pytest.mark.system
def test_no_module_outside_agents_names_an_agent() -> None:
    """An agent is reached through `agentwatch.agents.registry` only."""
    found = {str(path.relative_to(PACKAGE)): names_in(path.read_text("utf-8")) for path in MODULES}
    assert {name: names for name, names in found.items() if names} == OTHER_MEANINGS | EXAMPLES


def test_a_name_in_code_is_found() -> None:
    """A key, a comparison and a word in a text or in bytes are found."""
    for source in (
        '{"claude": 1}',
        'agent == "pi"',
        'x = b"ls claude"',
        'match a:\n    case "codex":\n        pass',
    ):
        with case(source):
            assert len(names_in(source)) == 1


def test_the_pages_name_each_agent_and_each_format() -> None:
    """Two tables have each format once, and the pages that list the agents have each agent."""
    tables = page((ROOT / "docs" / "agents.md").read_text()).tables
    named = {
        header[1]: [name for row in rows for name in re.findall("`([^`]+)`", row[0])]
        for header, _, *rows in tables
    }
    for name in FORMATS:
        with case(name):
            assert named["command, or files"].count(name) == 1, (
                "add a row to the first table of docs/agents.md"
            )
            assert name == "claude-family" or named["missing"].count(name) == 1, (
                'add a row to the table "Missing values" of docs/agents.md'
            )
    assert {*named["command, or files"]} == {*FORMATS}
    for path in ("README.md", "docs/index.md", "CHANGELOG.md"):
        text = (ROOT / path).read_text().casefold()
        for name in AGENTS:
            with case(name):
                words = LONG_NAMES.get(name, name)
                assert re.search(rf"\b{words}\b", text), f"add the agent to {path}"


def test_each_agent_is_one_folder_and_one_line() -> None:
    """The line of an agent has the formats that its folder defines, in their order, and its program."""
    assert tuple(agent.name for agent in known_agents()) == FORMATS
    names = [program.name for program in programs()]
    assert names[: len(AGENTS)] == [*AGENTS]
    for name in AGENTS:
        with case(name):
            assert {"__init__.py", "agent.py", "program.py"} <= {
                path.name for path in (ROOT / "agentwatch" / "agents" / name).iterdir()
            }
