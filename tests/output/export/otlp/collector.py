"""A backend of OTLP on the loopback, which keeps what it is sent and answers as a test says."""

import gzip
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass
class Reply:
    """An answer to one request."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    takes: bool = True
    """Whether the spans are kept."""


def refusal(status: int, body: bytes = b"", **headers: str) -> Reply:
    """Return an answer that refuses the spans; a header's name is written with underscores."""
    return Reply(
        status, body, {name.replace("_", "-"): value for name, value in headers.items()}, takes=False
    )


def partial_success(rejected: int, message: str) -> Reply:
    """Return an answer that takes a request but for some of its spans."""
    response = ExportTraceServiceResponse()
    response.partial_success.rejected_spans = rejected
    response.partial_success.error_message = message
    return Reply(body=response.SerializeToString(), headers={"Content-Type": "application/x-protobuf"})


@dataclass
class Sent:
    """One request."""

    path: str
    headers: dict[str, str]
    data: bytes
    """Its body, decompressed."""

    def parsed(self) -> ExportTraceServiceRequest:
        """Return the body as a message; it is encoded as the reference implementation encodes it."""
        message = ExportTraceServiceRequest()
        message.ParseFromString(self.data)
        assert message.SerializeToString() == self.data
        return message


class Collector:
    """A running backend."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        """The answers to the next requests, in order; afterwards all are taken."""
        self.requests: list[Sent] = []
        self.taken: list[Sent] = []
        """The requests whose spans were kept."""
        self.url = ""

    def spans(self) -> list[Span]:
        """Return the spans that were kept, in the order in which they arrived."""
        return [
            span
            for request in self.taken
            for resource in request.parsed().resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def named(self, name: str) -> Span:
        """Return the only span with a name."""
        [span] = [span for span in self.spans() if span.name == name]
        return span


def attributes(span: Any) -> dict[str, object]:
    return {each.key: _value(each.value) for each in span.attributes}


def _value(value: AnyValue) -> object:
    return getattr(value, value.WhichOneof("value") or "string_value")


class Server(ThreadingHTTPServer):
    """A server that is silent about clients which close their connections."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report an error, unless a client has gone."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def collector() -> Iterator[Collector]:
    """Run a backend on a free port of the loopback."""
    found = Collector()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers["Content-Encoding"] == "gzip":
                data = gzip.decompress(data)
            sent = Sent(self.path, {name.lower(): value for name, value in self.headers.items()}, data)
            found.requests.append(sent)
            reply = found.replies.pop(0) if found.replies else Reply()
            if reply.takes:
                found.taken.append(sent)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()
