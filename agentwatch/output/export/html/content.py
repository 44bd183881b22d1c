"""The content of the page: calls, Markdown, command output and code as nodes, from which markup is made.

A node is a text or `[tag, detail, *children]`; the detail is the class of the element, the address of a link,
or the first number of a list. The page's script builds the same from the same lists. This is the only module
that writes markup, so it is the only one that escapes text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from agentwatch.analysis.block_text import (
    as_json,
    as_printed,
    block_text,
    error_reasons,
    field_text,
    heading,
    printed,
)
from agentwatch.analysis.diff_lines import DiffLine, compared, parsed
from agentwatch.analysis.silence import call_clock, limit_ms
from agentwatch.feed.feed import Feed
from agentwatch.session.actions import change_size
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    FilesBlock,
    FoundFile,
    MarkdownBlock,
    MatchesBlock,
    OutputBlock,
    PlanBlock,
    Reference,
    ReferencesBlock,
    Remark,
    StepsBlock,
    SubagentCall,
    TextBlock,
    TooLargeBlock,
)
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.text.amounts import plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import exact_line, exact_text, page_line, page_text
from agentwatch.text.signs import MINUS, PLAN_SIGNS, SIGNS
from agentwatch.text.times import time_of_day

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


# Long texts.

MOST = 1 << 18
"""Characters of a text that are kept. Longer ones are logs; 256 kB are 2,500 lines of 100 characters."""
_TAIL = 1 << 16
"""The part of it at the end, where a command says how it went."""
_LEAST_SHARE = 1 << 11
_NEAR = 1 << 10
"""A cut is moved to a line end that is at most this far away."""


class Kept(NamedTuple):
    head: str
    left_out: int
    """The number of characters between head and tail."""
    tail: str


def kept(text: str, most: int = MOST) -> Kept:
    """Return the head and the tail of a text; a text of at most `most` characters is all head."""
    if len(text) <= most:
        return Kept(text, 0, "")
    tail_length = min(_TAIL, most // 2)
    end, start = most - tail_length, len(text) - tail_length
    line_end = text.rfind("\n", max(end - _NEAR, 1), end)
    end = line_end + 1 if line_end > 0 else end
    line_start = text.find("\n", start, start + _NEAR) + 1
    start = line_start or start
    return Kept(text[:end], start - end, text[start:])


def share(parts: int) -> int:
    """Return the characters that are kept of each of several texts, so that all of them are not too long."""
    return max(MOST // max(parts, 1), _LEAST_SHARE)


# Colours of code.

_FAMILIES = {
    "python": "py pyi python python3",
    "posix": "sh bash zsh shell console fish",
    "curly": "c h cc cpp hpp cs csharp dart go java kt kotlin php rs rust scala swift "
    "js javascript jsx mjs cjs ts typescript tsx mts",
    "data": "json jsonc json5 ndjson jsonl",
    "settings": "yaml yml toml ini cfg conf properties env dockerfile makefile",
    "query": "sql",
    "ruby": "rb ruby ex exs elixir pl perl r jl julia",
}
_BY_NAME = {name: family for family, names in _FAMILIES.items() for name in names.split()}
_MOST_NAME = 20


def family_of_file(path: str | None) -> str:
    """Return the family of the language of a file; empty if it is unknown.

    Example:
        >>> family_of_file("src/app.py")
        'python'
    """
    name = (path or "").replace("\\", "/").rpartition("/")[2]
    return family_named(name.rpartition(".")[2])


def family_named(name: str) -> str:
    return _BY_NAME.get(name.lower(), "") if len(name) <= _MOST_NAME else ""


def coloured(name: str, family: str) -> str:
    """Return the classes of an element whose text is in a family of languages; `name` is its own class."""
    return f"{name} in-{family}" if family else name


# Nodes.

Node = Any
"""A `SafeText`, or a list of a tag, a detail and nodes, for which mypy has no type."""

_NAMES_OF_TAGS = """
a blockquote br code dd del details div dl dt em h3 h4 h5 h6 hr li ol p pre span strong summary table tbody
td th thead tr ul
"""
TAGS = frozenset(_NAMES_OF_TAGS.split())
_EMPTY = frozenset(("br", "hr"))
_ADDRESS = re.compile(r"https?://[^\s\x00-\x1f\x7f]{1,2000}\Z", re.IGNORECASE)
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def escaped(text: str) -> str:
    """Return text as it is written into markup, between tags or as the value of an attribute.

    Example:
        >>> escaped('<b a="1">')
        '&lt;b a=&quot;1&quot;&gt;'
    """
    return page_text(text).translate(_ESCAPES)


def element(tag: str, detail: str, *children: Node) -> Node:
    """Return an element; `detail` is its class, and must not come from the recording."""
    assert tag in TAGS
    return [tag, detail, *children]


def link(address: str, *children: Node) -> Node:
    """Return a link. An address that is not of the web becomes text after the children."""
    shown = page_line(address.strip())
    if _ADDRESS.match(shown) is None:
        return element("span", "", *children, *([element("span", "address", f" ({shown})")] if shown else []))
    if "".join(texts(children)).strip() == shown:
        return ["a", shown, *children]
    return element("span", "", ["a", shown, *children], element("span", "address", f" ({shown})"))


def texts(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, str):
            yield node
        else:
            yield from texts(node[2:])


def markup(nodes: Iterable[Node]) -> str:
    """Return nodes as HTML.

    Example:
        >>> markup([element("p", "note", page_text("1 < 2"))])
        '<p class="note">1 &lt; 2</p>'
    """
    return "".join(_pieces(nodes))


def _pieces(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, str):
            yield escaped(node)
            continue
        tag, detail, *children = node
        yield f"<{tag}{_attribute(tag, detail)}>"
        if tag not in _EMPTY:
            yield from _pieces(children)
            yield f"</{tag}>"


def _attribute(tag: str, detail: str) -> str:
    if tag == "a":
        return f' href="{escaped(detail)}" rel="noreferrer noopener" target="_blank"'
    if not detail:
        return ""
    return f' {"start" if tag == "ol" else "class"}="{escaped(detail)}"'


# Markdown. Raw HTML in it is text, and an image is its alt text and address.

_BLOCKS = {
    "blockquote_open": "blockquote",
    "bullet_list_open": "ul",
    "list_item_open": "li",
    "ordered_list_open": "ol",
    "paragraph_open": "p",
    **{f"{tag}_open": tag for tag in ("table", "tbody", "td", "th", "thead", "tr")},
}
_INLINE = {"em_open": "em", "s_open": "del", "strong_open": "strong"}
_MOST_LEVEL = 6
_LEVELS_ABOVE = 3
"""The headings of the page above those of a text: its title, that of the transcript, that of the entry."""
_MOST_FIRST = 999_999_999
_MOST_NESTED = 100
"""Levels of elements. orjson writes at most 254 levels of lists."""
_TRANSPARENT = ""
"""The tag of an element that becomes its children: a paragraph of a tight list, or one nested too deeply."""


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _MOST_NESTED})
    return parser.enable(["strikethrough", "table"])


def markdown_nodes(source: str) -> list[Node]:
    """Return Markdown as nodes.

    Example:
        >>> markdown_nodes("**now**")
        [['p', '', ['strong', '', 'now']]]
    """
    return _nodes(_parser().parse(page_text(source)))


def _nodes(tokens: Iterable[Token]) -> list[Node]:
    stack: list[Node] = [["div", ""]]
    links: list[str] = []
    for token in tokens:
        kind = token.type
        if kind == "inline":
            stack[-1].extend(_nodes(token.children or ()))
        elif kind == "link_open":
            links.append(str(token.attrs.get("href", "")))
            stack.append(["span", ""])
        elif kind == "link_close":
            children = stack.pop()[2:]
            stack[-1].append(link(links.pop(), *children))
        elif token.nesting > 0:
            stack.append(_opened(token) if len(stack) < _MOST_NESTED else [_TRANSPARENT, ""])
        elif token.nesting < 0:
            closed = stack.pop()
            if closed[0] == _TRANSPARENT:
                stack[-1].extend(closed[2:])
            else:
                stack[-1].append(closed)
        elif (node := _single(token)) != "":
            stack[-1].append(node)
    found: list[Node] = stack[0][2:]
    return found


def _opened(token: Token) -> Node:
    if token.hidden:
        return [_TRANSPARENT, ""]
    if token.type == "heading_open":
        return ["h" + str(min(int(token.tag[1:]) + _LEVELS_ABOVE, _MOST_LEVEL)), ""]
    if token.type == "ordered_list_open":
        first = token.attrs.get("start", 1)
        return ["ol", str(first) if isinstance(first, int) and first <= _MOST_FIRST else ""]
    if token.type in {"td_open", "th_open"}:
        align = str(token.attrs.get("style", "")).removeprefix("text-align:")
        return [_BLOCKS[token.type], align if align in {"center", "right"} else ""]
    return [_BLOCKS.get(token.type) or _INLINE.get(token.type) or "span", ""]


def _single(token: Token) -> Node:
    """Return the node of a token that has no end. An entity has become a character by now."""
    match token.type:
        case "fence" | "code_block":
            family = family_named(token.info.strip().partition(" ")[0])
            return element("pre", coloured("code", family), page_text(token.content.rstrip("\n")))
        case "code_inline":
            return element("code", "", page_line(token.content))
        case "hr":
            return element("hr", "")
        case "hardbreak":
            return element("br", "")
        case "softbreak":
            return page_text("\n")
        case "image":
            address = page_line(str(token.attrs.get("src", "")))
            return element("span", "image", f"image: {page_line(token.content)} ({address})")
    return page_text(token.content)


# Output of commands. Colours become classes; other escape sequences stay visible.

_SEQUENCE = re.compile(r"\x1b\[([0-9;]{0,40})m")
_MOST_PIECES = 4000
"""Output with more pieces of different colours is shown without colours."""
_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_STYLES = {1: "bold", 2: "dim", 3: "italic", 4: "underline"}
_EXTENDED = {38, 48}
_NUMBERS_AFTER = {5: 1, 2: 3}
"""How many numbers follow 38 or 48: `5;N` names one of 256 colours, `2;R;G;B` any colour."""


def output_nodes(foreign: str) -> list[Node]:
    """Return what a command printed as nodes of one preformatted text.

    The 16 colours that the terminal defines are kept as classes; the page has them in shades that can
    be read. Other colours are dropped.

    Example:
        >>> output_nodes("\\x1b[31m1 failed\\x1b[0m, 4 passed")
        [['span', 'red', '1 failed'], ', 4 passed']
    """
    if "\x1b[" not in foreign:
        return [exact_text(foreign)]
    pieces = [*_shell_output_pieces(foreign)]
    if len(pieces) > _MOST_PIECES:
        return [exact_text(_SEQUENCE.sub("", foreign))]
    return [element("span", names, piece) if names else piece for piece, names in pieces]


def _shell_output_pieces(foreign: str) -> Iterator[tuple[str, str]]:
    colour, styles, at = "", set[str](), 0
    for found in [*_SEQUENCE.finditer(foreign), None]:
        if piece := foreign[at : found.start() if found else len(foreign)]:
            yield exact_text(piece), " ".join([*filter(None, [colour]), *sorted(styles)])
        if found:
            at, colour = found.end(), _applied(found[1], colour, styles)


def _applied(numbers: str, colour: str, styles: set[str]) -> str:
    """Apply a sequence to the styles, and return the colour after it."""
    codes = [int(number[:9] or 0) for number in numbers.split(";")]
    at = 0
    while at < len(codes):
        code = codes[at]
        at += 1
        if code == 0:
            colour = ""
            styles.clear()
        elif code in _STYLES:
            styles.add(_STYLES[code])
        elif code == 22:
            styles -= {"bold", "dim"}
        elif code in {23, 24}:
            styles.discard("italic" if code == 23 else "underline")
        elif 30 <= code < 38 or 90 <= code < 98:
            colour = _COLOURS[code % 10]
        elif code == 39:
            colour = ""
        elif code in _EXTENDED and at < len(codes):
            kind, colour = codes[at], "" if code == 38 else colour
            if code == 38 and kind == 5 and at + 1 < len(codes) and codes[at + 1] < 16:
                colour = _COLOURS[codes[at + 1] % 8]
            at += 1 + _NUMBERS_AFTER.get(kind, 0)
    return colour


_MOST_DIFF_LINES = 5000
_MOST_PARTS = 500
"""Files of a search, steps of a subagent and fields that are shown."""
_MOST_MARKDOWN = 1 << 16
"""Characters that are parsed as Markdown; the rest is shown as it is. `![` repeated takes 0.8 s."""
_MOST_VALUE = 1 << 15
"""Characters of a field's value that are shown. Fields have fewer if there are many."""
_Part = TypeVar("_Part")
_SELF_EVIDENT = (ContentBlock, MarkdownBlock, ChangeBlock, MatchesBlock, BinaryBlock, TooLargeBlock)
_CLASSES = {"+": "added", "-": "removed", "@": "hunk", "f": "file", "\\": "hunk", " ": "same"}


