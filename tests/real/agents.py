"""The agents of the stage: how each is configured and started, and what its terminal shows."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.real.judge import LATE

SCENES = ("resumed", "renewed", "two", "retried", "refused", "elsewhere")
"""The scenarios of `scenarios.py`."""
FOLDERS = ("headless", "terminal", "hooked", "by-hand", "restricted", *SCENES)
"""The working folders, one for each way to run an agent."""
_MODEL = "mock-model"


@dataclass(frozen=True)
class Place:
    """The folder of one agent: its home, its working folders, and the address of its model."""

    root: Path
    programs: Path
    """The folder in which the agents are installed, each in a folder of its own."""
    url: str
    owner: str = "home"

    @property
    def home(self) -> Path:
        """The home folder, which has all settings and sessions."""
        return self.root / self.owner

    def work(self, name: str) -> Path:
        """Return a working folder: one of `FOLDERS`."""
        return self.root / "work" / name


@dataclass(frozen=True)
class Terminal:
    """How the terminal interface of an agent is driven."""

    arguments: tuple[str, ...]
    ready: str
    """A pattern of what the screen shows when it takes a prompt."""
    asks: str | None
    """A pattern of its question for permission; None if it never asks."""
    leave: str
    """The command that ends it."""
    dialogs: tuple[tuple[str, ...], ...] = ()
    """Dialogs at its start: a pattern of each, and the keys that answer it."""
    late: float = LATE
    """Seconds after which a state has to be shown."""
    continues: tuple[str, ...] = ("--continue",)
    """The arguments that continue the newest session of the folder; empty if it has none."""
    resumes: tuple[str, ...] = ("--resume", "{id}")
    """The arguments that continue a session."""
    new: str = "/new"
    """The command that begins another session; empty if it was not tried."""
    again: str = ""
    """A pattern of what the screen of a continued session shows when it takes a prompt; empty if `ready`."""
    continues_empty: bool = False
    """Whether a new session without a prompt is written, and is the newest one."""
    settles: float = 3.0
    """Seconds after which it shows no more dialogs at its start."""
    keeps: bool = False
    """Whether the session before stays open beside the new one, until it is left too."""
    stop: tuple[str, ...] = ("Escape",)
    """The keys that stop a turn."""
    says_stop: bool = False
    """Whether the state that it keeps says that a turn is over which the user has stopped."""


@dataclass(frozen=True)
class Restricted:
    """A session that may not write, which is continued."""

    options: tuple[str, ...]
    """The options of its run with one prompt; the prompt follows them."""
    allows: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """What changes in the settings before it is continued: they allow writing then."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables that allow more, when it is continued."""
    confirm: str = ""
    """The permissions that the user has to confirm; empty if the session says its own."""


@dataclass(frozen=True)
class RealAgent:
    """An agent."""

    name: str
    program: str
    headless: tuple[str, ...]
    """The options of a run with one prompt; the prompt follows them."""
    settings: Callable[[Place], Mapping[str, object]]
    """The files of its settings, by their paths below the home folder: a text, or an object of JSON."""
    variables: Callable[[Place], Mapping[str, str]]
    terminal: Terminal | str
    """A text is the reason why its terminal interface cannot be run."""
    restricted: Restricted | None = None
    """None if it cannot be continued."""
    misreports: tuple[tuple[str, str], ...] = ()
    """Views and differences that are the agent's own: its lines have what is shown."""


def prepare(agent: RealAgent, place: Place) -> dict[str, str]:
    """Make the folders of an agent, write its settings, and return its whole environment."""
    for folder in FOLDERS:
        place.work(folder).mkdir(parents=True, exist_ok=True)
    for name, content in agent.settings(place).items():
        path = place.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    own = place.programs / agent.name
    bins = (own / "node_modules/.bin", own / "bin", place.programs / "node/node_modules/.bin")
    return {
        "HOME": str(place.home),
        "PATH": ":".join([*map(str, bins), "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin"]),
        "AGENTWATCH_HOME": str(place.root / "agentwatch"),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "USER": "tester",
        "SHELL": "/bin/bash",
        "IS_SANDBOX": "1",  # without it, agents refuse to run as root without questions
        **agent.variables(place),
    }


def _claude(place: Place) -> Mapping[str, object]:
    trusted = {str(place.work(folder)): {"hasTrustDialogAccepted": True} for folder in FOLDERS}
    return {
        ".claude.json": {"hasCompletedOnboarding": True, "theme": "dark", "projects": trusted},
        ".claude/settings.json": {"skipDangerousModePermissionPrompt": True},
    }


def _codex(place: Place) -> Mapping[str, object]:
    trusted = [f'[projects."{place.work(folder)}"]\ntrust_level = "trusted"\n' for folder in FOLDERS]
    config = f"""\
model = "gpt-5.5"
model_provider = "mock"
check_for_update_on_startup = false
approval_policy = "on-request"
sandbox_mode = "workspace-write"
[analytics]
enabled = false
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
[model_providers.mock]
name = "mock"
base_url = "{place.url}/v1"
env_key = "MOCK_KEY"
wire_api = "responses"
"""
    return {".codex/config.toml": config + "".join(trusted)}


