"""The processes that a large job starts."""

from subprocess import Popen
from typing import Any

import pytest

from agentwatch.base.helper_process import HelperProcess


def helper_processes(monkeypatch: pytest.MonkeyPatch) -> list[Popen[bytes]]:
    """Return a list to which each process is added that is started from now on."""
    started: list[Popen[bytes]] = []
    start = HelperProcess.__init__

    def noted(helper: HelperProcess, *given: Any, **named: Any) -> None:
        start(helper, *given, **named)
        started.append(helper.process)

    monkeypatch.setattr(HelperProcess, "__init__", noted)
    return started


def are_over(started: list[Popen[bytes]]) -> bool:
    """Return whether all have ended, and were waited for."""
    return all(process.returncode is not None for process in started)
