"""The messages about plugins that fail."""

from __future__ import annotations

_MOST_WORDS = 300

problems: list[str] = []
"""One line for each plugin that failed, in the order in which they failed."""


def report(name: str, reason: BaseException | str) -> None:
    """Add a line for a plugin that failed."""
    problems.append(words_of(name, reason if isinstance(reason, str) else reason_of(reason)))


def words_of(name: str, reason: str) -> str:
    """Return the line for a plugin."""
    return f"format plugin {name}: {reason}"


def reason_of(error: BaseException) -> str:
    """Return an exception in one line. Its message is foreign, and making it may fail too."""
    try:
        words = str(error)[:_MOST_WORDS]
    except Exception:  # noqa: BLE001 - other people's code
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
