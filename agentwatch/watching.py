"""Watching a source to its end, on the screen or in print; the commands of the command line."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from agentwatch.faults import OWN_FAULT, USAGE, Fault, Signalled
from agentwatch.feed import Feed
from agentwatch.options import Options
from agentwatch.outputs.stream_json import Tee
from agentwatch.pace import Replay
from agentwatch.printing import end_session, print_rest, print_session
from agentwatch.sources import Source, agent_source, pipe_source, saved_source
from agentwatch.terminal import claimed_terminal

_STOPPING = (signal.SIGINT, signal.SIGTERM)
"""Asked to end by these, we end the agent that we started; a closed terminal leaves it alone."""


def watch_stdin(options: Options) -> int:
    """Watch the pipe on stdin; on a terminal, let a saved session be chosen."""
    if os.isatty(0):
        if options.prints():
            raise Fault("nothing to watch: name a FILE, or pipe an agent's stream into stdin", USAGE)
        return _choose(options)
    return _watch_pipe(os.dup(0), options)


def watch_file(path: Path, options: Options) -> int:
    """Open a recording; a pipe or a device is watched as stdin is."""
    if path.is_fifo() or path.is_char_device():
        return _watch_pipe(os.open(path, os.O_RDONLY), options)
    if options.record or options.tee:
        raise Fault(f"{path} is a recording already; --record and --tee go with stdin", USAGE)
    return _watch(saved_source(path, options.follow, options.log), options)


def watch_agent(command: Sequence[str], options: Options) -> int:
    """Start an agent and watch it; asked to end by a signal, we end the agent too."""
    source = agent_source(command, options.keeps(by_default=True))
    try:
        with _raising(signal.SIGTERM):
            return _watch(source, options)
    except (KeyboardInterrupt, Signalled) as end:
        if not isinstance(end, Signalled) or end.number in _STOPPING:
            source.stop()
            source.finish()
        raise


def replay_file(path: Path, options: Options) -> int:
    """Play a recording in its own time."""
    pace = Replay(options.speed, options.max_idle)
    return _watch(saved_source(path, False, options.log), options, pace)


def _watch_pipe(source_fd: int, options: Options) -> int:
    source = pipe_source(source_fd, options.keeps(by_default=not options.prints()))
    try:
        return _watch(source, options)
    except (KeyboardInterrupt, Signalled):
        source.stop()
        source.finish()
        raise


def _choose(options: Options) -> int:
    from agentwatch.screen.chooser import Chooser

    with claimed_terminal():
        path = Chooser(no_color=options.no_color).run()
    return 0 if path is None else watch_file(path, options)


def _watch(source: Source, options: Options, pace: Replay | None = None) -> int:
    """Show a source on the screen or print it, and return our exit code."""
    if options.prints():
        return print_session(source, options.printed_format(), brief=options.brief, pace=pace)
    sink_fd = os.dup(1) if options.tee else None
    tee = None if sink_fd is None else Tee(source.reader.fd, source.reader.growth, sink_fd)
    code = _show(source, Feed(source.reader, pace), options)
    if tee is not None:
        tee.finish()
    return code


def _show(source: Source, feed: Feed, options: Options) -> int:
    """Draw the screen until it is left; what a pipe still brings is then recorded and printed."""
    with claimed_terminal():
        from agentwatch.screen.app import AgentwatchApp, Leave

        gc.freeze()  # with a threshold of 50,000 decoding is twice as fast, without pauses of 100 ms
        gc.set_threshold(50_000, 20, 20)
        app = AgentwatchApp(source, feed, no_color=options.no_color)
        left = app.run()
    if app.ended_by == signal.SIGHUP and source.is_live:
        _watch_unseen(source, feed)
    if app.ended_by is not None:
        raise Signalled(app.ended_by)
    if source.pipe is not None and source.is_live:
        _say("recording goes on; ctrl+c ends it")
        code = print_rest(source, feed, 2 if options.tee else 1)
    elif left is Leave.RUNNING:
        code = 0
        _say(f"the agent goes on as process {source.agent and source.agent.pid}")
    else:
        code = end_session(source, feed.session)
    if source.files is not None:
        _say(f"recorded in {source.files.recording}")
    return code if left is not None else OWN_FAULT


def _watch_unseen(source: Source, feed: Feed) -> None:
    """Go on without a screen when the terminal was closed, and end with the agent."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN if number == signal.SIGHUP else signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    print_rest(source, feed, nowhere)


def _say(message: str) -> None:
    print(f"agentwatch: {message}", file=sys.stderr)


@contextmanager
def _raising(number: signal.Signals) -> Iterator[None]:
    """Let a signal end us by an exception while this lasts."""

    def end(received: int, _frame: FrameType | None) -> NoReturn:
        raise Signalled(received)

    before = signal.signal(number, end)
    try:
        yield
    finally:
        signal.signal(number, before)
