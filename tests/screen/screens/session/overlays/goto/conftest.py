"""The recording on which the goto box is opened."""

from pathlib import Path

import pytest

from tests.builders.screen.goto_box import LINES
from tests.builders.screen.marked import write_times
from tests.conftest import Saver


@pytest.fixture
def path(recording: Saver) -> Path:
    """A recording of four calls, one line per second."""
    path = recording(*LINES)
    write_times(path)
    return path