def _cut_words(left_out: int) -> Node:
    return element("p", "cut", f"… {left_out:,} characters left out …")


def preformatted(
    foreign: str, name: str, made: Callable[[str], list[Node]] | None = None, most: int = MOST
) -> list[Node]:
    """Return a preformatted text, cut in its middle if it is long; `made` makes the nodes of a part."""
    make = made or (lambda piece: [exact_text(piece)])
    head, left_out, tail = kept(foreign.rstrip("\n"), most)
    if not left_out:
        return [element("pre", name, *make(head))]
    return [element("pre", name, *make(head)), _cut_words(left_out), element("pre", name, *make(tail))]


def prose(source: str, most: int = MOST) -> list[Node]:
    head, left_out, tail = kept(source, most)
    nodes = markdown_nodes(head[:_MOST_MARKDOWN])
    if rest := head[_MOST_MARKDOWN:]:
        nodes.append(element("pre", "plain", page_text(rest)))
    if left_out:
        nodes += [_cut_words(left_out), element("pre", "plain", page_text(tail))]
    return nodes


def block_nodes(block: Block, path: str | None = None) -> list[Node]:
    """Return the nodes of a block. The name of the file at `path` determines the language."""
    match block:
        case ErrorBlock():
            return preformatted(block.text, "error")
        case OutputBlock():
            stream = "output stderr" if block.stream == "stderr" else "output"
            return preformatted(printed(block.text), stream, output_nodes)
        case ContentBlock():
            return _code(block, path)
        case MarkdownBlock():
            return [element("div", "prose", *prose(exact_text(block.text)))]
        case ChangeBlock(diff=str(diff)):
            return _diff(*parsed(diff, _MOST_DIFF_LINES), path)
        case ChangeBlock():
            return _diff(*compared(block.before or "", block.after or "", _MOST_DIFF_LINES), path)
        case MatchesBlock():
            return _limited(block.files, "files", _found_file)
        case PlanBlock():
            return [_plan(block)]
        case StepsBlock():
            return _limited(block.steps, "steps", _step)
        case ReferencesBlock():
            return _limited(block.references, "results", _reference)
        case FieldsBlock():
            return [_fields_list(block.fields)]
        case TextBlock() | FilesBlock():
            return preformatted(block_text(block), "plain")
        case BinaryBlock() | TooLargeBlock():
            return [element("p", "note", exact_text(block_text(block)))]


