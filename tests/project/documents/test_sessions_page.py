"""The two pages about the list name all its keys, states and folders, and how often each thing is read."""

from __future__ import annotations

import re

from agentwatch.agents.registry import programs
from agentwatch.catalog import catalog
from agentwatch.catalog.standing import Group
from agentwatch.screen.keys import shortcuts
from agentwatch.screen.screens.sessions import words
from tests.conftest import ROOT, case
from tests.project.documents.doc_claims import _TICKED, NAMED_KEYS, page

PAGE = page("".join((ROOT / "docs" / name).read_text() for name in ("sessions.md", "reference/sessions.md")))


def rows(heading: str) -> list[list[str]]:
    """Return the rows of the tables whose first column has a heading."""
    return [row for header, _, *body in PAGE.tables if header[0] == heading for row in body]


def test_every_key_of_the_list_is_named() -> None:
    """The table of keys has each key that is bound in the list."""
    text = "\n".join(row[0] for row in rows("key"))
    named = {NAMED_KEYS.get(key, key) for key in _TICKED.findall(text)} | set(re.findall("left|right", text))
    own = (each for each in shortcuts() if each.place in {"sessions", "home"})
    bound = {key for each in own for key in each.keys.split(",")}
    assert {"/" if key == "slash" else key for key in bound} <= named


def test_every_state_is_described() -> None:
    """The table of states has each sign, each word of a session that runs, and the groups in their order."""
    shown = [row[0].strip("`").split() for row in rows("sign")]
    assert {sign for sign, _ in shown} == {state.sign for state in words._STATES.values()}
    live = {"tool", "model", *(state.word for state in words._STATES.values())} - {
        "works",
        "ended",
        "unknown",
    }
    assert live <= {word for _, word in shown}
    assert list(dict.fromkeys(row[1] for row in rows("sign"))) == [*Group]


def test_every_variable_of_a_folder_is_named() -> None:
    """The table of folders has each variable that moves the folder of an agent, beside its agent's folder."""
    named = "\n".join(f"{row[1]} {row[2]}" for row in rows("agent") if len(row) == 4)
    roots = [root for program in programs() for each in program.sessions for root in each.roots]
    assert len(roots) >= 10
    for root in roots:
        with case(root):
            first = root.partition("/")[0]
            assert f"`{first[1:]}`" in named if first.startswith("$") else f"`{root}`" in named


def test_the_times_are_those_of_the_program() -> None:
    """Each part of the machine is read as often as the table says."""
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
