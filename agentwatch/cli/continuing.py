"""The command `continue`: continues a session with a prompt, by the command of its agent's vendor."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentwatch.base.credentials import without_credentials
from agentwatch.base.faults import (
    NOT_EXECUTABLE,
    NOT_FOUND,
    USAGE,
    Fault,
    cannot_create,
    cannot_open,
    raising,
)
from agentwatch.base.files import state_folder
from agentwatch.catalog.acting import checked, refused
from agentwatch.catalog.continuing import (
    REFUSED,
    Continued,
    Plan,
    check_confirmed,
    enter,
    fields_in,
    planned,
    session_to_continue,
)
from agentwatch.catalog.local_session import NO_FILE
from agentwatch.catalog.session_ids import SessionIds, id_in
from agentwatch.cli.address import is_elsewhere, is_once, parse_address
from agentwatch.cli.app import options_of
from agentwatch.cli.config_file import read_acts_allowed
from agentwatch.cli.default_command import HelpfulCommand
from agentwatch.cli.messages import in_runner, say
from agentwatch.cli.parameters import ADDRESS, colour, keeping, on, printing
from agentwatch.cli.ship import publication_of, publishing, taken
from agentwatch.cli.stdout import print_json, print_lines
from agentwatch.recording.acts import Act, ActRecord
from agentwatch.recording.head_tail import lines_between
from agentwatch.recording.lines import LineReader
from agentwatch.recording.store import lock, nameless_file, open_folder, open_own, private_folder
from agentwatch.session.transcript import Kind
from agentwatch.sources.agent import RECEIPT_SECONDS
from agentwatch.text.safe import cut, safe_line

if TYPE_CHECKING:
    from agentwatch.cli.options import Options
    from agentwatch.feed.feed import Feed
    from agentwatch.remote.publish.publication import Publication
    from agentwatch.sources.agent import AgentSource

_QUEUE_SECONDS = 20.0
_ALONE_SECONDS = 10.0
_PAUSE_SECONDS = 0.05
_OWN_PATHS = frozenset({"AGENTWATCH_HOME", "AGENTWATCH_CONFIG"})
_SHOWN = 200
_MOST_SAID = 1 << 16
_MOST_LINE = 1 << 20
_OF_THE_MODEL = (Kind.ANSWER, Kind.REASONING, Kind.CALL)
"""The kinds of entries that a stream has only after the agent took the prompt."""


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
    with ExitStack() as gate:  # until the agent has started
        if not (is_dry_run or is_queued):
            _alone(gate)
        session = session_to_continue(address.path, os.environ, Path.home())
        _check_named(words, address.path, session)
        plan = planned(session, text, is_queued=is_queued, permissions=permissions)
        if is_dry_run:
            return _print_command(plan, "" if is_queued else session.folder or "a folder that is not known")
        act, door = ("queue", " ".join(plan.command[:2])) if is_queued else ("continue", plan.resume.door)
        files = [] if session.acts is None else [session.acts]
        record = ActRecord(Act(0, act, session.id, by, door, ""), files)
        try:
            plan = checked(plan, session, read_acts_allowed(), is_queued=is_queued)
            if not permissions:
                check_confirmed(plan, session)
            if mark and mark != plan.mark:
                raise refused("the session or its folder has changed since the command was shown")
            where = f"in {plan.folder}: " if plan.folder else ""
            say(f"{where}{shlex.join(plan.command)}")
            if not is_queued:
                say(plan.permissions)
            if is_queued:
                return _queue(plan, session, record)
            log, recording = (path and path.absolute() for path in (options.log, options.record))
            enter(plan)
            return _run(plan, session, options._replace(log=log, record=recording), record, publication, gate)
        except Fault as fault:
            if fault.exit_code in (REFUSED, NOT_FOUND, NOT_EXECUTABLE):
                _write(record, "refused")
            raise


def _check_named(words: str, path: Path, session: Continued) -> None:
    """Raise a Fault if an id leads to another session than the one with this id. A file with that name in the
    working directory, which an agent may have written, has precedence, and a recording may continue with
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


def _alone(stack: ExitStack) -> None:
    """Keep other commands from starting an agent until the stack is closed. If two commands continue the same
    session, the second one then finds the agent of the first."""
    folder, until = state_folder() / "acts", time.monotonic() + _ALONE_SECONDS
    with raising(cannot_create, folder):
        private_folder(folder)
        fd = open_folder(folder)
    stack.callback(os.close, fd)
    while not lock(fd):
        if time.monotonic() > until:
            raise refused("another agentwatch continue is about to start")
        time.sleep(_PAUSE_SECONDS)


def _print_command(plan: Plan, folder: str) -> int:
    """Print the command as a shell reads it. On a terminal it contains nothing that acts on the terminal."""
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
    record: ActRecord,
    publication: Publication | None,
    gate: ExitStack,
) -> int:
    from agentwatch.cli.commands import watch_agent

    recordings: list[Path] = []
    with raising(cannot_open, session.path):
        run = _Run(plan, session, record)

    def started(source: AgentSource) -> None:
        gate.close()
        if (files := source.written.files) is not None:
            record.files.append(files.acts)
            recordings.append(files.recording)
        _write(record, "unknown")
        run.begin(source)

    code = watch_agent(plan.command, options, publication, started)
    run.end()
    if run.problem:
        say(run.problem)
        code = code or REFUSED
    elif not code and not run.is_taken:
        say("no line of this run shows that the agent has taken the prompt")
    elif not code and run.is_unsaid:
        say("no line of this run says its permissions: they were not compared")
    for recording in recordings:
        continued = id_in(recording)
        if not continued and code and not run.problem:
            _write(record, "refused")
        elif continued and continued != session.id:
            say(f"the agent has continued it as another session: {cut(safe_line(continued), _SHOWN)}")
    return code


