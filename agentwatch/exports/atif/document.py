"""Writes the trajectory of a session, and in it those of its subagents."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from agentwatch.events import Tokens
from agentwatch.exports.atif.calls import CallWriter, trajectory_id
from agentwatch.exports.atif.noted import Noted, noted
from agentwatch.exports.atif.steps import Origin, Step, steps_of
from agentwatch.exports.atif.values import json_of, known, members, pieces_of, text_json, timestamp
from agentwatch.exports.exported import Exported
from agentwatch.exports.exporter import Choices
from agentwatch.session import Entry, calls_by_outcome
from agentwatch.session.usage_counts import added
from agentwatch.wire.agents import program_named

VERSION = "ATIF-v1.8"
_PIECE_BYTES = 1 << 16
_CHUNK = 1 << 14
_MOST_LEVELS = 8
"""Trajectories within trajectories. Those of deeper subagents are in the list of the last of these levels."""
_MAIN = -1


class _Part(NamedTuple):
    """The entries that are exported, by the agent that wrote them."""

    entries: dict[int, array[int]]
    """The numbers of the entries of each subagent, by the number of its call; those of the main agent."""
    below: dict[int, list[int]]
    """The subagents whose calls an agent made, in order."""
    referenced: set[int]
    """The subagents whose calls refer to them."""


def write(exported: Exported, choices: Choices) -> Iterator[bytes]:
    """Yield the pieces of the file, each of about 64 KiB."""
    held: list[bytes] = []
    size = 0
    for piece in _Document(exported, choices).pieces():
        held.append(piece)
        size += len(piece)
        if size >= _PIECE_BYTES:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join([*held, b"\n"])


class _Document:
    def __init__(self, exported: Exported, choices: Choices) -> None:
        self._exported = exported
        self._session = exported.session
        self._progress = choices.progress or (lambda _done, _total: None)
        self._noted: Noted = noted(exported.feed)
        self._model = self._session.run.model
        self._part = _part(exported)
        self._calls = CallWriter(exported.feed, self._part.referenced)

    def pieces(self) -> Iterator[bytes]:
        """Yield the whole document."""
        return self._trajectory(_MAIN)

    def _trajectory(self, agent: int) -> Iterator[bytes]:
        """Yield the trajectory of an agent: of the main one, or of the subagent of a call."""
        is_main = agent == _MAIN
        session, run = self._session, self._session.run
        name = session.agent_name or session.format or "unknown"
        program = program_named(name)
        described = known(
            name=(program and program.published_name) or name,
            version=run.agent_version or "unknown",
            model_name=self._model if is_main else None,
            extra=(self._facts() or None) if is_main else None,
        )
        ids = known(session_id=run.session_id) if is_main else known(trajectory_id=trajectory_id(agent))
        yield b"{" + members({"schema_version": VERSION, **ids, "agent": described}) + b',"steps":['
        count = 0
        for count, step in enumerate(steps_of(self._entries(agent)), 1):
            yield b"{" if count == 1 else b",{"
            yield from self._step(step, count)
            yield b"}"
        if not count:
            nothing = {"step_id": 1, "source": Origin.SYSTEM, "message": "nothing of the session is exported"}
            yield json_of(nothing)
        metrics = self._metrics() if is_main else {}
        yield b"]," + members({"final_metrics": {**metrics, "total_steps": max(count, 1)}})
        if is_main:
            yield b"," + members({"notes": self._notes(), "extra": self._about()})
        if below := self._part.below.get(agent):
            for at, each in enumerate(below):
                yield b"," if at else b',"subagent_trajectories":['
                yield from self._trajectory(each)
            yield b"]"
        yield b"}"

    def _entries(self, agent: int) -> Iterator[Entry]:
        transcript, offsets = self._session.transcript, self._session.transcript.offsets
        total = self._exported.feed.offset
        for number in self._part.entries.get(agent, ()):
            self._progress(offsets[number], total)
            yield transcript[number]

    def _step(self, step: Step, number: int) -> Iterator[bytes]:
        """Yield the members of a step."""
        first = self._session.transcript[step.numbers[0]]
        is_main = step.origin is Origin.AGENT and first.parent is None
        model = self._noted.model_of(first.number) if is_main else None
        yield members(
            known(
                step_id=number,
                timestamp=timestamp(self._noted.ms_of(first)),
                source=step.origin,
                model_name=None if model == self._model else model,
            )
        )
        yield b',"message":'
        yield from self._text(step.texts)
        if step.reasoning:
            yield b',"reasoning_content":'
            yield from self._text(step.reasoning)
        yield from self._calls.members(step.calls)
        if (tokens := self._noted.tokens_of(step.numbers)) is not None:
            yield b"," + members({"metrics": _counts(tokens)})

    def _text(self, numbers: list[int]) -> Iterator[bytes]:
        """Yield the texts of entries as one JSON string, with a blank line between two texts."""
        transcript = self._session.transcript
        pieces = (chain(("\n\n",) if at else (), _pieces(transcript[n])) for at, n in enumerate(numbers))
        return text_json(chain.from_iterable(pieces))

    def _facts(self) -> dict[str, object]:
        """Return what is known about the agent and has no member of its own."""
        run = self._session.run
        return known(cwd=run.cwd, permission_mode=run.permission_mode, branch=run.branch)

    def _metrics(self) -> dict[str, object]:
        """Return the token counts of the session; nothing if only a part of it is exported."""
        if self._exported.start or self._exported.filter_words:
            return {}
        return {f"total_{name}": count for name, count in _counts(self._tokens()).items()}

    def _tokens(self) -> Tokens:
        return added(run.tokens for run in self._session.runs)

    def _notes(self) -> str:
        """Return what was masked, and whether the whole session is exported."""
        masked = self._exported.masked
        words = ["not redacted" if masked is None else f"redacted: {masked}"]
        if not self._exported.is_whole:
            words.append("a part of the session")
        return "; ".join(words)

    def _about(self) -> dict[str, object]:
        """Return the facts about the session that have no member of their own."""
        session = self._session
        return known(
            recording=self._exported.name,
            outcome=session.outcome,
            runs=len(session.runs),
            calls_by_outcome={outcome.value: count for outcome, count in calls_by_outcome(session).items()},
            only=self._exported.filter_words or None,
            is_redacted=self._exported.report is not None,
        )


def _pieces(entry: Entry) -> Iterator[str]:
    """Yield the text of an entry in pieces."""
    if (result := entry.result) is None:
        yield from pieces_of(entry.content)
    else:
        for start in range(0, result.length, _CHUNK):
            yield result.part(start, start + _CHUNK)


def _counts(tokens: Tokens) -> dict[str, object]:
    """Return token counts by the names of the format. Its prompt tokens include the cached ones."""
    return known(
        prompt_tokens=tokens.input,
        completion_tokens=tokens.output,
        cached_tokens=tokens.cached,
        cost_usd=tokens.cost_usd,
    )


def _part(exported: Exported) -> _Part:
    """Return the exported entries by the agent that wrote them."""
    entries: dict[int, array[int]] = {}
    is_shown = bytearray(len(exported.session.calls) + 1)
    for entry in exported.entries():
        agent = _MAIN if entry.parent is None else entry.parent
        entries.setdefault(agent, array("I")).append(entry.number)
        if entry.call is not None:
            is_shown[entry.call.number] = True
    part = _Part(entries, {}, set())
    owners, levels = {_MAIN: _MAIN}, {_MAIN: 0}
    for agent in sorted(entries.keys() - {_MAIN}):  # the call of a subagent comes before its own calls
        owner = _MAIN
        if agent and is_shown[agent] and (parent := exported.session.calls[agent - 1].parent) is not None:
            owner = parent
        if levels[owner] == _MOST_LEVELS:
            owner = owners[owner]
        elif is_shown[agent] and agent:
            part.referenced.add(agent)
        owners[agent], levels[agent] = owner, levels[owner] + 1
        part.below.setdefault(owner, []).append(agent)
    return part
