"""The entries of the transcript in a Markdown document."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.actions import action
from agentwatch.analysis.block_text import block_title, named_places, whole_text
from agentwatch.analysis.silence import call_clock
from agentwatch.blocks import Block, ChangeBlock, FieldsBlock
from agentwatch.events import Outcome
from agentwatch.exports.markdown.bodies import OF_TEXTS, Bounds, fenced, markdown, quoted
from agentwatch.exports.markdown.escapes import escaped
from agentwatch.exports.markdown.head import number_words
from agentwatch.feed import Feed
from agentwatch.session import Call, Entry, Kind, Place
from agentwatch.text.amounts import plural
from agentwatch.text.durations import duration_words
from agentwatch.text.signs import SIGNS

_MOST_BLOCKS = 16


def prompt(text: str, bounds: Bounds = OF_TEXTS) -> Iterator[str]:
    """Yield the lines of a prompt."""
    yield "### Prompt"
    yield ""
    yield from quoted(line for part in markdown(text, bounds) for line in part.split("\n"))


def answer(text: str, bounds: Bounds = OF_TEXTS) -> Iterator[str]:
    """Yield the lines of the final answer."""
    yield "### Final answer"
    yield ""
    yield from markdown(text, bounds)


def entry_lines(feed: Feed, entry: Entry) -> Iterator[str]:
    """Yield the lines of an entry."""
    if entry.call is not None:
        yield from call_lines(feed, entry.call)
        return
    if entry.parent is not None and entry.kind is not Kind.RESULT:
        yield f"*{_by(entry.parent)}:*"
        yield ""
    match entry.kind:
        case Kind.PROMPT:
            yield from prompt(entry.text)
        case Kind.ANSWER:
            yield from markdown(entry.text)
        case Kind.REASONING:
            yield from _folded("Thinking", markdown(entry.text))
        case Kind.NOTICE:
            yield f"> ⚠ {escaped(entry.text)}"
        case Kind.RESULT if entry.result is not None:
            took_ms = entry.result.duration_ms
            words = f" in {duration_words(took_ms)}" if took_ms is not None else ""
            yield f"**{entry.result.outcome}**{words}"
            if entry.result.text and not entry.result.is_streamed:
                yield ""
                yield from markdown(entry.result.text)


def call_lines(feed: Feed, call: Call) -> Iterator[str]:
    """Yield the lines of a call: a summary, and what it was given and returned. A failure is open."""
    facts = [str(call.outcome)]
    if took := call_clock(call, None, ""):
        facts.append(took)
    if call.parent is not None:
        facts.append(_by(call.parent))
    sign = SIGNS[call.outcome]
    summary = f"{sign} <b>{number_words(call.number)}</b> {escaped(action(call))} · {' · '.join(facts)}"
    yield from _folded(summary, _bodies(feed, call), is_open=call.outcome is Outcome.FAILED)


def _folded(summary: str, lines: Iterator[str], *, is_open: bool = False) -> Iterator[str]:
    """Yield lines that are hidden until the summary, which is HTML, is clicked."""
    yield "<details open>" if is_open else "<details>"
    yield f"<summary>{summary}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"


def _bodies(feed: Feed, call: Call) -> Iterator[str]:
    for name, place in named_places(call):
        yield from _section(name, feed, place, call)
    if call.result_place is None and call.output:
        yield from _titled("output so far", fenced(call.output))


def _section(name: str, feed: Feed, place: Place, call: Call) -> Iterator[str]:
    blocks = feed.blocks(place, call.call_id)
    for block in blocks[:_MOST_BLOCKS]:
        if _repeats_target(block, call):
            continue
        title = block_title(block)
        yield from _titled(name if title in ("", name) else f"{name}: {title}", _body(block))
    if (more := len(blocks) - _MOST_BLOCKS) > 0:
        yield ""
        yield f"*… {plural(more, 'part')} left out …*"


def _repeats_target(block: Block, call: Call) -> bool:
    """Return whether a block says only what the summary says."""
    if not isinstance(block, FieldsBlock) or len(block.fields) != 1:
        return False
    value = next(iter(block.fields.values()))
    return isinstance(value, str) and value in (call.target, call.path)


def _titled(title: str, lines: Iterator[str]) -> Iterator[str]:
    yield ""
    yield escaped(title)
    yield ""
    yield from lines


def _body(block: Block) -> Iterator[str]:
    is_diff = isinstance(block, ChangeBlock) and bool(block.diff)
    return fenced(whole_text(block), "diff" if is_diff else "text")


def _by(parent: int) -> str:
    number = number_words(parent) if parent else "a call that the recording does not contain"
    return f"by the subagent of {number}"
