"""One call in full, or the state of a session at a moment, as text or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import orjson

from agentwatch.agents.fields import line_object
from agentwatch.agents.payloads import arguments_in, result_in
from agentwatch.analysis.block_text import block_title, named_places, printed, whole_text
from agentwatch.analysis.episodes import for_reading, whole_episodes
from agentwatch.analysis.silence import call_clock, running_ms, since_ms
from agentwatch.analysis.status import status, turn_words
from agentwatch.analysis.verdict_history import call_verdict
from agentwatch.feed.feed import Feed
from agentwatch.output.summary import call_members, whole_summary
from agentwatch.recording.lines import MOST_LINE_BYTES
from agentwatch.session.actions import action_pieces, count_words, outcome_note, target
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome
from agentwatch.session.runs import Run
from agentwatch.session.session import Session, calls_by_outcome
from agentwatch.text.durations import UNKNOWN, running_clock
from agentwatch.text.safe import SafeText, exact_line, exact_text, safe_line, safe_text, styled
from agentwatch.text.safe_json import safe_json
from agentwatch.text.signs import PLAN_SIGNS
from agentwatch.text.times import date_and_time

_TOO_DEEP = "nested too deeply to be printed"


def call_text(feed: Feed, call: Call, now_ms: int | None = None) -> Iterator[SafeText]:
    """Yield the lines of a call: its number and action, its facts, then all its arguments and its result."""
    yield styled((SafeText(f"#{call.number} "), "accent"), *action_pieces(call))
    if call.target and exact_line(call.target) != target(call):
        yield exact_line(f"target: {call.target}")
    yield styled(
        (SafeText("outcome: "), "muted"), (SafeText(f"{call.outcome}{_note(call)}"), str(call.outcome))
    )
    if (found := call_verdict(feed, call)) is not None:
        style = "failed" if found.is_red else "succeeded" if found.is_green else ""
        words = safe_line(f"{found.colour} ({found.source}), {found.tool}: {found.words}")
        yield styled((SafeText("verdict: "), "muted"), (words, style))
    yield exact_line(f"tool: {call.tool} ({call.kind}), call_id {call.call_id}")
    yield SafeText(_times(call, now_ms))
    if call.parent is not None:
        by = f"#{call.parent}" if call.parent else "a call that the recording does not contain"
        yield SafeText(f"made by the subagent of {by}")
    for name, place in named_places(call):
        for block in feed.blocks(place, call.call_id):
            title = block_title(block)
            yield from _titled(name if title in ("", name) else f"{name}: {title}", whole_text(block))
    if call.result_place is None and call.output:
        yield from _titled("output so far, its last 4,096 characters", printed(call.output))


def call_json(feed: Feed, call: Call) -> bytes:
    """Return a call as in the summary, with `arguments` and `result` as they were sent, or null. If their
    line is over 16 MiB, they are its size and place: `{"bytes": 20000000, "offset": 4096}`."""
    arguments, result = call.arguments_place or call.result_place, call.result_place
    members = {
        "version": 1,
        **call_members(call),
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


def _titled(title: str, text: str) -> Iterator[SafeText]:
    yield SafeText("")
    yield _heading(title)
    for line in exact_text(text.rstrip("\n")).split("\n"):
        yield SafeText(line)


def _heading(title: str) -> SafeText:
    return styled((exact_line(f"── {title}"), "heading"))


def _value(feed: Feed, place: Place, call: Call, *, is_result: bool) -> object:
    """Return the arguments or the result in a line; a line that is not a JSON object, as text."""
    if place.length > MOST_LINE_BYTES:
        return {"bytes": place.length, "offset": place.offset}
    data = feed.line_at(place)
    if (line := line_object(*data.split(b"\n"))) is None:
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


_MOST_EPISODES = 20
_TEXT_LINES = 10
_MOST_TEXT = 4096
"""The characters of the prompt that are shown, and those at the end of the text whose lines are."""


class State(NamedTuple):
    feed: Feed
    offset: int
    size: int
    at_ms: int | None
    """The time of the moment, in milliseconds since the epoch; None if unknown."""

    @property
    def session(self) -> Session:
        return self.feed.session


def state_text(state: State) -> Iterator[SafeText]:
    """Yield the lines of a state: the moment, the session, what it does, and the last lines of its text."""
    session, now_ms = state.session, state.at_ms
    at = SafeText(f"at {date_and_time(now_ms)} · byte {state.offset:,} of {state.size:,}")
    yield styled((at, "muted"))
    yield from _about(session)
    doing, counts = status(session, now_ms), ", ".join(count_words(calls_by_outcome(session)))
    yield styled((doing, str(session.outcome or "strong")))
    if counts not in doing:
        yield SafeText(counts)
    for call in session.open_calls.values():
        running = running_ms(call, now_ms)
        running = since_ms(call.started_ms, now_ms) if running is None else running
        clock = UNKNOWN if running is None else running_clock(running)
        yield styled(
            (SafeText(f"  #{call.number} "), "accent"),
            *action_pieces(call),
            (SafeText(f" · {clock}"), "muted"),
        )
    if trouble := for_reading(whole_episodes(state.feed)):
        yield SafeText("")
        yield _heading("trouble")
        yield from (each.words for each in trouble[:_MOST_EPISODES])
    if session.plan:
        yield SafeText("")
        yield _heading("to-do list")
        yield from (safe_line(f"{PLAN_SIGNS[entry.status]} {entry.text}") for entry in session.plan)
    if lines := _last_lines(session.run):
        yield SafeText("")
        yield _heading("last lines of the text")
        yield from lines


def state_json(state: State) -> Iterator[bytes]:
    """Yield the summary, and `at_ms`, `offset`, `status` and `episodes`, a quarter of its CPU time."""
    more = {
        "episodes": _episodes(state.feed),
        "at_ms": state.at_ms,
        "offset": state.offset,
        "status": status(state.session, state.at_ms),
    }
    return whole_summary(state.feed, more)


def _episodes(feed: Feed) -> list[dict[str, object]]:
    """Return the members of each episode of trouble, in the order of their last calls; the newest 500."""
    return [
        {
            "number": number,
            "kind": each.kind,
            "words": each.words,
            "first_call": each.first,
            "last_call": each.last,
            "tries": each.tries,
            "duration_ms": each.duration_ms,
            "fixed": each.is_fixed,
            "over": each.is_over,
        }
        for number, each in enumerate(whole_episodes(feed), 1)
    ]


def _about(session: Session) -> Iterator[SafeText]:
    run = session.run
    facts = (session.agent_name or session.format, run.model, run.permission_mode, run.cwd)
    if words := " · ".join(filter(None, facts)):
        yield safe_line(words)
    if run.session_id:
        yield safe_line(" · ".join(filter(None, (f"session {run.session_id}", turn_words(session.turns)))))
    if run.prompt:
        yield safe_line(f"prompt: {run.prompt[:_MOST_TEXT]}")


def _last_lines(run: Run) -> list[SafeText]:
    pieces: list[str] = []
    left = _MOST_TEXT
    for text in reversed(run.answer):
        length = len(text)
        pieces.append(text.part(max(length - left, 0), length))
        left -= len(pieces[-1])
        if left <= 0:
            break
    lines = safe_text("\n".join(reversed(pieces))).split("\n")
    return [SafeText(line) for line in lines if line.strip()][-_TEXT_LINES:]
