"""Writes a session of any size in Cursor's `stream-json`, the same for the same seed.

The session is in partial mode: it has deltas, a flush that repeats each segment before its calls, and a
result that repeats the whole text. The newest call runs `lastcall` and the text ends with `lastwords`, so
that the bytes of a screen show whether it has the newest data. The script prints what it has written as a
line of JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import BinaryIO, NamedTuple

from payloads import CWD, Body, Payloads, command_body

MODEL = "Sonnet 5 200K High"
LAST_CALL = "lastcall"
LAST_WORDS = "lastwords"

_SESSION_ID = "7d3c5a10-64f1-4a0e-9b0c-2f6f3d0c8e55"
_SESSION = f'"session_id":"{_SESSION_ID}"'
_ASSISTANT = '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"'
_DELTA_END = f'"}}]}},{_SESSION},"timestamp_ms":'
_THINKING = '{"type":"thinking","subtype":"delta","text":"'
_THINKING_END = f'",{_SESSION},"timestamp_ms":'
_PIECES = 8192
_LARGE_BYTES = 5_000_000


class Mix(NamedTuple):
    """The composition of an agent's turn. Pairs are the minimum and the maximum."""

    thoughts: tuple[int, int]
    deltas: tuple[int, int]
    characters: tuple[int, int]
    """Characters of a delta."""
    calls: tuple[int, int]
    """Calls of a turn, which run in parallel."""
    payloads: str
    description: str


MIXES = {
    "typical": Mix((0, 40), (8, 66), (20, 60), (1, 4), "typical", "what an agent at work writes"),
    "deltas": Mix((0, 0), (400, 400), (2, 14), (1, 1), "small", "hardly anything but tiny deltas"),
    "calls": Mix((0, 0), (10, 10), (2, 14), (1, 1), "small", "a call for ten tiny deltas"),
    "blobs": Mix((0, 0), (3, 3), (20, 60), (1, 1), "large", "each call reads 5 MB"),
}


@dataclass
class Facts:
    """What was written."""

    bytes: int = 0
    lines: int = 0
    deltas: int = 0
    calls: int = 0
    text_bytes: int = 0


