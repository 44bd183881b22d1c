"""Episodes: failures with their tries, cycles of edits and tests, and files that are read in vain."""

from collections.abc import Sequence
from typing import Any

from agentwatch.analysis.episodes import (
    Episode,
    EpisodeKind,
    Episodes,
    Repeats,
    duration_ms,
    for_reading,
    same_command,
)
from agentwatch.session.call import Call as SessionCall
from agentwatch.session.call import Place
from agentwatch.text.safe import SafeText
from tests.analysis.episodes.calls import (
    GREEN,
    RED,
    Call,
    call,
    edit,
    failed_edit,
    found_in,
    only,
    read,
    read_whole,
    shell,
    words_of,
    written,
)
from tests.builders.claude_lines import CWD as CLAUDE_CWD
from tests.builders.claude_lines import answer, assistant
from tests.builders.claude_lines import init as claude_init
from tests.builders.claude_lines import written as claude_written
from tests.builders.lines import CWD, completed, feed_of, init, result, started, user
from tests.conftest import Saver, case


def _call(
    started: int | None, ended: int | None, seen: tuple[int | None, int | None] = (None, None)
) -> SessionCall:
    places = [Place(10 * nth, 10, seen_ms) for nth, seen_ms in enumerate(seen)]
    call = SessionCall(1, 1, "c", "shell", "Ran", started_ms=started, ended_ms=ended)
    call.started, call.ended = places
    return call


def test_spellings_and_durations() -> None:
    """It is by the agent's clock, or by arrival times that differ; otherwise it is unknown. What does not
    change what is run is left out; an incomplete command cannot be compared.
    """
    cases: list[tuple[SessionCall, int | None]] = [
        (_call(1000, 3000), 2000),
        (_call(1000, 3000, (1, 2)), 2000),
        (_call(None, None, (1000, 4000)), 3000),
        (_call(None, None, (1000, 1000)), None),
        (_call(3000, 1000), None),
        (_call(None, None), None),
    ]
    for made, took in cases:
        with case(made):
            assert duration_ms(made, made) == took
    # Spellings of a command.
    spellings: list[tuple[str, str | None, str | None]] = [
        ("make  all", None, "make all"),
        ("cd web && npm test", None, "cd web && npm test"),
        ("cd '/src/' && CI=1 npx jest a --watch=false", "/src", "jest a"),
        ("./node_modules/.bin/jest a 2>&1 || true", "/src", "jest a"),
        ("make all; echo $?", "/src", "make all"),
        ("make | grep error | tail -3", "/src", "make"),
        ("make | ./deploy", "/src", "make | ./deploy"),
        ("python - <<EOF", "/src", None),
        ("python -c 'print(1)", "/src", None),
        ('git commit -m "one', "/src", None),
        ("# Build it", "/src", None),
        ("-x", "/src", None),
        ("", None, None),
    ]
    for command, cwd, same in spellings:
        with case((command, cwd)):
            assert same_command(command, cwd) == same


BUILD = "npm run build"


def tries_of(episodes: Episodes, count: int) -> list[int]:
    """Return which try each of the first calls is."""
    return [episodes.tries(number) for number in range(1, count + 1)]


def test_a_failure_and_its_retries_are_one_episode(recording: Saver) -> None:
    """The third try that succeeds ends it, which lasts from its first start to its last end; its words are
    safe and short. Failures that differ, or are fixed at once, are none. While the session runs, the
    failure is not fixed yet; when the run has ended, it never will be. A call that ends later belongs to
    it. Without a clock there is no duration.
    """
    calls = (shell(BUILD, 2), read("a.ts"), shell(BUILD, 2), read("b.ts"), shell(BUILD), shell(BUILD))
    episodes = found_in(recording(written(*calls)))
    assert tries_of(episodes, 6) == [1, 1, 2, 1, 3, 1]
    found = only(episodes)
    assert found.words == "fixed on try 3, 41.0 s: npm run build"
    assert (found.kind, found.first, found.last, found.tries) == (EpisodeKind.FAILURE, 1, 5, 3)
    assert (found.is_over, found.is_fixed, found.duration_ms) == (True, True, 41_000)
    command = "make \x1b[31m" + "x" * 4000
    (words,) = words_of(found_in(recording(written(*[shell(command, 2)] * 3))))
    assert "\x1b" not in words
    assert len(words) < 260
    for name, others in NEAR_MISSES.items():
        with case(name):
            assert words_of(found_in(recording(written(*others)))) == []
    # An open episode says so.
    tries = [shell(BUILD, 2)] * 13
    assert words_of(found_in(recording(written(*tries)))) == ["not fixed yet, 13 tries, 2:01: npm run build"]
    ended = recording(written(*tries) + result("no"))
    assert words_of(found_in(ended)) == ["not fixed after 13 tries, 2:01: npm run build"]
    lines = b"".join(
        started("shell", f"c-{number}", command=BUILD)
        + completed("shell", f"c-{number}", {"failure": {"exitCode": 2}}, command=BUILD)
        for number in range(3)
    )
    assert words_of(found_in(recording(init() + lines))) == ["not fixed yet, 3 tries: npm run build"]
    path = recording(written(shell(BUILD, 2), shell(BUILD, 2), shell(BUILD, 2)))
    feed = feed_of(path, follow=True)
    episodes = read_whole(Episodes(feed))
    assert only(episodes).tries == 3
    assert episodes.tries(4) == 0
    with path.open("ab") as file:
        file.write(shell(BUILD)(4))
    feed.advance()
    assert only(read_whole(episodes)).words == "fixed on try 4, 31.0 s: npm run build"
    assert episodes.tries(4) == 4


