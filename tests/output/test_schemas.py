"""Each JSON that the program prints has a schema, which describes each member and allows no other."""

import json
import os
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

import agentwatch
from agentwatch.agents.opening import saved_source
from agentwatch.agents.state_report import State
from agentwatch.analysis.episodes import EpisodeKind
from agentwatch.analysis.verdict_history import State as VerdictState
from agentwatch.analysis.verdicts import Source
from agentwatch.base.clock import now_ms
from agentwatch.catalog.evidence import Weight
from agentwatch.catalog.session_status import Ground
from agentwatch.cli.schema import NAMES, schema
from agentwatch.feed.feed import Feed
from agentwatch.output.compare.alignment import Match
from agentwatch.output.compare.comparison import Aspect, Part
from agentwatch.output.show import State as Moment
from agentwatch.output.show import call_json, state_json
from agentwatch.output.summary import whole_summary
from agentwatch.rules.alarms.events import EVENTS, HIT
from agentwatch.rules.check.judge import State as RuleState
from agentwatch.rules.check.kinds import Severity
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.transcript import Kind
from tests.builders.captures import Captures
from tests.builders.machine.fake import fake_machine
from tests.conftest import RECORDINGS, case
from tests.harness.program import PLAIN, ran
from tests.harness.schemas import check_json

Node = dict[str, Any]
OPTIONAL = {"missed"}
OF_RUNS = {*Outcome} - {Outcome.REJECTED, Outcome.RETURNED}
OTHERS = {
    **{name: {"summary"} for name in ("compare", "show-call", "show-moment")},
    "compare-with": {"compare", "summary"},
    "explain": {"sessions"},
}
"""The schemas to which one refers."""
VALUES: dict[str, set[Any]] = {
    "summary/$defs/session/outcome": OF_RUNS | {None},
    "summary/$defs/call/outcome": {*Outcome},
    "summary/$defs/call/kind": {*ToolKind},
    "summary/$defs/tests/state": {*VerdictState},
    "summary/$defs/command/source": {*Source, None},
    "sessions/$defs/row/state": {*State},
    "sessions/$defs/row/ground": {*Ground},
    "explain/evidence/weight": {*Weight},
    "show-moment/episodes/kind": {*EpisodeKind},
    "check/recordings/rules/state": {*RuleState},
    "check/recordings/rules/severity": {*Severity},
    "check-since/rules/severity": {*Severity},
    "compare/$defs/side/outcome": OF_RUNS | {None},
    "compare/$defs/side/tests": {*VerdictState, None},
    "compare/$defs/row/match": {*Match},
    "compare/$defs/row/differs_in": {*Aspect},
    "compare/text/pieces/in": {*Part},
    "event/event": {*EVENTS, HIT},
    "find/kind": {*ToolKind, *Kind} - {Kind.CALL, Kind.NOTICE},
    "find/outcome": {*Outcome, None},
}
"""The values of members that have an enumeration in the program."""