def title(block: Block) -> str:
    """Return what a block is about; empty if that is clear from its content."""
    return "" if isinstance(block, _SELF_EVIDENT) else heading(block)


def _fields_list(fields: Mapping[str, object]) -> Node:
    items: list[Node] = []
    most = min(share(len(fields)), _MOST_VALUE)
    for name, value in islice(fields.items(), _MOST_PARTS):
        items += [element("dt", "", exact_line(name[:most])), element("dd", "", *_value(value, most))]
    if (more := len(fields) - _MOST_PARTS) > 0:
        items.append(element("dt", "", f"… {more:,} more fields"))
    return element("dl", "fields", *items)


def _value(value: object, most: int) -> list[Node]:
    shown = value if isinstance(value, str) else as_json(value, indent=2)
    head, left_out, tail = kept(shown, most)
    if "\n" not in shown and not left_out:
        return [exact_text(shown)]
    more = [_cut_words(left_out), element("pre", "plain", exact_text(tail))] if left_out else []
    return [element("pre", "plain", exact_text(head)), *more]


def _limited(parts: Sequence[_Part], noun: str, made: Callable[[_Part, int], Node]) -> list[Node]:
    """Return the first parts, each made with a limit of characters, and how many parts are missing."""
    most, more = share(len(parts)), len(parts) - _MOST_PARTS
    nodes = [made(part, most) for part in parts[:_MOST_PARTS]]
    return [*nodes, element("p", "cut", f"… {more:,} more {noun} left out")] if more > 0 else nodes


