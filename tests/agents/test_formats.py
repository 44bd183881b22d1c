"""What holds for every format: no input raises, every line is counted, and nothing is invented."""

import json
import os
import random
import time
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice, product
from typing import Any

import pytest

from agentwatch.agents import Decoder
from agentwatch.agents.tool import Phrase
from agentwatch.analysis.block_text import block_text
from agentwatch.analysis.integrity import integrity
from agentwatch.api.check_agent import (
    ABSENT,
    WRONG,
    Subject,
    _check_changes,
    _check_detection,
    _check_order,
    _check_sample,
    _objects,
    check_agent,
    paths,
    replaced,
    shape,
)
from agentwatch.output.summary import summary
from agentwatch.rules.calls.fields import LIVE
from agentwatch.rules.calls.readers import command_readers
from agentwatch.rules.language.parser import parse
from agentwatch.session.actions import action
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.agents.copilot.lines import STREAM
from tests.builders import claude_lines
from tests.builders.captures import OURS, Captures
from tests.builders.codex.rollout import rollout
from tests.builders.codex.story import STORY
from tests.builders.codex.stream import stream
from tests.builders.formats import droid, gemini, gemini_chat
from tests.builders.formats.samples import KNOWN, MARKS, MIXED, lines_of, named, of_a_format, read, written
from tests.builders.lines import non_blank
from tests.builders.payloads import PAYLOADS
from tests.conftest import RECORDINGS, case
from tests.harness.costs import takes_more

_CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")
_SHARES = 8
TEXTS = [*sorted(PAYLOADS.values())[:: len(PAYLOADS) // _SHARES], MIXED]


def check_printed(session: Session, name: str) -> None:
    """Check all that is printed about a session."""
    assert_safe(b"".join(summary(session)).decode())
    json.loads(b"".join(summary(session)))
    for call in session.calls:
        assert_safe(action(call))
    assert_safe(integrity(session).line())
    assert session.format == name


def assert_safe(text: str) -> None:
    """Check that a printed line has nothing that acts on a terminal or changes how the line reads."""
    bad = {f"U+{ord(char):04X}" for char in text if unicodedata.category(char) in _CONTROLS}
    assert not bad, bad


@pytest.mark.slow
@pytest.mark.system
@pytest.mark.parametrize("texts", [TEXTS[-1:], pytest.param(TEXTS, marks=pytest.mark.long)], ids=len)
def test_what_is_printed_is_safe(captures: Captures, texts: list[str]) -> None:
    """Summary, actions and integrity line of hostile lines contain no control character."""
    for title, data, name in of_a_format(captures):
        for text in texts:
            for keep in (MARKS, frozenset[str]()):
                with case(f"{title}, {text!r}, {len(keep)} fields kept"):
                    found = read(b"\n".join(lines_of(data, text, keep)), name)
                    check_printed(found, name)
                    assert found.lines.malformed == 0


@pytest.mark.slow
@pytest.mark.system
def test_the_detail_of_hostile_lines_can_be_made(captures: Captures) -> None:
    """The blocks of hostile lines can be made into text."""
    made = 0
    for title, data, name in of_a_format(captures):
        decoder = Decoder(named(name))
        with case(title):
            for line in lines_of(data, MIXED, MARKS):
                decoder.decode(line)
                for block in decoder.blocks(line, "x"):
                    assert isinstance(block_text(block), str)
                    made += 1
    assert made


def test_every_format_has_a_sample() -> None:
    """Each format is tried, except the one for lines that several formats share."""
    missing = KNOWN - {name for _, _, name in of_a_format(OURS)} - {"claude-family"}
    paths = [f"tests/captures/agents/{name}/*.jsonl" for name in sorted(missing)]
    assert not paths, f"no sample: add {' and '.join(paths)}, with a row in tests/captures/README.md"


def test_rules_see_the_whole_command_of_every_agent() -> None:
    """A second line, one after `\\` and one after 5,000 characters are judged; what is cut off is unknown."""
    hits = parse('runs:"git push -f"', LIVE).bind(command_readers("/w"))
    tails: dict[str, bool | None] = {"\ngit push -f": True, " \\\n&& git push -f": True}
    tails |= {f"\n: {'x' * count}\ngit push -f": is_hit for count, is_hit in ((5000, True), (70_000, None))}
    pi = next(data for _, data, name in of_a_format(OURS) if name == "pi-session" and b'"write"' in data)
    more = [("pi", pi.replace(b'"write"', b'"bash"').replace(b'"path"', b'"command"'), "pi-session")]
    more.append(("failures", (RECORDINGS / "failures.ndjson").read_bytes(), "cursor"))
    judged = set[str]()
    for title, data, name in (*of_a_format(OURS), *more):
        command = next((each.command for each in read(data, name).calls if each.phrase == Phrase.RAN), None)
        if command is None or name in judged:
            continue
        judged.add(name)
        for tail, is_hit in tails.items():
            with case((title, tail[:20])):
                rows = [_longer(json.loads(row), command, tail) for row in data.split(b"\n") if row]
                found = read("\n".join(map(json.dumps, rows)).encode(), name).calls
                assert is_hit in [hits(each) for each in found if (each.command or "").startswith(command)]
    assert judged == KNOWN - {"claude-family"}


def _longer(value: Any, text: str, tail: str) -> Any:
    """Return a JSON value with a longer text in the place of each occurrence of a text."""
    if isinstance(value, str):
        with suppress(ValueError):
            if value[:1] == "{":  # arguments may be JSON in a string
                return json.dumps(_longer(json.loads(value), text, tail))
        return value.replace(text, text + tail)
    if isinstance(value, list):
        return [_longer(each, text, tail) for each in value]
    return {k: _longer(each, text, tail) for k, each in value.items()} if isinstance(value, dict) else value


def test_every_format_reads_its_shortest_sample() -> None:
    """A format recognises its lines, returns events of the declared types, and raises for no changed field.

    Six kinds of lines are changed here; the stages `costs` and `long` check everything.
    """
    shortest: dict[str, bytes] = {}
    for _, data, name in of_a_format(OURS):
        shortest[name] = min(shortest.get(name, data), data, key=len)
    for name, data in shortest.items():
        with case(name):
            subject, lines = Subject(named(name)), _objects(data.split(b"\n"))
            _check_detection(subject, lines)
            _check_changes(subject, _check_sample(subject, lines)[:6])
            _check_order(subject, lines)


_TIMES = 12
_QUICK_SECONDS = 0.072
_MOST_SECONDS = 2.0


@pytest.mark.costs
def test_a_long_recording_takes_time_by_its_length(captures: Captures) -> None:
    """A recording with its lines twelve times over takes at most three times twelve times as long."""
    for title, data, name in of_a_format(captures):
        with case(title):
            long = partial(read, (data.rstrip(b"\n") + b"\n") * _TIMES, name)
            assert not takes_more(long, 3 * _TIMES, partial(read, data, name), _QUICK_SECONDS)


def grown(value: Any, by: int) -> Any:
    """Return a JSON value with each text of several words made long."""
    if isinstance(value, dict):
        return {key: grown(inner, by) for key, inner in value.items()}
    if isinstance(value, list):
        return [grown(inner, by) for inner in value]
    if isinstance(value, str) and (" " in value or "\n" in value):
        return "\n".join([value] * (by // max(len(value), 1)))
    return value


@pytest.mark.costs
def test_a_huge_field_takes_time_by_its_length(captures: Captures) -> None:
    """A line whose texts have 200,000 characters each is read, and shown, within two seconds."""
    tried = 0
    for title, data, name in of_a_format(captures):
        decoder = Decoder(named(name))
        for number, line in enumerate(data.split(b"\n")[:40]):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            big = json.dumps(grown(value, 200_000)).encode()
            if len(big) > 4_000_000:
                continue
            with case(f"{title}, line {number}"):
                start = time.process_time()
                decoder.decode(big)
                list(decoder.blocks(big, "x"))
                assert time.process_time() - start < _MOST_SECONDS
            tried += 1
    assert tried


EVERYTHING = "AGENTWATCH_EXAMPLES" in os.environ


def places(count: int, size: int, most: int, work: int) -> range:
    """Return the positions that are tried: all, or so many that the work stays bounded."""
    most = max(min(most, work // max(size, 1)), 4)
    return range(0, count, 1 if EVERYTHING else max(1, count // most))


def check(data: bytes, name: str, known: set[str]) -> Session:
    """Check that all lines are counted, and that ids and texts come from the lines."""
    found = read(data, name)
    assert found.lines.total == non_blank(data)
    ids = {call.call_id.partition("#")[0] for call in found.calls}
    cut = {call_id for call_id in ids if "…" in call_id or "\ufffd" in call_id}  # a digest, half an emoji
    assert ids - cut <= known | {""}
    assert sorted(call.number for call in found.ended_calls) == list(range(1, len(found.calls) + 1))
    checks = integrity(found)
    assert 0 <= checks.paired <= checks.calls == len(found.calls)
    texts = [
        each.text for each in found.transcript if each.kind in (Kind.ANSWER, Kind.REASONING, Kind.PROMPT)
    ]
    assert sum(map(len, texts)) <= len(data)
    assert json.loads(b"".join(summary(found)))["format"] == name
    return found


@pytest.mark.parametrize("work", [100_000, pytest.param(1_000_000, marks=pytest.mark.system)])
def test_a_recording_may_be_cut_at_any_line(captures: Captures, work: int) -> None:
    """The first lines have the first calls, the beginning of the text and no other outcome; the last lines
    have no other calls.
    """
    for title, data, name in of_a_format(captures):
        whole, known, lines = read(data, name), written(data), data.splitlines(keepends=True)
        ids, outcomes = [call.call_id for call in whole.calls], {*_outcomes(whole)}
        for at in places(len(lines), len(data), 40, work):
            with case(f"{title}, {at} lines"):
                head = check(b"".join(lines[:at]), name, known)
                assert [call.call_id for call in head.calls] == ids[: len(head.calls)]
                assert whole.text.startswith(head.text)
                assert {*_outcomes(head)} <= outcomes
                tail = check(b"".join(lines[at:]), name, known)
                if name != "cursor-transcript":  # whose ids are places of lines
                    assert {call.call_id for call in tail.calls} <= {*ids}


def _outcomes(session: Session) -> Iterator[tuple[str, Outcome]]:
    """Yield the outcomes that each call may have before its last line was read."""
    for call in session.calls:
        yield call.call_id, call.outcome
        yield call.call_id, Outcome.UNFINISHED
        if call.outcome is Outcome.CANCELLED:
            yield call.call_id, Outcome.REJECTED  # the next prompt says that the call ran


@pytest.mark.system
def test_a_recording_may_be_cut_at_any_byte(captures: Captures) -> None:
    """A recording that ends or begins inside a line is read without inventing a call."""
    for title, data, name in of_a_format(captures):
        known = written(data)
        for at in places(len(data), len(data), 20, 400_000):
            with case(f"{title}, {at} bytes"):
                check(data[:at], name, known)
                check(data[at:], name, known)


MADE: tuple[tuple[str, Iterable[Mapping[str, Any]]], ...] = (
    *(("claude-code", claude_lines.LINES), ("copilot", STREAM), ("gemini", gemini.LINES)),
    ("gemini-chat", gemini_chat.LINES),
    *(("droid", droid.LINES), ("codex", [*map(json.loads, stream(STORY).splitlines())])),
    *(("codex-rollout", [*map(json.loads, rollout(STORY, is_paginated=True).splitlines())]),),
)
"""Lines with fields that no capture has, by their format."""


@pytest.mark.system
@pytest.mark.parametrize("work", [80_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_a_key_of_any_type_is_data(captures: Captures, work: int) -> None:
    """With a key absent or of another type, lines are counted, no call is invented, and blocks are made."""
    given = [(title, data.splitlines(), name) for title, data, name in of_a_format(captures)]
    if captures.is_own:
        given += [
            (f"made up, {name}", [json.dumps(row).encode() for row in rows], name) for name, rows in MADE
        ]
    for title, lines, name in given:
        agent, rows = named(name), [row for row in map(_object, lines) if row]
        changes = [(key, value) for key in sorted({*_keys(rows)}) for value in (ABSENT, *WRONG)]
        size = sum(map(len, lines))
        for key, value in changes[:: max(1, len(changes) * size // work)]:
            with case(f"{title}, {key} is {value!r}"):
                changed = [_changed(row, key, value) for row in rows]
                data = b"\n".join(json.dumps(row).encode() for row in changed)
                check(data, name, written(data))
                for row in changed:
                    assert all(isinstance(block_text(block), str) for block in agent.blocks(row, "c"))
                    agent.role(row), agent.recognises(row)
                    assert agent.time_of is None or isinstance(agent.time_of(row), int | None)


def _object(line: bytes) -> dict[str, Any]:
    """Return a line that is an object, and otherwise an empty one."""
    with suppress(ValueError):
        row = json.loads(line)
        return row if isinstance(row, dict) else {}
    return {}


def _keys(value: object) -> Iterator[str]:
    """Yield the keys of a JSON value at any level."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def _changed(value: Any, key: str, wrong: object) -> Any:
    """Return a JSON value with another value, or none, in place of each value of a key."""
    if isinstance(value, dict):
        return {
            name: wrong if name == key else _changed(inner, key, wrong)
            for name, inner in value.items()
            if name != key or wrong is not ABSENT
        }
    return [_changed(inner, key, wrong) for inner in value] if isinstance(value, list) else value


def mangled(lines: list[bytes], at: int) -> Iterator[list[bytes]]:
    """Yield the lines with one of them lost, doubled, and exchanged with the next."""
    yield lines[:at] + lines[at + 1 :]
    yield lines[: at + 1] + lines[at:]
    yield [*lines[:at], *lines[at : at + 2][::-1], *lines[at + 2 :]]


@pytest.mark.slow
@pytest.mark.system
def test_lines_may_be_lost_doubled_or_out_of_order(captures: Captures) -> None:
    """A recording with misplaced lines has only the calls of its lines, and all lines are counted."""
    for title, data, name in of_a_format(captures):
        known, lines = written(data), data.split(b"\n")
        for at in places(len(lines), 3 * len(data), 20, 400_000):
            with case(f"{title}, line {at}"):
                for changed in mangled(lines, at):
                    check(b"\n".join(changed), name, known)
        chance = random.Random(7)
        for _ in range(3):
            with case(f"{title}, shuffled"):
                check(b"\n".join(chance.sample(lines, len(lines))), name, known)


def test_a_doubled_line_doubles_no_call(captures: Captures) -> None:
    """Each line given twice in a row adds no call to those of the recording."""
    for title, data, name in of_a_format(captures):
        with case(title):
            lines = [line for line in data.split(b"\n") if line.strip()]
            twice = read(b"\n".join(each for line in lines for each in (line, line)), name)
            ids = {call.call_id for call in read(data, name).calls}
            assert {call.call_id for call in twice.calls if "#" not in call.call_id} <= ids


_WITHOUT_EVENTS = "disk/codex-rollout/agent-sessions/schema_drift.jsonl"
"""A capture whose lines are all unknown."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "is_first", [pytest.param(True, marks=pytest.mark.costs), pytest.param(False, marks=pytest.mark.long)]
)
def test_every_format_passes_the_check_of_plugins(captures: Captures, is_first: bool) -> None:
    """No changed line makes a built-in format raise, return a wrong type, or take more than linear time.

    The first capture of each format is checked in the stage `costs`, the others in `long`.
    """
    seen: set[str] = set()
    for title, data, name in of_a_format(captures):
        if title != _WITHOUT_EVENTS and (name not in seen) == is_first:
            with case(title):
                check_agent(named(name), data.split(b"\n"))
        seen.add(name)
    assert seen


@pytest.mark.slow
@pytest.mark.system
@pytest.mark.parametrize("step", [12, pytest.param(1, marks=pytest.mark.long)])
def test_recognition_reads_any_field(captures: Captures, step: int) -> None:
    """Every format is asked about lines with fields of any type, and answers."""
    for title, data, _ in of_a_format(captures):
        seen: set[str] = set()
        with case(title):
            for line in data.split(b"\n"):
                try:
                    value = json.loads(line)
                except ValueError:
                    continue
                if not isinstance(value, dict):
                    continue
                kind = repr((value.get("type"), value.get("subtype"), shape(value)))
                if kind in seen:
                    continue
                seen.add(kind)
                fields = paths(value, most_items=2, depth=6)  # and those of the objects in them
                for path, wrong in islice(product(fields, (ABSENT, *WRONG)), 0, None, step):
                    decoder = Decoder()
                    decoder.decode(json.dumps(replaced(value, path, wrong)).encode())
                    decoder.end()
            assert seen
