"""The command `continue`: continues a session with a prompt, by the command of its agent's vendor."""

from __future__ import annotations

import fcntl
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from agentwatch.base.clock import now_ms
from agentwatch.base.credentials import without_credentials
from agentwatch.base.faults import NOT_EXECUTABLE, NOT_FOUND, USAGE, Fault, cannot_create, cannot_open
from agentwatch.base.files import state_folder
from agentwatch.catalog.continuing import (
    REFUSED,
    Continued,
    Plan,
    RunMode,
    check_allowed,
    check_confirmed,
    enter,
    in_folder,
    planned,
    session_to_continue,
)
from agentwatch.catalog.session_ids import SessionIds, id_in
from agentwatch.cli.address import is_elsewhere, is_once, parse_address
from agentwatch.cli.app import options_of
from agentwatch.cli.config_file import read_acts_allowed
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.messages import in_runner, say
from agentwatch.cli.parameters import ADDRESS, colour, keeping, on, printing
from agentwatch.cli.ship import publication_of, publishing, taken
from agentwatch.cli.stdout import print_json, print_lines
from agentwatch.recording.acts import Act, append_act
from agentwatch.recording.store import nameless_file, open_folder, private_folder
from agentwatch.sources.agent import RECEIPT_SECONDS
from agentwatch.text.safe import cut, safe_line

if TYPE_CHECKING:
    from agentwatch.cli.options import Options
    from agentwatch.remote.publish.publication import Publication
    from agentwatch.sources.agent import AgentSource

_QUEUE_SECONDS = 20.0
_ALONE_SECONDS = 10.0
_PAUSE_SECONDS = 0.05
_OWN_PATHS = frozenset({"AGENTWATCH_HOME", "AGENTWATCH_CONFIG"})
_SHOWN = 200
_MOST_SAID = 1 << 16


@click.command("continue", cls=HelpfulCommand)
@click.argument("words", metavar="ADDRESS", type=ADDRESS)
@click.argument("text")
@click.option("--dry-run", "is_dry_run", is_flag=True, help="Print the command that would run, and exit.")
@click.option("--queue", "is_queued", is_flag=True, help="Hand TEXT to the Codex that has the session open.")
@click.option("--permissions", default="", metavar="MODE", help="Confirm these permissions, or fewer.")
@click.option("--by", type=click.Choice(("command", "list", "session")), default="command", hidden=True)
@click.option("--mark", default="", hidden=True)
@printing
@keeping
@on("bell, note, log, pause or stop")
@publishing
@colour
def continue_(
    words: str,
    text: str,
    is_dry_run: bool,
    is_queued: bool,
    permissions: str,
    by: str,
    mark: str,
    **given: Any,
) -> int:
    """Continue a session that nobody holds, with a new prompt.

    TEXT is the prompt. The agent's own command runs in the folder in which the session was started, with the
    permissions of the session, recorded and watched as by run.
    """
    asked, options = taken(given), options_of(given)
    publication = None if is_dry_run or is_queued else publication_of(asked, options)
    if is_elsewhere(words) and not os.path.exists(words):
        raise Fault(f"{words} is on another machine: continue it there", USAGE)
    address = parse_address(words)
    if is_once(address.path) or address.moment is not None:
        raise Fault("continue needs a session, not a stream or a moment of it", USAGE)
    for name in _OWN_PATHS & os.environ.keys():  # they are not in the folder that is entered
        os.environ[name] = os.path.abspath(os.environ[name])
    with ExitStack() as lock:  # until the agent has started
        if not (is_dry_run or is_queued):
            _alone(lock)
        session = session_to_continue(address.path, os.environ, Path.home())
        _check_named(words, address.path, session)
        plan = planned(session, text, is_queued=is_queued, permissions=permissions)
        if is_dry_run:
            return _print_command(plan, "" if is_queued else session.folder or "a folder that is not known")
        act, door = ("queue", " ".join(plan.command[:2])) if is_queued else ("continue", plan.resume.door)
        files = [] if session.acts is None else [session.acts]
        record = _Record(Act(0, act, session.id, by, door, ""), files)
        try:
            check_allowed(session, read_acts_allowed(), is_queued=is_queued)
            plan = plan if is_queued else in_folder(plan, session)
            if not permissions:
                check_confirmed(plan, session)
            if mark and mark != plan.mark:
                words = "refused: the session or its folder has changed since the command was shown"
                raise Fault(words, REFUSED)  # it is recorded below
            where = f"in {plan.folder}: " if plan.folder else ""
            say(f"{where}{shlex.join(plan.command)}")
            if not is_queued:
                say(plan.permissions)
            if is_queued:
                return _queue(plan, session, record)
            log, recording = (path and path.absolute() for path in (options.log, options.record))
            enter(plan)
            return _run(plan, session, options._replace(log=log, record=recording), record, publication, lock)
        except Fault as fault:
            if fault.exit_code in (REFUSED, NOT_FOUND, NOT_EXECUTABLE):
                record.write("refused")
            raise


