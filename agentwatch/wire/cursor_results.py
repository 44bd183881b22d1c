"""What a Cursor tool call came to: the outcome by the facts, and the parts of its result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.events import Outcome, Part
from agentwatch.wire.cursor_tools import Facts, Tool
from agentwatch.wire.fields import NO_FIELDS, Fields, as_json, items, mapping, number, text

_NO_FACTS = Facts()
_FAILURES = ("failure", "error", "permissionDenied", "spawnError", "timeout", "fileNotFound")
_ECHOES = frozenset({"toolCallId", "conversationId", "requestId", "parsingResult"})
"""What tells a person nothing that the call has not told."""
_NOTHING: tuple[object, ...] = ("", None, [], {})
_REASONS = ("errorMessage", "error", "reason", "message", "stderr")


class Result(NamedTuple):
    """How a call ended."""

    outcome: Outcome
    body: Fields = NO_FIELDS
    """What stands under the variant's key."""
    error: str | None = None
    exit_code: int | None = None
    facts: Facts = _NO_FACTS
    unknown_variant: str | None = None


def read_result(tool: Tool, result: object) -> Result:
    """Read a result, which is one variant's key and perhaps siblings such as `isBackground`.

    The facts decide: an exit code other than 0 and an MCP `isError` are failures whatever the
    variant is called. A call that came back without a result says nothing, so neither do we.
    """
    variants = mapping(result)
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
        return Result(Outcome.FAILED, body, "\n".join(_mcp_texts(body)) or "the tool says so")
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
        said = (found for key in _REASONS if (found := text(body, key)))
        error = next(said, value if isinstance(value, str) and value else _in_words(name))
    return Result(Outcome.FAILED, body, error, exit_code)


def _in_words(name: str) -> str:
    """Return a variant's key as words: `permissionDenied` is `permission denied`."""
    return "".join(f" {char.lower()}" if char.isupper() else char for char in name)


def argument_parts(arguments: Fields) -> Iterator[Part]:
    """Yield what a call was given: what has a look of its own, then the rest, a line for each."""
    rest = {key: value for key, value in arguments.items() if key not in _ECHOES}
    yield from _todo_parts(rest)
    texts = [key for key, value in rest.items() if isinstance(value, str) and "\n" in value]
    long_texts = {key: rest.pop(key) for key in texts}
    yield from _rest_parts("arguments", rest)
    for key, value in long_texts.items():
        yield Part(key, value)


def result_parts(result: object) -> Iterator[Part]:
    """Yield what a call gave back: first what a person looks for, then the rest, a line for each."""
    variants = mapping(result)
    for name, value in variants.items():
        if isinstance(value, str):
            yield Part("error", value)
        body = {key: inner for key, inner in mapping(value).items() if key not in _ECHOES}
        yield from _told_parts(body, failed=name != "success")
        yield from _rest_parts("result", body)


def _told_parts(body: dict[str, object], failed: bool) -> Iterator[Part]:
    """Take out of a result what has a look of its own."""
    for key in _REASONS[:-1] if failed else ():
        if said := text(body, key):
            yield Part("error", said)
            del body[key]
    if diff := text(body, "diffString"):
        yield Part("diff", diff)
        for told in ("diffString", "beforeFullFileContent", "afterFullFileContent"):
            body.pop(told, None)
    for key in ("stdout", "stderr"):
        if output := text(body, key):
            yield Part(key, output)
        body.pop(key, None)
    body.pop("interleavedOutput", None)
    texts = list(_mcp_texts(body))
    content = text(body, "content") or "\n".join(texts)
    if content:
        yield Part("content", content)
        del body["content"]
    yield from _todo_parts(body)
    files = [name for name in items(body.get("files")) if isinstance(name, str)]
    if files:
        yield Part("list", "\n".join(files))
        del body["files"]
    steps = items(body.pop("conversationSteps", None))
    said_steps = (text(mapping(mapping(step).get("assistantMessage")), "text") for step in steps)
    for said in filter(None, said_steps):
        yield Part("content", said)


def _mcp_texts(body: Fields) -> Iterator[str]:
    for piece in items(body.get("content")):
        inner = mapping(piece)
        found = text(mapping(inner.get("text")), "text") or text(inner, "text")
        if found:
            yield found


def _todo_line(todo: object) -> str:
    fields = mapping(todo)
    status = (text(fields, "status") or "").removeprefix("TODO_STATUS_").lower()
    sign = {"completed": "✓", "in_progress": "◐", "cancelled": "✗"}.get(status, "○")
    return f"{sign} {text(fields, 'content') or ''}"


def _todo_parts(body: dict[str, object]) -> Iterator[Part]:
    todos = items(body.pop("todos", None))
    if todos:
        yield Part("to-do list", "\n".join(map(_todo_line, todos)))


def _rest_parts(title: str, rest: Fields) -> Iterator[Part]:
    lines = (
        f"{key}: {value if isinstance(value, str) else as_json(value, indent=2)}"
        for key, value in rest.items()
        if value not in _NOTHING
    )
    if text_of_lines := "\n".join(lines):
        yield Part(title, text_of_lines)
