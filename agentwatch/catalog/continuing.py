"""Continues a session: the vendor's command, its folder and its permissions, and who holds the session. All
that a session says is foreign: its id is part of the command only if it can be nothing but an id, its folder
is resolved and shown first, its permission mode chooses one that we declare, and the prompt is a word that no
program reads as an option.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents.fields import parse
from agentwatch.agents.opening import store_for
from agentwatch.agents.program import Mode, Resume
from agentwatch.agents.registry import program_named, variables
from agentwatch.agents.session_entry import OWN, Reach, SessionEntry
from agentwatch.agents.state_report import Life
from agentwatch.base.clock import now_ms
from agentwatch.base.faults import USAGE, Fault, cannot_open, raising, reading
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.local_session import NO_FILE, LocalSession
from agentwatch.catalog.session_status import Process
from agentwatch.recording.acts import acts_file
from agentwatch.recording.saved import has_both_directions, open_saved
from agentwatch.recording.store import open_own
from agentwatch.text.safe import cut, safe_line

REFUSED = 1
_MOST_TEXT = (1 << 17) - 1024
"""The bytes of a prompt: Linux passes at most 128 KiB as one argument."""
PROCESS_SECONDS = 7.0
"""How long the processes may take to be known where `ps` shows them."""
_SHOWN = 60
_NOT_OF_THE_FOLDER = ("XDG_", "OPENCODE_")
"""Variables whose relative paths are ignored, or are those of another folder than the working directory."""
_MODE = "{mode}"
SETTINGS = "settings"
"""Confirms a run whose permissions only the settings of its agent decide."""
_SETTINGS_DECIDE = "the agent's settings decide"


class Holder(NamedTuple):
    """A process that has a session open, or may have it open."""

    process: Process | None
    tmux: str = ""
    is_sure: bool = True
    is_run: bool = False
    """Whether `agentwatch run` has started it, and records it."""

    @property
    def words(self) -> str:
        """`process 4711 (codex, tmux main:@0.%0)`; foreign text."""
        where = f", tmux {self.tmux}" if self.tmux else ""
        if self.process is None or not self.process.pid:
            return f"a process that is not known{where}"
        kind = " daemon" if self.process.is_shared and not self.process.viewer else ""
        return f"process {self.process.viewer or self.process.pid} ({self.process.agent}{kind}{where})"


class Continued(NamedTuple):
    """A session that the user wants to continue. Its texts are foreign; empty means unknown."""

    agent: str
    id: str
    folder: str
    """The folder in which it was started, and under which its agent keeps it."""
    acts: Path | None
    holder: Holder | None = None
    has_one_prompt: bool = False
    """Whether it was started for one prompt, so that it takes none from a queue."""
    is_subagent: bool = False
    is_kept: bool = True
    """Whether its agent keeps it on this machine."""
    path: Path = NO_FILE
    """The address of what its agent keeps; no file without lines."""
    mode: str = ""
    """The permission mode that the newest line with one says."""
    mode_before: str = ""
    """The mode before a damaged line, which may have said another one."""


class Plan(NamedTuple):
    command: tuple[str, ...]
    text: str
    resume: Resume
    mode: Mode | None = None
    """The permission mode of the run; None if the agent has no option for it."""
    is_sure: bool = False
    """Whether the run is known to be allowed no more than the session was. If not, the user confirms it."""
    folder: str = ""
    """The resolved folder in which it runs; empty if it does not matter, and before it is checked."""
    place: tuple[int, int] = (0, 0)
    """The device and the inode of the folder."""

    @property
    def mark(self) -> str:
        """What the user has seen is what is run: it differs for every other plan."""
        words = "\0".join((*map(str, self.place), self.folder, str(self.is_sure), *self.command))
        return sha256(os.fsencode(words)).hexdigest()

    @property
    def permissions(self) -> str:
        """`this run: plan: it plans, and changes nothing`."""
        mode = self.mode
        if mode is None:
            return f"this run: {_SETTINGS_DECIDE}"
        reported = "" if self.is_sure or not mode.decides else "; the session does not say its own mode"
        return f"this run: {mode.name}: {mode.words if mode.decides else _SETTINGS_DECIDE}{reported}"

    @property
    def confirmation(self) -> str:
        """The name of the mode, or `settings`."""
        return SETTINGS if self.mode is None else self.mode.name


def session_to_continue(path: Path, environ: Mapping[str, str], home: Path) -> Continued:
    """The session at an address, and who holds it now. Raise `Fault` if it cannot be read."""
    if path == NO_FILE:
        raise Fault("nothing of this session is written yet", REFUSED)
    path = path.absolute()
    machine = Machine(environ, home, is_brief=True)
    machine.settle_processes(now_ms, PROCESS_SECONDS)
    session = machine.session_at(path) or _of_file(path)
    found, digest = session.found, session.digest
    recording = path if found.agent == OWN else None
    agent, session_id = found.key
    if recording is not None:
        agent, session_id = (digest.agent, digest.session_id) if digest is not None else ("", "")
    holders = [_holder(each) for each in machine.holders((agent, session_id))]
    kept = machine.session((agent, session_id))
    session = kept or session
    if session.problem is not None:
        raise cannot_open(session.found.path, session.problem)
    started = ("", "", "") if kept is None else _started(kept.found)  # a recording may name any folder
    folder, mode, before = started
    return Continued(
        agent,
        session_id,
        folder,
        acts_file(agent, session_id, recording, environ),
        max(holders, key=lambda each: (each.is_sure, each.is_run, each.process is not None), default=None),
        has_one_prompt=session.digest is not None and session.digest.is_one_liner,
        is_subagent=session.found.parent is not None,
        is_kept=kept is not None,
        path=NO_FILE if kept is None or kept.found.reach is Reach.LISTED else kept.found.path,
        mode=mode,
        mode_before=before,
    )


def _started(found: SessionEntry) -> tuple[str, str, str]:
    """The folder in which a session was started, its mode, and the mode before a damaged line; each may be
    empty. The agent changes its working directory by `cd`, so the folder is the first one of the lines, or
    that of the metadata, under which the agent keeps the session."""
    program = program_named(found.agent)
    resume = None if program is None else program.resume
    if resume is None:
        return "", "", ""
    folder, mode, before = "" if resume.folder_in is not None else found.metadata.cwd or "", "", ""
    with raising(cannot_open, found.path):
        for line in _lines(found):
            fields = fields_in(line)
            if resume.mode_in is not None:
                if fields is None:  # a damaged line may say one
                    mode, before = "", mode or before
                elif (reported := resume.mode_in(fields)) is not None:
                    mode, before = reported, ""
            if fields is not None and resume.folder_in is not None and not folder:
                cwd = resume.folder_in(fields)
                folder = cwd if cwd is not None and resume.keeps(found.path, cwd) else ""
    return folder if resume.keeps(found.path, folder) else "", mode, before


def _lines(found: SessionEntry) -> Iterator[bytes]:
    """Yield the lines of a session, without those of its subagents; of one over 16 MiB only the beginning."""
    if found.reach is Reach.LISTED:
        return
    with reading(found.path):
        if found.reach is Reach.LINES:
            reader = open_saved(found.path, open_file=open_own)
            try:
                while batch := reader.read():
                    yield from batch.data
            finally:
                os.close(reader.fd)
        elif (store := store_for(found.path)) is not None:
            with closing(store):
                while lines := store.new_lines():
                    yield from lines


def fields_in(line: bytes) -> Mapping[str, object] | None:
    """The object in a line, empty for another value; None if the line is cut or damaged."""
    if line.isspace():
        return {}
    try:
        found = parse(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else {}


def _of_file(path: Path) -> LocalSession:
    """Return the session of a file that is in no folder of an agent, and is read as a recording of ours."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise cannot_open(path, error) from None
    except ValueError:  # a NUL
        raise Fault(f"cannot open {path}: not a path", USAGE) from None
    found = SessionEntry(OWN, path.stem, path, status.st_size, status.st_mtime_ns, status.st_ino)
    session = LocalSession(found)
    session.read(is_brief=True)
    return session


