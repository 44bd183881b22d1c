"""A format that is wrong fails the check, with a message that names the function, the line and the field."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents import Agent, LineRole
from agentwatch.agents.fields import Fields, text
from agentwatch.agents.registry import agent_named
from agentwatch.api.check_agent import check_agent, problem_of
from agentwatch.session.blocks import Block, FieldsBlock
from agentwatch.session.events import (
    Channel,
    Event,
    Outcome,
    Prompt,
    RunStarted,
    Text,
    ToolEnded,
    ToolKind,
    ToolStarted,
    Traits,
    TurnEnded,
    Unknown,
)
from tests.builders.formats.plugin import EXAMPLE, STREAM, TEST, install
from tests.builders.lines import init, user
from tests.conftest import case

LINES = STREAM.splitlines()


class Decoder:
    """Decodes the lines of Tern, with a part that a test replaces."""

    def __init__(self, decode: Callable[[Fields], list[Event]], end: Callable[[], list[Event]]) -> None:
        self.decode, self.end = decode, end


def good(fields: Fields) -> list[Event]:
    """Return the events of a line, whatever is in it."""
    match text(fields, "ev"):
        case "say":
            return [Text(Channel.ANSWER, text(fields, "text") or "")]
        case "run":
            call_id = text(fields, "id") or ""
            return [ToolStarted(call_id, None, "run", ToolKind.EXECUTE, "Ran", text(fields, "cmd"))]
        case "bye":
            return [TurnEnded(Outcome.SUCCEEDED)]
    return [Unknown("event")]


def tern(decode: Callable[[Fields], Any] = good, end: Callable[[], Any] = list, **parts: Any) -> Agent:
    """Return a format with some parts of its own."""
    own: dict[str, Any] = {
        "name": "tern",
        "recognises": lambda fields: fields.get("tern") == 1,
        "role": lambda fields: LineRole.OTHER,
        "decoder": lambda: Decoder(decode, end),
        "blocks": lambda fields, call_id: [],
        "traits": Traits(),
    }
    return Agent(**own | parts)


def test_a_correct_format_passes() -> None:
    """A format that treats every field as foreign passes, with texts or an open file as its lines."""
    check_agent(tern(), LINES)
    check_agent(tern(), (line.decode() for line in [*LINES, b"", b"no JSON", b"[]"]))


@pytest.mark.system
@pytest.mark.slow
def test_the_example_of_the_documentation_passes() -> None:
    """The complete format in `docs/plugins.md` passes."""
    names: dict[str, Any] = {}
    exec(EXAMPLE, names)
    check_agent(names["AGENT"], LINES)


@pytest.mark.system
@pytest.mark.slow
def test_the_test_of_the_documentation_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test in `docs/plugins.md` passes for the format there."""
    monkeypatch.syspath_prepend(install(tmp_path))
    monkeypatch.chdir(tmp_path)
    Path("session.jsonl").write_bytes(STREAM)
    names: dict[str, Any] = {}
    exec(TEST, names)
    names["test_format"]()
    del sys.modules["tern_format"]


def upper(fields: Fields) -> list[Event]:
    """Expect a text in a field."""
    return [Text(Channel.ANSWER, fields["text"].upper())] if fields.get("ev") == "say" else good(fields)


def foreign(fields: Fields) -> list[Event]:
    """Pass a foreign value on."""
    code: Any = fields.get("code")
    end = ToolEnded("t-1", None, "run", ToolKind.EXECUTE, Outcome.FAILED, "Ran", exit_code=code)
    return [end] if fields.get("ev") == "ran" else good(fields)


def recursive(fields: Fields) -> list[Event]:
    """Fail for a value that is nested deeply."""
    value, depth = fields.get("text"), 0
    while isinstance(value, list) and value:
        value, depth = value[0], depth + 1
    if depth > 100:
        raise RecursionError("too deep")
    return good(fields)


def quadratic(fields: Fields) -> list[Event]:
    """Count the words of a text, in quadratic time."""
    words = fields.get("text")
    if isinstance(words, str):
        for at in range(0, len(words), 8):
            words[at:].count("zz")
    return good(fields)


