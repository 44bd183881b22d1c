"""Hostile text (escape sequences, markup, bidi controls) is displayed and has no effect."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.app import App

from agentwatch.analysis.integrity import integrity
from agentwatch.analysis.status import status
from agentwatch.output.log import ActionLog
from agentwatch.screen.panes.detail.pane import DetailView
from agentwatch.screen.panes.header import HeaderLine, StatusLine
from agentwatch.screen.panes.transcript.pane import Transcript
from agentwatch.session.blocks import BinaryBlock
from agentwatch.session.events import (
    Compaction,
    Event,
    Outcome,
    Permission,
    Prompt,
    Retry,
    RunInfo,
    RunStarted,
    ToolEnded,
    ToolKind,
    ToolProgress,
)
from agentwatch.session.session import Session
from tests.builders.captures import Captures
from tests.builders.formats.samples import MARKS, MIXED, of_a_format
from tests.builders.formats.samples import lines_of as hostile_lines
from tests.builders.lines import event
from tests.builders.made_agent import MadeSession
from tests.builders.payloads import MARKED, PAYLOADS
from tests.builders.screen.app import lines_of, opened
from tests.builders.screen.hostile import acting, check_drawn, check_panes
from tests.builders.screen.lines import answer, ended, init, prompt, started, thinking
from tests.builders.subagents import begins, ends, says
from tests.conftest import RECORDINGS, Saver, case

pytestmark = pytest.mark.slow

MARKUP = "[/x] [@click=app.quit]x[/] [link='file:///etc/passwd']p[/link] [bold red]b[/] [/] [=x] $[a]"
MARKDOWN = "@\n\n# @\n\n- @\n\n```%\n@\n```\n\n|@|b|\n|---|---|\n|c|@|\n"
OWN_TEXTS = [
    "\x1b]52;c;UFdORUQ=\x07",
    "\x1b]0;title\x1b\\",
    "\x9d0;title\x9c\x9b31m",
    "\x1b[2J\x1b[H\x1b[?1049l",
    "a\rb\x08c\x07d\x00e\x7ff\x0bg\x0ch",
    "\u202eelif\u202c \u2066x\u2069 \u200b\u200d\ufeff \u2028 \u2029 \u0085 \U000e0041",
    "\ud800 lone \udc00",
    "e" + "\u0301" * 60,
    "\x1bP$qx\x1b\\\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\\x1bc",
    MARKUP,
    "&#x202e;&#27;[31m&#155;31m",
    "`\x1b[31m` **\x1b[1m** [\x1b](\x1b]8;;x\x07) | \x9b |",
    "::set-env name=A::b",
    "\n\n\x1b[1A\x1b[2K\n",
]


def strings_in(value: object) -> Iterator[str]:
    """Yield every string in a JSON value, including keys."""
    match value:
        case str():
            yield value
        case dict():
            for key, inner in value.items():
                yield from strings_in(key)
                yield from strings_in(inner)
        case list():
            for inner in value:
                yield from strings_in(inner)


def recorded_texts() -> list[str]:
    """Return the strings of the hostile recording that hold unprintable characters or markup."""
    data = (RECORDINGS / "hostile.ndjson").read_bytes()
    found = {text for row in data.splitlines() for text in strings_in(json.loads(row))}
    return sorted(text for text in found if not text.isprintable() or "[" in text or "::" in text)


def run_of(number: int, text: str) -> bytes:
    """Return a run that contains `text` in every place where foreign text can occur."""
    session, call_id = f"{text}-{number}", f"{text}#{number}"
    path: dict[str, object] = {"path": f"{text}/{text}", text: text}
    command: dict[str, object] = {"command": text}
    server: dict[str, object] = {"providerIdentifier": text, "toolName": text, "args": {text: text}}
    edit = {"diffString": f"--- a\n+++ b\n@@ {text} @@\n-{text}\n+{text}", "linesAdded": 1}
    output = {"exitCode": 1, "stdout": text, "stderr": text, text: text}
    made = (
        init(session_id=session, model=text, cwd=text, permissionMode=text, apiKeySource=text)
        + prompt(text)
        + thinking(text)
        + answer(MARKDOWN.replace("@", text).replace("%", text[:4]))
        + started(f"r{call_id}", "read", path)
        + ended(f"r{call_id}", "read", path, {"success": {"content": text, "totalLines": 1}})
        + started(f"e{call_id}", "edit", path)
        + ended(f"e{call_id}", "edit", path, {"success": edit})
        + started(f"s{call_id}", "shell", command)
        + ended(f"s{call_id}", "shell", command, {"failure": output})
        + started(f"m{call_id}", "mcp", server)
        + ended(f"m{call_id}", "mcp", server, {"error": {"error": text}})
        + started(f"x{call_id}", f"{text}{number}", path)
        + ended(f"x{call_id}", f"{text}{number}", path, {text or "odd": {"why": text}})
        + started(f"j{call_id}", "webFetch", {"url": text})
        + ended(f"j{call_id}", "webFetch", {"url": text}, {"rejected": {"reason": text}})
        + started(f"o{call_id}", "task", {"description": text})
        + event(text, text)
        + event("connection", text)
        + text.replace("\n", " ").encode("utf-8", "surrogatepass")
        + b"\n"
    )
    return made + event("result", text, is_error=True, result=text, request_id=text, duration_ms=1)


def shell_of(text: str) -> bytes:
    """Return the start of a shell command that is still running."""
    return started(text, "shell", {"command": text})


TEXTS = list(dict.fromkeys([*OWN_TEXTS, *MARKED.values(), *recorded_texts()]))


@pytest.mark.system
@pytest.mark.parametrize("texts", [TEXTS[n::2] for n in range(2)])
async def test_hostile_text_is_drawn_and_does_nothing(recording: Saver, texts: list[str]) -> None:
    """Hostile text in any place, and in every call's detail, draws no control character; the app survives."""
    path = recording(b"".join(run_of(number, text) for number, text in enumerate(texts)))
    async with opened(path) as stage:
        transcript, detail = stage.pane("transcript"), stage.pane("detail")
        assert isinstance(transcript, Transcript)
        assert isinstance(detail, DetailView)
        assert len(stage.feed.session.runs) == len(texts)
        await stage.until(lambda: not transcript.viewport.is_unsettled, "the transcript's blocks")
        check_panes(transcript, stage.pane("calls"))
        for call in stage.feed.session.calls:
            detail.show_call(call)
            check_panes(detail)
        for keys in ("1y", "2y", "3ry"):
            await stage.press(*keys)
            check_drawn(stage)
        assert stage.app.is_running


