"""Draws the animated pictures of the README and of docs/replay.md.

Each is a film of the program itself, as one SVG without scripts: what several frames share is drawn once, and
CSS keyframes show each element in its frames. A reader who prefers no motion sees one of the frames.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import NamedTuple

from rich.cells import cell_len

from drawing import machine, picture
from drawing.picture import COLUMN, Shown, mended

_CAPTION_ROWS = 2
_LINE = 24.4
"""Height of a row in Textual's SVG export, in pixels."""
_CAPTION_STYLES = {"key": "fill: #ffc473;font-weight: bold", "words": "fill: #e0e0e0"}


class Scene(NamedTuple):
    """A part of a film: the keys that begin it, the caption, its duration, and how often it is drawn."""

    keys: Sequence[str]
    key: str
    """The key, as the caption names it."""
    words: str
    seconds: float
    frames: int = 1


class Film(NamedTuple):
    """A film: how the screen is opened, its scenes, and the frame that is shown without motion."""

    opened: Callable[[], AbstractAsyncContextManager[picture.Screen | machine.Screen]]
    scenes: Sequence[Scene]
    still: int
    rows: int = 30
    """The height of the terminal."""
    settled: float = 0.36
    """The real time in which the screen shows everything that is due, in seconds."""


def _demo(shown: Shown) -> Callable[[], AbstractAsyncContextManager[picture.Screen]]:
    return partial(picture.opened, picture.Picture("demo", (120, 30), [(0, "")], shown=shown))


_TYPED = [Scene([letter], ":", "go to a moment: the box lists the marked ones", 0.4) for letter in ":pytest"]
FILMS = {
    "sessions-live": Film(
        partial(machine.opened, machine.Picture((110, 28), is_film=True)),
        [
            Scene("", "agentwatch", "lists every session of every agent on this machine", 4, 4),
            Scene("", "!", "an agent asks: its session moves to the top", 4, 4),
            Scene("", "✗", "a turn fails, and the row has the reason", 4, 4),
            Scene("", "?", "marks a state that the agent does not report: agentwatch inferred it", 4, 4),
            *([Scene("j", "j", "select a session", 0.5)] * 2),
            Scene(["enter"], "enter", "open the session and follow it", 7, 7),
            Scene("e", "e", "find the call that failed: its output is on the right", 4, 4),
            *([Scene("<", "<", "go back, call by call, while the agent works", 0.7)] * 4),
            Scene("<", "<", "the session as it was when the tests had failed", 4, 4),
            Scene("L", "L", "return to live", 2, 2),
            Scene(["escape"], "esc", "return to the list", 4, 4),
        ],
        still=11,
        rows=28,
        settled=1.0,
    ),
    "moment-playing": Film(
        _demo(Shown.REPLAY),
        [
            Scene("", "agentwatch demo", "", 0.8, 4),
            Scene("+++", "+ + +", "play eight times as fast", 5.2, 26),
            Scene(picture.BACKWARDS, "ctrl+p", "play backwards, a command of the palette", 3.4, 17),
            Scene(picture.BACKWARDS, "ctrl+p", "play forwards again", 2.2, 11),
            Scene(" ", "space", "pause", 1.8),
            *([Scene("<", "<", "to the end of the previous call", 1.6)] * 3),
            Scene([":", *"-5s", "enter"], ":", "5 seconds back: the call is running again", 2.4),
            Scene("L", "L", "return to live, and say what has happened since", 4),
        ],
        still=47,
    ),
    "moment-seeking": Film(
        _demo(Shown.SAVED),
        [
            Scene("", "agentwatch FILE", "", 1.6),
            *_TYPED,
            Scene(["down"], "↓", "select the next one", 1.2),
            Scene(["enter"], "enter", "show the session as it was then", 2.6),
            Scene("m", "m", "set a bookmark", 2.0),
            *(Scene([letter], ":", "go to half of the recorded time", 0.5) for letter in ":50%"),
            Scene(["enter"], "enter", "show the session as it was then", 2.6),
            Scene("L", "L", "return to live, and say what has happened since", 4),
        ],
        still=7,
    ),
}


class Element(NamedTuple):
    """A rectangle or a text of a frame, with its style instead of its class."""

    is_text: bool
    style: str
    rest: str


async def drawn(film: Film) -> str:
    """Return a film as one SVG without scripts."""
    first, frames, durations = "", [], []
    async with film.opened() as screen:
        clock = 0.0
        await screen.step(clock, "")
        for scene in film.scenes:
            for index in range(scene.frames):
                await screen.step(clock, scene.keys if index == 0 else (), film.settled)
                svg = mended(screen.svg())
                first = first or svg
                frames.append([*_elements(svg), *_caption(scene, film.rows)])
                durations.append(scene.seconds / scene.frames)
                clock += durations[-1]
    return _composed(first, frames, durations, film.still)


