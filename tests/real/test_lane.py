"""The agents themselves: what agentwatch shows of each is what the script says.

They are installed in the folder that AGENTWATCH_REAL names, or in a temporary one. AGENTWATCH_REAL_NEWEST
tries the newest versions. The report is written to the file that AGENTWATCH_REAL_REPORT names.
"""

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from tests.real.agents import AGENTS
from tests.real.judge import Verdict
from tests.real.lane import Result, check
from tests.real.report import report
from tests.real.search import log_of

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Result]]:
    """Keep the results of all agents, and write the report at the end."""
    found: dict[str, Result] = {}
    yield found
    named = os.environ.get("AGENTWATCH_REAL_REPORT")
    path = Path(named) if named else tmp_path_factory.mktemp("report") / "report.md"
    path.write_text(report(list(found.values()), date.today()))
    print(path)


@pytest.mark.parametrize("name", AGENTS)
def test_what_is_shown_of_an_agent_is_true(
    name: str, results: dict[str, Result], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Nothing is shown wrongly: no call, outcome, exit code, token, result or state, in any view."""
    named = os.environ.get("AGENTWATCH_REAL")
    folder = Path(named).absolute() if named else tmp_path_factory.getbasetemp() / "real"
    result = check(name, folder, newest="AGENTWATCH_REAL_NEWEST" in os.environ)
    results[name] = result
    wrong = [each.view for each in result.checks if each.verdict is Verdict.WRONG]
    assert (result.failure, wrong) == ("", []), report([result], date.today())


@pytest.mark.parametrize("name", ["claude", "gemini"])
def test_an_agent_finds_by_the_server_what_another_session_did(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """It calls `find`, and gets the address of the call."""
    named = os.environ.get("AGENTWATCH_REAL")
    folder = Path(named).absolute() if named else tmp_path_factory.getbasetemp() / "real"
    result = check(name, folder, newest="AGENTWATCH_REAL_NEWEST" in os.environ, views=("search",))
    assert [each.differences for each in result.checks] == [[]], log_of(folder, name)
