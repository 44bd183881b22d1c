"""A session in opencode's older folder of JSON files is read and followed like one in its database."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.opening import store_for
from agentwatch.sources.stores.lines import Store
from tests.conftest import case
from tests.sources.stores.opencode.written_database import SESSION, OpencodeDatabase, lines, opened, printed


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    """Return a folder with one session, its prompt and the beginning of its answer."""
    folder = tmp_path / "storage"
    write(folder, "session/p/ses_1", id="ses_1", directory="/home/ada/app", time={"created": 1, "updated": 9})
    write(folder, "message/ses_1/msg_1", id="msg_1", role="user", time={"created": 10})
    write(folder, "part/msg_1/prt_1", id="prt_1", type="text", text="Build it")
    write(folder, "message/ses_1/msg_2", id="msg_2", role="assistant", time={"created": 20})
    write(folder, "part/msg_2/prt_2", id="prt_2", type="text", text="I", time={"start": 21})
    return folder


def write(folder: Path, name: str, **fields: Any) -> Path:
    """Write a JSON file, in the manner of opencode: over the one that was there."""
    path = folder / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(fields, indent=2))
    return path


def kinds(store: Store) -> list[str]:
    """Return the types of the new lines, and the types and texts of their parts."""
    found = []
    for line in map(json.loads, store.new_lines()):
        part = line.get("part", {})
        words = (line["type"], part.get("type"), part.get("text"), line.get("agent"))
        found.append(" ".join(word for word in words if word))
    return found


WHOLE = ["session", "message", "part text Build it", "message", "part text I"]


def test_a_path_names_the_newest_session_or_one_of_them(storage: Path, tmp_path: Path) -> None:
    """The folder alone means the main session that was changed last; a JSON file elsewhere is no session."""
    write(storage, "session/p/ses_0", id="ses_0", time={"created": 5, "updated": 6})
    write(storage, "session/p/ses_2", id="ses_2", parentID="ses_9", time={"created": 5, "updated": 99})
    for name in ("", "ses_1", "session/p/ses_1.json"):
        with case(name):
            assert kinds(opened(storage / name)) == WHOLE
    for elsewhere in ("x/p/ses_1", "session/p/ses_1"):
        assert store_for(write(tmp_path, elsewhere, id="ses_1")) is None


def test_a_folder_follows_its_files(storage: Path) -> None:
    """A text grows, a call opens and ends, and what has not changed is not repeated."""
    # Half a JSON document is nothing yet.
    path = storage / "part" / "msg_2" / "prt_2.json"
    whole = path.read_text()
    path.write_text(whole[:20])
    store = opened(storage)
    assert kinds(store) == WHOLE[:-1]
    path.write_text(whole)
    assert kinds(store) == WHOLE[-1:]
    assert kinds(store) == []
    write(storage, "part/msg_2/prt_2", id="prt_2", type="text", text="I look.", time={"start": 21, "end": 25})
    call: dict[str, Any] = {"id": "prt_3", "type": "tool", "tool": "bash", "callID": "call_1"}
    write(storage, "part/msg_2/prt_3", **call, state={"status": "running", "time": {"start": 26}})
    assert kinds(store) == ["part text I look.", "part tool"]
    write(
        storage, "part/msg_2/prt_3", **call, state={"status": "completed", "time": {"start": 26, "end": 30}}
    )
    done = {"created": 20, "completed": 40}
    write(storage, "message/ses_1/msg_2", id="msg_2", role="assistant", time=done, finish="stop")
    assert kinds(store) == ["part tool", "message"]
    write(storage, "part/msg_2/prt_9", id="prt_9", type="text", text="too late")
    assert kinds(store) == []


def test_a_subagents_session_belongs_to_its_call(storage: Path, tmp_path: Path) -> None:
    """The session of a subagent is that of its parent's call, as long as the metadata names it."""
    for name, parent in (("ses_2", "ses_1"), ("ses_3", "ses_2"), ("ses_1", "ses_3")):
        write(storage, f"session/p/{name}", id=name, parentID=parent, time={"created": 5})
    state = {"status": "running", "metadata": {"sessionId": "ses_2"}, "time": {"start": 30}}
    write(storage, "part/msg_2/prt_4", id="prt_4", type="tool", tool="task", callID="call_4", state=state)
    write(storage, "message/ses_2/msg_5", id="msg_5", role="user", time={"created": 40})
    write(storage, "message/ses_3/msg_6", id="msg_6", role="user", time={"created": 50})
    found = kinds(opened(storage / "ses_1"))
    assert found[5:] == ["part tool", "message call_4", "message ses_3"]
    # Parts of the oldest form lie in one folder, and name their message.
    write(tmp_path, "session/p/ses_1", id="ses_1")
    write(tmp_path, "message/ses_1/msg_1", id="msg_1", role="assistant")
    write(tmp_path, "part/prt_1", messageID="msg_1", type="text", text="Hello")
    write(tmp_path, "part/prt_2", messageID="msg_gone", type="text", text="Another session's")
    write(tmp_path, "part/prt_3", messageID=7)
    assert kinds(opened(tmp_path)) == ["session", "message", "part text Hello"]


