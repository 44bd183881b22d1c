"""Both directions of an editor's session are recorded, and read in the order in which their lines ended."""

import json
import os
import random
from contextlib import closing
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from agentwatch.agents.session_entry import OWN, SessionEntry
from agentwatch.catalog.contents import find, pieces
from agentwatch.catalog.digest.reading import Tail
from agentwatch.catalog.hits import Searched
from agentwatch.feed.feed import Feed
from agentwatch.recording import saved
from agentwatch.recording.recorder import Recorder
from agentwatch.recording.saved import Exchange, open_both, open_saved
from agentwatch.recording.store import SessionFiles
from agentwatch.recording.write_lock import is_being_written
from agentwatch.rules.alarms.session_join import JoinedSession
from agentwatch.rules.alarms.tripwire import tripwire
from agentwatch.session.transcript import Kind
from tests.conftest import case, descriptors_closed

Piece = tuple[bytes, bytes]
"""A direction, and what arrived in it at one time."""


def frames(pieces: list[Piece], offsets: dict[bytes, int] | None = None, ended: bool = True) -> BytesIO:
    """Return what a recorder is handed: the pieces, each a second after the one before."""
    offsets = {b"w": 0, b"s": 0} if offsets is None else offsets
    data = b""
    for number, (direction, piece) in enumerate(pieces):
        data += b"%s %d %d %d\n" % (direction, offsets[direction], 1000 * (number + 1), len(piece)) + piece
        offsets[direction] += len(piece)
    return BytesIO(data + (b"x 0 99000 0\n" if ended else b""))


def recorded(folder: Path, pieces: list[Piece]) -> SessionFiles:
    files = SessionFiles(folder / f"r{len([*folder.iterdir()])}.ndjson")
    with descriptors_closed():
        Recorder(files, continues=False).run(frames(pieces))
    return files


def merged(files: SessionFiles, reader: Exchange | None = None, *, has_ended: bool = False) -> bytes:
    """Return the new lines of both directions."""
    opened = open_both(files.recording)
    assert opened is not None
    with closing(opened):
        return b"".join(data for _, data in (reader or Exchange()).read(opened, has_ended=has_ended))


def in_order(pieces: list[Piece]) -> list[bytes]:
    """Return the whole lines of both directions in the order of their ends."""
    rest, lines = {b"w": b"", b"s": b""}, []
    for direction, piece in pieces:
        *whole, rest[direction] = (rest[direction] + piece).split(b"\n")
        lines += [line + b"\n" for line in whole]
    return lines


def some_pieces(chance: random.Random, lines: int) -> list[Piece]:
    """Return lines that arrive in pieces, which begin and end anywhere."""
    pieces: list[Piece] = []
    for number in range(lines):
        direction = chance.choice((b"w", b"s"))
        line = b"%s%d %s\n" % (direction, number, b"." * chance.choice((0, 3, 50)))
        at = chance.randrange(len(line) + 1)
        pieces += [(direction, line[:at]), (direction, line[at:])]
    held = [piece for piece in pieces if piece[1]]
    for at in range(0, len(held) - 1, 2):  # two pieces of different directions may change places
        if held[at][0] != held[at + 1][0] and chance.random() < 0.5:
            held[at], held[at + 1] = held[at + 1], held[at]
    return held


def test_lines_are_read_in_the_order_of_their_ends(tmp_path: Path) -> None:
    """Whole, in parts while they grow, and from near the end, for lines that arrive in any pieces."""
    chance = random.Random(5)
    for number in range(60):
        pieces = some_pieces(chance, chance.randrange(1, 30))
        folder = tmp_path / f"{number}"
        folder.mkdir()
        with case(pieces), descriptors_closed():
            expected = in_order(pieces)
            files, offsets = SessionFiles(folder / "r.ndjson"), {b"w": 0, b"s": 0}
            recorder, reader, found = Recorder(files, continues=False), Exchange(), b""
            for at in range(0, len(pieces), 3):
                recorder.run(frames(pieces[at : at + 3], offsets, ended=False))
                found += merged(files, reader)
            assert found.splitlines(keepends=True) == expected
            assert merged(files).splitlines(keepends=True) == expected
            opened = open_both(files.recording)
            assert opened is not None
            late = Exchange()
            with closing(opened):
                late.skip(opened, chance.randrange(200))
            tail = merged(files, late).splitlines(keepends=True)
            assert not tail or tail == [line for line in expected if line in tail]
            assert tail[-1:] in ([], expected[-1:])


