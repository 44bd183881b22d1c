"""Writes a live stream on stdout at a given rate: either mostly deltas, or a typical session (`--mix`).

In a stream of deltas, each delta has a marker word of its own, `mk` and seven digits. The newest marker on a
screen shows how far the screen has come. The times at which the deltas were written go to a file. Every 200
deltas are followed by their flush and a call. The stream ends with a result that has the whole text.
"""

from __future__ import annotations

import argparse
import os
import time
from array import array
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path

from sessions import MIXES, Session

_CALL_EVERY = 200
_PARAGRAPH = 8
_AHEAD_SECONDS = 1.0
_BATCH_BYTES = 1 << 16
_SESSION = '"session_id":"5e0c7a2b-1f53-4f6d-8d0a-93b5b7c1a644"'
_ASSISTANT = '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"'
_KEYS = '"apiKeySource":"login","cwd":"/src","model":"Sonnet 5","permissionMode":"default"'
_INIT = f'{{"type":"system","subtype":"init",{_KEYS},{_SESSION}}}\n'
_WORDS = (
    "joins calls by their id",
    "naïve — but it holds",
    "and 3 files have changed ✓",
    "so each is read once",
)

START_MS = 1_793_610_846_000


def marker(number: int) -> str:
    """Return the word that occurs in one delta and nowhere else."""
    return f"mk{number:07d}"


def lines_of(deltas: int, *, tiny: bool = False, is_finished: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield each line of a stream with `deltas` deltas, and whether the line is a delta."""
    yield _INIT, False
    segment: list[str] = []
    text: list[str] = []
    calls = 0
    for number in range(deltas):
        at_ms = START_MS + number
        more = "" if tiny else f" {_WORDS[number % len(_WORDS)]}"
        end = "\\n\\n" if number % _PARAGRAPH == _PARAGRAPH - 1 else " "
        piece = f"{marker(number)}{more}{end}"
        segment.append(piece)
        yield f'{_ASSISTANT}{piece}"}}]}},{_SESSION},"timestamp_ms":{at_ms}}}\n', True
        if len(segment) == _CALL_EVERY:
            whole = "".join(segment)
            text.append(whole)
            segment.clear()
            calls += 1
            model_call = f'"model_call_id":"m{calls}","timestamp_ms":{at_ms}'
            yield f'{_ASSISTANT}{whole}"}}]}},{_SESSION},{model_call}}}\n', False
            call = f'"call_id":"toolu_01{calls:022d}",{_SESSION},{model_call},"tool_call":{{"readToolCall":{{'
            path = f'"args":{{"path":"src/part_{calls}.py"}}'
            yield f'{{"type":"tool_call","subtype":"started",{call}{path}}}}}}}\n', False
            read = f'{path},"result":{{"success":{{"content":"pass","totalLines":1}}}}'
            yield f'{{"type":"tool_call","subtype":"completed",{call}{read}}}}}}}\n', False
    if segment:
        text.append("".join(segment))
        yield f'{_ASSISTANT}{text[-1]}"}}]}},{_SESSION}}}\n', False
    if not is_finished:
        return
    result = f'"is_error":false,"duration_ms":{deltas},"result":"{"".join(text)}",{_SESSION}'
    yield f'{{"type":"result","subtype":"success",{result}}}\n', False


def write_at(lines: Iterator[tuple[str, bool]], rate: float, ahead: int) -> array[float]:
    """Write each line by itself when it is due; return the times at which the deltas were written."""
    times = array("d")
    start = time.monotonic() + _AHEAD_SECONDS
    for number, (line, is_delta) in enumerate(lines):
        due = start + (number - ahead) / rate if number >= ahead else 0.0
        while (now := time.monotonic()) < due:
            time.sleep(due - now)
        if is_delta:
            times.append(now)
        _write(line.encode())
    return times


def write_all(lines: Iterator[tuple[str, bool]]) -> None:
    """Write lines as fast as the reader accepts them."""
    batch: list[str] = []
    size = 0
    for line, _ in lines:
        batch.append(line)
        size += len(line)
        if size >= _BATCH_BYTES:
            _write("".join(batch).encode())
            batch, size = [], 0
    _write("".join(batch).encode())


def lines_of_mix(name: str, least: int) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a generated session, at least `least` of them; none counts as a delta."""
    session = Session(MIXES[name], seed=1)
    count = 0
    turns = (turn() for turn in repeat(session.turn))
    for lines in chain([session.begin()], turns):
        yield from ((line, False) for line in lines)
        count += len(lines)
        if count >= least:
            break
    for lines in session.end():
        yield from ((line, False) for line in lines)


def main() -> None:
    """Write the stream that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__)
    much = parser.add_mutually_exclusive_group(required=True)
    much.add_argument("--deltas", type=int, help="number of deltas")
    much.add_argument("--mix", choices=MIXES, help="write a session of `sessions.py` with this mix")
    parser.add_argument("--lines", type=int, default=1000, help="with --mix: minimum number of lines (1000)")
    parser.add_argument("--rate", type=float, default=0, help="lines per second; 0 means unlimited")
    parser.add_argument("--ahead", type=int, default=0, help="lines to write at once, one second ahead")
    parser.add_argument("--tiny", action="store_true", help="deltas of ten characters")
    parser.add_argument("--unfinished", action="store_true", help="leave out the result at the end")
    parser.add_argument(
        "--times", type=Path, help="write the times to FILE, as doubles of the monotonic clock"
    )
    given = parser.parse_args()
    if given.mix:
        lines = lines_of_mix(given.mix, given.lines)
    else:
        lines = lines_of(given.deltas, tiny=given.tiny, is_finished=not given.unfinished)
    if not given.rate:
        write_all(lines)
        return
    times = write_at(lines, given.rate, given.ahead)
    if given.times:
        given.times.write_bytes(times.tobytes())


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
