"""A chat in one JSON document, which Gemini rewrites: only what changed becomes new lines."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.gemini.json_chat import GeminiJson
from agentwatch.agents.opening import store_for
from agentwatch.output.summary import summary
from agentwatch.session.session import Session
from tests.builders.captures import Captures
from tests.builders.lines import session
from tests.conftest import case

SAMPLES = ("disk/gemini-chat/made/*.json", "disk/gemini-chat/agent-sessions/*.json")
FACTS = {"sessionId": "s-1", "projectHash": "h", "startTime": "2026-01-16T18:34:00.000Z"}


def message(key: str, kind: str = "user", text: str = "x", **fields: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": "2026-01-16T18:34:01.000Z", "type": kind, "content": text} | fields


def rewrite(path: Path, *messages: Any, **fields: Any) -> None:
    """Write the document as the agent does, at another time than before."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(json.dumps(FACTS | {"lastUpdated": str(len(messages)), "messages": messages} | fields))
    os.utime(path, ns=(before + 1, before + 1))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a document that does not exist yet."""
    return tmp_path / "session-1.json"


def new(store: GeminiJson) -> list[Any]:
    """Return the new lines of a store, decoded."""
    lines = store.new_lines()
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    return [json.loads(line) for line in lines]


def test_a_document_is_read_when_it_changes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines have the grammar of the newer files: the facts first, then one line for each message. A
    message that changed is repeated with its id, a new one is added, and no other line is returned. A
    followed store is asked ten times a second: its size and time show that nothing has changed.
    """
    rewrite(path, message("a"), message("b"))
    store = GeminiJson(path)
    assert new(store) == [FACTS, message("a"), message("b")]
    assert store.new_lines() == []
    store.close()
    rewrite(path, message("a"), message("b"))
    store = GeminiJson(path)
    new(store)
    rewrite(path, message("a"), message("b", text="y"), message("c"))
    assert new(store) == [message("b", text="y"), message("c")]
    rewrite(path, message("a"), message("b", text="y"), message("c"), summary="s")
    assert new(store) == [{"$set": {"summary": "s"}}]
    rewrite(path, message("a"), message("b", text="y"), message("c"), summary="s")
    assert new(store) == []
    rewrite(path, message("a"))
    store = GeminiJson(path)
    new(store)
    monkeypatch.setattr(os, "read", lambda *_: pytest.fail("it was read"))
    assert store.new_lines() == []


def test_removed_and_incomplete_documents(path: Path) -> None:
    """The agent leaves no trace of a rewind: the first message that is gone is named. A document that is
    being written is an error; what was read before stays valid.
    """
    rewrite(path, message("a"), message("b"), message("c"))
    store = GeminiJson(path)
    new(store)
    rewrite(path, message("a"), message("d"))
    assert new(store) == [{"$rewindTo": "b"}, message("d")]
    rewrite(path)
    assert new(store) == [{"$rewindTo": "a"}]
    # If the document becomes that of another session, all its lines are returned.
    rewrite(path, message("a"))
    store = GeminiJson(path)
    new(store)
    rewrite(path, message("a"), sessionId="s-2")
    assert new(store) == [FACTS | {"sessionId": "s-2"}, message("a")]
    # What is not a message is left out; a message without an id gets one, so that it can be replaced.
    rewrite(path, {"type": "user"}, 1, message(""))
    assert [line.get("id") for line in new(GeminiJson(path))] == [None, "#0", "#1"]
    # Half an emoji and a large number are data.
    path.write_text(json.dumps(FACTS | {"messages": [message("a", text="\ud83d", big=1 << 70)]}))
    [_, found] = new(GeminiJson(path))
    assert (found["content"], found["big"]) == ("\ud83d", 1 << 70)
    # Neither a message nor a fact that cannot be written as a line keeps the others from being read. Python
    # 3.12 and newer can write these.
    deep = "[" * 1000 + "]" * 1000
    path.write_text(f'{{"sessionId": "s", "messages": [{{"id": "a", "content": {deep}}}, {{"id": "b"}}]}}')
    store = GeminiJson(path)
    assert [line["id"] for line in new(store)[1:]] == ["a", "b"]
    path.write_text(f'{{"sessionId": "s", "messages": [], "kind": {deep}}}')
    assert new(store)[-1] == {"$rewindTo": "a"}
    # An incomplete document is read later.
    for text in ("", '{"sessionId": "s', "[]", '{"messages": {}}', "[" * 100_000):
        with case(text[:80]):
            rewrite(path, message("a"))
            store = GeminiJson(path)
            new(store)
            path.write_text(text)
            with pytest.raises(OSError, match="is not a complete chat"):
                store.new_lines()
            with pytest.raises(OSError, match="is not a complete chat"):
                store.new_lines()
            rewrite(path, message("a"), message("b"))
            assert new(store) == [message("b")]