def _write(record: ActRecord, receipt: str, **changed: str) -> None:
    """Record a change of the act. A file that cannot be written is reported, and the run continues."""
    for fault in record.write(receipt, **changed):
        say(f"cannot record the act in {fault.filename}: {(fault.strerror or '').lower()}")


class _Run:
    """Follows a run in a thread. It records when the agent has taken the prompt, and interrupts a run with a
    wider mode than the user asked for. Only the first modes in the stream and in the continued session count:
    after a change of the settings, later lines of the session may still name the old mode."""

    def __init__(self, plan: Plan, session: Continued, record: ActRecord) -> None:
        """Note where the session ends before the run. Raise `OSError` if it cannot be read."""
        self._plan, self._record = plan, record
        self.problem = ""
        """Why the run was interrupted; empty if it was not."""
        self.is_taken = self._is_said = False
        mode = plan.mode
        self._compares = mode is not None and mode.decides and plan.resume.mode_in is not None
        self._unsaid: list[list[int]] = []
        """The files that have not named a mode yet: the descriptor, and the offset of the next line."""
        self._fds: list[int] = []
        if self._compares and session.path != NO_FILE and os.path.isfile(session.path):  # no database
            fd = open_own(session.path)
            self._compare(fd, os.fstat(fd).st_size)
        self._thread: threading.Thread | None = None

    @property
    def is_unsaid(self) -> bool:
        """Whether the mode was to be compared, and no line has named it."""
        return self._compares and not self._is_said

    def begin(self, source: AgentSource) -> None:
        from agentwatch.feed.feed import Feed

        reader, fd = source.reader, os.dup(source.reader.fd)
        self._compare(fd, 0)
        feed = Feed(LineReader(fd, reader.growth, reader.times))
        self._thread = threading.Thread(target=self._follow, args=(source, feed), daemon=True)
        self._thread.start()

    def end(self) -> None:
        if self._thread is not None:
            self._thread.join(_ALONE_SECONDS)

    def _compare(self, fd: int, offset: int) -> None:
        self._fds.append(fd)
        if self._compares:
            self._unsaid.append([fd, offset])

    def _follow(self, source: AgentSource, feed: Feed) -> None:
        seen, wider, is_over = 0, "", False
        while not (is_over or wider or (self.is_taken and not self._unsaid)):
            time.sleep(_PAUSE_SECONDS)
            is_over = not source.runs_agent
            if not self.is_taken:
                feed.advance()
                entries = feed.session.transcript
                self.is_taken = any(each.kind in _OF_THE_MODEL for each in entries[seen:])
                seen = max(len(entries) - 1, 0)
                if self.is_taken:
                    _write(self._record, "sent")
            try:
                wider = self._wider()
            except OSError as error:
                wider = f"not readable ({error.strerror or 'unknown error'})"
        for fd in self._fds:
            os.close(fd)
        if wider and self._plan.mode is not None:
            why = cut(safe_line(f"the run is in the mode {wider}, not in {self._plan.mode.name}"), _SHOWN)
            self._interrupt(source, why)

    def _wider(self) -> str:
        """Return the mode of the run, a foreign text, if it may be wider than the requested one; else
        empty."""
        mode_in, modes, asked = self._plan.resume.mode_in, self._plan.resume.modes, self._plan.mode
        if mode_in is None or asked is None:
            return ""
        narrow = [each.name for each in modes[: modes.index(asked) + 1]]
        for file in tuple(self._unsaid):
            lines, rest = lines_between(file[0], file[1], size := os.fstat(file[0]).st_size)
            file[1] = size - len(rest) if len(rest) < _MOST_LINE else size  # no mode is in so long a line
            if mode := next(filter(None, (mode_in(fields_in(line) or {}) for line in lines)), ""):
                self._is_said = True
                self._unsaid.remove(file)
                if mode not in narrow:
                    return mode
        return ""

    def _interrupt(self, source: AgentSource, why: str) -> None:
        self.problem = f"interrupted: {why}"
        if source.act("interrupt", "agentwatch", why):
            _write(self._record, "expired", act="interrupt", by="agentwatch", door="SIGINT", why=why)
        until = time.monotonic() + RECEIPT_SECONDS
        while source.runs_agent and time.monotonic() < until:
            time.sleep(_PAUSE_SECONDS)
        source.act("stop", "agentwatch", why)


def _queue(plan: Plan, session: Continued, record: ActRecord) -> int:
    """Hand the prompt to the vendor's queue, and print its receipt."""
    from agentwatch.sources.open import cannot_start

    try:
        code, said, errors = _ran(plan.command)
    except OSError as error:
        raise cannot_start(plan.command[0], error) from None
    except KeyboardInterrupt:
        _write(record, "unknown")
        raise
    if code is None:
        _write(record, "unknown")
        say(f"no receipt within {_QUEUE_SECONDS:.0f} s: it is not known whether the prompt is queued")
        return REFUSED
    found = plan.resume.receipt and plan.resume.receipt.search(said)
    if code == 0 and found is not None and found[1] == session.id:
        _write(record, "held")
        return print_lines([cut(safe_line(found[0]), _SHOWN)])
    _write(record, "refused" if code else "unknown")
    why = next((line for line in errors.split("\n") if line.casefold().startswith("error")), said.strip())
    say(f"not queued: {cut(safe_line(why), _SHOWN) or f'exit code {code}'}")
    return REFUSED


def _ran(command: Sequence[str]) -> tuple[int | None, str, str]:
    """Run a command of the vendor; return its exit code (None if it took too long), its stdout and its
    stderr. Both are written to files: a server that the command starts would keep a pipe open."""
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
