"""Files of rules: what they say, and the one line that is said about a wrong one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.base.faults import USAGE, Fault
from agentwatch.rules.check.kinds import Amount, Fact, Forbid, Limit, Require, Severity
from agentwatch.rules.check.rule_file import read_rules
from tests.builders.lines import PROPERTY
from tests.conftest import ROOT, case

FIFTEEN = (ROOT / "bench" / "fifteen_rules.toml").read_text(encoding="utf-8")


def read(text: str | bytes, folder: Path) -> list[Forbid | Require | Limit]:
    """Return the rules of a file with this text."""
    path = folder / "rules.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_rules(path)


def test_fifteen_rules(tmp_path: Path) -> None:
    """All three kinds of rules are read, in the order of the file."""
    found = read(FIFTEEN, tmp_path)
    assert [each.name for each in found][:2] == ["edits outside the project", "reads secrets"]
    assert [each.fact for each in found if isinstance(each, Require)] == [
        each for each in Fact if each is not Fact.ACTED
    ]
    limits = {each.amount: each.most for each in found if isinstance(each, Limit)}
    assert limits == {
        Amount.FAILED: 5,
        Amount.REJECTED: 0,
        Amount.CALL: 600_000,
        Amount.IDLE: 300_000,
        Amount.CALLS: 400,
    }


def test_each_entry_may_be_a_warning(tmp_path: Path) -> None:
    """An entry of `forbid` contains `severity`; the other entries contain it beside `value`."""
    found = read(
        """
        forbid = [{name = "a", when = "tool:edit", severity = "warning"}]
        require.tests = {value = "green", severity = "warning"}
        limit.failed = {value = 5, severity = "warning"}
        limit.calls = {value = "1k"}
        """,
        tmp_path,
    )
    assert [each.severity for each in found] == [*[Severity.WARNING] * 3, Severity.ERROR]


def test_a_regular_expression_needs_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With RE2 the rule is read; without it the fault is one line, and names the extra."""
    text = "forbid = [{name = 'x', when = 'command:re:/a/'}]"
    assert [each.name for each in read(text, tmp_path)] == ["x"]
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(Fault) as caught:
        read(text, tmp_path)
    needed = "re:/…/ needs RE2: pip install 'agentwatch-tui[regex]'"
    assert str(caught.value) == f'{tmp_path}/rules.toml: forbid 1 "x": {needed}'


def test_what_is_not_required_is_no_rule(tmp_path: Path) -> None:
    """`false` turns a requirement off."""
    assert [each.name for each in read("require = {result = false, integrity = true}", tmp_path)] == [
        "require.integrity = true"
    ]


WRONG: list[tuple[str | bytes, str]] = [
    ("forbidden = []", 'unknown key "forbidden" (did you mean forbid?)'),
    ("forbid = 3", "forbid is a list"),
    ("forbid = [3]", "forbid 1 is 3, not"),
    ('forbid = [{name = "a"}]', 'forbid 1 "a": has no when'),
    ('forbid = [{when = "tool:edit"}, {when = "tol:edit"}]', "forbid 2: unknown field"),
    (
        'forbid = [{name = "a", when = "tol:edit"}]',
        'forbid 1 "a": unknown field "tol" (did you mean tool?)',
    ),
    ('forbid = [{name = "a", when = "tool:edit", wen = 1}]', 'unknown key "wen" (did you mean when?)'),
    (
        'forbid = [{when = "tool:edit", severity = "warn"}]',
        'severity is "error" or "warning", not "warn"',
    ),
    ('forbid = [{when = ""}]', "the rule is empty"),
    ('forbid = [{when = "kind:edt"}]', "did you mean edit?"),
    ("require = 1", "require is a table: [require]"),
    ("[require]\nresults = true", '[require] unknown key "results" (did you mean result?)'),
    ("[require]\nresult = 1", "result is true or false, not 1"),
    ('[require]\ntests = "red"', 'tests is "green", not "red"'),
    ("[limit]\nfaild = 3", '[limit] unknown key "faild" (did you mean failed?)'),
    ("[limit]\nfailed = true", "failed is written like 5, not true"),
    ("[limit]\nfailed = -1", "failed is written like 5, not -1"),
    ("[limit]\nfailed = nan", "failed is written like 5, not nan"),
    ("[limit]\ncall = 10", 'call is written like "10m", not 10'),
    ('[limit]\ncall = "10"', "a time with its unit"),
    ("[limit]\ncall = {value = 5, sev = 1}", 'unknown key "sev"'),
    ("[limit]\ncall = {severity = 'warning'}", "has no value"),
    ("[limit]\ncall = 1979-05-27", "not a date"),
    ("", "it has no rule"),
    ("a = [", "not valid TOML"),
    ("a = " + "9" * 5000, "not valid TOML"),
    ("a = " + "[" * 5000, "not valid TOML"),
    (b"a = '\xff'", "not valid UTF-8 at byte 5"),
    ("#" * 300_000, "larger than 256 KiB"),
]


def test_a_wrong_file_is_described_in_one_line(tmp_path: Path) -> None:
    """The line names the file and the entry, and the nearest right word."""
    for text, words in WRONG:
        with case(words):
            with pytest.raises(Fault) as found:
                read(text, tmp_path)
            assert str(found.value).startswith(f"{tmp_path / 'rules.toml'}: ")
            assert words in str(found.value)
            assert "\n" not in str(found.value)
            assert found.value.exit_code == USAGE


def test_all_mistakes_of_a_file_are_reported(tmp_path: Path) -> None:
    """Each mistake is a line that names the file; after twenty, the rest is counted."""
    path = tmp_path / "rules.toml"
    path.write_text('foo = 1\nforbid = [{when = "toll:x"}, {when = 5}]\nlimit = {faled = 3}\n')
    with pytest.raises(Fault) as caught:
        read_rules(path)
    lines = [str(caught.value), *caught.value.more]
    assert all(line.startswith(f"{path}: ") for line in lines)
    for line, part in zip(lines, ("foo", "forbid 1", "forbid 2", "[limit]"), strict=True):
        assert part in line
    path.write_text("forbid = [" + "{when = 5}, " * 25 + "]")
    with pytest.raises(Fault) as caught:
        read_rules(path)
    assert len(caught.value.more) == 20
    assert caught.value.more[-1] == f"{path}: 5 more mistakes"


def test_a_missing_file(tmp_path: Path) -> None:
    """A file that does not exist cannot be opened."""
    with pytest.raises(Fault, match="no such file"):
        read_rules(tmp_path / "rules.toml")


_WORDS = st.sampled_from(
    ["forbid", "require", "limit", "=", "[", "]", "{", "}", '"', "'", "when", "name", "\n"]
)


@PROPERTY
@given(st.lists(_WORDS | st.text(max_size=5), max_size=20).map("".join))
def test_no_file_raises_anything_else(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Whatever is in a file, it has rules, or a fault describes it."""
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(text.encode(errors="surrogatepass"))
    try:
        assert read_rules(path)
    except Fault as fault:
        assert len(str(fault)) < 1000  # noqa: PT017 - either is right
