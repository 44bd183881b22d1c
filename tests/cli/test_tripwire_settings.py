"""The rules of the settings: `[[on]]`."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentwatch.base.config import Config, OnSetting
from agentwatch.base.faults import Fault
from agentwatch.cli.config_file import read_config
from agentwatch.cli.options import Options
from agentwatch.cli.tripwire_settings import rules_of
from agentwatch.cli.tripwires import tripwires_of
from tests.conftest import case


def read(folder: Path, text: str) -> Config:
    """Return the settings in a file with this text."""
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    return read_config({"AGENTWATCH_CONFIG": str(path)})


def test_each_table_is_a_rule(tmp_path: Path) -> None:
    """A rule may have a name and, as in every file, a regular expression."""
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


def test_a_table_may_use_a_set_of_rules() -> None:
    """`use` names a set that is shipped; each of its rules has the action of the table, and its own name."""
    found = rules_of([{"use": "safe", "action": "note"}, {"rule": "failed>3", "action": "bell"}])
    assert [(each.name, each.action) for each in found[:2]] == [
        ("deletes outside the project", "note"),
        ("force-pushes", "note"),
    ]
    assert (len(found), found[-1]) == (9, OnSetting("failed>3", "bell"))


def test_a_pipe_has_the_rules_that_only_alert() -> None:
    """An agent that others have started is neither paused nor stopped, and that is no error."""
    config = Config(on=(OnSetting("failed>3", "bell"), OnSetting("failed>9", "stop")))
    options = Options(settings=config, on=(("calls>4", "log"),))
    found = [tripwires_of(options, is_started=each) for each in (True, False)]
    assert [[wire.name for wire in wires] for wires in found] == [
        ["calls>4", "failed>3", "failed>9"],
        ["calls>4", "failed>3"],
    ]


def test_a_wrong_table_is_an_error_in_one_line(tmp_path: Path) -> None:
    """It names the table and the nearest right word, before an agent starts."""
    cases: list[tuple[str, str]] = [
        ('on = "failed>3"', "on must be a list of tables"),
        ("on = [1]", "on must be a list of tables"),
        ('[[on]]\nrule = "failed>3"', "[[on]] number 1: action is missing"),
        ('[[on]]\naction = "bell"', "[[on]] number 1: rule is missing"),
        ('[[on]]\nrule = "failed>3"\nactoin = "x"', "unknown setting actoin (did you mean action?)"),
        ('[[on]]\nuse = "saf"\naction = "bell"', 'unknown set of rules "saf" (did you mean safe?)'),
        ('[[on]]\nuse = "safe"', "[[on]] number 1: action is missing"),
        ('[[on]]\nuse = "safe"\nrule = "a"\naction = "bell"', "use names a set of rules"),
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
