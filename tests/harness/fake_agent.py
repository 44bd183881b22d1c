"""A stand-in for a coding agent: `python tests/harness/fake_agent.py RECORDING [switches]`.

It plays a recording on stdout and ends as the switches say. It has one thread and no buffers, so everything
written is available to its reader. INT, TERM and HUP end it by that signal, after its report; a reader that
has gone (EPIPE) ends it with code 1.
"""

import argparse
import json
import os
import re
import resource
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

CHUNK = 1 << 16  # bytes per write when there is no pace
BURST_LINE = 1000  # approximate bytes per line of a burst
NOISE = b"agent: this line on stderr is one of very many\n" * 220  # 10 KB
HANG_SECONDS = 300  # longer than any test; if the test is killed, its agent does not stay for ever
ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signalled(BaseException):
    """Raised when a signal asks the agent to end; `args[0]` is the signal's number."""


def command(recording: Path, *switches: str) -> list[str]:
    """Return the argv that plays `recording` with `switches`, using the running interpreter."""
    return [sys.executable, str(Path(__file__).resolve()), str(recording), *switches]


@dataclass
class Output:
    """The agent's stdout: writes what it is given until `left` bytes are written, and counts them."""

    left: int
    byte_count: int = 0
    line_count: int = 0
    worst_ms: float = 0.0

    def write(self, data: bytes) -> None:
        """Write `data` with as few system calls as the reader allows."""
        rest = data[: self.left]
        while rest:
            begun = time.perf_counter()
            written = os.write(1, rest)
            self.worst_ms = max(self.worst_ms, (time.perf_counter() - begun) * 1000)
            self.byte_count += written
            self.left -= written
            self.line_count += rest.count(b"\n", 0, written)
            rest = rest[written:]


