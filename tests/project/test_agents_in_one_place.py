"""All that is known of an agent is in its folder: no code outside agents/ has its names, tools or phrases."""

import ast
import re
from functools import cache

import pytest

from agentwatch.agents.cursor.tools import NAMED_IN_THE_WILD, TOOLS
from agentwatch.agents.registry import AGENTS, FORMATS, known_agents, programs
from agentwatch.agents.tool import other_tool
from agentwatch.session.events import ToolKind
from tests.conftest import ROOT, case
from tests.project.documents.doc_claims import page

PACKAGE = ROOT / "agentwatch"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] != "agents")
PHRASES = frozenset(tool.phrase for tool in (*TOOLS.values(), other_tool("new")))
TOOL_NAMES = frozenset({*TOOLS, *NAMED_IN_THE_WILD})
KEYS = frozenset(f"{name}ToolCall" for name in TOOL_NAMES)
OWN_WORDS = {
    "rules/calls/fields.py": frozenset({"shell", "task", "write"}),
    "rules/calls/commands.py": {"fetch", "grep", "read"},  # programs of the shell
    "__init__.py": {"read"},  # the function of the Python API
    "session/tool_kind.py": frozenset(ToolKind) & TOOL_NAMES,  # the values of ToolKind are agentwatch's own
    "analysis/shell.py": {"grep", "ls"},  # programs of the shell
    "analysis/episodes.py": {"grep"},  # a program of the shell
    "catalog/index_rows.py": {"read", "task"},
    "cli/config_file.py": {"list"},  # the setting that names machines
    "analysis/files.py": {"read"},  # the value of FileAction.READ, for the list of files
    "catalog/hooks/answers.py": {"list"},  # where the user acted
    "cli/continuing.py": {"list"},
    "screen/screens/session/help.py": {"list"},
    "screen/screens/sessions/app.py": {"list"},
    "sources/agent.py": {"list"},
    "catalog/processes.py": {"mcp"},  # a subcommand of agents
    "cli/default_command.py": {"mcp"},  # the command `agentwatch mcp`
    "cli/mcp.py": {"mcp"},
    "base/extras.py": {"mcp"},  # the package
    "recording/saved.py": {"truncated"},  # how a followed file ended
    "screen/keys.py": {"delete"},  # the key Delete
}
"""Modules that use a tool's name as an ordinary word, and the words."""


WORD = re.compile(rf"(?<![\w.-])(?:{'|'.join(AGENTS)})(?![\w.-])")
PROSE = {"acp", "amp", "copilot", "cursor", "droid", "pi"}
"""Short names that are words or parts of words: they count only as a whole text."""
LONG_NAMES = {"acp": "agent client protocol"}
"""The names of agents that the pages do not call by their short names."""
OTHER_MEANINGS = {
    "screen/terminal/editor.py": {"cursor"},  # an editor
    "cli/default_command.py": {"acp"},  # the command `agentwatch acp`
    "cli/start.py": {"acp"},
    "output/redact/secrets/prefixed.py": {"cursor"},  # a vendor of keys
}
"""Modules in which the word is another thing."""
EXAMPLES = {
    "catalog/find_query.py": {"codex"},
    "cli/mcp.py": {"claude"},
    "cli/mcp_server.py": {"claude", "codex"},
    "catalog/row_filter.py": {"codex"},
    "screen/screens/sessions/home.py": {"claude", "codex"},
    "screen/keys.py": {"codex"},
}
"""Modules whose texts for the user have an agent as an example."""


@cache
def literals(source: str) -> list[str]:
    """Return the text of each string literal, without docstrings.

    Every string that is a statement by itself counts as a docstring. Parts of f-strings and bytes are
    included.
    """
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            if isinstance(node.value, str):
                found.append(node.value)
            elif isinstance(node.value, bytes):
                found.append(node.value.decode("utf-8", "replace"))
    return found


def phrases_in(source: str) -> set[str]:
    """Return the literals that contain a phrase of the text format in any case."""
    return {
        text for text in literals(source) if any(phrase.casefold() in text.casefold() for phrase in PHRASES)
    }


def tools_in(source: str) -> set[str]:
    """Return the literals that are a tool's name, or its key in a line."""
    return {text for text in literals(source) if text in TOOL_NAMES | KEYS}


def names_in(source: str) -> set[str]:
    """Return the short names of agents in the texts of a module, without docstrings."""
    found: set[str] = set()
    for text in literals(source):
        found.update(name for name in WORD.findall(text) if name not in PROSE or text == name)
    return found


@pytest.mark.system
def test_no_module_outside_agents_knows_an_agent() -> None:
    """A phrase such as `Read file`, a tool's and an agent's name are only written where a format is decoded.

    An agent is reached through `agentwatch.agents.registry` only. Each exemption covers exactly the words
    that its module uses.
    """
    assert {"Read file", "Ran terminal command", "Used tool"} <= PHRASES
    assert {"shell", "semSearch", "createPlan"} <= TOOL_NAMES
    sources = {str(path.relative_to(PACKAGE)): path.read_text("utf-8") for path in MODULES}
    for find, known in ((phrases_in, {}), (tools_in, OWN_WORDS), (names_in, OTHER_MEANINGS | EXAMPLES)):
        with case(find.__name__):
            found = {name: find(source) for name, source in sources.items()}
            assert {name: words for name, words in found.items() if words} == known


def test_what_is_known_of_an_agent_is_found_in_code() -> None:
    """It is found in a comparison, a key, bytes and an f-string, and in no docstring or comment."""
    for find, source in (
        (tools_in, 'if call.tool == "shell":\n    pass'),
        (tools_in, 'limits = {"webFetch": 1}'),
        (tools_in, 'SHELL = "shell"'),
        (tools_in, 'is_shell = b"shellToolCall" in data'),
        (tools_in, 'match tool:\n    case "updateTodos":\n        pass'),
        (phrases_in, 'if call.phrase == "Edited file":\n    pass'),
        (phrases_in, 'words = f"Read file {path}"'),
        (phrases_in, 'EXAMPLE = "read lints"'),
        (names_in, '{"claude": 1}'),
        (names_in, 'agent == "pi"'),
        (names_in, 'x = b"ls claude"'),
        (names_in, 'match a:\n    case "codex":\n        pass'),
    ):
        with case(source):
            assert len(find(source)) == 1
    source = '"""Read file"""\n\nkind = 1  # shell\n"""shell"""\n\n\ndef run():\n    """Edited file"""\n'
    assert tools_in(source) == phrases_in(source) == set()


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