@pytest.mark.system
async def test_hostile_facts_of_a_run_do_nothing(session_of: Callable[[bytes], Session]) -> None:
    """The header and the status line of a run made of hostile facts contain nothing that can act."""
    assert len(TEXTS) > len(MARKED) > 40
    app = App[None]()
    async with app.run_test(size=(400, 5)) as pilot:
        header, status_line = HeaderLine(), StatusLine()
        await app.screen.mount(header, status_line)
        header.styles.height = status_line.styles.height = 1
        for number, text in enumerate(TEXTS):
            run = run_of(number, text)
            unfinished = run[: run.rindex(b"\n", 0, -1) + 1]
            session = session_of((run, unfinished, init(model=text) + shell_of(text))[number % 3])
            header.show_run(session, 5000)
            status_line.show_status(status(session, 5000), status(session, 5000), integrity(session))
            await pilot.pause()
            for widget in (header, status_line):
                strip = widget.render_line(0)
                assert not acting(strip.text), strip
                assert all(not segment.style or segment.style.link is None for segment in strip)


@pytest.mark.system
async def test_markup_is_shown_as_it_is(recording: Saver) -> None:
    """Markup in the texts of a session, and in a notification, is text."""
    # Text that resembles markup is shown character by character in every place.
    text = "[/x][@click=app.quit]x[/][bold red]b[/]$[a]"
    async with opened(recording(run_of(1, text)), (200, 60)) as stage:
        assert f"› {text}" in lines_of(stage.pane("transcript"))
        for name in ("calls", "detail"):
            assert any(text in row for row in lines_of(stage.pane(name))), name
        assert text in stage.header
        assert text in stage.status
        await stage.press("2", "y")
        check_drawn(stage)
        await stage.pilot.click(stage.pane("transcript"), offset=(8, 3))
        assert stage.app.is_running
    # A notification appears while hostile text is on the screen, and the app survives.
    async with opened(recording(run_of(1, MARKUP))) as stage:
        await stage.press("2", "e", "e", "y")
        await stage.until(lambda: "copied" in stage.text(), "the message")
        check_drawn(stage)


