"""Hooks are added to what is there, and taken out so that nothing of them is left."""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.codex.program import HOOKS as CODEX
from agentwatch.agents.cursor.program import HOOKS as CURSOR
from agentwatch.agents.gemini.program import HOOKS as GEMINI
from agentwatch.agents.program import HookedAgent
from agentwatch.agents.registry import hooked_agents
from agentwatch.base.faults import Fault
from agentwatch.catalog.hooks import plan
from agentwatch.catalog.hooks.plan import Hooks, added, checked, removed
from tests.catalog.hooks.conftest import user_in
from tests.conftest import case

FOREIGN = {"hooks": [{"type": "command", "command": "mine.sh", "timeout": 9}], "matcher": "Bash"}
FILES = {
    "spread": json.dumps({"hooks": {"Stop": [FOREIGN], "SessionStart": [FOREIGN]}}, indent=2) + "\n",
    "tabs": json.dumps({"description": "ä", "hooks": {"PreToolUse": [FOREIGN, FOREIGN]}}, indent="\t"),
    "compact": json.dumps({"hooks": {"Stop": [FOREIGN]}}, separators=(",", ":")),
    "crlf": json.dumps({"hooks": {"Stop": [FOREIGN]}}, indent=4).replace("\n", "\r\n"),
    "odd": '{ "hooks" : {\n "Stop":[\n\n'
    + json.dumps(FOREIGN)
    + '\n  ,{"hooks":[]} ] , "Other": [ ] } }\n\n',
    "empty arrays": '{\n  "hooks": {\n    "Stop": [],\n    "PreToolUse": [ ]\n  }\n}\n',
    "empty hooks": '{"hooks": {}}',
    "no hooks": '{\n    "description": "x"\n}\n',
    "nothing": "{}",
    "strange": '{"hooks": {"Stop": [1, null, {}, {"hooks": 5}, {"hooks": [3, {"command": 4}]}]}}',
    "escaped": '{"hooks": {"Stop": [{"hooks": [{"command": "\\u00e4 \\/ 1", "n": 1.0e3}]}]}}',
}


def hooks_of(user: Path, agent: HookedAgent = CODEX, own: str = "own", **environ: str) -> Hooks:
    return Hooks(agent, {"AGENTWATCH_HOME": str(user / own), **environ}, user)


def install(hooks: Hooks) -> list[Path]:
    return hooks.install(hooks.installing())


def remove(hooks: Hooks) -> list[Path]:
    return hooks.remove(hooks.removing())


def as_cursor(text: str) -> str:
    """Return the same file in the form of Cursor."""
    return text.replace('"hooks":[{"', '"h":[{"').replace('"hooks": [', '"h": [')


def own(hooks: Hooks) -> dict[str, str]:
    """Return the commands that should be installed, by event."""
    return {event: hooks.program.command(hooks.agent.name, event) for event in hooks.agent.events}


def test_installing_adds_one_entry_for_each_event_and_removing_restores_every_byte(tmp_path: Path) -> None:
    """Foreign entries keep their place and their form, and the file its permissions."""
    for name, of_codex in FILES.items():
        for agent in (CODEX, CURSOR):
            with case(f"{name}, {agent.name}"):
                text = of_codex if agent is CODEX else as_cursor(of_codex)
                hooks = hooks_of(user_in(tmp_path / agent.name / name), agent)
                hooks.file.write_bytes(text.encode())
                hooks.file.chmod(0o640)
                before = json.loads(text)
                (copy,) = install(hooks)
                assert copy.read_bytes() == text.encode()
                assert copy.stat().st_mode & 0o777 == 0o640
                assert hooks.file.stat().st_mode & 0o777 == 0o640
                after = json.loads(hooks.file.read_bytes())
                for event, command in own(hooks).items():
                    there = before.get("hooks", {}).get(event, [])
                    assert after["hooks"][event] == [*there, agent.entry(command)]
                    after["hooks"][event] = there
                others = {
                    event: value for event, value in after["hooks"].items() if event not in agent.events
                }
                assert others == {
                    event: value
                    for event, value in before.get("hooks", {}).items()
                    if event not in agent.events
                }
                assert {**after, "hooks": 0} == {**before, "hooks": 0}
                assert hooks.status()[2:5] == (len(agent.events), 0, True)
                assert hooks.installing() == []
                remove(hooks)
                assert hooks.file.read_bytes() == text.encode()
                assert hooks.file.stat().st_mode & 0o777 == 0o640
                assert hooks.removing() == []
                assert hooks.status()[2:4] == (0, 0)