class Growing:
    """A decoder that looks through all earlier lines at each line."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def decode(self, fields: Fields) -> list[Event]:
        self._lines.append(str(len(self._lines)))
        for _ in range(40):
            self._lines.count("x")
        return good(fields)

    def end(self) -> list[Event]:
        """Return nothing."""
        return []


SEEN: list[int] = []


def counting(fields: Fields) -> list[Event]:
    """Return events that depend on what other decoders have read."""
    SEEN.append(1)
    return [*good(fields), Text(Channel.ANSWER, str(len(SEEN)))]


def strange_end() -> list[Any]:
    """Return something that is not an event."""
    return ["end"]


def key_error(fields: Fields, _call_id: str) -> Iterable[Block]:
    """Expect a field in each line with a call."""
    return [FieldsBlock("command", {"cmd": fields["cmd"]})] if fields.get("ev") == "run" else []


WRONG: list[tuple[str, Agent]] = [
    ("decode raised KeyError: 'text' (line 3 without text)", tern(upper)),
    ("wrong event: ToolEnded.exit_code is True, not int | None (line 5 with code = true)", tern(foreign)),
    ("raised RecursionError: too deep (line 2 with text = an array)", tern(recursive)),
    ("two decoders return different events for the same lines (line 1)", tern(counting)),
    ("end returned a wrong event: str is not an event", tern(end=strange_end)),
    ("end raised TypeError", tern(end=lambda: None)),
    ("blocks raised KeyError: 'cmd' (line 4 without cmd)", tern(blocks=key_error)),
    ("blocks returned a dict, which is not a block", tern(blocks=lambda fields, call_id: [{}])),
    ("recognises returned a NoneType, not bool", tern(recognises=lambda fields: None)),
    ("recognises returns False for every line", tern(recognises=lambda fields: "fin" in fields)),
    ("role returned a str, not LineRole", tern(role=lambda fields: "start")),
    ("time_of returned a str, not int | None", tern(time_of=lambda fields: "now")),
    ("may_write returned a int, not bool", tern(may_write=lambda fields: 1)),
    ("unknown_fields raised TypeError", tern(unknown_fields=lambda fields: None)),
    ("unknown_fields yielded a name that is not a text", tern(unknown_fields=lambda fields: [(1, 2)])),
    ("every line of the sample is Unknown", tern(lambda fields: [Unknown("line")])),
]


SLOW: list[tuple[str, Agent]] = [
    ("its functions take ", tern(quadratic)),
    ("more than linear time", tern(decoder=Growing)),
]


def check_fails(words: str, agent: Agent, lines: list[bytes]) -> None:
    """Check that a format fails the check, in words that show where."""
    SEEN.clear()
    with case(words):
        with pytest.raises(AssertionError) as raised:
            check_agent(agent, lines)
        assert str(raised.value).startswith("format tern: ")
        assert words in str(raised.value)


@pytest.mark.slow
def test_a_wrong_format_fails() -> None:
    """Each mistake fails the check, in words that show where."""
    for words, agent in WRONG:
        check_fails(words, agent, LINES)


@pytest.mark.costs
def test_a_format_that_takes_long_fails() -> None:
    """A line of quadratic time, and lines of quadratic time, fail the check."""
    for words, agent in SLOW:
        check_fails(words, agent, LINES * (30 if agent.decoder is Growing else 1))


def test_wrong_samples_fail() -> None:
    """A sample has a line of JSON, and none of a built-in format; a field of another type than its class
    declares is found.
    """
    with pytest.raises(AssertionError, match="no line of the sample is a JSON object"):
        check_agent(tern(), [b"text", b"[1]"])
    with pytest.raises(AssertionError, match="line 1 is recognised by the built-in format cursor"):
        check_agent(tern(recognises=lambda fields: True), [init(), user()])
    for event, problem in TYPES:
        with case(event):
            found = problem_of(event)
            assert found is None if problem is None else problem in (found or "")


WORDS: Any = "answer"
NUMBERS: Any = (1,)


TYPES: list[tuple[Any, str | None]] = [
    (Prompt("Hi"), None),
    (RunStarted("tern", model=None), None),
    (TurnEnded(Outcome.CANCELLED), None),
    (TurnEnded(Outcome.RETURNED), "TurnEnded.outcome is returned, not one of succeeded, failed, cancelled"),
    (Text(Channel.ANSWER, "a", times_ms=[1, 2]), None),
    (Text(Channel.ANSWER, "a", times_ms=[WORDS]), "Text.times_ms is a list, not"),
    (Text(WORDS, "a"), "Text.channel is 'answer', not Channel"),
    (Text(Channel.ANSWER, "a", at_ms=True), "Text.at_ms is True, not int | None"),
    (
        ToolEnded("a", None, "b", ToolKind.OTHER, Outcome.FAILED, "c", more_paths=NUMBERS),
        "more_paths is a tuple",
    ),
    ("a", "str is not an event"),
]


@pytest.mark.slow
def test_a_built_in_format_passes() -> None:
    """The format of Cursor passes, with any lines of it."""
    cursor = agent_named("cursor")
    assert cursor is not None
    check_agent(cursor, [init(), user("Hi there")])
