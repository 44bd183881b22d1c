"""Physical lines that are one event, cut by raw line ends inside strings, are joined again."""

import json
from pathlib import Path

import pytest

from agentwatch.agents import Decoder
from agentwatch.feed.feed import Feed, LineJoiner
from agentwatch.recording.saved import open_saved
from agentwatch.session.actions import action
from agentwatch.session.blocks import OutputBlock, TextBlock
from agentwatch.session.counts import LineCounts
from agentwatch.session.events import Event, Malformed, RunStarted, Unknown
from agentwatch.session.session import Session
from tests.builders.lines import (
    completed,
    delta,
    event,
    feed_of,
    final,
    init,
    message,
    non_blank,
    physical_lines,
    raw,
    result,
    session,
    started,
    user,
)
from tests.conftest import case


def check_counts(read: Session, *lines: bytes) -> None:
    """Check that the counts of a session add up to the lines of its recording."""
    counts = read.lines
    assert counts.total == counts.events + counts.malformed + counts.unknown == non_blank(b"".join(lines))
    assert counts.repaired <= counts.events


# --- joined ----------------------------------------------------------------------------------------------


def test_cut_lines_are_joined_and_counted() -> None:
    """Physical lines that together are one object become that event, and each is counted; raw line ends,
    blank lines and carriage returns stay in the text. A piece may look like JSON, or have bad bytes, which
    are repaired once; of an unknown type each physical line is unknown.
    """
    for line_end in (b"\n", b"\r\n"):
        for count in (1, 2, 3, 4000):
            with case((line_end, count)):
                text = "\n".join(f"line {number}" for number in range(count + 1))
                lines = (init(), raw(final(text), line_end=line_end), result(text))
                read = session(*lines)
                assert read.text == text.replace("\n", line_end.decode())
                assert read.lines == LineCounts(events=count + 3, repaired=1)
                check_counts(read, *lines)
    lines = (init(), raw(final("one\n\n\n  \ntwo")), result("one\n\n\n  \ntwo"))
    read = session(*lines)
    assert read.run.text_matches_result
    assert read.lines == LineCounts(events=4, repaired=1)
    given = (init(), raw(delta("a\nb")), raw(delta("c\n\nd")), delta("e"), raw(final("a\nbc\n\nde")))
    read = session(*given)
    assert read.text == "a\nbc\n\nde"
    assert read.lines.malformed == 0
    assert read.lines.repaired == 3
    check_counts(read, *given)
    rows = (
        init(),
        raw(started("shell", "c\n1", command="cat <<E\nx\nE")),
        raw(completed("shell", "c\n1", {"success": {"exitCode": 3, "stdout": "x\n\ny\n"}})),
        raw(result("all\nwell")),
    )
    read = session(*rows)
    assert [(action(call), call.call_id, call.exit_code) for call in read.calls] == [
        ("Ran terminal command cat <<E ⏎ +2 lines (failed: exit 3)", "c\n1", 3)
    ]
    assert read.run.result == "all\nwell"
    check_counts(read, *rows)
    read = session(init(), final("a\rb\nc").replace(b"\\r", b"\r").replace(b"\\n", b"\n"))
    assert (read.text, read.lines.repaired) == ("a\rb\nc", 1)
    for lead in [b"\xef\xbb\xbf", b" ", b"\t \xef\xbb\xbf"[:1]]:
        with case(lead):
            cut = user("one\ntwo").replace(b"\\n", b"\n")
            read = session(lead + cut, result(""))
            assert [run.prompt for run in read.runs] == ["one\ntwo"]
            assert read.lines.malformed == 0
    # Odd pieces are joined and counted.
    cases: list[str] = [
        "[1, 2]",
        "7",
        "null",
        '\\"quoted\\"',
        "}",
        "{",
        "{a}",
        "}}}",
        "warning: }",
        "\\\\",
        "\t{",
    ]
    for piece in cases:
        with case(piece):
            other_text: str = json.loads(f'"{piece}"') if "\t" not in piece else "{"
            other_read = session(init(), raw(final(f"a\n{other_text}\nb")), user("next"))
            assert other_read.text == f"a\n{other_text}\nb"
            assert other_read.lines == LineCounts(events=5, repaired=1)
    line = (
        raw(message("assistant", "x\nQ", value=0))
        .replace(b"Q", b"\xff\\ud83d")
        .replace(b'"value": 0', b'"value": NaN')
    )
    other_read = session(init(), line)
    assert other_read.text == "x\n\ufffd\ufffd"
    assert other_read.lines == LineCounts(events=3, repaired=1)
    other_lines = (init(), raw(event("weather", text="a\nb\n\nc")), user("Hi"))
    other_read = session(*other_lines)
    check_counts(other_read, *other_lines)
    assert other_read.lines == LineCounts(events=2, unknown=3)
    [odd] = other_read.lines.odd
    assert odd.event == Unknown("type weather")
    assert (odd.place.offset, odd.place.length) == (len(other_lines[0]), len(other_lines[1]) - 1)


