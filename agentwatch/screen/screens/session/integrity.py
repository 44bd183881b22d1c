"""Whether the recording is whole: the lines, calls and texts for which it is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from agentwatch.analysis.integrity import Integrity, integrity
from agentwatch.feed.feed import Feed
from agentwatch.screen.widgets.line_view import PopupLines, Spans
from agentwatch.session.actions import action
from agentwatch.session.events import Malformed
from agentwatch.session.session import Session
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, cut, safe_line

_AROUND = 30
_EXCERPT_BYTES = 300


class IntegrityScreen(ModalScreen[None]):
    """The integrity line in detail."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,i,q", "dismiss", "Back")]

    def __init__(self, feed: Feed) -> None:
        super().__init__()
        self._feed = feed

    def compose(self) -> ComposeResult:
        """List the findings as of now."""
        yield PopupLines("Recording", partial(_cut, list(findings(self._feed))), id="findings")


def _cut(lines: Iterable[tuple[SafeText, str]], width: int) -> Iterator[Spans]:
    """Yield lines cut to a width; those about a line are followed by the beginning of that line."""
    for text, style in lines:
        yield [(cut(text, width), style)]


def findings(feed: Feed) -> Iterator[tuple[SafeText, str]]:
    """Yield the lines of the list as pairs of text and style name."""
    session = feed.session
    found = integrity(session)
    yield found.line(), "succeeded" if found.passes else "unfinished"
    yield from ((SafeText(f"  {words}"), "muted") for words in _explained(session, found))
    yield SafeText(""), "plain"
    if found.difference_at is not None:
        yield from _difference(session, found.difference_at)
    for call in session.calls:
        if call.started is None and session.traits.announces_calls:
            yield safe_line(f"call #{call.number} completed without a start: {action(call)}"), "unfinished"
        elif call.ended is None:
            yield safe_line(f"call #{call.number} never completed: {action(call)}"), "unfinished"
    for event, place in session.lines.odd:
        what = event.reason if isinstance(event, Malformed) else f"unknown {event.what}"
        yield safe_line(f"byte {place.offset}, {place.length} bytes: {what}"), "unfinished"
        beginning = feed.line_at(place._replace(length=min(place.length, _EXCERPT_BYTES)))
        yield safe_line(f"    {beginning.decode('utf-8', 'replace')}"), "muted"
    left = session.lines.malformed + session.lines.unknown - len(session.lines.odd)
    if left > 0:
        yield SafeText(f"… {left} more lines like these"), "muted"


def _explained(session: Session, found: Integrity) -> Iterator[str]:
    """Yield what each check means, with its numbers."""
    run = session.run
    if session.traits.has_result:
        yield f"text: the stream has {len(run.text):,} characters of text, the result {run.result_length:,}"
    else:
        yield "text: no result line in this format, so the text is compared with nothing"
    unended = found.calls - len(session.ended_calls) + session.never_completed
    if session.traits.announces_calls:
        yield (
            f"paired: of {plural(found.calls, 'call')}, {found.paired:,} have a line for their start and one "
            f"for their end, {unended:,} have no end, {session.completed_without_started:,} no start"
        )
    else:
        yield f"calls: a call has no start line in this format; of {found.calls:,}, {unended:,} have no end"
    yield f"malformed: {plural(found.malformed, 'line')} not in JSON"
    yield f"unknown: {plural(found.unknown, 'line')} of a type or tool that this version does not know"
    if found.repaired:
        yield f"repaired: {plural(found.repaired, 'line')} broken in two, read as one"
    if found.oversize:
        yield f"oversize: {plural(found.oversize, 'line')} too long to read whole"


def _difference(session: Session, at: int) -> Iterator[tuple[SafeText, str]]:
    start = max(at - _AROUND, 0)
    yield SafeText(f"text and result differ, starting at character {at}"), "unfinished"
    for name, text in (("text", session.run.text), ("result", session.run.result or "")):
        yield safe_line(f"    {name:<6} …{text[start : at + _AROUND]}…"), "muted"
