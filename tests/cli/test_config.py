"""Settings and rules of the file take effect, and each mistake in it is reported in one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentwatch.base.config import Config, OnSetting, SessionRule
from agentwatch.base.faults import USAGE, Fault
from agentwatch.base.files import config_folder
from agentwatch.cli.config_file import read_acts_allowed, read_config, read_keep_ms, read_runs, rules_of
from agentwatch.cli.options import Options
from agentwatch.cli.tripwires import tripwires_of
from agentwatch.screen.keys import bound_keys
from tests.conftest import ROOT, case


def read(tmp_path: Path, text: str | bytes) -> Config:
    """Return the configuration read from a file with this content."""
    path = tmp_path / "config.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_config({"AGENTWATCH_CONFIG": str(path)})


def fault(tmp_path: Path, text: str | bytes) -> str:
    """Return the error message for a faulty file, without the file's name."""
    with pytest.raises(Fault) as found:
        read(tmp_path, text)
    assert found.value.exit_code == USAGE
    message = str(found.value)
    assert message.isprintable()
    assert message.startswith(f"{tmp_path}/config.toml: ")
    return message.removeprefix(f"{tmp_path}/config.toml: ")


def test_every_setting_has_its_effect(tmp_path: Path) -> None:
    """Each section and each key has its effect."""
    text = """
        [keys]
        pause = "f9,ctrl+g"
        leave = "Q"
        [screen]
        theme = "nord"
        thinking = true
        [attention]
        bell = false
        note = false
        title = false
    """
    keys = {"pause": "f9,ctrl+g", "leave": "Q"}
    assert read(tmp_path, text) == Config(keys, "nord", True, False, False, False)
    # An empty file, and /dev/null, leave every default unchanged
    assert read(tmp_path, "") == read_config({"AGENTWATCH_CONFIG": "/dev/null"}) == Config()
    assert read(tmp_path, "[attention]\nbell = false") == Config(bell=False)
    assert read(tmp_path, "[sessions]\nring = 'none'") == Config(ring="none")
    # Every act is off until its switch is on; the switches are read without the settings of the screen
    assert read(tmp_path, "").act == frozenset()
    assert read(tmp_path, "[act]\ncontinue = true\nqueue = false\nanswer = true").act == {
        "continue",
        "answer",
    }
    assert fault(tmp_path, "[act]\nkill = true").startswith("[act] unknown setting kill")
    assert fault(tmp_path, "[act]\nanswer = 'yes'").startswith("[act] answer: expected true or false")
    path = tmp_path / "config.toml"
    path.write_text("[act]\ninterrupt = true\n[screen]\ntheme = 'neon'")
    assert read_acts_allowed({"AGENTWATCH_CONFIG": str(path)}) == {"interrupt"}
    # The age of `--prune` is read without the settings of the screen; without it there is none
    for words, ms in (("30d", 2_592_000_000), ("12h", 43_200_000)):
        path.write_text(f"[sessions]\nkeep = '{words}'\n[screen]\ntheme = 'neon'")
        assert read_keep_ms({"AGENTWATCH_CONFIG": str(path)}) == ms
    path.write_text("[screen]\nthinking = true")
    assert read_keep_ms({"AGENTWATCH_CONFIG": str(path)}) is None
    assert read_keep_ms({"AGENTWATCH_CONFIG": "/dev/null"}) is None


