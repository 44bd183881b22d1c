"""Shell completion of commands, options and files."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from agentwatch.wire.agents import known_agents
from tests.conftest import ROOT

MAIN = "import sys; sys.argv[0] = 'agentwatch'; from agentwatch.cli.app import main; main()"


def completed(*words: str) -> list[str]:
    """Return the completions that bash is offered for the last word."""
    asked = {"COMP_WORDS": " ".join(("agentwatch", *words)), "COMP_CWORD": str(len(words))}
    done = subprocess.run(
        [sys.executable, "-c", MAIN],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | asked | {"_AGENTWATCH_COMPLETE": "bash_complete"},
        check=True,
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("rep",), ["file,rep", "plain,replay"]),
        (("dr",), ["file,dr", "plain,drift"]),
        (("--out",), ["plain,--output-format"]),
        (("--output-format", "su"), ["plain,summary"]),
        (("--output-format", "f"), ["plain,final"]),
        (("--format", "cu"), ["plain,cursor", "plain,cursor-transcript"]),
        (
            ("drift", "--format", "a"),
            [f"plain,{agent.name}" for agent in known_agents() if agent.name[0] == "a"],
        ),
        (("run", "--no-l"), ["plain,--no-log"]),
        (("replay", "x"), ["file,x"]),
    ],
)
def test_the_last_word_is_completed(words: tuple[str, ...], offered: list[str]) -> None:
    """The first word completes to commands, options and files; later words complete to that command's own."""
    assert completed(*words) == offered
