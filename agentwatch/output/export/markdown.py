"""The export `markdown`, for a review, an issue or a summary of CI, of limited size.

The agent's Markdown stays, without what could act on the page or on people: raw HTML, images, links that are
not http or https, mentions (`@name`) and references to issues (`#12`, `GH-12`), which GitHub links and
notifies about, but not in code. Sources: CommonMark 0.31.2, GitHub Flavored Markdown 0.29.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.analysis.block_text import block_title, named_places, printed, whole_text
from agentwatch.analysis.prices import cost_of
from agentwatch.analysis.silence import call_clock
from agentwatch.analysis.status import status
from agentwatch.base.faults import USAGE, Fault
from agentwatch.feed.feed import Feed
from agentwatch.output.export.exported import Exported
from agentwatch.output.export.exporters import Choices, Exporter
from agentwatch.output.summary import final_answer, final_entries
from agentwatch.session.actions import action, count_words
from agentwatch.session.blocks import Block, ChangeBlock, FieldsBlock
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome
from agentwatch.session.session import calls_by_outcome, ending_of_turn
from agentwatch.session.transcript import Entry, Kind
from agentwatch.text.amounts import about_dollars, plural
from agentwatch.text.durations import UNKNOWN, duration_words
from agentwatch.text.safe import SafeText, exact_text, page_line, page_text
from agentwatch.text.signs import SIGNS
from agentwatch.text.times import date_and_time

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


# Escapes.

_BREAK = "\u200b"
"""A space of no width, which separates the sign of a mention from its name. Safe text has none."""
_MARKUP = str.maketrans({sign: f"&#{ord(sign)};" for sign in "&<>|`*_[]~\\\"'!$^" + _BREAK})
_REFERENCE = re.compile(r"@(?=\w)|#(?=\d)|[Gg][Hh]-(?=\d)")
_ACTIVE = re.compile(
    # Kept: GFM makes a link of it. It makes none of a host with another sign, such as `_`. A reference such
    # as `&lt;`, for which a page shows another sign, ends what is kept: a page may end its link there.
    r"(?<![^\s*_~(])https?://[A-Za-z0-9][A-Za-z0-9.-]*+(?![^\s/:?#)<>\]\"'`])"
    r"(?:[^\s)<>\]\"'`&]|&(?!(?!amp;)#?\w{1,31};)){0,2000}"
    r"|\\\\"  # escapes itself, not the next sign
    r"|\\?[&<]"
    r"|!\["
    r"|\](?:\((?!https?://)|:(?! ?https?://))"
    r"|@(?=\w)|#(?=\d)|[Gg][Hh]-(?=\d)"
)
_HARMLESS = {
    "\\\\": "\\\\",
    "&": "&amp;",
    "\\&": "&amp;",
    "<": "&lt;",
    "\\<": "&lt;",
    "![": "!\\[",
    "](": "]\\(",
    "]:": "]\\:",
}
_FENCE = re.compile(r"(?<![\\`])`{3,}")
_BACKTICKS = re.compile(r"\\[!-/:-@\[-`{-~]|`+")
_ACTIVE_IN_CODE = re.compile(r"[<&@#]|!\[|\][(:]|[Gg][Hh]-")


def escaped(text: str) -> str:
    """Return foreign text as one line that is only text, in a cell of a table and in a `<summary>`.

    Example:
        >>> escaped("ask @ada about a<b>|c")
        'ask @&#8203;ada about a&#60;b&#62;&#124;c'
    """
    return _REFERENCE.sub(rf"\g<0>{_BREAK}", page_line(text)).translate(_MARKUP)


def harmless(text: SafeText) -> str:
    """Return a part of a text in Markdown without what could act; the part lies outside of code blocks.

    Example:
        >>> print(harmless(SafeText("Ask @ada: `a<b>` is **not** <b>.")))
        Ask @&#8203;ada: <code>a&#60;b&#62;</code> is **not** &lt;b>.
    """
    return "\n".join("".join(_line(line)) for line in text.split("\n"))


def _line(line: str) -> Iterator[str]:
    """Yield the pieces of a line: text, and code between runs of as many backticks."""
    runs = [found for found in _BACKTICKS.finditer(line) if found[0].startswith("`")]
    closing: dict[int, list[int]] = {}
    for at in range(len(runs) - 1, -1, -1):
        closing.setdefault(len(runs[at][0]), []).append(at)
    end = at = 0
    while at < len(runs):
        later = closing[len(runs[at][0])]
        while later and later[-1] <= at:
            later.pop()
        if not later:
            at += 1
            continue
        last = later[-1]
        yield _not_fence(_text(line[end : runs[at].start()]))
        yield _code(line[runs[at].start() : runs[last].end()], line[runs[at].end() : runs[last].start()])
        end, at = runs[last].end(), last + 1
    yield _not_fence(_text(line[end:])) if end else _text(line)


def _not_fence(text: str) -> str:
    """Return a part of a line with code, which would begin a block if the code lost its backticks. After a
    backslash no block begins, and the backslash would escape the `&`: the page would show `&#96;`."""
    return _FENCE.sub(lambda run: "&#96;" * len(run[0]), text)


def _text(text: str) -> str:
    return _ACTIVE.sub(_replacement, text)


def _replacement(found: re.Match[str]) -> str:
    words = found[0]
    if (harmless := _HARMLESS.get(words)) is not None:
        return harmless
    return words if words.startswith("http") else f"{words}&#8203;"


def _code(span: str, code: str) -> str:
    """Return code within a line. As HTML it is harmless anywhere, also outside a paragraph."""
    if not _ACTIVE_IN_CODE.search(code):
        return span
    return f"<code>{code.translate(_MARKUP)}</code>"


# Bodies: code between fences, and the Markdown of the agent; both may be cut.

_RUNS = re.compile("`+")
_LEAST_FENCE = 3


class Bounds(NamedTuple):
    head: int
    tail: int
    characters: int


_OF_BODIES = Bounds(40, 40, 400)
"""Limits for arguments and results: at most 32 kB a body, half of GitHub's limit for a comment."""
_OF_TEXTS = Bounds(300, 100, 4000)
"""Limits for what the agent wrote. A paragraph is one line."""