def test_the_file_is_a_small_regular_one_in_the_config_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without AGENTWATCH_CONFIG, config.toml in the user's agentwatch config folder is read if it exists. A
    device is read without end, and a FIFO waits for ever; a link to a file is followed.
    """
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_config({}) == Config()
    folder = config_folder()
    assert folder == tmp_path / "agentwatch"
    folder.mkdir(parents=True)
    default = folder / "config.toml"
    default.write_text("[screen]\nthinking = true\n")
    assert read_config({}) == Config(thinking=True)
    assert read_config({"AGENTWATCH_CONFIG": ""}) == Config(thinking=True)
    fifo, large, link = (tmp_path / name for name in ("fifo", "large", "link"))
    os.mkfifo(fifo)
    large.write_bytes(b"#" * ((1 << 20) + 1))
    link.symlink_to(large)
    for path, said in (
        ("/dev/zero", "cannot open /dev/zero: not a regular file"),
        (fifo, f"cannot open {fifo}: not a regular file"),
        (tmp_path, f"cannot open {tmp_path}: "),
        (large, f"{large}: larger than 1024 KiB"),
        (link, f"{link}: larger than 1024 KiB"),
    ):
        with case(path), pytest.raises(Fault) as found:
            read_config({"AGENTWATCH_CONFIG": str(path)})
        assert str(found.value).startswith(said)
        assert found.value.exit_code == USAGE
    os.truncate(large, 1 << 20)
    assert read_config({"AGENTWATCH_CONFIG": str(link)}) == Config()
    default.rename(tmp_path / "dotfile")
    default.symlink_to(tmp_path / "dotfile")
    assert read_config({}).thinking
    for name in (fifo, "/dev/zero"):
        default.unlink()
        default.hardlink_to(name) if name == fifo else default.symlink_to(name)
        with case(name), pytest.raises(Fault, match="not a regular file"):
            read_config({})


MISTAKES: list[tuple[str | bytes, str]] = [
    ("[attention]\nbell: true", "not valid TOML: Expected '=' after a key"),
    ("\n\n[screen\nx = 1", "not valid TOML: Expected ']' at the end of a table declaration (at line 3"),
    (b"[screen]\ntheme = '\xff'", "not valid UTF-8 at byte 18"),
    ("a = " + "[" * 20_000, "not valid TOML"),
    ("[atention]", "unknown section atention; known sections: [keys], [screen], [attention], [sessions], "),
    ("[sessions]\nring = 'some'", "[sessions] unknown ring some; known rings: all, none"),
    ("[sessions]\nkeep = 'a month'", "[sessions] keep: 'a month' is not an age; an age is 90s, 30m, 2h, 30d"),
    ("[sessions]\nkeep = 30", "[sessions] keep: expected a string in quotes, got 30"),
    ("attention = 1", "attention must be a table: [attention]"),
    ("[attention]\nbel = true", "[attention] unknown setting bel; known settings: bell, note, title"),
    ("[screen]\ncolour = true", "[screen] unknown setting colour; known settings: theme, thinking"),
    ("[attention]\nbell = 'yes'", "[attention] bell: expected true or false, got 'yes'"),
    ("[screen]\nthinking = 1", "[screen] thinking: expected true or false, got 1"),
    ("[screen]\ntheme = true", "[screen] theme: expected a string in quotes, got True"),
    ("[screen]\ntheme = 'neon'", "[screen] unknown theme neon; known themes: ansi-dark, "),
    ("[keys]\npause = ['f']", "[keys] pause: expected a string in quotes, got ['f']"),
    ("[keys]\nfrieze = 'f'", "[keys] unknown binding frieze; known bindings: "),
    ("[keys]\npause = ''", "[keys] pause: an empty string is not a key (examples:"),
    ("[keys]\npause = 'x,'", "[keys] pause: x, is not a key (examples:"),
    ("[keys]\npause = 'Ctrl+G'", "[keys] pause: Ctrl+G is not a key (examples: f, ctrl+g"),
    ("[keys]\npause = 'ctrl+'", "[keys] pause: ctrl+ is not a key"),
    ("[keys]\npause = 'Full_Stop'", "[keys] pause: Full_Stop is not a key"),
    ("[keys]\npause = 'blank'", "[keys] pause: blank is not a key"),
    ("[keys]\npause = 'e'", "[keys] pause: e is already the key of next-failure; rebind that too"),
    ("[keys]\npause = 'ctrl+g'\nleave = 'f8,ctrl+g'", "[keys] pause: ctrl+g is already the key of leave"),
    ('"\\u001b]0;x\\u0007\\n" = 1', "unknown section ␛]0;x␇␊"),
    ("[screen]\ntheme = '" + "x" * 500 + "'", f"[screen] unknown theme {'x' * 39}…; known"),
]


def test_a_mistake_is_reported_in_one_line(tmp_path: Path) -> None:
    """A message names the file, the line or key, and what is expected, in one line; the exit code is 2. A
    configured file that does not exist, or is a folder, is a usage error.
    """
    for text, message in MISTAKES:
        with case(message):
            assert fault(tmp_path, text).startswith(message)
    for path in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(Fault, match="cannot open") as found:
            read_config({"AGENTWATCH_CONFIG": str(path)})
        assert found.value.exit_code == USAGE
    # A key can move to another binding if its old one gets a new key; key names and signs are equal. A key
    # may be bound in the list and in a session; in one screen, it has one meaning
    text = "[keys]\npause = 'e'\nnext-failure = 'y,.'\ncopy = 'f7'\nstep = 'full_stop,f9'"
    assert (
        fault(tmp_path, text) == "[keys] next-failure: full_stop is already the key of step; rebind that too"
    )
    text = "[keys]\npause = 'e'\nnext-failure = 'y,.'\ncopy = 'f7'\nstep = 'ctrl+full_stop,f5,?'\nhelp = 'f1'"
    assert read(tmp_path, text).keys["pause"] == "e"
    text = "[keys]\npause = 'a'\nshow-hidden = 'F'\nfind-session = 'n'"
    assert read(tmp_path, text).keys["pause"] == "a"
    for keys, fault_words in (
        ("show-hidden = 'r'", "show-hidden: r is already the key of ring; rebind that too"),
        ("ring = 'j'", "ring: j is already the key of down; rebind that too"),
        ("leave = 'd'", "leave: d is already the key of delete-session; rebind that too"),
        ("next-urgent = '?'", "next-urgent: question_mark is already the key of help; rebind that too"),
    ):
        assert fault(tmp_path, f"[keys]\n{keys}") == f"[keys] {fault_words}"


@pytest.mark.slow
def test_every_binding_that_can_be_rebound_has_keys_that_can_be_pressed(tmp_path: Path) -> None:
    """Every binding with an id and a key accepts its own default keys again, all bindings at once."""
    known = {name: keys for name, keys in bound_keys({}).items() if keys}
    assert known["pause"] == ["space"]
    assert known["down"] == ["j", "down"]
    text = "[keys]\n" + "".join(f"{name} = '{','.join(keys)}'\n" for name, keys in known.items())
    assert set(read(tmp_path, text).keys) == set(known)


def test_every_binding_theme_and_column_is_documented() -> None:
    """The pages of settings and keys name every binding that can be rebound, every theme and column."""
    from textual.theme import BUILTIN_THEMES

    from agentwatch.screen.screens.sessions.cells import NAMES

    pages = (ROOT / "docs" / "config.md", ROOT / "docs" / "reference" / "keys.md")
    documentation = "".join(page.read_text(encoding="utf-8") for page in pages)
    names = [f"`{name}`" for name in (*bound_keys({}), *BUILTIN_THEMES)] + [f'`"{name}"`' for name in NAMES]
    assert [name for name in names if name not in documentation] == []


@pytest.mark.slow
def test_a_file_without_keys_and_theme_loads_no_screen(tmp_path: Path) -> None:
    """Settings that name no binding and no theme are read without importing Textual."""
    path = tmp_path / "config.toml"
    path.write_text("[attention]\nbell = false\n")
    program = (
        "import sys; from agentwatch.cli.config_file import read_config; read_config(); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"AGENTWATCH_CONFIG": str(path), "PATH": ""},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert "tomllib" in done.stdout
    assert {"textual", "rich"}.isdisjoint(done.stdout.split())


def test_each_table_is_a_rule_or_a_set(tmp_path: Path) -> None:
    """A rule may have a name and, as in every file, a regular expression. `use` names a set that is shipped;
    each of its rules has the action of the table, and its own name. The program is a name on the PATH, a
    whole path, or one below the home folder.
    """
    text = """
