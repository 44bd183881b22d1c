"""The sets of rules that are shipped: what each rule hits, and what it leaves alone."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.base.faults import Fault
from agentwatch.feed.feed import Feed
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.rules.calls.readers import call_readers
from agentwatch.rules.check.judge import Judge
from agentwatch.rules.check.kinds import Forbid, read_rules, starter_path
from agentwatch.rules.check.risks import risks_in
from agentwatch.rules.language.errors import RuleError
from agentwatch.session.blocks import ChangeBlock
from agentwatch.session.call import Call
from agentwatch.session.events import ToolKind
from tests.conftest import RECORDINGS, ROOT, case
from tests.rules.calls.test_filter import called, feed_of, run
from tests.rules.check.test_judge import judge as judged

CAPTURES = ROOT / "tests" / "captures"
KEY = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
COMMANDS = Path(__file__).with_name("commands.txt")
"""The file of the commands that each rule hits, and of harmless ones."""


def commands() -> Iterator[tuple[str, str]]:
    """Yield each command of the file, after the section that it is in."""
    section = ""
    for line in COMMANDS.read_text("utf-8").splitlines():
        if line.startswith("["):
            section = line[1:-1]
        elif not line.startswith("//"):
            pieces = re.split("«([^»]*)»", line)
            for chosen in product(*(each.split("|") if at % 2 else [each] for at, each in enumerate(pieces))):
                yield section, "".join(chosen).replace("⏎", "\n").replace("SECRET_KEY", KEY)


def rules() -> dict[str, Forbid]:
    """Return the rules of the set `safe` by their names."""
    return {rule.name: rule for rule in read_rules(starter_path("safe")) if isinstance(rule, Forbid)}


def test_each_rule_hits_what_it_names_and_nothing_harmless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither wrappers, quotes, line ends nor scripts hide a command; words in a message are not one.
    Of 278 dangerous ones 270 are hit, and each has a mark in the box in which it is allowed.
    """
    given, cwd = [*commands()], "/home/me/project"
    calls = [
        each
        for nth, (_, words) in enumerate(given)
        for each in called(f"c{nth}", "Bash", ToolKind.EXECUTE, words)
    ]
    feed = feed_of([run(cwd), *calls], tmp_path, monkeypatch)
    readers = call_readers(CallFacts(feed))
    tests = {name: rule.condition.bind(readers) for name, rule in rules().items()}
    counts = Counter[str]()
    for (section, words), call in zip(given, feed.session.calls, strict=True):
        with case((section, words)):
            hits = [name for name, test in tests.items() if test(call) is True]
            assert hits == ([section] if section in tests else [])
            assert section == "harmless" or risks_in(words, cwd)
            counts["hit" if hits else section.partition(":")[0]] += 1
    assert {section for section, _ in given} >= {*tests}
    assert counts == {"hit": 270, "not seen": 8, "harmless": counts["harmless"]}


def test_a_test_that_an_edit_skips_is_hit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An added line counts, and one that is too long is unknown."""
    # Only an added line in a file of tests counts, not one that was there before, nor one in other files.
    cases = [
        ("tests/test_a.py", ChangeBlock("@@ -1 +1,2 @@\n+@pytest.mark.skip\n def a(): ..."), True),
        ("tests/test_a.py", ChangeBlock("@@ -1,2 +1 @@\n-@pytest.mark.skip\n def a(): ..."), False),
        ("src/a.py", ChangeBlock("@@ -1 +1,2 @@\n+@pytest.mark.skip"), False),
        ("web/a.spec.ts", ChangeBlock(None, "it('a')\n", "it.skip('a')\n"), True),
        ("web/a.spec.ts", ChangeBlock(None, "it.skip('a')\n", "it.skip('a')\nit('b')\n"), False),
    ]
    lines = {
        "  xit('a')": True,
        "xit('a')": True,
        "    process.exit(1)": False,
        "\tt.Skip()": True,
        "  list.skip(1)": False,
        "#[ignore = 'slow']": True,
        "// #ignore": False,
        "it.only('a')": True,
        "    pytest.skip('x')": True,
    }
    cases += [("tests/a", ChangeBlock(None, "", line), is_hit) for line, is_hit in lines.items()]
    for path, block, is_hit in cases:
        with case((path, block)), monkeypatch.context() as patch:
            events = [run(), *called("c", "Edit", ToolKind.EDIT, path, path=path)]
            feed = feed_of(events, tmp_path, patch)
            patch.setattr(feed, "blocks", lambda _place, _id, block=block: [block])
            test = rules()["disables tests"].condition.bind(call_readers(CallFacts(feed)))
            assert test(feed.session.calls[0]) is is_hit
    # It is not read again, and nothing is claimed about it.
    feed = feed_of([run(), *called("c", "Edit", ToolKind.EDIT, "a", path="a")], tmp_path, monkeypatch)
    call: Call = feed.session.calls[0]
    assert call.started is not None
    assert CallFacts(feed).added_lines(call) == ()
    call.started = call.started._replace(length=2 << 20)
    assert CallFacts(feed).added_lines(call) is None


@pytest.mark.system
@pytest.mark.slow
def test_the_captures_raise_no_false_alarm() -> None:
    """In all captures of real agents and all recordings, the only hit does what the rule names."""
    given, hits, calls = list(rules().values()), list[tuple[str, str, str]](), 0
    for path in sorted([*CAPTURES.rglob("*.jsonl"), *CAPTURES.rglob("*.ndjson"), *RECORDINGS.iterdir()]):
        try:
            source = saved_source(path)
        except Fault:
            continue  # a store without a session
        with closing(source):
            feed = Feed(source.reader)
            judge = Judge(feed, given)
            while not feed.is_over:
                feed.advance()
            calls += len(feed.session.calls)
            hits += [
                (path.name, each.rule.name, place.at) for each in judge.judgements() for place in each.places
            ]
    assert calls > 300
    assert hits == [("failures.ndjson", "deletes outside the project", "#4")]


def test_the_set_is_named_and_judged(tmp_path: Path) -> None:
    """A set is judged like a file, and an unknown one is named."""
    # A recording in which a command deletes outside breaks one rule of eight.
    found = judged((RECORDINGS / "failures.ndjson").read_bytes(), list(rules().values()), tmp_path)
    assert [each.rule.name for each in found if each.hits] == ["deletes outside the project"]
    # The error names the nearest set, or all of them; a path is not a name.
    for name, complaint in (
        ("saf", "did you mean safe?"),
        ("../safe", "did you mean safe?"),
        ("", "known: safe"),
    ):
        with case(name), pytest.raises(RuleError) as caught:
            starter_path(name)
        assert complaint in caught.value.reason