def test_an_opened_recording_has_both_directions_and_their_times(tmp_path: Path) -> None:
    """The reader has the lines in order, each with the arrival of its end; a rest is a line too."""
    files = recorded(tmp_path, [(b"s", b'{"a":'), (b"w", b"one\ntw"), (b"s", b"1}\n"), (b"w", b"o\nrest")])
    before = len(os.listdir("/dev/fd"))
    reader = open_saved(files.recording)
    lines = list(reader.read())
    assert [(line.data, line.seen_ms) for line in lines] == [
        (b"one", 2000),
        (b'{"a":1}', 3000),
        (b"two", 4000),
        (b"rest", 4000),
    ]
    os.close(reader.fd)
    del reader, lines
    assert len(os.listdir("/dev/fd")) == before
    # An opened recording shows what the editor sent as well.
    files = recorded(tmp_path, _session(2))
    reader = open_saved(files.recording)
    feed = Feed(reader)
    feed.advance()
    session = feed.session
    prompts = [entry.text for entry in session.transcript if entry.kind is Kind.PROMPT]
    assert prompts == ["Prompt 1", "Prompt 2"]
    assert session.runs[-1].cwd == "/tmp/p"
    os.close(reader.fd)
    # A prompt is found and shown, and a rule is judged for what comes next.
    sent, offsets = _session(2), {b"w": 0, b"s": 0}
    files = SessionFiles(tmp_path / "search.ndjson")
    recorder = Recorder(files, continues=False)
    recorder.run(frames(sent[:8], offsets, ended=False))
    joined = JoinedSession(files.recording, None, [tripwire("command:make", "note")])
    recorder.run(frames(sent[8:], offsets, ended=False))
    found = b"".join(piece.lines for piece in pieces(files.recording))
    assert found == merged(files)
    hits = find("kind:prompt", [Searched((OWN, "search"), files.recording, 0)]).hits
    assert {hit.text for hit in hits} == {"Prompt 1", "Prompt 2"}
    assert [each.alarm.call for each in joined.judge(0, 1)] == [1]
    joined.close()


def test_pieces_keep_their_order_whatever_is_lost(tmp_path: Path) -> None:
    """Without arrival times what was sent comes first; what is written late or again is read in its place."""
    # Nothing is left out if the arrival times are lost.
    files = recorded(tmp_path, [(b"w", b"one\n"), (b"s", b"two\n"), (b"w", b"three\n")])
    files.times.write_bytes(b"damaged\n5\n")
    assert merged(files) == b"two\none\nthree\n"
    files.times.write_bytes(b"5" * 300_000 + b"\n0 1\nsent 0 2\n")
    assert merged(files) == b"one\nthree\ntwo\n"
    files.times.unlink()
    assert merged(files) == b"two\none\nthree\n"
    files.recording.unlink()
    with pytest.raises(FileNotFoundError):
        merged(files)
    # A reader that comes between a time and its bytes does not change the order.
    files = recorded(tmp_path, [(b"w", b"one\n"), (b"s", b"two\n"), (b"w", b"three\n"), (b"s", b"four\n")])
    whole, reader = files.recording.read_bytes(), Exchange()
    files.recording.write_bytes(b"")
    assert merged(files, reader) == b""
    files.recording.write_bytes(whole[:4])
    assert merged(files, reader) == b"one\ntwo\n"
    files.recording.write_bytes(whole)
    assert merged(files, reader) == b"three\nfour\n"
    files.times.write_text("9 1\n0 2\nsent 0 3\n")  # the first was cut off again by a full disk
    assert merged(files) == b"one\nthree\ntwo\nfour\n"
    # A reader that has seen a part of it continues with what is written in its place.
    files, reader = recorded(tmp_path, [(b"w", b"one\ntwo two two")]), Exchange()
    assert merged(files, reader) == b"one\n"
    files.recording.write_bytes(b"one\n3\n")
    with files.times.open("a") as times:
        times.write("4 9\n")
    assert merged(files, reader) == b"3\n"


