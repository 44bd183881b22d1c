"""A recording of three lines, shared by the tests of the harness."""

from pathlib import Path

import pytest

INIT = b'{"type":"system","subtype":"init","session_id":"s-1"}\n'
TEXT = b'{"type":"assistant","text":"caf\xc3\xa9 \\r","session_id":"s-1"}\r\n'
RESULT = b'{"type":"result","subtype":"success","session_id":"s-1"}\n'
RECORDING = INIT + TEXT + RESULT


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A recording of three lines on disk, one of them with a carriage return."""
    path = tmp_path / "session.ndjson"
    path.write_bytes(RECORDING)
    return path
