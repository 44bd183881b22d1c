"""The digests of real sessions on disk agree with the full sessions."""

from __future__ import annotations

from pathlib import Path

from tests.builders.captures import Captures
from tests.builders.on_disk.digested import digest_of, facts_of_digest, facts_of_session, session_of
from tests.conftest import case

FOLDERS = {
    "claude-transcript": "claude",
    "codex-rollout": "codex",
    "gemini-chat": "gemini",
    "qwen-chat": "qwen",
    "pi-session": "pi",
    "copilot-events": "copilot",
    "cursor-transcript": "cursor",
}
"""The agent of the files in each folder of `disk` and `agents`."""
PROGRAMS = ("claude", "codex", "gemini", "qwen", "pi", "copilot", "droid")
"""The programs in `real` whose own files are read, by the beginning of the folder's name."""
WITHOUT_TIMES = "cursor"
"""The agent whose lines have no times: its digest has those of the file."""


def sessions(captures: Captures) -> list[tuple[Path, str]]:
    """Return the captures of files that agents write, each with its agent."""
    agents = {f"{root}/{folder}/": agent for root in ("disk", "agents") for folder, agent in FOLDERS.items()}
    agents |= {f"real/{program}-": program for program in PROGRAMS}
    found = captures.find("disk/*/**/*.jsonl", "agents/*/**/*.jsonl", "real/*/sessions/**/*.jsonl")
    return [
        (path, agent)
        for path in found
        for start, agent in agents.items()
        if captures.name(path).startswith(start)
    ]


def test_the_digest_of_a_capture_agrees_with_its_session(captures: Captures, tmp_path: Path) -> None:
    """Counts, outcome, prompts, model, folder, branch and title are those of the full session."""
    for path, agent in sessions(captures):
        with case(captures.name(path)):
            copy = tmp_path / path.name
            copy.write_bytes(path.read_bytes())
            session = session_of(path.read_bytes().splitlines(keepends=True), agent)
            digest = digest_of(copy, agent)
            assert digest.is_whole
            expected = facts_of_session(session)
            if agent == WITHOUT_TIMES:
                expected["seen"] = copy.stat().st_mtime_ns // 10**6
            assert facts_of_digest(digest) == expected
