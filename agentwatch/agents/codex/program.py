"""Codex beside its formats. Source: the vendor's documentation and code, and folders that it has written."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.description_files import first_line, first_text, id_in, own_files, text_with
from agentwatch.agents.fields import Fields, mapping, text
from agentwatch.agents.first_use import on_first_use
from agentwatch.agents.places import HOUR_S, Kind, Spot, one_file
from agentwatch.agents.program import (
    CHANGES,
    COMMANDS,
    TIMEOUT_S,
    Command,
    HookedAgent,
    Knowledge,
    McpClient,
    Mode,
    Program,
    Reports,
    Resume,
    SessionsAt,
)
from agentwatch.agents.session_entry import Key, Metadata, Reach, SessionEntry
from agentwatch.agents.state_report import Life, StateReport
from agentwatch.sources.proc import Proc

if TYPE_CHECKING:
    from agentwatch.agents.codex.server import CodexServer, Thread
    from agentwatch.sources.stores.lines import Store


_UUID = 36
_ROOTS = ("$CODEX_HOME", "~/.codex")
_STDIN = re.compile("-")
"""A prompt that is read from stdin."""
_RECEIPT = re.compile(r"Queued message [\w-]{1,100} for thread ([\w-]{1,100})")


def id_in_stem(stem: str) -> str:
    """`rollout-TIME-THREAD`; a later one of the same thread is `rollout-TIME-THREAD_ROLLOUT`."""
    is_later = stem[-_UUID - 1 : -_UUID] == "_"
    return stem[-2 * _UUID - 1 : -_UUID - 1] if is_later else stem[-_UUID:]


def thread_in_name(name: str) -> str:
    return id_in_stem(name.removesuffix(".zst").removesuffix(".jsonl"))


def is_later_segment(name: str) -> bool:
    stem = name.removesuffix(".zst").removesuffix(".jsonl")
    return name.startswith("rollout-") and stem[-_UUID - 1 : -_UUID] == "_"


_segments = on_first_use("agentwatch.agents.codex.threads:open_segments")
_spawned = on_first_use("agentwatch.agents.codex.threads:open_threads")


def _threads(path: Path, head: bytes) -> Store | None:
    """Open a thread that has several rollouts, by its newest, or one that has spawned others."""
    is_rollout = path.suffix == ".jsonl" and path.name.startswith("rollout-")
    if not is_rollout or not head.startswith(b"{"):
        return None
    store: Store | None = _segments(path) if is_later_segment(path.name) else _spawned(path)
    return store


def _is_of_session(path: str) -> bool:
    is_lock = path.endswith(".lock") and "/thread-writer-locks/" in path
    return is_lock or os.path.basename(path).startswith("rollout-")


def _settings(**values: str) -> tuple[str, ...]:
    return tuple(
        word for name, value in values.items() for word in ("-c", f"{name.replace('__', '.')}={value}")
    )


_NOBODY = _settings(approval_policy="on-request", approvals_reviewer="user")
"""`codex exec` asks nobody: with these settings, a call that needs an approval is refused."""
_OWN_FOLDERS = _settings(sandbox_workspace_write__writable_roots="[]")
_NO_NETWORK = _settings(sandbox_workspace_write__network_access="false")
_NETWORK = _settings(sandbox_workspace_write__network_access="true")
_NO_TMP = _settings(
    sandbox_workspace_write__exclude_slash_tmp="true", sandbox_workspace_write__exclude_tmpdir_env_var="true"
)
_WRITES = (*_settings(sandbox_mode="workspace-write"), *_NOBODY, *_OWN_FOLDERS)
_MODES = (
    Mode(
        "read-only", "it writes nothing, and has no network", (*_settings(sandbox_mode="read-only"), *_NOBODY)
    ),
    Mode(
        "workspace-write-no-tmp",
        "it writes in its folder alone, and has no network",
        (*_WRITES, *_NO_NETWORK, *_NO_TMP),
    ),
    Mode(
        "workspace-write",
        "it writes in its folder and in those of temporary files, and has no network",
        (*_WRITES, *_NO_NETWORK),
    ),
    Mode(
        "workspace-write-network",
        "it writes in its folder and in those of temporary files, and has the network",
        (*_WRITES, *_NETWORK),
    ),
    Mode(
        "danger-full-access",
        "everything runs without a question and without a sandbox",
        (*_settings(sandbox_mode="danger-full-access"), *_NOBODY),
    ),
)


def _mode_in(fields: Fields) -> str | None:
    """Return the mode in the line that begins a turn, or a narrower one that can be given: a profile of
    the user may be narrower than each sandbox, and newer versions cannot ask before each command."""
    if fields.get("type") != "turn_context":
        return None
    turn = mapping(fields.get("payload"))
    sandbox = mapping(turn.get("sandbox_policy"))
    kind = text(sandbox, "type") or "unknown"
    active = turn.get("active_permission_profile")
    profile = ":" if active is None else text(mapping(active), "id") or "unknown"
    if not profile.startswith(":"):
        return f"profile {profile}"
    if not _reads_all(turn):
        return "unknown"
    if turn.get("approval_policy") == "untrusted":
        return "read-only"
    if kind != "workspace-write":
        return kind
    if sandbox.get("exclude_slash_tmp") is True or sandbox.get("exclude_tmpdir_env_var") is True:
        return "workspace-write-no-tmp"
    return "workspace-write-network" if sandbox.get("network_access") is True else "workspace-write"


def _reads_all(turn: Fields) -> bool:
    sandbox, files = mapping(turn.get("sandbox_policy")), mapping(turn.get("permission_profile"))
    if any(
        text(mapping(sandbox.get(name)), "type") == "restricted" for name in ("access", "read_only_access")
    ):
        return False
    entries = mapping(files.get("file_system")).get("entries")
    return not isinstance(entries, list) or all(
        text(mapping(entry), "access") in ("read", "write") for entry in entries
    )


def _folder_in(fields: Fields) -> str | None:
    return text(mapping(fields.get("payload")), "cwd") if fields.get("type") == "session_meta" else None


HOOKS = HookedAgent(
    "codex",
    "Codex",
    "CODEX_HOME",
    ".codex",
    "hooks.json",
    ("UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop"),
    is_nested=True,
    timeout=TIMEOUT_S,
    note="Codex runs new hooks once you trust them: start codex, and type /hooks",
)
"""Source: developers.openai.com/codex/hooks, and codex-rs/hooks in the source of Codex (October 2026). The
input begins with session_id; empty output and 0 mean no decision. Run with Codex 0.169.0."""


# The files: sessions/YYYY/MM/DD/rollout-TIME-UUID.jsonl, older ones compressed.

_DAY_S = 24 * HOUR_S


def sessions() -> Kind:
    """A day has up to 50 hours somewhere on the earth: its folder gets no session after two days."""
    day = Kind("codex", _owner, _rollout(False), cools_after_s=2 * _DAY_S)
    month = Kind("codex", below=_numbers(day))
    return Kind("codex", below=_numbers(Kind("codex", below=_numbers(month))))


def archive() -> Kind:
    return Kind("codex", _owner, _rollout(True))


def _owner(name: str) -> str | None:
    return name if name.startswith("rollout-") and name.endswith((".jsonl", ".jsonl.zst")) else None


def _rollout(is_archived: bool) -> Callable[[Spot], list[SessionEntry]]:
    metadata = Metadata(is_archived=is_archived)

    def read(spot: Spot) -> list[SessionEntry]:
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


_AGENT = "codex"
_SECONDS = 1.0
_ENDING = ".lock"
_SOCKET = "app-server-control/app-server-control.sock"


class CodexReports:
    def __init__(self, folders: Iterable[Path], uid: int, proc: Proc) -> None:
        self._folders = tuple(folders)
        self._uid = uid
        self._proc = proc
        self._due = 0.0
        self._servers: dict[Path, CodexServer] = {}
        """The servers that have been asked, by their sockets."""
        self.reported: dict[Key, StateReport] = {}
        self.is_exact = False
        """Whether a session without a lock is not loaded."""

    def refresh(self, now: float, keys: Container[Key] | None = None) -> bool:
        """`keys` is not used: all files are read, or those whose time has come."""
        if 0 <= self._due - now <= _SECONDS:
            return False
        self._due = now + _SECONDS
        locks = {folder: [*own_files(folder, self._uid, _is_lock)] for folder in self._folders}
        holders = self._proc.lock_holders() if any(locks.values()) else {}
        reported = {}
        for folder, files in locks.items():
            ids = {
                name.removesuffix(_ENDING): state
                for name, state in files
                if holders is None or state.inode in holders
            }
            threads, source = self._threads(folder.parent / _SOCKET, now, ids) if ids else ({}, "")
            for session_id, state in ids.items():
                pid, thread = (holders or {}).get(state.inode), threads.get(session_id)
                if pid is None and thread is None:
                    continue
                known = StateReport(_AGENT, session_id, Life.LIVE, pid, began_ms=state.changed_ns // 10**6)
                if thread is not None and thread.state is not None:
                    known = known._replace(state=thread.state, about=thread.about, source=source)
                reported[_AGENT, session_id] = known
        is_exact = holders is not None and any(folder.is_dir() for folder in self._folders)
        has_changed = (reported, is_exact) != (self.reported, self.is_exact)
        self.reported, self.is_exact = reported, is_exact
        return has_changed

    def _threads(self, socket: Path, now: float, ids: Collection[str]) -> tuple[Mapping[str, Thread], str]:
        """Return what the server of a socket says about its threads, and its name; nothing without one."""
        server = self._servers.get(socket)
        if server is None and os.path.lexists(socket):
            from agentwatch.agents.codex.server import CodexServer  # a prompt starts without it

            server = self._servers[socket] = CodexServer(socket, self._uid)
        if server is None:
            return {}, ""
        server.refresh(now, ids)
        return server.threads, f"server {socket}"


def _is_lock(name: str) -> bool:
    return name.endswith(_ENDING) and not name.startswith(".")


PROGRAM = Program(
    name="codex",
    sessions=(
        SessionsAt("sessions", _ROOTS, sessions, "${CODEX_HOME:-$HOME/.codex}"),
        SessionsAt("archived_sessions", _ROOTS, archive),
    ),
    file_format="codex-rollout",
    command=Command(
        names=("codex",),
        packages=("@openai/codex",),
        releases=("codex-x86_64-", "codex-aarch64-"),  # codex-x86_64-unknown-linux-musl
        servers=("app-server", "mcp-server"),
        daemon=frozenset({"--listen", "--managed-daemon"}),
        one_prompt=frozenset({"exec", "e", "review"}),
        folder_options=("-C", "--cd"),
        opens=_is_of_session,
        opens_each=True,
    ),
    knowledge=Knowledge(
        COMMANDS | CHANGES,
        interrupt="Codex exits without a final event, so its running calls stay unfinished.",
    ),
    reports=Reports(
        *("sessions", "thread-writer-locks", "agentwatch.agents.codex.program:CodexReports"),
        server="A report of the server of Codex, which a terminal with options such as -c does not use.",
    ),
    hooks=HOOKS,
    stores=(_threads,),
    id_in=id_in_stem,
    resume=Resume(
        ("codex", "exec", "resume", "{id}", "--json", "{mode}", "--", "{text}"),
        "codex exec resume",
        modes=_MODES,
        asking="read-only",
        mode_in=_mode_in,
        folder_in=_folder_in,
        misread=_STDIN,
        queue=("codex", "queue", "--thread={id}", "--message={text}"),
        receipt=_RECEIPT,
    ),
    mcp=McpClient(
        "Codex",
        ("$CODEX_HOME/config.toml", "~/.codex/config.toml"),
        "codex mcp add agentwatch {env}--",
        "mcp_servers",
    ),
)
