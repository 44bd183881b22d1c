"""Prints a session on stdout instead of drawing a screen: the agent's own formats, and the summary."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from agentwatch.agents.fields import joined
from agentwatch.base.faults import BROKEN_PIPE, INCOMPLETE_RECORDING, USAGE
from agentwatch.cli.messages import in_runner, say, without_commands
from agentwatch.cli.stdout import PrintingFailed, has_colours, write, write_json, write_line
from agentwatch.feed.feed import POLL_SECONDS, Feed
from agentwatch.recording.lines import MOST_LINE_BYTES
from agentwatch.session.actions import action, brief_action, styled_action
from agentwatch.session.agent_process import LATE_EXIT_MS
from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from agentwatch.sources.source import Source
from agentwatch.text.safe import SafeText, safe_line, safe_text

if TYPE_CHECKING:
    from agentwatch.recording.times import Wakeup

_STDERR_LINES = 10
_LOOK_MS = 500
_MOST_QUIET_MS = 600_000
"""A session that is silent for this time ends in CI: a forgotten `sleep infinity &` must not hold the job for
ever where nobody can press ctrl+c. CI services end a job that prints nothing for 10 minutes."""


def print_session(
    source: Source,
    feed: Feed,
    output_format: str,
    *,
    brief: bool = False,
    times: bool = False,
    with_numbers: bool = False,
) -> int:
    """Print a session while it runs, without what the feed has applied before. If stdout cannot be written to
    any more, the agent's output is still recorded. In the text format, `brief` prints only the phrase of each
    call, and `times` prints the action log."""
    try:
        if times:
            _print_log(source, feed, with_numbers=with_numbers)
        elif output_format == "text":
            line = styled_action if has_colours() else action
            _follow(source, feed, _print_actions(feed.session, brief_action if brief else line))
        elif output_format == "stream-json":
            _copy_bytes(feed, source)
        else:
            _follow(source, feed)
            _print_end(feed, output_format)
    except BrokenPipeError:
        if not source.is_live and source.agent_pid is None:
            source.leave()  # a followed file may keep growing
            source.finish()
            return BROKEN_PIPE
        _follow(source, feed)
    except PrintingFailed as fault:
        say(f"cannot print: {fault}")
        _follow(source, feed)
        return end_session(source, feed.session) or INCOMPLETE_RECORDING
    return _end_printing(source, feed.session, output_format)


def _print_log(source: Source, feed: Feed, *, with_numbers: bool) -> None:
    from agentwatch.output.log import ActionLog
    from agentwatch.recording.acts import SessionActs
    from agentwatch.recording.alarms import alarms_of

    feed.acts_of = SessionActs.of_file(source.path)
    log = ActionLog(feed.session, alarms_of(source.path), lambda: feed.acts, addresses=with_numbers)

    def print_new() -> None:
        for line in log.new_lines(feed.is_over):
            write_line(line)

    _follow(source, feed, print_new)


def print_rest(source: Source, feed: Feed, sink_fd: int) -> int:
    """Print the calls that end from now on, in the text format."""
    line = styled_action if has_colours(sink_fd) else action
    _follow(source, feed, _print_actions(feed.session, line, sink_fd))
    return end_session(source, feed.session)


def end_session(source: Source, session: Session) -> int:
    """Finish the written files; report faults and why the run did not succeed; return the exit code. If the
    agent succeeded or its format is not known, its stderr is reported only after a bad exit code."""
    outcome = session.outcome  # as it was shown; finishing the log may advance the session
    lines = _advice(session) if outcome is Outcome.SUCCEEDED else _ending(source, session)
    source.finish()
    report_survivors(source)
    for line in lines:
        say(line)
    _report_faults(source)
    return _exit_code(source, outcome, has_result=session.traits.has_result)


def _end_printing(source: Source, session: Session, output_format: str) -> int:
    """Report if the user asked for a result that the session does not have or cannot have."""
    code = end_session(source, session)
    if output_format in ("json", "final") and session.outcome is Outcome.RUNNING:
        say("nothing to print: the run has not ended at that moment")
    elif output_format != "json" or session.traits.has_result or session.outcome is None:
        return code
    else:
        say(f"the format {session.format} has no result line to print; try --output-format final or summary")
    return code or 1


def _advice(session: Session) -> list[str]:
    """Return why a run that succeeded has changed nothing, if the agent rejected edits without asking."""
    if not session.ended_by_outcome[Outcome.REJECTED]:
        return []
    from agentwatch.analysis.status import rejected_edits

    words = rejected_edits(session)
    return [] if words is None else [words]


def _ending(source: Source, session: Session) -> list[str]:
    """Yield the last lines of the agent's stderr, and why the run did not succeed."""
    from agentwatch.analysis.status import ending, reason  # 2 ms, which a success does not need

    facts = source.agent_facts()
    words, why = ending(session, facts, _nothing(source)), reason(session, facts)
    if session.outcome is not Outcome.FAILED and (source.fault is not None or source.ended_by is not None):
        words = None  # the recording is incomplete, or a new one follows in the same file; either is reported
    first = session.lines.first_text if session.outcome is None else ""
    texts = [*filter(None, (first, session.lines.last_text, *source.last_stderr(_STDERR_LINES)))]
    if words and texts and session.outcome in (None, Outcome.UNFINISHED):
        from agentwatch.agents.registry import failure_hint  # 3 ms, which a stream does not need

        if cause := failure_hint(texts):
            words = SafeText(cause if session.outcome is None else f"{words}: {cause}")
    stderr: list[str] = []
    if session.outcome is not None or facts.exit_code:
        stderr = source.last_stderr(_STDERR_LINES)
    if words and why is not None and why.is_stderr:
        stderr = stderr[:-1]
    return [*(f"the agent's stderr: {safe_line(line)}" for line in stderr), *([words] if words else [])]


