"""What every test of the screen starts from: times of day in UTC, no animation, and messages that stay."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_parse = Stylesheet._parse_rules


@cache
def _parsed(variables: frozenset[tuple[str, str]], css: str, *named: tuple[str, Any]) -> list[RuleSet]:
    return _parse(Stylesheet(variables=dict(variables)), css, **dict(named))


@pytest.fixture(autouse=True)
def styles_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parse each style sheet once for each theme, not once for each app: that took 20 % of the CPU time."""

    def parse(sheet: Stylesheet, css: str, **named: Any) -> list[RuleSet]:
        return _parsed(frozenset(sheet._variables.items()), css, *named.items())

    monkeypatch.setattr(Stylesheet, "_parse_rules", parse)


@pytest.fixture(autouse=True)
def an_app_that_works_less_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a pilot take an app that used half of the last 20 ms for idle; else, clocks keep it waiting."""
    monkeypatch.setattr("textual._wait.SLEEP_IDLE", 0.01)


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
