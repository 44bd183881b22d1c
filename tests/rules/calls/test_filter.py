"""The rules of calls: fields, commands, paths, silences, and which calls a rule selects."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentwatch.feed.feed import Feed
from agentwatch.recording.saved import open_saved
from agentwatch.rules.calls.commands import places_in, read_command
from agentwatch.rules.calls.facts import CallFacts, Silences
from agentwatch.rules.calls.fields import CALL_FIELDS, CALLS, LIVE, RUN_FIELDS
from agentwatch.rules.calls.filter import call_filter, filter_offers, usable_filter
from agentwatch.rules.calls.readers import call_readers, deleted_places, is_outside, paths_of
from agentwatch.rules.language.errors import RuleError
from agentwatch.rules.language.parser import parse
from agentwatch.session.call import Call, Place
from agentwatch.session.events import (
    Channel,
    Event,
    Limits,
    LimitWindow,
    Outcome,
    Prompt,
    RunStarted,
    Text,
    TextEnded,
    Tokens,
    ToolEnded,
    ToolKind,
    ToolStarted,
    Usage,
    UsageScope,
)
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from agentwatch.text.times import time_of_day
from tests.builders.lines import PROPERTY
from tests.builders.made_agent import MadeSession
from tests.builders.screen.app import lines_of, opened
from tests.builders.stories.story import facts_of
from tests.builders.subagents import TWO_SUBAGENTS, begins
from tests.conftest import case
from tests.harness.costs import takes_more

CWD = "/home/me/project"


def run(cwd: str | None = CWD) -> RunStarted:
    """Return the start of a run."""
    return RunStarted("made-format", "s1", "claude-opus", cwd)


def starts(
    call_id: str,
    tool: str = "Bash",
    kind: ToolKind = ToolKind.EXECUTE,
    target: str | None = None,
    *,
    path: str | None = None,
    at_ms: int | None = None,
    more_paths: tuple[str, ...] = (),
) -> ToolStarted:
    return ToolStarted(
        call_id, None, tool, kind, "Ran", target, path=path, at_ms=at_ms, more_paths=more_paths
    )


def ends(
    call_id: str,
    tool: str = "Bash",
    kind: ToolKind = ToolKind.EXECUTE,
    outcome: Outcome = Outcome.SUCCEEDED,
    *,
    at_ms: int | None = None,
    error: str | None = None,
    exit_code: int | None = None,
    is_new_file: bool = False,
    added: int | None = None,
) -> ToolEnded:
    return ToolEnded(
        call_id,
        None,
        tool,
        kind,
        outcome,
        "Ran",
        at_ms=at_ms,
        error=error,
        exit_code=exit_code,
        is_new_file=is_new_file,
        lines_added=added,
    )


def called(call_id: str, tool: str, kind: ToolKind, target: str, *, path: str | None = None) -> list[Event]:
    """Return the start and the end of a call."""
    return [starts(call_id, tool, kind, target, path=path), ends(call_id, tool, kind)]


def feed_of(events: Iterable[Event], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Feed:
    """Return a feed that has read a recording with these events, one line a second."""
    made = MadeSession([*events])
    made.use(monkeypatch)
    feed = Feed(open_saved(made.save(folder / "made.ndjson"), follow=True))
    feed.advance()
    return feed


def selected(rule: str, feed: Feed, facts: CallFacts | None = None) -> list[int]:
    """Return the numbers of the calls for which a rule is true."""
    test = parse(rule, LIVE, allows_patterns=True).bind(call_readers(facts or CallFacts(feed)))
    return [call.number for call in feed.session.calls if test(call) is True]


def unknown(rule: str, feed: Feed) -> list[int]:
    """Return the numbers of the calls for which a rule is neither true nor false."""
    test = parse(rule, LIVE).bind(call_readers(CallFacts(feed)))
    return [call.number for call in feed.session.calls if test(call) is None]


@pytest.fixture
def feed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Feed:
    """Return a feed of six calls: two commands, a new file, an edit, a read and one that runs."""
    events = [
        run(),
        starts("1", target="git push origin", at_ms=1000),
        ends("1", outcome=Outcome.FAILED, at_ms=61_000, error="exit 128", exit_code=128),
        starts("2", "Write", ToolKind.EDIT, "new.py", path="/home/me/project/new.py", at_ms=62_000),
        ends("2", "Write", ToolKind.EDIT, at_ms=62_100, is_new_file=True, added=40),
        starts("3", "Edit", ToolKind.EDIT, "hosts", path="/etc/hosts", at_ms=400_000),
        ends("3", "Edit", ToolKind.EDIT, Outcome.REJECTED, at_ms=400_100, error="denied by the user"),
        *called("4", "Read", ToolKind.READ, ".env", path="/home/me/project/.env"),
        *called("5", "Task", ToolKind.DELEGATE, "Find the callers"),
        starts("6", target="sudo rm -rf /tmp/x | tee log"),
    ]
    return feed_of(events, tmp_path, monkeypatch)


def test_a_rule_selects_calls(feed: Feed) -> None:
    """Tools are matched by name and kind, programs and paths in all words of a command. Each field has a
    reader and an example; a synonym is none.
    """
    cases: list[tuple[str, list[int]]] = [
        ("tool:bash", [1, 6]),
        ("tool:execute", [1, 6]),
        ("tool:shell", [1, 6]),
        ("tool:edit", [2, 3]),
        ("tool:write", [2]),
        ("tool:subagent", [5]),
        ("kind:read", [4]),
        ("outcome:failed", [1]),
        ("outcome:failed OR outcome:rejected", [1, 3]),
        ("failed rejected", [1, 3]),
        ("fail", [1]),
        ("exit>0", [1]),
        ("exit:128", [1]),
        ("duration>=60s", [1]),
        ("duration<1s", [2, 3]),
        ("started>1m", [2, 3]),
        ("idle>5m", [3]),
        ("lines_added:40", [2]),
        ("phase:started", [6]),
        ("phase:ended", [1, 2, 3, 4, 5]),
        ("model:*opus", [1, 2, 3, 4, 5, 6]),
        ("agent:main -phase:started", [1, 2, 3, 4, 5]),
        ("target:push", [1]),
        ("error:denied", [3]),
        ("error:exit*", [1]),
        ("-error:exit*", [2, 3, 4, 5, 6]),
        ("command:push", [1]),
        ('command:"git push*"', [1]),
        (r"command:re:/push\s+o/", [1]),
        ("program:rm", [6]),
        ("program:tee program:sudo", [6]),
        ("path:hosts", [3]),
        ("path:/etc/**", [3]),
        ("path:**/.env*", [4]),
        ("path:new.py", [2]),
        ("path:/tmp/**", [6]),
        ("outside:cwd", [3, 6]),
        ("tool:edit -outside:cwd", [2]),
        ("callers", [5]),
        ("*push*", [1]),
        ("calls>5 failed:1 rejected:1", [1, 2, 3, 4, 5, 6]),
        (f"(push OR tool:edit) {time_of_day(1000)}..{time_of_day(70_000)}", [1, 2]),
        ("failed>1", []),
        ("elapsed>8s", [1, 2, 3, 4, 5, 6]),
    ]
    for rule, numbers in cases:
        with case(rule):
            assert selected(rule, feed) == numbers
    for rule in ['tool:"edti"', "tool:edti*", "tool:WebFetch", "tool:MultiEdit", "tool:Bash"]:
        with case(rule):
            assert parse(rule, CALLS).fields == {"tool"}
    for field in (*CALL_FIELDS, *RUN_FIELDS):
        rule = field.example or f"{field.name}:x"
        test = parse(rule, LIVE).bind(call_readers(CallFacts(feed)))
        assert {test(call) for call in feed.session.calls} <= {True, False, None}
        assert parse(rule, LIVE).fields == {field.name}
    assert set(LIVE.synonyms.values()) <= set(LIVE.fields)
    assert not set(LIVE.synonyms) & set(LIVE.fields)


def test_tokens_and_cost_are_those_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tokens`, `cost`, `context` and `limit` are compared as far as the agent reports them."""
    tokens = Tokens(input=1500, output=500, cost_usd=2.5, context_used=80, context_size=100)
    limits = Limits((LimitWindow("5h", 62.0, 1 << 50), LimitWindow("7d", 99.0, 1)))
    events = [run(), *called("1", "Bash", ToolKind.EXECUTE, "ls"), Usage(tokens, UsageScope.RUN), limits]
    feed = feed_of(events, tmp_path, monkeypatch)
    for rule in ("tokens:2k", "cost>2 cost<3", "context:80%", "limit:62"):
        assert selected(rule, feed) == [1]
    feed.session.last_seen_ms = None
    assert selected("limit>1%", feed) == []


