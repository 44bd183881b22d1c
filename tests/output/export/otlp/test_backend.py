"""Nothing is lost on the way to a backend, and what a backend refuses is reported."""

import json
import socket
import threading
from pathlib import Path

import pytest
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]

from tests.conftest import RECORDINGS, case
from tests.output.export.otlp.collector import Collector, Reply, attributes, partial_success, refusal
from tests.output.export.otlp.sent import many_calls, sent

PLAIN = RECORDINGS / "plain.ndjson"
SPANS = 4
"""In the recording: a run, two calls and a step of the model."""


@pytest.mark.system
def test_each_span_arrives(backend: Collector, tmp_path: Path) -> None:
    """10,000 spans of 10,000 arrive, each once, in compressed requests of at most 512 spans and 1 MB."""
    done = sent(many_calls(tmp_path / "many.ndjson", 9_999))
    assert (done.is_complete, done.words) == (True, f"sent 10,000 spans to {backend.url}/v1/traces")
    spans = backend.spans()
    assert (len(spans), len({span.span_id for span in spans})) == (10_000, 10_000)
    numbers = {attributes(span).get("agentwatch.call") for span in spans}
    assert numbers == {None, *range(1, 10_000)}
    assert len(backend.requests) == 20
    assert max(len(request.data) for request in backend.requests) < 1_100_000
    assert {request.headers["content-encoding"] for request in backend.requests} == {"gzip"}


@pytest.mark.system
@pytest.mark.slow
def test_a_busy_backend_is_asked_again(backend: Collector, tmp_path: Path) -> None:
    """Answers that ask to wait delay a batch, and lose none: 429 with its time, and 503."""
    backend.replies = [Reply(), refusal(429, Retry_After="0.2"), refusal(503, Retry_After="0"), Reply()]
    done = sent(many_calls(tmp_path / "many.ndjson", 1_300))
    assert done.is_complete
    assert len({span.span_id for span in backend.spans()}) == 1_301
    assert (len(backend.requests), len(backend.taken)) == (5, 3)


@pytest.mark.system
@pytest.mark.slow
def test_a_backend_without_a_time_is_asked_again(backend: Collector) -> None:
    """An answer of 502, 503 or 504 without `Retry-After` is repeated after about a second."""
    backend.replies = [refusal(502)]
    assert sent(PLAIN).is_complete
    assert len(backend.spans()) == SPANS


