"""The content of a call in the order of its worth: what happened, the facts, and the other fields folded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.analysis.block_text import (
    as_printed,
    block_text,
    block_title,
    bounded,
    error_reasons,
    field_text,
)
from agentwatch.analysis.silence import call_clock, limit_ms
from agentwatch.analysis.status import NO_WAIT, Waited
from agentwatch.feed.feed import Feed
from agentwatch.screen.panes.detail.from_blocks import MOST_LINES, BlockSections, raw_piece
from agentwatch.screen.panes.detail.json_tree import JsonTree, is_tree
from agentwatch.screen.panes.detail.section_list import Field, MoreFields
from agentwatch.screen.panes.detail.sections import Heading, Section, Signed
from agentwatch.session.actions import change_size, shown_tool, target
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    FilesBlock,
    MarkdownBlock,
    OutputBlock,
    PlanBlock,
    TextBlock,
    TooLargeBlock,
)
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.text import UNKNOWN
from agentwatch.text.amounts import plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, columns, cut, cut_middle, exact_line, safe_line
from agentwatch.text.signs import MINUS, SIGNS
from agentwatch.text.times import time_of_day

if TYPE_CHECKING:
    from agentwatch.analysis.verdicts import Verdict


# A call's outcome, duration and limit in words, for the border of the detail and below its content.

_LEAST_TARGET_COLUMNS = 8


class CallHeading(Section):
    """The row that names a call where the pane has no border, and its outcome if that is out of view."""

    def __init__(self, call: Call, waited: Waited, *, is_pinned: bool) -> None:
        super().__init__([SafeText("")], "heading")
        self._call = call
        self.waited = waited
        self._is_pinned = is_pinned
        self._width = 1
        self.has_outcome = False
        """Whether the row names the outcome too."""

    def lay_out(self, width: int, *, wraps: bool = True) -> int:
        self._width = width
        facts = SafeText(f" · {brief_facts(self._call, self.waited)}" if self.has_outcome else "")
        named = title(self._call, width - columns(facts), is_pinned=self._is_pinned)
        self.lines = [cut(SafeText(f"{named}{facts}"), width)]
        return super().lay_out(width, wraps=wraps)

    def show_outcome(self, shown: bool) -> None:
        if shown != self.has_outcome:
            self.has_outcome = shown
            self.lay_out(self._width)


def title(call: Call, width: int, *, is_pinned: bool) -> SafeText:
    """Return the number, the tool and the target of a call: `#17 edit tidepool/nearest.py`; not the command
    of a shell call, with which the content begins. `is_pinned` is for a failed call that stays open."""
    if is_pinned:
        return SafeText(f"failed call #{call.number} · esc follows")
    words = SafeText(f"#{call.number} {shown_tool(call.tool)}")
    room = width - columns(words) - 1
    about = SafeText(target(call).removeprefix(f"{exact_line(call.tool)} "))
    if call.kind is ToolKind.EXECUTE or not about or room < _LEAST_TARGET_COLUMNS:
        return words
    return SafeText(f"{words} {cut_middle(about, room) if call.path else cut(about, room)}")


def outcome_words(call: Call) -> SafeText:
    """Return the outcome in words, such as `✗ exit 1`, `✓ +8 −3` or `⊘ rejected`."""
    words: str = call.outcome
    if call.exit_code is not None:
        words = f"exit {call.exit_code}"
        if call.note and call.outcome is not Outcome.FAILED:
            words += f" · {safe_line(call.note)}"
    elif call.note and call.outcome is not Outcome.FAILED:
        words = safe_line(call.note)
    elif call.outcome is Outcome.SUCCEEDED:
        words = change_size(call, MINUS) or words
    return SafeText(f"{SIGNS[call.outcome]} {words}")


def brief_facts(call: Call, waited: Waited = NO_WAIT) -> SafeText:
    """Return the outcome and the duration, such as `✗ exit 1 · 8.6 s of 2:00`, or how long a call asks."""
    if waits := waited.words():
        return waits
    words, took, limit = outcome_words(call), call_clock(call, None), limit_ms(call)
    if took == UNKNOWN:
        return words if limit is None else SafeText(f"{words} · limit {duration_words(limit)}")
    return SafeText(f"{words} · {took}" + ("" if limit is None else f" of {duration_words(limit)}"))


def facts(call: Call, waited: Waited = NO_WAIT) -> SafeText:
    """Return the facts of a call, such as `✗ exit 1 · 8.6 s · limit 2:00 · started 14:03:07`."""
    words: list[str] = [waited.words() or outcome_words(call)]
    took, limit = call_clock(call, None), limit_ms(call)
    if took != UNKNOWN:
        words.append(took)
    if limit is not None:
        words.append(f"limit {duration_words(limit)}")
    if call.started_ms is not None:
        words.append(f"started {time_of_day(call.started_ms)}")
    return SafeText(" · ".join(words))


def verdict_words(found: Verdict) -> SafeText:
    colour = "nothing ran" if found.colour == "none" else found.colour
    return safe_line(f"{found.tool}: {colour} ({found.source}) · {found.words}")


_TITLE_COLUMNS = 40
"""A longer target may be cut in the title of the pane, so its field stays in the list of fields."""
_NAMES: dict[type[Block], str] = {
    OutputBlock: "output",
    ChangeBlock: "diff",
    MarkdownBlock: "page",
    **dict.fromkeys((BinaryBlock, TooLargeBlock), "detail"),
}
"""What `y` has copied, if that is not the title of the block."""
_INNER = ("args", "arguments", "input")
"""Fields that contain the arguments of a tool beside the names of the tool and its server."""
_Rest = tuple[Block, Block]
"""A block, and what is not shown of it yet."""


def raw_sections(call: Call, feed: Feed, made: BlockSections) -> Iterator[Section]:
    for words, place in (("started", call.started), ("described", call.described), ("ended", call.ended)):
        if place:
            heading = f"{words} · byte {place.offset:,} · {place.length:,} bytes"
            yield Section([SafeText(heading)], "heading")
            yield from made.raw(feed.line_at(raw_piece(place)), place)


class DecodedCall:
    """Divides the decoded content of a call into sections."""

    def __init__(self, call: Call, feed: Feed, made: BlockSections, waited: Waited = NO_WAIT) -> None:
        self._call = call
        self.facts = Signed([facts(call, waited)], "muted")
        self._feed = feed
        self._made = made
        arguments = call.arguments_place
        self._arguments = feed.blocks(arguments, call.call_id) if arguments else []
        result = feed.blocks(call.result_place, call.call_id) if call.result_place else []
        self._result = list(map(as_printed, result)) if call.kind is ToolKind.EXECUTE else result
        self._has_exit_codes = feed.session.traits.has_exit_codes
        self._is_open_ended = call.kind in (ToolKind.MCP, ToolKind.OTHER)
        """Whether the arguments are shown as a tree, because the call has no target."""
        self._shown: set[str] = set()
        """The texts that sections show; no other section repeats them."""
        self._fields: list[Field] = []
        """The fields that are folded."""
        self._remarks: list[TextBlock] = []
        """Texts of one line, such as the description of a command."""
        self._leads: list[Section] = []
        """The sections of what happened, which `y` copies."""
        self._errors: list[Section] = []
        """The reasons of a failure, which `y` copies if there is nothing else."""

    def show_wait(self, waited: Waited) -> None:
        self.facts.lines = [facts(self._call, waited)]

    def sections(self) -> Iterator[Section]:
        call = self._call
        yield from self._command()
        yield from self._error()
        arguments, result = list(self._rest(self._arguments)), list(self._rest(self._result))
        is_shell = call.kind is ToolKind.EXECUTE
        is_led = bool(self._shown) or any(not isinstance(block, FieldsBlock) for _, block in result)
        is_folded = is_led or not (self._is_open_ended or any(map(_has_structure, self._result)))
        if self._is_open_ended or not (result or self._shown):
            yield from self._opened(
                arguments, call.arguments_place, is_titled=self._is_open_ended and bool(result)
            )
        else:
            if call.kind in (ToolKind.EDIT, ToolKind.PLAN) and not self._errors:
                yield from self._done(arguments, result)
                result = [pair for pair in result if not self._is_remark(pair[1])]
            self._fold(arguments)
        if is_folded:
            self._fold([pair for pair in result if isinstance(pair[1], FieldsBlock)])
            result = [pair for pair in result if not isinstance(pair[1], FieldsBlock)]
        yield from self._opened(result, call.ended, is_titled=self._is_open_ended and bool(arguments))
        yield from self._output_so_far()
        if is_shell and call.exit_code is not None and not result:
            yield Section([SafeText("no output")], "muted")
        yield from self._paths()
        if self._leads and isinstance(self._leads[-1].block, PlanBlock):
            yield Section([SafeText("")])  # or the facts, which have a sign too, read like one more entry
        yield self.facts
        if is_shell:
            from agentwatch.analysis.verdict_history import call_verdict

            if (found := call_verdict(self._feed, call)) is not None:
                yield Section([verdict_words(found)], "failed" if found.is_red else "muted")
        if is_shell and call.ended is not None and call.exit_code is None and not self._has_exit_codes:
            yield Section([SafeText("exit code: not reported by this agent")], "muted")
        if call.parent is not None:
            yield Section([_parent_words(call)], "muted")
        for block in self._remarks:
            section = Section([exact_line(f"{block.name}: {block.text}")], "muted")
            section.block = block
            yield section
        self._fields.append(("call", "call_id", call.call_id))
        yield MoreFields(self._fields)

    def _done(self, arguments: list[_Rest], result: list[_Rest]) -> Iterator[Section]:
        """Yield the change or the plan of the arguments if the result is only a sentence: `File updated`."""
        if not any(isinstance(block, ChangeBlock | PlanBlock) for _, block in result):
            done = [pair for pair in arguments if isinstance(pair[1], ChangeBlock | ContentBlock | PlanBlock)]
            yield from self._opened(done, self._call.arguments_place, is_titled=False)
            said = [block for _, block in result if done and isinstance(block, ContentBlock)]
            self._fields += [("result", "content", block_text(block)) for block in said]

    def _is_remark(self, block: Block) -> bool:
        """Return whether a text of the result is folded, because it only confirms the change."""
        return isinstance(block, ContentBlock) and ("result", "content", block_text(block)) in self._fields

    def chosen(self) -> tuple[str, str]:
        """Return the name and the text of what `y` copies; both are empty if nothing follows the command."""
        leads = self._leads or self._errors
        if not leads:
            return "", ""
        kind = type(leads[0].block)
        texts = [section.text().rstrip("\n") for section in leads if type(section.block) is kind]
        return _name(leads[0].block), "\n".join(texts)

    def _output_so_far(self) -> Iterator[Section]:
        if self._call.ended is None and self._call.output:
            yield Heading(SafeText("output so far"), is_first=not self._shown and not self._leads)
            section = self._made.output(self._call.output)
            section.block = OutputBlock("stdout", self._call.output)
            self._leads.append(section)
            yield section

    def _paths(self) -> Iterator[Section]:
        """Yield the files of a call that acts on several of them, unless a list of them is shown."""
        call = self._call
        if call.more_paths and not any(isinstance(section.block, FilesBlock) for section in self._leads):
            paths = [exact_line(path) for path in (call.path, *call.more_paths) if path]
            yield Heading(SafeText(plural(len(paths), "file")), is_first=not self._shown and not self._leads)
            yield Section(paths)

    def _command(self) -> Iterator[Section]:
        if self._call.kind is not ToolKind.EXECUTE:
            return
        for block in self._arguments or self._result:
            command = field_text(block, "command")
            if command is not None:
                self._shown.add(command)
                lines, _ = bounded(command, MOST_LINES)
                section = Section([SafeText(f"$ {lines[0]}"), *lines[1:]], "strong")
                section.block, section.field = block, "command"
                yield section
                return

    def _error(self) -> Iterator[Section]:
        for text in error_reasons(self._call, self._result, self._shown):
            self._shown.add(text)
            section = Section(bounded(text, MOST_LINES)[0], "failed")
            section.block = ErrorBlock(text)
            self._errors.append(section)
            yield section

    def _rest(self, blocks: list[Block]) -> Iterator[_Rest]:
        """Yield the blocks without what is already shown, and without remarks."""
        for block in blocks:
            if isinstance(block, FieldsBlock):
                fields = {name: value for name, value in block.fields.items() if not self._is_known(value)}
                if fields:
                    yield block, FieldsBlock(block.name, fields)
            elif isinstance(block, TextBlock) and "\n" not in block.text:
                self._remarks.append(block)
            elif not isinstance(block, ErrorBlock) and block_text(block) not in self._shown:
                yield block, block

    def _is_known(self, value: object) -> bool:
        if not isinstance(value, str):
            return False
        call = self._call
        is_titled = len(call.target or "") <= _TITLE_COLUMNS and value in (call.target, call.path)
        return is_titled or value in self._shown or value == call.error

    def _fold(self, rest: list[_Rest]) -> None:
        for _, block in rest:
            if isinstance(block, FieldsBlock):
                self._fields += [(block.name, name, value) for name, value in block.fields.items()]
            elif isinstance(block, TextBlock) and block.text not in self._shown:
                self._fields.append(("arguments", block.name, block.text))

    def _opened(self, rest: list[_Rest], place: Place | None, *, is_titled: bool) -> Iterator[Section]:
        """Yield blocks in full, those with a display of their own first."""
        if place is None:
            return
        blocks = [block for _, block in rest if not isinstance(block, FieldsBlock)]
        blocks = [block for block in blocks if block_text(block) not in self._shown]
        self._shown.update(map(block_text, blocks))
        is_one = len(blocks) == 1
        titled = [
            is_titled or not (is_one or (nth == 0 and isinstance(block, OutputBlock)))
            for nth, block in enumerate(blocks)
        ]
        for section in self._made.sections(zip(blocks, titled, strict=True), place):
            if section.block is not None:
                self._leads.append(section)
            yield section
        for original, block in rest:
            if isinstance(block, FieldsBlock):
                yield from self._tree(original, block, is_titled=is_titled or bool(blocks))

    def _tree(self, original: Block, block: FieldsBlock, *, is_titled: bool) -> Iterator[Section]:
        """Yield fields as a tree; if one of them contains the arguments, the others are folded."""
        inner = next((name for name in _INNER if is_tree(block.fields.get(name))), None)
        value: object = block.fields
        if inner is not None:
            value = block.fields[inner]
            others = {name: other for name, other in block.fields.items() if name != inner}
            self._fold([(original, FieldsBlock(block.name, others))])
        tree = JsonTree(value)
        tree.block, tree.field = original, inner
        if is_titled:
            yield Heading(exact_line(block.name), is_first=not self._shown and not self._leads)
        self._leads.append(tree)
        yield tree


def _parent_words(call: Call) -> SafeText:
    by = f"of call #{call.parent}" if call.parent else "of a call that the recording does not contain"
    return SafeText(f"made by the subagent {by}")


def _has_structure(block: Block) -> bool:
    """Return whether a field has more than one value or line; the facts stand for all others."""
    values = block.fields.values() if isinstance(block, FieldsBlock) else ()
    return any(is_tree(value) or (isinstance(value, str) and "\n" in value) for value in values)


def _name(block: Block | None) -> str:
    return "detail" if block is None else _NAMES.get(type(block)) or block_title(block)