def _nothing(source: Source) -> str:
    """Return that there was nothing to read, and what to do about it; empty if there was a byte."""
    if source.reader.growth.size():
        return ""
    if source.agent_pid is not None:
        return "the agent wrote nothing"
    if source.stream:
        what_to_do = "pipe an agent's output into agentwatch, or run agentwatch sessions"
        return f"there is nothing on {safe_line(source.stream)}: {what_to_do}"
    return "the session is empty" if source.path is None else f"{safe_line(str(source.path))} is empty"


def report_survivors(source: Source) -> None:
    for survivor in source.survivors():
        say(f"process {survivor.pid} ({safe_line(survivor.name)}), started by the agent, is still running")


def _exit_code(source: Source, outcome: Outcome | None, *, has_result: bool) -> int:
    """Return the exit code. `outcome` is None if the agent is not known. A run in a format without result
    lines does not fail for the lack of a result."""
    if source.agent_exit_code:
        return source.agent_exit_code
    if source.fault is not None and outcome is not Outcome.FAILED:
        return INCOMPLETE_RECORDING
    if outcome is None:
        return USAGE if source.agent_pid is None else 0
    if outcome is Outcome.UNFINISHED and not has_result:
        return 0
    return 0 if outcome in (Outcome.SUCCEEDED, Outcome.RUNNING) else 1


def _follow(source: Source, feed: Feed, after: Callable[[], object] = lambda: None) -> None:
    """Advance a session until its recording has ended, and call `after` after each step."""
    is_quiet, wakeup = False, source.wakeup
    while not feed.is_over:
        if wakeup is not None:
            wakeup.ask()
        _report_faults(source)
        quiet_ms = source.quiet_ms()
        if quiet_ms > LATE_EXIT_MS and not is_quiet:
            is_quiet = True
            named = ", ".join(f"process {pid} ({safe_line(name)})" for pid, name in source.survivors())
            say(f"the agent has exited, but its stdout is held by {named or 'a process'}; following that")
        if quiet_ms > _MOST_QUIET_MS and not os.isatty(2):
            say("nothing was written for 10 minutes since the agent has exited; not following it any longer")
            source.leave()
        ended = feed.session.run.ended
        if ended is not None and source.outlives(ended.seen_ms):
            pid = source.agent_pid
            say(f"the agent (process {pid}) is still running 30 s after its result; leaving it running")
            source.leave()
        if not feed.advance(POLL_SECONDS) and not feed.is_over:
            _wait(wakeup)
        after()


def _wait(wakeup: Wakeup | None) -> None:
    """Wait until a recording that need not be polled has grown, at most until its agent is polled next."""
    if wakeup is None:
        time.sleep(POLL_SECONDS)
        return
    import select  # half a millisecond, which printing a file need not pay

    poller = select.poll()
    poller.register(wakeup.fd, select.POLLIN)
    poller.poll(_LOOK_MS)
    wakeup.hear()


def _report_faults(source: Source) -> None:
    for fault in source.new_faults():
        say(fault)


def _print_actions(
    session: Session, line: Callable[[Call], SafeText], sink_fd: int = 1
) -> Callable[[], None]:
    """Return a function that prints the calls that ended since its last run; at the end, those that never
    ended."""
    printed = len(session.ended_calls)

    def print_new() -> None:
        nonlocal printed
        while printed < len(session.ended_calls):
            call = session.calls.as_ended(session.ended_calls[printed])
            printed += 1
            write_line(line(call), sink_fd)

    return print_new


def _print_result(feed: Feed, place: Place) -> None:
    """Print the result as the agent wrote it, in pieces if it is longer than 16 MiB."""
    if place.length <= MOST_LINE_BYTES:
        line = joined(feed.line_at(place).rstrip(b"\r").split(b"\n"))
        write_json([line.decode("utf-8", "replace").encode() if os.isatty(1) else line])
        return
    for offset in range(place.offset, place.offset + place.length, MOST_LINE_BYTES):
        length = min(MOST_LINE_BYTES, place.offset + place.length - offset)
        write(feed.reader.line_at(offset, length))
    write(b"\n")


def _copy_bytes(feed: Feed, source: Source) -> None:
    from agentwatch.output.stream_json import ByteCopy

    copy = ByteCopy(source.reader.fd, feed.reader.growth, 1, start=feed.offset)
    try:
        _follow(source, feed, copy.copy)
        copy.copy()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise PrintingFailed(error.strerror) from error


def _print_end(feed: Feed, output_format: str) -> None:
    """Print what is known only at the end. `json` and `final` print nothing unless the run succeeded. Without
    a result line success is not reported; `final` then prints the text of a run that has ended."""
    run, has_result = feed.session.run, feed.session.traits.has_result
    is_good = run.outcome is Outcome.SUCCEEDED or (run.outcome is Outcome.UNFINISHED and not has_result)
    if output_format == "summary":
        from agentwatch.output.summary import whole_summary

        write_json(whole_summary(feed))
        if feed.session.uses is not None:
            from agentwatch.catalog.kept_prices import keep

            keep()
    elif output_format == "final" and is_good:
        _print_final(feed.session)
    elif output_format == "json" and has_result and is_good and run.ended is not None:
        _print_result(feed, run.ended)


def _print_final(session: Session) -> None:
    """Print the final answer and a line end; nothing if there is no text after the last call."""
    from agentwatch.output.summary import final_answer

    if answer := final_answer(session):
        shown = safe_text(answer) if os.isatty(1) or in_runner() else answer
        if in_runner():
            shown = "\n".join(map(without_commands, shown.split("\n")))
        write(f"{shown}\n".encode() if not shown.endswith("\n") else shown.encode())
