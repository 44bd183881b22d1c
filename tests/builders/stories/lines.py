"""A story as lines of Cursor's stream, with or without partial output."""

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.builders.lines import CWD
from tests.builders.stories.story import Aside, Finish, Json, RunStory, Say, Story, Think, ToolCall
from tests.builders.stories.truth import result_of


def pieces(text: str, cuts: tuple[int, ...]) -> Iterator[str]:
    """Yield a text cut at these places, counted in UTF-16 code units as in JavaScript: an emoji has two."""
    units = text.encode("utf-16-le")
    places = sorted({0, len(units), *(2 * cut % (len(units) + 2) for cut in cuts)})
    if len(places) == 1:
        yield ""
    for begin, end in itertools.pairwise(places):
        yield units[begin:end].decode("utf-16-le", "surrogatepass")


def assistant_line(text: str, **fields: Any) -> Json:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "message": message} | fields


def call_line(call: ToolCall, is_start: bool) -> Json:
    place = "start" if is_start else "end"
    args = call.use.args if call.arguments_at in (place, "both") else {}
    body: Json = {"args": args} if args or is_start else {}
    if not is_start and call.ending.result is not None:
        body["result"] = call.ending.result
    wire: Json = {f"{call.use.tool}ToolCall": body}
    if call.shape.startswith("function"):
        arguments: Any = json.dumps(args) if call.shape == "function of strings" else args
        wire = {"function": {"name": call.use.tool, "arguments": arguments} | body}
        del wire["function"]["args" if "args" in body else "arguments"]
        wire["function"]["arguments"] = arguments
    if call.shape == "bare":
        wire = {call.use.tool: body}
    if call.shape == "case":
        wire = {"tool": {"case": f"{call.use.tool}ToolCall", "value": body}}
    siblings: Json = {"hookAdditionalContexts": [], "toolCallId": call.call_id, "startedAtMs": "990"}
    if call.siblings == "before":
        wire = siblings | wire
    elif call.siblings == "after":
        wire |= siblings
    at_ms = call.started_ms if is_start else call.ended_ms
    line: Json = {
        "type": "tool_call",
        "subtype": "started" if is_start else "completed",
        "call_id": call.call_id,
        "tool_call": json.dumps(wire) if call.shape == "string" else wire,
    }
    if call.model_call_id is not None:
        line["model_call_id"] = call.model_call_id
    if at_ms is not None:
        line["timestamp_ms"] = str(at_ms) if call.numbers_as_strings else at_ms
    return line


def finish_line(run: RunStory, finish: Finish) -> Json:
    number: Callable[[int], int | str] = str if finish.numbers_as_strings else int
    line: Json = {"type": "result", "subtype": finish.subtype, "is_error": finish.is_error}
    line |= {"duration_ms": number(5234), "duration_api_ms": number(5200)}
    optional = {"result": result_of(run), "request_id": finish.request_id, "usage": finish.usage}
    return line | {key: value for key, value in optional.items() if value is not None}


def run_lines(run: RunStory, is_partial: bool) -> Iterator[Json | bytes]:
    own = {"apiKeySource": "login", "cwd": CWD, "model": "Auto", "permissionMode": "default"}
    yield {"type": "system", "subtype": "init"} | own
    yield {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": run.prompt}]}}
    segment = ""
    begun: set[str] = set()

    def closed_by(closer: str) -> Iterator[Json]:
        """Yield the line that closes a segment: its flush with partial output, otherwise its only copy."""
        is_known_not_to_come = is_partial and closer in ("query", "nothing") and not run.flushes
        if segment and not is_known_not_to_come:
            forms: dict[str, Json] = {
                "call": {"timestamp_ms": 1001, "model_call_id": "m-1"},
                "query": {"timestamp_ms": 1001} | ({"model_call_id": "m-1"} if is_partial else {}),
            }
            yield assistant_line(segment, **forms.get(closer, {}))

    for step in run.steps:
        match step:
            case Say():
                segment += step.text
                if is_partial:
                    yield from (
                        assistant_line(piece, timestamp_ms=1000) for piece in pieces(step.text, step.cuts)
                    )
            case Think():
                for piece in pieces(step.text, step.cuts):
                    yield {"type": "thinking", "subtype": "delta", "text": piece, "timestamp_ms": 1000}
                if step.is_completed:
                    yield {"type": "thinking", "subtype": "completed", "timestamp_ms": 1000}
            case Aside():
                if step.is_query:
                    yield from closed_by("query")
                    segment = ""
                yield from step.lines
            case ToolCall():
                yield from closed_by("call")
                segment = ""
                yield call_line(step, step.has_start and step.call_id not in begun)
                begun.add(step.call_id)
    yield from closed_by("result" if run.finish else "nothing")
    if run.finish is not None:
        yield finish_line(run, run.finish)


def is_half(char: str) -> bool:
    """Return whether a character is a surrogate."""
    return "\ud800" <= char <= "\udfff"


def rendered(story: Story, is_partial: bool) -> tuple[bytes, int]:
    """Return a story's recording, and the number of its lines with a lone surrogate."""
    lines: list[bytes] = []
    repaired = 0
    for run in story.runs:
        for line in run_lines(run, is_partial):
            if isinstance(line, bytes):
                lines.append(line.removesuffix(b"\n"))
                continue
            line["session_id"] = run.session_id
            has_halves = any(map(is_half, json.dumps(line, ensure_ascii=False)))
            repaired += has_halves
            lines.append(json.dumps(line, ensure_ascii=story.is_ascii or has_halves).encode())
    return story.line_end.join(lines) + (story.line_end if story.ends_in_line_end else b""), repaired
