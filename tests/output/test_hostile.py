"""No printed format of hostile text acts on the terminal."""

import json
import re
from typing import Any

import pytest

from agentwatch.agents.registry import agent_named
from agentwatch.analysis.block_text import block_text
from agentwatch.output.export.html.content import CallBody, texts
from agentwatch.output.export.markdown import EXPORTER, escaped
from agentwatch.output.show import call_text
from agentwatch.output.summary import summary
from agentwatch.session.actions import action, shown_action, target
from agentwatch.session.events import Outcome
from agentwatch.text.safe import safe_text
from tests.builders.exports.opened import RAW, opened, written
from tests.builders.lines import completed, init, segment, session, started
from tests.builders.payloads import HIDDEN, PAYLOADS
from tests.conftest import RECORDINGS, Saver, case
from tests.harness.program import watch
from tests.truth.test_mangled import STORIES


@pytest.mark.slow
def test_a_summary_cannot_drive_a_terminal() -> None:
    """The summary decodes to the hostile text, but its bytes contain no control or direction mark."""
    done = watch(RECORDINGS / "hostile.ndjson", "--output-format", "summary")
    assert not re.search(
        r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]", done.stdout.decode()
    )
    assert json.loads(done.stdout)["model"].startswith("Model\x1b[2J")


@pytest.mark.system
def test_no_output_of_hostile_text_drives_a_terminal() -> None:
    """Text, log and stderr of the hostile recording contain no control character."""
    path = RECORDINGS / "hostile.ndjson"
    for done in (watch(path), watch("-p", "--times", path), watch(path, "--output-format", "json")):
        assert done.stdout
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", done.stderr.decode())
    for done in (watch(path), watch("-p", "--times", path)):
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", done.stdout.decode())


def test_nothing_is_hidden_in_what_is_shown_of_a_call(recording: Saver) -> None:
    """The line of a call, the whole call, its question and both pages show each character of a command, of a
    path, a diff and a result. The transcript keeps an emoji as it is.
    """
    hidden, shown = HIDDEN
    args = {"path": f"/w/{hidden}", "oldText": "a\r\n", "newText": "a\n"}
    path = recording(
        init(),
        segment(f"So it is ☁\ufe0f {hidden}."),
        started("shell", "c", command=hidden),
        completed("shell", "c", {"success": {"exitCode": 0, "stdout": f"{hidden}\r\n"}}, command=hidden),
        completed("edit", "e", {"success": {"diffString": f"@@ -1 +1 @@\n-{hidden}\r\n+x"}}, **args),
    )
    with opened(path, RAW) as session:
        shell, edit = session.session.calls
        assert action(shell) == f"Ran terminal command {shown}"
        assert shown in target(edit)
        shell.outcome = Outcome.RUNNING
        assert shown_action(shell, "waits for you") == f"Wants to run {shown} (waits for you)"
        whole = [*map(str, call_text(session.feed, shell))]
        assert whole.count(shown) == 1
        assert f"command: {shown}" in whole
        assert f"-{shown}␍" in [*call_text(session.feed, edit)]
        for call, words in ((shell, f"$ {shown}"), (edit, f"− {shown}␍")):
            assert words in "\n".join(texts(CallBody(session.feed, call).nodes())).split("\n")
        assert [*texts(CallBody(session.feed, shell).nodes())].count(shown) == 1
    document = written(EXPORTER, path, RAW).decode()
    assert "So it is ☁ rm US ." in document
    assert document.count(escaped(shown)) == 2  # the lines of the calls
    assert document.count(shown) == 2  # the output and the diff
    assert f"-{shown}␍\n" in document


_UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_KEPT = frozenset({"type", "role", "status", "name", "kind", "call_id", "id", "timestamp"})


def hostile(value: Any, payload: str) -> Any:
    """Return a JSON value with a payload in each of its texts, apart from those that decide what it is."""
    if isinstance(value, dict):
        return {key: each if key in _KEPT else hostile(each, payload) for key, each in value.items()}
    if isinstance(value, list):
        return [hostile(each, payload) for each in value]
    return value + payload if isinstance(value, str) else value


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.system)])
def test_a_hostile_text_is_printed_safely(step: int) -> None:
    """Actions, the summary and the blocks of a call have no control characters, whatever a field contains."""
    for name, story in STORIES.items():
        lines = [json.loads(line) for line in story.splitlines()]
        for payload, text in [*PAYLOADS.items()][::step]:
            with case(f"{name}, {payload}"):
                check_printed(name, [hostile(line, text) for line in lines])


def check_printed(name: str, lines: list[Any]) -> None:
    """Check what is printed of the lines of a story."""
    read = session(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    assert len(read.calls) > 5
    for call in read.calls:
        assert not _UNSAFE.search(action(call))
    assert not _UNSAFE.search(b"".join(summary(read)).decode())
    agent = agent_named("codex" if name == "stream" else "codex-rollout")
    assert agent is not None
    for line in lines:
        for block in agent.blocks(line, ""):
            assert not _UNSAFE.search(safe_text(block_text(block)).replace("\t", ""))