@pytest.mark.system
async def test_the_hostile_recording_at_every_size() -> None:
    """The bundled hostile session can be shown in every pane at every size."""
    async with opened(RECORDINGS / "hostile.ndjson") as stage:
        for size in ((120, 40), (80, 24), (40, 12), (20, 6), (3, 2)):
            with case(size):
                await stage.pilot.resize_terminal(*size)
                for key in "1234":
                    await stage.press(key, "g", "G")
                    check_drawn(stage)


_TRIED = list(PAYLOADS)[::12]
"""Every 12th payload is tried. `test_hostile.py` tries others in the same renderers."""


def events_with(text: str, number: int = 0) -> list[Event]:
    """Return events that contain `text` in every place that only other agents fill."""
    task, shell, edit, open_call = (f"{name}{number}" for name in "tbex")
    asked = Permission(text, None, text, key=text, call_id=open_call, target=text)
    several = ToolEnded(
        edit, None, text, ToolKind.EDIT, Outcome.CANCELLED, text, True, text, text, parent_call=task
    )
    return [
        RunInfo(agent_version=text, agent_name=text),
        Prompt(text),
        begins(task, "Task", text),
        Prompt(text, parent_call=task),
        *says(text, task),
        *says(text, "gone"),
        several._replace(more_paths=(text, f"{text}.py")),
        begins(shell, "Bash", text, task),
        ends(shell, "Bash", task),
        Compaction(False, text),
        Compaction(True, text),
        Retry(text, 1, 2, 3),
        asked._replace(key="other"),
        asked._replace(key="other", answer=text),
        begins(open_call, "Bash", text),
        ToolProgress(open_call, None, text),
        asked,
    ]


@pytest.mark.system
@pytest.mark.parametrize("names", [_TRIED[n::3] for n in range(3)])
async def test_hostile_text_of_an_agent_is_shown(
    names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its version, subagents, questions, retries, outputs and files cannot control the terminal."""
    texts = [PAYLOADS[name] for name in names]
    events: list[Event] = [RunStarted("made-format", texts[0], texts[0], texts[0])]
    for number, text in enumerate(texts):
        events += events_with(text, number)
    made = MadeSession(events, {f"b{number}": [BinaryBlock(text, 5)] for number, text in enumerate(texts)})
    made.use(monkeypatch)
    async with opened(made.save(tmp_path / "x.ndjson"), (140, 40), follow=True) as stage:
        check_drawn(stage)
        for keys in (["f", *"agent:"], ["enter", "2", "g", "J"], ["J", "J", "i"]):
            await stage.press(*keys)
            check_drawn(stage)
        await stage.press("escape", "1")
        transcript = stage.pane("transcript")
        assert isinstance(transcript, Transcript)
        check_panes(transcript, stage.pane("detail"), stage.pane("calls"))
        for call in stage.feed.session.calls:
            transcript.reveal_call(call)
            check_drawn(stage)
        for line in ActionLog(stage.feed.session).new_lines(is_over=False):
            assert not acting(line)


_MOST_CALLS = 12


def short_of_each(captures: Captures) -> dict[str, bytes]:
    """Return a short capture of each format."""
    found = sorted(of_a_format(captures), key=lambda each: -min(len(each[1]), 60_000))
    return {name: data for _, data, name in found}


@pytest.mark.system
async def test_hostile_lines_of_every_format_are_drawn_and_do_nothing(
    captures: Captures, recording: Saver
) -> None:
    """No format has a field whose text reaches the terminal as it is."""
    for name, data in short_of_each(captures).items():
        with case(name):
            await check_hostile(recording, name, data)


async def check_hostile(recording: Saver, name: str, data: bytes) -> None:
    """Check what each pane shows of a recording with hostile text in its strings."""
    path = recording(b"\n".join(hostile_lines(data, MIXED, MARKS)) + b"\n")
    async with opened(path) as stage:
        transcript, detail = stage.pane("transcript"), stage.pane("detail")
        assert isinstance(transcript, Transcript)
        assert isinstance(detail, DetailView)
        assert stage.feed.session.format == name
        await stage.until(lambda: not transcript.viewport.is_unsettled, "the transcript's blocks")
        check_panes(transcript, stage.pane("calls"))
        for call in stage.feed.session.calls[:_MOST_CALLS]:
            detail.show_call(call)
            check_panes(detail)
        for key in "r4":  # the transcript, the calls and the raw detail are side by side, above the actions
            await stage.press(key)
            check_drawn(stage)
        assert stage.app.is_running
