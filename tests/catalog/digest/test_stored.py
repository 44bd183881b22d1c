"""The digest of a session in a store: a row of a database, a document, a compressed file."""

import os
import shutil
from itertools import count, product
from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest

from agentwatch.agents.session_entry import Reach
from agentwatch.agents.state_report import State
from agentwatch.base.clock import now_ms
from agentwatch.catalog.digest import reading as stored_digests
from agentwatch.catalog.digest.digest import Turn
from agentwatch.catalog.digest.reading import Tail
from agentwatch.catalog.evidence import facts_of
from agentwatch.catalog.index_rows import rows_of
from agentwatch.catalog.index_schema import TABLES
from agentwatch.catalog.local_session import LocalSession
from agentwatch.catalog.repository import Repositories
from agentwatch.catalog.session_status import Ground
from agentwatch.session.events import Outcome
from agentwatch.sources.stores import zstd
from tests.builders.captures import OWN
from tests.builders.on_disk.digested import facts_of_digest, facts_of_session, found, session_of
from tests.conftest import case

DATABASE = OWN / "disk/opencode-db/own-1.18.33/opencode.db"
SESSIONS = {
    "ses_dffab4634ffe523C3nFZ25XU7L": "run",
    "ses_dffa9fa12ffeEeBbv1p8Var6C9": "TUI",
    "ses_dffa13782ffelHLUckf3PpCxdw": "parallel",
    "ses_dffa10acfffeCKln6OxYBgiynF": "error",
}


def stored(path: Path, agent: str) -> Tail:
    """Return the tail of a session in a store, which was read once."""
    tail = Tail(found(path, agent, Reach.STORE))
    assert tail.update()
    return tail


@pytest.mark.parametrize("session_id", SESSIONS)
def test_the_digest_of_a_row_agrees_with_its_session(session_id: str, tmp_path: Path) -> None:
    """A session of opencode is read from its database."""
    from agentwatch.agents.opening import store_for

    copy = tmp_path / "opencode.db"
    shutil.copyfile(DATABASE, copy)
    tail = stored(copy / session_id, "opencode")
    tail.settle()
    store, lines = store_for(copy / session_id), list[bytes]()
    assert store is not None
    while new := store.new_lines():
        lines += new
    store.close()
    session = session_of(lines, "opencode")
    assert tail.digest is not None
    assert tail.digest.title == "Mock title"
    assert facts_of_digest(tail.digest) == facts_of_session(session)


def document(*messages: object) -> bytes:
    """Return an older chat of Gemini, which is one document."""
    about = {
        "sessionId": "s",
        "projectHash": "h",
        "startTime": "2026-11-21T22:50:55.616Z",
        "messages": messages,
    }
    return orjson.dumps(about)


PROMPT = {"id": "1", "timestamp": "2026-11-21T22:50:56.616Z", "type": "user", "content": "Go"}
ANSWER = {
    "id": "2",
    "timestamp": "2026-11-21T22:50:57.616Z",
    "type": "gemini",
    "content": "Done.",
    "model": "g",
}
MORE = {"id": "3", "timestamp": "2026-11-21T22:50:58.616Z", "type": "user", "content": "More"}


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """Return the path of an older chat of Gemini with one turn."""
    path = tmp_path / "session-1.json"
    path.write_bytes(document(PROMPT, ANSWER))
    return path


def test_a_document_is_read_when_it_has_changed(chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unchanged one is not opened."""
    monkeypatch.setattr(stored_digests, "_LARGEST_SHARE", 1e9)
    tail = stored(chat, "gemini")
    assert tail.digest is not None
    assert (tail.digest.first_prompt, tail.digest.last_text) == ("Go", "Done.")
    assert not tail.update()
    chat.write_bytes(document(PROMPT, ANSWER, MORE))
    tail.found = found(chat, "gemini", Reach.STORE)
    assert tail.update()
    assert tail.digest is not None
    assert (tail.digest.turn, tail.digest.last_prompt) == (Turn.OPEN, "More")


def test_a_store_is_read_rarely(chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading it again takes at most 2 % of the time: after a reading of 1 s, it is not read for 50 s."""
    seconds = count(100.0)
    monkeypatch.setattr(stored_digests, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    tail = stored(chat, "gemini")
    chat.write_bytes(document(PROMPT, ANSWER, MORE))
    tail.found = found(chat, "gemini", Reach.STORE)
    assert not tail.update()
    assert (tail.is_behind, tail.is_due) == (True, False)
    seconds = count(160.0)
    assert tail.is_due
    assert tail.update()
    assert not tail.is_behind


def test_an_answer_that_may_be_the_last_ends_the_turn_when_nothing_follows(chat: Path) -> None:
    """A document has no other end of a turn."""
    tail = stored(chat, "gemini")
    assert tail.digest is not None
    assert tail.digest.turn is Turn.OPEN
    changed_ms = chat.stat().st_mtime_ns // 10**6
    assert not tail.pass_time(changed_ms + 4_900)
    assert tail.pass_time(changed_ms + 5_000)
    assert (tail.digest.turn, tail.digest.outcome) == (Turn.ENDED, Outcome.SUCCEEDED)


def test_a_session_of_which_nothing_is_read_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its row says why and what to do, and the index has no outcome of it; its lines are not missing."""
    path = tmp_path / "rollout.jsonl.zst"
    path.write_bytes(zstd.MAGIC + b"lines")
    monkeypatch.setattr(zstd, "_MODULES", ("no_such_module",))
    session = LocalSession(found(path, "codex", Reach.STORE))
    session.read()
    status = session.judged(now_ms())
    assert (status.state, status.ground) == (State.UNKNOWN, Ground.UNKNOWN)
    assert status.now.startswith("compressed with Zstandard: ")
    assert facts_of(session, None, {}, {}, tmp_path).problem.startswith("it is compressed")
    row = dict(zip(TABLES["stored_session"], rows_of(session.found, Repositories()).session, strict=True))
    assert (row["outcome"], "it is compressed" in row["problem"]) == (None, True)


def test_what_is_no_store_keeps_its_metadata(tmp_path: Path) -> None:
    """Nothing is raised."""
    names = ("a.json", "a.jsonl.zst", "opencode.db", "opencode.db/ses_1")
    contents = (b"", b"{", b"[]", b"\x28\xb5\x2f\xfdtorn", b"SQLite format 3\0", b"{}\n{}")
    for number, (name, data) in enumerate(product(names, contents)):
        with case(f"{name}, {data!r}"):
            path = tmp_path / f"{number}" / name
            path.parent.mkdir(parents=True)
            path.write_bytes(data)
            tail = Tail(found(path, "codex", Reach.STORE))
            tail.update()
            assert tail.digest is not None
            assert tail.digest.first_prompt == ""


def test_of_a_large_store_the_beginning_is_known(chat: Path) -> None:
    """Its counts are left out; a document that would be parsed whole is not opened."""
    answers = ({**ANSWER, "id": f"a{number}", "content": "x" * 100_000} for number in range(60))
    chat.write_bytes(document(PROMPT, *answers))
    tail = stored(chat, "gemini")
    assert tail.digest is not None
    assert (tail.digest.first_prompt, tail.digest.turn) == ("Go", Turn.NONE)
    assert not tail.digest.is_whole
    os.truncate(chat, 17 << 20)
    tail = Tail(found(chat, "gemini", Reach.STORE))
    assert not tail.update()
