"""A collector for each test, which the environment names."""

import os
from collections.abc import Iterator

import pytest

from tests.output.export.otlp.collector import Collector, collector
from tests.output.export.otlp.sent import close_opened


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """Return a running backend, to which spans are sent."""
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with collector() as found:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.url)
        yield found


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    """Close the recordings of a test after it: hundreds of tests open some."""
    yield
    close_opened()
