"""The files of Codex: sessions/YYYY/MM/DD/rollout-TIME-UUID.jsonl, older ones compressed."""

from __future__ import annotations

from collections.abc import Callable

from agentwatch.agents.codex.program import is_later_segment, thread_in_name
from agentwatch.agents.described import first_line, first_text, id_in, text_with
from agentwatch.agents.found import Found, Metadata, Reach
from agentwatch.agents.places import HOUR_S, Kind, Spot, one_file

_DAY_S = 24 * HOUR_S


def sessions() -> Kind:
    """Return the kind of the folder `sessions`.

    A day has up to 50 hours somewhere on the earth: its folder gets no session after two days.
    """
    day = Kind("codex", _owner, _rollout(False), cools_after_s=2 * _DAY_S)
    month = Kind("codex", below=_numbers(day))
    return Kind("codex", below=_numbers(Kind("codex", below=_numbers(month))))


def archive() -> Kind:
    """Return the kind of the folder `archived_sessions`."""
    return Kind("codex", _owner, _rollout(True))


def _owner(name: str) -> str | None:
    return name if name.startswith("rollout-") and name.endswith((".jsonl", ".jsonl.zst")) else None


def _rollout(is_archived: bool) -> Callable[[Spot], list[Found]]:
    metadata = Metadata(is_archived=is_archived)

    def read(spot: Spot) -> list[Found]:
        thread, reach = thread_in_name(spot.name), Reach.LINES
        if spot.name.endswith(".zst"):
            reach = Reach.STORE
        elif is_later_segment(spot.name):
            thread, reach = id_in(first_text(spot.path, "id")) or thread, Reach.PARTS
        parent = spot.previous[0].parent if spot.previous else _parent(spot, thread)
        return one_file(spot, thread, parent=parent, metadata=metadata, reach=reach)

    return read


def _parent(spot: Spot, thread: str) -> str | None:
    """Return the first of the threads above a thread; None for one of its own, and for a compressed file."""
    return next((each for each in spawners_in(first_line(spot.path)) if each != thread), None)


def spawners_in(line: bytes) -> list[str]:
    """Return the threads that have spawned a thread, the first of all before its parent. `line` is the first
    line of its file."""
    parent = id_in(text_with(line, "parent_thread_id"))
    root = id_in(text_with(line, "session_id"))
    return [] if parent is None else [each for each in (root, parent) if each is not None]


def _numbers(kind: Kind) -> Callable[[str], Kind | None]:
    return lambda name: kind if name.isdecimal() else None