@pytest.mark.system
@pytest.mark.slow
@pytest.mark.parametrize("status", [429, pytest.param(503, marks=pytest.mark.system)])
def test_a_backend_that_stays_busy_is_reported(
    status: int, backend: Collector, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Batches that are not taken in time are counted as lost, with the reason; the rest is not tried."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    backend.replies = [Reply(), refusal(status, Retry_After="2"), refusal(status, Retry_After="2")]
    done = sent(many_calls(tmp_path / "many.ndjson", 1_999))
    assert not done.is_complete
    assert done.words.startswith(f"sent 512 of 2,000 spans to {backend.url}/v1/traces: {status} ")
    assert len(backend.requests) == 2


def test_rejected_spans_are_counted(backend: Collector) -> None:
    """A backend that takes a part of a request reports how many it has rejected, and why."""
    backend.replies = [partial_success(3, "span is too\nold")]
    done = sent(PLAIN)
    assert not done.is_complete
    assert done.words == (
        f"sent 1 of {SPANS} spans to {backend.url}/v1/traces: rejected by the backend (span is too␊old)"
    )
    # A backend may take all spans and say something about them.
    backend.replies = [partial_success(0, "attribute values were cut")]
    done = sent(PLAIN)
    assert done.is_complete
    assert done.words.endswith("/v1/traces: the backend says: attribute values were cut")
    # The reason is the status and what the backend says, in one bounded line of safe text.
    for body, content_type, words in REFUSALS:
        with case(content_type):
            backend.replies = [refusal(403, body, Content_Type=content_type)]
            assert sent(PLAIN).words.endswith(f"/v1/traces: 403 Forbidden{words}")
    # An address at which a web application answers everything with a page takes no spans.
    backend.replies = [Reply(body=b"<!doctype html>", headers={"Content-Type": "text/html"}, takes=False)]
    done = sent(PLAIN)
    assert not done.is_complete
    assert done.words.endswith(": a web page answers there, not a backend of OTLP")
    # Some backends answer with JSON, in which a number of 64 bits may be a text.
    for rejected in ("3", 3):
        with case(rejected):
            body = json.dumps(
                {"partialSuccess": {"rejectedSpans": rejected, "errorMessage": "too old"}}
            ).encode()
            backend.replies = [Reply(body=body, headers={"Content-Type": "application/json; charset=utf-8"})]
            done = sent(PLAIN)
            assert done.words.endswith(": rejected by the backend (too old)")
            assert (done.is_complete, f"sent 1 of {SPANS} spans" in done.words) == (False, True)
    # A backend cannot reject more spans than it was sent, nor fewer than none.
    for rejected in (1 << 40, -5):
        with case(rejected):
            backend.replies = [partial_success(rejected, "x")]
            words = f"sent 0 of {SPANS} spans" if rejected > 0 else f"sent {SPANS} spans"
            assert sent(PLAIN).words.startswith(words)
    # A body that is not a message of OTLP does not make a success a loss.
    for body in (b"ok", b"\xff\xff", b"{}"):
        with case(repr(body)):
            backend.replies = [Reply(body=body)]
            assert sent(PLAIN).is_complete
    # A redirection to a login page, which the exporter takes for success, counts as lost.
    for status in (302, 599):
        with case(status):
            backend.replies = [refusal(status, Location="/login")]
            done = sent(PLAIN)
            assert (done.is_complete, f"sent 0 of {SPANS} spans" in done.words) == (False, True)
            assert str(status) in done.words


@pytest.mark.system
@pytest.mark.slow
def test_a_refused_batch_does_not_stop_the_others(backend: Collector, tmp_path: Path) -> None:
    """A batch that is refused for itself is lost, with the backend's reason; the other batches are sent."""
    body = Status(code=3, message="invalid span").SerializeToString()
    backend.replies = [Reply(), refusal(400, body, Content_Type="application/x-protobuf")]
    done = sent(many_calls(tmp_path / "many.ndjson", 1_999))
    assert done.words == (
        f"sent 1,488 of 2,000 spans to {backend.url}/v1/traces: 400 Bad Request (invalid span)"
    )
    assert not done.is_complete
    assert len(backend.requests) == 4


def test_a_batch_that_is_too_large_is_halved(backend: Collector, tmp_path: Path) -> None:
    """A backend with a smaller limit gets smaller requests, and every span."""
    backend.replies = [refusal(413), refusal(413)]
    assert sent(many_calls(tmp_path / "many.ndjson", 599)).is_complete
    assert len({span.span_id for span in backend.spans()}) == 600
    assert [len(request.parsed().resource_spans[0].scope_spans[0].spans) for request in backend.requests] == [
        *(512, 256, 128, 128, 256, 88)
    ]


@pytest.mark.system
def test_what_is_left_after_a_refusal_is_counted(backend: Collector, tmp_path: Path) -> None:
    """If a half is refused for good, the other half and the other batches count as lost too."""
    backend.replies = [refusal(413), *[refusal(401)] * 30]
    done = sent(many_calls(tmp_path / "many.ndjson", 1_999))
    assert done.words == f"sent 0 of 2,000 spans to {backend.url}/v1/traces: 401 Unauthorized"
    assert len(backend.requests) == 2


REFUSALS: list[tuple[bytes, str, str]] = [
    (b'{"message":"no such key"}', "application/json", " (no such key)"),
    (b'{"message":7,"error":"no"}', "application/json", " (no)"),
    (b"[]", "application/json", ""),
    (b"\xff{", "application/json", ""),
    (b"bad key\nsecond line", "text/plain", " (bad key)"),
    (b"\xff\xff\xff", "application/x-protobuf", ""),
    (b"<h1>no</h1>", "text/html", ""),
    (b"a\x1b[31m" + b"b" * 100_000, "text/plain", f" (a␛[31m{'b' * 193}…)"),
]


def test_nobody_listens(backend: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refused connection is reported at once: the exporter alone would try for seven seconds."""
    # An address that cannot be used is reported, without a traceback and without waiting.
    for endpoint, words in (
        ("localhost", "to the endpoint: the endpoint is not an address: http://host:port"),
        ("gopher://localhost", "to gopher://localhost/v1/traces: the endpoint does not begin with http://"),
        ("http://[::1", "to the endpoint: the endpoint is not an address: http://host:port"),
        ("http://name.invalid", "to http://name.invalid/v1/traces: "),
    ):
        with case(endpoint):
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
            done = sent(PLAIN)
            assert f"sent 0 of {SPANS} spans {words}" in done.words
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://ada:secret@127.0.0.1:{port}/x?key=secret")
        with monkeypatch.context() as patched:
            patched.setattr(threading.Event, "wait", None)  # the exporter waits by it
            done = sent(PLAIN)
    assert not done.is_complete
    assert done.words == (f"sent 0 of {SPANS} spans to http://127.0.0.1:{port}/x: connection refused")


def test_the_environment_is_used(backend: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Address, headers, compression and resource come from the variables of OpenTelemetry."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://name.invalid")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{backend.url}/own/path?key=1")
    monkeypatch.setenv(
        "OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20YWRh,x-langfuse-ingestion-version=4"
    )
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "nightly")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=ci")
    done = sent(PLAIN)
    assert (done.is_complete, done.words) == (True, f"sent {SPANS} spans to {backend.url}/own/path")
    [request] = backend.requests
    assert (request.path, request.headers["authorization"]) == ("/own/path?key=1", "Basic YWRh")
    assert request.headers["x-langfuse-ingestion-version"] == "4"
    assert "content-encoding" not in request.headers
    resource = attributes(request.parsed().resource_spans[0].resource)
    assert (resource["service.name"], resource["deployment.environment.name"]) == ("nightly", "ci")
