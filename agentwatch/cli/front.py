"""The front end of a session: the screen or printing, and what continues after the screen."""

from __future__ import annotations

import gc
import os
import signal
import time
from typing import TYPE_CHECKING

from agentwatch.base.faults import INCOMPLETE_RECORDING, INTERNAL_ERROR, USAGE, Fault, Signalled
from agentwatch.cli.messages import internal_error, say
from agentwatch.cli.options import Options
from agentwatch.cli.printing import end_session, print_rest, print_session
from agentwatch.cli.terminal import claimed_terminal
from agentwatch.feed.feed import POLL_SECONDS, Feed
from agentwatch.session.actions import count_words
from agentwatch.session.events import Outcome
from agentwatch.session.session import calls_by_outcome
from agentwatch.sources.source import Source
from agentwatch.text.amounts import plural

if TYPE_CHECKING:
    from agentwatch.feed.playhead import Replay
    from agentwatch.screen.terminal.signals import PendingSignals


def watch(
    source: Source, options: Options, replay: Replay | None = None, held: PendingSignals | None = None
) -> int:
    """Show a source on the screen or print it. After an internal error, recording continues until the agent
    ends, and the calls are printed if possible. `replay` is None to show lines as they arrive; `held` is None
    if no signals were held."""
    if held is None and not options.prints():
        from agentwatch.screen.terminal.signals import PendingSignals

        held = PendingSignals()
    feed = _feed(source, options, replay)
    if options.prints() and options.printed_format() == "summary":
        from agentwatch.analysis.prices import count_uses

        count_uses(feed.session)
    try:
        return _show_or_print(source, feed, options, held, replay)
    except Exception as error:  # noqa: BLE001 - the edge of a session: the error is reported, and recording continues
        if held is not None:
            held.release()
        _end_rules(source)
        say(internal_error(error, source.written.files))
        reported = repr(error)
    try:
        print_rest(source, feed, 2 if options.tee else 1)
    except Exception as error:  # noqa: BLE001 - often the same error again, raised by the session itself
        if repr(error) != reported:
            say(internal_error(error, source.written.files))
        while source.is_live:
            time.sleep(POLL_SECONDS)
        source.finish()
        for fault in source.new_faults():
            say(fault)
    return INTERNAL_ERROR


def _feed(source: Source, options: Options, replay: Replay | None) -> Feed:
    """Start to write the action log too, if one is wanted."""
    log_fd, agent = source.written.log_fd, options.agent()
    if options.tripwires or (options.settings is not None and options.settings.on_sessions):
        from agentwatch.cli.tripwires import watch_rules

        watch_rules(source, options)
        return Feed(source.reader, agent)
    if log_fd is not None:
        from agentwatch.output.log import LogWriter

        source.written.log = LogWriter(source.reader, log_fd, agent, source.path)
    if replay is None or not options.prints():
        return Feed(source.reader, agent)
    from agentwatch.analysis.moments import NOTHING_ASKED, Problem
    from agentwatch.output.stream_json import replayed

    asked = options.asked() or NOTHING_ASKED
    played = replayed(source.reader, source.bookmarks_path, replay, asked, agent)
    if isinstance(played, Problem):
        raise Fault(played.words, USAGE)
    return played


def _show_or_print(
    source: Source, feed: Feed, options: Options, held: PendingSignals | None, replay: Replay | None
) -> int:
    if options.no_color:
        os.environ["NO_COLOR"] = "1"
    if options.prints():
        code = print_session(
            *(source, feed, options.printed_format()),
            brief=options.brief,
            times=options.times,
            with_numbers=options.with_numbers,
        )
        return _check_integrity(feed, code) if options.strict else code
    assert held is not None  # as whenever a screen is drawn
    if options.tee:
        return _show_and_tee(source, feed, options, held)
    return _show(source, feed, options, held, replay)


def _check_integrity(feed: Feed, code: int) -> int:
    from agentwatch.analysis.integrity import integrity

    found = integrity(feed.session)
    if found.passes:
        if found.unknown:
            say(f"{plural(found.unknown, 'line')} unknown to this version: agentwatch doctor FILE lists them")
        return code
    say(f"recording not whole: {found.line()}")
    return code or 1


def _show_and_tee(source: Source, feed: Feed, options: Options, held: PendingSignals) -> int:
    """Draw the screen on the terminal, and copy every byte of the recording to stdout."""
    from agentwatch.output.stream_json import Tee

    tee = Tee(source.reader.fd, source.reader.growth, os.dup(1))
    code = _show(source, feed, options, held)
    tee.finish()
    if tee.fault is not None:
        say(f"the copy to stdout is incomplete: {tee.fault.strerror}")
        return code or INCOMPLETE_RECORDING
    return code


def _show(
    source: Source, feed: Feed, options: Options, held: PendingSignals, replay: Replay | None = None
) -> int:
    """Draw the screen until the user quits; then record and print the rest of a pipe."""
    held.hold()
    with claimed_terminal():
        from agentwatch.screen.screens.session.app import AgentwatchApp, Leave

        gc.freeze()
        app = AgentwatchApp(
            source,
            feed,
            held,
            options.config,
            replay,
            options.asked(),
            no_color=options.no_color,
            problem=options.problem,
        )
        try:
            left = app.run()
        finally:
            _end_rules(source)
    held.release()
    if app.fault is not None:
        raise app.fault
    if app.ended_by == signal.SIGHUP and source.is_live:
        _watch_without_terminal(source, feed)
    if app.ended_by is not None:
        raise Signalled(app.ended_by)
    if source.outlasts_screen:
        say("recording continues; press ctrl+c to end it")
        code = print_rest(source, feed, 2 if options.tee else 1)
    elif left is Leave.RUNNING:
        say(f"the agent continues as process {source.agent_pid}")
        code = 0
    else:
        if not source.is_live:
            source.leave()  # a followed file may keep growing
        code = end_session(source, feed.session)
    _sum_up(source, feed)
    if source.written.files is not None:
        say(f"recorded in {source.written.files.recording}")
    return code


def _end_rules(source: Source) -> None:
    """Continue a paused agent when the screen is closed, and print the later hits of rules."""
    if source.written.watch is not None:
        from agentwatch.cli.tripwires import end_watching

        end_watching(source)


def _sum_up(source: Source, feed: Feed) -> None:
    """Print how the session ended, in one line, unless it continues or is not read to its end."""
    from agentwatch.text.durations import duration_words
    from agentwatch.text.signs import SIGNS

    session, outcome = feed.session, feed.session.outcome
    if outcome is None or outcome is Outcome.RUNNING or not session.runs or feed.backlog():
        return
    took_ms = session.duration_ms
    words = [
        f"{SIGNS[outcome]} {session.outcome_words}",
        *([] if took_ms is None else [duration_words(took_ms)]),
    ]
    watch = source.written.watch
    if watch is not None and watch.stopped_by:
        from agentwatch.recording.alarms import rule_words

        words.append(f"stopped by {rule_words(watch.stopped_by)}")
    say(" · ".join([*words, ", ".join(count_words(calls_by_outcome(session)))]))


def _watch_without_terminal(source: Source, feed: Feed) -> None:
    """Keep recording after the terminal was closed, until the agent ends."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    null_fd = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null_fd, fd)
    print_rest(source, feed, null_fd)
