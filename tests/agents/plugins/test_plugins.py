"""Formats of other packages are found by their entry points, and one that fails is reported once."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentwatch.agents import Agent, Decoder, LineRole, plugins
from agentwatch.agents.plugins import GROUP
from agentwatch.agents.registry import agent_named, detect
from agentwatch.analysis.block_text import block_text
from agentwatch.session.events import Notice, Outcome
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.formats.plugin import EXAMPLE, STREAM, Installer, install
from tests.builders.lines import init, session, started

RENAMED = EXAMPLE.replace('name="tern"', 'name="gull"')


def forget() -> None:
    """Forget all plugins, so that they are looked for again."""
    GROUP.problems.clear()
    vars(GROUP).pop("points", None)
    plugins.plugin_agent.cache_clear()
    for name in ("tern_format", "gull_format"):
        sys.modules.pop(name, None)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installer]:
    """Return a function that installs a format for this test."""

    def add(source: str = EXAMPLE, *, name: str = "tern", value: str = "") -> None:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        monkeypatch.syspath_prepend(install(folder, source, name=name, value=value))
        forget()

    forget()
    yield add
    forget()


def notices(read: Session) -> list[str]:
    return [entry.text for entry in read.transcript if entry.kind is Kind.NOTICE]


def test_a_stream_is_read_in_the_format_of_a_plugin(installed: Installer) -> None:
    """The documentation's example decodes runs, prompts, texts, calls and ends; the detail and the preview
    use its functions.
    """
    installed()
    read = session(STREAM)
    [call] = read.calls
    assert (read.format, read.outcome, read.text, read.run.turns) == ("tern", "succeeded", "One failed.", 1)
    assert (call.target, call.outcome, call.exit_code) == ("pytest -q", Outcome.FAILED, 1)
    assert (read.lines.unknown, GROUP.problems) == (0, [])
    installed()
    decoder = Decoder(agent_named("tern"))
    lines = STREAM.splitlines()
    assert [block_text(block) for block in decoder.blocks(lines[4], "t-1")] == [
        "tern: 1\nev: ran\nid: t-1\ncode: 1"
    ]
    assert [decoder.role(line) for line in lines[:4]] == [
        LineRole.START,
        LineRole.START,
        LineRole.OTHER,
        LineRole.CALL,
    ]
    installed()
    agent = agent_named("tern")
    assert isinstance(agent, Agent)


def test_a_plugin_is_asked_about_what_no_other_format_reads(
    installed: Installer, session_of: Callable[[bytes], Session]
) -> None:
    """It is found by its name, and asked about the first lines of no built-in format."""
    # A plugin that claims every line gets no line of a built-in format, and is not even imported for one.
    # A run of a built-in format in the recording of a plugin's format is read in its own format.
    installed(EXAMPLE.replace('return fields.get("tern") == 1 and', "return True or"))
    assert session(init(), started("read"), b'{"mood":"good"}\n').format == "cursor"
    assert "tern_format" not in sys.modules
    assert session(b'{"mood":"good"}\n').format == "tern"
    installed()
    read = session(STREAM, init(), started("read"))
    assert (read.format, len(read.runs)) == ("cursor", 2)
    # After 50 lines of no known agent, the formats of other packages are not asked any more.
    installed()
    assert session_of(b'{"mood":"good"}\n' * 49 + STREAM).format == "tern"
    assert session_of(b'{"mood":"good"}\n' * 50 + STREAM).format is None
    # A plugin's format has the name of its entry point. Listing the names imports nothing.
    installed()
    assert GROUP.names() == ["tern"]
    assert "tern_format" not in sys.modules
    found = agent_named("tern")
    assert found is not None
    assert found.name == "tern"
    assert agent_named("gull") is None


@pytest.mark.parametrize(
    ("source", "value", "problem"),
    [
        ("import no_such_module", "", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(3)", "", "SystemExit: 3"),
        ("AGENT = 7", "", "tern_format:AGENT is not an agentwatch.agents.Agent"),
        ("AGENT = None", "", "tern_format:AGENT is None"),
        ("AGENT = 7", "tern_format:OTHER", "AttributeError: module 'tern_format' has no attribute 'OTHER'"),
        (
            EXAMPLE.replace('name="tern"', 'name="gull"'),
            "",
            "its agent has another name than its entry point",
        ),
        (
            EXAMPLE.replace("traits=Traits(has_times=False)", "traits=7"),
            "",
            "tern_format:AGENT is not an agentwatch.agents.Agent",
        ),
        ("class E(Exception):\n    def __str__(self):\n        raise E\nraise E", "", "E"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_reported(
    source: str, value: str, problem: str, installed: Installer
) -> None:
    """A plugin that cannot be imported, or is not an agent, is a notice; the stream is of no known agent."""
    installed(source, value=value)
    read = session(STREAM)
    assert GROUP.problems == [f"format plugin tern: {problem}"]
    assert notices(read)[0] == GROUP.problems[0]
    assert (read.format, read.lines.unknown) == (None, 7)
    assert agent_named("tern") is None
    assert GROUP.problem_of("tern") == GROUP.problems[0]


@pytest.mark.parametrize("part", ["recognises=recognises", "role=role", "decoder=TernDecoder"])
def test_a_function_that_raises_is_reported_once(part: str, installed: Installer) -> None:
    """A plugin whose functions raise is not asked again, and every line is counted."""
    name = part.partition("=")[0]
    installed(EXAMPLE.replace(part, f"{name}=lambda *given: 1 / 0"))
    read = session(STREAM)
    decoder = Decoder(agent_named("tern"))
    assert decoder.role(STREAM.splitlines()[0]) is LineRole.OTHER
    assert GROUP.problems == ["format plugin tern: ZeroDivisionError: division by zero"]
    assert read.lines.total == 7


@pytest.mark.parametrize(
    "broken",
    ["return 1 / 0", "return [7]", "return 7", "return None", "yield 1 / 0", "raise SystemExit"],
)
def test_a_decoder_that_fails_is_reported_once(broken: str, installed: Installer) -> None:
    """Lines that the decoder of a plugin fails at are unknown; the notice is in the transcript once."""
    installed(EXAMPLE.replace('match fields.get("ev"):', f"{broken}\n        match fields:"))
    read = session(STREAM)
    assert len(GROUP.problems) == 1
    assert notices(read).count(GROUP.problems[0]) == 1
    assert (read.format, read.lines.unknown) == ("tern", 7)


def test_the_other_functions_of_a_plugin(installed: Installer) -> None:
    """They are used if they are valid, and may fail."""
    # Blocks, times, unknown fields and the end of a plugin's format may raise or have a wrong type.
    more = "time_of=lambda fields: 1 / 0, unknown_fields=lambda fields: 1 / 0,"
    installed(EXAMPLE.replace("traits=", f"{more} traits=").replace("return []", "return 7"))
    agent = agent_named("tern")
    assert agent is not None
    assert agent.time_of is not None
    assert agent.unknown_fields is not None
    assert agent.time_of({}) is None
    assert list(agent.unknown_fields({})) == []
    assert agent.decoder().end() == []
    assert list(agent.blocks({}, "")) == []
    assert len(GROUP.problems) == 1
    # The times and the unknown fields of a plugin's format are those that it returns, if they are valid.
    more = 'time_of=lambda fields: fields.get("at"), unknown_fields=lambda fields: [("field x", 1)],'
    installed(EXAMPLE.replace("traits=", f'{more} agent="tern-2", reworded=b"x", traits='))
    agent = agent_named("tern")
    assert agent is not None
    assert agent.time_of is not None
    assert agent.unknown_fields is not None
    assert (agent.time_of({"at": 7}), agent.time_of({"at": "7"})) == (7, None)
    assert list(agent.unknown_fields({})) == [("field x", 1)]
    assert (agent.agent, agent.reworded) == ("tern-2", b"x")
    assert agent.decoder().end() == []
    assert (agent.decoder().decode({"ev": "say", "text": "x"}) != [], GROUP.problems) == (True, [])


def test_several_plugins_are_asked_in_turn(installed: Installer) -> None:
    """A plugin that fails does not keep another one from reading its stream."""
    installed()
    installed("AGENT = 7", name="gull")
    assert session(STREAM).format == "tern"
    assert detect({"mood": "good"}) is None
    assert GROUP.problems == ["format plugin gull: gull_format:AGENT is not an agentwatch.agents.Agent"]


def test_metadata_is_read_only_if_a_package_may_have_plugins(
    installed: Installer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The metadata is read if a package names the group, or may do so in a zip file."""
    asked: list[str] = []

    def found(group: str) -> list[object]:
        asked.append(group)
        return []

    monkeypatch.setattr("importlib.metadata.entry_points", found)
    assert GROUP.names() == []
    assert asked == []
    (tmp_path / "packages.zip").touch()
    monkeypatch.syspath_prepend(str(tmp_path / "packages.zip"))
    forget()
    assert GROUP.names() == []
    assert asked == ["agentwatch.agents"]


