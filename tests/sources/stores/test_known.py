"""The choice of the store that a path belongs to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentwatch.agents.opening import store_for


def test_a_plain_file_is_no_store(tmp_path: Path) -> None:
    """A file of lines is read as it is."""
    path = tmp_path / "x.jsonl"
    path.write_text('{"type":"system"}\n')
    assert store_for(path) is None


def test_a_path_where_nothing_is_is_no_store(tmp_path: Path) -> None:
    """A path that does not exist is reported by the reader of plain files."""
    assert store_for(tmp_path / "gone") is None
    assert store_for(tmp_path) is None


def test_a_fifo_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer of a FIFO would be released, and then killed by SIGPIPE."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    monkeypatch.setattr(os, "open", lambda *_: pytest.fail("it was opened"))
    assert store_for(path) is None