def test_the_values_of_a_filter(feed: Feed) -> None:
    """A value is that of this moment, or unknown."""
    # A term about an unknown value is neither true nor false. The duration of a running call grows from
    # the arrival of its start.
    cases: list[tuple[str, list[int]]] = [
        ("exit:0", [2, 3, 4, 5, 6]),
        ("duration>1s", [6]),
        ("lines_removed>0", [1, 2, 3, 4, 5, 6]),
        ("idle>1s", [1, 4, 5, 6]),
        ("verdict:red", [6]),
        ("cost>1", [1, 2, 3, 4, 5, 6]),
        ("tool:read exit>0", [4]),
        ("path:x", []),
    ]
    for rule, numbers in cases:
        with case(rule):
            assert unknown(rule, feed) == numbers
            assert unknown(f"-({rule})", feed) == numbers
    facts = CallFacts(feed)
    started = feed.session.calls[5].started
    assert started is not None
    assert started.seen_ms is not None
    facts.now_ms = started.seen_ms + 90_000
    assert selected("duration>80s", feed, facts) == [6]
    assert selected("elapsed>95s", feed, facts) == [1, 2, 3, 4, 5, 6]
    facts.now_ms += 20_000
    assert selected("duration>100s", feed, facts) == [6]
    # The test that was made before a call ended says the new outcome afterwards.
    test = parse("outcome:running", CALLS).bind(call_readers(CallFacts(feed)))
    call = feed.session.calls[5]
    assert test(call) is True
    call.outcome = Outcome.FAILED
    assert test(call) is False


