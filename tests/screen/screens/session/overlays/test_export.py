"""The session is exported, and its agent interrupted, from the screen."""

import shutil
from pathlib import Path

import pytest

from agentwatch.base.config import Config
from agentwatch.feed.feed import Feed
from agentwatch.output.export.exporters import FORMATS, Exporter, exporter_named
from agentwatch.recording.acts import read_acts
from agentwatch.screen.screens.session.app import AgentwatchApp
from agentwatch.screen.screens.session.dialogs import InterruptDialog
from agentwatch.screen.screens.session.export import ExportDialog, write_exports
from agentwatch.screen.terminal.signals import PendingSignals
from agentwatch.sources.open import KeepOptions, agent_source
from tests.builders.screen.app import bundled, eventually, opened


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def written(folder: Path) -> dict[str, str]:
    """Return the texts of the files in a folder, by name."""
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.system
@pytest.mark.slow
async def test_a_key_exports_the_session(folder: Path) -> None:
    """X offers the formats; the file is in the working directory. A toast names it and what was masked."""
    async with opened(bundled("demo")) as stage:
        await stage.press("X")
        await stage.shows("Markdown, for an issue or a review")
        await stage.press("m")
        await stage.shows("wrote demo.md")
        await stage.shows("masked")
        assert not isinstance(stage.app.screen, ExportDialog)
    assert written(folder).keys() == {"demo.md"}
    assert "/home/ada" not in written(folder)["demo.md"]


@pytest.mark.system
async def test_an_export_can_be_cancelled_or_fail(folder: Path) -> None:
    """An export can be cancelled, and one that fails is reported."""
    # The escape key closes the dialog, and nothing is written.
    async with opened(bundled("demo")) as stage:
        await stage.press("X", "escape")
        assert not isinstance(stage.app.screen, ExportDialog)
        assert "exporting" not in stage.text()
    assert written(folder) == {}
    # If the file cannot be written, the toast says why.
    recording = folder.parent / "a.ndjson"
    shutil.copy(bundled("demo"), recording)
    async with opened(recording) as stage:
        recording.unlink()
        await stage.press("X", "m")
        await stage.shows("cannot open")
    assert written(folder) == {}


def test_each_format_is_a_file() -> None:
    """Each offered format exists, writes a file, and has a key of its own."""
    keys = {name: each.key for name, each in FORMATS.items() if each.key}
    assert all(isinstance(exporter_named(name), Exporter) is (name in keys) for name in FORMATS)
    assert len({*keys.values()}) == len(keys)


@pytest.mark.system
def test_modules_in_the_working_directory_are_not_imported(folder: Path) -> None:
    """The agent may have written modules there, with the names of those that the export imports."""
    for name in ("agentwatch", "click", "orjson", "json"):
        (folder / f"{name}.py").write_text("raise SystemExit('imported')")
    said: list[str] = []
    write_exports([bundled("demo")], "markdown", lambda words, **_: said.append(words))
    assert said[0].startswith("wrote demo.md")


@pytest.mark.system
def test_several_sessions_are_exported_with_one_report(folder: Path) -> None:
    """Each has a file of its own; if one fails, the report says how many did and why the last one did."""
    said: list[tuple[str, bool]] = []

    def report(words: str, *, is_failed: bool) -> None:
        said.append((words, is_failed))

    write_exports([bundled("demo"), bundled("plain")], "markdown", report)
    assert said == [("exported 2 sessions as markdown", False)]
    assert written(folder).keys() == {"demo.md", "plain.md"}
    write_exports([bundled("demo"), folder / "gone"], "markdown", report)
    assert said[1][1]
    assert said[1][0].startswith("1 of 2 not exported: cannot open")


SCRIPT = "trap '' INT; echo '{}'; while :; do sleep 0.01; done"


@pytest.mark.system
async def test_an_agent_is_interrupted_and_stopped(tmp_path: Path) -> None:
    """`I` `y` sends SIGINT, `I` `s` then SIGTERM; each is told by a toast and beside the recording."""
    path = tmp_path / "r.ndjson"
    source = agent_source(["sh", "-c", SCRIPT], KeepOptions(recording=path, write_log=False))
    app = AgentwatchApp(source, Feed(source.reader), PendingSignals(), Config(act=frozenset({"interrupt"})))

    def done() -> list[str]:
        return [f"{each.act} {each.door}" for each in read_acts(tmp_path / "r.acts")]

    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await eventually(pilot, lambda: source.agent.size() > 0, "the first line")
        app.config = Config()
        await pilot.press("I")
        assert not isinstance(app.screen, InterruptDialog)
        toasts = [toast.message for toast in app._notifications]
        assert toasts[-1].startswith("switched off: add `interrupt = true` under [act] in ")
        app.config = Config(act=frozenset({"interrupt"}))
        for keys, act in (("Iy", "interrupt SIGINT"), ("Is", "stop SIGTERM")):
            await pilot.press(keys[0])
            assert isinstance(app.screen, InterruptDialog)
            await pilot.press(keys[1])
            assert not isinstance(app.screen, InterruptDialog)
            await eventually(pilot, lambda: act in done(), act)  # noqa: B023 - awaited here
        await eventually(pilot, source.agent.has_ended, "the end")
        await pilot.press("I")
        assert not isinstance(app.screen, InterruptDialog)
    source.finish()


@pytest.mark.system
async def test_without_an_agent_nothing_is_asked() -> None:
    """What no setting cures is said whatever is switched on: a file has no agent, and asks nothing."""
    async with opened(bundled("plain")) as stage:
        for acts in ("", "interrupt answer"):
            stage.app.config = stage.app.config._replace(act=frozenset(acts.split()))
            for key, words in (("I", "refused: it has ended"), ("A", "refused: it asks nothing")):
                await stage.press(key)
                assert not isinstance(stage.app.screen, InterruptDialog)
                await stage.shows(words)
        assert stage.app._source.act("stop", "session") == "agentwatch has not started this agent"
