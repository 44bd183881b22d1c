"""What a Cursor tool call came to: the outcome by the facts, and the parts of its result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.events import Outcome, Part
from agentwatch.wire.cursor.tools import NO_FACTS, TOOLS, Facts, Tool, other_tool
from agentwatch.wire.fields import NO_FIELDS, Fields, as_json, items, mapping, number, text

_FAILURES = ("failure", "error", "permissionDenied", "spawnError", "timeout", "fileNotFound")
_ECHOES = frozenset({"toolCallId", "conversationId", "requestId", "parsingResult"})
"""What tells a person nothing that the call has not told."""
_STEPS = "conversationSteps"
RETOLD = f'"{_STEPS}"'.encode()
"""Stands in each line whose parts have words that its bytes do not hold: steps are told as actions are."""
_NOTHING: tuple[object, ...] = ("", None, [], {})
_REASONS = ("errorMessage", "error", "reason", "message", "stderr")


class Result(NamedTuple):
    """How a call ended."""

    outcome: Outcome
    body: Fields = NO_FIELDS
    """What stands under the variant's key."""
    error: str | None = None
    exit_code: int | None = None
    facts: Facts = NO_FACTS
    unknown_variant: str | None = None


def read_result(tool: Tool, result: object) -> Result:
    """Read a result, which is one variant's key and perhaps siblings such as `isBackground`.

    The facts decide: an exit code other than 0 and an MCP `isError` are failures whatever the
    variant is called. A call that came back without a result says nothing, so neither do we.
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
        yield Part("content" if key == "fileText" else key, value)


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
    yield from _change_parts(body)
    for key in ("stdout", "stderr"):
        if output := text(body, key):
            yield Part(key, output)
        body.pop(key, None)
    body.pop("interleavedOutput", None)
    texts = list(_mcp_texts(body))
    content = text(body, "content") or "\n".join(texts)
    if content:
        first = number(mapping(body.get("readRange")), "startLine")
        yield Part("content", content, first_line=max(first or 1, 1))
        del body["content"]
    yield from _todo_parts(body)
    yield from _found_parts(body)
    yield from _step_parts(body)


def _change_parts(body: dict[str, object]) -> Iterator[Part]:
    """Take out what a file became: as a diff, or as what it held before and after."""
    diff = text(body, "diffString")
    before, after = (
        value if isinstance(value := body.get(f"{when}FullFileContent"), str) else None
        for when in ("before", "after")
    )
    if diff:
        yield Part("diff", diff, before=before, after=after)
    elif after is not None:
        yield Part("change", after, before=before, after=after)
    else:
        return
    for told in ("diffString", "beforeFullFileContent", "afterFullFileContent"):
        body.pop(told, None)


def _found_parts(body: dict[str, object]) -> Iterator[Part]:
    """Take out what a search found: the files, and the lines as ripgrep shows them below their file."""
    files = [name for name in items(body.get("files")) if isinstance(name, str)]
    if files:
        yield Part("list", "\n".join(files))
        del body["files"]
    lines: list[str] = []
    names: list[str] = []
    rest: dict[str, object] = {}
    for workspace in mapping(body.get("workspaceResults")).values():
        for mode, found in mapping(workspace).items():
            about = dict(mapping(found))
            for match in items(about.pop("matches", None)):
                lines += _match_lines(mapping(match))
            names += [name for name in items(about.pop("files", None)) if isinstance(name, str)]
            rest[mode] = about
    if lines or names:
        del body["workspaceResults"]
        body.update(rest)
    if lines:
        yield Part("matches", "\n".join(lines))
    if names:
        yield Part("list", "\n".join(names))


def _match_lines(found: Fields) -> Iterator[str]:
    """Yield a file's name, then each line found in it: `12:` before a match, `12-` before context."""
    yield text(found, "file") or "?"
    for match in map(mapping, items(found.get("matches"))):
        mark = "-" if match.get("isContextLine") is True else ":"
        nth = number(match, "lineNumber")
        said = _one_line(text(match, "content") or "")
        rest = "…" if match.get("contentTruncated") is True else ""
        yield f"{'' if nth is None else nth}{mark}{said}{rest}"


def _one_line(said: str) -> str:
    return said.rstrip("\r\n").replace("\n", "␊")


def _step_parts(body: dict[str, object]) -> Iterator[Part]:
    """Take out what a subagent said and did."""
    lines: list[str] = []
    for step in map(mapping, items(body.pop(_STEPS, None))):
        lines += _step_lines(step)
    if lines:
        yield Part("steps", "\n".join(lines))


def _step_lines(step: Fields) -> Iterator[str]:
    """Yield a step, in a line or more: what was said after `› `, thought after `~ `, done after its sign."""
    for key, lead in (("assistantMessage", "› "), ("thinkingMessage", "~ ")):
        if said := text(mapping(step.get(key)), "text"):
            yield lead + said.strip().replace("\n", "\n  ")
    for key, value in (mapping(step.get("toolCall")) or step).items():
        name = key.removesuffix("ToolCall")
        if name not in {"", key}:
            yield _call_line(name, mapping(value))


def _call_line(name: str, body: Fields) -> str:
    tool = TOOLS.get(name) or other_tool(name)
    arguments = mapping(body.get("args"))
    target = ", ".join(tool.paths(arguments)) or tool.target(arguments)
    words = [tool.phrase, target] if target else [tool.phrase]
    if "result" not in body:
        return f"◌ {_one_line(' '.join(words))}"
    result = read_result(tool, body["result"])
    known = result.error or result.facts.note
    if known:
        words.append(f"({known.strip()})")
    sign = {Outcome.SUCCEEDED: "✓", Outcome.FAILED: "✗", Outcome.REJECTED: "⊘"}.get(result.outcome, "◌")
    return f"{sign} {_one_line(' '.join(words))}"


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
    return f"{sign} {_one_line(text(fields, 'content') or '')}"


def _todo_parts(body: dict[str, object]) -> Iterator[Part]:
    todos = items(body.pop("todos", None))
    if todos:
        yield Part("to-do list", "\n".join(map(_todo_line, todos)))


def _rest_parts(title: str, rest: Fields) -> Iterator[Part]:
    told = {key: value for key, value in rest.items() if value not in _NOTHING}
    lines = (
        f"{key}: {value if isinstance(value, str) else as_json(value, indent=2)}"
        for key, value in told.items()
    )
    if text_of_lines := "\n".join(lines):
        yield Part(title, text_of_lines, told)
