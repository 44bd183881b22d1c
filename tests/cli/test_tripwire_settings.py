"""The rules of the settings: `[[on]]`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentwatch.base.config import Config, OnSetting, SessionRule
from agentwatch.base.faults import Fault
from agentwatch.cli.config_file import read_config, read_runs, rules_of
from agentwatch.cli.options import Options
from agentwatch.cli.tripwires import tripwires_of
from tests.conftest import case


def read(folder: Path, text: str) -> Config:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    return read_config({"AGENTWATCH_CONFIG": str(path)})


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