def _code(block: ContentBlock, path: str | None) -> list[Node]:
    head, left_out, tail = kept(block.text.rstrip("\n"))
    name = coloured("code", family_of_file(path))
    nodes = [_numbered(head, block.first_line, name)]
    if left_out:
        cut_lines = block.text.count("\n", 0, len(head) + left_out)
        nodes += [_cut_words(left_out), _numbered(tail, block.first_line + cut_lines, name)]
    return nodes


def _numbered(foreign: str, first: int, name: str) -> Node:
    shown = exact_text(foreign).removesuffix("\n")
    numbers = "\n".join(map(str, range(first, first + shown.count("\n") + 1)))
    return element("div", "lines", element("pre", "numbers", numbers), element("pre", name, shown))


def _diff(lines: Sequence[DiffLine], left_out: int, path: str | None) -> list[Node]:
    """Return a diff: one element for each run of lines with the same sign, and their signs in the text."""
    if not lines:
        return [element("p", "note", "no difference")]
    width = max((len(str(number)) for line in lines for number in (line.old, line.new) if number), default=0)
    parts = []
    for sign, run in groupby(lines, key=lambda line: line.sign):
        same = [*run]
        name = _CLASSES.get(sign, "same")
        numbers = "\n".join(f"{line.old or '':>{width}} {line.new or '':>{width}}" for line in same)
        lead = {"+": "+ ", "-": "− ", " ": "  "}.get(sign, "")
        shown = "\n".join(f"{lead}{line.text}" for line in same)
        gutter = [element("pre", "numbers", numbers)] if width and name not in {"hunk", "file"} else []
        parts.append(element("div", name, *gutter, element("pre", "", page_text(shown))))
    nodes = [element("div", coloured("diff", family_of_file(path)), *parts)]
    if left_out:
        nodes.append(element("p", "cut", f"… {left_out:,} more lines left out"))
    return nodes