NEAR_MISSES: dict[str, Sequence[Call]] = {
    "fixed at once": (shell(BUILD, 2), shell(BUILD)),
    "two tries": (shell(BUILD, 2), shell(BUILD, 2)),
    "other arguments": (shell("pytest a.py", 1), shell("pytest b.py", 1), shell("pytest c.py", 1)),
    "another folder than the cwd": (shell("make", 2), shell("cd a && make", 2), shell("make", 2)),
    "other folders": (shell("cd a && make", 2), shell("cd b && make", 2), shell("cd c && make", 2)),
    "a search without matches": [shell("grep -rn mill src", 1)] * 4,
    "other here-documents": [shell("python3 - <<'EOF'", 1)] * 4,
    "other files": (failed_edit("a.py"), failed_edit("b.py"), failed_edit("c.py")),
    "rejected": [call("shell", {"rejected": {"reason": "no"}}, command="rm x")] * 4,
}


def test_a_command_is_the_same_in_other_words(recording: Saver) -> None:
    """Options, filters and `cd` to the cwd make no other command. After `| tail` the verdict of the tests
    counts, or another exit code of the pipe. Edits of the same file are tries.
    """
    commands = (f"cd {CWD} && pytest tests", "python -m pytest -x tests 2>&1", ".venv/bin/pytest tests -v")
    calls = [shell(command, 1, RED) for command in commands] + [shell("uv run pytest tests", 0, GREEN)]
    episodes = found_in(recording(written(*calls)))
    assert tries_of(episodes, 4) == [1, 2, 3, 4]
    assert words_of(episodes) == ["fixed on try 4, 31.0 s: pytest tests"]
    red, green = shell("pytest | tail -3", 0, RED), shell("pytest | tail -3", 0, GREEN)
    episodes = found_in(recording(written(red, red, shell("pytest", 1, RED), green)))
    assert words_of(episodes) == ["fixed on try 4, 31.0 s: pytest | tail -3"]
    build = (shell(BUILD, 2), shell(BUILD, 2), shell(BUILD, 2), shell(f"{BUILD} | tail -3"))
    assert words_of(found_in(recording(written(*build)))) == ["not fixed yet, 3 tries, 21.0 s: npm run build"]
    piped = f"{BUILD} | tail -3"
    episodes = found_in(recording(written(shell(piped, 1), shell(piped, 1), shell(piped))))
    assert words_of(episodes) == ["fixed on try 3, 21.0 s: npm run build | tail -3"]
    made = (read("src/a.py"), failed_edit("src/a.py"), failed_edit("src/a.py"), edit("src/a.py"))
    episodes = found_in(recording(written(*made)))
    assert tries_of(episodes, 4) == [1, 1, 2, 3]
    assert words_of(episodes) == ["fixed on try 3, 21.0 s: src/a.py"]


