"""Syntax highlighting, computed for the visible lines and a few around them."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from operator import itemgetter
from threading import Timer
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.style import Style
from textual.cache import LRUCache
from textual.color import Color
from textual.theme import Theme

from agentwatch.screen.terminal.themes import readable_on
from agentwatch.screen.widgets.folding import Run
from agentwatch.text.safe import SafeText

if TYPE_CHECKING:
    from rich.syntax import SyntaxTheme


_CHUNK = 64
"""Lines that are highlighted together, which takes 3 ms."""
_BEFORE = 32
"""Lines above a chunk that are lexed with it, to recognise what began there, such as a docstring."""
_MOST_COLOURED = 1 << 14
"""The longest chunk that is coloured: a page of a minified file would take half a second."""
_KEPT_CHUNKS = 32

_LOAD_AFTER_SECONDS = 0.05
"""The time between the first use of a language and its loading, in which the frame is drawn. If both ran at
once, the first text of a file would be shown 17 ms later."""

Passages = Callable[[range], Iterable[Sequence[int]]]
"""Yields, for a range of lines, groups of line numbers that form one text and are lexed together."""


class CodeStyle(NamedTuple):
    """How a file is highlighted: the name or path that determines the language, and the theme."""

    name: str
    theme: str
    ground: Style
    redraw: Callable[[], object] | None = None
    """Called in a thread once the language is loaded; None loads the language at once."""


def code_theme(theme: Theme) -> str:
    """Return the code theme for a theme of the screen, of Pygments, or of Rich for 16 colours. The light one
    has blue and purple words: red and green mark changes in a diff."""
    if theme.ansi:
        return "ansi_dark" if theme.dark else "ansi_light"
    return "github-dark" if theme.dark else "sas"


class SyntaxColours:
    """The syntax colours of lines of code. A line in two texts has its colours from the last one."""

    def __init__(
        self, lines: Sequence[SafeText], code: CodeStyle, passages: Passages = lambda window: [window]
    ) -> None:
        self._lines = lines
        self._code = code
        self._passages = passages
        self._theme: SyntaxTheme | None = None
        self._lexer: Any = None
        self._styles: dict[Any, Style] = {}
        """The styles by token type; creating them for each word would cost more than lexing the words."""
        self._chunks: LRUCache[int, dict[int, list[Run]]] = LRUCache(_KEPT_CHUNKS)

    @property
    def is_known(self) -> bool:
        if self._theme is None:
            name = self._code.name
            if not has_loaded(name.rpartition(".")[2], partial(_lexer_for, name), self._code.redraw):
                return False
            from rich.syntax import Syntax  # with pygments: 7 ms

            self._theme, self._lexer = Syntax.get_theme(self._code.theme), _lexer_for(self._code.name)
        return self._lexer is not None

    def runs(self, number: int, tint: Style | None = None) -> list[Run]:
        """Return the colours of a line, readable on `tint`, a background laid over that of the pane."""
        if not self.is_known:
            return []
        chunk = self._chunks.get(number // _CHUNK)
        if chunk is None:
            chunk = self._chunks[number // _CHUNK] = self._coloured(number // _CHUNK * _CHUNK)
        ground = self._code.ground + tint
        return [(start, end, legible(own, ground)) for start, end, own in chunk.get(number, [])]

    def _coloured(self, first: int) -> dict[int, list[Run]]:
        last = min(first + _CHUNK, len(self._lines))
        before = max(first - _BEFORE, 0)
        while before < first and sum(map(len, self._lines[before:last])) > _MOST_COLOURED:
            before = (before + first + 1) // 2
        if sum(map(len, self._lines[before:last])) > _MOST_COLOURED:
            return {}
        found: dict[int, list[Run]] = {}
        for numbers in self._passages(range(before, last)):
            found |= zip(numbers, self._lexed([self._lines[number] for number in numbers]), strict=False)
        return found

    def _lexed(self, lines: Sequence[SafeText]) -> list[list[Run]]:
        assert self._theme is not None
        found: list[list[Run]] = [[]]
        at = 0
        for kind, token in self._lexer.get_tokens("\n".join(lines)):
            own = self._styles.get(kind)
            if own is None:
                style = self._theme.get_style_for_token(kind)
                own = self._styles[kind] = Style(color=style.color, bold=style.bold, italic=style.italic)
            for nth, piece in enumerate(token.split("\n")):
                if nth:
                    found.append([])
                    at = 0
                if piece.strip():
                    found[-1].append((at, at + len(piece), own))
                at += len(piece)
        return found


@lru_cache(4096)
def legible(text: Style, ground: Style) -> Style:
    """Return a style whose text can be read on the background: Pygments themes assume a white or black one.
    The 16 colours that the terminal defines stay: their values are unknown."""
    if (
        text.color is None
        or ground.bgcolor is None
        or text.color.is_system_defined
        or ground.bgcolor.is_default
    ):
        return text
    shade = readable_on(Color.from_rich_color(text.color), Color.from_rich_color(ground.bgcolor))
    return text + Style(color=shade.rich_color)


def has_loaded(language: str, load: Callable[[], object], redraw: Callable[[], object] | None) -> bool:
    """Return whether a language is loaded; otherwise load it in a thread, then redraw. Without `redraw` the
    caller loads it."""
    return redraw is None or _language(language).has_loaded(load, redraw)


class _Language:
    """The language of files or fences: its first lexer takes 65 ms, as it compiles 100 patterns."""

    def __init__(self) -> None:
        self._is_loaded = False
        self._waiting: set[Callable[[], object]] | None = None

    def has_loaded(self, load: Callable[[], object], redraw: Callable[[], object]) -> bool:
        if not self._is_loaded:
            if self._waiting is not None:
                self._waiting.add(redraw)
            else:
                self._waiting = {redraw}
                loading = Timer(_LOAD_AFTER_SECONDS, self._load, (load,))
                loading.name, loading.daemon = "language", True
                loading.start()
        return self._is_loaded

    def _load(self, load: Callable[[], object]) -> None:
        import rich.syntax  # noqa: F401 - with pygments: 7 ms

        load()
        self._is_loaded = True
        with suppress(RuntimeError):  # the app has ended
            for redraw in list(self._waiting or ()):
                redraw()


@lru_cache(256)
def _language(_name: str) -> _Language:
    return _Language()


def _lexer_for(name: str) -> Any:
    lexer = _lexer_class(name.replace("\\", "/").rpartition("/")[2])
    return None if lexer is None else lexer(stripnl=False, ensurenl=False)


@lru_cache(256)
def _lexer_class(name: str) -> Any:
    """Return the Pygments lexer for the last part of a file name. `find_lexer_class_for_filename` compiles
    850 patterns and searches all packages for plug-ins: 110 ms at the first name, without a frame."""
    from pygments.lexers import find_lexer_class  # type: ignore[import-untyped]

    languages, others = _languages()
    patterns = [name, *(f"*{name[at:]}" for at, char in enumerate(name) if char == ".")]
    patterns += [pattern for pattern in others if fnmatchcase(name, pattern)]
    found = [
        (lexer.priority + (0 if "*" in pattern else 0.5), lexer.__name__, lexer)
        for pattern in patterns
        for lexer in map(find_lexer_class, languages.get(pattern, ()))
    ]
    return max(found, key=itemgetter(0, 1))[2] if found else None


@lru_cache(1)
def _languages() -> tuple[dict[str, list[str]], list[str]]:
    from pygments.lexers import get_all_lexers

    found: dict[str, list[str]] = {}
    for language, _, patterns, _ in get_all_lexers(plugins=False):
        for pattern in patterns:
            found.setdefault(pattern, []).append(language)
    return found, [pattern for pattern in found if set("*?[") & set(pattern.removeprefix("*."))]
