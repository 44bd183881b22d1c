"""What does it cost to sum up and to list a machine of 1,800 sessions, here and with neighbours?

The machine is a home in a temporary folder: sessions of Claude Code and, a fifth as many, of Codex, with
known sums. `ccusage` and `agentsview` are measured where they are on the PATH. Each round begins without any
index, so "first" includes making it; "again" is the same command afterwards. The sums that each prints are
compared with those that were written. A daemon that a program leaves behind is not in its memory.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from measure import AGENTWATCH, Cost, command_line, head, megabytes, row, run

_WORDS = ("parser", "token", "stream", "index", "cache", "retry", "commit", "test", "module", "socket")
_MODELS = ("claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929")
_INDEXES = (".local", ".cache", ".config", ".agentsview")
_FAILS = 0.08
"""The share of calls that fail."""


class Made:
    """Writes sessions, and adds up what they contain."""

    def __init__(self, home: Path) -> None:
        """Take the home of the sessions."""
        self._home = home
        self._random = Random(7)
        self.sums: Counter[str] = Counter()

    def _text(self, least: int, most: int) -> str:
        return " ".join(self._random.choices(_WORDS, k=self._random.randint(least, most)))

    def _fails(self) -> bool:
        fails = self._random.random() < _FAILS
        self.sums.update(calls=1, failed=int(fails))
        return fails

    def _begun(self) -> tuple[str, datetime, str]:
        """Return the id of a new session, when it began, and its folder."""
        self.sums["sessions"] += 1
        hours = timedelta(hours=self._random.uniform(2, 150))
        folder = f"/home/dev/project-{self.sums['sessions'] % 40}"
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4)), datetime.now(UTC) - hours, folder

    def claude(self) -> None:
        """Write a session of Claude Code."""
        session, at, cwd = self._begun()
        model = self._random.choice(_MODELS)
        lines: list[str] = []
        common = {"cwd": cwd, "sessionId": session, "version": "2.1.330", "gitBranch": "main"}

        def add(kind: str, message: dict[str, Any], **more: Any) -> None:
            nonlocal at
            at += timedelta(seconds=self._random.uniform(1, 9))
            named = {"type": kind, "uuid": f"{session}-{len(lines)}", "timestamp": _stamp(at)}
            lines.append(_line({**named, **common, "message": message, **more}))

        for turn in range(self._random.choice((2, 3, 4, 6, 10))):
            add("user", {"role": "user", "content": f"Please fix {self._text(8, 14)}"})
            calls = self._random.choice((2, 4, 6, 9))
            for number in range(calls + 1):
                usage = self._usage(input_tokens=60, cache_creation_input_tokens=2000)
                call = {"type": "tool_use", "id": f"toolu_{session}_{turn}_{number}", "name": "Bash"}
                blocks: list[dict[str, Any]] = [{"type": "text", "text": self._text(20, 120)}]
                if number < calls:
                    blocks.append({**call, "input": {"command": f"pytest -q {self._text(1, 1)}"}})
                answer = {"id": f"msg_{session}_{turn}_{number}", "type": "message", "role": "assistant"}
                stop = {"model": model, "stop_reason": "tool_use" if number < calls else "end_turn"}
                for block in blocks:  # each has its own line, with the usage of the request
                    message = {**answer, **stop, "content": [block], "usage": usage}
                    add("assistant", message, requestId=f"req_{session}_{turn}_{number}")
                if number < calls:
                    fails = self._fails()
                    text = f"Exit code {int(fails)}\n" * fails + self._text(20, 500)
                    result = {"type": "tool_result", "tool_use_id": call["id"], "content": text}
                    add("user", {"role": "user", "content": [{**result, "is_error": fails}]})
        self._write(f".claude/projects/{cwd.replace('/', '-')}/{session}.jsonl", lines, at)

    def _usage(self, **most: int) -> dict[str, int]:
        usage = {name: self._random.randint(1, value) for name, value in most.items()}
        usage |= {"cache_read_input_tokens": self._random.randint(10_000, 60_000)}
        self.sums["input"] += sum(usage.values())
        usage["output_tokens"] = self._random.randint(50, 900)
        self.sums["output"] += usage["output_tokens"]
        return usage

    def codex(self) -> None:
        """Write a session of Codex."""
        session, at, cwd = self._begun()
        lines: list[str] = []
        total: Counter[str] = Counter()

        def put(kind: str, payload: dict[str, Any]) -> None:
            nonlocal at
            at += timedelta(seconds=self._random.uniform(1, 9))
            lines.append(_line({"timestamp": _stamp(at), "type": kind, "payload": payload}))

        started = {"id": session, "timestamp": _stamp(at), "cwd": cwd, "originator": "codex_cli_rs"}
        put(
            "session_meta", {**started, "cli_version": "0.169.0", "source": "cli", "model_provider": "openai"}
        )
        for turn in range(self._random.choice((1, 2, 4))):
            put("event_msg", {"type": "task_started", "turn_id": f"{turn}"})
            put("turn_context", {"turn_id": f"{turn}", "cwd": cwd, "model": "gpt-5.1-codex"})
            put("event_msg", {"type": "user_message", "message": f"Please repair {self._text(8, 14)}"})
            for number in range(self._random.choice((3, 5, 8))):
                call = {"call_id": f"call_{turn}_{number}"}
                command = json.dumps({"command": ["bash", "-lc", "pytest -q"], "workdir": cwd})
                put("response_item", {"type": "function_call", "name": "shell", "arguments": command, **call})
                code = int(self._fails())
                output = json.dumps({"output": self._text(20, 400), "metadata": {"exit_code": code}})
                put("response_item", {"type": "function_call_output", "output": output, **call})
                used = Counter(input_tokens=self._random.randint(5000, 20_000), cached_input_tokens=1000)
                used["output_tokens"] = self._random.randint(50, 500)
                total += used
                self.sums.update(input=used["input_tokens"], output=used["output_tokens"])
                info = {"total_token_usage": dict(total), "last_token_usage": dict(used)}
                put("event_msg", {"type": "token_count", "info": info})
            put("event_msg", {"type": "agent_message", "message": self._text(20, 60)})
            put("event_msg", {"type": "task_complete", "turn_id": f"{turn}"})
        name = f"rollout-{at:%Y-%m-%dT%H-%M-%S}-{session}.jsonl"
        self._write(f".codex/sessions/{at:%Y/%m/%d}/{name}", lines, at)

    def _write(self, name: str, lines: list[str], at: datetime) -> None:
        path = self._home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
        os.utime(path, (at.timestamp(), at.timestamp()))
        self.sums["bytes"] += path.stat().st_size


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))  # as agents write it; ccusage counts nothing otherwise


def _stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def _of_agentwatch(output: bytes) -> dict[str, int]:
    totals = json.loads(output)["totals"]
    named = {"sessions": "sessions", "calls": "calls", "failed": "failed"}
    return {name: totals[key] for name, key in named.items()} | {
        "input": totals["input_tokens"],
        "output": totals["output_tokens"],
    }


def _of_ccusage(output: bytes) -> dict[str, int]:
    totals = json.loads(output)["totals"]
    cached = totals["cacheCreationTokens"] + totals["cacheReadTokens"]
    return {"input": totals["inputTokens"] + cached, "output": totals["outputTokens"]}


def _of_agentsview(output: bytes) -> dict[str, int]:
    failed = "SELECT count(*), sum(observed_outcome = 'errored') FROM tool_calls"
    with closing(sqlite3.connect(Path.home() / ".agentsview" / "sessions.db")) as database:
        calls, errors = database.execute(failed).fetchone()
        (sessions,) = database.execute("SELECT count(*) FROM sessions").fetchone()
    return {"sessions": sessions, "calls": calls, "failed": errors, **_of_ccusage(output)}


_Sums = Callable[[bytes], dict[str, int]]
COMMANDS: list[tuple[tuple[str, ...], _Sums | None]] = [
    (("agentwatch", "stats", "--json"), _of_agentwatch),
    (("agentwatch", "sessions", "--json", "--all"), None),
    (("ccusage", "--offline", "--json"), _of_ccusage),
    (("agentsview", "sync"), None),
    (("agentsview", "usage", "daily", "--all", "--json"), _of_agentsview),
    (("agentsview", "session", "list", "--json", "--limit", "500"), None),
]
"""The commands in the order of a round, and how the sums that one prints are read."""


def main() -> None:
    """Make the machine, run each command twice a round, and compare the sums."""
    parser = command_line(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for name in [name for name in os.environ if name.startswith(("XDG_", "AGENTWATCH_"))]:
        del os.environ[name]
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ["HOME"] = folder
        made = Made(Path(folder))
        for number in range(12 if given.smoke else 1800):
            made.codex() if number % 6 == 5 else made.claude()
        print(
            f"{megabytes(made.sums['bytes'])}, {', '.join(f'{made.sums[name]:,} {name}' for name in _SUMS)}\n"
        )
        _measure(Path(folder), made.sums, 1 if given.smoke else given.rounds)


_SUMS = ("sessions", "calls", "failed", "input", "output")


def _measure(home: Path, sums: Counter[str], rounds: int) -> None:
    chosen = [(argv, read) for argv, read in COMMANDS if argv[0] == "agentwatch" or shutil.which(argv[0])]
    costs: dict[tuple[str, ...], tuple[list[Cost], list[Cost]]] = {argv: ([], []) for argv, _ in chosen}
    wrong: dict[tuple[str, ...], str] = {}
    for _ in range(rounds):
        _stop_daemon()
        for name in _INDEXES:
            shutil.rmtree(home / name, ignore_errors=True)
        for argv, read in chosen:
            command = (*AGENTWATCH, *argv[1:]) if argv[0] == "agentwatch" else argv
            for spent in costs[argv]:
                spent.append(run(command, keep_output=True))
            if read:
                printed = read(costs[argv][0][-1].stdout)
                differ = [f"{name} {value:,}" for name, value in printed.items() if value != sums[name]]
                wrong[argv] = ", ".join(differ) or f"{len(printed)} of {len(printed)} right"
    _stop_daemon()
    head("command", "first, s (least)", "again, s (least)", "peak memory", "sums")
    for argv, (first, again) in costs.items():
        peak = megabytes(max(cost.peak_bytes for cost in (*first, *again)))
        seconds = [f"{min(cost.wall for cost in spent):.2f}" for spent in (first, again)]
        row(f"`{' '.join(argv)}`", *seconds, peak, wrong.get(argv, "–"))


def _stop_daemon() -> None:
    if shutil.which("agentsview"):
        run(("agentsview", "daemon", "stop"), keep_output=True, codes=(0, 1))


if __name__ == "__main__":
    main()