# --- left as they are ------------------------------------------------------------------------------------


class Counting(Decoder):
    """A decoder that counts the bytes of its attempts to join lines."""

    def __init__(self) -> None:
        super().__init__()
        self.tried = 0

    def decode_joined(self, pieces: list[bytes]) -> list[Event] | None:
        """Decode pieces as one line, and count their bytes."""
        self.tried += sum(map(len, pieces))
        return super().decode_joined(pieces)


def test_what_is_no_object_is_not_joined() -> None:
    """Half a line, noise and pieces that together are not an object are malformed, each by itself; the whole
    line after them is read. After 4,096 pieces, or 16 MiB, joining stops: the pieces are malformed, and the
    next event is read. However lines are broken, the attempts to join them read no more than twice their
    bytes.
    """
    assert Decoder().decode_joined([b'["a', b'b"]']) is None
    assert Decoder().decode_joined([b'{"a', b'b"']) is None
    half = final("lost")[:60] + b"\n"
    lines = (init(), half, user("Hi"), half, half, final("well"), half)
    read = session(*lines)
    assert read.lines == LineCounts(events=3, malformed=4)
    assert (read.run.prompt, read.text) == ("Hi", "well")
    assert [odd.event.text for odd in read.lines.odd if isinstance(odd.event, Malformed)] == [
        half.decode().strip()
    ] * 4
    half = final("lost")[:60] + b"\n"
    lines = (init(), half, raw(started("read", "c\n1", path="a")), half, half, raw(final("x\ny")), user("Hi"))
    read = session(*lines)
    check_counts(read, *lines)
    assert ([call.call_id for call in read.calls], read.text) == (["c\n1"], "x\ny")
    assert read.lines == LineCounts(events=6, malformed=3, repaired=2)
    lines = (b"warning: {\n", init(), b"  at foo (bar.js)\n", b"}\n", user("Hi"), b"done }\n", result(""))
    read = session(*lines)
    assert read.lines == LineCounts(events=3, malformed=4)
    check_counts(read, *lines)
    read = session(init(), b'{"a":\n', is_over=False)
    assert read.lines == LineCounts(events=1, malformed=1)
    assert session(init(), b'{"a":"\n', is_over=False).lines == LineCounts(events=1)
    half = b'{"a":"x\n'
    given = (init(), half, raw(final("one\ntwo")).replace(b'"type"', b'"a":1,"type"', 1), user("Hi"))
    read = session(*given)
    assert read.lines == LineCounts(events=4, malformed=1, repaired=1)
    assert read.text == "one\ntwo"
    rows = (init(), b'{"a":"x\n', b"\n", b"y\n")
    assert session(*rows).lines == LineCounts(events=1, malformed=2)
    assert session(*rows, is_over=False).lines == LineCounts(events=1)
    # A line of too many pieces is given up.
    for count in [4095, 4096, 9000]:
        with case(count):
            other_lines = (init(), b'{"type":"user","text":"\n', b"x\n" * count, user("Hi"), result(""))
            other_read = session(*other_lines)
            assert other_read.lines == LineCounts(events=3, malformed=count + 1)
            assert other_read.run.prompt == "Hi"
            check_counts(other_read, *other_lines)
    for count, repaired in ((4096, 1), (4097, 0)):
        other_read = session(init(), raw(final("\n".join(["x"] * count))), user("Hi"))
        assert (other_read.lines.repaired, other_read.run.prompt) == (repaired, "Hi")
        assert other_read.lines.total == count + 2
    other_lines = (init(), b'{"a":"\n', (b"x" * (1 << 20) + b"\n") * 18, b'"}\n', user("Hi"))
    other_read = session(*other_lines)
    assert other_read.lines == LineCounts(events=2, malformed=20)
    assert other_read.run.prompt == "Hi"
    # No line is joined more than twice.
    units = (b"x}\n", b'"}\n', b'{"a}\n', b'{"a":"x\n', b'  "b": {}\n', b"{\n", b'"a" }\n"\n', b"\\}\n")
    for unit in units:
        with case(unit):
            decoder = Counting()
            joiner = LineJoiner(decoder)
            last_lines = (b'{"a":"\n', unit * 4000, init())
            found = [
                decoded for line in physical_lines(b"".join(last_lines)) for decoded in joiner.take(line)
            ]
            assert isinstance(found[-1].events[-1], RunStarted)
            assert sum(decoded.physical_lines for decoded in found) == non_blank(b"".join(last_lines))
            assert decoder.tried <= 2 * sum(map(len, last_lines))