class Session:
    """Generates one session, turn by turn."""

    def __init__(self, mix: Mix, seed: int) -> None:
        self.facts = Facts()
        self._mix = mix
        self._random = Random(seed)
        payloads = Payloads(seed + 1)
        self._pieces = payloads.pieces(_PIECES, *mix.characters)
        self._thoughts = payloads.pieces(_PIECES, 20, 60)
        self._bodies = {
            "typical": payloads.typical_bodies,
            "small": payloads.small_bodies,
            "large": lambda: payloads.large_bodies(_LARGE_BYTES),
        }[mix.payloads]()
        self._at_ms = 1_793_610_846_000
        self._turns = 0
        self._text: list[str] = []

    def begin(self) -> list[str]:
        """Return the first lines: the init and the prompt."""
        init = f'{{"type":"system","subtype":"init","apiKeySource":"login","cwd":"{CWD}",{_SESSION}'
        user = '{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Mend it."}]}'
        return [f'{init},"model":"{MODEL}","permissionMode":"default"}}\n', f"{user},{_SESSION}}}\n"]

    def turn(self) -> list[str]:
        """Return the lines of one turn: thinking, text, its flush, and calls."""
        self._turns += 1
        lines = self._think(self._number(self._mix.thoughts))
        start = int(self._random.random() * (_PIECES - self._mix.deltas[1]))
        deltas = self._pieces[start : start + self._number(self._mix.deltas)]
        lines += self._say(deltas)
        model_call = f"08052837-18cd-401f-9eb5-050b8391cd2f-{self._turns}-c2we"
        at_ms = self._later()
        flush = f'"}}]}},{_SESSION},"model_call_id":"{model_call}","timestamp_ms":{at_ms}}}\n'
        lines.append(f"{_ASSISTANT}{self._text[-1]}{flush}")
        count = self._number(self._mix.calls)
        return lines + self._call([self._body() for _ in range(count)], model_call)

    def end(self) -> Iterator[list[str]]:
        """Yield the last lines: a call, the last words, the final flush, and the result."""
        yield self._call([command_body(f"make {LAST_CALL}")], "08052837-18cd-401f-9eb5-050b8391cd2f-end-c2we")
        lines = self._say(["That is ", "all of it: ", f"{LAST_WORDS}."])
        yield [*lines, f'{_ASSISTANT}{self._text[-1]}"}}]}},{_SESSION}}}\n']
        text = "".join(self._text)
        usage = '{"inputTokens":91022,"outputTokens":80211,"cacheReadTokens":1201,"cacheWriteTokens":0}'
        result = '{"type":"result","subtype":"success","duration_ms":3600000,"duration_api_ms":3600000'
        proof = f'{_SESSION},"request_id":"9f0f3a52","usage":{usage}'
        yield [f'{result},"is_error":false,"result":"{text}",{proof}}}\n']

    def last_text(self) -> str:
        """Return the newest text segment."""
        return self._text[-1]

    def _number(self, bounds: tuple[int, int]) -> int:
        least, most = bounds
        return least + int(self._random.random() * (most - least + 1))

    def _later(self, lines: int = 1) -> int:
        """Advance the clock by 25 ms per line, and return the time of the first line."""
        at_ms = self._at_ms
        self._at_ms += 25 * lines
        return at_ms

    def _body(self) -> Body:
        return self._bodies[int(self._random.random() * len(self._bodies))]

    def _think(self, count: int) -> list[str]:
        if not count:
            return []
        start, at_ms = int(self._random.random() * (_PIECES - count)), self._later(count + 1)
        lines = [
            f"{_THINKING}{piece}{_THINKING_END}{at}}}\n"
            for at, piece in enumerate(self._thoughts[start : start + count], at_ms)
        ]
        lines.append(
            f'{{"type":"thinking","subtype":"completed",{_SESSION},"timestamp_ms":{at_ms + count}}}\n'
        )
        return lines

    def _say(self, deltas: list[str]) -> list[str]:
        """Return the deltas of a segment."""
        self.facts.deltas += len(deltas)
        self._text.append("".join(deltas))
        at_ms = self._later(len(deltas))
        return [f"{_ASSISTANT}{piece}{_DELTA_END}{at}}}\n" for at, piece in enumerate(deltas, at_ms)]

    def _call(self, bodies: list[Body], model_call: str) -> list[str]:
        """Return the lines of parallel calls: all start, and the last to start is the first to end."""
        started, completed = [], []
        for body in bodies:
            self.facts.calls += 1
            call_id, at_ms = f"toolu_01{self.facts.calls:022d}", self._later()
            beside = f'"hookAdditionalContexts":[],"toolCallId":"{call_id}","startedAtMs":"{at_ms}"'
            after = f'"model_call_id":"{model_call}",{_SESSION},"timestamp_ms":'
            begin = f'"call_id":"{call_id}","tool_call":{{'
            started.append(
                f'{{"type":"tool_call","subtype":"started",{begin}{body.started},{beside}}},{after}{at_ms}}}\n'
            )
            ended_ms = at_ms + 10 + len(body.completed) % 300
            ended = f'{beside},"completedAtMs":"{ended_ms}"'
            completed.append(
                f'{{"type":"tool_call","subtype":"completed",{begin}{body.completed},{ended}}},{after}{ended_ms}}}\n'
            )
        self._later(20)
        return started + completed[::-1]


def write_session(out: BinaryIO, mix: Mix, seed: int, *, size: int = 0, deltas: int = 0) -> Facts:
    """Write a session, and return what was written.

    Args:
        out: Where to write it.
        mix: The composition of its turns.
        seed: The seed of the random numbers.
        size: The approximate number of bytes.
        deltas: The least number of deltas, instead of a size.
    """
    session = Session(mix, seed)
    facts = session.facts

    def write(lines: list[str]) -> None:
        data = "".join(lines).encode()
        out.write(data)
        facts.bytes += len(data)
        facts.lines += len(lines)

    write(session.begin())
    while facts.bytes + facts.text_bytes < size or facts.deltas < deltas:
        write(session.turn())
        facts.text_bytes += len(session.last_text().encode())
    for lines in session.end():
        write(lines)
    return facts


def main() -> None:
    """Write the session that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT", help="output file; an existing file is replaced")
    mixes = "; ".join(f"{name}: {mix.description}" for name, mix in MIXES.items())
    parser.add_argument("--mix", choices=MIXES, default="typical", help=mixes)
    much = parser.add_mutually_exclusive_group()
    much.add_argument("--megabytes", type=float, default=2.0, help="approximate size (default: 2)")
    much.add_argument("--deltas", type=int, default=0, help="minimum number of deltas, instead of a size")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    size = 0 if given.deltas else int(given.megabytes * 1_000_000)
    with given.out.open("wb", buffering=1 << 20) as out:
        facts = write_session(out, MIXES[given.mix], given.seed, size=size, deltas=given.deltas)
    print(json.dumps(asdict(facts)))


if __name__ == "__main__":
    main()
