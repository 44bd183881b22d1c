"""Ctrl+c ends the program with 130 and no traceback, from its first module on; `--help` imports few."""

import os
import re
import signal
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path
from py_compile import compile as compile_to

import click
import pytest

from agentwatch.agents.registry import answered_agents, hooked_agents
from agentwatch.base.faults import Signalled
from agentwatch.cli.app import agentwatch as program
from agentwatch.cli.commands import _raising_on
from agentwatch.cli.default_command import ALIASES, SUBCOMMANDS
from tests.conftest import ROOT, case
from tests.harness.program import AGENTWATCH, PLAIN, environment, ran

INTERRUPTED = """
import gc, os, signal, sys

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            interrupt()

moment = sys.argv.pop(1)
sys.meta_path.insert(0, Finder())
if moment == "the end":
    gc.freeze = interrupt
from agentwatch.cli.start import main
main()
"""
"""Runs the command line, and sends itself SIGINT when a module is imported, or when the command has ended."""


def interrupted(moment: str, *words: str | Path) -> tuple[int, bytes]:
    """Return the exit code and the stderr of a command that is interrupted at a moment."""
    argv = [sys.executable, "-c", INTERRUPTED, moment, *map(str, words)]
    done = subprocess.run(argv, env=environment(), capture_output=True, check=False, timeout=30)
    return done.returncode, done.stderr


