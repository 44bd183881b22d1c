"""The command `completion`: a script for each shell, which the shell can read."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentwatch.agents.registry import known_agents
from agentwatch.cli.subcommands import SHELLS
from tests.builders.machine.fake import fake_machine
from tests.conftest import ROOT, case
from tests.harness.program import PLAIN, ran

READ = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}
"""The commands that check the syntax of a script."""


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_that_of_click_and_the_shell_reads_it(shell: str, tmp_path: Path) -> None:
    """It is the one that click prints for the variable of the program, and has no error."""
    source = ran(_AGENTWATCH_COMPLETE=f"{shell}_source").stdout
    done = ran("completion", shell)
    assert (done.returncode, done.stderr, done.stdout.strip()) == (0, b"", source.strip())
    assert b"_AGENTWATCH_COMPLETE" in source
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_bytes(done.stdout)
    read = subprocess.run([*READ[shell], script], capture_output=True, text=True, check=False)
    assert (read.returncode, read.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    """After the script was read, bash offers the commands that begin with a word, and not only files."""
    program = tmp_path / "agentwatch"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m agentwatch "$@"\n')
    program.chmod(0o755)
    asks = (
        'compopt() { :; }; eval "$(agentwatch completion bash)"; COMP_WORDS=(agentwatch compl) COMP_CWORD=1; '
        '_agentwatch_completion agentwatch; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", asks],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("completion\n", "")


def completed(*words: str, cwd: Path = ROOT, **environ: str) -> list[str]:
    """Return the completions that bash is offered for the last word."""
    asked = {"COMP_WORDS": " ".join(("agentwatch", *words)), "COMP_CWORD": str(len(words))}
    done = ran(cwd=cwd, _AGENTWATCH_COMPLETE="bash_complete", **asked, **environ)  # type: ignore[arg-type]
    assert done.returncode == 0
    return done.stdout.decode().split()


def test_the_last_word_is_completed(tmp_path: Path) -> None:
    """The first word completes to commands, options and files; later words complete to that command's own."""
    cases: list[tuple[tuple[str, ...], list[str]]] = [
        (("rep",), ["file,rep", "plain,replay"]),
        (("doc",), ["file,doc", "plain,doctor"]),
        (("--out",), ["plain,--output-format"]),
        (("--output-format", "su"), ["plain,summary"]),
        (("--output-format", "f"), ["plain,final"]),
        (("--format", "cu"), ["plain,cursor", "plain,cursor-transcript"]),
        (
            ("doctor", "--format", "a"),
            [f"plain,{agent.name}" for agent in known_agents() if agent.name[0] == "a"],
        ),
        (("run", "--no-l"), ["plain,--no-log"]),
        (("replay", "x"), ["file,x"]),
    ]
    for words, offered in cases:
        with case(" ".join(words)):
            assert completed(*words) == offered
    # A shell that is not known is named, with those that are
    done = ran("completion", "ksh")
    assert done.returncode == 2
    assert b"'ksh' is not one of 'bash', 'zsh', 'fish'" in done.stderr
    # An ADDRESS completes to ids of any agent and stems of recordings, unless a file begins so
    machine = fake_machine(tmp_path / "machine", 1)
    [(key, _)] = machine.made.items()
    stem = "20261123-101500-123abcdef"
    recording = Path(machine.environ["AGENTWATCH_HOME"], "sessions", f"{stem}.ndjson")
    recording.write_bytes(PLAIN.read_bytes())
    first = key[1][:5]
    cases = [
        ((first,), [key[1]]),
        (("replay", first), [key[1]]),
        (("export", "20261123-10"), [stem]),
        (("compare", "x", first), [key[1]]),
        (("check", f"{first}no"), []),
        (("show", ""), []),
    ]
    for words, ids in cases:
        with case(" ".join(words)):
            offered = completed(*words, cwd=tmp_path, **machine.environ)
            assert offered == [f"file,{words[-1]}", *(f"plain,{each}" for each in ids)]
    (tmp_path / f"{first}.ndjson").touch()
    assert completed("replay", first, cwd=tmp_path, **machine.environ) == [f"file,{first}"]
