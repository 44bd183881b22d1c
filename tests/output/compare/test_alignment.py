"""Keys of calls: what two runs of the same task have in common."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from agentwatch.output.compare.alignment import (
    Key,
    Match,
    Step,
    aligned,
    ascending,
    key_of,
    levelled,
    levelled_path,
    matching,
)
from agentwatch.session.call import Call
from agentwatch.session.events import ToolKind
from tests.conftest import case

CWD = "/home/ada/mill"


def call(kind: ToolKind, target: str | None, *, tool: str = "t", path: str | None = None) -> Call:
    return Call(1, 1, "c-1", tool, "Did", target=target, path=path, kind=kind)


LEVELLED: list[tuple[str, str]] = [
    ("kill 4711", "kill 98"),
    ("curl localhost:8080/health", "curl localhost:41233/health"),
    ("sed -n 1,20p src/a.py", "sed -n 21,40p src/a.py"),
    ("git show 3f9c2ab", "git show 9d8e7f6a1b2c"),
    ("rm 6f9619ff-8b86-d011-b42d-00c04fc964ff", "rm 11111111-2222-3333-4444-AAAAAAAAAAAA"),
    ("cat /tmp/tmpx81k/log", "cat /private/tmp/tmp.Ab3dQ/log"),
    ("diff /tmp/tmpk3 /var/tmp/tmp9", "diff /tmp/tmpzz /tmp/tmp_1"),
    ("cat /var/folders/zz/zyx_1/T/tmpq", "cat /tmp/tmpq2"),
    ("type C:\\Users\\ada\\AppData\\Local\\Temp\\tmp1.txt", "type C:/Users/bo/AppData/Local/Temp/tmp2"),
    ("ls /home/ada/.config", "ls /Users/bob/.config"),
    ("login [secret:password 05d2] user-1f2e", "login [secret:password 9a9b] user-77aa"),
    ("pytest   -q\n", "pytest -q"),
]


def test_what_differs_between_two_runs_of_a_task_is_levelled() -> None:
    """Numbers, hashes, ids, temporary paths, homes and blanks do not make two commands different."""
    for one, other in LEVELLED:
        with case(one):
            assert levelled(one) == levelled(other)
    # Names, also those with digits, are kept.
    for one, other in DIFFERENT:
        with case(one):
            assert levelled(one) != levelled(other)
    # The working directory is levelled, and a `cd` to it is left out. `/home/ada/mill2` is not inside
    # `/home/ada/mill`. A command may name the working directory without `/private`. `0001.sql` and `0002.sql`
    # are two files; a time in a name is levelled. The name that an agent gives to its tool does not count,
    # unless the kind is unknown.
    for command in COMMANDS:
        with case(command):
            assert levelled(command, CWD) == "pytest src"
    assert levelled(f"ls {CWD}2/x", CWD) == "ls ~/mill2/x"
    assert levelled(f"ls {CWD}", CWD) == "ls ."
    assert levelled(f"ls /mnt{CWD}/x", CWD) == f"ls /mnt{CWD}/x"
    assert levelled("cat /tmp/mill/a", "/private/tmp/mill") == "cat a"
    assert levelled_path(f"{CWD}/src/../a.py", CWD) == "a.py"
    assert levelled_path("db/0001.sql", CWD) != levelled_path("db/0002.sql", CWD)
    assert levelled_path("log/1700000000.txt", CWD) == levelled_path("log/1700000999.txt", CWD)
    of_one = call(ToolKind.EXECUTE, "pytest -q", tool="Bash")
    of_other = call(ToolKind.EXECUTE, "pytest -q", tool="shell")
    assert key_of(of_one, CWD) == key_of(of_other, "/srv/mill")
    unknown = [call(ToolKind.OTHER, "x", tool=tool) for tool in ("warp", "teleport")]
    assert key_of(unknown[0], CWD) != key_of(unknown[1], CWD)
    # A plan has no target, and a read may have none. In a part that differs, calls with the same subject are
    # paired first. A target of any length takes bounded time.
    assert key_of(call(ToolKind.PLAN, None), None) == ("plan", "", "")
    assert key_of(call(ToolKind.READ, None), None).target == ""
    assert key_of(call(ToolKind.READ, "x", path=f"{CWD}/src/a.py"), CWD).subject == "a.py"
    assert key_of(call(ToolKind.EXECUTE, "pytest -q"), CWD).subject == "pytest"
    assert key_of(call(ToolKind.FETCH, "https://example.org"), CWD).subject == ""
    assert len(levelled("x" * 100_000)) == 2000


DIFFERENT: list[tuple[str, str]] = [
    ("cat src/tmp/one.py", "cat src/tmp/two.py"),
    ("cat /tmp/one.log", "cat /tmp/two.log"),
    ("pytest tests/test_1.py", "pytest tests/test_2.py"),
    ("python3 x", "python2 x"),
    ("echo defaced", "echo effaced"),
    ("cd /srv && ls", "ls"),
]


COMMANDS: list[str] = [
    f"cd {CWD} && pytest src",
    f'cd "{CWD}" && pytest src',
    f"cd {CWD}; pytest src",
    f"pytest {CWD}/src",
    f"pytest '{CWD}/src'".replace("'", ""),
]


ITEMS = st.lists(st.sampled_from("abcd"), max_size=14)


def longest(a: list[str], b: list[str]) -> int:
    """Return the length of the longest common subsequence, by its definition."""
    lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for row, item in enumerate(a):
        for column, other in enumerate(b):
            lengths[row + 1][column + 1] = (
                lengths[row][column] + 1
                if item == other
                else max(lengths[row][column + 1], lengths[row + 1][column])
            )
    return lengths[-1][-1]


def is_common(pairs: list[tuple[int, int]], a: list[str], b: list[str]) -> bool:
    """Return whether the pairs name equal items, ascending in both."""
    ascends = all(x < u and y < v for (x, y), (u, v) in itertools.pairwise(pairs))
    return ascends and all(a[at] == b[other] for at, other in pairs)


@given(ITEMS, ITEMS, st.sampled_from([0, 5, 30, 1_000]))
def test_pairs_are_equal_items_in_order(a: list[str], b: list[str], steps: int) -> None:
    """Whatever the budget is, each pair names equal items, and no item has two partners."""
    assert is_common(matching(a, b, steps).pairs, a, b)


@given(ITEMS, ITEMS)
def test_without_steps_the_longest_common_part_is_found(a: list[str], b: list[str]) -> None:
    """What difflib has no steps left for is matched as completely as possible."""
    assert len(matching(a, b, 0).pairs) == longest(a, b)


@given(ITEMS)
def test_a_sequence_matches_itself(a: list[str]) -> None:
    """Every item of two equal sequences has its partner."""
    assert matching(a, a, 0).pairs == [(at, at) for at in range(len(a))]


@given(st.permutations(range(9)))
def test_the_ascending_part_is_a_longest_one(order: list[int]) -> None:
    """It ascends, and none is longer."""
    found = [other for _, other in ascending(list(enumerate(order)))]
    assert found == sorted(found)
    assert len(found) == longest([*map(str, order)], [*map(str, sorted(order))])


def key(words: str) -> Key:
    """Return the key of a call from its tool and its target: `read a.py`."""
    tool, _, target = words.partition(" ")
    return Key(tool, target, target.partition(" ")[0])


def steps(a: str, b: str) -> list[Step]:
    """Return the steps of two runs, whose calls are separated by commas."""
    return aligned(*([key(words) for words in run.split(", ")] for run in (a, b))).steps


def test_calls_are_paired_by_tool_and_subject() -> None:
    """In a part that differs, the nth call of a tool replaces one of the same tool, never of another. The
    same program with other arguments replaces itself, although another call comes before it. A call that one
    run makes once more is only in that run.
    """
    assert steps("read a, test x, read b, end z", "read c, read d, end z") == [
        Step(Match.REPLACED, 0, 0),
        Step(Match.ONLY_A, 1, None),
        Step(Match.REPLACED, 2, 1),
        Step(Match.EQUAL, 3, 2),
    ]
    assert steps("run pytest -q, end z", "run make lint, run pytest -x, end z") == [
        Step(Match.ONLY_B, None, 0),
        Step(Match.REPLACED, 0, 1),
        Step(Match.EQUAL, 1, 2),
    ]
    found = steps("read a, edit b, edit c, read a", "read a, read a, read a, edit b, edit c")
    assert [step.match for step in found].count(Match.MOVED) == 1
    assert [step.match for step in found].count(Match.ONLY_B) == 1
    # 200 calls are paired with 200 others, 50 at a time.
    found = steps(*(", ".join(f"read {side}{number}" for number in range(200)) for side in "ab"))
    assert [step for step in found if step.match is not Match.REPLACED] == []
    assert [(step.a, step.b) for step in found] == [(number, number) for number in range(200)]
    # Of 50 reads before an edit and 50 reads after one, 49 are paired: the bound on the time costs one. All
    # calls of the other run are only there.
    reads = [[f"read {side}{number}" for number in range(50)] for side in "ab"]
    found = steps(", ".join((*reads[0], "edit x")), ", ".join(("edit y", *reads[1])))
    assert [step.match for step in found].count(Match.REPLACED) == 49
    assert aligned([], [key("read a")]).steps == [Step(Match.ONLY_B, None, 0)]
    assert aligned([], []).steps == []
    # With steps, a run of equal items stays together, although another choice is as long. Two hostile runs of
    # 20,000 calls take the time of a sort, and the result says so.
    assert matching("abcxa", "zabcy").pairs == [(0, 1), (1, 2), (2, 3)]
    a, b = ["x", *["k"] * 20_000, "y"], ["z", *["k"] * 20_000, "w"]
    match = matching(a, b)
    assert not match.is_exact
    assert len(match.pairs) == 20_000
    assert is_common(match.pairs, a, b)