def _found_file(file: FoundFile, most: int) -> Node:
    """Return the lines that a search found in a file: `12:` for a match, `12-` for context."""
    lines = [
        f"{'' if line.number is None else line.number}{'-' if line.is_context else ':'} "
        f"{line.text.rstrip()}{'…' if line.is_cut else ''}"
        for line in file.lines
    ]
    name = element("p", "path", exact_line(file.path or "?"))
    return element(
        "div", "found", name, *(preformatted("\n".join(lines), "plain", most=most) if lines else [])
    )


def _plan(block: PlanBlock) -> Node:
    items = (
        element("li", entry.status.value, f"{PLAN_SIGNS[entry.status]} {exact_line(entry.text)}")
        for entry in block.entries
    )
    return element("ul", "plan", *items)


def _step(step: Remark | SubagentCall, most: int) -> Node:
    if isinstance(step, SubagentCall):
        words = " ".join(filter(None, (step.phrase, step.target, step.note and f"({step.note.strip()})")))
        return element("p", f"step {step.outcome.value}", f"{SIGNS[step.outcome]} {exact_line(words)}")
    if step.is_thought:
        return element("div", "thought", *preformatted(step.text.strip("\n"), "plain", most=most))
    return element("div", "prose", *prose(exact_text(step.text), most))


