"""Random texts built from pieces of attacks pass through every output; none acts on a terminal or a runner.

1,000 texts, the same on every run. The stage `long` tries 20,000, or AGENTWATCH_EXAMPLES if that is larger.
"""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentwatch.analysis.integrity import integrity
from agentwatch.analysis.status import status
from agentwatch.cli.messages import json_without_commands, without_commands
from agentwatch.output.log import ActionLog
from agentwatch.output.summary import summary
from agentwatch.output.unknown_parts import report
from agentwatch.recording.saved import open_saved
from agentwatch.session.actions import action, brief_action, outcome_note
from agentwatch.text.safe import safe_line, safe_text
from tests.builders.lines import completed, event, init, result, session, started, user
from tests.builders.packed import mark, marks_of
from tests.builders.payloads import CLASSES, PAYLOADS
from tests.conftest import case
from tests.harness.runners import commands
from tests.harness.terminal_oracle import acting, driving, foreign
from tests.harness.viewer import watched

COUNT = max(20_000, int(os.environ.get("AGENTWATCH_EXAMPLES", "0")))
COUNTS = [1_000, pytest.param(COUNT, marks=pytest.mark.long)]
SEED = 20261120
BATCH = 100
_PIECES = [
    *("\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b_", "\x1b^", "\x1bX", "\x1b\\", "\x07", "\x9b", "\x9d"),
    *("\x9c", "\x90", "0;", "52;c;", "8;;", "?1049", "?", ">", "38;2;1;2;3", "2J", "H", "m", "l", "h", "n"),
    *("c", "6n", "$p", "t", "\r", "\n", "\r\n", "\t", "\x08", "\x00", "\x7f", "\x85", "\x0e", "\x0f", "\x1a"),
    *("\u2028", "\u2029", "\u202e", "\u2066", "\u2069", "\u200b", "\u200d", "\ufeff", "\xad", "\u061c"),
    *("\U000e0041", "\ufe0f", "\u180e", "\u0301", "\u0301" * 9, "\u20dd", "\U0001f3fd", "👩", "🇪", "日"),
    *("é", "\ud83d", "\ude00", "\uffff", "\ue000", "[", "]", "[/]", "[@click=app.quit]", "[link='", "[bold"),
    *("`", "```\n", "*", "|", "# ", "<", "&#27;", "\\", "::", "#", "##", "##[", "##vso[", "##teamcity["),
    *("error", "set-output name=a", "section_start:1:a", " ", "\xa0"),
    *('"', "{", "}", ",", ":", "a", "word", "2026-11-20T10:00:00Z ", "agentwatch: "),
]


def hostile_texts(count: int, seed: int = SEED) -> Iterator[str]:
    """Yield random texts of these pieces; every tenth has random code points, lone surrogates included."""
    chance = random.Random(seed)
    for number in range(count):
        pieces = chance.choices(_PIECES, k=chance.randint(1, 12))
        if number % 10 == 0:
            pieces += map(chr, (chance.randrange(0x110000) for _ in range(8)))
        yield "".join(pieces)


def test_the_oracle_finds_acting_payloads() -> None:
    """The oracle finds every payload with a control or invisible character between plain text."""
    names = [name for kind in CLASSES if kind != "markup" for name in CLASSES[kind]]
    assert len(names) > 100
    for name in names:
        with case(name):
            text = PAYLOADS[name]
            written = f"\x1b[1;1Hbefore{text}\x1b[2;1Hafter".encode("utf-8", "surrogatepass")
            assert bool(foreign(written, screens=0)) == bool(acting(text.replace("\r\n", "\n")))


@pytest.mark.slow
@pytest.mark.parametrize("count", COUNTS)
def test_safe_text_is_safe(count: int) -> None:
    """Safe text contains nothing that acts, a safe line is a single line, and both are safe already.

    Under a CI runner no line and no JSON contains a workflow command, and the decoded value stays the same.
    """
    for text in hostile_texts(count):
        safe, line = safe_text(text), safe_line(text)
        assert acting(safe) == acting(line) == [], ascii(text)
        assert len(line.splitlines()) <= 1, ascii(text)
        assert (safe_text(safe), safe_line(line)) == (safe, line), ascii(text)
        assert commands(without_commands(line)) == [], ascii(line)
        data = json.dumps({"result": text})
        printed = json_without_commands(data.encode()).decode()
        assert commands(printed) == [], ascii(printed)
        assert json.loads(printed) == json.loads(data)


def calls_of(texts: list[str]) -> bytes:
    """Return a run whose every string is made of the texts."""
    lines = [init(texts[0], model=texts[1], session_id=texts[2], permissionMode=texts[3]), user(texts[4])]
    for number, text in enumerate(texts):
        other, named = texts[number - 1], {text or "odd": {"error": text}}
        ends = ({"failure": {"error": text}}, {"rejected": {"reason": other}}, {"success": named}, named)
        tool = ("shell", "read", "mcp", text)[number % 4]
        arguments = {"command": text, "path": f"{text}/{other}", "toolName": other, other: text}
        lines.append(started(tool, f"c{number}", number, **{"x": text} | arguments))
        lines.append(
            completed(tool, f"c{number}", ends[number // 4 % 4], number + 1, **{"x": text} | arguments)
        )
        lines.append(event(text, other, **{f"{text}!": other}))
    return b"".join(lines)


@pytest.mark.system
@pytest.mark.parametrize("count", COUNTS)
def test_printed_text_is_safe(tmp_path: Path, count: int) -> None:
    """Actions, log, summary, integrity, status and drift of a hostile session are safe single lines."""
    path = tmp_path / "case.ndjson"
    hostile = list(hostile_texts(count))
    for number, first in enumerate(range(0, count, BATCH)):
        texts = hostile[first : first + BATCH]
        data = calls_of(texts)
        last = number % 3
        data += (
            result(texts[5], is_error=True),
            started("shell", "open", command=texts[6]),
            result(texts[7]),
        )[last]
        read = session(data, is_over=last != 1)
        log = list(ActionLog(read).new_lines(is_over=True))
        assert len(log) == 2 + len(read.ended_calls)
        shown = [*log, integrity(read).line(), status(read, 5000)]
        for call in read.calls:
            shown += [action(call), brief_action(call), outcome_note(call)]
        path.write_bytes(data)
        shown += report(open_saved(path)).lines()
        assert len(read.ended_calls) == len(texts)
        for line in shown:
            assert acting(line) == [], ascii(line)
            assert "\n" not in line, ascii(line)
        printed = b"".join(summary(read))
        assert b"\n" not in printed
        assert driving(printed.decode()) == []
        assert json.loads(printed)["outcome"] == read.outcome


@pytest.mark.system
def test_nothing_acts_on_a_terminal(tmp_path: Path) -> None:
    """A tenth of the texts, shown in the details of calls on a real terminal, do not act on it."""
    texts = list(hostile_texts(COUNT // 10, SEED + 1))
    groups = [mark("x", texts[first : first + 200]) for first in range(0, len(texts), 200)]
    calls = [
        completed("read", f"{group[0]}{n}", {"success": {"content": "\n".join(group)}}, path=group[0])
        for n, group in enumerate(groups)
    ]
    path = tmp_path / "case.ndjson"
    path.write_bytes(init() + b"".join(calls) + result("".join(texts)))
    with watched(str(path)) as viewer:
        viewer.wait_for("recording not whole")
        viewer.press("2")
        viewer.see("g3", marks_of("x", groups[0]))
        for group in groups[1:]:
            viewer.wait_for("✓ read", "2")
            viewer.see("j3", marks_of("x", group))