def made() -> Session:
    """Return the session with two subagents, and a call of a subagent whose own call is not recorded."""
    read = Session()
    for event in [*TWO_SUBAGENTS, begins("x1", "Bash", "make", "gone")]:
        apply_line(read, [event], Place(0, 1, None))
    return read


def test_the_words_of_a_filter() -> None:
    """A filter has no fields of the run, names an agent, and offers how it can continue."""
    # A filter has no fields of the run, and an error names the right word.
    cases: list[tuple[str, str]] = [
        ("failed>3", '"failed" is a field of --on and check'),
        ("file:x", 'unknown field "file" (did you mean path?)'),
        ("status:failed", 'unknown field "status" (did you mean outcome?)'),
        ("outcome:fialed", 'outcome is never "fialed" (did you mean failed?)'),
        ("tool:edti", 'tool is never "edti" (did you mean edit?); if it is, quote it'),
        ("tool:shel", 'tool is never "shel" (did you mean shell?); if it is, quote it'),
        ("agent:mian", 'agent is never "mian" (did you mean main?); if it is, quote it'),
        ("outside:home", 'outside is never "home": it is cwd'),
    ]
    for rule, reason in cases:
        with case(rule):
            with pytest.raises(RuleError) as caught:
                parse(rule, CALLS)
            assert caught.value.reason == reason
    # `agent:` takes `main`, a number of a call, or a word of it. While a rule is incomplete, the words
    # before the mistake count.
    others: list[tuple[str, list[int]]] = [
        ("agent:main", [1, 2]),
        ("agent:#1", [3, 5]),
        ("agent:#2", [4]),
        ("AGENT:Callers", [3, 5]),
        ("agent:task grep", [5]),
        ("agent:wire failed", [4]),
        ("agent:ma", [1, 2]),
        ("agent:#3", []),
        ("agent:callers agent:wire", []),
    ]
    for words, numbers in others:
        with case(words):
            session = made()
            matches = call_filter(words, facts_of(session))
            assert matches is not None
            assert [call.number for call in session.calls if matches(call)] == numbers
    facts = facts_of(made())
    with pytest.raises(RuleError, match='"agent:" needs a value'):
        call_filter("agent:", facts)
    found = usable_filter("failed agent:", facts)
    assert (found.words, found.matches is None) == ("failed", False)
    assert found.problem is not None
    assert found.problem.at == 7
    further: list[tuple[str, str]] = [
        ("failed durtion>5s", "failed"),
        ("failed duration>5", "failed"),
        ("durtion>5s failed", ""),
        ("(failed OR", ""),
        ("read (failed OR", "read"),
        ('read "', "read"),
        ("read OR ", "read"),
        ("failed>3", ""),
        ("failed", "failed"),
        ("", ""),
    ]
    for text, words in further:
        with case(text):
            found = usable_filter(text, facts_of(made()))
            assert found.words == words
            assert (found.matches is None) is (not words)
            assert (found.problem is None) is (text == words)
    # Fields and outcomes continue a word, and values of the session continue a field.
    session = made()
    tools = dict.fromkeys(call.tool for call in session.calls)
    rest: list[tuple[str, list[str]]] = [
        ("", []),
        ("read ", []),
        ("nothing", []),
        ("dur", ["duration>"]),
        ("failed -(lines", ["failed -(lines_added>", "failed -(lines_removed>"]),
        ("fai", ["failed"]),
        ("outcome:", [f"outcome:{each.value}" for each in Outcome]),
        ("tool:bas", ["tool:Bash"]),
        ("program:", ["program:make", "program:pytest"]),
        ("path:near", ["path:nearest.py"]),
        ("model:o", ["model:opus"]),
        ("agent:", ["agent:main", "agent:#1", "agent:#2"]),
        ("failed agent:#2", []),
        ("agent:find", ["agent:#1"]),
        ("duration>", []),
        ("nothing:", []),
    ]
    for other_text, other_words in rest:
        with case(other_text):
            other_found = filter_offers(other_text, facts_of(session), tools, lambda: session.calls[:2])
            assert [offer.text for offer in other_found] == other_words


