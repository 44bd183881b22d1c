"""A machine in a folder: a home folder in which all agents have sessions, and its environment."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents.session_entry import Key
from tests.builders.machine.captured import CAPTURED_S, lay_captures
from tests.builders.machine.made import Story, described, id_of, written

NEWEST_MS = CAPTURED_S * 1000
"""The end of the newest made session, unless another time is given."""
STEP_MS = 10 * 60 * 1000
"""The time between the ends of two made sessions: 5,000 of them reach back 35 days."""
AGENTS = (*("claude",) * 6, *("codex",) * 3, "gemini", "qwen", "pi", "copilot")
"""The agents of made sessions, in turn."""
EVERY = (*AGENTS, "kimi", "vibe", "cline")
_OTHER = re.compile(r"[^A-Za-z0-9]")


class FakeMachine(NamedTuple):
    """A machine in a folder."""

    home: Path
    environ: dict[str, str]
    """Only `HOME` and `AGENTWATCH_HOME`, so that every agent has its default folder."""
    captured: Mapping[Key, Path]
    """The address of each session that is a capture, by its agent and id."""
    made: Mapping[Key, Path]
    """The file of each made session, newest first."""

    @property
    def sessions(self) -> dict[Key, Path]:
        return {**self.captured, **self.made}


def fake_machine(
    folder: Path,
    sessions: int = 0,
    *,
    newest_ms: int = NEWEST_MS,
    open_calls: int = 0,
    repositories: int = 40,
    with_captures: bool = True,
    agents: Sequence[str] = AGENTS,
) -> FakeMachine:
    """Build a machine: all captures of agents' own files, and any number of made sessions.

    It takes 0.1 s, and 0.3 s for each 5,000 sessions. A folder of made sessions has the time of its newest.
    The working directories of made sessions are repositories that exist, below `work` in the home folder.
    Its environment is for code that takes one, not that of this process.
    """
    home = folder / "home"
    environ = {"HOME": str(home), "AGENTWATCH_HOME": str(home / ".agentwatch")}
    home.mkdir(parents=True)
    captured = lay_captures(home, home / ".agentwatch/sessions") if with_captures else {}
    made: dict[Key, Path] = {}
    folders = [_repository(home, number) for number in range(min(repositories, sessions))]
    for number, agent in enumerate(islice(cycle(agents), sessions)):
        is_open = number < open_calls
        began_ms = newest_ms - number * STEP_MS - (1000 if is_open else 3000)
        cwd = folders[number * 7 % len(folders)]
        story = Story(id_of(number), str(cwd), f"Run the tests, part {number}", began_ms, is_open)
        made[agent, story.id] = save(home, agent, story)
    for path in reversed(made.values()):
        newest_ns = path.stat().st_mtime_ns
        os.utime(path.parent, ns=(newest_ns, newest_ns))
    return FakeMachine(home, environ, captured, made)


def save(home: Path, agent: str, story: Story) -> Path:
    """Write a session where its agent keeps it, with the time of its end, and return its address."""
    path = home / _place(agent, story)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(written(agent, story))
    for name, content in described(agent, story).items():
        beside = os.path.normpath(path.parent / name)
        Path(beside).write_text(content if isinstance(content, str) else json.dumps(content))
    os.utime(path, ns=(story.ended_ms * 10**6, story.ended_ms * 10**6))
    return path.parents[1] if agent == "vibe" else path


def munged(cwd: str) -> str:
    """Return the name of a working directory's folder, as Claude Code and Qwen Code form it."""
    return _OTHER.sub("-", cwd)


def _place(agent: str, story: Story) -> str:
    began = datetime.fromtimestamp(story.began_ms / 1000, UTC)
    stamp = began.strftime("%Y-%m-%dT%H-%M-%S")
    cwd, name = munged(story.cwd), Path(story.cwd).name
    return {
        "claude": f".claude/projects/{cwd}/{story.id}.jsonl",
        "codex": f".codex/sessions/{began:%Y/%m/%d}/rollout-{stamp}-{story.id}.jsonl",
        "gemini": f".gemini/tmp/{name}/chats/session-{stamp[:-3]}-{story.id[:8]}.jsonl",
        "qwen": f".qwen/projects/{cwd}/chats/{story.id}.jsonl",
        "pi": f".pi/agent/sessions/-{story.cwd.replace('/', '-')}--/{stamp}-000Z_{story.id}.jsonl",
        "copilot": f".copilot/session-state/{story.id}/events.jsonl",
        "kimi": f".kimi-code/sessions/wd_{name}/{story.id}/agents/main/wire.jsonl",
        "vibe": f".vibe/logs/session/unified/{story.id}/journal/{1:016}.jsonl",
        "cline": f".cline/data/sessions/{story.id}/{story.id}.messages.json",
    }[agent]


def _repository(home: Path, number: int) -> Path:
    folder = home / f"work/repo-{number:02}"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
    return folder