def _reference(page: Reference, most: int) -> Node:
    name = exact_line(page.title or page.url or "")
    heading = link(page.url, name) if page.url else element("strong", "", name)
    body = [element("div", "prose", *prose(exact_text(page.text), most))] if page.text.strip() else []
    return element("div", "reference", element("p", "", heading), *body)


_MOST_BLOCKS = 500
_CHANGES = (ChangeBlock, ContentBlock, PlanBlock)


class CallBody:
    def __init__(self, feed: Feed, call: Call) -> None:
        self._feed = feed
        self._call = call
        place = call.arguments_place
        self._arguments = feed.blocks(place, call.call_id) if place else []
        result = feed.blocks(call.result_place, call.call_id) if call.result_place else []
        is_shell = call.kind is ToolKind.EXECUTE
        self._result = [as_printed(block) if is_shell else block for block in result]
        self._is_open_ended = call.kind in (ToolKind.MCP, ToolKind.OTHER)
        """Whether the arguments are shown, because the call has no target."""
        self._shown: set[str] = set()
        """The texts that are shown; nothing repeats them."""

    def nodes(self) -> list[Node]:
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
            nodes.append(_fields_list(rest))
            rest = {}
        if self._call.ended is None and self._call.output:
            nodes.append(element("p", "name", "output so far, its last 4,096 characters"))
            nodes += block_nodes(OutputBlock("stdout", self._call.output))
        nodes.append(element("p", "facts", self._facts()))
        rest["call_id"] = self._call.call_id
        words = plural(len(rest), "more field")
        nodes.append(element("details", "more", element("summary", "", words), _fields_list(rest)))
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
        if self._call.kind is not ToolKind.EXECUTE:
            return
        commands = (field_text(block, "command") for block in (*self._arguments, *self._result))
        command = next(filter(None, commands), self._call.target)
        if command:
            self._shown.add(command)
            yield from preformatted(f"$ {command}", "command")

    def _error(self) -> Iterator[Node]:
        for reason in error_reasons(self._call, self._result, self._shown):
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
        if isinstance(block, TextBlock) and block.text not in self._shown:
            rest[block.name] = block.text
        if not isinstance(block, FieldsBlock):
            return
        for name, value in block.fields.items():
            if isinstance(value, str) and (value in self._shown or value == self._call.error):
                continue
            shown = f"{block.name}.{name}" if name in rest else name
            rest[shown] = value

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
        return page_text(" · ".join(words))

    def _outcome(self) -> str:
        call = self._call
        words: str = call.outcome.value
        if call.exit_code is not None:
            words += f" · exit {call.exit_code}"
        elif call.outcome is Outcome.SUCCEEDED and (size := change_size(call, MINUS)):
            words += f" · {size.replace('-', '−')}"
        if call.note and call.outcome is not Outcome.FAILED:
            words += f" · {page_line(call.note)}"
        return words