[[on]]
rule = 'command:re:/rm +-rf/'
action = "pause"
name = "removes"
[[on]]
rule = "failed>3"
action = "bell"
"""
    assert read(tmp_path, text).on == (
        OnSetting("command:re:/rm +-rf/", "pause", "removes"),
        OnSetting("failed>3", "bell"),
    )
    found = rules_of([{"use": "safe", "action": "note"}, {"rule": "failed>3", "action": "bell"}])
    assert [(each.name, each.action) for each in found[:2]] == [
        ("deletes outside the project", "note"),
        ("force-pushes", "note"),
    ]
    assert (len(found), found[-1]) == (9, OnSetting("failed>3", "bell"))
    text = """
[[on]]
rule = "failed>3"
action = "run"
command = ["~/bin/tell", "a b"]
[[sessions.on]]
event = "ended"
action = "run"
command = ["/bin/true"]
[[sessions.on]]
event = "needs-you"
action = "run"
name = "push"
command = ["ntfy"]
[sessions]
ring = "none"
"""
    config = read(tmp_path, text)
    assert config.on == (OnSetting("failed>3", "run", "", (os.path.expanduser("~/bin/tell"), "a b")),)
    assert config.on_sessions == (
        SessionRule("ended", "ended", ("/bin/true",)),
        SessionRule("needs-you", "push", ("ntfy",)),
    )
    assert config.ring == "none"
    # A bell of the settings does not ring in a pipeline.
    text = """