def test_a_file_of_our_own_is_created_and_removed_whole(user: Path) -> None:
    """Nothing is left in the agent's folder: no copy of the file, and no empty folder."""
    for agent in hooked_agents().values():
        with case(agent.name):
            hooks, folder = hooks_of(user, agent), user / agent.default
            assert install(hooks) == []
            assert hooks.status()[1:5] == (True, len(agent.events), 0, True)
            assert {path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_file()} == {0o600}
            assert hooks.installing() == []
            remove(hooks)
            assert ([*folder.rglob("*")], hooks.status()[2:4]) == ([], (0, 0))


def test_removing_leaves_nothing_of_ours(user: Path) -> None:
    """The copies of what the file is again, an object that only we have needed, and the program that no other
    agent runs are removed; what was there before stays, and so do other copies."""
    hooks, other = hooks_of(user), hooks_of(user, GEMINI)
    hooks.file.write_text('{"a": 1}')
    users = hooks.file.with_name("hooks.json.2026")
    users.write_text('{"a": 1}')
    install(hooks)
    install(other)
    assert remove(hooks) == []
    assert {path.name for path in hooks.file.parent.iterdir()} == {"hooks.json", "hooks.json.2026"}
    assert hooks.program.is_installed
    remove(other)
    assert not hooks.program.folder.exists()
    for before, after in (
        ('{"a": 1}', {"a": 1, "late": 2}),
        ('{"hooks": {}}', {"hooks": {}, "late": 2}),
        (None, {"late": 2}),
    ):
        with case(before):
            for path in hooks.file.parent.iterdir():
                path.unlink()
            if before is not None:
                hooks.file.write_text(before)
            install(hooks)
            hooks.file.write_text(json.dumps({**json.loads(hooks.file.read_text()), "late": 2}))
            remove(hooks)
            assert json.loads(hooks.file.read_text()) == after


def test_what_was_changed_meanwhile_stays(user: Path) -> None:
    """Only our entries are taken out; a foreign hook in our group stays, and empty arrays go."""
    hooks = hooks_of(user)
    hooks.file.write_text(FILES["spread"])
    install(hooks)
    document = json.loads(hooks.file.read_text())
    foreign = {"type": "command", "command": "late.sh"}
    document["hooks"]["Stop"].insert(0, {"hooks": [foreign]})
    document["hooks"]["PreToolUse"][0]["hooks"].insert(0, foreign)
    document["hooks"]["Late"] = [{"hooks": [foreign]}]
    document["more"] = "é"
    hooks.file.write_text(json.dumps(document, indent=3))
    (copy,) = remove(hooks)
    assert json.loads(copy.read_text()) == document
    assert json.loads(hooks.file.read_text()) == {
        "hooks": {
            "Stop": [{"hooks": [foreign]}, FOREIGN],
            "SessionStart": [FOREIGN],
            "PreToolUse": [{"hooks": [foreign]}],
            "Late": [{"hooks": [foreign]}],
        },
        "more": "é",
    }
    assert '\n   "hooks": {\n      "Stop": [' in hooks.file.read_text()
    # The others stay as they are.
    hooks.file.unlink()
    install(hooks)
    whole = json.loads(hooks.file.read_text())
    partly = json.loads(hooks.file.read_text())
    del partly["hooks"]["Stop"], partly["hooks"]["PreToolUse"][0]
    hooks.file.write_text(json.dumps(partly))
    assert hooks.status()[2:4] == (len(CODEX.events) - 2, 0)
    install(hooks)
    assert json.loads(hooks.file.read_text()) == whole


def test_entries_for_another_folder_are_replaced(user: Path) -> None:
    """There is never a second entry of ours for an event; none comes back from a copy."""
    install(hooks_of(user, own="old"))
    hooks = hooks_of(user)
    assert hooks.status()[2:5] == (0, len(CODEX.events), False)
    install(hooks)
    assert hooks.status()[2:5] == (len(CODEX.events), 0, True)
    document = json.loads(hooks.file.read_text())
    assert {len(entries) for entries in document["hooks"].values()} == {1}
    remove(hooks)
    assert not hooks.file.exists()
    old = hooks_of(user, own="old")
    old.file.write_text(FILES["spread"])
    install(old)
    hooks = hooks_of(user)
    install(hooks)
    remove(hooks)
    assert hooks.file.read_text() == FILES["spread"]


