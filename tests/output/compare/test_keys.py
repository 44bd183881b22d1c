"""Keys of calls: what two runs of the same task have in common."""

from __future__ import annotations

from agentwatch.output.compare.alignment import key_of, levelled, levelled_path
from agentwatch.session.call import Call
from agentwatch.session.events import ToolKind
from tests.conftest import case

CWD = "/home/ada/mill"


def call(kind: ToolKind, target: str | None, *, tool: str = "t", path: str | None = None) -> Call:
    """Return a call."""
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


DIFFERENT: list[tuple[str, str]] = [
    ("cat src/tmp/one.py", "cat src/tmp/two.py"),
    ("cat /tmp/one.log", "cat /tmp/two.log"),
    ("pytest tests/test_1.py", "pytest tests/test_2.py"),
    ("python3 x", "python2 x"),
    ("echo defaced", "echo effaced"),
    ("cd /srv && ls", "ls"),
]


def test_other_commands_stay_different() -> None:
    """Names, also those with digits, are kept."""
    for one, other in DIFFERENT:
        with case(one):
            assert levelled(one) != levelled(other)


COMMANDS: list[str] = [
    f"cd {CWD} && pytest src",
    f'cd "{CWD}" && pytest src',
    f"cd {CWD}; pytest src",
    f"pytest {CWD}/src",
    f"pytest '{CWD}/src'".replace("'", ""),
]


def test_a_command_is_the_same_in_two_checkouts() -> None:
    """The working directory is levelled, and a `cd` to it is left out."""
    for command in COMMANDS:
        with case(command):
            assert levelled(command, CWD) == "pytest src"


def test_a_folder_whose_name_only_begins_like_the_working_directory_is_another() -> None:
    """`/home/ada/mill2` is not inside `/home/ada/mill`."""
    assert levelled(f"ls {CWD}2/x", CWD) == "ls ~/mill2/x"
    assert levelled(f"ls {CWD}", CWD) == "ls ."
    assert levelled(f"ls /mnt{CWD}/x", CWD) == f"ls /mnt{CWD}/x"


def test_the_private_folder_of_macos_is_the_same_working_directory() -> None:
    """A command may name the working directory without `/private`."""
    assert levelled("cat /tmp/mill/a", "/private/tmp/mill") == "cat a"


def test_paths_are_relative_and_keep_small_numbers() -> None:
    """`0001.sql` and `0002.sql` are two files; a time in a name is levelled."""
    assert levelled_path(f"{CWD}/src/../a.py", CWD) == "a.py"
    assert levelled_path("db/0001.sql", CWD) != levelled_path("db/0002.sql", CWD)
    assert levelled_path("log/1700000000.txt", CWD) == levelled_path("log/1700000999.txt", CWD)


def test_two_agents_have_the_same_keys() -> None:
    """The name that an agent gives to its tool does not count, unless the kind is unknown."""
    of_one = call(ToolKind.EXECUTE, "pytest -q", tool="Bash")
    of_other = call(ToolKind.EXECUTE, "pytest -q", tool="shell")
    assert key_of(of_one, CWD) == key_of(of_other, "/srv/mill")
    unknown = [call(ToolKind.OTHER, "x", tool=tool) for tool in ("warp", "teleport")]
    assert key_of(unknown[0], CWD) != key_of(unknown[1], CWD)


def test_a_call_without_a_target_has_a_key() -> None:
    """A plan has no target, and a read may have none."""
    assert key_of(call(ToolKind.PLAN, None), None) == ("plan", "", "")
    assert key_of(call(ToolKind.READ, None), None).target == ""


def test_the_subject_is_the_file_or_the_program() -> None:
    """In a part that differs, calls with the same subject are paired first."""
    assert key_of(call(ToolKind.READ, "x", path=f"{CWD}/src/a.py"), CWD).subject == "a.py"
    assert key_of(call(ToolKind.EXECUTE, "pytest -q"), CWD).subject == "pytest"
    assert key_of(call(ToolKind.FETCH, "https://example.org"), CWD).subject == ""


def test_only_the_beginning_of_a_huge_target_counts() -> None:
    """A target of any length takes bounded time."""
    assert len(levelled("x" * 100_000)) == 2000