[screen]
theme = "no theme, which printing does not need"
[[on]]
rule = "failed>3"
action = "bell"
[[on]]
rule = "failed>4"
action = "run"
command = ["true"]
[[sessions.on]]
event = "failed"
action = "run"
command = ["true"]
"""
    path = tmp_path / "config.toml"
    path.write_text(text)
    runs = read_runs({"AGENTWATCH_CONFIG": str(path)})
    assert ([each.rule for each in runs.on], len(runs.on_sessions)) == (["failed>4"], 1)
    # An agent that others have started is neither paused nor stopped, and that is not an error.
    both = Config(on=(OnSetting("failed>3", "bell"), OnSetting("failed>9", "stop")))
    options = Options(settings=both, on=(("calls>4", "log"),))
    wires = [tripwires_of(options, is_started=each) for each in (True, False)]
    assert [[wire.name for wire in each] for each in wires] == [
        ["calls>4", "failed>3", "failed>9"],
        ["calls>4", "failed>3"],
    ]
    # The agents to which the bell is left are named by their short names.
    assert read(tmp_path, '[attention]\nleave_to = ["cursor"]').leave_to == ("cursor",)


def test_a_wrong_table_is_an_error_in_one_line(tmp_path: Path) -> None:
    """It names the table and the nearest right word, before an agent starts."""
    cases: list[tuple[str, str]] = [
        ('on = "failed>3"', "on must be a list of tables"),
        ("on = [1]", "on must be a list of tables"),
        ('[[on]]\nrule = "failed>3"', "[[on]] number 1: action is missing"),
        ('[[on]]\naction = "bell"', "[[on]] number 1: rule is missing"),
        ('[[on]]\nrule = "failed>3"\nactoin = "x"', "unknown setting actoin (did you mean action?)"),
        ('[[on]]\nrule = "a"\naction = "run"', 'action = "run" and command need each other'),
        (
            '[[on]]\nrule = "a"\naction = "bell"\ncommand = ["x"]',
            'action = "run" and command need each other',
        ),
        *(
            (f'[[on]]\nrule = "a"\naction = "run"\ncommand = {command}', complaint)
            for command, complaint in (
                ('"x"', "command must be a list of strings in quotes"),
                ("[]", "command must be a list of strings in quotes"),
                ('[""]', "command must be a list of strings in quotes"),
                ('["x", 1]', "command must be a list of strings in quotes"),
                ('["x", "a\\u0000b"]', "command must be a list of strings in quotes"),
                ('["./x"]', "./x must be a whole path, or a name on the PATH"),
                ('["bin/x"]', "bin/x must be a whole path, or a name on the PATH"),
            )
        ),
        (
            '[[sessions.on]]\nevent = "end"\naction = "run"\ncommand = ["x"]',
            "event must be one of: needs-you,",
        ),
        ('[[sessions.on]]\naction = "run"\ncommand = ["x"]', "event must be one of: needs-you,"),
        ('[[sessions.on]]\nevent = "ended"\naction = "bell"', "action must be one of: run"),
        ('[[sessions.on]]\nevent = "ended"\naction = "run"', "[[sessions.on]] number 1: command is missing"),
        ('[[sessions.on]]\nevnt = "ended"', "unknown setting evnt (did you mean event?)"),
        ('[sessions]\non = ["x"]', "[sessions] on must be a list of tables"),
        ('[attention]\nleave_to = ["curser"]', "leave_to: unknown agent curser; known agents: "),
        ("[attention]\nleave_to = [1]", "leave_to: unknown agent 1; known agents: "),
        ('[attention]\nleave_to = [["pi"]]', "leave_to: unknown agent ['pi']; known agents: "),
        ('[[on]]\nuse = "saf"\naction = "bell"', 'unknown set of rules "saf" (did you mean safe?)'),
        ('[[on]]\nuse = "safe"', "[[on]] number 1: action is missing"),
        ('[[on]]\nuse = "safe"\nrule = "a"\naction = "bell"', "use names a set of rules"),
        ('[[on]]\nuse = "safe"\nname = "a"\naction = "bell"', "use names a set of rules"),
        ("[[on]]\nrule = 3", "[[on]] number 1: rule must be a string in quotes"),
        ('[[on]]\nrule = "pth:x"\naction = "bell"', 'unknown field "pth" (did you mean path?)'),
        ('[[on]]\nrule = "a"\naction = "bel"', 'unknown action "bel" (did you mean bell?)'),
    ]
    for text, complaint in cases:
        with case(text):
            with pytest.raises(Fault) as caught:
                read(tmp_path, text)
            assert complaint in str(caught.value)
            assert "\n" not in str(caught.value)