@pytest.mark.system
async def test_the_filter_bar_offers_agents_and_the_table_marks_their_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The calls of subagents have a branch before their targets, also when they are filtered."""
    session = MadeSession(TWO_SUBAGENTS)
    session.use(monkeypatch)
    async with opened(session.save(tmp_path / "x.ndjson"), follow=True) as stage:
        rows = [line for line in lines_of(stage.pane("calls")) if "└" in line]
        assert [row.split("└ ")[1].split("  ")[0] for row in rows] == [
            "nearest.py",
            "pytest -q tests/agents",
            "nearest(",
        ]
        await stage.press("f", *"agent:")
        await stage.shows("agent:main · #1 Find the callers · #2 Check the wire")
        await stage.press(*"#2")
        await stage.until(lambda: len(lines_of(stage.pane("calls"))) == 1, "one call")
        await stage.press("enter")
        assert 'hidden by "agent:#2"' in stage.text()


def test_what_a_command_runs() -> None:
    """Each program is named with its arguments, its paths and what it deletes."""
    # Each program that is started is named once, without its folder, in 4,096 characters; the lines of a
    # here-document only if a shell reads it.
    cases: list[tuple[str, str]] = [
        *(("", ""), ("git push", "git"), ("/usr/bin/git push", "git"), ("cd x && rm -rf y", "cd rm")),
        *(("cat x|while read l; do rm $l; done", "cat read rm"), ("a || b & c\nd", "a b c d")),
        ("A=1 B=$(date) python3 -m pytest", "date python3 pytest"),
        *(("if [ -f x ]; then rm y; else ls; fi", "[ rm ls"), ("for f in a b; do rm $f; done", "rm")),
        *(("[[ -f a && ( b || c ) ]] && rm z", "[[ rm"), ("f() { rm x; }", "rm"), ("a=(x y); ls", "ls")),
        *(("(cd x; rm y) > log", "cd rm"), (">/tmp/x cmd 2>&1 2>/tmp/err", "cmd"), ("7z x a", "7z")),
        *(("echo $((1+i)); ((i++)); ls", "echo ls"), ("ls # && rm x\nwc", "ls wc")),
        *(("echo a#b; rm x", "echo rm"), ("# don't\nrm a", "rm"), ("echo 'rm x; rm y' \"rm z\"", "echo")),
        *(("echo \\; rm", "echo"), ("git \\\n push && rm x", "git rm"), ("r''m x", "rm")),
        *(("echo $(git log 'a b') rm", "echo git"), ('echo "$(git rev-parse "x y") rm" z', "echo git")),
        *(("cp `which x` /usr/bin", "cp which"), ("diff <(sort a) <(uniq b)", "diff sort uniq")),
        *(("echo '$(rm x)'", "echo"), ("sh -c 'curl x.io | bash'", "sh curl bash")),
        *(('bash -lc "git push"', "bash git"), ("su -c 'rm x'", "su rm"), ("eval 'rm x'", "eval rm")),
        *(("bash script.sh -c rm", "bash"), ("sudo -u bob rm -rf /", "sudo rm")),
        *(("timeout -s KILL 10 rm x", "timeout rm"), ("env -u X A=1 rm x", "env rm")),
        ("find . | xargs -I {} -n 1 rm {}", "find xargs rm"),
        ("find . -name '*.py' -exec /bin/rm {} \\;", "find rm"),
        *(("uv run --with x pytest -q", "uv pytest"), ("uv sync", "uv"), ("poetry install", "poetry")),
        *(("npm run test", "npm"), ("npm exec -- tsc", "npm tsc"), ("npx -p typescript tsc", "npx tsc")),
        ("git commit -m run", "git"),
    ]
    for command, programs in cases:
        with case(command):
            assert {*read_command(command).programs} == {*programs.split()}
    further: list[tuple[str, str]] = [
        *(("cat <<EOF > a\nrm x\nEOF\nls", "cat ls"), ("cat <<'E' <<-F\nrm x\nE\n\trm y\n\tF\nls", "cat ls")),
        *(("python - <<E\nimport os\nE\nwc", "python wc"), ("cat <<EOF\nrm x", "cat")),
        ("bash <<EOF\nrm x\nEOF\nls", "bash rm ls"),
        *(("bash <<EOF && echo done\nrm x\nEOF", "bash echo rm"), ("cat <<EOF | sh\nrm x\nEOF", "cat sh rm")),
        *(("sh -c ls\ncat <<EOF\nrm x\nEOF", "sh ls cat"), ("bash <<< 'rm x'", "bash rm")),
        ("cat <<< 'rm x'", "cat"),
    ]
    for command, programs in further:
        with case(command):
            assert {*read_command(command).programs} == {*programs.split()}
    # Each program has its arguments, paths and what it deletes.
    # Arguments without blanks and targets of redirections may be paths, after `cd` in its folder.
    rest: list[tuple[str, str]] = [
        *(("cat a /b ../c", "a /b ../c"), ("cd web && cat a ../b /c ~/d", "web web/a web/../b /c ~/d")),
        ("(cd web; cat a); cat b", "web web/a b"),
        ("make --prefix=/usr of=/dev/sda -j 4", "/usr /dev/sda 4"),
        *(("x > out 2>> err < in &> both", "in out err both"), ("x >/dev/null 2>&1", "")),
        *(("cat $HOME/x ${HOME}/y $HOMES/z", "~/x ~/y $HOMES/z"), ("cat $(pwd)/x", "$/x")),
        *(("cat $(pwd)", ""), ("curl https://x.io/.env", ""), ("cat 'a b' \"c\"d", "cd")),
        ("uv lock", "lock"),
    ]
    for command, words in rest:
        with case(command):
            assert " ".join(read_command(command).words) == words
    # Each program has its arguments, without wrappers and options before a subcommand; pipelines follow.
    remaining: list[tuple[str, list[str]]] = [
        *(("", []), ("sudo -u bob git -C x -c a=b push -f", ["git -c a=b", "git push -f"])),
        ("env A=1 npm --prefix web publish", ["A=1", "npm publish"]),
        ("uv --directory x publish --token y", ["uv publish --token y"]),
        *(("uv run --with x pytest -q", ["pytest -q"]), ("python3 -m twine upload d", ["twine upload d"])),
        ("git commit -m 'a b' ''", ["git commit -m", "git commit -m 'a b' ''"]),
        *(("a x | b && c", ["a x", "b", "a x | b", "c"]), ("(a x; b) | c", ["a x", "b", "c", "a x; b | c"])),
        *(('sh -c "$(a x)"', ["a x", "sh -c $", "a x | sh -c $"]), ("y=$(a | b)", ["a", "b", "a | b"])),
        ("sh -c 'a | b'", ["sh -c 'a | b'", "a", "b", "a | b"]),
        *(("[[ -f a && ( b || c ) ]] && d", ["[[ -f a b c ]]", "d"]), ("if a; then b x; fi", ["a", "b x"])),
    ]
    for command, runs in remaining:
        with case(command):
            assert [each for each in read_command(command).runs if each != "$"] == runs
    # The paths of `rm` and of a `find` that deletes; `$` for those that stdin names.
    others: list[tuple[str, str]] = [
        *(("rm -rf a ~/b $C", "a ~/b $C"), ("cd x && rm a; cat b", "x/a")),
        *(("find a /b -name c -delete", "a /b"), ("find a -exec rm {} +", "a"), ("find a -name c", "")),
        *(("ls | xargs rm -f", "$"), ("echo rm a", "")),
    ]
    others += [
        *(("rm -rf ./ '/a b'", "./ /a b"), ("cd; rm a", "~/a"), ("cd -; rm a", "$/a"), ("command -v rm", "")),
        *(("D=$(x); rm $D", "$D"), ("D=a; D+=b; rm $D", "$D"), ("D=a; rm $D/b", "a/b")),
        *(("case x in rm|mv) ls;; *) rm a;; esac", "a"), ("find | while read f; do rm $f; done", ".")),
        *(("x=(rm b); rm a", "a"), ("f() { rm a; }", "a"), ("if [[ ( a ) ]]; then rm a; fi", "a")),
        *(("echo rm a > s; sh b", ""), ("echo rm a > s; cp s t; . t", "a"), ("cat <<E\nrm a\nE", "")),
    ]
    for command, words in others:
        with case(command):
            assert " ".join(read_command(command).deleted) == words
    # The files that a program prints, copies or sends, also by redirections; not those that it only names.
    reading: list[tuple[str, str]] = [
        *(("cat a - b < c > d", "c a b"), ("cp -r a b; mv c d; ls e; source f; rm g", "a")),
        ("dd if=a of=b; git show HEAD:c; git add d", "a c"),
        ("curl -d @a -F 'x=@b;type=y' -T c --data=@d -o e x.io", "a b c d"),
        *(("grep -f a --exclude=b c", "a c"), ("find a -name b -exec cat {} +", "a/b")),
        ("echo a b | xargs cat", "a b"),
    ]
    for command, words in reading:
        with case(command):
            assert " ".join(read_command(command).read) == words
    # A quote, a substitution or a group without an end, and what is too long or nested too deeply, is a part.
    parts = ["echo 'a", 'echo "a', "echo $(a", "(a", "{ a", "if a; then b", "echo ${a", "(" * 30 + ")" * 30]
    parts += ["eval eval eval eval a", f"{'sudo ' * 30}a", "a" * 65_536, f"{'find -exec ' * 5}"]
    for command in parts:
        with case(command[:20]):
            assert not read_command(command).is_whole
    for command in ("cat <<E\na", "((a)); echo $((1))", "[[ a =~ (b|c) ]]", "a" * 65_535, 'echo "a \\" b"'):
        with case(command[:20]):
            assert read_command(command).is_whole


PIECES = ["$(", '"$(', "`", '"`', "((", "'", '"', "${", "\\", "(a=(", "a|", "a|\n", "a\n", "$'\\x", "$'a"]
PIECES += ["$((a", "<(", "f(){", "a)", "<<a ", "<<a\n", "bash -c '", "find -exec ", "sudo ", "A=1 ", "{ "]
PIECES += ["[[ ( ", "for a in b c;do ", "case x in ", "xargs ", "echo a|sh|", "printf '%s%s' ", "rm a "]
PIECES += ["cat <<E|sh\n", "D=aaaa;$D$D ", "eval ", "git -a ", "for d in a b c;do rm $d;done;", "x=$(a);"]
PIECES += ["curl -o x y|tee z;sh x;", "echo a>>f;"]


@PROPERTY
@example("cat <<$(\na)b")
@example("echo ${\\")
@given(st.lists(st.sampled_from([*PIECES, "}", ")", "done", "\n", "E\n", ";;", "/etc "])).map("".join))
def test_no_command_raises(command: str) -> None:
    """Whatever is open, nested or missing, each part to look at is in the command."""
    places = places_in(command)
    for begin, end in (*places.risks, *places.stages):
        assert 0 <= begin < end <= len(command)


@pytest.mark.costs
def test_a_hostile_command_takes_linear_time() -> None:
    """Four times the characters take at most six times as long, whatever they are, and never an exception."""
    for piece in PIECES:
        with case(piece):
            long, short = (partial(places_in, piece * (count // len(piece))) for count in (64_000, 16_000))
            assert not takes_more(long, 6, short, 0.1)


def call(path: str | None = None, command: str | None = None, *more: str) -> Call:
    """Return a call about a file, or one of a command."""
    kind = ToolKind.EXECUTE if command is not None else ToolKind.EDIT
    return Call(1, 1, "c", "t", "p", target=command, path=path, more_paths=more, kind=kind)


def test_a_path_is_absolute_and_relative() -> None:
    """All files of a call have their place, and a deletion its folder."""
    # `..` is resolved, a longer name is another folder, `~` is outside, and a path that begins with a
    # variable is unknown. All files of a call, and words with `/` or `..`, count.
    cases: list[tuple[str, str | None, list[str]]] = [
        *(("a.py", "/w", ["/w/a.py", "a.py"]), ("/w/src/../a.py", "/w", ["/w/a.py", "a.py"])),
        *(("../x/a.py", "/w", ["/x/a.py"]), ("/etc//hosts", "/w", ["/etc/hosts"]), ("a.py", None, ["a.py"])),
        ("/private/tmp/x/a", "/tmp/x", ["/tmp/x/a", "a"]),
        ("/tmp/x/a", "/private/tmp/x", ["/tmp/x/a", "a"]),
        (r"C:\w\src\a.py", r"C:\w", [r"c:\w\src\a.py", "src\\a.py"]),
    ]
    for path, cwd, names in cases:
        with case((path, cwd)):
            assert paths_of(call(path), cwd) == tuple(names)
    further: list[tuple[str | None, str | None, bool | None]] = [
        *(("a.py", "/w", False), ("/w/a.py", "/w", False), ("/w", "/w", False), ("/wide/a.py", "/w", True)),
        *(("/w/../x", "/w", True), ("src/../../x", "/w", True), ("src/../x", "/w", False)),
        *(("~/x", "/w", True), ("/private/tmp/x/a", "/tmp/x", False), ("/tmp/y/a", "/private/tmp/x", True)),
        *((r"C:\w\a.py", r"C:\w", False), (r"c:\W\a.py", r"C:\w", False), (r"C:\w\..\x", r"C:\w", True)),
        *((r"D:\w\a.py", r"C:\w", True), ("/etc/hosts", None, None), (None, "/w", None)),
        *(("~/p/a.py", "/home/ada/p", True), ("~/p/a.py", "~/p", False), ("~/other/a.py", "~/p", True)),
        ("/etc/hosts", "~/p", True),
    ]
    for name, folder, is_out in further:
        with case((name, folder)):
            assert is_outside(call(name), folder) is is_out
    others: list[tuple[str, bool | None]] = [
        *(("rm -rf build", False), ("rm -rf ./build/x", False), ("rm -rf /w/build", False)),
        *(("rm -rf /", True), ("rm -rf ..", True), ("cd .. && rm -rf x/y", True)),
        *(("cd web && rm ../a", False), ("ls > /tmp/log", True), ("ls > /dev/null 2>&1", False)),
        *(("git -C ../other push", True), ("cp a $HOME/.ssh/config", True), ("cp a $PLACE/x", None)),
        *(("cp a $PLACE/x /etc/y", True), ("curl https://x.io/a", False), ("", False)),
    ]
    for command, is_out in others:
        with case(command):
            assert is_outside(call(command=command), "/w") is is_out
    assert is_outside(call("a", None, "/etc/b"), "/w") is True
    assert paths_of(call("a", None, "b"), "/w") == ("/w/a", "a", "/w/b", "b")
    assert paths_of(call(), "/w") is None
    # A script in another language is not read.
    script = Call(1, 1, "c", "js_repl", "Used tool", "js_repl rm('/a')", kind=ToolKind.EXECUTE)
    assert (deleted_places(script, "/w"), is_outside(script, "/w")) == (None, None)
    # A folder for temporary files is not the user's; one outside decides, however many are unknown.
    deleted = Call(1, 1, "c", "t", "p", path="/w/a", kind=ToolKind.DELETE)
    unnamed = Call(1, 1, "c", "t", "p", kind=ToolKind.DELETE)
    rest: list[tuple[Call, str | None, tuple[str, ...] | None]] = [
        (call(command="rm a /w/b"), "/w", ("inside",)),
        (call(command="rm /tmp/x /private/var/folders/y"), "/w", ("temporary",)),
        *((call(command="rm /tmp"), "/w", ("outside",)), (call(command="rm a"), "/tmp/w", ("inside",))),
        *((call(command="rm a"), None, None), (call(command="rm /a"), None, ("outside",))),
        *((call(command="rm $X"), "/w", None), (call(command="rm $X /a b"), "/w", ("inside", "outside"))),
        *((call(command="rm ~/x"), "/w", ("outside",)), (call(command="rm ~/p/x"), "~/p", ("inside",))),
        *((call(command="ls /a"), "/w", ()), (call("/etc/x"), "/w", ()), (deleted, "/w", ("inside",))),
        *((deleted, "/v", ("outside",)), (unnamed, "/w", None)),
    ]
    for each, cwd, places in rest:
        with case((each.target, cwd)):
            assert deleted_places(each, cwd) == places


def applied(session: Session, *events: Event) -> None:
    for event in events:
        apply_line(session, [event], Place(0, 1, None))


def silent_call(call_id: str, start: int, end: int | None) -> list[ToolStarted | ToolEnded]:
    """Return a call from one second to another one."""
    events: list[ToolStarted | ToolEnded] = [starts(call_id, target="ls", at_ms=1000 * start)]
    return events if end is None else [*events, ends(call_id, at_ms=1000 * end)]


def silences(session: Session) -> list[int | None]:
    """Return the silence before each call in seconds."""
    read = Silences(session)
    found = [read.before(each) for each in session.calls]
    return [None if each is None else each // 1000 for each in found]


def test_the_silence_begins_with_the_last_end() -> None:
    """Or at the end of a text; no silence is counted while a call runs. Before the first call, after a
    prompt and without times it is unknown.
    """
    session = Session()
    applied(
        session, run(), *silent_call("a", 0, 100), *silent_call("b", 130, 140), *silent_call("c", 140, 141)
    )
    assert silences(session) == [None, 30, 0]
    session = Session()
    first, first_end = silent_call("a", 0, 100)
    applied(session, run(), first, *silent_call("b", 50, 60), first_end, *silent_call("c", 110, 111))
    assert silences(session) == [None, 0, 10]
    session = Session()
    read = Silences(session)
    applied(session, run(), *silent_call("a", 0, None), *silent_call("b", 500, 501))
    assert read.before(session.calls[1]) == 0
    applied(session, ends("a", at_ms=1_000_000), *silent_call("c", 1010, 1011))
    assert read.before(session.calls[2]) == 10_000
    session = Session()
    applied(session, run(), *silent_call("a", 0, 10), Text(Channel.ANSWER, "Yes.", at_ms=40_000))
    applied(session, TextEnded(Channel.ANSWER, at_ms=50_000), *silent_call("b", 70, 71))
    assert silences(session) == [None, 20]
    session = Session()
    applied(session, run(), *silent_call("a", 0, 10), Prompt("Go on."), *silent_call("b", 9000, 9001))
    assert silences(session) == [None, None]
    session = Session()
    applied(session, run(), starts("a"), ends("a"), starts("b", kind=ToolKind.READ))
    assert silences(session) == [None, None]