def test_plugins_may_be_off_or_unreadable(installed: Installer, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are no plugins then, and what cannot be read is reported."""
    # With `AGENTWATCH_PLUGINS=0` no plugin is found, and no package is imported.
    monkeypatch.setenv("AGENTWATCH_PLUGINS", "0")
    installed()
    assert (GROUP.names(), agent_named("tern"), session(STREAM).format) == ([], None, None)
    assert "tern_format" not in sys.modules
    monkeypatch.setenv("AGENTWATCH_PLUGINS", "1")
    forget()
    assert session(STREAM).format == "tern"

    # If the metadata of installed packages cannot be read, there are no plugins, and a notice says so.
    def fails(group: str) -> None:
        raise ValueError(group)

    installed()
    monkeypatch.setattr("importlib.metadata.entry_points", fails)
    assert GROUP.names() == []
    assert GROUP.problems == ["format plugin all: ValueError: agentwatch.agents"]
    assert GROUP.problem_of("tern") == "format plugin tern: failed"


def test_each_recording_has_the_notice(installed: Installer) -> None:
    """A second recording that is read by the same process shows the notice too."""
    installed("AGENT = 7")
    line = b'{"mood":"good"}'
    for _ in range(2):
        decoder = Decoder()
        assert isinstance(decoder.decode(line)[0], Notice)
        assert not isinstance(decoder.decode(line)[0], Notice)
