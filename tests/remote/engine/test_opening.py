"""Engines need the extra, and nothing loads its package before one is opened."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from agentwatch.base.faults import USAGE, Fault
from agentwatch.remote.engine import check_extra
from tests.conftest import ROOT


def test_without_the_extra_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault has the command."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Fault, match="pip install 'nats-py>=") as caught:
        check_extra()
    assert caught.value.exit_code == USAGE


def test_a_folder_with_the_name_of_the_client_is_not_the_client(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A folder `nats` where `python -m agentwatch` is run can be imported, and contains no client."""
    (tmp_path / "nats").mkdir()
    found = PathFinder.find_spec("nats", [str(tmp_path)])
    assert found is not None
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found)
    with pytest.raises(Fault, match="pip install"):
        check_extra()


@pytest.mark.slow
def test_checking_the_extra_does_not_load_it() -> None:
    """Names, cards, addresses and the check itself import neither the client nor asyncio."""
    program = (
        "import sys, agentwatch.remote.engine as o, agentwatch.remote.card, agentwatch.remote.engine;"
        "o.check_extra(); assert not {'nats', 'asyncio', 'ssl'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, timeout=30)
