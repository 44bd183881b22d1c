"""Hundreds of publishers of one server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.engine.server import nats_server
from tests.harness.trials.load import LINES_A_SECOND, end_load, read_kept, start_load
from tests.harness.trials.streams import prepare

_PUBLISHERS = 500
_SECONDS = 60


@pytest.mark.long
def test_no_line_of_500_publishers_is_lost(tmp_path: Path) -> None:
    """500 publishers at 20 lines/s are acknowledged for a minute, and the server has all lines in order."""
    with nats_server(tmp_path) as server:
        prepare(server)
        load = end_load(start_load(server.port, _PUBLISHERS, 2, _SECONDS))
        kept = read_kept(server.port)
    assert load.refused == 0
    assert kept.ahead == 0
    assert (kept.lines, kept.messages) == (load.lines, load.messages)
    assert load.lines == _PUBLISHERS * _SECONDS * LINES_A_SECOND