class Pieces(NamedTuple):
    """A text that may be cut in its middle."""

    head: SafeText
    tail: SafeText
    """The last lines; empty unless lines are left out."""
    left_out: int
    """The number of lines between the two."""

    def note(self) -> str:
        return f"*… {plural(self.left_out, 'line')} left out …*"


def pieces(text: str, bounds: Bounds, make: Callable[[str], SafeText] = page_text) -> Pieces:
    """Return the lines at the beginning and at the end of a text, each made safe by a function."""
    lines = text.strip("\n").split("\n")
    left_out = len(lines) - bounds.head - bounds.tail
    if left_out <= 1:  # the note takes a line too
        return Pieces(_safe(lines, bounds, make), SafeText(""), 0)
    tail = lines[len(lines) - bounds.tail :] if bounds.tail else []
    return Pieces(_safe(lines[: bounds.head], bounds, make), _safe(tail, bounds, make), left_out)


def fenced(text: str, language: str = "text", bounds: Bounds = _OF_BODIES) -> Iterator[str]:
    """Yield a code block, or two if the text is cut. A fence is longer than any run of its character."""
    head, tail, left_out = cut = pieces(text, bounds, exact_text)
    yield from _block(head, language)
    if left_out:
        yield from ("", cut.note(), "")
        if tail:
            yield from _block(tail, language)


def markdown(text: str, bounds: Bounds = _OF_TEXTS) -> Iterator[str]:
    """Yield the lines of a text of the agent, which is Markdown. It ends what it begins."""
    head, tail, left_out = cut = pieces(text.replace("\r\n", "\n"), bounds)
    yield from _harmless_blocks(head)
    if left_out:
        yield from ("", cut.note(), "")
        yield from _harmless_blocks(tail)


def quoted(lines: Iterator[str]) -> Iterator[str]:
    """Yield lines as a quotation, whose blocks end with it."""
    for line in lines:
        yield f"> {line}" if line else ">"


def _safe(lines: list[str], bounds: Bounds, make: Callable[[str], SafeText]) -> SafeText:
    return SafeText("\n".join(_safe_line(line, bounds.characters, make) for line in lines))


def _safe_line(line: str, most: int, make: Callable[[str], SafeText]) -> str:
    more = len(line) - most
    line = "\t".join(map(make, line[:most].split("\t")))
    return f"{line}… {plural(more, 'more character')}" if more > 0 else line


def _block(text: SafeText, language: str) -> Iterator[str]:
    longest = max(map(len, _RUNS.findall(text)), default=0)
    fence = "`" * max(longest + 1, _LEAST_FENCE)
    yield f"{fence}{language}"
    yield text
    yield fence


def _harmless_blocks(text: SafeText) -> Iterator[str]:
    """Yield the lines of a text in Markdown: code between fences as it is, the rest made harmless."""
    lines = text.split("\n")
    shown = 0
    open_fence = ""
    for token in _parser().parse(f"{text}\n"):
        if token.type != "fence" or token.map is None:
            continue
        start, end = token.map
        yield harmless(SafeText("\n".join(lines[shown : start + 1])))
        shown = min(end, len(lines))
        yield from lines[start + 1 : shown]
        is_closed = token.content.count("\n") == end - start - 2
        open_fence = "" if is_closed or token.level else token.markup
    if shown < len(lines):
        yield harmless(SafeText("\n".join(lines[shown:])))
    elif open_fence:
        yield open_fence


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    return parser.disable(["inline", "text_join", "html_block", "reference"])


