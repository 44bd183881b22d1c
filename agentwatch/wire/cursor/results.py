"""The result of a Cursor tool call: its outcome."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.events import Outcome
from agentwatch.wire.cursor.tools import NO_FACTS, Facts, Tool
from agentwatch.wire.fields import NO_FIELDS, Fields, items, mapping, number, text

_FAILURES = ("failure", "error", "permissionDenied", "spawnError", "timeout", "fileNotFound")
REASONS = ("errorMessage", "error", "reason", "message", "stderr")
"""The fields that may give the reason of a failure, the best first."""


class Result(NamedTuple):
    """The outcome of a call, and what its result contains."""

    outcome: Outcome
    body: Fields = NO_FIELDS
    """The object under the variant's key."""
    error: str | None = None
    exit_code: int | None = None
    facts: Facts = NO_FACTS
    unknown_variant: str | None = None


def read_result(tool: Tool, result: object) -> Result:
    """Read a result: an object with the key of one variant, and possibly siblings such as `isBackground`.

    An exit code other than 0 and an MCP `isError` are failures, whatever the variant is called. A call that
    completed without a result has no known outcome.
    """
    variants = mapping(result)
    if len(variants) == 1 and "success" in variants:  # nearly always
        return _success(tool, mapping(variants["success"]))
    if "rejected" in variants:
        body = mapping(variants["rejected"])
        return Result(Outcome.REJECTED, body, text(body, "reason"))
    for name in _FAILURES:
        if name in variants:
            return _failure(name, variants[name])
    if "success" in variants:
        return _success(tool, mapping(variants["success"]))
    for name, value in variants.items():
        if isinstance(value, dict):
            return Result(Outcome.UNFINISHED, value, f"unknown outcome {name}", unknown_variant=name)
    return Result(Outcome.UNFINISHED, error="came back without a result")


def _success(tool: Tool, body: Fields) -> Result:
    exit_code = number(body, "exitCode")
    if exit_code:
        return Result(Outcome.FAILED, body, f"exit {exit_code}", exit_code)
    if body.get("isError") is True:
        return Result(Outcome.FAILED, body, "\n".join(mcp_texts(body)) or "the tool says so")
    return Result(Outcome.SUCCEEDED, body, None, exit_code, tool.facts(body))


def _failure(name: str, value: object) -> Result:
    body = mapping(value)
    exit_code = number(body, "exitCode")
    if exit_code:
        error = f"exit {exit_code}"
    elif text(body, "signal"):
        error = f"signal {text(body, 'signal')}"
    elif body.get("aborted") is True:
        error = "aborted"
    else:
        said = (found for key in REASONS if (found := text(body, key)))
        error = next(said, value if isinstance(value, str) and value else _in_words(name))
    return Result(Outcome.FAILED, body, error, exit_code)


def _in_words(name: str) -> str:
    """Return a variant's key as words: `permissionDenied` is `permission denied`."""
    return "".join(f" {char.lower()}" if char.isupper() else char for char in name)


def mcp_texts(body: Fields) -> Iterator[str]:
    """Yield the texts that an MCP tool returned."""
    for piece in items(body.get("content")):
        inner = mapping(piece)
        found = text(mapping(inner.get("text")), "text") or text(inner, "text")
        if found:
            yield found
