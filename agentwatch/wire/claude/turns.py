"""Reads the lines that start and end a turn, and the token counts in them."""

from __future__ import annotations

from agentwatch.events import Event, Outcome, RunInfo, RunStarted, Tokens, TurnEnded, Usage, UsageScope
from agentwatch.wire.claude.dialect import Dialect
from agentwatch.wire.fields import Fields, cost, in_words, items, mapping, number, scalars, text

_CACHED, _CACHE_WRITTEN = "cache_read_input_tokens", "cache_creation_input_tokens"
_ABORTED = "aborted"
INTERRUPTED = "[Request interrupted by user"
_NOT_PROMPTS = (
    *("<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>", "<command-name>"),
    *("<task-notification>", "<system-reminder>", "<bash-input>", "<bash-stdout>", "<bash-stderr>"),
)
"""Beginnings of a user's text that the agent wrote itself."""
_REASONS = {
    "error_max_turns": "reached the maximum number of turns",
    "error_max_budget_usd": "reached the maximum budget",
    "error_max_structured_output_retries": "reached the maximum number of retries for structured output",
    "error_during_execution": "error during execution",
}
_DIAGNOSTIC = "[ede_diagnostic]"
"""The beginning of an error that describes the agent's own state."""
_MOST_REASONS = 20


def run_started(fields: Fields, dialect: Dialect) -> RunStarted:
    """Read an init line that starts a run."""
    return RunStarted(dialect.format, *_facts(fields))


def run_info(fields: Fields) -> RunInfo:
    """Read an init line that starts another turn of the same run."""
    return RunInfo(*_facts(fields))


def _facts(fields: Fields) -> tuple[str | None, str | None, str | None, str | None, str | None, str | None]:
    """Return the facts in the order in which `RunStarted` and `RunInfo` have them."""
    return (
        text(fields, "session_id"),
        text(fields, "model"),
        text(fields, "cwd"),
        text(fields, "permissionMode") or text(fields, "permission_mode"),
        text(fields, "apiKeySource"),
        text(fields, "claude_code_version") or text(fields, "qwen_code_version"),
    )


def is_agents_own(fields: Fields, words: str) -> bool:
    """Return whether a text in a user's line is the agent's own: a summary, or the output of a command."""
    return fields.get("isSynthetic") is True or words.startswith(_NOT_PROMPTS)


def turn_ended(fields: Fields, dialect: Dialect, model: str | None, *, is_interrupted: bool) -> list[Event]:
    """Read a result line.

    Its `usage` covers the turn. Its cost, and the counts by model, cover all turns of the process.

    Args:
        fields: The line.
        dialect: The agent's variant of the grammar.
        model: The model of the main agent, whose context counts; None if unknown.
        is_interrupted: Whether a line of the turn says that the user interrupted it.
    """
    outcome = _outcome(fields, dialect, is_interrupted=is_interrupted)
    events: list[Event] = [
        TurnEnded(
            outcome=outcome,
            result=_result(fields, outcome),
            session_id=text(fields, "session_id"),
            duration_ms=number(fields, "duration_ms"),
            duration_api_ms=number(fields, "duration_api_ms"),
            usage=scalars(fields.get("usage")),
        )
    ]
    if usage := mapping(fields.get("usage")):
        events.append(Usage(tokens_in(usage, dialect, with_output=True), UsageScope.TURN))
    process = Tokens(cost_usd=cost(fields.get("total_cost_usd")), context_size=_context_size(fields, model))
    return [*events, Usage(process, UsageScope.RUN)] if any(part is not None for part in process) else events


def tokens_in(usage: Fields, dialect: Dialect, *, with_output: bool) -> Tokens:
    """Return the tokens of a `usage` object.

    Args:
        usage: The object.
        dialect: The agent's variant of the grammar.
        with_output: Whether its output is complete. In the line of a message, it is a value of its middle.
    """
    given, cached = number(usage, "input_tokens"), number(usage, _CACHED)
    written = number(usage, _CACHE_WRITTEN)
    more = 0 if dialect.input_includes_cache else (cached or 0) + (written or 0)
    return Tokens(
        input=None if given is None else given + more,
        cached=cached,
        output=number(usage, "output_tokens") if with_output else None,
    )


def output_so_far(usage: object, before: int) -> int:
    """Return the tokens that a message has written. Each of its `message_delta` lines counts all of them."""
    return max(number(mapping(usage), "output_tokens") or 0, before)


def more_output(tokens: int) -> list[Event]:
    """Return the count of further tokens that a message has written."""
    return [Usage(Tokens(output=tokens), UsageScope.REQUEST)] if tokens else []


def is_aborted(fields: Fields) -> bool:
    """Return whether a result line says that the user interrupted the turn."""
    return (text(fields, "terminal_reason") or "").startswith(_ABORTED)


def _outcome(fields: Fields, dialect: Dialect, *, is_interrupted: bool) -> Outcome:
    """Return the outcome of a turn: its subtype may be `success` although `is_error` is true."""
    subtype = text(fields, "subtype") or ""
    if is_aborted(fields) or (is_interrupted and subtype != "success"):
        return Outcome.CANCELLED
    is_error = fields.get("is_error")
    failed = is_error if isinstance(is_error, bool) else subtype != "success"
    says_so = dialect.error_start is not None and (text(fields, "result") or "").startswith(
        dialect.error_start
    )
    return Outcome.FAILED if failed or says_so or subtype.startswith("error") else Outcome.SUCCEEDED


def _result(fields: Fields, outcome: Outcome) -> str | None:
    """Return the text of the result; of a turn that failed, the best reason that the line gives."""
    result = fields.get("result")
    if outcome is Outcome.SUCCEEDED:
        return result if isinstance(result, str) else None
    if isinstance(result, str) and result:
        return result
    if error := text(fields, "error") or text(mapping(fields.get("error")), "message"):
        return error  # Qwen Code writes an object
    errors = items(fields.get("errors"))[:_MOST_REASONS]
    reasons = [error for error in errors if isinstance(error, str) and not error.startswith(_DIAGNOSTIC)]
    if not reasons and outcome is Outcome.CANCELLED:
        return "interrupted"
    return "\n".join(reasons) or _in_words(text(fields, "subtype"))


def _in_words(subtype: str | None) -> str | None:
    return None if subtype is None else _REASONS.get(subtype) or in_words(subtype).replace("_", " ")


def _context_size(fields: Fields, model: str | None) -> int | None:
    """Return the size of the main model's context; of the only model, if the main one is unknown."""
    by_model = mapping(fields.get("modelUsage"))
    names = [name for name in by_model if model is not None and name in (model, model.partition("[")[0])]
    if not names and len(by_model) == 1:
        names = list(by_model)
    return number(mapping(by_model[names[0]]), "contextWindow") if names else None
