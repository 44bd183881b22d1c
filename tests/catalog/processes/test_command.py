"""The command line of an agent is recognised, however it was installed and started."""

from collections.abc import Mapping

from agentwatch.catalog.processes import command_of, session_in
from tests.conftest import case

MODULES = "/usr/lib/node_modules"


AGENTS: list[tuple[str, str | None]] = [
    ("claude", "claude"),
    ("/home/dev/.local/bin/claude --resume x", "claude"),
    ("codex", "codex"),
    ("/opt/codex-x86_64-unknown-linux-musl exec hi", "codex"),
    ("codex-linux-sandbox ls", None),
    ("node /usr/bin/gemini", "gemini"),
    ("/usr/bin/node --max-old-space-size=8192 /usr/bin/gemini -p hi", "gemini"),
    (f"node {MODULES}/@google/gemini-cli/dist/index.js", "gemini"),
    (f"node {MODULES}/@anthropic-ai/claude-code/cli.js", "claude"),
    (f"node {MODULES}/@openai/codex/bin/codex.js", "codex"),
    ("node --require ./hook.js /usr/bin/qwen", "qwen"),
    ("node /home/dev/.npm/_npx/1/node_modules/.bin/qwen", "qwen"),
    ("node /home/dev/server.js gemini", None),
    ("node -e gemini", None),
    ("node", None),
    ("node --inspect", None),
    ("bun run /usr/bin/opencode", "opencode"),
    ("bun x pi", "pi"),
    ("node /n/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js", "pi"),
    ("python3.12 /usr/bin/amp", "amp"),
    ("python3 -m claude", None),
    ("/bin/sh /home/dev/bin/claude", "claude"),
    ("bash -c claude", None),
    ("sh", None),
    ("vim claude", None),
    ("tail -f codex", None),
    ("timeout 60 claude -p hi", None),
    ("/home/dev/.local/share/cursor-agent/versions/1/node /x/cursor-agent/versions/1/index.js", "cursor"),
    ("/home/dev/.local/bin/agent --use-system-ca /x/cursor-agent/versions/1/index.js -p hi", "cursor"),
    ("/home/dev/.local/share/cursor-agent/versions/1/agent -p hi", "cursor"),
    ("agent /x/cursor-agent/versions/1/index.js status", None),
    ("agent -p hi", None),
    ("agent /x/other/index.js", None),
    ("agent claude", None),
    (f"{MODULES}/@openai/codex/vendor/path/rg -n x", None),
    ("/Applications/Claude.app/Contents/MacOS/Claude", None),
    ("copilot.exe", "copilot"),
    (f"{MODULES}/@github/copilot-linux-x64/copilot --binary-version", None),
    ("/opt/cline/bin/cline --cline-hub-daemon --cwd /home/dev --port 25463", None),
    ("claude mcp serve", None),
    ("claude --claude-in-chrome-mcp", None),
    ("node /usr/bin/gemini extensions list", None),
    ("codex exec login", "codex"),
]


def test_the_agent_of_a_command_line() -> None:
    """The program, or the script that an interpreter runs, decides; other arguments do not."""
    for line, agent in AGENTS:
        with case(line):
            command = command_of(line.split())
            assert (command.agent if command else None) == agent
    # A program that has replaced its command line by a title is recognised by the first word.
    for words, agent in (
        (("npm exec @github/copilot",), None),
        (("claude --resume x",), "claude"),
        (("  ",), None),
        ((), None),
    ):
        with case(words):
            command = command_of(words)
            assert (command.agent if command else None) == agent


def test_what_a_command_line_says_of_its_agent() -> None:
    """It names what serves several sessions, the folder of Codex, and whether it answers one prompt."""
    folders: dict[str, str | None] = {
        "codex -C /there": "/there",
        "codex --cd ../there": "../there",
        "codex --cd=/there": "/there",
        "codex -C": None,
        "codex": None,
        "claude -C /there": None,
    }
    shared = {
        "codex app-server --listen unix:///x --managed-daemon": True,
        "codex mcp-server": True,
        "codex": False,
        "opencode serve --port 1": True,
        "claude app-server": False,
    }
    has_one_prompt: dict[str, bool | None] = {
        "codex exec --json fix": True,
        "codex fix": None,
        "codex app-server": False,
        "claude -p fix": True,
        "claude -p --input-format=stream-json": False,
        "claude": None,
        "gemini --prompt=fix -o stream-json": True,
        "gemini --acp -p": False,
        "qwen -p fix": True,
        "opencode run fix": True,
        "copilot -p fix": True,
        "cursor-agent --print fix": True,
        "pi --mode json fix": True,
        "pi --mode rpc -p": False,
        "amp -x fix": True,
    }
    facts: list[tuple[str, Mapping[str, object]]] = [
        *(("folder", folders), ("is_shared", shared), ("has_one_prompt", has_one_prompt))
    ]
    for name, lines in facts:
        for line, expected in lines.items():
            with case((name, line)):
                assert getattr(command_of(line.split()), name) == expected


SESSIONS: list[tuple[str, str, str | None]] = [
    ("claude", "claude --resume 01234567-89ab", "01234567-89ab"),
    ("claude", "claude --resume=01234567-89ab", "01234567-89ab"),
    ("claude", "claude -r 01234567-89ab --fork-session", None),
    ("claude", "claude --resume", None),
    ("claude", "claude --resume --dangerously-long", None),
    ("codex", "codex exec resume 01234567-89ab", "01234567-89ab"),
    ("codex", "codex fork 01234567-89ab", None),
    ("gemini", "gemini --resume 5", None),
    ("gemini", "gemini --resume latest", None),
    ("opencode", "opencode -s ses_0123456789", "ses_0123456789"),
    ("pi", "pi --session /home/dev/a.jsonl", "/home/dev/a.jsonl"),
    ("cline", "cline -i --id 1796025857492_kdp9g", "1796025857492_kdp9g"),
    ("copilot", "copilot --session-id=01234567-89ab", None),
    ("copilot", "copilot --resume=01234567-89ab", "01234567-89ab"),
    ("claude", "claude -p 01234567-89ab", None),
]


def test_the_session_that_arguments_name() -> None:
    """An id or a path after one of the options is the session that the process continues."""
    for agent, line, session in SESSIONS:
        with case(line):
            assert session_in(agent, line.split()) == session
