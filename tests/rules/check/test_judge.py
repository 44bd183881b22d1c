"""The judge of check, its reports, and its rule files."""

import json
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import Error, Failure, JUnitXml, Skipped

from agentwatch.base.extras import EXTRAS, install_command
from agentwatch.base.faults import USAGE, Fault
from agentwatch.feed.feed import Feed
from agentwatch.recording.acts import Act, SessionActs, append_act
from agentwatch.recording.saved import open_saved
from agentwatch.rules.check import reports
from agentwatch.rules.check.judge import Checked, Judge, Judgement, State, Violation
from agentwatch.rules.check.kinds import (
    Amount,
    Fact,
    Forbid,
    Limit,
    Require,
    Rule,
    Severity,
    by_options,
    forbid,
    limit,
    read_rules,
)
from agentwatch.rules.language.errors import RuleError
from agentwatch.sources.file import FileSource
from agentwatch.text.safe import SafeText
from tests.builders.lines import DONE, PROPERTY, completed, delta, init, result, started, user
from tests.conftest import ROOT, case


def call(
    tool: str, call_id: str, start_ms: int, end_ms: int, outcome: object = DONE, **args: object
) -> bytes:
    """Return the two lines of a call with its times."""
    return started(tool, call_id, start_ms, **args) + completed(tool, call_id, outcome, end_ms, **args)


def shell(command: str, call_id: str, start_ms: int, exit_code: int = 0, stdout: str = "") -> bytes:
    """Return the two lines of a command that took a second."""
    body = {"command": command, "exitCode": exit_code, "stdout": stdout, "stderr": ""}
    outcome = {"failure" if exit_code else "success": body}
    return call("shell", call_id, start_ms, start_ms + 1000, outcome, command=command)


def run(*lines: bytes) -> bytes:
    """Return a run that succeeded, with these lines in it."""
    return init() + user() + b"".join(lines) + result()


def rules(
    *, forbid: list[str] | None = None, require: list[str] | None = None, limit: list[str] | None = None
) -> list[Rule]:
    """Return the rules of options."""
    return by_options(forbid or [], require or [], limit or [])


def judge(data: bytes, given: list[Rule], folder: Path, *, knows_acts: bool = True) -> list[Judgement]:
    path = folder / "judged.ndjson"
    path.write_bytes(data)
    with closing(FileSource(open_saved(path))) as source:
        feed = Feed(source.reader)
        feed.acts_of = SessionActs.of_file(path) if knows_acts else None
        judge = Judge(feed, given)
        while not feed.is_over:
            feed.advance()
        return judge.judgements()


def checked(data: bytes, given: list[Rule], folder: Path, address: str = "a.ndjson") -> Checked:
    """Return what a check found in a recording."""
    return Checked(address, judge(data, given, folder), 0, "cursor", 0.5)


OUTSIDE = call("edit", "c-2", 5000, 5100, path="/etc/hosts")
INSIDE = call("edit", "c-1", 1000, 1100, path="src/app.py")
REJECTED = started("shell", "c-9", 8000, command="rm -rf x") + completed(
    "shell", "c-9", {"rejected": {"reason": "no"}}, 8100
)
GREEN = shell("pytest -q", "c-3", 6000, stdout="3 passed in 0.10s")
RED = shell("pytest -q", "c-4", 7000, 1, stdout="1 failed, 2 passed in 0.10s")


def states(data: bytes, folder: Path, **given: list[str]) -> list[State]:
    """Return the states of rules of options."""
    return [each.state for each in judge(data, rules(**given), folder)]


def test_a_call_that_matches_breaks_forbid(tmp_path: Path) -> None:
    """It names these calls, 100 places at most, and counts all. Without calls nothing is judged, with an
    unknown value the field is named, and counts are those of the call's time.
    """
    [found] = judge(run(INSIDE, OUTSIDE), rules(forbid=["tool:edit outside:cwd"]), tmp_path)
    assert found.state is State.BROKEN
    assert (found.looked_at, found.hits) == (2, 1)
    assert [(each.at, each.words.partition(" (")[0]) for each in found.places] == [
        ("#2", "Edited file /etc/hosts")
    ]
    [found] = judge(run(INSIDE, GREEN), rules(forbid=["tool:edit outside:cwd"]), tmp_path)
    assert (found.state, found.looked_at, found.hits) == (State.HOLDS, 2, 0)
    [found] = judge(run(), rules(forbid=["tool:edit"]), tmp_path)
    assert (found.state, found.words) == (State.UNKNOWN, "no calls")
    [found] = judge(run(INSIDE, OUTSIDE), rules(forbid=["exit>0"]), tmp_path)
    assert (found.state, found.not_judged, dict(found.unknown)) == (State.UNKNOWN, 2, {"exit": 2})
    assert found.words == "exit is unknown in all 2 calls"
    data = run(RED, shell("ls a", "c-5", 9000), shell("ls b", "c-6", 10_000, 2))
    [found] = judge(data, rules(forbid=["failed>1"]), tmp_path)
    assert [each.at for each in found.places] == ["#3"]
    data = init() + user() + started("shell", "c-1", 1000, command="sudo reboot")
    [found] = judge(data, rules(forbid=["program:sudo"]), tmp_path)
    assert found.state is State.BROKEN
    data = run(*(shell(f"ls {number}", f"c-{number}", 1000 + number) for number in range(130)))
    [found] = judge(data, rules(forbid=["tool:shell"]), tmp_path)
    assert (found.hits, len(found.places), found.places[-1].at) == (130, 100, "#100")