def test_what_is_not_ours_in_an_extension_stays(user: Path) -> None:
    """Only empty folders of our extension are removed; hooks that were added to it stay."""
    hooks = hooks_of(user, GEMINI)
    install(hooks)
    mine = hooks.file.parent.parent / "mine.txt"
    mine.write_text("x")
    remove(hooks)
    assert mine.exists()
    assert not hooks.file.parent.exists()
    install(hooks)
    document = json.loads(hooks.file.read_text())
    document["hooks"]["BeforeTool"].append(FOREIGN)
    hooks.file.write_text(json.dumps(document))
    (copy,) = remove(hooks)
    assert json.loads(copy.read_text()) == document
    assert json.loads(hooks.file.read_text()) == {"hooks": {"BeforeTool": [FOREIGN]}}
    assert (hooks.file.parent.parent / "gemini-extension.json").exists()


def test_the_environment_names_the_folders(user: Path, tmp_path: Path) -> None:
    """A relative path is ignored, as the agent was started elsewhere."""
    there = str(tmp_path / "there")
    assert hooks_of(user, CODEX, CODEX_HOME=there).file == tmp_path / "there/hooks.json"
    assert hooks_of(user, CODEX, CODEX_HOME="there").file == user / ".codex/hooks.json"
    gemini = hooks_of(user, GEMINI, GEMINI_CLI_HOME=there).file
    assert gemini == tmp_path / "there/.gemini/extensions/agentwatch/hooks/hooks.json"