def nodes(node: Node, path: str) -> Iterator[tuple[str, Node]]:
    """Yield a schema and each schema in it, with the members that lead to it; none of another file."""
    yield path, node
    for name, inner in node.get("properties", {}).items():
        yield from nodes(inner, f"{path}/{name}")
    for name, inner in node.get("$defs", {}).items():
        if "$id" not in inner:
            yield from nodes(inner, f"{path}/$defs/{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield from nodes(node[key], path)
    for inner in node.get("anyOf", ()):
        yield from nodes(inner, path)


def test_a_schema_describes_each_member_and_allows_no_other() -> None:
    """It is valid, its name ends in its version, and its values are those of the program. Each member has a
    description, is required, and an object that others extend is closed where they do.
    """
    found = {path: node for name in NAMES for path, node in nodes(schema(name), name)}
    extended = {path for path, node in found.items() if "$defs" in path and is_open(node)}
    assert extended == {f"{each}" for each in ("sessions/$defs/row", "stats/$defs/sums")} | {
        f"summary/$defs/{each}" for each in ("session", "call")
    }
    for name in NAMES:
        with case(name):
            whole = schema(name)
            Draft202012Validator.check_schema(whole)
            assert next(iter(whole["properties"])) == "version"
            assert whole["$id"].endswith(f"/schemas/{name}/{whole['properties']['version']['const']}")
    for path, node in found.items():
        with case(path):
            if "properties" in node:
                assert {*node["required"]} == {*node["properties"]} - OPTIONAL
                assert all(each["description"].endswith((".", "…")) for each in node["properties"].values())
                assert path in extended or not is_open(node)
            other, _, definition = node.get("$ref", "").rpartition("#/")
            other = other.split("/")[-2] if other else path.partition("/")[0]
            if f"{other}/{definition}" in extended:
                assert node["unevaluatedProperties"] is False
            enum = {*node.get("enum", ())}
            assert enum == VALUES.get(path, enum)
    assert {*VALUES} <= {*found}


def is_open(node: Node) -> bool:
    """Return whether an object may have members that a schema does not name."""
    is_closed = False in (node.get("additionalProperties"), node.get("unevaluatedProperties"))
    return "properties" in node and not is_closed


def test_the_types_of_python_agree_with_the_schema() -> None:
    """`agentwatch.Summary` has the members of the schema in their order, with the same types.

    In Python an outcome is neither null nor `running`.
    """
    whole = schema("summary")
    session = whole["$defs"]["session"]
    session["properties"] = {"version": {"type": "integer"}, **session["properties"]}
    agree(agentwatch.Summary, session, whole["$defs"], "summary")


def agree(hint: Any, node: Node, definitions: Node, place: str) -> None:
    """Check that a type of Python and a schema allow the same."""
    if get_origin(hint) is Literal:  # a session that has been read is of a known agent, and has ended
        assert {*get_args(hint)} == {*node["enum"]} - {"running", None}, place
        return
    options = node.get("anyOf", [node])
    is_nullable = {"type": "null"} in options or "null" in node.get("type", "")
    node = {**options[0], **definitions.get(options[0].get("$ref", "").removeprefix("#/$defs/"), {})}
    with case(place):
        if get_origin(hint) is UnionType:
            assert is_nullable
            assert NoneType in get_args(hint)
            [hint] = {*get_args(hint)} - {NoneType}
        else:
            assert not is_nullable
    types = [each for each in [node["type"]] if isinstance(each, str)] or [*node["type"]]
    if is_typeddict(hint):
        hints = get_type_hints(hint)
        assert [*hints] == [*node["properties"]], place
        for name, inner in hints.items():
            agree(inner, node["properties"][name], definitions, f"{place}.{name}")
    elif get_origin(hint) is list:
        agree(get_args(hint)[0], node["items"], definitions, f"{place}[]")
    else:
        kinds = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object"}
        assert types[0] == kinds[get_origin(hint) or hint], place


def test_each_recording_is_printed_by_its_schemas(captures: Captures) -> None:
    """The summary, a moment and calls of each capture have the members of their schemas, and so have checks
    and comparisons. A member more is refused, in an object and in one of its calls.
    """
    paths = [path for path in captures.find("**/*.jsonl", "**/*.ndjson") if path.stat().st_size < 1 << 20]
    paths += sorted(RECORDINGS.glob("*.ndjson")) if captures.is_own else []
    known = []
    for path in paths:
        with case(path):
            source = saved_source(path)
            feed = Feed(source.reader)
            feed.advance()
            check_json("summary", b"".join(whole_summary(feed)))
            check_json("show-moment", b"".join(state_json(Moment(feed, 1, 1, None))))
            for call in feed.session.calls[:5]:
                check_json("show-call", call_json(feed, call))
            os.close(source.reader.fd)
            known += [path] if feed.session.format else []
    assert len(known) > 40
    rules = ("--forbid", "tool:execute", "--require", "integrity", "--limit", "failed=0", "--limit", "cost=1")
    assert ran("check", *known[:40], "--json", *rules).stdout
    for one, two in zip(known[:40:8], known[1:40:8], strict=True):
        assert ran("compare", one, two, "--json", "--all").stdout
    assert ran("compare", *known[:4], "--with", *known[4:9], "--json").stdout
    found = json.loads(ran(PLAIN, "--output-format", "summary").stdout)
    call = found["calls"][0]
    for more in (found | {"more": 1}, found | {"calls": [call | {"more": 1}]}, found | {"version": 2}):
        with pytest.raises(AssertionError, match=r"^summary: \$"):
            check_json("summary", json.dumps(more).encode())


@pytest.mark.slow
def test_each_session_of_a_machine_is_printed_by_its_schemas(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So are its rows, what explains them, its statistics, the trial of rules and the facts about it."""
    machine = fake_machine(tmp_path_factory.mktemp("machine"), 30, newest_ms=now_ms(), open_calls=3)
    for name, value in machine.environ.items():
        monkeypatch.setenv(name, value)
    done = ran("sessions", "--json", "--all")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) > 40, done.stderr
    home = str(machine.home)  # another row is a process, which a test beside this one can end
    saved = [row for row in rows if (row["path"] or "").startswith(home)]
    for row in {row["agent"]: row for row in saved}.values():
        with case(row["agent"]):
            assert ran("show", "--why", row["id"], "--json").stdout
    assert json.loads(ran("stats", "--json").stdout)["totals"]["calls"]
    rules = ("--forbid", "tool:execute", "--limit", "failed=0")
    assert json.loads(ran("check", "--since", "2020-01-01", *rules, "--json").stdout)["sessions"]
    assert ran("doctor", "--json").stdout


def test_the_command_lists_the_schemas_and_prints_one() -> None:
    """A line has the name and what it is for; a schema that is printed needs no other file."""
    done = ran("schema")
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    assert tuple(line.split("  ")[0] for line in lines) == NAMES
    assert lines[-1] == "summary  What --output-format summary prints"
    for name in NAMES:
        with case(name):
            done = ran("schema", name)
            assert (done.returncode, json.loads(done.stdout)) == (0, schema(name))
            others = {each["$id"] for each in schema(name).get("$defs", {}).values() if "$id" in each}
            assert {each.split("/")[-2] for each in others} == OTHERS.get(name, set())
    done = ran("schema", "gone")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"'summary'" in done.stderr