def test_what_is_no_retry(recording: Saver) -> None:
    """Calls that started before the failure had ended, or of the same step, are not tries after it; one that
    runs has no counts.
    """
    begun = b"".join(started("shell", f"c-{number}", 1000, command=BUILD) for number in range(4))
    failure = {"failure": {"exitCode": 2}}
    ends = b"".join(completed("shell", f"c-{number}", failure, 2000, command=BUILD) for number in range(4))
    episodes = found_in(recording(init() + begun + ends))
    assert tries_of(episodes, 4) == [1, 1, 1, 1]
    assert words_of(episodes) == []
    failing = {"error": "Exit code 2\\nno", "command": "make"}
    together = calls("Bash", "s1", "s2", "s3", message_id="msg_1", **failing)
    episodes = found_in(recording(claude_written(claude_init(), *together)))
    assert [episodes.tries(number) for number in (1, 2, 3)] == [1, 1, 1]
    assert words_of(episodes) == []
    each = calls("Bash", "s1", "s2", "s3", **failing)
    assert words_of(found_in(recording(claude_written(claude_init(), *each)))) == [
        "not fixed yet, 3 tries: make"
    ]
    path = recording(init() + started("shell", "c-1", command=BUILD))
    episodes = found_in(path)
    for number in (0, 1, 2):
        assert (episodes.tries(number), episodes.cycle(number)) == (0, 0)
        assert episodes.reread(number) == 0


def test_calls_are_read_in_small_pieces(recording: Saver) -> None:
    """An update reads as many calls as it may, fewer if it reads outputs, and reports that more are left.
    Identical calls in a row are counted.
    """
    episodes = Episodes(feed_of(recording(written(*[shell(BUILD, 2)] * 10))))
    assert episodes.update(most=4)
    assert only(episodes).tries == 4
    assert episodes.update(most=4)
    assert not episodes.update(most=4)
    assert only(episodes).tries == 10
    piped = shell("pytest | tail -1", 0, GREEN)
    episodes = Episodes(feed_of(recording(written(*[piped] * 10))))
    assert episodes.update(most=52)
    assert [episodes.tries(number) for number in (2, 3)] == [1, 0]
    status, part = shell("git status"), read("a.py", offset=1)
    calls = (status, status, status, read("a.py"), part, part, status)
    feed = feed_of(recording(written(*calls)))
    assert [*map(Repeats(feed).add, feed.session.calls)] == [1, 2, 3, 1, 1, 2, 1]


TESTS = (shell("pytest a.py", 1, RED), shell("pytest b.py", 1, RED), shell("pytest c.py", 1, RED))
EDIT = edit("src/a.py")
KNOWN = read("src/a.py")


def test_cycles_in_a_row_are_an_episode(recording: Saver) -> None:
    """Three cycles of an edit and red tests are trouble, which a green test run ends. The tries of one
    command and their cycles are one episode. Tests without an edit between them, builds, and tests that
    could not start are not cycles.
    """
    calls = (KNOWN, EDIT, TESTS[0], EDIT, TESTS[1], EDIT, TESTS[2], EDIT, shell("pytest", 0, GREEN))
    episodes = found_in(recording(written(*calls, EDIT, TESTS[0])))
    assert [episodes.cycle(number) for number in range(1, 12)] == [0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1]
    found = only(episodes)
    assert found.words == "3 edit-test-fail cycles, 1:11: pytest"
    assert (found.kind, found.first, found.last, found.tries) == (EpisodeKind.CYCLES, 2, 9, 3)
    assert found.is_over
    assert found.is_fixed
    found = only(found_in(recording(written(KNOWN, EDIT, TESTS[0], EDIT, TESTS[1], EDIT, TESTS[2]))))
    assert found.words == "3 edit-test-fail cycles, 51.0 s: pytest c.py"
    assert not found.is_over
    # Cycles belong to their own failure.
    red, green = shell("pytest -q", 1, RED), shell("pytest -q", 0, GREEN)
    calls = (red, EDIT, red, EDIT, red, EDIT, red, EDIT, green)
    episodes = found_in(recording(written(KNOWN, *calls)))
    assert words_of(episodes) == ["fixed on try 5, 1:21, 3 edit-test-fail cycles: pytest -q"]
    red, green = shell("pytest -q", 1, RED), shell("pytest -q", 0, GREEN)
    listed = (red, red, red, green, EDIT, red, EDIT, red, EDIT, red, green)
    assert words_of(found_in(recording(written(KNOWN, *listed)))) == [
        "fixed on try 4, 31.0 s: pytest -q",
        "fixed on try 4, 51.0 s, 3 edit-test-fail cycles: pytest -q",
    ]
    red, other = shell("pytest a", 1, RED), shell("pytest b", 1, RED)
    made = (EDIT, red, EDIT, red, EDIT, red, EDIT, other)
    assert words_of(found_in(recording(written(KNOWN, *made)))) == [
        "not fixed yet, 3 tries, 41.0 s: pytest a",
        "4 edit-test-fail cycles, 1:11: pytest b",
    ]
    # What is not a cycle.
    first = (KNOWN, EDIT, TESTS[0], TESTS[1], TESTS[2], EDIT, shell("npm run build", 2))
    then = (EDIT, shell("pytest a.py", 127), EDIT, shell("git commit -m 'pytest passes'", 1))
    episodes = found_in(recording(written(*first, *then)))
    assert [episodes.cycle(number) for number in (3, 5, 7, 9, 11)] == [1, 1, 1, 1, 1]
    assert words_of(episodes) == []
    red = shell("pytest 2>&1 | tail -1", 0, RED)
    episodes = found_in(recording(written(KNOWN, EDIT, red, EDIT, shell("pytest | tail -1", 0, GREEN))))
    assert [episodes.cycle(number) for number in (3, 5)] == [1, 0]
    runs = ("npm test", "npm run test:unit", "go test ./...", "cargo test -p a", "npx jest", "mvn -q test")
    for command in (*runs, "python3 -m unittest", "make test", "dotnet test", "cd web && npx vitest run"):
        episodes = found_in(recording(written(KNOWN, EDIT, shell(command, 1))))
        assert (command, episodes.cycle(3)) == (command, 1)
    others = ("go build ./...", "npm run build", "cat test.log", "pip install pytest", "test -f a")
    for command in others:
        episodes = found_in(recording(written(KNOWN, EDIT, shell(command, 1))))
        assert (command, episodes.cycle(3)) == (command, 0)


