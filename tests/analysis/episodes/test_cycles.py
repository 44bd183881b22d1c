"""Edit, test, fail: the cycles in a row are counted until the tests pass."""

from __future__ import annotations

from agentwatch.analysis.episodes import EpisodeKind
from tests.analysis.episodes.calls import GREEN, RED, edit, found_in, only, read, shell, words_of, written
from tests.conftest import Saver

TESTS = (shell("pytest a.py", 1, RED), shell("pytest b.py", 1, RED), shell("pytest c.py", 1, RED))
EDIT = edit("src/a.py")
KNOWN = read("src/a.py")


def test_cycles_in_a_row_are_an_episode(recording: Saver) -> None:
    """Three cycles are trouble. A green test run ends them, and counting begins again."""
    calls = (KNOWN, EDIT, TESTS[0], EDIT, TESTS[1], EDIT, TESTS[2], EDIT, shell("pytest", 0, GREEN))
    episodes = found_in(recording(written(*calls, EDIT, TESTS[0])))
    assert [episodes.cycle(number) for number in range(1, 12)] == [0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1]
    found = only(episodes)
    assert found.words == "3 edit-test-fail cycles, 1:11: pytest"
    assert (found.kind, found.first, found.last, found.tries) == (EpisodeKind.CYCLES, 2, 9, 3)
    assert found.is_over
    assert found.is_fixed


def test_cycles_that_go_on_are_open(recording: Saver) -> None:
    """While the tests fail, the episode is not over."""
    found = only(found_in(recording(written(KNOWN, EDIT, TESTS[0], EDIT, TESTS[1], EDIT, TESTS[2]))))
    assert found.words == "3 edit-test-fail cycles, 51.0 s: pytest c.py"
    assert not found.is_over


def test_cycles_of_one_command_are_part_of_its_failure(recording: Saver) -> None:
    """The tries of one test command and their cycles are one episode."""
    red, green = shell("pytest -q", 1, RED), shell("pytest -q", 0, GREEN)
    calls = (red, EDIT, red, EDIT, red, EDIT, red, EDIT, green)
    episodes = found_in(recording(written(KNOWN, *calls)))
    assert words_of(episodes) == ["fixed on try 5, 1:21, 3 edit-test-fail cycles: pytest -q"]


def test_cycles_belong_to_their_own_failure(recording: Saver) -> None:
    """Of two failures of the same command, only the one with edits between its tries has cycles."""
    red, green = shell("pytest -q", 1, RED), shell("pytest -q", 0, GREEN)
    calls = (red, red, red, green, EDIT, red, EDIT, red, EDIT, red, green)
    assert words_of(found_in(recording(written(KNOWN, *calls)))) == [
        "fixed on try 4, 31.0 s: pytest -q",
        "fixed on try 4, 51.0 s, 3 edit-test-fail cycles: pytest -q",
    ]


def test_cycles_of_several_commands_are_an_episode_of_their_own(recording: Saver) -> None:
    """If another test command has failed too, the cycles belong to none of the failures alone."""
    red, other = shell("pytest a", 1, RED), shell("pytest b", 1, RED)
    calls = (EDIT, red, EDIT, red, EDIT, red, EDIT, other)
    assert words_of(found_in(recording(written(KNOWN, *calls)))) == [
        "not fixed yet, 3 tries, 41.0 s: pytest a",
        "4 edit-test-fail cycles, 1:11: pytest b",
    ]


def test_what_is_no_cycle(recording: Saver) -> None:
    """Tests without an edit between them, builds, and tests that could not start are no cycles."""
    first = (KNOWN, EDIT, TESTS[0], TESTS[1], TESTS[2], EDIT, shell("npm run build", 2))
    then = (EDIT, shell("pytest a.py", 127), EDIT, shell("git commit -m 'pytest passes'", 1))
    episodes = found_in(recording(written(*first, *then)))
    assert [episodes.cycle(number) for number in (3, 5, 7, 9, 11)] == [1, 1, 1, 1, 1]
    assert words_of(episodes) == []


def test_a_verdict_counts_before_the_exit_code_of_a_filter(recording: Saver) -> None:
    """`pytest | tail` that exits with 0 is a failed test run if its last line says so."""
    red = shell("pytest 2>&1 | tail -1", 0, RED)
    episodes = found_in(recording(written(KNOWN, EDIT, red, EDIT, shell("pytest | tail -1", 0, GREEN))))
    assert [episodes.cycle(number) for number in (3, 5)] == [1, 0]


def test_tests_of_every_kind_count(recording: Saver) -> None:
    """A test run is known by its program and its command."""
    runs = ("npm test", "npm run test:unit", "go test ./...", "cargo test -p a", "npx jest", "mvn -q test")
    for command in (*runs, "python3 -m unittest", "make test", "dotnet test", "cd web && npx vitest run"):
        episodes = found_in(recording(written(KNOWN, EDIT, shell(command, 1))))
        assert (command, episodes.cycle(3)) == (command, 1)
    others = ("go build ./...", "npm run build", "cat test.log", "pip install pytest", "test -f a")
    for command in others:
        episodes = found_in(recording(written(KNOWN, EDIT, shell(command, 1))))
        assert (command, episodes.cycle(3)) == (command, 0)
