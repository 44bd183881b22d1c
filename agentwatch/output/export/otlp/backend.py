"""Sends spans to a backend by the exporter of OpenTelemetry, and reads its answers.

The exporter reads the environment, compresses, and repeats a request after 429, 502, 503 and 504, as
`Retry-After` says or else after 1, 2, 4 … seconds. It does not report what the backend answers: it ignores
`partial_success`, and takes a redirection for success (opentelemetry-exporter-otlp-proto-http 1.45). So its
requests go through a session that keeps the last answer.

Importing this module takes 0.3 s, and needs the extra `otlp`.
"""

from __future__ import annotations

import logging
import os
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import orjson
import requests
from google.protobuf.message import DecodeError, Message  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status as ServerStatus  # type: ignore[import-untyped]
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from agentwatch import __version__
from agentwatch.output.export.otlp.spans import Span
from agentwatch.text.safe import cut, safe_line

_MOST_MESSAGE = 1000
_MOST_COLUMNS = 200
_SETTLED = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE})
"""Refusals of one batch. Any other would meet the next batches too."""


class Reply(NamedTuple):
    status: int
    content_type: str
    body: bytes
    """The beginning of the body."""


class Answer(NamedTuple):
    accepted: int
    status: int | None = None
    reason: str = ""
    """The backend's reason for refusing spans, or its message about those that it accepted."""
    ends: bool = False
    """Whether the next batches would be refused too."""


def _answer_to(spans: int, reply: Reply) -> Answer:
    """Return what became of a batch by the answer of the backend. An answer that redirects, or that is a web
    page, does not come from a backend of OTLP: the exporter takes both for success."""
    status = reply.status
    if 200 <= status < 300:
        if reply.content_type == "text/html":
            return Answer(0, status, "a web page answers there, not a backend of OTLP", ends=True)
        rejected, message = _partial_success(reply)
        rejected = min(max(rejected, 0), spans)
        said = _one_line(message)
        if rejected:
            return Answer(spans - rejected, status, f"rejected by the backend{said and f' ({said})'}")
        return Answer(spans, status, said and f"the backend says: {said}")
    words = f"{status} {_phrase(status)}".strip()
    said = _one_line(_error_message(reply))
    return Answer(0, status, f"{words} ({said})" if said else words, ends=status not in _SETTLED)


def _partial_success(reply: Reply) -> tuple[int, str]:
    if reply.content_type == "application/json":
        found = _member(_json(reply.body), "partialSuccess")
        rejected, message = _member(found, "rejectedSpans"), _member(found, "errorMessage")
        is_number = isinstance(rejected, str) and rejected.isascii() and rejected.isdigit()
        count = int(rejected[:18]) if is_number else rejected  # JSON of protobuf writes 64 bits as text
        return count if type(count) is int else 0, message if isinstance(message, str) else ""
    response = ExportTraceServiceResponse()
    if not _parsed(response, reply.body):
        return 0, ""
    return response.partial_success.rejected_spans, response.partial_success.error_message


def _error_message(reply: Reply) -> str:
    """Return the message of a refusal: of a `google.rpc.Status`, as OTLP has it, of JSON or of plain text."""
    match reply.content_type:
        case "application/x-protobuf":
            status = ServerStatus()
            return status.message if _parsed(status, reply.body) else ""
        case "application/json":
            found = _json(reply.body)
            words = (_member(found, name) for name in ("message", "error", "detail"))
            return next((each for each in words if isinstance(each, str)), "")
        case "text/plain":
            return reply.body.decode("utf-8", "replace").strip().partition("\n")[0]
    return ""


def _one_line(message: str) -> str:
    return cut(safe_line(message[:_MOST_MESSAGE].strip()), _MOST_COLUMNS)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _parsed(message: Message, data: bytes) -> bool:
    try:
        message.ParseFromString(data)
    except DecodeError:
        return False
    return True


def _json(data: bytes) -> object:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None


def _member(fields: object, name: str) -> Any:
    return fields.get(name) if isinstance(fields, dict) else None