# --- read back -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [final("one\ntwo")[:80], raw(final("one\ntwo")).partition(b"\n")[0] + b"\n"])
def test_an_incomplete_line_at_the_end_is_no_backlog(tmp_path: Path, part: bytes) -> None:
    """The screen need not read again before the recording grows, whether the line end is there or not."""
    path = tmp_path / "growing.ndjson"
    path.write_bytes(init() + part)
    feed = feed_of(path, follow=True)
    assert feed.offset == len(init())
    assert feed.backlog() == 0
    with path.open("ab") as file:
        file.write(b"more")
    assert feed.backlog() > 0


def test_a_joined_line_reads_back_as_one_step(tmp_path: Path) -> None:
    """The details of a call whose lines were cut are read from all pieces; the recording is unchanged. The
    feed applies a joined event in one step, and its offset is never inside one.
    """
    outcome = {"success": {"stdout": "one\n\ntwo", "exitCode": 0}}
    lines = (
        init(),
        raw(started("shell", command="cat <<E\nx\nE")),
        b"\n",
        raw(completed("shell", result=outcome)),
        result(""),
    )
    path = tmp_path / "cut.ndjson"
    path.write_bytes(b"".join(lines))
    feed = feed_of(path)
    [call] = feed.session.calls
    assert call.started is not None
    assert call.ended is not None
    assert [feed.line_at(place) + b"\n" for place in (call.started, call.ended)] == [lines[1], lines[3]]
    assert feed.blocks(call.started) == [TextBlock("command", "cat <<E\nx\nE")]
    assert feed.blocks(call.ended)[0] == OutputBlock("stdout", "one\n\ntwo")
    assert path.read_bytes() == b"".join(lines)
    assert (feed.offset, feed.backlog()) == (len(path.read_bytes()), 0)
    # A joined line counts as one step of the feed.
    other_lines = (init(), raw(final("a\nb\nc")), result("a\nb\nc"))
    other_path = tmp_path / "cut.ndjson"
    other_path.write_bytes(b"".join(other_lines))
    other_feed = Feed(open_saved(other_path))
    offsets = []
    while other_feed.advance(0):
        offsets.append(other_feed.offset)
    assert offsets == [len(b"".join(other_lines[: count + 1])) for count in range(3)]
