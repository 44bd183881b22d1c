"""Does one large line block the screen?

A session on the screen receives a call that has read 16 MB, a result of 51 MB, or a result of 4 MB whose text
has not occurred before. Keys are pressed all the time, and each must take effect. The longest time until one
does is the longest time without a frame.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from live import watched_pipe
from measure import MILLISECONDS, command_line, head, megabytes, row
from pressing import Presser, down_and_up
from producer import lines_of

_DELTAS = 6000
_CALLS = _DELTAS // 200
_SESSION = '"session_id":"5e0c7a2b-1f53-4f6d-8d0a-93b5b7c1a644"'
_LINE = "    return total[index] + offset  # as before\\n"
_PRESSES = 10
"""The number of key presses before the line, and again after it."""
_OPENING_SECONDS = 0.3


def main() -> None:
    """Measure a call, then two results."""
    parser = command_line(__doc__)
    given = parser.parse_args()
    sizes = (2_000_000, 17_500_000, 20_000) if given.smoke else (16_000_000, 51_000_000, 4_000_000)
    call, result, unsaid = sizes
    presses = 2 if given.smoke else _PRESSES
    head("line", "on the screen after", "keys meanwhile", "p50", "p95", "longest", "before: longest")
    with tempfile.TemporaryDirectory() as folder:
        _measure(
            "a call that read", Path(folder, "call"), _call(call), f"{_CALLS + 1:,} calls".encode(), presses
        )
        _measure("a result of", Path(folder, "result"), _result(result), rb"succeeded", presses)
        _measure(
            "a result, not said before, of", Path(folder, "unsaid"), _result(unsaid), rb"succeeded", presses
        )


def _measure(name: str, folder: Path, large: bytes, shown: bytes, presses: int) -> None:
    folder.mkdir()
    line = folder / "line"
    line.write_bytes(large)
    with watched_pipe(folder) as (terminal, pipe):
        for text, _ in lines_of(_DELTAS, is_finished=False):
            pipe.write(text.encode())
        terminal.wait_for(f"{_CALLS:,} calls".encode())
        terminal.press(b"2")
        terminal.read_for(_OPENING_SECONDS)
        terminal.press(b"\r")  # consecutive reads are folded into one row, which this opens
        terminal.read_for(_OPENING_SECONDS)
        presser = Presser(terminal)
        presser.begin(b"jj")
        keys = down_and_up()
        _press(presser, keys, presses)
        before = presser.cells()[-1]
        presser.answers.clear()
        began = time.monotonic()
        terminal.expect(shown)
        with _copied(line, pipe):
            while not terminal.has_occurred(shown):
                presser.press(keys())
        took = terminal.moments(shown)[0] - began
        _press(presser, keys, presses)
    row(f"{name} {megabytes(len(large))}", f"{took * MILLISECONDS:.0f} ms", *presser.cells(), before)


def _press(presser: Presser, keys: Callable[[], bytes], count: int) -> None:
    for _ in range(count):
        presser.press(keys())


def _copied(path: Path, pipe: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a child that copies a file into the pipe, whose buffer is smaller than the file."""
    return subprocess.Popen(["cat", str(path)], stdout=pipe)


def _call(size: int) -> bytes:
    arguments = '"tool_call":{"readToolCall":{"args":{"path":"a.py"}'
    call = f'"call_id":"toolu_01{_CALLS + 1:022d}",{_SESSION},{arguments}'
    content = _LINE * (size // len(_LINE))
    result = f'"result":{{"success":{{"content":"{content}","totalLines":{size // len(_LINE)}}}}}'
    begin = '{"type":"tool_call","subtype"'
    return f'{begin}:"started",{call}}}}}}}\n{begin}:"completed",{call},{result}}}}}}}\n'.encode()


def _result(size: int) -> bytes:
    text = _LINE * (size // len(_LINE))
    return f'{{"type":"result","subtype":"success","is_error":false,"result":"{text}",{_SESSION}}}\n'.encode()


if __name__ == "__main__":
    main()
