"""Publishes sessions to engines: `engine ship`, and the options of `run` that publish its session."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentwatch.base.faults import USAGE, Fault, cannot_open, raising
from agentwatch.cli.messages import internal_error, say
from agentwatch.cli.options import Options
from agentwatch.cli.parameters import PATH, together
from agentwatch.text.amounts import byte_size

if TYPE_CHECKING:
    from agentwatch.remote.address import EngineAddress
    from agentwatch.remote.publish.process import Job
    from agentwatch.remote.publish.publication import Given, Publication, Target
    from agentwatch.remote.publish.sidecar import Shipped
    from agentwatch.sources.agent import AgentSource

    _TargetOf = Callable[[str | None, Shipped | None], Target]
    """Returns the engine that is named, or that of an earlier shipping."""

_INTERRUPTED = 130
_PROGRESS_SECONDS = 2.0
_PROGRESS_BYTES = 1 << 20
"""Less than this is sent at once, which needs no line."""
WAIT_SECONDS = 10.0

logging_in = together(
    click.option("--publish-as", metavar="NAME", help="Publish as NAME (default: the user, or the host)."),
    click.option("--publish-ca", type=PATH, metavar="FILE", help="Trust the certificates in FILE."),
    click.option("--publish-plaintext", is_flag=True, help="Allow a connection without TLS."),
    click.option("--credentials", type=PATH, metavar="FILE", help="Log in with the credentials in FILE."),
)
publishing = together(
    click.option(
        "--publish",
        metavar="ENGINE",
        help="Publish the session to nats://HOST, or to an engine that the settings name.",
    ),
    click.option("--no-publish", is_flag=True, help="Do not publish the session, even if the settings do."),
    click.option(
        "--publish-wait",
        type=click.FloatRange(0, 3600),
        default=WAIT_SECONDS,
        metavar="SECONDS",
        help="Wait at the end until the engine has everything, at most SECONDS (default: 10).",
    ),
    logging_in,
)
_LOGGING_IN = ("publish_as", "publish_ca", "publish_plaintext", "credentials")
_UNRECORDED = "not published: no recording is kept"
_NAMES = ("publish", "no_publish", "publish_wait", *_LOGGING_IN)


def taken(given: dict[str, Any]) -> dict[str, Any]:
    """Remove the options about publishing from those of `run`, and return them."""
    return {name: given.pop(name) for name in _NAMES}


def publication_of(
    asked: Mapping[str, Any], options: Options, environ: Mapping[str, str] = os.environ
) -> Publication | None:
    """Return the publication of a session; None if it is not published. It connects to nothing yet. Raise
    `UsageError` if options exclude each other, and `Fault` if the engine is unknown, its client is not
    installed, or the credentials cannot be read."""
    words = asked["publish"]
    if words is not None and asked["no_publish"]:
        raise click.UsageError("--publish excludes --no-publish")
    if words is not None and options.no_record:
        raise click.UsageError("--publish needs a recording; it excludes --no-record")
    if asked["no_publish"]:
        return None
    from agentwatch.cli.config_file import read_machines

    machines = read_machines(environ)
    words = words or machines.publish
    if not words:
        if used := [name for name in _LOGGING_IN if asked[name]]:
            raise click.UsageError(f"--{used[0].replace('_', '-')} needs --publish")
        return None
    if options.no_record:
        say(_UNRECORDED)
        return None
    from agentwatch.remote.login import check_extra
    from agentwatch.remote.publish.publication import Publication, target_of

    check_extra()
    given = given_in(asked)
    return Publication(target_of(words, machines.engines, environ, given), asked["publish_wait"], given)


def given_in(asked: Mapping[str, Any]) -> Given:
    from agentwatch.remote.publish.publication import Given

    return Given(
        asked["publish_as"] or "", asked["credentials"], asked["publish_ca"], bool(asked["publish_plaintext"])
    )


def begin(publication: Publication, source: AgentSource, options: Options) -> None:
    """Start to publish a session; a failure is reported in one line on stderr."""
    if source.path is None:
        say(_UNRECORDED)
        return
    try:
        publication.start(source.path)
    except OSError as error:
        say(f"not published: {(error.strerror or str(error)).lower()}; run: {publication.command()}")
        return
    if options.prints():
        say(f"publishing to {publication.host}")
    source.written.publication = publication


def end(publication: Publication, source: AgentSource, most_seconds: float = float("inf")) -> None:
    """Wait until everything is published, or until the time of the user or `most_seconds` is over; report
    what is not published. If the agent continues, so does the publication."""
    if source.is_live:
        return
    try:
        is_done = publication.wait(most_seconds)
    except KeyboardInterrupt:
        is_done = False
    from agentwatch.remote.copying import is_news

    if is_news(publication.engine, warning := publication.warning()):
        say(warning)
    if not is_done:
        say(publication.unsent())


def run_ship(sessions: Sequence[str], to: str | None, given: Given, *, ships_all: bool) -> int:
    """Ship sessions until the engine has them; `to` is its address or its name. `ships_all` ships the
    recordings that were begun and are not complete, and if `to` is given also those of running sessions."""
    from agentwatch.cli.config_file import read_machines
    from agentwatch.remote.login import check_extra
    from agentwatch.remote.publish.process import ship_all
    from agentwatch.remote.publish.publication import target_of

    if bool(sessions) is ships_all:
        raise click.UsageError("ship needs either ADDRESS or --all")
    check_extra()
    machines = read_machines()

    def target(to: str | None, before: Shipped | None) -> Target:
        """Return where a session is shipped to. `before` is the record of its previous shipping."""
        words = to or (before.to if before is not None else machines.publish)
        if not words:
            raise Fault("no engine is known: name it with --to nats://HOST", USAGE)
        publisher = given.publisher or ("" if before is None else before.session.publisher)
        return target_of(words, machines.engines, os.environ, given._replace(publisher=publisher))

    shown = _Shipping()
    jobs = (
        list(_unfinished(to, target, shown)) if ships_all else [_job(each, to, target) for each in sessions]
    )
    if not jobs and shown.is_complete:
        say("nothing to ship: the engine has every session that was published")
        return 0
    threads = ship_all(jobs, shown.stop, shown.ship)
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        shown.stop.set()
        for thread in threads:
            thread.join(1.0)
        say("stopped; agentwatch engine ship --all continues")
        return _INTERRUPTED
    return 0 if shown.is_complete else 1


def _job(words: str, to: str | None, target: _TargetOf) -> Job:
    from agentwatch.agents.opening import store_for
    from agentwatch.cli.address import is_once, whole_address
    from agentwatch.recording.store import SessionFiles
    from agentwatch.remote.publish.process import Job
    from agentwatch.remote.publish.sidecar import read_shipped

    named = whole_address(words, "engine ship takes a whole recording, not a moment of it").path
    path = named if is_once(named) else Path(os.path.realpath(named))
    with raising(cannot_open, path):
        is_foreign = is_once(path) or store_for(path) is not None
    before = read_shipped(SessionFiles(path).shipped)
    if is_foreign or (path.suffix == ".jsonl" and before is None):
        raise Fault(f"{path}: only recordings of agentwatch are shipped", USAGE)
    return Job(path, target(to, before))


def _unfinished(to: str | None, target: _TargetOf, shown: _Shipping) -> Iterator[Job]:
    """Yield the recordings that are begun and not complete, and if `to` is given those of running
    sessions."""
    from agentwatch.recording.saved_sessions import is_recorded
    from agentwatch.recording.store import SessionFiles, saved_recordings
    from agentwatch.remote.publish.process import Job
    from agentwatch.remote.publish.sidecar import ShipState, forget, read_shipped, unsent

    try:
        saved, others = saved_recordings(), unsent()
    except OSError as error:
        raise cannot_open(Path(error.filename or "the sessions folder"), error) from None
    for path in others:
        if not path.exists():
            shown.fail(f"{path}: not published, and it is not there any more")
            forget(path)
    for path in (*saved, *filter(Path.exists, others)):
        files = SessionFiles(path)
        before = read_shipped(files.shipped)
        if before is not None and before.state is ShipState.DONE:
            forget(path)
            continue
        try:
            if before is not None:
                yield Job(path, target(None, before))
            elif path in others or (to and is_recorded(files)):
                yield Job(path, target(to, None))
        except Fault as fault:
            shown.fail(f"{_name(path)}: {fault}")
        except FileNotFoundError:  # it was deleted meanwhile
            continue


def _name(recording: Path) -> str:
    from agentwatch.remote.publish.sidecar import is_saved

    return recording.stem if is_saved(recording) else str(recording)


class _Shipping:
    """Ships sessions in threads, and reports on stderr what they reach."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.is_complete = True
        """Whether the engine has every session that has ended."""
        self._has_terminal = os.isatty(2)
        self._warned: dict[str, str] = {}
        """The last warning about each engine."""
        self._lock = threading.Lock()

    def fail(self, words: str) -> None:
        say(words)
        self.is_complete = False

    def ship(self, job: Job) -> None:
        from agentwatch.remote.publish.process import ship
        from agentwatch.remote.publish.sidecar import ShipState

        name = _name(job.recording)
        reported = _LastReport()

        def report(shipped: Shipped) -> None:
            self._warn(shipped, job.target.login.address)
            if words := reported.words(shipped, has_terminal=self._has_terminal):
                say(f"{name}: {words}")

        try:
            shipped = ship(job, self.stop.wait, report)
        except OSError as error:
            self.fail(str(cannot_open(job.recording, error)))
            return
        except Exception as error:  # noqa: BLE001 - the edge of a thread: the other sessions continue
            self.fail(internal_error(error))
            return
        if shipped is None:
            say(f"{name}: another process ships it")
        elif shipped.state is ShipState.DONE:
            if self._has_terminal:
                say(f"{name}: {byte_size(shipped.shipped)} on {job.target.login.address.host}")
        elif not self.stop.is_set():
            self.is_complete = False

    def _warn(self, shipped: Shipped, engine: EngineAddress) -> None:
        """Report a warning once for all sessions of an engine."""
        from agentwatch.remote.copying import is_news

        with self._lock:
            if shipped.warning == self._warned.get(shipped.to, ""):
                return
            self._warned[shipped.to] = shipped.warning
            if is_news(engine, shipped.warning):
                say(f"{shipped.to}: {shipped.warning}")


class _LastReport:
    def __init__(self) -> None:
        self._problem = ""
        self._due = 0.0

    def words(self, shipped: Shipped, *, has_terminal: bool) -> str:
        """Return what is to be reported now; empty if there is nothing."""
        if shipped.problem != self._problem:
            self._problem = shipped.problem
            return shipped.problem or ("continues" if has_terminal else "")
        left, now = shipped.bytes - shipped.shipped, time.monotonic()
        if not has_terminal or left < _PROGRESS_BYTES or now < self._due:
            return ""
        self._due = now + _PROGRESS_SECONDS
        return f"{byte_size(shipped.shipped)} of {byte_size(shipped.bytes)}"