def test_what_fails_leaves_the_file_as_it_was(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No part of a file is left over, and what another program has written meanwhile is kept."""
    hooks = hooks_of(user)
    hooks.file.write_text(FILES["spread"])
    changes = hooks.installing()
    hooks.file.write_text(FILES["tabs"])
    with pytest.raises(OSError, match="changed meanwhile"):
        hooks.install(changes)
    assert hooks.file.read_text() == FILES["tabs"]
    # If all names of copies are taken, the file stays as it is.
    with monkeypatch.context() as patch:
        patch.setattr(plan, "_MOST_KEPT", 0)
        with pytest.raises(FileExistsError, match="too many copies"):
            install(hooks)
    assert hooks.file.read_text() == FILES["tabs"]
    # A full disk leaves the file as it was.
    hooks.program.install()
    changes = hooks.installing()

    def fail(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        hooks.install(changes)
    assert hooks.file.read_text() == FILES["tabs"]
    assert [path.name for path in hooks.file.parent.iterdir() if path.name.startswith(".")] == []


def test_copies_never_overwrite_each_other(user: Path) -> None:
    """Several changes in one second leave several copies; one that cannot be used is passed over."""
    hooks = hooks_of(user)
    hooks.file.write_text(FILES["spread"])
    copies = []
    for _ in range(5):
        copies += install(hooks)
        hooks.file.write_text(hooks.file.read_text().replace("mine.sh", "mine.sh -x"))
        copies += remove(hooks)
    assert len(set(copies)) == 10
    assert copies[0].read_text() == FILES["spread"]
    hooks.file.write_text(FILES["spread"])
    # It is a link, is not a file with hooks, or is not what was there before.
    install(hooks)
    hooks.file.with_name("hooks.json.29990101-000000").symlink_to(hooks.file)
    hooks.file.with_name("hooks.json.29990101-000000-1").write_text("{,}")
    hooks.file.with_name("hooks.json.29990101-000000-2").write_text("{}")
    remove(hooks)
    assert hooks.file.read_text() == FILES["spread"]
    # A log says for ever what was last so; those of other agents stay.
    install(hooks)
    for name in ("codex", "cursor"):
        (hooks.program.folder / name).mkdir()
        (hooks.program.folder / name / "a.log").write_text("{}\n")
    assert hooks.status().last_ms is not None
    remove(hooks)
    assert not (hooks.program.folder / "codex").exists()
    assert (hooks.program.folder / "cursor/a.log").exists()


def test_a_diff_shows_each_changed_line(user: Path) -> None:
    """It names the file, and lines of other parts of the file are not in it."""
    hooks = hooks_of(user, CURSOR)
    hooks.file.write_text(json.dumps({"version": 1, "hooks": {}, "more": list(range(50))}, indent=2))
    (change,) = hooks.installing()
    lines = list(change.diff())
    assert lines[:2] == [f"--- {hooks.file}", f"+++ {hooks.file}"]
    assert [line for line in lines[2:] if line.startswith("-")] == ['-  "hooks": {},']
    assert sum("agentwatch-hook" in line for line in lines) == len(CURSOR.events)
    assert len(lines) < 60


# A file that is not understood, or is not the user's own, is left alone.


def states(folder: Path) -> dict[Path, tuple[int, ...]]:
    """Return what a write would change of the files in a folder; reading changes only their access time."""
    found = {path: path.lstat() for path in folder.rglob("*")}
    return {
        path: (status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        for path, status in found.items()
    }


def left_alone(hooks: Hooks, why: str) -> None:
    """Check that a file is refused, and that nothing was written."""
    before = states(hooks.file.parent)
    for act in (hooks.installing, hooks.removing, hooks.status):
        with pytest.raises(Fault, match=why) as caught:
            act()
        assert caught.value.exit_code == 2
        assert "\n" not in str(caught.value)
    assert states(hooks.file.parent) == before
    assert not hooks.program.path.exists()


def test_a_file_that_is_not_understood_is_left_alone(user: Path) -> None:
    """The fault names the file and the reason in one line."""
    cases: list[tuple[bytes, str]] = [
        (b"", "not valid JSON"),
        (b'{"hooks": {},}', "not valid JSON"),
        (b'{} // "hooks"', "not valid JSON"),
        (b"\xef\xbb\xbf{}", "not valid JSON"),
        (b'{"a": "\xff"}', "not valid JSON"),
        (b'{"hooks": {}, "hooks": {}}', "key twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "not an object"),
        (b'{"hooks": []}', "`hooks` are not an object"),
        (b'{"hooks": null}', "`hooks` are not an object"),
        (b'{"hooks": {"Stop": {}}}', "not an array"),
        (b'{"hooks": {"Other": "x"}}', "not an array"),
        (b" " * ((1 << 20) + 1), "too large"),
    ]
    for data, why in cases:
        with case(f"{data!r:.40}"):
            hooks = hooks_of(user)
            hooks.file.write_bytes(data)
            left_alone(hooks, why)


def link(path: Path) -> None:
    """Make a link."""
    path.with_name("target").write_text("{}")
    path.symlink_to("target")


def second_name(path: Path) -> None:
    """Make a file with two names."""
    path.write_text("{}")
    os.link(path, path.with_name("other"))


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link, a file with another name, a FIFO, a folder and a file of another user are not replaced."""
    makes: dict[str, tuple[Callable[[Path], Any], str]] = {
        "link": (link, "is a link"),
        "dangling": (lambda path: path.symlink_to("gone"), "is a link"),
        "second name": (second_name, "another name"),
        "fifo": (os.mkfifo, "not a regular file"),
        "folder": (os.mkdir, "not a regular file|directory"),
    }
    for name, (make, why) in makes.items():
        with case(name):
            hooks = hooks_of(user_in(tmp_path / name))
            make(hooks.file)
            left_alone(hooks, why)
    # The form of another version of Cursor's file may be another one.
    hooks = hooks_of(user_in(tmp_path / "cursor"), CURSOR)
    hooks.file.write_text('{"version": 2, "hooks": {}}')
    left_alone(hooks, "version is not 1")
    # Neither file of a foreign extension of the same name is replaced or deleted.
    for name in ("gemini-extension.json", "hooks/hooks.json"):
        with case(name):
            user = user_in(tmp_path / name)
            path = user / ".gemini/extensions/agentwatch" / name
            path.parent.mkdir(parents=True)
            path.write_text('{"name": "agentwatch", "hooks": {"x": [{"hooks": [{"command": "mine"}]}]}}')
            hooks = hooks_of(user, GEMINI)
            for act in (hooks.installing, hooks.removing):
                with pytest.raises(Fault, match="not from agentwatch"):
                    act()
    # A file of another user is not read either.
    hooks = hooks_of(user_in(tmp_path / "user"))
    hooks.file.write_text("{}")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    left_alone(hooks, "another user")


def test_where_nothing_can_be_installed_nothing_is(user: Path) -> None:
    """Installing needs the agent's folder, and a file in place of a folder is not an extension."""
    (user / ".codex").rmdir()
    hooks = hooks_of(user)
    with pytest.raises(Fault, match="never started"):
        hooks.installing()
    assert hooks.removing() == []
    assert not hooks.status().is_there
    (user / ".gemini/extensions").write_text("")
    hooks = hooks_of(user, GEMINI)
    assert hooks.status()[2:4] == (0, 0)
    assert hooks.removing() == []
    with pytest.raises(OSError, match="extensions"):
        hooks.install(hooks.installing())
    assert (user / ".gemini/extensions").read_text() == ""


# A JSON document is changed at one place, and all the rest keeps its form.

DOCUMENT = """{
    "b" :  [1.0e2,2 , "\\u00e4\\/"],
\t"a": { "x": [ {"k": 1} ], "empty": [ ], "none": {} },
    "last": [
        {"one": 1},
        {
            "two": 2
        }
    ]
}
"""


PLACES: list[tuple[list[str | int], str]] = [
    (["b", 3], 'e4\\/", {"v": 7}]'),
    (["a", "new"], '"none": {}, "new": {"v": 7} }'),
    (["a", "x", 1], '[ {"k": 1}, {"v": 7} ]'),
    (["a", "empty", 0], '"empty": [\n\t    {\n\t        "v": 7\n\t    }\n\t]'),
    (["a", "none", "k"], '"none": {\n\t    "k": {\n\t        "v": 7\n\t    }\n\t}'),
    (["last", 2], '        },\n        {\n            "v": 7\n        }\n    ]\n'),
    (["new"], '    ],\n    "new": {\n        "v": 7\n    }\n}\n'),
]


def test_a_value_is_added_in_the_form_of_its_neighbours() -> None:
    """Indentation, spaces and line ends are those that are there, and nothing else changes."""
    for newline in ("\n", "\r\n"):
        for path, piece in PLACES:
            with case(f"{newline!r}, {path}"):
                text = DOCUMENT.replace("\n", newline)
                new = added(text, path, {"v": 7})
                assert piece.replace("\n", newline) in new
                assert new.count("\r") == (new.count("\n") if newline == "\r\n" else 0)
                at: Any = json.loads(new)
                for key in path:
                    at = at[key]
                assert at == {"v": 7}
                assert json.loads(removed(new, path)) == json.loads(text)
                if piece.count("[\n") + piece.count("{\n\t") == 0:
                    assert removed(new, path) == text


def test_a_document_in_one_line_stays_in_one_line() -> None:
    """A document without indentation gets none, and what is not JSON is an error."""
    for text in ("{}", " { } ", '{"a":{}}', "{\n}"):
        with case(text):
            new = added(text, ["k"], [1])
            assert json.loads(new) == {**json.loads(text), "k": [1]}
            assert new.count("\n") <= text.count("\n")
    for text in ("", "{", "{} {}", '{"a":1,"a":2}', "{'a':1}", '{"a":NaN}', "[" * 100_000):
        with case(f"{text:.20}"), pytest.raises(ValueError, match=r"."):
            checked(text)


def some_value(source: random.Random, depth: int = 0) -> Any:
    """Return a random JSON value."""
    kind = source.randrange(5 if depth < 3 else 3)
    if kind < 3:
        return source.choice([None, True, 1, -2.5, "", 'a"]}[{,:', "ä\\ \n", "x"])
    size = source.randrange(4)
    if kind == 3:
        return [some_value(source, depth + 1) for _ in range(size)]
    return {f'k,"{number}': some_value(source, depth + 1) for number in range(size)}


def containers(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    """Return all arrays and objects in a value, with the path of each."""
    if not isinstance(value, dict | list):
        return []
    members = value.items() if isinstance(value, dict) else enumerate(value)
    inner = [found for key, each in members for found in containers(each, (*path, key))]
    return [(path, value), *inner]


def test_any_document_keeps_its_other_values() -> None:
    """Whatever is added anywhere is there, and is the only difference; removing it is the way back."""
    for seed in range(200):
        with case(f"seed {seed}"):
            source = random.Random(seed)
            value = {"r": some_value(source), "s": [some_value(source)]}
            indent = source.choice([None, 1, 2, "\t"])
            text = json.dumps(value, indent=indent, ensure_ascii=source.random() < 0.5)
            path, container = source.choice(containers(value))
            key: str | int = "new" if isinstance(container, dict) else len(container)
            new = added(text, [*path, key], {"v": [1]})
            if isinstance(container, dict):
                container["new"] = {"v": [1]}
            else:
                container.append({"v": [1]})
            assert json.loads(new) == value
            assert list(json.loads(new)) == list(value)
            assert removed(new, [*path, key]) == text
