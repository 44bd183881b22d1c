"""Reads the output of a tool call, as the model gets it.

The text begins with a head in some versions (`Exit code: 0`, `Process exited with code 0`), is a JSON object
in older ones (`{"output": …, "metadata": {"exit_code": 0}}`), and is only the output in others. A script that
calls tools has a head of its own (`Script completed`, from `codex-rs/core/src/tools/code_mode`).
"""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import Outcome, ToolKind
from agentwatch.wire.codex.calls import MCP_REFUSALS, End, Use, change_end
from agentwatch.wire.codex_rollout.tools import cell_process
from agentwatch.wire.fields import Fields, items, mapping, number, text

_MOST_HEAD_LINES = 12
_MOST_HEAD = 2000
_OUTPUT = "Output:"
_EXIT = ("Process exited with code ", "Exit code: ")
_RUNNING = "Process running with session ID "
_WALL_TIME = "Wall time: "
_HEADS = ("Chunk ID: ", _WALL_TIME, *_EXIT, _RUNNING, "Original token count: ", "Total output lines: ")
_ABORTED = ("aborted by user", "aborted")
_REJECTED = (
    *("exec command rejected by user", "patch rejected by user", "rejected by user"),
    *(*MCP_REFUSALS, "This action was rejected"),
)
_REJECTED_IN_ERROR = ('Rejected("', 'Rejected(\\"')
"""How the error of a refused command is written, also within another error."""
_SANDBOX = "failed in sandbox"
_EXIT_IN_SANDBOX = ", exit code: "
"""How version 0.40 gave the exit code of a command that its sandbox stopped."""
_FAILED = (
    *("unsupported call: ", "unsupported custom tool call: ", "failed to parse function arguments"),
    *("apply_patch verification failed", "exec_command failed", "write_stdin failed", "execution error: "),
    *(_SANDBOX, "command timed out", "tool call error: ", "err: ", "approval policy is "),
    *("unable to locate image at ", "invalid patch"),
)
"""The beginnings of the messages that Codex returns instead of a result."""
_SUCCEEDED = ("Plan updated", "Success. Updated the following files:", "attached local image path")
_SCRIPT_RUNNING = "Script running with cell ID "
_SCRIPT_ENDS = ("Script completed", "Script failed", "Script terminated")
_SCRIPT_ERROR = "Script error:"
_SCRIPT_HEAD = ("Wall time", _OUTPUT, _SCRIPT_ERROR)
"""The beginnings of the lines that may follow the first one in the output of a script."""
_BROKEN_CALL = 500
"""The length to which an error is cut, in characters; it may contain the whole patch."""


class Output(NamedTuple):
    """The output of a call."""

    text: str
    """What the tool returned, without the head."""
    exit_code: int | None = None
    process: str | None = None
    """The id of the process that is still running."""
    duration_ms: int | None = None
    succeeded: bool | None = None
    """What the output itself says."""
    is_aborted: bool = False
    has_head: bool = False
    ends_script: bool = False
    """Whether it is the output of a script that has ended."""
    pieces: tuple[Fields, ...] = ()
    """The pieces of an output that is a list: texts and images."""


def read_output(value: object) -> Output:
    """Return the output of a call: a text, an object with `content`, or a list of texts and images."""
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, list):
        pieces = tuple(map(mapping, value))
        return _of_text(_joined(pieces))._replace(pieces=pieces)
    fields = mapping(value)
    succeeded = fields.get("success")
    content = fields.get("content")
    pieces = tuple(map(mapping, items(content)))
    inner = content if isinstance(content, str) else text(fields, "text") or _joined(pieces)
    output = _of_text(inner)._replace(pieces=pieces)
    return output._replace(succeeded=succeeded) if isinstance(succeeded, bool) else output


def end_of(use: Use, output: Output) -> End:
    """Return how a call ended; `RETURNED` if its output does not say."""
    return _end(use, output)._replace(duration_ms=output.duration_ms)


