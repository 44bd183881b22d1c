"""Reads the outcome of an opencode call from its state."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import Outcome, ToolKind
from agentwatch.wire.fields import Fields, in_words, mapping, number, text
from agentwatch.wire.opencode.tools import metadata_of
from agentwatch.wire.oversize import Salvaged
from agentwatch.wire.tool import NO_FACTS, Facts, Tool

IS_OPEN = ("pending", "running")
"""The states of a call that has not ended."""
_REFUSED = (
    "The user rejected",
    "The user has specified a rule which prevents",
    "The user dismissed this question",
)
"""How the error of a call begins that a person or a rule refused; taken from the sources."""
_ABORTED = frozenset({"Tool execution aborted", "Task cancelled", "Aborted", "The operation was aborted."})
_REMARK_END = "metadata>"
"""How the output of a command ends to which opencode has added a remark, inside a tag `<bash_metadata>`."""
_REMARK_CHARACTERS = 600
"""The part of an output, from its end, in which the remark is searched. The longest known has 300."""
_COMMAND_ABORTED = "User aborted the command"
_TIMED_OUT = "exceeding timeout"


class Result(NamedTuple):
    """The outcome of a call."""

    outcome: Outcome
    error: str | None = None
    exit_code: int | None = None
    facts: Facts = NO_FACTS
    unknown_status: str | None = None


_SUCCEEDED = Result(Outcome.SUCCEEDED, exit_code=0)


def read_result(name: str, tool: Tool, state: Fields, line: Fields) -> Result:
    """Read the state of an ended call.

    A command that has failed is `completed`, with its exit code in the metadata. To the output of a command
    that was stopped, opencode adds a remark.

    Args:
        name: The name of the tool.
        tool: The tool of the call.
        state: The state.
        line: The line, which may have been read only partly.
    """
    status, metadata = state.get("status"), metadata_of(state)
    exit_code = number(metadata, "exit") if tool.kind is ToolKind.EXECUTE else None
    if status == "error":
        return _failure(state, metadata, exit_code)
    if status != "completed":
        if isinstance(line, Salvaged):
            return Result(Outcome.RETURNED, "its line is too large to be read")
        word = in_words(status)
        return Result(Outcome.RETURNED, f"unknown outcome {word}", exit_code, unknown_status=word)
    if name == "invalid":
        return Result(Outcome.FAILED, text(mapping(state.get("input")), "error") or "an invalid call")
    if tool.kind is ToolKind.EXECUTE:
        return _command(state, exit_code)
    if metadata.get("background") is True:
        return Result(Outcome.RETURNED, facts=Facts(note="in the background"))
    return Result(Outcome.SUCCEEDED, None, None, tool.facts(state))


def _command(state: Fields, exit_code: int | None) -> Result:
    output = (text(state, "output") or "").rstrip()
    remark = output[-_REMARK_CHARACTERS:] if output.endswith(_REMARK_END) else ""
    if _COMMAND_ABORTED in remark:
        return Result(Outcome.CANCELLED, "aborted", exit_code)
    if _TIMED_OUT in remark:
        return Result(Outcome.FAILED, "timed out", exit_code)
    if exit_code is None:
        return Result(Outcome.RETURNED, "no exit code")
    return Result(Outcome.FAILED, f"exit {exit_code}", exit_code) if exit_code else _SUCCEEDED


def _failure(state: Fields, metadata: Fields, exit_code: int | None) -> Result:
    error = text(state, "error") or "the tool says so"
    if error.startswith(_REFUSED):
        return Result(Outcome.REJECTED, error, exit_code)
    if error in _ABORTED or metadata.get("interrupted") is True:
        return Result(Outcome.CANCELLED, error, exit_code)
    return Result(Outcome.FAILED, error, exit_code)