def test_the_same_file_read_four_times_is_an_episode(recording: Saver) -> None:
    """Reads of the same part without a change are counted, with other calls in between, for each run and
    each subagent.
    """
    made = (KNOWN, KNOWN, shell("ls"), KNOWN, read("src/b.py"), KNOWN, KNOWN)
    episodes = found_in(recording(written(*made)))
    assert [episodes.reread(number) for number in range(1, 8)] == [1, 2, 0, 3, 1, 4, 5]
    found = only(episodes)
    assert found.words == "read 5 times: src/a.py"
    assert (found.kind, found.first, found.last, found.tries) == (EpisodeKind.REREAD, 1, 7, 5)
    parts = [read("big.py", offset=start, limit=100) for start in (1, 101, 201, 301)]
    episodes = found_in(recording(written(*parts, parts[0])))
    assert [episodes.reread(number) for number in range(1, 6)] == [1, 1, 1, 1, 2]
    grown = [read("log.txt", lines) for lines in (10, 20, 30, 40)]
    assert words_of(found_in(recording(written(*parts, *grown)))) == []
    change = edit("src/a.py")
    made = (KNOWN, KNOWN, KNOWN, change, KNOWN, KNOWN, KNOWN)
    episodes = found_in(recording(written(*made)))
    assert [episodes.reread(number) for number in range(1, 8)] == [1, 2, 3, 0, 1, 2, 3]
    assert words_of(episodes) == []
    twice = b"".join(KNOWN(number) for number in (1, 2))
    later = b"".join(KNOWN(number) for number in (3, 4))
    episodes = found_in(recording(init() + twice + init() + later))
    assert [episodes.reread(number) for number in range(1, 5)] == [1, 2, 1, 2]
    begins = assistant({"type": "tool_use", "id": "task", "name": "Task", "input": {"prompt": "Look."}})
    path = f"{CLAUDE_CWD}/a.py"
    own = calls("Read", "r1", "r2", file_path=path)
    others = by("task", calls("Read", "r3", "r4", file_path=path))
    saved = recording(claude_written(claude_init(), begins, *own, *others))
    episodes, feed = found_in(saved), feed_of(saved)
    assert [episodes.reread(number) for number in range(2, 6)] == [1, 2, 1, 2]
    assert [*map(Repeats(feed).add, feed.session.calls)] == [1, 1, 2, 1, 2]


