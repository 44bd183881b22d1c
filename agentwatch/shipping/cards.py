"""Writes the card of a session that is shipped, from the digest that the list of this machine shows too."""

from __future__ import annotations

import os

from agentwatch.engine.card import FROM_ROW, Card, encode
from agentwatch.engine.chunk import Ended
from agentwatch.engine.limits import SIGN_OF_LIFE_SECONDS
from agentwatch.machine.digest import Turn
from agentwatch.machine.process import Life, Said
from agentwatch.machine.repository import Repositories
from agentwatch.machine.row import Row
from agentwatch.machine.standing import State
from agentwatch.machine.tracked import Tracked, row_of
from agentwatch.recording import now_ms
from agentwatch.recording.saved_process import MOST_BYTES
from agentwatch.shipping.recorded import Recorded
from agentwatch.wire.described import folder_in, json_object, text_in, time_in
from agentwatch.wire.found import OWN, Found, Metadata

_LEAST_SECONDS = 1.0
"""The time between two cards."""
_MS_NS = 1_000_000
_TIMED_SECONDS = 5.0
"""A state may change because time passes: it is judged again after this time."""


class CardWriter:
    """Makes the cards of one session. No recording makes it raise."""

    def __init__(self, recorded: Recorded) -> None:
        """Make the cards of a recording.

        Args:
            recorded: The recording.
        """
        self._recorded = recorded
        self._host = os.uname().nodename
        self._repositories = Repositories()
        self._tracked = Tracked(self._found())
        self._judged_at = float("-inf")
        self._judged_for: tuple[object, ...] = ()
        self._written = b""
        self._written_at = float("-inf")
        self._not_before = float("-inf")
        self._is_written = False

    @property
    def is_written(self) -> bool:
        """Whether the engine has the last card that was due."""
        return self._is_written

    def due(self, now: float, problem: str, ended: Ended | None = None) -> bytes | None:
        """Return the card that is to be written now; None if the last one still holds.

        Args:
            now: The time, in seconds of a clock that never goes backwards.
            problem: Why the engine does not have the rest of the recording.
            ended: The end of the recording, once the engine has it.
        """
        recorded = self._recorded
        for_what = (recorded.size, recorded.offset, recorded.has_ended, problem, ended)
        is_silent = now - self._written_at >= SIGN_OF_LIFE_SECONDS
        if now < self._not_before or not (
            is_silent or for_what != self._judged_for or now - self._judged_at >= _TIMED_SECONDS
        ):
            return None
        self._judged_at, self._judged_for = now, for_what
        self._not_before = now + _LEAST_SECONDS
        card = encode(self._card(problem, ended))
        self._is_written = not is_silent and card == self._written
        return None if self._is_written else card

    def note_written(self, card: bytes, now: float) -> None:
        """Note that the engine has a card."""
        self._written, self._written_at, self._is_written = card, now, True

    def put_off(self, until: float) -> None:
        """Make no card before a time, unless `hurry` is called."""
        self._not_before = until

    def hurry(self) -> None:
        """Make the next card at once."""
        self._not_before = self._judged_at = float("-inf")

    def _card(self, problem: str, ended: Ended | None) -> Card:
        recorded, tracked = self._recorded, self._tracked
        process = recorded.process()
        is_live = not recorded.has_ended
        tracked.found = self._found()
        tracked.said = None
        if is_live:
            pid, began_ms = (None, None) if process is None else (process.pid, process.started_ms)
            tracked.said = Said(OWN, recorded.path.stem, Life.LIVE, pid, began_ms=began_ms)
        tracked.join(Life.LIVE if is_live else Life.DEAD, None)
        tracked.read()
        tracked.standing = tracked.judged(now_ms())
        row = row_of(tracked, self._repositories.of(tracked.cwd))
        digest = tracked.digest
        return Card(
            **{name: getattr(row, name) for name in FROM_ROW},
            host=self._host,
            prompt=(digest.last_prompt or digest.first_prompt) if digest else "",
            state=row.standing.state,
            ground=row.standing.ground,
            since_ms=row.standing.since_ms,
            outcome="running" if is_live else self._outcome(),
            running=row.open_calls,
            bytes=recorded.size,
            shipped=recorded.offset,
            started_ms=row.began_ms,
            # the clock of the agent may be wrong, and old sessions are hidden
            seen_ms=recorded.changed_ns // _MS_NS,
            last=_last(row),
            exit=None if process is None else process.exit_code,
            sha256="" if ended is None else ended.sha256,
            problem=problem,
        )

    def _outcome(self) -> str:
        """Return the outcome of a recording that has ended."""
        digest = self._tracked.digest
        if digest is None or digest.turn is not Turn.ENDED or digest.outcome is None:
            return "unfinished"
        return digest.outcome

    def _found(self) -> Found:
        recorded = self._recorded
        described = json_object(str(recorded.files.process), MOST_BYTES)
        name = text_in(described.get("name"))
        return Found(
            OWN,
            recorded.path.stem,
            recorded.path,
            recorded.size,
            recorded.changed_ns,
            metadata=Metadata(
                title=name,
                is_users_title=bool(name),
                cwd=folder_in(described.get("cwd")),
                began_ms=time_in(described.get("started_ms")),
            ),
        )


def _last(row: Row) -> str:
    """Return what a session does now; while it waits for the user, the end of its answer."""
    is_quoted = row.standing.state in (State.YOUR_TURN, State.SHELL)
    return row.standing.now or (row.last_text[-200:] if is_quoted else "")
