"""What a backend answers to a request with spans."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, NamedTuple

import orjson
from google.protobuf.message import DecodeError, Message  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from agentwatch.text.safe import cut, safe_line

_MOST_MESSAGE = 1000
_MOST_COLUMNS = 200
_SETTLED = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE})
"""Refusals of one batch. Any other would meet the next batches too."""


class Reply(NamedTuple):
    """The answer of a backend to one request."""

    status: int
    content_type: str
    body: bytes
    """Its beginning."""


class Answer(NamedTuple):
    """What became of a batch."""

    accepted: int
    """The number of its spans that the backend has taken."""
    status: int | None = None
    """The status of the last answer; None without an answer."""
    reason: str = ""
    """Why spans were refused, or what the backend says about those that it has taken."""
    ends: bool = False
    """Whether the next batches would be refused too."""


def answer_to(spans: int, reply: Reply) -> Answer:
    """Return what became of a batch by the answer of the backend.

    An answer that redirects, or that is a web page, does not come from a backend of OTLP: the exporter takes
    both for success.

    Args:
        spans: The number of spans in the batch.
        reply: The last answer to it.
    """
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
    """Return how many spans the backend has rejected, and its message."""
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
            status = Status()
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
    """Parse a message; return whether the bytes are one."""
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