def assistant_lines(size: int, recording: bytes) -> bytes:
    """Return `size` bytes of numbered lines of the recording's session, at least one line."""
    found = re.search(rb'"session_id": ?"([^"\\]*)"', recording)
    content = [{"type": "text", "text": "@TEXT@"}]
    event = {"type": "assistant", "message": {"role": "assistant", "content": content}}
    line = json.dumps(event | {"session_id": found[1].decode() if found else "fake"}) + "\n"
    count = max(1, size // BURST_LINE)
    widths = [size // count + (n < size % count) - len(line) + len("@TEXT@") for n in range(count)]
    texts = [f"{n} ".ljust(wide, "x") for n, wide in enumerate(widths)]
    return "".join(line.replace("@TEXT@", text) for text in texts).encode()


def pieces(data: bytes, args: argparse.Namespace) -> Iterator[tuple[float, bytes]]:
    """Yield each piece to write, with its time in seconds after the start."""
    length = 0.0
    if args.times:
        length, turn = reads(data, args.recording.with_suffix(".times"), args.speed)
    elif args.pace:
        lines = re.findall(rb"[^\n]*\n|[^\n]+", data)
        length, turn = len(lines) / args.pace, [(n / args.pace, x) for n, x in enumerate(lines)]
    else:
        turn = [(0, data[at : at + CHUNK]) for at in range(0, len(data), CHUNK)]
    for number in range(args.repeat):
        for due, piece in turn:
            yield number * length + due, piece


def reads(data: bytes, times: Path, speed: float) -> tuple[float, list[tuple[float, bytes]]]:
    """Return the seconds from the first read to the last, and the reads, each with its second."""
    marks = [(int(a), int(b)) for a, b in re.findall(r"(?m)^(\d+) (\d+)$", times.read_text())]
    seconds = [(epoch_ms - marks[0][1]) / 1000 / speed for _, epoch_ms in marks]
    ends = [offset for offset, _ in marks[1:]] + [len(data)]
    parts = [data[offset:end] for (offset, _), end in zip(marks, ends, strict=True)]
    return seconds[-1], list(zip(seconds, parts, strict=True))


def pause(until: float, *, noisy: bool) -> None:
    """Wait until the monotonic time `until`; a noisy agent writes to stderr meanwhile."""
    while (left := until - time.monotonic()) > 0:
        if noisy:
            os.write(2, NOISE)
        time.sleep(min(left, 0.01) if noisy else left)


def report(path: Path | None, output: Output, children: list[int]) -> None:
    """Write the report atomically, so that a reader always sees all of it."""
    if path:
        facts = {
            "lines": output.line_count,
            "bytes": output.byte_count,
            "children": children,
            "pid": os.getpid(),
        }
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        draft.write_text(json.dumps(facts | {"worst_write_ms": round(output.worst_ms, 3)}) + "\n")
        draft.replace(path)


def play(args: argparse.Namespace, output: Output, children: list[int]) -> None:
    """Do everything that the switches ask for, up to the end or the hang."""
    # The first noise exceeds what a pipe holds (64 KiB), so an unread stderr stops the agent at once.
    noise = NOISE * 13 if args.stderr_forever else b""
    os.write(2, "".join(f"{text}\n" for text in args.stderr).encode() + noise)
    recording = played = args.recording.read_bytes()
    result = re.search(rb'(?m)^\{ *"type": *"result"', recording)
    if args.hang_before_result and result:
        played = recording[: result.start()]
    begun = time.monotonic()
    for due, piece in pieces(played, args):
        pause(begun + due, noisy=args.stderr_forever)
        output.write(piece)
        if not output.left:
            break
    if args.burst:
        output.write(assistant_lines(args.burst, recording))
    for seconds, own in ((args.fork, False), (args.setsid, True)):
        if seconds:
            child = ["sleep", str(seconds)]
            children.append(os.posix_spawnp("sleep", child, os.environ, setsid=own))
    if args.hang or args.hang_before_result:
        report(args.report, output, children)
        pause(time.monotonic() + HANG_SECONDS, noisy=args.stderr_forever)


def raise_signalled(signum: int, _frame: FrameType | None) -> None:
    """Turn the first signal into an exception, and ignore further signals while the report is written."""
    for other in ENDING_SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    raise Signalled(signum)


def main() -> int:
    """Play the recording, and return the exit code that the switches ask for."""
    args = arguments()
    for signum in ENDING_SIGNALS:
        signal.signal(signum, raise_signalled)
    if args.ignore_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    output, children = Output(sys.maxsize if args.cut is None else args.cut), list[int]()
    code, last_signal = args.exit, args.die
    try:
        play(args, output, children)
    except BrokenPipeError:
        code = 1
    except Signalled as signalled:
        last_signal = signalled.args[0]
    report(args.report, output, children)
    if last_signal:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if last_signal in ENDING_SIGNALS:
            signal.signal(last_signal, signal.SIG_DFL)
        os.kill(os.getpid(), last_signal)
    return int(code)


def signal_number(text: str) -> int:
    """Return a signal's number from its number or name: `9`, `KILL`, `SIGKILL`."""
    return int(text) if text.isdigit() else signal.Signals[f"SIG{text.removeprefix('SIG')}"].value


def arguments() -> argparse.Namespace:
    """Parse the switches."""
    parser = argparse.ArgumentParser(description="A stand-in for a coding agent.")
    add = parser.add_argument
    add("recording", type=Path, metavar="RECORDING")
    add("--pace", type=float, default=0, metavar="N", help="lines a second; 0: at once")
    add("--times", action="store_true", help="at the pace of the .times file beside RECORDING")
    add("--speed", type=float, default=1, metavar="N", help="with --times: speed factor")
    add("--repeat", type=int, default=1, metavar="N", help="number of times to play it")
    add("--cut", type=int, metavar="BYTES", help="write no more than the first BYTES bytes")
    add("--burst", type=int, default=0, metavar="BYTES", help="then so much assistant text at once")
    add("--stderr", action="append", default=[], metavar="TEXT", help="first a line on stderr")
    add("--stderr-forever", action="store_true", help="fill stderr, 1 MB a second, until it ends")
    add("--fork", type=float, default=0, metavar="SECONDS", help="leave a child that holds stdout")
    add("--setsid", type=float, default=0, metavar="SECONDS", help="the same, in its own session")
    add("--hang", action="store_true", help="do not exit after the last line (for 5 minutes)")
    add("--hang-before-result", action="store_true", help="never get to the result line")
    add("--ignore-term", action="store_true", help="ignore SIGTERM")
    add("--exit", type=int, default=0, metavar="CODE", help="exit with CODE")
    add("--die", type=signal_number, metavar="SIGNAL", help="end by SIGNAL")
    add("--report", type=Path, metavar="FILE", help="write FILE, in JSON, when all is written")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