def _end(use: Use, output: Output) -> End:
    start = output.text[:_MOST_HEAD]
    if output.is_aborted:
        return End(Outcome.CANCELLED)
    if output.ends_script:
        error = output.text.rpartition(_SCRIPT_ERROR)[2].strip()[:_BROKEN_CALL]
        return End(Outcome.SUCCEEDED) if output.succeeded else End(Outcome.FAILED, error or None)
    if start.startswith(_REJECTED) or (
        start.startswith(_FAILED) and any(each in start for each in _REJECTED_IN_ERROR)
    ):
        return End(Outcome.REJECTED, start.strip().partition("\n")[0])
    changes = use.changes
    if output.exit_code is not None and changes is None:
        outcome = Outcome.FAILED if output.exit_code else Outcome.SUCCEEDED
        return End(
            outcome, f"exit {output.exit_code}" if output.exit_code else None, exit_code=output.exit_code
        )
    if output.succeeded is False or output.exit_code or (not output.has_head and start.startswith(_FAILED)):
        return End(Outcome.FAILED, start.strip()[:_BROKEN_CALL] or None)
    if output.succeeded or output.exit_code == 0 or start.startswith(_SUCCEEDED):
        return change_end(changes, Outcome.SUCCEEDED)
    has_image = any("image_url" in piece for piece in output.pieces)
    return End(Outcome.SUCCEEDED if has_image and use.kind is ToolKind.READ else Outcome.RETURNED)


def _joined(pieces: tuple[Fields, ...]) -> str:
    return "\n".join(found for piece in pieces if (found := text(piece, "text")) is not None)


def _of_text(whole: str) -> Output:
    fields = mapping(whole) if whole.startswith("{") else {}
    inner = fields.get("output")
    if isinstance(inner, str) and "metadata" in fields:
        metadata = mapping(fields["metadata"])
        duration = _milliseconds(metadata.get("duration_seconds"))
        return Output(inner, number(metadata, "exit_code"), duration_ms=duration, has_head=True)
    return _of_head(whole)


def _of_head(whole: str) -> Output:
    """Return the output after its head, and what the head says."""
    if whole.startswith(_ABORTED):
        return Output(whole, is_aborted=True)
    if (script := _of_script(whole)) is not None:
        return script
    if whole.startswith(_SANDBOX):
        digits = whole[:_MOST_HEAD].partition(_EXIT_IN_SANDBOX)[2].partition(",")[0]
        return Output(whole, number({"code": digits}, "code"), succeeded=False)
    if not whole.startswith(_HEADS):
        return Output(whole)
    output, end = Output("", has_head=True), 0
    for _ in range(_MOST_HEAD_LINES):
        line, _, _ = whole[end : end + _MOST_HEAD].partition("\n")
        end += len(line) + 1
        exit_code = next((line.removeprefix(each) for each in _EXIT if line.startswith(each)), None)
        if exit_code is not None:
            output = output._replace(exit_code=number({"code": exit_code.strip()}, "code"))
        elif line.startswith(_RUNNING):
            output = output._replace(process=line.removeprefix(_RUNNING).strip())
        elif line.startswith(_WALL_TIME):
            seconds = line.removeprefix(_WALL_TIME).partition(" ")[0]
            output = output._replace(duration_ms=_milliseconds(seconds))
        elif line.startswith(_ABORTED):
            return output._replace(text=whole, is_aborted=True)
        elif line.startswith(_OUTPUT) or end > len(whole) or not line.startswith(_HEADS):
            begin = end if line.startswith(_OUTPUT) else end - len(line) - 1
            return output._replace(text=whole[begin:])
    return output._replace(text=whole[end:])


def _of_script(whole: str) -> Output | None:
    """Return the output of a script that calls tools; None for another output.

    The second line is part of the head, which a command that prints the same words does not have.
    """
    first, _, rest = whole[:_MOST_HEAD].partition("\n")
    process = first.removeprefix(_SCRIPT_RUNNING).strip() if first.startswith(_SCRIPT_RUNNING) else None
    if (process is None and first not in _SCRIPT_ENDS) or not rest.startswith(_SCRIPT_HEAD):
        return None
    text, duration_ms = whole[len(first) + 1 :], None
    if text.startswith("Wall time"):
        line, _, text = text.partition("\n")
        seconds = line.removeprefix("Wall time").removeprefix(":").removesuffix(" seconds")
        duration_ms = _milliseconds(seconds)
    if text.startswith(_OUTPUT):
        text = text.removeprefix(_OUTPUT).removeprefix("\n")
    output = Output(text, process=process and cell_process(process), duration_ms=duration_ms, has_head=True)
    if process is not None:
        return output
    if first == "Script terminated":
        return output._replace(is_aborted=True, ends_script=True)
    if first == "Script completed":
        return output._replace(succeeded=True, ends_script=True)
    return output._replace(succeeded=False, ends_script=True)


def _milliseconds(seconds: object) -> int | None:
    """Return a duration in milliseconds; None if it is no number, or less than one millisecond.

    Codex gives 0 for a process that ended before it began to measure.
    """
    try:
        found = float(seconds) if isinstance(seconds, str | int | float) else 0.0
    except (ValueError, OverflowError):
        return None
    return round(found * 1000) or None if 0 < found < 1e12 else None