def _check_named(words: str, path: Path, session: Continued) -> None:
    """Raise a Fault if an id leads to another session than the one that has it: a file with that name in the
    working directory has precedence, which an agent may have written, and a recording may continue with
    another session."""
    if os.sep in words:
        return
    if os.path.exists(words):
        other = SessionIds().path_of(words)
        if other is not None and os.path.realpath(other) != os.path.realpath(words):
            shown = shlex.quote(safe_line(words))
            raise Fault(f"there are a file and a session {shown}: the file is ./{shown} here", USAGE)
        return
    name = words.rpartition(":")[2]
    if not session.id.startswith(name) and not path.stem.startswith(name):
        shown = cut(safe_line(session.id), _SHOWN) or "that is not known"
        recording = safe_line(str(path))
        raise Fault(f"the recording {recording} of this session ends with another one: {shown}", USAGE)


class _Record(NamedTuple):
    """One act, and its files: that of the session, and that of the recording that it makes."""

    act: Act
    files: list[Path]

    def write(self, receipt: str) -> None:
        """A file that cannot be written is reported, and changes nothing."""
        act = self.act._replace(at_ms=now_ms(), receipt=receipt)
        for path in self.files:
            try:
                append_act(path, act)
            except OSError as error:
                say(f"cannot record the act in {path}: {(error.strerror or 'unknown error').lower()}")


def _alone(stack: ExitStack) -> None:
    """Keep other commands from starting an agent until the stack is closed: the second one of two that
    continue the same session then finds the agent of the first."""
    folder, until = state_folder() / "acts", time.monotonic() + _ALONE_SECONDS
    try:
        private_folder(folder)
        fd = open_folder(folder)
    except OSError as error:
        raise cannot_create(folder, error) from None
    stack.callback(os.close, fd)
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > until:
                raise Fault("refused: another agentwatch continue is about to start", REFUSED) from None
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def _print_command(plan: Plan, folder: str) -> int:
    """As a shell reads it; on a terminal, without anything that acts on it."""
    if folder:
        say(plan.permissions)
        say(f"in {safe_line(folder)}:")
    line = shlex.join(plan.command)
    if os.isatty(1) or in_runner():
        return print_lines([line])
    return print_json([os.fsencode(line)])


def _run(
    plan: Plan,
    session: Continued,
    options: Options,
    record: _Record,
    publication: Publication | None,
    lock: ExitStack,
) -> int:
    from agentwatch.cli.commands import watch_agent

    recordings: list[Path] = []
    try:
        mode = _Mode(plan, session, record)
    except OSError as error:
        raise cannot_open(session.path, error) from None

    def started(source: AgentSource) -> None:
        lock.close()
        if (files := source.written.files) is not None:
            record.files.append(files.acts)
            recordings.append(files.recording)
        record.write("sent")
        mode.watch(source)

    code = watch_agent(plan.command, options, publication, started)
    if why := mode.wider():
        say(why)
        code = code or REFUSED
    elif not code and mode.is_unsaid:
        say("no line of this run says its permissions: they were not compared")
    for recording in recordings:
        continued = id_in(recording)
        if not continued and code and not why:
            record.write("refused")
        elif continued and continued != session.id:
            say(f"the agent has continued it as another session: {cut(safe_line(continued), _SHOWN)}")
    return code