def test_a_document_that_is_gone_or_too_large_is_an_error(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is never read beyond the limit of 256 MiB; one that shrinks while it is read is incomplete."""
    with pytest.raises(FileNotFoundError):
        GeminiJson(path).new_lines()
    rewrite(path, message("a"))
    os.truncate(path, (256 << 20) + 1)
    with pytest.raises(OSError, match="too large"):
        GeminiJson(path).new_lines()
    rewrite(path, message("a"))
    monkeypatch.setattr(os, "read", lambda *_: b"")
    with pytest.raises(OSError, match="is not a complete chat"):
        GeminiJson(path).new_lines()


def test_a_store_is_chosen_by_the_name_and_the_content(path: Path, tmp_path: Path) -> None:
    """A chat that is one document is read under either name; another document and a file of lines are not."""
    rewrite(path, message("a"))
    assert store_for(path) is not None
    lines = tmp_path / "x.jsonl"
    document = json.loads(path.read_text())
    header, change = json.dumps(FACTS), json.dumps({"$set": {"messages": []}})
    cases = [
        (json.dumps(document), True),
        (json.dumps(document, indent=2), True),
        (f"{header}\n{change}\n", False),
        (json.dumps({"sessionId": "s", "type": "user", "messages": []}), False),
        (json.dumps({**FACTS, "type": "user"}, indent=2), False),
    ]
    for text, is_document in cases:
        with case(text):
            lines.write_text(text)
            assert (store_for(lines) is not None) is is_document
    for text, is_document in (
        ('{"sessionId": "s"}', False),
        ('[{"sessionId": 1, "messages": []}]', False),
        ('\ufeff {"sessionId": 1, "messages": []}', True),
    ):
        path.write_text(text)
        assert (store_for(path) is not None) is is_document


def test_a_sample_is_opened_and_not_refused(
    captures: Captures, opened_session: Callable[[Path], Session]
) -> None:
    """A document over many lines is opened as the chat that it is."""
    for sample in captures.find(*SAMPLES):
        with case(captures.name(sample)):
            found = opened_session(sample)
            outcome = "failed" if sample.stem.endswith("8d14a6be") else "succeeded"
            assert (found.format, found.outcome, found.lines.unknown) == ("gemini-chat", outcome, 0)


def described(data: bytes) -> dict[str, Any]:
    """Return the summary of a recording without the counts of its lines."""
    found: dict[str, Any] = json.loads(b"".join(summary(session(data))))
    del found["lines"]
    return found


def test_all_rewrites_together_are_the_same_as_the_last(captures: Captures, path: Path) -> None:
    """A document that grows by a message, or by the calls of a message, has the summary of its last form."""
    for sample in captures.find(*SAMPLES):
        document = json.loads(sample.read_text())
        assert document["messages"]
        store, data = GeminiJson(path), b""
        facts = {key: value for key, value in document.items() if key != "messages"}
        with case(captures.name(sample)):
            for number, last in enumerate(document["messages"]):
                early = {key: value for key, value in last.items() if key not in ("toolCalls", "tokens")}
                for newest in (early, last):
                    rewrite(path, *document["messages"][:number], newest, **facts)
                    data += b"".join(store.new_lines())
            assert described(data) == described(b"".join(GeminiJson(path).new_lines()))