# Head.

_MOST_LISTED = 20
_FINE = {Outcome.SUCCEEDED, Outcome.RETURNED}


def head(exported: Exported) -> Iterator[str]:
    session, timeline = exported.session, exported.timeline
    yield f"## {escaped(status(session, timeline.ms_at(exported.feed.offset)))}"
    yield ""
    yield "| | |"
    yield "|---|---|"
    for name, words in _facts(exported):
        yield f"| {name} | {escaped(words)} |"


def _not_fine(exported: Exported) -> Iterator[str]:
    count = 0
    for call in exported.calls():
        if call.outcome in _FINE:
            continue
        count += 1
        if count == 1:
            yield "### Calls that did not succeed"
            yield ""
        if count <= _MOST_LISTED:
            yield f"- {_number_words(call.number)} {escaped(action(call))}"
    if count > _MOST_LISTED:
        yield f"- … and {count - _MOST_LISTED:,} more"


def _number_words(number: int) -> str:
    return f"#&#8203;{number}"


def _facts(exported: Exported) -> Iterator[tuple[str, str]]:
    session, run = exported.session, exported.session.run
    yield "session", " · ".join(filter(None, (run.title, run.session_id or exported.name)))
    yield "agent", " · ".join(filter(None, (session.agent_name or session.format, run.model)))
    if run.outcome is not Outcome.RUNNING:
        yield "outcome", session.outcome_words
    elif session.outcome is not None:
        yield "outcome", f"{session.outcome} at this moment"
    yield "duration", UNKNOWN if session.duration_ms is None else duration_words(session.duration_ms)
    yield "calls", ", ".join(count_words(calls_by_outcome(session)))
    if run.cwd:
        yield "folder", run.cwd
    tokens = session.tokens
    counts = [
        f"{count:,} {name}"
        for name, count in zip(("in", "out"), (tokens.input, tokens.output), strict=True)
        if count
    ]
    if counts:
        yield "tokens", ", ".join(counts)
    if (estimate := cost_of(session)) is not None:
        yield "cost", about_dollars(estimate)
    if not exported.is_whole:
        yield "part", ", ".join(_part(exported))
    yield "secrets", "not redacted" if exported.masked is None else exported.masked


def _part(exported: Exported) -> Iterator[str]:
    timeline = exported.timeline
    if exported.start:
        yield f"from {date_and_time(timeline.ms_at(exported.start))}"
    if exported.feed.offset < timeline.size:
        yield f"until {date_and_time(timeline.ms_at(exported.feed.offset))}"
    if exported.filter_words:
        yield f"only {exported.filter_words}"
    yield plural(sum(exported.outcomes().values()), "call")


# Transcript.

_MOST_BLOCKS = 16


def prompt(text: str, bounds: Bounds = _OF_TEXTS) -> Iterator[str]:
    yield "### Prompt"
    yield ""
    yield from quoted(line for part in markdown(text, bounds) for line in part.split("\n"))


def answer(text: str, bounds: Bounds = _OF_TEXTS) -> Iterator[str]:
    yield "### Final answer"
    yield ""
    yield from markdown(text, bounds)


def _entry_lines(feed: Feed, entry: Entry) -> Iterator[str]:
    if entry.call is not None:
        yield from _call_lines(feed, entry.call)
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
            yield f"**{ending_of_turn(feed.session, entry.result).words}**{words}"
            if entry.result.text and not entry.result.is_streamed:
                yield ""
                yield from markdown(entry.result.text)


def _call_lines(feed: Feed, call: Call) -> Iterator[str]:
    """Yield the lines of a call: a summary, and what it was given and returned. A failure is open."""
    facts = [str(call.outcome)]
    if took := call_clock(call, None, ""):
        facts.append(took)
    if call.parent is not None:
        facts.append(_by(call.parent))
    sign = SIGNS[call.outcome]
    summary = f"{sign} <b>{_number_words(call.number)}</b> {escaped(action(call))} · {' · '.join(facts)}"
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
        yield from _titled("output so far", fenced(printed(call.output)))


def _section(name: str, feed: Feed, place: Place, call: Call) -> Iterator[str]:
    blocks = feed.blocks(place, call.call_id)
    for block in blocks[:_MOST_BLOCKS]:
        if _repeats_target(block, call):
            continue
        title = block_title(block)
        is_diff = isinstance(block, ChangeBlock) and bool(block.diff)
        body = fenced(whole_text(block), "diff" if is_diff else "text")
        yield from _titled(name if title in ("", name) else f"{name}: {title}", body)
    if (more := len(blocks) - _MOST_BLOCKS) > 0:
        yield ""
        yield f"*… {plural(more, 'part')} left out …*"