def test_a_requirement_is_judged(tmp_path: Path) -> None:
    """`result`, `integrity`, `text_matches_result` and `tests` hold, are broken, or do not apply; `false`
    turns one off.
    """
    for data, state in [
        (run(), State.HOLDS),
        (init() + user() + result(is_error=True, subtype="error"), State.BROKEN),
        (init() + user(), State.BROKEN),
    ]:
        with case((data, state)):
            assert states(data, tmp_path, require=["result"]) == [state]
    for data, state in [
        (run(INSIDE), State.HOLDS),
        (run(started("read", "c-1", 1000, path="a")), State.BROKEN),
        (run(b"{broken\n"), State.BROKEN),
        (init() + user() + delta("a") + result("b"), State.HOLDS),
    ]:
        with case((data, state)):
            assert states(data, tmp_path, require=["integrity"]) == [state]
    for data, state in [
        (init() + user() + delta("same") + result("same"), State.HOLDS),
        (init() + user() + delta("same") + result("other"), State.BROKEN),
        (init() + user() + delta("same"), State.SKIPPED),
    ]:
        with case((data, state)):
            assert states(data, tmp_path, require=["text_matches_result"]) == [state]
    for data, state in [
        (run(GREEN), State.HOLDS),
        (run(RED), State.BROKEN),
        (run(RED, shell("pytest -q", "c-7", 9000, stdout="3 passed in 0.10s")), State.HOLDS),
        (run(GREEN, call("edit", "c-8", 9000, 9100, path="src/app.py")), State.BROKEN),
        (run(INSIDE), State.BROKEN),
    ]:
        with case((data, state)):
            assert states(data, tmp_path, require=["tests=green"]) == [state]
    assert [each.name for each in read("require = {result = false, integrity = true}", tmp_path)] == [
        "require.integrity = true"
    ]


LIMITS: list[tuple[bytes, str, State]] = [
    (run(RED), "failed=1", State.HOLDS),
    (run(RED), "failed=0", State.BROKEN),
    (run(REJECTED), "rejected=0", State.BROKEN),
    (run(GREEN), "rejected=0", State.HOLDS),
    (run(INSIDE, GREEN), "calls=2", State.HOLDS),
    (run(INSIDE, GREEN), "calls=1", State.BROKEN),
    (run(call("shell", "c-1", 0, 61_000, command="make")), "call=1m", State.BROKEN),
    (run(call("shell", "c-1", 0, 59_000, command="make")), "call=1m", State.HOLDS),
    (run(), "call=1m", State.UNKNOWN),
    (run(), "cost=1", State.UNKNOWN),
    (run(), "idle=1m", State.UNKNOWN),
    (run(INSIDE, OUTSIDE), "elapsed=1m", State.HOLDS),
    (run(INSIDE, OUTSIDE), "elapsed=4s", State.BROKEN),
]


def test_limits_and_silences(tmp_path: Path) -> None:
    """A limit holds up to its value, and a silence that nothing explains counts."""
    # A limit holds up to its value, and is not judged if the amount is unknown. It names the calls after
    # it, the failed ones, or the long ones.
    for data, most, state in LIMITS:
        with case(f"{most} {state}"):
            assert states(data, tmp_path, limit=[most]) == [state]
    data = run(INSIDE, RED, call("shell", "c-5", 10_000, 80_000, command="make"))
    found = judge(data, rules(limit=["calls=2", "failed=0", "call=1m"]), tmp_path)
    assert [[each.at for each in one.places] for one in found] == [["#3"], ["#2"], ["#3"]]
    # A silence counts unless a call runs, until the end of its run, or the user has not written the next
    # prompt. It is named by its beginning.
    for data, state in [
        (run(INSIDE, call("read", "c-2", 1100 + 61_000, 70_000, path="a")), State.BROKEN),
        (run(INSIDE, call("read", "c-2", 1100 + 59_000, 70_000, path="a")), State.HOLDS),
        (run(call("shell", "c-1", 0, 600_000, command="make")), State.HOLDS),
        (
            run(INSIDE) + user("more") + call("read", "c-2", 600_000, 600_100, path="a") + result(),
            State.HOLDS,
        ),
    ]:
        with case((data, state)):
            assert states(data, tmp_path, limit=["idle=1m"]) == [state]
    data = run(INSIDE, call("read", "c-2", 91_100, 92_000, path="a"))
    [other_found] = judge(data, rules(limit=["idle=1m"]), tmp_path)
    assert [(each.at, each.words) for each in other_found.places] == [("@+0s", "silence of 1:30")]
    hung = started("shell", "c-1", 1000, command="make") + call("read", "c-2", 2000, 3000, path="a")
    next_run = run(call("shell", "c-3", 3_600_000, 3_601_000, command="make"))
    for end in (result(timestamp_ms=4000), b""):
        data = init() + user() + hung + end + next_run
        assert states(data, tmp_path, limit=["call=1m"]) == [State.HOLDS]


