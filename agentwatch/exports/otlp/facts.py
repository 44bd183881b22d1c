"""The attributes of spans, by the GenAI conventions. What the conventions lack is named `agentwatch.…`."""

from __future__ import annotations

from agentwatch.events import Outcome, ToolKind
from agentwatch.exports.exported import Exported
from agentwatch.exports.otlp.content import payloads
from agentwatch.exports.otlp.program import first_program
from agentwatch.exports.otlp.span import Value
from agentwatch.session import Call, Run

_ERRORS = frozenset({Outcome.FAILED, Outcome.REJECTED, Outcome.CANCELLED})
_UNKNOWN = "unknown"


class Facts:
    """The attributes of the spans of a session; None stands for an attribute that is unknown."""

    def __init__(self, exported: Exported) -> None:
        self._exported = exported
        self._session = exported.session

    def run(self, number: int) -> dict[str, Value | None]:
        """Return the attributes of a run."""
        run = self._session.runs[number - 1]
        tokens = run.tokens
        return self._agent(run) | {
            "gen_ai.agent.name": self.agent(run),
            "gen_ai.agent.version": run.agent_version,
            "gen_ai.usage.input_tokens": tokens.input,
            "gen_ai.usage.cache_read.input_tokens": tokens.cached,
            "gen_ai.usage.output_tokens": tokens.output,
            "error.type": run.outcome.value if run.outcome in _ERRORS else None,
            "agentwatch.outcome": run.outcome.value,
            "agentwatch.run": number,
            "agentwatch.turns": run.turns,
            "agentwatch.redacted": self._exported.report is not None,
            "agentwatch.whole": self._exported.is_whole,
        }

    def subagent(self, call: Call) -> dict[str, Value | None]:
        """Return the attributes of the subagent that a call has started."""
        run = self._session.runs[call.run - 1]
        return self._agent(run) | {
            "gen_ai.agent.name": f"{self.agent(run)} subagent",
            "gen_ai.agent.id": call.call_id,
            "gen_ai.request.model": None,
            "error.type": error_of(call),
            "agentwatch.outcome": call.outcome.value,
        }

    def call(self, call: Call) -> dict[str, Value | None]:
        """Return the attributes of a call."""
        run = self._session.runs[call.run - 1]
        return self._ids(run) | {
            "openinference.span.kind": "TOOL",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.tool or _UNKNOWN,
            "gen_ai.tool.call.id": call.call_id or None,
            "gen_ai.tool.type": "extension" if call.kind is ToolKind.MCP else "function",
            "process.executable.name": program_of(call),
            "process.exit.code": call.exit_code,
            "error.type": error_of(call),
            "agentwatch.call": call.number,
            "agentwatch.kind": call.kind.value,
            "agentwatch.outcome": call.outcome.value,
            "agentwatch.lines_added": call.lines_added,
            "agentwatch.lines_removed": call.lines_removed,
        }

    def call_content(self, call: Call) -> dict[str, Value | None]:
        """Return the attributes with the arguments and the result of a call."""
        arguments, result = payloads(self._exported.feed, call, self._session.runs[call.run - 1].cwd)
        return {"gen_ai.tool.call.arguments": arguments, "gen_ai.tool.call.result": result}

    def step(self, number: int) -> dict[str, Value | None]:
        """Return the attributes of a step of the model in a run."""
        run = self._session.runs[number - 1]
        return self._agent(run) | {"gen_ai.operation.name": "chat", "openinference.span.kind": "LLM"}

    def agent(self, run: Run) -> str:
        """Return the short name of the agent of a run."""
        is_last = run.format is None or run.format == self._session.format
        return (self._session.agent_name if is_last else run.format) or _UNKNOWN

    def _agent(self, run: Run) -> dict[str, Value | None]:
        return self._ids(run) | {
            "openinference.span.kind": "AGENT",
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": self.agent(run),
            "gen_ai.request.model": run.model,
        }

    @staticmethod
    def _ids(run: Run) -> dict[str, Value | None]:
        return {"gen_ai.conversation.id": run.session_id, "session.id": run.session_id}


def program_of(call: Call) -> str | None:
    """Return the first program of a command; None for other calls, and if the command does not name one."""
    return first_program(call.target) if call.kind is ToolKind.EXECUTE and call.target else None


def error_of(call: Call) -> str | None:
    """Return the kind of error of a call; None if it has not failed, or if that is unknown.

    An exit code other than 0 is an error, whatever the agent makes of it.
    """
    if call.exit_code:
        return f"exit_{call.exit_code}" if abs(call.exit_code) < 1 << 32 else "exit"
    return call.outcome.value if call.outcome in _ERRORS else None