def _repeats_target(block: Block, call: Call) -> bool:
    if not isinstance(block, FieldsBlock) or len(block.fields) != 1:
        return False
    value = next(iter(block.fields.values()))
    return isinstance(value, str) and value in (call.target, call.path)


def _titled(title: str, lines: Iterator[str]) -> Iterator[str]:
    yield ""
    yield escaped(title)
    yield ""
    yield from lines


def _by(parent: int) -> str:
    number = _number_words(parent) if parent else "a call that the recording does not contain"
    return f"by the subagent of {number}"


_SHORTER = (Bounds(120, 40, 2000), Bounds(30, 10, 1000), Bounds(8, 4, 400), Bounds(2, 0, 200))
"""The bounds of the prompt and of the final answer; the first with which they take a quarter of the size."""
_SHARE = 4


class _Budget:
    def __init__(self, most: int | None, reserved: int) -> None:
        self.most = most
        self.reserved = reserved
        self._left = None if most is None else most - reserved

    def takes(self, data: bytes) -> bool:
        if self._left is None:
            return True
        if len(data) > self._left:
            return False
        self._left -= len(data)
        return True


class _LeftOut:
    def __init__(self) -> None:
        self.calls = self.texts = 0

    def add(self, entry: Entry) -> None:
        if entry.kind is Kind.CALL:
            self.calls += 1
        else:
            self.texts += 1

    def note(self, most: int) -> bytes:
        words = f"{plural(self.calls, 'call')} and {plural(self.texts, 'text')} are left out"
        return _encoded([f"*This document is limited to {most:,} bytes: {words}.*"])


def written(exported: Exported, choices: Choices) -> Iterator[bytes]:
    """Yield the document: the head, the prompt, the final answer, the failures, and the transcript. With
    `max_bytes` it ends before the first entry of the transcript that does not fit, and says how many calls
    and texts are left out. Raise `Fault` if not even the head fits."""
    most, left_out = choices.max_bytes, _LeftOut()
    budget = _Budget(most, _longest_note(exported, most))
    first = _encoded(head(exported))
    if not budget.takes(first):
        raise Fault(f"--max-bytes: the head alone takes {len(first) + budget.reserved} bytes", USAGE)
    yield first
    shown = set[int]()
    yield from _front(exported, budget, shown, left_out)
    is_full = False
    offsets = exported.session.transcript.offsets
    for entry in exported.entries():
        if entry.number in shown:
            continue
        if not is_full:
            data = _encoded(_entry_lines(exported.feed, entry))
            is_full = not budget.takes(data)
            if not is_full:
                yield data
        if is_full:
            left_out.add(entry)
        if choices.progress is not None:
            choices.progress(offsets[entry.number], exported.feed.offset)
    if most is not None and (left_out.calls or left_out.texts):
        yield left_out.note(most)


def _front(exported: Exported, budget: _Budget, shown: set[int], left_out: _LeftOut) -> Iterator[bytes]:
    """Yield what a reader wants first: the prompt, the final answer and the calls that did not succeed.
    `budget` is in bytes. `shown` receives the numbers of the entries that are not repeated in the transcript.
    `left_out` counts the texts that do not fit."""
    if exported.matches is None:
        first = next((entry for entry in exported.entries() if entry.kind is Kind.PROMPT), None)
        final = final_answer(exported.session)
        entries = [entry for entry in final_entries(exported.session) if exported.holds(entry)]
        texts = [(prompt, [first], first.text)] if first is not None else []
        if entries or (final and exported.session.run.is_bare):
            texts.append((answer, entries, final))
        for lines, those, text in texts:
            shown.update(entry.number for entry in those)
            data = _fitting(lines, text, budget)
            if data:
                yield data
            else:
                left_out.texts += 1
    data = _encoded(_not_fine(exported))
    if data and budget.takes(data):
        yield data


def _fitting(lines: Callable[[str, Bounds], Iterator[str]], text: str, budget: _Budget) -> bytes:
    """Return the lines of a text, cut until they take a quarter of the document; nothing if none fit."""
    for bounds in (_OF_TEXTS, *_SHORTER):
        data = _encoded(lines(text, bounds))
        if (budget.most is None or len(data) <= budget.most // _SHARE) and budget.takes(data):
            return data
    return b""


def _longest_note(exported: Exported, most: int | None) -> int:
    longest = _LeftOut()
    longest.calls, longest.texts = len(exported.session.calls), len(exported.session.transcript) + 2
    return 0 if most is None else len(longest.note(most))


def _encoded(lines: Iterable[str]) -> bytes:
    """Return the lines of a paragraph or of several, and a blank line; nothing if there are none."""
    text = "\n".join(lines)
    return f"{text}\n\n".encode() if text else b""


EXPORTER = Exporter(name="markdown", suffix=".md", write=written)
