"""The file of alarms, `STEM.alarms`: one JSON object per line, in the order in which rules were hit.

`{"offset":…,"at_ms":…,"call":12,"ended":11,"said":0,"run":1,"action":"bell","rule":"…","words":"…"}`. Lines
are only appended. An agent may write in the same folder, so the file is read as foreign data.
"""

import os
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from agentwatch.recording.appender import append_line
from agentwatch.recording.store import SessionFiles, create_file, natural, own_objects, writable
from agentwatch.text.safe import SafeText, cut, safe_line

MOST_ALARMS = 20_000
_MOST_BYTES = 1 << 24
_MOST_TEXT = 1000


class Alarm(NamedTuple):
    """Texts are foreign, because others can write the file."""

    offset: int
    """The moment: the number of bytes of the recording before the hit."""
    at_ms: int
    call: int | None
    """It is None for a rule about the whole run."""
    ended: int
    """How many calls had ended, which gives the place in the action log."""
    said: int
    """How many questions and answers were before the hit, which also gives the place."""
    run: int
    """Counted from 1; 0 before the first one."""
    action: str
    """`bell`, `note`, `log`, `pause` or `stop`."""
    rule: str
    words: str
    """The call as a phrase with its target; empty for a rule about the whole run."""
    is_last: bool = False
    """Whether later hits of this rule are not noted, because there are too many."""


class AlarmsFile:
    """The file is created with the first alarm. Its path is None to keep none."""

    def __init__(self, path: Path | None) -> None:
        self.fault: OSError | None = None
        """The last write that has failed."""
        self._path = path
        self._fd: int | None = None

    def append(self, alarm: Alarm) -> None:
        if self._path is None:
            return
        try:
            if self._fd is None:
                self._fd = create_file(self._path)
            append_line(self._fd, _formatted(alarm))
        except OSError as error:
            self.fault = error

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def alarms_of(recording: Path | None) -> list[Alarm]:
    """Return no alarms if the recording has no name."""
    return [] if recording is None else read_alarms(SessionFiles(recording).alarms)


def read_alarms(path: Path) -> list[Alarm]:
    """Return at most 20,000 alarms of at most 16 MiB; none if there is no regular file of this user. Lines
    with fields of a wrong type are ignored."""
    alarms = (alarm for value in own_objects(path, _MOST_BYTES) if (alarm := _alarm(value)) is not None)
    return [*islice(alarms, MOST_ALARMS)]


def _alarm(value: Mapping[str, Any]) -> Alarm | None:
    names = ("offset", "at_ms", "ended", "said", "run")
    numbers = [number for name in names if (number := natural(value.get(name))) is not None]
    texts = [text for name in ("action", "rule", "words") if isinstance(text := value.get(name), str)]
    if len(numbers) != len(names) or len(texts) != 3:
        return None
    offset, at_ms, ended, said, run = numbers
    action, rule, words = (text[:_MOST_TEXT] for text in texts)
    call, is_last = natural(value.get("call")), value.get("last") is True
    return Alarm(offset, at_ms, call, ended, said, run, action, rule, words, is_last)


def _formatted(alarm: Alarm) -> bytes:
    fields: dict[str, object] = {
        "offset": alarm.offset,
        "at_ms": alarm.at_ms,
        "call": alarm.call,
        "ended": alarm.ended,
        "said": alarm.said,
        "run": alarm.run,
        "action": alarm.action,
        "rule": writable(alarm.rule, _MOST_TEXT),
        "words": writable(alarm.words, _MOST_TEXT),
    }
    if alarm.is_last:
        fields["last"] = True
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


_COLUMNS = 240
_NAME_COLUMNS = 80
_DONE = {"pause": " paused the agent", "stop": " stopped the agent"}


def alarm_words(alarm: Alarm) -> SafeText:
    """Return an alarm in one line of safe text.

    Example:
        >>> alarm_words(Alarm(0, 0, 12, 11, 0, 1, "bell", "rm outside", "Ran terminal command rm -rf /tmp/x"))
        'rule "rm outside" hit by call 12: Ran terminal command rm -rf /tmp/x'
        >>> alarm_words(Alarm(0, 0, None, 11, 0, 1, "pause", "failed>3", ""))
        'rule "failed>3" paused the agent'
    """
    done = _DONE.get(alarm.action)
    words = f"{rule_words(alarm.rule)}{done or ' hit'}"
    if alarm.call is not None:
        words += f"{' at' if done else ' by'} call {alarm.call}"
    if alarm.words:
        words += f": {safe_line(alarm.words)}"
    if alarm.is_last:
        words += " (further hits of this rule are not noted)"
    return cut(SafeText(words), _COLUMNS)


def rule_words(name: str) -> SafeText:
    """`rule "rm outside"`."""
    return SafeText(f'rule "{cut(safe_line(name), _NAME_COLUMNS)}"')
