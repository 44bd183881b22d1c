"""The rows of the digest: lines of text, and items about a call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from agentwatch.actions import outcome_note, target
from agentwatch.analysis.episodes import Episode
from agentwatch.analysis.files import FileAction, TouchedFile
from agentwatch.analysis.silence import call_clock
from agentwatch.analysis.since.digest import Digest
from agentwatch.analysis.since.failures import OpenFailure
from agentwatch.analysis.since.mark import Happened
from agentwatch.analysis.since.play import Play
from agentwatch.analysis.since.verdicts import VerdictChange
from agentwatch.analysis.verdicts import Verdict
from agentwatch.events import Outcome
from agentwatch.screen.overlays.episodes import episode_calls, episode_sign
from agentwatch.session import Call
from agentwatch.text.amounts import plural
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, safe_line
from agentwatch.text.signs import SIGNS

_MOST_LISTED = 100
_MOST_READ_FILES = 20
_MOST_RUNNING = 20
_MOST_EPISODES = 20


class Line(NamedTuple):
    """A line of text. It may be wrapped."""

    words: SafeText
    style: str = "plain"


class Item(NamedTuple):
    """A line about a call: what it is, and at the right what became of it."""

    key: str
    """What the line is about. The words may change while it stays the same."""
    sign: SafeText
    sign_style: str
    words: SafeText
    note: SafeText
    call: Call
    is_path: bool = False
    """Whether the words are a path, which is cut in the middle."""


Row = Line | Item


def digest_rows(digest: Digest, ending: SafeText, play: Play | None, now_ms: int | None) -> Iterator[Row]:
    """Yield the rows of a digest, what needs the user first.

    Args:
        digest: The digest.
        ending: How the run ended; empty if it did not.
        play: How a key plays what happened; None if its times are unknown.
        now_ms: The session's present time, for the clocks of running calls; None if it is unknown.
    """
    new, turns = digest.happened, digest.turns
    yield Line(_counts(new, turns, ending))
    if play is not None:
        yield Line(_play_words(play), "muted")
    episodes = digest.episodes
    listed = {each.last for each in episodes}
    failures = [each for each in digest.failures.newest_first() if each.call.number not in listed]
    yield from _section("Failures still open", map(_failure, failures))
    trouble = (_episode(each, digest.call(each.last)) for each in episodes)
    yield from _section("Trouble", trouble, _MOST_EPISODES)
    yield from _section("Tests, linters, builds", map(_verdict, digest.verdicts.changes()))
    running = [_running(call, now_ms) for call in digest.running]
    yield from _section("Still running", running, _MOST_RUNNING)
    yield from _section("Files changed", map(_changed, digest.changed_files))
    yield from _section("Files read", map(_read, digest.read_files), _MOST_READ_FILES)
    yield from _section("Calls", _kinds(digest))


def _counts(new: Happened, turns: int, ending: SafeText) -> SafeText:
    if new.is_nothing:
        return SafeText("nothing happened")
    parts = [
        plural(new.events, "event") if new.events else "",
        plural(new.calls, "call") if new.calls else "",
        *(f"{count} {outcome}" for outcome, count in new.outcomes.items()),
        plural(turns, "prompt") if turns else "",
        plural(new.questions, "question") if new.questions else "",
        ending,
    ]
    return SafeText(", ".join(filter(None, parts)))


def _play_words(play: Play) -> SafeText:
    idle = play.max_idle
    cut = "" if idle is None else f", silences cut to {duration_words(1000 * idle)}"
    return SafeText(f"p: play it in {duration_words(1000 * play.seconds)} (×{play.speed}{cut})")


def _section(heading: str, items: Iterable[Item], most: int = _MOST_LISTED) -> Iterator[Row]:
    """Yield a heading and at most `most` items; nothing without items."""
    listed = [*items]
    if listed:
        yield Line(SafeText(""))
        yield Line(SafeText(heading), "strong")
    yield from listed[:most]
    if len(listed) > most:
        yield Line(SafeText(f"and {len(listed) - most} more"), "muted")


def _failure(failure: OpenFailure) -> Item:
    call, times = failure
    note = outcome_note(call).removeprefix("failed: ")
    note = f"exit {call.exit_code}" if call.exit_code else note
    key = f"failure {call.tool} {call.target}"
    return _of_call(key, call, SafeText(f"×{times} {note}" if times > 1 else note))


def _episode(episode: Episode, call: Call) -> Item:
    sign, style = episode_sign(episode)
    key = f"episode {episode.kind} {episode.first} {episode.subject}"
    return Item(key, sign, style, episode.words, episode_calls(episode), call)


def _running(call: Call, now_ms: int | None) -> Item:
    return _of_call(f"running {call.number}", call, SafeText(call_clock(call, now_ms)))


def _of_call(key: str, call: Call, note: SafeText) -> Item:
    state = call.outcome
    words = SafeText(f"#{call.number} {safe_line(call.tool)} {target(call)}".rstrip())
    return Item(key, SafeText(SIGNS[state]), str(state), words, note, call)


def _verdict(change: VerdictChange) -> Item:
    after = change.after
    state = Outcome.FAILED if after.is_red else Outcome.SUCCEEDED
    marks = _mark(after) if change.runs == 1 and change.before is after else _change(change)
    words = SafeText(f"{marks}  {change.tool}: {after.words}")
    note = SafeText(plural(change.runs, "run"))
    return Item(f"verdict {change.tool}", SafeText(""), str(state), words, note, change.call)


def _change(change: VerdictChange) -> str:
    """Return the first and the last verdict: `✗3 → ✓`."""
    return f"{_mark(change.before)} → {_mark(change.after)}"


def _mark(verdict: Verdict) -> str:
    if not verdict.is_red:
        return SIGNS[Outcome.SUCCEEDED]
    count = verdict.counts.failed + verdict.counts.errors
    return f"{SIGNS[Outcome.FAILED]}{count or ''}"


def _changed(file: TouchedFile) -> Item:
    counts = ((file.lines_added, "+"), (file.lines_removed, "−"))
    lines = " ".join(f"{sign}{count}" for count, sign in counts if count)
    done = file.file_actions
    verb = next((str(each) for each in (FileAction.DELETED, FileAction.CREATED) if done[each]), "")
    return _of_file(file, SafeText(" ".join(filter(None, (verb, lines)))))


def _read(file: TouchedFile) -> Item:
    times = file.file_actions[FileAction.READ]
    return _of_file(file, SafeText(f"×{times}" if times > 1 else ""))


def _of_file(file: TouchedFile, note: SafeText) -> Item:
    words, call = safe_line(file.shown), file.calls[-1]
    return Item(f"file {words}", SafeText(""), "plain", words, note, call, is_path=True)


def _kinds(digest: Digest) -> Sequence[Item]:
    """Return the calls by kind, the most frequent first; enter opens the last one of a kind."""
    kinds = sorted(digest.kinds.items(), key=lambda each: (-each[1].calls, each[0]))
    return [
        Item(
            f"kind {kind}",
            SafeText(""),
            "plain",
            SafeText(f"{kind} ×{count.calls}"),
            SafeText(f"{count.failed} failed" if count.failed else ""),
            count.last,
        )
        for kind, count in kinds
    ]
