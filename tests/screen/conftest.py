"""What every test of the screen starts from: times of day in UTC, no animation, and messages that stay."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use UTC for times of day, switch off animations, and keep messages longer than a slow machine draws."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setattr("agentwatch.screen.terminal.base_app.TerminalApp.NOTIFICATION_TIMEOUT", 60.0)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
