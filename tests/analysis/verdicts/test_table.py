"""Every line of the table of tools is read as its tool means it."""

from __future__ import annotations

from agentwatch.analysis import verdicts
from agentwatch.analysis.verdicts import Source, verdict
from tests.analysis.verdicts.lines import GREEN, RED, colour
from tests.analysis.verdicts.table import SILENT, TABLE, TOOLS
from tests.conftest import ROOT, case

NAMED = {"node": "node --test", "go": "go test", "cargo": "cargo test"}
"""The names of some tools in the documentation."""


def test_each_line_gives_its_verdict() -> None:
    """A line gives its tool, colour and counts, whatever command wrote it and whatever is around it."""
    for line in TABLE:
        with case(line.id):
            for text in (line.output, f"noise\n\n{line.output}\n\n", line.output.replace("\n", "\r\n")):
                for exit_code in (None, line.exit_code):
                    found = verdict("./run.sh", text, exit_code)
                    assert found is not None
                    assert (found.tool, found.words, found.source) == (line.tool, line.words, Source.PATTERN)
                    assert colour(found) == line.colour


def test_colours_of_a_tool_are_ignored() -> None:
    """A line in bold and in colours, with a link, is read like a plain one."""
    for line in TABLE:
        with case(line.id):
            coloured = "\n".join(
                f"\x1b[31;1m{text[:3]}\x1b[0m\x1b]8;;https://a.b\x1b\\{text[3:]}\x1b]8;;\x07\x1b(B"
                for text in line.output.splitlines()
            )
            found = verdict("", coloured, None)
            assert found is not None
            assert (found.tool, found.words, colour(found)) == (line.tool, line.words, line.colour)


def test_a_hidden_exit_code_changes_no_verdict() -> None:
    """If another program decides the exit code, the verdict is that of the line."""
    for line in TABLE:
        for end in (" | tail -3", " 2>&1 | tee log", " || true", "; echo done"):
            with case(f"{line.id}, {end}"):
                found = verdict(f"./run.sh{end}", line.output, 0)
                assert found is not None
                assert (found.words, found.source, colour(found)) == (line.words, Source.PATTERN, line.colour)


def test_an_exit_code_makes_every_line_red() -> None:
    """With an exit code other than 0, a line that is not red is red by the exit code."""
    for line in (each for each in TABLE if each.colour != RED):
        with case(line.id):
            found = verdict("./run.sh", line.output, 3)
            assert found is not None
            assert (found.tool, found.words) == (line.tool, f"{line.words}, exit 3")
            assert (found.source, colour(found)) == (Source.EXIT, RED)


def test_each_tool_has_red_and_green() -> None:
    """Of each tool the table has a red and a green output; the green one of some tools is silence."""
    for tool in TOOLS:
        with case(tool):
            colours = {line.colour for line in TABLE if line.tool == tool}
            if tool in SILENT:
                found = verdict(tool, "", 0)
                assert found is not None
                assert (found.tool, found.source) == (tool, Source.EXIT)
                colours.add(colour(found))
            assert colours >= {RED, GREEN}


def test_silence_of_other_tools_is_no_verdict() -> None:
    """A tool that always closes its output has no verdict if it printed nothing."""
    for tool in (each for each in TOOLS if each not in SILENT):
        with case(tool):
            assert verdict(tool, "", 0) is None


def test_the_table_is_whole() -> None:
    """The tools that are read are those of the table, and the documentation names them in its order."""
    assert (
        {rule.tool for rule in (*verdicts.RUNNER_RULES, *verdicts.CHECKER_RULES)}
        == set(TOOLS)
        == {each.tool for each in TABLE}
    )
    *names, last = (NAMED.get(tool, tool) for tool in TOOLS)
    assert f"{', '.join(names)} and {last}." in (ROOT / "docs" / "screen.md").read_text()
