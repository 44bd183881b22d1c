"""Applies the events of runs and turns to a digest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentwatch.events import (
    Event,
    FormatDetected,
    Outcome,
    Prompt,
    RunInfo,
    RunStarted,
    TurnEnded,
    TurnStarted,
    Usage,
)
from agentwatch.machine.digest.bounds import MOST_LINE, MOST_NAME, MOST_PATH, MOST_TEXT, line
from agentwatch.machine.digest.parts import Turn
from agentwatch.session.rules import begins_turn, repeats_end, replaces_title

if TYPE_CHECKING:
    from agentwatch.machine.digest.digest import Digest
    from agentwatch.machine.digest.updates import Applier


def format_detected(digest: Digest, event: FormatDetected, _at_ms: int | None) -> None:
    """Set the format and the agent."""
    digest.format = event.format[:MOST_NAME]
    digest.agent = (event.agent or event.format)[:MOST_NAME]


def run_started(digest: Digest, event: RunStarted, _at_ms: int | None) -> None:
    """Begin another run: nothing of the last one goes on."""
    end_run(digest)
    digest.course.has_ended.clear()
    digest.course.last_error = ""
    digest.course.awaits_prompt = digest.course.is_text_open = False
    digest.turn, digest.turn_ms, digest.outcome, digest.reason = Turn.NONE, None, None, ""
    describe(digest, event)


def run_info(digest: Digest, event: RunInfo, _at_ms: int | None) -> None:
    """Add facts about the run. A title of the agent does not replace that of the user."""
    describe(digest, event)
    digest.agent = (event.agent_name or digest.agent)[:MOST_NAME]
    digest.branch = (event.branch or digest.branch)[:MOST_LINE]
    digest.last_prompt = line(event.last_prompt) or digest.last_prompt
    digest.is_one_liner = digest.is_one_liner or event.is_one_liner
    title = line(event.title)
    if title and replaces_title(event, is_users_title=digest.is_users_title):
        digest.title, digest.is_users_title = title, event.is_users_title


def turn_started(digest: Digest, _event: TurnStarted, at_ms: int | None) -> None:
    """Begin a turn, which continues a run that had ended."""
    begin_turn(digest, at_ms)
    digest.course.awaits_prompt = True
    digest.course.last_error = ""


def prompt(digest: Digest, event: Prompt, at_ms: int | None) -> None:
    """Keep a prompt. It begins a turn, unless the present turn still has no prompt."""
    if event.agent is not None:
        return
    if begins_turn(event, awaits_prompt=digest.course.awaits_prompt):
        begin_turn(digest, at_ms)
    digest.course.awaits_prompt = False
    digest.last_prompt = line(event.text)
    digest.first_prompt = digest.first_prompt or digest.last_prompt


def usage(digest: Digest, event: Usage, _at_ms: int | None) -> None:
    """Keep the size of the context."""
    tokens = event.tokens
    digest.context_used = digest.context_used if tokens.context_used is None else tokens.context_used
    digest.context_size = digest.context_size if tokens.context_size is None else tokens.context_size


def turn_ended(digest: Digest, event: TurnEnded, at_ms: int | None) -> None:
    """End the turn. A second end may only add its duration."""
    if repeats_end(event, digest.outcome if digest.turn is Turn.ENDED else None):
        return
    end_run(digest)
    digest.session_id = (digest.session_id or event.session_id or "")[:MOST_NAME]
    digest.turn, digest.turn_ms, digest.outcome = Turn.ENDED, at_ms, event.outcome
    digest.course.awaits_prompt = digest.course.is_text_open = False
    if event.outcome is Outcome.SUCCEEDED:
        digest.reason = ""
        digest.last_text = digest.last_text or (event.result or "")[-MOST_TEXT:].strip()
    else:
        digest.reason = line(event.result) or digest.course.last_error


def end_run(digest: Digest) -> None:
    """End what cannot go on after the end of a turn."""
    for call_id in digest.open_calls:
        digest.course.settle(call_id, has_ended=False)
    digest.open_calls.clear()
    digest.course.questions.clear()
    digest.asked, digest.asked_ms = "", None
    digest.retry, digest.is_compacting = "", False


def goes_on(digest: Digest, at_ms: int | None) -> None:
    """Note that the agent is at work, although no line has said that a turn began."""
    if digest.turn is Turn.NONE:
        digest.turn, digest.turn_ms = Turn.OPEN, at_ms if digest.is_whole else None


def begin_turn(digest: Digest, at_ms: int | None) -> None:
    """Open a turn. It closes no call."""
    digest.turn, digest.turn_ms = Turn.OPEN, at_ms
    digest.course.is_text_open = False
    digest.course.pauses.drop()


def describe(digest: Digest, event: RunStarted | RunInfo) -> None:
    """Apply the facts that both kinds of lines have."""
    digest.session_id = (event.session_id or digest.session_id)[:MOST_NAME]
    digest.model = (event.model or digest.model)[:MOST_NAME]
    digest.cwd = (event.cwd or digest.cwd)[:MOST_PATH]
    digest.permission_mode = (event.permission_mode or digest.permission_mode)[:MOST_NAME]


APPLIERS: dict[type[Event], Applier] = {
    FormatDetected: format_detected,
    RunStarted: run_started,
    RunInfo: run_info,
    TurnStarted: turn_started,
    Prompt: prompt,
    Usage: usage,
    TurnEnded: turn_ended,
}
