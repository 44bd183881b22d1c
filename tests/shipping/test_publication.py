"""The words for the header of a session that is published."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from agentwatch.recording import SessionFiles, create_file, hold, release
from agentwatch.shipping import publication as publications
from agentwatch.shipping.publication import Publication
from agentwatch.shipping.sidecar import ShipState, Sidecar, read_shipped
from agentwatch.shipping.target import Given, target_of
from tests.harness.processes import until
from tests.shipping.test_published_runs import shippers

NOBODY = "nats://127.0.0.1:1"


def test_the_header_says_why_nothing_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the problem without the address; after SIGKILL it says so, until another process continues."""
    monkeypatch.setattr(publications, "_READ_SECONDS", 0)
    files = SessionFiles(Path(os.environ["AGENTWATCH_HOME"]) / "sessions" / "one.ndjson")
    files.recording.parent.mkdir(parents=True, exist_ok=True)
    fd = create_file(files.recording)
    hold(fd)
    os.write(fd, b"one\n")
    published = Publication(target_of(NOBODY, {}, os.environ, Given("ci")), 0)
    published.start(files.recording)
    until(shippers)  # the arguments of a process can be read a moment after it was started
    (shipper,) = shippers()
    try:
        until(lambda: published.forms() == ("⇡ 127.0.0.1 · connection refused", "⇡ connection refused", "⇡!"))
    finally:
        os.kill(shipper, signal.SIGKILL)
    until(lambda: published.forms()[0] == "⇡ 127.0.0.1 · not publishing")
    assert published.has_trouble
    before = read_shipped(files.shipped)
    assert before is not None
    sidecar = Sidecar(files.shipped)
    sidecar.write(before._replace(shipped=4, state=ShipState.SHIPPING, problem=""))
    assert published.forms() == ("⇡ 127.0.0.1", "⇡")
    sidecar.close()
    release(fd)
    os.close(fd)
