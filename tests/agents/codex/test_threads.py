"""A thread of Codex in several rollouts is one session, with each line once."""

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

import agentwatch
from agentwatch.agents.codex import rollout, threads
from agentwatch.agents.codex.program import id_in_stem, sessions
from agentwatch.agents.opening import store_for
from agentwatch.agents.places import Folder, Spot, Stamp
from agentwatch.agents.session_entry import Reach
from agentwatch.session.session import repeated_calls
from agentwatch.session.transcript import Kind
from agentwatch.sources.stores import lines as store_lines
from tests.builders.codex.lines import (
    BEGAN_MS,
    MINUTE_MS,
    Json,
    file_name,
    function,
    meta,
    name_at,
    turn,
    written,
)
from tests.conftest import case
from tests.sources.stores.test_zstd import Damaged, StandIn, frame

THREAD = name_at(BEGAN_MS, 4)
FIRST = [
    meta(THREAD, BEGAN_MS, history_mode="paginated"),
    *turn(THREAD, BEGAN_MS + MINUTE_MS, 21, 1000, 1000),
]
SECOND = turn(THREAD, BEGAN_MS + 2 * MINUTE_MS, 22, 3000, 2000)


def later(number: int, of: str, end: int, total: int, last: int) -> tuple[str, list[Json]]:
    """Return the name and the lines of a rollout that begins with a revert, and has one turn."""
    at_ms = BEGAN_MS + number * 10 * MINUTE_MS
    base = {"thread_id": of, "end_ordinal_exclusive": 9, "end_byte_offset": end}
    begin = meta(THREAD, at_ms, history_mode="paginated", history_base=base)
    name = file_name(at_ms, THREAD, name_at(at_ms, number))
    return name, [begin, *turn(THREAD, at_ms + MINUTE_MS, 40 + number, total, last)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a day with a thread of two turns."""
    day = tmp_path / ".codex/sessions/2026/11/24"
    day.mkdir(parents=True)
    (day / file_name(BEGAN_MS, THREAD)).write_bytes(written([*FIRST, *SECOND]))
    return day


def test_the_files_are_joined(folder: Path) -> None:
    """A revert takes back the prompts after the place that it names; their requests were made, and count."""
    name, lines = later(1, THREAD, len(written(FIRST)), 1700, 700)
    (folder / name).write_bytes(written(lines))
    found = agentwatch.load(folder / name)
    assert (len(found.runs), found.run.turns, len(found.calls)) == (1, 2, 3)
    assert (found.run.tokens.input, repeated_calls(found)) == (3700, 0)
    assert found.run.session_id == THREAD
    rollout = name_at(BEGAN_MS + 10 * MINUTE_MS, 1)
    other = folder.parent / "25"
    other.mkdir()
    name, lines = later(2, rollout, len(written(lines)), 2000, 300)
    (other / name).write_bytes(written(lines))
    found = agentwatch.load(other / name)
    assert (found.run.turns, len(found.calls), found.run.tokens.input) == (3, 4, 4000)
    name, lines = later(3, "unknown", 5, 2500, 500)
    (other / name).write_bytes(written(lines))
    assert agentwatch.load(other / name).run.turns == 4


def test_the_newest_file_is_followed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole lines are returned as they come, in batches; the earlier files are read once."""
    name, lines = later(1, THREAD, len(written(FIRST)), 1700, 700)
    path = folder / name
    path.write_bytes(written(lines[:2]) + b'{"type":')
    store = store_for(path)
    assert store is not None
    before = store.new_lines()
    assert b"".join(before).startswith(written([*FIRST, *SECOND]))
    assert len(before) == len(FIRST) + len(SECOND) + 1 + 2
    assert store.new_lines() == []
    with path.open("ab") as file:
        file.write(b'"event_msg"}\n')
    assert store.new_lines() == [b'{"type":"event_msg"}\n']
    store.close()
    monkeypatch.setattr(store_lines, "_BATCH", 1)
    store = store_for(path)
    assert store is not None
    assert store.new_lines() == before[:1]
    assert store.new_lines() == before[1:2]
    store.close()


def test_an_earlier_file_may_be_archived_compressed_or_unreadable(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links are not followed, and what cannot be read is left out."""
    module = ModuleType("compression.zstd")
    module.ZstdFile, module.ZstdError = StandIn, Damaged  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "compression.zstd", module)
    name, lines = later(1, THREAD, len(written(FIRST)), 1700, 700)
    (folder / name).write_bytes(written(lines))
    first = folder / file_name(BEGAN_MS, THREAD)
    whole = first.read_bytes()
    archive = folder.parents[3] / "archived_sessions"
    archive.mkdir()
    os.rename(first, archive / first.name)
    for what, ending, data in (
        ("archived", "", whole),
        ("without a line end", "", whole.rstrip(b"\n")),
        ("compressed", ".zst", frame(whole)),
        ("damaged", ".zst", frame(b"x") + b"\6" * 40),
    ):
        with case(what):
            for old in archive.iterdir():
                old.unlink()
            (archive / (first.name + ending)).write_bytes(data)
            calls = len(agentwatch.load(folder / name).calls)
            assert calls == (1 if what == "damaged" else 3)
    for old in archive.iterdir():
        old.unlink()
    (folder / "elsewhere").write_bytes(whole)
    (archive / first.name).symlink_to(folder / "elsewhere")
    assert store_for(folder / name) is None
    strange = folder / f"rollout-2026-11-24T10-00-00-{'*' * 36}_{name_at(BEGAN_MS, 9)}.jsonl"
    strange.write_bytes(written(lines))
    assert store_for(strange) is None
    alone = folder.parents[4] / name
    alone.write_bytes(written(lines))
    assert store_for(alone) is None


def test_the_first_line_names_the_thread(folder: Path) -> None:
    """The name of a file does only if its first line does not."""
    name, lines = later(1, THREAD, 1, 1700, 700)
    kind = sessions().below("2026")
    assert kind is not None
    month = kind.below("11")
    assert month is not None
    day = month.below("24")
    assert day is not None
    place = Folder(str(folder), day)
    place.files = {each: Stamp(1, 1, 1) for each in (name, file_name(BEGAN_MS, THREAD))}
    for begin, thread in ((written(lines), THREAD), (b"{}\n", THREAD), (b'{"id":"thread-9"}\n', "thread-9")):
        with case(begin[:20]):
            (folder / name).write_bytes(begin)
            (found,) = day.read(Spot(place, name, (), (name,), os.path.join(place.path, name)))
            assert (found.id, found.reach) == (thread, Reach.PARTS)
    assert id_in_stem(name.removesuffix(".jsonl")) == THREAD


def test_the_threads_that_a_thread_has_spawned_are_its_subagents(folder: Path) -> None:
    """Their calls, texts and tokens are those of the calls that have spawned them; they may come later."""
    path, at_ms = folder / file_name(BEGAN_MS, THREAD), BEGAN_MS + 5 * MINUTE_MS
    assert store_for(path) is None
    spawns = [function("spawn_agent", {"message": words}, call_id=words) for words in ("Look", "prompt 51")]
    own = [each | {"timestamp": meta(THREAD, at_ms)["timestamp"]} for each in spawns]
    path.write_bytes(written([*FIRST, *SECOND, *own]))
    names = [name_at(at_ms + number, number) for number in (5, 6, 7)]
    spawned = list(zip(names, (THREAD, THREAD, names[0]), (51, 52, 53), strict=True))

    def keep(name: str, by: str, number: int) -> None:
        begin = meta(name, at_ms, parent_thread_id=by, session_id=THREAD)
        lines = [begin, *turn(name, at_ms + number * MINUTE_MS, number, 700, 700)]
        (folder / file_name(at_ms, name)).write_bytes(written(lines))

    keep(*spawned[0])
    store = store_for(path)
    assert store is not None
    assert len(store.new_lines()) > len(FIRST) + len(SECOND)
    for each in spawned[1:]:
        keep(*each)
    os.utime(folder, ns=(1, 1))
    assert len([line for line in store.new_lines() if b"session_meta" in line]) == 2
    store.close()
    found = agentwatch.load(path)
    assert (found.run.turns, found.run.tokens.input, found.outcome) == (2, 3000 + 3 * 700, "succeeded")
    calls = {call.parent_call: call.parent for call in found.calls if call.parent_call}
    assert calls == {"prompt 51": 4, "Look": 3, names[2]: 0}
    (text,) = {
        entry.parent for entry in found.transcript if entry.kind is Kind.PROMPT and entry.text == "prompt 51"
    }
    assert text == 4


def test_threads_are_read_within_bounds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of another thread is none of them; of too many files, none is looked for. Lines come in batches.

    What a spawned thread repeats of another one is left out, and what is unknown in it is named.
    """
    path, at_ms = folder / file_name(BEGAN_MS, THREAD), BEGAN_MS + 5 * MINUTE_MS
    other, child = (name_at(at_ms, number) for number in (60, 61))
    (folder / file_name(at_ms, other)).write_bytes(written([meta(other, at_ms)]))
    assert store_for(path) is None
    begin = meta(child, at_ms, parent_thread_id=THREAD, session_id=THREAD)
    odd = {"timestamp": begin["timestamp"], "type": "odd", "payload": {}}
    own = turn(child, at_ms + MINUTE_MS, 61, 700, 700)
    (folder / file_name(at_ms, child)).write_bytes(written([begin, *FIRST[1:], *own, odd]))
    found = agentwatch.load(path)
    assert (len(found.calls), found.lines.unknown) == (3, 1)
    monkeypatch.setattr(store_lines, "_BATCH", 1)
    store = store_for(path)
    assert store is not None
    assert [len(store.new_lines()) for _ in range(2)] == [1, 1]
    store.close()
    monkeypatch.setattr(rollout, "_MOST_SPAWNED", 0)
    assert len(agentwatch.load(path).calls) == 2
    monkeypatch.setattr(threads, "_MOST_SPAWNED", 0)
    assert store_for(path) is None
    monkeypatch.setattr(rollout, "_MOST_WAITING", 0)
    bare = folder / "rollout-bare.jsonl"
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
    done = {"type": "function_call_output", "name": "spawn_agent", "call_id": "c", "output": "x"}
    items = [{"type": "response_item", "payload": each} for each in (said, said, done)]
    bare.write_bytes(written([FIRST[0], function("spawn_agent", {"message": "Look"}, call_id="c"), *items]))
    assert [call.outcome for call in agentwatch.load(bare).calls] == ["returned"]
    elsewhere = folder.parent / "elsewhere"
    folder.rename(elsewhere)
    assert store_for(elsewhere / path.name) is None
