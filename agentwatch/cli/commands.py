"""The commands that watch a session: each opens a source and runs a front end on it."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from agentwatch.agents.opening import saved_source
from agentwatch.base.clock import now_ms
from agentwatch.base.config import HERE
from agentwatch.base.faults import INCOMPLETE_RECORDING, USAGE, Fault, Signalled, cannot_open, raising
from agentwatch.cli.address import (
    STDIN,
    check_part,
    is_elsewhere,
    parse_address,
    report_missing,
    session_and_moment,
    source_at,
    wait_until_read,
)
from agentwatch.cli.front import watch
from agentwatch.cli.messages import say
from agentwatch.cli.options import Options
from agentwatch.cli.printing import report_survivors
from agentwatch.recording.lines import is_stream
from agentwatch.screen.terminal.signals import PendingSignals
from agentwatch.session.agent_process import AgentFacts
from agentwatch.sources.open import agent_source, create_log, pipe_source
from agentwatch.text.safe import cut, safe_line

if TYPE_CHECKING:
    from agentwatch.analysis.moments import MomentSpec
    from agentwatch.remote.publish.publication import Publication
    from agentwatch.sources.agent import AgentSource

_SHOWN_COLUMNS = 80
_FIRST_SECONDS = 1.0
"""How long printing waits at first. Then it is known whether a copy begins again after dropped bytes."""
_STOPPED_SECONDS = 2.0
"""How long publishing the end of a stopped agent may take: CI services kill a cancelled job soon."""
_WAIT_SECONDS, _MOST_WAITS = 0.01, 100
"""How long and how often a signal waits for the end of an import: an import may hang."""
_STOPPING = (signal.SIGINT, signal.SIGTERM)
"""The signals that also stop a started agent; a closed terminal (SIGHUP) does not."""


def watch_stdin(options: Options) -> int:
    """Watch the pipe on stdin, or the sessions of the machines in the settings if it is a terminal. Raise
    `Fault` if stdin is closed, or on a terminal if no screen is drawn or an option is about one session."""
    if sys.stdin is None:
        raise Fault("nothing to watch: stdin is closed", USAGE)
    if os.isatty(0):
        if options.prints():
            raise Fault("nothing to watch: name a FILE, or pipe an agent's stream into stdin", USAGE)
        options = _with_settings(options)
        return _watch_machines(options.config.machines.listed or (HERE,), options)
    return _watch_pipe(os.dup(0), options, "stdin")


def watch_sources(words: Sequence[str], options: Options) -> int:
    """List the sessions of machines, `.`, `nats://HOST`, `ssh://HOST`, until the user quits."""
    from agentwatch.cli.address import check_sources

    check_sources(words)
    if options.prints():
        import shlex

        shown = shlex.join(cut(safe_line(each), _SHOWN_COLUMNS) for each in words)
        raise Fault(f"to print a list, run: agentwatch sessions {shown}", USAGE)
    return _watch_machines(words, _with_settings(options))


def watch_address(words: str, options: Options) -> int:
    """Watch stdin, or a recording, on the screen at a moment of it."""
    if is_elsewhere(words) and not os.path.exists(words):
        _check_unwatched(words, options)
        session, moment = session_and_moment(words)
        _check_printed(words, moment, options)
        return watch_elsewhere(session, moment, _with_settings(options))
    address = parse_address(words)
    _check_printed(words, address.moment, options)
    if address.path != STDIN:
        return watch_file(address.path, options._replace(moment=address.moment))
    if address.moment is not None:
        raise _without_moments(address.path)
    return watch_stdin(options)


def watch_elsewhere(words: str, moment: MomentSpec | None, options: Options) -> int:
    """Watch a session until it ends, or until the user quits, from a moment on; None is the newest moment.
    The exit code is 74 if a printed session misses bytes for good. Raise `Fault` if the session cannot be
    read or does not have the moment, or if an option does not apply to it."""
    from agentwatch.cli.address import log_in
    from agentwatch.cli.config_file import read_machines
    from agentwatch.remote.copying import open_copy, source_of

    if options.record or options.tee:
        raise Fault(f"{words} is already a recording; --record and --tee work only with stdin", USAGE)
    options = options._replace(moment=moment)
    log_in([words])
    copying = open_copy(words, read_machines(), os.environ)
    try:
        if moment is not None and (asked := options.asked()) is not None:
            wait_until_read(copying)
            check_part(copying.path, asked, options.agent(), words)
        elif options.prints():
            copying.wait_until_read(_FIRST_SECONDS)
        log_fd = None if options.log is None else create_log(options.log)
        code = watch(source_of(copying, log_fd, waits=not options.prints()), options)
        report_missing(copying)
        is_cut_short = options.prints() and copying.is_cut_short
    finally:
        copying.close()
    return INCOMPLETE_RECORDING if is_cut_short else code


def _check_printed(words: str, moment: MomentSpec | None, options: Options) -> None:
    if moment is not None and options.prints():
        import shlex

        hint = f"agentwatch show {shlex.quote(words)}"
        raise Fault(f"printing shows a whole recording, not a moment of it; try {hint}", USAGE)


def watch_file(path: Path, options: Options) -> int:
    """Watch a recording, or a pipe like stdin. A recording that is still being written is followed until its
    writer ends, or with `--follow` for ever. A recording that is truncated or replaced is watched from its
    start. A session in a store is followed on the screen, and printed once."""
    with raising(cannot_open, path):
        is_once = is_stream(path)
        if is_once and options.moment is not None:
            raise _without_moments(path)
        stream_fd = os.open(path, os.O_RDONLY) if is_once else None
    if stream_fd is not None:
        return _watch_pipe(stream_fd, options, str(path))
    options = _with_settings(options)
    _check_unwatched(path, options)
    if options.record or options.tee:
        raise Fault(f"{path} is already a recording; --record and --tee work only with stdin", USAGE)
    if (asked := options.asked()) is not None:
        check_part(path, asked, options.agent())
    log_fd = None if options.log is None else create_log(options.log)
    follow_store = options.follow or not options.prints()
    while True:
        source = saved_source(
            path,
            options.follow or None,
            None if log_fd is None else os.dup(log_fd),
            follow_store=follow_store,
        )
        code = watch(source, options)
        if source.continued_in is not None:
            path, options = source.continued_in, options._replace(moment=None, until=None, pause_on=None)
        elif source.ended_by is None:
            return code
        else:
            say(f"{path} was {source.ended_by}: starting over")
            options = options._replace(moment=None)


def _without_moments(path: Path) -> Fault:
    return Fault(f"{path} is a stream, whose moments are not recorded yet", USAGE)


def watch_agent(
    command: Sequence[str],
    options: Options,
    publication: Publication | None = None,
    started: Callable[[AgentSource], object] | None = None,
) -> int:
    """Start an agent and watch it. SIGINT and SIGTERM stop the agent too; its exit code is returned if it
    failed. `publication` is None if the session is not published. `started` is called once the agent runs."""
    from agentwatch.cli import ship as publishing

    options = _with_rules(options, is_started=True)
    held = PendingSignals()
    source: AgentSource | None = None
    try:
        with _raising_on(*_STOPPING):
            held.hold()  # a signal that ended us now would leave the agent running without a word
            try:
                source = agent_source(command, options.keep_options(by_default=True), direct=options.direct)
            finally:
                if source is None or options.prints():
                    held.release()
            if started is not None:
                started(source)
            if "interrupt" in options.config.act:
                source.listen()
            if publication is not None:
                publishing.begin(publication, source, options)
            if options.prints():
                for number in held.noted:
                    signal.raise_signal(number)
            code = watch(source, options, held=held)
            if publication is not None:
                publishing.end(publication, source)
            return code
    except (KeyboardInterrupt, Signalled) as end:
        if source is not None and (not isinstance(end, Signalled) or end.number in _STOPPING):
            source.stop()
            source.finish()
            report_survivors(source)
            if publication is not None:
                publishing.end(publication, source, _STOPPED_SECONDS)
        elif source is not None and not source.is_live:
            source.finish()
        raise


def replay_file(path: Path, options: Options, name: str = "", *, is_bundled: bool = False) -> int:
    """Replay a recording with its original timing. `name` is what the user calls it. If it `is_bundled`,
    nothing is written beside it: its bookmarks stay in memory."""
    from agentwatch.feed.playhead import Replay

    options = _with_settings(options)
    replay = Replay(options.speed, options.max_idle, loops=options.loop)
    if (asked := options.asked()) is not None:
        check_part(path, asked, options.agent(), name)
    log_fd = None if options.log is None else create_log(options.log)
    source = source_at(path, log_fd=log_fd)
    if is_bundled:
        source.bookmarks_path = None
    return watch(source, options, replay)


def _watch_pipe(source_fd: int, options: Options, name: str) -> int:
    options = _with_rules(options, is_started=False)
    held: PendingSignals | None = None
    if not options.prints():
        held = PendingSignals()
        held.hold()
    source = pipe_source(source_fd, options.keep_options(by_default=not options.prints()))
    source.stream, source.facts = name, AgentFacts(started_ms=now_ms())
    try:
        return watch(source, options, held=held)
    except (KeyboardInterrupt, Signalled):
        source.stop()
        source.finish()
        raise


def _with_settings(options: Options) -> Options:
    """Read the settings of a screen before any file is created."""
    if options.prints():
        return options
    from agentwatch.cli.config_file import read_config

    return options._replace(settings=read_config())


def _with_rules(options: Options, *, is_started: bool) -> Options:
    """Add the settings and the rules that watch the session, before anything starts. An agent that writes to
    a pipe runs already, and would end with it: broken settings are reported, and the defaults are used. The
    language of rules is imported only if there are rules. `is_started`: rules can pause and stop the agent.
    """
    from agentwatch.cli.config_file import read_runs

    try:
        options = options._replace(settings=read_runs()) if options.prints() else _with_settings(options)
    except Fault as fault:
        if is_started:
            raise
        options = options._replace(problem=f"{fault}; the defaults are used")
        say(options.problem)
    if not (options.on or options.config.on):
        return options
    from agentwatch.cli.tripwires import tripwires_of

    return options._replace(tripwires=tripwires_of(options, is_started=is_started))


def _check_unwatched(address: object, options: Options) -> None:
    if options.on:
        hint = "--on works only with run and with stdin; agentwatch check judges recordings"
        raise Fault(f"{address} is a recording; {hint}", USAGE)


_OF_ONE_SESSION = ("log", "record", "tee", "follow", "format", "on")
"""The options that do not apply to all sessions."""


def _watch_machines(words: Sequence[str], options: Options) -> int:
    if given := [f"--{name}" for name in _OF_ONE_SESSION if getattr(options, name)]:
        raise Fault(f"{', '.join(given)}: name a FILE, or pipe an agent's stream into stdin", USAGE)
    from agentwatch.cli.address import log_in, machine_list
    from agentwatch.cli.terminal import claimed_terminal

    log_in(words)
    listed = (
        None
        if set(words) == {HERE}
        else machine_list(words, options.config.machines, os.environ, Path.home())
    )
    held = PendingSignals()
    held.hold()
    with claimed_terminal():
        from agentwatch.catalog.catalog import Machine
        from agentwatch.screen.screens.sessions.app import HomeApp

        watched = Machine(os.environ, Path.home()) if listed is None else listed
        gc.freeze()
        app = HomeApp(held, watched, options.config, no_color=options.no_color, is_here=HERE in words)
        app.run()
    held.release()
    if listed is not None:
        listed.close()
    if app.fault is not None:
        raise app.fault
    if app.ended_by is not None:
        raise Signalled(app.ended_by)
    return 0


@contextmanager
def _raising_on(*numbers: signal.Signals) -> Iterator[None]:
    """Raise an exception when a signal arrives, or after the import that it interrupts: KeyboardInterrupt for
    SIGINT, which stays ignored under nohup, and `Signalled` for other signals. An exception within an import
    would also fail in each thread that waits for the module: the action log ended with a traceback when an
    agent was stopped in its first milliseconds."""
    waited = 0

    def end(received: int, frame: FrameType | None) -> None:
        nonlocal waited
        while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
            frame = frame.f_back
        if frame is None or waited == _MOST_WAITS:
            raise KeyboardInterrupt if received == signal.SIGINT else Signalled(received)
        waited += 1
        again = threading.Timer(_WAIT_SECONDS, signal.pthread_kill, (threading.get_ident(), received))
        again.daemon = True
        again.start()

    caught = [each for each in numbers if each != signal.SIGINT or signal.getsignal(each) != signal.SIG_IGN]
    before = {number: signal.signal(number, end) for number in caught}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