class _Mode:
    """Compares the mode of a run with the one that was asked for, and interrupts a wider one."""

    def __init__(self, plan: Plan, session: Continued, record: _Record) -> None:
        self._plan, self._record, self._why = plan, record, ""
        self.is_unsaid = False
        """Whether the run has ended without the mode that was to be compared."""
        self._thread: threading.Thread | None = None
        decides = plan.mode is not None and plan.mode.decides and plan.resume.mode_in is not None
        self._run = RunMode(plan, session) if decides else None

    def watch(self, source: AgentSource) -> None:
        if self._run is not None:
            self._run.follow(source.reader.fd)
            self._thread = threading.Thread(target=self._watch, args=(self._run, source), daemon=True)
            self._thread.start()

    def wider(self) -> str:
        """That the run had a wider mode than was asked for; empty if no line of it says so."""
        if self._thread is not None:
            self._thread.join(_ALONE_SECONDS)
        return self._why

    def _watch(self, run: RunMode, source: AgentSource) -> None:
        mode = None
        try:
            is_over = False
            while mode is None and not is_over:
                time.sleep(_PAUSE_SECONDS)
                is_over = not source.runs_agent
                mode = run.wider()
        except OSError as error:
            mode = f"not readable ({error.strerror or 'unknown error'})"
        finally:
            run.close()
        self.is_unsaid = mode is None and not run.is_said
        if not mode or self._plan.mode is None:
            return
        why = cut(safe_line(f"the run is in the mode {mode}, not in {self._plan.mode.name}"), _SHOWN)
        if source.act("interrupt", "agentwatch", why):
            act = self._record.act._replace(act="interrupt", by="agentwatch", door="SIGINT", why=why)
            self._record._replace(act=act).write("expired")
        self._why = f"interrupted: {why}"
        until = time.monotonic() + RECEIPT_SECONDS
        while source.runs_agent and time.monotonic() < until:
            time.sleep(_PAUSE_SECONDS)
        source.act("stop", "agentwatch", why)


def _queue(plan: Plan, session: Continued, record: _Record) -> int:
    """Hand the prompt to the vendor's queue, and print its receipt."""
    from agentwatch.sources.open import cannot_start

    try:
        code, said, errors = _ran(plan.command)
    except OSError as error:
        raise cannot_start(plan.command[0], error) from None
    except KeyboardInterrupt:
        record.write("unknown")
        raise
    if code is None:
        record.write("unknown")
        say(f"no receipt within {_QUEUE_SECONDS:.0f} s: it is not known whether the prompt is queued")
        return REFUSED
    found = plan.resume.receipt and plan.resume.receipt.search(said)
    if code == 0 and found is not None and found[1] == session.id:
        record.write("held")
        return print_lines([cut(safe_line(found[0]), _SHOWN)])
    record.write("refused" if code else "unknown")
    why = next((line for line in errors.split("\n") if line.casefold().startswith("error")), said.strip())
    say(f"not queued: {cut(safe_line(why), _SHOWN) or f'exit code {code}'}")
    return REFUSED


def _ran(command: Sequence[str]) -> tuple[int | None, str, str]:
    """Run a command of the vendor; return its exit code, None if it took too long, its stdout and its stderr.
    Both go to files: a server that the command starts would keep a pipe open."""
    with open(nameless_file(), "rb") as printed, open(nameless_file(), "rb") as errors:
        ran = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=errors,
            env=without_credentials(os.environ),
            start_new_session=True,
        )
        try:
            code = ran.wait(_QUEUE_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
            with suppress(OSError):
                os.killpg(ran.pid, signal.SIGKILL)
            ran.wait()
        said, wrong = (os.pread(each.fileno(), _MOST_SAID, 0) for each in (printed, errors))
        return code, said.decode("utf-8", "replace"), wrong.decode("utf-8", "replace")