def _elements(svg: str) -> Iterator[Element]:
    """Yield the elements of an exported frame."""
    styles = dict(re.findall(r"\.terminal-\d+-(r\d+) \{ ([^}]*?);? \}", svg))
    body = svg[svg.index("-clip-terminal)") :]
    for fill, x, y, width in re.findall(
        r'<rect fill="([^"]*)" x="([^"]*)" y="([^"]*)" width="([^"]*)" height="24.65"', body
    ):
        yield Element(is_text=False, style=f"fill: {fill}", rest=f'x="{x}" y="{y}" width="{width}"')
    for name, x, y, text in re.findall(
        r'<text class="terminal-\d+-(r\d+)" x="([^"]*)" y="([^"]*)"[^>]*>([^<]*)</text>', body
    ):
        words = html.unescape(text).rstrip("\xa0\n")
        lead = len(words) - len(words.lstrip("\xa0"))
        if words:
            yield _text(styles[name], float(x) + lead * COLUMN, float(y), words[lead:])


def _text(style: str, x: float, y: float, words: str) -> Element:
    place = f'x="{x:.1f}" y="{y:.1f}" textLength="{cell_len(words) * COLUMN:.1f}"'
    return Element(is_text=True, style=style, rest=f"{place}>{html.escape(words, quote=False)}</text>")


def _caption(scene: Scene, rows: int) -> Iterator[Element]:
    """Yield the key and what it does, below the screen."""
    y = (rows + 1) * _LINE + 20
    yield _text(_CAPTION_STYLES["key"], COLUMN, y, scene.key.replace(" ", "\xa0"))
    if scene.words:
        x = COLUMN * (cell_len(scene.key) + 3)
        yield _text(_CAPTION_STYLES["words"], x, y, scene.words.replace(" ", "\xa0"))


def _composed(first: str, frames: Sequence[Sequence[Element]], durations: Sequence[float], still: int) -> str:
    """Return the film as one SVG.

    Args:
        first: The first frame, for the window around the screen.
        frames: The elements of each frame.
        durations: The duration of each frame, in seconds.
        still: The frame that is shown without motion.
    """
    shown: dict[Element, list[int]] = {}
    for index, frame in enumerate(frames):
        for element in dict.fromkeys(frame):
            shown.setdefault(element, []).append(index)
    styles = {style: f"s{n}" for n, style in enumerate(dict.fromkeys(each.style for each in shown))}
    groups: dict[tuple[int, ...], list[Element]] = {}
    for element, at in shown.items():
        groups.setdefault(tuple(at), []).append(element)
    rules, layers = [], (["<g>"], ["<g>"])
    total = sum(durations)
    starts = [100 * sum(durations[:index]) / total for index in range(len(frames))]
    for number, (indices, elements) in enumerate(groups.items()):
        attributes = ""
        if len(indices) < len(frames):
            attributes = f' class="f{number}"'
            rules.append(_rule(f"f{number}", set(indices), starts, total, is_still=still in indices))
        for is_text, layer in enumerate(layers):
            drawn = [_drawn(each, styles[each.style]) for each in elements if each.is_text == bool(is_text)]
            if drawn:
                layer.append(f"<g{attributes}>{''.join(drawn)}</g>")
    window = first[first.index("</defs>") + 7 : first.index('<g transform="translate(9, 41)"')]
    width, height = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', first)[0]
    taller = float(height) + _CAPTION_ROWS * _LINE
    window = re.sub(r'(x="1" y="1"[^>]* height=)"[^"]*"', rf'\1"{taller - 2:.1f}"', window, count=1)
    window = re.sub(r'class="terminal-\d+-title"', 'class="title"', window)
    css = [
        "text { font-family: Fira Code, monospace; font-size: 20px; white-space: pre }",
        ".title { font-size: 18px; font-weight: bold; font-family: arial }",
        "rect.r { height: 24.65px; shape-rendering: crispEdges }",
        *(f".{name} {{ {style} }}" for style, name in styles.items()),
        *rules,
        "@media (prefers-reduced-motion: reduce) { g { animation: none !important } }",
    ]
    return "\n".join(
        [
            f'<svg viewBox="0 0 {width} {taller:.1f}" xmlns="http://www.w3.org/2000/svg">',
            "<style>",
            *css,
            "</style>",
            window.strip(),
            '<g transform="translate(9, 41)">',
            *(line for layer in layers for line in (*layer, "</g>")),
            "</g>",
            "</svg>",
            "",
        ]
    )


def _drawn(element: Element, name: str) -> str:
    if element.is_text:
        return f'<text class="{name}" {element.rest}'
    return f'<rect class="r {name}" {element.rest} height="24.65"/>'


def _rule(name: str, at: set[int], starts: Sequence[float], total: float, *, is_still: bool) -> str:
    """Return the keyframes that show a group in its frames, and hide it in the others."""
    steps, was_visible = [], None
    for index, start in enumerate(starts):
        is_visible = index in at
        if is_visible is not was_visible:
            steps.append(f"{start:.2f}%{{visibility:{'visible' if is_visible else 'hidden'}}}")
        was_visible = is_visible
    base = "" if is_still else "visibility:hidden;"
    shown = f"{base}animation:{name} {total:.1f}s step-end infinite"
    return f"@keyframes {name}{{{''.join(steps)}}}.{name}{{{shown}}}"
