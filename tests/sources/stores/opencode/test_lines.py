"""Rows become lines in the order in which things happened."""

from __future__ import annotations

import json

from tests.sources.stores.opencode.written_database import SESSION, OpencodeDatabase, lines, opened


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


def test_that_the_user_went_back_is_the_last_line(database: OpencodeDatabase) -> None:
    """The messages that are no part of the conversation any more come before it; taking it back is quiet."""
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
