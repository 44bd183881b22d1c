"""The digests of sessions that have ended, kept in a file: the next list reads only what has changed.
`digests.jsonl` begins with a JSON object, which says where each session is; one JSON array a session follows.
It is read in one go and replaced as a whole. What is damaged, or of another version, is read again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints
from zlib import crc32

import orjson

import agentwatch
from agentwatch.agents.registry import AGENTS
from agentwatch.agents.session_entry import OWN, SessionEntry
from agentwatch.analysis.prices import is_installed
from agentwatch.base.files import state_folder
from agentwatch.catalog.digest.digest import Digest
from agentwatch.recording.store import open_own, private_folder, replace_file

_MOST_SESSIONS = 10_000
"""The newest sessions are kept. Reading them takes 40 ms, if all of them are asked for."""
_MOST_BYTES = 1 << 25
_LARGEST = 1 << 14
_WORTH_BYTES = 1 << 20
"""The file is written when the sessions that are new in it have this size: reading them takes 30 ms."""

Identity = list[Any]
"""What a digest depends on: the session as it was found, its subagents, and how it was read."""


def identity_of(found: SessionEntry, subagents: Iterable[SessionEntry], *, is_brief: bool) -> Identity | None:
    """Return the identity of a digest; None if it is not kept: the decoder of a plug-in has no version."""
    if found.agent not in AGENTS and found.agent != OWN:
        return None
    path, reach = os.fspath(found.path), found.reach.value
    below = sorted([each.id, each.size, each.changed_ns] for each in subagents)
    about = found.agent, found.id, path, found.size, found.changed_ns, found.inode, reach, found.parent
    return [*about, [*found.metadata], is_brief, below]


_PATH, _SIZE = 2, 3


class KeptDigests:
    """Keeps digests in a file. No content of the file makes it raise."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.path = state_folder(environ) / "digests.jsonl"
        self._file: _File | None = None
        """It is None before it is read, and after it was released."""
        self._new: dict[str, bytes] = {}
        self._size = 0
        """The bytes of the new sessions."""

    def of(self, identity: Identity) -> Digest | None:
        """Return the digest of exactly this identity."""
        if self._file is None:
            self._file = _File.read(self.path)
        return _kept(self._file.at(identity[_PATH]), identity)

    def add(self, identity: Identity, digest: Digest) -> None:
        """Add a digest that reads back as it is; one with half a surrogate pair, for example, does not."""
        values = [getattr(digest, name) for name in _READERS]
        try:
            entry = orjson.dumps([identity, values], default=_plain, option=orjson.OPT_PASSTHROUGH_DATACLASS)
        except TypeError:
            return
        if len(entry) <= _LARGEST and _kept(entry, identity) == digest:
            self._new[identity[_PATH]] = entry
            self._size += max(identity[_SIZE], len(entry))

    @property
    def is_open(self) -> bool:
        return self._file is not None

    def write(self, present: Callable[[], Mapping[str, int]]) -> None:
        """Write what is new, if it is worth it, and release what was read. What another process has written
        meanwhile stays. `present` has the sessions that exist by path, with the time of their change."""
        known, self._file = self._file, None
        is_worth = self._size >= _WORTH_BYTES
        if is_worth or (known is not None and not known.places.keys() <= present().keys()):
            with suppress(OSError):  # it only costs time
                private_folder(self.path.parent)
                replace_file(self.path, lambda: self._content(present()), is_lasting=False)
            self._new, self._size = {}, 0

    def _content(self, present: Mapping[str, int]) -> bytes:
        known = _File.read(self.path)
        newest = sorted(present, key=lambda path: -present[path])
        entries, size = dict[str, bytes](), 0
        for path in newest:
            entry = self._new.get(path) or known.at(path)
            if entry and (size := size + len(entry)) <= _MOST_BYTES and len(entries) < _MOST_SESSIONS:
                entries[path] = entry
        places, begin = dict[str, tuple[int, int, int]](), 0
        for path, entry in entries.items():
            places[path] = begin, len(entry), crc32(entry)
            begin += len(entry) + 1
        first = orjson.dumps({"made_by": _made_by(), "places": places})
        return b"\n".join((first, *entries.values(), b""))


class _File(NamedTuple):
    places: Mapping[str, Any] = {}
    """The place of each path, its length and its checksum: foreign data."""
    data: bytes = b""
    begin: int = 0

    @classmethod
    def read(cls, path: Path) -> _File:
        """Return no digests if the file is not there, is damaged, or was made by another version."""
        try:
            with open(open_own(path), "rb", buffering=0) as file:
                data = file.read(2 * _MOST_BYTES)
            begin = data.index(b"\n") + 1
            first = orjson.loads(data[:begin])
        except (OSError, ValueError):
            return cls()
        if type(first) is not dict or first.get("made_by") != _made_by():
            return cls()
        places = first.get("places")
        return cls(places, data, begin) if type(places) is dict else cls()

    def at(self, path: str) -> bytes:
        match self.places.get(path):
            case [int() as at, int() as length, int() as checksum]:
                entry = self.data[self.begin + at : self.begin + at + length]
                return entry if len(entry) <= _LARGEST and crc32(entry) == checksum else b""
        return b""


