"""The files of the Gemini CLI: tmp/SLUG/chats/session-TIME-ID.jsonl, before that one JSON document each.

The lines have no working directory. The folder SLUG has it in `.project_root`, or `projects.json` names the
slug of each working directory. In older versions the slug is the SHA-256 of the working directory.
"""

from __future__ import annotations

import os
from contextlib import suppress

from agentwatch.agents.described import first_text, folder_in, id_in, json_object
from agentwatch.agents.found import Found, Metadata, Reach
from agentwatch.agents.places import HOUR_S, Kind, Spot, any_folder, one_file
from agentwatch.recording.ends import first_bytes

_MOST_PATH = 4096
_MOST_PROJECTS = 10_000
_SUFFIXES = (".jsonl", ".json")


def chats() -> Kind:
    """Return the kind of the folder `tmp`."""
    return _Chats().kind


class _Chats:
    """Reads the sessions of Gemini, and remembers the working directory of each folder."""

    def __init__(self) -> None:
        self._cwds: dict[str, str] = {}
        """The working directory of each folder SLUG, by its path."""
        self._projects: tuple[str, object, dict[str, str]] = ("", None, {})
        """The last `projects.json`: its path, its modification time, and the directories by their slugs."""
        subagents = Kind("gemini", _subagent_owner, self._subagent, cools_after_s=HOUR_S)
        chats = Kind("gemini", _session_owner, self._session, below=any_folder(subagents))
        self.kind = Kind("gemini", below=any_folder(Kind("gemini", below={"chats": chats}.get)))
        """The folder `tmp`."""

    def _session(self, spot: Spot) -> list[Found]:
        stamp, previous = spot.stamp, spot.previous
        if previous and stamp is not None and previous[0].inode == stamp.inode:
            session_id = previous[0].id
        else:
            session_id = id_in(first_text(spot.path, "sessionId")) or os.path.splitext(spot.name)[0]
        return self._one(spot, session_id, spot.folder.parent())

    def _subagent(self, spot: Spot) -> list[Found]:
        stem = os.path.splitext(spot.name)[0]
        return self._one(spot, stem, spot.folder.parent(2), spot.folder.name)

    def _one(self, spot: Spot, session_id: str, slug: str, parent: str | None = None) -> list[Found]:
        metadata = Metadata(cwd=self._cwd(slug))
        reach = Reach.STORE if spot.name.endswith(".json") else Reach.LINES
        return one_file(spot, session_id, parent=parent, metadata=metadata, reach=reach)

    def _cwd(self, slug: str) -> str | None:
        """Return the working directory of a folder SLUG; None if it is not known yet."""
        cwd = self._cwds.get(slug)
        if cwd is None:
            written = first_bytes(os.path.join(slug, ".project_root"), _MOST_PATH)
            cwd = folder_in(written.decode("utf-8", "replace").strip())
            cwd = self._by_slug(os.path.dirname(os.path.dirname(slug))).get(os.path.basename(slug), cwd)
            if cwd is not None:
                self._cwds[slug] = cwd
        return cwd

    def _by_slug(self, root: str) -> dict[str, str]:
        """Return the working directories that `projects.json` names, by their slugs."""
        path = os.path.join(root, "projects.json")
        changed = None
        with suppress(OSError, ValueError):
            changed = os.lstat(path).st_mtime_ns
        if self._projects[:2] != (path, changed):
            projects = json_object(path).get("projects") if changed is not None else None
            pairs = list(projects.items())[:_MOST_PROJECTS] if isinstance(projects, dict) else []
            known = {slug: cwd for cwd, slug in pairs if isinstance(slug, str) and folder_in(cwd)}
            from hashlib import sha256  # takes 2 ms to import

            hashed = {sha256(cwd.encode()).hexdigest(): cwd for cwd in known.values()}
            self._projects = (path, changed, hashed | known)
        return self._projects[2]


def _session_owner(name: str) -> str | None:
    return name if name.startswith("session-") and name.endswith(_SUFFIXES) else None


def _subagent_owner(name: str) -> str | None:
    return name if name.endswith(_SUFFIXES) else None
