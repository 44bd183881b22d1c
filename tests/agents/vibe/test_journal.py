"""A session of Mistral Vibe on disk: the entries of its last checkpoint, then its journals."""

import json
import shutil
from pathlib import Path
from typing import Any

from agentwatch.agents.vibe.journal import Journal
from agentwatch.agents.vibe.program import PROGRAM
from tests.builders.captures import OWN
from tests.conftest import case

SESSIONS = OWN / "real/vibe-3.0.2/sessions/unified"
CONTINUED, FULL = (next(SESSIONS.glob(f"{name}*")) for name in ("9c197e7c", "3967cdd3"))


def ops(lines: list[bytes]) -> list[str]:
    return [each["op"] for line in lines for each in json.loads(line)["payload"]["delta"]]


def folder(tmp_path: Path, source: Path = CONTINUED) -> Path:
    return Path(shutil.copytree(source, tmp_path / source.name, copy_function=shutil.copyfile))


def record(op: str, **fields: Any) -> str:
    delta = {"delta": [{"op": op, **fields}]}
    return json.dumps({"payload": delta, "type": "projection_delta"}, separators=(",", ":")) + "\n"


def test_a_checkpoint_stands_for_what_was_deleted(tmp_path: Path) -> None:
    """Its entries come first, with what is beside it; the journal before it is not read."""
    [store] = [store for each in PROGRAM.stores if (store := each(folder(tmp_path), b"")) is not None]
    found = store.new_lines()
    assert ops(found) == ["set_facts", *["append_entry"] * 6, "set_envelope"]
    assert store.new_lines() == []
    store.close()
    assert PROGRAM.stores[0](tmp_path, b"") is None
    assert PROGRAM.stores[0](tmp_path, b"{") is None


def test_a_journal_is_followed(tmp_path: Path) -> None:
    """Whole lines that change something are returned once, also those of the next journal."""
    path = folder(tmp_path)
    store = Journal(path)
    store.new_lines()
    journal = path / "journal/0000000000000032.jsonl"
    journal.write_text('{"type":"core_input"}\n' + record("a") + record("b")[:-9])
    assert ops(store.new_lines()) == ["a"]
    journal.write_text('{"type":"core_input"}\n' + record("a") + record("b"))
    assert ops(store.new_lines()) == ["b"]
    (path / "journal/0000000000000040.jsonl").write_text(record("c"))
    assert ops(store.new_lines()) == ["c"]
    # After a checkpoint whose journal was not seen, the entries are read again.
    for each in (path / "journal").iterdir():
        each.unlink()
    assert store.new_lines() == []
    (path / "CURRENT").write_text('{"generation": "0000000000000023"}')
    (path / "journal/0000000000000050.jsonl").write_text(record("d"))
    assert ops(store.new_lines())[-1] == "d"
    store.close()


def test_damaged_descriptions_leave_the_journal(tmp_path: Path) -> None:
    """Without a checkpoint that can be read, all journals are."""
    path = folder(tmp_path, FULL)
    manifest = next(path.glob("generations/*108/manifest.json"))
    chunk = {"projection_state": {"chunks": ["../x", "missing", "list"]}, "recovery_journal_segment": 7}
    (path / "chunks/list.json").write_text("{}")
    for name, content in (
        (manifest, json.dumps(chunk)),
        (manifest, '{"projection_state": {"chunks": 7}}'),
        (manifest, "[]"),
        (path / "CURRENT", '{"generation": "../.."}'),
        (path / "CURRENT", '{"generation": 7}'),
        (path / "CURRENT", "{"),
    ):
        with case(content):
            name.write_text(content)
            store = Journal(path)
            found = ops(store.new_lines())
            store.close()
            assert found.count("append_entry") == 14
            assert found[0] == "set_facts"
    # An entry that is nested too deeply does not hide the others.
    state = path / "generations/0000000000000108/projection-state.json"
    manifest.write_text("{}")
    (path / "CURRENT").write_text('{"generation": "0000000000000108"}')
    state.write_text('{"snapshot": ' + "[" * 900 + "]" * 900 + "}")
    store = Journal(path)
    assert ops(store.new_lines()[:1]) == ["set_facts"]
    store.close()


def test_a_checkpoint_of_another_form_is_read_once(tmp_path: Path) -> None:
    """A journal before the first is none, nor is a name that is nested too deeply to be compared."""
    path = folder(tmp_path, FULL)
    manifest, current = path / "generations/0000000000000108/manifest.json", path / "CURRENT"
    for each in (path / "journal").iterdir():
        each.unlink()
    nested = "[" * 990 + "]" * 990
    for file, content in (
        (manifest, '{"recovery_journal_segment": {"first_sequence": -1}}'),
        (manifest, f'{{"projection_state": {{"chunks": [{nested}]}}}}'),
        (current, f'{{"generation": {nested}}}'),
    ):
        with case(content[:40]):
            current.write_text('{"generation": "0000000000000108"}')
            file.write_text(content)
            store = Journal(path)
            assert ops(store.new_lines()[:1]) == ["set_facts"]
            assert store.new_lines() == []
            store.close()