def _kept(entry: bytes, identity: Identity) -> Digest | None:
    if not entry:
        return None
    try:
        known, values = orjson.loads(entry)
        found: Digest | None = _digest(values) if known == identity else None
    except (ValueError, TypeError, KeyError):
        return None
    return found


# A value as JSON has it, made again from its type. A type that is not known here is an error of the program.


class _Reader(NamedTuple):
    types: frozenset[type]
    """The types in JSON."""
    make: Callable[[Any], Any] | None = None
    """Raises `ValueError`, `TypeError` or `KeyError`; None if the value is the same in JSON."""


def _plain(value: object) -> list[object]:
    if is_dataclass(value):
        return [_pairs(getattr(value, each.name)) for each in fields(value)]
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    raise TypeError(type(value))


def _pairs(value: object) -> object:
    """Return a dictionary whose keys are tuples, which JSON does not have, as a list of pairs."""
    has_tuples = isinstance(value, dict) and any(type(key) is not str for key in value)
    return [*value.items()] if isinstance(value, dict) and has_tuples else value


def _reader(hint: Any) -> _Reader:
    origin, inside = get_origin(hint), get_args(hint)
    if hint in (str, int, bool, float, NoneType):
        return _Reader(frozenset({hint, int} if hint is float else {hint}))
    if origin in (Union, UnionType):
        [some] = [_reader(each) for each in inside if each is not NoneType]
        return _Reader(some.types | {NoneType}, some.make)
    if origin is tuple and inside[-1] is ...:
        return _Reader(_LISTS, _each(_reader(inside[0])))
    if origin in (list, set, frozenset):
        each = _each(_reader(inside[0]))
        return _Reader(_LISTS, lambda values: origin(each(values)))
    if origin is tuple:
        return _Reader(_LISTS, _one_by_one(tuple, [*map(_reader, inside)]))
    if origin is dict and inside[0] is str:
        each = _each(_reader(inside[1]))
        return _Reader(
            frozenset({dict}), lambda values: dict(zip(values, each(values.values()), strict=True))
        )
    if origin is dict:
        pairs = _each(_Reader(_LISTS, _one_by_one(tuple, [*map(_reader, inside)])))
        return _Reader(frozenset({list, dict}), lambda values: dict(pairs(values)))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _Reader(frozenset({str}), {each.value: each for each in hint}.__getitem__)
    if isinstance(hint, type) and is_dataclass(hint):
        return _Reader(_LISTS, _one_by_one(lambda values: hint(*values), _fields(hint)))
    if isinstance(hint, type) and issubclass(hint, tuple):
        return _Reader(_LISTS, _one_by_one(partial(tuple.__new__, hint), _fields(hint)))
    raise TypeError(hint)


def _fields(hint: type) -> list[_Reader]:
    return [*map(_reader, get_type_hints(hint).values())]


_LISTS = frozenset({list})


def _each(reader: _Reader) -> Callable[[Iterable[Any]], tuple[Any, ...]]:
    return lambda values: tuple(_value(reader, value) for value in values)


def _one_by_one(make: Callable[[list[Any]], Any], readers: list[_Reader]) -> Callable[[Any], Any]:
    makers = [(at, reader.make) for at, reader in enumerate(readers) if reader.make is not None]
    right: set[tuple[type, ...]] = set()  # most records have the types of another one

    def made(values: Any) -> Any:
        types = tuple(map(type, values))
        if types not in right:
            if not all(found in reader.types for found, reader in zip(types, readers, strict=True)):
                raise TypeError
            right.add(types)
        for at, read in makers:
            if (value := values[at]) is not None:
                values[at] = read(value)
        return make(values)

    return made


def _value(reader: _Reader, value: Any) -> Any:
    if type(value) not in reader.types:
        raise TypeError
    return value if reader.make is None or value is None else reader.make(value)


_HINTS = get_type_hints(Digest)
_READERS = {each.name: _reader(_HINTS[each.name]) for each in fields(Digest) if each.compare}
"""The fields that are the value of a digest. The others are needed only for lines that follow."""
_digest = _one_by_one(lambda values: Digest(**dict(zip(_READERS, values, strict=True))), [*_READERS.values()])


def _shape(hint: Any) -> str:
    inside = [_shape(each) for each in get_args(hint)]
    if isinstance(hint, type) and issubclass(hint, Enum):
        inside = [f"{each.value}" for each in hint]
    elif isinstance(hint, type) and (issubclass(hint, tuple) or is_dataclass(hint)):
        inside = [f"{name} {_shape(each)}" for name, each in get_type_hints(hint).items()]
    return f"{getattr(hint, '__name__', hint)}({', '.join(inside)})"


_CODE = ("agents", "session", "analysis", "catalog/digest", "recording", "sources/stores")


def _made_by() -> list[Any]:
    """What reads digests: the version, the fields, whether there is a price list, and the times of the
    folders of the code. An installed version never changes; a checkout does when git has replaced a file."""
    package = Path(agentwatch.__file__).parent
    times = []
    for name in _CODE:
        with suppress(OSError), os.scandir(package / name) as entries:
            folders = [entry for entry in entries if entry.is_dir() and entry.name != "__pycache__"]
            times.append(max(os.stat(each).st_mtime_ns for each in [package / name, *folders]))
    shapes = "; ".join(f"{name} {_shape(_HINTS[name])}" for name in _READERS)
    return [agentwatch.__version__, crc32(shapes.encode()), times, is_installed()]
