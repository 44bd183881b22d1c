"""Damages files as disks, crashes and hostile programs do: a place and a kind of damage for each seed."""

import random
import re
from collections.abc import Callable

_NOT_UTF8 = (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80")
_HALVES = (b"\\ud83d", b"\\u0000", b"\\udc00x")
_MOST_MARKS = 5_000


def damaged(data: bytes, seed: str) -> bytes:
    """Return the bytes of a file with one place damaged, which the seed chooses."""
    chooser = random.Random(seed)
    return chooser.choice(_KINDS)(data, chooser)


def _flipped(data: bytes, chooser: random.Random) -> bytes:
    begin, end = _span(data, chooser)
    return data[:begin] + bytes(byte ^ 1 << chooser.randrange(8) for byte in data[begin:end]) + data[end:]


def _cut(data: bytes, chooser: random.Random) -> bytes:
    return data[: chooser.randrange(len(data) + 1)]


def _zeroed(data: bytes, chooser: random.Random) -> bytes:
    begin, end = _span(data, chooser)
    return data[:begin] + bytes(end - begin) + data[end:]


def _replaced(data: bytes, chooser: random.Random) -> bytes:
    begin, end = _span(data, chooser)
    return data[:begin] + chooser.choice(_NOT_UTF8) + data[end:]


def _repeated(data: bytes, chooser: random.Random) -> bytes:
    begin, end = _span(data, chooser)
    return data[:end] + data[begin:end] * 3 + data[end:]


def _half_a_character(data: bytes, chooser: random.Random) -> bytes:
    return _inserted(data, chooser, rb'"', chooser.choice(_HALVES))


def _huge_number(data: bytes, chooser: random.Random) -> bytes:
    return _inserted(data, chooser, rb"\d(?=\d)", b"9" * 400)


def _inserted(data: bytes, chooser: random.Random, before: bytes, more: bytes) -> bytes:
    """Insert bytes after one of the places that a pattern finds; at any place if it finds none."""
    marks = [found.end() for found in re.finditer(before, data)][:_MOST_MARKS]
    at = chooser.choice(marks) if marks else chooser.randrange(len(data) + 1)
    return data[:at] + more + data[at:]


def _span(data: bytes, chooser: random.Random) -> tuple[int, int]:
    begin = chooser.randrange(len(data) + 1)
    return begin, min(begin + chooser.choice((1, 1, 4, 40)), len(data))


_KINDS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(_flipped, _cut, _zeroed, _replaced, _repeated, _half_a_character, _huge_number),
)