def test_a_frame_that_is_cut_off_is_recorded_as_far_as_it_goes(tmp_path: Path) -> None:
    """The program that copies may be killed at any byte of a frame; the agent's end is then unknown."""
    whole = frames([(b"s", b"one\n"), (b"w", b"two\n")]).getvalue()
    for end in range(len(whole)):
        with case(end), descriptors_closed():
            files = SessionFiles(tmp_path / f"{end}.ndjson")
            assert Recorder(files, continues=False).run(BytesIO(whole[:end])) is None
            assert b"one\n".startswith(files.sent.read_bytes())
            assert b"two\n".startswith(files.recording.read_bytes())
    # After a gap, the file continues with the next line; the bytes of both and of cut lines add up.
    files = SessionFiles(tmp_path / "r.ndjson")
    recorder = Recorder(files, continues=False)
    lost = frames([(b"w", b"st of it\nfour\n"), (b"s", b"ok\n")], {b"w": 1_000, b"s": 0})
    recorder.run(BytesIO(frames([(b"w", b"one\ntw")], ended=False).getvalue() + lost.getvalue()))
    with files.recording.open() as file:
        assert is_being_written(file.fileno(), None, 0)
    assert files.recording.read_bytes() == b"one\nfour\n"
    assert files.sent.read_bytes() == b"ok\n"
    assert "gap 4 1005" in files.times.read_text().splitlines()
    assert merged(files) == b"one\nfour\nok\n"
    # It keeps whole lines and loses none that it got; the sum of all gaps is what is missing.
    files, offsets = SessionFiles(tmp_path / "killed.ndjson"), {b"w": 0, b"s": 0}
    Recorder(files, continues=False).run(frames([(b"w", b"one\n"), (b"s", b"a\nhal")], offsets, ended=False))
    offsets[b"w"] += 100
    Recorder(files, continues=True).run(frames([(b"s", b"f\nb\n"), (b"w", b"two\nthree\n")], offsets))
    assert files.recording.read_bytes() == b"one\nthree\n"
    assert files.sent.read_bytes() == b"a\nb\n"
    Recorder(files, continues=True).run(frames([(b"w", b"four\n"), (b"s", b"c\n")], offsets))
    assert files.recording.read_bytes() == b"one\nthree\nfour\n"
    assert files.sent.read_bytes() == b"a\nb\nc\n"
    noted = [line for line in files.times.read_text().splitlines() if "gap" in line]
    assert noted == ["sent gap 2 5", "gap 4 104"]
    assert merged(files).split() == [b"one", b"a", b"b", b"three", b"four", b"c"]