def _holder(session: LocalSession) -> Holder:
    process, reported, found = session.process, session.reported, session.found
    if process is None and reported is not None and reported.pid is not None:
        process = Process(reported.pid, 0, reported.runs if found.agent == OWN else found.agent)
    is_sure = session.life is Life.LIVE and (process is None or not process.is_guess)
    is_run = is_sure and found.agent == OWN and not has_both_directions(found.path)
    return Holder(process, reported.tmux if reported is not None else "", is_sure, is_run)


def modes_of(session: Continued) -> tuple[Mode, ...]:
    """The modes of a run: that of the session, and then the narrower ones. If its own is not known, they are
    not wider than the one that asks, and than the last one that is known."""
    program = program_named(session.agent)
    if program is None or (resume := program.resume) is None or not resume.modes:
        return ()
    names = [mode.name for mode in resume.modes]
    widest = names.index(session.mode if session.mode in names else resume.asking)
    if session.mode_before in names:
        widest = min(widest, names.index(session.mode_before))
    return resume.modes[widest::-1]


def planned(session: Continued, text: str, *, is_queued: bool = False, permissions: str = "") -> Plan:
    """The command that continues a session with a prompt, which looks nothing up. `permissions` is
    `settings`, or the name of a mode that is not wider than that of the session, which it is without it."""
    if session.is_subagent:
        raise Fault("this is a subagent: continue the session that has started it", USAGE)
    program = program_named(session.agent)
    if program is None:
        raise Fault("the agent of this session is not known", USAGE)
    resume, name = program.resume, session.agent
    if resume is None:
        raise Fault(f"cannot continue a session of {name}: {program.no_resume}", USAGE)
    words = resume.queue if is_queued else resume.command
    if not words:
        raise Fault(f"{name} has no queue for sessions that are open", USAGE)
    if resume.id.fullmatch(session.id) is None:
        shown = cut(safe_line(session.id), _SHOWN)
        raise Fault(f"the id of this session of {name} is not one: {shown or 'it has none'}", USAGE)
    if not text.strip():
        raise Fault("the prompt is empty", USAGE)
    if "\0" in text or len(os.fsencode(text)) > _MOST_TEXT:
        raise Fault(f"the prompt contains a NUL, or is longer than {_MOST_TEXT:,} bytes", USAGE)
    if resume.misread is not None and not is_queued and resume.misread.fullmatch(text):
        raise Fault(f"{name} would take this prompt for something else: begin it with another word", USAGE)
    if is_queued and permissions:
        raise Fault("a prompt in a queue has the permissions of the session that is open", USAGE)
    mode = None if is_queued else _mode_named(permissions, session)
    options = () if mode is None else mode.options
    command = (
        part
        for word in words
        for part in (options if word == _MODE else (word.format(id=session.id, text=text),))
    )
    is_known = session.mode in (each.name for each in resume.modes)
    is_sure = is_queued or (mode is not None and mode.decides and (is_known or mode is resume.modes[0]))
    return Plan(tuple(command), text, resume, mode, is_sure)


