"""A session of several files has the calls and tokens of its subagents, and not those that it repeats."""

import os
from pathlib import Path

import pytest

import agentwatch
from agentwatch.agents import subagents
from agentwatch.agents.opening import store_for
from agentwatch.session.session import own_calls
from agentwatch.session.transcript import Kind
from tests.builders.copied_stories import Step, opencode, pi, save, truth
from tests.builders.formats.gemini_chat import START, TOKENS, answer, call, prompt
from tests.builders.on_disk.cursor_transcript import call as cursor_call
from tests.builders.on_disk.cursor_transcript import called, said, user
from tests.conftest import case


def gemini(chats: Path) -> Path:
    """Write a chat with a subagent, which has one of its own with another model; return the chat's path."""
    path = chats / "session-2026-11-21T23-08-s.jsonl"
    for number, name in enumerate(("session-2026-11-21T23-08-s", "s-1/one", "one/two")):
        lines = [prompt(f"prompt {number}", "p"), answer("", f"a{number}", call(f"c{number}"), tokens=TOKENS)]
        begin = START | ({"kind": "subagent", "sessionId": Path(name).name} if number else {})
        own = [lines[0], lines[1] | {"model": f"m{number}"}, answer(f"Text {number}.", "e")]
        save(chats / f"{name}.jsonl", [begin, *own])
    return path


def cursor(folder: Path) -> Path:
    """Write a transcript with two subagents, each with a call at the same place; return its path."""
    path = folder / "agent-transcripts/main/main.jsonl"
    for number, name in enumerate(("main", "subagents/one", "subagents/two")):
        lines = [user(f"prompt {number}"), called(cursor_call("Read", path="/a")), said(f"Text {number}.")]
        save(path.parent / f"{name}.jsonl", lines)
    return path


def test_a_session_has_what_its_subagents_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has one turn, and an answer of its own. A folder that is a link to another place is not read."""
    for path, tokens, below in (
        (gemini(tmp_path / "chats"), 3000, ["s-1/one.jsonl", "one/two.jsonl"]),
        (cursor(tmp_path), None, ["subagents/one.jsonl", "subagents/two.jsonl"]),
    ):
        with case(path):
            found = agentwatch.load(path)
            assert (len(found.calls), found.run.turns, found.run.tokens.input) == (3, 1, tokens)
            assert (found.run.prompt, found.text) == ("prompt 0", "Text 0.")
            assert [call.parent_call for call in found.calls] == [None, "one", "two"]
            prompts = [each.text for each in found.transcript if each.kind is Kind.PROMPT]
            assert prompts == ["prompt 0", "prompt 1", "prompt 2"]
            last = path.parent / below[-1]
            assert len(agentwatch.load(last).calls) == 1
            os.rename(last, last.with_suffix(".old"))
            assert len(agentwatch.load(path).calls) == 2
            store = store_for(path)
            assert store is not None
            lines = b"".join(store.new_lines())
            assert (lines.count(b'"joinedSubagent":"one"') > 2, store.new_lines()) == (True, [])
            os.rename(last.with_suffix(".old"), last)
            os.utime(last.parent, ns=(1 << 62, 1 << 62))
            assert {line[:23] for line in store.new_lines()} == {b'{"joinedSubagent":"two"'}
            store.close()
            with monkeypatch.context() as bounded:
                bounded.setattr(subagents, "MOST_SUBAGENTS", 1)
                assert len(agentwatch.load(path).calls) == 2
            (tmp_path / "joined.jsonl").write_bytes(lines)
            assert len(agentwatch.load(tmp_path / "joined.jsonl").calls) == 2
            with monkeypatch.context() as bounded:
                bounded.setattr(subagents, "MOST_SUBAGENTS", 0)
                assert len(agentwatch.load(tmp_path / "joined.jsonl").calls) == 1
            elsewhere = tmp_path / f"elsewhere-{path.stem}"
            os.rename(path.parent / below[0].partition("/")[0], elsewhere)
            os.symlink(elsewhere, path.parent / below[0].partition("/")[0])
            assert len(agentwatch.load(path).calls) == 1


def test_a_fork_leaves_out_what_it_repeats(tmp_path: Path) -> None:
    """Forks of opencode and Pi keep the times of what they copy, from before they began."""
    story = (Step(20), Step(40, fails=True)), (Step(80),)
    for write in (opencode, pi):
        home = tmp_path / write.__name__
        sessions = write(home, story, ((Step(160), Step(320)),))
        database = home / ".local/share/opencode/opencode.db"
        for each in sessions:
            path = next(home.rglob(f"*{each.id}.jsonl"), database / each.id)
            with case(path.name):
                found, expected = agentwatch.load(path), truth(each)
                numbers = {"calls": own_calls(found), "turns": found.turns, "input": found.tokens.input}
                assert numbers == {name: expected[name] for name in numbers}
