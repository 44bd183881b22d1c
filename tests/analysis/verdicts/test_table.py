"""Every line of the table of tools is read as its tool means it."""

from __future__ import annotations

import pytest

from agentwatch.analysis.verdicts import Source, checkers, runners, verdict
from tests.analysis.verdicts.lines import GREEN, RED, Line, colour
from tests.analysis.verdicts.table import SILENT, TABLE, TOOLS
from tests.conftest import ROOT

NAMED = {"node": "node --test", "go": "go test", "cargo": "cargo test"}
"""The names of some tools in the documentation."""
EVERY = pytest.mark.parametrize("line", TABLE, ids=[line.id for line in TABLE])


@EVERY
def test_each_line_gives_its_verdict(line: Line) -> None:
    """A line gives its tool, colour and counts, whatever command wrote it and whatever is around it."""
    for text in (line.output, f"noise\n\n{line.output}\n\n", line.output.replace("\n", "\r\n")):
        for exit_code in (None, line.exit_code):
            found = verdict("./run.sh", text, exit_code)
            assert found is not None
            assert (found.tool, found.words, found.source) == (line.tool, line.words, Source.PATTERN)
            assert colour(found) == line.colour


@EVERY
def test_colours_of_a_tool_are_ignored(line: Line) -> None:
    """A line in bold and in colours, with a link, is read like a plain one."""
    coloured = "\n".join(
        f"\x1b[31;1m{text[:3]}\x1b[0m\x1b]8;;https://a.b\x1b\\{text[3:]}\x1b]8;;\x07\x1b(B"
        for text in line.output.splitlines()
    )
    found = verdict("", coloured, None)
    assert found is not None
    assert (found.tool, found.words, colour(found)) == (line.tool, line.words, line.colour)


@EVERY
@pytest.mark.parametrize("end", [" | tail -3", " 2>&1 | tee log", " || true", "; echo done"])
def test_a_hidden_exit_code_changes_no_verdict(line: Line, end: str) -> None:
    """If another program decides the exit code, the verdict is that of the line."""
    found = verdict(f"./run.sh{end}", line.output, 0)
    assert found is not None
    assert (found.words, found.source, colour(found)) == (line.words, Source.PATTERN, line.colour)


@pytest.mark.parametrize("line", [pytest.param(each, id=each.id) for each in TABLE if each.colour != RED])
def test_an_exit_code_makes_every_line_red(line: Line) -> None:
    """With an exit code other than 0, a line that is not red is red by the exit code."""
    found = verdict("./run.sh", line.output, 3)
    assert found is not None
    assert (found.tool, found.words) == (line.tool, f"{line.words}, exit 3")
    assert (found.source, colour(found)) == (Source.EXIT, RED)


@pytest.mark.parametrize("tool", TOOLS)
def test_each_tool_has_red_and_green(tool: str) -> None:
    """Of each tool the table has a red and a green output; the green one of some tools is silence."""
    colours = {line.colour for line in TABLE if line.tool == tool}
    if tool in SILENT:
        found = verdict(tool, "", 0)
        assert found is not None
        assert (found.tool, found.source) == (tool, Source.EXIT)
        colours.add(colour(found))
    assert colours >= {RED, GREEN}


@pytest.mark.parametrize("tool", [tool for tool in TOOLS if tool not in SILENT])
def test_silence_of_other_tools_is_no_verdict(tool: str) -> None:
    """A tool that always closes its output has no verdict if it printed nothing."""
    assert verdict(tool, "", 0) is None


def test_the_table_is_whole() -> None:
    """The tools that are read are those of the table, and the documentation names them in its order."""
    assert (
        {rule.tool for rule in (*runners.RULES, *checkers.RULES)}
        == set(TOOLS)
        == {each.tool for each in TABLE}
    )
    *names, last = (NAMED.get(tool, tool) for tool in TOOLS)
    assert f"{', '.join(names)} and {last}." in (ROOT / "docs" / "SCREEN.md").read_text()
