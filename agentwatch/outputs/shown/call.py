"""One call in full, as text or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

import orjson

from agentwatch.actions import action, outcome_note, target
from agentwatch.analysis.block_text import block_title, named_places, whole_text
from agentwatch.analysis.silence import call_clock
from agentwatch.analysis.verdict_history import call_verdict
from agentwatch.events import Outcome
from agentwatch.feed import Feed
from agentwatch.outputs.summary import call_members
from agentwatch.recording import MOST_LINE_BYTES
from agentwatch.safe_json import safe_json
from agentwatch.session import Call, Place
from agentwatch.text.safe import SafeText, safe_line, safe_text
from agentwatch.text.times import date_and_time
from agentwatch.wire.json_line import parse_joined
from agentwatch.wire.payloads import arguments_in, result_in

_TOO_DEEP = "nested too deeply to be printed"


def call_text(feed: Feed, call: Call, now_ms: int | None = None) -> Iterator[SafeText]:
    """Yield the lines of a call: its number and action, its facts, then all its arguments and its result.

    Args:
        feed: The feed of the session.
        call: The call.
        now_ms: The present time by the clock of the arrival times; None if unknown.
    """
    yield SafeText(f"#{call.number} {action(call)}")
    if call.target and safe_line(call.target) != target(call):
        yield safe_line(f"target: {call.target}")
    yield SafeText(f"outcome: {call.outcome}{_note(call)}")
    if (found := call_verdict(feed, call)) is not None:
        yield safe_line(f"verdict: {found.colour} ({found.source}), {found.tool}: {found.words}")
    yield safe_line(f"tool: {call.tool} ({call.kind}), call_id {call.call_id}")
    yield SafeText(_times(call, now_ms))
    if call.parent is not None:
        by = f"#{call.parent}" if call.parent else "a call that the recording does not contain"
        yield SafeText(f"made by the subagent of {by}")
    for name, place in named_places(call):
        yield from _section(name, feed, place, call)
    if call.result_place is None and call.output:
        yield from _titled("output so far, its last 4,096 characters", call.output)


def call_json(feed: Feed, call: Call) -> bytes:
    """Return a call as in the summary, with its `arguments` and its `result` as the stream sent them.

    Each of the two is null if the recording does not contain it. Of a line over 16 MiB, it is an object that
    says where the line is: `{"bytes": 20000000, "offset": 4096}`.
    """
    arguments, result = call.arguments_place or call.result_place, call.result_place
    members = call_members(call) | {
        "arguments": None if arguments is None else _value(feed, arguments, call, is_result=False),
        "result": None if result is None else _value(feed, result, call, is_result=True),
    }
    return safe_json(_json(members))


def _note(call: Call) -> str:
    note = outcome_note(call)
    return f", {note}" if note and call.outcome is not Outcome.FAILED and note != call.outcome.value else ""


def _times(call: Call, now_ms: int | None) -> str:
    """Return when a call started and ended, and how long it took; `~` marks the clock of agentwatch."""
    started_ms, ended_ms = call.started_ms, call.ended_ms
    seen_ms = None if call.started is None else call.started.seen_ms
    words = [f"started: {date_and_time(seen_ms if started_ms is None else started_ms)}"]
    if call.ended is not None:
        words.append(f"ended: {date_and_time(call.ended.seen_ms if ended_ms is None else ended_ms)}")
    if call.outcome is Outcome.RUNNING:
        words.append(f"running: {call_clock(call, now_ms, 'unknown')}")
    elif took := call_clock(call, now_ms, ""):
        words.append(f"took: {took}")
    return " · ".join(words)


def _section(name: str, feed: Feed, place: Place, call: Call) -> Iterator[SafeText]:
    for block in feed.blocks(place, call.call_id):
        title = block_title(block)
        yield from _titled(name if title in ("", name) else f"{name}: {title}", whole_text(block))


def _titled(title: str, text: str) -> Iterator[SafeText]:
    yield SafeText("")
    yield safe_line(f"── {title}")
    for line in safe_text(text.rstrip("\n")).split("\n"):
        yield SafeText(line)


def _value(feed: Feed, place: Place, call: Call, *, is_result: bool) -> object:
    """Return the arguments or the result in a line; a line that is no JSON object, as text."""
    if place.length > MOST_LINE_BYTES:
        return {"bytes": place.length, "offset": place.offset}
    data = feed.line_at(place)
    try:
        line = parse_joined(data.split(b"\n"))
    except ValueError:
        line = None
    if not isinstance(line, dict):
        return data.decode("utf-8", "replace")
    return result_in(line, call.call_id) if is_result else arguments_in(line, call.call_id)


def _json(members: dict[str, object]) -> bytes:
    """Return JSON; orjson refuses numbers over 64 bits and more than 254 levels, Python's own more levels."""
    try:
        return orjson.dumps(members)
    except TypeError:
        pass
    try:
        return json.dumps(members, ensure_ascii=True, default=str).encode()
    except RecursionError:
        return orjson.dumps(members | {"arguments": _TOO_DEEP, "result": _TOO_DEEP})
