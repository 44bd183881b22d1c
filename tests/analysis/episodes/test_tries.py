"""A failure, its retries and its success are one episode."""

from __future__ import annotations

from collections.abc import Sequence

from agentwatch.analysis.episodes import EpisodeKind, Episodes
from tests.analysis.episodes.calls import (
    GREEN,
    RED,
    Call,
    call,
    edit,
    failed_edit,
    feed_of,
    found_in,
    only,
    read,
    read_whole,
    shell,
    words_of,
    written,
)
from tests.builders.lines import CWD, completed, init, result, started
from tests.conftest import Saver, case

BUILD = "npm run build"


def tries_of(episodes: Episodes, count: int) -> list[int]:
    """Return which try each of the first calls is."""
    return [episodes.tries(number) for number in range(1, count + 1)]


def test_a_failure_and_its_retries_are_one_episode(recording: Saver) -> None:
    """The third try that succeeds ends the episode, which lasts from its first start to its last end."""
    calls = (shell(BUILD, 2), read("a.ts"), shell(BUILD, 2), read("b.ts"), shell(BUILD), shell(BUILD))
    episodes = found_in(recording(written(*calls)))
    assert tries_of(episodes, 6) == [1, 1, 2, 1, 3, 1]
    found = only(episodes)
    assert found.words == "fixed on try 3, 41.0 s: npm run build"
    assert (found.kind, found.first, found.last, found.tries) == (EpisodeKind.FAILURE, 1, 5, 3)
    assert (found.is_over, found.is_fixed, found.duration_ms) == (True, True, 41_000)


def test_an_open_episode_says_so(recording: Saver) -> None:
    """While the session runs, the failure is not fixed yet. When the run has ended, it never will be."""
    tries = [shell(BUILD, 2)] * 13
    assert words_of(found_in(recording(written(*tries)))) == ["not fixed yet, 13 tries, 2:01: npm run build"]
    ended = recording(written(*tries) + result("no"))
    assert words_of(found_in(ended)) == ["not fixed after 13 tries, 2:01: npm run build"]


def test_an_episode_grows_with_its_session(recording: Saver) -> None:
    """Calls that end later belong to the same episode, which is reported once."""
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


def test_calls_without_times_have_no_duration(recording: Saver) -> None:
    """Without any clock, no duration is printed."""
    lines = b"".join(
        started("shell", f"c-{number}", command=BUILD)
        + completed("shell", f"c-{number}", {"failure": {"exitCode": 2}}, command=BUILD)
        for number in range(3)
    )
    assert words_of(found_in(recording(init() + lines))) == ["not fixed yet, 3 tries: npm run build"]


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


def test_what_is_no_episode(recording: Saver) -> None:
    """Failures that are fixed at once, that differ, or that are no failures are no trouble."""
    for name, calls in NEAR_MISSES.items():
        with case(name):
            assert words_of(found_in(recording(written(*calls)))) == []


def test_a_command_is_the_same_in_other_words(recording: Saver) -> None:
    """Options, filters, redirections, wrappers and `cd` to the cwd make no other command."""
    commands = (f"cd {CWD} && pytest tests", "python -m pytest -x tests 2>&1", ".venv/bin/pytest tests -v")
    calls = [shell(command, 1, RED) for command in commands] + [shell("uv run pytest tests", 0, GREEN)]
    episodes = found_in(recording(written(*calls)))
    assert tries_of(episodes, 4) == [1, 2, 3, 4]
    assert words_of(episodes) == ["fixed on try 4, 31.0 s: pytest tests"]


def test_the_exit_code_of_a_filter_says_nothing(recording: Saver) -> None:
    """After `| tail`, the verdict of the tests counts; of another command, a success is unknown."""
    red, green = shell("pytest | tail -3", 0, RED), shell("pytest | tail -3", 0, GREEN)
    episodes = found_in(recording(written(red, red, shell("pytest", 1, RED), green)))
    assert words_of(episodes) == ["fixed on try 4, 31.0 s: pytest | tail -3"]
    build = (shell(BUILD, 2), shell(BUILD, 2), shell(BUILD, 2), shell(f"{BUILD} | tail -3"))
    assert words_of(found_in(recording(written(*build)))) == ["not fixed yet, 3 tries, 21.0 s: npm run build"]


def test_the_same_words_with_another_exit_code_are_fixed(recording: Saver) -> None:
    """A piped command whose exit code was 1, and is 0 now, has succeeded: the shell reports the pipe."""
    piped = f"{BUILD} | tail -3"
    episodes = found_in(recording(written(shell(piped, 1), shell(piped, 1), shell(piped))))
    assert words_of(episodes) == ["fixed on try 3, 21.0 s: npm run build | tail -3"]


def test_edits_of_the_same_file_are_tries(recording: Saver) -> None:
    """An edit that fails, and succeeds on the third try, is an episode of its file."""
    calls = (read("src/a.py"), failed_edit("src/a.py"), failed_edit("src/a.py"), edit("src/a.py"))
    episodes = found_in(recording(written(*calls)))
    assert tries_of(episodes, 4) == [1, 1, 2, 3]
    assert words_of(episodes) == ["fixed on try 3, 21.0 s: src/a.py"]


def test_parallel_calls_are_no_retries(recording: Saver) -> None:
    """Calls that started before the failure had ended are no tries after it."""
    begun = b"".join(started("shell", f"c-{number}", 1000, command=BUILD) for number in range(4))
    failure = {"failure": {"exitCode": 2}}
    ends = b"".join(completed("shell", f"c-{number}", failure, 2000, command=BUILD) for number in range(4))
    episodes = found_in(recording(init() + begun + ends))
    assert tries_of(episodes, 4) == [1, 1, 1, 1]
    assert words_of(episodes) == []


def test_calls_that_are_not_read_have_no_counts(recording: Saver) -> None:
    """The counts of a call that runs, or that does not exist, are 0."""
    path = recording(init() + started("shell", "c-1", command=BUILD))
    episodes = found_in(path)
    for number in (0, 1, 2):
        assert (episodes.tries(number), episodes.cycle(number)) == (0, 0)
        assert (episodes.reread(number), episodes.repeat(number)) == (0, 0)


def test_calls_are_read_in_small_pieces(recording: Saver) -> None:
    """An update reads at most as many calls as it may, and reports that more are left."""
    episodes = Episodes(feed_of(recording(written(*[shell(BUILD, 2)] * 10))))
    assert episodes.update(most=4)
    assert only(episodes).tries == 4
    assert episodes.update(most=4)
    assert not episodes.update(most=4)
    assert only(episodes).tries == 10


def test_outputs_make_the_pieces_smaller(recording: Saver) -> None:
    """An update that reads outputs reads fewer calls: reading one takes as long as reading 25 calls."""
    piped = shell("pytest | tail -1", 0, GREEN)
    episodes = Episodes(feed_of(recording(written(*[piped] * 10))))
    assert episodes.update(most=52)
    assert [episodes.tries(number) for number in (2, 3)] == [1, 0]


def test_identical_calls_in_a_row_are_counted(recording: Saver) -> None:
    """A repetition has the same tool, target and arguments; another call in between ends the row."""
    status, part = shell("git status"), read("a.py", offset=1)
    calls = (status, status, status, read("a.py"), part, part, status)
    episodes = found_in(recording(written(*calls)))
    assert [episodes.repeat(number) for number in range(1, 8)] == [1, 2, 3, 1, 1, 2, 1]
