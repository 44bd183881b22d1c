"""The plugins work together with agentwatch. Run them with pytest after installing the package."""

from pathlib import Path

from agentwatch_tern.agent import AGENT
from agentwatch_tern.calls_csv import row

import agentwatch
from agentwatch.api.check_agent import check_agent

RECORDING = Path(__file__).parent.parent / "tern.ndjson"


def test_the_format_is_valid() -> None:
    """Whatever is in a line, the functions of the format return what agentwatch expects, and never raise."""
    check_agent(AGENT, RECORDING.read_bytes().splitlines())


def test_the_format_is_found() -> None:
    """A recording of Tern is read by its entry point: a run with two calls, one of which failed."""
    session = agentwatch.load(RECORDING)
    assert (session.format, session.outcome, len(session.calls)) == (AGENT.name, "succeeded", 2)
    assert [call.exit_code for call in session.calls] == [1, 0]


def test_a_cell_is_no_formula() -> None:
    """A target that begins like a formula stays text in a spreadsheet."""
    assert row(1, None, "=1+1", 'a "b"') == b'1,,\'=1+1,"a ""b"""\r\n'