def test_other_files_and_links_are_not_read(storage: Path, tmp_path: Path) -> None:
    """A link could lead to any file of the user; a file that is too large or has another name is no part."""
    (storage / "part" / "msg_2" / "prt_5.tmp").write_text("{}")
    (storage / "part" / "msg_2" / "prt_6.json").mkdir()
    large = write(storage, "part/msg_2/prt_8", id="prt_8", type="text", text="x")
    with large.open("ab") as file:
        file.write(b" " * ((64 << 20) + 1))
    secret = write(tmp_path / "home", "secret", id="prt_7", type="text", text="secret")
    os.symlink(secret, storage / "part" / "msg_2" / "prt_7.json")
    write(storage, "message/ses_1/msg_3", id="msg_3", role="assistant", time={"created": 30})
    os.symlink(tmp_path / "home", storage / "part" / "msg_3")
    assert kinds(opened(storage)) == [*WHOLE, "message"]
    # The folder of all messages may be the link that leads out.
    os.rename(storage / "part", tmp_path / "part")
    os.symlink(tmp_path / "part", storage / "part")
    assert kinds(opened(storage)) == ["session", "message", "message", "message"]


def test_an_id_leads_to_no_other_folder(storage: Path, tmp_path: Path) -> None:
    """An id is a part of a path: one that is not a plain name is not a session and no message."""
    for number, name in enumerate(
        ("../../private", "..", "a/../../../private", "/", "x\0", "\ud83d", "a b", "é")
    ):
        with case(name):
            write(tmp_path / "private", "private", id="prt_s", type="text", text="secret", role="user")
            write(storage, f"message/ses_1/msg_9{number}", id=name, role="user", time={"created": 30})
            write(storage, f"session/p/ses_9{number}", id=name, time={"created": 5, "updated": 99})
            assert kinds(opened(storage)) == WHOLE
    write(storage, "message/ses_1/..", role="user", time={"created": 30})
    assert kinds(opened(storage)) == WHOLE


@pytest.mark.system
def test_what_is_not_there_is_one_line(tmp_path: Path) -> None:
    """A folder without the session, and another folder, are reported."""
    for folder in ("storage/session/p", "storage/message", "other"):
        (tmp_path / folder).mkdir(parents=True)
    for name, said in (
        ("storage/ses_gone", "it has no session ses_gone"),
        ("storage", "it has no session"),
        ("other", "it is a folder"),
        ("other/x.json", "no such file or directory"),
    ):
        with case(name):
            done = printed(tmp_path / name, "--print")
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr == f"agentwatch: cannot open {tmp_path / name}: {said}\n"


def test_rows_of_an_import_are_in_the_order_of_their_messages(database: OpencodeDatabase) -> None:
    """Imported rows have the time of the import: a part without a time of its own follows its message."""
    database.session()
    database.message("msg_1", "user", time={"created": 100})
    database.part("prt_1", "msg_1", "text", text="Build it")
    database.message("msg_2", "assistant", time={"created": 200, "completed": 300})
    database.part("prt_2", "msg_2", "step-start")
    database.part("prt_3", "msg_2", "step-finish", reason="stop")
    database.message("msg_3", "user", time={"created": 400})
    found = [(line["type"], line["timestamp"]) for line in lines(database.path)]
    assert found[1:] == [
        ("message", 100),
        ("part", 100),
        ("message", 200),
        ("part", 200),
        ("part", 200),
        ("message", 300),
        ("message", 400),
    ]


def test_a_call_that_was_continued_belongs_to_the_latest(database: OpencodeDatabase) -> None:
    """A subagent's session may be continued by a later call; a line before all calls belongs to the first."""
    database.session()
    database.session("ses_child", SESSION)
    database.message("msg_2", "assistant", time={"created": 100})
    for part, start in (("prt_a", 100), ("prt_b", 300)):
        times = {"start": start, "end": start}
        database.call(part, "msg_2", "completed", metadata={"sessionId": "ses_child"}, time=times)
    for number in (50, 150, 350):
        database.message(f"msg_c{number}", "user", "ses_child", time={"created": number})
    found = [(line["timestamp"], line["agent"]) for line in lines(database.path) if "agent" in line]
    assert found == [(50, "call_prt_a"), (150, "call_prt_a"), (350, "call_prt_b")]


def test_a_session_that_changes_its_facts_says_so(database: OpencodeDatabase) -> None:
    """The line of a session is repeated with other facts, not with each change of its time."""
    database.session()
    store = opened(database.path)
    assert len(store.new_lines()) == 1
    database.session(title="A better title")
    assert [json.loads(line)["info"]["title"] for line in store.new_lines()] == ["A better title"]
    # The messages that are not part of the conversation any more come before it; taking it back is quiet.
    database.connection.execute("ALTER TABLE session ADD COLUMN revert text")
    database.session(revert='{"messageID":"msg_1","snapshot":"x"}')
    database.prompt("Build it")
    store = opened(database.path)
    found = list(map(json.loads, store.new_lines()))
    assert [line["type"] for line in found] == ["session", "message", "part", "session"]
    assert found[-1]["info"]["revert"] == {"messageID": "msg_1"}
    assert store.new_lines() == []
    database.connection.execute("UPDATE session SET revert = NULL")
    assert store.new_lines() == []
