"""The versions of nats-server that several teams can share."""

from __future__ import annotations

from agentwatch.remote.nats.client import warning_about
from tests.conftest import case


def test_versions_without_a_warning() -> None:
    """From 2.11.16 and 2.12.7 on there is nothing to say."""
    for version in ("2.11.16", "2.11.99", "2.12.7", "2.12.10", "2.13.0", "3.0.0", "2.12.7-RC.1"):
        with case(version):
            assert warning_about(version) == ""


def test_versions_with_a_warning() -> None:
    """The warning has the version, and those that are needed."""
    for version in ("2.9.10", "2.10.29", "2.11.15", "2.12.0", "2.12.6", "1.99.99"):
        with case(version):
            assert warning_about(version) == (
                f"the engine runs nats-server {version}; shared servers need 2.11.16 or 2.12.7"
            )


def test_a_version_that_is_none() -> None:
    """A server whose version cannot be read has a warning without its words."""
    for version in ("", "x", "2", "2.12", "v2.12.7", "\x1b[31m", "9" * 10_000, "-1.0.0"):
        with case(f"{version[:60]!r}"):
            assert (
                warning_about(version)
                == "the engine does not say its version; shared servers need 2.11.16 or 2.12.7"
            )