def _gemini(_place: Place) -> Mapping[str, object]:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    return {".gemini/settings.json": settings}


def _qwen(_place: Place) -> Mapping[str, object]:
    settings = {
        "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "model": {"name": _MODEL},
    }
    return {".qwen/settings.json": settings}


def _opencode(place: Place) -> Mapping[str, object]:
    model = {"name": _MODEL, "limit": {"context": 200_000, "output": 8_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "mock",
        "options": {"baseURL": f"{place.url}/v1", "apiKey": "fake"},
        "models": {_MODEL: model},
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": f"mock/{_MODEL}",
        "small_model": f"mock/{_MODEL}",
        "permission": dict.fromkeys(("bash", "edit", "webfetch"), "ask"),
        "provider": {"mock": provider},
    }
    return {".config/opencode/opencode.json": settings}


def _copilot(place: Place) -> Mapping[str, object]:
    return {".copilot/config.json": {"trusted_folders": [str(place.work(each)) for each in FOLDERS]}}


def _pi(place: Place) -> Mapping[str, object]:
    provider = {
        "baseUrl": f"{place.url}/v1",
        "api": "openai-completions",
        "apiKey": "$MOCK_KEY",
        "models": [{"id": _MODEL}],
    }
    return {
        ".pi/agent/models.json": {"providers": {"mock": provider}},
        ".pi/agent/settings.json": {"defaultProvider": "mock", "defaultModel": _MODEL, "quietStartup": True},
    }


def _droid(place: Place) -> Mapping[str, object]:
    model = {
        "model": _MODEL,
        "id": f"custom:{_MODEL}",
        "displayName": _MODEL,
        "baseUrl": f"{place.url}/v1",
        "apiKey": "fake",
        "provider": "generic-chat-completion-api",
        "maxOutputTokens": 8_000,
    }
    return {".factory/settings.json": {"customModels": [model]}}


def _vibe(place: Place) -> Mapping[str, object]:
    config = f"""\
active_model = "{_MODEL}"
enable_update_checks = false
enable_telemetry = false
[[providers]]
name = "mock"
api_base = "{place.url}/v1"
api_key_env_var = "MOCK_KEY"
api_style = "openai"
backend = "generic"
[[models]]
name = "{_MODEL}"
provider = "mock"
alias = "{_MODEL}"
"""
    return {".vibe/config.toml": config}


def _kimi(place: Place) -> Mapping[str, object]:
    config = f"""\
default_model = "{_MODEL}"
telemetry = false
[providers.mock]
type = "openai"
base_url = "{place.url}/v1"
api_key = "fake"
[models.{_MODEL}]
provider = "mock"
model = "{_MODEL}"
max_context_size = 200000
capabilities = ["tool_use"]
"""
    return {".kimi-code/config.toml": config}


def _cline(place: Place) -> Mapping[str, object]:
    name = "openai-compatible"
    provider = {"provider": name, "apiKey": "fake", "model": _MODEL, "baseUrl": f"{place.url}/v1"}
    saved = {"settings": provider, "updatedAt": "2026-11-01T00:00:00.000Z", "tokenSource": "manual"}
    settings = {"version": 1, "lastUsedProvider": name, "modes": {}, "providers": {name: saved}}
    return {".cline/data/settings/providers.json": settings}


def _fake_key(_place: Place) -> Mapping[str, str]:
    return {"MOCK_KEY": "fake"}


AGENTS = {
    agent.name: agent
    for agent in (
        RealAgent(
            name="claude",
            program="claude",
            headless=("--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions", "-p"),
            settings=_claude,
            variables=lambda place: {
                "ANTHROPIC_BASE_URL": place.url,
                "ANTHROPIC_AUTH_TOKEN": "fake",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
            },
            terminal=Terminal(
                *(("--permission-mode", "default"), r"manual mode on", r"Do you want to proceed", "/exit"),
                new="/clear",
                continues_empty=True,
            ),
            restricted=Restricted(
                ("--output-format", "stream-json", "--verbose", "--permission-mode", "plan", "-p"),
                {".claude/settings.json": {"permissions": {"defaultMode": "acceptEdits"}}},
            ),
        ),
        RealAgent(
            name="codex",
            program="codex",
            headless=(
                "exec",
                "--json",
                "--skip-git-repo-check",
                "--dangerously-bypass-approvals-and-sandbox",
            ),
            settings=_codex,
            variables=_fake_key,
            terminal=Terminal(
                (),
                r"Ask Codex to do anything",
                r"Would you like to run",
                "/quit",
                ((r"Use existing model", "Down", "Enter"), (r"1\. Review hooks", "2", "Enter")),
                continues=("resume", "--last"),
                resumes=("resume", "{id}"),
            ),
            restricted=Restricted(("exec", "--json", "--skip-git-repo-check", "--sandbox", "read-only")),
        ),
        RealAgent(
            name="gemini",
            program="gemini",
            headless=("-o", "stream-json", "-y", "-p"),
            settings=_gemini,
            variables=lambda place: {"GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": place.url},
            # Its turn has ended after 5 s of silence, which is read within 2 s.
            terminal=Terminal(
                *((), r"Type your message", r"Allow execution", "/quit"),
                late=7.0,
                continues=("--resume", "latest"),
                new="/clear",
            ),
            restricted=Restricted(
                ("-o", "stream-json", "--approval-mode", "plan", "-p"),
                {".gemini/settings.json": {"general": {"defaultApprovalMode": "auto_edit"}}},
                confirm="plan",
            ),
            # The line of the result has the status `success` and only the output of the command.
            misreports=(("stream", "call echo oops >&2; exit 3: outcome"),),
        ),
        RealAgent(
            name="qwen",
            program="qwen",
            headless=("-o", "stream-json", "-y", "-p"),
            settings=_qwen,
            variables=lambda place: {
                "OPENAI_API_KEY": "fake",
                "OPENAI_BASE_URL": f"{place.url}/v1",
                "OPENAI_MODEL": _MODEL,
            },
            terminal=Terminal(
                *(("--approval-mode", "default"), r"Type your message", r"Allow execution", "/quit"),
                new="/clear",
            ),
            restricted=Restricted(
                ("-o", "stream-json", "--approval-mode", "plan", "-p"),
                {".qwen/settings.json": {"tools": {"approvalMode": "yolo"}}},
                confirm="plan",
            ),
        ),
        RealAgent(
            name="opencode",
            program="opencode",
            headless=("run", "--format", "json", "--auto"),
            settings=_opencode,
            variables=lambda _place: {
                "OPENCODE_DISABLE_AUTOUPDATE": "1",
                "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            },
            terminal=Terminal(
                *((), r"Ask anything", r"Permission required", "/exit"),
                resumes=("--session", "{id}"),
                again=r"ctrl\+p commands",
                stop=("Escape", "Escape"),
            ),
            # Settings that allow all allow a run with the agent `plan` to write: they decide, and say so.
            restricted=Restricted(("run", "--format", "json", "--agent", "plan"), confirm="plan"),
        ),
        RealAgent(
            name="copilot",
            program="copilot",
            headless=("--output-format", "json", "--allow-all-tools", "--allow-all-paths", "-p"),
            settings=_copilot,
            variables=lambda place: {
                "COPILOT_PROVIDER_BASE_URL": f"{place.url}/v1",
                "COPILOT_PROVIDER_TYPE": "openai",
                "COPILOT_PROVIDER_API_KEY": "fake",
                "COPILOT_MODEL": _MODEL,
                "COPILOT_OFFLINE": "true",
            },
            terminal=Terminal(
                *((), r"/ commands", r"Do you want to run", "/exit"),
                resumes=("--resume={id}",),
                keeps=True,
                stop=("C-c",),
            ),
            restricted=Restricted(
                ("--output-format", "json", "--mode", "plan", "-p"),
                variables={"COPILOT_ALLOW_ALL": "true"},
            ),
        ),
        RealAgent(
            name="pi",
            program="pi",
            headless=("--mode", "json", "-p"),
            settings=_pi,
            variables=lambda _place: {"MOCK_KEY": "fake", "PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"},
            terminal=Terminal((), r"\(auto\)", None, "/quit", resumes=("--session", "{id}")),
            # It keeps the tools of a session.
            restricted=Restricted(("--mode", "json", "--tools", "read", "-p"), confirm="settings"),
        ),
        RealAgent(
            name="droid",
            program="droid",
            headless=("exec", "-o", "stream-json", "--skip-permissions-unsafe", "-m", f"custom:{_MODEL}"),
            settings=_droid,
            variables=lambda _place: {"FACTORY_API_KEY": "fk-fake"},
            terminal="it checks its key on the vendor's server before it starts",
        ),
        RealAgent(
            name="vibe",
            program="vibe",
            headless=("--output", "streaming", "--auto-approve", "--trust", "-p"),
            settings=_vibe,
            variables=_fake_key,
            terminal=Terminal(
                *(("--trust",), r"mock-model\[|tokens \(", r"Permission for", "/exit"), new="/clear"
            ),
        ),
        RealAgent(
            name="kimi",
            program="kimi",
            headless=("--output-format", "stream-json", "-p"),
            settings=_kimi,
            variables=lambda _place: {},
            terminal=Terminal(
                (),
                r"context:|Trust this folder",
                r"Run this command",
                "/exit",
                ((r"Trust this folder", "Enter"),),
                resumes=("--session", "{id}"),
                continues_empty=True,
            ),
        ),
        RealAgent(
            name="cline",
            program="cline",
            headless=("--json", "--auto-approve", "true"),
            settings=_cline,
            variables=lambda _place: {},
            terminal=Terminal(
                ("-i", "--auto-approve", "false"),
                r"What can I do for you|any other key to close",
                r"Approve",
                "/exit",
                ((r"any other key to close", "Escape"),),
                continues=(),
                resumes=("--id", "{id}"),
                new="/clear",
                again=r"Ask anything|any other key to close",
                says_stop=True,
            ),
        ),
    )
}
