"""Continues a session: the vendor's command, its folder, and who holds the session.

All that a session says is foreign data. Its id is a part of the command only if it can be nothing else than
an id, its folder is resolved and shown before it is used, and the program is declared by us. The prompt is
the user's, and is a word of the command that no program reads as an option.
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents.found import OWN, Found
from agentwatch.agents.program import Resume
from agentwatch.agents.registry import program_named
from agentwatch.agents.reported import Life
from agentwatch.base.clock import now_ms
from agentwatch.base.faults import USAGE, Fault, cannot_open
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.standing import Process
from agentwatch.catalog.tracked import NO_FILE, Tracked
from agentwatch.recording.acts import acts_file
from agentwatch.text.safe import cut, safe_line

REFUSED = 1
_MOST_TEXT = (1 << 17) - 1024
"""The bytes of a prompt: Linux passes at most 128 KiB as one argument."""
PROCESS_SECONDS = 7.0
"""How long the processes may take to be known where `ps` shows them."""
_SHOWN = 60


class Holder(NamedTuple):
    """A process that has a session open, or may have it open."""

    process: Process | None
    """None if it is not known."""
    tmux: str = ""
    is_sure: bool = True

    @property
    def words(self) -> str:
        """Who it is: `process 4711 (codex, tmux main:@0.%0)`; foreign text."""
        where = f", tmux {self.tmux}" if self.tmux else ""
        if self.process is None:
            return f"a process that is not known{where}"
        kind = " daemon" if self.process.is_shared and not self.process.viewer else ""
        return f"process {self.process.viewer or self.process.pid} ({self.process.agent}{kind}{where})"


class Continued(NamedTuple):
    """A session that the user wants to continue. Its texts are foreign."""

    agent: str
    """The short name of its agent; empty if it is not known."""
    id: str
    cwd: str
    acts: Path | None
    """The file of the acts on it."""
    holder: Holder | None = None
    has_one_prompt: bool = False
    """Whether it was started for one prompt, so that it takes none from a queue."""
    is_subagent: bool = False
    is_kept: bool = True
    """Whether its agent keeps it on this machine."""


class Plan(NamedTuple):
    """What is run."""

    command: tuple[str, ...]
    text: str
    """The prompt, as the user has typed it."""
    resume: Resume
    folder: str = ""
    """The resolved folder in which it runs; empty if it does not matter, and before it is checked."""
    place: tuple[int, int] = (0, 0)
    """The device and the inode of the folder."""

    @property
    def mark(self) -> str:
        """What distinguishes it from every other plan: what the user has seen is what is run."""
        words = "\0".join((*map(str, self.place), self.folder, *self.command))
        return sha256(os.fsencode(words)).hexdigest()


def session_to_continue(path: Path, environ: Mapping[str, str], home: Path) -> Continued:
    """Return the session at an address, and who holds it now.

    Args:
        path: The address: one of the sessions of this machine, or the recording of any session.
        environ: The environment, which names the folders of agents.
        home: The user's home folder.

    Raises:
        Fault: The session cannot be read.
    """
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
    session = kept or session  # a recording may name any folder
    if session.problem is not None:
        raise cannot_open(session.found.path, session.problem)
    return Continued(
        agent,
        session_id,
        session.cwd,
        acts_file(agent, session_id, recording, environ),
        max(holders, key=lambda each: (each.is_sure, each.process is not None), default=None),
        has_one_prompt=session.digest is not None and session.digest.is_one_liner,
        is_subagent=session.found.parent is not None,
        is_kept=kept is not None,
    )


def _of_file(path: Path) -> Tracked:
    """Return the session in a file that is in no folder of an agent, read as a recording of ours."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise cannot_open(path, error) from None
    except ValueError:  # a NUL
        raise Fault(f"cannot open {path}: not a path", USAGE) from None
    session = Tracked(Found(OWN, path.stem, path, status.st_size, status.st_mtime_ns, status.st_ino))
    session.read(is_brief=True)
    return session


def _holder(session: Tracked) -> Holder:
    process, said = session.process, session.said
    if process is None and said is not None and said.pid is not None:
        process = Process(said.pid, 0, session.found.agent if session.found.agent != OWN else said.runs)
    is_sure = session.life is Life.LIVE and (process is None or not process.is_guess)
    return Holder(process, said.tmux if said is not None else "", is_sure)


def planned(session: Continued, text: str, *, is_queued: bool = False) -> Plan:
    """Return the command that continues a session with a prompt. Nothing is looked up for it.

    Raises:
        Fault: The agent has no such command, or the session or the prompt cannot be a part of it.
    """
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
    return Plan(tuple(word.format(id=session.id, text=text) for word in words), text, resume)


def check_allowed(session: Continued, allowed: Container[str], *, is_queued: bool = False) -> None:
    """Check that the user allows the act, and that the session can be continued now.

    Raises:
        Fault: The switch is off, or another process holds the session, or none does that reads its queue.
    """
    act = "queue" if is_queued else "continue"
    if act not in allowed:
        raise Fault(f"switched off: set {act} = true under [act] in the settings to allow it", USAGE)
    if not session.is_kept:
        raise Fault(f"refused: {session.agent} has no session {session.id} on this machine", REFUSED)
    holder = session.holder
    if not is_queued:
        if holder is not None:
            holds = "holds" if holder.is_sure else "may hold"
            raise Fault(f"refused: {safe_line(holder.words)} {holds} this session", REFUSED)
        return
    process = None if holder is None else holder.process
    if session.has_one_prompt or (process is not None and process.has_one_prompt):
        raise Fault("refused: this session was started for one prompt, and never reads its queue", REFUSED)
    if holder is None or not holder.is_sure:
        raise Fault("refused: no process has this session open: continue it without --queue", REFUSED)


def in_folder(plan: Plan, session: Continued) -> Plan:
    """Return a plan with the folder of its session, as it is now; all links in its path are resolved.

    Raises:
        Fault: The session has no folder, or it does not exist.
    """
    shown = safe_line(session.cwd)
    if not os.path.isabs(session.cwd):
        raise Fault(f"the folder of this session is not known: {shown or 'it names none'}", USAGE)
    try:
        folder = os.path.realpath(session.cwd, strict=True)
        status = os.stat(os.path.join(folder, ""))
    except OSError as error:
        raise _unusable(session.cwd, error) from None
    except ValueError:  # a NUL, or half a surrogate pair
        raise Fault(f"the folder of this session cannot be a path: {shown}", USAGE) from None
    return plan._replace(folder=folder, place=(status.st_dev, status.st_ino))


def enter(plan: Plan) -> None:
    """Make the folder of a plan the working directory, if it is still the one that was checked.

    Relative folders in PATH are made absolute first, so that the folder of the session names no program.

    Raises:
        Fault: It is another folder now.
    """
    os.environ["PATH"] = os.pathsep.join(map(os.path.abspath, os.get_exec_path()))
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


def _unusable(folder: str, error: OSError) -> Fault:
    reason = (error.strerror or "unknown error").lower()
    return Fault(f"the folder of this session cannot be used: {safe_line(folder)}: {reason}", USAGE)
