"""Reads the outcome of a Cursor tool call from its result."""

from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.events import Outcome
from agentwatch.wire.fields import NO_FIELDS, Fields, items, mapping, number, text
from agentwatch.wire.tool import NO_FACTS, Facts, Tool

_FAILURES = (
    *("failure", "error", "permissionDenied", "spawnError", "timeout", "fileNotFound", "invalidFile"),
    *("noSpace", "readPermissionDenied", "writePermissionDenied", "toolNotFound", "serverNotFound"),
)
"""The variants that are failures: `error` was seen in captures, the others are in the vendor's schema.
`permissionDenied` is a limit of the system that the tool met. A call that a person or a rule refused is
`rejected`."""
_UNDECIDED = ("partialResult", "approved")
"""Variants of the vendor's schema that do not say whether the call succeeded."""
_SIBLINGS = ("isBackground", "sandboxPolicy")
"""Keys beside the variant: `isBackground` in captures, `sandboxPolicy` in the vendor's schema."""
UNFAILED = frozenset(("success", *_UNDECIDED, *_SIBLINGS))
"""The keys whose value does not contain why the call failed."""
VARIANTS = UNFAILED | {"rejected", *_FAILURES}
_MAX_NAME = 100
"""In characters. The longest known variant has 21."""
_new = tuple.__new__
"""Makes a named tuple from all of its fields, in a third of the time that calling its class takes."""
_IN_BACKGROUND = "in the background"
REASONS = ("errorMessage", "error", "reason", "message", "stderr")
"""The fields that may contain the reason of a failure, the most specific first."""


class Result(NamedTuple):
    """The outcome of a call, and what its result contains."""

    outcome: Outcome
    body: Fields = NO_FIELDS
    """The object under the variant's key."""
    error: str | None = None
    exit_code: int | None = None
    facts: Facts = NO_FACTS
    unknown_variant: str | None = None


def read_result(tool: Tool, result: object, *, is_free: bool = False) -> Result:
    """Read a result: an object with the key of one variant, and possibly siblings such as `isBackground`.

    An exit code other than 0 and an MCP `isError` are failures, even in the variant `success`. The outcome of
    a call that completed without a known variant is unknown (`RETURNED`). So is that of a command or a
    subagent that continues in the background.

    Args:
        tool: The tool of the call.
        result: The value of the field `result`.
        is_free: Whether the result may be any value, as that of a documented `function`. An object without a
            known variant is then the result itself.
    """
    variants: Fields = result if type(result) is dict else mapping(result)
    if len(variants) == 1 and "success" in variants:  # nearly always
        success = variants["success"]
        return _success(tool, success if type(success) is dict else mapping(success))
    if "rejected" in variants:
        body = mapping(variants["rejected"])
        return Result(Outcome.REJECTED, body, text(body, "reason"))
    for name in _FAILURES:
        if name in variants:
            return _failure(name, variants[name])
    if "success" in variants:
        is_background = variants.get("isBackground") is True
        return _success(tool, mapping(variants["success"]), is_background=is_background)
    for name in _UNDECIDED:
        if name in variants:
            return _undecided(name, mapping(variants[name]))
    if is_free and result:
        return Result(Outcome.RETURNED, variants)
    for name, value in variants.items():
        if isinstance(value, dict) and name not in _SIBLINGS:
            reason = f"unknown outcome {name[:_MAX_NAME]}"
            return Result(Outcome.RETURNED, value, reason, unknown_variant=name)
    return Result(Outcome.RETURNED, error="came back without a result")


def _success(tool: Tool, body: Fields, *, is_background: bool = False) -> Result:
    exit_code = number(body, "exitCode")
    if exit_code:
        return Result(Outcome.FAILED, body, f"exit {exit_code}", exit_code)
    if body.get("isError") is True:
        return Result(Outcome.FAILED, body, "\n".join(mcp_texts(body)) or "the tool says so")
    if is_background or body.get("isBackground") is True:
        return Result(Outcome.RETURNED, body, facts=Facts(note=_IN_BACKGROUND))
    return _new(Result, (Outcome.SUCCEEDED, body, None, exit_code, tool.facts(body), None))


def _undecided(name: str, body: Fields) -> Result:
    exit_code = number(body, "exitCode")
    if exit_code:
        return Result(Outcome.FAILED, body, f"exit {exit_code}", exit_code)
    return Result(Outcome.RETURNED, body, _in_words(name), exit_code)


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
        reasons = (found for key in REASONS if (found := text(body, key)))
        error = next(reasons, value if isinstance(value, str) and value else _in_words(name))
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
