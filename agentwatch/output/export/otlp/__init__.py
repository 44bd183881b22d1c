"""OTLP: sends a session as traces to a backend of OpenTelemetry.

A run is a span, and so is each call, each text of the model whose times are known, and each subagent. Names
and attributes are those of the GenAI conventions, whose status is Development
(github.com/open-telemetry/semantic-conventions-genai). The texts of a session are only sent with `--content`.
"""

from agentwatch.output.export.exporters import Sender
from agentwatch.output.export.otlp.sending import check, send

EXPORTER = Sender(name="otlp", check=check, send=send)