@pytest.mark.system
def test_a_signal_waits_for_the_end_of_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import that a signal interrupts is complete for every thread; then the signal ends the command."""
    monkeypatch.syspath_prepend(tmp_path)

    def load(name: str) -> None:
        assert import_module(name).is_complete
        threading.Event().wait(30)  # the signal ends the wait

    for name, expected in (("SIGTERM", Signalled), ("SIGINT", KeyboardInterrupt)):
        lines = ("import signal", f"signal.raise_signal(signal.{name})", "is_complete = True")
        (tmp_path / f"interrupted_by_{name}.py").write_text("\n".join(lines))
        with case(name), pytest.raises(expected), _raising_on(signal.SIGINT, signal.SIGTERM):
            load(f"interrupted_by_{name}")
    # An import that hangs does not keep a command from ending.
    hanging = ("import time", "import signal", "signal.raise_signal(signal.SIGTERM)", "time.sleep(60)")
    (tmp_path / "hanging_module.py").write_text("\n".join(hanging))
    with pytest.raises(Signalled), _raising_on(signal.SIGTERM):
        import_module("hanging_module")


@pytest.mark.slow
def test_an_interrupted_start_is_silent() -> None:
    """While the command line is loaded, and after a command has ended, nothing is printed."""
    status = "agentwatch.cli.status"
    moments = ("agentwatch.cli.app", "click", "agentwatch.cli.messages", "the end")
    cases = [(status, "status"), *((moment, "doctor", PLAIN) for moment in moments)]
    for moment, *words in cases:
        with case(moment):
            assert interrupted(str(moment), *words) == (130, b"")
    # A command that was started without SIGINT, as by `nohup` or behind `&`, runs to its end.
    argv = [sys.executable, "-c", INTERRUPTED, "click", "doctor", str(PLAIN)]
    done = subprocess.run(
        argv,
        env=environment(),
        stderr=subprocess.PIPE,
        check=False,
        timeout=30,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_former_name_of_a_command_is_the_new_command() -> None:
    """It prints one line on stderr, which names the new command, and does what that does with its options."""
    words: dict[str, tuple[str | Path, ...]] = {
        "clip": (f"{PLAIN}#1", "-o", "-", "--raw", "--format", "cursor"),
        "drift": (PLAIN, "--format", "cursor"),
        "engine status": ("nats://127.0.0.1:1", "--json"),
        "explain": ("000000", "--json"),
        "log": (PLAIN, "--addresses", "--no-color"),
        "redact": (PLAIN, "-o", "-"),
        "ship": ("--all", "--publish-as", "ci"),
    }
    assert {*words} == {*ALIASES}
    for name, arguments in words.items():
        with case(name):
            old, new = (ran(*each.split(), *arguments) for each in (name, ALIASES[name]))
            said = f"agentwatch: {name} is now agentwatch {ALIASES[name]}\n".encode()
            assert (old.returncode, old.stdout, old.stderr) == (new.returncode, new.stdout, said + new.stderr)
            assert b"No such" not in new.stderr
            assert f"\n  {name} " not in ran("--help").stdout.decode()


@pytest.mark.system
@pytest.mark.slow
def test_an_interrupted_command_ends_with_130(tmp_path: Path) -> None:
    """While a command runs, ctrl+c ends it with 130, and no file is left."""
    output = tmp_path / "b"
    cases: tuple[tuple[str | Path, ...], ...] = (
        ("agentwatch.output.export.clip", "export", "--to", "recording", f"{PLAIN}#1", "-o", output),
        ("agentwatch.output.redact.recording", "export", "--to", "recording", PLAIN, "-o", output),
        ("agentwatch.output.export.markdown", "export", PLAIN, "--to", "markdown", "-o", output),
        ("agentwatch.output.compare", "compare", PLAIN, PLAIN, "-o", output),
        ("agentwatch.rules.check.starter", "check", "--init", PLAIN, "-o", output),
    )
    for module, *words in cases:
        with case(words[0]):
            assert interrupted(str(module), *words) == (128 + signal.SIGINT, b"\n")
            assert not output.exists()


@pytest.mark.slow
def test_byte_code_that_was_cut_off_is_one_line(tmp_path: Path) -> None:
    """Whether the program or a command imports it, the line names the folder to delete."""
    redact = ("output/redact/recording", "export", "--to", "recording", PLAIN, "-o", tmp_path / "out")
    for module, *words in (("cli/app", "--version"), redact):
        with case(module):
            source = ROOT / "agentwatch" / f"{module}.py"
            cached = Path(f"{tmp_path}{source.parent}", f"{source.stem}.{sys.implementation.cache_tag}.pyc")
            compile_to(str(source), str(cached), doraise=True)
            os.truncate(cached, cached.stat().st_size // 2)
            env = environment(PYTHONPYCACHEPREFIX=str(tmp_path), PYTHONDONTWRITEBYTECODE="1")
            done = subprocess.run(
                [*AGENTWATCH, *map(str, words)], env=env, capture_output=True, check=False, timeout=60
            )
            assert (done.returncode, done.stdout) == (70, b"")
            line = done.stderr.decode().strip()  # click begins with an empty line
            assert line.startswith("agentwatch: ")
            assert line.endswith(f"; delete this folder: {cached.parent}")
            assert "\n" not in line
            cached.unlink()


def test_the_line_of_a_command_is_what_its_own_help_begins_with() -> None:
    """`--help` imports no other command, and shows the first paragraph of each; hidden ones have no line."""
    context = click.Context(program)
    for name, (_, _, words) in SUBCOMMANDS.items():
        with case(name):
            command = program.get_command(context, name)
            assert command is not None
            assert command.name == name
            assert command.hidden is (words == "")
            assert command.hidden or (command.help or "").partition("\n\n")[0] == words


def test_the_help_explains_each_argument_and_names_each_agent() -> None:
    """The help begins with what the program alone does; no word of a usage is left unexplained."""
    context = click.Context(program)
    assert " ".join((program.help or "").split()).startswith("agentwatch alone lists every session of every")
    for name in SUBCOMMANDS:
        command = program.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        words = " ".join(command.get_help(inner).split())
        for argument in re.findall(r"[A-Z]{2,20}", " ".join(command.collect_usage_pieces(inner))):
            with case(f"{name}: {argument}"):
                is_known = argument in ("OPTIONS", "TEXT", "COMMAND", "ARGS") or command.hidden
                assert is_known or f" {argument}: " in words or f" Without {argument}, " in words
    hooks = ran("hooks", "--help").stdout.decode()
    for hooked in (*hooked_agents().values(), *answered_agents().values()):
        with case(hooked.title):
            assert hooked.title in hooks
