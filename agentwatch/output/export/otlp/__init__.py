"""OTLP: sends a session as traces to a backend of OpenTelemetry.

A run is a span, and so is each call, each text of the model whose times are known, and each subagent. Names
and attributes are those of the GenAI conventions, whose status is Development
(github.com/open-telemetry/semantic-conventions-genai). The texts of a session are only sent with `--content`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.base.faults import USAGE, Fault
from agentwatch.output.export.exported import Exported
from agentwatch.output.export.exporters import Choices, Sender, Sent
from agentwatch.output.export.otlp.spans import Span, Spans, batches
from agentwatch.text.amounts import plural

if TYPE_CHECKING:
    from agentwatch.output.export.otlp.backend import Backend

_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROTOCOL = "http/protobuf"
_TOO_LARGE = 413
_MOST_REASONS = 3


def check() -> None:
    """Raise `Fault` unless the extra is installed and the environment asks for its protocol."""
    name = next((name for name in _PROTOCOLS if os.environ.get(name)), None)
    if name is not None and os.environ[name] != _PROTOCOL:
        raise Fault(f"{name} is {os.environ[name]}; agentwatch sends {_PROTOCOL} only", USAGE)
    _backend_class()


def send(exported: Exported, choices: Choices) -> Sent:
    """Send a session. After a refusal that would meet the rest too, the rest is not sent."""
    backend = _backend_class()()
    try:
        sending = _Sending(backend)
        sending.send(iter(Spans(exported, choices)))
    finally:
        backend.close()
    return sending.sent()


def _backend_class() -> type[Backend]:
    try:
        from agentwatch.output.export.otlp.backend import Backend
    except ImportError:
        from agentwatch.base.extras import EXTRAS, install_command

        words = f"--to otlp needs a package that is not installed: {install_command(EXTRAS['otlp'])}"
        raise Fault(words, USAGE) from None
    return Backend


class _Sending:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._total = self._accepted = 0
        self._reasons: dict[str, None] = {}

    def send(self, spans: Iterator[Span]) -> None:
        due = batches(spans)
        for batch in due:
            if not self._send(batch):
                self._total += sum(map(len, due))
                return

    def sent(self) -> Sent:
        if not self._total:
            return Sent("nothing to send: the recording has no run", is_complete=True)
        is_complete = self._accepted == self._total
        count = plural(self._total, "span")
        sent = count if is_complete else f"{self._accepted:,} of {count}"
        words = f"sent {sent} to {self._backend.endpoint}"
        return Sent(f"{words}: {'; '.join(self._reasons)}" if self._reasons else words, is_complete)

    def _send(self, batch: list[Span]) -> bool:
        """Send a batch, in halves if it is too large; return whether to send more."""
        answer = self._backend.export(batch)
        if answer.status == _TOO_LARGE and len(batch) > 1:
            half, rest = batch[: len(batch) // 2], batch[len(batch) // 2 :]
            if self._send(half):
                return self._send(rest)
            self._total += len(rest)
            return False
        self._total += len(batch)
        self._accepted += answer.accepted
        if answer.reason and len(self._reasons) < _MOST_REASONS:
            self._reasons.setdefault(answer.reason)
        return not answer.ends


EXPORTER = Sender(name="otlp", check=check, send=send)