def test_what_the_user_did_can_be_forbidden_and_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An act belongs to the calls that ran at its time, or else to the next one, or else to the last one."""
    monkeypatch.setenv("AGENTWATCH_HOME", str(tmp_path))
    data = run(
        *(shell("a", "c-1", 10_000), shell("b", "c-2", 20_000)),
        *(started("shell", "c-3", 30_000), started("shell", "c-4", 30_100)),
        *(completed("shell", "c-4", DONE, 30_200), completed("shell", "c-3", DONE, 30_900)),
    )
    cases: list[tuple[int, list[str]]] = [
        (5_000, ["#1"]),
        (10_500, ["#1"]),
        (15_000, ["#2"]),
        (30_150, ["#4", "#3"]),
        (30_500, ["#3"]),
        (40_000, ["#4"]),
    ]
    for at_ms, places in cases:
        with case(at_ms):
            path = tmp_path / "acts" / "cursor-s-1.acts"
            path.unlink(missing_ok=True)
            append_act(path, Act(at_ms, "allow", "s-1", "list", "hook", "sent"))
            given = rules(
                forbid=["acted:allow", "acted:deny"], require=["acted:allow", "acted=deny", "acted:stop"]
            )
            found = judge(data, given, tmp_path)
            assert [each.at for each in found[0].places] == places
            assert [each.state for each in found[1:]] == [
                *(State.HOLDS, State.HOLDS, State.BROKEN, State.BROKEN)
            ]
            assert found[2].rule.name == 'require.acted = "allow"'


def test_what_the_user_did_elsewhere_is_unknown(tmp_path: Path) -> None:
    """Without the file of acts, as for a session of another machine, nothing is claimed."""
    given = rules(forbid=["acted:allow"], require=["acted:allow"])
    found = judge(run(GREEN), given, tmp_path, knows_acts=False)
    assert [each.state for each in found] == [State.UNKNOWN, State.UNKNOWN]
    assert found[0].words == "acted is unknown in the only call"
    for words in ("acted:alow", "acted", "acted=true"):
        with case(words), pytest.raises(RuleError, match="acted is one of continue, queue"):
            rules(require=[words])


HOSTILE = "rm \x1b[31m\x00\x0b%0A::error::x\n::set-env,b:\ud800\ufffe ]]>&<"


def hostile(folder: Path) -> Checked:
    """Return what a check found in a recording whose text is hostile in all formats."""
    data = init() + user()
    data += started("shell", "c-1", 1000, command=HOSTILE) + completed(
        "shell", "c-1", {"success": {"exitCode": 0}}, 2000
    )
    given: list[Rule] = [forbid("tool:shell", f"name {HOSTILE}"), limit("failed", 3), limit("cost", 1)]
    return checked(data, given, folder, f"a {HOSTILE}.ndjson")


def broken(name: str, hits: int, severity: Severity = Severity.ERROR) -> Judgement:
    rule = forbid("tool:edit", name, severity)
    return Judgement(
        rule, State.BROKEN, SafeText(f"{hits} calls"), hits, hits, [Violation("#1", SafeText("Edited"))]
    )


def test_judgements_are_printed(tmp_path: Path) -> None:
    """As JUnit, as annotations and as text, each with its facts."""
    # A testcase for each rule: a failure, an error of one that had nothing to check, and one that passed;
    # a rule that is judged elsewhere is skipped, and so is a warning.
    path = tmp_path / "report.xml"
    path.write_bytes(reports.junit_document([hostile(tmp_path)]))
    [suite] = JUnitXml.fromfile(str(path))
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (3, 1, 1, 0)
    results = [type(each) for case in suite for each in case.result]
    assert results == [Failure, Error]
    [first, *_] = list(suite)
    assert first.classname == suite.name
    assert first.result[0].message == "1 call"
    assert "#1 Ran terminal command" in first.result[0].text
    assert "\x00" not in path.read_text()
    given = [*rules(forbid=["tool:edit"]), forbid("tool:shell", "w", Severity.WARNING)]
    found = [checked(run(), given, tmp_path), checked(run(shell("ls", "c-1", 0)), given, tmp_path)]
    path = tmp_path / "report.xml"
    path.write_bytes(reports.junit_document(found))
    kinds = [[type(each) for case in suite for each in case.result] for suite in JUnitXml.fromfile(str(path))]
    assert kinds == [[Skipped, Skipped], [Skipped]]
    # A command is one line. Ten errors and ten warnings are printed, those with the most hits first, and
    # how many more.
    lines = list(reports.github_commands([hostile(tmp_path)]))
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("::error title=agentwatch%3A ")
        properties = line.removeprefix("::error ").partition("::")[0]
        assert not set(properties) & {",", ":", "\n", "\r"}
        assert "\n" not in line
        assert "\r" not in line
        assert "%0A::error" not in line.replace("%250A", "")
    verdicts = [broken(f"e{number}", number) for number in range(1, 14)]
    verdicts += [broken(f"w{number}", number, Severity.WARNING) for number in range(1, 13)]
    lines = list(reports.github_commands([Checked("a", verdicts, 3, "cursor", 0.1)]))
    assert [line.partition(" ")[0] for line in lines] == [
        *["::error"] * 10,
        "and",
        *["::warning"] * 10,
        "and",
    ]
    assert "e13::" in lines[0]
    assert (lines[10], lines[-1]) == ("and 3 more errors", "and 2 more warnings")
    # The text names the broken rule and its calls, or that all holds; the explanation and the JSON have
    # the counts. A broken warning is a warning.
    lines = list(reports.text_lines([hostile(tmp_path)]))
    assert len(lines) == 3
    assert lines[0].endswith(": 1 call")
    assert lines[1].startswith("  a rm ")
    assert all(line.isprintable() for line in lines)
    further_found = checked(
        run(shell("ls", "c-1", 0)), rules(forbid=["tool:edit"], limit=["failed=3"]), tmp_path
    )
    assert list(reports.text_lines([further_found])) == ["all 2 rules hold: a.ndjson (0 calls)"]
    data = run(shell("ls", "c-1", 0), shell("make", "c-2", 9, 2), started("read", "c-3", path="a"))
    other_found = checked(data, rules(forbid=["exit>0"], limit=["failed=3"]), tmp_path)
    assert list(reports.explained([other_found]))[1:-1] == [
        "  broken     exit>0: checked 2 calls, hit 1; 1 not judged (exit in 1 unknown)",
        "             a.ndjson#2 Ran terminal command make (failed: exit 2)",
        "  holds      limit.failed = 3: 1 failed",
    ]
    whole = json.loads(reports.json_line([hostile(tmp_path)], 2))
    [recording] = whole["recordings"]
    assert [each["state"] for each in recording["rules"]] == ["broken", "holds", "not judged"]
    assert recording["rules"][0]["places"][0]["address"].endswith(".ndjson#1")
    assert [each["reason"] for each in whole["looked_at_nothing"]] == ["the agent does not report the cost"]
    judged: list[Forbid | Limit] = [forbid("tool:edit"), limit("failed", 3)]
    for rule in judged:
        with case(rule):
            seen = Judgement(rule._replace(severity=Severity.WARNING), State.BROKEN, SafeText(""))
            assert (seen.is_warning, seen.is_error) == (True, False)


FIFTEEN = (ROOT / "bench" / "fifteen_rules.toml").read_text(encoding="utf-8")


def read(text: str | bytes, folder: Path) -> list[Forbid | Require | Limit]:
    path = folder / "rules.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_rules(path)


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


def test_a_file_of_rules_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind of rule is read in its order, and each mistake is one line."""
    # They are in the order of the file; an entry of `forbid` contains `severity`, the others have it
    # beside `value`.
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
    # Each mistake is a line with the file, the entry and the nearest right word; after twenty, the rest
    # is counted.
    for text, words in WRONG:
        with case(words):
            with pytest.raises(Fault) as other_found:
                read(text, tmp_path)
            assert str(other_found.value).startswith(f"{tmp_path / 'rules.toml'}: ")
            assert words in str(other_found.value)
            assert "\n" not in str(other_found.value)
            assert other_found.value.exit_code == USAGE
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
    with pytest.raises(Fault, match="no such file"):
        read_rules(tmp_path / "absent.toml")
    # With RE2 the rule is read; without it the fault is one line, and names the extra.
    text = "forbid = [{name = 'x', when = 'command:re:/a/'}]"
    assert [each.name for each in read(text, tmp_path)] == ["x"]
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(Fault) as caught:
        read(text, tmp_path)
    needed = f"re:/…/ needs RE2: {install_command(EXTRAS['regex'])}"
    assert str(caught.value) == f'{tmp_path}/rules.toml: forbid 1 "x": {needed}'


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
