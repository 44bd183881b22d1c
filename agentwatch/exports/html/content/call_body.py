"""What is shown of a call when it is opened: first what happened, then its facts, then all other fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentwatch.actions import change_size
from agentwatch.analysis.block_text import block_text
from agentwatch.analysis.silence import call_clock, limit_ms
from agentwatch.blocks import (
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    OutputBlock,
    PlanBlock,
    TextBlock,
)
from agentwatch.events import Outcome, ToolKind
from agentwatch.exports.html.content.blocks import block_nodes, fields_list, preformatted, title
from agentwatch.exports.html.content.nodes import Node, element, text
from agentwatch.feed import Feed
from agentwatch.session import Call
from agentwatch.text.amounts import plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import safe_line
from agentwatch.text.signs import SIGNS
from agentwatch.text.times import time_of_day

_MOST_BLOCKS = 500
_CHANGES = (ChangeBlock, ContentBlock, PlanBlock)


class CallBody:
    """The nodes of one call."""

    def __init__(self, feed: Feed, call: Call) -> None:
        """Read the lines of a call from the recording."""
        self._feed = feed
        self._call = call
        place = call.arguments_place
        self._arguments = feed.blocks(place, call.call_id) if place else []
        result = feed.blocks(call.result_place, call.call_id) if call.result_place else []
        is_shell = call.kind is ToolKind.EXECUTE
        self._result = [_printed(block) if is_shell else block for block in result]
        self._is_open_ended = call.kind in (ToolKind.MCP, ToolKind.OTHER)
        """Whether the arguments are shown, because no target stands for them."""
        self._shown: set[str] = set()
        """The texts that are shown; nothing repeats them."""

    def nodes(self) -> list[Node]:
        """Return what happened, the facts and the other fields."""
        nodes = [*self._command(), *self._error()]
        done = [block for block in self._result if not isinstance(block, FieldsBlock | ErrorBlock)]
        has_errors = any(isinstance(block, ErrorBlock) for block in self._result)
        leads = self._leads(done, has_shown=bool(nodes), has_errors=has_errors)
        if any(isinstance(block, ChangeBlock | PlanBlock) for block in leads):
            done = [block for block in done if not isinstance(block, ContentBlock)]  # only "File updated"
        nodes += self._opened([*leads, *done])
        rest: dict[str, object] = {}
        for block in (*self._arguments, *self._result):
            self._collect(block, rest)
        if rest and (self._is_open_ended or not nodes):
            nodes.append(fields_list(rest))
            rest = {}
        nodes += self._output_so_far()
        nodes.append(element("p", "facts", self._facts()))
        rest["call_id"] = self._call.call_id
        words = plural(len(rest), "more field")
        nodes.append(element("details", "more", element("summary", "", words), fields_list(rest)))
        return nodes

    def _leads(self, done: Sequence[Block], *, has_shown: bool, has_errors: bool) -> list[Block]:
        """Return the blocks of the arguments that show what happened, as the change of an edit does."""
        blocks: list[Block] = []
        blocks += (each for each in self._arguments if not isinstance(each, FieldsBlock | ErrorBlock))
        if self._is_open_ended or not (done or has_shown):
            return blocks
        is_repeated = any(isinstance(block, ChangeBlock | PlanBlock) for block in done)
        if has_errors or is_repeated or self._call.kind not in (ToolKind.EDIT, ToolKind.PLAN):
            return []
        return [block for block in blocks if isinstance(block, _CHANGES)]

    def _command(self) -> Iterator[Node]:
        """Yield the command of a shell call as it is typed."""
        if self._call.kind is not ToolKind.EXECUTE:
            return
        commands = (_field(block, "command") for block in (*self._arguments, *self._result))
        command = next(filter(None, commands), self._call.target)
        if command:
            self._shown.add(command)
            first, *more = preformatted(f"$ {command}", "command")
            yield from (first, *more)

    def _error(self) -> Iterator[Node]:
        """Yield the reason of a failure, unless it is the exit code or the output."""
        call = self._call
        output = "\n".join(block.text for block in self._result if isinstance(block, OutputBlock))
        reasons = [block.text for block in self._result if isinstance(block, ErrorBlock)]
        for reason in [*reasons, call.error or ""]:
            known = reason.strip().removesuffix("…")
            is_exit = reason == f"exit {call.exit_code}"
            if not known or is_exit or known in output or any(known in shown for shown in self._shown):
                continue
            self._shown.add(reason)
            yield from preformatted(reason, "error")

    def _opened(self, blocks: Sequence[Block]) -> Iterator[Node]:
        for block in blocks[:_MOST_BLOCKS]:
            shown = block_text(block)
            if shown in self._shown:
                continue
            self._shown.add(shown)
            is_titled = len(blocks) > 1 or isinstance(block, TextBlock)
            named = title(block) if is_titled else ""
            if named and named != "stdout":
                yield element("p", "name", named)
            yield from block_nodes(block, self._call.path)
        if len(blocks) > _MOST_BLOCKS:
            yield element("p", "cut", f"… {len(blocks) - _MOST_BLOCKS:,} more blocks left out")

    def _collect(self, block: Block, rest: dict[str, object]) -> None:
        """Add the fields of a block that nothing else shows."""
        if isinstance(block, TextBlock) and block.text not in self._shown:
            rest[block.name] = block.text
        if not isinstance(block, FieldsBlock):
            return
        for name, value in block.fields.items():
            if isinstance(value, str) and (value in self._shown or value == self._call.error):
                continue
            shown = f"{block.name}.{name}" if name in rest else name
            rest[shown] = value

    def _output_so_far(self) -> Iterator[Node]:
        if self._call.ended is None and self._call.output:
            yield element("p", "name", "output so far, its last 4,096 characters")
            yield from block_nodes(OutputBlock("stdout", self._call.output))

    def _facts(self) -> Node:
        """Return what is known about the call: `✗ exit 1 · 8.6 s · limit 2:00 · started 14:03:07`."""
        call = self._call
        words = [f"{SIGNS[call.outcome]} {self._outcome()}"]
        if took := call_clock(call, self._feed.session.last_seen_ms, ""):
            words.append(took)
        if (limit := limit_ms(call)) is not None:
            words.append(f"limit {duration_words(limit)}")
        if started := time_of_day(call.started_ms, ""):
            words.append(f"started {started}")
        if call.parent is not None:
            by = f"#{call.parent}" if call.parent else "a call that the recording does not contain"
            words.append(f"made by the subagent of {by}")
        is_unsaid = call.kind is ToolKind.EXECUTE and call.ended is not None and call.exit_code is None
        if is_unsaid and not self._feed.session.traits.has_exit_codes:
            words.append("exit code: not reported by this agent")
        return text(" · ".join(words))

    def _outcome(self) -> str:
        call = self._call
        words: str = call.outcome.value
        if call.exit_code is not None:
            words += f" · exit {call.exit_code}"
        elif call.outcome is Outcome.SUCCEEDED and (size := change_size(call)):
            words += f" · {size.replace('-', '−')}"
        if call.note and call.outcome is not Outcome.FAILED:
            words += f" · {safe_line(call.note)}"
        return words


def _printed(block: Block) -> Block:
    """Return a block of a command's result: a result that is only a text does not say that it was printed."""
    return OutputBlock("stdout", block.text) if isinstance(block, ContentBlock) else block


def _field(block: Block, name: str) -> str | None:
    if isinstance(block, TextBlock):
        return block.text if block.name == name else None
    value = block.fields.get(name) if isinstance(block, FieldsBlock) else None
    return value if isinstance(value, str) and value else None
