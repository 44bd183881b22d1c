"""Shell completion of commands, options and files."""

from __future__ import annotations

from pathlib import Path

from agentwatch.agents.registry import known_agents
from tests.builders.machine.fake import fake_machine
from tests.conftest import ROOT, case
from tests.harness.program import PLAIN, ran


def completed(*words: str, cwd: Path = ROOT, **environ: str) -> list[str]:
    """Return the completions that bash is offered for the last word."""
    asked = {"COMP_WORDS": " ".join(("agentwatch", *words)), "COMP_CWORD": str(len(words))}
    done = ran(cwd=cwd, _AGENTWATCH_COMPLETE="bash_complete", **asked, **environ)  # type: ignore[arg-type]
    assert done.returncode == 0
    return done.stdout.decode().split()


def test_the_last_word_is_completed() -> None:
    """The first word completes to commands, options and files; later words complete to that command's own."""
    cases: list[tuple[tuple[str, ...], list[str]]] = [
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
    ]
    for words, offered in cases:
        with case(" ".join(words)):
            assert completed(*words) == offered


def test_ids_of_sessions_are_completed(tmp_path: Path) -> None:
    """An ADDRESS completes to ids of any agent and stems of recordings, unless a file begins so."""
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
