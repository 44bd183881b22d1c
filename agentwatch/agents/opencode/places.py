"""The files of opencode: a database, and before it had one, storage/session/PROJECT/SESSION.json."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from agentwatch.agents.databases import Computed, Row, Rows, database_of
from agentwatch.agents.description_files import folder_in, id_in, json_object, name_in, text_in, time_in
from agentwatch.agents.fields import mapping
from agentwatch.agents.opencode.program import LATER_SESSIONS, is_database, not_known
from agentwatch.agents.places import Kind, Spot, any_folder, one_file, owns
from agentwatch.agents.session_entry import Metadata, Reach, SessionEntry

_COLUMNS = (
    *("id", "parent_id", "directory", "title", "model"),
    *("time_created", "time_updated", "time_archived"),
)
_NEWEST = (
    "(SELECT message.{} FROM message WHERE message.session_id = session.id"
    " ORDER BY message.time_created DESC, message.id DESC LIMIT 1)"
)
_OF_RECENT = (
    "CASE WHEN session.time_updated < (SELECT one.time_updated FROM session AS one"
    " ORDER BY one.time_updated DESC LIMIT 1 OFFSET 200) THEN NULL ELSE {} END"
)
"""Only the 200 sessions that have changed last may have changed later than their rows say: looking that up
takes 20 us for each."""
_OWN = ("id", "time_updated")
_MESSAGE = {"message": ("session_id", "id", "time_created", "time_updated")}
_CHANGES = (
    Computed("message_updated", _OF_RECENT.format(_NEWEST.format("time_updated")), _OWN, _MESSAGE),
    Computed(
        "part_updated",
        _OF_RECENT.format(
            f"(SELECT part.time_updated FROM part WHERE part.message_id = {_NEWEST.format('id')}"  # noqa: S608
            " ORDER BY part.time_updated DESC LIMIT 1)"
        ),
        _OWN,
        {**_MESSAGE, "part": ("message_id", "time_updated")},
    ),
)
"""When the newest message and its parts were changed last: a call that runs, asks or ends.
`session.time_updated` is up to 5.8 s behind it (opencode 1.18.33). Indexes of the database lead to both."""


def data() -> Kind:
    project = Kind("opencode", owns(".json"), _described)
    storage = Kind("opencode", below={"session": Kind("opencode", below=any_folder(project))}.get)
    return _databases(is_database, {"storage": storage}.get)


def named_database(name: str) -> Kind:
    return _databases(name.__eq__, lambda _: None)


def _databases(accepts: Callable[[str], bool], below: Callable[[str], Kind | None]) -> Kind:
    rows = Rows("session", _COLUMNS, _session, _CHANGES)
    later = Rows(LATER_SESSIONS, (*_COLUMNS, "version"), _later_session)

    def read(spot: Spot) -> list[SessionEntry]:
        found = {each.id: each for each in rows.read(spot)}
        for each in later.read(spot):
            if each.id not in found or each.changed_ns > found[each.id].changed_ns:
                found[each.id] = each
        return list(found.values())

    return Kind("opencode", lambda name: database_of(name, accepts), read, below=below, is_polled=True)


def _later_session(path: Path, row: Row) -> SessionEntry:
    """Return a session of opencode 2, whose messages are in tables that are not read."""
    found = _session(path, {**row, **dict.fromkeys((each.name for each in _CHANGES), None)})
    metadata = found.metadata._replace(problem=not_known(row["version"]))
    return found._replace(reach=Reach.LISTED, metadata=metadata)


def _session(path: Path, row: Row) -> SessionEntry:
    changes = map(time_in, (row["time_updated"], *(row[each.name] for each in _CHANGES)))
    metadata = Metadata(
        title=text_in(row["title"]),
        cwd=folder_in(row["directory"]),
        model=name_in(mapping(row["model"]).get("id")),
        began_ms=time_in(row["time_created"]),
        changed_ms=max(filter(None, changes), default=None),
        is_archived=time_in(row["time_archived"]) is not None,
    )
    return SessionEntry("opencode", row["id"], path, 0, 0, 0, Reach.STORE, id_in(row["parent_id"]), metadata)


def _described(spot: Spot) -> list[SessionEntry]:
    described = json_object(spot.path)
    times = mapping(described.get("time"))
    metadata = Metadata(
        title=text_in(described.get("title")),
        cwd=folder_in(described.get("directory")),
        began_ms=time_in(times.get("created")),
        changed_ms=time_in(times.get("updated")),
        is_archived=time_in(times.get("archived")) is not None,
    )
    session_id = id_in(described.get("id")) or spot.name.removesuffix(".json")
    parent = id_in(described.get("parentID"))
    return one_file(spot, session_id, parent=parent, metadata=metadata, reach=Reach.STORE)