def _mode_named(name: str, session: Continued) -> Mode | None:
    """The mode with a name, the widest without one; None if the agent has none."""
    modes = modes_of(session)
    names = [mode.name for mode in modes] or [SETTINGS]
    if name and name not in names:
        raise Fault(f"the permissions of this run cannot be {name}: only {', '.join(names)}", USAGE)
    return modes[names.index(name) if name else 0] if modes else None


def check_confirmed(plan: Plan, session: Continued) -> None:
    """Raise a Fault if the run may be allowed more than the session; it says how to confirm that."""
    if not plan.is_sure:
        less = "".join(f", or less with --permissions {mode.name}" for mode in modes_of(session)[1:][-1:])
        raise Fault(f"{plan.permissions}: confirm it with --permissions {plan.confirmation}{less}", USAGE)


def in_folder(plan: Plan, session: Continued) -> Plan:
    """A plan with the folder of its session, all links resolved. Raise `Fault` if it does not exist."""
    shown = safe_line(session.folder)
    if not os.path.isabs(session.folder):
        why = shown or "its lines name none under which its agent keeps it"
        raise Fault(f"the folder of this session is not known: {why}", USAGE)
    try:
        folder = os.path.realpath(session.folder, strict=True)
        status = os.stat(os.path.join(folder, ""))
    except OSError as error:
        raise _unusable(session.folder, error) from None
    except ValueError:  # a NUL, or half a surrogate pair
        raise Fault(f"the folder of this session cannot be a path: {shown}", USAGE) from None
    if not plan.resume.keeps(session.path, folder):
        words = f"{shown} is a link now, and its agent keeps the session under another folder"
        raise Fault(f"refused: {words} than {safe_line(folder)}", REFUSED)
    return plan._replace(folder=folder, place=(status.st_dev, status.st_ino))


def enter(plan: Plan) -> None:
    """Make the folder of a plan the working directory; raise `Fault` if it is not the one that was checked.
    Relative folders in PATH, and in the variables that name the folders of agents, are made absolute first,
    so that the folder of the session names no program and no settings."""
    os.environ["PATH"] = os.pathsep.join(map(os.path.abspath, os.get_exec_path()))
    for name in variables():
        value = os.environ.get(name, "")
        if value and not value.startswith("~") and not name.startswith(_NOT_OF_THE_FOLDER):
            os.environ[name] = os.path.abspath(value)
    try:
        fd = os.open(plan.folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
        try:
            status = os.fstat(fd)
            if (status.st_dev, status.st_ino) != plan.place:
                raise Fault(f"refused: {safe_line(plan.folder)} is another folder now", REFUSED)
            os.fchdir(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise _unusable(plan.folder, error) from None
    os.environ["PWD"] = plan.folder  # opencode prefers it to the working directory
    for name in plan.resume.widened_by:
        os.environ.pop(name, None)


def _unusable(folder: str, error: OSError) -> Fault:
    reason = (error.strerror or "unknown error").lower()
    return Fault(f"the folder of this session cannot be used: {safe_line(folder)}: {reason}", USAGE)