_SCHEMA = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"
_TIMEOUTS = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
_COMPRESSIONS = ("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "OTEL_EXPORTER_OTLP_COMPRESSION")
_SECONDS = 60.0
"""The time limit of a batch with retries. The exporter's 10 s are less than a usual `Retry-After` of 30 s."""
_CONNECT_SECONDS = 10.0
_LEAST_SECONDS = 1.0
_MOST_BODY = 1 << 16
_LOGGERS = ("opentelemetry", "urllib3")


class Backend:
    """The backend that the environment names: `OTEL_EXPORTER_OTLP_ENDPOINT` and its relatives."""

    def __init__(self) -> None:
        for name in _LOGGERS:
            logger = logging.getLogger(name)
            logger.handlers, logger.propagate = [logging.NullHandler()], False  # `Answer` has the reasons
        self._requests = _Requests()
        self._exporter = OTLPSpanExporter(
            session=self._requests,
            timeout=None if _is_set(_TIMEOUTS) else _SECONDS,
            compression=None if _is_set(_COMPRESSIONS) else Compression.Gzip,
        )
        named = OTELResourceDetector().detect()  # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES
        self._resource = Resource({"service.name": "agentwatch", "service.version": __version__}).merge(named)
        self._scope = InstrumentationScope("agentwatch", __version__, _SCHEMA)

    @property
    def endpoint(self) -> str:
        """The address to which spans were sent, without credentials."""
        return self._requests.endpoint

    def export(self, spans: list[Span]) -> Answer:
        self._requests.forget()
        result = self._exporter.export([self._readable(span) for span in spans])
        reply, failure = self._requests.reply, self._requests.failure
        if failure is not None:
            return Answer(0, None, _reason(failure), ends=True)
        if reply is None:
            return Answer(0, None, "the request could not be made", ends=True)
        answer = _answer_to(len(spans), reply)
        is_accepted = result is SpanExportResult.SUCCESS
        return answer if is_accepted or not answer.accepted else answer._replace(accepted=0, ends=True)

    def close(self) -> None:
        self._requests.close()

    def _readable(self, span: Span) -> ReadableSpan:
        parent = None if span.parent_id is None else _context(span.trace_id, span.parent_id)
        return ReadableSpan(
            name=span.name,
            context=_context(span.trace_id, span.span_id),
            parent=parent,
            resource=self._resource,
            attributes=dict(span.attributes),
            kind=SpanKind.CLIENT if span.is_client else SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR, span.failure or None) if span.has_failed else Status(),
            start_time=span.start_ns,
            end_time=span.end_ns,
            instrumentation_scope=self._scope,
        )


class _Unreachable(Exception):
    """The backend has never answered. The exporter repeats a request only after errors that it knows."""


class _Requests(requests.Session):
    """Makes the requests of the exporter, and keeps the last answer or failure."""

    def __init__(self) -> None:
        super().__init__()
        self.endpoint = ""
        self.reply: Reply | None = None
        """The answer to the last request; None if it has failed."""
        self.failure: Exception | None = None
        """The error of the last request; None if it succeeded."""
        self._has_answered = False

    def forget(self) -> None:
        self.reply = self.failure = None

    def request(self, method: Any, url: Any, *given: Any, **options: Any) -> requests.Response:
        """Make a request. Only the beginning of the answer is read."""
        self.endpoint = _without_credentials(str(url))
        self.forget()
        seconds = max(options.get("timeout") or _SECONDS, _LEAST_SECONDS)
        options |= {"timeout": (min(seconds, _CONNECT_SECONDS), seconds), "stream": True}
        try:
            response = super().request(method, url, *given, **options)
            body = _beginning(response)
        except (requests.RequestException, OSError, ValueError) as error:
            self.failure = error
            if isinstance(error, requests.ConnectionError) and not self._has_answered:
                raise _Unreachable from error
            raise
        self._has_answered = True
        content_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        self.reply = Reply(response.status_code, content_type, body)
        return response


def _beginning(response: requests.Response) -> bytes:
    """Return the first 64 kB of an answer. One that ends within them leaves its connection open."""
    body = b""
    for piece in response.iter_content(_MOST_BODY):
        body += piece
        if len(body) >= _MOST_BODY:
            response.close()
            break
    return body


def _context(trace_id: int, span_id: int) -> SpanContext:
    return SpanContext(trace_id, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def _is_set(names: tuple[str, ...]) -> bool:
    return any(os.environ.get(name) for name in names)


def _without_credentials(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = "" if parts.port is None else f":{parts.port}"
    except ValueError:
        return "the endpoint"
    host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname or ""
    return f"{parts.scheme}://{host}{port}{parts.path}" if parts.scheme and host else "the endpoint"


def _reason(failure: Exception) -> str:
    """Return why a request has failed, without its address: that may contain credentials."""
    if isinstance(failure, requests.exceptions.SSLError):
        return "the certificate of the backend is not valid"
    if isinstance(failure, requests.Timeout):
        return "no answer in time"
    if isinstance(failure, requests.exceptions.InvalidURL | requests.exceptions.MissingSchema):
        return "the endpoint is not an address: http://host:port"
    if isinstance(failure, requests.exceptions.InvalidSchema):
        return "the endpoint does not begin with http:// or https://"
    cause: BaseException | None = failure
    for _ in range(10):
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
        reason = getattr(cause, "reason", None) or next(iter(getattr(cause, "args", ())), None)
        if cause is None:
            break
        cause = reason if isinstance(reason, BaseException) else cause.__cause__ or cause.__context__
    return f"the request failed ({type(failure).__name__})"