def _session(turns: int, *, is_long: bool = False) -> list[Piece]:
    """Return an editor's session of some turns, whose last question is open."""
    words = "x" * (400_000 if is_long else 3)
    lines: list[tuple[bytes, dict[str, object]]] = [
        (b"w", {"id": 9, "result": {"protocolVersion": 1, "agentInfo": {"name": "gemini-cli"}}}),
        (b"s", {"id": 0, "method": "session/new", "params": {"cwd": "/tmp/p"}}),
        (b"w", {"id": 0, "result": {"sessionId": "s"}}),
    ]
    for turn in range(1, turns + 1):
        prompt = [{"type": "text", "text": f"Prompt {turn}"}]
        update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}}
        call = {"toolCallId": f"c{turn}", "kind": "execute", "title": "make"}
        options = [{"optionId": "a", "name": "Allow", "kind": "allow_once"}]
        asked = {"sessionId": "s", "toolCall": call, "options": options}
        lines += [
            (b"s", {"id": turn, "method": "session/prompt", "params": {"sessionId": "s", "prompt": prompt}}),
            (b"w", {"method": "session/update", "params": {"sessionId": "s", "update": update}}),
            (b"w", {"id": turn, "method": "session/request_permission", "params": asked}),
        ]
        if turn < turns:
            lines += [
                (b"s", {"id": turn, "result": {"outcome": {"outcome": "selected", "optionId": "a"}}}),
                (b"w", {"id": turn, "result": {"stopReason": "end_turn"}}),
            ]
    return [(way, json.dumps({"jsonrpc": "2.0"} | line).encode() + b"\n") for way, line in lines]


def test_a_digest_reads_both_directions(tmp_path: Path) -> None:
    """The list knows the prompt and the open question, of a short session, a long one, and one that grows."""
    for name, turns, is_long in (("short", 2, False), ("long", 12, True), ("brief", 12, True)):
        with case(name):
            folder = tmp_path / name
            folder.mkdir()
            pieces, offsets = _session(turns, is_long=is_long), {b"w": 0, b"s": 0}
            files = SessionFiles(folder / "r.ndjson")
            recorder = Recorder(files, continues=False)
            recorder.run(frames(pieces, offsets, ended=False))
            tail = Tail(SessionEntry(OWN, "r", files.recording, 0, 0), is_brief=name == "brief")
            assert tail.update()
            digest = tail.digest
            assert digest is not None
            assert (digest.agent, digest.cwd, digest.is_whole) == ("gemini", "/tmp/p", not is_long)
            assert (digest.first_prompt, digest.last_prompt) == ("Prompt 1", f"Prompt {turns}")
            assert [asked.words for asked in digest.course.questions.values()] == ["execute make"]
            assert not tail.update()
            answer = {"jsonrpc": "2.0", "id": turns, "result": {"outcome": {"outcome": "cancelled"}}}
            ended = {"jsonrpc": "2.0", "id": turns, "result": {"stopReason": "cancelled"}}
            more = [(b"s", json.dumps(answer).encode() + b"\n"), (b"w", json.dumps(ended).encode() + b"\n")]
            for line in more:
                recorder.run(frames([line], offsets, ended=False))
                assert tail.update()
                assert not digest.course.questions


def test_the_beginning_and_the_end_of_a_recording_are_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are not longer than asked, except for the line in which the end begins."""
    lines = [(way, b"%d\n" % number) for number in range(1000, 1100) for way in (b"s", b"w")]
    files = recorded(tmp_path, [*lines, (b"w", b"x" * 600_000 + b"\n"), *lines])
    opened, whole = open_both(files.recording), merged(files)
    assert opened is not None
    with closing(opened):
        for most, length in ((12, 15), (300_000, 1_000)):
            with TemporaryFile() as file:
                assert Exchange().take(opened, file.fileno(), most) == length
                file.seek(0)
                assert file.read() == whole[:length]
        for most, length in ((12, 10), (1_003, 1_000), (300_000, 601_001)):
            reader = Exchange()
            reader.skip(opened, most)
            assert merged(files, reader) == whole[-length:]
    # The arrival times are read in parts, at whose borders no order is lost.
    monkeypatch.setattr(saved, "_TIMES_BYTES", 1 << 10)
    chance, answers = random.Random(3), 0
    pieces: list[Piece] = []
    for number in range(2_000):
        is_sent = chance.random() < 0.01 or number in (0, 1_999)
        pieces.append((b"s" if is_sent else b"w", b"%d\n" % number))
        answers += is_sent
    files = recorded(tmp_path, pieces)
    assert answers > 10
    assert merged(files) == b"".join(line for _, line in pieces)