def test_a_file_that_is_edited_back_is_an_episode(recording: Saver) -> None:
    """The content after the last edit is that before the first one; an edit after it, also a later one, ends
    that. A file that was created and deleted is none.
    """
    calls = (KNOWN, edit("src/a.py", "a\n", "b\n"), edit("src/a.py", "b\n", "c\n"))
    path = recording(written(*calls, edit("src/a.py", "c\n", "a\n")))
    found = only(found_in(path))
    assert found.words == "edited back to the start: src/a.py"
    assert (found.kind, found.first, found.last, found.tries) == (EpisodeKind.BACK, 2, 4, 3)
    other = recording(written(*calls, edit("src/a.py", "c\n", "a \n")))
    assert words_of(found_in(other)) == []
    there, back = edit("src/a.py", "a\n", "b\n"), edit("src/a.py", "b\n", "a\n")
    assert len(words_of(found_in(recording(written(KNOWN, there, back))))) == 1
    assert words_of(found_in(recording(written(KNOWN, there, back, there)))) == []
    body = {"linesCreated": 2, "afterFullFileContent": "x\n"}
    made = call("write", {"success": body}, path=f"{CWD}/try.py", fileText="x\n")
    gone = call("delete", {"success": {}}, path=f"{CWD}/try.py")
    assert words_of(found_in(recording(written(made, gone)))) == []
    there, back = edit("src/a.py", "a\n", "b\n"), edit("src/a.py", "b\n", "a\n")
    path = recording(written(KNOWN, there, back))
    feed = feed_of(path, follow=True)
    episodes = read_whole(Episodes(feed))
    assert len(words_of(episodes)) == 1
    with path.open("ab") as file:
        file.write(there(4))
    feed.advance()
    assert words_of(read_whole(episodes)) == []


def test_a_file_that_is_edited_unread_is_an_episode(recording: Saver) -> None:
    """Only the first edit counts, also one before the read had ended. A file that was created, printed, or
    named in the prompt may be known.
    """
    found = only(found_in(recording(written(edit("src/a.py"), edit("src/a.py", "b\n", "c\n")))))
    assert found.words == "edited without reading: src/a.py"
    assert (found.kind, found.first, found.last) == (EpisodeKind.UNREAD, 1, 1)
    both = started("read", "r", 1000, path=f"{CWD}/a.py") + started("edit", "e", 1000, path=f"{CWD}/a.py")
    ends = completed("read", "r", {"success": {"totalLines": 2}}, 2000, path=f"{CWD}/a.py")
    ends += completed("edit", "e", {"success": {"linesRemoved": 1}}, 3000, path=f"{CWD}/a.py")
    assert words_of(found_in(recording(init() + both + ends))) == ["edited without reading: a.py"]
    change = edit("src/a.py")
    made = call("write", {"success": {"linesCreated": 2}}, path=f"{CWD}/src/a.py")
    for known in (KNOWN, made, shell("sed -n 1,80p src/a.py")):
        assert words_of(found_in(recording(written(known, change)))) == []
    prompt = init() + user("Fix @src/a.py") + change(1)
    assert words_of(found_in(recording(prompt))) == []
    grown = edit("src/new.py", "", "a\n", removed=0)
    assert words_of(found_in(recording(written(grown)))) == []


def test_trouble_of_one_kind_is_one_line(recording: Saver) -> None:
    """Of several files that were edited without reading, or read again, a person reads one line with their
    number; failures stay apart, and those that are not fixed come first."""

    def read_as(episodes: Sequence[Episode]) -> list[str]:
        return [each.words for each in for_reading(episodes)]

    edits = [edit(f"src/{name}.py") for name in "abc"]
    found = found_in(recording(written(*edits))).episodes()
    assert len(found) == 3
    assert read_as(found) == ["edited without reading: 3 files"]
    [joined] = for_reading(found)
    assert (joined.first, joined.last, joined.files) == (1, 3, 3)
    single = Episode(EpisodeKind.REREAD, 4, 9, 4, None, True, False, SafeText("a.py"))
    again = single._replace(first=2, last=12, tries=9, subject=SafeText("b.py"))
    failed = single._replace(kind=EpisodeKind.FAILURE, tries=3, subject=SafeText("make"))
    listed = [*found, single, failed._replace(is_fixed=True), failed, again]
    assert read_as(listed) == [
        "not fixed after 3 tries: make",
        "read up to 9 times: 2 files",
        "fixed on try 3: make",
        "edited without reading: 3 files",
    ]
    # One file stays named, however many episodes it has.
    assert read_as([single, single._replace(last=20, tries=5)]) == ["read 5 times: a.py"]


Json = dict[str, Any]


def calls(
    name: str, *ids: str, message_id: str | None = None, error: str = "", **arguments: Any
) -> list[Json]:
    """Return calls that end one after the other, each in a message of its own if `message_id` is None."""
    lines: list[Json] = []
    for call_id in ids:
        block = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
        lines.append(assistant(block, message_id=message_id or f"msg_{call_id}"))
        lines.append(answer(error or "1\tone", call_id, is_error=bool(error)))
    return lines


def by(agent: str, lines: list[Json]) -> list[Json]:
    """Return lines as those of the subagent that a call started."""
    return [line | {"parent_tool_use_id": agent} for line in lines]
